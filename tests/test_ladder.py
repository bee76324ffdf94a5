"""The ladder of losses: its steps add up, and each rung is what a plain loop makes of the list."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import idealist as il
from effort import tries
from generated import PLAIN, seeds, some_case, some_measure, some_protocol
from idealist.conventions import CONVENTIONS
from idealist.explaining.ladder import CAUSES, Ladder, ladder
from idealist.measures import MEASURES
from idealist.measures.instrument import Aggregate, Instrument
from idealist.protocol import Protocol

RUNGS = ("actual", *CAUSES)


def climbed(instrument: Instrument, qrels: Any, run: Any) -> Ladder | None:
    """Climb where the actual list can be measured; then every rung can be."""
    protocol = instrument.protocol
    try:
        placements = il.rank(il.read_qrels(qrels), il.read_run(run), [protocol])[protocol]
        values = instrument.measure.values(placements)
    except il.IdealistError:
        return None
    try:
        found = ladder(instrument, placements)
    except il.UsageError:
        if instrument.measure.name == "RBP":  # a document not retrieved has a gain above 1
            return None
        raise
    assert np.array_equal(found.actual, instrument.aggregate.each(values), equal_nan=True)
    return found


def check_sums(found: Ladder) -> None:
    steps = np.array([found.losses[cause] for cause in CAUSES])
    np.testing.assert_allclose(steps.sum(axis=0), found.loss, rtol=0, atol=1e-12)
    whole = found.direction * (found.ideal - found.actual)
    np.testing.assert_allclose(found.loss, whole, rtol=0, atol=1e-12)
    assert not np.nan_to_num(found.losses["duplicates"]).any()
    assert np.array_equal(np.isnan(found.loss), np.isnan(found.actual))


@pytest.mark.parametrize("name", [name for name in PLAIN if MEASURES[name].direction])
def test_steps_add_up_for_every_measure(name: str) -> None:
    climbs = 0
    for seed in range(tries(16, 40)):
        rng = random.Random(seed)
        measure, protocol = some_measure(rng, name).filled(), some_protocol(rng)
        if MEASURES[name].averages_ties and seed % 4 == 0:
            protocol = Protocol(ties="expected")
        instrument = Instrument(measure, protocol, Aggregate())
        found = climbed(instrument, *some_case(rng))
        if found is not None:
            climbs += 1
            check_sums(found)
            if measure.cutoff is None:
                assert not np.nan_to_num(found.losses["cutoff"]).any()
    assert climbs > tries(3, 10)


@pytest.mark.parametrize("name", CONVENTIONS)
@given(seed=seeds)
@settings(max_examples=12, deadline=None)
def test_steps_add_up_under_every_convention(name: str, seed: int) -> None:
    rng = random.Random(seed)
    convention = CONVENTIONS[name]
    measures = [one for one in PLAIN if MEASURES[one].direction and convention.has(MEASURES[one]())]
    if not measures:
        assert convention.measures  # those of subtopics or samples, which are tested below
        return
    measure = MEASURES[rng.choice(measures)]()
    if measure.takes_cutoff and rng.random() < 0.7:
        measure = measure @ rng.choice([1, 3, 5, 10])
    found = climbed(convention.instrument(measure), *some_case(rng))
    if found is not None:
        check_sums(found)


def rich(rng: random.Random) -> list[dict[str, Any]]:
    """Make judgments with strata and a column, by subtopic or not, and by group."""
    qrels, _ = some_case(rng, fractions=False)
    rows = []
    for query, judged in qrels.items():
        for document, grade in judged.items():
            row = {"query": query, "document": document, "grade": max(grade, 0)}
            rows.append({**row, "stratum": rng.choice("ab"), "utility": rng.random()})
    return rows


@pytest.mark.parametrize("name", [n for n in MEASURES if MEASURES[n].needs])
def test_steps_add_up_for_measures_of_more_than_grades(name: str) -> None:
    climbs = 0
    for seed in range(20):
        rng = random.Random(seed)
        rows, (_, run) = rich(rng), some_case(rng)
        if MEASURES[name].needs in ("subtopics", "groups"):
            both = [{**row, "subtopic": topic} for row in rows for topic in "xy"]
            rows = [{**row, "grade": rng.randint(0, 2)} for row in both]
        measure = MEASURES[name]() if name != "UDCG" else il.UDCG(signal="utility")
        measure = measure @ 5 if measure.takes_cutoff else measure
        if not measure.direction:
            return
        found = climbed(CONVENTIONS["trec_eval"].instrument(measure), rows, run)
        if found is not None:
            climbs += 1
            check_sums(found)
    assert climbs > tries(3, 10)


SIMPLE = ["nDCG@3", "nDCG(gain=exp2)", "DCG@5", "AP", "AP@3", "RR@3", "P@3", "P", "R@3", "R",
          "Success@2", "ERR@5", "RBP@5", "bpref", "Rprec", "Judged@3", "Unjudged@3", "F@3"]  # fmt: skip


@pytest.mark.parametrize("text", SIMPLE)
def test_rungs_are_what_plain_lists_are_worth(text: str) -> None:
    """Make each list by hand, of grades alone, and measure it as one."""
    measure = CONVENTIONS["trec_eval"].instrument(il.parse(text)).measure
    for seed in range(tries(60, 150)):
        rng = random.Random(seed)
        judged = {f"d{i}": rng.choice([0, 0, 1, 2, 3]) for i in range(rng.randint(1, 8))}
        judged["top"] = 3  # ERR's highest grade
        ids = rng.sample([*judged, *"uvwx"], rng.randint(1, len(judged) + 4))
        found = il.Explainer({"q": judged}, {"q": ids}, text).ladder
        listed = [judged.get(d) for d in ids]
        condensed = [grade for grade in listed if grade is not None]
        k = measure.cutoff or len(ids)

        def worth(grade: int) -> float:
            return -grade if not text.endswith("judged@3") and text != "Judged@3" else 0

        ordered = sorted(condensed[:k], key=worth) + condensed[k:]
        best, ideal = sorted(condensed, key=worth), sorted(judged.values(), key=worth)
        some = [grade for grade in best if grade > 0 or "udged" in text]
        every = [grade for grade in ideal if grade > 0 or "udged" in text]

        def value(grades: list[Any], judged: dict[str, int] = judged) -> float:
            left = sorted(judged.values())
            for grade in grades:
                if grade is not None:
                    left.remove(grade)
            return measure(grades, judged=left)

        better = max if measure.direction > 0 else min
        wanted: list[list[Any]] = [listed, listed, listed, condensed, ordered, best]
        values = [value(grades) for grades in wanted]
        values += [better(values[-1], value(some)), better(value(ideal), value(every))]
        assert found.rungs[:, 0].tolist() == pytest.approx(values, abs=1e-12), RUNGS


def test_what_is_lost_is_never_below_nothing_for_a_measure_that_grows_with_worth() -> None:
    for seed in range(tries(60, 300)):
        rng = random.Random(seed)
        qrels, run = some_case(rng)
        measure = rng.choice(["nDCG@5", "AP", "RR@3", "ERR@5", "RBP", "R@3", "Success@1", "DCG@3"])
        found = il.Explainer(qrels, run, measure).ladder
        assert min(map(np.min, found.losses.values())) > -1e-12
        assert found.ideal.max() <= (math.inf if measure == "DCG@3" else 1)


def test_ties_take_what_their_best_order_would_add() -> None:
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": {"a": 1.0, "b": 1.0, "u": 1.0}}
    actual = il.evaluate(qrels, run, "nDCG@3")["nDCG@3"]
    best = il.evaluate(qrels, run, "nDCG@3", ties="best")["nDCG@3"]
    mean = il.evaluate(qrels, run, "nDCG@3", ties="expected")["nDCG@3"]
    for ties, value in (("docid-desc", actual), ("best", best), ("expected", mean)):
        found = il.Explainer(qrels, run, "nDCG@3", ties=ties).ladder
        assert found.losses["ties"][0] == pytest.approx(best - value, abs=1e-15)
    assert best > mean > actual


def test_each_cause_is_charged_alone() -> None:
    judged = {"a": 1, "b": 1, "n": 0}
    cases = {
        "unjudged": (["u", "a", "b"], "P@2"),
        "order": (["n", "a", "b"], "RR"),
        "cutoff": (["a", "n", "b"], "P@2"),
        "worthless": (["a", "b", "n"], "P"),
        "missing": (["a"], "R"),
    }
    for cause, (ids, measure) in cases.items():
        losses = il.Explainer({"q": judged}, {"q": ids}, measure).ladder.at(0)
        assert [one for one, lost in losses.items() if lost] == [cause], measure


def test_lower_is_better_counts_what_is_too_much_as_lost() -> None:
    found = il.Explainer({"q": {"a": 1, "b": 0}}, {"q": ["u", "a"]}, "Unjudged@2").ladder
    assert found.direction == -1
    assert (found.actual[0], found.ideal[0], found.loss[0]) == (0.5, 0.0, 0.5)
    assert found.losses["unjudged"][0] == 0.5


def test_what_is_neither_good_nor_bad_loses_nothing() -> None:
    explainer = il.Explainer({"q": {"a": 1}}, {"q": ["a"]}, "NumRel")
    with pytest.raises(il.UsageError, match="NumRel is neither good nor bad"):
        _ = explainer.ladder


def test_the_mean_is_of_the_queries_that_count() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
    run = {"q1": ["u", "a"], "q3": ["a"]}
    zero = il.Explainer(qrels, run, "RR").ladder
    assert zero.mean()["unjudged"] == pytest.approx(0.5 / 3)
    assert zero.mean()["missing"] == pytest.approx(1 / 3)
    skipped = il.Explainer(qrels, run, "RR", missing="skip", no_relevant="skip").ladder
    assert skipped.counted.tolist() == [True, False, False]
    assert skipped.mean()["unjudged"] == 0.5
    undefined = il.Explainer(qrels, run, "RR", no_relevant="nan").ladder
    assert math.isnan(undefined.loss[2])
    assert undefined.mean()["unjudged"] == 0.25


def test_an_empty_list_that_is_right_is_what_others_retrieve_too_much_for() -> None:
    found = il.Explainer({"q": {"a": 0}}, {"q": ["a"]}, "nDCG@3", no_relevant="empty").ladder
    assert found.losses["worthless"][0] == 1.0


def test_the_ideal_list_is_no_deeper_than_the_protocol_looks() -> None:
    qrels, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "b", "c"]}
    found = il.Explainer(qrels, run, "R", depth=2).ladder
    assert found.ideal[0] == found.actual[0] == 2 / 3


def test_rounding_of_queries_is_part_of_every_rung() -> None:
    one = CONVENTIONS["trec_eval"].instrument(il.parse("RR"))
    rounded = replace(one, aggregate=Aggregate(round="query(1)"))
    found = climbed(rounded, {"q": {"a": 1}}, {"q": ["x", "y", "a"]})
    assert found is not None
    assert found.actual[0] == 0.3
    check_sums(found)


def test_a_column_that_is_not_there_is_named() -> None:
    for run in ({"q": ["a"]}, {"other": ["a"]}):
        explainer = il.Explainer({"q": {"a": 1}}, run, "UDCG@5")
        with pytest.raises(il.UsageError, match="no column 'abstain'"):
            _ = explainer.ladder


def test_a_measure_of_ones_own_has_a_ladder() -> None:
    @il.measure("TopGrade")
    def top_grade(placements: il.Placements) -> Any:
        return np.nan_to_num(placements.grid(1).filled(0))[:, 0] / 3

    found = il.explain({"q": {"a": 3, "b": 1}}, {"q": ["u", "b"]}, top_grade, query="q")
    assert found.value == 0
    assert {cause: lost for cause, lost in found.losses.items() if lost} == pytest.approx(
        {"unjudged": 1 / 3, "missing": 2 / 3}
    )


def test_what_is_refused_of_the_actual_list_is_not_of_others() -> None:
    axes = {"denominator": "N_list", "no_relevant": "error"}
    found = il.Explainer({"q": {"a": 1}}, {"q": ["a", "u"]}, "FallOut", **axes).ladder
    assert found.loss.tolist() == [found.actual[0] - found.ideal[0]]
    assert found.rungs[3, 0] == found.rungs[2, 0]  # without the unjudged one there is no value
