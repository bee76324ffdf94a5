"""Fusion by scores: the Comb family of Fox and Shaw, and its weighted relatives."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from idealist.data.columns import Floats
from idealist.fusing.candidates import Candidates
from idealist.fusing.fusion import Fusion, Learnt, weights
from idealist.notation import Value, axis, number

#: The normalisations that tuning tries.
TRIED_NORMS = ("min-max", "z-score", "max", "sum", "rank")


class CombSUM(Fusion):
    """The sum of a document's scores.

    Formula: Σ s, over the runs that found it

    Reference: Fox and Shaw 1994, Combination of Multiple Searches (TREC-2)
    """

    grid: ClassVar = {"norm": TRIED_NORMS}


class CombMIN(Fusion):
    """The lowest of a document's scores, among the runs that found it.

    Reference: Fox and Shaw 1994, Combination of Multiple Searches (TREC-2)
    """

    adds_up: ClassVar[bool] = False
    grid: ClassVar = {"norm": TRIED_NORMS}

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Take the lowest."""
        order, starts = candidates.by_document
        return np.minimum.reduceat(given[order], starts) if len(starts) else given


class CombMAX(Fusion):
    """The highest of a document's scores.

    Reference: Fox and Shaw 1994, Combination of Multiple Searches (TREC-2)
    """

    adds_up: ClassVar[bool] = False
    grid: ClassVar = {"norm": TRIED_NORMS}

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Take the highest."""
        order, starts = candidates.by_document
        return np.maximum.reduceat(given[order], starts) if len(starts) else given


class CombMED(Fusion):
    """The median of a document's scores, among the runs that found it.

    Reference: Fox and Shaw 1994, Combination of Multiple Searches (TREC-2)
    """

    adds_up: ClassVar[bool] = False
    grid: ClassVar = {"norm": TRIED_NORMS}

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Take the middle, or the mean of the two in the middle."""
        ordered = given[np.lexsort((given, candidates.document))]
        starts, count = candidates.by_document[1], candidates.found_by.astype(np.int64)
        found: Floats = (ordered[starts + (count - 1) // 2] + ordered[starts + count // 2]) / 2
        return found


class CombANZ(Fusion):
    """The mean of a document's scores, over the runs that found it.

    Formula: Σ s / c, where c runs found it

    Reference: Fox and Shaw 1994, Combination of Multiple Searches (TREC-2)
    """

    adds_up: ClassVar[bool] = False
    grid: ClassVar = {"norm": TRIED_NORMS}

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Divide by the number of runs."""
        return candidates.total(given) / candidates.found_by


class CombMNZ(Fusion):
    """The sum of a document's scores, times the number of runs that found it.

    Formula: c Σ s

    Reference: Fox and Shaw 1994, Combination of Multiple Searches (TREC-2)
    """

    adds_up: ClassVar[bool] = False
    grid: ClassVar = {"norm": TRIED_NORMS}

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Multiply by the number of runs."""
        return candidates.total(given) * candidates.found_by


class CombGMNZ(Fusion):
    """CombMNZ with the number of runs to a power.

    Formula: c^γ Σ s

    Reference: Lee 1997, doi:10.1145/258525.258587
    """

    adds_up: ClassVar[bool] = False
    grid: ClassVar = {"norm": TRIED_NORMS, "gamma": (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)}

    gamma: float = axis(1, number(0, 100), "how much it counts that several runs found a document")

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Multiply by a power of the number of runs."""
        return candidates.total(given) * candidates.found_by**self.gamma


class WSUM(Fusion):
    """The weighted sum of a document's scores; equal weights make it CombSUM.

    Formula: Σ w s

    Reference: Vogt and Cottrell 1999, doi:10.1023/A:1009980820262
    """

    grid: ClassVar[dict[str, tuple[Value, ...]]] = {"norm": TRIED_NORMS, "weights": ()}

    weights: str = weights()

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Weigh the scores."""
        return self.weight(candidates.runs)[candidates.run] * candidates.score


class WMNZ(Fusion):
    """The sum of a document's scores, times the weights of the runs that found it.

    Formula: Σ s × Σ w

    Reference: Wu and Crestani 2002, doi:10.1145/584792.584908
    """

    adds_up: ClassVar[bool] = False
    grid: ClassVar[dict[str, tuple[Value, ...]]] = {"norm": TRIED_NORMS, "weights": ()}

    weights: str = weights()

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Multiply by the sum of weights."""
        weight = self.weight(candidates.runs)[candidates.run]
        return candidates.total(given) * candidates.total(weight)


class Mixed(Fusion):
    """The weighted sum of a document's scores, times the root of the number of runs.

    Formula: √c Σ w s

    Reference: Wu and Crestani 2002, doi:10.1145/584792.584908
    """

    adds_up: ClassVar[bool] = False
    grid: ClassVar[dict[str, tuple[Value, ...]]] = {"norm": TRIED_NORMS, "weights": ()}

    weights: str = weights()

    def given(self, candidates: Candidates, learnt: Learnt) -> Floats:
        """Weigh the scores."""
        return self.weight(candidates.runs)[candidates.run] * candidates.score

    def combined(self, candidates: Candidates, given: Floats) -> Floats:
        """Multiply by the root of the number of runs."""
        return candidates.total(given) * np.sqrt(candidates.found_by)
