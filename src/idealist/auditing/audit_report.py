"""Findings in plain text and in Markdown; those that several runs share are drawn as one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idealist.auditing.finding import SEVERITIES, Finding, Severity, mapping_file, plain_number
from idealist.auditing.ids.mapping import write_mapping
from idealist.errors import UsageError, nearest
from idealist.evaluating.doubt_case import seen
from idealist.evaluating.summary import number
from idealist.notation import many
from idealist.report.draw import Grid, markdown, plain, web

if TYPE_CHECKING:
    from idealist.auditing.coverage import Coverage


def alike(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Put together what is found of several runs, but for errors: each of them has to be mended.

    >>> two = [Finding("ties", "note", "…", run=run) for run in ("bm25", "dense")]
    >>> [len(group) for group in alike([*two, Finding("ties", "error", "…", run="bm25")])]
    [2, 1]
    """
    groups: dict[Hashable, list[Finding]] = {}
    for one in findings:
        shared = (one.code, one.severity, one.remedy, one.supposing)
        alone = one.severity == "error" or not one.run
        groups.setdefault(id(one) if alone else shared, []).append(one)
    return [*groups.values()]


def text(group: list[Finding]) -> Iterator[str]:
    """Write findings that are alike as lines of text."""
    first = group[0]
    if len(group) > 1:
        yield f"{_title(group)}:"
        yield from (f"  {line}" for one in group for line in _line(one))
    else:
        yield f"{_title(group)}: {first.message}"
        yield from (f"    {example}" for example in _examples(first))
        yield from (f"  cost, {run}: {words}{_if(first)}" for run, words in _costs(first))
    yield from (f"  {line}" for line in _supposed(group))
    if first.remedy:
        yield f"  remedy: {first.remedy}{_of_first(group)}"
    if first.command:
        yield f"    {first.command}"


def marked(group: list[Finding]) -> Iterator[str]:
    """Write findings that are alike in Markdown."""
    first = group[0]
    yield f"## {_title(group)}\n"
    if len(group) > 1:
        yield from ("- " + "\n  - ".join(line.strip() for line in _line(one)) for one in group)
    else:
        yield f"{first.message}\n"
        yield from (f"- `{example}`" for example in _examples(first))
        yield from (f"- cost, {run}: {words}{_if(first)}" for run, words in _costs(first))
    yield from (f"- {line}" for line in _supposed(group))
    if first.remedy:
        yield f"- remedy: {first.remedy}{_of_first(group)}"
    if first.command:
        shell = first.command.startswith("idealist ")
        yield f"\n```{'console' if shell else 'python'}\n{'$ ' * shell}{first.command}\n```"
    if first.doc:
        yield f"\n{first.doc}"


def _title(group: list[Finding]) -> str:
    first = group[0]
    runs = f"{len(group)} runs" if len(group) > 1 else first.run
    return f"{first.severity}: {first.code}{f', {runs}' if runs else ''}"


def _line(one: Finding) -> Iterator[str]:
    """Say what is found of one run among several, with one example, and what it costs."""
    example = next(_examples(one), "")
    yield f"{one.run}: {one.message}{f' (such as {example})' if example else ''}"
    yield from (f"  cost: {words}" for _, words in _costs(one))


def _of_first(group: list[Finding]) -> str:
    """Say that the command is of the first run, where the others need another."""
    differ = len({one.command for one in group}) > 1
    return f"; for {group[0].run}, and likewise for the others:" if differ else ""


def _examples(one: Finding) -> Iterator[str]:
    for example in one.examples:
        yield example if isinstance(example, str) else " → ".join(map(seen, example))


def _costs(one: Finding) -> Iterator[tuple[str, str]]:
    """Say what each measure of a run is, and would be."""
    for run, own in one.cost.items():
        yield run, ", ".join(f"{label} {number(a)} → {number(b)}" for label, (a, b) in own.items())


def _if(one: Finding) -> str:
    """Say beside the cost of a single run what it supposes."""
    return f", if {one.supposing}" if one.supposing and len(one.cost) == 1 else ""


def _supposed(group: list[Finding]) -> Iterator[str]:
    """Say once what the costs of several runs suppose."""
    priced = [run for one in group for run in one.cost]
    if group[0].supposing and priced and max(len(group), len(priced)) > 1:
        yield f"the costs suppose that {group[0].supposing}"


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

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "verdict": self.verdict,
            "worst": self.worst,
            "findings": [one.data() for one in self.findings],
            "values": {
                run: {label: plain_number(value) for label, value in own.items()}
                for run, own in self.values.items()
            },
            "coverage": self.coverage and self.coverage.data(),
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
