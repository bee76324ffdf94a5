"""A hundred thousand judgments: each verb answers within a second of its process, or a few."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

import idealist as il
from idealist.judging.store_health import examine
from idealist.judging.store_records import Batch, Pooled
from judged_stores import add_judgments, small_store
from waiting import PATIENCE

#: What is asked of the store, and within how many seconds of the processor it is answered.
VERBS = {
    "status": (["status"], 1),
    "record": (["export", "-o", "all.jsonl"], 1),
    "next": (["next", "--judge", "ann"], 1),
    "qrels": (["export", "-o", "qrels.txt"], 2),  # all pairs are judged twice, and differently
}
IMPORTED = 5


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> il.Store:
    made = small_store(tmp_path_factory.mktemp("large") / "labels.db")
    add_judgments(made, 100_000)
    return made


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_answers_at_once(verb: str, store: il.Store, tmp_path: Path) -> None:
    (name, *more), limit = VERBS[verb]
    assert _spent_on([name, str(store.path), *more], tmp_path) < limit


@pytest.mark.parametrize("pooled", [False, True])
def test_judgments_of_a_file_are_taken_in_within_seconds(pooled: bool, tmp_path: Path) -> None:
    pairs = [(f"q{i % 100}", f"d{i}") for i in range(100_000)]
    Path(tmp_path, "qrels.txt").write_text("".join(f"{q} 0 {d} 1\n" for q, d in pairs))
    with il.Store.create(tmp_path / "labels.db") as store:
        if pooled:
            store.add_batch(Batch("depth", tuple(Pooled(*pair, 1) for pair in pairs)))
    assert _spent_on(["import", "labels.db", "qrels.txt"], tmp_path) < IMPORTED
    assert examine(tmp_path / "labels.db").is_sound


def _spent_on(words: list[str], folder: Path) -> float:
    """Return the seconds of the processor that a verb of judging takes."""
    program, before = "from idealist.cli.main import main; main()", _spent()
    subprocess.run(
        [sys.executable, "-c", program, "judge", *words],
        cwd=folder, check=True, capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    return _spent() - before


def _spent() -> float:
    """Count the processor's time of processes that ended; a busy machine adds none."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
