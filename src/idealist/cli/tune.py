"""`idealist tune`: choose how to fuse runs, and say what that will do on new queries."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist import files
from idealist.cli import inputs
from idealist.cli import options as shared
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.data import Run
    from idealist.formats.reading import ReadOptions


@click.command("tune")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@partial(shared.measuring, usual="nDCG@10")
@click.option(
    "--method", "methods", multiple=True, metavar="METHOD",
    help="A fusion method to tune, or one with parameters that stay, such as 'wsum(norm=sum)'. "
    "Repeatable. Without it: rrf, wrrf, sum, mnz and wsum. `idealist fuse --list` has them all.",
)  # fmt: skip
@click.option(
    "--default", metavar="METHOD|RUN",
    help="What is kept unless something is really better: a method, or the run in use. Without it: "
    "rrf.",
)  # fmt: skip
@click.option("--folds", type=int, default=5, show_default=True, help="Into how many to divide.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of folds and sign flips.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Two-sided.")
@click.option(
    "--rounds", type=int, default=3, show_default=True,
    help="How often to search on around the best of the coarse grid. Not for --select.",
)  # fmt: skip
@click.option(
    "--queries", metavar="FILE", help="Tune on the queries of this file, which may have columns."
)
@click.option(
    "--group", metavar="COLUMN", help="Keep queries with the same value of this column together."
)
@click.option(
    "--slice", "column", metavar="COLUMN", help="Spread its values evenly over the folds."
)
@click.option(
    "--window",
    type=click.IntRange(1),
    metavar="N",
    help="Fuse the first N of a list; single runs compete with as many.",
)
@click.option(
    "--missing", type=click.Choice(["error", "empty", "skip"]), default="error", show_default=True,
    help="What of a query that some runs lack, as in `idealist fuse`.",
)  # fmt: skip
@click.option("--select", is_flag=True, help="Say which runs are worth fusing instead.")
@click.option(
    "--write", type=shared.Target(), metavar="FILE", help="Write the fused run of the choice."
)
@click.option(
    "--write-out-of-fold", "held_out", type=shared.Target(), metavar="FILE",
    help="Write a run that has for each query what was chosen without it: what the estimate is of.",
)  # fmt: skip
@shared.reading
@shared.detailed
@shared.quietly
@shared.output
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], settings: tuple[str, ...],
    methods: tuple[str, ...], queries: str | None, group: str | None, column: str | None,
    select: bool, write: Path | None, held_out: Path | None, reading: ReadOptions, form: str,
    output: Path | None, quiet: bool, details: bool, **options: Any,
) -> None:  # fmt: skip
    """Choose how to fuse RUNS, judged by QRELS, and say what that will do on new queries.

    Each fold of queries is measured with what was chosen on the others. Single runs, RRF and equal
    weights always compete. The verdict is to keep the default unless the gain is more than chance
    makes of so many settings.

    \b
    Examples:
      idealist tune qrels.txt bm25.run dense.run -m nDCG@10
      idealist tune qrels.txt bm25.run dense.run --method wsum --method dbsf --default bm25
      idealist tune qrels.txt bm25.run dense.run --write fused.run --write-out-of-fold oof.run
      idealist tune qrels.txt bm25.run dense.run --queries queries.csv --group user --slice type
      idealist tune qrels.txt *.run --select
      idealist tune qrels.txt bm25.run dense.run -o tuning.html
    """
    from idealist.fusing.tuning.preparing import MEASURE
    from idealist.fusing.tuning.run_selection import select_runs
    from idealist.fusing.tuning.tuner import tune

    inputs.check_inputs([qrels, *runs, queries])
    for file in filter(None, (write, held_out)):
        files.check_folder(file)
    if write is not None and write == held_out:
        raise UsageError(f"two runs cannot both go to {write}", "give each a file")
    known = inputs.queries_of(queries)
    judged, found = inputs.sides_of(qrels, runs, reading, known)
    if "missing" in (axes := shared.axes_of(settings)):
        raise UsageError("--set missing is a rule of measuring", "write --missing empty, or skip")
    options["default"] = inputs.baseline_name(options["default"], qrels, runs, found)
    groups = shared.slices_of(known, group, "--group")
    slices = shared.slices_of(known, column)
    common = {"groups": groups, "slices": slices, "queries": known, **options, **axes}
    measure = measures or MEASURE
    with shared.ticking("Tuning") as tick:
        if not select:
            tuned: Any = tune(judged, found, list(methods) or None, measure, tick=tick, **common)
        else:
            method = _one_method(methods, write, held_out, options["default"])
            del common["default"], common["rounds"]
            tuned = select_runs(judged, found, method, measure, tick=tick, **common)
    shared.emit(tuned, form, output, quiet, details)
    for target, made in ((write, "run"), (held_out, "out_of_fold")):
        if target is not None:
            _write(getattr(tuned, made), target, quiet)


def _one_method(
    methods: tuple[str, ...], write: Path | None, held_out: Path | None, default: str | None
) -> str:
    """Return the method that runs are selected for; refuse what does not go with that."""
    if len(methods) > 1:
        raise UsageError("--select is for one method", "give one --method")
    if default is not None:
        raise UsageError("--default is not for --select", "all runs are the default there")
    if write or held_out:
        raise UsageError("--select writes no run", "fuse those that are worth it: idealist fuse")
    return methods[0] if methods else "rrf"


def _write(run: Run, target: Path, quiet: bool) -> None:
    from idealist.formats.writing import write_run

    lost = [f"doubt: {words}" for words in write_run(run, target)]
    shared.say([] if quiet else [f"wrote {run.name} to {target}", *lost])
