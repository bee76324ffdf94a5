"""Show how idealist's time and memory grow with queries, depth, judgments and measures.

    python bench/growth.py

One number grows, the others stay. Each step is a fresh process that reads files; it is compared
with the step before. The verdict fits a power law to what a step takes beyond starting up: an
exponent of 1 is linear growth, one near 0 is none.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import linear_regression

from contenders import MEASURES, Measured, python_tool
from shapes import FOLDER, S, Shape, made, say

BASE = Shape(queries=1000)
#: What a step must take beyond starting up, in seconds and MB, to tell something about growth.
NOTABLE = (0.02, 2.0)


@dataclass(frozen=True)
class Step:
    """One size, and what a process took for it."""

    size: int
    seconds: float
    megabytes: float


def sizes() -> dict[str, list[tuple[int, Shape, int]]]:
    """Give the steps of each dimension: its size, the data, how many measures."""
    return {
        "queries": [(n, replace(BASE, queries=n), 3) for n in (100, 300, 1000, 3000, 10000)],
        "depth": [(n, replace(BASE, depth=n), 3) for n in (10, 100, 1000, 3000, 10000)],
        "judgments per query": [(n, replace(BASE, judged=n), 3) for n in (1, 10, 100, 1000)],
        "measures": [(n, BASE, n) for n in (1, 2, 5, 10, 20)],
    }


def best(shape: Shape, measures: int, folder: Path, repeats: int = 3) -> Measured:
    """Time a fresh process on data that is removed afterwards; the best of several counts."""
    data = made(shape, folder)
    one = python_tool("idealist", "files", data, "--measures", *MEASURES[:measures])
    found = min((one.measure() for _ in range(repeats)), key=lambda each: each.seconds)
    if shape not in (S, BASE):
        data.remove()
    return found


def steps(dimension: list[tuple[int, Shape, int]], folder: Path) -> Iterator[Step]:
    """Measure each step of a dimension."""
    for size, shape, measures in dimension:
        found = best(shape, measures, folder)
        yield Step(size, found.seconds, found.megabytes or math.nan)


def exponent(sizes: list[int], values: list[float], start: float, notable: float) -> float:
    """Fit the exponent of a power law to what is beyond the start; 0 if hardly anything is."""
    beyond = [
        (math.log(size), math.log(value - start))
        for size, value in zip(sizes, values, strict=True)
        if value - start > notable
    ]
    return linear_regression(*zip(*beyond, strict=True)).slope if len(beyond) > 1 else 0.0


def table(name: str, found: list[Step]) -> str:
    """Draw the steps of a dimension, each beside the one before."""
    rows = [
        f"| {name} | seconds | MB | size ratio | time ratio | memory ratio |",
        "|---:" * 6 + "|",
    ]
    rows.append(f"| {found[0].size:,} | {found[0].seconds:.3f} | {found[0].megabytes:.0f} | | | |")
    for before, step in pairwise(found):
        ratios = (
            step.size / before.size,
            step.seconds / before.seconds,
            step.megabytes / before.megabytes,
        )
        numbers = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        rows.append(f"| {step.size:,} | {step.seconds:.3f} | {step.megabytes:.0f} | {numbers} |")
    return "\n".join(rows)


def verdict(name: str, found: list[Step], start: Measured) -> str:
    """Say in one line how time and memory grow, over all steps and in the last one."""
    sizes = [step.size for step in found]
    times = [step.seconds for step in found]
    peaks = [step.megabytes for step in found]
    seconds, megabytes = NOTABLE
    time = exponent(sizes, times, start.seconds, seconds)
    last = exponent(sizes[-2:], times[-2:], start.seconds, seconds)
    memory = exponent(sizes, peaks, start.megabytes or math.nan, megabytes)
    return (
        f"{name}: time grows with the power {time:.2f} ({last:.2f} in the last step), memory with "
        f"the power {memory:.2f} ({peaks[0]:.0f} to {peaks[-1]:.0f} MB)"
    )


def main() -> None:
    """Grow one dimension after the other."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=FOLDER, help="where the data is kept")
    parser.add_argument("--only", nargs="+", metavar="DIMENSION", choices=sizes())
    asked = parser.parse_args()
    start = best(S, 3, asked.data)
    verdicts = []
    print(f"starting up: {start.seconds:.3f} s, {start.megabytes or math.nan:.0f} MB")
    for name in asked.only or sizes():
        say(f"growing {name}")
        found = list(steps(sizes()[name], asked.data))
        print(f"\n{table(name, found)}", flush=True)
        verdicts.append(verdict(name, found, start))
    print("", *verdicts, sep="\n")


if __name__ == "__main__":
    main()
