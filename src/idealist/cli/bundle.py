"""`idealist bundle`: keep what others need to check the numbers, without the documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from idealist.cli import inputs, options
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions


@click.command("bundle")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@options.reading
@options.setting
@click.option(
    "--private", is_flag=True,
    help="Write queries as hashes that only those can compute who have QRELS.",
)  # fmt: skip
@click.option(
    "--output", "-o", type=options.Target(), metavar="FILE.ilb",
    required=True, help="Where the bundle goes.",
)  # fmt: skip
@options.quietly
@options.sparing
def command(
    qrels: str, runs: tuple[str, ...], settings: tuple[str, ...], private: bool, output: Path,
    reading: ReadOptions, quiet: bool,
) -> None:  # fmt: skip
    """Write where RUNS have the documents judged in QRELS to a small file, and no document.

    A bundle goes wherever a run goes: with other measures, cutoffs and conventions, and with QRELS
    or alone. It holds grades, ranks, ties, scores of judged documents, and ids of queries; no id
    and no text of a document. --set takes the rules that lists are made by, such as collapse; every
    order of ties that tools have is kept anyway.

    \b
    Examples:
      idealist bundle qrels.txt bm25.run dense.run -o results.ilb
      idealist eval results.ilb -m nDCG@10 -m AP
      idealist compare results.ilb --baseline bm25
      idealist eval qrels.txt results.ilb#dense --convention sklearn
      idealist bundle qrels.txt bm25.run --private -o results.ilb
    """
    from idealist.bundling.result_bundle import bundle
    from idealist.files import check_folder
    from idealist.formats import read_qrels

    if output.suffix != ".ilb":
        raise UsageError(f"-o {output} does not end in .ilb", f"write -o {output.stem}.ilb")
    inputs.check_inputs([qrels, *runs])
    check_folder(output)
    judged = read_qrels(reading.of(qrels))
    with options.working("Ranking"):
        made = bundle(
            judged, inputs.runs_of(runs, reading), private=private, **options.axes_of(settings)
        )
    made.save(output)
    options.say([] if quiet else [f"{output}: {made.summary}"])
