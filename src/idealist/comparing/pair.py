"""A pair of runs: their difference by one measure, query by query, with its statistics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from idealist.comparing.compare_options import POWER, ROPE, Options
from idealist.data.columns import Floats, Ints
from idealist.errors import UsageError, nearest
from idealist.significance.means import FEWEST, mean, quantile
from idealist.significance.normal_samples import usual_share
from idealist.significance.paired import (
    ALPHAS,
    ROUNDING,
    Paired,
    differences,
    paired,
    relative,
    trisk,
    urisk,
)
from idealist.significance.power_analysis import detectable, effect_interval, needed
from idealist.significance.rank_tests import sign_test, wilcoxon
from idealist.significance.resampling import bca, bootstrap_shift

if TYPE_CHECKING:
    from idealist.rendering.doubt import Doubt


#: How many queries that gained or lost most are named, and how many are left out for a check.
NAMED = 3


#: Statistics of nothing: every number is NaN.
NOTHING = Paired(1, math.nan, math.nan, 0.05)


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """What the difference of two runs is by one measure: run - baseline, query by query.

    `base` and `new` are their values, `weights` those of the queries, if any. `sense` is 1 where
    higher is better, -1 where lower is, 0 where neither; `in_unit` says whether values are on
    [0, 1] unless grades are negative, `limits` the range they never leave, `aggregate` how they
    become one; `undefined` are the queries left out. `p_randomisation` is Fisher's test alone,
    `p_own` what it is among all that are decided together, on so many random `draws`, 0 where all
    were tried; intervals go by `beyond`, the |t| that the family asks for. `p_adjusted` decides:
    where another measure is `primary` it is at least that one's, and the pair is `held_back` if by
    `p_own` it would be significant. A part of the queries has its name in `slice`; one of too few
    is not `tested`, nor are runs that no judgment meets, `unmeasured`. `unjudged`, `fragility` and
    `multiverse` say how robust it is.
    """

    measure: str
    baseline: str
    run: str
    queries: tuple[str, ...]
    base: Floats
    new: Floats
    weights: Floats | None = None
    sense: int = 1
    in_unit: bool = True
    limits: tuple[float, float] = (-math.inf, math.inf)
    aggregate: str = "mean"
    undefined: tuple[str, ...] = ()
    options: Options = field(default_factory=Options)
    p_randomisation: float = math.nan
    p_adjusted: float = math.nan
    p_own: float = math.nan
    beyond: float = 0.0
    draws: int = 0
    primary: str = ""
    held_back: bool = False
    slice: str = ""
    tested: bool = True
    unmeasured: tuple[str, ...] = ()
    unjudged: Any = None
    fragility: Any = None
    multiverse: Any = None

    @property
    def n(self) -> int:
        """The number of queries."""
        return len(self.queries)

    @cached_property
    def differences(self) -> Floats:
        """The difference of each query, 0 where there is none but rounding."""
        return differences(self.base, self.new)

    @property
    def widest(self) -> float:
        """The largest difference there can be."""
        return self.limits[1] - self.limits[0]

    @property
    def base_mean(self) -> float:
        """The mean of the baseline."""
        return self._mean(self.base)

    @property
    def run_mean(self) -> float:
        """The mean of the run."""
        return self._mean(self.new)

    def _mean(self, values: Floats, places: Ints | None = None) -> float:
        some = np.arange(self.n) if places is None else places
        weights = None if self.weights is None else self.weights[some].tolist()
        return mean(values[some].tolist(), weights) if len(some) else math.nan

    @property
    def wins(self) -> int:
        """The queries with a better value."""
        return int(np.count_nonzero(self._favour > 0))

    @property
    def losses(self) -> int:
        """The queries with a worse value."""
        return int(np.count_nonzero(self._favour < 0))

    @property
    def ties(self) -> int:
        """The queries with the same value."""
        return self.n - self.wins - self.losses

    @property
    def _favour(self) -> Floats:
        """The differences, above 0 where the run is better."""
        return -self.differences if self.sense < 0 else self.differences

    @property
    def gained(self) -> tuple[tuple[str, float], ...]:
        """The queries that gained most, with their differences."""
        return self.most_changed(1)

    @property
    def lost(self) -> tuple[tuple[str, float], ...]:
        """The queries that lost most, with their differences."""
        return self.most_changed(-1)

    def most_changed(self, sign: int, count: int = NAMED) -> tuple[tuple[str, float], ...]:
        """Name the queries that gained most (1) or lost most (-1), with their differences."""
        signed = sign * self._favour
        most = [i for i in np.argsort(-signed, kind="stable")[:count] if signed[i] > 0]
        return tuple((self.queries[i], float(self.differences[i])) for i in most)

    @cached_property
    def _by_favour(self) -> Ints:
        """The places of queries, those first that carry the mean furthest to its side."""
        adds = self.differences if self.weights is None else self.weights * self.differences
        order: Ints = np.argsort(-np.sign(math.fsum(adds)) * adds, kind="stable")
        return order

    @property
    def top3(self) -> tuple[str, ...]:
        """The three queries that favour the mean's sign most, weights counted."""
        return tuple(self.queries[i] for i in self._by_favour[:NAMED])

    @property
    def top3_share(self) -> float:
        """The share of the mean difference that these three carry; NaN where there is none."""
        adds = self.differences if self.weights is None else self.weights * self.differences
        total = math.fsum(adds)
        return math.fsum(adds[self._by_favour[:NAMED]]) / total if total else math.nan

    @property
    def usual_top3_share(self) -> float:
        """The share that three carry at most in 19 of 20 normal samples; NaN with weights."""
        known = self.weights is None and self.n > NAMED and math.isfinite(self._t.t) and self._t.t
        return usual_share(self.n, self._t.t, NAMED) if known else math.nan

    @cached_property
    def without_top3(self) -> float:
        """The mean difference without these three; NaN where there are no others."""
        return self._mean(self.differences, self._by_favour[NAMED:])

    @cached_property
    def statistics(self) -> Paired:
        """The mean difference, how it varies, and what follows from t."""
        if not self.n:
            return NOTHING
        return paired(self.differences, self.weights, self.options.alpha)

    @property
    def _t(self) -> Paired:
        """The same, where it is tested."""
        return self.statistics if self.tested else NOTHING

    @property
    def difference(self) -> float:
        """The mean difference."""
        return self.statistics.mean

    @cached_property
    def _relative(self) -> tuple[float, float, float]:
        if not self.n:
            return math.nan, math.nan, math.nan
        return relative(self.base, self.new, self.weights, self.level)

    @property
    def relative(self) -> float:
        """The difference as a share of the baseline."""
        return self._relative[0]

    @property
    def relative_ci(self) -> tuple[float, float]:
        """Fieller's interval of the relative difference; NaN where no difference varies.

        Of fewer than five queries it would reach as far as +10,000,000 %, and is NaN too.
        """
        if not self.tested or self.statistics.constant or self.n < FEWEST:
            return math.nan, math.nan
        share, low, high = self._relative
        return self._settled(share, max(low, -1.0) if self.limits[0] >= 0 else low, high)

    @property
    def ci(self) -> tuple[float, float]:
        """The interval of the mean difference, cut to the differences there can be.

        Intervals of many that are decided together hold the true differences all at once, as often
        as alpha says. They leave out 0 where `p_own` is below alpha, and only there.
        """
        if math.isinf(self.beyond):  # no difference is large enough for t
            most = self.widest if self.widest < math.inf else math.nan
            return self._settled(self.difference, -most, most)
        half = self.beyond * self._t.se
        low = min(self._t.lower(self.level / 2), self.difference - half)
        high = max(self._t.upper(self.level / 2), self.difference + half)
        low, high = (0.0 if abs(end) <= ROUNDING * half else end for end in (low, high))
        low, high = self._settled(self.difference, low, high)
        return max(low, -self.widest), min(high, self.widest)

    def _settled(self, value: float, low: float, high: float) -> tuple[float, float]:
        """Make an interval leave out 0 where the test that decides does, though t may not.

        Formula: where it held 0 though p < α, the end next to 0 is value (1 - t_α / t_p), with the
        quantiles of t at α and p

        Reference: Miettinen 1976, American Journal of Epidemiology 103(2) (test-based limits)
        """
        alpha, df = self.options.alpha, self.statistics.df
        if self.p_own >= alpha:
            return min(low, 0.0), max(high, 0.0)
        if not (self.p_own < alpha and low <= 0 <= high):
            return low, high
        asked, reached = (quantile(1 - p / 2, df) for p in (alpha, max(self.p_own, ROUNDING)))
        near = value * (1 - asked / reached)
        return (near, high) if value > 0 else (low, near)

    @cached_property
    def level(self) -> float:
        """The alpha that intervals and power go by, smaller where many are decided together."""
        from scipy.special import stdtr

        if not self.beyond or not self._t.sd > 0:
            return self.options.alpha
        share = 2 * float(stdtr(self._t.df, -self.beyond))
        return min(self.options.alpha, max(share, ALPHAS[0]))

    @property
    def p_t(self) -> float:
        """The p-value of the paired t-test, two-sided."""
        return self._t.p

    @property
    def d_z(self) -> float:
        """The effect size: the mean difference in standard deviations of the differences."""
        return self.statistics.d_z

    @property
    def d_z_ci(self) -> tuple[float, float]:
        """The interval of the effect size, by the noncentral t."""
        found = effect_interval(self._t.t, self._t.alike, self._t.df, self.level)
        return self._settled(self.d_z, *found)

    @property
    def hedges_g(self) -> float:
        """The effect size, corrected for few queries."""
        return self.statistics.hedges_g

    @property
    def sign_holds(self) -> bool:
        """Whether the difference keeps its sign without these three queries."""
        return self.without_top3 * self.difference > 0

    @cached_property
    def p_without_top3(self) -> float:
        """The p-value of the t-test without these three queries."""
        rest = self._by_favour[NAMED:]
        if len(rest) < 2 or not self.tested:
            return math.nan
        weights = None if self.weights is None else self.weights[rest]
        return paired(self.differences[rest], weights, self.options.alpha).p

    @property
    def rope(self) -> float | None:
        """The difference too small to matter."""
        usual = ROPE if self.in_unit else None
        return usual if self.options.rope is None else self.options.rope

    @property
    def p_better(self) -> float:
        """The probability that the run is better by more than the rope."""
        return self._beyond(self.sense or 1)

    @property
    def p_worse(self) -> float:
        """The probability that the run is worse by more than the rope."""
        return self._beyond(-self.sense or -1)

    @property
    def p_equal(self) -> float:
        """The probability that the runs are practically equal; 0 without a rope."""
        rope = self.rope or 0.0
        return self._t.probability(-rope, rope)

    def _beyond(self, side: int) -> float:
        rope = self.rope or 0.0
        ends = (rope, math.inf) if side > 0 else (-math.inf, -rope)
        return self._t.probability(*ends)

    @property
    def p_equivalence(self) -> float:
        """The p-value of equivalence within the margin (TOST); NaN without a margin."""
        margin = self.options.margin
        return math.nan if margin is None else self._t.equivalence(margin)

    @property
    def p_non_inferiority(self) -> float:
        """The p-value of being worse by less than the margin; NaN without a margin."""
        margin = self.options.margin
        if margin is None:
            return math.nan
        return self._t.non_inferiority(margin) if self.sense >= 0 else self._t.p_below(margin)

    @cached_property
    def tests(self) -> Mapping[str, float]:
        """The p-values of the tests on request."""
        seed, d = self.options.seed, self.differences
        ways = {
            "wilcoxon": lambda: wilcoxon(d),
            "sign": lambda: sign_test(d),
            "bootstrap": lambda: bootstrap_shift(d, self.weights, seed=seed),
        }
        able = self.tested and self.n > 1
        return {name: ways[name]() if able else math.nan for name in self.options.tests}

    @cached_property
    def ci_bootstrap(self) -> tuple[float, float]:
        """The BCa interval of the mean difference; NaN where bootstrap was not asked for."""
        if "bootstrap" not in self.options.tests or not self.tested or self.n < 2:
            return math.nan, math.nan
        seed, alpha = self.options.seed, self.options.alpha
        return bca(self.differences, self.weights, seed=seed, alpha=alpha)

    @property
    def significant(self) -> bool:
        """Whether chance alone seldom makes such a difference, after the correction."""
        return self.p_adjusted < self.options.alpha

    @property
    def better(self) -> bool:
        """Whether the run is better in the mean."""
        return self.difference * (self.sense or 1) > 0

    @property
    def missed(self) -> bool:
        """Whether a larger difference, or more queries, would have been significant."""
        return not self.significant and self._t.sd > 0

    @cached_property
    def detectable(self) -> float:
        """The difference that so many queries, varying so much, show in 4 of 5 cases.

        One beyond `widest` says that they show no difference there can be.
        """
        if not self.missed:
            return math.nan
        return detectable(self._t.n, self.level, POWER) * self._spread

    @cached_property
    def needed(self) -> float:
        """The queries that show, in 4 of 5 cases, the least difference that matters."""
        least = self.options.margin or self.rope
        if not self.missed or not least:
            return math.nan
        return needed(least / self._spread, self.level, POWER)

    @property
    def _spread(self) -> float:
        """The deviation that so many queries of equal weight would have to be as unsure."""
        return self._t.se * math.sqrt(self._t.n)

    @property
    def urisk(self) -> float:
        """URisk: the mean difference with losses counted twice."""
        return urisk(self._favour, weights=self.weights) if self.n else math.nan

    @property
    def trisk(self) -> float:
        """TRisk: URisk in standard errors."""
        return trisk(self._favour, weights=self.weights) if self.n > 1 else math.nan

    @cached_property
    def doubts(self) -> tuple[Doubt, ...]:
        """What is doubtful about it."""
        from idealist.comparing.comparison_doubts import doubts_of  # which looks at pairs

        return doubts_of(self)

    @cached_property
    def verdict(self) -> str:
        """What it comes to, in one sentence."""
        from idealist.comparing.verdict_words import verdict  # which looks at pairs

        return verdict(self)

    def data(self, per_query: bool = False, sort: str = "query") -> dict[str, Any]:
        """Return the pair as plain data; undefined values are None."""
        from idealist.comparing.pair_data import data_of  # which looks at pairs

        return data_of(self, per_query, sort)

    def by_query(self, sort: str = "query") -> dict[str, dict[str, float]]:
        """Return both values of each query, and the difference.

        They come in their order or, sorted by ``difference`` or by the run's ``value``, the worst
        first.
        """
        places = np.arange(self.n, dtype=np.float64)
        value = self.new * (self.sense or 1)
        keys = {"query": places, "difference": self._favour, "value": value}
        if sort not in keys:
            raise UsageError(f"queries cannot be sorted by {sort!r}", nearest(sort, keys))
        order = np.argsort(keys[sort], kind="stable")
        columns = (column[order].tolist() for column in (self.base, self.new, self.differences))
        queries = [self.queries[i] for i in order]
        return {
            query: {"baseline": base, "run": new, "difference": apart}
            for query, base, new, apart in zip(queries, *columns, strict=True)
        }

    def __repr__(self) -> str:
        return f"<Pair {self.verdict}>"
