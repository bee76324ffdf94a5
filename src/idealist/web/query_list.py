"""The queries of two runs, or of one, as a list: filtered, sorted and cut into pages.

The list of the page Compare and the way from query to query on the page Query are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from idealist.data.queries import slice_names
from idealist.errors import UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.rendering.document import SIGNED, TEXT, Column, Table
from idealist.web.page_state import PageState
from idealist.web.visit import Visit
from idealist.web.workspace import Measured

#: How many queries a page lists.
LISTED = 50
#: How a query can have ended, with the words for it.
WAYS = {"better": "improved", "same": "the same", "worse": "worse"}
#: By what a list can be sorted; the first of each kind is usual.
SORTS = {
    "worst": "lost most first", "best": "gained most first", "change": "changed most first",
    "low": "lowest value first", "high": "highest value first", "id": "by id",
}  # fmt: skip
ALONE = ("low", "high", "id")


@dataclass(frozen=True)
class ListedQuery:
    """A query: its words, its value in the baseline, None if there is none, and in the run."""

    query: str
    text: str
    before: float | None
    value: float
    difference: float
    part: str = ""

    def way(self, sense: int) -> str:
        """Say how it ended; nothing where it cannot be said."""
        gain = self.difference * sense
        return "" if math.isnan(gain) else "better" if gain > 0 else "worse" if gain < 0 else "same"


@dataclass(frozen=True)
class QueryList:
    """The queries that a page lists, in its order; `counts` says how all of them ended."""

    baseline: str
    run: str
    label: str
    sense: int
    rows: tuple[ListedQuery, ...]
    counts: Mapping[str, int]
    parts: tuple[str, ...]
    total: int

    @property
    def sorts(self) -> dict[str, str]:
        """By what it can be sorted."""
        return {name: words for name, words in SORTS.items() if self.baseline or name in ALONE}

    def on_page(self, number: int) -> tuple[ListedQuery, ...]:
        """Return the queries of one page, from 1 on."""
        return self.rows[(max(number, 1) - 1) * LISTED : max(number, 1) * LISTED]

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(1, -(-len(self.rows) // LISTED))

    def beside(self, query: str) -> tuple[str, str, int]:
        """Return the queries before and after one, and its place from 1 on; empty and 0 if none."""
        names = [one.query for one in self.rows]
        if query not in names:
            return "", names[0] if names else "", 0
        at = names.index(query)
        after = names[at + 1] if at + 1 < len(names) else ""
        return names[at - 1] if at else "", after, at + 1

    def table(self) -> Table:
        """Tabulate all of it."""
        columns = [Column("query", TEXT), Column("text", TEXT)]
        columns += [Column(self.baseline)] if self.baseline else []
        columns += [Column(self.run)]
        columns += [Column("difference", SIGNED)] if self.baseline else []
        rows = tuple(
            (one.query, one.text, *((one.before,) if self.baseline else ()), one.value,
             *((one.difference,) if self.baseline else ()))
            for one in self.rows
        )  # fmt: skip
        return Table(tuple(columns), rows)


def shown_runs(state: PageState, runs: list[str]) -> list[str]:
    """Say which runs a page looks at, the baseline first: those that are pinned, or all."""
    for name in (state.baseline, state.run, *state.pinned):
        if name and name not in runs:
            raise UsageError(f"there is no run {name!r} here", "choose one under Runs")
    some = [run for run in runs if run in state.pinned] if len(state.pinned) > 1 else runs
    some = list(dict.fromkeys([*some, *filter(None, [state.run])]))
    first = state.baseline or (some[0] if some else "")
    return [first, *(run for run in some if run != first)] if first else []


def comparable(found: Measured, state: PageState) -> list[str]:
    """Leave out runs of which no id meets the judgments; refuse one that is asked for."""
    unmet = {one.run for one in found.evaluations.runs if one.unmatched}
    if asked := unmet & {state.baseline, state.run, *state.pinned}:
        name = min(asked)
        raise UsageError(f"nothing of {name} is judged: its ids do not match", "see Audit for why")
    return [run for run in found.runs if run not in unmet] or found.runs


def two_runs(
    state: PageState, runs: list[str], best: Callable[[list[str]], str]
) -> tuple[str, str]:
    """Say which run's queries are listed, and beside which baseline, empty if there is one run."""
    shown = shown_runs(state, runs)
    if len(shown) < 2:
        return "", shown[0] if shown else ""
    others = shown[1:]
    return shown[0], state.run if state.run in others else best(others)


def query_list(visit: Visit) -> QueryList:
    """List the queries as the state of the page says."""
    state, workspace = visit.state, visit.workspace
    found = workspace.measured(state)
    if not found.runs:
        raise UsageError("there are no runs here", "put runs into the folder")
    sense = found.evaluator.measures[found.label].direction or 1
    baseline, run = two_runs(
        state, comparable(found, state),
        lambda others: max(others, key=lambda one: _comparable(found.of(one), found.label, sense)),
    )  # fmt: skip
    values = found.of(run).by_query(found.label)
    before = found.of(baseline).by_query(found.label) if baseline else {}
    known = workspace.queries
    texts = known.text if known else {}
    slices = workspace.slices(state)
    every = list(values)
    named = slice_names(slices, every) if slices is not None else [""] * len(every)
    rows = [
        ListedQuery(
            query, texts.get(query, ""), before.get(query) if baseline else None, values[query],
            values[query] - before.get(query, math.nan) if baseline else math.nan, part,
        )
        for query, part in zip(every, named, strict=True)
    ]  # fmt: skip
    parts = tuple(sorted({one.part for one in rows if one.part}))
    kept = [one for one in rows if _is_wanted(one, state)]
    counts = {way: sum(one.way(sense) == way for one in kept) for way in WAYS} if baseline else {}
    kept = [one for one in kept if not state.way or one.way(sense) == state.way]
    kept.sort(key=_order(_sort(state, bool(baseline)), sense))
    return QueryList(baseline, run, found.label, sense, tuple(kept), counts, parts, len(rows))


def _comparable(one: Evaluation, label: str, sense: int) -> tuple[bool, float]:
    return not math.isnan(one[label]), one[label] * sense


def _is_wanted(one: ListedQuery, state: PageState) -> bool:
    words = state.find.lower()
    if words and words not in one.query.lower() and words not in one.text.lower():
        return False
    return not state.part or one.part == state.part


def _sort(state: PageState, compared: bool) -> str:
    known = SORTS if compared else ALONE
    if state.sort and state.sort not in known:
        raise UsageError(f"queries cannot be sorted by {state.sort!r}", f"say {', '.join(known)}")
    return state.sort or next(iter(known))


def _order(sort: str, sense: int) -> Callable[[ListedQuery], Any]:
    """Order what is undefined last, and equals by id."""
    keys: dict[str, Callable[[ListedQuery], float]] = {
        "worst": lambda one: one.difference * sense,
        "best": lambda one: -one.difference * sense,
        "change": lambda one: -abs(one.difference),
        "low": lambda one: one.value * sense,
        "high": lambda one: -one.value * sense,
        "id": lambda _: 0.0,
    }
    key = keys[sort]

    def order(one: ListedQuery) -> tuple[bool, float, str]:
        at = key(one)
        return math.isnan(at), 0.0 if math.isnan(at) else at, one.query

    return order
