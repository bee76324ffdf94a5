"""What an evaluation doubts already, as findings of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from idealist.auditing.audit_case import Audited, Case
from idealist.auditing.finding import Cost, Finding, Severity, price
from idealist.auditing.judgment_checks import none_relevant
from idealist.auditing.pricing import otherwise
from idealist.auditing.thresholds import EXAMPLES, TIES_MATTER
from idealist.report.doubt import Doubt


@dataclass(frozen=True)
class Reading:
    """What an audit makes of a doubt; `axes` of `idealist eval` are the remedy's command."""

    severity: Severity
    remedy: str
    doc: str
    axes: Mapping[str, str] = field(default_factory=dict)


#: What the costs suppose, by the doubt or the precision.
SUPPOSING = {
    "float32": "scores are compared in float32",
    "float64": "scores are compared in float64",
    "missing-queries": "they do not count",
    "no-relevant": "they do not count",
}
#: Doubts about runs, by their code.
RUNS: dict[str, Reading] = {
    "missing-queries": Reading(
        "warning",
        "run the system on these queries too; if they were left out on purpose, let them not count",
        "a query without a list counts 0, so that a failure of the pipeline looks like a bad "
        "ranking",
        {"missing": "skip"},
    ),
    "unknown-queries": Reading(
        "note",
        "judge them, or leave them out of the run",
        "they are not part of any value",
    ),
    "ties": Reading(
        "warning",
        "write scores with all their digits; until then report the mean over the orders of ties, "
        "or that of several random ones",
        "the order of equal scores is the tool's choice, not the system's: one run then has as "
        "many values as there are tools",
        {"ties": "expected"},
    ),
    "float32": Reading(
        "warning",
        "write scores that differ in their first 7 digits; until then say in which precision they "
        "are compared",
        "tools that read scores as float32, as trec_eval 9 does, take these for ties and print "
        "another value",
        {"precision": "float32"},
    ),
    "unscored": Reading(
        "warning",
        "give these rows a score, or take them out of the run",
        "a document without a score is not retrieved",
    ),
}  # fmt: skip

#: Doubts about judgments, by their code.
JUDGMENTS: dict[str, Reading] = {
    "no-relevant": Reading(
        "warning",
        "judge more documents of these queries, or let them not count",
        "no system can score on them, so that they lower every mean alike",
        {"no_relevant": "skip"},
    ),
    "repeated-judgments": Reading(
        "warning",
        "write each pair of query and document once",
        "a row that stands there twice is a sign of files joined twice",
    ),
    "ungraded": Reading(
        "warning",
        "give these rows a grade, or take them out",
        "a pair without a grade is unjudged",
    ),
    "binary-on-graded": Reading(
        "note",
        "say from which grade on a document is relevant, such as AP(rel=2)",
        "grades that a threshold merges are judges' work thrown away, and tools put the "
        "threshold in different places",
    ),
    "fractional-grades": Reading(
        "warning",
        "keep the fractions, or write whole grades",
        "trec_eval reads 0.9 as 0",
        {"grades": "keep"},
    ),
}


def doubted_runs(case: Case) -> Iterator[Finding]:
    """Give the doubts about each run."""
    for name, one in case.audited.items():
        for doubt in one.evaluation.doubts:
            if doubt.code in RUNS and not _hopeless(one):
                words = doubt.message + (_tied(one) if doubt.code == "ties" else "")
                known = replace(doubt, message=words)
                yield _finding(case, name, known, RUNS[doubt.code], len(one.whole.in_run))


def _tied(one: Audited) -> str:
    """Say how many documents share their score with another."""
    share = np.count_nonzero(one.whole.first < one.whole.last) / len(one.whole.rank)
    return f"; {share:.1%} of the judged documents found are tied"


def _hopeless(one: Audited) -> bool:
    """Whether nothing meets at all: then the ids are wrong, and all else follows from that."""
    return any(doubt.code == "nothing-matches" for doubt in one.evaluation.doubts)


def doubted_judgments(case: Case) -> Iterator[Finding]:
    """Give the doubts about judgments, once for all runs, with what they cost each."""
    found: dict[str, Finding] = {}
    nothing = none_relevant(case.qrels)  # which is a finding of its own
    for name, one in case.audited.items():
        for doubt in one.evaluation.doubts:
            if doubt.code in JUDGMENTS and not (doubt.code == "no-relevant" and nothing):
                own = _finding(case, name, doubt, JUDGMENTS[doubt.code], len(case.qrels.queries))
                before = found.get(doubt.code)
                found[doubt.code] = own if before is None else _joined(before, own)
    yield from found.values()


def _joined(first: Finding, other: Finding) -> Finding:
    """Give a finding about judgments with what it costs another run too."""
    return replace(first, run="", cost={**first.cost, **other.cost})


def _finding(case: Case, run: str, doubt: Doubt, reading: Reading, total: int) -> Finding:
    axes = _axes(case, reading.axes)
    return Finding(
        doubt.code, "note" if _small(case, doubt) else reading.severity, doubt.message,
        run=run if doubt.code in RUNS else "", count=doubt.count, total=total,
        examples=tuple(f"query {query}" for query in doubt.queries[:EXAMPLES]),
        cost=_cost(case, run, doubt, axes),
        supposing=SUPPOSING.get(axes.get("precision") or doubt.code, ""),
        remedy=reading.remedy,
        command=case.command("eval", run, **axes) if axes else "",
        doc=reading.doc,
    )  # fmt: skip


def _cost(case: Case, run: str, doubt: Doubt, axes: Mapping[str, str]) -> Cost:
    """Price a doubt as it was; a range of values, by what the command gives."""
    if doubt.code == "ties":
        return otherwise(case, run, **axes)
    then = {label: value for label, value in doubt.values.items() if not isinstance(value, list)}
    cost = price(case.audited[run].evaluation.aggregates, then)
    return {run: cost} if cost else {}


def _small(case: Case, doubt: Doubt) -> bool:
    """Whether the order of ties hardly moves the value of a measure."""
    if doubt.code != "ties":
        return False
    judging = [label for label, one in case.evaluator.instruments.items() if one.measure.judges]
    ranges = (doubt.values[label] for label in judging if label in doubt.values)
    return all(np.ptp(ends) < TIES_MATTER for ends in ranges)


def _axes(case: Case, axes: Mapping[str, str]) -> Mapping[str, str]:
    """Give the axes of a remedy as these measures can have them."""
    instruments = case.evaluator.instruments.values()
    if "precision" in axes:
        mine = {one.protocol.precision for one in instruments}
        return {"precision": "float64"} if mine == {"float32"} else axes
    if "ties" not in axes:
        return axes
    # not all measures have a mean over the orders of ties
    means = all(one.measure.averages_ties and one.protocol.depth == "none" for one in instruments)
    return axes if means else {"ties": "random(1)"}
