"""Printed tables: cells with their text, and what was bold, underlined or set high in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from idealist.rendering.terminal import SUPERSCRIPTS

#: Marks that stand on their own; letters and digits are marks where they are set high.
SIGNS = "†‡*⋆★§¶△▲▽▼◁▷↑↓∘°•⋄◇◆□■′✓♠♣♡♢"
#: What a cell holds that claims nothing.
EMPTY = frozenset({"", "-", "--", "---", "–", "—", "n/a", "na", "nan", "none", "null"})

_LOWERED = {high: low for low, high in SUPERSCRIPTS.items()} | dict(
    zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)
)
_HIGH = re.compile(f"[{''.join(_LOWERED)}]+(?:,[{''.join(_LOWERED)}]+)*")
_NUMBER = re.compile(
    rf"(?P<before>[{SIGNS}]*)\s*"
    r"(?P<number>[-+−]?(?:[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d*)?|\d+(?:,\d{3})+\.\d*|\d+(?:[.,]\d*)*"
    r"|[.,]\d+)(?:[eE][-+]?\d{1,2})?)"
    rf"\s*(?P<percent>%?)\s*(?P<marks>[{SIGNS}]*)"
    r"\s*(?P<rest>(?:±|\+/-|\(|\[|/).*)?",
    re.DOTALL,
)


#: What thousands look like that points part, and the longest number before its point.
_POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?")
LONGEST = 1e15


@dataclass(frozen=True)
class PrintedCell:
    """A cell: its text without decoration, and how it was set, but for `strange` commands.

    >>> PrintedCell.of("0.4312ᵃᵇ")
    PrintedCell(text='0.4312', bold=False, underlined=False, raised='ab')
    """

    text: str = ""
    bold: bool = False
    underlined: bool = False
    raised: str = ""
    raw: str = field(default="", compare=False, repr=False)
    strange: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(
        cls, text: str, bold: bool = False, underlined: bool = False, raised: str = "",
        raw: str = "", strange: tuple[str, ...] = (),
    ) -> PrintedCell:  # fmt: skip
        """Make a cell of text, in which letters may be set high by their own signs.

        `raw` is what the text would be if nothing in it were decoration, as in a run's name.
        """
        high = "".join(_HIGH.findall(text))
        plain = " ".join(_HIGH.sub("", text).split()) if high else " ".join(text.split())
        lowered = "".join(_LOWERED.get(sign, sign) for sign in high)
        return cls(plain, bold, underlined, raised + lowered, raw or text, strange)

    @property
    def number(self) -> PrintedNumber | None:
        """The number that the cell begins with, if there is one."""
        return PrintedNumber.read(self.text, self.raised)

    @property
    def stands_out(self) -> bool:
        """Whether the cell is bold or underlined."""
        return self.bold or self.underlined

    @property
    def is_empty(self) -> bool:
        """Whether the cell claims nothing."""
        return self.text.lower() in EMPTY


@dataclass(frozen=True)
class PrintedNumber:
    """A number as it was printed, with its marks; `beside` is what stands behind it.

    With `comma`, a comma is the decimal sign, and points part thousands.

    >>> PrintedNumber.read("43.1% ± 0.2", "a")
    PrintedNumber(text='43.1', percent=True, marks='a', beside='± 0.2')
    >>> PrintedNumber.read("0,4312†").marks, PrintedNumber.read("12 of 30")
    ('†', None)
    """

    text: str
    percent: bool = False
    marks: str = ""
    beside: str = ""
    comma: bool = field(default=False, repr=False)

    @classmethod
    def read(cls, text: str, raised: str = "") -> PrintedNumber | None:
        """Read a number with its marks, or nothing."""
        bare = re.sub(r"^[(\[]\s*([^()\[\]]*?)\s*[)\]]", r"\1", text.strip())
        found = _NUMBER.fullmatch(bare)
        if found is None:
            return None
        written = found["number"].replace("−", "-")
        points = written.count(".") > 1 and not _POINTS.fullmatch(written)
        if points or (written.count(",") > 1 and not _is_grouped(written)):
            return None
        marks = found["before"] + found["marks"] + raised
        one = cls(written, bool(found["percent"]), marks, found["rest"] or "")
        return one if abs(one.decimal(False)) < LONGEST else None

    def decimal(self, in_unit: bool) -> Decimal:
        """Return the number; a comma is a decimal point, unless it can only be a thousand.

        >>> PrintedNumber("1,234").decimal(False), PrintedNumber("0,4312").decimal(True)
        (Decimal('1234'), Decimal('0.4312'))
        """
        text = self.text.replace(" ", "")
        if self.comma or (_POINTS.fullmatch(text) and self.decimal_sign == ","):
            return Decimal(text.replace(".", "").replace(",", "."))
        grouped = _is_grouped(text) and not in_unit
        return Decimal(text.replace(",", "" if grouped or "." in text else "."))

    @property
    def decimal_sign(self) -> str:
        """The decimal sign, where the number can only mean that one; nothing where it is open.

        >>> [PrintedNumber(text).decimal_sign for text in ("0,17", "2.355,0", "2.355", "0.355")]
        [',', ',', '', '.']
        """
        comma, point = self.text.find(","), self.text.find(".")
        if comma >= 0 and point >= 0:
            return "," if point < comma else "."
        if comma >= 0:
            return "" if _is_grouped(self.text) else ","
        several = self.text.count(".") > 1
        return "," if several else "." if point >= 0 and not _POINTS.fullmatch(self.text) else ""


def _is_grouped(written: str) -> bool:
    return re.fullmatch(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", written) is not None


@dataclass(frozen=True)
class PrintedTable:
    """A table as it was printed: rows of one width, of which the first are `heads`.

    `blocks` says for each row how many lines were drawn above it; `notes` is what stands around the
    table, its caption above all, `place` says where it was found, and `fault` why it is not read.
    """

    rows: tuple[tuple[PrintedCell, ...], ...]
    heads: int = 1
    blocks: tuple[int, ...] = ()
    notes: str = ""
    place: str = ""
    fault: str = ""

    @classmethod
    def of(
        cls, rows: Iterable[Sequence[PrintedCell]], place: str, notes: str = "", heads: int = 1,
        blocks: Sequence[int] = (),
    ) -> PrintedTable:  # fmt: skip
        """Make a table of rows that may be of unequal width."""
        listed = [list(row) for row in rows]
        width = max(map(len, listed), default=0)
        padded = [(*row, *[PrintedCell()] * (width - len(row))) for row in listed]
        return cls(tuple(padded), heads, tuple(blocks) or (0,) * len(padded), notes, place)

    @property
    def turned(self) -> PrintedTable:
        """The same with rows and columns exchanged; the first column becomes the head."""
        rows = tuple(zip(*self.rows, strict=True))
        return PrintedTable(rows, 1, (0,) * len(rows), self.notes, self.place)
