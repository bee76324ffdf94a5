"""Weights of queries: weighted means, their intervals, what is refused, what is doubted."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import idealist as il
from generated import seeds, some_case
from idealist.cli.main import main
from idealist.data.queries import Weights
from idealist.measures.instrument import Aggregate
from idealist.significance.means import mean, mean_interval

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
RUN = {"q1": ["a"], "q2": ["x", "a"], "q3": ["x", "y", "z", "a"]}  # RR 1, 1/2, 1/4
TRAFFIC = {"q1": 1, "q2": 2, "q3": 5}

values_and_weights = st.lists(
    st.tuples(st.just(0.0) | st.floats(1e-100, 1), st.floats(1e-6, 1e6)), min_size=2, max_size=20
)


def weighed(weights: Any, measures: Any = "RR", **options: Any) -> il.Evaluation:
    return il.evaluate(QRELS, RUN, measures, weights=weights, **options)


def code_of(weights: Any, **options: Any) -> str:
    with pytest.raises(il.InputError) as caught:
        weighed(weights, **options)
    assert caught.value.hint
    return caught.value.code


def test_the_weighted_mean() -> None:
    result = weighed(TRAFFIC, ["RR", "NumRel", "NumQ"])
    assert result["RR"] == (1 * 1 + 2 * 0.5 + 5 * 0.25) / 8
    assert (result["NumRel"], result["NumQ"]) == (3, 3)
    assert result.values["RR"].tolist() == [1, 0.5, 0.25]
    fields = result.signatures["RR"].fields
    assert fields["aggregate"] == f"weighted({Weights.read(TRAFFIC).hash})"
    assert result.signatures["NumRel"].fields["aggregate"] == "sum"
    assert weighed(TRAFFIC, "NumRet", aggregate="mean")["NumRet"] == (1 + 4 + 20) / 8
    assert weighed(TRAFFIC, round=2)["RR"] == 0.41
    assert weighed(TRAFFIC, round="query(1)")["RR"] == pytest.approx((1 + 1 + 5 * 0.2) / 8)
    assert str(result).count("weighted") >= 2


def test_weights_in_every_shape_are_the_same_weights(tmp_path: Path) -> None:
    path = tmp_path / "traffic.json"
    signature = weighed(TRAFFIC).signatures
    shapes: list[Any] = [
        {"q3": 5.0, "q1": "1", "q2": np.int64(2)},
        il.Queries(dict.fromkeys(TRAFFIC, "text"), {"weight": TRAFFIC}),
        Weights.read(TRAFFIC),
    ]
    for text in (
        {q: {"text": "x", "weight": w} for q, w in TRAFFIC.items()},
        TRAFFIC,
    ):
        path.write_text(json.dumps(text))
        shapes.append(il.read_queries(path))
    path.write_text("q1\t1\nq2\t2\nq3\t5\n")
    shapes.append(il.read_queries(path))
    for shape in shapes:
        assert weighed(shape).signatures == signature
        assert weighed(shape)["RR"] == weighed(TRAFFIC)["RR"]
    assert weighed({**TRAFFIC, "q3": 6}).signatures != signature
    assert il.evaluate({12: {"a": 1}}, {12: ["a"]}, "RR", weights={12: 3})["RR"] == 1


@pytest.mark.parametrize(
    "weight", [-1, float("nan"), float("inf"), 1e-300, 1e300, 10**400, "1/0", "x", None, True]
)
def test_what_is_no_weight_is_refused(weight: Any) -> None:
    assert code_of({**TRAFFIC, "q2": weight}) == "bad-weight"


def test_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(il.InputError, match="query 'q2' has no weight") as caught:
        weighed({"q1": 1})
    assert "0 leaves a query out" in caught.value.hint
    assert (caught.value.code, caught.value.total) == ("missing-weight", 2)
    assert code_of(dict.fromkeys(TRAFFIC, 0)) == "bad-weight"
    assert code_of({}) == "empty"
    assert code_of({"1": 1, 1: 2}) == "duplicate-key"
    assert code_of(il.Queries({"q1": "a text"})) == "missing-column"
    with pytest.raises(il.UsageError, match="read_queries"):
        weighed("traffic.json")
    for aggregate in ("median", "geometric", "sum"):
        with pytest.raises(il.UsageError, match="weights need a mean"):
            weighed(TRAFFIC, aggregate=aggregate)
    with pytest.raises(il.UsageError, match="weights that were not given"):
        il.evaluate(QRELS, RUN, "RR", aggregate="weighted(0123456789)")


def test_a_query_of_weight_0_is_left_out() -> None:
    left = weighed({"q1": 1, "q2": 3, "q3": 0}, ["RR", "NumQ"])
    fewer = weighed({"q1": 1, "q2": 3}, queries=["q1", "q2"])
    assert left["RR"] == fewer["RR"] == 0.625
    assert left.interval("RR") == fewer.interval("RR")
    assert left.counted["RR"].tolist() == [True, True, False]
    assert (left["NumQ"], left.queries) == (3, ("q1", "q2", "q3"))
    assert "2 to 3 queries" in str(left)


def test_queries_that_do_not_count_need_no_weight() -> None:
    run = {"q1": ["a"], "q2": ["x", "a"]}
    result = il.evaluate(QRELS, run, "RR", weights={"q1": 1, "q2": 3}, missing="skip")
    assert result["RR"] == 0.625
    nothing = il.evaluate(QRELS, {"z": ["a"]}, "RR", weights={"q1": 1}, missing="skip")
    assert math.isnan(nothing["RR"])
    judged = {**QRELS, "q4": {"a": 0}}
    skipped = il.evaluate(judged, RUN, "RR(no_relevant=skip)", weights=TRAFFIC)
    assert skipped["RR(no_relevant=skip)"] == weighed(TRAFFIC)["RR"]
    undefined = {**TRAFFIC, "q4": 1}
    assert math.isnan(il.evaluate(judged, RUN, "RR", weights=undefined, no_relevant="nan")["RR"])


@given(values_and_weights)
@settings(deadline=None)
def test_laws_of_the_weighted_mean(pairs: list[tuple[float, float]]) -> None:
    values, weights = zip(*pairs, strict=True)
    centre = mean(values, weights)
    exact = sum(Fraction(x) * Fraction(w) for x, w in pairs) / sum(map(Fraction, weights))
    assert centre == pytest.approx(float(exact), rel=1e-14, abs=1e-300)
    assert mean(values[::-1], weights[::-1]) == centre
    assert mean(values, [2 * w for w in weights]) == pytest.approx(centre, rel=1e-14, abs=1e-300)
    assert mean(values, [1] * len(values)) == mean(values)
    assert min(values) - 1e-12 <= centre <= max(values) + 1e-12


@given(values_and_weights, st.sampled_from([0.5, 0.95, 0.99]))
@settings(deadline=None)
def test_laws_of_the_interval(pairs: list[tuple[float, float]], confidence: float) -> None:
    values, weights = [0.1 + 0.3 * x for x, _ in pairs], [w for _, w in pairs]
    n = len(values)
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * np.std(values, ddof=1) / math.sqrt(n)
    usual = np.mean(values) - half, np.mean(values) + half
    for equal in (None, [3.0] * n):
        assert mean_interval(values, equal, confidence) == pytest.approx(usual, rel=1e-9, abs=1e-12)
    low, high = mean_interval(values, weights, confidence)
    again = mean_interval(values, [4 * w for w in weights], confidence)
    assert again == pytest.approx((low, high), rel=1e-12, abs=1e-15)
    assert low - 1e-12 <= mean(values, weights) <= high + 1e-12


@pytest.mark.parametrize("power", [0.0, 1.0, 1.3])
def test_the_interval_covers_what_it_says(power: float) -> None:
    """Normal values under Zipf's weights: 95 % of the intervals should hold the mean."""
    rng = random.Random(20)
    held, rounds, weights = 0, 4000, [rank**-power for rank in range(1, 31)]
    for _ in range(rounds):
        low, high = mean_interval([rng.gauss(0.5, 0.2) for _ in weights], weights)
        held += low <= 0.5 <= high
    assert 0.94 <= held / rounds <= 0.965


