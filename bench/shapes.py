"""The shapes of the data that is timed, and the folder where it is kept once it is made.

This module imports no NumPy, and the data is made by another process: on Linux the peak memory of
a process counts what its parent held when it started it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "bench"
#: The formats that bench/formats.py writes, and how their files end.
FORMATS = {
    "TREC, gzip": ".txt.gz", "CSV": ".csv", "TSV": ".tsv", "JSONL, a hit a line": "-hits.jsonl",
    "JSONL, a list a query": "-lists.jsonl", "Parquet": ".parquet",
}  # fmt: skip
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
    real: bool = False

    @property
    def rows(self) -> int:
        return self.queries * self.depth

    @property
    def name(self) -> str:
        words = [f"{self.queries}x{self.depth}", f"{self.judged:g}"]
        return "-".join([*words, *self.kinds, *["real"] * self.real])

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
    """The judgments and the run of a shape, and what is written beside them if asked for."""

    shape: Shape
    folder: Path
    file: str = "run.txt"

    @property
    def qrels(self) -> Path:
        return self.folder / "qrels.txt"

    @property
    def run(self) -> Path:
        return self.folder / self.file

    def others(self, count: int) -> list[Path]:
        """Give so many runs: this one, and others that order its documents anew."""
        return self._beside("run", "others.py", count)

    def systems(self, count: int) -> list[Path]:
        """Give so many runs: this one, and others that share documents with it, as systems do."""
        return self._beside("system", "systems.py", count)

    def _beside(self, name: str, script: str, count: int) -> list[Path]:
        runs = [self.run, *(self.folder / f"{name}-{i:02}.txt" for i in range(2, count + 1))]
        if not runs[-1].exists():
            say(f"making {count} runs in {self.folder}")
            _script(script, str(self.run), str(count))
        return runs

    def linked(self, runs: list[Path], count: int) -> list[Path]:
        """Give these runs so many names in all, in turn."""
        folder = self.folder / f"linked-{count}"
        folder.mkdir(exist_ok=True)
        for i in range(count):
            if not (folder / f"{i:03}.run").exists():
                (folder / f"{i:03}.run").hardlink_to(runs[i % len(runs)])
        return sorted(folder.iterdir())

    def formats(self) -> dict[str, Data]:
        """Give the same rows in other formats, by what they are called."""
        found = {name: replace(self, file=f"run{end}") for name, end in FORMATS.items()}
        if not all(one.run.exists() for one in found.values()):
            say(f"writing {self.shape.rows:,} rows in {len(FORMATS)} formats in {self.folder}")
            _script("formats.py", str(self.run))
        return found

    def make(self) -> None:
        """Write the files, in a process of its own."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self.folder.parent).free < self.shape.rows * ROW:
            raise SystemExit(f"no room for {self.shape.rows:,} rows in {self.folder}")
        say(f"making {self.shape.rows:,} rows in {self.folder}")
        shape = self.shape
        numbers = map(str, (shape.queries, shape.depth, shape.judged))
        flags = [f"--{kind}" for kind in shape.kinds]
        _script("real.py" if shape.real else "generate.py", str(self.folder), *numbers, *flags)

    def remove(self) -> None:
        shutil.rmtree(self.folder)


def _script(name: str, *arguments: str) -> None:
    """Run a script of this folder, in a process of its own."""
    subprocess.run([sys.executable, str(ROOT / "bench" / name), *arguments], check=True)


def made(shape: Shape, folder: Path = FOLDER) -> Data:
    """Give the data of a shape; make it where it is not there yet, and read it into the cache."""
    data = Data(shape, folder / shape.name)
    if not data.folder.exists():
        data.make()
    cached(data.run)
    return data


def cached(path: Path) -> None:
    """Read a file into the cache of the system."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def say(words: str) -> None:
    """Tell how far we are."""
    print(words, file=sys.stderr, flush=True)
