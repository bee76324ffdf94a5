"""Optimised lists: the probabilities of lists under which clicks at random prefer neither run.

Every list that takes the next document of either run at each place is a candidate. A linear program
finds probabilities for them such that at each place the expected credit of a click is 0; among
these, such that clicks at random say as little as possible within one list too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from idealist.data.columns import Floats
from idealist.interleaving.drafting import Drafted

#: The most candidates; all there are for lists of ten documents.
MOST = 1024
#: A list that is less probable is none of the solution: solvers are exact to 1e-7.
LEAST = 1e-9


def optimised(a: Sequence[str], b: Sequence[str], depth: int, seed: int = 0) -> tuple[Drafted, ...]:
    """Find lists and their probabilities by a linear program.

    Formula: minimise Σ p_L (Σ_i δ_i(L) / i)², so that Σ p_L = 1 and Σ p_L δ_i(L) = 0 at each
    place i, where δ = 1 / rank in b - 1 / rank in a, and a document that a run does not have ranks
    behind the longer of both

    Where no probabilities meet all of these conditions, those at the lowest places are given up,
    from the bottom on as few as possible, and clicks there count for neither. Beyond `MOST`
    candidates as many are drawn by `seed`.

    >>> [(one.documents, round(one.probability, 3)) for one in optimised("xy", "yx", 2)]
    [(('x', 'y'), 0.5), (('y', 'x'), 0.5)]

    Reference: Radlinski and Craswell 2013, doi:10.1145/2433396.2433429 (candidates, conditions,
    credit); Schuth, Sietsma, Whiteson, Lefortier and de Rijke 2014, doi:10.1145/2661829.2661952
    (what is minimised)
    """
    lists = candidates(a, b, depth, seed)
    absent = max(len(a), len(b)) + 1
    ranks_a, ranks_b = ({d: rank for rank, d in enumerate(run, 1)} for run in (a, b))
    worth = {d: 1 / ranks_b.get(d, absent) - 1 / ranks_a.get(d, absent) for d in (*a, *b)}
    credit = np.array([[worth[d] for d in one] for one in lists]).reshape(len(lists), -1)
    chance, fair = _probabilities(credit)
    return tuple(
        Drafted(one, _credits(one, worth, fair), float(p))
        for one, p in zip(lists, chance, strict=True)
        if p
    )


def candidates(a: Sequence[str], b: Sequence[str], depth: int, seed: int) -> list[tuple[str, ...]]:
    """List the lists that take the next document of either run at each place.

    >>> candidates("xy", "yz", 2, seed=0)
    [('x', 'y'), ('y', 'x'), ('y', 'z')]
    """
    source = np.random.Generator(np.random.PCG64(seed))
    found: list[tuple[str, ...]] = [()]
    for _ in range(min(depth, len({*a, *b}))):
        found = [(*one, top) for one in found for top in _tops(a, b, one)]
        if len(found) > MOST:
            kept = np.sort(source.permutation(len(found))[:MOST])
            found = [found[i] for i in kept.tolist()]
    return found


def _tops(a: Sequence[str], b: Sequence[str], shown: Sequence[str]) -> list[str]:
    """Return the best document of each run that is not shown yet; one if both have the same."""
    tops = (next((d for d in run if d not in shown), None) for run in (a, b))
    return list(dict.fromkeys(top for top in tops if top is not None))


def _probabilities(credit: Floats) -> tuple[Floats, int]:
    """Return the probability of each list, and at how many places the expected credit is 0."""
    from scipy.optimize import linprog

    places = credit.shape[1]
    leaning = (credit / np.arange(1, places + 1)).sum(axis=1)
    for fair in range(places, -1, -1):
        conditions = np.vstack([np.ones(len(credit)), credit[:, :fair].T])
        found = linprog(leaning**2, A_eq=conditions, b_eq=[1.0] + [0.0] * fair, method="highs-ds")
        if found.status == 0:
            break
    chance = np.where(found.x > LEAST, found.x, 0.0)
    return chance / chance.sum(), fair


def _credits(documents: Sequence[str], worth: Mapping[str, float], fair: int) -> tuple[float, ...]:
    return tuple(worth[d] if place < fair else 0.0 for place, d in enumerate(documents))
