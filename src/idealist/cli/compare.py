"""`idealist compare`: say whether a run is really better than another."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from idealist.cli import inputs
from idealist.cli import options as shared
from idealist.cli.paper_options import paper_options, paper_style
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.comparing.pair import Pair
    from idealist.comparing.reproduction import Reproduction
    from idealist.data import Run
    from idealist.formats.reading import ReadOptions

TESTS = ("wilcoxon", "sign", "bootstrap")
#: What goes with --reproduce.
REPRODUCING = {
    "qrels", "runs", "measures", "convention", "settings", "queries", "baselines", "reproducing",
    "columns", "decimal", "scale", "merge", "judgments", "per_query", "details", "quiet", "form",
    "output",
}  # fmt: skip


@click.command("compare")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@partial(shared.measuring, usual=shared.COMPARED)
@shared.reading
@click.option("--baseline", "-b", metavar="RUN", help="The run to compare with, if not the first.")
@click.option("--all-pairs", is_flag=True, help="Compare every run with every other.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Two-sided.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of random sign flips.")
@click.option(
    "--test", "tests", multiple=True, type=click.Choice(TESTS),
    help="Also do this test; the reasons not to rely on it are printed. Repeatable.",
)  # fmt: skip
@click.option(
    "--rope", type=float, metavar="X",
    help="The difference too small to matter. Without it: 0.01, for measures on [0, 1].",
)  # fmt: skip
@click.option("--margin", type=float, metavar="X", help="Also test equivalence within this.")
@click.option("--slice", "column", metavar="COLUMN", help="Also compare by a column of --queries.")
@shared.counting
@click.option("--saved", is_flag=True, help="All arguments are files that eval --save wrote.")
@click.option(
    "--fragility", is_flag=True,
    help="Find the fewest labels that would reverse it, and how often it survives random ones.",
)  # fmt: skip
@click.option(
    "--agreement", metavar="KAPPA|FILE",
    help="How far judges agree, for --fragility: a kappa, or a CSV or JSON of grades by grades. "
    "Without it: 0.5.",
)  # fmt: skip
@click.option("--multiverse", is_flag=True, help="Also compare under every convention.")
@click.option(
    "--reproduce", "reproducing", is_flag=True,
    help="The second run should be the first: say how far it is.",
)  # fmt: skip
@click.option(
    "--baselines", nargs=2, metavar="ORIGINAL REPRODUCED",
    help="With --reproduce: the baselines of both, whose effects are compared too.",
)  # fmt: skip
@click.option(
    "--worst", type=click.IntRange(1), metavar="N",
    help="List the N queries that lost most in the first measure.",
)  # fmt: skip
@click.option(
    "--best", type=click.IntRange(1), metavar="N",
    help="List the N queries that gained most in the first measure.",
)  # fmt: skip
@shared.beside
@click.option("--details", is_flag=True, help="Show all that is known of every pair.")
@click.option(
    "--per-query", is_flag=True, help="Also show every query; TSV and CSV show only these."
)
@click.option(
    "--sort", type=click.Choice(["difference", "query", "value"]),
    help="With --per-query: order the queries by difference or by value, the worst first.",
)  # fmt: skip
@paper_options
@shared.quietly
@shared.output
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], convention: str,
    settings: tuple[str, ...], column: str | None, queries: str | None, weights: str | None,
    saved: bool, per_query: bool, worst: int | None, best: int | None, sort: str | None,
    beside: tuple[str, ...], reproducing: bool, baselines: tuple[str, ...] | None,
    reading: ReadOptions, **options: Any,
) -> None:  # fmt: skip
    """Compare RUNS, judged by QRELS, with a baseline: the first run, unless -b names another.

    The verdict is a sentence. Tables follow with differences, intervals, the t-test and the
    randomisation test, and effect sizes, then the queries behind the difference. The first measure
    decides; the others are corrected together, and marked only where the first is significant.
    Several runs are corrected by MaxT, all pairs by Tukey's test. Tests are two-sided; `idealist
    gate` asks whether a run is worse.

    \b
    Examples:
      idealist compare qrels.txt bm25.run dense.run -m nDCG@10 -m AP
      idealist compare qrels.txt bm25.run a.run b.run --all-pairs -o table.tex --caption 'Results.'
      idealist compare qrels.txt bm25.run dense.run --slice type --queries queries.csv
      idealist compare qrels.txt bm25.run dense.run -m nDCG@10 --worst 10 --best 10
      idealist compare qrels.txt bm25.run dense.run --margin 0.02 --fragility --multiverse
      idealist compare --saved bm25.json dense.json
      idealist compare qrels.txt original.run reproduced.run --reproduce
    """
    inputs.check_inputs([qrels, *runs, *(baselines or ()), queries, weights])
    if sort and not per_query:
        raise UsageError("--sort orders the queries of --per-query", "add --per-query")
    shown = {name: options.pop(name) for name in ("form", "output", "quiet", "details")}
    known = inputs.queries_of(queries)
    if reproducing:
        same = _reproduction(
            reading, qrels, [*runs, *(baselines or ())], measures, queries=known,
            convention=convention,
            **shared.axes_of(settings),
        )  # fmt: skip
        shared.emit(replace(same, per_query=per_query), **shown)
        return
    if baselines:
        raise UsageError("--baselines is for --reproduce", "add --reproduce, or name one by -b")
    shows_queries = bool(per_query or worst or best)
    paper = paper_style(options, shown["form"], shows_queries, [qrels, *runs, queries, weights])
    options["slices"] = shared.slices_of(known, column)
    if saved and beside:
        raise UsageError("--with needs runs", "give qrels and runs instead")
    commands: dict[tuple[str, str], str] = {}
    if saved:
        from idealist.comparing import compare_evaluations

        if settings or weights or convention != "trec_eval" or (queries and not column):
            hint = "say that when they are measured: idealist eval … --save FILE"
            raise UsageError("saved evaluations have their rules, queries and weights", hint)
        if [name for name in ("fragility", "agreement", "multiverse") if options.pop(name)]:
            hint = "give qrels and runs instead"
            raise UsageError(
                "--fragility, --agreement and --multiverse need judgments and runs", hint
            )
        found = compare_evaluations([qrels, *runs], measures or None, **options)
    else:
        from idealist.comparing import COMPARED, compare

        judged, known_runs = inputs.sides_of(qrels, runs, reading, known)
        if len(known_runs) < 2:
            hint = "write idealist compare QRELS BASELINE RUN"
            raise UsageError("a comparison needs two runs", hint)
        options["baseline"] = inputs.baseline_name(options["baseline"], qrels, runs, known_runs)
        rules = {
            "measures": measures or COMPARED, "convention": convention, "queries": known,
            **shared.axes_beside(settings, options, "compare"),
        }  # fmt: skip
        found = compare(judged, known_runs, weights=inputs.queries_of(weights), **options, **rules)
        evaluations = inputs.with_ids_met(found.evaluations, judged, known_runs, **rules)
        times = inputs.latencies_of(beside, known_runs)
        found = replace(found, evaluations=tuple(evaluations), latencies=times)
        asked = _asked(convention, settings, queries, reading)
        commands = _explaining(found[found.primary], qrels, runs, known_runs, asked)
    from idealist.comparing.changed_queries import QueryView

    texts = {} if known is None else known.text
    view = QueryView(worst or 0, best or 0, sort or "query", texts, commands)
    shared.emit(replace(found, per_query=per_query, view=view, paper=paper), **shown)


def _asked(
    convention: str, settings: Sequence[str], queries: str | None, reading: ReadOptions
) -> list[str]:
    """Repeat the options that explaining a query needs too."""
    words = [] if convention == "trec_eval" else ["--convention", convention]
    words += [word for setting in settings for word in ("--set", setting)]
    return words + (["--queries", queries] if queries else []) + reading.words()


def _explaining(
    pairs: Sequence[Pair], qrels: str, paths: Sequence[str], runs: Sequence[Run],
    asked: Sequence[str],
) -> dict[tuple[str, str], str]:  # fmt: skip
    """Write for each pair the command that explains a query, less the query."""
    if "-" in (qrels, *paths):
        return {}
    judged = [] if len(runs) > len(paths) else [qrels]  # runs that hold the judgments too
    files = {run.name: run.source.name for run in runs}
    commands = {}
    for pair in pairs:
        named = [*judged, files[pair.baseline], files[pair.run]]
        words = [f"./{path}" if path.startswith("-") else path for path in named]
        command = shlex.join(["idealist", "explain", *words, "-m", pair.measure, *asked])
        commands[pair.baseline, pair.run] = command
    return commands


def _reproduction(
    reading: ReadOptions, qrels: str, runs: Sequence[str], measures: Sequence[str], **options: Any
) -> Reproduction:
    """Compare a run with the one that it should be."""
    from idealist.comparing import COMPARED
    from idealist.comparing.reproduction import reproduce

    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name not in REPRODUCING:
            hint = "leave it out: nothing is tested but whether the runs are the same"
            raise UsageError(f"{option.opts[0]} does not go with --reproduce", hint)
    if len(context.params["runs"]) != 2:
        hint = "write idealist compare QRELS ORIGINAL REPRODUCED --reproduce"
        raise UsageError("--reproduce needs two runs", hint)
    original, reproduced, *baselines = inputs.runs_of(
        runs, reading, options["queries"], one_each=True
    )
    return reproduce(
        reading.of(qrels),
        original,
        reproduced,
        measures or COMPARED,
        baselines=baselines,
        **options,
    )
