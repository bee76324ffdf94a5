"""Time Fisher's randomisation test of all pairs of 50 systems on 50 queries, with 100,000 flips.

    python bench/randomisation.py              idealist, SciPy and ranx, and their ratios
    python bench/randomisation.py --tool ranx  one of them, as JSON

SciPy and ranx test one pair a call. Ten pairs are timed and multiplied. Each tool has a process of
its own, and is warm before it is timed; their p-values must agree but for chance.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from itertools import combinations

import numpy as np
from contenders import Measured
from numpy.typing import NDArray
from process import run
from report import Line, table

Array = NDArray[np.float64]

SYSTEMS, QUERIES, FLIPS, TIMED, REPEATS = 50, 50, 100_000, 10, 3
PAIRS = list(combinations(range(SYSTEMS), 2))


def values() -> Array:
    """Make up values of systems that differ as much as chance and a little more."""
    source = np.random.default_rng(0)
    easy, good = source.normal(0.4, 0.2, QUERIES), source.normal(0, 0.03, (SYSTEMS, 1))
    return np.clip(easy + good + source.normal(0, 0.12, (SYSTEMS, QUERIES)), 0, 1)


def idealist(rows: Array, pairs: list[tuple[int, int]]) -> list[float]:
    from idealist.significance.resampling import all_pairs

    p = all_pairs(rows, flips=FLIPS)
    return [float(p[pair]) for pair in pairs]


def scipy(rows: Array, pairs: list[tuple[int, int]]) -> list[float]:
    from scipy.stats import permutation_test

    def difference(x: Array, y: Array, axis: int) -> Array:
        return np.asarray(x.mean(axis=axis) - y.mean(axis=axis))

    tests = (
        permutation_test(
            (rows[a], rows[b]), difference, permutation_type="samples", vectorized=True,
            n_resamples=FLIPS, batch=10_000, rng=0,
        )
        for a, b in pairs
    )  # fmt: skip
    return [float(test.pvalue) for test in tests]


def ranx(rows: Array, pairs: list[tuple[int, int]]) -> list[float]:
    from ranx.statistical_tests import fisher_randomization_test

    return [float(fisher_randomization_test(rows[a], rows[b], FLIPS)[0]) for a, b in pairs]


TOOLS: dict[str, Callable[[Array, list[tuple[int, int]]], list[float]]] = {
    "idealist": idealist,
    "scipy": scipy,
    "ranx": ranx,
}


def timed(name: str) -> dict[str, object]:
    """Time one tool in this process; the best of several turns counts."""
    pairs, rows = PAIRS if name == "idealist" else PAIRS[:TIMED], values()
    TOOLS[name](rows, pairs[:1])  # imports, and what ranx compiles
    best = math.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        found = TOOLS[name](rows, pairs)
        best = min(best, time.perf_counter() - start)
    return {"seconds": best * len(PAIRS) / len(pairs), "p": found[:TIMED]}


def agree(ours: list[float], theirs: list[float]) -> bool:
    """Compare p-values of two tools that drew flips of their own: five standard errors."""
    return all(
        abs(p - q) <= 5 * math.sqrt(2 * max(p, q) / FLIPS) + 1 / FLIPS
        for p, q in zip(ours, theirs, strict=True)
    )


def main() -> None:
    """Run each tool in a process of its own and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tool", choices=TOOLS, help="this tool only, as JSON")
    asked = parser.parse_args()
    if asked.tool:
        print(json.dumps(timed(asked.tool)))
        return
    title = f"randomisation, {len(PAIRS):,} pairs, {FLIPS:,} flips"
    lines: list[Line] = []
    first, wanted = math.nan, list[float]()
    for name in TOOLS:
        if find_spec(name) is None:
            lines.append(Line(title, name, None, first, missing="not installed"))
            continue
        done = run([sys.executable, __file__, "--tool", name])
        found = json.loads(done.printed)
        first, wanted = (found["seconds"], found["p"]) if name == "idealist" else (first, wanted)
        if not agree(wanted, found["p"]):
            raise SystemExit(f"{name} has {found['p']}, idealist has {wanted}")
        label = name if name == "idealist" else f"{name}, from {TIMED} pairs"
        lines.append(Line(title, label, Measured(found["seconds"], done.megabytes), first))
    print(table(lines))


if __name__ == "__main__":
    main()
