"""Measuring lists given as arrays: the raw value of each measure, and what to know of each list."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.data.judgments import LARGEST
from idealist.errors import SHOWN, Faults, UsageError
from idealist.measures import Measure
from idealist.ranking.padded_lists import Array
from idealist.tensors.layouts import Layout
from idealist.tensors.tensor_lists import Batch, BatchRanking, TensorLists
from idealist.tensors.tensor_rules import Rules

#: What is known of each list beside its values: whether it is a query, how many documents it has,
#: and what is wrong with it, an index into `FAULTS`.
FACTS = ("query", "documents", "fault")
#: What identifies the grades of a list in any order: their number and the sums of their powers.
IDENTITY = ("judged", "sum", "squares", "cubes", "quartics")
#: What else is known if asked for: whether equal scores leave the order open, the lowest grade, how
#: many are negative, whether a mask told what padding is, how many relevant documents have the
#: score of padding or too low a score to count, the sum of grades by place, and `IDENTITY`.
WATCHED = ("tied", "lowest", "negative", "told", "hidden", "low", "placed", *IDENTITY)
#: What can be wrong with a list: the code of the fault, what it says, and what to do.
FAULTS = (
    ("", "", ""),
    (
        "nonfinite-score", "a score is NaN, infinite or too large",
        "repair it, mark padding with mask= or a score of -inf, or choose nonfinite=last",
    ),
    (
        "bad-grade", "a label is not a finite number",
        "repair it, or mark padding with mask= or ignore=",
    ),
    (
        "negative-grade", "a label is negative, and negative=error is set",
        "mark padding with mask= or ignore=, or choose negative=allow",
    ),
    (
        "tie", "two documents have the same score, and ties=error is set",
        "choose an order of ties, such as ties=input or ties=expected",
    ),
    (
        "bad-grade", "a measure does not take one of the labels, or the gain of one",
        "measure these lists in the processor's memory, which says why",
    ),
)  # fmt: skip
BAD_SCORE, BAD_LABEL, NEGATIVE, TIED, NOT_TAKEN = range(1, 6)
#: Scores from here on are infinite where precision=float32 is set.
LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class MeasuredLists:
    """A row of numbers for each measure and then each fact, a column for each list.

    Values are as formulas give them, NaN where they are undefined.
    """

    layout: Layout
    labels: tuple[str, ...]
    numbers: Array

    def value(self, label: str) -> Array:
        """Return what a measure's formula gave."""
        return self.numbers[self.labels.index(label), :]

    def fact(self, name: str) -> Array:
        """Return one of `FACTS`."""
        return self.numbers[len(self.labels) + FACTS.index(name), :]


def measure_lists(layout: Layout, rules: Rules, watch: bool = False) -> MeasuredLists:
    """Measure all lists; raise what is wrong with them, where that can be seen."""
    labels, names = tuple(rules.measures), (*FACTS, *(WATCHED if watch else ()))
    maximum = _maximum(layout, rules)

    def measured(batch: Batch) -> Array:
        xp, (values, facts) = batch.library.xp, _rows(batch, rules, maximum, watch)
        facts["told"] = xp.full_like(facts["documents"], int(batch.told))
        rows = [*map(values.__getitem__, labels), *map(facts.__getitem__, names)]
        return xp.concat([xp.astype(row, xp.float64)[None, :] for row in rows], axis=0)

    if not layout.scores.shape[0]:
        nothing = np.zeros((len(labels) + len(names), 0))
        return MeasuredLists(layout, labels, layout.library.constant(nothing, layout.scores))
    share = 0.5 if any(look.ties for look in rules.looks) else 1.0  # ties need more columns
    found = MeasuredLists(layout, labels, layout.each(measured, share))
    if not layout.unseen:
        _check_size(layout)
        _check(layout, layout.library.to_numpy(found.fact("fault")))
    return found


