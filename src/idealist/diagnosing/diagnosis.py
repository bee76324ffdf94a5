"""A diagnosis: what is lost, what could be reached, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from idealist.diagnosing.context import Context
from idealist.diagnosing.losses import NAMED, PARTS, Headroom, Losses, Stages
from idealist.diagnosing.query_slices import Slice, by_slice
from idealist.diagnosing.ruling import STATES, Ruling
from idealist.evaluating.evaluation import ByMeasure
from idealist.evaluating.summary import number, shared_lines
from idealist.explaining.explanation import WIDTH, signed
from idealist.explaining.ladder import CAUSES
from idealist.notation import many
from idealist.report.doubt import Doubt
from idealist.report.draw import Grid, markdown, plain, web, wrapped


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What a run loses, by cause, what each stage could reach, and the rules that fire.

    `losses`, `headroom`, `stages` and `slices` are by measure; `stages` is empty without a first
    stage that has the run's documents, `slices` without slices, and `context` is None unless the
    number of passages that are read was given. `doubts` say what speaks against believing it,
    `first` what to do first, and `matches` whether any judged document is in the run at all.
    """

    run: str
    convention: str
    signatures: Mapping[str, str]
    losses: Mapping[Any, Losses]
    headroom: Mapping[Any, Headroom]
    stages: Mapping[Any, Stages]
    slices: Mapping[Any, tuple[Slice, ...]]
    context: Context | None
    rulings: tuple[Ruling, ...]
    doubts: tuple[Doubt, ...]
    first: str
    matches: bool

    def __post_init__(self) -> None:
        for name in ("signatures", "losses", "headroom", "stages", "slices"):
            object.__setattr__(self, name, ByMeasure(getattr(self, name)))

    @property
    def fired(self) -> tuple[Ruling, ...]:
        """The rules that the data supports."""
        return tuple(one for one in self.rulings if one.state == "fires")

    @property
    def verdict(self) -> str:
        """Say in one sentence what most of the first measure is lost to."""
        if not self.matches:
            return f"{self.run} cannot be diagnosed: it and the judgments never meet; audit them"
        lost = next(iter(self.losses.values()))
        shown = f"{self.run} loses {signed(lost.loss)} of {lost.measure}"
        if not lost.cause:
            return f"{self.run} loses nothing of {lost.measure}"
        return f"{shown}, most of it ({signed(lost.by_cause[lost.cause])}) to {CAUSES[lost.cause]}"

    @property
    def said(self) -> list[str]:
        """The verdict, and what to do first."""
        return [self.verdict, *([f"do first: {self.first}"] if self.first else [])]

    @property
    def notes(self) -> list[str]:
        """The doubts, in words."""
        return [f"doubt: {one.message}" for one in self.doubts]

    @property
    def heading(self) -> str:
        """Say what is diagnosed."""
        counts = sorted({one.queries for one in self.losses.values()})
        words = " to ".join(map(str, [*counts[:1], *counts[1:][-1:]]))
        some = many(counts[0], "query", "queries") if len(counts) == 1 else f"{words} queries"
        return f"{self.run}: {some}, convention {self.convention}"

    def data(self) -> dict[str, Any]:
        """Give it as plain data; what is not defined is None."""
        by_measure: dict[str, Mapping[str, Any]] = {
            "losses": self.losses, "headroom": self.headroom, "stages": self.stages,
        }  # fmt: skip
        return {
            "run": self.run, "convention": self.convention, "verdict": self.verdict,
            "first": self.first,
            **{key: {m: x.data() for m, x in part.items()} for key, part in by_measure.items()},
            "slices": {label: [x.data() for x in own] for label, own in self.slices.items()},
            "context": self.context and self.context.data(),
            "rules": [one.data() for one in self.rulings],
            "doubts": [one.data() for one in self.doubts],
            "signatures": dict(self.signatures),
        }  # fmt: skip

    def loss_grid(self) -> Grid:
        """Tabulate what each measure loses, by cause."""
        columns = {label: one.by_cause for label, one in self.losses.items()}
        rows = [
            [words, *(signed(lost[cause]) for lost in columns.values())]
            for cause, words in CAUSES.items()
        ]
        rows = [row for row in rows if set(row[1:]) - {"0.0000", "-"}]
        rows.append(["all", *(signed(one.loss) for one in self.losses.values())])
        rows.append(["the value", *(number(one.value) for one in self.losses.values())])
        return Grid(["lost to", *columns], rows)

    def behind_grid(self) -> Grid:
        """Tabulate the queries behind each cause, for the first measure."""
        label, lost = next(iter(self.losses.items()))
        rows = [
            [words, f"{len(some)} of {lost.queries}", _few(some)]
            for cause, words in CAUSES.items()
            if (some := lost.behind(cause))
        ]
        return Grid([f"{label} lost to", "queries", "most in"], rows, words=3)

    def headroom_grid(self) -> Grid:
        """Tabulate what each stage would reach if it were perfect."""
        first = next(iter(self.headroom.values()))
        now = ["as it is", *(number(one.value) for one in self.losses.values())]
        rows = [
            [first.words(stage), *(number(one.means[stage]) for one in self.headroom.values())]
            for stage in first.stages
        ]
        return Grid(["with", *self.headroom], [now, *rows])

    def stages_grid(self) -> Grid:
        """Tabulate what reranking did to the first stage."""
        found = self.stages.values()
        rows = [["the first stage", *(number(one.first) for one in found)]]
        for part, words in PARTS.items():
            sign = -1 if part == "lost" else 1
            rows.append([words, *(f"{sign * one.means[part] + 0.0:+.4f}" for one in found)])
        rows.insert(3, [self.run, *(number(one.losses.value) for one in found)])
        rows.append(["the ideal list", *(number(one.losses.ideal) for one in found)])
        return Grid(["two stages", *self.stages], rows)

    def context_grid(self) -> Grid:
        """Tabulate the passages that a language model reads; empty without them."""
        if self.context is None:
            return Grid([], [])
        rows = [
            [self.context.words(name), number(value), f"{number(low)} to {number(high)}"]
            for name, (value, low, high) in self.context.figures.items()
        ]
        title = f"the first {self.context.size} passages"
        return Grid([title, "mean", "95 % interval"], rows)

    def grids(self) -> Iterator[Grid]:
        """Give the tables, one after the other; none where nothing can be told."""
        if not self.matches:
            return
        yield from (self.loss_grid(), self.behind_grid(), self.headroom_grid())
        if self.stages:
            yield self.stages_grid()
        if self.slices:
            yield by_slice(*next(iter(self.slices.items())))
        if self.context:
            yield self.context_grid()

    def long_grid(self) -> Grid:
        """Tabulate every number for programs: part, measure, item, value in full."""
        rows = [[*key, "" if isnan(value) else repr(value)] for key, value in self._numbers()]
        return Grid(["part", "measure", "item", "value"], rows, words=3)

    def _numbers(self) -> Iterator[tuple[tuple[str, str, str], float]]:
        for label, one in self.losses.items():
            yield ("value", label, "mean"), one.value
            yield from ((("loss", label, cause), lost) for cause, lost in one.by_cause.items())
        for label, room in self.headroom.items():
            yield from ((("headroom", label, stage), x) for stage, x in room.means.items())
        for label, two in self.stages.items():
            yield from ((("stages", label, part), x) for part, x in two.means.items())
        for label, own in self.slices.items():
            yield from ((("slice", label, one.name), one.losses.value) for one in own)
        for name, (value, _, _) in self.context.figures.items() if self.context else ():
            yield ("context", "", name), value
        for ruling in self.rulings:
            for proof in ruling.evidence:
                yield (f"rule, {ruling.state}", ruling.rule.id, proof.words), proof.value

    def _tally(self) -> str:
        others: dict[str, list[str]] = {}
        for state in ("open", "silent", "left out"):
            for one in (one for one in self.rulings if one.state == state):
                others.setdefault(one.reason or STATES[state], []).append(one.rule.id)
        lines = [f"{why}: {', '.join(ids)}" for why, ids in others.items()]
        return "\n".join(["other rules", *lines])

    def __str__(self) -> str:
        return self.draw(WIDTH)

    def draw(self, width: int) -> str:
        """Write it for a terminal so wide."""
        doubts = [wrapped(self.notes, width)] if self.notes else []
        rules = self._ruled(width) if self.matches else []
        said = wrapped(self.said, width)
        parts = [self.heading, said, *doubts, *map(plain, self.grids()), *rules]
        return "\n\n".join([*parts, "\n".join(self._signatures())])

    def _ruled(self, width: int) -> list[str]:
        fired = [_told(one, width) for one in self.fired] or ["no rule fires"]
        return [*fired, wrapped(self._tally().splitlines(), width)]

    def markdown(self) -> str:
        """Write it for a README or an issue."""
        rules = ["\n".join(f"- {line}" for line in one.lines()) for one in self.fired]
        said = [f"### {self.heading}", *self.said, *self.notes]
        parts = [*said, *map(markdown, self.grids()), *rules]
        return "\n\n".join([*parts, *(f"`{line}`" for line in self._signatures())])

    def _repr_html_(self) -> str:
        import html  # here, because its table of entities takes long to load

        def escaped(lines: Sequence[str]) -> str:
            return "<p>" + "<br>".join(map(html.escape, lines)) + "</p>"

        rules = "".join(escaped(one.lines()) for one in self.fired)
        said = escaped([self.heading, *self.said, *self.notes])
        return said + "".join(map(web, self.grids())) + rules

    def _signatures(self) -> list[str]:
        return shared_lines(self.signatures.values())

    def __repr__(self) -> str:
        return f"<Diagnosis {self.verdict}>"


def _few(queries: Mapping[str, float]) -> str:
    named = [f"{query} {signed(lost)}" for query, lost in list(queries.items())[:NAMED]]
    return ", ".join(named)


def _told(ruling: Ruling, width: int) -> str:
    first, *others = ruling.lines()
    return "\n".join([first, *("  " + line for line in wrapped(others, width - 2).splitlines())])
