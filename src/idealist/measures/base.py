"""What a measure is: a frozen value that holds a formula's parameters and maps lists to numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, cast, dataclass_transform

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.errors import Defect, Faults, UsageError, nearest
from idealist.notation import DEEPEST, Kind, Settings, Value, choice, text
from idealist.ranking.padded_lists import QUICK, Array, PaddedLists, padded
from idealist.ranking.placements import Placements

#: Rounding may push a value this far outside its range; anything more is a bug of ours.
SLACK = 1e-9


M = TypeVar("M", bound="Measure")


def by_query(placements: Placements, compute: Callable[[PaddedLists], Array]) -> Floats:
    """Compute a value for every query, block by block."""
    values = np.zeros(len(placements.qrels.queries))
    for queries, lists in placements.lists:
        values[queries] = compute(lists)
    return values


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class MeasureType(type):
    """Makes every measure a frozen dataclass, and lets ``nDCG @ 10`` stand for ``nDCG() @ 10``."""

    def __init__(cls, *parts: Any) -> None:
        super().__init__(*parts)
        dataclass(cls, frozen=True, kw_only=True, repr=False)  # type: ignore[arg-type]  # a measure

    def __matmul__(cls: type[M], cutoff: int) -> M:  # type: ignore[misc]  # cls is a measure
        return cls() @ cutoff

    def __call__(cls, *values: Any, **parameters: Any) -> Any:
        """Make a measure; refuse an unknown parameter and suggest the nearest name."""
        known = {each.name for each in fields(cls)}  # type: ignore[arg-type]  # all are dataclasses
        for name in parameters.keys() - known:
            raise UsageError(f"{cls.__name__} has no parameter {name!r}", nearest(name, known))
        return super().__call__(*values, **parameters)


class Asked(NamedTuple):
    """The queries that values are of: whose list is empty, and the lowest grade, at most 0."""

    name: str
    queries: Sequence[str]
    empty: Bools
    lowest: float

    @classmethod
    def of(cls, placements: Placements) -> Asked:
        """Return the queries of placements."""
        qrels = placements.qrels
        return cls(qrels.name, qrels.queries, placements.empty, qrels.minimum)


class Measure(Settings, metaclass=MeasureType):
    """A measure of ranked lists: it stores what the user wrote, a convention fills in the rest.

    A subclass states a `formula` over `PaddedLists`. ``measure @ k`` looks at the first k ranks,
    ``str(measure)`` is text that `parse` reads back, and calling a measure with a list of grades
    computes its value.
    """

    cutoff: int | None = None

    #: Whether ``@ k`` makes sense.
    takes_cutoff: ClassVar[bool] = True
    #: +1 where higher is better, -1 where lower is, 0 where neither.
    direction: ClassVar[int] = 1
    #: Whether the mean over all orders of a tie has a closed form (``ties=expected``).
    averages_ties: ClassVar[bool] = False
    #: Whether it rates the quality of a ranking rather than counting something.
    judges: ClassVar[bool] = True
    #: What the judgments must hold besides grades: "subtopics", "groups", "strata" or "a column".
    needs: ClassVar[str] = ""
    #: Whether ordering a tie by `worth`, up and down, yields its highest and lowest value.
    monotone: ClassVar[bool] = True
    #: What a query lacks if its value is undefined.
    lacking: ClassVar[str] = "relevant document"
    #: The range of values, unless parameters or grades change it, which `bounds` then says.
    limits: ClassVar[tuple[float, float]] = (0.0, 1.0)
    #: How the values of queries are aggregated by default.
    aggregate: ClassVar[str] = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cutoff is None:
            return
        if isinstance(given := cast("Any", self.cutoff), np.integer):
            object.__setattr__(self, "cutoff", int(given))
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
        """Set the parameters the user left open: from a convention, else from the defaults."""
        written = self.written()
        if len(written) == len(self.parameters()):
            return self
        defaults = {name: about.default for name, about in self.parameters().items()}
        values: dict[str, Any] = {**defaults, **(convention or {}), **written}
        return replace(self, **values)

    def bounds(self, lowest: float) -> tuple[float, float]:
        """Return the range of values if no grade is below `lowest`."""
        return self.limits

    def worth(self, placements: Placements) -> Floats:
        """Return what each ranked document contributes; a tie is best with the largest first.

        Unjudged documents contribute 0.
        """
        return placements.grade

    def formula(self, lists: PaddedLists) -> Array:
        """Compute one value per list, with every parameter set; NaN where it is undefined."""
        raise Defect(f"{self.name} states no formula")

    def __call__(
        self, grades: Sequence[float | None], judged: Sequence[float] = (), **columns: Any
    ) -> float:
        """Measure one list of grades, None where unjudged; `judged` are grades not retrieved."""
        if "scores" in columns or len(getattr(grades, "shape", (0,))) != 1:
            hint = f"for arrays of scores and labels: idealist.tensors.values({str(self)!r}, …)"
            raise UsageError(f"{self} measures one list of grades, in the order of ranks", hint)
        filled, lists = self.filled(), padded(grades, judged, **columns)
        found: Floats = filled.formula(lists)
        if filled.refuses and np.isnan(found[0]):
            Faults().fail("no-relevant", f"{self} is undefined: the list has no {self.lacking}")
        value = filled.without_gaps(found, lists.retrieved == 0)
        return float(filled._bounded(value, min(float(lists.pool.min()), 0.0))[0])

    def values(self, placements: Placements) -> Floats:
        """Measure every query; NaN where the value is undefined."""
        filled = self.filled()
        return filled.settled(filled.computed(placements), Asked.of(placements))

    def computed(self, placements: Placements) -> Floats:
        """Apply the formula to every query, with every parameter set; NaN where it is undefined."""
        self.check_ties(placements.protocol.ties)
        return by_query(placements, self.formula)

    def settled(self, values: Floats, asked: Asked) -> Floats:
        """Replace undefined values as `no_relevant` says, and check the range."""
        gaps = np.isnan(values)
        if np.count_nonzero(gaps):
            if self.refuses:
                self._refuse(gaps, asked)
            values = self.without_gaps(values, asked.empty)
        return self._bounded(values, asked.lowest)

    def check_ties(self, ties: str) -> None:
        """Refuse to average over the orders of ties where there is no closed form."""
        if ties == "expected" and not self.averages_ties:
            hint = "choose another tie order, or average ties=random(SEED) over several seeds"
            raise UsageError(f"{self.name} has no closed form for ties=expected", hint)

    @property
    def if_undefined(self) -> str:
        """What replaces an undefined value, as set by `no_relevant`."""
        return str(getattr(self, "no_relevant", "nan"))

    @property
    def refuses(self) -> bool:
        """Whether an undefined value is an error."""
        return self.if_undefined == "error"

    @property
    def list_only(self) -> bool:
        """Whether relevant documents that were not retrieved cannot change the value."""
        divisor = str(getattr(self, "denominator", ""))
        return "_list" in divisor or divisor == "hits"

    def without_gaps(self, values: Array, empty: Array, xp: Any = QUICK) -> Array:
        """Replace undefined values as `no_relevant` says; `empty` marks lists of nothing."""
        fill: Array = {"0": 0.0, "1": 1.0}.get(self.if_undefined, math.nan)
        if self.if_undefined == "empty":
            fill = xp.astype(empty, xp.float64)
        return xp.where(xp.isnan(values), fill, values)

    def _refuse(self, gaps: Bools, asked: Asked) -> None:
        faults = Faults(asked.name)
        for i in np.flatnonzero(gaps).tolist():
            hint = "count such queries as 0 with no_relevant=0, or drop them with no_relevant=skip"
            message = f"query {asked.queries[i]!r} has no {self.lacking} for {self.name}"
            faults.add("no-relevant", message, hint)
        faults.check()

    def _bounded(self, values: Floats, lowest: float) -> Floats:
        low, high = self.bounds(lowest)
        least = np.fmin.reduce(values, initial=math.inf)  # NaN aside
        most = np.fmax.reduce(values, initial=-math.inf)
        if least < low - SLACK or most > high + SLACK:
            raise Defect(f"{self}: a value left the range [{low}, {high}]")
        return values if low < least and most <= high else np.clip(values, low, high)


NO_RELEVANT = Kind(
    "one of 0, 1, nan, skip, error, or empty (1 if nothing was retrieved, otherwise 0)",
    lambda value: choice("0", "1", "nan", "skip", "error", "empty").check(
        str(value).removesuffix(".0")
    ),
)
