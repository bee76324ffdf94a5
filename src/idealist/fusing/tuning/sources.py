"""What settings are measured with: runs that are fused, or a function that makes a run."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from idealist.data import Qrels, Run
from idealist.data.columns import Bools
from idealist.errors import Defect, UsageError
from idealist.evaluating.doubt_case import file_word, is_filed
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import read_run
from idealist.fusing.fused_run import FusedRun, best_first, joined, rows_of
from idealist.fusing.fusing import Fusing
from idealist.fusing.fusion import Fusion, Learnt
from idealist.fusing.ranked_runs import Met, RankedRuns, placed_lists
from idealist.fusing.tuning.spaces import Setting, setting_text
from idealist.measures.instrument import Instrument, Measured, measured
from idealist.notation import many
from idealist.protocol import Protocol
from idealist.ranking.document_lists import ALL, DocumentLists
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import rank
from idealist.rendering.doubt import Doubt


@dataclass(frozen=True)
class RunsToFuse:
    """Runs, and how their lists are met: the options of `fuse`."""

    runs: tuple[Run, ...]
    window: int | None
    missing: str
    rules: Mapping[str, Any]

    @property
    def protocol(self) -> Protocol:
        """How the runs are ranked."""
        return Protocol(**self.rules)

    @property
    def names(self) -> list[str]:
        """The names of the runs."""
        return [run.name for run in self.runs]

    def ranked(self, only: Collection[str]) -> RankedRuns:
        """Rank the runs, for some queries."""
        return RankedRuns.of(self.runs, self.window, self.missing, self.protocol, only)

    def singles(self, ranked: RankedRuns) -> tuple[Run, ...]:
        """Return each run as it competes with fusions: within the window, if there is one."""
        if self.window is None:
            return ranked.runs
        found = []
        for run, lists in zip(ranked.runs, ranked.lists, strict=True):
            rows = rows_of(ranked.queries, lists, self.protocol)
            own = replace(rows, name=run.name, remarks=run.source.remarks)
            found.append(Run(own, run.name))
        return tuple(found)

    def only(self, names: Collection[str]) -> RunsToFuse:
        """Keep some of the runs."""
        return replace(self, runs=tuple(run for run in self.runs if run.name in names))

    def command(self, method: Fusion) -> str:
        """Write the command that fuses them; empty where they are not in files, or it learns."""
        paths = [run.source.name for run in self.runs]
        if not is_filed(*paths) or method.learns:
            return ""
        words = ["idealist", "fuse", *map(file_word, paths), "--method", str(method)]
        words += [] if self.window is None else ["--window", str(self.window)]
        words += [] if self.missing == "error" else ["--missing", self.missing]
        words += [word for key, rule in self.rules.items() for word in ("--set", f"{key}={rule}")]
        return shlex.join([*words, "-o", "fused.run"])

    def fused(self, method: Fusion, qrels: Qrels | None = None) -> Run:
        """Fuse all queries."""
        return Fusing.of(
            self.runs, method, qrels=qrels, window=self.window, missing=self.missing, **self.rules
        ).run()


class Measuring:
    """Settings are measured by making a run, ranking it and applying the one instrument."""

    noun = "settings"

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.instrument: Instrument = next(iter(evaluator.instruments.values()))

    def run(self, setting: Setting, some: Bools | None = None) -> Run:
        """Make the run of the judged queries; a setting that learns, does from `some`."""
        raise Defect(f"{type(self).__name__} does not say how runs are made")

    def is_fused(self, setting: Setting) -> bool:
        """Whether a setting is made here of several runs."""
        return False

    def protocol_of(self, setting: Setting) -> Protocol:
        """Return how a run is ranked and measured: fused ones have no ranks but their order."""
        protocol = self.instrument.protocol
        made = self.is_fused(setting) and protocol.order == "rank"
        return replace(protocol, order="given") if made else protocol

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What is doubtful about the settings, beside what is of the best."""
        return ()

    def measured(self, setting: Setting, some: Bools | None) -> Measured:
        """Make the run, rank it and measure."""
        return measured(self.instrument, self.placements(setting, some))

    def placements(self, setting: Setting, some: Bools | None) -> Placements:
        """Make the run and rank it."""
        protocol = self.protocol_of(setting)
        return rank(self.evaluator.qrels, self.run(setting, some), [protocol])[protocol]

    def listed(self, setting: Setting, queries: Sequence[str], some: Bools | None) -> DocumentLists:
        """Return the lists of some queries as they are measured, the best documents first."""
        protocol = self.protocol_of(setting).ordering
        return placed_lists([self.run(setting, some)], queries, protocol, ALL)[0].names

    def shown(self, setting: Setting) -> Run:
        """Return the run as others measure it: with ranks, where they count."""
        if self.protocol_of(setting) == self.instrument.protocol:
            return self.run(setting)
        queries, protocol = self.evaluator.qrels.queries, self.instrument.protocol
        rows = rows_of(queries, self.listed(setting, queries, None), protocol)
        return Run(rows, str(setting))

    def command(self, setting: Setting) -> str:
        """Write the command that makes a run; empty where there is none."""
        return ""


