"""Corrected numbers: few judgments of people and many of a model, against plain loops."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import idealist as il
from effort import tries
from idealist.cli.main import main
from idealist.judging.corrections import CorrectedMean
from idealist.judging.store_records import Judgment
from idealist.significance.prediction_powered import (
    FEWEST_LABELS,
    EstimatedMean,
    PredictionPowered,
    prediction_powered,
)


def oracle(
    y: list[float], f: list[float], g: list[float], w: list[float], v: list[float]
) -> tuple[float, float, float]:
    """Compute the mean, its standard error and λ, loop by loop; labels alone where that is as good.

    Shares no code with the package: each λ is computed anew from all units but one.
    """

    def average(xs: list[float], weights: list[float]) -> float:
        return sum(a * b for a, b in zip(xs, weights, strict=True)) / sum(weights)

    def variance(xs: list[float]) -> float:
        centre = sum(xs) / len(xs)
        return sum((x - centre) ** 2 for x in xs) / (len(xs) - 1)

    def covariance(xs: list[float], zs: list[float]) -> float:
        a, b = sum(xs) / len(xs), sum(zs) / len(zs)
        return sum((x - a) * (z - b) for x, z in zip(xs, zs, strict=True)) / (len(xs) - 1)

    n, more = (sum(x) ** 2 / sum(a * a for a in x) for x in (w, v))
    tunings = []
    for i in range(len(y)):
        others = [k for k in range(len(y)) if k != i]
        shared = covariance([y[k] for k in others], [f[k] for k in others])
        spread = variance([f[k] for k in others] + g)
        tunings.append(min(1.0, max(0.0, shared / (1 + n / more) / spread)))
    centre = average(g, v)
    u = [a - t * (b - centre) for a, b, t in zip(y, f, tunings, strict=True)]
    tuning = sum(tunings) / len(tunings)
    error = math.sqrt(variance(u) / n + tuning**2 * variance(g) / more)
    plain = math.sqrt(variance(y) / n)
    return (average(u, w), error, tuning) if error < plain else (average(y, w), plain, 0.0)


def some(seed: int, n: int, more: int, share: float) -> tuple[list[float], ...]:
    rng = random.Random(seed)
    y = [rng.betavariate(1, 2) for _ in range(n)]
    f = [share * one + (1 - share) * rng.random() + 0.1 for one in y]
    g = [share * rng.betavariate(1, 2) + (1 - share) * rng.random() + 0.1 for _ in range(more)]
    w, v = ([rng.random() + 0.1 for _ in range(size)] for size in (n, more))
    return y, f, g, w, v


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("sizes", [(5, 5), (20, 40), (31, 7), (40, 300)])
def test_as_plain_loops_compute_it(sizes: tuple[int, int], share: float) -> None:
    y, f, g, w, v = some(sum(sizes), *sizes, share)
    ones = [1.0] * sizes[0], [1.0] * sizes[1]
    for weights, given_weights in ((ones, ()), ((w, v), (w, v))):
        value, error, tuning = oracle(y, f, g, *weights)
        found = prediction_powered(y, f, g, *given_weights)
        assert found.corrected.value == pytest.approx(value, rel=1e-12)
        assert found.corrected.se == pytest.approx(error, rel=1e-10)
        assert found.tuning == pytest.approx(tuning, rel=1e-10)
        assert found.corrected.se <= found.labelled.se


def test_the_interval_is_students() -> None:
    y, f, g, _, _ = some(1, 30, 90, 0.7)
    found = prediction_powered(y, f, g)
    for mean, df in ((found.corrected, 29), (found.labelled, 29), (found.predicted, 119)):
        half = stats.t.ppf(0.95, df) * mean.se
        expected = (mean.value - half, mean.value + half)
        assert mean.interval(0.9) == pytest.approx(expected, rel=1e-9)
    assert found.labelled.value == pytest.approx(np.mean(y))
    assert found.predicted.value == pytest.approx(np.mean(f + g))
    assert found.bias.value == pytest.approx(np.mean(f) - np.mean(y))
    assert found.bias.se == pytest.approx(stats.sem(np.subtract(f, y)))
    assert found.correlation == pytest.approx(np.corrcoef(y, f)[0, 1])
    expected_p = 2 * stats.t.sf(
        abs(np.mean(f) - np.mean(g)) / np.hypot(stats.sem(f), stats.sem(g)), 29
    )
    assert found.p_of_gap == pytest.approx(expected_p)


def test_a_perfect_judge_is_worth_all_its_labels() -> None:
    rng = np.random.default_rng(4)
    y, g = rng.random(50), rng.random(450)
    found = prediction_powered(y, y, g)
    assert found.tuning == pytest.approx(0.9, abs=0.1)
    assert found.worth == pytest.approx(500, rel=0.2)
    assert found.saved == found.worth - 50
    assert found.corrected.value == pytest.approx(np.mean([*y, *g]), abs=0.01)


@pytest.mark.parametrize("f", [[0.5] * 30, [0.1 + 0.2] * 29 + [0.3], [*range(30)]])
def test_a_judge_who_tells_nothing_does_not_count(f: list[float]) -> None:
    y = [0.0, 1.0, 0.0] * 10 if len({*f}) < 30 else [float(-i) for i in range(30)]
    found = prediction_powered(y, f, f)
    assert (found.tuning, found.corrected) == (0, found.labelled)
    assert found.saved == 0


def test_labels_that_are_all_the_same() -> None:
    found = prediction_powered([0.5] * 20, np.arange(20), np.arange(30))
    assert tuple(found.corrected) == tuple(found.labelled) == (0.5, 0, 19)
    assert (found.worth, found.tuning) == (20, 0)
    assert math.isnan(found.correlation)
    assert prediction_powered([0.5] * 20, [1] * 20, [1] * 20).p_of_gap == 1


@given(st.integers(0, 10**6), st.floats(0, 1), st.floats(-5, 5))
@settings(max_examples=tries(25, 500))
def test_laws(seed: int, share: float, shift: float) -> None:
    y, f, g, w, v = some(seed, 25, 60, share)
    found = prediction_powered(y, f, g)

    def same(other: PredictionPowered) -> None:
        assert other.corrected == pytest.approx(found.corrected, rel=1e-7)
        assert other.tuning == pytest.approx(found.tuning, rel=1e-7)

    same(prediction_powered(y[::-1], f[::-1], g[::-1]))
    same(prediction_powered(y, np.add(f, shift), np.add(g, shift)))  # a bias that all share
    same(prediction_powered(y, f, g, [3] * 25, [3] * 60))
    assert found.corrected.se <= found.labelled.se
    assert 25 <= found.worth <= 85
    assert 0 <= found.tuning <= 1
    weighed = prediction_powered(y, f, g, w, v)
    doubled = prediction_powered(y, f, g, np.multiply(w, 2), np.multiply(v, 2))
    assert doubled.corrected == pytest.approx(weighed.corrected, rel=1e-9)


def binary_labels(data: Path) -> list[Any]:
    """RAG25: what NIST and UMBRELA said of the same passages, relevant from grade 2 on."""
    sides = []
    for name in ("nist", "umbrela2"):
        rows = map(str.split, (data / "rag25" / f"{name}.txt").read_text().splitlines())
        sides.append(
            {(query, passage): float(int(grade) >= 2) for query, _, passage, grade in rows}
        )
    pairs = sorted(sides[0])
    return [np.array([side[pair] for pair in pairs]) for side in sides]


def test_real_labels(data: Path) -> None:
    """Every 34th passage is labelled; ppi_py 0.2.3, whose λ has seen them, says 0.50564, 0.1046."""
    y, f = binary_labels(data)
    drawn = np.arange(0, len(y), 34)[:300]
    others = np.delete(f, drawn)
    found = prediction_powered(y[drawn], f[drawn], others)
    low, high = found.corrected.interval()
    assert found.corrected.value == pytest.approx(0.505483, abs=1e-6)
    assert high - low == pytest.approx(0.105562, abs=1e-6)
    assert found.tuning == pytest.approx(0.374038, abs=1e-6)
    assert found.correlation == pytest.approx(0.385479, abs=1e-6)
    some_others = others[:500].tolist()
    again = prediction_powered(y[drawn], f[drawn], some_others)
    expected = oracle(y[drawn].tolist(), f[drawn].tolist(), some_others, [1] * 300, [1] * 500)
    assert (*again.corrected[:2], again.tuning) == pytest.approx(expected, rel=1e-10)


def test_intervals_cover_the_truth_of_real_labels(data: Path) -> None:
    """A small version of live/test_correct_coverage.py."""
    y, f = binary_labels(data)
    rng = np.random.default_rng(7)
    held, widths, rounds = 0, [], tries(400, 4000)
    for _ in range(rounds):
        drawn = rng.choice(len(y), 500, replace=False)
        mine, others = drawn[:100], drawn[100:]
        found = prediction_powered(y[mine], f[mine], f[others])
        low, high = found.corrected.interval()
        held += low <= y.mean() <= high
        widths.append(found.corrected.se / found.labelled.se)
    assert 0.92 <= held / rounds <= 0.98
    assert max(widths) <= 1
    assert np.mean(widths) < 0.95


# The verb


QUERIES = [f"q{i}" for i in range(120)]


def made(seed: int = 0) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Make judgments of people for all queries, those of a generous model, and two runs."""
    rng = random.Random(seed)
    truth, model = {}, {}
    runs: dict[str, Any] = {"old": {}, "new": {}}
    for query in QUERIES:
        truth[query] = {f"d{i}": rng.choice([0, 0, 0, 1, 2]) for i in range(12)}
        model[query] = {
            doc: grade if rng.random() < 0.7 else min(2, grade + 1)
            for doc, grade in truth[query].items()
        }
        for name, help_of_grade in (("old", 0.5), ("new", 1.5)):
            score = {doc: rng.random() + help_of_grade * rng.random() * grade
                     for doc, grade in truth[query].items()}  # fmt: skip
            runs[name][query] = score
    return truth, model, runs


