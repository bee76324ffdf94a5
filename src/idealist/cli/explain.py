"""`idealist explain`: why a number is what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from idealist.cli import options
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions


@click.command("explain")
@click.argument("qrels")
@click.argument("run", required=False)
@options.measuring
@options.reading
@click.option("--query", metavar="ID", help="Explain this query, rank by rank.")
@click.option("--worst", metavar="N", type=click.IntRange(1), help="Show the N worst queries.")
@click.option("--full", is_flag=True, help="With --worst: explain each of them in full.")
@click.option(
    "--between", nargs=2, metavar="A B",
    help="Explain why two conventions give different values, axis by axis.",
)  # fmt: skip
@click.option(
    "--bounds", is_flag=True,
    help="Show how far unjudged documents could move the value, and which to judge first.",
)  # fmt: skip
@options.reach
@click.option(
    "--depth", metavar="N", type=click.IntRange(1),
    help="Show this many ranks, or documents to judge. Default: the cutoff, or 10.",
)  # fmt: skip
@click.option(
    "--queries", metavar="FILE",
    help=f"The queries' texts: id<TAB>text, CSV or JSON. {options.NAMING}",
)  # fmt: skip
@options.documents
@click.option(
    "--details", is_flag=True, help="With --bounds: the bounds of each query; --between: all axes."
)
@options.quietly
@options.output
def command(
    qrels: str, run: str | None, measures: tuple[str, ...], convention: str,
    settings: tuple[str, ...],
    query: str | None, worst: int | None, full: bool, between: tuple[str, str] | None, bounds: bool,
    reach: str, depth: int | None, queries: str | None, docs: str | None, reading: ReadOptions,
    **shown: Any,
) -> None:  # fmt: skip
    """Explain why RUN has its value against the judgments in QRELS.

    With --query: what each document adds, next to the ideal list, and what the value is lost to.
    With --worst: the queries that lose most, and to what. With --between: which rules make two
    conventions give different values. With --bounds: how far the value could move if unjudged
    documents were judged, and which of them to judge first.

    \b
    Examples:
      idealist explain qrels.txt bm25.run -m nDCG@10 --query 1037798 --queries queries.tsv
      idealist explain qrels.txt bm25.run -m AP --query 1037798 --depth 30 --docs corpus.jsonl
      idealist explain qrels.txt bm25.run -m nDCG@10 --worst 10
      idealist explain qrels.txt bm25.run -m nDCG@10 --between trec_eval sklearn
      idealist explain qrels.txt bm25.run -m nDCG@10 --bounds --depth 20
    """
    options.check_inputs([qrels, run, queries, docs])
    asked = [given for given in (query, worst, between, bounds or None) if given is not None]
    if len(asked) != 1:
        words = "nothing to explain" if not asked else "several things to explain"
        raise UsageError(words, "give one of --query ID, --worst N, --between A B, --bounds")
    if len(measures) > 1:
        raise UsageError("more than one measure", "explain one at a time: give one -m")
    measure = measures[0] if measures else "nDCG@10"
    known, axes = options.queries_of(queries), options.axes_of(settings)
    judged, named = options.one_run(qrels, run, reading, known)
    rules: dict[str, Any] = {"convention": convention, **axes}
    if between is not None:
        from idealist.reconciling.attribution import attribute

        found: Any = attribute(judged, named, measure, *between, **axes)
    elif bounds:
        from idealist.bounding import bounds as bounds_of

        found = bounds_of(judged, named, measure, reach=reach, **rules).to_judge(depth or 10)
    else:
        from idealist.evaluating.evaluator import evaluate
        from idealist.explaining.explainer import Explainer

        explainer = Explainer(judged, named, measure, texts=known, docs=docs, **rules)
        if not len(explainer.placements.query):
            measured = [evaluate(judged, named, [measure], **rules)]
            options.with_ids_met(measured, judged, [named], measures=[measure], **rules)
        found = explainer(query, depth) if worst is None else explainer.worst(worst, full, depth)
    options.emit(found, **shown)
