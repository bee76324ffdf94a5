"""Generated runs as tables: delimited text, JSON by the line, Parquet and Arrow files."""

from __future__ import annotations

import io
import json
import random
from importlib import import_module
from typing import Any

import numpy as np

from kernel_rows import Row, number, text

#: Names that a table may have for our columns.
NAMES = {
    "query": ["query", "query_id", "qid", "topic_id"],
    "document": ["document", "doc_id", "docno", "corpus-id"],
    "score": ["score", "Score", "similarity"],
    "rank": ["rank", "position"],
    "tokens": ["tokens", "num_tokens"],
}
#: What no ranking needs, and readers of text may stumble over.
OTHERS = [
    "",
    "text",
    'a "quote"',
    "one, two; three\tfour",
    "two\nlines",
    "two\r\nlines",
    "é日😀",
    "'",
]


def named(rng: random.Random, rows: list[Row]) -> list[dict[str, Any]]:
    """Give rows under names that other tools have; some columns are left out."""
    numbers = rng.choice([["score"], ["score"], ["score", "rank"], ["rank"], ["tokens"], []])
    names = {ours: rng.choice(NAMES[ours]) for ours in ["query", "document", *numbers]}
    order = rng.sample(list(names), len(names)) if rng.random() < 0.3 else list(names)
    return [{names[ours]: getattr(row, ours) for ours in order} for row in rows]


def delimited(rng: random.Random, rows: list[Row]) -> bytes:
    """Write a header and a line for each row, quoted where it must be, or more often."""
    sign, always = rng.choice(",,,\t;"), rng.random()
    blank = rng.choice(["", "", "", " "])
    records = named(rng, rows) or [{"query": "", "document": ""}]
    if rng.random() < 0.3:
        records = [{"note": rng.choice(OTHERS), **record} for record in records]

    def cell(value: Any) -> str:
        written = str(value)
        if rng.random() < always / 2 or any(c in written for c in f'{sign}"\n\r'):
            return '"' + written.replace('"', '""') + '"'
        return written

    lines = [(sign + blank).join(map(cell, record.values())) for record in records]
    if rng.random() < 0.1 and lines:
        lines.insert(rng.randint(0, len(lines)), sign * rng.randint(0, len(records[0])))
    return text(rng, [(sign + blank).join(records[0]), *lines], others=[""])


def hits(rng: random.Random, rows: list[Row]) -> bytes:
    """Write a JSON object for each row."""
    records = [
        with_numbers(rng, row, record) for row, record in zip(rows, named(rng, rows), strict=True)
    ]
    if rng.random() < 0.3:
        records = [{**record, **some_others(rng)} for record in records]
    if rng.random() < 0.1:
        records = [dict(rng.sample(list(record.items()), len(record))) for record in records]
    return lines_of(rng, records)


def lists(rng: random.Random, rows: list[Row]) -> bytes:
    """Write a JSON object for each query, with the list of its documents."""
    by_query: dict[str, list[Row]] = {}
    for row in rows:
        by_query.setdefault(row.query, []).append(row)
    if rng.random() < 0.1:
        by_query["none"] = []
    kind = rng.choice(["ids", "pairs", "objects"])
    records = []
    for query, some in by_query.items():
        items: list[Any] = [row.document for row in some]
        if kind == "pairs":
            items = [[row.document, plain_number(rng, row)] for row in some]
        elif kind == "objects":
            items = [{"document": row.document, "score": plain_number(rng, row)} for row in some]
        record = {"query": query, "retrieved": items, "ground_truth": ["d1"]}
        if rng.random() < 0.1:
            record = dict(reversed(record.items()))
        records.append(record)
    if rng.random() < 0.05 and records:
        records.append(rng.choice(records))
    return lines_of(rng, records)


def with_numbers(rng: random.Random, row: Row, record: dict[str, Any]) -> dict[str, Any]:
    """Make numbers of what text holds, and of some ids too."""
    made = dict(record)
    for name, value in record.items():
        if name in NAMES["score"]:
            made[name] = plain_number(rng, row)
        elif name in NAMES["rank"] and value.isdigit():
            made[name] = int(value)
        elif name in NAMES["document"] and value.isdigit() and str(int(value)) == value:
            made[name] = rng.choice([value, int(value)])
    return made


def plain_number(rng: random.Random, row: Row) -> Any:
    """Give a score as JSON can hold it."""
    found = number(rng, row)
    return float(found) if isinstance(found, np.floating) else found


def some_others(rng: random.Random) -> dict[str, Any]:
    nested = {"a": [1, {"b": None}], "c": {"a": rng.choice(OTHERS)}}
    return {"note": rng.choice([*OTHERS, None, True, 1.5, nested, []])}


def lines_of(rng: random.Random, records: list[Any]) -> bytes:
    """Write JSON as some tool or person does."""
    ascii_only, blanks = rng.random() < 0.5, rng.choice([(", ", ": "), (",", ":"), (" ,\t", " : ")])
    lines = [json.dumps(one, ensure_ascii=ascii_only, separators=blanks) for one in records]
    if ascii_only and rng.random() < 0.2:
        lines = [line.replace("q", "\\u0071").replace("/", "\\/") for line in lines]
    return text(rng, lines, others=["", " ", "\t"])


def parquet(rng: random.Random, rows: list[Row]) -> bytes:
    """Write a Parquet or Arrow file, in groups of few rows."""
    pa = import_module("pyarrow")
    records = [with_numbers(rng, row, one) for row, one in zip(rows, named(rng, rows), strict=True)]
    columns = {
        name: [record[name] for record in records] for name in (records[0] if records else ())
    }
    arrays = {name: _array(rng, name, cells, pa) for name, cells in columns.items()}
    table, into = pa.table(arrays), io.BytesIO()
    if rng.random() < 0.3:
        options = pa.ipc.new_file if rng.random() < 0.5 else pa.ipc.new_stream
        with options(into, table.schema) as writer:
            writer.write_table(table, max_chunksize=rng.choice([1, 3, 1000]))
    else:
        import_module("pyarrow.parquet").write_table(
            table, into, row_group_size=rng.choice([1, 3, 1000])
        )
    return into.getvalue()


def _array(rng: random.Random, name: str, cells: list[Any], pa: Any) -> Any:
    if name in NAMES["score"]:
        try:
            return pa.array(
                [float(cell) for cell in cells], rng.choice([pa.float64(), pa.float32()])
            )
        except (TypeError, ValueError):
            pass
    if name in NAMES["rank"] and all(isinstance(cell, int) for cell in cells):
        return pa.array(cells, rng.choice([pa.int32(), pa.int64(), pa.float64()]))
    if name in NAMES["tokens"]:
        return pa.array(cells)
    made = pa.array([str(cell).encode("utf-8", "replace").decode() for cell in cells])
    kind = rng.choice(["plain", "large", "dictionary"])
    if kind == "large":
        return made.cast(pa.large_string())
    return made.dictionary_encode() if kind == "dictionary" else made
