"""Reconciling a number: finding the conventions that print it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from idealist.conventions import DEFAULT, convention
from idealist.data import Qrels
from idealist.data.columns import to_id
from idealist.errors import UsageError
from idealist.formats import borrowed_run, read_qrels
from idealist.measures import as_measure
from idealist.measures.instrument import check_axes
from idealist.ranking.chunk_lists import chunked
from idealist.ranking.ranked import Ranked
from idealist.ranking.stored_placements import has_documents
from idealist.reconciling.classes import Asker, by_tools, chance_of, classes_of, nearest_miss
from idealist.reconciling.facts import Facts
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

    All named conventions are tried, and every combination of rules that can matter for the measure
    on this data. `digits` says how many digits of the number are known, if its text does not.
    `per_query` holds known values of queries, `others` further runs whose number you could ask for,
    `axes` rules that you know were followed. `tick` is told how far the search is. The result is
    false where nothing fits, or where what fits could be chance.

    >>> found = reconcile({"q1": {"a": 3, "b": 1}}, {"q1": ["b", "a"]}, "nDCG@10", "0.7098")
    >>> found.answers[0].changes
    {'gain': 'exp2'}
    """
    judged, one = read_qrels(qrels), as_measure(measure)
    read = [borrowed_run(each) for each in (run, *others)]
    loaded = (chunked(one, judged).loaded() if has_documents(one) else one for one in read)
    runs = [Ranked(judged, one) for one in loaded]
    axes = {name: value for name, value in axes.items() if value is not None}
    check_axes(axes, [one])
    target = Target.of(value, digits, _known(judged, per_query))
    base = convention(DEFAULT).instrument(one, axes).protocol
    space = Space.of(one, axes, Facts.of(runs[0], base))
    stacks = stacks_of(runs[0], space.protocols, one)
    if not stacks:
        runs[0].under([base])  # raises what is wrong
    search = Search(space, target, judged.queries, stacks[0].lists[0][0].in_run)
    search.run(stacks, tick)
    tools = by_tools(search, runs[0], one, axes)
    answers = classes_of(search, [tool.hit for tool in tools if tool.fits])
    queries = zip(judged.queries, search.fitting.tolist(), strict=True)
    return Reconciliation(
        measure=str(one),
        target=target,
        answers=tuple(answers),
        nearest=None if answers else nearest_miss(search),
        question=Asker(runs, target.digits).best(one, answers),
        misfits=tuple(query for query, fits in queries if not fits),
        facts=tuple(space.facts.absent),
        chance=chance_of(search, tools, answers),
        tried=space.size,
        different=len(search.sources),
    )


def _known(qrels: Qrels, per_query: Mapping[Any, Any] | None) -> dict[str, Any]:
    """Return the known values by query; each must be judged."""
    known = {to_id(query): value for query, value in (per_query or {}).items()}
    for query in known.keys() - qrels.known:
        hint = "check that the ids are written alike"
        raise UsageError(f"query {query!r} has a value, but no judgments", hint)
    return known
