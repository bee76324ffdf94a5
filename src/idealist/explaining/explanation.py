"""An explanation: one query's value taken apart, rank by rank and loss by loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.explaining.ladder import CAUSES
from idealist.notation import text as written
from idealist.notation import tidy
from idealist.report.draw import Grid, clipped, markdown, plain, short, web, wrapped
from idealist.report.plain_data import finite

#: How wide a table may be where nobody says how wide the terminal is.
WIDTH = 100
#: How many documents a line names.
NAMED = 5


@dataclass(frozen=True)
class Judged:
    """A judged document: its grade, its rank where it was retrieved, and its text if given."""

    document: str
    grade: float
    rank: int | None = None
    text: str = ""

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        rank = {} if self.rank is None else {"rank": self.rank}
        return {"document": self.document, "grade": tidy(self.grade), **rank, **_text(self.text)}


@dataclass(frozen=True)
class Row:
    """What stands at a rank, and what would in the ideal list.

    `grade` is None where the document is unjudged, `terms` are the measure's own, `adds` is what
    the document adds to the value and `so_far` the value down to here.
    """

    rank: int
    document: str | None
    score: float | None
    grade: float | None
    terms: Mapping[str, float]
    adds: float | None
    so_far: float | None
    ideal: Judged | None
    text: str = ""

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "rank": self.rank, "document": self.document, "score": finite(self.score),
            "grade": None if self.grade is None else tidy(self.grade),
            "judged": self.grade is not None, **self.terms,
            "contribution": finite(self.adds), "so_far": finite(self.so_far),
            "ideal": self.ideal and self.ideal.data(), **_text(self.text),
        }  # fmt: skip


@dataclass(frozen=True)
class Explanation:
    """Why a query has its value. ``print(explanation)`` is a table with the losses below.

    `losses` says by cause what separates the `value` from the `ideal` one; `below` are documents
    of worth that stand below the last row, `missing` those that were not retrieved, and `rest` is
    what all documents below the last row add.
    """

    run: str
    query: str
    measure: str
    convention: str
    signature: str
    value: float
    ideal: float
    losses: Mapping[str, float]
    rows: Sequence[Row]
    words: str
    notes: Sequence[str]
    retrieved: int
    rest: float | None
    below: Sequence[Judged]
    missing: Sequence[Judged]
    text: str = ""

    @property
    def loss(self) -> float:
        """All that is lost."""
        return math.fsum(self.losses.values())

    def data(self) -> dict[str, Any]:
        """Give it as plain data; what is not defined is None."""
        losses = {cause: finite(lost) for cause, lost in self.losses.items()}
        return {
            "run": self.run, "query": self.query, **_text(self.text), "measure": self.measure,
            "convention": self.convention, "signature": self.signature,
            "value": finite(self.value), "ideal": finite(self.ideal), "loss": finite(self.loss),
            "losses": losses, "retrieved": self.retrieved, "rows": self.records(),
            "rest": finite(self.rest), "below": [one.data() for one in self.below],
            "missing": [one.data() for one in self.missing],
            "words": self.words, "notes": list(self.notes),
        }  # fmt: skip

    def records(self) -> list[dict[str, Any]]:
        """Give the rows as plain data, with every digit."""
        return [row.data() for row in self.rows]

    def grid(self, width: int | None = None) -> Grid:
        """Tabulate the ranks; documents are shortened where the table would be wider."""
        wide = self._grid(None)
        if width is None or _wide(wide) <= width:
            return wide
        names = max((len(cell) for row in wide.rows for cell in (row[1], row[-1])), default=0)
        return next(
            (g for n in range(names, 8, -1) if _wide(g := self._grid(n)) <= width), self._grid(8)
        )

    def _grid(self, longest: int | None) -> Grid:
        names = list(dict.fromkeys(name for row in self.rows for name in row.terms))
        whole = {n for n in names if all(row.terms.get(n, 0.0) % 1 == 0 for row in self.rows)}
        adds = ["adds"] if self.rest is not None else []
        headers = ["rank", "document", "grade", "score", *names, *adds, "so far", "ideal list"]
        rows = []
        for row in self.rows:
            ideal = "" if row.ideal is None else row.ideal.document
            best = "" if row.ideal is None else f" {written(tidy(row.ideal.grade))}"
            terms = [_term(row.terms.get(name), name in whole) for name in names]
            parts = [_cell(row.adds)] if adds else []
            cells = [_grade(row), _score(row.score), *terms, *parts, _cell(row.so_far)]
            document = short(row.document or "", longest)
            rows.append([str(row.rank), document, *cells, short(ideal, longest) + best])
        return Grid(headers, rows, words=2)

    def _lines(self) -> list[str]:
        lines = [self.words, *self.notes]
        if (deeper := self.retrieved - len(self.rows)) > 0 and self.rest:
            lines.append(f"the {deeper} documents below rank {len(self.rows)} add {self.rest:.4f}")
        if below := self._few(self.below):
            lines.append(f"below rank {len(self.rows)}: {below}")
        if missing := self._few(self.missing):
            lines.append(f"not retrieved: {missing}")
        return lines

    def _few(self, documents: Sequence[Judged]) -> str:
        named = [
            f"{one.document} {written(tidy(one.grade))}"
            + ("" if one.rank is None else f" (rank {one.rank})")
            for one in documents[:NAMED]
        ]
        more = [f"and {len(documents) - NAMED} more"] if len(documents) > NAMED else []
        return ", ".join([*named, *more])

    @property
    def heading(self) -> str:
        """Say what is explained."""
        named = f"query {self.query}" + (f": {self.text}" if self.text else "")
        value = f"{self.measure} {_cell(self.value)}, ideal {_cell(self.ideal)}"
        return f"{self.run}, {named}\n{value}, convention {self.convention}"

    def _texts(self) -> list[str]:
        texts = {row.document: row.text for row in self.rows if row.document and row.text}
        texts |= {one.document: one.text for one in self.missing[:NAMED] if one.text}
        return [clipped(f"{document}: {words}", WIDTH) for document, words in texts.items()]

    def __str__(self) -> str:
        return self.draw(WIDTH)

    def draw(self, width: int) -> str:
        """Write it for a terminal so wide."""
        table = [plain(self.grid(width), gap=2)] if self.rows else []
        lost = plain(loss_grid(self.measure, self.losses))
        heading = wrapped(self.heading.splitlines(), width)
        parts = [heading, *table, wrapped(self._lines(), width), lost, "\n".join(self._texts())]
        return "\n\n".join(filter(None, [*parts, f"signature: {self.signature}"]))

    def markdown(self) -> str:
        """Write it for a README or an issue."""
        table = [markdown(self.grid())] if self.rows else []
        lines = "\n".join(f"- {line}" for line in [*self._lines(), *self._texts()])
        heading = self.heading.replace("\n", "\n\n")
        signature = f"`{self.signature}`"
        lost = markdown(loss_grid(self.measure, self.losses))
        parts = [f"### {heading}", *table, lines, lost, signature]
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return f"<Explanation {self.run}, query {self.query}: {self.measure} {_cell(self.value)}>"

    def _repr_html_(self) -> str:
        import html  # here, because its table of entities takes long to load

        words = "".join(f"<p>{html.escape(line)}</p>" for line in self._lines())
        heading = "<br>".join(map(html.escape, self.heading.splitlines()))
        lost = web(loss_grid(self.measure, self.losses))
        return f"<p>{heading}</p>{web(self.grid())}{words}{lost}"


def loss_grid(measure: str, losses: Mapping[str, float]) -> Grid:
    """Tabulate what is lost, by cause, and all of it."""
    named = [(CAUSES[cause], signed(lost)) for cause, lost in losses.items()]
    rows = [[cause, lost] for cause, lost in named if lost not in ("0.0000", "-")]
    return Grid(["lost to", measure], [*rows, ["all", signed(math.fsum(losses.values()))]])


def _wide(grid: Grid) -> int:
    return grid.width - len(grid.headers)  # columns stand two apart, not three


def signed(value: float) -> str:
    """Write a loss.

    >>> signed(0.25), signed(-0.25), signed(1e-17)
    ('0.2500', '-0.2500', '0.0000')
    """
    return _cell(value + 0.0 if abs(value) > 5e-5 else 0.0)


def _cell(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 1e4 else f"{value:.4f}"


def _term(value: float | None, whole: bool) -> str:
    return "-" if value is None else f"{value:.0f}" if whole else _cell(value)


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _grade(row: Row) -> str:
    if row.document is None:
        return ""
    return "unjudged" if row.grade is None else written(tidy(row.grade))


def _text(words: str) -> dict[str, str]:
    return {"text": words} if words else {}
