"""A doubt: one thing found about data or a number that a reader should know of.

What `eval` doubts and what `audit` finds are the same class, and `CODES` says what each code means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from idealist.report.plain_data import as_number, as_text, finite
from idealist.report.wording import number

Severity = Literal["error", "warning", "note"]

#: From worst to least.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
#: What a doubt costs, by run and measure: the value now and the value without what is doubted, or
#: the value now and the range that it could lie in.
Price = Mapping[str, Mapping[str, tuple[float, ...]]]
#: How many examples a doubt shows. Suggested.
EXAMPLES = 5


@dataclass(frozen=True)
class Doubt:
    """Something doubtful about data or a number: what, how much of it, its price and its remedy.

    `finding` says in one sentence, with numbers, what was found. `count` of `total` things are
    concerned, in `run`, or in the judgments where that is empty, and `queries` names the queries.
    `price` holds by run what measures are and what they would be; `supposing` says under which
    assumption ("without these queries"). `remedy` says what to do and `command` does it; `doc` says
    why it matters. `examples` are short texts, or pairs of what was found and what was expected.
    `mappings` are new ids by old ones, for ``documents`` or ``queries``.
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

    def __post_init__(self) -> None:
        if not self.examples:
            object.__setattr__(self, "examples", self.first_queries)

    @property
    def first_queries(self) -> tuple[str, ...]:
        """The examples where there are no better ones."""
        return tuple(f"query {query}" for query in self.queries[:EXAMPLES])

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
        pairs = {label: own for label, own in self._own.items() if len(own) == 2}
        then = ", ".join(f"{label} is {number(value)}" for label, (_, value) in pairs.items())
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


#: What each code of `eval` and `audit` means; the reference is made from this table. Faults that
#: keep a file from being read are findings of an audit too, by the code of the error.
CODES: dict[str, str] = {
    "absent-documents": "judged documents are not in the collection",
    "binary-on-graded": "a binary measure treats different grades alike, and nobody set rel",
    "collapsed": "chunks were merged into their documents, keeping the best one",
    "constant-scores": "all documents of a list have the same score",
    "document-ids": "run and judgments write the same document ids differently",
    "duplicates": "a document was retrieved twice for one query",
    "empty-lists": "nothing was retrieved for a query of the run",
    "everywhere": "the same document is at the top of every list",
    "few-queries-weigh": "a few queries carry most of the weight",
    "float32": "scores too close for float32 to tell apart change a value",
    "fractional-grades": "the convention's tool truncates fractional grades",
    "graded-on-binary": "a graded measure is used, and the judgments are binary",
    "holes": "documents in the first 10, or 100, are unjudged",
    "missing-queries": "judged queries are missing from the run",
    "more-relevant": "more documents are relevant than recall looks at",
    "no-documents-meet": "no judged document was retrieved, and no rewriting of ids helps",
    "no-queries-meet": "no judged query is in the run, and no rewriting of ids helps",
    "no-relevant": "queries have no relevant document",
    "nonfinite-scores": "scores are NaN or infinite",
    "not-in-tool": "the convention's tool does not have this measure",
    "not-weighted": "queries have weights, and a measure is not averaged by a mean",
    "nothing-matches": "no query or no document of the judgments is in the run",
    "one-sided": "all judgments say relevant, or none does",
    "other-name": "the convention's tool uses this name for another measure",
    "pool-bias": "runs seem to have contributed to the pool, which favours them",
    "preferences": "a document's highest level of preference is used as its grade",
    "query-ids": "run and judgments write the same query ids differently",
    "rank-column": "the rank column and the scores order a list differently",
    "repeated-judgments": "the qrels hold the same judgment more than once",
    "same-query": "several queries have the same text",
    "same-text": "copies of a document have different grades for one query",
    "self-retrieval": "queries retrieve the document of their own id",
    "short-lists": "lists are shorter than the measures look",
    "single-relevant": "most queries have a single relevant document",
    "subtopics": "documents were judged by subtopic, and the highest grade counts",
    "ties": "documents have equal scores, and their order changes a value",
    "undivided": "a measure needs subtopics or groups of judges, and the judgments name none",
    "uneven-coverage": "some runs are judged less than those they are compared with",
    "ungraded": "rows of the qrels have no grade and were left out",
    "unjudged": "documents in the first k are unjudged",
    "unjudged-traffic": "queries with a weight have no judgments",
    "unknown-queries": "queries of the run, or asked for, have no judgments",
    "unknown-utility": "passages in the first k lack the column that UDCG needs",
    "unrelated": "query texts or teams were given that name nothing in the audit",
    "unscored": "rows of the run have no score and were left out",
    "unused-grades": "grades of the scale, or between the lowest and the highest, that nobody gave",
}
