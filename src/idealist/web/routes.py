"""Every address of the workbench: what answers it, and what one must be allowed to do."""

from __future__ import annotations

from collections.abc import Callable

from idealist.web import (
    agreement_page,
    audit_page,
    compare_page,
    disputes_page,
    files_page,
    judge_queue,
    judges_page,
    model_page,
    query_page,
    runs_page,
    search_page,
    settings_page,
)
from idealist.web.visit import Moved, Page, Sent, Told, Visit

#: Pages, each with a .json twin, and a .csv one where it has a table.
PAGES: dict[str, tuple[Callable[[Visit], Page], str]] = {
    "/runs": (runs_page.page, "see"),
    "/compare": (compare_page.page, "see"),
    "/query": (query_page.page, "see"),
    "/judge": (judge_queue.page, "judge"),
    "/judges": (judges_page.page, "see"),
    agreement_page.PATH: (agreement_page.page, "see"),
    disputes_page.PATH: (disputes_page.page, "see"),
    model_page.PATH: (model_page.page, "see"),
    "/audit": (audit_page.page, "see"),
    "/settings": (settings_page.page, "see"),
    "/files": (files_page.page, "see"),
    "/search": (search_page.page, "see"),
}
#: What changes something, always sent by our own pages.
ACTIONS: dict[str, tuple[Callable[[Visit], Moved | Told], str]] = {
    "/runs/save": (runs_page.save, "edit"),
    "/query/grade": (query_page.grade, "edit"),
    "/query/undo": (query_page.undo, "edit"),
    "/files/role": (files_page.correct, "edit"),
    "/files/store": (files_page.make_store, "edit"),
    **judge_queue.ACTIONS,
    **judges_page.ACTIONS,
    **audit_page.ACTIONS,
}
#: Files to keep.
DOWNLOADS: dict[str, tuple[Callable[[Visit], Sent], str]] = {
    "/report.html": (settings_page.report, "see"),
}
