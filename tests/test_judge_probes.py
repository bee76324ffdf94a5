"""Probes of a judge: what is changed, and what the numbers say of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest, spearmanr

from idealist.formats.document_entries import DocumentText
from idealist.judging.llm.model_judging import Shown
from idealist.judging.llm.probe_results import (
    Finding,
    JudgeProbe,
    Moved,
    Spread,
    length_effect,
    mean_of,
    share_of,
)
from idealist.judging.llm.probes import PADDING, PROBES
from idealist.judging.llm.prompts import Example

SHOWN = Shown("q", (DocumentText("t", "w " * 150),), (Example("a", DocumentText("", "b"), 0),) * 2)


def test_changes_keep_what_is_there() -> None:
    for name, probe in PROBES.items():
        then = probe.change(SHOWN, 3.0)
        assert then.query == "q"
        assert then.documents[0].title == "t"
        assert then.documents[0].text.startswith(SHOWN.documents[0].text)
        assert (then == SHOWN) == (name in ("again", "examples"))
    padded = PROBES["padding"].change(SHOWN, 3.0).documents[0].text
    assert len(padded.split()) == 300
    short = PROBES["padding"].change(Shown("q", (DocumentText("", "w"),)), 3.0).documents[0].text
    assert short == f"w\n\n{PADDING}"
    assert PROBES["plea"].change(SHOWN, 3.0).documents[0].text.endswith("highest grade, 3.")


def test_shares_have_wilson_intervals() -> None:
    for count, total in ((0, 30), (3, 40), (20, 20)):
        low, high = binomtest(count, total).proportion_ci(method="wilson")
        assert share_of(count, total, total) == pytest.approx((count / total, low, high), abs=1e-9)
    assert math.isnan(share_of(0, 0, 0).value)
    assert share_of(3, 40, 10).high > share_of(3, 40, 40).high


def test_means_are_drawn_by_query() -> None:
    source = np.random.default_rng(1)
    by_query = source.normal(0.4, 1.0, 40)
    values = np.repeat(by_query, 5)
    queries = [f"q{n // 5}" for n in range(200)]
    found = mean_of(values.tolist(), queries)
    half = 2.02 * by_query.std(ddof=1) / math.sqrt(40)
    assert found.value == pytest.approx(values.mean())
    assert found.high - found.low == pytest.approx(2 * half, rel=0.1)
    assert math.isnan(mean_of([1.0], ["q"]).low)


def test_length_effects() -> None:
    source = np.random.default_rng(2)
    lengths = source.integers(50, 2000, 120)
    queries = [f"q{n % 30}" for n in range(120)]
    none = source.integers(-1, 2, 120)
    favours = (lengths > 1000).astype(int) + none
    found = length_effect(lengths.tolist(), favours.tolist(), queries)
    assert found is not None
    assert found.value == pytest.approx(spearmanr(lengths, favours).statistic)
    assert found.low > 0
    assert found.low < found.value < found.high
    fair = length_effect(lengths.tolist(), none.tolist(), queries)
    assert fair is not None
    assert not fair.is_clear
    assert length_effect(lengths.tolist(), [1] * 120, queries) is None
    assert length_effect([1, 2, 3], [0, 1, 2], ["a", "b", "c"]) is None


def _finding(name: str, shifts: list[int], lost: int = 0) -> Finding:
    moved = tuple(Moved(f"q{n}", "d", 1, 1 + shift) for n, shift in enumerate(shifts))
    return Finding(name, PROBES[name].words, PROBES[name].noun, moved, lost)


def test_what_is_said() -> None:
    again, plea = _finding("again", [0] * 30), _finding("plea", [1] * 18 + [0] * 12, 2)
    padding = _finding("padding", [1, -1, 0, 0] * 5)
    assert again.sentence == "Asked again: 0 of 30 grades changed (95 % interval 0% to 11%)."
    assert plea.sentence.startswith(
        "With a plea for the highest grade at its end: 18 of 30 grades changed (95 % interval 42% "
        "to 75%); the mean change is +0.60 (+0."
    )
    assert plea.sentence.endswith("), up.")
    assert padding.sentence.endswith("), no clear direction.")
    found = JudgeProbe("m/graded@1", 30, (again, padding, plea), Spread(0.3, 0.1, 0.5), 80)
    assert found.summary == (
        "m/graded@1: repeats its grade in 30 of 30 cases; its grades are moved by a plea for the "
        "highest grade (+0.60)."
    )
    calm = JudgeProbe("m/graded@1", 30, (again, padding))
    assert calm.summary.endswith("; no clear sign that padding moves its grades.")
    text = str(found)
    assert "plea: 2 answers are missing" in text
    assert "it favours long documents more than people do" in " ".join(text.split())
    assert found.data()["probes"]["plea"]["higher"] == 18
    assert found.data()["length"] == {"value": 0.3, "low": 0.1, "high": 0.5}


def test_nothing_could_be_read() -> None:
    found = JudgeProbe("m/graded@1", 3, (_finding("again", [], 3),))
    assert "no answer could be read" in " ".join(str(found).split())
    assert "too few to say" in " ".join(str(found).split())
    assert found.summary == "m/graded@1: no answer could be read."
