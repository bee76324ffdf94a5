"""The guard in front of every route: who asks, from where, how much; and what browsers are told.

It is one middleware, so that no route can be forgotten. What Jupyter, Datasette, MLflow and marimo
learned the hard way is in `docs/design/0052-the-workbench.md`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from idealist.web.people import LASTING, Person, Sessions, Token, same

#: Methods that change nothing.
SAFE = frozenset({"GET", "HEAD"})
#: The most bytes of a body, and of an address.
LARGEST_BODY, LONGEST_ADDRESS = 2**20, 2**13
#: Where the token of the printed address is exchanged for a cookie.
ENTER = "/enter"
#: What every answer tells the browser: only our own files, nobody's frame, nothing kept.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
NOT_KNOWN = (
    "This browser is not known here. Open the address that idealist ui printed when it started;"
    " it works once. If it was used already, start idealist ui again."
)


@dataclass
class Door:
    """How people come in: with the token of this start or with an account, and from where.

    `hosts` are the names under which a browser may ask. `token` and `key` (for scripts) let in
    `owner`; with accounts there is neither. `opened` are the paths that anybody may see.
    """

    hosts: Collection[str]
    sessions: Sessions = field(default_factory=Sessions)
    token: Token | None = None
    key: str = ""
    owner: Person = field(default_factory=lambda: Person("", "editor"))
    cookie: str = "idealist"
    secure: bool = False
    opened: Collection[str] = ()

    def person(self, headers: Headers) -> Person | None:
        """Find out who asks."""
        given = headers.get("authorization", "")
        if self.key and given.startswith("Bearer "):
            return self.owner if same(given.removeprefix("Bearer "), self.key) else None
        secret = self.secret(headers)
        return self.sessions.person(secret) if secret else None

    def secret(self, headers: Headers) -> str:
        """Return what the cookie holds."""
        jar = SimpleCookie()
        try:
            jar.load(headers.get("cookie", ""))
        except CookieError:
            return ""
        return jar[self.cookie].value if self.cookie in jar else ""

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
    """The middleware: everything passes here, or is refused."""

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
        answer = self._refused(scope) or self._entered(scope) or self._unknown(scope)
        told = _Telling(send, scope)
        if answer is not None:
            await answer(scope, receive, told)
            return
        try:
            await self.app(scope, _Counted(receive), told)
        except TooLarge:
            if not told.begun:
                await _refusal(413, "That is more than any page here sends.")(scope, receive, told)

    def _refused(self, scope: Scope) -> Response | None:
        """Refuse what comes under a foreign name, from another site, or is too long."""
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.door.hosts:
            known = ", ".join(sorted(self.door.hosts))
            return _refusal(421, f"This server is not known by that name. It answers to {known}.")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            return _refusal(414, "The address is too long.")
        if scope["method"] not in SAFE and not _is_own(headers, self.door):
            return _refusal(403, "Another site sent this; nothing was done.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > LARGEST_BODY:
            return _refusal(413, "That is more than any page here sends.")
        return None

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
        if self.door.token is None and scope["method"] == "GET" and _wants_page(scope):
            return RedirectResponse("/login", 303)
        return _refusal(401, NOT_KNOWN if self.door.token else "Sign in first.")


def _is_own(headers: Headers, door: Door) -> bool:
    """Whether our own page sends it, or a script that has the key; no other site has that."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is not None:
        return origin.partition("://")[2].lower() == headers.get("host", "").lower()
    return bool(door.key) and headers.get("authorization", "").startswith("Bearer ")


def _wants_page(scope: Scope) -> bool:
    return "text/html" in Headers(scope=scope).get("accept", "")


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
    """An answer with what every one tells the browser; pages are not kept anywhere."""

    def __init__(self, send: Send, scope: Scope) -> None:
        self.send, self.begun = send, False
        self.kept = scope["path"].startswith("/static/")

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            if not self.kept:
                headers["cache-control"] = "no-store"
        await self.send(message)
