"""What a printed table claims: which cells are numbers of which run by which measure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from idealist.errors import UsageError
from idealist.measures import Measure
from idealist.notation import many
from idealist.rendering.wording import few, told
from idealist.verifying.printed_tables import PrintedCell, PrintedNumber, PrintedTable
from idealist.verifying.table_names import LABELS, TableNames, folded, lettered, nearest_measure

#: What heads the columns of a table with a number a row.
LONG = {
    "run": LABELS,
    "measure": {"measure", "metric"},
    "value": {"value", "score", "mean", "runmean"},
    "query": {"query", "topic", "queryid", "qid"},
    "baseline": {"baseline"},
    "basemean": {"basemean"},
    "slice": {"slice"},
}
#: What stands in place of a query where a value is that of all.
ALL = ("", "all", "amean", "mean", "avg")


@dataclass(frozen=True)
class ClaimedNumber:
    """One number that a table claims, and how its cell was set.

    `label` is what the table calls the run, `run` our name of it, or nothing. `column` is the same
    for all numbers that can be compared; `under` are titles above the number. One that is `paired`
    is the mean over the queries that all runs of a comparison have.
    """

    label: str
    run: str
    measure: Measure
    header: str
    cell: PrintedCell
    number: PrintedNumber
    column: tuple[int, int]
    block: int = 0
    in_percent: bool = False
    under: tuple[str, ...] = ()
    paired: bool = False


@dataclass(frozen=True)
class TableClaims:
    """What one table claims; `letters` are the labels by the letter that stands for them.

    `unread` says what was not understood, and so is not checked. One that is `turned` has a run a
    column.
    """

    numbers: tuple[ClaimedNumber, ...]
    letters: Mapping[str, str]
    notes: str
    unread: tuple[str, ...] = ()
    place: str = ""
    turned: bool = False

    @property
    def strange(self) -> str:
        """Name the commands in cells of numbers that may set them bold or mark them."""
        found = dict.fromkeys(name for one in self.numbers for name in one.cell.strange)
        return f"cells hold {few([*found])}, which is not known" if found else ""


class _Column(NamedTuple):
    """A column that holds values of a measure."""

    place: int
    header: str
    measure: Measure
    percent: bool
    above: tuple[str, ...]


class _Shape(NamedTuple):
    """A table with its roles: the column of labels, and those of measures."""

    table: PrintedTable
    labels: int
    columns: list[_Column]
    score: int


def claims_of(
    tables: Sequence[PrintedTable], names: TableNames, only: str = ""
) -> list[TableClaims]:
    """Find out what each table claims; `only` keeps what stands under a title or caption.

    >>> from idealist.verifying.table_texts import tables_in
    >>> found = claims_of(tables_in("run,MAP\\nBM25,0.21\\n"), TableNames(["bm25"]))
    >>> [(one.run, one.measure, one.number.text) for one in found[0].numbers]
    [('bm25', AP, '0.21')]
    """
    found = [_claims(i, table, names) for i, table in enumerate(tables)]
    if only:
        found = [_under(one, only) for one in found]
        if not any(one.numbers for one in found):
            raise UsageError(f"no number stands under {only!r}", "give a title of the table")
    for one in found:
        _check_once(one.numbers)
    return found


def check_sentences(table: PrintedTable, names: TableNames) -> None:
    """Refuse claims in words of which the run, the measure or the number is not understood."""
    for run, measure, number in table.rows[1:]:
        if not names.run(run):
            raise UsageError(f"there is no run {run.text!r}", names.nearest_run(run.text))
        if names.measure(measure.raw) is None:
            hint = nearest_measure(measure.raw) or "--measure 'NAME=MEASURE' says what a name means"
            raise UsageError(f"{measure.raw!r} is no measure that is known", hint)
        if number.number is None:
            raise UsageError(f"{number.raw!r} is no number", "write it as it is printed: 0.4312")


def _under(claims: TableClaims, only: str) -> TableClaims:
    wanted = folded(only)
    kept = [one for one in claims.numbers if any(wanted in folded(text) for text in one.under)]
    if not kept and wanted in folded(claims.notes):  # the caption of the whole table
        return claims
    return replace(claims, numbers=tuple(kept))


def _check_once(numbers: Iterable[ClaimedNumber]) -> None:
    """Refuse a table that gives two values of a run by a measure, for several collections maybe."""
    known: dict[tuple[str, Measure], ClaimedNumber] = {}
    for one in numbers:
        first = known.setdefault((one.run, one.measure), one) if one.run else one
        if first.number.text != one.number.text:
            titles = dict.fromkeys(title for each in (first, one) for title in each.under)
            hint = "--only TITLE takes the numbers under one title"
            hint += (
                f": {few([*titles])}" if titles else ", which these have not: remove one of them"
            )
            values = f"{first.number.text} and {one.number.text}"
            raise UsageError(f"{one.label} has two values of {one.header}: {values}", hint)


def _claims(number: int, table: PrintedTable, names: TableNames) -> TableClaims:
    if (long := _long(table)) is not None:
        return _long_claims(number, table, long, names)
    ways = [_shape(one, names) for one in (table, table.turned)]
    shape = max(ways, key=lambda one: one.score)
    if not shape.columns:
        where = table.place or "the table"
        why = f"{where}: {table.fault or 'no column and no row is named after a measure'}"
        return TableClaims((), {}, table.notes, (why,))
    claims = _wide_claims(number, shape, names)
    return replace(claims, turned=shape.table is not table)


# --- a run a row, a measure a column


def _shape(table: PrintedTable, names: TableNames) -> _Shape:
    """Find the roles of columns; the score counts the names that were understood."""
    body = table.rows[table.heads :]
    columns = list(_columns(table, names))
    taken = {one.place for one in columns}
    counts = {
        place: sum(names.run(row[place]) is not None for row in body)
        for place in range(len(table.rows[0]) if table.rows else 0)
        if place not in taken
    }
    words = [place for place in counts if any(_is_word(row[place]) for row in body)]
    labels = max(counts, key=lambda place: (counts[place], place in words, -place), default=-1)
    score = len(columns) + counts.get(labels, 0) if labels >= 0 else 0
    return _Shape(table, labels, columns if labels >= 0 else [], score)


def _is_word(cell: PrintedCell) -> bool:
    return len(cell.text) > 1 and cell.number is None


def _columns(table: PrintedTable, names: TableNames) -> Iterator[_Column]:
    """Find the columns whose heads name a measure, in one row or in two."""
    for place in range(len(table.rows[0]) if table.rows else 0):
        heads = [row[place].text for row in table.rows[: table.heads]]
        heads = [text for text in dict.fromkeys(heads) if text]
        for text, rest in _readings(heads):
            if (found := names.measure(text)) is not None:
                percent = found[1] or any("%" in one for one in rest)
                yield _Column(place, text, found[0], percent, tuple(rest))
                break


def _readings(heads: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Read the heads of a column: a cutoff under a measure, or each by itself, the lowest first.

    >>> list(_readings(["nDCG", "@10"]))[0], list(_readings(["DL 19", "AP"]))[0]
    (('nDCG@10', []), ('AP', ['DL 19']))
    """
    if len(heads) > 1 and re.fullmatch(r"(?:@|k\s*=)?\s*\d+[kK]?", heads[-1]):
        cutoff = re.sub(r"^(?:@|k\s*=)?\s*", "", heads[-1])
        yield f"{heads[-2]}@{cutoff}", list(heads[:-2])
    for i in reversed(range(len(heads))):
        yield heads[i], [*heads[:i], *heads[i + 1 :]]


