"""UDCG: what a retrieved context is worth to the language model that reads it."""

from __future__ import annotations

import math

import numpy as np

from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.measures.base import Measure
from idealist.notation import choice, flag, number, parameter
from idealist.ranking.padded_lists import Array, PaddedLists
from idealist.ranking.placements import Placements


class UDCG(Measure):
    """UDCG: utility- and distraction-aware cumulative gain of passages given to a language model.

    Formula: σ((1/n) Σ_{r≤k} w_r u_r), with n = min(k, retrieved), w = 1 for relevant passages and
    -γ for others, u = 1 - abstain

    `abstain` is the probability that the model, given this passage alone, says it cannot answer. It
    is a judgment column; so is `utility`, which holds u itself. Both belong to one model, and so
    does the value. Passages without a judgment or without a value in the column add nothing but
    count in n. There is no discount: the order of the passages above the cutoff does not matter. An
    empty list is 0, below every other value (0.4174 to 0.7311 with γ = 1/3).

    The released code uses γ = 1/3; its README and the published values use 0.333, which changes the
    fifth decimal. The README also describes a mean over relevant minus a mean over irrelevant
    passages; the code, which we follow, divides both sums by all passages. A sum of signed
    utilities over log2(r+1) circulates under the same name: that is signed DCG,
    ``DCG(negative=keep)`` here. The paper's learned variant, with weights by position, was not
    released.

    >>> round(UDCG()([1, 0], abstain=[0.0, 0.4]), 4)
    0.5987

    Reference: Trappolini et al. 2026, EACL, arXiv:2510.21440
    """

    rel: float = parameter(1, number(), "the lowest relevant grade")
    gamma: float = parameter(1 / 3, number(0), "how much a distracting passage subtracts")
    signal: str = parameter("abstain", choice("abstain", "utility"), "the judgment column to use")
    squash: bool = parameter(True, flag(), "apply σ; without it the value is the sum inside")

    needs = "a column"

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Return the range, including the 0 of an empty list."""
        if self.squash:
            return 0.0, 1 / (1 + math.exp(-1))
        return -float(self.gamma), 1.0

    def worth(self, placements: Placements) -> Floats:
        """Return the utility of each passage, negative for a distracting one."""
        filled = self.filled()
        signals = placements.qrels.numbers.get(filled.signal, np.zeros(len(placements.qrels)))
        utility = signals[placements.judgment]
        utility = 1.0 - utility if filled.signal == "abstain" else utility
        weight = np.where(placements.grade >= filled.rel, 1.0, -float(filled.gamma))
        return np.nan_to_num(weight * utility)

    def formula(self, lists: PaddedLists) -> Array:
        """Weigh the utility of each passage by its relevance."""
        xp = lists.xp
        utility = lists.column(self.signal)
        known = lists.within(self.cutoff) & ~xp.isnan(utility)
        utility = xp.where(known, utility, 0.0)
        if bool(xp.any(utility < 0)) or bool(xp.any(utility > 1)):
            hint = "abstain and utility are probabilities between 0 and 1"
            raise UsageError(f"UDCG: a value of {self.signal!r} is outside [0, 1]", hint)
        if self.signal == "abstain":
            utility = 1.0 - utility
        signed = xp.where(lists.grade >= self.rel, utility, utility * (0.0 - float(self.gamma)))
        passages = lists.lengths(self.cutoff)
        mean = lists.ratio(lists.total(xp.where(known, signed, 0.0)), passages, 0.0)
        if not self.squash:
            return mean
        return xp.where(passages > 0, 1.0 / (1.0 + xp.exp(-mean)), 0.0)
