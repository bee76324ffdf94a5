"""What every check of an audit receives: judgments and runs, measured once, and how to price."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any

import numpy as np

from idealist.auditing.chances import DEPTHS
from idealist.auditing.coverage import Coverage, cover
from idealist.auditing.judge_agreement import JudgeAgreement
from idealist.auditing.remembered import bytes_held, remembering
from idealist.data import Qrels, Queries, Rows, Run
from idealist.data.columns import Bools
from idealist.errors import Contradictions, IdealistError, InputError, NoDocuments
from idealist.evaluating import doubt_case
from idealist.evaluating.doubt_case import DoubtCase, RunPrice, differing
from idealist.evaluating.doubts import find_doubts
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import borrowed_run, one_or_several
from idealist.formats.run_sources import FileRun
from idealist.protocol import Protocol
from idealist.ranking.ranked import NOBODY, Ranked
from idealist.rendering.doubt import Doubt, Price

#: Rows of a run up to which it is read again to price what is wrong with some. Suggested.
PRICED_ROWS = 1_000_000
#: Bytes of small files, all together, that are kept in memory, to be read once. Suggested.
HELD_BYTES = 2**26

#: What lets a run with faults be evaluated nevertheless, so that the rest of it can be audited.
LENIENT = {"duplicates": "first", "nonfinite": "last"}


@dataclass(frozen=True)
class AuditCase:
    """All that is audited.

    `runs` are measured, `doubts` is what their evaluation doubts, `faults` what had to be let pass,
    and `refused` are the runs that cannot be read, each with the reason. `texts` are those of the
    queries, `docs` those of the documents and `teams` the team of each run, where they are given.
    `settings` are the measures, the convention and the axes asked for. `contradictions` were left
    out of the judgments; `mismatched` are runs whose ids do not match, or whose order is wrong:
    nobody can tell what of their first documents is judged.
    """

    evaluator: Evaluator
    runs: Mapping[str, DoubtCase] = field(default_factory=dict)
    doubts: Mapping[str, Sequence[Doubt]] = field(default_factory=dict)
    faults: Mapping[str, InputError] = field(default_factory=dict)
    refused: Mapping[str, InputError] = field(default_factory=dict)
    texts: Queries | None = None
    docs: Mapping[str, str] | None = None
    teams: Mapping[str, str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    contradictions: Contradictions | None = None
    mismatched: frozenset[str] = frozenset()

    @property
    def qrels(self) -> Qrels:
        """The judgments."""
        return self.evaluator.qrels

    @cached_property
    def coverage(self) -> Coverage:
        """What is judged of the runs."""
        return cover(self.qrels, self.evaluator.instruments, self.runs, self.teams or {})

    @cached_property
    def judges(self) -> JudgeAgreement | None:
        """How far several judges agree."""
        return JudgeAgreement.of(self.qrels)

    def files(self, runs: Sequence[str] | None = None) -> list[str]:
        """Name the files of the judgments and of runs, or nothing where some are in no file."""
        names = self.runs if runs is None else runs
        files = [self.qrels.name, *(self.runs[name].run.source.name for name in names)]
        return files if doubt_case.is_filed(*files) else []

    def leniency(self, runs: Iterable[str]) -> dict[str, str]:
        """Return the axes without which some of these runs cannot be evaluated."""
        return LENIENT if any(run in self.faults for run in runs) else {}

    def tried(self, run: Run, qrels: Qrels, **axes: Any) -> DoubtCase:
        """Measure another run, with other judgments or under other axes."""
        return measured(Ranked(qrels, run), {**self.settings, **axes})[0]

    def for_each_run(self, priced: Callable[[DoubtCase], RunPrice]) -> RunPrice:
        """Price something for every run."""
        return {name: own for one in self.runs.values() for name, own in priced(one).items()}

    def rejudged(self, one: DoubtCase, qrels: Qrels) -> RunPrice:
        """Price other judgments."""
        return self._compared(one, one.run, qrels)

    def without_rows(self, one: DoubtCase, stays: Callable[[Rows], Bools]) -> RunPrice:
        """Price rows of a run."""

        def kept(rows: Rows) -> Rows:
            index = np.flatnonzero(stays(rows))
            return rows.at(index, rows.queries, np.searchsorted(index, rows.starts))

        return self.rewritten(one, kept)

    def rewritten(self, one: DoubtCase, rewrite: Callable[[Rows], Rows]) -> RunPrice:
        """Price other rows; a run with too many to read them again has no price."""
        if one.whole.retrieved.sum() > PRICED_ROWS:
            return {}
        return self._compared(one, Run(rewrite(one.run.rows()), one.run.name), self.qrels)

    def lowers(self, price: Price) -> bool:
        """Whether values would be worse, by the first measure that a price has of each run."""
        first = [next(iter(own.items())) for own in price.values()]
        instruments = self.evaluator.instruments
        return any(
            instruments[label].measure.direction * (then - now) < 0
            for label, (now, *_, then) in first
        )

    def _compared(self, one: DoubtCase, run: Run, qrels: Qrels) -> RunPrice:
        moved = {}
        with suppress(IdealistError):  # what cannot be measured has no price
            moved = differing(one.aggregates, self.tried(run, qrels).aggregates)
        return {one.run.name: moved} if moved else {}


Check = Callable[[AuditCase], Iterator[Doubt]]


def of_each_run(check: Callable[[AuditCase, DoubtCase], Iterator[Doubt]]) -> Check:
    """Make a check of one run a check of all."""

    @wraps(check)
    def checked(case: AuditCase) -> Iterator[Doubt]:
        for name, one in case.runs.items():
            with suppress(NoDocuments):  # `places_only` says so
                yield from (replace(doubt, run=name) for doubt in check(case, one))

    return checked


def examine(evaluator: Evaluator, given: Any, settings: Mapping[str, Any]) -> AuditCase:
    """Measure all runs, and keep what is wrong with those that cannot be read."""
    runs: dict[str, DoubtCase] = {}
    doubts: dict[str, Sequence[Doubt]] = {}
    faults: dict[str, InputError] = {}
    refused: dict[str, InputError] = {}
    left = HELD_BYTES
    for name, run in named_runs(given).items():
        try:
            ranked = ranked_once(evaluator, run, left)
            left -= bytes_held(ranked.run)
            found, fault = measured(ranked, settings, evaluator)
            runs[name], doubts[name] = found, find_doubts(found)
            faults |= {name: fault} if fault else {}
        except InputError as error:
            refused[name] = error
    return AuditCase(evaluator, runs, doubts, faults, refused, settings=settings)


def measured(
    ranked: Ranked, settings: Mapping[str, Any], evaluator: Evaluator | None = None
) -> tuple[DoubtCase, InputError | None]:
    """Measure a run; faults that can be let pass are, and said."""
    try:
        return (evaluator or Evaluator(ranked.qrels, **settings)).case(ranked), None
    except InputError as fault:
        return Evaluator(ranked.qrels, **{**settings, **LENIENT}).case(ranked), fault


def ranked_once(
    evaluator: Evaluator,
    run: Any,
    most: int = HELD_BYTES,
    naming: Mapping[Protocol, int] = NOBODY,
) -> Ranked:
    """Rank a run under all protocols that checks look at most runs under, unless it has been.

    A file of up to `most` bytes is read once for all, a larger one once for that. What is not
    judged of the first documents is named at once: pairs to judge are looked for there.
    """
    if isinstance(run, Ranked):
        return run
    whole = next(iter(evaluator.instruments.values())).protocol.whole()
    named = {whole: DEPTHS[0], **naming}
    ranked = Ranked(evaluator.qrels, remembering(borrowed_run(run), most), named)
    with suppress(IdealistError):  # then each is tried for itself
        ranked.under(_foreseen(evaluator, ranked))
    return ranked


def _foreseen(evaluator: Evaluator, ranked: Ranked) -> list[Protocol]:
    own = [one.protocol for one in evaluator.instruments.values()]
    whole = own[0].whole()
    file = ranked.held.source
    ranks = isinstance(file, FileRun) and file.has_ranks and whole.order == "score"
    by_rank = [replace(whole, order="rank")] if ranks else []
    return [*own, whole, replace(whole, exclude_self=True), *by_rank]


def named_runs(runs: Any) -> dict[str, Run | Ranked]:
    """Name the runs: one run, several, or a mapping from names; or such as are ranked already."""
    ranked = [runs] if isinstance(runs, Ranked) else runs
    if isinstance(ranked, list) and ranked and all(isinstance(one, Ranked) for one in ranked):
        return {one.run.name: one for one in ranked}
    return {run.name: run for run in one_or_several(runs)}
