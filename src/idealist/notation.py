"""Parameters of measures, protocols and aggregates: the values they take, and their notation.

A parameter's value is a number, a flag or a short text such as ``exp2``, ``table(0=0,1=3)`` or
``min(k,R)``. `Kind.check` turns whatever a user wrote, Python value or text, into one form, so that
printing and parsing a value returns the same value.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from typing import Any, TypeAlias

from idealist.errors import UsageError

Value: TypeAlias = str | int | float | bool

#: A parameter in any form its kind takes, such as a dict for a table; text once it is checked.
Written: TypeAlias = Any


@dataclass(frozen=True)
class Kind:
    """What values a parameter takes: words for people, a check, and the list if it is closed."""

    words: str
    check: Callable[[Any], Value]
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Parameter:
    """One parameter of a measure, protocol or aggregate."""

    default: Value
    kind: Kind
    doc: str
    always: bool = False


def parameter(default: Value, kind: Kind, doc: str) -> Any:
    """Declare a measure's parameter: `None` until the user or a convention sets it."""
    return field(default=None, metadata={"parameter": Parameter(default, kind, doc)})


def axis(default: Value, kind: Kind, doc: str) -> Any:
    """Declare an axis of a protocol or aggregate, which always has a value."""
    return field(default=default, metadata={"parameter": Parameter(default, kind, doc, True)})


class Settings:
    """Base of the frozen dataclasses whose fields are parameters; checks them when made."""

    def __post_init__(self) -> None:
        for name, about in self.parameters().items():
            value = getattr(self, name)
            if value is None and about.always:
                object.__setattr__(self, name, about.default)
            elif value is not None:
                object.__setattr__(self, name, _checked(type(self), name, about, value))

    @classmethod
    @cache
    def parameters(cls) -> dict[str, Parameter]:
        """Every parameter by name, in the order they are written."""
        found = {f.name: f.metadata.get("parameter") for f in fields(cls)}  # type: ignore[arg-type]
        return {name: about for name, about in found.items() if about is not None}

    @classmethod
    def accepts(cls, name: str, value: Any) -> bool:
        """Whether the class has this parameter and the value is one it can take."""
        about = cls.parameters().get(name)
        if about is None:
            return False
        try:
            about.kind.check(value)
        except (UsageError, ValueError, TypeError):
            return False
        return True

    def written(self) -> dict[str, Value]:
        """Return the parameters that are set."""
        values = {name: getattr(self, name) for name in self.parameters()}
        return {name: value for name, value in values.items() if value is not None}


def _checked(cls: type, name: str, about: Parameter, value: Any) -> Value:
    try:
        return about.kind.check(value)
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"{cls.__name__}: {name} cannot be {value!r}", f"{name} is {about.kind.words}"
        ) from error


