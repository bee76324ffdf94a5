"""What is given to a comparison: judgments, runs and slices, each in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from idealist.doubts.case import few
from idealist.errors import UsageError
from idealist.formats import borrowed_run
from idealist.notation import many
from idealist.tables import Qrels, Run

#: The places of the arguments.
PLACES = "compare(qrels, [run, run], measures)"


def check_places(qrels: Any, runs: Any, slices: Any, axes: Mapping[str, Any]) -> None:
    """Refuse arguments that stand in another's place."""
    files = isinstance(qrels, (list, tuple)) and len(qrels) > 0
    if files and all(isinstance(one, (str, Path, Run)) for one in qrels):
        raise UsageError("qrels cannot be a list of files", f"judgments come first: {PLACES}")
    if isinstance(runs, (str, Path, Run)):
        raise UsageError("a comparison needs two runs", f"runs go into one list: {PLACES}")
    if "measure" in axes:
        raise UsageError("there is no argument 'measure'", "write measures=…")
    if isinstance(slices, str):
        hint = f"give {{query: slice}}, such as read_queries(FILE).column({slices!r})"
        raise UsageError(f"slices cannot be {slices!r}", hint)


def left_out(qrels: Qrels, asked: frozenset[str]) -> tuple[str, ...]:
    """Say which judged queries are in no slice because they were not asked for."""
    rest = tuple(query for query in qrels.queries if query not in asked)
    if not rest:
        return ()
    words = many(len(rest), "judged query is", "judged queries are")
    return (f"{words} not among the queries given, and left out ({few(rest)})",)


def runs_of(given: Any) -> list[Run]:
    """Read the runs and name them apart."""
    several = isinstance(given, (Mapping, Iterable)) and not isinstance(given, (str, Path, Run))
    if isinstance(given, Mapping):
        read = [borrowed_run(run, name=str(name)) for name, run in given.items()]
    else:
        read = [borrowed_run(run) for run in given] if several else []
    if len(read) < 2:
        hint = "give a list of runs, or {name: run}; the first is the baseline"
        raise UsageError("a comparison needs two runs", hint)
    names = distinct([run.name for run in read])
    return [run.renamed(name) for run, name in zip(read, names, strict=True)]


def distinct(names: Sequence[str]) -> list[str]:
    """Tell equal names apart by numbers.

    >>> distinct(["run", "bm25", "run", "run (2)"])
    ['run', 'bm25', 'run (3)', 'run (2)']
    """
    found: list[str] = []
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        free = (each for each in numbered if each not in found and each not in names)
        found.append(next(free) if name in found else name)
    return found
