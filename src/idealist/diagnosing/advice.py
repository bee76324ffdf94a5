"""Advice: of all that could be done about a run, what to do first."""

from __future__ import annotations

from collections.abc import Iterable

from idealist.diagnosing.case import Subject
from idealist.diagnosing.doubting import of_one
from idealist.diagnosing.rules_of_context import OF_CONTEXT
from idealist.diagnosing.ruling import Ruling

#: The doubts that make everything else void: ids that do not meet.
VOID = {"nothing-matches", "few-meet"}
#: The rules about what a cause takes, the most telling first.
ABOUT: dict[str, tuple[str, ...]] = {
    "duplicates": ("duplicates",),
    "ties": ("ties",),
    "unjudged": ("condensed", "holes"),
    "order": ("order", "rerank", "not-first"),
    "cutoff": ("order", "rerank", "not-first"),
    "missing": ("first-stage", "unanswered"),
}


def advice(run: Subject, cause: str, rulings: Iterable[Ruling]) -> str:
    """Say what to do first; nothing where no rule fires.

    Ids come first, then the context, where a model reads one, then what most is lost to (`cause`),
    then whatever fires.
    """
    if VOID.intersection(doubt.code for doubt in of_one(run)):
        return f"see whether the ids match: {run.audit}"
    actions = {one.rule.id: one.rule.action for one in rulings if one.state == "fires"}
    wanted = (*(rule.id for rule in OF_CONTEXT), *ABOUT.get(cause, ()), *actions)
    return next((f"{actions[rule]} ({rule})" for rule in wanted if rule in actions), "")
