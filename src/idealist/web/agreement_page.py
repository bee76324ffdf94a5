"""How far judges agree: every two of them, two in full, models against people, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from markupsafe import Markup

from idealist.comparing import COMPARED
from idealist.errors import IdealistError, UsageError, nearest
from idealist.judging.agreeing.agreement import agreement
from idealist.judging.agreeing.agreement_report import Agreement
from idealist.judging.agreeing.agreement_tables import pairs_table
from idealist.judging.correcting import CORRECTED, corrected
from idealist.judging.corrections import Corrected
from idealist.judging.llm.asked_pairs import people_of
from idealist.judging.store import Store
from idealist.rendering.document import Table
from idealist.rendering.result import Result
from idealist.web import layout
from idealist.web.query_list import shown_runs
from idealist.web.visit import Page, Visit

PATH = "/judges/agreement"
#: How many judges are compared with each other, and how many runs they rank.
JUDGES, RANKED = 20, 20
#: What an agreement calls the details that only draw it.
FIGURE = "Figure"

R = TypeVar("R", bound=Result)


@dataclass(frozen=True)
class Cell:
    """What two judges have in common: alpha, kappa, and of how many pairs."""

    first: str
    second: str
    alpha: float
    kappa: float
    pairs: int

    @property
    def shade(self) -> int:
        """How deep the cell is coloured, from 0 to 5."""
        return 0 if self.alpha != self.alpha else max(0, min(5, int(self.alpha * 5 + 0.5)))


def page(visit: Visit) -> Page:
    """Show how far judges agree."""
    judges = _judges(visit)
    every, why = _tried(lambda: _every(visit, judges))
    first, second = _chosen(visit, judges, every)
    two, two_why = _tried(lambda: _two(visit, first, second) if second else None)
    model, model_why = _tried(lambda: _model(visit))
    mended, mended_why = _tried(lambda: _mended(visit) if model else None)
    filled = {
        "judges": judges[:JUDGES], "left_out": len(judges[JUDGES:]), "every": every, "why": why,
        "cells": _cells(every) if every else {}, "first": first, "second": second,
        "pairs": layout.blocks([pairs_table(every.pairs.values())]) if every else "",
        "two": two, "two_why": two_why, "two_shown": _written(two, "confusion"),
        "model": model, "model_why": model_why,
        "model_shown": _written(model, of=": people and the model"),
        "mended": mended, "mended_why": mended_why, "mended_shown": _written(mended),
        "store": visit.workspace.store(visit.state),
    }  # fmt: skip
    data = {"judges": every, "two": two, "model": model, "corrected": mended}
    return Page(
        "Agreement", "agreement.html", filled,
        lambda: {name: one.data() if one else None for name, one in data.items()},
        every.table if every else None,
    )  # fmt: skip


def _tried(make: Callable[[], R | None]) -> tuple[R | None, str]:
    """Compute something; or say in words why it cannot be."""
    try:
        return make(), ""
    except IdealistError as error:
        message, hint = getattr(error, "message", str(error)), getattr(error, "hint", "")
        return None, f"{message[:1].upper()}{message[1:]}. {hint[:1].upper()}{hint[1:]}".strip()


def _written(found: Result | None, figure: str = "", of: str = "") -> Markup:
    """Write all of a result, a figure of it first; titles of tables say `of` whom they are."""
    if found is None:
        return Markup()
    drawn = layout.figure(found.figure(figure)) if figure else Markup()
    document = found.report()
    shown = [
        replace(one, title=f"{one.title}{of}") if isinstance(one, Table) else one
        for one in document.blocks[1:]
        if getattr(one, "title", "") != FIGURE
    ]
    return drawn + layout.blocks([*shown, *document.notes])


def _judges(visit: Visit) -> list[str]:
    _ = visit.store  # or refuse
    return visit.workspace.about_store(visit.state, "who", lambda store: store.judges)


def _every(visit: Visit, judges: Sequence[str]) -> Agreement | None:
    if len(judges) < 2:
        return None
    names = list(judges[:JUDGES])

    def make(store: Store) -> Agreement:
        a, b, *others = (f"{store.path}#{judge}" for judge in names)
        return agreement(a, b, others=others, names=names)

    return visit.workspace.about_store(visit.state, "agreement", make)


def _cells(every: Agreement) -> dict[tuple[str, str], Cell]:
    """Lay out the matrix: every two judges who share pairs, both ways."""
    found = {}
    for one in every.pairs.values():
        a, b = one.judges
        numbers = one.values["alpha_ordinal"], one.values["kappa"], one.n
        found[a, b], found[b, a] = Cell(a, b, *numbers), Cell(b, a, *numbers)
    return found


def _chosen(visit: Visit, judges: Sequence[str], every: Agreement | None) -> tuple[str, str]:
    """Choose two judges: those of the address, or the first who share pairs."""
    state = visit.state
    for name in filter(None, (state.first, state.second)):
        if name not in judges:
            raise UsageError(f"there is no judge {name!r}", nearest(name, judges) if judges else "")
    if state.first and state.second:
        return state.first, state.second
    return every.labels.judges if every else ("", "")


def _two(visit: Visit, first: str, second: str) -> Agreement:
    if first == second:
        raise UsageError(f"both judges are {first}", "choose two different judges")

    def make(store: Store) -> Agreement:
        a, b = (f"{store.path}#{judge}" for judge in (first, second))
        return agreement(a, b, names=[first, second])

    return visit.workspace.about_store(visit.state, ("two", first, second), make)


def _model(visit: Visit) -> Agreement | None:
    """Compare what models say with what people say, and how both rank the runs."""
    workspace, state = visit.workspace, visit.state
    kinds = workspace.about_store(state, "kinds", _kinds)
    if len(kinds) < 2:
        return None
    runs = shown_runs(state, list(workspace.runs))[:RANKED]

    def make(store: Store) -> Agreement:
        a, b = (f"{store.path}#{kind}" for kind in kinds)
        if not runs:
            return agreement(a, b, names=["people", "the model"])
        return agreement(
            a, b, list(workspace.read_runs(runs).values()), state.measures or COMPARED,
            names=["people", "the model"], **workspace.rules(state),
        )  # fmt: skip

    return workspace.about_store(state, "model", make, runs)


def _kinds(store: Store) -> list[str]:
    """Name the people, and models if there are any."""
    kinds = {one.kind for one in store.current() if one.grade is not None}
    return [*filter(None, [people_of(store)]), *(["model"] if "model" in kinds else [])]


def _mended(visit: Visit) -> Corrected | None:
    """Correct what the model says by what people say."""
    workspace, state = visit.workspace, visit.state
    kinds = workspace.about_store(state, "kinds", _kinds)
    runs = shown_runs(state, list(workspace.runs))[:RANKED]
    if len(kinds) < 2 or not runs:
        return None

    def make(store: Store) -> Corrected:
        people, model = (f"{store.path}#{kind}" for kind in kinds)
        more: dict[str, Any] = {"baseline": runs[0]} if len(runs) > 1 else {}
        return corrected(
            people, model, workspace.read_runs(runs), state.measures or CORRECTED, **more,
            **workspace.rules(state),
        )  # fmt: skip

    return workspace.about_store(state, "corrected", make, runs)
