"""`idealist diagnose`: where a run loses its points, and what to do about it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs
from idealist.cli import options as shared

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions


@click.command("diagnose")
@click.argument("qrels")
@click.argument("run", required=False)
@partial(shared.measuring, usual=shared.COMPARED)
@shared.reading
@click.option("--first-stage", metavar="RUN", help="The run whose documents RUN put in order.")
@click.option("--baseline", metavar="RUN", help="A run to compare with, such as the one before.")
@click.option(
    "--context", metavar="K", type=click.IntRange(1),
    help="For RAG: look at the first K passages as a language model reads them.",
)  # fmt: skip
@click.option(
    "--queries", metavar="FILE",
    help="Count only the queries of this file, and use their texts: id<TAB>text, CSV or JSON. "
    + shared.NAMING,
)  # fmt: skip
@click.option(
    "--slice", "column", metavar="COLUMN",
    help="Also look at slices of the queries, by a column of --queries.",
)  # fmt: skip
@click.option(
    "--details", is_flag=True, help="Name rules with their evidence, and show losses by cause."
)
@shared.quietly
@shared.output
def command(
    qrels: str, run: str | None, measures: tuple[str, ...], convention: str,
    settings: tuple[str, ...],
    first_stage: str | None, baseline: str | None, context: int | None, queries: str | None,
    column: str | None, reading: ReadOptions, **view: Any,
) -> None:  # fmt: skip
    """Say where RUN loses its points against the judgments in QRELS, and what to do.

    It begins with what to do, ranked by the points it could win, and the queries behind each line.
    Tables follow: what each measure loses, and what a perfect reranker or first stage would reach.
    The data is audited first: an error in it comes before any other advice.

    \b
    Examples:
      idealist diagnose qrels.txt bm25.run
      idealist diagnose qrels.txt reranked.run --first-stage bm25.run -m nDCG@10
      idealist diagnose qrels.txt new.run --baseline old.run --queries queries.tsv
      idealist diagnose qrels.txt dense.run --baseline bm25.run --queries q.csv --slice type
      idealist diagnose qrels.json retriever.json --context 5 -f json
    """
    from idealist.diagnosing import DIAGNOSED, diagnose

    paths = {"run": run, "first_stage": first_stage, "baseline": baseline}
    given = {name: path for name, path in paths.items() if path}
    inputs.check_inputs([qrels, *given.values(), queries])
    known, axes = inputs.queries_of(queries), shared.axes_of(settings)
    named = inputs.runs_of(list(given.values()), reading, known, one_each=True)
    runs = dict(zip(given, named, strict=True))
    if run is None:
        judged, runs["run"] = inputs.one_run(qrels, None, reading)
    else:
        judged = inputs.judgments_beside(qrels, reading)
    found = diagnose(
        judged, measures=measures or DIAGNOSED, context=context, queries=known,
        texts=known,
        slices=shared.slices_of(known, column), convention=convention, **runs, **axes,
    )  # fmt: skip
    shared.emit(found, **view)
