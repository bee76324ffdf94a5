"""Figures about runs: marks stand where the data says, and the sentence is true."""

from __future__ import annotations

import json
import math
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealist as il
from idealist.cli.main import main
from idealist.comparing.comparison_report import best_first
from idealist.diagnosing.run_losses import STACKED, losses_of_runs
from idealist.evaluating.evaluations import Evaluations
from idealist.evaluating.evaluator import Evaluator
from idealist.rendering.drawing import svg
from idealist.rendering.figure import Area, Box, Dot, Figure, Line, Note, Span
from idealist.rendering.figures import curve_figures, loss_figures, run_figures
from idealist.rendering.figures.curve_figures import Shown
from idealist.rendering.figures.loss_figures import Stack
from idealist.rendering.figures.run_figures import Difference, Mean
from idealist.rendering.wording import visible

NAN = math.nan
HOSTILE = ["<script>alert(1)</script>", "a\nb", " ", "\u202eevil", "\"&'", "x" * 5000, "cutoff"]


def of(figure: Figure, kind: type[Any]) -> list[Any]:
    return [mark for mark in figure.marks if isinstance(mark, kind)]


def collection(queries: int, runs: int = 2, seed: int = 0) -> tuple[Any, dict[str, Any]]:
    """Make judgments of ten documents a query, and runs that order them with more or less luck."""
    draw = random.Random(seed)
    names = [f"q{i}" for i in range(queries)]
    qrels = {
        name: {f"d{i}": draw.choice([0, 0, 1, 2]) for i in range(8)} | {"d9": 1} for name in names
    }

    def ranked(luck: float) -> dict[str, list[str]]:
        def order(name: str) -> list[str]:
            known = [f"d{i}" for i in range(10)]
            return sorted(known, key=lambda d: -luck * qrels[name].get(d, 0) - draw.random())[:7]

        return {name: order(name) for name in names}

    return qrels, {f"run{i}": ranked(i / max(runs - 1, 1)) for i in range(runs)}


# --- intervals


def test_each_mean_and_interval_stands_in_its_row_and_the_best_has_another_shape() -> None:
    means = [Mean("a", 0.5, 0.4, 0.6), Mean("b", 0.7, 0.65, 0.75), Mean("c", NAN)]
    figure = run_figures.intervals("AP", means, about="30 queries")
    spans = [(one.x0, one.x1, one.y0, one.y1) for one in of(figure, Span)]
    assert spans == [(0.4, 0.6, 0.5, 0.5), (0.65, 0.75, 1.5, 1.5)]
    dots = [(one.x, one.y, one.shape, one.tone) for one in of(figure, Dot)]
    assert dots == [(0.5, 0.5, "circle", "same"), (0.7, 1.5, "diamond", "accent")]
    assert [(one.y, one.text) for one in of(figure, Note)] == [(2.5, "no value")]
    assert figure.y.names == ("a", "b", "c")
    assert figure.x.low <= 0.4 < 0.75 <= figure.x.high
    assert figure.says == (
        "b has the highest AP of 3 runs (1 without a value) over 30 queries: 0.7000, "
        "95 % interval 0.6500 to 0.7500."
    )


@pytest.mark.parametrize(
    ("values", "sense", "best", "said"),
    [
        ([0.5], 1, [], "AP of r0 is 0.5000."),
        ([0.5, 0.2], -1, [1], "r1 has the lowest AP of 2 runs: 0.2000."),
        ([0.5, 0.2, 0.5], 1, [0, 2], "r0, r2 have the highest AP of 3 runs: 0.5000."),
        ([0.5, 0.5], 1, [], "Both runs have the same AP: 0.5000."),
        ([0.1, 0.3], 0, [], "r1 has the highest AP of 2 runs: 0.3000."),
        ([NAN, NAN], 1, [], "No run has a value of AP."),
        ([-0.5, -0.25], 1, [1], "r1 has the highest AP of 2 runs: -0.2500."),
    ],
)
def test_the_sentence_names_the_best(
    values: list[float], sense: int, best: list[int], said: str
) -> None:
    means = [Mean(f"r{i}", value) for i, value in enumerate(values)]
    figure = run_figures.intervals("AP", means, sense=sense)
    marked = [int(one.y) for one in of(figure, Dot) if one.shape == "diamond"]
    assert (marked, figure.says) == (best, said)


def test_several_best_runs_do_not_share_the_interval_of_one() -> None:
    means = [Mean("a", 0.5, 0.4, 0.6), Mean("b", 0.5, 0.3, 0.7), Mean("c", 0.2, 0.1, 0.3)]
    assert run_figures.intervals("AP", means).says == (
        "a, b have the highest AP of 3 runs: 0.5000."
    )


@pytest.mark.parametrize("queries", [1, 2, 30, 7000])
def test_intervals_are_those_of_the_evaluation(queries: int) -> None:
    qrels, runs = collection(queries)
    found = Evaluations(tuple(Evaluator(qrels, ["nDCG@5", "AP"]).each(runs)))
    for measure in (None, "AP"):
        figure = found.figure("intervals", **({} if measure is None else {"measure": measure}))
        label = measure or "nDCG@5"
        assert [one.x for one in of(figure, Dot)] == [one[label] for one in found.runs]
        ends = [one.interval(label) for one in found.runs] if queries >= 5 else []
        assert [(one.x0, one.x1) for one in of(figure, Span)] == ends
        assert figure.rows.rows[0][:2] == ("run0", found.runs[0][label])


