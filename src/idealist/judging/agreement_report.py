"""What an agreement of judges says: the answer, the labels, the systems, and what is doubtful."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from idealist.conventions import DEFAULT
from idealist.data.remarks import Remark
from idealist.judging.agreement_doubts import OTHER_ORDER, SAME_ORDER, doubts_of_agreement
from idealist.judging.label_agreement import WORDS, LabelAgreement, PanelAgreement, strength
from idealist.judging.panel import Panel
from idealist.judging.system_agreement import FEW_RUNS, Flip, SystemAgreement
from idealist.rendering.document import (
    COUNT,
    EFFECT,
    P_VALUE,
    SHARE,
    SIGNED,
    TEXT,
    VALUE,
    Block,
    Column,
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
from idealist.rendering.figures import judge_figures
from idealist.rendering.plain_data import record
from idealist.rendering.result import Figures, Result
from idealist.rendering.wording import counted, few, number, shared_signatures, told
from idealist.significance.cluster_bootstrap import DRAWS

#: Flipped pairs of runs that are listed at once; all of them are details.
LISTED = 5
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
    pairs of the same queries, and that one of his.
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
        said = _panel_words(self) if self.several else _label_words(self.labels)
        first = [next(iter(own.values())) for own in self.systems.values()]
        return ". ".join([said, *(_system_words(one, self.several) for one in first)])

    def report(self) -> Document:
        """Describe the labels first, then the systems."""
        blocks: list[Block] = [Text(f"{self.summary}.", strong=True)]
        blocks += self._many() if self.several else self._two()
        for own in self.systems.values():
            blocks += _systems_blocks(own)
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
        yield _labels_table(self.labels)
        yield _confusion_table(self.labels)
        yield Details("Figure", (Drawing(self.figure("confusion")),))

    def _many(self) -> Iterator[Block]:
        own = self.all_judges
        rows = [
            (WORDS[name], own.values[name], Interval(*own.intervals[name])) for name in own.values
        ]
        title = f"All {len(self.panel.judges)} judges"
        yield Table.of(["statistic"], ["value", "95 % interval"], rows, title=title)
        yield self._pairs_table()
        tables = tuple(_confusion_table(one) for one in self.pairs.values())
        yield Details("How often two judges gave each two grades", tables)

    def _pairs_table(self) -> Table:
        names = ("kappa", "kappa_linear", "kappa_quadratic", "alpha_ordinal", "ac1", "ac2")
        heads = ("kappa", "linear", "quadratic", "alpha", "AC1", "AC2")
        columns = (
            Column("judge", TEXT, shortens=True), Column("and", TEXT, shortens=True),
            Column("pairs", COUNT), Column("same", SHARE), *map(Column, heads),
            Column("bias", SIGNED),
        )  # fmt: skip
        rows = [
            (*one.judges, one.n, one.values["agree"], *(one.values[name] for name in names),
             one.values["bias"])
            for one in self.pairs.values()
        ]  # fmt: skip
        return Table(columns, tuple(rows), "Every two judges")

    def _notes(self) -> Iterator[str]:
        yield f"Intervals are by {DRAWS:,} draws of whole queries, seed {self.labels.seed}."
        if any(len(one.runs) > 1 for own in self.systems.values() for one in own.values()):
            yield REDRAWN
        if self.thresholds:
            cut = zip(self.panel.judges, self.thresholds, strict=True)
            words = ", ".join(f"{least:g} on by {told(judge)}" for judge, least in cut)
            yield f"Labels are compared as relevant (1) or not (0): relevant is from {words}."
        for i, name in enumerate(self.panel.judges):
            lone, missed = self.lone_queries[i], self.missed_queries[i]
            if lone or missed:
                only = (
                    f"{counted(lone, 'query', 'queries')} only {told(name)} judged" if lone else ""
                )
                first = told(self.panel.judges[0])
                rest = (
                    f"{counted(missed, 'query', 'queries')} only {first} judged" if missed else ""
                )
                yield f"Left out: {' and '.join(filter(None, (only, rest)))}."
        if self.panel.negative:
            words = counted(self.panel.negative, "grade below 0 was", "grades below 0 were")
            yield f"{words} left out: such a grade says that nobody judged the document."

    @property
    def figures(self) -> Figures:
        """The figures that can be made of it, by kind."""
        makers = {"confusion": partial(_confusion_figure, self.labels)}
        if self.systems:
            makers["systems"] = partial(_systems_figure, next(iter(self.systems.values())))
        return Figures(makers)

    def table(self) -> Table:
        """Return the statistics of labels by name, or every two judges."""
        if self.several:
            return self._pairs_table()
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


# --- the answer


def _ends(ends: tuple[float, float]) -> str:
    return "" if math.isnan(ends[0]) else f" [{number(ends[0], 2)}, {number(ends[1], 2)}]"


def _label_words(labels: LabelAgreement) -> str:
    a, b = map(told, labels.judges)
    pairs = f"{counted(labels.n, 'pair', 'pairs')} of {counted(labels.queries, 'query', 'queries')}"
    kappa = labels.values["kappa"]
    if math.isnan(kappa):
        grade = labels.grades[labels.confusion.sum(axis=0).argmax()]
        return f"{a} and {b} gave grade {grade:g} to all {pairs}, so kappa says nothing"
    how, low = strength(kappa), labels.intervals["kappa"][0]
    alike = f"{how} on labels" if kappa > 0 else f"on labels {how}"
    alike += ", if at all" if low <= 0 < kappa else ""
    value = f"kappa {number(kappa, 2)}{_ends(labels.intervals['kappa'])}"
    return f"{a} and {b} agree {alike} ({value}, {pairs})"


def _panel_words(found: Agreement) -> str:
    own, judges = found.all_judges, len(found.panel.judges)
    alpha = f"alpha {number(own.values['alpha_ordinal'], 2)}{_ends(own.intervals['alpha_ordinal'])}"
    known = [one for one in found.pairs.values() if not math.isnan(one.values["kappa"])]
    pairs = counted(len(found.panel.level), "pair", "pairs")
    said = f"{judges} judges share {pairs}: {alpha}"
    if not known:
        return said
    least, most = (pick(known, key=lambda one: one.values["kappa"]) for pick in (min, max))
    words = [f"{' and '.join(map(told, one.judges))} ({number(one.values['kappa'], 2)})"
             for one in (least, most)]  # fmt: skip
    return f"{said}; kappa of two is lowest for {words[0]} and highest for {words[1]}"


def _system_words(systems: SystemAgreement, several: bool) -> str:
    """Say how alike they rank systems, which verdicts stay, and whose means are higher."""
    a, b = map(told, systems.judges)
    n, measure, tau = len(systems.runs), systems.measure, number(systems.tau, 2)
    who = f"{a} and {b}" if several else "They"
    said = []
    if n >= FEW_RUNS:
        alike = _order_words(systems.tau)
        said.append(f"{who} rank the {n} systems {alike} by {measure} (tau {tau})")
    elif n == 2:
        said.append(_first_words(systems))
    elif n > 2:
        said.append(
            f"{who} rank the {n} systems with tau {tau} by {measure}, which says little of so few"
        )
    said += [_verdict_words(systems)] if n > 1 else []
    low, high = systems.inflation_interval
    size = number(abs(systems.inflation), 2)
    if low > 0 or high < 0:
        said.append(f"{b}'s mean {measure} is {size} {'higher' if low > 0 else 'lower'}")
    return "; ".join(said) or f"{who} do not differ clearly in mean {measure}"


def _first_words(systems: SystemAgreement) -> str:
    (first, second), (a, b) = systems.winners, map(told, systems.judges)
    if first == second:
        return f"By {systems.measure} both put {' and '.join(map(told, first))} first"
    return (
        f"By {systems.measure}, {a} puts {' and '.join(map(told, first))} first, and {b} "
        f"{' and '.join(map(told, second))}"
    )


def _order_words(tau: float) -> str:
    if math.isnan(tau):
        return "without any order"
    ways = ((SAME_ORDER, "nearly alike"), (OTHER_ORDER, "much alike"), (0.5, "partly alike"))
    return next((words for least, words in ways if tau >= least), "differently")


def _verdict_words(systems: SystemAgreement) -> str:
    a, b = map(told, systems.judges)
    (found, own), gained = systems.significant, systems.count("gained")
    kept = found - systems.count("lost", "reversed")
    if not found:
        more = f", {b} {own}" if own else f", nor does {b}"
        return f"{a} finds no significant difference between systems{more}"
    turned = systems.count("reversed")
    if found == 1:
        does = "confirms" if kept else "reverses" if turned else "does not confirm"
        return f"{b} {does} the one significant difference by {a}"
    differences = counted(found, "significant difference", "significant differences")
    said = f"of {differences} by {a}, {b} confirms {kept}"
    said += f" and reverses {turned}" if turned else ""
    return f"{said}, and finds {counted(gained, 'other', 'others')}" if gained else said


# --- the tables


def _labels_table(labels: LabelAgreement) -> Table:
    a, b = map(told, labels.judges)
    words = {**WORDS, "bias": f"{WORDS['bias']}, {b} less {a}"}
    if labels.rel is not None:
        words["kappa_rel"] = f"kappa, relevant from {labels.rel:g} on"
    if len(labels.grades) < 3:
        words["alpha_ordinal"] = "Krippendorff's alpha"
    rows = []
    for name, value in _told(labels):
        form = {"agree": SHARE, "bias": SIGNED}.get(name, VALUE)
        rows.append((words[name], form(value), form(Interval(*labels.intervals[name]))))
    columns = Column("statistic", TEXT), Column("value"), Column("95 % interval")
    return Table(columns, tuple(rows), "Agreement on labels")


def _told(labels: LabelAgreement) -> Iterator[tuple[str, float]]:
    """Yield the statistics worth a row: with two grades, weights change nothing."""
    for name, value in labels.values.items():
        weighted = (
            name.endswith(("_linear", "_quadratic", "_interval", "_nominal")) or name == "ac2"
        )
        if len(labels.grades) > 2 or not weighted:
            yield name, value


def _confusion_table(labels: LabelAgreement) -> Table:
    """Count grades by grades, with the share that either judge gave each."""
    a, b = map(told, labels.judges)
    one, other = labels.marginals
    grades = [f"{grade:g}" for grade in labels.grades]
    counts = labels.confusion.astype(int).tolist()
    rows = [(f"{a}: {grade}", *row, SHARE(share))
            for grade, row, share in zip(grades, counts, one.tolist(), strict=True)]  # fmt: skip
    rows.append((f"share of {b}", *map(SHARE, other.tolist()), ""))
    columns = [Column("", TEXT), *(Column(f"{b}: {grade}", COUNT) for grade in grades)]
    columns.append(Column(f"share of {a}", COUNT))
    return Table(tuple(columns), tuple(rows), "How often they gave each two grades")


def _systems_blocks(own: Mapping[str, SystemAgreement]) -> Iterator[Block]:
    first = next(iter(own.values()))
    a, b = map(told, first.judges)
    yield _orders_table(own, first)
    if len(first.runs) > 1:
        yield _verdicts_table(own, first)
    flips = [(one.measure, flip) for one in own.values() for flip in one.flips]
    if flips:
        yield _flips_table(flips[:LISTED], len(flips), a, b)
    tables = tuple(_runs_table(one) for one in own.values())
    more = (_flips_table(flips, len(flips), a, b),) if len(flips) > LISTED else ()
    yield Details("Every system", (Drawing(_systems_figure(own)), *tables, *more))


def _orders_table(own: Mapping[str, SystemAgreement], first: SystemAgreement) -> Table:
    """Tabulate how alike the systems are ordered, and by how much means differ."""
    a, b = map(told, first.judges)
    best = [Column(f"best {first.top}", EFFECT)] if first.top else []
    columns = (
        Column("measure", TEXT), Column("tau", EFFECT), Column("redrawn", EFFECT),
        Column("tau-AP", EFFECT), *best, Column("rho", EFFECT), Column(f"{b} less {a}", SIGNED),
        Column("95 % interval", SIGNED),
    )  # fmt: skip
    rows = [
        (
            one.measure, one.tau, Interval(*one.redrawn["tau"]), one.tau_ap,
            *([one.tau_top] if best else []), one.rho, one.inflation,
            Interval(*one.inflation_interval),
        )
        for one in own.values()
    ]  # fmt: skip
    systems = counted(len(first.runs), "system", "systems")
    queries = counted(len(first.queries), "query", "queries")
    return Table(
        columns, tuple(rows), f"{systems} by {a} and by {b}, on {queries} that both judged"
    )


def _verdicts_table(own: Mapping[str, SystemAgreement], first: SystemAgreement) -> Table:
    """Tabulate which systems win, and how many significant differences stay."""
    a, b = map(told, first.judges)
    counts = (f"significant by {a}", "kept", "lost", "reversed", "gained")
    columns = (
        Column("measure", TEXT), Column(f"best by {a}", TEXT, shortens=True),
        Column(f"best by {b}", TEXT, shortens=True), *(Column(name, COUNT) for name in counts),
    )  # fmt: skip
    rows = []
    for one in own.values():
        changed = [one.count(how) for how in ("lost", "reversed", "gained")]
        kept = one.significant[0] - changed[0] - changed[1]
        best = [few(names, 2) for names in one.winners]
        rows.append((one.measure, *best, one.significant[0], kept, *changed))
    pairs = counted(len(first.verdicts[0]), "pair", "pairs")
    return Table(columns, tuple(rows), f"Who wins, and what is significant, of {pairs} of systems")


def _flips_table(flips: list[tuple[str, Flip]], total: int, a: str, b: str) -> Table:
    columns = (
        Column("measure", TEXT), Column("better", TEXT, shortens=True),
        Column("than", TEXT, shortens=True), Column("verdict", TEXT),
        Column(f"by {a}", SIGNED), Column("p", P_VALUE), Column(f"by {b}", SIGNED),
        Column("p ", P_VALUE),
    )  # fmt: skip
    rows = [
        (measure, one.better, one.worse, one.how, one.differences[0], one.p[0], one.differences[1],
         one.p[1])
        for measure, one in flips
    ]  # fmt: skip
    shown = f"{len(flips)} of " if len(flips) < total else ""
    return Table(columns, tuple(rows), f"Verdicts that differ: {shown}{total}")


def _runs_table(one: SystemAgreement) -> Table:
    a, b = map(told, one.judges)
    places = [np.argsort(np.argsort(-own, kind="stable")) + 1 for own in one.orders]
    rows = sorted(
        zip(one.runs, one.means[0].tolist(), places[0].tolist(), one.means[1].tolist(),
            places[1].tolist(), one.inflations.values(), strict=True),
        key=lambda row: row[2],
    )  # fmt: skip
    columns = (
        Column("run", TEXT, shortens=True), Column(f"by {a}"), Column("rank", COUNT),
        Column(f"by {b}"), Column("rank ", COUNT), Column("difference", SIGNED),
    )  # fmt: skip
    return Table(columns, tuple(rows), one.measure)


# --- the figures


def _confusion_figure(labels: LabelAgreement) -> Any:
    grades = [f"{grade:g}" for grade in labels.grades]
    return judge_figures.confusion(labels.judges, grades, labels.confusion.astype(int).tolist())


def _systems_figure(own: Mapping[str, SystemAgreement], measure: str = "") -> Any:
    one = own[measure] if measure else next(iter(own.values()))
    means = list(zip(one.runs, *(each.tolist() for each in one.means), strict=True))
    return judge_figures.systems(one.measure, one.judges, means, tau=one.tau, sense=one.sense)
