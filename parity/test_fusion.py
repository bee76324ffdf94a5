"""Fusion, beside ranx, Qdrant's client, LlamaIndex and Haystack, live."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its dependencies
    import ranx
    from ranx import fusion as ranx_fusion

import idealist as il
from idealist.fusing.fusing import fuse
from idealist.fusing.methods import as_fusion

pytestmark = pytest.mark.filterwarnings("ignore")

#: A set is the lists of several runs for one query; each method and normalisation gets 1,000.
QUERIES, SETS = 100, 10
Lists = dict[str, dict[str, float]]

#: ranx's normalisations.
NORMS = [None, "min-max", "min-max-inverted", "max", "sum", "zmuv", "rank", "borda"]
#: ranx's methods that look at scores, with parameters; weights are made to fit.
BY_SCORE: list[tuple[str, dict[str, Any]]] = [
    ("min", {}), ("max", {}), ("med", {}), ("sum", {}), ("anz", {}), ("mnz", {}), ("gmnz", {"gamma": 0.3}),
    ("wsum", {"weights": True}), ("wmnz", {"weights": True}), ("mixed", {"weights": True}),
]  # fmt: skip
BY_RANK: list[tuple[str, dict[str, Any]]] = [
    ("isr", {}), ("log_isr", {}), ("logn_isr", {"sigma": 0.2}), ("rrf", {"k": 13}), ("rbc", {"phi": 0.7}),
    ("bordafuse", {}), ("w_bordafuse", {"weights": True}),
]  # fmt: skip


def some_runs(seed: int, same: bool = False, flat: bool = False) -> list[Lists]:
    """Make runs without ties, of any sign; with `flat`, some lists have one score for all."""
    rng = random.Random(seed)
    runs: list[Lists] = [{} for _ in range(rng.choice([2, 3, 5]))]
    for q in range(QUERIES):
        for run in runs:
            documents = rng.sample(range(20), 12 if same else rng.randint(1, 20))
            low, high = rng.choice([(0, 1), (-5, 5), (-9, -1), (0, 40)])
            scores = [rng.uniform(low, high) for _ in documents]
            if flat and rng.random() < 0.2:
                scores = [scores[0]] * len(documents)
            run[f"q{q}"] = {f"d{d}": s for d, s in zip(documents, scores, strict=True)}
    if same:  # all runs have the same documents
        for q in range(QUERIES):
            names = list(runs[0][f"q{q}"])
            for run in runs[1:]:
                run[f"q{q}"] = {name: rng.random() for name in names}
    return runs


def weighted(parameters: dict[str, Any], runs: list[Lists]) -> dict[str, Any]:
    weights = [0.2 + 0.3 * i for i in range(len(runs))]
    return {key: weights if key == "weights" else value for key, value in parameters.items()}


def ours(runs: list[Lists], method: str, norm: str | None, **parameters: Any) -> Lists:
    rows = fuse(runs, method, norm=norm or "none", **parameters).rows()
    return {
        query: dict(zip(rows.documents[span], (rows.scores[span]).tolist(), strict=True))  # type: ignore[index]
        for query, span in rows.spans().items()
    }


def assert_same(found: Lists, wanted: Lists) -> None:
    assert found.keys() == wanted.keys()
    for query, scores in wanted.items():
        assert found[query] == pytest.approx(dict(scores), rel=1e-9, abs=1e-9)


def theirs(runs: list[Lists], method: str, norm: str | None, params: dict[str, Any]) -> Lists:
    found = ranx.fuse([ranx.Run(run) for run in runs], norm=norm, method=method, params=params)
    return {query: dict(scores) for query, scores in found.run.items()}


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("method", "parameters"), BY_SCORE, ids=[row[0] for row in BY_SCORE])
def test_ranx_by_scores(method: str, parameters: dict[str, Any], norm: str | None) -> None:
    flat = norm not in ("rank", "borda")  # which ties leave to chance
    for seed in range(SETS):
        runs = some_runs(seed, flat=flat)
        given = weighted(parameters, runs)
        assert_same(ours(runs, method, norm, **given), theirs(runs, method, norm, given))


@pytest.mark.parametrize("norm", [norm for norm in NORMS if norm != "borda"])
@pytest.mark.parametrize(("method", "parameters"), BY_RANK, ids=[row[0] for row in BY_RANK])
def test_ranx_by_ranks(method: str, parameters: dict[str, Any], norm: str | None) -> None:
    """After its Borda normalisation, documents are in no order, so that ranks mean nothing."""
    for seed in range(SETS):
        runs = some_runs(seed)
        given = weighted(parameters, runs)
        assert_same(ours(runs, method, norm, **given), theirs(runs, method, norm, given))


def judgments(seed: int) -> dict[str, dict[str, int]]:
    rng = random.Random(seed)
    return {
        f"q{q}": {f"d{d}": rng.choice([0, 1, 2]) for d in rng.sample(range(20), 8)} | {"x": 1}
        for q in range(QUERIES)
    }


#: What ranx learns, and what of that its method takes.
LEARNT: dict[str, tuple[Callable[..., Any], str, dict[str, Any], dict[str, Any]]] = {
    "bayesfuse": (ranx_fusion.bayesfuse_train, "log_odds", {}, {}),
    "mapfuse": (ranx_fusion.mapfuse_train, "map_scores", {}, {}),
    "posfuse": (ranx_fusion.posfuse_train, "probs", {}, {}),
    "probfuse": (ranx_fusion.probfuse_train, "probs", {"n_segments": 4}, {}),
    "segfuse": (ranx_fusion.segfuse_train, "probs", {}, {}),
    "slidefuse": (ranx_fusion.slidefuse_train, "probs", {}, {"w": 2}),
}


@pytest.mark.parametrize("norm", [None, "min-max", "max", "sum", "zmuv", "rank"])
@pytest.mark.parametrize("method", LEARNT)
def test_ranx_learning(method: str, norm: str | None) -> None:
    train, named, learning, using = LEARNT[method]
    for seed in range(SETS):
        runs, qrels = some_runs(seed), judgments(seed)
        others = some_runs(seed + 1000)
        others = (others * 3)[: len(runs)]
        taught = train(ranx.Qrels(qrels), [ranx.Run(run) for run in runs], **learning)
        wanted = theirs(others, method, norm, {named: taught, **using})
        fusion = as_fusion(method, norm=norm or "none", **learning, **using)
        assert_same(taught_by_us(runs, qrels, others, fusion), wanted)


def taught_by_us(runs: list[Lists], qrels: Any, others: list[Lists], fusion: Any) -> Lists:
    """Teach a method on some runs, and fuse others with it."""
    from idealist.fusing.fused_run import best_first
    from idealist.fusing.ranked_runs import RankedRuns
    from idealist.ranking.document_lists import ALL, decoded
    from idealist.ranking.ranked import rank

    judged, protocol = il.read_qrels(qrels), il.Protocol()
    placed = [rank(judged, il.read_run(run), [protocol])[protocol] for run in runs]
    ranked = RankedRuns.of([il.read_run(run) for run in others])
    met = ranked.met()
    lists = best_first(met, fusion.scores(met.candidates, fusion.learn(placed)), ALL)
    return {
        query: dict(zip(map(decoded, lists.first(i)),
                        lists.scores[slice(*lists.starts[i : i + 2])].tolist(), strict=True))
        for i, query in enumerate(ranked.queries)
    }  # fmt: skip


@pytest.mark.parametrize(("method", "weights"), [("condorcet", None), ("w_condorcet", True)])
def test_ranx_condorcet(method: str, weights: Any) -> None:
    """Where every pair of documents has a majority, and no votes go round in a circle."""
    compared = 0
    for seed in range(SETS):
        runs = some_runs(seed, same=True)
        given = {} if weights is None else weighted({"weights": True}, runs)
        found, wanted = ours(runs, method, None, **given), theirs(runs, method, None, given)
        votes = given.get("weights", [1.0] * len(runs))
        for query in wanted:
            if defined([run[query] for run in runs], votes):
                assert found[query] == wanted[query]
                compared += 1
    assert compared > QUERIES


def defined(lists: list[dict[str, float]], votes: list[float]) -> bool:
    """Whether majorities put the documents in one order."""
    wins: dict[str, int] = dict.fromkeys(lists[0], 0)
    for a, b in permutations(wins, 2):
        margin = sum(w if one[a] > one[b] else -w for one, w in zip(lists, votes, strict=True))
        if abs(margin) < 1e-12:
            return False
        wins[a] += margin > 0
    return len(set(wins.values())) == len(wins)  # a transitive order has every number of wins


def points(lists: dict[str, float]) -> list[Any]:
    from qdrant_client.http.models import ScoredPoint

    ranked = sorted(lists.items(), key=lambda pair: -pair[1])
    return [ScoredPoint(id=int(name[1:]), version=0, score=score) for name, score in ranked]


@pytest.mark.parametrize("method", ["dbsf", "qdrant_rrf", "qdrant_rrf, weighted"])
def test_qdrant(method: str) -> None:
    from qdrant_client.hybrid import fusion as qdrant

    for seed in range(SETS):
        runs = some_runs(seed)
        weights = [0.5 + i for i in range(len(runs))] if "weighted" in method else None
        given = {} if weights is None else {"weights": weights, "k": 7}
        found = ours(
            runs,
            method.split(",", maxsplit=1)[0],
            "distribution" if method == "dbsf" else None,
            **given,
        )
        for query in runs[0]:
            lists = [points(run[query]) for run in runs]
            if method == "dbsf":
                wanted = qdrant.distribution_based_score_fusion(lists, 1000)
            else:
                k = {} if weights is None else {"ranking_constant_k": 7, "weights": weights}
                wanted = qdrant.reciprocal_rank_fusion(lists, 1000, **k)
            assert found[query] == pytest.approx(
                {f"d{one.id}": one.score for one in wanted}, rel=1e-9
            )


def test_haystack() -> None:
    """Its reciprocal ranks count from 61, times 61 over the number of lists."""
    from haystack import Document
    from haystack.components.joiners import DocumentJoiner

    joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion")
    for seed in range(3):
        runs = some_runs(seed)
        found = ours(runs, "rrf", None, k=60)
        for query in runs[0]:
            lists = [
                [Document(id=name, content=name, score=score)
                 for name, score in sorted(run[query].items(), key=lambda pair: -pair[1])]
                for run in runs
            ]  # fmt: skip
            wanted = {one.id: one.score for one in joiner.run(lists)["documents"]}
            scaled = {name: 61 * score / len(runs) for name, score in found[query].items()}
            assert scaled == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("mode", "method", "parameters"), [
    ("reciprocal_rerank", "rrf", {"k": 59}), ("relative_score", "relative_score", {}),
])  # fmt: skip
def test_llama_index(mode: str, method: str, parameters: dict[str, Any]) -> None:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Held(BaseRetriever):  # type: ignore[misc]  # the package has no types
        def __init__(self, lists: dict[str, float]) -> None:
            self.lists = lists
            super().__init__()

        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            ranked = sorted(self.lists.items(), key=lambda pair: -pair[1])
            return [
                NodeWithScore(node=TextNode(id_=name, text=name), score=score)
                for name, score in ranked
            ]

    runs = [
        {query: {name: abs(score) for name, score in one.items()} for query, one in run.items()}
        for run in some_runs(0)
    ]
    norm = "none" if method == "rrf" else "relative"
    found = ours(runs, method, norm, **parameters)
    for query in runs[0]:
        retriever = QueryFusionRetriever(
            [Held(run[query]) for run in runs], llm=MockLLM(), mode=mode, num_queries=1,
            use_async=False, similarity_top_k=100,
        )  # fmt: skip
        wanted = {one.node.node_id: one.score for one in retriever.retrieve("any")}
        share = 1 if method == "rrf" else len(runs)  # its weights add up to 1
        scaled = {name: score / share for name, score in found[query].items()}
        assert scaled == pytest.approx(wanted, rel=1e-9)
