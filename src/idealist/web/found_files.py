"""The files that are open: those of a folder, looked at again when they change, or named ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from idealist import files
from idealist.errors import UsageError
from idealist.formats.reading import ReadOptions
from idealist.formats.source import plain_suffix
from idealist.formats.sqlite_files import is_sqlite
from idealist.web.file_roles import PLAIN, ROLES, check_role, role_of

#: Where the corrections of these roles are kept, in the folder itself.
CORRECTIONS = "idealist-ui.json"
#: The name of a store that is made where judgments are in a file.
STORE = "judgments.db"
#: How deep a folder is searched, and how many files of it are looked at.
DEPTH, MOST = 3, 2000
#: Suffixes of files that are never judgments, runs or texts.
PASSED_OVER = frozenset({
    ".bib", ".bin", ".c", ".cfg", ".cpp", ".css", ".docx", ".h", ".htm", ".html", ".ini", ".ipynb",
    ".jpeg", ".jpg", ".js", ".lock", ".log", ".md", ".npy", ".npz", ".pdf", ".pkl", ".png", ".py",
    ".pyc", ".sh", ".so", ".svg", ".tar", ".tex", ".toml", ".yaml", ".yml", ".zip",
})  # fmt: skip


@dataclass(frozen=True)
class FoundFile:
    """A file: its name in the folder, what it is and why, and what tells that it has changed."""

    name: str
    path: Path
    role: str
    why: str
    stamp: tuple[int, int]
    corrected: bool = False


class Folder:
    """The files of a folder, looked at again where they have changed."""

    def __init__(self, path: Path, reading: ReadOptions = PLAIN) -> None:
        self.path, self.reading = path, reading
        self._known: dict[str, FoundFile] = {}
        self.first, self.is_cut = "", False
        if not path.is_dir():
            raise UsageError(f"there is no folder {path}", "give a folder, or judgments and runs")
        if not os.access(path, os.R_OK | os.X_OK):
            raise UsageError(f"the folder {path} cannot be read", "check its permissions")

    def files(self) -> dict[str, FoundFile]:
        """Find the files, by name."""
        said = self._corrections()
        found = {}
        walked = list(islice(_walked(self.path), MOST + 1))
        self.is_cut = len(walked) > MOST
        for path in walked[:MOST]:
            name = path.relative_to(self.path).as_posix()
            with suppress(OSError):  # gone meanwhile
                found[name] = self._looked(name, path)
        self._known = found
        return {
            name: replace(one, role=said[name], why="as you said", corrected=True)
            if name in said
            else one
            for name, one in found.items()
        }

    def _looked(self, name: str, path: Path) -> FoundFile:
        stamp = stamp_of(path)
        known = self._known.get(name)
        is_store = known is not None and known.role == "store" and is_sqlite(path)
        if known is not None and (known.stamp == stamp or is_store):
            return replace(known, stamp=stamp)
        return FoundFile(name, path, *role_of(path, self.reading), stamp)

    def correct(self, name: str, role: str) -> None:
        """Say what a file is; nothing ("") leaves it to what is found."""
        if role and role not in ROLES:
            raise UsageError(f"{role!r} is nothing that a file can be", f"say {', '.join(ROLES)}")
        if (file := self.files().get(name)) is None:
            raise UsageError(f"there is no file {name!r} in the folder", "choose one of the list")
        check_role(file.path, role)
        said = {**self._corrections(), name: role}
        kept = {one: own for one, own in said.items() if own}
        files.write(self.path / CORRECTIONS, f"{json.dumps({'roles': kept}, indent=1)}\n".encode())

    def _corrections(self) -> Mapping[str, str]:
        try:
            said = json.loads((self.path / CORRECTIONS).read_text("utf-8"))["roles"]
            return {str(name): role for name, role in said.items() if role in ROLES}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}


class Given:
    """Files that were named one by one: judgments first, then runs."""

    def __init__(
        self, judgments: Path, runs: list[Path], roles: Mapping[str, Path | None],
        reading: ReadOptions = PLAIN,
    ) -> None:  # fmt: skip
        alone = "judgments" if runs else role_of(judgments, reading)[0]
        first = "store" if is_sqlite(judgments) else alone
        named = [(judgments, first), *((run, "run") for run in runs)]
        named += [(path, role) for role, path in roles.items() if path is not None]
        for path, _ in named:
            if not path.exists():
                raise UsageError(f"there is no file {path}", "check its name")
        names = _short([path for path, _ in named])
        self._named = [
            FoundFile(name, path, role, "as you said", (0, 0))
            for name, (path, role) in zip(names, named, strict=True)
        ]
        self.path, self.is_cut, self.reading = judgments.absolute().parent, False, reading
        self.first = names[0]

    def files(self) -> dict[str, FoundFile]:
        """Return the files, by name, and the store that the workbench made beside them."""
        found = {}
        for one in self._named:
            with suppress(OSError):  # gone meanwhile
                found[one.name] = replace(one, stamp=stamp_of(one.path))
        made = self.path / STORE
        if STORE not in found and is_sqlite(made):
            found[STORE] = FoundFile(STORE, made, *role_of(made), stamp_of(made))
        return found

    def correct(self, name: str, role: str) -> None:
        """Refuse: who names files says what they are."""
        hint = "start the workbench on a folder, or with other files"
        raise UsageError(f"{name} was named when the workbench was started", hint)


def stamp_of(path: Path) -> tuple[int, int]:
    """Return what changes when a file does."""
    told = path.stat()
    return told.st_mtime_ns, told.st_size


def _walked(folder: Path) -> Iterator[Path]:
    """Yield files that may be ours, those of the folder itself first, by name."""
    for at, folders, names in os.walk(folder):
        here = Path(at)
        deeper = len(here.relative_to(folder).parts) + 1 < DEPTH
        folders[:] = sorted(one for one in folders if not one.startswith(".")) if deeper else []
        for name in sorted(names):
            if name.startswith(".") or name == CORRECTIONS or name.endswith(("-wal", "-shm")):
                continue
            if plain_suffix(name) not in PASSED_OVER and (here / name).is_file():  # and no pipe
                yield here / name


def _short(paths: list[Path]) -> list[str]:
    """Name files by their last part, or by all where that is not enough."""
    names = [path.name for path in paths]
    return [
        str(path) if names.count(name) > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]