def _wide_claims(number: int, shape: _Shape, names: TableNames) -> TableClaims:
    table, labels, columns = shape.table, shape.labels, shape.columns
    numbers, unread, title, block = [], [], "", 0
    body, lines = table.rows[table.heads :], table.blocks[table.heads :]
    runs = names.runs_of([row[labels] for row in body])
    for row, line, run in zip(body, lines, runs, strict=True):
        label = row[labels]
        cells = [(one, row[one.place]) for one in columns]
        beside = [cell.text for cell in row[:labels] if _is_word(cell)]  # of several rows, maybe
        if not any(cell.number for _, cell in cells):
            title, block = label.text or title, block + 1
        for one, cell in cells:
            if (found := cell.number) is not None:
                above = tuple(filter(None, (*one.above, title, *beside)))
                numbers.append(ClaimedNumber(
                    label.text, run, one.measure, one.header, cell, found,
                    (number, one.place), 1000 * line + block, one.percent or found.percent, above,
                ))  # fmt: skip
            elif not cell.is_empty and cell.text not in (label.text, title):
                unread.append(f"{told(label.text)} {one.header}: {told(cell.text)} is no number")
    unread += _other_columns(shape)
    letters = _letters(shape)
    return TableClaims(_with_commas(numbers), letters, table.notes, tuple(unread), table.place)


