"""Tables as bytes: columns in, the content of a file out, one function per format.

Columns are as in `Cells`: a row without a document says that a query has none.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from idealist.errors import Faults
from idealist.formats.column_names import are_columns
from idealist.formats.delimited import header_of
from idealist.formats.frames import arrow

Columns = Mapping[str, Sequence[Any]]


def rows_of(columns: Columns) -> Iterator[dict[str, Any]]:
    """Yield the rows, without cells that are null."""
    for row in zip(*columns.values(), strict=True):
        pairs = zip(columns, row, strict=True)
        yield {key: cell for key, cell in pairs if cell is not None or key == "document"}


def trec(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write four columns for judgments, six for runs; ids must not hold white space."""
    _check_ids(columns, _breaks_trec, "TREC text separates columns by spaces", faults)
    documents = columns["document"]
    if "grade" in columns:
        second = columns.get("subtopic") or columns.get("iteration") or ["0"] * len(documents)
        second = [cell or "0" for cell in second]
        cells = zip(columns["query"], second, documents, map(_text, columns["grade"]), strict=True)
    else:
        ranks, scores = map(_text, columns["rank"]), map(_text, columns["score"])
        fixed, tags = ["Q0"] * len(documents), [tag] * len(documents)
        cells = zip(columns["query"], fixed, documents, ranks, scores, tags, strict=True)
    return _without_header("".join(" ".join(row) + "\n" for row in cells), faults)


