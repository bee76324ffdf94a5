"""Fixes: what would win back what is lost, how much of it, and which comes first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from idealist.auditing.chances import names_nonrelevant
from idealist.data import Qrels
from idealist.data.columns import Bools, Floats
from idealist.diagnosing.losses import NAMED, NOTHING, TOPS, Losses, Stages
from idealist.diagnosing.measured_run import MeasuredRun
from idealist.rendering.plain_data import finite
from idealist.rendering.wording import number, signed

#: What each fix would win back, in words; the order decides between equals.
FIXES: dict[str, str] = {
    "answer": "queries without any document",
    "retrieve": "documents not retrieved",
    "rerank": "the order of what was retrieved",
    "break ties": "ties not in the best order",
    "judge": "documents behind unjudged ones",
    "shorten": "worthless documents retrieved",
}


#: What is less than this prints as nothing.
SHOWN = 0.00005


@dataclass(frozen=True)
class ToDo:
    """One thing to do: what it could win of a measure, at best, and the queries behind that.

    `fix` is one of `FIXES`, or ``mend`` for an error in the data, whose points may be unknown.
    `also` are sentences that rules and the context add, `rules` the ids of these rules.
    """

    fix: str
    words: str
    measure: str
    wins: float
    queries: Mapping[str, float] = field(default_factory=dict)
    of: int = 0
    also: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    command: str = ""

    def lines(self) -> list[str]:
        """Say it in one line, and what rules add in one below each.

        >>> ToDo("rerank", "rerank", "AP", 0.25, {"q1": 0.5}, 2).lines()
        ['+0.2500 rerank (1 of 2: q1)']
        """
        some = [*self.queries][:NAMED] + ["…"] * (len(self.queries) > NAMED)
        where = f" ({len(self.queries)} of {self.of}: {', '.join(some)})" if some else ""
        points = "" if math.isnan(self.wins) else f"{signed(self.wins)} "
        return [f"{points}{self.words}{where}", *(f"  {words}" for words in self.also)]

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "fix": self.fix, "do": self.words, "measure": self.measure, "wins": finite(self.wins),
            "queries": self.queries, "of": self.of, "also": list(self.also),
            "rules": list(self.rules), "command": self.command,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Fixes:
    """What each fix would win back of a measure; together they make up all that is lost.

    `parts` holds it for every judged query, by the fixes of `FIXES`; `depth` is the length of the
    longest list, of the run or its first stage. What stands behind unjudged documents may be no
    loss at all: judging them would tell.

    >>> from idealist.diagnosing import diagnose
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> found = diagnose(qrels, {"q1": ["b", "a"], "q2": ["d"]}, "RR@10").fixes["RR@10"]
    >>> {fix: mean for fix, mean in found.means.items() if mean}
    {'retrieve': 0.5, 'rerank': 0.25}
    >>> found.ranked
    ['retrieve', 'rerank']
    """

    losses: Losses
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
    def todo(self) -> tuple[ToDo, ...]:
        """What to do, first what could win most."""
        measure, means, of = self.losses.measure, self.means, self.losses.queries
        return tuple(
            ToDo(fix, self._words(fix), measure, means[fix], self.behind(fix), of)
            for fix in self.ranked
            if means[fix] > SHOWN
        )

    def _words(self, fix: str) -> str:
        below, end = self.losses.by_cause["cutoff"], self.depth
        deep = f"; {number(below)} of this stands below the cutoff" if below > SHOWN else ""
        return {
            "answer": "retrieve something where nothing was retrieved",
            "retrieve": "retrieve more: no reranker wins this back"
            + (f"; lists end at rank {end}" if end < TOPS[-1] else ""),
            "rerank": f"rerank what was retrieved{deep}",
            "break ties": "break ties by a finer score",
            "judge": "judge what is unjudged above relevant documents, as idealist audit "
            "--to-judge lists it: it may be no fault of the run",
            "shorten": "return shorter lists: some documents are worth nothing",
        }[fix]

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            fix: {"words": FIXES[fix], "wins": finite(mean), "queries": self.behind(fix)}
            for fix, mean in self.means.items()
        }


def judging_helps(qrels: Qrels) -> bool:
    """Whether an unjudged document could be relevant: as the user says, or else as it looks."""
    return qrels.meant == "pooled" if qrels.meant else names_nonrelevant(qrels.grades)


def fixes(run: MeasuredRun, losses: Losses, two: Stages | None) -> Fixes:
    """Divide what is lost among fixes.

    A reranker could win what a better order of the retrieved documents would, and with a first
    stage what a better order of its documents would. Where judging more would tell nothing,
    unjudged documents are not relevant, which is the order's fault.
    """
    lost = losses.ladder.losses
    nothing = run.placements(losses.measure).retrieved == 0
    missing, unjudged = np.where(nothing, 0.0, lost["missing"]), lost["unjudged"]
    beyond = missing if two is None else np.minimum(missing, two.parts["beyond"])
    doubtful = unjudged if judging_helps(run.qrels) else np.zeros_like(unjudged)
    ordered = lost["duplicates"] + lost["order"] + lost["cutoff"]
    parts = {
        "answer": np.where(nothing, lost["missing"], 0.0),
        "retrieve": beyond,
        "rerank": ordered + (unjudged - doubtful) + (missing - beyond),
        "break ties": lost["ties"],
        "judge": doubtful,
        "shorten": lost["worthless"],
    }
    return Fixes(losses, max(run.depth, two.depth if two else 0), parts)
