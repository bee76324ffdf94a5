"""A doubt: one finding about data or a number, wherever it is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from idealist.report.plain_data import finite

Severity = Literal["error", "warning", "note"]

#: From worst to least.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
#: What a doubt costs, by run and measure: the value now, and the value without what is doubted.
Price = Mapping[str, Mapping[str, tuple[float, float]]]


@dataclass(frozen=True)
class Doubt:
    """Something doubtful about data or a number: what, how much of it, its price and its remedy.

    `message` is one sentence with numbers; `count` of `total` things are concerned, in `run`, or in
    the judgments where that is empty, and `queries` names the queries. `values` holds what
    measures would be without it, or the range they lie in; `price` the same beside the values as
    they are, by run. Where what is right cannot be known, `supposing` says what was assumed.
    `remedy` says what to do, and `command` does it; `doc` says why it matters and who says so.
    `examples` are short texts, or pairs of what was found and what was expected, and `mappings` are
    ids to be written otherwise, by what they name: ``documents`` or ``queries``.
    """

    code: str
    message: str
    count: int = 0
    queries: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    severity: Severity = "warning"
    run: str = ""
    total: int = 0
    examples: tuple[str | tuple[str, str], ...] = ()
    price: Price = field(default_factory=dict)
    supposing: str = ""
    remedy: str = ""
    command: str = ""
    doc: str = ""
    mappings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return the doubt as plain data; undefined values are None."""
        plain: dict[str, Any] = finite(
            {
                "code": self.code, "severity": self.severity, "run": self.run or None,
                "message": self.message, "count": self.count, "total": self.total,
                "queries": self.queries, "values": self.values, "examples": self.examples,
                "cost": self.price, "supposing": self.supposing, "remedy": self.remedy,
                "command": self.command, "doc": self.doc, "mappings": self.mappings,
            }
        )  # fmt: skip
        return plain
