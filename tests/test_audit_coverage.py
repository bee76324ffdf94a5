"""Coverage against plain loops: what is judged, what a run owes to the pool, what holes cost."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from scipy import stats

import idealist as il
from effort import tries
from generated import seeds, some_case
from idealist.auditing import audit
from idealist.auditing.chances import DEPTHS, Chances
from idealist.auditing.coverage import Coverage, coverage_of
from idealist.auditing.filling import TO_JUDGE, filled
from idealist.auditing.leave_out import (
    POOL_HOLES,
    leave_out,
    odds_in_pool,
    pool_depth,
    share_held,
    without_judgments,
)
from idealist.cli.main import cli
from idealist.evaluating.evaluator import Evaluator
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements

PLAIN = Protocol(grades="keep")
MEASURES = ["nDCG@10", "AP", "RR@10", "P@3"]

Grades = dict[str, dict[str, float]]
Lists = dict[str, list[str]]


def placed(qrels: Any, run: Any) -> Placements:
    return il.rank(il.read_qrels(qrels), il.read_run(run), [PLAIN])[PLAIN]


def covered(*arguments: Any) -> Coverage:
    found = audit(*arguments).coverage
    assert found is not None
    return found


def pooled(rng: random.Random, queries: int, runs: int, depth: int) -> tuple[Grades, list[Lists]]:
    """Judge the first documents of all runs, each of which finds some that no other does."""
    lists = [
        {f"q{q}": rng.sample([f"d{i}" for i in range(60)], 30) for q in range(queries)}
        for _ in range(runs)
    ]
    grades: Grades = {
        query: {
            document: float(rng.random() < 0.4) for one in lists for document in one[query][:depth]
        }
        for query in lists[0]
    }
    return grades, lists


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_coverage_is_judged_at_k(seed: int) -> None:
    qrels, rows = some_case(random.Random(seed))
    found = coverage_of("run", placed(qrels, rows))
    values = il.evaluate(qrels, rows, [f"Judged@{k}" for k in DEPTHS], grades="keep")
    for k in DEPTHS:
        assert found.judged[k] == values[f"Judged@{k}"]
        assert found.by_query[k].tolist() == values.values[f"Judged@{k}"].tolist()


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_coverage_by_rank_is_counted_by_hand(seed: int) -> None:
    qrels, rows = some_case(random.Random(seed))
    found = coverage_of("run", placed(qrels, rows))
    lists = il.listing(il.read_run(rows), PLAIN, qrels)
    for rank in range(1, 31):
        there = [
            (q, one.documents[rank - 1]) for q, one in lists.items() if len(one.documents) >= rank
        ]
        judged = [document in qrels[query] for query, document in there]
        share = sum(judged) / len(judged) if judged else math.nan
        assert found.by_rank[rank - 1] == pytest.approx(share, nan_ok=True)
    for k in DEPTHS:
        tops = [(query, d) for query, one in lists.items() for d in one.documents[:k]]
        assert found.looked[k] == len(tops)
        assert found.unjudged[k] == sum(d not in qrels[query] for query, d in tops)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_the_pool_depth_is_where_a_run_is_still_judged(seed: int) -> None:
    rng = random.Random(seed)
    qrels, lists = pooled(rng, queries=5, runs=3, depth=rng.randint(1, 12))
    for run in lists:
        depths = [0]
        for k in range(1, 31):
            holes = sum(d not in qrels[q] for q in run for d in run[q][:k])
            if holes <= POOL_HOLES * k * len(run):
                depths.append(k)
        assert pool_depth(placed(qrels, run)) == depths[-1]


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_judgments_taken_away_are_as_if_they_never_were(seed: int) -> None:
    rng = random.Random(seed)
    qrels, rows = some_case(rng)
    placements = placed(qrels, rows)
    gone = np.array([rng.random() < 0.3 for _ in placements.qrels.documents], dtype=bool)
    kept = {
        query: {
            placements.qrels.documents[i]: float(placements.qrels.grades[i])
            for i in range(start, end)
            if not gone[i]
        }
        for query, start, end in placements.qrels.spans()
    }
    fewer = without_judgments(placements, gone)
    for label in MEASURES:
        measure = il.parse(label)
        again = measure.values(placed(kept, rows))
        assert measure.values(fewer).tolist() == again.tolist()


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_a_run_left_out_is_scored_without_what_it_alone_brought(seed: int) -> None:
    rng = random.Random(seed)
    qrels, lists = pooled(rng, queries=4, runs=4, depth=5)
    runs = {f"run{i}": one for i, one in enumerate(lists)}
    teams = {"run0": "a", "run1": "a", "run2": "b"} if rng.random() < 0.5 else {}
    evaluator = Evaluator(qrels, MEASURES)
    placements = {name: evaluator.placed(il.read_run(run)) for name, run in runs.items()}
    found = leave_out(evaluator.instruments, placements, teams, [*runs], depth=5)
    for name, run in runs.items():
        others = [
            one for other, one in runs.items() if teams.get(other, other) != teams.get(name, name)
        ]
        mine = [
            one for other, one in runs.items() if teams.get(other, other) == teams.get(name, name)
        ]
        left = {
            query: {
                document: grade
                for document, grade in judged.items()
                if any(document in one[query][:5] for one in others)
                or not any(document in one[query][:5] for one in mine)
            }
            for query, judged in qrels.items()
        }
        again = il.evaluate(left, run, MEASURES)
        for label in MEASURES:
            assert found[name].values[label] == (
                il.evaluate(qrels, run, label)[label],
                again[label],
            )
        count = sum(map(len, qrels.values())) - sum(map(len, left.values()))
        assert found[name].unique == count
        assert [*found[name].values] == MEASURES


def test_the_runs_that_made_the_pool_hold_all_of_it() -> None:
    qrels, lists = pooled(random.Random(1), queries=4, runs=3, depth=5)
    placements = [placed(qrels, run) for run in lists]
    assert share_held(placements, 5) == 1
    assert 0 < share_held(placements[:1], 5) < 1
    assert share_held([], 5) == 0


def test_chances_follow_the_judged_documents() -> None:
    qrels: Grades = {f"q{i}": {"a": 1.0, "b": 0.0, "c": float(i % 2)} for i in range(400)}
    run = {query: ["a", "c", "b"] for query in qrels}
    chances = Chances(placed(qrels, run), 0.5)
    assert chances.usable
    assert chances.shares[:2, 1] == pytest.approx([0.99, 0.25], abs=0.02)
    assert chances.relevant(np.array([1, 2])) == pytest.approx([0.99, 1 / 7], abs=0.02)
    drawn = chances.draw(np.full(5000, 2), 0.5, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(1 / 7, abs=0.03)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_judgments_that_thin_out_are_told_from_chance(seed: int) -> None:
    """The Mann-Whitney test, against SciPy's; then what it is for."""
    rng = random.Random(seed)
    qrels, lists = pooled(rng, queries=20, runs=1, depth=30)
    holes = {q: {d: g for d, g in one.items() if rng.random() < 0.6} for q, one in qrels.items()}
    chances = Chances(placed(holes, lists[0]))
    ranks: dict[bool, list[int]] = {True: [], False: []}
    for query, documents in lists[0].items():
        for rank, document in enumerate(documents, 1):
            ranks[document in holes[query]].append(rank)
    sizes = [len(some) for some in ranks.values()]
    least = stats.mannwhitneyu(ranks[False], ranks[True]).statistic
    error = math.sqrt(math.prod(sizes) * (sum(sizes) + 1) / 12)
    assert chances.thins == (least - math.prod(sizes) / 2 > 2 * error)
    assert chances.ends[1] == 1 or chances.thins
    qrels, lists = pooled(rng, queries=20, runs=2, depth=rng.randint(4, 10))
    assert Chances(placed(qrels, lists[0])).thins


