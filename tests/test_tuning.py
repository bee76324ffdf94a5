"""Tuning: folds, spaces, the search, and what it finds, writes and refuses."""

from __future__ import annotations

import json
import random
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealist as il
from idealist.cli.main import main
from idealist.errors import IdealistError
from idealist.fusing.fusion import Fusion
from idealist.fusing.methods import FUSIONS, as_fusion
from idealist.fusing.tuning.folds import Folds
from idealist.fusing.tuning.spaces import FusionSpace, ParameterSpace, TunedMethod, simplex
from idealist.fusing.tuning.trials import Trials
from idealist.measures import MEASURES

Runs = dict[str, dict[str, dict[str, float]]]


def some_data(queries: int = 20, seed: int = 0) -> tuple[dict[str, dict[str, int]], Runs]:
    """Judgments, a good run, a fair one and one that knows nothing."""
    draw = random.Random(seed)
    names = [f"d{i}" for i in range(30)]
    qrels: dict[str, dict[str, int]] = {}
    runs: Runs = {"good": {}, "fair": {}, "noise": {}}
    for q in range(queries):
        grades = {d: draw.choice([0, 0, 0, 1, 2]) for d in names}
        qrels[f"q{q}"] = {d: g for d, g in grades.items() if draw.random() < 0.8}
        for (_, run), weight in zip(runs.items(), (1.0, 0.5, 0.0), strict=True):
            run[f"q{q}"] = {
                d: weight * grades[d] + draw.gauss(0, 0.7) for d in draw.sample(names, 25)
            }
    return qrels, runs


def assert_honest(found: Any, qrels: Any) -> None:
    """What is said of folds is what is written: each query by what was chosen without it."""
    trials = found.looks.trials
    own = il.evaluate(qrels, found.out_of_fold, found.measure)
    assert own[found.measure] == found.estimate
    assert found.in_sample - found.estimate == pytest.approx(found.optimism)
    for look in found.looks.folds:
        inside = trials.folds.fold != look.outer
        assert np.array_equal(look.inside, inside)
        means = {s: trials.held_out(s, look.outer)[inside].mean() for s in look.means}
        assert means[look.best()] == pytest.approx(max(means.values()))


def test_tuning_measures_each_fold_with_what_was_chosen_without_it() -> None:
    qrels, runs = some_data()
    found = il.tune(qrels, runs, ["rrf", "wsum"], "nDCG@5", folds=4)
    assert_honest(found, qrels)
    assert sorted(np.bincount(found.looks.trials.folds.fold).tolist()) == [5, 5, 5, 5]
    assert found.run.name == str(found.choice)


def test_what_is_learnt_is_learnt_without_the_queries_it_is_measured_on() -> None:
    """Out of fold, PosFuse knows the other folds only: its lists are those of a method taught so."""
    qrels, runs = some_data()
    found = il.tune(qrels, runs, "posfuse", "nDCG@5", folds=4, default="posfuse")
    assert_honest(found, qrels)
    folds, trials = found.looks.trials.folds, found.looks.trials
    method = as_fusion("posfuse")
    for fold in range(4):
        others = {q: qrels[q] for q, f in zip(trials.queries, folds.fold, strict=True) if f != fold}
        taught = il.evaluate(qrels, il.fuse(runs, method, qrels=others), "nDCG@5")
        mine = trials.values(method, frozenset({fold}))
        wanted = [taught.by_query("nDCG@5")[q] for q in trials.queries]
        assert mine.tolist() == pytest.approx(wanted)


def test_a_setting_that_learns_is_chosen_by_values_that_know_no_answer() -> None:
    qrels, runs = some_data()
    found = il.tune(qrels, runs, "mapfuse", "nDCG@5", folds=3)
    trials, method = found.looks.trials, as_fusion("mapfuse")
    held = trials.held_out(method, 1)
    for fold in (0, 1, 2):
        known = trials.values(method, frozenset({fold, 1}))
        own = trials.folds.fold == fold
        assert held[own].tolist() == known[own].tolist()


def test_the_choice_of_a_fold_does_not_depend_on_its_queries() -> None:
    """Whatever the judgments of a fold are, what is chosen for it stays."""
    qrels, runs = some_data()
    first = il.tune(qrels, runs, ["wsum", "rrf"], "nDCG@5", folds=4)
    folds = first.looks.trials.folds.fold
    turned = {
        q: {d: 2 - g for d, g in grades.items()} if folds[i] == 2 else grades
        for i, (q, grades) in enumerate(sorted(qrels.items()))
    }
    second = il.tune(turned, runs, ["wsum", "rrf"], "nDCG@5", folds=4)
    assert first.chosen[2] == second.chosen[2]
    assert first.looks.folds[2].means == second.looks.folds[2].means
    assert first.estimate != second.estimate


