"""Figures of runs: means, differences and agreement. Plain numbers in, figures out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

from idealist.rendering.document import COUNT, SIGNED, TEXT, Column, Interval, Table
from idealist.rendering.figure import (
    Axis,
    Box,
    Dot,
    Figure,
    Key,
    Line,
    Mark,
    Note,
    Shape,
    Span,
    Tone,
)
from idealist.rendering.scales import axis_ends
from idealist.rendering.wording import few, number, signed, together_words, told, visible

#: Rows of a forest; of more pairs, those that differ most are drawn.
MOST_ROWS = 100
#: Names that a matrix has room for; from so many on, numbers in it have no 0 in front.
MOST_NAMES, ROOMY = 24, 12
#: What both ends of an interval are called, where nothing else is known of it.
USUAL = "95 %"


class Mean(NamedTuple):
    """A run's mean and its interval, NaN where there is none."""

    run: str
    value: float
    low: float = math.nan
    high: float = math.nan


#: What a test says of a difference; `apart` is one of a measure that is neither good nor bad.
Outcome = Literal["better", "worse", "apart", "open", "untested"]
OUTCOMES: dict[Outcome, tuple[str, Tone, Shape]] = {
    "better": ("significantly better", "win", "up"),
    "worse": ("significantly worse", "loss", "down"),
    "apart": ("significantly different", "accent", "diamond"),
    "open": ("not significant", "same", "circle"),
    "untested": ("not tested", "same", "square"),
}


class Difference(NamedTuple):
    """A difference of two runs, its interval, and what a test says; a `part` has some queries."""

    name: str
    value: float
    low: float
    high: float
    outcome: Outcome
    queries: int
    part: bool = False


def every(runs: int) -> str:
    """Say that all of so many runs are meant."""
    return "Both runs" if runs == 2 else f"All {runs} runs"


def among(values: Iterable[float]) -> str:
    """Say among how many runs one stands out, and how many of them have no value.

    >>> among([0.5, 0.25, math.nan])
    'of 3 runs (1 without a value)'
    """
    lacks = [math.isnan(value) for value in values]
    return f"of {len(lacks)} runs" + (f" ({sum(lacks)} without a value)" if any(lacks) else "")


def tops(values: Mapping[str, float], sense: int) -> list[str]:
    """Find the runs with the highest value, or the lowest where `sense` is below 0."""
    known = {run: (sense or 1) * value for run, value in values.items() if not math.isnan(value)}
    return [run for run, value in known.items() if value == max(known.values())]


def having(runs: Sequence[str]) -> str:
    """Begin a sentence about what some runs have."""
    return f"{few(list(map(told, runs)), 3)} {'has' if len(runs) == 1 else 'have'}"


def leaders(measure: str, values: Mapping[str, float], sense: int) -> str:
    """Say which runs have the best value."""
    best = tops(values, sense)
    if len(best) == len(values):
        return f"{every(len(values))} have the same {measure}"
    end = "lowest" if sense < 0 else "highest"
    return f"{having(best)} the {end} {measure} {among(values.values())}"


def tall(rows: int, each: float = 0.042) -> float:
    """Return the height of so many rows, over the width of the plot."""
    return max(0.1, each * rows + 0.02)


def intervals(
    measure: str, means: Sequence[Mean], *, sense: int = 1, about: str = "",
    baseline: str = "", confidence: str = USUAL, how: str = "", note: str = "",
) -> Figure:  # fmt: skip
    """Show means with their intervals, a row a run in the order given; the best are marked.

    `sense` is 1 where higher is better, -1 where lower is, 0 where neither; `about` says what the
    means are of, and `how` they were made where they are no plain means. A run that is the
    `baseline` of others is marked too.
    """
    best = tops({one.run: one.value for one in means}, sense)
    marked = best if sense and len(best) < len(means) else []
    left, right = axis_ends(_with_room([end for one in means for end in one[1:]]), zero=False)
    looks = [
        _BEST if one.run in marked else _BASELINE if one.run == baseline else _OTHERS
        for one in means
    ]
    marks = [mark for i, one in enumerate(means) for mark in _mean(i, one, looks[i], left)]
    between = f"{confidence} interval"
    known = any(not math.isnan(one.low) for one in means)
    cells = [(one.run, one.value, Interval(one.low, one.high)) for one in means]
    words = {_BEST: "highest" if sense > 0 else "lowest", _BASELINE: "baseline", _OTHERS: "others"}
    keys = [Key(text, *look) for look, text in words.items() if look in looks]
    return Figure(
        kind="intervals",
        title=f"{measure}, with {between}s" if known else measure,
        says=_means_said(measure, means, sense, about, between),
        x=Axis(f"{measure}, {how}" if how else measure, left, right),
        y=Axis("", names=tuple(visible(one.run) for one in means)),
        marks=tuple(marks),
        rows=Table.of(["run"], [measure, between], cells),
        keys=tuple(keys) if len(keys) > 1 else (),
        note=note,
        aspect=tall(len(means)),
    )


