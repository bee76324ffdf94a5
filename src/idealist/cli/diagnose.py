"""`idealist diagnose`: where a run loses its points, and what to do about it."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from idealist.cli.options import (
    axes_of,
    check_inputs,
    measuring,
    output,
    run_names,
    say,
    slices_of,
    write,
)

if TYPE_CHECKING:
    from idealist.diagnosing import Diagnosis


@click.command("diagnose")
@click.argument("qrels")
@click.argument("run")
@partial(measuring, usual="nDCG@10, AP, RR@10, R@100")
@click.option("--first-stage", metavar="RUN", help="The run whose documents RUN put in order.")
@click.option("--baseline", metavar="RUN", help="A run to compare with, such as the one before.")
@click.option(
    "--context", metavar="K", type=click.IntRange(1),
    help="For RAG: look at the first K passages as a language model reads them.",
)  # fmt: skip
@click.option("--queries", metavar="FILE", help="The queries' texts: id<TAB>text, CSV or JSON.")
@click.option(
    "--slice",
    "column",
    metavar="COLUMN",
    help="Also look at parts of the queries, by a column of --queries.",
)
@output
def command(
    qrels: str,
    run: str,
    measures: tuple[str, ...],
    convention: str,
    settings: tuple[str, ...],
    first_stage: str | None,
    baseline: str | None,
    context: int | None,
    queries: str | None,
    column: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Say where RUN loses its points against the judgments in QRELS, and what to do.

    Shown are the losses of each measure by cause, with the queries behind them; what a perfect
    reranker or first stage would reach; and the rules that fire, each with its evidence.

    \b
    Examples:
      idealist diagnose qrels.txt bm25.run
      idealist diagnose qrels.txt reranked.run --first-stage bm25.run -m nDCG@10
      idealist diagnose qrels.txt new.run --baseline old.run --queries queries.tsv
      idealist diagnose qrels.txt dense.run --baseline bm25.run --queries q.csv --slice type
      idealist diagnose qrels.json retriever.json --context 5 -f json
    """
    from idealist.diagnosing import DIAGNOSED, diagnose
    from idealist.formats import read_queries, read_run

    others = {"first_stage": first_stage, "baseline": baseline}
    paths = [run, *filter(None, others.values())]
    check_inputs([qrels, *paths, *filter(None, [queries])])
    names = dict(zip(paths, run_names(paths), strict=True))
    runs = {key: read_run(path, name=names[path]) for key, path in others.items() if path}
    known = None if queries is None else read_queries(queries)
    found = diagnose(
        qrels,
        read_run(run, name=names[run]),
        measures or DIAGNOSED,
        context=context,
        queries=known,
        slices=slices_of(known, column),
        convention=convention,
        **runs,
        **axes_of(settings),
    )
    write(_drawn(found, form), output)
    if form in ("tsv", "csv", "latex"):  # the others hold them
        say(found.notes)


def _drawn(found: Diagnosis, form: str) -> str:
    from idealist.report.draw import FORMATS

    if form == "json":
        return json.dumps(found.data(), indent=1, ensure_ascii=False)
    if form == "md":
        return found.markdown()
    if form != "table":
        return FORMATS[form](found.loss_grid() if form == "latex" else found.long_grid())
    if not sys.stdout.isatty():
        return str(found)
    from shutil import get_terminal_size  # and with it everything about archives

    return found.draw(get_terminal_size().columns)
