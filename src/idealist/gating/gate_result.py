"""What the gate says: a plain sentence for each check."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from idealist.evaluating.summary import number, p_words
from idealist.gating.checks import FAIL, INCONCLUSIVE, PASS, UNTESTED, Check, same_signs
from idealist.gating.plan import Plan
from idealist.notation import many
from idealist.report.draw import Grid, plain


def sentence(check: Check) -> str:
    """Say what was found, in one plain sentence."""
    if check.unmet:
        return f"{check.name}: {check.unmet}."
    base, new = check.values.means
    seen = f"{check.name}: {base:.4f} to {new:.4f} ({check.paired.mean:+.4f})"
    if not check.below_floor:
        return f"{seen}, {_why(check)}."
    return f"{seen}, below the floor of {check.floor:g}; {_why(check)}."


def look(check: Check) -> str:
    """Name the queries that lost most; nothing where none lost."""
    lost = [f"{query} ({after - before:+.4f})" for query, before, after in check.lost]
    return f"look at the queries of {check.name}: {', '.join(lost)}" if lost else ""


def _why(check: Check) -> str:
    size, allowed = many(check.n, "query", "queries"), f"{check.rule.max_drop:g}"
    if check.verdict == UNTESTED:
        return f"too few for a verdict, or to be held to a floor, with {size}"
    if check.ruled == FAIL:
        return f"a real drop ({p_words(check.p_adjusted)}) of more than {allowed}"
    if check.ruled == PASS:
        return _passing(check, allowed)
    if math.isnan(check.paired.se):
        return f"which says nothing with {size}"
    return f"undecided with {size}: {_open(check, allowed)}"


def _passing(check: Check, allowed: str) -> str:
    if not check.values.differences.any():
        return "the same in every query"
    if check.paired.constant:
        return f"no drop of more than {allowed}: all {check.n} queries change by the same"
    least = check.paired.lower(check.rule.alpha)
    return f"no drop of more than {allowed}: the true change is at least {least:+.4f}"


def _open(check: Check, allowed: str) -> str:
    """Say what keeps the gate from deciding, and what would decide."""
    found, alpha = check.paired, check.rule.alpha
    if found.constant and same_signs(check.n) > alpha:
        chance = p_words(same_signs(check.n))
        return f"all change by the same, which so few can do by chance ({chance} by sign flips)"
    if found.mean >= -check.rule.max_drop:
        worst = f"up to {-found.lower(alpha):.4f}, and {allowed} may be lost"
        if check.p_adjusted <= alpha:
            start = f"a real drop ({p_words(check.p_adjusted)}), but it may be {worst}"
        else:
            start = f"a drop cannot be excluded, of {worst}"
        return start + _decided(check, found.mean + check.rule.max_drop)
    if check.p_drop > alpha:
        chance = f"a drop was seen, but chance could have done it ({p_words(check.p_drop)})"
        return chance + _decided(check, -found.mean)
    return f"a drop, but not one that stands among several checks ({p_words(check.p_adjusted)})"


def _decided(check: Check, room: float) -> str:
    """Say how many queries would decide, were the mean and the spread to stay as they are.

    Formula: n (reach / room)², as a bound comes nearer to the mean by √n.
    """
    reach = check.paired.mean - check.paired.lower(check.rule.alpha)
    if not room > reach / 30:  # nobody judges a thousand times as many
        return ""
    wanted = math.ceil(check.n * (reach / room) ** 2)
    return f"; about {max(wanted, check.n + 1):,} such queries would decide"


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

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        rules = {check.measure: check.rule for check in self.checks}
        return {
            "verdict": self.verdict, "base": self.base, "new": self.new,
            "max_drop": {label: rule.max_drop for label, rule in rules.items()},
            "alpha": self.checks[0].rule.alpha, "rescored": self.rescored,
            "dropped": list(self.dropped),
            "checks": [check.data() | {"sentence": sentence(check)} for check in self.checks],
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
