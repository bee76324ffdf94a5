"""Libraries for retrieval and generation: their own evaluators, given documents and lists."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of their dependencies
    import mlflow.metrics
    from haystack import Document
    from haystack.components.evaluators import (
        DocumentMAPEvaluator,
        DocumentMRREvaluator,
        DocumentNDCGEvaluator,
        DocumentRecallEvaluator,
    )
    from llama_index.core.evaluation.retrieval import metrics as llama_index
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
    from vespa.evaluation import VespaEvaluator
    from vespa.io import VespaQueryResponse

import idealist as il
from generated import Qrels, Rows, some_case

CASES = 1000

#: The names that two of them have, and ours.
NAMES = {
    "accuracy": "Success", "precision": "P", "recall": "R", "mrr": "RR", "ndcg": "nDCG", "map": "AP",
}  # fmt: skip
CUT = [3, 10]
CUTS = {f"{name}_at_k": CUT for name in ("accuracy", "precision_recall", "mrr", "ndcg", "map")}


class Case(NamedTuple):
    """Judgments, what is relevant, and lists in their order; each judged query has a list."""

    qrels: Qrels
    relevant: dict[str, list[str]]
    rows: Rows

    def ids(self, query: str, k: int | None = None) -> list[str]:
        return [document for document, _ in self.rows[query][:k]]


def cases(fractions: bool = False) -> Iterator[Case]:
    """Make cases; ties are in the order given, and a missing query retrieved nothing."""
    for seed in range(CASES):
        qrels, rows = some_case(random.Random(seed), fractions=fractions)
        ranked = {q: sorted(rows.get(q, []), key=lambda row: -row[1]) for q in qrels}
        above = {q: [d for d, grade in qrels[q].items() if grade > 0] for q in qrels}
        yield Case(qrels, above, ranked)


def check(convention: str, case: Case, wanted: dict[str, float]) -> int:
    """Compare measures, and count them."""
    found = il.evaluate(case.qrels, case.rows, list(wanted), convention=convention)
    ours = {measure: found[measure] for measure in wanted}
    assert ours == pytest.approx(wanted, abs=1e-12), case
    return len(wanted)


def test_sentence_transformers() -> None:
    """Ties are in the order of ids, whatever the order given."""
    compared = 0
    for case in cases():
        if not any(case.relevant.values()):
            continue  # it divides by the number of queries with a relevant document
        sets = {q: set(case.relevant[q]) for q in case.qrels}
        evaluator = InformationRetrievalEvaluator(
            dict.fromkeys(case.qrels, ""), {}, sets, write_csv=False, **CUTS
        )
        hits = [
            [{"corpus_id": d, "score": score} for d, score in case.rows[q]]
            for q in evaluator.queries_ids
        ]
        found = evaluator.compute_metrics(hits)
        wanted = {f"{NAMES[n]}@{k}": found[f"{n}@k"][k] for n in NAMES for k in CUT}
        compared += check("sentence-transformers", case, wanted)
    assert compared > 4500


LLAMA_INDEX = {
    "Success": llama_index.HitRate(), "RR": llama_index.MRR(), "P": llama_index.Precision(),
    "R": llama_index.Recall(), "AP": llama_index.AveragePrecision(), "nDCG": llama_index.NDCG(),
}  # fmt: skip


@pytest.mark.parametrize("cut", [None, 3])
def test_llama_index(cut: int | None) -> None:
    """It refuses a query without retrieved or relevant documents."""
    compared = 0
    for case in cases():
        for query in (q for q in case.qrels if case.relevant[q] and case.rows[q]):
            one = Case({query: case.qrels[query]}, {}, {query: case.rows[query]})
            given = {"expected_ids": case.relevant[query], "retrieved_ids": case.ids(query, cut)}
            wanted = {
                f"{name}@{cut}" if cut else name: metric.compute(**given).score
                for name, metric in LLAMA_INDEX.items()
            }
            compared += check("llama-index", one, wanted)
    assert compared > 4000
    with pytest.raises(ValueError, match="must be provided"):
        llama_index.MRR().compute(expected_ids=[], retrieved_ids=["d"])
    with pytest.raises(il.InputError, match="no relevant document"):
        il.evaluate({"q": {"d": 0}}, {"q": ["d"]}, "RR", convention="llama-index")


HAYSTACK = {
    "RR": DocumentMRREvaluator("id"), "AP": DocumentMAPEvaluator("id"),
    "R": DocumentRecallEvaluator("multi_hit", "id"),
    "Success": DocumentRecallEvaluator("single_hit", "id"),
}  # fmt: skip


@pytest.mark.parametrize("cut", [None, 3])
def test_haystack(cut: int | None) -> None:
    """It has no cutoff, so its lists are cut; grades may be fractions, and negative in nDCG."""
    compared = 0
    for case in cases(fractions=True):
        retrieved = [[Document(id=d) for d in case.ids(q, cut)] for q in case.qrels]
        truth = [[Document(id=d) for d in case.relevant[q]] for q in case.qrels]
        graded = [
            [Document(id=d, score=grade) for d, grade in case.qrels[q].items()] for q in case.qrels
        ]
        found = {name: one.run(truth, retrieved) for name, one in HAYSTACK.items()}
        found["nDCG"] = DocumentNDCGEvaluator("id").run(graded, retrieved)
        wanted = {f"{name}@{cut}" if cut else name: found[name]["score"] for name in found}
        compared += check("haystack", case, wanted)
    assert compared == 5 * CASES


MLFLOW = {
    "nDCG": mlflow.metrics.ndcg_at_k, "P": mlflow.metrics.precision_at_k,
    "R": mlflow.metrics.recall_at_k,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*is deprecated since 3.4.0:FutureWarning")
def test_mlflow() -> None:
    """A query with neither retrieved nor relevant documents is left out: there it gives 1."""
    metrics = {f"{name}@{k}": make(k) for name, make in MLFLOW.items() for k in (3, 10)}
    compared = 0
    for case in cases():
        known = [q for q in case.qrels if case.rows[q] or case.relevant[q]]
        if not known:
            continue
        given = (
            pd.Series([case.ids(q) for q in known]),
            pd.Series([case.relevant[q] for q in known]),
        )
        scores = {measure: metric.eval_fn(*given).scores for measure, metric in metrics.items()}
        one = Case({q: case.qrels[q] for q in known}, {}, {q: case.rows[q] for q in known})
        wanted = {measure: sum(values) / len(known) for measure, values in scores.items()}
        compared += check("mlflow", one, wanted)
    assert compared > 2500


class Engine:
    """Stands for a Vespa application: answers queries, which are ids here, with lists."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def query_many(self, bodies: list[dict[str, Any]], **_: Any) -> list[VespaQueryResponse]:
        answers = [
            [{"fields": {"id": d}, "relevance": score} for d, score in self.rows[body["query"]]]
            for body in bodies
        ]
        return [VespaQueryResponse({"root": {"children": hits}}, 200, "") for hits in answers]


def with_pyvespa(case: Case, relevant: dict[str, Any]) -> dict[str, float]:
    evaluator = VespaEvaluator(
        {q: q for q in case.qrels}, relevant, lambda text, top_k: {"query": text},
        Engine(case.rows), id_field="id", **CUTS,
    )  # fmt: skip
    pairs = [(name.split("@"), value) for name, value in evaluator.run().items() if "@" in name]
    return {f"{NAMES[name]}@{k}": value for (name, k), value in pairs}


def test_pyvespa() -> None:
    """Grades are for its nDCG, and between 0 and 1; the other metrics are given sets."""
    compared = 0
    for case in cases(fractions=True):
        share = {q: {d: min(max(g, 0), 1) for d, g in case.qrels[q].items()} for q in case.qrels}
        compared += check("pyvespa", case._replace(qrels=share), with_pyvespa(case, share))
        if any(case.relevant.values()):
            wanted = with_pyvespa(case, {q: set(case.relevant[q]) for q in case.qrels})
            sets = {name: value for name, value in wanted.items() if not name.startswith("nDCG")}
            compared += check("pyvespa", case, sets)
    assert compared > 4500
