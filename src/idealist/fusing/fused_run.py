"""A fused run: a run like any other, whose documents are packed until somebody wants them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from idealist.data import Qrels, Rows, Run
from idealist.data.columns import Floats, starts_of
from idealist.data.remarks import Remark
from idealist.fusing.ranked_runs import Met
from idealist.protocol import Protocol
from idealist.ranking.compiled import KernelAnswer, KernelRequest
from idealist.ranking.document_lists import DocumentLists, decoded
from idealist.ranking.ranked import rank


@dataclass(frozen=True, eq=False)
class FusedRun:
    """Documents of each query with their fused scores; in `lists`, the best come first."""

    queries: tuple[str, ...]
    lists: DocumentLists
    name: str
    remarks: tuple[Remark, ...] = ()

    def rows(self) -> Rows:
        """Return the rows, which are unpacked once."""
        return self._rows

    @cached_property
    def _rows(self) -> Rows:
        documents = [decoded(name) for name in _every(self.lists)]
        return Rows(
            self.queries, self.lists.starts, documents, self.lists.scores, remarks=self.remarks,
            name=self.name,
        )  # fmt: skip

    def some(self, queries: Collection[str]) -> Rows:
        """Return the rows of some queries."""
        return self._rows.some(queries)

    def held(self) -> FusedRun:
        """Return the run itself: it is in memory."""
        return self

    def ranked(self, request: KernelRequest) -> KernelAnswer | None:
        """Let the kernel rank it; None if a rule needs what a fused run does not have."""
        if request.needs:
            return None
        columns = request.kernel.rank_lists(
            self.queries, self.lists.columns, request.judged, request.rules, request.threads
        )
        return KernelAnswer(columns, self.queries)


def _every(lists: DocumentLists) -> list[bytes]:
    ends = lists.ends.tolist()
    return [lists.text[a:b] for a, b in pairwise(ends)]


def unranked(met: Met, scores: Floats, name: str) -> FusedRun:
    """Give the candidates of some queries their scores, in no order yet."""
    return FusedRun(met.queries, replace(met.candidates.names, scores=scores), name)


def best_first(met: Met, scores: Floats, most: int) -> DocumentLists:
    """Rank the candidates of some queries by their scores, ties by document id descending."""
    fused, protocol = Run(unranked(met, scores, "fused"), "fused"), Protocol(nonfinite="as_is")
    nothing = Qrels.build((), (), (), empty=met.queries)
    return rank(nothing, fused, [protocol], {protocol: most})[protocol].names


def joined(parts: Sequence[DocumentLists], most: int) -> DocumentLists:
    """Put the lists of blocks of queries one after the other."""
    starts = starts_of(np.concatenate([part.counts for part in parts]))
    ends = starts_of(np.concatenate([np.diff(part.ends) for part in parts]))
    scores = np.concatenate([part.scores for part in parts])
    return DocumentLists(starts, ends, b"".join(part.text for part in parts), scores, most)


def rows_of(queries: Sequence[str], lists: DocumentLists, protocol: Protocol) -> Rows:
    """Make rows of lists that are ranked by a protocol; ranked by it again, they stay as they are.

    Where some have no scores, the order is all that counts.
    """
    documents = [decoded(name) for name in _every(lists)]
    place = np.arange(len(documents)) - np.repeat(lists.starts[:-1], lists.counts)
    order = np.arange(len(documents))
    if protocol.ties == "input-reversed" and protocol.order == "score":
        order += np.repeat(lists.counts, lists.counts) - 1 - 2 * place  # each list turned round
    ranks: Floats = (place[order] + 1).astype(np.float64)
    return Rows(
        tuple(queries), lists.starts, [documents[i] for i in order.tolist()],
        None if np.isnan(lists.scores).any() else lists.scores[order],
        ranks if protocol.order == "rank" else None,
    )  # fmt: skip
