"""The queries of a report: what each is worth in every run, what changed, what is doubted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.rendering.document import SIGNED, TEXT, Column, Table
from idealist.rendering.doubt import CODES
from idealist.rendering.plain_data import finite
from idealist.rendering.wording import clipped
from idealist.reporting.computing import Findings

#: As many runs have a column each.
MOST_RUNS = 12
#: The most letters of a query's text.
TEXT_WIDTH = 160


@dataclass(frozen=True, eq=False)
class QueryRow:
    """A query: its place on the page, its text, its values by run, and how far they are apart.

    `difference` is NaN where there is one run; `doubts` are codes of what is doubtful about it.
    """

    number: int
    query: str
    text: str
    values: tuple[float, ...]
    difference: float
    doubts: tuple[str, ...]
    changed: str = ""


@dataclass(frozen=True, eq=False)
class QueryRows:
    """All queries, those that changed most first, or those of the lowest value in a single run.

    `shown` are the places of the two runs, or of the only one, that have lists.
    """

    label: str
    runs: tuple[str, ...]
    rows: tuple[QueryRow, ...]
    shown: tuple[int, ...]
    sense: int

    @classmethod
    def of(cls, findings: Findings) -> QueryRows:
        """Collect the queries."""
        label, runs = findings.label, findings.runs
        names = filter(None, (findings.baseline, findings.main))
        shown = tuple(runs.index(name) for name in names)
        known = [one.by_query(label) for one in findings.evaluations.runs]
        every = dict.fromkeys(query for one in findings.evaluations.runs for query in one.queries)
        doubts = _doubts(findings, len(every))
        words = findings.texts.text if findings.texts else {}
        rows = []
        for query in every:
            values = tuple(one.get(query, math.nan) for one in known)
            ends = [values[place] for place in shown]
            apart = ends[1] - ends[0] if len(ends) > 1 else math.nan
            rows.append((query, words.get(query, ""), values, apart, doubts.get(query, ())))
        rows.sort(key=lambda row: _order(row[3], row[2][shown[-1]], findings.sense))
        made = tuple(QueryRow(i, *row) for i, row in enumerate(rows, 1))
        return cls(label, tuple(runs), made, shown, findings.sense)

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
        columns: list[tuple[bool, Column, Any]] = [
            (True, Column("query", TEXT), lambda row: row.query),
            (told, Column("text", TEXT), lambda row: clipped(row.text, TEXT_WIDTH)),
            *((True, Column(self.runs[i]), lambda row, i=i: row.values[i]) for i in self.columns),
            (self.compared, Column("difference", SIGNED), lambda row: row.difference),
            (explained, Column(self.why, TEXT), lambda row: row.changed),
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

    def data(self) -> dict[str, object]:
        """Return the values as columns, in the order of the page."""
        by_run = {
            run: finite([row.values[i] for row in self.rows]) for i, run in enumerate(self.runs)
        }
        columns = {"measure": self.label, "query": [row.query for row in self.rows]}
        apart = [row.difference for row in self.rows]
        return {**columns, "values": by_run, "difference": finite(apart) if self.compared else None}


def _order(difference: float, value: float, sense: int) -> tuple[bool, float]:
    """Order what changed most first, or what is worst; what is undefined comes last."""
    key = value * sense if math.isnan(difference) else -abs(difference)
    return math.isnan(key), key


def _doubts(findings: Findings, count: int) -> Mapping[str, tuple[str, ...]]:
    """Collect by query what is doubtful about some queries, but not about all."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for one in findings.audit.findings:
        if len(one.queries) < count:
            for query in one.queries:
                found[query][one.code] = None
    return {query: tuple(codes) for query, codes in found.items()}
