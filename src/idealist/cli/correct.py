"""`idealist correct`: numbers from few judgments of people and many of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs, options

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions


@click.command("correct")
@click.argument("human")
@click.argument("model")
@click.argument("runs", nargs=-1, required=True)
@lambda command: options.measuring(command, options.COMPARED)
@options.reading
@click.option(
    "--baseline", "-b", metavar="RUN",
    help="Also correct the difference of each run from this one: its file, or its name.",
)  # fmt: skip
@click.option(
    "--confidence", type=float, default=0.95, show_default=True,
    help="How often an interval is to hold the true mean.",
)  # fmt: skip
@options.counting
@options.quietly
@options.output
def command(
    human: str, model: str, runs: tuple[str, ...], measures: tuple[str, ...], convention: str,
    settings: tuple[str, ...], baseline: str | None, confidence: float, queries: str | None,
    weights: str | None, reading: ReadOptions, **shown: Any,
) -> None:  # fmt: skip
    """Correct the numbers of RUNS: HUMAN holds judgments of people, MODEL those of a model.

    A model judges everything, with errors that may favour some runs; people judge a part. This
    joins both: the model's number, moved by what it got wrong where people judged as well, with an
    interval (PPI++). People must have judged at least 20 of the model's queries, drawn at random.
    Beside each number stand that of people alone and that of the model alone.

    \b
    Examples:
      idealist correct people.qrels model.qrels bm25.run dense.run -m nDCG@10 --baseline bm25.run
      idealist correct labels.db#human labels.db#model dense.run -m nDCG@10 -f json
    """
    from idealist.formats import read_qrels
    from idealist.judging.correcting import CORRECTED, corrected

    inputs.check_inputs([human, model, *runs, queries, weights])
    known = inputs.queries_of(queries)
    people = read_qrels(reading.of(human))
    named = inputs.runs_of(runs, reading, known)
    rules = {
        "measures": measures or CORRECTED, "convention": convention, "queries": known,
        **options.axes_beside(settings, ("confidence", "baseline"), "correct"),
    }  # fmt: skip
    found = corrected(
        people, reading.of(model), named, weights=inputs.queries_of(weights),
        baseline=inputs.baseline_name(baseline, None, runs, named), confidence=confidence, **rules,
    )  # fmt: skip
    inputs.with_ids_met(found.people, people, named, **rules)
    options.emit(found, **shown)
