"""Figures of the values of runs, query by query: how they spread, and where all runs fail."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

from idealist.errors import UsageError
from idealist.rendering.document import COUNT, SIGNED, TEXT, VALUE, Column, Format, Table
from idealist.rendering.drawing.shapes import MOST
from idealist.rendering.figure import Axis, Box, Figure, Key, Line, Mark, Tone
from idealist.rendering.figures.query_figures import with_text
from idealist.rendering.figures.run_figures import tall
from idealist.rendering.scales import HUGE, axis_ends, round_step
from idealist.rendering.wording import counted, few, number, told

#: The fewest and the most bins of a histogram.
FEWEST_BINS, MOST_BINS = 5, 40
#: The share of the queries of a run that makes a single value, such as 0, common.
COMMON = 0.1
#: The share of a run's band that its tallest bar takes.
TALLEST = 0.85
#: The room of a digit, and beside a number, as shares of the bins.
DIGIT, GAP = 0.046, 0.01
#: Where the highest value found is less than the highest possible by this factor, what is found
#: is the scale.
FAR = 5
#: The most queries, and the most cells, that a map of queries shows one by one.
MOST_COLUMNS, MOST_CELLS = 300, 6000
#: The most queries that have their name below, and of which the values are written in the cells.
NAMED_COLUMNS, WRITTEN_COLUMNS = 60, 15


@dataclass(frozen=True)
class QueryValues:
    """The values of runs by one measure, a row a run; NaN where a run has none for a query.

    With a `baseline`, they are differences from it. Where queries are `weighted`, they are drawn
    without their weights. `sense` is 1 where higher is better, -1 where lower is, 0 where neither;
    `limits` is the range that values never leave.
    """

    measure: str
    runs: Sequence[str]
    queries: Sequence[str]
    values: Sequence[Sequence[float]]
    sense: int = 1
    limits: tuple[float, float] = (-math.inf, math.inf)
    baseline: str = ""
    weighted: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def format(self) -> Format:
        """How the values are written."""
        return SIGNED if self.baseline else VALUE

    @property
    def name(self) -> str:
        """What the values are."""
        return (
            f"difference in {self.measure} from {self.baseline}" if self.baseline else self.measure
        )

    def of_query(self, place: int) -> list[float]:
        """Return the values that runs have for a query."""
        return finite_of([row[place] for row in self.values])

    def table(self, order: Sequence[int], means: bool = False) -> Table:
        """Tabulate all values, a row a query and a column a run."""
        names = ["query", *(["text"] if self.texts else [])]
        own = names + (["mean"] if means else [])
        numbers = own[len(names) :] + [f"{run} (run)" if run in own else run for run in self.runs]
        columns = [Column(name, TEXT, shortens=True) for name in names]
        columns += [Column(name, self.format) for name in numbers]
        rows = []
        for i in order:
            named = [self.queries[i], self.texts.get(self.queries[i], "")][: len(names)]
            mean = [_mean(self.of_query(i))] if means else []
            rows.append((*named, *mean, *(row[i] for row in self.values)))
        return Table(tuple(columns), tuple(rows))


def finite_of(values: Sequence[float]) -> list[float]:
    """Leave out what is no number, or so large that sums are none."""
    return [value for value in values if abs(value) < HUGE]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


# --- how values spread


def spread(given: QueryValues) -> Figure:
    """Draw a histogram of each run, one below the other over the same bins.

    Rows, not lines over each other: twelve lines cannot be told apart, and rows of the same scale
    can be compared at a glance.
    """
    known = [finite_of(row) for row in given.values]
    bins = Bins.of(given)
    most = max((count for own in known for count in bins.counts(own).values()), default=0)
    marks: list[Mark] = [*_singles(given, known, bins)]
    for row, own in enumerate(known):
        marks += _bars(given, row, own, bins, most)
    return Figure(
        kind="spread",
        title=f"How {'the ' * bool(given.baseline)}{given.name} spreads over queries",
        says=_spread_says(given, known),
        x=Axis(given.name, *bins.ends, format=given.format),
        y=Axis(f"queries; the tallest bar has {most:,}", 0.0, len(given.runs), tuple(given.runs)),
        marks=tuple(marks),
        rows=given.table(range(len(given.queries))),
        keys=tuple(_spread_keys(given, {bar.tone for bar in marks})),
        note=" ".join(filter(None, (bins.words, _undefined(given)))),
        aspect=min(0.12 + 0.13 * len(given.runs), 0.5 + 0.03 * len(given.runs)),
    )


@dataclass(frozen=True)
class Bins:
    """Bins of one `width` that begin at 0.

    Values that are common are counted `apart`, where there is `room`: 0 before the bins, the
    highest value beyond them. They go `by_rule`, unless that would make too many or too few.
    """

    width: float
    low: float
    high: float
    room: float
    apart: tuple[float, ...]
    by_rule: bool

    @classmethod
    def of(cls, given: QueryValues) -> Bins:
        """Choose bins by the rule of Freedman and Diaconis, rounded, within bounds."""
        rows = list(map(finite_of, given.values))
        highest = math.inf if given.baseline else given.limits[1]
        apart = [one for one in (0.0, highest) if any(_is_common(one, row) for row in rows)]
        if given.baseline and any(0.0 in row for row in rows):  # which is neither better nor worse
            apart = [0.0]
        low, high = axis_ends(value for row in rows for value in row)
        if given.limits == (0.0, 1.0) and FAR * high > 1 and low >= 0 and not given.baseline:
            high = 1.0
        others = [[value for value in row if value not in apart] for row in rows]
        usual = [2 * _quartiles(row)[2] / len(row) ** (1 / 3) for row in others if row]
        rule, least = statistics.median(usual or [0.0]), (high - low) / MOST_BINS
        most = (high - low) / FEWEST_BINS / 2  # as rounding at most doubles it
        width = round_step(min(max(rule, least), most))
        first, last = math.floor(low / width + 1e-9) * width, math.ceil(high / width - 1e-9) * width
        digits = max((len(f"{row.count(one):,}") for row in rows for one in apart), default=0)
        room = (DIGIT * digits + 2 * GAP) * (last - first)
        return cls(width, first, last, room, tuple(apart), least <= rule <= most)

    @property
    def ends(self) -> tuple[float, float]:
        """Where the axis begins and ends."""
        starts = [*self.columns.values()]
        return min([self.low, *starts]), max([self.high, *(x + self.room for x in starts)])

    @property
    def columns(self) -> dict[float, float]:
        """Where the columns begin of values that are counted apart."""
        return {one: self.high if one else self.low - self.room for one in self.apart}

    def counts(self, values: Sequence[float]) -> dict[tuple[float, float], int]:
        """Count values by bins, (from, to), but for those that are counted apart."""
        last = round((self.high - self.low) / self.width) - 1  # which holds its upper end too
        found: dict[tuple[float, float], int] = {}
        for value in (value for value in values if value not in self.apart):
            at = min(max(math.floor((value - self.low) / self.width + 1e-9), 0), last)
            within = (self.low + at * self.width, self.low + (at + 1) * self.width)
            found[within] = found.get(within, 0) + 1
        return found

    @property
    def words(self) -> str:
        """Say how the bins were chosen, and what is counted apart."""
        beside = " and ".join(f"exactly {one:g}" for one in self.apart)
        verb = "is" if len(self.apart) == 1 else "are"
        rule = ", by the rule of Freedman and Diaconis" if self.by_rule else ""
        words = f"Bins are {self.width:g} wide{rule}"
        return f"{words}; {beside} {verb} counted beside them." if beside else f"{words}."


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the quartiles, and what is between them."""
    if len(values) < 2:
        return values[0], values[0], 0.0
    low, _, high = statistics.quantiles(values, method="inclusive")
    return low, high, high - low


