"""Documents and scores of responses: which field is the id, and which score is better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from idealist.data.columns import to_float, to_id
from idealist.formats.cells import shown
from idealist.formats.column_names import naming_option, refuse_choice
from idealist.formats.engines.table import (
    INFERRED,
    Direction,
    Engine,
    Score,
    at,
    list_of,
    total_of,
    trouble_in,
)
from idealist.formats.reading import Reading

if TYPE_CHECKING:
    from idealist.formats.engines.responses import Response

AGAIN = "search again, and save the whole response"
Hits = dict[str, list[Any]]


def by_query(responses: Mapping[str, Response], how: str, reading: Reading) -> Hits:
    """Return documents by query, with their scores, or just in order where no score ranks them.

    `how` says where the queries were found.
    """
    whole = {query: _whole(query, response) for query, response in responses.items()}
    engines = {each.engine.name: each.engine for each in responses.values() if each.engine}
    if len(engines) != 1:
        both = " and ".join(engines)
        reading.faults.fail("bad-shape", f"these are responses of {both}", "give them one by one")
    (engine,) = engines.values()
    return ranked(whole, engine, reading, how)


def _whole(query: str, response: Response) -> list[Any]:
    """Return a response's hits; refuse a response that failed or is incomplete."""
    body, engine, faults, line = response.body, response.engine, response.faults, response.line
    if engine is None:
        why = next(body[key] for key in ("error", "errors", "message") if body.get(key))
        faults.fail("failed-search", f"query {query!r} failed: {shown(why)}", AGAIN, line)
    if words := trouble_in(body, engine)[1]:
        faults.fail("failed-search", f"query {query!r} {words}", AGAIN, line)
    return listed(query, response, engine)


def listed(query: str, response: Response, engine: Engine) -> list[Any]:
    """Return a response's hits, whether or not all are there."""
    body, faults, line = response.body, response.faults, response.line
    groups, hint = engine.grouped
    if groups and at(body, groups) is not None:
        faults.fail(
            "bad-shape", f"query {query!r}: the hits of {engine.name} are in groups", hint, line
        )
    hits = list_of(body, engine)
    total = total_of(body, engine)
    if hits is None and (engine.omits or total == 0):
        return []
    if hits is None:
        message = f"query {query!r}: the response of {engine.name} has no list of hits"
        faults.fail("bad-shape", f"{message}: {shown(body)}", AGAIN, line)
    if total and not hits:
        message = f"query {query!r}: the response lists none of the {total} documents found"
        faults.fail("failed-search", message, "ask for hits: size, rows, limit or per_page", line)
    kind = list if engine.in_rows else Mapping
    if not all(isinstance(hit, kind) for hit in hits):
        wrong = next(hit for hit in hits if not isinstance(hit, kind))
        faults.fail("bad-shape", f"query {query!r}: cannot read {shown(wrong)}", AGAIN, line)
    return list(hits)


def ranked(found: Hits, engine: Engine, reading: Reading, how: str = "") -> Hits:
    """Take documents and scores out of hits, and remark on what was taken for what."""
    key, ids = _ids(found, engine, reading)
    score, scores, why = _scores(found, engine, reading)
    if not engine.is_ours or how or why or "document" in reading.options.columns:
        words = f"the score is {_plain(score.path)}" if score else "their order ranks them"
        message = f"read as responses of {engine.name}: {how}the document is {key}, {words}{why}"
        reading.remark("read-as", message)
    if score is None:
        return ids
    return {q: list(zip(ids[q], scores[q], strict=True)) for q in found}


def as_sent(listed: list[Any], engine: Engine, reading: Reading) -> list[tuple[Any, Any]]:
    """Take documents and scores out of one answer, whatever its order; larger is better then.

    A score that is declared as either is a distance where it rises.
    """
    ids, (known, score) = (
        _ids({"": listed}, engine, reading)[1][""],
        _score(listed, engine, reading),
    )
    score = score or next(
        (s for s in known if any(at(one, s.path) is not None for one in listed)), None
    )
    raw = [None if score is None else at(one, score.path) for one in listed]
    if score is None or None in raw:
        return list(zip(ids, raw, strict=True))
    better = _better(score, engine)
    try:
        numbers = list(map(to_float, raw))
    except (TypeError, ValueError, OverflowError):  # which the caller refuses
        return list(zip(ids, raw, strict=True))
    if not _is_exact(raw, numbers):
        return [(one, None) for one in ids]
    rises = all(a <= b for a, b in pairwise(numbers)) and numbers[0] < numbers[-1]
    sign = -1 if better == "smaller" or (better == "either" and rises) else 1
    return [(one, sign * number) for one, number in zip(ids, numbers, strict=True)]


def _ids(found: Hits, engine: Engine, reading: Reading) -> tuple[str, Hits]:
    """Find the field that is the id of every hit; return its name, and the ids."""
    given = reading.told("document")
    hits = [hit for listed in found.values() for hit in listed]
    paths = paths_of(given, engine) if given else [*engine.ids]
    if INFERRED in paths:
        inferred = _inferred(hits)
        if len(inferred) > 1 and not any(at(hit, paths[0]) is not None for hit in hits):
            refuse_choice("document", inferred[:3], reading.faults)
        paths = [path for path in paths if path != INFERRED] + inferred[:1]
    path = next((path for path in paths if any(at(hit, path) is not None for hit in hits)), None)
    path = path or (paths or [INFERRED])[0]
    ids = {q: [at(hit, path) for hit in listed] for q, listed in found.items()}
    for query, hit in _without(ids, found):
        message = f"query {query!r}: cannot read {shown(hit)}: a hit has no {_plain(path)}"
        reading.faults.fail("bad-shape", message, _candidates(hits, engine))
    if given or engine.plain_id is None:
        return _plain(path), ids
    plain = {q: [engine.plain_id(one) for one in listed] for q, listed in ids.items()}
    for query, one in _without(plain, ids):
        message = f"query {query!r}: {shown(one)} is not the id of a document of {engine.name}"
        reading.faults.fail("bad-shape", message, _candidates(hits, engine))
    return f"the last part of {_plain(path)}", plain


