"""The pages about runs and queries: what they show is what the library computes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import idealist as il
from idealist.cli.main import main
from idealist.web.page_state import PageState
from web_client import EXAMPLES, HOST, Client

RUNS = ("bm25.run", "reranked.run")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with judgments, two runs and the texts of queries."""
    for name in ("qrels.txt", *RUNS, "queries.tsv"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Client:
    return Client.of(folder)


def said(text: str) -> str:
    """What a page says, without its elements."""
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", text))


def test_runs_have_the_values_of_eval(folder: Path, client: Client) -> None:
    data = client.get("/runs.json?m=nDCG@10&m=AP&c=sklearn").json()
    for one in data["runs"]:
        run = folder / f"{one['run']}.run"
        own = il.evaluate(folder / "qrels.txt", run, ["nDCG@10", "AP"], convention="sklearn")
        assert one["values"] == json.loads(own.to_json())["values"]
    assert [one["run"] for one in data["runs"]] == ["bm25", "reranked"]


def test_the_twin_of_runs_is_what_eval_prints(
    folder: Path, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["eval", *(str(folder / name) for name in ("qrels.txt", *RUNS)), "-f", "json"])
    printed = json.loads(capsys.readouterr().out)
    shown = client.get("/runs.json").json()
    assert [one["values"] for one in shown["runs"]] == [one["values"] for one in printed["runs"]]
    assert shown["signatures"] == printed["signatures"]
    assert client.get("/runs.csv").text.startswith("run,nDCG@10")


def test_measures_conventions_and_rules_are_in_the_address(client: Client) -> None:
    page = client.get("/runs?m=RR@10,5&c=sklearn&set=ties=docid-asc&pin=reranked&baseline=reranked")
    assert page.status == 200
    assert re.search(r'value="reranked" aria-label="Pin reranked" checked', page.text)
    assert re.search(r'value="reranked" aria-label="Compare with reranked" checked', page.text)
    assert "RR@5" in page.text
    assert "<code>ties=docid-asc</code>" in page.text
    assert page.text.index("Pin reranked") < page.text.index("Pin bm25"), "pinned runs come first"
    assert "ties:docid-asc" in page.text, "the signature says so too"


def test_runs_are_sorted_by_a_measure(client: Client) -> None:
    page = client.get("/runs?sort=nDCG@10").text
    assert page.index("Pin reranked") < page.index("Pin bm25")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/runs?m=nDGC@10", "no measure"),
        ("/runs?c=nonsense", "convention"),
        ("/runs?set=tie=x", "axis"),
        ("/runs?set=collapse=/etc/passwd", "file"),
        ("/runs?sort=nonsense", "sorted"),
        ("/runs?page=two", "whole number"),
        ("/runs?qrels=other.txt", "o judgments are called"),
        ("/compare?baseline=nobody", "no run"),
        ("/compare?run=nobody", "no run"),
        ("/compare?slice=colour", "column"),
        ("/compare?sort=colour", "sorted"),
        ("/query?query=nobody", "not judged"),
        ("/query?ranks=-1", "whole number"),
    ],
)
def test_what_an_address_gets_wrong_is_said(client: Client, address: str, words: str) -> None:
    page = client.get(address)
    assert page.status == 400
    assert words in said(page.text)
    data = client.get(address.replace("?", ".json?", 1))
    assert data.status == 400
    assert words in data.json()["error"]


def test_compare_says_what_compare_says(folder: Path, client: Client) -> None:
    own = il.compare(folder / "qrels.txt", [folder / name for name in RUNS])
    page = client.get("/compare")
    assert own.summary in said(page.text).replace("&lt;", "<")
    data = client.get("/compare.json").json()
    assert data["pairs"] == json.loads(own.to_json())["pairs"]
    assert data["queries"]["counts"] == {"better": 9, "same": 0, "worse": 3}


def test_the_baseline_can_be_changed(client: Client) -> None:
    there, back = (client.get(f"/compare.json{q}").json() for q in ("", "?baseline=reranked"))
    assert there["pairs"][0]["difference"] == -back["pairs"][0]["difference"]
    assert back["queries"]["run"] == "bm25"


