"""How far rankings and measures agree: rank-biased overlap, and the order of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from idealist.comparing.pairing import ValueTable
from idealist.data.columns import Floats, Ints
from idealist.errors import UsageError
from idealist.formats import read_run
from idealist.protocol import Protocol
from idealist.ranking.order import Ranking
from idealist.ranking.ranked import listing
from idealist.rendering.plain_data import record
from idealist.significance.means import mean
from idealist.significance.rank_tests import tau_ap, tau_ap_b, tau_b

#: How the documents of a tie count among the first d; see `rbo`.
TIES = ("w", "a", "b")


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
    baseline: Any, run: Any, p: float = 0.9, *, ties: str = "a", depth: int | None = None
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
    runs = [read_run(baseline), read_run(run)]
    queries = [one.rows().spans() for one in runs]
    both = [query for query in queries[0] if query in queries[1]]
    if not both:
        raise UsageError("the runs have no query in common", "check that ids are written alike")
    one, other = (listing(each, Protocol(), both, depth) for each in runs)
    for query in both:
        if not (one[query].documents and other[query].documents):
            hint = "compare rankings of at least one document"
            raise UsageError(f"query {query!r}: one of the rankings is empty", hint)
    return {query: _overlap(one[query], other[query], p, ties) for query in both}


class Counts(NamedTuple):
    """What two rankings have in common among the first d documents, at each depth d.

    `common` is X_d as far as both are known, `could` the most that the unknown part of the shorter
    one could add, `new` how far a document is there that the shorter one does not have, and `norm`
    what X_d is divided by.
    """

    common: Floats
    could: Floats
    new: Floats
    norm: Floats


class Ties(NamedTuple):
    """The tie that each depth falls into: its first and last rank, and the share of it above.

    A document of an earlier tie is among the first d for certain, one of this tie by the share.
    """

    first: Ints
    last: Ints
    share: Floats

    @classmethod
    def of(cls, ranking: Ranking, depth: Ints, ties: str) -> Ties:
        """Find the tie of each depth; below the ranking there are none."""
        known = len(ranking.documents)
        first, last = depth.copy(), depth.copy()
        first[:known] = ranking.first
        last[:known] = np.minimum(ranking.last, known)  # a tie ends where the ranking does
        share = (depth - first + 1) / (last - first + 1)
        return cls(first, last, np.ones_like(share) if ties == "w" else share)

    def total(self, power: int) -> Floats:
        """Sum over all documents how far each is among the first d, to a power."""
        own: Floats = self.first - 1 + (self.last - self.first + 1) * self.share**power
        return own


def _counts(short: Ranking, long: Ranking, depth: Ints, ties: str) -> Counts:
    one, other = Ties.of(short, depth, ties), Ties.of(long, depth, ties)
    place = {document: i for i, document in enumerate(long.documents)}
    mine = np.array([i for i, document in enumerate(short.documents) if document in place], int)
    theirs = np.array([place[short.documents[i]] for i in mine], int)
    alone = np.ones(len(depth) + 1, dtype=np.int64)
    alone[0], alone[theirs + 1] = 0, 0
    upto = np.cumsum(alone)  # documents that the shorter ranking does not have, by depth
    certain, begun = upto[other.first - 1], upto[other.last]
    unseen = np.maximum(depth - len(short.documents), 0)
    new = certain + (begun - certain) * other.share
    least = np.minimum(unseen, certain)
    return Counts(
        common=_common(one, other, mine, theirs),
        could=least + np.maximum(np.minimum(unseen, begun) - certain, 0) * other.share,
        new=new / np.maximum(begun, 1),
        norm=_norm(one, other, depth, ties),
    )


def _common(one: Ties, other: Ties, mine: Ints, theirs: Ints) -> Floats:
    """Sum over documents of both rankings how far each is among the first d of both.

    A document is begun from the first rank of its tie on, and certain below the last.
    """

    def number(a: Ints, b: Ints) -> Ints:
        """Count the documents that both rankings have by a depth."""
        size = len(one.first) + 2
        return np.cumsum(np.bincount(np.maximum(a, b), minlength=size))[1 : size - 1]

    begun = one.first[mine], other.first[theirs]
    certain = one.last[mine] + 1, other.last[theirs] + 1
    both = number(*certain)
    only_other, only_one = number(begun[0], certain[1]) - both, number(certain[0], begun[1]) - both
    neither = number(*begun) - both - only_other - only_one
    parts = one.share * only_other + other.share * only_one + one.share * other.share * neither
    common: Floats = both + parts
    return common


def _norm(one: Ties, other: Ties, depth: Ints, ties: str) -> Floats:
    """Compute what X_d is divided by; the unknown part of the shorter ranking has no ties."""
    if ties == "a":
        return depth.astype(np.float64)
    if ties == "w":
        return (one.total(1) + other.total(1)) / 2
    both: Floats = np.sqrt(one.total(2)) * np.sqrt(other.total(2))
    return both


def _overlap(one: Ranking, other: Ranking, p: float, ties: str) -> RBO:
    """Sum the agreement where one of the rankings is known at least, and add what is below."""
    short, long = sorted((one, other), key=lambda ranking: len(ranking.documents))
    s, n = len(short.documents), len(long.documents)
    depth = np.arange(1, n + 1)
    common, could, new, norm = _counts(short, long, depth, ties)
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
    return (1 - p) / p * common * max(-math.log1p(-p) - _known(p, n), 0.0)


@lru_cache
def _known(p: float, n: int) -> float:
    return sum(p**d / d for d in range(1, n + 1))


def _all_below(p: float, s: int, n: int, common: float) -> float:
    """Add up depths below n that bring two more documents in common each, until all are."""
    complete = n + s - int(common)
    more = sum((2 * d - n - s + common) / d * p**d for d in range(n + 1, complete + 1))
    return (1 - p) / p * more + p**complete


@dataclass(frozen=True)
class OrderAgreement:
    """How far two measures order systems alike: 1 means the same, 0 by chance (RBO: nothing).

    `tau_b` is Kendall's; `tau_ap` and `tau_ap_b` count the top of the order most, τ_AP with the
    first measure as the truth, τ_AP,b with neither; `rbo` is rank-biased overlap with p 0.9. Ties
    are allowed; where a measure has all systems `tied`, there is no order, and all are NaN.
    """

    measures: tuple[str, str]
    tau_b: float
    tau_ap: float
    tau_ap_b: float
    rbo: float
    tied: tuple[str, ...] = ()

    def __str__(self) -> str:
        a, b = self.measures
        ap = f"tau-AP {self.tau_ap:.4f}, tau-AP,b {self.tau_ap_b:.4f}"
        numbers = f"tau-b {self.tau_b:.4f}, {ap}, RBO {self.rbo:.4f}"
        return f"orders of the systems by {a} and {b}: {numbers}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return record(asdict(self))


def order_agreement(tables: Sequence[ValueTable]) -> tuple[OrderAgreement, ...]:
    """Compare the orders that measures give to three systems or more."""
    orders = {table.label: means_of(table) for table in tables}
    known = {label: order for label, order in orders.items() if len(order) > 2}
    return tuple(_agreement(known, a, b) for a, b in combinations(known, 2))


def means_of(table: ValueTable) -> dict[str, float]:
    """Return each system's mean, higher is better; nothing where no query has a value."""
    weights = None if table.weights is None else table.weights.tolist()
    sign = -1 if table.sense < 0 else 1
    if not table.queries:
        return {}
    means = (sign * mean(row, weights) for row in table.values.tolist())
    return dict(zip(table.runs, means, strict=True))


def _agreement(orders: dict[str, dict[str, float]], a: str, b: str) -> OrderAgreement:
    x, y = list(orders[a].values()), list(orders[b].values())
    tied = tuple(label for label, own in ((a, x), (b, y)) if math.isnan(tau_b(own, own)))
    if tied:
        return OrderAgreement((a, b), math.nan, math.nan, math.nan, math.nan, tied)
    overlap = rbo(orders[a], orders[b], ties="b").ext
    return OrderAgreement((a, b), tau_b(x, y), tau_ap(x, y), tau_ap_b(x, y), overlap)
