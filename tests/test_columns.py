"""Columns that the kernel reads itself mean what Python's reader takes them for."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

from column_cases import (
    CELLS,
    JUDGED,
    QRELS,
    RULES,
    WHOLE,
    DeclinedError,
    Outcome,
    by_definition,
    kernel_alone,
    placed,
)
from column_layouts import MAKERS, NUMBERS, ODD, PLAIN, Cells, arrays
from generated import seeds
from idealist import kernel
from idealist.formats import borrowed_run, read_qrels
from idealist.protocol import Protocol
from idealist.ranking.ranked import listing
from kernel_cases import Case, both, outcome, some_judgments, some_protocol
from kernel_rows import columns, some_rows

pytestmark = pytest.mark.skipif(kernel.name() != "native", reason="there is no compiled kernel")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what tests set undone."""
    monkeypatch.setenv("IDEALIST_KERNEL", "native")
    monkeypatch.setenv("IDEALIST_THREADS", "2")


@pytest.fixture(scope="module")
def defined() -> dict[str, Outcome]:
    """What the definition makes of texts and of whole numbers."""
    return {"text": by_definition(CELLS), "whole": by_definition(WHOLE)}


@pytest.mark.parametrize("threads", ["1", "2", "5"])
@pytest.mark.parametrize("layout", PLAIN)
def test_plain_columns_are_read_by_the_kernel(
    layout: str, threads: str, defined: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_THREADS", threads)
    with kernel_alone():
        assert placed(PLAIN[layout](CELLS)) == defined["text"]


@pytest.mark.parametrize("layout", NUMBERS)
def test_whole_numbers_are_read_by_the_kernel(layout: str, defined: dict[str, Outcome]) -> None:
    with kernel_alone():
        assert placed(NUMBERS[layout](WHOLE)) == defined["whole"]


@pytest.mark.parametrize("layout", PLAIN)
def test_some_rows_are_picked_by_the_kernel(layout: str) -> None:
    run = borrowed_run(PLAIN[layout](CELLS))
    with kernel_alone():
        found = listing(run, Protocol(), ["q2", "none", "日本"])
    ranked = {query: ranking.documents for query, ranking in found.items()}
    assert ranked == {"q2": ["d1", "another-document"], "日本": ["d1"]}


@pytest.mark.parametrize("library", MAKERS)
@pytest.mark.parametrize("odd", ODD)
def test_what_is_not_plain_means_what_python_takes_it_for(odd: str, library: str) -> None:
    try:
        data = MAKERS[library](ODD[odd](CELLS))
    except (TypeError, ValueError, duckdb.Error):
        pytest.skip(f"{library} has no such column")
    for rules in [*((one,) for one in RULES), RULES]:
        python, native = both(Case("columns", JUDGED, data, rules, listed=("q1", "q2")), Path())
        assert native == python


#: What ends with Python's reader although its parts look plain.
DECLINED: dict[str, Callable[[], Any]] = {
    "a masked array": lambda: {**arrays(CELLS), "score": np.ma.array(CELLS["score"])},
    "other byte order": lambda: {**arrays(CELLS), "score": arrays(CELLS)["score"].astype(">f8")},
    "float16": lambda: {**arrays(CELLS), "score": arrays(CELLS)["score"].astype("f2")},
    "StringDType": lambda: arrays(CELLS, ids=np.dtypes.StringDType()),
    "a list": lambda: {**arrays(CELLS), "score": CELLS["score"]},
    "a longer column": lambda: {**arrays(CELLS), "note": np.zeros(99)},
    "a column without a length": lambda: {**arrays(CELLS), "note": np.array(1)},
    "a table as a column": lambda: {**arrays(CELLS), "score": np.zeros((7, 1))},
    "a surrogate": lambda: arrays({**CELLS, "query": ["\ud800"] * 7}),
    "a str of another kind": lambda: arrays({**CELLS, "query": [np.str_("q1")] * 7}, ids=object),
    "a number too long": lambda: arrays({**WHOLE, "document": [10**30] * 4}, ids=object),
    "a named index": lambda: pd.DataFrame(CELLS).set_index("query"),
    "names twice": lambda: pd.DataFrame(CELLS).rename(columns={"tokens": "rank"}),
    "a plan": lambda: pl.DataFrame(CELLS).lazy(),
    "a reader": lambda: pa.table(CELLS).to_reader(),
    "a slice of structs": lambda: pa.chunked_array(
        [pa.table(CELLS).to_struct_array().combine_chunks().slice(1)]
    ),
    "an extension": lambda: pa.table({**CELLS, "note": pa.array([b"0" * 16] * 7, pa.uuid())}),
    "numbers by dictionary": lambda: pa.table(
        {**CELLS, "score": pa.array(CELLS["score"]).dictionary_encode()}
    ),
}


@pytest.mark.parametrize("name", DECLINED)
def test_python_reads_what_is_almost_plain(name: str) -> None:
    with kernel_alone(), pytest.raises(DeclinedError):
        placed(DECLINED[name]())
    for rules in [*((one,) for one in RULES), RULES]:
        case = Case("columns", JUDGED, None, rules)
        python = outcome(case, DECLINED[name](), QRELS, "python")
        assert outcome(case, DECLINED[name](), QRELS, "native") == python


def test_many_rows_are_divided_among_threads() -> None:
    rng, size = np.random.default_rng(0), 150_000
    ids = {"query": rng.integers(0, 90, size), "document": rng.permutation(size)}
    table = pa.table({**ids, "score": rng.integers(0, 9, size) / 8})
    texts = pa.table({**{k: table[k].cast("string") for k in ids}, "score": table["score"]})
    judged = {str(q): {str(d): 1.0 for d in range(q, size, 997)} for q in range(0, 80, 3)}
    chunks, rules, qrels = in_chunks(texts, 9, 77_777), (RULES[0], RULES[3]), read_qrels(judged)
    defined = outcome(Case("columns", judged, None, rules), table, qrels, "python")
    assert len(defined["0.rank"][-1]) > 0
    for threads in (1, 3):
        case = Case("columns", judged, None, rules, threads=threads)
        for data in (table, chunks):
            with kernel_alone():
                assert outcome(case, data, qrels, "native") == defined


def in_chunks(table: Any, *cuts: int) -> Any:
    """Give the same rows in chunks that end at these."""
    parts = zip([0, *cuts], [*cuts, len(table)], strict=True)
    return pa.concat_tables([table.slice(begin, end - begin) for begin, end in parts])


def table_of(rng: random.Random, cells: Cells) -> Any:
    """Make a table in some layout, some of its cells null, some of its rows in other chunks."""
    lost = rng.random() < 0.2
    cells = {
        key: [None if lost and rng.random() < 0.03 else cell for cell in column]
        for key, column in cells.items()
    }
    with np.errstate(over="ignore"):
        made = {**PLAIN, **MAKERS}[rng.choice([*PLAIN, *MAKERS])](cells)
    if isinstance(made, pa.Table) and rng.random() < 0.5:
        made = in_chunks(made, *sorted(rng.randint(0, len(made)) for _ in range(3)))
    return made


@given(seeds)
@settings(max_examples=300, deadline=None)
def test_any_columns_mean_what_python_takes_them_for(seed: int) -> None:
    rng = random.Random(seed)
    cells = columns(rng, some_rows(rng))
    try:
        data = table_of(rng, cells)
    except (TypeError, ValueError, OverflowError, IndexError, pa.ArrowException, duckdb.Error):
        return  # cells of several kinds in one column, or no rows to cut
    rules = tuple(some_protocol(rng, rng.random() < 0.6) for _ in range(rng.choice([1, 1, 2])))
    case = Case(
        "columns", some_judgments(rng), data, rules, threads=rng.choice([1, 2, 3]),
        listed=("q1", "é", "zz") if rng.random() < 0.3 else (),
    )  # fmt: skip
    python, native = both(case, Path())
    assert native == python
