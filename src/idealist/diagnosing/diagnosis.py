"""A diagnosis: what is lost, what could be reached, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from idealist.conventions.signature import Signature, shortened
from idealist.diagnosing.context import Context
from idealist.diagnosing.fixes import FIXES, Fixes, ToDo
from idealist.diagnosing.losses import PARTS, Headroom, Losses, Stages
from idealist.diagnosing.ruling import STATES, Ruling
from idealist.diagnosing.slices import Slice
from idealist.evaluating.evaluation import ByMeasure
from idealist.explaining.ladder import CAUSES
from idealist.notation import many
from idealist.rendering import document as doc
from idealist.rendering.document import SIGNED, TEXT, Column, Document, Interval, Items, Table, Text
from idealist.rendering.doubt import Doubt
from idealist.rendering.result import Figures, Result
from idealist.rendering.wording import number, shared_signatures, signed

if TYPE_CHECKING:
    from idealist.rendering.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Result):
    """What a run loses, what would win it back, and the rules that fire.

    `losses` (by cause), `fixes`, `headroom`, `stages` and `slices` are by measure; `stages` is
    empty without a first stage that has the run's documents, `slices` without slices, and `context`
    is None unless the number of passages that are read was given. `errors` is what an audit finds
    wrong with the data, and `audit` the command to run before anything else, if there is any.
    `matches` says whether any judged document is in the run at all.
    """

    run: str
    convention: str
    signatures: Mapping[Any, Signature]
    losses: Mapping[Any, Losses]
    fixes: Mapping[Any, Fixes]
    headroom: Mapping[Any, Headroom]
    stages: Mapping[Any, Stages]
    slices: Mapping[Any, tuple[Slice, ...]]
    context: Context | None
    rulings: tuple[Ruling, ...]
    errors: tuple[Doubt, ...]
    doubts: tuple[Doubt, ...]
    matches: bool
    audit: str = ""

    def __post_init__(self) -> None:
        for name in ("signatures", "losses", "fixes", "headroom", "stages", "slices"):
            object.__setattr__(self, name, ByMeasure(getattr(self, name)))

    @property
    def fired(self) -> tuple[Ruling, ...]:
        """The rules that the data supports."""
        return tuple(one for one in self.rulings if one.state == "fires")

    @property
    def summary(self) -> str:
        """What most of the first measure is lost to, or why that cannot be said."""
        if self.errors:
            return f"{self.run} cannot be diagnosed yet: {self.errors[0].finding}"
        lost, first = self._main.losses, next(iter(self.losses))
        if not self.advice:
            return f"{self.run} loses nothing of {lost.measure}"
        part, loss = number(self._main.means[self.advice]), number(lost.loss)
        share = "all of it" if part == loss else f"{part} of it"
        but = "" if lost.measure == first else f"nothing of {first}, but "
        return f"{self.run} loses {but}{loss} of {lost.measure}, {share} to {FIXES[self.advice]}"

    @property
    def _main(self) -> Fixes:
        """What would win back the first measure, or the first of which anything is lost."""
        found = [*self.fixes.values()]
        return next((one for one in found if one.ranked), found[0])

    @property
    def advice(self) -> str:
        """The fix that would win most of the first measure that loses anything; empty if none."""
        return next(iter(self._main.ranked), "")

    @property
    def todo(self) -> tuple[ToDo, ...]:
        """What to do, first what could win most; errors in the data come before all else."""
        if self.errors:
            return tuple(map(self._mended, self.errors))
        return tuple(replace(one, **self._refined(one.fix)) for one in self._main.todo)

    def _mended(self, error: Doubt) -> ToDo:
        """Say what mending an error in the data could win, where that is known."""
        label = self._main.losses.measure
        now, *then = error.price.get(self.run, {}).get(label, (math.nan, math.nan))
        return ToDo("mend", error.remedy, label, then[0] - now, command=error.command)

    def _refined(self, fix: str) -> dict[str, Any]:
        """Say what rules and the context add to a fix."""
        rules = [one.rule for one in self.fired if one.rule.refines == fix]
        facts = self.context.facts(fix) if self.context else ()
        told = [rule for rule in rules if not (facts and rule.needs == "context")]
        said = (f"{rule.pattern}: {rule.reading}; {rule.action}" for rule in told)
        return {"also": (*facts, *said), "rules": tuple(rule.id for rule in rules)}

    @property
    def first(self) -> str:
        """What to do first; empty if nothing has to be done."""
        return self.todo[0].words if self.todo else ""

    @property
    def command(self) -> str:
        """The command that mends the data, or else audits it, where that comes first."""
        return next((one.command for one in reversed(self.errors) if one.command), self.audit)

    @property
    def figures(self) -> Figures:
        """The figure of what is lost."""
        return Figures({"losses": self._losses})

    def _losses(self, measure: Any = None) -> Figure:
        """Show what is lost as a bar: of one measure, or of each that has values from 0 to 1."""
        from idealist.diagnosing.run_losses import losses_of_measures  # seldom asked for

        return losses_of_measures(self, measure)

    def report(self) -> Document:
        """Describe what to do and what is lost; the names of rules are among the details."""
        blocks: list[doc.Block] = [Text(self.summary, strong=True)]
        if self.todo:
            blocks += [
                doc.Heading(self._heading()),
                Items(tuple(line for one in self.todo for line in one.lines())),
            ]
        blocks += [doc.Command(self.command)] if self.command else []
        if self.matches:
            found = tuple(self._found())
            blocks += [doc.Details("as the data is", found)] if self.errors else found
            details = (Items(tuple(self._rules())), self._by_cause())
            blocks.append(doc.Details("rules and causes", details))
        shown = shared_signatures([*shortened(self.signatures, self.convention).values()])
        doubts = tuple(replace(one, command="") if self.errors else one for one in self.doubts)
        notes = (Text(self._settings()), doc.Doubts(doubts), doc.Signatures(tuple(shown)))
        return Document(tuple(blocks), notes)

    def _heading(self) -> str:
        win = f"what it could win of {self._main.losses.measure}"
        return (
            f"what to do, and {win}" if self.errors else f"what to do, {win}, and in which queries"
        )

    def _found(self) -> Iterator[doc.Block]:
        """Show the tables, and what rules say of anything else than the fixes."""
        yield from self._tables()
        told = {rule for one in self.todo for rule in one.rules}
        rest = [one for one in self.fired if one.rule.id not in told]
        if rest:
            yield doc.Heading("what else the data shows")
            yield Items(tuple(line for one in rest for line in one.lines()))

    def _settings(self) -> str:
        counts = sorted({one.queries for one in self.losses.values()})
        some = f"{counts[0]} to {counts[-1]} queries"
        words = many(counts[0], "query", "queries") if len(counts) == 1 else some
        return f"{self.run}: {words}, convention {self.convention}"

    def _rules(self) -> Iterator[str]:
        """Name the rules: those that fire with their source, the others by what became of them."""
        for one in self.fired:
            yield f"{one.rule.id}: {one.rule.pattern} (source: {one.rule.source})"
            yield from (f"  evidence: {proof}" for proof in one.evidence)
        others: dict[str, list[str]] = {}
        for state in ("open", "silent", "left out"):
            for one in (one for one in self.rulings if one.state == state):
                others.setdefault(one.reason or STATES[state], []).append(one.rule.id)
        yield from (f"{why}: {', '.join(ids)}" for why, ids in others.items())

    def _tables(self) -> Iterator[Table]:
        if self.advice:
            yield from (self._lost(), self._reached())
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
        """Tabulate what each measure loses, by what would win it back."""
        own = [one.means for one in self.fixes.values()]
        order = sorted(FIXES, key=lambda fix: -own[0][fix])
        parts = {f"{FIXES[fix]} ({fix})": [one[fix] for one in own] for fix in order}
        return self._adding_up("lost to", parts)

    def _by_cause(self) -> Table:
        """Tabulate the same by the causes of `explain`."""
        own = [one.by_cause for one in self.losses.values()]
        parts = {words: [one[cause] for one in own] for cause, words in CAUSES.items()}
        return self._adding_up("lost to, as explain divides it", parts)

    def _adding_up(self, title: str, parts: Mapping[str, Sequence[float]]) -> Table:
        """Tabulate parts of the losses, and their sum; those that are nothing are left out."""
        found = self.losses.values()
        some = {key: own for key, own in parts.items() if set(map(number, own)) - {"0.0000", "-"}}
        rows = [(words, *own) for words, own in some.items()]
        rows.append(("all", *(one.loss for one in found)))
        rows.append(("the value", *(one.value for one in found)))
        return Table.of([title], list(self.losses), rows)

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
        for label, won in self.fixes.items():
            yield from ((("fix", label, fix), x) for fix, x in won.means.items())
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
            "losses": self.losses, "fixes": self.fixes, "headroom": self.headroom,
            "stages": self.stages,
        }  # fmt: skip
        why = f": {self.command}" if self.command else f" ({self.advice})" if self.advice else ""
        return {
            "run": self.run, "convention": self.convention, "verdict": self.summary,
            "first": f"{self.first}{why}", "todo": [one.data() for one in self.todo],
            **{key: {m: x.data() for m, x in part.items()} for key, part in by_measure.items()},
            "slices": {label: [x.data() for x in own] for label, own in self.slices.items()},
            "context": self.context and self.context.data(),
            "rules": [one.data() for one in self.rulings],
            "errors": [one.data() for one in self.errors],
            "doubts": [one.data() for one in self.doubts],
            "signatures": shortened(self.signatures, self.convention),
        }  # fmt: skip


def by_slice(label: str, slices: tuple[Slice, ...]) -> Table:
    """Tabulate a measure by slice; without a run to compare with there are no changes."""
    compared = not all(math.isnan(one.change[0]) for one in slices)
    rows = [
        (
            one.name, one.losses.queries, one.losses.value,
            *((one.change[0], Interval(*one.change[1:])) if compared else ()),
            FIXES.get(next(iter(one.fixes.ranked), ""), "nothing"),
        )
        for one in slices
    ]  # fmt: skip
    columns = [Column(f"{label} by slice", TEXT), Column("queries", doc.COUNT), Column("value")]
    changes = [Column("change", SIGNED), Column("95 % interval", SIGNED)] if compared else []
    return Table((*columns, *changes, Column("most lost to", TEXT)), tuple(rows))
