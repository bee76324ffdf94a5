"""Live against the light peers, on thousands of generated rankings, under their conventions."""

from __future__ import annotations

import random
import re
import subprocess
import warnings
from collections.abc import Callable
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

import idealist as il
from effort import tries
from generated import Qrels, some_case
from waiting import PATIENCE

Run = dict[str, dict[str, float]]


def cases(count: int, level: int = 1) -> list[tuple[Qrels, Run]]:
    """Make cases with whole grades that trec_eval's code defines.

    It reads memory it never wrote, and may crash or never end, where a query has no grade of at
    least the relevance level less one.
    """
    found = []
    for seed in range(count):
        qrels, rows = some_case(random.Random(seed), fractions=False)
        judged: Qrels = {
            q: {d: int(max(g, -1)) for d, g in grades.items()}
            for q, grades in qrels.items()
            if max(grades.values()) >= level - 1
        }
        if judged:
            found.append((judged, {q: dict(entries) for q, entries in rows.items()}))
    return found


#: Our measure, pytrec_eval's, and the relevance level to give it.
PYTREC_EVAL = [
    ("nDCG", "ndcg", 1), ("nDCG@5", "ndcg_cut_5", 1), ("nDCG@10", "ndcg_cut_10", 1),
    ("AP", "map", 1), ("AP(rel=2)", "map", 2), ("AP@5", "map_cut_5", 1),
    ("RR", "recip_rank", 1), ("RR(rel=2)", "recip_rank", 2),
    ("P@5", "P_5", 1), ("P(rel=2)@10", "P_10", 2), ("R@5", "recall_5", 1),
    ("R(rel=2)@10", "recall_10", 2), ("Success@1", "success_1", 1), ("Success@5", "success_5", 1),
    ("Rprec", "Rprec", 1), ("bpref", "bpref", 1), ("bpref(rel=2)", "bpref", 2),
    ("P", "set_P", 1), ("R", "set_recall", 1), ("F", "set_F", 1),
    ("NumRet", "num_ret", 1), ("NumRel", "num_rel", 1), ("NumRelRet", "num_rel_ret", 1),
    ("infAP", "infAP", 1), ("infAP(rel=2)", "infAP", 2),
    ("IPrec", "iprec_at_recall_0.00", 1), ("IPrec(recall=0.1)", "iprec_at_recall_0.10", 1),
    ("IPrec(recall=0.7,rel=2)", "iprec_at_recall_0.70", 2), ("IAP", "11pt_avg", 1),
    ("Rprec(times=0.2)", "Rprec_mult_0.20", 1), ("Rprec(times=1.4,rel=2)", "Rprec_mult_1.40", 2),
    ("R(denominator=min(k,R))@5", "relative_P_5", 1),
    ("R(denominator=min(n,R))", "set_relative_P", 1), ("SetAP", "set_map", 1),
    ("Utility", "utility", 1), ("Utility(rel=2)", "utility", 2),
    ("NumNonRelRet", "num_nonrel_judged_ret", 1), ("binG", "binG", 1), ("G", "G", 1),
    ("nDCGRel", "ndcg_rel", 1), ("RnDCG", "Rndcg", 1),
]  # fmt: skip


@pytest.mark.parametrize("level", [1, 2])
def test_pytrec_eval_bit_for_bit(level: int) -> None:
    pairs = [(ours, theirs) for ours, theirs, at in PYTREC_EVAL if at == level]
    names = {re.sub(r"_[\d.]+$", "", theirs) for _, theirs in pairs}
    compared = 0
    for qrels, run in cases(tries(200, 1000), level):
        theirs = pytrec_eval.RelevanceEvaluator(qrels, names, relevance_level=level).evaluate(run)
        result = il.evaluate(qrels, run, [ours for ours, _ in pairs], convention="pytrec_eval")
        assert set(result.queries) == theirs.keys()
        for ours, name in pairs:
            for query, value in zip(result.queries, result.values[ours].tolist(), strict=True):
                assert value == theirs[query][name], (ours, query, qrels, run)
                compared += 1
    assert compared > tries(1000, 5000)


