"""Which query each response answers: by a key, by what it repeats itself, or by `--queries`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from idealist.data import Queries
from idealist.errors import Faults
from idealist.formats.cells import add_query, shown
from idealist.formats.column_names import QUERY_IDS, known
from idealist.formats.engines import hits, rank_eval
from idealist.formats.engines.table import ENGINES, Engine, at, engine_of
from idealist.formats.reading import Reading

#: What logs call the response to a request.
BODIES = ("response", "result", "body", "answer", "output", "hits")
#: What a response holds that is an error alone.
ERROR_KEYS = frozenset(
    ["error", "errors", "message", "status", "code", "type", "link", "details", "requestId"]
)
NAMES = 'name the queries in their order: --queries FILE, or give {"q1": response, "q2": response}'


@dataclass(frozen=True)
class Response:
    """One response: the query that it answers, whose it is, and where it was found."""

    query: Any
    body: Mapping[str, Any]
    engine: Engine | None
    faults: Faults
    line: int | None = None
    words: Any = None  # the query's text, if the response repeats it


def lists(
    data: Any, reading: Reading, lines: Sequence[int] | None = None
) -> dict[Any, list[Any]] | None:
    """Read engines' JSON as ``{query: [(document, value), …]}``; None for anything else.

    `lines` are those of a list's elements.
    """
    if isinstance(data, Mapping) and (judged := rank_eval.lists(data, reading)) is not None:
        return judged
    found = _responses(data, reading.faults, lines)
    if found is None:
        return None
    if reading.value == "grade":
        hint = "give judgments first, then runs; a _rank_eval request holds ratings"
        reading.faults.fail("bad-shape", "search responses are a run: they lack the ratings", hint)
    return hits.by_query(*named(found, reading), reading)


def responses_in(data: Any, faults: Faults, line: int | None = None) -> list[Response] | None:
    """Find the responses in a value: one, those to several queries, or None."""
    engine = engine_of(data)
    if engine is None and isinstance(data, Mapping) and (bodies := _bodies(data)):
        query = _named_by(data, None)
        if data.get("is_partial") or data.get("is_running"):
            faults.fail("failed-search", f"query {shown(query)} is partial", hits.AGAIN, line)
        inner = [each for key in bodies for each in responses_in(data[key], faults, line) or ()]
        return [replace(each, query=query or each.query) for each in inner]
    if engine is None and (several := _several(data)):
        return [each for one in several for each in responses_in(one, faults, line) or ()]
    if engine is None and not _is_error(data):
        return None
    parts = engine.parts(data) if engine and engine.parts else None
    if parts is not None:
        return [Response(None, part, engine, faults, line) for part in parts]
    words = at(data, engine.query) if engine and engine.query else None
    return [Response(_named_by(data, words), data, engine, faults, line, words)]


def _responses(data: Any, faults: Faults, lines: Sequence[int] | None) -> list[Response] | None:
    if isinstance(data, list) and data and all(map(_holds_answers, data)):
        numbers: Sequence[int | None] = lines or [None] * len(data)
        pairs = zip(data, numbers, strict=True)
        return [each for one, line in pairs for each in responses_in(one, faults, line) or ()]
    if not isinstance(data, Mapping) or not data or _is_error(data):
        return None
    if _is_by_query(data):
        return [
            replace(each, query=query)
            for query, one in data.items()
            for each in _only(query, responses_in(one, faults) or [], faults)
        ]
    return responses_in(data, faults)


def _only(query: Any, found: list[Response], faults: Faults) -> list[Response]:
    if len(found) > 1:
        message = f"query {query!r} has {len(found)} responses"
        faults.fail("bad-shape", message, "give one response a query")
    return found


def _is_by_query(data: Mapping[Any, Any]) -> bool:
    """Whether every key is a query: its value an answer, and at least one of them no error."""
    if engine_of(data) is not None or (len(data) == 1 and data.keys() & {*BODIES[:-1]}):
        return False
    return all(map(_holds_answers, data.values())) and not all(map(_is_error, data.values()))


def _bodies(data: Mapping[Any, Any]) -> list[str]:
    """Find the keys under which something holds a whole response, beside what names the query."""
    return [key for key in BODIES if key in data and _holds_answers(data[key])]


def _holds_answers(data: Any) -> bool:
    if not isinstance(data, Mapping):
        return False
    return _is_answer(data) or bool(_several(data)) or bool(_bodies(data))


def _several(data: Any) -> list[Any]:
    """Return the answers to several queries in one."""
    found = (data.get(key) for key in ("responses", "results")) if isinstance(data, Mapping) else ()
    lists = [each for each in found if isinstance(each, list)]
    return next((each for each in lists if all(map(_is_answer, each))), [])


def _is_answer(data: Any) -> bool:
    return engine_of(data) is not None or _is_error(data)


def _is_error(data: Any) -> bool:
    """Whether something is an error and nothing else, in words or as an object with words."""
    if not isinstance(data, Mapping) or not {"error", "errors", "message"} & data.keys():
        return False
    plain = any(isinstance(found, (str, int)) for found in data.values())
    return data.keys() <= ERROR_KEYS and (plain or not any(map(engine_of, data.values())))


def _named_by(data: Mapping[Any, Any], words: Any) -> Any:
    """Return the id that something names, or else the text of its query."""
    ids = [data[key] for key in QUERY_IDS if isinstance(data.get(key), (str, int))]
    texts = [data[key] for key in known(data, ("query", "question", "topic", "q"))]
    return next((name for name in (*ids, words, *texts) if isinstance(name, (str, int))), None)


def named(found: list[Response], reading: Reading) -> tuple[dict[str, Response], str]:
    """Sort responses by the ids of their queries; say in words where these were found."""
    how = "the query is its text, " if all(map(_is_by_text, found)) else ""
    faults, queries = reading.faults, reading.options.queries
    nameless = [number for number, each in enumerate(found, 1) if each.query is None]
    if nameless and len(nameless) < len(found):
        message = f"response {nameless[0]} of {len(found)} does not name its query"
        faults.fail("bad-shape", message, NAMES, found[nameless[0] - 1].line)
    if nameless and queries is None:
        what = "these are search responses" if len(found) > 1 else "this is a search response"
        faults.fail("bad-shape", f"{what} without queries", NAMES)
    if queries is not None and nameless:
        found, how = _in_order(found, queries, faults)
    elif queries is not None and not all(str(each.query) in queries for each in found):
        found, how = _by_queries(found, queries, reading)
    result: dict[str, Response] = {}
    for each in found:
        add_query(result, each.query, each, faults, each.line)
    faults.check()
    return result, how


def _is_by_text(response: Response) -> bool:
    return response.words is not None and response.query == response.words


def _in_order(
    found: list[Response], queries: Queries, faults: Faults
) -> tuple[list[Response], str]:
    """Name responses without names: there is one for each query."""
    if len(queries) != len(found):
        message = f"{len(found)} responses, but {len(queries)} queries in {queries.name}"
        faults.fail("bad-shape", message, "give a query for each response, in their order")
    pairs = zip(found, queries, strict=True)
    how = f"the queries are those of {queries.name} in their order, "
    return [replace(each, query=query) for each, query in pairs], how


def _by_queries(
    found: list[Response], queries: Queries, reading: Reading
) -> tuple[list[Response], str]:
    """Name responses by the queries whose ids or texts they are known by."""
    lookup = _Lookup.of(queries)
    ids = [lookup.ids(each) for each in found]
    for each, some in zip(found, ids, strict=True):
        if len(some) > 1:
            message = f"{each.query!r} is the text of {some[0]!r} and {some[1]!r} in {queries.name}"
            reading.faults.fail("bad-shape", message, "name the responses by id", each.line)
    strange = [each.query for each, some in zip(found, ids, strict=True) if not some]
    words = ", ".join(map(repr, strange[:3]))
    if len(strange) == len(found):
        message = f"{queries.name} knows none of the queries that are answered: {words}"
        reading.faults.fail("bad-shape", message, "give their ids or their texts")
    by_text = any(
        some and some[0] != str(each.query) for each, some in zip(found, ids, strict=True)
    )
    if strange and by_text:
        message = f"{queries.name} lacks the queries of {len(strange)} responses: {words}"
        reading.remark("read-as", message, len(strange))
    pairs = zip(found, ids, strict=True)
    renamed = [replace(each, query=some[0]) if some else each for each, some in pairs]
    return renamed, f"the queries are those of {queries.name}, " if by_text else ""


@dataclass(frozen=True)
class _Lookup:
    """Queries by what may name them: their id, their text, or a text as files are named."""

    queries: Queries
    exact: Mapping[str, list[str]]
    folded: Mapping[str, list[str]]

    @classmethod
    def of(cls, queries: Queries) -> _Lookup:
        exact: dict[str, list[str]] = {}
        folded: dict[str, list[str]] = {}
        for query, text in queries.text.items():
            exact.setdefault(text, []).append(query)
            folded.setdefault(_folded(text), []).append(query)
        return cls(queries, exact, folded)

    def ids(self, response: Response) -> list[str]:
        """Return the queries that a response may answer: none, one, or several with one text."""
        names = [str(name) for name in (response.query, response.words) if name is not None]
        known = (
            *([name] for name in names if name in self.queries),
            *(self.exact[name] for name in names if name in self.exact),
            *(self.folded[_folded(name)] for name in names if _folded(name) in self.folded),
        )
        return next(iter(known), [])


def _folded(text: str) -> str:
    """Write a text as the name of a file may: without case and signs."""
    return re.sub(r"[\W_]+", " ", text).strip().casefold()


#: What messages call the engines that are known.
KNOWN = ", ".join(engine.name for engine in ENGINES)
