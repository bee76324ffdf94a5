"""All rankings of a run, with each different list of a query held once.

Most protocols change few lists: without ties, a query has the same list whatever orders them. So
the lists that differ are stacked into one table of placements for each way to read the judgments,
and a measure is computed once for each list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import Bools, Floats, Ints, columns_at, starts_of
from idealist.errors import IdealistError
from idealist.measures import Measure
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked, limited


@dataclass
class Stack:
    """Different lists, one below the other; `lists` says whose ranking and which query each is.

    `protocol` has what they share: whether ties are averaged and negative grades dropped.
    """

    protocol: Protocol
    known: dict[Any, int] = field(default_factory=dict)
    lists: list[tuple[Placements, int]] = field(default_factory=list)
    rankings: dict[bytes, tuple[Protocol, Ints, Bools]] = field(default_factory=dict)

    @property
    def protocols(self) -> list[Protocol]:
        """The protocol of each ranking."""
        return [protocol for protocol, _, _ in self.rankings.values()]

    def add(self, protocol: Protocol, placements: Placements) -> None:
        """Add a ranking; one that is known already stays under its first protocol."""
        index = np.array([self._of(key, placements, q) for q, key in enumerate(_keys(placements))])
        self.rankings.setdefault(index.tobytes(), (protocol, index, placements.empty))

    def _of(self, key: Any, placements: Placements, query: int) -> int:
        if (query, key) not in self.known:
            self.known[query, key] = len(self.lists)
            self.lists.append((placements, query))
        return self.known[query, key]

    @cached_property
    def whole(self) -> Placements:
        """All lists as the placements of one run, each as a query of its own."""
        first = self.lists[0][0]
        if first.qrels.subtopics or first.qrels.preferences:  # these cannot be repeated
            return replace(first, protocol=self.protocol)
        spans = [slice(*one.starts[q : q + 2].tolist()) for one, q in self.lists]
        judged = [slice(*one.qrels.starts[q : q + 2].tolist()) for one, q in self.lists]
        qrels = _repeated(first.qrels, judged, [q for _, q in self.lists])
        per_query = ("in_run", "empty", "retrieved", "duplicates", "merged", "ties", "float32")
        columns: dict[str, Any] = {
            name: np.array([getattr(one, name)[q] for one, q in self.lists]) for name in per_query
        }
        for name in ("rank", "first", "last", "score"):
            pieces = zip(self.lists, spans, strict=True)
            columns[name] = np.concatenate([getattr(one, name)[span] for (one, _), span in pieces])
        moved = zip(self.lists, spans, judged, qrels.starts[:-1].tolist(), strict=True)
        columns["judgment"] = np.concatenate(
            [one.judgment[span] - old.start + new for (one, _), span, old, new in moved]
        )
        sizes = [span.stop - span.start for span in spans]
        columns["query"] = np.repeat(np.arange(len(sizes)), sizes)
        return Placements(qrels, self.protocol, **columns)

    def values(self, measure: Measure) -> Floats:
        """Measure every ranking: rankings x queries."""
        values = measure.values(self.whole)
        return values[np.stack([index for _, index, _ in self.rankings.values()])]


def stacks_of(ranked: Ranked, protocols: Sequence[Protocol], measure: Measure) -> list[Stack]:
    """Rank a run under every protocol and gather the lists; what refuses the data is left out."""
    qrels = ranked.qrels
    apart = bool(measure.needs) or qrels.subtopics is not None or qrels.preferences is not None
    stacks: dict[Any, Stack] = {}
    for protocol, placements in _placed(ranked, protocols):
        shared = _shared(protocol, placements)
        if shared.ties == "expected" and not measure.averages_ties:
            continue
        group: tuple[Any, ...] = (id(placements.qrels), shared)
        group += tuple(_keys(placements)) if apart else ()
        stacks.setdefault(group, Stack(shared)).add(protocol, placements)
    return list(stacks.values())


def _shared(protocol: Protocol, placements: Placements) -> Protocol:
    """Return what a formula still has to know of a protocol: of ties, only if there are any."""
    averaged = protocol.ties == "expected" and placements.tied
    drops = protocol.negative == "drop" and placements.qrels.minimum < 0
    return Protocol(
        ties="expected" if averaged else "docid-desc", negative="drop" if drops else "allow"
    )


def _placed(ranked: Ranked, protocols: Sequence[Protocol]) -> Iterator[tuple[Protocol, Placements]]:
    """Order the run once for all protocols that differ only in what they look at afterwards."""
    heads = {protocol: _head(protocol) for protocol in protocols}
    ordered = ranked.tried(heads.values())
    for protocol, head in heads.items():
        found = ordered[head]
        if isinstance(found, Placements):
            with suppress(IdealistError):
                yield protocol, limited(replace(found, protocol=protocol), protocol)


def _head(protocol: Protocol) -> Protocol:
    """Leave out what is decided on the ranking itself; a budget of tokens or chunks is not."""
    whole = protocol.whole()
    return whole if protocol.budget is None else replace(whole, depth=protocol.depth)


def _keys(placements: Placements) -> list[bytes]:
    """Return what can matter about the list of each query, as bytes."""
    one = placements
    tie = (one.first, one.last) if one.tied else ()
    table = np.stack([one.rank, one.judgment, one.score > 0, np.isnan(one.score), *tie], axis=1)
    table = np.ascontiguousarray(table, dtype=np.int64)
    ends = zip(one.starts[:-1].tolist(), one.starts[1:].tolist(), strict=True)
    heads = np.stack([one.retrieved, one.empty, one.in_run], axis=1)
    return [
        head.tobytes() + table[start:end].tobytes()
        for head, (start, end) in zip(heads, ends, strict=True)
    ]


def _repeated(qrels: Qrels, judged: Sequence[slice], queries: Sequence[int]) -> Qrels:
    """Repeat the judgments of queries, each time as another query."""
    kept = np.concatenate([np.arange(span.start, span.stop) for span in judged])
    return replace(
        qrels,
        queries=tuple(f"{qrels.queries[q]} {i}" for i, q in enumerate(queries)),
        starts=starts_of([span.stop - span.start for span in judged]),
        documents=tuple(qrels.documents[i] for i in kept.tolist()),
        grades=qrels.grades[kept],
        columns=columns_at(qrels.columns, kept),
    )
