"""Faults that keep a file from being read at all, as findings."""

from __future__ import annotations

from collections.abc import Iterator

from idealist.auditing.case import Case
from idealist.auditing.finding import Finding
from idealist.auditing.thresholds import EXAMPLES
from idealist.errors import CODES, Fault, InputError


def unreadable(case: Case) -> Iterator[Finding]:
    """Give what is wrong with the runs that cannot be read."""
    for name, error in case.refused.items():
        yield from faults_of(error, name)


def faults_of(error: InputError, run: str = "") -> Iterator[Finding]:
    """Give the faults of an input, one finding for each kind.

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
        hints = dict.fromkeys(fault.hint for fault in faults if fault.hint)
        yield Finding(
            code, "error", f"{faults[0].message}{more}",
            run=run, count=count,
            examples=tuple(map(str, faults[:EXAMPLES])),
            remedy="; ".join(hints),
            doc=CODES.get(code, ""),
        )  # fmt: skip
