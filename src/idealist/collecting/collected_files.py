"""Where answers are kept: a file that only grows, a line an answer, or a list in memory.

A line is written at once by one call of the system, so that what was kept is kept, whatever kills
the process next. A line that was cut off then is taken back when the file is gone on with.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from idealist.asking.secret_texts import Secrets
from idealist.collecting.asked_queries import AskedQuery
from idealist.collecting.engine_answers import Answer, failed
from idealist.errors import Faults, UsageError
from idealist.files import check_folder
from idealist.formats.cells import shown
from idealist.formats.collected_runs import (
    ANSWERED,
    HEADER,
    VERSION,
    CollectedRun,
    read_collected,
    whole_lines,
)
from idealist.formats.source import Source

#: What must be the same where a run is gone on with.
SAME = ("engine", "address", "index", "template", "k", "columns", "headers", "text")
#: What is said of an answer to a query that says something else now.
OUTDATED = "what it asks has changed since it was answered; it was not asked again yet"
#: How several of something are called in what is said of it.
OTHERS = {"columns": "other columns", "headers": "other headers", "text": "other texts kept"}
#: Statuses that are final: what was answered in full is not asked again.
FINAL = ("ok", "empty")


def now() -> str:
    """Write the time, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line_of(
    query: AskedQuery, answer: Answer, at: str, tries: int = 1, filled: str | None = None
) -> dict[str, Any]:
    """Write an answer as a line of a collected run."""
    said: dict[str, Any] = {
        "query": query.id, "text": query.text, "status": answer.status, "at": at,
        "ms": round(1000 * answer.seconds, 3),
    }  # fmt: skip
    known = {
        "order": answer.order or None,
        "took": answer.took,
        "total": answer.total,
        "error": answer.error or None,
        "filled": filled,
        "short": answer.is_short or None,
    }
    said |= {key: one for key, one in known.items() if one is not None}
    if tries > 1:
        said["tries"] = tries
    if answer.status in ANSWERED:
        said["hits"] = [
            {
                "id": hit.id,
                **({} if hit.score is None else {"score": hit.score}),
                "rank": rank,
                **({"text": hit.text} if hit.text else {}),
            }
            for rank, hit in enumerate(answer.hits, 1)
        ]
    return said


@dataclass
class CollectedFile:
    """A run that is being collected; in memory, without a path. A context manager.

    What was `added` is remembered without its hits, which are in the file. An answer belongs to
    what filled the `places` of its query.
    """

    path: Path | None
    secrets: Secrets
    places: frozenset[str] = frozenset()
    records: list[dict[str, Any]] = field(default_factory=list)
    before: CollectedRun = field(default_factory=CollectedRun)
    added: dict[str, dict[str, Any]] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    outdated: tuple[AskedQuery, ...] = ()
    has_hits: bool = False
    has_texts: bool = False
    _file: int | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, header: Mapping[str, Any], queries: Sequence[AskedQuery], resume: bool) -> None:
        """Find out how it begins, and write nothing yet.

        `resume` goes on with a file, which else must not be there. Answers to queries that are no
        longer asked stay: the run has those queries too.
        """
        said = {HEADER: VERSION, **self._masked(header)}
        if self.path is not None:
            check_folder(self.path)
            self.before = self._found(said, resume)
        self.gone = tuple(sorted(self.before.answers.keys() - {query.id for query in queries}))
        self.outdated = tuple(filter(self._is_outdated, queries))
        self.before.header = {**said, "queries": len(queries) + len(self.gone)}

    def _masked(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Take secrets out of what is said of an engine, and leave numbers and keys alone."""
        return {
            key: self.secrets.scrub(one) if isinstance(one, str)
            else self._masked(one) if isinstance(one, Mapping) else one
            for key, one in said.items()
        }  # fmt: skip

    def _found(self, header: Mapping[str, Any], resume: bool) -> CollectedRun:
        """Read what was collected before; refuse what is something else."""
        path = self.path
        if path is None or not path.exists() or not path.stat().st_size:
            return CollectedRun()
        found = read_collected(Source.of(path))
        if found is None:
            raise UsageError(f"{path} is there already, and no collected run", "give another name")
        if found.answers and not resume:
            hint = "--resume asks what it lacks; or give another name"
            raise UsageError(f"{path} is there already", hint)
        for key in SAME if found.answers else ():
            was, now_is = (_identity(one.get(key)) for one in (found.header, header))
            if was != now_is:
                hint = "collect what is new into another file"
                differs = f": {shown(was)}, not {shown(now_is)}"
                words = f"{path} was collected with {OTHERS.get(key, f'another {key}')}"
                raise UsageError(words if key == "template" else words + differs, hint)
        return found

    def _is_outdated(self, query: AskedQuery) -> bool:
        """Whether there is an answer to other words, or to another vector."""
        known = self.before.answers.get(query.id)
        if known is None or known["status"] not in ANSWERED:
            return False
        return (known.get("text"), known.get("filled")) != (query.text, query.filled(self.places))

    def lacks(self, query: AskedQuery) -> bool:
        """Whether a query is still to be asked: it is new, asks something else, or it failed."""
        known = self.added.get(query.id) or self.before.answers.get(query.id)
        return known is None or known["status"] not in FINAL

    def add(self, query: AskedQuery, answer: Answer, at: str, tries: int = 1) -> None:
        """Keep an answer; once this returns, nothing but the disk can lose it.

        A part of an answer is better than a failure to get the rest of it.
        """
        known = self.added.get(query.id) or self.before.answers.get(query.id)
        if answer.status in ANSWERED or known is None or known["status"] != "partial":
            self._take(line_of(query, answer, at, tries, query.filled(self.places)))
        self.has_hits = self.has_hits or bool(answer.hits)
        self.has_texts = self.has_texts or any(hit.text for hit in answer.hits)

    def _take(self, record: dict[str, Any]) -> None:
        self._write(record)
        self.added[record["query"]] = {k: v for k, v in record.items() if k != "hits"}

    def _write(self, record: dict[str, Any]) -> None:
        if self._file is None:
            self.records.append(record)
            return
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        data = (line + "\n").encode("utf-8", "replace")
        try:
            with self._lock:
                while data:  # more than once on a full disk only
                    data = data[os.write(self._file, data) :]
        except OSError as error:
            raise UsageError(f"cannot write {self.path}: {error.strerror}") from None

    def __enter__(self) -> Self:
        """Write how it is collected, and which answers no longer count."""
        if self.path is not None:
            _mend(self.path)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
            try:
                self._file = os.open(self.path, flags, 0o666)
            except OSError as error:
                raise UsageError(f"cannot write {self.path}: {error.strerror}") from None
        self._write({**self.before.header})
        for query in self.outdated:
            self._take(line_of(query, failed(OUTDATED), now()))
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.fsync(self._file)
            os.close(self._file)
            self._file = None

    def collected(self) -> CollectedRun:
        """Return all that there is, from before too."""
        if self.path is None:
            return CollectedRun.of(self.records, Faults())
        return CollectedRun(self.before.header, {**self.before.answers, **self.added})


def _mend(path: Path) -> None:
    """Take back the end of a line that was cut off."""
    text = path.read_bytes() if path.exists() else b""
    if len(kept := whole_lines(text)) < len(text):
        os.truncate(path, len(kept) + 1)  # with the end of the last whole line
    elif text and not text.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")


def _identity(value: Any) -> Any:
    """Return what tells one from another: of a template its content, wherever it is."""
    return value.get("sha256", value) if isinstance(value, Mapping) and value else value or None
