"""Several judges: merged by a stated rule, refused without one, and how far they agree."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

import idealist as il
from idealist.auditing.judge_agreement import LEVEL, JudgeAgreement
from idealist.cli.main import main
from idealist.errors import InputError, UsageError
from idealist.formats.judges import RULES
from idealist.significance.kappas import (
    LEVELS,
    WEIGHTS,
    Ratings,
    cohen_kappa,
    gwet_ac,
    krippendorff_alpha,
    standing_apart,
)

#: Three raters, who disagree on two of three documents.
CROWD = """query,doc,rater,label,seconds
q1,d1,ann,2,3.1
q1,d1,bob,2,4
q1,d1,cy,0,5
q1,d2,ann,0,1
q1,d2,bob,0,2
q2,d1,ann,1,2
q2,d1,bob,2,2
q2,d3,cy,0,1
"""
RUN = {"q1": ["d2", "d1"], "q2": ["d1"]}


def status(*words: Any) -> int:
    """Run a command; return its exit code."""
    try:
        main([str(word) for word in words])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    path = tmp_path / "crowd.csv"
    path.write_text(CROWD)
    return path


MERGED = {
    "mean": (4 / 3, 1.5), "median": (2, 1.5), "majority": (2, 1), "max": (2, 2), "min": (0, 1),
    "latest": (0, 2),
}  # fmt: skip


@pytest.mark.parametrize("rule", MERGED)
def test_a_rule_makes_one_grade_of_several(crowd: Path, rule: str) -> None:
    qrels = il.read_qrels(crowd, merge=rule)
    first, second = MERGED[rule]
    assert qrels.to_dict() == {"q1": {"d1": first, "d2": 0}, "q2": {"d1": second, "d3": 0}}
    assert (qrels.merge, "judge" in qrels.columns) == (rule, False)
    assert qrels.ignored == ("seconds",)  # which each judge has of his own
    result = il.evaluate(qrels, RUN, "nDCG@10")
    signature = result.signatures["nDCG@10"]
    assert str(signature).endswith(f"merge:{rule}|qrels:{qrels.hash}|rules:1|v:{il.__version__}")
    assert il.Signature.parse(signature.by("trec_eval")) == signature
    (doubt,) = [one for one in result.doubts if one.code == "judges"]
    assert doubt.count == 2
    assert f"the {rule} counts" in doubt.message
    assert ("had no majority" in doubt.message) == (rule == "majority")


def test_disagreement_without_a_rule_is_refused_with_one_that_works(crowd: Path) -> None:
    with pytest.raises(InputError) as caught:
        il.read_qrels(crowd)
    said = str(caught.value)
    assert caught.value.code == "judges"
    assert "on 2 of 3 pairs that several judged: query 'q1', document 'd1'" in said
    assert "ann gave 2 (line 2), bob gave 2 (line 3), cy gave 0 (line 4)" in said
    assert "--merge median, or mean, majority, max, min" in said
    assert il.read_qrels(crowd, merge="median").merge == "median"


@pytest.mark.parametrize("name", ["Judge", "rater_id", "assessor", "Annotator ID", "workerId"])
def test_judges_have_many_names(name: str) -> None:
    rows = [{"query": "q", "doc": "d", name: judge, "grade": 1} for judge in "ab"]
    qrels = il.read_qrels(rows)
    assert (qrels.to_dict(), qrels.merge) == ({"q": {"d": 1}}, "")
    assert qrels.judged_by is not None


def test_users_are_judges_where_that_is_said() -> None:
    rows = [("q", "d", "u1", 2), ("q", "d", "u2", 0)]
    cells = [dict(zip(("query", "doc", "user", "grade"), row, strict=True)) for row in rows]
    with pytest.raises(InputError, match="contradicts"):
        il.read_qrels(cells)
    found = il.read_qrels(cells, columns={"judge": "user"}, merge="mean")
    assert found.to_dict() == {"q": {"d": 1}}


def test_one_judge_a_pair_is_no_merge() -> None:
    rows = [
        {"query": "q", "doc": d, "judge": j, "grade": 1} for d, j in zip("abc", "xyx", strict=True)
    ]
    plain = il.read_qrels(rows)
    asked = il.read_qrels(rows, merge="mean")
    assert plain.hash == asked.hash
    assert (asked.merge, asked.judged_by, asked.columns["judge"]) == ("", None, ("x", "y", "x"))
    assert "merge" not in str(il.evaluate(asked, {"q": ["a"]}, "AP").signatures["AP"])


def test_a_judge_who_contradicts_himself_is_refused() -> None:
    cells = [("q", "d", "ann", 2), ("q", "d", "bob", 2), ("q", "d", "ann", 0)]
    rows = [dict(zip(("query", "doc", "judge", "grade"), row, strict=True)) for row in cells]
    with pytest.raises(InputError, match="keep one judgment of ann"):
        il.read_qrels(rows, merge="mean")
    again = il.read_qrels([*rows[:2], rows[0]], merge="mean")
    assert (again.to_dict(), again.repeats) == ({"q": {"d": 2}}, 1)


def test_trec_text_has_judges_without_names(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("q 0 d 2\nq 0 d 2\nq 0 d 0\nq 0 e 1\n")
    with pytest.raises(InputError, match="--merge median"):
        il.read_qrels(path)
    qrels = il.read_qrels(path, merge="majority")
    assert qrels.to_dict() == {"q": {"d": 2, "e": 1}}
    assert il.evaluate(qrels, {"q": ["d"]}, "nDCG").signatures["nDCG"].fields["merge"] == "majority"


def test_what_cannot_be_merged_is_said() -> None:
    with pytest.raises(UsageError, match="merge cannot be 'average'"):
        il.read_qrels({"q": {"d": 1}}, merge="average")
    with pytest.raises(UsageError, match="read already"):
        il.read_qrels(il.read_qrels({"q": {"d": 1}}), merge="mean")


def test_grades_are_checked_before_they_are_merged() -> None:
    cells = [("d", "ann", 2), ("d", "bob", 1), ("e", "ann", 0)]
    rows = [{"query": "q", "doc": d, "judge": j, "grade": g} for d, j, g in cells]
    with pytest.raises(InputError, match="not on the declared scale"):
        il.read_qrels(rows, merge="mean", scale=1)
    qrels = il.read_qrels(rows, merge="mean", scale=3)
    assert (qrels.to_dict(), qrels.maximum) == ({"q": {"d": 1.5, "e": 0}}, 3)


def test_subtopics_are_merged_each_for_itself() -> None:
    cells = [("1", "ann", 1), ("1", "bob", 0), ("2", "ann", 2)]
    rows = [{"query": "q", "doc": "d", "subtopic": s, "judge": j, "grade": g} for s, j, g in cells]
    qrels = il.read_qrels(rows, merge="min")
    assert qrels.subtopics is not None
    assert dict(zip(qrels.subtopics.subtopic, qrels.subtopics.grade, strict=True)) == {
        "1": 0,
        "2": 2,
    }


OPINIONS = st.lists(
    st.tuples(st.sampled_from("qr"), st.sampled_from("def"), st.sampled_from("xyz"), st.integers(0, 3)),
    min_size=1, max_size=18, unique_by=lambda row: row[:3],
)  # fmt: skip
BY_HAND: dict[str, Any] = {
    "mean": statistics.fmean, "median": statistics.median, "max": max, "min": min,
    "majority": lambda grades: min(statistics.multimode(grades)),
    "latest": lambda grades: grades[-1],
}  # fmt: skip


@settings(max_examples=60)
@given(rows=OPINIONS, rule=st.sampled_from([*RULES]), order=st.randoms())
def test_merging_is_what_one_would_do_by_hand(rows: Any, rule: str, order: Any) -> None:
    names = ("query", "document", "judge", "grade")
    shuffled = order.sample(rows, len(rows))
    merged = il.read_qrels([dict(zip(names, row, strict=True)) for row in shuffled], merge=rule)
    said: dict[tuple[str, str], list[float]] = {}
    for query, document, _, grade in shuffled:
        said.setdefault((query, document), []).append(grade)
    by_hand = il.read_qrels([(q, d, BY_HAND[rule](own)) for (q, d), own in said.items()])
    assert merged.hash == by_hand.hash
    assert bool(merged.merge) == any(len({*own}) > 1 for own in said.values())


# How far judges agree.

#: The example of Krippendorff's own: four observers, twelve units, missing values.
#: doi:10.4135/9781071878781
OBSERVED = ["1 1 . 1", "2 2 3 2", "3 3 3 3", "3 3 3 3", "2 2 2 2", "1 2 3 4", "4 4 4 4", "1 1 2 1",
            "2 2 2 2", ". 5 5 5", ". . 1 1", ". 3 . ."]  # fmt: skip


RATED = Ratings.of(
    np.array([[row.split().count(str(k)) for k in range(1, 6)] for row in OBSERVED], float)
)


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_textbook(level: str, alpha: float) -> None:
    found = krippendorff_alpha(RATED, level, np.arange(1.0, 6))
    assert found == pytest.approx(alpha, abs=5e-4)
    assert np.isnan(
        krippendorff_alpha(Ratings.of(np.array([[2.0, 0], [2, 0]])), level, np.arange(2.0))
    )


#: Gwet's examples: the same four raters (irrCAC 0.4.4 prints AC2 so), and two raters who find
#: something in 7 of 125 cases, never in the same (Gwet 2008, doi:10.1348/000711006X126600).
@pytest.mark.parametrize(
    ("weights", "many", "two"),
    [("none", 0.77544407, 0.94077634), ("linear", 0.85873914, 0.94077634), ("quadratic", 0.91400072, 0.94077634)],
)  # fmt: skip
def test_ac_of_the_textbook(weights: str, many: float, two: float) -> None:
    assert gwet_ac(RATED, weights) == pytest.approx(many, abs=1e-8)
    table = np.array([[118.0, 5], [2, 0]])
    assert gwet_ac(Ratings.of_two(table), weights) == pytest.approx(two, abs=1e-8)
    assert np.isnan(gwet_ac(Ratings.of_two(np.array([[7.0]])), weights))


def by_hand(rows: list[list[int]], level: str) -> float:
    """Compute Krippendorff's alpha pair by pair."""
    rows = [row for row in rows if len(row) > 1]
    flat = [grade for row in rows for grade in row]

    def apart(a: int, b: int) -> float:
        low, high = sorted((a, b))
        between = sum(low <= grade <= high for grade in flat)
        ends = (flat.count(low) + flat.count(high)) / 2
        return {"nominal": a != b, "interval": (a - b) ** 2, "ordinal": (between - ends) ** 2}[
            level
        ]

    seen = sum(apart(a, b) / (len(row) - 1) for row in rows for a in row for b in row)
    chance = sum(apart(a, b) for a in flat for b in flat) / (len(flat) - 1) if flat else 0
    return 1 - seen / chance if chance else math.nan


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=8))
def test_alpha_is_what_one_computes_pair_by_pair(rows: list[list[int]]) -> None:
    counts = np.array([[row.count(grade) for grade in range(4)] for row in rows], float)
    for level in LEVELS:
        found = krippendorff_alpha(Ratings.of(counts), level, np.arange(4.0))
        assert found == pytest.approx(by_hand(rows, level), nan_ok=True)
    two = [row for row in rows if len(row) == 2]
    table = np.zeros((4, 4))
    for a, b in two:
        table[a, b] += 1
    both = Ratings.of(
        np.array([[row.count(grade) for grade in range(4)] for row in two], float).reshape(-1, 4)
    )
    for one, other in zip(both, Ratings.of_two(table), strict=True):
        assert np.allclose(one, other)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_kappa_is_scikit_learn_s(pairs: list[tuple[int, int]]) -> None:
    table = np.zeros((4, 4))
    for a, b in pairs:
        table[a, b] += 1
    one, other = zip(*pairs, strict=True)
    if len({*one, *other}) == 1:
        assert math.isnan(cohen_kappa(table))
        return
    for weights in WEIGHTS:
        named = None if weights == "none" else weights
        theirs = cohen_kappa_score(one, other, weights=named, labels=range(4))
        assert cohen_kappa(table, weights) == pytest.approx(theirs, nan_ok=True)


