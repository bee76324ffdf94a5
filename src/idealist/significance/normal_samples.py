"""What is usual in normal samples: how much of a mean its largest values carry."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from idealist.significance.resampling import BLOCK

#: The samples that a quantile is taken from.
SAMPLES = 5_000


def usual_share(n: int, t: float, largest: int, chance: float = 0.05) -> float:
    """Compute which share of a mean its largest values carry at most in normal samples.

    Formula: (s + m |t| / √n) / (√n |t|), where s is the quantile 1 - chance of the sum of the m
    largest of n normal values, taken from their mean and divided by their standard deviation

    Only the number of values and t matter. That three of 50 queries carry half of a difference that
    is just significant is no news:

    >>> round(usual_share(50, 2.2, 3), 2)
    0.5
    """
    root, size = math.sqrt(n), abs(t)
    return (_largest_sum(n, largest, chance) + largest * size / root) / (root * size)


@lru_cache
def _largest_sum(n: int, largest: int, chance: float) -> float:
    source, step = np.random.Generator(np.random.PCG64(0)), max(1, BLOCK // n)
    sums: list[float] = []
    while len(sums) < SAMPLES:
        drawn = source.standard_normal((step, n))
        top = np.partition(drawn, n - largest, axis=1)[:, n - largest :].sum(axis=1)
        sums += ((top - largest * drawn.mean(axis=1)) / drawn.std(axis=1, ddof=1)).tolist()
    return float(np.quantile(sums, 1 - chance))
