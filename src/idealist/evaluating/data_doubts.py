"""Doubts about judgments and queries: grades, names of measures, queries, weights."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from idealist.data.columns import Bools
from idealist.evaluating.doubt_case import Case, few, prices, seen
from idealist.measures.base import Measure
from idealist.measures.relevance import Threshold
from idealist.measures.spellings import SPELLINGS
from idealist.notation import many
from idealist.ranking.ranked import listing
from idealist.report.doubt import Doubt


def fractional(case: Case) -> Iterator[Doubt]:
    """Look for fractions that the convention's tool cuts off."""
    cast = {label: one.protocol.grades for label, one in case.instruments.items()}
    cut = [label for label, rule in cast.items() if rule != "keep"]
    if not cut or case.qrels.truncated is case.qrels:
        return
    count = int(np.count_nonzero(case.qrels.grades != case.qrels.truncated.grades))
    values = case.reranked(cut, grades="keep")
    cost = prices("with grades=keep", values)
    some = many(count, "grade has", "grades have")
    rules = " or ".join(dict.fromkeys(f"grades={cast[label]}" for label in cut))
    message = f"{some} a fraction, which {rules} cuts off{cost}"
    yield Doubt("fractional-grades", message, count, (), values)


def subtopics(case: Case) -> Iterator[Doubt]:
    """Say where judgments by subtopic became one grade."""
    measures = [one.measure for one in case.instruments.values()]
    apart = [one.needs in ("subtopics", "groups") or _prefers(one) for one in measures]
    if case.qrels.subtopics is not None and not all(apart):
        count = len(np.unique(case.qrels.subtopics.pair))
        some = many(count, "document was", "documents were")
        yield Doubt(
            "subtopics", f"{some} judged by subtopic or judge; the highest grade counts", count
        )


def undivided(case: Case) -> Iterator[Doubt]:
    """Look for measures of subtopics or groups where the judgments name none."""
    divided = {"subtopic", "iteration"} & case.qrels.columns.keys()
    labels = [
        label
        for label, one in case.instruments.items()
        if one.measure.needs in ("subtopics", "groups")
    ]
    if labels and case.qrels.subtopics is None and not divided:
        message = (
            f"{', '.join(labels)}: the judgments name no subtopics or groups, so that all are one; "
            "name them in TREC's second column, or in a column subtopic"
        )
        yield Doubt("undivided", message, len(labels))


def _prefers(measure: Measure) -> bool:
    """Whether a measure is of preferences, which each group of judgments has for itself."""
    return measure.name.startswith("prefs_")


def preferences(case: Case) -> Iterator[Doubt]:
    """Say where levels of preference, which only order documents, are taken for grades."""
    labels = [
        label
        for label, one in case.instruments.items()
        if one.measure.judges and not _prefers(one.measure)
    ]
    if case.qrels.preferences is not None and labels:
        message = (
            f"{', '.join(labels)}: the grade of a document is the highest level that preferences "
            "give it, and levels are only meant to order documents"
        )
        yield Doubt("preferences", message, len(labels))


def binary(case: Case) -> Iterator[Doubt]:
    """Look for measures that take different grades for the same."""
    levels = {grade for pool in case.qrels.pools for grade in pool.levels}
    grades = sorted(grade for grade in levels if grade >= 0)
    labels = [
        label
        for label, one in case.instruments.items()
        if "rel" not in case.written[label] and _merges(one.measure, grades)
    ]
    if labels:
        listed = ", ".join(f"{grade:g}" for grade in grades[:10])
        message = (
            f"{', '.join(labels)}: only relevant or not counts, and the judgments have the grades "
            f"{listed}; set rel to say from which grade on a document is relevant"
        )
        yield Doubt("binary-on-graded", message, len(labels))


