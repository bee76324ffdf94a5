"""Doubts about judgments and queries: grades, names of measures, queries, weights."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import Bools
from idealist.data.spans import Span
from idealist.errors import NoDocuments
from idealist.evaluating.doubt_case import DoubtCase, MeasuredCase
from idealist.measures.base import Measure
from idealist.measures.relevance import Threshold
from idealist.measures.spellings import SPELLINGS
from idealist.notation import many
from idealist.ranking.ranked import listing
from idealist.rendering.doubt import Doubt
from idealist.rendering.wording import few
from idealist.significance.means import effective


def fractional(case: DoubtCase) -> Iterator[Doubt]:
    """Look for fractional grades that the convention's tool truncates, or would truncate."""
    qrels, total = case.qrels, len(case.qrels.queries)
    if qrels.truncated is qrels:
        return
    count = int(np.count_nonzero(qrels.grades != qrels.truncated.grades))
    some = f"{many(count, 'grade is', 'grades are')} fractional{_like_scores(qrels, count)}"
    if cut := case.labels(lambda one: one.protocol.grades != "keep"):
        given = dict.fromkeys(case.instruments[label].protocol.grades for label in cut)
        rules = " or ".join(f"grades={rule}" for rule in given)
        yield Doubt(
            "fractional-grades", f"{some}, and {rules} truncates them", count, (),
            case.reranked(cut, grades="keep"), "with grades=keep",
            total=total, command=case.command(grades="keep"),
        )  # fmt: skip
    if kept := [label for label in case.instruments if _kept_here(case, label)]:
        tool = case.evaluator.convention.name
        yield Doubt(
            "fractional-grades", f"{some} and kept; {tool} would cut the fractions off", count, (),
            case.reranked(kept, grades="truncate"), "with grades=truncate", severity="note",
            total=total, command=case.command(grades="truncate"),
            remedy="nothing, unless you compare with numbers of that tool",
        )  # fmt: skip


#: Judges do not tell so many grades apart. Suggested.
MANY_LEVELS = 20


def _like_scores(qrels: Qrels, fractional: int) -> str:
    """Ask whether grades are scores, where most have fractions and many differ."""
    levels = {grade for pool in qrels.pools for grade in pool.levels}
    if len(levels) <= MANY_LEVELS or 2 * fractional <= len(qrels):
        return ""
    return f" and {len(levels)} of them differ, as scores do (judgments come first, then runs)"


def positives(case: DoubtCase) -> Iterator[Doubt]:
    """Say that a list of relevant documents only was found, where others were retrieved too."""
    qrels, lists = case.qrels, case.first
    some = 0 < len(lists.rank) < int(lists.retrieved.sum())
    if qrels.meant or qrels.gold != "positives" or not some:
        return
    whole = f"all {len(qrels)} judgments say" if len(qrels) > 1 else "the only judgment says"
    said = "unjudged documents count as not relevant, and Judged@k says nothing"
    yield Doubt(
        "positives-only", f"{whole} relevant: {said}; {_otherwise(qrels)}", len(qrels),
        severity="note", total=len(qrels),
    )  # fmt: skip


def _otherwise(qrels: Qrels) -> str:
    """Say which option reads the judgments otherwise; grades from 1 on may be stars."""
    levels = sorted({grade for pool in qrels.pools for grade in pool.levels})
    said = "if they may be relevant, say --judgments pooled"
    if len(levels) > 2 and levels == [*range(1, len(levels) + 1)]:
        lower = ",".join(f"{grade:g}={grade - 1:g}" for grade in levels)
        return f"{said}; if grade 1 means not relevant, say --scale {lower}"
    return said


def _kept_here(case: DoubtCase, label: str) -> bool:
    """Whether fractions are kept that the convention's tool would cut off."""
    evaluator, kept = case.evaluator, case.instruments[label].protocol.grades == "keep"
    own = evaluator.convention.instrument(evaluator.measures[label]).protocol.grades
    return kept and own == "truncate" and "grades" not in evaluator.axes


