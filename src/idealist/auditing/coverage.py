"""How much of what was retrieved is judged: by run, by query and by rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median_low
from typing import Any

import numpy as np

from idealist.auditing.chances import DEPTHS, judged_at
from idealist.auditing.filling import PairToJudge, pairs_to_judge
from idealist.auditing.leave_out import (
    LeftOut,
    contributed,
    leave_out,
    odds_in_pool,
    pool_depth,
    share_held,
)
from idealist.data import Qrels
from idealist.data.columns import Floats
from idealist.data.judgments import GOLD
from idealist.errors import UsageError
from idealist.evaluating.doubt_case import DoubtCase
from idealist.measures.instrument import Aggregate, Instrument, measured
from idealist.measures.judged import Judged
from idealist.notation import many, tidy
from idealist.ranking.placements import Placements
from idealist.rendering.document import COUNT, TEXT, VALUE, Column, Table
from idealist.rendering.plain_data import record
from idealist.rendering.wording import number


@dataclass(frozen=True, eq=False)
class RunCoverage:
    """The coverage of one run, by depth: Judged@k, and how many of the documents are unjudged.

    `looked` counts the documents down to each depth. `by_query` has Judged@k of every judged query;
    `by_rank` the share of lists that reach a rank and have a judged document there, NaN where none
    does; `reach` counts the lists that do.
    """

    run: str
    judged: Mapping[int, float]
    unjudged: Mapping[int, int]
    looked: Mapping[int, int]
    by_query: Mapping[int, Floats]
    by_rank: Floats
    reach: Floats

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
    by_rank, reach = judged_at(placements)
    looked = {k: int(np.minimum(placements.retrieved, k).sum()) for k in DEPTHS}
    found = {k: int(np.count_nonzero(placements.rank <= k)) for k in DEPTHS}
    return RunCoverage(
        run,
        {k: share.aggregate for k, share in shares.items()},
        {k: looked[k] - found[k] for k in DEPTHS},
        looked,
        {k: share.values for k, share in shares.items()},
        np.divide(by_rank, reach, out=np.full(len(reach), np.nan), where=reach > 0),
        reach,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Coverage:
    """What is judged of all runs.

    `grades` counts the judgments of each grade; `runs` has the shares judged, `pairs` the pairs to
    judge first. `depths` says down to which rank each run is wholly judged, `left_out` what each
    would lose without its own judgments, and `held` which share of all judgments the runs that seem
    to have contributed hold within the pool, down to rank `depth`. `odds` compares the odds of
    relevance of unjudged documents with those of judged ones. `gold` is that of the judgments:
    unless it is ``pooled``, nothing is left to judge.
    """

    queries: tuple[str, ...]
    grades: Mapping[float, int]
    runs: Mapping[str, RunCoverage]
    depths: Mapping[str, int]
    left_out: Mapping[str, LeftOut]
    held: float
    depth: int
    odds: float
    pairs: tuple[PairToJudge, ...]
    gold: str = "pooled"

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
        if self.gold != "pooled":
            hint = "say --judgments pooled if other documents may be relevant"
            raise UsageError(f"there is nothing to judge: {GOLD[self.gold]}", hint)
        rows = [
            [one.query, one.document, " ".join(one.runs), one.rank, number(one.worth)]
            for one in self.pairs
        ]
        return Table.of(["query", "document", "runs"], ["rank", "worth"], rows, COUNT)

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "gold": self.gold,
            "queries": list(self.queries),
            "grades": {str(grade): count for grade, count in self.grades.items()},
            "runs": [one.data() for one in self.runs.values()],
            "pool": {
                run: {"depth": depth, "contributed": contributed(depth)}
                for run, depth in self.depths.items()
            },
            "held": self.held,
            "odds": self.odds,
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
    pooled = {name: one for name, one in whole.items() if contributed(depths[name])}
    depth = median_low(depths[name] for name in pooled) if pooled else max(DEPTHS)
    odds = odds_in_pool(pooled, teams, depth)
    placed = {name: one.placed for name, one in runs.items()}
    several = len({teams.get(name, name) for name in runs}) > 1
    return Coverage(
        qrels.queries,
        Counter(map(tidy, sorted(qrels.grades.tolist()))),
        {name: coverage_of(name, one) for name, one in whole.items()},
        depths,
        leave_out(instruments, placed, teams, [*(pooled or runs)], depth) if several else {},
        share_held([*pooled.values()], depth),
        depth,
        odds,
        pairs_to_judge(runs, odds) if qrels.gold == "pooled" else (),
        qrels.gold,
    )
