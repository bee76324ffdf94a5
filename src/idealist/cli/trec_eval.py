"""`idealist trec-eval`: trec_eval's command line, output and exit codes."""

from __future__ import annotations

import sys

import click

from idealist.dropin.arguments import Stop
from idealist.errors import InputError, UsageError


@click.command(
    "trec-eval",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(words: tuple[str, ...]) -> None:
    """Do what trec_eval does: same options, same output, same exit codes.

    \b
    Examples:
      idealist trec-eval qrels.txt bm25.run
      idealist trec-eval -q -c -m ndcg_cut.10,20 -m map qrels.txt bm25.run
      idealist trec-eval --as 9.0.8 -m official qrels.txt bm25.run
    """
    from idealist.dropin.arguments import options_of
    from idealist.dropin.printed import help_text, version_text

    try:
        options = options_of(words)
        if options.version_wanted:
            click.echo(version_text(options), err=True)
        elif options.help:
            click.echo(help_text(options))
        else:
            from idealist.dropin.evaluate import report

            for piece in report(options):
                sys.stdout.write(piece)
    except Stop as stop:
        _leave(stop.code, str(stop))
    except UsageError as error:
        _leave(1, str(error))
    except InputError as error:
        _leave(4 if error.code in ("contradiction", "duplicate") else 2, str(error))


def _leave(code: int, message: str) -> None:
    sys.stdout.flush()
    click.echo(f"trec-eval: {message}", err=True)
    sys.exit(code)
