"""Fusion, beside ranx, Qdrant's client, LlamaIndex and Haystack, live.

Where ranx differs, ``docs/differences.md`` says why, and a test here shows it.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its dependencies
    import ranx
    from ranx import fusion as ranx_fusion

import idealist as il
from idealist.fusing.fused_run import best_first
from idealist.fusing.methods import as_fusion
from idealist.fusing.ranked_runs import RankedRuns
from idealist.ranking.document_lists import ALL, decoded
from idealist.ranking.ranked import rank

pytestmark = pytest.mark.filterwarnings("ignore")

#: A set is the lists of several runs for one query. Each method and normalisation gets so many sets
#: of so many runs, 1,002 in all.
SETS = {2: 450, 3: 400, 5: 152}
DOCUMENTS = [f"d{i}" for i in range(20)]
#: ranx's ``to_typed_list`` has hashes of ids, as floating-point numbers.
HASHED = {name: float(hash(name)) for name in DOCUMENTS}

Lists = dict[str, dict[str, float]]

#: ranx's normalisations.
NORMS = [None, "min-max", "min-max-inverted", "max", "sum", "zmuv", "rank", "borda"]
#: ranx's methods, with parameters; weights are made to fit.
BY_SCORE: dict[str, dict[str, Any]] = {
    "min": {}, "max": {}, "med": {}, "sum": {}, "anz": {}, "mnz": {}, "gmnz": {"gamma": 0.3},
    "wsum": {"weights": True}, "wmnz": {"weights": True}, "mixed": {"weights": True},
}  # fmt: skip
BY_RANK: dict[str, dict[str, Any]] = {
    "isr": {}, "log_isr": {}, "logn_isr": {"sigma": 0.2}, "rrf": {"k": 13}, "rbc": {"phi": 0.7},
    "bordafuse": {}, "w_bordafuse": {"weights": True},
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """The same runs as dicts, as ours and as ranx's."""

    lists: list[Lists]
    ours: list[il.Run]
    theirs: list[Any]

    @classmethod
    def of(cls, lists: list[Lists]) -> Case:
        return cls(lists, [il.read_run(one) for one in lists], [ranx.Run(one) for one in lists])


@cache
def case(runs: int, *, flat: bool = False, seed: int = 0, longest: int = 12) -> Case:
    """Make runs without ties, of any sign; with `flat`, some lists have one score for all."""
    rng = random.Random(seed)
    lists: list[Lists] = [{} for _ in range(runs)]
    for q in range(SETS[runs]):
        for one in lists:
            # None is so low that ranx takes it for none, see test_ranx_limits
            low, high = rng.choice([(0, 1), (-0.5, 5), (-0.9, -0.1), (0, 40)])
            names = rng.sample(DOCUMENTS, rng.randint(1, longest))
            scores = [rng.uniform(low, high) for _ in names]
            if flat and rng.random() < 0.2:
                scores = [scores[0]] * len(names)
            one[f"q{q:03}"] = dict(zip(names, scores, strict=True))
    return Case.of(lists)


def weighted(parameters: dict[str, Any], runs: int) -> dict[str, Any]:
    weights = [0.2 + 0.3 * i for i in range(runs)]
    return {key: weights if key == "weights" else value for key, value in parameters.items()}


@dataclass(frozen=True)
class Fused:
    """A fused run: documents by hash and their scores, by query and hash."""

    queries: list[str]
    sizes: list[int]
    hashes: Any
    scores: Any

    @classmethod
    def of(cls, queries: Any, sizes: list[int], hashes: Any, scores: Any) -> Fused:
        order = np.lexsort((hashes, np.repeat(np.arange(len(sizes)), sizes)))
        return cls(list(queries), sizes, hashes[order], scores[order])

    def assert_same(self, other: Fused, of: str) -> None:
        assert (self.queries, self.sizes) == (other.queries, other.sizes), of
        np.testing.assert_array_equal(self.hashes, other.hashes, of)
        np.testing.assert_allclose(self.scores, other.scores, rtol=1e-9, atol=1e-9, err_msg=of)


def ours(runs: list[il.Run], method: str, norm: str | None, **parameters: Any) -> Fused:
    rows = il.fuse(runs, method, norm=norm or "none", **parameters).rows()
    hashes = np.array([HASHED[name] for name in rows.documents])
    return Fused.of(rows.queries, np.diff(rows.starts).tolist(), hashes, rows.scores)


