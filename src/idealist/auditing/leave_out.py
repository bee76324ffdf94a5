"""What judgments owe to those who made the pool: each team's own are taken away in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from idealist.auditing.chances import POOL_ODDS, judged_at
from idealist.data.columns import Bools
from idealist.errors import IdealistError
from idealist.evaluating.doubt_case import differing
from idealist.measures.instrument import Instrument, measured
from idealist.ranking.placements import Placements
from idealist.rendering.plain_data import finite

#: Share of unjudged documents that a pool may have: its ties may have been in another order.
#: Suggested.
POOL_HOLES = 0.01
#: The least depth of pools; TREC-COVID's first was 7. Suggested.
POOL_DEPTH = 5
#: Share of all judgments that the runs must hold for the test to speak of the pool, and not of the
#: few runs that are here. Suggested.
POOL_HELD = 0.5
#: As much evidence for `POOL_ODDS` is mixed into what the runs say of their own pool. Suggested.
ODDS_PRIOR = 20

#: The placements of each measure, by run.
Placed = Mapping[str, Mapping[str, Placements]]


@dataclass(frozen=True)
class LeftOut:
    """What a run loses where the judgments that only it, or its team, brought are taken away.

    `unique` counts these, `relevant` the relevant ones among them; `values` has each measure as it
    is and without them.
    """

    team: str
    unique: int
    relevant: int
    values: Mapping[str, tuple[float, float]]

    @property
    def loss(self) -> float:
        """The greatest share of a value that is lost."""
        known = [pair for pair in self.values.values() if np.isfinite(pair).all() and pair[0] > 0]
        return max(((now - then) / now for now, then in known), default=0.0)

    @property
    def price(self) -> dict[str, tuple[float, ...]]:
        """The values that would print differently."""
        now, then = ({label: pair[i] for label, pair in self.values.items()} for i in (0, 1))
        return differing(now, then)

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**vars(self), "values": finite(self.values)}


def pool_depth(placements: Placements) -> int:
    """Find the rank down to which nearly all of a run is judged; 0 where rank 1 is not.

    A pool of depth k holds the first k documents of every run that contributed to it.

    >>> from idealist import Protocol, rank, read_qrels, read_run
    >>> qrels, run = read_qrels({"q": {"a": 1, "b": 0}}), read_run({"q": ["a", "b", "x"]})
    >>> pool_depth(rank(qrels, run, [Protocol()])[Protocol()])
    2
    """
    judged, reach = judged_at(placements)
    looked = np.cumsum(reach)
    whole = np.flatnonzero((looked - np.cumsum(judged) <= POOL_HOLES * looked) & (reach > 0))
    return int(whole[-1]) + 1 if len(whole) else 0


def contributed(depth: int) -> bool:
    """Guess from its pool depth whether a run contributed to the pool."""
    return depth >= POOL_DEPTH


def share_held(runs: Sequence[Placements], depth: int) -> float:
    """Compute the share of all judgments that some runs hold within a depth."""
    held = np.any([_held(one, depth) for one in runs], axis=0) if runs else np.zeros(0)
    return float(held.mean()) if len(held) else 0.0


def _held(placements: Placements, depth: int) -> Bools:
    """Tell which judgments are of documents that a run has within a depth."""
    held = np.zeros(len(placements.qrels.documents), dtype=bool)
    held[placements.judgment[placements.rank <= depth]] = True
    return held


def _own(
    runs: Mapping[str, Placements], teams: Mapping[str, str], depth: int
) -> dict[str, Bools]:  # fmt: skip
    """Tell which judgments are of documents that one team alone has within the depth."""
    found: dict[str, Bools] = {}
    for run, placements in runs.items():
        team, held = teams.get(run, run), _held(placements, depth)
        found[team] = found.get(team, False) | held
    single = np.sum(list(found.values()), axis=0) == 1
    return {team: mine & single for team, mine in found.items()}


def leave_out(
    instruments: Mapping[str, Instrument], placed: Placed, teams: Mapping[str, str],
    inside: Sequence[str], depth: int,
) -> dict[str, LeftOut]:  # fmt: skip
    """Score each run without the judgments that its team alone brought into the pool.

    These are of documents that a run of its team has within the depth, and none of another; runs
    not `inside` the pool brought nothing. This is the leave-one-out test of pools (Zobel 1998,
    doi:10.1145/290941.291014; by team: Voorhees 2001, doi:10.1007/3-540-45691-0_34).
    """
    labels = [label for label, one in instruments.items() if one.measure.judges]
    own = {label: _own({run: placed[run][label] for run in inside}, teams, depth)
           for label in labels}  # fmt: skip
    found: dict[str, LeftOut] = {}
    for run, placements in placed.items():
        team, values, grades = teams.get(run, run), {}, np.zeros(0)
        for label in labels:
            one = placements[label]
            gone = own[label].get(team, np.zeros(len(one.qrels.documents), dtype=bool))
            grades = one.qrels.grades[gone] if label == labels[0] else grades
            with suppress(IdealistError):  # what cannot be measured has no price
                now = measured(instruments[label], one).aggregate
                fewer = without_judgments(one, gone)
                values[label] = (now, measured(instruments[label], fewer).aggregate)
        found[run] = LeftOut(team, len(grades), int(np.count_nonzero(grades > 0)), values)
    return found


def odds_in_pool(
    runs: Mapping[str, Placements], teams: Mapping[str, str], depth: int
) -> float:  # fmt: skip
    """Estimate the odds of relevance of what one team alone has, over those of what it shares.

    This is what `Chances` needs: without its own team, a run's own documents would be unjudged.

    Formula: (Σ u₁ s₀ / n + c o) / (Σ u₀ s₁ / n + c), over runs with u₁ relevant and u₀ other
    documents of its own, s₁ and s₀ that it shares, n in all; c is `ODDS_PRIOR`, o `POOL_ODDS`

    Reference: Mantel and Haenszel 1959, doi:10.1093/jnci/22.4.719
    """
    own, up, down = _own(runs, teams, depth), ODDS_PRIOR * POOL_ODDS, float(ODDS_PRIOR)
    for run, placements in runs.items() if len(own) > 1 else ():
        near = placements.rank <= depth
        alone = own[teams.get(run, run)][placements.judgment[near]]
        relevant = placements.grade[near] > 0
        size = max(len(relevant), 1)
        up += np.count_nonzero(alone & relevant) * np.count_nonzero(~alone & ~relevant) / size
        down += np.count_nonzero(alone & ~relevant) * np.count_nonzero(~alone & relevant) / size
    return float(up / down)


def without_judgments(placements: Placements, gone: Bools) -> Placements:
    """Take judgments away: their documents stay in the lists, unjudged."""
    if not gone.any():
        return placements
    qrels, kept = placements.qrels, np.flatnonzero(~gone)
    sizes = np.diff(np.searchsorted(kept, qrels.starts))
    stays = ~gone[placements.judgment]
    judgment = (np.cumsum(~gone) - 1)[placements.judgment]
    fewer = replace(placements, qrels=qrels.at(kept, qrels.queries, sizes), judgment=judgment)
    return fewer.at(stays, placements.retrieved)
