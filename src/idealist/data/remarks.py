"""Remarks: what a reader decided or noticed, to be mentioned with every result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remark:
    """One such thing: the code of the doubt it becomes, a sentence, how often (of all), how bad.

    `queries` are those that it is about, and `command` mends it.
    """

    code: str
    message: str
    count: int = 0
    severity: str = "note"
    total: int = 0
    queries: tuple[str, ...] = ()
    command: str = ""
