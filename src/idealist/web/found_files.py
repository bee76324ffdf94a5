"""What a folder holds: which files are judgments, runs or texts, found by a look inside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from idealist import files
from idealist.errors import IdealistError, InputError, UsageError
from idealist.formats import kind_of
from idealist.formats.column_names import DOCUMENT_IDS, QUERY_IDS, QUERY_TEXTS, known
from idealist.formats.contents import OURS
from idealist.formats.document_entries import fields_of
from idealist.formats.pair_files import holds_both
from idealist.formats.reading import ReadOptions
from idealist.formats.source import Source, plain_suffix
from idealist.formats.sqlite_files import is_sqlite

#: What a file can be, with the words for it.
ROLES = {
    "judgments": "judgments",
    "store": "a store of judgments",
    "run": "a run",
    "both": "judgments and a run",
    "queries": "texts of queries",
    "documents": "texts of documents",
    "evaluation": "a saved evaluation",
    "ignored": "not used",
}
#: Where the corrections of these roles are kept, in the folder itself.
CORRECTIONS = "idealist-ui.json"
#: How deep a folder is searched, and how many files of it are looked at.
DEPTH, MOST = 3, 2000
#: Suffixes of files that are never judgments, runs or texts.
PASSED_OVER = frozenset({
    ".bib", ".bin", ".c", ".cfg", ".cpp", ".css", ".docx", ".h", ".htm", ".html", ".ini", ".ipynb",
    ".jpeg", ".jpg", ".js", ".lock", ".log", ".md", ".npy", ".npz", ".pdf", ".pkl", ".png", ".py",
    ".pyc", ".sh", ".so", ".svg", ".tar", ".tex", ".toml", ".yaml", ".yml", ".zip",
})  # fmt: skip
#: Files up to this size are looked at as they are; of larger ones, the head.
WHOLE = 2**22
#: Fields of rows that are judged or ranked; of documents alone; and of either kind of text.
RANKED = {
    "grade", "relevance", "rel", "label", "score", "rank", "rating", "retrieved", "ranking", "hits",
}  # fmt: skip
OWN_IDS = {"document", "docid", "doc_id", "docno", "doc"}
SHARED_IDS = {"_id", "id"}
#: Parts of names that tell texts of queries from those of documents.
QUERY_WORDS, DOCUMENT_WORDS = ("quer", "topic", "question"), ("doc", "corpus", "passage", "chunk")


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

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, FoundFile] = {}
        if not path.is_dir():
            raise UsageError(f"there is no folder {path}", "give a folder, or judgments and runs")

    def files(self) -> dict[str, FoundFile]:
        """Find the files, by name."""
        said = self._corrections()
        found = {}
        for path in _walked(self.path):
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
        if known is not None and (known.stamp == stamp or known.role == "store"):
            return replace(known, stamp=stamp)
        return FoundFile(name, path, *role_of(path), stamp)

    def correct(self, name: str, role: str) -> None:
        """Say what a file is; nothing ("") leaves it to what is found."""
        if role and role not in ROLES:
            raise UsageError(f"{role!r} is nothing that a file can be", f"say {', '.join(ROLES)}")
        if name not in self._known:
            raise UsageError(f"there is no file {name!r} in the folder", "choose one of the list")
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

    def __init__(self, judgments: Path, runs: list[Path], roles: Mapping[str, Path | None]) -> None:
        first = "store" if is_sqlite(judgments) else "judgments" if runs else role_of(judgments)[0]
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
        self.path = judgments.absolute().parent

    def files(self) -> dict[str, FoundFile]:
        """Return the files, by name."""
        known = {one.name: replace(one, stamp=stamp_of(one.path)) for one in self._named}
        stores = (path for path in _walked(self.path, 1) if is_sqlite(path))
        beside = {
            path.name: FoundFile(path.name, path, *role_of(path), stamp_of(path)) for path in stores
        }
        return {**{name: one for name, one in beside.items() if one.role == "store"}, **known}

    def correct(self, name: str, role: str) -> None:
        """Refuse: who names files says what they are."""
        hint = "start the workbench on a folder, or with other files"
        raise UsageError(f"{name} was named when the workbench was started", hint)


def stamp_of(path: Path) -> tuple[int, int]:
    """Return what changes when a file does."""
    told = path.stat()
    return told.st_mtime_ns, told.st_size


def role_of(path: Path) -> tuple[str, str]:
    """Say what a file is, and how that was found; what cannot be read is not used."""
    try:
        if is_sqlite(path):
            return _role_of_database(path)
        if (known := _of_names(path)) is not None:
            return known
        with _small(path) as small:
            return _role_of_rows(small, path)
    except IdealistError as error:
        return "ignored", error.message
    except (UnicodeDecodeError, ValueError, KeyError, TypeError, OSError):
        return "ignored", "it is nothing that idealist can read"


def _role_of_database(path: Path) -> tuple[str, str]:
    from idealist.judging.store import Store

    with Store.to_read(path):
        return "store", "a store of idealist"


def _of_names(path: Path) -> tuple[str, str] | None:
    """Recognise what idealist saved, and texts, by the names of fields."""
    head = Source.of(path).head(4096).lstrip()
    for key, (what, _) in OURS.items():
        if head.startswith(b"{") and f'"{key}"'.encode() in head[:40]:
            return ("evaluation" if key == "idealist" else "ignored"), f"{what} of idealist"
    names = tuple(_fields(head, path))
    lower = {name.lower() for name in names}
    if not names or lower & RANKED or not known(names, ("query", *QUERY_IDS, *DOCUMENT_IDS)):
        return None
    why = f"it has {', '.join(names[:4])}"
    ids, texts = known(names, DOCUMENT_IDS), known(names, QUERY_TEXTS)
    if known(names, ("query", *QUERY_IDS)) and texts and not [one for one in ids if one in OWN_IDS]:
        own = [one for one in names if one.lower() in SHARED_IDS]
        return _texts(path, why) if own else ("queries", why)
    return _texts(path, why) if fields_of(names).are_known else None


def _texts(path: Path, why: str) -> tuple[str, str]:
    """Tell texts of queries from those of documents: by the file's name, or by its size."""
    name = path.name.lower()
    if any(word in name for word in QUERY_WORDS):
        return "queries", f"{why}, and its name says queries"
    if any(word in name for word in DOCUMENT_WORDS):
        return "documents", f"{why}, and its name says documents"
    small = path.stat().st_size < 2**16
    return (
        ("queries", f"{why}, and it is short") if small else ("documents", f"{why}, and it is long")
    )