class FusionSource(Measuring):
    """Judged queries of several runs, joined once; a setting is a method or the name of a run."""

    parallel = True

    def __init__(
        self, evaluator: Evaluator, given: RunsToFuse, ranked: RankedRuns | None = None
    ) -> None:
        super().__init__(evaluator)
        self.given, self.protocol = given, given.protocol
        self.ranked = ranked = ranked or given.ranked(evaluator.qrels.queries)
        self.mets = [ranked.met(first, last) for first, last in ranked.blocks()]
        self.lists = _together(self.mets)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return self.ranked.names

    @cached_property
    def singles(self) -> tuple[Run, ...]:
        """The runs alone: with a window, no more of each list than is fused."""
        return self.given.singles(self.ranked)

    @cached_property
    def placed(self) -> list[Placements]:
        """Where the judged documents of each run are."""
        return self.ranked.placed(self.evaluator.qrels, self.protocol)

    @cached_property
    def fused(self) -> Bools:
        """Marks the judged queries that the runs have: what can be learnt from."""
        known = set(self.ranked.queries)
        return np.array([query in known for query in self.evaluator.qrels.queries])

    @property
    def in_order(self) -> bool:
        """Whether fused documents must stand by their scores, as anything else orders them."""
        protocol = self.instrument.protocol
        return protocol.order != "score" or protocol.ties in ("input", "input-reversed")

    def is_fused(self, setting: Setting) -> bool:
        """Whether it is a method, and not the name of a run."""
        return isinstance(setting, Fusion)

    def learns(self, setting: Setting) -> bool:
        """Whether a method learns from judgments."""
        return isinstance(setting, Fusion) and setting.learns

    def run(self, setting: Setting, some: Bools | None = None) -> Run:
        """Fuse the judged queries; `some` of them are learnt from."""
        if not isinstance(setting, Fusion):
            return self.singles[self.ranked.names.index(setting)]
        learnt: Learnt = ()
        if setting.learns:
            taught = self.fused if some is None else self.fused & some
            learnt = setting.learn(self.placed, taught)
        found = [setting.scores(met.candidates, learnt) for met in self.mets]
        if self.in_order:
            lists = joined(
                [best_first(*one, ALL) for one in zip(self.mets, found, strict=True)], ALL
            )
        else:
            lists = replace(self.lists, scores=np.concatenate(found))
        return Run(
            FusedRun(self.ranked.queries, lists, str(setting), self.ranked.remarks), str(setting)
        )

    def command(self, setting: Setting) -> str:
        """Write the command that fuses the runs; empty where they are not in files."""
        return self.given.command(setting) if isinstance(setting, Fusion) else ""

    def final(self, setting: Setting) -> Run:
        """Fuse all queries; where something is learnt, from all judgments."""
        if not isinstance(setting, Fusion):
            return self.run(setting)
        return self.given.fused(setting, self.evaluator.qrels if setting.learns else None)

    def keep(self, settings: Iterable[Setting]) -> None:
        """Fusing again takes no time: no run is held."""


def _together(mets: Sequence[Met]) -> DocumentLists:
    """Put the documents of blocks of queries one after the other, without scores."""
    return joined([met.candidates.names for met in mets], ALL)


class CallSource(Measuring):
    """A function that makes a run of parameters; those that lead are held."""

    parallel = False
    names: tuple[str, ...] = ()

    def __init__(self, evaluator: Evaluator, make_run: Callable[..., Any]) -> None:
        super().__init__(evaluator)
        self.make_run = make_run
        self._held: dict[Setting, Run] = {}
        self._lacking: dict[Setting, int] = {}

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Some settings lack more of the judged queries than others."""
        if len(set(self._lacking.values())) < 2:
            return ()
        most = max(self._lacking, key=self._lacking.__getitem__)
        count = sum(map(bool, self._lacking.values()))
        words = (
            f"{many(count, 'setting lacks', 'settings lack')} judged queries, which count as "
            f"missing: {setting_text(most)} lacks {self._lacking[most]:,}"
        )
        return (Doubt("uneven-queries", words, count, total=len(self._lacking)),)

    def placements(self, setting: Setting, some: Bools | None) -> Placements:
        """Make the run and rank it; refuse one that has no judged query."""
        found = super().placements(setting, some)
        if not found.in_run.any():
            told = f"the run of {setting_text(setting)} has no judged query"
            raise UsageError(told, "let the function search for the queries of the judgments")
        self._lacking[setting] = int((~found.in_run).sum())
        return found

    def learns(self, setting: Setting) -> bool:
        """Whether it learns from judgments: what a function does is its own affair."""
        return False

    def run(self, setting: Setting, some: Bools | None = None) -> Run:
        """Make the run, unless it is held."""
        if setting not in self._held:
            try:
                made = self.make_run(**dict(setting))
            except Exception as error:
                error.add_note(f"while the run of {setting_text(setting)} was made")
                raise
            self._held[setting] = read_run(made, name=setting_text(setting)).held()
        return self._held[setting]

    def final(self, setting: Setting) -> Run:
        """Make the run; it has all its queries."""
        return self.run(setting)

    def keep(self, settings: Iterable[Setting]) -> None:
        """Let go of the runs of all other settings."""
        kept = set(settings)
        self._held = {setting: run for setting, run in self._held.items() if setting in kept}