def theirs(runs: list[Any], method: str, norm: str | None, **parameters: Any) -> Fused:
    found = ranx.fuse(runs, norm=norm, method=method, params=parameters)
    lists = list(found.to_typed_list())
    hashes, scores = np.concatenate(lists).T
    return Fused.of(found.keys(), [len(one) for one in lists], hashes, scores)


@pytest.mark.parametrize("method", BY_SCORE)
def test_ranx_by_scores(method: str) -> None:
    for runs in SETS:
        given = weighted(BY_SCORE[method], runs)
        for norm in NORMS:
            # Ties leave ranks to chance; of deviations, see test_ranx_zmuv_of_equal_scores.
            own = case(runs, flat=norm not in ("rank", "borda", "zmuv"))
            found = ours(own.ours, method, norm, **given)
            found.assert_same(theirs(own.theirs, method, norm, **given), f"{method}, {norm}")


@pytest.mark.parametrize("method", BY_RANK)
def test_ranx_by_ranks(method: str) -> None:
    """After its Borda normalisation, documents are in no order, so that ranks mean nothing."""
    for runs in SETS:
        own, given = case(runs), weighted(BY_RANK[method], runs)
        for norm in NORMS[:-1]:
            found = ours(own.ours, method, norm, **given)
            found.assert_same(theirs(own.theirs, method, norm, **given), f"{method}, {norm}")


#: What ranx learns, and what of that its method takes.
LEARNT: dict[str, tuple[Callable[..., Any], str, dict[str, Any], dict[str, Any]]] = {
    "bayesfuse": (ranx_fusion.bayesfuse_train, "log_odds", {}, {}),
    "mapfuse": (ranx_fusion.mapfuse_train, "map_scores", {}, {}),
    "posfuse": (ranx_fusion.posfuse_train, "probs", {}, {}),
    "probfuse": (ranx_fusion.probfuse_train, "probs", {"n_segments": 4}, {}),
    "segfuse": (ranx_fusion.segfuse_train, "probs", {}, {}),
    "slidefuse": (ranx_fusion.slidefuse_train, "probs", {}, {"w": 2}),
}


@pytest.mark.parametrize("method", LEARNT)
def test_ranx_learning(method: str) -> None:
    train, named, learning, using = LEARNT[method]
    for runs, queries in SETS.items():
        own, others, qrels = case(runs), case(runs, seed=1, longest=20), judgments(queries)
        taught = train(ranx.Qrels(qrels), own.theirs, **learning)
        for norm in [None, "min-max", "max", "sum", "zmuv", "rank"]:
            fusion = as_fusion(method, norm=norm or "none", **learning, **using)
            found = taught_by_us(own.ours, qrels, others.ours, fusion)
            wanted = theirs(others.theirs, method, norm, **{named: taught}, **using)
            found.assert_same(wanted, f"{method}, {norm}")


def judgments(queries: int) -> dict[str, dict[str, int]]:
    rng = random.Random(0)
    return {
        f"q{q:03}": {d: rng.choice([0, 1, 2]) for d in rng.sample(DOCUMENTS, 8)} | {"x": 1}
        for q in range(queries)
    }


def taught_by_us(runs: list[il.Run], qrels: Any, others: list[il.Run], fusion: Any) -> Fused:
    """Teach a method on some runs, and fuse others with it."""
    judged, protocol = il.read_qrels(qrels), il.Protocol()
    placed = [rank(judged, run, [protocol])[protocol] for run in runs]
    ranked = RankedRuns.of(others)
    met = ranked.met()
    lists = best_first(met, fusion.scores(met.candidates, fusion.learn(placed)), ALL)
    names = [decoded(name) for i in range(len(ranked.queries)) for name in lists.first(i)]
    hashes = np.array([HASHED[name] for name in names])
    return Fused.of(ranked.queries, lists.counts.tolist(), hashes, lists.scores)


@cache
def noisy(runs: int) -> Case:
    """Make runs that are noisy versions of one order, and lack some documents."""
    rng = random.Random(runs)
    lists: list[Lists] = [{} for _ in range(runs)]
    for q in range(420):
        names = rng.sample(DOCUMENTS, 6)
        for one in lists:
            found = [(name, -i - rng.gauss(0, 1)) for i, name in enumerate(names)]
            one[f"q{q:03}"] = dict(pair for pair in found if rng.random() < 0.9)
    return Case.of(lists)


