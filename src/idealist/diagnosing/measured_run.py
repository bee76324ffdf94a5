"""What is diagnosed: a run and what any measure makes of it, and other runs beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from idealist.data import Qrels, Queries
from idealist.data.columns import Bools, Floats
from idealist.errors import Defect
from idealist.evaluating.data_doubts import few_meet, missing, nothing_matches, unknown
from idealist.evaluating.doubt_case import audit_command
from idealist.evaluating.doubts import find_doubts
from idealist.evaluating.evaluator import Evaluator
from idealist.explaining.ladder import Ladder, ladder
from idealist.measures import parse
from idealist.measures.instrument import Instrument, Measured, measured
from idealist.ranking.placements import Placements
from idealist.rendering.doubt import Doubt
from idealist.rendering.wording import few


class MeasuredRun:
    """A ranked run, and what measures make of it, each computed once."""

    def __init__(self, evaluator: Evaluator, axes: Mapping[str, Any], run: Any) -> None:
        self._evaluator, self._axes = evaluator, axes
        self.ranked = evaluator.ranked(run)
        self.run = self.ranked.held
        self.measured, self.ladder = cache(self._measured), cache(self._ladder)

    @property
    def qrels(self) -> Qrels:
        """The judgments."""
        return self._evaluator.qrels

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.run.name

    def instrument(self, measure: str) -> Instrument:
        """Return a measure that was asked for, or set up another one by the same rules."""
        known = self._evaluator.instruments.get(measure)
        convention = self._evaluator.convention
        return known or convention.instrument(parse(measure), self._axes, self.qrels)

    def placements(self, measure: str) -> Placements:
        """Return the lists as a measure sees them."""
        return self.ranked[self.instrument(measure).protocol]

    def _measured(self, measure: str) -> Measured:
        """Measure the lists."""
        return measured(self.instrument(measure), self.placements(measure))

    def values(self, measure: str) -> Floats:
        """Return the value of each judged query; NaN if it has none or does not count."""
        found = self.measured(measure)
        return np.where(found.counted & ~found.gaps, found.values, np.nan)

    def _ladder(self, measure: str) -> Ladder:
        """Take apart what every query loses, cause by cause."""
        return ladder(self.instrument(measure), self.placements(measure))

    @cached_property
    def doubts(self) -> tuple[Doubt, ...]:
        """What speaks against a diagnosis: ids that do not match, missing and unknown queries.

        Other doubts of an evaluation are rules here, or causes of a loss.
        """
        case = self._evaluator.case(self.ranked)
        return find_doubts(case, (nothing_matches, few_meet, missing, unknown))

    @property
    def apart(self) -> tuple[Doubt, ...]:
        """The doubt that any id matches, if no judged document was retrieved."""
        found = (one for one in self.doubts if one.code == "nothing-matches")
        return tuple(one for one in found if one.severity == "error")

    @property
    def matches(self) -> bool:
        """Whether any judged document was retrieved for its query."""
        return not self.apart

    @property
    def audit(self) -> str:
        """How to audit the run and the judgments."""
        return audit_command(self._evaluator, self.qrels.name, self.run.source.name)

    @property
    def lists(self) -> Placements:
        """The lists, as the first measure that was asked for sees them."""
        return self.placements(next(iter(self._evaluator.instruments)))

    @cached_property
    def depth(self) -> int:
        """The length of the longest list."""
        return int(self.lists.retrieved.max(initial=0))


@dataclass(frozen=True, eq=False)
class Inputs:
    """Everything that a rule may look at.

    `first_stage` retrieved the documents that the run put in order, `baseline` is the run to
    compare with, `context` the number of documents that a language model reads, `texts` are the
    queries', and `slices` names the slice of each judged query.
    """

    run: MeasuredRun
    measures: tuple[str, ...]
    first_stage: MeasuredRun | None = None
    baseline: MeasuredRun | None = None
    context: int | None = None
    texts: Queries | None = None
    slices: tuple[str, ...] = ()

    @property
    def qrels(self) -> Qrels:
        """The judgments."""
        return self.run.qrels

    def changes(self, measure: str) -> Floats:
        """Subtract the values of the baseline, query by query."""
        if self.baseline is None:
            raise Defect("a rule compares with a run that was not given")
        return self.run.values(measure) - self.baseline.values(measure)

    @property
    def signal(self) -> str:
        """The column that says how useful a passage is to a language model; often there is none."""
        return next((name for name in ("abstain", "utility") if name in self.qrels.numbers), "")

    @property
    def signed(self) -> bool:
        """Whether that column has utilities below 0, of passages that mislead."""
        return bool(np.any(self.qrels.numbers[self.signal] < 0)) if self.signal else False

    @property
    def marked(self) -> bool:
        """Whether anything says which passages mislead: that column, or grades below 0."""
        return bool(self.signal) or bool(np.any(self.qrels.grades < 0))

    @property
    def udcg(self) -> str:
        """The measure of what a context is worth; empty without a column that it can read."""
        if not self.signal or self.signed or self.context is None:
            return ""
        return f"UDCG(signal={self.signal})@{self.context}"


#: A first stage that lacks more of the run's judged documents than this is not believed to be one
#: (suggested).
FOREIGN = 0.5


def doubts(inputs: Inputs) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful about the runs, and about their belonging together."""
    return (*inputs.run.doubts, *_of_others(inputs), *_not_its_first_stage(inputs))


def belong(inputs: Inputs) -> bool:
    """Whether there is a first stage, with most of the run's judged documents."""
    first = inputs.first_stage
    return first is not None and first.matches and not _most(_foreign(inputs, first))


def _of_others(inputs: Inputs) -> Iterator[Doubt]:
    others = {id(one): one for one in (inputs.first_stage, inputs.baseline) if one}
    for one in others.values():
        for doubt in one.doubts:
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
