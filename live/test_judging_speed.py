"""A hundred thousand judgments: each verb answers within a second of its process."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

import idealist as il
from judged_stores import add_judgments, small_store
from waiting import PATIENCE

VERBS = {
    "status": ["status"],
    "record": ["export", "-o", "all.jsonl"],
    "next": ["next", "--judge", "ann"],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> il.Store:
    made = small_store(tmp_path_factory.mktemp("large") / "labels.db")
    add_judgments(made, 100_000)
    return made


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_less_than_a_second(verb: str, store: il.Store, tmp_path: Path) -> None:
    program = "from idealist.cli.main import main; main()"
    name, *more = VERBS[verb]
    before = _spent()
    subprocess.run(
        [sys.executable, "-c", program, "judge", name, str(store.path), *more],
        cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    assert _spent() - before < 1


def _spent() -> float:
    """Count the processor's time of processes that ended; a busy machine adds none."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
