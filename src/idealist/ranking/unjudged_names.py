"""Names of unjudged documents: of each query as many as are asked for, from the top of the list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from idealist.data.columns import Ints

#: As many names as a list may have.
ALL = (1 << 63) - 1


@dataclass(frozen=True, eq=False)
class UnjudgedNames:
    """The unjudged documents of each query in the order of its list, `most` of them at most.

    Ids are one text in UTF-8, so that those of seven million documents fit into memory: the names
    of a query are those from `starts` on, and each stops where `ends` says.
    """

    starts: Ints
    ends: Ints
    text: bytes
    most: int

    @classmethod
    def of(cls, lists: Iterable[list[str]], most: int) -> UnjudgedNames:
        """Join lists of names.

        >>> names = UnjudgedNames.of([["é", "b", "c"], [], ["d"]], most=2)
        >>> names.counts.tolist(), names.first(0, 9), names.first(2, 9)
        ([2, 0, 1], [b'\\xc3\\xa9', b'b'], [b'd'])
        """
        kept = [[name.encode("utf-8", "surrogatepass") for name in own[:most]] for own in lists]
        every = [name for own in kept for name in own]
        starts = np.array([0, *accumulate(map(len, kept))])
        return cls(starts, np.array([0, *accumulate(map(len, every))]), b"".join(every), most)

    @property
    def counts(self) -> Ints:
        """How many names each query has."""
        return np.diff(self.starts)

    def first(self, query: int, count: int) -> list[bytes]:
        """Return the first names of a query, as bytes."""
        begin, end = self.starts[query : query + 2].tolist()
        ends = self.ends[begin : min(end, begin + count) + 1].tolist()
        return [self.text[a:b] for a, b in pairwise(ends)]


#: Nothing is named.
UNNAMED = UnjudgedNames.of([], 0)


def decoded(name: bytes) -> str:
    """Return a name as text."""
    return name.decode("utf-8", "surrogatepass")
