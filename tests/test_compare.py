"""Comparing runs: the numbers of a pair, its verdict, what is refused, and what every edge gives."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from idealist.comparing import Comparison, Pair
from idealist.comparing.comparison_report import heading, matrix_table, runs_table
from idealist.errors import InputError, UsageError
from idealist.rendering import latex, markdown, terminal
from idealist.rendering.doubt import CODES
from idealist.significance.families import max_t

QRELS, BM25, RERANKED = (f"examples/{name}" for name in ("qrels.txt", "bm25.run", "reranked.run"))
ROOT = Path(__file__).parents[1]

#: What the contract of ``compare -f json`` names.
KEYS = {
    "measure", "baseline", "run", "n", "difference", "relative", "ci", "p_t", "p_randomisation",
    "p_adjusted", "d_z", "hedges_g", "wins", "ties", "losses", "verdict",
}  # fmt: skip


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def made(columns: dict[str, list[float]], label: str = "AP", **more: Any) -> list[il.Evaluation]:
    """Make evaluations of runs with known values."""
    n = len(next(iter(columns.values())))
    qrels = {f"q{i:03}": {"d": 1} for i in range(n)}
    signatures = il.Evaluator(qrels, [label], **more).signatures
    return [
        il.Evaluation(
            run=name, queries=tuple(qrels), values={label: np.array(values)},
            counted={label: np.ones(n, dtype=bool)}, aggregates={label: float(np.mean(values))},
            signatures=signatures,
        )
        for name, values in columns.items()
    ]  # fmt: skip


def text_of(found: Comparison, details: bool = False) -> str:
    return found.render("table", details=details)


def notes_of(found: Comparison) -> list[str]:
    return terminal.notes(found.report())


def pair_of(base: list[float], new: list[float], label: str = "AP", **options: Any) -> Pair:
    return il.compare_evaluations(made({"base": base, "new": new}, label), **options).pairs[0]


def test_two_runs_are_compared() -> None:
    found = il.compare(QRELS, [BM25, RERANKED], ["nDCG@10", "AP"])
    first, second = found.pairs
    assert isinstance(found, Comparison)
    assert (first.measure, first.baseline, first.run, first.n) == (
        "nDCG@10",
        "bm25",
        "reranked",
        12,
    )
    assert second.measure == "AP"
    alone = [il.evaluate(QRELS, run, "nDCG@10") for run in (BM25, RERANKED)]
    differences = alone[1].values["nDCG@10"] - alone[0].values["nDCG@10"]
    assert first.differences == pytest.approx(differences)
    assert first.queries == alone[0].queries
    assert first.base_mean == alone[0]["nDCG@10"]
    assert first.run_mean == alone[1]["nDCG@10"]
    assert first.difference == pytest.approx(first.run_mean - first.base_mean)
    assert first.relative == pytest.approx(first.run_mean / first.base_mean - 1)
    assert first.ci[0] < first.difference < first.ci[1]
    assert first.wins + first.ties + first.losses == 12
    assert first.gained[0][0] == first.queries[int(np.argmax(differences))]
    assert first.gained[0][1] == pytest.approx(differences.max())
    assert found["nDCG@10"] == (first,)
    assert found.pair("reranked", "bm25", "ap") is second


def test_reference_numbers(data: Path) -> None:
    """adhoc8_ap, run125 and run126: facts of the literature's data, computed with other tools."""
    table = np.genfromtxt(data / "sigir2019" / "adhoc8_ap.csv", delimiter=",", names=True)
    base, new = table["run125"].tolist(), table["run126"].tolist()
    pair = pair_of(base, new, tests=("wilcoxon", "sign", "bootstrap"), margin=0.01)
    assert pair.n == 50
    assert pair.p_t == pytest.approx(0.0013193972, rel=1e-7)
    assert pair.p_randomisation == pytest.approx(0.00119, abs=3 * math.sqrt(0.00119 / 1e5))
    assert pair.ci == pytest.approx((0.02174, 0.08427), abs=5e-6)
    assert pair.d_z == pytest.approx(0.48186, abs=5e-6)
    assert pair.hedges_g == pytest.approx(0.47445, abs=5e-6)
    assert pair.tests["sign"] == pytest.approx(0.0153467, abs=5e-7)
    assert pair.tests["bootstrap"] == pytest.approx(0.00059, abs=0.0008)
    assert pair.ci_bootstrap == pytest.approx((0.0249, 0.0851), abs=0.002)
    assert pair.p_non_inferiority < pair.p_t < pair.p_equivalence
    assert pair.significant
    assert pair.verdict.startswith("new is better than base on AP by 0.0530 ")


