"""The pages about judges show what the library finds, and let an editor decide."""

from __future__ import annotations

import json
import shutil
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

import idealist as il
from idealist.judging.disputes import Disputes
from idealist.judging.store_records import Judgment
from idealist.judging.store_status import StoreStatus
from web_client import EXAMPLES, Client
from web_stores import EVE, NOTE, filled_folder, shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a store."""
    return filled_folder(tmp_path)


def plain(result: il.Result) -> object:
    return json.loads(result.to_json())


def test_progress_is_that_of_the_store(folder: Path) -> None:
    data = Client.of(folder).get("/judges.json").json()
    with il.Store(folder / "labels.db") as store:
        assert data["status"] == plain(StoreStatus.of(store))
        assert data["disputes"] == len(Disputes.of(store).waiting) > 0
    assert data["status"]["preferences"] == {"ann": {"preferred": 1, "tied": 0}}


def test_coverage_is_that_of_the_audit(folder: Path) -> None:
    found = Client.of(folder).get("/judges.json").json()["runs"]
    audit = il.audit(
        str(folder / "labels.db"), [str(folder / f"{x}.run") for x in ("bm25", "reranked")]
    )
    assert audit.coverage is not None
    assert found == json.loads(audit.to_json())["coverage"]["runs"]


def test_coverage_follows_what_is_judged(folder: Path) -> None:
    client = Client.of(folder)
    before = shown(client, "/judges")
    holes = client.get("/judges.json").json()["runs"][0]["holes"]["100"]
    judged = il.read_qrels(folder / "qrels.txt").to_dict()
    rows = (line.split() for line in (folder / "bm25.run").read_text().splitlines())
    query, new = next((row[0], row[2]) for row in rows if row[2] not in judged[row[0]])
    with il.Store(folder / "labels.db") as store:
        store.judge(Judgment(query, new, 0, "ann"))
    assert shown(client, "/judges") != before
    after = client.get("/judges.json").json()["runs"][0]["holes"]["100"]
    assert after == holes - 1


def test_agreement_is_that_of_the_library(folder: Path) -> None:
    path = folder / "labels.db"
    data = (
        Client.of(folder).get(f"/judges/agreement.json?{urlencode({'a': 'bob', 'b': EVE})}").json()
    )
    names = ["ann", "bob", EVE]
    wanted = il.agreement(
        *(f"{path}#{x}" for x in names[:2]), others=[f"{path}#{EVE}"], names=names
    )
    assert data["judges"] == plain(wanted)
    assert data["two"] == plain(il.agreement(f"{path}#bob", f"{path}#{EVE}", names=["bob", EVE]))
    assert data["model"] is None
    assert data["corrected"] is None


def test_a_model_is_held_to_people(folder: Path) -> None:
    path = folder / "labels.db"
    with il.Store(path) as store:
        people = [one for one in store.current() if one.judge == "ann"]
        store.judge_all(
            Judgment(one.query, one.document, 0 if i % 3 else one.grade, "m", kind="model")
            for i, one in enumerate(people)
        )
    client = Client.of(folder)
    data = client.get("/judges/agreement.json?m=RR&m=AP").json()
    runs = {name: folder / f"{name}.run" for name in ("bm25", "reranked")}
    wanted = il.agreement(
        f"{path}#human", f"{path}#model", [il.read_run(one, name=name) for name, one in runs.items()],
        ["RR", "AP"], names=["people", "the model"],
    )  # fmt: skip
    assert data["model"] == plain(wanted)
    page = shown(client, "/judges/agreement?m=RR&m=AP")
    assert data["corrected"] is None
    with pytest.raises(il.UsageError) as why:
        il.corrected(f"{path}#human", f"{path}#model", folder / "bm25.run")
    assert why.value.message[1:30] in page


def test_what_is_hostile_is_only_text(folder: Path) -> None:
    client = Client.of(folder)
    for address in ("/judges", "/judges/agreement", "/judges/disputes", "/judges/model"):
        page = shown(client, address)
        assert not [one for one in (EVE, NOTE, "<i>") if one in page], address
    assert "&lt;img src=x" in shown(client, "/judges/disputes")


def test_a_decision_ends_a_dispute(folder: Path) -> None:
    client = Client.of(folder, name="carl")
    before = client.get("/judges/disputes.json").json()["disputes"]
    one = before[0]
    asked = {"query": one["query"], "document": one["document"], "grade": "1", "note": "so be it"}
    answer = client.post("/judges/adjudicate?page=1", asked, form=True)
    assert (answer.status, answer.headers["location"]) == (303, "/judges/disputes")
    after = client.get("/judges/disputes.json").json()
    assert after["disputes"] == before[1:]
    assert after["adjudicated"] == 1
    with il.Store(folder / "labels.db") as store:
        last = [*store.current()][-1]
    assert (last.judge, last.grade, last.adjudicates, last.note) == ("carl", 1, True, "so be it")
    again = client.post("/judges/adjudicate", asked, form=True)
    assert again.status == 400
    assert "does not wait" in again.text
    assert client.post("/judges/undo", form=True).status == 303
    assert client.get("/judges/disputes.json").json()["disputes"] == before
    assert client.post("/judges/undo", form=True).status == 400


def test_each_dispute_has_an_address(folder: Path) -> None:
    client = Client.of(folder)
    waiting = client.get("/judges/disputes.json").json()["disputes"]
    for at in (1, 2, len(waiting), len(waiting) + 9):
        one = waiting[min(at, len(waiting)) - 1]
        page = shown(client, f"/judges/disputes?page={at}")
        assert f'name="document" value="{one["document"]}"' in page


@pytest.mark.parametrize(
    "sent",
    [{}, {"grade": "17"}, {"grade": "nan"}, {"grade": "1e999"}, {"grade": "<b>"}, {"grade": "1"},
     {"grade": "1", "query": "q1", "document": "\ud800"}, {"grade": ["1"]},
     {"grade": "1", "note": "x" * 9000}],
)  # fmt: skip
def test_what_is_no_decision_is_refused(folder: Path, sent: dict[str, object]) -> None:
    answer = Client.of(folder).post("/judges/adjudicate", sent)
    assert answer.status == 400
    assert answer.json()["error"]


@pytest.mark.parametrize(
    "address",
    ["/judges/agreement?a=nobody&b=bob", "/judges?pin=nope&pin=no", "/judges?m=nDGC@10",
     "/judges/disputes?page=x", "/judges?set=collapse%3D/etc/passwd", "/judges?qrels=none",
     "/judges/disputes?qrels=qrels.txt", "/judges/agreement?qrels=qrels.txt"],
)  # fmt: skip
def test_bad_addresses_are_refused_in_words(folder: Path, address: str) -> None:
    answer = Client.of(folder).get(address)
    assert answer.status == 400
    assert "lead loss" in answer.text


def test_a_judge_agrees_with_himself(folder: Path) -> None:
    assert "oth judges are ann" in shown(Client.of(folder), "/judges/agreement?a=ann&b=ann")


def test_readers_cannot_decide(folder: Path) -> None:
    client = Client.of(folder, role="reader")
    for address in ("/judges/adjudicate", "/judges/undo", "/judges/model/start"):
        assert client.post(address, {"grade": "1"}).status == 403
    page = shown(client, "/judges/disputes")
    assert "What the judges said" in page
    assert "Your decision" not in page
    judge = Client.of(folder, role="judge")
    assert judge.get("/judges").status == judge.get("/judges/disputes.json").status == 403


def test_without_a_store_it_says_what_to_do(tmp_path: Path) -> None:
    assert "Make a store" in shown(Client.of(tmp_path), "/judges")
    for name in ("qrels.txt", "bm25.run"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    client = Client.of(tmp_path)
    assert "Make a store of these judgments" in shown(client, "/judges")
    assert client.get("/judges.json").json() == {"store": None}
    assert "/files/store" not in shown(Client.of(tmp_path, role="reader"), "/judges")
    assert client.post("/files/store", form=True).status == 303
    assert "pairs judged" in shown(client, "/judges")
    assert "Only" in shown(client, "/judges/agreement")
    assert "nothing to decide" in shown(client, "/judges/disputes")


def test_numbers_are_corrected_by_people(tmp_path: Path) -> None:
    truth = {f"q{i}": {"a": 1, "b": 0, "c": i % 2} for i in range(60)}
    for name, order in (("old", "bac"), ("new", "abc")):
        rows = (f"{q} Q0 {d} {r} {9 - r} t\n" for q in truth for r, d in enumerate(order, 1))
        (tmp_path / f"{name}.run").write_text("".join(rows))
    path = tmp_path / "labels.db"
    with il.Store.create(path, scale=1) as store:
        pairs = [(q, d, g) for q, own in truth.items() for d, g in own.items()]
        store.judge_all(Judgment(q, d, g, "ann") for q, d, g in pairs[:90])
        store.judge_all(
            Judgment(q, d, g if i % 5 else 1, "m", kind="model")
            for i, (q, d, g) in enumerate(pairs)
        )
    client = Client.of(tmp_path)
    found = client.get("/judges/agreement.json?m=RR&baseline=old").json()["corrected"]
    runs = {name: il.read_run(tmp_path / f"{name}.run") for name in ("old", "new")}
    wanted = il.corrected(f"{path}#human", f"{path}#model", runs, ["RR"], baseline="old")
    assert found == plain(wanted)
    assert wanted.summary in unescape(shown(client, "/judges/agreement?m=RR&baseline=old"))
