"""Options of a comparison: what is tested, how, and how surely."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from idealist.errors import UsageError, nearest
from idealist.significance.paired import checked_alpha

#: Corrections for many differences, with the words for them.
CORRECTIONS = {"none": "no correction", "maxt": "MaxT", "tukey": "the randomised Tukey HSD"}
#: Tests on request, with the reason to prefer the usual ones.
TESTS = {
    "wilcoxon": "Wilcoxon's test asks whether differences are symmetric about 0, not about means",
    "sign": "the sign test counts wins and losses, not how large they are",
    "bootstrap": "below 25 queries bootstrap intervals are too narrow, and p-values too small",
}
#: The chance to find a difference that "detectable" and "needed" go by.
POWER = 0.8
#: The difference too small to matter, of a measure on [0, 1], where nobody says it.
ROPE = 0.01


@dataclass(frozen=True)
class Options:
    """How runs are compared: `alpha` two-sided, the `seed` of all that is random, and the rest.

    `rope` is the difference too small to matter; `margin` the one that equivalence and
    non-inferiority are tested with. The `correction` follows from what is compared.
    """

    alpha: float = 0.05
    seed: int = 0
    tests: tuple[str, ...] = ()
    correction: str = "none"
    rope: float | None = None
    margin: float | None = None
    all_pairs: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checked_alpha(self.alpha))
        object.__setattr__(self, "seed", whole_number("seed", self.seed))
        for test in self.tests:
            if test not in TESTS:
                raise UsageError(f"there is no test {test!r}", nearest(str(test), TESTS))
        for name, words in (("rope", "of at least 0"), ("margin", "above 0")):
            object.__setattr__(self, name, _amount(name, getattr(self, name), words))

    @property
    def confidence(self) -> str:
        """The intervals' level in words."""
        return f"{100 * (1 - self.alpha):.6g} %"


def options_of(pairs: int, tests: str | Iterable[str], **others: Any) -> Options:
    """Make options; several runs against one baseline need MaxT, all pairs Tukey's test.

    >>> options_of(3, "sign", all_pairs=True)
    Options(alpha=0.05, seed=0, tests=('sign',), correction='tukey', rope=None, margin=None, \
all_pairs=True)
    """
    for name in others:
        if name == "correction" or name not in {field.name for field in fields(Options)}:
            hint = "what looks at judgments, such as fragility, needs compare() with qrels and runs"
            raise UsageError(f"there is no option {name!r} here", hint)
    correction = "none" if pairs < 2 else "tukey" if others.get("all_pairs") else "maxt"
    return Options(correction=correction, tests=_tests(tests), **others)


def _tests(given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Iterable):
        raise UsageError(f"tests cannot be {given!r}", f"known: {', '.join(TESTS)}")
    return tuple(dict.fromkeys(map(str, given)))


def whole_number(name: str, given: Any) -> int:
    """Check a whole number from 0 on."""
    whole = isinstance(given, Integral) and not isinstance(given, bool)
    if not whole or given < 0:
        raise UsageError(f"{name} cannot be {given!r:.60}", "give a whole number from 0 on")
    return int(given)


def _amount(name: str, given: Any, words: str) -> float | None:
    if given is None:
        return None
    number = isinstance(given, Real) and not isinstance(given, bool)
    if not number or not 0 <= given < math.inf or (words == "above 0" and not given):
        raise UsageError(f"{name} cannot be {given!r}", f"{name} is a number {words}")
    return float(given)
