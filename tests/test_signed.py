"""Signed nDCG: between the worst list and the best, whatever the grades."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il

GRADES = st.lists(st.integers(-2, 3), min_size=1, max_size=7)


@given(GRADES, st.sampled_from([None, 1, 3]), st.sampled_from(["linear", "exp2"]))
@settings(max_examples=200, deadline=None)
def test_the_best_list_is_1_and_the_worst_0(grades: list[int], k: int | None, gain: str) -> None:
    measure = il.nDCGMinMax(gain=gain, cutoff=k)
    better = sorted((grade for grade in grades if grade > 0), reverse=True)
    worse = sorted(grade for grade in grades if grade < 0)
    rest = [grade for grade in grades if grade == 0]
    if better or worse:
        assert measure(better, judged=[*worse, *rest]) == pytest.approx(1, abs=1e-12)
        assert measure(worse, judged=[*better, *rest]) == pytest.approx(0, abs=1e-12)
        assert measure(grades) == pytest.approx(measure(grades, judged=[0]), abs=1e-12)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=7), st.sampled_from([None, 1, 3]))
@settings(max_examples=200, deadline=None)
def test_without_negative_grades_it_is_ndcg(grades: list[int], k: int | None) -> None:
    assert il.nDCGMinMax(cutoff=k)(grades) == pytest.approx(il.nDCG(cutoff=k)(grades), abs=1e-12)


def test_harm_counts_where_ndcg_looks_away() -> None:
    harmful, harmless = [-2, 1, 0], [0, 1, -2]
    assert il.nDCG()(harmful) == il.nDCG()(harmless)
    assert il.nDCGMinMax()(harmful) < il.nDCGMinMax()(harmless)
