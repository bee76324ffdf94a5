"""Write judgments and a run with what real ones have and made-up ones lack.

    python bench/real.py FOLDER QUERIES DEPTH JUDGED

Rows come in any order, lists are of uneven length, ids are URLs, numbers and names of mixed length,
grades go from 0 to 3, scores have as many digits as a program prints, some tie, some judged queries
are missing and some queries of the run are not judged.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

SEED = 20250102
#: The shares of judged queries that the run lacks, of its queries that are not judged, of judged
#: documents that are retrieved, and of scores that tie with the one before.
MISSING, UNJUDGED, FOUND, TIED = 0.03, 0.02, 0.7, 0.02
#: How probable the grades 0 to 3 are.
GRADES = (0.55, 0.2, 0.17, 0.08)
HOSTS = ("https://example.org/wiki/", "http://shop.example.com/p?id=", "doc", "", "MED-", "s3://b/")


def document(number: int) -> str:
    """Write the id of a document: a few kinds, of many lengths."""
    tail = f"/{'section-' * (number % 5)}{number % 97}.html" if number % 7 == 0 else ""
    return f"{HOSTS[number % len(HOSTS)]}{number}{tail}"


def scores_of(rng: np.random.Generator, size: int) -> list[float]:
    """Draw scores that fall, some of them equal; those of every third list are whole numbers."""
    scores = np.sort(rng.gamma(2.0, 3.0, size))[::-1].copy()
    for i in np.flatnonzero(rng.random(size) < TIED).tolist():
        scores[i] = scores[max(i - 1, 0)]
    whole = rng.random() < 1 / 3
    found: list[float] = (np.rint(scores) if whole else scores).tolist()
    return found


def main(folder: Path, queries: int, depth: int, judged: float) -> None:
    """Write the two files, and give the folder its name when they are complete."""
    rng, rows = np.random.default_rng(SEED), list[str]()
    partial = folder.with_suffix(".partial")
    partial.mkdir(parents=True, exist_ok=True)
    with (partial / "qrels.txt").open("w") as qrels:
        for number in range(queries):
            query = f"{'q' * (number % 2)}{number * 37}"
            length = int(np.clip(rng.lognormal(np.log(depth / 2), 1.0), 1, depth))
            numbers = rng.choice(9_000_000, size=depth + 50, replace=False).tolist()
            listed, others = numbers[:length], numbers[depth:]
            if rng.random() >= MISSING:
                pairs = zip(listed, scores_of(rng, length), strict=True)
                rows += [
                    f"{query} Q0 {document(one)} {rank} {score!r} real\n"
                    for rank, (one, score) in enumerate(pairs, 1)
                ]
            if rng.random() < UNJUDGED:
                continue
            count = max(1, int(rng.poisson(judged)))
            near = listed[: max(1, length // 3)]
            found = rng.permutation(near)[: int(rng.binomial(count, FOUND))].tolist()
            known = [*found, *others][:count]
            grades = rng.choice(len(GRADES), p=GRADES, size=len(known)).tolist()
            qrels.writelines(
                f"{query} 0 {document(one)} {grade}\n"
                for one, grade in zip(known, grades, strict=True)
            )
    with (partial / "run.txt").open("w") as run:
        run.writelines(rows[i] for i in rng.permutation(len(rows)).tolist())
    partial.rename(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
