"""Evaluations: aggregates, intervals, doubts, signatures, saving, many runs."""

from __future__ import annotations

import json
import math
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats

import idealist as il
from idealist.conventions import CONVENTIONS
from idealist.measures import MEASURES
from idealist.measures.instrument import Aggregate
from idealist.protocol import Protocol
from idealist.rendering.doubt import CODES

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {"b": 1}}
RUN = {
    "q1": {"b": 0.9, "a": 0.8, "x": 0.7},
    "q2": {"x": 0.5, "a": 0.5},
    "q3": {"a": 1.0},
    "q9": {"a": 1},
}


def doubts_of(
    qrels: Any, run: Any, measures: Any = "nDCG@10", **options: Any
) -> dict[str, il.Doubt]:
    return {doubt.code: doubt for doubt in il.evaluate(qrels, run, measures, **options).doubts}


def test_the_result_answers_to_the_measure_in_any_spelling() -> None:
    result = il.evaluate(QRELS, RUN, ["ndcg@10", il.AP, "P@5"])
    assert result["ndcg@10"] == result[il.nDCG @ 10] == result["nDCG@10"]
    assert result[il.AP] == result["map"] == result["AP"]
    assert list(result.aggregates) == ["ndcg@10", "AP", "P@5"]
    with pytest.raises(il.UsageError, match="evaluated: ndcg@10, AP, P@5"):
        result["RR"]


def test_missing_queries_count_unless_they_are_skipped() -> None:
    counted = il.evaluate(QRELS, RUN, "RR")
    assert counted.per_query == {"query": ["q1", "q2", "q3", "q4"], "RR": [1, 0.5, 0, 0]}
    skipped = il.evaluate(QRELS, RUN, "RR", missing="skip")
    assert skipped.queries == ("q1", "q2", "q3")
    assert (counted["RR"], skipped["RR"]) == (0.375, 0.5)


