"""What rules look at: for every query a number that some measure, or two of them, give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from idealist.diagnosing.case import Case
from idealist.diagnosing.context import Context
from idealist.diagnosing.evidence import FEWEST, Statistic, as_it_is, of_value
from idealist.diagnosing.headroom import after
from idealist.measuring import measured
from idealist.tables.columns import Floats

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
