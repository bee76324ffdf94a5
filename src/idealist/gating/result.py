"""What a gate found: a verdict, the checks behind it, and the queries to look at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from idealist.draw import Grid, plain
from idealist.gating.checks import FAIL, INCONCLUSIVE, PASS, Check
from idealist.gating.plan import Plan
from idealist.gating.words import sentence
from idealist.notation import many
from idealist.summary import number


@dataclass(frozen=True, eq=False)
class Gate:
    """The verdict on a new run: PASS, FAIL, or INCONCLUSIVE where the queries cannot tell.

    `emptied` names the queries for which the base run found documents and the new one none;
    more of them than `max_empty` fail. Slices can fail the gate, but need not pass.
    """

    base: str
    new: str
    checks: tuple[Check, ...]
    emptied: tuple[str, ...]
    max_empty: int
    signatures: Mapping[str, str]
    doubts: tuple[str, ...] = ()
    rescored: bool = False

    @property
    def verdict(self) -> str:
        """The verdict of all checks together."""
        if self.too_empty or any(check.verdict == FAIL for check in self.checks):
            return FAIL
        measures = [check.verdict for check in self.checks if check.part is None]
        return PASS if all(verdict == PASS for verdict in measures) else INCONCLUSIVE

    @property
    def too_empty(self) -> bool:
        """Whether more queries became empty than may."""
        return len(self.emptied) > self.max_empty

    def failed(self, strict: bool = False) -> bool:
        """Whether to stop: on FAIL, and where one is `strict` on INCONCLUSIVE too."""
        return self.verdict == FAIL or (strict and self.verdict == INCONCLUSIVE)

    @property
    def lines(self) -> list[str]:
        """What was found, the verdict first, one sentence a check."""
        found = [f"{check.verdict} {sentence(check)}" for check in self.checks]
        return found + self.emptied_lines + self.gap_lines

    @property
    def emptied_lines(self) -> list[str]:
        """Say which queries became empty."""
        if not self.emptied:
            return []
        verdict, allowed = FAIL if self.too_empty else PASS, f"{self.max_empty or 'none'} may"
        words = f"{many(len(self.emptied), 'query', 'queries')} became empty"
        return [f"{verdict} {words}, {allowed}: {_listed(self.emptied)}."]

    @property
    def gap_lines(self) -> list[str]:
        """Say which queries were left out."""
        gaps = dict.fromkeys(query for check in self.checks for query in check.values.undefined)
        if not gaps:
            return []
        words = many(len(gaps), "query has", "queries have")
        return [f"Left out: {words} no value in a run: {_listed(tuple(gaps))}."]

    @property
    def looks(self) -> list[str]:
        """The queries that lost most, by measure."""
        return [
            f"look at ({check.measure}): "
            + ", ".join(f"{query} {after - before:+.4f}" for query, before, after in lost)
            for check in self.checks
            if check.part is None and (lost := check.lost)
        ]

    @property
    def headline(self) -> str:
        """The verdict on which run against which."""
        rescored = ", rescored under these judgments" if self.rescored else ""
        return f"{self.verdict}: {self.new} against {self.base}{rescored}"

    def grid(self, full: bool = False) -> Grid:
        """Tabulate the checks, for people or, with every digit, for programs."""
        rows = []
        for check in self.checks:
            part = "all" if check.part is None else check.part
            cells = [_full(x) if full else number(x) for x in check.numbers]
            rows.append([check.measure, part, check.verdict, str(check.n), *cells])
        start = ["measure", "queries", "verdict", "n"]
        return Grid([*start, "base", "new", "change", "lower", "upper"], rows, words=3)

    def plans(self) -> list[Plan]:
        """Give the chance of each verdict with as many queries, by measure and of the gate."""
        checks = [check for check in self.checks if check.part is None]
        alone = [Plan.of(check, len(checks)) for check in checks]
        return [*alone, Plan.together(checks)] if len(checks) > 1 else alone

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        rule = self.checks[0].rule
        return {
            "verdict": self.verdict, "base": self.base, "new": self.new,
            "max_drop": rule.max_drop, "alpha": rule.alpha, "rescored": self.rescored,
            "checks": [check.to_json() | {"sentence": sentence(check)} for check in self.checks],
            "emptied": list(self.emptied), "max_empty": self.max_empty,
            "doubts": list(self.doubts), "signatures": dict(self.signatures),
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n".join([self.headline, "", plain(self.grid()), "", *self.lines, *self.looks])

    def __repr__(self) -> str:
        return f"<Gate {self.headline}>"


def _full(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def _listed(queries: tuple[str, ...], most: int = 5) -> str:
    more = f" and {len(queries) - most} more" if len(queries) > most else ""
    return ", ".join(queries[:most]) + more
