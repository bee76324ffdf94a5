"""Show how idealist's time and memory grow: every verb with the queries, and eval with more.

    python bench/growth.py                        all of it
    python bench/growth.py --only verbs depth     some tables

A verb is run on 1, 4 and 16 times as many queries; where it grows as they do, the ratios are 4 or
less, as starting up stays the same. Then one number of an evaluation grows and the others stay; the
verdict fits a power law to what a step takes beyond starting up: an exponent of 1 is linear growth,
one near 0 is none. Each step is a fresh process that reads files.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import linear_regression

from contenders import MEASURES, Contender, Measured, python_tool, verb
from process import run
from shapes import FOLDER, Data, S, Shape, made, say

BASE = Shape(queries=1000)
#: The data that verbs are run on first, and how many times as many queries follow.
FEW, TIMES = Shape(queries=125, depth=100, judged=15, graded=True), (1, 4, 16)
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


def verbs() -> dict[str, Callable[[Data], Contender]]:
    """Give every verb as a command on some data."""
    first = ("-m", "nDCG@10")
    return {
        "eval": lambda data: verb("eval", data),
        "eval --bounds": lambda data: verb("eval", data, "--bounds"),
        "compare, 2 runs": lambda data: verb("compare", data, *data.others(2)[1:]),
        "compare, 20 runs": lambda data: verb("compare", data, *data.others(20)[1:]),
        "compare --fragility": lambda data: verb(
            "compare", data, *data.others(2)[1:], "--fragility"
        ),
        "compare --multiverse": lambda data: verb(
            "compare", data, *data.others(2)[1:], "--multiverse"
        ),
        "audit": lambda data: verb("audit", data),
        "diagnose": lambda data: verb("diagnose", data),
        "explain --worst": lambda data: verb("explain", data, "--worst", "10", *first),
        "explain --bounds": lambda data: verb("explain", data, "--bounds", *first),
        "report, 2 runs": lambda data: verb(
            "report", data, *data.others(2)[1:], "-o", str(data.folder / "report.html")
        ),
        "gate": lambda data: verb("gate", data, data.run),
        "reconcile": lambda data: verb("reconcile", data, "--value", printed(data), *first),
        "convert": lambda data: verb_of_run("convert", data, data.folder / "converted.csv"),
    }


def printed(data: Data) -> str:
    """Evaluate the run, and write its value as a paper does."""
    asked = verb("eval", data, "-m", "nDCG@10", "-f", "tsv").command
    return f"{float(run(asked).printed.split()[-1]):.4f}"


def verb_of_run(name: str, data: Data, *more: str | Path) -> Contender:
    """Give a verb that reads no judgments."""
    one = verb(name, data, *more)
    script, word, _, *rest = one.command
    return replace(one, command=(script, word, *rest))


def growth_of_verbs(folder: Path) -> Iterator[str]:
    """Run each verb on ever more queries; yield the lines of a table as they are known."""
    every = [made(replace(FEW, queries=FEW.queries * times), folder) for times in TIMES]
    heads = [f"{data.shape.queries:,} queries, s | MB" for data in every]
    yield f"| verb | {' | '.join(heads)} | ratios of time | of memory |"
    yield f"|:---|{'---:|' * (2 * len(every) + 2)}"
    for name, command in verbs().items():
        say(f"growing {name}")
        found = [_best(command(data)) for data in every]
        cells = [f"{one.seconds:.2f} | {one.megabytes or math.nan:.0f}" for one in found]
        times = " ".join(f"{b.seconds / a.seconds:.1f}" for a, b in pairwise(found))
        peaks = " ".join(
            f"{(b.megabytes or math.nan) / (a.megabytes or math.nan):.1f}"
            for a, b in pairwise(found)
        )
        yield f"| {name} | {' | '.join(cells)} | {times} | {peaks} |"


def _best(one: Contender, repeats: int = 2) -> Measured:
    """Time fresh processes; the best counts."""
    return min((one.measure() for _ in range(repeats)), key=lambda each: each.seconds)


def best(shape: Shape, measures: int, folder: Path, repeats: int = 3) -> Measured:
    """Evaluate data that is removed afterwards."""
    data = made(shape, folder)
    one = python_tool("idealist", "files", data, "--measures", *MEASURES[:measures])
    found = _best(one, repeats)
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
    tables = ["verbs", *sizes()]
    parser.add_argument("--only", nargs="+", metavar="TABLE", choices=tables, default=tables)
    asked = parser.parse_args()
    if "verbs" in asked.only:
        for line in growth_of_verbs(asked.data):
            print(line, flush=True)
    dimensions = [name for name in asked.only if name != "verbs"]
    if not dimensions:
        return
    start = best(S, 3, asked.data)
    verdicts = []
    print(f"\nstarting up: {start.seconds:.3f} s, {start.megabytes or math.nan:.0f} MB")
    for name in dimensions:
        say(f"growing {name}")
        found = list(steps(sizes()[name], asked.data))
        print(f"\n{table(name, found)}", flush=True)
        verdicts.append(verdict(name, found, start))
    print("", *verdicts, sep="\n")


if __name__ == "__main__":
    main()
