"""Files of documents, read from top to bottom and never held whole; only texts asked for are made.

A file is JSON by the line, a table with a header, ``id<TAB>text`` lines, Parquet or Arrow; JSON as
a whole and Excel are read at once. A folder has a BEIR corpus, or a text file for each document.
"""

from __future__ import annotations

import csv
import os
import re
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from idealist.errors import Faults, InputError
from idealist.formats import contents, delimited, frames, json_text, spreadsheets
from idealist.formats.compression import KINDS
from idealist.formats.document_entries import (
    SHAPES,
    DocumentText,
    Entry,
    Fields,
    document_id,
    entries_of,
    fields_of,
    told,
)
from idealist.formats.frame_runs import opened_frame
from idealist.formats.source import LONGEST_TEXT, Source

#: A BEIR corpus in its folder.
CORPUS = "corpus.jsonl"
#: Begins a file that is laid out for printing: no text, though it may have no NUL.
PDF = b"%PDF-"


def of_path(path: str | Path) -> Iterator[Entry]:
    """Find the documents of a file or of a folder; ``-`` is standard input."""
    if not os.path.isdir(path):
        return of_file(Source.of(path))
    names = (CORPUS, *(f"{CORPUS}{kind.suffix}" for kind in KINDS))
    corpus = next((file for name in names if (file := Path(path, name)).is_file()), None)
    return of_folder(path) if corpus is None else of_file(Source.of(corpus))


def of_file(source: Source) -> Iterator[Entry]:
    """Find the documents of a file, by what its head shows it to be."""
    head, faults = source.head(), Faults(source.name)
    if not head.strip():
        faults.fail("empty", "the file holds no documents", SHAPES)
    if contents.may_be_frame(source) and not spreadsheets.may_be_workbook(head):
        return _of_frame(source)
    if spreadsheets.may_be_workbook(head):
        return entries_of(contents.content_of(source, faults).value, faults)
    source.check_binary(head)
    if _is_record(head, source):
        return _json_lines(source)
    if source.suffix == ".json" or head.lstrip()[:1] in (b"{", b"["):
        return entries_of(json_text.load(source.read(), source.name), faults)
    header = _header_of(head, source)
    return _tab_lines(source) if header is None else _of_table(source, header)


def _is_record(head: bytes, source: Source) -> bool:
    """Whether the first line is a JSON object that is one document, and not all of them."""
    line = head.lstrip().partition(b"\n")[0]
    if source.suffix in (".jsonl", ".ndjson") or not line.startswith(b"{"):
        return line.startswith(b"{")
    try:
        record = json_text.load(line, "")
    except (InputError, UnicodeDecodeError):  # cut off, by the head or by a fault
        record = dict.fromkeys(json_text.names(line)[:1], "")
    own = record.get(fields_of(tuple(record)).own)
    return json_text.is_lines(head) or isinstance(own, (str, int))


def _header_of(head: bytes, source: Source) -> delimited.Header | None:
    """Find the header, if the first line names an id and a text; a CSV file must have one."""
    try:
        headers = list(delimited.headers(head[: head.rfind(b"\n") + 1] or head).values())
    except UnicodeDecodeError:  # the line will be refused
        return None
    for header in headers:
        if fields_of(tuple(header.names)).are_known:
            return header
    if source.suffix == ".csv":
        names = max((header.names for header in headers), key=len, default=[])
        fields_of(tuple(names)).check(names, Faults(source.name), 1)
    return None


def _json_lines(source: Source) -> Iterator[Entry]:
    """Read the objects; where the first key is the id, others than those asked for stay unread."""
    named: re.Pattern[bytes] | None = None
    for number, line in source.lines():
        if named is not None and (found := named.match(line)):
            document = source.decoded(found[1] or found[2], number)
            yield (document,), partial(_told_line, line, number, source)
        elif line.strip():
            record = _object(line, number, source)
            own = fields_of(tuple(record)).own
            document = document_id(record, Faults(source.name), number)
            yield (document,), partial(told, record)
            if own == next(iter(record)):
                key = re.escape(own.encode())
                named = re.compile(rb'\{\s*"%s"\s*:\s*(?:"([^"\\]+)"|(\d+)\s*[,}])' % key)


