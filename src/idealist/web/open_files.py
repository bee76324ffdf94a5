"""What is open in the workbench: judgments, runs and texts, in files and in stores."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from idealist import files
from idealist.data import Qrels, Queries, Run
from idealist.errors import IdealistError, InputError, UsageError, nearest
from idealist.evaluating.evaluation import Evaluation
from idealist.formats import read_pairs, read_qrels, read_queries, read_run, sqlite_files
from idealist.formats.document_texts import DocumentText, document_texts
from idealist.formats.reading import DescribedFile, ReadOptions
from idealist.formats.source import run_names
from idealist.judging.judgment_imports import import_judgments
from idealist.judging.store import Store
from idealist.web.found_files import STORE, FoundFile
from idealist.web.once import Once
from idealist.web.page_state import PageState

#: For how many seconds the files are not looked for again.
FRESH = 1.0
#: How many texts of documents are remembered.
TEXTS = 5000


class Files(Protocol):
    """Where files come from: a folder, or names on the command line."""

    path: Path
    first: str
    is_cut: bool
    reading: ReadOptions

    def files(self) -> dict[str, FoundFile]:
        """Return the files, by name."""

    def correct(self, name: str, role: str) -> None:
        """Say what a file is."""


@dataclass
class OpenFiles:
    """What there is to look at, read when it is needed, and again when it changes.

    `judge` is who judges where there are no accounts, `stage` what is being done just now.
    """

    source: Files
    judge: str = ""
    stage: str = ""
    _once: Once = field(default_factory=Once)
    _lately: Once = field(default_factory=lambda: Once(4))  # what is large, and soon outdated
    _saved: Once = field(default_factory=lambda: Once(500))
    _stores: dict[Path, tuple[tuple[int, int], Store]] = field(default_factory=dict)
    _texts: dict[tuple[Any, str], DocumentText | None] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _reading: threading.RLock = field(default_factory=threading.RLock)
    _found: tuple[float, dict[str, FoundFile]] = (0.0, {})

    def files(self, fresh: bool = False) -> dict[str, FoundFile]:
        """Return the files; those that are new or changed are noticed within a second."""
        with self._lock:
            if fresh or time.monotonic() - self._found[0] > FRESH or not self._found[1]:
                found = self.source.files()
                self._found = time.monotonic(), found  # after a walk that may be long
            return self._found[1]

    def correct(self, name: str, role: str) -> None:
        """Say what a file is."""
        self.source.correct(name, role)
        self.files(fresh=True)

    def _of(self, *roles: str) -> list[FoundFile]:
        return [one for one in self.files().values() if one.role in roles]

    @property
    def judged(self) -> list[FoundFile]:
        """The files of judgments: what was named, then stores, then what is called so."""

        def order(one: FoundFile) -> tuple[bool, bool, bool]:
            named = one.name == self.source.first
            return not named, one.role != "store", "qrel" not in one.name.lower()

        return sorted(self._of("store", "judgments", "both"), key=order)

    @property
    def runs(self) -> dict[str, FoundFile]:
        """The files of runs, by the names of the runs."""
        found = self._of("run", "both")
        return dict(zip(run_names([str(one.path) for one in found]), found, strict=True))

    def named(self, state: PageState) -> PageState:
        """Name the judgments in a state, so that what is sent goes to these and to no others."""
        return replace(state, judgments=self.judgments_file(state).name) if self.judged else state

    def judgments_file(self, state: PageState) -> FoundFile:
        """Find the judgments that a page is about: those it names, or the first."""
        known = {one.name: one for one in self.judged}
        if not known:
            hint = "put judgments into the folder, or say under Files which file holds them"
            raise UsageError("there are no judgments here", hint)
        if state.judgments and state.judgments not in known:
            raise UsageError(
                f"no judgments are called {state.judgments!r}", nearest(state.judgments, known)
            )
        return known[state.judgments] if state.judgments else next(iter(known.values()))

    def stamp(self, file: FoundFile) -> Any:
        """Return what changes when a file does, and with every judgment of a store."""
        if file.role != "store":
            return file.name, file.stamp
        return self._counts(file, "judgment", "setting")

    def _counts(self, file: FoundFile, *tables: str) -> Any:
        """Return what changes when a store is another file, or something is added to its tables.

        It is only read: to look at a folder writes to nothing in it.
        """
        asked = ", ".join(f"(SELECT MAX(id) FROM {table})" for table in tables)
        counts = sqlite_files.read(
            file.path, lambda connection: connection.execute(f"SELECT {asked}").fetchone()
        )
        return file.name, identity(file.path), counts

    def qrels(self, state: PageState) -> Qrels:
        """Read the judgments that a page is about."""
        file = self.judgments_file(state)
        return self._once(("qrels", self.stamp(file)), lambda: self._read_qrels(file))

    def is_judged(self, state: PageState) -> bool:
        """Whether there are judgments; a store may have none yet."""
        return bool(self.judged) and self._is_filled(self.judgments_file(state))

    def _is_filled(self, file: FoundFile) -> bool:
        if file.role != "store":
            return True
        asked = "SELECT EXISTS (SELECT 1 FROM current_judgment WHERE grade IS NOT NULL)"
        found = sqlite_files.read(
            file.path, lambda connection: connection.execute(asked).fetchone()
        )
        return bool(found[0])

    def _read_qrels(self, file: FoundFile) -> Qrels:
        if file.role == "store":
            if not self._is_filled(file):
                raise UsageError(f"nothing is judged in {file.name} yet", "judge something first")
            return read_qrels(str(file.path))  # by itself, so that no judge waits
        if file.role == "both":
            return read_pairs(self._described(file), name=file.name)[0]
        return read_qrels(self._described(file))

    def _described(self, file: FoundFile) -> DescribedFile:
        """Return a file with what the user says of it."""
        return self.source.reading.of(str(file.path))

    def _read_run(self, name: str, file: FoundFile) -> Run:
        if file.role == "both":
            return read_pairs(self._described(file), name=name)[1]
        return read_run(self._described(file), queries=self.queries, name=name)

    def _read_or_named(self, name: str, file: FoundFile) -> Run | str:
        """Read a run; name the file where it cannot be read, so that an audit says why."""
        try:
            return self._read_run(name, file)
        except InputError:
            return str(file.path)

    def evaluation(self, file: FoundFile) -> Evaluation:
        """Read a saved evaluation."""
        return self._saved(
            ("evaluation", file.name, file.stamp), lambda: Evaluation.load(file.path)
        )

    @property
    def queries(self) -> Queries | None:
        """The texts of the queries, of a file or of the store."""
        found = [*self._of("queries"), *self._of("store")]
        if not found:
            return None
        return self._once(("queries", self.query_stamp), lambda: _joined(found))

    @property
    def query_stamp(self) -> Any:
        """Return what changes when queries do; a store that cannot be opened tells none."""
        stamps: list[Any] = [(one.name, one.stamp) for one in self._of("queries")]
        for one in self._of("store"):
            with suppress(IdealistError):
                stamps.append(self._counts(one, "query"))
        return tuple(stamps)

    def _text_stamp(self, file: FoundFile) -> Any:
        """Return what changes when the texts of a file do."""
        if file.role != "store":
            return file.name, file.stamp
        return self._counts(file, "query", "document")

    def query_text(self, query: str) -> str:
        """Return the words of a query."""
        known = self.queries
        return known.text.get(query, "") if known else ""

    def texts(self, ids: Iterable[str]) -> dict[str, DocumentText]:
        """Look up the texts of documents, in the store first, and remember them."""
        wanted = dict.fromkeys(ids)
        sources = [*self._of("store"), *self._of("documents")]
        found: dict[str, DocumentText] = {}
        with self._reading:
            for file in sources:
                with suppress(IdealistError):  # what cannot be read tells nothing
                    found |= self._told(file, [one for one in wanted if one not in found])
        return found

    def _told(self, file: FoundFile, lacking: Sequence[str]) -> dict[str, DocumentText]:
        """Look up texts in one file, unless they are remembered."""
        stamp = self._text_stamp(file)
        new = [one for one in lacking if (stamp, one) not in self._texts]
        if len(self._texts) + len(new) > TEXTS:
            self._texts.clear()
            new = list(lacking)
        told = document_texts(str(file.path), new).found if new else {}
        self._texts |= {(stamp, one): told.get(one) for one in new}
        known = {one: self._texts[stamp, one] for one in lacking}
        return {one: text for one, text in known.items() if text is not None}

    def store(self, state: PageState) -> Store | None:
        """Return the store that a page's judgments are in, if they are in one."""
        if not self.judged:
            return None
        file = self.judgments_file(state)
        return self._opened(file.path) if file.role == "store" else None

    def _opened(self, path: Path) -> Store:
        """Open a store, once for the same file; one that was replaced is another file."""
        with self._lock:
            file = identity(path)
            if path not in self._stores or self._stores[path][0] != file:
                self._stores[path] = file, Store(path)
            return self._stores[path][1]

    def make_store(self, state: PageState) -> str:
        """Make a store of the judgments that a page is about, whole or not at all; name it."""
        path, queries = self.source.path / STORE, self._of("queries")
        if path.exists():
            raise UsageError(f"{STORE} exists already", "look under Files what it is taken for")
        file = self.judgments_file(state) if self.judged else None
        scale = _scale(self.qrels(state) if file else None)
        texts = str(queries[0].path) if queries else None
        fresh = path.with_name(f".{os.urandom(8).hex()}.db")
        try:
            with Store.create(fresh, scale=scale, queries=texts) as store:
                if file is not None:
                    both = file.role == "both"
                    data = self.qrels(state).to_dict() if both else self._described(file)
                    import_judgments(store, data, judge=file.name)
            os.rename(fresh, path)
        finally:
            for end in ("", "-wal", "-shm"):
                Path(f"{fresh}{end}").unlink(missing_ok=True)
        self.files(fresh=True)
        return STORE

    def tell_store(self, store: Store, queries: Iterable[str], documents: Iterable[str]) -> int:
        """Copy texts that the folder has and a store lacks; return how many of documents."""
        known, words = store.queries.text, self.queries.text if self.queries else {}
        new = {one: words[one] for one in queries if words.get(one) and not known.get(one)}
        if new:
            store.add_queries(new)
        lacking, added = {one for one in documents if store.text(one) is None}, 0
        for file in self._of("documents"):
            found = document_texts(str(file.path), lacking).found if lacking else {}
            texts = {one: {"title": text.title, "text": text.text} for one, text in found.items()}
            added += store.add_documents(texts) if texts else 0
            lacking -= found.keys()
        return added

    def _filling(self, file: FoundFile) -> Any:
        """Return what changes with everything that is added to a store."""
        return self._counts(
            file, "judgment", "setting", "preference", "batch", "call", "query", "document"
        )

    def _run(self, name: str, known: Mapping[str, FoundFile]) -> FoundFile:
        if name not in known:
            hint = nearest(name, known) if known else "put runs into the folder"
            raise UsageError(f"there is no run {name!r}", hint)
        return known[name]

    def read_runs(self, runs: Sequence[str]) -> dict[str, Run]:
        """Read some runs."""
        known = self.runs
        return {name: self._read_run(name, self._run(name, known)) for name in runs}

    def close(self) -> None:
        """Let go of the stores."""
        for _, store in self._stores.values():
            store.close()


