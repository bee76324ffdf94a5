"""Queries: from lines, tables or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from idealist.data import Queries
from idealist.errors import Faults
from idealist.formats import contents, delimited, frames
from idealist.formats.cells import add_query, shown
from idealist.formats.column_names import QUERY_IDS, QUERY_TEXTS, known, ours
from idealist.formats.source import Source
from idealist.formats.stored_judgments import store_address, stored_queries

#: What to call the columns of queries.
ID_HINT = f"name its id {', '.join(QUERY_IDS)} or query, and its text {' or '.join(QUERY_TEXTS)}"


def read_queries(data: Any, *, name: str = "queries") -> Queries:
    """Read queries: {id: text}, {id: {"text": …, …}}, records or columns, or a file.

    A file holds JSON, JSON by the line, columns with a header, or ``id<TAB>text`` lines. A BEIR
    folder and a collection of ir_datasets work as well.

    >>> read_queries([{"_id": "q1", "text": "sort a list", "weight": 3}]).column("weight")
    {'q1': 3}
    """
    if isinstance(data, Queries):
        return data
    if (store := store_address(data)) is not None:
        return stored_queries(store)
    data, lines = contents.resolved(data, "queries"), None
    if isinstance(data, (str, Path)):
        source = Source.of(data)
        name = source.name
        data, lines = _of_file(source)
    faults = Faults(name)
    columns = frames.columns(data, faults)
    if isinstance(data, Mapping) and isinstance(data.get("queries"), list):
        data = data["queries"]  # as sample-queries writes them
    if isinstance(data, Mapping) and _is_columns(data):
        columns = {key: list(cells) for key, cells in data.items()}
    if columns is not None:
        data = _records(columns)
    if not isinstance(data, Mapping):
        data = _by_id(data, lines, faults)
    return _built(data, faults)


def _is_columns(data: Mapping[Any, Any]) -> bool:
    """Whether the data is columns, one of them the ids, and not texts by id."""
    lists = (
        isinstance(cells, (list, tuple)) or hasattr(cells, "tolist") for cells in data.values()
    )
    return bool(known(data, ("query", *QUERY_IDS))) and all(lists)


def _of_file(source: Source) -> tuple[Any, list[int] | None]:
    faults = Faults(source.name)
    found = contents.content_of(source, faults, partial(_header_of, suffix=source.suffix))
    if found.kind == "text":
        return _tab_lines(found.value, faults), None
    return _records(found.value) if found.kind == "columns" else found.value, found.lines


def _header_of(content: bytes, suffix: str) -> delimited.Header | None:
    """Find the header, if the first line names two columns or more that are known."""
    headers = list(delimited.headers(content).values())
    for header in headers:
        if len(known(header.names, ("query", "weight", *QUERY_IDS, *QUERY_TEXTS))) > 1:
            return header
    most = max(headers, key=lambda header: len(header.names), default=None)
    return most if suffix == ".csv" else None


def _records(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _by_id(records: Any, lines: list[int] | None, faults: Faults) -> dict[Any, Any]:
    """Sort records by id; if a record has both an id and a query, the query is the text."""
    if not isinstance(records, Iterable) or isinstance(records, (str, bytes)):
        faults.fail("bad-shape", "cannot be read as queries", "give {query: text}")
    found: dict[Any, Any] = {}
    for number, given in enumerate(records):
        record = given._asdict() if hasattr(given, "_asdict") else given
        line = lines[number] if lines else None
        if not isinstance(record, Mapping):
            hint = 'give {"query": id, "text": …}'
            faults.fail("bad-shape", f"record {number + 1}: cannot read {shown(given)}", hint, line)
        own = next(iter(known(record, QUERY_IDS)), ours(record).get("query"))
        if own is None:
            message = f"record {number + 1} has no id: it has {', '.join(map(str, record))[:60]}"
            faults.fail("missing-column", message, ID_HINT, line)
        add_query(found, record[own], _cells(record, own), faults, line)
    faults.check()
    return found


def _cells(record: Mapping[str, Any], own: str) -> dict[str, Any]:
    """Return a record without its id, with its text under that name."""
    text = next(iter(known(record, (*QUERY_TEXTS, "query"))), own)
    cells = {"text": record[text]} if text != own else {}
    for key, cell in record.items():
        if key not in (own, text):  # the one column that means something is known in any case
            cells["weight" if str(key).strip().lower() == "weight" else str(key)] = cell
    return cells


def _tab_lines(content: bytes, faults: Faults) -> dict[str, str]:
    lines = content.decode().split("\n")
    if all(len(line.split()) < 2 for line in lines):  # ids alone
        return {query: "" for line in lines if (query := line.strip())}
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        query, tab, text = line.removesuffix("\r").partition("\t")
        if tab and line.strip():
            add_query(found, query, text, faults, number)
        elif line.strip():
            faults.add("columns", f"no tab in {line[:40]!r}", "lines are: query<TAB>text", number)
    faults.check()
    return found


def _built(data: Mapping[Any, Any], faults: Faults) -> Queries:
    records: dict[str, Mapping[str, Any]] = {}
    for query, entry in data.items():
        add_query(records, query, entry if isinstance(entry, Mapping) else {"text": entry}, faults)
    faults.check()
    texts = {query: record.get("text") for query, record in records.items()}
    text = {query: "" if words is None else str(words) for query, words in texts.items()}
    keys = dict.fromkeys(key for record in records.values() for key in record if key != "text")
    columns = {
        key: {query: record[key] for query, record in records.items() if key in record}
        for key in keys
    }
    return Queries(text, columns, faults.file)
