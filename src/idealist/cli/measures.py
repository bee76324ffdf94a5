"""`idealist measures`: list the measures, or explain one."""

from __future__ import annotations

import json
from pathlib import Path

import click

from idealist.cli.options import emit, output


@click.command("measures")
@click.argument("name", required=False)
@output
def command(name: str | None, form: str, output: Path | None) -> None:
    """List the measures, or explain the measure NAME.

    \b
    Examples:
      idealist measures
      idealist measures nDCG
      idealist measures ndcg_cut -f json
    """
    from idealist.describe import describe, describe_all, explained, overview
    from idealist.draw import FORMATS

    if name is None:
        described = describe_all()
        drawn = (
            json.dumps([one.to_json() for one in described], indent=1, ensure_ascii=False)
            if form == "json"
            else FORMATS[form](overview())
        )
    else:
        one = describe(name)
        drawn = (
            json.dumps(one.to_json(), indent=1, ensure_ascii=False)
            if form == "json"
            else explained(one)
        )
    emit(drawn, output)
