"""The command line's contracts."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from idealist.cli.main import VERBS, main
from idealist.conventions import convention
from idealist.evaluating.evaluations import Evaluations
from idealist.formats.source import run_names
from idealist.rendering import terminal
from pages import modules
from waiting import PATIENCE

QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 a 1\nq3 0 c 1\n"
BM25 = "q1 Q0 b 1 2.0 t\nq1 Q0 a 2 1.0 t\nq2 Q0 x 1 1.0 t\nq2 Q0 a 2 0.5 t\n"
DENSE = "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\nq2 Q0 a 1 1.0 t\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("qrels.txt", QRELS), ("bm25.run", BM25), ("dense.trec", DENSE)):
        (tmp_path / name).write_text(text)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    main(list(arguments))
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.mark.usefixtures("files")
def test_json_holds_what_the_contract_says(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("eval", "qrels.txt", "bm25.run", "dense.trec", "-m", "ndcg@10", "-m", "AP")
    out, err = run(capsys, *arguments, "-f", "json", "--per-query")
    data = json.loads(out)
    assert err == ""
    assert [one["run"] for one in data["runs"]] == ["bm25", "dense"]
    assert data["runs"][0].keys() == {
        "run",
        "values",
        "intervals",
        "queries",
        "per_query",
        "doubts",
    }
    assert data["runs"][0]["queries"] == 3
    assert list(data["runs"][0]["per_query"]) == ["q1", "q2", "q3"]
    assert data["runs"][0]["per_query"]["q3"] == {"ndcg@10": 0, "AP": 0}
    wanted = il.evaluate("qrels.txt", "bm25.run", ["ndcg@10", "AP"])
    assert data["runs"][0]["values"] == wanted.aggregates
    assert data["signatures"] == {key: str(one) for key, one in wanted.signatures.items()}
    assert {doubt["code"] for doubt in data["runs"][0]["doubts"]} >= {
        "missing-queries",
        "positives-only",
    }
    out, _ = run(capsys, *arguments, "-f", "json")
    assert "per_query" not in json.loads(out)["runs"][0]


def test_standard_output_that_is_closed(files: Path) -> None:
    code = "import sys; sys.stdout = None; from idealist.cli.main import main; main()"
    for form in ("table", "json"):
        words = ["eval", "qrels.txt", "bm25.run", "-f", form]
        ended = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=files, capture_output=True, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert ended.returncode == 2
        assert ended.stderr.startswith("error: standard output is closed\n")


def test_standard_error_that_is_closed(files: Path) -> None:
    code = "import sys; sys.stderr = None; from idealist.cli.main import main; main()"
    words = ["eval", "qrels.txt", "bm25.run", "dense.trec", "-f", "tsv"]
    ended = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=files, capture_output=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.startswith(b"run\t")


def test_a_folder_that_may_not_be_read_is_named(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "runs").mkdir()

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", refuse)
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(SystemExit) as ended:
        main(["eval", "qrels.txt", "runs"])
    assert ended.value.code == 2
    assert "error: runs cannot be read: Permission denied" in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_undefined_is_null_and_empty(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("eval", "qrels.txt", "bm25.run", "-m", "nDCG(rel=3,no_relevant=nan)")
    out, _ = run(capsys, *arguments, "-f", "json", "--per-query")
    one = json.loads(out)["runs"][0]
    assert one["values"] == {"nDCG(rel=3,no_relevant=nan)": None}
    assert set(one["per_query"]["q1"].values()) == {None}
    out, _ = run(capsys, *arguments, "-f", "tsv")
    assert out.splitlines()[1].endswith("\t")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("form", "delimiter"), [("tsv", "\t"), ("csv", ",")])
def test_rows_for_programs(capsys: pytest.CaptureFixture[str], form: str, delimiter: str) -> None:
    out, err = run(capsys, "eval", "qrels.txt", "bm25.run", "-m", "RR", "-f", form, "--per-query")
    rows = list(csv.reader(io.StringIO(out), delimiter=delimiter))
    assert rows == [
        ["run", "query", "measure", "value"],
        ["bm25", "q1", "RR", "1.0"],
        ["bm25", "q2", "RR", "0.5"],
        ["bm25", "q3", "RR", "0.0"],
        ["bm25", "all", "RR", "0.5"],
    ]
    assert "signature: RR|trec_eval|qrels:" in err


@pytest.mark.usefixtures("files")
def test_tables_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, "eval", "qrels.txt", "bm25.run", "dense.trec", "-m", "nDCG@10")
    assert [line.split()[0] for line in out.splitlines()] == [
        "run",
        "─" * len(out.splitlines()[1].strip()),
        "bm25",
        "dense",
    ]
    assert "doubt: bm25: 1 judged query is not in the run" in err
    assert "\x1b" not in out + err
    out, _ = run(
        capsys, "eval", "qrels.txt", "bm25.run", "-m", "nDCG@10", "-f", "md", "--per-query"
    )
    assert out.startswith("| run | nDCG@10 |\n|:---|---:|\n| bm25 | ")
    assert "| bm25 | q3 | 0.0000 |" in out
    out, _ = run(capsys, "eval", "qrels.txt", "bm25.run", "-m", "nDCG@10", "-f", "latex")
    assert r"\begin{tabular}{lr}" in out
    assert "% signature: nDCG@10|trec_eval" in out


def test_without_measures_the_usual_ones(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "eval", "qrels.txt", "bm25.run", "-f", "json")
    assert list(json.loads(out)["runs"][0]["values"]) == [
        "nDCG@10",
        "AP",
        "RR@10",
        "R@100",
        "Judged@10",
    ]
    assert "Without it: nDCG@10, AP, RR@10, R@100, Judged@10" in " ".join(
        run_help("eval", "--help").split()
    )


def run_help(*arguments: str) -> str:
    command = [sys.executable, "-c", "from idealist.cli.main import main; main()", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout


@pytest.mark.usefixtures("files")
def test_conventions_and_axes(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("eval", "qrels.txt", "bm25.run", "-m", "RR", "-f", "json")
    out, _ = run(capsys, *arguments, "--convention", "pytrec_eval")
    assert json.loads(out)["runs"][0]["values"]["RR"] == 0.75
    out, _ = run(capsys, *arguments, "-c", "pytrec_eval", "--set", "missing=zero", "--set", "rel=2")
    assert json.loads(out)["runs"][0]["values"]["RR"] == pytest.approx(0.5 / 3)


def test_only_some_queries(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "queries.tsv").write_text("q1\tfirst\nq2\tsecond\n")
    out, _ = run(
        capsys,
        "eval",
        "qrels.txt",
        "bm25.run",
        "-m",
        "RR",
        "--queries",
        "queries.tsv",
        "-f",
        "json",
    )
    assert json.loads(out)["runs"][0]["queries"] == 2


def test_a_file_is_written_whole(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, "eval", "qrels.txt", "bm25.run", "-o", "result.txt")
    assert out == ""
    assert "signature:" in err
    assert (files / "result.txt").read_text().startswith(" run ")
    assert {path.name for path in files.iterdir()} == {
        "qrels.txt",
        "bm25.run",
        "dense.trec",
        "result.txt",
    }


def test_run_names() -> None:
    names = run_names(["x/a/bm25.run", "x/b/bm25.trec.gz", "smith.bm25", "y/a/bm25.run", "-"])
    assert names == ["x/a/bm25.run", "b/bm25", "smith.bm25", "y/a/bm25.run", "stdin"]


@pytest.mark.usefixtures("files")
def test_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", "from idealist.cli.main import main; main()"]
    done = subprocess.run(
        [*command, "eval", "qrels.txt", "-", "-m", "RR", "-f", "tsv"],
        input=BM25, capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "stdin\tall\tRR\t0.5"


def test_a_reader_that_stops_early_is_no_error(files: Path) -> None:
    rows = "".join(f"q{i} 0 a 1\n" for i in range(20_000))
    (files / "many.txt").write_text(rows)
    program = "from idealist.cli.main import main; main()"
    command = (
        f"{sys.executable} -c '{program}' eval many.txt bm25.run -m RR --per-query -f tsv | head -1"
    )
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout == "run\tquery\tmeasure\tvalue\n"
    assert "Traceback" not in done.stderr
    assert "rror" not in done.stderr


@pytest.mark.parametrize("verb", [["--help"], *([verb, "--help"] for verb in VERBS)])
def test_help_loads_nothing_heavy(verb: list[str]) -> None:
    program = (
        "import sys\nfrom idealist.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'rich', 'pyarrow', 'pandas'} & sys.modules.keys()\n"
        "sys.exit(repr(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *verb],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout


def test_import_loads_nothing_heavy() -> None:
    program = (
        "import sys, idealist\nidealist.evaluate({'q': {'d': 1}}, {'q': ['d']})\n"
        "heavy = {'scipy', 'rich', 'pyarrow', 'pandas'} & sys.modules.keys()\n"
        "sys.exit(repr(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_what_it_says() -> None:
    """A module of the same name must never take a function's place."""
    program = (
        "import importlib, types, idealist\n"
        f"for module in {modules()}:\n"
        "    importlib.import_module(module)\n"
        "assert not [n for n in idealist.__all__ if isinstance(getattr(idealist, n), types.ModuleType)]"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr


def test_measures_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "measures")
    assert "nDCG" in out
    assert "UDCG" in out
    out, _ = run(capsys, "measures", "map")
    assert out.startswith("AP: Average precision")
    assert "min(k,n,R_list)" in out
    out, _ = run(capsys, "measures", "UDCG")
    assert "signed DCG" in out
    out, _ = run(capsys, "measures", "nDCG", "-f", "json")
    described = json.loads(out)
    assert described["range"] == "[0, 1]"
    assert {"name": "gain", "default": "linear"}.items() <= described["parameters"][0].items()


