"""The workbench as an application: which address is answered by what, and who may ask."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from idealist.errors import IdealistError, UsageError
from idealist.rendering import plain_data
from idealist.web import layout
from idealist.web.accounts import Accounts
from idealist.web.bodies import MOST_FIELDS, sent
from idealist.web.guard import LOGIN, TOO_LARGE, Door, Guard, TooLarge
from idealist.web.model_work import ModelWork
from idealist.web.page_state import PageState
from idealist.web.people import ROLES, Person
from idealist.web.routes import ACTIONS, DOWNLOADS, PAGES
from idealist.web.signing_in import signing_in
from idealist.web.visit import Moved, NothingToDo, Page, Sent, Told, Visit
from idealist.web.workspace import Workspace

T = TypeVar("T")
LOG = logging.getLogger("idealist.web")
#: After how many seconds a page that is still computed says so, and how many are at once.
PATIENCE, AT_ONCE = 0.9, 8
#: How many pages may be under way, for all who look; for how many seconds one that is done waits
#: for its reader. What it shows may change meanwhile.
UNDER_WAY, KEPT = 64, 3.0


@dataclass
class Begun:
    """A page that is computed, and when that ended."""

    page: Future[Any]
    ended: float = 0.0

    def __post_init__(self) -> None:
        self.page.add_done_callback(lambda _: setattr(self, "ended", time.monotonic()))


@dataclass
class Workbench:
    """All that the application serves: the data, who may see it, and the models that may judge."""

    workspace: Workspace
    door: Door
    models: ModelWork = field(default_factory=ModelWork)
    accounts: Accounts | None = None
    slow: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(AT_ONCE, "page"))
    _under_way: dict[Any, Begun] = field(default_factory=dict)

    def application(self) -> Guard:
        """Build the application; the guard stands in front of every route."""
        routes = [Route("/", _home, methods=["GET"])]
        routes += [
            Route(path + suffix, self._page(path, make, needs, suffix))
            for path, (make, needs) in PAGES.items()
            for suffix in ("", ".json", ".csv")
        ]
        routes += [
            Route(path, self._action(act, needs), methods=["POST"])
            for path, (act, needs) in ACTIONS.items()
        ]
        routes += [
            Route(path, self._download(give, needs)) for path, (give, needs) in DOWNLOADS.items()
        ]
        files = {one.address: _asset(one) for one in layout.assets().values()}
        routes += [Route(address, answer) for address, answer in files.items()]
        routes += signing_in(self.door, self.accounts)
        self.door.accounts = self.accounts
        self.door.opened = {LOGIN, *files} if self.accounts else ()
        return Guard(Starlette(
            routes=routes, lifespan=self._life,
            exception_handlers={
                IdealistError: _mistake, HTTPException: _http, Exception: _defect,
                ClientDisconnect: _gone, TooLarge: _too_large,
            },
        ), self.door)  # fmt: skip

    @property
    def is_busy(self) -> bool:
        """Whether a page is being computed."""
        return any(not one.page.done() for one in self._under_way.values())

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        yield
        self.models.stop()
        self.slow.shutdown(wait=False, cancel_futures=True)
        self.workspace.close()

    def _visit(self, request: Request, needs: str, given: Any = None) -> Visit:
        person = _allowed(request, needs)
        query = request.scope["query_string"].decode("ascii")
        try:
            pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_FIELDS)
        except ValueError:
            raise UsageError("the address has too many parameters", "shorten it") from None
        return Visit(self.workspace, PageState.of(pairs), person, self.models, given or {})

    def _page(self, path: str, make: Callable[[Visit], Page], needs: str, suffix: str) -> Any:
        async def answer(request: Request) -> Response:
            visit = self._visit(request, needs)
            if suffix:
                asked = self.slow.submit(lambda: _twin(make(visit), suffix))
                return await asyncio.wrap_future(asked)
            found = await self._soon(path, visit, make)
            if found is None:
                filled: dict[str, Any] = {"stage": self.workspace.stage, "download": False}
                return _shown("working.html", visit, path, filled, 202)
            filled = {**found.filled, "title": found.title, "twin": _twins(found, visit, path)}
            return await run_in_threadpool(_shown, found.template, visit, path, filled)

        return answer

    async def _soon(self, path: str, visit: Visit, make: Callable[[Visit], T]) -> T | None:
        """Wait a while for a page; None where it takes longer, and goes on being computed."""
        key = (path, visit.state, visit.person)
        waiting = asyncio.wrap_future(self._begun(key, lambda: make(visit)))
        done, _ = await asyncio.wait([waiting], timeout=PATIENCE)
        if not done:
            waiting.add_done_callback(lambda one: one.cancelled() or one.exception())
            return None
        self._under_way.pop(key, None)
        return waiting.result()

    def _begun(self, key: Any, make: Callable[[], T]) -> Future[T]:
        """Begin a page, unless it is under way; forget those that nobody came back for."""
        now = time.monotonic()
        for other, one in list(self._under_way.items()):
            if other != key and one.ended and now - one.ended > KEPT:
                del self._under_way[other]
        if key not in self._under_way:
            if len(self._under_way) >= UNDER_WAY:
                raise HTTPException(503, "Many pages are being computed. Try again in a moment.")
            self._under_way[key] = Begun(self.slow.submit(make))
        return self._under_way[key].page

    def _action(self, act: Callable[[Visit], Moved | Told], needs: str) -> Any:
        async def answer(request: Request) -> Response:
            _allowed(request, needs)  # before anything is read
            visit = self._visit(request, needs, await sent(request))
            done = await run_in_threadpool(act, visit)
            if isinstance(done, Moved):
                return RedirectResponse(done.address, 303)
            return _json(done.data)

        return answer

    def _download(self, send: Callable[[Visit], Sent], needs: str) -> Any:
        async def answer(request: Request) -> Response:
            visit = self._visit(request, needs)
            found = await self._soon(request.url.path, visit, send)
            if found is None:
                filled = {"stage": self.workspace.stage, "download": True}
                return _shown("working.html", visit, request.url.path, filled, 202)
            name = quote(found.name.encode(errors="replace"), safe="")
            headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
            return Response(
                found.text.encode(errors="replace"), headers=headers, media_type=found.kind
            )

        return answer


async def _home(request: Request) -> Response:
    person = _allowed(request, "")
    return RedirectResponse("/runs" if person.may("see") else "/judge", 303)


def _allowed(request: Request, needs: str) -> Person:
    person: Person | None = request.state.person
    if person is None or not person.may(needs):
        able = " and ".join(f"{role}s" for role, may in ROLES.items() if needs in may)
        raise HTTPException(403, f"Your role does not allow this; it is for {able}.")
    return person


def _twins(page: Page, visit: Visit, path: str) -> dict[str, str]:
    """Return the addresses of the same for programs."""
    found = {"json": visit.state.address(f"{path}.json")}
    return found if page.table is None else found | {"csv": visit.state.address(f"{path}.csv")}


def _twin(page: Page, suffix: str) -> Response:
    if suffix == ".json":
        return _json(page.data())
    if page.table is None:
        raise HTTPException(404, "This page has no table; its .json twin has everything.")
    text = plain_data.separated(page.table(), ",")
    return PlainTextResponse(f"{text}\n", media_type="text/csv")


def _json(data: Any) -> Response:
    text = plain_data.to_json(data)
    return Response(text.encode(errors="replace"), media_type="application/json")


def _shown(
    template: str, visit: Visit, path: str, filled: Mapping[str, Any], status: int = 200
) -> Response:
    shared = {
        "menu": layout.menu_of(visit.person.may), "path": path, "person": visit.person,
        "folder": visit.workspace.source.path.name, "named": visit.workspace.named(visit.state),
    }  # fmt: skip
    page = layout.written(template, visit.state, {"twin": {}, "title": "", **filled, **shared})
    return HTMLResponse(page.encode(errors="replace"), status)


def _asset(one: layout.Asset) -> Any:
    async def answer(_: Request) -> Response:
        headers = {"cache-control": "max-age=31536000, immutable"}
        return Response(one.content, headers=headers, media_type=one.kind)

    return answer


def _refuse(request: Request, status: int, words: str, hint: str = "") -> Response:
    """Say what went wrong, to a reader or to a program."""
    if request.url.path.endswith((".json", ".csv")) or _is_script(request):
        return JSONResponse({"error": words, "hint": hint}, status)
    person: Person | None = getattr(request.state, "person", None)
    menu = layout.menu_of(person.may) if person else []
    page = layout.written("refused.html", PageState(), {
        "menu": menu, "path": request.url.path, "person": person, "folder": "", "twin": {},
        "title": "There is nothing to do" if status == 409 else "That did not work",
        "status": status, "words": words, "hint": hint, "back": _back(request),
    })  # fmt: skip
    return HTMLResponse(page.encode(errors="replace"), status)


def _back(request: Request) -> str:
    """Return the page of ours that a reader came from, if one is known."""
    came = urlsplit(request.headers.get("referer", ""))
    own = came.netloc == request.headers.get("host") and came.path != request.url.path
    return f"{came.path}?{came.query}".rstrip("?") if own and came.path.startswith("/") else ""


def _is_script(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "") or request.headers.get(
        "content-type", ""
    ).startswith("application/json")


def _mistake(request: Request, error: Exception) -> Response:
    """Say what was wrong with what was asked, as the command line would."""
    words = getattr(error, "message", str(error))
    status = 409 if isinstance(error, NothingToDo) else 400
    hint = getattr(error, "hint", "") or ""
    return _refuse(
        request, status, f"{words[:1].upper()}{words[1:]}.", f"{hint[:1].upper()}{hint[1:]}"
    )


def _http(request: Request, error: Exception) -> Response:
    """Say what an answer of another kind means; our own words end with a full stop."""
    status, detail = getattr(error, "status_code", 400), getattr(error, "detail", "")
    said = {404: "There is no such page here.", 405: "This address takes another kind of request."}
    own = detail.endswith(".")
    return _refuse(request, status, detail if own else said.get(status, "That cannot be asked."))


def _too_large(request: Request, _: Exception) -> Response:
    return _refuse(request, 413, TOO_LARGE)


def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=499)


def _defect(request: Request, error: Exception) -> Response:
    """Say that it is our fault; what happened is written to the terminal."""
    LOG.error("a page failed: %s", request.url.path, exc_info=error)
    return _refuse(request, 500, "This is a defect of idealist; the terminal shows what happened.")