def _without(ids: Hits, found: Hits) -> Iterator[tuple[str, Any]]:
    """Yield what was found where there is no id."""
    for query, listed in ids.items():
        if None in listed:
            yield query, found[query][listed.index(None)]


def paths_of(names: Sequence[str], engine: Engine) -> list[str]:
    """Return the paths that names of the user's may mean: of a hit, or of its own fields."""
    starts = ("", f"{engine.fields}/") if engine.fields else ("",)
    return [
        f"{start}{path}"
        for name in names
        for start in starts
        for path in dict.fromkeys([name, name.replace(".", "/")])
    ]


def _inferred(hits: list[Any]) -> list[str]:
    """Find the fields of every hit whose names end with id."""
    names = [name for name in (hits[0] if hits else ()) if str(name).lower().endswith("id")]
    return [name for name in names if all(_is_id(hit.get(name)) for hit in hits)]


def _is_id(found: Any) -> bool:
    try:
        return bool(to_id(found))
    except (TypeError, ValueError):
        return False


def _candidates(hits: list[Any], engine: Engine) -> str:
    """Name the fields that could be ids: every hit has them, and no two within reach agree."""
    flat = [{**hit, **(at(hit, engine.fields) or {})} if engine.fields else hit for hit in hits]
    names = [
        name for name in (flat[0] if flat else {})
        if all(_is_id(hit.get(name)) for hit in flat)
        and len({str(hit[name]) for hit in flat}) > len(flat) // 2
    ]  # fmt: skip
    known = {*engine.ids, *(score.path for score in engine.scores)}
    names = [name for name in names if name not in known] or [n for n in names if n in engine.ids]
    if not names:
        return "ask the engine to return the field that holds the id"
    return f"say which field is the id: {naming_option('document', names[:1])}" + (
        f"; others could be {', '.join(names[1:4])}" if names[1:] else ""
    )


def _scores(found: Hits, engine: Engine, reading: Reading) -> tuple[Score | None, Hits, str]:
    """Find the score that every hit has and that agrees with the order; the reason, if another."""
    hits = [hit for listed in found.values() for hit in listed]
    known, score = _score(hits, engine, reading)
    if engine.is_ours and any("sort" in hit for hit in hits):
        return None, {}, ", because a sort put them in it"
    if score is None:
        some = [one for one in known if any(at(hit, one.path) is not None for hit in hits)]
        return None, {}, f", because some hits have no {_plain(some[0].path)}" if some else ""
    better = _better(score, engine)
    raw = {q: [at(hit, score.path) for hit in listed] for q, listed in found.items()}
    return _directed(score, better, raw)


def _score(
    hits: list[Any], engine: Engine, reading: Reading
) -> tuple[Sequence[Score], Score | None]:
    """Return the scores that hits may have, and the first that all of them have."""
    given = reading.told("score")
    known = [Score(path, "either") for path in paths_of(given, engine)] if given else engine.scores
    score = next((one for one in known if all(at(hit, one.path) is not None for hit in hits)), None)
    if given and score is None:
        reading.faults.fail(
            "missing-column",
            f"some hits have no {' or '.join(given)}",
            "name a field that all hits have",
        )
    return known, score


def _better(score: Score, engine: Engine) -> Direction:
    """Say which is better by the engine's entry, also of a score that a user named."""
    return next((one.better for one in engine.scores if one.path == score.path), score.better)


def _directed(score: Score, better: Direction, raw: Hits) -> tuple[Score | None, Hits, str]:
    try:
        numbers = {q: list(map(to_float, cells)) for q, cells in raw.items()}
    except (TypeError, ValueError, OverflowError):
        return score, raw, ""  # reported as a bad score
    listed = [number for numbers_of in numbers.values() for number in numbers_of]
    if any(map(math.isnan, listed)):
        return score, raw, ""
    if not all(_is_exact(raw[q], numbers[q]) for q in raw):
        return None, {}, f", because {_plain(score.path)} has more digits than a number holds"
    falling = [q for q, cells in numbers.items() if all(a >= b for a, b in pairwise(cells))]
    rising = [q for q, cells in numbers.items() if all(a <= b for a, b in pairwise(cells))]
    if len(falling) == len(raw) and better != "smaller":
        return score, raw, ""
    if len(rising) == len(raw) and better != "larger":
        negated = {q: [-number for number in cells] for q, cells in numbers.items()}
        return score, negated, ", where smaller is better"
    where = next(q for q in raw if q not in (rising if better == "smaller" else falling))
    return None, {}, f", because {_plain(score.path)} does not follow it in query {where!r}"


def _is_exact(raw: list[Any], numbers: list[float]) -> bool:
    """Whether whole numbers beyond 2^53 stay apart."""
    return len(set(map(str, raw))) == len(set(numbers)) or not any(
        isinstance(cell, int) and abs(cell) > 2**53 for cell in raw
    )


def _plain(path: str) -> str:
    return path.replace("/", ".")
