"""Whether a printed number is the value: at its own digits, in its own scale, however rounded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any

from idealist.comparing import compare_evaluations
from idealist.evaluating.evaluation import Evaluation
from idealist.reconciling.search import Tick
from idealist.reconciling.target import FINEST, Target
from idealist.rendering.wording import number
from idealist.verifying.number_origins import NumberOrigin, OriginFinder
from idealist.verifying.table_claims import ClaimedNumber, TableClaims

#: How a last digit may have come about, apart from rounding, and the words for it.
ENDINGS = {
    "truncated": "if the last digit is cut off, not rounded",
    "twice": "if it was rounded twice",
}
#: How many further digits a number may have had when it was first rounded.
FIRST_ROUNDED = (1, 2, 3)


@dataclass(frozen=True)
class CheckedNumber:
    """A number that was checked: the value, how it is printed so, and where else it may be from.

    `ending` says how the last digit came about: "exact" for a number far from any half,
    "half-even", "half-up", "truncated" or "twice"; it is empty where the number does not hold. The
    table has `scale` times what we have.
    """

    claim: ClaimedNumber
    target: Target
    value: float
    ending: str
    scale: int = 1
    origins: tuple[NumberOrigin, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the value is printed so."""
        return bool(self.ending)

    @property
    def shown(self) -> str:
        """The value in the scale of the table, with two more digits than it has."""
        digits = self.target.digits - (2 if self.scale > 1 else 0)
        return number(self.scale * self.value, min(max(digits, 0) + 2, FINEST))

    @property
    def convention(self) -> str | None:
        """The first convention that prints the number, if one was found that is not chance."""
        return next(
            (one.convention for one in self.origins if one.convention and not one.chance), None
        )

    @property
    def why(self) -> str:
        """Why it holds, or what else it is."""
        if self.ending in ENDINGS:
            return f"holds {ENDINGS[self.ending]}"
        if self.holds:
            return ""
        return "; ".join(one.words for one in self.origins) or "nothing that was tried prints it"

    def data(self) -> dict[str, Any]:
        """Return the contract of ``verify -f json``; more than it asks for is behind it."""
        return {
            "run": self.claim.run,
            "measure": str(self.claim.measure),
            "claimed": self.target.value,
            "value": self.value,
            "holds": self.holds,
            "convention": self.convention,
            "why": self.why,
            "printed": self.claim.number.text,
            "label": self.claim.label,
            "header": self.claim.header,
            "percent": self.scale > 1,
            "ending": self.ending or None,
            "origins": [one.data() for one in self.origins],
        }


def ending_of(target: Target, value: float) -> str:
    """Say how a value gets the last digit of a number, or nothing if it does not.

    >>> [ending_of(Target.of("0.4312"), x) for x in (0.43121, 0.43129, 0.43126, 0.4322)]
    ['exact', 'truncated', 'truncated', '']
    >>> ending_of(Target.of("0.13"), 0.125), ending_of(Target.of("0.12"), 0.125)
    ('half-up', 'half-even')
    >>> ending_of(Target.of("0.13"), 0.12451)
    'twice'
    """
    if target.value is None or math.isnan(value):
        return ""
    exact, step = Decimal(f"{value:.{FINEST}f}"), Decimal(1).scaleb(-target.digits)
    claimed = Decimal(repr(target.value)).quantize(step)
    if target.prints(value):
        even, away = (exact.quantize(step, way) for way in (ROUND_HALF_EVEN, ROUND_HALF_UP))
        if even == away:
            return "exact"
        return "half-up" if claimed == away else "half-even"
    if abs(claimed) < 10 * step:  # so few digits fit too much
        return ""
    if exact.quantize(step, ROUND_DOWN) == claimed:
        return "truncated"
    first = (exact.quantize(step.scaleb(-more), ROUND_HALF_UP) for more in FIRST_ROUNDED)
    return "twice" if any(one.quantize(step, ROUND_HALF_UP) == claimed for one in first) else ""


