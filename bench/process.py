"""Run a command in a process of its own: its time, its peak memory, what it printed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: What would compile every package anew; those that are installed have their bytecode.
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
#: What ru_maxrss counts in.
UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Finished:
    """A command that ended well; `megabytes` is None where the system does not tell."""

    seconds: float
    megabytes: float | None
    printed: str


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Finished:
    """Run a command from its start to its end."""
    inherited = {key: value for key, value in os.environ.items() if key != NO_BYTECODE}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as words:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=out, stderr=words, env={**inherited, **(environment or {})}
        )
        megabytes = _wait(process)
        seconds = time.perf_counter() - start
        out.seek(0)
        words.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{words.read()[-2000:]}")
        return Finished(seconds, megabytes, out.read())


def _wait(process: subprocess.Popen[bytes]) -> float | None:
    """Wait for the end of a process and give its peak memory."""
    if not hasattr(os, "wait4"):
        process.wait()
        return None
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * UNIT / 1e6
