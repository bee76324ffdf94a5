"""`idealist judge probe`: ask a model in ways that should not change its grades."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from idealist.cli import model_options, options


@click.command("probe")
@click.argument("store", type=click.Path(path_type=Path))
@click.option(
    "--prompt", default="graded", show_default=True, metavar="NAME|FILE",
    help="What the model is asked: graded, binary, graded-examples, binary-examples, or a file.",
)  # fmt: skip
@click.option(
    "--what", default="judged", show_default=True, metavar="judged|pooled|FILE",
    help="Which documents to draw from: what people judged, what was pooled, or what a file lists.",
)  # fmt: skip
@click.option(
    "--documents", "-n", type=click.IntRange(1), metavar="N", default=30, show_default=True,
    help="How many documents to ask about, from as many queries as possible.",
)  # fmt: skip
@click.option(
    "--again", type=click.IntRange(1), metavar="N", default=1, show_default=True,
    help="How often to ask the same again.",
)  # fmt: skip
@model_options.reaching
@model_options.asking
@options.detailed
@options.output
def probe(
    store: Path, url: str | None, model: str, form: str, output: Path | None, details: bool,
    **given: Any,
) -> None:  # fmt: skip
    """Find out what moves a model's grades and should not, on some documents of STORE.

    Each document is asked about as it is, again, with as many words more that say nothing, with a
    plea for the highest grade at its end, and with the examples of the prompt in reverse order.
    Every call is kept in STORE, and none becomes a judgment.

    \b
    Examples:
      idealist judge probe labels.db --url http://127.0.0.1:8080/v1 --model smollm2
      idealist judge probe labels.db --url $URL --model $MODEL -n 100 --prompt graded-examples
    """
    from idealist.judging.llm.probes import probe_judge

    address = model_options.address(url, output)
    with model_options.progress() as tick:
        found = probe_judge(store, address, model, tick=tick, **given)
    options.emit(found, form, output, details=details)
    model_options.leave(found.interrupted, sum(one.lost for one in found.findings))