def test_a_run_that_meets_no_judgment_has_no_value() -> None:
    found = il.evaluate({f"q{i}": {"d": 1} for i in range(9)}, {"other": ["d"]}, "AP")
    assert [one.text for one in of(found.figure("intervals"), Note)] == ["no value"]


def test_the_baseline_of_a_comparison_has_a_shape_of_its_own() -> None:
    qrels, runs = collection(30, 3)
    found = il.compare(qrels, runs, "AP", baseline="run1")
    figure = found.figure("intervals")
    assert [one.shape for one in of(figure, Dot)] == ["circle", "square", "diamond"]
    assert [key.text for key in figure.keys] == ["highest", "baseline", "others"]


def test_a_hundred_runs_have_a_hundred_rows() -> None:
    figure = run_figures.intervals("AP", [Mean(f"r{i}", i / 100) for i in range(100)])
    assert [one.y for one in of(figure, Dot)] == [i + 0.5 for i in range(100)]
    assert figure.aspect == pytest.approx(100 / 12 * run_figures.intervals(
        "AP", [Mean(f"r{i}", 0.5) for i in range(12)]).aspect, rel=0.1)  # fmt: skip


# --- forest


def test_a_forest_marks_what_is_significant_by_shape_and_tone() -> None:
    rows = [
        Difference("up", 0.1, 0.05, 0.15, "better", 30),
        Difference("down", -0.1, -0.2, -0.05, "worse", 30),
        Difference("open", 0.01, -0.05, 0.07, "open", 30),
        Difference("few", 0.3, NAN, NAN, "untested", 2, part=True),
    ]
    figure = run_figures.forest("AP", rows, against="old", rope=0.01)
    dots = [(one.x, one.y, one.shape, one.tone) for one in of(figure, Dot)]
    assert dots == [
        (0.1, 0.5, "up", "win"), (-0.1, 1.5, "down", "loss"), (0.01, 2.5, "circle", "same"),
        (0.3, 3.5, "square", "same"),
    ]  # fmt: skip
    assert len(of(figure, Span)) == 3
    (zero,), (band,) = of(figure, Line), of(figure, Box)
    assert zero.points == ((0.0, 0.0), (0.0, 4.0))
    assert (band.x0, band.x1, band.y0, band.y1) == (-0.01, 0.01, 0.0, 4.0)
    assert "1 significantly better, 1 significantly worse, 1 not significant" in figure.says
    assert [row[4] for row in figure.rows.rows][-1] == "not tested"


@pytest.mark.parametrize("queries", [1, 2, 30, 7000])
def test_a_forest_has_the_numbers_of_the_pairs(queries: int) -> None:
    qrels, runs = collection(queries, 3 if queries < 7000 else 2)
    found = il.compare_evaluations(Evaluator(qrels, ["nDCG@5", "AP"]).each(runs))
    for measure in ("nDCG@5", "AP"):
        figure = found.figure("forest", measure=measure)
        pairs = best_first(found[measure])  # as the table has them
        assert [one.x for one in of(figure, Dot)] == [pair.difference for pair in pairs]
        ends = [pair.ci for pair in pairs if pair.n >= 5]
        assert [(one.x0, one.x1) for one in of(figure, Span)] == ends
        up = [one.shape == "up" for one in of(figure, Dot)]
        assert up == [pair.significant and pair.better for pair in pairs]


def test_a_forest_has_the_slices_of_a_comparison() -> None:
    qrels, runs = collection(40, 3)
    slices = {f"q{i}": "even" if i % 2 == 0 else "odd" for i in range(40)}
    found = il.compare(qrels, runs, "AP", slices=slices)
    names = ("run2", "run2: even", "run2: odd", "run1", "run1: even", "run1: odd")
    assert found.figure("forest").y.names == names
    assert found.figure("forest", slices=False).y.names == ("run2", "run1")
    (even,) = (one for one in found.slices if (one.run, one.slice) == ("run2", "even"))
    assert found.figure("forest").rows.rows[1][1] == even.difference
    two = il.compare(qrels, {name: runs[name] for name in ("run0", "run2")}, "AP", slices=slices)
    said = (
        f"The difference of AP of run2 from run0 is {two.pairs[0].difference:+.4f}, 95 % interval"
    )
    assert two.figure("forest").says.startswith(said)


def test_of_very_many_pairs_the_largest_are_drawn_and_all_are_in_the_table() -> None:
    rows = [Difference(f"p{i}", (i * 37 % 4950) / 4950, 0.0, 1.0, "open", 9) for i in range(4950)]
    rows[7] = rows[7]._replace(value=NAN, low=NAN, high=NAN)
    figure = run_figures.forest("AP", rows)
    assert min(one.x for one in of(figure, Dot)) == 4850 / 4950
    assert len(of(figure, Dot)) == 100
    assert (len(figure.rows.rows), "100 largest of 4950" in figure.note) == (4950, True)


