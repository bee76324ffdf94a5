"""The space of conventions: every value of every axis that can matter for a measure.

Axes whose values can be listed bring their own list. The others have the values that tools, papers
and people are known to use, in `OPEN`. Only what a fact about the data rules out is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from idealist.conventions import DEFAULT, convention
from idealist.errors import UsageError
from idealist.measures import Measure
from idealist.measures.cumulative import CG, nDCG
from idealist.measures.gains import gain_of
from idealist.measures.instrument import Instrument, route
from idealist.measures.relevance import Threshold
from idealist.measures.stopping import RBP
from idealist.notation import Settings, Value
from idealist.protocol import Protocol
from idealist.ranking.padded_lists import padded
from idealist.reconciling.facts import Facts

#: The values tried of axes that have too many; `rel` has every grade, `max_grade` those above.
OPEN: dict[str, tuple[Value, ...]] = {
    "ties": (
        "docid-desc", "docid-asc", "input", "input-reversed", "worst", "best", "expected",
        "random(0)",
    ),
    "depth": ("none", 10, 100, 1000),
    "gain": ("linear", "exp2", "binary"),
    "discount": (
        "log2", "jk(2)", "jk(10)", "log(2.718281828459045)", "log(10)", "position", "none",
    ),
    "p": (0.5, 0.8, 0.9, 0.95),
    "beta": (1, 0.5, 2, 0, 10, 100),
    "alpha": (0.5, 0, 1),
    "normalise_depth": ("none", 1000),
    "aggregate": ("mean", "median", "min", "max", "sum", "geometric(1e-05)"),
    "round": ("none", 2, 3, 4, 5, "query(2)", "query(3)", "query(4)", "query(5)"),
    "no_relevant": ("0", "1", "skip", "empty", "nan"),
}  # fmt: skip
#: Where tools cut a measure that is asked for without a cutoff.
CUTOFFS = (None, 10, 20, 32, 100, 1000)

#: Denominators that grow with the cutoff.
_BY_CUTOFF = ("k", "perfect", "perfect(k>1)")


@dataclass(frozen=True)
class Space:
    """The conventions under which one measure can be computed for some judgments and a run.

    `base` is the default convention, from which differences are counted; `fixed` are the axes that
    the user set, of the measure, of the protocol and of the aggregate.
    """

    base: Instrument
    facts: Facts
    fixed: tuple[Collection[str], Collection[str], Collection[str]]

    @classmethod
    def of(cls, measure: Measure, axes: Mapping[str, Any], facts: Facts) -> Space:
        """Lay out the space of a measure around the default convention."""
        own, protocol, aggregate = route(type(measure), axes)
        cut = {"cutoff"} if measure.cutoff is not None or not measure.takes_cutoff else set()
        base = convention(DEFAULT).instrument(measure, axes)
        return cls(base, facts, ({*own, *measure.written(), *cut}, {*protocol}, {*aggregate}))

    @cached_property
    def protocols(self) -> list[Protocol]:
        """Every protocol but for which queries count, the default first."""
        base = self.base.protocol
        options = self._options(base, self.fixed[1]) | {"missing": [base.missing]}
        return _all(Protocol, options, mapping=base.mapping)

    @cached_property
    def measures(self) -> list[Measure]:
        """Every measure, NaN where it has no value; those that must agree only once."""
        found: dict[Any, Measure] = {}
        for one in _all(type(self.base.measure), self.formulas):
            with suppress(UsageError):  # grades beyond what a gain can take
                found.setdefault(self._key(one), one)
        return list(found.values())

    @cached_property
    def formulas(self) -> dict[str, list[Any]]:
        """The values of each parameter of the measure and of its cutoff."""
        options = self._options(self.base.measure, self.fixed[0])
        if "no_relevant" in options:
            options["no_relevant"] = ["nan"]
        cutoff = self.base.measure.cutoff
        return options | {"cutoff": [cutoff] if "cutoff" in self.fixed[0] else list(CUTOFFS)}

    @property
    def missing(self) -> list[str]:
        """What may become of judged queries that the run lacks."""
        own = self.base.protocol.missing
        matters = self._matters("missing") and "missing" not in self.fixed[1]
        return [own, *({"zero", "skip"} - {own})] if matters else [own]

    @property
    def no_relevant(self) -> list[str]:
        """What may replace the value of a query that has none."""
        if "no_relevant" not in self.base.measure.parameters():
            return ["nan"]
        return [str(one) for one in self._values(self.base.measure, "no_relevant", self.fixed[0])]

    @property
    def aggregates(self) -> list[str]:
        """How values may become one."""
        return list(map(str, self._values(self.base.aggregate, "aggregate", self.fixed[2])))

    @property
    def roundings(self) -> list[Value]:
        """How values may be rounded before they are printed."""
        return self._values(self.base.aggregate, "round", self.fixed[2])

    @property
    def size(self) -> int:
        """How many conventions there are, counting those that must agree here."""
        ends = (self.missing, self.no_relevant, self.aggregates, self.roundings)
        return math.prod(map(len, (self.protocols, *self.formulas.values(), *ends)))

    def changes(self, one: Instrument) -> dict[str, Value]:
        """Return the axes in which an instrument differs from the default."""
        pairs = zip(_parts(one), _parts(self.base), strict=True)
        return {
            name: value
            for mine, theirs in pairs
            for name, value in mine.items()
            if value != theirs[name]
        }

    def _options(self, base: Settings, fixed: Collection[str]) -> dict[str, list[Any]]:
        return {name: self._values(base, name, fixed) for name in base.parameters()}

    def _values(self, base: Settings, name: str, fixed: Collection[str]) -> list[Any]:
        """List the values of an axis, that of the default first."""
        own = getattr(base, name)
        if name in fixed or not self._matters(name):
            return [own]
        kind = base.parameters()[name].kind
        listed = [value for value in self._listed(name, kind.values) if base.accepts(name, value)]
        return list(dict.fromkeys([own, *map(kind.check, listed)]))

    def _listed(self, name: str, values: tuple[Value, ...]) -> Iterable[Value]:
        """List the values of an axis: as the data has them, from `OPEN`, or its own."""
        facts = self.facts
        scaled = [f"scaled(0,{facts.maximum:g})"] if facts.maximum > 0 else []
        own: dict[str, Iterable[Value]] = {
            "rel": ("none", *facts.grades),
            "max_grade": ("observed", *range(max(int(facts.maximum), 1), 6)),
            "order": facts.orders,
            "grades": self._readings,
            "gain": (*OPEN["gain"], *scaled),
            "depth": self._depths,
            "duplicates": ("first", "last"),
        }
        listed = own.get(name, OPEN.get(name, values))
        return [value for value in listed if value != "error"]  # an error prints no number

    @property
    def _readings(self) -> list[Value]:
        """The ways to read the grades that can differ."""
        there = {"truncate": True, "keep": self.facts.fractions, "nonzero": self.facts.zeros}
        return [reading for reading, matters in there.items() if matters]

    @property
    def _depths(self) -> list[Value]:
        """Where lists may have been cut: also at the cutoff, as no more is needed."""
        cutoff = self.base.measure.cutoff
        depths = (*OPEN["depth"], *([] if cutoff is None else [cutoff]))
        return [one for one in depths if one == "none" or int(one) < self.facts.longest]

    def _matters(self, name: str) -> bool:
        """Whether an axis can make a difference on this data."""
        if name in ("unknown", "collapse"):  # has no effect; is up to the data, not to a tool
            return False
        zeros = name in ("grades", "unjudged") and self.facts.zeros  # taken for unjudged by some
        return zeros or not self.facts.lacks(name)

    def _key(self, measure: Measure) -> Any:
        """Return what a measure makes of the grades, rather than how its rules say it."""
        grades = np.array(sorted({*self.facts.grades, self.facts.maximum, 0.0}))
        said = measure.written()
        if isinstance(measure, Threshold):
            worth = measure.relevant(grades)
            hidden = {"rel", "rel_op"}
        elif isinstance(measure, CG):
            worth = measure.gains(padded([]), grades, grades > -np.inf)
            hidden = {"gain", "rel", "negative"}
        elif isinstance(measure, RBP):
            worth = gain_of(measure.gain, padded([]), grades, measure.rel)
            hidden = {"gain", "rel"}
        else:
            return measure
        if isinstance(measure, nDCG) and measure.ideal == "perfect":  # it is never longer than k
            hidden |= {"ideal_cut", "ideal_negative"}
        if type(measure) is nDCG:  # a unit that both lists have cancels out
            worth = np.round(worth / (np.abs(worth).max() or 1.0), 12)
            said["discount"] = re.sub(r"^log\(.*", "log2", measure.discount)
        rest = [value for name, value in said.items() if name not in hidden]
        return (self._reach(measure), *rest, (worth + 0.0).tobytes())

    def _reach(self, measure: Measure) -> int | None:
        """Return the cutoff if lists are longer, or if the formula divides by k itself."""
        rules = measure.written()
        counts = rules.get("ideal") == "perfect" or rules.get("denominator") in _BY_CUTOFF
        below = measure.cutoff is not None and measure.cutoff < self.facts.most
        return measure.cutoff if counts or below else None


def _parts(one: Instrument) -> list[dict[str, Any]]:
    cutoff = {"cutoff": one.measure.cutoff}
    return [cutoff | one.measure.written(), one.protocol.written(), one.aggregate.written()]


def _changes(places: Sequence[int]) -> tuple[int, tuple[bool, ...]]:
    """Return how many options have other than their first value, and which, from the last on."""
    changed = tuple(place > 0 for place in reversed(places))
    return sum(changed), changed


def _all(cls: type[Any], options: Mapping[str, list[Any]], **more: Any) -> list[Any]:
    """Make every combination that makes sense, those with the most first values first.

    Where two need as many other values, the one whose options come first is: a `rel` of 2 comes
    before a `rel_op` of ">".
    """
    places = [range(len(values)) for values in options.values()]
    made = []
    for chosen in sorted(product(*places), key=_changes):
        pairs = zip(options.items(), chosen, strict=True)
        with suppress(UsageError):
            made.append(cls(**{name: values[i] for (name, values), i in pairs}, **more))
    return made
