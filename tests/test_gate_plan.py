"""The plan of a gate: the chance of each verdict, and what real runs do."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
from effort import SLOW
from idealist.comparing import Pair
from idealist.gating import Gate
from idealist.gating.checks import FAIL, INCONCLUSIVE, PASS, Check, Rule, adjusted, p_of_drop
from idealist.gating.plan import EVERY, chances
from idealist.significance.paired import paired
from test_gate import BASE, QRELS, WORSE, swapped


@pytest.mark.parametrize("change", [0.0, 0.01, -0.01, -0.03, -0.2])
@pytest.mark.parametrize("n", [2, 12, 50, 400])
def test_the_chance_of_a_pass_is_the_noncentral_t(change: float, n: int) -> None:
    from scipy.stats import nct, t

    rule, se = Rule(0.01), 0.02
    found = chances(change, se, n, rule)
    with np.errstate(all="ignore"):
        wanted = nct.sf(t.ppf(0.95, n - 1), n - 1, (change + 0.01) / se)
    assert found[PASS] == pytest.approx(wanted, abs=2e-4)
    assert sum(found.values()) == pytest.approx(1)
    alone = chances(change, se, n, Rule(0.0))
    if n == 2:  # both signs are the same by chance in one of four cases
        assert alone[FAIL] == 0
        return
    with np.errstate(all="ignore"):
        assert alone[FAIL] == pytest.approx(
            nct.cdf(-t.ppf(0.95, n - 1), n - 1, change / se), abs=2e-4
        )


def test_a_plan_names_the_drop_it_catches() -> None:
    found = il.gate(QRELS, BASE, WORSE, ["nDCG@5", "AP"])
    *alone, gate = found.plan().parts
    for plan in alone:
        again = chances(-plan.caught, plan.se, plan.n, plan.rule, tests=2)
        assert again[FAIL] == pytest.approx(0.8, abs=1e-6)
        assert "corrected for 2 measures" in plan.settings
        json.dumps(plan.data(), allow_nan=False)
    assert gate.measure == EVERY
    assert gate.odds is not None
    assert gate.odds(-gate.caught)[FAIL] == pytest.approx(0.8, abs=1e-3)
    assert "the verdict of the whole gate" in str(found.plan())
    json.dumps(gate.data(), allow_nan=False)
    alike = il.gate(QRELS, BASE, BASE).plan().parts[0]
    assert "do not differ enough" in alike.sentence
    json.dumps(alike.data(), allow_nan=False)


def real(data: Path, name: str) -> np.ndarray[Any, Any]:
    with (data / "sigir2019" / f"{name}.csv").open() as file:
        _, *rows = list(csv.reader(file))
    return np.array(rows, dtype=float).T


def shares(values: Any, change: float, trials: int, rule: Rule) -> tuple[dict[str, float], ...]:
    """Give the observed and the planned share of each verdict, signs of real differences flipped.

    Pairs of runs are drawn anew in each trial; their differences, of random signs around a true
    change, have no other effect.
    """
    random = np.random.default_rng(5)
    seen = dict.fromkeys((PASS, FAIL, INCONCLUSIVE), 0)
    planned = dict.fromkeys(seen, 0.0)
    pairs = [random.choice(len(values), 2, replace=False) for _ in range(trials // 100)]
    for a, b in pairs:
        apart = values[b] - values[a]
        n, spread = apart.size, math.sqrt(np.mean(apart**2))
        if not spread:
            continue
        flips = random.choice([-1.0, 1.0], (100, n)) * apart + change
        for one in flips:
            found = paired(one)
            seen[rule.verdict(found, p_of_drop(one))] += 1
        expected = chances(change, spread / math.sqrt(n), n, rule)
        planned = {key: planned[key] + 100 * expected[key] for key in planned}
    total = sum(seen.values())
    return {k: x / total for k, x in seen.items()}, {k: x / total for k, x in planned.items()}


def check_shares(data: Path, trials: int, change: float, max_drop: float) -> None:
    for name in ("adhoc8_ap", "web2013_ndcg20"):
        seen, planned = shares(real(data, name), change, trials, Rule(max_drop))
        for verdict, share in seen.items():
            band = 3.3 * math.sqrt(max(planned[verdict], 1e-4) * (1 - planned[verdict]) / trials)
            assert abs(share - planned[verdict]) < band + 1e-3, (name, verdict, seen, planned)
        if change == 0:
            assert seen[FAIL] <= 0.05 + 3.3 * math.sqrt(0.05 * 0.95 / trials), (name, seen)


def test_the_plan_predicts_what_real_runs_do(data: Path) -> None:
    check_shares(data, 2_000, 0.0, 0.01)
    check_shares(data, 2_000, -0.03, 0.01)


@SLOW
@pytest.mark.parametrize("max_drop", [0.0, 0.01, 0.03])
@pytest.mark.parametrize("change", [0.02, 0.0, -0.01, -0.03, -0.06])
def test_the_plan_predicts_what_real_runs_do_often(
    data: Path, change: float, max_drop: float
) -> None:
    check_shares(data, 20_000, change, max_drop)


# The plan that a gate prints, against gates of runs that differ as much


def gate_of(differences: Sequence[Any], rule: Rule) -> Gate:
    """Make a gate of several measures whose queries change by these differences."""
    queries = tuple(map(str, range(len(differences[0]))))
    none = np.zeros(len(queries))
    checks = [
        Check(Pair(f"m{i}", "base", "new", queries, none, one), rule)
        for i, one in enumerate(differences)
    ]
    return Gate("base", "new", adjusted(checks), (), 0, {})


def pilots(data: Path, count: int) -> Iterator[list[Any]]:
    """Give the differences of pairs of real runs: AP, and a second measure that goes along."""
    values, random = real(data, "adhoc8_ap"), np.random.default_rng(8)
    for _ in range(count):
        a, b, c, d = random.choice(len(values), 4, replace=False)
        apart = values[b] - values[a]
        yield [apart, 0.5 * apart + 0.5 * (values[d] - values[c])]


def observed(pilot: list[Any], change: float, trials: int, rule: Rule, seed: int) -> Any:
    """Count the verdicts of gates whose queries differ like the pilot's, signs drawn at random."""
    n = len(pilot[0])
    apart = np.array([one - one.mean() for one in pilot]) * math.sqrt(n / (n - 1))
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (trials, 1, n))
    verdicts = [gate_of(list(one), rule).verdict for one in signs * apart + change]
    return {verdict: verdicts.count(verdict) for verdict in (PASS, FAIL, INCONCLUSIVE)}


