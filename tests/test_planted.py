"""Three hundred planted conventions, each found again from the number it prints."""

from __future__ import annotations

import math

import pytest

import idealist as il
from effort import tries
from idealist.reconciling.classes import Answer
from planting import Plant, planted

PLANTS = 120


def near(ours: float, theirs: float) -> bool:
    return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-12)


class Wanted:
    """What a planted convention gives, rounded and not."""

    def __init__(self, plant: Plant) -> None:
        self.full = plant.values(round="none"), plant.evaluated(round="none")[plant.measure]
        self.rounded = plant.values(), plant.evaluated()[plant.measure]

    def is_of(self, answer: Answer) -> bool:
        """Whether a class holds the convention."""
        full = self._same(self.full, answer.values, answer.value)
        return full or self._same(self.rounded, answer.rounded, answer.printed)

    @staticmethod
    def _same(wanted: tuple[dict[str, float], float], ours: dict[str, float], value: float) -> bool:
        values, number = wanted
        same = near(number, value) and values.keys() == ours.keys()
        return same and all(near(ours[query], values[query]) for query in values)


@pytest.mark.parametrize("start", range(0, tries(30, PLANTS), 30))
def test_a_planted_convention_is_among_the_answers(start: int) -> None:
    for seed in range(start, start + 30):
        plant = planted(seed)
        printed = f"{plant.evaluated()[plant.measure]:.4f}"
        found = il.reconcile(plant.qrels, plant.run, plant.measure, printed)
        wanted = Wanted(plant)
        places = [i for i, one in enumerate(found.answers) if wanted.is_of(one)]
        assert len(places) == 1, (seed, plant.measure, plant.convention, plant.rules, printed)
        answer = found.answers[places[0]]
        if seed % 3 == 0:  # a named one, which only simpler named ones may come before
            assert plant.convention in answer.names, seed
            before = found.answers[: places[0]]
            assert all(one.names and len(one.changes) <= len(answer.changes) for one in before)
