"""Reading: whatever a user holds becomes `Qrels`, `Run` or `Queries`, or an error that teaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from idealist.errors import Faults, UsageError
from idealist.formats import json_text, shapes, trec
from idealist.formats.names import ours
from idealist.formats.plain import plain
from idealist.formats.source import Source, run_name
from idealist.tables import Qrels, Queries, Rows, Run, Scale
from idealist.tables.columns import to_float
from idealist.tables.judgments import subtopics_in

__all__ = ["read_pairs", "read_qrels", "read_queries", "read_run"]

#: Columns of judgments that hold text; the others hold numbers.
TEXT_COLUMNS = frozenset({"judge", "stratum", "group", "subtopic", "iteration"})


def read_qrels(data: Any, *, scale: Any = None, name: str = "") -> Qrels:
    """Read judgments from a file (TREC or JSON, also compressed, ``-``) or from Python data.

    `scale` declares the grades there are: the highest one, a list, or {grade: label}.

    >>> read_qrels({"q1": {"d1": 2, "d2": 0}})
    <Qrels qrels: 1 queries, 2 judgments, b982a29162>
    """
    declared = None if scale is None else Scale.of(scale)
    if isinstance(data, Qrels):
        made = data if declared is None else data.on(declared)
    elif not isinstance(data, (str, Path)):
        made = _qrels(data, declared, name or "qrels", None)
    else:
        source = Source.of(data)
        content = source.read()
        if _is_json(content):
            loaded = json_text.load(content, source.name)
            made = _qrels(loaded, declared, source.name, _locate(content))
        else:
            made = trec.read_qrels(content, source.name, declared)
    return replace(made, name=name) if name else made


def read_run(data: Any, *, name: str = "") -> Run:
    """Read a run from a file (TREC or JSON, also compressed, ``-``) or from Python data.

    A file is only read when the run is ranked. Without scores the given order is the ranking.

    >>> read_run({"q1": ["d3", "d1"]}, name="dense")
    <Run dense>
    """
    if isinstance(data, Run):
        return data.renamed(name) if name else data
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], (str, Path, Run)):
        hint = "evaluate several with Evaluator(qrels, measures).each(runs)"
        raise UsageError("these are several runs, not one", hint)
    if not isinstance(data, (str, Path)):
        return Run(_rows(data, name or "run", None), name or "run")
    source = Source.of(data)
    return Run(lambda: _rows_of_file(source), name or run_name(data))


def read_pairs(pairs: Any, *, name: str = "run") -> tuple[Qrels, Run]:
    """Read records that hold both sides: what was retrieved and what should have been.

    Queries are named by their key ``query``, ``query_id``, ``qid`` or ``id``, or else numbered
    from 1. The records may also stand in a JSON file.

    >>> qrels, run = read_pairs([{"retrieved": ["d2", "d1"], "ground_truth": {"d1": 1}}])
    >>> qrels.queries, run
    (('1',), <Run run>)
    """
    if isinstance(pairs, (str, Path)):
        source = Source.of(pairs)
        pairs = json_text.load(source.read(), source.name)
    faults = Faults(name)
    judged: dict[Any, Any] = {}
    retrieved: dict[Any, Any] = {}
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, Mapping) or not {"retrieved", "ground_truth"} <= pair.keys():
            hint = 'give {"retrieved": […], "ground_truth": {…}} for each query'
            faults.fail("bad-shape", f"record {number}: cannot read {shapes.shown(pair)}", hint)
        query = pair.get(ours(pair).get("query", "id"), number)
        if query in judged:
            message = f"record {number}: query {query!r} stands there twice"
            faults.fail("duplicate-key", message, "keep one of them")
        judged[query], retrieved[query] = pair["ground_truth"], pair["retrieved"]
    return read_qrels(judged), read_run(retrieved, name=name)


def read_queries(data: Any, *, name: str = "queries") -> Queries:
    """Read queries: {id: text}, {id: {"text": …, …}}, or a file of ``id<TAB>text`` lines."""
    if isinstance(data, Queries):
        return data
    if isinstance(data, (str, Path)):
        source = Source.of(data)
        content, name = source.read(), source.name
        data = json_text.load(content, name) if _is_json(content) else _tab_lines(content, name)
    if not isinstance(data, Mapping):
        Faults(name).fail("bad-shape", "cannot be read as queries", "give {query: text}")
    faults, records = Faults(name), {}
    for query, entry in data.items():
        if key := shapes.checked_id(query, faults):
            records[key] = entry if isinstance(entry, Mapping) else {"text": entry}
    faults.check()
    text = {query: str(record.get("text", "")) for query, record in records.items()}
    keys = dict.fromkeys(key for record in records.values() for key in record if key != "text")
    columns = {
        key: {query: record[key] for query, record in records.items() if key in record}
        for key in keys
    }
    return Queries(text, columns, name)


def _is_json(content: bytes) -> bool:
    return content.lstrip()[:1] in (b"{", b"[")


def _locate(content: bytes) -> shapes.Locate:
    @cache  # many faults ask, and no file without one should pay
    def lines() -> dict[json_text.Path, int]:
        return dict(json_text.keys(content.decode()))

    def locate(query: str, document: str | None) -> int | None:
        inside = None if document is None else lines().get((query, document))
        return inside or lines().get((query,))

    return locate


def _tab_lines(content: bytes, name: str) -> dict[str, str]:
    faults, found = Faults(name), {}
    for number, line in enumerate(content.decode().split("\n"), 1):
        query, tab, text = line.removesuffix("\r").partition("\t")
        if not line.strip():
            continue
        if not tab:
            faults.add("columns", f"no tab in {line[:40]!r}", "lines are: query<TAB>text", number)
        elif query in found:
            message = f"query {query!r} stands there twice"
            faults.add("duplicate-key", message, "keep one of them", number)
        elif shapes.checked_id(query, faults, number):
            found[query] = text
    faults.check()
    return found


def _rows_of_file(source: Source) -> Rows:
    content = source.read()
    if _is_json(content):
        return _rows(json_text.load(content, source.name), source.name, _locate(content))
    return trec.read_run(content, source.name)


def _qrels(data: Any, scale: Scale | None, name: str, locate: shapes.Locate | None) -> Qrels:
    faults = Faults(name)
    table = plain(data) or shapes.table(data, "grade", faults, locate)
    if len(table.value) < len(table.query):
        hint = "name the column grade, relevance, rel, label or score"
        faults.fail("missing-column", "the judgments have no grades", hint)
    subtopic = _subtopic(table, faults)
    columns = {
        key: _column(key, cells, faults)
        for key, cells in table.columns.items()
        if key not in ("rank", "score")
    }
    return Qrels.build(
        table.query, table.document, table.value,
        subtopic=subtopic, columns=columns, scale=scale, empty=table.empty, name=name,
    )  # fmt: skip


def _subtopic(table: shapes.Table, faults: Faults) -> Sequence[str] | None:
    iteration, subtopic = (table.columns.pop(key, None) for key in ("iteration", "subtopic"))
    if subtopic is not None:
        return _column("subtopic", subtopic, faults)
    if iteration is None:
        return None
    return subtopics_in(table.query, table.document, _column("iteration", iteration, faults))


def _column(key: str, cells: list[Any], faults: Faults) -> list[Any]:
    """Check a judgment column; a number that is not known is NaN."""
    texts, checked = key in TEXT_COLUMNS, []
    for cell in cells:
        try:
            checked.append(_text(cell) if texts else np.nan if cell is None else to_float(cell))
        except (TypeError, ValueError, OverflowError):
            message = f"column {key!r} holds {shapes.shown(cell)}"
            hint = f"{'text' if texts else 'a number'} or null in each row"
            faults.add("bad-column", message, hint)
    faults.check()
    return checked


def _text(cell: Any) -> str:
    if isinstance(cell, (list, tuple, Mapping)):
        raise TypeError(cell)
    result = "" if cell is None else str(cell)
    result.encode()  # a lone surrogate cannot be
    return result


def _rows(data: Any, name: str, locate: shapes.Locate | None) -> Rows:
    faults = Faults(name)
    table = plain(data) or shapes.table(data, "score", faults, locate)
    numbers = {
        key: _column(key, table.columns[key], faults)
        for key in ("rank", "tokens")
        if key in table.columns
    }
    return Rows.build(
        table.query, table.document, table.value or None,
        empty=table.empty, name=name, **numbers,
    )  # fmt: skip