def test_the_odds_of_a_pool_are_those_of_mantel_and_haenszel() -> None:
    qrels, lists = pooled(random.Random(8), queries=12, runs=4, depth=6)
    qrels = {  # what only one run has is seldom relevant
        q: {d: g * (sum(d in one[q][:6] for one in lists) > 1) or float(d[-1] == "1")
            for d, g in own.items()}
        for q, own in qrels.items()
    }  # fmt: skip
    teams = {"0": "a", "1": "a"}
    up, down = 20 / 6, 20.0
    for i, run in enumerate(lists):
        table = {(alone, good): 0 for alone in (True, False) for good in (True, False)}
        rivals = [o for j, o in enumerate(lists) if teams.get(str(j), j) != teams.get(str(i), i)]
        for query, documents in run.items():
            for document in documents[:6]:
                alone = not any(document in other[query][:6] for other in rivals)
                table[alone, qrels[query][document] > 0] += 1
        size = sum(table.values())
        up += table[True, True] * table[False, False] / size
        down += table[True, False] * table[False, True] / size
    runs = {str(i): placed(qrels, run) for i, run in enumerate(lists)}
    assert odds_in_pool(runs, teams, 6) == pytest.approx(up / down)
    assert odds_in_pool({}, {}, 6) == odds_in_pool({"0": runs["0"]}, {}, 6) == 1 / 6


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
def test_holes_by_chance_may_be_relevant_as_often_as_what_is_judged(share: float) -> None:
    rng = random.Random(2)
    names = [f"d{i}" for i in range(40)]
    whole: Grades = {}
    run: Lists = {}
    for q in range(400):
        run[f"q{q}"] = rng.sample(names, 40)
        whole[f"q{q}"] = {
            document: float(rng.random() < 0.6 / (1 + rank / 5))
            for rank, document in enumerate(run[f"q{q}"])
        }
    holes = {q: {d: g for d, g in one.items() if rng.random() >= share} for q, one in whole.items()}
    evaluator = Evaluator(holes, ["P@10", "nDCG@10", "AP"])
    placements = evaluator.placed(il.read_run(run))
    prices = filled(evaluator.instruments, Chances(placements["AP"]), 100)
    for label, (low, high) in prices.items():
        truth, now = (il.evaluate(qrels, run, label)[label] for qrels in (whole, holes))
        assert abs(high - truth) < max(0.15 * abs(now - truth), 0.012), label
        assert low < truth


