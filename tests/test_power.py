"""Sizes: how many queries show a difference."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealist as il
from idealist.cli.main import main
from idealist.comparing.sample_sizes import Sizes, pilot_sizes, typical_sizes
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator

EXAMPLES = Path(__file__).parents[1] / "examples"
RUNS = [EXAMPLES / "bm25.run", EXAMPLES / "reranked.run"]


@pytest.mark.parametrize(
    ("measure", "queries"),
    [("AP", 88), ("P@10", 239), ("RR", 563), ("nDCG@20", 111), ("ERR@20", 60)],
)
def test_typical_variances_give_the_known_sizes(measure: str, queries: int) -> None:
    assert typical_sizes(measure).needed(0.05) == queries


@given(st.floats(0.01, 1), st.floats(0.005, 0.5), st.sampled_from([0.01, 0.05]))
def test_the_queries_needed_are_the_fewest(sd: float, difference: float, alpha: float) -> None:
    sizes = Sizes("AP", sd, "here", alpha)
    n = sizes.needed(difference)
    assert sizes.detectable(n) <= difference * (1 + 1e-9)
    assert n == 2 or sizes.detectable(n - 1) > difference * (1 - 1e-9)


def test_statsmodels_agrees() -> None:
    from statsmodels.stats.power import TTestPower

    sizes = Sizes("AP", 0.165, "here", alpha=0.01, power=0.9)
    wanted = TTestPower().solve_power(0.03 / 0.165, alpha=0.01, power=0.9)
    assert sizes.needed(0.03) == math.ceil(wanted)
    effect = TTestPower().solve_power(nobs=70, alpha=0.01, power=0.9)
    assert sizes.detectable(70) == pytest.approx(effect * 0.165, rel=1e-6)


def test_a_pilot_of_two_runs_has_the_spread_of_their_differences() -> None:
    evaluator = Evaluator(EXAMPLES / "qrels.txt", "nDCG@10")
    found = [evaluator(run).values["nDCG@10"] for run in RUNS]
    sizes = pilot_sizes(evaluator, RUNS)
    assert sizes.sd == pytest.approx(np.std(found[1] - found[0], ddof=1))
    assert pilot_sizes(evaluator, RUNS[:1]).sd == pytest.approx(
        math.sqrt(2) * np.std(found[0], ddof=1)
    )
    assert pilot_sizes(evaluator, [*RUNS, RUNS[0]]).source == "3 runs on 12 queries"


def test_many_runs_have_the_residual_of_a_table_of_queries_and_runs() -> None:
    values = np.random.default_rng(0).random((4, 9))
    qrels = {f"q{i}": {"d": 1} for i in range(9)}
    ranks = (1 / np.maximum(values, 0.1)).astype(int)
    runs = [
        {f"q{i}": [*(f"x{j}" for j in range(rank - 1)), "d"] for i, rank in enumerate(row)}
        for row in ranks
    ]
    found = 1 / ranks
    apart = found - found.mean(0) - found.mean(1, keepdims=True) + found.mean()
    wanted = math.sqrt(2 * (apart**2).sum() / (3 * 8))
    assert pilot_sizes(Evaluator(qrels, "RR"), runs).sd == pytest.approx(wanted)


def test_a_pilot_that_says_nothing_is_refused() -> None:
    evaluator = Evaluator({"q1": {"d": 1}, "q2": {"d": 1}}, "RR")
    run = {"q1": ["d"], "q2": ["d"]}
    with pytest.raises(UsageError, match="does not vary in this pilot of 2 queries"):
        pilot_sizes(evaluator, [run, run])
    with pytest.raises(UsageError, match="pilot of 1 query"):
        pilot_sizes(Evaluator({"q1": {"d": 1}}, "RR"), [run])


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    main(["power", "-m", "AP", "--difference", "0.05", "--queries", "50", "-f", "json"])
    data = json.loads(capsys.readouterr().out)
    common = {"low": None, "high": None}
    assert data["sizes"][0] == {"asked": "difference", "difference": 0.05, "queries": 88, **common}
    assert data["sizes"][1]["difference"] == pytest.approx(0.0667, abs=1e-4)
    main(["power", str(EXAMPLES / "qrels.txt"), *map(str, RUNS), "--difference", "0.1"])
    captured = capsys.readouterr()
    assert captured.out.split()[-5:] == ["0.1000", "39", "21", "to", "107"]
    assert "bm25 and reranked on 12 queries" in captured.err


def test_the_two_questions_have_a_table_each(capsys: pytest.CaptureFixture[str]) -> None:
    main(["power"])
    answer, first, second = capsys.readouterr().out.split("\n\n")
    assert answer.startswith("2,718 queries show a difference of 0.0100 in nDCG@10 in 80 % of")
    assert first.split()[:5] == ["difference", "of", "nDCG@10", "queries", "needed"]
    assert second.split()[:5] == ["queries", "difference", "of", "nDCG@10", "shown"]
    main(["power", "-f", "tsv", "--queries", "50", "--difference", "0.05"])
    head, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert head == ["asked", "difference", "queries", "low", "high"]
    assert [row[0] for row in rows] == ["difference", "queries"]


def test_no_impossible_difference_is_promised(capsys: pytest.CaptureFixture[str]) -> None:
    main(["power", "-m", "RR", "--queries", "2", "--queries", "50"])
    captured = capsys.readouterr()
    assert captured.out.startswith("2 queries show no possible difference in RR in 80 % of cases.")
    assert "more than 1" in captured.out
    assert typical_sizes("RR").detectable(2) > 1


def test_weights_weigh_the_pilot() -> None:
    qrels = EXAMPLES / "qrels.txt"
    weights = {f"q{i:02}": i for i in range(1, 13)}
    found = il.plan_queries("AP", qrels, RUNS, weights=weights)
    pair = il.compare(qrels, RUNS, "AP", weights=weights).pairs[0]
    assert found.sd == pytest.approx(pair.statistics.sd)
    same = il.plan_queries("AP", qrels, RUNS, weights=dict.fromkeys(weights, 3))
    assert same.sd == pytest.approx(il.plan_queries("AP", qrels, RUNS).sd)
    some = il.plan_queries("AP", qrels, RUNS, queries=list(weights)[:6])
    assert some.pilot == 6


def test_a_plan_is_a_result() -> None:
    found = il.plan_queries("AP", differences=[0.05], numbers=[50])
    assert found.summary == "88 queries show a difference of 0.0500 in AP in 80 % of cases"
    assert [one["asked"] for one in found.data()["sizes"]] == ["difference", "queries"]
    assert "| 50 | 0.0667 |" in found.markdown()
    assert repr(found) == f"<Sizes {found.summary}>"
    with pytest.raises(UsageError, match="AP cannot differ by 2"):
        il.plan_queries("AP", differences=[2])


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["0.02"], "did you mean --difference 0.02?"),
        (["50"], "did you mean --queries 50?"),
        (["--difference", "2"], "nDCG@10 cannot differ by 2"),
    ],
)
def test_a_mistake_is_understood(arguments: list[str], hint: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["power", "-m", "nDCG@10", *arguments])
    assert stopped.value.code == 2
    assert hint in capsys.readouterr().err


def test_a_range_holds_the_truth_as_often_as_it_says() -> None:
    random, truth = np.random.default_rng(0), Sizes("AP", 0.2, "the truth").needed(0.05)
    draws = random.normal(0, 0.2, (1000, 15)).std(axis=1, ddof=1)
    found = [Sizes("AP", float(sd), "a draw", pilot=15).of_difference(0.05) for sd in draws]
    assert 0.93 < np.mean([one.low <= truth <= one.high for one in found]) < 0.975


def test_python_plans_as_the_command_does() -> None:
    pilot = il.plan_queries("nDCG@10", EXAMPLES / "qrels.txt", RUNS)
    assert pilot == pilot_sizes(Evaluator(EXAMPLES / "qrels.txt", "nDCG@10"), RUNS)
    assert (pilot.pilot, pilot.most) == (12, 1)
    assert il.plan_queries("AP") == typical_sizes("AP")
    assert il.plan_queries("DCG@10", EXAMPLES / "qrels.txt", RUNS).needed(2) < 20
    mine = il.measure("mine")(lambda placements: 3 * placements.grid(1).filled(0)[:, 0])
    assert il.plan_queries(mine, EXAMPLES / "qrels.txt", RUNS).needed(0.5) > 2
    with pytest.raises(UsageError, match="the pilot has no runs"):
        il.plan_queries("AP", EXAMPLES / "qrels.txt")


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "R@100"],
        ["-m", "nonsense"],
        ["--difference", "0"],
        ["--queries", "1"],
        ["--set", "ties=input"],
        ["-c", "sklearn"],
        ["--alpha", "1e-17"],
        [str(EXAMPLES / "qrels.txt")],
        ["missing.txt", "missing.run"],
    ],
)
def test_bad_usage_ends_with_2(arguments: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["power", *arguments])
    assert stopped.value.code == 2
    assert "rror" in capsys.readouterr().err
