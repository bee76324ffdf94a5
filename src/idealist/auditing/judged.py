"""How much of what was retrieved is judged: by run, by query and by rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.aggregate import Aggregate
from idealist.auditing.finding import plain_number
from idealist.auditing.thresholds import DEPTHS
from idealist.instrument import Instrument
from idealist.measures.judged import Judged
from idealist.measuring import measured
from idealist.placements import Placements
from idealist.tables.columns import Floats


@dataclass(frozen=True, eq=False)
class RunCoverage:
    """The coverage of one run, by depth: Judged@k, and how many of the documents are holes.

    `by_query` has Judged@k of every judged query; `by_rank` the share of lists that reach a rank
    and have a judged document there, NaN where none does.
    """

    run: str
    judged: Mapping[int, float]
    holes: Mapping[int, int]
    looked: Mapping[int, int]
    by_query: Mapping[int, Floats]
    by_rank: Floats

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "run": self.run,
            "judged": {str(k): plain_number(share) for k, share in self.judged.items()},
            "holes": {str(k): count for k, count in self.holes.items()},
            "documents": {str(k): count for k, count in self.looked.items()},
            "by_rank": [*map(plain_number, self.by_rank.tolist())],
            "by_query": {str(k): values.tolist() for k, values in self.by_query.items()},
        }


def coverage_of(run: str, placements: Placements) -> RunCoverage:
    """Measure what is judged of a run.

    >>> from idealist import Protocol, rank, read_qrels, read_run
    >>> qrels, run = read_qrels({"q": {"a": 1, "b": 0}}), read_run({"q": ["a", "x", "b", "y"]})
    >>> found = coverage_of("bm25", rank(qrels, run, [Protocol()])[Protocol()])
    >>> found.judged[10], found.holes[10], found.by_rank[:4].tolist()
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
    """Give the share judged at each rank, how many were judged there, and how many lists reach it.

    The ranks are those down to the deepest of `DEPTHS`.
    """
    deepest = max(DEPTHS)
    near = placements.rank[placements.rank <= deepest]
    judged = np.bincount(near, minlength=deepest + 1)[1:].astype(np.float64)
    shorter = np.searchsorted(np.sort(placements.retrieved), np.arange(1, deepest + 1))
    reach = (len(placements.retrieved) - shorter).astype(np.float64)
    share = np.divide(judged, reach, out=np.full(deepest, np.nan), where=reach > 0)
    return share, judged, reach