def _is_common(value: float, row: Sequence[float]) -> bool:
    return len(row) > 1 and row.count(value) >= COMMON * len(row)


def _singles(given: QueryValues, known: Sequence[Sequence[float]], bins: Bins) -> Iterator[Box]:
    """Count common single values in a column of their own, a cell a run."""
    gap = GAP * (bins.high - bins.low)
    for (value, x), (row, own) in product(bins.columns.items(), enumerate(known)):
        count = own.count(value)
        yield Box(
            x + gap, x + bins.room - gap, row + 1 - TALLEST, row + 1,
            count / max(1, len(own)), f"{count:,}", tone=_bin_tone(given, value, value),
            label=f"{told(given.runs[row])}, exactly {value:g}: {count:,} of {len(own):,}",
        )  # fmt: skip


def _bars(
    given: QueryValues, row: int, values: Sequence[float], bins: Bins, most: int
) -> Iterator[Mark]:
    """Draw the bars of one run in its band, and its mean."""
    floor, of = row + 1.0, counted(len(values), "query", "queries")
    for (low, high), count in sorted(bins.counts(values).items()):
        reach = f"{given.format(low)} to {given.format(high)}"
        label = f"{told(given.runs[row])}, {reach}: {count:,} of {of}"
        top = floor - TALLEST * count / most
        yield Box(low, high, top, floor, tone=_bin_tone(given, low, high), label=label)
    if values:
        mean = _mean(values)
        line = ((mean, floor), (mean, floor - (1 + TALLEST) / 2))
        yield Line(line, tone="accent", label=f"{told(given.runs[row])}: mean {given.format(mean)}")


