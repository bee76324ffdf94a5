"""Click models compared: how well each predicts clicks that it did not learn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.clicks.click_counts import ClickCounts
from idealist.clicks.click_log import ClickLog, read_clicks
from idealist.clicks.click_model import MODELS
from idealist.clicks.estimates import EDGE
from idealist.data.columns import Floats, Ints
from idealist.errors import UsageError, nearest
from idealist.rendering.document import (
    COUNT,
    SIGNED,
    TEXT,
    Column,
    Details,
    Document,
    Doubts,
    Interval,
    Table,
    Text,
)
from idealist.rendering.plain_data import record
from idealist.rendering.result import Result
from idealist.rendering.wording import counted, number
from idealist.significance.means import FEWEST, quantile

#: How many held-out pages, and clicks on them, it takes to tell models apart. Suggested.
ENOUGH = 50, 10
#: The interval of the best model, and of others where there are too few queries.
UNKNOWN = Interval(math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class Foretold:
    """How well a model predicted the held-out pages.

    `likelihood` is the mean log-likelihood of a page, by the natural logarithm; `behind` what it
    lacks to the best model, with an interval over queries. `perplexities` are by position: 1 where
    every click is predicted, 2 where a coin says as much; `perplexity` is their mean.
    """

    model: str
    likelihood: float
    perplexity: float
    perplexities: Floats
    behind: float = 0.0
    interval: Interval = UNKNOWN


@dataclass(frozen=True, repr=False, eq=False)
class ClickModelComparison(Result):
    """Click models, the one that predicts best first."""

    log: ClickLog
    models: tuple[Foretold, ...]
    positions: Ints

    @property
    def best(self) -> Foretold:
        """The model that predicts best."""
        return self.models[0]

    @property
    def summary(self) -> str:
        """Which model predicts best, and whether others might be as good."""
        called, second = MODELS[self.best.model].called, self.models[1:2]
        held = int(self.log.held_out.pages.sum()), int(self.log.held_out.clicks.sum())
        pages = counted(held[0], "held-out page", "held-out pages")
        if held[0] < ENOUGH[0] or held[1] < ENOUGH[1]:
            clicks = counted(held[1], "click", "clicks")
            return f"{pages} with {clicks} cannot tell which model predicts clicks best"
        said = f"{self.best.model} ({called}) predicts clicks best on {pages}"
        if not second:
            return said
        sure = second[0].interval.high < 0
        ahead = f"{number(-second[0].behind)} of log-likelihood a page"
        rest = f", {ahead}" if sure else "; that may be chance"
        return f"{said}, {'ahead of' if sure else 'close to'} {second[0].model}{rest}"

    def report(self) -> Document:
        """Describe which model predicts best, position by position in the details."""
        rows = tuple(
            (one.model, one.likelihood, one.perplexity, one.behind or math.nan, one.interval)
            for one in self.models
        )
        columns = (
            Column("model", TEXT), Column("log-likelihood"), Column("perplexity"),
            Column("behind", SIGNED), Column("95 % interval", SIGNED),
        )  # fmt: skip
        held, learnt = (int(one.pages.sum()) for one in (self.log.held_out, self.log.learnt))
        notes = (
            Text(f"read: {self.log.name}: {self.log.read_as}; {self.log.summary}"),
            Text(f"learnt from {learnt:,} pages, tried on {held:,}: a fifth of the sessions"),
            Text("log-likelihood of a page; perplexity is 1 where every click is predicted, in the "
                 "mean over positions; the interval is over queries"),
            Doubts(self.log.doubts),
        )  # fmt: skip
        answer = Text(f"{self.summary}.", strong=True)
        details = Details("Perplexity by position", (self._by_position(),))
        return Document((answer, Table(columns, rows), details), notes)

    def _by_position(self) -> Table:
        rows = [
            (position, *(float(one.perplexities[i]) for one in self.models))
            for i, position in enumerate(self.positions.tolist())
        ]
        columns = Column("position", COUNT), *(Column(one.model) for one in self.models)
        return Table(columns, tuple(rows))

    def data(self) -> dict[str, Any]:
        """Return the contract of ``clicks --compare -f json``."""
        positions = list(map(str, self.positions.tolist()))
        models = [
            {"model": one.model, "log_likelihood": one.likelihood, "perplexity": one.perplexity,
             "behind": one.behind, "ci": list(one.interval),
             "perplexities": dict(zip(positions, one.perplexities.tolist(), strict=True))}
            for one in self.models
        ]  # fmt: skip
        learnt, held = (int(one.pages.sum()) for one in (self.log.learnt, self.log.held_out))
        return record({"models": models, "pages_learnt": learnt, "pages_held_out": held})


def compare_click_models(log: Any, models: Sequence[str] = tuple(MODELS)) -> ClickModelComparison:
    """Learn models on four sessions of five, and say how well they predict the clicks of the rest.

    Which sessions are held out follows from their names alone. Priors are fitted.

    >>> rows = [{"session": s, "query": "shoes", "document": d, "position": p, "clicked": d == "a"}
    ...         for s in range(40) for p, d in enumerate(("abc", "bac")[s % 2], 1)]
    >>> compare_click_models(rows, ["ctr", "coec"]).best.model
    'ctr'

    Reference: Dupret and Piwowarski 2008, doi:10.1145/1390334.1390392 (perplexity)
    """
    if unknown := [name for name in models if name not in MODELS]:
        raise UsageError(
            f"there is no click model {unknown[0]!r}", nearest(str(unknown[0]), MODELS)
        )
    if not models:
        raise UsageError("there is no model to compare", f"known: {', '.join(MODELS)}")
    found = log if isinstance(log, ClickLog) else read_clicks(log)
    found.check_clicks()
    learnt, held = found.learnt, found.held_out
    if not (len(learnt.query) and len(held.query)):
        message = f"{found.name} has too few sessions to hold some out"
        raise UsageError(message, "a fifth is held out, by a hash of its name: give a longer log")
    own: dict[str, tuple[Floats, Foretold]] = {}
    for name in dict.fromkeys(models):
        fit = MODELS[name].fitted(learnt)
        likelihoods = fit.likelihoods(held)
        total = float(likelihoods.sum()) / float(held.pages.sum())
        by_position = perplexities(held, fit.chances(held))
        own[name] = likelihoods, Foretold(name, total, float(by_position.mean()), by_position)
    order = sorted(own, key=lambda name: -own[name][1].likelihood)
    best = own[order[0]][0]
    ranked = [_behind(own[name][1], own[name][0] - best, held) for name in order]
    return ClickModelComparison(found, tuple(ranked), np.unique(held.position).astype(np.int64))


def perplexities(counts: ClickCounts, chance: Floats) -> Floats:
    """Compute the perplexity of clicks at each position.

    Formula: 2^(- mean log2 P(what was seen))
    """
    chance = np.clip(chance, EDGE, 1 - EDGE)
    own = counts.clicks * np.log(chance) + (counts.shown - counts.clicks) * np.log1p(-chance)
    _, place = np.unique(counts.position, return_inverse=True)
    found: Floats = np.exp(-np.bincount(place, own) / np.bincount(place, counts.shown))
    return found


def _behind(one: Foretold, lacks: Floats, held: ClickCounts) -> Foretold:
    """Say how far a model is behind the best, with an interval by queries (linearised ratio)."""
    if not lacks.any():
        return one
    pages, sums = (np.bincount(held.query, own) for own in (held.pages, lacks))
    pages, sums = pages[pages > 0], sums[pages > 0]
    size, mean = len(pages), float(sums.sum() / pages.sum())
    if size < FEWEST:
        return Foretold(one.model, one.likelihood, one.perplexity, one.perplexities, mean)
    error = math.sqrt(size / (size - 1) * float(np.sum((sums - mean * pages) ** 2))) / float(
        pages.sum()
    )
    half = quantile(0.975, size - 1) * error
    interval = Interval(mean - half, mean + half)
    return Foretold(one.model, one.likelihood, one.perplexity, one.perplexities, mean, interval)
