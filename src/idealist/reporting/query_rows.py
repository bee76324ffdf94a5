"""The queries of a report: what each is worth in every run, what changed, what is doubted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.evaluating.doubts import unjudged_in
from idealist.rendering.document import SIGNED, TEXT, Column, Table
from idealist.rendering.doubt import CODES
from idealist.rendering.plain_data import finite
from idealist.rendering.wording import clipped
from idealist.reporting.computing import Findings

#: As many runs have a column each.
MOST_RUNS = 12
#: The most letters of a query's text.
TEXT_WIDTH = 160
#: A doubt about a greater share of the queries tells none of them from the others.
NEARLY_ALL = 0.9
#: What an audit says of the measure that looks deepest, which is seldom the first.
DEEPEST = "short-lists"


@dataclass(frozen=True, eq=False)
class QueryRow:
    """A query: its place on the page, its text, its values by run, and how far they are apart.

    `difference` is NaN where there is one run. `doubts` are codes of what is doubtful about these
    values, `unjudged` counts the unjudged documents that the measure looks at in each list.
    """

    number: int
    query: str
    text: str
    values: tuple[float, ...]
    difference: float
    doubts: tuple[str, ...]
    unjudged: tuple[int, ...] = ()
    changed: str = ""


@dataclass(frozen=True, eq=False)
class QueryRows:
    """All queries, those that changed most first, or those of the lowest value in a single run.

    `shown` are the places of the two runs, or of the only one, that have lists. `general` counts
    the queries of each doubt that nearly all of them share.
    """

    label: str
    runs: tuple[str, ...]
    rows: tuple[QueryRow, ...]
    shown: tuple[int, ...]
    sense: int
    general: Mapping[str, int]

    @classmethod
    def of(cls, findings: Findings) -> QueryRows:
        """Collect the queries."""
        label, runs = findings.label, findings.runs
        names = findings.shown
        shown = tuple(runs.index(name) for name in names)
        known = [one.by_query(label) for one in findings.evaluations.runs]
        every = dict.fromkeys(query for one in findings.evaluations.runs for query in one.queries)
        marked = _doubts(findings)
        counts = {code: len(own & every.keys()) for code, own in marked.items()}
        general = {code: n for code, n in counts.items() if n > NEARLY_ALL * len(every)}
        unjudged = [_unjudged(findings, name) for name in names]
        words = findings.texts.text if findings.texts else {}
        rows = []
        for query in every:
            values = tuple(one.get(query, math.nan) for one in known)
            ends = [values[place] for place in shown]
            apart = ends[1] - ends[0] if len(ends) > 1 else math.nan
            doubts = tuple(c for c, own in marked.items() if query in own and c not in general)
            open_ = tuple(own.get(query, 0) for own in unjudged)
            rows.append((query, words.get(query, ""), values, apart, doubts, open_))
        rows.sort(key=lambda row: _order(row[3], row[2][shown[-1]], findings.sense))
        made = tuple(QueryRow(i, *row) for i, row in enumerate(rows, 1))
        return cls(label, tuple(runs), made, shown, findings.sense, general)

    @property
    def compared(self) -> bool:
        """Whether there are two runs to look at."""
        return len(self.shown) > 1

    @property
    def why(self) -> str:
        """What the column of reasons is called."""
        return "what changed" if self.compared else "why"

    def way(self, row: QueryRow) -> str:
        """Say how a query ended: win, loss or same; nothing where there is one run."""
        if math.isnan(row.difference):
            return ""
        gain = row.difference * self.sense
        return "win" if gain > 0 else "loss" if gain < 0 else "same"

    def chosen(self, top: int, full: bool) -> list[QueryRow]:
        """Choose the queries that get lists: so many that changed most, and a third of the worst.

        Where there is one run, as many of the worst.
        """
        if full:
            return list(self.rows)
        worst = sorted(
            (row for row in self.rows if not math.isnan(row.values[self.shown[-1]])),
            key=lambda row: row.values[self.shown[-1]] * self.sense,
        )[: top // 3 if self.compared else top]
        changed = [row for row in self.rows if self.way(row) in ("win", "loss")][:top]
        return sorted(
            {row.number: row for row in (*changed, *worst)}.values(), key=lambda r: r.number
        )

    @property
    def columns(self) -> list[int]:
        """The places of the runs that have a column: all, or the two that are shown."""
        return list(range(len(self.runs)) if len(self.runs) <= MOST_RUNS else self.shown)

    def table(self, rows: Sequence[QueryRow] | None = None) -> Table:
        """Tabulate queries, all or some."""
        chosen = self.rows if rows is None else rows
        told = any(row.text for row in self.rows)
        explained = any(row.changed for row in chosen)
        doubted = any(row.doubts for row in self.rows)
        unjudged = any(any(row.unjudged) for row in self.rows)
        columns: list[tuple[bool, Column, Any]] = [
            (True, Column("query", TEXT), lambda row: row.query),
            (self.compared, Column("difference", SIGNED), lambda row: row.difference),
            (told, Column("text", TEXT), lambda row: clipped(row.text, TEXT_WIDTH)),
            *((True, Column(self.runs[i]), lambda row, i=i: row.values[i]) for i in self.columns),
            (explained, Column(self.why, TEXT), lambda row: row.changed),
            (unjudged, Column("unjudged", TEXT), _counted),
            (doubted, Column("doubts", TEXT), lambda row: ", ".join(row.doubts)),
        ]
        kept = [(column, cell) for shown, column, cell in columns if shown]
        cells = tuple(tuple(cell(row) for _, cell in kept) for row in chosen)
        return Table(tuple(column for column, _ in kept), cells)

    @property
    def codes(self) -> dict[str, str]:
        """What the doubts about queries mean, by their codes."""
        named = dict.fromkeys(code for row in self.rows for code in row.doubts)
        return {code: CODES[code] for code in named if code in CODES}

    @property
    def remark(self) -> str:
        """What is doubtful about nearly all queries, so that the table does not mark it."""
        said = [f"{CODES[code]} ({n} of {len(self.rows)})" for code, n in self.general.items()]
        return f"Doubtful about nearly all, so not marked below: {'; '.join(said)}." if said else ""

    def data(self) -> dict[str, object]:
        """Return the values as columns, in the order of the page."""
        by_run = {
            run: finite([row.values[i] for row in self.rows]) for i, run in enumerate(self.runs)
        }
        columns = {"measure": self.label, "query": [row.query for row in self.rows]}
        apart = [row.difference for row in self.rows]
        return {**columns, "values": by_run, "difference": finite(apart) if self.compared else None}


def _counted(row: QueryRow) -> str:
    """Write how many documents are unjudged in each list; nothing where none is."""
    return " → ".join(map(str, row.unjudged)) if any(row.unjudged) else ""


def _order(difference: float, value: float, sense: int) -> tuple[bool, float]:
    """Order what changed most first, or what is worst; what is undefined comes last."""
    key = value * sense if math.isnan(difference) else -abs(difference)
    return math.isnan(key), key


def _doubts(findings: Findings) -> dict[str, set[str]]:
    """Collect the queries of every doubt about the first measure of the runs that are shown.

    What an audit finds beside that counts where it has a price in that measure.
    """
    found: dict[str, set[str]] = defaultdict(set)
    known = {doubt.code for one in findings.evaluations.runs for doubt in one.doubts} | {DEEPEST}
    for run in findings.shown:
        audited = (one for one in findings.audit.findings if one.run == run)
        priced = (one for one in audited if findings.label in one.price.get(run, {}))
        others = (one for one in priced if one.code not in known)
        for doubt in (*findings.alone(findings.ranked[run]).doubts, *others):
            found[doubt.code].update(doubt.queries)
    return {code: queries for code, queries in found.items() if queries}


def _unjudged(findings: Findings, run: str) -> dict[str, int]:
    """Count the unjudged documents of each query, where documents can be unjudged."""
    (instrument,) = findings.alone.instruments.values()
    placements = findings.ranked[run][instrument.protocol]
    if placements.qrels.gold != "pooled" or not instrument.measure.judges:
        return {}
    counts = unjudged_in(placements, instrument.measure.cutoff).tolist()
    return dict(zip(placements.qrels.queries, counts, strict=True))
