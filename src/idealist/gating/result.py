"""What a gate found: a verdict, the checks behind it, and the queries to look at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from idealist.draw import Grid, plain
from idealist.gating.checks import FAIL, INCONCLUSIVE, PASS, Check
from idealist.gating.plan import Plan
from idealist.gating.words import look, sentence
from idealist.notation import many
from idealist.summary import number


@dataclass(frozen=True, eq=False)
class Gate:
    """The verdict on a new run: PASS, FAIL, or INCONCLUSIVE where the queries cannot tell.

    `emptied` names the queries for which the base run found documents and the new one none;
    more of them than `max_empty` fail. Slices can fail the gate, but need not pass. `dropped` are
    the queries of a rescored baseline that have no judgments any more.
    """

    base: str
    new: str
    checks: tuple[Check, ...]
    emptied: tuple[str, ...]
    max_empty: int
    signatures: Mapping[str, str]
    doubts: tuple[str, ...] = ()
    rescored: bool = False
    dropped: tuple[str, ...] = ()

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
        found = [look(check) for check in self.checks if check.part is None]
        return [line for line in found if line]

    @property
    def headline(self) -> str:
        """The verdict on which run against which."""
        runs, unmet = f"{self.new} against {self.base}", self.checks[0].unmet
        if unmet:
            return f"{self.verdict}: {runs}: {unmet}"
        rescored = ", rescored under these judgments" if self.rescored else ""
        if self.dropped:
            lost = many(len(self.dropped), "query", "queries")
            rescored += f", which LACK {lost} of the baseline ({_listed(self.dropped)})"
        return f"{self.verdict}: {runs}{rescored}"

    @property
    def key(self) -> str:
        """Say what the table's columns are."""
        alpha = self.checks[0].rule.alpha
        drops = {check.measure: f"{check.rule.max_drop:g}" for check in self.checks}
        same = len(set(drops.values())) == 1
        each = [f"{drop} of {name}" for name, drop in drops.items()]
        largest = next(iter(drops.values())) if same else ", ".join(each)
        bounds = f"lower, upper: one-sided {100 * (1 - alpha):g} % bounds of the change"
        return f"{bounds}; largest drop that passes: {largest}"

    def grid(self, full: bool = False) -> Grid:
        """Tabulate the checks, for people or, with every digit, for programs."""
        rows = []
        for check in self.checks:
            part = "all" if check.part is None else check.part
            cells = [_full(x) for x in check.numbers] if full else _cells(check)
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
        rules = {check.measure: check.rule for check in self.checks}
        return {
            "verdict": self.verdict, "base": self.base, "new": self.new,
            "max_drop": {label: rule.max_drop for label, rule in rules.items()},
            "alpha": self.checks[0].rule.alpha, "rescored": self.rescored,
            "dropped": list(self.dropped),
            "checks": [check.to_json() | {"sentence": sentence(check)} for check in self.checks],
            "emptied": list(self.emptied), "max_empty": self.max_empty,
            "doubts": list(self.doubts), "signatures": dict(self.signatures),
        }  # fmt: skip

    @property
    def body(self) -> str:
        """The headline, the table and what was found; doubts are apart."""
        table = [plain(self.grid()), f" {self.key}"]
        return "\n".join([self.headline, "", *table, "", *self.lines, *self.looks])

    def __str__(self) -> str:
        return "\n".join([self.body, *self.doubts])

    def __repr__(self) -> str:
        return f"<Gate {self.headline}>"


def _cells(check: Check) -> list[str]:
    """Write the means, and with their signs the change and its bounds."""
    base, new, *changes = check.numbers
    signed = ["-" if math.isnan(x) else f"{x:+.4f}" for x in changes]
    return [number(base), number(new), *signed]


def _full(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def _listed(queries: tuple[str, ...], most: int = 5) -> str:
    more = f" and {len(queries) - most} more" if len(queries) > most else ""
    return ", ".join(queries[:most]) + more
