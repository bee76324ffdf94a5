"""User models that weigh gain against cost: BPM, IFT, TBG and U-measure."""

from __future__ import annotations

import math

from idealist.measures.cwl import POSITIVE, Page, UserModel
from idealist.notation import ABOVE_0, Written, choice, number, parameter
from idealist.ranking.padded_lists import Array

#: Beyond this exponent, e^x dwarfs 1 or vanishes beside it.
LARGEST_EXPONENT = 500.0
BUDGET = number(ABOVE_0, math.inf, "none or a cost", "none")


class BPM(UserModel):
    """Bejeweled player model: a user stops once enough is gained or enough is spent.

    Formula: EU = Σ_{r≤s} g_r / s, where s is the first rank at which total gain reaches T or total
    cost reaches K, or k

    `hb` and `hc` make the model dynamic: each document moves the target T by hb and the budget K by
    hc times its gain minus `gain_med`. In cwl_eval the dynamic model never moves K, which is
    ``hc=0``. With a cost of 1 per document, K works like the cutoff. `report` selects what is
    computed.

    >>> (BPM @ 5)([0, 1, 1]), BPM(T=2)([0, 1, 1]), BPM(T=2, K=10, cost=6)([0, 1, 1])
    (0.5, 0.6666666666666666, 0.5)

    Reference: Zhang et al. 2017, doi:10.1145/3077136.3080841
    """

    T: float = parameter(1, POSITIVE, "the target: the total gain at which the user stops")
    K: Written = parameter("none", BUDGET, "the total cost that stops the user")
    hb: float = parameter(0, number(), "how much the gain of each document moves T")
    hc: float = parameter(0, number(), "how much the gain of each document moves K")
    gain_med: float = parameter(0.5, number(0, 1), "the gain that moves neither T nor K")

    takes_cutoff = True

    def goes_on(self, page: Page) -> Array:
        """Continue until T is gained or K is spent."""
        moves = page.gain - self.gain_med
        wanted = page.above(self.hb * moves, float(self.T))
        budget = page.above(self.hc * moves, math.inf if self.K == "none" else float(self.K))
        wanting, able = page.so_far(page.gain) < wanted, page.so_far(page.cost) < budget
        return page.number(wanting & able)


class IFT(UserModel):
    """Information foraging: a user leaves as the goal gets near, or as the list yields too little.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = Π_{i<r} C_i, C = C1 · C2, C1 = 1 - 1 / (1 + b1 e^(R1 (T -
    gained))), C2 = 1 / (1 + b2 e^(R2 (A - gained / spent)))

    ``stop=goal`` uses C1 alone, ``stop=rate`` C2 alone. There are no standard parameters; the
    defaults are those of cwl_eval's example. `report` selects what is computed.

    >>> round(IFT()([1, 0, 1]), 4), round(IFT(stop="rate", A=0.5)([1, 0, 1]), 4)
    (0.5226, 0.4642)

    Reference: Azzopardi et al. 2018, doi:10.1145/3209978.3210027
    """

    stop: str = parameter(
        "both",
        choice("goal", "rate", "both"),
        "what makes the user stop: the gain so far (goal), the gain per cost (rate), or both",
    )
    T: float = parameter(2, number(0, 1e6), "the goal: the gain the user wants")
    b1: float = parameter(0.9, number(0, 1e6), "the odds of continuing once the goal is reached")
    R1: float = parameter(10, number(0, 1e6), "how sharply the goal decides")
    A: float = parameter(0.2, number(0, 1e6), "the gain per cost expected elsewhere")
    b2: float = parameter(0.9, number(0, 1e6), "the odds of leaving at that rate")
    R2: float = parameter(10, number(0, 1e6), "how sharply the rate decides")

    def goes_on(self, page: Page) -> Array:
        """Continue while the goal is far and the rate is good."""
        gained = page.so_far(page.gain)
        rate = gained / page.so_far(page.cost)
        far = self.b1 * _exp(page, self.R1 * (self.T - gained))
        poor = self.b2 * _exp(page, self.R2 * (self.A - rate))
        chances = {"goal": far / (1.0 + far), "rate": 1.0 / (1.0 + poor)}
        return chances.get(self.stop, chances["goal"] * chances["rate"])


def _exp(page: Page, power: Array) -> Array:
    """Compute e^x, clipped so that it neither overflows nor underflows."""
    return page.xp.exp(page.xp.clip(power, -LARGEST_EXPONENT, LARGEST_EXPONENT))


class TBG(UserModel):
    """Time-biased gain: the share of users still reading halves every `halflife`.

    Formula: EU = Σ V_r g_r / Σ V_r, V_r = 2^(-t_r / halflife), where t_r is the cost of the
    documents above rank r

    Costs are seconds: put the cost of each document in a judgment column, and that of all others in
    `cost`. The published measure is the unnormalised total, ``report=ETU``, with the gain of a
    relevant document and the reading times estimated from logs. `report` selects what is computed.

    >>> round(TBG(halflife=2)([1, 0, 1]), 4)
    0.4393

    Reference: Smucker and Clarke 2012, doi:10.1145/2348283.2348300
    """

    halflife: float = parameter(
        224, POSITIVE, "the cost after which half of the users have stopped"
    )

    def looks(self, page: Page) -> tuple[Array, Array]:
        """View less often as time passes."""
        spent = page.above(page.cost)
        looked = page.xp.pow(page.xp.full_like(spent, 2.0), -spent / self.halflife)
        return looked, page.xp.zeros_like(looked[:, :1])


class UMeasure(UserModel):
    """U-measure: attention falls linearly, to nothing after L characters read.

    Formula: EU = Σ_{r<N} V_r g_r / Σ_{r<N} V_r, V_r = max(0, 1 - o_r / L), where o_r is the cost of
    the documents above rank r and N is `max_depth`

    Costs are characters: put the cost of each document in a judgment column, and that of all others
    in `cost`. The published measure is the unnormalised total, ``report=ETU``, with offsets taken
    at the end of each document. Like cwl_eval, this implementation gives the last rank no weight.
    `report` selects what is computed.

    >>> round(UMeasure(L=4)([1, 0, 1]), 4)
    0.6

    Reference: Sakai and Dou 2013, doi:10.1145/2484028.2484031
    """

    L: float = parameter(1000, POSITIVE, "the total cost after which nothing counts")

    def looks(self, page: Page) -> tuple[Array, Array]:
        """View less as more has been read."""
        spent = page.above(page.cost)
        left = page.xp.where(page.rank < self.last, 1.0 - spent / self.L, 0.0)
        return page.xp.where(left > 0, left, 0.0), page.xp.zeros_like(left[:, :1])