@pytest.mark.parametrize("norm", [None, "min-max-inverted"])
@pytest.mark.parametrize("method", ["condorcet", "w_condorcet"])
def test_ranx_condorcet(method: str, norm: str | None) -> None:
    """Where each pair of documents has a majority, and votes do not go round in a circle."""
    compared = 0
    for runs in (3, 5, 7):
        own, given = noisy(runs), weighted({"weights": True}, runs)
        votes = given["weights"] if method == "w_condorcet" else [1.0] * runs
        given = given if method == "w_condorcet" else {}
        found = ours(own.ours, method, norm, **given)
        wanted = theirs(own.theirs, method, norm, **given)
        better = 1 if norm is None else -1
        clear = [has_order([one[q] for one in own.lists], votes, better) for q in found.queries]
        counted = np.repeat(clear, found.sizes)
        assert (found.hashes == wanted.hashes).all()
        assert (found.scores[counted] == wanted.scores[counted]).all()
        compared += sum(clear)
    assert compared >= 1000


def has_order(lists: list[dict[str, float]], votes: list[float], better: int) -> bool:
    """Whether more than half of all votes are for one document of each pair, and make an order."""
    worst = -np.inf
    ranked = [{name: better * score for name, score in one.items()} for one in lists]
    wins = dict.fromkeys({name for one in lists for name in one}, 0)
    for a, b in combinations(wins, 2):
        pairs = [(one.get(a, worst), one.get(b, worst)) for one in ranked]
        above = sum(vote for (x, y), vote in zip(pairs, votes, strict=True) if x > y)
        below = sum(vote for (x, y), vote in zip(pairs, votes, strict=True) if x < y)
        if max(above, below) < sum(votes) / 2 + 1e-9:
            return False
        wins[a if above > below else b] += 1
    return len(set(wins.values())) == len(wins)  # in an order, every number of wins comes once


def both(runs: list[dict[str, float]], method: str, norm: str | None = None, **given: Any) -> Any:
    """Fuse lists for one query with idealist and with ranx.

    ranx compiles anew for each length of the longest id, so that ids here have three letters.
    """
    rows = il.fuse([{"q": one} for one in runs], method, norm=norm or "none", **given).rows()
    found = ranx.fuse([ranx.Run({"q": one}) for one in runs], norm, method, given)
    ours = dict(zip(rows.documents, np.asarray(rows.scores).tolist(), strict=True))
    return ours, dict(found.run["q"])


@pytest.mark.parametrize("method", ["sum", "mnz"])
def test_ranx_cuts_ids(method: str) -> None:
    """A run is typed by its longest id; the others are read as if theirs were as long."""
    runs = [{"d01": 5.0, "d02": 3.0}, {"d02": 9.0, "d010": 8.0, "d011": 7.0}]
    found, wanted = both(runs, method)
    assert found.keys() == {"d01", "d02", "d010", "d011"}
    assert wanted.keys() == {"d01", "d02"}
    found, wanted = both(runs, method, "min-max")  # which types them anew
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("method", "sign"), [("min", 1), ("max", -1)])
def test_ranx_limits(method: str, sign: int) -> None:
    """A run that did not find a document gives it a score that may win."""
    found, wanted = both([{"d01": sign * 2e9, "d02": 1.0}, {"d02": 5.0}], method)
    assert (found["d01"], wanted["d01"]) == (sign * 2e9, sign * 1e9)


def test_ranx_zmuv_of_equal_scores() -> None:
    """The mean of equal scores is rounded, and what is left of them divided by 1e-9."""
    names = ["d01", "d02", "d03"]
    found, wanted = both([dict.fromkeys(names, 123456789.1), {"d04": 1.0}], "sum", "zmuv")
    assert [found[name] for name in names] == [0.0] * 3
    assert [wanted[name] for name in names] == [1.0] * 3


#: Pairs of documents, for a query each: what ranx leaves to chance goes both ways among so many.
PAIRS = {f"q{i}": (f"a{i}", f"b{i}") for i in range(10, 70)}
FIRST = {query: {a: 2.0, b: 1.0} for query, (a, b) in PAIRS.items()}
SECOND = {query: {b: 2.0, a: 1.0} for query, (a, b) in PAIRS.items()}
NEITHER = {query: {"c10": 1.0} for query in PAIRS}


