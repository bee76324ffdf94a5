"""Headroom: what a perfect reranker of the first documents would reach, and a first stage."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from idealist.diagnosing.case import Subject
from idealist.diagnosing.losses import Losses
from idealist.ladder import decided, without_ties
from idealist.measures import Measure
from idealist.measuring import measured
from idealist.placements import Placements
from idealist.plain_data import finite
from idealist.tables.columns import Floats

#: How many documents rerankers are given.
TOPS = (10, 50, 100)
ALL = "all"
FIRST = "first stage"


@dataclass(frozen=True, eq=False)
class Headroom:
    """The mean of a measure with each stage put right, in turn.

    `stages` holds, by stage, the value of every judged query: ``10`` with the first ten documents
    in ideal order, ``all`` with the whole list in it, and ``first stage`` with the best documents
    there are, as many as the longest list of the run.
    """

    losses: Losses
    depth: int
    stages: dict[str, Floats] = field(repr=False)

    @property
    def means(self) -> dict[str, float]:
        """The mean at each stage."""
        return {stage: self.losses.mean(values) for stage, values in self.stages.items()}

    def words(self, stage: str) -> str:
        """Say what a stage is."""
        if stage == ALL:
            return "a perfect reranker of all retrieved"
        if stage == FIRST:
            return f"and a perfect first stage, {self.depth} deep"
        return f"a perfect reranker of the top {stage}"

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {stage: finite(value) for stage, value in self.means.items()}


def headroom(subject: Subject, losses: Losses) -> Headroom:
    """Measure the lists with each stage put right; a stage never makes a list worse."""
    tops = [top for top in TOPS if top < subject.depth]
    stages = {str(top): after(subject, losses.measure, top) for top in tops}
    stages[ALL] = after(subject, losses.measure)
    stages[FIRST] = _found(subject, losses, stages[ALL])
    return Headroom(losses, subject.depth, stages)


def after(subject: Subject, name: str, top: int | None = None) -> Floats:
    """Measure the lists after a perfect reranker of their first documents, or of all."""
    instrument, found = subject.instrument(name), subject.ladder(name)
    lists = reranked(instrument.measure, subject.placements(name), top)
    return better(found.direction, found.actual, measured(instrument, lists).values)


def _found(subject: Subject, losses: Losses, ordered: Floats) -> Floats:
    """Measure lists of the best documents there are, as deep as the run goes."""
    found, depth = losses.ladder, subject.depth
    best = measured(subject.instrument(losses.measure), found.best.cut(depth)).values
    whole = found.best.retrieved <= depth
    return better(found.direction, ordered, np.where(whole, found.ideal, best))


def better(direction: int, before: Floats, values: Floats) -> Floats:
    """Give the better value of each query; NaN where there was none before."""
    either: Floats = (np.fmax if direction > 0 else np.fmin)(before, values)
    return np.where(np.isnan(before), np.nan, either)


def reranked(measure: Measure, placements: Placements, top: int | None = None) -> Placements:
    """Put the first documents of each list in the order that is worth most.

    What is worth something stands first, then what is unjudged, then the rest; the documents below
    stay where they are.
    """
    lists = without_ties(measure, decided(placements))
    limit = lists.retrieved if top is None else np.minimum(lists.retrieved, top)
    near = lists.rank <= limit[lists.query]
    worth = np.where(near, measure.worth(lists), 0.0)
    order = np.lexsort((-lists.grade, -worth, np.where(near, 0, lists.rank), lists.query))
    place = np.arange(len(order)) - lists.starts[lists.query] + 1
    judged = np.bincount(lists.query[near], minlength=len(limit))
    last = (limit - judged)[lists.query] + place
    rank = np.where(near, np.where(worth[order] > 0, place, last), lists.rank)
    return replace(
        lists,
        rank=rank, first=rank, last=rank,
        score=lists.score[order], judgment=lists.judgment[order],
    )  # fmt: skip
