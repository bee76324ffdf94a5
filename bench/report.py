"""The table of times: on what machine, with which versions, how many times ours."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from textwrap import fill

from contenders import Measured, has_kernel
from shapes import ROOT

PAGE = ROOT / "docs" / "measured.md"
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
PACKAGES = ("pytrec_eval-terrier", "ir_measures", "ranx", "numpy")


@dataclass(frozen=True)
class Line:
    """One contender in one task; `first` is the time of the one it is compared with."""

    task: str
    label: str
    best: Measured | None
    first: float
    milliseconds: bool = False
    missing: str = ""

    def cells(self) -> list[str]:
        if self.best is None:
            return [self.task, self.label, self.missing, "", ""]
        factor, unit = (1000, "ms") if self.milliseconds else (1, "s")
        time = f"{rounded(self.best.seconds * factor)} {unit}"
        memory = "" if self.best.megabytes is None else f"{self.best.megabytes:,.0f}"
        return [self.task, self.label, time, memory, rounded(self.best.seconds / self.first)]


def rounded(number: float) -> str:
    """Write a number with three digits that matter, and the whole of a large one."""
    return f"{number:,.0f}" if number >= 100 else f"{number:#.3g}"


def table(lines: Iterable[Line]) -> str:
    """Draw the table; a task is named in its first line."""
    rows = ["| task | tool | time | peak MB | times idealist's |", "|:---|:---|---:|---:|---:|"]
    before = ""
    for line in lines:
        task, *cells = line.cells()
        rows.append(f"| {' | '.join(['' if task == before else task, *cells])} |")
        before = task
    return "\n".join(rows)


def beyond_floor(lines: Iterable[Line]) -> list[str]:
    """Say how many times the bare loop idealist takes, task by task."""
    return [
        f"{line.task}: idealist takes {rounded(line.first / line.best.seconds)} times the bare loop"
        for line in lines
        if line.best and line.label == "floor: bare C++ loop"
    ]


def describe() -> str:
    """Say what was measured, where, and with which versions."""
    kernel = "with its kernel" if has_kernel() else "without its kernel"
    versions = [f"idealist {version('idealist')} {kernel}", *filter(None, map(_version, PACKAGES))]
    return fill(
        "Time and memory, measured by `make bench`: nDCG@10, AP and RR; the best of several turns, "
        "each in a process of its own. From files, it is the whole process; from dicts, the call "
        "alone, and on L idealist's call also prepares what its peers have prepared before. A "
        "thousandth call is the last one made in 20 s if there are fewer. Peak memory is that of "
        "the process, dicts included, and never below the 20 MB of the one that starts it. The "
        "last column is the time over that of the task's first line; below 1, the tool is faster. "
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; "
        f"{', '.join([*versions, *_trec_eval()])}. All tools agree on the means to 1e-9, trec_eval "
        "to the four digits it prints, and on fused runs to 0.001: ranx leaves the order of equal "
        "scores to chance.",
        width=100,
        break_long_words=False,
        break_on_hyphens=False,
    )


def write_page(text: str) -> None:
    """Put the table between the marks in the page."""
    old = PAGE.read_text("utf-8")
    new, found = re.subn(
        f"{re.escape(BEGIN)}.*{re.escape(END)}",
        lambda _: f"{BEGIN}\n\n{text}\n{END}",
        old,
        flags=re.DOTALL,
    )
    if found != 1:
        raise SystemExit(f"{PAGE} has no place between {BEGIN} and {END}")
    PAGE.write_text(new, "utf-8")


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""


def _trec_eval() -> list[str]:
    path = shutil.which("trec_eval")
    if path is None:
        return []
    said = subprocess.run([path, "-v"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+", said.stderr + said.stdout)
    return [f"trec_eval {found[0] if found else ''} as it is on the PATH".replace("  ", " ")]
