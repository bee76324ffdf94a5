"""Preferences of a store as measures read them: each judge a group, each pair a subgroup.

What a judge prefers may go in a circle: a to b, b to c, c to a. Then it says nothing about the
order of these documents, so such preferences are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from idealist.data import Qrels
from idealist.data.preferences import closed
from idealist.errors import UsageError
from idealist.formats import read_preferences
from idealist.judging.store_records import Preference

#: The levels of the better document and of the other one; 0 would say that it is not relevant.
BETTER, OTHER = 2, 1
COLUMNS = ("query", "group", "subgroup", "document", "level")

#: A row of preferences, as `COLUMNS` names it.
LevelRow = tuple[str, str, str, str, int]


@dataclass(frozen=True)
class StoredPreferences:
    """What judges prefer. Of a judge and a pair of documents, the last preference counts."""

    said: tuple[Preference, ...]

    @classmethod
    def of(cls, rows: Iterable[Preference], only: str = "") -> StoredPreferences:
        """Take what counts of all rows; `only` is one judge, or a kind of judges."""
        last = {
            (row.query, row.judge, frozenset((row.better, row.worse))): row
            for row in rows
            if only in ("", row.judge, row.kind)
        }
        return cls(tuple(last.values()))

    @cached_property
    def circular(self) -> frozenset[Preference]:
        """The preferences that are part of a circle."""
        groups: dict[tuple[str, str], list[Preference]] = {}
        for one in self.said:
            if not one.tied:
                groups.setdefault((one.query, one.judge), []).append(one)
        return frozenset(one for some in groups.values() for one in _circular(some))

    def rows(self) -> Iterator[LevelRow]:
        """Yield two rows for each preference that is in no circle; a tie gives both one level."""
        kept = (one for one in self.said if one not in self.circular)
        for number, one in enumerate(kept, 1):
            who = "_".join(one.judge.split())
            better = OTHER if one.tied else BETTER
            yield one.query, who, str(number), one.better, better
            yield one.query, who, str(number), one.worse, OTHER

    def qrels(self, name: str = "preferences") -> Qrels:
        """Return the preferences as judgments that hold them."""
        cells = zip(*self.rows(), strict=True)
        return read_preferences(dict(zip(COLUMNS, map(list, cells), strict=False)), name=name)

    def trec(self) -> bytes:
        """Write them as TREC's preferences: query, group, subgroup, document, level.

        >>> StoredPreferences.of([Preference("q1", "d2", "d1", "ann")]).trec()
        b'q1 ann 1 d2 2\\nq1 ann 1 d1 1\\n'
        """
        rows = list(self.rows())
        if not rows:
            raise UsageError("the store holds no preferences", "judge llm --prompt preference")
        if odd := next((cell for row in rows for cell in row[:4] if len(cell.split()) != 1), None):
            message = f"the id {odd!r} has a blank, which TREC's preferences cannot hold"
            raise UsageError(message, "in Python, Store.preferences() has them all")
        return "".join(" ".join(map(str, row)) + "\n" for row in rows).encode()


def _circular(some: list[Preference]) -> Iterator[Preference]:
    place = {d: n for n, d in enumerate(sorted({d for o in some for d in (o.better, o.worse)}))}
    wanted = np.zeros((len(place), len(place)), dtype=bool)
    for one in some:
        wanted[place[one.better], place[one.worse]] = True
    both = closed(wanted)
    return (one for one in some if both[place[one.worse], place[one.better]])