def _bin_tone(given: QueryValues, low: float, high: float) -> Tone:
    """Say what a bin holds: differences to the better, to the worse, or values."""
    if not given.baseline:
        return "1"
    middle = (low + high) * (given.sense or 1)
    return "win" if middle > 0 else "loss" if middle < 0 else "same"


def _spread_keys(given: QueryValues, tones: Collection[Tone]) -> Iterator[Key]:
    words = ("better", "worse") if given.sense else ("higher", "lower")
    named: dict[Tone, str] = {"win": words[0], "loss": words[1], "same": "the same"}
    yield from (Key(text, tone) for tone, text in named.items() if tone in tones)
    yield Key("mean without weights" if given.weighted else "mean", "accent", "line")


def _spread_says(given: QueryValues, known: Sequence[Sequence[float]]) -> str:
    """Say where the middle of the values is."""
    found = [(run, own) for run, own in zip(given.runs, known, strict=True) if own]
    if not found:
        return f"No query has a value of {given.measure}."
    if len(found) == 1:
        return _middle_says(given, *found[0])
    medians = {run: statistics.median(own) for run, own in found}
    least, most = min(medians.values()), max(medians.values())
    if least == most:
        same = f"{len(found)} runs have the same median {given.name} over queries"
        return f"{same}, {given.format(most)}."
    top, bottom = (
        [told(run) for run, middle in medians.items() if middle == end] for end in (most, least)
    )
    verb = "has" if len(top) == 1 else "have"
    highest = f"{few(top, 3)} ({given.format(most)}) {verb} the highest median {given.name}"
    lowest = f"{few(bottom, 3)} ({given.format(least)}) the lowest"
    return f"Of {len(found)} runs, {highest} over queries, {lowest}."


def _middle_says(given: QueryValues, run: str, own: Sequence[float]) -> str:
    """Say of one run where the middle half of its values is, and how often they are 0 or full."""
    low, high, _ = _quartiles(own)
    middle, first, last = map(given.format, (statistics.median(own), low, high))
    single = {0.0} if given.baseline else {0.0, *finite_of(given.limits)}
    counts = [f", exactly {one:g} on {own.count(one):,}" for one in sorted(single) if one in own]
    often = "".join(counts).replace(",", ";", 1)
    over = counted(len(own), "query", "queries")
    about = f"The {given.name} of {told(run)} over {over}"
    return f"{about}: median {middle}, quartiles {first} and {last}{often}."


def _undefined(given: QueryValues) -> str:
    """Say which queries lack a value."""
    lacking = [
        told(query)
        for place, query in enumerate(given.queries)
        if len(given.of_query(place)) < len(given.runs)
    ]
    words = counted(len(lacking), "query has", "queries have")
    return f"{words} no value by some run: {few(lacking)}." if lacking else ""


# --- where all runs fail


