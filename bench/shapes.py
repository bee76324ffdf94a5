"""The shapes of the data that is timed, and the folder where it is kept once it is made.

This module imports no NumPy, and the data is made by another process: on Linux the peak memory of
a process counts what its parent held when it started it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "bench"
#: The bytes of a row, at most.
ROW = 54


@dataclass(frozen=True)
class Shape:
    """How many queries, documents a query and judgments a query; graded or relevant only."""

    queries: int
    depth: int = 1000
    judged: float = 1.06
    graded: bool = False
    shuffled: bool = False
    close: bool = False

    @property
    def rows(self) -> int:
        return self.queries * self.depth

    @property
    def name(self) -> str:
        words = [f"{self.queries}x{self.depth}", f"{self.judged:g}"]
        return "-".join([*words, *self.kinds])

    @property
    def kinds(self) -> list[str]:
        """The options of bench/generate.py that are set."""
        return [name for name in ("graded", "shuffled", "close") if getattr(self, name)]


#: Two queries; a TREC track with deep judgments; MS MARCO's dev queries.
S = Shape(queries=2, depth=10, judged=4, graded=True)
M = Shape(queries=43, judged=215, graded=True)
L = Shape(queries=6980)


@dataclass(frozen=True)
class Data:
    """The two files of a shape."""

    shape: Shape
    folder: Path

    @property
    def qrels(self) -> Path:
        return self.folder / "qrels.txt"

    @property
    def run(self) -> Path:
        return self.folder / "run.txt"

    def make(self) -> None:
        """Write the files, in a process of its own."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self.folder.parent).free < self.shape.rows * ROW:
            raise SystemExit(f"no room for {self.shape.rows:,} rows in {self.folder}")
        say(f"making {self.shape.rows:,} rows in {self.folder}")
        script = [sys.executable, str(ROOT / "bench" / "generate.py"), str(self.folder)]
        shape = self.shape
        flags = [f"--{kind}" for kind in shape.kinds]
        numbers = map(str, (shape.queries, shape.depth, shape.judged))
        subprocess.run([*script, *numbers, *flags], check=True)

    def remove(self) -> None:
        shutil.rmtree(self.folder)


def made(shape: Shape, folder: Path = FOLDER) -> Data:
    """Give the data of a shape; make it where it is not there yet, and read it into the cache."""
    data = Data(shape, folder / shape.name)
    if not data.folder.exists():
        data.make()
    with data.run.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
    return data


def say(words: str) -> None:
    """Tell how far we are."""
    print(words, file=sys.stderr, flush=True)
