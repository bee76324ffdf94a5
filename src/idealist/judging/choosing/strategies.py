"""Strategies that need no judgments: pools of a depth, and the order of fused ranks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from idealist.errors import UsageError
from idealist.judging.choosing.pool_case import Choice, PoolCase, fused, in_turn, ranks_of

#: How far down the lists a strategy looks where nobody says so.
USUAL_DEPTH = 100


def by_depth(case: PoolCase, *, depth: int | None = None) -> Choice:
    """Choose all of the first documents of every run, to one depth for all queries.

    With a budget it is the deepest that fits; what is then left of the budget does not buy the next
    depth for every query.
    """
    if case.per_query is not None:
        raise UsageError(
            "a pool has one depth for all queries", "leave per_query out, or use fusion"
        )
    if depth is None and case.budget is None:
        raise UsageError("a pool needs a depth or a budget", "give --depth 10, or --budget 500")
    tops = {query: _tops(case, query) for query in case.lists}
    needed = _needed(tops, case.longest)
    reached = min(depth or case.longest, case.longest)
    if case.budget is not None:
        reached = min(reached, bisect_right(needed, case.budget) - 1)
    if not reached:
        message = f"the first document of each run makes {needed[1]}; the budget is {case.budget}"
        hint = "raise the budget, or choose by fusion, which needs no whole depths"
        raise UsageError(message, hint)
    chosen = {
        query: [document for document, rank in ranked if rank <= reached]
        for query, ranked in tops.items()
    }
    said = []
    if case.budget is not None and reached < min(depth or case.longest, case.longest):
        missing = needed[reached + 1] - case.budget
        said.append(f"depth {reached + 1} would take {missing:,} more than the budget")
    how = f"all of the first {reached} documents of each run"
    how = "the first document of each run" if reached == 1 else how
    return Choice(in_turn(chosen), how, {"depth": reached}, tuple(said))


def _tops(case: PoolCase, query: str) -> list[tuple[str, int]]:
    """Return what nobody was asked about, with its best rank; by that, and by how many agree."""
    ranks = ranks_of(case.lists[query])
    found = {one: [rank for rank in ranks[one] if rank] for one in case.unasked(query, ranks)}
    ordered = sorted(found, key=lambda one: (min(found[one]), -len(found[one]), one))
    return [(one, min(found[one])) for one in ordered]


def _needed(tops: dict[str, list[tuple[str, int]]], longest: int) -> Sequence[int]:
    """Count the documents that each depth takes, from 0 on."""
    counts = [0] * (longest + 1)
    for ranked in tops.values():
        for _, rank in ranked:
            counts[rank] += 1
    for depth in range(longest):
        counts[depth + 1] += counts[depth]
    return counts


def by_fusion(case: PoolCase, *, depth: int = USUAL_DEPTH) -> Choice:
    """Choose the documents that the runs together rank highest, as many of each query."""
    orders = {query: case.unasked(query, fused(case.cut(query, depth))) for query in case.lists}
    given = case.shares({query: len(order) for query, order in orders.items()})
    chosen = {query: order[: given[query]] for query, order in orders.items()}
    how = "in the order of their fused ranks, shared equally among the queries"
    return Choice(in_turn(chosen), how, {"depth": depth})
