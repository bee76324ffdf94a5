"""Options of a comparison: what is tested, how, and how surely."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from idealist.errors import UsageError, nearest

#: Corrections for many pairs, with the words for them.
CORRECTIONS = {
    "none": "no correction",
    "holm": "Holm's correction",
    "tukey": "the randomised Tukey HSD",
    "maxt": "the MaxT correction",
    "bh": "Benjamini and Hochberg's correction",
}
#: Tests on request, with the reason to prefer the usual ones.
TESTS = {
    "wilcoxon": "Wilcoxon's test asks whether differences are symmetric about 0, not about means",
    "sign": "the sign test counts wins and losses, and does not look at how much",
    "bootstrap": "bootstrap intervals are too narrow, and p-values too small, below 25 queries",
}
#: The sign flips of the randomisation test, where there are too many to try all.
FLIPS = 100_000
#: The chance to find a difference that "detectable" and "needed" go by.
POWER = 0.8
#: The difference too small to matter, of a measure on [0, 1], where nobody says it.
ROPE = 0.01


@dataclass(frozen=True)
class Options:
    """How runs are compared: `alpha` two-sided, the `seed` of all that is random, and the rest.

    `rope` is the difference too small to matter; `margin` the one that equivalence and
    non-inferiority are tested with.
    """

    alpha: float = 0.05
    seed: int = 0
    tests: tuple[str, ...] = ()
    correction: str = "holm"
    rope: float | None = None
    margin: float | None = None
    all_pairs: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha cannot be {self.alpha!r}", "alpha is between 0 and 1: 0.05")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise UsageError(f"seed cannot be {self.seed!r}", "a seed is a whole number from 0 on")
        for test in self.tests:
            if test not in TESTS:
                raise UsageError(f"there is no test {test!r}", nearest(test, TESTS))
        if self.correction not in CORRECTIONS:
            hint = "known: " + ", ".join(CORRECTIONS)
            raise UsageError(f"there is no correction {self.correction!r}", hint)
        if self.rope is not None and not 0 <= self.rope < math.inf:
            raise UsageError(f"rope cannot be {self.rope!r}", "rope is a number of at least 0")
        if self.margin is not None and not 0 < self.margin < math.inf:
            raise UsageError(f"margin cannot be {self.margin!r}", "margin is a number above 0")

    @property
    def confidence(self) -> str:
        """The intervals' level in words."""
        return f"{100 * (1 - self.alpha):.6g} %"


def options_of(
    pairs: int, correction: str | None, tests: str | Iterable[str], **others: Any
) -> Options:
    """Give options; without a word, pairs with a baseline are corrected by Holm, all by Tukey.

    >>> options_of(3, None, "sign", all_pairs=True)
    Options(alpha=0.05, seed=0, tests=('sign',), correction='tukey', rope=None, margin=None, \
all_pairs=True)
    """
    usual = "none" if pairs < 2 else "tukey" if others.get("all_pairs") else "holm"
    asked = (tests,) if isinstance(tests, str) else tuple(dict.fromkeys(tests))
    return Options(correction=usual if correction is None else correction, tests=asked, **others)