def text(value: Value) -> str:
    """Write a value as in measures, ``--set`` and signatures.

    >>> text(2.0), text(0.5), text(True), text("exp2")
    ('2', '0.5', 'true', 'exp2')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(tidy(value))


def tidy(number: float) -> int | float:
    """Return whole numbers as int, others as they are.

    >>> tidy(3.0), tidy(0.25)
    (3, 0.25)
    """
    return int(number) if math.isfinite(number) and number == int(number) else float(number)


def to_number(value: Any) -> int | float:
    """Read a finite number from a Python number or from text such as ``0.5`` or ``1/3``."""
    if isinstance(value, bool) or value is None:
        raise TypeError(value)
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        raise ValueError(value)
    try:
        number = _quotient(value) if isinstance(value, str) and "/" in value else float(value)
    except ArithmeticError as error:  # 1/0, or more than any float
        raise ValueError(value) from error
    if not math.isfinite(number):
        raise ValueError(value)
    return tidy(number)


def _quotient(written: str) -> float:
    from fractions import Fraction  # slow to import, and rarely needed

    return float(Fraction(written))


#: The lowest number above 0, and the highest below 1.
ABOVE_0, BELOW_1 = math.nextafter(0, 1), math.nextafter(1, 0)


def number(low: float = -math.inf, high: float = math.inf, words: str = "", *also: str) -> Kind:
    """Describe a finite number between two bounds, both included, or one of the words in `also`."""
    if not words and math.isfinite(low):
        words = f" from {low:g} to {high:g}" if math.isfinite(high) else f" of at least {low:g}"
        words = f"a number{words}"

    def check(value: Any) -> Value:
        if isinstance(value, str) and value in also:
            return value
        if not low <= (result := to_number(value)) <= high:
            raise ValueError(value)
        return result

    return Kind(words or "a number", check)


#: The deepest rank allowed.
DEEPEST = 10_000_000


def whole(low: int, words: str, *also: str) -> Kind:
    """Describe a rank of at least `low`, or one of the words in `also`."""

    def check(value: Any) -> Value:
        if isinstance(value, str) and value in also:
            return value
        result = to_number(value)
        if not isinstance(result, int) or not low <= result <= DEEPEST:
            raise ValueError(value)
        return result

    return Kind(words, check)


def choice(*values: str) -> Kind:
    """Describe one of a closed list of words."""

    def check(value: Any) -> Value:
        if str(value) not in values:
            raise ValueError(value)
        return str(value)

    return Kind("one of " + ", ".join(values), check, values)


def flag() -> Kind:
    """Describe true or false."""

    def check(value: Any) -> Value:
        if str(value).lower() not in ("true", "false"):
            raise ValueError(value)
        return str(value).lower() == "true"

    return Kind("true or false", check, (False, True))


_CALL = re.compile(r"(?P<name>[\w-]+)(?:\((?P<inside>.*)\))?", re.DOTALL)


@lru_cache(maxsize=256)
def call(written: str) -> tuple[str, tuple[str, ...]]:
    """Split ``name(a,b)`` into its name and arguments; commas inside brackets do not count.

    >>> call("table(0=0,1=3)"), call("log2")
    (('table', ('0=0', '1=3')), ('log2', ()))
    """
    match = _CALL.fullmatch(written.strip())
    if match is None:
        raise ValueError(written)
    return match["name"], tuple(split(match["inside"] or ""))


def split(arguments: str) -> list[str]:
    """Split at the commas outside all brackets.

    >>> split("rel=2, denominator=min(k,R)")
    ['rel=2', 'denominator=min(k,R)']
    """
    parts, level = [""], 0
    for sign in arguments:
        level += (sign == "(") - (sign == ")")
        if level < 0:
            raise ValueError(arguments)
        if sign == "," and level == 0:
            parts.append("")
        else:
            parts[-1] += sign
    if level:
        raise ValueError(arguments)
    parts = [part.strip() for part in parts]
    return [] if parts == [""] else parts


def measures_of(words: Iterable[str]) -> list[str]:
    """Split what was typed into measures, each once; a bare number is another cutoff.

    >>> measures_of(["nDCG@5,10", "AP(denominator=min(k,R)),RR", "RR"])
    ['nDCG@5', 'nDCG@10', 'AP(denominator=min(k,R))', 'RR']
    """
    found: list[str] = []
    for word in words:
        try:
            parts = split(word)
        except ValueError:  # brackets that do not match: the parser reports them
            parts = [word]
        for part in parts:
            base, at, _ = found[-1].rpartition("@") if found else ("", "", "")
            found.append(f"{base}@{part}" if at and part.isdecimal() else part)
    return list(dict.fromkeys(found))


def table(value: Any) -> str:
    """Write a mapping as ``table(0=0,1=3)`` and a sequence as ``table(1,0.5)``."""
    if isinstance(value, Mapping):
        pairs = sorted((to_number(key), to_number(entry)) for key, entry in value.items())
        return "table(" + ",".join(f"{key}={entry}" for key, entry in pairs) + ")"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "table(" + ",".join(str(to_number(entry)) for entry in value) + ")"
    raise TypeError(value)


def digest(mapping: Mapping[str, str | float]) -> str:
    """Return ten hexadecimal digits that depend on the content of a mapping, not on its order."""
    return hashlib.sha256(json.dumps(sorted(mapping.items())).encode()).hexdigest()[:10]


def many(count: int, one: str, several: str) -> str:
    """Write a count with its noun, singular or plural."""
    return f"{count} {one if count == 1 else several}"