def test_the_verdict_is_one_sentence() -> None:
    for pair in il.compare(QRELS, [BM25, RERANKED], margin=0.02).pairs:
        assert pair.verdict.endswith(".")
        assert "\n" not in pair.verdict
        assert ". " not in pair.verdict
        assert pair.run in pair.verdict


def test_json_holds_what_the_contract_says() -> None:
    found = il.compare(QRELS, [BM25, RERANKED], ["nDCG@10", "AP"], tests=["sign"], margin=0.01)
    data = json.loads(json.dumps(found.data(), allow_nan=False))
    assert {"pairs", "signatures", "baseline", "alpha", "seed"} <= data.keys()
    for written, pair in zip(data["pairs"], found.pairs, strict=True):
        assert written.keys() >= KEYS
        assert written["ci"] == list(pair.ci)
        assert written["verdict"] == pair.verdict
        assert written["tests"] == {"sign": pair.tests["sign"]}
    assert data["primary"] == "nDCG@10"
    assert "per_query" not in data["pairs"][0]
    queries = replace(found, per_query=True).data()["pairs"][0]["per_query"]
    assert list(queries) == list(found.pairs[0].queries)
    assert queries["q01"].keys() == {"baseline", "run", "difference"}


def test_the_statistics_are_in_the_signature() -> None:
    def signed(**options: Any) -> dict[str, str]:
        found = il.compare(QRELS, [BM25, RERANKED], ["nDCG@10"], **options)
        return il.Signature.parse(str(found.signatures["nDCG@10"])).fields

    usual = signed()
    assert usual["seed"] == "0"
    assert usual["alpha"] == "0.05"
    assert usual["test"] == "randomisation(exact)"
    assert usual["correction"] == "none"
    for options in ({"seed": 3}, {"alpha": 0.01}, {"ties": "docid-asc"}):
        assert signed(**options) != usual, options


def test_the_same_input_and_seed_give_the_same_bytes() -> None:
    rng = np.random.default_rng(5)
    runs = made({name: rng.random(30).tolist() for name in "abc"})
    texts = [
        json.dumps(
            il.compare_evaluations(runs, all_pairs=True, seed=seed, tests=["bootstrap"]).data()
        )
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_a_run_compared_with_itself() -> None:
    found = il.compare(QRELS, [BM25, BM25], ["nDCG@10"])
    (pair,) = found.pairs
    assert (pair.baseline, pair.run) == ("bm25", "bm25 (2)")
    assert (pair.difference, pair.p_t, pair.p_randomisation, pair.p_adjusted) == (0, 1, 1, 1)
    assert list(pair.ci) == [0, 0]
    assert (pair.d_z, pair.wins, pair.ties, pair.losses) == (0, 0, 12, 0)
    assert not pair.significant
    assert pair.verdict == "bm25 (2) and bm25 have the same nDCG@10 for every query."
    assert pair.gained == pair.lost == ()


def test_one_swapped_pair_on_one_query() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(30)}
    run = {query: ["a", "b"] for query in qrels}
    found = il.compare(qrels, {"old": run, "new": run | {"q7": ["b", "a"]}}, ["RR@10", "nDCG@10"])
    pair = found.pairs[0]
    assert (pair.wins, pair.ties, pair.losses) == (0, 29, 1)
    assert pair.difference == pytest.approx(-0.5 / 30)
    assert pair.p_t == pytest.approx(0.3256, abs=1e-4)
    assert pair.p_randomisation == 1
    assert pair.lost == (("q7", -0.5),)
    assert pair.without_top3 == 0
    assert not pair.sign_holds
    assert "1 query" in pair.verdict


