"""Findings about the order of lists: ranks against scores, columns swapped, lists upside down.

Where two orders contradict each other, both are priced, and the better one is recommended.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice

import numpy as np

from idealist.auditing.audit_case import AuditCase, of_each_run
from idealist.data import Rows
from idealist.data.columns import Bools, Floats
from idealist.errors import IdealistError
from idealist.evaluating.doubt_case import DoubtCase
from idealist.evaluating.other_orders import TURNED_TIMES, gain_of
from idealist.notation import many
from idealist.ranking.placements import Placements
from idealist.ranking.stored_placements import has_documents
from idealist.rendering.doubt import Doubt
from idealist.rendering.wording import number

#: Share of queries in which rank column and scores differ that makes it an error. Suggested.
OTHER_ORDER = 0.5
#: Share of documents that must be turned round before it is said that a list is. Suggested.
TURNED = 0.9
#: Standard errors by which one of two orders must be better to be recommended. Suggested.
BETTER_ERRORS = 2.0
#: Queries whose rows are read for swapped columns. Suggested.
SWAPPED_READ = 100


@of_each_run
def wrong_order(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for the first cause that there is of a wrong order: others would follow from it."""
    has_columns = [swapped] if has_documents(one.run) else []
    checks = (*has_columns, other_order, turned)
    found = (doubt for check in checks for doubt in check(case, one))
    yield from islice(found, 1)


def hides_coverage(found: Doubt) -> bool:
    """Whether the order is so wrong that the first documents are not those of the system."""
    prices = (pair for own in found.price.values() for pair in own.values())
    far = any(then >= TURNED_TIMES * now for now, then in islice(prices, 1))
    return found.severity == "error" and (found.code != "rank-column" or far)


def swapped(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for ranks in the place of scores and scores in the place of ranks."""
    asked = top_queries(one)
    rows = one.run.source.some(asked)
    if one.whole.protocol.order != "score" or not _are_swapped(rows):
        return
    price = one.priced({label: own.turned() for label, own in one.placed.items()})
    if one.run.name in case.mismatched:
        price = {}  # it says nothing then
    elif not price or case.lowers(price):
        return  # the scores are right, such as points that count down
    given = one.reranked(order="given")
    yield Doubt(
        "swapped-columns",
        "rank and score seem to be swapped: the scores of each list are whole numbers from "
        f"{np.min(_column(rows.scores)):g} on, and ranks such as {_column(rows.ranks)[0]:g} not",
        len(asked), price=price, supposing="with the columns swapped back", severity="error",
        total=int(np.count_nonzero(one.whole.in_run)),
        command=one.command(order="given") if price and given == price else "",
    )  # fmt: skip


def top_queries(one: DoubtCase) -> tuple[str, ...]:
    """Name the queries whose rows are read for swapped columns."""
    return one.named(one.whole.in_run & ~one.whole.empty)[:SWAPPED_READ]


def _column(values: Floats | None) -> Floats:
    return np.zeros(0) if values is None else values


def _are_swapped(rows: Rows) -> bool:
    """Whether scores count up from 0 or 1 as ranks, which are no whole numbers, fall."""
    scores, ranks = _column(rows.scores), _column(rows.ranks)
    if not len(scores) or not len(ranks) or not np.isfinite(ranks).all():
        return False
    spans = [*rows.spans().values()]
    counts = all(_counts_up(scores[span]) for span in spans)
    steps = np.concatenate([np.diff(ranks[span][np.argsort(scores[span])]) for span in spans])
    falls = not len(steps) or np.mean(steps <= 0) > TURNED
    return bool(counts and falls and np.any(ranks != np.trunc(ranks)))


def _counts_up(scores: Floats) -> bool:
    """Whether these are the ranks of a list, in any order; some may be left out."""
    own = np.unique(scores)
    whole = np.array_equal(own, np.trunc(own)) and len(own) == len(scores)
    return whole and own[0] in (0, 1) and own[-1] <= 2 * len(own)


def other_order(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for rank columns that contradict the scores, and recommend the better order."""
    if (ranked := _by_rank(case, one)) is None:
        return
    wrong, reversed_, all_reversed = _disagreeing(one.whole, ranked)
    if not (queries := one.named(wrong)):
        return
    total = int(np.count_nonzero(one.whole.in_run))
    often = len(queries) >= OTHER_ORDER * total
    gain = gain_of(one, lambda own: one.ranked[replace(own.protocol, order="rank")])
    found = Doubt(
        "rank-column",
        f"scores and rank column order judged documents differently in "
        f"{many(len(queries), 'query', 'queries')} of {total}{', each turned round' * reversed_}",
        len(queries), queries, severity="error" if often else "warning", total=total,
    )  # fmt: skip
    if one.run.name in case.mismatched or gain is None:
        yield found
        return
    both = f"by the scores {gain.label} is {number(gain.now)}, by the ranks {number(gain.then)}"
    found = replace(found, finding=f"{found.finding}; {both}")
    if gain.errors >= BETTER_ERRORS:
        negate = "; or negate the scores, as if lower ones were better" * all_reversed
        yield replace(
            found, price=one.reranked(order="rank"), supposing="if the ranks are right",
            command=one.command(order="rank"),
            remedy=f"rank by the rank column, which is the better order{negate}",
        )  # fmt: skip
    elif gain.errors <= -BETTER_ERRORS:
        remedy = "keep the scores, which are the better order, and write the ranks anew from them"
        yield replace(found, remedy=remedy, severity="warning")
    else:
        yield found


def _by_rank(case: AuditCase, one: DoubtCase) -> Placements | None:
    """Rank by the rank column, where the run has both that and scores."""
    if one.whole.protocol.order != "score" or not _has_both(case, one):
        return None
    with suppress(IdealistError):  # such as a rank that is no number
        return one.ranked[replace(one.whole.protocol, order="rank")]
    return None


def _has_both(case: AuditCase, one: DoubtCase) -> bool:
    """Whether there may be ranks beside scores; a bundle says so when it is asked to rank."""
    if not has_documents(one.run):
        return True
    asked = np.flatnonzero(one.whole.in_run)[:1]
    rows = one.run.source.some([case.qrels.queries[i] for i in asked])
    return rows.ranks is not None and rows.scores is not None


def _disagreeing(by_score: Placements, by_rank: Placements) -> tuple[Bools, bool, bool]:
    """Tell in which queries two rankings differ beyond ties, and if one is the other reversed.

    This is said of those queries, and of all.
    """
    a, b = np.argsort(by_score.judgment), np.argsort(by_rank.judgment)
    apart = (by_rank.first[b] > by_score.last[a]) | (by_rank.last[b] < by_score.first[a])
    query = by_score.query[a]
    wrong = np.zeros_like(by_score.in_run)
    wrong[query[apart]] = True
    turned = by_rank.rank[b] + by_score.rank[a] == by_score.retrieved[query] + 1
    there, all_ = (
        bool(len(some) and some.mean() > TURNED) for some in (turned[wrong[query]], turned)
    )
    return wrong, there, there and all_


def turned(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Repeat that lists are upside down, which is an error here, unless the ids come first."""
    found = (doubt for doubt in case.doubts[one.run.name] if doubt.code == "upside-down")
    if one.run.name not in case.mismatched:
        yield from (replace(doubt, severity="error") for doubt in found)