def test_all_pairs_name_both_runs() -> None:
    qrels, runs = collection(30, 3)
    figure = il.compare(qrels, runs, "AP", all_pairs=True).figure("forest")
    assert figure.y.names == ("run1 - run2", "run0 - run2", "run0 - run1") or all(
        " - " in name for name in figure.y.names
    )
    assert "3 pairs of runs" in figure.says


def test_what_was_not_tested_is_not_called_not_significant() -> None:
    rows = [Difference("a", 0.3, NAN, NAN, "untested", 1), Difference("b", 0.1, 0, 0.2, "open", 9)]
    figure = run_figures.forest("AP", rows, against="old")
    assert "1 not tested, 1 not significant" in figure.says
    assert [key.text for key in figure.keys] == ["not significant", "not tested", "95 % interval"]


@pytest.mark.parametrize("queries", [1, 4])
def test_a_forest_of_few_queries_has_no_intervals(queries: int) -> None:
    qrels, runs = collection(queries, 3)
    figure = il.compare(qrels, runs, "nDCG@5").figure("forest")
    assert not of(figure, Span)
    assert "interval" not in figure.says
    assert ("2 not tested" in figure.says) == (queries == 1)
    assert figure.note == "Intervals need at least 5 queries."


def test_intervals_that_hold_together_say_so_and_of_how_many() -> None:
    qrels, runs = collection(30, 4)
    found = il.compare(qrels, runs, ["nDCG@5", "AP", "RR"])
    for measure, count in (("nDCG@5", 3), ("AP", 6)):
        forest = found.figure("forest", measure=measure)
        words = f", simultaneous over {count} comparisons"
        assert f"95 % interval{words}" in [key.text for key in forest.keys]
        assert forest.says.endswith(f"{words}.")
        assert forest.rows.headers[2] == "95 % simultaneous interval"
        one = found.figure("differences", measure=measure)
        assert f"95 % interval{words}" in [key.text for key in one.keys]
        assert f"{words})" in one.says
    alone = il.compare(qrels, {name: runs[name] for name in ("run0", "run1")}, "AP")
    assert "simultaneous" not in alone.figure("forest").render("json")


def test_slices_are_a_family_of_their_own() -> None:
    qrels, runs = collection(40, 3)
    slices = {f"q{i}": "even" if i % 2 == 0 else "odd" for i in range(40)}
    note = il.compare(qrels, runs, "AP", slices=slices).figure("forest").note
    words = "The intervals of slices are a family of their own, simultaneous over 4 comparisons."
    assert note == words


def test_weighted_means_and_sums_are_called_so() -> None:
    qrels, runs = collection(30, 3)
    weights = {f"q{i}": 1.0 + i for i in range(30)}
    found = il.compare(qrels, runs, "AP", weights=weights)
    assert found.figure("intervals").x.label == "AP, weighted mean"
    assert found.figure("forest").x.label == "weighted mean of AP less that of run0"
    (mean,) = [key.text for key in found.figure("differences").keys if "mean" in key.text]
    assert mean.startswith("weighted mean ")
    curves = il.depth_curve(qrels, runs, "P", weights=weights)
    assert curves.figure("depth").y.label == "P, weighted mean"
    levels = il.precision_recall_curve(qrels, runs, weights=weights)
    assert levels.figure("recall").y.label == "interpolated precision, weighted mean"
    sums = il.compare(qrels, runs, "NumRelRet")
    assert sums.figure("intervals").x.label == "NumRelRet, sum over queries"
    assert sums.figure("forest").x.label == "mean NumRelRet per query less that of run0"


def test_a_forest_says_where_lower_is_better() -> None:
    rows = [Difference("a", -0.1, -0.2, 0.0, "better", 30)]
    figure = run_figures.forest("FallOut", rows, against="old", sense=-1)
    assert figure.x.label == "FallOut less that of old (below 0 is better)"


def test_long_names_that_differ_at_the_end_stay_apart() -> None:
    names = [f"{'an-experiment-with-a-long-name_' * 3}seed={i}" for i in (1, 2)]
    rows = [Difference(names[1], 0.1, 0.0, 0.2, "open", 30)]
    figure = run_figures.forest("AP", rows, against=names[0])
    assert "_seed=1" in figure.title
    assert "_seed=1" in figure.x.label
    assert "_seed=1" in figure.says
    assert "_seed=2" in figure.says


# --- losses


def test_parts_are_stacked_from_the_value_to_the_ideal() -> None:
    lost = {"rerank": 0.25, "judge": 0.0, "retrieve": 0.125}
    words = {"rerank": "order", "judge": "unjudged", "retrieve": "not retrieved"}
    figure = loss_figures.losses([Stack("a", "AP", 0.5, 0.875, lost, 0.75)], words)
    boxes = [(one.x0, one.x1, one.tone) for one in of(figure, Box)]
    assert boxes == [
        (0.0, 0.5, "1"), (0.5, 0.75, "2"), (0.75, 0.875, "4"), (0.875, 1.0, "quiet"),
    ]  # fmt: skip
    assert [key.text for key in figure.keys] == [
        "value", "rerank: order", "retrieve: not retrieved", "not possible with these judgments",
        "with a perfect reranker of all retrieved",
    ]  # fmt: skip
    assert [one.points[0][0] for one in of(figure, Line)] == [0.75]
    assert figure.says == "a loses 0.3750 of AP, the largest part, 0.2500, to order."
    assert of(figure, Box)[1].text == "rerank 0.25"


