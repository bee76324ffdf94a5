"""The result of an audit, in words, tables and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idealist.auditing.drawing import alike, marked, text
from idealist.auditing.finding import SEVERITIES, Finding, Severity, mapping_file, plain_number
from idealist.auditing.mapping import write_mapping
from idealist.draw import Grid, markdown, plain, web
from idealist.errors import UsageError, nearest
from idealist.notation import many
from idealist.summary import number

if TYPE_CHECKING:
    from idealist.auditing.coverage import Coverage


@dataclass(frozen=True, repr=False)
class Audit:
    """What an audit found, worst first. ``print(audit)`` shows it.

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
        if self.worst == "error":
            return f"The numbers cannot be trusted: {self._counts}."
        if self.worst == "warning":
            return f"Read the numbers with care: {self._counts}."
        return f"Nothing speaks against the numbers{': ' if self.findings else ''}{self._counts}."

    @property
    def _counts(self) -> str:
        counts = [sum(one.severity == kind for one in self.findings) for kind in SEVERITIES]
        said = [many(n, kind, f"{kind}s") for n, kind in zip(counts, SEVERITIES, strict=True) if n]
        return ", ".join(said)

    def __repr__(self) -> str:
        codes = dict.fromkeys(one.code for one in self.findings)
        return f"<Audit: {self._counts or 'no findings'}{'; ' if codes else ''}{', '.join(codes)}>"

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
            [
                run,
                *(number(one.judged[k]) for k in depths),
                *(str(one.holes[k]) if one.looked[k] else "-" for k in depths),
            ]
            for run, one in runs.items()
        ]
        return Grid(["run", *heads], rows)

    def __str__(self) -> str:
        parts = ["\n".join(text(group)) for group in alike(self.findings)]
        parts += [plain(self.covered())] if self.values else []
        return "\n\n".join([self.verdict, *parts])

    def markdown(self) -> str:
        """Write it in Markdown."""
        parts = ["\n".join(marked(group)) for group in alike(self.findings)]
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
