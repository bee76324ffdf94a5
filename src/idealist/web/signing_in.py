"""The page where people sign in: names and passwords, and how often somebody may guess."""

from __future__ import annotations

import asyncio
import math
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from idealist.rendering.wording import counted
from idealist.web import layout
from idealist.web.accounts import LONGEST, LONGEST_NAME, Accounts
from idealist.web.bodies import sent
from idealist.web.guard import LOGIN, LOGOUT, Door
from idealist.web.login_limits import Guesses
from idealist.web.page_state import PageState
from idealist.web.people import Person

#: How many passwords are checked at once, each in 32 MB of memory, and how many may wait for that.
AT_ONCE, WAITING = 2, 32
WRONG = "That name and password do not belong together."
BUSY = "Many people are signing in. Try again in a moment."


def signing_in(door: Door, accounts: Accounts | None) -> list[Route]:
    """Return the routes by which people sign in and out; there are none without accounts."""
    if accounts is None:
        return []
    desk = Desk(door, accounts)
    return [
        Route(LOGIN, desk.page, methods=["GET"]),
        Route(LOGIN, desk.sign_in, methods=["POST"]),
        Route(LOGOUT, desk.sign_out, methods=["POST"]),
    ]


@dataclass(eq=False)
class Desk:
    """Where people say who they are."""

    door: Door
    accounts: Accounts
    guesses: Guesses = field(default_factory=Guesses)
    _checking: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(AT_ONCE, "password")
    )
    _waiting: int = 0

    async def page(self, request: Request) -> Response:
        """Show the form; who is known already goes on."""
        if request.state.person is not None:
            return RedirectResponse("/", 303)
        return _form()

    async def sign_in(self, request: Request) -> Response:
        """Let somebody in whose name and password belong together, unless others guess too much."""
        given = await sent(request)
        name = unicodedata.normalize("NFC", str(given.get("name", "")).strip())
        password = str(given.get("password", ""))
        if not name or len(name) > LONGEST_NAME or len(password) > LONGEST:
            return _form(WRONG, 401)
        if self._waiting >= WAITING:
            return _form(BUSY, 503, {"retry-after": "5"}, name)
        address = request.client.host if request.client else ""
        if wait := self.guesses.begin(name, address):
            seconds = math.ceil(wait)
            return _form(_later(seconds), 429, {"retry-after": str(seconds)}, name)
        person = await self._checked(name, password)
        if person is None:
            return _form(WRONG, 401, name=name)
        self.guesses.right(name, address)
        self.door.sessions.end(self.door.secret(request.headers))
        return self.door.let_in(person, RedirectResponse("/", 303))

    async def _checked(self, name: str, password: str) -> Person | None:
        """Check a password beside all that the server does meanwhile."""
        self._waiting += 1
        try:
            check = self._checking.submit(self.accounts.signed_in, name, password)
            return await asyncio.wrap_future(check)
        finally:
            self._waiting -= 1

    async def sign_out(self, request: Request) -> Response:
        """Forget this browser."""
        return self.door.let_out(request.headers, RedirectResponse(LOGIN, 303))


def _later(seconds: int) -> str:
    """Say when to try again.

    >>> _later(100)
    'Too many wrong passwords. Try again in 2 minutes.'
    """
    wait = (
        counted(seconds, "second", "seconds")
        if seconds < 90
        else counted(math.ceil(seconds / 60), "minute", "minutes")
    )
    return f"Too many wrong passwords. Try again in {wait}."


def _form(
    wrong: str = "", status: int = 200, headers: dict[str, str] | None = None, name: str = ""
) -> Response:
    page = layout.written("login.html", PageState(), {
        "menu": [], "path": LOGIN, "person": None, "folder": "", "title": "Sign in", "twin": {},
        "wrong": wrong, "name": name,
    })  # fmt: skip
    return HTMLResponse(page.encode(errors="replace"), status, headers)
