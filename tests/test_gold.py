"""Judgments as people hold them: fractions, words, and lists of relevant documents only."""

from __future__ import annotations

import json
import pickle
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from idealist.cli.main import main
from idealist.errors import InputError, UsageError
from idealist.formats.grade_words import LADDER, proposal, scale_of, scale_text

RUN = {"q1": ["c", "a", "b"], "q2": ["x", "a"]}


def output(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, str]:
    """Run a command; return its exit code, and all that it writes."""
    code = 0
    try:
        main([str(word) for word in words])
    except SystemExit as stop:
        code = int(stop.code or 0)
    shown = capsys.readouterr()
    return code, shown.out + shown.err


# Fractions.

FRACTIONS = {"q1": {"a": 0.5, "b": 1.7, "c": 0}, "q2": {"a": 1}}


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"qrels{suffix}"
    il.write_qrels(FRACTIONS, path)
    return path


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv", ".tsv", ".parquet"])
def test_fractions_count_unless_the_file_is_trec_text(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path, suffix)
    kept, cut = (il.evaluate(path, RUN, "nDCG@3", grades=how) for how in ("keep", "truncate"))
    result = il.evaluate(path, RUN, "nDCG@3")
    assert result["nDCG@3"] == kept["nDCG@3"] != cut["nDCG@3"]
    assert result.signatures["nDCG@3"] == kept.signatures["nDCG@3"]
    assert result.signatures["nDCG@3"].by("trec_eval").startswith("nDCG@3|trec_eval+grades:keep|")
    (doubt,) = [one for one in result.doubts if one.code == "fractional-grades"]
    assert (
        "2 grades are fractional and kept; trec_eval would cut the fractions off" in doubt.message
    )
    assert doubt.values == {"nDCG@3": cut["nDCG@3"]}
    assert doubt.severity == "note"
    assert il.evaluate(written(tmp_path, ".txt"), RUN, "nDCG@3")["nDCG@3"] == cut["nDCG@3"]


def test_what_the_user_sets_holds_and_tools_keep_their_own(tmp_path: Path) -> None:
    for axes in ({"grades": "truncate"}, {"convention": "helm"}, {"convention": "pytrec_eval"}):
        result = il.evaluate(FRACTIONS, RUN, "nDCG@3", **axes)
        assert result.signatures["nDCG@3"].fields["grades"] in ("truncate", "nonzero")
    own = il.evaluate(FRACTIONS, RUN, "nDCG@3", convention="haystack")
    assert "fractional-grades" not in [one.code for one in own.doubts]
    text = il.read_qrels(written(tmp_path, ".txt"))
    assert "grades:keep" not in il.evaluate(text, RUN, "nDCG@3").signatures["nDCG@3"].by(
        "trec_eval"
    )


def test_whole_grades_have_the_signature_that_they_had() -> None:
    signature = il.evaluate({"q1": {"a": 1.0}}, RUN, "AP").signatures["AP"]
    assert "+" not in signature.by("trec_eval")


def test_the_drop_in_cuts_fractions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "a.run"
    il.write_run(RUN, run)
    code, shown = output(capsys, "trec-eval", "-m", "ndcg_cut.3", written(tmp_path, ".txt"), run)
    cut = il.evaluate(FRACTIONS, RUN, "nDCG@3", grades="truncate")
    assert (code, shown.split()[-1]) == (0, f"{cut['nDCG@3']:.4f}")


# Words.

ESCI = """query_id,product_id,esci_label
q1,a,Exact
q1,b,Irrelevant
q1,c,Complement
q2,a,Substitute
"""
COLUMNS = ["--columns", "document=product_id,grade=esci_label"]


def test_words_are_refused_with_a_scale_that_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = tmp_path / "esci.csv", tmp_path / "a.run"
    qrels.write_text(ESCI)
    il.write_run(RUN, run)
    code, shown = output(capsys, "eval", qrels, run, *COLUMNS)
    assert code == 2
    proposed = shown.split("say what they are worth: ")[1].strip()
    assert proposed == "--scale Exact=3,Substitute=2,Complement=1,Irrelevant=0"
    code, shown = output(capsys, "eval", qrels, run, *COLUMNS, *shlex.split(proposed))
    assert code == 0
    columns = {"document": "product_id", "grade": "esci_label"}
    weights = {"exact": 1, "SUBSTITUTE": 0.1, "Complement": 0.01, "Irrelevant": 0}
    found = il.read_qrels(qrels, columns=columns, scale=weights)
    assert found.to_dict() == {"q1": {"a": 1, "b": 0, "c": 0.01}, "q2": {"a": 0.1}}
    assert found.scale is not None
    assert found.scale.labels == ("Irrelevant", "Complement", "SUBSTITUTE", "exact")
    assert il.read_qrels(il.read_qrels(qrels, columns=columns, scale=weights)).hash == found.hash


