"""Spaces: the settings that tuning tries first, and those around a good one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Protocol

import numpy as np

from idealist.errors import UsageError
from idealist.fusing.fusion import Fusion
from idealist.fusing.methods import make_fusion
from idealist.notation import Value, tidy

#: Grids with more settings than this are walked one parameter at a time.
LARGEST_GRID = 66
#: How many values a range has at first.
RANGE_POINTS = 5

#: The powers of what a run is worth alone that are tried as its weight.
POWERS = (1, 2, 4)

#: A setting: a fusion method, the name of a run, or parameters and their values.
Setting = Any


class Space(Protocol):
    """What can be tried."""

    def coarse(self) -> list[Setting]:
        """Return the settings that are tried first; the first of them is the default."""

    def guesses(self, means: Mapping[Setting, float]) -> list[Setting]:
        """Return what the means of the first settings suggest."""

    def sweep(self, best: Setting) -> list[Setting]:
        """Return the best setting with each parameter, by itself, at all its coarse values."""

    def finer(self, best: Setting, tried: Sequence[Setting], turn: int) -> list[Setting]:
        """Return settings nearer to the best one, in the `turn`-th round of refinement."""


def between(value: float, tried: Sequence[float]) -> list[float]:
    """Return the values half-way to the neighbours that were tried, in ratio where all are above 0.

    >>> between(60, [1, 10, 60, 100]), between(0.5, [0.0, 0.5, 1.0])
    ([24.5, 80.0], [0.25, 0.75])
    """
    below = max((one for one in tried if one < value), default=None)
    above = min((one for one in tried if one > value), default=None)
    found = [_middle(value, other) for other in (below, above) if other is not None]
    return [one for one in found if one not in (value, below, above)]


def _middle(a: float, b: float) -> float:
    far = min(a, b) > 0 and max(a, b) / min(a, b) > 2
    return float(f"{math.sqrt(a * b) if far else (a + b) / 2:.3g}")


def grid(parameters: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Combine values: all with all, or where these are too many, each with the first of the others.

    >>> grid({"k": [60, 10], "norm": ["max"]})
    [{'k': 60, 'norm': 'max'}, {'k': 10, 'norm': 'max'}]
    """
    if math.prod(map(len, parameters.values())) <= LARGEST_GRID:
        return [
            dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())
        ]
    first = {name: values[0] for name, values in parameters.items()}
    others = [first | {name: value} for name, values in parameters.items() for value in values[1:]]
    return [first, *others]


@dataclass(frozen=True)
class TunedMethod:
    """A method of which the parameters that are `fixed` stay, and the others are tuned."""

    method: Fusion
    fixed: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The method's name."""
        return self.method.name

    def has(self, setting: Setting) -> bool:
        """Whether a setting is this method, with what stays."""
        if not isinstance(setting, Fusion) or setting.name != self.name:
            return False
        return all(getattr(setting, key) == getattr(self.method, key) for key in self.fixed)


