"""`judge init` and `judge add`: what judges need, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

import idealist as il
from idealist.judging import store_contents
from idealist.judging.store_records import Batch, Pooled
from judged_stores import Desk


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    monkeypatch.chdir(tmp_path)
    Path("queries.tsv").write_text("q1\tsort\nq2\tundo\n")
    Path("docs.jsonl").write_text('{"id": "d1", "text": "one"}\n{"id": "d2", "text": "two"}\n')
    Path("how.md").write_text("Judge fairly.\n")
    return Desk(tmp_path, capsys, monkeypatch)


def test_a_store_is_made_of_files(desk: Desk) -> None:
    out, _ = desk.said(
        "init", "new.db", "--scale", "0=off topic,2=answers it", "--merge", "max", "--guidelines",
        "how.md", "--queries", "queries.tsv", "--docs", "docs.jsonl",
    )  # fmt: skip
    assert out.startswith("new.db is made: 2 queries and 2 texts of documents.")
    with il.Store("new.db") as store:
        assert store.scale == il.Scale((0, 2), ("off topic", "answers it"))
        assert (store.merge, store.guidelines) == ("max", "Judge fairly.")
        assert store.queries.text == {"q1": "sort", "q2": "undo"}
        text = store.text("d2")
        assert text is not None
        assert text.text == "two"
    assert "exists already" in desk.failed("init", "new.db")


@pytest.mark.parametrize(
    "bad",
    [["--docs", "none"], ["--queries", "none"], ["--guidelines", "none"], ["--scale", "x"],
     ["--merge", "best"], ["--docs", "how.md"]],
)  # fmt: skip
def test_a_mistake_leaves_no_store_behind(desk: Desk, bad: list[str]) -> None:
    assert "error: " in desk.failed("init", "new.db", *bad)
    assert not list(Path().glob("new.db*"))


def test_what_is_added_is_new_or_changed(desk: Desk) -> None:
    added = desk.run("add", "--queries", "queries.tsv", "--docs", "docs.jsonl")
    assert added.startswith("2 queries and 2 texts of documents added")
    added = desk.run("add", "--queries", "queries.tsv", "--docs", "docs.jsonl")
    assert added.startswith("no queries and no texts added")
    Path("docs.jsonl").write_text('{"id": "d1", "text": "one"}\n{"id": "d2", "text": "three"}\n')
    assert desk.run("add", "--docs", "docs.jsonl").startswith("1 text of a document added")
    with desk.store.reading() as connection:
        asked = "SELECT COUNT(*) FROM document WHERE document = 'd2'"
        assert connection.execute(asked).fetchone() == (3,)  # the texts of before are kept
    assert "nothing to add" in desk.refused("add")
    assert "Guidelines: 1 line." in desk.run("add", "--guidelines", "how.md")


def test_of_a_large_collection_only_what_is_needed_is_copied(desk: Desk) -> None:
    desk.monkeypatch.setattr(store_contents, "MOST_TEXTS", 1)
    out, _ = desk.said("init", "new.db", "--docs", "docs.jsonl")
    assert "Pool first" in out
    with il.Store("new.db") as store:
        store.add_batch(Batch("depth", (Pooled("q1", "d2", 1),)))
        assert store.text("d2") is None
    assert desk.said("add", "new.db", "--docs", "docs.jsonl")[0].startswith("1 text of a document")
    assert desk.said("add", "new.db", "--docs", "docs.jsonl", "--all")[0].startswith("1 text of a")
