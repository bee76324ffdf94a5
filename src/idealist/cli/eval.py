"""`idealist eval`: measure runs against judgments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from idealist.cli import inputs, options
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.data import Run
    from idealist.evaluating.evaluation import Evaluation
    from idealist.evaluating.evaluator import Evaluator
    from idealist.formats.reading import ReadOptions

T = TypeVar("T")


@click.command("eval")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@options.measuring
@options.reading
@click.option("--per-query", is_flag=True, help="Also give the value of every query.")
@click.option(
    "--bounds", "bounded", is_flag=True,
    help="Also say how far each value could move if unjudged documents were judged.",
)  # fmt: skip
@options.reach
@options.beside
@options.counting
@click.option(
    "--save", type=options.Target(), metavar="FILE",
    help="Also save the evaluation of one run, for `idealist compare --saved`.",
)  # fmt: skip
@options.quietly
@options.output
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], convention: str,
    settings: tuple[str, ...], per_query: bool, bounded: bool, reach: str,
    beside: tuple[str, ...], queries: str | None, weights: str | None, save: Path | None,
    reading: ReadOptions, **shown: Any,
) -> None:  # fmt: skip
    """Measure RUNS against the judgments in QRELS.

    Files are TREC text, CSV, TSV, JSON, JSONL, Parquet or Arrow, also compressed (.gz, .xz, .zst).
    A run may be search responses, also a folder of them, one a query. Any other folder stands for
    the runs in it, and so does a pattern in quotes. A file that holds both sides, such as a RAG
    log, needs no other file. - is standard input. The result goes to standard output; doubts and
    signatures go to standard error, or into the JSON. If no id of a run matches the judgments,
    nothing is measured: the exit code is 2, and the command that repairs the ids is printed.

    \b
    Examples:
      idealist eval qrels.txt bm25.run dense.run -m nDCG@10 -m AP
      idealist eval qrels.txt bm25.run.gz -m 'nDCG(gain=exp2)@10' --per-query -f json
      idealist eval qrels.txt bm25.run --convention sklearn --set missing=zero
      idealist eval qrels.txt bm25.run dense.run --weights traffic.csv
      idealist eval qrels.txt bm25.run -m nDCG@10 --bounds
      idealist eval qrels.txt old.jsonl new.jsonl --with latency
      idealist eval qrels.txt 'runs/*.run.gz' -m nDCG@10 -f tsv -o values.tsv
      idealist eval qrels.txt bm25.run --save bm25.json
      idealist eval log.jsonl --columns ranking=chunks,gold=expected_ids
      idealist eval gold.jsonl chunks.jsonl -m AllHit --set 'depth=tokens(4096)'
    """
    from idealist.evaluating.evaluations import Evaluations
    from idealist.evaluating.evaluator import DEFAULT_MEASURES, Evaluator

    inputs.check_inputs([qrels, *runs, queries, weights])
    known = inputs.queries_of(queries)
    judged, named = inputs.sides_of(qrels, runs, reading, known)
    if save is not None and len(named) > 1:
        raise UsageError("--save takes the evaluation of one run", "evaluate them one by one")
    rules = {
        "measures": measures or DEFAULT_MEASURES, "convention": convention, "queries": known,
        **options.axes_of(settings),
    }  # fmt: skip
    evaluator = Evaluator(judged, weights=inputs.queries_of(weights), **rules)
    if bounded:
        found, bounds = _bounded(evaluator, named, reach)
    else:
        found, bounds = [*progress(evaluator.each(named), len(named))], {}
    found = inputs.with_ids_met(found, evaluator.qrels, named, **rules)
    if save is not None:
        found[0].save(save)
    times = inputs.latencies_of(beside, named)
    options.emit(Evaluations(tuple(found), per_query, bounds, times), **shown)


def _bounded(
    evaluator: Evaluator, runs: Sequence[Run], reach: str
) -> tuple[Sequence[Evaluation], dict[str, Any]]:
    """Evaluate runs and bound their values; each is ranked once for both."""
    from idealist.bounding import bounds_of_all

    found, bounds = [], {}
    for run in progress(runs, len(runs)):
        ranked = evaluator.ranked(run)
        found.append(evaluator(ranked))
        bounds[run.name] = bounds_of_all(evaluator, ranked, reach)
    return found, bounds


def progress(runs: Iterable[T], count: int) -> Iterable[T]:
    """Show how far many runs are, on a terminal only."""
    if count < 2 or not options.is_watched():
        return runs
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(runs, "Evaluating", total=count, console=console, transient=True)