def identity(path: Path) -> tuple[int, int]:
    """Return what tells a file from another of the same name; refuse one that is gone."""
    if (found := files.identity(path)) is None:
        hint = "put it back; what you say meanwhile is not kept"
        raise UsageError(f"{path.name} is gone from the folder", hint)
    return found


def _joined(found: Sequence[FoundFile]) -> Queries:
    """Read the queries of several files; the first that knows a query tells it.

    A file that cannot be read tells nothing: numbers need no texts.
    """
    read = []
    for file in found:
        with suppress(IdealistError):
            read.append(read_queries(str(file.path)))
    text: dict[str, str] = {}
    columns: dict[str, dict[str, Any]] = {}
    for one in reversed(read):
        text |= {query: words for query, words in one.text.items() if words or query not in text}
        for name, cells in one.columns.items():
            columns.setdefault(name, {}).update(cells)
    return Queries(text, columns, found[0].name)


def _scale(qrels: Qrels | None) -> Any:
    """Propose the grades of a store: those of the judgments, from 0 on where they are whole."""
    if qrels is None or not len(qrels):
        return 3
    if qrels.scale is not None:
        labels = qrels.scale.labels
        pairs = dict(zip(qrels.scale.grades, labels, strict=True)) if labels else None
        return pairs or list(qrels.scale.grades)
    given = {float(grade) for grade in qrels.grades.tolist()}
    low, high = min(given), max(given)
    if all(grade.is_integer() for grade in given) and high - low <= 10:
        return list(range(int(min(low, 0)), int(max(high, 1)) + 1))
    return sorted(given)
