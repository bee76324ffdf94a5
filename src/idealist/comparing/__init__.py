"""Comparing runs: paired differences with their statistics, from runs or from evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any

from idealist.bounding.differences import names_ahead
from idealist.comparing.compare_options import Options, options_of
from idealist.comparing.comparison import Comparison
from idealist.comparing.deciding import pairs_of, sliced, without_unmet
from idealist.comparing.order_agreement import OrderAgreement, means_of, order_agreement
from idealist.comparing.pair import Pair
from idealist.comparing.pairing import aligned, places_of
from idealist.comparing.robustness import with_robustness
from idealist.conventions import DEFAULT, Convention
from idealist.data import Qrels, Run
from idealist.errors import UsageError, nearest
from idealist.evaluating.evaluation import ByMeasure, Evaluation
from idealist.evaluating.evaluator import DEFAULT_MEASURES, Evaluator
from idealist.formats import read_qrels, several_runs
from idealist.formats.source import distinct
from idealist.measures import Measure
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.ranking.ranked import Ranked
from idealist.rendering.wording import few

#: The places of the arguments.
PLACES = "compare(qrels, [run, run], measures)"
#: What is said of saved evaluations.
UNJUDGED = "unjudged documents were not looked at: evaluations hold neither judgments nor runs"
#: What is compared unasked: all that is measured unasked and says how good a run is.
COMPARED = tuple(one for one in DEFAULT_MEASURES if not one.startswith("Judged"))

__all__ = ["Comparison", "Options", "OrderAgreement", "Pair", "compare", "compare_evaluations"]


def compare(
    qrels: Any,
    runs: Any,
    measures: Any = COMPARED,
    *,
    baseline: str | int | None = None,
    slices: Mapping[Any, Any] | None = None,
    queries: Iterable[Any] | None = None,
    weights: Any = None,
    convention: str | Convention = DEFAULT,
    all_pairs: bool = False,
    alpha: float = 0.05,
    seed: int = 0,
    tests: str | Iterable[str] = (),
    rope: float | None = None,
    margin: float | None = None,
    fragility: bool = False,
    agreement: Any = None,
    multiverse: bool = False,
    **axes: Any,
) -> Comparison:
    """Compare runs: every one against the baseline, or `all_pairs`.

    `runs` are runs in a list, or by name; the baseline is the first, or the one of that name or
    place. Fisher's randomisation test decides, at `alpha`, by the first of the measures; several
    runs are corrected by MaxT, `all_pairs` by Tukey's test. The other measures are corrected
    together, and significant only where the first one is. `tests` adds wilcoxon, sign or
    bootstrap, `margin` equivalence and non-inferiority; `rope` is the difference
    too small to matter, 0.01 on [0, 1]. `slices`, {query: slice}, compares parts of the queries.
    `fragility` and `multiverse` find how robust the verdicts are; labels are redrawn with an
    `agreement` of judges: a kappa, 0.5 unless given, or {grade: {grade: share}}, or a file of such
    a table. Everything else is as in `evaluate`; a measure's own alpha is written with the measure.

    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> runs = {"old": dict.fromkeys(qrels, ["x", "a"]), "new": dict.fromkeys(qrels, ["a"])}
    >>> pair = compare(qrels, runs, "RR").pairs[0]
    >>> pair.difference, pair.p_randomisation
    (0.5, 0.0078125)
    """
    _check_places(qrels, runs, slices, axes)
    judged = read_qrels(qrels)
    evaluator = Evaluator(
        judged, measures, convention=convention, queries=queries, weights=weights, **axes
    )
    ranked = _ranked(evaluator, runs)
    own = {label: one.measure for label, one in evaluator.instruments.items()}
    evaluations = [_evaluated(evaluator, run) for run in ranked]
    found = _compared(
        evaluations, list(evaluator.measures), own, baseline, slices, all_pairs=all_pairs,
        alpha=alpha, seed=seed, tests=tests, rope=rope, margin=margin,
    )  # fmt: skip
    if slices is not None and queries is not None:
        found = replace(found, remarks=_left_out(judged, evaluator.asked))
    return with_robustness(found, evaluator, ranked, fragility, agreement, multiverse, axes)


def naming(evaluator: Evaluator) -> dict[Protocol, int]:
    """Say how many unjudged documents the first measure will have named."""
    first = next(iter(evaluator.instruments.values()))
    return {first.protocol: names_ahead(first)}


def _evaluated(evaluator: Evaluator, run: Ranked) -> Evaluation:
    """Evaluate a run, and forget its rows before the next one is read."""
    found = evaluator(run)
    run.forget()
    return found


def compare_evaluations(
    evaluations: Iterable[Any],
    measures: Any = None,
    *,
    baseline: str | int | None = None,
    slices: Mapping[Any, Any] | None = None,
    **options: Any,
) -> Comparison:
    """Compare evaluations, meters, or files that `Evaluation.save` wrote, without the runs.

    They must have the same signatures. `measures` are all that the first has, less Judged, or some
    of them; the other options are those of `compare`, less what needs judgments.

    >>> from idealist import evaluate
    >>> qrels = {f"q{i}": {"a": 1} for i in range(8)}
    >>> lists = ["x", "a"], ["a"]
    >>> both = [evaluate(qrels, dict.fromkeys(qrels, list(one)), "RR") for one in lists]
    >>> compare_evaluations(both).pairs[0].wins
    8
    """
    if isinstance(evaluations, (Evaluation, str, Path, Mapping)):
        hint = "compare_evaluations([before, after])"
        raise UsageError("evaluations go into one list", hint)
    read = list(map(Evaluation.of, evaluations))
    if len(read) < 2:
        raise UsageError("a comparison needs two runs", "give at least two evaluations")
    asked = [measures] if isinstance(measures, (str, Measure)) else measures
    quality = [label for label in read[0] if not label.startswith("Judged")] or list(read[0])
    labels = [read[0].label(one) for one in asked] if asked else quality
    names = distinct([one.run for one in read])
    named = [replace(one, run=name) for one, name in zip(read, names, strict=True)]
    found = _compared(named, labels, {}, baseline, slices, **options)
    return replace(found, remarks=(UNJUDGED,))


def _check_places(qrels: Any, runs: Any, slices: Any, axes: Mapping[str, Any]) -> None:
    """Refuse arguments that stand in another's place."""
    files = isinstance(qrels, (list, tuple)) and len(qrels) > 0
    if files and all(isinstance(one, (str, Path, Run)) for one in qrels):
        raise UsageError("qrels cannot be a list of files", f"judgments come first: {PLACES}")
    if isinstance(runs, (str, Path, Run)):
        raise UsageError("a comparison needs two runs", f"runs go into one list: {PLACES}")
    if "measure" in axes:
        raise UsageError("there is no argument 'measure'", "write measures=…")
    if "correction" in axes:
        hint = "it follows from what is compared: MaxT for a baseline, Tukey's test for all pairs"
        raise UsageError("there is no argument 'correction'", hint)
    if isinstance(slices, str):
        hint = f"give {{query: slice}}, such as read_queries(FILE).column({slices!r})"
        raise UsageError(f"slices cannot be {slices!r}", hint)


