"""The guard in front of every route: who asks, from where, how much; and what browsers are told.

It is one middleware, so that no route can be forgotten. What Jupyter, Datasette, MLflow and marimo
learned the hard way is in `docs/design/0052-the-workbench.md`.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from idealist.errors import IdealistError
from idealist.web.accounts import Accounts
from idealist.web.people import LASTING, Person, Sessions, Token, same

LOG = logging.getLogger("idealist.web")
#: Methods that change nothing, and all that there are.
SAFE, METHODS = frozenset({"GET", "HEAD"}), frozenset({"GET", "HEAD", "POST"})
#: The most bytes of a body, and of an address.
LARGEST_BODY, LONGEST_ADDRESS = 2**20, 2**13
#: Where the token of the printed address is exchanged for a cookie; where people sign in and out.
ENTER, LOGIN, LOGOUT = "/enter", "/login", "/logout"
#: Headers that decide who asks and for what. Where one comes twice, two programs could read two
#: different requests.
SINGLE = (
    "host", "origin", "sec-fetch-site", "authorization", "cookie", "content-length",
    "content-type", "transfer-encoding",
)  # fmt: skip
#: What every answer tells the browser: only our own files, nobody's frame, nothing kept.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
NOT_KNOWN = (
    "This browser is not known here. Open the address that idealist ui printed when it started;"
    " it works once. If it was used already, start idealist ui again."
)
NO_ACCOUNTS = (
    "Nobody can come in: the file of accounts cannot be read. Whoever runs this server finds the"
    " reason in the terminal."
)


@dataclass
class Door:
    """How people come in: with the token of this start or with an account, and from where.

    `hosts` are the names under which a browser may ask, `origins` the same with http or https.
    `token` and `key` (for scripts) let in `owner`; with `accounts` there is neither. `opened` are
    the paths that anybody may see.
    """

    hosts: Collection[str]
    sessions: Sessions = field(default_factory=Sessions)
    token: Token | None = None
    key: str = ""
    owner: Person = field(default_factory=lambda: Person("", "editor"))
    cookie: str = "idealist"
    secure: bool = False
    opened: Collection[str] = ()
    accounts: Accounts | None = None
    origins: Collection[str] = ()

    def __post_init__(self) -> None:
        scheme = "https" if self.secure else "http"
        self.origins = self.origins or {f"{scheme}://{host}" for host in self.hosts}
        if self.secure:  # then no other site of the same domain can set it
            self.cookie = f"__Host-{self.cookie}"

    def person(self, headers: Headers) -> Person | None:
        """Find out who asks; somebody with an account is asked for at every request."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        if self.key and kind.lower() == "bearer":
            return self.owner if same(given.strip(), self.key) else None
        secret = self.secret(headers)
        person = self.sessions.person(secret) if secret else None
        if person is None or self.accounts is None:
            return person
        now = self.accounts.still(person)
        if now is None:
            self.sessions.end(secret)
        return now

    def secret(self, headers: Headers) -> str:
        """Return what the cookie holds; where there are several of its name, one is not ours."""
        pairs = (one.partition("=") for one in headers.get("cookie", "").split(";"))
        found = [value.strip(' "') for name, _, value in pairs if name.strip() == self.cookie]
        return found[0] if len(found) == 1 else ""

    def let_in(self, person: Person, response: Response) -> Response:
        """Give the browser a cookie that no script reads and no other site sends."""
        response.set_cookie(
            self.cookie, self.sessions.begin(person), max_age=int(LASTING), httponly=True,
            samesite="strict", secure=self.secure,
        )  # fmt: skip
        return response

    def let_out(self, headers: Headers, response: Response) -> Response:
        """End the session of a browser."""
        self.sessions.end(self.secret(headers))
        response.delete_cookie(self.cookie, httponly=True, samesite="strict", secure=self.secure)
        return response


class TooLarge(Exception):
    """A body has more bytes than any page sends."""


