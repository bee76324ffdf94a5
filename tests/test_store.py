"""A store: what is judged is kept, what counts is stated, and reading changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import idealist as il
from idealist.errors import InputError
from idealist.judging.records import Batch, Judgment, Pooled


@pytest.fixture
def store(tmp_path: Path) -> il.Store:
    return il.Store.create(tmp_path / "labels.db", scale=3, queries={"q1": "tuples"})


def test_judgments_are_read_wherever_a_file_is(store: il.Store) -> None:
    store.judge(Judgment("q1", "d1", 2, "ann"))
    store.judge(Judgment("q1", "d1", 0, "m/p@1", kind="model"))
    path = str(store.path)
    assert il.read_qrels(path).to_dict() == store.qrels().to_dict() == {"q1": {"d1": 2}}
    assert il.read_qrels(f"{path}#model").to_dict() == {"q1": {"d1": 0}}
    assert il.read_qrels(f"{path}#ann").to_dict() == {"q1": {"d1": 2}}
    assert il.read_qrels(store).scale == il.Scale.of(3)
    assert il.read_queries(path).text == {"q1": "tuples"}
    with pytest.raises(InputError, match="not a run"):
        il.read_run(path)


def test_undo_is_a_new_row(store: il.Store) -> None:
    store.judge(Judgment("q1", "d1", 2, "ann"))
    store.judge(Judgment("q1", "d1", 3, "ann"))
    undone = store.undo("ann")
    assert undone is not None
    assert undone.grade == 3
    assert store.qrels().to_dict() == {"q1": {"d1": 2}}
    assert [row.status for row in store.judgments()] == ["graded", "graded", "undone"]


def test_judges_are_given_different_documents(store: il.Store) -> None:
    pooled = tuple(Pooled("q1", f"d{i}", i) for i in range(3))
    batch = store.add_batch(Batch("depth", pooled))
    tasks = [store.next(judge) for judge in ("ann", "bob", "cy", "dan")]
    assert [task and task.document for task in tasks] == ["d0", "d1", "d2", None]
    store.judge(Judgment("q1", "d0", None, "ann", status="later", batch=batch))
    again = store.next("ann")
    assert again is not None
    assert (again.document, again.put_off) == ("d0", True)
