"""The command `idealist`: verbs are imported when used, errors come without a traceback."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

import click

from idealist import kernel
from idealist._version import __version__
from idealist.cli.lazy_group import LazyGroup
from idealist.errors import IdealistError

#: Every verb: where it lives and what the overview says of it.
VERBS: dict[str, tuple[str, str]] = {
    "demo": ("idealist.cli.demo", "Evaluate a reranker on embedded data and tell the story."),
    "eval": ("idealist.cli.eval", "Measure runs against judgments."),
    "compare": ("idealist.cli.compare", "Say whether a run is really better than another."),
    "explain": ("idealist.cli.explain", "Say why a number is what it is."),
    "audit": ("idealist.cli.audit", "Say whether numbers can be trusted, and what mends them."),
    "diagnose": ("idealist.cli.diagnose", "Say where a run loses its points, and what to do."),
    "agree": ("idealist.cli.agree", "Say how far judges agree, and whether it matters."),
    "correct": ("idealist.cli.correct", "Correct a model's numbers by what people judged."),
    "report": ("idealist.cli.report", "Put all of that on one page, to send to others."),
    "ui": ("idealist.cli.ui", "See, compare and judge in the browser."),
    "gate": ("idealist.cli.gate", "Say whether a new run may replace a base run, for CI."),
    "judge": ("idealist.cli.judge", "Make judgments: keep them, choose what to judge, grade."),
    "collect": ("idealist.cli.collect", "Ask a live engine every query, and keep what it finds."),
    "clicks": ("idealist.cli.clicks", "Make grades of what users clicked."),
    "fuse": ("idealist.cli.fuse", "Make one run of several."),
    "tune": ("idealist.cli.tune", "Choose how to fuse, and say what it will do on new queries."),
    "interleave": ("idealist.cli.interleave", "Compare two runs by clicks of visitors."),
    "bundle": ("idealist.cli.bundle", "Let others check numbers, without the documents."),
    "plot": ("idealist.cli.plot", "Draw a figure, and say what it shows."),
    "sample-queries": ("idealist.cli.sample_queries", "Draw queries from a log, to be judged."),
    "power": ("idealist.cli.power", "Say how many queries show a difference, before judging."),
    "verify": ("idealist.cli.verify", "Check the numbers of a printed table against runs."),
    "reconcile": ("idealist.cli.reconcile", "Say which conventions print a number."),
    "trec-eval": ("idealist.cli.trec_eval", "Do what trec_eval does, to the byte."),
    "measures": ("idealist.cli.reference", "List the measures, or explain one."),
    "conventions": ("idealist.cli.reference", "List the conventions, or compare two."),
    "convert": ("idealist.cli.convert", "Write judgments or a run in another format."),
    "signature": ("idealist.cli.reference", "Compare or expand signatures of numbers."),
}

#: Where bad input or usage leads, as the shell sees it.
EXIT_BAD = 2
#: The shells' code for a program stopped by Ctrl-C.
EXIT_INTERRUPTED = 130
#: After how many new objects Python looks for those nobody can reach: hardly any of a command are.
SELDOM = 100_000


def show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Show the version, and whether ranking is compiled."""
    if asked and not context.resilient_parsing:  # which completion of words in a shell does
        click.echo(f"idealist {__version__} ({kernel.description()})")
        context.exit()


@click.group(cls=LazyGroup, verbs=VERBS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", "-V", is_flag=True, is_eager=True, expose_value=False, callback=show_version,
    help="Show the version, and which kernel ranks, and exit.",
)  # fmt: skip
def cli() -> None:
    """Evaluate ranked retrieval: numbers that say exactly what they mean.

    \b
    Example:
      idealist eval qrels.txt bm25.run dense.run -m nDCG@10 -m AP
    """


def main(arguments: list[str] | None = None) -> Any:
    """Run the command and leave with its exit code."""
    gc.set_threshold(SELDOM)
    try:
        cli.main(args=arguments, prog_name="idealist", standalone_mode=False)
    except click.ClickException as error:
        _show(error)
        sys.exit(error.exit_code)
    except IdealistError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_BAD)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # a folder that may not be listed; a full disk behind standard output
        named = isinstance(error.filename, (str, bytes))
        what = (
            f"{os.fsdecode(error.filename)} cannot be read" if named else "cannot write the result"
        )
        click.echo(f"error: {what}: {error.strerror}", err=True)
        sys.exit(EXIT_BAD)


def _show(error: click.ClickException) -> None:
    """Show a mistake in the options as we show others; without any argument, the help."""
    context = getattr(error, "ctx", None)
    if context is None or "Usage:" in error.format_message():
        error.show()
        return
    message = error.format_message().rstrip(".")
    words = message[:1].lower() + message[1:]
    click.echo(f"error: {words}\n  hint: see {context.command_path} --help", err=True)
