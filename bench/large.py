"""Show what one machine does with many runs, and with a table larger than its memory should be.

    python bench/large.py runs              500 runs of 50 x 1,000: time on one core and on two
    python bench/large.py tables 7 28 70    Parquet of so many million rows: time and peak memory

Runs are evaluated by the command, on one core and on two in turn, so that what else happens there
meets both; the best of each counts. A table holds the rows of a query together or apart: then each
group of rows has some of every query.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from process import run
from shapes import FOLDER, say

RUNS, QUERIES, DEPTH, JUDGED, POOL = 500, 50, 1000, 150, 3000
#: Queries of a table, their judged documents, and rows of a group.
TABLE_QUERIES, TABLE_JUDGED, GROUP = 7000, 5, 2**20
SEED = 20250103


def make_runs(folder: Path) -> None:
    """Write runs that agree more or less on what is relevant; scores of every second one tie."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    documents = [rng.choice(200_000, POOL, replace=False) for _ in range(QUERIES)]
    worth = rng.normal(size=(QUERIES, POOL))
    folder.mkdir(parents=True, exist_ok=True)
    judged = np.argsort(-(worth + 0.5 * rng.normal(size=worth.shape)))[:, :JUDGED]
    with (folder.parent / "qrels.txt").open("w") as file:
        for query, places in enumerate(judged):
            grades = rng.choice(4, JUDGED, p=(0.55, 0.2, 0.17, 0.08))
            for document, grade in zip(documents[query][places], grades, strict=True):
                file.write(f"{301 + query} 0 doc{document:06} {grade}\n")
    for number in range(RUNS):
        scores = 10 + 3 * (worth + rng.uniform(0.3, 0.8) * rng.normal(size=worth.shape))
        scores = scores.round(2 if number % 2 else 6)
        with (folder / f"sys{number:03}.run").open("w") as file:
            for query, order in enumerate(np.argsort(-scores)[:, :DEPTH]):
                rows = zip(documents[query][order].tolist(), scores[query][order], strict=True)
                file.writelines(
                    f"{301 + query} Q0 doc{document:06} {rank} {score:.6f} sys{number}\n"
                    for rank, (document, score) in enumerate(rows, 1)
                )


def time_runs(folder: Path, repeats: int) -> Iterator[str]:
    """Evaluate all runs on one core and on two, in turn."""
    runs = folder / "runs"
    if not (runs / f"sys{RUNS - 1:03}.run").exists():
        say(f"writing {RUNS} runs")
        make_runs(runs)
    command = [sys.executable, "-c", "from idealist.cli.main import main; main()"]
    command += ["eval", str(folder / "qrels.txt"), str(runs), "-q"]
    seconds: dict[str, list[float]] = {"1": [], "2": []}
    printed = set()
    for _, threads in product(range(repeats), seconds):
        found = run(command, {"IDEALIST_THREADS": threads})
        seconds[threads].append(found.seconds)
        printed.add(found.printed)
    if len(printed) > 1:
        raise SystemExit("one core and two print different numbers")
    one, two = (min(taken) for taken in seconds.values())
    yield f"{RUNS} runs of {QUERIES} x {DEPTH:,}: {one:.2f} s on one core, {two:.2f} s on two"
    yield f"{one / two:.2f} times as fast; all of it: {seconds}"


def make_table(path: Path, millions: int, together: bool) -> None:
    """Write Parquet in groups of rows: each of some queries, or each of all queries."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    depth = millions * 1_000_000 // TABLE_QUERIES
    schema = pa.schema([("query", pa.string()), ("document", pa.string()), ("score", pa.float64())])
    size = TABLE_QUERIES * depth
    with pq.ParquetWriter(path, schema) as writer:
        for begin in range(0, size, GROUP):
            row = np.arange(begin, min(begin + GROUP, size))
            query, rank = np.divmod(row, depth) if together else np.divmod(row, TABLE_QUERIES)[::-1]
            document = (query * 104_729 + rank * 7919) % 79_999_987  # a prime: none comes twice
            score = 1000 - rank + (document % 97) / 7
            names = pa.array(query + 100_000).cast(pa.string())
            columns = [names, pa.array(document).cast(pa.string()), score]
            writer.write_table(pa.table(columns, schema=schema))
    ranks = range(0, depth, max(1, depth // TABLE_JUDGED))
    with path.with_suffix(".qrels").open("w") as file:
        file.writelines(
            f"{query + 100_000} 0 {(query * 104_729 + rank * 7919) % 79_999_987} {rank % 3}\n"
            for query in range(TABLE_QUERIES)
            for rank in ranks
        )


PROGRAM = """
import sys
import idealist as il
from idealist.formats import frame_parts
frame_parts.MOST_ROWS = int(sys.argv[3]) or frame_parts.MOST_ROWS
found = il.evaluate(sys.argv[1], sys.argv[2], ["nDCG@10", "AP", "R@100"])
print([values.tobytes().hex() for values in found.values.values()])
"""


def measure_tables(folder: Path, sizes: list[int]) -> Iterator[str]:
    """Evaluate tables whose queries lie together, and apart: held whole, and in parts."""
    yield "| million rows | a query's rows | seconds | peak MB |"
    yield "|---:|:---|---:|---:|"
    for millions in sizes:
        printed = set()
        for together in (True, False):
            path = folder / f"{millions}-{'together' if together else 'apart'}.parquet"
            if not path.exists():
                say(f"writing {path.name}")
                make_table(path, millions, together)
            ways = {"together": 0} if together else {"apart": 0, "apart, held whole": 10**12}
            for words, most in ways.items():
                qrels = str(path.with_suffix(".qrels"))
                found = run([sys.executable, "-c", PROGRAM, qrels, str(path), str(most)])
                printed.add(found.printed)
                yield f"| {millions} | {words} | {found.seconds:.1f} | {found.megabytes or 0:.0f} |"
        if len(printed) > 1:
            raise SystemExit("the ways give different numbers")


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["runs", "tables"])
    parser.add_argument("millions", nargs="*", type=int, default=[7, 28])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, default=FOLDER / "large", help="where data is kept")
    asked = parser.parse_args()
    asked.data.mkdir(parents=True, exist_ok=True)
    for line in (
        time_runs(asked.data, asked.repeats)
        if asked.what == "runs"
        else measure_tables(asked.data, asked.millions)
    ):
        print(line, flush=True)


if __name__ == "__main__":
    main()
