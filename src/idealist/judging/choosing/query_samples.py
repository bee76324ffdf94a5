"""Samples of queries from a log, with weights that make a weighted mean estimate traffic."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from idealist.comparing.compare_options import whole_number
from idealist.data import Queries
from idealist.data.columns import Floats, Ints
from idealist.errors import UsageError, nearest
from idealist.formats.query_logs import QueryLog, read_query_log
from idealist.notation import tidy
from idealist.rendering.document import SHARE, TEXT, Block, Column, Document, Format, Table, Text
from idealist.rendering.plain_data import record, records_table
from idealist.rendering.result import Result
from idealist.rendering.wording import counted, number
from idealist.significance.means import effective

#: How queries are drawn, and what that means.
DESIGNS = {
    "traffic": "each with a probability proportional to how often it was asked",
    "strata": "as many from head, torso and tail, in each proportional to how often it was asked",
}
#: The strata, from the most frequent queries on, and the share of traffic at which each ends.
STRATA = {"head": 1 / 3, "torso": 2 / 3, "tail": 1.0}
#: How many queries a terminal shows.
SHOWN = 10
#: A probability that is nearer to 1 than this is 1.
CERTAIN = 1e-12
#: Numbers of queries, and of searches.
WHOLE = Format(lambda cell: f"{cell:,.0f}")


@dataclass(frozen=True)
class DrawnQuery:
    """A query that was drawn: its id follows from its text, so that it is the same in any sample.

    `weight` is the traffic that it stands for: its `count` over `inclusion`, the probability with
    which it was drawn.
    """

    id: str
    text: str
    weight: float
    stratum: str
    inclusion: float
    count: float


class LogPart(NamedTuple):
    """A part of the log, and how many queries were drawn of it."""

    name: str
    queries: int
    traffic: float
    drawn: int


@dataclass(frozen=True, repr=False)
class QuerySample(Result):
    """Queries drawn from a log by one of `DESIGNS`, in random order.

    Since the order is random, the first few of them are a random part of the sample.

    >>> sample = sample_queries({"shoes": 60, "red shoes": 25, "hat": 10, "cap": 5}, 2)
    >>> [(one.text, one.weight, one.inclusion) for one in sample.drawn]
    [('red shoes', 40.0, 0.625), ('shoes', 60.0, 1.0)]
    >>> round(sample.design_effect, 2), round(sample.covered, 2)
    (1.04, 0.85)
    """

    drawn: tuple[DrawnQuery, ...]
    strata: tuple[LogPart, ...]
    by: str
    seed: int
    log: QueryLog

    @property
    def queries(self) -> Queries:
        """The queries with their columns, for `queries` and `weights` of other functions."""
        text = {one.id: one.text for one in self.drawn}
        names = ("weight", "stratum", "inclusion", "count")
        columns = {name: {one.id: getattr(one, name) for one in self.drawn} for name in names}
        return Queries(text, columns, self.log.name)

    @property
    def effective(self) -> float:
        """The queries of equal weight that make a mean as sure: (Σ w)² / Σ w²."""
        return effective([one.weight for one in self.drawn])

    @property
    def design_effect(self) -> float:
        """How much larger the variance of a mean is than with equal weights (Kish).

        Formula: n Σ w² / (Σ w)²

        Reference: Kish 1965, Survey Sampling
        """
        return len(self.drawn) / self.effective

    @property
    def covered(self) -> float:
        """The share of the traffic that the drawn queries themselves carry."""
        return math.fsum(one.count for one in self.drawn) / self.log.total

    @property
    def summary(self) -> str:
        """How many queries were drawn, of how many, and how."""
        of = counted(len(self.log.counts), "different query", "different queries")
        verb = "was" if len(self.drawn) == 1 else "were"
        return f"{len(self.drawn):,} of {of} {verb} drawn, by {self.by}"

    def report(self) -> Document:
        """Describe the sample: its parts, the first queries, and what the weights cost."""
        rows = [
            (one.name, one.queries, one.traffic / self.log.total, one.drawn,
             one.traffic / one.drawn if one.drawn else math.nan)
            for one in self.strata
        ]  # fmt: skip
        columns = (
            Column("part", TEXT), Column("queries", WHOLE), Column("traffic", SHARE),
            Column("drawn", WHOLE), Column("mean weight", WHOLE),
        )  # fmt: skip
        notes: tuple[Block, ...] = tuple(map(Text, self._notes()))
        parts = [Table(columns, tuple(rows))] if len(rows) > 1 else []
        return Document((Text(f"{self.summary}.", strong=True), *parts, self._first()), notes)

    def _first(self) -> Table:
        columns = (
            Column("id", TEXT), Column("text", TEXT, shortens=True), Column("count", WHOLE),
            Column("inclusion"), Column("weight", WHOLE),
        )  # fmt: skip
        rows = [
            (one.id, one.text, one.count, one.inclusion, one.weight)
            for one in sorted(self.drawn, key=lambda one: (-one.count, one.text))[:SHOWN]
        ]
        title = f"the {SHOWN} most frequent of them; -o FILE.csv writes all"
        return Table(columns, tuple(rows), title if len(self.drawn) > SHOWN else "")

    def _notes(self) -> list[str]:
        """Say how the sample was drawn, and how far its mean can be trusted."""
        log = self.log
        lines = [
            f"read: {log.name}: {log.read_as}",
            f"{counted(round(log.total), 'search', 'searches')} of "
            f"{counted(len(log.counts), 'different query', 'different queries')}; the drawn "
            f"queries carry {100 * self.covered:.1f} % of them, and stand for all by their weights",
            f"drawn {DESIGNS[self.by]}; seed {self.seed}",
            "in random order: whoever judges the first of them judges a random part",
            f"design effect {number(self.design_effect, 2)}: a weighted mean is as sure as one of "
            f"{self.effective:.1f} queries of equal weight",
        ]
        if sure := sum(one.inclusion == 1 for one in self.drawn):
            are = "is one query" if sure == 1 else f"are {sure:,} queries"
            lines.append(f"among them {are} so frequent that all samples of this size have them")
        if log.blank:
            lines.append(f"{counted(log.blank, 'row', 'rows')} without a query left out")
        if variants := log.variants:
            differ = "query differs" if variants == 1 else "queries differ"
            lines.append(
                f"{variants:,} {differ} from another only in case or blanks: counted apart, unless "
                "you say --fold"
            )
        return lines

    def table(self) -> Table:
        """Return the drawn queries, for `--queries` and `--weights` of all verbs."""
        return records_table([asdict(one) for one in self.drawn])

    def data(self) -> dict[str, Any]:
        """Return the contract of ``sample-queries -f json``, which is read as queries too."""
        return record({
            "by": self.by, "seed": self.seed, "design_effect": self.design_effect,
            "effective": self.effective, "covered": self.covered, "searches": tidy(self.log.total),
            "different": len(self.log.counts), "blank": self.log.blank,
            "variants": self.log.variants,
            "strata": [one._asdict() for one in self.strata],
            "queries": [asdict(one) for one in self.drawn],
        })  # fmt: skip


def sample_queries(
    log: Any,
    n: int,
    *,
    by: str = "traffic",
    seed: int = 0,
    columns: Mapping[str, Any] | None = None,
    layout: Sequence[str] | None = None,
    fold: bool = False,
) -> QuerySample:
    """Draw queries from a log to be judged, with weights that make means estimate traffic.

    `log` is a file, {query: count}, queries in a list, records or a data frame; without counts,
    each row is one search. `by` is ``traffic``, with probabilities proportional to how often a
    query was asked, or ``strata``: as many from head, torso and tail, each about a third of the
    traffic. `columns` names the columns of ``query`` and ``count``, theirs by ours; `layout` all
    columns of a file without a header. `fold` joins queries that differ only in case or blanks. The
    same `seed` draws the same queries anywhere, whatever the order of the log.

    >>> sample = sample_queries({f"query {i}": 1000 // i for i in range(1, 400)}, 50, by="strata")
    >>> [(one.name, one.queries, one.drawn) for one in sample.strata]
    [('head', 4, 4), ('torso', 36, 23), ('tail', 359, 23)]
    >>> round(sum(one.weight for one in sample.drawn)) == sum(sample.log.counts.values())
    True

    Reference: Hartley and Rao 1962, doi:10.1214/aoms/1177704564 (systematic, in random order)
    """
    if by not in DESIGNS:
        raise UsageError(f"by cannot be {by!r}", nearest(str(by), DESIGNS))
    if whole_number("n", n) == 0:
        raise UsageError("n cannot be 0", "give the number of queries to draw")
    seed = whole_number("seed", seed)
    read = read_query_log(log, columns, layout)
    read = read.folded if fold else read
    if n > len(read.counts):
        found = counted(len(read.counts), "different query", "different queries")
        hint = f"-n {len(read.counts)} takes them all"
        raise UsageError(f"{read.name} has {found}, fewer than {n:,}", hint)
    return _drawn(read, n, by, seed)


def _drawn(log: QueryLog, n: int, by: str, seed: int) -> QuerySample:
    texts, counts = list(log.counts), np.array(list(log.counts.values()), float)
    order, start = _random_order(texts, seed)
    parts = {"all": order} if by == "traffic" else _strata(counts, order)
    if n < len(parts):
        hint = f"draw {len(parts)} or more, or by traffic"
        raise UsageError(f"{n} cannot stand for {len(parts)} strata: {', '.join(parts)}", hint)
    sizes = _allocated(n, [len(part) for part in parts.values()])
    drawn, strata = [], []
    for (name, part), size in zip(parts.items(), sizes, strict=True):
        strata.append(LogPart(name, len(part), float(counts[part].sum()), size))
        chances = inclusions(counts[part], size)
        drawn += [
            DrawnQuery("", texts[part[i]], float(counts[part[i]] / chances[i]), name,
                       float(chances[i]), tidy(float(counts[part[i]])))
            for i in systematic(chances, start)
        ]  # fmt: skip
    drawn.sort(
        key=lambda one: hashlib.sha256(f"{seed}\nturn\n".encode() + _bytes(one.text)).digest()
    )
    named = (replace(one, id=name) for one, name in zip(drawn, _ids(drawn), strict=True))
    return QuerySample(tuple(named), tuple(strata), by, seed, log)


def _random_order(texts: Sequence[str], seed: int) -> tuple[Ints, float]:
    """Put queries in an order that only the seed and their texts decide, and draw a start.

    The order is that of SHA-256 of seed and text; the start, in [0, 1), comes from the seed.
    """
    before = f"{seed}\n".encode()
    keys = b"".join(hashlib.sha256(before + _bytes(text)).digest()[:16] for text in texts)
    high, low = np.frombuffer(keys, ">u8").reshape(-1, 2).T
    start = int.from_bytes(hashlib.sha256(before).digest()[:8], "big") >> 11
    return np.lexsort((low, high)), start / 2**53


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _ids(drawn: Sequence[DrawnQuery]) -> list[str]:
    """Name queries by their texts: ``q`` and as many hexadecimal digits as tell them apart."""
    keys = [hashlib.sha256(_bytes(one.text)).hexdigest() for one in drawn]
    digits = next(some for some in (10, 20, 64) if len({key[:some] for key in keys}) == len(keys))
    return [f"q{key[:digits]}" for key in keys]


def inclusions(counts: Floats, n: int) -> Floats:
    """Compute the probability of each to be among n that are drawn in proportion to their counts.

    Formula: π_i = min(1, c_i / s), where the step s makes Σ π_i = n

    >>> inclusions(np.array([60.0, 25, 10, 5]), 2).tolist()
    [1.0, 0.625, 0.25, 0.125]
    """
    if n >= len(counts):
        return np.ones_like(counts)
    largest = np.sort(counts)[::-1][:n]
    rest, certain = float(counts.sum()), 0
    while certain < n and largest[certain] * (n - certain) >= rest * (1 - CERTAIN):
        rest, certain = rest - float(largest[certain]), certain + 1
    if certain == n:
        rest = math.inf
    chances = np.minimum(1.0, counts * ((n - certain) / rest))
    return np.where(counts >= largest[certain - 1], 1.0, chances) if certain else chances


def systematic(chances: Floats, start: float) -> list[int]:
    """Choose by steps of 1 along the sums of probabilities, so that each has exactly its own.

    >>> systematic(np.array([1.0, 0.625, 0.25, 0.125]), 0.5)
    [0, 1]
    """
    sure = np.flatnonzero(chances == 1)
    open_ones = np.flatnonzero(chances < 1)
    ends = np.cumsum(chances[open_ones])
    steps = np.arange(round(float(ends[-1])) if len(ends) else 0) + start
    found = np.minimum(np.searchsorted(ends, steps, side="right"), len(ends) - 1)
    chosen: list[int] = [*sure.tolist(), *open_ones[found].tolist()]
    return chosen


def _strata(counts: Floats, order: Ints) -> dict[str, Ints]:
    """Part queries into head, torso and tail; those of one count stay together.

    A count belongs where the middle of its traffic lies, when counts are laid side by side from the
    largest on. The largest is always head, and the least tail.
    """
    levels, level, many = np.unique(-counts, return_inverse=True, return_counts=True)
    if len(levels) == 1:
        hint = "draw by traffic, which is then the same for all"
        raise UsageError("all queries were asked equally often: there is no head and no tail", hint)
    traffic = -levels * many
    middle = (np.cumsum(traffic) - traffic / 2) / traffic.sum()
    place = np.searchsorted(list(STRATA.values())[:-1], middle, side="right")
    place[0], place[-1] = 0, len(STRATA) - 1
    own = place[level][order]
    parts = {name: order[own == i] for i, name in enumerate(STRATA)}
    return {name: part for name, part in parts.items() if len(part)}


def _allocated(n: int, sizes: Sequence[int]) -> list[int]:
    """Allot n to parts alike; what a small part cannot give, the larger ones do.

    >>> _allocated(50, [4, 33, 362]), _allocated(5, [9, 9, 9])
    ([4, 23, 23], [1, 2, 2])
    """
    shares = [0] * len(sizes)
    smallest_first = sorted(range(len(sizes)), key=sizes.__getitem__)
    for done, i in enumerate(smallest_first):
        shares[i] = min(sizes[i], (n - sum(shares)) // (len(sizes) - done))
    return shares
