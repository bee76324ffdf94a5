"""Several runs, ranked: the lists that are fused, query by query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import Any

import numpy as np

from idealist import kernel
from idealist.data import Qrels, Run
from idealist.data.columns import Floats, Ints, starts_of
from idealist.data.remarks import Remark
from idealist.errors import Faults, UsageError
from idealist.fusing.candidates import Candidates
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.ranking.document_lists import ALL, DocumentLists
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import rank
from idealist.rendering.wording import few

#: How many entries are fused at a time.
BLOCK = 1 << 20
#: What is done with queries that some runs do not have.
MISSING = ("error", "empty", "skip")


@dataclass(frozen=True, eq=False)
class Met:
    """The candidates of some queries."""

    queries: tuple[str, ...]
    candidates: Candidates


@dataclass(frozen=True, eq=False)
class RankedRuns:
    """The documents of each query in each of several runs, best first."""

    queries: tuple[str, ...]
    runs: tuple[Run, ...]
    lists: tuple[DocumentLists, ...]
    remarks: tuple[Remark, ...] = ()

    @classmethod
    def of(
        cls,
        runs: Sequence[Run],
        window: int | None = None,
        missing: str = "error",
        protocol: Protocol | None = None,
        only: Collection[str] | None = None,
    ) -> RankedRuns:
        """Rank each run, to a depth of `window`; `missing` says what of queries that some lack.

        If `only` some queries count, the others are as if they were not there.

        The runs are taken to have the queries of the first; where they do not, they are read twice.
        """
        protocol, most = protocol or Protocol(), window or ALL
        queries = sorted(_wanted(_queries(runs[0], protocol), only))
        placed = placed_lists(runs, queries, protocol, most)
        own = [
            _wanted((*compress(queries, one.in_run.tolist()), *one.unknown), only)
            for one in placed
        ]  # fmt: skip
        if only is not None and not any(own):
            hint = "`idealist audit QRELS RUN` says why"
            raise UsageError("no judged query is in the runs", hint)
        if (shared := _shared(runs, own, missing)) != queries:
            placed = placed_lists(runs, shared, protocol, most)
        lists = tuple(one.names for one in placed)
        return cls(tuple(shared), tuple(runs), lists, (*_remarks(runs, placed, missing),))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(run.name for run in self.runs)

    def only(self, names: Collection[str]) -> RankedRuns:
        """Keep some of the runs, and all queries."""
        kept = [i for i, name in enumerate(self.names) if name in names]
        runs, lists = [self.runs[i] for i in kept], [self.lists[i] for i in kept]
        return RankedRuns(self.queries, tuple(runs), tuple(lists))

    @property
    def entries(self) -> Ints:
        """How many entries each query has in all runs together."""
        counts: Ints = sum((one.counts for one in self.lists), np.zeros(len(self.queries), int))
        return counts

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Divide the queries into blocks of about as many entries."""
        ends = np.cumsum(self.entries)
        first = 0
        while first < len(self.queries):
            reach = BLOCK + (ends[first - 1] if first else 0)
            last = max(first + 1, int(np.searchsorted(ends, reach, side="right")))
            yield first, last
            first = last

    def met(self, first: int = 0, last: int | None = None) -> Met:
        """Join what the runs found for some queries."""
        last = len(self.queries) if last is None else last
        module = kernel.native()
        join = _joined if module is None else module.merge_lists
        found = join([one.columns for one in self.lists], first, last)
        starts, ends, lists, document = (np.frombuffer(found[i], np.int64) for i in (0, 1, 3, 4))
        score = np.frombuffer(found[5])
        names = DocumentLists(starts, ends, found[2], np.zeros(0), ALL)
        candidates = Candidates.of(starts, len(self.lists), lists, document, score, names)
        return Met(self.queries[first:last], candidates)

    def placed(self, qrels: Qrels, protocol: Protocol) -> list[Placements]:
        """Find the judged documents of each run, as deep as it is fused."""
        return [
            rank(qrels, run, [protocol])[protocol].cut(lists.most)
            for run, lists in zip(self.runs, self.lists, strict=True)
        ]

    @property
    def unscored(self) -> list[str]:
        """The names of runs without scores."""
        pairs = zip(self.names, self.lists, strict=True)
        return [name for name, lists in pairs if np.isnan(lists.scores).any()]

    def check_scores(self) -> None:
        """Refuse runs without scores, or with some that are not numbers."""
        for name, lists in zip(self.names, self.lists, strict=True):
            hint, without = "fuse by ranks, as RRF does, or with norm=rank", np.isnan(lists.scores)
            if without.any() and not without.all():
                Faults(name).fail("nonfinite-score", "some scores are not numbers", hint)
            if without.any():
                Faults(name).fail("missing-column", "the run has no scores", hint)


