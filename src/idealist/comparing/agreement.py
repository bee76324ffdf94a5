"""Agreement of measures on the order of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from idealist.comparing.overlap import rbo
from idealist.comparing.pairing import ValueTable
from idealist.report.plain_data import finite
from idealist.significance.means import mean
from idealist.significance.rank_tests import tau_ap_b, tau_b


@dataclass(frozen=True)
class Agreement:
    """How far two measures order systems alike: 1 means the same, 0 by chance (RBO: nothing).

    `tau_b` is Kendall's, `tau_ap` counts the top of the order most (τ_AP,b: neither is the truth),
    `rbo` is rank-biased overlap with p 0.9. Ties are allowed; where a measure has all systems
    `tied`, there is no order, and all are NaN.
    """

    measures: tuple[str, str]
    tau_b: float
    tau_ap: float
    rbo: float
    tied: tuple[str, ...] = ()

    def __str__(self) -> str:
        a, b = self.measures
        numbers = f"tau-b {self.tau_b:.4f}, tau-AP {self.tau_ap:.4f}, RBO {self.rbo:.4f}"
        return f"orders of the systems by {a} and {b}: {numbers}"

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        data: dict[str, Any] = finite(asdict(self))
        return data


def agreement(tables: Sequence[ValueTable]) -> tuple[Agreement, ...]:
    """Compare the orders that measures give to three systems or more."""
    orders = {table.label: means_of(table) for table in tables}
    known = {label: order for label, order in orders.items() if len(order) > 2}
    return tuple(_agreement(known, a, b) for a, b in combinations(known, 2))


def means_of(table: ValueTable) -> dict[str, float]:
    """Return each system's mean, higher is better; nothing where no query has a value."""
    weights = None if table.weights is None else table.weights.tolist()
    sign = -1 if table.sense < 0 else 1
    if not table.queries:
        return {}
    means = (sign * mean(row, weights) for row in table.values.tolist())
    return dict(zip(table.runs, means, strict=True))


def _agreement(orders: dict[str, dict[str, float]], a: str, b: str) -> Agreement:
    x, y = list(orders[a].values()), list(orders[b].values())
    tied = tuple(label for label, own in ((a, x), (b, y)) if math.isnan(tau_b(own, own)))
    if tied:
        return Agreement((a, b), math.nan, math.nan, math.nan, tied)
    overlap = rbo(orders[a], orders[b], ties="b").ext
    return Agreement((a, b), tau_b(x, y), tau_ap_b(x, y), overlap)