def test_a_part_of_a_bar_is_named_where_there_is_room_or_has_its_number_alone() -> None:
    lost = {"rerank": 0.5, "retrieve": 0.125, "judge": 0.005}
    figure = loss_figures.losses([Stack("a", "AP", 0.37, 1.0, lost)], {one: one for one in lost})
    words = re.findall(r">([^<>]+)</text>", svg.draw(figure))
    assert "rerank 0.50" in words
    assert "0.12" in words  # where the name has no room
    assert not {"judge 0.01", "0.01"} & {*words}


def test_losses_that_cannot_be_stacked_are_refused_and_odd_ones_are_said() -> None:
    words = {"rerank": "order", "judge": "unjudged"}
    both = {"rerank": 0.5, "judge": -0.25}
    odd = loss_figures.losses([Stack("a", "AP", 0.5, 0.75, both)], words)
    assert "Mending unjudged would cost a 0.2500" in odd.note
    assert odd.x.high == 1.0
    whole = [Stack(run, "AP", 0.5, 0.75, {"rerank": 0.25, "judge": 0.0}) for run in "ab"]
    assert loss_figures.losses(whole, words).says == (
        "a loses 0.2500 of AP, all of it to order; 2 of 2 runs lose most to that."
    )
    nothing = loss_figures.losses([Stack("a", "AP", NAN, NAN, dict.fromkeys(words, NAN))], words)
    assert [one.text for one in of(nothing, Note)] == ["no value"]
    with pytest.raises(il.UsageError, match="below 0"):
        loss_figures.losses([Stack("a", "nDCG", -0.5, 0.75, both)], words)
    with pytest.raises(il.UsageError, match="the ideal list has a lower one"):
        il.diagnose({"q": {"a": 1}}, {"q": ["x", "a"]}, "ARP").figure("losses", measure="ARP")


@pytest.mark.parametrize("queries", [1, 2, 30, 7000])
def test_losses_are_those_of_a_diagnosis(queries: int) -> None:
    qrels, runs = collection(queries)
    found = il.diagnose(qrels, runs["run1"], ["nDCG@5", "AP", "DCG@5"])
    figure = found.figure("losses")
    assert figure.y.names == ("nDCG@5", "AP")
    assert "DCG@5" in figure.note
    for row, label in enumerate(figure.y.names):
        bars = [one for one in of(figure, Box) if int(one.y0) == row and one.tone != "quiet"]
        assert bars[0].x1 == found.losses[label].value
        wide = [one.x1 - one.x0 for one in bars[1:]]
        won = [found.fixes[label].means[fix] for fix in STACKED]
        assert wide == pytest.approx([x for x in won if x > 1e-9])
        assert bars[-1].x1 == pytest.approx(found.losses[label].ideal)
    several = losses_of_runs(Evaluator(qrels, ["nDCG@5", "AP"]), runs, "AP")
    assert several.y.names == ("run0", "run1")
    assert several.rows.rows[1][2:] == figure.rows.rows[1][2:]
    alone = found.figure("losses", measure="DCG@5")
    assert alone.x.high == pytest.approx(found.losses["DCG@5"].ideal)


def test_data_that_is_wrong_is_said_beside_the_losses() -> None:
    qrels = {f"q{i}": {"D1": 1} for i in range(9)}
    found = il.diagnose(qrels, {f"q{i}": ["d1"] for i in range(9)}, "AP")
    assert found.summary in found.figure("losses").note


# --- depth and recall


@pytest.mark.parametrize("name", ["nDCG@10", "R", "P@3", "Success", "AP(rel=2)@5"])
def test_each_point_is_what_evaluate_gives_at_that_cutoff(name: str) -> None:
    qrels, runs = collection(30, 3)
    found = il.depth_curve(qrels, runs, name)
    base = il.parse(name)
    for run, values in found.values.items():
        for cutoff, value in zip(found.places, values, strict=True):
            assert value == il.evaluate(qrels, runs[run], base @ int(cutoff))[base @ int(cutoff)]
    lines = {one.name: one.points for one in of(found.figure("depth"), Line) if one.name}
    assert lines["run2"] == tuple(zip(found.places, found.values["run2"], strict=True))
    assert max(found.places) == max(7, base.cutoff or 0)
    assert found.chosen == base.cutoff


@pytest.mark.parametrize("queries", [1, 2, 7000])
def test_curves_of_any_number_of_queries(queries: int) -> None:
    qrels, runs = collection(queries)
    found = il.depth_curve(qrels, runs, "nDCG", [1, 5, 3, 5])
    assert list(found.places) == [1, 3, 5]
    assert found.values["run1"][2] == il.evaluate(qrels, runs["run1"], "nDCG@5")["nDCG@5"]
    assert il.precision_recall_curve(qrels, runs).data()["runs"][0]["run"] == "run0"