def _rows(
    batch: Batch, rules: Rules, maximum: float, watch: bool
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Compute the values and the facts of some lists."""
    xp = batch.library.xp
    documents = xp.count_nonzero(batch.there, axis=1)
    fault, tied = xp.zeros_like(documents), documents < 0
    low = fault
    values: dict[str, Array] = {}
    for look, labels in rules.looks.items():
        ranking = BatchRanking(batch, look)
        lists = ranking.lists(maximum)
        values |= {label: _computed(rules.instruments[label].measure, lists) for label in labels}
        for code, refused in _refused(ranking, lists):
            fault = xp.where(refused, code, fault)
        if watch and look.protocol.ties != "expected":
            tied = tied | ranking.undecided()
        if watch and look.scores:
            relevant = batch.there & (batch.labels > 0)
            low = xp.maximum(low, xp.count_nonzero(relevant & (batch.scores <= 0), axis=1))
    judged = documents
    if batch.others is not None:
        judged = judged + xp.count_nonzero(batch.others[1], axis=1)
    facts = {"query": judged > 0, "documents": documents, "fault": fault}
    if watch:
        facts |= {"tied": tied, "low": low, "judged": judged, **_identity(batch)}
    return values, facts


def _computed(measure: Measure, lists: TensorLists) -> Array:
    """Apply the formula of a measure."""
    try:
        return measure.formula(lists)
    except lists.library.unknown:
        hint = "leave it out of what you compile, and measure it on arrays that are there"
        message = f"{measure.name} looks at its values while it computes them"
        raise UsageError(message, hint) from None


def _identity(batch: Batch) -> dict[str, Array]:
    """Return the lowest grade of each list, count negative ones, and sum their powers."""
    xp, total = batch.library.xp, batch.library.total
    pairs = [(batch.labels, batch.there), *([batch.others] if batch.others else [])]
    grades = [xp.where(there, xp.astype(grade, xp.float64), 0.0) for grade, there in pairs]
    pool = xp.concat(grades, axis=1)
    places = batch.library.constant(np.arange(1.0, grades[0].shape[1] + 1.0), pool)[None, :]
    square = pool * pool
    sums = {"sum": total(pool), "squares": total(square), "placed": total(grades[0] * places)}
    sums |= {"cubes": total(square * pool), "quartics": total(square * square)}
    lowest, negative = xp.min(pool, axis=1), xp.count_nonzero(pool < 0, axis=1)
    hidden = xp.count_nonzero((batch.scores == -math.inf) & (batch.labels > 0), axis=1)
    return {"lowest": lowest, "negative": negative, "hidden": hidden, **sums}


def _refused(ranking: BatchRanking, lists: TensorLists) -> Iterator[tuple[int, Array]]:
    """Yield the lists that a measure or a protocol refuses, for one reason after the other."""
    xp, batch, protocol = ranking.xp, ranking.batch, ranking.protocol
    for refused in lists.refused:
        yield NOT_TAKEN, refused
    if protocol.ties == "error":
        keys = ranking.at(ranking.keys)
        yield TIED, xp.any((keys[:, 1:] == keys[:, :-1]) & ranking.found[:, 1:], axis=1)
    if protocol.negative == "error":
        yield NEGATIVE, xp.any(batch.there & (batch.labels < 0), axis=1)
    if batch.library.kind(batch.labels) == "float" or batch.others is not None:
        yield BAD_LABEL, ~xp.isfinite(batch.library.total(ranking.pool[0]))
    if protocol.order == "score" and protocol.nonfinite == "error":
        yield BAD_SCORE, xp.any(~(ranking.keys < math.inf), axis=1)  # as NaN is not either
    elif protocol.order == "score" and protocol.nonfinite == "as_is":
        yield BAD_SCORE, xp.any(xp.isnan(ranking.keys), axis=1)
    if protocol.order == "score" and batch.told:  # otherwise it is padding
        yield BAD_SCORE, xp.any(batch.there & (batch.scores == -math.inf), axis=1)


def _check(layout: Layout, fault: Any) -> None:
    """Raise what is wrong with lists that can be seen: which one, which document, which value."""
    noted = Faults("arrays")
    for i in np.flatnonzero(fault).tolist():
        code, message, hint = FAULTS[int(fault[i])]
        if noted.total < SHOWN and int(fault[i]) != TIED:
            scores, labels, there = layout.one(i)
            cells = scores if int(fault[i]) == BAD_SCORE else labels
            wrong = cells < 0 if int(fault[i]) == NEGATIVE else ~(np.abs(cells) < LARGEST_FLOAT32)
            if np.any(there & wrong):  # otherwise it is among those outside the list
                at = int(np.argmax(there & wrong))
                message = f"document {at}, {cells[at]:g}: {message}"
        noted.add(code, f"{layout.name(i)}: {message}", hint)
    noted.check()


def _check_size(layout: Layout) -> None:
    """Refuse grades that are too large to add up exactly."""
    low, high = layout.extremes
    if math.isfinite(low + high) and max(high, -low) > LARGEST:
        hint = f"a grade is a number from -{LARGEST:g} to {LARGEST:g}; is this padding?"
        top = high if high > -low else low
        Faults("labels").fail("bad-grade", f"a label is {top:g}, which is too large", hint)


def _maximum(layout: Layout, rules: Rules) -> float:
    """Return the highest grade, where a measure depends on it."""
    if not rules.of_highest:
        return math.nan
    if layout.unseen:
        rules.check_highest("which is on a device")
    return layout.extremes[1]