def _with_commas(numbers: Sequence[ClaimedNumber]) -> tuple[ClaimedNumber, ...]:
    """Read commas as decimal signs, and points as thousands, where the table can only mean that."""
    signs = {one.number.decimal_sign for one in numbers}
    if "," not in signs or "." in signs:
        return tuple(numbers)
    return tuple(replace(one, number=replace(one.number, comma=True)) for one in numbers)


def _other_columns(shape: _Shape) -> Iterator[str]:
    """Name the columns of numbers that are no measure."""
    table, taken = shape.table, {one.place for one in shape.columns}
    for place in range(len(table.rows[0])):
        count = sum(row[place].number is not None for row in table.rows[table.heads :])
        head = " ".join(dict.fromkeys(row[place].text for row in table.rows[: table.heads])).strip()
        if (
            place not in taken
            and place != shape.labels
            and count
            and (head or place > shape.labels)
        ):
            named = f"{told(head)} is no measure" if head else f"column {place + 1} has no name"
            hint = f"; {hint}" if (hint := nearest_measure(head)) else ""
            yield f"{named}: {many(count, 'number is', 'numbers are')} not checked{hint}"


def _letters(shape: _Shape) -> dict[str, str]:
    """Find the letters that stand for rows: in a column before the names, or with the names."""
    rows = shape.table.rows[shape.table.heads :]
    for place in range(shape.labels):
        cells = [row[place].text for row in rows]
        short = all(re.fullmatch(r"[a-z]|\d{1,3}", text) for text in cells)
        if short and len(set(cells)) == len(cells):
            return dict(zip(cells, (row[shape.labels].text for row in rows), strict=True))
    known = [(lettered(row[shape.labels]), row[shape.labels].text) for row in rows]
    return {letter: label for letter, label in known if re.fullmatch(r"[a-z]|\d{1,3}", letter)}


# --- a number a row


def _long(table: PrintedTable) -> dict[str, int] | None:
    """Find the columns of a table with a number a row."""
    heads = [folded(cell.text) for cell in table.rows[0]] if table.rows else []
    found = {
        role: next((i for i, head in enumerate(heads) if head in known), -1)
        for role, known in LONG.items()
    }
    found = {role: place for role, place in found.items() if place >= 0}
    return found if {"run", "measure", "value"} <= found.keys() else None


def _long_claims(
    number: int, table: PrintedTable, roles: Mapping[str, int], names: TableNames
) -> TableClaims:
    numbers: list[ClaimedNumber] = []
    unread = Counter[str]()
    pairs = [("run", "value")] + [("baseline", "basemean")] * (
        {"baseline", "basemean"} <= roles.keys()
    )
    sides = {who: names.runs_of([row[roles[who]] for row in table.rows[1:]]) for who, _ in pairs}
    for i, row in enumerate(table.rows[1:]):
        texts = {role: row[place].text for role, place in roles.items()}
        if texts.get("query", "").lower() not in ALL or texts.get("slice"):
            unread["values of single queries and slices are not checked"] += 1
            continue
        found = names.measure(row[roles["measure"]].raw) or names.measure(texts["measure"])
        for who, what in pairs:
            cell, label = row[roles[what]], row[roles[who]]
            if found is None or cell.number is None:
                if not cell.is_empty:
                    unread[f"{told(texts['measure'])} {told(cell.text)} cannot be read"] += 1
                continue
            place = list(dict.fromkeys([*(str(one.measure) for one in numbers), str(found[0])]))
            numbers.append(ClaimedNumber(
                label.text, sides[who][i], found[0], texts["measure"], cell, cell.number,
                (number, place.index(str(found[0]))), 0, found[1] or cell.number.percent,
                paired=len(pairs) > 1,
            ))  # fmt: skip
    once = {(one.label, str(one.measure), one.number.text): one for one in numbers}
    return TableClaims(_with_commas([*once.values()]), {}, table.notes, tuple(unread), table.place)
