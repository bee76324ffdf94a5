"""What the gate found: a verdict, a sentence for each check, and what they rest on."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any
from xml.etree import ElementTree

from idealist.comparing.qualification import judged_less
from idealist.conventions.signature import Signature, shortened
from idealist.gating.checks import FAIL, INCONCLUSIVE, PASS, UNTESTED, Check
from idealist.gating.plan import GatePlan
from idealist.notation import many
from idealist.rendering import document as doc
from idealist.rendering import doubt_words
from idealist.rendering.document import Column, Document, Table, Text
from idealist.rendering.doubt import Doubt
from idealist.rendering.result import Result
from idealist.rendering.wording import few, p_words, signed
from idealist.significance.means import FEWEST

#: What the verdict means, and the sign that goes with it.
ANSWERS = {
    PASS: ("{new} may replace {base}", "✅"),
    FAIL: ("{new} should not replace {base}", "❌"),
    INCONCLUSIVE: ("these queries cannot tell whether {new} may replace {base}", "⚠️"),
}


def sentence(check: Check) -> str:
    """Say in one sentence what a check found."""
    if check.unmet:
        return f"{check.name}: {check.unmet}."
    base, new, change, *_ = check.numbers
    seen = f"{check.name}: {base:.4f} to {new:.4f} ({change:+.4f})"
    floor = f"below the floor of {check.rule.floor:g}; " if check.below_floor else ""
    doubt = judged_less(check.pair)
    return f"{seen}, {floor}{_why(check)}{doubt and f', {doubt}'}."


def most_lost(check: Check) -> str:
    """Name the queries that lost most; nothing where none lost."""
    lost = [f"{query} ({after - before:+.4f})" for query, before, after in check.lost]
    return f"queries that lost most {check.name}: {', '.join(lost)}" if lost else ""


def _why(check: Check) -> str:
    size, allowed = many(check.n, "query", "queries"), f"{check.rule.max_drop:g}"
    if check.verdict == UNTESTED:
        return f"{size}: too few for a verdict or a floor"
    if check.ruled == FAIL:
        return f"a significant drop ({_tested(check)}) of more than {allowed}"
    if check.ruled == PASS:
        return _passing(check, allowed)
    if check.n < FEWEST:
        whatever = "it says" if check.n == 1 else "they say"
        return f"undecided: {size} cannot tell, whatever {whatever}"
    return f"undecided with {size}: {_open(check, allowed)}"


def _tested(check: Check, corrected: bool = True) -> str:
    """Write the p-value of a drop, and its level where that is only one look's share."""
    p, rule = check.p_adjusted if corrected else check.p_drop, check.rule
    if rule.looks == 1:
        return p_words(p)
    return f"p={p:.2g} at {rule.level:.3g}, one of {rule.looks:,} looks"


def _passing(check: Check, allowed: str) -> str:
    if not check.pair.differences.any():
        unseen = 100 * (1 - check.rule.alpha ** (1 / check.n))  # all n queries miss it
        return f"the same in every query; changes to under {unseen:.0f} % of queries may not show"
    if check.paired.constant:
        return f"no drop of more than {allowed}: all {check.n} queries change by the same amount"
    return f"no drop of more than {allowed}: the true change is at least {signed(check.lower)}"


def _open(check: Check, allowed: str) -> str:
    """Say what keeps the gate from deciding, and how many queries would let it decide."""
    found, rule = check.paired, check.rule
    if found.constant and (same := 0.5**check.n) > rule.alpha:
        return f"all change by the same amount, which may be chance ({p_words(same)})"
    if found.mean >= -rule.max_drop:
        worst, known = f"a drop of up to {-check.lower:.4f} cannot be ruled out", ""
        if check.p_adjusted <= rule.level:
            known = f"the drop is significant ({_tested(check)}), and "
        reach, room = found.mean - found.lower(rule.alpha), found.mean + rule.max_drop
        more = _decided(check.n, reach / room if room else math.inf)
        return f"{known}{worst}, where {allowed} is allowed{more}"
    if check.p_drop > rule.level:
        chance = f"the drop may be chance ({_tested(check, corrected=False)})"
        z, p = NormalDist().inv_cdf, check.p_drop
        return chance + _decided(check.n, z(rule.level) / z(p) if p < 0.5 else math.inf)
    return f"the drop is not significant among several checks ({_tested(check)})"


