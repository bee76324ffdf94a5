"""One run while it is looked over: what doubts are found in, and what they are priced with."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from idealist.conventions import DEFAULT, Convention
from idealist.data import Qrels, Run
from idealist.data.columns import Bools
from idealist.errors import IdealistError
from idealist.formats.source import STDIN, parted
from idealist.measures.instrument import Instrument, Measured, chosen, measured
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked

if TYPE_CHECKING:
    from idealist.evaluating.evaluator import Evaluator


def is_filed(*names: str) -> bool:
    """Whether data came from files, or from standard input."""
    return all(name == STDIN or parted(name)[0].exists() for name in names)


def has_files(evaluator: Evaluator, *names: str) -> bool:
    """Whether data came from files, here or on the machine that asked for its evaluation."""
    return is_filed(*(name for name in names if name not in evaluator.elsewhere))


def file_word(name: str) -> str:
    """Write the name of a file so that it is not taken for an option.

    >>> file_word("-run.json"), file_word("<stdin>")
    ('./-run.json', '-')
    """
    return "-" if name == STDIN else f"./{name}" if name.startswith("-") else name


def shell(
    evaluator: Evaluator, verb: str, files: Sequence[str], *flags: str, **axes: Any
) -> str:  # fmt: skip
    """Write a command as a shell takes it, with the queries, measures, and rules asked for."""
    words = ["idealist", verb, *map(file_word, files), *evaluator.qrels.read_with, *flags]
    if (queries := evaluator.queries) is not None and has_files(evaluator, queries.name):
        words += ["--queries", file_word(queries.name)]
    if not (evaluator.usual_to_audit if verb == "audit" else evaluator.usual):
        words += [word for label in evaluator.measures for word in ("-m", label)]
    if evaluator.convention.name != DEFAULT:
        words += ["--convention", evaluator.convention.name]
    for axis, value in _axes(evaluator, axes).items():
        words += ["--set", f"{axis}={value}"]
    return shlex.join(words)


def audit_command(evaluator: Evaluator, *names: str) -> str:
    """Write how to audit judgments and a run: a command, or a call if they are not in files."""
    filed = has_files(evaluator, *names)
    return shell(evaluator, "audit", names) if filed else "idealist.audit(qrels, run)"


def evaluate_again(evaluator: Evaluator, *files: str, **axes: Any) -> str:
    """Write the command, or the call, that evaluates with other axes.

    It is empty where queries have weights, or some are left out, and no file says which.
    """
    chosen = [evaluator.queries.name] if evaluator.queries is not None else []
    named = bool(chosen) and has_files(evaluator, *files, *chosen)
    if evaluator.weights or (evaluator.asked and not named):
        return ""
    if has_files(evaluator, *files):
        return shell(evaluator, "eval", files, **axes)
    words = ["qrels", "run"]
    if not evaluator.usual:
        words.append(repr(list(evaluator.measures)))
    if evaluator.convention.name != DEFAULT:
        words.append(f"convention={evaluator.convention.name!r}")
    words += (f"{axis}={value!r}" for axis, value in _axes(evaluator, axes).items())
    return f"evaluate({', '.join(words)})"


def _axes(evaluator: Evaluator, axes: Mapping[str, Any]) -> dict[str, str]:
    return {axis: str(value) for axis, value in {**evaluator.axes, **axes}.items()}


#: What measures of one run are, and what they would be.
RunPrice = dict[str, dict[str, tuple[float, ...]]]


class Measuring(Protocol):
    """What measures a run: a convention, and measures with all that decides their values."""

    @property
    def convention(self) -> Convention:
        """The rules of a tool."""

    @property
    def instruments(self) -> Mapping[str, Instrument]:
        """The measures by the names they were asked for."""


class MeasuredCase:
    """One run as it was measured, wherever its values come from.

    A price is what measures are and what they would be, for those that judge documents and would
    print differently.
    """

    measuring: Measuring
    name: str
    queries: Sequence[str]
    measured: Mapping[str, Measured]

    @property
    def instruments(self) -> Mapping[str, Instrument]:
        """The measures, with all that decides their values."""
        return self.measuring.instruments

    @property
    def aggregates(self) -> dict[str, float]:
        """The value of each measure."""
        return {label: one.aggregate for label, one in self.measured.items()}

    def labels(self, which: Callable[[Instrument], Any]) -> list[str]:
        """List the measures of which something holds."""
        return [label for label, one in self.instruments.items() if which(one)]

    def named(self, mask: Bools) -> tuple[str, ...]:
        """Name the queries of a mask."""
        return chosen(self.queries, mask)

    def mask(self, names: Iterable[str]) -> Bools:
        """Mark the queries of these names."""
        known = frozenset(names)
        return np.array([query in known for query in self.queries], dtype=bool)

    def command(self, **axes: Any) -> str:
        """Write how to measure the run with other axes; nothing where that cannot be written."""
        return ""

    def price(self, values: Mapping[str, float | tuple[float, ...]]) -> RunPrice:
        """Set what measures would be, or the range of it, beside what they are."""
        judging = {
            label: value
            for label, value in values.items()
            if not np.isnan(value).any() and self.instruments[label].measure.judges
        }
        moved = differing(self.aggregates, judging)
        return {self.name: moved} if moved else {}

    def without(self, gone: Bools, labels: Collection[str] | None = None) -> RunPrice:
        """Price some queries: what measures would be without them."""
        values = {}
        for label in self.measured if labels is None else labels:
            found, aggregate = self.measured[label], self.instruments[label].aggregate
            left = found.counted & ~gone
            values[label] = aggregate.of(found.values[left], self.named(left))
        return self.price(values)

    def gaps(self, label: str) -> Bools:
        """Mark the queries that a measure is undefined for, though they are looked at."""
        return self.measured[label].gaps


@dataclass(frozen=True)
class DoubtCase(MeasuredCase):
    """One run as an evaluator measured it; `placed` is what each measure was computed from."""

    evaluator: Evaluator
    ranked: Ranked
    placed: Mapping[str, Placements]
    measured: Mapping[str, Measured]

    @property
    def measuring(self) -> Evaluator:  # type: ignore[override]  # which has what it needs
        """What measured the run."""
        return self.evaluator

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the run."""
        return self.run.name

    @property
    def queries(self) -> Sequence[str]:  # type: ignore[override]
        """The judged queries."""
        return self.qrels.queries

    @property
    def qrels(self) -> Qrels:
        """The judgments."""
        return self.ranked.qrels

    @property
    def run(self) -> Run:
        """The run."""
        return self.ranked.held

    def gaps(self, label: str) -> Bools:
        """Mark the queries that a measure is undefined for, though they count."""
        return self.measured[label].gaps & self.placed[label].counting

    @property
    def first(self) -> Placements:
        """The placements of the first measure, for what no protocol changes."""
        return next(iter(self.placed.values()))

    @property
    def whole(self) -> Placements:
        """The placements in whole lists, whatever the measures leave out of them."""
        return self.ranked[self.first.protocol.whole()]

    @cached_property
    def condensed(self) -> dict[str, Placements]:
        """The placements of each measure with unjudged documents taken out."""
        made = {placements: placements.condensed() for placements in set(self.placed.values())}
        return {label: made[placements] for label, placements in self.placed.items()}

    def command(self, **axes: Any) -> str:
        """Write the command that evaluates the run with other axes."""
        names = self.evaluator.qrels.name, self.run.source.name
        return evaluate_again(self.evaluator, *names, **axes)

    @property
    def audit(self) -> str:
        """How to audit the run and the judgments."""
        return audit_command(self.evaluator, self.evaluator.qrels.name, self.run.source.name)

    def priced(
        self, placed: Mapping[str, Placements], instruments: Mapping[str, Instrument] | None = None
    ) -> RunPrice:
        """Price other placements, or other instruments."""
        values, used = {}, instruments or self.instruments
        for label, placements in placed.items():
            with suppress(IdealistError):  # what cannot be measured has no price
                values[label] = measured(used[label], placements).aggregate
        return self.price(values)

    @property
    def weighted(self) -> list[str]:
        """The measures whose mean is weighted."""
        return self.labels(lambda one: one.aggregate.weights)

    def unweighted(self, labels: Collection[str]) -> RunPrice:
        """Price weights: what measures would be if every query counted alike."""
        values = {}
        for label in labels:
            found, aggregate = self.measured[label], self.instruments[label].aggregate
            alike = replace(aggregate, aggregate="mean", weights=None)
            values[label] = alike.of(found.values[found.counted])
        return self.price(values)

    def reranked(self, labels: Collection[str] | None = None, **axes: Any) -> RunPrice:
        """Price another protocol; what it would newly refuse is let pass."""
        placed: dict[str, Placements] = {}
        for label in self.instruments if labels is None else labels:
            with suppress(IdealistError):  # rules that exclude each other, or nothing to rank
                placed[label] = self.ranked[self.placed[label].protocol.varied(**axes)]
        return self.priced(placed)


def differing(
    now: Mapping[str, float], then: Mapping[str, float | tuple[float, ...]]
) -> dict[str, tuple[float, ...]]:
    """Keep the measures that would print differently.

    >>> differing({"AP": 0.5, "RR": 1.0}, {"AP": 0.75, "RR": 1.0})
    {'AP': (0.5, 0.75)}
    >>> differing({"AP": 0.5}, {"AP": (0.5, 0.75)})
    {'AP': (0.5, 0.5, 0.75)}
    """
    both = {
        label: (now[label], *(value if isinstance(value, tuple) else (value,)))
        for label, value in then.items()
        if label in now
    }
    return {label: ends for label, ends in both.items() if len({f"{end:.4f}" for end in ends}) > 1}