def ways(runs: list[Lists], method: str, norm: str | None = None) -> set[bool]:
    """Say whether ranx ranks the first document of a pair above the second, query by query."""
    found = ranx.fuse([ranx.Run(run) for run in runs], norm, method).run
    return {found[query][a] > found[query][b] for query, (a, b) in PAIRS.items()}


def test_ranx_borda_forgets_ranks() -> None:
    """It puts documents into the order of a set, from which methods by rank read ranks."""
    assert ways([FIRST, FIRST], "rrf", "borda") == {True, False}
    rows = il.fuse([FIRST, FIRST], "rrf", norm="borda").rows()
    assert rows.documents == [name for pair in PAIRS.values() for name in pair]


def test_ranx_condorcet_counts_abstentions() -> None:
    """A run that found neither document votes for the one that the sort happens to hold second."""
    runs = [FIRST, NEITHER, NEITHER]
    assert ways(runs, "condorcet") == {True, False}
    rows = il.fuse(runs, "condorcet").rows()
    assert rows.documents == [name for a, b in PAIRS.values() for name in ("c10", a, b)]


def test_ranx_condorcet_leaves_even_votes_to_chance() -> None:
    """Borda's order decides here, and ids where that ties too."""
    assert ways([FIRST, SECOND], "condorcet") == {True, False}
    rows = il.fuse([FIRST, SECOND], "condorcet").rows()
    assert rows.documents == [name for a, b in PAIRS.values() for name in (b, a)]


def test_ranx_takes_added_documents_for_ranked() -> None:
    run = ranx.Run()
    for name, score in (("d01", 1.0), ("d02", 2.0)):
        run.add_score("q", name, score)
    assert ranx.fuse([run, run], None, "rrf").run["q"]["d01"] == 2 / 61
    lists = {"q": {"d01": 1.0, "d02": 2.0}}
    assert il.fuse([lists, lists], "rrf").rows().documents == ["d02", "d01"]


def test_ranx_orders_ties_by_the_first_run() -> None:
    runs = [{"d01": 2.0, "d02": 1.0}, {"d02": 2.0, "d01": 1.0}]
    for given, first in ((runs, "d01"), (runs[::-1], "d02")):
        found, wanted = both(given, "rrf")
        assert (next(iter(found)), next(iter(wanted))) == ("d02", first)


def test_ranx_orders_tied_scores_as_they_were_given() -> None:
    """Beyond fifteen documents, not even that: its sort is not stable."""
    for count, stable in ((15, True), (40, False)):
        names = [f"d{i:02}" for i in range(count)]
        run = ranx.Run({"q": dict.fromkeys(names, 1.0)})
        assert (list(run.run["q"]) == names) == stable


@pytest.mark.parametrize(("weights", "of_ranx"), [
    ([0.5], {}), ([0.5, 0.5, 9.0], {"d01": 1.0, "d02": 3.0}),
    ([0.5, -1.0], {"d01": 1.0, "d02": -4.5}),
])  # fmt: skip
def test_ranx_takes_any_weights(weights: list[float], of_ranx: dict[str, float]) -> None:
    """Too few empty the list: an error in a loop that runs in parallel is lost."""
    runs = [{"q": {"d01": 2.0, "d02": 1.0}}, {"q": {"d02": 5.0}}]
    found = ranx.fuse([ranx.Run(run) for run in runs], None, "wsum", {"weights": weights})
    assert dict(found.run["q"]) == of_ranx
    with pytest.raises(il.UsageError):
        il.fuse(runs, "wsum", norm="none", weights=weights)


def learnt(method: str, judged: Any, run: Lists) -> list[float]:
    """Learn from one run with idealist."""
    protocol = il.Protocol()
    placed = rank(il.read_qrels(judged), il.read_run(run), [protocol])[protocol]
    return [float(value) for value in as_fusion(method).learn([placed])[0]]


