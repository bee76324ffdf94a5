"""What probes of a judge found: how far its grades move where they should not, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from idealist.rendering.document import (
    COUNT,
    SIGNED,
    TEXT,
    Block,
    Column,
    Document,
    Interval,
    Items,
    Table,
    Text,
)
from idealist.rendering.result import Result
from idealist.rendering.wording import counted, signed
from idealist.significance.cluster_bootstrap import drawn_sums, percentiles
from idealist.significance.means import normal_quantile

#: Fewer documents or queries than this show nothing of length. Suggested.
LEAST_DOCUMENTS, LEAST_QUERIES = 20, 5


class Spread(NamedTuple):
    """A number and its interval of 95 %."""

    value: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.low > 0 or self.high < 0


def share_of(count: int, total: int, units: int) -> Spread:
    """Return a share with Wilson's interval, as wide as if only so many units were independent.

    >>> [round(number, 3) for number in share_of(0, 30, 30)]
    [0.0, 0.0, 0.114]

    Reference: Wilson 1927, doi:10.1080/01621459.1927.10502953
    """
    if not total:
        return Spread(math.nan, math.nan, math.nan)
    p, z = count / total, normal_quantile(0.975)
    centre, weight = p + z * z / (2 * units), 1 + z * z / units
    half = z * math.sqrt(p * (1 - p) / units + z * z / (4 * units * units))
    return Spread(p, max(0.0, (centre - half) / weight), min(1.0, (centre + half) / weight))


def mean_of(values: Sequence[float], queries: Sequence[str]) -> Spread:
    """Return the mean of values, with an interval over draws of whole queries.

    >>> mean_of([1.0, 0.0, 0.5], ["q1", "q1", "q2"]).value
    0.5
    """
    if not values:
        return Spread(math.nan, math.nan, math.nan)
    if len(set(values)) == 1 and len(set(queries)) < LEAST_QUERIES:  # draws would be all the same
        return Spread(values[0], math.nan, math.nan)
    rows = np.column_stack((np.asarray(values, float), np.ones(len(values))))
    total, drawn, n = _drawn(rows, queries)
    return Spread(float(total[0] / total[1]), *percentiles(drawn[:, 0] / drawn[:, 1], n))


def length_effect(
    lengths: Sequence[float], excess: Sequence[float], queries: Sequence[str]
) -> Spread | None:
    """Correlate the ranks of lengths with those of what a model gives above people's grades.

    That is Spearman's correlation; None where there is too little to see, or nothing differs.
    """
    if len(lengths) < LEAST_DOCUMENTS or len(set(queries)) < LEAST_QUERIES:
        return None
    from scipy.stats import rankdata

    x, y = (rankdata(column) - (len(lengths) + 1) / 2 for column in (lengths, excess))
    rows = np.column_stack((np.ones(len(x)), x, y, x * x, y * y, x * y))
    total, drawn, n = _drawn(rows, queries)
    (value,), found = _correlations(total[None]), _correlations(drawn)
    return None if math.isnan(value) else Spread(float(value), *percentiles(found, n))


def _drawn(rows: Any, queries: Sequence[str]) -> tuple[Any, Any, int]:
    """Add up rows by query: over all queries, and over draws of them."""
    names, place = np.unique(np.asarray(queries), return_inverse=True)
    sums = np.zeros((len(names), rows.shape[1]))
    np.add.at(sums, place, rows)
    return sums.sum(axis=0), drawn_sums(sums), len(names)


def _correlations(sums: Any) -> Any:
    n, x, y, xx, yy, xy = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt((xx - x * x / n) * (yy - y * y / n))
        return np.where(spread > 1e-9 * np.sqrt(xx * yy), (xy - x * y / n) / spread, math.nan)


class Moved(NamedTuple):
    """A document's grade as it is, and when something was changed."""

    query: str
    document: str
    grade: float
    then: float


