"""What a file holds: found by its first bytes and its first line, then read into `Cells`."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from idealist.errors import Faults, UsageError
from idealist.formats import delimited, engines, frames, json_text, shapes, trec
from idealist.formats.cells import Cells, is_number, pivot
from idealist.formats.names import ours
from idealist.formats.source import HEAD, Source

#: Files that idealist writes, by the key they start with: what they are, and what reads them.
OURS = {
    "idealist": (
        "a saved evaluation",
        "idealist compare --saved takes it; a gate takes what gate --save wrote",
    ),
    "idealist-baseline": ("a baseline", "give its file as BASE: idealist gate QRELS BASE NEW"),
}


def cells(source: Source, value: str, faults: Faults) -> Cells | bytes:
    """Read a file's columns; TREC text, which has none by name, is given back as it is."""
    _head(source)
    data = source.data()
    if (columns := frames.of_file(data, source.name, faults)) is not None:
        return shapes.of_columns(columns, value, faults, nulls=True)
    content = source.text(data)
    if is_lines(content, source):
        return _of_lines(content, source.name, value, faults)
    if is_json(content):
        loaded = json_text.load(content, source.name)
        _check_ours(loaded, faults)
        return shapes.cells_of(loaded, value, faults, _locate(content))
    sign = delimited.delimiter_of(content)
    if sign is None:
        _check_header(content, faults)
        if source.suffix == ".csv":
            first = content.split(b"\n", 1)[0].decode().strip()[:60]
            message = f"{first!r} names no column for the query and none for the document"
            faults.fail("columns", message, f"let the first line be query,document,{value}", 1)
        return content
    named, lines = delimited.read(content, sign, faults)
    return shapes.of_columns(named, value, faults, lines, nulls=True)


def _check_ours(loaded: Any, faults: Faults) -> None:
    """Refuse what idealist itself saved, which holds values and is no list of documents."""
    for key, (what, hint) in OURS.items():
        if isinstance(loaded, dict) and isinstance(loaded.get(key), int):
            faults.fail("bad-shape", f"this is {what}, not judgments or a run", hint)


def is_trec(source: Source) -> bool:
    """Whether a file's head shows that `cells` would give it back, as TREC text."""
    head = _head(source)
    if len(head) == HEAD:  # then what stands behind the last newline may go on
        head = head[: head.rfind(b"\n") + 1]
    if _may_be_frame(head, source.name) or is_lines(head, source) or is_json(head):
        return False
    if source.suffix == ".csv" or not trec.first_line(head)[0]:
        return False
    try:
        return delimited.delimiter_of(head) is None and not _half_header(head)
    except UnicodeDecodeError:
        return False


def _head(source: Source) -> bytes:
    """Give a file's first bytes; those of binary data are refused, however much follows.

    Where compressed data is damaged, they may be any: `Source.data` will say so.
    """
    head = source.head()
    if not _may_be_frame(head, source.name) and not source.is_compressed:
        source.check_binary(head)
    return head


def _may_be_frame(head: bytes, name: str) -> bool:
    """Whether a file may be Parquet or Arrow, by its first bytes or its suffix."""
    starts = (frames.PARQUET, frames.ARROW, frames.STREAM)
    return head.startswith(starts) or Path(name).suffix.lower() in frames.SUFFIXES


def _check_header(content: bytes, faults: Faults) -> None:
    """Refuse a first line that names one of the columns, but not both that are needed."""
    if names := _half_header(content):
        found = ours(names)
        (missing,) = {"query", "document"} - found.keys()
        (other,) = {"query", "document"} & found.keys()
        hint = f"the columns are {', '.join(names)}; call one of them {missing}"
        message = f"there is no column for the {missing}; {found[other]} is the {other}"
        faults.fail("missing-column", message, hint, 1)


def _half_header(content: bytes) -> list[str] | None:
    """Give the names that a first line holds where they are a header of this kind."""
    first = content.split(b"\n", 1)[0].decode().rstrip("\r")
    for sign in "\t,;":
        names = delimited.cells(first, sign)
        known = {"query", "document"} & ours(names).keys()
        if len(names) > 2 and len(known) == 1 and not any(map(is_number, names)):
            return names
    return None


#: Columns that only judgments, or only runs, mostly have, as a run's reader names them.
JUDGED, RANKED = ("grade", "rating"), ("rank", "tokens")


