"""Facts about judgments and a run, and the rules that cannot matter because of them.

Each is a proof that holds whatever the other rules are; that changing a rule alone moves nothing
would not be one. A rule without such a fact is simply tried.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from idealist.errors import IdealistError
from idealist.measures import MEASURES
from idealist.measures.instrument import Instrument
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked
from idealist.ranking.stored_placements import has_documents
from idealist.reconciling.game import Axis

#: Measures of gains whose rules about grades are looked into.
GAINS = tuple(MEASURES[name] for name in ("CG", "DCG", "nDCG"))


@dataclass(frozen=True)
class Facts:
    """What judgments and a run hold, as far as a rule could care; each fact is found when needed.

    Lists may have any of the `orders`, keep any of the `kept` rows of a repeated document, and
    compare scores in any of the `precisions`. Of the other rules in `protocol`, those stay that
    neither refuse a document nor leave it out.
    """

    ranked: Ranked
    protocol: Protocol
    orders: Collection[str]
    kept: Collection[str] = ("first",)
    precisions: Collection[str] = ("float64", "float32")

    @classmethod
    def of(cls, ranked: Ranked, protocol: Protocol) -> Facts:
        """Look at lists in every order that the rows can have."""
        stored = not has_documents(ranked.run)  # then it knows which orders it has
        ranks = stored or ranked.run.rows().ranks is not None
        others = ("rank", "given") if ranks else ("given",)
        return cls(ranked, protocol, ["score", *(o for o in others if _ranks(ranked, protocol, o))])

    @cached_property
    def lists(self) -> list[Placements]:
        """All rows of the run, for each order and choice of duplicates; nothing is refused."""
        lenient = replace(
            self.protocol.whole(), precision="float64", ties="docid-desc", nonfinite="last",
            exclude_self=False, missing="zero", unknown="skip",
        )  # fmt: skip
        pairs = product(self.orders, self.kept)
        asked = [replace(lenient, order=order, duplicates=rows) for order, rows in pairs]
        return list(self.ranked.under(asked).values())

    def lacks(self, axis: str) -> str:
        """Name what an axis is about, if the data has none of it."""
        words, fact = ABOUT.get(axis, ("", None))
        return words if fact and not fact(self) else ""

    @property
    def absent(self) -> list[str]:
        """What the data has none of, so that no rule about it can matter."""
        found = (self.lacks(axis) for axis in ABOUT if axis != "unknown")
        return list(dict.fromkeys(filter(None, found)))

    @cached_property
    def float32(self) -> bool:
        """Whether that precision ties scores that differ."""
        return any(bool(one.float32.any()) for one in self.lists)

    @cached_property
    def tied(self) -> bool:
        """Whether two scores of a list are equal."""
        rough = "float32" in self.precisions and self.float32
        return rough or any(bool(one.ties.any()) for one in self.lists)

    @cached_property
    def nonfinite(self) -> bool:
        """Whether a score is not a finite number, in one of the precisions."""
        asked = product((one.protocol for one in self.lists), self.precisions)
        try:
            self.ranked.under(replace(p, precision=one, nonfinite="error") for p, one in asked)
        except IdealistError:
            return True
        return False

    @cached_property
    def itself(self) -> bool:
        """Whether a document has the id of its query, or might after chunks were merged."""
        if self.protocol.collapse != "none":
            return True
        without = [replace(one.protocol, exclude_self=True) for one in self.lists]
        pairs = zip(self.lists, self.ranked.under(without).values(), strict=True)
        return any(not np.array_equal(one.retrieved, other.retrieved) for one, other in pairs)

    @property
    def unjudged(self) -> bool:
        """Whether a list holds documents without judgments."""
        return int(self.lists[0].retrieved.sum()) > len(self.lists[0].rank)

    @cached_property
    def nonpositive(self) -> bool:
        """Whether a score is not above 0."""
        if not has_documents(self.ranked.run):
            return bool(np.any(self.lists[0].score <= 0))
        scores = self.ranked.run.rows().scores
        return scores is not None and not np.all(scores > 0)

    @property
    def longest(self) -> int:
        """The length of the longest list."""
        return int(self.lists[0].retrieved.max(initial=0))

    @property
    def most(self) -> int:
        """How many documents were retrieved or judged for a query, at most."""
        return max(self.longest, int(np.diff(self.ranked.qrels.starts).max(initial=0)))

    @cached_property
    def grades(self) -> list[float]:
        """The different grades, also with their fractions cut off."""
        grades = self.ranked.qrels.grades
        return sorted({*grades.tolist(), *np.trunc(grades).tolist()})

    @property
    def maximum(self) -> float:
        """The highest grade."""
        return self.ranked.qrels.maximum

    @property
    def negative(self) -> bool:
        """Whether a grade is negative."""
        return self.ranked.qrels.minimum < 0

    @property
    def fractions(self) -> bool:
        """Whether a grade has a fraction."""
        return any(grade != int(grade) for grade in self.grades)

    @property
    def zeros(self) -> bool:
        """Whether a grade is 0, perhaps after its fraction was cut off."""
        return 0 in self.grades

    @property
    def plain(self) -> bool:
        """Whether grades are all there is to the judgments."""
        return self.ranked.qrels.subtopics is None and self.ranked.qrels.preferences is None


#: What an axis is about, and whether the data has any of it: if not, the axis cannot matter.
ABOUT: dict[str, tuple[str, Callable[[Facts], Any]]] = {
    "ties": ("ties", lambda facts: facts.tied),
    "block_end": ("ties", lambda facts: facts.tied),
    "precision": ("scores that float32 cannot tell apart", lambda facts: facts.float32),
    "duplicates": ("duplicates", lambda facts: any(one.duplicates.any() for one in facts.lists)),
    "nonfinite": ("scores that are not finite", lambda facts: facts.nonfinite),
    "exclude_self": ("documents with the id of their query", lambda facts: facts.itself),
    "negative": ("negative grades", lambda facts: facts.negative),
    "ideal_negative": ("negative grades", lambda facts: facts.negative),
    "grades": ("fractions of grades", lambda facts: facts.fractions),
    "unjudged": ("unjudged documents in the lists", lambda facts: facts.unjudged),
    "missing": ("queries missing from the run", lambda facts: not facts.lists[0].in_run.all()),
    "positive_score": ("scores of 0 or less", lambda facts: facts.nonpositive),
    "unknown": ("queries of the run without judgments", lambda facts: facts.lists[0].unknown),
}


def _ranks(ranked: Ranked, protocol: Protocol, order: str) -> bool:
    """Whether a run can be put in an order: its ranks may not be ranks."""
    try:
        return bool(Facts(ranked, protocol, [order]).lists)
    except IdealistError:
        return False


class Pair(NamedTuple):
    """Two instruments that are to measure the same data, and the facts about it."""

    a: Instrument
    b: Instrument
    facts: Facts

    @classmethod
    def of(cls, ranked: Ranked, a: Instrument, b: Instrument) -> Pair:
        """Find out which lists the two can see."""
        protocol = replace(a.protocol, grades="keep", collapse="none", mapping={})
        both = [one.protocol for one in (a, b)]
        kept = {one.duplicates for one in both} - {"error"} or {"first"}
        orders, precisions = ({getattr(p, name) for p in both} for name in ("order", "precision"))
        return cls(a, b, Facts(ranked, protocol, orders, kept, precisions))

    def either(self, name: str, part: str = "protocol") -> set[Any]:
        """Return the values of a rule in the two instruments."""
        return {getattr(getattr(one, part), name, None) for one in (self.a, self.b)}

    def reason(self, axis: Axis) -> str:
        """Say why an axis cannot matter; nothing where it might."""
        field = axis.fields[0]
        key = f".{field}" if axis.part == "measure" else field
        try:
            if key in OWN:
                return OWN[key](self)
            lacking = key in HOLDS and HOLDS[key](self) and self.facts.lacks(field)
        except IdealistError:  # nothing is known of what cannot be read
            return ""
        return f"there are no {lacking}" if lacking else ""


def _ties(pair: Pair) -> bool:
    """Unless averaging ties would be refused."""
    refuses = not pair.a.measure.averages_ties or pair.either("depth") != {"none"}
    return not refuses or "expected" not in pair.either("ties")


def _precision(pair: Pair) -> bool:
    """Unless a score could become 0 or infinite."""
    return True not in pair.either("positive_score", "measure") and not pair.facts.nonfinite


def _grades(pair: Pair) -> bool:
    """Unless grades of 0 are dropped by one of the two."""
    return pair.facts.plain and not (pair.facts.zeros and "nonzero" in pair.either("grades"))


#: By axis, whether lacking what it is about is a proof. Parameters of measures begin with a dot.
HOLDS: dict[str, Callable[[Pair], bool]] = {
    **dict.fromkeys(
        ("duplicates", "missing", "nonfinite", "unknown", ".block_end"), lambda pair: True
    ),
    **dict.fromkeys(("negative", ".negative", ".ideal_negative"), lambda pair: pair.facts.plain),
    "precision": _precision,
    "ties": _ties,
    "exclude_self": lambda pair: pair.either("collapse") == {"none"},
    "grades": _grades,
}


def _depth(pair: Pair) -> str:
    depths = pair.either("depth") - {"none"}
    if "expected" in pair.either("ties") or any(isinstance(depth, str) for depth in depths):
        return ""
    return "no list is longer" if pair.facts.longest <= min(depths) else ""


def _usual_gains(pair: Pair) -> bool:
    """Whether the gain is one of the usual three, so that only grade 0 is worth nothing."""
    facts = pair.facts
    whole = facts.plain and not facts.negative and not facts.fractions
    usual = pair.either("gain", "measure") <= {"linear", "exp2", "binary"}
    return whole and usual and type(pair.a.measure) in GAINS


def _gain(pair: Pair) -> str:
    if pair.facts.maximum > 1 or not _usual_gains(pair):
        return ""
    counted = all(rel == "none" or float(rel) > 0 for rel in pair.either("rel", "measure"))
    return "no grade is above 1" if counted else ""


def _rel(pair: Pair) -> str:
    if pair.either("rel", "measure") <= {"none", "1"} and _usual_gains(pair):
        return "lower grades are worth nothing anyway"
    if not pair.facts.plain or not hasattr(pair.a.measure, "relevant"):
        return ""
    grades = np.array(pair.facts.grades)
    a, b = (one.measure.relevant(grades) for one in (pair.a, pair.b))  # type: ignore[attr-defined]
    return "both take the same documents as relevant" if np.array_equal(a, b) else ""


#: By axis, reasons of its own why it cannot matter.
OWN: dict[str, Callable[[Pair], str]] = {"depth": _depth, ".gain": _gain, ".rel": _rel}
