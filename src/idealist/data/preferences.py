"""Preferences: which documents a judge prefers to others.

A judgment group is one judge, or one need. Within a group, a document of a higher level is
preferred to one of a lower level. A group that did not compare all of its documents is divided into
subgroups: levels are then compared within each subgroup, and preferences are transitive. Groups may
contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from idealist.data.columns import Bools, Floats, Ints
from idealist.data.judgments import PairRows

if TYPE_CHECKING:
    from idealist.data.qrels import Qrels


#: The name of a group or subgroup that has none.
UNNAMED = "0"


@dataclass(frozen=True, eq=False)
class Preferences(PairRows):
    """Levels of documents, by group and subgroup."""

    group: tuple[str, ...]
    subgroup: tuple[str, ...]
    level: Floats

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Yield the rows one by one."""
        return zip(self.pair, self.group, self.subgroup, self.level, strict=True)


@dataclass(frozen=True, eq=False)
class Group:
    """What one judgment group of a query prefers.

    `pairs` are its documents, in the order of their ids, `level` is the highest level of each, and
    ``wanted[i, j]`` says that document i is preferred to document j. A `divided` group has several
    subgroups.
    """

    name: str
    pairs: Ints
    level: Floats
    wanted: Bools
    divided: bool

    @property
    def conflict(self) -> tuple[int, int] | None:
        """Two documents each of which is preferred to the other, if there are any."""
        both = np.argwhere(self.wanted & self.wanted.T & ~np.eye(len(self.pairs), dtype=bool))
        return (int(self.pairs[both[0, 0]]), int(self.pairs[both[0, 1]])) if len(both) else None


def groups_of(qrels: Qrels) -> tuple[tuple[Group, ...], ...] | None:
    """Return the groups of each query; None if each query is one group, whose grades are levels.

    Each subtopic is a group; without subtopics, so is each value of TREC's second column, as in
    trec_eval.
    """
    rows = qrels.preferences or _rows_of(qrels)
    if rows is None:
        return None
    query = np.searchsorted(qrels.starts, rows.pair, side="right") - 1
    members: dict[tuple[int, str], list[int]] = {}
    for i, key in enumerate(zip(query.tolist(), rows.group, strict=True)):
        members.setdefault(key, []).append(i)
    found: list[list[Group]] = [[] for _ in qrels.queries]
    for (index, name), inside in sorted(members.items()):
        found[index].append(_group(name, rows, np.array(inside)))
    return tuple(map(tuple, found))


def _rows_of(qrels: Qrels) -> Preferences | None:
    """Take grades as levels if something divides the judgments of a query into groups."""
    if (rows := qrels.subtopics) is not None:
        pair, group, level = rows.pair, rows.subtopic, rows.grade
    elif len(set(group := tuple(qrels.columns.get("iteration", ())))) > 1:
        pair, level = np.arange(len(qrels)), qrels.grades
    else:
        return None
    return Preferences(pair, group, (UNNAMED,) * len(group), level)


def _group(name: str, rows: Preferences, inside: Ints) -> Group:
    pairs, place = np.unique(rows.pair[inside], return_inverse=True)
    wanted = np.zeros((len(pairs), len(pairs)), dtype=bool)
    highest = np.full(len(pairs), -np.inf)
    np.maximum.at(highest, place, rows.level[inside])
    members: dict[str, list[int]] = {}
    for i, row in enumerate(inside.tolist()):
        members.setdefault(rows.subgroup[row], []).append(i)
    for some in members.values():
        level = rows.level[inside[some]]
        wanted[np.ix_(place[some], place[some])] |= level[:, None] > level
    divided = len(members) > 1
    return Group(name, pairs, highest, closed(wanted) if divided else wanted, divided)


def closed(wanted: Bools | Sequence[Sequence[bool]]) -> Bools:
    """Add what follows: where a is preferred to b and b to c, a is preferred to c.

    >>> closed([[False, True, False], [False, False, True], [False, False, False]])[0].tolist()
    [False, True, True]
    """
    found = np.asarray(wanted)
    while True:
        steps = found.astype(np.float32)  # whose product is much faster than that of truth values
        more = found | (steps @ steps > 0)
        if np.array_equal(more, found):
            return found
        found = more
