"""`idealist clicks`: grades from clicks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist import files
from idealist.cli import inputs, options
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.clicks.click_model import ClickModel

#: Whose grades these are in a store, whatever the model: the next ones replace them.
JUDGE = "users"


def _numbers(_: click.Context, parameter: click.Parameter, words: str | None) -> Any:
    """Read numbers between commas."""
    try:
        return None if words is None else [float(word) for word in words.split(",")]
    except ValueError:
        hint = f"write numbers between commas: {parameter.opts[0]} 0.1,0.2,0.4"
        raise UsageError(f"{parameter.opts[0]} {words!r} cannot be read", hint) from None


@click.command("clicks")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option(
    "--model", type=click.Choice(["ctr", "coec", "pbm", "sdbn", "dbn"]), default="pbm",
    show_default=True, help="How clicks come about; --compare says which model fits best.",
)  # fmt: skip
@click.option(
    "--compare",
    is_flag=True,
    help="Learn each model on four sessions of five, and try it on the rest.",
)
@click.option(
    "--prior", metavar="CLICKS,SKIPS", callback=_numbers,
    help="What to add to each document; 0,0 adds nothing. Without it: fitted to all of them.",
)  # fmt: skip
@click.option(
    "--least",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="How many impressions a document needs to be graded.",
)
@click.option(
    "--scale", type=click.IntRange(1, 100), default=3, show_default=True, help="The highest grade."
)
@click.option(
    "--cuts", metavar="A,B,…", callback=_numbers,
    help="The estimates from which on the grade is 1, 2, and so on. Without it: half of the "
    "documents get at least 1, one in twenty the highest grade, and fewer where they tie.",
)  # fmt: skip
@click.option(
    "--queries", metavar="FILE",
    help="The ids of the queries, by their texts: CSV, JSON, or id<TAB>text lines. Other queries "
    "are left out.",
)  # fmt: skip
@click.option(
    "--columns", multiple=True, metavar="OURS=THEIRS",
    help="Name the columns, if they have unusual names: session=visit,clicked=opened. Without a "
    "header, name them all in order: session,query,document,position,clicked; - skips one.",
)  # fmt: skip
@click.option(
    "--write", type=options.Target(), metavar="FILE", help="Write the grades as judgments."
)
@click.option(
    "--into", type=options.Target(), metavar="STORE",
    help="Add the grades to a store of judgments, as those of clicks; they replace earlier ones.",
)  # fmt: skip
@click.option(
    "--figure",
    type=options.Target(),
    metavar="FILE",
    help="Draw how far users look: .svg, .png, .pdf.",
)
@options.detailed
@options.quietly
@options.output
def command(
    logs: tuple[str, ...], compare: bool, columns: tuple[str, ...], write: Path | None,
    into: Path | None, figure: Path | None, model: str, quiet: bool, **given: Any,
) -> None:  # fmt: skip
    """Make grades of the clicks in LOG.

    LOG has a row for each document that was shown to a user: session, query, document, position,
    and whether it was clicked; CSV, TSV, JSON lines or Parquet. Or it is what OpenSearch's UBI
    collected: ubi_queries and ubi_events as JSON lines, two files. Several files are one log.

    \b
    Examples:
      idealist clicks clicks.parquet --compare
      idealist clicks clicks.csv --model sdbn --write grades.csv
      idealist clicks ubi_queries.jsonl ubi_events.jsonl --queries queries.csv --into labels.db
      idealist clicks clicks.csv --cuts 0.05,0.1,0.3 -o grades.html
    """
    from idealist.clicks.click_log import read_clicks
    from idealist.clicks.click_model import click_model
    from idealist.clicks.model_comparison import compare_click_models
    from idealist.judging.store import Store

    shown = {name: given.pop(name) for name in ("form", "output", "details")}
    targets = [one for one in (write, into, figure) if one is not None]
    inputs.check_inputs([*logs, given["queries"]])
    for target in targets:
        files.check_folder(target)
    if compare and targets:
        raise UsageError(
            "--compare makes no grades", "choose a --model for them, without --compare"
        )
    names, layouts = options.columns_of(columns)
    if len(layouts) > 1:
        raise UsageError("--columns lists all columns twice", "list them once")
    if into is not None:
        with Store(into):  # which may not be one; better known before the log is read
            pass
    with options.working(f"reading {', '.join(logs)} …"):
        log = read_clicks(list(logs), columns=names, layout=next(iter(layouts), None))
    if compare:
        queries = given["queries"]
        log = log if queries is None else log.named(queries)
        options.emit(compare_click_models(log), quiet=quiet, **shown)
        return
    with options.working("estimating …"):
        found = click_model(log, model, **given)
    options.emit(found, quiet=quiet, **shown)
    _keep(found, write, into, figure, quiet)


def _keep(
    found: ClickModel, write: Path | None, into: Path | None, figure: Path | None, quiet: bool
) -> None:
    """Write the grades and the figure where they are wanted."""
    from idealist.formats.writing import write_qrels
    from idealist.judging.judgment_imports import import_judgments
    from idealist.judging.store import Store

    said = []
    if write is not None:
        grades = replace(found.grades, scale=None)  # which no file of judgments holds
        lost = write_qrels(grades, write)
        said += [
            f"wrote {len(found.grades):,} grades to {write}",
            *(f"doubt: {one}" for one in lost),
        ]
    if into is not None:
        with Store(into) as store:
            added = import_judgments(store, found.grades, judge=JUDGE, kind="clicks")
        said.append(added.summary)
    if figure is not None:
        found.figure("examination").save(figure)
        said.append(f"wrote {figure}")
    options.say([] if quiet else said)
