"""The page Judge: what is said is in the store, once; it is blind; and odd requests do no harm."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from idealist.judging.store import Store
from idealist.judging.store_records import Batch, Judgment, Pooled, Preference
from idealist.judging.work_ahead import AHEAD
from idealist.web.people import Person
from web_client import EXAMPLES, Client

DOCUMENTS, SCALE = 30, {0: "bad", 1: "fair", 2: "good", 3: "best"}


def made(path: Path, people: int = 1, documents: int = DOCUMENTS) -> Path:
    """Make a store of two queries whose documents are to be judged."""
    texts = {
        f"d{i}": {"title": f"Title {i}", "text": f"tuples <b>{i}</b>"} for i in range(documents)
    }
    queries = {"q0": "what are tuples", "q1": "undo a commit"}
    with Store.create(path, scale=SCALE, queries=queries, docs=texts, guidelines="Read.") as store:
        pooled = (Pooled(f"q{i % 2}", f"d{i}", i, ranks=(i + 1, 7)) for i in range(documents))
        store.add_batch(Batch("depth", tuple(pooled), {"people": people, "runs": {"secret": "x"}}))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made(tmp_path / "labels.db")
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    yield (found := Client.of(folder))
    found.bench.workspace.close()


def tasks(client: Client, way: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/judge.json?way={way}").json()["tasks"]
    return found


def said(task: dict[str, Any], token: str, **more: Any) -> dict[str, Any]:
    names = ("query", "document", "batch", "seen")
    return {**{name: task[name] for name in names}, "token": token, "seconds": 1.5, **more}


def rows(client: Client) -> list[Judgment]:
    with Store(client.bench.workspace.source.path / "labels.db") as store:
        return list(store.judgments())


def test_grades_are_in_the_store_as_they_were_said(client: Client) -> None:
    wanted = []
    for i, task in enumerate(tasks(client)[:6]):
        spoken: list[dict[str, Any]] = [{"status": "later"}, {"status": "cannot tell", "note": "?"}]
        sent = said(task, f"t{i}", **(spoken[i] if i < 2 else {"grade": i % 4, "note": "ünï"}))
        answer = client.post("/judge/say", {"said": [sent], "have": []}).json()
        assert answer["said"] == [{"token": f"t{i}", "kept": True}]
        wanted.append((task["query"], task["document"], sent.get("grade"), sent.get("note", "")))
    found = rows(client)
    assert [(one.query, one.document, one.grade, one.note) for one in found] == wanted
    assert {one.judge for one in found} == {"ann"}
    assert {one.batch for one in found} == {1}
    assert all(one.seen and one.seconds == 1.5 for one in found)
    assert answer["progress"]["judged"] == answer["progress"]["today"] == 5
    assert answer["progress"]["left"] == DOCUMENTS - 5
    assert answer["progress"]["seconds"] == 1.5


def test_an_offline_batch_is_kept_once_and_in_order(client: Client) -> None:
    some = tasks(client)
    assert len(some) == AHEAD == 20
    sent = [said(one, f"t{i}", grade=i % 4) for i, one in enumerate(some)]
    for _ in range(3):
        answer = client.post("/judge/say", {"said": sent, "have": []}).json()
        assert [one["token"] for one in answer["said"]] == [f"t{i}" for i in range(20)]
    assert [one.grade for one in rows(client)] == [i % 4 for i in range(20)]
    assert len(answer["tasks"]) == DOCUMENTS - 20
    assert {one["document"] for one in answer["tasks"]}.isdisjoint(one["document"] for one in some)


def test_the_buffer_is_filled_and_what_is_at_hand_stays(client: Client) -> None:
    some = tasks(client)
    have = [[one["query"], one["document"]] for one in some[1:]]
    answer = client.post("/judge/say", {"said": [said(some[0], "t", grade=1)], "have": have}).json()
    assert len(answer["tasks"]) == 1
    assert [*map(tuple, answer["mine"])] == [
        *map(tuple, have), (answer["tasks"][0]["query"], answer["tasks"][0]["document"]),
    ]  # fmt: skip
    assert "<mark>tuples</mark> &lt;b&gt;" in some[0].get("html", answer["tasks"][0]["html"])
    assert [one["document"] for one in tasks(client)][: len(have)] == [one[1] for one in have]


def test_undo_is_of_one_judgment_and_counts_once(client: Client) -> None:
    some = tasks(client)
    sent = [said(one, f"t{i}", grade=2, note=f"n{i}") for i, one in enumerate(some[:3])]
    undo = {"token": "u", "undo": "t1"}
    for _ in range(2):
        answer = client.post("/judge/say", {"said": [*sent, undo], "have": []}).json()
        assert [one["kept"] for one in answer["said"]] == [True] * 4
        assert answer["said"][3]["note"] == "n1"
        assert [one["document"] for one in answer["back"]] == [some[1]["document"]]
    found = rows(client)
    assert [one.status for one in found] == ["graded"] * 3 + ["undone"]
    assert found[3].undoes == found[1].id
    assert some[1]["document"] in [one["document"] for one in tasks(client)]
    never = {"token": "v", "undo": "never sent"}
    assert client.post("/judge/say", {"said": [never]}).json()["said"][0]["kept"]
    assert client.get("/judge").text.count("t2") >= 1  # can be taken back after a reload


def test_nobody_undoes_or_repeats_what_another_said(folder: Path, client: Client) -> None:
    client.post("/judge/say", {"said": [said(tasks(client)[0], "t", grade=2)]})
    client.known(Person("bob", "judge"))
    for wrong in ({"token": "u", "undo": "t"}, said(tasks(client)[0], "t", grade=0)):
        (answer,) = client.post("/judge/say", {"said": [wrong]}).json()["said"]
        assert not answer["kept"]
        assert "another judge" in answer["words"]
    assert [(one.judge, one.status) for one in rows(client)] == [("ann", "graded")]


def test_judges_have_documents_of_their_own(client: Client) -> None:
    first = {one["document"] for one in tasks(client)}
    client.known(Person("bob", "judge"))
    second = {one["document"] for one in tasks(client)}
    assert second
    assert first.isdisjoint(second)
    assert {one["document"] for one in tasks(client)} == second


def test_as_many_people_judge_as_are_wanted(tmp_path: Path) -> None:
    made(tmp_path / "labels.db", people=2, documents=12)
    client = Client.of(tmp_path)
    judged: Counter[str] = Counter()
    for n in range(40):
        client.known(Person(f"judge {n % 5}", "judge"))
        for i, one in enumerate(tasks(client)[:2]):
            client.post("/judge/say", {"said": [said(one, f"{n}/{i}", grade=1)]})
            judged[one["document"]] += 1
    assert {*judged.values()} == {2}
    assert len(judged) == 12
    assert client.get("/judge.json").json()["progress"] | {"seconds": 0, "today": 0} == {
        "judged": 12, "of": 12, "left": 0, "today": 0, "seconds": 0,
    }  # fmt: skip


def test_what_others_hold_is_said(tmp_path: Path) -> None:
    made(tmp_path / "labels.db", documents=2)
    client = Client.of(tmp_path)
    assert len(tasks(client)) == 2
    client.known(Person("bob", "judge"))
    data = client.get("/judge.json").json()
    assert data["tasks"] == []
    assert len(data["held"]) == 1, "until when, but not by whom"
    assert client.get("/judge").status == 200


def test_it_is_blind(folder: Path, client: Client) -> None:
    with Store(folder / "labels.db") as store:
        store.judge_all(Judgment(f"q{i % 2}", f"d{i}", 3, "opinion", note="mine") for i in range(9))
        store.judge_all(
            Judgment(f"q{i % 2}", f"d{i}", 0, "oracle/p@1", "model") for i in range(DOCUMENTS)
        )
    (task, *_) = tasks(client)
    answer = client.post("/judge/say", {"said": [said(task, "t", grade=1)]})
    for words in ("", ".json", "?way=pairs", ".json?way=pairs"):
        told = client.get(f"/judge{words}").text + answer.text
        for word in ("secret", "opinion", "oracle", '"ranks"', '"rank"', '"inclusion"', '"score"'):
            assert word not in told, (words, word)


ODD: list[Any] = [
    None, 3, "x", {}, [], [None], [3], [[]], [{}], [{"token": ""}], [{"token": 3}], [{"token": None}],
    [{"token": "x" * 101}], [{"token": "\ud800"}], [{"token": "t"}] * 201, True,
]  # fmt: skip


@pytest.mark.parametrize("sent", ODD, ids=lambda one: repr(one)[:30])
def test_what_has_no_token_is_refused_as_a_whole(client: Client, sent: Any) -> None:
    answer = client.post("/judge/say", {"said": sent})
    assert answer.status == (200 if sent in (None, []) else 400)
    assert answer.status == 200 or answer.json()["error"]
    assert rows(client) == []


WRONG: list[dict[str, Any]] = [
    {"grade": 4}, {"grade": "2"}, {"grade": True}, {"grade": [2]}, {"grade": 1.5}, {"grade": 10**400},
    {"grade": {}}, {}, {"grade": None}, {"status": "graded"}, {"status": "done"}, {"status": 3},
    {"grade": 1, "status": "later"}, {"grade": 1, "seconds": -1}, {"grade": 1, "seconds": "1"},
    {"grade": 1, "note": 3}, {"grade": 1, "note": "x" * 5001},
    {"grade": 1, "query": "q9"}, {"grade": 1, "query": None}, {"grade": 1, "document": "d99"},
    {"grade": 1, "document": ""}, {"grade": 1, "document": 3}, {"grade": 1, "batch": "1"},
    {"grade": 1, "batch": 2**70}, {"grade": 1, "batch": True}, {"grade": 1, "seen": "x"},
    {"grade": 1, "seen": 4}, {"undo": 3}, {"better": "d0"}, {"better": "d0", "worse": "d0"},
    {"better": "d0", "worse": "d2", "tied": "no"}, {"better": "d0", "worse": "d99"},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda one: repr(one)[:40])
def test_one_fault_refuses_that_alone(client: Client, wrong: dict[str, Any]) -> None:
    first, second, third = tasks(client)[:3]
    sent = [said(first, "a", grade=1), {**said(second, "b"), **wrong}, said(third, "c", grade=2)]
    answer = client.post("/judge/say", {"said": sent}).json()["said"]
    assert [one["kept"] for one in answer] == [True, False, True]
    assert answer[1]["words"]
    assert answer[1]["hint"]
    assert [one.grade for one in rows(client)] == [1, 2]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"NaN", b'{"said": NaN}', b"\xff", b"[" * 9999,
                                  b'{"said": [{"token": "t", "grade": NaN}]}',
                                  b'{"said": [{"token": "t", "grade": 1e999}], "have": 3}',
                                  b'{"have": [["q0"]]}', b'{"have": [[1, 2]]}'])  # fmt: skip
def test_bad_json_is_never_a_defect(client: Client, body: bytes) -> None:
    headers = {"sec-fetch-site": "same-origin", "content-type": "application/json"}
    answer = client.ask("POST", "/judge/say", body, headers)
    assert answer.status in (200, 400)
    assert rows(client) == []


def test_an_address_names_a_batch(client: Client) -> None:
    assert len(client.get("/judge.json?batch=1").json()["tasks"]) == AHEAD
    assert client.get("/judge?batch=9").status == 400
    assert client.get("/judge.csv").status == 404


def test_preferences_are_kept_and_come_once(folder: Path, client: Client) -> None:
    first = client.get("/judge.json?way=pairs").json()
    assert first["progress"]["of"] == DOCUMENTS - 2
    duel = first["tasks"][0]
    better, worse = (side["document"] for side in duel["sides"])
    sent = {"token": "p", "query": duel["query"], "better": better, "worse": worse, "tied": False}
    for _ in range(2):
        answer = client.post("/judge/say?way=pairs", {"said": [{**sent, "seconds": 2}]}).json()
        assert answer["said"] == [{"token": "p", "kept": True}]
    assert answer["progress"]["left"] == DOCUMENTS - 3
    assert answer["tasks"][0]["sides"] != duel["sides"]
    with Store(folder / "labels.db") as store:
        (kept,) = store.preferences()
    assert (kept.better, kept.worse, kept.judge, kept.seconds) == (better, worse, "ann", 2)


def test_which_document_stands_first_is_drawn_and_stays(client: Client) -> None:
    first = tasks(client, "pairs")
    assert tasks(client, "pairs") == first
    orders = [[side["document"] for side in one["sides"]] for one in first]
    turned = [[int(name[1:]) for name in order] for order in orders]
    assert len({one < other for one, other in turned}) == 2
    client.known(Person("bob", "judge"))
    assert [[side["document"] for side in one["sides"]] for one in tasks(client, "pairs")] != orders


# Choosing


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A folder with judgments, runs and texts, and no store."""
    for name in ("qrels.txt", "bm25.run", "reranked.run", "queries.tsv"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    run = il.read_run(tmp_path / "bm25.run").rows()
    lines = (
        json.dumps({"id": one, "text": f"text of {one}"}) for one in dict.fromkeys(run.documents)
    )
    (tmp_path / "documents.jsonl").write_text("\n".join(lines))
    return tmp_path


def choose(client: Client, **wish: Any) -> Any:
    return client.post("/judge/pool", {"depth": "50", **wish}, form=True)


def test_a_store_is_made_where_there_is_none(examples: Path) -> None:
    client = Client.of(examples)
    page = client.get("/judge").text
    assert "It will be made in this folder" in page
    answer = choose(client, people="2")
    assert (answer.status, answer.headers["location"]) == (303, "/judge?qrels=judgments.db")
    with Store(examples / "judgments.db") as store:
        (batch,) = store.batches()
        assert store.qrels().to_dict() == il.read_qrels(examples / "qrels.txt").to_dict()
        assert store.queries.text
        assert all(store.text(one.document) for one in batch.pooled)
    assert batch.parameters["people"] == 2
    queries = [one.query for one in batch.pooled]
    assert queries == sorted(queries, key=queries.index)  # kept together
    assert tasks(client)[0]["text"].startswith("text of ")


def test_a_random_order_tells_no_rank_and_chooses_the_same(examples: Path) -> None:
    client = Client.of(examples)
    choose(client)
    with Store(examples / "judgments.db") as store:
        (batch,) = store.batches()
    runs = [str(examples / name) for name in ("bm25.run", "reranked.run")]
    plain = il.pool(str(examples / "qrels.txt"), runs, depth=50).batch
    pairs = [{(one.query, one.document) for one in own.pooled} for own in (batch, plain)]
    assert pairs[0] == pairs[1]
    assert [one.place for one in batch.pooled] == [*range(1, len(pairs[0]) + 1)]
    assert choose(client, order="chosen").status == 409  # nothing is left
    assert "nothing new is to be judged" in choose(client).text.lower()


@pytest.mark.parametrize(
    "wish", [{"strategy": "best"}, {"depth": "x"}, {"depth": "0"}, {"budget": "-1"}, {"people": "99"},
             {"order": "up"}, {"run-1": "none"}, {"depth": "9" * 30}, {"strategy": "sampled"}]
)  # fmt: skip
def test_odd_wishes_are_refused(examples: Path, wish: dict[str, str]) -> None:
    answer = choose(Client.of(examples), **wish)
    assert answer.status == 400
    assert "That did not work" in answer.text


@pytest.mark.parametrize("strategy", ["depth", "fusion", "mtf", "maxmean", "sampled", "decisive"])
def test_every_strategy_can_be_chosen(examples: Path, strategy: str) -> None:
    client = Client.of(examples)
    answer = choose(client, strategy=strategy, budget="12")
    assert answer.status == 303 or (strategy == "decisive" and answer.status == 409), answer.text
    with Store(examples / "judgments.db") as store:
        assert all(one.strategy == strategy for one in store.batches())


def test_rules_are_set(examples: Path) -> None:
    client = Client.of(examples)
    scale = "0 off topic\n1 = related\n2: answers\n3 all of it\n4"
    answer = client.post("/judge/guidelines", {"scale": scale, "guidelines": "A\r\nB"}, form=True)
    assert answer.status == 303
    with Store(examples / "judgments.db") as store:
        assert store.guidelines == "A\nB"
        assert store.scale is not None
        assert store.scale.labels == ("off topic", "related", "answers", "all of it", "")
    for wrong in ("zero", "0 a\n0 b", "0 a\nb", "1"):
        assert client.post("/judge/guidelines", {"scale": wrong}, form=True).status == 400


def test_texts_are_added_later(folder: Path) -> None:
    with Store(folder / "labels.db") as store:
        store.add_batch(Batch("depth", (Pooled("q0", "new", 1),)))
    lines = json.dumps({"id": "new", "text": "brand new"})
    (folder / "documents.jsonl").write_text(f"{lines}\n")
    client = Client.of(folder)
    assert tasks(client)[0]["text"] is None
    assert "1 document has no text" in client.get("/judge").text
    assert client.post("/judge/texts", {}, form=True).status == 303
    assert tasks(client)[0]["text"] == "brand new"
    assert client.post("/judge/texts", {}, form=True).status == 400


def test_judges_judge_and_editors_choose(examples: Path) -> None:
    client = Client.of(examples, "judge", "bob")
    page = client.get("/judge").text
    assert "Ask an editor" in page
    assert "bm25" not in page
    for path in ("/judge/pool", "/judge/guidelines", "/judge/texts"):
        assert client.post(path, {}).status == 403
    assert client.post("/judge/say", {"said": []}).status == 400  # there is no store
    client.known(Person("eve", "reader"))
    assert client.get("/judge").status == client.post("/judge/say", {}).status == 403


def test_names_that_cannot_judge_are_told(folder: Path) -> None:
    answer = Client.of(folder, name="human").get("/judge")
    assert answer.status == 400
    assert "as a kind of judges is" in answer.text


def test_hostile_texts_are_only_texts(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    with Store.create(
        tmp_path / "labels.db", scale={0: evil, 1: "good"}, queries={evil: evil},
        docs={evil: {"title": evil, "text": evil}, "d": "d"}, guidelines=evil,
    ) as store:  # fmt: skip
        store.add_batch(Batch("depth", (Pooled(evil, evil, 1), Pooled(evil, "d", 2))))
        store.prefer(Preference(evil, evil, "other", evil))
    client = Client.of(tmp_path)
    for address in ("/judge", "/judge?way=pairs", "/judge?way=choose"):
        page = client.get(address).text
        assert "<script>alert" not in page
        assert "<img src=x" not in page
    (answer,) = client.post("/judge/say", {"said": [said(tasks(client)[0], "t", grade=0)]}).json()[
        "said"
    ]
    assert answer["kept"]


def test_grades_go_to_the_store_they_were_shown_from(examples: Path) -> None:
    """Another store that appears in the folder gets nothing of what is said."""
    client = Client.of(examples)
    choose(client)
    found = re.search(
        r'id="judging-data"[^>]*>(.*?)</script>', client.get("/judge").text, re.DOTALL
    )
    assert found is not None
    about = json.loads(found[1])
    assert "qrels=judgments.db" in about["say"]
    with Store(examples / "judgments.db") as store:
        first = about["tasks"][0]
        il.Store.create(examples / "a-backup.db", scale=store.scale).close()
    client.bench.workspace.files(fresh=True)
    said = {
        "token": "t1",
        "query": first["query"],
        "document": first["document"],
        "batch": first["batch"],
        "grade": 1,
    }
    answer = client.post(about["say"], {"judge": "ann", "said": [said], "have": []})
    assert answer.json()["said"][0]["kept"]
    with Store(examples / "judgments.db") as store:
        assert [one.token for one in store.current() if one.token] == ["t1"]


def test_what_one_judge_said_is_not_kept_as_anothers(examples: Path) -> None:
    client = Client.of(examples, name="bob")
    choose(client)
    answer = client.post("/judge/say", {"judge": "ann", "said": [], "have": []})
    assert answer.status == 409
    assert "another judge" in answer.json()["error"]


def test_words_of_queries_that_a_store_has_stay(examples: Path) -> None:
    client = Client.of(examples)
    client.post("/files/store", form=True)
    with Store(examples / "judgments.db") as store:
        store.add_queries({"q01": "curated words"})
    with (examples / "queries.tsv").open("a") as file:
        file.write("q99\tnew words\n")
    client.bench.workspace.files(fresh=True)
    choose(client)
    with Store(examples / "judgments.db") as store:
        assert store.queries.text["q01"] == "curated words"
        assert store.queries.text["q99"] == "new words"
