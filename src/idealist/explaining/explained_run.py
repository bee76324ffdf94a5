"""An explained run: what one measure gives each query, and what each document adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from idealist.errors import UsageError, nearest
from idealist.evaluating.evaluator import Evaluator
from idealist.explaining.contributions import Terms, alone, terms
from idealist.measures.instrument import Instrument, Measured, measured
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked

#: How many ranks are shown of a measure without cutoff.
RANKS = 10


def one_or_more(name: str, given: Any) -> int:
    """Check a number of ranks or queries.

    >>> one_or_more("ranks", 3)
    3
    """
    whole = isinstance(given, Integral) and not isinstance(given, bool)
    if not whole or given < 1:
        raise UsageError(f"{name} cannot be {given!r:.60}", "give a whole number from 1 on")
    return int(given)


@dataclass(frozen=True, eq=False)
class ExplainedRun:
    """A ranked run and the instrument that measures it, to be taken apart query by query."""

    instrument: Instrument
    ranked: Ranked

    @classmethod
    def of(cls, evaluator: Evaluator, run: Any) -> ExplainedRun:
        """Rank a run by an evaluator of one measure, unless it has been by the same judgments."""
        (instrument,) = evaluator.instruments.values()
        ranked = evaluator.ranked(run)
        if ranked.qrels is not evaluator.qrels and ranked.qrels.hash != evaluator.qrels.hash:
            hint = "rank it by those that are given here"
            raise UsageError(f"{ranked.run.name} was ranked by other judgments", hint)
        return cls(instrument, ranked)

    @cached_property
    def placements(self) -> Placements:
        """Where the judged documents are."""
        return self.ranked[self.instrument.protocol]

    @property
    def meets(self) -> bool:
        """Whether any document of the run is judged."""
        return len(self.placements.query) > 0

    @cached_property
    def measured(self) -> Measured:
        """The value of every query, and which of them count."""
        return measured(self.instrument, self.placements)

    def depth(self, ranks: int | None) -> int:
        """Say how many ranks are shown: as many as are asked for, down to the cutoff, or 10."""
        if ranks is None:
            return self.instrument.measure.cutoff or RANKS
        return one_or_more("ranks", ranks)

    def index(self, query: str) -> int:
        """Find a judged query, or say why there is none."""
        queries = self.placements.qrels.queries
        if query in self.placements.qrels.known:
            return queries.index(query)
        if query in self.placements.unknown:
            hint = "choose one that is in the judgments too"
            raise UsageError(f"query {query!r} has no judgments, so it does not count", hint)
        some = [*queries[:5], "…"] if len(queries) > 5 else queries
        message = f"there is no query {query!r} in the judgments or in the run"
        raise UsageError(message, nearest(query, queries, some))

    def terms(self, index: int) -> Terms:
        """Take the value of a query apart."""
        block, lists = next(one for one in self.placements.lists if index in one[0])
        row = int(np.flatnonzero(block == index)[0])
        return terms(self.instrument.measure, alone(lists, row))

    def notes(self, index: int) -> Iterator[str]:
        """Say what else decides the value of a query."""
        measure, placements = self.instrument.measure, self.placements
        if not placements.in_run[index]:
            counts = (
                "is not counted" if placements.protocol.missing == "skip" else "counts as empty"
            )
            yield f"the run has no list for this query, which {counts}"
        elif not self.measured.counted[index]:
            yield "this query is not counted"
        if self.measured.gaps[index]:
            yield f"there is no {measure.lacking}: no_relevant={measure.if_undefined}"
        if placements.ties[index]:
            yield f"some scores are tied: ties={placements.protocol.ties}"
        if dropped := int(placements.duplicates[index]):
            yield f"documents retrieved twice count once, so they cost nothing: {dropped}"