@pytest.mark.parametrize("method", LEARNT)
def test_ranx_learns_from_other_queries(method: str) -> None:
    """It pairs judgments with lists by their places, whatever the queries are called."""
    train, _, learning, _ = LEARNT[method]
    run = {query: {"d01": 2.0, "d02": 1.0} for query in ("q2", "q3")}
    judged = {"q1": {"d01": 1}, "q2": {"d03": 1}}
    given = ranx.Qrels(judged), [ranx.Run(run)]
    least = min(learnt(method, {"q2": {"d03": 1}}, run))
    assert max(learnt(method, judged, run)) == least  # nothing relevant was found for q2
    if method == "mapfuse":
        with pytest.raises(AssertionError, match="do not match"):
            train(*given, **learning)
    else:
        assert max(train(*given, **learning)[0]) > least


@pytest.mark.parametrize(("queries", "of_ranx"), [(5, 6.907), (10, 36.74), (11, np.nan)])
def test_ranx_bayesfuse_of_certainty(queries: int, of_ranx: float) -> None:
    """The mean of shares that are all 1 is rounded: only if it is exactly 1, 0.001 counts."""
    names = [f"d{j:02}" for j in range(5)]
    judged = {f"q{i}": dict.fromkeys(names, 1) for i in range(queries)}
    run = {f"q{i}": {name: 9.0 - j for j, name in enumerate(names)} for i in range(queries)}
    (found,) = ranx_fusion.bayesfuse_train(ranx.Qrels(judged), [ranx.Run(run)])
    assert found[0] == pytest.approx(of_ranx, abs=0.01, nan_ok=True)
    assert learnt("bayesfuse", judged, run)[0] == pytest.approx(np.log(1 / 0.001))


def test_ranx_bayesfuse_reads_on() -> None:
    """Beyond rank 1,000 it reads what lies behind its table in memory; 0.001 counts here."""
    run = {"q": {f"{i:03x}": 5000.0 - i for i in range(1200)}}
    memory = np.arange(2000.0)
    tables = {"log_odds": [memory[:1000]] * 2}
    found = ranx.fuse([ranx.Run(run)] * 2, None, "bayesfuse", tables).run["q"]
    assert found[f"{1100:03x}"] == 2 * memory[1100]
    met = RankedRuns.of([il.read_run(run)] * 2).met()
    scores = as_fusion("bayesfuse").scores(met.candidates, [np.zeros(9)] * 2)
    assert scores[1100] == pytest.approx(2 * np.log(0.001 / 0.999))


@pytest.mark.parametrize("norm", ["borda", "min-max-inverted"])
@pytest.mark.parametrize("method", LEARNT)
def test_ranks_that_were_not_learnt_are_refused(method: str, norm: str) -> None:
    """What ranx learns of the ranks of runs, it uses at those after the normalisation."""
    with pytest.raises(il.UsageError):
        as_fusion(method, norm=norm)


def per_query(runs: list[il.Run], method: str, norm: str = "none", **given: Any) -> Lists:
    rows = il.fuse(runs, method, norm=norm, **given).rows()
    return {
        query: dict(zip(rows.documents[span], np.asarray(rows.scores)[span].tolist(), strict=True))
        for query, span in rows.spans().items()
    }