@pytest.mark.parametrize(
    "convention", ["trec_eval", "cwl_eval", "msmarco", "lightgbm", "haystack", "sklearn"]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_written_runs_are_what_was_measured_under_any_order(convention: str, seed: int) -> None:
    """Under conventions that go by given orders, by ranks, by the order of rows, or average ties."""
    qrels, runs = some_data(seed=seed)
    draw = random.Random(seed)
    tied = {
        n: {q: dict(sorted(((d, round(s)) for d, s in own.items()), key=lambda _: draw.random()))
            for q, own in run.items()}
        for n, run in runs.items() if n != "noise"
    }  # fmt: skip
    measure = (
        "RR@10" if convention == "msmarco" else "P@10" if convention == "cwl_eval" else "nDCG@5"
    )
    held: Any = tied
    if convention == "msmarco":
        held = {name: ranked_rows(run) for name, run in tied.items()}
    found = il.tune(qrels, held, ["rrf", "sum"], measure, convention=convention, rounds=1)
    own = il.evaluate(qrels, found.out_of_fold, measure, convention=convention)[measure]
    assert own == found.estimate
    rrf = il.fuse(held)
    if convention == "msmarco":  # which goes by ranks, as files have them
        rrf = il.read_run(ranked_rows({q: dict.fromkeys(d, 0.0) for q, d in listed(rrf).items()}))
    wanted = il.evaluate(qrels, rrf, measure, convention=convention)[measure]
    assert found.looks.whole.means[as_fusion("rrf")] == pytest.approx(wanted)


def listed(run: il.Run) -> dict[str, list[str]]:
    rows = run.rows()
    return {q: list(rows.documents[span]) for q, span in rows.spans().items()}


def ranked_rows(run: Any) -> dict[str, list[dict[str, Any]]]:
    return {
        q: [{"document": d, "rank": i, "score": s} for i, (d, s) in enumerate(own.items(), 1)]
        for q, own in run.items()
    }


def test_runs_without_scores_are_written_as_they_were_measured() -> None:
    qrels, runs = some_data(queries=15, seed=1)
    lists = {
        n: {q: sorted(s, key=lambda d: -s[d]) for q, s in run.items()} for n, run in runs.items()
    }
    mixed: dict[str, Any] = {"good": lists["good"], "fair": runs["fair"]}
    for held in (lists, mixed):
        for seed in range(4):
            found = il.tune(qrels, held, ["rrf"], "nDCG@5", seed=seed)
            own = il.evaluate(qrels, found.out_of_fold, "nDCG@5")["nDCG@5"]
            assert own == pytest.approx(found.estimate, abs=1e-12)


def test_repeated_documents_are_written_as_they_were_measured() -> None:
    qrels, runs = some_data(queries=12)
    rows = [
        (q, d, s + e) for q, own in runs["good"].items() for d, s in own.items() for e in (0, -2.5)
    ]
    twice = il.read_run(rows)
    found = il.tune(
        qrels, {"a": twice, "b": twice}, "rrf", "nDCG@5", default="a", duplicates="last"
    )
    assert il.evaluate(qrels, found.out_of_fold, "nDCG@5")["nDCG@5"] == found.estimate


def test_weights_are_not_guessed_where_less_is_better() -> None:
    qrels, runs = some_data()
    label = next(
        n for n, one in MEASURES.items() if one.direction < 0 and one.judges and not one.needs
    )
    some = il.tune(qrels, runs, "wsum(norm=sum)", label, rounds=1).looks.trials.tried
    guesses = FusionSpace([TunedMethod(as_fusion("wsum(norm=sum)"), frozenset({"norm"}))], [*runs])
    worth = {n: il.evaluate(qrels, run, label)[label] for n, run in runs.items()}
    assert not set(guesses.guesses(worth)) & set(some)


def test_the_same_seed_gives_the_same_bytes_whatever_the_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    qrels, runs = some_data(queries=12)
    texts = []
    methods = ["rrf", "mapfuse", "wsum(norm=sum)"]
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("IDEALIST_THREADS", threads)
        texts.append(il.tune(qrels, runs, methods, "nDCG@5", seed=3, folds=3).to_json())
    shuffled = dict(sorted(qrels.items(), key=lambda pair: hash(pair[0])))
    texts.append(il.tune(shuffled, runs, methods, "nDCG@5", seed=3, folds=3).to_json())
    assert len(set(texts)) == 1
    assert il.tune(qrels, runs, methods, "nDCG@5", seed=4, folds=3).to_json() not in texts


def test_single_runs_rrf_and_equal_weights_always_compete() -> None:
    qrels, runs = some_data()
    found = il.tune(qrels, runs, "borda", "AP", default="good")
    assert [one.name for one in found.contenders] == [
        "default", "untuned RRF", "equal weights", "best single run",
    ]  # fmt: skip
    assert {"good", "fair", "noise", as_fusion("rrf"), as_fusion("sum")} <= set(
        found.looks.trials.tried
    )
    assert found.default.setting == "good"
    single = il.evaluate(qrels, il.read_run(runs["good"]), "AP")["AP"]
    assert found.default.estimate == found.default.in_sample == single


def test_a_real_gain_is_said_and_one_that_may_be_chance_is_not() -> None:
    qrels, runs = some_data(queries=60)
    better = il.tune(qrels, runs, ["rrf", "wsum"], "nDCG@5", default="noise")
    assert better.is_real
    assert better.verdict.startswith("Use ")
    assert better.choice == better.winner.setting != "noise"
    kept = il.tune(qrels, {"a": runs["noise"], "b": runs["noise"]}, ["rrf", "wsum"], "nDCG@5")
    assert not kept.is_real
    assert kept.verdict.startswith("Keep RRF: ")
    assert kept.choice == as_fusion("rrf") == kept.family.default


def test_what_needs_no_tuning_wins_where_tuning_gains_no_more() -> None:
    qrels, runs = some_data(queries=60)
    found = il.tune(qrels, runs, ["rrf", "wsum"], "nDCG@5", default="noise")
    real = [one for one in (*found.contenders[1:], found.tuned) if one.beats(found.default, 1)]
    assert found.winner.estimate == max(one.estimate for one in real)
    flat = il.tune(qrels, {"x": runs["good"], "y": runs["good"]}, "rrf", "nDCG@5", default="x")
    assert flat.pair is None
    assert "none of" in flat.verdict


def test_a_single_run_that_seems_better_than_the_default_is_named() -> None:
    qrels, runs = some_data(queries=60)
    hint = "good alone seems better than the default"
    found = il.tune(qrels, runs, "wsum", "nDCG@5", default="noise")
    single = found.contenders[-1]
    assert found.winner is not single
    assert f"{hint} ({single.estimate:.4f}): --default good" in " ".join(str(found).split())
    assert hint not in str(il.tune(qrels, runs, "wsum", "nDCG@5", default="good"))
    equal = {"x": runs["good"], "y": runs["good"]}
    assert "alone seems better" not in str(il.tune(qrels, equal, "rrf", "nDCG@5"))


def test_many_weights_are_told_once_and_not_in_the_verdict() -> None:
    qrels, runs = some_data(queries=60)
    found = il.tune(qrels, runs | {"more": runs["noise"]}, "wsum", "nDCG@5", default="noise")
    assert isinstance(found.choice, Fusion)
    assert found.verdict.startswith("Use WSUM(")
    assert "weights=…)" in found.verdict
    assert "Weights of WSUM: good 0." in str(found)
    assert str(found.choice) in found.render("csv")
    assert found.data()["choice"] == str(found.choice)


def test_one_setting_alone_is_kept() -> None:
    qrels, runs = some_data()
    found = il.tune(qrels, lambda name: runs[name], {"name": ["good"]}, "nDCG@5")
    assert found.verdict == "Keep name=good: nothing else was tried."


def test_corrected_intervals_and_p_values_agree() -> None:
    qrels, runs = some_data(queries=40)
    found = il.tune(qrels, runs, ["rrf", "wsum", "mnz"], "nDCG@5")
    assert len(found.family.pairs) == found.tried - 1
    for pair in found.family.pairs.values():
        low, high = pair.ci
        assert (pair.p_adjusted < 0.05) == (low > 0 or high < 0)
        assert low <= pair.difference <= high
    alone = il.compare(qrels, {"rrf": il.fuse(runs), "sum": il.fuse(runs, "sum")}, "nDCG@5").pairs[
        0
    ]
    own = found.family.pairs[as_fusion("sum")]
    assert own.difference == pytest.approx(alone.difference)
    assert own.p_adjusted >= alone.p_randomisation


def test_queries_of_a_group_stay_together_and_count_once() -> None:
    qrels, runs = some_data(queries=24)
    groups = {f"q{i}": f"user{i % 6}" for i in range(24)}
    found = il.tune(qrels, runs, "rrf", "nDCG@5", folds=3, groups=groups)
    folds = found.looks.trials.folds
    for group in set(folds.group.tolist()):
        assert len(set(folds.fold[folds.group == group].tolist())) == 1
    assert folds.groups == 6
    assert all(pair.n == 6 for pair in found.family.pairs.values())
    alone = il.tune(qrels, runs, "rrf", "nDCG@5", folds=3)
    assert found.default.estimate == alone.default.estimate
    assert found.data()["groups"] == 6


def test_groups_may_name_queries_by_number() -> None:
    dealt = [
        Folds.deal(["1", "2", "3", "4"], 2, 0, {to(q): q > 2 for q in (1, 2, 3, 4)}).fold.tolist()
        for to in (int, str)
    ]
    assert dealt[0] == dealt[1]
    assert [dealt[0][0], dealt[0][2]] == [dealt[0][1], dealt[0][3]]


def test_repeated_queries_do_not_make_a_tuning_surer_if_they_share_a_group() -> None:
    """Every query three times over: as sure as once."""
    qrels, runs = some_data(queries=20)
    three = {f"{q}-{i}": grades for q, grades in qrels.items() for i in range(3)}
    thrice = {
        n: {f"{q}-{i}": s for q, s in run.items() for i in range(3)} for n, run in runs.items()
    }
    groups = {q: q.partition("-")[0] for q in three}
    once = il.tune(qrels, runs, "rrf", "nDCG@5", folds=20)
    grouped = il.tune(three, thrice, "rrf", "nDCG@5", folds=20, groups=groups)
    free = il.tune(three, thrice, "rrf", "nDCG@5", folds=20)
    widths = [one.ci[1] - one.ci[0] for one in (once, grouped, free)]
    assert widths[0] == pytest.approx(widths[1], rel=0.02)
    assert widths[2] < 0.7 * widths[1]


def test_slices_are_spread_over_the_folds() -> None:
    qrels, runs = some_data(queries=24)
    slices = {f"q{i}": "short" if i < 8 else "long" for i in range(24)}
    folds = il.tune(qrels, runs, "rrf", "nDCG@5", folds=4, slices=slices).looks.trials
    short = [slices[q] == "short" for q in folds.queries]
    assert np.bincount(folds.folds.fold[short]).tolist() == [2, 2, 2, 2]


@given(st.integers(2, 8), st.integers(8, 40), st.integers(0, 9))
def test_folds_are_even_and_do_not_depend_on_the_order(count: int, n: int, seed: int) -> None:
    queries = [f"q{i}" for i in range(n)]
    dealt = Folds.deal(queries, count, seed)
    sizes = np.bincount(dealt.fold, minlength=count)
    assert sizes.max() - sizes.min() <= 1
    back = Folds.deal(queries[::-1], count, seed)
    assert back.fold[::-1].tolist() == dealt.fold.tolist()


@given(st.integers(2, 30))
def test_weights_of_the_simplex_are_shares(runs: int) -> None:
    texts = simplex(runs)
    assert texts[0] == "equal"
    assert len(texts) == len(set(texts)) <= 67
    for text in texts[1:]:
        weights = as_fusion("wsum", weights=text).weight(runs)
        assert weights.sum() == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("name", FUSIONS)
def test_every_method_can_be_tuned(name: str) -> None:
    qrels, runs = some_data(queries=8)
    found = il.tune(qrels, runs, name, "nDCG@5", folds=3, rounds=1)
    assert found.tried >= 5
    assert 0 <= found.estimate <= 1


def test_written_parameters_stay() -> None:
    space = FusionSpace([TunedMethod(as_fusion("wsum(norm=max)"), frozenset({"norm"}))], ("a", "b"))
    settings = [*space.coarse(), *space.sweep(as_fusion("wsum(norm=max,weights=(0.2,0.8))"))]
    settings += space.finer(as_fusion("wsum(norm=max,weights=(0.2,0.8))"), settings, 1)
    assert {one.norm for one in settings} == {"max"}
    assert len(set(settings)) > 11
    other = as_fusion("wsum(norm=sum)")
    assert space.sweep(other) == space.finer(other, [other], 1) == []


def test_a_stated_default_stays_too() -> None:
    qrels, runs = some_data(queries=10)
    found = il.tune(qrels, runs, ["rrf(k=60)", "wsum(weights=equal)"], "nDCG@5")
    tried = [one for one in found.looks.trials.tried if isinstance(one, Fusion)]
    assert {one.weight(3).tolist()[0] for one in tried} == {1.0}
    assert [one for one in tried if one.name == "RRF"] == [as_fusion("rrf")]


def test_queries_that_some_runs_lack_may_be_left_out_everywhere() -> None:
    qrels, runs = some_data()
    del runs["fair"]["q3"]
    with pytest.raises(IdealistError, match="fair lacks 1 query that others have: q3"):
        il.tune(qrels, runs, "rrf", "nDCG@5")
    skipped = il.tune(qrels, runs, "rrf", "nDCG@5", missing="skip", default="good")
    assert skipped.n == 19
    assert skipped.left_out == 1
    assert "1 judged query is left out" in str(skipped)
    alone = il.evaluate(qrels, runs["good"], "nDCG@5", queries=[q for q in qrels if q != "q3"])
    assert skipped.default.estimate == alone["nDCG@5"]
    empty = il.tune(qrels, runs, "rrf", "nDCG@5", missing="empty")
    assert empty.n == 20
    fused = il.evaluate(qrels, empty.source.run(as_fusion("rrf")), "nDCG@5")
    assert "uneven-queries" in [doubt.code for doubt in fused.doubts]


def test_a_range_is_refined_around_the_best() -> None:
    space = ParameterSpace({"b": (0.0, 1.0), "stem": ["no", "yes"]}, {"b": 0.75, "stem": "no"})
    coarse = space.coarse()
    assert coarse[0] == (("b", 0.75), ("stem", "no"))
    assert len(coarse) == 10
    best = (("b", 0.25), ("stem", "yes"))
    assert space.finer(best, coarse, 1) == [
        (("b", 0.125), ("stem", "yes")), (("b", 0.375), ("stem", "yes")),
    ]  # fmt: skip
    assert dict(ParameterSpace({"k": (1.0, 1000)}).coarse()[0])["k"] == pytest.approx(31.62)
    with pytest.raises(il.UsageError, match=r"(?s)may be whole numbers.*give \(1\.0, 1000\.0\)"):
        ParameterSpace({"k": (1, 1000)}).coarse()


def boosted(qrels: dict[str, dict[str, int]], calls: list[Any]) -> Any:
    """A ranker whose lists get better the nearer its parameter is to 0.3."""
    draw = random.Random(1)
    noise = {q: {d: draw.gauss(0, 1) for d in grades} for q, grades in qrels.items()}

    def make_run(b: float, kind: str) -> Runs | Any:
        calls.append((b, kind))
        share = 1 - abs(b - 0.3) if kind == "good" else 0.0
        return {
            q: {d: share * grade + 0.5 * noise[q][d] for d, grade in grades.items()}
            for q, grades in qrels.items()
        }

    return make_run


def test_any_parameter_can_be_tuned_and_each_run_is_made_once() -> None:
    qrels, _ = some_data(queries=40)
    calls: list[Any] = []
    space = {"b": (0.0, 1.0), "kind": ["bad", "good"]}
    found = il.tune(
        qrels, boosted(qrels, calls), space, "nDCG@5", default={"b": 0.9, "kind": "bad"}
    )
    assert len(calls) == len(set(calls)) == found.tried
    best = dict(found.best)
    assert best["kind"] == "good"
    assert best["b"] == pytest.approx(0.3, abs=0.15)
    assert found.is_real
    assert found.verdict.startswith("Use b=0.")
    assert_honest(found, qrels)
    assert dict(found.choice) == best
    assert il.evaluate(qrels, found.run, "nDCG@5")["nDCG@5"] == found.in_sample
    [curve] = [one for one in found.responses if one.parameter == "b"]
    low, high = curve.flat
    assert low <= best["b"] <= high


def test_errors_of_a_function_say_which_parameters_it_got() -> None:
    qrels, _ = some_data()

    def broken(b: float) -> Any:
        raise RuntimeError("the index is gone")

    with pytest.raises(RuntimeError) as error:
        il.tune(qrels, broken, {"b": [0.5, 0.6]})
    assert error.value.__notes__ == ["while the run of b=0.5 was made"]


def found_for(qrels: dict[str, dict[str, int]], queries: list[str]) -> Runs | Any:
    return {q: {d: float(grade) for d, grade in qrels[q].items()} for q in queries}


def test_runs_of_a_function_have_the_judged_queries() -> None:
    qrels, _ = some_data()
    with pytest.raises(il.UsageError, match=r"the run of b=0\.5 has no judged query"):
        il.tune(qrels, lambda b: {"zz": {"d": 1.0}}, {"b": (0.0, 1.0)})
    every = list(qrels)
    found = il.tune(
        qrels, lambda b: found_for(qrels, every if b < 0.4 else every[5:]), {"b": (0.0, 1.0)}
    )
    [doubt] = [one for one in found.doubts if one.code == "uneven-queries"]
    assert doubt.count == sum(dict(one)["b"] >= 0.4 for one in found.looks.trials.tried)
    assert "lacks 5" in doubt.finding
    same = il.tune(qrels, lambda b: found_for(qrels, every[5:]), {"b": (0.0, 1.0)})
    assert "uneven-queries" not in {one.code for one in same.doubts}


def test_a_default_that_nobody_said_is_told() -> None:
    qrels, _ = some_data()
    for default, told in (None, True), ({"b": 0.5}, False):
        found = il.tune(
            qrels, lambda b: found_for(qrels, list(qrels)), {"b": (0.0, 1.0)}, default=default
        )
        assert ("nobody said what is in use" in str(found)) == told


@pytest.mark.parametrize("rules", [{}, {"ties": "input"}, {"order": "given"}])
def test_a_window_is_for_single_runs_too(rules: dict[str, Any]) -> None:
    qrels, runs = some_data()
    found = il.tune(qrels, runs, "rrf", "AP", window=5, **rules)
    cut = {
        q: dict(sorted(s.items(), key=lambda one: -one[1])[:5] if not rules.get("order") else
                list(s.items())[:5]) for q, s in runs["good"].items()
    }  # fmt: skip
    [single] = [one for one in found.contenders if one.name == "best single run"]
    means = {n: found.looks.whole.means[n] for n in runs}
    assert means["good"] == il.evaluate(qrels, cut, "AP", **rules)["AP"]
    assert single.in_sample == max(means.values())
    chosen = il.select_runs(qrels, runs, "rrf", "AP", window=5, **rules)
    assert chosen.alone("good") == means["good"]


def test_something_better_is_named_where_the_best_may_be_chance() -> None:
    """The best is better in five queries, another a little in all of them."""
    qrels = {f"q{i:02}": {"x": 1} for i in range(40)}

    def make_run(way: str) -> dict[str, list[str]]:
        rank = {"today": [4] * 40, "sure": [3] * 40, "rare": [1] * 5 + [4] * 35}[way]
        others = ["a", "b", "c"]
        return {
            q: [*others[: r - 1], "x", *others[r - 1 :]] for q, r in zip(qrels, rank, strict=True)
        }

    found = il.tune(qrels, make_run, {"way": ["today", "sure", "rare"]}, "RR")
    assert (dict(found.best)["way"], found.is_real) == ("rare", False)
    assert found.surest == (("way", "sure"),)
    assert "way=sure (0.3333) is not the best, and significantly better" in " ".join(
        str(found).split()
    )


def test_runs_without_scores_are_tuned_by_ranks() -> None:
    qrels, runs = some_data()
    ordered = {
        n: {q: sorted(s, key=lambda d: -s[d]) for q, s in run.items()} for n, run in runs.items()
    }
    found = il.tune(qrels, ordered, measure="nDCG@5")
    names = {one.name for one in found.looks.trials.tried if isinstance(one, Fusion)}
    assert names == {"RRF", "WRRF", "CombSUM"}
    assert found.contenders[1].setting == as_fusion("sum", norm="rank")
    with pytest.raises(IdealistError, match="the run has no scores"):
        il.tune(qrels, ordered, "wsum", "nDCG@5")


def test_judged_queries_that_no_run_has_count_as_zero() -> None:
    qrels, runs = some_data()
    qrels["q99"] = {"d1": 1}
    found = il.tune(qrels, runs, "rrf", "nDCG@5")
    assert found.n == 21
    left_out = il.tune(qrels, runs, "rrf", "nDCG@5", queries=[f"q{i}" for i in range(20)])
    assert found.default.estimate == pytest.approx(left_out.default.estimate * 20 / 21)


def test_measures_of_which_less_is_better() -> None:
    qrels, runs = some_data()
    by_name = {n: il.read_run(run) for n, run in runs.items()}
    label = next(
        n for n, one in MEASURES.items() if one.direction < 0 and one.judges and not one.needs
    )
    found = il.tune(qrels, by_name, "rrf", label)
    assert found.looks.trials.sense == -1
    assert found.in_sample == min(found.looks.whole.means.values())


@pytest.mark.parametrize(("given", "words"), [
    ({"folds": 1}, "folds cannot be 1"),
    ({"folds": 2.5}, "folds cannot be 2.5"),
    ({"folds": 21}, "20 queries cannot make 21 folds"),
    ({"groups": {f"q{i}": "one" for i in range(20)}}, "1 group of queries cannot make 5 folds"),
    ({"seed": -1}, "seed cannot be -1"),
    ({"alpha": 0.9}, "alpha cannot be 0.9"),
    ({"rounds": -1}, "rounds cannot be -1"),
    ({"window": 0}, "window cannot be 0"),
    ({"missing": "perhaps"}, "missing cannot be 'perhaps'"),
    ({"measure": ["AP", "RR"]}, "2 measures cannot be tuned by at once"),
    ({"measure": "NumRet"}, "NumRet does not say how good a run is"),
    ({"measure": "AP", "aggregate": "geometric(1e-5)"}, "tuning goes by means"),
    ({"methods": "rff"}, "no fusion method 'rff'"),
    ({"methods": 5}, "methods cannot be 5"),
    ({"methods": "wsum(weights=(1,2))"}, "2 weights for 3 runs"),
    ({"default": "bm25"}, "the default cannot be 'bm25'"),
    ({"default": "bm25"}, "one of the runs: good, fair, noise"),
    ({"groups": {}}, "no query has a group"),
    ({"folds": 3, "groups": {f"q{q}": q % 2 for q in range(20)}}, "stay together, or use 2 folds"),
    ({"methods": "relative_score_fusion(alpha=0.7)"}, "weights=(1-alpha,alpha)"),
    ({"groups": 5}, "groups cannot be 5"),
])  # fmt: skip
def test_bad_input_is_refused_in_words(given: dict[str, Any], words: str) -> None:
    qrels, runs = some_data()
    with pytest.raises(IdealistError) as error:
        il.tune(qrels, runs, **{"measure": "nDCG@5", **given})
    assert words in str(error.value)


@pytest.mark.parametrize(("space", "words"), [
    ({}, "the space cannot be {}"),
    (None, "the space cannot be None"),
    ({"b": 0.5}, "b cannot be 0.5"),
    ({"b": "porter"}, "b cannot be 'porter'"),
    ({"b": (1.0, 0.0)}, "(1.0, 0.0) is not a range"),
    ({"b": []}, "b cannot be []"),
    ({"b": [[1], [2]]}, "b cannot be [[1], [2]]"),
])  # fmt: skip
def test_bad_spaces_are_refused_in_words(space: Any, words: str) -> None:
    with pytest.raises(IdealistError) as error:
        il.tune({"q": {"d": 1}}, lambda b: {"q": ["d"]}, space)
    assert words in str(error.value)


def test_what_is_not_for_functions_is_refused() -> None:
    def make_run(b: Any) -> Any:
        return {"q": ["d"]}

    for default in ("a", {"b": [5]}, {"c": 1}):
        with pytest.raises(IdealistError, match="the default cannot be"):
            il.tune({"q": {"d": 1}}, make_run, {"b": [1, 2]}, default=default)
    with pytest.raises(IdealistError, match="window and missing are for runs to fuse"):
        il.tune({"q": {"d": 1}}, make_run, {"b": [1, 2]}, window=3)
    assert ParameterSpace({"stem": (False, True)}).values == {"stem": [False, True]}
    qrels, runs = some_data()
    for largest in (0, 1.5, "a"):
        with pytest.raises(IdealistError, match="largest cannot be"):
            il.select_runs(qrels, runs, largest=largest)  # type: ignore[arg-type]  # refused


def test_runs_of_other_queries_are_refused() -> None:
    qrels, runs = some_data()
    elsewhere = {f"x{q}": own for q, own in runs["good"].items()}
    with pytest.raises(IdealistError, match="no judged query is in the runs"):
        il.tune(qrels, [elsewhere, elsewhere])
    with pytest.raises(IdealistError, match="have no query in common"):
        il.tune(qrels, {"a": {"q1": {"d1": 1.0}}, "b": {"q2": {"d1": 1.0}}})


def test_settings_that_leave_queries_out_are_refused() -> None:
    """Under a convention that skips queries that a run lacks."""
    qrels, _ = some_data()

    def make_run(n: int) -> Any:
        return {q: list(grades) for q, grades in list(qrels.items())[:n]}

    with pytest.raises(IdealistError, match="has no value for q10, which the default has"):
        il.tune(qrels, make_run, {"n": [20, 10]}, "nDCG@5", convention="pytrec_eval")
    found = il.tune(qrels, make_run, {"n": [20, 10]}, "nDCG@5")
    assert dict(found.best) == {"n": 20}


def test_learning_needs_three_folds() -> None:
    qrels, runs = some_data()
    with pytest.raises(IdealistError, match="2 folds leave nothing to learn from"):
        il.tune(qrels, runs, "posfuse", folds=2)


def test_the_command_makes_the_chosen_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = some_data()
    monkeypatch.chdir(tmp_path)
    for name, own in runs.items():
        il.write_run(own, f"{name}.run")
    found = il.tune(qrels, [f"{name}.run" for name in runs], "wsum(norm=sum)", "nDCG@5", window=9)
    if not found.command:  # a single run, or what cannot be made by a command
        assert not isinstance(found.choice, Fusion)
        return
    main(shlex.split(found.command)[1:])
    assert il.evaluate(qrels, "fused.run", "AP")["AP"] == il.evaluate(qrels, found.run, "AP")["AP"]
    assert il.tune(qrels, runs, "rrf", "nDCG@5").command == ""


def test_the_result_is_data_tables_pages_and_a_figure(tmp_path: Path) -> None:
    qrels, runs = some_data()
    found = il.tune(qrels, runs, ["rrf", "wsum"], "nDCG@5")
    data = json.loads(found.to_json())
    assert {
        "best",
        "in_sample",
        "estimate",
        "ci",
        "optimism",
        "baselines",
        "verdict",
    } <= data.keys()
    assert data["optimism"] == data["in_sample"] - data["estimate"]
    assert len(data["trials"]) == found.tried == len(found.table().rows)
    assert sum(len(fold["queries"]) for fold in data["folds"]) == 20
    assert "ci_low" in found.table().headers
    for name in ("t.html", "t.md", "t.csv", "t.json"):
        found.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 500
    assert "nested" in str(found.signature)


def test_the_response_figure_shows_the_means_that_were_tried(tmp_path: Path) -> None:
    qrels, _ = some_data()
    draw = random.Random(2)
    views = {
        name: {q: {d: g + draw.gauss(0, 1) for d, g in own.items()} for q, own in qrels.items()}
        for name in "abc"
    }
    found = il.tune(qrels, views, "rrf", "nDCG@5")
    assert isinstance(found.best, Fusion)
    figure = found.figure("response", parameter="k")
    means = {row[0]: row[1] for row in figure.rows.rows}
    for at, mean in means.items():
        assert mean == found.looks.whole.means[as_fusion("rrf", k=at)]
    figure.save(tmp_path / "k.svg")
    assert (tmp_path / "k.svg").read_text("utf-8").startswith("<svg")
    with pytest.raises(IdealistError, match="no curve of 'phi'"):
        found.figure("response", parameter="phi")
    fixed = il.tune(qrels, views, "rrf(k=60)", "nDCG@5")
    assert not fixed.figures
    with pytest.raises(IdealistError, match="has a curve"):
        fixed.figure("response")


def test_selection_names_the_runs_that_earn_their_place() -> None:
    qrels, runs = some_data(queries=60)
    found = il.select_runs(qrels, runs, "sum", "nDCG@5")
    assert found.earns("good") == "earns its place"
    assert found.grown[0].runs == ("good",)
    every = il.evaluate(qrels, il.fuse(runs, "sum"), "nDCG@5")["nDCG@5"]
    without = il.evaluate(
        qrels, il.fuse({n: r for n, r in runs.items() if n != "good"}, "sum"), "nDCG@5"
    )["nDCG@5"]
    pair = found.without("good")
    assert pair is not None
    assert pair.difference == pytest.approx(without - every)
    assert len(found.estimates) == len(found.grown) == 3
    assert found.estimates[-1] == pytest.approx(every)
    assert json.loads(found.to_json())["choice"] == list(found.choice)
    assert "noise" not in found.choice or not found.tuning.is_real


def test_selection_refuses_weights_and_single_runs() -> None:
    qrels, runs = some_data()
    with pytest.raises(IdealistError, match="weighs all runs"):
        il.select_runs(qrels, runs, "wsum(weights=(1,2,3))")
    with pytest.raises(IdealistError, match="1 run cannot be fused"):
        il.select_runs(qrels, {"good": runs["good"]})


def test_trials_measure_each_setting_once(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = some_data()
    seen: list[Any] = []
    measured = Trials._measured

    def noted(self: Trials, *key: Any) -> Any:
        seen.append(key)
        return measured(self, *key)

    monkeypatch.setattr(Trials, "_measured", noted)
    il.tune(qrels, runs, ["rrf", "wsum", "posfuse"], "nDCG@5", folds=3)
    assert len(seen) == len(set(seen))
