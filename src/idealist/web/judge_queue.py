"""Judge."""

from __future__ import annotations

from collections.abc import Callable

from idealist.web.visit import Moved, Page, Sent, Told, Visit

ACTIONS: dict[str, tuple[Callable[[Visit], Moved | Told], str]] = {}


def page(visit: Visit) -> Page:
    """Show it."""
    return Page("Judge", "refused.html", {"words": "not yet", "hint": ""}, dict)


def report(visit: Visit) -> Sent:
    """Send it."""
    return Sent("report.html", "", "text/html")
