"""Samples of a pool: drawn alike anywhere, with known chances; estimates against plain loops."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import idealist as il
from idealist.cli.main import cli, main
from idealist.judging.choosing.sampled_pools import JUDGED_BEFORE, key, sampled, strata
from idealist.judging.store_records import Judgment, Pooled
from idealist.significance.stratified_samples import StratifiedSample

RUNS = {
    "a": {q: [f"d{i}" for i in range(12)] for q in ("q1", "q2")},
    "b": {q: [f"d{i}" for i in range(20, 3, -2)] for q in ("q1", "q2")},
}
#: Every third document is relevant; the first one is perfect.
TRUTH = {q: {f"d{i}": 2 if i == 0 else float(i % 3 == 0) for i in range(21)} for q in ("q1", "q2")}


def rows(pooled: tuple[Pooled, ...]) -> list[dict[str, Any]]:
    """Judge what was drawn."""
    return [
        {
            "query": one.query, "document": one.document, "stratum": one.stratum,
            "inclusion": one.inclusion,
            "grade": TRUTH[one.query][one.document] if one.place or one.inclusion == 1 else -1,
        }
        for one in pooled
    ]  # fmt: skip


def test_the_same_seed_draws_the_same_sample_anywhere() -> None:
    found = il.pool(None, RUNS, by="sampled", budget=10, seed=7)
    documents = {q: [one.document for one in found.chosen if one.query == q] for q in TRUTH}
    assert documents == {
        "q1": ["d9", "d10", "d4", "d14", "d18"],
        "q2": ["d18", "d1", "d4", "d12", "d20"],
    }
    assert il.pool(None, RUNS, by="sampled", budget=10, seed=7).batch == found.batch
    assert il.pool(None, RUNS, by="sampled", budget=10, seed=8).batch != found.batch


@given(st.integers(0, 300), st.integers(2, 400))
def test_strata_hold_every_document_once_and_draw_what_was_asked(size: int, number: int) -> None:
    order = [f"d{i}" for i in range(size)]
    parts = strata(order, number)
    assert [document for part in parts for document in part.documents] == order
    assert sum(part.drawn for part in parts) == min(size, number)
    assert all(part.drawn >= min(2, len(part.documents)) for part in parts)
    chances = [part.inclusion for part in parts]
    assert chances == sorted(chances, reverse=True)


def test_what_is_judged_at_any_time_is_a_like_share_of_the_smallest_keys() -> None:
    parts = strata([f"d{i}" for i in range(50)], 20)
    drawn = [one for one in sampled("q", parts, 0, iter(range(100))) if one.place is not None]
    turns = sorted(drawn, key=lambda one: one.place or 0)
    assert [one.place for one in turns] == list(range(20))
    for part in parts:
        keys = sorted((key(0, "q", document), document) for document in part.documents)
        mine = [one.document for one in turns if one.stratum == part.name]
        assert mine == [document for _, document in keys[: part.drawn]]
        half = sum(one.stratum == part.name for one in turns[:10])
        assert abs(half - part.drawn / 2) <= 1


def test_documents_judged_before_are_certain() -> None:
    judged = {"q1": {"d0": 2.0, "zz": 1.0}}
    found = il.pool(judged, RUNS, by="sampled", budget=8)
    before = [one for one in found.batch.pooled if one.stratum == JUDGED_BEFORE]
    assert {(one.document, one.place, one.inclusion) for one in before} == {
        ("d0", None, 1.0), ("zz", None, 1.0),
    }  # fmt: skip
    assert len(found.chosen) == 8
    assert "d0" not in {one.document for one in found.chosen if one.query == "q1"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "a sample needs a budget"),
        ({"budget": 3}, "fewer than two documents of 1 of 2 queries"),
        ({"per_query": 1}, "fewer than two documents of 2 of 2 queries"),
        ({"budget": -2}, "budget is -2"),
    ],
)
def test_a_sample_too_small_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(il.UsageError, match=words):
        il.pool(None, RUNS, by="sampled", **options)


def test_a_sample_of_everything_estimates_the_value_itself() -> None:
    pooled = il.pool(None, RUNS, by="sampled", budget=1000).batch.pooled
    found = il.sample_estimates(rows(pooled), RUNS, ["P@5", "DCG@10", "RBP(p=0.5,gain=binary)"])
    whole = il.Evaluator(TRUTH, ["P@5", "DCG@10", "RBP(p=0.5,gain=binary)"])
    for run, lists in RUNS.items():
        value = whole(lists)
        for measure, total in found.totals[run].items():
            assert total.value == pytest.approx(value[measure])
            assert total.error == 0
    assert found.relevant.value == sum(TRUTH[q][d] > 0 for q, d in {
        (one.query, one.document) for one in pooled
    })  # fmt: skip


def plain_estimate(sample: list[dict[str, Any]], run: str, cutoff: int) -> tuple[float, float]:
    """P and its standard error by loops over the strata, as the textbook has them."""
    value = variance = 0.0
    for group in sorted({(row["query"], row["stratum"]) for row in sample}):
        mine = [row for row in sample if (row["query"], row["stratum"]) == group]
        drawn = [row for row in mine if row["grade"] >= 0]
        top = RUNS[run][group[0]][:cutoff]
        adds = [(row["grade"] >= 1 and row["document"] in top) / cutoff / 2 for row in drawn]
        mean = sum(adds) / len(adds)
        value += len(mine) * mean
        if len(drawn) > 1:
            spread = sum((one - mean) ** 2 for one in adds) / (len(drawn) - 1)
            variance += len(mine) * (len(mine) - len(drawn)) * spread / len(drawn)
    return value, math.sqrt(variance)


def test_estimates_are_what_the_textbook_says() -> None:
    for seed in range(20):
        sample = rows(il.pool(None, RUNS, by="sampled", budget=20, seed=seed).batch.pooled)
        found = il.sample_estimates(sample, RUNS, "P@5", baseline="b")
        for run in RUNS:
            value, error = plain_estimate(sample, run, 5)
            assert found.totals[run]["P@5"].value == pytest.approx(value)
            assert not found.totals[run]["P@5"].error < error - 1e-12
        difference = found.totals["a"]["P@5"].value - found.totals["b"]["P@5"].value
        assert found.differences["a"]["P@5"].value == pytest.approx(difference)


def test_estimates_are_unbiased() -> None:
    truth = il.Evaluator(TRUTH, "P@5")
    errors = []
    for seed in range(100):
        sample = rows(il.pool(None, RUNS, by="sampled", budget=16, seed=seed).batch.pooled)
        found = il.sample_estimates(sample, RUNS, "P@5")
        errors.append([found.totals[run]["P@5"].value - truth(RUNS[run])["P@5"] for run in RUNS])
    off = np.mean(errors, axis=0) / (np.std(errors, axis=0, ddof=1) / math.sqrt(len(errors)))
    assert np.abs(off).max() < 3


def test_nothing_relevant_among_the_drawn_leaves_the_error_unknown() -> None:
    sample = StratifiedSample(
        np.zeros(6, int), np.array([True] * 3 + [False] * 3), np.zeros(1, int)
    )
    assert math.isnan(sample.total(np.ones(6), np.zeros(6)).error)
    assert math.isnan(sample.total(np.ones(6), np.zeros(6)).half())


def test_a_query_without_anything_relevant_counts_nothing() -> None:
    names = ("query", "document", "stratum", "grade")
    some = [
        ("q1", document, "2", grade) for document, grade in zip("abcd", (1, 0, -1, -1), strict=True)
    ]
    none = [
        ("q2", document, "2", grade) for document, grade in zip("abcd", (0, 0, -1, -1), strict=True)
    ]
    run = {"q1": list("abcd"), "q2": list("abcd")}
    drawn = [dict(zip(names, row, strict=True)) for row in (*some, *none)]
    found = il.sample_estimates(drawn, run, ["P@4", "CG@4"])
    assert {name: one.value for name, one in found.totals["run"].items()} == {
        "P@4": 0.25, "CG@4": 1.0,
    }  # fmt: skip
    empty = il.sample_estimates(drawn[4:], {"q2": run["q2"]}, "P@4")
    assert empty.data()["estimates"]["run"]["P@4"]["error"] is None
    assert "though nobody can say how surely" in empty.summary
    assert "no ±: what was drawn by chance is worth nothing there" in str(empty)


@pytest.mark.parametrize(
    ("sample", "measures", "options", "words"),
    [
        (TRUTH, "P@5", {}, "is no sample: it has no strata"),
        ("drawn", "AP", {}, "use xinfAP or statAP"),
        ("drawn", "nDCG@10", {}, "use infNDCG"),
        ("drawn", "R@10", {}, "use one of P, CG, DCG, RBP, NumRelRet"),
        ("drawn", "P@5", {"baseline": "c"}, "there is no run 'c'"),
        ("drawn", "P@5", {"level": 95}, "level is 95"),
        ("drawn", "P@5", {"unpooled": "one"}, "unpooled is 'one'"),
        ("undone", "P@5", {}, "fewer than two judged documents, such as q1"),
    ],
)
def test_what_cannot_be_estimated_is_refused(
    sample: Any, measures: str, options: dict[str, Any], words: str
) -> None:
    drawn = rows(il.pool(None, RUNS, by="sampled", budget=20).batch.pooled)
    if sample == "undone":
        drawn = [{**row, "grade": -1} if row["query"] == "q1" else row for row in drawn]
    with pytest.raises(il.UsageError, match=words):
        il.sample_estimates(drawn if isinstance(sample, str) else sample, RUNS, measures, **options)


def test_a_run_that_was_not_pooled_is_refused_or_has_no_interval() -> None:
    drawn = rows(il.pool(None, RUNS, by="sampled", budget=20).batch.pooled)
    new = {"q1": ["x", "d0"], "q2": ["d0", "d3"]}
    with pytest.raises(il.UsageError, match="new: 1 of 4 documents above the cutoff was not pool"):
        il.sample_estimates(drawn, RUNS | {"new": new}, "P@5")
    found = il.sample_estimates(drawn, RUNS | {"new": new}, "P@5", unpooled="zero")
    assert "not pooled and counts as not relevant, so its values have no ±" in str(found)
    estimates, differences = found.data()["estimates"], found.data()["differences"]
    assert estimates["new"]["P@5"]["error"] is differences["new"]["P@5"]["error"] is None
    assert estimates["b"]["P@5"]["error"] is not None
    below = {"new": {"q1": ["d0", "x"], "q2": ["d0"]}}
    assert not il.sample_estimates(drawn, below, "P@1").outside
    with pytest.raises(il.UsageError, match="1 of 3 documents"):
        il.sample_estimates(drawn, below, "NumRelRet")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a sample that is judged, and a pool that was judged after it."""
    path = tmp_path / "labels.db"
    with il.Store.create(path, scale=2, queries={"q1": "one", "q2": "two"}) as made:
        for by, budget in (("sampled", 20), ("depth", 100)):
            made.add_batch(il.pool(made, RUNS, by=by, budget=budget).batch)
            while task := made.next("ann"):
                grade = TRUTH[task.query][task.document]
                made.judge(Judgment(task.query, task.document, grade, "ann"))
    return path


