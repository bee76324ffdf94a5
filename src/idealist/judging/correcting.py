"""Correcting: what people judged says how far the labels of a model can be used."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from idealist.conventions import DEFAULT, Convention
from idealist.data import Qrels
from idealist.data.columns import Floats
from idealist.errors import UsageError, nearest
from idealist.evaluating.evaluation import Evaluation, range_of
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import one_or_several, read_qrels
from idealist.judging.corrections import Corrected, CorrectedMean
from idealist.notation import many
from idealist.rendering import doubt_words
from idealist.rendering.doubt import Doubt
from idealist.rendering.wording import few, number, p_words
from idealist.significance.means import FEWEST
from idealist.significance.prediction_powered import FEWEST_LABELS, prediction_powered

#: What is corrected where nobody says what.
CORRECTED = ("nDCG@10", "AP", "RR@10", "R@100")
#: A random sample that would be this unlikely is doubted. Suggested.
UNLIKELY = 0.05
#: People judged less than the model where they judged less than this share of its documents.
AS_MUCH = 0.9

Values = Mapping[str, float]


def corrected(
    human: Any,
    model: Any,
    runs: Any,
    measures: Any = CORRECTED,
    *,
    baseline: str | None = None,
    confidence: float = 0.95,
    convention: str | Convention = DEFAULT,
    queries: Iterable[Any] | None = None,
    weights: Any = None,
    **axes: Any,
) -> Corrected:
    """Correct what a model's labels say by the queries that people judged too (PPI++).

    `human` and `model` are judgments, `runs` one run, several in a list or several by name. People
    judged some queries, at least 20 and drawn at random; the model judged these and others. Each
    mean over queries is made of both, with an interval that holds at the `confidence`, and so is
    the difference of each run from the `baseline`, a run's name. Everything else is as in
    `evaluate`; `weights` are those of all queries.

    >>> truth = {f"q{i}": {"a": 1} for i in range(100)}
    >>> generous = {f"q{i}": {"a": 1, "b": int(i % 4 == 0)} for i in range(100)}
    >>> run = {q: ["b", "a"] if i % 3 else ["a", "b"] for i, q in enumerate(truth)}
    >>> few = {q: truth[q] for q in list(truth)[:40]}
    >>> found = corrected(few, generous, run, "RR").means[0]
    >>> round(found.predicted.value, 3), round(found.corrected.value, 3), found.n
    (0.75, 0.675, 40)

    Reference: Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453
    """
    _check_confidence(confidence)
    options = {"convention": convention, "queries": queries, "weights": weights, **axes}
    people, machine = read_qrels(human), read_qrels(model)
    judges = [Evaluator(judged, measures, **options) for judged in (people, machine)]
    _check_means(judges[0])
    people, machine = (judge.qrels for judge in judges)
    _check_shared(people, machine)
    by_people, by_model = _evaluated(judges, runs)
    lacking = doubt_words.shared([(one.run, _lacking(one, people)) for one in by_model])
    place = _place(baseline, [one.run for one in by_people])
    found = Corrected(
        people=tuple(by_people),
        means=tuple(_means(by_people, by_model, None, people, confidence)),
        differences=() if place is None else
        tuple(_means(by_people, by_model, place, people, confidence)),
        names=(people.name, machine.name),
        labels=_labels(people, machine),
        signatures=_signed(judges[0], machine),
        confidence=confidence,
    )  # fmt: skip
    return replace(found, doubts=(*lacking, *_doubts(found, people, machine)))


def _check_confidence(confidence: Any) -> None:
    number = isinstance(confidence, (int, float)) and not isinstance(confidence, bool)
    if not number or not 0.5 <= confidence <= 0.999:
        hint = "give a number from 0.5 to 0.999, such as 0.95"
        raise UsageError(f"confidence cannot be {confidence!r}", hint)


def _check_means(evaluator: Evaluator) -> None:
    """Refuse what is not a mean over queries."""
    for label, signature in evaluator.signatures.items():
        aggregate = dict(signature.settings)["aggregate"]
        if aggregate != "mean" and not aggregate.startswith("weighted("):
            hint = "leave it out; only means over queries can be corrected"
            raise UsageError(f"{label} is not a mean over queries (aggregate {aggregate})", hint)


def _check_shared(people: Qrels, machine: Qrels) -> None:
    """Refuse judgments that too few queries have in common, or that are the same."""
    shared = [query for query in people.queries if query in machine.known]
    others = len(machine.queries) - len(shared)
    both = f"people ({people.name}) and the model ({machine.name})"
    if not shared:
        hint = f"people have {few(people.queries, 3)}; the model has {few(machine.queries, 3)}"
        raise UsageError(f"{both} judged no query in common", hint)
    if len(shared) < FEWEST_LABELS:
        lacking = FEWEST_LABELS - len(shared)
        which = (
            "of the model's queries" if others >= lacking else "queries, and the model more still"
        )
        hint = f"let people judge {lacking} more {which}, drawn at random"
        counted = many(len(shared), "query", "queries")
        message = f"{both} share {counted}; an interval can be trusted from {FEWEST_LABELS} on"
        raise UsageError(message, hint)
    if others < FEWEST:
        counted = many(others, "query", "queries") if others else "no query"
        hint = "give the judgments of people alone, such as labels.db#human of a store; if they "
        hint += "judged every query, idealist eval says all there is to say"
        message = f"the model ({machine.name}) judged {counted} that people did not"
        raise UsageError(f"{message}; it takes {FEWEST} to help", hint)
    _check_own(people.only(shared), machine.only(shared))


def _check_own(people: Qrels, machine: Qrels) -> None:
    """Refuse labels of a model that are those of people wherever both judged."""
    one, other = people.to_dict(), machine.to_dict()
    pairs = [(g, other[q].get(d)) for q, own in one.items() for d, g in own.items()]
    both = [(g, grade) for g, grade in pairs if grade is not None]
    telling = len(both) >= FEWEST_LABELS and len({*both}) > 1  # else it may be by chance
    if telling and all(g == grade for g, grade in both):
        hint = "give the model's own labels, such as labels.db#model of a store"
        message = f"{machine.name} has the grade that people gave in all {len(both):,} shared pairs"
        raise UsageError(f"{message}, as if it held their judgments", hint)


def _evaluated(judges: Sequence[Evaluator], runs: Any) -> tuple[list[Evaluation], ...]:
    """Measure each run by both judges, one run at a time."""
    read = one_or_several(runs)
    found = [[judge(run) for judge in judges] for run in read]
    return [people for people, _ in found], [model for _, model in found]


def _place(baseline: str | None, runs: Sequence[str]) -> int | None:
    if baseline is None:
        return None
    if baseline not in runs:
        raise UsageError(f"there is no run {baseline!r}", nearest(str(baseline), runs))
    if len(runs) < 2:
        raise UsageError("a difference needs two runs", "give another run beside the baseline")
    return runs.index(baseline)


def _means(
    by_people: Sequence[Evaluation], by_model: Sequence[Evaluation], base: int | None,
    people: Qrels, confidence: float,
) -> Iterator[CorrectedMean]:  # fmt: skip
    """Correct the means of all runs, or their differences from the one at `base`."""
    weights = by_model[0].weights or None
    for i, (one, other) in enumerate(zip(by_people, by_model, strict=True)):
        for label in () if i == base else one:
            values = [judged.by_query(label) for judged in (one, other)]
            low, high = range_of(one.signatures[label])
            name = ""
            if base is not None:
                bases = (by_people[base], by_model[base])
                values = [
                    _less(mine, judged.by_query(label))
                    for mine, judged in zip(values, bases, strict=True)
                ]
                low, high, name = low - high, high - low, by_people[base].run
            found = _powered(label, values[0], values[1], people, weights)
            yield CorrectedMean(one.run, label, name, found, (low, high), confidence)


def _less(values: Values, base: Values) -> dict[str, float]:
    return {query: value - base[query] for query, value in values.items() if query in base}


def _powered(
    label: str, labels: Values, predictions: Values, people: Qrels, weights: Values | None
) -> Any:
    """Correct one mean, of the queries that have a value."""
    shared = [q for q, value in labels.items() if not math.isnan(value + _at(predictions, q))]
    others = [q for q, f in predictions.items() if q not in people.known and not math.isnan(f)]
    if len(shared) < FEWEST_LABELS or len(others) < FEWEST:
        message = f"{label} has a value by both in {many(len(shared), 'query', 'queries')}, and by "
        message += f"the model alone in {len(others)}"
        hint = f"it takes {FEWEST_LABELS} and {FEWEST}; no_relevant=0 gives every query a value"
        raise UsageError(message, hint)
    weighed = (None, None) if weights is None else (_of(weights, shared), _of(weights, others))
    return prediction_powered(
        _of(labels, shared), _of(predictions, shared), _of(predictions, others), *weighed
    )


def _at(values: Values, query: str) -> float:
    return values.get(query, math.nan)


def _of(values: Values, queries: Sequence[str]) -> Floats:
    return np.array([values[query] for query in queries])


def _labels(people: Qrels, machine: Qrels) -> tuple[int, int]:
    """Count the labels that people and the model gave in the queries that both judged."""
    shared = people.known & machine.known
    return len(people.only(shared)), len(machine.only(shared))


def _signed(evaluator: Evaluator, machine: Qrels) -> dict[str, Any]:
    """Add the model's judgments to the signatures."""
    added = ("corrected", f"model({machine.hash})")
    return {
        label: replace(one, settings=(*one.settings, added))
        for label, one in evaluator.signatures.items()
    }


