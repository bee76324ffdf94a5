"""How much of what was retrieved is judged: by run, by query and by rank."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from idealist.auditing.filling import DEPTHS, PairToJudge, pairs_to_judge
from idealist.data import Qrels
from idealist.data.columns import Bools, Floats
from idealist.errors import Faults, IdealistError, UsageError
from idealist.evaluating.doubt_case import DoubtCase, differing
from idealist.formats import json_text
from idealist.formats.source import Source
from idealist.measures.instrument import Aggregate, Instrument, measured
from idealist.measures.judged import Judged
from idealist.notation import many, tidy
from idealist.ranking.placements import Placements
from idealist.report.document import COUNT, TEXT, VALUE, Column, Table
from idealist.report.plain_data import finite, record
from idealist.report.wording import number

#: Share of unjudged documents that a pool may have: its ties may have been in another order.
#: Suggested.
POOL_HOLES = 0.01
#: The least depth of pools; TREC-COVID's first was 7. Suggested.
POOL_DEPTH = 5


@dataclass(frozen=True, eq=False)
class RunCoverage:
    """The coverage of one run, by depth: Judged@k, and how many of the documents are unjudged.

    `looked` counts the documents down to each depth. `by_query` has Judged@k of every judged query;
    `by_rank` the share of lists that reach a rank and have a judged document there, NaN where none
    does.
    """

    run: str
    judged: Mapping[int, float]
    unjudged: Mapping[int, int]
    looked: Mapping[int, int]
    by_query: Mapping[int, Floats]
    by_rank: Floats

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return record({
            "run": self.run,
            "judged": {str(k): share for k, share in self.judged.items()},
            "holes": {str(k): count for k, count in self.unjudged.items()},
            "documents": {str(k): count for k, count in self.looked.items()},
            "by_rank": self.by_rank.tolist(),
        }) | {"by_query": {str(k): own.tolist() for k, own in self.by_query.items()}}  # fmt: skip


def coverage_of(run: str, placements: Placements) -> RunCoverage:
    """Measure what is judged of a run.

    >>> from idealist import Protocol, rank, read_qrels, read_run
    >>> qrels, run = read_qrels({"q": {"a": 1, "b": 0}}), read_run({"q": ["a", "x", "b", "y"]})
    >>> found = coverage_of("bm25", rank(qrels, run, [Protocol()])[Protocol()])
    >>> found.judged[10], found.unjudged[10], found.by_rank[:4].tolist()
    (0.5, 2, [1.0, 0.0, 1.0, 0.0])
    """
    protocol, mean = placements.protocol, Aggregate()
    shares = {
        k: measured(Instrument(Judged(cutoff=k).filled(), protocol, mean), placements)
        for k in DEPTHS
    }
    looked = {k: int(np.minimum(placements.retrieved, k).sum()) for k in DEPTHS}
    found = {k: int(np.count_nonzero(placements.rank <= k)) for k in DEPTHS}
    return RunCoverage(
        run,
        {k: share.aggregate for k, share in shares.items()},
        {k: looked[k] - found[k] for k in DEPTHS},
        looked,
        {k: share.values for k, share in shares.items()},
        judged_at(placements)[0],
    )


def judged_at(placements: Placements) -> tuple[Floats, Floats, Floats]:
    """Count at each rank the share judged, the documents judged, and the lists that reach it.

    The ranks are those down to the deepest of `DEPTHS`.
    """
    deepest = max(DEPTHS)
    near = placements.rank[placements.rank <= deepest]
    judged = np.bincount(near, minlength=deepest + 1)[1:].astype(np.float64)
    shorter = np.searchsorted(np.sort(placements.retrieved), np.arange(1, deepest + 1))
    reach = (len(placements.retrieved) - shorter).astype(np.float64)
    share = np.divide(judged, reach, out=np.full(deepest, np.nan), where=reach > 0)
    return share, judged, reach


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
    _, judged, reach = judged_at(placements)
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
                fewer = without_judgments(own[label], alone[label][team])
                now = measured(instruments[label], own[label]).aggregate
                values[label] = (now, measured(instruments[label], fewer).aggregate)
        gone = alone[labels[0]][team] if labels else np.zeros(0, dtype=bool)
        grades = own[labels[0]].qrels.grades[gone] if labels else gone
        found[run] = LeftOut(team, len(grades), int(np.count_nonzero(grades > 0)), values)
    return found


def _alone(label: str, placed: Placed, teams: Mapping[str, str], depth: int) -> dict[str, Bools]:
    """Tell which judgments each team alone has within the depth."""
    found: dict[str, Bools] = {}
    for run, own in placed.items():
        team, held = teams.get(run, run), _held(own[label], depth)
        found[team] = found.get(team, False) | held
    single = np.sum(list(found.values()), axis=0) == 1
    return {team: mine & single for team, mine in found.items()}


def without_judgments(placements: Placements, gone: Bools) -> Placements:
    """Take judgments away: their documents stay in the lists, unjudged."""
    qrels, kept = placements.qrels, np.flatnonzero(~gone)
    sizes = np.diff(np.searchsorted(kept, qrels.starts))
    stays = ~gone[placements.judgment]
    judgment = (np.cumsum(~gone) - 1)[placements.judgment]
    fewer = replace(placements, qrels=qrels.at(kept, qrels.queries, sizes), judgment=judgment)
    return fewer.at(stays, placements.retrieved)


def read_teams(data: Any) -> dict[str, str]:
    """Read the team of each run: {run: team}, or a file of it.

    A file holds JSON, ``run<TAB>team`` lines, or columns (CSV, TSV) with a header that names
    ``run`` and ``team``.

    >>> read_teams({"bm25": "a", "dense": "a"})
    {'bm25': 'a', 'dense': 'a'}
    """
    if not isinstance(data, (Mapping, str, Path)):
        raise UsageError(f"cannot read teams={data!r:.60}", "give {run: team}, or a file")
    if not isinstance(data, Mapping):
        source = Source.of(data)
        text = source.text(source.data())
        is_json = text.lstrip().startswith(b"{")
        data = json_text.load(text, source.name) if is_json else _of_lines(text, source.name)
    return {str(run): str(team) for run, team in data.items()}


def _of_lines(text: bytes, name: str) -> dict[str, str]:
    faults, sign = Faults(name), "\t" if b"\t" in text else ","
    rows = list(csv.reader(text.decode().splitlines(), delimiter=sign))
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    headed = {"run", "team"} <= set(head)
    run, team = (head.index("run"), head.index("team")) if headed else (0, 1)
    rows = rows[headed:]
    for line, row in enumerate(rows, 1 + headed):
        if row and len(row) <= max(run, team):
            faults.add("columns", f"no team in {','.join(row)!r}", "lines are run<TAB>team", line)
    faults.check()
    return {row[run].strip(): row[team].strip() for row in rows if row}


@dataclass(frozen=True, eq=False, repr=False)
class Coverage:
    """What is judged of all runs.

    `grades` counts the judgments of each grade; `runs` has the shares judged, `pairs` the pairs to
    judge first. `depths` says down to which rank each run is wholly judged, `left_out` what each
    would lose without its own judgments, and `held` which share of all judgments the runs that seem
    to have contributed hold within the pool.
    """

    queries: tuple[str, ...]
    grades: Mapping[float, int]
    runs: Mapping[str, RunCoverage]
    depths: Mapping[str, int]
    left_out: Mapping[str, LeftOut]
    held: float
    pairs: tuple[PairToJudge, ...]

    def __repr__(self) -> str:
        return f"<Coverage of {many(len(self.runs), 'run', 'runs')}>"

    @property
    def contributed(self) -> tuple[str, ...]:
        """The runs that seem to have contributed to the pool."""
        return tuple(run for run, depth in self.depths.items() if contributed(depth))

    def table(self) -> Table:
        """Tabulate how much of each run is judged."""
        columns = [Column("run", TEXT, shortens=True)]
        columns += [Column(f"Judged@{k}", VALUE) for k in DEPTHS]
        columns += [Column(f"unjudged@{k}", COUNT) for k in DEPTHS]
        rows = [
            (run, *one.judged.values(),
             *(count if one.looked[k] else None for k, count in one.unjudged.items()))
            for run, one in self.runs.items()
        ]  # fmt: skip
        return Table(tuple(columns), tuple(rows))

    def to_judge(self) -> Table:
        """Tabulate the pairs to judge first."""
        rows = [
            [one.query, one.document, " ".join(one.runs), one.rank, number(one.worth)]
            for one in self.pairs
        ]
        return Table.of(["query", "document", "runs"], ["rank", "worth"], rows, COUNT)

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "queries": list(self.queries),
            "grades": {str(grade): count for grade, count in self.grades.items()},
            "runs": [one.data() for one in self.runs.values()],
            "pool": {
                run: {"depth": depth, "contributed": contributed(depth)}
                for run, depth in self.depths.items()
            },
            "held": self.held,
            "left_out": {run: one.data() for run, one in self.left_out.items()},
            "pairs": [one.data() for one in self.pairs],
        }


def cover(
    qrels: Qrels, instruments: Mapping[str, Instrument], runs: Mapping[str, DoubtCase],
    teams: Mapping[str, str],
) -> Coverage:  # fmt: skip
    """Look at what is judged of all runs."""
    whole = {name: one.whole for name, one in runs.items()}
    depths = {name: pool_depth(one) for name, one in whole.items()}
    inside = [name for name, depth in depths.items() if contributed(depth)]
    depth = min((depths[name] for name in inside), default=max(DEPTHS))
    placed = {name: one.placed for name, one in runs.items()}
    several = len({teams.get(name, name) for name in runs}) > 1
    return Coverage(
        qrels.queries,
        Counter(map(tidy, sorted(qrels.grades.tolist()))),
        {name: coverage_of(name, one) for name, one in whole.items()},
        depths,
        leave_out(instruments, placed, teams, depth) if several else {},
        share_held([whole[name] for name in inside], depth),
        pairs_to_judge(runs),
    )
