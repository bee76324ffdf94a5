"""What to judge next: pools of a depth, fused ranks, and strategies that learn."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealist as il
from idealist.judging.pool_case import fused, shares

RUNS = {
    "bm25": {"q1": ["a", "b", "c", "d"], "q2": ["x", "y"]},
    "dense": {"q1": ["b", "e", "a"], "q2": ["z"]},
}


def chosen(found: il.Pooling) -> list[tuple[str, str]]:
    return [(one.query, one.document) for one in found.chosen]


def test_a_pool_of_a_depth_is_the_union_of_the_first_documents() -> None:
    found = il.pool(None, RUNS, depth=2)
    assert set(chosen(found)) == {
        ("q1", "a"), ("q1", "b"), ("q1", "e"), ("q2", "x"), ("q2", "y"), ("q2", "z"),
    }  # fmt: skip
    assert [one.place for one in found.chosen] == [1, 2, 3, 4, 5, 6]
    assert found.batch.parameters["depth"] == 2
    assert list(found.batch.parameters["runs"]) == ["bm25", "dense"]


def test_what_is_judged_is_not_chosen_again() -> None:
    found = il.pool({"q1": {"a": 1, "b": 0}}, RUNS, depth=2)
    assert chosen(found) == [("q1", "e"), ("q2", "x"), ("q2", "z"), ("q2", "y")]
    assert "2 documents of these queries are judged already" in str(found)


def test_a_budget_buys_the_deepest_pool_that_fits() -> None:
    found = il.pool(None, RUNS, budget=5)
    assert len(found.chosen) == 4
    assert found.batch.parameters["depth"] == 1
    assert found.left == 1
    assert "1 of the budget remains" in found.summary
    assert "Depth 2 would take 1 more than the budget." in str(found)


def test_fusion_takes_as_many_of_each_query() -> None:
    found = il.pool(None, RUNS, by="fusion", budget=4)
    assert chosen(found) == [("q1", "b"), ("q1", "a"), ("q2", "x"), ("q2", "z")]
    assert len(il.pool(None, RUNS, by="fusion", per_query=1).chosen) == 2


@pytest.mark.parametrize("by", ["depth", "fusion"])
def test_a_budget_for_more_than_there_is_leaves_some(by: str) -> None:
    found = il.pool(None, RUNS, by=by, budget=100)
    assert len(found.chosen) == 8
    assert found.left == 92
    judged = {q: {d: 1 for run in RUNS.values() for d in run[q]} for q in ("q1", "q2")}
    assert il.pool(judged, RUNS, by=by, budget=9).summary.startswith("nothing is left to judge")


def test_runs_that_repeat_each_other_count_once() -> None:
    found = il.pool(None, [RUNS["bm25"], RUNS["bm25"], RUNS["dense"]], by="fusion", budget=1)
    assert "ranks as run does, and counts once" in str(found)
    assert chosen(found) == [("q1", "b")]


@pytest.mark.parametrize(
    ("runs", "options", "words"),
    [
        (RUNS, {"budget": 0}, "budget is 0"),
        (RUNS, {"depth": -1}, "depth is -1"),
        (RUNS, {"budget": 1.5}, "budget is 1.5"),
        (RUNS, {}, "a pool needs a depth or a budget"),
        (RUNS, {"by": "fuson"}, "did you mean fusion"),
        (RUNS, {"by": "fusion", "dept": 1}, "has no option 'dept'"),
        (RUNS, {"budget": 1}, "the first document of each run makes 4; the budget is 1"),
        (RUNS, {"depth": 2, "per_query": 2}, "one depth for all queries"),
        ([], {"depth": 1}, "no run"),
        ([RUNS["bm25"], {"q9": ["a"]}], {"depth": 1}, "shares no query"),
        ([{"q7": ["a"]}], {"depth": 1}, "the runs and the judgments share no query"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(runs: object, options: dict[str, Any], words: str) -> None:
    with pytest.raises(il.IdealistError) as error:
        il.pool({"q1": {"zz": 1}}, runs, **options)
    assert words in str(error.value)


def test_a_document_retrieved_twice_is_refused() -> None:
    run = il.read_run([{"query": "q1", "document": "a", "score": s} for s in (1, 2)])
    with pytest.raises(il.InputError, match="retrieved twice"):
        il.pool(None, [run], depth=1)


@given(st.integers(0, 60), st.lists(st.integers(0, 20), min_size=1, max_size=8))
def test_shares_are_equal_and_spend_all_they_can(budget: int, sizes: list[int]) -> None:
    named = dict(zip(map(str, count()), sizes, strict=False))
    found = shares(budget, named)
    assert sum(found.values()) == min(budget, sum(sizes))
    assert all(found[query] <= size for query, size in named.items())
    short = [found[query] for query, size in named.items() if found[query] < size]
    assert not short or max(found.values()) - min(short) <= 1


def test_fusion_prefers_what_many_runs_rank_high() -> None:
    assert fused((("a", "b", "c"), ("c", "b"), ("b",)))[0] == "b"
    assert fused((("b", "a"), ("a", "b"))) == ["a", "b"]


def test_the_depth_of_real_runs(data: object) -> None:
    folder = data / "trec-covid-r1" / "runs"  # type: ignore[operator]
    runs = [il.read_run(path) for path in sorted(folder.iterdir())]
    found = il.pool(None, runs, depth=5)
    union = set()
    for run in runs:
        queries = run.rows().queries
        for query, ranking in il.listing(run, il.Protocol(), queries, 5).items():
            union |= {(query, document) for document in ranking.documents}
    assert set(chosen(found)) == union
    assert len(union) == 1409
    assert il.pool(None, runs, budget=1500).batch.pooled == found.batch.pooled
