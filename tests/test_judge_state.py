"""`judge doctor` and `judge status`: whether a store is sound, and how far judging is."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import idealist as il
from idealist.judging.store_health import examine
from idealist.judging.store_records import Batch, Call, Judgment, Pooled
from judged_stores import Desk


@pytest.fixture
def desk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Desk:
    return Desk(tmp_path, capsys, monkeypatch)


def test_a_new_store_is_sound(desk: Desk) -> None:
    found = json.loads(desk.run("doctor", "-f", "json"))
    assert found["sound"]
    assert {one["check"]: one["state"] for one in found["checks"]}["integrity"] == "ok"


def test_a_damaged_store_is_not_sound(desk: Desk) -> None:
    desk.store.close()
    with desk.store.path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 4096)
    with pytest.raises(SystemExit) as left:
        desk.run("doctor")
    assert left.value.code == 1
    assert "is not sound: integrity" in " ".join(desk.capsys.readouterr().out.split())


def test_what_is_no_store_is_refused(desk: Desk, tmp_path: Path) -> None:
    assert "there is no such store" in desk.failed("doctor", tmp_path / "none.db")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    assert "is not a store" in desk.failed("doctor", tmp_path / "qrels.txt")


def test_status_says_what_is_left_and_who_did_what(desk: Desk) -> None:
    judge = desk.store.judge
    judge(Judgment("q1", "d1", 2, "ann", seconds=4))
    judge(Judgment("q1", "d1", 1, "ann", seconds=2))  # the later one counts
    judge(Judgment("q1", "d2", 0, "ann", seconds=8))
    judge(Judgment("q1", "d1", 2, "bob"))
    judge(Judgment("q1", "d2", None, "bob", status="cannot tell"))
    judge(Judgment("q2", "d3", None, "bob", status="later"))
    judge(Judgment("q2", "d9", 1, "bob"))
    desk.store.undo("bob")
    judge(Judgment("q1", "d1", 2, "cy", adjudicates=True))
    desk.store.add_prompt("p", "graded", "1", "…")
    for state in ("answered", "failed"):
        desk.store.record(Call("r", "gpt", "p", {}, state, tokens_in=9, tokens_out=1, cost=0.25))
    judge(Judgment("q2", "d3", 1, "gpt/graded@1", kind="model"))
    found = json.loads(desk.run("status", "-f", "json"))
    assert (found["pairs"], found["left"], found["undone"]) == (3, 1, 1)
    assert found["kinds"] == {"human": 2, "model": 1}
    ann, bob, cy = (
        next(j for j in found["judges"] if j["judge"] == n) for n in ("ann", "bob", "cy")
    )
    assert (ann["graded"], ann["seconds"]) == (2, 5)  # the median of 2 and 8
    assert (bob["graded"], bob["cannot_tell"], bob["later"], bob["seconds"]) == (1, 1, 1, None)
    assert cy["adjudicated"] == 1
    assert found["agreement"] == {"pairs": 1, "agreed": 0, "alpha": 0}
    assert found["models"][0]["cost"] == 0.5
    assert found["coverage"]["without_text"] == 1  # d9, which was judged and taken back
    out = desk.run("status")
    assert out.startswith("3 pairs are judged; 1 of 3 in batch 1 is left to people; a model ")
    assert found["batches"][0]["by_models"] == 1
    assert "several judges: median" in out


def test_status_of_an_empty_store(tmp_path: Path, desk: Desk) -> None:
    il.Store.create(tmp_path / "new.db").close()
    out, _ = desk.said("status", tmp_path / "new.db")
    assert (
        out
        == "0 pairs are judged; nothing is pooled.\n\nScale: any number; several judges: median.\n"
    )


def test_what_is_current_is_found_alike_at_once_and_one_by_one(desk: Desk) -> None:
    source = random.Random(0)
    for _ in range(60):
        judge = source.choice("ab")
        if source.random() < 0.3:
            desk.store.undo(judge)
        else:
            one = Judgment("q1", source.choice(["d1", "d2"]), source.choice([0, 1]), judge)
            desk.store.judge(one)
        with desk.store.reading() as connection:
            views = ("current_judgment", "every_current_judgment")
            found = [connection.execute(f"SELECT * FROM {v} ORDER BY id").fetchall() for v in views]
        assert found[0] == found[1]


def test_the_doctor_finds_what_does_not_fit(desk: Desk) -> None:
    assert examine(desk.store.path).is_sound
    with desk.store.writing() as connection:
        connection.execute("DROP TRIGGER turn_is_over")
    desk.store.judge(Judgment("q1", "d1", 2, "ann"))
    found = {one.name: one for one in examine(desk.store.path).checks}
    assert found["turns"].state == "wrong"
    assert "the judges of 1 pair," in found["turns"].says
    desk.store.add_batch(Batch("depth", (Pooled("q1", "d77", 1),)))
    found = {one.name: one for one in examine(desk.store.path).checks}
    assert found["texts"].state == "note"
    assert "d77" in found["texts"].says


def test_a_new_decisive_batch_closes_the_one_before(desk: Desk, tmp_path: Path) -> None:
    for name, documents in {"a": ("d1", "e1"), "b": ("d2", "e2")}.items():
        rows = (f"q{i} Q0 {one} 1 1 {name}\n" for i, one in enumerate(documents, 1))
        (tmp_path / f"{name}.run").write_text("".join(rows))
    store = il.Store.create(tmp_path / "decisive.db", scale=1)
    runs = (store.path, tmp_path / "a.run", tmp_path / "b.run")
    chosen = ("pool", *runs, "--by", "decisive", "-m", "P@1")

    def progress() -> list[tuple[int, int, int, bool]]:
        found = json.loads(desk.said("status", store.path, "-f", "json")[0])["batches"]
        return [(one["judged"], one["untold"], one["left"], one["closed"]) for one in found]

    desk.said(*chosen)
    store.judge(Judgment("q1", "d1", None, "ann", status="cannot tell"))
    assert progress() == [(0, 1, 3, False)]
    assert "left out, as people could not tell" in " ".join(desk.said(*chosen)[0].split())
    assert progress() == [(0, 1, 0, True), (0, 0, 3, False)]
    for query, document, grade in (("q1", "d1", 1), ("q1", "d2", 0), ("q2", "e2", 0)):
        store.judge(Judgment(query, document, grade, "ann"))
    assert "closes what was chosen before" in desk.said(*chosen)[1]
    assert store.next("ann") is None
    assert store.next("ann", batch=1) is not None  # who asks for it gets it
    assert "nothing was saved" in desk.said(*chosen)[1]
    assert [left for *_, left, closed in progress()] == [0, 0, 0]
