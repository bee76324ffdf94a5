"""`idealist ui`: the workbench in a browser; and the accounts of those who share it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from idealist.cli.judge_people import judge_name
from idealist.cli.options import say
from idealist.cli.ui_accounts import add_user, remove_user
from idealist.errors import UsageError


class _OpensByDefault(click.Group):
    """A group that takes what is none of its verbs for files to open."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the verb; what is none is what to open."""
        if args and args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return "open", self.commands["open"], args

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let options of the usual verb come first."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["open", *args]
        return super().parse_args(ctx, args)


@click.group("ui", cls=_OpensByDefault)
def command() -> None:
    """See, compare and judge in the browser: idealist ui FOLDER.

    \b
    Examples:
      idealist ui .
      idealist ui qrels.txt bm25.run dense.run --docs corpus.jsonl
      idealist ui labels.db
      idealist ui . --model smollm2 --model-url http://127.0.0.1:8080/v1
      idealist ui add-user users.toml ann --role judge
      idealist ui . --host 0.0.0.0 --users users.toml --public https://eval.example.org
    """


@command.command("open")
@click.argument("paths", nargs=-1, required=True, metavar="FOLDER | QRELS RUNS… | STORE")
@click.option("--queries", type=click.Path(path_type=Path), help="The texts of the queries.")
@click.option("--docs", type=click.Path(path_type=Path), help="The texts of the documents.")
@click.option("--judge", metavar="NAME", help="Who judges, if not the login name.")
@click.option("--port", type=click.IntRange(0, 65535), default=8517, show_default=True)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen; another one needs --users.",
)
@click.option(
    "--users",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The accounts; see idealist ui add-user.",
)
@click.option(
    "--public",
    multiple=True,
    metavar="URL",
    help="The address by which browsers come, as through a proxy.",
)
@click.option("--model", metavar="NAME", help="A model that editors may let judge.")
@click.option("--model-url", metavar="URL", help="The address of the model, up to /v1.")
@click.option("--key-env", metavar="VARIABLE", help="The variable that holds the model's key.")
@click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="TOML with the price of a million tokens, as idealist judge llm takes it.",
)
@click.option("--browser/--no-browser", "opens", default=None, help="Whether to open a browser.")
def open_(
    paths: tuple[str, ...], queries: Path | None, docs: Path | None, judge: str | None, port: int,
    host: str, users: Path | None, public: tuple[str, ...], model: str | None,
    model_url: str | None, key_env: str | None, prices: Path | None, opens: bool | None,
) -> None:  # fmt: skip
    """Open a folder, judgments and runs, or a store, in the browser."""
    try:
        from idealist.web.server import Place, serve
    except ImportError as error:
        hint = "pip install 'idealist[ui]'"
        raise UsageError(
            f"the workbench needs a package that is not installed: {error.name}", hint
        ) from None
    from idealist.web.accounts import Accounts
    from idealist.web.found_files import Folder, Given
    from idealist.web.model_work import ModelWork
    from idealist.web.workspace import Workspace

    first = Path(paths[0])
    if first.is_dir() and len(paths) == 1:
        source: Folder | Given = Folder(first.resolve())
    else:
        source = Given(first, [*map(Path, paths[1:])], {"queries": queries, "documents": docs})
    asks = opens if opens is not None else bool(os.environ.get("DISPLAY") or os.name != "posix")
    place, models = Place(host, port, public), ModelWork.of(model, model_url, key_env, prices)
    accounts = Accounts(users) if users else None
    workspace = Workspace(source, judge="" if accounts else judge_name(judge))
    serve(workspace, place, accounts=accounts, models=models, opens=asks, say=say)


command.add_command(add_user)
command.add_command(remove_user)
