"""The kernel among signals and threads: it stops when it is told to, and lets others work."""

from __future__ import annotations

import gzip
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from kernels import SANITIZED, compiled, posix
from large_runs import BODY, QRELS, write_large
from waiting import PATIENCE

pytestmark = compiled


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDEALIST_KERNEL", "native")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_large(tmp_path_factory.mktemp("large"))


#: What runs in the background may ignore Ctrl-C, and with it all that it starts.
HEEDING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


@contextmanager
def started(program: str, *arguments: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program; it does not outlive the test."""
    words = [sys.executable, "-c", HEEDING + program, *map(str, arguments)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


ENDLESS = """
import sys
from itertools import chain, repeat
from idealist.cli.main import main
from idealist.formats.source import Source
block = b"".join(b"q%d Q0 d%d 1 %d t\\n" % (i % 900, i, i) for i in range(100000))
read = Source.blocks
def blocks(self, *size):
    if not self.name.endswith(".gz"):
        return read(self, *size)
    return chain(repeat(block, 20), begun(), repeat(block))
def begun():
    print("begun", flush=True)
    yield block
Source.blocks = blocks
main(["eval", *sys.argv[1:]])
"""
FED = "from idealist.cli.main import main; main()"


@posix
@pytest.mark.parametrize("threads", [1, 3])
def test_ctrl_c_stops_a_text_without_end(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_THREADS", str(threads))
    qrels, packed = tmp_path / "qrels.txt", tmp_path / "endless.gz"
    qrels.write_text("other 0 d1 1\n")
    packed.write_bytes(gzip.compress(BODY[: 10**5]))
    with started(ENDLESS, qrels, packed) as process:
        assert process.stdout
        assert select.select([process.stdout], [], [], PATIENCE)[0]
        assert process.stdout.readline() == b"begun\n"
        time.sleep(0.2)  # to be anywhere in its work; nothing waits for that
        process.send_signal(signal.SIGINT)
        _check_interrupted(process)


@posix
def test_ctrl_c_stops_reading_a_pipe_without_end(tmp_path: Path) -> None:
    qrels, pipe = tmp_path / "qrels.txt", tmp_path / "pipe"
    qrels.write_text("q1 0 d1 1\n")
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)  # waits for no reader, whom it never leaves
    with os.fdopen(end, "wb", buffering=0) as file, started(FED, "eval", qrels, pipe) as process:
        _feed(file, process, 2**25)  # far more than a pipe holds: it is being read
        process.send_signal(signal.SIGINT)
        _feed(file, process, math.inf, pause=0.005)
        _check_interrupted(process)


def _feed(file: FileIO, process: subprocess.Popen[bytes], size: float, pause: float = 0) -> None:
    """Write to a pipe until a process has taken as many bytes, or has ended."""
    end = time.monotonic() + PATIENCE
    while size > 0 and process.poll() is None:
        assert time.monotonic() < end, "it neither reads nor ends"
        select.select([], [file], [], 1)
        size -= file.write(BODY[: 10**5]) or 0  # nothing while the pipe is full
        time.sleep(pause)


def _check_interrupted(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C was pressed: a program must stop, and say no more than that."""
    _, said = process.communicate(timeout=PATIENCE)  # raises where it goes on
    assert process.returncode == 130, said
    assert said.strip() == b"interrupted"


MEMORY = """
import resource, sys
import idealist as il
from idealist import rank
qrels, run = il.read_qrels(sys.argv[1]), il.read_run(sys.argv[2])
rank(qrels, il.read_run({"q0": {"d0": 1.0}}), [il.Protocol()])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rank(qrels, run, [il.Protocol()])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux" or SANITIZED, reason="memory is counted otherwise here")
@pytest.mark.parametrize("threads", [1, 4])
def test_a_large_run_needs_little_memory(
    threads: int, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_THREADS", str(threads))
    words = [sys.executable, "-c", MEMORY, str(large.with_name("qrels.txt")), str(large)]
    done = subprocess.run(words, capture_output=True, check=True, timeout=PATIENCE)
    assert int(done.stdout) < 20_000 + 10_000 * threads  # KiB, where the file has 60,000


FED_BY_PYTHON = """
import os, sys, threading
from idealist import Protocol, kernel, read_qrels
from idealist.ranking.compiled import _rules
module, (reader, writer) = kernel.native(), os.pipe()
def feed():
    with os.fdopen(writer, "wb") as file:
        for i in range(50000):
            file.write(b"q%d Q0 d%d 1 1 t\\n" % (i // 1000, i))
threading.Thread(target=feed, daemon=True).start()
judged = read_qrels({"q1": {"d1007": 1}}).pairs(module).judged()
found = module.rank_text(
    lambda: reader, module.Layout("trec"), [judged], [_rules(module, Protocol(), 0)], int(sys.argv[1])
)
print(found["rows"])
"""


@posix
@pytest.mark.parametrize("threads", [1, 3])
def test_python_goes_on_while_the_kernel_works(threads: int) -> None:
    """The kernel waits for what another thread of Python writes: it must let that one run."""
    words = [sys.executable, "-c", FED_BY_PYTHON, str(threads)]
    done = subprocess.run(words, capture_output=True, check=True, timeout=PATIENCE)
    assert done.stdout == b"50000\n"


@pytest.mark.parametrize("threads", [1, 3])
def test_several_threads_evaluate_at_once(
    threads: int, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_THREADS", str(threads))
    chunks = {q: {f"d{j}#{j % 2}": float(j % 90) for j in range(700)} for q in QRELS}
    lists = {q: [f"d{j}" for j in range(50)] for q in QRELS}

    def values(run: Any) -> list[float]:
        found = il.evaluate(QRELS, run, ["AP", "nDCG@10"], collapse="#.*").values
        return [value for label in found for value in found[label].tolist()]

    runs = [chunks, lists, large, il.read_run(chunks)] * 3
    alone = [values(run) for run in runs[:4]] * 3
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(values, runs)) == alone


def test_what_a_dict_holds_last_may_be_odd_while_chunks_are_still_ranked() -> None:
    run: dict[str, Any] = {f"q{i}": {f"d{j}#1": float(j) for j in range(30_000)} for i in range(9)}
    found = il.evaluate(QRELS, {**run, "q9": {"d7": "1.5"}}, "RR", collapse="#.*")
    assert found.values["RR"][0] == il.evaluate(QRELS, run, "RR", collapse="#.*").values["RR"][0]
    with pytest.raises(il.InputError, match="score"):
        il.evaluate(QRELS, {**run, "q9": {"d7": "x"}}, "RR", collapse="#.*")