def _queries(run: Run, protocol: Protocol) -> tuple[str, ...]:
    """Return the queries of a run, without ranking any."""
    return placed_lists([run], ["\0"], protocol, 0)[0].unknown


def _wanted(queries: Iterable[str], only: Collection[str] | None) -> set[str]:
    return set(queries) if only is None else set(only).intersection(queries)


def placed_lists(
    runs: Sequence[Run], queries: Sequence[str], protocol: Protocol, most: int
) -> list[Placements]:
    """Rank runs for some queries, and name the first documents of each."""
    nothing = Qrels.build((), (), (), empty=queries or ["\0"])
    return [rank(nothing, run, [protocol], {protocol: most})[protocol] for run in runs]


def _shared(runs: Sequence[Run], own: Sequence[Collection[str]], missing: str) -> list[str]:
    """Return the queries to fuse; refuse runs that have none in common, or not the same ones."""
    if missing not in MISSING:
        raise UsageError(f"missing cannot be {missing!r}", f"it is one of {', '.join(MISSING)}")
    every, common = set[str]().union(*own), set(own[0]).intersection(*own)
    names = ", ".join(run.name for run in runs)
    several = {query for query, count in Counter(chain(*own)).items() if count > 1}
    if not (common if missing == "skip" else several):
        firsts = [_some(sorted(k)) or "none" for k in own]
        told = [f"{run.name} has {first}" for run, first in zip(runs, firsts, strict=True)]
        hint = f"{few(told)}: give runs of one query set"
        raise UsageError(f"{names} have no query in common", hint)
    if missing == "error" and every != common:
        run, known = next((r, k) for r, k in zip(runs, own, strict=True) if k != every)
        gone = sorted(every.difference(known))
        hint = (
            "with --missing empty such a run found nothing for the query; --missing skip leaves "
            "the query out"
        )
        lacks = f"{run.name} lacks {many(len(gone), 'query', 'queries')} that others have"
        raise UsageError(f"{lacks}: {_some(gone)}", hint)
    return sorted(common if missing == "skip" else every)


def _remarks(runs: Sequence[Run], placed: Sequence[Placements], missing: str) -> Iterator[Remark]:
    """Say what is doubtful about the runs: queries that some lack, scores that tie."""
    total = len(placed[0].in_run)
    lacking = int((~np.logical_and.reduce([one.in_run for one in placed])).sum())
    if missing == "empty" and lacking:
        words = f"{many(lacking, 'query is', 'queries are')} not in all of the fused runs"
        yield Remark("uneven-queries", words, lacking, "warning", total)
    tied = {run.name: int(one.ties.sum()) for run, one in zip(runs, placed, strict=True)}
    if count := max(tied.values()):
        some = few([f"{name} ({own})" for name, own in tied.items() if own])
        words = f"scores tie in the fused runs, so that ids order documents: queries of {some}"
        yield Remark("tied-inputs", words, count, "note", total)


def _some(queries: Sequence[str]) -> str:
    return ", ".join(queries[:3]) + (", …" if len(queries) > 3 else "")


def _joined(
    runs: Sequence[tuple[Ints, Ints, bytes, Floats]], first: int, last: int
) -> tuple[bytes, ...]:
    """Join lists as the kernel does: documents are numbered as they are met, run by run."""
    counts: list[int] = []
    texts: list[bytes] = []
    sizes: list[int] = []
    numbers: list[int] = []
    scores: list[Any] = [np.zeros(0)]
    held = [DocumentLists(*columns, most=ALL) for columns in runs]
    for query in range(first, last):
        known: dict[bytes, int] = {}
        for lists in held:
            own = lists.first(query)
            numbers += [known.setdefault(name, len(texts) + len(known)) for name in own]
            sizes.append(len(own))
            scores.append(lists.scores_of(query))
        texts += known
        counts.append(len(known))
    columns = (starts_of(counts), starts_of([len(text) for text in texts]), b"".join(texts),
               starts_of(sizes), np.array(numbers, np.int64), np.concatenate(scores))  # fmt: skip
    return tuple(one if isinstance(one, bytes) else one.tobytes() for one in columns)
