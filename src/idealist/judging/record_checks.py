"""What may enter a store: records are checked at the door, and nothing in it needs to be mended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from idealist.data import Scale
from idealist.data.columns import to_id
from idealist.data.judgments import Judgments, check_grades
from idealist.errors import Faults
from idealist.formats.cells import ID_RULE, shown
from idealist.formats.stored_judgments import KINDS
from idealist.judging.store_records import STATUSES, Judgment, Pooled, Preference
from idealist.notation import to_number


def now() -> str:
    """Return the time as a store writes it: in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def checked_judgments(
    rows: Sequence[Judgment], scale: Scale | None, faults: Faults
) -> list[Judgment]:
    """Check judgments, and give them a time; all that is wrong is said at once."""
    when = now()
    found = [_judgment(row, when, faults) for row in rows]
    graded = [row for row in found if row.grade is not None]
    grades = [float(row.grade) for row in graded if row.grade is not None]
    table = Judgments(
        [row.query for row in graded], [row.document for row in graded], grades, [], None
    )
    check_grades(table, list(range(len(graded))), scale, faults)
    faults.check()
    return found


def _judgment(row: Judgment, when: str, faults: Faults) -> Judgment:
    """Check all of a judgment but its place on the scale."""
    grade = _grade(row, faults)
    if row.status not in STATUSES:
        known = ", ".join(STATUSES)
        faults.add("bad-shape", f"{_place(row)}: the status is {shown(row.status)}", known)
    if row.adjudicates and row.status == "later":
        hint = "give a grade, or say that nobody can tell"
        faults.add("bad-shape", f"{_place(row)}: an adjudication cannot wait", hint)
    if (row.undoes is not None) != (row.status == "undone"):
        hint = "withdraw a judgment with undo"
        message = f"{_place(row)}: a row that undoes another, and no other, is `undone`"
        faults.add("bad-shape", message, hint)
    found: dict[str, Any] = {
        "grade": grade, "query": _id(row.query, "query", faults),
        "document": _id(row.document, "document", faults), "judge": _judge(row, faults),
        "seconds": _number(row.seconds, "seconds", row, faults),
        "inclusion": _chance(row.inclusion, row, faults),
        "note": _text(row.note, "note", row, faults),
        "token": _text(row.token, "token", row, faults), "time": _time(row, when, faults),
    }  # fmt: skip
    return Judgment(**{**vars(row), **found})  # half the time of `replace`


def checked_preference(row: Preference, faults: Faults) -> Preference:
    """Check a preference, and give it a time."""
    made = replace(
        row, query=_id(row.query, "query", faults), better=_id(row.better, "document", faults),
        worse=_id(row.worse, "document", faults), judge=_judge(row, faults),
        seconds=_number(row.seconds, "seconds", row, faults), time=_time(row, now(), faults),
        note=_text(row.note, "note", row, faults), token=_text(row.token, "token", row, faults),
    )  # fmt: skip
    if made.better == made.worse:
        faults.add("bad-shape", f"{_place(row)}: a document is compared with itself", "name two")
    faults.check()
    return made


def checked_pool(rows: Sequence[Pooled], faults: Faults) -> list[Pooled]:
    """Check the documents of a batch: each once for a query."""
    found = [
        replace(
            row, query=_id(row.query, "query", faults),
            document=_id(row.document, "document", faults),
            inclusion=_chance(row.inclusion, row, faults),
        )
        for row in rows
    ]  # fmt: skip
    first: set[tuple[str, str]] = set()
    for row in found:
        if (row.query, row.document) in first:
            faults.add("duplicate", f"{_place(row)} is pooled twice", "keep one of them")
        first.add((row.query, row.document))
    faults.check()
    return found


def _place(row: Judgment | Preference | Pooled) -> str:
    document = row.better if isinstance(row, Preference) else row.document
    return f"query {shown(row.query)}, document {shown(document)}"


def _id(value: Any, what: str, faults: Faults) -> str:
    try:
        return to_id(value)
    except (TypeError, ValueError):
        faults.add("bad-id", f"{what} {shown(value)}: {ID_RULE}", "write ids as text")
        return ""


def _grade(row: Judgment, faults: Faults) -> float | None:
    if row.status != "graded":
        if row.grade is not None:
            message = f"{_place(row)}: a grade, but the status is {row.status}"
            faults.add("bad-grade", message, "a judgment with a grade is `graded`")
        return None
    try:
        return float(to_number(row.grade))
    except (TypeError, ValueError):
        hint = "give a number, or the status `cannot tell`"
        faults.add("bad-grade", f"{_place(row)}: the grade is {shown(row.grade)}", hint)
        return None


def _judge(row: Judgment | Preference, faults: Faults) -> str:
    if row.kind not in KINDS:
        known = ", ".join(KINDS)
        faults.add("bad-shape", f"{_place(row)}: the kind is {shown(row.kind)}", known)
    name = _text(row.judge, "judge", row, faults)
    if fault := fault_of_name(name):
        faults.add("bad-id", f"{_place(row)}: {fault}", NAME_HINT)
    return name


#: What to do about a name that no judge can have.
NAME_HINT = "give the name of a judge, such as ann"


def fault_of_name(name: str) -> str:
    """Say what is wrong with the name of a judge, if anything is."""
    if not name.strip():
        return "the judge has no name"
    return f"the judge is called {name!r}, as a kind of judges is" if name in KINDS else ""


def _text(value: Any, what: str, row: Any, faults: Faults) -> str:
    try:
        value.encode()  # a lone surrogate cannot be
        return str(value)
    except (AttributeError, UnicodeEncodeError):
        faults.add("bad-shape", f"{_place(row)}: the {what} is {shown(value)}", "give text")
        return ""


def _number(value: Any, what: str, row: Any, faults: Faults) -> float | None:
    if value is None:
        return None
    try:
        if (number := float(to_number(value))) >= 0:
            return number
    except (TypeError, ValueError):
        pass
    hint = "give a number of at least 0, or nothing"
    faults.add("bad-shape", f"{_place(row)}: {what} is {shown(value)}", hint)
    return None


def _chance(value: Any, row: Any, faults: Faults) -> float | None:
    chance = _number(value, "inclusion", row, faults)
    if chance is not None and not 0 < chance <= 1:
        hint = "a probability of being chosen is above 0 and at most 1"
        faults.add("bad-shape", f"{_place(row)}: inclusion is {chance:g}", hint)
    return chance


def _time(row: Judgment | Preference, when: str, faults: Faults) -> str:
    if not row.time:
        return when
    try:
        datetime.fromisoformat(row.time)
    except (TypeError, ValueError):
        hint = "write it as 2026-11-16T15:49:40Z"
        faults.add("bad-shape", f"{_place(row)}: the time is {shown(row.time)}", hint)
    return row.time
