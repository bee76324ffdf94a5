"""Judgments from files and into files: nothing twice, nothing lost."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from effort import tries
from hostile import strings
from idealist.formats.source import Source
from idealist.judging.record_files import record_blocks, restored
from idealist.judging.store_records import Batch, Call, Judgment, Pooled, Preference
from judged_stores import Desk, add_judgments, small_store


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys, monkeypatch)


def record(store: il.Store) -> bytes:
    with store.reading() as connection:
        return b"".join(record_blocks(connection))


def test_an_import_keeps_judges_apart(desk: Desk) -> None:
    Path("crowd.csv").write_text(
        "query,doc,rater,label\nq1,d1,ann,2\nq1,d1,bob,0\nq2,d3,ann,answers\n"
    )
    out = desk.run("import", "crowd.csv", "--kind", "human")
    assert out.startswith("3 judgments of crowd.csv added.")
    assert "Judges: ann, bob." in out
    assert {(one.judge, one.document, one.grade, one.kind) for one in desk.store.current()} == {
        ("ann", "d1", 2, "human"), ("bob", "d1", 0, "human"), ("ann", "d3", 2, "human"),
    }  # fmt: skip
    before = record(desk.store)
    assert "Nothing new: all 3 judgments of crowd.csv were there already" in desk.run(
        "import", "crowd.csv"
    )
    assert record(desk.store) == before
    Path("crowd.csv").write_text("query,doc,rater,label\nq1,d1,ann,1\nq1,d1,bob,0\nq1,d2,cy,1\n")
    assert "1 judgment of crowd.csv added, 1 changed, 1 there already." in desk.run(
        "import", "crowd.csv"
    )


def test_rows_without_a_judge_are_each_ones_own(desk: Desk) -> None:
    Path("pool.qrels").write_text("q1 0 d1 1\nq1 0 d1 2\nq1 0 d2 0\n")
    desk.run("import", "pool.qrels")
    assert [(one.judge, one.document, one.grade) for one in desk.store.current()] == [
        ("pool", "d1", 1), ("pool-2", "d1", 2), ("pool", "d2", 0),
    ]  # fmt: skip
    assert "Nothing new" in desk.run("import", "pool.qrels")


def test_what_cannot_be_imported_is_refused_with_its_place(desk: Desk) -> None:
    cases = {
        "q1 0 d1 7\n": "grade 7 is not on the declared scale [off-scale]",
        "query,doc,grade\nq1,d1,1\nq1,d2,9\n": "bad.txt:3: query 'q1', document 'd2': grade 9",
        "query,doc,rater,grade\nq1,d1,ann,1\nq1,d1,ann,2\n": "bad.txt:3: ann gave document 'd1' two grades",
        "query,doc,label\nq1,d1,good\nq1,d2,bad\n": "good",
        "query,doc,rater,grade\nq1,d1,import,1\n": "as a kind of judges is",
        "query,doc,subtopic,grade\nq1,d1,1,1\n": "judged by subtopic",
    }
    for text, words in cases.items():
        Path("bad.txt").write_text(text)
        assert words in desk.refused("import", "bad.txt"), text
    assert "no such file" in desk.refused("import", "none.txt")
    assert not list(desk.store.judgments())


def test_export_writes_any_format(desk: Desk) -> None:
    for judge, grade in (("ann", 2), ("bob", 1), ("cy", 1)):
        desk.store.judge(Judgment("q1", "d1", grade, judge))
    for name in ("qrels.txt", "qrels.csv", "qrels.json", "qrels.tsv.gz"):
        _, said = desk.said("export", desk.store.path, "-o", name)
        assert (
            f"written: 1 judgments of 1 queries to {name}" in said or "written: 1 judgment" in said
        )
        assert il.read_qrels(name).to_dict() == {"q1": {"d1": 1}}
    desk.said("export", desk.store.path, "-o", "ann.txt", "--only", "ann")
    assert Path("ann.txt").read_text() == "q1 0 d1 2\n"
    desk.said("export", desk.store.path, "-o", "max.jsonl", "--to", "jsonl", "--merge", "max")
    assert il.read_qrels("max.jsonl").to_dict() == {"q1": {"d1": 2}}
    assert "merges nothing" in desk.refused("export", "-o", "all.jsonl", "--merge", "max")
    assert "did you mean ann" in desk.refused("export", "-o", "x.txt", "--only", "anm")
    assert "merge cannot be" in desk.refused("export", "-o", "x.txt", "--merge", "best")


def test_a_record_makes_the_same_store(desk: Desk) -> None:
    fill(desk.store, ["plain", "straße"])
    _, said = desk.said("export", desk.store.path, "-o", "all.jsonl")
    assert "written: " in said
    assert "judgments" in said
    out, _ = desk.said("import", "copy.db", "all.jsonl")
    assert "of all.jsonl added" in out
    with il.Store("copy.db") as copy:
        assert record(copy) == record(desk.store) == Path("all.jsonl").read_bytes()
        assert copy.qrels().hash == desk.store.qrels().hash
        assert copy.scale == desk.store.scale
        assert list(copy.judgments()) == list(desk.store.judgments())
        assert copy.next("zoe") == desk.store.next("zoe")
    assert (
        "Nothing new: all that all.jsonl holds was there already"
        in desk.said("import", "copy.db", "all.jsonl")[0]
    )
    _, said = desk.said("export", desk.store.path, "-o", "all.jsonl.gz")
    assert gzip.decompress(Path("all.jsonl.gz").read_bytes()) == Path("all.jsonl").read_bytes()
    assert desk.said("import", "again.db", "all.jsonl.gz")


def test_a_strategy_that_learns_goes_on_where_it_was(desk: Desk) -> None:
    """Its turns change hands while people judge; a store made of the record knows of it."""
    runs = [{"q1": [f"{run}{i}" for i in range(9)]} for run in "ab"]
    first = il.Store.create("first.db", scale=1, queries={"q1": "x"})
    first.add_batch(il.pool(first, runs, by="mtf", budget=8).batch)
    for _ in range(6):
        task = first.next("ann")
        assert task is not None
        found = Judgment(
            task.query, task.document, float(task.document > "b"), "ann", batch=task.batch
        )
        first.judge(found)
    Path("first.jsonl").write_bytes(record(first))
    desk.said("import", "second.db", "first.jsonl")
    asked = "SELECT document, judged, people FROM turn WHERE judged > 0 ORDER BY document"
    with il.Store("second.db") as second:
        turns = [store.connection.execute(asked).fetchall() for store in (first, second)]
        assert turns[0] == turns[1]
        assert first.next("bob") == second.next("bob")
        assert (
            {doc for doc, *_ in turns[0]}
            - {f"a{i}" for i in range(4)}
            - {f"b{i}" for i in range(4)}
        )


def test_records_of_two_stores_come_together(desk: Desk, tmp_path: Path) -> None:
    """Ids of the other store are others here, and what refers to them follows."""
    other = small_store(tmp_path / "other.db")
    fill(desk.store, ["here"])
    fill(other, ["there"])
    size = len(list(desk.store.judgments()))
    Path("other.jsonl").write_bytes(record(other))
    out = desk.run("import", "other.jsonl")
    assert "there already" in out
    rows = list(desk.store.judgments())
    assert len(rows) == 2 * size
    undo, call = next(one for one in rows[size:] if one.undoes), rows[-1].call
    assert rows[(undo.undoes or 0) - 1].document == undo.document
    calls = {one.id: one for one in desk.store.calls()}
    assert call is not None
    assert calls[call].request.endswith("there")
    before = record(desk.store)
    assert "Nothing new" in desk.run("import", "other.jsonl")
    assert record(desk.store) == before


def test_a_store_is_imported_as_its_record_is(desk: Desk, tmp_path: Path) -> None:
    other = small_store(tmp_path / "other.db")
    fill(other, ["there"])
    desk.said("import", "copy.db", other.path)
    with il.Store("copy.db") as copy:
        assert record(copy) == record(other)
    assert "Nothing new" in desk.said("import", "copy.db", "copy.db")[0]


def test_every_verb_writes_a_table_for_programs(desk: Desk) -> None:
    Path("qrels.csv").write_text("query,doc,grade\nq1,d1,1\n")
    fill(desk.store, ["x"])
    Path("all.jsonl").write_bytes(record(desk.store))
    for words in (["next", "--judge", "ann"], ["import", "qrels.csv"], ["import", "all.jsonl"],
                  ["status"], ["doctor"], ["add", "--scale", "0..3"], ["adjudicate", "--list"]):  # fmt: skip
        rows = desk.run(words[0], *words[1:], "-f", "csv").splitlines()
        assert len(rows) > 1 or words[0] == "adjudicate", words


def test_a_record_that_is_not_whole_changes_nothing(desk: Desk) -> None:
    fill(desk.store, ["x"])
    whole = record(desk.store)
    lines = whole.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if b'"row": "judgment"' in line)
    bad = {
        b"".join(lines[:-1]): "rows, and should have",
        whole[:-5]: "rows, and should have",
        whole.replace(b'"row": "judgment"', b'"row": "verdict"', 1): f":{at + 1}: there are no rows 'verdict'",
        whole.replace(b'"judge": "ann"', b'"jugde": "ann"', 1): "a judgment has no jugde",
        whole.replace(b'"judge": "ann"', b'"judge": ""', 1): "cannot be kept",
        whole.replace(b'"batch": 2', b'"batch": 9'): "refers to batch 9, which no line before it holds",
        whole.replace(b'{"row": "judgment"', b'["row", "judgment"', 1): "not a row of a record",
    }  # fmt: skip
    for text, words in bad.items():
        Path("bad.jsonl").write_bytes(text)
        assert words in desk.failed("import", "new.db", "bad.jsonl")
        assert not list(Path().glob("new.db*"))
    assert record(desk.store) == whole
    narrow = il.Store.create("narrow.db", scale=1)
    Path("all.jsonl").write_bytes(whole)
    assert "grade 2 is not on the scale of the store" in desk.failed(
        "import", "narrow.db", "all.jsonl"
    )
    assert not list(narrow.judgments())


def fill(store: il.Store, words: list[str]) -> None:
    """Put something of every kind into a store."""
    for i, word in enumerate(words):
        store.add_queries({f"q{word}": {"text": word, "kind": word, "weight": i + 0.5}})
        store.add_documents({f"d{word}": {"title": word, "text": word * 2}})
        store.add_batch(Batch(word, (Pooled(f"q{word}", f"d{word}", 1, word, 0.3),), {"by": word}))
        store.add_prompt(f"p{word}", word, "1", word)
        call = store.record(
            Call(f"r{word}", word, f"p{word}", {"t": 0.1}, "answered", word, cost=0.1)
        )
        store.record(Call(f"f{word}", word, f"p{word}", {}, "failed", fault=word))
        number = len(store.batches())
        store.judge(
            Judgment(f"q{word}", f"d{word}", 2, "ann", seconds=1.5, note=word, batch=number)
        )
        store.judge(Judgment(f"q{word}", f"d{word}", 1, "ann", token=word, inclusion=1 / 3))
        store.undo("ann")
        store.judge(Judgment("q1", "d1", None, f"b{word}", status="cannot tell", note=word))
        store.judge(Judgment("q1", "d1", 0, "cy", adjudicates=True))
        store.prefer(Preference("q1", "d1", "d2", "ann", tied=True, note=word))
        store.judge(Judgment("q1", "d2", 1, f"m{word}", kind="model", call=call))


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


@settings(max_examples=tries(5, 500))
@given(st.lists(st.one_of(st.sampled_from(strings()), TEXT), min_size=1, max_size=3, unique=True))
def test_any_string_survives(words: list[str]) -> None:
    with TemporaryDirectory() as folder:
        first = small_store(Path(folder, "first.db"))
        fill(first, words)
        Path(folder, "first.jsonl").write_bytes(record(first))
        restored(Path(folder, "second.db"), Source.of(Path(folder, "first.jsonl")))
        second = il.Store(Path(folder, "second.db"))
        assert record(second) == record(first)
        assert list(second.current()) == list(first.current())
        first.close()
        second.close()


@pytest.mark.parametrize("verb", [["export", "-o", "all.jsonl"], ["export", "-o", "qrels.txt"]])
def test_ten_thousand_judgments_are_quick(desk: Desk, verb: list[str]) -> None:
    add_judgments(desk.store, 10_000)
    start = process_time()
    desk.said(verb[0], desk.store.path, *verb[1:])
    assert process_time() - start < 0.5
