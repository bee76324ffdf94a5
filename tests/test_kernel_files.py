"""Files that change or end while the kernel reads them, pipes, and what is no file at all."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from kernels import compiled, posix
from large_runs import BODY, measured, write_large
from waiting import PATIENCE, beside

pytestmark = compiled


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", "native")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_large(tmp_path_factory.mktemp("large"))


def command(*words: Any, **given: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the command line, which must not end in a traceback or by a signal."""
    done = subprocess.run(
        [sys.executable, "-c", "from idealist.cli.main import main; main()", *map(str, words)],
        capture_output=True, check=False, timeout=PATIENCE, **given,
    )  # fmt: skip
    assert done.returncode in (0, 2), done.stderr
    assert b"Traceback" not in done.stderr
    return done


def outcome(run: Any) -> float | str:
    """Measure a run; give the value, or the code of the error."""
    try:
        return measured(run)
    except il.InputError as error:
        return error.code


def meanwhile(pause: float, act: Callable[[], None]) -> AbstractContextManager[None]:
    """Do something else after a pause."""
    return beside(threading.Timer(pause, act))


def test_a_file_that_shrinks_while_it_is_read(large: Path, tmp_path: Path) -> None:
    path, half = tmp_path / "shrinking.run", 3 * 10**7
    path.write_bytes(large.read_bytes()[:half])
    before, after = outcome(large), outcome(path)
    for pause in (0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032):
        shutil.copy(large, path)
        with meanwhile(pause, lambda: os.truncate(path, half)):
            assert outcome(path) in (before, after, "truncated")


def test_a_file_that_is_cut_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "cut.run"
    for size in range(200):
        path.write_bytes(BODY[:size])
        found = outcome(path)
        assert found in ("columns", "empty", "bad-score") or 0 <= float(found) <= 0.01


def test_a_compressed_file_that_is_cut_anywhere(tmp_path: Path) -> None:
    path, packed = tmp_path / "cut.run.gz", gzip.compress(BODY[: 10**6])
    for size in range(0, len(packed), len(packed) // 60):
        path.write_bytes(packed[:size])
        assert outcome(path) == ("truncated" if size else "empty")


@posix
def test_a_file_that_is_deleted_while_it_is_read(large: Path, tmp_path: Path) -> None:
    path, whole = tmp_path / "gone.run", measured(large)
    for pause in (0, 0.001, 0.01, 0.03):
        shutil.copy(large, path)
        run = il.read_run(path)
        with meanwhile(pause, path.unlink):
            assert outcome(run) in (whole, "no-file")


@posix
@pytest.mark.parametrize("body", [BODY[: 3 * 10**6], b"", b"q1 Q0", BODY[:100] + b"\0"])
def test_pipes_and_standard_input(body: bytes, tmp_path: Path) -> None:
    plain, qrels, pipe = tmp_path / "plain.run", tmp_path / "qrels.txt", tmp_path / "pipe"
    plain.write_bytes(body)
    qrels.write_text("q1 0 d1 1\n")
    expected = command("eval", qrels, plain)
    os.mkfifo(pipe)
    with beside(threading.Thread(target=lambda: pipe.write_bytes(body))):
        found = [command("eval", qrels, pipe)]
    for path in ("-", "/dev/stdin", "/dev/fd/0") if len(body) > 200 else ("-",):
        found.append(command("eval", qrels, path, input=body))
        with plain.open("rb") as file:
            found.append(command("eval", qrels, path, stdin=file))
    for done in found:
        assert done.returncode == expected.returncode
        if not body.startswith(b"q1 Q0"):
            assert _values(done) == _values(expected)


def _values(done: subprocess.CompletedProcess[bytes]) -> list[bytes]:
    return re.findall(rb"\b0\.\d+|\[[a-z-]+\]", done.stdout + done.stderr)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
@pytest.mark.parametrize("name", ["status", "maps", "cmdline", "mem", "fd", "nothing"])
def test_files_of_the_system_are_no_runs(name: str) -> None:
    with pytest.raises(il.InputError):
        measured(f"/proc/self/{name}")