PROPOSALS = {
    "relevant|partially relevant|not relevant": [2, 1, 0],
    "Highly Relevant|relevant|not_relevant": [2, 1, 0],
    "yes|no": [1, 0],
    "yes|maybe|no": [2, 1, 0],
    "E|S|C|I": [3, 2, 1, 0],
    "high|medium|low": [2, 1, 0],
    "high|medium|low|none": [3, 2, 1, 0],
    "good|fair|bad": [2, 1, 0],
    "Perfect|Excellent|Good|Fair|Bad": [4, 3, 2, 1, 0],
    "relevant|partially relevant": [2, 1],
    "relevant": [1],
}


@pytest.mark.parametrize("words", PROPOSALS)
def test_usual_words_are_put_in_order(words: str) -> None:
    expected = dict(zip(words.split("|"), PROPOSALS[words], strict=True))
    assert proposal(reversed(words.split("|"))) == (expected, [])


def test_unknown_words_are_marked_as_a_guess() -> None:
    with pytest.raises(InputError, match="the order of blue, red is a guess"):
        il.read_qrels([("q", "a", "red"), ("q", "b", "blue"), ("q", "c", "no")])
    many = [("q", f"d{i}", f"a text of its own, {i}") for i in range(30)]
    with pytest.raises(InputError, match="is not a finite number"):
        il.read_qrels(many)
    with pytest.raises(InputError, match="grade 'x' is not a finite number"):
        il.read_qrels([("q", "a", "2"), ("q", "b", "x")])


WORDS = st.sampled_from([word for line in LADDER for word in line] + ["red", "a, b", "grün"])


@settings(max_examples=60)
@given(st.sets(WORDS, min_size=2, max_size=6))
def test_every_proposal_runs_when_it_is_pasted(words: set[str]) -> None:
    rows = [("q", f"d{i}", word) for i, word in enumerate(sorted(words))]
    if words <= {"true", "false"}:
        return
    with pytest.raises(InputError) as caught:
        il.read_qrels(rows)
    hint = caught.value.hint.removeprefix("say what they are worth: ")
    _, scale, *_ = shlex.split(hint)
    read = il.read_qrels(rows, scale=scale_of(scale.removesuffix(";")))
    assert len(read) == len(words)


@pytest.mark.parametrize("cells", [[True, False], ["true", "false"], ["TRUE", "False"]])
def test_true_and_false_are_read_and_said(cells: list[Any]) -> None:
    qrels = il.read_qrels([("q1", "a", cells[0]), ("q1", "b", cells[1])])
    assert qrels.to_dict() == {"q1": {"a": 1, "b": 0}}
    (doubt,) = [one for one in il.evaluate(qrels, RUN, "AP").doubts if one.code == "read-as"]
    assert "read as 1 and 0" in doubt.message


def test_a_scale_may_give_numbers_other_grades() -> None:
    stars = [("q1", "a", 5), ("q1", "b", 1), ("q2", "a", 3)]
    doubts = il.evaluate(stars, RUN, "AP").doubts
    assert "positives-only" in [one.code for one in doubts]
    scale = {stars: stars - 1 for stars in range(1, 6)}
    assert il.read_qrels(stars, scale=scale).to_dict() == {"q1": {"a": 4, "b": 0}, "q2": {"a": 2}}
    with pytest.raises(InputError, match=r"7 \(not on the scale\)"):
        il.read_qrels([*stars, ("q2", "b", 7)], scale=scale)
    full = [("q", f"d{i}", i) for i in range(1, 6)]
    (doubt,) = [
        one
        for one in il.evaluate(full, {"q": ["d1", "x"]}, "AP").doubts
        if one.code == "positives-only"
    ]
    assert "if grade 1 means not relevant, say --scale 1=0,2=1,3=2,4=3,5=4" in doubt.message


