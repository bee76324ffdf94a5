"""Where nothing differs, tests say so as often as they promise; slow, so on request only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import type_one
from type_one import Rate

slow = pytest.mark.skipif(not os.environ.get("IDEALIST_SLOW"), reason="set IDEALIST_SLOW=1")


def too_high(rates: list[Rate], what: str, allowed: float = 0.0) -> list[Rate]:
    """Give the rates that are above alpha by more than chance and what is allowed."""
    return [r for r in rates if r.what == what and r.share > r.alpha + allowed + r.band]


@slow
def test_randomisation_and_t_keep_their_promise(data: Path) -> None:
    rates = list(type_one.two_systems(tests=("t", "randomisation")))
    assert len(rates) == 2 * 3 * 2 * 2
    assert not too_high(rates, "randomisation")
    assert not too_high(rates, "t", allowed=0.01)
    assert not [r for r in rates if r.what == "t" and r.share < r.alpha - 0.01 - r.band]


@slow
def test_tukey_keeps_its_promise_under_full_and_partial_nulls(data: Path) -> None:
    rates = list(type_one.many_systems())
    assert {r.what for r in rates} == set(type_one.NULLS)
    assert not [r for what in type_one.NULLS for r in too_high(rates, what)]


@slow
def test_max_t_and_holm_keep_their_promise(data: Path) -> None:
    rates = list(type_one.against_one())
    assert not too_high(rates, "MaxT")
    assert not too_high(rates, "Holm on t", allowed=0.01)


def test_the_study_runs_and_draws(data: Path) -> None:
    rates = list(type_one.two_systems(40, ("randomisation",)))
    assert not too_high(rates, "randomisation")
    assert type_one.table(rates).count("\n") == 1 + 2 * 3
