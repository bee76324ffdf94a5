"""The judges: how far judging is, who did what, and what is judged of each run at each rank."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from idealist.auditing.chances import DEPTHS
from idealist.auditing.coverage import RunCoverage, coverage_of
from idealist.errors import IdealistError, UsageError
from idealist.judging.disputes import Disputes
from idealist.judging.store_status import StoreStatus
from idealist.rendering.document import SHARE, TEXT, Column, Items, Table
from idealist.rendering.figures import curve_figures
from idealist.web import disputes_page, layout, model_page
from idealist.web.query_list import shown_runs
from idealist.web.visit import Moved, Page, Told, Visit

#: The ranks of which the share that is judged is told.
RANKS = (*range(1, 11), 20, 50, 100)

ACTIONS: dict[str, tuple[Callable[[Visit], Moved | Told], str]] = {
    **disputes_page.ACTIONS,
    **model_page.ACTIONS,
}


def page(visit: Visit) -> Page:
    """Show how far judging is."""
    workspace, state = visit.workspace, visit.state
    shared = {"may_edit": visit.person.may("edit"), "models": visit.models}
    if workspace.store(state) is None:
        filled = {**shared, "store": "", "judged": bool(workspace.judged)}
        return Page("Judges", "judges.html", filled, lambda: {"store": None})
    status = workspace.about_store(state, "status", StoreStatus.of)
    disputes = workspace.about_store(state, "disputes", Disputes.of)
    covered, lacking = coverage(visit) if status.pairs else ({}, "Nothing is judged yet.")
    _, people, batches, costs, facts = status.report().blocks
    filled = {
        **shared, "store": workspace.judgments_file(state).name, "progress": status,
        "disputes": disputes, "people": layout.blocks([people]),
        "batches": layout.blocks([batches]) if status.batches else "",
        "costs": layout.blocks([costs]) if status.costs else "",
        "facts": layout.blocks([_told(visit, facts)]), "lacking": lacking,
        "coverage": coverage_blocks(covered) if covered else "",
    }  # fmt: skip
    return Page(
        "Judges", "judges.html", filled,
        lambda: {
            "status": status.data(), "disputes": len(disputes.waiting),
            "runs": [one.data() for one in covered.values()],
        },
        status.table,
    )  # fmt: skip


def _told(visit: Visit, facts: Any) -> Items:
    """Leave out that the store has no texts, where a file beside it has them."""
    beside = any(one.role == "documents" for one in visit.workspace.files().values())
    return Items(tuple(one for one in facts.items if not (beside and one.startswith("Texts:"))))


def coverage(visit: Visit) -> tuple[Mapping[str, RunCoverage], str]:
    """Find what is judged of each run that is looked at, or say why that is not known."""
    workspace, state = visit.workspace, visit.state
    runs = shown_runs(state, list(workspace.runs))
    if not runs:
        return {}, "There are no runs in the folder."
    try:
        found = workspace.about_store(state, "coverage", lambda _: _covered(visit, runs), runs)
    except UsageError:
        raise
    except IdealistError as error:
        return {}, str(error)
    return found, ""


def _covered(visit: Visit, runs: list[str]) -> dict[str, RunCoverage]:
    found = visit.workspace.measured(visit.state)
    protocol = next(iter(found.evaluator.instruments.values())).protocol.whole()
    with found.lock:
        return {
            run: coverage_of(run, found.ranked[run][protocol])
            for run in runs
            if run in found.ranked
        }


def coverage_table(covered: Mapping[str, RunCoverage]) -> Table:
    """Tabulate the share of lists that have a judged document at a rank."""
    ranks = [rank for rank in RANKS if any(_at(one, rank) is not None for one in covered.values())]
    columns = (Column("run", TEXT, shortens=True), *(Column(str(rank), SHARE) for rank in ranks))
    rows = ((run, *(_at(one, rank) for rank in ranks)) for run, one in covered.items())
    return Table(columns, tuple(rows), "Share of lists with a judged document at rank")


def _at(one: RunCoverage, rank: int) -> float | None:
    share = float(one.by_rank[rank - 1]) if rank <= len(one.by_rank) else math.nan
    return None if math.isnan(share) else share


def coverage_blocks(covered: Mapping[str, RunCoverage]) -> Markup:
    """Draw what is judged at each rank, and tabulate it."""
    shares = {run: one.by_rank.tolist() for run, one in covered.items()}
    lists = {run: one.reach.tolist() for run, one in covered.items()}
    top = {run: one.judged[DEPTHS[0]] for run, one in covered.items()}
    figure = curve_figures.coverage(shares, lists, top, DEPTHS[0])
    return layout.figure(figure) + layout.blocks([coverage_table(covered)])
