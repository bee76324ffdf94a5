"""Gains and discounts: what a grade is worth, and how its rank reduces that."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from idealist.data.columns import Floats, freeze
from idealist.errors import UsageError
from idealist.measures.base import Measure
from idealist.notation import Kind, Value, Written, call, table, to_number
from idealist.ranking.padded_lists import Array, PaddedLists, padded
from idealist.ranking.placements import Placements

#: The highest exponent for which sums of 2^grade do not overflow.
LARGEST_POWER = 1000


def gain_of(gain: str, lists: PaddedLists, grade: Array, rel: float = 1.0) -> Array:
    """Turn grades into gains; `rel` is the lowest grade that ``binary`` counts.

    ``linear`` is g, ``exp2`` is 2^g - 1, ``binary`` is 1 from `rel` on, ``scaled(a,b)`` is
    (g-a)/(b-a) clipped to [0, 1], and ``table(0=0,1=3)`` lists gains by grade. As in trec_eval, a
    grade missing from the table keeps its own value.
    """
    xp = lists.xp
    name, arguments = call(gain)
    if name == "linear":
        return grade
    if name == "exp2":
        check_power(lists, grade)
        return xp.pow(xp.full_like(grade, 2.0), grade) - 1.0
    if name == "binary":
        return lists.number(grade >= rel)
    if name == "scaled":
        low, high = map(float, arguments)
        return xp.clip((grade - low) / (high - low), 0.0, 1.0)
    gains = grade
    for pair in arguments:
        key, worth = pair.split("=")
        gains = xp.where(grade == float(key), float(worth), gains)
    return gains


class Gaining(Measure):
    """Base of measures that reward a document with its gain; negative grades gain nothing."""

    if TYPE_CHECKING:  # each measure declares it, in the order of its own parameters
        gain: Written

    def gains(self, lists: PaddedLists, grade: Array, there: Array) -> Array:
        """Return the gain of each grade, 0 where there is no document."""
        gains = gain_of(self.gain, lists, grade, float(getattr(self, "rel", 1)))
        return lists.xp.where(there & (grade >= 0), gains, 0.0)

    def worth(self, placements: Placements) -> Floats:
        """Return the gain of each ranked document."""
        grade = placements.grade
        gains: Floats = self.filled().gains(padded([]), grade, grade > -math.inf)
        return gains


def check_power(lists: PaddedLists, grade: Array) -> None:
    """Refuse grades whose power of two would overflow."""
    if lists.surely(grade > LARGEST_POWER):
        hint = "use gain=linear, or map the grades with gain=table(GRADE=GAIN,…)"
        raise UsageError(f"a grade above {LARGEST_POWER} is too large for 2^grade", hint)


def _check_gain(value: Any) -> Value:
    if not isinstance(value, str):
        value = table(value)
    name, arguments = call(value)
    if name in ("linear", "exp2", "binary") and not arguments:
        return name
    if name == "scaled":
        low, high = map(to_number, arguments)
        if low >= high:
            raise ValueError(value)
        return f"scaled({low},{high})"
    if name != "table" or not arguments:
        raise ValueError(value)
    pairs = {to_number(grade): worth for grade, worth in (pair.split("=") for pair in arguments)}
    if len(pairs) < len(arguments) or any(to_number(worth) < 0 for worth in pairs.values()):
        raise ValueError(value)
    return table(pairs)


def named_grades(gain: str, highest: float) -> list[float]:
    """Return the grades that could gain most up to the highest: whole ones, and a table's own."""
    name, arguments = call(gain)
    if name != "table":
        return []
    named = [float(pair.split("=")[0]) for pair in arguments]
    whole = map(float, range(min(int(highest), LARGEST_POWER) + 1))
    return [*(grade for grade in named if grade <= highest), *whole]


GAIN = Kind(
    "linear, exp2, binary, scaled(LOW,HIGH), or table(GRADE=GAIN,…) with gains of at least 0",
    _check_gain,
)