def subtopics(case: DoubtCase) -> Iterator[Doubt]:
    """Say where judgments by subtopic became one grade."""
    merged = case.labels(lambda one: not _divides(one.measure) and not _prefers(one.measure))
    if case.qrels.subtopics is not None and merged:
        count = len(np.unique(case.qrels.subtopics.pair))
        some = many(count, "document was", "documents were")
        said = f"{some} judged by subtopic or judge; the highest grade counts"
        yield Doubt("subtopics", said, count, severity="note")


def undivided(case: DoubtCase) -> Iterator[Doubt]:
    """Look for measures of subtopics or groups where the judgments name none."""
    divided = {"subtopic", "iteration"} & case.qrels.columns.keys()
    labels = case.labels(lambda one: _divides(one.measure))
    if labels and case.qrels.subtopics is None and not divided:
        said = (
            f"{', '.join(labels)}: the judgments name no subtopics or groups, so there is only "
            "one; name them in TREC's second column, or in a column subtopic"
        )
        yield Doubt("undivided", said, len(labels))


def no_spans(case: DoubtCase) -> Iterator[Doubt]:
    """Look for measures of text where the judgments are of documents."""
    labels = case.labels(lambda one: one.measure.needs == "spans")
    if labels and not case.qrels.cover:
        said = "the judgments are of documents, so each document counts as one character"
        if all(map(Span.of, case.qrels.documents)):
            said += "; their ids are those of spans: --offsets characters reads them as evidence"
        yield Doubt("no-spans", f"{', '.join(labels)}: {said}", len(labels))


def _divides(measure: Measure) -> bool:
    """Whether a measure needs judgments by subtopic or by group of judges."""
    return measure.needs in ("subtopics", "groups")


def _prefers(measure: Measure) -> bool:
    """Whether a measure is of preferences, which each group of judgments has for itself."""
    return measure.name.startswith("prefs_")


def preferences(case: DoubtCase) -> Iterator[Doubt]:
    """Say where levels of preference, which only order documents, are used as grades."""
    labels = case.labels(lambda one: one.measure.judges and not _prefers(one.measure))
    if case.qrels.preferences is not None and labels:
        said = (
            f"{', '.join(labels)}: a document's highest level of preference is used as its grade, "
            "though levels are only meant to order documents"
        )
        yield Doubt("preferences", said, len(labels))


def binary(case: DoubtCase) -> Iterator[Doubt]:
    """Look for binary measures that treat different grades alike."""
    levels = {grade for pool in case.qrels.pools for grade in pool.levels}
    grades = sorted(grade for grade in levels if grade >= 0)
    merging = case.labels(lambda one: _merges(one.measure, grades))
    labels = [label for label in merging if "rel" not in case.evaluator.written[label]]
    if labels:
        are = "is" if len(labels) == 1 else "are"
        yield Doubt(
            "binary-on-graded",
            f"{', '.join(labels)} {are} binary, the grades are {grades[0]:g} to {grades[-1]:g}: "
            f"{_counting(case, labels, grades)}; set rel= to change that",
            len(labels), total=len(case.qrels.queries), severity="note",
        )  # fmt: skip


def _counting(case: DoubtCase, labels: list[str], grades: list[float]) -> str:
    """Say which grades count as relevant."""
    sharing: dict[str, list[str]] = {}
    for label in labels:
        relevant = _relevant(case.instruments[label].measure, grades)
        counts = f"grade {relevant[0]:g} and above counts" if relevant else "no grade counts"
        sharing.setdefault(counts, []).append(label)
    if len(sharing) == 1:
        return f"{next(iter(sharing))} as relevant"
    return ", ".join(f"{counts} for {few(some)}" for counts, some in sharing.items())


def _merges(measure: Measure, grades: list[float]) -> bool:
    """Whether a measure treats several of the grades alike."""
    by_gain = measure.name == "UDCG" or getattr(measure, "gain", "") == "binary"
    is_binary, count = by_gain or isinstance(measure, Threshold), len(_relevant(measure, grades))
    return measure.judges and is_binary and (count > 1 or len(grades) - count > 1)


