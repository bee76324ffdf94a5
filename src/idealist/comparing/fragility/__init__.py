"""Label fragility: what it takes to reverse a finding, by the worst labels and by random ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from idealist.comparing.fragility.changing import Changing
from idealist.comparing.fragility.confusion import USUAL, Confusion
from idealist.comparing.fragility.fewest import (
    Plan,
    Problem,
    fewest_for_sign,
    fewest_for_significance,
)
from idealist.comparing.fragility.noise import LabelNoise, label_noise
from idealist.comparing.fragility.reach import reach_of
from idealist.comparing.fragility.relabelling import Relabelling
from idealist.evaluating.evaluator import Evaluator
from idealist.notation import many, tidy
from idealist.rendering.wording import few, number
from idealist.significance.paired import ROUNDING, paired


class Change(NamedTuple):
    """A label that is changed: of which query and document, from which grade, to which."""

    query: str
    document: str
    grade: float
    to: float

    def __str__(self) -> str:
        return f"{self.query} {self.document} {self.grade} → {self.to}"


@dataclass(frozen=True)
class Reversal:
    """Changes that reverse something, None where none are known; fewer than `at_least` do not.

    No more than `most` changes were looked for; `labels` are all that could be changed.
    """

    changes: tuple[Change, ...] | None
    at_least: int
    most: int
    labels: int | None = None

    @property
    def exact(self) -> bool:
        """Whether the fewest changes are known, or known to be more than were looked for."""
        known = self.most + 1 if self.changes is None else len(self.changes)
        return known == self.at_least

    @property
    def possible(self) -> bool:
        """Whether any labels may do it: False where all that there are were looked at."""
        every = self.labels is not None and self.labels <= self.most
        return self.changes is not None or self.at_least <= self.most or not every

    def said(self, what: str) -> str:
        """Say how many labels it takes, and which.

        >>> Reversal(None, 21, 20, labels=1).said("reverse that")
        'no change of labels can reverse that'
        """
        if not self.possible:
            return f"no change of labels can {what}"
        listed = f" ({few(list(map(str, self.changes)))})" if self.changes else ""
        return f"it takes {self.count} to {what}{listed}"

    @property
    def count(self) -> str:
        """How many labels it takes, in words.

        >>> Reversal(None, 21, 20).count, Reversal(None, 3, 20).count
        ('more than 20 labels', 'at least 3 labels')
        """
        if self.changes is not None:
            start, number = f"between {self.at_least} and ", len(self.changes)
            return ("" if self.exact else start) + many(number, "label", "labels")
        if self.at_least > self.most:
            return f"more than {many(self.most, 'label', 'labels')}"
        return f"at least {many(self.at_least, 'label', 'labels')}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        names, known = ("query", "document", "from", "to"), self.changes
        listed = None if known is None else [dict(zip(names, one, strict=True)) for one in known]
        return {
            "labels": None if known is None else len(known), "at_least": self.at_least,
            "exact": self.exact, "possible": self.possible, "changes": listed,
        }  # fmt: skip


@dataclass(frozen=True)
class Fragility:
    """On how few labels a difference hangs, and how far judges may disagree before it goes.

    The first is a worst case: labels that somebody chose in order to reverse it. `sign` holds the
    fewest changes that reverse the sign of the mean difference, None where there is none to
    reverse; `significance` those that make a significant difference not significant, or one that
    is not significant so: by the paired t-test alone, two-sided, at `alpha`; None where t says
    nothing. `decided` is what the verdict of a comparison says, where there is one. A change gives
    a judged document another grade of the scale; one after which a query would not count, or would
    count anew, is not looked at. `noise` says how often the finding holds if all labels are redrawn
    at random, as another judge might give them.
    """

    measure: str
    baseline: str
    run: str
    alpha: float
    difference: float
    significant: bool
    sign: Reversal | None
    significance: Reversal | None
    sense: int = 1
    decided: bool | None = None
    noise: LabelNoise | None = None

    def __str__(self) -> str:
        if math.isnan(self.difference):
            return "Labels: the runs have no difference that a label could reverse."
        if self.sign is None:
            return "Labels: the runs are level, so there is nothing to reverse."
        ahead = self.run if self.difference * (self.sense or 1) > 0 else self.baseline
        word = "ahead" if self.sense else "higher"
        lead = f"Labels, at worst: {ahead} is {word} by {number(abs(self.difference))}"
        lines = [f"{lead}; {self.sign.said('reverse that')}."]
        if self.significance is not None:
            lines.append(f"Labels, at worst: {self._significance(self.significance)}.")
        if self.noise is not None:
            lines.append(f"Labels {self.noise.said(f'{ahead} is {word}')}.")
        return "\n".join(lines)

    def _significance(self, reversal: Reversal) -> str:
        """Speak of the t-test; where the verdict is another one, as of the t-test's alone."""
        now, then = ("", "not ") if self.significant else ("not ", "")
        if self.decided in (None, self.significant):
            return reversal.said(f"make it {then}significant by the t-test")
        so = reversal.said(f"make it {then}so")
        return f"by the t-test alone the difference is {now}significant; {so}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "alpha": self.alpha,
            "test": "t",
            "significant": self.significant,
            "sign": self.sign and self.sign.data(),
            "significance": self.significance and self.significance.data(),
            "noise": self.noise and self.noise.data(),
        }


