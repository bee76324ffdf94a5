"""`idealist interleave`: lists of two runs to show, and what clicks on them say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs, options
from idealist.cli.lazy_group import LazyGroup
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions

HERE = "idealist.cli.interleave"
#: The verbs of interleaving: where they live and what the overview says of them.
VERBS: dict[str, tuple[str, str]] = {
    "draw": (HERE, "Make lists of two runs, to be shown to visitors."),
    "analyse": (HERE, "Say which run visitors prefer, from their clicks."),
}

command = LazyGroup(
    name="interleave",
    verbs=VERBS,
    help="""Compare two runs by the clicks of visitors on lists made of both.

    \b
    Example:
      idealist interleave draw bm25.run dense.run -o lists.jsonl
      idealist interleave analyse lists.jsonl clicks.csv
    """,
)


@click.command("draw")
@click.argument("a")
@click.argument("b")
@click.option(
    "--method", default="team-draft", show_default=True,
    type=click.Choice(["team-draft", "balanced", "optimised"]),
    help="team-draft: captains of both runs pick in turn. balanced: documents of both in turn. "
    "optimised: lists with probabilities under which clicks at random favour neither.",
)  # fmt: skip
@click.option(
    "--depth", "-k", type=int, default=10, show_default=True, metavar="K",
    help="Show the first K documents.",
)  # fmt: skip
@click.option(
    "--lists", type=int, metavar="N",
    help="Draw N lists for each query, each as probable. Without it: all there are, with their "
    "probabilities.",
)  # fmt: skip
@click.option("--seed", default="0", show_default=True, help="Another one draws other lists.")
@options.setting
@options.reading
@click.option(
    "--output", "-o", type=options.Target(), metavar="FILE",
    help="Write to this file instead of standard output.",
)  # fmt: skip
@options.quietly
@options.sparing
def draw(
    a: str, b: str, settings: tuple[str, ...], reading: ReadOptions, output: Path | None,
    quiet: bool, **asked: Any,
) -> None:  # fmt: skip
    """Make lists of the runs A and B for each query, to be shown to visitors.

    Each line is a list, as JSON: its query and number, the probability with which a visitor gets
    it, its documents, and what a click on each is worth (below 0 for A, above 0 for B). Log the
    number of the list with each search, and analyse the clicks.

    \b
    Examples:
      idealist interleave draw bm25.run dense.run -o lists.jsonl
      idealist interleave draw bm25.run dense.run --method optimised -k 10 -o lists.jsonl
      idealist interleave draw bm25.run dense.run -k 50 --lists 20 --seed 7 -o lists.jsonl
    """
    from idealist.interleaving.interleaved import interleave

    inputs.check_inputs([a, b])
    if "depth" in (rules := options.axes_of(settings)):
        raise UsageError("--set depth is said by --depth here", f"write -k {rules['depth']}")
    first, second = inputs.runs_of([a, b], reading, one_each=True)
    made = interleave(first, second, **asked, **rules)
    made.write(output or "-")
    doubts = (f"doubt: {one.message}" for one in made.doubts)
    options.say([] if quiet else [made.summary, *doubts])


@click.command("analyse")
@click.argument("lists")
@click.argument("clicks")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Two-sided.")
@click.option(
    "--columns",
    multiple=True,
    metavar="OURS=THEIRS",
    help="Name columns of CLICKS that have unusual names: session=sid,document=product_id.",
)
@options.detailed
@options.quietly
@options.output
def analyse(
    lists: str, clicks: str, alpha: float, columns: tuple[str, ...], form: str,
    output: Path | None, quiet: bool, details: bool,
) -> None:  # fmt: skip
    """Say which run visitors prefer, from CLICKS on LISTS that `interleave draw` wrote.

    CLICKS has a row for each click, or for each document shown with a column clicked: session,
    query, list (its number), document or position, and user if you know it. CSV, TSV, JSON, JSONL
    or Parquet. A row without a document is a session that saw the list and clicked on nothing.

    \b
    Examples:
      idealist interleave analyse lists.jsonl clicks.csv
      idealist interleave analyse lists.jsonl clicks.parquet --columns user=customer --details
    """
    from idealist.interleaving.click_analysis import compare_by_clicks

    inputs.check_inputs([lists, clicks])
    names, layouts = options.columns_of(columns)
    if layouts:
        raise UsageError("a log of clicks needs a header", "name columns as session=sid,user=uid")
    found = compare_by_clicks(lists, clicks, alpha=alpha, columns=names)
    options.emit(found, form, output, quiet, details)
