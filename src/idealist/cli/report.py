"""`idealist report`: everything about some runs on one page, to send to others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs
from idealist.cli import options as shared
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions
    from idealist.reporting import Report

#: What is written where nobody says what, and the forms there are.
PAGE = Path("report.html")
FORMS = ("html", "md", "json", "table")


@click.command("report")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@shared.measuring
@shared.reading
@click.option("--baseline", "-b", metavar="RUN", help="The run to compare with, if not the first.")
@click.option(
    "--queries", metavar="FILE",
    help="Count only the queries of this file, and show their texts: id<TAB>text, CSV or JSON. "
    + shared.NAMING,
)  # fmt: skip
@shared.documents
@click.option("--slice", "column", metavar="COLUMN", help="Also compare by a column of --queries.")
@click.option("--title", default="", metavar="TEXT", help="The title, if not the runs' names.")
@click.option("--notes", metavar="FILE", help="Your own words, in plain Markdown, for the page.")
@click.option(
    "--top", type=click.IntRange(0), metavar="N", default=30, show_default=True,
    help="Show both lists of the N queries that changed most, and of a third as many worst ones.",
)  # fmt: skip
@shared.beside
@click.option("--full", is_flag=True, help="Show both lists of every query.")
@shared.sparing
@click.option(
    "--output", "-o", type=shared.Target(), metavar="FILE",
    help="Write to this file: .html, .md for a pull request, or .json. Without it: report.html.",
)  # fmt: skip
@click.option(
    "--format", "-f", "form", type=click.Choice(FORMS),
    help="How to write it, if the suffix of -o does not say; without -o to standard output.",
)  # fmt: skip
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], convention: str,
    settings: tuple[str, ...], baseline: str | None, queries: str | None, docs: str | None,
    column: str | None, title: str, notes: str | None, top: int, full: bool,
    beside: tuple[str, ...], output: Path | None, form: str | None, reading: ReadOptions,
) -> None:  # fmt: skip
    """Report on RUNS, judged by QRELS: one HTML file that needs no network and no other file.

    The verdict comes first, then whether it is real, which queries changed, with both lists side
    by side, where points are lost, whether the numbers can be trusted, and how they were measured.
    Several runs are compared with the first, unless -b names another. The data of `idealist eval`,
    `compare`, `audit` and `diagnose` is inside, as JSON.

    \b
    Examples:
      idealist report qrels.txt bm25.run dense.run
      idealist report qrels.txt old.run new.run --queries queries.csv --docs corpus.jsonl
      idealist report qrels.txt old.run new.run -m nDCG@10 -m AP -o report.md
      idealist report qrels.txt *.run --baseline bm25 --title 'Spring release' --notes notes.md
    """
    inputs.check_inputs([qrels, *runs, queries, docs, notes])
    written = form or _form(output)
    target = PAGE if output is None and form is None else output
    known = inputs.queries_of(queries)
    shared.slices_of(known, column)  # which says what columns there are
    judged, named = inputs.sides_of(qrels, runs, reading, known)
    paths = runs if len(named) == len(runs) else (qrels, *runs)
    if baseline in paths:  # as the run is given
        baseline = named[paths.index(baseline)].name
    rules: dict[str, Any] = {
        "measures": measures or None, "convention": convention, "queries": known,
        **shared.axes_of(settings),
    }  # fmt: skip
    said = _read(notes)
    with shared.working("starting …") as status:
        from idealist.reporting import report, stages

        with stages.listening(lambda stage: status and status.update(f"{stage} …")):
            found = report(
                judged, named, baseline=baseline, texts=known, docs=docs, slices=column,
                title=title, notes=said, top=top, full=full, latency=bool(beside), **rules,
            )  # fmt: skip
            stages.enter("drawing")
        made = _met(found, judged, named, rules).render(written)
    shared.say([f"doubt: {found.remark}"] if found.remark else [])
    shared.write(made, target)
    if target is not None and str(target) != "-":
        size = len(made.encode(errors="replace"))
        written = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
        shared.say([f"wrote {target}, {written}"])


def _form(output: Path | None) -> str:
    """Choose the form by the suffix of the file: a page, unless it says otherwise."""
    from idealist.rendering.result import form_of

    if output is None or output.suffix == "":
        return "html"
    hint = "write .html, .md or .json; idealist eval and compare write other forms"
    try:
        form = form_of(output)
    except UsageError:
        form = ""
    if form not in FORMS:
        raise UsageError(f"a report cannot be written as {output.suffix}", hint)
    return form


def _read(notes: str | None) -> str:
    if notes is None:
        return ""
    try:
        said = Path(notes).read_text("utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{notes} cannot be read: {error.strerror}", "check --notes") from None
    if "\0" in said:
        raise UsageError(f"{notes} is no text", "give --notes a file of Markdown or plain text")
    return said


def _met(found: Report, judged: Any, named: list[Any], rules: dict[str, Any]) -> Report:
    """Refuse runs of which no id meets the judgments, as `eval` does."""
    from idealist.comparing import COMPARED
    from idealist.evaluating.evaluator import DEFAULT_MEASURES

    all_found = found.findings
    usual = {**rules, "measures": rules["measures"] or DEFAULT_MEASURES}
    values = inputs.with_ids_met(all_found.evaluations.runs, judged, named, **usual)
    changed: dict[str, Any] = {"evaluations": replace(all_found.evaluations, runs=tuple(values))}
    if compared := all_found.comparison:
        own = {**rules, "measures": rules["measures"] or COMPARED}
        met = inputs.with_ids_met(compared.evaluations, judged, named, **own)
        changed["comparison"] = replace(compared, evaluations=tuple(met))
    return replace(found, findings=replace(all_found, **changed))
