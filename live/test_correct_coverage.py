"""Corrected numbers over many draws of real labels: intervals cover, and are never wider.

A small version is in tests/test_correct.py.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import idealist as il
from conftest import data
from idealist.significance.means import quantile
from idealist.significance.prediction_powered import PredictionPowered, prediction_powered

__all__ = ["data"]  # a fixture

Array = NDArray[np.float64]

DRAWS = 10_000
MEASURES = ("nDCG@10", "AP", "P@5", "RR@10")


class Coverage(NamedTuple):
    """How often intervals held the truth, corrected and by labels alone, and how wide they were.

    `wider` is the share of draws whose corrected interval was wider than that of labels alone.
    """

    corrected: float
    labelled: float
    width: float
    labelled_width: float
    wider: float


def covered(truth: float, draws: int, draw: Callable[[], PredictionPowered]) -> Coverage:
    held = np.zeros(2)
    widths = np.zeros((draws, 2))
    for i in range(draws):
        found = draw()
        for k, mean in enumerate((found.corrected, found.labelled)):
            low, high = mean.interval()
            held[k] += low <= truth <= high
            widths[i, k] = high - low
    wider = float((widths[:, 0] > widths[:, 1]).mean())
    (corrected, labelled), (width, before) = (held / draws).tolist(), widths.mean(axis=0).tolist()
    return Coverage(corrected, labelled, width, before, wider)


def pairs_of(path: Path) -> dict[tuple[str, str], int]:
    rows = map(str.split, path.read_text().splitlines())
    return {(query, document): int(grade) for query, _, document, grade in rows}


def test_passages_of_rag25(data: Path) -> None:
    """300 passages with a label of NIST, all others with one of UMBRELA: relevant from 2 on.

    The figures are those of a simulation with PPI's own formulas: widths 0.113 of labels alone,
    0.122 of PPI without tuning and 0.102 of PPI++, coverage about 95.3 %.
    """
    human, model = (pairs_of(data / "rag25" / f"{name}.txt") for name in ("nist", "umbrela2"))
    y, f = (np.array([side[pair] >= 2 for pair in sorted(human)], float) for side in (human, model))
    rng = np.random.default_rng(18)
    untuned: list[float] = []

    def draw() -> PredictionPowered:
        drawn = rng.permutation(len(y))
        mine, others = drawn[:300], f[drawn[300:]]
        if len(untuned) < 1000:
            error = math.hypot(np.std(y[mine] - f[mine], ddof=1) / math.sqrt(300),
                               np.std(others, ddof=1) / math.sqrt(len(others)))  # fmt: skip
            untuned.append(2 * quantile(0.975, 299) * error)
        return prediction_powered(y[mine], f[mine], others)

    found = covered(float(y.mean()), DRAWS, draw)
    print(found, np.mean(untuned))
    assert 0.94 <= found.corrected <= 0.96
    assert found.width == pytest.approx(0.102, abs=0.001)
    assert found.labelled_width == pytest.approx(0.113, abs=0.001)
    assert np.mean(untuned) == pytest.approx(0.122, abs=0.001)
    assert found.wider == 0


def values_by(judges: tuple[Any, Any], runs: dict[str, Any]) -> dict[str, tuple[Array, Array]]:
    """Measure runs by people and by a model: the values of each, and of differences of runs."""
    found: dict[str, tuple[Array, Array]] = {}
    for measure in MEASURES:
        by = {
            name: [il.evaluate(judged, run, measure).by_query(measure) for judged in judges]
            for name, run in runs.items()
        }
        some = {
            name: [np.array([side[query] for query in sorted(sides[0])]) for side in sides]
            for name, sides in by.items()
        }
        (one, first), (other, second) = some.items()
        found |= {f"{name} {measure}": (y, f) for name, (y, f) in some.items()}
        gaps = [a - b for a, b in zip(first, second, strict=True)]
        found[f"{one} - {other} {measure}"] = (gaps[0], gaps[1])
    return found


def nested(pairs: dict[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (query, document), grade in pairs.items():
        found.setdefault(query, {})[document] = grade
    return found


def of_covid(data: Path) -> dict[str, tuple[Array, Array]]:
    """Two runs of TREC-COVID, and a judge who is generous in two of five documents."""
    folder, rng = data / "trec-covid-r1", random.Random(5)
    truth = pairs_of(folder / "qrels.txt")
    off = {
        pair: grade if rng.random() > 0.4 else min(2, max(0, grade + rng.choice([1, 1, 1, -1])))
        for pair, grade in truth.items()
    }
    runs = {name: folder / "runs" / name for name in ("T5R1", "sheikh_bm25_all")}
    return values_by((nested(truth), nested(off)), runs)


def of_llmjudge(data: Path) -> dict[str, tuple[Array, Array]]:
    """Rankings by two models' labels, judged by people and by a third model."""
    sides = {
        name: nested(pairs_of(data / "llmjudge" / f"{name}.txt"))
        for name in ("human", "willia-umbrela1", "h2oloo-zeroshot1", "TREMA-nuggets")
    }
    rng = random.Random(1)
    runs = {
        name: {
            query: {document: grade + 2 * rng.random() for document, grade in own.items()}
            for query, own in sides[name].items()
        }
        for name in ("h2oloo-zeroshot1", "TREMA-nuggets")
    }
    return values_by((sides["human"], sides["willia-umbrela1"]), runs)


@pytest.mark.parametrize("source", [of_covid, of_llmjudge])
@pytest.mark.parametrize("n", [20, 50])
def test_values_of_queries(data: Path, source: Any, n: int) -> None:
    """Queries drawn with replacement from those of a track, n with people's labels, 200 without.

    Values of RR and P are coarse and skewed, so that Student's interval of few labels holds less
    often than it says; the corrected one must not do worse by much.
    """
    rng, found = np.random.default_rng(n), {}
    sources = source(data)
    for name, (y, f) in sources.items():

        def draw(y: Array = y, f: Array = f) -> PredictionPowered:
            mine, others = rng.integers(len(y), size=n), rng.integers(len(y), size=200)
            return prediction_powered(y[mine], f[mine], f[others])

        found[name] = covered(float(y.mean()), DRAWS // 5, draw)
        print(n, name, found[name])
    everything = np.array(list(found.values()))
    corrected, labelled = everything[:, 0].mean(), everything[:, 1].mean()
    assert corrected > labelled - (0.01 if n < 50 else 0.004)
    assert (everything[:, 0] > everything[:, 1] - 0.04).all()
    assert n < 50 or 0.94 <= corrected <= 0.96
    assert not everything[:, 4].any()


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_weighted_queries(power: float) -> None:
    """Queries that weigh as Zipf says, drawn at random among the weights there are."""
    rng = np.random.default_rng(3)
    weights = np.arange(1, 1001) ** -power

    def draw() -> PredictionPowered:
        y = rng.beta(1, 2, 400)
        f = 0.1 + 0.6 * y + 0.3 * rng.random(400)
        w = rng.choice(weights, 400)
        return prediction_powered(y[:50], f[:50], f[50:], w[:50], w[50:])

    found = covered(1 / 3, DRAWS // 2, draw)
    print(power, found)
    assert 0.94 <= found.corrected <= 0.97
    assert found.width < 0.85 * found.labelled_width
    assert found.wider == 0