def msmarco(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write query, document and rank."""
    _check_ids(columns, _breaks_trec, "MS MARCO runs separate columns by tabs", faults)
    cells = zip(columns["query"], columns["document"], map(_text, columns["rank"]), strict=True)
    return _without_header("".join("\t".join(row) + "\n" for row in cells), faults)


def delimited(sign: str, **names: str) -> Callable[[Columns, str, Faults], bytes]:
    """Make a function that writes columns with a header, under our names or others."""

    def encode(columns: Columns, tag: str, faults: Faults) -> bytes:
        hint = "a text file cannot hold NUL, or a CR inside a line"
        _check_ids(columns, _breaks_lines, hint, faults)
        file = io.StringIO(newline="")
        writer = csv.writer(file, delimiter=sign, lineterminator="\n")
        chosen = {theirs: columns[own] for own, theirs in names.items()} if names else columns
        writer.writerow(chosen)
        writer.writerows(
            [_text(cell) for cell in row] for row in zip(*chosen.values(), strict=True)
        )
        return file.getvalue().encode()

    return encode


def lines(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write JSON by the line."""
    rows = (json.dumps(_plain(row), ensure_ascii=False) for row in rows_of(columns))
    return "".join(row + "\n" for row in rows).encode()


def nested(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write JSON: per query, documents with a value, or with everything known about them."""
    value = "grade" if "grade" in columns else "score"
    only = columns.keys() <= {"query", "document", value}
    data = {query: _entries(rows, value, only) for query, rows in _by_query(columns).items()}
    _check_keys(data, faults)
    return _json(data)


def _entries(rows: list[dict[str, Any]], value: str, only: bool) -> Any:
    """Write one query's documents: a dict if none repeats and more than the name is known."""
    documents = [row["document"] for row in rows]
    if rows and all(row.keys() == {"document"} for row in rows):
        return documents
    if len(set(documents)) < len(documents):
        return [[row["document"], row[value]] for row in rows] if only else rows
    if only:
        return {row["document"]: row[value] for row in rows}
    return {row.pop("document"): row for row in rows}


def hits(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write search responses by query, as Elasticsearch and OpenSearch return them."""
    return _json({
        query: {"hits": {"hits": [_hit(row, "_score", "score") for row in rows]}}
        for query, rows in _by_query(columns).items()
    })  # fmt: skip


def rank_eval(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write the ratings of an Elasticsearch `_rank_eval` request."""
    requests = [
        {"id": query, "ratings": [_hit(row, "rating", "grade") for row in rows]}
        for query, rows in _by_query(columns).items()
    ]
    return _json({"requests": requests})


def _hit(row: Mapping[str, Any], name: str, value: str) -> dict[str, Any]:
    return {"_id": row["document"], name: row.get(value)}


def _by_query(columns: Columns) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each query that have a document."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(columns):
        rows = found.setdefault(row.pop("query"), [])
        rows += [row] if row["document"] is not None else []
    return found


def _json(data: Any) -> bytes:
    return (json.dumps(_plain(data), ensure_ascii=False, indent=1) + "\n").encode()


def parquet(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write Parquet."""
    table, file = _arrow_table(columns), io.BytesIO()
    import_module("pyarrow.parquet").write_table(table, file)
    return file.getvalue()


def arrow_file(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write an Arrow file, which is also what Feather is."""
    table, file = _arrow_table(columns), io.BytesIO()
    with import_module("pyarrow.ipc").new_file(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


def _arrow_table(columns: Columns) -> Any:
    pyarrow = arrow()
    texts = {
        key: key in ("query", "document") or any(isinstance(cell, str) for cell in cells)
        for key, cells in columns.items()
    }
    kinds = {key: pyarrow.string() if text else pyarrow.float64() for key, text in texts.items()}
    arrays = {key: pyarrow.array(cells, kinds[key]) for key, cells in columns.items()}
    return pyarrow.table(arrays)


def _breaks_trec(key: str, text: str) -> bool:
    """Whether an id is not a single word, or makes its line a comment."""
    comment = key == "query" and text.startswith("#")
    return comment or "\0" in text or text.encode().split() != [text.encode()]


def _breaks_lines(key: str, text: str) -> bool:
    return "\0" in text or "\r" in text


def _check_ids(
    columns: Columns, breaks: Callable[[str, str], bool], why: str, faults: Faults
) -> None:
    """Refuse ids that the format cannot hold: whatever is written reads back the same."""
    for key, cells in columns.items():
        for text in dict.fromkeys(cell for cell in cells if isinstance(cell, str)):
            if breaks(key, text):
                reason = "a line that begins with # is a comment" if text.startswith("#") else why
                others = ".jsonl" if breaks is _breaks_lines else ".csv or .jsonl"
                hint = f"{reason}; write {others} instead"
                faults.add("bad-id", f"{key} {text!r} cannot be written", hint)
    faults.check()


def _without_header(text: str, faults: Faults) -> bytes:
    """Refuse text whose first line would be taken for JSON or for a header."""
    content = text.encode()
    if not begins_as_trec(content):
        first = text.split("\n", 1)[0]
        hint = "it would be read as JSON or as a header; write .jsonl or .parquet instead"
        faults.fail("bad-id", f"{first!r} cannot be the first line", hint)
    return content


def begins_as_trec(content: bytes) -> bool:
    """Whether text is not taken for JSON or for a table with a header."""
    return not content.startswith((b"{", b"[", b"\xef\xbb\xbf")) and header_of(content) is None


def _check_keys(data: Mapping[str, Any], faults: Faults) -> None:
    """Refuse queries whose lists would be read as columns or as a search response."""
    special = {"requests", "responses", "hits", "details"} & data.keys()
    columns = are_columns(data)
    if (columns or special) and any(isinstance(entries, list) for entries in data.values()):
        hint = "write .jsonl or .parquet instead"
        faults.fail("bad-id", "in JSON, these query ids would be read as names of columns", hint)


#: Whole numbers this large are written as floats, not with all their digits.
_WIDE = 1e15


def _number(value: float) -> int | float:
    whole = value.is_integer() and abs(value) < _WIDE and str(value) != "-0.0"
    return int(value) if whole else value


def _text(cell: Any) -> str:
    """Write a cell as text that reads back the same."""
    if cell is None:
        return ""
    return str(_number(cell)) if isinstance(cell, float) else str(cell)


def _plain(value: Any) -> Any:
    """Return data for JSON: whole numbers without a fraction, NaN and infinities as text."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return _number(value) if math.isfinite(value) else str(value)
    return value
