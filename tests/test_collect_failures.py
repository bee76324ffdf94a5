"""Engines on bad days: statuses right, nothing lost, and resuming asks only what is lacking."""

from __future__ import annotations

import html
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from collect_cases import SHORT, elastic, elasticsearch, reply
from engine_shapes import es
from idealist.cli.main import main
from idealist.collecting import collected_files, collector
from idealist.collecting.environment_secrets import Environment
from idealist.errors import UsageError
from idealist.formats.collected_runs import read_collected, whole_lines
from idealist.formats.source import Source
from scripted_server import Scripted, failing, scripted
from waiting import PATIENCE

#: What happens to a query, by the first word of its text; and its status.
DAYS: dict[str, tuple[Scripted, str, str]] = {
    "fine": (elastic(), "ok", ""),
    "nothing": (reply({"took": 1, "hits": {"total": {"value": 0}, "hits": []}}), "empty", ""),
    "shards": (elastic(_shards={"failed": 2}), "partial", "failed on 2 shards"),
    "late": (elastic(timed_out=True), "partial", "timed out: its hits are incomplete"),
    "slow": (Scripted(elastic().body, pause=1.0), "timed out", "no answer within 0.4 seconds"),
    "hung": (Scripted(cut="before"), "failed", "the connection broke"),
    "cut": (Scripted(elastic().body, cut="middle"), "failed", "the connection broke"),
    "busy": (failing(429, "slow down", retry_after="0"), "failed", "status 429: slow down, 2 times"),
    "broken": (failing(500, "out of memory"), "failed", "status 500: out of memory, 2 times"),
    "gateway": (failing(504, "upstream"), "timed out", "status 504"),
    "refused": (failing(400, "parse error"), "failed", "status 400: parse error"),
    "error": (reply({"error": {"reason": "no shard"}}), "failed", "no shard"),
    "garbage": (Scripted(b"\x00\xff{{{"), "failed", "the answer is not JSON"),
    "page": (Scripted(b"<html>Welcome</html>"), "failed", "the answer is not JSON, but a web page"),
    "gzip": (Scripted(b"\x1f\x8b\x08"), "failed", "the answer is compressed by gzip"),
    "list": (reply([1, 2]), "failed", "cannot read [1, 2]"),
    "other": (reply({"items": []}), "failed", "no list of hits"),
    "no ids": (reply({"hits": {"hits": [{"_score": 1}]}}), "failed", "no _id"),
    "scores": (reply({"hits": {"hits": [{"_id": "a", "_score": "x"}]}}), "failed", "'x'"),
    "away": (Scripted(b"", 302, {"location": "http://x/"}), "failed", "the address leads elsewhere"),
}  # fmt: skip
QUERIES = {f"q{n}": day for n, day in enumerate(DAYS)}
PACE: dict[str, Any] = {"template": SHORT, "timeout": 0.4, "attempts": 2, "concurrency": 2}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "FIRST_PAUSE", 0.01)


def statuses(path: Path) -> dict[str, str]:
    found = read_collected(Source.of(path))
    assert found is not None
    return {query: record["status"] for query, record in found.answers.items()}


def test_every_bad_day_has_its_status_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with elasticsearch(lambda text: DAYS[text][0]) as (address, _):
        found = il.collect(address, QUERIES, output=path, warm_up=0, **PACE)
    kept = read_collected(Source.of(path))
    assert kept is not None
    answers = kept.answers
    assert found.collected["run"].those("failed") == kept.those("failed")
    assert statuses(path) == {query: DAYS[day][1] for query, day in QUERIES.items()}
    for query, day in QUERIES.items():
        assert DAYS[day][2] in answers[query].get("error", ""), day
        assert ("hits" in answers[query]) == (DAYS[day][1] in ("ok", "empty", "partial"))
    failed = [q for q, day in QUERIES.items() if DAYS[day][1] in ("failed", "timed out")]
    assert found.lacking == len(failed)
    rows = found.run.rows()
    assert set(rows.queries) == set(QUERIES) - set(failed)


