"""Measures of arrays are those of the judgments and runs that the arrays stand for."""

from __future__ import annotations

import random
from contextlib import suppress

import array_api_strict
import numpy as np
import pytest

import idealist as il
from generated import PLAIN, some_measure
from idealist.conventions import CONVENTIONS
from idealist.errors import IdealistError, UsageError
from idealist.tensors import values
from tensor_cases import AXES, some_batch


@pytest.mark.filterwarnings("ignore::idealist.tensors.DoubtWarning")
@pytest.mark.parametrize("name", PLAIN)
def test_every_measure_is_that_of_evaluate(name: str) -> None:
    """Bit for bit, with ties, padding, empty rows, and every axis that needs no ids."""
    tried = 0
    for seed in range(60):
        rng = random.Random(f"{name} {seed}")
        measure = some_measure(rng, name)
        axes = {key: rng.choice(some) for key, some in AXES.items() if rng.random() < 0.4}
        case = some_batch(rng, nan=axes.get("nonfinite") == "last")
        if not case.qrels:
            continue
        rules = {"ties": "input", "grades": "keep"} | axes
        if measure.averages_ties and rng.random() < 0.3 and rules.get("depth", "none") == "none":
            rules["ties"] = "expected"
        try:
            wanted = case.evaluated(measure, **rules)
        except UsageError as error:
            with pytest.raises(UsageError) as mine:
                values(measure, case.scores, case.labels, **case.more, **rules)
            assert str(mine.value) == str(error)
            continue
        found = values(measure, case.scores, case.labels, **case.more, **rules)
        np.testing.assert_array_equal(found, wanted, err_msg=f"{measure} {rules} {case}")
        tried += 1
    assert tried > 20


#: Tools that see a list and its labels, and no more.
LIST_WISE = [
    "sklearn",
    "torchmetrics",
    "lightgbm",
    "xgboost",
    "catboost",
    "rax",
    "tf-ranking",
    "phoenix",
]


@pytest.mark.filterwarnings("ignore::idealist.tensors.DoubtWarning")
@pytest.mark.parametrize("tool", LIST_WISE)
def test_every_convention_of_list_wise_tools(tool: str) -> None:
    """Ties that a tool shuffles, or says nothing of, keep the order of the input in both."""
    tried = 0
    for name in sorted(CONVENTIONS[tool].measures or ()):
        for seed in range(40):
            rng = random.Random(f"{tool} {name} {seed}")
            case = some_batch(rng)
            measure = il.parse(name)
            if measure.takes_cutoff and rng.random() < 0.6:
                measure = measure @ rng.choice([1, 3, 10])
            if not case.qrels:
                continue
            by_id = (
                CONVENTIONS[tool].instrument(measure).protocol.ties.startswith(("docid", "random"))
            )
            rules = {"convention": tool, "ties": "input" if by_id else None}
            try:
                wanted = case.evaluated(measure, **rules)
            except IdealistError:
                with pytest.raises(IdealistError):
                    values(measure, case.scores, case.labels, **case.more, **rules)
                continue
            found = values(measure, case.scores, case.labels, **case.more, convention=tool)
            np.testing.assert_array_equal(found, wanted, err_msg=f"{measure} {case}")
            tried += 1
    assert tried > 60


@pytest.mark.filterwarnings("ignore::idealist.tensors.DoubtWarning")
@pytest.mark.parametrize("name", PLAIN)
def test_any_library_that_follows_the_standard(name: str) -> None:
    for seed in range(25):
        rng = random.Random(f"{name} {seed}")
        measure, case = some_measure(rng, name), some_batch(rng)
        ties = rng.choice(["input", "worst", *(["expected"] if measure.averages_ties else [])])
        with suppress(UsageError):  # parameters and grades that do not go together
            wanted = values(measure, case.scores, case.labels, **case.more, ties=ties)
            arrays = array_api_strict.asarray(case.scores), array_api_strict.asarray(case.labels)
            found = values(measure, *arrays, **case.more, ties=ties)
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12)
