"""The command line of trec_eval: its options, and the parameters of its measures."""

from __future__ import annotations

import getopt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from idealist.errors import IdealistError, UsageError
from idealist.notation import DEEPEST, to_number

USAGE = "Usage: idealist trec-eval [-h] [-q] [-m measure]... QRELS RUN"
_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
#: The long form of each option by its letter; options that take a value end in ``=``.
_LONG = {
    "h": "help", "v": "version", "q": "query_eval_wanted", "m": "measure=",
    "c": "complete_rel_info_wanted", "l": "level_for_rel=", "n": "nosummary", "D": "Debug_level=",
    "J": "Judged_docs_only", "N": "Number_docs_in_coll=", "M": "Max_retrieved_per_topic=",
    "R": "Rel_info_format=", "T": "Results_format=", "o": "Output_old_results_format=",
    "Z": "Zscore=", "as": "as=",
}  # fmt: skip
_LETTERS = {f"--{word.removesuffix('=')}": letter for letter, word in _LONG.items()}

#: The known kinds of judgments.
JUDGMENTS = ("qrels", "qrels_jg", "prefs", "qrels_prefs")
#: The known versions by the names accepted for them.
VERSIONS = {"10.0": 10, "10": 10, "9.0.8": 9, "9": 9}
#: Options without a value: the field each sets, and to what.
_FLAGS = {
    "h": ("help", True), "v": ("version_wanted", True), "q": ("per_query", True),
    "c": ("complete", True), "n": ("summary", False), "J": ("judged_only", True),
}  # fmt: skip
#: Options that take a whole number: the field each sets, and its lowest value.
_NUMBERS = {"l": ("level", 0), "N": ("documents", 0), "M": ("depth", 1)}
#: Options that take a word: the field each sets.
_WORDS = {"R": "judgments", "Z": "zscores"}

N = TypeVar("N", int, float)


class Stop(IdealistError):
    """An early end with one of trec_eval's exit codes."""

    def __init__(self, code: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.code = code


@dataclass
class Options:
    """What a command line asks for."""

    files: list[str] = field(default_factory=list)
    measures: list[str] = field(default_factory=list)
    help: bool = False
    version_wanted: bool = False
    per_query: bool = False
    complete: bool = False
    summary: bool = True
    judged_only: bool = False
    level: int = 1
    documents: int = 0
    depth: int | None = None
    only: str | None = None
    judgments: str = "qrels"
    zscores: str | None = None
    version: int = 10


def options_of(words: Sequence[str]) -> Options:
    """Parse a command line.

    >>> options_of(["-q", "-mmap", "qrels", "run", "-l2"]).level
    2
    """
    try:
        found, files = getopt.gnu_getopt(list(words), _SHORT, list(_LONG.values()))
    except getopt.GetoptError as error:
        raise UsageError(error.msg, USAGE) from None
    options = Options(files)
    for word, value in found:
        _take(options, _LETTERS.get(word, word.lstrip("-")), value)
    if not (options.help or options.version_wanted) and len(files) != 2:
        raise UsageError(f"expected two files, got {len(files)}", USAGE)
    return options


def _take(options: Options, letter: str, value: str) -> None:
    if letter in _FLAGS:
        setattr(options, *_FLAGS[letter])
    elif letter in _NUMBERS:
        name, least = _NUMBERS[letter]
        setattr(options, name, _whole(letter, value, least))
    elif letter == "m":
        options.measures.append(value)
    elif letter == "D":  # LEVEL.QUERY: evaluate that query alone; nothing is printed for debugging
        options.only = value.partition(".")[2] or None
    elif letter in _WORDS:
        setattr(options, _WORDS[letter], value)
    elif letter == "T" and value != "trec_results":
        raise Stop(2, f"-T {value}: unknown run format", "leave -T out")
    elif letter == "as":
        if value not in VERSIONS:
            raise UsageError(f"--as {value}: unknown version", "use 10.0 or 9.0.8")
        options.version = VERSIONS[value]


def _whole(letter: str, value: str, least: int) -> int:
    try:
        number = int(value)
    except ValueError:
        message = f"-{letter} {value!r} is not a whole number"
        raise UsageError(message, f"write -{letter}1") from None
    if number < least:
        hint = "docs/differences.md describes what trec_eval does with lower numbers"
        raise UsageError(f"-{letter} takes a number of at least {least}", hint)
    return number


def cutoffs(name: str, given: str) -> list[int]:
    """Read cutoffs in ascending order; fractions are truncated, as by C's ``strtol``.

    >>> cutoffs("P", "10,5,7.9")
    [5, 7, 10]
    """
    ranks = sorted(int(number) for number in numbers(name, given))
    if not 1 <= ranks[0] <= ranks[-1] <= DEEPEST:
        raise UsageError(f"{name}.{given}: cutoffs go from 1 to {DEEPEST}", "write P.5,10")
    return _unlike(name, given, ranks)


def points(name: str, given: str) -> list[float]:
    """Read shares of the relevant documents in ascending order."""
    return _unlike(name, given, sorted(numbers(name, given)))


def numbers(name: str, given: str) -> list[float]:
    """Read numbers separated by commas."""
    try:
        return [float(to_number(part.strip())) for part in given.split(",")]
    except ValueError:
        hint = "write numbers separated by commas"
        raise UsageError(f"{name}.{given}: these are not all numbers", hint) from None


def pairs(name: str, given: str) -> dict[str, float]:
    """Read pairs such as ``1=3.5,2=9``.

    >>> pairs("ndcg", "1=3.5,2=9")
    {'1': 3.5, '2': 9.0}
    """
    try:
        found = [part.split("=") for part in given.split(",")]
        return {key.strip(): float(to_number(value.strip())) for key, value in found}
    except ValueError:
        hint = "write LEVEL=GAIN pairs separated by commas, such as ndcg.1=3.5,2=9"
        raise UsageError(f"{name}.{given}: these are not pairs", hint) from None


def _unlike(name: str, given: str, values: list[N]) -> list[N]:
    if len(set(values)) < len(values):
        raise UsageError(f"{name}.{given}: a cutoff appears twice", "write each once")
    return values
