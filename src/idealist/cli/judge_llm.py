"""`idealist judge llm`: have a model judge documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from idealist.cli import model_options, options


@click.command("llm")
@click.argument("store", type=click.Path(path_type=Path))
@click.option(
    "--prompt", default="graded", show_default=True, metavar="NAME|FILE",
    help="What the model is asked: graded, binary, graded-examples, binary-examples, or a file.",
)  # fmt: skip
@click.option(
    "--what", default="pooled", show_default=True, metavar="pooled|judged|FILE",
    help="What to judge: pooled documents; what people judged, to hold the model to account; or "
    "what a file of judgments or a run lists.",
)  # fmt: skip
@model_options.reaching
@model_options.asking
@model_options.skip_missing
@model_options.dry_run
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
    address = model_options.address(url, output)
    with model_options.progress() as tick:
        found = judge_by_model(
            store, address, model, key_env=key_env, concurrency=concurrency, timeout=timeout,
            attempts=attempts, tick=tick, **asking,
        )  # fmt: skip
    options.emit(found, form, output, details=details)
    model_options.leave(found.interrupted, found.lost)
