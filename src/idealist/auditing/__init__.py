"""Auditing: can the numbers be trusted? Ids, coverage, judgments and runs are looked over."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from idealist.auditing import (
    coverage_checks,
    judge_checks,
    judgment_checks,
    run_checks,
    text_checks,
)
from idealist.auditing.audit_case import AuditCase, Check, examine
from idealist.auditing.audit_report import Audit
from idealist.auditing.ids import State, queries_seen, unmatched_ids
from idealist.auditing.ids.meeting import met
from idealist.auditing.judgment_checks import read_judgments, unread
from idealist.auditing.order_checks import hides_coverage, top_queries, wrong_order
from idealist.auditing.pool_teams import PoolTeams, teams_left_out, teams_of
from idealist.auditing.remembered import forget, remember
from idealist.auditing.run_checks import spread_queries
from idealist.conventions import DEFAULT, Convention
from idealist.errors import InputError, NoDocuments
from idealist.evaluating.evaluator import DEFAULT_MEASURES, Evaluator
from idealist.formats import read_queries
from idealist.formats.document_texts import read_texts
from idealist.rendering.doubt import SEVERITIES, Doubt

__all__ = ["CHECKS", "Audit", "PoolTeams", "audit", "met"]

#: All checks but those of ids and of order, in the order in which findings of the same severity
#: are listed.
CHECKS: tuple[Check, ...] = (
    *judgment_checks.FILE_CHECKS, *run_checks.CHECKS, *judgment_checks.CHECKS,
    *judge_checks.CHECKS,    *text_checks.CHECKS,
    *coverage_checks.CHECKS,
)  # fmt: skip


#: Rows of all runs together that are remembered; of a hundred runs, some are read again. Suggested.
REMEMBERED_ROWS = 1_000_000


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
    to some queries. `texts` (of queries) and `docs` are texts by id, or where they are: each lets
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
    case = examine(Evaluator(judged, queries=queries, **settings), runs, settings)
    left = REMEMBERED_ROWS
    for name, one in case.runs.items():
        seen = State(name, one.run, case.qrels, one)
        if left > 0:
            some = [*top_queries(one), *spread_queries(one), *queries_seen(seen)]
            left -= remember(one.run, some)
    known = (*case.runs, *case.refused)
    case = replace(
        case,
        texts=None if texts is None else read_queries(texts),
        docs=None if docs is None else read_texts(docs, frozenset(judged.documents)),
        teams=None if pool_teams is None else teams_of(pool_teams, known),
        contradictions=contradictions,
    )
    ids = _findings(unmatched_ids, case)  # others may follow from these
    case = _without(case, [one for one in ids if one.severity == "error"])
    order = _findings(wrong_order, case)
    case = _without(case, [one for one in order if hides_coverage(one)])
    found = [*ids, *order]
    for check in CHECKS:
        if check in coverage_checks.CHECKS:  # these read no rows, and need the room
            forget(one.run for one in case.runs.values())
        found += _findings(check, case)
    return Audit(
        tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity))),
        {name: one.aggregates for name, one in case.runs.items()},
        case.coverage,
        None if case.teams is None else teams_left_out(case.coverage, case.evaluator, case.teams),
        case.judges,
    )


def _findings(check: Check, case: AuditCase) -> list[Doubt]:
    """Check one thing; where a run has no documents, `places_only` says what that leaves out."""
    with suppress(NoDocuments):
        return [finding.explained for finding in check(case)]
    return []


def _without(case: AuditCase, found: Iterable[Doubt]) -> AuditCase:
    """Leave out, for the checks that follow, the runs of which something is found."""
    runs = (name for one in found for name in ([one.run] if one.run else case.runs))
    return replace(case, mismatched=case.mismatched.union(runs))
