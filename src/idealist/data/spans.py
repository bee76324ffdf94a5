"""Spans: parts of documents, named ``document[start:end]``, and what of them was seen.

Offsets count characters from 0, and the end is not included, as in Python's slices. Judgments whose
documents are spans are evidence; a run whose documents are spans is a run of chunks.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from idealist.errors import UsageError
from idealist.notation import call, text, to_number

_SPAN = re.compile(r"(?P<document>.+)\[(?P<start>\d{1,15}):(?P<end>\d{1,15})\]", re.DOTALL)
#: What offsets in files may count.
OFFSETS = ("characters", "utf8", "utf16")


class Span(NamedTuple):
    """A part of a document; the character at `end` is the first that does not belong to it."""

    document: str
    start: int
    end: int

    @classmethod
    def of(cls, name: str) -> Span | None:
        """Read the name of a span; None if it is that of a document.

        >>> Span.of("handbook[120:180]"), Span.of("handbook")
        (Span(document='handbook', start=120, end=180), None)
        """
        found = _SPAN.fullmatch(name)
        if found is None or int(found["start"]) > int(found["end"]):
            return None
        return cls(found["document"], int(found["start"]), int(found["end"]))

    @property
    def name(self) -> str:
        """What it is called as a document."""
        return f"{self.document}[{self.start}:{self.end}]"


class Cover(NamedTuple):
    """The rule that says when a chunk finds a piece of evidence.

    With `share`, it and the chunks above have more than nothing of it, and at least that share:
    ``any`` character, or the ``whole``. With `iou`, what both have is at least that share of what
    either has.
    """

    kind: str
    least: float

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, written: str) -> Cover:
        """Read the rule.

        >>> Cover.of("share(0.5)"), Cover.of("whole")
        (Cover(kind='share', least=0.5), Cover(kind='share', least=1.0))
        """
        try:
            kind, given = call(written)
            if kind in ("any", "whole") and not given:
                return cls("share", 0.0 if kind == "any" else 1.0)
            (least,) = map(to_number, given)
            if kind in ("share", "iou") and 0 < least <= 1:
                return cls(kind, float(least))
        except ValueError:
            pass
        hint = "it is any, share(T), whole or iou(T), where T is above 0 and at most 1"
        raise UsageError(f"cover cannot be {written!r}", hint)

    @property
    def written(self) -> str:
        """The rule as text; rules that mean the same are written alike."""
        if self.kind == "share" and self.least in (0.0, 1.0):
            return "whole" if self.least else "any"
        return f"{self.kind}({text(self.least)})"


@dataclass
class Ranges:
    """Parts of one text that were seen, as ranges that neither meet nor overlap, in order."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, start: int, end: int) -> list[tuple[int, int]]:
        """Add a range, and return those of its parts that are new.

        >>> seen = Ranges([0, 8], [4, 9])
        >>> seen.add(2, 10), seen
        ([(4, 8), (9, 10)], Ranges(starts=[0], ends=[10]))
        """
        if start >= end:
            return []
        first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
        met = list(zip(self.starts[first:last], self.ends[first:last], strict=True))
        edges = [start, *(edge for one in met for edge in one), end]
        self.starts[first:last] = [min(start, edges[1])] if met else [start]
        self.ends[first:last] = [max(end, edges[-2])] if met else [end]
        gaps = zip(edges[::2], edges[1::2], strict=True)
        return [(max(a, start), min(b, end)) for a, b in gaps if max(a, start) < min(b, end)]

    @property
    def size(self) -> int:
        """How many characters were seen."""
        return sum(self.ends) - sum(self.starts)


def overlap(start: int, end: int, others: Iterable[tuple[int, int]]) -> int:
    """Count the characters that a range shares with others, which do not overlap.

    >>> overlap(0, 10, [(2, 4), (8, 20)])
    4
    """
    return sum(max(0, min(end, b) - max(start, a)) for a, b in others)


class Piece(NamedTuple):
    """One piece of evidence: what it is called among the judgments, and where it is."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence for each query by document, and the rule by which a chunk finds it.

    `sizes` counts the characters of each query's evidence, those of several pieces once.

    >>> gold = Evidence.of("any", [("q1", ["d[0:6]", "d[4:10]"])])
    >>> gold.sizes, [piece.name for piece in gold.pieces["q1"]["d"]]
    ({'q1': 10}, ['d[0:6]', 'd[4:10]'])
    """

    cover: Cover
    pieces: dict[str, dict[str, list[Piece]]]
    union: dict[str, dict[str, Ranges]]
    sizes: dict[str, int]

    @classmethod
    def of(cls, cover: str, judged: Iterable[tuple[str, Sequence[str]]]) -> Evidence:
        """Read the evidence of each query from the names of its spans."""
        pieces: dict[str, dict[str, list[Piece]]] = {}
        union: dict[str, dict[str, Ranges]] = {}
        for query, names in judged:
            own, seen = pieces.setdefault(query, {}), union.setdefault(query, {})
            for name in names:
                if (span := Span.of(name)) is None or span.start == span.end:
                    hint = "evidence is document[start:end]; read it with read_evidence"
                    raise UsageError(f"query {query}: {name} is no span", hint)
                own.setdefault(span.document, []).append(Piece(name, span.start, span.end))
                seen.setdefault(span.document, Ranges()).add(span.start, span.end)
            for one in own.values():
                one.sort(key=lambda piece: (piece.start, piece.end))
        sizes = {query: sum(one.size for one in seen.values()) for query, seen in union.items()}
        return cls(Cover.of(cover), pieces, union, sizes)
