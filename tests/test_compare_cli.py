"""The contracts of `idealist compare`, and of what `idealist eval --save` writes for it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import idealist as il
from idealist.cli.main import main
from test_compare import KEYS, ROOT
from waiting import PATIENCE

QRELS, BM25, RERANKED = (f"examples/{name}" for name in ("qrels.txt", "bm25.run", "reranked.run"))
BOTH = ("compare", QRELS, BM25, RERANKED, "-m", "nDCG@10", "-m", "RR@10")


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


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
    return captured.err


def test_json_holds_what_the_contract_says(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, *BOTH, "-f", "json")
    data = json.loads(out)
    assert err == ""
    assert [one["measure"] for one in data["pairs"]] == ["nDCG@10", "RR@10"]
    for one in data["pairs"]:
        assert one.keys() >= KEYS
        assert (one["baseline"], one["run"], one["n"]) == ("bm25", "reranked", 12)
        assert len(one["ci"]) == 2
    assert "|seed:0|alpha:0.05|" in data["signatures"]["nDCG@10"]
    assert data == json.loads(
        json.dumps(il.compare(QRELS, [BM25, RERANKED], ["nDCG@10", "RR@10"]).data())
    )
    out, _ = run(capsys, *BOTH, "-f", "json", "--per-query", "--baseline", "reranked")
    data = json.loads(out)
    assert data["pairs"][0]["run"] == "bm25"
    assert len(data["pairs"][0]["per_query"]) == 12


def test_words_are_not_data(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, *BOTH)
    assert "reranked is better than bm25 on nDCG@10 by 0.1898" in out
    assert "0.8639ᵃ" in out
    assert "doubt:" not in out
    assert "signature: MEASURE|trec_eval|qrels:" in err
    assert "alpha 0.05, two-sided; randomisation(exact), seed 0" in err
    assert "nDCG@10 is the primary measure\n" in err
    assert "other measures: marked only where nDCG@10 is\n" in err
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize(("form", "delimiter"), [("tsv", "\t"), ("csv", ",")])
def test_rows_for_programs(capsys: pytest.CaptureFixture[str], form: str, delimiter: str) -> None:
    out, _ = run(capsys, *BOTH, "-f", form, "--test", "sign", "--margin", "0.01")
    rows = list(csv.DictReader(io.StringIO(out), delimiter=delimiter))
    wanted = il.compare(QRELS, [BM25, RERANKED], "RR@10").pairs[0]
    assert float(rows[1]["difference"]) == wanted.difference
    assert (float(rows[1]["ci_low"]), float(rows[1]["ci_high"])) == wanted.ci
    assert rows[0].keys() >= {"p_sign", "p_equivalence", "p_non_inferiority", "verdict"}
    out, _ = run(capsys, *BOTH, "-f", form, "--per-query")
    rows = list(csv.DictReader(io.StringIO(out), delimiter=delimiter))
    assert len(rows) == 24
    assert float(rows[0]["difference"]) == float(rows[0]["run's"]) - float(rows[0]["baseline's"])


def test_papers_and_pages(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, *BOTH, "-f", "latex")
    assert r"reranked & \textbf{0.8639}$^{\dagger}$ & \textbf{0.9583} \\" in out
    assert out.count(r"\toprule") == 1
    assert "% signature: MEASURE|trec_eval" in out
    assert out.isascii()
    out, _ = run(capsys, *BOTH, "-f", "md")
    assert "| b | reranked | 0.8639ᵃ | 0.9583 |" in out
    assert out.startswith("**reranked is better than bm25")
    assert "<details>" in out
    assert "alpha 0.05, two-sided" in out
    assert "`MEASURE|trec_eval" in out


def test_details(capsys: pytest.CaptureFixture[str]) -> None:
    short, _ = run(capsys, *BOTH)
    long, _ = run(capsys, *BOTH, "--details")
    for word in ("P(better", "URisk", "Hedges' g"):
        assert word not in short
        assert word in long


def test_saved_evaluations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = [str(tmp_path / f"{name}.json") for name in ("bm25", "reranked")]
    for path, name in zip(saved, (BM25, RERANKED), strict=True):
        run(capsys, "eval", QRELS, name, "-m", "nDCG@10", "-m", "RR@10", "--save", path)
    again, _ = run(capsys, "compare", "--saved", *saved, "-f", "json")
    live, _ = run(capsys, *BOTH, "-f", "json")
    for one, other in zip(json.loads(again)["pairs"], json.loads(live)["pairs"], strict=True):
        assert {key: one[key] for key in KEYS} == {key: other[key] for key in KEYS}
    out, _ = run(capsys, "compare", "--saved", *saved, "-m", "mrr@10", "-f", "tsv")
    assert [line.split("\t")[0] for line in out.splitlines()] == ["measure", "RR@10"]
    assert "rules" in refused(capsys, "compare", "--saved", *saved, "--set", "ties=input")
    assert "--saved" in refused(capsys, "compare", QRELS, *saved)
    assert "need judgments" in refused(capsys, "compare", "--saved", *saved, "--fragility")
    assert "bad-shape" in refused(capsys, "compare", "--saved", saved[0], QRELS)
    assert "one by one" in refused(capsys, "eval", QRELS, BM25, RERANKED, "--save", saved[0])
    run(capsys, "eval", QRELS, RERANKED, "-m", "nDCG(gain=exp2)@10", "--save", saved[1])
    assert "was not measured with" in refused(capsys, "compare", "--saved", *saved)


def test_slices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"query": f"q{i:02}", "kind": "how" if i < 11 else "what"} for i in range(1, 13)]
    (tmp_path / "queries.json").write_text(json.dumps(rows))
    queries = ("--queries", str(tmp_path / "queries.json"))
    out, _ = run(capsys, *BOTH, "--slice", "kind", *queries, "-f", "json")
    slices = json.loads(out)["slices"]
    assert [(one["measure"], one["slice"], one["n"]) for one in slices] == [
        ("nDCG@10", "how", 10), ("nDCG@10", "what", 2), ("RR@10", "how", 10), ("RR@10", "what", 2)
    ]  # fmt: skip
    assert slices[1]["p_randomisation"] is None
    out, _ = run(capsys, *BOTH, "--slice", "kind", *queries)
    assert "what" in out
    assert "it has kind" in refused(capsys, *BOTH, "--slice", "type", *queries)
    assert "--queries" in refused(capsys, *BOTH, "--slice", "type")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["compare", QRELS, BM25], "idealist compare QRELS BASELINE RUN"),
        (["compare", QRELS, BM25, RERANKED, "--baseline", "bm52"], "did you mean bm25"),
        (["compare", QRELS, BM25, RERANKED, "--alpha", "2"], "alpha is a number from"),
        (["compare", QRELS, BM25, RERANKED, "--alpha", "1e-17"], "alpha is a number from"),
        (["compare", QRELS, BM25, RERANKED, "--test", "anova"], "wilcoxon"),
        (["compare", QRELS, BM25, RERANKED, "--set", "alpha=0.3"], "with the measure"),
        (["compare", QRELS, BM25, RERANKED, "-m", "ndgc"], "did you mean nDCG"),
        (["compare", QRELS, BM25, "nowhere.run"], "nowhere.run"),
        (["compare", "--saved", QRELS, BM25], "bad-shape"),
    ],
)
def test_mistakes_are_met_with_a_hint(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in refused(capsys, *arguments)


def test_the_reasons_not_to_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = run(capsys, *BOTH, "--test", "wilcoxon", "--test", "bootstrap")
    assert "p wilcoxon" in out
    assert "BCa bootstrap interval" in out
    assert "not about means" in err


def test_threads_do_not_matter() -> None:
    """The same input and seed give the same bytes, whatever BLAS is allowed."""
    program = (
        "import json, numpy as np, idealist as il\n"
        "qrels = {f'q{i}': {'a': 1, 'b': 1} for i in range(40)}\n"
        "rng = np.random.default_rng(0)\n"
        "runs = {n: {q: rng.permutation(list('abcdefgh')).tolist() for q in qrels} for n in 'xyz'}\n"
        "found = il.compare(qrels, runs, ['AP', 'RR'], all_pairs=True, tests='bootstrap')\n"
        "print(json.dumps(found.data()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, timeout=PATIENCE,
            env={"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
        ).stdout
        for threads in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1
