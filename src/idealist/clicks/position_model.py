"""The position-based model: a click is a look at a position and an attractive document.

P(click) = θ_position · a_query,document. Only products are seen, so that θ of the first position is
1, and positions are compared through documents that were shown at several of them. Where no
document links a position to the first one, its θ, and the documents shown only there, are unknown.

Reference: Richardson, Dominowska and Ragno 2007; Chuklin, Markov and de Rijke 2015, section 3.3
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from idealist.clicks.click_counts import ClickCounts
from idealist.clicks.click_rates import independent_likelihood
from idealist.clicks.estimates import (
    EDGE,
    Climb,
    Curve,
    Estimates,
    PairRates,
    Rates,
    as_beta,
    climbed,
)
from idealist.data.columns import Bools, Floats, Ints
from idealist.significance.beta_rates import JEFFREYS, Beta, fitted_beta

#: How often a prior is fitted anew to what it led to.
REFITS = 2
#: How many covariances of pairs and positions are held at once.
TOGETHER = 2_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """The log as this model sees it: of each pair at each position, impressions and clicks.

    `place` numbers the positions; `fixed` are those whose examination is 1 by convention, the first
    of each part that nothing links to the others; `linked` those that are linked to the first.
    """

    pair: Ints
    place: Ints
    shown: Floats
    clicks: Floats
    positions: Ints
    pairs: int
    fixed: Bools
    linked: Bools

    @classmethod
    def of(cls, counts: ClickCounts) -> Cells:
        """Add up the places of a pair at the same position."""
        positions, at = np.unique(counts.position, return_inverse=True)
        key, cell = np.unique(counts.pair * len(positions) + at, return_inverse=True)
        shown, clicks = (
            np.bincount(cell, one, len(key)).astype(float) for one in (counts.shown, counts.clicks)
        )
        pair, place = np.divmod(key, len(positions))
        pairs = len(counts.pair_keys[0])
        part = _parts(pair, place, np.bincount(pair, clicks, pairs) > 0, len(positions))
        _, first = np.unique(part, return_index=True)
        fixed = np.isin(np.arange(len(positions)), first)
        return cls(
            pair, place, shown, clicks, positions.astype(np.int64), pairs, fixed, part == part[0]
        )

    def by_pair(self, values: Floats) -> Floats:
        """Sum a value of each cell by pair."""
        return np.bincount(self.pair, values, self.pairs).astype(float)

    def by_place(self, values: Floats) -> Floats:
        """Sum a value of each cell by position."""
        return np.bincount(self.place, values, len(self.positions)).astype(float)

    @property
    def linked_pairs(self) -> Bools:
        """Which pairs were shown at a position that is linked to the first."""
        return self.by_pair(self.linked[self.place].astype(float)) > 0


def _parts(pair: Ints, place: Ints, clicked: Bools, places: int) -> Ints:
    """Find the part of each position: documents with clicks link positions to each other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    some = clicked[pair]
    size = places + len(clicked)
    links = coo_array((np.ones(int(some.sum())), (place[some], places + pair[some])), (size, size))
    found: Ints = connected_components(links, directed=False)[1][:places]
    return found


@dataclass(frozen=True, eq=False)
class PositionModel:
    """PBM, estimated by EM: attractiveness of each pair, and examination of each position.

    Formula: P(C = 1) = θ_k a_qd, with θ = 1 at the first position
    """

    called: ClassVar = "the position-based model"
    estimate: ClassVar = "attractiveness"

    rates: PairRates
    curve: Curve
    cells: Cells
    climb: Climb

    @classmethod
    def fitted(cls, counts: ClickCounts, prior: Beta | None = None) -> PositionModel:
        """Estimate it, with a prior that is given, or fitted to clicks and expected looks."""
        cells = Cells.of(counts)
        used = prior or JEFFREYS
        climb = climbed(
            partial(_step, cells, used), np.full(cells.pairs + len(cells.positions), 0.5)
        )
        for _ in range(0 if prior else REFITS):
            _, theta = _split(cells, climb.parameters)
            looks = cells.by_pair(cells.shown * theta[cells.place])
            used = fitted_beta(cells.by_pair(cells.clicks), looks)
            climb = climbed(partial(_step, cells, used), climb.parameters)
        rates, examination = _informed(cells, *_split(cells, climb.parameters), used)
        examined = np.where(cells.fixed, 1.0, examination.estimates)
        examined[:, ~cells.linked] = np.nan
        return cls(
            PairRates(counts.pair_keys[0], rates, used),
            Curve(cells.positions, Estimates(*examined)), cells, climb,
        )  # fmt: skip

    @property
    def relevance(self) -> Estimates:
        """The estimate of each pair; NaN where nothing links it to the first position."""
        found = np.array(self.rates.rates.estimates)
        found[:, ~self.cells.linked_pairs] = np.nan
        return Estimates(*found)

    def chances(self, counts: ClickCounts) -> Floats:
        """Return how likely a click is at each place."""
        theta = np.where(self.cells.fixed, 1.0, self.climb.parameters[self.cells.pairs :])
        known = Curve(self.cells.positions, Estimates(theta, theta, theta))
        return self.rates.of(counts) * known.at(counts.position)

    def likelihoods(self, counts: ClickCounts) -> Floats:
        """Return the log-likelihood of the pages of each list."""
        return independent_likelihood(counts, self.chances(counts))


