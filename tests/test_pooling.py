"""What to judge next: pools of a depth, fused ranks, and strategies that learn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

import idealist as il
from effort import SLOW
from idealist.judging.choosing.adaptive import WALKS, revised, unasked
from idealist.judging.choosing.pool_case import Lists, fused, shares

RUNS = {
    "bm25": {"q1": ["a", "b", "c", "d"], "q2": ["x", "y"]},
    "dense": {"q1": ["b", "e", "a"], "q2": ["z"]},
}


def chosen(found: il.Pooling) -> list[tuple[str, str]]:
    return [(one.query, one.document) for one in found.chosen]


def test_a_pool_of_a_depth_is_the_union_of_the_first_documents() -> None:
    found = il.pool(None, RUNS, depth=2)
    assert set(chosen(found)) == {
        ("q1", "a"), ("q1", "b"), ("q1", "e"), ("q2", "x"), ("q2", "y"), ("q2", "z"),
    }  # fmt: skip
    assert [one.place for one in found.chosen] == [1, 2, 3, 4, 5, 6]
    assert found.batch.parameters["depth"] == 2
    assert list(found.batch.parameters["runs"]) == ["bm25", "dense"]


def test_what_is_judged_is_not_chosen_again() -> None:
    found = il.pool({"q1": {"a": 1, "b": 0}}, RUNS, depth=2)
    assert chosen(found) == [("q1", "e"), ("q2", "x"), ("q2", "z"), ("q2", "y")]
    assert "Of the documents looked at, 2 are judged already" in str(found)


@pytest.mark.parametrize("by", ["depth", "fusion"])
def test_what_waits_to_be_judged_is_not_chosen_again(by: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    with il.Store.create(path) as store:
        store.add_batch(il.pool(path, RUNS, by=by, depth=1).batch)
        again = il.pool(path, RUNS, by=by, depth=1)
        assert not again.chosen
        assert again.summary.startswith("nothing new is to be judged")
        waiting = [one.document for one in il.pool(None, RUNS, by=by, depth=1).chosen]
        assert f"{len(waiting)} documents of earlier batches are still to be judged" in str(again)
        deeper = il.pool(path, RUNS, by=by, depth=2)
        assert chosen(deeper)
        assert {("q1", one) for one in waiting}.isdisjoint(chosen(deeper))
        every = il.pool(path, RUNS, by="maxmean", depth=1, budget=9)
        assert f"and {len(waiting)} of them chosen again" in str(every)


def test_a_budget_buys_the_deepest_pool_that_fits() -> None:
    found = il.pool(None, RUNS, budget=5)
    assert len(found.chosen) == 4
    assert found.batch.parameters["depth"] == 1
    assert found.left == 1
    assert "1 of the budget remains" in found.summary
    assert "Depth 2 would take 1 more than the budget." in str(found)


def test_fusion_takes_as_many_of_each_query() -> None:
    found = il.pool(None, RUNS, by="fusion", budget=4)
    assert chosen(found) == [("q1", "b"), ("q1", "a"), ("q2", "x"), ("q2", "z")]
    assert len(il.pool(None, RUNS, by="fusion", per_query=1).chosen) == 2


@pytest.mark.parametrize("by", ["depth", "fusion", "mtf", "maxmean", "sampled"])
def test_a_budget_for_more_than_there_is_leaves_some(by: str) -> None:
    found = il.pool(None, RUNS, by=by, budget=100)
    assert len(found.chosen) == 8
    assert found.left == 92
    judged = {q: {d: 1 for run in RUNS.values() for d in run[q]} for q in ("q1", "q2")}
    assert il.pool(judged, RUNS, by=by, budget=9).summary.startswith("nothing is left to judge")


def test_runs_that_repeat_each_other_count_once() -> None:
    found = il.pool(None, [RUNS["bm25"], RUNS["bm25"], RUNS["dense"]], by="fusion", budget=1)
    assert "ranks as run does, and counts once" in str(found)
    assert chosen(found) == [("q1", "b")]


@pytest.mark.parametrize(
    ("runs", "options", "words"),
    [
        (RUNS, {"budget": 0}, "budget is 0"),
        (RUNS, {"depth": -1}, "depth is -1"),
        (RUNS, {"budget": 1.5}, "budget is 1.5"),
        (RUNS, {}, "a pool needs a depth or a budget"),
        (RUNS, {"by": "fuson"}, "did you mean fusion"),
        (RUNS, {"by": "fusion", "dept": 1}, "has no option 'dept'"),
        (RUNS, {"budget": 1}, "the first document of each run makes 4; the budget is 1"),
        (RUNS, {"depth": 2, "per_query": 2}, "one depth for all queries"),
        ([], {"depth": 1}, "no run"),
        ([RUNS["bm25"], {"q9": ["a"]}], {"depth": 1}, "shares no query"),
        ([{"q7": ["a"]}], {"depth": 1}, "the runs and the judgments share no query"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(runs: object, options: dict[str, Any], words: str) -> None:
    with pytest.raises(il.IdealistError) as error:
        il.pool({"q1": {"zz": 1}}, runs, **options)
    assert words in str(error.value)


def test_a_document_retrieved_twice_is_refused() -> None:
    run = il.read_run([{"query": "q1", "document": "a", "score": s} for s in (1, 2)])
    with pytest.raises(il.InputError, match="retrieved twice"):
        il.pool(None, [run], depth=1)


def test_runs_are_ranked_as_they_are_told() -> None:
    run = {"q1": {"a#1": 3.0, "a#2": 2.0, "b#1": 1.0, "c#1": 1.0}}
    found = il.pool(None, [run], depth=3, collapse="#\\d+", ties="docid-asc")
    assert [one.document for one in found.chosen] == ["a", "b", "c"]
    assert found.batch.parameters["ties"] == "docid-asc"
    found = il.pool(None, [run], depth=3, collapse={"a#1": "x", "a#2": "x"})
    assert [one.document for one in found.chosen] == ["x", "c#1", "b#1"]
    assert found.batch.parameters["collapse"].startswith("map(")


@given(st.integers(0, 60), st.lists(st.integers(0, 20), min_size=1, max_size=8))
def test_shares_are_equal_and_spend_all_they_can(budget: int, sizes: list[int]) -> None:
    named = dict(zip(map(str, count()), sizes, strict=False))
    found = shares(budget, named)
    assert sum(found.values()) == min(budget, sum(sizes))
    assert all(found[query] <= size for query, size in named.items())
    short = [found[query] for query, size in named.items() if found[query] < size]
    assert not short or max(found.values()) - min(short) <= 1


def test_fusion_prefers_what_many_runs_rank_high() -> None:
    assert fused((("a", "b", "c"), ("c", "b"), ("b",)))[0] == "b"
    assert fused((("b", "a"), ("a", "b"))) == ["a", "b"]


#: Lists of distinct documents, and which of them are relevant.
LISTS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True).map(tuple), min_size=1).map(
    tuple
)
#: How many documents of each query are judged.
BUDGETS = (10, 20, 30, 50, 75, 100)
RELEVANT = st.sets(st.sampled_from("abcdefgh"))


def walked(strategy: str, lists: Lists, relevant: set[str]) -> list[str]:
    """Let a judge answer each question at once."""
    found = []
    walk = WALKS[strategy](lists)
    try:
        document = next(walk)
        while True:
            found.append(document)
            document = walk.send(document in relevant)
    except StopIteration:
        return found


@given(st.sampled_from(sorted(WALKS)), LISTS, RELEVANT)
def test_beginning_anew_after_each_judgment_is_the_same_walk(
    strategy: str, lists: Lists, relevant: set[str]
) -> None:
    whole = walked(strategy, lists, relevant)
    assert sorted(whole) == sorted({document for one in lists for document in one})
    grades: dict[str, float] = {}
    for document in whole:
        assert next(unasked(strategy, lists, grades, 1)) == document
        grades[document] = float(document in relevant)
    assert not list(unasked(strategy, lists, grades, 1))


@given(LISTS, RELEVANT)
def test_maxmean_takes_the_run_with_the_highest_mean(lists: Lists, relevant: set[str]) -> None:
    judged: list[str] = []
    for document in walked("maxmean", lists, relevant):
        means = []
        for one in lists:
            mine = [d for d in one if d in judged]
            left = [d for d in one if d not in judged]
            mean = (1 + sum(d in relevant for d in mine)) / (2 + len(mine))
            means += [(mean, left[0])] if left else []
        assert document in {first for mean, first in means if mean == max(means)[0]}
        judged.append(document)


def test_move_to_front_stays_with_a_run_while_it_finds_something() -> None:
    lists = (tuple("abcdef"), tuple("uvwxyz"))
    assert walked("mtf", lists, set("abcw")) == list("abcduevfwxyz")


@pytest.mark.parametrize("by", sorted(WALKS))
def test_a_batch_keeps_what_it_needs_to_choose_again(by: str) -> None:
    found = il.pool({"q1": {"c": 1}}, RUNS, by=by, budget=2)
    for query in ("q1", "q2"):
        mine = [one for one in found.batch.pooled if one.query == query]
        lists = tuple(tuple(run[query]) for run in RUNS.values())
        grades = {"c": 1.0} if query == "q1" else {}
        assert list(revised(by, mine, grades, 1)) == list(unasked(by, lists, grades, 1))
        turns = [one.document for one in found.chosen if one.query == query]
        assert turns == list(revised(by, mine, grades, 1))[:1]


PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "choose-what-to-judge.md"


class Track:
    """The runs of TREC-COVID to depth 100, without documents that TREC did not judge."""

    def __init__(self, data: Path) -> None:
        self.runs = sorted((data / "trec-covid-r1" / "runs").iterdir())
        self.truth = il.read_qrels(data / "trec-covid-r1" / "qrels.txt").to_dict()
        every = il.pool(None, self.runs, depth=1).case
        self.lists = {
            query: tuple(tuple(d for d in one if d in grades) for one in every.cut(query, 100))
            for query, grades in self.truth.items()
        }

    def relevant(self, query: str) -> set[str]:
        return {document for document, grade in self.truth[query].items() if grade >= 1}

    def order(self, by: str, query: str, without: int | None = None) -> list[str]:
        """Order the documents of a query as a strategy asks for them, without one of the runs."""
        lists = tuple(one for i, one in enumerate(self.lists[query]) if i != without)
        if by in WALKS:
            return walked(by, lists, self.relevant(query))
        if by == "fusion":
            return fused(lists)
        runs = {str(i): {query: list(one)} for i, one in enumerate(lists) if one}
        return [one.document for one in il.pool(None, runs, depth=100).chosen]

    def values(self, by: str, n: int, runs: Sequence[Path], without: int | None = None) -> Any:
        """Measure runs with the first n documents of each query judged."""
        judged = {
            query: {d: grades[d] for d in self.order(by, query, without)[:n]}
            for query, grades in self.truth.items()
        }
        evaluator = il.Evaluator(judged, "nDCG@10")
        return [evaluator(run)["nDCG@10"] for run in runs]


STRATEGIES = ("depth", "fusion", "mtf", "maxmean")


def test_what_each_strategy_finds_in_real_runs(data: Path) -> None:
    """The first table of the page."""
    track = Track(data)
    orders = {by: {query: track.order(by, query) for query in track.truth} for by in STRATEGIES}
    for n in BUDGETS:
        counts = [sum(len(order[:n]) for order in orders["depth"].values())]
        counts += [
            sum(len(track.relevant(query).intersection(order[:n])) for query, order in own.items())
            for own in orders.values()
        ]
        row = " | ".join(f"{count:,}" for count in (n, *counts))
        assert f"| {row} |" in PAGE.read_text("utf-8")


@SLOW
def test_how_each_strategy_ranks_real_runs(data: Path) -> None:
    """The other tables of the page: the order of the runs, and what a run loses that is left out."""
    track = Track(data)
    evaluator = il.Evaluator(data / "trec-covid-r1" / "qrels.txt", "nDCG@10")
    wanted = [evaluator(run)["nDCG@10"] for run in track.runs]
    for n in (10, 20, 30, 50):
        found = [track.values(by, n, track.runs) for by in STRATEGIES]
        taus = [kendalltau(wanted, values).statistic for values in found]
        row = " | ".join([str(n), *(f"{tau:.2f}" for tau in taus)])
        assert f"| {row} |" in PAGE.read_text("utf-8")
    losses = []
    for by in STRATEGIES:
        pooled = track.values(by, 50, track.runs)
        alone = [track.values(by, 50, [run], i)[0] for i, run in enumerate(track.runs)]
        losses.append(sum(pooled) / 12 - sum(alone) / 12)
    assert f"| {' | '.join(f'{loss:.3f}' for loss in losses)} |" in PAGE.read_text("utf-8")


def test_the_depth_of_real_runs(data: Path) -> None:
    folder = data / "trec-covid-r1" / "runs"
    runs = [il.read_run(path) for path in sorted(folder.iterdir())]
    found = il.pool(None, runs, depth=5)
    union = set()
    for run in runs:
        queries = run.rows().queries
        for query, ranking in il.listing(run, il.Protocol(), queries, 5).items():
            union |= {(query, document) for document in ranking.documents}
    assert set(chosen(found)) == union
    assert len(union) == 1409
    assert il.pool(None, runs, budget=1500).batch.pooled == found.batch.pooled


def test_one_run_needs_no_name() -> None:
    run = {"q1": ["a", "b"], "q2": ["b"]}
    assert len(il.pool(None, run, by="depth", depth=1).batch.pooled) == 2
    judged = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}}
    found = il.agreement(judged, {**judged, "q2": {"a": 1, "b": 1}}, run, "P@1")
    assert found.systems[1]["P@1"].runs == ("run",)
