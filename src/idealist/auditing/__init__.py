"""Auditing: can the numbers be trusted? Ids, coverage, judgments and runs are looked over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from idealist.auditing import coverage_checks, judgment_checks, run_checks, text_checks
from idealist.auditing.audit_case import Check, examine
from idealist.auditing.audit_report import Audit
from idealist.auditing.ids import unmatched_ids
from idealist.auditing.judgment_checks import read_judgments, unread
from idealist.auditing.order_checks import wrong_order
from idealist.auditing.pool_teams import PoolTeams, teams_left_out
from idealist.conventions import DEFAULT, Convention
from idealist.errors import InputError
from idealist.evaluating.evaluator import DEFAULT_MEASURES, Evaluator
from idealist.formats import read_queries
from idealist.formats.query_files import read_texts
from idealist.formats.team_files import read_teams
from idealist.report.doubt import SEVERITIES, Doubt

__all__ = ["CHECKS", "Audit", "PoolTeams", "audit"]

#: All checks but those of ids and of order, in the order in which findings of the same severity
#: are listed.
CHECKS: tuple[Check, ...] = (
    *judgment_checks.FILE_CHECKS, *run_checks.CHECKS, *judgment_checks.CHECKS,
    *text_checks.CHECKS,
    *coverage_checks.CHECKS,
)  # fmt: skip


def audit(
    qrels: Any,
    runs: Any,
    measures: Any = DEFAULT_MEASURES,
    *,
    queries: Iterable[Any] | None = None,
    texts: Any = None,
    docs: Any = None,
    pool_teams: Any = None,
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> Audit:
    """Look judgments and runs over for what makes numbers wrong or doubtful.

    `runs` is one run, several, or a mapping from names. `queries` restricts the judgments
    to some queries. `texts` (of queries) and `docs` are texts by id, or a file of them: each lets
    more be checked. `pool_teams` is the team of each run, or a file of it; the audit then says what
    the pool does to each run. Nothing is changed: each finding says what to do about it.

    >>> found = audit({"q1": {"D1": 1}}, {"q1": {"d1": 0.5}}, "RR@10")
    >>> found.findings[0].code
    'document-ids'
    """
    settings = {"measures": measures, "convention": convention, **axes}
    try:
        judged, contradictions = read_judgments(qrels)
    except InputError as error:
        if error.code == "no-file":
            raise
        return Audit(tuple(unread(error)))
    case = replace(
        examine(Evaluator(judged, queries=queries, **settings), runs, settings),
        texts=None if texts is None else read_queries(texts),
        docs=None if docs is None else read_texts(docs, frozenset(judged.documents)),
        teams=None if pool_teams is None else read_teams(pool_teams),
        contradictions=contradictions,
    )
    found: list[Doubt] = []
    for check in (unmatched_ids, wrong_order):  # others may follow from these
        found += [finding.explained for finding in check(case)]
        errors = (one for one in found if one.severity == "error")
        mismatched = (name for one in errors for name in ([one.run] if one.run else case.runs))
        case = replace(case, mismatched=frozenset(mismatched))
    found += [finding.explained for check in CHECKS for finding in check(case)]
    return Audit(
        tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity))),
        {name: one.aggregates for name, one in case.runs.items()},
        case.coverage,
        None if case.teams is None else teams_left_out(case.coverage, case.evaluator, case.teams),
    )
