"""Fifty judges at a real server, and a server that is killed while they judge: nothing is lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from effort import tries
from idealist.judging.store import Store
from idealist.judging.store_records import Batch, Pooled
from waiting import PATIENCE

#: How many judge at once, and for how many seconds; how often the server is killed.
JUDGES, SECONDS, KILLS = 50, tries(40, 300), tries(30, 200)
#: How many milliseconds a judgment may take, for 95 of 100; and on a machine that others use.
LIMIT, BUSY = 150, 5
#: In how many parts of the time that is looked at.
WINDOWS = 5


@dataclass
class Judge:
    """A judge with the documents at hand, who sends again what was not acknowledged."""

    port: int
    name: str
    think: Callable[[], float]
    tasks: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[dict[str, Any]] = field(default_factory=list)
    acknowledged: list[dict[str, Any]] = field(default_factory=list)
    spent: list[tuple[float, float]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    connection: HTTPConnection | None = None
    said: int = 0

    def ask(self, method: str, path: str, data: Any = None) -> Any:
        """Ask the server; a connection that is lost raises."""
        if self.connection is None:
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"cookie": f"idealist={self.name}", "sec-fetch-site": "same-origin", "accept": "application/json", "content-type": "application/json"}  # fmt: skip
        try:
            self.connection.request(method, path, json.dumps(data) if data else None, headers)
            answer = self.connection.getresponse()
            body = answer.read()
        except (OSError, HTTPException):
            self.connection.close()
            self.connection = None
            raise
        if answer.status != 200:
            self.faults.append(f"{answer.status} {body[:200]!r}")
        return json.loads(body)

    def until(self, over: Callable[[], bool]) -> None:
        """Judge what comes until it is over, and then send what waits."""
        while not over() or self.waiting:
            time.sleep(self.think())
            if not over() and self.tasks:
                self._judge(self.tasks.pop(0))
            try:
                self._send()
            except (OSError, HTTPException):
                time.sleep(0.02)
        if self.connection is not None:
            self.connection.close()

    def _judge(self, task: dict[str, Any]) -> None:
        self.said += 1
        named = {name: task[name] for name in ("query", "document", "batch", "seen")}
        own = {"token": f"{self.name}/{self.said}", "grade": self.said % 4, "seconds": 1.0}
        self.waiting.append({**named, **own})

    def _send(self) -> None:
        have = [[one["query"], one["document"]] for one in self.tasks]
        sent, start = list(self.waiting), time.monotonic()
        answer = self.ask("POST", "/judge/say", {"said": sent, "have": have})
        self.spent.append((start, 1000 * (time.monotonic() - start)))
        for one in answer.get("said", ()):
            if not one["kept"]:
                self.faults.append(one["words"])
            self.acknowledged += [own for own in sent if own["token"] == one["token"]]
            self.waiting = [own for own in self.waiting if own["token"] != one["token"]]
        self.tasks += answer.get("tasks", ())


@dataclass
class Served:
    """A server, and the judges at it."""

    process: subprocess.Popen[str]
    port: int
    path: Path

    def kill(self) -> None:
        """Kill what serves; another one is there at once."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("kill\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "killed\n"


@contextmanager
def serving(folder: Path, documents: int) -> Iterator[Served]:
    path = folder / "labels.db"
    with Store.create(path, scale=3, queries={f"q{i}": "tuples" for i in range(20)}) as store:
        pooled = [Pooled(f"q{i % 20}", f"d{i}", i) for i in range(documents)]
        store.add_batch(Batch("depth", tuple(pooled), {"people": 1}))
        store.add_documents({one.document: f"text of {one.document} " * 40 for one in pooled})
    words = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("judge_server.py"))]
    with subprocess.Popen(
        [*words, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield Served(process, int(process.stdout.readline()), path)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(PATIENCE)


@contextmanager
def at_work(judges: list[Judge], over: Callable[[], bool]) -> Iterator[None]:
    threads = [threading.Thread(target=one.until, args=(over,), daemon=True) for one in judges]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(SECONDS + PATIENCE)
        assert not thread.is_alive(), "a judge hangs"


def check_kept(path: Path, judges: list[Judge]) -> int:
    """Check that all that was acknowledged is there, in order, nothing twice and nothing else."""
    assert [fault for one in judges for fault in one.faults] == []
    with Store(path) as store:
        rows = list(store.judgments())
        assert store.connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    for judge in judges:
        own = [
            (one.query, one.document, one.grade, one.token)
            for one in rows
            if one.judge == judge.name
        ]
        wanted = [
            (one["query"], one["document"], one["grade"], one["token"])
            for one in judge.acknowledged
        ]
        assert own == wanted
    counts = Counter((one.query, one.document) for one in rows)
    assert counts.total() == len(counts)  # nobody was given what another had
    return len(rows)


def test_fifty_judges_lose_and_double_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = os.getloadavg()[0] < 0.75 * (os.cpu_count() or 1)
    draw = random.Random(19)
    with serving(tmp_path, JUDGES * (SECONDS + 60)) as served:
        judges = [
            Judge(served.port, f"judge{i}", lambda: draw.uniform(0.5, 1.5)) for i in range(JUDGES)
        ]
        start = time.monotonic()
        with at_work(judges, lambda: time.monotonic() > start + SECONDS):
            pass
        total = check_kept(served.path, judges)
    spent = sorted((at, took) for one in judges for at, took in one.spent)
    size = len(spent) // WINDOWS
    parts = [sorted(took for _, took in spent[i * size : (i + 1) * size]) for i in range(WINDOWS)]
    high = sorted(part[int(0.95 * len(part))] for part in parts)
    every = sorted(took for _, took in spent)
    with capsys.disabled():
        print(
            f"\n{JUDGES} judges, {SECONDS} s, {total:,} grades, {total / SECONDS:.0f} a second: median "
            f"{every[len(every) // 2]:.0f} ms, 95th percentile {every[int(0.95 * len(every))]:.0f} ms "
            f"(in {WINDOWS} parts {', '.join(f'{one:.0f}' for one in high)}), most {every[-1]:.0f} ms"
            f"{'' if quiet else '; the machine was busy'}"
        )
    assert total > JUDGES * SECONDS / 3
    assert high[WINDOWS // 2] < LIMIT * (1 if quiet else BUSY)


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw, done = random.Random(20), threading.Event()
    with serving(tmp_path, 200 * KILLS) as served:
        judges = [Judge(served.port, f"judge{i}", lambda: draw.uniform(0, 0.03)) for i in range(8)]
        with at_work(judges, done.is_set):
            for _ in range(KILLS):
                wait_for_more(judges)
                time.sleep(draw.random() ** 2 * 0.2)
                served.kill()
            wait_for_more(judges)
            done.set()
        total = check_kept(served.path, judges)
    with capsys.disabled():
        print(f"\nkilled {KILLS} times: {total:,} grades, all that were acknowledged, none twice")
    assert total >= KILLS


def wait_for_more(judges: list[Judge]) -> None:
    """Wait until something more is acknowledged."""
    before, until = sum(len(one.acknowledged) for one in judges), time.monotonic() + PATIENCE
    while sum(len(one.acknowledged) for one in judges) == before:
        assert time.monotonic() < until, "nothing is acknowledged"
        time.sleep(0.005)
