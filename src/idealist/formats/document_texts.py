"""The texts of documents: looked up by id, wherever they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from idealist.data.spans import Span
from idealist.errors import Faults, UsageError
from idealist.formats import frames
from idealist.formats.document_entries import DocumentText, Entry, entries_of
from idealist.formats.document_files import of_path
from idealist.formats.stored_judgments import store_address, stored_texts
from idealist.notation import many
from idealist.rendering.wording import few

__all__ = ["DocumentText", "DocumentTexts", "document_texts", "read_texts"]

#: How many ids of a collection are shown where none is one that was asked for.
SEEN = 3


@dataclass(frozen=True)
class DocumentTexts:
    """What was found of the documents asked for, in the collection of that `name`.

    `repeated` counts documents that came twice, of which the first was taken; `seen` has the first
    ids of the collection.
    """

    name: str
    asked: tuple[str, ...]
    found: Mapping[str, DocumentText]
    repeated: int
    seen: tuple[str, ...]

    def __getitem__(self, document: str | None) -> str:
        """Return the words of a document, none where it has none."""
        return self.found.get(document or "", DocumentText("", "")).words

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The documents without a text."""
        return tuple(one for one in self.asked if not self[one])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know: which documents have no text, and which came twice."""
        return tuple(self._remarks())

    def _remarks(self) -> Iterator[str]:
        gone, asked = len(self.missing), many(len(self.asked), "document", "documents")
        if not self.seen:
            yield f"there are no documents in {self.name}"
        elif self.asked and not self.found:
            seen = f"it has {few(self.seen, SEEN)}, … and not {few(self.asked, SEEN)}"
            none = "the document is not" if len(self.asked) == 1 else f"none of {asked} is"
            yield f"{none} in {self.name}: do the ids match? {seen}"
        elif gone:
            verb = "has" if gone == 1 else "have"
            yield f"{gone} of {asked} {verb} no text in {self.name}: {few(self.missing)}"
        if self.repeated:
            again = many(self.repeated, "document comes", "documents come")
            yield f"{again} again in {self.name}; the first text is shown"


def document_texts(data: Any, ids: Collection[str]) -> DocumentTexts:
    """Look up the titles and texts of some documents; no others are kept.

    `data` is {id: text or record}, records, a frame, or a path: see `of_path`. What lies behind the
    last document asked for is not read. A span has its part of the document's text.

    >>> document_texts({"d1": "a list", "d2": {"title": "Tuples", "text": "stay"}}, ["d2"]).found
    {'d2': DocumentText(title='Tuples', text='stay')}
    """
    name = str(data) if isinstance(data, (str, Path)) else "the texts given"
    if (store := store_address(data)) is not None:
        texts, first = stored_texts(store, ids, SEEN)
        return DocumentTexts(str(store), tuple(dict.fromkeys(ids)), texts, 0, first)
    asked, found, repeated = dict.fromkeys(ids), dict[str, DocumentText](), 0
    spans, seen = _spans(asked), list[str]()
    for names, told in document_entries(data):
        if len(seen) < SEEN:
            seen.append(names[0])
        for document in [one for one in names if one in asked]:
            if document in found:
                repeated += 1
            elif (text := told()) is not None:
                found[document] = text
        for span in [span for one in names for span in spans.pop(one, ())]:
            if (text := told()) is not None:
                found[span.name] = DocumentText("", text.text[span.start : span.end])
        if len(found) == len(asked):
            break
    return DocumentTexts(name, tuple(asked), found, repeated, tuple(seen))


def _spans(ids: Iterable[str]) -> dict[str, list[Span]]:
    """Sort the spans among ids by document."""
    spans: dict[str, list[Span]] = {}
    for span in filter(None, map(Span.of, ids)):
        spans.setdefault(span.document, []).append(span)
    return spans


def document_entries(data: Any) -> Iterator[Entry]:
    """Find the documents of `data`, as `document_texts` takes it."""
    if isinstance(data, (str, Path)):
        return of_path(data)
    faults = Faults("the texts given")
    columns = frames.columns(data, faults)
    if columns is None and not isinstance(data, (Mapping, Sequence)):
        hint = "give {id: text}, a file, or a folder"
        raise UsageError(f"{data!r:.60} does not hold the texts of documents", hint)
    return entries_of(data if columns is None else columns, faults)


def read_texts(data: Any, ids: Collection[str]) -> dict[str, str]:
    """Look up the words of some documents, the title before the text."""
    return {name: text.words for name, text in document_texts(data, ids).found.items()}
