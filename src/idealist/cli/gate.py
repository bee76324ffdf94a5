"""`idealist gate`: say whether a new run may replace a base run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli.options import (
    axes_beside,
    check_inputs,
    counting,
    output,
    quietly,
    run_names,
    say,
    slices_of,
    write,
)
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.gating import Gate


EXIT_FAILED = 1


@click.command("gate")
@click.argument("qrels")
@click.argument("base")
@click.argument("new", required=False)
@click.option(
    "--measure", "-m", "measures", multiple=True, metavar="MEASURE",
    help="A measure to gate on. Repeatable. Without it: those of the baseline, or nDCG@10.",
)  # fmt: skip
@click.option(
    "--convention", "-c", metavar="NAME",
    help="The tool whose rules apply. Without it: the baseline's, or trec_eval.",
)  # fmt: skip
@click.option(
    "--set", "settings", multiple=True, metavar="AXIS=VALUE",
    help="Set one rule, such as ties=docid-asc. Repeatable.",
)  # fmt: skip
@click.option(
    "--max-drop", "drops", multiple=True, metavar="[MEASURE=]VALUE",
    help="The largest drop that passes, 0.01 without it. Repeatable.",
)  # fmt: skip
@click.option(
    "--alpha", type=float, default=0.05, show_default=True,
    help="The level of the one-sided bounds, and of a false FAIL.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit 1 on INCONCLUSIVE too.")
@click.option(
    "--slice", "column", metavar="COLUMN",
    help="Also check each slice of the queries by this column; slices can only fail.",
)  # fmt: skip
@click.option(
    "--floor", "floors", multiple=True, metavar="[MEASURE=]VALUE",
    help="The least mean that passes, of all queries and of slices of ten or more. Repeatable.",
)  # fmt: skip
@click.option(
    "--max-empty", type=click.IntRange(0), default=0, show_default=True,
    help="So many queries may become empty.",
)  # fmt: skip
@counting
@click.option(
    "--rescore", is_flag=True, help="Measure the rankings of a baseline anew: judgments have grown."
)
@click.option(
    "--save", metavar="FILE",
    help="Write the newest run given as a baseline, unless it fails.",
)  # fmt: skip
@click.option("--plan", is_flag=True, help="Print the chance of each verdict at this n instead.")
@click.option("--junit", metavar="FILE", help="Also write JUnit XML.")
@click.option("--summary", metavar="FILE", help="Also write a summary in Markdown.")
@click.option(
    "--github", is_flag=True,
    help="Annotate the build, and add the summary to the job's, as GitHub Actions has them.",
)  # fmt: skip
@quietly
@output
def command(
    qrels: str,
    base: str,
    new: str | None,
    measures: tuple[str, ...],
    convention: str | None,
    settings: tuple[str, ...],
    drops: tuple[str, ...],
    alpha: float,
    strict: bool,
    column: str | None,
    floors: tuple[str, ...],
    max_empty: int,
    queries: str | None,
    weights: str | None,
    rescore: bool,
    save: str | None,
    plan: bool,
    junit: str | None,
    summary: str | None,
    github: bool,
    quiet: bool,
    form: str,
    output: Path | None,
) -> None:
    """Say whether the run NEW may replace BASE: PASS, FAIL or INCONCLUSIVE.

    BASE is a run, or a baseline that --save wrote. By the one-sided 95 % bounds of the mean
    difference: FAIL where the upper bound is below 0 and the mean below -max-drop, PASS where the
    lower bound is not below -max-drop, and INCONCLUSIVE otherwise. FAIL is exit code 1.

    \b
    Examples:
      idealist gate qrels.txt main.run pr.run -m nDCG@10 --max-drop 0.02
      idealist gate qrels.txt main.run -m nDCG@10 -m R@100 --save baseline.json
      idealist gate qrels.txt baseline.json pr.run --rescore --github --junit gate.xml
      idealist gate qrels.txt main.run pr.run --queries queries.csv --slice type --floor 0.4
      idealist gate qrels.txt main.run pr.run --plan
    """
    from idealist.formats import read_qrels, read_queries, read_run
    from idealist.gating import check_run, check_target, find_baseline, gate, save_baseline

    paths = [base, *filter(None, (new,))]
    inputs = [qrels, *paths, *filter(None, (queries, weights))]
    check_inputs(inputs)
    if new is None and save is None:
        raise UsageError("there is no new run", "give NEW, or --save FILE to write a baseline")
    check_run(paths[-1])
    stored = find_baseline(base)
    others = inputs if stored is None else [one for one in inputs if one != base]
    for target, kept in ((save, others), (junit, inputs), (summary, inputs), (output, inputs)):
        if target is not None:  # a baseline may be saved anew
            check_target(target, kept)
    runs = [read_run(path, name=name) for path, name in zip(paths, run_names(paths), strict=True)]
    judged, facts = read_qrels(qrels), None if queries is None else read_queries(queries)
    common: dict[str, Any] = {
        "measures": list(dict.fromkeys(measures)) or None, "convention": convention,
        "queries": facts, "weights": None if weights is None else read_queries(weights),
    }  # fmt: skip
    rules: dict[str, Any] = {
        "alpha": alpha, "slices": slices_of(facts, column),
        "floors": _by_measure("--floor", floors), "max_empty": max_empty, "rescore": rescore,
    }  # fmt: skip
    if drops:
        rules["max_drop"] = _by_measure("--max-drop", drops)
    common |= axes_beside(settings, common.keys() | rules.keys(), "gate")
    failed = False
    if new is not None:
        found = gate(judged, stored or runs[0], runs[1], **rules, **common)
        write(_planned(found, form) if plan else _drawn(found, form), output)
        say(_notes(found, form, quiet))
        if not plan:
            _report(found, strict, junit, summary, github)
        failed = found.failed(strict)
    if save is not None and failed:
        say([f"not saved: {runs[-1].name} fails the gate"])
    elif save is not None:
        save_baseline(judged, runs[-1], save, like=stored, **common)
        say([] if quiet else [f"saved {runs[-1].name} as a baseline: {save}"])
    if failed and not plan:
        sys.exit(EXIT_FAILED)


def _notes(found: Gate, form: str, quiet: bool) -> list[str]:
    """Say what the output does not."""
    if form == "json" or quiet:
        return []
    doubts = [] if form == "md" else found.doubts
    return [*doubts, *(f"signature: {one}" for one in found.signatures.values())]


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


def _drawn(found: Gate, form: str) -> str:
    from idealist.gating import summary
    from idealist.report.draw import FORMATS

    if form == "json":
        return json.dumps(found.data(), indent=1, ensure_ascii=False)
    if form == "table":
        return found.body
    if form == "md":
        return summary(found)
    return FORMATS[form](found.grid(full=form in ("tsv", "csv")))


def _planned(found: Gate, form: str) -> str:
    from idealist.report.draw import FORMATS

    plans = found.plans()
    if form == "json":
        return json.dumps([one.data() for one in plans], indent=1, ensure_ascii=False)
    if form == "table":
        return "\n\n".join(map(str, plans))
    return "\n\n".join(FORMATS[form](one.grid()) for one in plans)


def _report(found: Gate, strict: bool, xml: str | None, page: str | None, github: bool) -> None:
    """Write what machines that watch builds read."""
    from idealist.gating import github_annotations, junit, summary

    if xml is not None:
        write(junit(found, strict), Path(xml))
    if page is not None:
        write(summary(found), Path(page))
    if github:
        say(github_annotations(found, strict))
        job = os.environ.get("GITHUB_STEP_SUMMARY")
        if job:
            with Path(job).open("a", encoding="utf-8") as file:  # other steps write there too
                file.write(summary(found) + "\n")
