"""What rules look at: for every query a number that some measure, or two of them, give."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from idealist.data.columns import Floats
from idealist.diagnosing.context import Context
from idealist.diagnosing.evidence import FEWEST, Interval, Statistic, as_it_is, of_value
from idealist.diagnosing.losses import after
from idealist.diagnosing.subject import Case, Subject
from idealist.errors import Defect
from idealist.measures.instrument import measured
from idealist.significance.flips import randomisation
from idealist.significance.paired import dearer, paired

#: The measure that rules look at first.
MAIN = "nDCG@10"
#: How many candidates a first stage is asked for.
CANDIDATES = 100


def value(measure: str) -> Statistic:
    """Look at a measure of the run."""
    return Statistic(measure, lambda case: case.run.values(measure), of_value)


def gap(high: str, low: str, factor: float = 1.0) -> Statistic:
    """Look at how far one measure of the run is above another, or a part of it."""
    part = low if factor == 1 else f"{factor:g} x {low}"
    return Statistic(
        f"{high} - {part}", lambda case: case.run.values(high) - factor * case.run.values(low)
    )


def reranking(top: int) -> Statistic:
    """Look at what a perfect reranker would add."""
    words = f"the {MAIN} that a perfect reranker of the top {top} would add"
    return Statistic(
        words, lambda case: after(case.run, MAIN, top) - case.run.values(MAIN), of_value
    )


def _recall(case: Case) -> Floats:
    depth = min(max(case.run.depth, 1), CANDIDATES)
    return case.run.values(f"R(denominator=min(k,R))@{depth}")


RECALL = Statistic(f"the recall of the candidates (at most {CANDIDATES})", _recall, of_value)


def _condensed(case: Case) -> Floats:
    run = case.run
    lists = run.placements(MAIN).condensed()
    return measured(run.instrument(MAIN), lists).values - run.values(MAIN)


CONDENSED = Statistic(f"the {MAIN} gained without unjudged documents", _condensed)


def _tie_spread(case: Case) -> Floats:
    instrument, lists = case.run.instrument(MAIN), case.run.placements(MAIN)
    worth = instrument.measure.worth(lists)
    best, worst = (
        measured(instrument, lists.retied(how, worth)).values for how in ("best", "worst")
    )
    return np.where(np.isnan(case.run.values(MAIN)), np.nan, best - worst)


TIES = Statistic(f"the {MAIN} that the order of ties decides", _tie_spread, as_it_is)


def _duplicates(case: Case) -> Floats:
    lists = case.run.placements(MAIN)
    whole = lists.retrieved + lists.duplicates
    return np.where(whole > 0, lists.duplicates / np.maximum(whole, 1), np.nan)


DUPLICATES = Statistic("the share of repeated documents in a list", _duplicates, as_it_is)


def _relevant(case: Case) -> Floats:
    found = case.run.measured("NumRel")
    return np.where(found.counted, found.values, np.nan)


def _share(test: Callable[[Floats], Any]) -> Callable[[Case], Floats]:
    def sample(case: Case) -> Floats:
        relevant = _relevant(case)
        return np.where(np.isnan(relevant), np.nan, test(relevant))

    return sample


NONE_RELEVANT = Statistic(
    "the share of queries without a relevant document",
    _share(lambda relevant: relevant == 0),
    as_it_is,
)
CAPPED = Statistic(
    f"the share of queries with more than {CANDIDATES} relevant documents",
    _share(lambda relevant: relevant > CANDIDATES),
    of_value,
)


def in_context(words: str, sample: Callable[[Context], Floats]) -> Statistic:
    """Look at the passages that a language model reads."""
    return Statistic(words, lambda case: sample(Context(case, case.context or 0)), of_value)


def _by_length(case: Case) -> Floats:
    """Contrast longer queries with shorter ones.

    The mean of ± n / n_half · (value - mean) is the mean of the longer half minus that of the
    other. Where a half has too few queries, because most are equally long, there is nothing to say.
    """
    values = case.run.values(MAIN)
    texts = case.texts.text if case.texts else {}
    words = np.array([len(texts.get(query, "").split()) for query in case.qrels.queries])
    known = ~np.isnan(values) & (words > 0)
    long = words > (np.median(words[known]) if known.any() else 0)
    contrast = np.full(len(values), np.nan)
    halves = ((known & long, 1.0), (known & ~long, -1.0))
    if min(half.sum() for half, _ in halves) < FEWEST:
        return contrast
    for half, sign in halves:
        contrast[half] = sign * known.sum() / half.sum() * (values[half] - values[known].mean())
    return contrast


LENGTH = Statistic(f"the {MAIN} of long queries, less that of short ones,", _by_length)


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