def test_one_query_and_two_queries() -> None:
    one = pair_of([0.2], [0.5])
    assert one.n == 1
    assert one.difference == pytest.approx(0.3)
    assert math.isnan(one.p_t)
    assert all(map(math.isnan, one.ci))
    assert not one.significant
    assert one.verdict == "new is 0.3000 higher than base on AP, but one query proves nothing."
    json.dumps(one.data(), allow_nan=False)
    two = pair_of([0.2, 0.1], [0.5, 0.3])
    assert two.n == 2
    assert two.p_randomisation == 0.5
    assert not two.significant
    assert "few-queries" in {doubt.code for doubt in two.doubts}


def test_a_constant_difference() -> None:
    pair = pair_of([i / 30 for i in range(25)], [i / 30 + 0.1 for i in range(25)])
    assert pair.significant
    assert math.isnan(pair.p_t)
    assert all(map(math.isnan, (*pair.ci, *pair.relative_ci, pair.p_better)))
    assert "constant-difference" in {doubt.code for doubt in pair.doubts}
    assert "CI" not in pair.verdict
    data = json.loads(json.dumps(pair.data(), allow_nan=False))
    assert data["d_z"] is None


def test_undefined_values_are_left_out_and_said() -> None:
    base, new = [0.1, math.nan, 0.3, 0.2], [0.2, 0.4, 0.5, 0.1]
    pair = pair_of(base, new, "AP(no_relevant=nan)")
    assert pair.queries == ("q000", "q002", "q003")
    (doubt,) = (one for one in pair.doubts if one.code == "undefined")
    assert doubt.queries == ("q001",)
    nothing = pair_of([math.nan] * 3, [0.1] * 3, "AP(no_relevant=nan)")
    assert nothing.n == 0
    assert nothing.verdict == "AP(no_relevant=nan) has no value to compare new and base by."
    json.dumps(nothing.data(), allow_nan=False)


def test_unlike_signatures_are_refused() -> None:
    a = il.evaluate(QRELS, BM25, "nDCG@10")
    b = il.evaluate(QRELS, RERANKED, "nDCG@10", gain="exp2", ties="docid-asc")
    with pytest.raises(UsageError, match=r"nDCG\.gain: linear, exp2") as caught:
        il.compare_evaluations([a, b])
    assert "ties: docid-desc, docid-asc" in caught.value.message
    other = {"q01": {"d": 1}}
    with pytest.raises(UsageError, match="qrels"):
        il.compare_evaluations([a, il.evaluate(other, RERANKED, "nDCG@10")])
    with pytest.raises(UsageError, match="AP"):
        il.compare_evaluations([a, il.evaluate(QRELS, RERANKED, "AP")])


def test_skipped_queries_must_be_the_same() -> None:
    qrels = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
    both = {"a": {"q1": ["d"], "q2": ["d"]}, "b": {"q1": ["d"], "q3": ["d"]}}
    with pytest.raises(UsageError, match="q2") as caught:
        il.compare(qrels, both, "RR", missing="skip")
    assert "missing=zero" in caught.value.hint
    assert il.compare(qrels, both, "RR").pairs[0].n == 3


def test_many_runs_against_a_baseline() -> None:
    rng = np.random.default_rng(1)
    base = rng.random(40)
    columns = {"base": base.tolist()} | {
        f"r{i}": (base + rng.normal(0.02 * i, 0.1, 40)).tolist() for i in range(4)
    }
    found = il.compare_evaluations(made(columns), baseline="base")
    assert [pair.run for pair in found.pairs] == ["r0", "r1", "r2", "r3"]
    assert found.options.correction == "maxt"
    wanted = max_t([pair.differences for pair in found.pairs]).p
    assert [pair.p_adjusted for pair in found.pairs] == wanted.tolist()
    assert [pair.baseline for pair in il.compare_evaluations(made(columns), baseline=2).pairs] == [
        "r1"
    ] * 4