def _decided(n: int, short: float) -> str:
    """Say how many queries would decide, were the mean and the spread to stay as they are.

    Formula: n short², as a bound comes nearer to the mean by √n, and the z of a drop grows by it;
    `short` is how many times nearer or larger it must be.
    """
    if not short < 30:  # nobody judges a thousand times as many
        return ""
    return f"; about {max(math.ceil(n * short**2), n + 1):,} such queries would decide"


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Result):
    """The verdict on a new run: PASS, FAIL, or INCONCLUSIVE where the queries cannot tell.

    `emptied` names the queries for which the base run found documents and the new one none; more of
    them than `max_empty` fail. Slices can fail the gate, but need not pass. `dropped` are the
    queries of a rescored baseline that are no longer judged.
    """

    base: str
    new: str
    checks: tuple[Check, ...]
    emptied: tuple[str, ...]
    max_empty: int
    signatures: Mapping[str, Signature]
    doubts: tuple[Doubt, ...] = ()
    rescored: bool = False
    dropped: tuple[str, ...] = ()
    convention: str = ""

    @property
    def verdict(self) -> str:
        """The verdict of all checks together."""
        if self.too_empty or any(check.verdict == FAIL for check in self.checks):
            return FAIL
        measures = [check.verdict for check in self.checks if not check.pair.slice]
        return PASS if all(verdict == PASS for verdict in measures) else INCONCLUSIVE

    @property
    def too_empty(self) -> bool:
        """Whether more queries became empty than may."""
        return len(self.emptied) > self.max_empty

    def failed(self, strict: bool = False) -> bool:
        """Whether to stop: on FAIL, and with `strict` on INCONCLUSIVE too."""
        return self.verdict == FAIL or (strict and self.verdict == INCONCLUSIVE)

    @property
    def summary(self) -> str:
        """The verdict, and what it means for the two runs."""
        words, _ = ANSWERS[self.verdict]
        answer = f"{self.verdict}: {words.format(new=self.new, base=self.base)}"
        if self.checks[0].unmet:
            return f"{answer}: {self.checks[0].unmet}"
        rescored = ", rescored under these judgments" if self.rescored else ""
        if self.dropped:
            lost = many(len(self.dropped), "query", "queries")
            rescored += f", which LACK {lost} of the baseline ({few(self.dropped)})"
        return f"{answer}{rescored}"

    @property
    def lines(self) -> list[str]:
        """What was found: the verdict and a sentence for each check, then what else matters."""
        found = [f"{check.verdict} {sentence(check)}" for check in self.checks]
        return found + self.emptied_lines + self.gap_lines

    @property
    def emptied_lines(self) -> list[str]:
        """Say which queries became empty."""
        if not self.emptied:
            return []
        verdict, allowed = FAIL if self.too_empty else PASS, f"{self.max_empty or 'none'} may"
        words = f"{many(len(self.emptied), 'query', 'queries')} became empty"
        own = [one for one in self.doubts if one.run in ("", self.new)]
        failed = {q for one in own if one.code == "failed-queries" for q in one.queries}
        lost = sorted(failed.intersection(self.emptied))
        why = f" The search of {len(lost)} of them failed: {few(lost)}." if lost else ""
        return [f"{verdict} {words}, {allowed}: {few(self.emptied)}.{why}"]

    @property
    def gap_lines(self) -> list[str]:
        """Say which queries were left out."""
        gaps = dict.fromkeys(query for check in self.checks for query in check.pair.undefined)
        if not gaps:
            return []
        words = many(len(gaps), "query has", "queries have")
        return [f"Left out: {words} no value in one of the runs: {few(list(gaps))}."]

    @property
    def lost_lines(self) -> list[str]:
        """The queries that lost most, by measure."""
        return [*filter(None, (most_lost(one) for one in self.checks if not one.pair.slice))]

    @property
    def said(self) -> list[str]:
        """The verdict, what was found and what is doubtful, for those who keep only words."""
        return [self.summary, *self.lines, *doubt_words.lines(self.doubts)]

    def report(self) -> Document:
        """Describe the verdict, the checks it rests on, and the queries that lost most."""
        found = doc.Items((*self.lines, *self.lost_lines))
        blocks = (Text(self.summary, strong=True), self._checked(), found)
        notes = (*map(Text, self.settings), *self._notes())
        return Document(blocks, notes, f"{ANSWERS[self.verdict][1]} idealist gate")

    @property
    def settings(self) -> list[str]:
        """Say what passes, what the bounds are, why they are one-sided, and for how many looks."""
        rule = self.checks[0].rule
        drops = {check.pair.measure: f"{check.rule.max_drop:g}" for check in self.checks}
        each = ", ".join(f"{drop} of {name}" for name, drop in drops.items())
        largest = each if len(set(drops.values())) > 1 else next(iter(drops.values()))
        low, high = (f"{100 * (1 - level):g} %" for level in (rule.alpha, rule.level))
        bounds = f"lower, upper: one-sided {low} bounds of the change"
        if rule.looks > 1:
            bounds = f"lower, upper: one-sided bounds of the change, {low} and {high}"
        few_queries = min(check.n for check in self.checks if not check.pair.slice) < FEWEST
        return [
            f"largest drop that passes: {largest}; {bounds}",
            "one-sided, because the gate only asks whether the new run is worse; `compare` asks in "
            "both directions, so it may find no significant difference where the gate finds a drop",
            self.budget,
            *([f"bounds from fewer than {FEWEST} queries say next to nothing"] * few_queries),
        ]

    @property
    def budget(self) -> str:
        """Say for how many looks the level holds."""
        rule = self.checks[0].rule
        if rule.looks == 1:
            every = "where every push is checked against this baseline, --looks N shares it among N"
            return f"alpha {rule.alpha:g} is for one look; {every}"
        sliced = any(check.pair.slice for check in self.checks)
        most = f"about {rule.alpha:g} at most{', and as much for slices' * sliced}"
        return (
            f"alpha {rule.alpha:g} is shared by {rule.looks:,} looks: each FAIL is at "
            f"{rule.level:.3g}, so that the chance of any false one is {most}; each PASS is at "
            f"{rule.alpha:g}"
        )

    def _checked(self) -> Table:
        rows = [
            (check.pair.measure, check.pair.slice or "all", check.verdict, check.n, *check.numbers)
            for check in self.checks
        ]
        words = [Column(name, doc.TEXT) for name in ("measure", "queries", "verdict")]
        means = [Column("n", doc.COUNT), Column("base"), Column("new")]
        changes = [Column(name, doc.SIGNED) for name in ("change", "lower", "upper")]
        return Table((*words, *means, *changes), tuple(rows))

    def _notes(self) -> tuple[doc.Block, ...]:
        signatures = shortened(self.signatures, self.convention).values()
        return doc.Doubts(self.doubts), doc.Signatures(tuple(signatures))

    def plan(self) -> GatePlan:
        """Compute the chance of each verdict with as many queries, by measure and of the gate."""
        checks = [check for check in self.checks if not check.pair.slice]
        return GatePlan.of(checks, self._notes())

    def data(self) -> dict[str, Any]:
        """Return the contract of ``gate -f json``."""
        rules, rule = {check.pair.measure: check.rule for check in self.checks}, self.checks[0].rule
        return {
            "verdict": self.verdict, "base": self.base, "new": self.new,
            "max_drop": {label: rule.max_drop for label, rule in rules.items()},
            "alpha": rule.alpha, "looks": rule.looks, "level": rule.level,
            "rescored": self.rescored, "dropped": list(self.dropped),
            "checks": [check.data() | {"sentence": sentence(check)} for check in self.checks],
            "emptied": list(self.emptied), "max_empty": self.max_empty,
            "doubts": doubt_words.lines(self.doubts),
            "signatures": shortened(self.signatures, self.convention),
        }  # fmt: skip