def test_resuming_asks_only_what_is_lacking(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with elasticsearch(lambda text: DAYS[text][0]) as (address, _):
        il.collect(address, QUERIES, output=path, warm_up=0, **PACE)
        with elasticsearch(elastic()) as (well, server):
            kept = path.read_bytes()
            moved = kept.replace(address.split("//")[1].split("/")[0].encode(),
                                 well.split("//")[1].split("/")[0].encode())  # fmt: skip
            path.write_bytes(moved)
            more = {**QUERIES, "new": "fine"}
            il.collect(well, more, output=path, warm_up=0, resume=True, **PACE)
    asked = Counter(body["body"]["query"] for body in server.asked if body["method"] == "POST")
    lacking = [day for day in QUERIES.values() if DAYS[day][1] not in ("ok", "empty")]
    assert asked == Counter([*lacking, "fine"])
    assert path.read_bytes().startswith(moved)  # what was written is not touched
    final = {q: "empty" if day == "nothing" else "ok" for q, day in more.items()}
    assert statuses(path) == final
    before = len(server.asked)
    with pytest.raises(UsageError, match="there already"):
        il.collect(well, more, output=path, **PACE)
    assert len(server.asked) == before


def test_a_query_of_another_text_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with elasticsearch(elastic()) as (address, server):
        il.collect(address, {"a": "x", "b": "y"}, output=path, warm_up=0, **PACE)
        il.collect(address, {"a": "x", "b": "z"}, output=path, warm_up=0, resume=True, **PACE)
    assert [one["body"]["query"] for one in server.asked if one["body"]][2:] == ["z"]


@pytest.mark.parametrize("other", ["template", "k", "address"])
def test_a_run_is_of_one_template_and_one_engine(other: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with elasticsearch(elastic()) as (address, _), elasticsearch(elastic()) as (second, _):
        il.collect(address, {"a": "x"}, 5, output=path, **PACE)
        changed = {**PACE, "template": {"q": "{{query}}"}} if other == "template" else PACE
        where, k = second if other == "address" else address, 6 if other == "k" else 5
        with pytest.raises(UsageError, match=f"with another {other}"):
            il.collect(where, {"a": "x"}, k, output=path, resume=True, **changed)


def test_a_server_that_is_busy_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Counter[str] = Counter()

    def script(text: str) -> Scripted:
        seen[text] += 1
        return elastic() if seen[text] > 1 else failing(429, "busy", retry_after="0.3")

    with elasticsearch(script) as (address, _):
        begun = time.monotonic()
        found = il.collect(address, {"a": "x"}, warm_up=0, **PACE)
    (line,) = found.collected["run"].answers.values()
    assert (line["status"], line["tries"]) == ("ok", 2)
    assert time.monotonic() - begun >= 0.3
    assert line["ms"] < 300  # the time of the answer, not of the waiting


@pytest.mark.parametrize("status", [401, 403, 404, 302])
def test_what_no_query_would_change_ends_at_once(status: int, tmp_path: Path) -> None:
    with (
        elasticsearch(failing(status, "no")) as (address, server),
        pytest.raises(UsageError, match="check the address"),
    ):
        il.collect(address, {f"q{n}": "x" for n in range(50)}, output=tmp_path / "r.jsonl", **PACE)
    assert len(server.asked) <= 1 + 2 * (1 + collector.PROBES)
    assert len((tmp_path / "r.jsonl").read_bytes().splitlines()) == 1  # how it was asked, no answer


@pytest.mark.parametrize("status", [401, 403, 404, 405, 302])
@pytest.mark.parametrize("warm_up", [0, 1])
@pytest.mark.parametrize("bad", ["x0", "x2", "x9"])
def test_one_query_that_is_refused_ends_nothing(
    status: int, warm_up: int, bad: str, tmp_path: Path
) -> None:
    path, queries = tmp_path / "run.jsonl", {f"q{n}": f"x{n}" for n in range(10)}
    script = {bad: failing(status, "no")}
    with elasticsearch(lambda text: script.get(text, elastic())) as (address, _):
        il.collect(address, queries, output=path, **PACE | {"warm_up": warm_up})
        il.collect(address, queries, output=path, resume=True, **PACE | {"warm_up": warm_up})
    failed = {query for query, found in statuses(path).items() if found == "failed"}
    assert failed == {f"q{bad[1]}"}


def test_nobody_there_is_said_at_once(tmp_path: Path) -> None:
    address = "elasticsearch+http://127.0.0.1:9/products"
    with pytest.raises(UsageError, match="cannot connect"):
        il.collect(address, {"a": "x"}, output=tmp_path / "run.jsonl", **PACE)


def test_an_engine_that_dies_is_not_asked_forever(tmp_path: Path) -> None:
    asked: list[str] = []

    def script(text: str) -> Scripted:
        asked.append(text)
        return elastic() if len(asked) <= 5 else failing(503, "down")

    queries = {f"q{n}": f"x{n}" for n in range(200)}
    path = tmp_path / "run.jsonl"
    with elasticsearch(script) as (address, _):
        found = il.collect(address, queries, output=path, warm_up=0, **PACE)
    assert "in a row had no answer" in found.stopped
    assert len(asked) < 60
    collected = found.collected["run"]
    assert len(collected.those("ok")) == 5
    assert collected.unasked == 200 - len(collected.answers)
    qrels = {q: {"d1": 1} for q in queries}
    doubts = {one.code: one for one in il.evaluate(qrels, path, missing="zero").doubts}
    assert doubts["failed-queries"].count == len(collected.those("failed"))
    assert doubts["unasked-queries"].count == collected.unasked


def collecting(tmp_path: Path, address: str, *more: str) -> subprocess.Popen[bytes]:
    """Start the verb in a process of its own."""
    (tmp_path / "t.json").write_text(json.dumps(SHORT))
    lines = [f"q{n}\tx{n}" for n in range(400)]
    (tmp_path / "queries.tsv").write_text("\n".join(lines))
    verb = "import sys; from idealist.cli.main import main; main(sys.argv[1:])"
    command = [
        sys.executable, "-c", verb, "collect", address, "--queries", "queries.tsv",
        "--template", "t.json", "-o", "run.jsonl", "--concurrency", "4", *more,
    ]  # fmt: skip
    return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def until_lines(path: Path, count: int) -> None:
    end = time.monotonic() + PATIENCE
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_what_was_kept_survives_and_the_rest_is_asked_once(
    how: signal.Signals, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    with elasticsearch(Scripted(elastic().body, pause=0.01)) as (address, server):
        process = collecting(tmp_path, address, "--warm-up", "0")
        until_lines(path, 60)
        kept_before = path.read_bytes()
        process.send_signal(how)
        output = process.communicate(timeout=PATIENCE)
        assert process.returncode == (-how if how == signal.SIGKILL else 130), output
        survived = path.read_bytes()
        assert survived.startswith(kept_before[: kept_before.rfind(b"\n") + 1])
        answered = set(statuses(path))
        assert len(answered) >= 59
        before = len(server.asked)
        again = collecting(tmp_path, address, "--warm-up", "0", "--resume")
        assert again.communicate(timeout=PATIENCE)[0]
        assert again.returncode == 0
    asked = Counter(one["body"]["query"] for one in server.asked[before:] if one["body"])
    assert asked == Counter(f"x{n}" for n in range(400) if f"q{n}" not in answered)
    assert statuses(path) == {f"q{n}": "ok" for n in range(400)}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_file_that_was_cut_anywhere_has_all_of_its_whole_lines(data: st.DataObject) -> None:
    header = {"collected": 1, "engine": "x", "queries": 3}
    lines = [
        {"query": f"q{n}", "text": "ü" * n, "status": "ok", "hits": [{"id": "d", "score": n}]}
        for n in range(3)
    ]
    text = b"".join(
        json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        for one in (header, *lines)
    )
    end = data.draw(st.integers(text.index(b"\n") + 1, len(text)))
    whole = [line for line in text[:end].split(b"\n")[:-1] if line]
    last = text[:end].rpartition(b"\n")[2]
    if last.endswith(b"}]}"):  # all but its end of line
        whole.append(last)
    assert [line for line in whole_lines(text[:end]).split(b"\n") if line] == whole


@pytest.mark.parametrize("end", range(1, 90, 11))
def test_a_cut_file_is_gone_on_with(end: int, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    queries = {"a": "größe", "b": "y"}
    with elasticsearch(elastic()) as (address, _):
        il.collect(address, queries, output=path, concurrency=1, template=SHORT)
        os.truncate(path, path.stat().st_size - end)
        il.collect(address, queries, output=path, concurrency=1, template=SHORT, resume=True)
    assert statuses(path) == {"a": "ok", "b": "ok"}
    for line in path.read_bytes().splitlines():
        json.loads(line)


SECRET = "s3cret/key+with=<'signs'>"
#: How a server may write it back.
ENCODED: dict[str, Callable[[str], str]] = {
    "plain": str, "upper": str.upper, "json": lambda text: text.replace("/", "\\/"),
    "page": html.escape, "address": lambda text: quote(text, safe=""),
    "whole": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "base64": lambda text: b64encode(text.encode()).decode().rstrip("="),
}  # fmt: skip


def test_a_secret_is_nowhere_written_or_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("SHOP_KEY", SECRET)
    monkeypatch.chdir(tmp_path)
    Path("t.json").write_text(json.dumps(SHORT))
    texts = ["fine", "wrong", "late", "title", *ENCODED, "half"]
    Path("q.tsv").write_text("\n".join(f"q{n}\t{text}" for n, text in enumerate(texts, 1)))
    echoes = {
        "fine": elastic(),
        "wrong": failing(400, f"the key {SECRET} is not known"),
        "late": elastic(timed_out=SECRET),
        "title": reply(es() | {"hits": {"hits": [{"_id": f"d {SECRET}", "_score": 1.0}]}}),
        **{how: failing(500, f"bad {encoded(SECRET)}") for how, encoded in ENCODED.items()},
        "half": reply({"error": {"reason": "x" * 50 + SECRET + "y" * 300}}),
    }
    with elasticsearch(lambda text: echoes[text]) as (address, server), pytest.raises(SystemExit):
        main([
            "collect", address, "--queries", "q.tsv", "--template", "t.json", "-o", "run.jsonl",
            "--header", "Authorization: ApiKey ${SHOP_KEY}", "-f", "json", "--attempts", "1",
        ])  # fmt: skip
    assert {one["authorization"] for one in server.headers} == {f"ApiKey {SECRET}"}
    said = capsys.readouterr()
    assert '"partial": 1' in said.out
    for text in (said.out, said.err, Path("run.jsonl").read_text()):
        assert not any(encoded(SECRET).lower() in text.lower() for encoded in ENCODED.values())
    assert statuses(Path("run.jsonl"))["q4"] == "failed"  # its id holds the secret
    assert "the key [key] is not known" in Path("run.jsonl").read_text()
    assert "${SHOP_KEY}" in Path("run.jsonl").read_text()  # in the command that asks again


def test_what_is_short_is_no_secret_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARD", "1")
    headers = {"X-Shard": "${SHARD}", "X-Api-Key": "${SHARD}"}
    with elasticsearch(elastic("d1", "1")) as (address, _):
        found = il.collect(address, {"q1": "x1"}, template=SHORT, headers=headers)
    assert found.run.rows().documents == ["d1", "1"]
    assert found.doubts == (
        "SHARD has fewer than 6 characters: no secret, and not masked where it comes back",
    )


def test_a_secret_that_is_a_number_or_a_key_of_the_file_leaves_both_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl"
    monkeypatch.setenv("TENANT", "status")
    with elasticsearch(elastic("d1")) as (address, _):
        headers = {"X-Tenant": "${TENANT}"}
        asked = {"status": "the status"}
        for resume in (False, True):
            il.collect(address, asked, template=SHORT, headers=headers, output=path, resume=resume)
    assert statuses(path) == {"status": "ok"}
    assert len(path.read_bytes().splitlines()) == 3  # which was not asked again


def test_a_user_in_an_address_of_http_is_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PW", "a long password")
    for password in ("pw", "${PW}"):
        with pytest.raises(UsageError, match="leave the user out, and send a header: --header"):
            il.collect(f"solr+http://u:{password}@x/solr/c", {"a": "b"}, template=SHORT)


def test_a_secret_that_is_written_out_is_refused(tmp_path: Path) -> None:
    for name in ("Authorization", "X-Api-Key", "x-typesense-api-key", "Cookie"):
        with pytest.raises(UsageError, match="others could read") as error:
            il.collect(
                "elasticsearch+http://127.0.0.1:9/x", {"a": "b"}, template=SHORT,
                headers={name: SECRET},
            )  # fmt: skip
        assert SECRET not in str(error.value)


LITERAL = [
    ("meilisearch+http://127.0.0.1:9/idx?token=literalsecret", "token"),
    ("postgresql://u@localhost/db?password=literalsecret", "password"),
    ("typesense+http://127.0.0.1:9/idx?x-typesense-api-key=literalsecret", "x-typesense-api-key"),
]


@pytest.mark.parametrize(("address", "name"), LITERAL)
def test_a_secret_in_an_address_is_refused(address: str, name: str, tmp_path: Path) -> None:
    template: Any = SHORT if "+" in address else "SELECT {{query}}"
    mapping = tmp_path / "shop.toml"
    mapping.write_text(f'url = "{address.partition("+")[2]}"\n[response]\nlist = "a"\nid = "b"')
    for one in (address, *([mapping] if "+" in address else [])):
        with pytest.raises(UsageError, match=f"{name} in the address is a secret") as error:
            il.collect(one, {"a": "b"}, template=template)
        assert "literalsecret" not in str(error.value)
        assert f"{name}=${{VARIABLE}}" in str(error.value)


@pytest.mark.parametrize("key", ["ab#cd-ef", "ab&q=other", "{{k}}{{query}}", "a/b?c d%41"])
def test_a_key_in_an_address_arrives_as_it_is(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K", key)
    mapping = tmp_path / "shop.toml"
    with scripted(elastic(), engine=True) as server:
        mapping.write_text(
            f'method = "GET"\nurl = "{server.url}/s?api_key=${{K}}&q={{{{query}}}}"\n'
            '[response]\nlist = "hits.hits"\nid = "_id"'
        )
        il.collect(mapping, {"a": "x"}, warm_up=0)
        monkeypatch.setenv("HOST", server.url.removeprefix("http://").removesuffix("/v1"))
        il.collect("elasticsearch+http://${HOST}/${K}", {"a": "x"}, template=SHORT, warm_up=0)
    asked = [urlsplit(one["path"]) for one in server.asked]
    assert parse_qsl(asked[0].query) == [("api_key", key), ("q", "x")]
    assert unquote(asked[-1].path) == f"/{key}/_search"


def test_a_password_of_postgresql_is_no_part_of_the_address(monkeypatch: Any) -> None:
    monkeypatch.setenv("PW", "p@ss/w?rd#%41")
    monkeypatch.setenv("HOST", "db.example:5433")
    found = Environment().address("postgresql://u:${PW}@${HOST}/shop?sslkey=/etc/k.pem")
    assert found == "postgresql://u:p%40ss%2Fw%3Frd%23%2541@db.example:5433/shop?sslkey=/etc/k.pem"


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({"X-Tenant": "Zürich €"}, "no header can say what X-Tenant says"),
        ({"X-Tenant": "a\r\nX-Other: b"}, "no header can say what X-Tenant says"),
        ({"X-Tenant": 5}, "no header can say what X-Tenant says"),
        ({"X Tenant": "a"}, "'X Tenant' is no name of a header"),
    ],
)
def test_a_header_that_cannot_be_sent_is_refused(headers: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        il.collect("solr+http://127.0.0.1:9/c", {"a": "b"}, template=SHORT, headers=headers)


def test_an_answer_after_the_time_out_is_none() -> None:
    def search(text: str) -> list[str]:
        time.sleep(0.3)
        return ["d1"]

    found = il.collect(search, {"a": "x"}, timeout=0.1, warm_up=0)
    assert found.collected["run"].those("timed out") == ("a",)


def test_a_search_that_exits_ends_the_collecting() -> None:
    def search(text: str) -> list[str]:
        sys.exit(3)

    with pytest.raises(SystemExit):
        il.collect(search, {"a": "x"}, warm_up=0)


def test_another_mapping_or_address_is_another_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with elasticsearch(elastic()) as (address, _):
        mapping = tmp_path / "shop.toml"
        said = f"""url = "{address.split("+")[1]}/_search"
            [request]
            query = "{{{{query}}}}"
            [response]
            list = "hits.hits"
            id = "_id"
            """
        mapping.write_text(said)
        il.collect(mapping, {"a": "x"}, output=path)
        mapping.write_text(f'{said}score = "_score"')
        with pytest.raises(UsageError, match="with another template"):
            il.collect(mapping, {"a": "x"}, output=path, resume=True)


def test_a_search_that_never_ends_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "GRACE", 0.1)
    forever = threading.Event()

    def search(text: str) -> list[str]:
        if text == "hang":
            forever.wait(PATIENCE)
        return ["d1"]

    queries = {f"q{n}": "hang" if n == 2 else "x" for n in range(6)}
    found = il.collect(search, queries, timeout=0.2, warm_up=0)
    forever.set()
    collected = found.collected["run"]
    assert collected.those("timed out") == ("q2",)
    assert len(collected.those("ok")) == 5


def test_what_breaks_in_a_thread_is_raised_and_no_query_is_lost_in_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(collected_files, "line_of", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        il.collect(lambda text: ["d1"], {"a": "x"})


@pytest.mark.parametrize("words", ["{0} {oops}", "%s {", "\u202e"])
def test_many_failures_end_it_whatever_their_words(words: str) -> None:
    def search(text: str) -> list[str]:
        raise ValueError(words)

    found = il.collect(search, {f"q{n}": "x" for n in range(300)})
    assert words in found.stopped
    assert len(found.collected["run"].those("failed")) == collector.FAILED_IN_A_ROW


def test_an_index_may_have_any_name() -> None:
    with elasticsearch(elastic()) as (address, server):
        il.collect(f"{address},größe*", {"a": "x"}, template=SHORT, warm_up=0)
    assert server.asked[-1]["path"] == "/products,gr%C3%B6%C3%9Fe*/_search"
    queries = {"a": {"text": "x", "language": "de/at"}}
    with elasticsearch(elastic()) as (address, server):
        il.collect(f"{address}-{{{{language}}}}", queries, template=SHORT, warm_up=0)
    assert server.asked[-1]["path"] == "/products-de%2Fat/_search"


VECTOR: dict[str, Any] = {
    "query": {"knn": "{{vector}}"}, "size": "{{k}}",
}  # fmt: skip


def test_an_answer_to_other_values_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with elasticsearch(elastic()) as (address, server):
        for number in (1, 1, 2):
            queries = {"a": {"text": "x", "vector": [number, 0]}, "b": {"text": "y", "vector": [3]}}
            il.collect(address, queries, 5, template=VECTOR, output=path, warm_up=0, resume=True)
    asked = [one["body"]["query"]["knn"] for one in server.asked if one["body"]]
    assert sorted(asked) == [[1, 0], [2, 0], [3]]
    records = path.read_text().splitlines()
    assert '"status":"failed"' in records[-2]  # the outdated answer, until it is asked again
    assert statuses(path) == {"a": "ok", "b": "ok"}
    path.write_text("\n".join(re.sub(r',"filled":"\w+"', "", line) for line in records))
    with elasticsearch(elastic()) as (well, server):
        path.write_text(path.read_text().replace(address[14:-9], well[14:-9]))
        found = il.collect(well, queries, 5, template=VECTOR, output=path, resume=True)
    assert found.lacking == 0
    assert len([one for one in server.asked if one["body"]]) >= 2  # nobody knows what was asked


def test_queries_that_were_not_asked_are_counted_whatever_else_was(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    asked: list[str] = []

    def search(text: str) -> list[str]:
        asked.append(text)
        if len(asked) > 24:
            raise SystemExit
        return ["d"]

    il.collect(search, {f"a{n}": "x" for n in range(20)}, output=path, warm_up=0)
    with pytest.raises(SystemExit):
        il.collect(search, {f"b{n}": "x" for n in range(20)}, output=path, warm_up=0, resume=True)
    found = read_collected(Source.of(path))
    assert found is not None
    assert (len(found.answers), found.unasked) == (24, 16)
    asked.clear()
    more = il.collect(search, {f"b{n}": "x" for n in range(20)}, output=path, resume=True)
    assert more.lacking == 0
    said = "20 answers are of queries not given any more (a0, a1, a10 and 17 more)"
    assert said in more.render("md")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"columns": {"document": "sku"}}, r"other columns: None, not \['document=sku'\]"),
        ({"headers": {"X-Tenant": "north"}}, "other headers: None, not {'x-tenant': 'north'}"),
        ({"text": "title"}, r"other texts kept: None, not \['title'\]"),
    ],
)
def test_a_run_is_of_one_way_to_ask_and_to_read(
    given: dict[str, Any], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.jsonl"
    monkeypatch.setenv("ES_KEY", "s3cret-key")
    with elasticsearch(elastic()) as (address, _):
        key = {"Authorization": "ApiKey ${ES_KEY}"}
        il.collect(address, {"a": "x"}, template=SHORT, output=path)
        il.collect(address, {"a": "x"}, template=SHORT, output=path, resume=True, headers=key)
        with pytest.raises(UsageError, match=says):
            il.collect(address, {"a": "x"}, template=SHORT, output=path, resume=True, **given)


def test_a_part_of_an_answer_is_not_lost_to_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    days = [elastic("d1", _shards={"failed": 2}), failing(500, "down")]
    with elasticsearch(lambda text: days[0]) as (address, _):
        il.collect(address, {"a": "x"}, output=path, warm_up=0, **PACE)
        del days[0]
        found = il.collect(address, {"a": "x"}, output=path, warm_up=0, resume=True, **PACE)
    assert statuses(path) == {"a": "partial"}
    assert found.run.rows().documents == ["d1"]


def test_a_second_file_that_is_refused_leaves_no_first(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text("notes")
    with elasticsearch(elastic()) as (address, _), pytest.raises(UsageError, match=r"b\.jsonl"):
        il.collect(address, {"a": "x"}, template=[SHORT, SHORT],
                   output=[tmp_path / "a.jsonl", tmp_path / "b.jsonl"])  # fmt: skip
    assert not (tmp_path / "a.jsonl").exists()


def test_a_document_that_is_listed_twice_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    twice = {"x": elastic("d1", "d2", "d1")}
    with elasticsearch(lambda text: twice.get(text, elastic())) as (address, _):
        il.collect(address, {"a": "x", "b": "y"}, output=path, **PACE)
        cut = il.collect(address, {"a": "x"}, 2, **PACE)
    found = read_collected(Source.of(path))
    assert found is not None
    assert found.answers["a"]["error"] == "document 'd1' is listed twice"
    assert il.evaluate({"a": {"d1": 1}, "b": {"d1": 1}}, path, "RR", missing="skip")["RR"] == 0.5
    assert cut.lacking == 0  # it was not listed twice in what was wanted


def test_fewer_hits_than_were_wanted_and_found_are_doubted() -> None:
    total = {"hits": {"total": {"value": 5000}, "hits": es()["hits"]["hits"]}}
    with elasticsearch(reply(es() | total)) as (address, _):
        few, enough = (
            il.collect(address, {"a": "x"}, k, template={"query": "{{query}}"}).render("md")
            for k in (100, 3)
        )
    assert "in 1 query (a) more was found than was sent" in few
    assert "doubt" not in enough


def test_a_text_that_no_hit_has_is_doubted() -> None:
    with elasticsearch(elastic()) as (address, _):
        wrong, right = (
            il.collect(address, {"a": "x"}, template=SHORT, text=field).doubts
            for field in ("titel", "shop")
        )
    assert wrong == ("no hit has titel, whose text would be kept",)
    assert right == ()


def test_a_header_is_sent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    put = http.client.HTTPConnection.putheader

    def noted(self: Any, name: str, *values: Any) -> None:
        sent.append(name.lower())
        put(self, name, *values)

    monkeypatch.setattr(http.client.HTTPConnection, "putheader", noted)
    with elasticsearch(elastic()) as (address, server):
        headers = {"Content-Type": "application/x-ndjson", "ACCEPT": "application/vnd.api+json"}
        il.collect(address, {"a": "x"}, template=SHORT, headers=headers, warm_up=0)
    (told,) = {(one["content-type"], one["accept"]) for one in server.headers}
    assert told == ("application/x-ndjson", "application/vnd.api+json")
    assert sent.count("content-type") == sent.count("accept") == len(server.headers)