def test_judges_who_are_alike_seldom_stand_out() -> None:
    rng = np.random.default_rng(2)
    row, judge = np.repeat(np.arange(40), 4), np.tile(np.arange(4), 40)
    found = []
    for _ in range(150):
        truth = rng.integers(0, 3, 40)[row]
        grade = np.where(rng.random(160) < 0.7, truth, rng.integers(0, 3, 160))
        counts = np.zeros((40, 3))
        np.add.at(counts, (row, grade), 1)
        found.append(standing_apart(counts, row, grade, judge))
    assert np.mean(found) == pytest.approx(0, abs=1e-9)  # who is near makes another one far
    assert np.var(found) == pytest.approx(1, abs=0.15)
    assert np.mean(np.max(found, axis=1) > NormalDist().inv_cdf(1 - LEVEL / 4)) < 0.06


def test_agreement_on_real_labels(data: Path) -> None:
    rows = [
        {"query": query, "doc": document, "judge": name, "grade": float(grade)}
        for name in ("nist", "umbrela2")
        for query, _, document, grade in map(
            str.split, (data / "rag25" / f"{name}.txt").read_text().splitlines()
        )
    ]
    found = JudgeAgreement.of(il.read_qrels(rows, merge="mean"))
    assert found is not None
    (pair,) = found.pairs
    shown = [round(value, 4) for value in (found.kappa, pair.quadratic, found.alpha)]
    assert (found.documents, shown) == (10284, [0.2333, 0.4918, 0.4926])  # as published