def github_annotations(gate: Gate, strict: bool = False) -> list[str]:
    """Write GitHub's workflow commands: an error where the build stops, else a warning or a notice.

    Reference: docs.github.com, Workflow commands for GitHub Actions
    """
    levels = {"failure": "error", "skipped": "warning", "": "notice"}
    lines = [(levels[_outcome(gate.verdict, strict)], gate.summary)]
    for check in gate.checks:
        level = "notice" if check.verdict == UNTESTED else levels[_checked(check, strict)]
        lines.append((level, f"{check.verdict} {sentence(check)}"))
    lines += [("error" if gate.too_empty else "notice", line) for line in gate.emptied_lines]
    others = (*gate.gap_lines, *gate.lost_lines, *doubt_words.lines(gate.doubts))
    lines += [("notice", line) for line in others]
    escaped = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
    return [f"::{level} title=idealist gate::{line.translate(escaped)}" for level, line in lines]


def junit(gate: Gate, strict: bool = False) -> str:
    """Write JUnit XML: a case for each check, one for emptied queries; undecided is skipped."""
    cases = [
        (check.name, _checked(check, strict), sentence(check), most_lost(check))
        for check in gate.checks
    ]
    emptied = "failure" if gate.too_empty else ""
    cases.append(("queries that became empty", emptied, ", ".join(gate.emptied), ""))
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="idealist gate", tests=str(len(cases)))
    outcomes = [outcome for _, outcome, _, _ in cases]
    suite.set("failures", str(outcomes.count("failure")))
    suite.set("skipped", str(outcomes.count("skipped")))
    for name, outcome, words, lost in cases:
        case = ElementTree.SubElement(suite, "testcase", classname="idealist.gate", name=_xml(name))
        if outcome:
            found = ElementTree.SubElement(case, outcome, message=_xml(words))
            found.text = _xml(lost) if outcome == "failure" else None
    ElementTree.SubElement(suite, "system-out").text = _xml("\n".join(gate.said))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _checked(check: Check, strict: bool) -> str:
    """Say what a check means for the build; a slice need not pass, however strict the gate is."""
    return _outcome(check.verdict, strict and not check.pair.slice)


def _outcome(verdict: str, strict: bool) -> str:
    if verdict == FAIL or (strict and verdict == INCONCLUSIVE):
        return "failure"
    return "skipped" if verdict in (INCONCLUSIVE, UNTESTED) else ""


def _xml(words: str) -> str:
    """Replace the characters that XML cannot hold."""
    return re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", words)
