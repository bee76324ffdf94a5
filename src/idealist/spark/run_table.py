"""Runs as one data frame of Spark under our names, ready to be brought together by list."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from idealist.data.remarks import Remark
from idealist.errors import Faults
from idealist.formats.column_names import DISTANCES, Given, folded, matching
from idealist.formats.python_data import of_columns
from idealist.formats.reading import Reading, ReadOptions
from idealist.formats.system_columns import SYSTEMS
from idealist.spark.run_files import FAULTY, POSITION, RUN, read_files
from idealist.spark.sessions import functions, is_frame

#: What a number looks like whose text Java reads as Python does; other text is left to Python.
PLAIN_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
#: How much of a list's key is of its query.
QUERY_BITS = 40
#: What a run is called that has no name.
UNNAMED_RUN = "run"


@dataclass(frozen=True)
class RunTable:
    """Runs in a data frame: `run`, and what of `columns` is there, under our names.

    `theirs` are the names of the columns that were read, and `options` what was said about them;
    `files` say where each run came from.
    """

    frame: Any
    columns: frozenset[str]
    theirs: tuple[str, ...] = ()
    options: ReadOptions = field(default_factory=ReadOptions)
    files: Mapping[str, str] = field(default_factory=dict)

    def source(self, run: str) -> str:
        """Return what errors call a run."""
        return self.files.get(run, run)

    def remarks(self, run: str) -> tuple[Remark, ...]:
        """Return what the names of the columns make readers remark on."""
        return _named(self.theirs, self.source(run), self.options)[1] if self.theirs else ()

    def lists(self, needs: Collection[str], judged: Any = None) -> Any:
        """Bring the rows of each list together, as the columns that rank and a `key`.

        The rows of a list have one key, which others may share: it is a hash, of the run in its
        first bits, so that the lists of a run are near each other. Where judgments are given, it is
        that of the query, and they come first, without a run.
        """
        f = functions()
        key = f.xxhash64("query") if judged is not None else _list_key()
        kept = ["run", "query", "document", *(one for one in sorted(needs) if one != POSITION)]
        kept += [f"{name}_text" for name in kept if f"{name}_text" in self.frame.columns]
        places = [POSITION] if POSITION in needs else []
        rows = self.frame.select(*kept, *places)
        if judged is not None:
            rows = rows.unionByName(judged, allowMissingColumns=True)
        order = ["key", *(["run"] if judged is not None else []), *places]
        keyed = rows.withColumn("key", key).repartition("key")
        return keyed.sortWithinPartitions(*order).drop(*places)


def _list_key() -> Any:
    f = functions()
    low = f.xxhash64("query").bitwiseAND(f.lit((1 << QUERY_BITS) - 1))
    return f.shiftleft(f.xxhash64("run"), QUERY_BITS).bitwiseOR(low)


def run_table(session: Any, runs: Any, columns: Given | None) -> RunTable:
    """Read runs: a data frame, or paths."""
    said = dict(columns or {})
    place = said.pop("position", None)
    named = said.pop("run", None)
    files: Mapping[str, str] = {}
    is_trec = False
    if is_frame(runs):
        frame = runs
    else:
        frame, files, is_trec = read_files(session, runs)
    own = {RUN, POSITION, FAULTY} if files else set()
    run = _one(named, frame.columns, "run") or _system(frame.columns)
    place = _one(place, frame.columns, "position")
    theirs = tuple(name for name in frame.columns if name not in {*own, run, place})
    options = ReadOptions(said)
    found, _ = _named(theirs, "the runs", options)
    chosen = {ours: frame[_quoted(name)] for name, ours in found.items() if ours in KEPT}
    also = [POSITION] * bool(place or is_trec) + [FAULTY] * is_trec
    return RunTable(
        _selected(frame, chosen, run or (RUN if files else None), place, is_trec),
        frozenset({*chosen, *also}),
        () if is_trec else theirs,
        options,
        {} if run else files,
    )  # fmt: skip


#: Our columns that some rule needs.
KEPT = ("query", "document", "score", "rank", "tokens")


def _named(
    theirs: Sequence[str], name: str, options: ReadOptions
) -> tuple[dict[str, str], tuple[Remark, ...]]:
    """Map their names to ours as a table of no rows is read, with what that remarks on."""
    faults = Faults(name)
    reading = Reading("score", faults, options)
    of_columns({one: [] for one in theirs}, reading)
    fresh = Reading("score", faults, options)
    found = fresh.named(theirs)
    if "score" not in found.values() and (distances := matching(tuple(theirs), DISTANCES)):
        hint = (
            f'add a column that ranks the best first: withColumn("score", -col({distances[0]!r}))'
        )
        faults.fail("missing-column", f"{distances[0]} is a distance, and no score", hint)
    return found, tuple(fresh.remarks)


def _one(name: Any, names: Sequence[str], what: str) -> str | None:
    """Find the column that a user named."""
    if name is None or name in names:
        return None if name is None else str(name)
    message = f"there is no column {name!r} to be the {what}"
    Faults("the runs").fail("missing-column", message, f"the columns are {', '.join(names)}"[:400])


def _system(names: Sequence[str]) -> str | None:
    """Find the column that says which run a row is of."""
    return next((name for name in names if folded(name) in SYSTEMS), None)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _selected(
    frame: Any, chosen: Mapping[str, Any], run: str | None, place: str | None, is_trec: bool
) -> Any:
    """Give the columns our names; text becomes a number where both languages read it alike."""
    f = functions()
    types = dict(frame.select(*(one.alias(ours) for ours, one in chosen.items())).dtypes)
    named = f.lit(UNNAMED_RUN) if run is None else frame[_quoted(run)].cast("string")
    cells = [f.coalesce(named, f.lit("")).alias("run")]
    for ours, column in chosen.items():
        if ours in ("query", "document"):
            whole = types[ours] in ("tinyint", "smallint", "int", "bigint")
            cells.append((column.cast("string") if whole else column).alias(ours))
        elif types[ours] == "string":
            plain = column.rlike(PLAIN_NUMBER)
            number = f.when(plain, column.cast("double"))
            if is_trec and ours == "rank":  # where other text is no fault
                cells.append(f.coalesce(number, f.lit(float("nan"))).alias(ours))
                continue
            cells += [number.alias(ours), f.when(~plain, column).alias(f"{ours}_text")]
        else:
            decimal = types[ours].startswith("decimal")
            cells.append((column.cast("double") if decimal else column).alias(ours))
    if place or is_trec:
        cells.append(f.col(POSITION) if place is None else frame[_quoted(place)].alias(POSITION))
    return frame.select(*cells, *([FAULTY] if is_trec else []))
