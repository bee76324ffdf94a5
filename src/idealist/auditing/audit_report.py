"""What an audit found: findings, worst first, and how much of each run is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from idealist.auditing.chances import DEPTHS
from idealist.auditing.coverage import Coverage
from idealist.auditing.judge_agreement import JudgeAgreement
from idealist.auditing.pool_teams import PoolTeams
from idealist.data.judgments import GOLD
from idealist.errors import UsageError, nearest
from idealist.formats.id_mapping import mapping_file, write_mapping
from idealist.notation import many
from idealist.rendering import doubt_words
from idealist.rendering.document import COUNT, Block, Details, Document, Doubts, Items, Table, Text
from idealist.rendering.doubt import SEVERITIES, Doubt, Severity
from idealist.rendering.figure import Figure
from idealist.rendering.figures import curve_figures, run_figures
from idealist.rendering.plain_data import finite
from idealist.rendering.result import Figures, Result

#: How far two judges agree, with the words for it.
KAPPAS = {
    "kappa": "Cohen's kappa", "linear": "linear kappa", "quadratic": "quadratic kappa",
    "agree": "share with the same grade",
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What an audit found, worst first. ``print(audit)`` shows it.

    `values` are the measures of each run as they are now. `coverage` says how much of each run is
    judged, and what to judge first; it is None where the judgments cannot be read. `pool_teams`
    says what the pool does to each run, where their teams are given, and `judges` how far several
    judges agree.
    """

    findings: tuple[Doubt, ...]
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    coverage: Coverage | None = None
    pool_teams: PoolTeams | None = None
    judges: JudgeAgreement | None = None

    @property
    def worst(self) -> Severity | None:
        """The worst severity found."""
        return self.findings[0].severity if self.findings else None

    def at_least(self, severity: str) -> tuple[Doubt, ...]:
        """Return the findings of a severity and of worse ones."""
        if severity not in SEVERITIES:
            hint = nearest(str(severity), SEVERITIES)
            raise UsageError(f"there is no severity {severity!r}", hint)
        wanted = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return tuple(one for one in self.findings if one.severity in wanted)

    @property
    def summary(self) -> str:
        """Whether the numbers can be trusted, in one sentence.

        What several runs share is counted once, as it is shown.
        """
        groups = doubt_words.alike(self.findings)
        counts = [sum(own[0].severity == kind for own in groups) for kind in SEVERITIES]
        said = [many(n, kind, f"{kind}s") for n, kind in zip(counts, SEVERITIES, strict=True) if n]
        several = sum(len(own) > 1 for own in groups)
        shared = f"; {several} of them about several runs" if several else ""
        verdict = {"error": "The numbers cannot be trusted", "warning": "Use the numbers with care"}
        begin = verdict.get(self.worst or "", "Nothing speaks against the numbers")
        return f"{begin}{': ' if said else ''}{', '.join(said)}{shared}."

    @property
    def figures(self) -> Figures:
        """The figures of what is judged, and of how far judges agree."""
        found, judges = self.coverage, self.judges
        unknown = found is None or not found.runs or found.gold != "pooled"
        alone = judges is None or not judges.pairs
        lacking = [*["coverage"] * unknown, *["agreement"] * alone]
        makers: dict[str, Callable[..., Figure]] = {
            "coverage": self._coverage, "agreement": self._agreement,
        }  # fmt: skip
        return Figures(makers, without=lacking)

    def _coverage(self, every_rank: bool = False) -> Figure:
        """Show which share is judged at each rank; far down in bands of ranks, unless told."""
        found = self.coverage
        if found is None or not found.runs:
            raise UsageError("nothing is known of what is judged", "audit judgments with runs")
        if found.gold != "pooled":
            hint = "say judgments='pooled' if other documents may be relevant"
            raise UsageError(f"no document is unjudged: {GOLD[found.gold]}", hint)
        shares = {run: one.by_rank.tolist() for run, one in found.runs.items()}
        lists = {run: one.reach.tolist() for run, one in found.runs.items()}
        top = {run: one.judged[DEPTHS[0]] for run, one in found.runs.items()}
        return curve_figures.coverage(shares, lists, top, DEPTHS[0], every_rank=every_rank)

    def _agreement(self, coefficient: str = "kappa") -> Figure:
        """Show how far every two judges agree, those first who judged most."""
        if self.judges is None or not self.judges.pairs:
            hint = "give judgments with a column that names the judge"
            raise UsageError("no document was judged by two judges who have names", hint)
        if coefficient not in KAPPAS:
            hint = nearest(str(coefficient), KAPPAS)
            raise UsageError(f"there is no coefficient {coefficient!r}", hint)
        counts = self.judges.judges
        names = sorted(counts, key=lambda name: -counts[name])
        values = {one.judges: getattr(one, coefficient) for one in self.judges.pairs}
        title = f"How far judges agree on {self.judges.documents} documents: {KAPPAS[coefficient]}"
        what = KAPPAS[coefficient]
        return run_figures.agreement(names, values, title=title, what=what, of="judges")

    def report(self) -> Document:
        """Describe the findings: errors and warnings in full, notes in a line each.

        What the pool does to each run comes first, where that was asked for.
        """
        notes = tuple(one for one in self.findings if one.severity == "note")
        worse = tuple(one for one in self.findings if one.severity != "note")
        blocks: list[Block] = [*self.pool_teams.report().blocks] if self.pool_teams else []
        blocks += [Text(self.summary, strong=True), Doubts(worse, full=True)]
        if notes:
            blocks += [
                Items(tuple(doubt_words.brief(notes))),
                Details("The notes in full", (Doubts(notes, full=True),)),
            ]
        if self.judges and self.judges.pairs:
            blocks.append(Details("How far the judges agree", (self.judges.table(),)))
        if self.coverage and self.coverage.runs and self.coverage.gold == "pooled":
            blocks.append(self.coverage.table())
        return Document(tuple(blocks))

    def table(self) -> Table:
        """Return one row a finding; where teams are given, one for each run and measure."""
        if self.pool_teams:
            return self.pool_teams.table()
        words = ["severity", "finding", "run", "message", "remedy"]
        rows = [
            [one.severity, one.code, one.run, one.message, one.command or one.remedy, one.count]
            for one in self.findings
        ]
        return Table.of(words, ["count"], rows, COUNT)

    def data(self) -> dict[str, Any]:
        """Return the contract of ``audit -f json``."""
        return {
            "verdict": self.summary,
            "worst": self.worst,
            "findings": [one.data() for one in self.findings],
            "values": finite(self.values),
            "coverage": self.coverage and self.coverage.data(),
            "pool_teams": self.pool_teams and self.pool_teams.data(),
            "judges": self.judges and self.judges.data(),
        }

    def save_mappings(self, folder: str | Path) -> list[Path]:
        """Write each proposed mapping to a file of old and new ids; return their paths."""
        found = {
            _folder(folder) / mapping_file(one.run, what): mapping
            for one in self.findings
            for what, mapping in one.mappings.items()
        }
        for path, mapping in found.items():
            write_mapping(path, mapping)
        return [*found]


def _folder(path: str | Path) -> Path:
    """Make a folder."""
    try:
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
    except TypeError:
        raise UsageError(f"{path!r} is not a folder", "give its path") from None
    except OSError as error:
        message = f"cannot make the folder {path}: {error.strerror}"
        raise UsageError(message, "give another one") from None
    return folder
