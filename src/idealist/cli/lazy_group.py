"""Verbs that are imported when they are used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from idealist.errors import UsageError, nearest


class LazyGroup(click.Group):
    """A group that knows its verbs without importing them: the module of each, and its words."""

    def __init__(self, *, verbs: Mapping[str, tuple[str, str]], **given: Any) -> None:
        super().__init__(**given)
        self.verbs = verbs

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what was typed: a verb may propose it again, with other files."""
        ctx.obj = ctx.obj or tuple(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the verbs in the order of the table."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in self.verbs:
            return None
        module = import_module(self.verbs[cmd_name][0])
        names = (cmd_name, f"{cmd_name}_", "command")  # Python has its own import and next
        commands = (vars(module).get(name) for name in names)
        return next(one for one in commands if isinstance(one, click.Command))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest a verb where one is mistyped."""
        if args[0] not in self.verbs:
            raise UsageError(f"there is no command {args[0]!r}", nearest(args[0], self.verbs))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview without importing any verb."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in self.verbs.items()])
