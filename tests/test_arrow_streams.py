"""Arrow's streams: what is read of them is checked, and nothing of them is kept."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import idealist as il
from column_cases import CELLS, QRELS, DeclinedError, by_definition, kernel_alone, placed
from column_layouts import ODD
from idealist import kernel
from idealist.formats import borrowed_run
from idealist.protocol import Protocol
from idealist.ranking.ranked import rank

pytestmark = pytest.mark.skipif(kernel.name() != "native", reason="there is no compiled kernel")


def texts(offsets: list[int], text: bytes = b"d1d2d3d4", width: str = "i4") -> Any:
    """Make text at offsets that were changed after they were checked."""
    kind, ends = pa.string() if width == "i4" else pa.large_string(), np.zeros(3, width)
    array = pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(ends), pa.py_buffer(text)])
    ends[:] = offsets
    return array


def views(size: int, prefix: bytes, buffer: int, begin: int) -> Any:
    """Make two views; nobody has checked the second one."""
    cells = np.zeros(32, np.uint8)
    buffers = [None, pa.py_buffer(cells), pa.py_buffer(b"a-longer-document")]
    array = pa.Array.from_buffers(pa.string_view(), 2, buffers)
    first = np.array([2], "i4").tobytes() + b"d1".ljust(12, b"\0")
    second = np.array([size], "i4").tobytes() + prefix + np.array([buffer, begin], "i4").tobytes()
    cells[:] = np.frombuffer(first + second, np.uint8)
    return array


def by_number(numbers: list[int], kind: str = "i4") -> Any:
    """Make ids by their numbers in a dictionary of two."""
    indices = pa.array(np.array(numbers, kind))
    return pa.DictionaryArray.from_arrays(indices, pa.array(["d1", "d2"]), safe=False)


#: Ids of Arrow's that point nowhere, or are no text.
BROKEN: dict[str, Callable[[], Any]] = {
    "falling offsets": lambda: texts([0, 4, 2]),
    "falling long offsets": lambda: texts([0, 4, 2], width="i8"),
    "negative offsets": lambda: texts([0, -2, 2]),
    "broken text": lambda: texts([0, 1, 2], b"d\xff"),
    "a letter divided": lambda: texts([0, 1, 2], "é".encode()),
    "a view of negative size": lambda: views(-1, b"a-lo", 0, 0),
    "a view that is too long": lambda: views(18, b"a-lo", 0, 0),
    "a view behind the end": lambda: views(17, b"-lon", 0, 1),
    "a view before the beginning": lambda: views(13, b"a-lo", 0, -1),
    "a view of another buffer": lambda: views(17, b"a-lo", 1, 0),
    "a view of no buffer": lambda: views(17, b"a-lo", -1, 0),
    "a view that begins otherwise": lambda: views(17, b"b-lo", 0, 0),
    "a number behind the dictionary": lambda: by_number([0, 2]),
    "a number before the dictionary": lambda: by_number([0, -1]),
    "a number far behind the dictionary": lambda: by_number([0, 2**64 - 1], "u8"),
}


@pytest.mark.parametrize("key", ["query", "document"])
@pytest.mark.parametrize("case", BROKEN)
def test_what_points_nowhere_is_not_followed(case: str, key: str) -> None:
    ids = pa.array(["q1", "q1"])
    table = pa.table({"query": ids, "document": ids, "score": [1.0, 2.0], key: BROKEN[case]()})
    with kernel_alone(), pytest.raises(DeclinedError):
        placed(table)


def test_what_points_somewhere_is_followed() -> None:
    for documents in (views(17, b"a-lo", 0, 0), by_number([0, 1]), texts([0, 2, 4])):
        table = pa.table({"query": ["q1", "q1"], "document": documents})
        with kernel_alone():
            found = rank(QRELS, borrowed_run(table), [Protocol()])[Protocol()]
        first = QRELS.lookup["q1"]["d1"]
        assert (sum(found.retrieved), found.rank[0], found.judgment[0]) == (2, 1, first)


class Stream:
    """What gives a new stream of batches each time that it is asked."""

    def __init__(self, batches: Callable[[], Iterator[Any]]) -> None:
        self.batches = batches

    def __len__(self) -> int:
        return 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(pa.table(CELLS).schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)


def failing() -> Iterator[Any]:
    yield pa.RecordBatch.from_pydict(CELLS)
    raise ValueError("the source is gone")


def test_a_stream_that_python_makes_is_read() -> None:
    stream = Stream(lambda: iter([pa.RecordBatch.from_pydict(CELLS)]))
    with kernel_alone():
        found = placed(stream)
    assert found == by_definition(CELLS)


def test_a_stream_that_fails_is_left_to_python() -> None:
    run = borrowed_run(Stream(failing))
    for _ in range(2):
        with kernel_alone(), pytest.raises(DeclinedError):
            placed(run)


def test_a_stream_that_waits_for_python_is_read() -> None:
    connection = duckdb.connect(config={"threads": 2})
    connection.create_function("same", lambda text: text, ["VARCHAR"], "VARCHAR")
    frame = pd.DataFrame(CELLS).astype({"query": object})
    connection.register("frame", frame)
    made = connection.sql("select * replace (same(document) as document) from frame")
    with kernel_alone():
        found = placed(made)
    assert found == by_definition(CELLS)


#: Tables that the kernel reads, and such as it leaves to Python sooner or later.
LEFT: dict[str, Callable[[], Any]] = {
    "plain": lambda: pa.table(CELLS),
    "with nulls": lambda: pa.table(ODD["null score"](CELLS)),
    "with dates": lambda: pa.table(ODD["a date besides"](CELLS)),
    "without a query": lambda: pa.table(ODD["no query"](CELLS)),
    "failing": lambda: Stream(failing),
}


@pytest.mark.parametrize("case", LEFT)
def test_nothing_of_a_stream_is_kept(case: str) -> None:
    gc.collect()
    before = pa.total_allocated_bytes()
    for _ in range(3):
        try:
            placed(LEFT[case]())
        except il.IdealistError:
            assert case in ("without a query", "failing")
    gc.collect()
    assert pa.total_allocated_bytes() == before
