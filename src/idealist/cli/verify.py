"""`idealist verify`: check the numbers of a printed table against runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs, options
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions

EXIT_FAILS = 1
TESTS = ("compare", "randomisation", "t", "wilcoxon", "sign", "bootstrap")


@click.command("verify")
@click.argument(
    "files", nargs=-1, required=True, metavar="[TABLE] QRELS RUN... | [TABLE] BUNDLE..."
)
@click.option(
    "--claim", "claims", multiple=True, metavar="'RUN MEASURE NUMBER'",
    help="A number to check, instead of TABLE: 'bm25 nDCG@10 0.4312'. Repeatable.",
)  # fmt: skip
@click.option(
    "--run", "names", multiple=True, metavar="'NAME=RUN'",
    help="What the table calls a run, where that is not its name; 'NAME=' is no run. Repeatable.",
)  # fmt: skip
@click.option(
    "--measure", "-m", "measures", multiple=True, metavar="'NAME=MEASURE'",
    help="What the table calls a measure: 'RBP=RBP(p=0.5)'. Repeatable.",
)  # fmt: skip
@click.option(
    "--only",
    default="",
    metavar="TITLE",
    help="Only check what stands under this title or caption.",
)
@click.option(
    "--baseline", "-b", default="", metavar="RUN",
    help="The run that marks such as † compare with, where the caption does not say it.",
)  # fmt: skip
@click.option(
    "--alpha", type=float, metavar="X",
    help="The level of the marks. Without it: as the caption says, or 0.05.",
)  # fmt: skip
@click.option(
    "--test", type=click.Choice(TESTS),
    help="How marks were tested: as idealist compare does, or by one test, not corrected. Without "
    "it: as the caption says, or compare.",
)  # fmt: skip
@options.setting
@click.option(
    "--convention", "-c", default="trec_eval", show_default=True, metavar="NAME",
    help="The tool whose rules apply; `idealist conventions` lists them.",
)  # fmt: skip
@options.reading
@options.counting
@click.option("--details", is_flag=True, help="Also show everything that holds.")
@options.quietly
@options.output
def command(
    files: tuple[str, ...], claims: tuple[str, ...], names: Sequence[str], measures: Sequence[str],
    convention: str, settings: tuple[str, ...], queries: str | None, weights: str | None,
    only: str, baseline: str, alpha: float | None, test: Any, reading: ReadOptions, **view: Any,
) -> None:  # fmt: skip
    """Check the numbers of TABLE against QRELS and RUNS, or against bundles of both.

    TABLE is LaTeX, Markdown, CSV, TSV or JSON; its rows are runs and its columns measures, or the
    other way round. Each number must be printed by the rules of --convention at the digits it has.
    Where one is not, other conventions, cutoffs, measures and runs are tried, then every
    combination of rules. What is bold must be the best of its column, and what is marked by †,
    another sign or a letter must be significant. The exit code is 1 if something does not hold.

    \b
    Examples:
      idealist verify table.tex qrels.txt bm25.run dense.run
      idealist verify table.md qrels.txt runs/*.run --run 'Our model=rr-v7' -o report.html
      idealist verify paper.tex results.ilb --only 'TREC DL 2019' --baseline bm25
      idealist verify qrels.txt bm25.run --claim 'bm25 nDCG@10 0.4312' --claim 'bm25 MAP 0.2134'
    """
    from idealist.verifying import verify
    from idealist.verifying.table_names import is_measure, pairs_of

    inputs.check_inputs([*files, queries, weights])
    table: Any = list(claims)
    _check_files(files, bool(claims), reading)
    if not claims:
        table, *files = files  # type: ignore[assignment]
    known = inputs.queries_of(queries)
    paths = options.gathered_runs(files[1:], quiet=view["quiet"])
    judged, runs = inputs.sides_of(files[0], paths, reading, known)
    own = [run.name for run in runs]
    rules = {"convention": convention, "queries": known, **options.axes_of(settings)}
    with options.ticking("Looking where numbers are from") as tick:
        found = verify(
            table, judged, runs,
            names=pairs_of(names, "run", ["", *own].__contains__),
            measures=pairs_of(measures, "measure", is_measure),
            only=only, baseline=baseline, alpha=alpha, test=test,
            weights=inputs.queries_of(weights), tick=tick, **rules,
        )  # fmt: skip
    measured = found.evaluations.measures
    inputs.with_ids_met(found.evaluations.runs, judged, runs, measures=measured, **rules)
    options.emit(found, **view)
    if not found:
        sys.exit(EXIT_FAILS)


def _check_files(files: Sequence[str], has_claims: bool, reading: ReadOptions) -> None:
    """Refuse a table beside claims, and one without anything to check it against."""
    from idealist.formats.bundle_files import is_bundle
    from idealist.formats.pair_files import holds_both
    from idealist.verifying.table_texts import holds_table

    if has_claims:
        if files[0] != "-" and holds_table(files[0]):
            raise UsageError(f"{files[0]} is a table, beside --claim", "give TABLE or --claim")
        return
    one = files[1] if len(files) == 2 else ""
    alone = one and one != "-" and not is_bundle(one) and not holds_both(reading.of(one))
    if len(files) < 2 or alone:
        hint = "write idealist verify TABLE QRELS RUN…, or TABLE BUNDLE…; without TABLE, --claim"
        raise UsageError("there is nothing to check the table against", hint)
