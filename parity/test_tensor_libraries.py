"""Measures of tensors: PyTorch and JAX, eager and compiled, without waiting for a device."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from generated import PLAIN, some_measure
from idealist.errors import UsageError
from idealist.measures import Measure
from idealist.tensors import values
from tensor_cases import Case, some_batch

pytestmark = pytest.mark.filterwarnings("ignore::idealist.tensors.DoubtWarning")

LIBRARIES: dict[str, Any] = {"torch": torch.tensor, "jax": jnp.asarray}


def cases(name: str, count: int) -> Iterator[tuple[Measure, Case, dict[str, Any], Any]]:
    """Give measures, batches, rules, and what NumPy computes of them."""
    for seed in range(count):
        rng = random.Random(f"{name} {seed}")
        measure, case = some_measure(rng, name), some_batch(rng, nan=seed % 5 == 0)
        ties = ["input", "input-reversed", "worst", "best"]
        ties += ["expected"] * 3 if measure.averages_ties else []
        rules: dict[str, Any] = {
            "ties": rng.choice(ties),
            "nonfinite": "last" if seed % 5 == 0 else "error",
        }
        with suppress(UsageError):  # parameters and grades that do not go together
            yield (
                measure,
                case,
                rules,
                values(measure, case.scores, case.labels, **case.more, **rules),
            )


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", PLAIN)
def test_every_measure_on_tensors(name: str, library: str) -> None:
    tried = 0
    make = LIBRARIES[library]
    with jax.enable_x64(True):  # so that JAX gets the scores as they are
        for measure, case, rules, wanted in cases(name, 30):
            found = values(measure, make(case.scores), make(case.labels), **case.more, **rules)
            assert isinstance(found, (torch.Tensor, jax.Array))
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12)
            tried += 1
    assert tried > 15
