"""Doubts: what keeps a diagnosis from meaning anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from idealist.data.columns import Bools
from idealist.diagnosing.rules import OF_CONTEXT
from idealist.diagnosing.ruling import Ruling
from idealist.diagnosing.subject import Case, Subject
from idealist.evaluating.doubt_case import few
from idealist.report.doubt import Doubt

#: Of a first stage that lacks more of the judged documents than this, none of it is believed
#: (suggested).
FOREIGN = 0.5
#: The ranks at which ids are seen to meet, and the share that is too small to believe (suggested;
#: of twelve runs of TREC-COVID round 1 the least has 0.26).
SEEN, MEETING = 10, 0.2


def doubts(case: Case) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful about the runs, and about their belonging together."""
    return (*of_one(case.run), *_of_others(case), *_not_its_first_stage(case))


def belong(case: Case) -> bool:
    """Whether there is a first stage, with most of the run's judged documents."""
    first = case.first_stage
    return first is not None and first.matches and not _most(_foreign(case, first))


def of_one(subject: Subject) -> Iterator[Doubt]:
    """Look for what is doubtful about a run by itself."""
    yield from subject.doubts
    if subject.matches:
        yield from _few_meet(subject)


def _few_meet(subject: Subject) -> Iterator[Doubt]:
    """Look for ids of which only some meet: what seems not to be retrieved may only be misnamed.

    Judgments may be sparse, so that what is found is held against what could be.
    """
    lists = subject.lists
    could = int(np.minimum(SEEN, np.minimum(lists.retrieved, np.diff(subject.qrels.starts))).sum())
    count = int(np.count_nonzero(lists.rank <= SEEN))
    if count < MEETING * could:
        message = (
            f"of the {could} judged documents that could be among the first {SEEN}, {count} are: "
            f"do all ids match? Audit them: {subject.audit}"
        )
        yield Doubt("few-meet", message, count)


def _of_others(case: Case) -> Iterator[Doubt]:
    others = {id(one): one for one in (case.first_stage, case.other) if one}
    for one in others.values():
        for doubt in of_one(one):
            yield replace(doubt, message=f"{one.run.name}: {doubt.message}")


def _not_its_first_stage(case: Case) -> Iterator[Doubt]:
    """Look for documents that a reranker cannot have from the first stage."""
    first = case.first_stage
    if first is None or not first.matches:
        return
    foreign, lists = _foreign(case, first), case.run.placements(case.measures[0])
    if not foreign.any():
        return
    count = int(foreign.sum())
    queries = tuple(case.qrels.queries[i] for i in np.unique(lists.query[foreign]).tolist())
    message = (
        f"{first.run.name} lacks {count} of the {len(foreign)} judged documents that "
        f"{case.run.run.name} has ({few(queries)}): "
    )
    if _most(foreign):
        message += "it is not its first stage, and the two are not taken apart"
    else:
        message += "is it its first stage? What they are worth counts as gained by reranking"
    yield Doubt("not-its-first-stage", message, count, queries)


def _most(foreign: Bools) -> bool:
    return bool(foreign.sum() > FOREIGN * len(foreign))


def _foreign(case: Case, first: Subject) -> Bools:
    """Say which judged documents of the run the first stage does not have."""
    label = case.measures[0]
    mine, found = case.run.placements(label).judgment, first.placements(label).judgment
    return ~np.isin(mine, found)


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
