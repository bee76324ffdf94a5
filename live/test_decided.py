"""A verdict that is decided is never turned: 10,000 cases, each with every grade there could be."""

from __future__ import annotations

import random

import pytest

from decided_cases import some_decided_case
from test_decisive import check_decided

CASES, PARTS = 10_000, 20


@pytest.mark.parametrize("part", range(PARTS))
def test_decided_is_never_wrong(part: int) -> None:
    rng = random.Random(1000 + part)
    decided = sum(check_decided(some_decided_case(rng)) for _ in range(CASES // PARTS))
    assert decided > CASES / PARTS / 5