def check_plans(data: Path, measures: int, count: int, trials: int) -> None:
    rule = Rule(0.01)
    for place, one in ((1, 0.0), (5, -0.03)):  # the changes 0 and three times what is allowed
        seen, planned = dict.fromkeys((PASS, FAIL, INCONCLUSIVE), 0), 0.0
        expected = dict.fromkeys(seen, 0.0)
        for i, pilot in enumerate(pilots(data, count)):
            plan = gate_of(pilot[:measures], rule).plan().parts[-1]
            change, odds = plan.rows[place]
            assert change == pytest.approx(one)
            found = observed(pilot[:measures], change, trials, rule, i)
            seen = {key: seen[key] + found[key] for key in seen}
            expected = {key: expected[key] + trials * odds[key] for key in seen}
            planned += trials
        for verdict, times in seen.items():
            share = expected[verdict] / planned
            band = 3.3 * math.sqrt(max(share, 1e-3) * (1 - share) / planned)
            assert abs(times / planned - share) < band + 4e-3, (verdict, one, seen, expected)


@pytest.mark.parametrize("measures", [1, 2])
def test_the_plan_of_a_gate_predicts_its_verdict(data: Path, measures: int) -> None:
    check_plans(data, measures, 6, 150)


@SLOW
@pytest.mark.parametrize("measures", [1, 2])
def test_the_plan_of_a_gate_predicts_its_verdict_often(data: Path, measures: int) -> None:
    check_plans(data, measures, 100, 300)


# A gate that is asked again and again


LOOKS = 50