def _object(line: bytes, number: int, source: Source) -> dict[str, Any]:
    loaded = json_text.load(source.decoded(line, number).encode(), source.name, number - 1)
    if not isinstance(loaded, dict):
        hint = 'a line is {"id": …, "title": …, "text": …}'
        Faults(source.name).fail("json", f"not a JSON object: {line[:40]!r}", hint, number)
    return loaded


def _told_line(line: bytes, number: int, source: Source) -> DocumentText:
    return told(_object(line, number, source))


def _tab_lines(source: Source) -> Iterator[Entry]:
    for number, line in source.lines():
        name, tab, text = line.partition(b"\t")
        if not tab and line.strip():
            Faults(source.name).fail("columns", f"no tab in {line[:40]!r}", SHAPES, number)
        if tab:
            own = {"id": source.decoded(name.strip(), number)}
            document = document_id(own, Faults(source.name), number)
            yield (document,), partial(_told_text, text.strip(), number, source)


def _told_text(text: bytes, number: int, source: Source) -> DocumentText:
    return DocumentText("", source.decoded(text, number))


def _of_table(source: Source, header: delimited.Header) -> Iterator[Entry]:
    faults, names = Faults(source.name), header.names
    lines = islice(source.lines(), header.line - 1, None)
    texts = (f"{source.decoded(line, number)}\n" for number, line in lines)
    with _long_cells():
        for number, row in delimited.records(texts, header, faults):
            if any(cell.strip() for cell in row):
                cells = dict(zip(names, delimited.fitted(row, names, number, faults), strict=True))
                faults.check()
                yield (document_id(cells, faults, number),), partial(told, cells)


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let a cell be as long as a text may be."""
    usual = csv.field_size_limit(LONGEST_TEXT)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


def _of_frame(source: Source) -> Iterator[Entry]:
    faults = Faults(source.name)
    try:
        with opened_frame(source) as file:
            fields = fields_of(tuple(file.schema.names)).check(file.schema.names, faults)
            for batch in file.batches(list(fields.names)):
                for row, own in enumerate(batch.column(fields.own).to_pylist()):
                    document = document_id({fields.own: own}, faults)
                    yield (document,), partial(_told_row, batch, row, fields)
    except (frames.arrow().ArrowException, OSError, UnicodeDecodeError) as error:
        words = str(error).splitlines()[0][:80]
        faults.fail("damaged", f"the data cannot be read: {words}", "copy or create the file again")


def _told_row(batch: Any, row: int, fields: Fields) -> DocumentText:
    return told({name: batch.column(name)[row].as_py() for name in fields.names})


def of_folder(folder: str | Path) -> Iterator[Entry]:
    """Find the text files in a folder and below it; links are not followed.

    A file is the document of its name, with or without its suffix and the folders above it. No
    path is made from an id, so that no id leads out of the folder.
    """
    is_empty = True
    for parent, folders, names in os.walk(folder):
        folders.sort()
        above = os.path.relpath(parent, folder).replace(os.sep, "/")
        for name in sorted(names):
            is_empty = False
            aliases = _aliases(name, "" if above == "." else f"{above}/")
            yield aliases, partial(_told_file, os.path.join(parent, name))
    if is_empty:
        hint = f"put {CORPUS} there, or a text file for each document, named after its id"
        Faults(str(folder)).fail("empty", "the folder holds no files", hint)


def _aliases(name: str, above: str) -> tuple[str, ...]:
    """Name what a file may be called as a document.

    >>> _aliases("d1.txt", "news/")
    ('d1', 'd1.txt', 'news/d1', 'news/d1.txt')
    """
    name = os.fsencode(name).decode(errors="replace")
    suffix = next((kind.suffix for kind in KINDS if name.endswith(kind.suffix)), "")
    plain = name.removesuffix(suffix)
    own = (os.path.splitext(plain)[0], plain, name)
    return tuple(dict.fromkeys(front + one for front in ("", above) for one in own))


def _told_file(path: str) -> DocumentText | None:
    """Read a text file; None if it is a link or binary, such as a PDF beside its text."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return None
    source = Source.of(path)
    data = source.data().removeprefix(BOM_UTF8)
    if data.startswith(PDF) or b"\0" in data:
        return None
    if len(data) > LONGEST_TEXT:
        message = f"the text is longer than {LONGEST_TEXT:,} bytes"
        Faults(path).fail("overlong", message, "split it into documents")
    return DocumentText("", source.decoded(data, 1))
