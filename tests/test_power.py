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
from effort import SLOW
from idealist.cli.main import main
from idealist.comparing.sample_sizes import (
    Sizes,
    freedom_of,
    pilot_sizes,
    typical_sizes,
    variance_parts,
)
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.significance.families import level_of_best
from idealist.significance.power_analysis import ADHOC, COVID, TYPICAL, WEB

Array = np.ndarray[Any, np.dtype[np.float64]]

EXAMPLES = Path(__file__).parents[1] / "examples"
RUNS = [EXAMPLES / "bm25.run", EXAMPLES / "reranked.run"]


def spread(values: Array) -> list[float]:
    """Compute the deviation of the difference of each pair of runs: its median, and 8 of 10."""
    first, second = np.triu_indices(len(values), 1)
    sds = (values[first] - values[second]).std(axis=1, ddof=1)
    return [round(float(each), 4) for each in np.quantile(sds[sds > 0], [0.5, 0.1, 0.9])]


def kept(source: str) -> dict[str, list[float]]:
    return {one.measure: [one.sd, one.low, one.high] for one in TYPICAL if one.source == source}


def test_typical_deviations_are_those_of_real_runs(data: Path) -> None:
    for name, source, measure in (("adhoc8_ap", ADHOC, "AP"), ("web2013_ndcg20", WEB, "nDCG@20")):
        values = np.genfromtxt(data / "sigir2019" / f"{name}.csv", delimiter=",", skip_header=1).T
        assert kept(source)[measure] == spread(values)
        assert source.startswith(str(len(values)))


@SLOW
def test_typical_deviations_are_those_of_all_runs_of_a_track(data: Path) -> None:
    folder, wanted = data / "trec-covid-r1", kept(COVID)
    files = [*sorted(folder.glob("runs/*")), *sorted(folder.glob("more/*"))]
    evaluator = Evaluator(folder / "qrels.txt", list(wanted))
    found = [evaluator(file) for file in files]
    for measure, own in wanted.items():
        assert own == spread(np.array([list(one.by_query(measure).values()) for one in found]))
    assert COVID.startswith(str(len(files)))


def test_the_nearest_cutoff_and_the_wider_track_count() -> None:
    assert typical_sizes("nDCG@10").sd == typical_sizes("nDCG@5").sd == 0.2565
    assert typical_sizes("nDCG@20").sd == typical_sizes("nDCG@30").sd == 0.2068
    assert typical_sizes("nDCG@20").sds == (0.1596, 0.2503)  # of the same track
    assert typical_sizes("nDCG").sd == typical_sizes("nDCG@1000").sd == 0.1669
    ap = typical_sizes("AP").of_difference(0.05)
    assert (ap.low, ap.queries, ap.high) == (41, 82, 144)


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
    range_ = {"low": 41, "high": 144}
    assert data["sizes"][0] == {"asked": "difference", "difference": 0.05, "queries": 82, **range_}
    assert data["sizes"][1]["difference"] == pytest.approx(0.0643, abs=1e-4)
    main(["power", str(EXAMPLES / "qrels.txt"), *map(str, RUNS), "--difference", "0.1"])
    captured = capsys.readouterr()
    assert captured.out.split()[-5:] == ["0.1000", "39", "21", "to", "107"]
    assert "bm25 and reranked on 12 queries" in captured.err


def test_the_two_questions_have_a_table_each(capsys: pytest.CaptureFixture[str]) -> None:
    main(["power"])
    answer, first, second = capsys.readouterr().out.split("\n\n")
    assert answer.startswith("5,166 queries show a difference of 0.0100 in nDCG@10 in 80 % of")
    assert first.split()[:5] == ["difference", "of", "nDCG@10", "queries", "needed"]
    assert second.split()[:5] == ["queries", "difference", "of", "nDCG@10", "shown"]
    main(["power", "-f", "tsv", "--queries", "50", "--difference", "0.05"])
    head, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert head == ["asked", "difference", "queries", "low", "high"]
    assert [row[0] for row in rows] == ["difference", "queries"]


def test_no_impossible_difference_is_promised(capsys: pytest.CaptureFixture[str]) -> None:
    main(["power", "-m", "RR", "--queries", "2", "--queries", "50"])
    captured = capsys.readouterr()
    assert captured.out.startswith("2 queries are too few to show any possible difference in RR.")
    assert "more than 1" in captured.out
    assert typical_sizes("RR").detectable(2) > 1


