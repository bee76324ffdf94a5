"""Faults that keep a file from being read, as findings; judgments that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from idealist.auditing.audit_case import AuditCase
from idealist.data import Qrels
from idealist.errors import CODES, Contradictions, Fault, InputError
from idealist.formats import read_qrels
from idealist.report.doubt import EXAMPLES, Doubt


def unreadable(case: AuditCase) -> Iterator[Doubt]:
    """Say what is wrong with the runs that cannot be read."""
    for name, error in case.refused.items():
        yield from faults_of(error, name)


def contradicting(case: AuditCase) -> Iterator[Doubt]:
    """List judgments that contradict each other, and price them by the higher grades."""
    if (error := case.contradictions) is None:
        return
    higher = settled(error) if error.without is None else None
    what, price = "their groups are", {}
    if higher is not None:
        what, price = "they are", case.for_each_run(lambda run: case.rejudged(run, higher))
    for one in faults_of(error):
        yield replace(
            one, finding=f"{one.finding}; {what} left out of all that follows",
            total=len(error.given["query"]), price=price,
            supposing="" if higher is None else "if the highest grade of each is right",
        )  # fmt: skip


def unread(error: InputError) -> Iterator[Doubt]:
    """Say what is wrong with judgments that cannot be read, so that nothing can be compared."""
    for one in faults_of(error):
        yield replace(one, finding=f"{one.finding}; nothing else was looked at")


def read_judgments(data: Any) -> tuple[Qrels, Contradictions | None]:
    """Read judgments; where some contradict each other, the others and what was wrong."""
    try:
        return read_qrels(data), None
    except Contradictions as error:
        try:
            return error.without() if error.without else settled(error, highest=False), error
        except InputError:  # something else is wrong too, or nothing is left
            raise error from None


def settled(error: Contradictions, *, highest: bool = True) -> Qrels:
    """Return judgments with the highest grade of pairs that have several, or without these pairs.

    >>> try:
    ...     read_qrels([("q", "d", 1), ("q", "d", 2), ("q", "e", 0)])
    ... except Contradictions as error:
    ...     print(settled(error).to_dict(), settled(error, highest=False).to_dict())
    {'q': {'d': 2, 'e': 0}} {'q': {'e': 0}}
    """
    given = error.given
    subtopics = given["subtopic"] or [""] * len(given["query"])
    keys = list(zip(given["query"], given["document"], subtopics, strict=True))
    grades: dict[tuple[str, str, str], set[float]] = {}
    for key, grade in zip(keys, given["grade"], strict=True):
        grades.setdefault(key, set()).add(grade)
    disputed = {key[:2] for key, own in grades.items() if len(own) > 1}
    kept = [
        i
        for i, key in enumerate(keys)
        if (given["grade"][i] == max(grades[key]) if highest else key[:2] not in disputed)
    ]
    rows = {name: given[name] for name in ("query", "document", "grade", "subtopic", "lines")}
    columns = {name: [cells[i] for i in kept] for name, cells in (given["columns"] or {}).items()}
    chosen = {name: cells and [cells[i] for i in kept] for name, cells in rows.items()}
    return Qrels.build(**{**given, **chosen, "columns": columns})


def faults_of(error: InputError, run: str = "") -> Iterator[Doubt]:
    """List the faults of an input, one finding for each kind.

    >>> from idealist import read_qrels
    >>> try:
    ...     read_qrels([("q", "d", 1), ("q", "d", 2)])
    ... except InputError as error:
    ...     print(next(faults_of(error)).code)
    contradiction
    """
    kinds: dict[str, list[Fault]] = {}
    for fault in error.faults:
        kinds.setdefault(fault.code, []).append(fault)
    for code, faults in kinds.items():
        count = error.total if len(kinds) == 1 else len(faults)
        more = f" and {count - 1} more" if count > 1 else ""
        yield Doubt(
            code, f"{faults[0].message}{more}", count, severity="error", run=run,
            examples=tuple(map(str, faults[:EXAMPLES])),
            remedy=next((fault.hint for fault in faults if fault.hint), ""),
            doc=CODES.get(code, ""),
        )  # fmt: skip


#: In the order in which findings of the same severity are listed.
CHECKS = (unreadable, contradicting)
