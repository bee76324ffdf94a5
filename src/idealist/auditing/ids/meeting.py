"""What `eval`, `compare` and `explain` do where no id, or hardly any, meets: ask how to repair it.

Nothing is looked at as long as ids meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from idealist.auditing.audit_case import examine
from idealist.auditing.ids import repairs
from idealist.auditing.ids.id_words import all_repairs, finding_of, remedy_of
from idealist.data import Run
from idealist.errors import UsageError
from idealist.evaluating.doubt_case import audit_command
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluator import Evaluator
from idealist.ranking.stored_placements import has_documents
from idealist.rendering.doubt import BEFORE_VALUES, Doubt


def met(
    evaluations: Sequence[Evaluation], qrels: Any, runs: Sequence[Run], typed: Sequence[str],
    **settings: Any,
) -> list[Evaluation]:  # fmt: skip
    """Refuse runs of which not one id meets; doubt those of which few do with what would repair it.

    `typed` are the words of the command that was given, and `settings` those of the evaluations.
    Where no id meets but ids are written alike, nothing was found, and that is a measurement.
    """
    doubted = {one.run: doubt for one in evaluations if (doubt := _doubted(one))}
    if not doubted:
        return [*evaluations]
    if not all(map(has_documents, runs)):  # what would repair it is not in a bundle
        return _refused_bundles(evaluations, doubted)
    queries = settings.pop("queries", None)
    evaluator = Evaluator(qrels, queries=queries, **settings)
    case = examine(evaluator, list(runs), settings)
    findings, states = repairs(case)
    files = evaluator.qrels.name, *(run.source.name for run in runs)
    command = all_repairs(case, states, typed) or audit_command(evaluator, *files)
    found = {
        run: [one.explained for one in findings if one.run in ("", run)] or [doubt]
        for run, doubt in doubted.items()
    }
    apart = {
        run: errors
        for run, doubt in doubted.items()
        if doubt.code == "nothing-matches"
        and (errors := [one for one in found[run] if one.severity == "error"])
    }
    if apart:
        raise _nothing_measured(apart, command)
    return [_told(one, found[one.run], command) if one.run in found else one for one in evaluations]


def _doubted(evaluation: Evaluation) -> Doubt | None:
    """Return the doubt that ids meet, if there is one."""
    return next((one for one in evaluation.doubts if one.code in BEFORE_VALUES), None)


def _refused_bundles(
    evaluations: Sequence[Evaluation], doubted: Mapping[str, Doubt]
) -> list[Evaluation]:
    """Refuse bundles of runs of which no id meets; where few do, the doubt says so."""
    apart = [run for run, doubt in doubted.items() if doubt.code == "nothing-matches"]
    if apart:
        message = f"no id of {' and '.join(apart)} matches the judgments, so nothing was measured"
        raise UsageError(message, "idealist audit QRELS RUN says why; then make the bundle anew")
    return [*evaluations]


def _nothing_measured(found: dict[str, list[Doubt]], command: str) -> UsageError:
    """Say of each run what keeps its ids from meeting, what to do, and the command that does it."""
    said: dict[str, list[str]] = {}
    for run, errors in found.items():
        said.setdefault("; ".join(map(finding_of, errors)), []).append(run)
    lines = (
        f"no id of {' and '.join(runs)} matches the judgments, so nothing was measured: {why}"
        for why, runs in said.items()
    )
    remedies = dict.fromkeys(remedy_of(one) for errors in found.values() for one in errors)
    return UsageError("\n".join(lines), f"{'; '.join(remedies)}:\n    {command}")


def _told(evaluation: Evaluation, findings: Sequence[Doubt], command: str) -> Evaluation:
    """Say what was found about ids in the doubt that they meet."""
    said = "; ".join(map(finding_of, findings))
    doubts = tuple(
        replace(one, finding=said, severity=findings[0].severity, command=command)
        if one.code in BEFORE_VALUES
        else one
        for one in evaluation.doubts
    )
    return replace(evaluation, doubts=doubts)
