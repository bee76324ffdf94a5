"""The page Judge: documents one after the other, or two by two; what is said is kept at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from idealist.data import Scale
from idealist.errors import UsageError
from idealist.formats.document_entries import DocumentText
from idealist.judging.llm.duels import Duel
from idealist.judging.sittings import task_of
from idealist.judging.store import Store
from idealist.judging.store_records import Task
from idealist.judging.work_ahead import (
    AHEAD,
    OpenBatch,
    documents_ahead,
    documents_held,
    duels_ahead,
    holders,
    last_sent,
    open_batches,
    progress_of,
)
from idealist.notation import tidy
from idealist.rendering.wording import seen
from idealist.web import judge_choosing, layout
from idealist.web.judge_choosing import CHOOSE
from idealist.web.judge_says import kept, pairs_at_hand
from idealist.web.visit import Moved, NothingToDo, Page, Told, Visit

#: The way of this page on which documents are compared two by two.
PAIRS = "pairs"
#: How many comparisons a browser has at hand.
DUELS = 10
#: How many of the last judgments can be taken back after a page was opened anew.
BACK = 20
#: How many characters of documents are sent at once; one document is sent whatever its length.
AT_ONCE = 2_000_000
#: Letters for the grades, from the lowest: the home row first; `l n u x` mean something else.
LETTERS = "asdfghjkqwertyiopzcvbm"


@dataclass(frozen=True)
class GradeKey:
    """A grade that can be given, what it means, and the keys that give it."""

    grade: float
    label: str
    keys: tuple[str, ...]


def grade_keys(scale: Scale | None) -> list[GradeKey]:
    """Give each grade its digit, if it is one, and a letter; none where grades are typed.

    >>> [(one.grade, one.keys) for one in grade_keys(Scale((-1, 0, 10)))]
    [(-1, ('a',)), (0, ('0', 's')), (10, ('d',))]
    """
    if scale is None or len(scale.grades) > len(LETTERS):
        return []
    found = []
    for letter, (grade, label) in zip(LETTERS, scale.pairs, strict=False):
        own = tidy(float(grade))
        digit = (str(own),) if own in range(10) else ()
        found.append(GradeKey(own, str(label), (*digit, letter)))
    return found


def page(visit: Visit) -> Page:
    """Show what is to be judged next; where there is nothing, say why and what to do."""
    store = visit.workspace.store(visit.state)
    if store is None or visit.state.way == CHOOSE:
        return judge_choosing.page(visit, store)
    batches = _batches(visit, store)
    if not batches:
        return judge_choosing.page(visit, store)
    shown = _compared if visit.state.way == PAIRS else _documents
    found = shown(visit, store, batches)
    about = {
        **found,
        **_about(visit, store),
        "say": visit.workspace.named(visit.state).address("/judge/say"),
    }
    filled = {
        "pairs": visit.state.way == PAIRS, "about": about, "grades": grade_keys(store.scale),
        "first": next(iter(found["tasks"]), None), "may_edit": visit.person.may("edit"),
        "lacking": judge_choosing.lacking_texts(visit, store),
        "guidelines": store.guidelines, "scale": store.scale,
    }  # fmt: skip
    return Page("Judge", "judge.html", filled, lambda: _data(visit, store, about))


def _batches(visit: Visit, store: Store) -> list[OpenBatch]:
    """Return what is judged: the batch that the address names, or all."""
    found = open_batches(store, visit.state.batch or None)
    if visit.state.batch and not found:
        raise UsageError(f"there is no batch {visit.state.batch}", "leave it out of the address")
    return found


def _about(visit: Visit, store: Store) -> dict[str, Any]:
    """Return what the script must know beside documents: by what it keeps unsent grades."""
    place = hashlib.sha256(str(store.path.absolute()).encode(errors="replace")).hexdigest()[:16]
    return {
        "judge": visit.judge, "store": place, "back": last_sent(store, visit.judge, BACK),
        "grades": [asdict(one) for one in grade_keys(store.scale)],
    }  # fmt: skip


def say(visit: Visit) -> Told:
    """Keep what was said, and give what comes next, with one commit for all of it."""
    store = visit.store
    if visit.sent.get("judge", visit.judge) != visit.judge:
        hint = "sign in as before, in another tab; what waits is kept in this browser"
        raise NothingToDo(
            f"this page belongs to another judge, and you are {visit.judge} now", hint
        )
    batches, at_hand = _batches(visit, store), pairs_at_hand(visit.sent.get("have"))
    with store.writing():
        said = kept(store, visit.judge, visit.sent.get("said"))
        shown = _compared if visit.state.way == PAIRS else _documents
        found = shown(visit, store, batches, at_hand)
    back = [
        _written(task_of(store, one["query"], one["document"]))
        for one in said
        if one["kept"] and "document" in one
    ]
    return Told({"said": said, "back": back, **found})


def _documents(
    visit: Visit, store: Store, batches: Sequence[OpenBatch], at_hand: Sequence[Any] = ()
) -> dict[str, Any]:
    """Return the documents that come next, how far judging is, and what is whose."""
    tasks = documents_ahead(store, visit.judge, batches, AHEAD, at_hand)
    written, size = list[dict[str, Any]](), 0
    for task in tasks:
        size += len(task.text.text) if task.text else 0
        if written and size > AT_ONCE:
            break
        written.append(_written(task))
    held = [] if tasks or at_hand else holders(store, visit.judge, batches)
    return {
        "tasks": written, "mine": documents_held(store, visit.judge), "rules": _rules(store),
        "progress": asdict(progress_of(store, visit.judge, batches)),
        "held": [round(until) for _, until in held],  # by whom is not for judges to know
    }  # fmt: skip


def _compared(
    visit: Visit, store: Store, batches: Sequence[OpenBatch], at_hand: Sequence[Any] = ()
) -> dict[str, Any]:
    """Return the comparisons that come next; those at hand are sent again, in their order."""
    duels, total = duels_ahead(store, visit.judge, batches)
    progress = progress_of(store, visit.judge, ())
    counts = {"judged": total - len(duels), "of": total, "left": len(duels)}
    return {
        "tasks": [_written_duel(store, one) for one in duels[:DUELS]], "rules": _rules(store),
        "progress": {**asdict(progress), **counts, "seconds": None}, "held": [], "mine": [],
    }  # fmt: skip


def _rules(store: Store) -> int:
    """Return what changes with the scale or the guidelines."""
    with store.reading() as connection:
        return int(connection.execute("SELECT IFNULL(MAX(id), 0) FROM setting").fetchone()[0])


def _written(task: Task) -> dict[str, Any]:
    """Write a document as the page shows it; nothing tells how it came here."""
    return {
        "query": task.query, "words": seen(task.query_text), "document": task.document,
        "batch": task.batch or None, "seen": task.seen, "put_off": task.put_off,
        **_text(task.text, task.query_text),
    }  # fmt: skip


def _written_duel(store: Store, duel: Duel) -> dict[str, Any]:
    sides = [task_of(store, duel.query, one) for one in (duel.one, duel.other)]
    words = sides[0].query_text
    return {
        "query": duel.query, "words": seen(words),
        "sides": [{"document": one.document, **_text(one.text, words)} for one in sides],
    }  # fmt: skip


def _text(text: DocumentText | None, words: str) -> dict[str, Any]:
    """Write a title and a text with the words of the query marked."""
    if text is None:
        return {"title": "", "html": None}
    return {
        "title": str(layout.marked(text.title, words)),
        "html": str(layout.marked(text.text, words)),
    }


def _data(visit: Visit, store: Store, about: dict[str, Any]) -> dict[str, Any]:
    """Return the page for programs: texts are plain, and nothing tells how a document came here."""
    tasks = [{**one} for one in about["tasks"]]
    for one in tasks:
        for side in one.get("sides", [one]):
            text = store.text(side["document"])
            side.pop("html", None)
            side["title"], side["text"] = (text.title, text.text) if text else (None, None)
    named = ("judge", "rules", "progress", "held", "grades")
    return {
        "way": visit.state.way, **{name: about[name] for name in named}, "tasks": tasks,
        "guidelines": store.guidelines,
    }  # fmt: skip


ACTIONS: dict[str, tuple[Callable[[Visit], Moved | Told], str]] = {
    "/judge/say": (say, "judge"),
    "/judge/pool": (judge_choosing.choose, "edit"),
    "/judge/texts": (judge_choosing.add_texts, "edit"),
    "/judge/guidelines": (judge_choosing.set_rules, "edit"),
}
