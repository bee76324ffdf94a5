"""Judgments in a store, which `idealist judge` keeps: read as those of a file are."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

import numpy as np

from idealist.data import Qrels, Queries, Scale
from idealist.data.columns import freeze
from idealist.data.judgments import JudgeRows
from idealist.data.remarks import Remark
from idealist.errors import Faults, UsageError, nearest
from idealist.formats.document_entries import DocumentText
from idealist.formats.judges import PROPOSED, RULES, merged
from idealist.formats.reading import ReadOptions
from idealist.formats.sqlite_files import is_sqlite, read, refuse_damage
from idealist.notation import many

#: What tells a store from other files of SQLite, "IDLS", and the version of its tables.
APPLICATION, VERSION = 0x49444C53, 2
#: The oldest version whose judgments and texts are read as those of today are.
OLDEST = 1
#: Who may judge, in the order in which they are believed: of one pair, only the first kind counts.
KINDS = ("human", "import", "clicks", "model")
#: How many models are named where grades are theirs.
MODELS_NAMED = 3

Pair: TypeAlias = tuple[str, str]
T = TypeVar("T")


class Address(NamedTuple):
    """A store, and the one judge or kind of judges in it that is meant, if any."""

    path: Path
    only: str = ""

    def __str__(self) -> str:
        return f"{self.path}#{self.only}" if self.only else str(self.path)


def store_address(data: Any) -> Address | None:
    """Recognise a store, or any other file of SQLite; a judge may be named behind it.

    >>> store_address("qrels.txt") is None
    True
    """
    if not isinstance(data, (str, PathLike)):
        return None
    path = fspath(data)
    signs = [at for at, sign in enumerate(path) if sign == "#"]
    for at in (len(path), *signs):
        if is_sqlite(Path(path[:at])):
            return Address(Path(path[:at]), path[at + 1 :])
    return None


def check_store(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file of SQLite that is not a store, or not one that this release knows."""
    faults = Faults(str(path))
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("application_id", "user_version")
    )
    if application != APPLICATION:
        message = "this is a database of SQLite, but not a store of judgments"
        faults.fail("bad-shape", message, f"make one: idealist judge init {path}-new.db")
    if version > VERSION:
        message = f"a newer idealist wrote this store: version {version} of its tables"
        hint = f"update idealist: this one knows versions up to {VERSION}"
        faults.fail("bad-shape", message, hint)
    if version < OLDEST:
        message = f"an older idealist wrote this store: version {version} of its tables"
        faults.fail("bad-shape", message, f"bring it up to date: idealist judge status {path}")


def _checked(path: Path, use: Callable[[sqlite3.Connection], T]) -> T:
    def checked(connection: sqlite3.Connection) -> T:
        check_store(connection, path)
        return use(connection)

    return read(path, checked)


def stored_qrels(address: Address, options: ReadOptions) -> Qrels:
    """Read the judgments of a store that count."""
    scale = None if options.scale is None else Scale.of(options.scale)
    made = partial(qrels_of, address=address, merge=options.merge, scale=scale)
    return _checked(address.path, made)


def stored_queries(address: Address) -> Queries:
    """Read the queries of a store."""
    return _checked(address.path, partial(queries_of, name=str(address)))


def stored_texts(
    address: Address, ids: Iterable[str], few: int
) -> tuple[dict[str, DocumentText], tuple[str, ...]]:
    """Look up the texts of some documents in a store, and name a few that it has."""

    def found(connection: sqlite3.Connection) -> tuple[dict[str, DocumentText], tuple[str, ...]]:
        asked = "SELECT DISTINCT document FROM document LIMIT ?"
        first = tuple(one for (one,) in connection.execute(asked, (few,)))
        return texts_of(connection, ids), first

    return _checked(address.path, found)


def judges_behind(address: Address) -> dict[Pair, frozenset[str]]:
    """Find who gave the grades that count, by pair."""

    def found(connection: sqlite3.Connection) -> dict[Pair, frozenset[str]]:
        counting, _ = _counting(*_told_apart(_rows(connection, address)))
        said: dict[Pair, set[str]] = {}
        for row in counting:
            said.setdefault((row.query, row.document), set()).add(row.judge)
        return {pair: frozenset(judges) for pair, judges in said.items()}

    return _checked(address.path, found)