#: How the best runs look, the baseline, and the others.
_BEST: tuple[Tone, Shape] = ("accent", "diamond")
_BASELINE: tuple[Tone, Shape] = ("same", "square")
_OTHERS: tuple[Tone, Shape] = ("same", "circle")


def _with_room(values: Sequence[float]) -> list[float]:
    """Add room on both sides of values, though none beyond 0 and 1 where they are between."""
    known = [one for one in values if not math.isnan(one)] or [0.0, 1.0]
    low, high = min(known), max(known)
    room = (high - low) / 20
    least, most = (0.0 if low >= 0 else low - room), (1.0 if high <= 1 else high + room)
    return [*known, max(low - room, least), min(high + room, most)]


def _mean(row: int, one: Mean, look: tuple[Tone, Shape], left: float) -> Iterator[Mark]:
    y, (run, value, low, high) = row + 0.5, one
    if math.isnan(value):
        yield Note(left, y, "no value", tone="quiet")
        return
    between = "" if math.isnan(low) else f" ({number(low)} to {number(high)})"
    tone, shape = look
    if between:
        yield Span(low, y, high, y, tone=tone)
    yield Dot(value, y, shape, tone=tone, label=f"{told(run)}: {number(value)}{between}")


def _means_said(
    measure: str, means: Sequence[Mean], sense: int, about: str, between: str
) -> str:  # fmt: skip
    values = {one.run: one.value for one in means}
    best = [one for one in means if one.run in tops(values, sense)]
    if not best:
        return f"No run has a value of {measure}."
    run, value, low, high = best[0]
    said, over = number(value), f" over {about}" if about else ""
    if len(best) == 1 and not math.isnan(low):
        said += f", {between} {number(low)} to {number(high)}"
    if len(means) == 1:
        return f"{measure} of {told(run)}{over} is {said}."
    return f"{leaders(measure, values, sense)}{over}: {said}."


def forest(
    measure: str, differences: Sequence[Difference], *, against: str = "",
    rope: float | None = None, confidence: str = USUAL, together: int = 1, sense: int = 1,
    about: str = "", note: str = "",
) -> Figure:  # fmt: skip
    """Show differences with their intervals, a row each, with zero and what is too small to matter.

    `against` names the baseline, if all have the same. So many intervals hold `together`; `about`
    says what was subtracted where that is no plain mean.
    """
    drawn, left_out = _largest(differences)
    count, half = len(drawn), rope or 0.0
    left, right = axis_ends([-half, half, *(end for one in drawn for end in one[1:4])])
    band = [Box(-half, half, 0.0, count, tone="quiet", label="too small to matter")] if half else []
    zero = Line(((0.0, 0.0), (0.0, count)), tone="quiet")
    rows = [mark for i, one in enumerate(drawn) for mark in _difference(i, one)]
    known = {one.outcome for one in drawn if not math.isnan(one.value)}
    keys = [Key(*OUTCOMES[name]) for name in OUTCOMES if name in known]
    if any(not math.isnan(one.low) for one in drawn):
        keys.append(Key(f"{confidence} interval{together_words(together)}", "same", "line"))
    keys += [Key(f"at most {half:g} apart: too small to matter", "quiet")] if half else []
    less = f" less that of {told(against)}" if against else ""
    better = " (below 0 is better)" if sense < 0 else ""
    return Figure(
        kind="forest",
        title=f"Differences of {measure}" + (f" from {told(against)}" if against else ""),
        says=_differences_said(measure, differences, against, confidence, together),
        x=Axis(f"{about or measure}{less}{better}", left, right, format=SIGNED),
        y=Axis("", names=tuple(visible(one.name) for one in drawn)),
        marks=(*band, zero, *rows),
        rows=_differences_table(differences, confidence, together),
        keys=tuple(keys),
        note=" ".join(filter(None, (note, left_out))),
        aspect=tall(count),
    )


def _largest(found: Sequence[Difference]) -> tuple[Sequence[Difference], str]:
    """Keep what there is room for, and say what is left out."""
    if len(found) <= MOST_ROWS:
        return found, ""
    by_size = sorted(range(len(found)), key=lambda i: _size(found[i].value), reverse=True)
    kept = sorted(by_size[:MOST_ROWS])
    note = f"Drawn are the {MOST_ROWS} largest of {len(found)} differences; the table has all."
    return [found[i] for i in kept], note


def _size(value: float) -> float:
    return -1.0 if math.isnan(value) else abs(value)


def _difference(row: int, one: Difference) -> Iterator[Mark]:
    y = row + 0.5
    if math.isnan(one.value):
        yield Note(0.0, y, "no value", tone="quiet")
        return
    words, tone, shape = OUTCOMES[one.outcome]
    known = not math.isnan(one.low)
    between = f" ({signed(one.low)} to {signed(one.high)})" if known else ""
    if known:
        yield Span(one.low, y, one.high, y, tone=tone)
    label = f"{told(one.name)}: {signed(one.value)}{between}, {words}"
    yield Dot(one.value, y, shape, tone=tone, label=label)


