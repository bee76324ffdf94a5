"""`idealist plot`: draw a figure of judgments and runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from idealist.cli import inputs
from idealist.cli import options as shared
from idealist.errors import UsageError, nearest
from idealist.rendering import terminal
from idealist.rendering.document import Document, Doubts, Signatures
from idealist.rendering.figure import Figure, Look

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions
    from idealist.rendering.result import Result

#: What is drawn unless told: one measure, or several where they are compared.
MEASURE, ALL = "nDCG@10", tuple(shared.COMPARED.split(", "))


@dataclass(frozen=True)
class Asked:
    """What is drawn: judgments, runs, the rules of measuring, and the baseline if it was named."""

    kind: str
    qrels: Any
    runs: list[Any]
    rules: dict[str, Any]
    weights: Any = None
    baseline: str | None = None

    @property
    def measure(self) -> str:
        """The measure, where there is one."""
        return str(self.rules["measures"][0])

    @property
    def unmeasured(self) -> dict[str, Any]:
        """Everything but the measures, for what takes them apart."""
        rules = {name: value for name, value in self.rules.items() if name != "measures"}
        return {"qrels": self.qrels, "runs": self.runs, "weights": self.weights, **rules}


def evaluated(asked: Asked) -> Result:
    """Measure the runs."""
    from idealist.evaluating.evaluations import Evaluations
    from idealist.evaluating.evaluator import Evaluator

    evaluator = Evaluator(asked.qrels, weights=asked.weights, **asked.rules)
    found = [evaluator(run) for run in asked.runs]
    met = inputs.with_ids_met(found, evaluator.qrels, asked.runs, **asked.rules)
    return Evaluations(tuple(met))


def compared(asked: Asked) -> Result:
    """Compare the runs with a baseline: the first, unless it was named."""
    from idealist.comparing import compare

    found = compare(
        asked.qrels, asked.runs, baseline=asked.baseline, weights=asked.weights, **asked.rules
    )
    met = inputs.with_ids_met(found.evaluations, asked.qrels, asked.runs, **asked.rules)
    return replace(found, evaluations=tuple(met))


def either(asked: Asked) -> Result:
    """Measure the runs or, where a baseline was named, compare them with it."""
    return evaluated(asked) if asked.baseline is None else compared(asked)


def curves(asked: Asked) -> Result:
    """Measure the runs at many cutoffs, or at levels of recall."""
    from idealist.evaluating.curves import depth_curve, precision_recall_curve

    evaluated(asked)  # which refuses ids that never meet
    if asked.kind == "recall":
        return precision_recall_curve(**asked.unmeasured)
    return depth_curve(measure=asked.measure, **asked.unmeasured)


def audited(asked: Asked) -> Result:
    """Audit judgments and runs."""
    from idealist.auditing import audit

    if asked.weights is not None:
        raise UsageError(f"{asked.kind} does not weigh queries", "leave out --weights")
    return audit(asked.qrels, asked.runs, **asked.rules)


def agreeing(asked: Asked) -> Result:
    """Compare three or more runs by several measures; of fewer, look at the judges."""
    if len(asked.runs) > 2:
        return compared(asked)
    found = audited(asked)
    if found.data()["judges"] is None:
        told = (
            f"agreement between measures needs three runs or more, and there are {len(asked.runs)}"
        )
        hint = "give more runs; agreement between judges needs judgments that name their judges"
        raise UsageError(told, hint)
    return found


def planned(asked: Asked) -> Result:
    """Plan with the runs as a pilot; without them, with typical deviations."""
    from idealist.comparing.sample_sizes import plan_queries

    return plan_queries(asked.measure, **asked.unmeasured)


def of_result(asked: Asked, found: Result, **options: Any) -> Figure:
    """Have a result make its figure."""
    return found.figure(asked.kind, **options)


def of_losses(asked: Asked, _: Result) -> Figure:
    """Draw what each run loses."""
    from idealist.diagnosing.run_losses import losses_of_runs
    from idealist.evaluating.evaluator import Evaluator

    return losses_of_runs(Evaluator(asked.qrels, weights=asked.weights, **asked.rules), asked.runs)


class Kind(NamedTuple):
    """A kind of figure: what it shows, what computes it, and which options it takes.

    It needs at least `fewest` runs and shows at most `most`, by at most so many `measures`.
    """

    shows: str
    made: Callable[[Asked], Result]
    takes: tuple[str, ...] = ()
    fewest: int = 1
    most: float = inf
    measures: float = 1
    drawn: Callable[..., Figure] = of_result


PAIR: dict[str, Any] = {"takes": ("texts", "baseline"), "fewest": 2, "most": 2}
#: Every kind of figure. It may take `texts` of the queries, and options of the verb.
KINDS = {
    "differences": Kind("the difference of each query, from best to worst", compared, **PAIR),
    "scatter": Kind("a run against a baseline, query by query", compared, **PAIR),
    "spread": Kind(
        "how values spread over queries; with -b, differences", either, ("texts", "baseline")
    ),
    "heat": Kind("queries by runs, the hardest query first", evaluated, ("texts", "page")),
    "intervals": Kind("means of runs with their intervals", evaluated),
    "forest": Kind("differences from a baseline with their intervals", compared, ("baseline",), 2),
    "losses": Kind("what each run loses, by what would win it back", evaluated, drawn=of_losses),
    "depth": Kind("a measure at many cutoffs", curves),
    "recall": Kind("interpolated precision at levels of recall", curves, measures=0),
    "coverage": Kind("the share judged at each rank", audited, measures=0),
    "power": Kind("the difference that so many queries show", planned, fewest=0),
    "agreement": Kind("how alike measures order runs, or judges judge", agreeing, measures=inf),
}
_LISTED = "\n".join(f"      {kind:<12} {one.shows}" for kind, one in KINDS.items())
HELP = f"""Draw a figure of RUNS, judged by QRELS, and say what it shows in one sentence.

