"""What rules look at: statistics of a run, of two runs, of slices and of contexts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from idealist.data.columns import Floats
from idealist.diagnosing.context import Context
from idealist.diagnosing.evidence import Evidence, Statistic, WithEnds, as_it_is, of_mean, of_value
from idealist.diagnosing.measured_run import Inputs
from idealist.diagnosing.slices import changes_by_slice
from idealist.measures.instrument import measured
from idealist.significance.means import FEWEST
from idealist.significance.paired import dearer, paired
from idealist.significance.power_analysis import ENOUGH
from idealist.significance.resampling import randomisation

#: The measure that rules look at first.
MAIN = "nDCG@10"
#: How many documents R@100 can count.
COUNTED = 100


def value(measure: str) -> Statistic:
    """Look at a measure of the run."""
    return Statistic(measure, lambda inputs: inputs.run.values(measure), of_value)


def gap(high: str, low: str, factor: float = 1.0) -> Statistic:
    """Look at how far one measure of the run is above another, or a part of it."""
    part = low if factor == 1 else f"{factor:g} x {low}"
    return Statistic(
        f"{high} - {part}", lambda inputs: inputs.run.values(high) - factor * inputs.run.values(low)
    )


def _tie_spread(inputs: Inputs) -> Floats:
    instrument, lists = inputs.run.instrument(MAIN), inputs.run.placements(MAIN)
    worth = instrument.measure.worth(lists)
    best, worst = (
        measured(instrument, lists.retied(how, worth)).values for how in ("best", "worst")
    )
    return np.where(np.isnan(inputs.run.values(MAIN)), np.nan, best - worst)


TIES = Statistic(f"the {MAIN} that the order of ties decides", _tie_spread, as_it_is)


def _duplicates(inputs: Inputs) -> Floats:
    lists = inputs.run.placements(MAIN)
    whole = lists.retrieved + lists.duplicates
    return np.where(whole > 0, lists.duplicates / np.maximum(whole, 1), np.nan)


DUPLICATES = Statistic("the share of repeated documents in a list", _duplicates, as_it_is)


def _relevant(least: int, most: float) -> Callable[[Inputs], Floats]:
    """Look for queries with so many relevant documents."""

    def sample(inputs: Inputs) -> Floats:
        found = inputs.run.measured("NumRel")
        inside = (found.values >= least) & (found.values <= most)
        return np.where(found.counted, inside, np.nan)

    return sample


NONE_RELEVANT = Statistic(
    "the share of queries without a relevant document", _relevant(0, 0), as_it_is
)
CAPPED = Statistic(
    f"the share of queries with more than {COUNTED} relevant documents",
    _relevant(COUNTED + 1, math.inf),
    of_value,
)


def in_context(figure: str, words: str) -> Statistic:
    """Look at the passages that a language model reads."""

    def sample(inputs: Inputs) -> Floats:
        values: Floats = getattr(Context(inputs, inputs.context or 0), figure)
        return values

    return Statistic(words, sample, of_value)


def _by_length(inputs: Inputs) -> Floats:
    """Contrast longer queries with shorter ones.

    The mean of ± n / n_half · (value - mean) is the mean of the longer half minus that of the
    other. If a half has too few queries, because most are equally long, there is nothing to say.
    """
    values = inputs.run.values(MAIN)
    texts = inputs.texts.text if inputs.texts else {}
    words = np.array([len(texts.get(query, "").split()) for query in inputs.qrels.queries])
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


#: The range of p-values that decisions depend on; two beyond the same end agree (suggested).
DECIDING = (0.01, 0.1)
#: How many random sign flips are enough for p-values that large.
FLIPS = 10_000


def change(measure: str) -> Statistic:
    """Look at the difference between the two runs."""
    return Statistic(f"the change of {measure}", lambda inputs: inputs.changes(measure))


def _hurt(inputs: Inputs) -> Floats:
    change = inputs.changes(MAIN)
    return np.where(np.isnan(change), np.nan, change < 0)


HURT = Statistic(f"the share of queries whose {MAIN} falls", _hurt, of_value)
URISK = Statistic(
    f"URisk, the change of {MAIN} with losses counted twice,",
    lambda inputs: dearer(inputs.changes(MAIN), 1.0),
)


def _share_of_three(values: Floats) -> WithEnds:
    """Compute the share of the three greatest in the sum; few values always have large shares."""
    total = float(values.sum())
    if len(values) < 4 * 3:
        return math.nan, math.nan, math.nan
    share = float(np.partition(values, -3)[-3:].sum()) / total if total > 0 else 0.0
    return share, share, share


THREE = Statistic(
    f"the share of three queries in the rise of {MAIN}",
    lambda inputs: inputs.changes(MAIN),
    _share_of_three,
)


def _factor(values: Floats) -> WithEnds:
    """Compute the factor between the p-values of two tests, within the range of decisions."""
    if len(values) < FEWEST:
        return math.nan, math.nan, math.nan
    found = np.clip([paired(values).p, float(randomisation(values, flips=FLIPS))], *DECIDING)
    factor = float(found.max() / found.min())  # NaN where nothing varies, and t says nothing
    return factor, factor, factor


TESTS = Statistic(
    "the factor between the p-values of t-test and randomisation test, of those between "
    f"{DECIDING[0]} and {DECIDING[1]},",
    lambda inputs: inputs.changes(MAIN),
    _factor,
)


@dataclass(frozen=True)
class OnSlice:
    """A condition: on some slice the run is better (``>``) than the baseline, or worse (``<``).

    It looks at the best or the worst slice of at least ten queries, at a level divided by the
    number of such slices (Bonferroni), since any of them could have been that one.
    """

    side: str

    def weigh(self, inputs: Inputs) -> Evidence:
        """Look at the queries."""
        found = {name: values for name, _, values in changes_by_slice(inputs, MAIN)}
        large = {name: values for name, values in found.items() if len(values) >= ENOUGH}
        words = f"the change of {MAIN} on"
        if not large:
            return Evidence(f"{words} a slice", self.side, 0.0, 0, math.nan, math.nan, math.nan)
        sign = 1 if self.side == ">" else -1
        name = max(large, key=lambda name: sign * float(large[name].mean()))
        interval = of_mean(large[name], 1 - 0.05 / len(large))
        return Evidence(f"{words} slice {name}", self.side, 0.0, len(large[name]), *interval)
