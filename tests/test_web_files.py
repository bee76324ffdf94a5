"""The files of a folder: what each is found to be, and what happens when they change."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import idealist as il
from idealist.errors import UsageError
from idealist.formats.reading import ReadOptions
from idealist.web.found_files import Folder, Given
from idealist.web.page_state import PageState
from idealist.web.workspace import Workspace
from web_client import EXAMPLES, Client

RUN = "q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.5 tag\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\n"


def roles(folder: Path) -> dict[str, str]:
    return {name: one.role for name, one in Folder(folder).files().items()}


@pytest.mark.parametrize(
    ("name", "text", "role"),
    [
        ("qrels.txt", QRELS, "judgments"),
        ("anything", QRELS, "judgments"),
        ("bm25.run", RUN, "run"),
        ("smith.bm25", RUN, "run"),
        ("results.csv", "query,document,score\nq1,d1,2.5\n", "run"),
        ("results.csv", "query,document,rank\nq1,d1,1\n", "run"),
        ("labels.csv", "query,document,grade\nq1,d1,2\n", "judgments"),
        ("hits.jsonl", '{"query": "q1", "document": "d1", "score": 2.5}\n', "run"),
        ("topics.tsv", "q1\tsort a list\nq2\tmake a tuple\n", "queries"),
        ("queries.csv", "query,text,kind\nq1,sort a list,how-to\n", "queries"),
        ("queries.jsonl", '{"_id": "q1", "text": "sort a list"}\n', "queries"),
        ("corpus.jsonl", '{"_id": "d1", "title": "Sorting", "text": "how to"}\n', "documents"),
        ("docs.csv", "id,title,text\nd1,Sorting,how to\n", "documents"),
        ("passages.tsv", "d1\tsorted sorts\n", "documents"),
        ("log.jsonl", '{"query": "a", "retrieved": ["d1"], "ground_truth": ["d1"]}\n', "both"),
        ("notes.txt", "These are words about nothing in particular, and more.\n", "ignored"),
        ("empty.txt", "", "ignored"),
        ("picture.dat", "\0\1\2\3", "ignored"),
    ],
)
def test_what_a_file_is(tmp_path: Path, name: str, text: str, role: str) -> None:
    (tmp_path / name).write_text(text)
    assert roles(tmp_path) == {name: role}


def test_compressed_and_large_files(tmp_path: Path) -> None:
    (tmp_path / "bm25.run.gz").write_bytes(gzip.compress(RUN.encode()))
    rows = (f"q{i} Q0 d{j} {j} {1000 - j}.5 tag\n" for i in range(300) for j in range(1000))
    (tmp_path / "large.run").write_text("".join(rows))
    assert roles(tmp_path) == {"bm25.run.gz": "run", "large.run": "run"}


def test_what_idealist_saved(tmp_path: Path) -> None:
    il.evaluate(EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run").save(tmp_path / "bm25.json")
    il.Store.create(tmp_path / "labels.db", scale=3).close()
    assert roles(tmp_path) == {"bm25.json": "evaluation", "labels.db": "store"}


def test_folders_inside_and_what_is_hidden(tmp_path: Path) -> None:
    for name in ("runs/a.run", "qrels/test.tsv", ".git/x.run", "a/b/c/deep.run"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(RUN)
    (tmp_path / "report.html").write_text("<html>")
    assert roles(tmp_path) == {"runs/a.run": "run", "qrels/test.tsv": "run"}


def test_new_files_appear_and_changed_ones_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    client = Client.of(tmp_path)
    assert "There are judgments, but no runs" in client.get("/runs").text
    (tmp_path / "a.run").write_text(RUN)
    client.bench.workspace.files(fresh=True)
    assert client.get("/runs.json?m=RR").json()["runs"][0]["values"] == {"RR": 1.0}
    (tmp_path / "a.run").write_text("q1 Q0 d3 1 9 t\n" + RUN)
    client.bench.workspace.files(fresh=True)
    assert client.get("/runs.json?m=RR").json()["runs"][0]["values"] == {"RR": 0.5}
    (tmp_path / "a.run").unlink()
    client.bench.workspace.files(fresh=True)
    assert client.get("/runs.json").json() == {"runs": []}


def test_roles_can_be_corrected(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "odd.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "a.run").write_text(RUN)
    client = Client.of(tmp_path)
    answer = client.post("/files/role", {"file": "odd.txt", "role": "ignored"}, form=True)
    assert answer.status == 303
    found = {one["file"]: one for one in client.get("/files.json").json()["files"]}
    assert found["odd.txt"]["role"] == "ignored"
    assert json.loads((tmp_path / "idealist-ui.json").read_text()) == {
        "roles": {"odd.txt": "ignored"}
    }
    assert roles(tmp_path)["odd.txt"] == "ignored", "a restart keeps it"
    client.post("/files/role", {"file": "odd.txt", "role": ""}, form=True)
    assert roles(tmp_path)["odd.txt"] == "judgments"
    for sent in ({"file": "odd.txt", "role": "x"}, {"file": "../x", "role": "run"}, {}):
        assert client.post("/files/role", sent, form=True).status == 400


def test_a_damaged_file_of_corrections_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(RUN)
    for text in ("", "{", '{"roles": 3}', '{"roles": {"a.run": "x", "b": "run"}}'):
        (tmp_path / "idealist-ui.json").write_text(text)
        assert roles(tmp_path) == {"a.run": "run"}


def test_a_run_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "good.run").write_text(RUN)
    (tmp_path / "bad.run").write_text(RUN + "q1 Q0 d3 3 much tag\n")
    client = Client.of(tmp_path)
    data = client.get("/runs.json").json()
    assert [one["run"] for one in data["runs"]] == ["good"]
    assert "much" in data["refused"]["bad"]
    page = client.get("/runs").text
    assert "cannot be read" in page
    assert client.get("/compare").status == 200


def test_judgments_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 two\n")
    (tmp_path / "a.run").write_text(RUN)
    page = Client.of(tmp_path).get("/runs")
    assert page.status == 400
    assert "qrels.txt:2" in page.text
    assert "two" in page.text


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    client = Client.of(tmp_path)
    assert "Put judgments" in client.get("/runs").text
    assert "Put judgments" in client.get("/files").text
    for address in ("/compare", "/query", "/audit", "/settings", "/judge", "/judges", "/search"):
        assert client.get(address).status in (200, 400), address
        assert "Traceback" not in client.get(address).text


def test_runs_without_judgments(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(RUN)
    assert "nothing says which documents are relevant" in Client.of(tmp_path).get("/runs").text


def test_ids_that_never_meet_are_said_first(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 x1 1\nq1 0 x2 0\n")
    (tmp_path / "a.run").write_text(RUN)
    page = Client.of(tmp_path).get("/runs")
    assert page.status == 200
    assert "n/a" in page.text or "-" in page.text
    assert "match" in page.text


def test_a_record_of_both_sides_is_judgments_and_run(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(
        '{"query": "a", "retrieved": ["d2", "d1"], "ground_truth": ["d1"]}\n'
    )
    data = Client.of(tmp_path).get("/runs.json?m=RR").json()
    assert data["runs"][0]["values"] == {"RR": 0.5}


def test_files_that_are_named(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "qrels.txt", tmp_path / "labels")
    run = tmp_path / "a.run"
    shutil.copy(EXAMPLES / "bm25.run", run)
    given = Given(
        tmp_path / "labels", [run], {"queries": EXAMPLES / "queries.tsv", "documents": None}
    )
    assert {name: one.role for name, one in given.files().items()} == {
        "labels": "judgments", "a.run": "run", "queries.tsv": "queries",
    }  # fmt: skip
    with pytest.raises(UsageError, match="named when"):
        given.correct("labels", "run")
    with pytest.raises(UsageError, match="no file"):
        Given(tmp_path / "nothing", [], {})


def test_what_is_named_counts_and_not_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    il.Store.create(tmp_path / "other.db", scale=3).close()
    workspace = Workspace(Given(tmp_path / "mine.txt", [tmp_path / "a.run"], {}), judge="ann")
    assert [one.name for one in workspace.judged] == ["mine.txt"]
    workspace.make_store(PageState())
    assert [one.name for one in workspace.judged] == ["mine.txt", "judgments.db"]
    (tmp_path / "a.run").unlink()
    assert [*workspace.files(fresh=True)] == ["mine.txt", "judgments.db"], "gone, and no error"
    workspace.close()


def test_documents_are_found_and_shown(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    texts = [{"id": "d1", "title": "Sorting & more", "text": "<b>sorted</b> sorts"}]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in texts))
    (tmp_path / "queries.tsv").write_text("q1\thow to get sorted\n")
    page = Client.of(tmp_path).get("/query?query=q1").text
    assert "Sorting &amp; more" in page
    assert "&lt;b&gt;<mark>sorted</mark>&lt;/b&gt; sorts" in page


def test_beirs_judgments_are_no_run(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "a", "text": "b"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "a"}\n')
    assert roles(tmp_path) == {
        "qrels/test.tsv": "judgments", "corpus.jsonl": "documents", "queries.jsonl": "queries",
    }  # fmt: skip


def test_a_record_longer_than_the_head(tmp_path: Path) -> None:
    record = {"_id": "d1", "title": "a", "text": "word " * 20_000}
    (tmp_path / "corpus.jsonl").write_text(json.dumps(record) + "\n")
    assert roles(tmp_path) == {"corpus.jsonl": "documents"}


def test_too_many_files_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idealist.web.found_files.MOST", 3)
    for number in range(5):
        (tmp_path / f"{number}.run").write_text(RUN)
    client = Client.of(tmp_path)
    assert "Only the first 3 files" in client.get("/files").text
    assert "only the first ones" in client.get("/runs").text


@pytest.mark.parametrize(
    ("role", "words"),
    [("store", "not a store"), ("queries", "not texts of queries"), ("evaluation", "not a saved")],
)
def test_a_file_is_not_taken_for_what_it_cannot_be(tmp_path: Path, role: str, words: str) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "odd.json").write_text("[1, 2")
    client = Client.of(tmp_path)
    answer = client.post("/files/role", {"file": "odd.json", "role": role}, form=True)
    assert answer.status == 400
    assert words in answer.text
    assert not (tmp_path / "idealist-ui.json").exists()
    assert client.get("/runs").status == 200


def test_texts_that_break_later_break_no_numbers(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "queries.json").write_text('{"q1": "sort a list"}')
    (tmp_path / "idealist-ui.json").write_text('{"roles": {"queries.json": "queries"}}')
    client = Client.of(tmp_path)
    assert client.get("/runs.json?m=RR").json()["runs"][0]["values"] == {"RR": 1.0}
    (tmp_path / "queries.json").write_text('{"q1": ')
    client.bench.workspace.files(fresh=True)
    assert client.get("/runs.json?m=RR").json()["runs"][0]["values"] == {"RR": 1.0}


def test_odd_columns_are_named_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "noten.csv").write_text("Suchanfrage;Artikel;Note\nq1;d1;3\nq1;d2;0\n")
    (tmp_path / "a.run").write_text(RUN)
    names = {"query": ["Suchanfrage"], "document": ["Artikel"], "grade": ["Note"]}
    source = Folder(tmp_path, ReadOptions(names, shared=True))
    assert {name: one.role for name, one in source.files().items()} == {
        "noten.csv": "judgments", "a.run": "run",
    }  # fmt: skip
    assert roles(tmp_path)["noten.csv"] == "ignored", "nobody said what its columns are"
    workspace = Workspace(source, judge="ann")
    assert workspace.measured(PageState(measures=("RR",))).evaluations.runs[0]["RR"] == 1.0
    assert workspace.make_store(PageState()) == "judgments.db"
    assert il.read_qrels(tmp_path / "judgments.db").to_dict() == {"q1": {"d1": 3, "d2": 0}}
    workspace.close()


def test_a_store_that_is_replaced_gets_what_is_said(tmp_path: Path) -> None:
    """Nothing is called saved that went to a file which nobody has any more."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    client = Client.of(tmp_path)
    client.post("/files/store", form=True)
    store, copy = tmp_path / "judgments.db", tmp_path / "copy"
    sent = {"query": "q1", "document": "d2", "grade": "1"}
    assert client.post("/query/grade", sent, form=True).status == 303
    with closing(sqlite3.connect(store)) as old, closing(sqlite3.connect(copy)) as new:
        old.backup(new)
    for end in ("-wal", "-shm"):
        Path(f"{store}{end}").unlink(missing_ok=True)
    os.replace(copy, store)
    assert client.post("/query/grade", {**sent, "grade": "0"}, form=True).status == 303
    with il.Store(store) as opened:
        assert [one.grade for one in opened.current() if one.kind == "human"] == [0]
    for end in ("", "-wal", "-shm"):
        Path(f"{store}{end}").unlink(missing_ok=True)
    answer = client.post("/query/grade", sent, form=True)
    assert answer.status == 400
    assert "is gone" in answer.text


