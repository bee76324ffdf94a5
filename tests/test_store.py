"""A store: what is judged is kept, what counts is stated, and it is read as files are."""

from __future__ import annotations

import json
import shutil
import statistics
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hostile
import idealist as il
from idealist.cli.main import main
from idealist.data.judgments import MERGES
from idealist.errors import InputError, UsageError
from idealist.formats import kind_of
from idealist.formats.document_texts import document_texts
from idealist.formats.stored_judgments import KINDS
from idealist.judging import turns
from idealist.judging.store import TOGETHER, Store
from idealist.judging.store_health import examine
from idealist.judging.store_records import Batch, Call, Judgment, Pooled, Preference


@pytest.fixture(scope="module")
def empty(tmp_path_factory: Any) -> Path:
    path: Path = tmp_path_factory.mktemp("stores") / "empty.db"
    Store.create(path, scale=3, queries={"q1": "tuples"}).close()
    return path


@pytest.fixture
def store(empty: Path, tmp_path: Path) -> Iterator[Store]:
    with Store(shutil.copy(empty, tmp_path / "labels.db")) as made:
        yield made


def pool(store: Store, documents: int, strategy: str = "depth", **parameters: Any) -> int:
    pooled = tuple(Pooled("q1", f"d{i}", i) for i in range(documents))
    return store.add_batch(Batch(strategy, pooled, parameters))


def following(store: Store, judge: str, **asked: Any) -> str | None:
    """Return the document that is a judge's turn."""
    task = store.next(judge, **asked)
    return None if task is None else task.document


# Keeping


def test_a_judgment_has_a_number_and_a_time(store: Store) -> None:
    made = store.judge(Judgment("q1", "d1", 2, "ann", seconds=3, note="see title", token="t1"))
    assert (made.id, made.grade, made.status) == (1, 2, "graded")
    assert made.time.endswith("Z")
    assert list(store.judgments()) == [made]
    again = store.judge(Judgment("q1", "d1", 0, "ann", token="t1"))
    assert again == made
    assert len(list(store.judgments())) == 1


def test_many_judgments_are_kept_as_one_by_one(store: Store, tmp_path: Path) -> None:
    rows = [
        Judgment(f"q{i % 3}", f"d{i // 2}", i % 4, f"judge {i % 2}", note="é" * (i % 2))
        for i in range(2 * TOGETHER + 1)
    ]
    one_by_one = Store.create(tmp_path / "other.db", scale=3)
    for made in (store, one_by_one):
        made.add_batch(Batch("depth", tuple(Pooled("q1", f"d{i}", i) for i in range(TOGETHER))))
        made.judge(Judgment("q1", "d1", 2, "ann"))
    together = store.judge_all(replace(row, time="2026-11-16T15:49:40Z") for row in rows)
    apart = [one_by_one.judge(replace(row, time="2026-11-16T15:49:40Z")) for row in rows]
    assert together == apart == list(store.judgments())[1:]
    kept = "SELECT * FROM turn"
    assert _asked(store, kept) == _asked(one_by_one, kept)
    assert store.judge_all([]) == []


def _asked(store: Store, words: str) -> list[Any]:
    with store.reading() as connection:
        return connection.execute(words).fetchall()


def test_several_judgments_are_kept_all_or_none(store: Store) -> None:
    rows = [
        Judgment("q1", "d1", 2, "ann"),
        Judgment("q1", "d2", 7, "ann"),
        Judgment("", "d3", 0, ""),
    ]
    with pytest.raises(InputError) as error:
        store.judge_all(rows)
    assert error.value.total == 3
    assert not list(store.judgments())