def test_all_pairs_and_superscripts() -> None:
    rng = np.random.default_rng(2)
    base = rng.random(50)
    columns = {
        name: (base + up + rng.normal(0, 0.02, 50)).tolist()
        for name, up in (("low", 0.0), ("mid", 0.1), ("high", 0.2))
    }
    found = il.compare_evaluations(made(columns), all_pairs=True)
    assert [(pair.run, pair.baseline) for pair in found.pairs] == [
        ("high", "mid"),
        ("high", "low"),
        ("mid", "low"),
    ]
    assert found.options.correction == "tukey"
    systems, matrix = runs_table(found), matrix_table(found, "AP")
    assert [row[-1].marks for row in systems.rows] == ["bc", "c", ""]
    assert r"\rlap{\textsuperscript{bc}}" in latex.draw(systems)
    assert "ᵇᶜ |" in markdown.draw(systems)
    assert [row[1] for row in matrix.rows] == ["high", "mid", "low"]
    assert matrix.headers == ["", "AP", "mean", "b", "c"]
    assert [cell.marks for cell in matrix.rows[0][3:]] == ["*", "*"]
    assert r"\rlap{*}" in latex.draw(matrix)
    assert [*found.report().tables] == [systems, matrix]
    with pytest.raises(UsageError, match="other way round"):
        found.pair("low", "high")
    assert found.pair("high", "low").difference > 0


def test_a_matrix_of_too_many_systems_is_left_to_the_data() -> None:
    rng = np.random.default_rng(2)
    columns = {f"a-run-with-a-rather-long-name-{i:02}": rng.random(12).tolist() for i in range(13)}
    for count in (12, 13):
        runs = made(dict(list(columns.items())[:count]))
        found = il.compare_evaluations(runs, all_pairs=True)
        assert len([*found.report().tables]) == (2 if count == 12 else 1)
        assert any("-f tsv" in line for line in notes_of(found)) == (count == 13)
        assert max(map(len, text_of(found).splitlines())) <= 100


def test_where_many_runs_stand_is_said_first() -> None:
    rng = np.random.default_rng(2)
    base = rng.random(50)
    ups = {"base": 0.0, "worst": -0.3, "same": 0.0, "good": 0.1, "best": 0.2}
    columns = {name: (base + up + rng.normal(0, 0.02, 50)).tolist() for name, up in ups.items()}
    found = il.compare_evaluations(made(columns))
    assert found.summary.startswith("2 of 4 runs are better than base on AP: best +0.1956, good")
    assert "; 1 is worse: worst -0.2977" in found.summary
    assert "; 1 is not significantly different: same " in found.summary
    text = " ".join(text_of(found, details=True).split())
    assert text.startswith(found.summary)
    places = [text.index(found.pair(name).verdict) for name in ("best", "good", "same", "worst")]
    assert places == sorted(places)
    assert found.pair("best").verdict not in " ".join(text_of(found).split())
    assert max(map(len, text_of(found, details=True).splitlines())) <= 100
    assert found.markdown().startswith("**2 of 4 runs are better")


def test_what_is_doubtful_of_many_runs_is_one_line_a_kind() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    lists = {"old": ["a", "b"], "one": ["x", "a"], "two": ["y", "a"], "three": ["b", "a"]}
    runs = {name: dict.fromkeys(qrels, ranked) for name, ranked in lists.items()}
    lines = [
        line for line in notes_of(il.compare(qrels, runs, "RR@2")) if line.startswith("doubt: ")
    ]
    (unequal,) = (line for line in lines if "more of one run's" in line)
    assert unequal.endswith(": one, two")
    assert sum("are unjudged" in line for line in lines) == 1


def test_unjudged_documents_of_many_runs_are_counted_to_one_depth() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    lists = {"old": ["a", "b"], "top": ["x", "a"], "low": ["a", "x"], "both": ["x", "y"]}
    runs = {name: dict.fromkeys(qrels, ranked) for name, ranked in lists.items()}
    for measures, said in (
        (["P@2", "P@1"], "documents in the first 2 are unjudged: both 24, top 12, low 12"),
        (["P@1", "P@2"], "documents at rank 1 are unjudged: top 12, both 12"),
    ):
        lines = notes_of(il.compare(qrels, runs, measures))
        assert [line for line in lines if "are unjudged" in line] == [f"doubt: {said}"]


