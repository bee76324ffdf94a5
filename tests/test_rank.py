"""What ranking refuses, and what it reports besides the places."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
from idealist import kernel
from idealist.data.run import Rows
from idealist.formats.run_sources import FileRun
from idealist.formats.source import Source
from idealist.ranking.compiled import KernelAnswer, KernelRequest
from waiting import PATIENCE


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


def test_one_run_is_read_once_for_many_protocols(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q Q0 a 1 0.5 x\n")
    reads = []

    class Counted(FileRun):
        def rows(self) -> Rows:
            reads.append("rows")
            return super().rows()

        def ranked(self, request: KernelRequest) -> KernelAnswer | None:
            reads.append("ranked")
            return super().ranked(request)

    protocols = [il.Protocol(), il.Protocol(ties="input"), il.Protocol(precision="float32")]
    run = il.Run(Counted(Source.of(tmp_path / "a.run")), "run")
    assert len(il.rank(il.read_qrels({"q": {"a": 1}}), run, protocols)) == 3
    assert reads == (["rows"] if kernel.native() is None else ["ranked"])


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
        ["bash", "-c", command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert done.stdout == "float32\n"


def test_a_score_above_zero_needs_scores() -> None:
    with pytest.raises(il.UsageError, match="positive_score needs scores"):
        il.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR(positive_score=true)")


def with_lengths(*rows: tuple[str, float, float]) -> dict[str, Any]:
    return {"q": {d: {"score": score, "tokens": tokens} for d, score, tokens in rows}}


def test_a_budget_of_tokens_ends_with_the_first_document_that_does_not_fit() -> None:
    run = il.read_run(with_lengths(("a", 4, 300), ("b", 3, 500), ("c", 2, 400), ("d", 1, 10)))
    for budget, kept in ((1200, "abc"), (1199, "ab"), (800, "ab"), (799, "a"), (299, "")):
        protocol = il.Protocol(depth=f"tokens({budget})")
        assert il.listing(run, protocol, ["q"])["q"].documents == list(kept)
    assert len(il.listing(run, il.Protocol(depth="tokens(1)"), ["q"], depth=3)["q"].documents) == 3
    result = il.evaluate({"q": {"b": 1, "d": 1}}, run, ["R", "NumRet"], depth="tokens(1000)")
    assert (result["R"], result["NumRet"]) == (0.5, 2)
    signature = result.signatures["R"]
    assert signature.fields["depth"] == "tokens(1000)"
    assert il.Signature.parse(result.short_signature("R")) == signature
    assert "+depth:tokens(1000)|" in result.short_signature("R")


def test_chunks_spend_the_budget_before_they_are_merged() -> None:
    rows = (("x#1", 4, 50), ("x#2", 3, 50), ("y#1", 2, 50), ("q#1", 5, 500))
    axes = {"collapse": "#.*", "exclude_self": True}
    for budget, kept, merged in ((99, ["x"], 0), (100, ["x"], 1), (150, ["x", "y"], 1)):
        protocol = il.Protocol(depth=f"tokens({budget})", **axes)  # type: ignore[arg-type]
        ranking = il.listing(il.read_run(with_lengths(*rows)), protocol, ["q"])["q"]
        assert (ranking.documents, ranking.merged) == (kept, merged)


def test_of_a_repeated_document_the_kept_row_spends_the_budget() -> None:
    columns = {"query": "qqq", "document": "aba", "score": [3, 2, 1], "tokens": [9, 5, 1]}
    run = il.read_run({key: list(column) for key, column in columns.items()})
    for rule, kept in (("first", []), ("last", ["b", "a"])):
        protocol = il.Protocol(depth="tokens(8)", duplicates=rule)
        assert il.listing(run, protocol, ["q"])["q"].documents == kept


def test_lengths_that_are_none() -> None:
    budget = {"depth": "tokens(10)"}
    assert code_of({"q": {"a": 1.0}}, **budget) == "missing-column"
    for length in (float("nan"), float("inf"), -1.0):
        with pytest.raises(il.InputError, match="query 'q', document 'b': length is") as caught:
            il.evaluate(
                {"q": {"a": 1}}, with_lengths(("a", 2, 1), ("b", 1, length)), "RR", **budget
            )
        assert caught.value.code == "bad-length"


def test_ties_with_a_budget_of_tokens() -> None:
    for ties in ("best", "worst", "expected"):
        with pytest.raises(il.UsageError, match="does not work with"):
            il.Protocol(ties=ties, depth="tokens(10)")
    run = with_lengths(("a", 1, 1), ("b", 1, 1), ("c", 0, 1))
    with pytest.raises(il.InputError) as caught:
        il.evaluate({"q": {"a": 1}}, run, "RR", ties="error", depth="tokens(10)")
    assert caught.value.total == 1
    for depth in ("tokens", "tokens()", "tokens(0)", "tokens(1.5)", "tokens(1,2)", "tokens(x)"):
        with pytest.raises(il.UsageError, match="depth cannot be"):
            il.Protocol(depth=depth)
    assert il.Protocol(depth="tokens(4e3)").depth == "tokens(4000)"
    assert il.Protocol(depth=5.0).depth == 5


def test_a_grade_of_zero_may_count_as_unjudged() -> None:
    qrels = {"q": {"a": 0, "b": 1.9, "c": 0.5, "d": -1}, "hopeless": {"a": 0}}
    run = {"q": ["a", "b", "c", "d", "u"], "hopeless": ["a"]}
    measures = ["Judged", "NumRel", "RR", "bpref", "NumQ"]
    axes: dict[str, Any] = {"grades": "nonzero", "aggregate": "sum"}
    result = il.evaluate(qrels, run, measures, **axes)
    assert [result[one] for one in measures] == [2 / 5, 1, 1 / 2, 1, 2]
    assert il.evaluate(qrels, run, "RR", **axes, unjudged="drop")["RR"] == 1
    assert result.signatures["RR"].fields["grades"] == "nonzero"
    assert "grades=nonzero truncates" in str([doubt.message for doubt in result.doubts])


def test_judgments_may_all_be_of_grade_zero() -> None:
    rows = [{"query": "q", "document": "a", "grade": 0, "abstain": 0.5}]
    measures = ["nDCG", "AP", "ERR", "nDCG(ideal=perfect)@5", "UDCG", "Judged", "NumQ"]
    result = il.evaluate(rows, {"q": ["a", "b"]}, measures, grades="nonzero")
    assert [result[one] for one in measures] == [0, 0, 0, 0, 0.5, 0, 1]
    assert il.read_qrels(rows).nonzero.numbers.keys() == {"abstain"}


def test_chunks_are_cut_before_they_are_merged() -> None:
    run = {"q": {"a#1": 5, "a#2": 4, "b#1": 3, "c#1": 2}}
    judged = {"q": {"a": 1, "b": 1}}

    def documents(depth: Any) -> list[str]:
        protocol = il.Protocol(depth=depth, collapse=r"#\d+")
        return list(il.listing(il.read_run(run), protocol, ["q"])["q"].documents)

    assert documents("chunks(2)") == ["a"]
    assert documents("chunks(3)") == ["a", "b"]
    assert documents(2) == ["a", "b"]
    found = il.evaluate(judged, run, "R", collapse=r"#\d+", depth="chunks(2)")
    assert found["R"] == 0.5
    assert "depth:chunks(2)" in found.short_signature("R")
    for bad in ("chunks(0)", "chunks(1.5)", "chunks", "chunk(3)", "tokens(1,2)"):
        with pytest.raises(il.UsageError, match="depth cannot be"):
            il.Protocol(depth=bad)


def test_queries_that_have_no_answer_are_right_when_nothing_is_found() -> None:
    judged = {"q1": {"a": 1}, "q2": {}, "q3": {}, "q4": {"a": 1}}
    run = {"q1": ["a"], "q2": [], "q3": ["a"], "q4": []}
    for name in ("nDCG@10", "RR", "AP", "R@5", "P@5", "Success@5", "AllHit@5"):
        result = il.evaluate(judged, run, name, no_relevant="empty")
        right = 0.2 if name == "P@5" else 1.0
        assert result.per_query[name] == [right, 1.0, 0.0, 0.0]
    graded = {"q1": {"a": 0, "b": -1}, "q2": {"a": 1}}
    for axes in ({"unjudged": "drop"}, {"negative": "drop"}):
        found = il.evaluate(
            graded, {"q1": ["x", "b"], "q2": ["a"]}, "RR", no_relevant="empty", **axes
        )
        assert found.per_query["RR"] == [0.0, 1.0]
    only = il.evaluate(judged, run, ["RR", "NumRet"], queries=["q2", "q3"], no_relevant="empty")
    assert only.per_query["NumRet"] == [0.0, 1.0]
    assert il.evaluate({"q2": {}, "q3": {}}, run, "RR", no_relevant="empty")["RR"] == 0.5