def _merges(measure: Measure, grades: list[float]) -> bool:
    """Whether a measure's threshold takes several of the grades for the same."""
    if isinstance(measure, Threshold):
        relevant = sum(map(measure.relevant, grades))
    elif measure.name == "UDCG" or getattr(measure, "gain", "") == "binary":
        relevant = sum(grade >= 1 for grade in grades)
    else:
        return False
    return measure.judges and (relevant > 1 or len(grades) - relevant > 1)


def utility(case: Case) -> Iterator[Doubt]:
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
            message = f"{label}: {signal} is not known for {where}; they add nothing"
            yield Doubt("unknown-utility", message, count, queries)


_TOOLS = {tool.lower(): tool for tool in SPELLINGS}


def not_in_tool(case: Case) -> Iterator[Doubt]:
    """Look for measures that the convention's tool does not have."""
    labels = [
        label
        for label, one in case.instruments.items()
        if not case.convention.has(one.measure) and not _meant(case, label)
    ]
    if labels:
        message = (
            f"{case.convention.tool} has no {', '.join(labels)}; its general rules and else the "
            "default's apply, as the signature says"
        )
        yield Doubt("not-in-tool", message, len(labels))


def other_name(case: Case) -> Iterator[Doubt]:
    """Look for names that mean another measure in the convention's tool."""
    for label, one in case.instruments.items():
        meant = _meant(case, label)
        if meant and meant.partition("(")[0] != one.measure.name:
            message = (
                f"{label} was read as {one.measure.name}; what {case.convention.tool} calls so is "
                f"{meant} here"
            )
            yield Doubt("other-name", message, 1)


def _meant(case: Case, label: str) -> str:
    """Give what the convention's tool means by a name as it was typed; nothing if it has none."""
    tool = _TOOLS.get(case.convention.name.lower(), "")
    typed = re.split(r"[(@:]", label)[0]
    return SPELLINGS.get(tool, {}).get(typed, "")


def nothing_matches(case: Case) -> Iterator[Doubt]:
    """Look for ids that never meet, which makes every value 0 for no reason of the system's."""
    first = case.first
    if not np.count_nonzero(first.in_run):
        some, other = few(case.qrels.queries), few(first.unknown)
        message = f"none of the judged queries ({some}) is in the run ({other}): do the ids match?"
        yield Doubt("nothing-matches", message, len(case.qrels.queries), case.qrels.queries)
    elif not len(first.query):
        yield from _no_document(case)


def _no_document(case: Case) -> Iterator[Doubt]:
    """Look past what the protocol leaves out before doubting the ids."""
    whole = case.first.protocol.whole()
    placements = case.ranked[whole]
    if len(placements.query) or not placements.retrieved.any():
        return
    query = case.qrels.queries[int(np.argmax(placements.retrieved))]
    found = listing(case.run, whole, [query], depth=3)[query].documents
    judged = list(case.qrels.lookup[query])[:3]
    message = (
        f"no judged document was retrieved for any query (query {query}: judged are "
        f"{', '.join(map(seen, judged))}, retrieved {', '.join(map(seen, found))}): do the ids "
        "match?"
    )
    yield Doubt("nothing-matches", message, len(case.qrels.queries), case.qrels.queries)


def missing(case: Case) -> Iterator[Doubt]:
    """Look for judged queries that the run lacks."""
    gone = ~case.first.in_run
    if not np.count_nonzero(gone):
        return
    queries = case.named(gone)
    zero = [label for label, one in case.instruments.items() if one.protocol.missing == "zero"]
    how = "counted as an empty list" if zero else "left out"
    values = case.without(gone, zero)
    some = many(len(queries), "judged query is", "judged queries are")
    cost = prices("without it" if len(queries) == 1 else "without them", values)
    message = f"{some} not in the run, {how} ({few(queries)}){cost}"
    yield Doubt("missing-queries", message, len(queries), queries, values)


