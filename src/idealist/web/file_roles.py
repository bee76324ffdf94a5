"""What a file is: judgments, a run, texts; found by a look at its head, never by its name alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from idealist.errors import IdealistError, InputError, UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.formats import (
    json_text,
    kind_of,
    read_pairs,
    read_qrels,
    read_queries,
    sqlite_files,
)
from idealist.formats.column_names import DOCUMENT_IDS, QUERY_IDS, QUERY_TEXTS, known
from idealist.formats.contents import OURS
from idealist.formats.document_entries import fields_of
from idealist.formats.document_texts import document_entries
from idealist.formats.pair_files import holds_both
from idealist.formats.reading import ReadOptions
from idealist.formats.source import Source, plain_suffix
from idealist.formats.sqlite_files import is_sqlite
from idealist.formats.stored_judgments import check_store

#: What a file can be, with the words for it.
ROLES = {
    "judgments": "judgments",
    "store": "a store of judgments",
    "run": "a run",
    "both": "judgments and a run",
    "queries": "texts of queries",
    "documents": "texts of documents",
    "evaluation": "a saved evaluation",
    "ignored": "not used",
}
#: What is said of files that say everything themselves.
PLAIN = ReadOptions()
#: Files up to this size are looked at as they are; of larger ones, the head.
WHOLE = 2**22
#: Files that cannot be cut where a line ends.
UNCUT = {".json", ".parquet", ".arrow", ".feather", ".xlsx"}
#: Fields of rows that are judged or ranked; ids of documents alone; and ids of either kind of text.
RANKED = {
    "grade", "relevance", "rel", "label", "score", "rank", "rating", "retrieved", "ranking", "hits",
}  # fmt: skip
BEIR = {"query-id", "corpus-id", "score"}
OWN_IDS = {"document", "docid", "doc_id", "docno", "doc"}
SHARED_IDS = {"_id", "id"}
#: Parts of names that tell texts of queries from those of documents; a file this small has queries.
QUERY_WORDS, DOCUMENT_WORDS = ("quer", "topic", "question"), ("doc", "corpus", "passage", "chunk")
SHORT = 2**16

#: What a file is, and how that was found.
Role = tuple[str, str]


def role_of(path: Path, reading: ReadOptions = PLAIN) -> Role:
    """Say what a file is; what cannot be read is not used. `reading` is what a user says of it."""
    try:
        if is_sqlite(path):
            return _database(path)
        look = _Look(path, reading)
        found = (check(look) for check in CHECKS)
        return next(filter(None, found), ("ignored", "its rows could be anything: say what it is"))
    except IdealistError as error:
        return "ignored", error.message
    except (ValueError, KeyError, TypeError, OSError):
        return "ignored", "it is nothing that idealist can read"


@dataclass(frozen=True)
class _Look:
    """The head of a file, decompressed, and what it shows."""

    path: Path
    reading: ReadOptions

    @cached_property
    def head(self) -> bytes:
        return Source.of(self.path).head()

    @cached_property
    def first(self) -> bytes:
        """The first line that holds something."""
        return self.head.lstrip().partition(b"\n")[0].rstrip()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the fields in the first line, of a JSON object or of a table."""
        line = self.first.decode(errors="replace")
        if line.startswith("{"):
            with suppress(ValueError):
                return tuple(map(str, json.loads(line)))
            return tuple(json_text.names(self.first))  # of a record that is longer than the head
        if plain_suffix(self.path.name) not in (".csv", ".tsv"):
            return ()
        sign = "\t" if "\t" in line else ";" if ";" in line and "," not in line else ","
        return tuple(name.strip().strip('"') for name in line.split(sign))

    @property
    def is_words(self) -> bool:
        """Whether it is words alone: behind a query and a document a number would stand."""
        if self.names or self.first[:1] in (b"{", b"[") or plain_suffix(self.path.name) in UNCUT:
            return False
        return not any(map(_is_number, self.first.replace(b",", b" ").split()[2:]))

    @contextmanager
    def small(self) -> Iterator[Path]:
        """Give the file, or a copy of its head where it is large or compressed."""
        large = self.path.stat().st_size > WHOLE or Source.of(self.path).is_compressed
        if not large or plain_suffix(self.path.name) in UNCUT:
            yield self.path
            return
        with TemporaryDirectory() as folder:
            copy = Path(folder) / f"head{plain_suffix(self.path.name)}"
            copy.write_bytes(self.head[: self.head.rfind(b"\n") + 1] or self.head)
            yield copy


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _database(path: Path) -> Role:
    """Tell a store from other files of SQLite; it is only read."""
    if not is_sqlite(path):
        raise UsageError("this is no file of SQLite", "give one that idealist judge init made")
    sqlite_files.read(path, lambda connection: check_store(connection, path))
    return "store", "a store of idealist"


