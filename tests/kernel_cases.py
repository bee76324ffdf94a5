"""Cases on which both kernels must agree, what each makes of one, and where they differ."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

import generated
from faulty import COMPRESSED
from idealist.data import Qrels, Run
from idealist.errors import IdealistError, InputError, UsageError
from idealist.formats import borrowed_run, contents, read_qrels, read_run, source
from idealist.formats.source import BLOCK, HEAD, Source
from idealist.protocol import Protocol
from idealist.ranking.order import Ranking
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked, listing
from kernel_rows import (
    DOCUMENTS,
    QUERIES,
    Row,
    arrays,
    by_query,
    columns,
    damaged,
    frame,
    msmarco,
    records,
    some_rows,
    trec,
    with_fault,
    with_odd_thing,
)

#: Every axis with all its values; of patterns, numbers and seeds a few.
AXES: dict[str, list[Any]] = {
    **generated.AXES,
    "order": ["score", "score", "score", "rank", "given"],
    "ties": [*generated.AXES["ties"], "expected", "error", "random(7)", "random(-3)"],
    "nonfinite": ["error", "as_is", "last"],
    "depth": ["none", "none", "none", 1, 2, 3, "tokens(5)", "chunks(2)", "chunks(1)"],
    "negative": ["allow", "drop", "error"],
    "collapse": ["none", "none", r"#\d+", ".", {"x#1": "a", "y#1": "a", "b": "c"}],
    "missing": ["zero", "zero", "zero", "skip", "error"],
    "unknown": ["skip", "skip", "skip", "skip", "error"],
}
#: What a lenient protocol has instead of a refusal.
LENIENT: dict[str, list[Any]] = {
    "ties": [value for value in AXES["ties"] if value != "error"],
    "duplicates": ["first", "last"],
    "nonfinite": ["last"],
    "negative": ["allow", "drop"],
    "missing": ["zero", "skip"],
    "unknown": ["skip"],
    "order": ["score", "score", "score", "given"],
    "depth": [value for value in AXES["depth"] if "tokens" not in str(value)],
}

#: The other precision.
OTHER = {"float64": "float32", "float32": "float64"}

Outcome = dict[str, Any]
#: How a file is read, whatever `set_sizes` makes of it.
BLOCKS = Source.blocks


@dataclass(frozen=True)
class Case:
    """Judgments, a run and protocols; the bytes of a file are written under a suffix.

    A run that is `copied` is read before it is ranked. `listed` are queries whose documents are
    listed besides, down to `depth`. `head` and `block` stand for the sizes that `Source` has: how
    many bytes tell what a file is, and how many of a compressed one are given at once.
    """

    kind: str
    qrels: dict[str, dict[str, float]]
    run: Any
    protocols: tuple[Protocol, ...]
    threads: int = 1
    suffix: str = ".run"
    copied: bool = False
    listed: tuple[str, ...] = ()
    depth: int | None = None
    head: int = HEAD
    block: int = BLOCK

    def written(self, folder: Path) -> Any:
        """Write the file, where the run is one; give what is to be read."""
        if not isinstance(self.run, bytes):
            return self.run
        path = folder / f"case{self.suffix}"
        pack = COMPRESSED.get(self.suffix.rpartition(".")[2], bytes)
        path.write_bytes(pack(self.run))
        return path

    def read(self, data: Any) -> Run:
        """Read the run, or borrow it."""
        return read_run(data) if self.copied else borrowed_run(data)


def some_protocol(rng: random.Random, lenient: bool) -> Protocol:
    """Draw any protocol; a lenient one refuses nothing that rows can hold."""
    values = {**AXES, **LENIENT} if lenient else AXES
    axes = {key: rng.choice(choices) for key, choices in values.items() if rng.random() < 0.6}
    if lenient:
        axes |= {key: rng.choice(LENIENT[key]) for key in ("duplicates", "nonfinite")}
    try:
        return Protocol(**axes)
    except UsageError:  # a combination without a meaning
        return some_protocol(rng, lenient)


def some_judgments(rng: random.Random) -> dict[str, dict[str, float]]:
    """Draw judgments: fractions, negatives, queries without any that is kept."""
    scales: list[list[float]] = [[0, 1, 2, 3], [0, 1], [-1, 0, 1], [0, 0.3, 1, 1.5], [0]]
    grades, queries = rng.choice(scales), rng.sample(QUERIES[:6], rng.randint(1, 5))
    judged = {query: rng.sample(DOCUMENTS, rng.randint(1, 12)) for query in queries}
    return {query: {d: float(rng.choice(grades)) for d in judged[query]} for query in queries}


Draw = Callable[[random.Random, list[Row]], Any]
#: What a run can be, each with how often it is drawn.
KINDS: dict[str, tuple[Draw, int]] = {
    "trec": (trec, 40),
    "msmarco": (msmarco, 8),
    "dict": (by_query, 30),
    "columns": (columns, 6),
    "arrays": (arrays, 4),
    "records": (records, 4),
    "frame": (frame, 8),
}
SUFFIXES = [".run", ".run", ".run", ".run", ".run", ".run", ".gz", ".xz", ".zst", ".csv", ".tsv"]


def some_case(rng: random.Random) -> Case:
    """Draw a case; most have nothing wrong with them, so that there are places to compare."""
    kind = rng.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
    rows, is_text = some_rows(rng), kind in ("trec", "msmarco")
    faulty = rng.random() < 0.2
    if faulty and rows and rng.random() < 0.6:
        rows = with_fault(rng, rows)
    run = KINDS[kind][0](rng, rows)
    if faulty and is_text and rng.random() < 0.6:
        run = damaged(rng, run)
    if faulty and kind == "dict":
        run = with_odd_thing(rng, run)
    lenient = rng.random() < 0.55
    return Case(
        kind, some_judgments(rng), run,
        tuple(some_protocol(rng, lenient) for _ in range(rng.choice([1, 1, 2, 3]))),
        threads=rng.choice([1, 1, 1, 2, 2, 3, 8]),
        suffix=rng.choice(SUFFIXES) if is_text and rng.random() < 0.3 else ".run",
        copied=rng.random() < 0.2,
        listed=tuple(rng.sample(QUERIES, 3)) if rng.random() < 0.3 else (),
        depth=rng.choice([None, None, 1, 3]),
        head=rng.choice([HEAD, 200, 40]) if is_text else HEAD,
        block=rng.choice([BLOCK, 100, 7, 1]) if is_text else BLOCK,
    )  # fmt: skip


def outcome(case: Case, data: Any, qrels: Qrels, kernel: str) -> Outcome:
    """Say what one kernel makes of a case: columns and listings, or the errors."""
    os.environ.update(IDEALIST_KERNEL=kernel, IDEALIST_THREADS=str(case.threads))
    set_sizes(case.head, case.block)
    found: Outcome = {}
    try:
        ranked = Ranked(qrels, case.read(data))
        for i, (protocol, placements) in enumerate(ranked.under(case.protocols).items()):
            other = ranked[protocol.varied(precision=OTHER[protocol.precision])]
            found |= {f"{i}.{key}": value for key, value in columns_of(placements)}
            found |= {f"{i}.other.{key}": value for key, value in columns_of(other)}
    except IdealistError as error:
        found = said(error)
    if case.listed:
        found["listing"] = listing_of(case, data)
    return found


def set_sizes(head: int = HEAD, block: int = BLOCK) -> None:
    """Have files looked at and read by so many bytes, so that small ones are as large ones are."""

    def blocks(self: Source, size: int = BLOCK) -> Iterator[bytes]:
        for found in BLOCKS(self, size):
            yield from (found[i : i + block] for i in range(0, len(found), block))

    source.HEAD = contents.HEAD = head  # type: ignore[attr-defined]
    Source.head.__defaults__ = (head,)
    Source.blocks = BLOCKS if block == BLOCK else blocks  # type: ignore[method-assign]


def listing_of(case: Case, data: Any) -> Outcome:
    """List some queries under the first protocol."""
    try:
        rankings = listing(case.read(data), case.protocols[0], case.listed, case.depth)
    except IdealistError as error:
        return said(error)
    return {query: dict(columns_of(ranking)) for query, ranking in rankings.items()}


def columns_of(found: Placements | Ranking) -> Iterator[tuple[str, Any]]:
    """Give what is in a table so that equal bytes are equal; there is but one NaN."""
    for field in fields(found):
        value = getattr(found, field.name)
        if isinstance(value, np.ndarray):
            plain = np.where(value != value, np.nan, value) if value.dtype.kind == "f" else value
            yield field.name, (value.dtype.str, value.shape, plain.tobytes())
        elif field.name not in ("qrels", "protocol"):
            yield field.name, value


def said(error: IdealistError) -> Outcome:
    """Give all that a user sees of an error."""
    found: Outcome = {"error": type(error).__name__, "text": str(error)}
    if isinstance(error, InputError):
        found |= {"code": error.code, "line": error.line, "total": error.total}
    return found


def both(case: Case, folder: Path) -> tuple[Outcome, Outcome]:
    """Give the outcome of the definition, and that of the compiled kernel."""
    data, qrels = case.written(folder), read_qrels(case.qrels)
    return outcome(case, data, qrels, "python"), outcome(case, data, qrels, "native")


def differences(case: Case, folder: Path) -> list[str]:
    """Name what the kernels do not agree on."""
    defined, compiled = both(case, folder)
    return sorted(
        key for key in defined.keys() | compiled.keys() if defined.get(key) != compiled.get(key)
    )


def smaller(case: Case) -> Iterator[Case]:
    """Give cases that are the same less one part of it."""
    for part in ("qrels", "protocols", "listed"):
        for rest in _less_one(getattr(case, part)):
            if rest or part == "listed":
                yield replace(case, **{part: rest})
    if isinstance(case.run, bytes):
        lines = case.run.splitlines(keepends=True)
        yield from (replace(case, run=b"".join(rest)) for rest in _less_one(lines))
    elif isinstance(case.run, (dict, list)):
        yield from (replace(case, run=rest) for rest in _less_one(case.run))


def _less_one(whole: Any) -> Iterable[Any]:
    if isinstance(whole, dict):
        return ({key: whole[key] for key in whole if key != left} for left in whole)
    return (whole[:i] + whole[i + 1 :] for i in range(len(whole)))