def kind_of(path: str | Path) -> str | None:
    """Tell judgments from a run by what a file's rows hold; None where they could be either."""
    if str(path).startswith(IRDS):
        return None
    if os.path.isdir(path):
        return "qrels"
    source = Source.of(path)
    data = source.data()
    if not frames.is_binary(data) and is_json(source.text(data)) and not is_lines(data, source):
        loaded = json_text.load(source.text(data), source.name)
        return "qrels" if isinstance(loaded, dict) and "requests" in loaded else None
    found = cells(source, "score", Faults(source.name))
    if isinstance(found, bytes):
        return "qrels" if is_preferences(found, source) else trec.kind_of(found)
    judged, ranked = ({*some} & found.columns.keys() for some in (JUDGED, RANKED))
    if judged and (ranked or "score" in found.columns):
        return None
    return "qrels" if judged else "run" if ranked else None


def is_preferences(content: bytes, source: Source) -> bool:
    """Whether TREC text is preferences: its first line shows it, or its suffix says so."""
    return source.suffix == ".prefs" or trec.is_preferences(content)


def is_json(content: bytes) -> bool:
    """Whether text is JSON."""
    return content.lstrip()[:1] in (b"{", b"[")


def is_lines(content: bytes, source: Source) -> bool:
    """Whether text is JSON by the line."""
    return source.suffix in (".jsonl", ".ndjson") or json_text.is_lines(content)


def _of_lines(content: bytes, name: str, value: str, faults: Faults) -> Cells:
    """Read a row from each line, or an engine's response with the query it answers."""
    records, lines = json_text.load_lines(content, name)
    for record, line in zip(records, lines, strict=True):
        if not isinstance(record, dict):
            faults.fail("json", "not a JSON object", 'give {"query": …, "document": …}', line)
    if all(map(shapes.is_pair, records)):
        return shapes.cells_of(shapes.side(records, value, faults, lines), value, faults)
    if all("hits" in record and "document" not in ours(record) for record in records):
        return shapes.cells_of(engines.by_query(records, faults, lines), value, faults)
    if {"query", "document"} <= ours(names := records[0]).keys() and all(
        record.keys() == names.keys() for record in records
    ):  # as most files are
        columns = {name: [record[name] for record in records] for name in names}
        return shapes.of_columns(columns, value, faults, lines, nulls=True)
    rows = (shapes.record(r, i, value, faults) for i, r in zip(lines, records, strict=True))
    return Cells(pivot(rows), lines, nulls=True)


def _locate(content: bytes) -> shapes.Locate:
    @cache  # many faults ask, and no file without one should pay
    def lines() -> dict[json_text.Path, int]:
        return dict(json_text.keys(content.decode()))

    def locate(query: str, document: str | None) -> int | None:
        inside = None if document is None else lines().get((query, document))
        return inside or lines().get((query,))

    return locate


def loaded(source: Source) -> tuple[Any, list[int] | None]:
    """Give a JSON file's value, or the values of its lines and where each stands."""
    content = source.read()
    if is_lines(content, source):
        return json_text.load_lines(content, source.name)
    return json_text.load(content, source.name), None


#: What stands before the name of a collection of ir_datasets.
IRDS = "irds:"
#: How ir_datasets gives each kind of table.
ITERATORS = {"qrels": "qrels_iter", "run": "scoreddocs_iter", "queries": "queries_iter"}


def resolved(data: Any, kind: str) -> Any:
    """Give the file inside a BEIR folder, or a collection's records; anything else as it is."""
    if isinstance(data, str) and data.startswith(IRDS):
        data = _load(data.removeprefix(IRDS))
    if hasattr(data, ITERATORS[kind]):
        return getattr(data, ITERATORS[kind])()
    if hasattr(data, "docs_iter"):
        raise UsageError(f"the collection has no {kind}", "give a part of it that has")
    if isinstance(data, (str, Path)) and os.path.isdir(data):
        return _inside(Path(data), kind)
    return data


def _load(name: str) -> Any:
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
        noun = "a run" if kind == "run" else kind
        faults.fail("no-file", f"this is a folder, not {noun}", hint)
    if len(splits) == 1:
        return splits[0]
    names = ", ".join(f"qrels/{split.name}" for split in splits)
    faults.fail("no-file", f"this folder has several judgments: {names}", "give one of them")
