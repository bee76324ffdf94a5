"""Findings about runs: short or empty lists, repeated rows, scores that cannot rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from idealist.auditing.audit_case import AuditCase, of_each_run
from idealist.auditing.chances import DEPTHS
from idealist.auditing.judgment_checks import JUDGMENT_DOUBTS
from idealist.data import Qrels, Rows
from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import InputError
from idealist.evaluating.data_doubts import SEEN
from idealist.evaluating.doubt_case import DoubtCase
from idealist.evaluating.doubts import untied
from idealist.notation import many
from idealist.ranking.ranked import listing
from idealist.ranking.stored_placements import has_documents
from idealist.rendering.doubt import EXAMPLES, Doubt

#: Share of queries whose lists may be shorter than the measures look. Suggested.
SHORT_LISTS = 0.1
#: A list of less than this share of the longest one of all runs was cut by the system. Suggested.
CUT_LIST = 0.5
#: Queries that must all have a document in their first 10 before it is doubted. Suggested.
EVERYWHERE = 10
#: Queries whose lists are read for that. Suggested.
EVERYWHERE_READ = 100
#: Different documents that these must have: a smaller collection is all at the top. Suggested.
EVERYWHERE_DOCUMENTS = 20
#: The median rank up to which a document of the query's own id is taken for the query itself.
#: Suggested.
SELF_RANK = 3
#: Share of queries that must retrieve the document of their own id before it is more than chance.
#: Suggested.
SELF_SHARE = 0.05
#: Queries that must, at least. Suggested.
SELF_LEAST = 2

#: What an evaluation doubts and the audit does not repeat: it looks closer with checks of its own,
#: or the doubt is about measures and weights, not about data.
NOT_REPEATED = frozenset({
    "collapsed", "duplicates", "few-queries-weigh", "judges", "not-in-tool", "not-weighted",
    "nothing-matches", "other-name", "preferences", "subtopics", "undivided", "unjudged",
    "unjudged-traffic", "unknown-utility", "upside-down", *JUDGMENT_DOUBTS,
})  # fmt: skip


@of_each_run
def doubted_runs(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Repeat what the evaluation of a run doubts, unless nothing matches: then the ids are wrong.

    Ties are priced by the mean over their orders, as the command computes it.
    """
    doubts = case.doubts[one.run.name]
    for doubt in doubts if all(doubt.code != "nothing-matches" for doubt in doubts) else ():
        if doubt.code == "ties":
            share = np.count_nonzero(one.whole.first < one.whole.last) / len(one.whole.rank)
            said = f"{doubt.finding}; {share:.1%} of the judged documents found are tied"
            (axis, value), *_ = untied(one).items()
            price, supposing = one.reranked(**{axis: value}), f"with {axis}={value}"
            yield replace(doubt, finding=said, price=price, supposing=supposing)
        elif doubt.code == "few-meet":
            said = f"the first {SEEN} documents could hold {doubt.total} judged ones and hold "
            hidden = one.run.name in case.mismatched
            yield from (
                () if hidden else [replace(doubt, finding=f"{said}{doubt.count}", command="")]
            )
        elif doubt.code not in NOT_REPEATED:
            yield doubt