def pushes(values: Any, random: Any, alike: str) -> Any:
    """Give the differences of many harmless candidates to one baseline, looks x queries.

    All are real runs against the same one, so they have its luck in common. `alike` says what else:
    signs flipped query by query for all of them together, or for each on its own; or queries drawn
    with replacement around a change of 0, which keeps what is skewed.
    """
    base, *new = values[random.permutation(len(values))]
    apart = np.array(new)[random.integers(0, len(new), LOOKS)] - base
    n = apart.shape[1]
    if alike == "drawn":
        return (apart - apart.mean(axis=1, keepdims=True))[:, random.integers(0, n, n)]
    return apart * random.choice([-1.0, 1.0], (1 if alike == "flipped" else LOOKS, n))


def any_false_fail(data: Path, name: str, alike: str, trials: int) -> tuple[float, float]:
    """Count how often any of 50 harmless pushes fails: without a budget, and with one."""
    values, random = real(data, name), np.random.default_rng(15)
    seen = np.zeros(2)
    for _ in range(trials):
        differences = pushes(values, random, alike)
        for i, rule in enumerate((Rule(), Rule(looks=LOOKS))):
            seen[i] += any(gate_of([one], rule).verdict == FAIL for one in differences)
    before, after = seen / trials
    return float(before), float(after)


@pytest.mark.parametrize(("alike", "least"), [("flipped", 0.3), ("apart", 0.8)])
def test_a_gate_asked_on_every_push_keeps_its_level(data: Path, alike: str, least: float) -> None:
    before, after = any_false_fail(data, "adhoc8_ap", alike, 40)
    assert before > least
    assert after <= 0.05 + 2.4 * math.sqrt(0.05 * 0.95 / 40)


@SLOW
@pytest.mark.parametrize("alike", ["flipped", "apart", "drawn"])
@pytest.mark.parametrize("name", ["adhoc8_ap", "web2013_ndcg20"])
def test_a_gate_asked_on_every_push_keeps_its_level_often(
    data: Path, name: str, alike: str
) -> None:
    before, after = any_false_fail(data, name, alike, 1_000)
    print(f"any false FAIL in {LOOKS} looks, {name}, {alike}: {before:.1%}; shared: {after:.1%}")
    assert before > 0.3
    assert after <= 0.05 + 2.4 * math.sqrt(0.05 * 0.95 / 1_000)


def test_the_price_of_looks_is_as_documented(data: Path) -> None:
    values = real(data, "adhoc8_ap")
    one, other = np.triu_indices(len(values), 1)
    errors = (values[one] - values[other]).std(axis=1, ddof=1) / math.sqrt(values.shape[1])
    se = float(np.median(errors))
    for looks, drop in ((1, 0.057), (10, 0.080), (50, 0.093), (100, 0.098), (500, 0.110)):
        rule = Rule(looks=looks)
        assert chances(-drop, se, values.shape[1], rule)[FAIL] == pytest.approx(0.8, abs=0.01)


def test_drops_that_pass_one_by_one_are_seen_from_a_baseline_that_is_kept(data: Path) -> None:
    values, random, trials = real(data, "adhoc8_ap"), np.random.default_rng(4), 100
    rule, anew, kept = Rule(looks=LOOKS), 0, 0
    for _ in range(trials):
        runs = [values[random.choice(len(values), 2, replace=False)] for _ in range(20)]
        steps = np.array([0.05 * (b - a) * random.choice([-1.0, 1.0], a.size) for a, b in runs])
        steps -= 0.005  # 20 merges that each lose half of what passes
        anew += any(gate_of([one], rule).verdict == FAIL for one in steps)
        kept += any(gate_of([one], rule).verdict == FAIL for one in steps.cumsum(axis=0))
    print(f"20 merges lose 0.005 each: {anew} of {trials} series FAIL saved anew, {kept} kept")
    assert anew < 0.1 * trials
    assert kept > 0.95 * trials