@dataclass(frozen=True)
class Discount:
    """A rule that assigns each rank a divisor or, for a table, a weight.

    >>> Discount("log2").numbers(3).tolist()[1:]
    [1.0, 1.584962500721156, 2.0]
    """

    text: str

    @property
    def divides(self) -> bool:
        """Whether the numbers divide gains or multiply them."""
        return not self.text.startswith(("table", "geometric"))

    def numbers(self, depth: int) -> Floats:
        """Return the divisor or weight of each rank from 1 to `depth`; index 0 is padding."""
        return _numbers(self.text, 1 << max(depth, 1).bit_length())

    def weights(self, depth: int) -> Floats:
        """Return the weight of each rank from 1 to `depth`, and 0 for rank 0."""
        numbers = self.numbers(depth)
        weights = 1.0 / numbers if self.divides else numbers.copy()
        weights[0] = 0.0
        return weights

    def apply(self, lists: PaddedLists, gain: Array, rank: Array, depth: int) -> Array:
        """Discount each gain for its rank."""
        if self.text == "none":
            return gain
        numbers = lists.gather(self.numbers(depth), rank)
        return gain / numbers if self.divides else gain * numbers

    def sum(self, lists: PaddedLists, gain: Array, cutoff: Any = None) -> Array:
        """Sum the discounted gains of each list down to a cutoff."""
        return lists.total(self.each(lists, gain, cutoff))

    def each(self, lists: PaddedLists, gain: Array, cutoff: Any = None) -> Array:
        """Return the discounted gain of each document, 0 below a cutoff.

        With ``ties=expected`` a document gets the mean weight of the ranks its tie spans (McSherry
        and Najork 2008).
        """
        xp = lists.xp
        plain = self.apply(lists, gain, lists.rank, lists.depth)
        if cutoff is not None:
            plain = xp.where(lists.rank <= cutoff, plain, 0.0)
        if not lists.averaged:
            return plain
        summed = np.cumsum(self.weights(lists.depth))
        limit = lists.last if cutoff is None else cutoff
        last, before = xp.minimum(lists.last, limit), xp.minimum(lists.first - 1, limit)
        size = lists.number(lists.last - lists.first + 1)
        mean = (lists.gather(summed, last) - lists.gather(summed, before)) / size
        return xp.where(lists.first == lists.last, plain, gain * mean)


def counted(lists: PaddedLists, mask: Array, cutoff: Any = None) -> Array:
    """Count the marked documents above a cutoff; on average with ``ties=expected``."""
    return Discount("none").sum(lists, lists.number(mask), cutoff)


def geometric(p: float) -> Discount:
    """Weigh rank r by p^(r-1)."""
    return Discount(f"geometric({p!r})")


@lru_cache(maxsize=256)
def _numbers(text: str, size: int) -> Floats:
    name, arguments = call(text)
    ranks = range(1, size)
    if name == "table":
        given = [float(argument) for argument in arguments]
        numbers = [given[rank - 1] if rank <= len(given) else 0.0 for rank in ranks]
    elif name == "geometric":
        numbers = [float(arguments[0]) ** (rank - 1) for rank in ranks]
    else:
        base = float(arguments[0]) if arguments else 2.0
        numbers = [_divisor(name, base, rank) for rank in ranks]
    return freeze(np.array([1.0, *numbers]))  # type: ignore[no-any-return]


def _divisor(name: str, base: float, rank: int) -> float:
    if name == "position":
        return float(rank)
    if name == "none" or (name == "jk" and rank < base):
        return 1.0
    argument = rank if name == "jk" else rank + 1
    return math.log2(argument) if base == 2 else math.log(argument) / math.log(base)


def _check_discount(value: Any) -> Value:
    if not isinstance(value, str):
        value = table(value)
    name, arguments = call(value)
    if name in ("none", "position", "log2") and not arguments:
        return name
    if name in ("log", "jk"):
        (base,) = map(to_number, arguments)
        if base <= 1:
            raise ValueError(value)
        return "log2" if (name, base) == ("log", 2) else f"{name}({base})"
    if name != "table" or not arguments:
        raise ValueError(value)
    weights = [to_number(argument) for argument in arguments]
    if weights[-1] < 0 or any(b > a for a, b in itertools.pairwise(weights)):
        raise ValueError(value)  # with increasing weights there is no ideal list
    return table(weights)


DISCOUNT = Kind(
    "log2 for log2(rank+1), log(BASE), jk(BASE) as in Järvelin and Kekäläinen, position for "
    "1/rank, none, or table(W1,W2,…) with weights that never increase",
    _check_discount,
)
