"""Write judgments and a run of a given shape as TREC files, the same ones every time.

    python bench/generate.py FOLDER QUERIES DEPTH JUDGED [--graded] [--shuffled] [--close]

Ids have seven digits, as MS MARCO's have. Scores have six decimals, as Anserini writes them, and
fall from rank to rank by 0.00001 at least, so that nothing ties, not even in single precision. With
``--close`` they have fifteen decimals, as a program prints doubles, and every fourth falls by less
than single precision can tell.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Text = NDArray[np.uint8]

SEED = 20250101
#: Queries that are made at once; it decides nothing but the memory this takes.
BLOCK = 250
#: The numbers of queries, of retrieved documents, and of judged ones that nobody retrieved.
QUERIES, RETRIEVED, OTHERS = (1_000_000, 2_000_000), (1_000_000, 8_800_000), (8_800_000, 9_990_000)
#: How probable the grades 0 to 3 are, and that a judged document is retrieved: deep, shallow.
GRADES = (0.55, 0.2, 0.17, 0.08)
FOUND = {True: 0.5, False: 0.85}
#: The first score is about 16, the last about 8; in millionths, as is the least fall.
TOP, FALL, LEAST = 16_000_000, 7_900_000, 10
#: What close scores have below a millionth, how often they are close, and their falls.
FINER, CLOSE, CLOSE_FALLS = 10**9, 0.25, (10**4, 10**8)


def distinct(rng: np.random.Generator, rows: int, count: int, within: tuple[int, int]) -> Numbers:
    """Draw rows of distinct numbers, in any order: gaps of random size, added up and shuffled."""
    low, high = within
    gaps = rng.integers(1, (high - low) // count, size=(rows, count), endpoint=True)
    return rng.permuted(low - 1 + np.cumsum(gaps, axis=1), axis=1)


def falling(rng: np.random.Generator, rows: int, depth: int, close: bool) -> Numbers:
    """Draw scores that fall from rank to rank, in millionths; close ones `FINER` than that."""
    finer = FINER if close else 1
    falls = rng.integers(LEAST * finer, 2 * FALL * finer // depth, size=(rows, depth))
    if close:
        near = rng.random(size=falls.shape) < CLOSE
        falls[near] = rng.integers(*CLOSE_FALLS, size=np.count_nonzero(near))
    scores: Numbers = TOP * finer - np.cumsum(falls, axis=1)
    return scores


def judgments(
    rng: np.random.Generator, query: int, documents: Numbers, judged: float, graded: bool
) -> str:
    """Judge some documents of one query: retrieved ones, the more often the higher, and others.

    The first one is relevant, so that each query has something to find.
    """
    count = int(judged) + int(rng.random() < judged % 1)
    found = min(int(rng.binomial(count, FOUND[graded])), len(documents))
    late = rng.exponential(size=len(documents)) * np.arange(1, len(documents) + 1)
    ids = [*documents[np.argsort(late)[:found]], *distinct(rng, 1, count, OTHERS)[0, found:]]
    grades = rng.choice(len(GRADES), p=GRADES, size=count) if graded else np.ones(count, int)
    grades[0] = max(grades[0], 1)
    return "".join(f"{query} 0 {d} {g}\n" for d, g in zip(ids, grades, strict=True))


def digits(numbers: Numbers, width: int) -> Text:
    """Write whole numbers with leading zeros."""
    text = np.empty((numbers.size, width), np.uint8)
    left = numbers.reshape(-1).astype(np.uint32)
    for column in reversed(range(width)):
        left, digit = np.divmod(left, 10)
        text[:, column] = digit + ord("0")
    return text


def stripped(text: Text) -> Text:
    """Blank leading zeros out; `written` drops them."""
    text[:, :-1][np.cumsum(text[:, :-1] != ord("0"), axis=1) == 0] = 0
    return text


def lines(queries: Numbers, documents: Numbers, scores: Numbers, close: bool) -> Text:
    """Write the rows of some queries, each padded with zero bytes to the same width."""
    count, depth = documents.shape
    scores, rest = np.divmod(scores, FINER if close else 1)
    whole, millionths = np.divmod(scores, 1_000_000)
    ranks = stripped(digits(np.arange(1, depth + 1), len(str(depth))))
    fields: list[Any] = [
        np.repeat(digits(queries, 7), depth, axis=0), b" Q0 ", digits(documents, 7), b" ",
        np.tile(ranks, (count, 1)), b" ", stripped(digits(whole, 2)), b".", digits(millionths, 6),
        *([digits(rest, 9)] if close else ()), b" bm25\n",
    ]  # fmt: skip
    constant = {bytes: lambda text: np.tile(np.frombuffer(text, np.uint8), (count * depth, 1))}
    return np.hstack([constant.get(type(field), np.asarray)(field) for field in fields])


def written(text: Text) -> bytes:
    """Give padded lines without the padding."""
    content: bytes = text[text != 0].tobytes()
    return content


def blocks(
    queries: int, depth: int, judged: float, graded: bool, close: bool
) -> Iterator[tuple[str, Text]]:
    """Make some queries at a time: their judgments, their padded lines."""
    names = distinct(np.random.default_rng(SEED), 1, queries, QUERIES)[0]
    for start in range(0, queries, BLOCK):
        some = names[start : start + BLOCK]
        rng = np.random.default_rng((SEED, start))
        documents = distinct(rng, len(some), depth, RETRIEVED)
        scores = falling(rng, len(some), depth, close)
        pairs = zip(some.tolist(), documents, strict=True)
        qrels = [judgments(rng, query, row, judged, graded) for query, row in pairs]
        yield "".join(qrels), lines(some, documents, scores, close)


def main() -> None:
    """Write the two files under another name, and give it the right one when they are complete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("queries", type=int)
    parser.add_argument("depth", type=int)
    parser.add_argument("judged", type=float)
    parser.add_argument("--graded", action="store_true")
    parser.add_argument("--shuffled", action="store_true", help="the rows in any order")
    parser.add_argument(
        "--close", action="store_true", help="scores that float32 cannot tell apart"
    )
    asked = parser.parse_args()
    partial = asked.folder.with_suffix(".partial")
    partial.mkdir(parents=True, exist_ok=True)
    made = blocks(asked.queries, asked.depth, asked.judged, asked.graded, asked.close)
    with (partial / "qrels.txt").open("w") as qrels, (partial / "run.txt").open("wb") as run:
        if asked.shuffled:
            made = shuffled(made)
        for judged, rows in made:
            qrels.write(judged)
            run.write(written(rows))
    partial.rename(asked.folder)


def shuffled(made: Iterator[tuple[str, Text]]) -> Iterator[tuple[str, Text]]:
    """Put all rows in any order."""
    judged, rows = zip(*made, strict=True)
    text = np.concatenate(rows)
    order = np.random.default_rng(SEED).permutation(len(text))
    for part in np.array_split(order, max(len(judged), 1)):
        yield "", text[part]
    yield "".join(judged), text[:0]


if __name__ == "__main__":
    main()
