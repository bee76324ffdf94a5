"""The ideal list of measures of novelty: at each rank the document that gains most there.

The best list is NP-hard to find, so that all divide by this one (Clarke et al. 2008).
"""

from __future__ import annotations

import numpy as np

from idealist.measures.groups import Groups
from idealist.tables.columns import Bools, Floats

#: Gains as close as this are equal: sums of the same terms, added in another order.
EQUAL = 1 - 1e-12
#: How many queries are taken at a time, to bound the memory.
BLOCK = 256


def ideal_sums(
    groups: Groups, relevant: Bools, alpha: float, weights: Floats, queries: int
) -> Floats:
    """Give the sum of each query's ideal list, whose ranks have these weights.

    `relevant` says which of the judgments by group are.
    """
    row = np.flatnonzero(relevant)
    group = np.searchsorted(groups.qrels.starts, row, side="right") - 1
    query = groups.query[group]
    subtopic = group - np.searchsorted(groups.query, query)
    _, first, document = np.unique(groups.pair[row], return_index=True, return_inverse=True)
    sizes = np.bincount(query[first], minlength=queries)
    document = np.cumsum(sizes)[query] - 1 - document  # the last id of each query first
    sums, by_size = np.zeros(queries), np.argsort(sizes, kind="stable")
    for start in range(0, queries, BLOCK):
        block = np.sort(by_size[start : start + BLOCK])
        here = np.isin(query, block)
        shape = subtopic[here].max(initial=-1) + 1, len(block), sizes[block].max()
        covers = np.zeros(shape)
        covers[subtopic[here], np.searchsorted(block, query[here]), document[here]] = 1.0
        sums[block] = _greedy(covers, alpha, weights[: shape[2]])
    return sums


def _greedy(covers: Floats, alpha: float, weights: Floats) -> Floats:
    """Fill the ranks of each list; `covers` is subtopics x queries x documents."""
    lists = np.arange(covers.shape[1])
    worth, sums = np.ones(covers.shape[:2]), np.zeros(len(lists))
    for weight in weights.tolist():
        gain = np.zeros(covers.shape[1:])
        for covered, left in zip(covers, worth, strict=True):  # in order: padding adds nothing
            gain += covered * left[:, None]
        best = gain.max(axis=1)
        chosen = np.argmax(gain >= best[:, None] * EQUAL, axis=1)
        before, sums = sums, sums + best * weight
        if np.array_equal(before, sums):  # what follows gains less still
            break
        worth *= 1.0 - alpha * covers[:, lists, chosen]
        covers[:, lists, chosen] = 0.0
    return sums
