"""Tables in Python: dicts, lists, tuples, records, columns and data frames become `Cells`.

{query: {document: value}}           value a number, or {"grade": 2, "abstain": 0.1}
{query: [document, …]}               a ranking, best first; as judgments, the relevant ones
{query: [(document, value), …]}
[(query, document, value), …]        also named tuples and records (dicts)
{"query": […], "document": […], …}   columns, also data frames
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NoReturn

from idealist.errors import Faults
from idealist.formats import column_guesses, engines, frames
from idealist.formats.cells import Cells, add_query, checked_id, pivot, shown
from idealist.formats.column_names import ALIASES, are_columns, columns_option
from idealist.formats.reading import Reading

#: Finds the line of a key in JSON by its path.
Locate = Callable[..., int | None]
Row = tuple[Any, Any, dict[str, Any]]

SHAPES_HINT = (
    "give {query: {document: value}}, {query: [document, …]}, {query: [(document, value), …]}, "
    "[(query, document, value), …] or {'query': […], 'document': […], …}"
)


def cells_of(data: Any, reading: Reading, locate: Locate | None = None) -> Cells:
    """Read any of the shapes."""
    faults = reading.faults
    if (found := _by_query(data, reading)) is not None:
        return _nested(found, reading, locate)
    if (columns := frames.columns(data, faults)) is not None:
        return of_columns(columns, reading, nulls=True)
    if isinstance(data, Mapping):
        if _is_record(data, reading):
            return Cells(pivot([record(data, 1, reading)]), nulls=True)
        if _column_names(data, reading):
            listed = {key: _listed(key, column, faults) for key, column in data.items()}
            return of_columns(listed, reading)
        return _nested(data, reading, locate)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        rows = (record(one, number, reading) for number, one in enumerate(data, 1))
        return Cells(pivot(rows, reading.value))
    faults.fail("bad-shape", f"{type(data).__name__} cannot be read as a table", SHAPES_HINT)


def _by_query(data: Any, reading: Reading) -> dict[Any, Any] | None:
    """Read search responses, and logs that hold both sides; None for anything else."""
    if isinstance(data, (list, tuple)) and data and all(map(is_pair, data)):
        return side(data, reading)
    return engines.lists(data, reading)


def _nested(data: Mapping[Any, Any], reading: Reading, locate: Locate | None) -> Cells:
    """Read documents by query."""
    rows = (row for q, e in data.items() for row in _Query(q, reading, locate).rows(e))
    columns, faults = pivot(rows, reading.value), reading.faults

    def line(row: int) -> int | None:
        query, document = (str(columns[key][row]) for key in ("query", "document"))
        return None if locate is None else locate(query, document) or locate(query)

    none = [q for q, entries in data.items() if hasattr(entries, "__len__") and not len(entries)]
    empty = [query for query in (checked_id(q, faults) for q in none) if query is not None]
    return Cells(columns, line=line, empty=empty)


def of_columns(
    columns: Mapping[Any, list[Any]],
    reading: Reading,
    lines: list[int] | None = None,
    nulls: bool = False,
) -> Cells:
    """Read columns of equal length, whatever their names."""
    faults = reading.faults
    found = {name: list(columns[key]) for key, name in reading.named(columns).items()}
    lengths = {key: len(column) for key, column in found.items()}
    if len(set(lengths.values())) > 1:
        words = ", ".join(f"{key} {length}" for key, length in lengths.items())
        message = f"columns of different lengths: {words}"
        faults.fail("bad-column", message, "make them equally long")
    needed = ("query", "document", *(["grade"] if reading.value == "grade" else []))
    missing = [name for name in needed if name not in found]
    if missing and (missing != ["grade"] or any(found.values())):
        words = "the judgments have no grades" if missing == ["grade"] else "there is no {} column"
        hint = f"the columns are {', '.join(map(str, columns))[:200]}; say which one it is"
        option = column_guesses.named_option(columns, reading)
        faults.fail("missing-column", words.format(missing[0]), f"{hint}: {option}")
    if reading.value == "score" and not {"score", "rank"} & found.keys():
        _remark_order(found, reading)
    return Cells(found, lines, nulls=nulls)


def _remark_order(columns: dict[str, list[Any]], reading: Reading) -> None:
    """Say that the rows are the ranking, where some column could be the score."""
    others = {key: cells for key, cells in columns.items() if key not in ALIASES}
    if (number := column_guesses.unused_number(others)) is not None:
        option = columns_option({"score": number})
        message = (
            f"{reading.faults.file}: ranked in the order of its rows; if {number} is the score"
        )
        reading.remark("read-as", f"{message}: {option}")


def is_nested(data: Mapping[Any, Any], reading: Reading) -> bool:
    """Whether a dict of lists is documents by query, not columns or a search engine's JSON."""
    return not _column_names(data, reading) and not {"requests", "responses"} & data.keys()


def _column_names(data: Mapping[Any, Any], reading: Reading) -> bool:
    """Whether the keys are names of columns, not queries."""
    named = are_columns(data, reading.options.columns)
    return named and not isinstance(data[reading.ours(data)["query"]], Mapping)


def _is_record(data: Mapping[Any, Any], reading: Reading) -> bool:
    """Whether the data is a single row, as in JSON by the line with one line only."""
    if not are_columns(data, reading.options.columns):
        return False
    names = reading.ours(data)
    cells = [data[names[key]] for key in ("query", "document")]
    return all(cell is None or isinstance(cell, (str, int)) for cell in cells)


