"""Making lists to show: two runs in, for each query lists with their probabilities out."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from idealist import files
from idealist.comparing.compare_options import whole_number
from idealist.data import Run
from idealist.errors import UsageError, nearest
from idealist.formats import read_run
from idealist.formats.source import distinct
from idealist.interleaving.drafting import (
    Coin,
    Drafted,
    balanced,
    every,
    preferred_by_depth,
    team_draft,
)
from idealist.interleaving.optimised import MOST, optimised
from idealist.protocol import RULES, UNORDERED, Protocol
from idealist.ranking.ranked import listing
from idealist.rendering.document import Document, Doubts, Table, Text
from idealist.rendering.doubt import Doubt
from idealist.rendering.result import Result
from idealist.rendering.wording import counted, few, told

#: The methods, with what each is.
METHODS = {
    "team-draft": "captains of both runs pick in turn",
    "balanced": "documents of both runs in turn",
    "optimised": "probabilities under which clicks at random favour neither run",
}
#: Those that throw coins.
DRAFTS: dict[str, Callable[[Sequence[str], Sequence[str], int, Coin], Drafted]] = {
    "team-draft": team_draft, "balanced": balanced,
}  # fmt: skip
#: The most documents of a list; beyond, candidates drawn for optimised ones may not be fair.
DEEPEST = {"team-draft": 1000, "balanced": 1000, "optimised": 30}
#: Credits that are nearer to 0 differ from it by rounding alone.
ROUNDING = 1e-12


@dataclass(frozen=True)
class InterleavedList:
    """One list for a query: its documents, what clicks on them are worth, and where they are from.

    A click with a credit above 0 counts for the second run, below 0 for the first. `ranks` are
    those of each document in either run, None where it is not found. A visitor who asks the query
    gets the list with its `probability`, which those of one query sum to 1.
    """

    query: str
    number: int
    method: str
    documents: tuple[str, ...]
    credits: tuple[float, ...]
    ranks: tuple[tuple[int | None, int | None], ...]
    probability: float

    def score(self, clicked: Collection[int]) -> float:
        """Say how far clicks favour the second run; `clicked` are places, from 0 on.

        By team-draft and balanced it is 1, 0 or -1: which run has more clicks. By optimised it is
        the sum of the credits, since fair probabilities make their mean 0, not that of their signs.
        """
        if self.method == "balanced":
            return float(preferred_by_depth(self.ranks, list(clicked)))
        total = math.fsum(self.credits[place] for place in clicked)
        if abs(total) < ROUNDING:
            return 0.0
        return total if self.method == "optimised" else math.copysign(1.0, total)

    @property
    def leaning(self) -> float:
        """How far the second run's documents stand above the first's, whatever is clicked."""
        worth = ((1 / b if b else 0.0) - (1 / a if a else 0.0) for a, b in self.ranks)
        return math.fsum(own / place for place, own in enumerate(worth, 1))


@dataclass(frozen=True, repr=False)
class Interleaved(Result):
    """Lists of two runs, query by query, to be shown and clicked on.

    >>> made = interleave({"q": ["x", "y"]}, {"q": ["y", "z"]}, "balanced")
    >>> [(one.number, one.documents, one.probability) for one in made["q"]]
    [(1, ('x', 'y', 'z'), 0.5), (2, ('y', 'x', 'z'), 0.5)]
    """

    a: str
    b: str
    method: str
    depth: int
    lists: tuple[InterleavedList, ...]
    doubts: tuple[Doubt, ...] = ()

    def __getitem__(self, query: str) -> list[InterleavedList]:
        return [one for one in self.lists if one.query == query]

    @property
    def queries(self) -> int:
        """For how many queries there are lists."""
        return len({one.query for one in self.lists})

    @property
    def summary(self) -> str:
        """What was interleaved, in one sentence."""
        lists = counted(len(self.lists), "list", "lists")
        queries = counted(self.queries, "query", "queries")
        runs = f"{told(self.a)} and {told(self.b)}"
        return f"{self.method} of {runs}: {lists} for {queries}, {self.depth} documents at most"

    def report(self) -> Document:
        """Describe the lists: how many, and the first of them."""
        rows = [
            (one.query, one.number, f"{one.probability:.4g}", " ".join(one.documents))
            for one in self.lists[:10]
        ]
        table = Table.of(["query", "list", "probability", "documents"], [], rows)
        return Document((Text(self.summary, strong=True), table), (Doubts(self.doubts),))

    def data(self) -> list[dict[str, Any]]:
        """Return a record for each list, as `write` writes them."""
        return [
            {
                "query": one.query, "list": one.number, "probability": one.probability,
                "method": self.method, "a": self.a, "b": self.b,
                "documents": list(one.documents), "credits": list(one.credits),
                "rank_a": [rank for rank, _ in one.ranks],
                "rank_b": [rank for _, rank in one.ranks],
            }
            for one in self.lists
        ]  # fmt: skip

    def write(self, path: str | Path) -> None:
        """Write the lists, a JSON object on each line, for a service to show."""
        lines = (f"{json.dumps(one, ensure_ascii=False)}\n" for one in self.data())
        files.write(path, files.compressed(path, "".join(lines).encode()))


def interleave(
    a: Any,
    b: Any,
    method: str = "team-draft",
    *,
    depth: int = 10,
    lists: int | None = None,
    seed: int | str = 0,
    **rules: Any,
) -> Interleaved:
    """Interleave two runs: for each query that both have, lists to be shown to visitors.

    `method` is ``team-draft``, ``balanced`` or ``optimised``. Without `lists`, every list there is
    comes with its probability, and a service draws one of them for each visitor. With ``lists=n``,
    n are drawn by `seed`, query and number alone; each is as probable. A service that has both
    rankings at hand draws one at once: ``interleave({query: ids}, {query: other_ids}, lists=1,
    seed=session)``. `rules` say how the runs are ranked, such as ``ties="docid-asc"``.

    >>> made = interleave({"q": ["x", "y", "z"]}, {"q": ["x", "z", "w"]}, lists=1, seed="session 7")
    >>> made.lists[0].documents, made.lists[0].credits
    (('x', 'y', 'z', 'w'), (1.0, -1.0, -1.0, 0.0))
    """
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r}", nearest(str(method), METHODS))
    if not 1 <= whole_number("depth", depth) <= DEEPEST[method]:
        hint = f"{method} lists have from 1 to {DEEPEST[method]:,} documents"
        raise UsageError(f"depth cannot be {depth}", hint)
    if lists is not None and whole_number("lists", lists) == 0:
        raise UsageError("lists cannot be 0", "give the number of lists to draw for each query")
    protocol = _protocol(rules)
    runs = _named(read_run(a).loaded(), read_run(b).loaded())
    rankings = [_ranked(run, depth, protocol) for run in runs]
    shared = sorted(rankings[0].keys() & rankings[1].keys())
    if not shared:
        hint = "give runs of one query set"
        raise UsageError(f"{runs[0].name} and {runs[1].name} have no query in common", hint)
    maker = _Maker(method, depth, lists, str(seed))
    made = tuple(
        one for query in shared for one in maker.lists_of(query, *(run[query] for run in rankings))
    )
    doubts = tuple(_doubts(runs, rankings, shared, depth))
    return Interleaved(runs[0].name, runs[1].name, method, depth, made, doubts)


def _named(a: Run, b: Run) -> tuple[Run, Run]:
    """Tell runs of one name apart: plain data has none."""
    first, second = ("a", "b") if a.name == b.name == "run" else distinct([a.name, b.name])
    return a.renamed(first), b.renamed(second)


def _protocol(rules: Mapping[str, Any]) -> Protocol:
    """Make the rules by which the runs are ranked; refuse what says nothing of that."""
    if unknown := [name for name in rules if name not in RULES]:
        raise UsageError(f"{unknown[0]} says nothing of lists", nearest(unknown[0], RULES, RULES))
    if (ties := rules.get("ties")) in UNORDERED:
        hint = "say which of equal scores comes first, such as ties=docid-asc"
        raise UsageError(f"lists to show need an order: ties cannot be {ties}", hint)
    return Protocol(**rules)


def _ranked(run: Run, depth: int, protocol: Protocol) -> dict[str, list[str]]:
    found = listing(run, protocol, run.rows().queries, depth)
    return {query: ranking.documents for query, ranking in found.items()}


@dataclass(frozen=True)
class _Maker:
    """Makes the lists of a query, by what was asked for."""

    method: str
    depth: int
    count: int | None
    seed: str

    def lists_of(self, query: str, a: list[str], b: list[str]) -> Iterator[InterleavedList]:
        """Make the lists of a query."""
        ranks_a, ranks_b = ({d: rank for rank, d in enumerate(run, 1)} for run in (a, b))
        for number, one in enumerate(self._drafted(query, a, b), 1):
            ranks = tuple((ranks_a.get(d), ranks_b.get(d)) for d in one.documents)
            yield InterleavedList(
                query, number, self.method, one.documents, one.credits, ranks, one.probability
            )

    def _drafted(self, query: str, a: list[str], b: list[str]) -> Sequence[Drafted]:
        numbers = range(1, 1 + (self.count or 0))
        if self.method == "optimised":
            every_list = optimised(a, b, self.depth, self._number(query, 0) >> 1)
            if self.count is None:
                return every_list
            drawn = [_pick(every_list, self._number(query, number)) for number in numbers]
        else:
            draft = partial(DRAFTS[self.method], a, b, self.depth)
            if self.count is None:
                return self._every(draft, query)
            drawn = [draft(self._coin(query, number)) for number in numbers]
        return [one._replace(probability=1 / len(drawn)) for one in drawn]

    def _every(self, draft: Callable[[Coin], Drafted], query: str) -> list[Drafted]:
        found = every(draft, MOST)
        if found is None:
            message = f"query {query!r} has more than {MOST:,} lists of {self.depth} documents"
            raise UsageError(message, "draw some of them: lists=100, or --lists 100")
        return found

    def _number(self, query: str, number: int) -> int:
        """Draw 64 bits from seed, query and number of the list, and from nothing else."""
        return int.from_bytes(self._bytes(query, number, 8), "big")

    def _coin(self, query: str, number: int) -> Coin:
        """Draw a coin for each place of a list."""
        bits = iter(self._bytes(query, number, self.depth))
        return lambda: next(bits) >= 128

    def _bytes(self, query: str, number: int, count: int) -> bytes:
        key = json.dumps([self.seed, query, number])
        return hashlib.shake_256(key.encode()).digest(count)


def _pick(lists: Sequence[Drafted], bits: int) -> Drafted:
    """Choose a list by its probability; `bits` are 64 random ones."""
    share, passed = bits / 2**64, 0.0
    for one in lists:
        passed += one.probability
        if share < passed:
            return one
    return lists[-1]


def _failed(run: Run) -> Iterator[str]:
    """List the queries that a collected run lacks because the engine did not answer them."""
    found = (one.queries for one in run.rows().remarks if one.code == "failed-queries")
    return chain.from_iterable(found)


def _doubts(
    runs: Sequence[Run], rankings: Sequence[dict[str, list[str]]], shared: Sequence[str], depth: int
) -> Iterator[Doubt]:
    """Say which queries cannot be compared, or not in full."""
    a, b = rankings
    failed = {query for run in runs for query in _failed(run)} - {*shared}
    if failed:
        words = f"the search failed or timed out for {counted(len(failed), 'query', 'queries')}"
        yield Doubt("failed-queries", f"{words} ({few(sorted(failed))}): left out", len(failed),
                    tuple(sorted(failed)), total=len(failed) + len(shared))  # fmt: skip
    if lacking := sorted((a.keys() ^ b.keys()) - failed):
        words = f"{counted(len(lacking), 'query is', 'queries are')} in one of the runs only"
        total = len(lacking) + len(shared)
        yield Doubt("unshared-queries", f"{words} and left out", len(lacking), tuple(lacking),
                    total=total)  # fmt: skip
    if alike := [query for query in shared if a[query] == b[query]]:
        words = f"both runs rank the first {depth} documents alike for "
        words += counted(len(alike), "query", "queries")
        yield Doubt("same-lists", words, len(alike), tuple(alike), severity="note",
                    total=len(shared))  # fmt: skip
    short = [q for q in shared if min(len(a[q]), len(b[q])) < depth and a[q] != b[q]]
    if short:
        words = f"a run has fewer than {depth} documents for "
        words += counted(len(short), "query", "queries")
        yield Doubt("short-rankings", words, len(short), tuple(short), severity="note",
                    total=len(shared))  # fmt: skip
