"""The problem of the fewest changes: what changes attain, and what is to be reached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from idealist.comparing.fragility.reach import HUGE, Reach
from idealist.data.columns import Bools, Floats, Ints
from idealist.significance.means import quantile
from idealist.significance.paired import ROUNDING

#: Which of the differences that changes attain are taken: query, number of changes, index.
Picks = tuple[tuple[int, int, int], ...]


class Plan(NamedTuple):
    """What to change: `picks`, None where no plan is known; none has fewer than `at_least`."""

    picks: Picks | None
    at_least: int

    @property
    def changes(self) -> int | None:
        """The number of changes."""
        return None if self.picks is None else sum(j for _, j, _ in self.picks)


@dataclass(frozen=True, eq=False)
class Problem:
    """Per query and number of changes the differences attained, and the ends of all there are.

    `complete` says where none but those attained are possible.
    """

    attained: Sequence[Sequence[Floats]]
    complete: Bools
    reach: Reach
    weights: Floats
    alpha: float

    @property
    def n(self) -> int:
        """The number of queries."""
        return len(self.weights)

    @property
    def most(self) -> int:
        """The number of changes looked for."""
        return int(self.reach.low.shape[1]) - 1

    @property
    def equal(self) -> bool:
        """Whether all queries weigh the same."""
        return bool((self.weights == self.weights[0]).all())

    @cached_property
    def known(self) -> Bools:
        """Where all differences are known: none but those attained are possible, or none at all."""
        known: Bools = self.reach.low > self.reach.high
        width = min(known.shape[1], self.complete.shape[1])
        known[:, :width] |= self.complete[:, :width]
        return known

    @cached_property
    def share(self) -> Floats:
        """The weights, 1 on average."""
        share: Floats = self.weights / self.weights.mean()
        return share

    @cached_property
    def start(self) -> Floats:
        """The differences as they are."""
        return np.array([one[0][0] for one in self.attained])

    @cached_property
    def critical(self) -> float:
        """The critical value of t."""
        return quantile(1 - self.alpha / 2, self.n - 1)

    @cached_property
    def kappa(self) -> float:
        """What S is compared with √T by."""
        return self.critical * math.sqrt(self.n / (self.n - 1 + self.critical**2))

    def significant(self, x: Floats) -> bool:
        """Whether the weighted mean is above 0, and t above its critical value.

        Where nothing varies, t is infinite.
        """
        w, total = self.share, float(self.share @ x)
        error = float(x.std(ddof=1)) * math.sqrt(float(w @ w))  # of n times the mean
        return total > self.critical * error + ROUNDING * self.n

    def picked(self, picks: Picks) -> Floats:
        """Return the differences that a plan makes."""
        x = self.start.copy()
        for query, j, index in picks:
            x[query] = self.attained[query][j][index]
        return x


#: No more plans than this are kept, and no more steps taken; a gap then stays.
PLANS, STEPS = 50_000, 50_000


class Front(NamedTuple):
    """Plans of one number of changes: sums of y and of y², turned so that low u, high v is good.

    `j` and `pick` are what each plan takes from the last query, `parent` the plan it extends.
    """

    u: Floats
    v: Floats
    j: Ints
    pick: Ints
    parent: Ints

    def best(self) -> Front:
        """Keep the plans that no other one beats in both sums."""
        order = np.lexsort((-self.v, self.u))
        v = self.v[order]
        ahead = np.append(-np.inf, np.maximum.accumulate(v)[:-1])
        kept = order[v > ahead]
        return Front(self.u[kept], self.v[kept], self.j[kept], self.pick[kept], self.parent[kept])


def closed(problem: Problem, plan: Plan, sign: float) -> Plan:
    """Close the gap between what a plan takes and what is proven, as far as fronts can."""
    limit = problem.most if plan.changes is None else plan.changes - 1
    if problem.n * (limit + 1) ** 2 > STEPS:
        return plan
    every = bool(problem.known[:, : limit + 1].all())
    if sign < 0 and not every:
        return plan  # what lies between the ends matters too
    found = _fewest(_options(problem, every, limit), problem, sign, limit)
    if found is None:
        return plan
    if not found:  # not even what bounds the differences reaches it
        return Plan(plan.picks, limit + 1)
    needed = sum(j for _, j, _ in found)
    return Plan(found, needed) if every else Plan(plan.picks, max(plan.at_least, needed))


def _options(problem: Problem, every: bool, limit: int) -> list[list[Floats]]:
    """Return the differences by query and number of changes: all, or the ends of all."""
    if every:
        return [list(own[: limit + 1]) for own in problem.attained]
    ends = np.stack(problem.reach, axis=-1)[:, : limit + 1]
    there = ends[..., 0] <= ends[..., 1]
    return [
        [pair if known else pair[:0] for pair, known in zip(own, mask, strict=True)]
        for own, mask in zip(ends, there, strict=True)
    ]


def _fewest(options: list[list[Floats]], problem: Problem, sign: float, limit: int) -> Picks | None:
    """Find a plan of the fewest changes, an empty one where none reaches the goal.

    None where there are too many plans to keep.
    """
    zero = np.zeros(1)
    whole = np.zeros(1, dtype=np.int64)
    steps = [{0: Front(zero, zero, whole, whole, whole)}]
    for own in options:
        steps.append(_extended(steps[-1], own, sign, limit))
        if sum(len(front.u) for front in steps[-1].values()) > PLANS:
            return None
    for k, front in sorted(steps[-1].items()):
        reached = np.flatnonzero(_reached(front, problem, sign))
        if k and len(reached):
            return _walked_back(steps, k, int(reached[0]))
    return ()


def _extended(
    fronts: dict[int, Front], own: list[Floats], sign: float, limit: int
) -> dict[int, Front]:
    """Extend every plan by everything that the next query offers."""
    made: dict[int, list[Front]] = {}
    for k, front in fronts.items():
        for j, y in enumerate(own[: limit - k + 1]):
            parent, index = (side.ravel() for side in np.indices((len(front.u), len(y))))
            u, v = front.u[parent] + sign * y[index], front.v[parent] + sign * y[index] ** 2
            made.setdefault(k + j, []).append(Front(u, v, np.full(len(u), j), index, parent))
    joined = {
        k: Front(*map(np.concatenate, zip(*some, strict=True))).best() for k, some in made.items()
    }
    return {k: front for k, front in joined.items() if len(front.u)}


def _reached(front: Front, problem: Problem, sign: float) -> Bools:
    """Whether plans reach the goal: S at most κ √T, or above it."""
    s, t = sign * front.u, np.maximum(sign * front.v, 0.0)
    goal = problem.kappa * np.sqrt(t) + ROUNDING * problem.n
    reached: Bools = s <= goal if sign > 0 else s > goal
    return reached


def _walked_back(steps: list[dict[int, Front]], k: int, at: int) -> Picks:
    """Follow a plan back, query by query."""
    picks = []
    for i in range(len(steps) - 1, 0, -1):
        front = steps[i][k]
        j = int(front.j[at])
        if j:
            picks.append((i - 1, j, int(front.pick[at])))
        k, at = k - j, int(front.parent[at])
    return tuple(reversed(picks))


#: The number of slopes, and how far the square root of T may be from what it is now.
SLOPES, FURTHEST = 121, 30.0
#: So many costs, by query, number of changes and slope, are computed at a time.
CELLS = 4_000_000


def fewest_for_sign(problem: Problem) -> Plan:
    """Find the fewest changes that bring the mean below 0."""
    flat = np.zeros(1)  # one slope, 0: the sum alone counts
    bound, _ = cheapest(_bounded(problem, flat, 1.0), problem.most)
    below = np.flatnonzero(bound[:, 0] < -ROUNDING * problem.n)
    at_least = int(below[0]) if len(below) else problem.most + 1
    costs, index = _attained(problem, flat, 1.0)
    found, chosen = cheapest(costs, problem.most)
    reached = np.flatnonzero(found[at_least:, 0] < -ROUNDING * problem.n)
    k = at_least + int(reached[0]) if len(reached) else 0
    return Plan(_traced(chosen, index, k)[0] if k else None, at_least)


def fewest_for_significance(problem: Problem) -> Plan:
    """Find the fewest changes that make a significant mean not so, or another one significant."""
    lost = problem.significant(problem.start)
    sign = 1.0 if lost else -1.0
    slopes = _slopes(problem)
    at_least = _proven(problem, slopes, sign)
    plan, limit = Plan(None, at_least), problem.most
    for some in _parts(problem, slopes):
        costs, index = _attained(problem, some, sign)
        _, chosen = cheapest(costs, problem.most)
        for k in range(at_least, limit + 1):
            plans = {*_traced(chosen, index, k)}
            reached = [p for p in plans if p and problem.significant(problem.picked(p)) != lost]
            if reached:
                own = [plan.picks] if plan.picks is not None and k == limit else []
                plan, limit = Plan(min([*reached, *own]), at_least), k
                break
    return plan if plan.changes == at_least or not problem.equal else closed(problem, plan, sign)


def _slopes(problem: Problem) -> Floats:
    """Choose slopes: 0, and those at which κ √T rises for T around what it is."""
    now = math.sqrt(float((problem.share * problem.start) @ (problem.share * problem.start)))
    roots = now * np.geomspace(1 / FURTHEST, FURTHEST, SLOPES)
    return np.append(0.0, problem.kappa / (2 * roots[::-1]))


def _proven(problem: Problem, slopes: Floats, sign: float) -> int:
    """Find a number of changes below which there is no plan."""
    if not problem.equal:
        return 1
    parts = _parts(problem, slopes)
    costs = (cheapest(_bounded(problem, some, sign), problem.most)[0] for some in parts)
    bound = np.concatenate([*costs], axis=1)
    parted = _apart if sign > 0 else _under
    for k, line in enumerate(bound):
        if not parted(line, slopes, problem.kappa):
            return max(k, 1)
    return problem.most + 1


def _parts(problem: Problem, slopes: Floats) -> list[Floats]:
    """Divide the slopes, so that what is computed for some of them fits into memory."""
    size = max(1, CELLS // (problem.n * (problem.most + 1)))
    return [slopes[first : first + size] for first in range(0, len(slopes), size)]


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


def cheapest(costs: Floats, most: int) -> tuple[Floats, NDArray[np.int16]]:
    """Compute the least cost of 0, 1, … changes in all, and how many each query has in it.

    `costs` are by query, number of changes and slope; so is the second answer, with the number of
    changes up to that query.
    """
    n, width, lines = costs.shape
    best = np.full((most + 1, lines), np.inf)
    best[0] = 0.0
    chosen = np.zeros((n, most + 1, lines), dtype=np.int16)
    for i, cost in enumerate(costs):
        tried = np.full((min(width, most + 1), most + 1, lines), np.inf)
        for j in range(len(tried)):
            tried[j, j:] = best[: most + 1 - j] + cost[j]
        chosen[i], best = tried.argmin(axis=0), tried.min(axis=0)
    return best, chosen


def _traced(chosen: NDArray[np.int16], index: Ints, k: int) -> list[Picks]:
    """Follow the plans of k changes back, query by query: one for each slope."""
    lines = np.arange(chosen.shape[2])
    left, picks = np.full(len(lines), k), [list[tuple[int, int, int]]() for _ in lines]
    for i in range(len(chosen) - 1, -1, -1):
        taken = chosen[i, left, lines]
        for line in np.flatnonzero(taken).tolist():
            j = int(taken[line])
            picks[line].append((i, j, int(index[i, j, line])))
        left -= taken
    return [() if rest else tuple(reversed(own)) for own, rest in zip(picks, left, strict=True)]


def _attained(problem: Problem, slopes: Floats, sign: float) -> tuple[Floats, Ints]:
    """Compute the least of ±(y - μ y²) by query, number of changes and slope, and where it is."""
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
    """Compute what ±(y - μ y²) cannot be below, by query, number of changes and slope."""
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
