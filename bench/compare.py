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
    fusers,
    python_tool,
    python_tools,
    python_twin,
    trec_eval,
    verb,
)
from report import Line, beyond_floor, describe, table, write_page
from shapes import FOLDER, Data, L, M, S, Shape, cached, made, say


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
            "L-close": self.large_close,
            "L-judged": self.large_judged,
            "L-formats": self.large_formats,
            "L-verbs": self.large_verbs,
            "L-compare": self.large_compare,
            "L-bundle": self.large_bundle,
            "fuse-L": self.large_fused,
            "tune-30": self.thirty_tuned,
            "runs-20": self.twenty_runs,
            "runs-500": self.many_runs,
            "real": self.real,
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
        return replace(task, contenders=[*task.contenders, replace(ranx, once=True), *floors(data)])

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

    def large_close(self) -> Task:
        """Scores that do not all fit float32, in which trec_eval compares them."""
        shape = replace(self.large, judged=15, graded=True, close=True)
        data = made(shape, self.folder)
        title = f"L, close scores, {many(shape)} judgments, from files"
        tools = [*python_tools("files", data, self.warm), trec_eval(data), *floors(data)]
        return Task(title, tools, agree=False)  # in float32 scores tie that differ

    def large_judged(self) -> Task:
        shape = replace(self.large, judged=1_000_000 / self.large.queries, graded=True)
        return self.files(f"L, {many(shape)} judgments", shape)

    def large_formats(self) -> Task:
        data = made(self.large, self.folder)
        tools = [python_tool("idealist", "files", data, label="idealist, TREC")]
        for name, other in data.formats().items():
            cached(other.run)
            tools.append(python_tool("idealist", "files", other, label=f"idealist, {name}"))
        return Task("L, the same rows in each format", tools)

    def large_compare(self) -> Task:
        """Two runs, with the deep judgments without which little is to be said of unjudged ones."""
        return self.compared("L, two runs", replace(self.large, judged=15, graded=True), 2)

    def large_fused(self) -> Task:
        """Five runs; ranx is warmed up on runs whose ids are as long, which it compiles for."""
        _, ranx = fusers(made(replace(self.large, queries=20), self.folder), 5, self.warm)
        if not ranx.missing:
            ranx.measure()
        tools = fusers(made(self.large, self.folder), 5, self.warm)
        return Task("L, five runs fused by RRF, written and evaluated", tools, repeats=2)

    def thirty_tuned(self) -> Task:
        """The coarse grid is 178 settings; the search around the best of each fold some 900."""
        data = made(replace(M, queries=50, judged=20, graded=True), self.folder)
        _, *others = data.systems(30)
        tools = [
            verb("tune", data, *others, "--rounds", "0", label="idealist tune, 178 settings"),
            verb("tune", data, *others, label="idealist tune, three rounds"),
        ]
        return Task("30 runs of 50 x 1,000 tuned, 5 folds", tools, repeats=2, agree=False)

    def twenty_runs(self) -> Task:
        return self.compared("20 runs of 50 x 1,000", replace(M, queries=50), 20)

    def compared(self, title: str, shape: Shape, count: int) -> Task:
        """Time the comparison of runs beside their evaluation."""
        data = made(shape, self.folder)
        _, *others = data.others(count)
        return Task(title, [verb(name, data, *others) for name in ("eval", "compare")], agree=False)

    def many_runs(self) -> Task:
        data = made(replace(M, queries=50), self.folder)
        _, *others = data.linked(data.others(20), 500)
        tools = [verb("eval", data, *others, label="idealist eval"),
                 verb("eval", data, label="idealist eval, one of them")]  # fmt: skip
        return Task("500 runs of 50 x 1,000 in one command", tools, repeats=2, agree=False)

    def real(self) -> Task:
        """Uneven lists in any order, ids such as URLs, ties, missing queries."""
        shape = Shape(queries=2000, judged=20, graded=True, real=True)
        task = self.files("2,000 uneven lists, shuffled, ids such as URLs", shape)
        able = [one for one in task.contenders if one.label != "ranx"]  # it refuses missing queries
        return replace(task, contenders=able, agree=False)  # which pytrec_eval leaves out

    def large_verbs(self) -> Task:
        data = made(self.large, self.folder)
        tools = [verb(name, data) for name in ("eval", "audit", "diagnose")]
        return Task("L, other verbs", tools, agree=False)

    def large_bundle(self) -> Task:
        """Evaluate a run, write its bundle, and evaluate that."""
        data = made(self.large, self.folder)
        bundle = replace(data, file="run.ilb")
        tools = [
            verb("eval", data),
            verb("bundle", data, "-o", bundle.run),
            verb("eval", bundle, label="idealist eval, the bundle"),
        ]
        return Task("L as a bundle", tools, agree=False)

    def extra_large(self) -> Task:
        large = made(self.large, self.folder)
        ten = made(replace(self.large, depth=10 * self.large.depth), self.folder)
        tools = [
            python_tool("idealist", "files", large, label="idealist, on L"),
            python_tool("idealist", "files", ten, label="idealist, on XL"),
        ]
        title = f"{sized('XL', ten.shape)}, from files"
        return Task(title, tools, repeats=1, agree=False, removed=(ten,))


def floors(data: Data) -> list[Contender]:
    """Time what reading the file takes at least."""
    return [
        floor("newlines", data, "floor: counting newlines"),
        floor("loop", data, "floor: bare C++ loop"),
    ]


def many(shape: Shape) -> str:
    """Write the number of judgments, in thousands."""
    return f"{round(shape.queries * shape.judged, -3):,.0f}"


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
    text = "\n\n".join([describe(), table(lines), *beyond_floor(lines)]) + "\n"
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
