"""Relabelling: two runs ranked once, measured with other grades of what was judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from idealist.bounding.bound_case import grades_of
from idealist.data import Qrels
from idealist.data.columns import Bools, Floats, Ints, freeze, starts_of
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.measures.instrument import Instrument, Measured, chosen, measured
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import limited

#: So many judgments are measured together.
BLOCK = 1_000_000


class Labels(NamedTuple):
    """Changes of labels, a row each: the query, and the judgments that get other grades."""

    query: Ints
    judgment: Ints
    grade: Floats

    def at(self, rows: slice) -> Labels:
        """Return some of the rows."""
        return Labels(self.query[rows], self.judgment[rows], self.grade[rows])


@dataclass(frozen=True, eq=False)
class Relabelling:
    """Two runs, a baseline and a new one, and the grades that judged documents could have.

    `ranked` holds both as they are before anything that grades decide; `written` gives each grade,
    as the protocol reads it, its own text.
    """

    instrument: Instrument
    qrels: Qrels
    ranked: tuple[Placements, Placements]
    written: dict[float, float]

    @classmethod
    def of(cls, evaluator: Evaluator, label: str, baseline: Any, run: Any) -> Relabelling:
        """Rank both runs."""
        instrument, qrels = evaluator.instruments[label], evaluator.qrels
        if instrument.measure.needs:
            hint = "ask for a measure of grades alone, such as nDCG@10"
            name = instrument.measure.name
            raise UsageError(f"the labels that {name} needs are more than grades", hint)
        protocol = _whole(instrument.protocol)
        ranked = evaluator.ranked(baseline)[protocol], evaluator.ranked(run)[protocol]
        return cls(instrument, qrels, ranked, _levels(qrels, instrument))

    @cached_property
    def highest(self) -> float:
        """The highest grade of the scale."""
        known = self.qrels.cast(self.instrument.protocol.grades).maximum
        return known if known > 0 else max(self.written)

    @cached_property
    def grades(self) -> Floats:
        """The grades as the protocol reads them."""
        kept = self.instrument.protocol.grades == "keep"
        return self.qrels.grades if kept else np.trunc(self.qrels.grades) + 0.0

    @cached_property
    def now(self) -> tuple[Measured, Measured]:
        """The values of both runs with the labels as they are, in the order of the queries."""
        every = np.arange(len(self.qrels.queries))
        base, new = (self._measured(one, every, self.grades) for one in self.ranked)
        return base, new

    @cached_property
    def counted(self) -> Bools:
        """Which queries have a difference that counts."""
        base, new = self.now
        both = base.counted & new.counted & ~np.isnan(new.values - base.values)
        return both & (self.weights > 0)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each query; NaN where it does not count."""
        known, queries = self.instrument.aggregate.weights, self.qrels.queries
        base, new = self.now
        weights = np.full(len(queries), np.nan)
        both = base.counted & new.counted
        weights[both] = 1.0 if known is None else known.of(chosen(queries, both))
        return weights

    @property
    def _plain(self) -> Instrument:
        """The instrument with neither weights nor refusals: a change may leave nothing relevant."""
        measure, aggregate = self.instrument.measure, self.instrument.aggregate
        if measure.if_undefined == "error":
            measure = replace(measure, no_relevant="nan")  # type: ignore[call-arg]
        plain = replace(aggregate, aggregate="mean", weights=None)
        return Instrument(measure, self.instrument.protocol, plain)

    @property
    def moving(self) -> bool:
        """Whether a grade decides where documents stand."""
        rules = self.instrument.protocol
        drops = rules.negative == "drop" and min(self.written) < 0
        return drops or rules.grades == "nonzero" or rules.ties in ("best", "worst")

    def differences(self, labels: Labels) -> Floats:
        """Measure new - base with changed labels; NaN where a query would not count any more."""
        starts, grades = self.qrels.starts, self.grades
        found = (
            self._apart(part.query, _changed(starts, part, grades)) for part in self._blocks(labels)
        )
        return np.concatenate((np.zeros(0), *found))

    def redrawn(self, grades: Floats) -> Floats:
        """Measure new - base with other grades of all judgments: a row a redraw, a column a query.

        NaN where a query would not count any more.
        """
        every = np.arange(len(self.qrels.queries))
        apart = self._apart(np.tile(every, len(grades)), grades.reshape(-1))
        return apart.reshape(len(grades), -1)

    def _apart(self, query: Ints, grades: Floats) -> Floats:
        base, new = (self._measured(one, query, grades) for one in self.ranked)
        return np.where(base.counted & new.counted, new.values - base.values, np.nan)

    def _blocks(self, labels: Labels) -> Iterator[Labels]:
        sizes = np.cumsum(np.diff(self.qrels.starts)[labels.query])
        block = sizes // BLOCK
        edges = np.flatnonzero(np.diff(block, prepend=-1)).tolist()
        for first, last in pairwise([*edges, len(sizes)]):
            yield labels.at(slice(first, last))

    def _measured(self, whole: Placements, query: Ints, grades: Floats) -> Measured:
        protocol = self.instrument.protocol
        placements = replace(_relabelled(whole, query, grades), protocol=protocol)
        if protocol.grades == "nonzero":
            placements = _without_zero(placements)
        vars(placements.qrels)["maximum"] = self.highest  # the scale stays what it is
        if protocol.ties in ("best", "worst"):
            placements = placements.retied(protocol.ties)
        return measured(self._plain, limited(placements, protocol))


