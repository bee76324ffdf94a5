"""Agreement of two rankings: rank-biased overlap, with unseen parts and ties taken into account."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from idealist.data.columns import Floats, Ints
from idealist.errors import UsageError
from idealist.formats import read_run
from idealist.protocol import Protocol
from idealist.ranking.order import Ranking
from idealist.ranking.ranked import listing

#: How the documents of a tie count among the first d; see `rbo`.
TIES = ("w", "a", "b")
#: How many depths are looked at together, so that long rankings fit in memory.
BLOCK = 256


@dataclass(frozen=True)
class RBO:
    """Rank-biased overlap of two rankings of which the first documents are known.

    `min` is the overlap if what is not known has nothing in common, `res` what it could add, and
    `ext` is the overlap if the rankings go on to agree as they have so far.
    """

    min: float
    res: float
    ext: float

    @property
    def max(self) -> float:
        """The overlap if what is not known has as much in common as it can."""
        return self.min + self.res


def rbo(a: Any, b: Any, p: float = 0.9, *, ties: str = "a") -> RBO:
    """Compare two rankings: lists of ids, or {id: score}, where equal scores are ties.

    RBO is (1 - p) Σ_d p^(d-1) A_d, with the agreement A_d = X_d / d of the first d documents, X_d
    of them common to both. `ties` says how a tied document counts among the first d. "w": as all of
    its tie do, from its first rank on. "a": by the share of the tie's orders that put it there,
    which gives the mean RBO of all orders. "b": so, and X_d is divided by what each ranking has in
    common with itself, so that a ranking with ties agrees with itself.

    >>> rbo(["d1", "d2"], ["d1", "d2"], p=0.5).ext
    1.0
    >>> found = rbo({"d1": 2, "d2": 1}, {"d2": 2, "d3": 1, "d1": 1}, p=0.5)
    >>> round(found.min, 4), round(found.res, 4), round(found.ext, 4)
    (0.3238, 0.1137, 0.4167)

    Reference: Webber et al. 2010, doi:10.1145/1852102.1852106; Corsi and Urbano 2024 for ties,
    arXiv:2406.07121
    """
    if isinstance(a, (str, Path)) or isinstance(b, (str, Path)):
        hint = "give two lists of ids, or compare files with rbo_by_query"
        raise UsageError("a text is no ranking", hint)
    return rbo_by_query({"q": a}, {"q": b}, p, ties=ties)["q"]


def rbo_by_query(
    a: Any, b: Any, p: float = 0.9, *, ties: str = "a", depth: int | None = None
) -> dict[str, RBO]:
    """Compare two runs, in any form that `read_run` takes, for each query that both have.

    Queries that only one of them has are left out; two runs without a common query are refused.

    >>> found = rbo_by_query({"q1": ["d1", "d2"], "q2": ["d1"]}, {"q1": ["d2", "d1"]}, p=0.5)
    >>> found["q1"].ext
    0.5
    """
    if not 0 < p < 1:
        raise UsageError(f"p cannot be {p!r}", "p is a number between 0 and 1")
    if ties not in TIES:
        raise UsageError(f"ties cannot be {ties!r}", f"ties is one of {', '.join(TIES)}")
    if depth is not None and depth < 1:
        raise UsageError(f"depth cannot be {depth!r}", "depth is a number of documents")
    runs = [read_run(a), read_run(b)]
    queries = [run.rows().spans() for run in runs]
    both = [query for query in queries[0] if query in queries[1]]
    if not both:
        raise UsageError("the runs have no query in common", "check that ids are written alike")
    one, other = (listing(run, Protocol(), both, depth) for run in runs)
    for query in both:
        if not (one[query].documents and other[query].documents):
            hint = "compare rankings of at least one document"
            raise UsageError(f"query {query!r}: one of the rankings is empty", hint)
    return {query: _overlap(one[query], other[query], p, ties) for query in both}


@dataclass(frozen=True, eq=False)
class Documents:
    """Some documents of a ranking: the first and last rank of each one's tie."""

    first: Ints
    last: Ints

    @classmethod
    def of(cls, ranking: Ranking, places: list[int] | None = None) -> Documents:
        """Take all documents, or those at some places; a tie ends where the ranking does."""
        chosen = slice(None) if places is None else np.array(places, dtype=np.int64)
        last = np.minimum(ranking.last, len(ranking.documents))
        return cls(ranking.first[chosen], last[chosen])

    def among(self, depth: Ints, ties: str) -> Floats:
        """Say how far each document is among the first d, from 0 to 1: documents x depths."""
        share = (depth - self.first[:, None] + 1) / (self.last - self.first + 1)[:, None]
        return np.where(share > 0, 1.0, 0.0) if ties == "w" else np.clip(share, 0.0, 1.0)