def few_of(truth: dict[str, Any], count: int = 40) -> dict[str, Any]:
    return {query: truth[query] for query in QUERIES[:count]}


def test_means_and_differences_by_hand() -> None:
    truth, model, runs = made()
    people = few_of(truth)
    found = il.corrected(people, model, runs, ["nDCG@5", "P@3"], baseline="old")
    assert [(one.run, one.measure) for one in found.means] == [
        ("old", "nDCG@5"), ("old", "P@3"), ("new", "nDCG@5"), ("new", "P@3"),
    ]  # fmt: skip
    assert [(one.run, one.baseline) for one in found.differences] == [("new", "old")] * 2
    values = {
        (name, who): il.evaluate(judged, run, "nDCG@5").by_query("nDCG@5")
        for name, run in runs.items()
        for who, judged in (("people", people), ("model", model))
    }
    mine, others = QUERIES[:40], QUERIES[40:]
    y, f, g = ([values["new", who][q] - values["old", who][q] for q in some]
               for who, some in (("people", mine), ("model", mine), ("model", others)))  # fmt: skip
    expected = prediction_powered(y, f, g)
    assert found.differences[0].corrected == pytest.approx(expected.corrected, rel=1e-12)
    assert found.differences[0].found.worth == pytest.approx(expected.worth, rel=1e-12)
    truly = np.mean([il.evaluate(truth, runs[name], "nDCG@5")["nDCG@5"] for name in ("old", "new")])
    inflated = np.mean([one.predicted.value for one in found.means if one.measure == "nDCG@5"])
    best = np.mean([one.corrected.value for one in found.means if one.measure == "nDCG@5"])
    assert abs(best - truly) < abs(inflated - truly)
    assert all(one.found.bias.value > 0 for one in found.means if one.measure == "P@3")
    assert not found.doubts
    assert "by people alone" in found.summary