@dataclass(frozen=True)
class Finding:
    """What one probe found: `words` say what was changed.

    So many are `lost`, whose answers did not come or could not be read, and so many are `left`,
    which were not asked because it was stopped.
    """

    name: str
    words: str
    noun: str
    moved: tuple[Moved, ...]
    lost: int = 0
    left: int = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many grades stayed, rose and fell."""
        rose = sum(one.then > one.grade for one in self.moved)
        fell = sum(one.then < one.grade for one in self.moved)
        return len(self.moved) - rose - fell, rose, fell

    @property
    def changed(self) -> Spread:
        """The share of grades that changed."""
        units = len({one.query for one in self.moved})
        return share_of(len(self.moved) - self.counts[0], len(self.moved), units)

    @property
    def shift(self) -> Spread:
        """The mean change of the grade."""
        apart = [one.then - one.grade for one in self.moved]
        return mean_of(apart, [one.query for one in self.moved])

    @property
    def sentence(self) -> str:
        """Say what was found, and no more than the interval carries."""
        if not self.moved:
            why = "no answer could be read" if self.lost else "not asked"
            return f"{self.words}: {why}."
        moved, changed = len(self.moved) - self.counts[0], self.changed
        said = f"{self.words}: {moved:,} of {counted(len(self.moved), 'grade', 'grades')} changed"
        said += f" (95 % interval {changed.low:.0%} to {changed.high:.0%})"
        return f"{said}{self._shift_words if moved else ''}."

    @property
    def _shift_words(self) -> str:
        value, low, high = self.shift
        if math.isnan(low):
            return ""
        way = "no clear direction" if not self.shift.is_clear else "up" if value > 0 else "down"
        interval = f"{signed(low, 2)} to {signed(high, 2)}"
        return f"; the mean change is {signed(value, 2)} ({interval}), {way}"


@dataclass(frozen=True, repr=False)
class JudgeProbe(Result):
    """What was found about a judge by asking it the same thing in other ways.

    `length` is the rank correlation of a document's length with what the judge gives it above
    people's grade, over `shared` documents that both judged. `stopped` says why not all was asked,
    `interrupted` whether it was somebody.
    """

    judge: str
    documents: int
    findings: tuple[Finding, ...]
    length: Spread | None = None
    shared: int = 0
    stopped: str = ""
    interrupted: bool = False

    @property
    def lost(self) -> int:
        """How many answers did not come, or could not be read."""
        return sum(one.lost for one in self.findings)

    @property
    def summary(self) -> str:
        """How often it repeats itself, and what moves its grades."""
        again = [one for one in self.findings if one.name == "again" and one.moved]
        said = [
            f"repeats its grade in {one.counts[0]:,} of {len(one.moved):,} cases" for one in again
        ]
        others = [one for one in self.findings if one.name != "again" and one.moved]
        clear = [
            f"{one.noun} ({signed(one.shift.value, 2)})" for one in others if one.shift.is_clear
        ]
        if clear:
            said.append(f"its grades are moved by {' and '.join(clear)}")
        elif others:
            nouns = [one.noun for one in others]
            said.append(f"no clear sign that {' or '.join(nouns)} moves its grades")
        begins = "INCOMPLETE: " if self.stopped else ""
        return f"{begins}{self.judge}: {'; '.join(said) or 'no answer could be read'}."

    def report(self) -> Document:
        """Show what was found: a sentence each, and the numbers."""
        blocks: list[Block] = [Text(self.summary, strong=True), self.table()]
        said = [one.sentence for one in self.findings]
        said += [
            f"{one.name}: {counted(one.lost, 'answer is', 'answers are')} missing"
            for one in self.findings
            if one.lost
        ]
        if left := sum(one.left for one in self.findings):
            said.append(f"{counted(left, 'question was', 'questions were')} not asked.")
        if self.stopped:
            said.append(f"Not all was asked, because {self.stopped}.")
        return Document((*blocks, Items((*said, self._length_words))))

    @property
    def _length_words(self) -> str:
        if self.length is None:
            return (
                "Length: people and the judge have "
                f"{counted(self.shared, 'document', 'documents')} in common, too few "
                f"to say whether it favours long ones ({LEAST_DOCUMENTS} documents of "
                f"{LEAST_QUERIES} queries are the least)."
            )
        value, low, high = self.length
        means = "it favours long documents more than people do" if low > 0 else (
            "it favours short documents more than people do" if high < 0 else
            "no sign that it favours long or short documents more than people do"
        )  # fmt: skip
        return (
            f"Length: over {self.shared:,} documents that people judged too, what it gives above "
            f"their grade has a rank correlation of {signed(value, 2)} with the length "
            f"({signed(low, 2)} to {signed(high, 2)}): {means}."
        )

    def table(self) -> Table:
        """Return a row for each probe."""
        names = ("documents", "same", "higher", "lower")
        columns = (
            Column("probe", TEXT), *(Column(name, COUNT) for name in names),
            Column("mean change", SIGNED), Column("95 %", SIGNED), Column("lost", COUNT, spare=1),
        )  # fmt: skip
        return Table(columns, tuple(map(_finding_row, self.findings)))

    def data(self) -> dict[str, Any]:
        """Return every probe with its numbers, and every grade."""
        return {
            "judge": self.judge,
            "documents": self.documents,
            "probes": {one.name: _finding_data(one) for one in self.findings},
            "length": None if self.length is None else self.length._asdict(),
            "shared_with_people": self.shared,
            "stopped": self.stopped,
        }


def _finding_row(one: Finding) -> tuple[Any, ...]:
    shift = one.shift
    interval = Interval(shift.low, shift.high)
    return one.name, len(one.moved), *one.counts, shift.value, interval, one.lost


def _finding_data(one: Finding) -> dict[str, Any]:
    same, higher, lower = one.counts
    return {
        "what": one.words, "documents": len(one.moved), "same": same, "higher": higher,
        "lower": lower, "lost": one.lost, "not_asked": one.left, "changed": one.changed._asdict(),
        "mean_change": one.shift._asdict(), "grades": [moved._asdict() for moved in one.moved],
    }  # fmt: skip
