"""Columns: ids as exact text, numbers as float64, read-only once made."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from idealist.notation import tidy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


def to_id(value: Any) -> str:
    """Return an id as exact text; whole numbers become their digits, nothing else is guessed.

    >>> to_id(12), to_id("12"), to_id(np.int64(12))
    ('12', '12', '12')
    """
    if isinstance(value, str):
        result = str(value)
    elif isinstance(value, (int, np.integer)) and value is not True and value is not False:
        result = str(int(value))
    else:
        raise TypeError(value)
    if not result or not (result.isascii() or result.encode()):  # a lone surrogate cannot encode
        raise ValueError(value)
    return result


def to_float(value: Any) -> float:
    """Return a number as float; text must be a plain decimal number.

    >>> to_float("1e-3"), to_float(np.float32(0.5))
    (0.001, 0.5)
    """
    if isinstance(value, str):
        if "_" in value or not value.isascii():
            raise ValueError(value)
    elif isinstance(value, (bytes, bytearray)):
        raise TypeError(value)
    return float(value)


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        to_float(text)
    except ValueError:
        return False
    return True


def freeze(array: Any) -> Any:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


def starts_of(sizes: Sequence[int] | Ints) -> Ints:
    """Turn the sizes of consecutive groups into their starts, with the end appended."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.add.accumulate(np.asarray(sizes, dtype=np.int64), out=starts[1:])
    return starts


def sums_by(owner: Ints, values: Any, owners: int) -> Floats:
    """Sum the values of each owner, an index from 0 to `owners` - 1."""
    return np.bincount(owner, values, owners).astype(np.float64)


def columns_at(columns: Mapping[str, Sequence[Any]], rows: Iterable[int]) -> Mapping[str, Any]:
    """Take some rows of each column, read-only: text as a tuple, numbers as an array."""
    return MappingProxyType({key: _column(values, rows) for key, values in columns.items()})


def _column(values: Sequence[Any], rows: Iterable[int]) -> Floats | tuple[str, ...]:
    chosen = [values[i] for i in rows]
    numbers = isinstance(values, np.ndarray)  # they are numbers even where none is left
    if not numbers and all(isinstance(value, str) for value in chosen):
        return tuple(chosen)
    return freeze(np.array(chosen, dtype=np.float64))  # type: ignore[no-any-return]


def cell_text(value: Any) -> str:
    """Write a cell so that equal ones are written alike."""
    return value if isinstance(value, str) else str(tidy(float(value)))
