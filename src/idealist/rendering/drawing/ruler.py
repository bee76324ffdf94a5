"""Rulers: where in a drawing a value of an axis lies, and which values are written at it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from idealist.rendering.document import Format
from idealist.rendering.figure import Axis
from idealist.rendering.scales import HUGE, round_step

_NUMBER = re.compile(r"[-+]?\d+\.?\d*(e[-+]?\d+)?")

#: Numbers that need more characters are written with a power of ten.
_LONGEST = 12


@dataclass(frozen=True)
class Tick:
    """A place on an axis and what is written there."""

    value: float
    text: str


class Ruler:
    """Values of an axis as places between `start` and `end`; what lies outside is put on the edge.

    >>> Ruler(Axis("nDCG", 0, 1), 100, 300)(0.25)
    150.0
    """

    def __init__(self, axis: Axis, start: float, end: float) -> None:
        self.low, self.high = domain(axis)
        self.log = axis.log and not axis.names
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        """Place a value; NaN has no place and stays NaN."""
        if math.isnan(value):
            return math.nan
        low, high, at = self.low, self.high, min(max(value, min(self.ends)), max(self.ends))
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    @property
    def ends(self) -> tuple[float, float]:
        """The values at both ends."""
        return self.low, self.high

    def holds(self, value: float) -> bool:
        """Tell whether a value lies on the axis, rather than beyond its ends."""
        return min(self.ends) <= value <= max(self.ends)


def domain(axis: Axis) -> tuple[float, float]:
    """Return both ends of an axis; one that has no extent, or none that can be drawn, is mended.

    >>> domain(Axis("", 2, 2)), domain(Axis("", names=("a", "b")))
    ((1.5, 2.5), (0.0, 2.0))
    """
    if axis.names:
        return 0.0, float(len(axis.names))
    low, high = (0.0 if math.isnan(end) else end for end in (axis.low, axis.high))
    if axis.log:
        high = min(high, HUGE) if high > 0 else 1.0
        low = min(low, HUGE) if low > 0 else high / 1000
        low, high = max(low, 1 / HUGE), max(high, 1 / HUGE)
        return (low / 2, high * 2) if math.isclose(low, high) else (low, high)
    low, high = max(-HUGE, min(HUGE, low)), max(-HUGE, min(HUGE, high))
    if abs(high - low) > 1e-12 * max(1.0, abs(low), abs(high)):
        return float(low), float(high)
    wide = max(0.5, abs(low) * 1e-6)
    return low - wide, high + wide


def ticks(axis: Axis, most: int) -> list[Tick]:
    """Choose at most about so many round values and write them, all with the same digits.

    >>> [tick.text for tick in ticks(Axis("nDCG@10", 0, 1), 6)]
    ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0']
    """
    if axis.names:
        step = max(1, math.ceil(len(axis.names) / max(most, 1)))
        names = list(enumerate(axis.names))[::step]
        return [Tick(at + 0.5, name) for at, name in names]
    low, high = sorted(domain(axis))
    for asked in range(max(most, 2), 0, -1):
        values = _powers(low, high, asked) if axis.log else _round(low, high, asked)
        texts = _written(values, axis.format)
        if axis.log or _even(texts):
            return list(map(Tick, values, texts))
    return []


def _even(texts: Sequence[str]) -> bool:
    """Tell whether written numbers have the same distance, so that rounding hides nothing."""
    found = [float(number[0]) for text in texts if (number := _NUMBER.search(text))]
    steps = [after - before for before, after in pairwise(found)]
    return all(step > 0 and math.isclose(step, steps[0], rel_tol=1e-6) for step in steps)


def _round(low: float, high: float, most: int) -> list[float]:
    """Return the multiples of a round step, at most so many and one more."""
    step = round_step((high - low) / most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [at * step for at in range(first, last + 1)]


def _powers(low: float, high: float, most: int) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten, or the powers alone, or some of these."""
    exponents = range(math.floor(math.log10(low) - 1e-9), math.ceil(math.log10(high)) + 1)
    for times in ((1, 2, 5), (1,)):
        values = [one * 10.0**power for power in exponents for one in times]
        inside = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(inside) <= most:
            break
    inside = inside[:: max(1, math.ceil(len(inside) / most))]
    return inside if len(inside) > 1 else _round(low, high, most)


def _written(values: Sequence[float], format: Format) -> list[str]:  # noqa: A002 -- as axes call it
    """Write values as the axis does, without the zeros at the end that all of them share."""
    texts = [format(value) for value in values]
    if any(len(text) > _LONGEST for text in texts):
        return [f"{value:.4g}" for value in values]
    fractions = [found[1] for text in texts if (found := re.search(r"\.(\d+)", text))]
    digits = max((len(fraction.rstrip("0")) for fraction in fractions), default=0)
    if digits == 0:
        return [re.sub(r"\.\d+", "", text) for text in texts]
    return [re.sub(r"\.\d+", lambda found: found[0][: digits + 1], text) for text in texts]
