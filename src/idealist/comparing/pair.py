"""The difference of two runs, query by query: what no statistics are needed for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from idealist.comparing.compare_options import POWER, ROPE, Options
from idealist.data.columns import Floats, Ints
from idealist.report.plain_data import finite
from idealist.significance.bootstrap import bca, bootstrap_shift
from idealist.significance.means import mean
from idealist.significance.paired import Paired, differences, paired, relative, trisk, urisk
from idealist.significance.power_analysis import detectable, needed
from idealist.significance.rank_tests import sign_test, wilcoxon

if TYPE_CHECKING:
    from idealist.report.doubt import Doubt


#: How many queries that gained or lost most are named, and how many are left out for a check.
NAMED = 3


@dataclass(frozen=True, eq=False)
class Difference:
    """Two runs' values by one measure, for the same queries: `base` and `new`, weights if any.

    `sense` is 1 where higher is better, -1 where lower is, 0 where neither; `in_unit` whether
    values are on [0, 1]; `aggregate` how they become one; `undefined` the queries left out.
    """

    measure: str
    baseline: str
    run: str
    queries: tuple[str, ...]
    base: Floats = field(repr=False)
    new: Floats = field(repr=False)
    weights: Floats | None = field(repr=False, default=None)
    sense: int = 1
    in_unit: bool = True
    aggregate: str = "mean"
    undefined: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """The number of queries."""
        return len(self.queries)

    @cached_property
    def differences(self) -> Floats:
        """The difference of each query, 0 where there is none but rounding."""
        return differences(self.base, self.new)

    @property
    def base_mean(self) -> float:
        """The mean of the baseline."""
        return self._mean(self.base)

    @property
    def run_mean(self) -> float:
        """The mean of the run."""
        return self._mean(self.new)

    def _mean(self, values: Floats, places: Ints | None = None) -> float:
        some = slice(None) if places is None else places
        weights = None if self.weights is None else self.weights[some].tolist()
        chosen = values[some].tolist()
        return mean(chosen, weights) if chosen else math.nan

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
        return self._most(1)

    @property
    def lost(self) -> tuple[tuple[str, float], ...]:
        """The queries that lost most, with their differences."""
        return self._most(-1)

    def _most(self, sign: int) -> tuple[tuple[str, float], ...]:
        signed = sign * self._favour
        order = np.argsort(-signed, kind="stable")[:NAMED]
        rows = [(self.queries[i], float(self.differences[i])) for i in order if signed[i] > 0]
        return tuple(rows)

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

    @cached_property
    def without_top3(self) -> float:
        """The mean difference without these three; NaN where there are no others."""
        return self._mean(self.differences, self._by_favour[NAMED:])


#: Statistics of nothing: every number is NaN.
NOTHING = Paired(1, math.nan, math.nan, 0.05)


@dataclass(frozen=True, eq=False, repr=False)
class Pair(Difference):
    """What the difference of two runs is by one measure: run - baseline, query by query.

    `p_randomisation` is Fisher's test, `p_adjusted` what is left of it after the correction for
    many pairs, and what decides; it rests on so many random `draws`, 0 where all were tried. A part
    of the queries has its name in `slice`; one of too few is not `tested`, nor are runs that no
    judgment meets, `unmeasured`. `fragility`, `holes` and `multiverse` say how solid it is.
    """

    options: Options = field(default_factory=Options)
    p_randomisation: float = math.nan
    p_adjusted: float = math.nan
    draws: int = 0
    slice: str = ""
    tested: bool = True
    unmeasured: tuple[str, ...] = ()
    fragility: Any = None
    holes: Any = None
    multiverse: Any = None

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
        return relative(self.base, self.new, self.weights, self.options.alpha)

    @property
    def relative(self) -> float:
        """The difference as a share of the baseline."""
        return self._relative[0]

    @property
    def relative_ci(self) -> tuple[float, float]:
        """Fieller's interval of the relative difference; NaN where no difference varies."""
        able = self.tested and not self.statistics.constant
        return self._relative[1:] if able else (math.nan, math.nan)

    @property
    def ci(self) -> tuple[float, float]:
        """The t-interval of the mean difference."""
        return self._t.low, self._t.high

    @property
    def p_t(self) -> float:
        """The p-value of the paired t-test, two-sided."""
        return self._t.p

    @property
    def d_z(self) -> float:
        """The effect size: the mean difference in standard deviations of the differences."""
        return self.statistics.d_z

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
        return self._above if self.sense >= 0 else self._below

    @property
    def p_worse(self) -> float:
        """The probability that the run is worse by more than the rope."""
        return self._below if self.sense >= 0 else self._above

    @property
    def p_equal(self) -> float:
        """The probability that the runs are practically equal; 0 without a rope."""
        rope = self.rope or 0.0
        return self._t.probability(-rope, rope)

    @property
    def _above(self) -> float:
        return self._t.probability(self.rope or 0.0, math.inf)

    @property
    def _below(self) -> float:
        return self._t.probability(-math.inf, -(self.rope or 0.0))

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
    def _level(self) -> float:
        """The alpha that power goes by: one pair's share, where many are corrected together."""
        return self.options.alpha / self.options.share

    @cached_property
    def detectable(self) -> float:
        """The difference that so many queries, varying so much, show in 4 of 5 cases."""
        if self.significant or not self._t.sd > 0:
            return math.nan
        return detectable(self._t.n, self._level, POWER) * self._t.sd

    @cached_property
    def needed(self) -> float:
        """The queries that show, in 4 of 5 cases, the least difference that matters."""
        least = self.options.margin or self.rope
        if self.significant or not self._t.sd > 0 or not least:
            return math.nan
        return needed(least / self._t.sd, self._level, POWER)

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
        from idealist.comparing.words import verdict  # which looks at pairs

        return verdict(self)

    def data(self, per_query: bool = False) -> dict[str, Any]:
        """Give it as plain data; undefined values are None."""
        return pair_data(self, per_query)

    def __repr__(self) -> str:
        return f"<Pair {self.verdict}>"


