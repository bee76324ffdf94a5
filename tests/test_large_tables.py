"""Large tables in files: read some queries at a time where they lie apart, and never held whole."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import idealist as il
from idealist import kernel
from idealist.errors import InputError
from idealist.formats import frame_parts, read_qrels, read_run
from idealist.formats.run_sources import FileRun
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import listing, rank

pytestmark = pytest.mark.skipif(kernel.name() != "native", reason="there is no compiled kernel")

#: The most rows at once in these tests, and the rows of each query.
MOST, DEPTH = 60, 20
QUERIES = [str(100 + number) for number in range(13)]
RULES = [
    Protocol(), Protocol(ties="docid-asc", precision="float32"), Protocol(order="given"),
    Protocol(ties="expected", missing="skip"), Protocol(ties="random(3)", depth=7),
]  # fmt: skip
QRELS = read_qrels({query: {f"d{n}": n % 4 for n in range(0, 30, 2)} for query in QUERIES[1:]})


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_parts, "MOST_ROWS", MOST)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """List how many rows were held at once; Python reads none."""
    sizes: list[int] = []
    keep = frame_parts.rows_of

    def counted(batches: Any, number: int, queries: Any) -> Any:
        sizes.append(0)
        for batch in keep(batches, number, queries):
            sizes[-1] += len(batch)
            yield batch

    def declined(self: FileRun) -> Any:
        raise AssertionError(f"Python reads {self.name}")

    monkeypatch.setattr(frame_parts, "rows_of", counted)
    monkeypatch.setattr(FileRun, "rows", declined)
    return sizes


def table(seed: int, kind: Any = None) -> pa.Table:
    """Make rows in any order, with ties, scores that float32 cannot tell, and an unknown query."""
    rng = np.random.default_rng(seed)
    rows = [
        (query, f"d{document}", float(score) + (document % 3) * 1e-9)
        for query in QUERIES
        for document, score in zip(
            rng.permutation(40)[:DEPTH].tolist(), rng.integers(0, 9, DEPTH), strict=True
        )
    ]
    query, document, score = zip(*(rows[i] for i in rng.permutation(len(rows))), strict=True)
    column = pa.array([int(one) for one in query] if pa.types.is_integer(kind) else query)
    return pa.table({"query": column.cast(kind), "document": document, "score": score})


def written(made: pa.Table, path: Path, rows: int = 37) -> Path:
    """Write a table as its suffix says, in groups of rows."""
    if path.suffix == ".parquet":
        pq.write_table(made, path, row_group_size=rows)
    else:
        new = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with new(path, made.schema) as file:
            file.write_table(made, rows)
    return path


def columns(placed: dict[Protocol, Placements]) -> list[Any]:
    names = ("in_run", "empty", "retrieved", "duplicates", "merged", "ties", "float32", "query")
    places = ("rank", "first", "last", "score", "judgment")
    return [
        [getattr(one, name).tobytes() for name in (*names, *places)] + [one.unknown, one.unscored]
        for one in placed.values()
    ]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".stream.arrow"])
@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.int32(), pa.dictionary(pa.int8(), pa.string())]
)
def test_some_queries_at_a_time_give_what_the_whole_table_gives(
    kind: Any, suffix: str, tmp_path: Path, held: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, threads in product(range(4), ("1", "3")):
        monkeypatch.setenv("IDEALIST_THREADS", threads)
        path = written(table(seed, kind), tmp_path / f"{seed}{suffix}")
        parted = columns(rank(QRELS, read_run(path), RULES))
        assert 0 < max(held) <= MOST
        assert sum(held) % (len(QUERIES) * DEPTH) == 0  # every row was read once, or again
        held.clear()
        with monkeypatch.context() as whole:
            whole.setattr(frame_parts, "MOST_ROWS", 10**6)
            assert columns(rank(QRELS, read_run(path), RULES)) == parted
        assert not held


def test_an_evaluation_is_the_same_to_the_bit(
    tmp_path: Path, held: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(table(5, pa.string()), tmp_path / "run.parquet")
    parted = il.evaluate(QRELS, path)
    assert max(held) <= MOST
    assert {doubt.code for doubt in parted.doubts} >= {"ties", "unknown-queries"}
    monkeypatch.setattr(frame_parts, "MOST_ROWS", 10**6)
    whole = il.evaluate(QRELS, path)
    assert parted.data() == whole.data()
    assert all(
        parted.values[label].tobytes() == values.tobytes() for label, values in whole.values.items()
    )


def test_rows_of_some_queries_are_picked_without_the_others(
    tmp_path: Path, held: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = read_run(written(table(6, pa.int64()), tmp_path / "run.parquet"))
    asked = [QUERIES[3], "none", QUERIES[0]]
    found = listing(run, Protocol(), asked)
    assert held == [2 * DEPTH]
    monkeypatch.setattr(frame_parts, "MOST_ROWS", 10**6)
    whole = listing(run, Protocol(), asked)
    assert {query: one.documents for query, one in found.items()} == {
        query: one.documents for query, one in whole.items()
    }


def test_queries_that_lie_together_are_read_once(tmp_path: Path, held: list[int]) -> None:
    made = table(7, pa.string()).sort_by("query")
    assert columns(rank(QRELS, read_run(written(made, tmp_path / "run.parquet")), RULES))
    assert not held


def test_a_query_with_more_rows_than_may_be_held_is_held_alone(
    tmp_path: Path, held: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_parts, "MOST_ROWS", DEPTH - 1)
    assert rank(QRELS, read_run(written(table(8, pa.string()), tmp_path / "r.parquet")), RULES)
    assert held == [DEPTH] * len(held)


@pytest.mark.parametrize(
    "change",
    [
        {"document": ["d1"] * DEPTH * len(QUERIES)}, {"score": [float("nan")] * DEPTH * len(QUERIES)},
        {"query": [None, *QUERIES * DEPTH][: DEPTH * len(QUERIES)]},
        {"document": ["", *["d1"] * (DEPTH * len(QUERIES) - 1)]},
        {"query": [1.5] * DEPTH * len(QUERIES)},
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_as_of_the_whole_table(
    change: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = pa.table({**table(9, pa.string()).to_pydict(), **change})
    path, errors = written(made, tmp_path / "run.parquet"), []
    for most in (MOST, 10**6):
        monkeypatch.setattr(frame_parts, "MOST_ROWS", most)
        with pytest.raises(InputError) as raised:
            rank(QRELS, read_run(path), [Protocol(nonfinite="error", unknown="error")])
        errors.append(str(raised.value))
    assert errors[0] == errors[1]


def test_unjudged_documents_are_named_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, found = written(table(3, pa.string()), tmp_path / "run.parquet"), []
    for most in (MOST, 10**6):
        monkeypatch.setattr(frame_parts, "MOST_ROWS", most)
        placed = rank(QRELS, read_run(path), [Protocol()], {Protocol(): 5})[Protocol()]
        found.append(
            (placed.names.text, placed.names.starts.tolist(), columns({Protocol(): placed}))
        )
    assert found[0] == found[1]
    assert found[0][0]
