"""Reconciling a number: finding the conventions that print it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from idealist.conventions import CONVENTIONS, DEFAULT, convention
from idealist.data import Qrels, Run
from idealist.data.columns import to_id
from idealist.errors import IdealistError, UsageError
from idealist.formats import borrowed_run, read_qrels
from idealist.measures import Measure, as_measure
from idealist.measures.instrument import Instrument, check_axes
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import rank
from idealist.reconciling.classes import classes_of, named_hits, nearest_miss
from idealist.reconciling.data_facts import Facts
from idealist.reconciling.deciding import Asker
from idealist.reconciling.rankings import stacks_of
from idealist.reconciling.reconciliation import Reconciliation
from idealist.reconciling.search import Search, Tick
from idealist.reconciling.space import Space
from idealist.reconciling.target import Target

__all__ = ["Reconciliation", "reconcile"]


def reconcile(
    qrels: Any,
    run: Any,
    measure: Any,
    value: Any = None,
    digits: int | None = None,
    per_query: Mapping[Any, Any] | None = None,
    *,
    others: Iterable[Any] = (),
    tick: Tick = lambda done, total: None,
    **axes: Any,
) -> Reconciliation:
    """Find the conventions under which a run's measure prints a number.

    All named conventions are tried, and every combination of the rules that can matter for the
    measure on this data. `digits` are those the number is known to, where its text does not say it.
    `per_query` are known values of queries, `others` further runs that could be asked about, `axes`
    rules that are known. `tick` is told how far the search is.

    >>> found = reconcile({"q1": {"a": 3, "b": 1}}, {"q1": ["b", "a"]}, "nDCG@10", "0.7098")
    >>> found.answers[0].changes
    {'gain': 'exp2'}
    """
    judged, one = read_qrels(qrels), as_measure(measure)
    runs = [borrowed_run(each).loaded() for each in (run, *others)]
    axes = {name: value for name, value in axes.items() if value is not None}
    check_axes(axes, [one])
    target = Target.of(value, digits, _known(judged, per_query))
    base = convention(DEFAULT).instrument(one, axes).protocol
    space = Space.of(one, axes, Facts.of(judged, runs[0], base))
    stacks = stacks_of(judged, runs[0], space.protocols, one)
    if not stacks:
        rank(judged, runs[0], [base])  # says what is wrong
    search = Search(space, target, judged.queries, stacks[0].lists[0][0].in_run)
    search.run(stacks, tick)
    named = named_hits(search, _named(judged, runs[0], one, axes))
    answers = classes_of(search, named)
    queries = zip(judged.queries, search.fitting.tolist(), strict=True)
    return Reconciliation(
        measure=str(one),
        target=target,
        answers=tuple(answers),
        nearest=None if answers else nearest_miss(search),
        question=Asker(judged, runs, target.digits).best(one, answers),
        misfits=tuple(query for query, fits in queries if not fits),
        facts=tuple(space.facts.words),
        tried=space.size,
        different=len(search.sources),
    )


def _named(
    qrels: Qrels, run: Run, measure: Measure, axes: Mapping[str, Any]
) -> dict[str, tuple[Instrument, Placements]]:
    """Rank the run as each tool does that has the measure; one that refuses it is left out."""
    found: dict[str, tuple[Instrument, Placements]] = {}
    for name, one in CONVENTIONS.items():
        if one.has(measure):
            with suppress(IdealistError):
                instrument = one.instrument(measure, axes)
                ranked = rank(qrels, run, [instrument.protocol])
                found[name] = (instrument, ranked[instrument.protocol])
    return found


def _known(qrels: Qrels, per_query: Mapping[Any, Any] | None) -> dict[str, Any]:
    """Give the known values by query; each must be judged."""
    known = {to_id(query): value for query, value in (per_query or {}).items()}
    for query in known.keys() - qrels.known:
        hint = "check that the ids are written alike"
        raise UsageError(f"query {query!r} has a value, but no judgments", hint)
    return known
