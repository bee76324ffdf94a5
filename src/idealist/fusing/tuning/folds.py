"""Folds: each query belongs to one, is measured with it and chosen for with the others."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from idealist.data.columns import Bools, Floats, Ints, sums_by
from idealist.data.queries import NONE, slice_names
from idealist.errors import UsageError
from idealist.notation import many


@dataclass(frozen=True, eq=False)
class Folds:
    """The `fold` of each query, and the `group` whose queries stay together, by number."""

    count: int
    fold: Ints
    group: Ints

    @classmethod
    def deal(
        cls,
        queries: Sequence[str],
        count: int,
        seed: int = 0,
        groups: Mapping[Any, object] | None = None,
        slices: Mapping[Any, object] | None = None,
    ) -> Folds:
        """Deal groups of queries to folds, each slice evenly.

        The order is that of SHA-256 of seed and group, so that it does not depend on the machine,
        and a query that is added moves few others. A group goes to the fold that has the fewest
        queries of its slice, then to the smallest.

        >>> Folds.deal(["a", "b", "c", "d"], 2).fold.tolist()
        [1, 0, 1, 0]
        """
        named = queries if groups is None else _groups(groups, queries)
        kinds = [NONE] * len(queries) if slices is None else slice_names(slices, queries)
        members: dict[str, list[int]] = {}
        for i, name in enumerate(named):
            members.setdefault(name, []).append(i)
        _check(count, len(members), len(queries), groups is not None)
        order = sorted(members, key=lambda name: (-len(members[name]), _draw(seed, name)))
        fold, filled = np.zeros(len(queries), np.int64), Counter[object]()
        for name in order:
            kind = Counter(kinds[i] for i in members[name]).most_common(1)[0][0]
            best = min(range(count), key=lambda f: (filled[f, kind], filled[f], f))
            fold[members[name]] = best
            filled[best] += len(members[name])
            filled[best, kind] += len(members[name])
        numbers = {name: number for number, name in enumerate(members)}
        return cls(count, fold, np.array([numbers[name] for name in named]))

    def __len__(self) -> int:
        return len(self.fold)

    @cached_property
    def groups(self) -> int:
        """How many groups there are; as many as queries if none share one."""
        return int(self.group.max()) + 1

    def inside(self, fold: int | None) -> Bools:
        """Mark the queries that choices for a fold may look at: those of the others, or all."""
        return np.ones(len(self), bool) if fold is None else self.fold != fold

    def independent(self, values: Floats) -> Floats:
        """Turn values of queries into one for each group, of the same mean and with its own error.

        Formula: m + G/n Σ (x - m) over the group's queries, of G groups and n queries

        Queries of a group may vary together; what is left varies by itself, so that intervals are
        as wide as they must be.
        """
        if self.groups == len(self):
            return values
        centre = values.mean()
        found: Floats = centre + sums_by(
            self.group, values - centre, self.groups
        ) * self.groups / len(self)
        return found


def _groups(groups: Mapping[Any, object], queries: Sequence[str]) -> list[str]:
    """Name the group of each query; one without a group is its own."""
    if not isinstance(groups, Mapping):
        raise UsageError(f"groups cannot be {groups!r:.60}", "give {query: group}")
    own = {str(query): group for query, group in groups.items()}
    if not own.keys() & set(queries):
        raise UsageError("no query has a group", "give {query: group}, by the ids of the queries")
    names = slice_names(own, queries)
    return [
        f"query {q}" if g == NONE else f"group {g}" for q, g in zip(queries, names, strict=True)
    ]


def _check(count: int, groups: int, queries: int, grouped: bool) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count < 2:
        raise UsageError(f"folds cannot be {count!r}", "give a whole number of at least 2")
    if groups < count:
        have = many(queries, "query", "queries")
        hint = "judge more queries"
        if grouped:
            have = f"{many(groups, 'group', 'groups')} of queries"
            hint = "group by something that has more values, as queries of a group stay together"
        hint += f", or use {groups} folds" if groups > 1 else ""
        raise UsageError(f"{have} cannot make {count} folds", hint)


def _draw(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{name}".encode("utf-8", "surrogatepass")).digest()
