"""Trials: what each setting gave, query by query, each measured once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Protocol

import numpy as np

from idealist import kernel
from idealist.data import Run
from idealist.data.columns import Bools, Floats
from idealist.errors import UsageError
from idealist.evaluating.evaluator import Evaluator
from idealist.fusing.tuning.folds import Folds
from idealist.fusing.tuning.spaces import Setting, setting_text
from idealist.measures.instrument import Measured
from idealist.ranking.document_lists import DocumentLists
from idealist.rendering.doubt import Doubt

#: Folds that a setting learnt nothing from.
Without = frozenset[int]
#: All queries are learnt from.
NOTHING: Without = frozenset()
#: Told how many settings have been measured, of how many.
Tick = Callable[[int, int], None]


class Source(Protocol):
    """What settings are measured with."""

    #: What settings are, in the plural.
    noun: str
    #: Whether several may be measured at once.
    parallel: bool
    evaluator: Evaluator

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs that are fused."""

    def learns(self, setting: Setting) -> bool:
        """Whether a setting learns from judgments."""

    def measured(self, setting: Setting, some: Bools | None) -> Measured:
        """Measure a setting that learns from `some` of the judged queries, or from all."""

    def run(self, setting: Setting, some: Bools | None = None) -> Run:
        """Make the run of the judged queries; a setting that learns, does from some."""

    def listed(self, setting: Setting, queries: Sequence[str], some: Bools | None) -> DocumentLists:
        """Return the lists of some queries as they are measured, the best documents first."""

    def shown(self, setting: Setting) -> Run:
        """Return the run of the judged queries as others measure it."""

    def final(self, setting: Setting) -> Run:
        """Make the run of all queries."""

    def command(self, setting: Setting) -> str:
        """Write the command that makes it; empty where there is none."""

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What is doubtful about the settings, beside what is of the best."""

    def keep(self, settings: Iterable[Setting]) -> None:
        """Let go of the runs of all other settings."""


class Trials:
    """The values of settings on the queries that count, which belong to folds.

    A setting that learns is taught without the queries that it is measured on, so that what it
    learnt is not measured with the answers known.
    """

    def __init__(
        self, source: Source, queries: Sequence[str], counted: Bools, folds: Folds, sense: int = 1
    ) -> None:
        self.source, self.queries, self.folds, self.sense = source, tuple(queries), folds, sense
        self.size, self.places = len(counted), np.flatnonzero(counted)
        self._known: dict[tuple[Setting, Without], Floats] = {}
        self._asked: dict[Setting, None] = {}

    @property
    def tried(self) -> list[Setting]:
        """Every setting that was measured, in the order in which they were asked for."""
        return list(self._asked)

    def values(self, setting: Setting, without: Without = NOTHING) -> Floats:
        """Return the values of a setting that learnt nothing from the queries of some folds."""
        self._asked.setdefault(setting)
        key = setting, without if self.source.learns(setting) else NOTHING
        if key not in self._known:
            self._known[key] = self._measured(*key)
        return self._known[key]

    def held_out(self, setting: Setting, outer: int | None = None) -> Floats:
        """Return values that learnt nothing from the query's own fold, nor from the `outer` one."""
        if not self.source.learns(setting):
            return self.values(setting)
        found, fold = np.empty(len(self.queries)), self.folds.fold
        for own in range(self.folds.count):
            hidden = frozenset({own} if outer is None else {own, outer})
            found[fold == own] = self.values(setting, hidden)[fold == own]
        return found

    def prepare(self, settings: Iterable[Setting], tick: Tick | None = None) -> None:
        """Measure settings that are new, several at once where that can be done."""
        new = [one for one in dict.fromkeys(settings) if one not in self._asked]
        self._asked |= dict.fromkeys(new)
        wanted = [(one, without) for one in new for without in self._withouts(one)]
        with ThreadPoolExecutor(kernel.threads() if self.source.parallel else 1) as team:
            for done, _ in enumerate(team.map(lambda pair: self.values(*pair), wanted), 1):
                if tick is not None:
                    tick(done, len(wanted))

    def _withouts(self, setting: Setting) -> list[Without]:
        if not self.source.learns(setting):
            return [NOTHING]
        folds = range(self.folds.count)
        return [frozenset(some) for size in (0, 1, 2) for some in combinations(folds, size)]

    def learning(self, without: Without) -> Bools | None:
        """Mark the judged queries that may be learnt from; None if all may."""
        if not without:
            return None
        found = np.zeros(self.size, dtype=bool)
        found[self.places[~np.isin(self.folds.fold, list(without))]] = True
        return found

    def _measured(self, setting: Setting, without: Without) -> Floats:
        found = self.source.measured(setting, self.learning(without))
        values, counted = found.values[self.places], found.counted[self.places]
        gaps = np.flatnonzero(np.isnan(values) | ~counted)
        if len(gaps) or np.count_nonzero(found.counted) > len(values):
            hint = "choose a convention that counts all, such as trec_eval, or set no_relevant=0"
            lacks = f"{setting_text(setting)} has no value for {self.queries[gaps[0]]}"
            more = f"{setting_text(setting)} has values for more queries"
            told = f"{lacks}, which the default has" if len(gaps) else f"{more} than the default"
            raise UsageError(f"settings must be measured on the same queries: {told}", hint)
        return values