def _left_out(qrels: Qrels, asked: frozenset[str]) -> tuple[str, ...]:
    """Say which judged queries are in no slice because they were not asked for."""
    rest = tuple(query for query in qrels.queries if query not in asked)
    if not rest:
        return ()
    words = many(len(rest), "judged query is", "judged queries are")
    return (f"{words} not among the queries given, and left out ({few(rest)})",)


def _ranked(evaluator: Evaluator, given: Any) -> list[Ranked]:
    """Read the runs, of which there must be two, unless all are ranked already."""
    if isinstance(given, list) and given and all(isinstance(one, Ranked) for one in given):
        return given
    read = several_runs(given) if isinstance(given, Iterable) else []
    if len(read) < 2:
        hint = "give a list of runs, or {name: run}; the first is the baseline"
        raise UsageError("a comparison needs two runs", hint)
    named = naming(evaluator)
    return [Ranked(evaluator.qrels, run, named) for run in read]


def _compared(
    evaluations: Sequence[Evaluation],
    labels: Sequence[str],
    measures: Mapping[str, Measure],
    baseline: str | int | None,
    slices: Mapping[Any, Any] | None,
    *,
    tests: str | Iterable[str] = (),
    all_pairs: bool = False,
    **others: Any,
) -> Comparison:
    runs = [one.run for one in evaluations]
    first = _place(baseline, runs)
    places = places_of(len(runs), first, all_pairs)
    options = options_of(len(places), tests, all_pairs=all_pairs, **others)
    tables = aligned(evaluations, labels, measures)
    if all_pairs:  # the better run comes first, and a pair says what it is better by
        means = means_of(tables[0])
        evaluations = sorted(evaluations, key=lambda one: -means.get(one.run, 0.0))
        tables = aligned(evaluations, labels, measures)
    parts = () if slices is None else sliced(tables, places, options, slices)
    unmet = [one.run for one in evaluations if one.unmatched]
    return Comparison(
        evaluations=tuple(evaluations),
        pairs=without_unmet(pairs_of(tables, places, options), unmet),
        baseline=runs[first],
        options=options,
        signatures=ByMeasure(
            {table.label: table.signed(options, len(tables) > 1) for table in tables}
        ),
        slices=without_unmet(parts, unmet),
        agreement=order_agreement(tables) if len(tables) > 1 else (),
        given=tuple(runs),
    )


def _place(baseline: str | int | None, runs: Sequence[str]) -> int:
    """Find the baseline among the runs."""
    if isinstance(baseline, str):
        if baseline not in runs:
            raise UsageError(f"there is no run {baseline!r}", nearest(baseline, runs))
        return runs.index(baseline)
    place: Any = 0 if baseline is None else baseline
    whole = isinstance(place, Integral) and not isinstance(place, bool)
    if not whole or not 0 <= place < len(runs):
        hint = f"give a name, or a place from 0 to {len(runs) - 1}"
        raise UsageError(f"there is no run {baseline!r}", hint)
    return int(place)