def test_queries_that_people_judged_are_left_to_them() -> None:
    """A query that people judged is no other one, even where its value is not defined."""
    truth, model, runs = made()
    people = few_of(truth)
    people["q3"] = dict.fromkeys(people["q3"], 0)
    without = sum(not any(own.values()) for own in people.values())
    found = il.corrected(people, model, runs["new"], "AP", no_relevant="skip").means[0].found
    assert (found.n, found.others) == (40 - without, 80)
    alone = {**few_of(truth), "only": {"d1": 1}}
    doubts = {one.code: one for one in il.corrected(alone, model, runs["new"], "AP").doubts}
    assert doubts["no-model-labels"].queries == ("only",)


def test_weights_and_queries() -> None:
    truth, model, runs = made()
    people = few_of(truth)
    weights = {query: 1.0 + (i % 7) for i, query in enumerate(QUERIES)}
    found = il.corrected(people, model, runs["new"], "P@3", weights=weights).means[0]
    expected = il.evaluate(people, runs["new"], "P@3", weights=weights)
    assert found.human.value == pytest.approx(expected["P@3"])
    assert found.interval(found.human) == pytest.approx(expected.interval("P@3"))
    some = il.corrected(people, model, runs["new"], "P@3", queries=QUERIES[10:90]).means[0]
    assert (some.n, some.found.others) == (30, 50)
    whole = il.corrected(people, model, runs["new"], "P@3", weights=weights, confidence=0.9)
    codes = {one["code"] for one in whole.data()["doubts"]}
    assert "unjudged-traffic" not in codes  # the model judged what people did not
    assert "95 %" not in str(whole)
    weights["q0"] = 0.0
    fewer = il.corrected(people, model, runs["new"], "P@3", weights=weights).means[0]
    assert fewer.n == 39


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"human": few_of(made()[0], FEWEST_LABELS - 1)}, "share 19 queries"),
        ({"human": {"x": {"d": 1}}}, "no query in common"),
        ({"model": few_of(made()[1])}, "judged no query that people did not"),
        ({"model": few_of(made()[1], 43)}, "judged 3 queries that people did not"),
        ({"model": made()[0]}, "as if it held their judgments"),
        ({"measures": ["P@3", "NumRel"]}, "NumRel is not a mean"),
        ({"aggregate": "median"}, "not a mean"),
        ({"baseline": "oldd"}, "no run 'oldd'"),
        ({"baseline": "new", "runs": {"new": made()[2]["new"]}}, "two runs"),
        ({"confidence": 95}, "confidence cannot be 95"),
        ({"confidence": math.nan}, "confidence"),
        ({"confidence": "0.9"}, "confidence"),
    ],
)
def test_refusals(change: dict[str, Any], words: str) -> None:
    truth, model, runs = made()
    given = {"human": few_of(truth), "model": model, "runs": runs, "measures": "P@3"} | change
    with pytest.raises(il.UsageError, match=words) as caught:
        il.corrected(**given)
    assert caught.value.hint