@of_each_run
def short(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for lists that are shorter than the measures look.

    That is a warning where many lists are also much shorter than the longest list of all runs:
    others could fill it, so the system stopped early. Where nobody asked for measures, ten
    documents are enough.
    """
    longest = max(int(other.whole.retrieved.max(initial=0)) for other in case.runs.values())
    there, length = one.whole.in_run & (one.whole.retrieved > 0), one.whole.retrieved
    label, deepest = _deepest(case)
    lacking, total = there & (length < deepest), int(np.count_nonzero(there))
    if not lacking.any():
        return
    asked = DEPTHS[0] if case.evaluator.usual else deepest
    early = lacking & (length < asked) & (length < CUT_LIST * longest)
    cut = np.count_nonzero(early) > SHORT_LISTS * total
    queries = one.named(lacking)
    sizes = zip(queries[:EXAMPLES], length[lacking].tolist(), strict=False)
    yield Doubt(
        "short-lists",
        f"{many(len(queries), 'list is', 'lists are')} shorter than {label} looks, of {total}; "
        f"the shortest has {_documents(length[there].min())}, the longest of all runs {longest}",
        len(queries), queries, one.without(lacking), "without these queries",
        severity="warning" if cut else "note", total=total,
        examples=tuple(f"query {query}: {_documents(size)}" for query, size in sizes),
        remedy=f"retrieve at least {deepest} documents for each query, or use a smaller cutoff",
    )  # fmt: skip


def _deepest(case: AuditCase) -> tuple[str, int]:
    """Find the measure that looks deepest, and how deep."""
    judging = [(label, one.measure) for label, one in case.evaluator.instruments.items()]
    cutoffs = {label: measure.cutoff or 0 for label, measure in judging if measure.judges}
    label = max(cutoffs, key=cutoffs.__getitem__, default="")
    return label, cutoffs.get(label, 0)


def _documents(count: int) -> str:
    return many(int(count), "document", "documents")


def places_only(case: AuditCase) -> Iterator[Doubt]:
    """Say which runs are bundles: then checks that look at documents are left out."""
    names = [name for name, one in case.runs.items() if not has_documents(one.run)]
    if names:
        some = many(len(names), "run is a bundle", "runs are bundles")
        said = f"{some}: ids, swapped columns and repeated documents were not checked"
        yield Doubt("places-only", said, len(names), severity="note", total=len(case.runs))


@of_each_run
def empty(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for queries of a run without any document."""
    gone = one.whole.in_run & one.whole.empty
    if queries := one.named(gone):
        yield Doubt(
            "empty-lists", f"nothing was retrieved for {many(len(queries), 'query', 'queries')}",
            len(queries), queries, one.without(gone), "without these queries",
            total=int(np.count_nonzero(one.whole.in_run)),
        )  # fmt: skip


@of_each_run
def finding_themselves(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for queries that retrieve the document of the same id."""
    mine = one.whole.protocol
    if mine.exclude_self or _are_places(case.qrels):
        return
    less = one.ranked[replace(mine, exclude_self=True)]
    queries = one.named(less.retrieved < one.whole.retrieved)
    total = int(np.count_nonzero(one.whole.in_run))
    if len(queries) < max(SELF_LEAST, SELF_SHARE * total):
        return
    if (place := _own_rank(one, queries)) > SELF_RANK:  # ids that are equal by chance
        return
    price = one.reranked(exclude_self=True)
    relevant = case.lowers(price)
    yield Doubt(
        "self-retrieval",
        f"{many(len(queries), 'query retrieves', 'queries retrieve')} the document of the same id, "
        f"of {total}, at rank {place:g} in the median",
        len(queries), queries, price, "without these documents", total=total,
        severity="note" if relevant else "warning",
        remedy="leave them in, since they are judged relevant" if relevant else "",
        command="" if relevant else one.command(exclude_self="true"),
    )  # fmt: skip


def _are_places(qrels: Qrels) -> bool:
    """Whether documents are only numbered within each query, as those of arrays are."""
    if not all(map(str.isdecimal, qrels.documents)):
        return False
    numbers = np.array(qrels.documents, dtype=object).astype(np.float64)
    lists = (np.sort(numbers[a:b]) for a, b in pairwise(qrels.starts.tolist()))
    return all(np.array_equal(own, np.arange(1, len(own) + 1)) for own in lists)


def _own_rank(one: DoubtCase, queries: tuple[str, ...]) -> float:
    """Find the median rank at which queries retrieve themselves."""
    some = queries[:EVERYWHERE_READ]
    ranked = listing(one.run, one.whole.protocol, some)
    return float(np.median([ranked[query].documents.index(query) + 1 for query in some]))


@of_each_run
def everywhere(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for documents at the top of every list."""
    if one.run.name in case.mismatched:
        return
    lists = _tops(case, one)
    counts = Counter(document for documents in lists.values() for document in set(documents))
    found = [document for document, count in counts.items() if count == len(lists)]
    if len(lists) < EVERYWHERE or len(counts) < EVERYWHERE_DOCUMENTS or not found:
        return
    judged = sum(document in case.qrels.lookup[query] for query in lists for document in found)
    price = case.without_rows(one, lambda rows: _others(found, rows))
    relevant = case.lowers(price)
    yield Doubt(
        "everywhere",
        f"{many(len(found), 'document is', 'documents are')} in the first {DEPTHS[0]} of every "
        f"list, of {len(lists)} looked at, and judged in {judged} of them",
        len(found), total=len(lists),
        examples=tuple(f"document {document}" for document in found[:EXAMPLES]),
        price=price, supposing="without them", severity="note" if relevant else "warning",
        remedy="leave them in, since they are judged relevant" if relevant else "",
    )  # fmt: skip


def _others(documents: Collection[str], rows: Rows) -> Bools:
    """Tell which rows are of other documents."""
    return np.array([document not in documents for document in rows.documents], dtype=bool)


def _tops(case: AuditCase, one: DoubtCase) -> dict[str, list[str]]:
    """Read the tops of some lists."""
    ranked = listing(one.run, one.whole.protocol, spread_queries(one), depth=DEPTHS[0])
    return {query: ranking.documents for query, ranking in ranked.items()}


def spread_queries(one: DoubtCase) -> tuple[str, ...]:
    """Name the queries whose lists are read for what is everywhere, spread over all."""
    queries = one.named(one.whole.in_run & ~one.whole.empty)
    return queries[:: max(1, len(queries) // EVERYWHERE_READ)][:EVERYWHERE_READ]


@of_each_run
def duplicates(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for documents that are in a list twice."""
    counts = one.whole.duplicates
    if count := int(counts.sum()):
        queries = one.named(counts > 0)
        yield Doubt(
            "duplicates",
            f"{many(count, 'row repeats', 'rows repeat')} a document of the same list, in "
            f"{many(len(queries), 'query', 'queries')}",
            count, queries, one.reranked(duplicates="last"), "if the last row of each counts",
            severity=_severity(case, one), total=int(one.whole.retrieved.sum()) + count,
            remedy="write each document once for each query; until then take its first row",
            command=one.command(duplicates="first"),
            doc="tools differ in which row they take, and a relevant document that counts twice "
            "raises a value above what any ranking can reach",
        )  # fmt: skip


def _severity(case: AuditCase, one: DoubtCase) -> Any:
    """Call an error what had to be let pass, and a warning what was asked to be."""
    return "error" if one.run.name in case.faults else "warning"


@of_each_run
def nonfinite(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for scores that are NaN or infinite."""
    if (error := _nonfinite(case, one)) is None:
        return
    yield Doubt(
        "nonfinite-scores",
        f"{many(error.total, 'score is', 'scores are')} NaN or infinite",
        error.total, total=int(one.whole.retrieved.sum()), severity=_severity(case, one),
        examples=tuple(map(str, error.faults[:EXAMPLES])),
        price=case.without_rows(one, lambda rows: np.isfinite(_scores(rows))),
        supposing="without these rows",
        command=one.command(nonfinite="last"),
    )  # fmt: skip


def _scores(rows: Rows) -> Floats:
    return np.zeros(len(rows)) if rows.scores is None else rows.scores


def _nonfinite(case: AuditCase, one: DoubtCase) -> InputError | None:
    """Let the ranking refuse what is not finite, and count that."""
    scores = one.whole.score
    faulty = one.run.name in case.faults
    if not faulty and (np.isfinite(scores).all() or np.isnan(scores).all()):
        return None
    try:
        one.ranked[replace(one.whole.protocol, duplicates="first", nonfinite="error")]
    except InputError as error:
        return error if error.code == "nonfinite-score" else None
    return None


@of_each_run
def constant(case: AuditCase, one: DoubtCase) -> Iterator[Doubt]:
    """Look for lists whose documents all have the same score."""
    whole = one.whole
    length = whole.retrieved[whole.query]
    same = (whole.first == 1) & (whole.last == length) & (length > 1)
    same &= np.isfinite(whole.score)  # what is no number is another finding
    found = np.bincount(whole.query, minlength=len(whole.in_run)) > 0
    if queries := one.named(_marked(whole.query[same], found)):
        total, price = int(np.count_nonzero(found)), one.reranked(order="given")
        worse = case.lowers(price)  # so the rows are in no order of the system's
        yield Doubt(
            "constant-scores",
            f"all documents of a list have the same score in "
            f"{many(len(queries), 'query', 'queries')} of {total} with a judged document",
            len(queries), queries, {} if worse else price, "if the rows are in the system's order",
            severity="error" if len(queries) == total else "warning", total=total,
            remedy="write the system's own scores" if worse else "",
            command="" if worse else one.command(order="given"),
        )  # fmt: skip


def _marked(queries: Ints, like: Bools) -> Bools:
    marked = np.zeros_like(like)
    marked[queries] = True
    return marked


#: In the order in which findings of the same severity are listed.
CHECKS = (
    duplicates, nonfinite, constant, doubted_runs, short, empty, finding_themselves,
    everywhere, places_only,
)  # fmt: skip
