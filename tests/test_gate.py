"""The gate: its rule, its files, and its life in a git repository."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from idealist.cli.main import main
from idealist.comparing import Pair
from idealist.conventions import CONVENTIONS
from idealist.errors import InputError, UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.formats.contents import OURS
from idealist.gating import Gate, github_annotations, junit
from idealist.gating.baseline import KEY, Baseline, _checksum
from idealist.gating.checks import FAIL, INCONCLUSIVE, PASS, Check, Rule, adjusted, p_of_drop
from idealist.gating.gate_result import sentence
from idealist.measures import MEASURES
from idealist.significance.paired import paired
from waiting import PATIENCE


def collection(n: int = 40, seed: int = 1) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make judgments, and a run that ranks well."""
    random = np.random.default_rng(seed)
    qrels = {f"q{i:02}": {f"d{j}": int(random.integers(0, 3)) for j in range(12)} for i in range(n)}
    for grades in qrels.values():
        grades["d0"] = 2
    run = {
        query: sorted(grades, key=lambda d, g=grades: (-g[d] - random.normal(0, 1.5), d))  # type: ignore[misc]
        for query, grades in qrels.items()
    }
    return qrels, run


QRELS, BASE = collection()
WORSE = {query: documents[::-1] for query, documents in BASE.items()}


def swapped(run: dict[str, Any], queries: list[str]) -> dict[str, Any]:
    """Swap the first two documents of some queries."""
    return run | {query: [run[query][1], run[query][0], *run[query][2:]] for query in queries}


def flat(words: object) -> str:
    """Undo the breaking of lines."""
    return " ".join(str(words).split())


# The rule


@settings(deadline=None)
@given(
    st.lists(st.floats(-1, 1), min_size=2, max_size=30),
    st.floats(0, 0.2),
    st.sampled_from([0.01, 0.05, 0.1]),
)
def test_the_rule_is_what_the_bounds_say(
    differences: list[float], max_drop: float, alpha: float
) -> None:
    found, p_drop = paired(differences), p_of_drop(np.array(differences))
    verdict = Rule(max_drop, alpha).verdict(found, p_drop)
    lower = found.lower(alpha)
    if math.isnan(lower):  # all change by the same amount
        sure = 2.0**-found.n <= alpha
        wanted = PASS if found.mean >= -max_drop else FAIL
        assert verdict == (wanted if sure else INCONCLUSIVE)
        return
    fails = p_drop <= alpha and found.mean < -max_drop
    assert verdict == (FAIL if fails else PASS if lower >= -max_drop else INCONCLUSIVE)


def test_three_drops_among_fifty_queries_are_not_significant() -> None:
    """Three of 50 queries drop from 1 to 0.5: t says p = 0.04, but the signs may be chance."""
    check = pairs_of([-0.5] * 3 + [0.0] * 47)
    assert check.paired.p_below() < 0.05
    assert (check.p_drop, check.verdict) == (0.125, INCONCLUSIVE)
    assert check.upper == 0  # the bound agrees with the test
    assert "may be chance (p=0.1250)" in sentence(check)


@pytest.mark.parametrize("changed", [1, 2, 3, 4, 5, 8])
def test_the_gate_seldom_fails_falsely_where_few_queries_change(changed: int) -> None:
    """All signs of the changes are equally likely: at most 5 % of them may fail."""
    sizes = np.random.default_rng(changed).choice([0.5, 0.67, 0.75, 0.9, 1.0], changed)
    rows = (np.array([*signs * sizes, *[0.0] * 45]) for signs in product_of_signs(changed))
    failed = [Rule().verdict(paired(one), p_of_drop(one)) == FAIL for one in rows]
    assert np.mean(failed) <= 0.05


def test_weighted_drops_must_be_significant_by_flips_too() -> None:
    """The heaviest queries vary twice as much as the others, which t does not see."""
    weights, rng = 1 / np.arange(1.0, 51), np.random.default_rng(8)
    spread = np.where(weights >= weights[4], 0.2, 0.1)
    rows = [rng.normal(size=50) * spread for _ in range(300)]
    by_t = np.mean([paired(row, weights).p_below() <= 0.05 for row in rows])
    assert by_t > 0.1
    assert np.mean([p_of_drop(row, weights) <= 0.05 for row in rows]) < 0.085


def product_of_signs(n: int) -> Iterator[Any]:
    return (np.array(one) for one in itertools.product([-1.0, 1.0], repeat=n))


def test_a_run_passes_against_itself_even_without_a_tolerance() -> None:
    found = il.gate(QRELS, BASE, BASE, max_drop=0)
    assert found.verdict == PASS
    assert found.checks[0].paired.mean == 0
    assert found.checks[0].lost == []
    assert not found.failed(strict=True)


def test_one_swapped_pair_in_one_query_is_no_regression() -> None:
    found = il.gate(QRELS, BASE, swapped(BASE, ["q07"]))
    assert found.verdict == PASS
    assert {query for query, _, _ in found.checks[0].lost} <= {"q07"}


def test_a_regression_fails_and_names_queries() -> None:
    found = il.gate(QRELS, BASE, WORSE, ["nDCG@5", "AP"])
    assert [check.verdict for check in found.checks] == [FAIL, FAIL]
    assert found.failed()
    before, after = il.evaluate(QRELS, BASE, "AP"), il.evaluate(QRELS, WORSE, "AP")
    drops = dict(zip(before.queries, after.values["AP"] - before.values["AP"], strict=True))
    assert [query for query, _, _ in found.checks[1].lost] == sorted(drops, key=lambda q: drops[q])[
        :5
    ]


@pytest.mark.parametrize("n", [1, 2])
def test_few_queries_decide_nothing(n: int) -> None:
    qrels, base = collection(n)
    found = il.gate(qrels, base, {query: documents[::-1] for query, documents in base.items()})
    assert found.verdict == INCONCLUSIVE
    assert found.failed(strict=True)
    assert not found.failed()
    assert "undecided" in str(found)
    assert f"{n} quer" in str(found)
    assert "bounds from fewer than 5 queries say next to nothing" in str(found)


def test_bounds_end_where_the_measure_does() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(3)}
    base = {"q0": ["a"], "q1": ["b"], "q2": ["b", "a"]}
    new = {"q0": ["b"], "q1": ["a"], "q2": ["a"]}
    check = il.gate(qrels, base, new, "RR").checks[0]
    assert check.paired.lower(0.05) < -1
    assert (check.lower, check.upper) == (-1.0, 1.0)
    assert check.numbers[3:] == (check.data()["lower"], check.data()["upper"]) == (-1.0, 1.0)
    wide = il.gate(qrels, base, new, "DCG").checks[0]
    assert wide.lower == wide.paired.lower(0.05) < -1  # DCG has no upper end


