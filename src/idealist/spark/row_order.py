"""Which rules rest on the order of a run's rows, which Spark does not keep."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from idealist.errors import UsageError
from idealist.notation import text
from idealist.protocol import Protocol
from idealist.spark.run_files import POSITION


def resting_on_order(ordering: Protocol, columns: Collection[str]) -> str:
    """Name the rule that rests on the order of the rows; empty if none does.

    >>> resting_on_order(Protocol(ties="input"), {"score"}), resting_on_order(Protocol(), {"score"})
    ('ties=input', '')
    >>> resting_on_order(Protocol(), {"query"})
    'order=given'
    """
    if ordering.order == "given" or (
        ordering.order == "score" and not {"score", "rank"} & {*columns}
    ):
        return "order=given"
    if ordering.ties.startswith("input"):
        return f"ties={ordering.ties}"
    if ordering.duplicates != "error":
        return f"duplicates={ordering.duplicates}"
    rough = ordering.order != "score" or ordering.precision == "float32" or "score" not in columns
    if ordering.collapse != "none" and rough:  # chunks may tie, and their scores differ
        return f"collapse={text(ordering.collapse)}"
    return ""


def check_order(orderings: Iterable[Protocol], columns: Collection[str]) -> None:
    """Refuse rules that rest on the order of rows where no column says it."""
    if POSITION in columns:
        return
    rules = dict.fromkeys(resting_on_order(one, columns) for one in orderings)
    if rule := next(filter(None, rules), ""):
        message = f"{rule} rests on the order of the rows, which Spark does not keep"
        hint = 'name a column of numbers that says it: columns={"position": "NAME"}'
        raise UsageError(message, f"{hint}; or choose another rule")
