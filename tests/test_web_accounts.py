"""Accounts: what is kept of passwords, files that are wrong, who is in, and who guesses."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from starlette.applications import Starlette
from starlette.routing import Route

from idealist.cli.main import cli
from idealist.errors import InputError, UsageError
from idealist.web import signing_in
from idealist.web.accounts import (
    Accounts,
    Hashed,
    Strength,
    check_password,
    is_name,
    read_accounts,
)
from idealist.web.guard import LOGIN, LOGOUT
from idealist.web.login_limits import ADDRESS, KEPT, MOST, NAME, PAIR, Guesses, network_of
from waiting import PATIENCE
from web_client import HOST, OURS, Answer, Client
from web_people import PASSWORD, QUICK, account, become, hashed, shared

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return tmp_path / "users.toml"


@pytest.fixture
def team(tmp_path: Path, users: Path) -> Client:
    folder = tmp_path / "folder"
    folder.mkdir()
    return shared(folder, users)


@pytest.fixture
def clock(team: Client) -> list[float]:
    """The time, as the limits of guesses see it."""
    now, inside = [1000.0], team.app.app
    assert isinstance(inside, Starlette)
    routes = [one for one in inside.routes if isinstance(one, Route) and one.path == LOGIN]
    desk: Any = {getattr(one.endpoint, "__self__", None) for one in routes}.pop()
    desk.guesses.clock = lambda: now[0]
    return now


def sign_in(client: Client, name: str, password: str = PASSWORD, **headers: str) -> Answer:
    """Send the form, and keep the cookie that comes back."""
    answer = client.post(LOGIN, {"name": name, "password": password}, form=True, **headers)
    if "set-cookie" in answer.headers:
        key, _, value = answer.headers["set-cookie"].partition(";")[0].partition("=")
        client.cookies[key] = value
    return answer


# -- what is kept of a password


def test_a_password_is_salted_and_costs_memory() -> None:
    first, second = Hashed.of(PASSWORD), Hashed.of(PASSWORD)
    assert first.salt != second.salt
    assert first.digest != second.digest
    assert len(first.salt) >= 16
    assert 128 * first.strength.n * first.strength.r >= 32 * 2**20
    assert first.strength.p >= 3
    assert PASSWORD not in str(first)
    assert Hashed.read(str(first)) == first
    assert first.fits(PASSWORD)
    for wrong in ("", PASSWORD[:-1], PASSWORD.upper(), f"{PASSWORD} ", f"{PASSWORD}\x00"):
        assert not hashed().fits(wrong)


def test_an_accent_is_the_same_however_it_is_typed() -> None:
    assert Hashed.of("caf\u00e9 au lait", QUICK).fits("cafe\u0301 au lait")


@pytest.mark.parametrize(
    "text",
    ["", "secret", "scrypt$", "md5$32768$8$3$AAAA$AAAA", "scrypt$1024$8$1$SALT$HASH", "scrypt$32769$8$1$SALT$HASH",
     "scrypt$1073741824$8$1$SALT$HASH", "scrypt$32768$8$99$SALT$HASH", "scrypt$32768$1000$1$SALT$HASH",
     "scrypt$-32768$8$1$SALT$HASH", "scrypt$32768$8$1$SALT$", "scrypt$32768$8$1$$HASH", "scrypt$32768$8$1$SALT$HASH$",
     "scrypt$٣٢٧٦٨$8$1$SALT$HASH", "scrypt$32768$8$1$SA LT$HASH", "scrypt$32768$0$1$SALT$HASH", "scrypt$32768$8$0$SALT$HASH"],
)  # fmt: skip
def test_what_is_no_hash_is_refused(text: str) -> None:
    *_, salt, digest = str(hashed()).split("$")
    with pytest.raises(ValueError, match=r"."):
        Hashed.read(text.replace("SALT", salt).replace("HASH", digest))


def test_an_unknown_name_costs_as_much_as_a_known_one(
    team: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts, costs = team.bench.accounts, list[Strength]()
    assert accounts is not None
    fits = Hashed.fits

    def counted(own: Hashed, password: str) -> bool:
        costs.append(own.strength)
        return fits(own, password)

    monkeypatch.setattr(Hashed, "fits", counted)
    assert accounts.signed_in("nobody", PASSWORD) is None
    assert accounts.signed_in("judge", "wrong") is None
    found = accounts.signed_in("judge", PASSWORD)
    assert found is not None
    assert found.role == "judge"
    assert costs == [QUICK, QUICK, QUICK]


# -- the file


def password() -> str:
    return str(hashed())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[ann", "not TOML"),
        ("ann = 3", "'ann' is not a table"),
        ("[ann]\nrole = 'judge'", "password of 'ann'"),
        ("[ann]\nrole = 'judge'\npassword = 'secret'", "password of 'ann'"),
        ("[ann]\nrole = 'judge'\npassword = 7", "password of 'ann'"),
        ("[ann]\nrole = 'king'\npassword = 'HASH'", "role of 'ann' is not one of reader, judge, editor"),
        ("[ann]\nrole = ['judge']\npassword = 'HASH'", "role of 'ann'"),
        ("[ann]\npassword = 'HASH'", "role of 'ann'"),
        ("[ann]\nrole = 'judge'\npasword = 'HASH'", "'pasword'"),
        ("[' ann']\nrole = 'judge'\npassword = 'HASH'", "cannot be the name"),
        ('["a\\u0000"]\nrole = "judge"\npassword = "HASH"', "cannot be the name"),
        ('["\\u00e9"]\nrole = "judge"\npassword = "HASH"\n["e\\u0301"]\nrole = "judge"\npassword = "HASH"', "two accounts"),
        ("\xff", "not TOML"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_names_the_entry(users: Path, text: str, says: str) -> None:
    users.write_bytes(text.replace("HASH", password()).encode("latin-1"))
    with pytest.raises(InputError, match=re.escape(says)) as raised:
        Accounts(users)
    assert str(users) in str(raised.value)
    assert raised.value.hint
    assert password().rpartition("$")[2] not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_every_fault_of_a_file_is_named_at_once(users: Path) -> None:
    users.write_text("ann = 3\nbob = 4\n")
    with pytest.raises(InputError) as raised:
        read_accounts(users)
    assert raised.value.total == 2


def test_a_file_that_is_not_there_or_empty(users: Path) -> None:
    with pytest.raises(InputError, match="cannot open"):
        Accounts(users)
    users.write_text("# nobody\n")
    with pytest.raises(UsageError, match="no accounts"):
        Accounts(users)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_a_file_that_others_can_read_is_doubted(users: Path) -> None:
    account(users, "ann", "editor")
    assert users.stat().st_mode & 0o777 == 0o600
    assert Accounts(users).doubts() == []
    users.chmod(0o640)
    assert "chmod 600" in " ".join(Accounts(users).doubts())
    account(users, "ann", "judge")
    assert users.stat().st_mode & 0o777 == 0o600
    assert "editor" in " ".join(Accounts(users).doubts())


@pytest.mark.parametrize(
    "name", ["ann", "Ann Müller", "ann@example.org", "日本", "a" * 64, 'a"b\\c', "a.b", "-"]
)
def test_names_come_back_as_they_were(users: Path, name: str) -> None:
    assert is_name(name)
    account(users, "first", "reader")
    account(users, name, "judge")
    assert {one: two.role for one, two in read_accounts(users).items()} == {
        "first": "reader",
        name: "judge",
    }


@pytest.mark.parametrize(
    "name", ["", " ", "ann ", "a\nb", "a\x00", "\u202eann", "a\u200bb", "a" * 65, "\ud800"]
)
def test_what_cannot_be_a_name(name: str) -> None:
    assert not is_name(name)


# -- in and out


def test_signing_in_and_out(team: Client) -> None:
    page = team.get(LOGIN)
    assert page.status == 200
    assert 'type="password"' in page.text
    assert "Sign out" not in page.text
    answer = sign_in(team, "editor")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    for wanted in ("httponly", "samesite=strict"):
        assert wanted in answer.headers["set-cookie"].lower()
    assert team.get("/").headers["location"] == "/runs"
    page = team.get("/files")
    assert "Sign out" in page.text
    assert "<span>editor</span>" in page.text
    assert team.get(LOGIN).headers["location"] == "/"
    cookies = dict(team.cookies)
    out = team.post(LOGOUT, form=True)
    assert (out.status, out.headers["location"]) == (303, LOGIN)
    team.cookies = cookies
    assert team.get("/files").headers["location"] == LOGIN, "the server forgot it too"


def test_without_accounts_there_is_nothing_to_sign_out_of(tmp_path: Path) -> None:
    client = Client.of(tmp_path)
    assert "Sign out" not in client.get("/files").text
    assert client.get(LOGIN).status == client.post(LOGOUT).status == 404


@pytest.mark.parametrize(
    ("name", "given"),
    [("judge", "wrong"), ("nobody", PASSWORD), ("", ""), ("judge", ""), ("judge", "x" * 5000), ("x" * 5000, PASSWORD),
     ("<script>window.hit=1</script>", "x"), ("judge\x00", PASSWORD), ("Judge", PASSWORD), ("\u202e", "\ud7ff")],
)  # fmt: skip
def test_a_wrong_password_and_an_unknown_name_are_answered_alike(
    team: Client, name: str, given: str
) -> None:
    answer = sign_in(team, name, given)
    assert answer.status == 401
    assert signing_in.WRONG in answer.text
    assert "set-cookie" not in answer.headers
    assert "<script>window" not in answer.text
    assert len(given) < 6 or given not in answer.text


def test_a_form_of_another_site_signs_nobody_in(team: Client) -> None:
    for headers in ({"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}):
        assert sign_in(team, "editor", **headers).status == 403
    body = f"name=editor&password={PASSWORD}".encode()
    assert team.ask("POST", LOGIN, body, {"content-type": FORM}).status == 403
    origin = {"content-type": FORM, "origin": f"http://{HOST}"}
    assert team.ask("POST", LOGIN, body, origin).status == 303, (
        "a script can say where it comes from"
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b'{"name": {"a": 1}, "password": []}',
        b'{"name": "\\ud800"}',
        b"\xff",
    ],
)
def test_what_is_no_form_signs_nobody_in(team: Client, body: bytes) -> None:
    for kind in (FORM, "application/json", "multipart/form-data; boundary=x", "text/plain", ""):
        answer = team.ask("POST", LOGIN, body, {**OURS, "content-type": kind})
        assert answer.status in (400, 401, 415)


def test_signing_in_ends_the_session_before(team: Client) -> None:
    sign_in(team, "reader")
    first = dict(team.cookies)
    sign_in(team, "editor")
    second, team.cookies = dict(team.cookies), first
    assert first != second
    assert team.get("/files").status == 303
    team.cookies = second
    assert team.get("/files").status == 200


def test_a_changed_role_counts_from_the_next_request(team: Client, users: Path) -> None:
    become(team, "reader")
    assert team.get("/files").status == 200
    assert team.post("/runs/save").status == 403
    account(users, "reader", "judge")
    assert team.get("/files").status == 403
    account(users, "reader", "editor")
    assert team.get("/files").status == 200
    assert team.post("/runs/save").status != 403


def test_a_removed_account_is_out_at_once_and_stays_out(team: Client, users: Path) -> None:
    become(team, "reader")
    text = users.read_text()
    users.write_text(text[text.index("[judge]") :])
    assert team.get("/files").status == 303
    users.write_text(text)
    assert team.get("/files").status == 303, "the session ended with the account"


def test_a_new_password_ends_the_sessions_of_the_old_one(team: Client, users: Path) -> None:
    become(team, "reader")
    account(users, "reader", "reader", "another one altogether")
    assert team.get("/files").status == 303
    assert sign_in(team, "reader").status == 401
    assert sign_in(team, "reader", "another one altogether").status == 303


@pytest.mark.parametrize("text", [None, "[reader"])
def test_accounts_that_cannot_be_read_let_nobody_in(
    team: Client, users: Path, text: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    become(team, "editor")
    before = users.read_text()
    users.unlink() if text is None else users.write_text(text)
    answer = team.get("/files")
    assert answer.status == 503
    assert "cannot be read" in answer.text
    assert str(users) not in answer.text
    assert str(users) in caplog.text
    assert sign_in(team, "editor").status == 503
    users.write_text(before)
    assert team.get("/files").status == 200


# -- guesses


def test_guesses_wait_longer_and_longer(team: Client, clock: list[float]) -> None:
    for _ in range(PAIR.free):
        assert sign_in(team, "judge", "wrong wrong").status == 401
    for wait in (2, 4, 8, 16):
        answer = sign_in(team, "judge")
        assert answer.status == 429, "the right password waits as well"
        assert f"Try again in {wait} seconds." in answer.text
        assert answer.headers["retry-after"] == str(wait)
        assert 'value="judge"' in answer.text
        clock[0] += wait
        assert sign_in(team, "judge", "wrong wrong").status == 401
    clock[0] += PAIR.longest
    assert sign_in(team, "judge").status == 303
    assert sign_in(team, "judge", "wrong wrong").status == 401, "it begins anew"


def test_a_refused_guess_costs_nothing_and_counts_nothing(
    team: Client, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(PAIR.free):
        sign_in(team, "judge", "wrong wrong")
    monkeypatch.setattr(Accounts, "signed_in", None)  # would raise
    for _ in range(50):
        assert "in 2 seconds" in sign_in(team, "judge").text


def test_one_address_cannot_lock_somebody_out() -> None:
    now = [0.0]
    guesses, home, attacker = Guesses(lambda: now[0]), "10.0.0.1", "10.6.6.6"
    for _ in range(24 * 3600):  # a day of guesses, one a second
        guesses.begin("ann", attacker)
        now[0] += 1.0
    assert guesses.begin("ann", attacker) > 0
    assert guesses.begin("ann", home) == 0.0


def test_many_addresses_cannot_lock_out_who_came_in_before() -> None:
    now = [0.0]
    guesses, home = Guesses(lambda: now[0]), "10.0.0.1"
    assert guesses.begin("ann", home) == 0.0
    guesses.right("ann", home)
    tried = sum(guesses.begin("ann", f"10.1.{one >> 8}.{one & 255}") == 0.0 for one in range(5000))
    assert tried == NAME.free
    assert guesses.begin("ann", home) == 0.0
    assert 0 < guesses.begin("ann", "10.0.0.2") <= NAME.longest
    now[0] += NAME.longest
    assert guesses.begin("ann", "10.0.0.2") == 0.0, "nobody waits for more than a minute"


def test_many_names_from_one_address_wait() -> None:
    now = [0.0]
    guesses = Guesses(lambda: now[0])
    tried = sum(guesses.begin(f"name{one}", "10.6.6.6") == 0.0 for one in range(1000))
    assert tried == ADDRESS.free
    assert guesses.begin("ann", "10.6.6.6") == 2.0
    assert guesses.begin("ann", "10.0.0.1") == 0.0


def test_what_is_remembered_is_bounded_and_forgotten() -> None:
    now = [0.0]
    guesses = Guesses(lambda: now[0])
    for one in range(MOST + 500):
        guesses.begin(f"name{one}", f"10.{one >> 16 & 255}.{one >> 8 & 255}.{one & 255}")
        guesses.right(f"name{one}", f"10.{one >> 16 & 255}.{one >> 8 & 255}.{one & 255}")
    assert len(guesses._wrong) <= MOST
    assert len(guesses._came_in) <= MOST
    for _ in range(PAIR.free + 1):
        guesses.begin("ann", "1.1.1.1")
    assert guesses.begin("ann", "1.1.1.1") > 0
    now[0] += KEPT
    assert guesses.begin("ann", "1.1.1.1") == 0.0


def test_who_signs_in_clears_nobody_elses_guesses() -> None:
    now = [0.0]
    guesses = Guesses(lambda: now[0])
    for _ in range(PAIR.free):
        guesses.begin("ann", "10.6.6.6")
        assert guesses.begin("eve", "10.6.6.6") == 0.0
        guesses.right("eve", "10.6.6.6")
    assert guesses.begin("ann", "10.6.6.6") > 0, "an account of one's own is no way around"


def test_a_network_of_ipv6_is_one_address() -> None:
    assert (
        network_of("2001:db8::1") == network_of("2001:db8::ffff:1") != network_of("2001:db8:0:1::1")
    )
    assert network_of("unix:") == "unix:"
    assert len(network_of("x" * 5000)) == 100


def test_guesses_at_the_same_time_are_counted_before_they_are_checked(
    team: Client, clock: list[float]
) -> None:
    body = b"name=judge&password=wrong+wrong"
    headers = [
        (b"host", HOST.encode()),
        (b"sec-fetch-site", b"same-origin"),
        (b"content-type", FORM.encode()),
    ]
    scope = {
        "type": "http", "method": "POST", "path": LOGIN, "raw_path": LOGIN.encode(), "query_string": b"", "scheme": "http",
        "headers": headers, "server": ("127.0.0.1", 8517), "client": ("10.0.0.9", 1), "root_path": "",
    }  # fmt: skip

    async def all_at_once() -> list[Answer]:
        return await asyncio.gather(*(team._sent({**scope}, [body]) for _ in range(30)))

    found = [one.status for one in asyncio.run(all_at_once())]
    assert found.count(401) == PAIR.free
    assert found.count(429) == 30 - PAIR.free


def test_checking_passwords_neither_blocks_nor_piles_up(
    team: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While passwords are checked others are answered; and only so many wait."""
    going, most = threading.Event(), [0, 0]

    def slow(*_: object) -> None:
        most[0] += 1
        most[1] = max(most)
        assert going.wait(PATIENCE)
        most[0] -= 1

    monkeypatch.setattr(Accounts, "signed_in", slow)
    headers = [
        (b"host", HOST.encode()),
        (b"sec-fetch-site", b"same-origin"),
        (b"content-type", FORM.encode()),
    ]

    def scope(method: str, number: int) -> dict[str, Any]:
        client = (f"10.0.{number}.9", 1)
        return {
            "type": "http", "method": method, "path": LOGIN, "raw_path": LOGIN.encode(), "query_string": b"",
            "scheme": "http", "headers": headers, "server": ("127.0.0.1", 8517), "client": client, "root_path": "",
        }  # fmt: skip

    async def crowd() -> tuple[Answer, list[Answer]]:
        posts = [
            asyncio.create_task(team._sent(scope("POST", number), [b"name=judge&password=wrong"]))
            for number in range(signing_in.WAITING + 10)
        ]
        done, _ = await asyncio.wait(posts, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
        page = await team._sent(scope("GET", 0), [b""])
        going.set()
        assert done
        return page, await asyncio.gather(*posts)

    page, answers = asyncio.run(crowd())
    assert page.status == 200
    assert [one.status for one in answers].count(503) == 10
    assert most[1] <= signing_in.AT_ONCE


# -- the command line


def ui(*args: str | Path, given: str | bytes = "") -> Result:
    return CliRunner().invoke(cli, ["ui", *map(str, args)], input=given)


def test_add_user_makes_and_changes_accounts(users: Path) -> None:
    made = ui(
        "add-user", users, "ann", "--role", "judge", "--password-stdin", given="correct horse\n"
    )
    assert made.exit_code == 0, made.output
    assert "ann can sign in as judge" in made.output
    assert "correct" not in made.output + users.read_text()
    if os.name == "posix":
        assert users.stat().st_mode & 0o777 == 0o600
    ui(
        "add-user",
        users,
        "bob b",
        "--role",
        "reader",
        "--password-stdin",
        given="another horse\r\n",
    )
    first = read_accounts(users)
    assert first["ann"].password.fits("correct horse")
    assert first["bob b"].password.fits("another horse")
    assert ui("add-user", users, "ann", "--role", "editor", "--keep-password").exit_code == 0
    kept = read_accounts(users)
    assert kept["ann"].role == "editor"
    assert kept["ann"].password == first["ann"].password
    assert kept["bob b"] == first["bob b"]
    assert (
        ui(
            "add-user", users, "ann", "--replace", "--password-stdin", given="a new password"
        ).exit_code
        == 0
    )
    new = read_accounts(users)
    assert (new["ann"].role, new["ann"].password.fits("a new password")) == ("editor", True)
    assert ui("remove-user", users, "ann").exit_code == 0
    assert read_accounts(users) == {"bob b": first["bob b"]}


@pytest.mark.parametrize(
    ("args", "given", "says"),
    [
        (["new", "--role", "judge", "--password-stdin"], "short\n", "fewer than 10 characters"),
        (["new", "--role", "judge", "--password-stdin"], "", "fewer than 10 characters"),
        (["new", "--role", "judge", "--password-stdin"], "x" * 5000, "more than 1024"),
        (["new", "--role", "judge", "--password-stdin"], "aaaaaaaaaaaa", "too easy"),
        (["somebody else", "--role", "judge", "--password-stdin"], "Somebody Else", "too easy"),
        (["new", "--role", "judge", "--password-stdin"], b"\xff\xfe\xfd1234567890\n", "not UTF-8"),
        (["new", "--role", "judge"], "correct horse\n", "no terminal"),
        (["new", "--role", "king"], "", "king"),
        (["new", "--password-stdin"], "correct horse\n", "which role"),
        (["new", "--role", "judge", "--replace", "--password-stdin"], "correct horse\n", "no account 'new'"),
        (["new", "--role", "judge", "--keep-password"], "", "no account 'new'"),
        (["ann", "--keep-password"], "", "changes the role"),
        (["ann", "--role", "judge", "--password-stdin"], "correct horse\n", "has an account already, as editor"),
        ([" ann", "--role", "judge", "--password-stdin"], "correct horse\n", "cannot be the name"),
        (["", "--role", "judge", "--password-stdin"], "correct horse\n", "cannot be the name"),
        (["a\nb", "--role", "judge", "--password-stdin"], "correct horse\n", "cannot be the name"),
    ],
)  # fmt: skip
def test_add_user_says_what_is_wrong_and_changes_nothing(
    users: Path, args: list[str], given: str | bytes, says: str
) -> None:
    account(users, "ann", "editor")
    before = users.read_bytes()
    found = ui("add-user", users, *args, given=given)
    assert found.exit_code
    assert says in f"{found.output}{found.exception}"
    assert users.read_bytes() == before


def test_other_mistakes_with_accounts(tmp_path: Path, users: Path) -> None:
    def says(*args: str | Path) -> str:
        found = ui(*args, given="correct horse\n")
        assert found.exit_code
        return f"{found.output}{found.exception}"

    new = ("ann", "--role", "judge", "--password-stdin")
    assert "cannot open" in says("remove-user", users, "ann")
    assert "cannot write" in says("add-user", tmp_path / "none" / "users.toml", *new)
    assert not users.exists()
    assert "is a directory" in says("add-user", tmp_path, *new)
    account(users, "ann", "editor")
    assert "did you mean ann?" in says("remove-user", users, "anna")
    users.write_text("[broken")
    assert "not TOML" in says("add-user", users, *new)
    assert "not TOML" in says("remove-user", users, "ann")
    assert "not TOML" in says(tmp_path, "--users", users)
    assert users.read_text() == "[broken"


def test_passwords_are_asked_for_twice_without_echo(
    users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = "correct horse\ncorrect house\ncorrect horse\ncorrect horse\n"
    monkeypatch.setattr("idealist.cli.ui_accounts._is_terminal", lambda: True)
    made = ui("add-user", users, "ann", "--role", "judge", given=typed)
    assert made.exit_code == 0, made.output
    assert made.output.count("Again") == 2
    assert "do not match" in made.output
    assert "correct" not in made.output
    assert read_accounts(users)["ann"].password.fits("correct horse")


def test_no_account_is_lost_when_many_are_made_at_once(users: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: account(users, f"name{one}", "judge"), range(40)))
    assert len(read_accounts(users)) == 40


def test_accounts_need_no_web_server(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['starlette', 'uvicorn', 'jinja2']))\n"
        "from idealist.cli.main import cli\n"
        "cli(['ui', 'add-user', 'users.toml', 'ann', '--role', 'judge', '--password-stdin'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, input="correct horse\n", capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_good_passwords() -> None:
    for good in ("correct horse", "1234567890", "пароль-длинный", "🦄🐴🐎🎠🏇🐌🐛🐜🐝🐞"):
        check_password(good, "ann")
