"""What decides a verdict: never wrong where it says so, and useful where it does not."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import idealist as il
from decided_cases import LEVEL, DecidedCase, some_decided_case
from idealist.cli.main import cli
from idealist.errors import IdealistError
from idealist.evaluating.evaluator import Evaluator
from idealist.judging.choosing.decisive_answer import DecisiveAnswer
from idealist.judging.choosing.decisive_effects import effects_of
from idealist.judging.choosing.decisive_plan import Contest, ahead_of, contests_of
from idealist.judging.choosing.relevance_odds import chances_of
from idealist.significance.paired import paired


def plain(found: il.Pooling) -> str:
    """Give what is shown as one line."""
    return " ".join(str(found).split())


def contest_of(case: DecidedCase, tested: bool) -> Contest:
    evaluator = Evaluator(case.qrels, case.measure)
    runs = [evaluator.ranked(one) for one in case.runs]
    (found,) = contests_of(evaluator, case.measure, runs, tested, 0.05)
    return found


def check_decided(case: DecidedCase) -> bool:
    """Check a verdict against every outcome, if it is decided; say whether it was."""
    found = contest_of(case, tested=False)
    if found.sign is None and found.significant is None:
        return False
    elsewhere = 1 if found.effect.reach == "collection" and len(case.judged) < 3 else 0
    means, differences = case.differences(elsewhere)
    if found.sign is not None:
        signs = np.where(np.abs(means) < LEVEL, 0, np.sign(means))
        assert (signs[~np.isnan(means)] == found.sign).all(), case
    if found.significant is not None and len(case.judged) > 1:
        p = np.array([paired(one).p for one in differences[:200]])
        assert ((p < 0.05) == found.significant)[~np.isnan(p)].all(), case
    return found.sign is not None


def test_decided_is_never_wrong() -> None:
    """live/test_decided.py tries 10,000."""
    rng = random.Random(1)
    decided = sum(check_decided(some_decided_case(rng)) for _ in range(25))
    assert decided > 5


#: Two runs that differ in one place, which nobody has judged for the second query.
QRELS: dict[str, dict[str, float]] = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
BEFORE = {"q1": ["b", "a"], "q2": ["a", "x"]}
AFTER = {"q1": ["a", "b"], "q2": ["x", "a"]}
RUNS = {"before": BEFORE, "after": AFTER}


def test_undecided_says_what_matters_and_its_judgment_decides() -> None:
    found = il.pool(QRELS, RUNS, by="decisive", measure="P@1", scale=[0, 1])
    assert found.summary == (
        "undecided: 1 document matters; it is expected to be needed to decide whether "
        "before or after has the higher mean P@1"
    )
    assert [(one.query, one.document) for one in found.chosen] == [("q2", "x")]
    assert "+0.5" in plain(found)
    for grade, words in ((1, "after has a higher mean P@1 than before"), (0, "are level")):
        judged = QRELS | {"q2": {"a": 1.0, "x": float(grade)}}
        again = il.pool(judged, RUNS, by="decisive", measure="P@1")
        assert again.summary.startswith("decided: ")
        assert words in again.summary
        assert again.summary.endswith("stop judging")
        assert again.chosen == ()


def test_few_documents_have_chances_that_count_ties() -> None:
    """The runs are level now; the one document makes one of them better, or they stay level."""
    found = il.pool(QRELS, RUNS, by="decisive", measure="P@1", scale=[0, 1])
    answer = found.choice.answer
    assert isinstance(answer, DecisiveAnswer)
    (outlook,), (chance,) = answer.plan.open, answer.plan.chance
    assert outlook.better == pytest.approx(chance)
    assert outlook.worse == 0
    words = f"after is better is put at {chance:.0%}, that before is at 0%, and that they are level"
    assert f"{words} at {1 - chance:.0%}." in plain(found)


def test_chances_of_few_documents_are_those_of_all_outcomes() -> None:
    rng = random.Random(3)
    moves, chance = ([rng.choice([-2, -1, 1, 2]) for _ in range(6)], [0.1, 0.9, 0.3, 0.5, 0.5, 0.7])
    better = worse = 0.0
    for grades in itertools.product((0, 1), repeat=6):
        end = 1 + sum(g * m for g, m in zip(grades, moves, strict=True))
        weight = math.prod(p if g else 1 - p for g, p in zip(grades, chance, strict=True))
        better, worse = better + weight * (end > 0), worse + weight * (end < 0)
    assert ahead_of(1, np.array(moves), np.array(chance)) == pytest.approx((better, worse))


def test_a_number_of_judgments_is_said_only_where_it_was_tried() -> None:
    qrels = {"q": {"a": 1.0, "b": 0.0, "c": 0.0}}
    runs = [{"q": ["a", "u", "v", "b"]}, {"q": ["w", "a", "x", "c"]}]
    said = {
        measure: il.pool(qrels, runs, by="decisive", measure=measure).data()["answer"]["expected"]
        for measure in ("P@3", "nDCG@3", "AP", "ERR@3")
    }
    assert [name for name, number in said.items() if number is not None] == ["P@3", "nDCG@3"]
    fewer = il.pool({"q": {"a": 1.0}}, runs, by="decisive", measure="P@3")
    assert fewer.summary.endswith("how many judgments that takes is not estimated")


def test_what_is_decided_may_still_grow() -> None:
    """The difference now is also the least one, and could be larger."""
    qrels, runs = {"q": {"a": 1, "b": 0}}, [{"q": ["b", "b2"]}, {"q": ["a", "u"]}]
    found = il.pool(qrels | {"q": {**qrels["q"], "b2": 0}}, runs, by="decisive", measure="P@2")
    assert "by 0.5000 now and at the least; no grade of the one unjudged document" in found.summary
    ideal = [{"q": ["b", "u"]}, {"q": ["a", "u"]}]
    found = il.pool(qrels, ideal, by="decisive", measure="nDCG(ideal_cut=none)@1")
    assert "; no grade can turn it: stop judging" in found.summary
    found = il.pool(qrels, ideal, by="decisive", measure="P@1")
    assert ", by 1.0000; no document that it depends on is unjudged: stop" in found.summary


def test_no_grade_can_turn_what_is_decided() -> None:
    found = il.pool({"q": {"a": 2, "b": 0}}, [{"q": ["a", "u"]}, {"q": ["b", "u"]}],
                    by="decisive", measure="DCG@2")  # fmt: skip
    assert "no grade of the one unjudged document can turn it" in found.summary
    assert "grades are 0, 1, 2 (those seen so far, and 0 and 1)" in plain(found)
    assert found.data()["answer"]["decided"] is True


def test_the_scale_decides_what_a_document_could_do() -> None:
    qrels = {"q1": {"a": 2.0, "b": 0}, "q2": {"a": 2.0, "b": 0}}
    runs = [{"q1": ["a"], "q2": ["a"]}, {"q1": ["u"], "q2": ["b"]}]
    for scale, words in ((2, "decided: "), (5, "undecided: ")):
        found = il.pool(qrels, runs, by="decisive", measure="DCG@1", scale=scale)
        assert found.summary.startswith(words)
        assert "as declared" in plain(found)


def test_all_pairs_of_several_runs() -> None:
    third = {"q1": ["y", "a"], "q2": ["a", "z"]}
    found = il.pool(QRELS, RUNS | {"third": third}, by="decisive", measure="P@1", budget=1)
    assert "of 3 pairs" in found.summary
    assert len(found.chosen) == 1
    answer = found.data()["answer"]
    assert len(answer["pairs"]) == 3
    assert answer["matter"] == 2


def test_nothing_judged_yet() -> None:
    found = il.pool(None, RUNS, by="decisive", measure="nDCG@2", per_query=1)
    assert found.summary.startswith("undecided: 4 documents matter")
    assert {one.query for one in found.chosen} == {"q1", "q2"}


def test_queries_of_a_store_count_before_they_are_judged(tmp_path: Path) -> None:
    with il.Store.create(tmp_path / "s.db", queries={"q1": "one", "q2": "two"}) as store:
        store.judge(il.Judgment("q1", "a", 1, "ann"))
        store.judge(il.Judgment("q1", "b", 0, "ann"))
    found = il.pool(tmp_path / "s.db", RUNS, by="decisive", measure="P@1")
    assert {one.query for one in found.chosen} == {"q2"}
    assert "over 2 queries" in plain(found)
    left_out = il.pool({"q1": QRELS["q1"]}, RUNS, by="decisive", measure="P@1")
    assert left_out.summary.startswith("decided: after")
    assert "leaves out 1 query of the runs that nobody has judged" in plain(left_out)


def test_below_the_cutoff_once_all_above_is_judged() -> None:
    """A relevant document further down raises the ideal of its query, and so can turn a mean."""
    qrels: dict[str, dict[str, float]] = {"q1": {"a": 2, "b": 0}, "q2": {"c": 2, "d": 0}}
    runs = [{"q1": ["a", "x"], "q2": ["d", "y"]}, {"q1": ["b", "x"], "q2": ["c", "y"]}]
    found = il.pool(qrels, runs, by="decisive", measure="nDCG(ideal_cut=none)@1")
    assert found.summary.startswith("undecided: 0 documents matter")
    assert {one.document for one in found.chosen} == {"x", "y"}


def test_significance_by_the_t_test() -> None:
    queries = [f"q{i}" for i in range(12)]
    qrels = {q: {"a": 1.0, "b": 0.0} for q in queries}
    worse = {q: ["b", "a"] for q in queries}
    better = {q: ["a", "u" if q == "q0" else "b"] for q in queries}
    better["q1"] = ["u", "a"]
    found = il.pool(qrels, [worse, better], by="decisive", measure="P@1", verdict="significant")
    assert found.summary.startswith("decided: ")
    assert "significantly so" in found.summary
    close = {**worse, "q0": ["u", "a"]}
    found = il.pool(qrels, [worse, close], by="decisive", measure="P@1", verdict="significant")
    assert "do not differ significantly" in found.summary
    unknown = {q: ["u" if i < 6 else "b"] for i, q in enumerate(queries)}
    found = il.pool(qrels, [worse, unknown], by="decisive", measure="P@1", verdict="significant")
    assert found.summary.endswith("how many judgments that takes is not estimated")
    assert found.data()["answer"]["expected"] is None


@pytest.mark.parametrize(
    ("runs", "options", "words"),
    [
        ([BEFORE], {}, "a verdict is about two runs"),
        ([BEFORE, BEFORE], {}, "a verdict is about two runs"),
        ([BEFORE, AFTER], {"verdict": "maybe"}, "there is no verdict 'maybe'"),
        ([BEFORE, AFTER], {"measure": ["P@1", "RR"]}, "one measure decides"),
        ([BEFORE, AFTER], {"measure": "bpref"}, "no bounds are known for bpref"),
        ([BEFORE, AFTER], {"scale": [0, 2]}, "not on the declared scale"),
        ([BEFORE, AFTER], {"odds": 0}, "odds"),
    ],
)
def test_mistakes(runs: list[Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(IdealistError, match=words):
        il.pool(QRELS, runs, by="decisive", **options)


@pytest.mark.parametrize("measure", ["nDCG@3", "AP", "P@2", "RBP(p=0.8)", "ERR@3", "R@2"])
def test_effects_are_what_evaluating_again_shows(measure: str) -> None:
    qrels: dict[str, dict[str, float]] = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 0, "d": 1}}
    runs = [
        {"q1": ["u", "a", "v", "b"], "q2": ["d", "w"]},
        {"q1": ["a", "u"], "q2": ["w", "z", "d"]},
    ]
    evaluator = Evaluator(qrels, measure)
    found = effects_of(evaluator, measure, [evaluator.ranked(run) for run in runs])
    assert found.grade == 1
    for query, document, moves in zip(found.query, found.documents, found.moves, strict=True):
        name = evaluator.qrels.queries[query]
        judged = qrels | {name: qrels[name] | {document: 1.0}}
        for run, move in zip(runs, moves, strict=True):
            both = [il.evaluate(one, run, measure)[measure] for one in (judged, qrels)]
            assert both[0] - both[1] == pytest.approx(move, abs=1e-12)


def test_effects_far_down_are_between_those_tried() -> None:
    run = {"q": [f"d{i}" for i in range(400)]}
    evaluator = Evaluator({"q": {"d3": 1, "d90": 1, "z": 0}}, "AP")
    found = effects_of(evaluator, "AP", [evaluator.ranked(run)])
    assert len(found) == 398
    for at in (60, 200, 397):
        judged = {"d3": 1, "d90": 1, "z": 0, found.documents[at]: 1}
        change = il.evaluate({"q": judged}, run, "AP")["AP"] - evaluator(run)["AP"]
        assert found.moves[at, 0] == pytest.approx(change, abs=2e-3)


def test_chances_follow_ranks_and_queries() -> None:
    rng = np.random.default_rng(0)
    ranks = rng.integers(1, 100, (400, 2))
    query = np.repeat([0, 1], 200)
    truth = 1 / (1 + np.exp(ranks[:, 0] / 15 - 2 - 2 * query))
    known = np.where(rng.random(400) < 0.5, rng.random(400) < truth, np.nan)
    found = chances_of(ranks, query, known)
    hidden = np.isnan(known)
    assert np.corrcoef(found[hidden], truth[hidden])[0, 1] > 0.7
    assert found[hidden].mean() == pytest.approx(truth[hidden].mean(), abs=0.1)
    assert chances_of(ranks, query, np.full(400, np.nan)).tolist() == [0.5] * 400
    assert (chances_of(ranks, query, known, 1 / 6)[hidden] < found[hidden]).all()


def test_real_runs_are_planned_quickly(data: Path) -> None:
    folder = data / "trec-covid-r1"
    runs = [folder / "runs" / name for name in ("T5R1", "sheikh_bm25_manual", "lda400s2000")]
    found = il.pool(folder / "qrels.txt", runs, by="decisive", budget=5)
    assert found.summary.startswith("undecided: ")
    assert len(found.chosen) == 5


def test_the_command(tmp_path: Path) -> None:
    for name, run in RUNS.items():
        il.write_run(il.read_run(run), tmp_path / f"{name}.run")
    il.write_qrels(QRELS, tmp_path / "qrels.txt")
    runs = [str(tmp_path / f"{name}.run") for name in RUNS]
    asked = ["judge", "pool", str(tmp_path / "qrels.txt"), *runs, "--by", "decisive", "-m", "P@1"]
    ran = CliRunner().invoke(cli, asked)
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.startswith("undecided: 1 document matters")
    assert "nothing was saved" in ran.stderr
    with il.Store.create(tmp_path / "s.db") as store:
        store.judge_all(
            il.Judgment(q, d, g, "ann") for q, own in QRELS.items() for d, g in own.items()
        )
    ran = CliRunner().invoke(cli, [*asked[:2], str(tmp_path / "s.db"), *asked[3:], "--budget", "3"])
    assert "saved as batch 1" in ran.stderr


def test_an_empty_store_has_its_scale_already(tmp_path: Path) -> None:
    runs = [{"q": ["a", "b"]}, {"q": ["b", "c"]}]
    with il.Store.create(tmp_path / "empty.db", scale=3) as store:
        found = il.pool(store, runs, by="decisive", measure="DCG@2")
    assert "grades are 0, 1, 2, 3 (as declared)" in str(found)


def test_a_mean_that_no_query_has_yet_is_not_decided() -> None:
    """Unless the one unjudged document is relevant, the query does not count at all."""
    runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d2"]}}
    found = il.pool({"q": {"d2": 0}}, runs, by="decisive", measure="AP(no_relevant=skip)")
    assert "undecided: 1 document matters" in str(found)
    assert "b - a is unknown now" in str(found)
    assert [one.document for one in found.batch.pooled] == ["d1"]
