"""Where not one id meets, nothing was measured: verbs end with exit 2 and the command that helps."""

from __future__ import annotations

import hashlib
import json
import random
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import idealist as il
from idealist.auditing.ids.id_words import typed_again
from idealist.cli.main import cli, main
from idealist.evaluating import data_doubts

Spelling = Callable[[int], str]


def doc(number: int) -> str:
    return f"doc{number}"


def hashed(number: int) -> str:
    return hashlib.sha1(f"https://a.org/{number}".encode()).hexdigest()


#: How judgments, run, and queries of both write what people hold.
REPAIRED: dict[str, tuple[Spelling, Spelling, str, str]] = {
    "chunk number": (doc, lambda i: f"doc{i}#{i % 4}", "q", "q"),
    "chunk word": (doc, lambda i: f"doc{i}_chunk_{i % 4}", "q", "q"),
    "chunk colon": (doc, lambda i: f"doc{i}:{i % 4}", "q", "q"),
    "page": (doc, lambda i: f"doc{i}-p{i % 4}", "q", "q"),
    "case": (lambda i: f"Doc-{i}", lambda i: f"doc-{i}", "q", "q"),
    "path and extension": (doc, lambda i: f"/data/kb/doc{i}.pdf", "q", "q"),
    "prefix": (doc, lambda i: f"kb:doc{i}", "q", "q"),
    "zeros": (lambda i: f"{i:05}", str, "q", "q"),
    "queries": (doc, doc, "q", ""),
}


def idealist(*words: Any) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def write(
    folder: Path, judged: Spelling, found: Spelling, asked: str = "q", answered: str = "q",
    queries: int = 8, share: float = 0.7,
) -> list[Path]:  # fmt: skip
    """Write judgments with a document for each query, and a run that has most of them."""
    rng = random.Random(7)
    files = [folder / "my gold.txt", folder / "new.run"]
    with files[0].open("w") as gold, files[1].open("w") as run:
        for q in range(queries):
            own, *others = rng.sample(range(1, 200), 6)
            lists = [*others, *([own] if rng.random() < share else [])]
            rng.shuffle(lists)
            gold.write(f"{asked}{q} 0 {judged(own)} 1\n")
            for rank, one in enumerate(lists, 1):
                run.write(f"{answered}{q} Q0 {found(one)} {rank} {9 - rank} new\n")
    return files


def more(verb: str, folder: Path) -> list[Any]:
    """Give what a verb needs beside judgments and a run."""
    (folder / "old.run").write_bytes((folder / "new.run").read_bytes())
    others: dict[str, list[Any]] = {"compare": [folder / "old.run"], "explain": ["--worst", 3]}
    return others.get(verb, [])


def said(verb: str, *words: Any, capsys: pytest.CaptureFixture[str]) -> str:
    """Give a command that must end with exit 2 and print nothing, and return what it says."""
    with pytest.raises(SystemExit) as ended:
        main([verb, *map(str, words)])
    shown = capsys.readouterr()
    assert (ended.value.code, shown.out) == (2, "")
    return shown.err


def follow(error: str) -> Result:
    """Run the command that an error ends with, as it is printed."""
    for part in error.splitlines()[-1].strip().split(" && "):
        done = idealist(*shlex.split(part)[1:])
        assert done.exit_code == 0, done.output
    return done


