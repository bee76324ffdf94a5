"""The queries that lose most, each with what it loses most to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.explaining.explanation import WIDTH, Explanation, loss_grid, signed
from idealist.explaining.ladder import CAUSES
from idealist.notation import many
from idealist.report.draw import Grid, clipped, markdown, plain
from idealist.report.plain_data import finite


@dataclass(frozen=True)
class Lost:
    """A query, its value, and what it loses, by cause."""

    query: str
    value: float
    losses: Mapping[str, float]
    text: str = ""

    @property
    def loss(self) -> float:
        """All that it loses."""
        return math.fsum(self.losses.values())

    @property
    def cause(self) -> str:
        """What it loses most to; nothing where nothing is lost."""
        most = max(self.losses, key=lambda cause: self.losses[cause])
        return most if self.losses[most] > 0 else ""

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        text = {"text": self.text} if self.text else {}
        return {
            "query": self.query, **text, "value": self.value, "loss": self.loss,
            "cause": self.cause, "losses": dict(self.losses),
        }  # fmt: skip


@dataclass(frozen=True)
class Worst:
    """The queries of a run that lose most; `losses` is what each cause takes from the mean."""

    run: str
    measure: str
    convention: str
    signature: str
    value: float
    queries: int
    losses: Mapping[str, float]
    rows: Sequence[Lost]
    explanations: Sequence[Explanation] = ()

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        full = [one.data() for one in self.explanations]
        return {
            "run": self.run, "measure": self.measure, "convention": self.convention,
            "signature": self.signature, "value": finite(self.value),
            "queries": self.queries,
            "losses": {cause: finite(lost) for cause, lost in self.losses.items()},
            "worst": self.records(),
            **({"explanations": full} if full else {}),
        }  # fmt: skip

    def records(self) -> list[dict[str, Any]]:
        """Give the queries as plain data, with every digit."""
        return [one.data() for one in self.rows]

    def grid(self, longest: int | None = None) -> Grid:
        """Tabulate the queries, one line each."""
        rows, told = [], any(one.text for one in self.rows)
        for one in self.rows:
            words = CAUSES.get(one.cause, "nothing")
            amount = f" {signed(one.losses[one.cause])}" if one.cause else ""
            text = [clipped(one.text, longest)] if told else []
            rows.append([one.query, *text, f"{one.value:.4f}", signed(one.loss), words + amount])
        headers = ["query", *(["text"] if told else []), self.measure, "lost", "most of it to"]
        return Grid(headers, rows, words=1 + told)

    @property
    def heading(self) -> str:
        """Say what is explained."""
        some = many(self.queries, "query", "queries")
        return f"{self.run}: {self.measure} {self.value:.4f}, {some}, convention {self.convention}"

    def __str__(self) -> str:
        return self.draw(WIDTH)

    def draw(self, width: int) -> str:
        """Write it for a terminal so wide."""
        left = width - self.grid(1).width
        parts = [plain(self.grid(max(left, 20))), plain(self._means())]
        full = [one.draw(width) for one in self.explanations]
        return "\n\n".join([self.heading, *parts, f"signature: {self.signature}", *full])

    def _means(self) -> Grid:
        return loss_grid(f"{self.measure}, mean", self.losses)

    def markdown(self) -> str:
        """Write it for a README or an issue."""
        full = [one.markdown() for one in self.explanations]
        tables = [markdown(self.grid()), markdown(self._means())]
        return "\n\n".join([f"### {self.heading}", *tables, f"`{self.signature}`", *full])
