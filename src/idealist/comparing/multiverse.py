"""The multiverse: one difference under every convention that can measure it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from idealist.conventions import CONVENTIONS, Convention
from idealist.conventions import convention as find_convention
from idealist.data.columns import Floats
from idealist.data.queries import Weights
from idealist.errors import IdealistError, UsageError
from idealist.formats import borrowed_run, read_qrels
from idealist.measures import Measure, as_measure
from idealist.measures.instrument import Instrument, chosen, measured
from idealist.notation import many
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked
from idealist.rendering.plain_data import finite
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
        other = {one: self.conventions(one) for one in OUTCOMES if one != usual}
        others = "".join(f"; it {one} in {', '.join(own)}" for one, own in other.items() if own)
        why = f" (see idealist conventions {self.disagreeing[0]})" if others else ""
        return f"Conventions: {self.run} {usual} in {count} of {part} ({kinds}){sure}{others}{why}."

    def data(self) -> dict[str, Any]:
        """Return it as plain data; undefined values are None."""
        sure = {one: len(self.conventions(one, significant=True)) for one in ("wins", "loses")}
        return {
            "test": "t",
            "conventions": self.size,
            **{one: len(self.conventions(one)) for one in OUTCOMES},
            **{f"{one}_significantly": count for one, count in sure.items()},
            "classes": [finite(one._asdict()) for one in self.classes],
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
    """Compare two runs under every convention that has the measure, or under some of them.

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
    weighing = None if weights is None else Weights.read(weights)
    known = [*map(find_convention, CONVENTIONS if conventions is None else conventions)]
    found, refused = _measured((before, after), one, known, weighing, axes)
    alike: dict[bytes, list[str]] = {}
    for name, values in found.items():
        alike.setdefault((np.round(values, DIGITS) + 0.0).tobytes(), []).append(name)
    classes = []
    for names in sorted(alike.values(), key=len, reverse=True):
        values = found[names[0]]
        shared = ~np.isnan(values[0])
        own = None if weighing is None else weighing.of(chosen(table.queries, shared))
        told = paired(differences(*values[:, shared]), own, alpha)
        ahead = told.mean * (one.direction or 1)
        outcome = "wins" if ahead > 0 else "loses" if ahead < 0 else "ties"
        sure = bool(told.p < alpha)
        classes.append(Class(tuple(names), told.mean, told.p, int(shared.sum()), outcome, sure))
    runs = before.run.name, after.run.name
    return Multiverse(str(one), *runs, alpha, tuple(classes), refused)


def _measured(
    runs: tuple[Ranked, Ranked],
    measure: Measure,
    conventions: Iterable[Convention],
    weights: Weights | None,
    axes: Mapping[str, Any],
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Measure both runs under every convention; say why some cannot."""
    found: dict[str, Floats] = {}
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
            found[name] = _values(instrument, *(one[instrument.protocol] for one in ranked))
        except IdealistError as error:
            refused[name] = error.message
    return found, refused


def _values(instrument: Instrument, *lists: Placements | IdealistError) -> Floats:
    """Put the values of both runs side by side, NaN where one of them has none."""
    for one in lists:
        if isinstance(one, IdealistError):
            raise one
    a, b = (measured(instrument, one) for one in lists if isinstance(one, Placements))
    if instrument.protocol.missing == "skip" and not np.array_equal(a.counted, b.counted):
        raise UsageError("missing=skip counts other queries for each run")
    shared = a.counted & b.counted & ~np.isnan(a.values) & ~np.isnan(b.values)
    if not shared.any():
        raise UsageError("no query has a value for both runs")
    return np.where(shared, [a.values, b.values], np.nan)