def test_a_run_that_no_judgment_meets_is_not_measured() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(12)}
    lists = {"old": ["x", "a"], "ids": ["A", "B"], "new": ["a", "b"]}
    runs = {name: dict.fromkeys(qrels, ranked) for name, ranked in lists.items()}
    found = il.compare(qrels, runs, ["AP", "RR"])
    start = "Nothing that ids retrieved is judged, so nothing was measured"
    assert found.summary.startswith(start)
    assert text_of(found).startswith(start)
    assert found.markdown().startswith("- doubt: ids: nothing was measured: no judged document")
    assert f"\n\n**{start}" in found.markdown()
    pair = found.pair("ids")
    assert pair.verdict.startswith(start)
    assert not pair.significant
    assert math.isnan(pair.p_adjusted)
    assert pair.data()["p_t"] is None
    assert found.pair("new").significant
    two = il.compare(qrels, {"old": runs["old"], "ids": runs["ids"]}, "AP")
    assert two.summary == pair.verdict
    assert "Gained" not in str(two)
    every = il.compare(qrels, runs, "AP", baseline="ids")
    assert every.summary.count("better than") == 0


def test_orders_of_systems_are_compared() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(3)}
    lists = {"one": ["a", "b", "x"], "two": ["a", "x", "b"], "three": ["x", "a", "b"]}
    runs = {name: dict.fromkeys(qrels, ranked) for name, ranked in lists.items()}
    found = il.compare(qrels, runs, ["AP", "RR", "P@3"])
    assert [one.measures for one in found.agreement] == [("AP", "RR"), ("AP", "P@3"), ("RR", "P@3")]
    assert found.agreement[0].tau_b == pytest.approx(2 / math.sqrt(3 * 2))
    assert math.isnan(found.agreement[1].tau_b)
    assert il.compare(qrels, list(runs.values())[:2], ["AP", "RR"]).agreement == ()


def test_a_lower_value_can_be_better() -> None:
    pair = pair_of([0.5] * 20, [0.1 + i / 100 for i in range(20)], "FallOut@10")
    assert pair.difference < 0
    assert pair.better
    assert pair.p_better > 0.99
    assert "new is better than base" in pair.verdict
    judged = pair_of([0.5] * 20, [0.1 + i / 100 for i in range(20)], "Judged@10")
    assert "new is lower than base" in judged.verdict


def test_slices_are_protected() -> None:
    rng = np.random.default_rng(3)
    base = rng.random(32)
    runs = made({"base": base.tolist(), "new": (base + rng.normal(0.1, 0.05, 32)).tolist()})
    kinds = {f"q{i:03}": ("head" if i < 14 else "tail" if i < 28 else "rare") for i in range(31)}
    found = il.compare_evaluations(runs, slices=kinds)
    assert [(pair.slice, pair.n) for pair in found.slices] == [
        ("head", 14), ("tail", 14), ("rare", 3), ("(none)", 1)
    ]  # fmt: skip
    head, tail, rare, _ = found.slices
    rows = np.zeros((2, 28))
    rows[0, :14], rows[1, 14:] = head.differences, tail.differences
    assert [head.p_adjusted, tail.p_adjusted] == max_t(rows).p.tolist()
    assert tail.significant
    assert math.isnan(rare.p_t)
    assert math.isnan(rare.p_randomisation)
    assert "too few" in rare.verdict
    assert found.data()["slices"][2]["slice"] == "rare"
    assert "head" in str(found)


def test_weights_weigh_throughout() -> None:
    evaluator = il.Evaluator(QRELS, ["nDCG@10"], weights={f"q{i:02}": i for i in range(1, 13)})
    a, b = evaluator(BM25), evaluator(RERANKED)
    pair = il.compare_evaluations([a, b]).pairs[0]
    assert pair.run_mean == pytest.approx(b["nDCG@10"])
    assert pair.difference == pytest.approx(b["nDCG@10"] - a["nDCG@10"])
    same = il.compare(QRELS, [BM25, RERANKED], "nDCG@10", weights=evaluator.weights).pairs[0]
    assert same.p_adjusted == pair.p_adjusted


