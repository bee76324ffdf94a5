"""The C/W/L framework: expected gain, cost and depth of a user who moves from rank to rank."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from idealist.errors import Defect, UsageError
from idealist.measures.base import NO_RELEVANT
from idealist.measures.gains import GAIN, Gaining
from idealist.notation import ABOVE_0, Kind, Value, Written, choice, number, parameter, whole
from idealist.ranking.padded_lists import Array, PaddedLists

#: What a user model can report, named like the columns of cwl_eval.
REPORTS = ("EU", "ETU", "EC", "ETC", "ED")
#: How much higher each could be in the best case: the residuals of ``cwl-eval -r``.
RESIDUALS = tuple(f"Res{report}" for report in REPORTS)
#: The most cells of a page; larger arrays would not fit the processor's cache.
CELLS = 1 << 18


def _check_column(value: Any) -> Value:
    if not re.fullmatch(r"[\w.-]+", value):
        raise ValueError(value)
    return str(value)


POSITIVE = number(ABOVE_0, words="a number above 0")
COLUMN = Kind("none or the name of a judgment column", _check_column)


class Page(NamedTuple):
    """What users see, queries x ranks: gains and costs; `rank` and constant costs have one row."""

    xp: Any
    rank: Array
    gain: Array
    cost: Array

    def number(self, mask: Array) -> Array:
        """Return 1 where the mask is true and 0 elsewhere."""
        return self.xp.astype(mask, self.xp.float64)

    def so_far(self, values: Array) -> Array:
        """Sum the values down to each rank."""
        return self.xp.cumulative_sum(values, axis=1)

    def above(self, values: Array, start: float = 0.0) -> Array:
        """Sum the values above each rank, starting with `start`."""
        first = self.xp.full_like(values[:, :1], start)
        return self.so_far(self.xp.concat((first, values[:, :-1]), axis=1))

    def total(self, values: Array) -> Array:
        """Sum each row in rank order."""
        return self.so_far(values)[:, -1]


class UserModel(Gaining):
    """Base of user models: `goes_on` states how likely a user continues from each rank.

    With C_r the probability of continuing after rank r, V_r = C_1 … C_(r-1) is the probability of
    viewing rank r. With gains g, costs c, and N the last rank (`max_depth`), a model reports:

    - EU, the expected utility per document viewed: Σ V g / Σ V
    - ETU, the expected total utility: Σ (V - V_(N+1)) g
    - EC and ETC, the same for costs
    - ED, the expected number of documents viewed: Σ V

    As in cwl_eval, totals leave out users who would continue past rank N, so ETU is slightly less
    than EU · ED. A cutoff below N replaces N; for a cutoff above N, raise `max_depth` as well.

    The cost of a document comes from a judgment column. Unjudged documents, documents without a
    value in that column, and ranks below the end of the list all cost `cost`. cwl_eval also
    supports costs by element type, named in the run; runs hold no such types here.
    """

    gain: Written = parameter("binary", GAIN, "the gain of each grade, between 0 and 1")
    rel: float = parameter(1, number(), "the lowest relevant grade")
    report: str = parameter(
        "EU",
        choice(*REPORTS, *RESIDUALS),
        "EU and ETU: expected utility per document and in total; EC and ETC: expected cost; "
        "ED: expected number of documents viewed; Res…: how much higher it would be if "
        "unjudged documents and all ranks below the list had gain 1",
    )
    cost: float = parameter(1, POSITIVE, "the cost of viewing a document")
    cost_column: str = parameter(
        "none", COLUMN, "the judgment column with costs; `cost` applies to all other documents"
    )
    max_depth: int = parameter(
        1000, whole(2, "a number of ranks, at least 2"), "the last rank a user can view"
    )
    no_relevant: Written = parameter("0", NO_RELEVANT, "the utility without relevant documents")

    takes_cutoff = False
    monotone = False
    #: Whether the user stops at the last rank if there is no cutoff.
    stops = False

    def goes_on(self, page: Page) -> Array:
        """Return the probability of continuing from each rank; one row if equal for all queries."""
        raise Defect(f"{self.name} has no continuation probability")

    def looks(self, page: Page) -> tuple[Array, Array]:
        """Return the probability of viewing each rank, and of continuing past the last one."""
        end = self.cutoff or (self.max_depth if self.stops else math.inf)
        chance = page.xp.where(page.rank < end, self.goes_on(page), 0.0)
        looked = page.xp.cumulative_prod(chance, axis=1, include_initial=True)
        return looked[:, :-1], looked[:, -1:]

    @property
    def last(self) -> int:
        """The last rank a user can view."""
        return min(self.max_depth, self.cutoff or self.max_depth)

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Return the range of the reported quantity."""
        most = float(self.last)
        ranges = {"EU": (0.0, 1.0), "ETU": (0.0, most), "ED": (1.0, most)}
        ranges |= {"ResEU": (-1.0, 1.0), "ResETU": (-most, most), "ResED": (-most, most)}
        cost = (0.0 if self.report in REPORTS else -math.inf), math.inf
        return ranges.get(self.report, cost)

    def formula(self, lists: PaddedLists) -> Array:
        """Compute the reported quantity, or how much it could change."""
        xp = lists.xp
        judged = self.gains(lists, lists.pool, lists.judged)
        if lists.surely(judged > 1):
            hint, top = "use gain=binary, or gain=scaled(0,HIGHEST)", float(xp.max(judged))
            raise UsageError(f"{self.name}: a gain of {top:g} is above 1", hint)
        worst = self._reported(lists, 0.0)
        if self.report in RESIDUALS:
            return self._reported(lists, 1.0) - worst
        if self.report not in ("EU", "ETU"):
            return worst
        return xp.where(xp.any(judged > 0, axis=1), worst, math.nan)

    def _reported(self, lists: PaddedLists, unjudged: float) -> Array:
        """Compute the report with this gain for unjudged documents."""
        pages = self._pages(lists, unjudged)
        return lists.xp.concat([self._expected(page) for page in pages])

    def _expected(self, page: Page) -> Array:
        looked, beyond = self.looks(page)
        report = self.report.removeprefix("Res")
        documents = page.total(looked)
        if report == "ED":
            return page.xp.broadcast_to(documents, page.gain.shape[:1])
        met = page.gain if report in ("EU", "ETU") else page.cost
        met = page.xp.broadcast_to(met, page.gain.shape)
        if report in ("ETU", "ETC"):
            return page.total((looked - beyond) * met)
        return page.total(looked * met) / documents

    def _costs(self, lists: PaddedLists) -> Array:
        """Return the cost of each document found."""
        column = lists.column(self.cost_column)
        costs = lists.xp.where(lists.xp.isnan(column), float(self.cost), column)
        if bool(lists.xp.any(costs <= 0)):
            hint = "costs are numbers above 0; leave out those you do not know"
            raise UsageError(f"{self.name}: a cost in {self.cost_column!r} is not above 0", hint)
        return costs

    def _pages(self, lists: PaddedLists, unjudged: float) -> Iterator[Page]:
        """Lay out the documents found by rank, a few queries at a time."""
        xp, last = lists.xp, self.last
        rank = lists.constant(np.arange(1.0, last + 1.0)[None, :])
        equal = lists.constant(np.full((1, last), float(self.cost)))
        gains = self.gains(lists, lists.grade, lists.found)
        costs = None if self.cost_column == "none" else self._costs(lists)
        starts = xp.where(lists.found & (lists.rank <= last), lists.rank, last + 1)
        step, queries = max(1, CELLS // last), starts.shape[0]
        for row in range(0, queries, step):
            rows = slice(row, min(row + step, queries))
            there, place = _laid(lists, starts[rows, :], last)
            gain = xp.where(there, xp.reshape(gains[rows, :], (-1,))[place], unjudged)
            cost = equal
            if costs is not None:
                cost = xp.where(there, xp.reshape(costs[rows, :], (-1,))[place], equal)
            yield Page(xp, rank, gain, cost)


def _laid(lists: PaddedLists, starts: Array, last: int) -> tuple[Array, Array]:
    """Mark the ranks that hold a document, and index that document or else the one above.

    `starts` holds the ranks of each query's documents, ``last + 1`` where there is none.
    """
    xp, (rows, width) = lists.xp, starts.shape
    first, end = (lists.constant(np.full((rows, 1), edge)) for edge in (1, last + 1))
    edges = xp.concat((first, starts, end), axis=1)
    spans = edges[:, 1:] - edges[:, :-1]  # the ranks from one document to the next
    own = np.maximum(np.arange(width + 1) - 1, 0) + width * np.arange(rows)[:, None]
    place = xp.repeat(lists.constant(own.ravel()), xp.reshape(spans, (-1,)))
    place = xp.reshape(place, (rows, last))
    ranks = lists.constant(np.arange(1, last + 1)[None, :])
    return xp.reshape(starts, (-1,))[place] == ranks, place