def _differences_table(found: Sequence[Difference], confidence: str, together: int) -> Table:
    between = f"{confidence} {'simultaneous ' * (together > 1)}interval"
    columns = (
        Column("run", TEXT), Column("difference", SIGNED),
        Column(between, SIGNED), Column("queries", COUNT), Column("verdict", TEXT),
    )  # fmt: skip
    rows = [
        (one.name, one.value, Interval(one.low, one.high), one.queries, OUTCOMES[one.outcome][0])
        for one in found
    ]
    return Table(columns, tuple(rows))


def _differences_said(
    measure: str, found: Sequence[Difference], against: str, confidence: str, together: int
) -> str:
    whole = [one for one in found if not one.part]
    known = [one for one in whole if not math.isnan(one.value)]
    if not known:
        return f"No difference of {measure} is known."
    most = max(known, key=lambda one: abs(one.value))
    ends = f"{confidence} interval {signed(most.low)} to {signed(most.high)}"
    ends += together_words(together)
    said = signed(most.value) + ("" if math.isnan(most.low) else f", {ends}")
    if len(whole) == 1:
        pair = told(most.name) + (f" from {told(against)}" if against else "")
        return f"The difference of {measure} of {pair} is {said}: {OUTCOMES[most.outcome][0]}."
    told_of = Counter(OUTCOMES[one.outcome][0] for one in known)
    told_of["without a value"] = len(whole) - len(known)
    counts = ", ".join(f"{count} {words}" for words, count in told_of.most_common() if count)
    runs = f"runs against {told(against)}" if against else "pairs of runs"
    largest = f"the largest difference is that of {told(most.name)}, {said}"
    return f"{measure} of {len(whole)} {runs}: {counts}; {largest}."


def agreement(
    names: Sequence[str], values: Mapping[tuple[str, str], float], *, title: str, what: str,
    of: str,
) -> Figure:  # fmt: skip
    """Show how far every two of some names agree, as a matrix with shades and numbers.

    `values` are between -1 and 1, by two names in either order; NaN or absent where not known.
    `what` names the number, `of` what the names are, such as measures.
    """
    kept = list(names)[:MOST_NAMES]
    both = {(a, b): _between(values, a, b) for a, b in product(names, names)}
    cells = [_cell(kept, a, b, both[a, b]) for a, b in product(kept, kept)]
    rows = [(a, b, both[a, b]) for i, a in enumerate(names) for b in names[i + 1 :]]
    more = f"Drawn are the first {MOST_NAMES} of {len(names)} {of}; the table has all."
    return Figure(
        kind="agreement",
        title=title,
        says=_agreement_said(rows, what, of),
        x=Axis("", names=tuple(map(visible, kept))),
        y=Axis("", names=tuple(map(visible, kept))),
        marks=tuple(cells),
        rows=Table.of([of.removesuffix("s"), "and"], [what], rows),
        keys=tuple(_shades(both.values())),
        note=more if len(names) > MOST_NAMES else "",
        aspect=max(0.25, min(0.8, 0.08 * len(kept))),
    )


def _shades(values: Collection[float]) -> Iterator[Key]:
    yield Key("0 to 1", "accent", "ramp")
    if any(value < 0 for value in values):
        yield Key("0 to -1", "loss", "ramp")


def _between(values: Mapping[tuple[str, str], float], a: str, b: str) -> float:
    own = 1.0 if a == b else math.nan
    return values.get((a, b), values.get((b, a), own))


def _cell(names: Sequence[str], a: str, b: str, value: float) -> Box:
    x, y = names.index(b), names.index(a)
    ends = x + 0.02, x + 0.98, y + 0.02, y + 0.98
    if math.isnan(value):
        return Box(*ends, None, "–", tone="quiet", label=f"{told(a)} and {told(b)}: not known")
    text = number(value, 2)
    text = text if len(names) <= ROOMY else text.replace("0.", ".", 1)
    return Box(*ends, value, text, label=f"{told(a)} and {told(b)}: {number(value)}")


def _agreement_said(rows: Sequence[tuple[str, str, float]], what: str, of: str) -> str:
    known = [row for row in rows if not math.isnan(row[2])]
    if not known:
        return f"How far the {of} agree is not known for any two of them."
    (*least, low), (*most, high) = (pick(known, key=lambda row: row[2]) for pick in (min, max))
    (a, b), (c, d) = map(told, least), map(told, most)
    if len(known) == 1:
        return f"{a} and {b}: {what} is {number(low)}."
    if low == high:
        return f"All {len(known)} pairs of {of} agree alike: {what} is {number(low)}."
    return (
        f"{what[0].upper()}{what[1:]} is highest between {c} and {d}, {number(high)}, and lowest "
        f"between {a} and {b}, {number(low)}."
    )