def test_too_few_values_are_refused() -> None:
    truth, model, runs = made()
    people = {
        q: own if i % 3 else dict.fromkeys(own, 0)
        for i, (q, own) in enumerate(few_of(truth, 28).items())
    }
    with pytest.raises(il.UsageError, match="has a value by both in 16 queries"):
        il.corrected(people, model, runs["new"], "AP", no_relevant="skip")


def test_a_choice_that_was_not_random_is_doubted() -> None:
    truth, model, runs = made()
    values = il.evaluate(model, runs["new"], "nDCG@5").by_query("nDCG@5")
    easiest = sorted(QUERIES, key=lambda query: -values[query])[:40]
    found = il.corrected({q: truth[q] for q in easiest}, model, runs["new"], "nDCG@5")
    assert [one.code for one in found.doubts] == ["unlike-sample"]
    assert "higher in the queries that people judged" in found.doubts[0].finding


def test_a_run_that_lacks_the_models_queries() -> None:
    """The queries that it lacks count as empty lists, as if people had judged the easy ones."""
    truth, model, runs = made()
    run = {query: runs["new"][query] for query in QUERIES[:60]}
    found = il.corrected(few_of(truth), model, run, "nDCG@5")
    assert [one.code for one in found.doubts] == ["missing-queries", "unlike-sample"]
    assert "60 judged queries are not in the run" in found.doubts[0].finding
    (one,) = found.means
    low, high = one.interval()
    assert 0 <= low <= one.value <= high <= 1
    alone = {query: run[query] for query in QUERIES[:40]}
    with pytest.raises(il.UsageError, match="none of the queries that only the model judged"):
        il.corrected(few_of(truth), model, alone, "nDCG@5")