class Counts(NamedTuple):
    """What two rankings have in common among the first d documents, at each depth d.

    `common` is X_d as far as both are known, `could` what the unknown of the shorter one could add
    at most, `new` how far a document is there that the shorter one does not have, and `norm` what
    X_d is divided by.
    """

    common: Floats
    could: Floats
    new: Floats
    norm: Floats


def _counts(short: Ranking, long: Ranking, depth: Ints, ties: str) -> Counts:
    place = {document: i for i, document in enumerate(long.documents)}
    shared = [i for i, document in enumerate(short.documents) if document in place]
    theirs = [place[short.documents[i]] for i in shared]
    others = sorted(set(place.values()) - set(theirs))
    both = Documents.of(short, shared), Documents.of(long, theirs)
    unseen = np.maximum(depth - len(short.documents), 0)
    new = Documents.of(long, others).among(depth, ties)
    first = np.arange(len(others))[:, None] < unseen
    return Counts(
        common=np.sum(both[0].among(depth, ties) * both[1].among(depth, ties), axis=0),
        could=np.sum(np.where(first, new, 0.0), axis=0),
        new=np.sum(new, axis=0) / np.maximum(np.count_nonzero(new, axis=0), 1),
        norm=_norm(Documents.of(short), Documents.of(long), depth, unseen, ties),
    )


def _norm(short: Documents, long: Documents, depth: Ints, unseen: Ints, ties: str) -> Floats:
    """Give what X_d is divided by; the unknown of the shorter ranking has no ties."""
    if ties == "a":
        return depth.astype(np.float64)
    one, other = (documents.among(depth, ties) for documents in (short, long))
    power = 1 if ties == "w" else 2
    own: Floats = np.sum(one**power, axis=0) + unseen
    others: Floats = np.sum(other**power, axis=0)
    return (own + others) / 2 if ties == "w" else np.sqrt(own) * np.sqrt(others)


def _overlap(one: Ranking, other: Ranking, p: float, ties: str) -> RBO:
    """Sum the agreement where one of the rankings is known at least, and add what is below."""
    short, long = sorted((one, other), key=lambda ranking: len(ranking.documents))
    s, n = len(short.documents), len(long.documents)
    depth = np.arange(1, n + 1)
    blocks = [_counts(short, long, depth[at : at + BLOCK], ties) for at in range(0, n, BLOCK)]
    common, could, new, norm = map(np.concatenate, zip(*blocks, strict=True))
    found, alike = float(common[-1]), float(common[s - 1] / norm[s - 1])
    extended = common + np.maximum(depth - s, 0) * alike * new
    weights = (1 - p) * p ** (depth - 1.0)
    least, most, likely = (
        float(np.sum(weights * seen / norm)) for seen in (common, common + could, extended)
    )
    least += _same_below(p, n, found)
    most += _all_below(p, s, n, found)
    likely += p**n * (found + (n - s) * alike) / n
    return RBO(least, most - least, likely)


def _same_below(p: float, n: int, common: float) -> float:
    """Add up depths below n that bring nothing more in common."""
    known = sum(p**d / d for d in range(1, n + 1))
    return (1 - p) / p * common * max(-math.log1p(-p) - known, 0.0)


def _all_below(p: float, s: int, n: int, common: float) -> float:
    """Add up depths below n that bring two more documents in common each, until all are."""
    complete = n + s - int(common)
    more = sum((2 * d - n - s + common) / d * p**d for d in range(n + 1, complete + 1))
    return (1 - p) / p * more + p**complete