def test_signatures_are_compared(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def written(name: str, *options: str) -> str:
        run(
            capsys,
            "eval",
            "qrels.txt",
            "bm25.run",
            "-m",
            "RR",
            "-m",
            "AP",
            "-f",
            "json",
            "-o",
            name,
            *options,
        )
        return name

    a, b = written("a.json"), written("b.json", "--set", "ties=input", "--set", "rel=2")
    out, _ = run(capsys, "signature", "diff", a, b, "-f", "json")
    assert json.loads(out) == {
        "RR": {"RR.rel": ["1", "2"], "ties": ["docid-desc", "input"]},
        "AP": {"AP.rel": ["1", "2"], "ties": ["docid-desc", "input"]},
    }
    out, _ = run(capsys, "signature", "diff", a, a)
    assert out == "RR: the signatures agree\nAP: the signatures agree\n"
    long = json.loads(Path(a).read_text())["signatures"]["RR"]
    short = il.Signature.parse(long).short(il.CONVENTIONS["trec_eval"])
    out, _ = run(capsys, "signature", "diff", long, short)
    assert out == "RR: the signatures agree\n"
    out, _ = run(capsys, "signature", "expand", short, "-f", "json")
    assert json.loads(out)["ties"] == "docid-desc"


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval"], ["eval", "qrels.txt"], ["evl"], ["eval", "qrels.txt", "bm25.run", "-f", "yaml"],
        ["signature", "diff", "x", "y"], ["signature", "diff", "a|b:c", "a|b:c"], ["measures", "nope"], ["conventions", "nope"], ["conventions", "a", "b", "c"],
        ["signature", "expand", "nDCG@10|trec_eval|qrels:1"],
    ],
)  # fmt: skip
def test_bad_usage_ends_with_2(files: Path, arguments: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err


def test_quiet_says_nothing_but_the_result(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, "eval", "qrels.txt", "bm25.run", "-q")
    assert out
    assert err == ""


def test_a_table_fits_where_it_is_shown() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(5)}
    ranked = {query: ["a"] if i else ["x", "a"] for i, query in enumerate(qrels)}
    names = ["a-run-with-a-very-long-name", "another-run-with-a-long-name"]
    evaluator = il.Evaluator(qrels, ["nDCG@10", "AP", "RR@10", "R@100"])
    results = [evaluator(il.read_run(ranked, name=name)) for name in names]
    table = next(Evaluations(tuple(results)).report().tables)
    assert terminal.fitted(table, 200).headers[0] == "run"
    assert terminal.fitted(table, 80).headers[0] == "measure"
    assert terminal.fitted(table, 60).headers == ["run", "measure", "value"]
    for width in (200, 80, 60):
        lines = terminal.draw(terminal.fitted(table, width), width).splitlines()
        assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["-m", "nDCG@5,10"], ["nDCG@5", "nDCG@10"]),
        (["-m", "AP,RR@5", "-m", "AP"], ["AP", "RR@5"]),
        (
            ["-m", "AP(rel=2,denominator=min(k,R))@5,10"],
            ["AP(rel=2,denominator=min(k,R))@5", "AP(rel=2,denominator=min(k,R))@10"],
        ),
    ],
)
def test_several_measures_in_one_word(
    files: Path, capsys: pytest.CaptureFixture[str], typed: list[str], meant: list[str]
) -> None:
    out, _ = run(capsys, "eval", "qrels.txt", "bm25.run", *typed, "-f", "json")
    assert list(json.loads(out)["signatures"]) == meant


