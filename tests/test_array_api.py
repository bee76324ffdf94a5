"""Formulas use nothing but the array API standard."""

from __future__ import annotations

import random

import array_api_strict
import numpy as np
import pytest

import idealist as il
from generated import some_case, some_measure
from idealist.errors import UsageError
from idealist.lists import lists_of
from idealist.measures import MEASURES
from idealist.protocol import Protocol


@pytest.mark.parametrize("name", [name for name in MEASURES if name != "UDCG"])
def test_every_formula_runs_on_strict_arrays(name: str) -> None:
    ran = 0
    for seed in range(60):
        rng = random.Random(seed)
        measure = some_measure(rng, name).filled()
        ties = "expected" if measure.averages_ties and seed % 2 else "docid-desc"
        qrels, rows = some_case(rng)
        protocol = Protocol(ties=ties)
        placements = il.rank(il.read_qrels(qrels), il.read_run(rows), [protocol])[protocol]
        for _, lists in placements.lists:
            try:
                wanted = measure.formula(lists)
            except UsageError:
                continue
            found = measure.formula(lists.to(array_api_strict))
            np.testing.assert_array_equal(np.asarray(found), wanted)
            ran += 1
    assert ran


def test_udcg_runs_on_strict_arrays() -> None:
    lists = lists_of([1, 0, None], abstain=[0.1, 0.4, 0.9])
    measure = il.UDCG().filled()
    found = measure.formula(lists.to(array_api_strict))
    np.testing.assert_array_equal(np.asarray(found), measure.formula(lists))
