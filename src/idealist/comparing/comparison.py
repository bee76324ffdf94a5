"""A comparison: pairs of runs by one or more measures, drawn for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from idealist.comparing import notes
from idealist.comparing.options import Options
from idealist.comparing.orders import Agreement, order_lines
from idealist.comparing.pair import Pair
from idealist.comparing.tables import pairs_grid, runs_grid
from idealist.draw import Grid, markdown, plain, web, wrapped
from idealist.errors import UsageError, nearest
from idealist.evaluation import Evaluation, label_of
from idealist.signature import Signature

#: The columns that words are broken at.
WIDTH = 100


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs compared: ``print(comparison)`` is the tables, the verdicts and what is doubtful.

    `pairs` holds a pair for each measure and pair of runs, the primary measure's first; `slices`
    the same for parts of the queries; `agreement` says how far measures order the systems alike.
    `signatures` name the instrument with the statistics, seed included; `remarks` say what was not
    looked at.
    """

    evaluations: tuple[Evaluation, ...]
    pairs: tuple[Pair, ...]
    baseline: str
    options: Options
    signatures: Mapping[Any, Signature]
    slices: tuple[Pair, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def measures(self) -> list[str]:
        """The measures, as they were typed."""
        return list(self.signatures)

    @property
    def primary(self) -> str:
        """The measure that decides: the first."""
        return self.measures[0]

    def __getitem__(self, measure: Any) -> tuple[Pair, ...]:
        label = label_of(measure, self.measures)
        return tuple(pair for pair in self.pairs if pair.measure == label)

    def pair(self, run: str, baseline: str | None = None, measure: Any = None) -> Pair:
        """Give one pair: a run against the baseline, by the primary measure."""
        base = self.baseline if baseline is None else baseline
        for pair in self[self.primary if measure is None else measure]:
            if (pair.run, pair.baseline) == (run, base):
                return pair
        names = [pair.run for pair in self[self.primary] if pair.baseline == base]
        raise UsageError(f"{run} was not compared with {base}", nearest(run, names))

    def beaten(self, run: str, measure: Any) -> list[str]:
        """Name the runs that a run is significantly better than."""
        won = [pair for pair in self[measure] if pair.significant and pair.sense]
        above = [pair.baseline for pair in won if pair.run == run and pair.better]
        return above + [pair.run for pair in won if pair.baseline == run and not pair.better]

    def grids(self, caption: str = "") -> list[Grid]:
        """Give the tables: systems, pairs, and slices where there are any."""
        grids = [runs_grid(self, caption), pairs_grid(self.pairs, self.options.all_pairs)]
        return grids + ([pairs_grid(self.slices, self.options.all_pairs)] if self.slices else [])

    @property
    def verdicts(self) -> list[str]:
        """The verdicts by the primary measure with what is behind them, and how measures agree."""
        return [*notes.verdicts(self), *order_lines(self.agreement)]

    @property
    def notes(self) -> list[str]:
        """How it was compared, what is doubtful, and the signatures."""
        return notes.notes(self)

    def text(self) -> str:
        """Write tables and verdicts for a terminal."""
        systems, *others = self.grids()
        tables = [plain(systems), *(plain(grid, gap=2) for grid in others)]
        return "\n\n".join([*tables, wrapped(self.verdicts, WIDTH)])

    def markdown(self) -> str:
        """Write it for a README or an issue."""
        starts = (line[: len(line) - len(line.lstrip())] for line in self.verdicts)
        pairs = zip(starts, self.verdicts, strict=True)
        lines = "\n".join(f"{start}- {line.lstrip()}" for start, line in pairs)
        return "\n\n".join([*map(markdown, self.grids()), lines])

    def __str__(self) -> str:
        return f"{self.text()}\n\n" + "\n".join(self.notes)

    def __repr__(self) -> str:
        runs = ", ".join(one.run for one in self.evaluations)
        return f"<Comparison {', '.join(self.measures)}: {runs}; {self.pairs[0].n} queries>"

    def _repr_html_(self) -> str:
        import html  # here, because its table of entities takes long to load

        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self.verdicts)
        words = "<br>".join(map(html.escape, self.notes))
        return f"{''.join(map(web, self.grids()))}<ul>{lines}</ul><small>{words}</small>"

    def to_json(self, per_query: bool = False) -> dict[str, Any]:
        """Give it as plain data; undefined values are None."""
        options = self.options
        data: dict[str, Any] = {
            "baseline": None if options.all_pairs else self.baseline,
            "runs": [one.run for one in self.evaluations],
            "primary": self.primary,
            "alpha": options.alpha,
            "seed": options.seed,
            "correction": options.correction,
            "pairs": [pair.to_json(per_query) for pair in self.pairs],
        }
        if self.slices:
            data["slices"] = [pair.to_json(per_query) for pair in self.slices]
        if self.remarks:
            data["remarks"] = list(self.remarks)
        if self.agreement:
            data["agreement"] = [one.to_json() for one in self.agreement]
        doubts = {one.run: [doubt.to_json() for doubt in one.doubts] for one in self.evaluations}
        signatures = {label: str(one) for label, one in self.signatures.items()}
        return data | {"doubts": doubts, "signatures": signatures}
