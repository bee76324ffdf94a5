"""`idealist measures`: list and search the measures, or explain one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from idealist.cli.options import output, write
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.conventions.describe import Description


@click.command("measures")
@click.argument("name", required=False)
@click.option("--search", "word", metavar="WORD", help="List those that mention a word.")
@click.option("--tool", metavar="TOOL", help="List what another tool calls them.")
@output
def command(
    name: str | None, word: str | None, tool: str | None, form: str, output: Path | None
) -> None:
    """List the measures, or explain the measure NAME, in any tool's spelling.

    \b
    Examples:
      idealist measures
      idealist measures nDCG
      idealist measures ndcg_cut -f json
      idealist measures --search recall
      idealist measures --tool ranx
    """
    from idealist.conventions.describe import describe, describe_all, names_of, search
    from idealist.report.draw import FORMATS

    if sum(given is not None for given in (name, word, tool)) > 1:
        raise UsageError("a name, --search and --tool are three questions", "ask one of them")
    if tool is not None:
        grid = names_of(tool)
        named = {theirs: ours for theirs, ours in grid.rows}  # noqa: C416  # for mypy
        drawn = _json(named) if form == "json" else FORMATS[form](grid)
    elif name is not None:
        one = describe(name)
        drawn = _json(one.data()) if form == "json" else _explained(one, form)
    else:
        drawn = _listed(describe_all() if word is None else search(word), form)
    write(drawn, output)


def _listed(found: Sequence[Description], form: str) -> str:
    from idealist.conventions.describe import listing, overview
    from idealist.report.draw import FORMATS

    if form == "json":
        return _json([one.data() for one in found])
    return listing(found) if form == "table" else FORMATS[form](overview(found))


def _explained(one: Description, form: str) -> str:
    from idealist.conventions.describe import explained, overview
    from idealist.report.draw import FORMATS

    return explained(one) if form == "table" else FORMATS[form](overview([one]))


def _json(data: object) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False)
