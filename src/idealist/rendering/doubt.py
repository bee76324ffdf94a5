"""A doubt: one thing found about data or a number that a reader should know of.

What `eval` doubts and what `audit` finds are the same class, and `CODES` says what each code means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from idealist.rendering.plain_data import as_number, as_text, record
from idealist.rendering.wording import number

Severity = Literal["error", "warning", "note"]

#: From worst to least.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
#: What a doubt costs, by run and measure: the value now and the value without what is doubted, or
#: the value now and the range that it could lie in.
Price = Mapping[str, Mapping[str, tuple[float, ...]]]
#: How many examples a doubt shows. Suggested.
EXAMPLES = 5
#: What there is to say about each code of `eval`, `compare` and `audit`: its meaning and, where
#: these are the same for all, its remedy and why it matters.
TEXTS: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("doubt_texts.json").read_text("utf-8")
)
#: What is said before the values are read: they may not be worth reading.
BEFORE_VALUES = frozenset({"few-meet", "nothing-matches"})
#: What each code means; the reference is made from this table. Faults that keep a file from being
#: read are findings of an audit too, by the code of the error.
CODES = {code: texts["meaning"] for code, texts in TEXTS.items()}


@dataclass(frozen=True)
class Doubt:
    """Something doubtful about data or a number: what, how much of it, its price and its remedy.

    `finding` says in one sentence, with numbers, what was found. `count` of `total` things are
    concerned, in `run`, or in the judgments where that is empty, and `queries` names the queries.
    `price` holds by run what measures are and what they would be; `supposing` says under which
    assumption ("without these queries"). `remedy` says what to do and `command` does it; `doc` says
    why it matters. `examples` are short texts, or pairs of what was found and what was expected.
    `mappings` are new ids by old ones, for ``documents`` or ``queries``. `depth` is the rank down
    to which documents were counted, where the count depends on it.
    """

    code: str
    finding: str
    count: int = 0
    queries: tuple[str, ...] = ()
    price: Price = field(default_factory=dict)
    supposing: str = ""
    severity: Severity = "warning"
    run: str = ""
    total: int = 0
    examples: tuple[str | tuple[str, str], ...] = ()
    remedy: str = ""
    command: str = field(default="", compare=False)
    doc: str = ""
    mappings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    depth: int = 0

    def __post_init__(self) -> None:
        if not self.examples:
            object.__setattr__(self, "examples", self.first_queries)

    @property
    def explained(self) -> Doubt:
        """The doubt with the remedy and the reason that are known for its code.

        >>> Doubt("ungraded", "2 rows of the qrels without a grade").explained.doc
        'a pair without a grade is unjudged'
        """
        known = TEXTS.get(self.code, {})
        remedy, doc = self.remedy or known.get("remedy", ""), self.doc or known.get("doc", "")
        return replace(self, remedy=remedy, doc=doc)

    @property
    def first_queries(self) -> tuple[str, ...]:
        """The examples where there are no better ones."""
        return tuple(f"query {query}" for query in self.queries[:EXAMPLES])

    @property
    def comes_first(self) -> bool:
        """Whether it is said before the values."""
        return self.severity == "error" or self.code in BEFORE_VALUES

    @property
    def message(self) -> str:
        """What was found, and for one run what measures would be without it, in one sentence.

        >>> Doubt("float32", "scores are close", price={"bm25": {"RR": (1.0, 0.5)}},
        ...       supposing="with precision=float32").message
        'scores are close; with precision=float32 RR is 0.5000'
        """
        return self.finding + self._priced

    @property
    def _priced(self) -> str:
        priced = {label: " to ".join(map(number, then)) for label, (_, *then) in self._own.items()}
        then = ", ".join(f"{label} is {words}" for label, words in priced.items())
        return f"; {self.supposing} {then}" if then and self.supposing else ""

    @property
    def _own(self) -> Mapping[str, tuple[float, ...]]:
        """The price, where it is of one run."""
        return next(iter(self.price.values())) if len(self.price) == 1 else {}

    @property
    def values(self) -> dict[str, Any]:
        """What measures of the run would be without it, or the range that they lie in."""
        return {
            label: then[0] if len(then) == 1 else list(then)
            for label, (_, *then) in self._own.items()
        }

    def data(self) -> dict[str, Any]:
        """Return the doubt as plain data; undefined values are None."""
        return record({
            "code": self.code, "severity": self.severity, "run": self.run or None,
            "message": self.message, "count": self.count, "total": self.total,
            "queries": self.queries, "values": self.values, "examples": self.examples,
            "cost": self.price, "supposing": self.supposing, "remedy": self.remedy,
            "command": self.command, "doc": self.doc, "mappings": self.mappings,
        })  # fmt: skip

    @classmethod
    def of_data(cls, data: Mapping[str, Any], run: str, now: Mapping[str, float]) -> Doubt:
        """Read a doubt that was saved as plain data, with the values of the run as they are."""
        ends = {label: then if isinstance(then, list) else [then]
                for label, then in data["values"].items()}  # fmt: skip
        own = {label: (now[label], *map(as_number, some)) for label, some in ends.items()}
        known = {
            key: as_text(data[key])
            for key in ("supposing", "severity", "remedy", "command", "doc")
            if key in data
        }
        made = cls(
            as_text(data["code"]), "", int(data["count"]), tuple(map(as_text, data["queries"])),
            {run: own} if own else {}, total=int(data.get("total", 0)), **known,  # type: ignore[arg-type]
        )  # fmt: skip
        return replace(made, finding=as_text(data["message"]).removesuffix(made._priced))