def queries(client: Client, asked: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.get(f"/compare.json?{asked}").json()["queries"]["rows"]
    return rows


def test_queries_are_filtered_and_sorted(folder: Path, client: Client) -> None:
    every = queries(client, "")
    gains = [row["difference"] for row in every]
    assert gains == sorted(gains)
    assert [row["difference"] for row in queries(client, "sort=best")] == sorted(gains)[::-1]
    assert all(row["difference"] < 0 for row in queries(client, "way=worse"))
    assert len(queries(client, "way=worse")) == 3
    values = [row["run"] for row in queries(client, "sort=low")]
    assert values == sorted(values)
    text = il.read_queries(folder / "queries.tsv").text
    word = "the"
    wanted = {query for query, own in text.items() if word in own.lower()}
    assert {row["query"] for row in queries(client, f"find={word}")} == wanted != set(text)


def test_slices_of_queries(folder: Path) -> None:
    (folder / "queries.tsv").unlink()
    lines = [
        "query,text,kind",
        *(f"q{i:02},words {i},{'long' if i % 2 else 'short'}" for i in range(1, 13)),
    ]
    (folder / "queries.csv").write_text("\n".join(lines))
    client = Client.of(folder)
    data = client.get("/compare.json?slice=kind").json()
    assert {one["slice"] for one in data["slices"]} == {"long", "short"}
    assert len(queries(client, "slice=kind&part=long")) == 6


def test_one_run_alone(folder: Path) -> None:
    (folder / "reranked.run").unlink()
    client = Client.of(folder)
    page = client.get("/compare")
    assert page.status == 200
    assert il.evaluate(folder / "qrels.txt", folder / "bm25.run").summary in said(page.text)
    lists = client.get("/query.json?query=q01").json()["lists"]
    assert [one["name"] for one in lists] == ["bm25", "the ideal list"]


@pytest.mark.parametrize("query", ["q01", "q04", "q10"])
def test_a_query_is_taken_apart_as_explain_does(folder: Path, client: Client, query: str) -> None:
    old, new = (folder / name for name in RUNS)
    own = il.explain_difference(folder / "qrels.txt", old, new, "nDCG@10", query=query)
    data = client.get(f"/query.json?query={query}").json()
    assert data["values"] == {"bm25": own.before, "reranked": own.after}
    assert [one["document"] for one in data["lists"][1]["places"]] == [
        one.document for one in own.new_list
    ]
    lines = list(own.lines())
    assert data["why"]["reranked"][: len(lines)] == lines != []


def test_three_runs_beside_each_other(folder: Path) -> None:
    shutil.copy(folder / "bm25.run", folder / "again.run")
    client = Client.of(folder)
    data = client.get("/query.json?query=q01&pin=again&pin=bm25&pin=reranked&baseline=bm25").json()
    assert [one["name"] for one in data["lists"]] == ["bm25", "again", "reranked"]
    assert {place["move"] for place in data["lists"][1]["places"]} == {"="}


def test_the_next_query_follows_the_list_one_came_from(client: Client) -> None:
    for asked in ("", "sort=best", "way=worse", "find=the&sort=id"):
        order = [row["query"] for row in queries(client, asked)]
        walked = [order[0]]
        while True:
            page = client.get(f"/query?{asked}&query={walked[-1]}").text
            found = re.search(r'data-key="j" [^>]*href="([^"]+)"', page)
            if found is None:
                break
            walked.append(
                dict(re.findall(r"(\w+)=([^&]+)", found[1].replace("&amp;", "&")))["query"]
            )
        assert walked == order


def test_grades_are_edited_in_place(folder: Path, client: Client) -> None:
    assert client.post("/query/grade", {"query": "q01"}, form=True).status == 400, "no store yet"
    made = client.post("/files/store", {"to": "query"}, form=True)
    assert made.status == 303
    assert made.headers["location"] == "/query?qrels=judgments.db"
    before = client.get("/query.json?query=q04").json()
    last = before["lists"][1]["places"][-1]
    assert last["grade"] != 3
    asked = {"query": "q04", "document": last["document"], "grade": "3"}
    assert client.post("/query/grade", asked, form=True).headers["location"] == "/query?query=q04"
    after = client.get("/query.json?query=q04").json()
    assert after["lists"][1]["places"][-1]["grade"] == 3
    own = il.evaluate(folder / "judgments.db", folder / "reranked.run", "nDCG@10")
    assert after["values"]["reranked"] == own.by_query("nDCG@10")["q04"]
    assert after["values"]["reranked"] != before["values"]["reranked"]
    runs = client.get("/runs.json?m=nDCG@10").json()["runs"]
    assert runs[1]["values"]["nDCG@10"] == own["nDCG@10"]
    with il.Store(folder / "judgments.db") as store:
        assert [one.judge for one in store.current() if one.kind == "human"] == ["ann"]
    assert client.post("/query/undo", form=True).status == 303
    assert client.get("/query.json?query=q04").json() == before


def test_an_editor_decides_over_others(folder: Path, client: Client) -> None:
    client.post("/files/store", form=True)
    document = client.get("/query.json?query=q01").json()["lists"][0]["places"][0]["document"]
    with il.Store(folder / "judgments.db") as store:
        store.judge_all([il.Judgment("q01", document, 0, who) for who in ("bob", "eve", "zoe")])
    asked = {"query": "q01", "document": document, "grade": "2"}
    client.post("/query/grade", asked, form=True)
    place = client.get("/query.json?query=q01").json()["lists"][0]["places"][0]
    assert place["grade"] == 2


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"query": "q01", "document": "d", "grade": "9"}, "none of these lists"),
        ({"query": "nobody", "document": "d", "grade": "1"}, "not judged"),
        ({"query": "q01", "grade": "1"}, "none of these lists"),
        ({}, "not judged"),
    ],
)
def test_what_cannot_be_graded_is_refused(client: Client, sent: dict[str, str], words: str) -> None:
    client.post("/files/store", form=True)
    answer = client.post("/query/grade", sent, form=True)
    assert answer.status == 400
    assert words in said(answer.text)


