"""Tables as bytes, in each format that can be read: columns in, a file's content out.

Columns are as `Cells` has them: a row without a document says that a query has none.
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
from idealist.formats.delimited import delimiter_of
from idealist.formats.frames import arrow
from idealist.formats.names import ours

Columns = Mapping[str, Sequence[Any]]


def rows_of(columns: Columns) -> Iterator[dict[str, Any]]:
    """Give the rows, without cells that are null."""
    for row in zip(*columns.values(), strict=True):
        pairs = zip(columns, row, strict=True)
        yield {key: cell for key, cell in pairs if cell is not None or key == "document"}


def trec(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write four columns for judgments, six for runs; ids must hold no blank."""
    _check_ids(columns, _breaks_trec, "TREC text divides columns by blanks", faults)
    documents = columns["document"]
    if "grade" in columns:
        second = columns.get("subtopic") or columns.get("iteration") or ["0"] * len(documents)
        second = [cell or "0" for cell in second]
        cells = zip(columns["query"], second, documents, map(_text, columns["grade"]), strict=True)
    else:
        ranks, scores = map(_text, columns["rank"]), map(_text, columns["score"])
        fixed = ["Q0"] * len(documents), [tag] * len(documents)
        cells = zip(columns["query"], fixed[0], documents, ranks, scores, fixed[1], strict=True)
    return _without_header("".join(" ".join(row) + "\n" for row in cells), faults)


def msmarco(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write query, document and rank."""
    _check_ids(columns, _breaks_trec, "MS MARCO's runs divide columns by tabs", faults)
    cells = zip(columns["query"], columns["document"], map(_text, columns["rank"]), strict=True)
    return _without_header("".join("\t".join(row) + "\n" for row in cells), faults)


def delimited(sign: str, **names: str) -> Callable[[Columns, str, Faults], bytes]:
    """Make a writer of columns with a header, under our names or others."""

    def encode(columns: Columns, tag: str, faults: Faults) -> bytes:
        hint = "a text file cannot hold NUL or a CR that ends no line"
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
    """Write JSON: queries of documents with a value, or of all that is known about each."""
    value = "grade" if "grade" in columns else "score"
    only = columns.keys() <= {"query", "document", value}
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(columns):
        entries = found.setdefault(row.pop("query"), [])
        if row["document"] is not None:
            entries.append(row)
    data = {query: _entries(rows, value, only) for query, rows in found.items()}
    _check_keys(data, faults)
    return (json.dumps(_plain(data), ensure_ascii=False, indent=1) + "\n").encode()


def _entries(rows: list[dict[str, Any]], value: str, only: bool) -> Any:
    """Give one query's documents: a dict where each stands once and is more than its name."""
    documents = [row["document"] for row in rows]
    if rows and all(row.keys() == {"document"} for row in rows):
        return documents
    if len(set(documents)) < len(documents):
        return [[row["document"], row[value]] for row in rows] if only else rows
    if only:
        return {row["document"]: row[value] for row in rows}
    return {row.pop("document"): row for row in rows}


def hits(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write search responses by query, as Elasticsearch and OpenSearch answer."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(columns):
        entries = found.setdefault(row["query"], [])
        if row["document"] is not None:
            entries.append({"_id": row["document"], "_score": row.get("score")})
    data = {query: {"hits": {"hits": entries}} for query, entries in found.items()}
    return (json.dumps(_plain(data), ensure_ascii=False, indent=1) + "\n").encode()


def rank_eval(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write the ratings of an Elasticsearch `_rank_eval` request."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(columns):
        ratings = found.setdefault(row["query"], [])
        if row["document"] is not None:
            ratings.append({"_id": row["document"], "rating": row["grade"]})
    requests = [{"id": query, "ratings": ratings} for query, ratings in found.items()]
    return (
        json.dumps(_plain({"requests": requests}), ensure_ascii=False, indent=1) + "\n"
    ).encode()


def parquet(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write Parquet."""
    table, file = _arrow_table(columns), io.BytesIO()
    import_module("pyarrow.parquet").write_table(table, file)
    return file.getvalue()


def arrow_file(columns: Columns, tag: str, faults: Faults) -> bytes:
    """Write an Arrow file, which Feather is, too."""
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
    """Whether an id is no single word, or makes its line a comment."""
    comment = key == "query" and text.startswith("#")
    return comment or "\0" in text or text.encode().split() != [text.encode()]


def _breaks_lines(key: str, text: str) -> bool:
    return "\0" in text or "\r" in text


def _check_ids(
    columns: Columns, breaks: Callable[[str, str], bool], why: str, faults: Faults
) -> None:
    """Refuse ids that the format cannot hold, so that nothing is written that reads otherwise."""
    for key, cells in columns.items():
        for text in dict.fromkeys(cell for cell in cells if isinstance(cell, str)):
            if breaks(key, text):
                reason = "a line that begins with # is a comment" if text.startswith("#") else why
                hint = f"{reason}; write .jsonl or .parquet instead"
                faults.add("bad-id", f"{key} {text!r} cannot be written", hint)
    faults.check()


def _without_header(text: str, faults: Faults) -> bytes:
    """Refuse text whose first line would be taken for JSON or for the names of columns."""
    content = text.encode()
    if content.startswith((b"{", b"[", b"\xef\xbb\xbf")) or delimiter_of(content) is not None:
        first = text.split("\n", 1)[0]
        hint = "it would be read as JSON or as a header; write .jsonl or .parquet instead"
        faults.fail("bad-id", f"{first!r} cannot be the first line", hint)
    return content


def _check_keys(data: Mapping[str, Any], faults: Faults) -> None:
    """Refuse queries whose lists would be read as columns or as an engine's answer."""
    special = {"requests", "responses", "hits", "details"} & data.keys()
    columns = {"query", "document"} <= ours(data).keys()
    if (columns or special) and any(isinstance(entries, list) for entries in data.values()):
        hint = "write .jsonl or .parquet instead"
        faults.fail("bad-id", "the queries' names would be read as columns in JSON", hint)


#: Whole numbers from here on are written as floats, not with all their digits.
_WIDE = 1e15


def _number(value: float) -> int | float:
    whole = value.is_integer() and abs(value) < _WIDE and str(value) != "-0.0"
    return int(value) if whole else value


def _text(cell: Any) -> str:
    """Write a cell as text that reads back as the same."""
    if cell is None:
        return ""
    return str(_number(cell)) if isinstance(cell, float) else str(cell)


def _plain(value: Any) -> Any:
    """Give data for JSON: whole numbers without a fraction, NaN and infinities as text."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return _number(value) if math.isfinite(value) else str(value)
    return value