def test_the_gate_says_why_it_may_differ_from_compare() -> None:
    """A drop that is significant to one side only: two tests, two questions."""
    check = pairs_of([-0.05] * 20 + [0.05] * 10)
    assert check.verdict == FAIL
    assert check.p_drop < 0.05 < check.paired.p
    found = il.gate(QRELS, BASE, WORSE)
    assert "one-sided 95 % bounds" in flat(found)
    assert "because the gate only asks whether the new run is worse" in flat(found)
    assert "`compare` asks in both directions" in found.markdown()


@pytest.mark.parametrize("n", [2, 3, 4, 5, 20])
def test_a_constant_drop_is_decided_by_sign_flips(n: int) -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(n)}
    good, bad = {q: ["a", "b"] for q in qrels}, {q: ["b", "a"] for q in qrels}
    found = il.gate(qrels, good, bad, "RR")
    sure = n >= 5  # 2^-5 is below 0.05
    assert found.verdict == (FAIL if sure else INCONCLUSIVE)
    assert found.checks[0].p_drop == 2.0**-n
    assert il.gate(qrels, good, bad, "RR", max_drop=0.5).verdict == (PASS if sure else INCONCLUSIVE)
    up = il.gate(qrels, bad, good, "RR")
    assert up.verdict == (PASS if sure else INCONCLUSIVE)
    assert up.checks[0].p_drop == 1
    assert "nan" not in str(found) + str(up)
    assert sure or "queries cannot tell, whatever they say" in str(found)
    json.dumps(found.data(), allow_nan=False)


@pytest.mark.parametrize("n", range(2, 7))
def test_few_queries_of_two_values_fail_seldom(n: int) -> None:
    signs = itertools.product([-0.5, 0.5], repeat=n)
    failed = [Rule().verdict(paired(one), p_of_drop(np.array(one))) == FAIL for one in signs]
    assert np.mean(failed) <= 0.05


def test_holm_corrects_a_drop_over_measures() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        new = swapped(BASE, [query for query in BASE if random.random() < 0.4])
        alone = il.gate(QRELS, BASE, new, "nDCG@2", max_drop=0).checks[0]
        if 0.025 < alone.p_drop < 0.05:
            break
    found = il.gate(QRELS, BASE, new, ["nDCG@2", "R@12"], max_drop=0)
    assert alone.verdict == FAIL
    assert found.checks[0].p_adjusted == pytest.approx(2 * alone.p_drop)
    assert found.checks[0].verdict == INCONCLUSIVE
    assert "not significant among several checks" in flat(found)
    sliced = il.gate(QRELS, BASE, new, "nDCG@2", max_drop=0, slices=TYPES)
    assert sliced.checks[0].p_adjusted == alone.p_drop  # slices are a family of their own
    assert sliced.verdict == FAIL
    tested = [check.p_drop for check in sliced.checks[1:] if check.tested]
    assert len(tested) == 2
    assert max(check.p_adjusted for check in sliced.checks[1:3]) >= 2 * min(tested)


def test_undefined_values_are_left_out_and_said() -> None:
    qrels = QRELS | {"none": {"d1": 0}}
    run = BASE | {"none": ["d1"]}
    found = il.gate(qrels, run, WORSE | {"none": ["d1"]}, "AP", no_relevant="nan")
    assert found.checks[0].n == len(QRELS)
    assert found.checks[0].pair.undefined == ("none",)
    assert "1 query has no value" in str(found)
    with pytest.raises(UsageError, match="no query has a value"):
        il.gate({"q": {"d": 0}}, {"q": ["d"]}, {"q": ["d"]}, "AP", no_relevant="nan")


def test_weights_weigh() -> None:
    weights = {query: 1.0 + (i % 3) for i, query in enumerate(QRELS)}
    found = il.gate(QRELS, BASE, WORSE, "AP", weights=weights).checks[0]
    wanted = [il.evaluate(QRELS, run, "AP", weights=weights)["AP"] for run in (BASE, WORSE)]
    assert found.numbers[:2] == pytest.approx(wanted, abs=1e-15)
    assert found.paired.mean == pytest.approx(wanted[1] - wanted[0])


# Slices, floors, emptied queries

TYPES = {q: "odd" if i % 2 else "even" for i, q in enumerate(QRELS)} | {"q00": "rare"}


def test_a_slice_can_fail_the_gate_and_a_small_one_cannot() -> None:
    worse = {q: WORSE[q] if TYPES[q] == "odd" else BASE[q] for q in BASE}
    found = il.gate(QRELS, BASE, worse, slices=TYPES, max_drop=0.3)
    verdicts = {check.pair.slice: check.verdict for check in found.checks if check.pair.slice}
    assert verdicts == {"even": PASS, "odd": FAIL, "rare": "UNTESTED"}
    assert found.checks[0].verdict != FAIL
    assert found.verdict == FAIL
    assert il.gate(QRELS, BASE, worse, max_drop=0.3).verdict != FAIL


def test_queries_without_a_slice_are_together() -> None:
    gaps = [None, math.nan, np.float32("nan"), ""]
    kinds = {q: gaps[i % 4] if i % 2 else "even" for i, q in enumerate(QRELS)}
    del kinds["q01"]
    found = il.gate(QRELS, BASE, WORSE, slices=kinds)
    assert [(check.pair.slice, check.n) for check in found.checks[1:]] == [
        ("even", 20),
        ("(none)", 20),
    ]


def test_slices_need_not_pass() -> None:
    new = swapped(BASE, ["q03", "q11", "q20"])
    found = il.gate(QRELS, BASE, new, slices=TYPES, max_drop=0.004)
    verdicts = {check.pair.slice: check.verdict for check in found.checks}
    assert INCONCLUSIVE in verdicts.values()
    assert found.verdict == verdicts[""]


def test_floors() -> None:
    value = il.evaluate(QRELS, BASE, "nDCG@10")["nDCG@10"]
    assert il.gate(QRELS, BASE, BASE, floors=value - 1e-9).verdict == PASS
    found = il.gate(QRELS, BASE, BASE, ["nDCG@10", "AP"], floors={"ndcg@10": value + 1e-9})
    assert [check.verdict for check in found.checks] == [FAIL, PASS]
    assert "below the floor" in str(found)
    with pytest.raises(UsageError, match="was not evaluated"):
        il.gate(QRELS, BASE, BASE, floors={"RR": 0.5})
    sliced = il.gate(QRELS, BASE, BASE, floors=0.999, slices=TYPES)
    verdicts = {check.pair.slice: check.verdict for check in sliced.checks}
    assert verdicts == {"": FAIL, "even": FAIL, "odd": FAIL, "rare": "UNTESTED"}
    assert "below the floor of 0.999; 1 query: too few for a verdict or a floor" in flat(sliced)
    worse = il.gate(QRELS, BASE, WORSE, floors=0.999)
    assert "below the floor of 0.999; a significant drop (p<0.0001) of more than 0.01." in flat(
        worse
    )


