"""`python -m idealist.spark`: evaluate runs on Spark, from a shell or by spark-submit."""

from __future__ import annotations

import sys
from typing import Any

import click

from idealist.errors import IdealistError, UsageError
from idealist.notation import measures_of

#: Where bad input or usage leads, as the shell sees it.
EXIT_BAD = 2
#: So many runs are shown; of more, the values are in the output alone.
SHOWN_RUNS = 20


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--measure", "-m", "measures", multiple=True, metavar="MEASURE",
    help="A measure, such as nDCG@10, or several: nDCG@5,10,AP. Repeatable. "
    "Without it: nDCG@10, AP, RR@10, R@100, Judged@10.",
)  # fmt: skip
@click.option(
    "--convention", "-c", default="trec_eval", show_default=True, metavar="NAME",
    help="The tool whose rules apply; `idealist conventions` lists them.",
)  # fmt: skip
@click.option(
    "--set", "settings", multiple=True, metavar="AXIS=VALUE",
    help="Set one rule, such as ties=docid-asc. Repeatable.",
)  # fmt: skip
@click.option(
    "--columns", multiple=True, metavar="OURS=THEIRS",
    help="Name columns that have unusual names: run=model,document=sku,position=line. Repeatable.",
)  # fmt: skip
@click.option(
    "--weights", metavar="FILE",
    help="Weight the queries in means: a file of queries with a column weight.",
)  # fmt: skip
@click.option("--queries", metavar="FILE", help="Count only the queries of this file.")
@click.option(
    "--output", "-o", metavar="FOLDER",
    help="Write values, summary and doubts as Parquet into a new folder that Spark can write to.",
)  # fmt: skip
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], convention: str,
    settings: tuple[str, ...], columns: tuple[str, ...], weights: str | None,
    queries: str | None, output: str | None,
) -> None:  # fmt: skip
    """Measure RUNS against the judgments in QRELS, on Spark.

    RUNS are paths or patterns that Spark reads: Parquet, CSV, JSON by the line or TREC text, all
    of one kind. A run is a file or a folder of parts, or a column says it, such as run or system.
    QRELS is a file that the driver reads. Up to 20 runs are shown as a table.

    \b
    Examples:
      python -m idealist.spark qrels.txt 'runs/*.run' -m nDCG@10 -m AP
      python -m idealist.spark qrels.txt hdfs:///nightly/runs.parquet -o hdfs:///nightly/values
      spark-submit --master yarn submit.py qrels.txt s3a://logs/runs/ -o s3a://logs/values
    where submit.py is: from idealist.spark.__main__ import main; main()
    """
    from idealist.evaluating.evaluator import DEFAULT_MEASURES
    from idealist.formats import read_queries
    from idealist.measures.instrument import typed_axes
    from idealist.spark import evaluate

    found = evaluate(
        qrels, list(runs), measures_of(measures) or DEFAULT_MEASURES, convention=convention,
        columns=_columns(columns), queries=None if queries is None else read_queries(queries),
        weights=None if weights is None else read_queries(weights), **typed_axes(settings),
    )  # fmt: skip
    if output is not None:
        _write(found, output)
    click.echo(found.evaluations() if len(found) <= SHOWN_RUNS else found)


def _columns(words: tuple[str, ...]) -> dict[str, str]:
    """Read names of columns, theirs by ours."""
    pairs = [cell.partition("=") for word in words for cell in word.split(",")]
    if bad := [ours for ours, sign, theirs in pairs if not (ours and sign and theirs)]:
        raise UsageError(f"--columns {bad[0]!r} cannot be read", "write document=sku,run=model")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def _write(found: Any, output: str) -> None:
    """Write three tables; what is there already stays, and is an error."""
    for name in ("values", "summary", "doubts"):
        try:
            getattr(found, name).write.parquet(f"{output.rstrip('/')}/{name}")
        except Exception as error:  # Spark has one for each kind of file system
            if "PATH_ALREADY_EXISTS" not in str(error):
                raise
            raise UsageError(f"{output}/{name} is there already", "choose a new folder") from None


def main(arguments: list[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    try:
        command.main(args=arguments, prog_name="python -m idealist.spark", standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}\n  hint: see --help", err=True)
        sys.exit(EXIT_BAD)
    except IdealistError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_BAD)


if __name__ == "__main__":
    main()
