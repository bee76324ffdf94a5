"""Fixes: what would win back what is lost, how much of it, and which comes first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from idealist.auditing.chances import names_nonrelevant
from idealist.data.columns import Bools, Floats
from idealist.diagnosing.losses import ALL, NOTHING, TOPS, Headroom, Losses, Stages, better
from idealist.diagnosing.measured_run import MeasuredRun
from idealist.notation import many
from idealist.report.plain_data import finite
from idealist.report.wording import number

#: What each fix would win back, in words; the order decides between equals.
FIXES: dict[str, str] = {
    "answer": "queries without any document",
    "retrieve": "documents not retrieved",
    "rerank": "the order of what was retrieved",
    "break ties": "ties not in the best order",
    "judge": "documents behind unjudged ones",
    "shorten": "worthless documents retrieved",
}


@dataclass(frozen=True, eq=False)
class Fixes:
    """What each fix would win back of a measure; together they make up all that is lost.

    `parts` holds it for every judged query, by the fixes of `FIXES`. `room` says what perfect
    stages would reach, and `reach` what a perfect reranker would, query by query; `depth` is the
    length of the longest list, of the run or its first stage. What stands behind unjudged documents
    may be no loss at all: judging them would tell.

    >>> from idealist.diagnosing import diagnose
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> found = diagnose(qrels, {"q1": ["b", "a"], "q2": ["d"]}, "RR@10").fixes["RR@10"]
    >>> {fix: mean for fix, mean in found.means.items() if mean}
    {'retrieve': 0.5, 'rerank': 0.25}
    >>> found.ranked
    ['retrieve', 'rerank']
    """

    losses: Losses
    room: Headroom = field(repr=False)
    reach: Floats = field(repr=False)
    depth: int
    parts: Mapping[str, Floats] = field(repr=False)

    def only(self, queries: Bools) -> Fixes:
        """Keep some of the judged queries."""
        return replace(self, losses=self.losses.only(queries))

    @property
    def means(self) -> dict[str, float]:
        """What each fix would win back in the mean."""
        return {fix: self.losses.mean(values) for fix, values in self.parts.items()}

    @property
    def ranked(self) -> list[str]:
        """The fixes that would win anything back, those that would win most first."""
        won = {fix: mean for fix, mean in self.means.items() if mean > NOTHING}
        return sorted(won, key=lambda fix: -won[fix])

    def behind(self, fix: str) -> dict[str, float]:
        """Return the queries that a fix would help, and by how much, the most first."""
        return self.losses.most(self.parts[fix])

    @property
    def first(self) -> str:
        """What to do first, and what that could win; empty if nothing is lost."""
        if not self.ranked:
            return ""
        fix, measure = self.ranked[0], self.losses.measure
        won = f"{number(self.means[fix])} of {measure}"
        empty = many(len(self.behind("answer")), "query that has", "queries that have")
        return {
            "answer": f"retrieve something for the {empty} no documents. That loses {won}",
            "retrieve": f"retrieve more relevant documents{self._longer()}. "
            f"No reranker can win back this {won}",
            "rerank": f"rerank what was retrieved. A perfect reranker would take {measure} from "
            f"{number(self.losses.value)} to {self._reached()}",
            "break ties": f"break ties by a finer score. Their best order would win {won}",
            "judge": f"judge the unjudged documents that stand above relevant ones (idealist audit "
            f"--to-judge lists them). {won} hangs on them, and may be no fault of the run",
            "shorten": f"return shorter lists. Documents that are worth nothing cost {won}",
        }[fix]

    def _longer(self) -> str:
        return f", perhaps in longer lists than {self.depth}" if self.depth < TOPS[-1] else ""

    def _reached(self) -> str:
        """Say what a perfect reranker of all would reach, and one of as many as is usual."""
        tops = [stage for stage in self.room.stages if stage.isdecimal()]
        some = f", one of the top {tops[-1]} to {number(self.room.means[tops[-1]])}" if tops else ""
        unless = ", counting unjudged documents as not relevant" if self.behind("judge") else ""
        return f"{number(self.losses.mean(self.reach))}{some}{unless}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            fix: {"words": FIXES[fix], "wins": finite(mean), "queries": self.behind(fix)}
            for fix, mean in self.means.items()
        }


def fixes(run: MeasuredRun, losses: Losses, room: Headroom, two: Stages | None) -> Fixes:
    """Divide what is lost among fixes.

    A reranker could win what a better order of the retrieved documents would, and with a first
    stage what a better order of its documents would. Judgments that only name relevant documents
    tell nothing of others: these then count as not relevant, which is the order's fault.
    """
    lost = losses.ladder.losses
    nothing = run.placements(losses.measure).retrieved == 0
    missing, unjudged = np.where(nothing, 0.0, lost["missing"]), lost["unjudged"]
    beyond = missing if two is None else np.minimum(missing, two.parts["beyond"])
    doubtful = unjudged if names_nonrelevant(run.qrels.grades) else np.zeros_like(unjudged)
    ordered = lost["duplicates"] + lost["order"] + lost["cutoff"]
    parts = {
        "answer": np.where(nothing, lost["missing"], 0.0),
        "retrieve": beyond,
        "rerank": ordered + (unjudged - doubtful) + (missing - beyond),
        "break ties": lost["ties"],
        "judge": doubtful,
        "shorten": lost["worthless"],
    }
    reach, depth, way = room.stages[ALL], room.depth, losses.ladder.direction
    if two is not None:
        reach = better(way, reach, losses.ladder.actual + way * two.parts["left"])
        depth = max(depth, two.depth)
    return Fixes(losses, room, reach, depth, parts)
