"""How far a run is the one it should be: `il.reproduce`, `idealist compare --reproduce`."""

from __future__ import annotations

import json
import math
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

import idealist as il
from idealist.cli.main import main

ROOT = Path(__file__).parents[1]
FILES = [str(ROOT / "examples" / name) for name in ("qrels.txt", "bm25.run", "reranked.run")]

Lists = dict[str, list[str]]


def tau(pairs: list[tuple[int, int]]) -> float:
    """Count pairs in the same order less those in the other, over all."""
    signs = [(a - c) * (b - d) for (a, b), (c, d) in combinations(pairs, 2)]
    return sum(1 if sign > 0 else -1 for sign in signs) / len(signs) if signs else math.nan


def rbo(a: list[str], b: list[str]) -> float:
    """Add up what the first d have in common, loop by loop."""
    score = whole = 0.0
    for d in range(1, max(len(a), len(b)) + 1):
        weight = 0.95 ** (d - 1)
        score += weight * len(set(a[:d]) & set(b[:d])) / d
        whole += weight
    return score / whole


def some_lists(rng: random.Random, queries: list[str]) -> Lists:
    return {q: rng.sample([f"d{i}" for i in range(12)], rng.randint(1, 12)) for q in queries}


def test_rankings_are_those_of_a_plain_count() -> None:
    rng = random.Random(20)
    for _ in range(40):
        queries = [f"q{i}" for i in range(6)]
        a, b = some_lists(rng, queries), some_lists(rng, queries)
        b["q0"] = list(a["q0"])
        found = il.reproduce({q: {"d1": 1} for q in queries}, a, b, "RR")
        for one in found.orders:
            x, y = a[one.query], b[one.query]
            shared = [(i, y.index(document)) for i, document in enumerate(x) if document in y]
            union = sorted({*x, *y})
            ktu = [(union.index(i), union.index(j)) for i, j in zip(x, y, strict=False)]
            ours = one.same, one.shared, one.rbo, one.tau, one.ktu
            assert ours == pytest.approx(
                (x == y, len(shared), rbo(x, y), tau(shared), tau(ktu)), nan_ok=True, abs=1e-12
            )
        known = [rbo(a[q], b[q]) for q in queries]
        assert found.mean("rbo") == pytest.approx(sum(known) / len(known))
        assert found.orders[0].same
        assert found.same == (a == b)


def test_values_and_effects_are_those_of_the_formulas() -> None:
    rng = random.Random(21)
    queries = [f"q{i}" for i in range(9)]
    qrels = {q: {f"d{i}": rng.randint(0, 2) for i in range(8)} for q in queries}
    runs = [some_lists(rng, queries) for _ in range(4)]
    found = il.reproduce(qrels, runs[0], runs[1], ["nDCG@5", "DCG@5"], baselines=runs[2:])
    for one in found.fidelity:
        values = [il.evaluate(qrels, run, one.measure).by_query(one.measure) for run in runs]
        a, b, base, other = ([known[q] for q in queries] for known in values)
        mean = [sum(each) / 9 for each in (a, b, base, other)]
        rmse = math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / 9)
        widest = math.sqrt(sum(max(x, 1 - x) ** 2 for x in a) / 9)
        ratio = (mean[1] - mean[3]) / (mean[0] - mean[2])
        delta = (mean[0] - mean[2]) / mean[2] - (mean[1] - mean[3]) / mean[3]
        p = stats.ttest_rel(a, b).pvalue
        nrmse = rmse / widest if one.measure == "nDCG@5" else math.nan  # DCG has no largest value
        ours = one.original, one.reproduced, one.rmse, one.nrmse, one.p
        assert ours == pytest.approx((*mean[:2], rmse, nrmse, p), nan_ok=True)
        assert (one.effect_ratio, one.delta_ri) == pytest.approx((ratio, delta))
        assert found.values[one.measure]["q3"] == (a[3], b[3])


