"""A model at work in the workbench, against a server that answers as a script says."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from idealist.cli.main import main
from idealist.errors import UsageError
from idealist.judging.llm.limits import Limits
from idealist.web.model_work import ModelTask, ModelWork
from scripted_server import Scripted, failing, grade_of, graded, scripted
from waiting import PATIENCE
from web_client import Client
from web_stores import filled_folder, shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a store on a scale from 0 to 3."""
    made = filled_folder(tmp_path)
    (made / "labels.db").unlink()
    judged = il.read_qrels(made / "qrels.txt").to_dict()
    docs = {one: f"words of {one}" for own in judged.values() for one in own}
    with il.Store.create(
        made / "labels.db", scale=3, queries=made / "queries.tsv", docs=docs
    ) as store:
        store.judge_all(
            il.Judgment(query, one, min(grade, 3), "ann")
            for query, own in judged.items()
            for one, grade in own.items()
        )
    return made


def ended(client: Client) -> Any:
    """Wait until the model is done, and return what it did."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        now = client.get("/judges/model.json").json()["now"]
        if not now["running"]:
            return now
        time.sleep(0.02)
    raise AssertionError("the model never ends")


JUDGED = {"what": "judged", "prompt": "graded"}


def test_a_dry_run_sends_nothing(folder: Path) -> None:
    with scripted() as server:
        client = Client.of(folder, models=ModelWork.of("tiny", server.url, None, None))
        asked = {**JUDGED, "max_requests": "3"}
        answer = client.post("/judges/model/estimate", asked, form=True)
        assert answer.headers["location"] == "/judges/model#estimate"
        data = client.get("/judges/model.json").json()["estimate"]
        wanted = il.estimate_model_judging(
            folder / "labels.db", "tiny", what="judged", max_requests=3
        )
        assert data == wanted.data()
        assert data["exceeded"] == ["--max-requests 3"]
        assert "would be sent" in shown(client, "/judges/model")
        assert not server.asked


def test_it_judges_all_and_says_so(folder: Path) -> None:
    with scripted() as server:
        client = Client.of(folder, models=ModelWork.of("tiny", server.url, None, None))
        assert client.post("/judges/model/start", JUDGED, form=True).status == 303
        now = ended(client)
        with il.Store(folder / "labels.db") as store:
            rows = [one for one in store.current() if one.kind == "model"]
        assert now["done"] == now["all"] == len(rows) == now["result"]["judged"] > 0
        assert now["tokens"] == 25 * len(server.asked)
        assert now["failed"] == 0
        page = shown(client, "/judges/model")
        assert "judged all" in page
        assert "data-polls" not in page
        status = client.get("/judges.json").json()["status"]
        assert status["kinds"]["model"] == len(rows)


def test_prices_and_limits_hold(folder: Path) -> None:
    prices = folder / "prices.toml"
    prices.write_text('[tiny]\ninput = 1000000\noutput = 0\ncurrency = "EUR"\n')
    with scripted() as server:
        client = Client.of(folder, models=ModelWork.of("tiny", server.url, None, prices))
        client.post("/judges/model/start", {**JUDGED, "max_requests": "2"}, form=True)
        now = ended(client)
        assert (now["requests"], now["cost"], now["currency"]) == (2, 40.0, "EUR")
        assert "--max-requests" in now["result"]["stopped"]


def test_it_can_be_stopped_and_goes_on_later(folder: Path) -> None:
    free = threading.Event()

    def held(number: int, body: dict[str, Any]) -> Scripted:
        if number >= 3:
            free.wait(PATIENCE)
        return graded(grade_of(body))

    with scripted(held) as server:
        client = Client.of(folder, models=ModelWork.of("tiny", server.url, None, None))
        client.post("/judges/model/start", JUDGED, form=True)
        until = time.monotonic() + PATIENCE
        while len(server.asked) < 5 and time.monotonic() < until:
            time.sleep(0.01)
        page = shown(client, "/judges/model")
        assert 'data-polls="/judges/model.json"' in page
        assert "Start</button>" not in page
        again = client.post("/judges/model/start", JUDGED, form=True)
        assert again.status == 400
        assert "at work already" in again.text
        assert client.post("/judges/model/stop", form=True).status == 303
        assert client.get("/judges/model.json").json()["now"]["stopping"]
        free.set()
        now = ended(client)
        assert now["result"]["stopped"] == "you stopped it"
        assert now["result"]["not_asked"] > 0
        client.post("/judges/model/start", JUDGED, form=True)
        assert not ended(client)["result"]["stopped"]
        asked = [str(body["messages"]) for body in server.asked]
        assert len(set(asked)) == len(asked)


def test_the_end_of_the_server_ends_it(folder: Path) -> None:
    with scripted(graded(1, pause=0.05)) as server:
        work = ModelWork.of("tiny", server.url, None, None)
        work.start(folder / "labels.db", ModelTask(what="judged"))
        work.stop()
        assert work.now is not None
        assert not work.now.is_running
        work.stop()


def test_an_error_is_said_in_words(folder: Path) -> None:
    with scripted(failing(401, "no such key <b>")) as server:
        client = Client.of(folder, models=ModelWork.of("tiny", server.url, None, None))
        client.post("/judges/model/start", JUDGED, form=True)
        now = ended(client)
        assert now["error"]
        assert now["result"] is None
        page = shown(client, "/judges/model")
        assert "It ended." in page
        assert "<b>" not in page
        client.post("/judges/model/start", {**JUDGED, "what": "pooled"}, form=True)
        assert "nothing is pooled" in ended(client)["error"]


def test_texts_come_from_the_folder(folder: Path) -> None:
    (folder / "labels.db").unlink()
    judged = il.read_qrels(folder / "qrels.txt").to_dict()
    ids = sorted({one for own in judged.values() for one in own})
    lines = "".join(
        f'{{"doc_id": "{one}", "title": "", "text": "words of {one}"}}\n' for one in ids
    )
    (folder / "documents.jsonl").write_text(lines)
    with il.Store.create(folder / "labels.db", scale=3) as store:
        query = next(iter(judged))
        store.judge_all(il.Judgment(query, one, 1, "ann") for one in judged[query])
    with scripted() as server:
        client = Client.of(folder, models=ModelWork.of("tiny", server.url, None, None))
        client.post("/judges/model/start", JUDGED, form=True)
        now = ended(client)
        assert now["result"]["judged"] == len(judged[query])
        assert not now["result"]["without_text"]


@pytest.mark.parametrize(
    "sent",
    [{"prompt": "/etc/passwd"}, {"prompt": "preference"}, {"prompt": "../graded.md"},
     {"what": "/etc/passwd"}, {"what": "qrels.txt"}, {"max_requests": "-1"}, {"max_requests": "1.5"},
     {"max_tokens": "many"}, {"max_cost": "nan"}, {"max_cost": "inf"}, {"max_requests": "9" * 400}],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["start", "estimate"])
def test_bad_tasks_are_refused(folder: Path, verb: str, sent: dict[str, str]) -> None:
    with scripted() as server:
        client = Client.of(folder, models=ModelWork.of("tiny", server.url, None, None))
        answer = client.post(f"/judges/model/{verb}", {**JUDGED, **sent})
        assert answer.status == 400
        assert answer.json()["error"]
        assert not server.asked
        assert client.get("/judges/model.json").json()["now"] is None


def test_the_address_of_the_model_cannot_be_sent(folder: Path) -> None:
    with scripted() as ours, scripted() as theirs:
        client = Client.of(folder, models=ModelWork.of("tiny", ours.url, None, None))
        sent = {**JUDGED, "url": theirs.url, "model": "other", "key_env": "PATH", "prices": "/etc"}
        client.post("/judges/model/start", sent, form=True)
        ended(client)
        assert ours.asked
        assert not theirs.asked
        assert {body["model"] for body in ours.asked} == {"tiny"}


def test_without_a_model_nothing_can_be_asked(folder: Path) -> None:
    client = Client.of(folder)
    assert "No model was configured" in shown(client, "/judges/model")
    for verb in ("start", "estimate"):
        answer = client.post(f"/judges/model/{verb}", JUDGED, form=True)
        assert answer.status == 400
        assert "no model was configured" in answer.text.lower()
    assert client.post("/judges/model/stop", form=True).status == 303


def test_what_is_configured_is_checked_at_once(tmp_path: Path) -> None:
    for model, url in (
        ("m", None),
        (None, "http://x/v1"),
        ("m", "ftp://x"),
        ("m", "http://u:p@x/v1"),
    ):
        with pytest.raises(UsageError):
            ModelWork.of(model, url, None, None)
    with pytest.raises(UsageError):
        ModelWork.of(None, None, "KEY", None)
    with pytest.raises(il.IdealistError):
        ModelWork.of("m", "http://127.0.0.1/v1", None, tmp_path / "none.toml")
    assert not ModelWork.of(None, None, None, None).is_configured


def test_a_task_keeps_its_limits() -> None:
    options = ModelTask("binary", "judged", Limits(1, 2, 3.0)).options
    assert (options["max_requests"], options["max_tokens"], options["max_cost"]) == (1, 2, 3.0)


def test_the_command_line_checks_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["ui", str(tmp_path), "--model", "tiny", "--port", "0", "--no-browser"])
    assert left.value.code == 2
    assert "a model needs a name and an address" in capsys.readouterr().err
