"""Doubts: what keeps a diagnosis from meaning anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from idealist.diagnosing.case import Case, Subject
from idealist.doubts.case import few
from idealist.evaluation import Doubt
from idealist.tables.columns import Bools

#: Of a first stage that lacks more of the judged documents than this, none of it is believed
#: (suggested).
FOREIGN = 0.5


def doubts(case: Case) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful about the runs, and about their belonging together."""
    return (*case.run.doubts, *_of_others(case), *_not_its_first_stage(case))


def belong(case: Case) -> bool:
    """Whether there is a first stage, with most of the run's judged documents."""
    first = case.first_stage
    return first is not None and first.matches and not _most(_foreign(case, first))


def _of_others(case: Case) -> Iterator[Doubt]:
    others = {id(one): one for one in (case.first_stage, case.other) if one}
    for one in others.values():
        for doubt in one.doubts:
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