def test_weights_weigh_the_pilot() -> None:
    qrels = EXAMPLES / "qrels.txt"
    weights = {f"q{i:02}": i for i in range(1, 13)}
    found = il.plan_queries("AP", qrels, RUNS, weights=weights)
    pair = il.compare(qrels, RUNS, "AP", weights=weights).pairs[0]
    assert found.sd == pytest.approx(pair.statistics.se * math.sqrt(12))
    same = il.plan_queries("AP", qrels, RUNS, weights=dict.fromkeys(weights, 3))
    assert same.sd == pytest.approx(il.plan_queries("AP", qrels, RUNS).sd)
    some = il.plan_queries("AP", qrels, RUNS, queries=list(weights)[:6])
    assert some.pilot == 6


def test_a_plan_is_a_result() -> None:
    found = il.plan_queries("AP", differences=[0.05], numbers=[50])
    assert found.summary == "82 queries show a difference of 0.0500 in AP in 80 % of cases"
    assert [one["asked"] for one in found.data()["sizes"]] == ["difference", "queries"]
    assert "| 50 | 0.0643 |" in found.markdown()
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


@pytest.mark.parametrize("runs", [2, 3, 6])
def test_a_range_of_several_runs_is_theirs(runs: int) -> None:
    random, held, widths = np.random.default_rng(runs), [], []
    for _ in range(600):
        parts = variance_parts(random.normal(0, 0.2, (runs, 15)), None)
        sd, freedom = math.sqrt(2 * parts.sum()), freedom_of(parts, runs)
        low, high = Sizes("AP", sd, "a draw", pilot=15, freedom=freedom).sds
        held.append(low <= 0.2 * math.sqrt(2) <= high)
        widths.append(high / low)
    assert 0.93 < np.mean(held) < 0.98  # with 14 degrees of freedom, 1.00 of six runs
    assert np.mean(widths) < (2.4, 1.9, 1.5)[(2, 3, 6).index(runs)]


def test_a_range_knows_what_a_few_queries_do(data: Path) -> None:
    values = np.genfromtxt(data / "sigir2019" / "adhoc8_ap.csv", delimiter=",", skip_header=1).T
    random, held = np.random.default_rng(0), []
    for _ in range(600):
        some = values[random.choice(len(values), 5, replace=False)]
        truth = math.sqrt(2 * variance_parts(some, None).sum() * 49 / 50)
        parts = variance_parts(some[:, random.integers(50, size=50)], None)
        sd, freedom = math.sqrt(2 * parts.sum()), freedom_of(parts, 5)
        low, high = Sizes("AP", sd, "a draw", pilot=50, freedom=freedom).sds
        held.append(low <= truth <= high)
    assert 0.88 < np.mean(held) < 0.96  # 0.73 with the degrees of freedom of a normal table


def test_choosing_the_best_of_several_takes_a_larger_difference(
    capsys: pytest.CaptureFixture[str],
) -> None:
    alone, best = (il.plan_queries("AP", best_of=m) for m in (1, 10))
    assert best.level == level_of_best(10) < alone.level == 0.05
    assert best.detectable(50) > 1.25 * alone.detectable(50)
    assert best.needed(0.05) > 1.5 * alone.needed(0.05)
    main(["power", "-m", "AP", "--queries", "50", "--best-of", "10"])
    captured = capsys.readouterr()
    assert "in 80 % of cases, chosen as the best of 10 runs." in captured.out
    assert "each of 10 runs is tested at 0.0066 (Dunnett)" in captured.err


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
        ["-m", "RBP"],
        ["--best-of", "0"],
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


def test_a_measure_that_is_the_same_for_all_runs_does_not_vary() -> None:
    qrels = {f"q{i}": dict.fromkeys("abcdefg"[: 1 + i % 7], 1) for i in range(30)}
    runs = [dict.fromkeys(qrels, tuple(name)) for name in ("ab", "bc", "cd")]
    with pytest.raises(UsageError, match="does not vary in this pilot of 30 queries"):
        pilot_sizes(Evaluator(qrels, "NumRel"), runs)