def best(lists: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(lists.items(), key=lambda pair: -pair[1])


def points(lists: dict[str, float]) -> list[Any]:
    from qdrant_client.http.models import ScoredPoint

    return [ScoredPoint(id=int(name[1:]), version=0, score=score) for name, score in best(lists)]


@pytest.mark.parametrize("method", ["dbsf", "qdrant_rrf", "qdrant_rrf, weighted"])
def test_qdrant(method: str) -> None:
    from qdrant_client.hybrid import fusion as qdrant

    for runs in SETS:
        own = case(runs)
        weights = [0.5 + i for i in range(runs)]
        given = {"weights": weights, "k": 7} if "weighted" in method else {}
        norm = "distribution" if method == "dbsf" else "none"
        found = per_query(own.ours, method.partition(",")[0], norm, **given)
        for query, scores in found.items():
            lists = [points(run[query]) for run in own.lists]
            if method == "dbsf":
                wanted = qdrant.distribution_based_score_fusion(lists, 1000)
            else:
                k = {"ranking_constant_k": 7, "weights": weights} if given else {}
                wanted = qdrant.reciprocal_rank_fusion(lists, 1000, **k)
            assert_equal(scores, {f"d{one.id}": one.score for one in wanted})


def assert_equal(found: dict[str, float], wanted: dict[str, float]) -> None:
    """Compare scores, faster than `pytest.approx` does."""
    assert found.keys() == wanted.keys()
    for name, score in wanted.items():
        assert abs(found[name] - score) <= 1e-9 * max(1, abs(score)), name


def test_qdrant_of_equal_scores() -> None:
    """They get ½ from the server, but from the client only where their mean is not rounded."""
    from qdrant_client.hybrid import fusion as qdrant

    for score, of_client in ((0.5, 0.5), (0.1, 0.375)):
        lists = dict.fromkeys(DOCUMENTS[:3], score)
        (one, *_) = qdrant.distribution_based_score_fusion([points(lists)], 3)
        assert one.score == pytest.approx(of_client, rel=1e-9)
        found = per_query([il.read_run({"q": lists})] * 2, "dbsf", "distribution")
        assert found["q"]["d0"] == 2 * 0.5


@pytest.mark.parametrize(("mode", "method", "norm"), [
    ("reciprocal_rank_fusion", "rrf", "none"), ("merge", "sum", "none"),
    ("concatenate", "max", "none"), ("distribution_based_rank_fusion", "max", "z-score"),
])  # fmt: skip
def test_haystack(mode: str, method: str, norm: str) -> None:
    """Its ranks count from 61, times 61; its weights add up to 1; a deviation divides by n."""
    from haystack import Document
    from haystack.components.joiners import DocumentJoiner

    joiner = DocumentJoiner(join_mode=mode)
    for runs in SETS:
        own = case(runs)
        found = per_query(own.ours, method, norm)
        for query in found:
            lists = [best(run[query]) for run in own.lists]
            if norm == "z-score" and min(map(len, lists)) == 1:
                continue  # of a single document it keeps the score
            held = [[Document(id=d, content=d, score=s) for d, s in one] for one in lists]
            wanted = {one.id: one.score for one in joiner.run(held)["documents"]}
            assert_equal({d: of_haystack(mode, s, runs) for d, s in found[query].items()}, wanted)


def of_haystack(mode: str, score: float, runs: int) -> float:
    if mode == "distribution_based_rank_fusion":
        return score / 6 + 0.5
    share = {"reciprocal_rank_fusion": 61 / runs, "merge": 1 / runs, "concatenate": 1.0}
    return score * share[mode]


@pytest.mark.parametrize(("mode", "method", "norm", "given"), [
    ("reciprocal_rerank", "rrf", "none", {"k": 59}), ("simple", "max", "none", {}),
    ("relative_score", "relative_score", "relative", {}), ("dist_based_score", "sum", "z-score", {}),
])  # fmt: skip
def test_llama_index(mode: str, method: str, norm: str, given: dict[str, Any]) -> None:
    """Its k counts from rank 0; its weights add up to 1; a deviation divides by n."""
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    nodes = {name: TextNode(id_=name, text=name) for name in DOCUMENTS}

    class Held(BaseRetriever):  # type: ignore[misc]  # the package has no types
        def __init__(self, run: Lists) -> None:
            self.run = run
            super().__init__()

        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            lists = best(self.run[query_bundle.query_str])
            return [NodeWithScore(node=nodes[name], score=score) for name, score in lists]

    for runs in SETS:
        own = positive(case(runs))
        found = per_query(own.ours, method, norm, **given)
        retriever = QueryFusionRetriever(
            [Held(run) for run in own.lists], llm=MockLLM(), mode=mode, num_queries=1,
            use_async=False, similarity_top_k=100,
        )  # fmt: skip
        for query in found:
            lists = [run[query] for run in own.lists]
            if mode == "dist_based_score" and min(map(len, lists)) == 1:
                continue  # a single document gets 1
            wanted = {one.node.node_id: one.score for one in retriever.retrieve(query)}
            times = {d: sum(d in one for one in lists) for d in wanted}
            scores = {d: of_llama_index(mode, found[query][d], times[d], runs) for d in wanted}
            assert_equal(scores, wanted)


def positive(own: Case) -> Case:
    """Take the size of scores, as it takes scores below 0 for 0 in places."""
    lists = [
        {query: {d: abs(s) for d, s in one.items()} for query, one in run.items()}
        for run in own.lists
    ]
    return Case(lists, [il.read_run(run) for run in lists], [])


def of_llama_index(mode: str, score: float, times: int, runs: int) -> float:
    if mode == "dist_based_score":
        return (score / 6 + times / 2) / runs
    return score / runs if mode == "relative_score" else score