def _fields(head: bytes, path: Path) -> list[str]:
    """Find the names of the fields in the first line, of JSON or of a table."""
    line = head.partition(b"\n")[0].decode(errors="replace").strip()
    if line.startswith("{"):
        with suppress(ValueError):
            return [str(name) for name in json.loads(line)]
    if plain_suffix(path.name) in (".csv", ".tsv"):
        sign = "\t" if "\t" in line else ";" if ";" in line and "," not in line else ","
        return [name.strip().strip('"') for name in line.split(sign)]
    return []


def _role_of_rows(small: Path, path: Path) -> tuple[str, str]:
    """Tell judgments from runs by what the rows hold."""
    with suppress(InputError):
        if holds_both(ReadOptions().of(str(small))):
            return "both", "each record has what was retrieved and what should have been"
    first = next(iter(Source.of(small).head().splitlines()), b"")
    if first.count(b"\t") == 1:  # an id and a text, however many words that has
        return _texts(path, "its lines have an id and a text")
    found = kind_of(small)
    if found is not None:
        said = {"qrels": "judgments", "run": "run"}[found]
        return said, "its rows have grades" if found == "qrels" else "its rows have ranks or scores"
    name = path.name.lower()
    if "qrel" in name:
        return "judgments", "its name says so"
    if plain_suffix(path.name) in (".run", ".trec"):
        return "run", "its suffix says so"
    return "ignored", "its rows could be anything: say what it is"


class _small:
    """A copy of the head of a file that is large, cut where a line ends; else the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Path:
        source = Source.of(self.path)
        is_lines = plain_suffix(self.path.name) not in (".json", ".parquet", ".arrow", ".xlsx")
        if (self.path.stat().st_size <= WHOLE and not source.is_compressed) or not is_lines:
            return self.path
        self.folder = TemporaryDirectory()
        copy = Path(self.folder.name) / f"head{plain_suffix(self.path.name)}"
        head = source.head()
        copy.write_bytes(head[: head.rfind(b"\n") + 1] or head)
        return copy

    def __exit__(self, *_: object) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()


def _walked(folder: Path, depth: int = DEPTH) -> Iterator[Path]:
    """Yield files that may be ours, those of the folder itself first, by name."""
    left = MOST
    for at, folders, names in os.walk(folder):
        here = Path(at)
        deeper = len(here.relative_to(folder).parts) + 1 < depth
        folders[:] = sorted(one for one in folders if not one.startswith(".")) if deeper else []
        for name in sorted(names):
            if name.startswith(".") or name == CORRECTIONS or name.endswith(("-wal", "-shm")):
                continue
            if plain_suffix(name) not in PASSED_OVER:
                yield here / name
                if not (left := left - 1):
                    return


def _short(paths: list[Path]) -> list[str]:
    """Name files by their last part, or by all where that is not enough."""
    names = [path.name for path in paths]
    return [
        str(path) if names.count(name) > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]
