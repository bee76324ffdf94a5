"""A comparison: pairs of runs by one or more measures, drawn for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from idealist.comparing import notes
from idealist.comparing.agreement import Agreement, order_lines
from idealist.comparing.compare_options import Options
from idealist.comparing.pair import Pair
from idealist.comparing.standing import best_first
from idealist.comparing.tables import MOST, matrix_grid, pairs_grid, runs_grid
from idealist.conventions.signature import Signature
from idealist.errors import UsageError, nearest
from idealist.evaluating.evaluation import Evaluation, label_of
from idealist.report.draw import Grid, markdown, plain, web, wrapped

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
            if (pair.run, pair.baseline) == (base, run):
                hint = f"it is the other way round: pair({base!r}, {run!r})"
                raise UsageError(f"{run} was not compared with {base}", hint)
        known = [one.run for one in self.evaluations if one.run != base]
        raise UsageError(f"{run} was not compared with {base}", nearest(run, known))

    def beaten(self, run: str, measure: Any) -> list[str]:
        """Name the runs that a run is significantly better than."""
        won = [pair for pair in self[measure] if pair.significant and pair.sense]
        above = [pair.baseline for pair in won if pair.run == run and pair.better]
        return above + [pair.run for pair in won if pair.baseline == run and not pair.better]

    def grids(self, caption: str = "", width: int | None = None) -> list[Grid]:
        """Give the tables: systems, pairs (a matrix where they are all), and slices."""
        every = self.options.all_pairs and len(self.evaluations) > 2
        grids = [runs_grid(self, caption)]
        if not every:
            ordered = [pair for label in self.measures for pair in best_first(self[label])]
            grids.append(pairs_grid(ordered, self.options.all_pairs, width))
        elif len(self.evaluations) <= MOST:
            grids += [matrix_grid(self, label) for label in self.measures]
        parts = [pairs_grid(self.slices, every, width)] if self.slices else []
        return grids + parts

    @property
    def verdicts(self) -> list[str]:
        """What it comes to, what is behind it, and how measures agree."""
        return [*notes.conclusion(self), *self._behind()]

    def _behind(self, details: bool = False) -> list[str]:
        return [*notes.behind(self, details), *order_lines(self.agreement)]

    @property
    def notes(self) -> list[str]:
        """How it was compared, what is doubtful, and the signatures."""
        return notes.notes(self)

    def text(self, details: bool = False) -> str:
        """Write tables and verdicts for a terminal; many runs begin with where they stand."""
        systems, *others = self.grids(width=WIDTH)
        narrow = [plain(grid, gap=1 if "mean" in grid.headers else 2) for grid in others]
        tables = [plain(systems), *narrow]
        first, rest = notes.conclusion(self), self._behind(details)
        parts = (
            [*tables, wrapped([*first, *rest], WIDTH)]
            if len(self.evaluations) == 2
            else [wrapped(first, WIDTH), *tables, wrapped(rest, WIDTH)]
        )
        return "\n\n".join(filter(None, parts))

    def markdown(self, details: bool = False) -> str:
        """Write it for a README or an issue: what it comes to, tables, and the rest folded up."""
        first, rest = ("\n".join(map(_item, lines)) for lines in (
            notes.conclusion(self), self._behind(details)
        ))  # fmt: skip
        folded = f"<details><summary>What is behind it</summary>\n\n{rest}\n\n</details>"
        footer = "; ".join(notes.heading(self)) + "<br>"
        signed = "<br>".join(f"`{line}`" for line in notes.signatures(self))
        tables = map(markdown, self.grids())
        parts = [first, *tables, folded if rest else "", f"<sub>{footer}{signed}</sub>"]
        return "\n\n".join(filter(None, parts))

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

    def data(self, per_query: bool = False) -> dict[str, Any]:
        """Give it as plain data; undefined values are None."""
        options = self.options
        data: dict[str, Any] = {
            "baseline": None if options.all_pairs else self.baseline,
            "runs": [one.run for one in self.evaluations],
            "primary": self.primary,
            "convention": self.evaluations[0].convention,
            "n": self.pairs[0].n,
            "alpha": options.alpha,
            "seed": options.seed,
            "correction": options.correction,
            "pairs": [pair.data(per_query) for pair in self.pairs],
        }
        if self.slices:
            data["slices"] = [pair.data(per_query) for pair in self.slices]
        if self.remarks:
            data["remarks"] = list(self.remarks)
        if self.agreement:
            data["agreement"] = [one.data() for one in self.agreement]
        doubts = {one.run: [doubt.data() for doubt in one.doubts] for one in self.evaluations}
        signatures = {label: str(one) for label, one in self.signatures.items()}
        return data | {"doubts": doubts, "signatures": signatures}


def _item(line: str) -> str:
    """Make a line an item of a list in Markdown, as deep as it stands."""
    return f"{line[: len(line) - len(line.lstrip())]}- {line.lstrip()}"
