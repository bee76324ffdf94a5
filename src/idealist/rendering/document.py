"""Documents: what a result says, as blocks that every renderer can write. Nothing is computed here.

A result builds a `Document`; `terminal`, `markdown`, `html`, `latex` and `plain_data` write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from idealist.rendering.wording import number, p_value, percent, signed

if TYPE_CHECKING:
    from idealist.rendering.doubt import Doubt
    from idealist.rendering.figure import Figure


class Interval(NamedTuple):
    """A cell that holds both ends of an interval."""

    low: float
    high: float


class Estimate(NamedTuple):
    """A cell that holds a value and half the width of its interval."""

    value: float
    half: float


class Marked(NamedTuple):
    """A cell with letters set high behind it, or a star: what it is significantly better than."""

    value: Any
    marks: str


def marks_of(cell: Any) -> str:
    """Return the marks of a cell; most have none."""
    return cell.marks if isinstance(cell, Marked) else ""


def unmarked(text: str, _: str) -> str:
    """Leave out the marks of a cell."""
    return text


@dataclass(frozen=True)
class Format:
    """How a column writes its cells for people; words are set left, numbers right."""

    write: Callable[[Any], str]
    left: bool = False

    def __call__(self, cell: Any) -> str:
        """Write a cell, without its marks.

        >>> VALUE(Estimate(0.5, 0.125)), SIGNED(Interval(-0.25, 0.5)), VALUE("n/a")
        ('0.5000 ± 0.1250', '-0.2500 to +0.5000', 'n/a')
        """
        match cell:
            case Marked(value, _):
                return self(value)
            case Estimate(value, half):
                return self(value) if isnan(half) else f"{self(value)} ± {number(half)}"
            case Interval(low, high):
                return "-" if isnan(low) else f"{self(low)} to {self(high)}"
            case str():
                return cell
        return self.write(cell)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


#: Words; whole numbers; values of measures; differences; p-values; relative changes; shares;
#: effect sizes; milliseconds.
TEXT = Format(_text, left=True)
COUNT = Format(lambda cell: "-" if cell is None or isnan(cell) else f"{cell:.0f}")
VALUE = Format(number)
SIGNED = Format(signed)
P_VALUE = Format(p_value)
PERCENT = Format(percent)
SHARE = Format(lambda cell: "-" if cell is None or isnan(cell) else f"{cell:.1%}")
EFFECT = Format(lambda cell: number(cell, 2))
MILLISECONDS = Format(lambda cell: number(cell, 1))


@dataclass(frozen=True)
class Column:
    """A column: its name, and how its cells are written.

    Where there is no room, columns with the least positive `spare` go first, and names in a
    `shortens` column lose their middle.
    """

    name: str
    format: Format = VALUE
    spare: int = 0
    shortens: bool = False


@dataclass(frozen=True)
class Table:
    """A table of typed cells: text, numbers, None, `Estimate`, `Interval` or `Marked`.

    One that `turns` may exchange rows and columns on a narrow terminal.

    >>> table = Table.of(["run"], ["AP"], [["bm25", 0.21432]])
    >>> list(table.written())
    [['bm25', '0.2143']]
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    turns: bool = False

    @classmethod
    def of(
        cls,
        words: Sequence[str],
        numbers: Sequence[str],
        rows: Sequence[Sequence[Any]],
        format: Format = VALUE,  # noqa: A002 -- as the column calls it
        **options: Any,
    ) -> Table:
        """Build the usual table: columns of words first, then columns of numbers of one format."""
        columns = [Column(name, TEXT) for name in words]
        columns += [Column(name, format) for name in numbers]
        return cls(tuple(columns), tuple(map(tuple, rows)), **options)

    @property
    def headers(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def written(self, join: Callable[[str, str], str] = unmarked) -> Iterator[list[str]]:
        """Write the rows for people, cell by cell; `join` puts a cell and its marks together."""
        for row in self.rows:
            cells = zip(self.columns, row, strict=True)
            yield [join(column.format(cell), marks_of(cell)) for column, cell in cells]

    def without(self, names: Sequence[str]) -> Table:
        """Leave columns out."""
        kept = [i for i, column in enumerate(self.columns) if column.name not in names]
        rows = tuple(tuple(row[i] for i in kept) for row in self.rows)
        return Table(tuple(self.columns[i] for i in kept), rows, self.title)


@dataclass(frozen=True)
class Heading:
    """The title of what follows."""

    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph; the one that holds the answer is `strong`."""

    text: str
    strong: bool = False


@dataclass(frozen=True)
class Items:
    """A list; an item that begins with blanks belongs to the one before it."""

    items: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True)
class Doubts:
    """What is doubtful: a line each or, in `full`, with examples, price, remedy and command."""

    doubts: tuple[Doubt, ...]
    full: bool = False


@dataclass(frozen=True)
class Command:
    """A command that the reader can run, in a shell or in Python."""

    text: str

    @property
    def language(self) -> str:
        """What it is written in."""
        return "console" if self.text.startswith("idealist ") else "python"


@dataclass(frozen=True)
class Details:
    """What few readers need: folded up on a page, on a terminal shown with ``--details``."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Signatures:
    """The signatures of the numbers, short; each stands on a line of its own, to be copied."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Drawing:
    """A figure: a picture where there can be one, elsewhere what it says."""

    figure: Figure


Block = Heading | Text | Items | Table | Doubts | Command | Details | Signatures | Drawing


@dataclass(frozen=True)
class Document:
    """What a result says: `blocks`, answer first, and `notes` that say how it came about.

    On a terminal the notes go to standard error, away from the data; a page or a file has both.
    Doubts among them that come first stand in front of everything, each with its command.
    """

    blocks: tuple[Block, ...]
    notes: tuple[Block, ...] = ()
    title: str = ""

    @property
    def front(self) -> tuple[Block, ...]:
        """What must be known before anything else is read."""
        first = [one for block in self.notes for one in _doubts_of(block) if one.comes_first]
        blocks: list[Block] = []
        for one in first:
            blocks += [Doubts((one,)), *([Command(one.command)] if one.command else [])]
        return tuple(blocks)

    @property
    def rest(self) -> tuple[Block, ...]:
        """The notes that do not stand in front."""
        return tuple(
            replace(block, doubts=tuple(one for one in block.doubts if not one.comes_first))
            if isinstance(block, Doubts)
            else block
            for block in self.notes
        )

    @property
    def tables(self) -> Iterator[Table]:
        """The tables, without what is folded up."""
        return (block for block in self.blocks if isinstance(block, Table))


def _doubts_of(block: Block) -> tuple[Doubt, ...]:
    return block.doubts if isinstance(block, Doubts) else ()
