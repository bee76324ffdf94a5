"""The demo: its story is computed from the files it leaves behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import idealist as il
from idealist.cli.main import main
from idealist.demo import FILES, leave_files
from idealist.demo.story import Story


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    main(["demo", "--dir", str(tmp_path / "play")])
    return capsys.readouterr().out


@pytest.fixture
def play(tmp_path: Path) -> Path:
    leave_files(tmp_path / "play")
    return tmp_path / "play"


def test_the_means_are_those_of_an_evaluation(told: str, tmp_path: Path) -> None:
    play = tmp_path / "play"
    before, after = (
        il.evaluate(play / "qrels.txt", play / f"{name}.run", ["nDCG@5", "nDCG@10"])
        for name in ("bm25", "reranked")
    )
    for label in ("nDCG@5", "nDCG@10"):
        (row,) = re.findall(rf"^ {label} .*", told, re.MULTILINE)
        gain = after[label] - before[label]
        for shown in (f"{before[label]:.4f}", f"{after[label]:.4f}", f"{gain:+.4f}"):
            assert shown in row
        assert f"{100 * gain / before[label]:+.1f} %" in row


def test_it_counts_queries_wins_and_losses(told: str, tmp_path: Path) -> None:
    assert "30 of 30 queries count; all documents of their first 10 are judged" in told
    assert max(len(line) for line in told.splitlines() if str(tmp_path) not in line) <= 100
    (counts,) = re.findall(r"(\d+) queries better, (\d+) the same, (\d+) worse", told)
    assert sum(map(int, counts)) == 30


def test_every_command_it_prints_runs(
    told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder,) = re.findall(r"^  cd (.*)$", told, re.MULTILINE)
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
