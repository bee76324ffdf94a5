"""`idealist power`: how many queries show a difference, before any judging."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs, options
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions


@click.command("power")
@click.argument("qrels", required=False)
@click.argument("runs", nargs=-1)
@click.option("--measure", "-m", default="nDCG@10", show_default=True, help="What is measured.")
@click.option(
    "--convention", "-c", metavar="NAME",
    help="The tool whose rules apply to a pilot. Without it: trec_eval.",
)  # fmt: skip
@options.setting
@click.option(
    "--difference", "differences", type=click.FloatRange(0, min_open=True), multiple=True,
    help="How many queries show this difference? Repeatable.",
)  # fmt: skip
@click.option(
    "--queries", "numbers", type=click.IntRange(2), multiple=True,
    help="Which difference do so many queries show? Repeatable.",
)  # fmt: skip
@click.option(
    "--alpha", type=float, default=0.05, show_default=True,
    help="The chance of finding a difference that is not there.",
)  # fmt: skip
@click.option(
    "--power", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.8,
    show_default=True, help="The chance of finding a difference that is there.",
)  # fmt: skip
@click.option(
    "--best-of", type=click.IntRange(1), default=1, metavar="M",
    help="The run will be chosen as the best of so many, all against one baseline.",
)  # fmt: skip
@options.reading
@options.quietly
@options.output
def command(
    qrels: str | None, runs: tuple[str, ...], measure: str, convention: str | None,
    settings: tuple[str, ...], reading: ReadOptions,
    quiet: bool, form: str, output: Path | None, **asked: Any,
) -> None:  # fmt: skip
    """Compute how many queries show a difference, and which difference a number of queries shows.

    The spread of the differences comes from a pilot: QRELS and runs, ideally two that are as alike
    as those you will compare. Without a pilot, deviations of real TREC runs stand in. Do not use it
    on a finished test: power after the fact says no more than the p-value.

    \b
    Examples:
      idealist power -m AP --difference 0.02
      idealist power -m nDCG@10 --queries 50 --best-of 10
      idealist power pilot.qrels bm25.run dense.run -m nDCG@10 --difference 0.03 --queries 200
    """
    from idealist.comparing.sample_sizes import plan_queries
    from idealist.conventions import DEFAULT

    if qrels is None:
        for option, given in (("--set", settings), ("--convention", convention)):
            if given:
                raise UsageError(f"{option} is for a pilot", "give judgments and runs of one")
    elif not runs and re.fullmatch(r"\d*\.?\d+", qrels):
        option = "--difference" if "." in qrels else "--queries"
        raise UsageError(f"{qrels} is no file of judgments", f"did you mean {option} {qrels}?")
    inputs.check_inputs([qrels, *runs])
    axes = options.axes_beside(settings, asked, "power") | {"convention": convention or DEFAULT}
    judged, named = _pilot(qrels, runs, reading)
    found = plan_queries(measure, judged, named, **asked, **axes)
    options.emit(found, form, output, quiet=quiet)


def _pilot(qrels: str | None, runs: tuple[str, ...], reading: ReadOptions) -> tuple[Any, list[Any]]:
    """Find the judgments and runs of the pilot, if there is one; a bundle holds both."""
    from idealist.formats.bundle_files import is_bundle

    if qrels is None:
        return None, []
    if is_bundle(qrels):
        return inputs.sides_of(qrels, runs, reading)
    return reading.of(qrels), inputs.runs_of(runs, reading)