#: The numbers of a pair, in the order they are written.
NUMBERS = (
    "n", "base_mean", "run_mean", "difference", "relative", "relative_ci", "ci", "p_t",
    "p_randomisation", "p_adjusted", "significant", "d_z", "hedges_g", "wins", "ties", "losses",
    "without_top3", "sign_holds", "p_without_top3", "rope", "p_better", "p_equal", "p_worse",
    "detectable", "needed", "urisk", "trisk",
)  # fmt: skip
#: What is known of how solid a verdict is.
SOLIDITY = ("holes", "fragility", "multiverse")
#: Those that need a margin.
WITH_MARGIN = ("p_equivalence", "p_non_inferiority")


def pair_data(pair: Pair, per_query: bool = False) -> dict[str, Any]:
    """Give a pair as plain data."""
    names = {"measure": pair.measure, "baseline": pair.baseline, "run": pair.run}
    part = {"slice": pair.slice} if pair.slice else {}
    numbers = NUMBERS + (WITH_MARGIN if pair.options.margin else ())
    data = {**part, **names, **{name: getattr(pair, name) for name in numbers}}
    data |= {"tests": dict(pair.tests)} if pair.options.tests else {}
    data |= {"ci_bootstrap": pair.ci_bootstrap} if "bootstrap" in pair.options.tests else {}
    data |= {"gained": dict(pair.gained), "lost": dict(pair.lost)}
    for name in SOLIDITY:
        if (found := getattr(pair, name)) is not None:
            data[name] = found.data()
    data |= {"doubts": [doubt.data() for doubt in pair.doubts], "verdict": pair.verdict}
    data |= {"per_query": queries_data(pair)} if per_query else {}
    return {key: finite(value) for key, value in data.items()}


def queries_data(pair: Pair) -> dict[str, dict[str, float]]:
    """Give both values of each query, and the difference."""
    columns = (pair.base.tolist(), pair.new.tolist(), pair.differences.tolist())
    return {
        query: {"baseline": base, "run": new, "difference": apart}
        for query, base, new, apart in zip(pair.queries, *columns, strict=True)
    }


def flat(data: dict[str, Any]) -> dict[str, str]:
    """Give the numbers of a pair's data as one row of text; an interval takes two cells."""
    row: dict[str, str] = {}
    for key, value in data.items():
        if key.endswith("ci") or key == "ci_bootstrap":
            row |= {f"{key}_low": _text(value[0]), f"{key}_high": _text(value[1])}
        elif key == "tests":
            row |= {f"p_{name}": _text(p) for name, p in value.items()}
        elif key in SOLIDITY:
            row |= _cells(key, value)
        elif not isinstance(value, (dict, list)):
            row[key] = _text(value)
    return row


def _cells(name: str, value: Any) -> dict[str, str]:
    """Give the numbers of nested data a cell each; lists, and reasons in words, have none."""
    if isinstance(value, dict):
        parts = (_cells(f"{name}_{key}", each) for key, each in value.items() if key != "refused")
        return {key: cell for part in parts for key, cell in part.items()}
    return {} if isinstance(value, list) else {name: _text(value)}


def _text(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
