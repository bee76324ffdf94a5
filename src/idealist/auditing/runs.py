"""Findings about lists: short or empty ones, queries that find themselves, documents everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from idealist.auditing.case import Audited, Case
from idealist.auditing.finding import Finding
from idealist.auditing.pricing import otherwise, without_queries, without_rows
from idealist.auditing.thresholds import (
    CUT_LIST,
    DEPTHS,
    EVERYWHERE,
    EVERYWHERE_DOCUMENTS,
    EVERYWHERE_READ,
    EXAMPLES,
    SELF_LEAST,
    SELF_RANK,
    SELF_SHARE,
    SHORT_LISTS,
)
from idealist.evaluator import DEFAULT_MEASURES
from idealist.notation import many
from idealist.ranking import listing, rank
from idealist.tables import Rows
from idealist.tables.columns import Bools


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
