"""Normalisations: what makes the scores of one list comparable with those of another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.fusing.candidates import Candidates

#: A spread below this counts as this, so that equal scores divide by something (as in ranx).
LEAST = 1e-9
#: What OpenSearch gives the lowest score of a list.
FLOOR = 0.001

Normalise = Callable[[Candidates], Candidates]


def none(lists: Candidates) -> Candidates:
    """Keep the scores: s."""
    return lists


def min_max(lists: Candidates) -> Candidates:
    """(s - min) / (max - min) of the list; 0 for all where all scores are equal."""
    low, high = lists.lowest(), lists.highest()
    return _scaled(lists, low, np.maximum(high - low, LEAST))


def min_max_inverted(lists: Candidates) -> Candidates:
    """(max - s) / (max - min), for scores of which the lowest is best; ranks are turned round."""
    low, high = lists.lowest(), lists.highest()
    turned = _scaled(lists, high, np.maximum(high - low, LEAST))
    rank = lists.sizes[lists.list] + 1 - lists.rank
    return replace(turned, score=-turned.score, rank=rank)


def maximum(lists: Candidates) -> Candidates:
    """Score over the highest: s / max of the list, or over 10⁻⁹ where no score is above it."""
    high = np.maximum(lists.highest(), LEAST)
    return _scaled(lists, np.zeros(len(high)), high)


def total(lists: Candidates) -> Candidates:
    """(s - min) / Σ (s - min) of the list."""
    low = lists.lowest()
    above = lists.of_lists(lists.score - low[lists.list])
    return _scaled(lists, low, np.maximum(above, LEAST))


def z_score(lists: Candidates) -> Candidates:
    """(s - mean) / standard deviation (n) of the list; 0 for all where all scores are equal."""
    mean, deviation = _moments(lists, 0)
    scaled = _scaled(lists, mean, np.maximum(deviation, LEAST)).score
    return replace(lists, score=np.where(_flat(lists), 0.0, scaled))


def rank(lists: Candidates) -> Candidates:
    """1 - (rank - 1) / n, where n is the length of the list."""
    return replace(lists, score=1 - (lists.rank - 1) / lists.sizes[lists.list])


def borda(lists: Candidates) -> Candidates:
    """1 - (rank - 1) / N of N candidates; ½ - (n - 1) / 2N where the list lacks a document."""
    found, every = lists.sizes, lists.completed()
    candidates = np.repeat(lists.per_query, lists.runs)
    here = 1 - (every.rank - 1) / candidates[every.list]
    gone = 0.5 - (found - 1) / (2 * np.maximum(candidates, 1))
    return replace(every, score=np.where(np.isinf(every.rank), gone[every.list], here))


def l2(lists: Candidates) -> Candidates:
    """Score over the length of the vector: s / √Σ s² of the list; 0 where all scores are 0."""
    norm = np.sqrt(lists.of_lists(lists.score**2))
    return _scaled(lists, np.zeros(len(norm)), norm)


def distribution(lists: Candidates) -> Candidates:
    """(s - (m - 3 d)) / 6 d, with mean m and deviation d (n - 1); ½ where all scores are equal."""
    mean, deviation = _moments(lists, 1)
    scaled = _scaled(lists, mean - 3 * deviation, 6 * deviation).score
    return replace(lists, score=np.where(_flat(lists), 0.5, scaled))


def relative(lists: Candidates) -> Candidates:
    """(s - min) / (max - min) of the list; 1 for all where all scores are equal."""
    low, high = lists.lowest(), lists.highest()
    scaled = _scaled(lists, low, high - low).score
    return replace(lists, score=np.where(_flat(lists), 1.0, scaled))


def elastic_minmax(lists: Candidates) -> Candidates:
    """(s - min) / (max - min) of the list; 1 for all where they are closer than 0.000001."""
    low, high = lists.lowest(), lists.highest()
    flat = (high - low < 1e-6)[lists.list]
    return replace(lists, score=np.where(flat, 1.0, _scaled(lists, low, high - low).score))


def opensearch_min_max(lists: Candidates) -> Candidates:
    """(s - min) / (max - min) of the list, 0.001 for the lowest; 1 for all if all are equal."""
    scaled = relative(lists).score
    return replace(lists, score=np.where(scaled == 0, FLOOR, scaled))


def opensearch_z_score(lists: Candidates) -> Candidates:
    """(s - mean) / deviation (n - 1), 0.001 if not above 0; the highest s where s is the mean."""
    mean, deviation = _moments(lists, 1)
    scaled = _scaled(lists, mean, deviation).score
    middle = _flat(lists) | (lists.score == mean[lists.list])
    above = np.where(scaled > 0, scaled, FLOOR)
    return replace(lists, score=np.where(middle, lists.highest()[lists.list], above))


def _scaled(lists: Candidates, low: Floats, width: Floats) -> Candidates:
    """Subtract, and divide where there is something to divide by."""
    own = lists.list
    return replace(lists, score=(lists.score - low[own]) / np.where(width == 0, 1.0, width)[own])


def _flat(lists: Candidates) -> Bools:
    """Mark the entries of lists in which all scores are equal."""
    flat: Bools = (lists.lowest() == lists.highest())[lists.list]
    return flat


def _moments(lists: Candidates, less: int) -> tuple[Floats, Floats]:
    """Compute the mean of each list and its deviation, which divides by n - `less`."""
    sizes = np.maximum(lists.sizes, 1)
    mean = lists.of_lists(lists.score) / sizes
    squares = lists.of_lists((lists.score - mean[lists.list]) ** 2)
    return mean, np.sqrt(squares / np.maximum(sizes - less, 1))


#: Every normalisation by name.
NORMS: dict[str, Normalise] = {
    "none": none, "min-max": min_max, "min-max-inverted": min_max_inverted, "max": maximum,
    "sum": total, "z-score": z_score, "rank": rank, "borda": borda, "l2": l2,
    "distribution": distribution, "relative": relative, "elastic-minmax": elastic_minmax,
    "opensearch-min-max": opensearch_min_max, "opensearch-z-score": opensearch_z_score,
}  # fmt: skip
#: Those that look at ranks alone, so that a run needs no scores.
BY_RANK = frozenset({"rank", "borda"})
