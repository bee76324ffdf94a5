"""`idealist judge prefer`: have a model say which of two documents is better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from idealist.cli import model_options, options


@click.command("prefer")
@click.argument("store", type=click.Path(path_type=Path))
@click.option(
    "--prompt", default="preference", show_default=True, metavar="NAME|FILE",
    help="What the model is asked: preference, or a file of that kind.",
)  # fmt: skip
@click.option(
    "--what", default="pooled", show_default=True, metavar="pooled|judged|FILE",
    help="What to compare: pooled documents, what people judged, or what a file lists.",
)  # fmt: skip
@click.option(
    "--beside", type=click.IntRange(1), metavar="N", default=1, show_default=True,
    help="With how many of those that follow it a document is compared.",
)  # fmt: skip
@model_options.reaching
@model_options.asking
@model_options.skip_missing
@model_options.dry_run
@options.detailed
@options.output
def prefer(
    store: Path, url: str | None, model: str, dry_run: bool, key_env: str | None, concurrency: int,
    timeout: float, attempts: int, form: str, output: Path | None, details: bool, **asking: Any,
) -> None:  # fmt: skip
    """Have a model compare documents of STORE two by two, each pair in both orders.

    Where both answers name the same document, that is a preference; where the answer depends on the
    order, it is a tie, and is counted. idealist judge export STORE -o FILE.prefs writes preferences
    as measures read them.

    \b
    Examples:
      idealist judge prefer labels.db --model gpt-4o-mini --dry-run
      idealist judge prefer labels.db --url http://127.0.0.1:8080/v1 --model smollm2
      idealist judge prefer labels.db --url $URL --model $MODEL --beside 3
    """
    from idealist.judging.llm.preferring import estimate_model_preferences, prefer_by_model

    if dry_run:
        found = estimate_model_preferences(store, model, **asking)
        options.emit(found, form, output, details=details)
        return
    address = model_options.address(url, output)
    with model_options.progress() as tick:
        made = prefer_by_model(
            store, address, model, key_env=key_env, concurrency=concurrency, timeout=timeout,
            attempts=attempts, tick=tick, **asking,
        )  # fmt: skip
    options.emit(made, form, output, details=details)
    model_options.leave(made.interrupted, made.lost)
