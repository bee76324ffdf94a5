"""The compiled kernel's part of ranking: what it is asked, and what its answer means.

The kernel finds and counts faults but does not describe them: the queries concerned are ranked
again in Python, which says what is wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from idealist import kernel
from idealist.data import Qrels
from idealist.data.columns import Bools, Ints
from idealist.data.run import Rows, Source
from idealist.errors import SHOWN, Defect, Faults, InputError
from idealist.notation import call
from idealist.protocol import Protocol
from idealist.ranking.document_lists import DocumentLists
from idealist.ranking.order import order, whole


class KernelRequest(NamedTuple):
    """What the compiled kernel is asked: judgments and rules, one of each per ranking.

    `needs` names the columns that the ranking requires.
    """

    kernel: ModuleType
    judged: list[Any]
    rules: list[Any]
    threads: int
    needs: frozenset[str]


class KernelAnswer(NamedTuple):
    """The kernel's answer: the columns of each ranking, as bytes, and queries of the run.

    `queries` holds all queries without judgments; those with judgments may be missing.
    """

    columns: list[tuple[Any, ...]]
    queries: Collection[str]
    unscored: int = 0


@dataclass(frozen=True)
class Compiled:
    """What the kernel found in a run, under each of some orderings."""

    source: Source | Rows
    orderings: Sequence[Protocol]
    answer: KernelAnswer

    @property
    def name(self) -> str:
        """What errors call the run."""
        return self.source.name

    @property
    def queries(self) -> Collection[str]:
        """The queries of the run; those with judgments may be missing."""
        return self.answer.queries

    @property
    def unscored(self) -> int:
        """How many rows came without a score."""
        return self.answer.unscored

    def in_run(self, qrels: Qrels) -> Bools:
        """Mark the judged queries that the run has."""
        return np.frombuffer(self.answer.columns[0][1], np.bool_)[: len(qrels.queries)]

    def columns(
        self, qrels: Qrels, ordering: Protocol, some: Bools | None = None
    ) -> dict[str, Any]:
        """Return the columns of `Placements`; raise what is wrong with the rows.

        `some` marks queries if only these are asked for: the kernel has ranked no others.
        """
        found = self._found(ordering)
        counts = np.frombuffer(found[0], np.int64).reshape(4, -1)
        flags = np.frombuffer(found[1], np.bool_).reshape(3, -1)
        places = np.frombuffer(found[2], np.int64).reshape(5, -1)
        retrieved, duplicates, merged, faults = counts
        in_run, ties, float32 = flags
        query, rank, first, last, judgment = places
        if faults.any():
            self._explain(qrels, ordering, faults)
        return {
            "in_run": in_run, "empty": retrieved == 0, "retrieved": retrieved,
            "duplicates": duplicates, "merged": merged, "ties": ties, "float32": float32,
            "query": query, "rank": rank, "first": first, "last": last,
            "score": np.frombuffer(found[3]), "judgment": judgment,
        }  # fmt: skip

    def names(self, qrels: Qrels, ordering: Protocol, most: int) -> DocumentLists:
        """Return the names of each query's first unjudged documents."""
        return DocumentLists.of_kernel(self._found(ordering)[4], most)

    def _found(self, ordering: Protocol) -> tuple[Any, ...]:
        return self.answer.columns[self.orderings.index(ordering)]

    def _explain(self, qrels: Qrels, protocol: Protocol, counts: Ints) -> None:
        """Raise the first faults in the words of the Python definition, and count the others."""
        faulty = np.flatnonzero(counts)
        enough = int(np.searchsorted(np.cumsum(counts[faulty]), SHOWN)) + 1
        queries = [qrels.queries[i] for i in faulty[:enough]]
        rows = self.source.some(queries)
        spans, faults = rows.spans(), Faults(rows.name)
        for query in queries:
            order(rows, spans[query], query, protocol, faults)
        if not faults.shown:
            raise Defect("the compiled kernel refuses what the Python definition accepts")
        raise InputError(faults.shown, int(counts.sum()))


def compiled(
    qrels: Qrels,
    source: Source | Rows,
    orderings: Mapping[Protocol, Protocol | None],
    naming: Mapping[Protocol, int],
) -> Compiled | None:
    """Let the kernel rank a run; None if Python has to.

    Where an ordering stands beside another, it ranks only queries that both may rank differently:
    those that have scores that differ in float64 alone. `naming` says under which orderings how
    many unjudged documents of each query are named.
    """
    module = kernel.native()
    if module is None:
        return None
    asked = list(orderings)
    judged = [qrels.pairs(module).judged()] * len(asked)
    rules = [
        _rules(module, ordering, naming.get(ordering, 0))
        if beside is None
        else _rules(module, ordering, 0, asked.index(beside))
        for ordering, beside in orderings.items()
    ]
    needs = frozenset(_needs(asked))
    request = KernelRequest(module, judged, rules, kernel.threads(), needs)
    answer = _rows_ranked(source, request) if isinstance(source, Rows) else source.ranked(request)
    return None if answer is None else Compiled(source, asked, answer)


def _rows_ranked(rows: Rows, request: KernelRequest) -> KernelAnswer | None:
    """Let the kernel rank rows in memory; None if it cannot read them."""
    lacking = any(getattr(rows, name) is None for name in request.needs)
    if lacking or rows.evidence is not None:
        return None
    columns = request.kernel.rank_rows(
        rows.queries, rows.starts, rows.documents, rows.scores, rows.ranks, rows.tokens,
        request.judged, request.rules, request.threads,
    )  # fmt: skip
    return None if columns is None else KernelAnswer(columns, rows.queries, rows.unscored)


def _needs(protocols: Sequence[Protocol]) -> list[str]:
    ranks = ["ranks" for protocol in protocols if protocol.order == "rank"]
    return ranks + ["tokens" for protocol in protocols if str(protocol.depth).startswith("tokens")]


@lru_cache(maxsize=256)
def _rules(module: Any, protocol: Protocol, named: int, beside: int = -1) -> Any:
    (ties, arguments), budget = call(protocol.ties), protocol.budget
    return module.Protocol(
        single=protocol.precision == "float32",
        order=protocol.order,
        ties=ties,
        seed=arguments[0] if arguments else "",
        duplicates=protocol.duplicates,
        nonfinite=protocol.nonfinite,
        budget=-1.0 if budget is None else float(budget),
        in_tokens=str(protocol.depth).startswith("tokens"),
        exclude_self=protocol.exclude_self,
        beside=beside,
        whole=None
        if protocol.collapse == "none"
        else lambda ids: [whole(i, protocol) for i in ids],
        named=named,
    )
