"""Doubts about the runs of a diagnosis: ids that do not match, runs that do not belong together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from idealist.data.columns import Bools
from idealist.diagnosing.measured_run import Inputs, MeasuredRun
from idealist.report.doubt import Doubt
from idealist.report.wording import few

#: A first stage that lacks more of the run's judged documents than this is not believed to be one
#: (suggested).
FOREIGN = 0.5
#: How many ranks are searched for judged documents, and the share found below which ids are doubted
#: (suggested; of twelve runs of TREC-COVID round 1 the lowest has 0.26).
SEEN, MEETING = 10, 0.2


def doubts(inputs: Inputs) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful about the runs, and about their belonging together."""
    return (*of_one(inputs.run), *_of_others(inputs), *_not_its_first_stage(inputs))


def belong(inputs: Inputs) -> bool:
    """Whether there is a first stage, with most of the run's judged documents."""
    first = inputs.first_stage
    return first is not None and first.matches and not _most(_foreign(inputs, first))


def of_one(run: MeasuredRun) -> Iterator[Doubt]:
    """Look for what is doubtful about a run by itself."""
    yield from run.doubts
    if run.matches:
        yield from _few_meet(run)


def void(run: MeasuredRun) -> bool:
    """Whether ids may not match, which would make everything else void."""
    return any(doubt.code in ("nothing-matches", "few-meet") for doubt in of_one(run))


def _few_meet(run: MeasuredRun) -> Iterator[Doubt]:
    """Look for ids that match only in part: what seems not to be retrieved may only be misnamed.

    Judgments may be sparse, so what is found is compared with what could be.
    """
    lists = run.lists
    could = int(np.minimum(SEEN, np.minimum(lists.retrieved, np.diff(run.qrels.starts))).sum())
    count = int(np.count_nonzero(lists.rank <= SEEN))
    if count < MEETING * could:
        message = (
            f"the first {SEEN} documents could hold {could} judged ones and hold {count}: "
            f"do all ids match? Audit them: {run.audit}"
        )
        yield Doubt("few-meet", message, count)


def _of_others(inputs: Inputs) -> Iterator[Doubt]:
    others = {id(one): one for one in (inputs.first_stage, inputs.baseline) if one}
    for one in others.values():
        for doubt in of_one(one):
            yield replace(doubt, finding=f"{one.name}: {doubt.finding}")


def _not_its_first_stage(inputs: Inputs) -> Iterator[Doubt]:
    """Look for documents that a reranker cannot have from the first stage."""
    first = inputs.first_stage
    if first is None or not first.matches:
        return
    foreign, lists = _foreign(inputs, first), inputs.run.placements(inputs.measures[0])
    if not foreign.any():
        return
    count = int(foreign.sum())
    queries = tuple(inputs.qrels.queries[i] for i in np.unique(lists.query[foreign]).tolist())
    message = (
        f"{first.name} lacks {count} of the {len(foreign)} judged documents that "
        f"{inputs.run.name} has ({few(queries)}): "
    )
    if _most(foreign):
        message += "it is not its first stage, so the two stages are not taken apart"
    else:
        message += "is it its first stage? What they add counts as gained by reranking"
    yield Doubt("not-its-first-stage", message, count, queries)


def _most(foreign: Bools) -> bool:
    return bool(foreign.sum() > FOREIGN * len(foreign))


def _foreign(inputs: Inputs, first: MeasuredRun) -> Bools:
    """Find the judged documents of the run that the first stage does not have."""
    label = inputs.measures[0]
    mine, found = inputs.run.placements(label).judgment, first.placements(label).judgment
    return ~np.isin(mine, found)
