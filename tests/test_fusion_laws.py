"""Laws of fusion: what no method, whatever its parameters, may do; and what its options mean."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings

import idealist as il
import oracle_fusion as oracle
from effort import tries
from fusion_cases import Lists, some_judgments, some_method, some_runs
from generated import seeds
from idealist.fusing.fusion import Fusion
from idealist.fusing.method_list import explained_method, listed
from idealist.fusing.methods import FAMILIES, FUSIONS, SPELLINGS, as_fusion, make_fusion
from idealist.fusing.normalisations import NORMS
from idealist.notation import text

JUDGED = some_judgments(random.Random(1), 2)
WEIGHTED = [name for name in FUSIONS if "weights" in FUSIONS[name].parameters()]
UNTAUGHT = [name for name in FUSIONS if not FUSIONS[name].learns]
BY_RANK = [one.__name__ for one in FAMILIES["By ranks"]]
BY_SCORE = [one.__name__ for one in FAMILIES["By scores"]]
#: Where a weight says how often a run counts.
LINEAR = ["WRRF", "WBorda", "WCondorcet", "WSUM", "RankedFusion", "RelativeScoreFusion", "Linear"]
#: What makes lists comparable whose scores differ by a factor and a constant.
COMPARABLE = ["min-max", "sum", "z-score", "distribution", "relative", "opensearch-min-max"]

few = settings(max_examples=tries(25, 300), deadline=None)


def lists_of(run: il.Run) -> Lists:
    """Give the scores of each query, best first."""
    rows = run.rows()
    assert rows.scores is not None
    return {
        query: dict(zip(rows.documents[span], rows.scores[span].tolist(), strict=True))
        for query, span in rows.spans().items()
    }


def fused(runs: Any, method: Any, missing: str = "empty", **options: Any) -> Lists:
    """Fuse, with judgments for those that learn."""
    qrels = JUDGED if as_fusion(method).learns else None
    return lists_of(il.fuse(runs, method, qrels=qrels, missing=missing, **options))


def orders(found: Lists) -> dict[str, list[str]]:
    return {query: list(scores) for query, scores in found.items()}


def assert_close(found: Lists, wanted: Lists) -> None:
    assert found.keys() == wanted.keys()
    for query, scores in wanted.items():
        own = found[query]
        assert own.keys() == scores.keys()
        assert all(math.isclose(own[d], scores[d], rel_tol=1e-12, abs_tol=1e-12) for d in own)


def drawn(seed: int, names: Iterable[str] = FUSIONS) -> tuple[random.Random, list[Lists], Fusion]:
    """Draw runs, and a method among some."""
    rng = random.Random(seed)
    runs = some_runs(rng, rng.choice([2, 3, 4]), 3)
    return rng, runs, some_method(rng, len(runs), tuple(names))


def levels(scores: dict[str, float]) -> dict[str, float]:
    """Give whole numbers in the same order, so that no spread is so small that it counts as none."""
    known = sorted({*scores.values()})
    return {d: float(known.index(s)) for d, s in scores.items()}


def changed(method: Fusion, **parameters: Any) -> Fusion:
    return make_fusion(method.name, method.changed() | parameters)


def written(weights: Iterable[float]) -> str:
    return f"({','.join(map(text, weights))})"


# What methods are called.


@given(seeds)
@settings(max_examples=tries(200, 2000), deadline=None)
def test_a_method_is_what_it_prints(seed: int) -> None:
    rng = random.Random(seed)
    method = some_method(rng, rng.randint(2, 5))
    assert il.parse_fusion(str(method)) == method
    assert eval(repr(str(method))) == str(method) == repr(method)  # one word, as a name must be
    assert str(method).split() == [str(method)]


@pytest.mark.parametrize("name", FUSIONS)
def test_every_name_is_known_in_any_case(name: str) -> None:
    for spelling in (name, name.lower(), name.upper()):
        assert il.parse_fusion(spelling) == FUSIONS[name]() == as_fusion(FUSIONS[name])
    assert str(FUSIONS[name]()) == name


@pytest.mark.parametrize("theirs", SPELLINGS)
def test_every_spelling_is_a_method(theirs: str) -> None:
    assert il.parse_fusion(theirs).name == SPELLINGS[theirs]


def test_a_method_may_be_given_in_any_form() -> None:
    method = il.parse_fusion("wsum(norm=max,weights=(0.3,0.7))")
    for same in (
        as_fusion("WSUM", ("a", "b"), norm="max", weights={"b": "0.7", "a": 0.3}),
        as_fusion("wsum(norm=max)", weights=[0.3, 0.7]),
        as_fusion(FUSIONS["WSUM"], weights="0.3, 0.7", norm="max"),
        il.parse_fusion("weighted_sum( norm = max , weights = (0.3, 7/10) )"),
    ):
        assert same == method
    assert as_fusion("sum(norm=zmuv)") == as_fusion("CombSUM", norm="z-score")
    assert as_fusion("rrf", norm=None) == as_fusion("rrf", norm="none")
    assert as_fusion("probfuse(n_segments=3)") == as_fusion("ProbFuse", parts=3)


def test_every_method_is_described() -> None:
    data = listed().data()
    assert [one["name"] for one in data["methods"]] == list(FUSIONS)
    assert data["norms"].keys() == NORMS.keys()
    for one in data["methods"]:
        assert one["summary"]
        assert one["reference"]
        assert one["formula"] or FUSIONS[one["name"]].formula() == one["summary"]
        assert one["name"] in str(listed())
        assert one["reference"] in " ".join(str(explained_method(one["name"])).split())
        assert {parameter["name"] for parameter in one["parameters"]} == FUSIONS[
            one["name"]
        ].parameters().keys()
    assert all(data["norms"].values())


# What does not matter.


@given(seeds)
@few
def test_the_order_of_the_runs_does_not_matter(seed: int) -> None:
    rng, runs, method = drawn(seed)
    order = rng.sample(range(len(runs)), len(runs))
    other = method
    if method.name in WEIGHTED:
        weights = method.weight(len(runs)).tolist()
        method = changed(method, weights=written(weights))
        other = changed(method, weights=written(weights[i] for i in order))
    assert_close(fused([runs[i] for i in order], other), fused(runs, method))


@given(seeds)
@few
def test_the_order_of_rows_and_queries_does_not_matter(seed: int) -> None:
    rng, runs, method = drawn(seed)
    mixed = [
        {q: dict(rng.sample(list(run[q].items()), len(run[q]))) for q in rng.sample(list(run), len(run))}
        for run in runs
    ]  # fmt: skip
    assert fused(mixed, method) == fused(runs, method)


@given(seeds)
@few
def test_names_that_sort_alike_do_not_matter(seed: int) -> None:
    _, runs, method = drawn(seed, UNTAUGHT)
    renamed = [{f"z{q}": {f"d{d}": s for d, s in run[q].items()} for q in run} for run in runs]
    found = {
        q[1:]: {d[1:]: s for d, s in scores.items()} for q, scores in fused(renamed, method).items()
    }
    assert found == fused(runs, method)
    assert orders(found) == orders(fused(runs, method))


@given(seeds)
@few
def test_other_queries_do_not_matter(seed: int) -> None:
    _, runs, method = drawn(seed, UNTAUGHT)
    whole = fused(runs, method)
    alone: list[Lists] = [{"q1": run.get("q1", {})} for run in runs]
    assert fused(alone, method)["q1"] == whole["q1"]


@given(seeds)
@few
def test_ranks_do_not_depend_on_the_size_of_scores(seed: int) -> None:
    _, runs, method = drawn(seed, BY_RANK)
    larger = [{q: {d: 3 * s - 7 for d, s in run[q].items()} for q in run} for run in runs]
    assert fused(larger, method) == fused(runs, method)


@given(seeds)
@few
def test_a_factor_and_a_constant_do_not_matter_where_scores_are_normalised(seed: int) -> None:
    rng, runs, method = drawn(seed, [*BY_SCORE, "DBSF", "RelativeScoreFusion"])
    method = changed(method, norm=rng.choice(COMPARABLE))
    runs = [{q: levels(run[q]) for q in run} for run in runs]
    moved = [{q: {d: 4 * s + 16 for d, s in run[q].items()} for q in run} for run in runs]
    found, wanted = fused(moved, method), fused(runs, method)
    assert {q: s.keys() for q, s in found.items()} == {q: s.keys() for q, s in wanted.items()}
    for query, scores in wanted.items():
        assert all(
            math.isclose(found[query][d], s, rel_tol=1e-9, abs_tol=1e-9) for d, s in scores.items()
        )


@given(seeds)
@few
def test_judgments_of_other_queries_teach_nothing(seed: int) -> None:
    _, runs, method = drawn(seed, FUSIONS.keys() - set(UNTAUGHT))
    known = {q: judged for q, judged in JUDGED.items() if q in runs[0]}
    found = [
        lists_of(il.fuse(runs, method, qrels=qrels, missing="empty"))
        for qrels in (known, known | {"x": {"a": 1}, "y": {"a": 2}})
    ]
    assert found[0] == found[1]


# What fusing keeps.


@given(seeds)
@few
def test_a_run_fused_with_itself_keeps_its_order(seed: int) -> None:
    rng, [run, *_], method = drawn(seed, [*BY_RANK, *BY_SCORE])
    if method.norm in ("min-max-inverted", "opensearch-z-score") or getattr(method, "phi", 0) == 1:
        return  # turned round, raised at the mean, or all the same
    run = {q: levels(scores) for q, scores in run.items()}
    if "weights" in method.parameters():
        method = changed(method, weights=written([rng.random() + 0.1, rng.random()]))
    assert orders(fused([run, run], method)) == {q: oracle.best_first(run[q]) for q in sorted(run)}


@given(seeds)
@few
def test_what_every_run_ranks_higher_stays_higher(seed: int) -> None:
    _, runs, method = drawn(seed, [name for name in BY_RANK if name != "RBC"])
    if method.norm in ("min-max-inverted", "borda"):
        return
    method = changed(method, **{"weights": "equal"} if method.name in WEIGHTED else {})
    for query, order in orders(fused(runs, method)).items():
        lists = [oracle.found(run.get(query, {})) for run in runs]
        for a, b in pairwise(order):
            ranks = [(x[b].rank, x[a].rank) for x in lists if a in x and b in x]
            everywhere = len(ranks) == len(lists)
            assert not (everywhere and all(of_b < of_a for of_b, of_a in ranks))


@given(seeds)
@few
def test_weights_are_relative(seed: int) -> None:
    rng, runs, method = drawn(seed, [name for name in WEIGHTED if name != "QdrantRRF"])
    weights = [float(rng.randint(0, 3)) + (not i) for i in range(len(runs))]
    found = [
        orders(fused(runs, changed(method, weights=written(factor * w for w in weights))))
        for factor in (1, 4, 2.0**-60)
    ]
    assert found == [found[0]] * 3


@given(seeds)
@few
def test_a_run_of_weight_0_gives_nothing(seed: int) -> None:
    names = [name for name in WEIGHTED if name not in ("WBorda", "WCondorcet", "WMNZ", "Mixed")]
    rng, runs, method = drawn(seed, names)  # the others count runs, or candidates
    if method.norm == "borda":
        return
    weights = [rng.random() + 0.01 for _ in runs]
    before = fused(runs, changed(method, weights=written(weights)))
    more = [*runs, some_runs(rng, 1, 3)[0]]
    after = fused(more, changed(method, weights=written([*weights, 0])))
    for query, scores in before.items():
        assert {d: after[query][d] for d in scores} == scores


@given(seeds)
@few
def test_a_weight_says_how_often_a_run_counts(seed: int) -> None:
    rng, runs, method = drawn(seed, LINEAR)
    times = [rng.randint(1, 3) for _ in runs]
    repeated = [run for run, count in zip(runs, times, strict=True) for _ in range(count)]
    once = fused(runs, changed(method, weights=written(times)))
    assert_close(fused(repeated, changed(method, weights="equal")), once)


@pytest.mark.parametrize(("weighted", "plain"), [
    ("WRRF", "RRF"), ("WBorda", "Borda"), ("WCondorcet", "Condorcet"), ("WSUM", "CombSUM"),
    ("WMNZ", "CombMNZ"), ("RelativeScoreFusion(norm=min-max)", "CombSUM"),
    ("Linear(norm=z-score)", "CombSUM(norm=z-score)"), ("RankedFusion", "RRF(k=59)"),
    ("DBSF", "CombSUM(norm=distribution)"), ("QdrantRRF(k=61)", "RRF"),
    ("CombGMNZ(norm=max)", "CombMNZ(norm=max)"), ("CombGMNZ(gamma=0)", "CombSUM"),
    ("LogNISR(sigma=0)", "LogISR"), ("SlideFuse(w=0)", "PosFuse"),
])  # fmt: skip
def test_equal_weights_and_neutral_parameters_make_the_plain_method(
    weighted: str, plain: str
) -> None:
    for seed in range(5):
        runs = some_runs(random.Random(seed), 3, 4)
        assert_close(fused(runs, weighted), fused(runs, plain))


# Votes.


@given(seeds)
@settings(max_examples=tries(60, 600), deadline=None)
def test_no_document_beats_the_one_before_it(seed: int) -> None:
    _, runs, method = drawn(seed, ["Condorcet", "WCondorcet"])
    method = changed(method, norm="none")
    weights = method.weight(len(runs)).tolist()
    for query, scores in fused(runs, method).items():
        lists = [oracle.found(run.get(query, {})) for run in runs]
        assert list(scores.values()) == [float(n) for n in range(len(scores), 0, -1)]
        assert all(oracle.margin(lists, weights, b, a) <= 0 for a, b in pairwise(scores))
        winners = [
            a
            for a in scores
            if all(oracle.margin(lists, weights, a, b) > 0 for b in scores if b != a)
        ]
        assert winners in ([], list(scores)[:1])


def test_even_votes_are_broken_by_points_and_then_by_id() -> None:
    assert fused([{"q": ["a", "b"]}, {"q": ["b", "a"]}], "condorcet") == {"q": {"b": 2.0, "a": 1.0}}
    lists = [{"q": ["a", "b", "c"]}, {"q": ["c", "a", "b"]}, {"q": ["b", "c", "a"]}]  # in a circle
    first = orders(fused(lists, "condorcet"))
    assert orders(fused(lists[::-1], "condorcet")) == first
    uneven = "wcondorcet(weights=(0.1,0.2,0.3))"  # which add up to more than 0.3
    found = fused([{"q": ["a", "b"]}, {"q": ["a", "b"]}, {"q": ["b", "a"]}], uneven)
    assert orders(found) == {"q": ["b", "a"]}


# Options.


@given(seeds)
@few
def test_a_window_is_what_is_looked_at(seed: int) -> None:
    rng, runs, method = drawn(seed)
    window = rng.randint(1, 4)
    if method.norm == "min-max-inverted":  # of which the lowest scores are the best
        with pytest.raises(il.UsageError, match="are not its lowest scores"):
            il.fuse(runs, method, window=window, qrels=None)
        return
    cut = [
        {q: {d: run[q][d] for d in oracle.best_first(run[q])[:window]} for q in run} for run in runs
    ]
    assert fused(runs, method, window=window) == fused(cut, method)


@given(seeds)
@few
def test_what_is_kept_comes_first(seed: int) -> None:
    rng, runs, method = drawn(seed)
    keep, whole = rng.randint(1, 4), fused(runs, method)
    kept = fused(runs, method, keep=keep)
    assert kept == {q: dict(list(scores.items())[:keep]) for q, scores in whole.items()}
    assert orders(kept) == {q: list(scores)[:keep] for q, scores in whole.items()}


@given(seeds)
@few
def test_missing_queries_are_empty_or_skipped(seed: int) -> None:
    _, runs, method = drawn(seed, UNTAUGHT)
    filled = [{q: run.get(q, {}) for q in runs[0]} for run in runs]
    common = [q for q in sorted(runs[0]) if all(q in run for run in runs)]
    every = fused(filled, method, missing="error")
    assert fused(runs, method, missing="empty") == every
    if common:
        skipped = fused(runs, method, missing="skip")
        assert skipped == {q: every[q] for q in common}
    if len(common) < len(runs[0]):
        with pytest.raises(il.UsageError, match=r"lacks .* that others have"):
            fused(runs, method, missing="error")


def test_rules_of_the_protocol_rank_the_runs() -> None:
    tied = [{"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 2.0, "b": 2.0}}]
    assert orders(fused(tied, "rrf")) == {"q": ["b", "a"]}
    assert orders(fused(tied, "rrf", ties="docid-asc")) == {"q": ["a", "b"]}
    twice = [{"q": [("a", 1.0), ("b", 0.5), ("a", 0.1)]}] * 2
    assert orders(fused(twice, "rrf", duplicates="first")) == {"q": ["a", "b"]}
    assert orders(fused(twice, "rrf", duplicates="last")) == {"q": ["b", "a"]}
    chunks = [{"q": {"a#1": 1.0, "b#1": 0.9, "a#2": 0.8}}] * 2
    assert fused(chunks, "sum", collapse="#.*", norm="none") == {"q": {"a": 2.0, "b": 1.8}}
    assert orders(fused([{"q": {"q": 1.0, "a": 0.5}}] * 2, "rrf", exclude_self=True)) == {
        "q": ["a"]
    }
    ranked = {
        "q": [
            {"document": "a", "rank": 2, "score": 9.0},
            {"document": "b", "rank": 1, "score": 1.0},
        ]
    }
    assert orders(fused([ranked, ranked], "rrf", order="rank")) == {"q": ["b", "a"]}
    close = [{"q": {"a": 1.00000000001, "b": 1.0}}] * 2
    assert orders(fused(close, "rrf", precision="float32")) == {"q": ["b", "a"]}


def test_infinite_scores_are_fused_by_rank_or_refused() -> None:
    runs = [{"q": {"a": math.inf, "b": 1.0}}, {"q": {"b": 2.0, "c": -math.inf}}]
    assert orders(fused(runs, "rrf", nonfinite="as_is")) == {"q": ["b", "a", "c"]}
    assert fused(runs, "sum", norm="none", nonfinite="as_is")["q"]["c"] == -math.inf
    for method in ("sum", "wsum(norm=z-score)", "dbsf"):
        with pytest.raises(il.UsageError, match="cannot fuse scores that are infinite or so large"):
            fused(runs, method, nonfinite="as_is")
    with pytest.raises(il.UsageError, match=r"hint: repair the scores, or fuse by ranks"):
        fused([{"q": {"a": 1e308, "b": -1e308}}] * 2, "sum")
    large = [{"q": {"a": 1e308, "b": -1e308}}, {"q": {"a": 1e308, "b": 1e307}}]
    for norm in ("none", "z-score", "l2", "sum", "distribution"):
        with pytest.raises(il.UsageError, match="infinite or so large"):
            fused(large, "sum", norm=norm)
    nan = [{"q": {"a": math.nan, "b": 1.0}}] * 2
    assert orders(fused(nan, "rrf", nonfinite="last")) == {"q": ["b", "a"]}
    with pytest.raises(il.InputError, match="some scores are not numbers"):
        fused(nan, "sum", nonfinite="last")


# Learning.


def test_a_method_learns_from_the_window_alone() -> None:
    """Of the first two documents, halves are one each; of all four, two."""
    train = {"t": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    runs = [train | {"q": {"x": 2.0, "y": 1.0}}, train | {"q": {"x": 2.0, "y": 1.0}}]
    taught: dict[str, Any] = {"qrels": {"t": {"a": 1, "c": 1}}, "parts": 2}
    assert lists_of(il.fuse(runs, "probfuse", **taught))["q"] == {"x": 1.0, "y": 0.5}
    assert lists_of(il.fuse(runs, "probfuse", window=2, **taught))["q"] == {"x": 2.0, "y": 0.0}


def test_what_was_never_relevant_gives_nothing_or_little() -> None:
    runs = [{"t": {"a": 1.0}, "q": {"x": 1.0}}] * 2
    for name in FUSIONS.keys() - set(UNTAUGHT):
        score = lists_of(il.fuse(runs, name, qrels={"t": {"a": 0, "z": 1}}))["q"]["x"]
        assert score == (pytest.approx(2 * math.log(0.001 / 0.999)) if name == "BayesFuse" else 0.0)


def test_what_was_always_relevant_is_not_certain() -> None:
    train = {"t": dict.fromkeys("abcde", 1.0)}
    runs = [train | {"q": {"x": 1.0}}] * 2
    made = lists_of(il.fuse(runs, "bayesfuse", qrels={"t": dict.fromkeys("abcde", 1)}))
    assert made["q"]["x"] == pytest.approx(2 * math.log(1 / 0.001))


# Doubts.


def test_what_is_doubtful_is_said_with_every_result() -> None:
    runs: list[Lists] = [{"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0}}, {"q1": {"b": 2.0}}]
    made = il.fuse(runs, "posfuse", qrels={"q1": {"a": 1}}, missing="empty")
    found = {doubt.code: doubt for doubt in il.evaluate({"q2": {"a": 1}}, made, "RR").doubts}
    assert "on these queries its values are too good" in found["learnt"].message
    assert "the judgments of 1 query:" in found["learnt"].message
    assert (found["uneven-queries"].count, found["uneven-queries"].total) == (1, 2)
    assert (found["tied-inputs"].count, found["tied-inputs"].total) == (1, 2)
    assert "queries of run (1)" in found["tied-inputs"].message
    assert all(found[code].remedy for code in ("learnt", "uneven-queries", "tied-inputs"))


def test_nothing_is_doubtful_about_clean_runs() -> None:
    made = il.fuse([{"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "c": 1.0}}])
    codes = {
        doubt.code for doubt in il.evaluate({"q": {"a": 1, "b": 0, "c": 0}}, made, "RR").doubts
    }
    assert not codes & {"learnt", "uneven-queries", "tied-inputs", "ties"}
