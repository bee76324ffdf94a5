"""Responses: how a measure answers to one parameter of the best setting, all others staying."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from idealist.fusing.tuning.looks import Looks
from idealist.fusing.tuning.spaces import Setting, parameters_of
from idealist.significance.paired import differences, paired

#: A curve of fewer points shows nothing.
FEWEST_POINTS = 3


@dataclass(frozen=True)
class Point:
    """The mean at a value of the parameter, and the interval of its difference from the best."""

    at: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Response:
    """The points of a parameter, by its values; `best` is the value that was chosen.

    Differences below `rope` are too small to matter.
    """

    parameter: str
    best: float
    points: tuple[Point, ...]
    rope: float = 0.0

    @property
    def flat(self) -> tuple[float, float]:
        """The values around the best one whose differences are too small, or may be chance."""
        low = high = next(i for i, point in enumerate(self.points) if point.at == self.best)
        top = self.points[low].mean
        alike = [p.low <= 0 <= p.high or abs(p.mean - top) < self.rope for p in self.points]
        while low and alike[low - 1]:
            low -= 1
        while high < len(self.points) - 1 and alike[high + 1]:
            high += 1
        return self.points[low].at, self.points[high].at

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "flat": self.flat}


def responses(
    looks: Looks, best: Setting, runs: tuple[str, ...], alpha: float, rope: float = 0.0
) -> list[Response]:
    """Find the curve of each numeric parameter of the best setting."""
    own = parameters_of(best, len(runs))
    found = (_response(looks, best, name, runs, alpha, rope) for name in own)
    return [one for one in found if len(one.points) >= FEWEST_POINTS]


def _response(
    looks: Looks, best: Setting, name: str, runs: tuple[str, ...], alpha: float, rope: float
) -> Response:
    trials = looks.trials
    at: dict[float, Point] = {}
    for setting, mean in looks.whole.means.items():
        if (
            type(setting) is type(best)
            and (place := _place(setting, best, name, len(runs))) is not None
        ):
            apart = differences(trials.held_out(best), trials.held_out(setting))
            found = paired(trials.folds.independent(apart), alpha=alpha)
            low, high = (found.low, found.high) if apart.any() else (0.0, 0.0)
            at.setdefault(place, Point(place, mean, low, high))
    label = f"weight of {runs[-1]}" if name == "weights" else name
    here = _number(parameters_of(best, len(runs))[name])
    return Response(label, here or 0.0, tuple(at[place] for place in sorted(at)), rope)


def _place(setting: Setting, best: Setting, name: str, runs: int) -> float | None:
    """Return the value of a parameter; None where another one differs, or it is no number."""
    own, others = parameters_of(setting, runs), parameters_of(best, runs)
    own_value = own.pop(name)
    others.pop(name)
    return _number(own_value) if own == others else None


def _number(value: Any) -> float | None:
    """Take a number; the weights of two runs are one, the share of the second."""
    if isinstance(value, tuple):
        return float(value[1]) if len(value) == 2 else None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if number else None
