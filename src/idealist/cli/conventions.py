"""`idealist conventions`: list the conventions, explain one, or compare two."""

from __future__ import annotations

import json
from pathlib import Path

import click

from idealist.cli.options import output, write
from idealist.errors import UsageError


@click.command("conventions")
@click.argument("names", nargs=-1, metavar="[NAME [OTHER]]")
@click.option(
    "--all", "everything", is_flag=True, help="Show every axis, not only those that differ."
)
@output
def command(names: tuple[str, ...], everything: bool, form: str, output: Path | None) -> None:
    """List the conventions; or show in what NAME differs from the default, or from OTHER.

    Evidence says how we know: the tool runs in our tests (live), values it printed are checked
    (recorded), or its source or paper was read (derived).

    \b
    Examples:
      idealist conventions
      idealist conventions sklearn
      idealist conventions sklearn ranx
      idealist conventions trec_eval --all
    """
    from idealist.conventions import DEFAULT
    from idealist.conventions.describe import compared, listed
    from idealist.report.draw import FORMATS

    if len(names) > 2:
        raise UsageError("more than two conventions", "name one, or two to compare them")
    grid = (
        compared(names[0], (*names, DEFAULT)[1], everything) if names else listed(form == "table")
    )
    if form == "json":
        records = [dict(zip(grid.headers, row, strict=True)) for row in grid.rows]
        write(json.dumps(records, indent=1, ensure_ascii=False), output)
    else:
        write(FORMATS[form](grid) if grid.rows else "no axis differs", output)
