"""Mappings of ids: as files of pairs, and applied to judgments and runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from idealist import files
from idealist.data import Qrels, Run
from idealist.errors import Faults, UsageError
from idealist.formats import build, read_qrels
from idealist.formats.id_steps import chain
from idealist.formats.source import Source
from idealist.protocol import names_file

#: How ids are rewritten: by a mapping, by a file of one, or by steps.
How = str | Mapping[str, str] | None
Table = TypeVar("Table", bound=Qrels | Run)


def no_mapping(path: str) -> UsageError:
    """Say that a file of pairs is not there."""
    folder = Path(path).parent
    hint = f"`idealist audit QRELS RUN --save-mappings {folder}` writes those that it proposes"
    return UsageError(f"there is no file {path}", hint)


def map_ids(table: Table, documents: How = None, queries: How = None) -> Table:
    """Rewrite the ids of judgments or of a run, by a mapping or by steps.

    A text is what ``idealist convert --map-docs`` takes: a file of pairs, or steps.
    It is an error if two ids of a query would become one.

    >>> from idealist import read_run
    >>> map_ids(read_run({"q1": {"DOC-7": 0.5}}), documents="lower+prefix:doc-").rows().documents
    ['7']
    """
    given: Any = table
    if isinstance(given, Qrels):
        return cast(Table, _mapped_qrels(given, documents, queries))
    if isinstance(given, Run):
        return cast(Table, _mapped_run(given, documents, queries))
    hint = "read them first, with read_run or read_qrels"
    raise UsageError(f"{type(table).__name__} is neither judgments nor a run", hint)


def _mapping(how: How, names: Iterable[str]) -> Mapping[str, str]:
    """Find the new ids; those that are not in there stay as they are."""
    if not isinstance(how, str):
        return how or {}
    if Path(how).is_file():
        return read_mapping(how)
    try:
        steps = chain(how)
    except UsageError:
        if names_file(how):
            raise no_mapping(how) from None
        raise
    once = list(dict.fromkeys(names))  # a document is often found for many queries
    return dict(zip(once, steps.applied(once), strict=True))


def _renamed(names: Sequence[str], new: Mapping[str, str]) -> list[str]:
    return list(map(new.get, names, names))


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


def _mapped_run(run: Run, documents: How, queries: How) -> Run:
    rows = run.rows()
    named = _renamed(rows.queries, _mapping(queries, rows.queries))
    new = _renamed(rows.documents, _mapping(documents, rows.documents))
    _check_apart(rows.queries, named, "")
    for query, span in rows.spans().items():
        _check_apart(rows.documents[span], new[span], query)
    return Run(replace(rows, queries=tuple(named), documents=new), run.name)


def _mapped_qrels(qrels: Qrels, documents: How, queries: How) -> Qrels:
    named, new = _mapping(queries, qrels.queries), _mapping(documents, qrels.documents)
    _check_apart(qrels.queries, _renamed(qrels.queries, named), "")
    for query, start, end in qrels.spans():
        own = qrels.documents[start:end]
        _check_apart(own, _renamed(own, new), query)
    columns = build.of_qrels(qrels)
    columns["query"], columns["document"] = (
        _renamed(columns[name], by) for name, by in (("query", named), ("document", new))
    )
    made = read_qrels(columns, scale=qrels.scale, name=qrels.name)
    return replace(made, is_trec=qrels.is_trec, merge=qrels.merge, meant=qrels.meant)


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
