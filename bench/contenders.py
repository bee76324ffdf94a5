"""Who is timed: idealist, its peers, trec_eval where it is on the path, and the floor in C++."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from process import Finished, run
from shapes import ROOT, Data, cached

#: The module of each Python tool, which is also the name that bench/tool.py knows it by.
PEERS = ("pytrec_eval", "ir_measures", "ranx")
#: What idealist computes where the number of measures matters; the first one, ten or twenty.
MEASURES = (
    "nDCG@10", "nDCG", "AP", "RR", "P@10", "R@100", "Rprec", "bpref", "Success@10", "Judged@10",
    "nDCG@5", "nDCG@100", "AP@100", "RR@10", "P@5", "P@100", "R@10", "R@1000", "Success@1",
    "Judged@100",
)  # fmt: skip
#: What trec_eval is asked for: nDCG@10, AP and RR.
TREC_EVAL = ("ndcg_cut.10", "map", "recip_rank")
ASKED = tuple(word for measure in TREC_EVAL for word in ("-m", measure))


@dataclass(frozen=True)
class Measured:
    """One measurement. `means` agree among tools to within 10 to the -`digits`."""

    seconds: float
    megabytes: float | None
    means: tuple[float, ...] = ()
    digits: int = 9


@dataclass(frozen=True)
class Contender:
    """A command to time; without one, `missing` says why."""

    label: str
    command: tuple[str, ...] = ()
    read: Callable[[Finished], Measured] = lambda done: Measured(done.seconds, done.megabytes)
    environment: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""
    once: bool = False

    def measure(self) -> Measured:
        return self.read(run(self.command, self.environment))


def python_tool(
    tool: str, task: str, data: Data, *options: str, label: str = "", **environment: str
) -> Contender:
    """Time a Python tool: from files the whole process, otherwise the call that it times itself."""
    if find_spec(tool) is None:
        return Contender(label or tool, missing="not installed")
    script = (sys.executable, str(ROOT / "bench" / "tool.py"), tool, task)
    command = (*script, str(data.qrels), str(data.run), *options)
    return Contender(label or tool, command, _read_json, environment)


def python_tools(task: str, data: Data, cache_folder: Path, *options: str) -> list[Contender]:
    """Time idealist and its peers; ranx finds what it compiled in an earlier run."""
    ours = python_tool("idealist", task, data, *options)
    warm = {"NUMBA_CACHE_DIR": str(cache_folder)}
    return [ours, *(python_tool(peer, task, data, *options, **warm) for peer in PEERS)]


def fusers(data: Data, count: int, cache_folder: Path) -> list[Contender]:
    """Time idealist and ranx, which fuse runs of so many systems, write the fused run, evaluate it.

    Their means differ by what ranx leaves to chance: the order of equal fused scores.
    """
    _, *others = data.systems(count)
    for other in others:
        cached(other)

    def tool(name: str, **environment: str) -> Contender:
        made = str(data.folder / f"fused-by-{name}.txt")
        options = ("--made", made, "--others", *map(str, others))
        one = python_tool(name, "fuse", data, *options, **environment)
        return replace(one, read=lambda done: replace(_read_json(done), digits=3))

    return [tool("idealist"), tool("ranx", NUMBA_CACHE_DIR=str(cache_folder))]


def python_twin(task: str, data: Data, *options: str) -> list[Contender]:
    """Time idealist without its kernel, where it has one."""
    label = "idealist, kernel off"
    twin = python_tool("idealist", task, data, *options, label=label, IDEALIST_KERNEL="python")
    return [twin] if has_kernel() else []


def trec_eval(data: Data, options: Sequence[str] = ("-c", *ASKED)) -> Contender:
    """Time the trec_eval on the path."""
    path = shutil.which("trec_eval")
    if path is None:
        return Contender("trec_eval", missing="not on PATH")
    return Contender("trec_eval", (path, *options, str(data.qrels), str(data.run)), _read_trec)


def dropin(data: Data, options: Sequence[str]) -> Contender:
    """Time ``idealist trec-eval``."""
    script = str(Path(sys.executable).with_name("idealist"))
    command = (script, "trec-eval", *options, str(data.qrels), str(data.run))
    return Contender("idealist trec-eval", command, _read_trec)


def verb(name: str, data: Data, *more: str | Path, label: str = "") -> Contender:
    """Time a verb of the command line, from files; `more` are further runs, and options."""
    script = str(Path(sys.executable).with_name("idealist"))
    command = (script, name, str(data.qrels), str(data.run), *map(str, more))
    return Contender(label or f"idealist {name}", command)


def floor(mode: str, data: Data, label: str) -> Contender:
    """Time the floor, compiled when it is first asked for."""
    program = _compiled(data.folder.parent / "floor")
    if program is None:
        return Contender(label, missing="no C++ compiler")
    files = (str(data.qrels), str(data.run)) if mode == "loop" else (str(data.run),)

    def read(done: Finished) -> Measured:
        if f"rows {data.shape.rows}" not in done.printed:
            raise SystemExit(f"{label}: wanted {data.shape.rows} rows, got {done.printed}")
        return Measured(done.seconds, done.megabytes)

    return Contender(label, (str(program), mode, *files), read)


@cache
def has_kernel() -> bool:
    """Ask a process like those that are timed whether idealist's compiled kernel serves."""
    asked = "from idealist import kernel; print(kernel.name())"
    return run([sys.executable, "-c", asked]).printed == "native\n"


@cache
def _compiled(program: Path) -> Path | None:
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        return None
    source = str(ROOT / "bench" / "floor.cpp")
    run([compiler, "-O2", "-std=c++20", "-pthread", "-o", str(program), source])
    return program


def _read_json(done: Finished) -> Measured:
    found = json.loads(done.printed)
    return Measured(found["seconds"] or done.seconds, done.megabytes, tuple(found["means"]))


def _read_trec(done: Finished) -> Measured:
    """Read trec_eval's lines: measure, "all", value in four digits."""
    rows = [line.split() for line in done.printed.splitlines() if "\tall\t" in line]
    values = {measure: value for measure, _, value in rows}
    means = tuple(float(values[measure.replace(".", "_")]) for measure in TREC_EVAL)
    return Measured(done.seconds, done.megabytes, means, digits=4)
