"""A comparison: pairs of runs by one or more measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from idealist.comparing import comparison_report, paper_table
from idealist.comparing.changed_queries import QueryView, changed_data, changed_table
from idealist.comparing.compare_options import Options
from idealist.comparing.comparison_doubts import doubts_of_comparison
from idealist.comparing.order_agreement import OrderAgreement
from idealist.comparing.pair import Pair
from idealist.comparing.paper_table import PaperStyle
from idealist.conventions.signature import Signature
from idealist.errors import UsageError, nearest
from idealist.evaluating.evaluation import Evaluation, label_of
from idealist.evaluating.latencies import Latencies
from idealist.rendering.document import Document, Table
from idealist.rendering.doubt import Doubt
from idealist.rendering.result import Figures, Result

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Runs compared: ``print(comparison)`` is the verdict, the tables and what is doubtful.

    `pairs` holds a pair for each measure and pair of runs, the primary measure's first; `slices`
    the same for parts of the queries; `agreement` says how far measures order the systems alike.
    `signatures` name the instrument with the statistics, seed included; `remarks` say what was not
    looked at. With `per_query` the values of every query are shown too; `view` says in which order,
    and how many that lost or gained most are listed. `given` are the runs in the order in which
    they were given, `paper` is how the table for a paper is written, and `latencies` says how long
    queries took.
    """

    evaluations: tuple[Evaluation, ...]
    pairs: tuple[Pair, ...]
    baseline: str
    options: Options
    signatures: Mapping[Any, Signature]
    slices: tuple[Pair, ...] = ()
    agreement: tuple[OrderAgreement, ...] = ()
    remarks: tuple[str, ...] = ()
    per_query: bool = False
    view: QueryView = field(default_factory=QueryView)
    given: tuple[str, ...] = ()
    paper: PaperStyle = field(default_factory=PaperStyle)
    latencies: Latencies | None = None

    @property
    def measures(self) -> list[str]:
        """The measures, as they were typed."""
        return list(self.signatures)

    @property
    def primary(self) -> str:
        """The measure that decides: the first."""
        return self.measures[0]

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What is doubtful about pairs, slices and runs."""
        return doubts_of_comparison(self)

    def __getitem__(self, measure: Any) -> tuple[Pair, ...]:
        label = label_of(measure, self.measures)
        return tuple(pair for pair in self.pairs if pair.measure == label)

    def pair(self, run: str, baseline: str | None = None, measure: Any = None) -> Pair:
        """Return one pair: a run against the baseline, by the primary measure."""
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

    @property
    def summary(self) -> str:
        """The verdict of two runs, or where many stand by the primary measure."""
        return " ".join(comparison_report.answers(self))

    def report(self) -> Document:
        """Describe the verdict, the tables, and what is behind it."""
        return comparison_report.report(self)

    def render(self, form: str, *, details: bool = False, columns: int | None = None) -> str:
        """Write the result in one of the forms; as LaTeX it is one table, for a paper."""
        if form == "latex":
            return paper_table.render(self, self.paper)
        return super().render(form, details=details, columns=columns)

    def latex(self, **style: Any) -> str:
        """Write the table for a paper, by the arguments of `PaperStyle`.

        They are `caption`, `label`, `digits`, `percent` and `best_first`.
        """
        return paper_table.render(self, PaperStyle(**style))

    @property
    def figures(self) -> Figures:
        """The figures that can be made of it, by kind."""
        from idealist.comparing import comparison_figures  # which looks at comparisons

        return comparison_figures.figures_of(self)

    def table(self) -> Table:
        """Return a row for each pair with all numbers or, where these are shown, for each query."""
        if self.per_query:
            return comparison_report.queries_table(self)
        if self.view.lists:
            return changed_table(self)
        return comparison_report.rows_table(self)

    def data(self) -> dict[str, Any]:
        """Return the contract of ``compare -f json``; undefined values are None."""
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
            "pairs": [pair.data(self.per_query, self.view.sort) for pair in self.pairs],
        }
        if self.slices:
            data["slices"] = [pair.data(self.per_query, self.view.sort) for pair in self.slices]
        data |= changed_data(self)
        if self.remarks:
            data["remarks"] = list(self.remarks)
        if self.latencies is not None:
            data["latency"] = self.latencies.data(self.baseline)
        if self.agreement:
            data["agreement"] = [one.data() for one in self.agreement]
        doubts = {one.run: [doubt.data() for doubt in one.doubts] for one in self.evaluations}
        signatures = {label: str(one) for label, one in self.signatures.items()}
        return data | {"doubts": doubts, "signatures": signatures}
