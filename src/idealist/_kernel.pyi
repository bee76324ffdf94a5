"""The compiled kernel; its sources are in native/."""

from collections.abc import Callable, Iterator
from typing import Any

from numpy.typing import NDArray

from idealist.data.columns import Floats, Ints

#: The counts, flags, places and scores of a ranking, as `idealist.compiled` reads them, and the
#: names of unjudged documents: where those of each query start, where each ends, the text, and
#: their scores.
Columns = tuple[bytes, bytes, bytes, bytes, tuple[bytes, bytes, bytes, bytes]]

#: Lists of documents, as `idealist.ranking.document_lists` holds them: the same columns.
Lists = tuple[Ints, Ints, bytes, Floats]

class Judged:
    """Judged documents by query, looked up by the exact text of their ids."""

    def __init__(
        self, queries: tuple[str, ...], starts: Ints, documents: tuple[str, ...]
    ) -> None: ...

class Pairs:
    """Judged pairs of query and document, sorted by both."""

    def __init__(
        self, queries: tuple[str, ...], starts: Ints, documents: tuple[str, ...]
    ) -> None: ...
    def __len__(self) -> int: ...
    def queries(self) -> tuple[str, ...]: ...
    def starts(self) -> bytes: ...
    def documents(self) -> tuple[str, ...]: ...
    def judged(self) -> Judged:
        """Return the same as it is looked up."""

    def lines(self, grades: Floats, text: Callable[[float], str], begin: int, end: int) -> bytes:
        """Write some queries as lines of JSON, as `idealist.data.Qrels.hash` reads them."""

#: What was read of judgments: the pairs, their grades, and how many rows repeat another.
ReadPairs = tuple[Pairs, bytes, int]

def read_judgment_dict(data: dict[Any, Any]) -> ReadPairs | None:
    """Read a dict of dicts of grades; None where it holds anything but texts and numbers."""

def read_qrels(text: bytes) -> ReadPairs | None:
    """Read TREC's qrels; None where there are faults, or iterations that mean something."""

class Protocol:
    """The rules of `idealist.protocol.Protocol` that order a list.

    If not -1, `beside` is the number of a protocol among those asked for with it: only queries that
    have scores that differ in float64 alone are ranked.
    """

    def __init__(
        self,
        *,
        single: bool,
        order: str,
        ties: str,
        seed: str,
        duplicates: str,
        nonfinite: str,
        budget: float,
        in_tokens: bool,
        exclude_self: bool,
        beside: int,
        whole: Callable[[list[str]], list[str]] | None,
        named: int = 0,
    ) -> None: ...

class Layout:
    """How a text holds its rows: trec, msmarco, delimited, hits or lists.

    `fields` are the columns or keys, each with what it holds.
    """

    def __init__(
        self,
        kind: str,
        fields: list[tuple[str, str]] = ...,
        header: int = 0,
        separator: str = ",",
        decimal_comma: bool = False,
        skip_blanks: bool = False,
        items: str = "ids",
        item_fields: list[tuple[str, str]] = ...,
    ) -> None: ...

def rank_text(
    begin: Callable[[], int | Iterator[bytes]],
    layout: Layout,
    judged: list[Judged],
    protocols: list[Protocol],
    threads: int,
) -> dict[str, Any] | None:
    """Rank text while it is read: from a descriptor, or blocks of bytes; None where not plain."""

def read_judged_text(
    begin: Callable[[], int | Iterator[bytes]], layout: Layout
) -> ReadPairs | None:
    """Read judgments in text, whose scores are grades; None where they are not plain."""

def pick_rows(
    begin: Callable[[], int | Iterator[bytes]], layout: Layout, queries: Judged, threads: int
) -> dict[str, Any] | None:
    """Read the rows of some queries."""

def rank_dict(
    data: dict[Any, Any], judged: list[Judged], protocols: list[Protocol], threads: int
) -> tuple[list[Columns], list[str], bool] | None:
    """Rank a dict of dicts or lists; None where it holds anything but plain ids and numbers."""

def rank_rows(
    queries: tuple[str, ...],
    starts: Ints,
    documents: list[str],
    scores: Floats | None,
    ranks: Floats | None,
    tokens: Floats | None,
    judged: list[Judged],
    protocols: list[Protocol],
    threads: int,
) -> list[Columns] | None:
    """Rank rows that are grouped by query; None where the documents are no list."""

class ArrowTable:
    """The columns of an Arrow stream; `names` is None where it is a column itself, number 0."""

    names: list[str] | None
    numeric: list[bool]

    def read(self) -> bool:
        """Read all rows and close the stream; whether there was nothing wrong with it."""

def arrow_table(capsule: object) -> ArrowTable | None:
    """Take over a stream; None where Python may be unable to list one of its columns."""

#: A NumPy array, or a column of an Arrow table by its number.
Cells = NDArray[Any] | tuple[ArrowTable, int]

def rank_columns(
    columns: dict[str, Cells], judged: list[Judged], protocols: list[Protocol], threads: int
) -> tuple[list[Columns], list[str]] | None:
    """Rank columns query, document, scores, ranks and tokens; None where one is not plain."""

def rank_batches(
    table: ArrowTable,
    columns: dict[str, int],
    judged: list[Judged],
    protocols: list[Protocol],
    threads: int,
) -> tuple[list[Columns], list[str]] | None:
    """Rank columns of a table while it is read; None also where rows of a query are apart."""

def read_judgments(columns: dict[str, Cells]) -> ReadPairs | None:
    """Read judgments in columns query, document and grades; None where one is not plain."""

def pick_columns(
    columns: dict[str, Cells], queries: Judged, threads: int
) -> tuple[list[int], list[str], dict[str, bytes]] | None:
    """Give the rows of some queries: how many each has, their documents and their numbers."""

def merge_lists(
    runs: list[Lists], first: int, last: int
) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes]:
    """Join what runs found for some queries, as `idealist.fusing.ranked_runs` defines it.

    The documents of each query are named by starts, ends and text; then come where the list of each
    query and run starts, and the number and the score of each document in it.
    """

def rank_lists(
    queries: tuple[str, ...],
    lists: Lists,
    judged: list[Judged],
    protocols: list[Protocol],
    threads: int,
) -> list[Columns]:
    """Rank lists in which no document comes twice."""

def lines_of_lists(queries: tuple[str, ...], lists: Lists, tag: str) -> bytes | None:
    """Write lists as TREC text; None where an id cannot stand in it."""
