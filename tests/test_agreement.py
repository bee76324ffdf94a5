"""Judges held to account: agreement on labels, on systems, and what is said of both."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import cohen_kappa_score, confusion_matrix

import idealist as il
from idealist.cli.main import main
from idealist.judging.agreeing.agreement_doubts import _weak_at_top
from idealist.judging.agreeing.agreement_tables import _runs_table
from idealist.judging.agreeing.system_agreement import SystemAgreement, best_of
from idealist.significance.cluster_bootstrap import drawn_sums, percentiles
from idealist.significance.kappas import cohen_kappa

DATA_OF_SCIENCE = {
    "kappa": 0.23331645, "kappa_linear": 0.37287680, "kappa_quadratic": 0.49181061,
    "kappa_rel": 0.43104209, "alpha_nominal": 0.22819417, "alpha_ordinal": 0.49255507,
    "alpha_interval": 0.48902388,
}  # fmt: skip


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    main([*words])
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main([*words])
    assert caught.value.code == 2
    return capsys.readouterr().err


# --- labels


def test_reference_values_of_rag25(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(data / "rag25" / name) for name in ("nist.txt", "umbrela2.txt")]
    found = json.loads(shown(capsys, "agree", *files, "--rel", "2", "-f", "json"))
    for name, value in DATA_OF_SCIENCE.items():
        assert found[name] == pytest.approx(value, abs=5e-9)
    assert (round(found["ac1"], 4), round(found["ac2"], 4)) == (0.3177, 0.7616)
    assert (found["n"], found["queries"]) == (10284, 22)
    assert np.array(found["confusion"]).sum() == 10284
    for name, (low, high) in found["intervals"].items():
        assert low < found[name] < high


def test_reference_values_of_llmjudge(data: Path) -> None:
    files = {"willia-umbrela1": 0.2863, "h2oloo-zeroshot1": 0.2817, "TREMA-nuggets": 0.0604}
    one, *others = (str(data / "llmjudge" / f"{name}.txt") for name in ("human", *files))
    found = il.agreement(one, others[0], others=others[1:])
    for i, kappa in enumerate(files.values(), 1):
        assert found.pairs[0, i].values["kappa"] == pytest.approx(kappa, abs=5e-5)
    assert "TREMA-nuggets (0.06)" in found.summary
    weak = il.agreement(one, others[2]).summary
    assert "agree slightly on labels, if at all (kappa 0.06 [-0.01, 0.14]" in weak


GRADES = st.integers(0, 3)
LABELS = st.lists(st.tuples(st.sampled_from("qrs"), GRADES, GRADES), min_size=2, max_size=25)


@settings(max_examples=25, deadline=None)
@given(LABELS)
def test_labels_are_compared_as_scikit_learn_does(rows: list[tuple[str, int, int]]) -> None:
    a, b = (
        il.read_qrels(
            [(query, f"d{i}", own[place]) for i, (query, *own) in enumerate(rows)], scale=3
        )
        for place in (0, 1)
    )
    found = il.agreement(a, b).labels
    _, one, other = zip(*rows, strict=True)
    assert found.confusion.tolist() == confusion_matrix(one, other, labels=range(4)).tolist()
    assert found.values["agree"] == pytest.approx(np.mean(np.equal(one, other)))
    assert found.values["bias"] == pytest.approx(np.mean(other) - np.mean(one))
    if len({*one, *other}) > 1:
        for name, weights in (
            ("kappa", None),
            ("kappa_linear", "linear"),
            ("kappa_quadratic", "quadratic"),
        ):
            theirs = cohen_kappa_score(one, other, weights=weights, labels=range(4))
            assert found.values[name] == pytest.approx(theirs, rel=0, abs=1e-12, nan_ok=True)


def test_intervals_cover_though_documents_of_a_query_are_alike() -> None:
    rng, grades = np.random.default_rng(3), 3

    def sample(queries: int) -> Any:
        tables = np.zeros((queries, grades, grades))
        for table in tables:
            truth = rng.choice(grades, size=30, p=rng.dirichlet([4, 2, 1]))
            other = np.where(rng.random(30) < rng.beta(4, 2), truth, rng.integers(0, grades, 30))
            np.add.at(table, (truth, other), 1)
        return tables

    truth = float(cohen_kappa(sample(8000).sum(axis=0)))
    ends = [
        percentiles(cohen_kappa(drawn_sums(sample(12), draws=400, seed=seed)), 12)
        for seed in range(250)
    ]
    assert np.mean([low <= truth <= high for low, high in ends]) == pytest.approx(0.945, abs=0.035)


def rows_of(*grades: tuple[int, ...], queries: int = 10) -> list[dict[str, dict[str, int]]]:
    """Make the judgments of several judges: a tuple has what each says of a document."""
    made: list[dict[str, dict[str, int]]] = [{} for _ in grades[0]]
    for i, row in enumerate(grades):
        for own, grade in zip(made, row, strict=True):
            own.setdefault(f"q{i % queries}", {})[f"d{i}"] = grade
    return made


def codes(found: il.Agreement) -> set[str]:
    return {one.code for one in found.doubts}


def test_the_prevalence_paradox_is_told() -> None:
    a, b = rows_of(*[(0, 0)] * 110, *[(0, 1)] * 6, *[(1, 0)] * 4, (1, 1), queries=11)
    found = il.agreement(a, b)
    assert codes(found) == {"prevalence"}
    assert "both give grade 0 to at least 94% of the pairs" in found.doubts[0].finding
    assert found.labels.values["kappa"] < 0.25
    assert found.labels.values["ac1"] > 0.85
    half, other = rows_of(*[(0, 0)] * 50, *[(1, 1)] * 50, *[(0, 1)] * 10)
    assert codes(il.agreement(half, other)) == set()


def test_judges_may_lack_pairs_and_queries() -> None:
    a = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}, "q3": {"d1": 0}}
    b = {"q1": {"d1": 1, "d3": 1}, "q2": {"d1": 0}}
    c = {"q4": {"d1": 1}, "q3": {"d1": 0}}
    found = il.agreement(a, b, others=[c], names=["ann", "bob", "cy"])
    assert [*found.pairs] == [(0, 1), (0, 2)]
    assert (found.labels.n, len(found.panel.level)) == (2, 3)
    assert (found.lone_queries, found.missed_queries) == ((0, 0, 1), (0, 1, 2))
    plain = found.data()
    assert [one["judges"] for one in plain["pairs"]] == [["ann", "bob"], ["ann", "cy"]]
    assert "against ann, bob lacks 1 query; cy lacks 2 queries and has 1 other." in str(found)
    assert "1 query only ann judged" in str(il.agreement(a, b, names=["ann", "bob"]))
    assert "ann and cy share pairs of 1 query only; 1 other pair of judges of fewer than 10" in str(
        found
    )


def test_one_grade_of_all_and_one_query() -> None:
    same = {"q": {"d1": 1, "d2": 1}}
    found = il.agreement(same, same)
    assert found.summary == "a and b gave grade 1 to all 2 pairs of 1 query, so kappa says nothing"
    plain = found.data()
    assert (plain["kappa"], plain["agree"], plain["intervals"]["agree"]) == (
        None,
        1.0,
        [None, None],
    )
    assert codes(found) == {"few-shared-queries"}


def test_queries_that_never_differ_have_no_interval() -> None:
    one, other = ({f"q{i}": dict(zip("abc", grades, strict=True)) for i in range(2)}
                  for grades in ((0, 1, 0), (0, 1, 1)))  # fmt: skip
    found = il.agreement(one, other)
    assert all(math.isnan(end) for ends in found.labels.intervals.values() for end in ends)
    assert found.summary.startswith(
        "a and b have kappa 0.40 on labels of 6 pairs of 2 queries: too"
    )


def test_grades_below_zero_are_no_judgments() -> None:
    a, b = {"q": {"d1": 1, "d2": -1, "d3": 0}}, {"q": {"d1": 1, "d2": 0, "d3": 0}}
    found = il.agreement(a, b)
    assert found.labels.n == 2
    assert "1 grade below 0 was left out" in str(found)


def test_scales_that_differ_need_thresholds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    binary, graded = rows_of(*[(0, 0), (0, 1), (1, 2), (1, 3), (0, 0), (1, 2)] * 4)
    with pytest.raises(il.UsageError, match="a grades up to 1, b up to 3") as caught:
        il.agreement(binary, graded)
    assert "--rel 1,2" in str(caught.value)
    found = il.agreement(binary, graded, rel=[1, 2])
    assert found.labels.values["kappa"] == 1.0
    assert found.labels.confusion.tolist() == [[12, 0], [0, 12]]
    assert "relevant is from 1 on by a, 2 on by b" in str(found)
    assert il.agreement(binary, graded, rel=1).labels.confusion.tolist() == [[8, 4], [0, 12]]
    strict = il.read_qrels(binary, scale=3)  # who could have given 3
    assert il.agreement(strict, il.read_qrels(graded, scale=3)).labels.confusion.shape == (4, 4)
    with pytest.raises(il.UsageError, match="rel names 3 grades"):
        il.agreement(binary, graded, rel=[1, 2, 3])
    for name, own in (("a", binary), ("b", graded)):
        (tmp_path / f"{name}.json").write_text(json.dumps(own))
    files = [str(tmp_path / f"{name}.json") for name in "ab"]
    assert "kappa 1.00" in shown(capsys, "agree", *files, "--rel", "1,2")
    assert "--rel 'x' cannot be read" in refused(capsys, "agree", *files, "--rel", "x")


def test_ids_that_never_meet_are_named() -> None:
    with pytest.raises(il.UsageError, match="a and b have no query in common: a has q1; b has 1"):
        il.agreement({"q1": {"d1": 1}}, {"1": {"d1": 1}})
    with pytest.raises(il.UsageError, match="no document of a query in common: a has d1; b has D1"):
        il.agreement({"q1": {"d1": 1}}, {"q1": {"D1": 1}})
    many = {"q": {f"d{i}": i / 7 for i in range(30)}}
    with pytest.raises(il.UsageError, match="30 different grades"):
        il.agreement(many, many)


def test_judges_inside_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "labels.db")
    said = {"ann": [0, 1, 2, 1] * 6, "gpt-4o/graded@1": [1, 1, 2, 1] * 6, "bob": [0, 1, 2]}
    with il.Store.create(path, scale=2) as store:
        store.judge_all(
            il.Judgment(f"q{i % 12}", f"d{i}", grade, judge, "model" if "@" in judge else "human")
            for judge, grades in said.items()
            for i, grade in enumerate(grades)
        )
    two = json.loads(shown(capsys, "agree", f"{path}#ann", f"{path}#gpt-4o/graded@1", "-f", "json"))
    expected = cohen_kappa_score(said["ann"], said["gpt-4o/graded@1"])
    assert (two["judges"], two["n"]) == (["ann", "gpt-4o/graded@1"], 24)
    assert two["kappa"] == pytest.approx(expected)
    kinds = json.loads(shown(capsys, "agree", f"{path}#human", f"{path}#model", "-f", "json"))
    assert (kinds["judges"], kinds["n"]) == (["human", "model"], 24)
    every = json.loads(shown(capsys, "judge", "agree", path, "-f", "json"))
    assert every["judges"] == ["ann", "bob", "gpt-4o/graded@1"]
    assert [one["n"] for one in every["pairs"]] == [3, 24, 3]
    assert every["pairs"][1]["kappa"] == pytest.approx(expected)
    with il.Store.create(tmp_path / "one.db") as store:
        store.judge(il.Judgment("q", "d", 1, "ann"))
    assert "one judge only, ann" in refused(capsys, "judge", "agree", str(tmp_path / "one.db"))


def test_a_judge_is_not_compared_with_himself(tmp_path: Path) -> None:
    path = str(tmp_path / "labels.db")
    with il.Store.create(path) as store:
        store.judge_all(il.Judgment("q", f"d{i}", i % 2, "ann") for i in range(4))
        store.judge_all(il.Judgment("q", f"d{i}", 1, "gpt", "model") for i in range(2, 9))
    for parts in (("", "#gpt"), ("", ""), ("#human", "#ann"), ("#ann", "#ann")):
        with pytest.raises(il.UsageError, match="a judge always agrees with himself") as caught:
            il.agreement(*(path + part for part in parts))
        assert f"{path}#human" in str(caught.value)
    with pytest.raises(il.UsageError, match="judgments of gpt, in 5 of 7 shared pairs"):
        il.agreement(path, f"{path}#gpt")
    assert il.agreement(f"{path}#human", f"{path}#model").labels.n == 2
    some = il.read_qrels(f"{path}#ann").to_dict()
    found = il.agreement(some, some)
    assert found.summary == "a and b hold the same judgments, of 4 pairs of 1 query"
    assert "same-judgments" in {one.code for one in found.doubts}


def test_judges_of_one_store_who_judged_other_documents(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    with il.Store.create(path) as store:
        store.judge_all([il.Judgment("q", "d1", 1, "ann"), il.Judgment("q", "d2", 1, "m", "model")])
    with pytest.raises(il.UsageError, match="human 1 pair, model 1 pair") as caught:
        il.agreement(f"{path}#human", f"{path}#model")
    assert "--model NAME --what judged" in str(caught.value)


def test_medians_between_two_grades_are_doubted(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    with il.Store.create(path, scale=2) as store:
        for judge, grades in {"ann": [0, 0, 2], "bob": [1, 2, 2], "m": [1, 1, 2]}.items():
            kind = "model" if judge == "m" else "human"
            store.judge_all(
                il.Judgment("q", f"d{i}", grade, judge, kind) for i, grade in enumerate(grades)
            )
    found = il.agreement(f"{path}#human", f"{path}#model")
    (doubt,) = [one for one in found.doubts if one.code == "grades-between"]
    assert (found.between, doubt.count) == ((1, 0), 1)
    majority = il.read_qrels(f"{path}#human", merge="majority")
    assert il.agreement(majority, f"{path}#model").between == (0, 0)


def test_what_says_nothing_is_refused() -> None:
    a = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
    with pytest.raises(il.UsageError, match="no grade is 9 or higher"):
        il.agreement(a, a, rel=9)
    with pytest.raises(il.UsageError, match="measures rank runs"):
        il.agreement(a, a, measures="AP")


def test_the_headline_is_of_judges_with_enough_in_common() -> None:
    a = {f"q{i}": {"d1": i % 2, "d2": 0} for i in range(12)}
    b = {f"q{i}": {"d1": i % 2, "d2": i % 3 % 2} for i in range(12)}
    few = {"q1": {"d1": 1, "d2": 0}}
    found = il.agreement(a, b, others=[few, b], names=["ann", "bob", "few", "copy"])
    assert "few" not in found.summary
    assert "highest for bob and copy (1.00)" in found.summary


def test_systems_of_equal_means_share_a_rank() -> None:
    a = {f"q{i}": {"d1": 1, "d2": 0} for i in range(4)}
    best, worst = (dict.fromkeys(a, order) for order in (["d1", "d2"], ["d2", "d1"]))
    runs = {"x": best, "y": best, "z": worst}
    found = il.agreement(a, a, runs, "RR").systems[1]["RR"]
    assert [row[2] for row in _runs_table(found).rows] == [1, 1, 3]


def test_a_judge_and_a_run_of_one_family() -> None:
    a, b, runs = judged_twice(queries=12, runs=2)
    named = {"rankgpt": runs["run0"], "bm25": runs["run1"]}
    found = il.agreement(a, b, named, "AP", names=["nist", "gpt-4o/graded@1"])
    (one,) = (one for one in found.doubts if one.code == "same-family")
    assert "rankgpt and the judge gpt-4o/graded@1 are of one family of models (GPT)" in one.finding


# --- systems


def judged_twice(queries: int = 16, runs: int = 8) -> tuple[Any, Any, dict[str, Any]]:
    """Make a strict and a lenient judge, and runs that find more or less of what they like."""
    rng = np.random.default_rng(8)
    a: dict[str, dict[str, int]] = {}
    b: dict[str, dict[str, int]] = {}
    made: dict[str, Any] = {f"run{i}": {} for i in range(runs)}
    for q in (f"q{i}" for i in range(queries)):
        truth = rng.choice(4, size=25, p=[0.55, 0.2, 0.15, 0.1])
        more = np.minimum(truth + (rng.random(25) < 0.4) * rng.integers(0, 3, 25), 3)
        a[q] = {f"d{i}": int(grade) for i, grade in enumerate(truth)}
        b[q] = {f"d{i}": int(grade) for i, grade in enumerate(more)}
        for i, own in enumerate(made.values()):
            scores = truth + rng.normal(0, 0.3 + 0.35 * i, 25)
            own[q] = {f"d{j}": float(score) for j, score in enumerate(scores)}
    return a, b, made


@pytest.fixture(scope="module")
def ranked() -> tuple[il.Agreement, Any, Any, Any]:
    a, b, runs = judged_twice()
    return il.agreement(a, b, runs, "P@5"), a, b, runs


def test_systems_are_ranked_by_either_judge(ranked: Any) -> None:
    found, a, b, runs = ranked
    for label, one in found.systems[1].items():
        means = [[il.evaluate(own, run, label)[label] for run in runs.values()] for own in (a, b)]
        assert np.allclose(one.means, means)
        assert one.tau == pytest.approx(kendalltau(*means).statistic)
        assert one.rho == pytest.approx(spearmanr(*means).statistic)
        best = np.argsort(means[0])[::-1][:5]
        top = kendalltau(*(np.array(own)[best] for own in means)).statistic
        assert (one.top, one.tau_top) == (5, pytest.approx(top))
        assert one.inflation == pytest.approx(np.mean(means[1]) - np.mean(means[0]))
        low, high = one.inflation_interval
        assert low < one.inflation < high
        assert one.redrawn["tau"][0] <= one.tau <= one.redrawn["tau"][1]


def test_weights_of_queries_count_in_every_mean(ranked: Any) -> None:
    _, a, b, runs = ranked
    weights = {query: 50.0 if query == "q0" else 1.0 for query in a}
    one = il.agreement(a, b, runs, "P@5", weights=weights).systems[1]["P@5"]
    means = [[il.evaluate(own, run, "P@5", weights=weights)["P@5"] for run in runs.values()]
             for own in (a, b)]  # fmt: skip
    assert np.allclose(one.means, means)
    assert one.tau == pytest.approx(kendalltau(*means).statistic)
    low, high = one.inflation_interval
    assert low <= one.inflation <= high


def test_verdicts_are_those_of_compare(ranked: Any) -> None:
    found, a, b, runs = ranked
    one = found.systems[1]["P@5"]
    sides = [il.compare(own, runs, "P@5", all_pairs=True) for own in (a, b)]
    better = [{(x, y) for x in runs for y in side.beaten(x, "P@5")} for side in sides]
    expected = {"lost": 0, "gained": 0, "reversed": 0}
    for x, y in combinations(runs, 2):
        first, second = (((x, y) in own) - ((y, x) in own) for own in better)
        if first != second:
            expected["reversed" if first and second else "lost" if first else "gained"] += 1
    assert {how: one.count(how) for how in expected} == expected
    assert sum(expected.values()) > 0
    assert one.significant == tuple(map(len, better))
    for flip in one.flips:
        assert ((flip.better, flip.worse) in better[0]) == (flip.how != "gained")
    plain = one.data()
    assert plain["flips"] == expected["lost"] + expected["reversed"]
    assert len(plain["flipped"]) == sum(expected.values())


def test_the_contract_of_json_and_the_answer(ranked: Any) -> None:
    found = ranked[0]
    plain = json.loads(found.to_json())
    assert plain.keys() >= {
        "n", "kappa", "kappa_linear", "kappa_quadratic", "alpha_ordinal", "ac1", "ac2", "bias",
        "confusion", "intervals", "systems",
    }  # fmt: skip
    for one in plain["systems"].values():
        assert one.keys() >= {"n", "tau", "tau_ap", "rho", "inflation", "flips"}
        assert one["n"] == 8
    first = found.systems[1]["P@5"]
    labels, systems = found.summary.split(". ", 1)
    assert labels.startswith("a and b agree ")
    assert f"(kappa {found.labels.values['kappa']:.2f} [" in labels
    assert systems.startswith("They rank the 8 systems ")
    assert f"(tau {first.tau:.2f})" in systems
    assert systems.endswith(f"b's mean P@5 is {first.inflation:.2f} higher")
    assert "judge-inflation" in codes(found)
    for form in ("table", "md", "html", "csv", "latex"):
        assert "kappa" in found.render(form, details=True)


def test_the_same_judge_twice_ranks_alike() -> None:
    a, _, runs = judged_twice(runs=3)
    found = il.agreement(a, a, runs, "nDCG@10")
    one = found.systems[1]["nDCG@10"]
    assert (one.tau, one.tau_ap, one.rho, one.inflation, one.flips) == (1, 1, 1, 0, ())
    assert one.top == 0
    assert codes(found) == {"few-systems", "same-judgments"}
    assert "tau 1.00 by nDCG@10, which says little of so few" in found.summary
    assert found.labels.values["kappa"] == 1.0


def test_one_run_has_a_mean_and_no_order() -> None:
    a, b, runs = judged_twice(runs=1)
    one = il.agreement(a, b, runs, "AP").systems[1]["AP"]
    assert np.isnan(one.tau)
    assert one.inflation != 0
    assert (one.verdicts, one.flips) == (({}, {}), ())


def test_what_only_one_judged_can_be_left_out() -> None:
    a, b, runs = judged_twice(runs=2)
    half = {query: dict(list(own.items())[:10]) for query, own in b.items()}
    found = il.agreement(a, half, runs, "nDCG@10")
    assert "pools-differ" in codes(found)
    assert found.lacking == {1: ((240, 400), (0, 160))}
    fair = il.agreement(a, half, runs, "nDCG@10", shared_pairs=True)
    assert "pools-differ" not in codes(fair)
    same = {query: {d: a[query][d] for d in own} for query, own in half.items()}
    expected = il.evaluate(same, runs["run0"], "nDCG@10")["nDCG@10"]
    assert fair.systems[1]["nDCG@10"].means[0][0] == pytest.approx(expected)


def test_queries_of_one_judge_do_not_count() -> None:
    a, b, runs = judged_twice(queries=14, runs=2)
    b = {query: own for i, (query, own) in enumerate(b.items()) if i < 12} | {"x": {"d1": 1}}
    found = il.agreement(a, b, runs, "nDCG@10")
    assert len(found.systems[1]["nDCG@10"].queries) == 12
    assert (found.lone_queries, found.missed_queries) == ((0, 1), (0, 2))


def test_runs_that_meet_no_judgment_are_refused() -> None:
    a, b, _ = judged_twice(queries=3)
    with pytest.raises(il.UsageError, match="no document retrieved is judged"):
        il.agreement(a, b, [{"q0": ["x", "y"]}], "nDCG@10")
    none = {"q0": {"d1": 0, "d2": 0}}
    with pytest.raises(il.UsageError, match="no query has a value of ARP by both judges"):
        il.agreement(none, none, [{"q0": ["d1", "d2"]}], "ARP")


def test_the_best_systems_may_be_ranked_less_alike() -> None:
    one = np.linspace(1, 0.1, 10)[:, None] * np.ones((10, 12))
    other = np.concatenate([one[:5][::-1], one[5:]])
    runs, queries = (tuple(f"{kind}{i}" for i in range(n)) for kind, n in (("r", 10), ("q", 12)))
    systems = SystemAgreement("AP", ("a", "b"), runs, queries, (one, other), ({}, {}), top=5)
    assert systems.tau_top == -1
    assert systems.tau == pytest.approx(1 - 20 / 45)
    (doubt,) = _weak_at_top(systems)
    assert (
        doubt.finding == "among the 5 best systems by a, tau of AP is -1.00; of all 10 it is 0.56"
    )
    assert not [*_weak_at_top(replace(systems, values=(one, one)))]
    assert best_of(7, None) == 0


# --- figures


def test_figures_show_the_numbers(ranked: Any) -> None:
    found = ranked[0]
    drawn = found.figure("confusion")
    counts = found.labels.confusion
    for box, (i, j) in zip(drawn.marks, np.ndindex(counts.shape), strict=True):
        assert (int(box.x0), int(box.y0), box.text) == (j, i, f"{int(counts[i, j]):,}")
        assert box.shade == pytest.approx(counts[i, j] / counts[i].sum())
    assert f"{found.labels.values['agree']:.0%} of 400 pairs" in drawn.says
    scatter = found.figure("systems", measure="P@5")
    one = found.systems[1]["P@5"]
    assert [(dot.x, dot.y) for dot in scatter.marks[1:]] == list(zip(*one.means, strict=True))
    assert f"tau {one.tau:.2f}" in scatter.says
    assert "<svg" in found.render("html")


def test_the_answer_tells_large_differences_and_no_interval_of_few_queries() -> None:
    """Every disagreement is 2 against 0: plain kappa is fair, and the weighted one below 0."""
    apart = {"a": (1, 1), "b": (1, 1), "c": (1, 1), "d": (2, 0), "e": (0, 2)}
    for queries, interval in ((4, False), (8, True)):
        one, other = (
            {f"q{i}": {d: both[side] for d, both in apart.items()} for i in range(queries)}
            | {"q0": {"a": 1}}
            for side in (0, 1)
        )
        summary = il.agreement(one, other).summary
        assert "where they differ, it is often by more than a grade (kappa with quad" in summary
        assert ("[" in summary) == interval
