"""How pages are written: templates that escape everything, and the files they refer to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from idealist._version import __version__
from idealist.rendering.document import PERCENT, SIGNED, VALUE, Block, Drawing
from idealist.rendering.drawing import svg
from idealist.rendering.figure import Figure
from idealist.rendering.wording import clipped, counted, number, seen, signed
from idealist.reporting.lists_html import marker
from idealist.reporting.report_page import PageWriter
from idealist.web.page_state import PageState

#: The pages of the workbench, in the order of the menu: address, name, what one must be able to do.
MENU = (
    ("/runs", "Runs", "see"),
    ("/compare", "Compare", "see"),
    ("/judge", "Judge", "judge"),
    ("/judges", "Judges", "see"),
    ("/audit", "Audit", "see"),
    ("/settings", "Settings", "see"),
    ("/files", "Files", "see"),
)
KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@dataclass(frozen=True)
class Asset:
    """A file that pages refer to, under a name that changes with its content."""

    name: str
    content: bytes
    kind: str

    @property
    def address(self) -> str:
        """Where it is served."""
        stem, _, suffix = self.name.rpartition(".")
        return f"/static/{stem}.{hashlib.sha256(self.content).hexdigest()[:12]}.{suffix}"


@cache
def assets() -> dict[str, Asset]:
    """Return our files, by name: the looks of reports, and what the workbench adds to them."""
    look = svg.style() + files("idealist.reporting").joinpath("page.css").read_text("utf-8")
    own = files("idealist.web").joinpath("static")
    look += own.joinpath("workbench.css").read_text("utf-8")
    look += own.joinpath("pages.css").read_text("utf-8")
    found = {"workbench.css": look.encode()}
    for one in own.iterdir():
        if one.name.endswith((".js", ".svg")) or one.name == "judge.css":
            found[one.name] = one.read_bytes()
    return {
        name: Asset(name, content, KINDS[name.rpartition(".")[2]])
        for name, content in found.items()
    }


def blocks(found: Sequence[Block], link: Callable[[str], str] | None = None) -> Markup:
    """Write blocks of a document; figures lead to queries by `link`."""
    return Markup(PageWriter(link=link or (lambda _: "")).blocks(found))


def figure(found: Figure, link: Callable[[str], str] | None = None) -> Markup:
    """Draw a figure."""
    return blocks([Drawing(found)], link)


def marked(text: str, query: str) -> Markup:
    """Write a text with the words of a query marked."""
    return Markup(marker(query)(text))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("idealist.web"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else _words(value),
    )  # fmt: skip
    made.globals |= {
        "version": __version__, "menu": MENU, "asset": lambda name: assets()[name].address,
        "counted": counted,
    }  # fmt: skip
    made.filters |= {
        "value": VALUE, "signed": SIGNED, "percent": PERCENT, "number": number, "marked": marked,
        "clipped": clipped, "difference": signed,
    }  # fmt: skip
    return made


def _words(value: Any) -> Any:
    """Write what is printed: nothing for None, and signs that cannot be seen as visible ones."""
    return "" if value is None else seen(value) if isinstance(value, str) else value


def written(template: str, state: PageState, filled: Mapping[str, Any]) -> str:
    """Write a page."""
    return _environment().get_template(template).render({**filled, "state": state})


def menu_of(may: Callable[[str], bool]) -> list[tuple[str, str]]:
    """Return the pages that somebody may see."""
    return [(address, name) for address, name, needs in MENU if may(needs)]
