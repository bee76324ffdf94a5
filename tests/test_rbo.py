"""Rank-biased overlap: published values, laws, and every way that two short rankings may go on."""

from __future__ import annotations

import itertools
import random
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from idealist.comparing.order_agreement import TIES

X = {"red": 5, "blue": 4, "green": 4, "yellow": 2, "pink": 1}
Y = {"blue": 5, "red": 5, "white": 4, "yellow": 3, "black": 3, "purple": 3, "green": 1}

#: What Corsi and Urbano publish for X and Y with p = 0.95: ext, min, max and res.
PUBLISHED = {
    "a": (0.6922853, 0.3310519, 0.8930692, 0.5620173),
    "w": (0.7068257, 0.3429684, 0.9049857, 0.5620173),
    "b": (0.7207131, 0.3509163, 0.9129336, 0.5620173),
}


@pytest.mark.parametrize("ties", TIES)
def test_ties_as_they_were_published(ties: str) -> None:
    found = il.rbo(X, Y, p=0.95, ties=ties)
    values = (found.ext, found.min, found.max, found.res)
    assert values == pytest.approx(PUBLISHED[ties], abs=5e-8)


#: Two rankings, p, and what the package rbo 0.1.3 computes as rbo_ext.
RECORDED = [
    ("abcdefg", "bacdefg", 0.9, 0.9),
    ("abcdefg", "bxay", 0.9, 0.4635),
    ("abcdefg", "ca", 0.8, 0.5330224761904762),
    ("abcdefg", "zyx", 0.98, 0.0),
    ("abcdefg", "acxbydefzgk", 0.95, 0.8344924503509685),
]


@pytest.mark.parametrize(("a", "b", "p", "wanted"), RECORDED)
def test_extrapolation_as_recorded(a: str, b: str, p: float, wanted: float) -> None:
    assert il.rbo(list(a), list(b), p).ext == pytest.approx(wanted, abs=1e-12)


@st.composite
def rankings(draw: st.DrawFn, least: int = 1) -> dict[str, int]:
    ids = draw(st.lists(st.sampled_from("abcdefghij"), min_size=least, max_size=10, unique=True))
    return {d: draw(st.integers(0, 6)) for d in ids}


@given(rankings(), rankings(), st.sampled_from([0.3, 0.9, 0.99]), st.sampled_from(TIES))
@settings(max_examples=300, deadline=None)
def test_bounds_hold_and_order_does_not_matter(a: Any, b: Any, p: float, ties: str) -> None:
    found, other = il.rbo(a, b, p, ties=ties), il.rbo(b, a, p, ties=ties)
    assert (found.min, found.res, found.ext) == pytest.approx((other.min, other.res, other.ext))
    assert -1e-12 <= found.min <= found.ext + 1e-12
    assert found.ext <= found.max + 1e-12
    assert found.max <= 1 + 1e-12


@given(rankings(), st.sampled_from([0.3, 0.9, 0.99]))
@settings(max_examples=200, deadline=None)
def test_a_ranking_agrees_with_itself(a: dict[str, int], p: float) -> None:
    untied = list(a)
    for ties in TIES:
        assert il.rbo(untied, untied, p, ties=ties).ext == pytest.approx(1, abs=1e-12)
    for ties in ("w", "b"):
        assert il.rbo(a, a, p, ties=ties).ext == pytest.approx(1, abs=1e-12)
    assert il.rbo(untied, [f"{d}'" for d in untied], p).ext == 0


@given(rankings(), rankings(), st.sampled_from([0.5, 0.9]))
@settings(max_examples=60, deadline=None)
def test_uncertain_ties_give_the_mean_over_all_orders(a: Any, b: Any, p: float) -> None:
    """Of what is known; beyond it, the mean of products is not the product of means."""
    a, b = (dict(list(one.items())[:5]) for one in (a, b))
    every = [il.rbo(one, other, p).min for one in orders(a) for other in orders(b)]
    assert il.rbo(a, b, p, ties="a").min == pytest.approx(fmean(every), abs=1e-12)


def orders(ranking: dict[str, int]) -> list[list[str]]:
    scores = sorted(set(ranking.values()), reverse=True)
    groups = [[d for d in ranking if ranking[d] == score] for score in scores]
    mixed = itertools.product(*(itertools.permutations(group) for group in groups))
    return [[d for group in one for d in group] for one in mixed]


def extensions(ranking: list[str], length: int, items: list[str]) -> list[list[str]]:
    left = [d for d in items if d not in ranking]
    return [[*ranking, *more] for more in itertools.permutations(left, length - len(ranking))]


def infinite(a: list[str], b: list[str], p: float, agree: bool) -> float:
    """Sum plainly to a depth where nothing is left; beyond the lists all is in common, or none."""
    total = 0.0
    for d in range(1, 400):
        common = len(set(a[:d]) & set(b[:d])) + (max(d - len(a), 0) if agree else 0)
        total += (1 - p) * p ** (d - 1) * common / d
    return total


