"""An agreement of judges: on labels, on systems, and what is doubtful about both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from idealist.conventions import DEFAULT
from idealist.data.remarks import Remark
from idealist.judging.agreeing.agreement_doubts import doubts_of_agreement
from idealist.judging.agreeing.agreement_tables import (
    confusion_figure,
    confusion_table,
    labels_table,
    pairs_table,
    systems_blocks,
    systems_figure,
)
from idealist.judging.agreeing.agreement_words import label_words, panel_words, system_words
from idealist.judging.agreeing.label_agreement import WORDS, LabelAgreement, PanelAgreement
from idealist.judging.agreeing.panel import Panel
from idealist.judging.agreeing.system_agreement import SystemAgreement
from idealist.rendering.document import (
    Block,
    Details,
    Document,
    Doubts,
    Drawing,
    Interval,
    Signatures,
    Table,
    Text,
)
from idealist.rendering.doubt import Doubt
from idealist.rendering.plain_data import record
from idealist.rendering.result import Figures, Result
from idealist.rendering.wording import counted, few, shared_signatures, told
from idealist.significance.cluster_bootstrap import DRAWS

#: What the range of tau is.
REDRAWN = (
    "Redrawn is the range of tau in 95 % of such draws, and no confidence interval: noise blurs an "
    "order, so draws lie lower than the truth."
)


#: How many pairs a judge lacks, and of how many.
Lack = tuple[int, int]


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """How far judges agree: ``print(agreement)`` is the answer, the tables and what is doubtful.

    `pairs` holds every two judges who share a pair, by their places in the `panel`; `labels` is the
    first one. `systems` has for each judge but the first how he ranks the runs, by measure.
    `lone_queries` and `missed_queries` count for each judge the queries that only he judged, and
    those that only the first one did; `lacking` has for each judge what he lacks of the first one's
    pairs of the same queries, and that one of his. `between` counts
    for each judge the grades that lie between those of the judges they were made of; `copies` are
    those of `pairs` whose judgments are the same, all of them.
    """

    panel: Panel
    pairs: Mapping[tuple[int, int], LabelAgreement]
    all_judges: PanelAgreement
    systems: Mapping[int, Mapping[str, SystemAgreement]]
    lone_queries: tuple[int, ...]
    missed_queries: tuple[int, ...]
    lacking: Mapping[int, tuple[Lack, Lack]]
    remarks: tuple[Remark, ...] = ()
    thresholds: tuple[float, ...] = ()
    convention: str = DEFAULT
    shared_pairs: bool = False
    between: tuple[int, ...] = ()
    copies: frozenset[tuple[int, int]] = frozenset()

    @property
    def labels(self) -> LabelAgreement:
        """How far the first two judges who share pairs agree on labels."""
        return next(iter(self.pairs.values()))

    @property
    def several(self) -> bool:
        """Whether there are more than two judges."""
        return len(self.panel.judges) > 2

    @cached_property
    def doubts(self) -> tuple[Doubt, ...]:
        """What is doubtful about it."""
        return doubts_of_agreement(self)

    @property
    def summary(self) -> str:
        """How far they agree on labels, how alike they rank systems, and whose means are higher."""
        said = (
            panel_words(self.all_judges, self.pairs.values())
            if self.several
            else label_words(self.labels, copies=bool(self.copies))
        )
        first = [next(iter(own.values())) for own in self.systems.values()]
        return ". ".join([said, *(system_words(one, self.several) for one in first)])

    def report(self) -> Document:
        """Describe the labels first, then the systems."""
        blocks: list[Block] = [Text(f"{self.summary}.", strong=True)]
        blocks += self._many() if self.several else self._two()
        for own in self.systems.values():
            blocks += systems_blocks(own)
        notes = (Text(words) for words in self._notes())
        return Document(
            tuple(blocks), (Doubts(self.doubts), *notes, Signatures(self._signatures()))
        )

    def _signatures(self) -> tuple[str, ...]:
        """Name the instruments of both judges, short."""
        lines = []
        for own in self.systems.values():
            for i, judge in enumerate(next(iter(own.values())).judges):
                said = [one.signatures[i].by(self.convention) for one in own.values()]
                lines += [f"{line} by {told(judge)}" for line in shared_signatures(said)]
        return tuple(dict.fromkeys(lines))

    def _two(self) -> Iterator[Block]:
        yield labels_table(self.labels)
        yield confusion_table(self.labels)
        yield Details("Figure", (Drawing(self.figure("confusion")),))

    def _many(self) -> Iterator[Block]:
        own = self.all_judges
        rows = [
            (WORDS[name], own.values[name], Interval(*own.intervals[name])) for name in own.values
        ]
        title = f"All {len(self.panel.judges)} judges"
        yield Table.of(["statistic"], ["value", "95 % interval"], rows, title=title)
        yield pairs_table(self.pairs.values())
        tables = tuple(confusion_table(one) for one in self.pairs.values())
        yield Details("How often two judges gave each two grades", tables)

    def _notes(self) -> Iterator[str]:
        yield f"Intervals are by {DRAWS:,} draws of whole queries, seed {self.labels.seed}."
        if any(len(one.runs) > 1 for own in self.systems.values() for one in own.values()):
            yield REDRAWN
        if self.thresholds:
            cut = zip(self.panel.judges, self.thresholds, strict=True)
            words = ", ".join(f"{least:g} on by {told(judge)}" for judge, least in cut)
            yield f"Labels are compared as relevant (1) or not (0): relevant is from {words}."
        yield from self._left_out()
        if self.panel.negative:
            words = counted(self.panel.negative, "grade below 0 was", "grades below 0 were")
            yield f"{words} left out: such a grade says that nobody judged the document."

    def _left_out(self) -> Iterator[str]:
        """Count the queries that only one judge judged."""
        first = told(self.panel.judges[0])
        if self.several:
            yield from self._left_out_of_many(first)
            return
        for i, name in enumerate(self.panel.judges):
            counts = (self.lone_queries[i], told(name)), (self.missed_queries[i], first)
            said = [f"{counted(n, 'query', 'queries')} only {who} judged" for n, who in counts if n]
            if said:
                yield f"Left out: {' and '.join(said)}."

    def _left_out_of_many(self, first: str) -> Iterator[str]:
        """Say once what each judge lacks of the first one's queries, and what he has besides."""
        alike: dict[str, list[str]] = {}
        for name, more, less in zip(
            self.panel.judges, self.lone_queries, self.missed_queries, strict=True
        ):
            lacks = [f"lacks {counted(less, 'query', 'queries')}"] if less else []
            has = [f"has {counted(more, 'other', 'others')}"] if more else []
            if words := " and ".join([*lacks, *has]):
                alike.setdefault(words, []).append(name)
        if alike:
            said = "; ".join(
                f"{few(who)} {words if len(who) == 1 else _each(words)}"
                for words, who in alike.items()
            )
            yield f"Queries that only one of two judged are left out: against {first}, {said}."

    @property
    def figures(self) -> Figures:
        """The figures that can be made of it, by kind."""
        makers = {"confusion": partial(confusion_figure, self.labels)}
        if self.systems:
            makers["systems"] = partial(systems_figure, next(iter(self.systems.values())))
        return Figures(makers)

    def table(self) -> Table:
        """Return the statistics of labels by name, or every two judges."""
        if self.several:
            return pairs_table(self.pairs.values())
        own = self.labels
        rows = [(name, value, Interval(*own.intervals[name])) for name, value in own.values.items()]
        return Table.of(["statistic"], ["value", "interval"], rows)

    def data(self) -> dict[str, Any]:
        """Return the contract of ``agree -f json``; undefined values are None."""
        systems = {
            i: {label: one.data() for label, one in own.items()} for i, own in self.systems.items()
        }
        data = {
            "summary": self.summary, "judges": list(self.panel.judges), **self.labels.data(),
            "thresholds": list(self.thresholds),
            "systems": next(iter(systems.values()), {}),
        }  # fmt: skip
        if self.several:
            data["all_judges"] = self.all_judges.data()
            data["pairs"] = [
                {"judges": list(one.judges), **one.data()} for one in self.pairs.values()
            ]
            data["systems_by_judge"] = {self.panel.judges[i]: own for i, own in systems.items()}
        left = {"lone_queries": self.lone_queries, "missed_queries": self.missed_queries}
        named = {name: dict(zip(self.panel.judges, own, strict=True)) for name, own in left.items()}
        return record({**data, **named, "doubts": [one.data() for one in self.doubts]})


def _each(words: str) -> str:
    """Say of several what was said of one.

    >>> _each("lacks 3 queries and has 1 other")
    'lack 3 queries and have 1 other each'
    """
    return f"{words.replace('lacks', 'lack').replace('has', 'have')} each"