def careless(share: float = 0.85) -> list[dict[str, Any]]:
    """Make judgments of four judges, of whom eve answers at random."""
    rng = np.random.default_rng(4)
    rows = []
    for i in range(60):
        truth = int(rng.choice([0, 0, 1, 2]))
        for name in ("ann", "bob", "cy", "eve"):
            right = rng.random() < share and name != "eve"
            grade = truth if right else int(rng.integers(0, 3))
            rows.append({"query": f"q{i % 10}", "doc": f"d{i}", "judge": name, "grade": grade})
    return rows


def test_the_audit_says_how_far_judges_agree_and_who_stands_out(tmp_path: Path) -> None:
    rows = careless()
    run = {f"q{i}": [f"d{d}" for d in range(60) if d % 10 == i] for i in range(10)}
    audit = il.audit(il.read_qrels(rows, merge="median"), run, "nDCG@5")
    found = {one.code: one for one in audit.findings}
    assert "4 judges" in found["judges"].finding
    assert "the median counts" in found["judges"].finding
    assert audit.judges is not None
    assert f"--agreement {audit.judges.kappa:.2f}" in found["judges"].remedy
    assert found["judge-apart"].finding.startswith("eve judged 60 pairs")
    without = il.read_qrels([row for row in rows if row["judge"] != "eve"], merge="median")
    (_, value), *_ = found["judge-apart"].price["run"].values()
    assert value == pytest.approx(il.evaluate(without, run, "nDCG@5")["nDCG@5"])
    table = audit.data()["judges"]
    assert (len(table["pairs"]), list(table["apart"])) == (6, ["eve"])
    alike = il.audit(il.read_qrels([row for row in rows if row["judge"] == "ann"]), run, "nDCG@5")
    assert alike.judges is None