def test_the_interval_by_hand() -> None:
    result = weighed(TRAFFIC)
    centre, spread = result["RR"], np.std([1, 0.5, 0.25], ddof=1)
    half = stats.t.ppf(0.8, 2) * spread * math.sqrt(1 + 4 + 25) / 8
    found = result.interval("RR", confidence=0.6)
    assert found == pytest.approx((centre - half, centre + half), rel=1e-12)
    assert result.interval("RR")[0] == 0  # the rest of the interval is impossible
    more = {f"q{i}": {"a": 1} for i in range(6)}
    lists = {query: ["a"] if i else ["x", "a"] for i, query in enumerate(more)}
    said = str(il.evaluate(more, lists, "RR", weights=dict.fromkeys(more, 2)))
    assert "6 queries, weighted (as sure as 6.0 of equal weight)" in said
    assert "95 % interval of the weighted mean" in said
    assert "95 % interval of the mean" in str(il.evaluate(more, lists, "RR"))


def test_weights_are_saved_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    result = weighed({**TRAFFIC, "elsewhere": 7}, ["RR", "NumRel"])
    assert result.weights == TRAFFIC
    result.save(path)
    loaded = il.Evaluation.load(path)
    assert loaded.weights == result.weights
    assert loaded.interval("RR") == result.interval("RR")
    assert loaded.data() == result.data()
    assert str(loaded) == str(result)
    plain = il.evaluate(QRELS, RUN, "RR")
    plain.save(path)
    assert "weights" not in json.loads(path.read_text())
    assert il.Evaluation.load(path).interval("RR") == plain.interval("RR")


