"""The contracts of `idealist fuse`: every option of its help, and every example there."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import idealist as il
from idealist.cli.main import main
from idealist.fusing.methods import FUSIONS
from idealist.fusing.normalisations import NORMS
from test_compare import ROOT
from waiting import PATIENCE

BM25, DENSE = "bm25.run", "dense.run"
BOTH = ("fuse", BM25, DENSE)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs, their judgments, and the files that the help names."""
    monkeypatch.chdir(tmp_path)
    texts = {
        name: (ROOT / "examples" / name).read_text() for name in (BM25, "reranked.run", "qrels.txt")
    }
    q7 = "q7 Q0 d3 1 2 t\nq7 Q0 d1 2 1 t\n"
    named = {
        BM25: texts[BM25] + q7, DENSE: texts["reranked.run"] + q7, "training-qrels.txt": texts["qrels.txt"],
        "a.run": texts[BM25], "b.run": texts["reranked.run"], "c.run": texts[BM25],
    }  # fmt: skip
    for name, text in named.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    main(list(arguments))
    captured = capsys.readouterr()
    return captured.out, captured.err


def bytes_of(fused: il.Run, path: Path) -> bytes:
    il.write_run(fused, path)
    return path.read_bytes()


def test_a_weight_below_0_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    weights = ("--weight", "bm25=-1", "--weight", "dense=1")
    with pytest.raises(SystemExit):
        main([*BOTH, "--method", "wsum", *weights])
    said = capsys.readouterr().err
    assert "--weight bm25=-1 is no weight\n  hint: a weight is a number of at least 0" in said