def test_interpolated_precision_is_what_trec_eval_prints_at_each_level() -> None:
    qrels, runs = collection(30)
    found = il.precision_recall_curve(qrels, runs, rel=2)
    for level, value in zip(found.places, found.values["run1"], strict=True):
        label = f"IPrec@{level:g}" if level else "IPrec(recall=0)"
        assert value == il.evaluate(qrels, runs["run1"], label, rel=2)[label]
    fine = il.precision_recall_curve(qrels, runs, 101)
    assert len(fine.places) == 101
    mean = math.fsum(il.precision_recall_curve(qrels, runs).values["run1"]) / 11
    assert mean == pytest.approx(il.evaluate(qrels, runs["run1"], "IAP")["IAP"])
    assert all(a >= b for own in fine.values.values() for a, b in pairwise(own))


def test_curves_take_one_run_several_and_those_ranked_already() -> None:
    qrels, runs = collection(30)
    evaluator = Evaluator(qrels, ["nDCG@10"])
    ranked = evaluator.several(runs)
    one = il.depth_curve(evaluator.qrels, ranked, "R")
    assert one.values == il.depth_curve(qrels, runs, "R").values
    assert [*il.depth_curve(qrels, runs["run1"], "R").values.values()] == [one.values["run1"]]
    listed = il.depth_curve(qrels, [*runs.values()], "R")
    assert [*listed.values] == ["run", "run (2)"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "bpref"}, "bpref takes no cutoff"),
        ({"measure": "AP", "cutoffs": []}, "nothing to measure"),
        ({"cutoffs": [0]}, "cannot be cut at 0"),
        ({"cutoffs": ["x"]}, "cannot be cut at 'x'"),
        ({"convention": "nobody"}, "nobody"),
    ],
)
def test_a_curve_that_cannot_be_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(il.UsageError, match=words):
        il.depth_curve({"q": {"a": 1}}, {"q": ["a"]}, **options)


@pytest.mark.parametrize("levels", [1, 2000, [], [1.5], True, 0.5, "ab", ["a", 0.5], [NAN]])
def test_levels_of_recall_are_checked(levels: Any) -> None:
    with pytest.raises(il.UsageError):
        il.precision_recall_curve({"q": {"a": 1}}, {"q": ["a"]}, levels)


def test_a_run_that_meets_no_judgment_has_no_curve_and_no_losses() -> None:
    qrels, runs = collection(9)
    runs["alien"] = {query: ["zz1", "zz2"] for query in qrels}
    found = il.depth_curve(qrels, runs, "R")
    assert all(map(math.isnan, found.values["alien"]))
    assert "nothing was measured" in str(found)
    assert not [one for one in found.doubts if one.run != "alien"]
    lost = losses_of_runs(Evaluator(qrels, "AP"), runs)
    assert [(one.y, one.text) for one in of(lost, Note)] == [(2.5, "no value")]


def test_a_curve_shows_itself_in_every_form() -> None:
    qrels, runs = collection(10)
    found = il.depth_curve(qrels, runs, "nDCG@3")
    assert "cutoff" in str(found)
    assert "at each cutoff" in str(found)
    assert found.render("csv").splitlines()[0] == "run,cutoff,nDCG"
    assert found.data()["places"][:3] == [1, 2, 3]
    with pytest.raises(il.UsageError, match="no figure 'recall'"):
        found.figure("recall")


@pytest.mark.parametrize("runs", [1, 2, 8, 12, 100])
def test_of_many_runs_eight_have_names_and_colours(runs: int) -> None:
    curves = {f"r{i}": [0.1, i / 100] for i in range(runs)}
    figure = curve_figures.depth("AP", [1, 100], curves, chosen=100)
    lines = [one for one in of(figure, Line) if not one.dashed]
    named = [one.name for one in lines if one.name]
    assert len(lines) == runs
    assert named == [f"r{i}" for i in range(max(runs - 8, 0), runs)]
    assert all((one.tone == "quiet") == (not one.name) for one in lines)
    assert len({one.tone for one in lines if one.name}) == min(runs, 8)
    rest = f"{runs - 8} other runs are grey"
    assert (rest in figure.note) == (runs > 8)
    assert lines[-1].name
    assert figure.x.log


