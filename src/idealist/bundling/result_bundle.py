"""Bundle: runs in a small file that others can measure as they like, without the documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from idealist import files
from idealist.bundling.placements_of import stored_placements
from idealist.data import Qrels, Run
from idealist.errors import UsageError, nearest
from idealist.formats import bundle_files, one_or_several, read_qrels
from idealist.formats.source import Source, distinct
from idealist.notation import many, text
from idealist.protocol import Protocol
from idealist.ranking.stored_placements import StoredPlacements, has_documents
from idealist.rendering.document import Document, Table, Text
from idealist.rendering.result import Result
from idealist.rendering.wording import few

#: The rules that are applied to lists when they are measured, so that any bundle takes them.
LATER = ("unjudged", "negative", "grades", "missing", "unknown")


@dataclass(frozen=True, eq=False, repr=False)
class Bundle(Result):
    """Where runs had the judged documents, under every rule that could order their lists.

    ``bundle.qrels`` and ``bundle.runs`` go wherever judgments and runs go. `content` is what a
    bundle's file holds.
    """

    content: bytes
    name: str = "bundle"

    @classmethod
    def read(cls, path: str | Path) -> Bundle:
        """Read the file of a bundle."""
        source = Source.of(path)
        return cls(source.data(), source.name)

    @cached_property
    def _opened(self) -> bundle_files.Opened:
        return bundle_files.opened(Source(self.name, spooled=self.content))

    @property
    def qrels(self) -> Qrels:
        """The judgments, whose documents have no names."""
        return self._opened.qrels

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs."""
        return self._opened.runs

    @property
    def private(self) -> bool:
        """Whether queries are known by hashes only."""
        return self._opened.private

    @property
    def summary(self) -> str:
        """How much is in how few bytes, in one sentence."""
        runs, queries = len(self.runs), len(self.qrels.queries)
        whose = "private " if self.private else ""
        return (
            f"{many(runs, 'run', 'runs')} over {many(queries, f'{whose}query', f'{whose}queries')} "
            f"in {len(self.content):,} bytes"
        )

    def report(self) -> Document:
        """Describe the runs: how much of each is there, and under which rules."""
        rows = [[run.name, _found(run), ", ".join(_limits(run)) or "any"] for run in self.runs]
        table = Table.of(["run"], ["judged documents found", "rules"], rows)
        judged = f"judgments {self.qrels.hash}: {many(len(self.qrels), 'grade', 'grades')}"
        return Document((Text(self.summary), table), (Text(judged),))

    def data(self) -> dict[str, Any]:
        """Return what a bundle says of itself."""
        return {
            "qrels": self.qrels.hash, "queries": len(self.qrels.queries),
            "private": self.private, "bytes": len(self.content),
            "runs": [{"run": run.name, "found": _found(run)} for run in self.runs],
        }  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write it: the bundle itself, or what `report` says in the form of another suffix."""
        if Path(path).suffix == ".ilb":
            files.write(path, self.content)
        else:
            super().save(path)


def _lists(run: Run) -> StoredPlacements:
    assert isinstance(run.source, StoredPlacements)  # as all runs of a bundle
    return run.source


def _found(run: Run) -> int:
    return len(next(iter(_lists(run).lists.values()))["query"])


def _limits(run: Run) -> list[str]:
    """Name the rules whose values are limited to those that are there."""
    kept = _lists(run)
    values = {axis: dict.fromkeys(text(one.written()[axis]) for one in kept.lists) for axis in (
        "order", "ties", "nonfinite", "duplicates",
    ) if axis not in kept.same}  # fmt: skip
    if kept.collapse != "none":
        values["collapse"] = {kept.collapse: None}
    return [f"{axis}={few(list(known), 6)}" for axis, known in values.items()]


def bundle(qrels: Any, runs: Any, *, private: bool = False, **axes: Any) -> Bundle:
    """Keep where runs had the judged documents, for others to measure without the documents.

    `axes` are rules that lists are made by, such as ``collapse``; every order of ties that tools
    have is kept anyway. With `private`, queries are known by hashes that only those can compute who
    have the judgments.

    >>> made = bundle({"q1": {"d1": 2, "d2": 0}}, {"mine": {"q1": ["d3", "d1"]}})
    >>> import idealist as il
    >>> il.evaluate(made.qrels, made.runs[0], "RR@10")["RR@10"]
    0.5
    """
    judged, protocol = read_qrels(qrels), _protocol(axes)
    if judged.stated:
        raise UsageError(f"{judged.name} is a bundle already", "give the judgments themselves")
    if judged.cover:
        hint = "send the gold and the chunks"
        raise UsageError("a bundle keeps places of documents, not what chunks have of spans", hint)
    named = one_or_several(runs)
    for run in named:
        if not has_documents(run):
            hint = "give the run itself: not all that this bundle holds would be kept"
            raise UsageError(f"{run.name} comes from a bundle", hint)
    names = distinct([run.name.encode(errors="replace").decode() for run in named])
    kept = [stored_placements(judged, run, protocol) for run in named]
    return Bundle(bundle_files.written(judged, dict(zip(names, kept, strict=True)), private))


def _protocol(axes: Mapping[str, Any]) -> Protocol:
    """Check rules that lists are made by."""
    for axis, value in axes.items():
        if axis not in Protocol.parameters():
            known = [name for name in Protocol.parameters() if name not in LATER]
            raise UsageError(f"{axis} is no rule that lists are made by", nearest(axis, known))
        if axis in LATER or (axis == "depth" and Protocol(depth=value).budget is None):
            message = f"{axis}={text(value)} changes nothing in a bundle"
            raise UsageError(message, "set it where the bundle is measured")
    return Protocol(**axes)


def read_bundle(path: str | Path) -> Bundle:
    """Read a bundle: its `qrels` and `runs` go wherever judgments and runs go."""
    return Bundle.read(path)