def doubts_of(weights: Any, **options: Any) -> dict[str, il.Doubt]:
    return {doubt.code: doubt for doubt in weighed(weights, **options).doubts}


def test_traffic_that_nobody_judged_is_a_doubt() -> None:
    doubt = doubts_of({**TRAFFIC, "q8": 1, "q9": 11, "idle": 0})["unjudged-traffic"]
    assert doubt.message.startswith("the judged queries carry 40 % of the weight; 2 queries")
    assert (doubt.count, doubt.queries) == (2, ("q8", "q9"))
    assert "unjudged-traffic" not in doubts_of(TRAFFIC)
    some = doubts_of({**TRAFFIC, "q9": 11}, queries=["q1", "q2"])
    assert "unjudged-traffic" not in some
    assert "99.9 %" in doubts_of({**TRAFFIC, "q9": 1e-9})["unjudged-traffic"].message
    assert "unjudged-traffic" not in doubts_of({**TRAFFIC, "q9": 11}, measures="NumRel")


def test_few_queries_that_weigh_most_are_a_doubt() -> None:
    doubt = doubts_of(TRAFFIC)["few-queries-weigh"]
    assert (doubt.count, doubt.queries) == (1, ("q3",))
    assert doubt.values == {"RR": pytest.approx(1.75 / 3)}
    alike = 64 / 30
    assert (
        f"one of {alike:.1f} queries of equal weight; without weights RR is 0.5833" in doubt.message
    )
    assert "few-queries-weigh" not in doubts_of({"q1": 1, "q2": 1, "q3": 2})
    many = {f"q{i}": {"a": 1} for i in range(40)}
    run = {query: ["a"] for query in many}
    skewed = {f"q{i}": 1 / (i + 1) ** 2 for i in range(40)}
    gentle = {f"q{i}": 40 - i for i in range(40)}
    for weights, doubted in ((skewed, True), (gentle, False)):
        found = il.evaluate(many, run, "RR", weights=weights).doubts
        assert ("few-queries-weigh" in {doubt.code for doubt in found}) == doubted


def test_prices_of_other_doubts_are_weighted() -> None:
    run = {query: RUN[query] for query in ("q1", "q2")}
    found = il.evaluate(QRELS, run, "RR", weights=TRAFFIC).doubts
    missing = next(doubt for doubt in found if doubt.code == "missing-queries")
    assert missing.values == {"RR": pytest.approx(2 / 3)}


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_equal_weights_change_no_number(seed: int) -> None:
    rng = random.Random(seed)
    qrels, rows = some_case(rng)
    measures = ["nDCG@5", "AP", "RR(no_relevant=skip)", "NumRel"]
    plain = il.evaluate(qrels, rows, measures)
    same = il.evaluate(qrels, rows, measures, weights=dict.fromkeys(qrels, 4))
    np.testing.assert_array_equal(list(plain.aggregates.values()), list(same.aggregates.values()))
    for measure in measures:
        assert same.interval(measure) == pytest.approx(plain.interval(measure), nan_ok=True)


def test_weights_belong_to_a_mean() -> None:
    weights = Weights.read({"a": 1, "b": 3})
    aggregate = Aggregate(weights=weights)
    assert aggregate.of([0.0, 1.0], ["a", "b"]) == 0.75
    assert replace(aggregate, round=1).of([0.0, 1.0], ["a", "b"]) == 0.8
    assert math.isnan(aggregate.of([], []))
    assert math.isnan(aggregate.of([math.nan], ["a"]))


def test_the_command_line_takes_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"qrels": QRELS, "run": RUN, "traffic": {q: {"weight": w} for q, w in TRAFFIC.items()}}
    for name, data in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    arguments = ["eval", "qrels.json", "run.json", "-m", "RR", "-f", "tsv", "--weights"]
    main([*arguments, "traffic.json"])
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == "run\tall\tRR\t0.40625"
    assert f"RR|trec_eval+aggregate:weighted({Weights.read(TRAFFIC).hash})|qrels:" in captured.err
    (tmp_path / "traffic.json").write_text('{"q1": 1}')
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "traffic.json"])
    assert ended.value.code == 2
    assert "traffic.json: query 'q2' has no weight [missing-weight]" in capsys.readouterr().err
