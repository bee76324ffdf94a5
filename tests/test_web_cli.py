"""`idealist ui` as it is started: what it says, where it listens, and how it ends."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from idealist.cli.main import main
from idealist.errors import UsageError
from idealist.web.server import Place, bound
from waiting import PATIENCE
from web_client import EXAMPLES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("qrels.txt", "bm25.run"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    return tmp_path


@contextmanager
def started(*words: object) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Start it, and read what it says until it serves."""
    program = Path(sys.executable).with_name("idealist")
    command = [
        str(program),
        "ui",
        *map(str, words),
        "--no-browser",
        "--port",
        "0",
        "--judge",
        "ann",
    ]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    said: list[str] = []
    try:
        for line in server.stderr:
            said.append(line.rstrip())
            if line.startswith("serving"):
                break
        yield server, said
    finally:
        server.kill()
        server.communicate(timeout=PATIENCE)


def test_it_serves_and_ends(folder: Path) -> None:
    with started(folder) as (server, said):
        address = re.search(r"open (http://127\.0\.0\.1:\d+/enter\?token=\S+)", "\n".join(said))
        assert address is not None, said
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        with browser.open(address[1], timeout=PATIENCE) as page:
            assert page.url.endswith("/runs")
            assert "bm25" in page.read().decode()
        key = re.search(r"Bearer (\S+)", "\n".join(said))
        assert key is not None
        home = address[1].partition("/enter")[0]
        asked = urllib.request.Request(
            f"{home}/runs.json", headers={"authorization": f"Bearer {key[1]}"}
        )
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            assert answer.status == 200
        server.send_signal(signal.SIGINT)
        _, rest = server.communicate(timeout=PATIENCE)
        assert "Traceback" not in rest
        assert server.returncode in (0, 130)


def test_files_can_be_named(folder: Path) -> None:
    with started(
        folder / "qrels.txt", folder / "bm25.run", "--queries", EXAMPLES / "queries.tsv"
    ) as (
        _,
        said,
    ):
        assert any(line.startswith("open http") for line in said)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["/nonexistent"], "there is no file"),
        (["FOLDER", "--host", "0.0.0.0"], "no accounts"),
        (["FOLDER", "--public", "https://eval.example.org"], "no accounts"),
        (["FOLDER", "--queries", "x.tsv"], "found by themselves"),
        (["FOLDER", "--users", "/nonexistent.toml"], "nonexistent.toml"),
        (["FOLDER", "--port", "99999"], "99999"),
        (["FOLDER", "--model", "m"], "--model-url"),
    ],
)
def test_mistakes_are_told(
    folder: Path, words: list[str], error: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    given = [str(folder) if word == "FOLDER" else word for word in words]
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)  # else it would never end
    with pytest.raises(SystemExit) as left:
        main(["ui", *given, "--no-browser", "--judge", "ann"])
    assert left.value.code == 2
    assert error in capsys.readouterr().err


def test_without_its_packages_it_says_what_to_install(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "idealist.web.server", raising=False)
    monkeypatch.delattr("idealist.web.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(SystemExit):
        main(["ui", str(folder), "--no-browser"])
    said = capsys.readouterr().err
    assert "uvicorn" in said
    assert "pip install 'idealist[ui]'" in said


def test_a_port_that_is_taken() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(UsageError, match="cannot listen"):
            bound(Place(port=port))


def test_help_shows_how_to_open(capsys: pytest.CaptureFixture[str]) -> None:
    main(["ui", "--help"])
    said = capsys.readouterr().out
    for word in ("FOLDER", "--users", "--queries", "add-user", "--no-browser"):
        assert word in said
