"""Interleaved lists: valid, fair to both runs by exact expectation, and the same for the same seed."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import idealist as il
from idealist.interleaving.drafting import preferred_by_depth
from idealist.interleaving.interleaved import METHODS, InterleavedList
from idealist.interleaving.optimised import MOST, candidates

METHOD = st.sampled_from([*METHODS])
#: Two rankings of some of eight documents; mostly they share some.
RUN = st.permutations("abcdefgh").flatmap(lambda ids: st.integers(0, 6).map(lambda n: ids[:n]))
PAIR = st.tuples(RUN, RUN)
FULL = st.integers(1, 5).flatmap(
    lambda n: st.tuples(*[st.permutations("abcdefgh").map(lambda ids: ids[:n])] * 2, st.just(n))
)


def made(a: Sequence[str], b: Sequence[str], method: str, **asked: Any) -> list[InterleavedList]:
    return list(il.interleave({"q": list(a)}, {"q": list(b)}, method, **asked).lists)


def clicks_of(places: int) -> Iterator[tuple[int, ...]]:
    """Every way to click on some of so many places."""
    return chain.from_iterable(combinations(range(places), n) for n in range(places + 1))


def expected(lists: Sequence[InterleavedList], clicked: Sequence[int]) -> float:
    """The mean score where these places are clicked, whatever stands there."""
    inside = [[place for place in clicked if place < len(one.documents)] for one in lists]
    return math.fsum(
        one.probability * one.score(own) for one, own in zip(lists, inside, strict=True)
    )


def drafts(a: Sequence[str], b: Sequence[str], depth: int) -> dict[tuple[Any, ...], float]:
    """Team-draft as its paper has it, for runs of one length: all ways, with their probabilities."""
    found: dict[tuple[Any, ...], float] = {}

    def go(shown: list[tuple[str, int]], chance: float) -> None:
        names, teams = [d for d, _ in shown], [team for _, team in shown]
        if len(shown) == depth:
            found[tuple(shown)] = found.get(tuple(shown), 0.0) + chance
            return
        tied = teams.count(-1) == teams.count(1)
        for team in (-1, 1) if tied else ((-1,) if teams.count(-1) < teams.count(1) else (1,)):
            top = next(d for d in (a if team < 0 else b) if d not in names)
            go([*shown, (top, team)], chance / (2 if tied else 1))

    go([], 1.0)
    return found


def balancing(a: Sequence[str], b: Sequence[str], a_first: bool) -> list[str]:
    """Balanced interleaving as its paper has it."""
    shown: list[str] = []
    k_a = k_b = 0
    while k_a < len(a) and k_b < len(b):
        if k_a < k_b or (k_a == k_b and a_first):
            shown += [a[k_a]] if a[k_a] not in shown else []
            k_a += 1
        else:
            shown += [b[k_b]] if b[k_b] not in shown else []
            k_b += 1
    return shown


@given(PAIR, METHOD, st.integers(1, 7), st.none() | st.integers(1, 5))
def test_lists_are_valid(pair: Any, method: str, depth: int, lists: int | None) -> None:
    a, b = pair
    if not a or not b:  # a query without documents is in no run made of plain lists
        return
    found = made(a, b, method, depth=depth, lists=lists)
    assert math.fsum(one.probability for one in found) == pytest.approx(1)
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    assert lists is None or len(found) == lists
    short = a[:depth], b[:depth]
    for one in found:
        assert len(one.documents) == min(depth, len({*short[0], *short[1]}))
        assert len(set(one.documents)) == len(one.documents) == len(one.credits)
        for place, document in enumerate(one.documents):
            before = one.documents[:place]
            tops = [next((d for d in run if d not in before), None) for run in short]
            assert document in tops
        for document, ranks in zip(one.documents, one.ranks, strict=True):
            told = [run.index(document) + 1 if document in run else None for run in short]
            assert list(ranks) == told
        if method == "team-draft":
            teams = Counter(one.credits)
            assert {*teams} <= {-1.0, 0.0, 1.0}
            assert abs(teams[-1.0] - teams[1.0]) <= 1
            named = 0 if short[0] == short[1] else min(depth, len(a), len(b))
            assert all((credit != 0) == (i < named) for i, credit in enumerate(one.credits))


@given(FULL)
def test_team_draft_is_the_papers(case: tuple[list[str], list[str], int]) -> None:
    a, b, depth = case
    if a == b:
        return
    ours = {
        tuple(zip(one.documents, one.credits, strict=True)): one.probability
        for one in made(a, b, "team-draft", depth=depth)
    }
    assert ours == drafts(a, b, depth)


@given(FULL)
def test_balanced_is_the_papers(case: tuple[list[str], list[str], int]) -> None:
    a, b, depth = case
    found = {one.documents for one in made(a, b, "balanced", depth=depth)}
    assert found == {tuple(balancing(a, b, first)[:depth]) for first in (True, False)}


@given(PAIR, st.sampled_from(["team-draft", "optimised"]), st.integers(1, 5))
def test_clicks_at_random_prefer_no_run(pair: Any, method: str, depth: int) -> None:
    """Whatever places are clicked, and however many: the exact mean over all draws is 0."""
    a, b = pair
    if not a or not b:
        return
    lists = made(a, b, method, depth=depth)
    exact = 0.0 if method == "team-draft" else 1e-7
    for clicked in clicks_of(depth):
        assert abs(expected(lists, clicked)) <= exact


def test_balanced_prefers_a_run_by_chance() -> None:
    """Its known fault: b has all of a's documents but the first, one rank higher."""
    lists = made("abcd", "bcda", "balanced")
    means = [expected(lists, [place]) for place in range(4)]
    assert means == [0.0, 0.0, 1.0, 1.0]
    fair = made("abcd", "bcda", "team-draft")
    assert [expected(fair, [place]) for place in range(4)] == [0.0] * 4


