"""Where judges disagree: one pair after the other, with what each said, until somebody decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from idealist.errors import UsageError
from idealist.judging.disputes import Dispute, Disputes
from idealist.judging.pair_views import read_grade
from idealist.judging.sittings import judgment_of, task_of
from idealist.judging.store import Store
from idealist.notation import tidy
from idealist.web import layout
from idealist.web.visit import Moved, Page, Told, Visit

PATH = "/judges/disputes"
#: How many disagreements are listed beside the one that is shown, and the most signs of a note.
LISTED, LONGEST = 25, 2000


def page(visit: Visit) -> Page:
    """Show the pair to decide, what the judges said, and what else waits."""
    store, found = visit.store, _disputes(visit)
    at = min(max(visit.state.page, 1), max(len(found.waiting), 1))
    first = (at - 1) // LISTED * LISTED
    filled: dict[str, Any] = {
        "found": found, "said": f"{found.summary[:1].upper()}{found.summary[1:]}", "at": at,
        "may_edit": visit.person.may("edit"), "one": None,
        "listed": list(enumerate(found.waiting[first : first + LISTED], first + 1)),
        "tidy": tidy, "last": _last(store, visit.judge) is not None,
    }  # fmt: skip
    if found.waiting:
        filled |= _shown(visit, store, found.waiting[at - 1])
    return Page("Disagreements", "disputes.html", filled, found.data, found.table)


def _shown(visit: Visit, store: Store, one: Dispute) -> dict[str, Any]:
    text = visit.workspace.texts([one.document]).get(one.document)
    scale, words = store.scale, visit.workspace.query_text(one.query)
    return {
        "one": one, "query_text": words, "heading": text.title if text else "",
        "text": layout.marked(text.text, words) if text else None,
        "guidelines": store.guidelines,
        "grades": [(tidy(grade), label) for grade, label in scale.pairs] if scale else [],
    }  # fmt: skip


def _disputes(visit: Visit) -> Disputes:
    return visit.workspace.about_store(visit.state, "disputes", Disputes.of)


def adjudicate(visit: Visit) -> Moved:
    """Decide a pair; the next one is shown."""
    store, sent = visit.store, visit.sent
    pair = str(sent.get("query", "")), str(sent.get("document", ""))
    note = str(sent.get("note", "")).strip()
    if len(note) > LONGEST:
        raise UsageError(f"the note has {len(note):,} signs", f"write {LONGEST:,} at most")
    grade = read_grade(str(sent.get("grade", "")).strip(), store.scale)
    if not _waits(_disputes(visit).waiting, pair):
        hint = "it was decided meanwhile, or the judges agree now; go on with the next one"
        raise UsageError("this pair does not wait for a decision", hint)
    made = judgment_of(
        task_of(store, *pair), visit.judge, grade, "graded", adjudicates=True, note=note
    )
    store.judge(made)
    return Moved(visit.state.address(PATH))


def _waits(waiting: Sequence[Dispute], pair: tuple[str, str]) -> bool:
    return any((one.query, one.document) == pair for one in waiting)


def undo(visit: Visit) -> Moved:
    """Take the last decision back, if that is the last thing that somebody said."""
    store = visit.store
    with store.writing():
        if _last(store, visit.judge) is None:
            raise UsageError("there is no decision to take back", "what you judged last is none")
        store.undo(visit.judge)
    return Moved(visit.state.address(PATH, page=1))


def _last(store: Store, judge: str) -> int | None:
    """Find the decision that somebody made last, if it is the last thing he said."""
    asked = "SELECT id, adjudicates FROM standing_judgment WHERE judge = ? ORDER BY id DESC LIMIT 1"
    with store.reading() as connection:
        found = connection.execute(asked, (judge,)).fetchone()
    return int(found[0]) if found and found[1] else None


ACTIONS: dict[str, tuple[Callable[[Visit], Moved | Told], str]] = {
    "/judges/adjudicate": (adjudicate, "edit"),
    "/judges/undo": (undo, "edit"),
}
