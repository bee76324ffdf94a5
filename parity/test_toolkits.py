"""BEIR, MTEB and HELM: what they make of pytrec_eval, and what they compute themselves."""

from __future__ import annotations

import random
import warnings

import pytest
import pytrec_eval

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of their dependencies
    from beir.retrieval.evaluation import EvaluateRetrieval
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, recall_cap

import idealist as il
from generated import some_case

Grades = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

CASES = 1000


def case(seed: int, relevant: bool = False) -> tuple[Grades, Run]:
    """Make whole grades and a run with ties, some judged queries not in it.

    Some documents have a query's id. With `relevant`, each query has a relevant document.
    """
    qrels, rows = some_case(random.Random(seed), fractions=False)
    grades = {q: {d: int(max(g, -1)) for d, g in judged.items()} for q, judged in qrels.items()}
    for judged in grades.values():
        judged["d0"] = 1 if relevant else max(judged.get("d0", 0), 0)  # pytrec_eval needs one >= 0
    return grades, {q: dict(rows[q]) for q in rows if q in grades}


def check(convention: str, qrels: Grades, run: Run, wanted: dict[str, float]) -> int:
    """Compare measures, and count them."""
    found = il.evaluate(qrels, run, list(wanted), convention=convention)
    ours = {measure: found[measure] for measure in wanted}
    assert ours == pytest.approx(wanted, abs=1e-12), (qrels, run)
    return len(wanted)


#: Their names and ours.
NAMES = {
    "NDCG": "nDCG", "MAP": "AP", "Recall": "R", "P": "P", "MRR": "RR", "Accuracy": "Success",
    "HitRate": "Success", "R_cap": "R(denominator=min(k,R))",
}  # fmt: skip


def renamed(*scores: dict[str, float]) -> dict[str, float]:
    """Give scores by our names."""
    pairs = [(name.split("@"), value) for one in scores for name, value in one.items()]
    return {f"{NAMES[name]}@{k}": value for (name, k), value in pairs}


def test_beir() -> None:
    compared = 0
    for seed in range(CASES):
        qrels, run = case(seed, relevant=True)
        if not run:
            continue  # it divides by the number of queries of the run
        results = {q: dict(run[q]) for q in run}  # which it changes
        scores = EvaluateRetrieval.evaluate(qrels, results, [3, 10])
        custom = [
            EvaluateRetrieval.evaluate_custom(qrels, results, [3, 10], metric)
            for metric in ("mrr", "recall_cap", "top_k_accuracy")
        ]
        compared += check("beir", qrels, run, renamed(*scores, *custom))
    assert compared > 6000


@pytest.mark.filterwarnings("ignore")  # it also computes areas under curves, of too few points
def test_mteb() -> None:
    compared = 0
    for seed in range(CASES // 2):
        qrels, run = case(seed)
        if not run:
            continue
        found = calculate_retrieval_scores(run, qrels, [3, 10])
        scores = found.ndcg, found.map, found.recall, found.precision, found.mrr, found.hit_rate
        compared += check("mteb", qrels, run, renamed(*scores))
        (values,) = recall_cap(qrels, run, [3]).values()
        known = [value for value in values if value is not None]
        if known:
            capped = {"R(denominator=min(k,R))@3": sum(known) / len(known)}
            compared += check("mteb", qrels, run, capped)
    assert compared > 2500


def with_helm(grades: dict[str, int], scored: dict[str, float], name: str, multiple: bool) -> float:
    """Call pytrec_eval as HELM's `RankingMetric` does.

    HELM itself is too much to install here. It was run once against its convention, 0.5.16 on 8,451
    values.
    """
    name, _, k = name.partition(".")
    ranked = sorted(scored, key=lambda d: scored[d], reverse=True)
    run = {d: len(ranked) - i for i, d in enumerate(ranked)}
    truth = {d: grade for d, grade in grades.items() if grade}
    if multiple and name in ("recip_rank", "recall", "success"):
        truth = {d: 0 if grade == 1 else grade for d, grade in truth.items()}
    if name == "recip_rank" and k:
        run, k = {d: run[d] for d in ranked[: int(k)]}, ""
    evaluator = pytrec_eval.RelevanceEvaluator({"_": truth}, {f"{name}.{k}" if k else name})
    (value,) = evaluator.evaluate({"_": run})["_"].values()
    return float(value)


HELM = [
    ("nDCG@5", "ndcg_cut.5"), ("RR", "recip_rank"), ("RR@3", "recip_rank.3"), ("R@5", "recall.5"),
    ("Success@5", "success.5"), ("AP", "map"), ("P@5", "P.5"), ("bpref", "bpref"),
    ("Rprec", "Rprec"), ("F", "set_F"),
]  # fmt: skip


@pytest.mark.parametrize("convention", ["helm", "helm-trec"])
def test_helm(convention: str) -> None:
    compared = 0
    for seed in range(CASES):
        qrels, run = case(seed, relevant=True)
        for query, scored in run.items():
            multiple = convention == "helm-trec"
            wanted = {
                ours: with_helm(qrels[query], scored, theirs, multiple) for ours, theirs in HELM
            }
            compared += check(convention, {query: qrels[query]}, {query: scored}, wanted)
    assert compared > 10000


def refused(code: str, measure: str, convention: str, qrels: Grades, run: Run) -> bool:
    with pytest.raises(il.InputError) as caught:
        il.evaluate(qrels, run, measure, convention=convention)
    return caught.value.code == code


def test_what_they_refuse_is_refused() -> None:
    """A query without judgments stops their own loops, and one without relevant documents R_cap."""
    judged: Grades = {"q": {"d": 1}, "none": {"d": 0}}
    run: Run = {"q": {"d": 1.0}, "none": {"d": 1.0}}
    stranger: Run = {**run, "stranger": {"d": 1.0}}
    with pytest.raises(KeyError):
        EvaluateRetrieval.evaluate_custom(judged, stranger, [3], "mrr")
    with pytest.raises(KeyError):
        calculate_retrieval_scores(stranger, judged, [3])
    assert refused("unknown-query", "RR@3", "beir", judged, stranger)
    assert refused("unknown-query", "nDCG@3", "mteb", judged, stranger)
    with pytest.raises(ZeroDivisionError):
        EvaluateRetrieval.evaluate_custom(judged, run, [3], "recall_cap")
    assert refused("no-relevant", "R(denominator=min(k,R))@3", "beir", judged, run)
