"""Documents of each query in the order of its list, packed so that millions fit into memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from idealist.data.columns import Floats, Ints

#: As many names as a list may have.
ALL = (1 << 63) - 1


@dataclass(frozen=True, eq=False)
class DocumentLists:
    """Some documents of each query in the order of its list, `most` of them at most.

    Ids are one text in UTF-8, so that those of seven million documents fit into memory: the names
    of a query are those from `starts` on, and each stops where `ends` says. Their `scores` are NaN
    where the run has none.
    """

    starts: Ints
    ends: Ints
    text: bytes
    scores: Floats
    most: int

    @classmethod
    def of(cls, lists: Iterable[tuple[list[str], Floats]], most: int) -> DocumentLists:
        """Join lists of names, each with its scores.

        >>> some = (["é", "b", "c"], np.array([3.0, 2, 1]))
        >>> names = DocumentLists.of([some, ([], np.zeros(0)), (["d"], np.ones(1))], most=2)
        >>> names.counts.tolist(), names.first(0, 9), names.first(2, 9), names.scores.tolist()
        ([2, 0, 1], [b'\\xc3\\xa9', b'b'], [b'd'], [3.0, 2.0, 1.0])
        """
        given = list(lists)
        kept = [[name.encode("utf-8", "surrogatepass") for name in own[:most]] for own, _ in given]
        every = [name for own in kept for name in own]
        starts = np.array([0, *accumulate(map(len, kept))])
        ends = np.array([0, *accumulate(map(len, every))])
        scores = np.concatenate([np.zeros(0), *(scores[:most] for _, scores in given)])
        return cls(starts, ends, b"".join(every), scores, most)

    @classmethod
    def of_kernel(cls, found: tuple[bytes, bytes, bytes, bytes], most: int) -> DocumentLists:
        """Take over lists that the kernel made."""
        starts, ends = (np.frombuffer(column, np.int64) for column in found[:2])
        return cls(starts, ends, found[2], np.frombuffer(found[3]), most)

    @property
    def columns(self) -> tuple[Ints, Ints, bytes, Floats]:
        """The lists as the kernel takes them."""
        return self.starts, self.ends, self.text, self.scores

    @property
    def counts(self) -> Ints:
        """How many names each query has."""
        return np.diff(self.starts)

    def first(self, query: int, count: int = ALL) -> list[bytes]:
        """Return the first names of a query, as bytes."""
        begin, end = self.starts[query : query + 2].tolist()
        ends = self.ends[begin : min(end, begin + count) + 1].tolist()
        return [self.text[a:b] for a, b in pairwise(ends)]

    def scores_of(self, query: int) -> Floats:
        """Return the scores of a query's documents."""
        return self.scores[slice(*self.starts[query : query + 2].tolist())]


#: Nothing is named.
UNNAMED = DocumentLists.of([], 0)


def decoded(name: bytes) -> str:
    """Return a name as text."""
    return name.decode("utf-8", "surrogatepass")
