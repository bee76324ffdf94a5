"""`idealist collect`: ask a live engine every query, and keep what it finds."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import options
from idealist.cli.main import EXIT_INTERRUPTED
from idealist.errors import UsageError
from idealist.rendering.result import FORMS

if TYPE_CHECKING:
    from idealist.collecting.collector import Tick

#: Queries were asked in vain.
EXIT_FAILED = 1


@click.command("collect")
@click.argument("engine")
@click.option(
    "--queries", required=True, metavar="FILE",
    help="The queries: CSV, JSON, or id<TAB>text lines. Every column fills the place of its name "
    "in a template, such as {{vector}}.",
)  # fmt: skip
@click.option(
    "--template", "templates", multiple=True, metavar="FILE",
    help="What is asked: JSON, or SQL, with {{query}} and {{k}} where they belong. Several are "
    "asked by turns, each with a -o of its own.",
)  # fmt: skip
@click.option(
    "-k", type=click.IntRange(1), default=100, show_default=True, metavar="K",
    help="The most hits of a query that are kept; {{k}} in a template.",
)  # fmt: skip
@click.option(
    "--output", "-o", "outputs", multiple=True, required=True, metavar="FILE",
    type=options.Target(),
    help="The run: JSON lines, one a query. One for each template.",
)  # fmt: skip
@click.option(
    "--resume", is_flag=True, help="Go on with FILE: ask what it lacks, and what failed or was cut."
)
@click.option(
    "--header", "headers", multiple=True, metavar="'NAME: VALUE'",
    help="Send a header. A secret is written ${VARIABLE}, and is taken from the environment.",
)  # fmt: skip
@click.option(
    "--columns", multiple=True, metavar="OURS=THEIRS",
    help="Name the field of a hit that is the id or the score: document=sku.",
)  # fmt: skip
@click.option(
    "--text", multiple=True, metavar="FIELD", help="Keep this field of each hit too. Repeatable."
)
@click.option(
    "--concurrency", type=click.IntRange(1), metavar="N",
    help="How many queries are under way at once. Without it: 8 over HTTP, 4 in SQL.",
)  # fmt: skip
@click.option("--rate", type=float, metavar="N", help="Ask no more than N queries a second.")
@click.option(
    "--timeout", type=float, default=30, show_default=True, metavar="SECONDS",
    help="How long a query may take.",
)  # fmt: skip
@click.option(
    "--attempts", type=click.IntRange(1), default=3, show_default=True, metavar="N",
    help="How often a query is asked if the engine is busy or the connection breaks.",
)  # fmt: skip
@click.option(
    "--warm-up", type=click.IntRange(0), default=1, show_default=True, metavar="N",
    help="Queries that each connection answers before time is taken.",
)  # fmt: skip
@click.option(
    "--format", "-f", "form", type=click.Choice(list(FORMS)), default="table",
    help="How to write what came of it.",
)  # fmt: skip
@options.sparing
@options.quietly
def command(
    engine: str, templates: tuple[str, ...], outputs: tuple[Path, ...], headers: tuple[str, ...],
    columns: tuple[str, ...], text: tuple[str, ...], form: str, quiet: bool, **given: Any,
) -> None:  # fmt: skip
    """Ask ENGINE every query, and write what it finds as a run, with times and failures.

    ENGINE is elasticsearch+http://HOST:9200/INDEX, and alike opensearch+, solr+, qdrant+,
    meilisearch+ and typesense+; vespa+http://HOST:8080 and weaviate+http://HOST:8080;
    postgresql://HOST/DATABASE, sqlite:FILE, tantivy:FOLDER; or a mapping file, NAME.toml, for any
    other endpoint. Every answer is in FILE as soon as it came. A query that fails is missing from
    the run, not empty: `idealist eval` says so, and --resume asks it again. The exit code is 1 if
    any failed or was not asked.

    \b
    Examples:
      idealist collect elasticsearch+http://localhost:9200/products --queries queries.csv \\
        --template request.json -k 100 -o run.jsonl
      idealist collect elasticsearch+https://search.example/products --queries queries.csv \\
        --template request.json --header 'Authorization: ApiKey ${ES_KEY}' -o run.jsonl --resume
      idealist collect postgresql://reader@localhost/shop --queries queries.csv \\
        --template old.sql --template new.sql -o old.jsonl -o new.jsonl --rate 20
      idealist collect shop.toml --queries queries.csv -o run.jsonl --text title
    """
    from idealist.collecting.collect_runs import collect
    from idealist.collecting.environment_secrets import headers_of

    names, layouts = options.columns_of(columns)
    if layouts:
        raise UsageError("--columns names fields here", "write --columns document=sku")
    several = list(templates) if templates else [None]
    with options.ticking("collecting") as bar:
        found = collect(
            engine, output=list(outputs), template=several, headers=headers_of(headers),
            columns=names, text=text, again=_again(), tick=_tick(bar), **given,
        )  # fmt: skip
    options.emit(found, form, None, quiet)
    if found.interrupted or found.lacking:
        sys.exit(EXIT_INTERRUPTED if found.interrupted else EXIT_FAILED)


def _again() -> str:
    """Write the command that asks what is lacking, as it was typed."""
    typed = list(click.get_current_context().obj or ())
    return shlex.join(["idealist", *typed, *([] if "--resume" in typed else ["--resume"])])


def _tick(bar: Callable[..., None]) -> Tick:
    return lambda done, total, failed: bar(
        done, total, f"collecting, {failed} failed" if failed else "collecting"
    )
