"""Judged pairs that the compiled kernel read: its documents become texts when someone asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np

from idealist.data.columns import Floats, Ints, freeze

#: How many queries are written at once.
QUERIES = 1000


class KernelDocuments(Sequence[str]):
    """Documents in the kernel's memory; `pairs` are those of `queries` and `starts`."""

    def __init__(self, pairs: Any) -> None:
        self.pairs = pairs
        self.queries: tuple[str, ...] = pairs.queries()
        self.starts: Ints = freeze(np.frombuffer(pairs.starts(), np.int64))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The documents themselves."""
        found: tuple[str, ...] = self.pairs.documents()
        return found

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self.texts[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __contains__(self, document: object) -> bool:
        return document in self.texts

    def __eq__(self, other: object) -> bool:
        return self.texts == (other.texts if isinstance(other, KernelDocuments) else other)

    def __hash__(self) -> int:
        return hash(self.texts)

    def __repr__(self) -> str:
        return repr(self.texts)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return tuple, (self.texts,)


def kernel_pairs(
    module: Any, queries: tuple[str, ...], starts: Ints, documents: Sequence[str]
) -> Any:
    """Return judged pairs as the kernel keeps them."""
    if isinstance(documents, KernelDocuments):
        if documents.queries is queries and documents.starts is starts:
            return documents.pairs
        documents = documents.texts
    return module.Pairs(queries, starts, tuple(documents))


def pair_lines(
    pairs: Any, queries: int, grades: Floats, text: Callable[[float], str]
) -> Iterator[bytes]:
    """Write pairs and their grades as lines of JSON, those of some queries at a time."""
    for begin in range(0, queries, QUERIES):
        yield pairs.lines(grades, text, begin, min(begin + QUERIES, queries))
