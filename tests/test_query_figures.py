"""Figures about queries: marks stand where the data says, and the sentence is true."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from idealist.rendering.drawing import svg
from idealist.rendering.figure import Area, Box, Dot, Figure, Line, Note
from idealist.rendering.figures import query_figures, value_figures
from idealist.rendering.figures.query_figures import BeforeAfter
from idealist.rendering.figures.value_figures import Bins, QueryValues

NAN = math.nan
HOSTILE = [
    "<script>alert(1)</script>",
    "a\nb",
    " ",
    "\u202eevil",
    "\"&'",
    "x" * 5000,
    "</svg>",
    "é",
]


def pair_of(before: list[float], after: list[float], **others: Any) -> BeforeAfter:
    """Pair values of queries q0, q1, …"""
    apart = [b - a for a, b in zip(before, after, strict=True)]
    names = {"measure": "nDCG@10", "baseline": "old", "run": "new"} | {
        "queries": [f"q{i}" for i in range(len(before))]
    }
    return BeforeAfter(**names | {"before": before, "after": after, "differences": apart} | others)


def values_of(*rows: list[float], **others: Any) -> QueryValues:
    """Make values of runs r0, r1, …, for queries q0, q1, …"""
    facts: dict[str, Any] = {
        "measure": "AP", "runs": [f"r{i}" for i in range(len(rows))], "limits": (0.0, 1.0),
        "queries": [f"q{i}" for i in range(len(rows[0]))], "values": rows,
    }  # fmt: skip
    return QueryValues(**facts | others)


def sample(n: int, seed: int = 0) -> tuple[list[float], list[float]]:
    """Draw values of two runs; some are equal, some 0 and 1."""
    draw = random.Random(seed)

    def values() -> list[float]:
        return [draw.choice([draw.random(), 0.0, 0.5, 1.0]) for _ in range(n)]

    return values(), values()


def of(figure: Figure, kind: type[Any]) -> list[Any]:
    return [mark for mark in figure.marks if isinstance(mark, kind)]


def all_figures(pair: BeforeAfter) -> list[Figure]:
    rows = QueryValues("AP", ["old", "new"], pair.queries, [pair.before, pair.after])
    apart = QueryValues("AP", ["new"], pair.queries, [pair.differences], baseline="old")
    return [
        query_figures.differences(pair), query_figures.scatter(pair), value_figures.spread(rows),
        value_figures.spread(apart), value_figures.heat(rows),
    ]  # fmt: skip


# --- differences


def as_box(mark: Any) -> Box:
    """Take the stroke of a query without a difference as a bar without a height."""
    if isinstance(mark, Box):
        return mark
    (x0, y0), (x1, y1) = mark.points
    return Box(x0, x1, y0, y1, tone=mark.tone, label=mark.label, query=mark.query)


def test_bars_stand_in_order_where_the_differences_are() -> None:
    pair = pair_of(
        [0.5, 0.25, 0.4, 0.125], [0.25, 0.75, 0.4, 0.25], mean=0.0875, interval=(-0.4, 0.6), rope=0.01,
        texts={"q1": "sort a  list"},
    )  # fmt: skip
    figure = query_figures.differences(pair)
    (rope, *_), [band] = of(figure, Box), of(figure, Area)
    bars = [as_box(mark) for mark in figure.marks if mark.query]
    assert [(bar.query, (bar.x0 + bar.x1) / 2, bar.tone) for bar in bars] == [
        ("q1", 0.5, "win"), ("q3", 1.5, "win"), ("q2", 2.5, "same"), ("q0", 3.5, "loss"),
    ]  # fmt: skip
    assert [(bar.y0, bar.y1) for bar in bars] == [
        (0, 0.5), (0, 0.125), (0, 0), (-0.25, 0),
    ]  # fmt: skip
    assert bars[0].label == "q1 (sort a list): 0.2500 → 0.7500 (+0.5000)"
    assert (rope.x0, rope.x1, rope.y0, rope.y1) == (0, 4, -0.01, 0.01)
    assert band.points == ((0, -0.4, 0.6), (4, -0.4, 0.6))
    assert figure.x.names == ("q1", "q3", "q2", "q0")
    across = [line for line in of(figure, Line) if not line.query]
    heights = [(line.points[0][1], line.dashed) for line in across]
    assert heights == [(-0.4, True), (0.6, True), (0.0875, False)]
    assert (figure.y.low, figure.y.high) == (-0.4, 0.6)
    assert figure.says == (
        "By nDCG@10, new is better than old on 2 of 4 queries, worse on 1, the same on 1; "
        "mean difference +0.0875 (95 % interval -0.4000 to +0.6000)."
    )


def test_lower_may_be_better() -> None:
    figure = query_figures.differences(pair_of([0.5, 0.2], [0.25, 0.7], sense=-1))
    bars = of(figure, Box)
    assert [(bar.query, bar.tone, bar.y0) for bar in bars] == [
        ("q0", "win", -0.25), ("q1", "loss", 0.0)
    ]  # fmt: skip
    assert "better than old on 1 of 2 queries, worse on 1" in figure.says
    assert "below 0 is better" in figure.y.label


def test_where_there_is_no_better_it_is_higher() -> None:
    figure = query_figures.differences(pair_of([0.5, 0.2], [0.25, 0.7], sense=0))
    assert "new is higher than old on 1 of 2 queries, lower on 1" in figure.says
    assert [key.text for key in figure.keys] == ["higher (1)", "lower (1)"]


def test_of_many_queries_the_ends_have_bars_and_the_rest_an_outline() -> None:
    before, after = sample(7000)
    pair = pair_of(before, after)
    figure = query_figures.differences(pair)
    assert figure.x.names == ("30 best", "6,940 others", "30 worst")
    bars, areas = of(figure, Box), of(figure, Area)
    ranked = sorted(range(7000), key=lambda i: before[i] - after[i])
    assert [bar.query for bar in bars] == [f"q{i}" for i in (*ranked[:30], *ranked[-30:])]
    assert bars[0].x0 == 0
    assert math.isclose(bars[30].x0, 2)
    assert math.isclose(bars[-1].x1, 3)
    assert [area.tone for area in areas] == ["win", "loss"]
    assert all(1 <= x <= 2 for area in areas for x, *_ in area.points)
    heights = [high for _, _, high in areas[0].points]
    assert heights == sorted(heights, reverse=True)
    assert heights[0] == after[ranked[30]] - before[ranked[30]]
    assert len(figure.marks) + sum(len(area.points) for area in areas) < 500
    assert "6,940 others are one outline" in figure.note


# --- scatter


def test_dots_stand_where_the_values_are() -> None:
    pair = pair_of([0.5, 0.2, 0.4], [0.25, 0.7, 0.4])
    figure = query_figures.scatter(pair)
    dots = {dot.query: dot for dot in of(figure, Dot)}
    assert {query: (dot.x, dot.y, dot.shape) for query, dot in dots.items()} == {
        "q0": (0.5, 0.25, "down"), "q1": (0.2, 0.7, "up"), "q2": (0.4, 0.4, "circle"),
    }  # fmt: skip
    [diagonal] = of(figure, Line)
    assert diagonal.points == ((figure.x.low, figure.y.low), (figure.x.high, figure.y.high))
    assert (figure.x.low, figure.x.high) == pytest.approx((-0.028, 0.728))
    assert figure.says.endswith("largest win q1 (+0.5000); largest loss q0 (-0.2500).")
    assert not figure.note


def test_queries_at_the_same_place_share_a_dot_that_says_so() -> None:
    pair = pair_of([0.0] * 12 + [0.5], [0.0] * 12 + [1.0])
    figure = query_figures.scatter(pair)
    many, one = of(figure, Dot)
    assert many.label.startswith("12 queries (q0, q1, q2, q3, q4 and 7 more): 0.0000 → 0.0000")
    assert (many.query, one.query) == ("", "q12")
    assert many.size > one.size == 1
    assert [note.text for note in of(figure, Note)] == ["12"]
    assert figure.note.startswith("1 dot stands for several queries")


def test_thousands_of_queries_are_counted_in_fields() -> None:
    before, after = sample(7000)
    figure = query_figures.scatter(pair_of(before, after))
    fields = of(figure, Box)
    assert sum(int(box.label.split()[0]) for box in fields) == 7000
    for box in fields:
        inside = [
            (a, b)
            for a, b in zip(before, after, strict=True)
            if box.x0 <= a < box.x1 + (box.x1 == 1) and box.y0 <= b < box.y1 + (box.y1 == 1)
        ]
        assert int(box.label.split()[0]) == len(inside)
        if box.tone == "win":
            assert all(b > a for a, b in inside)
    assert max(box.shade for box in fields) == 1
    dots = of(figure, Dot)
    assert len(dots) == 20
    apart = [abs(dot.y - dot.x) for dot in dots]
    rest = {(a, b) for a, b in zip(before, after, strict=True)} - {(dot.x, dot.y) for dot in dots}
    assert min(b - a for a, b in rest) >= min(dot.y - dot.x for dot in dots)
    assert max(abs(b - a) for a, b in rest) <= max(apart)
    assert len(figure.marks) < 1100
    assert "counted in fields" in figure.note


def test_thousands_of_queries_with_few_values_keep_their_dots() -> None:
    before = [1 / (1 + i % 10) for i in range(7000)]
    after = [1 / (1 + i % 7) for i in range(7000)]
    figure = query_figures.scatter(pair_of(before, after))
    places = Counter(zip(before, after, strict=True))
    dots = {(dot.x, dot.y): dot for dot in of(figure, Dot)}
    assert {place: int(dot.label.split()[0]) for place, dot in dots.items()} == places
    assert all(math.isclose(dots[at].size, 1 + math.log10(places[at])) for at in places)


# --- spread


def test_bins_hold_every_value_once() -> None:
    values = [0.05, 0.1, 0.12, 0.3, 0.55, 0.62, 0.99, 1.0, 0.25, 0.4, 0.45, 0.7]
    figure = value_figures.spread(values_of(values))
    bars = of(figure, Box)
    width = bars[0].x1 - bars[0].x0
    tallest = max(bar.y1 - bar.y0 for bar in bars)
    for bar in bars:
        assert math.isclose(bar.x0 / width, round(bar.x0 / width), abs_tol=1e-6)
        inside = sum(bar.x0 - 1e-9 <= v < bar.x1 - 1e-9 or v == bar.x1 == 1 for v in values)
        assert f": {inside} of 12 queries" in bar.label
        assert bar.y1 == 1
    counts = [int(re.findall(r": (\d+) of", bar.label)[0]) for bar in bars]
    assert sum(counts) == 12
    assert math.isclose(tallest, value_figures.TALLEST)
    [mean] = of(figure, Line)
    assert math.isclose(mean.points[0][0], sum(values) / 12)


def test_freedman_and_diaconis_choose_the_width() -> None:
    draw = random.Random(1)
    values = [draw.gauss(0.5, 0.1) for _ in range(400)]
    ordered = sorted(values)
    exact = 2 * (ordered[299] - ordered[99]) / 400 ** (1 / 3)
    bins = Bins.of(values_of(values))
    assert exact <= bins.width <= 2 * exact
    assert bins.words.endswith(", by the rule of Freedman and Diaconis.")
    assert Bins.of(values_of([0.5])).words == "Bins are 0.025 wide."  # which no rule says


def test_many_zeros_and_ones_are_counted_apart() -> None:
    values = [0.0] * 10 + [1.0] * 8 + [0.01, 0.3, 0.5, 0.51, 0.7, 0.99]
    figure = value_figures.spread(values_of(values, [0.5] * 24))
    cells = {bar.label: bar for bar in of(figure, Box) if bar.text}
    zero, one = cells["r0, exactly 0: 10 of 24"], cells["r0, exactly 1: 8 of 24"]
    assert (zero.text, zero.shade) == ("10", 10 / 24)
    assert (one.text, one.shade) == ("8", 8 / 24)
    assert figure.x.low < zero.x0 < zero.x1 < 0
    assert 1 < one.x0 < one.x1 < figure.x.high
    assert cells["r1, exactly 0: 0 of 24"].shade == 0
    bars = [bar for bar in of(figure, Box) if not bar.text]
    assert sum(int(re.findall(r": (\d+) of", bar.label)[0]) for bar in bars) == 6 + 24
    assert "; exactly 0 and exactly 1 are counted beside them." in figure.note
    alone = value_figures.spread(values_of(values))
    assert "exactly 0 on 10, exactly 1 on 8" in alone.says


def test_a_highest_value_that_is_not_round_is_counted_apart_too() -> None:
    figure = value_figures.spread(values_of([2.7] * 5 + [0.1, 0.9], limits=(0.0, 2.7)))
    assert [bar.text for bar in of(figure, Box) if bar.text] == ["5"]


def test_values_far_below_the_highest_possible_have_a_scale_of_their_own() -> None:
    low = values_of([0.01, 0.02, 0.043], [0.03, 0.0, 0.02], sense=-1)
    figure = value_figures.spread(low)
    assert figure.x.high < 0.06
    heat = value_figures.heat(low)
    assert max(box.shade for box in of(heat, Box)) == pytest.approx(0.043 / 0.045)
    assert [key.text for key in heat.keys] == ["0 to 0.045"]
    usual = values_of([0.1, 0.2, 0.43])
    assert value_figures.spread(usual).x.high >= 1
    assert max(box.shade for box in of(value_figures.heat(usual), Box)) == 0.43


@pytest.mark.parametrize("queries", [9, 90, 900, 9000])
def test_counts_of_single_values_have_room_beside_long_names(queries: int) -> None:
    values = [0.0] * (queries // 2) + [1.0] * (queries // 2) + [0.5] * (queries % 2)
    names = ["a-run-with-a-name-that-leaves-little-room"]
    figure = value_figures.spread(values_of(values, runs=names)).printed(84)
    drawn = svg.draw(figure)
    assert drawn.count(f">{queries // 2:,}</text>") == 2


def test_differences_spread_on_both_sides_of_no_change() -> None:
    apart = [-0.3, -0.1, 0.0, 0.0, 0.0, 0.2, 0.4, 0.5]
    figure = value_figures.spread(values_of(apart, baseline="old"))
    same, *bars = of(figure, Box)
    assert (same.tone, same.text, same.x1 < -0.3) == ("same", "3", True)
    for bar in bars:
        assert bar.tone == ("win" if bar.x0 + bar.x1 > 0 else "loss")
    worse = value_figures.spread(values_of(apart, baseline="old", sense=-1))
    assert Counter(bar.tone for bar in of(worse, Box))["win"] == 2


def test_a_single_query_without_a_change_is_not_drawn_as_better() -> None:
    apart = [0.0, *(i / 40 for i in range(1, 20)), -0.2]
    figure = value_figures.spread(values_of(apart, baseline="old"))
    counts: Counter[str] = Counter()
    for bar in of(figure, Box):
        counts[bar.tone] += int(re.findall(r": (\d+) of", bar.label)[0])
    assert counts == {"win": 19, "loss": 1, "same": 1}


def test_runs_that_share_the_highest_median_are_all_named() -> None:
    figure = value_figures.spread(values_of([0.1, 0.2], [0.7, 0.9], [0.8, 0.8]))
    assert figure.says == (
        "Of 3 runs, r1, r2 (0.8000) have the highest median AP over queries, r0 (0.1500) the "
        "lowest."
    )


def test_each_run_has_its_row() -> None:
    figure = value_figures.spread(values_of([0.1, 0.2, 0.3], [0.7, 0.8, 0.9], [0.4, 0.4, NAN]))
    assert figure.y.names == ("r0", "r1", "r2")
    assert {bar.y1 for bar in of(figure, Box)} == {1.0, 2.0, 3.0}
    assert figure.says == (
        "Of 3 runs, r1 (0.8000) has the highest median AP over queries, r0 (0.2000) the lowest."
    )
    assert "1 query has no value by some run: q2." in figure.note


# --- heat


def test_the_hardest_query_comes_first() -> None:
    figure = value_figures.heat(values_of([0.5, 0.0, 0.9], [0.7, 0.0, 1.0]))
    assert figure.x.names == ("q1", "q0", "q2")
    assert figure.y.names == ("r0", "r1")
    cells = [(box.query, box.x0, box.y0, box.shade, box.text) for box in of(figure, Box)]
    assert cells == [
        ("q1", 0, 0, 0.0, "0.00"), ("q0", 1, 0, 0.5, "0.50"), ("q2", 2, 0, 0.9, "0.90"),
        ("q1", 0, 1, 0.0, "0.00"), ("q0", 1, 1, 0.7, "0.70"), ("q2", 2, 1, 1.0, "1.00"),
    ]  # fmt: skip
    assert figure.says == (
        "Of 3 queries, the hardest by mean AP over 2 runs are q1 (0.0000), q0 (0.6000), "
        "q2 (0.9500); 1 query is 0 by every run."
    )


def test_none_is_hardest_where_all_are_the_same() -> None:
    same = values_of([0.5] * 3, [0.5] * 3)
    told = value_figures.heat(same).says
    assert told == "All 3 queries are the same by mean AP over 2 runs, 0.5000."
    told = value_figures.spread(same).says
    assert told == "2 runs have the same median AP over queries, 0.5000."


def test_a_query_that_a_run_has_no_value_for_is_not_0_by_every_run() -> None:
    figure = value_figures.heat(values_of([0.0, 0.0, 0.5], [0.0, NAN, 0.5]))
    assert figure.says.endswith("; 1 query is 0 by every run.")


def test_where_lower_is_better_the_highest_is_hardest() -> None:
    assert value_figures.heat(values_of([0.5, 0.0, 0.9], sense=-1)).x.names == ("q2", "q0", "q1")


def test_many_queries_are_grouped_by_how_hard_they_are() -> None:
    before, after = sample(7000)
    figure = value_figures.heat(values_of(before, after))
    cells = of(figure, Box)
    assert len(cells) == 600
    means = sorted((a + b) / 2 for a, b in zip(before, after, strict=True))
    for j in range(300):
        both = (cells[j].shade + cells[300 + j].shade) / 2
        own = means[round(cells[j].x0) : round(cells[j].x1)]
        assert math.isclose(both, sum(own) / len(own), abs_tol=1e-9)
    assert "mean of 23 or 24 of the 7,000 queries" in figure.note


def test_a_page_shows_queries_one_by_one() -> None:
    rows = values_of([i / 700 for i in range(700)])
    pages = [value_figures.heat(rows, page) for page in (1, 2, 3)]
    shown = [box.query for page in pages for box in of(page, Box)]
    assert shown == [f"q{i}" for i in range(700)]
    assert pages[2].note == "Page 3 of 3: queries 601 to 700 of 700."
    assert (pages[2].x.low, pages[2].x.high) == (600, 700)
    for page in (0, 4, "two"):
        with pytest.raises(il.UsageError, match="there is no page"):
            value_figures.heat(rows, page)  # type: ignore[arg-type]


def test_a_hundred_runs_are_bounded() -> None:
    rows = [[(i * j % 97) / 97 for i in range(500)] for j in range(100)]
    figure = value_figures.heat(values_of(*rows))
    assert len(figure.marks) == value_figures.MOST_CELLS
    assert len(svg.draw(figure)) < 300_000
    assert len(value_figures.spread(values_of(*rows)).marks) < 5000


def test_cells_without_limits_are_shaded_by_the_largest() -> None:
    figure = value_figures.heat(values_of([-2.0, 4.0, NAN], limits=(-math.inf, math.inf)))
    cells = {box.query: (box.shade, box.tone) for box in of(figure, Box)}
    assert cells == {"q0": (-0.5, "accent"), "q1": (1.0, "accent")}
    assert [key.text for key in figure.keys] == ["0 to 4", "0 to -4"]
    row = values_of([0.5, NAN], [0.2, 0.4])
    [empty] = [box for box in of(value_figures.heat(row), Box) if math.isnan(box.shade)]
    assert empty.label == "r0, q1: no value"


# --- all of them


@pytest.mark.parametrize("n", [0, 1, 2, 30, 301, 7000])
def test_any_number_of_queries(n: int) -> None:
    pair = pair_of(*sample(n))
    for figure in all_figures(pair):
        check(figure)
        assert len(figure.rows.rows) == n


@pytest.mark.parametrize("value", [0.0, 1.0, 0.3, -2.5, 1e-300, 1e12])
@pytest.mark.parametrize("n", [1, 30])
def test_all_equal_values(value: float, n: int) -> None:
    pair = pair_of([value] * n, [value] * n)
    for figure in all_figures(pair):
        check(figure)
    assert "is the same as old on" in pair.standing


@pytest.mark.parametrize("seed", range(5))
def test_sentences_are_true_of_random_data(seed: int) -> None:
    before, after = sample(25 + seed, seed)
    apart = np.subtract(after, before)
    told = query_figures.scatter(pair_of(before, after)).says
    assert f"largest win q{np.argmax(apart)} ({apart.max():+.4f})" in told
    lowest = [f"q{i}" for i in np.flatnonzero(apart == apart.min())]
    assert any(f"largest loss {name} ({apart.min():+.4f})" in told for name in lowest)
    told = value_figures.spread(values_of(before)).says
    low, middle, high = np.quantile(before, [0.25, 0.5, 0.75])
    assert f"median {middle:.4f}, quartiles {low:.4f} and {high:.4f}" in told
    assert f"exactly 0 on {np.equal(before, 0).sum()}, exactly 1 on" in told
    told = value_figures.heat(values_of(before, after)).says
    means = np.mean([before, after], axis=0)
    order = np.argsort(means, kind="stable")[:3]
    assert ", ".join(f"q{i} ({means[i]:.4f})" for i in order) in told
    nothing = int(np.sum(np.maximum(before, after) == 0))
    assert (f"{nothing} quer" in told.partition(";")[2]) == (nothing > 0)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(*[st.floats(-3, 3) | st.just(NAN) | st.integers(0, 1).map(float)] * 2)),
    st.sampled_from([-1, 0, 1]),
)
def test_any_values(values: list[tuple[float, float]], sense: int) -> None:
    pair = pair_of([a for a, _ in values], [b for _, b in values], sense=sense)
    for figure in all_figures(pair):
        check(figure)
    ahead = [(b - a) * (sense or 1) for a, b in values if not math.isnan(b - a)]
    better, worse, same = (
        sum(d > 0 for d in ahead), sum(d < 0 for d in ahead), sum(d == 0 for d in ahead)
    )  # fmt: skip
    told = query_figures.differences(pair).says
    if ahead and same < len(ahead):
        words = ("better", "worse") if sense else ("higher", "lower")
        assert f"new is {words[0]} than old on {better} of {len(ahead)} quer" in told
        assert (f"{words[1]} on {worse}" in told) == (worse > 0)
        assert (f"the same on {same}" in told) == (same > 0)
    undefined = len(values) - len(ahead)
    assert (f"{undefined} quer" in pair.left_out) == (undefined > 0)


def test_numbers_that_are_too_large_break_nothing() -> None:
    pair = pair_of([1e308, -1e308, 0.5], [-1e308, 1e308, math.inf])
    for figure in all_figures(pair):
        svg.draw(figure)
        figure.to_json()


def check(figure: Figure) -> None:
    """Every mark lies within the axes and is finite; the words are one sentence."""
    tiny = 1e-9 * max(1.0, abs(figure.x.high), abs(figure.y.high), abs(figure.y.low))
    wide = len(figure.x.names) or figure.x.high
    for mark in figure.marks:
        for x, y in places(mark):
            assert figure.x.low - tiny <= x <= wide + tiny, mark
            assert figure.y.low - tiny <= y <= figure.y.high + tiny, mark
    assert figure.says.endswith(".")
    assert "nan" not in figure.says + figure.note
    assert figure.x.low < figure.x.high
    assert figure.y.low < figure.y.high
    if len(figure.rows.rows) < 100:
        figure.to_json()
        figure.render("csv")


def places(mark: Any) -> list[tuple[float, float]]:
    match mark:
        case Box():
            assert mark.x0 <= mark.x1
            assert mark.y0 <= mark.y1
            assert mark.shade is None or not abs(mark.shade) > 1
            return [(mark.x0, mark.y0), (mark.x1, mark.y1)]
        case Dot() | Note():
            return [(mark.x, mark.y)]
        case Line():
            return list(mark.points)
        case Area():
            return [(x, y) for x, low, high in mark.points for y in (low, high)]
    raise AssertionError(mark)


def test_hostile_names_are_kept_and_long_ones_cut() -> None:
    pair = pair_of(*sample(len(HOSTILE)), queries=HOSTILE, texts={HOSTILE[0]: "y" * 5000})
    for figure in all_figures(pair):
        assert sorted(row[0] for row in figure.rows.rows) == sorted(HOSTILE)
        assert all(len(mark.label) < 600 for mark in figure.marks)
        assert all("\n" not in mark.label for mark in figure.marks)
        assert {mark.query for mark in figure.marks} <= {"", *HOSTILE}
        assert "\u202e" not in svg.draw(figure)
        drawn = ElementTree.fromstring(svg.draw(figure, link=lambda query: f"#{query}"))
        assert {part.tag.rpartition("}")[2] for part in drawn.iter()} <= {
            "svg", "title", "desc", "style", "path", "text", "tspan", "g", "a",
        }  # fmt: skip


# --- of results


def judged(n: int = 8) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, list[str]]]]:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(n)}
    old = {query: ["x", "a"] for query in qrels}
    new = {query: ["a", "x"] if i % 2 else ["x", "y", "a"] for i, query in enumerate(qrels)}
    return qrels, {"old": old, "new": new}


def test_results_make_figures() -> None:
    qrels, runs = judged()
    found = il.compare(qrels, runs, ["RR", "AP"])
    figure = found.figure("differences", measure="AP", run="new", texts={"q1": "one"})
    pair = found.pair("new", measure="AP")
    bars = [box for box in of(figure, Box) if box.query]
    assert {box.query: box.y0 + box.y1 for box in bars} == {
        query: row["difference"] for query, row in pair.by_query().items()
    }
    assert "q1 (one): " in bars[0].label
    [band] = of(figure, Area)
    assert band.points[0][1:] == pair.ci
    assert [row[1:] for row in found.figure("scatter").rows.rows[:1]] == [(0.5, 1.0, 0.5)]
    assert found.figure("spread").x.label == "difference in RR from old"
    assert found.figure("heat").y.names == ("old", "new")


def test_an_evaluation_makes_figures() -> None:
    qrels, runs = judged()
    one = il.evaluate(qrels, runs["new"], ["RR", "NumRet"], queries=[*qrels])
    assert one.figure("spread").rows.headers == ["query", one.run]
    assert one.figure("heat", measure="NumRet").title.startswith(
        "NumRet of every run and query, lowest"
    )
    with pytest.raises(il.UsageError, match="there is no run 'nwe'"):
        one.figure("spread", run="nwe")


def test_pairs_are_chosen_by_name() -> None:
    qrels, runs = judged()
    runs["third"] = runs["old"]
    found = il.compare(qrels, runs, "RR", baseline="new")
    assert found.figure("differences").title == "RR: old − new, query by query"
    assert found.figure("differences", run="third").title == "RR: third − new, query by query"
    with pytest.raises(il.UsageError, match="was not compared with"):
        found.figure("scatter", run="old", baseline="third")
    with pytest.raises(il.UsageError, match="was not compared with"):
        found.figure("scatter", baseline="nobody")
    every = il.compare(qrels, runs, "RR", all_pairs=True)
    assert len(every.figure("spread").y.names) == 3


def test_queries_without_a_value_are_named() -> None:
    qrels, runs = judged()
    found = il.compare(qrels | {"q8": {"a": 0}}, runs, "nDCG", no_relevant="nan")
    assert "q8" in found.figure("differences").note
    assert "q8" in found.figure("spread").note


def test_runs_that_are_named_like_columns_keep_their_values() -> None:
    for texts in ({}, {"q0": "words"}):
        names = ["query", "mean", "text"]
        values = values_of([0.1, 0.2], [0.3, 0.4], [0.5, 0.6], runs=names, texts=texts)
        rows = value_figures.heat(values).data()["rows"]
        assert [row["query"] for row in rows] == ["q0", "q1"]
        for row, own in zip(rows, ([0.1, 0.3, 0.5], [0.2, 0.4, 0.6]), strict=True):
            assert [x for x in row.values() if isinstance(x, float)][1:] == own
        assert value_figures.spread(values).data()["rows"][0]["mean"] == 0.3


def test_names_of_several_lines_stay_on_one() -> None:
    qrels, runs = judged()
    found = il.compare(qrels, {f"{name}\nb": run for name, run in runs.items()}, "RR")
    for figure in map(found.figure, ("differences", "scatter", "spread", "heat")):
        assert "\n" not in figure.says + figure.title + figure.x.label + figure.y.label


def test_nothing_measured_is_not_zero() -> None:
    qrels, runs = judged()
    runs["other"] = {query: ["nowhere"] for query in qrels}
    found = il.compare(qrels, runs, "RR")
    lost = found.figure("differences", run="other")
    assert lost.says == "No query has a value of RR by both old and other."
    assert not [mark for mark in lost.marks if mark.query]
    rows = {row[0]: row[1:] for row in found.figure("heat").rows.rows}
    assert all(math.isnan(row[-1]) for row in rows.values())
    assert not any(math.isnan(value) for row in rows.values() for value in row[:-1])
    assert len(found.figure("spread").y.names) == 2


def test_weights_are_said() -> None:
    qrels, runs = judged()
    weights = {query: 1.0 + i for i, query in enumerate(qrels)}
    found = il.compare(qrels, runs, "RR", weights=weights)
    assert "weighted mean difference" in found.figure("differences").says
    keys = [found.evaluations[0].figure("spread"), found.figure("spread")]
    assert all(figure.keys[-1].text == "mean without weights" for figure in keys)


def test_few_queries_have_no_interval() -> None:
    figure = il.compare(*judged(4), "RR").figure("differences")
    assert not of(figure, Area)
    assert "interval" not in figure.says
    assert "mean difference" in figure.says
