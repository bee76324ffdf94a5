"""Accounts: a file of names, roles and hashes of passwords; and the page where people sign in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.responses import Response
from starlette.routing import Route

from idealist.web.guard import Door


@dataclass
class Accounts:
    """Who may sign in."""


def signing_in(
    door: Door, accounts: Accounts | None, refuse: Callable[..., Response]
) -> list[Route]:
    """Return the routes by which people sign in and out."""
    return []
