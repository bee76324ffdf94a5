"""`idealist explain`: why a number is what it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs, options
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions
    from idealist.rendering.result import Result


@click.command("explain")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@options.measuring
@options.reading
@click.option("--query", metavar="ID", help="Explain this query, rank by rank.")
@click.option(
    "--worst", metavar="N", type=click.IntRange(1),
    help="Show the N queries that lose most; of two runs, those that got worse by most.",
)  # fmt: skip
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
    help="Count only the queries of this file, and show their texts: id<TAB>text, CSV or JSON. "
    "--query may name another. " + options.NAMING,
)  # fmt: skip
@options.documents
@click.option(
    "--details", is_flag=True, help="With --bounds: the bounds of each query; --between: all axes."
)
@options.quietly
@options.output
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], convention: str,
    settings: tuple[str, ...],
    query: str | None, worst: int | None, full: bool, between: tuple[str, str] | None, bounds: bool,
    reach: str, depth: int | None, queries: str | None, docs: str | None, reading: ReadOptions,
    **shown: Any,
) -> None:  # fmt: skip
    """Explain why a run has its value against the judgments in QRELS, or why two runs differ.

    With --query: what each document adds, next to the ideal list, and what the value is lost to;
    of two runs, what each document did to the difference, and both lists. With --worst: the queries
    that lose most, and to what. With --between: which rules make two conventions give different
    values. With --bounds: how far the value could move if unjudged documents were judged, and which
    of them to judge first.

    \b
    Examples:
      idealist explain qrels.txt bm25.run -m nDCG@10 --query 1037798 --queries queries.tsv
      idealist explain qrels.txt bm25.run -m AP --query 1037798 --depth 30 --docs corpus.jsonl
      idealist explain qrels.txt bm25.run -m nDCG@10 --worst 10
      idealist explain qrels.txt old.run new.run -m nDCG@10 --query 1037798 --docs corpus.jsonl
      idealist explain qrels.txt old.run new.run -m nDCG@10 --worst 10
      idealist explain qrels.txt bm25.run -m nDCG@10 --between trec_eval sklearn
      idealist explain qrels.txt bm25.run -m nDCG@10 --bounds --depth 20
    """
    inputs.check_inputs([qrels, *runs, queries, docs])
    asked = [given for given in (query, worst, between, bounds or None) if given is not None]
    if len(asked) > 1:
        hint = "give one of --query ID, --worst N, --between A B, --bounds"
        raise UsageError("several things to explain", hint)
    if len(measures) > 1:
        raise UsageError("more than one measure", "explain one at a time: give one -m")
    measure = measures[0] if measures else "nDCG@10"
    known, axes = inputs.queries_of(queries), options.axes_of(settings)
    judged, named = inputs.sides_of(qrels, runs, reading, known)
    _check_asked(bool(asked), len(named), query is not None or worst is not None)
    if known is not None and query is None:
        judged = judged.only(frozenset(known))
    rules: dict[str, Any] = {"convention": convention, **axes}
    if between is not None:
        from idealist.reconciling.attribution import attribute

        found: Result = attribute(judged, named[0], measure, *between, **axes)
    elif bounds:
        from idealist.bounding import bounds as bounds_of

        found = bounds_of(judged, named[0], measure, reach=reach, **rules).to_judge(depth or 10)
    else:
        explainer = _explainer(judged, named, measure, rules, texts=known, docs=docs)
        found = explainer(query, depth) if worst is None else explainer.worst(worst, full, depth)
    options.emit(found, **shown)


def _check_asked(asked: bool, runs: int, of_queries: bool) -> None:
    """Refuse what cannot be explained of so many runs."""
    if runs > 2:
        hint = "give two; idealist compare takes more, and its --worst N names queries to explain"
        raise UsageError(f"explain takes one run or two, not {runs}", hint)
    if not asked:
        hint = "give one of --query ID, --worst N, --between A B, --bounds"
        if runs == 2:
            hint = "give --query ID, or --worst N for those that got worse by most"
        raise UsageError("nothing to explain", hint)
    if runs == 2 and not of_queries:
        hint = "give one run; of two, --query ID or --worst N explains the difference"
        raise UsageError("--between and --bounds explain one run", hint)


def _explainer(
    judged: Any, runs: Sequence[Any], measure: str, rules: dict[str, Any], **texts: Any
) -> Any:
    """Prepare to explain one run or the difference of two; refuse ids that never meet."""
    from idealist.explaining.difference_explainer import DifferenceExplainer
    from idealist.explaining.explainer import Explainer

    kind: Any = Explainer if len(runs) == 1 else DifferenceExplainer
    explainer = kind(judged, *runs, measure, **texts, **rules)
    if not explainer.meets:
        from idealist.evaluating.evaluator import evaluate

        measured = [evaluate(judged, run, [measure], **rules) for run in runs]
        inputs.with_ids_met(measured, judged, runs, measures=[measure], **rules)
    return explainer
