"""What is marked as the best of a column, or as the second best, and what is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from idealist.rendering.wording import number
from idealist.verifying.checked_numbers import CheckedNumber

#: What is said of a value that is the best of its block, and not of its column.
ONLY_IN_BLOCK = "only in its block between two lines"
#: Rows that say how far systems could go, and compete with none.
BOUND = re.compile(r"\b(?:oracle|upper[ -]bound|ideal|perfect|human)\b", re.IGNORECASE)


@dataclass(frozen=True)
class BestValue:
    """A value that is marked as the best or the second best, or that is the best and is not."""

    label: str
    run: str
    measure: str
    rank: int
    marked: bool
    holds: bool
    why: str

    @property
    def said(self) -> str:
        """What the table says of the value."""
        place = "best" if self.rank == 1 else "second best"
        return f"marked {place}" if self.marked else f"not marked {place}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "run": self.run, "label": self.label, "measure": self.measure,
            "rank": self.rank, "marked": self.marked, "holds": self.holds, "why": self.why,
        }  # fmt: skip


def best_values(
    columns: Iterable[tuple[Sequence[CheckedNumber], int]], among: str = ""
) -> list[BestValue]:
    """Check the best values of a table: `among` whole columns, or the blocks between its lines.

    Each column comes with 1 where higher is better, -1 where lower is. Where nobody says what is
    meant, it is blocks if fewer marks are wrong then; what holds in its block only, says so.
    """
    listed = [
        ([one for one in column if not _is_bound(one)], sense) for column, sense in columns if sense
    ]
    bold = any(one.claim.cell.bold for column, _ in listed for one in column)
    whole = [one for column, sense in listed for one in _checked(column, sense, bold)]
    if among == "column":
        return whole
    blocks = [(block, sense) for column, sense in listed for block in _blocks(column)]
    parts = [one for block, sense in blocks for one in _checked(block, sense, bold)]
    if among == "block":
        return parts
    wrong = [sum(not one.holds for one in found) for found in (whole, parts)]
    if wrong[1] >= wrong[0] or not all(_has_blocks(column) for column, _ in listed):
        return whole
    better = {(one.run, one.label, one.measure, one.rank): one.why for one in whole}
    return [_only_in_block(one, better) for one in parts]


def _is_bound(one: CheckedNumber) -> bool:
    """Whether a row that is no run, and not marked, is the bound of what systems could reach."""
    is_other = not one.claim.run and not one.claim.cell.stands_out
    return is_other and BOUND.search(one.claim.label) is not None


def _has_blocks(column: Sequence[CheckedNumber]) -> bool:
    """Whether marks could be of blocks: what is alone in one is no best, unless all have one.

    Own results behind a line are usually marked as the best of the column.
    """
    blocks = [[one.claim.cell.stands_out for one in block] for block in _blocks(column)]
    return [True] not in blocks or all(map(any, blocks))


def _only_in_block(one: BestValue, better: Mapping[tuple[str, str, str, int], str]) -> BestValue:
    """Say of a mark that holds in its block what is better in its column."""
    why = better.get((one.run, one.label, one.measure, one.rank), "")
    return replace(one, why=f"{ONLY_IN_BLOCK}: {why}") if one.holds and why else one


def _blocks(column: Sequence[CheckedNumber]) -> list[list[CheckedNumber]]:
    found: dict[int, list[CheckedNumber]] = {}
    for one in column:
        found.setdefault(one.claim.block, []).append(one)
    return list(found.values())


def _value(one: CheckedNumber, sense: int) -> float:
    """Return the value, the higher the better; that of a run which is not there is as claimed."""
    known = one.target.value if math.isnan(one.value) and not one.claim.run else one.value
    return -math.inf if known is None or math.isnan(known) else sense * known


def _checked(column: Sequence[CheckedNumber], sense: int, bold: bool) -> list[BestValue]:
    """Check the marks of one column; without anything bold, what is underlined is the best."""
    first = [one for one in column if (one.claim.cell.bold if bold else one.claim.cell.underlined)]
    if not first:
        return []
    found = _marked(column, first, sense, 1)
    second = [one for one in column if bold and one.claim.cell.underlined and one not in first]
    if second:
        leading = first if all(one.holds for one in found) else _tops(column, column[0], sense)
        rest = [one for one in column if one not in leading]
        found += _marked(rest, [one for one in second if one in rest], sense, 2)
        found += [
            _best(one, 2, True, False, "it is the best") for one in second if one in leading
        ]  # fmt: skip
    return found


def _marked(
    column: Sequence[CheckedNumber], marked: Sequence[CheckedNumber], sense: int, rank: int
) -> list[BestValue]:
    """Check the values that are marked, and name the best one if none of them is."""
    found = []
    for one in marked:
        tops = _tops(column, one, sense)
        why = "" if one in tops else f"{_named(tops[0])} is {_word(sense)} than {_shown(one)}"
        found.append(_best(one, rank, True, one in tops, why))
    if marked and not any(one.holds for one in found):
        top = max(column, key=lambda one: _value(one, sense))
        found.append(_best(top, rank, False, False, f"it is {_shown(top)}"))
    return found


def _tops(column: Sequence[CheckedNumber], one: CheckedNumber, sense: int) -> list[CheckedNumber]:
    """Return all values that are printed like the best one, at the digits of one of them."""
    most = max(_value(each, sense) for each in column)
    digits = one.target.digits
    return [each for each in column if _same(_value(each, sense), most, digits)]


def _same(a: float, b: float, digits: int) -> bool:
    """Whether two values print alike."""
    return a == b or number(a, digits) == number(b, digits)


def _best(one: CheckedNumber, rank: int, marked: bool, holds: bool, why: str) -> BestValue:
    return BestValue(
        one.claim.label, one.claim.run, str(one.claim.measure), rank, marked, holds, why
    )


def _word(sense: int) -> str:
    return "higher" if sense > 0 else "lower"


def _named(one: CheckedNumber) -> str:
    return f"{one.claim.label} {_shown(one)}"


def _shown(one: CheckedNumber) -> str:
    """Show the value; that of a run which is not there, as it was claimed."""
    return one.claim.number.text if not one.claim.run else one.shown
