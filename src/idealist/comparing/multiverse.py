"""The multiverse: one difference under every convention that can measure it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from idealist.conventions import CONVENTIONS, Convention
from idealist.conventions import convention as find_convention
from idealist.data.columns import Bools, Floats
from idealist.data.queries import Weights
from idealist.errors import IdealistError, UsageError
from idealist.formats import borrowed_run, read_qrels
from idealist.measures import Measure, as_measure
from idealist.measures.instrument import Instrument, Measured, chosen, measured
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked
from idealist.significance.paired import differences, paired

#: Values that agree to so many digits are the same.
DIGITS = 12
OUTCOMES = ("wins", "ties", "loses")


class Class(NamedTuple):
    """Conventions that give both runs the same values, query by query."""

    conventions: tuple[str, ...]
    difference: float
    p: float
    n: int
    outcome: str
    significant: bool


@dataclass(frozen=True)
class Multiverse:
    """What a run does against a baseline under every convention that can measure it.

    `classes` gather conventions that agree on every query, the largest first; `refused` says why
    others cannot measure these runs. Whether a win is significant is said by the paired t-test,
    two-sided, at `alpha`.
    """

    measure: str
    baseline: str
    run: str
    alpha: float
    classes: tuple[Class, ...]
    refused: Mapping[str, str]

    @property
    def size(self) -> int:
        """The number of conventions that can measure it."""
        return sum(len(one.conventions) for one in self.classes)

    def conventions(self, outcome: str, significant: bool = False) -> tuple[str, ...]:
        """Name the conventions in which the run wins, ties or loses, or does so significantly."""
        some = [c for c in self.classes if c.outcome == outcome and c.significant >= significant]
        return tuple(name for one in some for name in one.conventions)

    def share(self, outcome: str, significant: bool = False) -> float:
        """Return the share of conventions in which the run wins, ties or loses."""
        return len(self.conventions(outcome, significant)) / self.size if self.size else math.nan

    @property
    def usual(self) -> str:
        """What the run does in most conventions."""
        return max(OUTCOMES, key=lambda one: len(self.conventions(one)))

    @property
    def disagreeing(self) -> tuple[str, ...]:
        """The conventions in which the run does something else than in most."""
        return tuple(c for one in OUTCOMES if one != self.usual for c in self.conventions(one))

    def __str__(self) -> str:
        if not self.size:
            return f"Conventions: none measures {self.measure} on these runs."
        count, usual = len(self.conventions(self.usual)), self.usual
        part = many(self.size, "convention", "conventions")
        kinds = many(len(self.classes), "different answer", "different answers")
        strong = len(self.conventions(usual, significant=True))
        sure = "" if usual == "ties" else f", significantly by the t-test in {strong}"
        others = "".join(
            f"; it {one} in {', '.join(self.conventions(one))}"
            for one in OUTCOMES
            if one != usual and self.conventions(one)
        )
        why = f" (see idealist conventions {self.disagreeing[0]})" if others else ""
        return f"Conventions: {self.run} {usual} in {count} of {part} ({kinds}){sure}{others}{why}."

    def data(self) -> dict[str, Any]:
        """Return it as plain data; undefined values are None."""
        return {
            "test": "t",
            "conventions": self.size,
            **{one: len(self.conventions(one)) for one in OUTCOMES},
            "wins_significantly": len(self.conventions("wins", significant=True)),
            "loses_significantly": len(self.conventions("loses", significant=True)),
            "classes": [
                {
                    **one._asdict(),
                    "conventions": list(one.conventions),
                    "p": None if math.isnan(one.p) else one.p,
                }
                for one in self.classes
            ],
            "refused": dict(self.refused),
        }


def multiverse(
    qrels: Any,
    baseline: Any,
    run: Any,
    measure: Any,
    *,
    alpha: float = 0.05,
    conventions: Iterable[str | Convention] | None = None,
    weights: Any = None,
    **axes: Any,
) -> Multiverse:
    """Compare two runs under every named convention that has the measure.

    What the measure and `axes` say holds in all of them; what they leave open is each tool's own.

    >>> qrels = {"q1": {"a": 3, "b": 1, "c": 2}}
    >>> found = multiverse(qrels, {"q1": ["b", "a"]}, {"q1": ["a", "b"]}, "nDCG@10")
    >>> found.usual, found.disagreeing
    ('wins', ('sentence-transformers', 'llama-index', 'mlflow', 'jarvelin-kekalainen'))
    """
    table, one = read_qrels(qrels), as_measure(measure)
    before, after = (
        run if isinstance(run, Ranked) else Ranked(table, borrowed_run(run))
        for run in (baseline, run)
    )
    known = [find_convention(c) for c in CONVENTIONS.values() if conventions is None]
    known += [find_convention(c) for c in conventions or ()]
    weighing = None if weights is None else Weights.read(weights)
    found, refused = _measured((before, after), one, known, weighing, axes)
    classes = [
        _class(one, names, apart, own, alpha)
        for names, apart, own in _gathered(found, weighing, table.queries)
    ]
    classes.sort(key=lambda one: -len(one.conventions))
    names = before.run.name, after.run.name
    return Multiverse(str(one), *names, alpha, tuple(classes), refused)


Both = tuple[Measured, Measured]


def _measured(
    runs: tuple[Ranked, Ranked],
    measure: Measure,
    conventions: Iterable[Convention],
    weights: Weights | None,
    axes: Mapping[str, Any],
) -> tuple[dict[str, Both], dict[str, str]]:
    """Measure both runs under every convention; say why some cannot."""
    found: dict[str, Both] = {}
    refused: dict[str, str] = {}
    instruments: dict[str, Instrument] = {}
    for one in conventions:
        if one.has(measure):
            try:
                instruments[one.name] = one.instrument(measure, axes).weighted(weights)
            except IdealistError as error:
                refused[one.name] = error.message
    protocols = list(dict.fromkeys(one.protocol for one in instruments.values()))
    ranked = [run.tried(protocols) for run in runs]
    for name, instrument in instruments.items():
        try:
            a, b = (measured(instrument, _of(one, instrument.protocol)) for one in ranked)
            _check(instrument, a, b)
            found[name] = (a, b)
        except IdealistError as error:
            refused[name] = error.message
    return found, refused


def _of(ranked: Mapping[Protocol, Placements | IdealistError], protocol: Protocol) -> Placements:
    found = ranked[protocol]
    if isinstance(found, IdealistError):
        raise found
    return found


def _check(instrument: Instrument, a: Measured, b: Measured) -> None:
    """Refuse what cannot be compared: other queries for each run, or none at all."""
    if instrument.protocol.missing == "skip" and not np.array_equal(a.counted, b.counted):
        raise UsageError("missing=skip counts other queries for each run")
    if not np.count_nonzero(_shared(a, b)):
        raise UsageError("no query has a value for both runs")


def _shared(a: Measured, b: Measured) -> Bools:
    shared: Bools = a.counted & b.counted & ~np.isnan(a.values) & ~np.isnan(b.values)
    return shared


def _gathered(
    found: Mapping[str, Both], weights: Weights | None, queries: tuple[str, ...]
) -> Iterable[tuple[tuple[str, ...], Floats, list[float] | None]]:
    """Join conventions with the same values; give the differences, and the weights of queries."""
    classes: dict[bytes, list[str]] = {}
    for name, (a, b) in found.items():
        values = np.round(np.where(_shared(a, b), [a.values, b.values], np.nan), DIGITS) + 0.0
        classes.setdefault(values.tobytes(), []).append(name)
    for names in classes.values():
        a, b = found[names[0]]
        shared = _shared(a, b)
        own = None if weights is None else weights.of(chosen(queries, shared))
        yield tuple(names), differences(a.values[shared], b.values[shared]), own


def _class(
    measure: Measure,
    names: tuple[str, ...],
    apart: Floats,
    weights: list[float] | None,
    alpha: float,
) -> Class:
    """Say what a run does in a class of conventions."""
    told = paired(apart, weights, alpha)
    ahead = told.mean * (measure.direction or 1)
    outcome = "wins" if ahead > 0 else "loses" if ahead < 0 else "ties"
    return Class(names, told.mean, told.p, len(apart), outcome, bool(told.p < alpha))
