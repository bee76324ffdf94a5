"""Coverage: what is judged of the runs, down to where, and what to judge first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from idealist.auditing.filling import Chances
from idealist.auditing.judged import RunCoverage, coverage_of
from idealist.auditing.pooling import LeftOut, contributed, leave_out, pool_depth, share_held
from idealist.auditing.thresholds import DEPTHS
from idealist.auditing.wanted import Wanted, pairs_to_judge
from idealist.draw import Grid
from idealist.instrument import Instrument
from idealist.notation import many, tidy
from idealist.tables import Qrels

if TYPE_CHECKING:
    from idealist.auditing.case import Audited


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
    pairs: tuple[Wanted, ...]

    def __repr__(self) -> str:
        return f"<Coverage of {many(len(self.runs), 'run', 'runs')}>"

    @property
    def contributed(self) -> tuple[str, ...]:
        """The runs that seem to have contributed to the pool."""
        return tuple(run for run, depth in self.depths.items() if contributed(depth))

    def to_judge(self) -> Grid:
        """Tabulate the pairs to judge first."""
        rows = [
            [one.query, one.document, " ".join(one.runs), str(one.rank), f"{one.worth:.4f}"]
            for one in self.pairs
        ]
        return Grid(["query", "document", "runs", "rank", "worth"], rows, words=3)

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "queries": list(self.queries),
            "grades": {str(grade): count for grade, count in self.grades.items()},
            "runs": [one.to_json() for one in self.runs.values()],
            "pool": {
                run: {"depth": depth, "contributed": contributed(depth)}
                for run, depth in self.depths.items()
            },
            "held": self.held,
            "left_out": {run: one.to_json() for run, one in self.left_out.items()},
            "pairs": [one.to_json() for one in self.pairs],
        }


def cover(
    qrels: Qrels, instruments: Mapping[str, Instrument], audited: Mapping[str, Audited],
    teams: Mapping[str, str],
) -> Coverage:  # fmt: skip
    """Look at what is judged of all runs."""
    whole = {name: one.whole for name, one in audited.items()}
    depths = {name: pool_depth(one) for name, one in whole.items()}
    inside = [name for name, depth in depths.items() if contributed(depth)]
    depth = min((depths[name] for name in inside), default=max(DEPTHS))
    placed = {name: one.placed for name, one in audited.items()}
    several = len({teams.get(name, name) for name in audited}) > 1
    return Coverage(
        qrels.queries,
        Counter(map(tidy, sorted(qrels.grades.tolist()))),
        {name: coverage_of(name, one) for name, one in whole.items()},
        depths,
        leave_out(instruments, placed, teams, depth) if several else {},
        share_held([whole[name] for name in inside], depth),
        pairs_to_judge(
            {name: one.run for name, one in audited.items()},
            {name: Chances(one) for name, one in whole.items()},
        ),
    )
