"""Scales: round steps, and where an axis begins and ends."""

from __future__ import annotations

import math
from collections.abc import Iterable

#: What a round step may begin with, up to a power of ten.
ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
#: No axis reaches so far: differences of its numbers stay finite.
HUGE = 1e300


def round_step(least: float) -> float:
    """Return the smallest round number that is not smaller.

    >>> round_step(0.03), round_step(0.21), round_step(7), round_step(10)
    (0.05, 0.25, 10.0, 10.0)
    """
    power = math.floor(math.log10(least))
    wanted = least / 10.0**power * (1 - 1e-9)
    return float(f"{next(one for one in ROUND if one >= wanted)}e{power}")


def axis_ends(
    values: Iterable[float], steps: int = 10, *, zero: bool = True
) -> tuple[float, float]:
    """Return where an axis begins and ends that holds all values, at round numbers.

    It holds 0 too, unless `zero` is not set and 0 is further away than the values are apart.

    >>> axis_ends([0.31, 0.87]), axis_ends([-0.02, 0.013]), axis_ends([]), axis_ends([0.0, 0.0])
    ((0.0, 0.9), (-0.02, 0.015), (0.0, 1.0), (0.0, 1.0))
    >>> axis_ends([0.61, 0.87], zero=False), axis_ends([0.31, 0.87], zero=False)
    ((0.6, 0.9), (0.0, 0.9))
    """
    known = [value for value in values if abs(value) < HUGE]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if zero or min(abs(low), abs(high)) < high - low or high - low < 1e-12:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1e-12:
        return 0.0, 1.0
    step = round_step((high - low) / steps)
    digits = 12 - math.floor(math.log10(step))
    bottom, top = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return round(bottom * step, digits), round(top * step, digits)
