"""Judgments on which both kernels must agree: as TREC text, in columns, with anything unusual."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from idealist.data import Qrels
from idealist.errors import IdealistError
from idealist.formats import read_qrels
from kernel_cases import Outcome, said

Row = tuple[str, str, str, str]

QUERIES = ["q1", "q2", "q10", "é", "7", "07", "日本", "q\U0001f600", "#no"]
#: Ids that differ before, at and behind their eighth byte, and where UTF-16 has another order.
DOCUMENTS = [
    "d1", "d2", "d10", "D1", "12345678", "123456789", "1234567", "12345678é", "document-1",
    "document-10", "document-2", "\uffee", "\U0001f600", "a\\b", 'quo"te', "é", "e\u0301", "\x7f",
]  # fmt: skip
GRADES = ["0", "1", "2", "3", "1", "0", "-1", "1.0", "0.5", "1e-5", "-0", "+2", "01", "1e9"]
ODD_GRADES = ["x", "nan", "inf", "1_000", "1e10", "", "1e400", "0x1", "٣"]
ITERATIONS = ["0", "0", "0", "Q0", "1", "s1"]


@dataclass(frozen=True)
class JudgmentsCase:
    """Judgments as text and as rows; `kind` says which of them, and how, is read."""

    kind: str
    text: bytes
    rows: tuple[Row, ...]
    scale: Any = None

    def data(self, folder: Path) -> Any:
        """Give what is to be read."""
        if self.kind == "trec":
            path = folder / "case.qrels"
            path.write_bytes(self.text)
            return path
        query, _, document, grade = map(list, zip(*self.rows, strict=True))
        columns: dict[str, Any] = {"query": query, "document": document, "grade": _numbers(grade)}
        if self.kind == "dict":
            made: dict[Any, Any] = {}
            for q, d, g in zip(query, document, columns["grade"], strict=True):
                made.setdefault(int(q) if q == "7" else q, {})[d] = int(g) if g == g // 1 else g
            return made
        if self.kind == "arrays":
            return {name: np.array(cells) for name, cells in columns.items()}
        return pd.DataFrame(columns) if self.kind == "frame" else pa.table(columns)


def _numbers(cells: list[str]) -> list[float]:
    return [float(cell) if cell in GRADES or cell in ("nan", "inf") else 1e10 for cell in cells]


def some_judgments_case(rng: random.Random) -> JudgmentsCase:
    """Draw a case; about half have nothing unusual."""
    iterations = ["0"] if rng.random() < 0.7 else [rng.choice(ITERATIONS), rng.choice(ITERATIONS)]
    queries = rng.sample(QUERIES[:-1], rng.randint(1, 4))
    pairs = [
        (query, rng.choice(iterations), document, rng.choice(GRADES))
        for query in queries
        for document in rng.sample(DOCUMENTS, rng.randint(1, 8))
    ]
    if rng.random() < 0.5:
        rng.shuffle(pairs)
    for _ in range(rng.choice([0, 0, 0, 1, 3])):  # repeated, and sometimes contradicted
        query, iteration, document, grade = rng.choice(pairs)
        grade = grade if rng.random() < 0.8 else rng.choice(GRADES)
        pairs.insert(rng.randrange(len(pairs) + 1), (query, iteration, document, grade))
    if rng.random() < 0.2:
        place = rng.randrange(len(pairs))
        pairs[place] = (*pairs[place][:3], rng.choice(ODD_GRADES))
    kind = rng.choice(["trec", "trec", "trec", "arrays", "frame", "arrow", "dict"])
    scale = rng.choice([None, None, None, 3, [0, 1]])
    return JudgmentsCase(kind, _text(rng, pairs), tuple(pairs), scale)


def _text(rng: random.Random, rows: list[Row]) -> bytes:
    gap, end = rng.choice([" ", " ", "\t", "  \t"]), rng.choice(["\n", "\n", "\r\n"])
    lines = [gap.join(row) for row in rows]
    if rng.random() < 0.3:
        odd = ["", "# a comment", "   ", "q1 0 d1", "q1 0 d1 1 more", " q2 0 d77 1 ", "#no 0 d1 1"]
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(odd))
    text = (end.join(lines) + (end if rng.random() < 0.8 else "")).encode()
    if rng.random() < 0.1:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice([b"\xff", b"\x00", b"\r", b"\n\n", b"\xc3", b" "]) + text[at:]
    return (b"\xef\xbb\xbf" if rng.random() < 0.1 else b"") + text


def outcome(case: JudgmentsCase, data: Any, kernel: str) -> Outcome:
    """Say what one kernel makes of judgments: all that they hold, or the error."""
    os.environ["IDEALIST_KERNEL"] = kernel
    try:
        return facts_of(read_qrels(data, scale=case.scale))
    except IdealistError as error:
        return said(error)


def facts_of(qrels: Qrels) -> Outcome:
    """Give all that judgments hold, so that equal bytes are equal."""
    return {
        "queries": qrels.queries, "starts": qrels.starts.tolist(),
        "documents": tuple(qrels.documents), "grades": qrels.grades.tobytes(),
        "columns": {key: tuple(map(str, cells)) for key, cells in qrels.columns.items()},
        "subtopics": qrels.subtopics and qrels.subtopics.subtopic, "scale": qrels.scale,
        "repeats": qrels.repeats, "ungraded": qrels.ungraded, "name": qrels.name,
        "remarks": qrels.remarks, "hash": qrels.hash,
        "only": qrels.only(qrels.queries[:1]).hash, "nonzero": qrels.nonzero.hash,
    }  # fmt: skip


def both(case: JudgmentsCase, folder: Path) -> tuple[Outcome, Outcome]:
    """Give what the definition makes of a case, and what the compiled kernel does."""
    data = case.data(folder)
    return outcome(case, data, "python"), outcome(case, data, "native")


def smaller(case: JudgmentsCase) -> Iterator[JudgmentsCase]:
    """Give cases that are the same less one row or line."""
    lines = case.text.splitlines(keepends=True)
    for i in range(max(len(lines), len(case.rows))):
        rest = b"".join(lines[:i] + lines[i + 1 :]), case.rows[:i] + case.rows[i + 1 :]
        if all(rest):
            yield replace(case, text=rest[0], rows=rest[1])
