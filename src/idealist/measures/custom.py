"""User-defined measures: any function of `Placements`, given a name."""

from __future__ import annotations

import hashlib
import inspect
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.measures.base import Measure
from idealist.notation import Kind, parameter
from idealist.ranking.placements import Placements

Function = Callable[..., Any]


def _digest(function: Function) -> str:
    """Digest what a function does: its code, constants, defaults and plain closed-over values."""
    code = getattr(function, "__code__", None)
    if code is None:
        raise UsageError(f"{function!r} is not a plain function", "wrap it in def or lambda")
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    defaults = [function.__defaults__, function.__kwdefaults__]
    parts = [_source(function), code.co_names, code.co_consts, defaults, cells]
    return hashlib.sha256("\n".join(map(_stable, parts)).encode()).hexdigest()[:8]


def _source(function: Function) -> str:
    try:
        return inspect.getsource(function)
    except OSError:
        return repr(function.__code__.co_code)


def _stable(value: Any) -> str:
    """Write a value without memory addresses, which change between processes."""
    if isinstance(value, dict):
        value = sorted(value.items(), key=repr)
    if isinstance(value, (list, tuple)):
        return "(" + ",".join(map(_stable, value)) + ")"
    plain = isinstance(value, (str, int, float, bool, bytes, type(None)))
    return repr(value) if plain else type(value).__qualname__


class Custom(Measure):
    """A measure defined by a function, made with `measure`; `source` digests the function."""

    label: str = ""
    function: Function = field(compare=False)
    source: str = parameter(
        "", Kind("the digest of the function's source", str), "set automatically"
    )

    limits = -math.inf, math.inf  # only the function knows better

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w.-]+", self.label):
            hint = "use letters, digits, dots, hyphens and underscores"
            raise UsageError(f"{self.label!r} cannot be the name of a measure", hint)
        object.__setattr__(self, "source", _digest(self.function))
        super().__post_init__()
        if self.cutoff is not None and "cutoff" not in inspect.signature(self.function).parameters:
            hint = "add a parameter named cutoff to its function"
            raise UsageError(f"{self.label} takes no cutoff", hint)

    @property
    def name(self) -> str:
        """The name it was given."""
        return self.label

    def __str__(self) -> str:
        return self.label if self.cutoff is None else f"{self.label}@{self.cutoff}"

    __repr__ = __str__

    def __call__(
        self, grades: Sequence[float | None], judged: Sequence[float] = (), **columns: Any
    ) -> float:
        """Refuse: a function of placements cannot work on a list of grades."""
        raise UsageError(f"{self.label} needs placements, not a list of grades", "use evaluate()")

    def computed(self, placements: Placements) -> Floats:
        """Call the function, which returns one value per query of ``placements.qrels``."""
        self.check_ties(placements.protocol.ties)
        arguments = {} if self.cutoff is None else {"cutoff": self.cutoff}
        values = np.ma.filled(
            np.ma.asarray(self.function(placements, **arguments), np.float64), np.nan
        )
        if values.shape != (len(placements.qrels.queries),):
            expected = f"({len(placements.qrels.queries)},)"
            message = f"{self.label} returned an array of shape {values.shape}, not {expected}"
            raise UsageError(message, "return one value for each of placements.qrels.queries")
        return np.asarray(values)


def measure(name: str) -> Callable[[Function], Custom]:
    """Turn a function of placements into a measure, usable wherever a built-in one is.

    >>> @measure("TopGrade")
    ... def top_grade(placements):
    ...     return np.nan_to_num(placements.grid(1).filled(0))[:, 0]
    >>> top_grade
    TopGrade
    """

    def decorate(function: Function) -> Custom:
        return Custom(label=name, function=function)

    return decorate
