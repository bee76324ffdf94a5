"""The page Audit: findings as the command line has them, and repairs that only the audit proposes."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

import idealist as il
from idealist.rendering.doubt import Doubt
from idealist.web import repairs
from idealist.web.application import Workbench
from idealist.web.found_files import Given
from idealist.web.guard import Door
from idealist.web.people import Person
from idealist.web.repairs import Repair
from idealist.web.workspace import Workspace
from web_client import EXAMPLES, HOST, Client
from web_stores import shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with judgments, two runs and texts of queries."""
    for name in ("qrels.txt", "bm25.run", "reranked.run", "queries.tsv"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def mismatched(folder: Path) -> Path:
    """The same, but the ids of one run are written in another way."""
    rows = [line.split() for line in (folder / "bm25.run").read_text().splitlines()]
    for row in rows:
        row[2] = f"DOC_{row[2].upper()}"
    (folder / "bm25.run").write_text("".join(f"{' '.join(row)}\n" for row in rows))
    return folder


def test_it_finds_what_the_library_finds(folder: Path) -> None:
    data = Client.of(folder).get("/audit.json?m=nDCG@10&m=RR&run=reranked").json()
    qrels, queries = folder / "qrels.txt", folder / "queries.tsv"
    runs = [il.read_run(folder / f"{name}.run") for name in ("bm25", "reranked")]
    wanted = il.audit(il.read_qrels(str(qrels)), runs, ["nDCG@10", "RR"], texts=queries)
    assert data["audit"] == json.loads(wanted.to_json())
    found = il.diagnose(str(qrels), str(folder / "reranked.run"), ["nDCG@10", "RR"], texts=queries)
    assert data["diagnose"] == json.loads(found.to_json())


def test_the_page_has_answer_findings_and_links(folder: Path) -> None:
    client = Client.of(folder)
    page = unescape(shown(client, "/audit?run=reranked&m=RR&m=AP"))
    data = client.get("/audit.json?run=reranked&m=RR&m=AP").json()
    assert data["audit"]["verdict"] in page
    for one in data["audit"]["findings"]:
        assert one["code"] in page
    assert data["diagnose"]["verdict"] in page
    first = next(iter(data["diagnose"]["todo"][0]["queries"]))
    links = [parse_qs(urlsplit(one).query) for one in re.findall('href="(/query[^"]+)"', page)]
    assert {"m": ["RR", "AP"], "run": ["reranked"], "query": [first]} in links


def test_a_rule_is_an_address(folder: Path) -> None:
    run = (folder / "bm25.run").read_text().splitlines(keepends=True)
    (folder / "bm25.run").write_text("".join([*run[:8], *run[:1], *run[8:]]))
    client = Client.of(folder)
    found = client.get("/audit.json").json()["audit"]["findings"]
    one = next(one for one in found if "--set duplicates=first" in one["command"])
    page = shown(client, "/audit")
    assert "/runs?set=duplicates%3Dfirst" in page
    assert shlex.quote(one["command"])[:20].strip("'") in unescape(page)
    again = client.get("/audit.json?set=duplicates%3Dfirst").json()["audit"]["findings"]
    assert "bm25" in client.get("/runs.json?set=duplicates%3Dfirst").text
    assert not [
        other for other in again if other["code"] == one["code"] and other["severity"] == "error"
    ]


def test_a_repair_is_run_once(mismatched: Path) -> None:
    client = Client.of(mismatched)
    page = unescape(shown(client, "/audit"))
    assert "This writes <code>bm25.fixed.run</code>" in page
    asked = {"code": "document-ids", "run": "bm25", "file": "/tmp/x"}
    assert client.post("/audit/repair", {**asked, "command": "rm -rf /"}).status == 400
    answer = client.post("/audit/repair", asked)
    assert answer.status == 200, answer.text
    told = answer.json()
    assert told["done"]
    assert told["files"] == ["bm25.fixed.run"]
    assert told["said"].startswith("$ idealist convert ")
    roles = {one["file"]: one["role"] for one in client.get("/files.json").json()["files"]}
    assert roles["bm25.fixed.run"] == "run"
    values = {one["run"]: one["values"] for one in client.get("/runs.json").json()["runs"]}
    assert values["bm25.fixed"]["nDCG@10"] > 0.1
    before = (mismatched / "bm25.fixed.run").read_bytes()
    again = Client.of(mismatched).post("/audit/repair", asked)
    other = Client.of(mismatched).get("/files.json").json()["files"]
    assert again.status in (200, 400)
    assert (mismatched / "bm25.fixed.run").read_bytes() == before
    assert {one["file"] for one in other} >= {"bm25.fixed.run", "bm25.run"}


def test_nothing_is_written_over(mismatched: Path) -> None:
    client = Client.of(mismatched)
    client.get("/audit.json")
    (mismatched / "bm25.fixed.run").write_text("mine")
    answer = client.post("/audit/repair", {"code": "document-ids", "run": "bm25"})
    assert answer.status == 400
    assert "exists already" in answer.json()["error"]
    assert (mismatched / "bm25.fixed.run").read_text() == "mine"


@pytest.mark.parametrize(
    "sent",
    [{}, {"code": "document-ids"}, {"code": "document-ids", "run": "../x"}, {"code": ["a"]},
     {"code": "holes", "run": "reranked"}],
)  # fmt: skip
def test_only_what_is_found_is_repaired(
    mismatched: Path, sent: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repairs, "_started", lambda *_: pytest.fail("it was run"))
    answer = Client.of(mismatched).post("/audit/repair", sent)
    assert answer.status == 400
    assert answer.json()["error"]


def test_readers_cannot_repair(mismatched: Path) -> None:
    client = Client.of(mismatched, role="reader")
    assert client.post("/audit/repair", {"code": "document-ids", "run": "bm25"}).status == 403
    assert "data-repairs" not in shown(client, "/audit")
    assert "data-repairs" in shown(Client.of(mismatched), "/audit")


@pytest.mark.parametrize(
    ("command", "rules", "writes"),
    [
        ("idealist eval q.txt a.run --set ties=best --set rel=2", ("ties=best", "rel=2"), []),
        ("idealist convert a.run a.fixed.run && idealist eval q a.fixed.run", (), ["a.fixed.run"]),
        ("idealist convert a.run /etc/x", (), []),
        ("idealist convert a.run ../x", (), []),
        ("rm -rf / && idealist convert a.run b.run", (), []),
        ("idealist convert a.run b.run && rm -rf /", (), []),
        ("idealist judge init b.db && idealist convert a.run b.run", (), []),
        ("idealist audit q a --save-mappings mappings && idealist convert a b.run", (), ["b.run"]),
        ("idealist audit q a.run --to-judge FILE", (), []),
        ("evaluate(qrels, run, ties='best')", (), []),
        ("idealist convert", (), []),
        ("", (), []),
    ],
)
def test_commands_are_taken_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, rules: tuple[str, ...],
    writes: list[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    repair = Repair.of(Doubt("x", "…", command=command), tmp_path)
    assert (repair.rules, repair.names) == (rules, writes)
    assert all(step[1] in ("audit", "convert") for step in repair.steps)


def test_hostile_names_are_only_text(folder: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    (folder / "bm25.run").rename(folder / f"{name}.run")
    page = shown(Client.of(folder), "/audit")
    assert name not in page
    assert "&lt;img src=x" in page


def test_a_run_that_cannot_be_read_is_a_finding(folder: Path) -> None:
    (folder / "broken.run").write_text("q1 Q0 d1 1 0.5 t\nq1 Q0\n")
    data = Client.of(folder).get("/audit.json").json()["audit"]
    assert data["worst"] == "error"
    assert any(one["run"] == "broken" for one in data["findings"])
    assert "broken" in shown(Client.of(folder), "/audit?run=broken")


def test_without_runs_it_says_what_to_do(tmp_path: Path) -> None:
    client = Client.of(tmp_path)
    assert "nothing to look over" in shown(client, "/audit")
    shutil.copy(EXAMPLES / "qrels.txt", tmp_path / "qrels.txt")
    assert "no runs to look over" in shown(Client.of(tmp_path), "/audit")
    assert client.get("/audit.json").json() == {"audit": None, "diagnose": None}
    assert client.post("/audit/repair", {"code": "x"}).status == 400


@pytest.mark.parametrize(
    "address", ["/audit?run=no", "/audit?m=x", "/audit?set=ties%3Dx", "/audit?set=x", "/audit?c=no",
                "/audit?slice=no", "/audit?qrels=bm25.run"]
)  # fmt: skip
def test_bad_addresses_are_refused_in_words(folder: Path, address: str) -> None:
    answer = Client.of(folder).get(address)
    assert answer.status == 400, answer.text
    assert "lead loss" in answer.text


def test_an_empty_store_has_nothing_to_audit(folder: Path) -> None:
    (folder / "qrels.txt").unlink()
    il.Store.create(folder / "labels.db", scale=3).close()
    client = Client.of(folder)
    assert "Nothing is judged yet" in shown(client, "/audit")
    assert "Nothing is judged yet" in shown(client, "/judges")
    assert client.post("/audit/repair", {"code": "x"}).status == 400


def test_files_that_were_named_are_mended_where_they_are(
    mismatched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mismatched.parent)
    here = Path(mismatched.name)
    source = Given(here / "qrels.txt", [here / "bm25.run"], {})
    bench = Workbench(Workspace(source, judge="ann"), Door({HOST}, key="key"))
    client = Client(bench)
    client.known(Person("ann"))
    told = client.post("/audit/repair", {"code": "document-ids", "run": "bm25"}).json()
    assert told["files"] == ["bm25.fixed.run"], told
    assert (mismatched / "bm25.fixed.run").exists()
