"""A finding of an audit: what is wrong, how much of it, what it costs and what mends it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]

#: From worst to least.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
#: Values now and after the repair, by run and measure.
Cost = Mapping[str, Mapping[str, tuple[float, float]]]


@dataclass(frozen=True)
class Finding:
    """One thing that an audit found.

    `message` is one sentence with numbers; `count` of `total` things are concerned, in `run`, or in
    the judgments where that is empty. `examples` are short texts, or pairs of what was found and
    what was wanted. `cost` holds what each measure of each run is, and would be; where what is
    right cannot be known, `supposing` says what was taken for that. `remedy` says what to do,
    `command` does it, in a shell or, where data is in no file, in Python; `doc` says why it matters
    and who says so. `mappings` are the ids to write otherwise, by what they name: ``documents`` or
    ``queries``.
    """

    code: str
    severity: Severity
    message: str
    run: str = ""
    count: int = 0
    total: int = 0
    examples: tuple[str | tuple[str, str], ...] = ()
    cost: Cost = field(default_factory=dict)
    supposing: str = ""
    remedy: str = ""
    command: str = ""
    doc: str = ""
    mappings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Give it as plain data; undefined values are None."""
        cost = {
            run: {
                label: [plain_number(now), plain_number(then)] for label, (now, then) in own.items()
            }
            for run, own in self.cost.items()
        }
        return {
            "code": self.code, "severity": self.severity, "run": self.run or None,
            "message": self.message, "count": self.count, "total": self.total,
            "examples": [list(one) if isinstance(one, tuple) else one for one in self.examples],
            "cost": cost, "supposing": self.supposing, "remedy": self.remedy,
            "command": self.command, "doc": self.doc,
            "mappings": {what: dict(own) for what, own in self.mappings.items()},
        }  # fmt: skip


def plain_number(value: float) -> float | None:
    """Replace what JSON cannot hold."""
    return float(value) if math.isfinite(value) else None


def price(now: Mapping[str, float], then: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Keep the measures that a repair would print otherwise.

    >>> price({"AP": 0.5, "RR": 1.0}, {"AP": 0.75, "RR": 1.0})
    {'AP': (0.5, 0.75)}
    """
    both = {label: (now[label], value) for label, value in then.items() if label in now}
    return {label: pair for label, pair in both.items() if f"{pair[0]:.4f}" != f"{pair[1]:.4f}"}


def mapping_file(run: str, what: str) -> str:
    """Name the file of a mapping, of a run's ids or of those of the judgments.

    >>> mapping_file("smith/bm25", "documents"), mapping_file("", "queries")
    ('smith-bm25-documents.tsv', 'judgments-queries.tsv')
    """
    return f"{'-'.join((run or 'judgments').split('/'))}-{what}.tsv"


#: Faults that keep a file from being read are findings as well, by the code of the error.
CODES: dict[str, str] = {
    "absent-documents": "judged documents are not in the collection",
    "binary-on-graded": "a threshold that nobody set takes different grades for the same",
    "constant-scores": "all documents of a list have the same score",
    "document-ids": "documents of run and judgments would meet if they were written alike",
    "duplicates": "a document stands in a list twice",
    "empty-lists": "nothing was retrieved for a query of the run",
    "everywhere": "one document is at the top of every list",
    "float32": "scores closer than float32 can tell move a value",
    "fractional-grades": "the convention's tool cuts off fractions of grades",
    "graded-on-binary": "a measure asks for grades, and the judgments only say relevant or not",
    "holes": "documents in the first 10, or 100, were not judged",
    "missing-queries": "judged queries are not in the run",
    "more-relevant": "more documents are relevant than recall looks at",
    "no-documents-meet": "no judged document was retrieved, and no way to write ids mends it",
    "no-queries-meet": "no judged query is in the run, and no way to write ids mends it",
    "no-relevant": "queries have no relevant document",
    "nonfinite-scores": "scores are NaN or infinite",
    "one-sided": "all judgments say relevant, or none does",
    "pool-bias": "runs that seem to have contributed to the pool, and what that is worth to them",
    "query-ids": "queries of run and judgments would meet if they were written alike",
    "rank-column": "the rank column orders a list otherwise than the scores do",
    "repeated-judgments": "the same judgment stands in the qrels more than once",
    "same-query": "several queries have the same text",
    "same-text": "copies of a document have different grades for one query",
    "self-retrieval": "queries retrieve the document of their own id",
    "short-lists": "lists end before the measures do",
    "single-relevant": "most queries have one relevant document",
    "ties": "documents with equal scores could be ordered otherwise",
    "uneven-coverage": "some runs are judged less than those they are compared with",
    "ungraded": "rows of the qrels without a grade, which are not judgments",
    "unknown-queries": "queries of the run have no judgments",
    "unrelated": "texts of queries, or teams, that name nothing of what is audited",
    "unscored": "rows of the run without a score, which were not retrieved",
    "unused-grades": "grades of the scale, or between the least and the highest, that nobody gave",
}
