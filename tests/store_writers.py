"""Processes that write to a store at once, are killed at random moments, and send again.

    python tests/store_writers.py kills STORE TIMES SEED
    python tests/store_writers.py crowd STORE PROCESSES

Both print what was acknowledged as JSON. They run in a process of their own, which forks.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from idealist.judging.schema import PEOPLE
from idealist.judging.store import Store
from idealist.judging.store_records import Judgment
from waiting import PATIENCE

#: How many processes write while they are killed, and how many judgments some of them send at once.
WRITERS, AT_ONCE = 3, 4


def run(*words: Any) -> Any:
    """Run this script; return what it prints."""
    command = [sys.executable, __file__, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def judgments(writer: str, number: int) -> list[Judgment]:
    """What a writer sends as its n-th message: one judgment, or several that belong together."""
    return [
        Judgment(f"q{number % 7}", f"{writer}-{number}-{i}", i % 4, writer, token=f"{writer}/{number}/{i}")
        for i in range(AT_ONCE if number % 3 == 2 else 1)
    ]  # fmt: skip


class Writer:
    """A process that sends judgments until it is killed, and says which were acknowledged."""

    def __init__(self, path: str, name: str, first: int) -> None:
        self.name, self.acknowledged = name, first
        self.pipe, theirs = os.pipe()
        self.process = os.fork()
        if not self.process:
            self._write(path, theirs, first)
        os.close(theirs)

    def _write(self, path: str, pipe: int, number: int) -> NoReturn:
        parent = os.getppid()
        try:
            with Store(path) as store:
                while os.getppid() == parent:
                    store.judge_all(judgments(self.name, number))
                    number += 1
                    os.write(pipe, b".")
                    time.sleep(0.001)  # who never pauses keeps the others waiting
                    if number % 10 == 0:
                        store.next(self.name)
                    if number % 50 == 0:
                        store.undo(self.name)
        finally:
            os._exit(1)

    def waited_for(self) -> None:
        """Wait until something is acknowledged."""
        assert select.select([self.pipe], [], [], PATIENCE)[0], "a writer hangs"

    def killed(self) -> int:
        """Kill it, and return the number of the first message that it has no answer to."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        with open(self.pipe, "rb") as file:
            return self.acknowledged + len(file.read())


def kills(path: str, times: int, seed: int) -> dict[str, Any]:
    """Kill writers at random moments; each is followed by one that sends again from there."""
    chance = random.Random(seed)
    writers = [Writer(path, f"w{i}", 0) for i in range(WRITERS)]
    for _ in range(times):
        i = chance.randrange(WRITERS)
        writers[i].waited_for()
        time.sleep(chance.random() ** 2 * 0.02)
        writers[i] = Writer(path, f"w{i}", writers[i].killed())
    return {"acknowledged": {one.name: one.killed() for one in writers}}


def crowd(path: str, processes: int) -> dict[str, Any]:
    """Let many judges take the next document each, until none is left."""
    started = [os.fork() or _judge(path, f"judge {i}") for i in range(processes)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in started]
    return {"failed": sum(map(bool, codes))}


def _judge(path: str, name: str) -> NoReturn:
    code = 1
    try:
        with Store(path) as store:
            while task := store.next(name):
                store.judge(Judgment(task.query, task.document, 1, name, batch=task.batch))
        code = 0
    finally:
        os._exit(code)


def wrong_turns(store: Store) -> list[Any]:
    """Find documents whose number of judges is not what their judgments say."""
    said = f"({PEOPLE.format(row='turn')})"
    asked = f"SELECT query, document FROM turn WHERE (judged, people) <> {said}"
    return list(store.connection.execute(asked))


def check_kept(path: Path, acknowledged: dict[str, int]) -> int:
    """Check that all that was acknowledged is there, nothing twice and nothing in part."""
    with Store(path) as store:
        assert store.connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert not store.connection.execute("PRAGMA foreign_key_check").fetchall()
        assert not wrong_turns(store)
        tokens = [row.token for row in store.judgments() if row.token]
    for writer, number in acknowledged.items():
        own = [token for token in tokens if token.startswith(f"{writer}/")]
        sure = list(_tokens(writer, range(number)))
        unsure = list(_tokens(writer, [number]))  # written, and killed before it could say so
        assert own in (sure, sure + unsure)
    return len(tokens)


def _tokens(writer: str, numbers: Iterable[int]) -> Iterable[str]:
    return (one.token for number in numbers for one in judgments(writer, number))


if __name__ == "__main__":
    verb, where, *numbers = sys.argv[1:]
    print(json.dumps((kills if verb == "kills" else crowd)(where, *map(int, numbers))))
