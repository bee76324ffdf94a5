"""The files: what each was found to be, and how to say otherwise."""

from __future__ import annotations

from idealist.rendering.document import Table
from idealist.web.file_roles import ROLES
from idealist.web.found_files import FoundFile, Given
from idealist.web.visit import Moved, Page, Visit


def page(visit: Visit) -> Page:
    """Show the files and what they are."""
    found = list(visit.workspace.files().values())
    filled = {
        "files": found, "roles": ROLES, "fixed": isinstance(visit.workspace.source, Given),
        "may_edit": visit.person.may("edit"), "cut": visit.workspace.source.is_cut,
    }  # fmt: skip
    return Page(
        "Files",
        "files.html",
        filled,
        lambda: {"files": [*map(_data, found)]},
        lambda: _table(found),
    )


def _data(one: FoundFile) -> dict[str, object]:
    size = one.stamp[1]
    return {"file": one.name, "role": one.role, "why": one.why, "bytes": size}


def _table(found: list[FoundFile]) -> Table:
    return Table.of(["file", "role", "why"], [], [(one.name, one.role, one.why) for one in found])


def correct(visit: Visit) -> Moved:
    """Say what a file is."""
    visit.workspace.correct(str(visit.sent.get("file", "")), str(visit.sent.get("role", "")))
    return Moved(visit.state.address("/files"))


def make_store(visit: Visit) -> Moved:
    """Make a store of the judgments, and go back to where it was wanted."""
    name = visit.workspace.make_store(visit.state)
    goes = {"query": "/query", "judge": "/judge"}.get(str(visit.sent.get("to", "")), "/judges")
    return Moved(visit.state.address(goes, judgments=name))
