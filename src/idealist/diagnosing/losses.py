"""What is lost and what could be won: losses by cause, headroom, two stages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.diagnosing.measured_run import MeasuredRun
from idealist.errors import UsageError
from idealist.explaining.ladder import CAUSES, Ladder, decided
from idealist.measures import Measure
from idealist.measures.instrument import measured
from idealist.ranking.placements import Placements
from idealist.rendering.plain_data import finite

#: A loss smaller than this is rounding.
NOTHING = 1e-12
#: How many queries are named for a cause.
NAMED = 3


@dataclass(frozen=True, eq=False)
class Losses:
    """What the mean of a measure loses, by cause; `value` and the loss make up the `ideal`.

    >>> from idealist.diagnosing import diagnose
    >>> found = diagnose({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["u", "a"]}, "RR@10")
    >>> found.losses["RR@10"].by_cause["unjudged"], found.losses["RR@10"].behind("missing")
    (0.25, {'q2': 1.0})
    """

    measure: str
    ladder: Ladder = field(repr=False)

    @property
    def counted(self) -> Bools:
        """Which of the judged queries the mean is made of."""
        return self.ladder.counted & ~np.isnan(self.ladder.loss)

    @property
    def queries(self) -> int:
        """How many they are."""
        return int(self.counted.sum())

    def only(self, queries: Bools) -> Losses:
        """Keep some of the judged queries."""
        return Losses(self.measure, replace(self.ladder, counted=self.ladder.counted & queries))

    def mean(self, values: Floats) -> float:
        """Average values over these queries."""
        return math.fsum(values[self.counted]) / self.queries if self.queries else math.nan

    @property
    def value(self) -> float:
        """The mean as it is."""
        return self.mean(self.ladder.actual)

    @property
    def ideal(self) -> float:
        """The mean of the ideal lists."""
        return self.mean(self.ladder.ideal)

    @property
    def by_cause(self) -> dict[str, float]:
        """What each cause takes from the mean."""
        return self.ladder.mean()

    @property
    def loss(self) -> float:
        """All that is lost."""
        return math.fsum(self.by_cause.values())

    def behind(self, cause: str) -> dict[str, float]:
        """Return the queries that lose to a cause, and how much, those that lose most first."""
        return self.most(self.ladder.losses[cause])

    def most(self, values: Floats) -> dict[str, float]:
        """Return the counted queries with a value above 0, the greatest first."""
        some = np.flatnonzero(self.counted & (values > NOTHING))
        order = some[np.argsort(-values[some], kind="stable")].tolist()
        return {self.ladder.queries[i]: float(values[i]) for i in order}

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        causes = {
            cause: {"words": CAUSES[cause], "lost": finite(lost), "queries": self.behind(cause)}
            for cause, lost in self.by_cause.items()
        }
        return {
            "value": finite(self.value), "ideal": finite(self.ideal), "loss": finite(self.loss),
            "queries": self.queries, "causes": causes,
        }  # fmt: skip


def losses(run: MeasuredRun, measure: str) -> Losses:
    """Take apart what a run loses of a measure."""
    aggregate = run.instrument(measure).aggregate.aggregate
    found = Losses(measure, run.ladder(measure))
    if aggregate.startswith("weighted("):
        raise UsageError("losses do not weigh queries", "leave out the weights")
    if aggregate != "mean":
        hint = "diagnose a measure whose queries are averaged, such as nDCG@10 or AP"
        raise UsageError(f"losses add up only in a mean, and {measure} is a {aggregate}", hint)
    return found


#: How many documents rerankers are given.
TOPS = (10, 50, 100)
ALL = "all"
FIRST = "first stage"


@dataclass(frozen=True, eq=False)
class Headroom:
    """The mean of a measure with each stage made perfect, in turn.

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

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {stage: finite(value) for stage, value in self.means.items()}


def headroom(run: MeasuredRun, losses: Losses) -> Headroom:
    """Measure the lists with each stage made perfect; a stage never makes a list worse."""
    tops = [top for top in TOPS if top < run.depth]
    stages = {str(top): after(run, losses.measure, top) for top in tops}
    stages[ALL] = after(run, losses.measure)
    stages[FIRST] = _found(run, losses, stages[ALL])
    return Headroom(losses, run.depth, stages)


