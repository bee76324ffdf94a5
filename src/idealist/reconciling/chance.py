"""Chance: how many rules would print a number that has nothing to do with the run.

The value of another run could have been any number nearby: one a standard deviation of the queries'
values wide, around the number asked for, as runs of one collection lie about that far apart. If
rules reach N different results there, and a number is known to a step, then N x step / width of
them fit such a number by chance. A result is the less of a surprise the more results are at least
as plausible: of tools, those that as many tools share; of mixtures that no tool has, those with as
few changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from idealist.data.columns import Floats, Ints
from idealist.reconciling.target import FINEST, Target

#: How many results as plausible as an answer may fit by chance before it could be chance itself.
#: Most numbers are made by tools, so a mixture of rules needs five times the evidence. Suggested,
#: by the runs of `tests/foreign_values.py`, which shows what follows on others.
OF_TOOLS, OF_MIXTURES = 0.1, 0.02
#: Values of queries are looked for on grids of at most so many steps in one.
GRIDS = 100


@dataclass(frozen=True)
class Chance:
    """What chance would do: rules reach so many `results` at most `within` away from a number.

    `expected` of all of them would fit by chance, `plausible` of those as plausible as the answer.
    An answer under which all queries have the same value is `constant`: other runs have it too.
    """

    within: float
    results: int
    expected: float
    plausible: float
    of_tools: bool
    constant: bool = False

    @property
    def could_be(self) -> bool:
        """Whether the answer could be chance."""
        return self.constant or self.plausible > (OF_TOOLS if self.of_tools else OF_MIXTURES)

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"could_be": self.could_be, **asdict(self)}


class Reached(NamedTuple):
    """Results of rules: before and after rounding, and the changes they need.

    `keys` are those of their vectors, whose changes come on top of the `later` ones.
    """

    full: Floats
    printed: Floats
    keys: Ints
    later: Ints


@dataclass
class Neighbourhood:
    """The numbers around a target, `width` wide and `step` apart, and the results found there."""

    target: Target
    width: float
    step: float
    reached: list[Reached] = field(default_factory=list)

    @classmethod
    def of(cls, target: Target, values: Floats, aggregate: str) -> Neighbourhood:
        """Lay it around a target; `values` are those of queries under the first rules."""
        count = max(len(values), 1)
        parts = count if aggregate == "sum" else 1
        spread = float(np.std(values, ddof=1)) if count > 1 else 0.0
        width = (spread or abs(float(np.mean(values))) if len(values) else 0.0) * parts
        return cls(target, width, max(10.0**-target.digits, _grid(values) * parts / count))

    def add(self, full: Floats, printed: Floats, keys: Ints, later: int) -> None:
        """Keep the results that lie in it."""
        inside = np.flatnonzero(self._has(printed))
        some = full[inside], printed[inside], keys[inside], np.full(len(inside), later)
        self.reached.append(Reached(*some))

    def _has(self, numbers: Any) -> Any:
        return np.abs(numbers - (self.target.value or 0.0)) <= self.width / 2

    def chance(self, costs: Mapping[int, int], tools: Sequence[float], changes: int) -> Chance:
        """Say what chance would do to an answer with so many changes.

        `costs` holds the changes of vectors, `tools` the number that each tool prints.
        """
        needed = self._different(costs)
        share = min(1.0, self.step / self.width) if self.width else 1.0  # all print the same
        near = Counter(self._shown(np.array([one for one in tools if self._has(one)])).tolist())
        own = int(np.count_nonzero(self.target.prints(np.array(tools))))
        common = sum(count >= own for count in near.values())
        simple = int(np.count_nonzero(needed <= changes))
        return Chance(
            within=self.width / 2,
            results=len(needed),
            expected=len(needed) * share,
            plausible=max(common if own else simple, 1) * share,  # the answer itself
            of_tools=own > 0,
        )

    def _shown(self, numbers: Floats) -> Floats:
        """Return the digits known of numbers, as whole numbers."""
        return np.rint(numbers * 10.0**self.target.digits)

    def _different(self, costs: Mapping[int, int]) -> Ints:
        """Return the fewest changes that each of the different results needs."""
        full, printed, keys, later = map(np.concatenate, zip(*self.reached, strict=True))
        needed: Ints = np.array([costs[key] for key in keys.tolist()], dtype=np.int64) + later
        shown, full = self._shown(printed), np.round(full, FINEST)
        order = np.lexsort((needed, shown, full))
        first = np.ones(len(order), dtype=bool)
        first[1:] = (np.diff(full[order]) != 0) | (np.diff(shown[order]) != 0)
        return needed[order][first]


def _grid(values: Floats) -> float:
    """Return the step of which all values are multiples; 0 if there is none that is not tiny.

    >>> _grid(np.array([0.2, 0.8])), _grid(np.array([0.2, 0.55])), _grid(np.array([0.3333, 0.1]))
    (0.2, 0.05, 0.0)
    """
    for steps in range(1, GRIDS + 1):
        if np.allclose(values * steps, np.rint(values * steps), rtol=0, atol=1e-9):
            return 1 / steps
    return 0.0
