"""The tables and figures of an agreement of judges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from idealist.judging.agreeing.label_agreement import WORDS, LabelAgreement
from idealist.judging.agreeing.system_agreement import Flip, SystemAgreement
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
    Drawing,
    Interval,
    Table,
)
from idealist.rendering.figure import Figure
from idealist.rendering.figures import judge_figures
from idealist.rendering.wording import counted, few, told

#: Flipped pairs of runs that are listed at once; all of them are details.
LISTED = 5


def labels_table(labels: LabelAgreement) -> Table:
    """Tabulate the statistics of two judges, with intervals."""
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


def confusion_table(labels: LabelAgreement) -> Table:
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


def systems_blocks(own: Mapping[str, SystemAgreement]) -> Iterator[Block]:
    """Show how two judges rank the systems, measure by measure."""
    first = next(iter(own.values()))
    a, b = map(told, first.judges)
    yield _orders_table(own, first)
    if len(first.runs) > 1:
        yield _verdicts_table(own, first)
    flips = [(one.measure, flip) for one in own.values() for flip in one.flips]
    if flips:
        yield _flips_table(flips[:LISTED], len(flips), a, b)
    tables = tuple(_runs_table(one) for one in own.values())
    more = (_flips_table(flips[LISTED:], len(flips), a, b),) if len(flips) > LISTED else ()
    yield Details("Every system", (Drawing(systems_figure(own)), *tables, *more))


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
    places = [1 + (own > own[:, None]).sum(axis=1) for own in one.orders]  # equal ones share
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


def confusion_figure(labels: LabelAgreement) -> Figure:
    """Draw the grades of one judge by those of the other."""
    grades = [f"{grade:g}" for grade in labels.grades]
    return judge_figures.confusion(labels.judges, grades, labels.confusion.astype(int).tolist())


def systems_figure(own: Mapping[str, SystemAgreement], measure: str = "") -> Figure:
    """Draw the means of the systems by both judges; of the first measure, unless one is named."""
    one = own[measure] if measure else next(iter(own.values()))
    means = list(zip(one.runs, *(each.tolist() for each in one.means), strict=True))
    return judge_figures.systems(one.measure, one.judges, means, tau=one.tau, sense=one.sense)


def pairs_table(pairs: Collection[LabelAgreement]) -> Table:
    """Tabulate how far every two judges agree."""
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
        for one in pairs
    ]  # fmt: skip
    return Table(columns, tuple(rows), "Every two judges")
