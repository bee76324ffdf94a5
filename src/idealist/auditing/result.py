"""The result of an audit, in words, tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idealist.auditing.finding import SEVERITIES, Finding, Severity, mapping_file, plain_number
from idealist.auditing.mapping import write_mapping
from idealist.doubts.case import seen
from idealist.draw import Grid, markdown, plain, web
from idealist.errors import UsageError, nearest
from idealist.notation import many
from idealist.summary import number

if TYPE_CHECKING:
    from idealist.auditing.coverage import Coverage


@dataclass(frozen=True)
class Audit:
    """What an audit found, worst first. ``print(audit)`` shows it all.

    `values` are the measures of each run as they are now; `coverage` says how much of each run was
    judged, and what to judge first. It is None where the judgments cannot be read.
    """

    findings: tuple[Finding, ...]
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    coverage: Coverage | None = None

    @property
    def worst(self) -> Severity | None:
        """The worst severity found."""
        return self.findings[0].severity if self.findings else None

    def at_least(self, severity: str) -> tuple[Finding, ...]:
        """Give the findings of a severity and of worse ones."""
        if severity not in SEVERITIES:
            hint = nearest(str(severity), SEVERITIES)
            raise UsageError(f"there is no severity {severity!r}", hint)
        wanted = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return tuple(one for one in self.findings if one.severity in wanted)

    @property
    def verdict(self) -> str:
        """The audit in one sentence."""
        counts = [sum(one.severity == kind for one in self.findings) for kind in SEVERITIES]
        said = [many(n, kind, f"{kind}s") for n, kind in zip(counts, SEVERITIES, strict=True) if n]
        if self.worst == "error":
            return f"The numbers cannot be trusted: {', '.join(said)}."
        if self.worst == "warning":
            return f"Read the numbers with care: {', '.join(said)}."
        return f"Nothing speaks against the numbers{': ' if said else ''}{', '.join(said)}."

    def save_mappings(self, folder: str | Path) -> list[Path]:
        """Write each proposed mapping to a file of pairs, old id and new id; give their paths."""
        found = {
            _folder(folder) / mapping_file(one.run, what): mapping
            for one in self.findings
            for what, mapping in one.mappings.items()
        }
        for path, mapping in found.items():
            write_mapping(path, mapping)
        return [*found]

    def to_json(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "verdict": self.verdict,
            "worst": self.worst,
            "findings": [one.to_json() for one in self.findings],
            "values": {
                run: {label: plain_number(value) for label, value in own.items()}
                for run, own in self.values.items()
            },
            "coverage": self.coverage and self.coverage.to_json(),
        }

    def grid(self) -> Grid:
        """Tabulate the findings."""
        rows = [
            [
                one.severity,
                one.code,
                one.run,
                one.message,
                one.command or one.remedy,
                str(one.count),
            ]
            for one in self.findings
        ]
        return Grid(["severity", "finding", "run", "message", "remedy", "count"], rows, words=5)

    def covered(self) -> Grid:
        """Tabulate how much of each run was judged."""
        runs = self.coverage.runs if self.coverage else {}
        depths = next((list(one.judged) for one in runs.values()), [])
        heads = [f"{word}@{k}" for word in ("Judged", "holes") for k in depths]
        rows = [
            [run, *(number(one.judged[k]) for k in depths), *(str(one.holes[k]) for k in depths)]
            for run, one in runs.items()
        ]
        return Grid(["run", *heads], rows)

    def __str__(self) -> str:
        parts = ["\n".join(_lines(one)) for one in self.findings]
        parts += [plain(self.covered())] if self.values else []
        return "\n\n".join([self.verdict, *parts])

    def markdown(self) -> str:
        """Write it in Markdown."""
        parts = ["\n".join(_marked(one)) for one in self.findings]
        parts += [f"## Coverage\n\n{markdown(self.covered())}"] if self.values else []
        return "\n\n".join([f"**{self.verdict}**", *parts])

    def _repr_html_(self) -> str:
        covered = web(self.covered()) if self.values else ""
        return f"<p>{self.verdict}</p>{web(self.grid())}{covered}"


def _folder(path: str | Path) -> Path:
    """Make a folder."""
    try:
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
    except TypeError:
        raise UsageError(f"{path!r} is no folder", "give its path") from None
    except OSError as error:
        message = f"cannot make the folder {path}: {error.strerror}"
        raise UsageError(message, "give another one") from None
    return folder


def _lines(one: Finding) -> Iterator[str]:
    yield f"{one.severity}: {one.code}{f', {one.run}' if one.run else ''}: {one.message}"
    yield from (f"    {example}" for example in _examples(one))
    yield from (f"  cost, {run}: {words}" for run, words in _costs(one))
    if one.remedy:
        yield f"  remedy: {one.remedy}"
    if one.command:
        yield f"    {one.command}"


def _marked(one: Finding) -> Iterator[str]:
    yield f"## {one.severity}: {one.code}{f', {one.run}' if one.run else ''}\n\n{one.message}\n"
    yield from (f"- `{example}`" for example in _examples(one))
    yield from (f"- cost, {run}: {words}" for run, words in _costs(one))
    if one.remedy:
        yield f"- remedy: {one.remedy}"
    if one.command:
        shell = one.command.startswith("idealist ")
        yield f"\n```{'console' if shell else 'python'}\n{'$ ' * shell}{one.command}\n```"
    if one.doc:
        yield f"\n{one.doc}"


def _examples(one: Finding) -> Iterator[str]:
    for example in one.examples:
        yield example if isinstance(example, str) else " → ".join(map(seen, example))


def _costs(one: Finding) -> Iterator[tuple[str, str]]:
    """Say what each measure is, and would be."""
    supposing = f", if {one.supposing}" if one.supposing else ""
    for run, own in one.cost.items():
        values = [f"{label} {number(a)} → {number(b)}" for label, (a, b) in own.items()]
        yield run, ", ".join(values) + supposing