def test_a_pipe_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.run")
    (tmp_path / "b.run").write_text(RUN)
    assert roles(tmp_path) == {"b.run": "run"}


def test_a_broken_store_breaks_no_other_judgments(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    il.Store.create(tmp_path / "labels.db", scale=3).close()
    client = Client.of(tmp_path)
    assert client.get("/runs?qrels=qrels.txt").status == 200
    (tmp_path / "labels.db").write_text("this is no store any more")
    client.bench.workspace.files(fresh=True)
    assert client.get("/runs?qrels=qrels.txt").status == 200
    assert client.get("/query?qrels=qrels.txt&query=q1").status == 200


def test_runs_are_named_by_their_own_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    for name in ("dense.run", "a/dense.run"):
        (tmp_path / name).write_text(RUN)
    monkeypatch.chdir("/")
    names = [*Workspace(Folder(tmp_path)).runs]
    assert names == [f"{tmp_path.name}/dense", "a/dense"]


def test_looking_writes_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)
    with il.Store.create(tmp_path / "labels.db", scale=3) as store:
        store.judge(il.Judgment("q1", "d1", 1, "ann"))
    held = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    client = Client.of(tmp_path, role="reader")
    for address in ("/runs", "/compare", "/runs?qrels=qrels.txt", "/audit", "/files", "/settings"):
        assert client.get(address).status == 200
    assert {name: (tmp_path / name).read_bytes() for name in held} == held