def heat(given: QueryValues, page: int | None = None) -> Figure:
    """Draw a cell for each run and query, the hardest query first; of many, groups, or a page."""
    every = [place for place in range(len(given.queries)) if given.of_query(place)]
    hardness = {place: _mean(given.of_query(place)) * (given.sense or 1) for place in every}
    order = sorted(every, key=hardness.__getitem__)
    most = max(1, min(MOST_COLUMNS, MOST_CELLS // max(1, len(given.runs))))
    starts, note = _columns(len(order), most, page)
    first, top = "hardest" if given.sense else "lowest", _darkest(given)
    return Figure(
        kind="heat",
        title=f"{given.measure} of every run and query, {first} queries first",
        says=_heat_says(given, order, first),
        x=_queries_axis(f"queries, {first} first", given, order, starts),
        y=Axis("", 0.0, float(len(given.runs)), tuple(given.runs)),
        marks=tuple(_grouped(list(_cells(given, order, starts, top)))),
        rows=given.table(list(dict.fromkeys([*order, *range(len(given.queries))])), means=True),
        keys=tuple(_heat_keys(given, top)),
        note=" ".join(filter(None, (note, _undefined(given)))),
        aspect=tall(len(given.runs)),
    )


def _columns(n: int, most: int, page: int | None) -> tuple[list[int], str]:
    """Say where columns begin, the end of the last included, and what a column is."""
    pages = max(1, math.ceil(n / most))
    if page is not None:
        if not isinstance(page, int) or not 1 <= page <= pages:
            raise UsageError(f"there is no page {page!r}", f"give a page from 1 to {pages}")
        first, last = (page - 1) * most, min(page * most, n)
        words = f"Page {page} of {pages}: queries {first + 1:,} to {last:,} of {n:,}."
        return list(range(first, last + 1)), words if pages > 1 else ""
    if n <= most:
        return list(range(n + 1)), ""
    starts = [n * j // most for j in range(most + 1)]
    size = f"{n // most}" if n % most == 0 else f"{n // most} or {n // most + 1}"
    words = f"Each column is the mean of {size} of the {n:,} queries, grouped by how hard they are"
    return starts, f"{words}; page 1 shows the first {most} one by one."


def _queries_axis(
    label: str, given: QueryValues, order: Sequence[int], starts: Sequence[int]
) -> Axis:
    """Name the queries where there are few, and count them where there are many."""
    low, high = starts[0], starts[-1]
    if not 0 < len(order) <= NAMED_COLUMNS:
        return Axis(label, float(low), float(max(high, low + 1)), format=COUNT)
    return Axis(label, 0.0, float(len(order)), tuple(given.queries[i] for i in order))


def _darkest(given: QueryValues) -> float:
    """Return what is drawn darkest: the highest value possible, or found where that is far off."""
    found = max((abs(value) for row in given.values for value in finite_of(row)), default=0.0)
    possible = given.limits[1]
    if math.isfinite(possible) and not 0 < FAR * found < possible:
        return max(found, possible) or 1.0
    return axis_ends([found])[1] if found < 1 else found


def _heat_keys(given: QueryValues, top: float) -> Iterator[Key]:
    yield Key(f"0 to {top:g}", "accent", "ramp")
    if any(value < 0 for row in given.values for value in row):
        yield Key(f"0 to {-top:g}", "loss", "ramp")


def _cells(
    given: QueryValues, order: Sequence[int], starts: Sequence[int], top: float
) -> Iterator[Box]:
    """Draw the value of each run for a query, or its mean for a group of them."""
    for (row, run), (x0, x1) in product(enumerate(given.runs), pairwise(starts)):
        group = order[x0:x1]
        value = _mean(finite_of([given.values[row][i] for i in group]))
        about = f"mean of queries {x0 + 1:,} to {x1:,}"
        if len(group) == 1:
            about = with_text(given.queries[group[0]], given.texts)
        yield Box(
            x0, x1, row, row + 1, value / top,
            number(value, 2) if len(starts) <= WRITTEN_COLUMNS + 1 else "",
            tone="quiet" if math.isnan(value) else "accent",
            label=f"{told(run)}, {about}: {'no value' if math.isnan(value) else number(value)}",
            query=given.queries[group[0]] if len(group) == 1 else "",
        )  # fmt: skip


def _grouped(cells: Sequence[Box]) -> Sequence[Box]:
    """Put cells that look alike side by side where there are too many to be pointed at.

    They are then drawn together, in a third of the space.
    """
    if len(cells) <= MOST:
        return cells
    return sorted(cells, key=lambda cell: f"{cell.shade:.2f}")  # in any order, NaN too


def _heat_says(given: QueryValues, order: Sequence[int], first: str) -> str:
    """Name the hardest queries, and count those that no run gets anything for."""
    if not order:
        return f"No query has a value of {given.measure}."
    by = f"by mean {given.measure} over {len(given.runs)} runs"
    if len(given.runs) == 1:
        by = f"by {given.measure} of {told(given.runs[0])}"
    every = {_mean(given.of_query(i)) for i in order}
    if len(order) > 1 and len(every) == 1:
        return f"All {len(order):,} queries are the same {by}, {number(every.pop())}."
    named = ", ".join(
        f"{told(given.queries[i])} ({number(_mean(given.of_query(i)))})" for i in order[:3]
    )
    nothing = sum(given.of_query(i) == [0.0] * len(given.runs) for i in order if given.sense > 0)
    zero = f"; {counted(nothing, 'query is', 'queries are')} 0 by every run" if nothing else ""
    verb = "is" if len(order[:3]) == 1 else "are"
    return f"Of {counted(len(order), 'query', 'queries')}, the {first} {by} {verb} {named}{zero}."
