"""The settings: what differs between two evaluations or conventions; and the report to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from idealist.comparing import Comparison, compare_evaluations
from idealist.conventions import CONVENTIONS, DEFAULT, convention
from idealist.conventions.signature import Signature
from idealist.conventions.signature_diff import SignatureDiff, measure_of
from idealist.errors import IdealistError, UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluator import DEFAULT_MEASURES
from idealist.measures import as_measure
from idealist.measures.instrument import typed_axes
from idealist.rendering.document import SIGNED, TEXT, VALUE, Column, Table
from idealist.rendering.plain_data import finite
from idealist.web import layout
from idealist.web.query_list import shown_runs
from idealist.web.runs_page import saved_evaluations
from idealist.web.visit import Page, Sent, Visit

#: What can stand on a side: a run as it is now, what was saved, or the rules of a tool.
NOW, SAVED, RULES = "now", "saved", "rules"
#: How many of each kind can be chosen, and the longest name of a file.
OFFERED, LONGEST = 100, 80


@dataclass(frozen=True)
class Side:
    """What is compared: signatures by measure and, of an evaluation, its values."""

    name: str
    signatures: Mapping[str, Signature]
    evaluation: Evaluation | None = None

    @classmethod
    def of(cls, name: str, one: Evaluation) -> Side:
        """Take an evaluation, by measure rather than by how that was typed."""
        return cls(name, {measure_of(own): own for own in one.signatures.values()}, one)

    def value(self, measure: str) -> float | None:
        """Return the value of a measure."""
        labels = {measure_of(own): label for label, own in self._own.signatures.items()}
        return self._own[labels[measure]] if measure in labels else None

    @property
    def _own(self) -> Any:
        return self.evaluation


@dataclass(frozen=True)
class Difference:
    """What differs between two sides: `verdict` compares their values where the rules agree."""

    first: Side
    second: Side
    axes: SignatureDiff
    verdict: Comparison | None = None
    why: str = field(default="")

    @property
    def answer(self) -> str:
        """Whether the numbers may be compared, in a sentence."""
        alike, every = len(self.axes.comparable), len(self.axes.axes)
        a, b = self.first.name, self.second.name
        if alike == every:
            return f"The numbers of {a} and {b} may be compared: they were made by the same rules"
        if not alike:
            return f"No number of {a} may be compared with one of {b}: {self.axes.summary}"
        some = ", ".join(self.axes.comparable)
        return f"Of {a} and {b}, only {some} may be compared: {self.axes.summary}"

    def values(self) -> Table | None:
        """Tabulate the values beside each other."""
        if self.first.evaluation is None or self.second.evaluation is None:
            return None
        columns = (
            Column("measure", TEXT), Column(self.first.name, VALUE),
            Column(self.second.name, VALUE), Column("difference", SIGNED),
            Column("may be compared", TEXT),
        )  # fmt: skip
        rows = []
        for label in self.axes.axes:
            a, b = self.first.value(label), self.second.value(label)
            apart = None if a is None or b is None else b - a
            rows.append((label, a, b, apart, "yes" if label in self.axes.comparable else "no"))
        return Table(columns, tuple(rows))

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        table = self.values()
        names = ("measure", "first", "second", "difference", "comparable")
        rows = [dict(zip(names, row, strict=True)) for row in table.rows] if table else []
        return {
            "first": self.first.name, "second": self.second.name, "answer": self.answer,
            "axes": self.axes.data(), "values": [finite(row) for row in rows],
            "comparison": self.verdict.data() if self.verdict else None,
        }  # fmt: skip


def page(visit: Visit) -> Page:
    """Show what differs between two evaluations, and the form of the report."""
    choices = _choices(visit)
    first, second = _chosen(visit, choices)
    found, why = _differing(visit, first, second)
    queries = visit.workspace.queries
    table = found.values() if found else None
    filled = {
        "choices": choices, "first": first, "second": second, "found": found, "why": why,
        "axes": layout.blocks([found.axes.table()]) if found else "",
        "values": layout.blocks([table]) if table else "",
        "verdict": layout.blocks(found.verdict.report().blocks) if found and found.verdict else "",
        "runs": list(visit.workspace.runs), "shown": _reported_runs(visit),
        "columns": list(queries.columns) if queries else [], "judged": visit.workspace.judged,
    }  # fmt: skip
    return Page(
        "Settings", "settings.html", filled,
        lambda: {"choices": [key for own in choices.values() for key in own],
                 "difference": found.data() if found else None},
        found.axes.table if found else None,
    )  # fmt: skip


def _choices(visit: Visit) -> dict[str, dict[str, str]]:
    """List what can be chosen: its name in the address and for people, by kind."""
    workspace = visit.workspace
    runs = list(workspace.runs)[:OFFERED] if workspace.judged else []
    saved = list(saved_evaluations(workspace))[-OFFERED:]
    return {
        "Now, by the rules of this address": {f"{NOW}:{run}": run for run in runs},
        "Saved evaluations": {f"{SAVED}:{name}": name for name in reversed(saved)},
        "Conventions": {f"{RULES}:{name}": name for name in sorted(CONVENTIONS)},
    }


def _chosen(visit: Visit, choices: Mapping[str, Mapping[str, str]]) -> tuple[str, str]:
    """Say what is compared: what the address says, or what was saved last with the same run now."""
    state, known = visit.state, {key for own in choices.values() for key in own}
    for one in filter(None, (state.first, state.second)):
        if one not in known:
            raise UsageError(f"{one!r:.80} cannot be compared here", "choose from the lists")
    now, saved, _ = choices.values()
    runs = {name: one.run for name, (_, one) in saved_evaluations(visit.workspace).items()}
    usual = next(iter(saved), f"{RULES}:{DEFAULT}")
    same = f"{NOW}:{runs.get(saved.get(usual, ''), '')}"
    other = same if same in now else next(iter(now), f"{RULES}:sklearn")
    return state.first or usual, state.second or (other if saved else f"{RULES}:sklearn")


def _differing(visit: Visit, first: str, second: str) -> tuple[Difference | None, str]:
    """Find what differs; or say why that cannot be told."""
    try:
        kinds = [one.partition(":")[0] for one in (first, second)]
        sides: list[Side | None] = [
            None if kind == RULES else _evaluated(visit, key)
            for kind, key in zip(kinds, (first, second), strict=True)
        ]
        labels = next((list(one.signatures) for one in sides if one), None)
        a, b = (
            side or _ruled(visit, key, labels)
            for side, key in zip(sides, (first, second), strict=True)
        )
        found = Difference(a, b, SignatureDiff.of(a.signatures, b.signatures))
    except IdealistError as error:
        message, hint = getattr(error, "message", str(error)), getattr(error, "hint", "")
        return None, f"{message[:1].upper()}{message[1:]}. {hint[:1].upper()}{hint[1:]}".strip()
    return _judged(found), ""


def _evaluated(visit: Visit, key: str) -> Side:
    """Take a run as it is evaluated now, or a saved evaluation."""
    kind, _, name = key.partition(":")
    if kind == SAVED:
        return Side.of(name, saved_evaluations(visit.workspace)[name][1])
    found = visit.workspace.measured(visit.state)
    if name in found.refused:
        raise UsageError(f"{name} cannot be evaluated: {found.refused[name]}", "see Files")
    return Side.of(f"{name} now", found.of(name))


def _ruled(visit: Visit, key: str, labels: Sequence[str] | None) -> Side:
    """Take the rules of a tool, for the measures of the other side or of the address."""
    name, state = key.partition(":")[2], visit.state
    rules, axes = convention(name), typed_axes(state.settings) if labels is None else {}
    measures = [as_measure(one) for one in labels or state.measures or DEFAULT_MEASURES]
    known = [one for one in measures if rules.has(one)]
    if not known:
        raise UsageError(f"{name} has none of these measures", "choose another convention")
    qrels = visit.workspace.qrels(state).hash if visit.workspace.judged else ""
    signed = [Signature.of(rules.instrument(one, axes), qrels) for one in known]
    return Side(name, {measure_of(one): one for one in signed})


def _judged(found: Difference) -> Difference:
    """Compare the values where the rules agree."""
    a, b = found.first.evaluation, found.second.evaluation
    alike = found.axes.comparable
    if a is None or b is None or not alike:
        return found
    labels = {measure_of(own): label for label, own in a.signatures.items()}
    named = [
        replace(one, run=name) for one, name in ((a, found.first.name), (b, found.second.name))
    ]
    try:
        verdict = compare_evaluations(named, [labels[one] for one in alike])
    except IdealistError as error:
        return replace(found, why=str(error))
    return replace(found, verdict=verdict)


def _reported_runs(visit: Visit) -> list[str]:
    workspace = visit.workspace
    return shown_runs(visit.state, list(workspace.runs)) if workspace.judged else []


def report(visit: Visit) -> Sent:
    """Write the report of the runs that are looked at, to be kept."""
    runs = _reported_runs(visit)
    if not runs:
        raise UsageError("there is nothing to report on", "put judgments and runs into the folder")
    found = visit.workspace.reported(visit.state, runs)
    if visit.state.title:
        found = replace(found, title=visit.state.title)
    return Sent(file_name(runs), found.render("html"), "text/html")


def file_name(runs: Sequence[str]) -> str:
    """Name the file of a report after its runs, by letters that every system takes.

    >>> file_name(["bm25", "größe/x"])
    'report-bm25-gr__e_x.html'
    """
    signs = (
        sign if sign.isascii() and (sign.isalnum() or sign in "-._") else "_"
        for sign in "-".join(runs)
    )
    return f"report-{''.join(signs)[:LONGEST]}.html"