def test_queries_that_became_empty_fail() -> None:
    new = {query: documents for query, documents in BASE.items() if query != "q05"} | {"q06": []}
    found = il.gate(QRELS, BASE, new, max_drop=1)
    assert found.emptied == ("q05", "q06")
    assert found.verdict == FAIL
    assert il.gate(QRELS, BASE, new, max_drop=1, max_empty=2).verdict == PASS
    assert il.gate(QRELS, new, BASE, max_drop=1).emptied == ()


# What is refused


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"max_drop": -1}, "max_drop"),
        ({"max_drop": math.nan}, "max_drop"),
        ({"max_drop": "x"}, "max_drop cannot be 'x'"),
        ({"max_drop": {"nDCG@10": -1}}, "max_drop of nDCG@10 cannot be -1"),
        ({"max_drop": {"AP": 0.1}}, "was not evaluated"),
        ({"max_drop": {"nDCG@10": 0.9, "ndcg_cut_10": 0.1}}, "nDCG@10 has two max_drop"),
        ({"alpha": 0.7}, "alpha"),
        ({"alpha": "x"}, "alpha cannot be 'x'"),
        ({"floors": "x"}, "floors cannot be 'x'"),
        ({"floors": math.nan}, "floors cannot be nan"),
        ({"floors": {"nDCG@10": None}}, "floors of nDCG@10 cannot be None"),
        ({"floors": {"nDCG@10": 0.9, "ndcg_cut_10": 0.1}}, "nDCG@10 has two floors"),
        ({"max_empty": "x"}, "max_empty cannot be 'x'"),
        ({"max_empty": -1}, "max_empty cannot be -1"),
        ({"slices": ["q01"]}, "slices cannot be"),
        ({"slices": {"nope": "a"}}, "no query is in a slice; slices name nope"),
        ({"slices": {}}, "no query is in a slice"),
        ({"slices": {1.5: "a"}}, "1.5 is not a query id"),
        ({"measures": "ARP"}, "lower is better in ARP"),
        ({"measures": "NumRelRet"}, "how good|a sum"),
        ({"measures": "Unjudged@10"}, "how good"),
        ({"aggregate": "median"}, "median"),
        ({"rescore": True}, "only a baseline"),
    ],
)
def test_what_a_gate_cannot_use_is_refused(rules: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        il.gate(QRELS, BASE, BASE, **rules)


def test_a_rescored_baseline_says_which_queries_are_judged_no_more(tmp_path: Path) -> None:
    path = saved(tmp_path / "base.json")
    few = dict(list(QRELS.items())[:12])
    found = il.gate(few, path, BASE, rescore=True)
    assert found.dropped == tuple(list(QRELS)[12:])
    assert "which LACK 28 queries of the baseline (q12, q13, q14" in found.summary
    assert found.summary in junit(found)


def test_different_queries_are_not_compared() -> None:
    fewer = {query: BASE[query] for query in list(BASE)[:-1]}
    with pytest.raises(UsageError, match="only one of them has q39, and missing=skip"):
        il.gate(QRELS, BASE, fewer, missing="skip")


# Baselines


def saved(path: Path, *arguments: Any, **axes: Any) -> Path:
    il.save_baseline(QRELS, BASE, path, *arguments, **axes)
    return path


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_a_baseline_is_as_good_as_the_run(tmp_path: Path, suffix: str) -> None:
    path = saved(tmp_path / f"base{suffix}", ["nDCG@5", "AP"], convention="sklearn")
    found = il.gate(QRELS, path, WORSE)
    wanted = il.gate(QRELS, BASE, WORSE, ["nDCG@5", "AP"], convention="sklearn")
    assert found.data() == wanted.data()


def test_saving_gives_the_same_bytes(tmp_path: Path) -> None:
    assert saved(tmp_path / "a.json").read_bytes() == saved(tmp_path / "b.json").read_bytes()


def test_a_baseline_with_weights_needs_them(tmp_path: Path) -> None:
    weights = {query: 1.0 + (i % 3) for i, query in enumerate(QRELS)}
    path = saved(tmp_path / "base.json", "AP", weights=weights)
    found = il.gate(QRELS, path, WORSE, weights=weights)
    assert found.data() == il.gate(QRELS, BASE, WORSE, "AP", weights=weights).data()
    with pytest.raises(UsageError, match="aggregate weighted"):
        il.gate(QRELS, path, WORSE)


def test_unlike_instruments_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "base.json", "nDCG@5")
    with pytest.raises(UsageError, match=r"nDCG\.gain linear there, exp2 here"):
        il.gate(QRELS, path, BASE, gain="exp2")
    with pytest.raises(UsageError, match="no values of AP"):
        il.gate(QRELS, path, BASE, "AP")
    grown = QRELS | {"q00": QRELS["q00"] | {"fresh": 2}}
    with pytest.raises(UsageError, match=r"the judgments have changed since .*\n.*--rescore"):
        il.gate(grown, path, BASE)
    with pytest.raises(UsageError, match=r"nDCG\.gain"):
        il.gate(grown, path, BASE, gain="exp2", rescore=True)


def test_a_baseline_is_no_new_run(tmp_path: Path) -> None:
    path = saved(tmp_path / "base.json", "nDCG@5")
    assert il.gate(QRELS, path, BASE, "ndcg@5").verdict == PASS  # in any spelling
    for act in (
        lambda: il.gate(QRELS, BASE, path),
        lambda: il.save_baseline(QRELS, path, tmp_path / "next.json"),
        lambda: main(["gate", "qrels.txt", str(path), "--save", "next.json"]),
    ):
        with pytest.raises((UsageError, SystemExit), match=r"is a baseline, not a run|2"):
            act()