def _whole(protocol: Protocol) -> Protocol:
    """Remove from a protocol all that grades decide, and what is cut off after that."""
    depth = "none" if isinstance(protocol.depth, int) else protocol.depth
    ties = "docid-desc" if protocol.ties in ("best", "worst") else protocol.ties
    return replace(
        protocol, depth=depth, ties=ties, negative="allow", unjudged="zero", grades="keep"
    )


def _levels(qrels: Qrels, instrument: Instrument) -> dict[float, float]:
    """Return the grades of the scale: declared, or else those given, with 0 and 1."""
    protocol = instrument.protocol
    kept = "error" if protocol.negative == "error" else "allow"
    levels = grades_of(qrels, replace(instrument, protocol=replace(protocol, negative=kept)))
    highest = qrels.cast(protocol.grades).maximum
    return {read: own for read, own in levels.items() if read <= highest or highest <= 0}


def _changed(starts: Ints, labels: Labels, grades: Floats) -> Floats:
    """Return the grades of the query of every row, with those that the row changes."""
    put, index = _spans(starts, labels.query)
    changed: Floats = grades[index]
    changed[labels.judgment + (put[:-1] - starts[labels.query])[:, None]] = labels.grade
    return changed


def _relabelled(whole: Placements, query: Ints, grades: Floats) -> Placements:
    """Make every one of some queries, which may repeat, a query with its own grades."""
    qrels = whole.qrels
    starts, index = _spans(qrels.starts, query)
    moved = starts[:-1] - qrels.starts[query]
    made = replace(
        qrels,
        queries=tuple(qrels.queries[q] for q in query.tolist()),
        starts=freeze(starts),
        documents=("",) * len(index),
        grades=freeze(grades),
        columns={name: column[index] for name, column in qrels.numbers.items()},
        subtopics=None,
        preferences=None,
    )
    places, place = _spans(whole.starts, query)
    rows = np.repeat(np.arange(len(query)), np.diff(places))
    per_query = ("in_run", "empty", "retrieved", "duplicates", "merged", "ties", "float32")
    return replace(
        whole,
        qrels=made,
        query=rows,
        judgment=whole.judgment[place] + moved[rows],
        **{name: getattr(whole, name)[query] for name in per_query},
        **{name: getattr(whole, name)[place] for name in ("rank", "first", "last", "score")},
    )


def _spans(starts: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """Put groups one after the other: where each starts, and the index of all members."""
    sizes = np.diff(starts)[groups]
    put = starts_of(sizes)
    return put, np.arange(put[-1]) + np.repeat(starts[groups] - put[:-1], sizes)


def _without_zero(placements: Placements) -> Placements:
    """Treat a grade of 0 as no judgment."""
    qrels = placements.qrels
    kept = qrels.grades != 0
    before = np.concatenate(([0], np.cumsum(kept)))
    made = replace(
        qrels,
        starts=freeze(before[qrels.starts]),
        documents=("",) * int(before[-1]),
        grades=freeze(qrels.grades[kept]),
        columns={name: column[kept] for name, column in qrels.numbers.items()},
    )
    found = kept[placements.judgment]
    names = ("query", "rank", "first", "last", "score")
    return replace(
        placements,
        qrels=made,
        judgment=before[placements.judgment[found]],
        **{name: getattr(placements, name)[found] for name in names},
    )
