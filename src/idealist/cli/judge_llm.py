"""`idealist judge llm`: have a model judge documents."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import options
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.judging.llm.model_judging import Tick
    from idealist.judging.llm.runner import Tally

#: Documents were asked about in vain.
EXIT_FAILED = 1
#: The shells' code for a program stopped by Ctrl-C.
EXIT_INTERRUPTED = 130


@click.command("llm")
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--url", metavar="URL", help="The address of the model, up to /v1.")
@click.option("--model", required=True, metavar="NAME", help="The model, as the server calls it.")
@click.option(
    "--prompt", default="graded", show_default=True, metavar="NAME|FILE",
    help="What the model is asked: graded, binary, graded-examples, binary-examples, or a file.",
)  # fmt: skip
@click.option(
    "--what", default="pooled", show_default=True, metavar="pooled|judged|FILE",
    help="What to judge: pooled documents; what people judged, to hold the model to account; or "
    "what a file of judgments or a run lists.",
)  # fmt: skip
@click.option(
    "--samples", type=click.IntRange(1), metavar="N", default=1, show_default=True,
    help="How often to ask about a document; the majority counts.",
)  # fmt: skip
@click.option(
    "--temperature", type=float, metavar="T", help="Without it: 0, or 1 for several samples."
)
@click.option(
    "--seed",
    type=int,
    metavar="N",
    default=0,
    show_default=True,
    help="The seed of the first sample.",
)
@click.option(
    "--logprobs/--no-logprobs", default=True,
    help="Whether to ask for log-probabilities, which tell expected grades and confidence.",
)  # fmt: skip
@click.option(
    "--answer-tokens", type=click.IntRange(1), metavar="N", default=512, show_default=True,
    help="The longest answer. Models that think before they answer need more.",
)  # fmt: skip
@click.option(
    "--judge",
    default="",
    metavar="NAME",
    help="The name of the judge. Without it: MODEL/PROMPT@VERSION.",
)
@click.option(
    "--key-env", metavar="VARIABLE",
    help="The environment variable that holds the key. Without it: IDEALIST_API_KEY, or "
    "OPENAI_API_KEY if the model is at OpenAI. The key is never stored or shown.",
)  # fmt: skip
@click.option(
    "--concurrency", type=click.IntRange(1), metavar="N", default=8, show_default=True,
    help="How many requests are under way at once.",
)  # fmt: skip
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    default=120,
    show_default=True,
    help="How long to wait for an answer.",
)
@click.option(
    "--attempts", type=click.IntRange(1), metavar="N", default=6, show_default=True,
    help="How often a request is sent if the server is busy or broken.",
)  # fmt: skip
@click.option("--max-requests", type=int, metavar="N", help="Send no more requests.")
@click.option("--max-tokens", type=int, metavar="N", help="Use no more tokens, both ways.")
@click.option("--max-cost", type=float, metavar="X", help="Spend no more money; needs --prices.")
@click.option(
    "--prices", type=click.Path(path_type=Path), metavar="FILE",
    help="TOML with the price of a million tokens: [NAME] input = 0.15, output = 0.6.",
)  # fmt: skip
@click.option("--skip-missing", is_flag=True, help="Leave out documents and queries without text.")
@click.option(
    "--dry-run", is_flag=True,
    help="Show three prompts and what it would cost; send nothing.",
)  # fmt: skip
@options.detailed
@options.output
def llm(
    store: Path, url: str | None, model: str, dry_run: bool, key_env: str | None, concurrency: int,
    timeout: float, attempts: int, form: str, output: Path | None, details: bool, **asking: Any,
) -> None:  # fmt: skip
    """Have a model judge the documents of STORE, at any OpenAI-compatible address.

    Queries and documents are sent to that address. Every answer is kept as it comes; stop at any
    time, and the same command goes on where it stood. An answer that cannot be read is no judgment.
    The exit code is 1 if documents were asked about in vain; the same command asks again.

    \b
    Examples:
      idealist judge llm labels.db --model gpt-4o-mini --dry-run
      idealist judge llm labels.db --url http://127.0.0.1:8080/v1 --model smollm2
      idealist judge llm labels.db --url https://api.openai.com/v1 --model gpt-4o-mini \\
        --prices prices.toml --max-cost 5
      idealist judge llm labels.db --url $URL --model $MODEL --what judged --samples 5
    """
    from idealist.judging.llm.model_judging import estimate_model_judging, judge_by_model

    if dry_run:
        options.emit(estimate_model_judging(store, model, **asking), form, output, details=details)
        return
    if url is None:
        raise UsageError("there is no address to ask", "give --url URL, or --dry-run")
    with _progress() as tick:
        found = judge_by_model(
            store, url, model, key_env=key_env, concurrency=concurrency, timeout=timeout,
            attempts=attempts, tick=tick, **asking,
        )  # fmt: skip
    options.emit(found, form, output, details=details)
    if found.interrupted:
        sys.exit(EXIT_INTERRUPTED)
    if found.lost:
        sys.exit(EXIT_FAILED)


@contextmanager
def _progress() -> Iterator[Tick | None]:
    """Show on a terminal how far it is: rate, cost, failures."""
    if not sys.stderr.isatty():
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
        said.append("stopping; Ctrl-C again leaves at once")
    return ", ".join(said)
