"""How trec_eval ends where it cannot go on."""

from __future__ import annotations

import getopt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from idealist.errors import IdealistError, UsageError
from idealist.notation import DEEPEST, to_number


class Stop(IdealistError):
    """An end with one of trec_eval's exit codes."""

    def __init__(self, code: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.code = code


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


USAGE = "Usage: idealist trec-eval [-h] [-q] [-m measure]... QRELS RUN"
_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
#: The long form of each option, by its letter; one that takes a value ends in ``=``.
_LONG = {
    "h": "help", "v": "version", "q": "query_eval_wanted", "m": "measure=",
    "c": "complete_rel_info_wanted", "l": "level_for_rel=", "n": "nosummary", "D": "Debug_level=",
    "J": "Judged_docs_only", "N": "Number_docs_in_coll=", "M": "Max_retrieved_per_topic=",
    "R": "Rel_info_format=", "T": "Results_format=", "o": "Output_old_results_format=",
    "Z": "Zscore=", "as": "as=",
}  # fmt: skip
_LETTERS = {f"--{word.removesuffix('=')}": letter for letter, word in _LONG.items()}

#: The kinds of judgments there are.
JUDGMENTS = ("qrels", "qrels_jg", "prefs", "qrels_prefs")
#: The versions there are, by the name that is given for them.
VERSIONS = {"10.0": 10, "10": 10, "9.0.8": 9, "9": 9}


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
    """Read a command line.

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
        raise UsageError(f"two files are needed, and {len(files)} were given", USAGE)
    return options


#: Options that only say yes: the field each sets, and what to.
_FLAGS = {
    "h": ("help", True), "v": ("version_wanted", True), "q": ("per_query", True),
    "c": ("complete", True), "n": ("summary", False), "J": ("judged_only", True),
}  # fmt: skip


def _take(options: Options, letter: str, value: str) -> None:
    if letter in _FLAGS:
        setattr(options, *_FLAGS[letter])
    elif letter == "m":
        options.measures.append(value)
    elif letter == "l":
        options.level = _whole(letter, value, 0)
    elif letter == "N":
        options.documents = _whole(letter, value, 0)
    elif letter == "M":
        options.depth = _whole(letter, value, 1)
    elif letter == "D":  # LEVEL.QUERY: one query is evaluated; what -D would print there, is not
        options.only = value.partition(".")[2] or None
    elif letter == "R":
        options.judgments = value
    elif letter == "Z":
        options.zscores = value
    elif letter == "T" and value != "trec_results":
        raise Stop(2, f"-T {value}: there is no such format of runs", "leave -T out")
    elif letter == "as":
        if value not in VERSIONS:
            raise UsageError(f"--as {value}: no such version", "give 10.0 or 9.0.8")
        options.version = VERSIONS[value]


def _whole(letter: str, value: str, least: int) -> int:
    try:
        number = int(value)
    except ValueError:
        raise UsageError(
            f"-{letter} {value!r} is not a whole number", f"write -{letter}1"
        ) from None
    if number < least:
        hint = "docs/differences.md says what trec_eval does with less"
        raise UsageError(f"-{letter} takes a number of at least {least}", hint)
    return number