def test_the_sentence_says_who_is_best_at_both_ends() -> None:
    curves = {"a": [0.9, 0.5, 0.1], "b": [0.1, 0.6, 0.2], "c": [0.2, 0.3, 0.7]}
    figure = curve_figures.depth("AP", [1, 10, 100], curves, chosen=10)
    said = "b has the highest AP of 3 runs at cutoff 10, 0.6000; a has it at 1 and c has it at 100."
    assert figure.says == said
    low = curve_figures.depth("AP", [1, 10, 100], curves, chosen=10, sense=-1)
    assert low.says.startswith("c has the lowest AP of 3 runs at cutoff 10, 0.3000")
    one = curve_figures.depth("AP", [1, 10], {"a": [0.5, NAN]})
    assert one.says == "No run has a value of AP."
    alone = curve_figures.depth("AP", [1, 10, 50], {"a": [0.5, 0.25, 0.125]}, chosen=10)
    assert alone.says == "AP of a is 0.5000 at cutoff 1, 0.2500 at cutoff 10, 0.1250 at cutoff 50."
    same = curve_figures.depth("AP", [1, 10], {"a": [0.5, 0.5], "b": [0.5, 0.5]})
    assert same.says == "Both runs have the same AP at cutoff 10, 0.5000."
    point = curve_figures.depth("AP", [10], {"a": [0.5], "b": [0.5], "c": [0.25]})
    assert point.says == "a, b have the highest AP of 3 runs at cutoff 10, 0.5000."
    assert [(one.x, one.y) for one in of(point, Dot)] == [(10, 0.5), (10, 0.5), (10, 0.25)]


# --- coverage


def test_coverage_is_drawn_rank_by_rank_and_ends_where_lists_do() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(10)}
    runs = {
        "short": {f"q{i}": ["a", "x"] for i in range(10)},
        "long": {f"q{i}": ["x", "a", "y", "b"] for i in range(10)},
    }
    figure = il.audit(qrels, runs, "AP").figure("coverage")
    lines = {one.name: [y for _, y in one.points] for one in of(figure, Line)}
    assert lines["short"][:2] == [1.0, 0.0]
    assert lines["long"][:4] == [0.0, 1.0, 0.0, 1.0]
    assert all(math.isnan(y) for y in lines["short"][2:])
    assert (figure.y.low, figure.y.high) == (0.0, 1.0)


def test_the_sentence_of_coverage_names_the_least_judged() -> None:
    lists = {"a": [9.0], "b": [9.0]}
    found = curve_figures.coverage({"a": [1.0], "b": [0.5]}, lists, {"a": 0.95, "b": 0.5}, 10)
    assert found.says.startswith(
        "b is judged least of 2 runs: of its first 10 documents, 50.0% are"
    )
    nothing = curve_figures.coverage({"a": [NAN]}, {"a": [0.0]}, {"a": NAN}, 10)
    assert nothing.says.startswith("No run has")
    qrels = il.read_qrels({"q": {"a": 1, "b": 0}}, judgments="complete")
    whole = il.audit(qrels, {"q": ["a"]}, "AP")
    with pytest.raises(il.UsageError, match="no document is unjudged"):
        whole.figure("coverage")


def test_a_run_without_documents_is_not_judged_like_the_others() -> None:
    shares, lists = {"a": [0.5], "b": [NAN]}, {"a": [2], "b": [0]}
    said = curve_figures.coverage(shares, lists, {"a": 0.5, "b": NAN}, 10).says
    assert said == (
        "a is judged least of 2 runs (1 without a value): of its first 10 documents, 50.0% are "
        "judged."
    )


def test_far_down_ranks_are_drawn_in_bands_and_the_table_has_each() -> None:
    shares = {"a": [1.0] * 10 + [0.5, 0.0] + [NAN] * 28}
    lists = {"a": [8.0] * 10 + [6.0, 2.0] + [0.0] * 28}
    figure = curve_figures.coverage(shares, lists, {"a": 1.0}, 10)
    (line,) = of(figure, Line)
    assert line.points[:11] == (*((float(i), 1.0) for i in range(1, 11)), (11.5, 0.375))
    assert (len(line.points), len(figure.rows.rows)) == (11, 12)
    assert "every rank" in figure.note
    same = curve_figures.coverage(shares, lists, {"a": 0.5, "b": 0.5}, 10)
    assert same.says == "Both runs are judged alike: 50.0% of the first 10 documents."
    (plain,) = of(curve_figures.coverage(shares, lists, {"a": 1.0}, 10, every_rank=True), Line)
    assert [y for _, y in plain.points[:12]] == shares["a"][:12]


# --- power


def test_power_marks_the_present_queries_and_goes_through_what_they_show() -> None:
    qrels, runs = collection(30)
    plan = il.plan_queries("AP", qrels, [*runs.values()])
    figure = plan.figure("power")
    line = next(one for one in of(figure, Line) if not one.dashed)
    points = dict(line.points)
    assert points[30.0] == plan.detectable(30)
    assert all(points[n] == plan.detectable(int(n)) for n in points)
    (area,) = of(figure, Area)
    assert all(low <= points[n] <= high for n, low, high in area.points)
    (mark,) = [one for one in of(figure, Line) if one.dashed]
    assert {x for x, _ in mark.points} == {30.0}
    assert f"30 queries show a difference of {plan.detectable(30):.4f}" in figure.says
    assert dict(
        next(one.points for one in of(plan.figure("power", queries=60), Line) if not one.dashed)
    )[60.0]


def test_power_of_typical_runs_marks_nothing_and_bad_numbers_are_refused() -> None:
    plan = il.plan_queries("nDCG@10")
    assert not [one for one in of(plan.figure("power"), Line) if one.dashed]
    for queries in (1, 0, -5, 2.5, "x"):
        with pytest.raises(il.UsageError):
            plan.figure("power", queries=queries)