@pytest.mark.parametrize("seed", range(12))
def test_no_way_to_go_on_leaves_the_bounds(seed: int) -> None:
    """Extend two rankings in all ways until they can be complete, and on for better or worse."""
    rng = random.Random(seed)
    a, b = (rng.sample("abc", rng.randint(1, 3)) for _ in range(2))
    found = il.rbo(a, b, 0.7)
    items = ["a", "b", "c", "x", "y", "z"]
    length = len(a) + len(b) - len(set(a) & set(b))
    ways = list(
        itertools.product(extensions(a, length, items), extensions(b, length, [*items, "w"]))
    )
    assert min(infinite(*way, 0.7, agree=False) for way in ways) == pytest.approx(found.min)
    assert max(infinite(*way, 0.7, agree=True) for way in ways) == pytest.approx(found.max)


def by_document(
    one: dict[str, int] | list[str], other: dict[str, int] | list[str], p: float, ties: str
) -> tuple[float, float]:
    """Compute `min` and `ext` from the definition: every document at every depth."""

    def spans(ranking: Any) -> dict[str, tuple[int, int]]:
        scores = ranking if isinstance(ranking, dict) else {d: -i for i, d in enumerate(ranking)}
        above = {d: sum(s > scores[d] for s in scores.values()) for d in scores}
        return {d: (above[d] + 1, above[d] + sum(s == scores[d] for s in scores.values()))
                for d in scores}  # fmt: skip

    def among(span: tuple[int, int], depth: int) -> float:
        share = (depth - span[0] + 1) / (span[1] - span[0] + 1)
        return float(share > 0) if ties == "w" else min(max(share, 0.0), 1.0)

    short, long = sorted((spans(one), spans(other)), key=len)
    s, n, common, norm, new = len(short), len(long), [], [], []
    for d in range(1, n + 1):
        shared = [among(short[x], d) * among(long[x], d) for x in short if x in long]
        own = [among(span, d) for span in short.values()] + [1.0] * max(d - s, 0)
        others = [among(span, d) for span in long.values()]
        alone = [among(span, d) for x, span in long.items() if x not in short]
        common.append(sum(shared))
        squares = (sum(x * x for x in own) * sum(x * x for x in others)) ** 0.5
        norm.append({"a": d, "w": (sum(own) + sum(others)) / 2, "b": squares}[ties])
        new.append(sum(alone) / max(sum(x > 0 for x in alone), 1))
    alike, weights = common[s - 1] / norm[s - 1], [(1 - p) * p**d for d in range(n)]
    least = sum(w * x / m for w, x, m in zip(weights, common, norm, strict=True))
    rest = (1 - p) / p * sum(p**d / d for d in range(n + 1, 4000)) * common[-1]
    more = [
        x + max(d - s, 0) * alike * y for d, (x, y) in enumerate(zip(common, new, strict=True), 1)
    ]
    likely = sum(w * x / m for w, x, m in zip(weights, more, norm, strict=True))
    return least + rest, likely + p**n * (common[-1] + (n - s) * alike) / n


@pytest.mark.parametrize("seed", range(40))
def test_counting_by_depth_is_the_sum_over_documents(seed: int) -> None:
    rng = random.Random(seed)
    levels = rng.choice([1, 2, 4, 100])  # many ties, or few
    one, other = (
        {f"d{d}": rng.randint(0, levels) for d in rng.sample(range(60), rng.randint(1, 40))}
        for _ in range(2)
    )
    for ties, p in itertools.product(TIES, (0.5, 0.95)):
        found = il.rbo(one, other, p, ties=ties)
        wanted = by_document(one, other, p, ties)
        assert (found.min, found.ext) == pytest.approx(wanted, rel=1e-12, abs=1e-13)
        untied = il.rbo(list(one), list(other), p, ties=ties)
        wanted = by_document(list(one), list(other), p, ties)
        assert (untied.min, untied.ext) == pytest.approx(wanted, rel=1e-12, abs=1e-13)


def test_runs_are_compared_by_query() -> None:
    a = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}, "q3": {"d1": 1.0}}
    b = {"q3": {"d2": 1.0}, "q1": {"d2": 2.0, "d1": 1.0}}
    found = il.rbo_by_query(a, b, 0.5)
    assert list(found) == ["q1", "q3"]
    assert found["q1"] == il.rbo(a["q1"], b["q1"], 0.5)
    assert found["q3"].ext == 0
    cut = il.rbo_by_query(a, b, 0.5, depth=1)
    assert cut["q1"].ext == 0
    assert cut["q1"] == il.rbo(["d1"], ["d2"], 0.5)


def test_a_tie_is_cut_where_the_ranking_is() -> None:
    run = {"q": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}
    assert il.rbo_by_query(run, run, depth=2)["q"] == il.rbo({"d3": 1, "d2": 1}, {"d3": 1, "d2": 1})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["a"], [], 0.9), "empty"),
        ((["a"], ["a"], 1), "p cannot be 1"),
        ((["a"], ["a"], 0), "p cannot be 0"),
        (({"a": 1}, {}, 0.9), "empty"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments: Any, words: str) -> None:
    with pytest.raises(il.IdealistError, match=words):
        il.rbo(*arguments)


def test_unknown_ties_depths_and_repeats_are_refused() -> None:
    with pytest.raises(il.UsageError, match="depth cannot be 0"):
        il.rbo_by_query({"q": ["a"]}, {"q": ["a"]}, depth=0)
    with pytest.raises(il.UsageError, match="ties cannot be 'c'"):
        il.rbo(["a"], ["a"], ties="c")
    with pytest.raises(il.InputError) as caught:
        il.rbo(["a", "a"], ["a"])
    assert caught.value.code == "duplicate"
