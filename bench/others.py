"""Write more runs beside one: its documents in another order, some of them left out.

    python bench/others.py RUN COUNT        writes run-02.txt to run-COUNT.txt beside it

Each has its own seed, so that it is the same every time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import numpy as np

#: How far a document moves, in ranks at the first one, and the share that is left out.
MOVED, LEFT_OUT = 2.0, 0.1


def lists(run: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Read a run query by query: its documents and scores."""
    with run.open() as file:
        for query, rows in groupby(map(str.split, file), key=lambda row: row[0]):
            columns = [*zip(*rows, strict=True)]
            yield query, list(columns[2]), list(columns[4])


def write(run: Path, number: int) -> None:
    """Write another run."""
    rng = np.random.default_rng(number)
    with run.with_name(f"{run.stem}-{number:02}{run.suffix}").open("w") as file:
        for query, documents, scores in lists(run):
            ranks = np.arange(1, len(documents) + 1)
            order = np.argsort(ranks * rng.lognormal(sigma=MOVED / 2, size=len(ranks)))
            kept = order[rng.random(len(order)) >= LEFT_OUT].tolist()
            rows = zip((documents[i] for i in kept), scores, strict=False)
            file.writelines(
                f"{query} Q0 {document} {rank} {score} other{number}\n"
                for rank, (document, score) in enumerate(rows, 1)
            )


if __name__ == "__main__":
    for each in range(2, int(sys.argv[2]) + 1):
        write(Path(sys.argv[1]), each)