def test_the_interval_is_students() -> None:
    result = il.evaluate(QRELS, RUN, "RR")
    values = result.values["RR"]
    wanted = stats.t.interval(0.7, 3, values.mean(), stats.sem(values))
    assert result.interval("RR", confidence=0.7) == pytest.approx(wanted, rel=1e-12)
    assert math.isnan(il.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR").interval("RR")[0])
    assert math.isnan(il.evaluate(QRELS, RUN, "NumRet").interval("NumRet")[0])


def test_the_interval_holds_only_possible_values() -> None:
    result = il.evaluate(QRELS, RUN, ["RR", "DCG", "nDCG(negative=keep)"])
    values = result.values["RR"]
    assert stats.t.interval(0.95, 3, values.mean(), stats.sem(values))[0] < 0
    assert result.interval("RR")[0] == 0
    assert result.interval("RR")[1] <= 1
    assert result.data()["intervals"]["RR"][0] == 0
    assert result.interval("DCG")[0] == 0
    assert result.interval("DCG")[1] > 1
    assert result.interval("nDCG(negative=keep)")[0] < 0  # negative grades would make it possible
    assert "±" not in str(result)
    assert "4 queries, convention trec_eval; too few queries for an interval" in str(result)
    five = {f"q{i}": {"a": 1} for i in range(5)}
    lists = {query: ["a"] if i else ["x", "a"] for i, query in enumerate(five)}
    shown = il.evaluate(five, lists, "RR")
    low, high = shown.interval("RR")
    assert high == 1
    assert f"0.9000 ± {0.9 - low:.4f}" in str(shown)  # the longer side, not half of what is left


def test_aggregates_and_rounding() -> None:
    values = [0.5, 1.0, 0.0, 0.25]
    wanted = {"mean": 0.4375, "median": 0.375, "min": 0, "max": 1, "sum": 1.75}
    assert {name: Aggregate(aggregate=name).of(values) for name in wanted} == wanted
    geometric = math.exp(math.fsum(map(math.log, [0.5, 1, 0.01, 0.25])) / 4)
    assert Aggregate(aggregate="geometric(0.01)").of(values) == pytest.approx(geometric)
    result = il.evaluate(QRELS, RUN, "nDCG", round="query(2)")
    assert result.values["nDCG"].tolist() == [round(v, 2) for v in result.values["nDCG"].tolist()]
    assert il.evaluate(QRELS, RUN, "nDCG", round=2)["nDCG"] == round(
        il.evaluate(QRELS, RUN, "nDCG")["nDCG"], 2
    )


def test_doubts_about_queries() -> None:
    found = doubts_of(QRELS, RUN)
    assert found["missing-queries"].queries == ("q4",)
    assert found["unknown-queries"].queries == ("q9",)
    assert found["no-relevant"].queries == ("q3",)
    result = il.evaluate(QRELS, RUN, "nDCG@10")
    without = [
        v
        for q, v in zip(result.queries, result.values["nDCG@10"].tolist(), strict=True)
        if q != "q3"
    ]
    assert found["no-relevant"].values["nDCG@10"] == pytest.approx(sum(without) / 3)


def test_a_doubt_about_unjudged_documents_is_priced_by_the_condensed_list() -> None:
    doubt = doubts_of(QRELS, RUN)["unjudged"]
    assert (doubt.count, doubt.queries) == (2, ("q1", "q2"))
    condensed = il.evaluate(QRELS, RUN, "nDCG@10", unjudged="drop")["nDCG@10"]
    assert doubt.values == {"nDCG@10": condensed}
    assert "unjudged" not in doubts_of(QRELS, RUN, unjudged="drop")


def test_a_doubt_about_ties_says_how_far_they_go() -> None:
    doubt = doubts_of(QRELS, RUN)["ties"]
    ends = [il.evaluate(QRELS, RUN, "nDCG@10", ties=ties)["nDCG@10"] for ties in ("worst", "best")]
    assert doubt.queries == ("q2",)
    assert doubt.values == {"nDCG@10": ends}
    tied = {"q": {"a": 1.0, "x": 1.0, "y": 1.0, "b": 0.5}}
    deep = doubts_of({"q": {"a": 1, "b": 1}}, tied, "RR", depth=2)["ties"]
    assert deep.values == {"RR": [0, 1]}  # the depth cuts the tie in two


def test_a_doubt_about_precision_says_what_it_moves() -> None:
    run = {"q": {"a": 1.00000001, "b": 1.0}}
    doubt = doubts_of({"q": {"a": 1, "b": 0}}, run, "RR")["float32"]
    assert doubt.values == {"RR": 0.5}
    assert "with precision=float32 RR is 0.5000" in doubt.message
    other = doubts_of({"q": {"a": 1, "b": 0}}, run, "RR", convention="trec_eval-9")["float32"]
    assert other.values == {"RR": 1.0}
    assert "float32" not in doubts_of({"q": {"x": 1}}, run, "RR")


def test_doubts_about_duplicates_and_grades() -> None:
    twice = [("q", "a", 0.9), ("q", "b", 0.8), ("q", "a", 0.1)]
    qrels = [("q", "a", 1.7), ("q", "b", 0.5), ("q", "b", 0.5), ("q", "c", 3)]
    found = doubts_of(qrels, twice, ["nDCG", "AP"], duplicates="first")
    assert found["duplicates"].count == found["repeated-judgments"].count == 1
    cut = il.evaluate(qrels, twice, "nDCG", duplicates="first", grades="truncate")
    assert found["fractional-grades"].count == 2
    assert found["fractional-grades"].values["nDCG"] == cut["nDCG"]
    assert "AP" in found["binary-on-graded"].message
    assert "binary-on-graded" not in doubts_of(qrels, twice, "AP(rel=2)", duplicates="last")


def test_doubts_about_tools_and_utilities() -> None:
    found = doubts_of(QRELS, RUN, ["RR", "nDCG"], convention="sklearn")
    assert "scikit-learn has no RR" in found["not-in-tool"].message
    columns = {"query": ["q", "q"], "document": ["a", "b"], "grade": [1, 0], "abstain": [0.1, None]}
    doubt = doubts_of(columns, {"q": ["a", "b", "x"]}, "UDCG@3")["unknown-utility"]
    assert doubt.count == 2


def test_no_doubt_without_a_reason() -> None:
    assert (
        il.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 2, "b": 1}}, ["nDCG@10", "AP"]).doubts
        == ()
    )


