"""NTCIREVAL in Python, given labelled lists."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from pyNTCIREVAL import metrics

import idealist as il

#: How many lists each measure is compared on.
LISTS = 1000
#: What grades 1, 2 and 3 are worth.
GAINS = [1, 3, 7]

Made = Callable[[list[int]], Any]


def made(name: str, *arguments: Any) -> Made:
    """Set up a metric of theirs, whose first parameter is how many documents have each grade."""
    return lambda counts: getattr(metrics, name)(counts, GAINS, *arguments)


#: Our measure and theirs.
NTCIREVAL: list[tuple[str, Made]] = [
    ("Q", made("QMeasure", 1.0)),
    ("Q(beta=10)@5", made("QMeasure", 10.0, 5)),
    ("AP", made("AP")),
    ("AP@3", made("AP", 3)),
    ("NCU(beta=0)", made("NCUguP", GAINS)),
    ("NCU", made("NCUguBR", GAINS, 1.0)),
    ("NCU(beta=0,readers=rank-biased)", made("NCUrbP", 0.95)),
    ("NCU(readers=rank-biased,gamma=0.5)", made("NCUrbBR", 0.5, 1.0)),
    ("OMeasure", made("OMeasure", 1.0)),
    ("PMeasure", made("PMeasure", 1.0)),
    ("PPlus(beta=2)", made("PPlusMeasure", 2.0)),
    ("nDCG(gain=exp2,discount=jk(2))@5", made("nDCG", 2.0, 5)),
    ("nDCG(gain=exp2)@5", made("MSnDCG", 5)),
    ("ERR", made("ERR")),
    ("nERR@5", made("nERR", 5)),
    ("RR", lambda counts: metrics.RR()),
    ("P@5", lambda counts: metrics.Precision(5)),
    ("Success@3", lambda counts: metrics.Hit(3)),
]


def labelled(seed: int) -> tuple[list[int | None], list[int]]:
    """Make the levels of a list, None where unjudged, and of relevant documents not retrieved."""
    rng = random.Random(seed)
    levels = [rng.choice([None, 0, 0, 1, 2, 3]) for _ in range(rng.randint(1, 15))]
    return levels, [rng.choice([0, 1, 2, 3]) for _ in range(rng.randint(0, 4))] + [
        rng.randint(1, 3)
    ]


@pytest.mark.parametrize(("ours", "theirs"), NTCIREVAL, ids=[row[0] for row in NTCIREVAL])
def test_ntcireval(ours: str, theirs: Made) -> None:
    for seed in range(LISTS):
        levels, left = labelled(seed)
        known = [level for level in levels if level is not None] + left
        metric = theirs([known.count(level) for level in range(4)])
        wanted = metric.compute([(str(i), level) for i, level in enumerate(levels)])
        judged = {f"d{i}": level for i, level in enumerate(levels) if level is not None}
        qrels = {"q": judged | {f"u{i}": level for i, level in enumerate(left)}}
        run = {"q": [f"d{i}" for i in range(len(levels))]}
        scale = il.read_qrels(qrels, scale=3)
        result = il.evaluate(scale, run, ours, convention="ntcireval")
        assert result[ours] == pytest.approx(wanted, abs=1e-12), (levels, left)


def test_the_list_of_measures_names_what_is_compared() -> None:
    compared = frozenset(il.parse(ours).name for ours, _ in NTCIREVAL)
    assert il.CONVENTIONS["ntcireval"].measures == compared - {"nDCG"}  # of which it has two
