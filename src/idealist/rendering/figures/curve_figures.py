"""Figures with a line for each run, over cutoffs, recall, ranks or numbers of queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from idealist.notation import many
from idealist.rendering.document import COUNT, SHARE, SIGNED, TEXT, Column, Format, Interval, Table
from idealist.rendering.figure import Area, Axis, Dot, Figure, Key, Line, Mark, Note, Tone
from idealist.rendering.figures.run_figures import among, every, having, leaders, tops
from idealist.rendering.scales import axis_ends
from idealist.rendering.wording import number, told, visible

#: The tones of runs; of more runs than that, the others are drawn without colour and name.
TONES: tuple[Tone, ...] = get_args(Tone)[5:]
#: From so much between the first and the last place, an axis is divided by factors.
WIDE = 20
#: Values of a parameter.
SETTING = Format(lambda cell: f"{cell:g}")
#: Values of each run, over the same places.
Curves = Mapping[str, Sequence[float]]


def depth(
    measure: str, cutoffs: Sequence[int], curves: Curves, *, chosen: int | None = None,
    sense: int = 1, weighted: bool = False,
) -> Figure:  # fmt: skip
    """Show a measure against its cutoff, a line a run, with the cutoff that was `chosen` marked."""
    place = cutoffs.index(chosen) if chosen in cutoffs else len(cutoffs) - 1
    values = {run: own[place] for run, own in curves.items()}
    named = leading(values, sense or 1)
    low, high = axis_ends(x for own in curves.values() for x in own)
    found = [] if chosen is None else _upright(chosen, (low, high), f"@{chosen}")
    return Figure(
        kind="depth",
        title=f"{measure} by cutoff",
        says=_depth_said(measure, cutoffs, curves, place, sense),
        x=whole_axis("cutoff", cutoffs),
        y=Axis(f"{measure}{', weighted mean' * weighted}", low, high),
        marks=(*found, *_lines(cutoffs, curves, named)),
        rows=_table(curves, cutoffs, Column("cutoff", COUNT), Column(measure)),
        note=_unnamed(curves, named, f"best at {cutoffs[place]}"),
    )


def recall(levels: Sequence[float], curves: Curves, *, weighted: bool = False) -> Figure:
    """Show interpolated precision against recall, a line a run."""
    areas = {run: math.fsum(own) / len(own) for run, own in curves.items()}
    named = leading(areas, 1)
    return Figure(
        kind="recall",
        title="Precision by recall",
        says=_recall_said(areas, len(levels)),
        x=Axis("recall"),
        y=Axis(f"interpolated precision{', weighted mean' * weighted}"),
        marks=tuple(_lines(levels, curves, named)),
        rows=_table(curves, levels, Column("recall"), Column("interpolated precision")),
        note=_unnamed(curves, named, "best in the mean"),
        aspect=0.7,
    )


def coverage(
    shares: Curves, lists: Curves, top: Mapping[str, float], first: int, *, every_rank: bool = False
) -> Figure:
    """Show which share of lists has a judged document at each rank, a line a run.

    A share is NaN where no list reaches so deep; `lists` says how many do. `top` has the share that
    is judged of each run's `first` documents. Below these, ranks are drawn in bands, as single ones
    say little, unless `every_rank` is to be drawn.
    """
    reached = (i for own in shares.values() for i, one in enumerate(own, 1) if not math.isnan(one))
    ranks = range(1, max(reached, default=0) + 1)
    bands = [range(at, at + 1) for at in ranks] if every_rank else _bands(ranks, first)
    places = [(band[0] + band[-1]) / 2 for band in bands]
    curves = {run: [_pooled(own, lists[run], one) for one in bands] for run, own in shares.items()}
    named = leading(top, -1)
    note = f"Below rank {first}, a point is a band of ranks; the table has every rank."
    notes = [_unnamed(curves, named, f"least judged in the first {first}")]
    notes += [note] if len(bands) < len(ranks) else []
    return Figure(
        kind="coverage",
        title="Share judged at each rank",
        says=_coverage_said(top, first),
        x=whole_axis("rank", ranks),
        y=Axis("share judged", format=SHARE),
        marks=tuple(_lines(places, curves, named)),
        rows=_table(shares, ranks, Column("rank", COUNT), Column("share judged", SHARE)),
        note=" ".join(filter(None, notes)),
    )


def _bands(ranks: range, first: int) -> list[range]:
    """Divide ranks into single ones first, and then bands of a fifth of the rank each.

    >>> [(band[0], band[-1]) for band in _bands(range(1, 31), 10)][9:]
    [(10, 10), (11, 12), (13, 14), (15, 17), (18, 20), (21, 24), (25, 29), (30, 30)]
    """
    found = [range(at, at + 1) for at in ranks[:first]]
    at = first + 1
    while at < ranks.stop:
        end = min(at + max(at // 5, 1), ranks.stop)
        found.append(range(at, end))
        at = end
    return found


def _pooled(shares: Sequence[float], lists: Sequence[float], band: range) -> float:
    """Return the share that is judged of all documents at some ranks; NaN where there is none."""
    known = [at - 1 for at in band if at <= len(shares) and not math.isnan(shares[at - 1])]
    count = math.fsum(lists[i] for i in known)
    return math.fsum(shares[i] * lists[i] for i in known) / count if count else math.nan


class Shown(NamedTuple):
    """The difference that a number of queries shows, and its range."""

    queries: int
    difference: float
    low: float
    high: float


def power(
    measure: str, shown: Sequence[Shown], *, present: Shown | None, share: str, power: float,
    most: float = math.inf, note: str = "",
) -> Figure:  # fmt: skip
    """Show the smallest difference that is found against the number of queries.

    `present` is what the queries there are show, `share` says what the range is, and `most` is the
    largest difference there can be.
    """
    low, high = axis_ends(min(x, most) for one in shown for x in one[1:])
    cut = [one._replace(high=min(one.high, high)) for one in shown if one.difference <= high]
    band = tuple((float(one.queries), one.low, one.high) for one in cut if one.low <= one.high)
    line = tuple((float(one.queries), one.difference) for one in cut)
    now = _upright(present.queries, (low, high), f"{present.queries:,} queries") if present else []
    columns = Column("queries", COUNT), Column("difference"), Column(share)
    cells = [(one.queries, one.difference, Interval(one.low, one.high)) for one in shown]
    return Figure(
        kind="power",
        title=f"Smallest difference of {measure} that is found",
        says=_power_said(measure, present or shown[len(shown) // 2], power, most),
        x=whole_axis("queries", [one.queries for one in shown]),
        y=Axis(f"difference of {measure}", low, high),
        marks=(*([Area(band, tone="quiet")] if band else []), *now, Line(line)),
        rows=Table(columns, tuple(cells)),
        keys=(Key(share, "quiet"),) if band else (),
        note=note,
    )


class Answer(NamedTuple):
    """The mean at a value of a parameter, and the interval of its difference from the best."""

    at: float
    mean: float
    low: float
    high: float


def response(
    measure: str, parameter: str, answers: Sequence[Answer], *, best: float,
    flat: tuple[float, float], rope: float, level: str,
) -> Figure:  # fmt: skip
    """Show how the mean of a measure answers to a parameter, with the value that is `best`.

    The band is the interval of the difference from the best value. Between the ends of `flat` that
    may be chance, or is below `rope`.
    """
    top = next(one.mean for one in answers if one.at == best)
    band = tuple((one.at, top + one.low, top + one.high) for one in answers)
    low, high = axis_ends((x for one in band for x in one[1:]), zero=False)
    first, last = answers[0].at, answers[-1].at
    share = f"{level} interval of the difference from the best"
    marks = (
        Area(band, tone="quiet"), Line(((first, top), (last, top)), dashed=True, tone="quiet"),
        Line(tuple((one.at, one.mean) for one in answers)),
        *(Dot(one.at, one.mean, label=SETTING(one.at)) for one in answers),
        *_upright(best, (low, high), SETTING(best)),
    )  # fmt: skip
    cells = [(one.at, one.mean, Interval(one.low, one.high)) for one in answers]
    return Figure(
        kind="response",
        title=f"{measure} by {parameter}, on the queries that the choice was made on",
        says=_response_said(measure, parameter, best, top, flat, rope),
        x=Axis(parameter, first, last, log=0 < WIDE * first <= last, format=SETTING),
        y=Axis(f"mean {measure}", low, high),
        marks=marks,
        rows=Table(
            (Column(parameter, SETTING), Column(measure), Column(share, SIGNED)), tuple(cells)
        ),
        keys=(Key(share, "quiet"),),
    )


def _response_said(
    measure: str, parameter: str, best: float, top: float, flat: tuple[float, float], rope: float
) -> str:
    said = f"{measure} is best with {parameter} at {SETTING(best)}, {number(top)}"
    if flat[0] == flat[1]:
        return f"{said}; the values beside it are significantly worse, each by itself."
    low, high = map(SETTING, flat)
    small = f"are below {rope:g} or " if rope else ""
    return f"{said}; from {low} to {high}, all differences {small}may be chance."


def leading(values: Mapping[str, float], sense: int) -> list[str]:
    """Choose the runs that get a name and a colour: all, or of many the best.

    >>> leading({"a": 0.5, "b": float("nan"), "c": 0.7}, 1)
    ['a', 'b', 'c']
    """
    if len(values) <= len(TONES):
        return list(values)
    order = sorted(values, key=lambda run: (math.isnan(values[run]), -sense * values[run]))
    return [run for run in values if run in order[: len(TONES)]]


def _unnamed(curves: Curves, named: Sequence[str], why: str) -> str:
    rest = len(curves) - len(named)
    words = many(rest, "other run is", "other runs are")
    return f"Named are the {len(named)} runs that are {why}; {words} grey." if rest else ""


def _lines(places: Sequence[float], curves: Curves, named: Sequence[str]) -> Iterator[Mark]:
    """Draw the runs that have no name first, behind the others."""
    tones = dict(zip(named, TONES, strict=False))
    for run in sorted(curves, key=tones.__contains__):
        points = tuple(zip(map(float, places), map(float, curves[run]), strict=False))
        name, tone = visible(run) if run in tones else "", tones.get(run, "quiet")
        yield Line(points, name=name, tone=tone, label=told(run))
        if len(points) == 1:
            yield Dot(*points[0], tone=tone, label=told(run))


def _upright(x: float, between: tuple[float, float], words: str) -> list[Mark]:
    """Mark a place."""
    line = Line(((float(x), between[0]), (float(x), between[1])), dashed=True, tone="quiet")
    return [line, Note(float(x), between[1], words, tone="quiet")]


def whole_axis(label: str, places: Sequence[int]) -> Axis:
    """Make an axis of whole numbers, by factors where they are far apart."""
    low, high = (places[0], places[-1]) if places else (0, 1)
    log = low > 0 and high >= WIDE * low
    beside = 0.0 if low < high else 0.5
    whole = Format(lambda cell: f"{cell:,.0f}")
    return Axis(label, low - beside, high + beside, log=log, format=whole)


def _table(curves: Curves, places: Sequence[Any], place: Column, value: Column) -> Table:
    rows = [(run, at, x) for run, own in curves.items() for at, x in zip(places, own, strict=False)]
    return Table((Column("run", TEXT), place, value), tuple(rows))


def _depth_said(
    measure: str, cutoffs: Sequence[int], curves: Curves, place: int, sense: int
) -> str:
    at = {i: {run: own[i] for run, own in curves.items()} for i in (0, place, len(cutoffs) - 1)}
    best_at = {i: tops(values, sense) for i, values in at.items()}
    if not best_at[place]:
        return f"No run has a value of {measure}."
    best = best_at[place][0]
    if len(curves) == 1:
        all_of = (f"{number(values[best])} at cutoff {cutoffs[i]:,}" for i, values in at.items())
        return f"{measure} of {told(best)} is {', '.join(all_of)}."
    said = f"{leaders(measure, at[place], sense)} at cutoff {cutoffs[place]:,}"
    others = [
        f"{having(own)} it at {cutoffs[i]:,}"
        for i, own in best_at.items()
        if own and not set(own) & set(best_at[place])
    ]
    also = f"; {' and '.join(others)}" if others else ""
    return f"{said}, {number(at[place][best])}{also}."


def _recall_said(means: Mapping[str, float], levels: int) -> str:
    best = tops(means, 1)
    if not best:
        return "No run has a value of interpolated precision."
    over = many(levels, "level", "levels")
    mean = f"in the mean of {over} of recall, {number(means[best[0]])}"
    if len(means) == 1:
        return f"Interpolated precision of {told(best[0])}, {mean}."
    return f"{leaders('interpolated precision', means, 1)} {mean}."


def _coverage_said(top: Mapping[str, float], first: int) -> str:
    leasts, mosts = tops(top, -1), tops(top, 1)
    if not mosts:
        return "No run has a document that could be judged."
    least, most = leasts[0], mosts[0]
    said = f"of its first {first} documents, {SHARE(top[least])} are judged"
    if len(top) == 1:
        return f"{told(least)}: {said}."
    if len(mosts) == len(top):
        share = f"{SHARE(top[least])} of the first {first} documents"
        return f"{every(len(top))} are judged alike: {share}."
    others = f", and {SHARE(top[most])} of those of {told(most)}" if most not in leasts else ""
    return f"{told(least)} is judged least {among(top.values())}: {said}{others}."


def none_shown(queries: int, measure: str) -> str:
    """Say that not even the largest difference there can be is found."""
    return f"{queries:,} queries are too few to show any possible difference in {measure}"


def _power_said(measure: str, one: Shown, power: float, most: float) -> str:
    if one.difference > most:
        return f"{none_shown(one.queries, measure)}."
    shown = f"a difference of {number(one.difference)} in {measure}"
    return f"{one.queries:,} queries show {shown} in {100 * power:g} % of cases."
