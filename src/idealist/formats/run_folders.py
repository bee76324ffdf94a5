"""Many runs by one word: a folder of runs, or a pattern of names that no shell has expanded."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from idealist.errors import Faults
from idealist.formats import engines
from idealist.notation import many


def is_folder_of_runs(path: str | Path) -> bool:
    """Whether it is a folder whose files are runs, and not the responses to one query each."""
    folder = Path(path)
    if not os.path.isdir(folder) or (folder / "qrels").is_dir():
        return False
    return not engines.is_folder_of_responses(folder) and bool(_parted(folder)[0])


def gathered(runs: Iterable[Any], said: list[str] | None = None) -> list[Any]:
    """List the files of folders and of patterns such as ``runs/*.gz``, in the order of their names.

    A file whose name looks like a pattern is that file. What a folder holds beside visible files is
    left out; `said` gets a line on each folder, and on each pattern.

    >>> gathered(["bm25.run", "-", {"q1": ["d1"]}])
    ['bm25.run', '-', {'q1': ['d1']}]
    """
    said = [] if said is None else said
    return [file for run in runs for file in _matching(run, said)]


def _matching(run: Any, said: list[str]) -> list[Any]:
    if not isinstance(run, (str, Path)):
        return [run]
    pattern = str(run)
    if glob.has_magic(pattern) and not os.path.lexists(pattern):
        found = sorted(glob.glob(pattern, recursive=True))
        if not found:
            hint = "check the pattern; in quotes, * stands for any part of a name"
            Faults(pattern).fail("no-file", "no file matches", hint)
        said.append(f"read: {pattern}: {many(len(found), 'file', 'files')}")
        return [file for one in found for file in _files(one, said)]
    return _files(run, said)


def _files(run: str | Path, said: list[str]) -> list[Any]:
    if not is_folder_of_runs(run):
        return [run]
    files, others = _parted(Path(run))
    some = ", ".join(others[:3]) + (", …" if others[3:] else "")
    left = f"; not {some}" if others else ""
    said.append(f"read: {run}: {many(len(files), 'file', 'files')}, each a run{left}")
    return [os.path.join(run, name) for name in files]


def _parted(folder: Path) -> tuple[list[str], list[str]]:
    """Part what a folder holds: visible files, and what is left out."""
    names = sorted(os.listdir(folder))
    files = [name for name in names if not name.startswith(".") and (folder / name).is_file()]
    others = [name for name in names if name not in {*files}]
    return files, [f"{name}{os.sep}" if (folder / name).is_dir() else name for name in others]
