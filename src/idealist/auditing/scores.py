"""Findings about scores: repeated rows, numbers that are none, one score for all, other ranks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from idealist.auditing.case import Audited, Case
from idealist.auditing.finding import Finding
from idealist.auditing.pricing import otherwise, without_rows
from idealist.auditing.thresholds import EXAMPLES, OTHER_ORDER, TURNED
from idealist.errors import IdealistError, InputError
from idealist.notation import many
from idealist.placements import Placements
from idealist.ranking import rank
from idealist.tables import Rows
from idealist.tables.columns import Bools, Floats, Ints


def duplicates(case: Case) -> Iterator[Finding]:
    """Look for documents that stand in a list twice."""
    for name, one in case.audited.items():
        counts = one.whole.duplicates
        if not (count := int(counts.sum())):
            continue
        queries = case.named(counts > 0)
        yield Finding(
            "duplicates", "error" if one.fault else "warning",
            f"{many(count, 'row repeats', 'rows repeat')} a document of the same list, in "
            f"{many(len(queries), 'query', 'queries')}",
            run=name, count=count, total=int(one.whole.retrieved.sum()) + count,
            examples=tuple(f"query {query}" for query in queries[:EXAMPLES]),
            cost=otherwise(case, name, duplicates="last"),
            supposing="the last row of each counts",
            remedy="write each document once for each query; until then take its first row",
            command=case.command("eval", name, duplicates="first"),
            doc="tools differ in which row they take, and a relevant document that counts twice "
            "raises a value above what any ranking can reach",
        )  # fmt: skip


def nonfinite(case: Case) -> Iterator[Finding]:
    """Look for scores that are NaN or infinite."""
    for name, one in case.audited.items():
        error = _nonfinite(case, one)
        if error is None:
            continue
        yield Finding(
            "nonfinite-scores", "error" if one.fault else "warning",
            f"{many(error.total, 'score is', 'scores are')} not a finite number",
            run=name, count=error.total, total=int(one.whole.retrieved.sum()),
            examples=tuple(map(str, error.faults[:EXAMPLES])),
            cost=without_rows(case, name, lambda rows: np.isfinite(_scores(rows))),
            supposing="these rows are taken out",
            remedy="find where the system divides by 0 or overflows; until then NaN is ranked "
            "last, and what is infinite first or last by its sign",
            command=case.command("eval", name, nonfinite="last"),
            doc="NaN is neither above nor below a number, so that where such a document stands is "
            "an accident of the sort",
        )  # fmt: skip


def _scores(rows: Rows) -> Floats:
    return np.zeros(len(rows)) if rows.scores is None else rows.scores


def _nonfinite(case: Case, one: Audited) -> InputError | None:
    """Have the ranking refuse what is not finite, and count that."""
    scores = one.whole.score
    if one.fault is None and (np.isfinite(scores).all() or np.isnan(scores).all()):
        return None
    strict = replace(one.whole.protocol, duplicates="first", nonfinite="error")
    try:
        rank(case.qrels, one.run, [strict])
    except InputError as error:
        return error if error.code == "nonfinite-score" else None
    return None


def constant(case: Case) -> Iterator[Finding]:
    """Look for lists whose documents all have the same score."""
    for name, one in case.audited.items():
        whole = one.whole
        length = whole.retrieved[whole.query]
        same = (whole.first == 1) & (whole.last == length) & (length > 1)
        same &= np.isfinite(whole.score)  # what is no number is another finding
        found = np.bincount(whole.query, minlength=len(whole.in_run)) > 0
        queries = case.named(_marked(whole.query[same], found))
        if not queries:
            continue
        total = int(np.count_nonzero(found))
        yield Finding(
            "constant-scores", "error" if len(queries) == total else "warning",
            f"all documents of a list have the same score in "
            f"{many(len(queries), 'query', 'queries')} of {total} with a judged document",
            run=name, count=len(queries), total=total,
            examples=tuple(f"query {query}" for query in queries[:EXAMPLES]),
            cost=otherwise(case, name, order="given"),
            supposing="the rows are in the system's order",
            remedy="write the system's own scores; if the rows are in its order, rank by that",
            command=case.command("eval", name, order="given"),
            doc="with one score for all, ties decide every rank: the value is that of the "
            "documents' names",
        )  # fmt: skip


def _marked(queries: Ints, like: Bools) -> Bools:
    marked = np.zeros_like(like)
    marked[queries] = True
    return marked


def other_order(case: Case) -> Iterator[Finding]:
    """Look for rank columns that order otherwise than the scores do."""
    for name, one in case.audited.items():
        ranked = _by_rank(case, one)
        if ranked is None:
            continue
        wrong, turned = _disagreeing(one.whole, ranked)
        queries, total = case.named(wrong), int(np.count_nonzero(one.whole.in_run))
        if not queries:
            continue
        how = ", as if lower scores were better" if turned else ""
        yield Finding(
            "rank-column", "error" if len(queries) >= OTHER_ORDER * total else "warning",
            f"scores and rank column order judged documents differently in "
            f"{many(len(queries), 'query', 'queries')} of {total}{how}",
            run=name, count=len(queries), total=total,
            examples=tuple(f"query {query}" for query in queries[:EXAMPLES]),
            cost=otherwise(case, name, order="rank"),
            supposing="the ranks are right",
            remedy="turn the scores round, so that higher is better"
            if turned
            else "find out which of the two is the system's order; tools follow the scores "
            "unless told otherwise",
            command=case.command("eval", name, order="rank"),
            doc="trec_eval ignores the rank column, other tools read nothing else",
        )  # fmt: skip


def _by_rank(case: Case, one: Audited) -> Placements | None:
    """Rank by the rank column, where the run has both that and scores."""
    asked = np.flatnonzero(one.whole.in_run)[:1]
    rows = one.run.source.some([case.qrels.queries[i] for i in asked])
    if rows.ranks is None or rows.scores is None or one.whole.protocol.order != "score":
        return None
    protocol = replace(one.whole.protocol, order="rank")
    with suppress(IdealistError):  # such as a rank that is no number
        return rank(case.qrels, one.run, [protocol])[protocol]
    return None


def _disagreeing(by_score: Placements, by_rank: Placements) -> tuple[Bools, bool]:
    """Say in which queries two rankings differ beyond ties, and whether one is the other turned."""
    a, b = np.argsort(by_score.judgment), np.argsort(by_rank.judgment)
    apart = (by_rank.first[b] > by_score.last[a]) | (by_rank.last[b] < by_score.first[a])
    query = by_score.query[a]
    wrong = _marked(query[apart], by_score.in_run)
    turned = by_rank.rank[b] + by_score.rank[a] == by_score.retrieved[query] + 1
    return wrong, bool(turned[wrong[query]].mean() > TURNED) if wrong.any() else False