def test_geometric_means_are_those_of_pytrec_eval() -> None:
    """It gives the logarithm of each query, and leaves their mean to its users."""
    for qrels, run in cases(50):
        names = {"gm_map", "gm_bpref"}
        theirs = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run)
        if theirs:
            result = il.evaluate(qrels, run, ["GMAP", "GMbpref"], convention="pytrec_eval")
            for ours, name in (("GMAP", "gm_map"), ("GMbpref", "gm_bpref")):
                mean = np.mean([values[name] for values in theirs.values()])
                assert np.isclose(result[ours], np.exp(mean), rtol=1e-12)


def test_the_pytrec_eval_list_names_what_it_computes() -> None:
    compared = {il.parse(ours).name for ours, _, _ in PYTREC_EVAL}
    compared |= {"NumQ", "GMAP", "GMbpref"}  # num_q is the number of its results
    assert frozenset(compared) == il.CONVENTIONS["pytrec_eval"].measures


IR_MEASURES: list[tuple[str, Any]] = [
    ("nDCG@5", ir_measures.nDCG @ 5),
    ("AP(rel=2)", ir_measures.AP(rel=2)),
    ("AP@5", ir_measures.AP @ 5),
    ("RR", ir_measures.RR),
    ("RR@3", ir_measures.RR @ 3),
    ("RR(rel=2)@3", ir_measures.RR(rel=2) @ 3),
    ("P(rel=2)@5", ir_measures.P(rel=2) @ 5),
    ("R@5", ir_measures.R @ 5),
    ("Success@3", ir_measures.Success @ 3),
    ("Rprec", ir_measures.Rprec),
    ("bpref", ir_measures.Bpref),
    ("infAP(rel=2)", ir_measures.infAP(rel=2)),
    ("Judged@3", ir_measures.Judged @ 3),
    ("P", ir_measures.SetP),
    ("F(beta=sqrt(2))", ir_measures.SetF(beta=2.0)),
    ("IPrec(recall=0.3)", ir_measures.IPrec @ 0.3),
    ("SetAP", ir_measures.SetAP),
    ("R(denominator=min(n,R))", ir_measures.SetRelP),
    ("NumRel", ir_measures.NumRel),
    ("NumRet", ir_measures.NumRet),
    ("NumRelRet", ir_measures.NumRet(rel=1)),
    ("RBP", ir_measures.RBP(rel=1, p=0.8)),
]


@pytest.mark.parametrize(("ours", "theirs"), IR_MEASURES, ids=[row[0] for row in IR_MEASURES])
def test_ir_measures(ours: str, theirs: Any) -> None:
    exact = not ours.startswith(("RBP", "F"))
    both_sides = known_to_both if ours.startswith("RBP") else cases
    for qrels, run in both_sides(200, level=2):
        mine = il.evaluate(qrels, run, ours, convention="ir_measures")
        found = {m.query_id: m.value for m in ir_measures.iter_calc([theirs], qrels, run)}
        for query, value in zip(mine.queries, mine.values[ours].tolist(), strict=True):
            wanted = found.get(query, 0.0)
            assert value == wanted if exact else value == pytest.approx(wanted, abs=1e-12), (
                qrels,
                run,
            )


def known_to_both(count: int, level: int = 1) -> list[tuple[Qrels, Run]]:
    """Keep the queries both sides have: cwl_eval stops at one it does not know."""
    shared = [(qrels.keys() & run.keys(), qrels, run) for qrels, run in cases(count, level)]
    return [
        ({q: qrels[q] for q in both}, {q: run[q] for q in both})
        for both, qrels, run in shared
        if both
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("nDCG(gain=exp2)@5", ir_measures.nDCG(dcg="exp-log2") @ 5),
        ("ERR@5", ir_measures.ERR @ 5),
    ],
)
def test_gdeval(ours: str, theirs: Any) -> None:
    """The Perl script that ir_measures bundles; it prints five digits and wants numbers as ids."""
    if subprocess.run(
        ["perl", "-v"], capture_output=True, check=False, timeout=PATIENCE
    ).returncode:
        pytest.skip("no perl")
    for qrels, run in cases(25):
        judged = {f"{i}": qrels[q] for i, q in enumerate(qrels, 1)}
        ranked = {f"{i}": run[q] for i, q in enumerate(qrels, 1) if q in run}
        if not ranked:
            continue
        mine = il.evaluate(judged, ranked, ours, convention="ir_measures")
        found = {m.query_id: m.value for m in ir_measures.iter_calc([theirs], judged, ranked)}
        for query, value in zip(mine.queries, mine.values[ours].tolist(), strict=True):
            assert value == pytest.approx(found.get(query, 0.0), abs=1e-12)


