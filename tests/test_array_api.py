"""Formulas use nothing but the array API standard."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

import idealist as il
from effort import tries
from generated import PLAIN, some_lists
from idealist.ranking.padded_lists import padded


@pytest.mark.parametrize("name", PLAIN)
def test_every_formula_runs_on_strict_arrays(name: str) -> None:
    cases = list(some_lists(name, tries(25, 60)))
    assert cases
    for measure, lists, wanted in cases:
        found = measure.formula(lists.to(array_api_strict))
        np.testing.assert_array_equal(np.asarray(found), wanted)


def test_udcg_runs_on_strict_arrays() -> None:
    lists = padded([1, 0, None], abstain=[0.1, 0.4, 0.9])
    measure = il.UDCG().filled()
    found = measure.formula(lists.to(array_api_strict))
    np.testing.assert_array_equal(np.asarray(found), measure.formula(lists))
