"""Time an evaluation on Spark beside the same in one process, and beside what Spark takes alone.

    python bench/spark.py                       7 million rows
    python bench/spark.py --queries 70000       70 million
    python bench/spark.py --queries 1 --depth 5000000

Seconds are of processors, so that other programs on the machine change them little: of Java, and
of the workers that run Python. What Spark takes alone is the same data frame, brought together
and sorted in the same way, and handed to workers that only count its rows. Every value is checked
against one process.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import idealist as il
from idealist.spark import evaluate
from idealist.spark.run_table import run_table

#: Judged documents of a query, and how many of them are retrieved.
JUDGED, FOUND = 20, 12
#: Rows that are made at once.
BLOCK = 1_000_000
MEASURES = ["nDCG@10", "AP", "RR@10"]
#: Ticks of a second in /proc.
TICKS = os.sysconf("SC_CLK_TCK")


def lists(queries: int, depth: int) -> Iterator[pa.Table]:
    """Make lists of distinct documents with falling scores, their rows in any order."""
    rng, at_once = np.random.default_rng(0), max(1, BLOCK // depth)
    for begin in range(0, queries, at_once):
        some = np.arange(begin, min(begin + at_once, queries))
        query = np.repeat(some, depth)
        document = 1_000_000 + np.tile(np.arange(depth), len(some)) * 7 + query % 7
        order = rng.permutation(len(query))
        yield pa.table({
            "query": pa.array(query[order]).cast(pa.string()),
            "document": pa.array(document[order]).cast(pa.string()),
            "score": rng.random(len(query)) * 10,
        })  # fmt: skip


def write_run(path: Path, queries: int, depth: int) -> None:
    with pq.ParquetWriter(
        path, pa.schema({"query": "string", "document": "string", "score": "double"})
    ) as file:
        for table in lists(queries, depth):
            file.write_table(table)


def judgments(queries: int, depth: int) -> dict[str, dict[str, int]]:
    """Judge some documents that were retrieved, and some that were not."""
    rng, judged = np.random.default_rng(1), {}
    for query in range(queries):
        places = rng.choice(depth, min(FOUND, depth), replace=False) * 7 + query % 7
        found = {str(1_000_000 + place): int(rng.integers(0, 4)) for place in places.tolist()}
        judged[str(query)] = found | {f"x{i}": 1 for i in range(JUDGED - FOUND)}
    return judged


class Watched:
    """What the processes below this one take: seconds of processors, and the most memory."""

    def __init__(self) -> None:
        self.before, self.began = self._seconds(), time.perf_counter()

    def _below(self) -> dict[int, list[str]]:
        """Find the processes that this one started, and those that they did."""
        stats = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                stats[int(folder.name)] = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
        found, last = {os.getpid()}, 0
        while len(found) > last:
            last = len(found)
            found |= {one for one, stat in stats.items() if int(stat[1]) in found}
        return {one: stats[one] for one in found}

    def _seconds(self) -> float:
        return sum(sum(map(int, stat[11:15])) for stat in self._below().values()) / TICKS

    def done(self) -> tuple[float, float]:
        """Return the seconds of processors, and of the clock."""
        return self._seconds() - self.before, time.perf_counter() - self.began

    def worker_megabytes(self) -> float:
        """Return the most memory that any worker of Python had."""
        most = 0
        for process in self._below():
            try:
                command = Path(f"/proc/{process}/cmdline").read_text()
                lines = Path(f"/proc/{process}/status").read_text().splitlines()
            except OSError:
                continue
            if "pyspark" in command and "java" not in command.split("\0")[0]:
                peak = next((line for line in lines if line.startswith("VmHWM")), "VmHWM: 0")
                most = max(most, int(peak.split()[1]))
        return most / 1024


def started(memory: str) -> Any:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def counting(batches: Any) -> Any:
    """Count rows, and do nothing else."""
    yield pa.record_batch([pa.array([sum(batch.num_rows for batch in batches)])], ["rows"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=7000)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--memory", default="3g", help="the memory of Java")
    given = parser.parse_args()
    rows = given.queries * given.depth
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.parquet"
        write_run(path, given.queries, given.depth)
        qrels = il.read_qrels(judgments(given.queries, given.depth))
        spark = started(given.memory)
        spark.sparkContext.setLogLevel("ERROR")
        evaluate(qrels, spark.createDataFrame(next(lists(2, 10))), MEASURES)  # Java warms up
        print(f"{rows:,} rows, {given.queries:,} queries")

        def told(what: str, watched: Watched) -> None:
            processors, clock = watched.done()
            rate = rows / processors / 1e6
            seconds = f"{processors:7.1f} s of processors, {clock:6.1f} s"
            print(f"{what:40}{seconds}, {rate:5.2f} million rows a second and core", flush=True)

        for _ in range(given.turns):  # in the first one Java compiles itself
            watched = Watched()
            frame = run_table(spark, str(path), None).lists({"score"})
            counted = frame.mapInArrow(counting, "rows long").collect()
            assert sum(row.rows for row in counted) == rows
            told("Spark alone: shuffle, sort, hand over", watched)
            watched = Watched()
            evaluations = evaluate(qrels, str(path), MEASURES)
            found = evaluations["run"]
            evaluations.unpersist()
            told("Spark: evaluate", watched)
        print(f"most memory of a worker: {watched.worker_megabytes():.0f} MB")
        watched = Watched()
        alone = il.evaluate(qrels, path, MEASURES)
        told("one process: evaluate", watched)
        assert all(
            found.values[label].tobytes() == alone.values[label].tobytes() for label in alone
        )
        assert found.doubts == alone.doubts
        spark.stop()


if __name__ == "__main__":
    main()
