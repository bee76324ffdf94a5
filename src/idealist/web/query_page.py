"""One query: the lists of runs beside each other, why their values differ, and the grades."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

from idealist.errors import UsageError, nearest
from idealist.explaining.difference_explainer import DifferenceExplainer
from idealist.explaining.explainer import Explainer
from idealist.explaining.explanation import Explanation, most_lost
from idealist.formats.document_texts import DocumentText
from idealist.judging.pair_views import read_grade
from idealist.judging.store import Store
from idealist.judging.store_records import Judgment
from idealist.notation import tidy
from idealist.rendering.document import COUNT, TEXT, Column, Table
from idealist.rendering.plain_data import finite
from idealist.reporting.computing import first_alone
from idealist.reporting.query_lists import Place, Side, ideal_sides, two_sides
from idealist.web.query_list import QueryList, query_list, shown_runs
from idealist.web.visit import Moved, Page, Visit
from idealist.web.workspace import Measured

#: The most lists beside each other, and how many ranks of each can be shown.
MOST_LISTS, RANKS = 6, (10, 20, 50, 100)
#: More grades than this are typed, not chosen.
MOST_GRADES = 12


@dataclass(frozen=True)
class Lists:
    """The lists of a query: a side for each run, why their values differ, and what is `missed`."""

    sides: tuple[Side, ...]
    why: tuple[tuple[str, tuple[str, ...]], ...]
    missed: tuple[str, ...] = ()

    @property
    def documents(self) -> list[str]:
        """The documents that are shown, each once."""
        return list(dict.fromkeys(one.document for side in self.sides for one in side.places))


def page(visit: Visit) -> Page:
    """Show a query."""
    state, workspace = visit.state, visit.workspace
    listed, found = query_list(visit), workspace.measured(state)
    query = state.query or (listed.rows[0].query if listed.rows else "")
    runs = _runs(visit, listed, found)
    lists = explained(found, runs, query, _ranks(visit))
    words = workspace.query_text(query)
    lists = _told(lists, workspace.texts(lists.documents))
    before, after, place = listed.beside(query)
    store = workspace.store(state)
    scale = store.scale if store else None
    grades = [tidy(grade) for grade in scale.grades] if scale else []
    filled = {
        "query": query, "words": words, "lists": lists, "listed": listed, "label": found.label,
        "before": before, "after": after, "place": place, "ranks": _ranks(visit),
        "many_ranks": RANKS, "store": store, "may_edit": visit.person.may("edit"),
        "grades": grades if len(grades) <= MOST_GRADES else [], "tidy": tidy,
        "labels": {tidy(grade): label for grade, label in scale.pairs} if scale else {},
        "others": [run for run in found.runs if run not in runs][:50], "runs": runs,
        "mean": {run: found.of(run)[found.label] for run in runs},
    }  # fmt: skip
    return Page(
        f"Query {query}", "query.html", filled,
        lambda: _data(query, words, found.label, lists), lambda: _table(lists),
    )  # fmt: skip


def _ranks(visit: Visit) -> int:
    return min(visit.state.ranks, RANKS[-1])


def _runs(visit: Visit, listed: QueryList, found: Measured) -> list[str]:
    """Choose the lists: what is pinned, or the two runs of the list one came from."""
    if len(visit.state.pinned) > 1:
        return shown_runs(visit.state, found.runs)[:MOST_LISTS]
    return [run for run in (listed.baseline, listed.run) if run]


def explained(found: Measured, runs: Sequence[str], query: str, ranks: int) -> Lists:
    """Take a query apart: one run beside the ideal list, or others beside the first."""
    alone = first_alone(found.evaluator)
    (measure,) = alone.measures.values()
    rules = {"convention": alone.convention, **alone.axes}
    known = alone.qrels.known
    if query not in known:
        raise UsageError(f"query {query!r} is not judged", nearest(query, sorted(known)))
    with found.lock:
        one_by_one: list[Explanation] = []
        with suppress(UsageError) if len(runs) > 1 else nullcontext():  # a count has no ideal
            for run in runs:
                each = Explainer(alone.qrels, found.ranked[run], measure, **rules)
                one_by_one.append(each(query, ranks or None))
        lost = tuple(f"{one.run}: {most_lost(one.losses)}" for one in one_by_one if one.losses)
        if len(runs) == 1:
            (alone_,) = one_by_one
            lines = (*lost, *filter(None, (alone_.words, *alone_.notes)))
            return Lists(ideal_sides(alone_, {}), (("", lines),))
        pairs = [
            DifferenceExplainer(
                alone.qrels, found.ranked[runs[0]], found.ranked[run], measure, **rules
            )(query, ranks or None)
            for run in runs[1:]
        ]
        for run in runs:
            found.ranked[run].forget()
    sides = (two_sides(pairs[0])[0], *(two_sides(one)[1] for one in pairs))
    why = [(one.run, (*one.lines(), *one.words, *one.notes)) for one in pairs]
    shown = {place.document for side in sides for place in side.places}
    return Lists(sides, (("", lost), *why), tuple(_missed(one_by_one, shown)))


def _missed(each: Sequence[Explanation], shown: Collection[str]) -> Iterator[str]:
    """Name what the ideal list has and none of the lists shows, and where it is instead."""
    ideal = {row.ideal.document: row.ideal.grade for one in each for row in one.rows if row.ideal}
    for document, grade in ideal.items():
        if document not in shown and grade > 0:
            ranks = [(one.run, _rank(one, document)) for one in each]
            at = [f"at {rank} in {run}" for run, rank in ranks if rank is not None]
            where = f"it is {' and '.join(at)}" if at else "no run here retrieves it"
            yield f"{document} (grade {tidy(grade)}): {where}"


def _rank(found: Explanation, document: str) -> int | None:
    own = (row.ideal.rank for row in found.rows if row.ideal and row.ideal.document == document)
    return next(own, None)


def _told(lists: Lists, texts: dict[str, DocumentText]) -> Lists:
    """Add titles and texts."""

    def told(place: Place) -> Place:
        text = texts.get(place.document)
        return place if text is None else replace(place, title=text.title, text=text.text)

    sides = (replace(one, places=tuple(map(told, one.places))) for one in lists.sides)
    return replace(lists, sides=tuple(sides))


def _data(query: str, words: str, label: str, lists: Lists) -> dict[str, Any]:
    return {
        "query": query, "text": words, "measure": label,
        "values": {side.name: finite(side.value) for side in lists.sides},
        "lists": [side.data() for side in lists.sides],
        "why": {run: list(lines) for run, lines in lists.why if run},
        "lost": [line for run, lines in lists.why if not run for line in lines],
        "missed": list(lists.missed),
    }  # fmt: skip


def _table(lists: Lists) -> Table:
    rows = tuple(
        (side.name, one.rank, one.document, one.grade, one.move)
        for side in lists.sides
        for one in side.places
    )
    columns = (
        Column("run", TEXT), Column("rank", COUNT), Column("document", TEXT), Column("grade"),
        Column("moved", TEXT),
    )  # fmt: skip
    return Table(columns, rows)


def grade(visit: Visit) -> Moved:
    """Grade a document of a list; the values follow when the page is shown again."""
    state, sent = visit.state, visit.sent
    store = visit.store
    query, document = str(sent.get("query", "")), str(sent.get("document", ""))
    found = visit.workspace.measured(state)
    runs = _runs(visit, query_list(visit), found)
    if document not in explained(found, runs, query, RANKS[-1]).documents:
        raise UsageError(f"{document!r} is in none of these lists", "grade what is shown")
    said = read_grade(str(sent.get("grade", "")), store.scale)
    visit.workspace.tell_store(store, [query], [document])
    decides = _decides(store, query, document, visit.judge)
    store.judge(Judgment(query, document, said, visit.judge, adjudicates=decides))
    return Moved(state.address("/query", query=query))


def _decides(store: Store, query: str, document: str, judge: str) -> bool:
    """Whether others have judged it, so that an editor's grade decides over theirs."""
    asked = """
    SELECT EXISTS (
        SELECT 1 FROM current_judgment WHERE query = ? AND document = ? AND grade IS NOT NULL
        AND (adjudicates OR (kind = 'human' AND judge <> ?))
    )
    """
    with store.reading() as connection:
        return bool(connection.execute(asked, (query, document, judge)).fetchone()[0])


def undo(visit: Visit) -> Moved:
    """Take back the last grade of whoever asks."""
    if (undone := visit.store.undo(visit.judge)) is None:
        raise UsageError(f"{visit.judge} has nothing to take back", "grade something first")
    return Moved(visit.state.address("/query", query=undone.query))
