"""The verbs that ask a model: judge llm, judge prefer, judge probe; and judge prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from idealist.cli import model_options, options

#: What a model is asked about a document.
grading = click.option(
    "--prompt", default="graded", show_default=True, metavar="NAME|FILE",
    help="What the model is asked: graded, binary, graded-examples, binary-examples, or a file.",
)  # fmt: skip


@click.command("llm")
@click.argument("store", type=click.Path(path_type=Path))
@grading
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
def llm(**given: Any) -> None:
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

    model_options.ask(judge_by_model, estimate_model_judging, **given)


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
def prefer(**given: Any) -> None:
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

    model_options.ask(prefer_by_model, estimate_model_preferences, **given)


@click.command("probe")
@click.argument("store", type=click.Path(path_type=Path))
@grading
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
def probe(**given: Any) -> None:
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

    model_options.ask(probe_judge, **given)


@click.command("prompt")
@click.argument("name", metavar="[PROMPT]", required=False)
@options.sparing
@click.option(
    "--output", "-o", type=options.Target(str), default="-", metavar="FILE",
    help="Where to write the prompt. Without it: standard output.",
)  # fmt: skip
def prompt(name: str | None, output: str) -> None:
    """Check PROMPT, one of ours or a file, and write it out; without PROMPT, list ours.

    Copy one, change its name, and use it: idealist judge llm STORE --prompt FILE.

    \b
    Examples:
      idealist judge prompt
      idealist judge prompt graded -o mine.md
      idealist judge prompt mine.md
    """
    from idealist import files
    from idealist.judging.llm.prompts import our_prompts, read_prompt

    if name is None:
        width = max(map(len, our_prompts()))
        for ours in our_prompts():
            click.echo(f"{ours:{width}}  {read_prompt(ours).description}")
        return
    found = read_prompt(name)
    files.write(output, found.source.encode())
    options.say([f"prompt: {found.words}"])