def test_the_examples_of_the_help_run(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    lines = [line.strip() for line in run(capsys, "fuse", "--help")[0].splitlines()]
    examples = [line for line in lines if line.startswith("idealist fuse ")]
    assert len(examples) == 6
    for example in examples:
        arguments = shlex.split(example)[1:]
        run(capsys, *arguments)
        if "-o" in arguments:
            written = files / arguments[arguments.index("-o") + 1]
            assert len(il.read_run(written).rows()) > 100
            written.unlink()


def test_the_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    shown, _ = run(capsys, "fuse", "--help")
    for option in (
        "--method", "--norm", "--weight", "--train", "--window", "--keep", "--missing", "--set", "--columns",
        "--name", "--to", "--list", "--explain", "--document", "--details", "--quiet", "--format", "--output",
    ):  # fmt: skip
        assert f"{option} " in shown or f"{option}\n" in shown


def test_a_run_goes_to_standard_output_and_words_to_standard_error(
    capfd: pytest.CaptureFixture[str], files: Path
) -> None:
    main([*BOTH])
    out, err = capfd.readouterr()
    assert out.encode() == bytes_of(il.fuse([BM25, DENSE]), files / "wanted.run")
    assert out.splitlines()[-2:] == [f"q7 Q0 d3 1 {2 / 61} RRF", f"q7 Q0 d1 2 {2 / 62} RRF"]
    assert err.splitlines() == [
        "RRF of 2 runs, 13 queries",
        "doubt: scores tie in the fused runs, so that ids order documents: queries of bm25 (1)",
    ]
    main([*BOTH, "--quiet"])
    assert capfd.readouterr() == (out, "")


@pytest.mark.parametrize(
    "suffix", [".run", ".trec", "", ".jsonl", ".json", ".csv", ".parquet", ".run.gz", ".csv.xz"]
)
def test_the_suffix_says_the_format(
    suffix: str, capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    out, _ = run(capsys, *BOTH, "-o", f"fused{suffix}")
    assert out == ""
    written = (files / f"fused{suffix}").read_bytes()
    assert written == bytes_of(il.fuse([BM25, DENSE]), files / f"wanted{suffix}")
    assert suffix != ".run.gz" or gzip.decompress(written).startswith(b"q01 Q0 ")


def test_a_format_may_be_named(capfd: pytest.CaptureFixture[str], files: Path) -> None:
    main([*BOTH, "--to", "jsonl", "-q"])
    assert json.loads(capfd.readouterr().out.splitlines()[-1]) == {
        "query": "q7",
        "document": "d1",
        "score": 2 / 62,
    }
    main([*BOTH, "--to", "msmarco", "-o", "fused.tsv"])
    assert (files / "fused.tsv").read_text().splitlines()[-2:] == ["q7\td3\t1", "q7\td1\t2"]
    assert "doubt: scores left out\n" in capfd.readouterr().err


@pytest.mark.parametrize(("words", "method", "options"), [
    ("--method combmnz", "combmnz", {}),
    ("--method 'sum(norm=z-score)'", "sum", {"norm": "z-score"}),
    ("--method sum --norm z-score", "sum", {"norm": "z-score"}),
    ("--method wsum --weight dense=0.7 --weight bm25=0.3", "wsum", {"weights": [0.3, 0.7]}),
    ("--method wsum --weight dense=1/3 --weight bm25=2/3", "wsum", {"weights": [2 / 3, 1 / 3]}),
    ("--method 'wrrf(k=10,weights=(1,3))'", "wrrf", {"k": 10, "weights": [1, 3]}),
    ("--window 3", "rrf", {"window": 3}),
    ("--keep 3", "rrf", {"keep": 3}),
    ("--set ties=docid-asc", "rrf", {"ties": "docid-asc"}),
    ("--method 'rrf(k=10)' --set precision=float32", "rrf", {"k": 10, "precision": "float32"}),
    ("--method 'probfuse(parts=5)' --train training-qrels.txt --set rel=2", "probfuse",
     {"parts": 5, "rel": 2, "qrels": "training-qrels.txt"}),
    ("--name mine", "rrf", {"name": "mine"}),
])  # fmt: skip
def test_options_are_those_of_the_library(
    words: str,
    method: str,
    options: dict[str, object],
    capsys: pytest.CaptureFixture[str],
    files: Path,
) -> None:
    run(capsys, *BOTH, *shlex.split(words), "-o", "fused.run")
    wanted = bytes_of(il.fuse([BM25, DENSE], method, **options), files / "wanted.run")  # type: ignore[arg-type]
    assert (files / "fused.run").read_bytes() == wanted


def test_queries_that_a_run_lacks(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    (files / "short.run").write_text("q7 Q0 d9 1 1 t\n")
    _, err = run(capsys, "fuse", BM25, "short.run", "--missing", "empty", "-o", "fused.run")
    assert "RRF of 2 runs, 13 queries\ndoubt: 12 queries are not in all of the fused runs\n" in err
    assert len(il.read_run(files / "fused.run").rows().queries) == 13
    _, err = run(capsys, "fuse", BM25, "short.run", "--missing", "skip", "-o", "fused.run")
    assert err == "RRF of 2 runs, 1 query\n"
    assert il.read_run(files / "fused.run").rows().documents == ["d9", "d3", "d1"]


def test_what_was_learnt_is_a_doubt(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = run(
        capsys, *BOTH, "--method", "posfuse", "--train", "training-qrels.txt", "-o", "fused.run"
    )
    assert (
        "doubt: PosFuse learnt from the judgments of 12 queries: on these queries its values" in err
    )


def test_runs_have_the_names_of_their_files(
    capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    for folder in ("x", "y"):
        (files / folder).mkdir()
        (files / folder / "same.run").write_text((files / BM25).read_text())
    same = ("fuse", "x/same.run", "y/same.run", "--method", "wsum")
    run(capsys, *same, "--weight", "x/same=1", "--weight", "y/same=2", "-o", "fused.run")
    assert "WSUM(weights=(1,2))" in (files / "fused.run").read_text()
    run(capsys, "fuse", BM25, BM25, "-o", "fused.run")


def test_columns_of_other_names(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    for name in "ab":
        (files / f"{name}.csv").write_text("query,product_id,stars\nq,x,2\nq,y,1\n")
    run(
        capsys,
        "fuse",
        "a.csv",
        "b.csv",
        "--columns",
        "document=product_id,score=stars",
        "-o",
        "fused.csv",
    )
    assert (
        files / "fused.csv"
    ).read_text() == f"query,document,score\nq,x,{2 / 61}\nq,y,{2 / 62}\n"


@pytest.mark.parametrize("place", [0, 1])
def test_standard_input_is_a_run(place: int, files: Path) -> None:
    arguments = [BM25, "-"] if place else ["-", DENSE]
    source = files / (DENSE if place else BM25)
    done = subprocess.run(
        [Path(sys.executable).with_name("idealist"), "fuse", *arguments, "-q"],
        input=source.read_bytes(), capture_output=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert done.stdout == bytes_of(il.fuse([BM25, DENSE]), files / "wanted.run")
    assert done.stderr == b""


def test_methods_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, "fuse", "--list")
    assert [line for line in out.splitlines() if line and not line.startswith(" ")] == [
        "By ranks", "By scores", "As search engines do", "Trained on judgments",
    ]  # fmt: skip
    assert all(f"  {name} " in out for name in FUSIONS)
    assert "Normalisations" not in out
    assert err == "" or "fusion methods" in err
    detailed, _ = run(capsys, "fuse", "--list", "--details")
    assert all(f"  {name} " in detailed for name in NORMS)


def test_methods_are_listed_for_programs(capsys: pytest.CaptureFixture[str], files: Path) -> None:
    out, _ = run(capsys, "fuse", "--list", "-f", "json")
    data = json.loads(out)
    assert [one["name"] for one in data["methods"]] == list(FUSIONS)
    assert list(data["norms"]) == list(NORMS)
    out, _ = run(capsys, "fuse", "--list", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["method"] for row in rows] == list(FUSIONS)
    run(capsys, "fuse", "--list", "-o", "methods.md")
    assert "RRF" in (files / "methods.md").read_text()


def test_a_normalisation_that_changes_nothing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    plain, _ = run(capsys, *BOTH, "--name", "x")
    for norm, idle in (("z-score", True), ("min-max-inverted", False)):
        out, err = run(capsys, *BOTH, "--norm", norm, "--name", "x")
        assert (f"looks at ranks alone, so that norm={norm} changes nothing" in err) == idle
        assert (out == plain) == idle
    _, err = run(capsys, *BOTH, "--method", "sum", "--norm", "z-score")
    assert "changes nothing" not in err


def test_one_method_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "fuse", "--list", "--method", "weighted_sum")
    assert out.splitlines()[:6] == [
        "WSUM: The weighted sum of a document's scores; equal weights make it CombSUM.", "",
        "Formula:     Σ w s", "Needs:       scores", "Also called: weighted_sum, convex, convex_combination",
        "Reference:   Vogt and Cottrell 1999, doi:10.1023/A:1009980820262",
    ]  # fmt: skip
    assert "weights (equal): the weight of each run, in their order" in out
    out, _ = run(capsys, "fuse", "--list", "--method", "probfuse", "-f", "json")
    data = json.loads(out)
    assert (data["name"], data["learns"]) == ("ProbFuse", True)
    assert data["needs"] == "an order only; judgments to learn from"
    assert [one["name"] for one in data["parameters"]] == ["norm", "rel", "parts"]


def test_a_document_is_explained_run_by_run(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, *BOTH, "--explain", "q7", "--document", "d1")
    assert out.startswith(
        "d1 is at rank 2 of 2 for q7: found by 2 of 2 runs, bm25 (rank 2), dense (rank 2).\n"
    )
    assert [line.split() for line in out.splitlines()[2:] if "─" not in line] == [
        ["run", "rank", "score", "normalised", "gives"],
        ["bm25", "2", "1", "-", "0.016129"], ["dense", "2", "1", "-", "0.016129"],
        ["fused", "2", "-", "-", "0.0322581"],
    ]  # fmt: skip
    assert err == "RRF: the score is the sum of what the runs give\n"


def test_documents_are_explained_side_by_side(
    capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    out, _ = run(capsys, *BOTH, "--explain", "q7", "-f", "md")
    assert "| 1 | d3 | rank 1: 0.0164 | rank 1: 0.0164 | 0.0327869 |" in out
    out, _ = run(capsys, *BOTH, "--explain", "q7", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["document"], row["run"], row["rank"]) for row in rows] == [
        ("d3", "bm25", "1"), ("d3", "dense", "1"), ("d1", "bm25", "2"), ("d1", "dense", "2")
    ]  # fmt: skip
    out, _ = run(capsys, *BOTH, "--explain", "q7", "-f", "json")
    assert json.loads(out) == json.loads(
        json.dumps(il.explain_fusion([BM25, DENSE], query="q7").data())
    )
    run(capsys, *BOTH, "--explain", "q7", "-o", "why.html")
    assert "<table" in (files / "why.html").read_text()


def test_what_a_taught_method_does_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    learning = ("--method", "bayesfuse", "--train", "training-qrels.txt")
    out, _ = run(capsys, *BOTH, *learning, "--explain", "q01", "-f", "json")
    data = json.loads(out)
    assert data["method"] == "BayesFuse"
    for one in data["documents"]:
        assert sum(part["gives"] for part in one["parts"]) == pytest.approx(one["score"])


def test_methods_without_a_formula_are_explained_in_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, err = run(capsys, *BOTH, "--explain", "q7", "--method", "min")
    assert err == "CombMIN: The lowest of a document's scores, among the runs that found it.\n"


def test_a_file_of_before_is_replaced_only_by_a_whole_one(
    capsys: pytest.CaptureFixture[str], files: Path
) -> None:
    (files / "fused.run").write_text("precious")
    (files / "odd.jsonl").write_text('{"query": "q7", "document": "two words", "score": 1}\n')
    with pytest.raises(SystemExit) as caught:
        main(["fuse", BM25, "odd.jsonl", "--missing", "skip", "-o", "fused.run"])
    assert caught.value.code == 2
    assert "document 'two words' cannot be written" in capsys.readouterr().err
    assert (files / "fused.run").read_text() == "precious"
    run(capsys, *BOTH, "-o", "fused.run")
    assert (files / "fused.run").read_text().startswith("q01 Q0 ")


def test_an_input_is_not_overwritten(files: Path) -> None:
    before = Path(BM25).read_bytes()
    judged = ["tune", "training-qrels.txt", BM25, DENSE]
    for words in ([*BOTH, "-o", BM25], [*judged, "--write", BM25]):
        with pytest.raises(SystemExit):
            main(words)
    assert Path(BM25).read_bytes() == before