def _relevant(measure: Measure, grades: list[float]) -> list[float]:
    """Keep the grades that count as relevant."""
    if isinstance(measure, Threshold):
        return [grade for grade in grades if measure.relevant(grade)]
    return [grade for grade in grades if grade >= 1]


def utility(case: DoubtCase) -> Iterator[Doubt]:
    """Look for passages that UDCG knows nothing of."""
    for label, instrument in case.instruments.items():
        measure, placements = instrument.measure, case.placed[label]
        if measure.name != "UDCG" or not placements.retrieved.any():
            continue
        signal = str(measure.written()["signal"])
        known = ~np.isnan(placements.qrels.numbers[signal][placements.judgment])
        if measure.cutoff is not None:
            known &= placements.rank <= measure.cutoff
        passages = np.minimum(placements.retrieved, measure.cutoff or placements.retrieved)
        lacking = passages - np.bincount(placements.query[known], minlength=len(passages))
        count, total, queries = int(lacking.sum()), int(passages.sum()), case.named(lacking > 0)
        if count:
            where = f"{count} of {total} passages, in {many(len(queries), 'query', 'queries')}"
            said = f"{label}: {signal} is unknown for {where}; they add nothing"
            yield Doubt("unknown-utility", said, count, queries, total=total)


_TOOLS = {tool.lower(): tool for tool in SPELLINGS}


def not_in_tool(case: MeasuredCase) -> Iterator[Doubt]:
    """Look for measures that the convention's tool does not have."""
    lacking = case.labels(lambda one: not case.measuring.convention.has(one.measure))
    if labels := [label for label in lacking if not _meant(case, label)]:
        said = (
            f"{case.measuring.convention.tool} has no {', '.join(labels)}; its general rules "
            "apply, then the default ones, as the signature says"
        )
        yield Doubt("not-in-tool", said, len(labels))


def other_name(case: MeasuredCase) -> Iterator[Doubt]:
    """Look for names that mean another measure in the convention's tool."""
    for label, one in case.instruments.items():
        meant = _meant(case, label)
        if meant and meant.partition("(")[0] != one.measure.name:
            tool = case.measuring.convention.tool
            said = f"{label} was read as {one.measure.name}; what {tool} calls {label} is {meant}"
            yield Doubt("other-name", f"{said} here", 1)


def _meant(case: MeasuredCase, label: str) -> str:
    """Return what the convention's tool means by a name as it was typed; nothing if it has none."""
    tool = _TOOLS.get(case.measuring.convention.name.lower(), "")
    typed = re.split(r"[(@:]", label)[0]
    return SPELLINGS.get(tool, {}).get(typed, "")


def nothing_matches(case: DoubtCase) -> Iterator[Doubt]:
    """Look for ids that never meet: then nothing was measured, though every value is 0.

    Where ids are written alike, the system found nothing, and 0 is what it is worth.
    """
    first, queries, found = case.first, case.qrels.queries, None
    if not np.count_nonzero(first.in_run):
        said = f"none of the judged queries ({few(queries)}) is in the run ({few(first.unknown)})"
    elif said := _no_document(case):
        with suppress(NoDocuments):
            found = elsewhere(case)
    if not said:
        return
    if found:
        said = f"{said}, though ids are written alike: {found}; is each list under its own query?"
        yield Doubt("nothing-matches", said, len(queries), queries, command=case.audit)
    else:
        said = f"nothing was measured: {said}; do the ids match?"
        yield Doubt(
            "nothing-matches", said, len(queries), queries, severity="error", command=case.audit
        )


def _no_document(case: DoubtCase) -> str:
    """Look past what the protocol leaves out before doubting the ids."""
    if len(case.first.query):
        return ""
    placements = case.whole
    if len(placements.query) or not placements.retrieved.any():
        return ""
    said = "no judged document was retrieved for any query"
    query = case.qrels.queries[int(np.argmax(placements.retrieved))]
    try:
        found = listing(case.run, placements.protocol, [query], depth=3)[query].documents
    except NoDocuments:
        return said
    ids = f"judged are {few(list(case.qrels.lookup[query])[:3])}, retrieved {few(found)}"
    return f"{said} (query {query}: {ids})"


