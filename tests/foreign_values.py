"""How often reconcile explains the value of another run: a study on the runs of TREC-COVID.

    python tests/foreign_values.py [TRIALS]      prints the table of docs/how-to/reconcile-a-number.md

Of each kind, so many values with four digits are asked of runs that the thresholds were not set on:
values of the run itself, published or by the rules of some tool; values of other runs, likewise;
and the published value of another run that comes nearest to the run's own.
"""

from __future__ import annotations

import csv
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path

import idealist as il
from conftest import TEST_DATA

FOLDER = TEST_DATA / "trec-covid-r1"
#: The columns of published values, and what they measure.
PUBLISHED = {
    "ndcg@10": "nDCG@10", "p@5": "P@5", "RBP(p=.5)": "RBP(p=0.5)", "bpref": "bpref", "MAP": "AP",
}  # fmt: skip
TRIALS = 200
#: The thresholds were set on this many of the runs, in the order of `Population.paths`.
CALIBRATED = 50


class Population:
    """The runs, their judgments, and what was published of them."""

    @cached_property
    def qrels(self) -> il.Qrels:
        return il.read_qrels(FOLDER / "qrels.txt")

    @cached_property
    def paths(self) -> list[Path]:
        """All runs in a random order."""
        found = sorted(map(str, [*FOLDER.glob("runs/*"), *FOLDER.glob("more/*.xz")]))
        random.Random(15).shuffle(found)
        return [Path(one) for one in found]

    @cached_property
    def published(self) -> dict[str, dict[str, str]]:
        with (FOLDER / "leaderboard.csv").open() as file:
            return {row["run"]: row for row in csv.DictReader(file)}

    def by_some_tool(self, path: Path, measure: str, rng: random.Random) -> str:
        """Measure a run as some tool does."""
        tools = [one.name for one in il.CONVENTIONS.values() if one.has(il.parse(measure))]
        while True:
            try:
                found = il.evaluate(self.qrels, read(path), measure, convention=rng.choice(tools))
            except il.IdealistError:  # a tool that refuses such data
                continue
            return f"{found[measure]:.4f}"


POPULATION = Population()


@cache
def read(path: Path) -> il.Run:
    return il.read_run(path).loaded()


def name(path: Path) -> str:
    return path.name.removesuffix(".xz")


def own(path: Path, column: str, rng: random.Random) -> str:
    """Give a value of the run itself."""
    if rng.random() < 0.5:
        return POPULATION.published[name(path)][column]
    return POPULATION.by_some_tool(path, PUBLISHED[column], rng)


def foreign(path: Path, column: str, rng: random.Random) -> str:
    """Give a value of another run."""
    others = [one for one in POPULATION.paths[CALIBRATED:] if one != path]
    return own(rng.choice(others), column, rng)


def nearest(path: Path, column: str, rng: random.Random) -> str:
    """Give the published value that is nearest to the run's own, but not equal."""
    known = {row[column] for row in POPULATION.published.values()}
    mine = POPULATION.published[name(path)][column]
    return min(known - {mine}, key=lambda one: abs(float(one) - float(mine)))


KINDS: dict[str, Callable[[Path, str, random.Random], str]] = {
    "of the run itself": own,
    "of another run": foreign,
    "of the run that comes nearest": nearest,
}


def verdicts(kind: str, trials: int, columns: list[str] | None = None) -> Counter[str]:
    """Ask for values of a kind, and count what is said of them."""
    rng, found = random.Random(kind), Counter[str]()
    for _ in range(trials):
        path = rng.choice(POPULATION.paths[CALIBRATED:])
        column = rng.choice(columns or list(PUBLISHED))
        value = KINDS[kind](path, column, rng)
        answer = il.reconcile(POPULATION.qrels, read(path), PUBLISHED[column], value)
        found[
            "explained" if answer else "could be chance" if answer.answers else "nothing fits"
        ] += 1
    return found


def rows(trials: int) -> Iterator[str]:
    """Draw the table, line by line."""
    yield "| value | explained | could be chance | nothing fits |"
    yield "|:---|---:|---:|---:|"
    for kind in KINDS:
        found = verdicts(kind, trials)
        cells = [found[one] / trials for one in ("explained", "could be chance", "nothing fits")]
        yield " | ".join([f"| {kind}", *(f"{100 * share:.1f} %" for share in cells)]) + " |"


if __name__ == "__main__":
    for line in rows(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS):
        print(line, flush=True)
