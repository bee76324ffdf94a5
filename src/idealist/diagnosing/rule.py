"""What a rule is: a pattern in the numbers, how it is read, what to do, from which threshold on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from idealist.diagnosing.case import Case
from idealist.diagnosing.evidence import Evidence

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