#: Lists that are searched, and how deep, for documents that are judged for other queries.
#: Suggested.
SEARCHED, SEARCHED_DEPTH = 100, 1000


def elsewhere(case: DoubtCase) -> str:
    """Name a document that is judged for one query and was retrieved for another, if there is one.

    Then both sides write ids alike.
    """
    documents = case.qrels.documents
    judged = {documents[i]: query for query, a, b in case.qrels.spans() for i in range(a, b)}
    if case.qrels.cover:
        judged = {_whole(name): query for name, query in judged.items()}
    queries = case.named(case.whole.retrieved > 0)[:SEARCHED]
    ranked = listing(case.run, case.whole.protocol, queries, depth=SEARCHED_DEPTH)
    for query, own in ranked.items():
        names = map(_whole, own.documents) if case.qrels.cover else own.documents
        if document := next((one for one in names if one in judged), ""):
            return f"{document}, judged for {judged[document]}, was retrieved for {query}"
    return ""


def _whole(name: str) -> str:
    """Return the document that a chunk, or a piece of evidence, is part of."""
    span = Span.of(name)
    return name if span is None else span.document


#: How many ranks are searched for judged documents, how many they must be able to hold, and the
#: share found up to which the ids, or the order, are doubted. Suggested; of 109 runs of TREC-COVID,
#: three are below it, and the scores of all three are upside down.
SEEN, COULD_HOLD, MEETING = 10, 10, 0.1


def few_meet(case: DoubtCase) -> Iterator[Doubt]:
    """Look for runs of whose first documents hardly any is judged.

    Judgments may be sparse, so what is found is compared with what could be.
    """
    lists, judged = case.first, np.diff(case.qrels.starts)
    could = int(np.minimum(SEEN, np.minimum(lists.retrieved, judged)).sum())
    count = int(np.count_nonzero(lists.rank <= SEEN))
    deep = int(np.minimum(lists.retrieved, judged).sum())
    if 0 < len(lists.query) <= deep / 2 and could >= COULD_HOLD and count <= MEETING * could:
        said = f"the first {SEEN} documents could hold {could} judged ones and hold {count}"
        message = f"{said}: do all ids match?"
        yield Doubt("few-meet", message, count, total=could, command=case.audit)


def missing(case: DoubtCase) -> Iterator[Doubt]:
    """Look for judged queries that the run lacks."""
    failed = (one.queries for one in case.run.source.remarks if one.code == "failed-queries")
    gone = ~case.first.in_run & ~case.mask(chain.from_iterable(failed))  # which has its own doubt
    if not np.count_nonzero(gone):
        return
    queries = case.named(gone)
    zero = case.labels(lambda one: one.protocol.missing == "zero")
    how = "counted as an empty list" if zero else "left out"
    some = many(len(queries), "judged query is", "judged queries are")
    yield Doubt(
        "missing-queries", f"{some} not in the run, {how} ({few(queries)})",
        len(queries), queries, case.without(gone, zero), _without(queries),
        total=len(case.qrels.queries), command=case.command(missing="skip"),
    )  # fmt: skip


def _without(queries: tuple[str, ...]) -> str:
    return "without it" if len(queries) == 1 else "without them"


def unknown(case: DoubtCase) -> Iterator[Doubt]:
    """Look for queries without judgments, in the run or asked for."""
    asked = tuple(sorted(case.evaluator.asked - case.qrels.known))
    for queries, where in ((case.first.unknown, "of the run"), (asked, "asked for")):
        if queries:
            some = many(len(queries), f"query {where} has", f"queries {where} have")
            yield Doubt(
                "unknown-queries", f"{some} no judgments, left out ({few(queries)})",
                len(queries), queries, severity="note", total=len(case.qrels.queries),
            )  # fmt: skip


