"""What a file holds: recognised by its first bytes and its first line, then read into `Cells`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from idealist.errors import Faults, InputError, UsageError, nearest
from idealist.formats import (
    decimals,
    delimited,
    engines,
    frames,
    json_text,
    python_data,
    spreadsheets,
    trec,
    wide_tables,
)
from idealist.formats.bundle_files import is_bundle
from idealist.formats.cells import Cells, pivot
from idealist.formats.collected_runs import is_collected, whole_lines
from idealist.formats.column_names import given_names, spelt
from idealist.formats.reading import Reading, ReadOptions
from idealist.formats.source import HEAD, Source, parted
from idealist.formats.stored_judgments import store_address
from idealist.formats.table_headers import refuse_table, table_header, unread_table

#: Files that idealist writes, by the key they start with: what they are, and what reads them.
OURS = {
    "idealist": (
        "a saved evaluation",
        "pass it to idealist compare --saved; a gate reads what gate --save wrote",
    ),
    "idealist-baseline": ("a baseline", "pass it as BASE: idealist gate QRELS BASE NEW"),
}
#: Columns that only judgments, or only runs, usually have, under the names a run's reader uses.
JUDGED, RANKED = {"grade", "rating"}, {"rank", "tokens"}


class Content(NamedTuple):
    """What a file holds by its syntax: columns by name, JSON, or text that is neither.

    `lines` are those of the rows, or of JSON values that have a line each. Other JSON comes with
    its `text`.
    """

    kind: Literal["columns", "json", "text"]
    value: Any
    lines: list[int] | None = None
    text: bytes = b""

    @property
    def is_document(self) -> bool:
        """Whether it is JSON as a whole, not by the line."""
        return self.kind == "json" and self.lines is None

    @property
    def holds_lists(self) -> bool:
        """Whether it is columns with a list for each query, as Parquet may have."""
        columns = self.value.values() if self.kind == "columns" else ()
        return any(isinstance(cell, list) for column in columns for cell in column[:1])


def content_of(
    source: Source,
    faults: Faults,
    header_of: Callable[[bytes], delimited.Header | None] = delimited.header_of,
) -> Content:
    """Read a file; `header_of` finds how text is divided into columns, if it is."""
    if is_bundle(source.name):
        message = "this is a bundle: it has no documents, and goes only where runs are measured"
        faults.fail("bad-shape", message, "give the file that it was made of")
    _head(source)
    data = source.data()
    if (columns := frames.of_file(data, source.name, faults)) is not None:
        return Content("columns", columns)
    if (sheet := spreadsheets.of_file(data, source.name, source.sheet, faults)) is not None:
        return Content("columns", *sheet)
    text = source.text(data)
    if is_lines(text, source):
        return Content("json", *json_text.load_lines(whole_lines(text), source.name))
    if _is_json(text):
        return Content("json", json_text.load(text, source.name), text=text)
    if (header := header_of(text)) is not None:
        return Content("columns", *delimited.read(text, header, faults))
    return Content("text", text)


def cells(source: Source, reading: Reading) -> Cells | bytes:
    """Read a file's columns; TREC text, whose columns have no names, is returned as it is."""
    given = partial(table_header, reading=reading)
    return cells_of(content_of(source, reading.faults, given), source, reading)


def cells_of(found: Content, source: Source, reading: Reading) -> Cells | bytes:
    """Read the columns of what a file holds, or return its TREC text."""
    faults = reading.faults
    if found.holds_lists:
        return python_data.cells_of(found.value, reading)
    if found.kind == "columns":
        columns, lines = wide_tables.unfolded(found.value, found.lines, reading)
        table = python_data.of_columns(columns, reading, lines, nulls=True)
        return decimals.read(table, reading)
    if found.is_document:
        _check_ours(found.value, faults)
        locate = json_text.locator(found.text)
        return python_data.cells_of(found.value, reading, locate)
    if found.kind == "json":
        return _of_lines(found.value, found.lines or [], reading)
    text: bytes = found.value
    if (header := unread_table(text, source.suffix)) is not None:
        refuse_table(text, header, reading)
    return text


