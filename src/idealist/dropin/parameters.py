"""The parameters of trec_eval's measures, as they stand behind the dot of ``-m P.5,10``."""

from __future__ import annotations

from typing import TypeVar

from idealist.errors import UsageError
from idealist.notation import DEEPEST, to_number

N = TypeVar("N", int, float)


def cutoffs(name: str, given: str) -> list[int]:
    """Read ranks, from the least on; a fraction is cut off, as C's ``strtol`` does.

    >>> cutoffs("P", "10,5,7.9")
    [5, 7, 10]
    """
    ranks = sorted(int(number) for number in numbers(name, given))
    if not 1 <= ranks[0] <= ranks[-1] <= DEEPEST:
        raise UsageError(f"{name}.{given}: a cutoff is not from 1 to {DEEPEST}", "write P.5,10")
    return _unlike(name, given, ranks)


def points(name: str, given: str) -> list[float]:
    """Read shares of the relevant documents, from the least on."""
    return _unlike(name, given, sorted(numbers(name, given)))


def numbers(name: str, given: str) -> list[float]:
    """Read numbers between commas."""
    try:
        return [float(to_number(part.strip())) for part in given.split(",")]
    except ValueError:
        hint = "give numbers and commas"
        raise UsageError(f"{name}.{given}: not all of this are numbers", hint) from None


def pairs(name: str, given: str) -> dict[str, float]:
    """Read pairs such as ``1=3.5,2=9``.

    >>> pairs("ndcg", "1=3.5,2=9")
    {'1': 3.5, '2': 9.0}
    """
    try:
        found = [part.split("=") for part in given.split(",")]
        return {key.strip(): float(to_number(value.strip())) for key, value in found}
    except ValueError:
        hint = "write LEVEL=GAIN pairs between commas, such as ndcg.1=3.5,2=9"
        raise UsageError(f"{name}.{given}: these are no pairs", hint) from None


def _unlike(name: str, given: str, values: list[N]) -> list[N]:
    if len(set(values)) < len(values):
        raise UsageError(f"{name}.{given}: a cutoff stands there twice", "give each once")
    return values
