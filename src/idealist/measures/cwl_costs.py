"""Readers who count what they spend: BPM, IFT, TBG and U-measure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from idealist.measures.cwl import POSITIVE, Page, UserModel
from idealist.notation import Kind, Value, Written, choice, number, parameter
from idealist.ranking.padded_lists import Array

#: From here on e^x is as good as nothing beside 1, or 1 beside it.
LARGEST_EXPONENT = 500.0


def _check_budget(value: Any) -> Value:
    return "none" if value == "none" else POSITIVE.check(value)


@dataclass(frozen=True, kw_only=True, repr=False)
class BPM(UserModel):
    """Bejeweled player model: a reader stops once enough is gained, or enough is spent.

    Formula: EU = Σ_{r≤s} g_r / s, s the first rank at which gains reach T or costs reach K, or k

    With `hb` and `hc` this is the dynamic model: each document moves what is wanted by hb and what
    may be spent by hc times its gain less `gain_med`. cwl_eval's dynamic model never moves K: its
    numbers are those of ``hc=0``. With costs of 1 each, K and the cutoff are the same. See `report`
    for what else the reader tells.

    >>> (BPM @ 5)([0, 1, 1]), BPM(T=2)([0, 1, 1]), BPM(T=2, K=10, cost=6)([0, 1, 1])
    (0.5, 0.6666666666666666, 0.5)

    Reference: Zhang et al. 2017, doi:10.1145/3077136.3080841
    """

    T: float = parameter(1, POSITIVE, "the gain that is wanted")
    K: Written = parameter("none", Kind("none or a cost", _check_budget), "the cost to be spent")
    hb: float = parameter(0, number(), "how much each document's gain moves T")
    hc: float = parameter(0, number(), "how much each document's gain moves K")
    gain_med: float = parameter(0.5, number(0, 1), "the gain that moves neither T nor K")

    takes_cutoff: ClassVar[bool] = True

    def goes_on(self, page: Page) -> Array:
        """Go on until T is gained or K is spent."""
        moves = page.gain - self.gain_med
        wanted = page.above(self.hb * moves, float(self.T))
        budget = page.above(self.hc * moves, math.inf if self.K == "none" else float(self.K))
        wanting, able = page.so_far(page.gain) < wanted, page.so_far(page.cost) < budget
        return page.number(wanting & able)


@dataclass(frozen=True, kw_only=True, repr=False)
class IFT(UserModel):
    """Information foraging: a reader leaves the nearer the goal is, and the poorer the patch.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} C_i, C = C1 · C2,
    C1 = 1 - 1 / (1 + b1 e^(R1 (T - gained))), C2 = 1 / (1 + b2 e^(R2 (A - gained / spent)))

    ``stop=goal`` has C1 alone, ``stop=rate`` C2 alone. There are no standard parameters: the
    defaults are those of cwl_eval's example. See `report` for what else the reader tells.

    >>> round(IFT()([1, 0, 1]), 4), round(IFT(stop="rate", A=0.5)([1, 0, 1]), 4)
    (0.5226, 0.4642)

    Reference: Azzopardi et al. 2018, doi:10.1145/3209978.3210027
    """

    stop: str = parameter(
        "both",
        choice("goal", "rate", "both"),
        "what makes the reader stop: gain, its rate, or both",
    )
    T: float = parameter(2, number(0, 1e6), "the gain that is the goal")
    b1: float = parameter(0.9, number(0, 1e6), "the odds to go on at the goal")
    R1: float = parameter(10, number(0, 1e6), "how much the goal decides")
    A: float = parameter(0.2, number(0, 1e6), "the gain per cost that is expected elsewhere")
    b2: float = parameter(0.9, number(0, 1e6), "the odds to leave at that rate")
    R2: float = parameter(10, number(0, 1e6), "how much the rate decides")

    def goes_on(self, page: Page) -> Array:
        """Go on while the goal is far and the rate is good."""
        gained = page.so_far(page.gain)
        rate = gained / page.so_far(page.cost)
        far = self.b1 * _exp(page, self.R1 * (self.T - gained))
        poor = self.b2 * _exp(page, self.R2 * (self.A - rate))
        chances = {"goal": far / (1.0 + far), "rate": 1.0 / (1.0 + poor)}
        return chances.get(self.stop, chances["goal"] * chances["rate"])


def _exp(page: Page, power: Array) -> Array:
    """Give e^x, of powers whose e^x is a number."""
    return page.xp.exp(page.xp.clip(power, -LARGEST_EXPONENT, LARGEST_EXPONENT))


@dataclass(frozen=True, kw_only=True, repr=False)
class TBG(UserModel):
    """Time-biased gain: half of the readers have stopped when `halflife` has been spent.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = 2^(-t_r / halflife), t_r the cost of the documents above

    Costs are in seconds: give each document's in a judgment column, and in `cost` that of all
    others. The published measure is not scaled: it is ``report=ETU``, with the gain of a relevant
    document and the time that a document takes estimated from logs. See `report` for what else
    the reader tells.

    >>> round(TBG(halflife=2)([1, 0, 1]), 4)
    0.4393

    Reference: Smucker and Clarke 2012, doi:10.1145/2348283.2348300
    """

    halflife: float = parameter(224, POSITIVE, "the cost by which half of the readers have stopped")

    def looks(self, page: Page) -> tuple[Array, Array]:
        """Look on while time has not run out."""
        spent = page.above(page.cost)
        looked = page.xp.pow(page.xp.full_like(spent, 2.0), -spent / self.halflife)
        return looked, page.xp.zeros_like(looked[:, :1])


@dataclass(frozen=True, kw_only=True, repr=False)
class UMeasure(UserModel):
    """U-measure: what is read counts less and less, down to nothing after L characters.

    Formula: EU = Σ_{r<N} V_r g_r / Σ_{r<N} V_r, V_r = max(0, 1 - o_r / L), o_r the cost of the
    documents above and N = `max_depth`

    Costs are in characters: give each document's in a judgment column, and in `cost` that of all
    others. The published measure is not scaled: it is ``report=ETU``, with the offset at the end
    of what is read in place of o_r. cwl_eval, which is followed here, gives the last rank no
    weight. See `report` for what else the reader tells.

    >>> round(UMeasure(L=4)([1, 0, 1]), 4)
    0.6

    Reference: Sakai and Dou 2013, doi:10.1145/2484028.2484031
    """

    L: float = parameter(1000, POSITIVE, "the cost after which nothing counts")

    def looks(self, page: Page) -> tuple[Array, Array]:
        """Look on the less the more has been read."""
        spent = page.above(page.cost)
        left = page.xp.where(page.rank < self.last, 1.0 - spent / self.L, 0.0)
        return page.xp.where(left > 0, left, 0.0), page.xp.zeros_like(left[:, :1])
