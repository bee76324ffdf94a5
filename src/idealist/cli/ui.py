"""`idealist ui`: the workbench in a browser; and the accounts of those who share it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli.judge_people import judge_name
from idealist.cli.options import reading as reading_files
from idealist.cli.options import say, together
from idealist.cli.ui_accounts import add_user, remove_user
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions
    from idealist.web.found_files import Folder, Given


class OpeningGroup(click.Group):
    """A group that takes what is none of its verbs for files to open, and shows how in its help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the usual verb in front of files and options."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["open", *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show what is typed mostly."""
        formatter.write_usage(ctx.command_path, "FOLDER | QRELS RUNS… | STORE [OPTIONS]")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the options of opening, and the other verbs."""
        self.commands["open"].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


#: What is opened, and who judges.
opening = together(
    click.option("--judge", metavar="NAME", help="Who judges, if not the login name."),
    click.option("--docs", type=click.Path(path_type=Path), help="The texts of the documents."),
    click.option("--queries", type=click.Path(path_type=Path), help="The texts of the queries."),
)
#: Where it is served, and to whom.
serving = together(
    click.option("--browser/--no-browser", "opens", default=None, help="Open a browser, or not."),
    click.option(
        "--public", multiple=True, metavar="URL",
        help="The address by which browsers come, as through a proxy. Repeatable.",
    ),
    click.option(
        "--users", type=click.Path(path_type=Path), metavar="FILE",
        help="The accounts of a team; idealist ui add-user makes them.",
    ),
    click.option(
        "--host", default="127.0.0.1", show_default=True,
        help="Where to listen; anywhere else needs --users.",
    ),
    click.option("--port", type=click.IntRange(0, 65535), default=8517, show_default=True),
)  # fmt: skip
#: The model that may judge.
modelling = together(
    click.option(
        "--prices", type=click.Path(path_type=Path), metavar="FILE",
        help="TOML with the price of a million tokens, as idealist judge llm takes it.",
    ),
    click.option("--key-env", metavar="VARIABLE", help="The variable that holds the model's key."),
    click.option("--model-url", metavar="URL", help="The address of the model, up to /v1."),
    click.option("--model", metavar="NAME", help="A model that editors may let judge."),
)  # fmt: skip


@click.group("ui", cls=OpeningGroup)
def command() -> None:
    """See, compare and judge in the browser.

    Each file of a folder is recognised by its content. The server listens on this machine
    only, and prints an address that lets one browser in.

    \b
    Examples:
      idealist ui .
      idealist ui qrels.txt bm25.run dense.run --docs corpus.jsonl
      idealist ui ratings/ --columns query=Suchanfrage,document=Artikel,grade=Note
      idealist ui labels.db
      idealist ui . --model smollm2 --model-url http://127.0.0.1:8080/v1
      idealist ui add-user users.toml ann --role judge
      idealist ui . --host 0.0.0.0 --users users.toml --public https://eval.example.org
    """


@command.command("open")
@click.argument("paths", nargs=-1, required=True, metavar="FOLDER | QRELS RUNS… | STORE")
@reading_files
@opening
@serving
@modelling
def open_(
    paths: tuple[str, ...], queries: Path | None, docs: Path | None, judge: str | None, port: int,
    host: str, users: Path | None, public: tuple[str, ...], opens: bool | None,
    reading: ReadOptions, **asked: Any,
) -> None:  # fmt: skip
    """Open a folder, judgments and runs, or a store; the word open can be left out.

    \b
    Example:
      idealist ui open results/
    """
    try:
        from idealist.web import server
    except ImportError as error:
        message = f"the workbench needs a package that is not installed: {error.name}"
        raise UsageError(message, "pip install 'idealist[ui]'") from None
    from idealist.web.accounts import Accounts
    from idealist.web.model_work import ModelWork
    from idealist.web.workspace import Workspace

    source = _source([*map(Path, paths)], queries, docs, reading)
    accounts = Accounts(users) if users else None
    models = ModelWork.of(asked["model"], asked["model_url"], asked["key_env"], asked["prices"])
    workspace = Workspace(source, judge="" if accounts else judge_name(judge))
    server.serve(
        workspace, server.Place(host, port, public), accounts=accounts, models=models,
        opens=_has_screen() if opens is None else opens, say=say,
    )  # fmt: skip


def _source(
    paths: list[Path], queries: Path | None, docs: Path | None, reading: ReadOptions
) -> Folder | Given:
    """Take what is named for a folder, or for judgments and runs."""
    from idealist.web.found_files import Folder, Given

    if not paths[0].is_dir() or len(paths) > 1:
        return Given(paths[0], paths[1:], {"queries": queries, "documents": docs}, reading)
    if queries or docs:
        hint = "leave them out; the page Files says what each file is taken for"
        raise UsageError("the texts in a folder are found by themselves", hint)
    return Folder(paths[0].resolve(), reading)


def _has_screen() -> bool:
    """Whether a browser could be opened here."""
    shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or bool(shown)


command.add_command(add_user)
command.add_command(remove_user)