def test_the_answer_comes_first() -> None:
    qrels, bm25, reranked = FILES
    found = il.reproduce(qrels, bm25, reranked, "nDCG@10")
    assert found.summary == (
        "reranked is not the same ranking as bm25: 0 of 12 queries are ordered identically; "
        "nDCG@10 per query differs by 0.2802 (RMSE)"
    )
    same = il.reproduce(qrels, bm25, il.read_run(bm25), "nDCG@10")
    assert same.same
    assert same.summary == "bm25 (2) is the same ranking as bm25 for all 12 queries"
    assert (same.fidelity[0].p, same.mean("rbo"), same.mean("ktu")) == (1, 1, 1)
    lists = {"q1": ["a", "b", "c"], "q2": ["a"]}
    swapped = {"q1": ["a", "c", "b"]}
    found = il.reproduce({"q1": {"a": 1}}, lists, swapped, "RR")
    assert found.alone == ("q2",)
    assert found.summary == (
        "run (2) is not the same ranking as run: 0 of 2 queries are ordered identically; "
        "RR is the same for every query"
    )
    assert "in one of the runs only: q2" in str(found)


def test_some_queries() -> None:
    qrels, bm25, reranked = FILES
    found = il.reproduce(qrels, bm25, reranked, "nDCG@10", queries=["q01", "q02"])
    assert [one.query for one in found.orders] == ["q01", "q02"]
    assert list(found.values["nDCG@10"]) == ["q01", "q02"]


def test_what_cannot_be_reproduced() -> None:
    qrels, bm25, reranked = FILES
    with pytest.raises(il.UsageError, match="two baselines"):
        il.reproduce(qrels, bm25, reranked, baselines=[bm25])
    with pytest.raises(il.UsageError, match="no query in common"):
        il.reproduce({"q1": {"a": 1}}, {"q1": ["a"]}, {"q2": ["a"]}, "RR")


def test_effects_of_nothing_are_undefined() -> None:
    qrels, bm25, reranked = FILES
    found = il.reproduce(qrels, bm25, reranked, "nDCG@10", baselines=[bm25, bm25])
    assert math.isnan(found.fidelity[0].effect_ratio)
    assert found.data()["measures"][0]["effect_ratio"] is None


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(["compare", *FILES, "--reproduce", "-m", "nDCG@10", "-m", "AP", *arguments])
    return capsys.readouterr().out


def test_the_command_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    found: Any = json.loads(run(capsys, "-f", "json", "--baselines", FILES[1], FILES[2]))
    assert found["same"] is False
    assert found["baselines"] == ["bm25 (2)", "reranked (2)"]
    assert found["measures"][0]["rmse"] == pytest.approx(0.2802, abs=1e-4)
    assert len(found["orders"]) == 12
    assert found["values"]["AP"]["q01"] == pytest.approx([0.6347, 1.0], abs=1e-4)
    for form in ("table", "md", "latex", "html"):
        assert "is not the same ranking as bm25" in run(capsys, "-f", form)
    assert run(capsys, "-f", "tsv").startswith(
        "measure\tbm25\treranked\tRMSE\tnRMSE\tp t\nnDCG@10\t"
    )
    by_query = run(capsys, "-f", "tsv", "--per-query").splitlines()
    assert by_query[0].startswith("query\tidentical\tshared\tRBO\ttau\tKTU\tnDCG@10 bm25\t")
    assert len(by_query) == 13
    assert "q07" not in run(capsys)
    assert "q07" in run(capsys, "--details")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*FILES, "--reproduce", "--alpha", "0.1"), "--alpha does not go with --reproduce"),
        ((*FILES, "--reproduce", "--saved"), "--saved does not go with --reproduce"),
        ((*FILES, FILES[1], "--reproduce"), "--reproduce needs two runs"),
        ((*FILES, "--baselines", *FILES[1:]), "--baselines is for --reproduce"),
    ],
)
def test_options_that_do_not_go_together(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["compare", *arguments])
    assert caught.value.code == 2
    assert words in capsys.readouterr().err