def setting(connection: sqlite3.Connection, name: str) -> str:
    """Return what was last set, or nothing."""
    asked = "SELECT value FROM setting WHERE name = ? ORDER BY id DESC LIMIT 1"
    found = connection.execute(asked, (name,)).fetchone()
    return found[0] if found else ""


def scale_of_store(connection: sqlite3.Connection) -> Scale | None:
    """Return the scale of a store, if one is declared."""
    written = setting(connection, "scale")
    if not written:
        return None
    grades, labels = json.loads(written)
    return Scale(tuple(grades), tuple(labels))


def queries_of(connection: sqlite3.Connection, name: str) -> Queries:
    """Read the queries: of each, what was said last."""
    asked = (
        "SELECT query, text, columns FROM query "
        "WHERE id IN (SELECT MAX(id) FROM query GROUP BY query) ORDER BY id"
    )
    text, columns = dict[str, str](), dict[str, dict[str, Any]]()
    for query, words, cells in connection.execute(asked):
        text[query] = words
        for key, cell in json.loads(cells).items():
            columns.setdefault(key, {})[query] = cell
    return Queries(text, columns, name)


def texts_of(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, DocumentText]:
    """Look up documents: of each, the text that was added last."""
    asked = (
        "SELECT title, body FROM document JOIN text ON text.hash = document.text "
        "WHERE document = ? ORDER BY id DESC LIMIT 1"
    )
    found = ((one, connection.execute(asked, (one,)).fetchone()) for one in ids)
    return {one: DocumentText(*row) for one, row in found if row is not None}


#: The grade of a document that was pooled and not drawn.
UNDRAWN = -1.0


class _Row(NamedTuple):
    """A judgment that stands: no later one of the same judge replaces it, and none undoes it."""

    query: str
    document: str
    grade: float | None
    judge: str = ""
    kind: str = KINDS[0]
    status: str = "graded"
    adjudicates: int = 0


_PAIR = itemgetter(0, 1)


class _Chance(NamedTuple):
    """What is known of a pooled document: its probability of being drawn, and whether it was."""

    stratum: str
    inclusion: float | None
    drawn: int


def qrels_of(
    connection: sqlite3.Connection, address: Address, merge: str = "", scale: Scale | None = None,
    sampled: bool = False,
) -> Qrels:  # fmt: skip
    """Make judgments of what counts in a store.

    Of one pair, an adjudication counts alone, or else what the first kind of `KINDS` said.
    """
    alone, by_pair = _told_apart(_rows(connection, address))
    counting, remarks = _counting(alone, by_pair)
    graded = [row for row in counting if row.grade is not None]
    if not graded:
        _refuse_empty(connection, address)
    remarks += _of_models(graded)
    pool = _pool(connection)
    if sampled and not pool:
        hint = f"draw one: idealist judge pool {address.path} RUN... --by sampled --budget N"
        raise UsageError(f"no sample was drawn for {address.path}", hint)
    said = _as_drawn(graded, pool) if sampled else graded
    given = {
        "query": [row.query for row in said], "document": [row.document for row in said],
        "grade": [row.grade for row in said], "subtopic": None,
        "columns": {"judge": [row.judge for row in said], **_sample(said, pool, sampled)},
        "scale": _scale(scale or scale_of_store(connection), sampled), "lines": None, "empty": (),
        "ungraded": len(counting) - len(graded), "name": str(address), "ignored": [],
        "remarks": remarks,
    }  # fmt: skip
    made = merged(given, merge or setting(connection, "merge") or PROPOSED)
    pooled = connection.execute("SELECT EXISTS (SELECT 1 FROM batch)").fetchone()[0]
    meant = "pooled" if pooled else ""
    if sampled or any(row.adjudicates for row in counting):  # of which `merged` knows nothing
        made = replace(made, judged_by=_judge_rows(by_pair, made))
    return replace(made, meant=meant)


def _judge_rows(by_pair: Mapping[Pair, Sequence[_Row]], made: Qrels) -> JudgeRows | None:
    """Keep what each of several judges said, adjudicated or not, of the kind that counts."""
    said: list[tuple[int, _Row]] = []
    for (query, document), own in by_pair.items():
        graded = [row for row in own if row.grade is not None and not row.adjudicates]
        first = _first_kind(graded) if graded else []
        if len(first) > 1 and document in made.lookup.get(query, ()):
            said += [(made.lookup[query][document], row) for row in first]
    if not said:
        return None
    said.sort(key=itemgetter(0))  # of each pair, in the order they came
    return JudgeRows(
        freeze(np.array([pair for pair, _ in said], dtype=np.int64)),
        tuple(row.judge for _, row in said),
        freeze(np.array([row.grade for _, row in said], dtype=np.float64)),
    )


