"""People judge: next, grade and adjudicate, at a terminal and through a pipe."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

import idealist as il
from idealist.judging.store_records import Judgment
from judged_stores import Desk
from waiting import PATIENCE


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    return Desk(tmp_path, capsys, monkeypatch)


def said(store: il.Store) -> list[tuple[str, float | None, str, str]]:
    return [(one.document, one.grade, one.status, one.note) for one in store.current()]


def test_next_shows_all_that_a_judge_needs(desk: Desk) -> None:
    out = desk.run("next", "--judge", "ann")
    for words in (
        "sort a list of dicts",
        "Sorting",
        "sorted(users",
        "0 off topic, 1 related",
        "Judge what",
    ):
        assert words in out
    shown = json.loads(desk.run("next", "--judge", "bob", "-f", "json"))
    assert shown["task"]["document"] == "d2"  # ann has the first on her table
    assert shown["task"]["text"] == "A tuple stays."
    assert shown["scale"][2] == {"grade": 2, "label": "answers"}
    assert shown["left"] == 3


def test_lines_are_grades_and_keys(desk: Desk) -> None:
    lines = "n says only half\n2\n?\nu\nanswers\nl\n"
    out = desk.run("grade", "--judge", "ann", lines=lines)
    assert "undone: d2 for q1 was cannot tell; here it is again" in out
    assert out.endswith("ann: 2 graded, 1 put off; 1 pair left\n")
    assert said(desk.store) == [
        ("d1", 2, "graded", "says only half"), ("d2", 2, "graded", ""), ("d3", None, "later", ""),
    ]  # fmt: skip
    assert all(one.seconds is None for one in desk.store.judgments())  # no person took that time
    seen = {one.document: one.seen for one in desk.store.current()}
    assert len({*seen.values()}) == 3
    assert all(one.batch == 1 for one in desk.store.current())


def test_a_note_is_never_lost(desk: Desk) -> None:
    out = desk.run("grade", "--judge", "ann", lines="n not sure\nn at all")
    assert "the note is kept with d1 for q1, which is put off" in out
    assert said(desk.store) == [("d1", None, "later", "not sure at all")]
    out = desk.run("grade", "--judge", "ann", lines="2\nu\n1\n")
    assert ("d2", 1, "graded", "") in said(desk.store)


def test_a_note_stays_with_its_pair(desk: Desk) -> None:
    desk.run("grade", "--judge", "ann", lines="2\nn about the second\nu\n1\n0\nq\n")
    assert said(desk.store) == [("d1", 1, "graded", ""), ("d2", 0, "graded", "about the second")]


def test_notes_stay_with_their_pairs_however_much_is_undone(desk: Desk) -> None:
    lines = "n one\n2\nn two\n1\nn three\nu\nu\nq\n"
    out = desk.run("grade", "--judge", "ann", lines=lines)
    assert out.count("the note is kept with") == 3
    assert {(one, note) for one, _, status, note in said(desk.store) if status == "later"} == {
        ("d1", "one"), ("d2", "two"), ("d3", "three"),
    }  # fmt: skip
    assert "no pair to note" in desk.refused("grade", "--judge", "ann", lines="2\n2\n2\nn lost\n")


def test_an_undone_note_comes_back(desk: Desk) -> None:
    desk.run("grade", "--judge", "ann", lines="n why not\n2\nu\n1\n")
    assert said(desk.store) == [("d1", 1, "graded", "why not")]


def test_a_bad_line_ends_what_comes_through_a_pipe(desk: Desk) -> None:
    """The lines behind it were meant for other pairs."""
    words = desk.refused("grade", "--judge", "ann", lines="1\n7\n2\n")
    assert "line 2: 7 is not a grade of the scale" in words
    assert "0 off topic" in words
    assert said(desk.store) == [("d1", 1, "graded", "")]
    words = desk.refused("grade", "--judge", "ann", lines="1\n1\n1\n")
    assert "line 3: nothing is left to judge" in words


def test_one_judgment(desk: Desk) -> None:
    grade = "grade", "--judge", "ann"
    assert desk.run(*grade, "q1", "d1", "related", "--note", "so") == "q1 d1 ann: 1 (so)\n"
    assert desk.run(*grade, "q1", "d2", "--cannot-tell") == "q1 d2 ann: cannot tell\n"
    assert desk.run(*grade, "q1", "d2", "--later") == "q1 d2 ann: later\n"
    assert desk.run(*grade, "--undo") == "undone: d2 for q1 was put off\n"
    assert said(desk.store) == [("d1", 1, "graded", "so"), ("d2", None, "cannot tell", "")]
    assert "did you mean d1" in desk.refused(*grade, "q1", "d11", "1")
    assert "no query 'x'" in desk.refused(*grade, "x", "d1", "1")
    assert "say one thing" in desk.refused(*grade, "q1", "d1")
    assert "say one thing" in desk.refused(*grade, "q1", "d1", "1", "--later")
    assert "not a grade" in desk.refused(*grade, "q1", "d1", "good")
    assert "which document" in desk.refused(*grade, "q1", "--later")
    assert "which pair" in desk.refused(*grade, "--later")
    assert "nothing to undo" in desk.refused("grade", "--undo", "--judge", "bob")


def test_a_grade_may_be_below_zero(desk: Desk, tmp_path: Path) -> None:
    il.Store.create(tmp_path / "signed.db", scale=[-1, 0, 1]).close()
    assert (
        desk.said("grade", tmp_path / "signed.db", "q1", "d1", "-1", "--judge", "ann")[0]
        == "q1 d1 ann: -1\n"
    )
    assert "no such option" in desk.refused("grade", "--jduge", "ann")


def test_who_judges(desk: Desk) -> None:
    desk.monkeypatch.setenv("LOGNAME", "dora")
    desk.monkeypatch.delenv("IDEALIST_JUDGE", raising=False)
    assert "judging as dora, the login name" in desk.said("next", desk.store.path)[1]
    desk.monkeypatch.setenv("IDEALIST_JUDGE", "eve")
    assert "judging as eve" in desk.said("next", desk.store.path)[1]
    assert "as a kind of judges" in desk.refused("grade", "q1", "d1", "1", "--judge", "model")


def test_several_people_judge_a_pair(desk: Desk) -> None:
    desk.run("grade", "--judge", "ann", lines="1\n1\n1\n")
    out = desk.run("grade", "--judge", "bob", lines="")
    assert "Nothing is left to judge for bob" in out
    out = desk.run("grade", "--judge", "bob", "--judgments", 2, lines="2\n")
    assert out.endswith("bob: 1 graded; 2 pairs left\n")


def test_adjudicating(desk: Desk) -> None:
    assert "No pair has several judgments" in desk.run("adjudicate", "--list")
    for judge, grades in {"ann": (0, 1), "bob": (2, 1), "cy": (2, 0)}.items():
        for document, grade in zip(("d1", "d2"), grades, strict=True):
            desk.store.judge(Judgment("q1", document, grade, judge, note=f"by {judge}"))
    desk.store.judge(Judgment("q1", "d1", 1, "m/p@1", kind="model"))
    waiting = json.loads(desk.run("adjudicate", "--list", "-f", "json"))
    assert [one["document"] for one in waiting["disputes"]] == ["d1", "d2"]  # 2 apart, 1 apart
    out = desk.run("adjudicate", "--judge", "dora", lines="n see 3\n1\nl\n")
    assert "ann: 0 (by ann)\nbob: 2 (by bob)\ncy: 2 (by cy)" in out
    assert "m/p@1" not in out  # a model's word would not count beside theirs
    assert out.endswith("dora: 1 graded, 1 left open; 1 pair left\n")
    assert desk.store.qrels().to_dict()["q1"]["d1"] == 1
    assert desk.run("adjudicate", "q1", "d2", "0", "--judge", "dora") == "q1 d2 dora: 0\n"
    out = desk.run("adjudicate", "--list")
    assert "disagree on none of 2 pairs that several judged; 2 adjudicated" in out
    assert "say one thing" in desk.refused("adjudicate", "q1", "d2", "--judge", "dora")


def test_what_hides_is_shown(desk: Desk) -> None:
    desk.store.add_documents({"d1": "\x1b[31mred\u202e"})
    out = desk.run("next", "--judge", "ann")
    assert "[U+001B][31mred[U+202E]" in out


def test_at_a_terminal(desk: Desk) -> None:
    """A person's time is kept, a mistake leaves the pair on the table, and Ctrl-C leaves in peace."""
    program = (
        "import fcntl, signal, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background\n"
        "from idealist.cli.main import main; main()"
    )
    words = [
        sys.executable,
        "-c",
        program,
        "judge",
        "grade",
        str(desk.store.path),
        "--judge",
        "ann",
    ]
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env=os.environ | {"NO_COLOR": "1"},
    )  # fmt: skip
    os.close(theirs)
    out = b""
    for keys in (b"9\n", b"2\n", b"\x03"):
        out += _until(ours, b"> ")
        os.write(ours, keys)
    out += _until(ours, b"left\r\n")
    assert running.wait(PATIENCE) == 0
    os.close(ours)
    assert b"9 is not a grade of the scale" in out
    assert b"ann: 1 graded; 2 pairs left" in out
    (judgment,) = desk.store.judgments()
    assert judgment.seconds is not None


