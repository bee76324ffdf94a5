"""Doubts: what is legal but questionable about a result, counted and priced."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from idealist.evaluating.data_doubts import (
    binary,
    few_weigh,
    fractional,
    missing,
    no_relevant,
    not_in_tool,
    not_weighted,
    nothing_matches,
    other_name,
    preferences,
    subtopics,
    undivided,
    unjudged_traffic,
    unknown,
    utility,
)
from idealist.evaluating.doubt_case import Case
from idealist.evaluating.ranking_doubts import duplicates, float32, ties, unjudged
from idealist.report.doubt import Doubt

__all__ = ["CODES", "Case", "find_doubts"]

#: What each doubt means. The reference is made from this table.
CODES: dict[str, str] = {
    "binary-on-graded": "a threshold that nobody set takes different grades for the same",
    "collapsed": "chunks were merged into their documents, the best one kept",
    "duplicates": "a document was retrieved twice for a query and one row was taken",
    "few-queries-weigh": "most of the weight lies on few queries",
    "float32": "scores closer than float32 can tell move a value",
    "fractional-grades": "the convention's tool cuts off fractions of grades",
    "missing-queries": "judged queries are not in the run",
    "no-relevant": "queries have no relevant document",
    "nothing-matches": "no query or no document of the judgments is in the run",
    "not-in-tool": "the convention's tool does not have this measure",
    "not-weighted": "queries have weights, and a measure takes no mean that they could weigh",
    "other-name": "the convention's tool calls another measure by this name",
    "preferences": "a document's highest level of preference is taken for its grade",
    "repeated-judgments": "the same judgment stands in the qrels more than once",
    "undivided": "a measure of subtopics or groups of judges, and the judgments name none",
    "ungraded": "rows of the qrels without a grade, which are not judgments",
    "subtopics": "documents were judged by subtopic, and the highest grade counts",
    "ties": "documents with equal scores could be ordered otherwise",
    "unscored": "rows of the run without a score, which were not retrieved",
    "unjudged": "documents in the first k were not judged",
    "unjudged-traffic": "queries that have a weight have no judgments",
    "unknown-queries": "queries of the run, or asked for, have no judgments",
    "unknown-utility": "passages in the first k lack the column that UDCG needs",
}

CHECKS: tuple[Callable[[Case], Iterator[Doubt]], ...] = (
    nothing_matches, missing, unknown, no_relevant, unjudged_traffic, few_weigh, not_weighted,
    unjudged,
    ties, float32, duplicates,
    subtopics, undivided, preferences, fractional, binary, not_in_tool, other_name, utility,
)  # fmt: skip


def find_doubts(case: Case) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful."""
    return tuple(doubt for check in CHECKS for doubt in check(case))
