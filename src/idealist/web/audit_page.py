"""The audit and the diagnosis: what makes numbers doubtful, what it costs, and how to mend it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from idealist.auditing import Audit
from idealist.diagnosing import Diagnosis
from idealist.errors import IdealistError, UsageError
from idealist.rendering import doubt_words
from idealist.rendering.document import Items, Table
from idealist.rendering.doubt import CODES, Doubt
from idealist.rendering.wording import number
from idealist.web import layout
from idealist.web.query_list import shown_runs
from idealist.web.repairs import Repair, run_repair
from idealist.web.visit import Moved, Page, Told, Visit

#: How many queries of a thing to do are linked.
LINKED = 12


def page(visit: Visit) -> Page:
    """Show the findings of the audit, then the diagnosis of one run."""
    workspace, state = visit.workspace, visit.state
    judged = workspace.is_judged(state)
    runs = shown_runs(state, list(workspace.runs)) if judged else []
    if not runs:
        filled: dict[str, Any] = {"audit": None, "judged": judged, "files": workspace.judged}
        return Page("Audit", "audit.html", filled, lambda: {"audit": None, "diagnose": None})
    found, run = workspace.audited(state, runs), state.run or runs[0]
    diagnosis, why = _diagnosed(visit, run)
    filled = {
        "audit": found, "runs": runs, "run": run, "may_edit": visit.person.may("edit"),
        "groups": [_filled(group, visit) for group in doubt_words.alike(found.findings)],
        "coverage": _coverage(found), "why": why, "diagnosis": diagnosis,
        **(_advice(diagnosis, visit) if diagnosis else {}),
    }  # fmt: skip
    return Page(
        "Audit", "audit.html", filled,
        lambda: {"audit": found.data(), "diagnose": diagnosis.data() if diagnosis else None},
        found.table,
    )  # fmt: skip


def _diagnosed(visit: Visit, run: str) -> tuple[Diagnosis | None, str]:
    """Diagnose a run; or say why it cannot be, as where it cannot be read."""
    try:
        return visit.workspace.diagnosed(visit.state, run), ""
    except UsageError:
        raise
    except IdealistError as error:
        return None, str(error)


def _filled(group: list[Doubt], visit: Visit) -> dict[str, Any]:
    """Lay out findings that are alike: what, of which runs, what it costs, and how to mend it."""
    first = group[0]
    folder = visit.workspace.source.path
    commands = {one.command: one for one in reversed(group) if one.command}
    repairs = [(one, Repair.of(one, folder)) for one in reversed(commands.values())]
    return {
        "first": first, "group": group, "means": CODES.get(first.code, ""), "price": _price(group),
        "examples": [*doubt_words.examples_of(first)] if len(group) == 1 else [],
        "repairs": repairs,
    }  # fmt: skip


def _price(group: list[Doubt]) -> Table | None:
    """Tabulate what measures of the runs are, and what they would be."""
    rows = [
        (run, label, number(now), " to ".join(map(number, then)))
        for one in group
        for run, own in one.price.items()
        for label, (now, *then) in own.items()
    ]
    heads = ["run", "measure", "now", group[0].supposing or "without it"]
    return Table.of(heads, [], rows) if rows else None


def _coverage(found: Audit) -> Any:
    """Draw and tabulate how much of each run is judged."""
    coverage = found.coverage
    if coverage is None or not coverage.runs or coverage.gold != "pooled":
        return ""
    drawn = layout.figure(found.figure("coverage")) if "coverage" in found.figures else ""
    return layout.blocks([coverage.table()]) + drawn


def _advice(diagnosis: Diagnosis, visit: Visit) -> Mapping[str, Any]:
    """Lay out what a run loses and what to do; queries lead to their lists."""
    state = visit.state.kept("column", "run")

    def link(query: str) -> str:
        return state.address("/query", query=query)

    lists = [
        (one, [(query, link(query)) for query in [*one.queries][:LINKED]]) for one in diagnosis.todo
    ]
    _, *blocks = diagnosis.report().blocks
    kept = [one for one in blocks if not isinstance(one, Items)][bool(diagnosis.todo) :]
    drawn = layout.figure(diagnosis.figure("losses"), link) if diagnosis.matches else ""
    return {"todo": lists, "losses": drawn, "tables": layout.blocks(kept, link)}


def repair(visit: Visit) -> Told:
    """Run the repair of a finding: the audit finds it again, and only its own command is run."""
    workspace, state = visit.workspace, visit.state
    runs = shown_runs(state, list(workspace.runs)) if workspace.is_judged(state) else []
    wanted = tuple(str(visit.sent.get(name, "")) for name in ("code", "run", "command"))
    known = workspace.audited(state, runs).findings if runs else ()
    same = (one for one in known if (one.code, one.run) == wanted[:2])
    found = next((one for one in same if wanted[2] in ("", one.command)), None)
    if found is None:
        raise UsageError("the audit does not find this any more", "look at the page again")
    said = run_repair(Repair.of(found, workspace.source.path))
    workspace.files(fresh=True)
    return Told(said)


ACTIONS: dict[str, tuple[Callable[[Visit], Moved | Told], str]] = {
    "/audit/repair": (repair, "edit"),
}