def test_the_plan_knows_the_budget() -> None:
    for measures in (["nDCG@5"], ["nDCG@5", "AP"]):
        once = il.gate(QRELS, BASE, WORSE, measures, max_drop=0).plan()
        often = il.gate(QRELS, BASE, WORSE, measures, max_drop=0, looks=LOOKS).plan()
        for one, many in zip(once.parts, often.parts, strict=True):
            assert many.caught > 1.3 * one.caught
            assert many.data()["caught_once"] == one.data()["caught_once"] == one.caught
            assert (
                f"with {LOOKS} looks, one of {one.caught:.4f} with a single look" in many.sentence
            )
            assert many.settings.endswith(f"FAIL at 0.001, one of {LOOKS} looks")
            for (_, odds), (_, wanted) in zip(many.rows, one.rows, strict=True):
                assert odds[PASS] == pytest.approx(wanted[PASS])
            assert many.rows[1][1][FAIL] <= 0.0012  # no change, alpha / 50
    assert il.gate(QRELS, BASE, BASE, looks=LOOKS).plan().parts[0].data()["caught_once"] is None


@pytest.mark.parametrize(("n", "most"), [(8, 0.0), (9, 0.0), (10, 0.9), (20, 0.9)])
def test_the_plan_knows_what_sign_flips_can_show(n: int, most: float) -> None:
    """At 0.001 ten queries must change: no fewer signs are significant, however they fall."""
    random, rule = np.random.default_rng(n), Rule(looks=LOOKS)
    pilot = random.normal(0, 0.1, n)
    sparse = np.concatenate([pilot, np.zeros(40)])
    for differences in ([pilot], [sparse], [pilot, pilot / 2]):
        plan = gate_of(differences, rule).plan().parts[0]
        able = math.isfinite(plan.caught)
        assert able == (0.001 / len(differences) >= 2.0**-n)
        assert ("No drop in m0 can FAIL: at 0.0" in plan.sentence) == (not able)
        assert (plan.data()["caught"] is None) == (not able)
    plan = gate_of([pilot, pilot / 2], rule).plan().parts[-1]
    assert math.isfinite(plan.caught) == (2.0**-n <= 0.0005)
    drops = random.normal(-10, 1.0, (50, n))  # however large
    share = np.mean([gate_of([one], rule).verdict == FAIL for one in drops])
    assert share == 0 if not most else share > most


def test_the_plan_predicts_what_real_runs_do_under_a_budget(data: Path) -> None:
    seen, planned = shares(real(data, "adhoc8_ap"), -0.06, 2_000, Rule(looks=LOOKS))
    for verdict, share in seen.items():
        assert abs(share - planned[verdict]) < 0.04, (seen, planned)


def test_measures_that_are_one_have_the_plan_of_one() -> None:
    random = np.random.default_rng(0)
    apart = random.normal(0, 0.1, 30)
    alone, _, both = gate_of([apart, apart], Rule()).plan().parts
    single = gate_of([apart], Rule()).plan().parts[0]
    for (change, odds), (_, wanted), (_, hard) in zip(
        both.rows, single.rows, alone.rows, strict=True
    ):
        assert odds[PASS] == pytest.approx(wanted[PASS], abs=0.01), change
        assert odds[FAIL] == pytest.approx(hard[FAIL], abs=0.01)  # Holm halves alpha for equals
    for n in (2, 3):  # fewer queries than measures
        few = gate_of([random.normal(0, 0.1, n) for _ in range(4)], Rule()).plan().parts[-1]
        for _, odds in few.rows:
            assert sum(odds.values()) == pytest.approx(1)
            assert min(odds.values()) >= 0


def test_the_printed_plan_is_the_gates() -> None:
    new = swapped(BASE, list(BASE)[::3])
    found = il.gate(QRELS, BASE, new, ["nDCG@5", "AP"])
    again = il.gate(QRELS, BASE, new, ["nDCG@5", "AP"])
    assert [one.data() for one in found.plan().parts] == [one.data() for one in again.plan().parts]
    assert [one.measure for one in found.plan().parts] == ["nDCG@5", "AP", EVERY]
    weighted = il.gate(QRELS, BASE, new, ["nDCG@5", "AP"], weights=dict.fromkeys(QRELS, 2.0))
    assert weighted.plan().parts[-1].caught == pytest.approx(
        found.plan().parts[-1].caught, rel=1e-6
    )
    assert il.gate(QRELS, BASE, BASE, ["nDCG@5", "AP"]).plan().parts[-1].rows == ()