def test_heavy_queries_that_vary_more_are_a_doubt() -> None:
    """The error of a weighted mean takes queries to vary alike; where they do not, it is said."""
    rng = np.random.default_rng(4)
    weights = np.arange(1.0, 41)
    alike = rng.normal(size=40) * 0.1
    for differences, doubted in ((alike, False), (alike * weights / 20, True)):
        queries = tuple(f"q{i}" for i in range(40))
        pair = Pair("AP", "a", "b", queries, np.zeros(40), differences, weights=weights)
        assert ("weights-and-spread" in [one.code for one in pair.doubts]) is doubted
    plain = Pair("AP", "a", "b", queries, np.zeros(40), alike * weights / 20)
    assert "weights-and-spread" not in [one.code for one in plain.doubts]


@pytest.mark.parametrize(("n", "rough"), [(12, True), (19, True), (20, False)])
def test_a_p_value_of_few_queries_is_called_rough(n: int, rough: bool) -> None:
    queries = tuple(f"q{i}" for i in range(n))
    better = np.linspace(0.1, 0.3, n)
    pair = Pair("AP", "a", "b", queries, np.zeros(n), better, p_adjusted=0.001)
    assert (f"p=0.0010, rough with {n} queries" in pair.verdict) is rough


def test_saved_evaluations_compare_the_same(tmp_path: Path) -> None:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for run, path in zip((BM25, RERANKED), paths, strict=True):
        il.evaluate(QRELS, run).save(path)
    saved = il.compare_evaluations(paths)
    live = il.compare(QRELS, [BM25, RERANKED])
    numbers = [
        [{key: one[key] for key in KEYS} for one in found.data()["pairs"]]
        for found in (saved, live)
    ]
    assert numbers[0] == numbers[1]
    with pytest.raises(InputError):
        il.compare_evaluations([paths[0], QRELS])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"baseline": "bm52"}, "did you mean bm25"),
        ({"baseline": 2}, "0 to 1"),
        ({"alpha": 0}, "alpha is a number from"),
        ({"alpha": math.nan}, "alpha is a number from"),
        ({"alpha": "0.05"}, "alpha is a number from"),
        ({"alpha": None}, "alpha is a number from"),
        ({"rope": "x"}, "rope is a number"),
        ({"margin": True}, "margin is a number"),
        ({"tests": 3}, "known: wilcoxon"),
        ({"tests": [3]}, "known: wilcoxon"),
        ({"slices": ["q01"]}, "{query: slice}"),
        ({"baseline": 1.0}, "0 to 1"),
        ({"baseline": True}, "0 to 1"),
        ({"baseline": {}}, "0 to 1"),
        ({"seed": "3"}, "whole number"),
        ({"correction": "holm"}, "it follows from what is compared"),
        ({"tests": ["anova"]}, "wilcoxon"),
        ({"rope": -1}, "at least 0"),
        ({"margin": 0}, "above 0"),
        ({"seed": -1}, "seed"),
        ({"slices": {"q99": "x"}}, "q99"),
    ],
)
def test_mistakes_are_met_with_a_hint(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        il.compare(QRELS, [BM25, RERANKED], ["AP"], **options)


def test_one_run_is_no_comparison() -> None:
    for runs in ([BM25], BM25, []):
        with pytest.raises(UsageError, match="two runs"):
            il.compare(QRELS, runs)


def test_arguments_in_another_place_are_met_with_a_hint() -> None:
    with pytest.raises(UsageError, match="one list"):
        il.compare(QRELS, BM25, RERANKED)
    with pytest.raises(UsageError, match="judgments come first"):
        il.compare([BM25, RERANKED], QRELS)
    with pytest.raises(UsageError, match="measures="):
        il.compare(QRELS, [BM25, RERANKED], measure="AP")
    with pytest.raises(UsageError, match=r"read_queries\(FILE\)\.column\('kind'\)"):
        il.compare(QRELS, [BM25, RERANKED], "AP", slices=cast(Any, "kind"), queries="kinds.csv")


def test_queries_left_out_of_slices_are_said() -> None:
    kinds = {f"q{i:02}": "code" for i in range(1, 11)}
    found = il.compare(QRELS, [BM25, RERANKED], "AP", slices=kinds, queries=list(kinds))
    said = "2 judged queries are not among the queries given, and left out (q11, q12)"
    assert said in notes_of(found)
    assert found.data()["n"] == 10
    assert found.data()["convention"] == "trec_eval"


values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_turning_a_pair_round_turns_its_numbers(rows: list[tuple[float, float]]) -> None:
    base, new = map(list, zip(*rows, strict=True))
    one, other = pair_of(base, new), pair_of(new, base)
    assert one.difference == pytest.approx(-other.difference, abs=1e-12)
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    for name in ("p_t", "p_randomisation", "p_equal"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), nan_ok=True, abs=1e-9)
    assert one.p_better == pytest.approx(other.p_worse, nan_ok=True, abs=1e-9)
    if one.n > 1 and not one.statistics.constant:
        assert one.p_better + one.p_equal + one.p_worse == pytest.approx(1)
    assert {doubt.code for doubt in one.doubts} <= CODES.keys()
    json.dumps(one.data(), allow_nan=False)


