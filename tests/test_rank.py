"""What ranking refuses, and what it reports besides the places."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il


def code_of(run: Any, **axes: Any) -> str:
    with pytest.raises(il.InputError) as caught:
        il.evaluate({"q": {"a": 1, "b": 0}}, run, "RR", **axes)
    return caught.value.code


def test_scores_that_are_no_numbers() -> None:
    nan, inf = {"q": {"a": float("nan"), "b": 1.0}}, {"q": {"a": float("inf"), "b": 1.0}}
    assert code_of(nan) == code_of(inf) == code_of(nan, nonfinite="as_is") == "nonfinite-score"
    assert il.evaluate({"q": {"a": 1}}, inf, "RR", nonfinite="as_is")["RR"] == 1
    assert il.evaluate({"q": {"a": 1}}, nan, "RR", nonfinite="last")["RR"] == 0.5


def test_not_numbers_are_tied_with_each_other() -> None:
    run = il.read_run({"q": {"a": float("nan"), "b": float("nan"), "c": float("-inf")}})
    ranking = il.listing(run, il.Protocol(nonfinite="last"), ["q"])["q"]
    assert (ranking.documents, ranking.first.tolist()) == (["c", "b", "a"], [1, 2, 2])


def test_the_rank_column_orders_only_when_asked() -> None:
    rows = [
        {"query": "q", "document": d, "score": s, "rank": r}
        for d, s, r in [("a", 1, 2), ("b", 2, 9)]
    ]
    assert il.evaluate({"q": {"a": 1}}, rows, "RR")["RR"] == 0.5
    assert il.evaluate({"q": {"a": 1}}, rows, "RR", order="rank")["RR"] == 1
    assert code_of({"q": {"a": 1.0}}, order="rank") == "missing-column"


def test_refusals_that_are_asked_for() -> None:
    run = {"q": {"a": 0.5, "b": 0.5}}
    assert code_of(run, ties="error") == "tie"
    assert code_of({"x": {"a": 1.0}}, missing="error") == "missing-query"
    assert code_of({"q": {"a": 1.0}, "x": {"a": 1.0}}, unknown="error") == "unknown-query"
    with pytest.raises(il.InputError, match="no relevant document"):
        il.evaluate({"q": {"a": 0}}, run, "nDCG(no_relevant=error)")


def test_given_order_has_no_ties() -> None:
    run = il.read_run({"q": {"b": 1.0, "a": 1.0}})
    ranking = il.listing(run, il.Protocol(order="given"), ["q"])["q"]
    assert (ranking.documents, ranking.last.tolist()) == (["b", "a"], [1, 2])


def test_listing_is_cut_and_leaves_unknown_queries_out() -> None:
    run = il.read_run({"q": {"a": 1.0, "b": 2.0, "c": 3.0}})
    found = il.listing(run, il.Protocol(), ["q", "nowhere"], depth=2)
    assert {query: one.documents for query, one in found.items()} == {"q": ["c", "b"]}


def test_chunks_collapse_by_pattern_and_by_map() -> None:
    qrels = {"q": {"doc": 1, "other": 0}}
    run = {"q": {"other#1": 0.9, "doc#1": 0.1, "doc#7": 0.8, "x": 0.5}}
    by_pattern = il.evaluate(qrels, run, ["RR", "NumRet"], collapse=r"#\d+")
    assert (by_pattern["RR"], by_pattern["NumRet"]) == (0.5, 3)
    assert [doubt.code for doubt in by_pattern.doubts if doubt.count == 1][:1] == ["unjudged"]
    assert "collapsed" in {doubt.code for doubt in by_pattern.doubts}
    chunks = {"other#1": "other", "doc#1": "doc", "doc#7": "doc"}
    by_map = il.evaluate(qrels, run, ["RR", "NumRet"], collapse=chunks)
    assert by_map.per_query == by_pattern.per_query
    assert by_map.signatures["RR"].diff(by_pattern.signatures["RR"]).keys() == {"collapse"}


def test_a_query_may_retrieve_itself() -> None:
    run = {"q": {"q": 0.9, "a": 0.5}}
    assert il.evaluate({"q": {"a": 1}}, run, "RR")["RR"] == 0.5
    assert il.evaluate({"q": {"a": 1}}, run, "RR", exclude_self=True)["RR"] == 1


def test_the_grid_shows_unjudged_and_absent_documents() -> None:
    qrels, run = il.read_qrels({"q": {"a": 2, "b": 0}}), il.read_run({"q": ["a", "x", "b"]})
    grid = il.rank(qrels, run, [il.Protocol()])[il.Protocol()].grid(4)
    np.testing.assert_array_equal(grid.filled(-9), [[2, np.nan, 0, -9]])


def test_one_run_is_read_once_for_many_protocols() -> None:
    reads = 0
    rows = il.read_run({"q": {"a": 1.0}}).rows()

    def load() -> Any:
        nonlocal reads
        reads += 1
        return rows

    protocols = [il.Protocol(), il.Protocol(ties="input"), il.Protocol(precision="float32")]
    assert len(il.rank(il.read_qrels({"q": {"a": 1}}), il.Run(load, "run"), protocols)) == 3
    assert reads == 1


def test_a_querys_own_chunks_are_excluded_too() -> None:
    run = {"d1": {"d1#0": 1.0, "d2#0": 0.5}}
    assert il.evaluate({"d1": {"d2": 1}}, run, "RR", collapse="#.*", exclude_self=True)["RR"] == 1


def test_chunk_patterns_that_cannot_be_used_are_refused() -> None:
    for pattern in ("(", "(?i)#p.*", "map(0123456789)"):
        with pytest.raises(il.UsageError):
            il.Protocol(collapse=pattern)


def test_negative_grades_are_refused_where_they_are_met() -> None:
    qrels = {"q": {"a": 1, "n": -1}}
    assert il.evaluate(qrels, {"q": {"a": 1.0}}, "RR", negative="error")["RR"] == 1
    with pytest.raises(il.InputError, match="grade -1 is negative"):
        il.evaluate(qrels, {"q": {"n": 1.0}}, "RR", negative="error")


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """Doubts rank the run a second time; what comes from a pipe must still be there."""
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0\n")
    (tmp_path / "run").write_text("q Q0 a 1 1.00000001 t\nq Q0 b 2 1.0 t\n")
    program = (
        "import sys, idealist as il; print(il.evaluate('qrels', sys.argv[1], 'RR').doubts[0].code)"
    )
    command = f'{sys.executable} -c "{program}" <(cat run)'
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "float32\n"


def test_a_score_above_zero_needs_scores() -> None:
    with pytest.raises(il.UsageError, match="positive_score needs scores"):
        il.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR(positive_score=true)")
