"""Compare."""

from __future__ import annotations

from idealist.web.visit import Moved, Page, Visit


def page(visit: Visit) -> Page:
    """Show it."""
    return Page("Compare", "refused.html", {"words": "not yet", "hint": ""}, dict)


def grade(visit: Visit) -> Moved:
    """Grade it."""
    return Moved("/")
