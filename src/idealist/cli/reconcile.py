"""`idealist reconcile`: say which conventions print a number."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs, options

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions

EXIT_NONE = 1


@click.command("reconcile")
@click.argument("qrels")
@click.argument("run", required=False)
@click.option(
    "--measure", "-m", required=True, metavar="MEASURE", help="What the number measures: nDCG@10."
)
@click.option("--value", metavar="NUMBER", help="The number, with all its digits: 0.4310.")
@click.option(
    "--digits", type=click.IntRange(0, 12), metavar="N",
    help="How many digits after the point are known. Without it: as many as are written.",
)  # fmt: skip
@click.option(
    "--values", metavar="FILE",
    help="Known values of queries: query<TAB>value lines, or what trec_eval -q prints.",
)  # fmt: skip
@click.option(
    "--other", "others", multiple=True, metavar="RUN",
    help="Another run whose number you could find out. Repeatable.",
)  # fmt: skip
@click.option(
    "--set", "settings", multiple=True, metavar="AXIS=VALUE",
    help="A rule that you know was followed, such as ties=input. Repeatable.",
)  # fmt: skip
@options.reading
@click.option("--details", is_flag=True, help="Also list all classes, and what cannot matter here.")
@options.quietly
@options.output
def command(
    qrels: str, run: str | None, measure: str, value: str | None, digits: int | None,
    values: str | None, others: tuple[str, ...], settings: tuple[str, ...],
    reading: ReadOptions, **view: Any,
) -> None:  # fmt: skip
    """Say which conventions print a number for the measure of RUN against QRELS.

    All named conventions are tried, and every combination of rules that can matter for this measure
    and this data. Those that agree on every query form a class. The exit code is 1 if no convention
    prints the number, or if what prints it could be chance: as many rules would print any number.

    \b
    Examples:
      idealist reconcile qrels.txt bm25.run -m nDCG@10 --value 0.4312
      idealist reconcile qrels.txt bm25.run -m AP --value 0.21 --digits 2 --set ties=input
      idealist reconcile qrels.txt bm25.run -m nDCG@10 --values their_queries.tsv
    """
    from idealist.formats import read_qrels
    from idealist.measures import parse
    from idealist.reconciling import reconcile
    from idealist.reconciling.target import ALL, read_values

    inputs.check_inputs([qrels, run, *others, values])
    per_query = {} if values is None else read_values(values, parse(measure))
    total = per_query.pop(ALL, None)
    if run is None:
        judged, one = inputs.one_run(qrels, None, reading)
        known = inputs.runs_of(others, reading, one_each=True)
    else:
        judged = read_qrels(inputs.judgments_beside(qrels, reading))
        one, *known = inputs.runs_of([run, *others], reading, one_each=True)
    with options.ticking("Trying conventions") as tick:
        found = reconcile(
            judged, one, measure, total if value is None else value, digits,
            per_query,
            others=known, tick=tick, **options.axes_of(settings),
        )  # fmt: skip
    options.emit(found, **view)
    if not found:
        sys.exit(EXIT_NONE)