REFUSED: dict[str, dict[str, Any]] = {
    "not on the declared scale": {"grade": 5},
    "the grade is None": {"grade": None},
    "the grade is nan": {"grade": float("nan")},
    "the grade is 'good'": {"grade": "good"},
    "a grade, but the status is later": {"status": "later"},
    "the status is 'done'": {"status": "done"},
    "the judge has no name": {"judge": " "},
    "as a kind of judges is": {"judge": "model"},
    "the kind is 'llm'": {"kind": "llm"},
    "an id must be text": {"query": ""},
    "document None": {"document": None},
    r"document '\\ud800'": {"document": "\ud800"},
    "seconds is -1": {"seconds": -1},
    "inclusion is 0": {"inclusion": 0},
    "inclusion is 1.5": {"inclusion": 1.5},
    "the time is 'noon'": {"time": "noon"},
    "the note is None": {"note": None},
    "a row that undoes another": {"undoes": 1},
    "refers to a batch": {"batch": 9},
    "to a batch, a call": {"call": 9},
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_wrong_is_refused_at_the_door(store: Store, words: str) -> None:
    usual: dict[str, Any] = {"query": "q1", "document": "d1", "grade": 2, "judge": "ann"}
    with pytest.raises((InputError, UsageError), match=words) as error:
        store.judge(Judgment(**(usual | REFUSED[words])))
    assert error.value.hint
    assert not list(store.judgments())


def test_hostile_strings_survive(store: Store) -> None:
    strings = hostile.strings()
    rows = [Judgment(own, own, 1, f"judge {own}", note=own, token=own) for own in strings]
    made = store.judge_all(rows)
    store.add_queries(dict.fromkeys(strings, "x") | {one: one for one in strings})
    assert store.add_documents({one: {"title": one, "text": one} for one in strings}) == len(
        strings
    )
    assert list(store.judgments()) == made
    assert [one.note for one in made] == strings
    assert store.qrels().to_dict() == {one: {one: 1} for one in sorted(strings)}
    assert all(store.queries.text[one] == one for one in strings)
    assert all(store.text(one) == (one, one) for one in strings)
    batch = pool(store, 1)
    for judge in [one for one in strings if one.strip() and len(one) < 60][::5]:
        assert following(store, judge, judgments=500) == "d0"
        store.judge(Judgment("q1", "d0", 1, judge, batch=batch))
        assert following(store, judge, judgments=500) is None
    for judge in strings[:20]:
        assert il.read_qrels(f"{store.path}#judge {judge}").to_dict() == {judge: {judge: 1}}


@pytest.mark.parametrize(
    "table", ["judgment", "preference", "call", "batch", "pooled", "prompt", "query", "setting"]
)
def test_rows_are_neither_changed_nor_deleted(store: Store, table: str) -> None:
    batch = pool(store, 1)
    store.add_prompt("hash", "graded", "1", "…")
    call = store.record(Call("request", "m", "hash", {"n": 1}, "answered", answer="\ud83d"))
    store.judge(Judgment("q1", "d1", 1, "ann", batch=batch, call=call))
    store.prefer(Preference("q1", "d1", "d2", "ann"))
    column = "strategy" if table == "batch" else "hash" if table == "prompt" else "query"
    column = {"call": "model", "setting": "value"}.get(table, column)
    for change in (f"UPDATE {table} SET {column} = 'x'", f"DELETE FROM {table}"):
        with pytest.raises(UsageError, match="kept"), store.writing() as connection:
            connection.execute(change)


def test_undo_is_a_new_row(store: Store) -> None:
    store.judge(Judgment("q1", "d1", 2, "ann"))
    store.judge(Judgment("q1", "d1", 3, "ann"))
    store.judge(Judgment("q1", "d1", 0, "bob"))
    undone = store.undo("ann")
    assert undone is not None
    assert undone.grade == 3
    assert store.qrels(only="ann").to_dict() == {"q1": {"d1": 2}}
    assert [row.status for row in store.judgments()] == ["graded", "graded", "graded", "undone"]
    assert [row.id for row in store.current()] == [1, 3]
    store.undo("ann")
    assert store.undo("ann") is None
    with pytest.raises(UsageError, match="does not stand"):
        store.judge(Judgment("q1", "d1", None, "ann", status="undone", undoes=3))


def test_a_request_is_answered_once(store: Store) -> None:
    store.add_prompt("hash", "graded", "1", "…")
    store.add_prompt("hash", "graded", "1", "…")
    assert store.answered("r") is None
    failed = store.record(Call("r", "m", "hash", {}, "failed", fault="429"))
    first = store.record(Call("r", "m", "hash", {"seed": 1}, "answered", answer="2", cost=0.5))
    assert store.record(Call("r", "m", "hash", {}, "answered", answer="3")) == first != failed
    found = store.answered("r")
    assert found is not None
    assert (found.answer, found.parameters, found.cost) == ("2", {"seed": 1}, 0.5)
    assert [call.state for call in store.calls()] == ["failed", "answered"]


def test_preferences_are_kept_once(store: Store) -> None:
    made = store.prefer(Preference("q1", "d1", "d2", "ann", token="t"))
    assert store.prefer(Preference("q1", "d2", "d1", "ann", token="t")) == made
    assert list(store.preferences()) == [made]
    with pytest.raises(InputError, match="with itself"):
        store.prefer(Preference("q1", "d1", "d1", "ann"))


def test_queries_and_texts_can_be_replaced_but_not_lost(store: Store) -> None:
    assert store.add_queries([{"query": "q1", "text": "tuples", "type": "how-to"}]) == 1
    assert store.add_queries([{"query": "q1", "text": "tuples", "type": "how-to"}]) == 0
    assert store.queries.column("type") == {"q1": "how-to"}
    assert store.add_documents({"d1": "old", "d2": "other"}, ids=["d1"]) == 1
    assert store.add_documents({"d1": {"title": "T", "text": "new"}}) == 1
    assert store.text("d1") == ("T", "new")
    assert store.text("d2") is None
    assert store.connection.execute("SELECT COUNT(*) FROM text").fetchone() == (2,)


def test_a_scale_must_hold_what_was_given(store: Store) -> None:
    store.judge(Judgment("q1", "d1", 3, "ann"))
    with pytest.raises(UsageError, match="3 was given"):
        store.set(scale=1)
    store.set(scale={0: "bad", 1: "fair", 2: "good", 3: "best"}, guidelines="Read all.")
    assert store.scale is not None
    assert store.scale.labels[3] == "best"
    assert store.guidelines == "Read all."
    with pytest.raises(UsageError, match="merge cannot be"):
        store.set(merge="mode")


def test_one_that_exists_is_not_touched_and_none_is_made_in_part(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    for wrong in ({"scale": "x"}, {"merge": "x"}, {"queries": 3}, {"docs": tmp_path / "none"}):
        with pytest.raises((UsageError, InputError)):
            Store.create(path, **wrong)
        assert not list(tmp_path.iterdir())
    Store.create(path).close()
    before = path.read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        Store.create(path)
    assert path.read_bytes() == before
    with pytest.raises(UsageError, match="cannot write"):
        Store.create(tmp_path / "none" / "labels.db")


# Reading


def test_judgments_are_read_wherever_a_file_is(store: Store) -> None:
    store.judge(Judgment("q1", "d1", 2, "ann"))
    store.judge(Judgment("q1", "d2", 0, "ann"))
    store.judge(Judgment("q1", "d1", 0, "m/p@1", kind="model"))
    store.add_documents({"d1": "one", "d2": "two"})
    path = str(store.path)
    assert il.read_qrels(path).to_dict() == store.qrels().to_dict() == {"q1": {"d1": 2, "d2": 0}}
    assert il.read_qrels(store).scale == il.Scale.of(3)
    assert il.read_qrels(f"{path}#model").to_dict() == {"q1": {"d1": 0}}
    assert il.read_qrels(f"{path}#m/p@1").hash == il.read_qrels(f"{path}#model").hash
    assert il.read_qrels(f"{path}#ann").name == f"{path}#ann"
    assert il.read_queries(path).text == {"q1": "tuples"}
    assert document_texts(path, ["d2", "d9"]).found == {"d2": ("", "two")}
    run = store.path.parent / "dense.run"
    run.write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n")
    for words in (
        ["eval", path, run, "-m", "nDCG@10"],
        ["compare", f"{path}#model", run, run, "-m", "nDCG@10"],
        ["audit", path, run],
        ["report", path, run, "-o", store.path.parent / "r.html", "--docs", path],
    ):
        main([*map(str, words)])
    assert "labels.db" in (store.path.parent / "r.html").read_text()


def test_what_is_no_store_is_said(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no judgments in this store yet"):
        il.read_qrels(store)
    store.judge(Judgment("q1", "d1", None, "ann", status="cannot tell"))
    with pytest.raises(InputError, match="of 1 row, none is a grade"):
        il.read_qrels(store)
    with pytest.raises(InputError, match="nobody by the name of 'bob'"):
        il.read_qrels(f"{store.path}#bob")
    with pytest.raises(InputError, match="not a run"):
        il.read_run(store.path)
    assert kind_of(store.path) == "qrels"


def test_grades_of_a_model_are_said_with_every_number(store: Store) -> None:
    people, model = [("q1", "d1"), ("q1", "d2")], [("q1", "d3"), ("q2", "d1"), ("q1", "d1")]
    store.judge_all(Judgment(*pair, 1, "ann") for pair in people)
    store.judge_all(Judgment(*pair, 2, "gpt/graded@1", "model") for pair in model)
    run = {"q1": ["d1", "d3"], "q2": ["d1"]}

    def told(address: str) -> list[tuple[str, int, int]]:
        doubts = il.evaluate(address, run, "RR").doubts
        some = [one for one in doubts if one.code == "model-grades"]
        return [(one.severity, one.count, one.total) for one in some]

    path = str(store.path)
    assert told(path) == [("warning", 2, 4)]
    assert told(f"{path}#model") == [("note", 3, 3)]
    assert told(f"{path}#human") == []
    for found in (il.compare(path, {"a": run, "b": run}, "RR"), il.audit(path, run, "RR")):
        assert "2 of 4 grades are by a model (gpt/graded@1)" in json.dumps(found.data())


def test_what_cannot_be_told_is_not_a_grade(store: Store) -> None:
    store.judge(Judgment("q1", "d1", 1, "ann"))
    store.judge(Judgment("q1", "d1", None, "ann", status="cannot tell"))
    store.judge(Judgment("q1", "d2", 3, "ann"))
    store.judge(Judgment("q1", "d3", None, "ann", status="later"))
    qrels = store.qrels()
    assert qrels.to_dict() == {"q1": {"d2": 3}}
    assert qrels.ungraded == 1


def test_an_adjudication_counts_alone_and_judges_still_disagree(store: Store) -> None:
    for document in ("d1", "d2"):
        store.judge_all(
            [Judgment("q1", document, i, judge) for i, judge in enumerate(["ann", "bob"])]
        )
    store.judge(Judgment("q1", "d1", 3, "ann", adjudicates=True))
    qrels = il.read_qrels(store, merge="max")
    assert qrels.to_dict() == {"q1": {"d1": 3, "d2": 1}}
    assert qrels.merge == "max"
    assert [one.message for one in qrels.remarks] == [
        "1 pair was adjudicated: the adjudication counts",
        "1 pair was judged differently by several judges: the max counts",
    ]
    assert qrels.judged_by is not None
    assert qrels.judged_by.grade.tolist() == [0, 1, 0, 1]
    assert store.qrels(only="ann").to_dict() == {"q1": {"d1": 0, "d2": 0}}
    assert store.qrels(only="human", merge="min").to_dict() == {"q1": {"d1": 3, "d2": 0}}


def test_samples_keep_their_strata_and_probabilities(store: Store) -> None:
    pooled = [Pooled("q1", "d1", 1, "top", 1.0), Pooled("q1", "d2", 2, "deep", 0.25)]
    store.add_batch(Batch("sampled", (*pooled, Pooled("q1", "d3", None, "deep", 0.25))))
    store.judge_all([Judgment("q1", "d2", 2, judge) for judge in ("ann", "bob")])
    store.judge(Judgment("q1", "d1", 0, "ann"))
    qrels = store.qrels()
    assert "stratum" not in qrels.columns  # a sample is read alone
    assert qrels.columns["inclusion"].tolist() == [1, 0.25]
    assert qrels.gold == "pooled"
    sampled = store.qrels(sampled=True)
    assert sampled.to_dict() == {"q1": {"d1": 0, "d2": 2, "d3": -1}}
    assert sampled.columns["stratum"] == ("top", "deep", "deep")
    assert il.evaluate(sampled, {"q1": ["d1", "d2", "d3"]}, "infAP")["infAP"] > 0


EVENTS = st.lists(
    st.tuples(
        st.sampled_from("de"), st.sampled_from("abc"),
        st.sampled_from([0, 1, 2, 3, "cannot tell", "later", "undo"]), st.booleans(),
    ),
    min_size=1, max_size=14,
)  # fmt: skip
#: Each judge is of one kind.
JUDGES = {"a": "human", "b": "human", "c": "model"}
BY_HAND: dict[str, Any] = {
    "mean": statistics.fmean, "median": statistics.median, "max": max, "min": min,
    "majority": lambda grades: min(statistics.multimode(grades)),
    "latest": lambda grades: grades[-1],
}  # fmt: skip
_names = count()


def by_hand(events: list[Any], rule: str) -> dict[str, float]:
    """Say what counts, one event after the other: the oracle of the merge."""
    rows: list[tuple[str, str, Any, bool]] = []
    for document, judge, said, adjudicates in events:
        if said == "undo":
            own = [i for i, row in enumerate(rows) if row[1] == judge]
            rows.pop(own[-1]) if own else None
        else:
            rows.append((document, judge, said, adjudicates and said != "later"))
    found = {}
    for document in "de":
        last = {(row[1], row[3]): (i, row[2]) for i, row in enumerate(rows) if row[0] == document}
        said = sorted((i, own, judge, final) for (judge, final), (i, own) in last.items())
        finals = [own for _, own, _, final in said if final]
        grades = {
            kind: [
                own for _, own, judge, _ in said if JUDGES[judge] == kind and isinstance(own, int)
            ]
            for kind in KINDS
        }
        counting = finals[-1:] or next(filter(None, grades.values()), [])
        if counting and isinstance(counting[0], int):
            found[document] = BY_HAND[rule](counting)
    return found


def tell(store: Store, events: list[Any]) -> None:
    for document, judge, said, adjudicates in events:
        graded = isinstance(said, int)
        if said == "undo":
            store.undo(judge)
        else:
            store.judge(Judgment(
                "q", document, said if graded else None, judge, JUDGES[judge],
                "graded" if graded else said, adjudicates and said != "later",
            ))  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(events=EVENTS, rule=st.sampled_from(MERGES))
def test_merging_is_what_one_would_do_by_hand(empty: Path, events: list[Any], rule: str) -> None:
    with Store(shutil.copy(empty, empty.with_name(f"{next(_names)}.db"))) as store:
        with store.writing():
            tell(store, events)
        views = ("current_judgment", "every_current_judgment")
        rows = [store.connection.execute(f"SELECT * FROM {one} ORDER BY id") for one in views]
        assert rows[0].fetchall() == rows[1].fetchall()
        expected = by_hand(events, rule)
        if expected:
            made = il.read_qrels(store, merge=rule)
            assert made.to_dict() == {"q": expected}
            assert made.merge in ("", rule)
        else:
            with pytest.raises(InputError, match="no judgments"):
                store.qrels(rule)


# What comes next


def test_judges_are_given_different_documents_for_a_while(store: Store, monkeypatch: Any) -> None:
    batch = pool(store, 3)
    assert [following(store, one) for one in ("ann", "bob", "cy", "dan")] == [
        "d0",
        "d1",
        "d2",
        None,
    ]
    assert following(store, "ann") == "d0"  # who asks again has not judged
    store.judge(Judgment("q1", "d0", None, "ann", status="later", batch=batch))
    task = store.next("ann")
    assert task is not None
    assert (task.document, task.put_off, task.query_text) == ("d0", True, "tuples")
    monkeypatch.setattr(turns, "CLAIMED", -1)
    store.next("cy")
    assert following(store, "dan") == "d2"  # whoever was given it has left


def test_a_judge_sees_each_document_once(store: Store) -> None:
    pool(store, 3)
    store.judge(Judgment("q1", "d0", 1, "ann"))
    store.judge(Judgment("q1", "d1", None, "bob", status="cannot tell"))
    assert [following(store, judge) for judge in ("ann", "bob", "cy")] == ["d2", None, None]
    assert following(store, "bob", judgments=2) == "d0"
    assert following(store, "ann", judgments=2) == "d1"
    assert following(store, "cy", judgments=2) == "d2"
    store.judge(Judgment("q1", "d2", 1, "m", kind="model"))  # which frees nobody from judging
    assert following(store, "dan", judgments=1) is None  # cy has it
    store.undo("ann")
    assert following(store, "bob", judgments=1) == "d0"


def test_the_newest_batch_comes_first(store: Store) -> None:
    first = pool(store, 2)
    store.add_batch(Batch("fusion", (Pooled("q2", "x", 5), Pooled("q2", "y", None))))
    assert following(store, "ann", batch=first) == "d0"
    for wrong in ({"judge": "human"}, {"judge": ""}, {"judge": "ann", "batch": 9}):
        with pytest.raises(UsageError):
            store.next(**wrong)
    assert following(store, "ann") == "x"
    store.judge(Judgment("q2", "x", 1, "ann"))
    assert following(store, "ann") == "d0"
    assert [batch.strategy for batch in store.batches()] == ["depth", "fusion"]
    assert store.batches()[1].pooled[0] == Pooled("q2", "x", 5)
    with pytest.raises(InputError, match="pooled twice"):
        store.add_batch(Batch("depth", (Pooled("q2", "x", 1), Pooled("q2", "x", 2))))


def test_strategies_that_learn_choose_again(store: Store) -> None:
    runs = {"one": {"q1": ["a", "b", "c"]}, "two": {"q1": ["x", "y", "z"]}}
    made = il.pool(None, runs, by="mtf", budget=4)
    batch = store.add_batch(made.batch)
    seen = []
    while task := store.next("ann"):
        seen.append(task.document)
        grade = 1 if task.document in "abc" else 0
        store.judge(Judgment("q1", task.document, grade, "ann", batch=batch))
    assert seen == ["a", "b", "c", "x"]  # it stays with the run that is relevant
    assert examine(store.path).is_sound
    assert len(made.batch.pooled) > len(seen)


def ahead(store: Store, judge: str, most: int, **asked: Any) -> list[str]:
    """Return the documents that a judge is given at once."""
    return [task.document for task in store.upcoming(judge, most, **asked)]


def test_a_judge_is_given_several_documents_ahead(store: Store, monkeypatch: Any) -> None:
    batch = pool(store, 8)
    assert ahead(store, "ann", 3) == ["d0", "d1", "d2"]
    assert ahead(store, "bob", 2) == ["d3", "d4"]
    assert ahead(store, "ann", 4) == ["d0", "d1", "d2", "d5"]  # what he holds comes first
    store.judge(Judgment("q1", "d1", 1, "ann", batch=batch))
    store.judge(Judgment("q1", "d0", None, "ann", status="later", batch=batch))
    assert ahead(store, "ann", 2, without=[("q1", "d2")]) == ["d5", "d6"]
    assert ahead(store, "bob", 9) == ["d3", "d4", "d0", "d7"]
    assert ahead(store, "ann", 9) == ["d2", "d5", "d6"]  # bob has what she put off
    assert ahead(store, "ann", 9, judgments=2) == ["d2", "d5", "d6", "d3", "d4", "d7", "d0"]
    assert store.upcoming("ann", 9, judgments=2)[-1].put_off
    assert ahead(store, "cy", 9) == []
    for wrong in ({"judge": "human"}, {"judge": ""}, {"judge": "ann", "batch": 9}):
        with pytest.raises(UsageError):
            store.upcoming(count=1, **wrong)
    monkeypatch.setattr(turns, "CLAIMED", -1)
    store.upcoming("ann", 9, judgments=2)
    store.upcoming("bob", 9)
    assert ahead(store, "cy", 9) == ["d0", "d2", "d3", "d4", "d5", "d6", "d7"]  # they have left


def test_what_a_judge_has_at_hand_stays_his(store: Store, monkeypatch: Any) -> None:
    pool(store, 4)
    assert ahead(store, "ann", 2) == ["d0", "d1"]
    until = "SELECT document, until FROM claim ORDER BY document"
    before = dict(_asked(store, until))
    monkeypatch.setattr(turns, "CLAIMED", 900)
    assert ahead(store, "ann", 1, without=[("q1", "d0"), ("q1", "d9")]) == ["d1"]
    after = dict(_asked(store, until))
    assert {*after} == {"d0", "d1"}
    assert all(after[one] > before[one] + 200 for one in after)
    assert following(store, "ann") == "d0"  # next gives one, and lets go of the others
    assert ahead(store, "bob", 9) == ["d1", "d2", "d3"]


def test_no_document_is_given_to_more_people_than_wanted(store: Store) -> None:
    pool(store, 60)
    given: dict[str, int] = {}
    for i in range(50):
        for document in ahead(store, f"judge {i}", 5, judgments=2):
            given[document] = given.get(document, 0) + 1
    assert (len(given), {*given.values()}) == (60, {2})


def test_strategies_that_learn_choose_again_for_each_ahead(store: Store) -> None:
    runs = {"one": {"q1": ["a", "b", "c", "d"]}, "two": {"q1": ["x", "y", "z"]}}
    batch = store.add_batch(il.pool(None, runs, by="mtf", budget=5).batch)
    assert len({*ahead(store, "ann", 2), *ahead(store, "bob", 1)}) == 3
    with store.writing() as connection:
        connection.execute("DELETE FROM claim")
    seen = []
    while some := store.upcoming("ann", 2):
        seen.append(some[0].document)
        grade = 1 if some[0].document in "abcd" else 0
        store.judge(Judgment("q1", some[0].document, grade, "ann", batch=batch))
    assert len(seen) == len({*seen}) == 5
    assert {*"abcd"} <= {*seen}
    assert examine(store.path).is_sound


def test_what_was_sent_is_undone_once(store: Store) -> None:
    batch = pool(store, 2)
    store.judge(Judgment("q1", "d0", 2, "ann", token="one", batch=batch))
    store.judge(Judgment("q1", "d1", 3, "ann", token="two", batch=batch))
    for _ in range(2):
        undone = store.undo_sent("ann", "one")
        assert undone is not None
        assert (undone.document, undone.grade) == ("d0", 2)
    assert store.qrels().to_dict() == {"q1": {"d1": 3}}
    assert [row.token for row in store.judgments()] == ["one", "two", "undo one"]
    assert following(store, "bob") is None  # it is ann's again
    assert following(store, "ann") == "d0"
    assert store.undo_sent("ann", "three") is None
    with pytest.raises(UsageError, match="another judge"):
        store.undo_sent("bob", "two")
    store.judge(Judgment("q1", "d0", 2, "ann", token="one", batch=batch))  # sent again, too late
    assert store.qrels().to_dict() == {"q1": {"d1": 3}}
