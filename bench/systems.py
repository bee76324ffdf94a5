"""Write more runs beside one, as other systems would have made them.

    python bench/systems.py RUN COUNT       writes system-02.txt to system-COUNT.txt beside it

Each ranks the documents of the run and twice as many others, by an order that all share and by
noise of its own, and keeps as many as the run has. Two of them share half of their documents or
more, and four of the first ten.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from generate import RETRIEVED, SEED, distinct
from others import lists

#: How far documents are from the order that all share.
NOISE = 1.0


def pool(documents: list[str], query: int) -> tuple[list[str], np.ndarray]:
    """Add documents to those of one query; place each in the order that all share."""
    rng, count = np.random.default_rng((SEED, query)), len(documents)
    known = set(documents)
    drawn = map(str, distinct(rng, 1, 3 * count, RETRIEVED)[0].tolist())
    more = [document for document in drawn if document not in known][: 2 * count]
    own = np.arange(1, count + 1) * rng.lognormal(sigma=NOISE, size=count)
    return documents + more, np.append(own, rng.uniform(1, 3 * count, size=len(more)))


def write(run: Path, number: int) -> None:
    """Write another run."""
    rng = np.random.default_rng(number)
    with run.with_name(f"system-{number:02}{run.suffix}").open("w") as file:
        for i, (query, documents, scores) in enumerate(lists(run)):
            names, places = pool(documents, i)
            order = np.argsort(places * rng.lognormal(sigma=NOISE, size=len(places)))
            rows = zip((names[j] for j in order.tolist()), scores, strict=False)
            file.writelines(
                f"{query} Q0 {document} {rank} {score} system{number}\n"
                for rank, (document, score) in enumerate(rows, 1)
            )


if __name__ == "__main__":
    for each in range(2, int(sys.argv[2]) + 1):
        write(Path(sys.argv[1]), each)
