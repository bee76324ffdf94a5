"""`idealist gate`: say whether a new run may replace a baseline."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs
from idealist.cli import options as shared
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions
    from idealist.gating import Gate


EXIT_FAILED = 1


@click.command("gate")
@click.argument("qrels")
@click.argument("baseline")
@click.argument("run", required=False)
@partial(shared.measuring, usual="those of the baseline file, or nDCG@10", convention=None)
@click.option(
    "--max-drop", "drops", multiple=True, metavar="[MEASURE=]VALUE",
    help="The largest drop that passes, 0.01 by default. Repeatable.",
)  # fmt: skip
@click.option(
    "--alpha", type=float, default=0.05, show_default=True,
    help="The level of the one-sided bounds, and of a false FAIL.",
)  # fmt: skip
@click.option(
    "--looks", type=click.IntRange(1), metavar="N",
    help="How many runs will be checked against the baseline: they share alpha for a false FAIL. "
    "--save writes N into the file, and every check against the file then keeps to it.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit 1 on INCONCLUSIVE too.")
@click.option(
    "--slice", "column", metavar="COLUMN",
    help="Also check each slice of the queries by this column of --queries; slices can only fail.",
)  # fmt: skip
@click.option(
    "--floor", "floors", multiple=True, metavar="[MEASURE=]VALUE",
    help="The lowest mean that passes, for all queries and slices of ten or more. Repeatable.",
)  # fmt: skip
@click.option(
    "--max-empty", type=click.IntRange(0), default=0, show_default=True,
    help="How many queries may become empty.",
)  # fmt: skip
@shared.reading
@shared.counting
@click.option(
    "--rescore", is_flag=True, help="Measure a baseline's rankings again: judgments have grown."
)
@click.option(
    "--save", metavar="FILE", help="Save the last run given as a baseline, unless it fails."
)
@click.option("--plan", is_flag=True, help="Show how likely each verdict is instead.")
@click.option("--junit", type=shared.Target(str), metavar="FILE", help="Also write JUnit XML.")
@click.option(
    "--summary", type=shared.Target(str), metavar="FILE", help="Also write a summary in Markdown."
)
@click.option(
    "--github", is_flag=True,
    help="Annotate the build, and add the summary to the job's, for GitHub Actions.",
)  # fmt: skip
@shared.quietly
@shared.output
def command(
    qrels: str, baseline: str, run: str | None, measures: tuple[str, ...], convention: str | None,
    settings: tuple[str, ...], drops: tuple[str, ...], floors: tuple[str, ...], column: str | None,
    queries: str | None, weights: str | None, save: str | None, plan: bool, strict: bool,
    quiet: bool, form: str, output: Path | None, junit: str | None, summary: str | None,
    github: bool, looks: int | None, reading: ReadOptions, **rules: Any,
) -> None:  # fmt: skip
    """Say whether RUN may replace BASELINE: PASS, FAIL or INCONCLUSIVE.

    BASELINE is a run, or a file that --save wrote. FAIL: the mean drops by more than --max-drop,
    and the drop is significant (one-sided, --alpha shared by --looks). PASS: the one-sided lower
    bound of the change is not below -max-drop. INCONCLUSIVE: neither. FAIL is exit code 1. Without
    -c, the convention is that of the baseline file, or trec_eval.

    \b
    Examples:
      idealist gate qrels.txt main.run pr.run -m nDCG@10 --max-drop 0.02
      idealist gate qrels.txt main.run -m nDCG@10 -m R@100 --save baseline.json --looks 50
      idealist gate qrels.txt baseline.json pr.run --rescore --github --junit gate.xml
      idealist gate qrels.txt main.run pr.run --queries queries.csv --slice type --floor 0.4
      idealist gate qrels.txt main.run pr.run --plan
      idealist gate results.ilb#main results.ilb#pr
    """
    from idealist.files import check_target
    from idealist.formats import read_qrels
    from idealist.gating import check_run, find_baseline, gate, save_baseline

    if run is None and (bundle := inputs.bundle_of(qrels)):
        qrels, baseline, run = bundle, qrels, baseline
    paths = [baseline] if run is None else [baseline, run]
    named = [qrels, *paths, queries, weights]
    inputs.check_inputs(named)
    if run is None and save is None:
        raise UsageError("there is no run to check", "give RUN, or --save FILE to save a baseline")
    check_run(paths[-1])
    stored = find_baseline(baseline)
    others = named if stored is None else [one for one in named if one != baseline]
    if save is not None:  # a baseline may be saved anew
        check_target(save, others)
    known = inputs.queries_of(queries)
    judged = inputs.judgments_beside(qrels, reading)
    runs, judged = inputs.runs_of(paths, reading, known, one_each=True), read_qrels(judged)
    common: dict[str, Any] = {
        "measures": measures or None, "convention": convention, "queries": known,
        "weights": inputs.queries_of(weights),
    }  # fmt: skip
    rules |= {"slices": shared.slices_of(known, column), "floors": _by_measure("--floor", floors)}
    if drops:
        rules["max_drop"] = _by_measure("--max-drop", drops)
    common |= shared.axes_beside(settings, common.keys() | rules.keys(), "gate")
    failed = False
    rules["looks"] = None if save else looks  # with --save it is the new baseline's
    if run is not None:
        found = gate(judged, stored or runs[0], runs[1], **rules, **common)
        shared.emit(found.plan() if plan else found, form, output, quiet=quiet)
        if not plan:
            _report(found, strict, junit, summary, github)
        failed = found.failed(strict)
    if save is not None and failed:
        shared.say([f"not saved: {runs[-1].name} fails the gate"])
    elif save is not None:
        save_baseline(judged, runs[-1], save, like=stored, looks=looks, **common)
        shared.say([] if quiet else [f"saved {runs[-1].name} as a baseline: {save}"])
    if failed and not plan:
        sys.exit(EXIT_FAILED)


def _by_measure(option: str, given: Sequence[str]) -> dict[str, float] | float | None:
    """Read ``VALUE`` or ``MEASURE=VALUE`` words."""
    found: dict[str, float] = {}
    for word in given:
        measure, _, value = word.rpartition("=")
        if measure in found:
            raise UsageError(f"{option} {word!r} is a second one", "give each measure one")
        try:
            found[measure] = float(value)
        except ValueError:
            hint = f"write {option} 0.4, or {option} nDCG@10=0.4"
            raise UsageError(f"{option} {word!r} cannot be read", hint) from None
    if "" not in found:
        return found or None
    if len(found) > 1:
        message = f"one {option} is for all measures, another for one"
        raise UsageError(message, "name each measure")
    return found[""]


def _report(found: Gate, strict: bool, xml: str | None, page: str | None, github: bool) -> None:
    """Write what machines that watch builds read."""
    from idealist.gating import github_annotations, junit

    if xml is not None:
        shared.write(junit(found, strict), Path(xml))
    if page is not None:
        shared.write(found.markdown(), Path(page))
    if github:
        shared.say(github_annotations(found, strict))
        job = os.environ.get("GITHUB_STEP_SUMMARY")
        if job:
            with Path(job).open("a", encoding="utf-8") as file:  # other steps write there too
                file.write(found.markdown() + "\n")
