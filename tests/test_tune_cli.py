"""The contract of `idealist tune`: what it prints, writes and refuses."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

import idealist as il
from idealist.cli.main import main
from test_tuning import some_data

RUNS = ("good", "fair", "noise")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with judgments, three runs, and queries with columns."""
    qrels, runs = some_data()
    il.write_qrels(qrels, tmp_path / "qrels.txt")
    for name, run in runs.items():
        il.write_run(run, tmp_path / f"{name}.run")
    rows = [f"q{i},text {i},user{i % 8},{'short' if i < 10 else 'long'}" for i in range(20)]
    (tmp_path / "queries.csv").write_text("\n".join(["query,text,user,kind", *rows]), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


TUNE = ("tune", "qrels.txt", *(f"{name}.run" for name in RUNS), "-m", "nDCG@5")
QUICK = (*TUNE, "--method", "rrf")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    main(list(arguments))
    captured = capsys.readouterr()
    return captured.out, captured.err


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    captured = capsys.readouterr()
    assert caught.value.code == 2
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err


def test_json_holds_what_the_contract_says(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, *TUNE, "-f", "json")
    data = json.loads(out)
    assert err == ""
    assert {
        "best",
        "in_sample",
        "estimate",
        "ci",
        "optimism",
        "baselines",
        "verdict",
    } <= data.keys()
    runs = [f"{name}.run" for name in RUNS]
    assert data == json.loads(il.tune("qrels.txt", runs, measure="nDCG@5").to_json())


def test_the_answer_comes_first_and_words_are_not_data(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = run(capsys, *QUICK)
    assert out.startswith(("Keep RRF: ", "Use "))
    assert re.search(r"^ default +RRF ", out, re.MULTILINE)
    assert re.search(r"^ best single run +good ", out, re.MULTILINE)
    assert "20 queries in 5 folds, seed 0" in err
    assert "estimate:nested|folds:5|seed:0" in err
    assert "What was chosen for each fold" not in out
    out, err = run(capsys, *QUICK, "--details", "--quiet")
    assert "What was chosen for each fold" in out
    assert err == ""


def test_every_trial_is_in_the_csv(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, *QUICK, "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    data = json.loads(run(capsys, *QUICK, "-f", "json")[0])
    assert len(rows) == data["tried"] == len(data["trials"])
    assert rows[0]["setting"] == "RRF"
    assert float(rows[0]["means.whole"]) == data["baselines"]["default"]["in_sample"]


def test_runs_are_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(
        capsys, *QUICK, "--write", "fused.run", "--write-out-of-fold", "oof.jsonl", "-f", "json"
    )
    data = json.loads(out)
    assert "wrote out-of-fold to oof.jsonl" in err
    found = il.evaluate("qrels.txt", "oof.jsonl", "nDCG@5")["nDCG@5"]
    assert found == data["estimate"]
    fused = il.evaluate("qrels.txt", "fused.run", "nDCG@5")["nDCG@5"]
    chosen = {"best": data["in_sample"]} | {
        one["setting"]: one["in_sample"] for one in data["baselines"].values()
    }
    chosen[data["best"]] = data["in_sample"]
    assert fused == chosen[data["choice"]]


def test_queries_may_belong_together(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--queries", "queries.csv", "--group", "user", "--slice", "kind", "--folds", "4")
    data = json.loads(run(capsys, *QUICK, *asked, "-f", "json")[0])
    assert data["groups"] == 8
    folds = {query: i for i, fold in enumerate(data["folds"]) for query in fold["queries"]}
    assert len(folds) == 20
    assert all(folds[f"q{i}"] == folds[f"q{i + 8}"] for i in range(12))


def test_the_default_may_be_a_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(run(capsys, *QUICK, "--default", "fair.run", "-f", "json")[0])
    assert data["default"] == "fair"


def test_runs_are_selected(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, *QUICK, "--select")
    assert "earns its place" in out or "cannot be told" in out
    assert "as runs are added" in out
    assert "fused by RRF" in err
    data = json.loads(run(capsys, *TUNE, "--select", "-f", "json")[0])
    assert [one["run"] for one in data["runs"]] == list(RUNS)
    rows = list(csv.DictReader(io.StringIO(run(capsys, *TUNE, "--select", "-f", "csv")[0])))
    assert [row["run"] for row in rows] == list(RUNS)


def test_results_go_into_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("t.html", "t.md", "t.json"):
        run(capsys, *QUICK, "-o", name)
        assert (here / name).stat().st_size > 500


@pytest.mark.parametrize(("words", "said"), [
    (("--folds", "1"), "folds cannot be 1"),
    (("--folds", "30"), "20 queries cannot make 30 folds"),
    (("--method", "rff"), "there is no fusion method 'rff'"),
    (("-m", "AP"), "2 measures cannot be tuned by at once"),
    (("--group", "user"), "--group needs the queries"),
    (("--queries", "queries.csv", "--group", "nobody"), "no column 'nobody'"),
    (("--set", "missing=skip"), "write --missing"),
    (("--select", "--write", "x.run"), "--select writes no run"),
    (("--select", "--method", "sum"), "--select is for one method"),
    (("--write", "nowhere/x.run"), "cannot write nowhere/x.run"),
    (("--write", "x.run", "--write-out-of-fold", "x.run"), "two runs cannot both go to x.run"),
    (("--default", "bm26"), "one of the runs: good, fair, noise"),
    (("--select", "--default", "good"), "--default is not for --select"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert said in refused(capsys, *QUICK, *words)


def test_runs_of_other_queries_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    il.write_run({"elsewhere": {"d1": 1.0}}, here / "other.run")
    err = refused(capsys, "tune", "qrels.txt", "good.run", "other.run")
    assert "other lacks 20 queries that others have" in err or "no query in common" in err
    assert "audit" in refused(capsys, "tune", "qrels.txt", "other.run", "other.run")
    assert "1 run cannot be fused" in refused(capsys, "tune", "qrels.txt", "good.run")


def test_examples_of_the_help_are_of_this_verb(capsys: pytest.CaptureFixture[str]) -> None:
    text, _ = run(capsys, "tune", "--help")
    assert text.count("idealist tune") >= 5
    for option in ("--method", "--default", "--folds", "--group", "--slice", "--select", "--write"):
        assert option in text


def test_a_tuned_run_goes_into_compare(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, *QUICK, "--write-out-of-fold", "oof.run")
    out, _ = run(capsys, "compare", "qrels.txt", "good.run", "oof.run", "-m", "nDCG@5")
    assert "oof" in out