@pytest.mark.parametrize(
    "arguments", [["eval"], ["eval", "qrels.txt", "bm25.run", "-f", "pdf"], ["gate", "--nope"]]
)
def test_mistakes_in_options_are_told_as_others_are(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    said = capsys.readouterr().err
    assert caught.value.code == 2
    assert said.startswith("error: ")
    assert f"\n  hint: see idealist {arguments[0]} --help" in said


@pytest.mark.parametrize("name", ["scikit-learn", "Scikit Learn", "SKLEARN", "sklearn"])
def test_a_tool_is_known_by_its_usual_names(name: str) -> None:
    assert convention(name).name == "sklearn"


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        (".md", "| run |"),
        (".tex", "\\begin{tabular}"),
        (".html", "<!doctype html>"),
        (".json", "{"),
        (".csv", "run,query"),
        (".txt", " run"),
    ],
)
def test_the_file_chooses_the_form(
    files: Path, capsys: pytest.CaptureFixture[str], suffix: str, start: str
) -> None:
    run(capsys, "eval", "qrels.txt", "bm25.run", "-m", "AP", "-o", f"out{suffix}")
    assert Path(f"out{suffix}").read_text().startswith(start)


def test_conventions_are_listed_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "conventions", "-f", "json")
    rows = json.loads(out)
    assert [row["convention"] for row in rows] == list(il.CONVENTIONS)
    assert {row["evidence"] for row in rows} == {"live", "recorded", "derived"}
    out, _ = run(capsys, "conventions", "sklearn", "-f", "tsv")
    assert "nDCG\tideal\tretrieved\tjudged" in out.splitlines()
    out, _ = run(capsys, "conventions", "sklearn", "ranx", "-f", "tsv")
    assert "nDCG\tties\texpected\tinput" in out.splitlines()
    assert "RR" not in out
    out, _ = run(capsys, "conventions", "trec_eval")
    assert out == "trec_eval and trec_eval agree in every axis\n"
    out, _ = run(capsys, "conventions", "trec_eval", "--all", "-f", "tsv")
    assert "AP\tties\tdocid-desc\tdocid-desc" in out.splitlines()


def test_help_has_no_control_marks() -> None:
    for verb in VERBS:
        assert "\\b" not in run_help(verb, "--help")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["eval", "qrels.txt", "bm25.run", "-m", "ndgc@10"], "did you mean nDCG"),
        (["evaluate"], "did you mean eval"),
        (["signature", "diff", "no.json", "nDCG@10|trec_eval|qrels:1|rules:1"], "cannot be read"),
        (["signature", "expand", "nDCG@10|trec_evel|qrels:1|rules:1"], "did you mean trec_eval"),
        (["signature", "expand", "nDCG(x)|ties:x|qrels:1|rules:1"], "is not a signature"),
        (
            ["eval", "qrels.txt", "bm25.run", "-m", "AP", "--set", "negative=keep"],
            "negative is one of",
        ),
        (["eval", "qrels.txt", "bm25.run", "--set", "tie=input"], "did you mean ties"),
    ],
)
def test_mistakes_are_met_with_the_right_hint(
    files: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert says in capsys.readouterr().err
