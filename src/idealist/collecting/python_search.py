"""Searches in Python: a function, or a retriever of LangChain or LlamaIndex by its shape."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from idealist.asking.secret_texts import Secrets
from idealist.collecting.asked_queries import AskedQuery
from idealist.collecting.engine_answers import Answer, Hit, failed, is_falling, repeated
from idealist.data.columns import to_float
from idealist.errors import Faults, InputError, UsageError
from idealist.formats.cells import checked
from idealist.formats.collected_runs import UNLIKE
from idealist.formats.column_names import DOCUMENT_TEXTS, matching
from idealist.formats.items import PARTS, Lists
from idealist.formats.objects import flat, opened
from idealist.formats.reading import Reading, ReadOptions

#: What retrievers call their search: LangChain's, LlamaIndex's.
METHODS = ("invoke", "retrieve")
#: What a function may call the number of hits.
LIMITS = ("k", "top_k", "n", "limit", "size")
#: What a function may raise to say that it took too long.
SLOW = (TimeoutError,)


@dataclass(frozen=True)
class PythonSearch:
    """A function from the text of a query to its hits; `limit` is its parameter for k, if any."""

    function: Callable[..., Any]
    k: int
    limit: str | None
    name: str
    texts: bool = False
    options: ReadOptions = field(default_factory=ReadOptions)
    secrets: Secrets = field(default_factory=Secrets)
    concurrency: int = 1
    doubt: str = ""

    @classmethod
    def of(cls, given: Any, k: int, texts: bool, options: ReadOptions) -> PythonSearch:
        """Find out how something is searched."""
        methods = (getattr(given, name, None) for name in METHODS)
        function = next((one for one in methods if callable(one)), given)
        if not callable(function):
            hint = "give an address such as elasticsearch+http://…, a function, or a retriever"
            raise UsageError(f"{given!r:.60} cannot be searched", hint)
        limit = _limit(function) if function is given else None
        name = getattr(given, "__qualname__", type(given).__name__)
        return cls(function, k, limit, name, texts, options)

    @property
    def places(self) -> frozenset[str]:
        """A function is given the text of the query."""
        return frozenset({"text"})

    def told(self) -> dict[str, Any]:
        """Say what is asked."""
        return {"engine": self.name, "version": None, "address": None, "index": None}

    def opened(self, timeout: float) -> PythonSearch:
        """Return the function; it is the same for all threads."""
        return self

    def ask(self, query: AskedQuery) -> Answer:
        """Call the function."""
        given = {} if self.limit is None else {self.limit: self.k}
        begun = time.perf_counter()
        try:
            entries = _entries(self.function(query.text, **given))
            seconds = time.perf_counter() - begun
            hits = self._hits(entries)
        except InputError as error:
            said = error.faults[0].message.removeprefix("query '': ")
            return failed(said, time.perf_counter() - begun)
        except SLOW as error:
            said = f"the search timed out: {error}"
            return Answer("timed out", error=said, seconds=time.perf_counter() - begun)
        except Exception as error:  # whatever a user's code raises is a failed search
            return failed(f"{type(error).__name__}: {error}"[:300], time.perf_counter() - begun)
        order = "" if is_falling(hits) else UNLIKE
        return Answer("ok" if hits else "empty", hits, seconds=seconds, order=order)

    def _hits(self, entries: list[Any]) -> tuple[Hit, ...]:
        """Read hits as a run in Python is read."""
        entries = entries[: self.k]
        lists = Lists(Reading("score", Faults(), self.options))
        lists.add("q", entries)
        if not entries:
            return ()
        table = checked(lists.result(), lists.reading)
        scores: Sequence[float | None] = table.value or [None] * len(entries)
        if not all(score is None or math.isfinite(score) for score in scores):
            lists.reading.faults.fail("bad-shape", "a score is NaN or infinite")
        if twice := repeated(table.document):
            lists.reading.faults.fail("bad-shape", twice)
        texts = map(_text, entries) if self.texts else [""] * len(entries)
        return tuple(map(Hit, table.document, scores, texts))

    def cut(self) -> None:
        """Do nothing: a function cannot be ended."""

    def close(self) -> None:
        """Nothing is open."""


def _entries(found: Any) -> list[Any]:
    """List what was found; scores by document in the order of the scores."""
    found = opened(found)
    if isinstance(found, Mapping):
        return sorted(found.items(), key=lambda pair: -_number(*pair))
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        message = f"a search returned {found!r:.60}"
        Faults().fail("bad-shape", message, "return ids, (id, score) pairs, or documents")
    return list(found)


def _number(document: Any, score: Any) -> float:
    try:
        return to_float(score)
    except (TypeError, ValueError):
        Faults().fail("bad-score", f"the score of {document!r:.60} is {score!r:.60}, and no number")


def _limit(function: Callable[..., Any]) -> str | None:
    """Find the parameter that says how many hits are wanted."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):  # of what is written in C
        return None
    return next((name for name in LIMITS if name in names), None)


def _text(entry: Any) -> str:
    """Find the text of a document among its fields, wherever they are."""
    if callable(content := getattr(entry, "get_content", None)):  # as LlamaIndex has it
        return str(content())
    entry = opened(entry[0] if isinstance(entry, tuple) else entry)
    if not isinstance(entry, Mapping):
        return ""
    fields = flat(entry, PARTS)
    names = matching(tuple(fields), DOCUMENT_TEXTS)
    return next((one for name in names if isinstance(one := fields[name], str) and one), "")
