"""Ids written otherwise: mappings as files, and judgments and runs with other ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from idealist import files
from idealist.auditing.transformations import chain
from idealist.errors import Faults, UsageError
from idealist.formats import flat, read_qrels
from idealist.formats.source import Source
from idealist.tables import Qrels, Run

Rename = Callable[[str], str]


def same(name: str) -> str:
    """Leave an id as it is."""
    return name


def renaming(written: str) -> Rename:
    """Read what ``--map-docs`` and ``--map-queries`` take: a file, or a transformation.

    >>> renaming("lower+prefix:doc-")("DOC-7")
    '7'
    """
    if not Path(written).is_file():
        return cache(chain(written).apply)  # a document is often found for many queries
    mapping = read_mapping(written)
    return lambda name: mapping.get(name, name)


def write_mapping(path: str | Path, mapping: Mapping[str, str]) -> None:
    """Write a mapping: a line each, the old id, a tab, the new id."""
    for name in (name for pair in mapping.items() for name in pair):
        if "\t" in name or "\n" in name or "\r" in name:
            hint = "take tabs and ends of lines out of the ids"
            raise UsageError(f"the id {name!r} cannot stand in a mapping file", hint)
    lines = (f"{old}\t{new}\n" for old, new in mapping.items())
    files.write(path, "".join(lines).encode())


def read_mapping(path: str | Path) -> dict[str, str]:
    """Read a mapping file."""
    source = Source.of(path)
    faults = Faults(source.name)
    mapping: dict[str, str] = {}
    for number, line in enumerate(source.read().decode().removesuffix("\n").split("\n"), 1):
        old, tab, new = line.removesuffix("\r").partition("\t")
        if not (old and new and tab) or "\t" in new:
            hint = "write the old id, a tab and the new id, one pair a line"
            faults.add("columns", f"{line!r:.60} is no pair of ids", hint, number)
        elif mapping.setdefault(old, new) != new:
            hint = "give each id one line"
            faults.add("duplicate-key", f"the id {old!r} is mapped twice", hint, number)
    faults.check()
    return mapping


def mapped_run(run: Run, documents: Rename = same, queries: Rename = same) -> Run:
    """Give a run with other ids; two ids of a query that would become one are refused."""
    rows = run.rows()
    named = _once(rows.queries, queries)
    new = list(map(documents, rows.documents))
    for query, span in rows.spans().items():
        _check_apart(rows.documents[span], new[span], query)
    return Run(replace(rows, queries=named, documents=new), run.name)


def mapped_qrels(qrels: Qrels, documents: Rename = same, queries: Rename = same) -> Qrels:
    """Give judgments with other ids; two ids of a query that would become one are refused."""
    named = dict(zip(qrels.queries, _once(qrels.queries, queries), strict=True))
    new = list(map(documents, qrels.documents))
    for query, start, end in qrels.spans():
        _check_apart(qrels.documents[start:end], new[start:end], query)
    columns = flat.of_qrels(qrels)
    columns["query"] = [named[query] for query in columns["query"]]
    columns["document"] = [name and documents(name) for name in columns["document"]]
    return read_qrels(columns, scale=qrels.scale, name=qrels.name)


def _once(names: tuple[str, ...], rename: Rename) -> tuple[str, ...]:
    new = tuple(map(rename, names))
    _check_apart(names, new, "")
    return new


def _check_apart(old: Sequence[str], new: Sequence[str], query: str) -> None:
    """Refuse to make one id of two."""
    if len(set(new)) == len(set(old)):
        return
    pairs = dict(zip(old, new, strict=True))
    first: dict[str, str] = {}
    for name, other in pairs.items():
        if first.setdefault(other, name) != name:
            where = f" of query {query!r}" if query else ""
            message = f"{first[other]!r} and {name!r}{where} would both become {other!r}"
            hint = "give a mapping file that leaves one of them out; `idealist audit` writes one"
            raise UsageError(message, hint)
