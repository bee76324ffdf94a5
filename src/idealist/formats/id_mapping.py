"""Mappings of ids: as files of pairs, and applied to judgments and runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from idealist import files
from idealist.data import Qrels, Run
from idealist.errors import Faults, UsageError
from idealist.formats import build, read_qrels
from idealist.formats.id_steps import chain
from idealist.formats.source import Source
from idealist.protocol import names_file

Rename = Callable[[str], str]
Table = TypeVar("Table", bound=Qrels | Run)


def same(name: str) -> str:
    """Leave an id as it is."""
    return name


def renaming(written: str) -> Rename:
    """Read what ``--map-docs`` and ``--map-queries`` take: a file of pairs, or steps.

    >>> renaming("lower+prefix:doc-")("DOC-7")
    '7'
    """
    if Path(written).is_file():
        return _By(read_mapping(written))
    try:
        return cache(chain(written).apply)  # a document is often found for many queries
    except UsageError:
        if names_file(written):
            raise no_mapping(written) from None
        raise


def no_mapping(path: str) -> UsageError:
    """Say that a file of pairs is not there."""
    folder = Path(path).parent
    hint = f"`idealist audit QRELS RUN --save-mappings {folder}` writes those that it proposes"
    return UsageError(f"there is no file {path}", hint)


def map_ids(
    table: Table,
    documents: str | Mapping[str, str] | None = None,
    queries: str | Mapping[str, str] | None = None,
) -> Table:
    """Rewrite the ids of judgments or of a run, by a mapping or by steps.

    A text is what ``idealist convert --map-docs`` takes: a file of pairs, or steps.
    It is an error if two ids of a query would become one.

    >>> from idealist import read_run
    >>> map_ids(read_run({"q1": {"DOC-7": 0.5}}), documents="lower+prefix:doc-").rows().documents
    ['7']
    """
    new, named = (_renaming(how) for how in (documents, queries))
    given: Any = table
    if isinstance(given, Qrels):
        return cast(Table, mapped_qrels(given, new, named))
    if isinstance(given, Run):
        return cast(Table, mapped_run(given, new, named))
    hint = "read them first, with read_run or read_qrels"
    raise UsageError(f"{type(table).__name__} is neither judgments nor a run", hint)


def _renaming(how: str | Mapping[str, str] | None) -> Rename:
    if how is None:
        return same
    return renaming(how) if isinstance(how, str) else _By(how)


class _By:
    """Rename by a mapping; what it does not hold stays as it is."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        self.mapping = mapping

    def __call__(self, name: str) -> str:
        return self.mapping.get(name, name)


class MappingFile(dict[str, str]):
    """A mapping read from a file, whose name stands for it."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(read_mapping(path))
        self.path = str(path)

    def __str__(self) -> str:
        return self.path


def write_mapping(path: str | Path, mapping: Mapping[str, str]) -> None:
    """Write a mapping: old id, tab, new id on each line; a file that holds something else stays.

    Ids with tabs, ends of lines or a quote in front are written as JSON does.
    """
    pairs = ((_written(old), _written(new)) for old, new in mapping.items())
    data = "".join(f"{old}\t{new}\n" for old, new in pairs).encode()
    if Path(path).is_file() and Path(path).read_bytes() != data:
        raise UsageError(f"{path} holds something else", "give another folder, or remove it")
    files.write(path, data)


def _written(name: str) -> str:
    quoted = name.startswith('"') or any(sign in name for sign in "\t\n\r")
    return json.dumps(name, ensure_ascii=False) if quoted else name


def _read(cell: str) -> str:
    with suppress(ValueError):
        return str(json.loads(cell)) if cell.startswith('"') else cell
    return ""


def mapping_file(run: str, what: str) -> str:
    """Name the file of a mapping, of a run's ids or of those of the judgments.

    >>> mapping_file("smith/bm25", "documents"), mapping_file("", "queries")
    ('smith-bm25-documents.tsv', 'judgments-queries.tsv')
    """
    return f"{'-'.join((run or 'judgments').split('/'))}-{what}.tsv"


def read_mapping(path: str | Path) -> dict[str, str]:
    """Read a mapping file."""
    source = Source.of(path)
    faults = Faults(source.name)
    mapping: dict[str, str] = {}
    for number, line in enumerate(source.read().decode().removesuffix("\n").split("\n"), 1):
        cells = [*map(_read, line.removesuffix("\r").split("\t"))]
        if len(cells) != 2 or not all(cells):
            hint = "write the old id, a tab and the new id, one pair a line"
            faults.add("columns", f"{line!r:.60} is no pair of ids", hint, number)
        elif mapping.setdefault(*cells) != cells[1]:
            hint = "give each id one line"
            faults.add("duplicate-key", f"the id {cells[0]!r} is mapped twice", hint, number)
    faults.check()
    return mapping


def mapped_run(run: Run, documents: Rename = same, queries: Rename = same) -> Run:
    """Rewrite the ids of a run; two ids of a query must not become one."""
    rows = run.rows()
    named = _once(rows.queries, queries)
    new = _all(rows.documents, documents)
    for query, span in rows.spans().items():
        _check_apart(rows.documents[span], new[span], query)
    return Run(replace(rows, queries=named, documents=new), run.name)


def mapped_qrels(qrels: Qrels, documents: Rename = same, queries: Rename = same) -> Qrels:
    """Rewrite the ids of judgments; two ids of a query must not become one."""
    named = dict(zip(qrels.queries, _once(qrels.queries, queries), strict=True))
    new = list(map(documents, qrels.documents))
    for query, start, end in qrels.spans():
        _check_apart(qrels.documents[start:end], new[start:end], query)
    columns = build.of_qrels(qrels)
    columns["query"] = [named[query] for query in columns["query"]]
    columns["document"] = [name and documents(name) for name in columns["document"]]
    return read_qrels(columns, scale=qrels.scale, name=qrels.name)


def _all(names: Sequence[str], rename: Rename) -> list[str]:
    """Rename all rows; by a mapping without a call of Python's for each."""
    if isinstance(rename, _By):
        return list(map(rename.mapping.get, names, names))
    return list(map(rename, names))


def _once(names: tuple[str, ...], rename: Rename) -> tuple[str, ...]:
    new = tuple(map(rename, names))
    _check_apart(names, new, "")
    return new


def _check_apart(old: Sequence[str], new: Sequence[str], query: str) -> None:
    """Refuse to make one id of two."""
    distinct = len(set(new))
    if distinct == len(new) or distinct == len(set(old)):
        return
    pairs = dict(zip(old, new, strict=True))
    first: dict[str, str] = {}
    for name, other in pairs.items():
        if first.setdefault(other, name) != name:
            where = f" of query {query!r}" if query else ""
            message = f"{first[other]!r} and {name!r}{where} would both become {other!r}"
            hint = "give a mapping file that leaves one of them out; `idealist audit` writes one"
            raise UsageError(message, hint)
