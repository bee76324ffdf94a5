"""How a report came about: inputs with sizes and hashes, versions, and commands to repeat it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealist import kernel
from idealist._version import __version__
from idealist.evaluating.doubt_case import is_filed, shell
from idealist.files import fingerprint
from idealist.rendering.document import COUNT, TEXT, Column, Table
from idealist.reporting.computing import Findings


@dataclass(frozen=True)
class Input:
    """A file that was read: what it is, its size, and its SHA-256; documents are not hashed."""

    kind: str
    name: str
    size: int | None = None
    sha256: str = ""

    @classmethod
    def of(cls, kind: str, name: str, hashed: bool = True) -> Input:
        """Look a file up; data that is in no file has no size."""
        if hashed and (found := fingerprint(name)) is not None:
            return cls(kind, name, found.size, found.sha256)
        return cls(kind, name, os.path.getsize(name) if os.path.isfile(name) else None)


@dataclass(frozen=True)
class Provenance:
    """The inputs, the commands that make every number again, and the versions."""

    inputs: tuple[Input, ...]
    commands: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]

    @classmethod
    def of(
        cls, findings: Findings, docs: Any, column: str, explained: str,
        measured: bool,
    ) -> Provenance:  # fmt: skip
        """Collect them; `explained` is a query whose lists are shown, if any."""
        files = [
            findings.evaluator.qrels.name,
            *(one.run.source.name for one in findings.ranked.values()),
        ]
        inputs = [Input.of("judgments", files[0]), *(Input.of("run", one) for one in files[1:])]
        texts = findings.texts
        inputs += [] if texts is None else [Input.of("queries", texts.name)]
        inputs += [Input.of("documents", str(docs), False)] if isinstance(docs, (str, Path)) else []
        asked = texts if findings.evaluator.asked else None
        if is_filed(*files) and (asked is None or is_filed(asked.name)):
            commands = tuple(_commands(findings, files, docs, column, explained, measured))
        else:
            commands = CALLS
        return cls(tuple(inputs), commands, _versions())

    def table(self) -> Table:
        """Tabulate the inputs."""
        columns = (
            Column("what", TEXT),
            Column("file", TEXT),
            Column("bytes", COUNT),
            Column("SHA-256", TEXT),
        )
        rows = tuple((one.kind, one.name, one.size, one.sha256) for one in self.inputs)
        return Table(columns, rows)

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        inputs = [
            {"kind": one.kind, "name": one.name, "bytes": one.size, "sha256": one.sha256 or None}
            for one in self.inputs
        ]
        return {"inputs": inputs, "commands": list(self.commands), "versions": dict(self.versions)}


#: What to call again where the data is in no files.
CALLS = (
    "idealist.compare(qrels, runs, measures)",
    "idealist.audit(qrels, runs)",
    "idealist.diagnose(qrels, run)",
)


def _commands(
    findings: Findings, files: Sequence[str], docs: Any, column: str,
    explained: str, measured: bool,
) -> Iterator[str]:  # fmt: skip
    """Write the commands whose JSON the report holds, and one that shows two lists."""
    evaluator, runs, texts = findings.evaluator, findings.runs, findings.texts
    path = dict(zip(runs, files[1:], strict=True))
    named = ["--queries", texts.name] if texts and is_filed(texts.name) else []
    sliced = ["--slice", column] if column and named else []
    named = [] if evaluator.queries is not None else named  # which each command has then
    told = ["--docs", str(docs)] if isinstance(docs, (str, Path)) else []
    measures = (
        [w for label in evaluator.measures for w in ("-m", label)]
        if measured and evaluator.usual
        else []
    )
    rest = "-f", "json"
    yield shell(evaluator, "eval", files, *measures, *rest)
    if findings.comparison:
        base = [] if findings.baseline == runs[0] else ["--baseline", findings.baseline]
        yield shell(evaluator, "compare", files, *measures, *sliced, *base, *rest)
    yield shell(evaluator, "audit", files, *measures, *named, *rest)
    if run := findings.diagnosed:
        both = [files[0], path[run]]
        yield shell(evaluator, "diagnose", both, *measures, *sliced, *rest)
    if explained:
        shown = [path[name] for name in filter(None, (findings.baseline, findings.main))]
        yield shell(findings.alone, "explain", [files[0], *shown], "--query", explained, *told)


def _versions() -> tuple[tuple[str, str], ...]:
    from numpy import __version__ as numpy
    from scipy import __version__ as scipy

    return (
        ("idealist", f"{__version__} ({kernel.description()})"),
        ("Python", platform.python_version()),
        ("NumPy", numpy),
        ("SciPy", scipy),
    )