def unknown(case: Case) -> Iterator[Doubt]:
    """Look for queries without judgments, in the run or asked for."""
    asked = tuple(sorted(case.asked - case.qrels.known))
    for queries, where in ((case.first.unknown, "of the run"), (asked, "asked for")):
        if queries:
            some = many(len(queries), f"query {where} has", f"queries {where} have")
            message = f"{some} no judgments, left out ({few(queries)})"
            yield Doubt("unknown-queries", message, len(queries), queries)


def no_relevant(case: Case) -> Iterator[Doubt]:
    """Look for queries whose value is a convention's word, not a measurement."""
    found: dict[tuple[str, tuple[str, ...]], tuple[Bools, list[str]]] = {}
    for label, instrument in case.instruments.items():
        gaps = case.measured[label].gaps & case.placed[label].counting
        if np.count_nonzero(gaps) and "no_relevant" in instrument.measure.parameters():
            key = instrument.measure.lacking, case.named(gaps)
            found.setdefault(key, (gaps, []))[1].append(label)
    for (what, queries), (gaps, labels) in found.items():
        values = case.without(gaps, labels)
        some = many(len(queries), "query has", "queries have")
        cost = prices("without it" if len(queries) == 1 else "without them", values)
        listed = any(case.instruments[label].measure.list_only for label in labels)
        where = " among those retrieved" if listed else ""
        message = f"{some} no {what}{where} ({few(queries)}){cost}"
        yield Doubt("no-relevant", message, len(queries), queries, values)


#: Below so many queries of equal weight, a mean over more queries is doubted.
ENOUGH = 10


def unjudged_traffic(case: Case) -> Iterator[Doubt]:
    """Say how much of the weight the judgments cover."""
    if case.weights is None or not case.weighted:
        return
    asked = {q: w for q, w in case.weights.values.items() if not case.asked or q in case.asked}
    queries = tuple(q for q, w in sorted(asked.items()) if w and q not in case.qrels.known)
    if queries:
        gone, whole = (math.fsum(map(asked.__getitem__, part)) for part in (queries, asked))
        some = many(len(queries), "query with a weight has", "queries with a weight have")
        share = f"the judged queries carry {_percent(1 - gone / whole)} of the weight"
        message = f"{share}; {some} no judgments ({few(queries)})"
        yield Doubt("unjudged-traffic", message, len(queries), queries)


def few_weigh(case: Case) -> Iterator[Doubt]:
    """Look for means that few queries decide, and price them by the mean without weights."""
    sharing: dict[tuple[str, ...], list[str]] = {}
    for label in case.weighted:
        sharing.setdefault(case.named(case.measured[label].counted), []).append(label)
    for counted, labels in sharing.items():
        weights = case.weights.of(counted) if case.weights else []
        heavy = _heaviest(dict(zip(counted, weights, strict=True)))
        alike = math.fsum(weights) ** 2 / math.fsum(w * w for w in weights) if weights else 0.0
        if len(counted) > 1 and (len(heavy) == 1 or alike < ENOUGH <= len(counted)):
            values = case.unweighted(labels)
            carry = "carries" if len(heavy) == 1 else "carry"
            share = f"{len(heavy)} of {len(counted)} queries {carry} more than half of the weight"
            like = f"the mean is as sure as one of {alike:.1f} queries of equal weight"
            message = f"{share} ({few(heavy)}); {like}{prices('without weights', values)}"
            yield Doubt("few-queries-weigh", message, len(heavy), heavy, values)


def not_weighted(case: Case) -> Iterator[Doubt]:
    """Say which measures take no mean that weights could weigh, such as a geometric one."""
    labels = [
        label
        for label, one in case.instruments.items()
        if one.measure.judges and label not in case.weighted
    ]
    if case.weights is not None and labels:
        message = f"{', '.join(labels)}: weights weigh a mean, and this is none; all count alike"
        yield Doubt("not-weighted", message, len(labels))


def _heaviest(weights: dict[str, float]) -> tuple[str, ...]:
    """Give the fewest queries that carry more than half of the weight, heaviest first."""
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
