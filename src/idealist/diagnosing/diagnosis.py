"""A diagnosis: what is lost, what could be reached, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

from idealist.conventions.signature import Signature, shortened
from idealist.diagnosing.context import Context
from idealist.diagnosing.losses import NAMED, PARTS, Headroom, Losses, Slice, Stages
from idealist.diagnosing.ruling import STATES, Rule, Ruling
from idealist.evaluating.evaluation import ByMeasure
from idealist.explaining.ladder import CAUSES
from idealist.notation import many
from idealist.report import document as doc
from idealist.report.document import SIGNED, TEXT, Column, Document, Interval, Items, Table, Text
from idealist.report.doubt import Doubt
from idealist.report.result import Result
from idealist.report.wording import number, shared_signatures, signed


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Result):
    """What a run loses, by cause, what each stage could reach, and the rules that fire.

    `losses`, `headroom`, `stages` and `slices` are by measure; `stages` is empty without a first
    stage that has the run's documents, `slices` without slices, and `context` is None unless the
    number of passages that are read was given. `advice` is the rule to follow first, and `audit`
    the command to run before anything else, where ids may not match. `matches` says whether any
    judged document is in the run at all.
    """

    run: str
    convention: str
    signatures: Mapping[Any, Signature]
    losses: Mapping[Any, Losses]
    headroom: Mapping[Any, Headroom]
    stages: Mapping[Any, Stages]
    slices: Mapping[Any, tuple[Slice, ...]]
    context: Context | None
    rulings: tuple[Ruling, ...]
    doubts: tuple[Doubt, ...]
    advice: Rule | None
    matches: bool
    audit: str = ""

    def __post_init__(self) -> None:
        for name in ("signatures", "losses", "headroom", "stages", "slices"):
            object.__setattr__(self, name, ByMeasure(getattr(self, name)))

    @property
    def fired(self) -> tuple[Ruling, ...]:
        """The rules that the data supports."""
        return tuple(one for one in self.rulings if one.state == "fires")

    @property
    def summary(self) -> str:
        """What most of the first measure is lost to."""
        if not self.matches:
            return f"{self.run} cannot be diagnosed: no document that it retrieved is judged"
        lost = next(iter(self.losses.values()))
        if not lost.cause:
            return f"{self.run} loses nothing of {lost.measure}"
        most = f"most of it ({number(lost.by_cause[lost.cause])}) to {CAUSES[lost.cause]}"
        return f"{self.run} loses {number(lost.loss)} of {lost.measure}, {most}"

    @property
    def first(self) -> str:
        """What to do first; empty if nothing has to be done."""
        if self.audit:
            return "check whether the ids match"
        return self.advice.action if self.advice else ""

    def report(self) -> Document:
        """Describe what is lost and what to do; rules that do not fire are among the details."""
        blocks: list[doc.Block] = [Text(self.summary, strong=True)]
        blocks += [Text(f"do first: {self.first}")] if self.first else []
        blocks += [doc.Command(self.audit)] if self.audit else []
        if self.matches:
            told = [line for one in self.fired for line in one.lines()]
            heading = "rules that the data supports" if told else "no rule fires"
            blocks += [*self._tables(), doc.Heading(heading), Items(tuple(told))]
            blocks.append(doc.Details("rules", (Items(tuple(self._rules())),)))
        shown = shared_signatures([*shortened(self.signatures, self.convention).values()])
        notes = (Text(self._settings()), doc.Doubts(self.doubts), doc.Signatures(tuple(shown)))
        return Document(tuple(blocks), notes)

    def _settings(self) -> str:
        counts = sorted({one.queries for one in self.losses.values()})
        some = f"{counts[0]} to {counts[-1]} queries"
        words = many(counts[0], "query", "queries") if len(counts) == 1 else some
        return f"{self.run}: {words}, convention {self.convention}"

    def _rules(self) -> Iterator[str]:
        """Name the rules: those that fire with their source, the others by what became of them."""
        for one in self.fired:
            yield f"{one.rule.id}: {one.rule.pattern} (source: {one.rule.source})"
        others: dict[str, list[str]] = {}
        for state in ("open", "silent", "left out"):
            for one in (one for one in self.rulings if one.state == state):
                others.setdefault(one.reason or STATES[state], []).append(one.rule.id)
        yield from (f"{why}: {', '.join(ids)}" for why, ids in others.items())

    def _tables(self) -> Iterator[Table]:
        yield from (self._lost(), self._behind(), self._reached())
        if self.stages:
            yield self._staged()
        if self.slices:
            yield by_slice(*next(iter(self.slices.items())))
        if self.context:
            rows = [
                (self.context.words(name), value, Interval(low, high))
                for name, (value, low, high) in self.context.figures.items()
            ]
            title = f"the first {self.context.size} passages"
            yield Table.of([title], ["mean", "95 % interval"], rows)

    def _lost(self) -> Table:
        """Tabulate what each measure loses, by cause."""
        found = self.losses.values()
        rows: list[tuple[Any, ...]] = []
        for cause, words in CAUSES.items():
            lost = [one.by_cause[cause] for one in found]
            if set(map(number, lost)) - {"0.0000", "-"}:
                rows.append((words, *lost))
        rows.append(("all", *(one.loss for one in found)))
        rows.append(("the value", *(one.value for one in found)))
        return Table.of(["lost to"], list(self.losses), rows)

    def _behind(self) -> Table:
        """Tabulate the queries behind each cause, for the first measure."""
        label, lost = next(iter(self.losses.items()))
        rows = []
        for cause, words in CAUSES.items():
            if some := lost.behind(cause):
                most = ", ".join(f"{query} {number(x)}" for query, x in [*some.items()][:NAMED])
                rows.append((words, f"{len(some)} of {lost.queries}", most))
        return Table.of([f"{label} lost to", "queries", "most in"], [], rows)

    def _reached(self) -> Table:
        """Tabulate what each stage would reach if it were perfect."""
        rooms = self.headroom.values()
        first = next(iter(rooms))
        now = ("as it is", *(one.value for one in self.losses.values()))
        rows = [(first.words(one), *(room.means[one] for room in rooms)) for one in first.stages]
        return Table.of(["with"], list(self.headroom), [now, *rows])

    def _staged(self) -> Table:
        """Tabulate what reranking did to the first stage."""
        found = self.stages.values()
        rows: list[tuple[Any, ...]] = [("the first stage", *(one.first for one in found))]
        for part, words in PARTS.items():
            sign = -1 if part == "lost" else 1
            rows.append((words, *(signed(sign * one.means[part]) for one in found)))
        rows.insert(3, (self.run, *(one.losses.value for one in found)))
        rows.append(("the ideal list", *(one.losses.ideal for one in found)))
        return Table.of(["two stages"], list(self.stages), rows)

    def table(self) -> Table:
        """Return every number in one table: part, measure, item, value."""
        rows = [(*key, value) for key, value in self._numbers()]
        return Table.of(["part", "measure", "item"], ["value"], rows)

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

    def data(self) -> dict[str, Any]:
        """Return the contract of ``diagnose -f json``; what is not defined is None."""
        by_measure: dict[str, Mapping[str, Any]] = {
            "losses": self.losses, "headroom": self.headroom, "stages": self.stages,
        }  # fmt: skip
        why = f": {self.audit}" if self.audit else f" ({self.advice.id})" if self.advice else ""
        return {
            "run": self.run, "convention": self.convention, "verdict": self.summary,
            "first": f"{self.first}{why}",
            **{key: {m: x.data() for m, x in part.items()} for key, part in by_measure.items()},
            "slices": {label: [x.data() for x in own] for label, own in self.slices.items()},
            "context": self.context and self.context.data(),
            "rules": [one.data() for one in self.rulings],
            "doubts": [one.data() for one in self.doubts],
            "signatures": shortened(self.signatures, self.convention),
        }  # fmt: skip


def by_slice(label: str, slices: tuple[Slice, ...]) -> Table:
    """Tabulate a measure by slice; without a run to compare with there are no changes."""
    compared = not all(isnan(one.change[0]) for one in slices)
    rows = [
        (
            one.name, one.losses.queries, one.losses.value,
            *((one.change[0], Interval(*one.change[1:])) if compared else ()),
            CAUSES.get(one.losses.cause, "nothing"),
        )
        for one in slices
    ]  # fmt: skip
    columns = [Column(f"{label} by slice", TEXT), Column("queries", doc.COUNT), Column("value")]
    changes = [Column("change", SIGNED), Column("95 % interval", SIGNED)] if compared else []
    return Table((*columns, *changes, Column("most lost to", TEXT)), tuple(rows))
