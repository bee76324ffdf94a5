"""A click model of a log: what it says of each document, as grades with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from idealist.clicks import click_report
from idealist.clicks.chain_models import ChainModel, DynamicModel, SimplifiedDBN
from idealist.clicks.click_log import ClickLog, read_clicks
from idealist.clicks.click_rates import ClickRate, ClicksOverExpected, position_rates
from idealist.clicks.estimates import Estimates
from idealist.clicks.position_model import PositionModel
from idealist.data import Qrels, Scale
from idealist.data.columns import Bools, Floats, Ints, freeze, starts_of
from idealist.errors import UsageError, nearest
from idealist.rendering.document import Document, Table
from idealist.rendering.doubt import Doubt
from idealist.rendering.figure import Figure
from idealist.rendering.figures import click_figures
from idealist.rendering.plain_data import record, records_table
from idealist.rendering.result import Figures, Result
from idealist.significance.beta_rates import Beta

#: The models by name.
MODELS: dict[str, Any] = {
    "ctr": ClickRate, "coec": ClicksOverExpected, "pbm": PositionModel, "sdbn": SimplifiedDBN,
    "dbn": DynamicModel,
}  # fmt: skip
#: How many impressions a document needs to be graded, and the highest grade. Suggested.
LEAST, SCALE = 10, 3
#: Which shares of the documents get at least the lowest grade above 0, and the highest. Suggested.
MOST_GRADED, BEST = 0.5, 0.05
#: By which part of itself an estimate may differ from one that is the same: EM stops this close.
ALIKE = 1e-6


@dataclass(frozen=True, repr=False, eq=False)
class ClickModel(Result):
    """A model of a log of clicks, and grades made of it.

    `fit` holds the parameters. A document is graded if it was shown `least` times: its grade is how
    many of the `cuts` its estimate reaches, and 0 if nobody clicked it.
    """

    name: str
    log: ClickLog
    fit: Any
    least: int
    cuts: tuple[float, ...]
    given_cuts: bool = False
    given_prior: bool = False

    @property
    def estimates(self) -> Estimates:
        """How relevant each pair of query and document is, with its interval."""
        found: Estimates = self.fit.relevance
        return found

    @cached_property
    def impressions(self) -> Ints:
        """How often each pair was shown."""
        counts = self.log.counts
        return counts.by_pair(counts.shown).astype(np.int64)

    @cached_property
    def clicks(self) -> Ints:
        """How often each pair was clicked."""
        counts = self.log.counts
        return counts.by_pair(counts.clicks).astype(np.int64)

    @cached_property
    def is_graded(self) -> Bools:
        """Which pairs were shown often enough, and have an estimate."""
        return enough(self.impressions, self.estimates, self.least)

    @cached_property
    def grade(self) -> Ints:
        """The grade of each pair, whether it was shown often enough or not."""
        reached = np.searchsorted(self.cuts, self.estimates.value, side="right")
        return np.where(self.clicks > 0, reached, 0)

    @cached_property
    def is_sure(self) -> Bools:
        """Which pairs have the same grade wherever in its interval the estimate lies."""
        _, low, high = (np.searchsorted(self.cuts, one, side="right") for one in self.estimates)
        found: Bools = (low == self.grade) & (high == self.grade)
        return found

    @cached_property
    def grades(self) -> Qrels:
        """The grades as judgments; a document without a grade is unjudged."""
        counts, some = self.log.counts, np.flatnonzero(self.is_graded)
        query = counts.pair_query[some]
        known, sizes = np.unique(query, return_counts=True)
        return Qrels(
            queries=tuple(counts.queries[i] for i in known.tolist()),
            starts=freeze(starts_of(sizes)),
            documents=tuple(counts.documents[i] for i in counts.pair_document[some].tolist()),
            grades=freeze(self.grade[some].astype(np.float64)),
            scale=Scale.of(len(self.cuts)),
            name=f"clicks-{self.name}",
            meant="pooled",
        )

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """The queries none of whose documents was shown often enough, the most frequent first."""
        counts = self.log.counts
        graded = np.zeros(len(counts.queries), bool)
        graded[counts.pair_query[self.is_graded]] = True
        pages = np.bincount(counts.query, counts.pages, len(counts.queries))
        left = np.flatnonzero(~graded & (pages > 0))
        return tuple(counts.queries[i] for i in left[np.argsort(-pages[left], kind="stable")])

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What is doubtful about the log, the model and the grades."""
        return (*self.log.doubts, *click_report.model_doubts(self))

    @property
    def summary(self) -> str:
        """What was graded, of what, in one sentence."""
        return click_report.summary(self)

    def report(self) -> Document:
        """Describe the grades, how far users look, and what was left out."""
        return click_report.report(self)

    @property
    def figures(self) -> Figures:
        """The figure of how far users look."""
        return Figures({"examination": self._examination})

    def _examination(self) -> Figure:
        positions, shown, clicks = position_rates(self.log.counts)
        looked = np.array(self.fit.curve.examined)
        rows = zip(positions.tolist(), *looked.tolist(), (clicks / shown).tolist(), strict=True)
        looks = [click_figures.Look(*one) for one in rows]
        return click_figures.examination(self.fit.called, looks)

    def table(self) -> Table:
        """Return every pair of query and document with its estimate; no grade where it was rare."""
        return records_table(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        counts = self.log.counts
        graded = zip(self.grade.tolist(), self.is_graded.tolist(), strict=True)
        names = ("estimate", "low", "high")
        columns: dict[str, Any] = {
            "query": [counts.queries[i] for i in counts.pair_query.tolist()],
            "document": [counts.documents[i] for i in counts.pair_document.tolist()],
            "grade": [int(one) if some else None for one, some in graded],
            "impressions": self.impressions.tolist(), "clicks": self.clicks.tolist(),
            **{key: own.tolist() for key, own in zip(names, self.estimates, strict=True)},
        }  # fmt: skip
        if isinstance(self.fit, ChainModel):
            parts = {
                "attractiveness": self.fit.attractiveness,
                "satisfaction": self.fit.satisfaction,
            }
            columns |= {name: own.rates.value.tolist() for name, own in parts.items()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def data(self) -> dict[str, Any]:
        """Return the contract of ``clicks -f json``."""
        looked = self.fit.curve
        rows = zip(looked.positions.tolist(), *np.array(looked.examined).tolist(), strict=True)
        names = ("position", "looked_at", "low", "high")
        return record({
            "model": self.name, "log": self.log.name, "pages": self.log.pages,
            "clicks": self.log.clicks, "least": self.least, "cuts": self.cuts,
            "parameters": click_report.parameters(self),
            "examination": [dict(zip(names, row, strict=True)) for row in rows],
            "documents": self._rows(), "left_out": self.left_out,
            "doubts": [one.data() for one in self.doubts],
        })  # fmt: skip


def enough(impressions: Ints, estimates: Estimates, least: int) -> Bools:
    """Say which pairs can be graded."""
    found: Bools = (impressions >= least) & np.isfinite(estimates.value)
    return found


def click_model(
    log: Any,
    model: str = "pbm",
    *,
    prior: Any = None,
    least: int = LEAST,
    scale: int = SCALE,
    cuts: Sequence[float] | None = None,
    queries: Any = None,
) -> ClickModel:
    """Estimate a click model, and grade documents by it.

    `log` is what `read_clicks` returns, or takes. `model` is ctr, coec, pbm, sdbn or dbn. `prior`
    are clicks and skips to add to each document, fitted to the log if None; (0, 0) adds none.
    Documents shown fewer than `least` times get no grade, and those never clicked get 0. Grades go
    from 0 to `scale`: without `cuts`, at most half of the documents get at least 1 and one in
    twenty the highest, with even factors between them; `cuts` are the estimates from which on a
    document gets 1, 2 and so on. `queries` name the queries of the log, which are texts:
    {"q1": "red shoes"}, or a file.

    >>> shown = [("a", 1, 1), ("b", 2, 0), ("c", 3, 0)]
    >>> rows = [{"session": s, "query": "shoes", "document": d, "position": p, "clicked": c}
    ...         for s in range(20) for d, p, c in shown]
    >>> found = click_model(rows, "ctr", prior=(0, 0), cuts=[0.5])
    >>> found.grades.to_dict()
    {'shoes': {'a': 1, 'b': 0, 'c': 0}}
    """
    if model not in MODELS:
        raise UsageError(f"there is no click model {model!r}", nearest(str(model), MODELS))
    if not isinstance(least, int) or least < 1:
        raise UsageError(f"least cannot be {least!r}", "give a whole number of at least 1")
    found = log if isinstance(log, ClickLog) else read_clicks(log)
    found = found if queries is None else found.named(queries)
    found.check_clicks()
    fit = MODELS[model].fitted(found.counts, checked_prior(prior))
    counts = found.counts
    some = enough(counts.by_pair(counts.shown).astype(np.int64), fit.relevance, least)
    liked = np.where(counts.by_pair(counts.clicks) > 0, fit.relevance.value, 0.0)[some]
    chosen = checked_cuts(cuts) if cuts is not None else usual_cuts(liked, scale)
    return ClickModel(model, found, fit, least, chosen, cuts is not None, prior is not None)


def checked_prior(prior: Any) -> Beta | None:
    """Read a prior: None, or two numbers."""
    if prior is None:
        return None
    try:
        clicks, skips = map(float, prior)
        if (clicks, skips) == (0, 0) or (0 < clicks < math.inf and 0 < skips < math.inf):
            return Beta(clicks, skips)
    except (TypeError, ValueError):
        pass
    hint = "give two positive numbers, clicks and skips to add; (0, 0) adds none"
    raise UsageError(f"prior cannot be {prior!r:.60}", hint)


def checked_cuts(cuts: Sequence[float]) -> tuple[float, ...]:
    """Read cuts: numbers that rise."""
    try:
        found = tuple(map(float, cuts))
    except (TypeError, ValueError):
        found = ()
    if not found or any(not b > a for a, b in pairwise((-math.inf, *found))):
        hint = "give the estimates from which on grades are 1, 2 and so on: [0.05, 0.1, 0.2]"
        raise UsageError(f"cuts cannot be {cuts!r:.60}", hint)
    return found


def usual_cuts(estimates: Floats, scale: int) -> tuple[float, ...]:
    """Cut estimates so that half of them reach grade 1, and one in twenty the highest grade.

    Those that are the same get the same grade, the lower one: the cut is the next larger estimate,
    or NaN where none is larger. Estimates of 0 reach none.

    >>> usual_cuts(np.arange(100) / 100, 3)
    (0.5, 0.84, 0.95)
    >>> usual_cuts(np.array([0.1, 0.1, 0.1, 0.4]), 1)
    (0.4,)
    """
    if not isinstance(scale, int) or not 1 <= scale <= 100:
        raise UsageError(f"scale cannot be {scale!r}", "give the highest grade, such as 3")
    if not len(estimates):
        return (math.nan,) * scale
    ranked = np.sort(estimates)
    larger = np.append(True, np.diff(ranked) > ALIKE * ranked[1:])
    firsts = np.flatnonzero(larger & (ranked > 0))
    shares = np.geomspace(MOST_GRADED, BEST, scale)
    ranks = np.quantile(np.arange(len(ranked)), 1 - shares, method="higher")
    return tuple(np.append(ranked[firsts], math.nan)[np.searchsorted(firsts, ranks)].tolist())
