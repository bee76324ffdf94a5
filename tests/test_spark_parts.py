"""What Spark's executors do, without Spark: lists in parts, in any order, give what one machine gives."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import idealist as il
from generated import some_list
from idealist.conventions import CONVENTIONS
from idealist.errors import IdealistError, UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.formats import borrowed_run
from idealist.spark import run_files
from idealist.spark.entry import plans
from idealist.spark.ranked_parts import blocks, ranked_parts
from idealist.spark.row_order import resting_on_order
from idealist.spark.run_evaluations import evaluated_runs
from idealist.spark.run_table import RunTable
from idealist.spark.sessions import unpacked_error

#: A row: run, query, document, score.
Row = tuple[str, str, str, Any]
IDS = [f"d{i}" for i in range(12)] + ["q1", "q2", "é", "d1#1", "d1#2", "d2#1"]
MEASURES = ["nDCG@10", "AP", "RR@3", "R@5", "Judged@5", "P(rel=2)@3", "bpref", "NumRet"]


def some_judgments(rng: random.Random) -> dict[str, dict[str, float]]:
    scales: list[list[float]] = [[0, 1], [0, 1, 2, 3], [-2, -1, 0, 1, 2], [0, 0.5, 1, 1.7]]
    grades = rng.choice(scales)
    return {
        f"q{q}": {d: rng.choice(grades) for d in rng.sample(IDS, rng.randint(1, len(IDS)))}
        for q in range(rng.randint(1, 9))
    }


def some_runs(rng: random.Random, count: int) -> list[Row]:
    """Make runs with ties, short lists, missing and unknown queries; some meet no judgment."""
    rows: list[Row] = []
    for number in range(count):
        ids = [f"x{i}" for i in range(9)] if rng.random() < 0.1 else IDS
        for query in [f"q{q}" for q in range(9) if rng.random() < 0.8] + ["q99"]:
            rows += [(f"run{number}", query, d, s) for d, s in some_list(rng, ids)]
    return rows


def partitioned(rows: Sequence[Row], rng: random.Random, parts: int) -> Iterator[list[Any]]:
    """Bring whole lists together, as Spark does; some lists share a key."""
    rows = rng.sample(rows, len(rows))
    keys = [hash((run, query)) % 1000 for run, query, *_ in rows]
    for part in range(parts):
        own = sorted((i for i in range(len(rows)) if keys[i] % parts == part), key=keys.__getitem__)
        columns = list(zip(*(rows[i] for i in own), strict=True)) or [()] * 4
        table = pa.table({
            "run": pa.array(columns[0], pa.string()), "query": pa.array(columns[1], pa.string()),
            "document": pa.array(columns[2], pa.string()), "score": pa.array(columns[3], pa.float64()),
            "key": pa.array([keys[i] for i in own], pa.int64()),
        })  # fmt: skip
        yield table.to_batches(max_chunksize=rng.randint(1, 50))


def evaluated(
    rows: Sequence[Row], evaluator: il.Evaluator, rng: random.Random, parts: int
) -> dict[str, Any]:
    """Evaluate as executors do; give an evaluation, or an error, by run."""
    table = RunTable(
        None, frozenset({"query", "document", "score"}), ("query", "document", "score")
    )
    ranking, evaluating = plans(evaluator, table, False)
    found = [
        row
        for batches in partitioned(rows, rng, parts)
        for batch in ranked_parts(pickle.dumps(ranking), batches)
        for row in batch.to_pylist()
    ]
    rng.shuffle(found)
    found.sort(key=lambda row: row["run"])
    batches = pa.Table.from_pylist(found).to_batches(max_chunksize=3)
    rows_ = [
        row for b in evaluated_runs(pickle.dumps(evaluating), batches) for row in b.to_pylist()
    ]
    return {
        row["run"]: unpacked_error(pickle.loads(row["error"]))
        if row["error"]
        else pickle.loads(row["evaluation"])
        for row in rows_
    }


def alone(rows: Sequence[Row], run: str, evaluator: il.Evaluator) -> Evaluation | IdealistError:
    """Evaluate a run on one machine."""
    own = [row for row in rows if row[0] == run]
    columns = zip(*own, strict=True)
    names = ["run", "query", "document", "score"]
    table = pa.table(dict(zip(names, map(list, columns), strict=True))).drop_columns("run")
    try:
        return evaluator(borrowed_run(table, name=run))
    except IdealistError as error:
        return error


def told(error: Any) -> Any:
    """Say what is wrong; which two of several tied documents are named depends on their order."""
    tied = getattr(error, "code", "") == "tie"
    return (error.total, [one.code for one in error.faults]) if tied else str(error)


def check(found: Any, expected: Any) -> None:
    """Compare all that evaluations or errors have, to the bit."""
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, IdealistError):
        assert told(found) == told(expected)
        return
    assert (found.run, found.queries) == (expected.run, expected.queries)
    for label in expected:
        assert found.values[label].tobytes() == expected.values[label].tobytes()
        assert found.counted[label].tobytes() == expected.counted[label].tobytes()
        assert np.float64(found[label]).tobytes() == np.float64(expected[label]).tobytes()
        assert str(found.signatures[label]) == str(expected.signatures[label])
    assert found.doubts == expected.doubts


def compared(seed: int, parts: int, **rules: Any) -> None:
    rng = random.Random(seed)
    qrels, rows = some_judgments(rng), some_runs(rng, 6)
    evaluator = il.Evaluator(qrels, MEASURES, **rules)
    found = evaluated(rows, evaluator, rng, parts)
    assert sorted(found) == sorted({row[0] for row in rows})
    for run in found:
        check(found[run], alone(rows, run, evaluator))


@pytest.mark.parametrize("parts", [1, 3, 17])
@pytest.mark.parametrize("seed", range(5))
def test_parts_in_any_order_give_what_one_machine_gives(seed: int, parts: int) -> None:
    compared(seed, parts)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_is_followed_or_refused(name: str) -> None:
    evaluator = il.Evaluator({"q1": {"d1": 1}}, MEASURES, convention=name)
    orderings = {one.protocol.ordering for one in evaluator.instruments.values()}
    if any(resting_on_order(one, {"score"}) for one in orderings):
        with pytest.raises(
            UsageError, match=r'Spark does not keep\n.*columns={"position": "NAME"}'
        ):
            compared(0, 3, convention=name)
        return
    compared(len(name), 3, convention=name)


@pytest.mark.parametrize(
    "rules",
    [
        {"ties": "docid-asc"}, {"ties": "worst"}, {"ties": "best"}, {"ties": "random(3)"},
        {"precision": "float32"}, {"depth": 3}, {"unjudged": "drop"}, {"negative": "drop"},
        {"grades": "nonzero"}, {"grades": "keep"}, {"collapse": "#.*"}, {"missing": "skip"},
        {"exclude_self": True}, {"missing": "error"}, {"unknown": "error"}, {"ties": "error"},
        {"queries": ["q1", "q3", "nosuch"]}, {"weights": {f"q{i}": i + 1 for i in range(9)}},
        {"collapse": "#.*", "depth": "chunks(3)"}, {"negative": "error"}, {"no_relevant": "skip"},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("seed", range(2))
def test_every_rule_is_followed(rules: dict[str, Any], seed: int) -> None:
    try:
        il.Evaluator({"q1": {"d1": 1}, "q3": {"d1": 0}}, MEASURES, **rules)
    except UsageError:
        rules = rules | {"grades": "truncate"}
    compared(seed, 5, **rules)


def test_the_python_twin_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)
    qrels, rows = some_judgments(rng), some_runs(rng, 6)
    evaluator = il.Evaluator(qrels, MEASURES)
    monkeypatch.setenv("IDEALIST_KERNEL", "python")
    found = evaluated(rows, evaluator, rng, 3)
    monkeypatch.delenv("IDEALIST_KERNEL")
    for run in found:
        check(found[run], alone(rows, run, il.Evaluator(qrels, MEASURES)))


@pytest.mark.parametrize(
    ("uri", "given", "owner"),
    [
        ("file:///data/a%20b.run", "/data/a b.run", "/data/a b.run"),
        (
            "file:/data/bm25.parquet/part-0.snappy.parquet",
            "/data/bm25.parquet",
            "/data/bm25.parquet",
        ),
        ("s3a://logs/bm25/day=1/part-0.parquet", "s3a://logs/bm25/", "s3a://logs/bm25/"),
        ("hdfs://n/runs/bm25/part-0.parquet", "hdfs://n/runs/*", "hdfs://n/runs/bm25"),
        ("hdfs://n/runs/bm25.run", "hdfs://n/runs/*", "hdfs://n/runs/bm25.run"),
    ],
)
def test_a_file_belongs_to_the_path_it_was_given_by(uri: str, given: str, owner: str) -> None:
    assert run_files._owners([uri], [given]) == {uri: owner}


def test_blocks_end_between_keys_only() -> None:
    for seed in range(50):
        rng = random.Random(seed)
        keys = sorted(rng.randint(0, 9) for _ in range(rng.randint(0, 60)))
        table = pa.table({"key": pa.array(keys, pa.int64()), "row": list(range(len(keys)))})
        found = list(blocks(table.to_batches(max_chunksize=rng.randint(1, 9)), rng.randint(1, 20)))
        rows = [one["row"].to_pylist() for one in found]
        assert [row for own in rows for row in own] == list(range(len(keys)))
        ends = [(keys[own[-1]], keys[after[0]]) for own, after in pairwise(rows)]
        assert all(last != first for last, first in ends)