def _ours(look: _Look) -> Role | None:
    """Recognise what idealist saved."""
    for key, (what, _) in OURS.items():
        if look.first.startswith(b"{") and f'"{key}"'.encode() in look.head.lstrip()[:40]:
            return ("evaluation" if key == "idealist" else "ignored"), f"{what} of idealist"
    return None


def _by_fields(look: _Look) -> Role | None:
    """Recognise BEIR's judgments, and texts, by the names of fields."""
    names = look.names
    if {name.lower() for name in names} == BEIR:
        return "judgments", "it has the columns of BEIR's judgments"
    if not names or {name.lower() for name in names} & RANKED:
        return None
    why = f"it has {', '.join(names[:4])}"
    queries = known(names, ("query", *QUERY_IDS)) and known(names, QUERY_TEXTS)
    if queries and not OWN_IDS & {*known(names, DOCUMENT_IDS)}:
        shared = SHARED_IDS & {name.lower() for name in names}
        return _texts(look, why) if shared else ("queries", why)
    return _texts(look, why) if fields_of(names).are_known else None


def _by_tabs(look: _Look) -> Role | None:
    """Recognise lines of an id and a text, however many words that has."""
    if look.first.count(b"\t") != 1 or (look.names and look.path.suffix == ".csv"):
        return None
    return _texts(look, "its lines have an id and a text")


def _texts(look: _Look, why: str) -> Role:
    """Tell texts of queries from those of documents: by the file's name, or by its size."""
    name = look.path.name.lower()
    if any(word in name for word in QUERY_WORDS):
        return "queries", f"{why}, and its name says queries"
    if any(word in name for word in DOCUMENT_WORDS):
        return "documents", f"{why}, and its name says documents"
    short = look.path.stat().st_size < SHORT
    return ("queries" if short else "documents"), f"{why}, and it is {'short' if short else 'long'}"


def _by_rows(look: _Look) -> Role | None:
    """Tell judgments from runs by what the rows hold."""
    if look.is_words:
        return "ignored", "it is text, but neither judgments nor a run"
    with look.small() as small:
        with suppress(InputError):
            if holds_both(look.reading.of(str(small))):
                return "both", "each record has what was retrieved and what should have been"
        found = kind_of(small, look.reading) or ("run" if "score" in look.names else None)
    said = {"qrels": "its rows have grades", "run": "its rows have ranks or scores"}
    return None if found is None else ("judgments" if found == "qrels" else found, said[found])


def _by_name(look: _Look) -> Role | None:
    if "qrel" in look.path.name.lower():
        return "judgments", "its name says so"
    is_run = plain_suffix(look.path.name) in (".run", ".trec")
    return ("run", "its suffix says so") if is_run else None


#: The checks, in the order in which they are believed.
CHECKS: tuple[Callable[[_Look], Role | None], ...] = (
    _ours, _by_fields, _by_tabs, _by_rows, _by_name,
)  # fmt: skip


def check_role(path: Path, role: str) -> None:
    """Refuse to take a file for what it cannot be read as; runs are read when they are measured."""
    readers: dict[str, Callable[[Path], object]] = {
        "store": _database, "judgments": read_qrels, "queries": read_queries, "both": read_pairs,
        "documents": lambda file: next(iter(document_entries(file)), None),
        "evaluation": Evaluation.load,
    }  # fmt: skip
    try:
        readers.get(role, str)(path)
    except IdealistError as error:
        hint = error.hint if isinstance(error, UsageError) else ""
        raise UsageError(f"{path.name} is not {ROLES[role]}: {error.message}", hint) from None
