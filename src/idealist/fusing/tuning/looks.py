"""The search: settings are chosen on some queries and measured on the others.

Every look may see some queries: the whole sees all of them, the look of a fold those outside it.
Each goes its own way from a coarse grid to finer settings, so that no choice for a fold knows
anything of its queries.

Reference: Stone 1974, doi:10.1111/j.2517-6161.1974.tb00994.x; Varma and Simon 2006,
doi:10.1186/1471-2105-7-91 (nested cross-validation)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from idealist.data.columns import Bools, Floats
from idealist.fusing.tuning.spaces import Setting, Space
from idealist.fusing.tuning.trials import Tick, Trials
from idealist.significance.means import mean

#: A mean that is higher by less is no better: what was tried before stays.
ROUNDING = 1e-12
#: How often the search goes on around the best setting.
ROUNDS = 3

Wanted = Callable[[Setting], bool]


@dataclass(eq=False)
class Look:
    """What a search found that sees the queries outside fold `outer`, or all."""

    trials: Trials
    outer: int | None = None
    means: dict[Setting, float] = field(default_factory=dict)

    @property
    def inside(self) -> Bools:
        """Marks the queries that it may see."""
        return self.trials.folds.inside(self.outer)

    def add(self, settings: Sequence[Setting]) -> None:
        """Try settings that are new to it."""
        for setting in settings:
            if setting not in self.means:
                values = self.trials.held_out(setting, self.outer)[self.inside]
                self.means[setting] = mean(values.tolist())

    def best(self, wanted: Wanted = lambda _: True) -> Setting:
        """Return the setting with the best mean, of those that are wanted; the first of equals."""
        sense, most, found = self.trials.sense, -np.inf, None
        for setting, value in self.means.items():
            if wanted(setting) and sense * value > most + ROUNDING * abs(value):
                most, found = sense * value, setting
        return found


@dataclass(frozen=True, eq=False)
class Looks:
    """The look at all queries, and that of each fold at the others."""

    trials: Trials
    whole: Look
    folds: tuple[Look, ...]

    def out_of_fold(self, wanted: Wanted = lambda _: True) -> Floats:
        """Return the value of each query by the setting that was chosen without its fold."""
        fold, found = self.trials.folds.fold, np.empty(len(self.trials.queries))
        for number, look in enumerate(self.folds):
            values = self.trials.held_out(look.best(wanted), number)
            found[fold == number] = values[fold == number]
        return found


def search(trials: Trials, space: Space, rounds: int = ROUNDS, tick: Tick | None = None) -> Looks:
    """Try the coarse grid, then `rounds` times what is around the best, for each look by itself.

    At last every parameter of the best setting is swept, so that there is a curve of it.
    """
    looks = [Look(trials), *(Look(trials, fold) for fold in range(trials.folds.count))]
    coarse = space.coarse()
    _try(trials, looks, [coarse] * len(looks), tick)
    if rounds and trials.sense > 0:
        _try(trials, looks, [space.guesses(look.means) for look in looks], tick)
    for turn in range(1, rounds + 1):
        _sweep(trials, looks, space, tick)
        finer = [space.finer(look.best(), list(look.means), turn) for look in looks]
        _try(trials, looks, finer, tick)
    if rounds:
        _sweep(trials, looks, space, tick)
    return Looks(trials, looks[0], tuple(looks[1:]))


def _sweep(trials: Trials, looks: Sequence[Look], space: Space, tick: Tick | None) -> None:
    _try(trials, looks, [space.sweep(look.best()) for look in looks], tick)


def _try(
    trials: Trials, looks: Sequence[Look], settings: Sequence[Sequence[Setting]], tick: Tick | None
) -> None:
    """Let each look try its settings; where they are measured one by one, forget worse runs."""
    every = list(dict.fromkeys(one for own in settings for one in own))
    if trials.source.parallel:
        trials.prepare(every, tick)
    sets = [set(own) for own in settings]
    for done, setting in enumerate(every, 1):
        for look, own in zip(looks, sets, strict=True):
            if setting in own:
                look.add([setting])
        if not trials.source.parallel:
            trials.source.keep({look.best() for look in looks if look.means})
            if tick is not None:
                tick(done, len(every))