def _until(terminal: int, end: bytes) -> bytes:
    found = b""
    while not found.endswith(end):
        assert select.select([terminal], [], [], PATIENCE)[0], f"{found!r} and then nothing"
        found += os.read(terminal, 1)
    return found


def test_a_store_that_is_none(desk: Desk, tmp_path: Path) -> None:
    for verb in ("next", "grade", "adjudicate", "status"):
        assert "there is no such store" in desk.failed(verb, tmp_path / "none.db")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    assert "not a store of judgments" in desk.failed("next", tmp_path / "qrels.txt")


def test_what_others_have_on_their_tables_is_not_called_done(desk: Desk) -> None:
    for judge in ("Ann", "bob", "cem"):
        desk.run("next", "--judge", judge)
    out = " ".join(desk.run("next", "--judge", "Dora").split())
    assert "Nothing is free for Dora: 3 pairs are held by Ann, bob, cem, until " in out
    assert "pool" not in out
    assert "held by Ann" in desk.refused("grade", "--judge", "Dora", lines="1\n")
    held = json.loads(desk.run("next", "--judge", "Dora", "-f", "json"))["held"]
    assert [one["judge"] for one in held] == ["Ann", "bob", "cem"]


def test_a_store_that_was_told_nothing_takes_any_pair(desk: Desk, tmp_path: Path) -> None:
    il.Store.create(tmp_path / "bare.db").close()
    for pair in (("typo", "d1"), ("q1", "d2")):
        desk.said("grade", tmp_path / "bare.db", *pair, "1", "--judge", "ann")
    assert "make others known" in desk.refused("grade", "q9", "d1", "1", "--judge", "ann")
    assert "one line of text" in desk.refused("grade", "q1", "d1", "1", "--judge", "a\nb")


def test_who_is_not_among_the_judges_is_told_why(desk: Desk, tmp_path: Path) -> None:
    desk.store.judge(Judgment("q1", "d1", 1, "ann"))
    desk.store.judge(Judgment("q1", "d1", 1, "carol", adjudicates=True))
    for name, words in {"carol": "has adjudicated 1 pair", "model": "grades by: human"}.items():
        with pytest.raises(il.IdealistError) as refused:
            il.read_qrels(f"{desk.store.path}#{name}")
        assert words in str(refused.value)
    (tmp_path / "rows.csv").write_text("query,document,grade\n")
    assert "holds no judgments." in " ".join(desk.run("import", tmp_path / "rows.csv").split())
    assert "is no store" in desk.failed("init", tmp_path / "rows.csv")
