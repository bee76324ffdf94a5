"""Fronts: all plans of label changes that no other one beats, where slopes leave a gap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from idealist.comparing.problem import Plan, Problem
from idealist.statistics.paired import ROUNDING
from idealist.tables.columns import Bools, Floats, Ints

#: No more plans than this are kept, and no more steps taken; a gap then stays.
PLANS, STEPS = 50_000, 50_000

Picks = tuple[tuple[int, int, int], ...]


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
    """Give the differences by query and number of changes: all, or the ends of all."""
    if every:
        return [list(own[: limit + 1]) for own in problem.attained]
    ends = np.stack(problem.reach, axis=-1)[:, : limit + 1]
    there = ends[..., 0] <= ends[..., 1]
    return [
        [pair if known else pair[:0] for pair, known in zip(own, mask, strict=True)]
        for own, mask in zip(ends, there, strict=True)
    ]


def _fewest(options: list[list[Floats]], problem: Problem, sign: float, limit: int) -> Picks | None:
    """Give a plan of the fewest changes, an empty one where none reaches the goal.

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
            return _traced(steps, k, int(reached[0]))
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


def _traced(steps: list[dict[int, Front]], k: int, at: int) -> Picks:
    """Follow a plan back, query by query."""
    picks = []
    for i in range(len(steps) - 1, 0, -1):
        front = steps[i][k]
        j = int(front.j[at])
        if j:
            picks.append((i - 1, j, int(front.pick[at])))
        k, at = k - j, int(front.parent[at])
    return tuple(reversed(picks))
