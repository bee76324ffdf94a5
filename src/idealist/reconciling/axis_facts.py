"""Facts of the data that leave an axis without any effect, whatever the others are.

Each is a proof: that changing an axis alone moves nothing is none. What is not listed here is
simply tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from idealist.data import Qrels, Run
from idealist.errors import IdealistError
from idealist.measures import MEASURES
from idealist.measures.instrument import Instrument
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import rank
from idealist.reconciling.axes import Axis

#: Measures of gains whose rules about grades are looked into.
GAINS = tuple(MEASURES[name] for name in ("CG", "DCG", "nDCG"))


@dataclass(frozen=True)
class Facts:
    """What is known of judgments and a run that two instruments are to measure."""

    qrels: Qrels
    run: Run
    a: Instrument
    b: Instrument

    def reason(self, axis: Axis) -> str:
        """Say why an axis cannot matter; nothing where it might."""
        fact = FACTS.get(f".{axis.fields[0]}" if axis.part == "measure" else axis.name)
        try:
            return fact(self) if fact else ""
        except IdealistError:  # nothing is known of what cannot be read
            return ""

    def either(self, part: str, name: str) -> set[Any]:
        """Give the values that a field has in the two instruments."""
        return {getattr(getattr(one, part), name, None) for one in (self.a, self.b)}

    @cached_property
    def lists(self) -> list[Placements]:
        """All rows of the run, for each order and choice of duplicates; nothing is refused."""
        orders = self.either("protocol", "order")
        kept = self.either("protocol", "duplicates") - {"error"} or {"first"}
        lenient = replace(
            self.a.protocol, precision="float64", ties="docid-desc", nonfinite="last", depth="none",
            exclude_self=False, unjudged="zero", negative="allow", grades="keep", collapse="none",
            mapping={}, missing="zero", unknown="skip",
        )  # fmt: skip
        asked = [
            replace(lenient, order=order, duplicates=rows) for order, rows in product(orders, kept)
        ]
        return list(rank(self.qrels, self.run, asked).values())

    @cached_property
    def finite(self) -> bool:
        """Whether every score is a finite number, as a float32 too."""
        strict = [
            replace(one.protocol, precision="float32", nonfinite="error") for one in self.lists
        ]
        try:
            return bool(rank(self.qrels, self.run, strict))
        except IdealistError:
            return False

    @cached_property
    def untied(self) -> bool:
        """Whether no two scores are equal, in any precision that is used."""
        rough = "float32" in self.either("protocol", "precision")
        return not any(one.ties.any() or (rough and one.float32.any()) for one in self.lists)

    @cached_property
    def plain(self) -> bool:
        """Whether grades are all there is to the judgments."""
        return self.qrels.subtopics is None and self.qrels.preferences is None

    @cached_property
    def whole(self) -> bool:
        """Whether grades are whole numbers of at least 0."""
        return self.plain and self.qrels.minimum >= 0 and self.qrels.truncated is self.qrels

    @cached_property
    def gains_grades(self) -> bool:
        """Whether the gain is one of the usual three, and only 0 is worth nothing."""
        usual = self.either("measure", "gain") <= {"linear", "exp2", "binary"}
        return self.whole and usual and type(self.a.measure) in GAINS


def _ties(facts: Facts) -> str:
    refuses = not facts.a.measure.averages_ties or facts.either("protocol", "depth") != {"none"}
    if "expected" in facts.either("protocol", "ties") and refuses:
        return ""
    return "no two scores of a list are equal" if facts.untied else ""


def _block_end(facts: Facts) -> str:
    return "no two scores of a list are equal" if facts.untied else ""


def _precision(facts: Facts) -> str:
    near = any(one.float32.any() for one in facts.lists)
    if near or True in facts.either("measure", "positive_score") or not facts.finite:
        return ""
    return "no two scores are closer than float32 can tell"


def _nonfinite(facts: Facts) -> str:
    return "all scores are finite" if facts.finite else ""


def _duplicates(facts: Facts) -> str:
    repeated = any(one.duplicates.any() for one in facts.lists)
    return "" if repeated else "no document was retrieved twice"


def _depth(facts: Facts) -> str:
    depths = facts.either("protocol", "depth") - {"none"}
    if "expected" in facts.either("protocol", "ties") or any(isinstance(d, str) for d in depths):
        return ""
    longest = max(int(one.retrieved.max(initial=0)) for one in facts.lists)
    return "no list is longer" if longest <= min(depths) else ""


def _exclude_self(facts: Facts) -> str:
    if facts.either("protocol", "collapse") != {"none"}:
        return ""
    lists = {replace(one.protocol, exclude_self=True): one for one in facts.lists}
    others = rank(facts.qrels, facts.run, lists)
    same = all(np.array_equal(others[key].retrieved, one.retrieved) for key, one in lists.items())
    return "no document has the id of its query" if same else ""


def _negative(facts: Facts) -> str:
    return "no grade is negative" if facts.plain and facts.qrels.minimum >= 0 else ""


def _grades(facts: Facts) -> str:
    if not facts.plain or facts.qrels.truncated is not facts.qrels:
        return ""
    if "nonzero" in facts.either("protocol", "grades") and not facts.qrels.grades.all():
        return ""
    return "no grade has a fraction"


def _missing(facts: Facts) -> str:
    return "the run has every judged query" if facts.lists[0].in_run.all() else ""


def _unknown(facts: Facts) -> str:
    return "" if facts.lists[0].unknown else "every query of the run is judged"


def _gain(facts: Facts) -> str:
    counted = all(rel == "none" or float(rel) > 0 for rel in facts.either("measure", "rel"))
    binary = facts.gains_grades and facts.qrels.maximum <= 1
    return "no grade is above 1" if binary and counted else ""


def _rel(facts: Facts) -> str:
    if facts.gains_grades and facts.either("measure", "rel") <= {"none", "1"}:
        return "no grade below that is worth anything"
    if not facts.plain or not hasattr(facts.a.measure, "relevant"):
        return ""
    grades = np.concatenate((facts.qrels.grades, facts.qrels.truncated.grades))
    a, b = (one.measure.relevant(grades) for one in (facts.a, facts.b))  # type: ignore[attr-defined]
    return "both take the same documents for relevant" if np.array_equal(a, b) else ""


#: By axis, why it cannot matter. Parameters of measures begin with a dot.
FACTS: dict[str, Callable[[Facts], str]] = {
    "precision": _precision,
    "ties": _ties,
    "duplicates": _duplicates,
    "nonfinite": _nonfinite,
    "depth": _depth,
    "exclude_self": _exclude_self,
    "negative": _negative,
    "grades": _grades,
    "missing": _missing,
    "unknown": _unknown,
    ".block_end": _block_end,
    ".gain": _gain,
    ".rel": _rel,
    ".negative": _negative,
    ".ideal_negative": _negative,
}