def test_a_grade_off_the_scale_is_refused(client: Client) -> None:
    client.post("/files/store", form=True)
    document = client.get("/query.json?query=q01").json()["lists"][0]["places"][0]["document"]
    for grade in ("9", "", "nan", "x", "-1"):
        sent = {"query": "q01", "document": document, "grade": grade}
        assert client.post("/query/grade", sent, form=True).status == 400


def test_a_history_of_saved_values(folder: Path, client: Client) -> None:
    assert client.post("/runs/save?m=nDCG@10", form=True).status == 303
    lines = (folder / "qrels.txt").read_text().splitlines()
    (folder / "qrels.txt").write_text("\n".join(lines[5:]))
    saved = sorted(path.name for path in (folder / "evaluations").iterdir())
    assert [name.split("-")[0] for name in saved] == ["bm25", "reranked"]
    client = Client.of(folder)
    page = client.get("/runs?m=nDCG@10").text
    assert page.count('class="spark"') == 2
    assert "2 values, from" in page
    assert 'class="spark"' not in client.get("/runs?m=AP").text, "AP was not saved"
    loaded = il.Evaluation.load(folder / "evaluations" / saved[0])
    assert loaded.run == "bm25"


def test_search(client: Client) -> None:
    found = client.get("/search.json?find=bm2").json()["found"]
    assert found == [{"kind": "run", "name": "bm25", "address": "/compare?run=bm25"}]
    found = client.get("/search.json?find=sort").json()["found"]
    assert {one["kind"] for one in found} == {"query", "document"}
    assert client.get(found[0]["address"]).status == 200
    assert client.get("/search?find=nobodyatall").status == 200


def test_states_are_their_addresses() -> None:
    state = PageState.of([("m", "AP"), ("pin", "a&b"), ("find", "ü ="), ("page", "3"), ("x", "y")])
    address = state.address("/runs")
    from urllib.parse import parse_qsl

    assert PageState.of(parse_qsl(address.partition("?")[2])) == state


def test_a_slow_page_says_so_and_comes(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("idealist.web.application.PATIENCE", 0.0)
    page = client.get("/runs")
    tries = 0
    while page.status == 202 and tries < 500:
        assert "Working" in page.text
        page, tries = client.get("/runs"), tries + 1
    assert page.status == 200
    assert "nDCG@10" in page.text


def test_a_run_whose_ids_never_meet_is_compared_with_nothing(folder: Path) -> None:
    (folder / "odd.run").write_text("x1 Q0 y1 1 2 t\nx2 Q0 y2 1 2 t\n")
    client = Client.of(folder)
    page = client.get("/compare")
    assert page.status == 200
    assert "none of their ids match" in said(page.text)
    assert {one["run"] for one in client.get("/compare.json").json()["pairs"]} == {"reranked"}
    refused = client.get("/compare?run=odd")
    assert refused.status == 400
    assert "its ids do not match" in said(refused.text)


def test_relevant_documents_that_no_list_shows_are_named(folder: Path) -> None:
    with (folder / "qrels.txt").open("a") as file:
        file.write("q01 0 nobody-retrieves-this 3\n")
    data = Client.of(folder).get("/query.json?query=q01").json()
    assert "nobody-retrieves-this (grade 3): no run here retrieves it" in data["missed"]
    assert all("lost to" in line for line in data["lost"])
    assert len(data["lost"]) == 2


def test_many_runs_stand_best_first(folder: Path) -> None:
    for name in ("a", "z"):
        shutil.copy(folder / "bm25.run", folder / f"{name}.run")
    page = Client.of(folder).get("/runs").text
    assert page.index("Pin reranked") < page.index("Pin a")
    named = Client.of(folder).get("/runs?sort=name").text
    assert named.index("Pin a") < named.index("Pin reranked")


def test_a_refusal_leads_back(client: Client) -> None:
    page = client.get("/runs?m=nonsense", referer=f"http://{HOST}/compare?sort=best")
    assert 'href="/compare?sort=best"' in page.text
    for other in ("https://hit.example/compare", f"http://{HOST}//hit.example/", "x"):
        assert "hit.example" not in client.get("/runs?m=nonsense", referer=other).text
