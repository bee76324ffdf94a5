"""Many runs on all cores: each run in one of several processes, where that is worth their start.

What is done with a run holds Python's lock most of the time, so threads would wait for each other.
Values, order and errors are those of one process: what a worker cannot do, its caller does.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import stat
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, TypeVar, cast

from idealist import kernel
from idealist.data import Run
from idealist.formats import borrowed_run
from idealist.formats.reading import DescribedFile
from idealist.formats.run_sources import FileRun

#: What a run takes, in seconds, whatever its size; and how many bytes are done in a second.
EACH, RATE = 0.01, 150e6
#: How much work, in seconds, makes up for the start of a worker.
START = 0.5
#: A larger file is ranked by the threads of the kernel, so that one is held at a time. In bytes.
LARGEST = 2**26
#: How much work is handed over at once, in seconds, and how many shares each process is ahead.
SHARE, AHEAD = 0.1, 2
#: What a worker runs: it looks for modules where its caller does, and not in the working folder.
PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from idealist.evaluating.many_runs import serve
serve()
"""

Found = TypeVar("Found")


@dataclass(frozen=True)
class Job:
    """A run as it was given, and its name if it was given one."""

    given: Any
    name: str = ""

    @property
    def run(self) -> Any:
        """The run by its name."""
        return borrowed_run(self.given, name=self.name) if self.name else self.given

    @property
    def seconds(self) -> float:
        """About how long it takes to evaluate it; 0 if another process cannot read it."""
        return 0.0 if self.size is None else EACH + self.size / RATE

    @cached_property
    def size(self) -> int | None:
        """The bytes of its file; None if it is in no file, or in one that is read only once."""
        given = self.given
        if isinstance(given, Run) and isinstance(given.source, FileRun) and not given.source.kept:
            given = given.source.source.path
        if isinstance(given, DescribedFile):
            given = given.path
        with suppress(OSError, ValueError):
            found = os.stat(given) if isinstance(given, (str, Path)) and str(given) != "-" else None
            return found.st_size if found and stat.S_ISREG(found.st_mode) else None
        return None


def done_with_each(work: Callable[[Any], Found], jobs: Sequence[Job]) -> Iterator[Found]:
    """Do some work with each run, in their order; what it returns can be pickled.

    >>> list(done_with_each(str.upper, [Job("bm25.run"), Job("dense.run")]))
    ['BM25.RUN', 'DENSE.RUN']
    """
    others = processes_for(jobs) - 1
    sent = _pickled(work) if others else b""
    return _shared_out(work, sent, jobs, others) if sent else (work(job.run) for job in jobs)


def processes_for(jobs: Sequence[Job]) -> int:
    """Decide how many processes do the work: one where more are not worth their start."""
    largest = max((job.size or 0 for job in jobs), default=0)
    if largest > LARGEST or not sys.executable or hasattr(sys, "frozen"):
        return 1
    worth = int(sum(job.seconds for job in jobs) / START)
    return max(1, min(kernel.threads(), worth))


def _pickled(data: Any) -> bytes:
    """Write data for another process; nothing if that cannot be, as with functions of a script."""
    try:
        return pickle.dumps(data, pickle.HIGHEST_PROTOCOL)
    except Exception:  # pickle raises what it likes
        return b""


@dataclass
class Share:
    """Jobs that are handed over together, and what was found: nothing where that has to be said."""

    jobs: Sequence[Job]
    future: Future[list[tuple[Any, ...]]]
    found: list[tuple[Any, ...]] | None = None

    def help(self, work: Callable[[Any], Any]) -> bool:
        """Do it here, if nobody has begun it."""
        if self.found is not None or not self.future.cancel():
            return False
        self.found = [tried(work, job) for job in self.jobs]
        return True

    def done(self, others: Iterable[Share], work: Callable[[Any], Any]) -> list[tuple[Any, ...]]:
        """Wait until it is done; help with others meanwhile."""
        while self.found is None and not self.future.done():
            if not any(share.help(work) for share in others):
                break
        return self.future.result() if self.found is None else self.found


def _shared_out(
    work: Callable[[Any], Found], sent: bytes, jobs: Sequence[Job], count: int
) -> Iterator[Found]:
    """Do the work here and in some processes; yield what was found in the order of the jobs."""
    workers, free = list[Worker](), SimpleQueue[Worker]()

    def hand_over(some: Sequence[Job]) -> list[tuple[Any, ...]]:
        worker = free.get()
        try:
            return worker(some)
        finally:
            free.put(worker)

    threads, left, waiting = ThreadPoolExecutor(count), _shares(jobs), deque[Share]()
    try:
        for _ in range(count):
            workers.append(Worker(sent))
            free.put(workers[-1])
        while True:
            for some in islice(left, AHEAD * (count + 1) - len(waiting)):
                waiting.append(Share(some, threads.submit(hand_over, some)))
            if not waiting:
                return
            found = waiting[0].done(waiting, work)
            for job, one in zip(waiting.popleft().jobs, found, strict=True):
                yield one[0] if one else work(job.run)  # which raises what is wrong
    finally:
        for worker in workers:
            worker.kill()
        threads.shutdown(cancel_futures=True)
        for worker in workers:
            worker.close()


def _shares(jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """Part the jobs into shares that take about as long."""
    share, seconds = list[Job](), 0.0
    for job in jobs:
        share.append(job)
        seconds += job.seconds
        if seconds >= SHARE:
            yield share
            share, seconds = [], 0.0
    if share:
        yield share


def tried(work: Callable[[Any], Any], job: Job) -> tuple[Any, ...]:
    """Return what was found, alone in a tuple; nothing where it fails, or cannot be read twice."""
    try:
        return () if job.size is None else (work(job.run),)
    except Exception:  # it is raised when its turn comes
        return ()


class Worker:
    """A process that does some work with one run after the other."""

    def __init__(self, work: bytes) -> None:
        paths = json.dumps([str(Path(path).absolute()) for path in sys.path])
        rules = {kernel.THREADS: "1", kernel.KERNEL: kernel.name()}  # it warned of its kernel here
        self._work = work
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM, paths], env=os.environ | rules,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._given = cast("BinaryIO", self._process.stdin)
        self._taken = cast("BinaryIO", self._process.stdout)

    def __call__(self, jobs: Sequence[Job]) -> list[tuple[Any, ...]]:
        """Return what it found for each job; nothing if it could not do that."""
        try:
            self._given.write(self._work)
            self._work = b""  # once is enough
            pickle.dump([job if job.size is not None else None for job in jobs], self._given)
            self._given.flush()
            found: list[tuple[Any, ...]] = pickle.load(self._taken)
        except Exception:  # it has ended, or it does not know the classes of what it is sent
            return [()] * len(jobs)
        return found

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()

    def close(self) -> None:
        """Forget the process."""
        self._process.wait()
        self._taken.close()
        with suppress(OSError):  # what was not sent
            self._given.close()


def serve() -> None:
    """Do the work that comes on standard input with the jobs that follow; write what is found."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller ends it
    given, taken = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed by mistake
    work = pickle.load(given)
    with suppress(EOFError):
        while True:
            found = [() if job is None else tried(work, job) for job in pickle.load(given)]
            taken.write(pickle.dumps(found, pickle.HIGHEST_PROTOCOL))
            taken.flush()