@dataclass(frozen=True)
class FusionSpace:
    """Fusion methods; the parameters that the user wrote stay, the others are tuned.

    `start` is tried before all others: the default, and what needs no tuning.
    """

    methods: Sequence[TunedMethod]
    names: Sequence[str]
    start: Sequence[Setting] = ()

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.names)

    def coarse(self) -> list[Setting]:
        """Try each method with its default and with the values of its grid."""
        found = [
            make_fusion(one.name, one.method.changed() | values)
            for one in self.methods
            for values in [{}, *grid(self._values(one))]
        ]
        return list(dict.fromkeys([*self.start, *found]))

    def _values(self, one: TunedMethod) -> dict[str, Sequence[Value]]:
        """Return the values of each parameter that is tuned."""
        return {
            name: simplex(self.runs) if name == "weights" else values
            for name, values in one.method.grid.items()
            if name not in one.fixed
        }

    def guesses(self, means: Mapping[Setting, float]) -> list[Setting]:
        """Weigh each run by what it is worth alone, to some powers.

        Reference: Wu, Bi, Zeng and Han 2009, doi:10.1016/j.ipm.2009.02.003
        """
        worth = np.array([means[name] for name in self.names])
        if worth.min() < 0 or not worth.any():
            return []
        weighted = [one for one in self.methods if "weights" in self._values(one)]
        texts = [_text((worth / worth.max()) ** power) for power in POWERS]
        return [_with(one.method, "weights", written) for one in weighted for written in texts]

    def sweep(self, best: Setting) -> list[Setting]:
        """Give each parameter of a method all its coarse values; a run has none."""
        method = self._method(best)
        values = {} if method is None else self._values(method)
        return [_with(best, name, one) for name, some in values.items() for one in some]

    def finer(self, best: Setting, tried: Sequence[Setting], turn: int) -> list[Setting]:
        """Shift weights less from turn to turn, and halve the steps of other numbers."""
        method = self._method(best)
        if method is None:
            return []
        alike = [one for one in tried if method.has(one)]
        found: list[Setting] = []
        for name, values in self._values(method).items():
            if name == "weights":
                found += [_with(best, name, one) for one in _shifted(best, self.runs, turn)]
            elif not isinstance(values[0], str):
                known = sorted({float(getattr(one, name)) for one in alike})
                nearer = map(tidy, between(float(getattr(best, name)), known))
                found += [_with(best, name, one) for one in nearer if best.accepts(name, one)]
        return found

    def _method(self, best: Setting) -> TunedMethod | None:
        """Find the method that a setting is of, if it is tuned."""
        return next((one for one in self.methods if one.has(best)), None)


def _with(method: Fusion, name: str, value: Value) -> Fusion:
    return make_fusion(method.name, method.changed() | {name: value})


def setting_text(setting: Setting) -> str:
    """Write a setting: a method, the name of a run, or parameters.

    >>> setting_text((("k1", 0.9), ("stemmer", "porter")))
    'k1=0.9, stemmer=porter'
    """
    if isinstance(setting, tuple):
        return ", ".join(f"{name}={value}" for name, value in setting)
    return str(setting)


def parameters_of(setting: Setting, runs: int) -> dict[str, Any]:
    """Return the parameters of a setting, with shares as weights; a run has none.

    >>> parameters_of(make_fusion("wrrf", {"weights": (1, 3)}), 2)
    {'norm': 'none', 'k': 60, 'weights': (0.25, 0.75)}
    """
    if isinstance(setting, Fusion):
        found: dict[str, Any] = dict(setting.written())
        if "weights" in found:
            weights = setting.weight(runs)
            found["weights"] = tuple((weights / weights.sum()).tolist())
        return found
    return dict(setting) if isinstance(setting, tuple) else {}


def simplex(runs: int) -> list[str]:
    """Return weights that add up to 1, in steps as small as their number allows.

    The first are equal. Of more than eleven runs, one at a time is left out or counts twice.

    >>> simplex(2)[:4], len(simplex(2)), len(simplex(4)), len(simplex(30))
    (['equal', '(0,1)', '(0.1,0.9)', '(0.2,0.8)'], 11, 57, 61)
    """
    fitting = [m for m in range(2, 11) if math.comb(m + runs - 1, runs - 1) <= LARGEST_GRID]
    if fitting:
        points = _lattice(runs, fitting[-1])
    else:
        points = [
            [float(w if i == run else 1) for i in range(runs)]
            for w in (0, 2)
            for run in range(runs)
        ]
    found = dict.fromkeys(_text(point) for point in points if len(set(point)) > 1)
    return ["equal", *found]


def _lattice(runs: int, steps: int) -> list[list[float]]:
    def parts(left: int, places: int) -> Iterator[list[int]]:
        if places == 1:
            yield [left]
            return
        for first in range(left + 1):
            yield from ([first, *rest] for rest in parts(left - first, places - 1))

    return [[part / steps for part in point] for point in parts(steps, runs)]


def _text(weights: Iterable[float]) -> str:
    """Write weights so that they add up to 1, with four digits."""
    shares = list(weights)
    total = sum(shares)
    return f"({','.join(str(tidy(round(one / total, 4))) for one in shares)})"


def _shifted(best: Fusion, runs: int, turn: int) -> list[str]:
    """Give one run at a time more weight, or less, by steps that halve from round to round."""
    weights, step = best.weight(runs), 0.5**turn
    share = weights / weights.sum()
    found = []
    for run in range(runs):
        for change in (1 + step, 1 - step):
            moved = share.copy()
            moved[run] = moved[run] * change if moved[run] else step / runs * (change > 1)
            if moved.any():
                found.append(_text(moved.tolist()))
    return found


