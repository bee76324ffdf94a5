"""`idealist explain`: why a number is what it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from idealist.cli.options import axes_of, check_inputs, measuring, output, reach, run_names, write
from idealist.errors import UsageError


@click.command("explain")
@click.argument("qrels")
@click.argument("run")
@measuring
@click.option("--query", metavar="ID", help="Explain this query, rank by rank.")
@click.option("--worst", metavar="N", type=click.IntRange(1), help="Name the N that lose most.")
@click.option("--full", is_flag=True, help="With --worst: explain each of them in full.")
@click.option(
    "--between", nargs=2, metavar="A B",
    help="Explain why two conventions give different values, axis by axis.",
)  # fmt: skip
@click.option(
    "--bounds", is_flag=True,
    help="Say how far unjudged documents could move the value, and which to judge first.",
)  # fmt: skip
@reach
@click.option(
    "--depth", metavar="N", type=click.IntRange(1),
    help="Show so many ranks, or documents to judge; by default down to the cutoff, or 10.",
)  # fmt: skip
@click.option("--queries", metavar="FILE", help="The queries' texts: id<TAB>text, CSV or JSON.")
@click.option("--docs", metavar="FILE", help="The documents' texts: id<TAB>text, or JSON lines.")
@output
def command(
    qrels: str,
    run: str,
    measures: tuple[str, ...],
    convention: str,
    settings: tuple[str, ...],
    query: str | None,
    worst: int | None,
    full: bool,
    between: tuple[str, str] | None,
    bounds: bool,
    reach: str,
    depth: int | None,
    queries: str | None,
    docs: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Explain why RUN has its value against the judgments in QRELS.

    With --query: what every document adds, beside the ideal list, and what the value is lost to.
    With --worst: the queries that lose most, and to what. With --between: what the rules of two
    conventions do to the value. With --bounds: how far the value could move if unjudged documents
    were judged, and which of them matter most.

    \b
    Examples:
      idealist explain qrels.txt bm25.run -m nDCG@10 --query 1037798 --queries queries.tsv
      idealist explain qrels.txt bm25.run -m AP --query 1037798 --depth 30 --docs corpus.jsonl
      idealist explain qrels.txt bm25.run -m nDCG@10 --worst 10
      idealist explain qrels.txt bm25.run -m nDCG@10 --between trec_eval sklearn
      idealist explain qrels.txt bm25.run -m nDCG@10 --bounds --depth 20
    """
    from idealist.formats import read_run

    check_inputs([qrels, run, *filter(None, (queries, docs))])
    _check_asked(query, worst, between, bounds)
    if len(measures) > 1:
        raise UsageError("more than one measure", "explain one at a time: give one -m")
    measure = measures[0] if measures else "nDCG@10"
    axes, named = axes_of(settings), read_run(run, name=run_names([run])[0])
    if between is not None:
        from idealist.reconciling.attribution import attribute

        found: Any = attribute(qrels, named, measure, *between, **axes)
    elif bounds:
        from idealist.bounding import Judging
        from idealist.bounding import bounds as bounds_of

        rules: dict[str, Any] = axes
        limits = bounds_of(qrels, named, measure, reach=reach, convention=convention, **rules)
        found = Judging(limits, depth or 10)
    else:
        from idealist.explaining.explainer import Explainer

        explainer = Explainer(
            qrels, named, measure, convention=convention, queries=queries, docs=docs, **axes
        )
        found = explainer(query, depth) if worst is None else explainer.worst(worst, full, depth)
    write(_drawn(found, form), output)


def _check_asked(
    query: str | None, worst: int | None, between: tuple[str, str] | None, bounds: bool
) -> None:
    """Refuse a call that asks for nothing, or for several things."""
    asked = [given for given in (query, worst, between, bounds or None) if given is not None]
    if len(asked) != 1:
        words = "nothing to explain" if not asked else "several things to explain"
        raise UsageError(words, "give one of --query ID, --worst N, --between A B, --bounds")


def _drawn(found: Any, form: str) -> str:
    from idealist.report.draw import FORMATS, Grid

    if form == "json":
        return json.dumps(found.data(), indent=1, ensure_ascii=False)
    if form == "md":
        return str(found.markdown())
    if form == "table" and sys.stdout.isatty() and hasattr(found, "draw"):
        from shutil import get_terminal_size  # and with it everything about archives

        return str(found.draw(get_terminal_size().columns))
    if form == "table":
        return str(found)
    if not hasattr(found, "records"):
        raise UsageError(f"this cannot be written as {form}", "use -f table, json or md")
    if form == "latex":
        return FORMATS[form](found.grid())
    rows = [dict(_flat(record)) for record in found.records()]
    headers = list(dict.fromkeys(key for row in rows for key in row))
    return FORMATS[form](Grid(headers, [[row.get(key, "") for key in headers] for row in rows]))


def _flat(record: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Give what a record holds as one row of cells."""
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, "" if value is None else str(value)
