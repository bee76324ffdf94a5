"""The options of `idealist compare -f latex`: how the table for a paper is written."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from idealist import files
from idealist.cli import options as shared
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.comparing.paper_table import PaperStyle

#: The names of the options below.
NAMES = ("caption", "label", "digits", "percent", "best_first")
paper_options = shared.together(
    click.option("--best-first", is_flag=True, help="With -f latex: the best run comes first."),
    click.option("--percent", is_flag=True, help="With -f latex: values on [0, 1] in percent."),
    click.option(
        "--digits", type=click.IntRange(0, 9), metavar="N",
        help="With -f latex: digits behind the point. Without it: 4, or 2 in percent.",
    ),
    click.option("--label", metavar="NAME", help="With -f latex: its label."),
    click.option(
        "--caption", metavar="TEXT",
        help="With -f latex: a table environment with this caption; the marks are explained in it.",
    ),
)  # fmt: skip


def paper_style(
    options: dict[str, Any], form: str, shows_queries: bool, paths: Iterable[str | None]
) -> PaperStyle:
    """Take these options out of others; say how the table is written, and what it was made of."""
    from idealist.comparing.paper_table import PaperStyle

    taken = {name: options.pop(name) for name in NAMES}
    given = {
        name: value for name, value in taken.items() if value is not None and value is not False
    }
    if form != "latex":
        if given:
            name = f"--{next(iter(given)).replace('_', '-')}"
            raise UsageError(f"{name} is for -f latex", "add -f latex, or -o FILE.tex")
        return PaperStyle()
    if shows_queries:
        hint = "leave out --per-query, --worst and --best, or use -f tsv"
        raise UsageError("compare -f latex is one table of runs, and shows no queries", hint)
    prints = filter(None, (files.fingerprint(path) for path in paths if path))
    made = [f"input: {one.path}, {one.size:,} bytes, sha256 {one.sha256}" for one in prints]
    command = shlex.join(["idealist", *(click.get_current_context().obj or ())])
    return PaperStyle(**given, made_by=(f"command: {command}", *made))