def tied(run: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Score documents so that some tie."""
    return {q: {d: float(-(i // 3)) for i, d in enumerate(docs)} for q, docs in run.items()}


@pytest.mark.parametrize("axes", [
    {}, {"ties": "expected"}, {"ties": "docid-asc"}, {"ties": "worst"}, {"unjudged": "drop"},
    {"ideal": "retrieved"}, {"depth": 3}, {"precision": "float32"}, {"collapse": "0$"},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("measures", [["nDCG@4"], ["nDCG@2", "AP"], ["nDCG@3", "DCG@5"]], ids=str)
def test_a_rescored_baseline_equals_the_run_under_grown_judgments(
    tmp_path: Path, measures: list[str], axes: dict[str, Any]
) -> None:
    few = {q: dict(list(grades.items())[:7]) for q, grades in QRELS.items()}
    few.pop("q09")
    run = tied(BASE)
    path = tmp_path / "base.json"
    il.save_baseline(few, run, path, measures, **axes)
    found = il.gate(QRELS, path, tied(WORSE), rescore=True)
    wanted = il.gate(QRELS, run, tied(WORSE), measures, **axes)
    assert found.rescored
    for one, other in zip(found.checks, wanted.checks, strict=True):
        assert one.pair.base.tolist() == other.pair.base.tolist()
        assert one.verdict == other.verdict


@pytest.mark.parametrize("convention", sorted(CONVENTIONS.keys() - {"ndeval", "msmarco"}))
def test_every_measure_can_be_rescored(convention: str) -> None:
    few = {q: dict(list(grades.items())[:5]) for q, grades in QRELS.items()}
    run = {query: documents | {"x": -0.5, "y": -0.5} for query, documents in tied(BASE).items()}
    checked = 0
    for kind in MEASURES.values():
        if kind.needs or kind.direction != 1 or not kind.takes_cutoff:
            continue
        measure = kind() @ 3
        with contextlib.suppress(UsageError, InputError):  # not every tool has every measure
            kept = Baseline.of(Evaluator(few, measure, convention=convention), run, {}).run
            grown = Evaluator(QRELS, measure, convention=convention)
            found, wanted = (grown(one).values[measure].tolist() for one in (kept, run))
            assert found == pytest.approx(wanted, abs=0, nan_ok=True)
            checked += 1
    assert checked > 0


@pytest.mark.parametrize("ties", ["worst", "best", "docid-asc", "random(3)"])
def test_a_tie_at_the_depth_is_kept_whole(ties: str) -> None:
    run = {"q": {"a": 5.0, "b": 4.0, "c": 1.0, "d": 1.0, "e": 1.0, "f": 0.5}}
    axes: dict[str, Any] = {"depth": 4, "ties": ties}
    kept = Baseline.of(Evaluator({"q": {"x": 1}}, "DCG@5", **axes), run, {}).run
    for judged_now in itertools.product([0, 1, 2], repeat=3):
        grown = Evaluator(
            {"q": dict(zip("cde", judged_now, strict=True)) | {"x": 1}}, "DCG@5", **axes
        )
        assert grown(kept)["DCG@5"] == grown(run)["DCG@5"]


def test_a_recall_of_the_list_needs_the_list() -> None:
    run = {"q": ["a", "b", "c", "d"]}
    axes: dict[str, Any] = {"denominator": "R_list"}
    kept = Baseline.of(Evaluator({"q": {"a": 1}}, "R@2", **axes), run, {}).run
    grown = Evaluator({"q": {"a": 1, "d": 1}}, "R@2", **axes)
    assert grown(kept)["R@2"] == grown(run)["R@2"] == 0.5


def test_only_the_top_is_stored_where_only_the_top_counts(tmp_path: Path) -> None:
    for measure, longest in (("nDCG@5", 5), ("AP", 12)):
        rankings = json.loads(saved(tmp_path / "base.json", measure).read_text())["rankings"]
        assert {len(one["documents"]) for one in rankings.values()} == {longest}


@pytest.mark.parametrize("change", [
    lambda data: data["values"]["nDCG@10"].update(q03=0.0),
    lambda data: data["rankings"]["q03"]["documents"].reverse(),
    lambda data: data.update(checksum="0" * 64),
    lambda data: data["signatures"].update({"nDCG@10": "x"}),
    lambda data: data.update({"idealist-baseline": 99}),
    lambda data: data.pop("checksum"),
    lambda data: data.update(looks=1),
    lambda data: data.pop("looks"),
])  # fmt: skip
def test_a_changed_baseline_is_not_believed(tmp_path: Path, change: Any) -> None:
    path = saved(tmp_path / "base.json", looks=50)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"checksum|schema|not a saved baseline"):
        il.gate(QRELS, path, BASE)


def resigned(path: Path, change: Any) -> None:
    """Change a baseline and its checksum."""
    data = json.loads(path.read_text())
    del data["checksum"]
    change(data)
    path.write_text(json.dumps({**data, "checksum": _checksum(data)}))


@pytest.mark.parametrize("change", [
    lambda data: data["values"]["nDCG@10"].update(q03=0.0),
    lambda data: data["values"]["nDCG@10"].update(q03=None),
    lambda data: data["values"]["nDCG@10"].pop("q03"),
    lambda data: data["values"]["nDCG@10"].update(new=0.5),
    lambda data: data["rankings"]["q03"]["documents"].reverse(),
])  # fmt: skip
def test_values_that_the_rankings_do_not_have_are_not_believed(tmp_path: Path, change: Any) -> None:
    path = saved(tmp_path / "base.json")
    resigned(path, change)
    with pytest.raises(
        InputError, match=r"nDCG@10 of query '\w+' does not follow from its ranking"
    ):
        il.gate(QRELS, path, BASE)


@pytest.mark.parametrize("change", [
    lambda data: data.update(axes=[1]),
    lambda data: data.update(axes={"ties": [1]}),
    lambda data: data.update(run=None),
    lambda data: data.update(convention=3),
    lambda data: data.update(weights={"q01": "x"}),
    lambda data: data.update(looks=0),
    lambda data: data.update(looks=True),
    lambda data: data.update(looks=2.5),
    lambda data: data.update(looks="50"),
    lambda data: data.update(looks=None),
    lambda data: data.update(looks=10**9),
    lambda data: data.update(values=[]),
    lambda data: data.update(values={}),
    lambda data: data.update(signatures={}),
    lambda data: data.update(rankings=[]),
    lambda data: data["rankings"].update(q03={}),
    lambda data: data["rankings"]["q03"].update(documents=3),
    lambda data: data["rankings"]["q03"]["documents"].append(None),
    lambda data: data["rankings"]["q03"].update(scores=[1.0]),
    lambda data: data["rankings"]["q03"].update(scores=["x"] * 10),
    lambda data: data["values"]["nDCG@10"].update(q03="x"),
    lambda data: data["values"].update({"nDCG@10": 3}),
    lambda data: data["signatures"].update({"nDCG@10": 3}),
])  # fmt: skip
def test_what_is_no_baseline_is_refused_whatever_its_checksum(tmp_path: Path, change: Any) -> None:
    path = saved(tmp_path / "base.json")
    resigned(path, change)
    with pytest.raises(InputError, match="this is not a saved baseline"):
        il.gate(QRELS, path, BASE)


def test_other_files_of_ours_are_named(tmp_path: Path) -> None:
    il.evaluate(QRELS, BASE).save(tmp_path / "found.json")
    for act in (
        lambda: il.gate(QRELS, tmp_path / "found.json", BASE),
        lambda: il.gate(QRELS, BASE, tmp_path / "found.json"),
        lambda: il.evaluate(tmp_path / "found.json", BASE),
    ):
        with pytest.raises(InputError, match=r"this is a saved evaluation, not(.|\n)*--saved"):
            act()
    path = saved(tmp_path / "base.json")
    with pytest.raises(InputError, match="this is a baseline, not judgments or a run"):
        il.evaluate(QRELS, path)
    assert OURS.keys() == {"idealist", KEY}
    assert il.read_run({"idealist": {"d": 1}, KEY: {"d": 1}}).rows().queries == ("idealist", KEY)


def test_the_budget_of_looks_is_the_files(tmp_path: Path) -> None:
    path = saved(tmp_path / "base.json", "nDCG@5", looks=50)
    new = swapped(BASE, list(BASE)[::3])
    found = il.gate(QRELS, path, new)
    assert found.data() == il.gate(QRELS, BASE, new, "nDCG@5", looks=50).data()
    assert (found.data()["looks"], found.data()["level"]) == (50, 0.001)
    assert il.gate(QRELS, path, new, looks=50).data() == found.data()
    with pytest.raises(UsageError, match=r"base.json is for 50 looks, not 10\n.*save it anew"):
        il.gate(QRELS, path, new, looks=10)
    il.save_baseline(QRELS, BASE, tmp_path / "next.json", like=path)  # the budget starts again
    assert Baseline.load(tmp_path / "next.json").looks == 50
    il.save_baseline(QRELS, BASE, tmp_path / "next.json", like=path, looks=100)
    assert Baseline.load(tmp_path / "next.json").looks == 100


def test_a_baseline_without_a_budget_is_for_one_look(tmp_path: Path) -> None:
    path = saved(tmp_path / "base.json", "nDCG@5")
    with_one = il.gate(QRELS, path, WORSE)
    resigned(path, lambda data: data.pop("looks"))  # as files were before there were budgets
    found = il.gate(QRELS, path, WORSE)
    assert found.data() == with_one.data() == il.gate(QRELS, BASE, WORSE, "nDCG@5").data()
    assert "alpha 0.05 is for one look; where every push" in str(found)
    assert il.gate(QRELS, path, WORSE, looks=20).data()["level"] == 0.0025
    assert ", one of" not in str(found)


def test_a_baseline_laid_out_anew_is_the_same(tmp_path: Path) -> None:
    path = saved(tmp_path / "base.json")
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4))
    assert Baseline.load(path).run.name == "run"
    assert il.gate(QRELS, path, BASE).verdict == PASS


# Reports


@pytest.mark.parametrize("strict", [False, True])
def test_junit_counts_what_it_lists(strict: bool) -> None:
    few, base = collection(2)
    worse = {query: documents[::-1] for query, documents in base.items()}
    for found in (il.gate(QRELS, BASE, WORSE), il.gate(few, base, worse)):
        suite = ElementTree.fromstring(junit(found, strict))[0]
        assert int(suite.get("tests", -1)) == len(suite.findall("testcase")) == 2
        for outcome, counted in (("failure", "failures"), ("skipped", "skipped")):
            assert len(suite.findall(f"testcase/{outcome}")) == int(suite.get(counted, -1))
        assert bool(suite.findall("testcase/failure")) == found.failed(strict)


def test_a_slice_stops_no_build_however_strict() -> None:
    new = swapped(BASE, ["q03", "q11", "q20"])
    lower = il.gate(QRELS, BASE, new).checks[0].numbers[3]
    found = il.gate(QRELS, BASE, new, slices=TYPES, max_drop=-lower)
    assert found.verdict == PASS
    assert INCONCLUSIVE in [check.verdict for check in found.checks]
    assert not ElementTree.fromstring(junit(found, strict=True)).findall(".//failure")
    assert not any(line.startswith("::error") for line in github_annotations(found, strict=True))


def test_annotations_are_errors_where_the_build_stops() -> None:
    few, base = collection(2)
    found = il.gate(few, base, {query: documents[::-1] for query, documents in base.items()})
    for strict, level in ((False, "::warning"), (True, "::error")):
        lines = github_annotations(found, strict)
        assert [line.split()[0] for line in lines[:2]] == [level, level]
        assert lines[2].startswith("::notice title=idealist gate::queries that lost most")


def test_reports_survive_odd_ids() -> None:
    qrels, run = {"<&\x01%|\u2028é": {"d": 1}, "q": {"d": 1}}, {"q": ["d"]}
    found = il.gate(qrels, {"<&\x01%|\u2028é": ["d"], "q": ["d"]}, run)
    assert found.emptied
    assert ElementTree.fromstring(junit(found)).findall(".//failure")
    assert all("\n" not in line and "%25" in line for line in github_annotations(found)[2:3])
    assert found.markdown().startswith("### ❌ idealist gate\n\n**FAIL: ")


def test_plain_data_is_json() -> None:
    few, base = collection(1)
    data = json.loads(json.dumps(il.gate(few, base, base).data(), allow_nan=False))
    assert data["verdict"] == INCONCLUSIVE
    assert data["checks"][0]["lower"] is None


def test_doubts_are_in_every_report() -> None:
    few = {query: dict(list(grades.items())[:5]) for query, grades in QRELS.items()}
    found = il.gate(few, BASE, WORSE)
    (doubt,) = found.data()["doubts"]
    assert doubt == f"doubt: {found.doubts[0].message}"
    assert doubt in str(found)
    assert doubt in found.markdown()
    assert doubt in ElementTree.fromstring(junit(found)).findtext(".//system-out", "")
    assert f"::notice title=idealist gate::{doubt}" in github_annotations(found)


def test_a_failure_in_junit_has_the_queries_of_its_own_measure() -> None:
    found = il.gate(QRELS, BASE, WORSE, ["nDCG@5", "AP"])
    cases = ElementTree.fromstring(junit(found)).findall(".//testcase")[:2]
    words = [case.findtext("failure", "") for case in cases]
    assert [one.split(":")[0] for one in words] == [
        "queries that lost most nDCG@5",
        "queries that lost most AP",
    ]


# Ids that do not meet

OTHER_IDS = {query: [f"v2/{document}" for document in own] for query, own in BASE.items()}


@pytest.mark.parametrize("n", [2, 40])
@pytest.mark.parametrize("other", [OTHER_IDS, {f"T{q}": own for q, own in BASE.items()}])
def test_where_no_id_is_judged_nothing_is_measured(n: int, other: dict[str, Any]) -> None:
    qrels = dict(list(QRELS.items())[:n])
    for base, new in ((BASE, other), (other, BASE), (other, other)):
        found = il.gate(qrels, base, new)
        said = (
            "no document that run retrieved is judged, so nothing was measured; "
            "idealist.audit(qrels, run) says why"
        )
        assert found.verdict == FAIL
        assert found.summary == f"FAIL: run should not replace run: {said}"
        assert found.lines[0] == f"FAIL nDCG@10: {said}."
        assert found.lost_lines == []
        for report in (flat(found), found.markdown(), junit(found), *github_annotations(found)[:2]):
            assert said in report
            assert "significant drop" not in report


def test_what_measures_nothing_is_no_baseline(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no document that run retrieved is judged"):
        il.save_baseline(QRELS, OTHER_IDS, tmp_path / "base.json")
    assert not (tmp_path / "base.json").exists()


# Words


def pairs_of(differences: list[float]) -> Check:
    """Make a check of differences, against a base of 0.5."""
    base = np.full(len(differences), 0.5)
    queries = tuple(f"q{i}" for i in range(base.size))
    return adjusted([Check(Pair("AP", "base", "new", queries, base, base + differences), Rule())])[
        0
    ]


@settings(deadline=None)
@given(
    differences=st.lists(st.floats(-1, 1, width=16), min_size=2, max_size=60),
    looks=st.integers(1, 10_000),
    max_drop=st.sampled_from([0.0, 0.01, 0.1]),
)
def test_looks_share_the_level_of_a_fail_and_leave_a_pass(
    differences: list[float], looks: int, max_drop: float
) -> None:
    pair = pairs_of(differences).pair
    (alone,), (shared,) = (
        adjusted([Check(pair, Rule(max_drop, looks=many))]) for many in (1, looks)
    )
    assert shared.rule.level * looks == pytest.approx(0.05)
    assert (shared.verdict == PASS) == (alone.verdict == PASS)
    assert shared.lower == alone.lower or math.isnan(alone.lower)
    fails = shared.p_adjusted <= 0.05 / looks and pair.statistics.mean < -max_drop
    assert (shared.verdict == FAIL) == fails
    assert alone.verdict == FAIL or not fails
    assert not shared.upper < alone.upper


def test_a_level_that_is_shared_is_said_in_every_form() -> None:
    shape = np.resize([1.0, -1.0], 30)
    drop = pairs_of(list(-0.03 + 0.05 * shape)).pair  # p = 0.0015
    checks = [adjusted([Check(drop, Rule(looks=looks))])[0] for looks in (20, 50)]
    assert [check.verdict for check in checks] == [FAIL, INCONCLUSIVE]
    assert "a significant drop (p=0.0015 at 0.0025, one of 20 looks) of more" in sentence(checks[0])
    assert "the drop may be chance (p=0.0015 at 0.001, one of 50 looks)" in sentence(checks[1])
    found = Gate("base", "new", (checks[0],), (), 0, {})
    words = "one of 20 looks"
    for form in (str(found), found.markdown(), found.to_json(), junit(found), found.summary):
        assert (words in flat(form)) == (form != found.summary)
    assert words in "".join(github_annotations(found))
    assert "bounds of the change, 95 % and 99.75 %" in str(found)
    assert "the chance of any false one is about 0.05 at most; each PASS is at 0.05" in str(found)
    several = il.gate(QRELS, BASE, WORSE, looks=20, slices=TYPES)
    assert "about 0.05 at most, and as much for slices" in str(several)


@pytest.mark.parametrize("looks", [0, -1, 2.0, True, "50", math.nan, 50_001])
def test_a_budget_is_a_number_of_looks(tmp_path: Path, looks: Any) -> None:
    for act in (
        lambda: il.gate(QRELS, BASE, WORSE, looks=looks),
        lambda: il.save_baseline(QRELS, BASE, tmp_path / "base.json", looks=looks),
    ):
        with pytest.raises(UsageError, match=r"looks cannot be|looks are too many"):
            act()


@pytest.mark.parametrize(
    ("mean", "spread", "words"),
    [
        (
            -0.0064,
            0.017,
            "the drop is significant (p=0.0241), and a drop of up to 0.0117 cannot be ruled out",
        ),
        (0.002, 0.05, "a drop of up to 0.0135 cannot be ruled out, where 0.01 is allowed"),
        (-0.02, 0.08, "the drop may be chance"),
    ],
)
def test_what_is_undecided_says_what_would_decide(mean: float, spread: float, words: str) -> None:
    shape = np.resize([1.0, -1.0], 30)
    check = pairs_of(list(mean + spread * shape / shape.std(ddof=1)))
    assert check.verdict == INCONCLUSIVE
    assert words in sentence(check)
    (wanted,) = re.findall(r"about ([\d,]+) such queries would decide", sentence(check))
    more = np.resize([1.0, -1.0], int(wanted.replace(",", "")) // 2 * 2 + 2)
    assert pairs_of(list(mean + spread * more / more.std(ddof=1))).verdict != INCONCLUSIVE


@pytest.mark.parametrize(("changed", "looks"), [(3, 1), (4, 1), (3, 50), (8, 50), (9, 50)])
def test_where_few_queries_change_more_of_them_decide(changed: int, looks: int) -> None:
    def checked(dropped: int, n: int) -> Check:
        pair = pairs_of([-0.5] * dropped + [0.0] * (n - dropped)).pair
        return adjusted([Check(pair, Rule(looks=looks))])[0]

    check = checked(changed, 50)
    assert check.verdict == INCONCLUSIVE
    (wanted,) = re.findall(r"about (\d+) such queries would decide", sentence(check))
    assert checked(math.ceil(changed * int(wanted) / 50), int(wanted)).verdict == FAIL


def test_the_same_values_are_said_to_be() -> None:
    said = sentence(pairs_of([0.0] * 20))
    assert said.startswith("AP: 0.5000 to 0.5000 (+0.0000), the same in every query; ")
    assert said.endswith("changes to under 14 % of queries may not show.")


def test_each_measure_may_have_its_own_largest_drop() -> None:
    found = il.gate(QRELS, BASE, WORSE, ["nDCG@5", "AP"], max_drop={"ap": 0.9})
    assert [check.rule.max_drop for check in found.checks] == [0.01, 0.9]
    assert [check.verdict for check in found.checks] == [FAIL, PASS]
    assert "largest drop that passes: 0.01 of nDCG@5, 0.9 of AP" in str(found)
    assert found.data()["max_drop"] == {"nDCG@5": 0.01, "AP": 0.9}
    whole = found.plan().parts[-1]
    alike = il.gate(QRELS, BASE, WORSE, ["nDCG@5", "AP"], max_drop=0.9).plan().parts[-1]
    assert dict(whole.rows[1][1])[PASS] < dict(alike.rows[1][1])[PASS]


# The command line, in a git repository


def written(run: dict[str, Any]) -> str:
    return "".join(
        f"{query} Q0 {document} {rank} {100 - rank} t\n"
        for query, documents in run.items()
        for rank, document in enumerate(documents, 1)
    )


def judged(qrels: dict[str, Any]) -> str:
    return "".join(f"{q} 0 {d} {g}\n" for q, own in qrels.items() for d, g in own.items())


class Repository:
    """A git repository whose branches hold a run, and a baseline that main saved."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        self.write("qrels.txt", judged(QRELS))
        self.write("system.run", written(BASE))
        self.gate("qrels.txt", "system.run", "-m", "nDCG@5", "--save", "baseline.json")
        self.commit("Save the baseline")

    def git(self, *arguments: str) -> str:
        settings = (
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "commit.gpgsign=false",
        )
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith("GIT_")
        }
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *settings, *arguments], cwd=self.folder, env=environment, check=True,
            capture_output=True, encoding="utf-8", timeout=PATIENCE,
        )  # fmt: skip
        return done.stdout

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def commit(self, words: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", words)

    def branch(self, name: str, run: dict[str, Any]) -> None:
        """Propose a change of the system, as a pull request does."""
        self.git("checkout", "-q", "-b", name, "main")
        self.write("system.run", written(run))
        self.commit(name)

    def gate(self, *arguments: str) -> tuple[int, str]:
        """Run the gate where the repository is; give the exit code, and all that is printed."""
        printed, code = io.StringIO(), 0
        with contextlib.chdir(self.folder), redirect_stdout(printed), redirect_stderr(printed):
            try:
                main(["gate", *arguments])
            except SystemExit as stopped:
                code = int(str(stopped.code))
        return code, printed.getvalue()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return Repository(tmp_path)


PULL = ("qrels.txt", "baseline.json", "system.run")


def test_a_harmless_change_passes(repository: Repository) -> None:
    repository.branch("harmless", swapped(BASE, ["q07"]))
    code, words = repository.gate(*PULL, "--strict", "--github")
    assert (code, words.splitlines()[0]) == (0, "PASS: system may replace system")
    assert "::notice" in words
    repository.git("checkout", "-q", "main")
    assert repository.git("status", "--porcelain") == ""


def test_a_real_regression_fails_and_is_reported(repository: Repository) -> None:
    repository.branch("regression", WORSE)
    code, words = repository.gate(
        *PULL, "--junit", "gate.xml", "--summary", "gate.md", "--github", "--save", "next.json"
    )
    assert code == 1
    assert words.startswith("FAIL")
    assert "::error title=idealist gate::FAIL nDCG@5" in words
    assert "failure" in (repository.folder / "gate.xml").read_text()
    assert (
        (repository.folder / "gate.md").read_text().startswith("### ❌ idealist gate\n\n**FAIL: ")
    )
    assert not (repository.folder / "next.json").exists()  # what failed is no baseline
    main_run = repository.git("show", "main:system.run")
    repository.write("main.run", main_run)
    code, _ = repository.gate("qrels.txt", "main.run", "system.run", "-m", "nDCG@5")
    assert code == 1


def test_noise_is_undecided_and_said(repository: Repository) -> None:
    random = np.random.default_rng(2)
    noisy = {query: list(random.permutation(documents)) for query, documents in WORSE.items()}
    repository.write("old.run", written({q: list(random.permutation(d)) for q, d in BASE.items()}))
    repository.branch("noise", noisy)
    arguments = ("qrels.txt", "old.run", "system.run", "-m", "nDCG@5", "--max-drop", "0.02")
    code, words = repository.gate(*arguments)
    assert code == 0
    assert words.startswith("INCONCLUSIVE")
    assert "cannot be ruled out" in words or "may be chance" in words
    assert repository.gate(*arguments, "--strict")[0] == 1


def test_grown_judgments_need_rescoring(repository: Repository) -> None:
    repository.branch("judged", swapped(BASE, ["q07"]))
    grown = {q: {**grades, **({"d11": 2} if q < "q20" else {})} for q, grades in QRELS.items()}
    repository.write("qrels.txt", judged(grown))
    repository.commit("Judge more")
    code, words = repository.gate(*PULL)
    assert code == 2
    assert "--rescore" in words
    code, words = repository.gate(*PULL, "--rescore")
    assert code == 0
    assert words.startswith("PASS: system may replace system, rescored under these judgments")
    assert repository.gate(*PULL, "--rescore", "--save", "baseline.json")[0] == 0
    assert repository.gate(*PULL)[0] == 0


def test_a_tampered_baseline_is_refused(repository: Repository) -> None:
    repository.branch("tampered", WORSE)
    path = repository.folder / "baseline.json"
    data = json.loads(path.read_text())
    data["values"]["nDCG@5"] = dict.fromkeys(data["values"]["nDCG@5"], 0.0)
    path.write_text(json.dumps(data))
    repository.commit("Make the baseline easy to beat")
    code, words = repository.gate(*PULL)
    assert code == 2
    assert "was changed after it was saved" in words
    repository.write("baseline.json", path.read_text()[:200])
    assert repository.gate(*PULL)[0] == 2


# Options


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("qrels.txt", judged(QRELS)),
        ("a.run", written(BASE)),
        ("b.run", written(WORSE)),
    ):
        (tmp_path / name).write_text(text)
    lines = "".join(f"{query},{kind}\n" for query, kind in TYPES.items())
    (tmp_path / "queries.csv").write_text("query,type\n" + lines)
    return tmp_path


