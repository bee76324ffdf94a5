"""`idealist judge pool` and `judge estimate`: what to judge, and what a sample of it says."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs, options

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions


@click.command("pool")
@click.argument("store")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--by", default="depth", show_default=True, metavar="STRATEGY",
    help="depth: the first documents of every run. fusion: those that the runs together rank "
    "highest. mtf, maxmean: those of the runs that find most, chosen anew after each judgment. "
    "sampled: drawn with known probabilities, for estimates. decisive: those whose grades could "
    "change which run is better; it says when none can.",
)  # fmt: skip
@click.option(
    "--measure", "-m", metavar="MEASURE",
    help="For --by decisive, the measure that compares the runs. Without it: nDCG@10.",
)  # fmt: skip
@click.option(
    "--verdict", type=click.Choice(["sign", "significant"]),
    help="For --by decisive: which run has the higher mean, or also whether a t-test finds it. "
    "Without it: sign.",
)  # fmt: skip
@click.option("--budget", type=int, metavar="N", help="Choose so many documents at most.")
@click.option(
    "--per-query", type=int, metavar="N", help="Choose so many documents of each query at most."
)
@click.option(
    "--depth", type=int, metavar="K",
    help="Look at the first K documents of each run. Without it: 100, or for --by depth as many as "
    "fit the budget.",
)  # fmt: skip
@click.option("--rel", type=float, default=1, metavar="GRADE", help="The lowest relevant grade.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Another seed draws another sample."
)
@options.setting
@click.option("--dry-run", is_flag=True, help="Show what would be chosen, and save nothing.")
@options.reading
@options.detailed
@options.quietly
@options.output
def pool(
    store: str, runs: tuple[str, ...], settings: tuple[str, ...], dry_run: bool,
    reading: ReadOptions, form: str, output: Path | None, quiet: bool, details: bool, **asked: Any,
) -> None:  # fmt: skip
    """Choose which documents of RUNS to judge next, and save the list in STORE.

    Documents that are judged already are never chosen again; nor, by depth and fusion, are those of
    an earlier batch that wait to be judged. The queries are those of STORE, if it
    has any. What pools the best of some runs favours these runs; only a sample does not. A file of
    judgments will do for STORE; then nothing is saved.

    \b
    Examples:
      idealist judge pool labels.db bm25.run dense.run --depth 10
      idealist judge pool labels.db *.run --by maxmean --budget 500
      idealist judge pool labels.db *.run --by sampled --budget 1500 --depth 50 --seed 7
      idealist judge pool labels.db a.run b.run --by decisive -m nDCG@10 --budget 50
      idealist judge pool labels.db *.run --budget 500 --dry-run -o pairs.csv
    """
    from idealist.formats.stored_judgments import store_address
    from idealist.judging.choosing.pooling import pool as choose
    from idealist.judging.store import Store

    inputs.check_inputs([store, *runs])
    given = {name: value for name, value in asked.items() if value is not None}
    given |= options.axes_beside(settings, asked, "judge pool")
    address = store_address(store)
    if address is None and Path(store).suffix == ".db":
        Store(store)  # which says what is wrong with it
    judged = reading.of(store) if address is None else store
    found, saved = choose(judged, inputs.runs_of(runs, reading), **given), None
    if address is not None and not dry_run:
        with Store(address.path) as opened:
            if found.chosen or found.closes(opened):
                saved = opened.add_batch(found.batch)  # an empty one closes those before it
    options.emit(found, form, output, quiet, details)
    if not quiet:
        say = f"saved as batch {saved} of {store}; judge it with idealist judge grade {store}"
        if not found.chosen:
            say = f"saved as batch {saved}, which is empty and closes what was chosen before"
        options.say([say if saved else "nothing was saved"])


@click.command("estimate")
@click.argument("store")
@click.argument("runs", nargs=-1, required=True)
@partial(options.measuring, usual="P@10, DCG@10")
@click.option("--baseline", metavar="RUN", help="The run to compare with. Without it: the first.")
@click.option("--rel", type=float, default=1, metavar="GRADE", help="The lowest relevant grade.")
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="How often intervals are right."
)
@click.option(
    "--unpooled", type=click.Choice(["refuse", "zero"]), default="refuse", show_default=True,
    help="Refuse runs with documents above the cutoff that were not pooled, or count these as not "
    "relevant, without intervals.",
)  # fmt: skip
@options.reading
@options.quietly
@options.output
def estimate(
    store: str, runs: tuple[str, ...], measures: tuple[str, ...], settings: tuple[str, ...],
    reading: ReadOptions, form: str, output: Path | None, quiet: bool, **asked: Any,
) -> None:  # fmt: skip
    """Estimate measures of RUNS from a judged sample in STORE, and how sure the estimates are.

    Draw the sample with `judge pool --by sampled`. A file of judgments with a column stratum will
    do too. Measures are P, CG, DCG, RBP and NumRelRet; others are no sums over documents, and their
    estimates would be biased.

    \b
    Example:
      idealist judge estimate labels.db bm25.run dense.run -m P@10 -m DCG@10
    """
    from idealist.formats.stored_judgments import store_address
    from idealist.judging.choosing.sample_estimates import USUAL, sample_estimates

    inputs.check_inputs([store, *runs])
    asked |= options.axes_beside(settings, asked, "judge estimate")
    judged = reading.of(store) if store_address(store) is None else store
    found = sample_estimates(judged, inputs.runs_of(runs, reading), measures or USUAL, **asked)
    options.emit(found, form, output, quiet)
