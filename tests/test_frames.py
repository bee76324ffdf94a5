"""Data frames of every library and layout give the same tables as a dict."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

import idealist as il

QRELS = {"q1": {"d1": 2, "d2": 0, "é3": 1}, "q2": {"d1": 1}}
RUN = {"q1": {"d2": 0.5, "d1": 0.25, "x": 0.125}, "q2": {"d1": 1.0}}
GRADES: dict[str, list[Any]] = {
    "query": ["q1", "q1", "q1", "q2"], "document": ["d1", "d2", "é3", "d1"], "grade": [2, 0, 1, 1],
}  # fmt: skip
SCORES: dict[str, list[Any]] = {
    "query": ["q1", "q1", "q1", "q2"], "document": ["d2", "d1", "x", "d1"],
    "score": [0.5, 0.25, 0.125, 1.0],
}  # fmt: skip


def typed(columns: dict[str, list[Any]], text: Any, number: Any) -> Any:
    """Make an Arrow table whose text and numbers have these types."""
    kinds = {key: number if key in ("grade", "score") else text for key in columns}
    return pa.table({key: pa.array(cells).cast(kinds[key]) for key, cells in columns.items()})


def dictionary(columns: dict[str, list[Any]]) -> Any:
    arrays = {key: pa.array(cells).dictionary_encode() for key, cells in columns.items()}
    return pa.table({**arrays, "extra": pa.nulls(len(columns["query"]))})


def chunked(columns: dict[str, list[Any]]) -> Any:
    table = pa.table(columns)
    return pa.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1, 3)])


def sliced(columns: dict[str, list[Any]]) -> Any:
    wrong = {key: [cells[-1], *cells, cells[0]] for key, cells in columns.items()}
    return pa.table(wrong).slice(1, len(columns["query"]))


def indexed(columns: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(columns).set_index(["query", "document"])


def categorical(columns: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(columns).astype({"query": "category", "document": "category"})


def nullable(columns: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(columns).convert_dtypes()


def shuffled_index(columns: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(columns, index=[7, 7, 3, 1])


def relation(columns: dict[str, list[Any]]) -> Any:
    frame = pa.table(columns)  # noqa: F841  # named in the query below
    return duckdb.sql("select * from frame")


LAYOUTS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda c: pd.DataFrame(c, dtype=object),
    "pandas strings": lambda c: pd.DataFrame(c).astype({"query": "string", "document": "string"}),
    "pandas index": indexed,
    "pandas category": categorical,
    "pandas nullable": nullable,
    "pandas repeated index": shuffled_index,
    "pandas arrow": lambda c: pa.table(c).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas float32": lambda c: pd.DataFrame(c).astype(
        {key: "float32" for key in ("grade", "score") if key in c}
    ),
    "polars": pl.DataFrame,
    "polars lazy": lambda c: pl.DataFrame(c).lazy(),
    "polars category": lambda c: pl.DataFrame(c).with_columns(pl.col("query").cast(pl.Categorical)),
    "polars chunks": lambda c: pl.concat([pl.DataFrame(c)[:2], pl.DataFrame(c)[2:]], rechunk=False),
    "arrow": pa.table,
    "arrow string": lambda c: typed(c, pa.string(), pa.float64()),
    "arrow large string": lambda c: typed(c, pa.large_string(), pa.float32()),
    "arrow string view": lambda c: typed(c, pa.string_view(), pa.float16()),
    "arrow dictionary": dictionary,
    "arrow chunks": chunked,
    "arrow slice": sliced,
    "arrow batch": pa.RecordBatch.from_pydict,
    "arrow reader": lambda c: pa.table(c).to_reader(),
    "duckdb": relation,
    "duckdb decimal": lambda c: relation(
        {k: [Decimal(str(x)) for x in v] if k in ("grade", "score") else v for k, v in c.items()}
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_frame_of_judgments_is_the_dict(layout: str) -> None:
    assert il.read_qrels(LAYOUTS[layout](GRADES)).hash == il.read_qrels(QRELS).hash


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_frame_of_a_run_evaluates_as_the_dict(layout: str) -> None:
    expected = il.evaluate(QRELS, RUN)
    found = il.evaluate(QRELS, LAYOUTS[layout](SCORES))
    assert dict(found.aggregates) == dict(expected.aggregates)
    assert found.per_query == expected.per_query


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, relation])
def test_whole_numbers_are_ids(make: Callable[[Any], Any]) -> None:
    frame = make({"query": [1, 1], "document": [10, 11], "grade": [1, 0]})
    assert il.read_qrels(frame).lookup == {"1": {"10": 0, "11": 1}}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, relation])
def test_a_document_without_a_grade_is_not_judged(make: Callable[[Any], Any]) -> None:
    frame = make(
        {"query": ["q1", "q1", "q2"], "document": ["d1", "d2", "d1"], "grade": [2, None, 1]}
    )
    qrels = il.read_qrels(frame)
    assert qrels.hash == il.read_qrels({"q1": {"d1": 2}, "q2": {"d1": 1}}).hash
    assert qrels.ungraded == 1
    (doubt,) = [d for d in il.evaluate(qrels, RUN).doubts if d.code == "ungraded"]
    assert doubt.count == 1


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, relation])
def test_an_outer_join_says_that_nothing_was_found(make: Callable[[Any], Any]) -> None:
    frame = make({"query": ["q1", "q2"], "document": ["d1", None], "score": [0.5, None]})
    assert set(il.read_run(frame).rows().queries) == {"q1", "q2"}
    result = il.evaluate(QRELS, frame, "RR")
    assert result.per_query["RR"] == [1.0, 0.0]
    assert "missing-queries" not in {doubt.code for doubt in result.doubts}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_grade_0_for_no_document_says_that_there_is_no_answer(make: Callable[[Any], Any]) -> None:
    frame = make(
        {"query": ["q1", "q2", "q3"], "document": ["d1", None, None], "grade": [1, 0, None]}
    )
    assert il.read_qrels(frame).queries == ("q1", "q2")
    assert il.read_qrels(frame).hash == il.read_qrels({"q1": {"d1": 1}, "q2": {}}).hash


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_document_without_a_score_was_not_retrieved(make: Callable[[Any], Any]) -> None:
    frame = make({"query": ["q1", "q1"], "document": ["d1", "x"], "score": [None, 0.5]})
    result = il.evaluate(QRELS, frame, ["RR", "NumRet"])
    assert (result.per_query["RR"], result["NumRet"]) == ([0.0, 0.0], 1)
    (doubt,) = [doubt for doubt in result.doubts if doubt.code == "unscored"]
    assert doubt.count == 1


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_an_outer_join_is_both_judgments_and_run(make: Callable[[Any], Any]) -> None:
    judged = pd.DataFrame(GRADES)
    joined = judged.merge(pd.DataFrame(SCORES), how="outer", on=["query", "document"])
    frame = make(joined.astype(object).where(joined.notna(), None).to_dict("list"))
    assert dict(il.evaluate(frame, frame).aggregates) == dict(il.evaluate(QRELS, RUN).aggregates)


FAULTY = {
    "an id that pandas made a float": (
        pd.DataFrame({"query": [1, None], "document": ["d1", "d2"], "grade": [1, 1]}), "bad-id", "1.0"),
    "bytes": (pa.table({"query": [b"q"], "document": ["d"], "grade": [1]}), "bad-id", "b'q'"),
    "no document": (pl.DataFrame({"query": ["q"], "place": ["d"], "grade": [1]}), "missing-column", "document"),
    "no grade": (pl.DataFrame({"query": ["q"], "document": ["d"]}), "missing-column", "no grades"),
    "columns of one name": (
        pd.DataFrame([["q", "d", 1, 2]], columns=["query", "document", "grade", "grade"]),
        "bad-column", "'grade'"),
    "text for a grade": (
        pl.DataFrame({"query": ["q"], "document": ["d"], "grade": ["high"]}), "bad-grade", "'high'"),
    "a grade that is NaN": (
        pl.DataFrame({"query": ["q"], "document": ["d"], "grade": [np.nan]}), "bad-grade", "nan"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTY)
def test_a_faulty_frame_is_refused(fault: str) -> None:
    frame, code, says = FAULTY[fault]
    with pytest.raises(il.InputError) as caught:
        il.read_qrels(frame)
    assert caught.value.code == code
    assert says in str(caught.value)


def write_stream(table: Any, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("write", [pa.parquet.write_table, pa.feather.write_feather, write_stream])
def test_binary_files_are_known_by_their_bytes(
    write: Callable[[Any, Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "table"
    write(pa.table(GRADES), path)
    assert il.read_qrels(path).hash == il.read_qrels(QRELS).hash
    write(pa.table(SCORES), path)
    assert dict(il.evaluate(QRELS, path).aggregates) == dict(il.evaluate(QRELS, RUN).aggregates)


@pytest.mark.parametrize("write", [pa.parquet.write_table, pa.feather.write_feather, write_stream])
def test_a_cut_binary_file_is_refused(write: Callable[[Any, Path], None], tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    write(pa.table(GRADES), path)
    whole = path.read_bytes()
    for length in range(6, len(whole) - 10, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(il.InputError):
            il.read_qrels(path)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(il.InputError, match="Series is not a table of columns"):
        il.read_qrels(pd.Series({"a": 1}))


def test_a_column_of_ids_comes_before_one_of_texts() -> None:
    frame = pd.DataFrame(
        {
            "query": ["how to sort"],
            "qid": ["q1"],
            "docno": ["d1"],
            "document": ["text"],
            "score": [1],
        }
    )
    rows = il.read_run(frame).rows()
    assert (rows.queries, list(rows.documents)) == (("q1",), ["d1"])
    with pytest.raises(il.InputError, match="score and similarity could each be the score"):
        il.read_run(frame.assign(similarity=[2]))


def test_extra_columns_are_kept_and_text_changes_no_hash() -> None:
    frame = pd.DataFrame({**GRADES, "title": list("abcd"), "abstain": [0.5, None, 0.25, 0]})
    qrels = il.read_qrels(frame)
    assert qrels.columns["title"] == ("a", "b", "c", "d")
    assert qrels.hash == il.read_qrels(frame.drop(columns="title")).hash
    assert qrels.hash != il.read_qrels(frame.drop(columns="abstain")).hash
