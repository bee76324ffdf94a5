"""One evaluation while it is looked over, and the words doubts are written with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from idealist.conventions import Convention
from idealist.data import Qrels, Run
from idealist.data.columns import Bools
from idealist.data.queries import Weights
from idealist.errors import IdealistError
from idealist.measures.instrument import Instrument, Measured, chosen, measured
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked

#: How many queries a doubt names.
NAMED = 5


@dataclass(frozen=True)
class Case:
    """One evaluation while it is looked over.

    `written` says which axes the user set for each measure, `asked` which queries were asked for,
    `placed` what each measure was computed from, `weights` what the queries weigh.
    """

    ranked: Ranked
    convention: Convention
    instruments: Mapping[str, Instrument]
    written: Mapping[str, Collection[str]]
    asked: frozenset[str]
    placed: Mapping[str, Placements]
    measured: Mapping[str, Measured]
    weights: Weights | None = None

    @property
    def qrels(self) -> Qrels:
        """The judgments."""
        return self.ranked.qrels

    @property
    def run(self) -> Run:
        """The run."""
        return self.ranked.held

    @cached_property
    def first(self) -> Placements:
        """The placements of the first measure, for what no protocol changes."""
        return next(iter(self.placed.values()))

    @cached_property
    def condensed(self) -> dict[str, Placements]:
        """The placements of each measure with unjudged documents taken out."""
        made = {placements: placements.condensed() for placements in set(self.placed.values())}
        return {label: made[placements] for label, placements in self.placed.items()}

    def named(self, mask: Bools) -> tuple[str, ...]:
        """Name the queries of a mask."""
        return chosen(self.qrels.queries, mask)

    def priced(self, placed: Mapping[str, Placements]) -> dict[str, float]:
        """Price a change: what measures would be with it, where that would print differently."""
        values = {}
        for label, placements in placed.items():
            try:
                values[label] = measured(self.instruments[label], placements).aggregate
            except IdealistError:  # a change that cannot be measured has no price
                continue
        return self._moved(values)

    def without(self, gone: Bools, labels: Collection[str]) -> dict[str, float]:
        """Price some queries: what measures would be without them."""
        values = {}
        for label in labels:
            found, aggregate = self.measured[label], self.instruments[label].aggregate
            left = found.counted & ~gone
            values[label] = aggregate.of(found.values[left], self.named(left))
        return self._moved(values)

    @property
    def weighted(self) -> list[str]:
        """The measures whose mean is weighted."""
        return [label for label, one in self.instruments.items() if one.aggregate.weights]

    def unweighted(self, labels: Collection[str]) -> dict[str, float]:
        """Price weights: what measures would be if every query that counts counted alike."""
        values = {}
        for label in labels:
            found, aggregate = self.measured[label], self.instruments[label].aggregate
            alike = replace(aggregate, aggregate="mean", weights=None)
            values[label] = alike.of(found.values[found.counted])
        return self._moved(values)

    def reranked(self, labels: Collection[str], **axes: str) -> dict[str, float]:
        """Price another protocol; what it would newly refuse is let pass."""
        lenient = {"ties": "docid-desc", "nonfinite": "as_is", "negative": "allow"}
        values: dict[str, float] = {}
        for label in labels:
            mine = self.instruments[label].protocol
            refusing = [key for key in lenient if getattr(mine, key) == "error"]
            changes: dict[str, Any] = {key: lenient[key] for key in refusing}
            other = replace(mine, **{**changes, **axes})
            with suppress(IdealistError):
                values |= self.priced({label: self.ranked[other]})
        return values

    def _moved(self, values: Mapping[str, float]) -> dict[str, float]:
        """Keep the prices that print differently from the values."""
        return {
            label: value
            for label, value in values.items()
            if f"{value:.4f}" not in ("nan", f"{self.measured[label].aggregate:.4f}")
            and self.instruments[label].measure.judges
        }


def seen(name: str) -> str:
    """Write an id so that blanks at its ends are seen."""
    return repr(name) if name != name.strip() else name


def few(queries: tuple[str, ...]) -> str:
    """Name some queries and count the others."""
    more = f" and {len(queries) - NAMED} more" if len(queries) > NAMED else ""
    return ", ".join(map(seen, queries[:NAMED])) + more


def prices(how: str, values: Mapping[str, float]) -> str:
    """Say what measures would be otherwise."""
    shown = ", ".join(f"{label} is {value:.4f}" for label, value in values.items())
    return f"; {how} {shown}" if shown else ""
