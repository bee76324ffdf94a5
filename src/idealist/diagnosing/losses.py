"""Losses: the ladder of explain, summed over queries."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from idealist.diagnosing.case import Subject
from idealist.errors import UsageError
from idealist.ladder import CAUSES, Ladder
from idealist.plain_data import finite
from idealist.tables.columns import Bools, Floats

#: What is less than this is rounding.
NOTHING = 1e-12
#: How many queries are named for a cause.
NAMED = 3


@dataclass(frozen=True, eq=False)
class Losses:
    """What the mean of a measure loses, by cause; `value` and the loss make up the `ideal`.

    >>> from idealist.diagnosing import diagnose
    >>> found = diagnose({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["u", "a"]}, "RR@10")
    >>> found.losses["RR@10"].by_cause["unjudged"], found.losses["RR@10"].behind("missing")
    (0.25, {'q2': 1.0})
    """

    measure: str
    ladder: Ladder = field(repr=False)

    @property
    def counted(self) -> Bools:
        """Which of the judged queries the mean is made of."""
        return self.ladder.counted & ~np.isnan(self.ladder.loss)

    @property
    def queries(self) -> int:
        """How many they are."""
        return int(self.counted.sum())

    def only(self, queries: Bools) -> Losses:
        """Look at some of the judged queries only."""
        return Losses(self.measure, replace(self.ladder, counted=self.ladder.counted & queries))

    def mean(self, values: Floats) -> float:
        """Give the mean of values over these queries."""
        return math.fsum(values[self.counted]) / self.queries if self.queries else math.nan

    @property
    def value(self) -> float:
        """The mean as it is."""
        return self.mean(self.ladder.actual)

    @property
    def ideal(self) -> float:
        """The mean of the ideal lists."""
        return self.mean(self.ladder.ideal)

    @property
    def by_cause(self) -> dict[str, float]:
        """What each cause takes from the mean."""
        return self.ladder.mean()

    @property
    def loss(self) -> float:
        """All that is lost."""
        return math.fsum(self.by_cause.values())

    @property
    def cause(self) -> str:
        """What most is lost to; nothing where nothing is lost."""
        most = max(self.by_cause, key=lambda cause: self.by_cause[cause])
        return most if self.by_cause[most] > NOTHING else ""

    def behind(self, cause: str) -> dict[str, float]:
        """Give the queries that lose to a cause, and how much, those that lose most first."""
        lost = self.ladder.losses[cause]
        some = np.flatnonzero(self.counted & (lost > NOTHING))
        order = some[np.argsort(-lost[some], kind="stable")].tolist()
        return {self.ladder.queries[i]: float(lost[i]) for i in order}

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        causes = {
            cause: {"words": CAUSES[cause], "lost": finite(lost), "queries": self.behind(cause)}
            for cause, lost in self.by_cause.items()
        }
        return {
            "value": finite(self.value), "ideal": finite(self.ideal), "loss": finite(self.loss),
            "queries": self.queries, "causes": causes,
        }  # fmt: skip


def losses(subject: Subject, measure: str) -> Losses:
    """Take apart what a run loses of a measure."""
    aggregate = subject.instrument(measure).aggregate.aggregate
    found = Losses(measure, subject.ladder(measure))
    if aggregate != "mean":
        hint = "diagnose a measure whose queries are averaged, such as nDCG@10 or AP"
        raise UsageError(f"losses add up in a mean, and that of {measure} is {aggregate}", hint)
    return found
