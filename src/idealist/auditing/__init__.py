"""Auditing: can the numbers be trusted? Ids, coverage, judgments and runs looked over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from idealist.auditing.audit_case import Case, examine, named_runs
from idealist.auditing.audit_report import Audit
from idealist.auditing.coverage import read_teams
from idealist.auditing.coverage_checks import holes, pool, uneven
from idealist.auditing.doubted import doubted_judgments, doubted_runs
from idealist.auditing.file_checks import contradicting, read_judgments, unread, unreadable
from idealist.auditing.finding import SEVERITIES, Finding
from idealist.auditing.ids import unmatched_ids
from idealist.auditing.ids.mapping import map_ids
from idealist.auditing.judgment_checks import (
    beyond_cutoff,
    binary_labels,
    one_sided,
    single,
    unused_grades,
)
from idealist.auditing.run_checks import (
    constant,
    duplicates,
    empty,
    everywhere,
    finding_themselves,
    nonfinite,
    other_order,
    short,
)
from idealist.auditing.text_checks import absent, same_query, same_text, unrelated
from idealist.conventions import DEFAULT, Convention
from idealist.errors import InputError
from idealist.evaluating.evaluator import DEFAULT_MEASURES, Evaluator
from idealist.formats import read_queries
from idealist.formats.query_files import read_texts

__all__ = ["CHECKS", "Audit", "Case", "Finding", "audit", "map_ids"]

Check = Callable[[Case], Iterator[Finding]]

#: Every check beside that of ids, which comes first, in the order in which findings of the same
#: severity are listed.
CHECKS: tuple[Check, ...] = (
    unreadable, contradicting,
    duplicates, nonfinite, constant, other_order,
    doubted_runs, short, empty, finding_themselves, everywhere,
    doubted_judgments, single, beyond_cutoff, unused_grades, one_sided,
    binary_labels,
    absent, same_text, same_query, unrelated,
    holes, uneven, pool,
)  # fmt: skip


def audit(
    qrels: Any,
    runs: Any,
    *,
    measures: Any = DEFAULT_MEASURES,
    queries: Any = None,
    docs: Any = None,
    teams: Any = None,
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> Audit:
    """Look judgments and runs over for what makes numbers wrong or doubtful.

    `runs` is one run, several, or a mapping from names. `queries` and `docs` are texts by id, or a
    file of them, and `teams` the team of each run: each lets more be checked. Nothing is changed:
    each finding says what to do about it.

    >>> found = audit({"q1": {"D1": 1}}, {"q1": {"d1": 0.5}}, measures="RR@10")
    >>> found.findings[0].code
    'document-ids'
    """
    settings = {"measures": measures, "convention": convention, **axes}
    try:
        judged, contradictions = read_judgments(qrels)
    except InputError as error:
        if error.code == "no-file":
            raise
        return Audit(findings=tuple(unread(error)))
    evaluator = Evaluator(judged, **settings)
    case = Case(
        evaluator, *examine(evaluator, named_runs(runs), settings),
        None if queries is None else read_queries(queries),
        None if docs is None else read_texts(docs, frozenset(judged.documents)),
        None if teams is None else read_teams(teams),
        settings, contradictions,
    )  # fmt: skip
    return _looked_over(case)


def _looked_over(case: Case) -> Audit:
    odd = [*unmatched_ids(case)]
    case = replace(case, mismatched=_mismatched(case, odd))
    found = [*odd, *(finding for check in CHECKS for finding in check(case))]
    return Audit(
        findings=tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity))),
        values={name: dict(one.evaluation.aggregates) for name, one in case.audited.items()},
        coverage=case.coverage,
    )


def _mismatched(case: Case, odd: list[Finding]) -> frozenset[str]:
    """Name the runs whose ids do not match: all, where it is those of the judgments."""
    return frozenset(name for one in odd for name in ([one.run] if one.run else case.audited))