@pytest.mark.parametrize("negative", ["allow", "drop"])
@pytest.mark.parametrize("depth", ["none", 2, 3, 5])
def test_the_doubt_about_ties_knows_the_protocol(depth: Any, negative: str) -> None:
    qrels = {"q": {"r1": 1, "r2": 1, "n1": 0, "x1": -1, "x2": -1}}
    run = {"q": {"n1": 5, "r1": 5, "x1": 4, "r2": 3}}
    label = "nDCG(negative=keep,ideal_negative=keep)@10"
    found = doubts_of(qrels, run, label, depth=depth, negative=negative)["ties"]
    bounds = il.tie_bounds(qrels, run, label, depth=depth, negative=negative)
    assert found.values == {label: [bounds.low, bounds.high]}
    if (depth, negative) == (5, "drop"):
        assert [f"{end:.2f}" for end in found.values[label]] == ["0.69", "0.92"]


def test_doubts_say_what_to_do(tmp_path: Path) -> None:
    il.write_qrels(il.read_qrels(QRELS), tmp_path / "qrels.txt")
    il.write_run(il.read_run({q: own for q, own in RUN.items() if q != "q9"}), tmp_path / "a.run")
    files = tmp_path / "qrels.txt", tmp_path / "a.run"
    found = doubts_of(*files, ["RR"], ties="input")["missing-queries"]
    words = f"idealist eval {files[0]} {files[1]} -m RR --set ties=input --set missing=skip"
    assert (found.severity, found.command) == ("warning", words)
    assert found.remedy
    assert found.price["a"]["RR"][0] == il.evaluate(*files, "RR", ties="input")["RR"]
    in_memory = doubts_of(QRELS, RUN, ["RR"])["missing-queries"].command
    assert in_memory == "evaluate(qrels, run, ['RR'], missing='skip')"
    some = doubts_of(QRELS, RUN, ["RR"], queries=["q1", "q4"])["missing-queries"]
    assert some.command == ""  # no axis says which queries count


def test_every_doubt_has_a_meaning() -> None:
    found = doubts_of(QRELS, RUN, ["AP", "nDCG"], convention="sklearn", collapse="#.*")
    assert found.keys() <= CODES.keys()


def test_an_evaluation_is_saved_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "bm25.json"
    result = il.evaluate(
        QRELS, RUN, ["nDCG@10", "AP(no_relevant=skip)", "RR(no_relevant=nan)", "NumRet"]
    )
    result.save(path)
    loaded = il.Evaluation.load(path)
    assert loaded.data() == result.data()
    assert loaded.signatures == result.signatures
    assert loaded.interval("AP(no_relevant=skip)") == result.interval("AP(no_relevant=skip)")
    assert str(loaded) == str(result)
    path.write_text(json.dumps({"idealist": 99}))
    with pytest.raises(il.InputError, match="not a saved evaluation"):
        il.Evaluation.load(path)


def test_pandas_and_notebooks() -> None:
    result = il.evaluate(QRELS, RUN, ["nDCG@10", "RR"], convention="pytrec_eval")
    frame = result.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc["q2", "RR"] == 0.5
    html = result._repr_html_()
    assert "<table>" in html
    assert "doubt:" in html
    assert "pytrec_eval" in html


def test_the_short_signature_names_the_convention_and_what_differs() -> None:
    result = il.evaluate(
        QRELS, RUN, "nDCG(gain=exp2)@10", convention="pytrec_eval", unjudged="drop"
    )
    qrels = il.read_qrels(QRELS).hash
    wanted = f"nDCG(gain=exp2)@10|pytrec_eval+unjudged:drop|qrels:{qrels}|rules:1"
    assert result.short_signature("nDCG(gain=exp2)@10") == wanted
    changed = il.evaluate(QRELS, RUN, "AP", rel=2, aggregate="median")
    assert changed.short_signature("AP").startswith("AP(rel=2)|trec_eval+aggregate:median|")


def test_what_the_user_wrote_wins() -> None:
    evaluator = il.Evaluator(QRELS, ["nDCG(gain=exp2)", "nDCG", "DCG"], gain="binary")
    gains = [getattr(one.measure, "gain", None) for one in evaluator.instruments.values()]
    assert gains == ["exp2", "binary", "binary"]


