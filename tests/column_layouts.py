"""Columns of every library and layout: such as the kernel reads itself, and such as it must not."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Cells = dict[str, list[Any]]
Layout = Callable[[Cells], Any]

IDS = ("query", "document")
WHOLE = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
TEXTS = {"string": pa.string(), "large string": pa.large_string(), "view": pa.string_view()}


def typed(cells: Cells, ids: Any = None, numbers: Any = None) -> Any:
    """Make an Arrow table whose ids and numbers have these types."""
    kinds = {key: ids if key in IDS else numbers for key in cells}
    arrays = {key: pa.array(column) for key, column in cells.items()}
    return pa.table(
        {key: array.cast(kinds[key]) if kinds[key] else array for key, array in arrays.items()}
    )


def coded(cells: Cells, index: Any, text: Any) -> Any:
    """Make an Arrow table whose ids are numbers in a dictionary."""
    columns: dict[str, Any] = dict(cells)
    for key in IDS:
        array = pa.array(cells[key]).dictionary_encode()
        columns[key] = pa.DictionaryArray.from_arrays(
            array.indices.cast(index), array.dictionary.cast(text)
        )
    return sliced(pa.table(columns))


def sliced(table: Any) -> Any:
    """Give the same rows from the midst of a longer table."""
    longer = pa.concat_tables([table.slice(0, 1), table, table.slice(0, 1)]).combine_chunks()
    return longer.slice(1, len(table))


def sliced_typed(cells: Cells, ids: Any = None, numbers: Any = None) -> Any:
    return sliced(typed(cells, ids, numbers))


def chunked_typed(cells: Cells, ids: Any) -> Any:
    """Make the same table in chunks, some of them slices, one of them empty."""
    longer = sliced_typed(cells, ids)
    return pa.concat_tables([longer.slice(0, 3), longer.slice(3, 0), longer.slice(3)])


def apart(table: Any) -> Any:
    """Divide each column elsewhere."""
    arrays = {
        name: pa.chunked_array([column.slice(0, i), column.slice(i)])
        for i, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True), 1)
    }
    return pa.table(arrays)


def arrays(cells: Cells, ids: Any = None, numbers: Any = None) -> dict[str, Any]:
    """Make NumPy arrays."""
    return {key: np.array(cells[key], dtype=ids if key in IDS else numbers) for key in cells}


def strided(cells: Cells) -> dict[str, Any]:
    """Make arrays that are parts of others, one of them backwards."""
    wide = {key: np.repeat(array, 3)[::3] for key, array in arrays(cells).items()}
    wide["document"] = wide["document"][::-1].copy()[::-1]
    return wide


def relation(cells: Cells) -> Any:
    frame = pa.table(cells)  # noqa: F841  # named in the query below
    return duckdb.sql("select * from frame")


def frame(cells: Cells, ids: Any, numbers: Any = None) -> Any:
    """Make a frame of pandas whose ids and numbers have these types."""
    kinds = {key: ids if key in IDS else numbers for key in cells}
    return pd.DataFrame(cells).astype({key: kind for key, kind in kinds.items() if kind})


def polars(cells: Cells, ids: Any) -> Any:
    return pl.DataFrame(cells).with_columns(pl.col(key).cast(ids) for key in IDS)


#: Layouts that the kernel reads, of any text and numbers.
PLAIN: dict[str, Layout] = {
    "numpy": arrays,
    "numpy objects": partial(arrays, ids=object),
    "numpy float32": partial(arrays, numbers=np.float32),
    "numpy strided": strided,
    "numpy and others": lambda cells: arrays({**cells, "note": [None] * len(cells["query"])}),
    "pandas": pd.DataFrame,
    "pandas objects": partial(frame, ids=object),
    "pandas string": partial(frame, ids="string"),
    "pandas python string": partial(frame, ids=pd.StringDtype("python")),
    "pandas category": partial(frame, ids="category"),
    "pandas nullable": partial(frame, ids="string", numbers="Float64"),
    "pandas arrow": lambda cells: pa.table(cells).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas repeated index": lambda cells: pd.DataFrame(cells, index=[3] * len(cells["query"])),
    "polars": pl.DataFrame,
    "polars category": partial(polars, ids=pl.Categorical),
    "polars enum": lambda cells: polars(
        cells, pl.Enum(sorted({*cells["query"], *cells["document"]}))
    ),
    "polars chunks": lambda cells: pl.concat(
        [pl.DataFrame(cells)[:2], pl.DataFrame(cells)[2:]], rechunk=False
    ),
    "polars slice": lambda cells: pl.DataFrame({k: [c[0], *c] for k, c in cells.items()})[1:],
    "arrow batch": pa.RecordBatch.from_pydict,
    "arrow float32": partial(typed, numbers=pa.float32()),
    "arrow apart": lambda cells: apart(pa.table(cells)),
    "arrow and others": lambda cells: pa.table(
        {**cells, "note": [{"a": [1]}] * len(cells["query"])}
    ),
    "duckdb": relation,
    **{f"arrow {name}": partial(typed, ids=kind) for name, kind in TEXTS.items()},
    **{f"arrow {name} slice": partial(sliced_typed, ids=kind) for name, kind in TEXTS.items()},
    **{f"arrow {name} chunks": partial(chunked_typed, ids=kind) for name, kind in TEXTS.items()},
    **{
        f"arrow dictionary {index} {name}": partial(coded, index=index, text=kind)
        for index in WHOLE
        for name, kind in TEXTS.items()
    },
}

#: Layouts of whole numbers, which are ids as well.
NUMBERS: dict[str, Layout] = {
    "numpy objects": partial(arrays, ids=object),
    "pandas nullable": partial(frame, ids="Int64", numbers="Int64"),
    "pandas arrow": lambda cells: pa.table(cells).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "duckdb": relation,
    **{f"numpy {kind}": partial(arrays, ids=kind, numbers=kind) for kind in WHOLE},
    **{f"pandas {kind}": partial(frame, ids=kind, numbers=kind) for kind in WHOLE},
    **{f"arrow {kind}": partial(sliced_typed, ids=kind, numbers=kind) for kind in WHOLE},
}


#: One layout of each library, of whatever cells it takes.
MAKERS: dict[str, Layout] = {
    "numpy": arrays,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "duckdb": relation,
}


def with_cell(cells: Cells, key: str, cell: Any) -> Cells:
    """Put something into the second row of a column."""
    column = cells.get(key, [1.0] * len(cells["query"]))
    return {**cells, key: [column[0], cell, *column[2:]]}


def other(cells: Cells, **columns: Any) -> Cells:
    return {**cells, **{key: [cell] * len(cells["query"]) for key, cell in columns.items()}}


def with_null(key: str) -> Callable[[Cells], Cells]:
    return partial(with_cell, key=key, cell=None)


#: What is in columns that are not plain, whatever the library.
ODD: dict[str, Callable[[Cells], Cells]] = {
    **{f"null {key}": with_null(key) for key in (*IDS, "score", "rank", "tokens")},
    "empty query": partial(with_cell, key="query", cell=""),
    "empty document": partial(with_cell, key="document", cell=""),
    "no document found": lambda cells: with_cell(with_cell(cells, "document", None), "score", None),
    "no known rank": lambda cells: other(cells, rank=None),
    "no rank but nan": lambda cells: other(cells, rank=float("nan")),
    "no score but nulls": lambda cells: other(cells, score=None, rank=1),
    "score is nan": lambda cells: with_cell(cells, "score", float("nan")),
    "rank is nan": lambda cells: with_cell(cells, "rank", float("nan")),
    "rank is text": lambda cells: other(cells, rank="1"),
    "rank is no number": lambda cells: other(cells, rank="first"),
    "tokens are text": lambda cells: other(cells, tokens="x"),
    "score is text": lambda cells: other(cells, score="0.5"),
    "score is bool": lambda cells: other(cells, score=True),
    "score is decimal": lambda cells: other(cells, score=Decimal("0.5")),
    "score is a date": lambda cells: other(cells, score=dt.date(2020, 1, 1)),
    "query is bool": lambda cells: other(cells, query=True),
    "query is a float": lambda cells: other(cells, query=1.0),
    "query is bytes": lambda cells: other(cells, query=b"q1"),
    "document is a list": lambda cells: other(cells, document=["a"]),
    "a date besides": lambda cells: other(cells, when=dt.datetime(2020, 1, 1)),
    "two scores": lambda cells: other(cells, sim=0.5),
    "two names of the query": lambda cells: other(cells, qid="q2"),
    "no query": lambda cells: {k: c for k, c in cells.items() if k != "query"},
    "no document": lambda cells: {k: c for k, c in cells.items() if k != "document"},
    "no score": lambda cells: {k: c for k, c in cells.items() if k != "score"},
    "ranks alone": lambda cells: other({k: cells[k] for k in IDS}, rank=2),
    "no rows": lambda cells: {key: [] for key in cells},
    "nothing": lambda cells: {},
    "tied": lambda cells: other(cells, score=0.5),
    "retrieved twice": lambda cells: other(cells, document="d1"),
    "other names": lambda cells: {k.upper(): c for k, c in other(cells, **{"": 1}).items()},
}
