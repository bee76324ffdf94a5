"""`idealist plot`: kinds, what they need, and what is written where."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import idealist as il
from idealist.cli.main import main
from idealist.cli.plot import KINDS

EXAMPLES = Path(__file__).parents[1] / "examples"
QRELS, BM25, RERANKED = "qrels.txt", "bm25.run", "reranked.run"
FEW = [QRELS, BM25, RERANKED]


@pytest.fixture(autouse=True)
def _in_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)


def plot(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    main(["plot", *arguments])
    captured = capsys.readouterr()
    return captured.out, captured.err


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(["plot", *arguments])
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_without_a_file_the_sentence_and_the_numbers_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, err = plot(capsys, "differences", *FEW, "--queries", "queries.tsv")
    figure = il.compare(QRELS, [BM25, RERANKED], "nDCG@10").figure("differences")
    assert " ".join(out.split()).startswith(figure.says)
    assert "q06     run a shell command and get its output" in out
    assert "signature: nDCG@10|trec_eval" in err
    assert "doubt: bm25: " in err
    assert "a letter behind a value" not in err
    assert plot(capsys, "differences", *FEW, "-q")[1] == ""


@pytest.mark.parametrize("kind", ["differences", "scatter", "spread", "heat"])
def test_numbers_are_those_of_the_library(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = plot(capsys, kind, *FEW, "-m", "AP", "-f", "json")
    data = json.loads(out)
    assert data["kind"] == kind
    values = {run: il.evaluate(QRELS, run, "AP").by_query("AP") for run in (BM25, RERANKED)}
    names = ("baseline's", "run's") if kind in ("differences", "scatter") else ("bm25", "reranked")
    for name, own in zip(names, values.values(), strict=True):
        assert {row["query"]: row[name] for row in data["rows"]} == own


def test_spread_of_differences_has_a_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    for baseline in ("bm25", BM25):
        out, _ = plot(capsys, "spread", *FEW, "-b", baseline, "-f", "csv")
        rows = list(csv.reader(io.StringIO(out)))
        assert rows[0] == ["query", "reranked"]
        assert float(dict(rows[1:])["q06"]) == pytest.approx(0.3546, abs=1e-4)


def test_a_suffix_says_what_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("x.csv", "x.json", "x.md"):
        out, err = plot(capsys, "heat", *FEW, "-o", str(tmp_path / name))
        assert out == ""
        assert err.startswith("Of 12 queries, the hardest by mean nDCG@10 over 2 runs are q12 (")
    assert json.loads((tmp_path / "x.json").read_text())["kind"] == "heat"
    assert (tmp_path / "x.csv").read_text().startswith("query,mean,bm25,reranked\n")
    plot(capsys, "heat", *FEW, "-f", "tsv", "-o", str(tmp_path / "x.csv"))
    assert (tmp_path / "x.csv").read_text().startswith("query\tmean")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = KINDS[kind].most == 2
    out, err = plot(capsys, kind, *FEW, *([] if two else [BM25]), "-o", str(tmp_path / "x.svg"))
    drawn = (tmp_path / "x.svg").read_text()
    assert out == ""
    assert err
    assert drawn.startswith("<svg ")
    assert "style=" not in drawn
    said = ElementTree.fromstring(drawn).find("{http://www.w3.org/2000/svg}desc")
    assert said is not None
    assert (said.text or "").splitlines()[0] == err.splitlines()[0]


def test_a_figure_for_print(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.svg"
    plot(capsys, "heat", *FEW, "--width", "84", "--serif", "-o", str(file))
    assert 'width="84mm"' in file.read_text()
    assert "Times" in file.read_text()
    plot(capsys, "heat", *FEW, "--theme", "dark", "-o", str(file))
    assert "prefers-color-scheme" not in file.read_text()


def test_power_needs_no_pilot(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = plot(capsys, "power", "-m", "AP")
    assert "queries show a difference of" in out


def test_other_rules(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = plot(capsys, "heat", QRELS, BM25, "-m", "RR", "--set", "rel=2", "-c", "ranx")
    assert "by RR of bm25" in out
    assert "RR" in err
    assert "rel" in err


def test_what_cannot_be_drawn_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "known: differences, scatter" in refused(capsys, "qrels.txt", BM25)
    assert "did you mean heat?" in refused(capsys, "heta", *FEW)
    told = refused(capsys, "differences", QRELS, BM25)
    assert "differences needs two runs\n  hint: write idealist plot differences QRELS BASE" in told
    assert "scatter shows two runs, and 3 are given" in refused(capsys, "scatter", *FEW, BM25)
    assert "heat needs judgments and a run" in refused(capsys, "heat")
    assert "heat does not take --baseline" in refused(capsys, "heat", *FEW, "-b", "bm25")
    assert "spread does not take --page" in refused(capsys, "spread", *FEW, "--page", "1")
    told = refused(capsys, "spread", *FEW, "-m", "AP,RR")
    assert "spread shows one measure, and 2 are given" in told
    assert "recall does not take a measure" in refused(capsys, "recall", *FEW, "-m", "AP")
    few = refused(capsys, "agreement", *FEW)
    assert "agreement between measures needs three runs or more" in few
    assert "agreement between judges needs judgments that name their judges" in few
    assert "there is no page 9" in refused(capsys, "heat", *FEW, "--page", "9")
    assert "no such file" in refused(capsys, "heat", QRELS, "no.run")
    assert "there is no run 'nope'" in refused(capsys, "scatter", *FEW, "-b", "nope")


def test_options_that_would_do_nothing_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = "".join(f"q{i:02},{i}\n" for i in range(1, 13))
    (tmp_path / "w.csv").write_text(f"query,weight\n{weights}")
    given = {
        "--weights": str(tmp_path / "w.csv"), "--queries": str(tmp_path / "w.csv"),
        "--convention": "ranx", "--set": "rel=2",
    }  # fmt: skip
    for option, value in given.items():
        assert f"{option} is for a pilot" in refused(capsys, "power", option, value)
    for kind in ("coverage", "agreement"):
        told = refused(capsys, kind, *FEW, "--weights", given["--weights"])
        assert f"{kind} does not weigh queries" in told
    told = refused(capsys, "losses", *FEW, "--weights", given["--weights"])
    assert "losses do not weigh queries" in told


def test_every_kind_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = plot(capsys, "--help")
    for kind, one in KINDS.items():
        assert f"{kind} " in out
        assert one.shows in out
    assert max(map(len, out.splitlines())) <= 100


def test_ids_that_never_meet_are_no_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.run").write_text("q01 Q0 nowhere 1 1.0 t\n")
    assert "no id of other matches" in refused(capsys, "heat", QRELS, str(tmp_path / "other.run"))