def sklearn_case(seed: int) -> tuple[list[int], list[float]]:
    rng = random.Random(seed)
    n = rng.randint(2, 15)
    grades = [rng.choice([0, 1, 2, 3]) for _ in range(n)]
    scores = [rng.choice([rng.random(), float(rng.randint(0, 3))]) for _ in range(n)]
    return grades, scores


SKLEARN: list[tuple[str, Callable[[Any, Any], float]]] = [
    ("nDCG", lambda y, s: ndcg_score([y], [s])),
    ("nDCG@3", lambda y, s: ndcg_score([y], [s], k=3)),
    ("DCG@5", lambda y, s: dcg_score([y], [s], k=5)),
    ("DCG(discount=log(10))@5", lambda y, s: dcg_score([y], [s], k=5, log_base=10)),
    ("AP", lambda y, s: average_precision_score(np.array(y) > 0, s)),
]


@pytest.mark.parametrize(("ours", "theirs"), SKLEARN, ids=[row[0] for row in SKLEARN])
def test_sklearn(ours: str, theirs: Callable[[Any, Any], float]) -> None:
    cases = {f"q{seed:03}": sklearn_case(seed) for seed in range(1000)}
    qrels, run = (
        {
            query: {f"d{i}": value for i, value in enumerate(case[side])}
            for query, case in cases.items()
        }
        for side in (0, 1)
    )
    mine = il.evaluate(qrels, run, ours, convention="sklearn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where there is nothing relevant
        wanted = [theirs(*cases[query]) for query in mine.queries]
    assert len(wanted) == len(cases)
    assert mine.values[ours].tolist() == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("ours", ["nDCG@3", "AP"])
def test_sklearn_sees_nothing_but_the_list(ours: str) -> None:
    """Unjudged documents are 0 to it, and what was not retrieved does not exist."""
    theirs = dict(SKLEARN)[ours]
    compared = 0
    for seed in range(300):
        qrels, rows = some_case(random.Random(seed))
        result = il.evaluate(qrels, rows, ours, convention="sklearn", negative="allow")
        for query, value in zip(result.queries, result.values[ours].tolist(), strict=True):
            grades = [max(qrels[query].get(d, 0), 0) for d, _ in rows[query]]
            if len(grades) < 2:
                continue  # it refuses a list of one document
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                binary = [grade >= 1 for grade in grades]
                wanted = theirs(binary if ours == "AP" else grades, [s for _, s in rows[query]])
            assert value == pytest.approx(wanted, abs=1e-12), (seed, query)
            compared += 1
    assert compared > 300


def test_sklearn_refuses_negative_grades_in_ndcg_as_we_do() -> None:
    with pytest.raises(ValueError, match="negative"):
        ndcg_score([[-1, 1]], [[0.5, 0.2]])
    with pytest.raises(il.InputError) as caught:
        il.evaluate({"q": {"a": -1, "b": 1}}, {"q": {"a": 0.5}}, "nDCG", convention="sklearn")
    assert caught.value.code == "negative-grade"
    mine = il.evaluate(
        {"q": {"a": -1, "b": 1}}, {"q": {"a": 0.5, "b": 0.2}}, "DCG", convention="sklearn"
    )
    assert mine["DCG"] == pytest.approx(dcg_score([[-1, 1]], [[0.5, 0.2]]))