@pytest.mark.parametrize(
    ("axes", "says"),
    [
        ({"tie": "input"}, "did you mean ties"),
        ({"ties": "inputs"}, "ties is one of"),
        ({"beta": 2}, "none of these measures has the axis 'beta'"),
        ({"negative": "sometimes"}, "negative"),
        ({"convention": "sklern"}, "did you mean sklearn"),
    ],
)
def test_axes_that_do_not_exist_are_explained(axes: dict[str, Any], says: str) -> None:
    with pytest.raises(il.UsageError) as caught:
        il.evaluate(QRELS, RUN, "nDCG", **axes)
    assert says in str(caught.value)


def test_one_axis_name_may_mean_measure_or_protocol() -> None:
    qrels, run = {"q": {"a": -1, "b": 1}}, {"q": ["a", "b"]}
    kept = il.evaluate(qrels, run, "DCG", negative="keep")["DCG"]
    dropped = il.evaluate(qrels, run, "DCG", negative="drop")["DCG"]
    assert (round(kept, 4), dropped) == (-0.3691, 1.0)
    both = CONVENTIONS["sklearn"].instrument(il.parse("DCG"), {"negative": "drop"})
    assert (both.measure.negative, both.protocol.negative) == ("keep", "drop")  # type: ignore[attr-defined]


def test_a_subset_of_queries_is_another_instrument() -> None:
    whole = il.evaluate(QRELS, RUN, "RR")
    part = il.evaluate(QRELS, RUN, "RR", queries=["q1", "q2"])
    assert part.queries == ("q1", "q2")
    assert part.signatures["RR"].diff(whole.signatures["RR"]).keys() == {"qrels"}


def test_memory_does_not_grow_with_the_number_of_runs(tmp_path: Path) -> None:
    rng = random.Random(0)
    qrels = {
        f"q{q}": {f"d{rng.randrange(500)}": rng.choice([0, 1, 2]) for _ in range(20)}
        for q in range(5)
    }
    lines = [f"q{q} Q0 d{d} 1 {rng.random()} t\n" for q in range(5) for d in range(200)]
    path = tmp_path / "one.run"
    path.write_text("".join(lines))
    evaluator = il.Evaluator(qrels, ["nDCG@10", "AP"])

    def peak(runs: int) -> int:
        tracemalloc.start()
        for result in evaluator.each(path for _ in range(runs)):
            assert 0 < result["nDCG@10"] < 1
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(2)
    assert peak(40) < 2 * peak(4)  # each run left in memory would add as much again


def test_an_axis_of_one_measure_leaves_the_others_alone() -> None:
    qrels, run = {"q": {"a": -1, "b": 1}}, {"q": ["a", "b"]}
    together = il.evaluate(qrels, run, ["DCG", "AP"], negative="keep")
    assert together["DCG"] == il.evaluate(qrels, run, "DCG", negative="keep")["DCG"]
    assert together["AP"] == il.evaluate(qrels, run, "AP")["AP"]


def test_one_name_is_an_axis_of_measures_and_protocols_by_its_values() -> None:
    shared = {
        (cls.__name__, name)
        for cls in MEASURES.values()
        for name in cls.parameters().keys()
        & (Protocol.parameters() | Aggregate.parameters()).keys()
    }
    assert {name for _, name in shared} == {"negative"}
    for measure, name in shared:
        for value in ("allow", "drop", "error"):
            assert not MEASURES[measure].accepts(name, value)


def test_queries_that_were_left_out_are_not_unknown() -> None:
    found = doubts_of(QRELS, RUN, "RR", queries=["q1"])
    assert found["unknown-queries"].queries == ("q9",)
    run = {query: RUN[query] for query in ("q1", "q2")}
    assert il.evaluate(QRELS, run, "RR", queries=["q1"], unknown="error")["RR"] == 1


def test_ties_that_cannot_move_the_aggregate_are_no_doubt() -> None:
    qrels = {q: {"a": 1} for q in "xyz"}
    run = {"x": {"a": 1.0}, "y": {"a": 1.0}, "z": {"a": 1.0, "b": 1.0}}
    assert "ties" in doubts_of(qrels, run, "RR")
    assert "ties" not in doubts_of(qrels, run, "RR", aggregate="median")


