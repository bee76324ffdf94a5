"""Pools: which runs were judged, how deep, and what a run owes to having been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from idealist.auditing.finding import plain_number
from idealist.auditing.judged import judged_at
from idealist.auditing.thresholds import POOL_DEPTH, POOL_HOLES
from idealist.errors import IdealistError
from idealist.instrument import Instrument
from idealist.measuring import measured
from idealist.placements import Placements
from idealist.tables.columns import Bools, starts_of

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

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        values = {label: [*map(plain_number, pair)] for label, pair in self.values.items()}
        counts = {"unique": self.unique, "relevant": self.relevant}
        return {"team": self.team, **counts, "values": values}


def pool_depth(placements: Placements) -> int:
    """Give the rank down to which a run is as good as wholly judged; 0 where it is not at all.

    A pool of depth k holds the first k documents of every run that contributed to it.

    >>> from idealist import Protocol, rank, read_qrels, read_run
    >>> qrels, run = read_qrels({"q": {"a": 1, "b": 0}}), read_run({"q": ["a", "b", "x"]})
    >>> pool_depth(rank(qrels, run, [Protocol()])[Protocol()])
    2
    """
    _, judged, reach = judged_at(placements)
    looked = np.cumsum(reach)
    whole = np.flatnonzero((looked - np.cumsum(judged) <= POOL_HOLES * looked) & (reach > 0))
    return int(whole[-1]) + 1 if len(whole) else 0


def contributed(depth: int) -> bool:
    """Guess from its pool depth whether a run contributed to the pool."""
    return depth >= POOL_DEPTH


def share_held(runs: Sequence[Placements], depth: int) -> float:
    """Give the share of all judgments that some runs hold within a depth."""
    if not runs:
        return 0.0
    held = np.zeros(len(runs[0].qrels.documents), dtype=bool)
    for placements in runs:
        held[placements.judgment[placements.rank <= depth]] = True
    return float(held.mean()) if len(held) else 0.0


def leave_out(
    instruments: Mapping[str, Instrument], placed: Placed, teams: Mapping[str, str], depth: int
) -> dict[str, LeftOut]:
    """Score each run without the judged documents that no other team has within the depth.

    This is the leave-one-out test of pools (Zobel 1998; by group: Voorhees 2001).
    """
    labels = [label for label, one in instruments.items() if one.measure.judges]
    alone = {label: _alone(label, placed, teams, depth) for label in labels}
    found: dict[str, LeftOut] = {}
    for run, own in placed.items():
        team, values = teams.get(run, run), {}
        for label in labels:
            with suppress(IdealistError):  # what cannot be measured has no price
                fewer = unjudged(own[label], alone[label][team])
                now = measured(instruments[label], own[label]).aggregate
                values[label] = (now, measured(instruments[label], fewer).aggregate)
        gone = alone[labels[0]][team] if labels else np.zeros(0, dtype=bool)
        grades = own[labels[0]].qrels.grades[gone] if labels else gone
        found[run] = LeftOut(team, len(grades), int(np.count_nonzero(grades > 0)), values)
    return found


def _alone(label: str, placed: Placed, teams: Mapping[str, str], depth: int) -> dict[str, Bools]:
    """Say which judgments each team alone has within the depth."""
    found: dict[str, Bools] = {}
    for run, own in placed.items():
        mine = found.setdefault(
            teams.get(run, run), np.zeros(len(own[label].qrels.documents), dtype=bool)
        )
        mine[own[label].judgment[own[label].rank <= depth]] = True
    single = np.sum(list(found.values()), axis=0) == 1
    return {team: mine & single for team, mine in found.items()}


def unjudged(placements: Placements, gone: Bools) -> Placements:
    """Take judgments away: what they judged stays in the lists, unjudged."""
    qrels, kept = placements.qrels, np.flatnonzero(~gone)
    query = np.repeat(np.arange(len(qrels.queries)), np.diff(qrels.starts))
    sizes = np.bincount(query[kept], minlength=len(qrels.queries))
    fewer = replace(
        qrels,
        starts=starts_of(sizes),
        documents=tuple(qrels.documents[i] for i in kept.tolist()),
        grades=qrels.grades[kept],
        columns={name: column[kept] for name, column in qrels.numbers.items()},
        subtopics=qrels.subtopics and qrels.subtopics.only(kept),
        preferences=qrels.preferences and qrels.preferences.only(kept),
    )
    stays = ~gone[placements.judgment]
    names = ("query", "rank", "first", "last", "score")
    columns = {name: getattr(placements, name)[stays] for name in names}
    judgment = (np.cumsum(~gone) - 1)[placements.judgment[stays]]
    return replace(placements, qrels=fewer, judgment=judgment, **columns)
