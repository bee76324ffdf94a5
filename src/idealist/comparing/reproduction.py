"""Reproduction: how far a run that should be another one is that run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from idealist.comparing import COMPARED
from idealist.comparing.pairing import ValueTable, aligned
from idealist.conventions import DEFAULT, Convention
from idealist.conventions.signature import Signature, shortened
from idealist.data import Run
from idealist.data.columns import Floats, Ints
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import several_runs
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.ranking.ranked import listing
from idealist.rendering.document import (
    COUNT,
    P_VALUE,
    SIGNED,
    TEXT,
    Column,
    Details,
    Document,
    Format,
    Items,
    Signatures,
    Table,
    Text,
)
from idealist.rendering.plain_data import record
from idealist.rendering.result import Result
from idealist.rendering.wording import few, number, shared_signatures
from idealist.significance.paired import paired

__all__ = ["Reproduction", "reproduce"]

#: How far down rankings are compared, and the persistence of RBO: what repro_eval takes.
DEPTH, PERSISTENCE = 1000, 0.95
#: How many queries are named.
NAMED = 3
YES = Format(lambda same: "yes" if same else "no", left=True)


@dataclass(frozen=True)
class Order:
    """The rankings that two runs have for a query; `shared` counts the documents of both.

    `rbo` is their rank-biased overlap, `tau` Kendall's of the shared documents, `ktu` Kendall's
    tau union. What one or no shared document leaves undefined is NaN.
    """

    query: str
    same: bool
    shared: int
    rbo: float
    tau: float
    ktu: float

    @classmethod
    def of(cls, query: str, a: Sequence[str], b: Sequence[str]) -> Order:
        """Compare two rankings without ties.

        >>> found = Order.of("q1", ["d1", "d2", "d3"], ["d1", "d3", "d4"])
        >>> found.shared, round(found.rbo, 4), found.tau, round(found.ktu, 4)
        (2, 0.728, 1.0, 1.0)
        """
        place = {document: i for i, document in enumerate(b, 1)}
        pairs = [(i, place[document]) for i, document in enumerate(a, 1) if document in place]
        ranks = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        overlap = _rbo(ranks.max(axis=1), max(len(a), len(b)))
        return cls(query, list(a) == list(b), len(ranks), overlap, _tau(*ranks.T), _ktu(a, b))


def _rbo(reached: Ints, depth: int) -> float:
    """Compute Σ p^(d-1) A_d / Σ p^(d-1), A_d the share of the first d documents in both rankings.

    `reached` are the depths by which both have a document.

    Reference: Clarke et al. 2021, doi:10.1145/3451161
    """
    depths = np.arange(1, depth + 1)
    common = np.cumsum(np.bincount(reached, minlength=depth + 1))[1:]
    weights = PERSISTENCE ** (depths - 1.0)
    return float(np.sum(weights * common / depths) / np.sum(weights))


def _ktu(a: Sequence[str], b: Sequence[str]) -> float:
    """Compute Kendall's tau union: of the places, among all documents by id, of what ranks alike.

    The documents at rank r of both rankings are a pair, so it depends on how ids sort. Where one
    ranking is longer, the rest of it has no partner.

    Reference: Breuer et al. 2020, doi:10.1145/3397271.3401036
    """
    place = {document: i for i, document in enumerate(sorted({*a, *b}))}
    pairs = [(place[one], place[other]) for one, other in zip(a, b, strict=False)]
    return _tau(*np.array(pairs, dtype=np.int64).reshape(-1, 2).T)


def _tau(x: Ints, y: Ints) -> float:
    """Compute Kendall's tau of two lists without ties, which may be long."""
    from scipy.stats import kendalltau

    return round(float(kendalltau(x, y).statistic), 14) if len(x) > 1 else math.nan


@dataclass(frozen=True)
class Fidelity:
    """How far a measure's values are the same: means, and the distance of the queries' values.

    `rmse` is √mean (x - x')²; `nrmse` is that over the largest it can be for a measure on [0, 1],
    √mean max(x, 1 - x)². `p` is that of the paired t-test. With baselines, `effect_ratio` is the
    reproduced mean improvement over the original one, ideally 1, and `delta_ri` the original
    relative improvement less the reproduced one, ideally 0; NaN without them.
    """

    measure: str
    original: float
    reproduced: float
    rmse: float
    nrmse: float
    p: float
    effect_ratio: float = math.nan
    delta_ri: float = math.nan

    @classmethod
    def of(cls, table: ValueTable) -> Fidelity:
        """Compare the values of an original and its reproduction; baselines may follow."""
        if not table.queries:
            return cls(table.label, *[math.nan] * 5)
        a, b, *baselines = table.values
        distance = math.sqrt(np.mean((a - b) ** 2))
        widest = math.sqrt(np.mean(np.maximum(a, 1 - a) ** 2)) if table.in_unit else math.nan
        effects = _effects(a, b, *baselines) if baselines else ()
        means = float(a.mean()), float(b.mean())
        return cls(table.label, *means, distance, distance / widest, paired(b - a).p, *effects)