def fragility(
    evaluator: Evaluator,
    baseline: Any,
    run: Any,
    measure: str,
    *,
    alpha: float = 0.05,
    most: int = 20,
    agreement: Any = None,
    seed: int = 0,
) -> Fragility:
    """Find the fewest labels that reverse the difference of two runs, and its significance.

    Labels are also redrawn at random with an `agreement`, a kappa or a table of grades by grades.

    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> old, new = {q: ["b", "a"] for q in qrels}, {q: ["a", "b"] for q in qrels}
    >>> found = fragility(Evaluator(qrels, "P@1"), old, new, "P@1")
    >>> len(found.sign.changes), found.sign.exact
    (4, True)
    """
    runs = evaluator.ranked(baseline), evaluator.ranked(run)
    relabelling = Relabelling.of(evaluator, measure, *runs)
    (base, new), counted = relabelling.now, relabelling.counted
    start, weights = (new.values - base.values)[counted], relabelling.weights[counted]
    mean = float(weights @ start) / float(weights.sum()) if len(start) else math.nan
    sign = significance = noise = None
    significant = False
    confusion = Confusion.of(USUAL if agreement is None else agreement, relabelling.grades)
    if abs(mean) > ROUNDING:
        noise = label_noise(relabelling, mean, alpha, confusion, seed)
        changing = Changing(relabelling, math.copysign(1.0, mean))
        sign, significance, significant = _searched(changing, weights, alpha, most)
    by = relabelling.instrument.measure
    names = runs[0].run.name, runs[1].run.name
    sense = by.direction if by.judges else 0
    return Fragility(
        measure, *names, alpha, mean, significant, sign, significance, sense, noise=noise
    )


def _searched(
    changing: Changing, weights: Any, alpha: float, most: int
) -> tuple[Reversal, Reversal | None, bool]:
    """Change ever more labels of a query, until the answers are exact or nothing is left to try."""
    varies = len(weights) > 1 and not paired(changing.start, weights).constant
    while True:
        problem = _problem(changing, weights, alpha, most)
        sign = _reversal(changing, fewest_for_sign(problem), most)
        plan = fewest_for_significance(problem) if varies else None
        significance = plan and _reversal(changing, plan, most)
        done = sign.exact and (significance is None or significance.exact)
        if done or changing.depth >= most or not changing.grow():
            return sign, significance, varies and problem.significant(problem.start)


def _problem(changing: Changing, weights: Any, alpha: float, most: int) -> Problem:
    attained = [[one.values for one in tried] for tried in changing.tried]
    complete = np.array([[one.all for one in tried] for tried in changing.tried])
    return Problem(attained, complete, reach_of(changing, most), weights, alpha)


def _reversal(changing: Changing, plan: Plan, most: int) -> Reversal:
    """Name the labels of a plan."""
    written, qrels = changing.relabelling.written, changing.relabelling.qrels
    found = []
    for i, j, index in plan.picks or ():
        chosen = changing.tried[i][j].sets[index]
        query = qrels.queries[changing.queries[i]]
        for judgment, grade in zip(*changing.ways[i].labels(chosen), strict=True):
            was = tidy(float(qrels.grades[judgment]))
            found.append(Change(query, qrels.documents[judgment], was, written[grade]))
    changes = None if plan.picks is None else tuple(found)
    return Reversal(changes, plan.at_least, most, sum(ways.size for ways in changing.ways))
