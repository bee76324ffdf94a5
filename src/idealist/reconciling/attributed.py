"""What an attribution found, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from textwrap import fill
from typing import Any

from idealist.conventions import CONVENTIONS
from idealist.conventions.axis_words import meaning
from idealist.conventions.signature import Signature
from idealist.report.draw import Grid, markdown, plain, web

#: How wide lines are printed.
WIDTH = 100

_EFFECTS = ("shapley", "alone", "last")
_COLUMNS = ("axis", "before", "after", *_EFFECTS, "meaning", "reason")


@dataclass(frozen=True)
class Side:
    """One of the two conventions: its name, its value, and its signature.

    One that `refuses` the data has no value; it stands for the nearest rules that have one.
    """

    name: str
    value: float
    signature: Signature
    refuses: bool = False

    @property
    def signed(self) -> str:
        """The signature, by the name of the convention where there is one."""
        known = CONVENTIONS.get(self.name)
        return self.signature.short(known) if known else str(self.signature)

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "name": self.name, "value": self.value, "refuses": self.refuses,
            "signature": str(self.signature),
        }  # fmt: skip


@dataclass(frozen=True)
class Share:
    """What the change of one axis does: its share of the gap, its effect alone and as the last.

    `queries` holds those it moves most, with their own Shapley values; `reason` says why it cannot
    matter, where that is so.
    """

    axis: str
    before: str
    after: str
    shapley: float
    alone: float
    last: float
    meaning: str
    queries: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    @property
    def words(self) -> str:
        """What it means, and whom it moves."""
        if self.reason:
            return f"cannot matter here, for {self.reason}"
        moved = ", ".join(f"{query} {signed(effect)}" for query, effect in self.queries.items())
        return f"{self.meaning}; " + (f"moves most: {moved}" if moved else "moves no query")


@dataclass(frozen=True)
class LeftOut:
    """An axis that stays as one side (a or b) has it, for it refuses to measure otherwise."""

    axis: str
    before: str
    after: str
    held: str
    reason: str

    @property
    def words(self) -> str:
        """What is left out, and why."""
        kept = self.before if self.held == "a" else self.after
        return f"{self.axis}: left out, {kept} on both sides; otherwise: {self.reason}"


@dataclass(frozen=True)
class Attribution:
    """The gap between the values of two conventions, divided among the axes that differ.

    The Shapley values of the `shares`, `rest` (what axes that had to be left out do, where both
    conventions have a value all the same) and `rounding` add up to the gap. The mean over queries
    of a query's Shapley value is the axis's, where queries are averaged; a query that does not
    count stands at the mean.
    """

    run: str
    measure: str
    a: Side
    b: Side
    shares: tuple[Share, ...]
    left_out: tuple[LeftOut, ...]
    rest: float
    rounding: float
    rounds: tuple[str, str]
    registry: tuple[str, ...]
    queries: int
    notes: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """The value of B less that of A."""
        return self.b.value - self.a.value

    def records(self) -> list[dict[str, Any]]:
        """Give the rows of the table: the shares, what else there is, and the gap."""
        rows = [
            {key: value for key, value in asdict(one).items() if key in _COLUMNS}
            for one in self.shares
        ]
        if self.rest:
            names = ", ".join(one.axis for one in self.left_out)
            rows.append({"axis": f"left out: {names}", "shapley": self.rest})
        if set(self.rounds) != {"none"}:
            before, after = self.rounds
            rows.append({"axis": "round", "before": before, "after": after})
            rows[-1] |= {"shapley": self.rounding, "meaning": meaning("round")}
        return [*rows, {"axis": "gap", "shapley": self.gap}]

    def grid(self) -> Grid:
        """Give the same as a table for people."""
        rows = [
            [*(row.get(key, "") for key in _COLUMNS[:3]), *(_effect(row, key) for key in _EFFECTS)]
            for row in self.records()
        ]
        return Grid(["axis", self.a.name, self.b.name, "Shapley", "alone", "last"], rows, words=3)

    @property
    def heading(self) -> str:
        """Both values and the gap."""
        sides = ", ".join(f"{one.name} {one.value:.4f}" for one in (self.a, self.b))
        return f"{self.measure} of {self.run}: {sides}; gap {signed(self.gap)}"

    @property
    def lines(self) -> list[str]:
        """What the table means, axis by axis."""
        shares = [f"{one.axis}: {one.words}" for one in self.shares]
        left_out = [one.words for one in self.left_out]
        refusing = [
            f"{one.name} refuses this data; its value here is that of the nearest rules that do not"
            for one in (self.a, self.b)
            if one.refuses
        ]
        compared = f"axes compared, in this order: {' '.join(self.registry)}; then round"
        signatures = [f"signature: {one.signed}" for one in (self.a, self.b)]
        return [*shares, *left_out, *refusing, *self.notes, compared, *signatures]

    def __str__(self) -> str:
        return "\n".join([self.heading, "", plain(self.grid()), "", *map(_wrapped, self.lines)])

    def markdown(self) -> str:
        """Write it for an issue or a README."""
        listed = [f"- {line}" for line in self.lines]
        return "\n".join([f"**{self.heading}**", "", markdown(self.grid()), "", *listed])

    def _repr_html_(self) -> str:
        import html  # here, because its table of entities takes long to load

        listed = "".join(f"<li>{html.escape(line)}</li>" for line in self.lines)
        return f"<p>{html.escape(self.heading)}</p>{web(self.grid())}<ul>{listed}</ul>"

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "run": self.run,
            "measure": self.measure,
            "a": self.a.data(),
            "b": self.b.data(),
            "gap": self.gap,
            "queries": self.queries,
            "axes": [asdict(one) for one in self.shares],
            "left_out": [asdict(one) for one in self.left_out],
            "rest": self.rest,
            "rounding": {"before": self.rounds[0], "after": self.rounds[1], "share": self.rounding},
            "registry": list(self.registry),
            "notes": list(self.notes),
        }


def _wrapped(line: str) -> str:
    """Break a line between words; a signature stays whole, to be copied."""
    return fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _effect(row: Mapping[str, Any], key: str) -> str:
    return signed(row[key]) if key in row else ""


def signed(value: float) -> str:
    """Write an effect: with its sign, and exactly nothing as 0.

    >>> signed(0.03125), signed(-1e-9), signed(0.0)
    ('+0.0312', '-1e-09', '0')
    """
    return f"{value:+.4f}" if abs(value) >= 5e-5 else f"{value:+.0e}" if value else "0"