def test_printing() -> None:
    found = il.compare(QRELS, [BM25, RERANKED], ["nDCG@10", "AP"])
    text = str(found)
    assert found.pairs[0].verdict.split(" (")[0] in " ".join(text.split())
    assert max(map(len, [*text_of(found).splitlines(), *heading(found)])) <= 100
    assert "alpha 0.05, two-sided" in text
    assert "nDCG@10 is the primary measure" in text
    assert "<table>" in found._repr_html_()
    assert repr(found).startswith("<Comparison reranked is better than bm25 on nDCG@10 by 0.1898")
    assert " ".join(text.split()).startswith(found.summary)
    assert found.to_pandas()["difference"].tolist() == [pair.difference for pair in found.pairs]


def test_how_robust_a_verdict_is() -> None:
    found = il.compare(
        QRELS, [BM25, RERANKED], ["nDCG@10", "AP"], fragility=True, multiverse=True, gain="exp2"
    )
    first, second = found.pairs
    bounds = il.bounds_of_difference(QRELS, BM25, RERANKED, "nDCG@10", gain="exp2")
    assert (first.unjudged.low, first.unjudged.high) == (bounds.low, bounds.high)
    assert first.fragility.difference == pytest.approx(first.difference)
    assert first.multiverse.size > 3
    assert (second.unjudged, second.fragility, second.multiverse) == (None, None, None)
    data = json.loads(json.dumps(first.data(), allow_nan=False))
    assert data.keys() >= {"holes", "fragility", "multiverse"}
    assert found.data()["pairs"][1].keys().isdisjoint({"holes", "fragility", "multiverse"})
    for word in ("Unjudged: ", "Labels, at worst: ", "Conventions: "):
        assert word in str(found)
    plain = il.compare(QRELS, [BM25, RERANKED], ["nDCG@10", "AP"])
    assert plain.pairs[0].unjudged is not None
    assert plain.pairs[0].fragility is None


def test_unequal_judging_is_a_doubt() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    runs = {"old": {q: ["a", "b"] for q in qrels}, "new": {q: ["x", "a"] for q in qrels}}
    pair = il.compare(qrels, runs, "RR@2").pairs[0]
    (doubt,) = (one for one in pair.doubts if one.code == "judged-unequal")
    assert "50.0 % of new's are judged, and 100.0 % of old's" in doubt.message


def test_measures_compared_together_are_as_alone() -> None:
    rng = np.random.default_rng(4)
    qrels = {f"q{i}": {"a": 2, "b": 1} for i in range(25)}
    ids = list("abcdefgh")
    runs = {name: {q: rng.permutation(ids).tolist() for q in qrels} for name in "xyz"}
    weights = {query: 1 + i % 3 for i, query in enumerate(qrels)}
    measures = ["AP", "nDCG@3", "NumRelRet", "RR"]
    together = il.compare(qrels, runs, measures, weights=weights).pairs
    alone = [
        pair for one in measures for pair in il.compare(qrels, runs, one, weights=weights).pairs
    ]
    for one, other in zip(together, alone, strict=True):
        assert (one.p_randomisation, one.difference) == (other.p_randomisation, other.difference)
        assert one.primary or one.p_adjusted == other.p_adjusted  # the first measure's are the same