@pytest.mark.parametrize("verb", ["eval", "compare", "explain"])
@pytest.mark.parametrize("kind", REPAIRED)
def test_the_printed_command_measures_what_the_clean_files_do(
    kind: str, verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, run = write(tmp_path, doc, doc)
    wanted = il.evaluate(gold, run, "RR@10")["RR@10"]
    files = write(tmp_path, *REPAIRED[kind])
    error = said(verb, *files, *more(verb, tmp_path), "-m", "RR@10", capsys=capsys)
    assert "so nothing was measured: " in error
    assert "they differ in " in error
    assert wanted > 0
    assert f"{wanted:.4f}" in follow(error).output
    said(verb, *files, *more(verb, tmp_path), "-f", "json", capsys=capsys)


@pytest.mark.parametrize("verb", ["eval", "compare", "explain"])
def test_what_cannot_be_repaired_is_said_to_be_so(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write(tmp_path, lambda i: f"https://a.org/{i}", hashed)
    error = said(verb, *files, *more(verb, tmp_path), capsys=capsys)
    assert "no judged document was retrieved: judged are https://a.org/" in error
    assert "if they are, idealist convert --map-docs FILE rewrites them by pairs" in error
    command = shlex.split(error.splitlines()[-1])
    assert command[:4] == ["idealist", "audit", *map(str, files)]
    assert idealist(*command[1:]).exit_code == 1  # it finds an error


@pytest.mark.parametrize("kind", ["other documents", "retrieved for another query"])
def test_a_system_that_found_nothing_is_worth_0(kind: str, tmp_path: Path) -> None:
    """Ids are written alike, so that 0 is a measurement."""
    gold, run = tmp_path / "gold.json", tmp_path / "run.json"
    gold.write_text(json.dumps({f"q{i}": {f"d{i}": 1} for i in range(1, 4)}))
    lists = {f"q{i}": ["d7", "d8"] if kind == "other documents" else ["d2", "d8"] for i in (1, 3)}
    run.write_text(json.dumps(lists))
    done = idealist("eval", gold, run, "-m", "RR@10")
    assert done.exit_code == 0
    assert "0.0000" in done.stdout
    assert done.stderr.startswith("doubt: no judged document was retrieved: judged are d1")
    assert idealist("compare", gold, run, run).exit_code == 0
    assert idealist("explain", gold, run, "--worst", 1).exit_code == 0


def test_lists_under_other_queries_are_put_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels = {f"q{i}": {f"d{i}": 1, f"e{i}": 1} for i in range(20)}
    shifted = {f"q{i}": [f"d{(i + 1) % 20}", f"e{(i + 1) % 20}", "x"] for i in range(20)}
    gold, run = tmp_path / "gold.json", tmp_path / "run.json"
    gold.write_text(json.dumps(qrels))
    run.write_text(json.dumps(shifted))
    assert not il.evaluate(gold, run, "RR").unmatched  # as ids are written alike
    error = said("eval", gold, run, "-m", "RR", capsys=capsys)
    assert "fit the judgments of another query better" in error


def test_the_library_returns_a_result_that_says_so() -> None:
    found = il.evaluate({"q1": {"a": 1}}, {"q1": ["A"]}, "RR")
    (doubt, *_) = found.doubts
    assert (doubt.code, doubt.severity, found.unmatched) == ("nothing-matches", "error", True)
    assert found.summary.startswith("run: nothing was measured: no judged document was retrieved")
    assert str(found).startswith("doubt: nothing was measured: ")
    assert "0.0000" not in str(found)
    assert found.markdown().index("nothing was measured") < found.markdown().index("| run")
    assert "doubt: nothing was measured" in found.render("html")
    assert found.render("latex").startswith("% doubt: nothing was measured")


def test_few_ids_that_meet_are_doubted_before_the_values(tmp_path: Path) -> None:
    some = iter(range(10_000))
    files = write(tmp_path, doc, lambda i: f"doc{i}#{i % 4}" if next(some) % 20 else doc(i), share=1,
                  queries=60)  # fmt: skip
    (plain,) = (one for one in il.evaluate(*files).doubts if one.code == "few-meet")
    assert plain.command.startswith("idealist audit ")
    done = idealist("eval", *files, "-m", "RR@10")
    assert done.exit_code == 0
    first, command, *rest = done.stderr.splitlines()
    assert first.startswith("doubt: ")
    assert "they differ in the number of a chunk" in first
    assert not any("number of a chunk" in line for line in rest)
    mended = idealist(*shlex.split(command)[1:])
    assert mended.exit_code == 0
    assert not mended.stderr.startswith("doubt: ")
    assert done.output.index("doubt: ") < done.output.index("RR@10")


def test_ids_that_meet_are_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError

    files = write(tmp_path, doc, doc)
    monkeypatch.setattr("idealist.auditing.met", refused)
    monkeypatch.setattr(data_doubts, "elsewhere", refused)
    assert idealist("eval", *files).exit_code == 0
    assert idealist("compare", *files, files[1]).exit_code == 0


def test_a_command_is_given_again_as_it_was_typed() -> None:
    files = {"a.json": ["a.qrels-fixed.json", "a.run-fixed.json"], "b.run": ["b.fixed.run"]}
    typed = ["compare", "a.json", "a.json", "./b.run", "--baseline=b.run", "--set", "collapse=#.*"]
    assert typed_again(typed, files, {}) == (
        "idealist compare a.qrels-fixed.json a.run-fixed.json b.fixed.run --baseline=b.fixed.run "
        "--set 'collapse=#.*'"
    )
    assert typed_again(typed[:3], {}, {"collapse": "x"}).endswith("a.json a.json --set collapse=x")
    assert typed_again(["eval", "a.json", *typed[5:]], files, {"collapse": "x"}) == (
        "idealist eval a.qrels-fixed.json a.run-fixed.json --set collapse=x"
    )


def test_files_that_had_to_be_described_are_rewritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, run = tmp_path / "gold.csv", tmp_path / "run.csv"
    gold.write_text("".join(["query,ware,grade\n", *(f"q{i},A-{i},1\n" for i in range(9))]))
    run.write_text("".join(["query,ware,score\n", *(f"q{i},shop/A-{i},1\n" for i in range(9))]))
    words = [gold, run, "--columns", "document=ware", "-m", "RR"]
    assert "1.0000" in follow(said("eval", *words, capsys=capsys)).stdout
