"""`idealist judge init` and `judge add`: what judges need, put into a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from idealist.cli import inputs, options
from idealist.errors import UsageError

#: What can be put into a store, by init and by add alike.
contents = options.together(
    click.option(
        "--all", "every", is_flag=True,
        help="Add the texts of all documents, however many. Without it, those of a collection of "
        "more than 50,000 are added when they are pooled or judged: run judge add then.",
    ),
    options.documents,
    click.option(
        "--queries", metavar="FILE",
        help="The queries and their texts: CSV or JSON with the fields query_id and text, or "
        "id<TAB>text lines.",
    ),
    click.option(
        "--guidelines", metavar="FILE", help="A text file that says how to judge; shown to judges.",
    ),
    click.option(
        "--merge", metavar="RULE",
        help="How the grades of several judges become one: median, mean, majority, max, min or "
        "latest. Without it: median.",
    ),
    click.option(
        "--scale", metavar="GRADES",
        help="The grades that there are: 0..3, or with their labels: '0=off topic,1=answers it'. "
        "Without it, any number is a grade.",
    ),
)  # fmt: skip
store_argument = click.argument("store", type=click.Path(path_type=Path))


@click.command("init")
@store_argument
@contents
@options.output
def init(store: Path, form: str, output: Path | None, **given: Any) -> None:
    """Make a new STORE: one file that keeps judgments, and what judges need to see.

    \b
    Examples:
      idealist judge init labels.db --scale 0..3 --queries queries.tsv --docs corpus.jsonl
      idealist judge init labels.db --scale '0=off topic,1=related,2=answers it' --guidelines how.md
    """
    from idealist.judging.store_contents import create

    inputs.check_inputs([given["queries"], given["docs"], given["guidelines"]])
    options.emit(create(store, **given), form, output)


@click.command("add")
@store_argument
@contents
@options.output
def add(store: Path, form: str, output: Path | None, **given: Any) -> None:
    """Add queries or texts of documents to STORE, or change its scale, guidelines or merge rule.

    Nothing is lost: a text that changed is added beside the old one, and a judgment says which of
    them was seen.

    \b
    Examples:
      idealist judge add labels.db --queries more-queries.tsv
      idealist judge add labels.db --docs corpus.jsonl
      idealist judge add labels.db --guidelines how-to-judge.md
    """
    from idealist.judging.store_contents import extend

    if not any(given.values()):
        raise UsageError(
            "nothing to add", "give --queries, --docs, --scale, --guidelines or --merge"
        )
    inputs.check_inputs([given["queries"], given["docs"], given["guidelines"]])
    options.emit(extend(store, **given), form, output)