def test_the_audit_goes_on_where_there_is_no_rule(
    crowd: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = crowd.with_name("a.run")
    run.write_text("q1 Q0 d2 1 3 t\nq1 Q0 d1 2 2 t\nq2 Q0 d1 1 1 t\n")
    assert status("audit", crowd, run) == 1
    out = capsys.readouterr().out
    assert "judges disagree on 2 of 3 pairs" in out
    assert "in all that follows, the median of the judges counts" in out
    assert "Krippendorff's alpha" in out
    assert status("eval", crowd, run, "-m", "nDCG@10") == 2
    hint = capsys.readouterr().err
    option = hint.split("say how to merge them: ")[1].split(",")[0].split()
    assert status("eval", crowd, run, "-m", "nDCG@10", *option) == 0
    assert "|merge:median" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_columns_of_several_judges_are_judges(tmp_path: Path, suffix: str) -> None:
    path, columns = tmp_path / f"gold{suffix}", {"grade": ["Ann", "bob", "cy"]}
    cells = {"ann": [2, 1], "bob": [0, 1], "cy": [0, None]}
    frame = pd.DataFrame({"query": ["q1", "q2"], "sku": ["d1", "d2"], **cells})
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    qrels = il.read_qrels(path, columns=columns, merge="mean")
    assert qrels.grades.tolist() == pytest.approx([2 / 3, 1])
    assert (qrels.merge, qrels.ungraded) == ("mean", 1)
    assert "grade = ann + bob + cy, judge = each of these" in str(qrels.remarks)
    assert il.read_qrels(frame, columns=columns, merge="max").grades.tolist() == [2, 1]
    with pytest.raises(InputError, match="judges disagree on 1 of 2 pairs"):
        il.read_qrels(path, columns=columns)
