"""`idealist audit`: say whether numbers can be trusted, and what to do where they cannot."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs, options
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions

EXIT_FOUND = 1


@click.command("audit")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@options.measuring
@options.reading
@click.option(
    "--queries", metavar="FILE",
    help="Count only the queries of this file, and check their texts: CSV, JSON, or id<TAB>text "
    f"lines. {options.NAMING}",
)  # fmt: skip
@options.documents
@click.option(
    "--pool-teams", metavar="FILE",
    help="The team of each run, a CSV with columns run and team: say what the pool does to each.",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice(["error", "warning", "note", "never"]), default="error",
    show_default=True, help="The least severity that makes the exit code 1.",
)  # fmt: skip
@click.option(
    "--save-mappings", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Write proposed mappings of ids there, for idealist convert.",
)  # fmt: skip
@click.option(
    "--to-judge", type=options.Target(), metavar="FILE",
    help="Write the unjudged pairs that are worth most there, as TSV.",
)  # fmt: skip
@options.detailed
@options.quietly
@options.output
def command(
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], convention: str,
    settings: tuple[str, ...], fail_on: str, save_mappings: Path | None, to_judge: Path | None,
    queries: str | None, docs: str | None, pool_teams: str | None, reading: ReadOptions,
    **view: Any,
) -> None:  # fmt: skip
    """Look QRELS and RUNS over for what makes numbers wrong or doubtful.

    Ids that do not match, unjudged documents, judgments that contradict each other, ties, short
    lists and more: each finding says how much of it there is, what it costs and what to do. Nothing
    is changed. The exit code is 1 if there is a finding as bad as --fail-on.

    \b
    Examples:
      idealist audit qrels.txt bm25.run dense.run
      idealist audit qrels.txt bm25.run --docs corpus.jsonl --queries queries.tsv
      idealist audit qrels.txt bm25.run --save-mappings mappings
      idealist audit qrels.txt *.run --pool-teams teams.csv
      idealist audit qrels.txt bm25.run -f json --fail-on warning
    """
    from idealist.auditing import audit
    from idealist.evaluating.evaluator import DEFAULT_MEASURES
    from idealist.ranking.stored_placements import has_documents
    from idealist.rendering.plain_data import separated

    inputs.check_inputs([qrels, *runs, queries, docs, pool_teams])
    known = inputs.queries_of(queries)
    judged, named = inputs.sides_of(qrels, runs, reading, known, faulty=True)
    if to_judge is not None and named and not any(map(has_documents, named)):
        hint = "audit the runs themselves with --to-judge"
        raise UsageError("--to-judge lists documents, and bundles have none", hint)
    found = audit(
        judged, named, measures or DEFAULT_MEASURES,
        convention=convention, queries=known,
        texts=known, docs=docs, pool_teams=pool_teams, **options.axes_of(settings),
    )  # fmt: skip
    options.emit(found, **view)
    written = found.save_mappings(save_mappings) if save_mappings is not None else []
    if to_judge is not None and found.coverage:
        options.write(separated(found.coverage.to_judge(), "\t"), to_judge)
        written.append(to_judge)
    options.say([] if view["quiet"] else [f"written: {path}" for path in written])
    if fail_on != "never" and found.at_least(fail_on):
        sys.exit(EXIT_FOUND)