def test_judging_every_hole_leaves_none() -> None:
    qrels, lists = pooled(random.Random(3), queries=30, runs=2, depth=4)
    evaluator = Evaluator(qrels, "Judged@10")
    chances = Chances(evaluator.placed(il.read_run(lists[0]))["Judged@10"])
    assert filled(evaluator.instruments, chances, 10) == {"Judged@10": (1, 1)}


def test_pairs_to_judge_are_holes_and_the_worthiest_come_first() -> None:
    qrels, lists = pooled(random.Random(4), queries=12, runs=3, depth=4)
    runs = {f"run{i}": one for i, one in enumerate(lists)}
    pairs = covered(qrels, runs).pairs
    assert len(pairs) == TO_JUDGE
    assert [one.worth for one in pairs] == sorted((one.worth for one in pairs), reverse=True)
    for one in pairs:
        where = {name: run[one.query][:10] for name, run in runs.items()}
        assert one.document not in qrels[one.query]
        assert one.runs == tuple(name for name, top in where.items() if one.document in top)
        ranks = [top.index(one.document) + 1 for top in where.values() if one.document in top]
        assert one.rank == min(ranks)


@settings(max_examples=tries(8, 15), deadline=None)
@given(seeds)
def test_no_pair_is_worth_more_than_those_listed(seed: int) -> None:
    rng = random.Random(seed)
    qrels, lists = pooled(rng, queries=rng.randint(5, 150), runs=rng.randint(1, 4), depth=2)
    runs = {f"run{i}": one for i, one in enumerate(lists)}
    chances = {name: Chances(placed(qrels, run)) for name, run in runs.items()}
    worth: dict[tuple[str, str], float] = {}
    for name, run in runs.items():
        for query, documents in run.items():
            for rank, document in enumerate(documents[:10], 1):
                if document not in qrels[query]:
                    own = chances[name]
                    likely = own.relevant(np.array([rank]))[0] if own.usable else 1.0
                    pair = query, document
                    worth[pair] = worth.get(pair, 0.0) + likely / math.log2(rank + 1)
    best = sorted(worth.values(), reverse=True)[:TO_JUDGE]
    assert [one.worth for one in covered(qrels, runs).pairs] == pytest.approx(best)