@pytest.mark.parametrize(
    "axis", ["round=query", "round=4(2)", "collapse=(", "depth=0", "aggregate=mode"]
)
def test_values_that_an_axis_cannot_take(axis: str) -> None:
    name, value = axis.split("=")
    with pytest.raises(il.UsageError, match="cannot be"):
        il.evaluate(QRELS, RUN, "RR", **{name: value})


def test_what_an_evaluation_is_called() -> None:
    assert repr(il.evaluate(QRELS, RUN, "RR")) == "<Evaluation run: RR 0.3750 over 4 queries>"


def test_signatures_with_axes_that_do_not_exist() -> None:
    with pytest.raises(il.UsageError, match="no axis 'foo'"):
        il.Signature.parse("nDCG@5|trec_eval+foo:1|qrels:1|rules:1")


def test_an_axis_set_to_none_is_left_open() -> None:
    open_ = il.evaluate(QRELS, RUN, "RR", depth=None, ties=None, aggregate=None)
    assert open_.signatures == il.evaluate(QRELS, RUN, "RR").signatures
    assert il.Protocol(depth=None) == il.Protocol()


def test_queries_are_ids_whatever_they_come_as() -> None:
    qrels, run = {"12": {"a": 1}, "1": {"a": 1}}, {"12": ["a"], "1": ["x"]}
    assert il.evaluate(qrels, run, "RR", queries=iter([12])).queries == ("12",)
    with pytest.raises(il.UsageError, match=r"give a list: queries=\['12'\]"):
        il.evaluate(qrels, run, "RR", queries="12")
    doubts = doubts_of(qrels, run, "RR", queries=["12", "99"])
    assert "1 query asked for has no judgments" in doubts["unknown-queries"].message


def test_ids_that_never_meet_are_a_doubt_of_their_own() -> None:
    other_queries = doubts_of({"q1": {"a": 1}}, {"Q1": {"a": 1.0}}, "RR")["nothing-matches"]
    assert "(q1) is in the run (Q1)" in other_queries.message
    other_documents = doubts_of({"q1": {"a": 1}}, {"q1": {"A": 1.0}}, "RR")["nothing-matches"]
    assert "judged are a, retrieved A" in other_documents.message
    assert "nothing-matches" not in doubts_of(QRELS, RUN)


def test_the_price_of_unjudged_documents_is_said_as_it_is() -> None:
    assert (
        "with all unjudged documents taken out nDCG@10 is"
        in doubts_of(QRELS, RUN)["unjudged"].message
    )


def test_a_threshold_that_merges_grades_is_a_doubt_until_it_is_set() -> None:
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": ["a"]}
    assert "binary-on-graded" in doubts_of(qrels, run, "AP")
    assert "binary-on-graded" not in doubts_of(qrels, run, "AP(rel=1)")
    assert "binary-on-graded" not in doubts_of(qrels, run, "AP", rel=1)
    assert "binary-on-graded" in doubts_of(qrels, run, "nDCG(gain=binary)")
    assert "binary-on-graded" not in doubts_of(qrels, run, ["nDCG", "NumRel"])


