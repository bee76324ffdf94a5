"""Compare the compiled kernel with its definition on generated cases, until they differ.

    python fuzz/twins.py --seconds 60            as many cases as there is time for
    python fuzz/twins.py --seed 7 --cases 1000   the cases 7 to 1006
    python fuzz/twins.py --seed 7 --cases 1      one case again
    python fuzz/twins.py --kernel FILE …         with a kernel compiled elsewhere

A difference is printed with its seed and the smallest case found that still shows it; then the
exit code is 1. Without one, it is said how many cases there were, how many of them had no error,
and which entries of the kernel served them.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import fields
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import judgment_cases
import kernel_cases
from idealist import kernel
from idealist.formats import trec
from judgment_cases import JudgmentsCase, some_judgments_case
from kernel_cases import Case, Outcome, some_case

#: Of so many cases one is about judgments.
JUDGMENTS = 4


class Counted(ModuleType):
    """The compiled kernel, counting what its entries are asked and how often they decline."""

    def __init__(self, module: Any) -> None:
        super().__init__("counted")
        self.module, self.calls = module, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        entry: Callable[..., Any] = getattr(self.module, name)
        if isinstance(entry, type):
            return entry

        def counted(*arguments: Any) -> Any:
            found = entry(*arguments)
            self.calls[name if found is not None else f"{name} declined"] += 1
            return found

        return counted


def main() -> int:
    """Compare until a limit is reached; 1 where there was a difference."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="how many at most")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long at most")
    parser.add_argument("--kernel", type=Path, help="the file of the compiled module")
    parser.add_argument("--longest-line", type=int, default=2**20, help="that the kernel has")
    asked = parser.parse_args()
    trec.LONGEST_LINE = asked.longest_line
    counted = Counted(loaded(asked.kernel) if asked.kernel else installed())
    with serving(counted), tempfile.TemporaryDirectory(prefix="twins-") as folder:
        return compare(asked.seed, asked.cases, asked.seconds, Path(folder), counted.calls)


def serving(module: ModuleType) -> AbstractContextManager[Any]:
    """Let a module be the compiled kernel."""
    return patch.object(kernel, "_compiled", lambda: module)


def installed() -> ModuleType:
    """Give the kernel that is installed."""
    return kernel.native() or sys.exit("the kernel is not compiled")


def loaded(path: Path) -> ModuleType:
    """Load a kernel from its file."""
    spec = spec_from_file_location("idealist._kernel", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is no module")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


AnyCase = Case | JudgmentsCase


def drawn(seed: int) -> AnyCase:
    """Draw a case."""
    rng = random.Random(seed)
    return some_case(rng) if seed % JUDGMENTS else some_judgments_case(rng)


def both(case: AnyCase, folder: Path) -> tuple[Outcome, Outcome]:
    """Give the outcome of the definition, and that of the compiled kernel."""
    if isinstance(case, Case):
        return kernel_cases.both(case, folder)
    return judgment_cases.both(case, folder)


def differs(case: AnyCase, folder: Path) -> bool:
    """Whether the kernels differ."""
    defined, compiled = both(case, folder)
    return defined != compiled


def smaller(case: AnyCase) -> Iterator[AnyCase]:
    """Give cases that are the same less one part of it."""
    if isinstance(case, Case):
        yield from kernel_cases.smaller(case)
    else:
        yield from judgment_cases.smaller(case)


def compare(seed: int, cases: int, seconds: float, folder: Path, calls: Counter[str]) -> int:
    """Compare case by case; say what came of it."""
    begun, kinds, clean = time.monotonic(), Counter[str](), Counter[str]()
    while kinds.total() < cases and time.monotonic() - begun < seconds:
        case = drawn(seed)
        kinds[case.kind] += 1
        try:
            defined, compiled = both(case, folder)
        except BaseException:
            print(f"seed {seed}:", *written(case), sep="\n", flush=True)
            raise
        clean[case.kind] += "error" not in defined
        if defined != compiled:
            show_difference(seed, case, folder)
            return 1
        seed += 1
    for kind, count in kinds.most_common():
        print(f"{kind:9} {count:9,} cases, {clean[kind] / count:4.0%} without error")
    print(f"{'all':9} {kinds.total():9,} cases, {clean.total() / kinds.total():4.0%} without error")
    print("asked:", ", ".join(f"{name} {count:,}" for name, count in calls.most_common()))
    print(f"no difference up to seed {seed - 1}")
    return 0


def show_difference(seed: int, case: AnyCase, folder: Path) -> None:
    """Print the smallest case that still differs, and what each kernel makes of it."""
    while rest := next((one for one in smaller(case) if differs(one, folder)), None):
        case = rest
    print(f"seed {seed}: the kernels differ", *written(case), sep="\n")
    defined, compiled = both(case, folder)
    for key in sorted(defined.keys() | compiled.keys()):
        if defined.get(key) != compiled.get(key):
            print(f"{key}:\n  python {defined.get(key)}\n  native {compiled.get(key)}")


def written(case: AnyCase) -> list[str]:
    """Write a case down."""
    return [f"  {field.name} = {getattr(case, field.name)!r}" for field in fields(case)]


if __name__ == "__main__":
    sys.exit(main())
