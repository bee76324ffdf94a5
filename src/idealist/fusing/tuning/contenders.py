"""Contenders: what was tuned, and what needs no tuning, each beside the default."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from idealist.comparing.compare_options import Options
from idealist.comparing.pair import Pair
from idealist.data.columns import Floats
from idealist.fusing.tuning.looks import Looks, Wanted
from idealist.fusing.tuning.spaces import Setting, setting_text
from idealist.fusing.tuning.trials import NOTHING
from idealist.rendering.plain_data import record
from idealist.significance.families import max_gain, max_t, t_of
from idealist.significance.means import mean, mean_interval
from idealist.significance.resampling import FLIPS, RESAMPLES

#: The most values that are flipped; of more settings and queries there are fewer flips.
WORK = 500_000_000


@dataclass(frozen=True, eq=False)
class Contender:
    """A way to choose a setting: what it is worth on the queries it saw, and on others.

    `setting` is the choice that saw all queries, `values` are those of queries by choices that did
    not see them, `pair` is the setting against the default, corrected for all that was tried.
    """

    name: str
    setting: Setting
    in_sample: float
    values: Floats
    interval: tuple[float, float]
    pair: Pair | None = None

    @property
    def estimate(self) -> float:
        """What it will be worth on new queries: the mean over queries that it was not chosen on."""
        return mean(self.values.tolist())

    @property
    def optimism(self) -> float:
        """What the value on the queries it was chosen on is too good by."""
        return self.in_sample - self.estimate

    def beats(self, default: Contender, sense: int) -> bool:
        """Whether it is significantly better than the default, and better on queries not seen."""
        if self.pair is None or not self.pair.significant or not self.pair.better:
            return False
        return sense * (self.estimate - default.estimate) > 0

    def data(self, default: Contender) -> dict[str, Any]:
        """Return it as plain data, with what it gains over the default."""
        data: dict[str, Any] = {
            "setting": setting_text(self.setting), "in_sample": self.in_sample,
            "estimate": self.estimate, "ci": self.interval, "optimism": self.optimism,
            "gain": self.estimate - default.estimate,
        }  # fmt: skip
        if self.pair is not None:
            own = self.pair
            data |= {
                "gain_in_sample": own.difference,
                "gain_ci": own.ci,
                "p_adjusted": own.p_adjusted,
            }
        return record(data)


@dataclass(frozen=True, eq=False)
class Family:
    """All that was tried, as one family of differences from the default.

    `limits` are the values that the measure can have.
    """

    looks: Looks
    label: str
    limits: tuple[float, float]
    default: Setting
    options: Options

    def contender(self, name: str, wanted: Wanted) -> Contender:
        """Choose among the settings that are wanted, for all queries and for each fold."""
        found, trials = self.looks.whole.best(wanted), self.looks.trials
        values = self.looks.out_of_fold(wanted)
        in_sample = mean(trials.values(found, NOTHING).tolist())
        interval = self.interval(values)
        return Contender(name, found, in_sample, values, interval, self.pairs.get(found))

    def interval(self, values: Floats) -> tuple[float, float]:
        """Return the interval of a mean; queries of a group count as one."""
        alike = self.looks.trials.folds.independent(values).tolist()
        low, high = mean_interval(alike, None, 1 - self.options.alpha)
        return max(low, self.limits[0]), min(high, self.limits[1])

    @property
    def in_unit(self) -> bool:
        """Whether values are between 0 and 1."""
        return self.limits[0] >= 0 and self.limits[1] <= 1

    @cached_property
    def pairs(self) -> dict[Setting, Pair]:
        """Every setting against the default: p-values and intervals hold for all at once.

        MaxT corrects for all that was tried, as for runs that are compared together. It takes
        differences for symmetric, `max_gain` does not: of gains the larger p-value of both counts.
        Settings that learnt have the values of queries they did not learn from.
        """
        trials, options = self.looks.trials, self.options
        found = {one: self._pair(one) for one in trials.tried if one != self.default}
        if not found:
            return {}
        rows = np.array([pair.differences for pair in found.values()])
        flips, draws = (
            max(most // 10, min(most, WORK // rows.size)) for most in (FLIPS, RESAMPLES)
        )
        flipped = max_t(rows, None, flips, options.seed, options.alpha)
        gained = max_gain(trials.sense * rows, draws, options.seed, options.alpha)
        is_gain = trials.sense * rows.mean(axis=1) > 0
        limits = np.array([t_of(u, rows.shape[1] - 1) for u in flipped.limits])
        limits = np.where(is_gain, np.maximum(limits, gained.limits), limits)
        larger = np.where(is_gain, np.maximum(flipped.p, gained.p), flipped.p)
        return {
            one: replace(pair, p_randomisation=p, p_own=p, p_adjusted=p, beyond=limit)
            for (one, pair), p, limit in zip(
                found.items(), larger.tolist(), limits.tolist(), strict=True
            )
        }

    def _pair(self, setting: Setting) -> Pair:
        """Pair a setting with the default, by queries; or by groups where queries share some."""
        trials = self.looks.trials
        folds, (low, high) = trials.folds, self.limits
        settings = (self.default, setting)
        base, new = (folds.independent(trials.held_out(one)) for one in settings)
        names = trials.queries
        if len(base) < len(names):  # what is made of a group may leave the range of one query
            names, low, high = tuple(f"group {i}" for i in range(len(base))), -np.inf, np.inf
        return Pair(
            measure=self.label, baseline=setting_text(self.default), run=setting_text(setting),
            queries=names, base=base, new=new, sense=trials.sense, in_unit=low >= 0 and high <= 1,
            limits=(low, high), options=replace(self.options, correction="maxt"),
        )  # fmt: skip