@pytest.mark.parametrize(
    ("ranks", "clicked", "preferred"),
    [
        ([(1, 2), (2, 1), (3, 4)], [], 0),
        ([(1, 2), (2, 1), (3, 4)], [0], -1),
        ([(1, 2), (2, 1), (3, 4)], [0, 1], 0),  # k = 1, and one click in either first
        ([(1, None), (None, 1), (2, 3), (3, 2)], [1, 3], 1),  # k = 2: both are b's first two
        ([(1, None), (None, 1), (2, 3), (3, 2)], [0, 2], -1),
        ([(1, None), (None, 1), (2, None), (3, 2)], [0, 3], 0),
    ],
)
def test_balanced_lists_count_by_depth(ranks: Any, clicked: list[int], preferred: int) -> None:
    assert preferred_by_depth(ranks, clicked) == preferred


def test_what_another_library_documents() -> None:
    """The example of mpkato's `interleaving`: who wins with which clicks."""
    lists = made(["1", "2", "3", "4", "5"], ["4", "3", "5", "1", "2"], "team-draft")
    own = [one for one in lists if one.documents == ("1", "4", "2", "3", "5")]
    assert [one.credits[:4] for one in own] == [(-1.0, 1.0, -1.0, 1.0)] * 2
    assert {one.score([0, 2]) for one in own} == {-1.0}
    assert {one.score([1, 3]) for one in own} == {1.0}
    assert {one.score([0, 1]) for one in own} == {0.0}


def worth_of(a: Sequence[str], b: Sequence[str], document: str) -> float:
    ends = (run.index(document) + 1 if document in run else max(len(a), len(b)) + 1
            for run in (a, b))  # fmt: skip
    rank_a, rank_b = ends
    return 1 / rank_b - 1 / rank_a


@given(FULL)
def test_optimised_solves_its_program(case: tuple[list[str], list[str], int]) -> None:
    """The conditions in sums down to each k, as papers write them, have the same least variance."""
    a, b, depth = case
    lists = candidates(a, b, depth, seed=0)
    worth = np.array([[worth_of(a, b, d) for d in one] for one in lists])
    variance = (worth / np.arange(1, depth + 1)).sum(axis=1) ** 2
    sums = np.vstack([np.ones(len(lists)), worth.cumsum(axis=1).T])
    theirs = linprog(variance, A_eq=sums, b_eq=[1.0, *[0.0] * depth], method="highs-ipm")
    assert theirs.status == 0  # runs that fill the list have fair probabilities
    ours = made(a, b, "optimised", depth=depth)
    place = {one: i for i, one in enumerate(lists)}
    least = math.fsum(one.probability * variance[place[one.documents]] for one in ours)
    assert least == pytest.approx(theirs.fun, abs=1e-7)
    for one in ours:
        assert one.credits == pytest.approx([worth_of(a, b, d) for d in one.documents])


def test_candidates_are_all_lists_that_take_the_next_of_either_run() -> None:
    assert len(candidates("abcdefghij", "klmnopqrst", 10, seed=0)) == 2**10 == MOST
    assert candidates("ab", "ba", 2, seed=0) == [("a", "b"), ("b", "a")]


def test_deep_optimised_lists_are_drawn_and_still_fair() -> None:
    ids = [f"d{i}" for i in range(40)]
    a, b = ids[:30], random.Random(3).sample(ids, 30)
    lists = made(a, b, "optimised", depth=30)
    assert 1 < len(lists) <= 31
    for place in range(30):
        assert abs(expected(lists, [place])) < 1e-7
    for one in lists:  # nothing was given up
        assert one.credits[-5:] == pytest.approx([worth_of(a, b, d) for d in one.documents[-5:]])
    assert lists == made(a, b, "optimised", depth=30)


def test_clicks_count_for_nobody_where_nothing_is_fair() -> None:
    """A run of two documents has no fair list of five."""
    (one, *_) = lists = made("abcde", "fg", "optimised", depth=5)
    assert any(one.credits)
    assert all(own.credits[-1] == 0 for own in lists)
    assert made("abcde", "a", "team-draft", depth=5)[0].credits == (-1.0, 0.0, 0.0, 0.0, 0.0)


