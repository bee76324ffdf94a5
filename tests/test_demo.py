"""The demo: its story is computed from the files it leaves behind."""

from __future__ import annotations

import html
import io
import json
import re
import time
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import idealist as il
from idealist.cli.main import main
from idealist.demo import FILES, REPORT, TITLE, leave_files, leave_report
from idealist.demo.story import Story


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "play"


@pytest.fixture(scope="module")
def told(folder: Path) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        main(["demo", "--dir", str(folder)])
    return out.getvalue()


@pytest.fixture
def play(tmp_path: Path) -> Path:
    leave_files(tmp_path / "play")
    return tmp_path / "play"


def test_the_means_are_those_of_an_evaluation(told: str, folder: Path) -> None:
    before, after = (
        il.evaluate(folder / "qrels.txt", folder / f"{name}.run", ["nDCG@5", "nDCG@10"])
        for name in ("bm25", "reranked")
    )
    for label in ("nDCG@5", "nDCG@10"):
        (row,) = re.findall(rf"^ {label} .*", told, re.MULTILINE)
        gain = after[label] - before[label]
        for shown in (f"{before[label]:.4f}", f"{after[label]:.4f}", f"{gain:+.4f}"):
            assert shown in row
        assert f"{100 * gain / before[label]:+.1f} %" in row


def test_it_counts_queries_wins_and_losses(told: str, folder: Path) -> None:
    assert "30 of 30 queries count; all documents of their first 10 are judged" in told
    assert max(len(line) for line in told.splitlines() if str(folder) not in line) <= 100
    (counts,) = re.findall(r"(\d+) queries better, (\d+) the same, (\d+) worse", told)
    assert sum(map(int, counts)) == 30


def test_it_ends_with_a_report_and_names_it(told: str, folder: Path) -> None:
    assert f"with both lists of every query: open {folder / REPORT}" in told
    page = (folder / REPORT).read_text("utf-8")
    assert f"<h1>{TITLE}</h1>" in re.sub(r"<h1[^>]*>", "<h1>", page)
    assert len(re.findall(r'<details class="lists"', page)) == 30
    first = json.loads((folder / "documents.jsonl").read_text("utf-8").splitlines()[0])
    assert html.escape(first["title"]) in page
    (data,) = re.findall(
        r'<script type="application/json" id="idealist-data">(.*?)</script>', page, re.DOTALL
    )
    (row,) = re.findall(r"^ nDCG@10 .*", told, re.MULTILINE)
    for one in json.loads(data)["eval"]["runs"]:
        assert f"{one['values']['nDCG@10']:.4f}" in row


def test_it_takes_little_time(tmp_path: Path) -> None:
    started = time.process_time()
    main(["demo", "--dir", str(tmp_path / "play")])
    assert time.process_time() - started < 3


def test_queries_without_kinds_have_a_report_too(play: Path) -> None:
    (play / "queries.csv").write_text("query,text\nq01,sort a list\nq02,none\n")
    assert leave_report(play).is_file()


def test_every_command_it_prints_runs(
    told: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert re.findall(r"^  cd (.*)$", told, re.MULTILINE) == [str(folder)]
    monkeypatch.chdir(folder)
    commands = re.findall(r"^  idealist (.*)$", told, re.MULTILINE)
    assert len(commands) >= 4
    for command in commands:
        main(command.split())
    assert "error" not in capsys.readouterr().err


def test_files_that_were_changed_are_kept_and_used(
    play: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = (play / "bm25.run").read_bytes()
    (play / "reranked.run").write_bytes(changed)
    main(["demo", "--dir", str(play)])
    told = capsys.readouterr()
    assert (play / "reranked.run").read_bytes() == changed
    assert "reranked.run was changed" in told.err
    assert "0 queries better, 30 the same, 0 worse" in told.out


def test_a_second_time_changes_nothing(play: Path) -> None:
    before = {name: (play / name).read_bytes() for name in FILES}
    assert leave_files(play) == []
    assert {name: (play / name).read_bytes() for name in FILES} == before


def test_no_order_of_the_candidates_is_better_than_the_ceiling(play: Path) -> None:
    story = Story.read(play)
    ceiling = story._ceiling()
    for run in (story.before, story.after):
        values = il.evaluate(story.qrels, run, "nDCG@10").values["nDCG@10"]
        assert (values <= ceiling.values["nDCG@10"] + 1e-12).all()


def test_a_hole_in_the_judgments_is_said(play: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (play / "qrels.txt").read_text().splitlines(keepends=True)
    first = (play / "bm25.run").read_text().split()[2]
    (play / "qrels.txt").write_text("".join(line for line in lines if first not in line.split()))
    main(["demo", "--dir", str(play)])
    assert "not all documents of their first 10 are judged" in capsys.readouterr().out


def test_a_folder_that_cannot_be_written_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SystemExit) as left:
        main(["demo", "--dir", str(tmp_path / "file" / "below")])
    assert left.value.code == 2
    assert "choose another folder with --dir" in capsys.readouterr().err