class Guard:
    """The middleware: everything passes here, or is refused. Nothing stands in front of it."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = self._malformed(scope) or self._refused(scope) or self._let_in(scope)
        told = _Telling(send, scope)
        if answer is not None:
            await answer(scope, receive, told)
        else:
            await self.app(scope, _Counted(receive), told)

    def _malformed(self, scope: Scope) -> Response | None:
        """Refuse what no browser sends, or what is too long."""
        headers, address = Headers(scope=scope), scope["query_string"]
        if any(len(headers.getlist(name)) > 1 for name in SINGLE):
            return _refusal(400, "A header was sent twice.")
        if not scope["path"].startswith("/") or not address.isascii():
            return _refusal(400, "That is not an address of this server.")
        if len(scope.get("raw_path") or b"") + len(address) > LONGEST_ADDRESS:
            return _refusal(414, "The address is too long.")
        if scope["method"] not in METHODS:
            answer = _refusal(405, "This server answers GET, HEAD and POST.")
            answer.headers["allow"] = ", ".join(sorted(METHODS))
            return answer
        return _badly_measured(headers)

    def _refused(self, scope: Scope) -> Response | None:
        """Refuse what comes under a foreign name, or from another site."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.door.hosts:
            known = ", ".join(sorted(self.door.hosts))
            return _refusal(421, f"This server is not known by that name. It answers to {known}.")
        if scope["method"] not in SAFE and not _is_own(headers, self.door):
            return _refusal(403, "Another site sent this; nothing was done.")
        return None

    def _let_in(self, scope: Scope) -> Response | None:
        """Refuse who is not known, and everybody while nobody can say who is."""
        try:
            return self._entered(scope) or self._unknown(scope)
        except IdealistError as error:
            LOG.error("%s", error)
            return _refusal(503, NO_ACCOUNTS)

    def _entered(self, scope: Scope) -> Response | None:
        """Exchange the token of the printed address for a cookie, and lead away from it."""
        if scope["path"] != ENTER or scope["method"] != "GET" or self.door.token is None:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        home = RedirectResponse("/", 303)
        if self.door.person(Headers(scope=scope)) is not None:
            return home
        if self.door.token.spend(given):
            return self.door.let_in(self.door.owner, home)
        return _refusal(401, NOT_KNOWN)

    def _unknown(self, scope: Scope) -> Response | None:
        """Refuse who is not known, except where anybody may go."""
        person = self.door.person(Headers(scope=scope))
        scope.setdefault("state", {})["person"] = person
        if person is not None or scope["path"] in self.door.opened:
            return None
        if self.door.accounts is None:
            return _refusal(401, NOT_KNOWN)
        if scope["method"] == "GET" and _wants_page(scope):
            return RedirectResponse(LOGIN, 303)
        return _refusal(401, "Sign in first.")


def _badly_measured(headers: Headers) -> Response | None:
    """Refuse a body that is too large, or whose length is said in two ways or in none."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 20:
        return _refusal(400, "The length of what was sent is not a number.")
    if "content-length" in headers and "transfer-encoding" in headers:
        return _refusal(400, "The length of what was sent is said in two ways.")
    if int(length) > LARGEST_BODY:
        return _refusal(413, TOO_LARGE)
    return None


def _is_own(headers: Headers, door: Door) -> bool:
    """Whether our own page sends it, or a script that has the key; no other site has that."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return site in ("same-origin", "none")
    if origin is not None:
        named = origin.lower()
        return named in door.origins and named.partition("://")[2] == headers["host"].lower()
    return bool(door.key) and headers.get("authorization", "").lower().startswith("bearer ")


def _wants_page(scope: Scope) -> bool:
    return "text/html" in Headers(scope=scope).get("accept", "")


TOO_LARGE = "That is more than any page here sends."


def _refusal(status: int, words: str) -> Response:
    return PlainTextResponse(f"{words}\n", status)


class _Counted:
    """A body that ends with an error where it is too large, whatever its length says."""

    def __init__(self, receive: Receive) -> None:
        self.receive, self.seen = receive, 0

    async def __call__(self) -> Message:
        message = await self.receive()
        self.seen += len(message.get("body", b""))
        if self.seen > LARGEST_BODY:
            raise TooLarge
        return message


class _Telling:
    """An answer with what every one tells the browser; only our own files may be kept."""

    def __init__(self, send: Send, scope: Scope) -> None:
        self.send, self.is_file = send, scope["path"].startswith("/static/")

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            if not self.is_file or message["status"] != 200:
                headers["cache-control"] = "no-store"
        await self.send(message)
