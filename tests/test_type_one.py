"""Where nothing differs, tests say so as often as they promise; slow, so on request only."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import type_one
from effort import SLOW
from type_one import Rate


def shown(rates: Iterable[Rate]) -> list[Rate]:
    """Print the table of the docs, which `make study` lets through."""
    listed = list(rates)
    print(f"\n{type_one.table(listed)}")
    return listed


def too_high(rates: list[Rate], what: str, allowed: float = 0.0) -> list[Rate]:
    """Give the rates that are above alpha by more than chance and what is allowed."""
    return [r for r in rates if r.what == what and r.share > r.alpha + allowed + r.band]


@SLOW
def test_randomisation_and_t_keep_their_promise(data: Path) -> None:
    rates = shown(type_one.two_systems())
    assert len(rates) == 2 * 3 * 2 * 5
    assert not too_high(rates, "randomisation")
    assert not too_high(rates, "t", allowed=0.01)
    assert not [r for r in rates if r.what == "t" and r.share < r.alpha - 0.01 - r.band]


@SLOW
def test_tukey_keeps_its_promise_under_full_and_partial_nulls(data: Path) -> None:
    rates = shown(type_one.many_systems())
    assert {r.what for r in rates} == set(type_one.NULLS)
    assert not [r for what in type_one.NULLS for r in too_high(rates, what)]


@SLOW
def test_max_t_and_holm_keep_their_promise(data: Path) -> None:
    rates = shown(type_one.against_one())
    assert not too_high(rates, "MaxT")
    assert not too_high(rates, "Holm on t", allowed=0.01)


def test_the_study_runs_and_draws(data: Path) -> None:
    rates = list(type_one.two_systems(40, ("randomisation",)))
    assert not too_high(rates, "randomisation")
    assert type_one.table(rates).count("\n") == 1 + 2 * 3


@SLOW
def test_randomisation_and_t_are_near_their_level_where_differences_are_skewed(data: Path) -> None:
    rates = shown(type_one.asymmetric())
    enough = [r for r in rates if r.n >= 20]
    assert not too_high(enough, "randomisation", allowed=0.025)
    assert not too_high(rates, "t", allowed=0.02)
    few = [r for r in rates if (r.where, r.n, r.what) == (type_one.ALIKE, 10, "randomisation")]
    assert few[0].share > 0.1  # why verdicts on fewer than 20 queries call p rough


@SLOW
def test_weighted_intervals_cover_and_the_gate_seldom_fails_falsely(data: Path) -> None:
    rates = shown(type_one.weighted())
    assert len(rates) == 5 * 3 * 3 * 3
    missed = [r for r in rates if r.what.startswith("miss")]
    assert not [r for r in missed if abs(r.share - 0.05) > 0.01 + r.band]
    assert not [r for r in rates if r.what.startswith("FAIL") and r.share > 0.055 + r.band]
    assert not [r for r in rates if r.what.startswith("find") and r.share > 0.06 + r.band]


@SLOW
def test_the_gate_seldom_fails_falsely_where_few_queries_change(data: Path) -> None:
    rates = shown(type_one.few_changes())
    assert not [r for r in rates if r.what == "the gate" and r.share > 0.055]
    assert any(r.share > 0.06 for r in rates if r.what == "t alone")