@dataclass(frozen=True)
class _Query:
    """One query of a dict, while its documents are read."""

    name: Any
    reading: Reading
    locate: Locate | None

    @property
    def value(self) -> str:
        """The column that matters."""
        return self.reading.value

    def rows(self, entries: Any) -> Iterator[Row]:
        """Read a dict or a list of documents."""
        if hasattr(entries, "to_dict") and not hasattr(entries, "columns"):  # a series
            entries = entries.to_dict()
        if isinstance(entries, Mapping):
            for document, cell in entries.items():
                if isinstance(cell, Mapping):
                    yield self.known(cell, document)
                else:
                    yield self.name, document, {self.value: cell}
        elif self.is_list(entries):
            yield from map(self.listed, entries)
        else:
            self.refuse(entries)

    def is_list(self, entries: Any) -> bool:
        """Whether these are documents one by one; a set has no order to rank them by."""
        unordered = self.value == "score" and isinstance(entries, Set)
        no_list = isinstance(entries, (str, bytes)) or hasattr(entries, "columns")
        return isinstance(entries, Iterable) and not no_list and not unordered

    def listed(self, entry: Any) -> Row:
        """Read a document, a pair of document and value, or everything known about a document."""
        if isinstance(entry, (tuple, list)) and len(entry) == 2:
            return self.name, entry[0], {self.value: entry[1]}
        if isinstance(entry, Mapping) and "document" in self.reading.ours(entry):
            return self.known(entry)
        if isinstance(entry, (tuple, list, Mapping)):
            self.refuse(entry)
        return self.name, entry, {"grade": 1} if self.value == "grade" else {}

    def known(self, cells: Mapping[Any, Any], document: Any = None) -> Row:
        """Read the cells of one document, which may name it and its query once more."""
        found = _named(cells, self.reading)
        own = found.pop("query", self.name), found.pop("document", document)
        if own != (self.name, own[1] if document is None else document):
            self.refuse(cells)
        if self.value not in found and any(isinstance(c, (Mapping, list)) for c in found.values()):
            self.refuse(cells)  # an object that holds more than cells
        return *own, found

    def refuse(self, found: Any) -> NoReturn:
        """Report that the data has none of the shapes."""
        line = self.locate(str(self.name)) if self.locate else None
        message = f"query {shown(self.name)}: cannot read {shown(found)}"
        self.reading.faults.fail("bad-shape", message, SHAPES_HINT, line)


def record(record: Any, number: int, reading: Reading) -> Row:
    """Read one row; errors name its number."""
    value = reading.value
    if hasattr(record, "_asdict"):
        record = record._asdict()
    if isinstance(record, Mapping):
        cells = _named(record, reading)
        if {"query", "document"} <= cells.keys():
            return cells.pop("query"), cells.pop("document"), cells
    elif isinstance(record, (tuple, list)) and len(record) == 3:
        return record[0], record[1], {value: record[2]}
    elif isinstance(record, (tuple, list)) and len(record) == 2 and value == "score":
        return record[0], record[1], {}
    reading.faults.fail("bad-shape", f"row {number}: cannot read {shown(record)}", SHAPES_HINT)


def _named(cells: Mapping[Any, Any], reading: Reading) -> dict[str, Any]:
    return {name: cells[key] for key, name in reading.renamed(cells).items()}


def _listed(key: Any, column: Any, faults: Faults) -> list[Any]:
    cells = column.tolist() if hasattr(column, "tolist") else column
    if isinstance(cells, (str, bytes, Mapping)) or not isinstance(cells, Iterable):
        message = f"column {shown(key)} is not a list: {shown(column)}"
        faults.fail("bad-column", message, "give a list for each column")
    return list(cells)


#: What logs call each side.
RETRIEVED = ("retrieved", "retrieved_ids", "results")
GROUND_TRUTH = ("ground_truth", "gold", "relevant", "expected")
#: Lists beside the retrieved documents, and what each says about them.
BESIDE = {"scores": "score", "tokens": "tokens"}


def is_pair(record: Any) -> bool:
    """Whether a record holds both sides."""
    return isinstance(record, Mapping) and all(
        any(name in record for name in names) for names in (RETRIEVED, GROUND_TRUTH)
    )


def side(
    records: Sequence[Any], reading: Reading, lines: Sequence[int] | None = None
) -> dict[Any, Any]:
    """Return one side by query: judgments for "grade", the run for "score".

    Queries are named by their key ``query``, ``query_id``, ``qid`` or ``id``, or else numbered.
    """
    found: dict[Any, Any] = {}
    value, faults = reading.value, reading.faults
    for number, record in enumerate(records, 1):
        line = lines[number - 1] if lines else None
        if not is_pair(record):
            hint = 'give {"retrieved": […], "ground_truth": {…}} for each query'
            faults.fail("bad-shape", f"record {number}: cannot read {shown(record)}", hint, line)
        names = GROUND_TRUTH if value == "grade" else RETRIEVED
        entries = next(record[name] for name in names if name in record)
        if value == "score":
            entries = _joined(record, entries, number, faults)
        query = record.get(reading.ours(record).get("query", "id"), number)
        add_query(found, query, entries, faults, line, f"record {number}: ")
    faults.check()
    return found


def _joined(record: Mapping[str, Any], entries: Any, number: int, faults: Faults) -> Any:
    """Join documents with the scores and lengths listed beside them."""
    beside = {own: record[name] for name, own in BESIDE.items() if name in record}
    if not beside or not isinstance(entries, (list, tuple)):
        return entries
    for name, cells in beside.items():
        if not isinstance(cells, list) or len(cells) != len(entries):
            message = f"record {number}: {name} {shown(cells)} for {len(entries)} documents"
            faults.fail("bad-shape", message, "give one for each retrieved document")
    rows = zip(entries, *beside.values(), strict=True)
    return [dict(zip(("document", *beside), row, strict=True)) for row in rows]
