"""What rules about two runs look at: the differences between them, query by query."""

from __future__ import annotations

import math

import numpy as np

from idealist.diagnosing.case import Case, Subject
from idealist.diagnosing.evidence import FEWEST, Interval, Statistic, of_value
from idealist.diagnosing.samples import MAIN
from idealist.errors import Defect
from idealist.statistics.flips import randomisation
from idealist.statistics.paired import paired
from idealist.statistics.risk import dearer
from idealist.tables.columns import Floats

#: The p-values among which decisions are made; two beyond the same end agree (suggested).
DECIDING = (0.01, 0.1)
#: Random sign flips, enough for p-values that large.
FLIPS = 10_000


def other(case: Case) -> Subject:
    """Give the run that is compared with, which a rule needs that asks for it."""
    if case.other is None:
        raise Defect("a rule compares with a run that was not given")
    return case.other


def changes(case: Case, measure: str) -> Floats:
    """Give the difference between the run and the one it is compared with, query by query."""
    return case.run.values(measure) - other(case).values(measure)


def change(measure: str) -> Statistic:
    """Look at the difference between the two runs."""
    return Statistic(f"the change of {measure}", lambda case: changes(case, measure))


def _hurt(case: Case) -> Floats:
    change = changes(case, MAIN)
    return np.where(np.isnan(change), np.nan, change < 0)


HURT = Statistic(f"the share of queries whose {MAIN} falls", _hurt, of_value)
URISK = Statistic(
    f"URisk, the change of {MAIN} with losses counted twice,",
    lambda case: dearer(changes(case, MAIN), 1.0),
)


def _share_of_three(values: Floats) -> Interval:
    """Give the share of the three greatest in the sum; few values always have large shares."""
    total = float(values.sum())
    if len(values) < 4 * 3:
        return math.nan, math.nan, math.nan
    share = float(np.partition(values, -3)[-3:].sum()) / total if total > 0 else 0.0
    return share, share, share


THREE = Statistic(
    f"the share of three queries in the rise of {MAIN}",
    lambda case: changes(case, MAIN),
    _share_of_three,
)


def _factor(values: Floats) -> Interval:
    """Give the factor between the p-values of two tests, where they bear on a decision."""
    if len(values) < FEWEST:
        return math.nan, math.nan, math.nan
    found = np.clip([paired(values).p, float(randomisation(values, flips=FLIPS))], *DECIDING)
    factor = float(found.max() / found.min())  # NaN where nothing varies, and t says nothing
    return factor, factor, factor


TESTS = Statistic(
    "the factor between the p-values of t-test and randomisation test, of those between "
    f"{DECIDING[0]} and {DECIDING[1]},",
    lambda case: changes(case, MAIN),
    _factor,
)
