"""A case: one instrument, one run's placements, their holes, and the grades these could have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from idealist.bounding.holes import Holes
from idealist.instrument import Instrument
from idealist.measuring import Measured, measured
from idealist.placements import Placements
from idealist.tables.columns import Bools, Floats, Ints, freeze, starts_of


class Completion(NamedTuple):
    """A grade for every hole, and for each query one for all its documents elsewhere."""

    grades: Floats
    elsewhere: Floats


@dataclass(frozen=True, eq=False)
class Case:
    """What bounds are computed of.

    `levels` are the grades that a hole could have, as the protocol reads them, lowest first;
    `elsewhere` counts, per query, the unjudged documents outside the list that could be judged too.
    """

    instrument: Instrument
    placements: Placements
    holes: Holes
    levels: Floats
    elsewhere: Ints

    @property
    def size(self) -> int:
        """The number of judged queries."""
        return len(self.placements.qrels.queries)

    @cached_property
    def spans(self) -> list[tuple[int, slice]]:
        """The queries that have holes, and where these are."""
        starts = starts_of(self.holes.counts(self.size)).tolist()
        return [(q, slice(a, b)) for q, (a, b) in enumerate(pairwise(starts)) if a < b]

    def pool(self, query: int) -> Floats:
        """Give the grades judged for a query."""
        qrels = self.placements.qrels
        grades = qrels.grades[qrels.starts[query] : qrels.starts[query + 1]]
        return grades[grades >= 0] if self.placements.protocol.negative == "drop" else grades

    def listed(self, query: int) -> slice:
        """Say which places are a query's."""
        return slice(*self.placements.starts[query : query + 2].tolist())

    def all_at(self, grade: float, elsewhere: float | None = None) -> Completion:
        """Give every hole one grade, and the documents elsewhere one; the lowest if not said."""
        outside = self.levels[0] if elsewhere is None else elsewhere
        return Completion(np.full(len(self.holes), grade), np.full(self.size, outside))

    def completed(self, completion: Completion) -> Placements:
        """Give the placements as they would be with the holes judged so."""
        return judged(self.placements, self.holes, completion.grades,
                      self.elsewhere, completion.elsewhere)  # fmt: skip

    def measured(self, completion: Completion) -> Measured:
        """Measure a completion as any judgments are measured."""
        return measured(self.instrument, self.completed(completion))

    def fixed(self, which: Bools, grade: float) -> Case:
        """Give the case in which some holes are judged to have a grade."""
        some = self.holes.at(which)
        grades = np.full(len(some), grade)
        nobody = np.zeros(self.size, dtype=np.int64)
        placements = judged(self.placements, some, grades, nobody, nobody.astype(np.float64))
        return replace(self, placements=placements, holes=self.holes.at(~which))


def judged(
    placements: Placements, holes: Holes, grades: Floats, elsewhere: Ints, outside: Floats
) -> Placements:
    """Add judgments of holes, and of documents that the list does not hold."""
    if placements.protocol.grades == "nonzero":  # a grade of 0 is no judgment
        holes, grades = holes.at(grades != 0), grades[grades != 0]
        elsewhere = np.where(outside != 0, elsewhere, 0)
    qrels, size = placements.qrels, len(placements.qrels.queries)
    before, counts = np.diff(qrels.starts), holes.counts(size)
    added = starts_of(counts + elsewhere)
    starts = qrels.starts + added
    filled = np.repeat(outside, before + counts + elsewhere)  # the others are written over it
    filled[np.arange(len(qrels.grades)) + np.repeat(added[:-1], before)] = qrels.grades
    ends = starts[:-1] + before - starts_of(counts)[:-1]
    index = np.arange(len(holes)) + ends[holes.query]
    filled[index] = grades
    made = replace(
        qrels, starts=freeze(starts), grades=freeze(filled), columns={},
        documents=("",) * len(filled), subtopics=None, preferences=None,
    )  # fmt: skip
    joined: dict[str, Any] = {
        "judgment": np.concatenate((placements.judgment + added[placements.query], index)),
        **{
            name: np.concatenate((getattr(placements, name), getattr(holes, name)))
            for name in ("query", "rank", "first", "last", "score")
        },
    }
    order = np.lexsort((joined["rank"], joined["query"]))
    columns: dict[str, Any] = {name: column[order] for name, column in joined.items()}
    return replace(placements, qrels=made, **columns)
