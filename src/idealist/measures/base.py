"""What a measure is: a frozen value with a formula's parameters, a function of ranked lists."""

from __future__ import annotations

import math
from abc import ABCMeta
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from idealist.errors import Defect, Faults, UsageError
from idealist.lists import Array, Lists, lists_of
from idealist.notation import (
    DEEPEST,
    Kind,
    Settings,
    Value,
    Written,
    choice,
    flag,
    number,
    parameter,
    text,
)
from idealist.placements import Placements
from idealist.tables.columns import Floats

#: Rounding may carry a value this far beyond its range; anything more is a defect of ours.
SLACK = 1e-9


M = TypeVar("M", bound="Measure")


class MeasureType(ABCMeta):
    """Lets ``nDCG @ 10`` stand for ``nDCG() @ 10``."""

    def __matmul__(cls: type[M], cutoff: int) -> M:  # type: ignore[misc]  # cls is a measure
        return cls() @ cutoff


@dataclass(frozen=True, kw_only=True, repr=False)
class Measure(Settings, metaclass=MeasureType):
    """A measure of ranked lists: stores what the user wrote, the rest is a convention's to set.

    A subclass states a `formula` over `Lists`. ``measure @ k`` looks at the first k ranks,
    ``str(measure)`` is what `parse` reads, and a measure is a function of a list of grades.
    """

    cutoff: int | None = None

    #: Whether ``@ k`` makes sense.
    takes_cutoff: ClassVar[bool] = True
    #: +1 where higher is better, -1 where lower is, 0 where neither.
    direction: ClassVar[int] = 1
    #: Whether the mean over all orders of a tie has a closed form.
    averages_ties: ClassVar[bool] = False
    #: Whether it says how good a ranking is, and not how much there is of something.
    judges: ClassVar[bool] = True
    #: How the values of queries become one, where the user does not say.
    aggregate: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cutoff is None:
            return
        if not self.takes_cutoff:
            raise UsageError(f"{self.name} takes no cutoff", f"write {self.name} without @")
        whole = isinstance(self.cutoff, int) and not isinstance(self.cutoff, bool)
        if not whole or not 1 <= self.cutoff <= DEEPEST:
            hint = f"a cutoff is a whole number from 1 to {DEEPEST}"
            raise UsageError(f"{self.name} cannot be cut at {self.cutoff!r}", hint)

    @property
    def name(self) -> str:
        """The measure's name without parameters."""
        return type(self).__name__

    def __matmul__(self, cutoff: int) -> Self:
        return replace(self, cutoff=cutoff)

    def __str__(self) -> str:
        inside = ",".join(f"{name}={text(value)}" for name, value in self.written().items())
        cut = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.name}({inside}){cut}" if inside else f"{self.name}{cut}"

    __repr__ = __str__

    def filled(self, convention: Mapping[str, Value] | None = None) -> Self:
        """Set what the user did not: from a convention, and else from the defaults."""
        defaults = {name: about.default for name, about in self.parameters().items()}
        values: dict[str, Any] = {**defaults, **(convention or {}), **self.written()}
        return replace(self, **values)

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Give the range of values, where no grade is below `lowest`."""
        return 0.0, 1.0

    def worth(self, placements: Placements) -> Floats:
        """Give what each place adds; a tie is best with the greatest first. Unjudged add 0."""
        return placements.grade

    def formula(self, lists: Lists) -> Array:
        """Compute one value per list, every parameter set; NaN where it is not defined."""
        raise Defect(f"{self.name} states no formula")

    def __call__(
        self, grades: Sequence[float | None], judged: Sequence[float] = (), **columns: Any
    ) -> float:
        """Measure one list of grades, None where unjudged; `judged` are those not retrieved."""
        lists = lists_of(grades, judged, **columns)
        filled = self.filled()
        value = filled._settled(lists, filled.formula(lists))
        if filled.if_undefined == "error" and np.isnan(value[0]):
            Faults().fail("no-relevant", f"{self}: there is no relevant document in the list")
        return float(filled._bounded(np.asarray(value), min([*grades_of(grades), *judged, 0]))[0])

    def values(self, placements: Placements) -> Floats:
        """Measure every query; NaN where the value is not defined."""
        filled = self.filled()
        self._check_ties(placements)
        values = np.zeros(len(placements.qrels.queries))
        for queries, lists in placements.lists:
            values[queries] = filled._settled(lists, filled.formula(lists))
        if filled.if_undefined == "error":
            filled._check_defined(values, placements)
        return filled._bounded(values, float(placements.qrels.grades.min(initial=0.0)))

    def _check_ties(self, placements: Placements) -> None:
        if placements.protocol.ties == "expected" and not self.averages_ties:
            raise UsageError(
                f"{self.name} has no closed form for ties=expected",
                "choose another order of ties, or ties=random(SEED) for several seeds",
            )

    @property
    def if_undefined(self) -> str:
        """What stands for a value that the formula does not have, as `no_relevant` says."""
        return str(getattr(self, "no_relevant", "nan"))

    @property
    def list_only(self) -> bool:
        """Whether it is blind to relevant documents that were not retrieved."""
        return False

    def _settled(self, lists: Lists, values: Array) -> Array:
        """Put the value asked for where the formula has none."""
        fill = lists.constant({"0": 0.0, "1": 1.0}.get(self.if_undefined, math.nan))
        if self.if_undefined == "empty":
            fill = lists.number(lists.empty)
        return lists.xp.where(lists.xp.isnan(values), fill, values)

    def _check_defined(self, values: Floats, placements: Placements) -> None:
        faults = Faults(placements.qrels.name)
        for i in np.flatnonzero(np.isnan(values)).tolist():
            hint = "let such queries count with no_relevant=0, or leave them out with skip"
            message = (
                f"query {placements.qrels.queries[i]!r} has no relevant document for {self.name}"
            )
            faults.add("no-relevant", message, hint)
        faults.check()

    def _bounded(self, values: Floats, lowest: float) -> Floats:
        low, high = self.bounds(lowest)
        if np.any(values < low - SLACK) or np.any(values > high + SLACK):
            raise Defect(f"{self}: a value left the range [{low}, {high}]")
        return np.clip(values, low, high)


def grades_of(grades: Sequence[float | None]) -> list[float]:
    """Give the grades there are."""
    return [grade for grade in grades if grade is not None]


NO_RELEVANT = Kind(
    "one of 0, 1, nan, skip, error, or empty: 1 where nothing was retrieved and else 0",
    lambda value: choice("0", "1", "nan", "skip", "error", "empty").check(
        str(value).removesuffix(".0")
    ),
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Threshold(Measure):
    """Base of measures that ask whether a document is relevant."""

    rel: float = parameter(1, number(), "the grade from which a document is relevant")
    rel_op: str = parameter(">=", choice(">=", ">"), "whether that grade itself is relevant")

    def relevant(self, grade: Array) -> Array:
        """Say which grades are relevant."""
        return grade > self.rel if self.rel_op == ">" else grade >= self.rel

    def worth(self, placements: Placements) -> Floats:
        """Give 1 to relevant documents."""
        relevant: Floats = self.filled().relevant(placements.grade).astype(np.float64)
        return relevant

    def hits(self, lists: Lists) -> Array:
        """Say which of the documents found are relevant."""
        return lists.found & self.relevant(lists.grade)

    def listed_relevant(self, lists: Lists) -> Array:
        """Count the relevant documents retrieved, R_list."""
        return lists.count(lists.found & self.relevant(lists.grade))

    def all_relevant(self, lists: Lists) -> Array:
        """Count the judged relevant documents, R."""
        return lists.count(lists.judged & self.relevant(lists.pool))


@dataclass(frozen=True, kw_only=True, repr=False)
class Binary(Threshold):
    """Base of measures of how good a ranking of relevant and other documents is."""

    positive_score: bool = parameter(False, flag(), "count only documents with a score above 0")
    no_relevant: Written = parameter(
        "0", NO_RELEVANT, "the value of a query without relevant documents"
    )

    def hits(self, lists: Lists) -> Array:
        """Say which of the documents found are relevant."""
        hits = super().hits(lists)
        if not self.positive_score:
            return hits
        if bool(lists.xp.any(lists.found & lists.xp.isnan(lists.score))):
            hint = "give the run scores, or leave positive_score out"
            raise UsageError("positive_score needs scores, and the run has only an order", hint)
        return hits & (lists.score > 0)

    def defined(self, lists: Lists, values: Array, whole: Array | None = None) -> Array:
        """Give the values, NaN where there is no relevant document to find.

        `whole` is what a measure divides by that knows no more than the list. It takes a list
        without relevant documents for a query without; an empty list is worth 0 all the same.
        """
        nothing = self.all_relevant(lists) == 0
        if whole is not None:
            nothing = nothing | ((whole <= 0) & (lists.retrieved > 0))
        return lists.xp.where(nothing, lists.constant(math.nan), values)
