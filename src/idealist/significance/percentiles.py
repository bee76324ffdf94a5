"""Percentiles of latencies, by the definition that most tools share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

#: What is said of latencies: the middle, and how slow the slow ones are.
PERCENTILES = (50, 95, 99)


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return the percentiles of numbers, NaN where there are none.

    Formula: linear between the two nearest of the sorted values (type 7)

    >>> percentiles([1.0, 2.0, 3.0, 4.0, 5.0])
    {'p50': 3.0, 'p95': 4.8, 'p99': 4.96}

    Reference: Hyndman and Fan 1996, doi:10.2307/2684934
    """
    found = np.percentile(values, PERCENTILES).tolist() if len(values) else [math.nan] * 3
    return {f"p{p}": value for p, value in zip(PERCENTILES, found, strict=True)}
