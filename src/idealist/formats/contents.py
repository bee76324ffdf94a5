"""What a file holds: recognised by its first bytes and its first line, then read into `Cells`."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from idealist.errors import Faults, UsageError
from idealist.formats import delimited, engines, frames, json_text, python_data, trec
from idealist.formats.cells import Cells, is_number, pivot
from idealist.formats.column_names import ours
from idealist.formats.reading import Reading
from idealist.formats.source import HEAD, Source

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


def content_of(
    source: Source,
    faults: Faults,
    delimiter_of: Callable[[bytes], str | None] = delimited.delimiter_of,
) -> Content:
    """Read a file; `delimiter_of` finds what separates columns, where the first line names them."""
    _head(source)
    data = source.data()
    if (columns := frames.of_file(data, source.name, faults)) is not None:
        return Content("columns", columns)
    text = source.text(data)
    if _is_lines(text, source):
        return Content("json", *json_text.load_lines(text, source.name))
    if _is_json(text):
        return Content("json", json_text.load(text, source.name), text=text)
    if (sign := delimiter_of(text)) is not None:
        return Content("columns", *delimited.read(text, sign, faults))
    return Content("text", text)


def cells(source: Source, reading: Reading) -> Cells | bytes:
    """Read a file's columns; TREC text, whose columns have no names, is returned as it is."""
    given = partial(delimited.delimiter_of, given=reading.options.columns)
    return cells_of(content_of(source, reading.faults, given), source, reading)


def cells_of(found: Content, source: Source, reading: Reading) -> Cells | bytes:
    """Read the columns of what a file holds, or return its TREC text."""
    faults = reading.faults
    if found.kind == "columns":
        return python_data.of_columns(found.value, reading, found.lines, nulls=True)
    if found.is_document:
        _check_ours(found.value, faults)
        locate = json_text.locator(found.text)
        return python_data.cells_of(found.value, reading, locate)
    if found.kind == "json":
        return _of_lines(found.value, found.lines or [], reading)
    text: bytes = found.value
    _check_header(text, faults)
    if source.suffix == ".csv":
        first = text.split(b"\n", 1)[0].decode().strip()[:60]
        message = f"{first!r} names neither the query column nor the document column"
        faults.fail("columns", message, f"start with a header: query,document,{reading.value}", 1)
    return text


def kind_of(path: str | Path) -> str | None:
    """Tell judgments from a run by what a file's rows hold; None where they could be either."""
    if str(path).startswith(IRDS):
        return None
    if os.path.isdir(path):
        return "run" if engines.is_folder_of_responses(Path(path)) else "qrels"
    source = Source.of(path)
    faults = Faults(source.name)
    content = content_of(source, faults)
    if content.is_document:
        is_request = isinstance(content.value, dict) and "requests" in content.value
        return "qrels" if is_request else None
    found = cells_of(content, source, Reading("score", faults))
    if isinstance(found, bytes):
        return "qrels" if is_preferences(found, source) else trec.kind_of(found)
    judged, ranked = (names & found.columns.keys() for names in (JUDGED, RANKED))
    if judged and (ranked or "score" in found.columns):
        return None
    return "qrels" if judged else "run" if ranked else None


def is_trec(source: Source) -> bool:
    """Whether a file's head shows that `cells` would return it as TREC text."""
    head = _head(source)
    if len(head) == HEAD:  # then the last line may continue
        head = head[: head.rfind(b"\n") + 1]
    if _may_be_frame(head, source.name) or _is_lines(head, source) or _is_json(head):
        return False
    if source.suffix == ".csv" or not trec.first_line(head)[0]:
        return False
    try:
        return delimited.delimiter_of(head) is None and not _half_header(head)
    except UnicodeDecodeError:
        return False


def is_preferences(content: bytes, source: Source) -> bool:
    """Whether TREC text is preferences: its first line shows it, or its suffix says so."""
    return source.suffix == ".prefs" or trec.is_preferences(content)


def _head(source: Source) -> bytes:
    """Read a file's first bytes; binary data is refused, however much follows.

    Where compressed data is damaged, they may be anything: `Source.data` will say so.
    """
    head = source.head()
    if not _may_be_frame(head, source.name) and not source.is_compressed:
        source.check_binary(head)
    return head


def _may_be_frame(head: bytes, name: str) -> bool:
    """Whether a file may be Parquet or Arrow, by its first bytes or its suffix."""
    starts = (frames.PARQUET, frames.ARROW, frames.STREAM)
    return head.startswith(starts) or Path(name).suffix.lower() in frames.SUFFIXES


def _is_json(content: bytes) -> bool:
    return content.lstrip()[:1] in (b"{", b"[")


def _is_lines(content: bytes, source: Source) -> bool:
    """Whether text is JSON by the line."""
    return source.suffix in (".jsonl", ".ndjson") or json_text.is_lines(content)


def _check_ours(loaded: Any, faults: Faults) -> None:
    """Refuse what idealist itself saved, which holds values and no documents."""
    for key, (what, hint) in OURS.items():
        if isinstance(loaded, dict) and isinstance(loaded.get(key), int):
            faults.fail("bad-shape", f"this is {what}, not judgments or a run", hint)


def _check_header(content: bytes, faults: Faults) -> None:
    """Refuse a first line that names one of the two columns needed, but not the other."""
    if names := _half_header(content):
        found = ours(names)
        (missing,) = {"query", "document"} - found.keys()
        (other,) = {"query", "document"} & found.keys()
        hint = f"the columns are {', '.join(names)}; rename one of them to {missing}"
        message = f"there is no {missing} column; {found[other]} is the {other}"
        faults.fail("missing-column", message, hint, 1)


def _half_header(content: bytes) -> list[str] | None:
    """Return the names on a first line that is a header of this kind."""
    for names in delimited.headers(content).values():
        known = {"query", "document"} & ours(names).keys()
        if len(names) > 2 and len(known) == 1 and not any(map(is_number, names)):
            return names
    return None


def _of_lines(records: list[Any], lines: list[int], reading: Reading) -> Cells:
    """Read a row from each line, or an engine's response with the query it answers."""
    ours, faults = reading.ours, reading.faults
    for record, line in zip(records, lines, strict=True):
        if not isinstance(record, dict):
            faults.fail("json", "not a JSON object", 'give {"query": …, "document": …}', line)
    if all(map(python_data.is_pair, records)):
        return python_data.cells_of(python_data.side(records, reading, lines), reading)
    if (found := engines.lists(records, reading, lines)) is not None:
        return python_data.cells_of(found, reading)
    if {"query", "document"} <= ours(names := records[0]).keys() and all(
        record.keys() == names.keys() for record in records
    ):  # as most files are
        columns = {name: [record[name] for record in records] for name in names}
        return python_data.of_columns(columns, reading, lines, nulls=True)
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