def kind_of(path: str | Path, options: ReadOptions | None = None) -> str | None:
    """Tell judgments from a run by what a file's rows hold; None where they could be either."""
    if str(path).startswith(IRDS):
        return None
    if (is_folder := os.path.isdir(path)) or store_address(path) is not None:
        is_run = is_folder and engines.is_folder_of_responses(Path(path))
        return "run" if is_run else "qrels"
    source = Source.of(path)
    reading = Reading("score", Faults(source.name), options or ReadOptions())
    content = content_of(source, reading.faults, partial(table_header, reading=reading))
    if content.kind == "json" and (content.is_document or is_collected(content.value)):
        is_request = isinstance(content.value, dict) and "requests" in content.value
        return "qrels" if is_request else None if content.is_document else "run"
    found = cells_of(content, source, reading)
    if isinstance(found, bytes):
        return "qrels" if is_preferences(found, source) else trec.kind_of(found)
    judged, ranked = (names & found.columns.keys() for names in (JUDGED, RANKED))
    if judged and (ranked or "score" in found.columns):
        return None
    return "qrels" if judged else "run" if ranked else None


def check_columns(options: ReadOptions, paths: Iterable[str]) -> None:
    """Refuse a name of a column that no file has, where all are tables with a header, or records.

    A file that has our own names may be one that `convert` wrote, and needs no others.
    """
    tables = {}
    for path in paths:
        if os.path.exists(parted(path)[0]) or path == "-" or path.startswith(IRDS):
            if (names := _text_columns(path)) is None:
                return
            tables[path] = names
    for column, theirs in given_names(options.columns):
        ways = (theirs, theirs.rpartition(".")[2])  # the field of a part, and it alone
        needed = {"query", "document", column}
        if tables and not any(
            any(spelt(names, way) for way in ways) or needed <= {*names}
            for names in tables.values()
        ):
            known = list(dict.fromkeys(name for names in tables.values() for name in names))
            files = "; ".join(f"{path} has {', '.join(names)}" for path, names in tables.items())
            message = f"--columns: no file has a column {theirs!r} to be the {column}"
            raise UsageError(message, f"{nearest(theirs, known)} {files}"[:600])


def row_names(path: str | Path) -> list[str]:
    """Name the columns of a file's rows, or the keys of its first; none where rows are not plain.

    Only the head of a file is read. Whatever is wrong with it, its reader will report.
    """
    if not os.path.isfile(path) or store_address(path) is not None:
        return []
    source = Source.of(path)
    head = source.head()
    if may_be_frame(source):
        from idealist.formats.frame_runs import opened_frame  # which reads with pyarrow

        with suppress(Exception), opened_frame(source) as file:
            return list(map(str, file.schema.names))
        return []
    if is_lines(head, source) or _is_json(head):
        return json_text.first_names(head)
    return _text_columns(str(path)) or []


def _text_columns(path: str) -> list[str] | None:
    """Find the columns of a table that is text; None where only reading it would show them.

    Those of JSON records are all their keys; an object may have queries for keys.
    """
    if not os.path.isfile(path):
        return None
    source = Source.of(path)
    head = source.head()
    if _may_be_binary(head, source.name):
        return None
    if is_lines(head, source) or _is_json(head):
        is_whole = len(head) < HEAD and (is_lines(head, source) or head.lstrip()[:1] == b"[")
        return json_text.names(head) or None if is_whole else None
    try:
        headers = delimited.headers(head[: head.rfind(b"\n") + 1] or head).values()
    except UnicodeDecodeError:
        return None
    return max((header.names for header in headers), key=len, default=[])


def is_trec(source: Source, options: ReadOptions | None = None) -> bool:
    """Whether the head of a run's file shows that `cells` would return it as TREC text."""
    head = _head(source)
    if len(head) == HEAD:  # then the last line may continue
        head = head[: head.rfind(b"\n") + 1]
    if _may_be_binary(head, source.name) or is_lines(head, source) or _is_json(head):
        return False
    if not trec.first_line(head)[0]:
        return False
    reading = Reading("score", Faults(source.name), options or ReadOptions())
    try:
        return table_header(head, reading) is None and unread_table(head, source.suffix) is None
    except (UnicodeDecodeError, InputError):
        return False


def may_be_frame(source: Source) -> bool:
    """Whether a file may be Parquet or Arrow, by its first bytes or its suffix."""
    return _may_be_binary(source.head(), source.name)


def is_json_lines(source: Source) -> bool:
    """Whether a file's head shows that it is JSON by the line."""
    return is_lines(_head(source), source)


def is_preferences(content: bytes, source: Source) -> bool:
    """Whether TREC text is preferences: its first line shows it, or its suffix says so."""
    return source.suffix == ".prefs" or trec.is_preferences(content)


