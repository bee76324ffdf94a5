"""The bootstrap over queries: intervals of statistics whose documents belong to queries.

Documents of one query are judged alike, so they are drawn together: whole queries, with
replacement. What a statistic is computed from is summed per query first; a draw then only adds up
these sums, as many times as each query was drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from idealist.significance.resampling import BLOCK

Array = NDArray[np.float64]

#: An interval that is shorter has no width.
ROUNDING = 1e-12
#: How often the queries are drawn.
DRAWS = 2000


def query_draws(queries: int, draws: int = DRAWS, seed: int = 0) -> Iterator[Array]:
    """Draw as many queries as there are, with replacement: how often each is drawn, in blocks.

    >>> block = next(query_draws(3, draws=2))
    >>> block.shape, block.sum(axis=1).tolist()
    ((2, 3), [3.0, 3.0])
    """
    source, step = np.random.Generator(np.random.PCG64(seed)), max(1, BLOCK // max(queries, 1))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        places = source.integers(queries, size=(size, queries))
        places += queries * np.arange(size)[:, None]
        times = np.bincount(places.ravel(), minlength=size * queries)
        yield times.reshape(size, queries).astype(np.float64)


def drawn_sums(sums: Array, draws: int = DRAWS, seed: int = 0) -> Array:
    """Add up what was summed per query (the first axis), for each draw of the queries.

    >>> drawn_sums(np.array([[1.0, 2.0], [1.0, 2.0]]), draws=3).tolist()
    [[2.0, 4.0], [2.0, 4.0], [2.0, 4.0]]
    """
    flat = sums.reshape(len(sums), -1)
    found = np.concatenate([times @ flat for times in query_draws(len(sums), draws, seed)])
    return found.reshape(draws, *sums.shape[1:])


def percentiles(drawn: Array, queries: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return the percentile interval of draws, as wide as so few queries ask for.

    Draws vary less than samples do, by √((n - 1) / n), and have normal tails where n queries ask
    for those of t. So the percentiles are those of normal deviates √(n / (n - 1)) t. Draws without
    a value do not count; NaN where there is one query, or where a tenth of the draws has none.

    >>> [round(end) for end in percentiles(np.arange(1001.0), 1000)]
    [25, 975]
    >>> [round(end) for end in percentiles(np.arange(1001.0), 10)]
    [9, 991]

    Reference: Hesterberg 2015, What Teachers Should Know About the Bootstrap,
    doi:10.1080/00031305.2015.1089789
    """
    from scipy.special import ndtr, stdtrit

    known = drawn[~np.isnan(drawn)]
    if queries < 2 or len(known) < 0.9 * len(drawn):
        return math.nan, math.nan
    reach = math.sqrt(queries / (queries - 1)) * stdtrit(queries - 1, alpha / 2)
    tail = float(ndtr(reach))
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)


def varying(ends: tuple[float, float]) -> tuple[float, float]:
    """Return an interval, NaN where it has no width: queries that never differ tell nothing of it.

    >>> varying((0.25, 0.5)), varying((1.0, 1.0))
    ((0.25, 0.5), (nan, nan))
    """
    return ends if ends[1] - ends[0] > ROUNDING else (math.nan, math.nan)
