"""Random label noise: how often a finding holds if a second judge had given the labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.comparing.fragility.confusion import Confusion
from idealist.comparing.fragility.relabelling import BLOCK, Relabelling
from idealist.data.columns import Floats
from idealist.rendering.plain_data import record
from idealist.rendering.wording import signed
from idealist.significance.paired import ROUNDING, paired

#: How often labels are redrawn; less often where so many judgments would be measured.
REDRAWS, MOST = 500, 50_000_000


@dataclass(frozen=True)
class LabelNoise:
    """How often a difference keeps its sign, and is significant with it, if labels are redrawn.

    `sign` and `significant` are shares of the `redraws`, `difference` is the mean over them, and
    `agreement` says how labels were redrawn. Significance is that of the paired t-test.
    """

    agreement: str
    redraws: int
    sign: float
    significant: float
    difference: float

    def said(self, finding: str) -> str:
        """Say how often a finding holds."""
        start = f"redrawn at random, {self.agreement}: {finding} in {_share(self.sign)}"
        often = f"significantly by the t-test in {_share(self.significant)}"
        return (
            f"{start} of {self.redraws} redraws, {often}, by {signed(self.difference)} on average"
        )

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return record(dict(vars(self)))


def _share(share: float) -> str:
    """Write a share; what is not all is not 100 %."""
    return f"{min(100 * share, 99.9 if share < 1 else 100):.3g} %"


def label_noise(
    relabelling: Relabelling, mean: float, alpha: float, confusion: Confusion, seed: int = 0
) -> LabelNoise:
    """Redraw all labels many times, and count how often a difference of `mean` holds."""
    size = max(1, len(relabelling.grades))
    redraws = max(1, min(REDRAWS, MOST // size))
    source, found = np.random.Generator(np.random.PCG64(seed)), list[tuple[float, float]]()
    step = max(1, BLOCK // size)
    for start in range(0, redraws, step):
        grades = confusion.redrawn(relabelling.grades, min(step, redraws - start), source)
        found += [_tested(relabelling, row) for row in relabelling.redrawn(grades)]
    means, p = zip(*found, strict=True)
    same = np.sign(mean) * np.array(means) > ROUNDING
    sure = same & (np.array(p) < alpha)
    return LabelNoise(
        confusion.name, redraws, float(same.mean()), float(sure.mean()), float(np.mean(means))
    )


def _tested(relabelling: Relabelling, differences: Floats) -> tuple[float, float]:
    """Return the mean of the differences that count, and the p-value of the t-test."""
    there = relabelling.counted & ~np.isnan(differences)
    if not there.any():
        return 0.0, 1.0
    weights = relabelling.weights[there]
    equal = bool((weights == weights[0]).all())
    found = paired(differences[there], None if equal else weights)
    return found.mean, 1.0 if math.isnan(found.p) else found.p
