"""Bundle files (.ilb): where runs had the judged documents, as plain columns and JSON in a zip.

``bundle.json`` says everything but numbers, and which numbers each other member holds: columns one
after another, in little-endian order. docs/reference/bundle-format.md describes it for others.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from idealist._version import __version__
from idealist.data import Qrels, Run, Scale
from idealist.data.columns import freeze, starts_of
from idealist.data.judgments import DECISIVE, LARGEST, PairRows, Subtopics
from idealist.data.preferences import Preferences
from idealist.data.remarks import Remark
from idealist.errors import Faults, InputError, UsageError, nearest
from idealist.formats.bundle_index import (
    SEAL,
    check,
    check_columns,
    check_judgments,
    check_run,
    checksum,
    has_end,
    is_whole,
    sealed,
)
from idealist.formats.source import INDEX, Source, begins_bundle, parted
from idealist.protocol import Protocol
from idealist.ranking.place_columns import (
    PER_PLACE,
    Columns,
    Part,
    changed,
    moved,
    packed,
    spliced,
    unpacked,
)
from idealist.ranking.stored_placements import StoredPlacements, hidden

#: The key of the version, the version that is written, and the newest that is read.
KEY, VERSION = "idealist-bundle", 1
#: The most bytes that a bundle may hold when unpacked; and how many for each byte of its file, if
#: that is more than a small one holds: no columns of a run shrink so far.
MOST, SMALL, SHRUNK = 2**32, 2**26, 100
#: What makes the same data the same bytes: zips hold the time of each member.
NEVER = (1980, 1, 1, 0, 0, 0)
#: What reading a zip raises that was cut off or changed, and reading what nobody wrote.
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError)
NONSENSE = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError,
)  # fmt: skip
REMAKE = "make it anew: idealist bundle QRELS RUNS... -o FILE.ilb"


class Opened(NamedTuple):
    """What a bundle holds: judgments whose documents have no names, and runs."""

    qrels: Qrels
    runs: tuple[Run, ...]
    private: bool


def is_bundle(data: Any) -> bool:
    """Whether it is the path of a bundle; a run in it may be named behind it: x.ilb#bm25.

    >>> is_bundle("qrels.txt")
    False
    """
    if not isinstance(data, (str, PathLike)) or str(data) == "-":
        return False
    path = parted(str(data))[0]
    with suppress(OSError, ValueError):
        if path.is_file():  # a pipe can be read only once
            with path.open("rb") as file:
                return begins_bundle(file.read(64))
    return False


def written(qrels: Qrels, runs: Mapping[str, StoredPlacements], private: bool = False) -> bytes:
    """Write judgments, and runs by name; the same data always yields the same bytes.

    If it is `private`, queries are called, and ordered, as `hidden` has them.
    """
    if private:
        qrels, runs = _with_hidden_queries(qrels, runs)
    members: dict[str, bytes] = {}
    index = {
        KEY: VERSION,
        "idealist": __version__,
        "private": private,
        "judgments": _judgments_written(qrels, members),
        "runs": [
            {"name": name, **_run_written(run, f"runs/{i}", members)}
            for i, (name, run) in enumerate(runs.items())
        ],
    }
    index["checksums"] = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {INDEX: sealed(index), **members}.items():
            archive.writestr(zipfile.ZipInfo(name, NEVER), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _with_hidden_queries(
    qrels: Qrels, runs: Mapping[str, StoredPlacements]
) -> tuple[Qrels, dict[str, StoredPlacements]]:
    """Call queries by hashes, and put them in their order: that of the ids would give them away.

    Subtopics are numbers in the order of their names, which often say what a query is.
    """
    digest = qrels.digest
    names = [hidden(query, digest) for query in qrels.queries]
    order = np.argsort(names)
    kept = np.concatenate([np.arange(*qrels.starts[i : i + 2]) for i in order])
    found = qrels.at(kept, tuple(names[i] for i in order), np.diff(qrels.starts)[order])
    rows, columns = found.subtopics, dict(found.columns)
    if "iteration" in columns:  # TREC's second column, which holds subtopics too
        columns["iteration"] = _numbered(columns["iteration"])
    topics = rows and replace(rows, subtopic=_numbered(rows.subtopic))
    found = replace(found, stated=qrels.hash, columns=columns, subtopics=topics)
    place = np.argsort(order)
    return found, {
        name: replace(
            run, qrels=found, others=tuple(hidden(query, digest) for query in run.others),
            lists={
                rules: moved([Part(columns, qrels.starts, place)], found.starts)
                for rules, columns in run.lists.items()
            },
        )
        for name, run in runs.items()
    }  # fmt: skip


def _numbered(names: Iterable[str]) -> tuple[str, ...]:
    """Call names by numbers that sort like them.

    >>> _numbered(["b", "a", "b"])
    ('2', '1', '2')
    """
    listed = list(names)
    place = {name: i for i, name in enumerate(sorted(set(listed)), 1)}
    width = len(str(len(place)))
    return tuple(f"{place[name]:0{width}}" for name in listed)


def _judgments_written(qrels: Qrels, members: dict[str, bytes]) -> dict[str, Any]:
    """Write judgments without documents; of their columns, those that decide numbers."""
    words: dict[str, list[str]] = {}
    columns: Columns = {"sizes": np.diff(qrels.starts), "grade": qrels.grades, **qrels.numbers}
    for name in DECISIVE:
        if name in qrels.columns:
            columns[name], words[name] = _coded(qrels.columns[name])
    for kind, rows in (("subtopics", qrels.subtopics), ("preferences", qrels.preferences)):
        for field in fields(rows) if rows else ():
            column, name = getattr(rows, field.name), f"{kind}.{field.name}"
            if isinstance(column, tuple):
                column, words[name] = _coded(column)
            columns[name] = column
    return {
        "hash": qrels.hash, "queries": qrels.queries,
        "scale": [qrels.scale.grades, qrels.scale.labels] if qrels.scale else None,
        "repeats": qrels.repeats, "ungraded": qrels.ungraded, "trec": qrels.is_trec,
        "meant": qrels.meant, "remarks": _remarks_written(qrels.remarks), "words": words,
        **_member("judgments", columns, members),
    }  # fmt: skip


def _coded(cells: Iterable[str]) -> tuple[Any, list[str]]:
    """Write texts as numbers into a list of the different ones."""
    codes: dict[str, int] = {}
    column = np.array([codes.setdefault(cell, len(codes)) for cell in cells], dtype="<u4")
    return column, list(codes)


def _remarks_written(remarks: Iterable[Remark]) -> list[list[Any]]:
    return [[one.code, one.message, one.count, one.severity, one.total] for one in remarks]


def _run_written(run: StoredPlacements, place: str, members: dict[str, bytes]) -> dict[str, Any]:
    """Write a run: its first lists whole, of all others what differs from these."""
    lists, starts = [], run.qrels.starts
    first = next(iter(run.lists.values()))
    for i, (ordering, columns) in enumerate(run.lists.items()):
        some = changed(first, columns) if i else first["in_run"]
        small = packed(columns, starts, some)
        lists.append({"rules": ordering.written(), **_member(f"{place}/{i}", small, members)})
    return {
        "same": dict(run.same), "collapse": run.collapse, "others": sorted(run.others),
        "unscored": run.unscored, "remarks": _remarks_written(run.remarks), "lists": lists,
    }  # fmt: skip


def _member(name: str, columns: Mapping[str, Any], members: dict[str, bytes]) -> dict[str, Any]:
    """Write columns as a member, and say what it holds."""
    arrays = {key: np.asarray(column) for key, column in columns.items()}
    plain = {key: one.astype(one.dtype.newbyteorder("<")) for key, one in arrays.items()}
    members[name] = b"".join(one.tobytes() for one in plain.values())
    return {"member": name, "columns": [[k, one.dtype.str, len(one)] for k, one in plain.items()]}


def opened(data: str | Path | Source) -> Opened:
    """Read a bundle; of one that a run is named behind, only that run."""
    source = data if isinstance(data, Source) else Source.of(data)
    return _Reader(source, Faults(source.name)).opened()


class _Reader:
    """A bundle's file while it is read; `faults` has its name."""

    def __init__(self, source: Source, faults: Faults) -> None:
        self.source, self.faults = source, faults
        self.path = source.name.removesuffix(f"#{source.sheet}") if source.sheet else source.name

    def opened(self) -> Opened:
        """Read all of it; say what is wrong with a file that cannot be read."""
        data = self.source.data()
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                self.archive = archive
                return self._read(min(MOST, max(SMALL, SHRUNK * len(data))))
        except InputError:
            raise
        except UNREADABLE as error:
            self._refuse_broken(data, str(error))
        except NONSENSE as error:
            if not is_whole(data):
                self._refuse_broken(data, "bytes are missing, or were added")
            message = f"this is no bundle that idealist wrote: {type(error).__name__} {error}"
            self.faults.fail("bad-shape", message[:200], REMAKE)

    def _read(self, most: int) -> Opened:
        if sum(part.file_size for part in self.archive.infolist()) > most:
            message = f"the bundle would unpack to more than {most:,} bytes"
            self.faults.fail("oversized", message, REMAKE)
        self.index = json.loads(self.archive.read(INDEX))
        version = self.index[KEY]
        check(type(version) is int and version >= 1, "versions")
        if version > VERSION:
            message = f"a newer idealist wrote this bundle: version {version} of its format"
            hint = f"update idealist: this one knows versions up to {VERSION}"
            self.faults.fail("bad-shape", message, hint)
        if self.index[SEAL] != checksum(self.index):
            self._refuse_changed(INDEX)
        private = self.index["private"]
        check(isinstance(private, bool), "queries")
        check_judgments(self.index["judgments"])
        qrels = self._judgments(self.index["judgments"])
        runs = [self._run(one, qrels, private) for one in self._chosen()]
        return Opened(qrels, tuple(runs), private)

    def _chosen(self) -> list[dict[str, Any]]:
        """Find the runs that are meant: all of them, or the one that is named."""
        runs: list[dict[str, Any]] = self.index["runs"]
        check(runs and len({one["name"] for one in runs}) == len(runs), "runs")
        if not self.source.sheet:
            return runs
        names = [one["name"] for one in runs]
        if self.source.sheet not in names:
            message = f"the bundle has no run {self.source.sheet!r}"
            self.faults.fail("empty", message, nearest(self.source.sheet, names))
        return [runs[names.index(self.source.sheet)]]

    def _columns(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """Read the columns of a member; refuse other bytes than were written."""
        name = about["member"]
        check_columns(about["columns"], self.archive.getinfo(name).file_size)
        data = self.archive.read(name)
        if hashlib.sha256(data).hexdigest() != self.index["checksums"][name]:
            self._refuse_changed(name)
        found, at = {}, 0
        for key, kind, size in about["columns"]:
            found[key] = freeze(np.frombuffer(data, kind, size, at))
            at += found[key].nbytes
        return found

    def _refuse_broken(self, data: bytes, why: str) -> NoReturn:
        """Say whether a file lacks its end, or anything else."""
        code, said = ("damaged", "is damaged") if has_end(data) else ("truncated", "is cut off")
        self.faults.fail(code, f"this bundle {said}: {why}", f"copy it again, or {REMAKE}")

    def _refuse_changed(self, name: str) -> NoReturn:
        message = f"{name} in this bundle was changed after it was written"
        self.faults.fail("checksum", message, f"copy it again, or {REMAKE}")

    def _judgments(self, about: Mapping[str, Any]) -> Qrels:
        columns = self._columns(about)
        sizes = columns.pop("sizes").astype(np.int64)
        grades = freeze(columns.pop("grade").astype(np.float64))
        queries = tuple(about["queries"])
        check(len(queries) == len(sizes), "queries")
        check((sizes >= 0).all() and sizes.sum() == len(grades), "judgments of queries")
        check((np.abs(grades) <= LARGEST).all(), "grades")
        for name, cells in about["words"].items():
            columns[name] = tuple(cells[i] for i in columns[name].tolist())
        rows = {kind: _rows(kind, cls, columns, len(grades)) for kind, cls in _ROWS.items()}
        scale = about["scale"]
        return Qrels(
            queries=queries, starts=freeze(starts_of(sizes)), documents=_unnamed(sizes),
            grades=grades, columns=columns, **rows,
            scale=Scale(tuple(scale[0]), tuple(scale[1])) if scale else None,
            repeats=about["repeats"], ungraded=about["ungraded"], is_trec=about["trec"],
            meant=about["meant"], remarks=_remarks(about["remarks"]), name=self.path,
            stated=about["hash"],
        )  # fmt: skip

    def _run(self, about: Mapping[str, Any], qrels: Qrels, private: bool) -> Run:
        check_run(about)
        lists: dict[Protocol, Columns] = {}
        first: Columns = {}
        for one in about["lists"]:
            columns, some = unpacked(self._columns(one), qrels.starts)
            first = first or columns
            lists[Protocol(**one["rules"])] = kept = (
                columns if columns is first else spliced(first, columns, some)
            )
            _check_places(kept, qrels)
        name = about["name"]
        source = StoredPlacements(
            name=f"{self.path}#{name}", qrels=qrels, lists=lists, same=about["same"],
            collapse=about["collapse"], others=tuple(about["others"]),
            unscored=about["unscored"], remarks=_remarks(about["remarks"]), private=private,
        )  # fmt: skip
        return Run(source, name)


#: Rows of judgments that refer to pairs, by the name of the field that holds them.
_ROWS: dict[str, type[PairRows]] = {"subtopics": Subtopics, "preferences": Preferences}


def _rows(kind: str, cls: type[PairRows], columns: dict[str, Any], pairs: int) -> Any:
    """Take the rows of one kind out of the columns; None if there are none."""
    names = [field.name for field in fields(cls)]
    if f"{kind}.pair" not in columns:
        return None
    own = {name: columns.pop(f"{kind}.{name}") for name in names}
    pair = own["pair"].astype(np.int64)
    check(((pair >= 0) & (pair < pairs)).all(), kind)
    return cls(**{**own, "pair": freeze(pair)})


def _unnamed(sizes: Any) -> tuple[str, ...]:
    """Name the judged documents of each query by their numbers."""
    names = tuple(f"judged:{i}" for i in range(1, int(sizes.max(initial=0)) + 1))
    return tuple(chain.from_iterable(names[:size] for size in sizes.tolist()))


def _remarks(written: Iterable[Iterable[Any]]) -> tuple[Remark, ...]:
    return tuple(Remark(*one) for one in written)


def _check_places(columns: Columns, qrels: Qrels) -> None:
    """Refuse places that no list has."""
    query, rank, judgment = columns["query"], columns["rank"], columns["judgment"]
    check(len({len(columns[name]) for name in PER_PLACE}) == 1, "places")
    check((columns["first"] >= 1).all() and (columns["first"] <= rank).all(), "ties")
    check((rank <= columns["last"]).all(), "ties")
    check((columns["last"] <= columns["retrieved"][query]).all(), "ranks")
    check((judgment >= qrels.starts[query]).all(), "judgments")
    check((judgment < qrels.starts[query + 1]).all(), "judgments")
    check((np.diff(query) >= 0).all(), "queries")


def bundled_run(data: str | Path) -> Run:
    """Read the one run of a bundle, or the one that is named."""
    runs = opened(data).runs
    if len(runs) != 1:
        names = [run.name for run in runs]
        message = f"{data} is a bundle of {len(runs)} runs, and one is wanted"
        raise UsageError(message, f"name one, such as {data}#{names[0]}")
    return runs[0]


def unfolded(data: Iterable[Any]) -> Iterator[Any]:
    """List runs as they are given, with those of each bundle in its place."""
    for one in data:
        if is_bundle(one):
            yield from opened(one).runs
        else:
            yield one