@pytest.mark.usefixtures("files")
def test_formats(capsys: pytest.CaptureFixture[str]) -> None:
    for form, start in (
        ("tsv", "measure\tqueries"),
        ("md", "### ✅"),
        ("latex", "% PASS: "),
        ("json", "{"),
    ):
        main(
            [
                "gate",
                "qrels.txt",
                "b.run",
                "a.run",
                "-f",
                form,
                "--queries",
                "queries.csv",
                "--slice",
                "type",
            ]
        )
        assert capsys.readouterr().out.startswith(start)
    for form in ("table", "json", "csv"):
        main(["gate", "qrels.txt", "a.run", "b.run", "--plan", "-f", form])  # a plan fails nothing
        assert INCONCLUSIVE in capsys.readouterr().out


def test_githubs_summary_is_added_to(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (files / "job.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(files / "job.md"))
    main(["gate", "qrels.txt", "b.run", "a.run", "--github"])
    assert (
        (files / "job.md")
        .read_text()
        .startswith("before\n### ✅ idealist gate\n\n**PASS: a may replace b**")
    )
    assert "::notice" in capsys.readouterr().err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("arguments", [
    ["qrels.txt", "a.run"],
    ["qrels.txt", "a.run", "b.run", "--floor", "x"],
    ["qrels.txt", "a.run", "b.run", "--floor", "nan"],
    ["qrels.txt", "a.run", "b.run", "--floor", "nDCG@10=0.9", "--floor", "nDCG@10=0.1"],
    ["qrels.txt", "a.run", "b.run", "--floor", "nDCG@10=0.9", "--floor", "ndcg_cut_10=0.1"],
    ["qrels.txt", "a.run", "b.run", "--floor", "0.9", "--floor", "0.1"],
    ["qrels.txt", "a.run", "b.run", "--alpha", "1e-18"],
    ["qrels.txt", "a.run", "b.run", "--floor", "0.1", "--floor", "AP=0.2"],
    ["qrels.txt", "a.run", "b.run", "--slice", "type"],
    ["qrels.txt", "a.run", "b.run", "--slice", "kind", "--queries", "queries.csv"],
    ["qrels.txt", "a.run", "b.run", "--set", "alpha=0.5"],
    ["qrels.txt", "a.run", "b.run", "--rescore"],
    ["qrels.txt", "a.run", "missing.run"],
    ["qrels.txt", "missing.json", "b.run"],
    ["qrels.txt", "a.run", "b.run", "--max-drop", "-1"],
    ["qrels.txt", "a.run", "b.run", "--looks", "0"],
    ["qrels.txt", "a.run", "b.run", "--looks", "1000000"],
    ["qrels.txt", "a.run", "b.run", "--looks", "50", "--alpha", "1e-6"],
])  # fmt: skip
def test_bad_usage_ends_with_2(arguments: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["gate", *arguments])
    assert stopped.value.code == 2
    assert "error" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [
    ["a.run", "--save", "a.run"],
    ["a.run", "--save", "./qrels.txt"],
    ["a.run", "b.run", "--save", "a.run"],
    ["b.run", "a.run", "--junit", "a.run"],
    ["b.run", "a.run", "--queries", "queries.csv", "-o", "queries.csv"],
    ["b.run", "a.run", "--queries", "queries.csv", "--summary", "queries.csv"],
])  # fmt: skip
def test_no_input_is_written_over(files: Path, arguments: list[str], capsys: Any) -> None:
    before = {path: path.read_bytes() for path in files.iterdir()}
    with pytest.raises(SystemExit) as stopped:
        main(["gate", "qrels.txt", *arguments])
    assert stopped.value.code == 2
    assert "is an input, and would be overwritten" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in files.iterdir()} == before
    with pytest.raises(UsageError, match="would be overwritten"):
        il.save_baseline("qrels.txt", files / "a.run", "a.run")