def _head(source: Source) -> bytes:
    """Read a file's first bytes; binary data is refused, however much follows.

    Where compressed data is damaged, they may be anything: `Source.data` will say so.
    """
    head = source.head()
    if not _may_be_binary(head, source.name) and not source.is_compressed:
        source.check_binary(head)
    return head


def _may_be_binary(head: bytes, name: str) -> bool:
    """Whether a file may be Parquet, Arrow or a workbook, by its first bytes or its suffix."""
    starts = (frames.PARQUET, frames.ARROW, frames.STREAM)
    return (
        spreadsheets.may_be_workbook(head)
        or head.startswith(starts)
        or Path(name).suffix.lower() in frames.SUFFIXES
    )


def _is_json(content: bytes) -> bool:
    return content.lstrip()[:1] in (b"{", b"[")


def is_lines(content: bytes, source: Source) -> bool:
    """Whether text is JSON by the line."""
    return source.suffix in (".jsonl", ".ndjson") or json_text.is_lines(content)


def _check_ours(loaded: Any, faults: Faults) -> None:
    """Refuse what idealist itself saved, which holds values and no documents."""
    for key, (what, hint) in OURS.items():
        if isinstance(loaded, dict) and isinstance(loaded.get(key), int):
            faults.fail("bad-shape", f"this is {what}, not judgments or a run", hint)


def _of_lines(records: list[Any], lines: list[int], reading: Reading) -> Cells:
    """Read a list of a query from each line, a row, or an engine's response with its query."""
    ours, faults = reading.ours, reading.faults
    for record, line in zip(records, lines, strict=True):
        if not isinstance(record, dict):
            faults.fail("json", "not a JSON object", 'give {"query": …, "document": …}', line)
    is_plain = {"query", "document"} <= ours(names := records[0]).keys() and all(
        record.keys() == names.keys() for record in records
    )
    if is_plain and not any(isinstance(cell, (list, dict)) for cell in names.values()):
        columns = {name: [record[name] for record in records] for name in names}
        return python_data.of_columns(columns, reading, lines, nulls=True)
    if (found := python_data.lists_in(records, reading, lines=lines)) is not None:
        return found
    if (hits := python_data.hits_in(records, reading, lines)) is not None:
        return hits
    rows = (python_data.record(r, i, reading) for i, r in zip(lines, records, strict=True))
    return Cells(pivot(rows), lines, nulls=True)


#: What precedes the name of a collection of ir_datasets.
IRDS = "irds:"
#: The methods by which ir_datasets yields each kind of table.
ITERATORS = {"qrels": "qrels_iter", "run": "scoreddocs_iter", "queries": "queries_iter"}


def resolved(data: Any, kind: str) -> Any:
    """Find the file inside a BEIR folder, or a collection's records; return other data as it is.

    A folder that is a run stays a folder.
    """
    if isinstance(data, str) and data.startswith(IRDS):
        data = _collection(data.removeprefix(IRDS))
    if hasattr(data, ITERATORS[kind]):
        return getattr(data, ITERATORS[kind])()
    if hasattr(data, "docs_iter"):
        raise UsageError(f"the collection has no {kind}", "give a part of it that has")
    if kind != "run" and isinstance(data, (str, Path)) and os.path.isdir(data):
        return _inside(Path(data), kind)
    return data


def _collection(name: str) -> Any:
    try:
        import ir_datasets
    except ImportError:
        hint = "pip install ir_datasets"
        raise UsageError(f"{IRDS}{name} needs a package that is not installed", hint) from None
    try:
        return ir_datasets.load(name)
    except KeyError:
        hint = "see the catalogue of ir_datasets"
        raise UsageError(f"ir_datasets has no collection {name!r}", hint) from None


def _inside(folder: Path, kind: str) -> Path:
    faults = Faults(str(folder))
    if kind == "queries" and (folder / "queries.jsonl").is_file():
        return folder / "queries.jsonl"
    splits = sorted((folder / "qrels").glob("*.tsv"))
    if kind != "qrels" or not splits:
        hint = "give a file inside it; a BEIR folder has queries.jsonl and qrels/*.tsv"
        faults.fail("no-file", f"this is a folder, not {kind}", hint)
    if len(splits) == 1:
        return splits[0]
    names = ", ".join(f"qrels/{split.name}" for split in splits)
    faults.fail("no-file", f"this folder has several judgments: {names}", "give one of them")