def test_what_all_runs_share_comes_before_what_one_has_alone() -> None:
    """Rank 1 of one run in some queries; rank 2 of all five in the others."""
    qrels: Grades = {}
    runs: dict[str, Lists] = {f"run{i}": {} for i in range(5)}
    for q in range(300):
        query, names = f"q{q}", [f"d{q}-{i}" for i in range(10)]
        qrels[query] = {d: float(i % 2) for i, d in enumerate(names)}
        for i, run in enumerate(runs.values()):
            if q >= 150:
                run[query] = [names[0], "shared", *names[1:]]
            else:
                run[query] = ["alone", *names] if i == 0 else names
    pairs = covered(qrels, runs).pairs
    assert [one.document for one in pairs] == ["shared"] * TO_JUDGE


def test_pairs_are_sought_below_where_the_top_is_judged() -> None:
    qrels, lists = pooled(random.Random(5), queries=3, runs=1, depth=12)
    pairs = covered(qrels, {"run": lists[0]}).pairs
    assert pairs
    assert min(one.rank for one in pairs) == 13


def test_without_holes_there_is_nothing_to_judge() -> None:
    found = audit({"q": {"a": 1, "b": 0}}, {"q": ["a", "b"]})
    assert found.coverage is not None
    assert found.coverage.pairs == ()
    assert "holes" not in [one.code for one in found.findings]


def test_the_command_writes_the_pairs_to_judge_first(tmp_path: Path) -> None:
    qrels, lists = pooled(random.Random(6), queries=3, runs=2, depth=4)
    il.write_qrels(il.read_qrels(qrels), tmp_path / "qrels.txt")
    for name, run in zip("ab", lists, strict=True):
        il.write_run(il.read_run(run), tmp_path / f"{name}.run")
    target, teams = tmp_path / "judge.tsv", tmp_path / "teams.tsv"
    teams.write_text("a\tone\nb\ttwo\n")
    files = [str(tmp_path / name) for name in ("qrels.txt", "a.run", "b.run")]
    options = ["--to-judge", str(target), "--pool-teams", str(teams), "--fail-on", "never"]
    result = CliRunner().invoke(cli, ["audit", *files, *options], catch_exceptions=False)
    assert result.exit_code == 0
    head, *rows = [line.split("\t") for line in target.read_text().splitlines()]
    assert head == ["query", "document", "runs", "rank", "worth"]
    assert all(document not in qrels[query] for query, document, *_ in rows)
    assert rows


def test_the_price_of_holes_says_what_it_supposes_where_judgments_do_not_thin_out() -> None:
    """Every other document is judged, down to the end of each list."""
    lists = {f"q{q}": [f"d{q}-{i}" for i in range(20)] for q in range(10)}
    qrels = {q: {d: int(i % 4 == 0) for i, d in enumerate(own) if i % 2 == 0}
             for q, own in lists.items()}  # fmt: skip
    (holes,) = (one for one in il.audit(qrels, lists, "P@10").findings if one.code == "holes")
    assert "less often than judged ones at the same rank, as is usual" in holes.supposing
