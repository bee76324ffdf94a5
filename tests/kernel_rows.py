"""Rows of generated runs, and the shapes they are given in: TREC text, dicts, columns, frames."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from faulty import LOOK_ALIKES, WORDS

QUERIES = ["q1", "q2", "q3", "é", "x#1", "2", "zz", "w"]
#: Ids that hashes, orders and readers of text may confuse; the first ones are queries, too.
DOCUMENTS = [
    "q1", "q2", "é", "x#1", "x#2", "x#10", "y#1", "a", "b", "c", "d1", "d2", "d10", "2", "10",
    "-7", "日本", "😀", "\ue000", "\u2028", "d\x1c", "d\x7f", "\xa0", '"\\', "#", "12345678",
    "123456789", "longer-document-id-0001", "longer-document-id-0002",
]  # fmt: skip
PLAIN = ["1", "2", "0.5", "0.1", "1e-3", "-1", "0", "-0", "12.345678901234567", "4.9e-324"]
CLOSE = ["1", "1.00000001", "1.00000002", "0.99999999", "16777216", "16777217", "1e-46", "0"]
WRITTEN = ["00.10", "+3", ".5", "5.", "1E2", "1e+2", "-.5e-1", "123456789012345678901234567890"]
HUGE = ["1e39", "-1e39", "3.4028236e38", "3.4028235e38", "1", "1e308", "2e39"]
INFINITE = ["inf", "-inf", "1e400", "-Infinity", "+inf", "1", "2", "1e39"]
NONFINITE = ["nan", "NaN", "-nan", *INFINITE]
SCORES = [PLAIN, PLAIN, CLOSE, CLOSE, WRITTEN, HUGE, INFINITE, NONFINITE]
BLANKS = [" ", " ", " ", "\t", "  ", "\x0b", "\x0c", " \t "]


class Row(NamedTuple):
    """A row as text holds it; not every shape shows all of it."""

    query: str
    document: str
    rank: str
    score: str
    tokens: float


def some_rows(rng: random.Random) -> list[Row]:
    """Draw rows: few or many, scores of one kind, documents once or again, queries apart or not."""
    scores, again = rng.choice(SCORES), rng.random() < 0.3
    rows: list[Row] = []
    for query in rng.sample(QUERIES, rng.randint(1, 5)):
        most = rng.choice([4, 8, 12]) if rng.random() < 0.95 else 200
        known = DOCUMENTS + [f"d{i}" for i in range(most)]
        size = rng.randint(0, min(most, len(known)))
        documents = rng.choices(known, k=size) if again else rng.sample(known, size)
        for place, document in enumerate(documents, rng.randint(0, 1)):
            rank = str(place) if rng.random() < 0.98 else rng.choice(["x", "1.5", "nan", "-3"])
            tokens = float(rng.choice([0, 1, 2, 3]))
            rows.append(Row(query, document, rank, rng.choice(scores), tokens))
    if rng.random() < 0.3:
        rng.shuffle(rows)
    return rows


def with_fault(rng: random.Random, rows: list[Row]) -> list[Row]:
    """Put something into one row that no number is, and no id."""
    i = rng.randrange(len(rows))
    changes: list[dict[str, Any]] = [
        {"score": rng.choice(LOOK_ALIKES + WORDS)},
        {"tokens": rng.choice([-1.0, 1e300, float("nan"), float("inf")])},
        {"rank": rng.choice(["x", "1.5", "nan", "inf", "1e400"])},
        {"document": rng.choice(["", "a b", "\ud800", "a\nb"])},
    ]
    return [*rows[:i], rows[i]._replace(**rng.choice(changes)), *rows[i + 1 :]]


def trec(rng: random.Random, rows: list[Row]) -> bytes:
    """Write the six columns of a run, or more."""
    lines = []
    for row in rows:
        cells = [row.query, "Q0", row.document, row.rank, row.score, "tag"]
        lines.append(joined(rng, [*cells, "more"] if rng.random() < 0.05 else cells))
    return text(rng, lines)


def msmarco(rng: random.Random, rows: list[Row]) -> bytes:
    """Write query, document and rank."""
    return text(rng, [joined(rng, [row.query, row.document, row.rank]) for row in rows])


def joined(rng: random.Random, cells: list[str]) -> str:
    before, after = (rng.choice(["", "", "", "", blank]) for blank in (" ", "\t"))
    return before + rng.choice(BLANKS).join(cells) + after


#: Lines of TREC text that hold no data.
NOTHING = ("# c", "", "  ", "#", "\t\x0b", "#\r")


def text(rng: random.Random, lines: list[str], others: Sequence[str] = NOTHING) -> bytes:
    """Join lines as some tool or editor does, with others between them that hold no data."""
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        lines.insert(rng.randint(0, len(lines)), rng.choice(others))
    end = rng.choice(["\n", "\n", "\n", "\r\n"])
    last = rng.choice([end, end, end, "", "\r", "\n\n"])
    mark = rng.choice(["", "", "", "", "\ufeff"])
    return (mark + end.join(lines).replace("#\r\r", "#\r") + last).encode(errors="surrogatepass")


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Cut bytes out of a text, or put some in that it must not have."""
    at = rng.randint(0, len(data))
    bad = [
        b"\x00", b"\r", b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80",
        b"\n", b" ", b"\xef\xbb\xbf", b"q1 0 a 1\n", b"{", b"query\tdocument\n",
    ]  # fmt: skip
    if rng.random() < 0.4:
        return data[:at] + data[rng.randint(at, len(data)) :]
    return data[:at] + rng.choice(bad) + data[at:]