def test_a_baseline_may_be_saved_anew_and_quietly(files: Path, capsys: Any) -> None:
    main(["gate", "qrels.txt", "b.run", "--save", "base.json", "-q"])
    before = (files / "base.json").read_bytes()
    arguments = ["gate", "qrels.txt", "base.json", "a.run", "--save", "./base.json", "-q"]
    main([*arguments, "--max-drop", "nDCG@10=0.02"])
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "no drop of more than 0.02" in captured.out
    assert (files / "base.json").read_bytes() != before


def test_looks_are_stated_where_the_baseline_is_saved(files: Path, capsys: Any) -> None:
    main(["gate", "qrels.txt", "b.run", "--save", "base.json", "--looks", "50"])
    check = ["gate", "qrels.txt", "base.json", "a.run", "-f", "json"]
    main(check)
    assert json.loads(capsys.readouterr().out)["looks"] == 50
    with pytest.raises(SystemExit):
        main([*check, "--looks", "10"])
    assert "base.json is for 50 looks, not 10" in capsys.readouterr().err
    main([*check, "--save", "base.json", "--looks", "10"])  # this look is one of the old 50
    assert json.loads(capsys.readouterr().out)["looks"] == 50
    assert Baseline.load(files / "base.json").looks == 10
    main(["gate", "qrels.txt", "base.json", "a.run", "--save", "base.json"])
    assert Baseline.load(files / "base.json").looks == 10