@dataclass(frozen=True)
class ParameterSpace:
    """Parameters of anything that makes a run: lists of values, or (low, high) of numbers.

    A list is tried as it is, such as the whole numbers that make sense; a range is first tried at
    five points, evenly or, where it spans more than a factor of ten, in ratio, then refined. What
    is tried first is the `default`, or the first of each list and the middle of each range.

    >>> [dict(one)["b"] for one in ParameterSpace({"b": (0.0, 1.0)}).coarse()]
    [0.5, 0.0, 0.25, 0.75, 1.0]
    """

    parameters: Mapping[str, Any]
    default: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        hint = 'give {"k1": (0.4, 2.0), "stemmer": ["porter", "none"]}'
        if not isinstance(self.parameters, Mapping) or not self.parameters:
            raise UsageError(f"the space cannot be {self.parameters!r:.60}", hint)
        for name, given in self.parameters.items():
            if self._is_range(name):
                continue
            if isinstance(given, (str, Mapping)) or not isinstance(given, Sequence) or not given:
                raise UsageError(f"{name} cannot be {given!r:.60}", hint)
            if not all(isinstance(value, Hashable) for value in given):
                raise UsageError(f"{name} cannot be {given!r:.60}", "give numbers, texts or tuples")
        if self.default is not None and not self._fits(self.default):
            hint = f"give a number or a text for each of {', '.join(self.parameters)}"
            raise UsageError(f"the default cannot be {self.default!r:.60}", hint)

    def _fits(self, default: Any) -> bool:
        """Whether a default has a value for each parameter."""
        if not isinstance(default, Mapping) or default.keys() != self.parameters.keys():
            return False
        return all(isinstance(value, Hashable) for value in default.values())

    def _is_range(self, name: str) -> bool:
        given = self.parameters[name]
        numbers = isinstance(given, tuple) and len(given) == 2
        if not numbers or not all(type(end) in (int, float) for end in given):
            return False
        low, high = given
        if not -math.inf < low < high < math.inf:
            raise UsageError(f"{name}: {given} is not a range", "give (low, high)")
        if isinstance(low, int) and isinstance(high, int):
            told = f"{name}: {given} may be whole numbers or all between them"
            hint = f"give ({low}.0, {high}.0) for a range, or a list such as [{low}, {high}]"
            raise UsageError(told, hint)
        return True

    @cached_property
    def values(self) -> dict[str, list[Any]]:
        """The values of each parameter that are tried first, the default before the others."""
        found = {}
        for name, given in self.parameters.items():
            values = _spread(*given) if self._is_range(name) else list(given)
            usual = values[len(values) // 2] if self._is_range(name) else values[0]
            first = usual if self.default is None else self.default[name]
            found[name] = list(dict.fromkeys([first, *values]))
        return found

    def coarse(self) -> list[Setting]:
        """Combine the first values."""
        return [tuple(one.items()) for one in grid(self.values)]

    def guesses(self, means: Mapping[Setting, float]) -> list[Setting]:
        """Guess nothing."""
        return []

    def sweep(self, best: Setting) -> list[Setting]:
        """Give each parameter all its coarse values."""
        return [
            tuple((dict(best) | {name: value}).items())
            for name, values in self.values.items()
            for value in values
        ]

    def finer(self, best: Setting, tried: Sequence[Setting], turn: int) -> list[Setting]:
        """Halve the steps of each range around the best value."""
        own, found = dict(best), []
        for name in filter(self._is_range, own):
            known = sorted({dict(one)[name] for one in tried})
            found += [tuple((own | {name: one}).items()) for one in between(own[name], known)]
        return found


def _spread(low: float, high: float) -> list[float]:
    """Divide a range evenly, or in ratio where its ends are far apart."""
    far = low > 0 and high / low > 10
    shares = [i / (RANGE_POINTS - 1) for i in range(RANGE_POINTS)]
    points = [low * (high / low) ** i if far else low + (high - low) * i for i in shares]
    return [low, *(float(f"{point:.4g}") for point in points[1:-1]), high]
