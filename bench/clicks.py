"""Time reading a log of clicks, and every model of it: seconds and memory.

    python bench/clicks.py [ROWS] [FOLDER]     first writes logs of so many rows, else 10 million

The log is made up: 20,000 queries, asked as Zipf says, with 30 documents each; pages of 10, in an
order that changes a little from page to page; users who look from the top down until satisfied.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from process import run

QUERIES, POOL, PAGE, BLOCK = 20_000, 30, 10, 50_000


def pages(count: int, seed: int = 1) -> Any:
    """Yield blocks of pages: session, query, document, position and clicked of each row."""
    draw = np.random.default_rng(seed)
    share = 1 / np.arange(1, QUERIES + 1)
    attractive = draw.beta(1, 4, (QUERIES, POOL))
    satisfying = draw.beta(2, 2, (QUERIES, POOL))
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        query = draw.choice(QUERIES, size, p=share / share.sum())
        noise = draw.exponential(2, (size, POOL)) * (draw.random((size, 1)) < 0.3)
        order = np.argsort(np.arange(POOL) + noise, axis=1)[:, :PAGE]
        clicked = np.zeros((size, PAGE), bool)
        looks = np.ones(size, bool)
        for place in range(PAGE):
            own = query, order[:, place]
            clicked[:, place] = looks & (draw.random(size) < attractive[own])
            looks &= ~(clicked[:, place] & (draw.random(size) < satisfying[own]))
            looks &= draw.random(size) < 0.9
        session = np.repeat(np.arange(start, start + size), PAGE)
        document = (query[:, None] * POOL + order).ravel()
        yield (
            session,
            np.repeat(query, PAGE),
            document,
            np.tile(np.arange(1, PAGE + 1), size),
            clicked.ravel(),
        )


def write(rows: int, folder: Path) -> list[Path]:
    """Write the log as Parquet and CSV, with ids as text."""
    names = ["session", "query", "document", "position", "clicked"]
    files = [folder / f"clicks-{rows}.parquet", folder / f"clicks-{rows}.csv"]
    if all(file.exists() for file in files):
        return files
    kinds = [pa.string()] * 3 + [pa.int32(), pa.int8()]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    with (
        pa.parquet.ParquetWriter(files[0], schema) as parquet,
        pa.csv.CSVWriter(
            files[1], schema, write_options=pa.csv.WriteOptions(quoting_style="none")
        ) as csv,
    ):
        for columns in pages(rows // PAGE):
            texts = [
                pa.array([f"{word}{one}" for one in column.tolist()])
                for word, column in zip(("s-2026-", "query ", "sku"), columns, strict=False)
            ]
            numbers = [pa.array(columns[3].astype(np.int32)), pa.array(columns[4].astype(np.int8))]
            table = pa.table([*texts, *numbers], schema=schema)
            parquet.write_table(table)
            csv.write_table(table)
    return files


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())
    files = write(rows, folder)
    print(f"{rows:,} rows")
    print(f"{'':24}{'seconds':>9}{'MB':>7}")
    for file in files:
        for model in ("ctr", "coec", "pbm", "sdbn", "dbn") if file == files[0] else ("pbm",):
            target = f"{folder}/grades.csv"
            command = ["idealist", "clicks", str(file), "--model", model, "-q", "--write", target]
            done = run(command)
            print(
                f"{file.suffix[1:] + ' ' + model:24}{done.seconds:9.1f}{done.megabytes or 0:7.0f}"
            )


if __name__ == "__main__":
    main()