def after(run: MeasuredRun, name: str, top: int | None = None) -> Floats:
    """Measure the lists after a perfect reranker of their first `top` documents, or of all.

    Which documents are the first is decided as the run's ties are. Where a value is the mean over
    all orders of ties, ties by document id decide, and what is won there is added to that mean.
    """
    instrument, found = run.instrument(name), run.ladder(name)
    lists = in_one_order(run.placements(name))
    reached = measured(instrument, reranked(instrument.measure, lists)).values
    if top is not None:
        now, then = (
            measured(instrument, one).values
            for one in (lists, reranked(instrument.measure, lists, top))
        )
        reached = better(-found.direction, reached, found.actual + (then - now))
    return better(found.direction, found.actual, reached)


def _found(run: MeasuredRun, losses: Losses, ordered: Floats) -> Floats:
    """Measure lists of the best documents there are, as deep as the run goes."""
    found, depth = losses.ladder, run.depth
    best = measured(run.instrument(losses.measure), found.best.cut(depth)).values
    whole = found.best.retrieved <= depth
    return better(found.direction, ordered, np.where(whole, found.ideal, best))


def better(direction: int, before: Floats, values: Floats) -> Floats:
    """Return the better value of each query; NaN if there was none before."""
    either: Floats = (np.fmax if direction > 0 else np.fmin)(before, values)
    return np.where(np.isnan(before), np.nan, either)


def in_one_order(placements: Placements) -> Placements:
    """Keep the order that ties are in, and forget that they are ties."""
    lists = decided(placements)
    return replace(lists, first=lists.rank, last=lists.rank) if lists.tied else lists


def reranked(measure: Measure, lists: Placements, top: int | None = None) -> Placements:
    """Put the first documents of lists without ties in the best order; all, without `top`.

    Documents with a gain come first, then unjudged ones, then the rest; the documents below stay
    where they are.
    """
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


#: The parts, in words; gained - lost + left + beyond is all that the first stage loses.
PARTS: dict[str, str] = {
    "gained": "gained by reranking",
    "lost": "lost by reranking",
    "left": "a perfect reranker would add",
    "beyond": "no reranker could add",
}


@dataclass(frozen=True, eq=False)
class Stages:
    """What a run made of its first stage, in the mean of a measure.

    `first` is the first stage's mean, `depth` its longest list. `parts` holds for every judged
    query what reranking `gained` and `lost`, what a perfect reranker of the same documents would
    add (`left`), and what none could, because the first stage did not find it (`beyond`). Where the
    run has better documents than its first stage, a perfect reranker adds nothing. Only `beyond`
    may be below 0, of a measure that finding more makes worse, such as ARP.
    """

    losses: Losses
    first: float
    depth: int
    parts: Mapping[str, Floats] = field(repr=False)

    @property
    def means(self) -> dict[str, float]:
        """Each part, in the mean."""
        return {name: self.losses.mean(values) for name, values in self.parts.items()}

    def behind(self, part: str) -> dict[str, float]:
        """Return the queries of a part, and how much each has of it, those with most first."""
        return self.losses.most(self.parts[part])

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        parts = {
            part: {"words": PARTS[part], "mean": finite(mean), "queries": self.behind(part)}
            for part, mean in self.means.items()
        }
        return {"first_stage": finite(self.first), "run": finite(self.losses.value), **parts}


def stages(first: MeasuredRun, losses: Losses) -> Stages:
    """Take apart what separates a first stage from the ideal lists.

    Formula: ideal - first = (gained - lost) + (best - run) + (ideal - best), best the best order of
    the first stage's documents, or the run where that is better
    """
    found, before = losses.ladder, first.measured(losses.measure).values
    best = better(found.direction, found.actual, after(first, losses.measure))
    change = found.direction * (found.actual - before)
    parts = {
        "gained": np.maximum(change, 0.0),
        "lost": np.maximum(-change, 0.0),
        "left": found.direction * (best - found.actual),
        "beyond": found.direction * (found.ideal - best),
    }
    return Stages(losses, losses.mean(before), first.depth, parts)