def grades_of(connection: sqlite3.Connection, query: str, unclear: float) -> dict[str, float]:
    """Return the grades of a query that people gave; `unclear` is that of what none could tell."""
    people = f"query = ? AND kind IN {KINDS[:2]}"
    asked = f"SELECT {', '.join(_Row._fields)} FROM current_judgment WHERE {people} ORDER BY id"
    said: dict[str, list[float]] = {}
    rows = map(_Row._make, connection.execute(asked, (query,)))
    for row in _counting(*_told_apart(rows))[0]:
        said.setdefault(row.document, []).append(unclear if row.grade is None else row.grade)
    rule = RULES[setting(connection, "merge") or PROPOSED]
    return {document: rule(grades) for document, grades in said.items()}


def _scale(scale: Scale | None, sampled: bool) -> Scale | None:
    """Let a document that was not drawn be on the scale."""
    if scale is None or not sampled or UNDRAWN in scale.grades:
        return scale
    labels = ("not drawn", *scale.labels) if scale.labels else ()
    return Scale((UNDRAWN, *scale.grades), labels)


def _rows(connection: sqlite3.Connection, address: Address) -> list[_Row]:
    """Read the judgments that stand, of those who are meant."""
    asked = f"SELECT {', '.join(_Row._fields)} FROM every_current_judgment ORDER BY id"
    return _only(_checked_rows(connection.execute(asked), address.path), address)


def _checked_rows(found: Iterable[tuple[Any, ...]], path: Path) -> list[_Row]:
    """Refuse cells that no store holds; where a file is damaged, SQLite does not."""
    rows = list(map(partial(tuple.__new__, _Row), found))
    query, document, grade, judge, kind, *_ = zip(*rows, strict=True) if rows else [()] * 5
    texts = {*map(type, query), *map(type, document), *map(type, judge)}
    if not (texts <= {str} and {*map(type, grade)} <= {float, type(None)} and {*kind} <= {*KINDS}):
        refuse_damage(path, "a judgment cannot be read")
    return rows


def _only(rows: list[_Row], address: Address) -> list[_Row]:
    """Keep the judgments of one judge, adjudications aside, or of one kind of judges."""
    if not address.only:
        return rows
    if address.only in KINDS:
        return [row for row in rows if row.kind == address.only]
    kept = [row for row in rows if row.judge == address.only and not row.adjudicates]
    if not kept:
        judges = sorted({row.judge for row in rows if not row.adjudicates})
        hint = nearest(address.only, [*judges, *KINDS])
        message = f"nobody by the name of {address.only!r} has judged in this store"
        if decided := sum(row.judge == address.only for row in rows):
            some = many(decided, "pair", "pairs")
            message = f"{address.only!r} has adjudicated {some} in this store, and judged none"
        Faults(str(address.path)).fail("empty", message, hint)
    return kept


def _counting(
    alone: Sequence[_Row], by_pair: Mapping[Pair, Sequence[_Row]]
) -> tuple[list[_Row], list[Remark]]:
    """Return the judgments that count, and say what decided it."""
    counting, adjudicated, ranked = [*alone], 0, 0
    for own in by_pair.values():
        if decided := [row for row in own if row.adjudicates]:
            counting.append(decided[-1])
            adjudicated += 1
            continue
        graded = [row for row in own if row.grade is not None] or own[:1]
        kept = _first_kind(graded)
        ranked += len(kept) < len(graded)
        counting += kept
    return counting, list(_remarks(adjudicated, ranked))


def _told_apart(rows: Iterable[_Row]) -> tuple[list[_Row], dict[Pair, list[_Row]]]:
    """Part pairs that one judge judged, as most are, from the others, sorted by pair."""
    said = [row for row in rows if row.status != "later"]  # what was put off was not said
    times = Counter(map(_PAIR, said))
    alone, others = list[_Row](), list[_Row]()
    for row in said:
        (others if row.adjudicates or times[_PAIR(row)] > 1 else alone).append(row)
    return alone, _by_pair(others)


def _by_pair(rows: Iterable[_Row]) -> dict[Pair, list[_Row]]:
    """Sort what was said by what it is of."""
    found: dict[Pair, list[_Row]] = {}
    for row in rows:
        found.setdefault(_PAIR(row), []).append(row)
    return found