@pytest.mark.parametrize("queries", [12, 30, 7000])
def test_power_of_a_comparison_agrees_with_its_pair(queries: int) -> None:
    qrels, runs = collection(queries, 3 if queries < 7000 else 2, seed=4)
    found = il.compare_evaluations(Evaluator(qrels, "P@1").each(runs))
    for pair in found.pairs:
        figure = found.figure("power", run=pair.run)
        if pair.missed and pair.detectable <= 1:
            points = dict(next(one.points for one in of(figure, Line) if not one.dashed))
            assert points[float(queries)] == pytest.approx(pair.detectable)


def test_runs_that_do_not_differ_have_no_power() -> None:
    qrels, runs = collection(9)
    with pytest.raises(il.UsageError, match="does not vary"):
        il.compare(qrels, {"a": runs["run0"], "b": runs["run0"]}, "AP").figure("power")


def test_differences_that_cannot_be_are_not_drawn() -> None:
    shown = [Shown(n, 4 / n, 3 / n, 9 / n) for n in (2, 4, 8, 16)]
    figure = curve_figures.power(
        "AP", shown, present=shown[0], share="95 % range", power=0.8, most=1.0
    )
    line = next(one for one in of(figure, Line) if not one.dashed)
    assert [x for x, _ in line.points] == [4.0, 8.0, 16.0]
    assert (figure.y.high, max(high for _, _, high in of(figure, Area)[0].points)) == (1.0, 1.0)
    assert figure.says == "2 queries are too few to show any possible difference in AP."


# --- agreement


def test_a_matrix_has_a_shade_and_a_number_for_every_two_names() -> None:
    values = {("a", "b"): 0.5, ("c", "a"): -0.25}
    figure = run_figures.agreement(["a", "b", "c"], values, title="t", what="tau", of="measures")
    cells = {(int(one.y0), int(one.x0)): (one.shade, one.text) for one in of(figure, Box)}
    assert len(cells) == 9
    assert cells[0, 1] == cells[1, 0] == (0.5, "0.50")
    assert cells[0, 2] == cells[2, 0] == (-0.25, "-0.25")
    assert cells[1, 1] == (1.0, "1.00")
    assert cells[1, 2] == (None, "–")
    assert (
        figure.says
        == "Tau is highest between a and b, 0.5000, and lowest between a and c, -0.2500."
    )
    assert figure.rows.rows[1] == ("a", "c", -0.25)


def test_agreement_of_measures_is_that_of_the_comparison() -> None:
    qrels, runs = collection(30, 4)
    found = il.compare(qrels, runs, ["nDCG@5", "AP", "RR"])
    for coefficient in ("tau_b", "tau_ap_b", "rbo"):
        figure = found.figure("agreement", coefficient=coefficient)
        shades = {one.shade for one in of(figure, Box)}
        assert shades == {1.0, *(getattr(one, coefficient) for one in found.agreement)}
    with pytest.raises(il.UsageError, match="no coefficient 'tau'"):
        found.figure("agreement", coefficient="tau")


def test_too_few_runs_or_measures_have_no_agreement() -> None:
    qrels, runs = collection(30, 3)
    two = {name: runs[name] for name in ("run0", "run1")}
    with pytest.raises(il.UsageError, match="two runs"):
        il.compare(qrels, two, ["AP", "RR"]).figure("agreement")
    with pytest.raises(il.UsageError, match="one measure"):
        il.compare(qrels, runs, "AP").figure("agreement")
    with pytest.raises(il.UsageError, match="judges"):
        il.audit(qrels, runs, "AP").figure("agreement")


def test_agreement_of_judges_is_that_of_the_audit() -> None:
    draw = random.Random(1)
    rows = [
        {"query": "q", "doc": f"d{i}", "judge": judge, "grade": draw.choice([0, 1, 2])}
        for i in range(40)
        for judge in ("ann", "bob", "eve")
    ]
    found = il.audit(il.read_qrels(rows, merge="max"), {"q": ["d1"]}, "AP")
    figure = found.figure("agreement")
    assert found.judges is not None
    assert {one.shade for one in of(figure, Box)} == {1.0, *(p.kappa for p in found.judges.pairs)}
    assert "judges" in figure.title


def test_a_matrix_of_many_names_shows_the_first_and_says_so() -> None:
    names = [f"j{i}" for i in range(60)]
    figure = run_figures.agreement(names, {}, title="t", what="kappa", of="judges")
    assert len(of(figure, Box)) == 24 * 24
    assert len(figure.rows.rows) == 60 * 59 // 2
    assert "first 24 of 60 judges" in figure.note
    assert figure.says == "How far the judges agree is not known for any two of them."


# --- all of them