def _split(cells: Cells, parameters: Floats) -> tuple[Floats, Floats]:
    a, theta = parameters[: cells.pairs], parameters[cells.pairs :]
    return a, np.where(cells.fixed, 1.0, theta)


def _step(cells: Cells, prior: Beta, parameters: Floats) -> tuple[Floats, float]:
    """Make a step of EM: what skips say is divided between document and position.

    P(attractive | skip) = a (1 - θ) / (1 - θ a); P(examined | skip) = θ (1 - a) / (1 - θ a)
    """
    a, theta = _split(cells, parameters)
    each, look = a[cells.pair], theta[cells.place]
    skips, miss = cells.shown - cells.clicks, np.maximum(1 - each * look, EDGE)
    attracted = cells.by_pair(cells.clicks + skips * each * (1 - look) / miss)
    looked = cells.by_place(cells.clicks + skips * look * (1 - each) / miss)
    shown = cells.by_pair(cells.shown), cells.by_place(cells.shown)
    height = float(np.sum(cells.clicks * np.log(each * look) + skips * np.log(miss)))
    height += float(np.sum(prior.successes * np.log(a) + prior.failures * np.log1p(-a)))
    found = (attracted + prior.successes) / (shown[0] + prior.weight), looked / shown[1]
    return np.clip(np.concatenate(found), EDGE, 1 - EDGE), height


def _informed(cells: Cells, a: Floats, theta: Floats, prior: Beta) -> tuple[Rates, Rates]:
    """Give estimates the variances of the observed information, over all parameters at once.

    The information of pairs is diagonal, and positions are few: the inverse of the whole follows
    from that of the positions alone (Schur's complement).
    """
    from scipy.sparse import csr_array

    also = prior if prior.weight else JEFFREYS
    looks = cells.by_pair(cells.shown * theta[cells.place])
    mean = a if prior.weight else (a * looks + also.successes) / (looks + also.weight)
    each, look = mean[cells.pair], theta[cells.place]
    skips, miss = cells.shown - cells.clicks, np.maximum(1 - each * look, EDGE)
    own = cells.by_pair(cells.clicks / each**2 + skips * (look / miss) ** 2)
    own += also.successes / mean**2 + also.failures / (1 - mean) ** 2
    places = cells.by_place(cells.clicks / look**2 + skips * (each / miss) ** 2)
    free = np.flatnonzero(~cells.fixed)
    shape = cells.pairs, len(cells.positions)
    cross = csr_array((skips / miss**2, (cells.pair, cells.place)), shape)[:, free]
    share = csr_array(cross.multiply((1 / own)[:, None]))
    inverse = np.linalg.pinv(np.diag(places[free]) - (cross.T @ share).toarray(), hermitian=True)
    variance = 1 / own
    step = TOGETHER // max(len(free), 1) + 1
    for start in range(0, cells.pairs if len(free) else 0, step):
        some = share[start : start + step]
        variance[start : start + step] += some.multiply(some @ inverse).sum(axis=1)
    spread = np.zeros(len(theta))
    spread[free] = np.maximum(np.diag(inverse), 0)
    edge = np.clip(theta, 1e-6, 1 - 1e-6)
    # The Beta of n trials has the variance m (1 - m) / (n + 1): the information knows of n.
    return Rates(a, mean, as_beta(mean, variance)), Rates(theta, edge, as_beta(edge, spread))
