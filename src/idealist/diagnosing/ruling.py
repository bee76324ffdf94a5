"""Rules: a pattern in the numbers, what it means, what to do, and whether the data supports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from idealist.diagnosing.evidence import Evidence
from idealist.diagnosing.measured_run import Inputs
from idealist.errors import InputError, UsageError

_READ, _OTHER = "the number of passages that are read", "a baseline or a first stage"
#: What a rule may need beside judgments and a run, in words.
NEEDS: dict[str, str] = {
    "": "nothing else",
    "other": f"{_OTHER} to compare with",
    "pool": f"{_OTHER} to compare with, and judgments of a pool",
    "context": _READ,
    "marks": f"{_READ}, and grades below 0 or how useful passages are to the model",
    "signal": f"{_READ}, and how useful passages are to the model",
    "texts": "the texts of the queries",
    "slices": f"{_OTHER} to compare with, and slices of the queries",
}
#: What became of a rule, in words.
STATES: dict[str, str] = {
    "fires": "the data supports it",
    "open": "the data cannot tell",
    "silent": "the data speaks against it",
    "left out": "it was not looked at",
}


class Condition(Protocol):
    """What must hold for a rule to fire."""

    def weigh(self, inputs: Inputs) -> Evidence:
        """Look at the queries."""


@dataclass(frozen=True)
class Rule:
    """A rule fires if all clauses hold, each with the whole of its interval.

    A threshold that the `source` calls suggested is our own; one from a page on the web is a
    default and no more. `refines` names the fix that it says more about, if there is one.
    """

    id: str
    pattern: str
    reading: str
    action: str
    clauses: tuple[Condition, ...]
    source: str
    needs: str = ""
    refines: str = ""

    def lacks(self, inputs: Inputs) -> str:
        """Say what the rule lacks, if anything."""
        given = {
            "": True,
            "other": inputs.baseline is not None,
            "pool": inputs.baseline is not None and inputs.qrels.gold == "pooled",
            "context": inputs.context is not None,
            "marks": inputs.context is not None and inputs.marked,
            "signal": bool(inputs.udcg),
            "texts": inputs.texts is not None,
            "slices": inputs.baseline is not None and bool(inputs.slices),
        }
        if self.needs == "signal" and inputs.context is not None and inputs.signed:
            return "needs utilities from 0 to 1, and some are below 0"
        if not given[self.needs]:
            return f"needs {NEEDS[self.needs]}"
        compared = inputs.baseline if self.needs in ("other", "pool", "slices") else None
        apart = [one.name for one in (inputs.run, compared) if one and not one.matches]
        return f"no document of {' and '.join(apart)} is judged" if apart else ""


@dataclass(frozen=True)
class Ruling:
    """A rule, what became of it, and the evidence; or the `reason` why it was left out."""

    rule: Rule
    state: str
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""

    def lines(self) -> list[str]:
        """Say what the rule found, what it means, and what to do."""
        proof = [f"  evidence: {one}" for one in self.evidence]
        return [f"{self.rule.pattern}: {self.rule.reading}", f"  do: {self.rule.action}", *proof]

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        rule = self.rule
        return {
            "rule": rule.id, "state": self.state, "pattern": rule.pattern,
            "reading": rule.reading, "action": rule.action, "source": rule.source,
            "evidence": [one.data() for one in self.evidence],
            **({"reason": self.reason} if self.reason else {}),
        }  # fmt: skip


def ruled(rule: Rule, inputs: Inputs) -> Ruling:
    """Apply a rule; a measure that cannot be computed here leaves it out."""
    if lacking := rule.lacks(inputs):
        return Ruling(rule, "left out", reason=lacking)
    try:
        evidence = tuple(clause.weigh(inputs) for clause in rule.clauses)
    except (UsageError, InputError) as error:
        return Ruling(rule, "left out", reason=str(error).splitlines()[0])
    held = [one.holds for one in evidence]
    state = "fires" if all(held) else "silent" if False in held else "open"
    return Ruling(rule, state, evidence)
