"""The runs: means with intervals, what they were before, and the rules that made the numbers."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.conventions import CONVENTIONS, DEFAULT
from idealist.errors import IdealistError, UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluator import DEFAULT_MEASURES
from idealist.measures import MEASURES, Measure
from idealist.measures.instrument import Aggregate
from idealist.notation import Settings
from idealist.protocol import Protocol
from idealist.rendering.document import Doubts, Table
from idealist.web import layout
from idealist.web.found_files import FoundFile
from idealist.web.page_state import PageState
from idealist.web.query_list import shown_runs
from idealist.web.visit import Moved, Page, Visit
from idealist.web.workspace import Measured, Workspace

#: How many runs a page lists.
LISTED = 100
#: Parts of a signature that are no rules of a measure or a ranking.
OTHER_RULES = {
    "measure": "the formula", "cutoff": "how many ranks count", "qrels": "the judgments",
    "rules": "the version of these rules",
}  # fmt: skip
#: So few runs stand in the order of their names.
FEW = 3
#: Where saved evaluations go, in the folder.
SAVED = "evaluations"


@dataclass(frozen=True)
class RunRow:
    """A run with its means; `history` is the first measure of what was saved of it, and now."""

    name: str
    cells: tuple[Any, ...]
    history: tuple[float, ...]
    pinned: bool
    baseline: bool


def page(visit: Visit) -> Page:
    """Show the runs."""
    workspace, state = visit.workspace, visit.state
    if not workspace.judged or not workspace.runs:
        return Page("Runs", "start.html", _lacking(workspace), lambda: {"runs": []})
    if not workspace.is_judged(state):
        filled = {**_lacking(workspace), "unjudged": True}
        return Page("Runs", "start.html", filled, lambda: {"runs": []})
    found = workspace.measured(state)
    if not found.evaluations.runs:
        filled = {"refused": found.refused, **_lacking(workspace)}
        return Page("Runs", "start.html", filled, lambda: {"runs": [], "refused": found.refused})
    rows = _sorted(_rows(visit, found), found, state)
    first = (max(state.page, 1) - 1) * LISTED
    filled = {
        "rows": rows[first : first + LISTED], "pages": -(-len(rows) // LISTED), "found": found,
        "measures": found.evaluations.measures, "heading": found.evaluations.heading,
        "doubts": layout.blocks([Doubts(found.evaluations.doubts)]),
        "rules": _rules(found), "conventions": sorted(CONVENTIONS), "usual": DEFAULT,
        "known": sorted(MEASURES), "typed": ", ".join(state.measures or DEFAULT_MEASURES),
        "judged": workspace.judged, "file": workspace.judgments_file(state),
        "qrels": found.evaluator.qrels, "may_edit": visit.person.may("edit"),
        "history": any(len(row.history) > 1 for row in rows), "spark": spark,
    }  # fmt: skip
    return Page(
        "Runs", "runs.html", filled,
        lambda: {**found.evaluations.data(), "refused": dict(found.refused)},
        lambda: _table(rows, found.evaluations.measures),
    )  # fmt: skip


def _lacking(workspace: Workspace) -> dict[str, Any]:
    """Say what a start needs that is not there."""
    return {
        "has_judgments": bool(workspace.judged), "has_runs": bool(workspace.runs), "refused": {},
        "unjudged": False, "cut": workspace.source.is_cut,
        "has_store": any(one.role == "store" for one in workspace.judged),
    }  # fmt: skip


def _rows(visit: Visit, found: Measured) -> list[RunRow]:
    saved = history_of(visit.workspace, found)
    pinned = set(visit.state.pinned)
    first = shown_runs(visit.state, found.runs)[0]
    cells = next(found.evaluations.report().tables).rows
    now = {one.run: one[found.label] for one in found.evaluations.runs}
    return [
        RunRow(
            name, tuple(own), (*saved.get(name, ()), now[name]), name in pinned, name == first
        )
        for name, *own in cells
    ]  # fmt: skip


def _sorted(rows: list[RunRow], found: Measured, state: PageState) -> list[RunRow]:
    """Put pinned runs first; sort by a measure, the best first; a few runs as they are named."""
    labels = found.evaluations.measures
    if state.sort and state.sort not in labels and state.sort != "name":
        raise UsageError(f"runs cannot be sorted by {state.sort!r}", f"say {', '.join(labels)}")
    label = state.sort or (found.label if len(rows) > FEW else "name")
    if label != "name":
        sense = found.evaluator.measures[label].direction or 1

        def key(row: RunRow) -> tuple[bool, bool, float]:
            one = found.of(row.name)
            return one.unmatched, math.isnan(one[label]), -one[label] * sense

        rows = sorted(rows, key=key)
    return sorted(rows, key=lambda row: not row.pinned)


def _table(rows: Sequence[RunRow], labels: Sequence[str]) -> Table:
    return Table.of(["run"], labels, [(row.name, *row.cells) for row in rows])


def _rules(found: Measured) -> list[dict[str, Any]]:
    """Say of each measure which rules made its number."""
    return [
        {
            "measure": label, "signature": str(one),
            "axes": [(axis, value, _about(axis, type(own))) for axis, value in one.fields.items()],
        }
        for (label, one), own in zip(
            found.evaluator.signatures.items(), found.evaluator.measures.values(), strict=True
        )
    ]  # fmt: skip


def _about(axis: str, measure: type[Measure]) -> str:
    """Say what a rule is about."""
    name = axis.rpartition(".")[2]
    kinds: list[type[Settings]] = [measure] if "." in axis else [Protocol, Aggregate]
    about = (kind.parameters().get(name) for kind in kinds)
    return next((one.doc for one in about if one), OTHER_RULES.get(axis, ""))


def saved_evaluations(workspace: Workspace) -> dict[str, tuple[FoundFile, Evaluation]]:
    """Read the evaluations that were saved, the oldest first; what cannot be read is left out."""
    found = []
    for file in workspace.files().values():
        if file.role == "evaluation":
            try:
                found.append((file, workspace.evaluation(file)))
            except IdealistError:
                continue
    found.sort(key=lambda pair: (pair[0].stamp[0], pair[0].name))
    return {file.name: (file, one) for file, one in found}


def history_of(workspace: Workspace, found: Measured) -> Mapping[str, tuple[float, ...]]:
    """Return the values of the first measure that were saved of each run under the same rules."""
    rules = _instrument(found.evaluator.signatures[found.label].fields)
    history = defaultdict(list)
    for _, one in saved_evaluations(workspace).values():
        for label, signature in one.signatures.items():
            if _instrument(signature.fields) == rules:
                history[one.run].append(one[label])
                break
    return {run: tuple(values) for run, values in history.items()}


def _instrument(fields: Mapping[str, str]) -> dict[str, str]:
    """Leave out the judgments: they grow, and a history shows that too."""
    return {name: value for name, value in fields.items() if name != "qrels"}


def save(visit: Visit) -> Moved:
    """Save the evaluations of all runs, so that later ones can be compared with them."""
    found = visit.workspace.measured(visit.state)
    folder = visit.workspace.source.path / SAVED
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}", "check the folder") from None
    when = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    for number, one in enumerate(found.evaluations.runs, 1):
        name = "".join(sign if sign.isalnum() or sign in "-._" else "_" for sign in one.run)
        path = folder / f"{name[:80]}-{when}.json"
        one.save(folder / f"{name[:80]}-{when}-{number}.json" if path.exists() else path)
    visit.workspace.files(fresh=True)
    return Moved(visit.state.address("/runs"))


def spark(values: Sequence[float]) -> Mapping[str, Any]:
    """Lay out a small line of a history: the path, and where it ends; 60 wide and 18 high."""
    known = [value for value in values if not math.isnan(value)]
    if len(known) < 2:
        return {"path": "", "x": 0, "y": 0}
    low, high = min(known), max(known)
    step, span = 56 / (len(known) - 1), (high - low) or 1.0
    points = [(2 + i * step, 16 - 14 * (value - low) / span) for i, value in enumerate(known)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return {"path": path, "x": f"{points[-1][0]:.1f}", "y": f"{points[-1][1]:.1f}"}