def number(rng: random.Random, row: Row) -> Any:
    """Give a score as one of the numbers that Python has."""
    try:
        value = float(row.score)
    except ValueError:
        return row.score
    whole = int(value) if abs(value) < 1e30 and value == int(value) else value
    kinds = [value, value, value, value, np.float64(value), whole]
    with np.errstate(over="ignore"):
        return rng.choice([*kinds, np.float32(value)])


def identifier(rng: random.Random, name: str, numbers: bool) -> Any:
    """Give an id as text, or as a number where it is one."""
    digits = name.removeprefix("-")
    is_number = numbers and digits.isascii() and digits.isdigit()
    return rng.choice([int, int, int, str, np.int64])(name) if is_number else name


def by_query(rng: random.Random, rows: list[Row]) -> dict[Any, Any]:
    """Give dicts of documents, lists of them or of pairs by query, all alike or not."""
    shapes = [dict, dict, dict, "documents", "pairs"]
    shape, mixed, numbers = rng.choice(shapes), rng.random() < 0.1, rng.random() < 0.2
    listed: dict[Any, list[tuple[Any, Any]]] = {}
    for row in rows:
        query, document = (identifier(rng, name, numbers) for name in (row.query, row.document))
        listed.setdefault(query, []).append((document, number(rng, row)))
    if rng.random() < 0.1:
        listed["empty"] = []
    found = {}
    for query, entries in listed.items():
        kind = rng.choice(shapes) if mixed else shape
        found[query] = entries if kind == "pairs" else dict(entries)
        if kind == "documents":
            found[query] = [document for document, _ in entries]
    return found


def with_odd_thing(rng: random.Random, data: dict[Any, Any]) -> dict[Any, Any]:
    """Put one thing into a dict that is none of those it may hold, or only looks like one."""
    things = [
        None, True, "1.5", "x", "", 10**400, -(2**70), Decimal("1.5"), 1j, b"a", (), [], {}, set(),
        {"a"}, ("a", 1.0), ["a", 1.0], {"a": {"score": 1.0, "tokens": 2}}, 1.5, "\ud800",
        np.int64(3), np.str_("a"), np.float16(0.5), np.array([1.0]), range(2),
    ]  # fmt: skip
    thing, query = rng.choice(things), rng.choice([*data, "q1"])
    entries = data.get(query)
    places: list[Callable[[], Any]] = [lambda: {**data, query: thing}]
    if type(entries) is dict and entries:
        places.append(lambda: {**data, query: {**entries, rng.choice([*entries]): thing}})
    if isinstance(entries, list):
        places.append(lambda: {**data, query: [*entries, thing]})
        places.append(lambda: {**data, query: [*entries, ("a", thing)]})
    if thing.__hash__ is not None:
        places.append(lambda: {**data, thing: entries})
        places.append(lambda: {**data, query: {thing: 1.0}})
    return rng.choice(places)()  # type: ignore[no-any-return]


def columns(rng: random.Random, rows: list[Row]) -> dict[str, Any]:
    """Give one list a column; scores, ranks and tokens may be there or not."""
    numbers = rng.random() < 0.1
    found: dict[str, Any] = {
        "query": [identifier(rng, row.query, numbers) for row in rows],
        "document": [identifier(rng, row.document, numbers) for row in rows],
    }
    if rng.random() < 0.8:
        found["score"] = [number(rng, row) for row in rows]
    if rng.random() < 0.5:
        found["rank"] = [number(rng, row._replace(score=row.rank)) for row in rows]
    if rng.random() < 0.6:
        found["tokens"] = [row.tokens for row in rows]
    return found


def arrays(rng: random.Random, rows: list[Row]) -> dict[str, Any]:
    """Give columns as arrays of NumPy, where that changes none of their cells."""
    return {
        key: column if len(set(map(type, column))) > 1 or not column else np.array(column)
        for key, column in columns(rng, rows).items()
    }


def records(rng: random.Random, rows: list[Row]) -> list[Any]:
    """Give a tuple or a dict a row."""
    if rng.random() < 0.5:
        return [(row.query, row.document, number(rng, row)) for row in rows]
    found = columns(rng, rows)
    return [dict(zip(found, cells, strict=True)) for cells in zip(*found.values(), strict=True)]


def frame(rng: random.Random, rows: list[Row]) -> Any:
    """Give a table in any layout of a library; plain columns where it takes none of these cells."""
    found = columns(rng, rows)
    if not all(map(find_spec, LIBRARIES)):
        return found
    layouts = import_module("column_layouts").PLAIN
    try:
        return layouts[rng.choice(sorted(layouts))](found)
    except Exception:  # each library has errors of its own for what does not fit
        return found


LIBRARIES = ["pandas", "polars", "pyarrow", "duckdb"]