def runs() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    source = random.Random(1)
    names = [f"d{i}" for i in range(12)]
    return tuple(  # type: ignore[return-value]
        [
            {"query": f"q{q}", "document": d, "score": source.random()}
            for q in range(6) for d in source.sample(names, 8)
        ]
        for _ in range(2)
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lists", [None, 3])
def test_the_same_seed_makes_the_same_bytes(method: str, lists: int | None, tmp_path: Path) -> None:
    a, b = runs()
    asked: Any = {"method": method, "depth": 6, "lists": lists, "seed": 7}
    il.interleave(a, b, **asked).write(tmp_path / "first.jsonl")
    for rows in (a, b):
        random.Random(2).shuffle(rows)
    il.interleave(a, b, **asked).write(tmp_path / "second.jsonl")
    first = (tmp_path / "first.jsonl").read_bytes()
    assert first == (tmp_path / "second.jsonl").read_bytes()
    some = [row for row in a if row["query"] == "q3"], [row for row in b if row["query"] == "q3"]
    alone = [json.dumps(one) for one in il.interleave(*some, **asked).data()]
    assert alone == [line for line in first.decode().splitlines() if '"q3"' in line]
    other = il.interleave(a, b, **(asked | {"seed": 8})).data()
    assert (other == il.interleave(a, b, **asked).data()) == (lists is None)


@pytest.mark.parametrize("method", METHODS)
def test_drawn_lists_are_as_frequent_as_they_are_probable(method: str) -> None:
    a, b, drawn = "abcd", "bdea", 4000
    every = {(one.documents, one.credits): one.probability for one in made(a, b, method)}
    counts = Counter(
        (one.documents, one.credits) for one in made(a, b, method, lists=drawn, seed="x")
    )
    assert counts.keys() == every.keys()
    off = sum((counts[one] - drawn * p) ** 2 / (drawn * p) for one, p in every.items())
    assert off < 4 * len(every)


def test_runs_that_rank_alike_have_no_teams() -> None:
    (one,) = made("abc", "abc", "team-draft")
    assert one.credits == (0.0, 0.0, 0.0)
    assert len(made("abc", "abc", "balanced")) == 1
    found = il.interleave({"q": ["a"], "r": ["a"]}, {"q": ["a"], "s": ["b"]})
    assert [(doubt.code, doubt.count) for doubt in found.doubts] == [
        ("unshared-queries", 2), ("same-lists", 1),
    ]  # fmt: skip
    short = il.interleave({"q": ["a"]}, {"q": ["b"]}).doubts
    assert [doubt.code for doubt in short] == ["short-rankings"]


def test_failed_searches_are_not_queries_of_one_run_only(tmp_path: Path) -> None:
    """Of both runs q3 has no answer, which is no query that they could share."""
    for name, lost in (("a", ("failed", "timed out")), ("b", ("ok", "timed out"))):
        statuses = {"q1": "ok", "q2": lost[0], "q3": lost[1], f"{name}9": "ok"}
        lines: list[dict[str, Any]] = [{"collected": 1, "engine": "solr", "queries": 4}]
        lines += [
            {"query": query, "status": status, "hits": [{"id": name, "score": 1.0, "rank": 1}]}
            for query, status in statuses.items()
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    found = il.interleave(tmp_path / "a.jsonl", tmp_path / "b.jsonl").doubts
    assert {one.code: one.queries for one in found} == {
        "failed-queries": ("q2", "q3"), "unshared-queries": ("a9", "b9"), "short-rankings": ("q1",),
    }  # fmt: skip
    assert found[0].message == "the search failed or timed out for 2 queries (q2, q3): left out"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"method": "teamdraft"}, "there is no method 'teamdraft'"),
        ({"depth": 0}, "depth cannot be 0"),
        ({"depth": 1001}, "depth cannot be 1001"),
        ({"depth": 31, "method": "optimised"}, "depth cannot be 31"),
        ({"lists": 0}, "lists cannot be 0"),
        ({"lists": -1}, "lists cannot be -1"),
        ({"ties": "error"}, "have the same score"),
        ({"colour": "red"}, "colour says nothing of lists"),
        ({"gain": "exp2"}, "gain says nothing of lists"),
        ({"ties": "worst"}, "ties cannot be worst"),
    ],
)
def test_bad_requests_are_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(il.IdealistError, match=words):
        il.interleave({"q": {"a": 1, "b": 1}}, {"q": {"a": 2, "b": 1}}, **asked)


def test_too_many_lists_and_no_common_query_are_refused() -> None:
    a, b = [f"a{i}" for i in range(30)], [f"b{i}" for i in range(30)]
    with pytest.raises(il.UsageError, match="more than 1,024 lists") as told:
        made(a, b, "team-draft", depth=30)
    assert "--lists 100" in told.value.hint
    assert len(made(a, b, "team-draft", depth=30, lists=2)) == 2
    with pytest.raises(il.UsageError, match="no query in common"):
        il.interleave({"q": ["a"]}, {"r": ["a"]})


def test_a_result_shows_itself() -> None:
    found = il.interleave({"q": ["a", "b"]}, {"q": ["b", "a"]}, depth=2)
    assert found.summary == "team-draft of a and b: 2 lists for 1 query, 2 documents at most"
    assert "a b" in str(found)
    assert found.data()[0]["rank_b"] == [2, 1]