With -o a file is written as its suffix says: .svg, .pdf or .png holds the picture, .html a page
with it, .csv, .tsv, .json, .md or .tex the numbers. Without -o the numbers are printed.

\b
KIND is one of
{_LISTED}

\b
Examples:
  idealist plot differences qrels.txt bm25.run dense.run -o differences.svg
  idealist plot heat qrels.txt *.run -m AP -o heat.svg
  idealist plot scatter qrels.txt bm25.run dense.run --width 84 --serif -o paper.pdf
  idealist plot spread qrels.txt bm25.run dense.run -b bm25 -f csv
"""


@click.command("plot", help=HELP)
@click.argument("kind")
@click.argument("qrels", required=False)
@click.argument("runs", nargs=-1)
@partial(shared.measuring, usual=MEASURE)
@shared.reading
@click.option("--baseline", "-b", metavar="RUN", help="The run to compare with, if not the first.")
@click.option(
    "--page", type=click.IntRange(1), metavar="N",
    help="For heat of many queries: show this page of them, one by one.",
)  # fmt: skip
@shared.counting
@click.option(
    "--width", type=click.FloatRange(20, 1000), metavar="MM",
    help="Draw for print, exactly so wide: 84 fits a column, 174 a page.",
)  # fmt: skip
@click.option("--serif", is_flag=True, help="Set the words of the picture with serifs.")
@click.option(
    "--theme", type=click.Choice(["auto", "light", "dark", "print"]),
    help="The colours. Without it: as the reader's screen is set, or print with --width.",
)  # fmt: skip
@shared.quietly
@shared.drawn_output
def command(
    kind: str, qrels: str | None, runs: tuple[str, ...], measures: tuple[str, ...],
    settings: tuple[str, ...], convention: str, queries: str | None, weights: str | None,
    reading: ReadOptions, width: float | None, serif: bool, theme: Any, form: str,
    output: Path | None, quiet: bool, **options: Any,
) -> None:  # fmt: skip
    """Draw a figure; `HELP` says more."""
    one = _kind(kind, options, measures)
    inputs.check_inputs([qrels, *runs, queries, weights])
    known = inputs.queries_of(queries)
    judged, named = _sides(kind, qrels, runs, reading, known)
    if qrels is None:
        _refuse_rules()
    rules = {
        "measures": measures or (ALL if one.measures > 1 else (MEASURE,)),
        "convention": convention, "queries": known, **shared.axes_of(settings),
    }  # fmt: skip
    baseline = inputs.baseline_name(options["baseline"], qrels, runs, named)
    asked = Asked(kind, judged, named, rules, inputs.queries_of(weights), baseline)
    found = one.made(asked)
    passed = {"texts": known, "page": options["page"]}
    drawn = one.drawn(asked, found, **{key: passed[key] for key in one.takes if key in passed})
    look = Look(theme or ("print" if width else "auto"), width, serif)
    _write(replace(drawn, look=look), form, output, quiet)
    kept = [note for note in found.report().notes if isinstance(note, (Doubts, Signatures))]
    shared.say([] if quiet else terminal.notes(Document((), tuple(kept))))


def _kind(name: str, options: Mapping[str, Any], measures: Sequence[str]) -> Kind:
    """Find a kind of figure; refuse what means nothing to it."""
    if name not in KINDS:
        raise UsageError(f"there is no figure {name!r}", nearest(name, KINDS))
    one = KINDS[name]
    refused = [option for option, value in options.items() if value and option not in one.takes]
    if refused:
        others = ", ".join(kind for kind, other in KINDS.items() if refused[0] in other.takes)
        raise UsageError(f"{name} does not take --{refused[0]}", f"this does: {others}")
    if len(measures) > one.measures:
        if not one.measures:
            raise UsageError(f"{name} does not take a measure", "leave out -m")
        raise UsageError(f"{name} shows one measure, and {len(measures)} are given", "give one -m")
    return one


def _refuse_rules() -> None:
    """Refuse options that say how a pilot is measured, where there is none."""
    context = click.get_current_context()
    rules = {
        "settings": "--set",
        **{one: f"--{one}" for one in ("convention", "queries", "weights")},
    }
    for name, option in rules.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"{option} is for a pilot", "give judgments and runs of one")


def _sides(
    kind: str, qrels: str | None, paths: Sequence[str], reading: ReadOptions, known: Any
) -> tuple[Any, list[Any]]:
    """Read judgments and runs, as many as the kind asks for."""
    fewest, most = KINDS[kind].fewest, KINDS[kind].most
    usage = f"write idealist plot {kind} QRELS {'BASELINE RUN' if fewest > 1 else 'RUN'}"
    if qrels is None and not fewest:
        return None, []
    if qrels is None:
        raise UsageError(f"{kind} needs judgments and a run", usage)
    judged, runs = inputs.sides_of(qrels, paths, reading, known)
    if len(runs) < fewest:
        raise UsageError(f"{kind} needs two runs", usage)
    if len(runs) > most:
        raise UsageError(f"{kind} shows two runs, and {len(runs)} are given", usage)
    return judged, runs


def _write(figure: Figure, form: str, output: Path | None, quiet: bool) -> None:
    """Write a figure to a file as its suffix says, or its numbers to standard output."""
    source = click.get_current_context().get_parameter_source("form")
    if output is None or source is ParameterSource.COMMANDLINE:
        shared.emit(figure, form, output, quiet, details=True)
    else:
        figure.save(output)
        shared.say([] if quiet else [figure.says])
