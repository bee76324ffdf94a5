"""The server: where it listens, what it prints, and how it stops."""

from __future__ import annotations

import os
import re
import secrets
import socket
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from threading import Timer
from urllib.parse import urlsplit

import uvicorn

from idealist.errors import UsageError
from idealist.web.accounts import Accounts
from idealist.web.application import Workbench
from idealist.web.guard import ENTER, Door
from idealist.web.model_work import ModelWork
from idealist.web.people import Person, Token
from idealist.web.workspace import Workspace

#: The shells' code for a program stopped by Ctrl-C.
STOPPED = 130
#: Where the workbench listens unless told; the next ports are tried where it is taken.
PORT, TRIED = 8517, 20
#: What listens everywhere, and is no name of this machine.
ANYWHERE = ("", "0", "0.0.0.0", "[::]")
#: Ports that browsers leave out.
USUAL = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Place:
    """Where a server listens; `public` are the addresses under which others reach it."""

    host: str = "127.0.0.1"
    port: int = PORT
    public: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def origins(self, port: int) -> frozenset[str]:
        """Return the addresses under which a browser may ask, as it writes them.

        >>> sorted(Place(public=("https://Eval.example.org:443/",)).origins(8517))[-1]
        'https://eval.example.org'
        """
        own = _bracketed(self.host.lower())
        names = ["127.0.0.1", "localhost", "[::1]"] if self.is_local else [own]
        found = {f"http://{name}:{port}" for name in names if name not in ANYWHERE}
        return frozenset(map(_origin, found | {*self.public}))

    def hosts(self, port: int) -> frozenset[str]:
        """Return the names under which a browser may ask."""
        return frozenset(one.partition("://")[2] for one in self.origins(port))

    @property
    def is_encrypted(self) -> bool:
        """Whether every browser comes by an encrypted way, through a proxy."""
        return bool(self.public) and all(_origin(one).startswith("https:") for one in self.public)

    def check(self, accounts: Accounts | None) -> None:
        """Refuse to be reached from elsewhere without accounts, or under no name."""
        for one in self.public:
            if not _is_origin(one):
                hint = "give https://eval.example.org, without a path"
                raise UsageError(f"--public {one!r} is not the address of a server", hint)
        if self.is_local and not self.public:
            return
        if accounts is None:
            hint = "give --users FILE; idealist ui add-user FILE NAME makes one"
            raise UsageError("other machines could reach this server, but it has no accounts", hint)
        if _bracketed(self.host) in ANYWHERE and not self.public:
            hint = "say under which address browsers reach it: --public http://HOST:PORT"
            raise UsageError(f"--host {self.host} does not name this server", hint)


def bound(place: Place) -> socket.socket:
    """Take a port: the one that is asked for, or a free one after the usual."""
    asked = [place.port] if place.port != PORT else range(PORT, PORT + TRIED)
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    for port in asked:
        found = socket.socket(family)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((place.host, port))
            found.listen(128)  # so that who comes before the server is ready waits
        except OSError as error:
            found.close()
            reason = error.strerror
            continue
        return found
    raise UsageError(
        f"cannot listen at {place.host}:{place.port}: {reason}", "choose another --port"
    )


def serve(
    workspace: Workspace, place: Place = Place(), *, accounts: Accounts | None = None,
    models: ModelWork | None = None, opens: bool = False, say: Callable[[Sequence[str]], None],
) -> None:  # fmt: skip
    """Serve the workbench until it is stopped."""
    place.check(accounts)
    taken = bound(place)
    port = taken.getsockname()[1]
    door = Door(
        place.hosts(port), cookie=f"idealist-{port}", secure=place.is_encrypted,
        origins=place.origins(port),
    )  # fmt: skip
    address = f"http://{_bracketed(place.host)}:{port}"
    if accounts is None:
        door.token, door.key = Token(), secrets.token_urlsafe(32)
        door.owner = Person(workspace.judge)
        address = f"{address}{ENTER}?token={door.token.secret}"
        say([f"open {address}", f"scripts send the header: Authorization: Bearer {door.key}"])
    else:
        say([*accounts.doubts(), f"open {place.public[0] if place.public else address}"])
    say([f"serving {Path(workspace.source.path)}; Ctrl-C ends it"])
    bench = Workbench(workspace, door, models or ModelWork(), accounts)
    config = uvicorn.Config(
        bench.application(), log_level="critical", access_log=False, lifespan="on", ws="none",
        proxy_headers=bool(place.public), forwarded_allow_ips="127.0.0.1,::1", server_header=False,
        timeout_graceful_shutdown=2, h11_max_incomplete_event_size=2**16,
    )  # fmt: skip
    if opens:
        Timer(0.3, webbrowser.open, [address]).start()
    try:
        uvicorn.Server(config).run(sockets=[taken])
    finally:
        if bench.is_busy:  # Python would wait for what nobody will see; stores are closed by now
            say(["stopped; what was being computed is dropped"])
            os._exit(STOPPED)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_origin(address: str) -> bool:
    """Whether it names a server and nothing in it."""
    try:
        parts = urlsplit(address)
        named = parts.scheme in USUAL and parts.hostname and parts.port != 0
    except ValueError:
        return False
    more = parts.path.strip("/") or parts.query or parts.fragment
    return bool(named) and not more and bool(re.fullmatch(r"[\w.:\[\]-]+", parts.netloc, re.ASCII))


def _origin(address: str) -> str:
    """Write an address as browsers do: in small letters, without the usual port."""
    parts = urlsplit(address)
    port = "" if parts.port in (None, USUAL[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{_bracketed(parts.hostname or '')}{port}"
