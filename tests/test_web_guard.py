"""Who may come in: every rule of the guard, and every route behind it."""

from __future__ import annotations

import asyncio
import hashlib
import html
import re
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

import pytest

import hostile
from idealist.errors import UsageError
from idealist.web import layout
from idealist.web.accounts import Accounts
from idealist.web.application import Workbench
from idealist.web.found_files import Folder
from idealist.web.guard import ENTER, HEADERS, LARGEST_BODY, LOGIN, LOGOUT, Door
from idealist.web.people import ROLES as MAY
from idealist.web.people import Person, Token
from idealist.web.server import Place
from idealist.web.workspace import Workspace
from web_client import EXAMPLES, HOST, OURS, Answer, Client
from web_fuzz import STRINGS, check_page, fuzz, prepared
from web_people import ROLES, Address, account, addresses, become, shared

NAVIGATES = {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder: what is asked for there is answered at once."""
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.fixture
def alone(folder: Path) -> Client:
    """A workbench with a token, that nobody has used."""
    door = Door({HOST}, token=Token(), key="key-of-scripts", owner=Person("ann"))
    return Client(Workbench(Workspace(Folder(folder), judge="ann"), door))


@pytest.fixture
def team(folder: Path, tmp_path: Path) -> Client:
    """A workbench with accounts."""
    return shared(folder, tmp_path / "users.toml")


def asked(client: Client, one: Address, **headers: str) -> Answer:
    """Ask for a route as our own pages do."""
    ours = OURS if one.method == "POST" else {}
    kind = {"content-type": "application/json"} if one.method == "POST" else {}
    body = b"{}" if one.method == "POST" else b""
    return client.ask(one.method, one.path, body, {**ours, **kind, **headers})


def token_of(client: Client) -> str:
    token = client.bench.door.token
    assert token is not None
    return token.secret


def enter(client: Client) -> Answer:
    """Exchange the token for a cookie, as a browser does."""
    answer = client.get(f"{ENTER}?token={token_of(client)}", **NAVIGATES)
    if "set-cookie" in answer.headers:
        name, _, value = answer.headers["set-cookie"].partition(";")[0].partition("=")
        client.cookies[name] = value
    return answer


# -- every row of the table: what other tools learned the hard way


def test_bind_to_loopback_refuse_another_without_flag_and_authentication(tmp_path: Path) -> None:
    assert Place().host == "127.0.0.1"
    account(tmp_path / "users.toml", "ann", "editor")
    accounts = Accounts(tmp_path / "users.toml")
    for local in ("127.0.0.1", "localhost", "::1", "127.8.8.8"):
        Place(local).check(None)
    for other in ("0.0.0.0", "::", "192.168.1.5", "example.org", ""):
        with pytest.raises(UsageError, match="no accounts"):
            Place(other).check(None)
    with pytest.raises(UsageError, match="no accounts"):
        Place(public=("https://eval.example.org",)).check(None)
    for wide in ("0.0.0.0", "::", ""):
        with pytest.raises(UsageError, match="does not name"):
            Place(wide).check(accounts)
    Place("192.168.1.5").check(accounts)
    Place("0.0.0.0", public=("https://eval.example.org",)).check(accounts)


def test_random_token_is_exchanged_once_for_a_strict_cookie(alone: Client) -> None:
    assert len(token_of(alone)) >= 43
    assert Token().secret != Token().secret
    other = Client(alone.bench)
    answer = enter(alone)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    for wanted in ("httponly", "samesite=strict", "path=/", "max-age="):
        assert wanted in cookie
    assert "domain=" not in cookie
    assert token_of(alone) not in answer.headers["set-cookie"]
    assert alone.get("/files").status == 200
    assert enter(other).status == 401, "the token is good for one use"
    assert enter(alone).status == 303, "who is in already goes on"


def test_scripts_send_the_key_as_authorization(alone: Client) -> None:
    key = {"authorization": "Bearer key-of-scripts"}
    assert alone.get("/files.json", **key).status == 200
    role = {"file": "none", "role": "run"}
    sent = alone.ask(
        "POST", "/files/role", str(role).replace("'", '"').encode(),
        {"content-type": "application/json", **key},
    )  # fmt: skip
    assert sent.status == 400, "it was let in, and there is no such file"
    for wrong in (
        "Bearer ",
        "Bearer key",
        "Bearer key-of-scripts2",
        "Basic key-of-scripts",
        "key-of-scripts",
    ):
        assert alone.get("/files.json", authorization=wrong).status == 401


def test_a_host_not_on_the_list_is_refused(alone: Client) -> None:
    enter(alone)
    for known in (HOST, HOST.upper()):
        assert alone.get("/files", host=known).status == 200
    for foreign in (
        "", "evil.example", "evil.example:8517", "127.0.0.1", "127.0.0.1:8518", f"{HOST}.", f"{HOST}, evil",
        f"evil@{HOST}", "127.0.0.1:08517", "[::1]", "127.1:8517", "2130706433:8517", "localhost:8517\x00", "é:8517",
    ):  # fmt: skip
        answer = alone.get("/files", host=foreign)
        assert answer.status == 421, foreign
        assert "evil" not in answer.text
    assert alone.get("/files", host=HOST, **{"x-forwarded-host": "evil.example"}).status == 200
    assert alone.get("/files", host="evil.example", **{"x-forwarded-host": HOST}).status == 421
    assert alone.get("/files", host="evil.example", forwarded=f"host={HOST}").status == 421


def test_unsafe_requests_of_other_sites_are_refused(alone: Client) -> None:
    enter(alone)

    def status(**headers: str) -> int:
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return alone.ask("POST", "/files/role", b"file=x", {**kind, **headers}).status

    passed = 400  # there is no such file
    assert status(**{"sec-fetch-site": "same-origin"}) == passed
    assert status(**{"sec-fetch-site": "none"}) == passed
    assert status(origin=f"http://{HOST}") == passed
    for site in ("cross-site", "same-site", "", "SAME-ORIGIN", "same-origin, none"):
        assert status(**{"sec-fetch-site": site, "origin": f"http://{HOST}"}) == 403, site
    for origin in (
        "null", "", "http://evil.example", f"https://{HOST}", f"http://{HOST}.evil.example", HOST,
        f"http://{HOST}/", f"http://evil@{HOST}", "http://localhost:8517", f"file://{HOST}",
    ):  # fmt: skip
        assert status(origin=origin) == 403, origin
    assert status() == 403, "a browser says where it comes from"
    assert status(referer=f"http://{HOST}/") == 403


def test_every_route_is_behind_one_guard_and_web_sockets_too(alone: Client, team: Client) -> None:
    for client in (alone, team):
        told: list[Any] = []

        async def send(message: Any, told: list[Any] = told) -> None:
            told.append(message)

        async def receive() -> NoReturn:
            raise AssertionError("nothing is read")

        enter(client) if client is alone else become(client, "editor")
        headers = [(b"host", HOST.encode()), (b"origin", b"http://evil.example")]
        scope = {"type": "websocket", "path": "/judge", "headers": headers, "query_string": b""}
        asyncio.run(client.app(scope, receive, send))
        assert [one["type"] for one in told] == ["websocket.close"]


def test_answers_forbid_inline_script_frames_and_sniffing(alone: Client, team: Client) -> None:
    asset = next(iter(layout.assets().values())).address
    for client in (alone, team):
        before = [
            client.get("/files"), client.get("/files", host="evil.example"), client.ask("TRACE", "/"),
            client.get("/" + "x" * 9000), client.get(LOGIN), client.get(asset),
            client.ask("POST", "/files/role", b"x"), client.get("/static/none.js"),
        ]  # fmt: skip
        enter(client) if client is alone else become(client, "reader")
        after = [
            client.get("/files"), client.get("/none"), client.get("/runs?page=x"), client.get(asset),
            client.get("/files.json"), client.post("/runs/save"), client.get("/static/none.js"),
            client.ask("HEAD", "/files"), client.get("/static/../../etc/passwd"),
        ]  # fmt: skip
        for answer in before + after:
            for name, value in HEADERS.items():
                assert answer.headers[name] == value
            kept = answer.headers.get("cache-control")
            is_asset = answer.status == 200 and answer.body in {
                one.content for one in layout.assets().values()
            }
            assert kept == ("max-age=31536000, immutable" if is_asset else "no-store")
        for answer in after:
            assert not re.search(
                rb"<script(?! src=\"/static/)|\son\w+=|<style| style=", answer.body
            )
    policy = HEADERS["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_a_defect_is_answered_with_the_same_headers(
    alone: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> NoReturn:
        raise ZeroDivisionError("<script>secret</script>")

    enter(alone)
    monkeypatch.setattr(Folder, "files", broken)
    told: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    cookie = "; ".join(f"{name}={value}" for name, value in alone.cookies.items())
    scope = {
        "type": "http", "method": "GET", "path": "/files", "raw_path": b"/files", "query_string": b"",
        "headers": [(b"host", HOST.encode()), (b"cookie", cookie.encode())], "scheme": "http",
        "server": ("127.0.0.1", 8517), "client": ("127.0.0.1", 1), "root_path": "",
    }  # fmt: skip
    with pytest.raises(ZeroDivisionError):
        asyncio.run(alone.app(scope, receive, send))
    headers = {name.decode(): value.decode() for name, value in told[0]["headers"]}
    assert told[0]["status"] == 500
    assert headers.items() >= HEADERS.items()
    assert b"secret" not in told[1]["body"]


def test_no_address_is_fetched_for_a_user(
    team: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("the server asked another one")

    for name in ("qrels.txt", "bm25.run", "reranked.run"):
        shutil.copy(EXAMPLES / name, tmp_path / "folder" / name)
    become(team, "editor")
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    url = "http://169.254.169.254/latest"
    fields = dict.fromkeys(
        ("url", "address", "base", "base_url", "model", "file", "qrels", "to", "docs"), url
    )
    names = (
        "qrels",
        "m",
        "c",
        "set",
        "baseline",
        "pin",
        "run",
        "query",
        "slice",
        "a",
        "b",
        "judge",
    )
    for one in addresses(team):
        if one.path != LOGOUT:
            assert asked(team, one).status < 500
            team.post(one.path, fields, form=True)
            for name in names:
                given = f"collapse={url}" if name == "set" else url
                assert team.get(f"{one.path}?{name}={given}").status < 500


def test_no_file_is_served_by_a_path(team: Client, tmp_path: Path) -> None:
    secret = "the-secret-of-a-file"
    (tmp_path / "secret.txt").write_text(secret)
    (tmp_path / "folder" / "notes.md").write_text(secret)
    become(team, "editor")
    paths = [
        "/notes.md", "/folder/notes.md", "/../secret.txt", "/..%2fsecret.txt", "//etc/passwd", "/static/../secret.txt",
        "/static/%2e%2e/secret.txt", "/static//etc/passwd", f"/static{tmp_path}/secret.txt", "/static/..\\secret.txt",
        "/files/notes.md", "/report.html/../notes.md", "/static/workbench.js", "/static/", "/users.toml", "/.git/config",
        f"/files.json?qrels={tmp_path}/secret.txt", "/runs?qrels=../secret.txt", f"/runs?set=collapse={tmp_path}/secret.txt",
        f"/settings?a={tmp_path}/secret.txt&b=../secret.txt", f"/compare?run=../secret.txt&slice={tmp_path}/secret.txt",
    ]  # fmt: skip
    for path in paths:
        answer = team.get(path)
        assert answer.status < 500
        assert secret not in answer.text, path
        assert "root:" not in answer.text


def test_the_token_is_in_no_page_and_in_no_folder(alone: Client, folder: Path) -> None:
    enter(alone)
    secrets = {token_of(alone), "key-of-scripts", *alone.cookies.values()}
    for one in addresses(alone):
        answer = asked(alone, one)
        assert not any(secret in answer.text for secret in secrets)
    for path in folder.rglob("*"):
        assert not path.is_file() or not any(one.encode() in path.read_bytes() for one in secrets)


# -- all routes, and all who could ask


def test_the_routes_are_all_that_there_are(alone: Client, team: Client) -> None:
    apart = {*addresses(team)} - {*addresses(alone)}
    assert {(one.method, one.path) for one in apart} == {
        ("GET", LOGIN),
        ("POST", LOGIN),
        ("POST", LOGOUT),
    }
    assert len([*addresses(alone)]) > 35
    assert not any("{" in one.path for one in addresses(team)), "no address holds a path"


def test_nobody_gets_in_without_a_cookie(alone: Client, team: Client) -> None:
    for one in addresses(alone):
        assert asked(alone, one).status == 401, one
        assert asked(alone, one, accept="application/json").status == 401, one
    for one in addresses(team):
        answer, for_programs = asked(team, one), asked(team, one, accept="*/*")
        if one.path == LOGIN:
            assert answer.status == (200 if one.method == "GET" else 401)
        elif one.path.startswith("/static/"):
            assert answer.status == 200, "the page to sign in needs its looks"
        elif one.method == "GET":
            assert (answer.status, answer.headers["location"]) == (303, LOGIN), one
            assert for_programs.status == 401
        else:
            assert answer.status == for_programs.status == 401, one


@pytest.mark.parametrize(
    "path", ["/none", "/enter", "//runs", "/runs/", "/static/x", "/login/", "/LOGIN", "/./login"]
)
def test_what_is_no_route_is_behind_the_guard_too(alone: Client, team: Client, path: str) -> None:
    assert alone.get(path).status == 401
    assert team.get(path, accept="*/*").status == 401


@pytest.mark.parametrize("who", ["", "reader", "judge", "editor"])
def test_foreign_hosts_and_other_sites_are_refused_everywhere(team: Client, who: str) -> None:
    if who:
        become(team, who)
    for one in addresses(team):
        assert asked(team, one, host="evil.example").status == 421
        if one.method == "POST":
            assert asked(team, one, **{"sec-fetch-site": "cross-site"}).status == 403
            assert asked(team, one, **{"sec-fetch-site": "same-site"}).status == 403


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_what_it_may_and_nothing_else(team: Client, role: str) -> None:
    become(team, role)
    for one in addresses(team):
        if one.path == LOGOUT:
            continue
        allowed = not one.needs or one.needs in MAY[role]
        answer = asked(team, one)
        assert (answer.status == 403) == (not allowed), (one, answer.status)
        assert answer.status < 500


def test_a_judge_sees_nothing_but_judging(team: Client, folder: Path) -> None:
    for name in ("qrels.txt", "bm25.run", "reranked.run"):
        shutil.copy(EXAMPLES / name, folder / name)
    become(team, "judge")
    assert team.get("/").headers["location"] == "/judge"
    seen = set()
    for one in addresses(team):
        answer = asked(team, one)
        if answer.status < 400:
            seen.add(one.path)
        if one.path != LOGOUT and not one.path.startswith("/static/"):
            for name in ("bm25", "reranked", 'href="/compare', 'href="/runs', 'href="/judges'):
                assert name not in answer.text, (one, name)
        if one.path == LOGOUT:
            become(team, "judge")
    assert {path for path in seen if not path.startswith("/static/")} <= {
        "/", LOGIN, LOGOUT, "/judge", "/judge.json", "/judge.csv",
        *(one.path for one in addresses(team) if one.needs == "judge"),
    }  # fmt: skip


def test_a_judge_is_blind_to_what_others_said(tmp_path: Path) -> None:
    """Neither pages nor their twins name a run or another judge."""
    client = become(prepared(tmp_path), "judge")
    ways = (
        "",
        "?way=pairs",
        "?way=choose",
        "?batch=1",
        "?ranks=100",
        "?qrels=none",
        "?batch=9",
        "?page=x",
    )
    for path in ("/judge", "/judge.json", "/judge.csv"):
        for way in ways:
            answer = client.get(path + way)
            assert not re.search(r"\b(bm25|reranked|bob|carol|ann)\b", answer.text), (path, way)
    said = client.post("/judge/say", {"said": [], "have": []})
    assert said.status == 200
    assert not re.search(r"\b(bm25|reranked|bob|carol|ann)\b", said.text)
    client.bench.workspace.close()


def test_only_an_editor_changes_anything(team: Client, folder: Path) -> None:
    for name in ("qrels.txt", "bm25.run", "reranked.run"):
        shutil.copy(EXAMPLES / name, folder / name)

    def state() -> dict[str, str]:
        found = (one for one in folder.rglob("*") if one.is_file())
        return {str(one): hashlib.sha256(one.read_bytes()).hexdigest() for one in found}

    before = state()
    for role in ("reader", "judge"):
        become(team, role)
        for one in addresses(team):
            if one.path != LOGOUT:
                asked(team, one)
    assert state() == before


# -- odd requests


@pytest.mark.parametrize(
    "method", ["OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "CONNECT", "get", "PROPFIND", "X"]
)
def test_other_methods_are_refused(alone: Client, method: str) -> None:
    enter(alone)
    for path in ("/", "/files", "/files/role", ENTER, "*"):
        answer = alone.ask(method, path, headers=OURS)
        assert answer.status in (400, 405)
        assert "access-control-allow-origin" not in answer.headers


def test_a_method_that_a_route_does_not_take(alone: Client) -> None:
    enter(alone)
    assert alone.get("/files/role").status == 405
    assert alone.post("/files").status == 405
    assert alone.ask("HEAD", "/files").status == 200


def raw(
    client: Client,
    *pairs: tuple[str, str],
    method: str = "GET",
    path: str = "/files",
    body: bytes = b"",
) -> int:
    """Ask with headers that may come twice."""
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs], "scheme": "http",
        "server": ("127.0.0.1", 8517), "client": ("127.0.0.1", 1), "root_path": "",
    }  # fmt: skip
    return asyncio.run(client._sent(scope, [body])).status


def test_headers_that_come_twice_are_refused(alone: Client) -> None:
    enter(alone)
    cookie = ("cookie", "; ".join(f"{name}={value}" for name, value in alone.cookies.items()))
    assert raw(alone, ("host", HOST), cookie) == 200
    assert raw(alone, cookie) == 421
    for twice in (
        "host",
        "cookie",
        "origin",
        "sec-fetch-site",
        "authorization",
        "content-length",
        "content-type",
    ):
        pairs = [("host", HOST), cookie, (twice, "1"), (twice, "1")]
        assert raw(alone, *pairs) == 400, twice


def test_lengths_that_are_none(alone: Client) -> None:
    enter(alone)
    for length in ("-1", "+1", "1e3", "0x10", "", " ", "9" * 30, "1,1", "²", "1 1"):
        answer = alone.ask("POST", "/files/role", b"{}", {**OURS, "content-length": length})
        assert answer.status == 400, length
    assert (
        alone.ask(
            "POST", "/files/role", b"", {**OURS, "content-length": str(LARGEST_BODY + 1)}
        ).status
        == 413
    )
    two = {**OURS, "content-length": "2", "transfer-encoding": "chunked"}
    assert alone.ask("POST", "/files/role", b"{}", two).status == 400


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded"])
def test_a_body_that_is_larger_than_it_says(alone: Client, kind: str) -> None:
    enter(alone)
    read = []

    def blocks() -> Any:
        for number in range(100):
            read.append(number)
            yield b"a" * 2**16

    answer = alone.ask(
        "POST", "/files/role", headers={**OURS, "content-type": kind}, blocks=blocks()
    )
    assert answer.status == 413
    assert "more than any page" in answer.text


def test_cookies_with_odd_signs_and_cookies_of_others(alone: Client) -> None:
    enter(alone)
    [(name, value)] = alone.cookies.items()
    others = 'theme={"a":1,2}; x="\\"; =; ;;; é=ü; __proto__=1; a b=c d; idealist-=x'
    assert alone.get("/files", cookie=f"{others}; {name}={value}; z=@[]").status == 200
    assert alone.get("/files", cookie=f"{name}={value};{name}={value}").status == 401
    assert alone.get("/files", cookie=f"{name}=attacker; {name}={value}").status == 401
    for wrong in (
        f"{name}=",
        f"{name}",
        f"{name.upper()}={value}",
        f"{name}={value}x",
        f"x{name}={value}",
        value,
    ):
        assert alone.get("/files", cookie=wrong).status == 401, wrong


def test_a_session_cannot_be_chosen_by_others(alone: Client) -> None:
    name = alone.bench.door.cookie
    alone.cookies[name] = chosen = "chosen-by-somebody-else"
    enter(alone)
    assert alone.cookies[name] != chosen
    assert alone.get("/files", cookie=f"{name}={chosen}").status == 401


def test_the_token_is_not_spent_by_what_is_no_visit(alone: Client) -> None:
    secret = token_of(alone)
    for address in (
        f"{ENTER}?token={secret[:-1]}",
        f"{ENTER}?token=",
        ENTER,
        f"{ENTER}?token=%00&token={secret}",
    ):
        assert alone.get(address).status == 401
    assert alone.ask("HEAD", f"{ENTER}?token={secret}").status == 401
    assert alone.post(f"{ENTER}?token={secret}").status == 401
    assert alone.get(f"/{ENTER}?token={secret}").status == 401
    assert alone.get(f"{ENTER}/?token={secret}").status == 401
    assert alone.get(f"{ENTER}?token={secret}", host="evil.example").status == 421
    assert enter(alone).status == 303


def test_the_key_is_nothing_where_there_are_accounts(team: Client) -> None:
    for key in ("", "key", "key-of-scripts"):
        assert team.get("/files.json", authorization=f"Bearer {key}").status in (303, 401)
    assert team.get(f"{ENTER}?token=", accept="*/*").status == 401


def test_addresses_that_are_none(alone: Client) -> None:
    enter(alone)
    assert alone.get("http://evil.example/").status == 400
    assert alone.get("/runs?" + "a" * 9000).status == 414
    assert alone.get("/runs?" + "&".join(["m"] * 600)).status == 400
    assert alone.get("/runs?m=é").status == 400


# -- behind a proxy


def test_a_public_address_makes_the_cookie_secure() -> None:
    place = Place(public=("https://Eval.Example.org:443/",))
    assert place.is_encrypted
    assert place.hosts(8517) == {
        "127.0.0.1:8517",
        "localhost:8517",
        "[::1]:8517",
        "eval.example.org",
    }
    door = Door(place.hosts(1), secure=place.is_encrypted, origins=place.origins(1))
    assert door.cookie.startswith("__Host-")
    assert not Place(public=("http://eval.example.org",)).is_encrypted
    assert Place("Server", 80).hosts(80) == {"server"}
    assert Place("2001:db8::1").hosts(9) == {"[2001:db8::1]:9"}
    assert Place("0.0.0.0", public=("http://A:8517",)).hosts(8517) == {"a:8517"}


def test_behind_a_proxy_the_origin_is_the_public_one(folder: Path, tmp_path: Path) -> None:
    account(tmp_path / "users.toml", "ann", "editor")
    place = Place(public=("https://eval.example.org",))
    door = Door(place.hosts(8517), secure=True, origins=place.origins(8517))
    bench = Workbench(Workspace(Folder(folder)), door, accounts=Accounts(tmp_path / "users.toml"))
    client = become(Client(bench), "ann")

    def status(**headers: str) -> int:
        kind = {"content-type": "application/json"}
        return client.ask("POST", "/files/role", b"{}", {**kind, **headers}).status

    host = "eval.example.org"
    assert status(host=host, origin=f"https://{host}") == 400
    assert status(host=host, origin=f"http://{host}") == 403
    assert status(host=host, origin="http://127.0.0.1:8517") == 403
    assert status(host=HOST, origin=f"https://{host}") == 403
    assert status(host=HOST, origin=f"http://{HOST}") == 400
    assert (
        status(host="evil.example", origin=f"https://{host}", **{"x-forwarded-host": host}) == 421
    )


@pytest.mark.parametrize(
    "address",
    ["", "eval.example.org", "ftp://x", "https://", "https://x/path", "https://x?y", "https://x#y", "https://a@b",
     "https://[::1", "https://x:port", "https://x:99999", "https://é.example", "https://x y", "javascript:1"],
)  # fmt: skip
def test_public_addresses_that_are_none(address: str) -> None:
    with pytest.raises(UsageError, match="not the address of a server"):
        Place(public=(address,)).check(None)


def test_sessions_are_forgotten(monkeypatch: pytest.MonkeyPatch, alone: Client) -> None:
    now = [1000.0]
    clock: Callable[[], float] = lambda: now[0]  # noqa: E731
    monkeypatch.setattr("idealist.web.people.time.monotonic", clock)
    enter(alone)
    now[0] += 6 * 86400
    assert alone.get("/files").status == 200, "a visit prolongs it"
    now[0] += 6 * 86400
    assert alone.get("/files").status == 200
    now[0] += 8 * 86400
    assert alone.get("/files").status == 401


# -- all of it at once; `make live` does the same 20,000 times


@pytest.mark.parametrize("seed", range(4))
def test_hostile_requests(tmp_path: Path, seed: int) -> None:
    found = dict(fuzz(tmp_path, 1000 + seed, 75))
    assert sum(sum(one.values()) for one in found.values()) >= 74


def test_what_would_run_is_noticed() -> None:
    for text in STRINGS:
        check_page(
            f'<p title="{html.escape(text)}">{html.escape(text)}</p>'.encode(errors="replace"), text
        )
    for element in hostile.ELEMENTS:
        for escape in hostile.ESCAPES:
            with pytest.raises(AssertionError):
                check_page(f"<p>{escape}{element}</p>".encode(), element)
    for link in ("javascript:x", "//evil.example", "https://evil.example", "data:x"):
        with pytest.raises(AssertionError):
            check_page(f'<a href="{link}">x</a>'.encode(), link)


def test_a_pattern_that_would_take_forever_is_refused(team: Client, folder: Path) -> None:
    for name in ("qrels.txt", "bm25.run"):
        shutil.copy(EXAMPLES / name, folder / name)
    become(team, "reader")
    for pattern in ("(.*)*(.*)*(.*)*x", "(a|a)*x", ".*.*.*x", "(?:.+)+x"):
        answer = team.get(f"/runs?set={quote(f'collapse={pattern}')}")
        assert answer.status == 400
        assert "could take forever" in answer.text
    assert team.get(f"/runs?set={quote('collapse=-[0-9]+')}").status == 200


@pytest.mark.parametrize("scale", ["10000", "99999999", "1" + "0" * 30, "1e300", "0..99999999"])
def test_a_scale_that_would_fill_the_memory_is_refused(team: Client, scale: str) -> None:
    answer = become(team, "editor").post("/judge/guidelines", {"scale": scale})
    assert answer.status == 400
    assert "not a scale of grades" in answer.text
