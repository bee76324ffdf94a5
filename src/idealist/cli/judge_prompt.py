"""`idealist judge prompt`: what models are asked, to read it or to write one's own."""

from __future__ import annotations

import click

from idealist.cli.options import say


@click.command("prompt")
@click.argument("prompt", required=False)
@click.option(
    "--output", "-o", default="-", metavar="FILE",
    help="Where to write the prompt. Without it: standard output.",
)  # fmt: skip
def command(prompt: str | None, output: str) -> None:
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

    if prompt is None:
        width = max(map(len, our_prompts()))
        for name in our_prompts():
            click.echo(f"{name:{width}}  {read_prompt(name).description}")
        return
    found = read_prompt(prompt)
    files.write(output, found.source.encode())
    say([f"prompt: {found.words}"])
