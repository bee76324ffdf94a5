"""The fewest changes: how many changed labels reverse the sign of a mean, or its significance.

A query's label changes move its difference x alone, so a plan says how many labels of each query
are changed, and to which of the differences that so many can make. With y = x for every query,
S = Σ y and T = Σ y², Student's t is above its critical value c exactly where S > κ √T, with
κ² = c² n / (n - 1 + c²). For a slope μ, the plan of k changes that is best for S - μ T is found
query by query; plans that are best for some slope are tried, and slopes that part all plans of k
changes from the goal prove that k are too few. What is left between the two is decided by keeping
all plans that no other one beats in both sums.
"""

from __future__ import annotations

import math

import numpy as np

from idealist.comparing.fronts import closed
from idealist.comparing.outer import HUGE
from idealist.comparing.problem import Plan, Problem
from idealist.statistics.paired import ROUNDING
from idealist.tables.columns import Floats, Ints

#: The number of slopes, and how far the square root of T may be from what it is now.
SLOPES, FURTHEST = 121, 30.0


def fewest_for_sign(problem: Problem) -> Plan:
    """Find the fewest changes that bring the mean below 0."""
    flat = np.zeros(1)  # one slope, 0: the sum alone counts
    bound, _ = cheapest(_bounded(problem, flat, 1.0), problem.most)
    below = np.flatnonzero(bound[:, 0] < -ROUNDING * problem.n)
    at_least = int(below[0]) if len(below) else problem.most + 1
    costs, index = _attained(problem, flat, 1.0)
    found, chosen = cheapest(costs, problem.most)
    for k in range(at_least, problem.most + 1):
        if found[k, 0] < -ROUNDING * problem.n:
            return Plan(_traced(chosen, index, k, 0), at_least)
    return Plan(None, at_least)


def fewest_for_significance(problem: Problem) -> Plan:
    """Find the fewest changes that make a significant mean not so, or another one significant."""
    lost = problem.significant(problem.start)
    sign = 1.0 if lost else -1.0
    slopes = _slopes(problem)
    at_least = _proven(problem, slopes, sign)
    costs, index = _attained(problem, slopes, sign)
    _, chosen = cheapest(costs, problem.most)
    plan = Plan(None, at_least)
    for k in range(at_least, problem.most + 1):
        plans = {_traced(chosen, index, k, line) for line in range(len(slopes))}
        reached = [p for p in plans if p and problem.significant(problem.picked(p)) != lost]
        if reached:
            plan = Plan(min(reached), at_least)
            break
    return plan if plan.changes == at_least or not problem.equal else closed(problem, plan, sign)


def _slopes(problem: Problem) -> Floats:
    """Choose slopes: 0, and those at which κ √T rises for T around what it is."""
    now = math.sqrt(float((problem.share * problem.start) @ (problem.share * problem.start)))
    roots = now * np.geomspace(1 / FURTHEST, FURTHEST, SLOPES)
    return np.append(0.0, problem.kappa / (2 * roots[::-1]))


def _proven(problem: Problem, slopes: Floats, sign: float) -> int:
    """Give a number of changes below which there is no plan."""
    if not problem.equal:
        return 1
    bound, _ = cheapest(_bounded(problem, slopes, sign), problem.most)
    parted = _apart if sign > 0 else _under
    for k, line in enumerate(bound):
        if not parted(line, slopes, problem.kappa):
            return max(k, 1)
    return problem.most + 1


def _apart(least: Floats, slopes: Floats, kappa: float) -> bool:
    """Whether some slope parts S - μ T ≥ least from S ≤ κ √T: there S - μ T is at most κ²/4μ."""
    return bool((least[1:] > kappa**2 / (4 * slopes[1:]) + ROUNDING).any())


def _under(least: Floats, slopes: Floats, kappa: float) -> bool:
    """Whether all S - μ T ≤ -least together keep S at κ √T or below.

    The lines have their corners where neighbours meet; between these κ √T bends the other way.
    """
    finite = np.isfinite(least)
    most, steep = -least[finite], slopes[finite]
    if not len(most):
        return True
    lowest = max(0.0, float((-most[1:] / steep[1:]).max(initial=0.0)))
    corners = -np.diff(most) / np.diff(steep)
    at = np.append(corners[corners > lowest], (max(most[0], 0.0) / kappa) ** 2)
    at = at[at > lowest]
    tops = (most + at[:, None] * steep).min(axis=1, initial=np.inf)
    return bool((tops <= kappa * np.sqrt(at) + ROUNDING).all())


def cheapest(costs: Floats, most: int) -> tuple[Floats, Ints]:
    """Give the least cost of 0, 1, … changes in all, and how many each query has in it.

    `costs` are by query, number of changes and slope; so is the second answer, with the number of
    changes up to that query.
    """
    n, width, lines = costs.shape
    best = np.full((most + 1, lines), np.inf)
    best[0] = 0.0
    chosen = np.zeros((n, most + 1, lines), dtype=np.int64)
    for i, cost in enumerate(costs):
        tried = np.full((min(width, most + 1), most + 1, lines), np.inf)
        for j in range(len(tried)):
            tried[j, j:] = best[: most + 1 - j] + cost[j]
        chosen[i], best = tried.argmin(axis=0), tried.min(axis=0)
    return best, chosen


def _traced(chosen: Ints, index: Ints, k: int, line: int) -> tuple[tuple[int, int, int], ...]:
    """Follow a plan of k changes back, query by query."""
    picks = []
    for i in range(len(chosen) - 1, -1, -1):
        j = int(chosen[i, k, line])
        if j:
            picks.append((i, j, int(index[i, j, line])))
        k -= j
    return tuple(reversed(picks)) if k == 0 else ()


def _attained(problem: Problem, slopes: Floats, sign: float) -> tuple[Floats, Ints]:
    """Give the least of ±(y - μ y²) by query, number of changes and slope, and where it is."""
    width = max(map(len, problem.attained))
    costs = np.full((problem.n, width, len(slopes)), np.inf)
    index = np.zeros(costs.shape, dtype=np.int64)
    for i, (own, weight) in enumerate(zip(problem.attained, problem.share, strict=True)):
        for j, values in enumerate(own):
            if len(values):
                cost = _cost(weight * values[:, None], slopes, sign)
                index[i, j], costs[i, j] = cost.argmin(axis=0), cost.min(axis=0)
    return costs, index


def _bounded(problem: Problem, slopes: Floats, sign: float) -> Floats:
    """Give what ±(y - μ y²) cannot be below, by query, number of changes and slope."""
    there = (problem.reach.low <= problem.reach.high)[..., None]
    share = problem.share[:, None, None]
    low, high = (share * np.where(there, end[..., None], 0.0) for end in problem.reach)
    costs = np.minimum(_cost(low, slopes, sign), _cost(high, slopes, sign))
    if sign < 0:  # between the ends, the greatest of y - μ y² is at 1/2μ
        top = np.full(len(slopes), HUGE)
        np.divide(0.5, slopes, out=top, where=slopes > 0)
        costs = np.minimum(costs, _cost(np.clip(top, low, high), slopes, sign))
    costs = np.where(there, costs, np.inf)
    tried, _ = _attained(problem, slopes, sign)
    width = min(tried.shape[1], costs.shape[1])
    known = problem.complete[:, :width, None]
    costs[:, :width] = np.where(known, tried[:, :width], costs[:, :width])
    return costs


def _cost(y: Floats, slopes: Floats, sign: float) -> Floats:
    cost: Floats = sign * (y - slopes * y * y)
    return cost