def _lacking(by_model: Evaluation, people: Qrels) -> list[Doubt]:
    """Find whether a run lacks queries of the model; refuse one made for people's queries alone."""
    lacking = ("missing-queries", "failed-queries")
    found = [doubt for doubt in by_model.doubts if doubt.code in (*lacking, "unjudged-traffic")]
    missing = {q for doubt in found if doubt.code in lacking for q in doubt.queries}
    others = [query for query in by_model.queries if query not in people.known]
    if missing.issuperset(others) and not by_model.unmatched:  # whose ids want a repair
        message = f"{by_model.run} has none of the queries that only the model judged"
        raise UsageError(message, "give a run of all queries; people's alone are not enough")
    return found


def _doubts(found: Corrected, people: Qrels, machine: Qrels) -> Iterator[Doubt]:
    """Doubt what the correction takes for granted, where the data speak against it."""
    alone = tuple(query for query in people.queries if query not in machine.known)
    if alone:
        words = many(len(alone), "query that people judged has", "queries that people judged have")
        message = f"{words} no label of the model, and is left out ({few(alone)})"
        yield Doubt("no-model-labels", message, len(alone), alone, total=len(people.queries))
    mine, theirs = found.labels
    if mine < AS_MUCH * theirs:
        message = f"in the queries that both judged, people judged {mine:,} documents, the model "
        message += f"{theirs:,}: where people did not judge, a document counts as not relevant"
        yield Doubt("people-judged-less", message, theirs - mine, total=theirs)
    widest = min(found.means, key=lambda one: one.found.p_of_gap)
    p = min(1.0, widest.found.p_of_gap * len(found.means))
    if p < UNLIKELY:
        gap = widest.found.gap.value
        higher = f"{number(abs(gap))} {'higher' if gap > 0 else 'lower'}"
        message = f"by the model's labels {widest.measure} of {widest.run} is {higher} in the "
        message += f"queries that people judged than in the others ({p_words(p)})"
        yield Doubt("unlike-sample", f"{message}: they hardly are a random sample", widest.found.n)
