"""The workbench without a network: requests go to the application as a server would hand them over."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from idealist.web.application import Workbench
from idealist.web.found_files import Folder
from idealist.web.guard import Door
from idealist.web.model_work import ModelWork
from idealist.web.people import Person
from idealist.web.workspace import Workspace

HOST = "127.0.0.1:8517"
#: What a browser sends with what a page of ours posts.
OURS = {"sec-fetch-site": "same-origin"}
EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    """A browser, or whatever it says to be, at the door of a workbench."""

    bench: Workbench
    cookies: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.app = self.bench.application()

    @classmethod
    def of(
        cls, folder: Path, role: str = "editor", name: str = "ann", models: ModelWork | None = None
    ) -> Client:
        """Open a folder, as somebody who is known."""
        workspace = Workspace(Folder(folder), judge=name)
        bench = Workbench(workspace, Door({HOST}, key="key"), models or ModelWork())
        client = cls(bench)
        client.known(Person(name, role))
        return client

    def known(self, person: Person) -> None:
        """Come in as somebody."""
        door = self.bench.door
        self.cookies[door.cookie] = door.sessions.begin(person)

    def get(self, address: str, **headers: str) -> Answer:
        return self.ask("GET", address, headers=headers)

    def post(self, address: str, data: Any = None, *, form: bool = False, **headers: str) -> Answer:
        """Post JSON, or a form, as our own pages do."""
        body = urlencode(data or {}) if form else json.dumps(data or {})
        kind = "application/x-www-form-urlencoded" if form else "application/json"
        return self.ask("POST", address, body.encode(), {**OURS, "content-type": kind, **headers})

    def ask(
        self, method: str, address: str, body: bytes = b"", headers: dict[str, str] | None = None,
        blocks: Iterable[bytes] = (),
    ) -> Answer:  # fmt: skip
        """Ask for anything, in any way; underscores of names of headers are hyphens."""
        path, _, query = address.partition("?")
        given = {"host": HOST, "content-length": str(len(body)), "accept": "text/html"}
        given |= {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        if self.cookies and "cookie" not in given:
            given["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
            "scheme": "http", "path": path, "raw_path": path.encode(errors="replace"),
            "query_string": query.encode(errors="replace"), "root_path": "",
            "headers": [(n.lower().encode("latin-1"), v.encode("latin-1", "replace")) for n, v in given.items()],
            "client": ("127.0.0.1", 50000), "server": ("127.0.0.1", 8517), "state": {},
        }  # fmt: skip
        return asyncio.run(self._sent(scope, list(blocks) or [body]))

    async def _sent(self, scope: dict[str, Any], blocks: list[bytes]) -> Answer:
        left, told = list(blocks), list[dict[str, Any]]()

        async def receive() -> dict[str, Any]:
            if not left:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

        async def send(message: Any) -> None:
            told.append(message)

        await self.app(scope, receive, send)
        start = next(one for one in told if one["type"] == "http.response.start")
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in start["headers"]
        }
        body = b"".join(one.get("body", b"") for one in told if one["type"] == "http.response.body")
        return Answer(start["status"], headers, body)
