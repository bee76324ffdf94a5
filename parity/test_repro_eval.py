"""repro_eval: how far a reproduced run and its effect are the original's."""

from __future__ import annotations

import copy
import math
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it imports from SciPy's old modules
    from repro_eval.measure.document_order import KTU, RBO
    from repro_eval.measure.effectiveness import RMSE, nRMSE
    from repro_eval.measure.overall_effects import DRI, ER
    from repro_eval.measure.statistics import ttest
    from repro_eval.util import evaluate_run, load_qrels, load_run

import ir_measures

import idealist as il
from conftest import data

__all__ = ["data"]  # a fixture

MEASURES = ["nDCG@10", "AP", "P@5", "RR"]
CASES = 60

Rows = dict[str, dict[str, float]]


def some_runs(rng: random.Random) -> tuple[dict[str, dict[str, int]], list[Rows]]:
    """Make judgments and four runs with lists of one length, best first, and few ties."""
    documents = [f"d{i}" for i in range(40)]
    queries = [f"q{i}" for i in range(rng.randint(3, 12))]
    qrels = {q: {d: rng.choice([0, 0, 1, 2]) for d in rng.sample(documents, 25)} for q in queries}
    for judged in qrels.values():
        judged["d0"] = 1
    runs: list[Rows] = [{} for _ in range(4)]
    for query in queries:
        length = rng.randint(4, 30)
        for run in runs:
            scores = sorted((round(rng.random(), 2) for _ in range(length)), reverse=True)
            run[query] = dict(zip(rng.sample(documents, length), scores, strict=True))
    return qrels, runs


def check(found: il.Reproduction, qrels: Any, runs: list[Rows], depth: int) -> None:
    """Compare with all that repro_eval computes of runs whose lists are at most so long."""
    original, reproduced = (copy.deepcopy(one) for one in runs[:2])
    assert found.mean("ktu") == pytest.approx(KTU(original, reproduced), abs=1e-12)
    by_query = RBO(original, reproduced, 0.95, depth, False, True)
    for one in found.orders:
        longest = max(len(original[one.query]), len(reproduced[one.query]))
        theirs = by_query[one.query]
        if longest != depth:
            lists = {one.query: original[one.query]}, {one.query: reproduced[one.query]}
            theirs = RBO(*lists, 0.95, longest, False, True)[one.query]
        assert one.rbo == pytest.approx(theirs, abs=1e-12)
    asked = [ir_measures.parse_measure(name) for name in MEASURES]
    a, b, base, other = (evaluate_run(asked, qrels, one) for one in runs)
    with np.errstate(all="ignore"):
        whole = RMSE(a, b), nRMSE(a, b), ttest(a, b), ER(a, base, b, other), DRI(a, base, b, other)
    for values in found.fidelity:
        ours = [values.rmse, values.nrmse, values.p, values.effect_ratio, values.delta_ri]
        wanted = [measure[values.measure] for measure in whole]
        assert ours == pytest.approx(_finite(wanted), abs=1e-9, nan_ok=True), values.measure


def _finite(numbers: list[float]) -> list[float]:
    """Leave undefined what is divided by an effect of nothing."""
    return [one if math.isfinite(one) else math.nan for one in numbers]


def test_generated_runs() -> None:
    for seed in range(CASES):
        qrels, runs = some_runs(random.Random(seed))
        found = il.reproduce(qrels, runs[0], runs[1], MEASURES, baselines=runs[2:])
        check(found, qrels, runs, 30)


def test_official_runs(data: Path) -> None:
    """Lists are cut to one length, as Kendall's tau union is not defined for others there."""
    folder = data / "trec-covid-r1"
    names = ("ir_covid19_cle_ib", "ir_covid19_cle_lmd", "ir_covid19_cle_dfr", "T5R1")
    qrels = load_qrels(str(folder / "qrels.txt"))
    whole = [load_run(str(folder / "runs" / name)) for name in names]
    least = {query: min(len(run[query]) for run in whole) for query in whole[0]}
    runs = [{q: dict(list(run[q].items())[: least[q]]) for q in run} for run in whole]
    found = il.reproduce(qrels, runs[0], runs[1], MEASURES, baselines=runs[2:])
    check(found, qrels, runs, max(least.values()))
