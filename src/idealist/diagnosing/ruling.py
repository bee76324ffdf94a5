"""What a rule is: a pattern in the numbers, how it is read, what to do, from which threshold on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from idealist.diagnosing.evidence import Evidence
from idealist.diagnosing.subject import Case
from idealist.errors import InputError, UsageError

#: What a rule may need beside judgments and a run, in words.
NEEDS: dict[str, str] = {
    "": "nothing else",
    "other": "a baseline or a first stage to compare with",
    "context": "the number of passages that are read",
    "marks": "the number of passages that are read, and grades below 0 or what they are worth to "
    "the model",
    "signal": "the number of passages that are read, and what they are worth to the model",
    "texts": "the texts of the queries",
    "slices": "a baseline or a first stage to compare with, and slices of the queries",
}
#: Where several thresholds come from.
DL21 = "63 runs of TREC DL 2021"


class Condition(Protocol):
    """What must hold for a rule to fire."""

    def weigh(self, case: Case) -> Evidence:
        """Look at the queries of a case."""


@dataclass(frozen=True)
class Rule:
    """It fires where all clauses hold, each with the whole of its interval.

    Where the `source` calls a threshold suggested, nobody else is known to use it; where it names a
    page on the web, take it as a default and no more.
    """

    id: str
    pattern: str
    reading: str
    action: str
    clauses: tuple[Condition, ...]
    source: str
    needs: str = ""


#: What became of a rule, in words.
STATES: dict[str, str] = {
    "fires": "the data supports it",
    "open": "the data cannot tell",
    "silent": "the data speaks against it",
    "left out": "it was not looked at",
}


@dataclass(frozen=True)
class Ruling:
    """A rule, what became of it, and the evidence; or the `reason` why it was left out."""

    rule: Rule
    state: str
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""

    def lines(self) -> list[str]:
        """Tell it: pattern, reading, what to do, evidence and source."""
        rule = self.rule
        proof = [f"evidence: {one}" for one in self.evidence]
        return [
            f"{rule.id}: {rule.pattern}", f"reading: {rule.reading}", f"do: {rule.action}",
            *proof, f"source: {rule.source}",
        ]  # fmt: skip

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        rule = self.rule
        return {
            "rule": rule.id, "state": self.state, "pattern": rule.pattern,
            "reading": rule.reading, "action": rule.action, "source": rule.source,
            "evidence": [one.data() for one in self.evidence],
            **({"reason": self.reason} if self.reason else {}),
        }  # fmt: skip


def ruled(rule: Rule, case: Case) -> Ruling:
    """Hold a rule against a case; a measure that the rules of the call refuse leaves it out."""
    if lacking := _lacking(rule.needs, case):
        return Ruling(rule, "left out", reason=lacking)
    try:
        evidence = tuple(clause.weigh(case) for clause in rule.clauses)
    except (UsageError, InputError) as error:
        return Ruling(rule, "left out", reason=str(error).splitlines()[0])
    held = [one.holds for one in evidence]
    state = "fires" if all(held) else "silent" if False in held else "open"
    return Ruling(rule, state, evidence)


def _lacking(need: str, case: Case) -> str:
    """Say what a rule lacks, if anything."""
    given = {
        "": True,
        "other": case.other is not None,
        "context": case.context is not None,
        "marks": case.context is not None and case.marked,
        "signal": bool(case.udcg),
        "texts": case.texts is not None,
        "slices": case.other is not None and bool(case.slices),
    }
    if need == "signal" and case.context is not None and case.signed:
        return "needs utilities from 0 to 1, and some are below 0"
    if not given[need]:
        return f"needs {NEEDS[need]}"
    compared = [case.run, case.other] if need in ("other", "slices") else [case.run]
    apart = [one.run.name for one in compared if one and not one.matches]
    return f"nothing in {' and '.join(apart)} meets the judgments" if apart else ""
