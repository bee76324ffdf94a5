"""Repairs: what the command of a finding would do, and those that may be run from a page.

Only what the audit itself proposes is run, without a shell: `idealist convert`, which writes a new
file, and the `idealist audit --save-mappings` that comes before it. Nothing is written over.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from idealist.errors import UsageError
from idealist.rendering.doubt import Doubt

#: How long a repair may take, in seconds, and how much is shown of what it says.
PATIENCE, SHOWN = 300.0, 4000
#: How a process of ours becomes the command line.
START = (sys.executable, "-c", "from idealist.cli.main import main; main()")


@dataclass(frozen=True)
class Repair:
    """The command of a finding, as the words of each of its parts."""

    command: str
    parts: tuple[tuple[str, ...], ...] = ()
    folder: Path = Path()

    @classmethod
    def of(cls, found: Doubt, folder: Path) -> Repair:
        """Take a command apart; what is no command of ours can only be read."""
        if not found.command.startswith("idealist "):
            return cls(found.command)
        parts: list[list[str]] = [[]]
        for word in shlex.split(found.command):
            parts.append([]) if word == "&&" else parts[-1].append(word)
        return cls(found.command, tuple(map(tuple, parts)), folder)

    def _of(self, verb: str) -> list[tuple[str, ...]]:
        return [part for part in self.parts if part[:2] == ("idealist", verb)]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that it sets, where all it does is to evaluate by other rules."""
        if len(self.parts) != 1 or not self._of("eval"):
            return ()
        words = self.parts[0]
        return tuple(value for flag, value in pairwise(words) if flag == "--set")

    @property
    def writes(self) -> tuple[Path, ...]:
        """The files that it writes, where it may be run here; all are in the folder."""
        targets = [_whole(part[3]) for part in self._of("convert") if len(part) > 3]
        known = {"convert", "audit", "eval"}
        ours = all(part[0] == "idealist" and part[1] in known for part in self.parts)
        inside = all(self.folder in one.parents for one in targets)
        return tuple(targets) if ours and inside else ()

    @property
    def steps(self) -> list[tuple[str, ...]]:
        """What is run: mappings are saved, new files are written; nothing is evaluated."""
        saving = [part for part in self._of("audit") if "--save-mappings" in part]
        return [*saving, *self._of("convert")] if self.writes else []

    @property
    def place(self) -> Path:
        """Where it is run: in the folder, unless files were named from elsewhere."""
        words = [word for part in self._of("convert") for word in part[2:4]]
        return self.folder if all(Path(word).is_absolute() for word in words) else Path.cwd()

    @property
    def names(self) -> list[str]:
        """The names of the files that it writes."""
        return [one.relative_to(self.folder).as_posix() for one in self.writes]


def _whole(word: str) -> Path:
    """Write a path in full, without steps back."""
    return Path(os.path.normpath(Path(word).absolute()))


def run_repair(repair: Repair) -> dict[str, Any]:
    """Run a repair, and return what it said; it stops where a part fails."""
    if not repair.steps:
        raise UsageError("run this one yourself", "copy the command to a terminal")
    if there := [one.name for one in repair.writes if one.exists()]:
        hint = "remove it, or use it: it is listed under Files"
        raise UsageError(f"{there[0]} exists already, and is not written over", hint)
    said, done = [], True
    for step in repair.steps:
        code, words = _started(step, repair.place)
        said += [f"$ {shlex.join(step)}", *([words] if words else [])]
        done = code == 0
        if not done:
            break
    text = "\n".join(said)
    return {"done": done, "said": text[:SHOWN], "files": repair.names if done else []}


def _started(words: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run a command of ours in the folder, and wait for it."""
    try:
        ended = subprocess.run(
            [*START, *words[1:]], cwd=folder, capture_output=True, timeout=PATIENCE, text=True,
            errors="replace", stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 1, f"it took longer than {PATIENCE:.0f} seconds, and was stopped"
    return ended.returncode, f"{ended.stdout}{ended.stderr}".strip()
