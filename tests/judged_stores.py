"""What tests of judging share: a small store, and the command line with something typed into it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import idealist as il
from idealist.cli.main import main
from idealist.judging.store_records import Batch, Pooled

DOCUMENTS = {
    "d1": {"title": "Sorting", "text": "sorted(users, key=…) sorts."},
    "d2": {"title": "Tuples", "text": "A tuple stays."},
    "d3": "No title.",
}


def small_store(path: Path) -> il.Store:
    """Make a store with three pairs to judge."""
    store = il.Store.create(
        path, scale={0: "off topic", 1: "related", 2: "answers"}, docs=DOCUMENTS,
        queries={"q1": "sort a list of dicts"}, guidelines="Judge what is there.",
    )  # fmt: skip
    pairs = [("q1", "d1"), ("q1", "d2"), ("q2", "d3")]
    store.add_batch(Batch("depth", tuple(Pooled(*pair, i) for i, pair in enumerate(pairs))))
    return store


def add_judgments(store: il.Store, count: int) -> None:
    """Add many judgments of two judges at once."""
    store.judge_all(
        il.Judgment(
            f"q{i % 500}", f"d{i // 1000}", i % 3, f"judge{i // 500 % 2}", seconds=3.5,
            time="2026-11-16T15:49:40Z",
        )
        for i in range(count)
    )  # fmt: skip


class Desk:
    """A store, and the verbs of judging with lines as their standard input."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.store = small_store(folder / "labels.db")
        self.capsys, self.monkeypatch = capsys, monkeypatch

    def run(self, verb: str, *words: object, lines: str = "") -> str:
        """Run a verb on the store, and return what it prints."""
        return self.said(verb, self.store.path, *words, lines=lines)[0]

    def said(self, *words: object, lines: str = "") -> tuple[str, str]:
        """Run a verb, and return what it prints and what it says beside."""
        self.monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        main(["judge", *map(str, words)])
        printed = self.capsys.readouterr()
        return printed.out, printed.err

    def refused(self, verb: str, *words: object, lines: str = "") -> str:
        """Run a verb on the store that is refused, and return why."""
        return self.failed(verb, self.store.path, *words, lines=lines)

    def failed(self, *words: object, lines: str = "", code: int = 2) -> str:
        """Run a verb that fails, and return what it says."""
        with pytest.raises(SystemExit) as left:
            self.said(*words, lines=lines)
        assert left.value.code == code
        return self.capsys.readouterr().err
