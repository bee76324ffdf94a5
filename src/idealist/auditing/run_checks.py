"""Findings about runs: short or empty lists, scores that are constant or contradict ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from idealist.auditing.audit_case import Audited, Case
from idealist.auditing.finding import Finding
from idealist.auditing.pricing import otherwise, without_queries, without_rows
from idealist.auditing.thresholds import (
    CUT_LIST,
    DEPTHS,
    EVERYWHERE,
    EVERYWHERE_DOCUMENTS,
    EVERYWHERE_READ,
    EXAMPLES,
    OTHER_ORDER,
    SELF_LEAST,
    SELF_RANK,
    SELF_SHARE,
    SHORT_LISTS,
    TURNED,
)
from idealist.data import Rows
from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import IdealistError, InputError
from idealist.evaluating.evaluator import DEFAULT_MEASURES
from idealist.notation import many
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import listing, rank


def short(case: Case) -> Iterator[Finding]:
    """Look for lists that end before the measures do.

    A list is irregular where it is also much shorter than the longest list of all runs: others
    could fill it, so that it is the system that stopped. Where nobody asked for measures, ten
    documents are enough.
    """
    longest = max(
        (int(one.whole.retrieved.max(initial=0)) for one in case.audited.values()), default=0
    )
    for name, one in case.audited.items():
        there = one.whole.in_run & (one.whole.retrieved > 0)
        if (there & (one.whole.retrieved < _deepest(case)[1])).any():
            yield _short(case, name, there, longest)


def _short(case: Case, run: str, there: Bools, longest: int) -> Finding:
    (label, deepest), length = _deepest(case), case.audited[run].whole.retrieved
    lacking, total = there & (length < deepest), int(np.count_nonzero(there))
    asked = DEPTHS[0] if tuple(case.evaluator.measures) == DEFAULT_MEASURES else deepest
    few = lacking & (length < asked) & (length < CUT_LIST * longest)
    cut = np.count_nonzero(few) > SHORT_LISTS * total
    queries = case.named(lacking)
    return Finding(
        "short-lists", "warning" if cut else "note",
        f"{many(len(queries), 'list is', 'lists are')} shorter than {label} looks, of {total}; "
        f"the shortest has {_documents(length[there].min())}, the longest of all runs {longest}",
        run=run, count=len(queries), total=total,
        examples=tuple(
            f"query {query}: {_documents(size)}"
            for query, size in zip(queries[:EXAMPLES], length[lacking].tolist(), strict=False)
        ),
        cost=without_queries(case, run, lacking),
        supposing="these queries do not count",
        remedy=f"retrieve at least {deepest} documents for each query, or measure less deep",
        doc="ranks that were never filled count as not relevant, so that a run cut short is "
        "held to be worse than it is",
    )  # fmt: skip


def _deepest(case: Case) -> tuple[str, int]:
    """Give the measure that looks deepest, and how deep."""
    cutoffs = {
        label: one.measure.cutoff or 0
        for label, one in case.evaluator.instruments.items()
        if one.measure.judges
    }
    label = max(cutoffs, key=cutoffs.__getitem__, default="")
    return label, cutoffs.get(label, 0)


def _documents(count: int) -> str:
    return many(int(count), "document", "documents")


def empty(case: Case) -> Iterator[Finding]:
    """Look for queries of a run without any document."""
    for name, one in case.audited.items():
        gone = one.whole.in_run & one.whole.empty
        if queries := case.named(gone):
            yield Finding(
                "empty-lists", "warning",
                f"nothing was retrieved for {many(len(queries), 'query', 'queries')}",
                run=name, count=len(queries), total=int(np.count_nonzero(one.whole.in_run)),
                examples=tuple(f"query {query}" for query in queries[:EXAMPLES]),
                cost=without_queries(case, name, gone),
                supposing="these queries do not count",
                remedy="look whether the search failed for these queries",
                doc="an empty list counts 0, so that a failed request looks like a bad ranking",
            )  # fmt: skip


def finding_themselves(case: Case) -> Iterator[Finding]:
    """Look for queries that retrieve the document of the same id."""
    for name, one in case.audited.items():
        mine = one.whole.protocol
        if mine.exclude_self:
            continue
        other = replace(mine, exclude_self=True)
        less = rank(case.qrels, one.run, [other])[other]
        queries = case.named(less.retrieved < one.whole.retrieved)
        total = int(np.count_nonzero(one.whole.in_run))
        if len(queries) < max(SELF_LEAST, SELF_SHARE * total):
            continue
        if (place := _own_rank(one, queries)) > SELF_RANK:  # ids that are equal by chance
            continue
        yield Finding(
            "self-retrieval", "warning",
            f"{many(len(queries), 'query retrieves', 'queries retrieve')} the document of the "
            f"same id, of {total}, at rank {place:g} in the median",
            run=name, count=len(queries), total=total,
            examples=tuple(f"query {query}" for query in queries[:EXAMPLES]),
            cost=otherwise(case, name, exclude_self=True),
            remedy="where queries are documents of the collection, leave these out",
            command=case.command("eval", name, exclude_self="true"),
            doc="BEIR leaves them out, trec_eval does not: ArguAna's nDCG@10 depends on it",
        )  # fmt: skip


def _own_rank(one: Audited, queries: tuple[str, ...]) -> float:
    """Give the median rank at which queries retrieve themselves."""
    some = queries[:EVERYWHERE_READ]
    ranked = listing(one.run, one.whole.protocol, some)
    return float(np.median([ranked[query].documents.index(query) + 1 for query in some]))


def everywhere(case: Case) -> Iterator[Finding]:
    """Look for documents that stand at the top of every list."""
    for name, one in case.audited.items():
        if name in case.mismatched:
            continue
        lists = _tops(case, one.whole.in_run & ~one.whole.empty, one)
        counts = Counter(document for documents in lists.values() for document in set(documents))
        found = [document for document, count in counts.items() if count == len(lists)]
        if len(lists) < EVERYWHERE or len(counts) < EVERYWHERE_DOCUMENTS or not found:
            continue
        judged = sum(document in case.qrels.lookup[query] for query in lists for document in found)
        yield Finding(
            "everywhere", "warning",
            f"{many(len(found), 'document is', 'documents are')} in the first {DEPTHS[0]} of every "
            f"list, of {len(lists)} looked at, and judged in {judged} of them",
            run=name, count=len(found), total=len(lists),
            examples=tuple(f"document {document}" for document in found[:EXAMPLES]),
            cost=without_rows(case, name, partial(_others, found)),
            supposing="they are taken out",
            remedy="look at their texts: empty ones, and vectors that are near everything, come up "
            "for every query; take them out of the index",
            doc="a document that answers everything answers nothing, and pushes what is relevant "
            "down in every list",
        )  # fmt: skip


def _others(documents: list[str], rows: Rows) -> Bools:
    """Say which rows are of other documents."""
    return np.array([document not in documents for document in rows.documents], dtype=bool)


def _tops(case: Case, there: Bools, one: Audited) -> dict[str, list[str]]:
    """Read the tops of some lists, spread over all."""
    queries = case.named(there)
    some = queries[:: max(1, len(queries) // EVERYWHERE_READ)][:EVERYWHERE_READ]
    ranked = listing(one.run, one.whole.protocol, some, depth=DEPTHS[0])
    return {query: ranking.documents for query, ranking in ranked.items()}


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