def test_judgments_by_subtopic_are_a_doubt(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q1 1 d1 1\nq1 2 d1 0\nq1 1 d2 0\n")
    assert doubts_of(path, {"q1": ["d1"]}, "RR")["subtopics"].count == 2


def test_a_list_without_relevant_documents_is_not_a_query_without() -> None:
    qrels, run = (
        {"q": {"d": 1}, "p": {"d": 1}},
        {"q": {"d": 1.0, "x": 0.5}, "p": {"x": 1.0, "y": 0.5}},
    )
    message = doubts_of(qrels, run, "nDCG", convention="sklearn")["no-relevant"].message
    assert "1 query has no relevant document among those retrieved (p)" in message
    missing = il.evaluate(qrels, {"q": ["d"]}, "nDCG(ideal=retrieved,no_relevant=1)")
    assert missing.values["nDCG(ideal=retrieved,no_relevant=1)"].tolist() == [0.0, 1.0]
    hits = il.evaluate(qrels, run, "AP(denominator=hits,no_relevant=skip)@1")
    assert hits["AP(denominator=hits,no_relevant=skip)@1"] == 1.0


def test_results_by_measure_in_any_spelling() -> None:
    result = il.evaluate(QRELS, RUN, ["ndcg@10", "AP"])
    for mapping in (result.values, result.signatures, result.counted, result.aggregates):
        assert mapping[il.nDCG @ 10] is mapping["ndcg@10"]
    assert list(result) == ["ndcg@10", "AP"]
    assert "nDCG@10" in result
    assert il.RR not in result


def test_a_house_convention_prints_its_long_signature(tmp_path: Path) -> None:
    house = il.Convention("house", "ours", "1", "derived", lambda measure: {"ties": "input"})
    result = il.evaluate(QRELS, RUN, "RR", convention=house)
    assert "|ties:input|" in str(result)
    result.save(tmp_path / "house.json")
    assert str(il.Evaluation.load(tmp_path / "house.json")) == str(result)
    with pytest.raises(il.UsageError, match="cannot write"):
        result.save(tmp_path / "nowhere" / "house.json")


def test_nothing_counted_is_a_sum_of_zero_and_no_mean() -> None:
    result = il.evaluate({"q": {"a": 1}}, {"x": ["a"]}, ["NumQ", "RR"], missing="skip")
    assert result["NumQ"] == 0
    assert math.isnan(result["RR"])
    assert "0 queries" in str(result)


def test_runs_by_name() -> None:
    evaluator = il.Evaluator(QRELS, "RR")
    assert [one.run for one in evaluator.each({"a": RUN, "b": RUN})] == ["a", "b"]
    assert repr(evaluator).startswith("<Evaluator RR over <Qrels")
    with pytest.raises(il.UsageError, match="several runs"):
        il.evaluate(QRELS, ["a.run", "b.run"], "RR")


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_rule_of_a_convention_is_an_axis(name: str) -> None:
    for cls in MEASURES.values():
        instrument = CONVENTIONS[name].instrument(cls())
        assert instrument.measure.written().keys() == cls.parameters().keys()
    misspelt = il.Convention("house", "ours", "1", "derived", lambda measure: {"ties": "inputs"})
    with pytest.raises(il.UsageError, match="no measure or protocol accepts ties=inputs"):
        il.evaluate(QRELS, RUN, "RR", convention=misspelt)


def test_ids_that_meet_are_no_doubt_because_of_what_is_left_out() -> None:
    qrels, run = {"q": {"a": -1, "b": 1}}, {"q": {"x": 2.0, "a": 1.0}}
    for axes in ({"negative": "drop"}, {"depth": 1}):
        assert "nothing-matches" not in doubts_of(qrels, run, "RR", **axes)
    assert "nothing-matches" in doubts_of({"q": {"A": 1}}, run, "RR", unjudged="drop")


def test_a_query_judged_to_have_no_answer_can_stand_alone() -> None:
    judged = {"q1": {"a": 1}, "q2": {}}
    assert il.evaluate(judged, {"q2": ["a"]}, "NumRet", queries=["q2"])["NumRet"] == 1
    with pytest.raises(il.InputError, match="none of the queries asked for is judged"):
        il.evaluate(judged, {"q2": ["a"]}, "RR", queries=["q3"])


@pytest.mark.parametrize("name", il.CONVENTIONS)
def test_an_axis_that_is_set_is_as_good_as_one_that_is_written(name: str) -> None:
    convention = il.CONVENTIONS[name]
    for measure, axis, value in (
        ("nDCG@5", "gain", "exp2"), ("nDCG@5", "gain", "linear"), ("R@5", "denominator", "min(k,R)"),
        ("RR@5", "rel", "2"), ("AP", "no_relevant", "empty"),
    ):  # fmt: skip
        typed, _, cut = measure.partition("@")
        written = il.parse(f"{typed}({axis}={value})" + (f"@{cut}" if cut else ""))
        both = (
            convention.instrument(written),
            convention.instrument(il.parse(measure), {axis: value}),
        )
        assert both[0] == both[1]
        signature = il.Signature.of(both[0], "0123456789")
        assert il.Signature.parse(signature.short(convention)) == signature
