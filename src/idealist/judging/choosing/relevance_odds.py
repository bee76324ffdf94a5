"""How likely an unjudged document is relevant: learnt from those judged, by where runs rank them.

A logistic regression on the ranks in each run, held back by a penalty, so that it says little where
little is judged. Carterette, Allan and Sitaraman 2006 (doi:10.1145/1148170.1148219) need such
chances to say which documents matter to a comparison.
"""

from __future__ import annotations

import math

import numpy as np

from idealist.data.columns import Bools, Floats, Ints
from idealist.judging.choosing.pool_case import FUSION_CONSTANT

#: What a coefficient costs: this times half its square, in units of log-likelihood. Suggested.
PENALTY = 3.0
#: As many documents of the average query are mixed into the share of each query. Suggested.
QUERY_PRIOR = 3.0
#: Newton's steps; it has converged long before.
STEPS = 12


def chances_of(ranks: Ints, query: Ints, relevant: Floats, odds: float = 1.0) -> Floats:
    """Estimate P(relevant) of each document: a row of `ranks` has its rank in each run, 0 for none.

    `relevant` is 1 or 0 where a document was judged, NaN elsewhere; `query` has its query. `odds`
    says how the odds compare with those of judged documents that are ranked alike.

    >>> ranks = np.array([[1, 2], [2, 0], [3, 1], [4, 0], [0, 4]])
    >>> found = chances_of(ranks, np.zeros(5, dtype=int), np.array([1, 0, 1, 0, np.nan]))
    >>> bool(0 < found[4] < 0.5)
    True
    """
    judged = ~np.isnan(relevant)
    if not judged.any():
        return np.full(len(ranks), odds / (1 + odds))
    seen = np.column_stack((_evidence(ranks), _query_odds(query, relevant, judged)))
    centred = seen - seen[judged].mean(axis=0)
    logits = _intercepted(centred) @ _fitted(centred[judged], relevant[judged])
    return _probability(logits + math.log(odds))


def _evidence(ranks: Ints) -> Floats:
    """Return what ranks say of a document: high in each run, high in all, in many runs at all."""
    there = ranks > 0
    far = np.where(there, ranks, 1_000_000)
    near = np.where(there, 1 / np.log2(far + 1.0), 0.0)
    together = (there / (FUSION_CONSTANT + far)).sum(axis=1) * FUSION_CONSTANT / there.shape[1]
    best = np.log(np.minimum(far.min(axis=1), 1000)) / np.log(1000)
    return np.column_stack((near, together, there.mean(axis=1), best))


def _query_odds(query: Ints, relevant: Floats, judged: Bools) -> Floats:
    """Return the logarithm of each query's odds, without the document itself."""
    size = int(query.max(initial=0)) + 1
    hits = np.bincount(query[judged], relevant[judged], size)[query]
    total = np.bincount(query[judged], minlength=size)[query].astype(np.float64)
    usual = (relevant[judged].sum() + 1) / (np.count_nonzero(judged) + 2)
    hits, total = hits - np.where(judged, relevant, 0.0), total - judged
    share = (hits + QUERY_PRIOR * usual) / (total + QUERY_PRIOR)
    odds: Floats = np.log(share / (1 - share))
    return odds


def _fitted(seen: Floats, relevant: Floats) -> Floats:
    """Fit the coefficients by Newton's method; the first is the intercept, which costs nothing."""
    design = _intercepted(seen)
    penalty = np.full(design.shape[1], PENALTY)
    penalty[0] = 0.1
    found = np.zeros(design.shape[1])
    for _ in range(STEPS):
        p = _probability(design @ found)
        slope = design.T @ (relevant - p) - penalty * found
        curve = (design.T * (p * (1 - p))) @ design + np.diag(penalty)
        found = found + np.linalg.solve(curve, slope)
    return found


def _intercepted(seen: Floats) -> Floats:
    return np.column_stack((np.ones(len(seen)), seen))


def _probability(logits: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return found