def target_of(claim: ClaimedNumber, scale: int, in_unit: bool) -> Target:
    """Read a claimed number as one of ours: in percent, it has two more digits."""
    written = claim.number.decimal(in_unit)
    return Target.of(written.scaleb(-2) if scale > 1 else written)


def scales_of(
    claims: Sequence[ClaimedNumber], values: Mapping[str, float], in_unit: bool
) -> dict[ClaimedNumber, int]:
    """Say which numbers of a column are in percent: as it says, or as more of them hold.

    Where that does not tell, a column is in percent if most of its numbers are above 1.
    """
    said = {one: 100 for one in claims if one.in_percent}
    rest = [one for one in claims if one not in said]
    if not in_unit:
        return dict.fromkeys(rest, 1) | said

    def holding(scale: int) -> int:
        known = ((target_of(one, scale, in_unit), values.get(one.run, math.nan)) for one in rest)
        return sum(bool(ending_of(*pair)) for pair in known)

    above = Counter(one.number.decimal(in_unit) > 1 for one in rest)
    usual = 100 if above[True] > above[False] else 1
    held = {scale: holding(scale) for scale in (1, 100)}
    scale = usual if held[1] == held[100] else max(held, key=lambda one: held[one])
    return dict.fromkeys(rest, scale) | said


def columns_of(checked: Iterable[CheckedNumber]) -> list[list[CheckedNumber]]:
    """Gather numbers that stand in one column."""
    found: dict[tuple[int, int], list[CheckedNumber]] = {}
    for one in checked:
        found.setdefault(one.claim.column, []).append(one)
    return list(found.values())


def checked_table(
    claims: TableClaims, evaluations: Mapping[str, Evaluation]
) -> list[CheckedNumber]:
    """Check the numbers of a table, in the order in which they stand there."""
    columns: dict[tuple[int, int], list[ClaimedNumber]] = {}
    for one in claims.numbers:
        columns.setdefault(one.column, []).append(one)
    found = {
        checked.claim: checked
        for column in columns.values()
        for checked in _checked(column, _values(column, evaluations))
    }
    return [found[one] for one in claims.numbers]


def _checked(
    column: Sequence[ClaimedNumber], values: Mapping[str, float]
) -> Iterator[CheckedNumber]:
    low, high = column[0].measure.filled().bounds(0.0)
    in_unit = low >= 0 and high <= 1
    for one, scale in scales_of(column, values, in_unit).items():
        target, value = target_of(one, scale, in_unit), values.get(one.run, math.nan)
        yield CheckedNumber(one, target, value, ending_of(target, value), scale)


def _values(
    column: Sequence[ClaimedNumber], evaluations: Mapping[str, Evaluation]
) -> dict[str, float]:
    """Give the value of each run; in data of a comparison, over the queries that all have."""
    label, runs = str(column[0].measure), list(dict.fromkeys(one.run for one in column if one.run))
    if not column[0].paired or len(runs) < 2:
        return {run: evaluations[run][label] for run in runs}
    pairs = compare_evaluations([evaluations[run] for run in runs], label).pairs
    return {one.run: one.run_mean for one in pairs} | {one.baseline: one.base_mean for one in pairs}


def with_origins(
    tables: Sequence[Sequence[CheckedNumber]], finder: OriginFinder, tick: Tick
) -> list[list[CheckedNumber]]:
    """Look where the numbers are from that do not hold."""
    wrong = [one for table in tables for one in table if one.claim.run and not one.holds]
    found = {}
    for done, one in enumerate(wrong):
        tick(done, len(wrong))
        origins = finder.origins(one.claim.run, one.claim.measure, one.target, one.value)
        found[one.claim] = replace(one, origins=tuple(origins))
    tick(len(wrong), len(wrong))
    return [[found.get(one.claim, one) for one in table] for table in tables]
