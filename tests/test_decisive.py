"""What decides a verdict: never wrong where it says so, and useful where it does not."""

from __future__ import annotations

import random

import numpy as np

from decided_cases import LEVEL, DecidedCase, some_decided_case
from idealist.evaluating.evaluator import Evaluator
from idealist.judging.decisive_plan import Contest, contests_of
from idealist.significance.paired import paired


def contest_of(case: DecidedCase, tested: bool) -> Contest:
    evaluator = Evaluator(case.qrels, case.measure)
    runs = [evaluator.ranked(one) for one in case.runs]
    (found,) = contests_of(evaluator, case.measure, runs, tested, 0.05)
    return found


def check_decided(case: DecidedCase) -> bool:
    """Check a verdict against every outcome, if it is decided; say whether it was."""
    found = contest_of(case, tested=False)
    if found.sign is None and found.significant is None:
        return False
    elsewhere = 1 if found.effect.reach == "collection" and len(case.judged) < 3 else 0
    means, differences = case.differences(elsewhere)
    if found.sign is not None:
        signs = np.where(np.abs(means) < LEVEL, 0, np.sign(means))
        assert (signs[~np.isnan(means)] == found.sign).all(), case
    if found.significant is not None and len(case.judged) > 1:
        p = np.array([paired(one).p for one in differences[:200]])
        assert ((p < 0.05) == found.significant)[~np.isnan(p)].all(), case
    return found.sign is not None


def test_decided_is_never_wrong() -> None:
    """live/test_decided.py tries 10,000."""
    rng = random.Random(1)
    decided = sum(check_decided(some_decided_case(rng)) for _ in range(60))
    assert decided > 15
