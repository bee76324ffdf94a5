"""The context: what a language model gets to read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from idealist.data.columns import Bools, Floats, Ints
from idealist.diagnosing.evidence import WithEnds, bounded, of_mean, of_value
from idealist.diagnosing.measured_run import Inputs
from idealist.measures.instrument import chosen
from idealist.ranking.placements import Placements
from idealist.rendering.plain_data import finite
from idealist.rendering.wording import few

#: A passage that is not relevant misleads from this utility on (suggested).
MISLEADING = 0.5
#: The figures of a context, in words.
WORDS: dict[str, str] = {
    "precision": "precision",
    "recall": "recall, of what fits in",
    "answered": "contexts with a relevant passage",
    "first": "rank of the first of them",
    "middle": "contexts where that is in the middle third",
    "distractors": "misleading passages in a context",
    "worth": "UDCG",
}
#: Those that are not shares, and the least that each can be; the most is the size of a context.
COUNTS = {"first": 1.0, "distractors": 0.0}


def thirds(rank: Ints, size: Ints) -> Ints:
    """Say in which third of a context a passage is: 0, 1 or 2. Two passages have no middle.

    >>> thirds(np.array([3, 4, 7, 8, 1, 2]), np.array([10, 10, 10, 10, 2, 2])).tolist()
    [0, 1, 1, 2, 0, 2]
    """
    third: Ints = 3 * (2 * rank - 1) // (2 * np.maximum(size, 1))
    return np.where(size < 3, np.where(rank == 1, 0, 2), np.minimum(third, 2))


@dataclass(frozen=True, eq=False)
class Context:
    """The first `size` passages of every list; each property holds a value for every judged query.

    It is NaN if a query has none, such as precision where nothing is relevant.
    """

    inputs: Inputs
    size: int

    @property
    def _name(self) -> str:
        return f"P(denominator=min(k,n))@{self.size}"

    @property
    def precision(self) -> Floats:
        """The share of relevant passages."""
        return self.inputs.run.values(self._name)

    @property
    def recall(self) -> Floats:
        """The share of the relevant passages that are in the context, or of those it can hold."""
        return self.inputs.run.values(f"R(denominator=min(k,R))@{self.size}")

    @cached_property
    def _lists(self) -> Placements:
        return self.inputs.run.placements(self._name).cut(self.size)

    @property
    def _relevant(self) -> Bools:
        relevant: Bools = self.inputs.run.instrument(self._name).measure.worth(self._lists) > 0
        return relevant

    @cached_property
    def first(self) -> Floats:
        """The rank of the first relevant passage; NaN where there is none."""
        lists = self._lists
        ranks = np.full(len(lists.qrels.queries), np.inf)
        np.minimum.at(ranks, lists.query[self._relevant], lists.rank[self._relevant])
        return np.where(np.isinf(ranks) | np.isnan(self.precision), np.nan, ranks)

    @property
    def middle(self) -> Floats:
        """Whether it is in the middle third."""
        known = ~np.isnan(self.first)
        third = thirds(np.where(known, self.first, 1).astype(np.int64), self._lists.retrieved)
        return np.where(known, (third == 1).astype(np.float64), np.nan)

    @property
    def distractors(self) -> Floats:
        """How many passages mislead: grade or utility is below 0, or the model would use them.

        The latter holds for passages that are not relevant, if no utility is below 0.
        """
        lists, inputs = self._lists, self.inputs
        misleading = lists.grade < 0
        if inputs.signal:
            column = lists.qrels.numbers[inputs.signal][lists.judgment]
            utility = 1 - column if inputs.signal == "abstain" else column
            used = ~self._relevant & (utility >= MISLEADING)
            misleading |= utility < 0 if inputs.signed else used
        count = np.bincount(lists.query[misleading], minlength=len(lists.qrels.queries))
        return np.where(lists.counting, count.astype(np.float64), np.nan)

    @property
    def answered(self) -> Floats:
        """Whether there is a relevant passage."""
        return np.where(np.isnan(self.precision), np.nan, ~np.isnan(self.first))

    @property
    def fillable(self) -> Floats:
        """Whether there is none, but the whole list has one."""
        whole = Context(self.inputs, max(self.inputs.run.depth, 1))
        return np.maximum(whole.answered - self.answered, 0.0)

    @property
    def misled(self) -> Floats:
        """Whether a passage misleads."""
        return np.where(np.isnan(self.distractors), np.nan, self.distractors > 0)

    @property
    def worth(self) -> Floats:
        """UDCG; NaN without its column."""
        if not self.inputs.udcg:
            return np.full(len(self.inputs.qrels.queries), np.nan)
        return self.inputs.run.values(self.inputs.udcg)

    @cached_property
    def figures(self) -> dict[str, WithEnds]:
        """The mean of each property over queries, with a 95 % interval."""
        named = [name for name in WORDS if name != "worth" or self.inputs.udcg]
        return {name: self._figure(name, getattr(self, name)) for name in named}

    def _figure(self, name: str, sample: Floats) -> WithEnds:
        values = sample[~np.isnan(sample)]
        if name not in COUNTS:
            return of_value(values)
        return bounded(of_mean(values), values, COUNTS[name], float(self.size))

    def facts(self, fix: str) -> tuple[str, ...]:
        """Name the queries whose context holds nothing relevant, by the fix that would fill it."""
        further, all_queries = self.fillable > 0, self.inputs.qrels.queries
        lacking = {"rerank": further, "retrieve": (self.answered == 0) & ~further}.get(fix)
        if lacking is None or not lacking.any():
            return ()
        why = {
            "rerank": "it stands further down: rerank, or read more",
            "retrieve": "none was retrieved",
        }[fix]
        queries, total = chosen(all_queries, lacking), np.count_nonzero(~np.isnan(self.answered))
        held = "holds" if len(queries) == 1 else "hold"
        some = f"{len(queries)} of {total} contexts ({few(queries)}) {held} nothing relevant"
        return (f"{some}; {why}",)

    def computed(self) -> Context:
        """Compute the figures now, so that errors appear at once."""
        _ = self.figures
        return self

    def words(self, figure: str) -> str:
        """Say what a figure is."""
        return self.inputs.udcg if figure == "worth" else WORDS[figure]

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        figures = {
            name: {
                "words": self.words(name), "mean": finite(value),
                "interval": [finite(low), finite(high)],
            }
            for name, (value, low, high) in self.figures.items()
        }  # fmt: skip
        return {"size": self.size, **figures}
