"""Documents as records: which field is the id, which the title and which the text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

from idealist.data.columns import to_id
from idealist.errors import Faults
from idealist.formats.cells import ID_RULE, shown
from idealist.formats.column_names import DOCUMENT_IDS, DOCUMENT_TEXTS, TITLES, known

SHAPES = (
    "give JSON lines, a table with columns id and text, id<TAB>text lines, or a folder of text "
    "files"
)


class DocumentText(NamedTuple):
    """What a reader sees of a document."""

    title: str
    text: str

    @property
    def words(self) -> str:
        """The title and the text."""
        return " ".join(filter(None, self))


#: What a document may be called, mostly its id alone, and what tells its text when asked; that is
#: None where it turns out to have none.
Entry: TypeAlias = tuple[tuple[str, ...], Callable[[], DocumentText | None]]


class Fields(NamedTuple):
    """The names of the fields that are the id, the title and the text."""

    own: Any
    title: Any
    texts: tuple[Any, ...]

    @property
    def names(self) -> tuple[Any, ...]:
        """All that there are."""
        return (self.own, *self.told)

    @property
    def told(self) -> tuple[Any, ...]:
        """Those with words."""
        return (*(() if self.title is None else (self.title,)), *self.texts)

    @property
    def are_known(self) -> bool:
        """Whether there is an id, and something to read."""
        return self.own is not None and bool(self.told)

    def check(self, names: Iterable[Any], faults: Faults, line: int | None = None) -> Fields:
        """Refuse a table without them."""
        if not self.are_known:
            lacking = "the text" if self.own is not None else "the id"
            message = f"no column is {lacking} of a document: it has {', '.join(map(str, names))}"
            told = f"its title {', '.join(TITLES[:2])}, its text {', '.join(DOCUMENT_TEXTS[:4])}"
            hint = f"call the id of a document {', '.join(DOCUMENT_IDS[:4])}, {told}"
            faults.fail("missing-column", message[:300], hint, line)
        return self


@lru_cache(1000)  # records mostly have the same names
def fields_of(names: tuple[Any, ...]) -> Fields:
    """Find the fields of a document.

    >>> fields_of(("url", "Title", "passage"))
    Fields(own='url', title='Title', texts=('passage',))
    """
    ids, texts = known(names, DOCUMENT_IDS), known(names, DOCUMENT_TEXTS)
    own = next((name for name in ids if name not in texts), next(iter(ids), None))
    title = next((name for name in known(names, TITLES) if name != own), None)
    return Fields(own, title, tuple(name for name in texts if name != own))


def document_id(record: Mapping[Any, Any], faults: Faults, line: int | None = None) -> str:
    """Return the id of a document; refuse one without."""
    own = fields_of(tuple(record)).own
    value = None if own is None else record[own]
    if value is None or value == "":
        names = ", ".join(map(str, record))[:60]
        hint = f"name its id {', '.join(DOCUMENT_IDS[:3])}"
        faults.fail("missing-column", f"a document without an id: it has {names}", hint, line)
    return _id(value, faults, line)


def _id(value: Any, faults: Faults, line: int | None = None) -> str:
    try:
        return to_id(value)
    except (TypeError, ValueError):
        faults.fail("bad-id", f"document {shown(value)}: {ID_RULE}", "write ids as text", line)


def told(entry: Any) -> DocumentText:
    """Return the title and the text of what stands for a document: its words, or a record.

    >>> told({"_id": 1, "title": "Tuples", "text": "are frozen"})
    DocumentText(title='Tuples', text='are frozen')
    """
    if isinstance(entry, DocumentText):
        return entry
    if not isinstance(entry, Mapping):
        return DocumentText("", _words(entry))
    fields = fields_of(tuple(entry))
    texts = (_words(entry[name]) for name in fields.texts)
    return DocumentText(_words(entry.get(fields.title)), " ".join(filter(None, texts)))


def _words(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(filter(None, map(_words, value)))
    is_nan = isinstance(value, float) and math.isnan(value)
    words = "" if value is None or is_nan else str(value)
    return words.encode(errors="replace").decode()  # JSON may hold half of a surrogate pair


def entries_of(data: Any, faults: Faults) -> Iterator[Entry]:
    """Find the documents in Python data: {id: text or record}, columns by name, or records."""
    if isinstance(data, Mapping) and _are_columns(data):
        if len({len(cells) for cells in data.values()}) > 1:
            sizes = ", ".join(f"{name} {len(cells)}" for name, cells in data.items())
            hint = "give each document a cell in every column"
            faults.fail("bad-column", f"columns have different lengths: {sizes}"[:300], hint)
        rows = zip(*data.values(), strict=True)
        data = [dict(zip(data, row, strict=True)) for row in rows]
    if isinstance(data, Mapping):
        return (((_id(key, faults),), partial(told, entry)) for key, entry in data.items())
    if not isinstance(data, Sequence) or isinstance(data, (str, bytes)):
        faults.fail("bad-shape", f"{shown(data)} does not hold the texts of documents", SHAPES)
    return _of_records(data, faults)


def _are_columns(data: Mapping[Any, Any]) -> bool:
    lists = all(isinstance(cells, (list, tuple)) for cells in data.values())
    return lists and fields_of(tuple(data)).are_known


def _of_records(records: Sequence[Any], faults: Faults) -> Iterator[Entry]:
    for number, given in enumerate(records, 1):
        record = given._asdict() if hasattr(given, "_asdict") else given
        if not isinstance(record, Mapping):
            hint = 'give {"id": …, "title": …, "text": …}'
            faults.fail("bad-shape", f"record {number}: cannot read {shown(given)}", hint)
        yield (document_id(record, faults),), partial(told, record)
