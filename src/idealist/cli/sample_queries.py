"""`idealist sample-queries`: draw queries from a log, with weights that estimate traffic."""

from __future__ import annotations

from typing import Any

import click

from idealist.cli import options
from idealist.errors import UsageError


@click.command("sample-queries")
@click.argument("log")
@click.option("-n", "n", type=int, required=True, metavar="N", help="How many queries to draw.")
@click.option(
    "--by", type=click.Choice(["traffic", "strata"]), default="traffic", show_default=True,
    help="In proportion to how often they were asked; or as many from head, torso and tail, each "
    "about a third of the traffic.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Another one, other queries.")
@click.option(
    "--columns", multiple=True, metavar="OURS=THEIRS",
    help="Name the columns, if they have unusual names: query=term,count=n. Without a header, name "
    "them all in order: query,count; - skips one.",
)  # fmt: skip
@click.option(
    "--fold", is_flag=True, help="Count queries as one that differ only in case or blanks."
)
@options.quietly
@options.output
def command(
    log: str, n: int, by: str, seed: int, columns: tuple[str, ...], fold: bool, **shown: Any
) -> None:
    """Draw N queries from LOG to be judged, each with the traffic that it stands for.

    LOG has a row for each search, or for each query with its count: CSV, TSV, JSON, JSONL, Parquet,
    or text with a search on each line. With the weights of the sample, a mean over its queries
    estimates the mean over all searches. The same seed draws the same queries anywhere.

    \b
    Examples:
      idealist sample-queries log.csv -n 200 -o queries.csv
      idealist sample-queries log.jsonl -n 200 --by strata --columns query=term,count=searches
      idealist eval qrels.txt bm25.run --weights queries.csv
    """
    from idealist.judging.choosing.query_samples import sample_queries

    names, layouts = options.columns_of(columns)
    if len(layouts) > 1:
        raise UsageError("--columns lists all columns twice", "list them once")
    layout = next(iter(layouts), None)
    with options.working(f"counting the searches of {log} …"):
        found = sample_queries(log, n, by=by, seed=seed, columns=names, layout=layout, fold=fold)
    options.emit(found, **shown)