def _effects(a: Floats, b: Floats, base: Floats, other: Floats) -> tuple[float, float]:
    """Compute the effect ratio and the delta of the relative improvements."""
    original, reproduced = float((a - base).mean()), float((b - other).mean())
    ratio = reproduced / original if original else math.nan
    if not (base.mean() and other.mean()):
        return ratio, math.nan
    return ratio, float(original / base.mean() - reproduced / other.mean())


@dataclass(frozen=True, repr=False)
class Reproduction(Result):
    """How far a run is the one it should be: by its rankings, by its values, and by its effects.

    `orders` compares the rankings of each query that both runs have, `alone` names the queries
    that one of them lacks, `fidelity` compares values, a measure each. `baselines` are the names of
    the original and the reproduced baseline, if there are any. `values` holds, by measure and
    query, the original value and the reproduced one. With `per_query` every query is shown.
    """

    original: str
    reproduced: str
    orders: tuple[Order, ...]
    alone: tuple[str, ...]
    fidelity: tuple[Fidelity, ...]
    values: dict[str, dict[str, tuple[float, float]]]
    signatures: Mapping[str, Signature]
    convention: str
    baselines: tuple[str, ...] = ()
    per_query: bool = False

    @property
    def same(self) -> bool:
        """Whether all rankings are the same."""
        return not self.alone and all(one.same for one in self.orders)

    def mean(self, name: str) -> float:
        """Compute the mean rbo, tau or ktu of the queries that have one."""
        known = [value for one in self.orders if not math.isnan(value := getattr(one, name))]
        return sum(known) / len(known) if known else math.nan

    @property
    def summary(self) -> str:
        """Whether the rankings are the same, and how far values differ if not."""
        total = len(self.orders) + len(self.alone)
        queries = many(total, "query", "queries")
        if self.same:
            every = f"all {queries}" if total > 1 else "the only query"
            return f"{self.reproduced} is the same ranking as {self.original} for {every}"
        same = sum(one.same for one in self.orders)
        ordered = f"{same} of {queries} {'is' if same == 1 else 'are'} ordered identically"
        first = self.fidelity[0]
        differs = f"{first.measure} per query differs by {number(first.rmse)} (RMSE)"
        values = differs if first.rmse else f"{first.measure} is the same for every query"
        return f"{self.reproduced} is not the same ranking as {self.original}: {ordered}; {values}"

    def report(self) -> Document:
        """Describe the values, the rankings, and the queries that differ most."""
        by_query = self._queries()
        blocks = (
            Text(f"{self.summary}.", strong=True),
            self._measures(),
            Items(tuple(self._words())),
            by_query if self.per_query else Details("Every query", (by_query,)),
        )
        known = shortened(self.signatures, self.convention).values()
        return Document(blocks, (Signatures(tuple(shared_signatures([*known]))),))

    def _measures(self) -> Table:
        columns = (
            Column("measure", TEXT), Column(self.original), Column(self.reproduced),
            Column("RMSE"), Column("nRMSE"), Column("p t", P_VALUE),
            Column("effect ratio"), Column("ΔRI", SIGNED),
        )  # fmt: skip
        rows = tuple(tuple(asdict(one).values()) for one in self.fidelity)
        return Table(columns, rows).without([] if self.baselines else ["effect ratio", "ΔRI"])

    def _queries(self) -> Table:
        """Tabulate the queries: how far the rankings agree, then the values of both runs."""
        pairs = [(label, run) for label in self.values for run in (self.original, self.reproduced)]
        columns = (
            Column("query", TEXT), Column("identical", YES), Column("shared", COUNT),
            Column("RBO"), Column("tau"), Column("KTU"),
            *(Column(" ".join(pair)) for pair in pairs),
        )  # fmt: skip
        rows = [(*asdict(one).values(), *self._both(one)) for one in self.orders]
        return Table(columns, tuple(rows))

    def _both(self, order: Order) -> Iterator[float | None]:
        """Give the two values of a query by each measure; None where it has none."""
        for known in self.values.values():
            yield from known.get(order.query, (None, None))

    def _words(self) -> Iterator[str]:
        """Say how far rankings agree, and name the queries that differ most or are missing."""
        means = f"RBO {number(self.mean('rbo'))}, Kendall's tau {number(self.mean('tau'))}"
        union = f"Kendall's tau union {number(self.mean('ktu'))}"
        shared = "of the documents that both have"
        yield f"rankings, mean over queries: {means} {shared}, {union}"
        moved = sorted((one for one in self.orders if not one.same), key=lambda one: one.rbo)
        if moved:
            named = ", ".join(f"{one.query} {number(one.rbo)}" for one in moved[:NAMED])
            yield f"rankings that agree least, by RBO: {named}"
        if self.alone:
            yield f"in one of the runs only: {few(self.alone)}"
        if self.baselines:
            yield f"effects are those over the baselines {' and '.join(self.baselines)}"

    def table(self) -> Table:
        """Return a row for each measure or, with `per_query`, for each query."""
        return self._queries() if self.per_query else self._measures()

    def data(self) -> dict[str, Any]:
        """Return the contract of ``compare --reproduce -f json``; undefined values are None."""
        return {
            "original": self.original,
            "reproduced": self.reproduced,
            "baselines": list(self.baselines),
            "same": self.same,
            "identical": sum(one.same for one in self.orders),
            "queries": len(self.orders) + len(self.alone),
            "alone": list(self.alone),
            "rankings": record({name: self.mean(name) for name in ("rbo", "tau", "ktu")}),
            "measures": [record(asdict(one)) for one in self.fidelity],
            "orders": [record(asdict(one)) for one in self.orders],
            "values": self.values,
            "signatures": {label: str(one) for label, one in self.signatures.items()},
        }