def _first_kind(rows: Sequence[_Row]) -> list[_Row]:
    """Keep the judgments of those who are believed most."""
    first = min({row.kind for row in rows}, key=KINDS.index)
    return [row for row in rows if row.kind == first]


def _remarks(adjudicated: int, ranked: int) -> Iterator[Remark]:
    if adjudicated:
        some = many(adjudicated, "pair was", "pairs were")
        yield Remark("judges", f"{some} adjudicated: the adjudication counts", adjudicated)
    if ranked:
        some = many(ranked, "pair was", "pairs were")
        words = f"{some} judged by several kinds of judges: of {', '.join(KINDS)}, the first counts"
        yield Remark("judges", words, ranked)


def _of_models(graded: Sequence[_Row]) -> Iterator[Remark]:
    """Say how many of the pairs have a model's grade: people often grade otherwise."""
    by = {(row.query, row.document): row.judge for row in graded if row.kind == "model"}
    if not by:
        return
    pairs = {(row.query, row.document) for row in graded}
    who = ", ".join(sorted({*by.values()})[:MODELS_NAMED])
    who += ", …" if len({*by.values()}) > MODELS_NAMED else ""
    if len(by) == len(pairs):
        some = f"all {len(pairs):,} grades are" if len(pairs) > 1 else "the only grade is"
        words, severity = f"{some} by a model ({who})", "note"
    else:
        are = "is" if len(by) == 1 else "are"
        words = f"{len(by):,} of {len(pairs):,} grades {are} by a model ({who}), others are not: "
        words, severity = f"{words}values by people cannot be compared with these", "warning"
    yield Remark("model-grades", words, len(by), severity, len(pairs))


def _refuse_empty(connection: sqlite3.Connection, address: Address) -> NoReturn:
    said = connection.execute("SELECT COUNT(*) FROM judgment").fetchone()[0]
    some = f": of {many(said, 'row', 'rows')}, none is a grade that stands" if said else ""
    if address.only:
        kinds = f"SELECT DISTINCT kind FROM judgment WHERE kind IN {KINDS} AND grade IS NOT NULL"
        found = {kind for (kind,) in connection.execute(kinds)}
        message = f"no grade in this store is by {address.only!r}"
        hint = f"there are grades by: {', '.join(one for one in KINDS if one in found)}"
        Faults(str(address.path)).fail("empty", message, hint if found else "")
    hint = (
        f"judge: idealist judge next {address.path}; or idealist judge import {address.path} FILE"
    )
    message = f"there are no judgments in this store yet{some}"
    Faults(str(address.path)).fail("empty", message, hint)


def _pool(connection: sqlite3.Connection) -> dict[Pair, _Chance]:
    """Find what each query's last sample was drawn from, and with which probabilities."""
    asked = (
        "SELECT query, document, stratum, inclusion, place IS NOT NULL OR inclusion = 1 "
        "FROM pooled JOIN ("
        "SELECT query AS own, MAX(batch) AS last FROM pooled WHERE inclusion IS NOT NULL "
        "GROUP BY query) ON query = own AND batch = last"
    )
    return {
        (query, document): _Chance(*about) for query, document, *about in connection.execute(asked)
    }


def _as_drawn(graded: Sequence[_Row], pool: Mapping[Pair, _Chance]) -> list[_Row]:
    """Keep what the sample asked for; what it left out was not drawn, even if it is judged."""
    drawn = [row for row in graded if (one := pool.get((row.query, row.document))) and one.drawn]
    known = {(row.query, row.document) for row in drawn}
    return [*drawn, *(_Row(*pair, UNDRAWN) for pair in pool if pair not in known)]


def _sample(
    rows: Sequence[_Row], pool: Mapping[Pair, _Chance], sampled: bool
) -> dict[str, list[Any]]:
    """Return the column `inclusion` of what was drawn; with a whole sample, its strata."""
    if not pool:
        return {}
    nothing = _Chance("", None, 0)
    about = [pool.get((row.query, row.document), nothing) for row in rows]
    if not sampled:  # what the sample left out was judged for another reason
        about = [one if one.drawn else nothing for one in about]
    found: dict[str, list[Any]] = {"stratum": [one.stratum for one in about]} if sampled else {}
    if any(one.inclusion is not None for one in about):
        found["inclusion"] = [math.nan if one.inclusion is None else one.inclusion for one in about]
    return found