def test_hostile_names_change_nothing_and_no_sentence_is_endless() -> None:
    means = [Mean(name, 0.5 + i / 100, 0.4, 0.6) for i, name in enumerate(HOSTILE)]
    lost, pairs = {"rerank": 0.25}, {name: [0.1, 0.2] for name in HOSTILE}
    figures = [
        run_figures.intervals("AP", means),
        run_figures.forest("AP", [Difference(n, 0.1, 0.0, 0.2, "open", 9) for n in HOSTILE], against=HOSTILE[5]),
        loss_figures.losses([Stack(n, "AP", 0.5, 0.75, lost) for n in HOSTILE], {"rerank": "order"}),
        curve_figures.depth("AP", [1, 2], {n: [0.1, 0.2] for n in HOSTILE}),
        curve_figures.coverage(pairs, pairs, dict.fromkeys(HOSTILE, 0.5), 10),
        run_figures.agreement(HOSTILE, {}, title="t", what="tau", of="measures"),
    ]  # fmt: skip
    for figure in figures:
        assert len(figure.says) < 700
        assert len(figure.title) < 200
        assert len(figure.data()["rows"]) >= len(HOSTILE)
        names = figure.y.names or [one.name for one in of(figure, Line)]
        assert [*names] == [*map(visible, HOSTILE)]


NUMBERS = st.integers(-1000, 1000).map(lambda x: x / 1000) | st.sampled_from([0.0, 1.0, NAN])


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=12))
def test_every_mark_lies_on_its_axes(rows: list[tuple[float, float, float]]) -> None:
    means = [Mean(f"r{i}", x, *sorted((y, z))) for i, (x, y, z) in enumerate(rows)]
    found = [
        run_figures.intervals("AP", means),
        run_figures.forest("AP", [Difference(*one, "open", 9) for one in means]),
        curve_figures.depth("AP", [1, 2, 3], {one.run: one[1:] for one in means}),
    ]
    for figure in found:
        for dot in of(figure, Dot):
            assert figure.x.low <= dot.x <= figure.x.high
            assert 0 <= dot.y <= len(figure.y.names)
        for line in of(figure, Line):
            assert all(
                math.isnan(y) or figure.y.names or figure.y.low <= y <= figure.y.high
                for _, y in line.points
            )
        assert figure.says.endswith(".")


MADE: dict[str, Any] = {
    "intervals": lambda q, r: Evaluations(tuple(Evaluator(q, "AP").each(r))),
    "forest": lambda q, r: il.compare(q, r, "AP"),
    "losses": lambda q, r: losses_of_runs(Evaluator(q, "AP"), r),
    "depth": lambda q, r: il.depth_curve(q, r, "AP"),
    "recall": il.precision_recall_curve,
    "coverage": il.audit,
    "power": lambda q, r: il.plan_queries("AP", q, r),
}


@pytest.mark.parametrize("kind", MADE)
def test_the_command_draws_what_the_library_does(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(__file__).parents[1] / "examples"
    files = [str(folder / name) for name in ("qrels.txt", "bm25.run", "reranked.run")]
    measure = [] if kind in ("recall", "coverage") else ["-m", "AP"]
    main(["plot", kind, *files, *measure, "-f", "json"])
    data = json.loads(capsys.readouterr().out)
    found = MADE[kind](files[0], files[1:])
    figure = found if isinstance(found, Figure) else found.figure(kind)
    assert data == json.loads(figure.to_json())


def test_real_runs(data: Path) -> None:
    """Twelve runs of TREC-COVID: every figure has the numbers that the verbs give."""
    folder = data / "trec-covid-r1"
    qrels = il.read_qrels(folder / "qrels.txt")
    runs = sorted((folder / "runs").iterdir())
    evaluator = Evaluator(qrels, ["nDCG@10", "AP"])
    ranked = evaluator.several(runs)
    lost = losses_of_runs(evaluator, ranked)
    one = il.diagnose(qrels, runs[4], "nDCG@10")
    row = next(row for row in lost.rows.rows if row[0] == one.run)
    assert row[2:] == one.figure("losses").rows.rows[0][2:]
    curve = il.depth_curve(qrels, ranked, "nDCG@10")
    at = curve.places.index(10)
    means = {run.run.name: evaluator(run)["nDCG@10"] for run in ranked}
    assert {run: own[at] for run, own in curve.values.items()} == means
    ticks = [line.points[0][0] for line in of(lost, Line)]
    bars = [[b for b in of(lost, Box) if int(b.y0) == i] for i in range(12)]
    for tick, bar in zip(ticks, bars, strict=True):  # a reranker wins the parts up to its tick
        assert np.isclose([b.x1 for b in bar], tick).any()


def test_a_result_lists_the_figures_it_can_make_and_says_what_others_lack() -> None:
    qrels, runs = collection(30, 3)
    two = il.compare(qrels, {name: runs[name] for name in ("run0", "run1")}, ["AP", "RR"])
    kinds = "differences, scatter, spread, heat, intervals, forest, power"
    assert repr(two.figures) == f"<Figures {kinds}>"
    assert "agreement" in il.compare(qrels, runs, ["AP", "RR"]).figures
    assert "agreement" not in il.compare(qrels, runs, "AP").figures
    with pytest.raises(il.UsageError, match="two runs have no order"):
        two.figure("agreement")
    assert list(il.audit(qrels, runs).figures) == ["coverage"]
    for kind, make in two.figures.items():
        assert make().kind == kind