def reproduce(
    qrels: Any,
    original: Any,
    reproduced: Any,
    measures: Any = COMPARED,
    *,
    baselines: Sequence[Any] = (),
    queries: Iterable[Any] | None = None,
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> Reproduction:
    """Say how far a run is the one that it should reproduce.

    Rankings are compared to depth 1000 by rank-biased overlap with p 0.95, by Kendall's tau of the
    documents that both have, and by Kendall's tau union; the values of queries by their root mean
    square error and the paired t-test. `baselines` are two more runs, the original baseline and its
    reproduction: then the effects over them are compared too, by the effect ratio and the delta of
    the relative improvements. Everything else is as in `evaluate`.

    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> ours = {"q1": ["b", "a"], "q2": ["a", "b"]}
    >>> found = reproduce(qrels, {"q1": ["a", "b"], "q2": ["a", "b"]}, ours, "RR")
    >>> [one.same for one in found.orders], round(found.fidelity[0].rmse, 4)
    ([False, True], 0.3536)

    Reference: Breuer et al. 2020, doi:10.1145/3397271.3401036
    """
    if len(baselines) not in (0, 2):
        hint = "give the original baseline and its reproduction"
        raise UsageError("effects need two baselines", hint)
    runs = several_runs([original, reproduced, *baselines])
    evaluator = Evaluator(qrels, measures, convention=convention, queries=queries, **axes)
    own = {label: one.measure for label, one in evaluator.instruments.items()}
    evaluations = [evaluator(run) for run in runs]
    tables = aligned(evaluations, list(evaluator.measures), own)
    names = [run.name for run in runs]
    protocol = next(iter(evaluator.instruments.values())).protocol
    kept = None if queries is None else evaluator.asked
    orders, alone = _orders(runs[0], runs[1], protocol, kept)
    return Reproduction(
        original=names[0],
        reproduced=names[1],
        orders=tuple(orders),
        alone=tuple(alone),
        fidelity=tuple(Fidelity.of(table) for table in tables),
        values={table.label: _by_query(table) for table in tables},
        signatures={table.label: table.signature for table in tables},
        convention=evaluations[0].convention,
        baselines=tuple(names[2:]),
    )


def _by_query(table: ValueTable) -> dict[str, tuple[float, float]]:
    """Give the original value of each query, and the reproduced one."""
    return dict(zip(table.queries, zip(*table.values[:2].tolist(), strict=True), strict=True))


def _orders(
    original: Run, reproduced: Run, protocol: Protocol, asked: Iterable[str] | None
) -> tuple[list[Order], list[str]]:
    """Compare the rankings of queries that both runs have, and name the other queries."""
    found = [one.rows().spans().keys() for one in (original, reproduced)]
    wanted = [q for q in dict.fromkeys((*found[0], *found[1])) if asked is None or q in asked]
    both = [query for query in wanted if query in found[0] and query in found[1]]
    if not both:
        raise UsageError("the runs have no query in common", "check that ids are written alike")
    one, other = (listing(run, protocol, both, DEPTH) for run in (original, reproduced))
    orders = [Order.of(query, one[query].documents, other[query].documents) for query in both]
    return orders, [query for query in wanted if query not in both]