def test_a_plan_saves_nothing_that_fails(files: Path, capsys: Any) -> None:
    arguments = ["gate", "qrels.txt", "a.run", "b.run", "--plan", "--save", "next.json"]
    main(arguments)
    assert "not saved: b fails the gate" in capsys.readouterr().err
    assert not (files / "next.json").exists()


def test_a_baseline_on_standard_input_is_named(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    main(["gate", "qrels.txt", "a.run", "--save", "base.json"])
    with (files / "base.json").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        with pytest.raises(SystemExit) as stopped:
            main(["gate", "qrels.txt", "-", "b.run"])
    assert stopped.value.code == 2
    assert "<stdin>: this is a baseline, not judgments or a run" in capsys.readouterr().err


def test_saved_evaluations_are_gated_without_the_runs(tmp_path: Path) -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(30)}
    good, bad = ({query: list(order) for query in qrels} for order in ("ab", "ba"))
    paths = tmp_path / "good.json", tmp_path / "bad.json"
    for path, run in zip(paths, (good, bad), strict=True):
        il.evaluate(qrels, il.read_run(run, name=path.stem), ["nDCG@10", "RR"]).save(path)
    found = il.gate_evaluations(*paths, "RR")
    assert (found.verdict, found.base, found.new) == ("FAIL", "good", "bad")
    assert found.verdict == il.gate(qrels, good, bad, "RR").verdict
    assert il.gate_evaluations(paths[1], paths[0], floors={"RR": 0.9}).verdict == "PASS"
    counts = il.evaluate(qrels, good, "NumRel")
    with pytest.raises(il.UsageError, match="does not say how good"):
        il.gate_evaluations(counts, counts)
