"""Figures of two runs, query by query: their differences in order, and one against the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from idealist.rendering.document import COUNT, SIGNED, TEXT, Column, Table
from idealist.rendering.figure import (
    Area,
    Axis,
    Box,
    Dot,
    Figure,
    Key,
    Line,
    Mark,
    Note,
    Shape,
    Tone,
)
from idealist.rendering.scales import axis_ends
from idealist.rendering.wording import clipped, counted, few, number, signed, together_words, told

#: How many queries have a bar each; of more, so many at either end have one.
MOST_BARS, BARS_AT_ENDS = 300, 30
#: How many bars have the names of their queries below them, and room at their sides.
NAMED_BARS, BETWEEN_BARS = 40, 0.06
#: How many points draw the outline of the others.
OUTLINE = 200
#: How many places have a dot; of more, queries are counted in so many fields across and up.
MOST_DOTS, FIELDS = 2000, 32
#: How strong a field is at least.
PALEST = 0.15
#: How many of the largest changes have a dot then, on either side.
DOTS_KEPT = 10
#: Of dots for at least so many queries, so many say how many.
WORTH_A_NUMBER, NUMBERED = 5, 12
#: The room around the dots, as a share of the axis, so that none stands on the edge.
MARGIN = 0.04
#: The longest text of a query in a label.
LONGEST_TEXT = 80

#: What became of a query, by its tone: where there is a better, and where there is not.
WORDS: dict[bool, dict[Tone, str]] = {
    True: {"win": "better", "loss": "worse", "same": "the same"},
    False: {"win": "higher", "loss": "lower", "same": "the same"},
}
SHAPES: dict[Tone, Shape] = {"win": "up", "loss": "down", "same": "circle"}


def with_text(query: str, texts: Mapping[str, str]) -> str:
    """Name a query, with its text if it has one."""
    text = clipped(texts.get(query, ""), LONGEST_TEXT)
    return f"{told(query)} ({text})" if text else told(query)


@dataclass(frozen=True)
class BeforeAfter:
    """What two runs give the same queries by one measure, and how far apart they are.

    `differences` are run - baseline. `sense` is 1 where higher is better, -1 where lower is, 0
    where neither. `interval` is that of the `mean` difference, with so much `confidence`, and of so
    many that hold `together`; `rope` is the difference too small to matter. `undefined` names
    queries that a run has no value for.
    """

    measure: str
    baseline: str
    run: str
    queries: Sequence[str]
    before: Sequence[float]
    after: Sequence[float]
    differences: Sequence[float]
    sense: int = 1
    mean: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    confidence: str = "95 %"
    together: int = 1
    rope: float | None = None
    weighted: bool = False
    undefined: Sequence[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @cached_property
    def ranked(self) -> list[int]:
        """The places of queries with a difference, from best to worst."""
        known = [i for i, value in enumerate(self.differences) if math.isfinite(value)]
        return sorted(known, key=self.favour, reverse=True)

    def favour(self, i: int) -> float:
        """Return the difference of a query, above 0 where the run is better."""
        return self.differences[i] * (self.sense or 1)

    def tone(self, i: int) -> Tone:
        """Say what became of a query."""
        return "win" if self.favour(i) > 0 else "loss" if self.favour(i) < 0 else "same"

    def counts(self, places: Sequence[int]) -> dict[str, int]:
        """Count what became of some queries, in words."""
        tones = [self.tone(i) for i in places]
        return {words: tones.count(tone) for tone, words in WORDS[bool(self.sense)].items()}

    def keys(self, samples: Mapping[Tone, Shape] | None = None) -> tuple[Key, ...]:
        """Say what the tones mean, and of how many queries."""
        counts = zip(SHAPES, self.counts(self.ranked).items(), strict=True)
        return tuple(
            Key(f"{words} ({count:,})", tone, samples[tone] if samples else "box")
            for tone, (words, count) in counts
            if count
        )

    def label(self, i: int) -> str:
        """Name a query with its text, and say what became of it."""
        return f"{with_text(self.queries[i], self.texts)}: {self.change(i)}"

    def change(self, i: int) -> str:
        """Write what a query had, what it has now, and the difference."""
        values = f"{number(self.before[i])} → {number(self.after[i])}"
        return f"{values} ({signed(self.differences[i])})"

    @property
    def standing(self) -> str:
        """Say on how many queries the run is better, and on how many worse."""
        n, (better, worse, same) = len(self.ranked), self.counts(self.ranked).items()
        by, of = f"By {self.measure}, {self.run}", counted(n, "query", "queries")
        if not n:
            return f"No query has a value of {self.measure} by both {self.baseline} and {self.run}"
        if n == same[1]:
            every = f"all {of}" if n > 1 else "the only query"
            return f"{by} is the same as {self.baseline} on {every}"
        rest = ", ".join(f"{words} on {count:,}" for words, count in (worse, same) if count)
        first = f"{by} is {better[0]} than {self.baseline} on {better[1]:,} of {of}"
        return ", ".join(filter(None, (first, rest)))

    @property
    def apart(self) -> str:
        """Write the mean difference with its interval."""
        low, high = self.interval
        ends = f"{signed(low)} to {signed(high)}"
        said = f"{self.confidence} interval {ends}{together_words(self.together)}"
        within = "" if math.isnan(low) else f" ({said})"
        return f"{self.mean_words} difference {signed(self.mean)}{within}"

    @property
    def mean_words(self) -> str:
        """Name the mean."""
        return "weighted mean" if self.weighted else "mean"

    @property
    def rows(self) -> Table:
        """All numbers, from best to worst; queries without a difference come last."""
        order = list(dict.fromkeys([*self.ranked, *range(len(self.queries))]))
        columns = [Column("query", TEXT, shortens=True), Column("text", TEXT, shortens=True)]
        columns += [Column("baseline's"), Column("run's"), Column("difference", SIGNED)]
        texts = [self.texts.get(query, "") for query in self.queries]
        values = (self.before, self.after, self.differences)
        cells = list(zip(self.queries, texts, *values, strict=True))
        table = Table(tuple(columns), tuple(cells[i] for i in order))
        return table if self.texts else table.without(["text"])

    @property
    def left_out(self) -> str:
        """Say which queries are not shown."""
        known = set(self.ranked)
        gone = [query for i, query in enumerate(self.queries) if i not in known]
        names = list(map(told, (*gone, *self.undefined)))
        words = counted(len(names), "query is", "queries are")
        return f"{words} not shown, without a value by one run: {few(names)}." if names else ""


# --- differences in order


def differences(pair: BeforeAfter) -> Figure:
    """Draw the difference of each query, from best to worst, with the mean and its interval."""
    order = "from best to worst" if pair.sense else "from most raised to most lowered"
    drawn = _squeezed if len(pair.ranked) > MOST_BARS else _singly
    x, bars, note = drawn(pair, f"queries, {order}")
    width = len(x.names) or x.high
    known = [pair.differences[i] for i in pair.ranked]
    low, high = axis_ends([*known, *pair.interval, pair.mean, -(pair.rope or 0), pair.rope or 0])
    better = {1: "", -1: " (below 0 is better)", 0: ""}[pair.sense]
    about = f"{pair.measure}: {pair.run} − {pair.baseline}"
    return Figure(
        kind="differences",
        title=f"{about}, query by query",
        says=f"{pair.standing}{'' if math.isnan(pair.mean) else f'; {pair.apart}'}.",
        x=x,
        y=Axis(f"difference in {pair.measure}{better}", low, high, format=SIGNED),
        marks=(*_behind(pair, width), *bars, *_in_front(pair, width)),
        rows=pair.rows,
        keys=(*pair.keys(), *_difference_keys(pair)),
        note=" ".join(filter(None, (note, pair.note, pair.left_out))),
    )


def _singly(pair: BeforeAfter, label: str) -> tuple[Axis, list[Mark], str]:
    """Give each query a bar, and its name where there are few."""
    ranked, n = pair.ranked, len(pair.ranked)
    names = tuple(pair.queries[i] for i in ranked) if n <= NAMED_BARS else ()
    gap = BETWEEN_BARS if names else 0.0
    bars: list[Mark] = [_bar(pair, i, at + gap, at + 1 - gap) for at, i in enumerate(ranked)]
    return Axis(label, 0.0, max(n, 1), names, format=COUNT), bars, ""


def _bar(pair: BeforeAfter, i: int, x0: float, x1: float) -> Mark:
    """Draw the difference of a query; none is a stroke that can be pointed at all the same."""
    value, label, query = pair.differences[i], pair.label(i), pair.queries[i]
    if not value:
        return Line(((x0, 0.0), (x1, 0.0)), tone="same", label=label, query=query)
    ends = (min(value, 0.0), max(value, 0.0))
    return Box(x0, x1, *ends, tone=pair.tone(i), label=label, query=query)


def _squeezed(pair: BeforeAfter, label: str) -> tuple[Axis, list[Mark], str]:
    """Give the best and the worst a bar each in bands of their own, the others an outline."""
    ends, rest = BARS_AT_ENDS, len(pair.ranked) - 2 * BARS_AT_ENDS
    high, low = ("best", "worst") if pair.sense else ("most raised", "most lowered")
    names = (f"{ends} {high}", f"{rest:,} others", f"{ends} {low}")
    first, last = pair.ranked[:ends], pair.ranked[-ends:]
    bars = [_bar(pair, i, at / ends, (at + 1) / ends) for at, i in enumerate(first)]
    bars += [_bar(pair, i, 2 + at / ends, 2 + (at + 1) / ends) for at, i in enumerate(last)]
    note = (
        f"The {ends} {high} and the {ends} {low} queries have a bar each; "
        f"the {rest:,} others are one outline, squeezed together."
    )
    return Axis(label, 0.0, 3.0, names), [*_outline(pair, pair.ranked[ends:-ends]), *bars], note


def _outline(pair: BeforeAfter, places: Sequence[int]) -> Iterator[Area]:
    """Outline the bars of many queries in the band from 1 to 2, those of each tone apart."""
    for tone, words in WORDS[bool(pair.sense)].items():
        own = [at for at, i in enumerate(places) if pair.tone(i) == tone]
        if not own or tone == "same":
            continue
        step = max(1, len(own) // OUTLINE)
        values = [(at, pair.differences[places[at]]) for at in (*own[::step], own[-1])]
        points = [(1 + (at + 0.5) / len(places), min(d, 0.0), max(d, 0.0)) for at, d in values]
        reach = f"{signed(values[0][1])} to {signed(values[-1][1])}"
        label = f"{counted(len(own), 'query', 'queries')} {words}: {reach}"
        yield Area(tuple(points), tone=tone, label=label)


def _behind(pair: BeforeAfter, width: float) -> Iterator[Mark]:
    """Draw the bands behind the bars: what is too small to matter, and the interval."""
    if pair.rope:
        label = f"too small to matter: at most {pair.rope:g}"
        yield Box(0.0, width, -pair.rope, pair.rope, tone="quiet", label=label)
    if not math.isnan(pair.interval[0]):
        ends = ((0.0, *pair.interval), (width, *pair.interval))
        yield Area(ends, tone="accent", label=pair.apart)


def _in_front(pair: BeforeAfter, width: float) -> Iterator[Mark]:
    """Draw the mean and the ends of its interval across the bars."""
    lines = [(end, True) for end in pair.interval] + [(pair.mean, False)]
    for y, dashed in lines:
        if not math.isnan(y):
            yield Line(((0.0, y), (width, y)), dashed, tone="accent", label=pair.apart)


def _difference_keys(pair: BeforeAfter) -> Iterator[Key]:
    if not math.isnan(pair.mean):
        yield Key(f"{pair.mean_words} {signed(pair.mean)}", "accent", "line")
    if not math.isnan(pair.interval[0]):
        words = f"{pair.confidence} interval{together_words(pair.together)}"
        yield Key(words, "accent", "dashed")
    if pair.rope:
        yield Key(f"too small to matter (±{pair.rope:g})", "quiet")


# --- one run against the other


def scatter(pair: BeforeAfter) -> Figure:
    """Draw what the run gives each query against what the baseline gives it."""
    ends = axis_ends(value for i in pair.ranked for value in (pair.before[i], pair.after[i]))
    room = MARGIN * (ends[1] - ends[0])
    low, high = ends[0] - room, ends[1] + room
    places = _places(pair)
    marks, note = (_fields if len(places) > MOST_DOTS else _dots)(pair, places, *ends)
    diagonal = Line(((low, low), (high, high)), True, tone="quiet", label="both equal")
    return Figure(
        kind="scatter",
        title=f"{pair.measure}: {pair.run} against {pair.baseline}",
        says=f"{pair.standing}{_extremes(pair)}.",
        x=Axis(f"{pair.measure} of {pair.baseline}", low, high),
        y=Axis(f"{pair.measure} of {pair.run}", low, high),
        marks=(diagonal, *marks),
        rows=pair.rows,
        keys=(*pair.keys(SHAPES), Key("both equal", "quiet", "dashed")),
        note=" ".join(filter(None, (note, pair.left_out))),
        aspect=0.8,
    )


def _extremes(pair: BeforeAfter) -> str:
    """Name the query that won most, and the one that lost most."""
    won, lost = ("win", "loss") if pair.sense else ("rise", "fall")
    ends: dict[Tone, tuple[str, int]] = {"win": (won, 0), "loss": (lost, -1)}
    named = ""
    for tone, (word, end) in ends.items():
        if pair.ranked and pair.tone(i := pair.ranked[end]) == tone:
            name = told(pair.queries[i])
            named += f"; largest {word} {name} ({signed(pair.differences[i])})"
    return named


def _dots(
    pair: BeforeAfter, groups: Sequence[Sequence[int]], low: float, high: float
) -> tuple[list[Mark], str]:
    """Give each place a dot, a wider one where several queries share it."""
    raised = MARGIN / 2 * (high - low)  # above the lines of the grid
    marks: list[Mark] = [_dot(pair, group) for group in groups]
    marks += [
        Note(pair.before[group[0]] + raised / 3, pair.after[group[0]] + raised, f"{len(group):,}")
        for group in groups[:NUMBERED]
        if len(group) >= WORTH_A_NUMBER
    ]
    shared = sum(len(group) > 1 for group in groups)
    several = counted(shared, "dot stands", "dots stand")
    words = f"{several} for several queries with the same values, the wider the more."
    return marks, words if shared else ""


def _places(pair: BeforeAfter) -> list[list[int]]:
    """Group queries with the same two values, the largest groups first."""
    places: dict[tuple[float, float], list[int]] = {}
    for i in pair.ranked:
        places.setdefault((round(pair.before[i], 9), round(pair.after[i], 9)), []).append(i)
    return sorted(places.values(), key=len, reverse=True)


def _dot(pair: BeforeAfter, group: Sequence[int]) -> Dot:
    i, count = group[0], len(group)
    names = few([told(pair.queries[one]) for one in group])
    label = pair.label(i) if count == 1 else f"{count} queries ({names}): {pair.change(i)}"
    return Dot(
        pair.before[i], pair.after[i], SHAPES[pair.tone(i)], 1 + math.log10(count),
        tone=pair.tone(i), label=label, query=pair.queries[i] if count == 1 else "",
    )  # fmt: skip


def _fields(
    pair: BeforeAfter, groups: Sequence[Sequence[int]], low: float, high: float
) -> tuple[list[Mark], str]:
    """Count queries in fields; those that changed most keep a dot of their own."""
    step = (high - low) / FIELDS
    fields: dict[tuple[int, int], list[int]] = {}
    for i in pair.ranked:
        at = tuple(min(int((v - low) / step), FIELDS - 1) for v in (pair.before[i], pair.after[i]))
        fields.setdefault((at[0], at[1]), []).append(i)
    most = math.log1p(max(map(len, fields.values())))
    marks: list[Mark] = []
    for (a, b), own in fields.items():
        shade = PALEST + (1 - PALEST) * math.log1p(len(own)) / most
        marks.append(_field(pair, own, (low + a * step, low + b * step), step, shade))
    places = sorted(groups, key=lambda group: pair.favour(group[0]))
    ends = (*places[:DOTS_KEPT], *places[-DOTS_KEPT:])
    marks += [_dot(pair, group) for group in ends if pair.tone(group[0]) != "same"]
    return marks, (
        f"{len(pair.ranked):,} queries are counted in fields, stronger by the logarithm of their "
        f"number; the {DOTS_KEPT} largest changes on either side have a dot too."
    )


def _field(
    pair: BeforeAfter, own: Sequence[int], corner: tuple[float, float], step: float, shade: float
) -> Box:
    """Draw a field: on one side of the diagonal all queries are better, across it they differ."""
    (x, y), counts = corner, pair.counts(own)
    tones = {pair.tone(i) for i in own}
    ended = ", ".join(f"{count} {words}" for words, count in counts.items() if count)
    values = f"{number(x, 2)} to {number(x + step, 2)} → {number(y, 2)} to {number(y + step, 2)}"
    label = f"{counted(len(own), 'query', 'queries')}, {values}: {ended}"
    tone: Tone = tones.pop() if len(tones) == 1 else "same"
    return Box(x, x + step, y, y + step, shade, tone=tone, label=label)
