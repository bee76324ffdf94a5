"""A workbench that a team shares: one account of each role, and browsers that are signed in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Route

from idealist.web.accounts import Account, Accounts, Hashed, Strength, change_accounts
from idealist.web.application import Workbench
from idealist.web.found_files import Folder
from idealist.web.guard import Door
from idealist.web.routes import ACTIONS, DOWNLOADS, PAGES
from idealist.web.workspace import Workspace
from web_client import HOST, Client

#: The least that a hash may cost, for tests that only need one.
QUICK = Strength(2**14, 8, 1)
PASSWORD = "correct horse battery"
ROLES = ("reader", "judge", "editor")


@cache
def hashed(password: str = PASSWORD) -> Hashed:
    return Hashed.of(password, QUICK)


def account(path: Path, name: str, role: str, password: str = PASSWORD) -> None:
    """Give somebody an account, or another one."""
    change_accounts(path, lambda all_: all_.update({name: Account(name, role, hashed(password))}))


def shared(folder: Path, users: Path) -> Client:
    """Open a folder for a team: the accounts are named as their roles."""
    for role in ROLES:
        account(users, role, role)
    return Client(Workbench(Workspace(Folder(folder)), Door({HOST}), accounts=Accounts(users)))


def become(client: Client, name: str) -> Client:
    """Sign somebody in, without the cost of a password."""
    accounts = client.bench.accounts
    assert accounts is not None
    client.known(accounts.known()[name].person)
    return client


@dataclass(frozen=True)
class Address:
    """A route: how it is asked for, and what one must be allowed to do."""

    method: str
    path: str
    needs: str


def addresses(client: Client) -> Iterator[Address]:
    """Yield every route that the application has, whatever the tables say."""
    inside = client.app.app
    assert isinstance(inside, Starlette)
    needs = {path: need for table in (ACTIONS, DOWNLOADS) for path, (_, need) in table.items()}
    for page, (_, need) in PAGES.items():
        needs |= {page + suffix: need for suffix in ("", ".json", ".csv")}
    for route in inside.routes:
        assert isinstance(route, Route), "only plain routes are known to the tests"
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield Address(method, route.path, needs.get(route.path, ""))
