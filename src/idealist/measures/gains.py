"""Gains: what a document of a grade is worth."""

from __future__ import annotations

from typing import Any

from idealist.errors import UsageError
from idealist.lists import Array, Lists
from idealist.notation import Kind, Value, call, table, to_number

#: Sums of 2^grade stay numbers up to here.
LARGEST_POWER = 1000


def gain_of(gain: str, lists: Lists, grade: Array, rel: float = 1.0) -> Array:
    """Turn grades into gains; `rel` is where ``binary`` begins.

    ``linear`` is g, ``exp2`` is 2^g - 1, ``binary`` is 1 from `rel` on, ``scaled(a,b)`` is
    (g-a)/(b-a) kept in [0, 1], and ``table(0=0,1=3)`` names gains by grade; a grade it does not
    name keeps its own value, as trec_eval has it.
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


def check_power(lists: Lists, grade: Array) -> None:
    """Refuse grades whose power of two is beyond all numbers."""
    if bool(lists.xp.any(grade > LARGEST_POWER)):
        hint = "use gain=linear, or map the grades with gain=table(GRADE=GAIN,…)"
        raise UsageError(f"a grade above {LARGEST_POWER} is too large for 2^grade", hint)


def _check(value: Any) -> Value:
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
    """Give the grades up to the highest that could be worth most: whole ones, and a table's own."""
    name, arguments = call(gain)
    if name != "table":
        return []
    named = [float(pair.split("=")[0]) for pair in arguments]
    whole = map(float, range(min(int(highest), LARGEST_POWER) + 1))
    return [*(grade for grade in named if grade <= highest), *whole]


GAIN = Kind(
    "linear, exp2, binary, scaled(LOW,HIGH) or table(GRADE=GAIN,…) with gains of at least 0", _check
)
