"""Texts of documents: of a collection that may be huge, those of a few ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from idealist.errors import Faults, UsageError
from idealist.formats import json_text
from idealist.formats.names import ALIASES, known
from idealist.formats.source import Source
from idealist.tables.columns import to_id

IDS = ("_id", "id", *ALIASES["document"])
#: What may hold the words of a document; a title comes before the text.
TEXTS = ("title", "text", "contents", "body", "passage")


def read_texts(data: Any, ids: Collection[str]) -> dict[str, str]:
    """Read the texts of some documents: from {id: text}, or from a file, line by line.

    A line is ``id<TAB>text`` or a JSON object; what is not asked for is not kept.

    >>> read_texts({"d1": "a list", "d2": {"title": "Tuples", "text": "are frozen"}}, {"d2"})
    {'d2': 'Tuples are frozen'}
    """
    if not isinstance(data, (Mapping, str, Path)):
        hint = "give {id: text}, or a file of them"
        raise UsageError(f"{data!r:.60} does not hold the texts of documents", hint)
    if isinstance(data, Mapping):
        return {to_id(key): _words(entry) for key, entry in data.items() if to_id(key) in ids}
    source = Source.of(data)
    found: dict[str, str] = {}
    for document, text in _entries(source, ids):
        found[document] = text
        if len(found) == len(ids):
            break
    return found


def _entries(source: Source, ids: Collection[str]) -> Iterator[tuple[str, str]]:
    """Give the documents asked for, as they stand in a file."""
    faults, wanted = Faults(source.name), {document.encode() for document in ids}
    empty = True
    for number, line in enumerate(_lines(source), 1):
        empty = empty and not line
        if line.startswith(b"{"):
            record = json_text.load(_utf8(line, number, faults).encode(), source.name, number - 1)
            document = next((str(record[key]) for key in known(record, IDS)), None)
            if document is None:
                hint = f"call its id {', '.join(IDS[:3])}"
                faults.fail("missing-column", "a document without an id", hint, number)
            if document in ids:
                yield document, _words(record)
            continue
        name, tab, text = line.partition(b"\t")
        if not tab and line:
            hint = "lines are id<TAB>text, or JSON objects"
            faults.fail("columns", f"no tab in {line[:40]!r}", hint, number)
        if name in wanted:
            yield name.decode(), _utf8(text, number, faults)
    if empty:
        faults.fail("empty", "the file holds no documents", "give id<TAB>text lines")


def _lines(source: Source) -> Iterator[bytes]:
    rest = b""
    for block in source.blocks():
        *lines, rest = (rest + block).split(b"\n")
        yield from (line.strip() for line in lines)
    yield rest.strip()


def _utf8(line: bytes, number: int, faults: Faults) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        faults.fail("encoding", "this is not UTF-8", "save the file as UTF-8", number)


def _words(entry: Any) -> str:
    if isinstance(entry, Mapping):
        return " ".join(str(entry[key]) for key in TEXTS if entry.get(key))
    return "" if entry is None else str(entry)