def no_relevant(case: MeasuredCase) -> Iterator[Doubt]:
    """Look for queries whose value is a convention's word, not a measurement."""
    found: dict[tuple[str, tuple[str, ...]], tuple[Bools, list[str]]] = {}
    for label, instrument in case.instruments.items():
        gaps = case.gaps(label)
        if np.count_nonzero(gaps) and "no_relevant" in instrument.measure.parameters():
            key = instrument.measure.lacking, case.named(gaps)
            found.setdefault(key, (gaps, []))[1].append(label)
    for (what, queries), (gaps, labels) in found.items():
        listed = any(case.instruments[label].measure.list_only for label in labels)
        where = " among those retrieved" if listed else ""
        some = many(len(queries), "query has", "queries have")
        yield Doubt(
            "no-relevant", f"{some} no {what}{where} ({few(queries)})",
            len(queries), queries, case.without(gaps, labels), _without(queries),
            total=len(case.queries), command=case.command(no_relevant="skip"),
        )  # fmt: skip


#: Below so many queries of equal weight, a mean over more queries is doubted.
ENOUGH = 10


def unjudged_traffic(case: DoubtCase) -> Iterator[Doubt]:
    """Say how much of the weight the judgments cover."""
    weights = case.evaluator.weights
    if weights is None or not case.weighted:
        return
    wanted = case.evaluator.asked
    asked = {q: w for q, w in weights.values.items() if not wanted or q in wanted}
    queries = tuple(q for q, w in sorted(asked.items()) if w and q not in case.qrels.known)
    if queries:
        gone, whole = (math.fsum(map(asked.__getitem__, part)) for part in (queries, asked))
        some = many(len(queries), "query with a weight has", "queries with a weight have")
        share = f"the judged queries carry {_percent(1 - gone / whole)} of the weight"
        said = f"{share}; {some} no judgments ({few(queries)})"
        yield Doubt("unjudged-traffic", said, len(queries), queries)


def few_weigh(case: DoubtCase) -> Iterator[Doubt]:
    """Look for means that few queries decide, and price them by the mean without weights."""
    sharing: dict[tuple[str, ...], list[str]] = {}
    for label in case.weighted:
        sharing.setdefault(case.named(case.measured[label].counted), []).append(label)
    for counted, labels in sharing.items():
        weights = known.of(counted) if (known := case.evaluator.weights) else []
        heavy = _heaviest(dict(zip(counted, weights, strict=True)))
        alike = effective(weights) if weights else 0.0
        if len(counted) > 1 and (len(heavy) == 1 or alike < ENOUGH <= len(counted)):
            carry = "carries" if len(heavy) == 1 else "carry"
            share = f"{len(heavy)} of {len(counted)} queries {carry} more than half of the weight"
            like = f"the mean is as sure as one of {alike:.1f} queries of equal weight"
            said = f"{share} ({few(heavy)}); {like}"
            price = case.unweighted(labels)
            yield Doubt("few-queries-weigh", said, len(heavy), heavy, price, "without weights")


def not_weighted(case: DoubtCase) -> Iterator[Doubt]:
    """Say which measures take no mean that weights could weigh, such as a geometric one."""
    labels = case.labels(lambda one: one.measure.judges and not one.aggregate.weights)
    if case.evaluator.weights is not None and labels:
        said = f"{', '.join(labels)}: not averaged by a mean, so weights do not apply"
        yield Doubt("not-weighted", said, len(labels))


def _heaviest(weights: dict[str, float]) -> tuple[str, ...]:
    """Find the fewest queries that carry more than half of the weight, heaviest first."""
    half, carried, heavy = math.fsum(weights.values()) / 2, 0.0, []
    for query in sorted(weights, key=lambda query: (-weights[query], query)):
        if carried > half:
            break
        heavy.append(query)
        carried += weights[query]
    return tuple(heavy)


def _percent(share: float) -> str:
    """Write a share, rounded down: what is not all is never called 100 %."""
    return f"{math.floor(1000 * share + 1e-9) / 10:g} %"