def test_a_value_stays_where_values_can_be() -> None:
    mean = EstimatedMean(-0.04, 0.01, 39)
    found = replace(prediction_powered([0.0, 1.0] * 10, [1.0] * 20, [0.0] * 20), corrected=mean)
    one = CorrectedMean("run", "AP", "", found, (0.0, 1.0))
    assert (one.value, one.interval()) == (0, (0, 0))
    assert one.data()["corrected"] == {"value": 0, "ci": [0, 0], "se": 0.01}


def test_people_who_judged_less_are_doubted() -> None:
    truth, model, runs = made()
    people = {q: dict(list(own.items())[:8]) for q, own in few_of(truth).items()}
    (doubt,) = il.corrected(people, model, runs["new"], "nDCG@5").doubts
    assert (doubt.code, doubt.count, doubt.total) == ("people-judged-less", 160, 480)


def test_a_model_that_does_not_help_is_said() -> None:
    truth, _, runs = made()
    rng = random.Random(3)
    guessed = {q: {d: rng.choice([0, 1]) for d in own} for q, own in truth.items()}
    found = il.corrected(few_of(truth), guessed, runs["new"], "nDCG@5")
    (one,) = found.means
    if not one.helped:
        assert one.corrected == one.human
        assert "did not help for nDCG@5 of run" in str(found)
    assert one.found.saved < 4


def test_judges_inside_a_store(tmp_path: Path) -> None:
    truth, model, runs = made()
    path = str(tmp_path / "labels.db")
    with il.Store.create(path) as store:
        for judge, kind, judged in (("ann", "human", few_of(truth)), ("m", "model", model)):
            store.judge_all(
                Judgment(query, document, grade, judge, kind)
                for query, own in judged.items()
                for document, grade in own.items()
            )
    found = il.corrected(f"{path}#human", f"{path}#model", runs, "nDCG@5", baseline="old")
    expected = il.corrected(few_of(truth), model, runs, "nDCG@5", baseline="old")
    assert found.data()["differences"] == expected.data()["differences"]
    with pytest.raises(il.UsageError, match="as if it held their judgments"):
        il.corrected(f"{path}#human", path, runs, "nDCG@5")
    with pytest.raises(il.UsageError, match="no query that people did not") as caught:
        il.corrected(path, f"{path}#model", runs, "nDCG@5")
    assert "labels.db#human" in caught.value.hint


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth, model, runs = made()
    files = {"people.json": few_of(truth), "model.json": model, "old.json": runs["old"],
             "new.json": runs["new"]}  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    paths = [str(tmp_path / name) for name in files]
    main(["correct", *paths, "-m", "nDCG@5", "--baseline", paths[2], "-f", "json"])
    shown = json.loads(capsys.readouterr().out)
    found = il.corrected(few_of(truth), model, runs, "nDCG@5", baseline="old")
    assert shown["means"] == found.data()["means"]
    assert shown["differences"][0]["saved"] == pytest.approx(found.differences[0].found.saved)
    assert shown["signatures"]["nDCG@5"].count("corrected:model(") == 1
    main(["correct", *paths, "-m", "nDCG@5", "-b", "old", "-f", "csv"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("run,measure,baseline,corrected.value,corrected.se,corrected.low")
    assert len(lines) == 4
    main(["correct", *paths, "-m", "nDCG@5"])
    out, err = capsys.readouterr()
    assert "assumed: the 40 queries are a random sample of all" in err
    assert "people alone" in out
    with pytest.raises(SystemExit):
        main(["correct", paths[0], paths[1]])


def test_values_that_are_all_the_same_have_no_interval() -> None:
    people = {f"q{i}": {"a": 0, "c": 1} for i in range(25)}
    model = {f"q{i}": {"a": int(i % 3 == 0), "c": 1} for i in range(100)}
    found = il.corrected(people, model, {query: ["a"] for query in model}, "RR")
    assert found.data()["means"][0]["corrected"] == {"value": 0, "ci": [None, None], "se": 0}
    assert "RR 0.0000 (no interval), corrected" in found.summary
    assert "no ±: by people all queries have the same value there" in str(found)
