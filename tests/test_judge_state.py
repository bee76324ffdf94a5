"""`judge doctor` and `judge status`: whether a store is sound, and how far judging is."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from idealist.cli.main import main
from idealist.judging.schema import TABLES


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "labels.db"
    connection = sqlite3.connect(path)
    connection.executescript(TABLES)
    connection.close()
    return path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as left:
        main(["judge", *arguments])
    assert left.value.code == 2
    return capsys.readouterr().err


def test_a_new_store_is_sound(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["judge", "doctor", str(store), "-f", "json"])
    found = json.loads(capsys.readouterr().out)
    assert found["sound"]
    assert {one["check"]: one["state"] for one in found["checks"]}["integrity"] == "ok"


def test_a_damaged_store_is_not_sound(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with store.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 4096)
    with pytest.raises(SystemExit) as left:
        main(["judge", "doctor", str(store)])
    assert left.value.code == 1
    assert "is not sound: integrity" in capsys.readouterr().out


def test_what_is_no_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no such store" in refused(capsys, "doctor", str(tmp_path / "none.db"))
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    assert "is not a store" in refused(capsys, "doctor", str(tmp_path / "qrels.txt"))