SCALES: dict[str, Any] = {
    "3": 3, "0..3": [0, 1, 2, 3], "0,0.5,1": [0, 0.5, 1], "a=1,b=0": {"a": 1, "b": 0},
    "relevant, but old=1,no=0": {"relevant, but old": 1, "no": 0}, "x=1/2": {"x": 0.5},
}  # fmt: skip


@pytest.mark.parametrize("text", SCALES)
def test_scales_are_written_as_they_are_read(text: str) -> None:
    assert scale_of(text) == SCALES[text]
    assert scale_of(scale_text(SCALES[text])) == SCALES[text]


@pytest.mark.parametrize("text", ["", "high", "a=b", "a=1,,b=2", "3..x", "=1", "1;2"])
def test_what_is_no_scale_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        scale_of(text)


def test_a_grade_has_one_word() -> None:
    with pytest.raises(UsageError, match="two words for one grade"):
        scale_of("0=a,0=b")


def test_the_options_stay_with_a_command_that_is_proposed(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    path.write_text("query,document,grade\nq1,a,good\nq1,b,bad\nq2,x,bad\n")
    il.write_run(RUN, run := tmp_path / "a.run")
    qrels = il.read_qrels(path, scale={"good": 0.5, "bad": 0}, judgments="pooled")
    assert qrels.read_with == ("--scale", "good=0.5,bad=0", "--judgments", "pooled")
    (doubt,) = [one for one in il.evaluate(qrels, run).doubts if one.code == "fractional-grades"]
    assert "--scale good=0.5,bad=0 --judgments pooled" in doubt.command
    main(shlex.split(doubt.command)[1:])


def test_the_audit_reads_runs_as_they_are_described(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\n")
    (tmp_path / "shop.csv").write_text("query,sku,score\nq1,a,2\nq1,b,1\n")
    files = tmp_path / "qrels.txt", tmp_path / "shop.csv"
    code, shown = output(capsys, "audit", *files, "--columns", "document=sku")
    assert (code, "missing-column" in shown) == (0, False)


# Complete, pooled, positives.

RAG = [
    {"query": "q1", "gold": ["a", "b"], "retrieved": ["x", "a", "y"]},
    {"query": "q2", "gold": ["c"], "retrieved": ["z", "w", "c"]},
]


@pytest.fixture
def rag(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Judgments of relevant documents only, and two runs."""
    gold, one, two = (tmp_path / name for name in ("gold.jsonl", "a.run", "b.run"))
    rows = [{"query": r["query"], "doc": d, "grade": 1} for r in RAG for d in r["gold"]]
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows))
    il.write_run({r["query"]: r["retrieved"] for r in RAG}, one)
    il.write_run({r["query"]: r["retrieved"][::-1] for r in RAG}, two)
    return gold, one, two


def codes(qrels: Any, run: Any) -> set[str]:
    return {one.code for one in il.evaluate(qrels, run).doubts}


def test_a_list_of_relevant_documents_is_found_and_said(rag: tuple[Path, Path, Path]) -> None:
    gold, run, _ = rag
    assert il.read_qrels(gold).gold == "positives"
    found = il.evaluate(gold, run)
    (doubt,) = [one for one in found.doubts if one.code == "positives-only"]
    assert doubt.message.startswith("all 3 judgments say relevant: unjudged documents count")
    assert "say --judgments pooled" in doubt.message
    assert "unjudged" not in codes(gold, run)
    assert "positives-only" not in codes(gold, {"q1": ["a"], "q2": []})  # nothing hangs on it
    for said, shown in (("positives", set()), ("complete", set()), ("pooled", {"unjudged"})):
        qrels = il.read_qrels(gold, judgments=said)
        assert codes(qrels, run) & {"unjudged", "positives-only"} == shown
        assert il.evaluate(qrels, run).aggregates == found.aggregates
        assert il.evaluate(qrels, run).signatures == found.signatures


def test_one_judgment_that_is_not_relevant_makes_a_pool() -> None:
    assert il.read_qrels({"q": {"a": 1, "b": 0}}).gold == "pooled"
    assert il.read_qrels({"q": {"a": 1, "b": -1}}).gold == "pooled"
    unrated = {"query": ["q", "q"], "doc": ["a", "b"], "grade": [1, None]}
    assert il.read_qrels(pd.DataFrame(unrated)).gold == "pooled"
    assert il.read_qrels({"q": {"a": 1, "b": 0}}, judgments="complete").gold == "complete"
    assert il.read_qrels({"q": {"a": 1}}, scale=3).gold == "positives"
    with pytest.raises(UsageError, match="judgments cannot be 'all'"):
        il.read_qrels({"q": {"a": 1}}, judgments="all")


def test_real_judgments_are_of_a_pool(data: Path) -> None:
    qrels = il.read_qrels(data / "trec-covid-r1" / "qrels.txt")
    assert qrels.gold == "pooled"
    rows = [(q, d, g) for q, own in qrels.to_dict().items() for d, g in own.items() if g > 0]
    assert il.read_qrels(rows).gold == "positives"


@pytest.mark.parametrize("said", ["complete", "positives"])
def test_nothing_is_priced_that_is_not_there(
    rag: tuple[Path, Path, Path], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, one, two = rag
    options = ["--judgments", said]
    code, shown = output(capsys, "audit", gold, one, two, *options, "--fail-on", "warning")
    assert code == 0
    assert not any(words in shown for words in ("holes", "pool-bias", "Judged@10", "coverage"))
    code, shown = output(
        capsys, "audit", gold, one, *options, "--to-judge", gold.with_name("j.tsv")
    )
    assert code == 2
    assert "there is nothing to judge" in shown
    _, shown = output(capsys, "eval", gold, one, *options, "--bounds", "-m", "nDCG@10")
    assert "bounds: a: no document is unjudged" in shown
    _, shown = output(capsys, "compare", gold, one, two, *options, "-m", "nDCG@10")
    assert "unjudged" not in shown.lower()
    _, shown = output(capsys, "diagnose", gold, one, "--baseline", two, *options)
    assert "judge" not in shown
    _, shown = output(capsys, "diagnose", gold, one, "--judgments", "pooled")
    assert "documents behind unjudged ones" in shown


@pytest.mark.parametrize("suffix", [".txt", ".csv"])
def test_a_scale_gives_other_numbers_in_every_format(suffix: str, tmp_path: Path) -> None:
    lines = {".txt": "q 0 a 1\nq 0 b 3\n", ".csv": "query,document,grade\nq,a,1\nq,b,3\n"}
    path = tmp_path / f"stars{suffix}"
    path.write_text(lines[suffix])
    for data in (path, {"q": {"a": 1, "b": 3}}):
        found = il.read_qrels(data, scale={"1": 3, "3": 1})
        assert found.to_dict() == {"q": {"a": 3, "b": 1}}
    with pytest.raises(il.InputError, match="not on the scale"):
        il.read_qrels(path, scale={"1": 0, "2": 1})


def test_judgments_go_to_another_process_after_use(tmp_path: Path) -> None:
    qrels = il.read_qrels(written(tmp_path, ".txt"))
    assert il.evaluate(qrels, RUN, "nDCG@3").signatures
    copy = pickle.loads(pickle.dumps(qrels))
    assert (copy.hash, copy.to_dict()) == (qrels.hash, qrels.to_dict())


# Pairs without grades.


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_rows_without_grades_are_positives_where_a_user_says_so(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame({"question_id": ["q1", "q1", "q2"], "chunk_id": ["a", "b", "a"], "n": 1})
    path, run = tmp_path / f"gold{suffix}", tmp_path / "run.json"
    run.write_text(json.dumps(RUN))
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    elif suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    code, shown = output(capsys, "eval", path, run)
    assert code == 2
    assert "--judgments positives" in shown
    qrels = il.read_qrels(path, judgments="positives")
    assert qrels.grades.tolist() == [1.0] * 3
    assert qrels.gold == "positives"
    records = frame[["question_id", "chunk_id"]].to_dict("records")
    assert il.read_qrels(records, judgments="complete").grades.tolist() == [1.0] * 3


def test_scores_in_the_place_of_grades_are_asked_about() -> None:
    scores = {"q": {f"d{i}": 0.5 + i / 64 for i in range(30)}}
    found = il.evaluate(scores, {"q": {"d1": 1, "d2": 2}}, "nDCG@10")
    (doubt,) = [one for one in found.doubts if one.code == "fractional-grades"]
    assert "as scores do (judgments come first, then runs)" in doubt.message