def test_a_pool_judged_later_does_not_touch_the_sample(store: Path) -> None:
    sample = rows(il.pool(None, RUNS, by="sampled", budget=20).batch.pooled)
    wanted = il.sample_estimates(sample, RUNS, "P@5")
    found = il.sample_estimates(store, RUNS, "P@5")
    assert found.totals == wanted.totals
    assert len(found.qrels) == len(sample)
    values = il.Evaluator(found.qrels, ["statAP", "xinfAP", "infNDCG@10"])(RUNS["a"])
    again = il.Evaluator(sample, ["statAP", "xinfAP", "infNDCG@10"])(RUNS["a"])
    assert [values[one] for one in values] == [again[one] for one in again]
    assert len(il.read_qrels(store)) > sum(row["grade"] >= 0 for row in sample)
    with pytest.raises(il.InputError, match="inclusion is nan"):
        il.evaluate(store, RUNS["a"], "statAP")


def test_the_commands(store: Path, tmp_path: Path) -> None:
    for name, run in RUNS.items():
        il.write_run(il.read_run(run), tmp_path / f"{name}.run")
    runs = [str(tmp_path / f"{name}.run") for name in RUNS]
    ran = CliRunner().invoke(cli, ["judge", "estimate", str(store), *runs, "-m", "P@5"])
    assert ran.exit_code == 0
    assert "Difference from a" in ran.output
    fresh = tmp_path / "fresh.db"
    il.Store.create(fresh).close()
    pairs = tmp_path / "pairs.csv"
    asked = ["judge", "pool", str(fresh), *runs, "--depth", "2"]
    ran = CliRunner().invoke(cli, [*asked, "--dry-run", "-o", str(pairs)])
    assert ran.exit_code == 0
    assert "nothing was saved" in ran.stderr
    assert pairs.read_text().splitlines()[:2] == ["query,document,place", "q1,d0,1"]
    ran = CliRunner().invoke(cli, [*asked, "-f", "json"])
    assert "saved as batch 1" in ran.stderr
    assert len(json.loads(ran.stdout)["documents"]) == 8
    with il.Store(fresh) as opened:
        [batch] = opened.batches()
        assert batch.parameters["depth"] == 2
        assert batch.parameters["runs"].keys() == {"a", "b"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "0"], "budget is 0"),
        (["--by", "deep"], "did you mean depth"),
        (["--by", "sampled"], "a sample needs a budget"),
    ],
)
def test_mistakes_at_the_terminal(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    il.Store.create(tmp_path / "s.db", queries={"q9": "other"}).close()
    il.Store.create(tmp_path / "t.db").close()
    il.write_run(il.read_run(RUNS["a"]), tmp_path / "a.run")
    cases = {"s.db": "has none of the store's queries", "t.db": words, "u.db": "judge init"}
    for name, said in cases.items():
        with pytest.raises(SystemExit):
            main(["judge", "pool", str(tmp_path / name), str(tmp_path / "a.run"), *arguments])
        error = capsys.readouterr().err
        assert said in error or (name == "s.db" and words in error)
        assert "Traceback" not in error


def test_an_export_tells_judgments_from_what_was_not_drawn(store: Path, tmp_path: Path) -> None:
    asked = ["judge", "export", str(store), "--sampled", "-o", str(tmp_path / "sample.csv")]
    said = CliRunner().invoke(cli, asked).stderr
    assert "written: 20 judgments and 14 pooled documents without one, of 2 queries" in said
