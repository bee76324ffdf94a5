"""The options of verbs that ask a model: how to reach it, how it is asked, and how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist import files
from idealist.cli import options
from idealist.cli.main import EXIT_INTERRUPTED
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.judging.llm.model_judging import Tick
    from idealist.judging.llm.runner import Tally
    from idealist.rendering.result import Result

#: Documents were asked about in vain.
EXIT_FAILED = 1

#: How to reach a model, and within which limits; help shows the last one first.
reaching = options.together(
    click.option(
        "--prices", type=click.Path(path_type=Path), metavar="FILE",
        help="TOML with the price of a million tokens: [NAME] input = 0.15, output = 0.6.",
    ),
    click.option(
        "--max-cost", type=float, metavar="X", help="Spend no more money; needs --prices."
    ),
    click.option("--max-tokens", type=int, metavar="N", help="Use no more tokens, both ways."),
    click.option("--max-requests", type=int, metavar="N", help="Send no more requests."),
    click.option(
        "--attempts", type=click.IntRange(1), metavar="N", default=6, show_default=True,
        help="How often a request is sent if the server is busy or broken.",
    ),
    click.option(
        "--timeout", type=float, metavar="SECONDS", default=120, show_default=True,
        help="How long to wait for an answer.",
    ),
    click.option(
        "--concurrency", type=click.IntRange(1), metavar="N", default=8, show_default=True,
        help="How many requests are under way at once.",
    ),
    click.option(
        "--key-env", metavar="VARIABLE",
        help="The environment variable that holds the key. Without it: IDEALIST_API_KEY, or "
        "OPENAI_API_KEY if the model is at OpenAI. The key is never stored or shown.",
    ),
    click.option(
        "--model", required=True, metavar="NAME", help="The model, as the server calls it."
    ),
    click.option("--url", metavar="URL", help="The address of the model, up to /v1."),
)  # fmt: skip

#: How a model is asked.
asking = options.together(
    click.option(
        "--judge", default="", metavar="NAME",
        help="The name of the judge. Without it: MODEL/PROMPT@VERSION.",
    ),
    click.option(
        "--answer-tokens", type=click.IntRange(1), metavar="N", default=512, show_default=True,
        help="The longest answer. Models that think before they answer need more.",
    ),
    click.option(
        "--logprobs/--no-logprobs", default=True,
        help="Whether to ask for log-probabilities, which tell expected grades and confidence.",
    ),
    click.option(
        "--seed", type=int, metavar="N", default=0, show_default=True,
        help="The seed of the first sample, and of all that is drawn.",
    ),
    click.option(
        "--temperature", type=float, metavar="T", help="Without it: 0, or 1 for several samples."
    ),
    click.option(
        "--samples", type=click.IntRange(1), metavar="N", default=1, show_default=True,
        help="How often to ask about a document; the majority counts.",
    ),
)  # fmt: skip

dry_run = click.option(
    "--dry-run",
    is_flag=True,
    help="Show three prompts and what it would cost; send nothing.",
)
skip_missing = click.option(
    "--skip-missing", is_flag=True, help="Leave out documents and queries without text."
)


#: Options that matter only once something is sent, and those of what is shown.
_SENDING = ("key_env", "concurrency", "timeout", "attempts")
_VIEW = ("form", "output", "details")


def ask(
    asking: Callable[..., Any], estimate: Callable[..., Result] | None = None, *, store: Path,
    url: str | None, model: str, dry_run: bool = False, **given: Any,
) -> None:  # fmt: skip
    """Ask a model and show what came of it, or only what it would cost.

    The exit code is that of somebody's Ctrl-C, or of questions that were asked in vain.
    """
    view = {name: given.pop(name) for name in _VIEW}
    if dry_run and estimate is not None:
        known = {name: value for name, value in given.items() if name not in _SENDING}
        options.emit(estimate(store, model, **known), **view)
        return
    if url is None:
        raise UsageError("there is no address to ask", "give --url URL, or --dry-run")
    if view["output"] is not None:  # before anything is paid for
        files.check_folder(view["output"])
    with _progress() as tick:
        found = asking(store, url, model, tick=tick, **given)
    options.emit(found, **view)
    if found.interrupted or found.lost:
        sys.exit(EXIT_INTERRUPTED if found.interrupted else EXIT_FAILED)


@contextmanager
def _progress() -> Iterator[Tick | None]:
    """Show on a terminal how far it is: rate, cost, failures."""
    if not options.is_watched():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("asking", total=None)

        def tick(done: int, total: int, tally: Tally) -> None:
            bar.update(task, completed=done, total=total, description=_words(tally))

        yield tick


def _words(tally: Tally) -> str:
    """Say how fast it goes, what it costs, and what fails."""
    from idealist.judging.llm.model_results import money

    said = [f"{tally.rate:.1f} answers/s"]
    if tally.budget.price:
        said.append(money(tally.budget.cost, tally.budget.price))
    if tally.failed:
        said.append(f"{tally.failed:,} failed")
    if tally.stopped:
        said.append("stopping")
    return ", ".join(said)
