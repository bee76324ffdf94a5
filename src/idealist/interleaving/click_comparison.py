"""What clicks on interleaved lists say: which run is preferred, by how much, how surely."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from idealist.rendering.document import (
    COUNT,
    SHARE,
    TEXT,
    Column,
    Details,
    Document,
    Doubts,
    Heading,
    Items,
    Table,
    Text,
)
from idealist.rendering.doubt import Doubt
from idealist.rendering.plain_data import record
from idealist.rendering.result import Result
from idealist.rendering.wording import counted, number, p_words, signed, told
from idealist.significance.cluster_flips import Flipped
from idealist.significance.means import normal_quantile

#: The power that the number of impressions is planned for.
POWER = 0.8
#: How many queries the details show.
QUERIES = 10
#: What a click counts for, by each method.
CREDIT = {
    "team-draft": "A click counts for the run that picked the document; the run with more clicked "
    "documents wins the impression.",
    "balanced": "The run with more clicked documents among its first k wins the impression, where "
    "k is the better rank of the lowest click.",
    "optimised": "A click counts by the difference of the document's inverse ranks; the impression "
    "counts by the sum, and the run that the sum favours wins it.",
}


class Tally(NamedTuple):
    """How many impressions the second run wins, neither, and the first."""

    wins: int
    ties: int
    losses: int

    @property
    def all(self) -> int:
        """How many impressions there are."""
        return sum(self)

    @property
    def delta(self) -> float:
        """By how much the share that prefers the second run exceeds one half, ties halved.

        Formula: (wins + ties / 2) / all - 1/2

        Reference: Chapelle, Joachims, Radlinski and Yue 2012, doi:10.1145/2094072.2094078
        """
        return (self.wins - self.losses) / (2 * self.all)


@dataclass(frozen=True, repr=False)
class ClickComparison(Result):
    """What clicks say of two interleaved runs: which one is preferred, by how much, how surely.

    `difference` is Δ, above 0 where `b` is preferred, or by optimised lists the mean credit of an
    impression; `low` and `high` are its interval. `units` are what is independent: users, or where
    the log names none, sessions. `read_as` says what was taken for what.

    >>> from idealist import compare_by_clicks, interleave
    >>> lists = interleave({"q": ["x", "y"]}, {"q": ["z", "w"]}, lists=1)
    >>> clicks = [("z" if session % 5 else "x", session) for session in range(20)]
    >>> log = [{"session": one, "query": "q", "document": clicked} for clicked, one in clicks]
    >>> found = compare_by_clicks(lists, log)
    >>> found.tally, found.preferred, round(found.p, 3)
    (Tally(wins=16, ties=0, losses=4), 'b', 0.012)
    """

    a: str
    b: str
    method: str
    tally: Tally
    by_query: Mapping[str, Tally]
    flipped: Flipped
    units: int
    unit: str
    alpha: float
    doubts: tuple[Doubt, ...] = ()
    read_as: str = ""

    @property
    def p(self) -> float:
        """How often chance alone prefers one run so clearly."""
        return self.flipped.p

    @property
    def scale(self) -> float:
        """What makes Δ of a mean of wins and losses; credits are as they are."""
        return 1.0 if self.method == "optimised" else 0.5

    @property
    def difference(self) -> float:
        """By how much `b` is preferred: Δ, or by optimised lists the mean credit."""
        return self.flipped.mean * self.scale

    @property
    def low(self) -> float:
        """The lower end of the interval of the difference."""
        return self._end(self.flipped.low)

    @property
    def high(self) -> float:
        """The upper end of the interval of the difference."""
        return self._end(self.flipped.high)

    def _end(self, end: float) -> float:
        if self.method != "optimised" and not math.isnan(end):
            end = max(-1.0, min(1.0, end))  # Δ goes no further
        return end * self.scale

    @property
    def preferred(self) -> str | None:
        """The run that is preferred; None where chance alone could have done it."""
        if self.p > self.alpha or not self.difference:
            return None
        return self.b if self.difference > 0 else self.a

    @property
    def detectable(self) -> float:
        """The smallest difference that as many such impressions detect with a power of 80 %."""
        reach = normal_quantile(1 - self.alpha / 2)
        return (self.high - self.low) / 2 * (reach + normal_quantile(POWER)) / reach

    @property
    def needed(self) -> float:
        """About how many impressions would detect the difference that was seen."""
        if not self.difference:
            return math.nan
        return self.tally.all * (self.detectable / self.difference) ** 2

    @property
    def _name(self) -> str:
        return "mean credit" if self.method == "optimised" else "Δ"

    @property
    def summary(self) -> str:
        """The answer, in one sentence."""
        sides = (told(self.b), self.tally.wins), (told(self.a), self.tally.losses)
        (first, wins), (second, losses) = sides if self.preferred != self.a else sides[::-1]
        verdict = f"{first} is preferred to {second}"
        if self.preferred is None:
            verdict = f"no significant preference between {second} and {first}"
        of = counted(self.tally.all, "impression", "impressions")
        counts = f"{first} wins {wins:,} of {of}, {second} {losses:,}"
        return f"{verdict}: {counts} ({self._estimate}, {p_words(self.p)})"

    @property
    def _estimate(self) -> str:
        level = f"{100 * (1 - self.alpha):.6g} % interval"
        ends = (
            "" if math.isnan(self.low) else f", {level} {signed(self.low)} to {signed(self.high)}"
        )
        return f"{self._name} {signed(self.difference)}{ends}"

    def report(self) -> Document:
        """Describe the answer, the tally, what more impressions would tell, and each query."""
        names = self.b, "neither", self.a
        counts = zip(names, self.tally, strict=True)
        rows = [(name, count, count / self.tally.all) for name, count in counts]
        columns = Column("preferred", TEXT), Column("impressions", COUNT), Column("share", SHARE)
        table = Table(columns, tuple(rows))
        return Document(
            (Text(self.summary, strong=True), table, *map(Text, self._plan()), self._details()),
            (Items((self._how(), *self._read())), Doubts(self.doubts)),
        )

    def _plan(self) -> Iterator[str]:
        """Say what so many impressions can show, where they show nothing."""
        if self.preferred is not None or math.isnan(self.detectable):
            return
        size = f"So many impressions find a {self._name} of {number(self.detectable)}"
        more = ""
        if not math.isnan(self.needed):
            seen = f"the one seen, {number(abs(self.difference))},"
            more = f"; {seen} would take about {_rounded(self.needed)}"
        yield f"{size} in four of five experiments{more}."

    def _how(self) -> str:
        units = counted(self.units, self.unit, f"{self.unit}s")
        test = f"sign test over {units}"
        if self.units < self.tally.all or self.method == "optimised":
            test = f"randomisation test over {units}, all impressions of one together"
        favours = f"a {self._name} above 0 favours {told(self.b)}"
        return f"{self.method}; {test}; the interval is what it does not reject; {favours}"

    def _read(self) -> Iterator[str]:
        """Say what was taken for what, where the names of the log are not ours."""
        if self.read_as:
            yield f"read: {self.read_as}"

    def _details(self) -> Details:
        """Show the queries that decide most, and what a click counts."""
        ordered = sorted(
            self.by_query.items(), key=lambda one: (-abs(one[1].wins - one[1].losses), one[0])
        )
        rows = [
            (query, own.all, own.wins, own.ties, own.losses) for query, own in ordered[:QUERIES]
        ]
        names = ["impressions", f"{told(self.b)} wins", "neither", f"{told(self.a)} wins"]
        queries = Table.of(["query"], names, rows, COUNT)
        title = "Queries that decide most"
        return Details(title, (Heading(title), queries, Text(CREDIT[self.method])))

    def data(self) -> dict[str, Any]:
        """Return the contract of ``interleave analyse -f json``."""
        return record({
            "a": self.a, "b": self.b, "method": self.method, "preferred": self.preferred,
            "impressions": self.tally.all, **self.tally._asdict(), "delta": self.tally.delta,
            "difference": self.difference, "ci": [self.low, self.high], "p": self.p,
            "alpha": self.alpha, "units": self.units, "unit": self.unit,
            "detectable": self.detectable, "needed": self.needed,
            "queries": {query: own._asdict() for query, own in self.by_query.items()},
            "doubts": [one.data() for one in self.doubts],
        })  # fmt: skip


def _rounded(count: float) -> str:
    """Write a number of impressions with two digits that count."""
    digits = max(0, len(f"{count:.0f}") - 2)
    return f"{round(count, -digits):,.0f}"
