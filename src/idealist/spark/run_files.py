"""Runs in files that Spark reads: one data frame, with the run of each row after its file."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from idealist.errors import Faults, UsageError
from idealist.formats.source import plain_suffix, run_names
from idealist.spark.sessions import functions

#: The suffixes that say what a file is; all others are TREC text.
KINDS = {
    ".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "json",
    ".ndjson": "json",
}  # fmt: skip
#: How the parts of a folder that Spark or Hadoop wrote are called.
PART = "part-"
#: What divides the columns of TREC text, as Java writes it.
BLANKS = "[ \\t\\x0b\\f\\r]+"
#: Names of columns that are ours alone.
RUN, POSITION, FAULTY = "idealist_run", "idealist_position", "idealist_faulty"


class FileFrame(NamedTuple):
    """A data frame of files with their runs in the column `RUN`; `files` are those of each run."""

    frame: Any
    files: Mapping[str, str]
    is_trec: bool


def read_files(session: Any, data: Any) -> FileFrame:
    """Read files of one kind: a path, several, or patterns such as ``runs/*.parquet``."""
    asked = [str(one) for one in ([data] if isinstance(data, (str, Path)) else data)]
    given = [path for one in asked for path in sorted(glob.glob(one)) or [one]]
    kinds = {KINDS.get(plain_suffix(path.rstrip("/")), "trec") for path in given}
    if len(kinds) != 1:
        words = f"runs in files of several kinds: {', '.join(sorted(kinds))}" if kinds else "no run"
        raise UsageError(words, "give paths of one kind, or data frames joined with unionByName")
    (kind,) = kinds
    raw = _loaded(session, kind, given)
    owners = _owners(raw.inputFiles(), given)
    if not owners:
        Faults(given[0]).fail("no-file", "there is no such file", "check the path")
    paths = list(dict.fromkeys(owners.values()))
    named = dict(zip(paths, run_names(paths), strict=True))
    rows = [(_plain(uri), named[owner]) for uri, owner in owners.items()]
    frame = _trec(raw) if kind == "trec" else raw.withColumn("_file", _place("file_path"))
    names = functions().broadcast(session.createDataFrame(rows, f"_file string, {RUN} string"))
    files = {name: owner for owner, name in named.items()}
    return FileFrame(frame.join(names, "_file").drop("_file"), files, kind == "trec")


def _loaded(session: Any, kind: str, paths: list[str]) -> Any:
    """Let Spark find the files; say so if it does not."""
    reader, here = session.read, [path for path in paths if Path(path).exists()]
    paths = [f"file:{Path(path).resolve()}" if path in here else path for path in paths]
    try:
        if kind in ("csv", "tsv"):
            return reader.csv(paths, header=True, sep="," if kind == "csv" else "\t", escape='"')
        return reader.format("text" if kind == "trec" else kind).load(paths)
    except Exception as error:  # Spark has one for each kind of file system
        if "PATH_NOT_FOUND" not in str(error):
            raise
        lacking = [path for path in paths if not path.startswith("file:")] or paths
        Faults(lacking[0]).fail("no-file", "there is no such file", "check the path")


def _place(field: str) -> Any:
    """Say where a row is; a path has as many slashes before it as the file system likes."""
    column = functions().col(f"_metadata.{field}")
    return functions().regexp_replace(column, "^file:/+", "/") if field == "file_path" else column


def _plain(uri: str) -> str:
    return "/" + uri.removeprefix("file:").lstrip("/") if uri.startswith("file:") else uri


def _owners(uris: Iterable[str], given: Sequence[str]) -> dict[str, str]:
    """Find the path that each file was given by: its own, or that of a folder above it."""
    known = {_absolute(path): path for path in given}
    found = {}
    for uri in uris:
        path = unquote(_plain(uri)) if uri.startswith("file:") else uri
        parts = path.split("/")
        above = ("/".join(parts[:count]) for count in range(len(parts), 0, -1))
        own = "/".join(parts[:-1]) if parts[-1].startswith(PART) else path
        found[uri] = next((known[one] for one in above if one in known), own)
    return found


def _absolute(path: str) -> str:
    return path.rstrip("/") if "://" in path else str(Path(path).resolve())


def _trec(raw: Any) -> Any:
    """Split lines into columns; one that has too few is kept whole, to be reported."""
    f = functions()
    line = f.regexp_replace("value", "^\ufeff", "")
    trimmed = f.regexp_replace(line, f"^{BLANKS}|{BLANKS}$", "")
    cells = f.split(trimmed, BLANKS, 7)
    place = f.struct(_place("file_block_start"), f.monotonically_increasing_id())
    rows = raw.select(
        cells.alias("cells"), _place("file_path").alias("_file"), place.alias(POSITION)
    )
    rows = rows.where("cells[0] <> '' AND NOT startswith(cells[0], '#')")
    whole = f.when(f.size("cells") < 6, f.concat_ws(" ", "cells"))
    picked = {"query": 0, "document": 2, "rank": 3, "score": 4}
    columns = [f.get("cells", f.lit(i)).alias(name) for name, i in picked.items()]
    return rows.select(*columns, "_file", POSITION, whole.alias(FAULTY))
