"""Time idealist and its peers on the same data, check that they agree, and print the ratios.

    python bench/compare.py                    everything; --no-xl leaves out 70 million rows
    python bench/compare.py --write           all, and write the table into docs/measured.md
    python bench/compare.py --only L-files     one task; --queries 500 makes L smaller, for a try

Every measurement is a process of its own. The tools take turns, so that what else happens on the
machine hits all of them, and the best of each counts.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from contenders import (
    MEASURES,
    Contender,
    Measured,
    dropin,
    floor,
    python_tool,
    python_tools,
    python_twin,
    trec_eval,
    verb,
)
from report import Line, describe, table, write_page
from shapes import FOLDER, Data, L, M, S, Shape, made, say


@dataclass(frozen=True)
class Task:
    """What is timed. The first contender is what the others are compared with.

    `removed` is data that is too large to be kept.
    """

    title: str
    contenders: list[Contender]
    repeats: int = 3
    milliseconds: bool = False
    agree: bool = True
    removed: tuple[Data, ...] = ()


class Tasks:
    """All tasks by name; data is made when a task needs it."""

    def __init__(self, folder: Path, large: Shape) -> None:
        self.folder, self.large = folder, large
        self.warm = folder / "numba"

    def named(self) -> dict[str, Callable[[], Task]]:
        """Give the tasks in the order of the table."""
        return {
            "S-files": self.small_files,
            "S-calls": self.small_calls,
            "M-files": self.medium_files,
            "M-calls": self.medium_calls,
            "M-shuffled": self.medium_shuffled,
            "L-files": self.large_files,
            "L-shuffled": self.large_shuffled,
            "L-dicts": self.large_dicts,
            "L-measures": self.large_measures,
            "L-trec": self.large_trec,
            "L-verbs": self.large_verbs,
            "XL": self.extra_large,
        }

    def files(self, title: str, shape: Shape) -> Task:
        data = made(shape, self.folder)
        tools = [*python_tools("files", data, self.warm), trec_eval(data)]
        return Task(f"{title}, from files", tools)

    def calls(self, title: str, shape: Shape, *options: str) -> Task:
        data = made(shape, self.folder)
        tools = python_tools("calls", data, self.warm, *options)
        return Task(f"{title}, thousandth call", tools, milliseconds=True)

    def small_files(self) -> Task:
        return self.files(sized("S", S), S)

    def small_calls(self) -> Task:
        return self.calls("S, from dicts", S)

    def medium_files(self) -> Task:
        task = self.files(sized("M", M), M)
        task.contenders[1:1] = python_twin("files", made(M, self.folder))
        return task

    def medium_calls(self) -> Task:
        task = self.calls("M, from dicts in rank order", M)
        task.contenders[1:1] = python_twin("calls", made(M, self.folder))
        return task

    def medium_shuffled(self) -> Task:
        return self.calls("M, from shuffled dicts", M, "--shuffled")

    def large_files(self) -> Task:
        task = self.files(sized("L", self.large), self.large)
        data = made(self.large, self.folder)
        cold = self.folder / "numba-cold"
        shutil.rmtree(cold, ignore_errors=True)
        ranx = python_tool(
            "ranx", "files", data, label="ranx, nothing compiled yet", NUMBA_CACHE_DIR=str(cold)
        )
        floors = [
            floor("newlines", data, "floor: counting newlines"),
            floor("loop", data, "floor: bare C++ loop"),
        ]
        return replace(task, contenders=[*task.contenders, replace(ranx, once=True), *floors])

    def large_shuffled(self) -> Task:
        return replace(
            self.files("L, rows shuffled", replace(self.large, shuffled=True)), repeats=1
        )

    def large_dicts(self) -> Task:
        tools = python_tools("dicts", made(self.large, self.folder), self.warm)
        return Task("L, from dicts", tools, repeats=2)

    def large_measures(self) -> Task:
        data = made(self.large, self.folder)
        counts = {"idealist, nDCG@10 alone": 1, "idealist, ten measures": 10}
        tools = [
            python_tool("idealist", "files", data, "--measures", *MEASURES[:count], label=label)
            for label, count in counts.items()
        ]
        return Task("L, from files, more measures", tools, agree=False)

    def large_trec(self) -> Task:
        data, options = made(self.large, self.folder), ("-q", "-m", "all_trec")
        tools = [dropin(data, options), trec_eval(data, options)]
        return Task("L, trec_eval -q -m all_trec", tools)

    def large_verbs(self) -> Task:
        data = made(self.large, self.folder)
        tools = [verb(name, data) for name in ("eval", "audit", "diagnose")]
        return Task("L, other verbs", tools, agree=False)

    def extra_large(self) -> Task:
        large = made(self.large, self.folder)
        ten = made(replace(self.large, depth=10 * self.large.depth), self.folder)
        tools = [
            python_tool("idealist", "files", large, label="idealist, on L"),
            python_tool("idealist", "files", ten, label="idealist, on XL"),
        ]
        title = f"{sized('XL', ten.shape)}, from files"
        return Task(title, tools, repeats=1, agree=False, removed=(ten,))


def sized(name: str, shape: Shape) -> str:
    """Name data by its size."""
    return f"{name}: {shape.queries:,} x {shape.depth:,}"


def measured(task: Task) -> Iterator[Line]:
    """Let the contenders take turns, and give the best of each."""
    found: dict[str, list[Measured]] = {one.label: [] for one in task.contenders}
    for turn in range(task.repeats):
        for one in task.contenders:
            if not one.missing and not (one.once and turn):
                found[one.label].append(one.measure())
                say(f"{task.title}: {one.label}: {found[one.label][-1].seconds:.4g} s")
    if task.agree:
        check(task, found)
    for data in task.removed:
        data.remove()
    first = min(one.seconds for one in found[task.contenders[0].label])
    for one in task.contenders:
        best = min(found[one.label], key=lambda each: each.seconds, default=None)
        yield Line(task.title, one.label, best, first, task.milliseconds, one.missing)


def check(task: Task, found: dict[str, list[Measured]]) -> None:
    """Refuse to print times of tools that compute different things."""
    wanted = found[task.contenders[0].label][0].means
    for label, several in found.items():
        for one in several:
            if one.means and not agrees(one, wanted):
                raise SystemExit(f"{task.title}: {label} has {one.means}, idealist has {wanted}")


def agrees(one: Measured, wanted: tuple[float, ...]) -> bool:
    """Compare means; one that is no number agrees with none."""
    pairs = zip(one.means, wanted, strict=True)
    return all(abs(mean - ours) <= 10.0**-one.digits for mean, ours in pairs)


def main() -> None:
    """Measure what the command line asks for, print the table, write it where wanted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=FOLDER, help="where the data is kept")
    parser.add_argument("--only", nargs="+", metavar="TASK", help="these tasks only")
    parser.add_argument("--queries", type=int, default=L.queries, help="queries of L")
    parser.add_argument("--no-xl", action="store_true", help="leave out XL, ten times as deep as L")
    parser.add_argument(
        "--write", action="store_true", help="write the table into docs/measured.md"
    )
    asked = parser.parse_args()
    tasks = Tasks(asked.data, replace(L, queries=asked.queries))
    names = asked.only or [name for name in tasks.named() if name != "XL" or not asked.no_xl]
    warm_up(tasks)
    lines = [line for name in names for line in measured(tasks.named()[name]())]
    text = f"{describe()}\n\n{table(lines)}\n"
    print(text)
    if asked.write:
        write_page(text)


def warm_up(tasks: Tasks) -> None:
    """Let ranx compile once; its later processes load what it keeps."""
    data = made(S, tasks.folder)
    for task in ("files", "dicts"):
        *_, ranx = python_tools(task, data, tasks.warm)
        if not ranx.missing:
            say(f"{ranx.label} compiles, or finds that it has")
            ranx.measure()


if __name__ == "__main__":
    main()
