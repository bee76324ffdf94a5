"""What every check of an audit receives: judgments, runs and their evaluations, made once."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from idealist.auditing.coverage import Coverage, cover
from idealist.conventions import DEFAULT
from idealist.data import Qrels, Queries, Run
from idealist.data.columns import Bools
from idealist.errors import Contradictions, InputError, UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluator import DEFAULT_MEASURES, Evaluator
from idealist.formats import borrowed_run
from idealist.formats.source import STDIN
from idealist.measures.instrument import chosen
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked

#: What lets a run with faults be evaluated nevertheless, so that the rest of it can be audited.
LENIENT = {"duplicates": "first", "nonfinite": "last"}
#: What an audit is asked beside axes.
ASKED = ("measures", "convention")


@dataclass(frozen=True)
class Audited:
    """A run with its evaluation; `fault` is what was wrong with it, if it had to be let pass."""

    ranked: Ranked
    placed: Mapping[str, Placements]
    evaluation: Evaluation
    fault: InputError | None = None

    @property
    def run(self) -> Run:
        """The run."""
        return self.ranked.held

    @property
    def first(self) -> Placements:
        """The placements of the first measure, for what no protocol changes."""
        return next(iter(self.placed.values()))

    @property
    def whole(self) -> Placements:
        """The placements in whole lists, whatever the measures leave out of them."""
        return self.ranked[self.first.protocol.whole()]


@dataclass(frozen=True)
class Case:
    """All that is audited; `refused` holds the runs that cannot be read at all, with the reason.

    `docs` are the texts of documents and `teams` the team of each run, where they are given;
    `settings` are the measures, the convention and the axes that were asked for. `contradictions`
    are judgments that contradict each other and are not among those audited; `mismatched` are the
    runs whose ids do not match: what seems unjudged there is not.
    """

    evaluator: Evaluator
    audited: Mapping[str, Audited]
    refused: Mapping[str, InputError]
    queries: Queries | None = None
    docs: Mapping[str, str] | None = None
    teams: Mapping[str, str] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    contradictions: Contradictions | None = None
    mismatched: frozenset[str] = frozenset()

    def tried(self, run: Run, qrels: Qrels, **axes: Any) -> Audited:
        """Evaluate with another run, other judgments or other axes, to price a repair."""
        given = {**self.settings, **axes}
        evaluator, lenient = (Evaluator(qrels, **one) for one in (given, {**given, **LENIENT}))
        return examined(evaluator, run, lenient)

    @cached_property
    def qrels(self) -> Qrels:
        """The judgments."""
        return self.evaluator.qrels

    @cached_property
    def coverage(self) -> Coverage:
        """What is judged of the runs."""
        return cover(self.qrels, self.evaluator.instruments, self.audited, self.teams or {})

    def named(self, mask: Bools) -> tuple[str, ...]:
        """Name the judged queries of a mask."""
        return chosen(self.qrels.queries, mask)

    def command(
        self, verb: str, run: str, *flags: str, files: Sequence[str] = (), **axes: str
    ) -> str:
        """Write a command about a run as a shell takes it, with what this audit was asked for.

        `files` are those of the judgments and of the run, where they are not those audited. Data
        that is in no file has a call of Python instead.
        """
        if not files and not self.is_filed(run):
            return self._call(axes) if verb == "eval" else ""
        files = files or (self.qrels.name, self.audited[run].run.source.name)
        named = ("-" if one == STDIN else f"./{one}" if one[:1] == "-" else one for one in files)
        words = ["idealist", verb, *named, *flags]
        if verb == "eval" and tuple(self.evaluator.measures) != DEFAULT_MEASURES:
            words += [word for label in self.evaluator.measures for word in ("-m", label)]
        if self.evaluator.convention.name != DEFAULT:
            words += ["--convention", self.evaluator.convention.name]
        for axis, value in (self._axes | axes).items():
            words += ["--set", f"{axis}={value}"]
        return shlex.join(words)

    def is_filed(self, *runs: str) -> bool:
        """Whether the judgments and some runs came from files, or from standard input."""
        names = [self.qrels.name, *(self.audited[run].run.source.name for run in runs)]
        return all(name == STDIN or Path(name).exists() for name in names)

    @property
    def _axes(self) -> dict[str, str]:
        return {key: str(value) for key, value in self.settings.items() if key not in ASKED}

    def _call(self, axes: dict[str, str]) -> str:
        words = ["qrels", "run"]
        if tuple(self.evaluator.measures) != DEFAULT_MEASURES:
            words.append(repr(list(self.evaluator.measures)))
        if self.evaluator.convention.name != DEFAULT:
            words.append(f"convention={self.evaluator.convention.name!r}")
        words += (f"{axis}={value!r}" for axis, value in (self._axes | axes).items())
        return f"evaluate({', '.join(words)})"


def named_runs(runs: Any) -> dict[str, Run]:
    """Name the runs: one run, several, or a mapping from names."""
    if isinstance(runs, Mapping) and runs and all(map(_is_run, runs.values())):
        return {str(name): borrowed_run(run, name=str(name)) for name, run in runs.items()}
    several = isinstance(runs, (list, tuple)) and all(map(_is_run, runs))  # and not one's records
    found: dict[str, Run] = {}
    for one in runs if several else [runs]:
        run = borrowed_run(one)
        name = run.name if run.name not in found else f"{run.name} ({len(found) + 1})"
        found[name] = run.renamed(name)
    if not found:
        raise UsageError("there is no run to audit", "give at least one run")
    return found


def examine(
    evaluator: Evaluator, runs: Mapping[str, Run], settings: Mapping[str, Any]
) -> tuple[dict[str, Audited], dict[str, InputError]]:
    """Evaluate all runs; give those that can be read, and what is wrong with the others."""
    lenient = Evaluator(evaluator.qrels, **{**settings, **LENIENT})
    audited: dict[str, Audited] = {}
    refused: dict[str, InputError] = {}
    for name, run in runs.items():
        try:
            audited[name] = examined(evaluator, run, lenient)
        except InputError as error:
            refused[name] = error
    return audited, refused


def _is_run(value: Any) -> bool:
    """Whether it is a run and not what one query of a run retrieved."""
    if isinstance(value, (Run, str, Path)):
        return True
    lists = value.values() if isinstance(value, Mapping) else ()
    cells = {"score", "rank", "tokens"}  # {document: {"score": …}} is one query's
    return any(isinstance(one, (Mapping, list)) and not cells & {*one} for one in lists)


def examined(evaluator: Evaluator, run: Run, lenient: Evaluator) -> Audited:
    """Evaluate a run; one with faults that can be let pass is evaluated so."""
    ranked = Ranked(evaluator.qrels, run)
    try:
        return Audited(ranked, evaluator.placed(ranked), evaluator(ranked))
    except InputError as fault:
        placed = lenient.placed(ranked)
        return Audited(ranked, placed, lenient(ranked), fault)
