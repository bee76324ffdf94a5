"""A panel: what several judges said of the same pairs of query and document, as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np

from idealist.data import Qrels
from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import UsageError
from idealist.formats.stored_judgments import store_address
from idealist.notation import many, tidy
from idealist.rendering.wording import few, told
from idealist.significance.kappas import Ratings

#: Different grades up to which judges are compared grade by grade. Suggested.
MOST_GRADES = 20


@dataclass(frozen=True, eq=False)
class Panel:
    """What judges said of the pairs that two of them judged at least.

    `level` has a row a pair and a column a judge: the place of the grade among `grades`, -1 where
    the judge said nothing. `query` is the place of each pair's query among `queries`. `single`
    counts the pairs of each judge that nobody else judged, `negative` those left out because their
    grade is below 0, which says that they were not judged. With thresholds, `grades` are 0 and 1.

    >>> a, b = (Qrels.build(["q", "q"], ["d", "e"], grades) for grades in ([0, 1], [0, 0]))
    >>> Panel.of([a, b], ["ann", "bob"]).tables(0, 1).tolist()
    [[[1.0, 0.0], [1.0, 0.0]]]
    """

    judges: tuple[str, ...]
    grades: Floats
    queries: tuple[str, ...]
    query: Ints
    level: Ints
    single: tuple[int, ...]
    negative: int = 0

    @classmethod
    def of(
        cls, judged: Sequence[Qrels], names: Sequence[str], rel: Sequence[float] | None = None
    ) -> Panel:
        """Put judgments side by side; with a threshold `rel` for each, a grade is 0 or 1."""
        cut = [_graded(one, rel[i] if rel else None) for i, one in enumerate(judged)]
        said: dict[tuple[str, str], list[float]] = {}
        for i, own in enumerate(cut):
            for pair, grade in own.items():
                said.setdefault(pair, [np.nan] * len(judged))[i] = grade
        known = {pair: len(row) - np.isnan(row).sum() for pair, row in said.items()}
        shared = {pair: row for pair, row in said.items() if known[pair] > 1}
        if not shared:
            raise _never_meet(judged, names)
        if rel is None:
            check_scales(judged, names)
        single = tuple(sum(pair not in shared for pair in own) for own in cut)
        declared = [grade for one in judged if one.scale for grade in one.scale.grades]
        given = [grade for own in cut for grade in own.values()]
        grades = np.unique([*declared, *given] if rel is None else [0.0, 1.0])
        queries = tuple(dict.fromkeys(query for query, _ in shared))
        place = {query: i for i, query in enumerate(queries)}
        rows = np.array(list(shared.values()))
        level = np.where(np.isnan(rows), -1, np.searchsorted(grades, rows))
        negative = sum(int(np.count_nonzero(one.grades < 0)) for one in judged)
        query = np.array([place[query] for query, _ in shared])
        return cls(tuple(names), grades, queries, query, level, single, negative)

    def both(self, a: int, b: int) -> Bools:
        """Say which pairs two judges both judged."""
        found: Bools = (self.level[:, a] >= 0) & (self.level[:, b] >= 0)
        return found

    def pairs(self) -> list[tuple[int, int]]:
        """List every two judges who judged a pair in common."""
        every = combinations(range(len(self.judges)), 2)
        return [(a, b) for a, b in every if self.both(a, b).any()]

    def tables(self, a: int, b: int) -> Floats:
        """Count how often two judges gave each two grades, for each query with such a pair."""
        both, size = self.both(a, b), len(self.grades)
        places, query = np.unique(self.query[both], return_inverse=True)
        found = np.zeros((len(places), size, size))
        np.add.at(found, (query, self.level[both, a], self.level[both, b]), 1)
        return found

    @cached_property
    def ratings(self) -> Ratings:
        """What all judges said, summed for each query."""
        counts = np.zeros((len(self.level), len(self.grades)))
        rows, judges = np.nonzero(self.level >= 0)
        np.add.at(counts, (rows, self.level[rows, judges]), 1)
        order = np.argsort(self.query, kind="stable")
        ends = np.searchsorted(self.query[order], np.arange(1, len(self.queries)))
        parts = [Ratings.of(own) for own in np.split(counts[order], ends)]
        return Ratings(*(np.array(part) for part in zip(*parts, strict=True)))


def _graded(qrels: Qrels, rel: float | None) -> dict[tuple[str, str], float]:
    """Return the grades by pair, without those below 0; above a threshold they are 1."""
    return {
        (query, document): grade if rel is None else float(grade >= rel)
        for query, own in qrels.to_dict().items()
        for document, grade in own.items()
        if grade >= 0
    }


def same_scale(judged: Sequence[Qrels]) -> bool:
    """Say whether all grade up to the same grade, as declared or as far as grades show."""
    return len({*map(_top, judged)}) == 1


def _top(qrels: Qrels) -> float:
    """Return the highest grade there is; one who gave 0 only could have given 1."""
    return max(1.0, qrels.maximum)


def check_scales(judged: Sequence[Qrels], names: Sequence[str]) -> None:
    """Refuse judges who grade on different scales."""
    tops = [_top(one) for one in judged]
    if len(set(tops)) > 1:
        low, high = names[int(np.argmin(tops))], names[int(np.argmax(tops))]
        message = (
            f"{told(low)} grades up to {tidy(min(tops))}, {told(high)} up to {tidy(max(tops))}: "
            "on different scales the same number does not mean the same"
        )
        hint = (
            f"say from which grade on a document is relevant, to each judge: --rel "
            f"{','.join(str(tidy(max(1, round(top / 2)))) for top in tops)}; if all could give the "
            f"same grades, declare them: --scale 0..{tidy(max(tops))}"
        )
        raise UsageError(message, hint)
    given = np.unique(np.concatenate([one.grades for one in judged]))
    if len(given) > MOST_GRADES:
        hint = "say from which grade on a document is relevant, such as --rel 2"
        raise UsageError(f"there are {len(given)} different grades, too many to compare", hint)


def _never_meet(judged: Sequence[Qrels], names: Sequence[str]) -> UsageError:
    """Say that no two judges judged a pair in common, and which ids there are."""
    common = set.intersection(*({*one.queries} for one in judged))
    what, shown = "query", [one.queries for one in judged]
    if common:
        what, first = "document of a query", min(common)
        shown = [tuple(one.lookup[first]) for one in judged]
    stores = {address and address.path for address in map(store_address, (o.name for o in judged))}
    if len(stores) == 1 and None not in stores:
        return _judged_apart(judged, names, stores.pop())
    who = " and ".join(map(told, names)) if len(names) == 2 else many(len(names), "judge", "judges")
    ids = "; ".join(
        f"{told(name)} has {few(own, 3)}" for name, own in zip(names, shown, strict=True)
    )
    return UsageError(
        f"{who} have no {what} in common: {ids}",
        "check that all spell ids alike; idealist convert can rewrite them",
    )


def _judged_apart(judged: Sequence[Qrels], names: Sequence[str], path: Path | None) -> UsageError:
    """Say that judges of one store judged different pairs, and how to mend that."""
    counts = (many(len(one), "pair", "pairs") for one in judged)
    said = ", ".join(f"{told(name)} {count}" for name, count in zip(names, counts, strict=True))
    hint = f"let a model judge what people judged: idealist judge llm {path} --model NAME --what "
    hint += f"judged; or let another judge it: idealist judge grade {path} --judgments 2"
    return UsageError(f"no pair was judged by two of these: {said}", hint)
