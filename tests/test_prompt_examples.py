"""Examples for prompts: one of each grade, what people agree on, never the pair that is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealist as il
from idealist.judging.llm.examples import LONGEST_EXAMPLE, Examples
from idealist.judging.store_records import Judgment

SCALE = il.Scale.of(3)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> il.Store:
    """Six queries with ten documents each: the grade is the last digit of the document modulo 4."""
    docs = {f"d{n}": f"text {n}" for n in range(10)}
    docs["d3"] = "long " * LONGEST_EXAMPLE
    queries = {f"q{n}": f"query {n}" for n in range(6)}
    path = tmp_path_factory.mktemp("store") / "labels.db"
    made = il.Store.create(path, scale=3, queries=queries, docs=docs)
    rows = [Judgment(q, d, int(d[1:]) % 4, "ann") for q in queries for d in docs]
    rows += [Judgment("q0", "d0", 3, "gpt", "model"), Judgment("q1", "d9", 0, "ben")]
    made.judge_all(rows)
    return made


@given(seed=st.integers(0, 50), query=st.integers(0, 6), document=st.integers(0, 11))
def test_one_of_each_grade_and_nothing_of_the_pair(
    store: il.Store, seed: int, query: int, document: int
) -> None:
    found = Examples.of(store, SCALE, seed).beside(f"q{query}", f"d{document}")
    assert [one.grade for one in found] == [0, 1, 2, 3]
    assert all(one.query != f"query {query}" for one in found)
    assert all(one.document.text != f"text {document}" for one in found)
    assert all(int(one.document.text[5:]) % 4 == one.grade for one in found[:3])


def test_the_seed_decides(store: il.Store) -> None:
    drawn = [tuple(Examples.of(store, SCALE, seed).beside("x", "y")) for seed in range(8)]
    assert drawn == [tuple(Examples.of(store, SCALE, seed).beside("x", "y")) for seed in range(8)]
    assert len(set(drawn)) > 4
    assert all(one[3].document.text == "text 7" for one in drawn)  # d3 is long
    assert Examples.of(store, SCALE).beside("x", "d7")[3].document.text.startswith("long")


def test_what_people_disagree_on_is_no_example(store: il.Store) -> None:
    graded = Examples.of(store, SCALE).graded
    assert all(("q1", "d9") not in some for some in graded.values())
    assert ("q0", "d0") in graded[0]  # a model's opinion is not asked


def test_grades_that_nobody_gave(tmp_path: Path) -> None:
    store = il.Store.create(
        tmp_path / "labels.db", queries={"q": "words", "r": "more"}, docs={"d": "text"}
    )
    assert Examples.of(store, SCALE).missing == (0, 1, 2, 3)
    store.judge(Judgment("q", "d", 2, "qrels", "import"))
    store.judge(Judgment("r", "no text", 1, "qrels", "import"))
    examples = Examples.of(store, SCALE)
    assert set(examples.missing) == {0, 1, 3}
    assert [one.grade for one in examples.beside("r", "e")] == [2]
    assert examples.beside("q", "e") == []
    store.judge(Judgment("r", "d", 0, "ann"))
    assert Examples.of(store, SCALE).missing == (1, 2, 3)  # people come before imports
