"""What a fusion method is: a frozen value with its parameters that maps candidates to scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, dataclass_transform

import numpy as np

from idealist.conventions.describe import sections
from idealist.data.columns import Bools, Floats, Ints
from idealist.errors import Defect, UsageError
from idealist.fusing.candidates import Candidates
from idealist.fusing.normalisations import BY_RANK, NORMS
from idealist.notation import (
    Kind,
    Settings,
    Value,
    axis,
    call,
    choice,
    many,
    split,
    text,
    to_number,
)
from idealist.ranking.placements import Placements

#: What a method learnt from judgments, for each run: a number for each rank or segment.
Learnt = Sequence[Floats]


def _check_weights(value: Any) -> Value:
    if isinstance(value, str):
        if value == "equal":
            return value
        value = split(value.strip().removeprefix("(").removesuffix(")"))
    if isinstance(value, Mapping):
        raise TypeError(value)  # only who knows the runs can put them in order
    numbers = [to_number(weight) for weight in np.asarray(value).ravel().tolist()]
    if not numbers or min(numbers) < 0 or not any(numbers):
        raise ValueError(value)
    return f"({','.join(map(text, numbers))})"


WEIGHTS = Kind(
    "equal, or a number of at least 0 for each run, not all 0, such as (0.7,0.3)", _check_weights
)
NORM = choice(*NORMS)


def norm(default: str) -> Any:
    """Declare the normalisation of a method."""
    return axis(default, NORM, "what makes scores of different runs comparable")


def weights() -> Any:
    """Declare a weight for each run."""
    return axis("equal", WEIGHTS, "the weight of each run, in their order")


@dataclass(frozen=True, kw_only=True, repr=False)
@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(axis, field))
class Fusion(Settings):
    """A way to make one ranking of several: ``str(method)`` is text that `parse_fusion` reads back.

    A subclass states what each run gives a document in `given`, one number for each entry of the
    candidates, and how these make its score in `combined`, which adds them up unless it says
    otherwise.
    """

    #: What it needs of the runs: "ranks" or "scores".
    uses: ClassVar[str] = "scores"
    #: Whether it learns from judgments.
    learns: ClassVar[bool] = False
    #: Whether a document's score is the sum of what runs give it.
    adds_up: ClassVar[bool] = True
    #: What the method's own tool calls normalisations, where others mean something else by it.
    norms: ClassVar[dict[str, str]] = {}
    #: The values from which tuning starts, for each parameter that it tunes.
    grid: ClassVar[dict[str, tuple[Value, ...]]] = {}

    norm: str = norm("min-max")

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True, repr=False)(cls)

    @property
    def name(self) -> str:
        """The method's name without parameters."""
        return type(self).__name__

    @classmethod
    def formula(cls) -> str:
        """Return the formula, as the docstring states it, or what it says in words."""
        return sections(cls).formula or sections(cls).summary

    def changed(self) -> dict[str, Value]:
        """Return the parameters that differ from the defaults."""
        defaults = {name: about.default for name, about in self.parameters().items()}
        return {name: value for name, value in self.written().items() if value != defaults[name]}

    def __str__(self) -> str:
        inside = ",".join(f"{name}={text(value)}" for name, value in self.changed().items())
        return f"{self.name}({inside})" if inside else self.name

    __repr__ = __str__

    @property
    def needs_scores(self) -> bool:
        """Whether runs without scores cannot be fused."""
        return self.uses == "scores" and self.norm not in BY_RANK

    def weight(self, runs: int) -> Floats:
        """Return the weight of each run; 1 where all are equal."""
        written = str(getattr(self, "weights", "equal"))
        if written == "equal":
            return np.ones(runs)
        found = np.array([float(one) for one in call(f"w{written}")[1]])
        if len(found) != runs:
            hint = f"give {runs} weights, in the order of the runs"
            raise UsageError(
                f"{self}: {many(len(found), 'weight', 'weights')} for {runs} runs", hint
            )
        return found

    def learn(self, placements: Sequence[Placements], some: Bools | None = None) -> Learnt:
        """Learn from where judged documents are in each run; `some` marks queries, or all do."""
        return ()

    def prepared(self, candidates: Candidates) -> Candidates:
        """Normalise the scores."""
        return NORMS[self.norm](candidates)

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Compute what each entry gives its document."""
        return candidates.score

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Make a score of what the runs give each document."""
        return candidates.total(given)

    def steps(
        self, candidates: Candidates, learnt: Learnt = ()
    ) -> tuple[Candidates, Floats, Floats]:
        """Normalise; compute what each entry gives its document; and the score of each document."""
        with np.errstate(over="raise", invalid="ignore"), suppress(FloatingPointError):
            prepared = self.prepared(candidates)
            given = self.given(prepared, learnt)
            found = self.combined(prepared, given)
            grown = np.isinf(found).any() and np.isfinite(candidates.score).all()
            if not (grown or np.isnan(found).any()):
                return prepared, given, found
        hint = "repair the scores, or fuse by ranks, as RRF does, or with norm=rank"
        raise UsageError(f"{self} cannot fuse scores that are infinite or so large", hint)

    def scores(self, candidates: Candidates, learnt: Learnt = ()) -> Floats:
        """Compute the fused score of each document."""
        return self.steps(candidates, learnt)[2]


def at_rank(table: Floats, rank: Floats, beyond: float) -> Floats:
    """Look ranks up in a table; ranks that it does not have get the value `beyond`."""
    extended = np.append(table, beyond)
    place: Ints = np.minimum(rank - 1, len(table)).astype(np.int64)
    return extended[place]


def of_runs(tables: Learnt, candidates: Candidates, beyond: float = 0.0) -> Floats:
    """Look the rank of each entry up in the table of its run."""
    if len(tables) != candidates.runs:
        raise Defect("a method that learns was not taught")
    found = np.zeros(len(candidates.rank))
    for run, table in enumerate(tables):
        own = candidates.run == run
        found[own] = at_rank(table, candidates.rank[own], beyond)
    return found
