"""`idealist fuse`: make one run of several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs
from idealist.cli import options as shared
from idealist.errors import UsageError
from idealist.notation import to_number

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions
    from idealist.rendering.result import Result


@click.command("fuse")
@click.argument("runs", nargs=-1)
@click.option(
    "--method", default="rrf", show_default=True, metavar="METHOD",
    help="How to fuse: a name of --list, with its parameters, such as 'rrf(k=10)'.",
)  # fmt: skip
@click.option(
    "--norm", metavar="NAME", help="How scores are made comparable; --list has the names."
)
@click.option(
    "--weight", "weights", multiple=True, metavar="RUN=W",
    help="The weight of a run, for methods that take weights. One for each run.",
)  # fmt: skip
@click.option(
    "--train", metavar="QRELS",
    help="Judgments that a method learns from, of queries that you do not evaluate with.",
)  # fmt: skip
@click.option(
    "--window", type=click.IntRange(1), metavar="N", help="Fuse the first N of each list."
)
@click.option("--keep", type=click.IntRange(1), metavar="N", help="Keep the first N of each query.")
@click.option(
    "--missing", type=click.Choice(["error", "empty", "skip"]), default="error", show_default=True,
    help="What of a query that some runs lack: refuse it, take it that they found nothing, or "
    "leave it out.",
)  # fmt: skip
@shared.setting
@shared.reading
@click.option("--name", default="", metavar="NAME", help="The name of the fused run.")
@click.option("--to", default="", metavar="FORMAT", help="Its format, where -o does not say.")
@click.option(
    "--list", "listing", is_flag=True, help="List the methods; with --method, explain it."
)
@click.option("--explain", metavar="QUERY", help="Say what each run gave the documents of a query.")
@click.option("--document", metavar="ID", help="With --explain: this document alone.")
@shared.detailed
@shared.quietly
@shared.drawn_output
def command(
    runs: tuple[str, ...], listing: bool, explain: str | None, document: str | None, name: str,
    to: str, quiet: bool, details: bool, form: str, output: Path | None, settings: tuple[str, ...],
    **given: Any,
) -> None:  # fmt: skip
    """Fuse RUNS into one run, written to standard output or to -o FILE.

    Documents of equal scores stand by id, descending, in the runs and in what is written. `idealist
    tune` chooses method and parameters, and says what they will do on new queries.

    \b
    Examples:
      idealist fuse bm25.run dense.run -o fused.run
      idealist fuse bm25.run dense.run --method wsum --weight bm25=0.3 --weight dense=0.7
      idealist fuse a.run b.run c.run --method 'rrf(k=10)' --window 100 -o fused.jsonl
      idealist fuse a.run b.run --method probfuse --train training-qrels.txt -o fused.run
      idealist fuse bm25.run dense.run --explain q7 --document d3
      idealist fuse --list
    """
    if document is not None and explain is None:
        raise UsageError("--document is for --explain", "add --explain QUERY")
    if form != "table" and not listing and explain is None:
        hint = "name the format of the run: --to jsonl, or -o fused.jsonl"
        raise UsageError("-f is for --explain and --list", hint)
    if listing:
        shared.emit(_listed(), _form(form, output), output, quiet, details)
        return
    fusing = _fusing(runs, settings, **given)
    if explain is not None:
        from idealist.fusing.explained_fusion import explained

        shared.emit(explained(fusing, explain, document), _form(form, output), output, quiet)
        return
    lost = fusing.write(output or "-", name=name, to=to)
    said = [f"doubt: {words}" for words in (*(one.message for one in fusing.told), *lost)]
    shared.say([] if quiet else [fusing.summary, *said])


def _listed() -> Result:
    from idealist.fusing.method_list import explained_method, listed

    context = click.get_current_context()
    named = context.get_parameter_source("method") is click.core.ParameterSource.COMMANDLINE
    return explained_method(context.params["method"]) if named else listed()


def _form(form: str, output: Path | None) -> str:
    """Choose the form of what is shown by the name of the file."""
    from idealist.rendering.result import form_of

    return form_of(output) if form == "table" else form


def _fusing(
    runs: tuple[str, ...], settings: tuple[str, ...], *, reading: ReadOptions, method: str,
    norm: str | None, weights: tuple[str, ...], train: str | None, **options: Any,
) -> Any:  # fmt: skip
    """Rank the runs, and teach the method."""
    from idealist.fusing.fusing import Fusing

    inputs.check_inputs([*runs, train])
    parameters = shared.axes_of(settings)
    if "missing" in parameters:
        raise UsageError("--set missing is a rule of measuring", "write --missing empty, or skip")
    if norm is not None:
        parameters["norm"] = norm
    if weights:
        parameters["weights"] = _weights(weights)
    qrels = None if train is None else reading.of(train)
    return Fusing.of(inputs.runs_of(runs, reading), method, qrels=qrels, **options, **parameters)


def _weights(words: tuple[str, ...]) -> dict[str, str]:
    """Read ``RUN=W`` words."""
    found: dict[str, str] = {}
    for word in words:
        run, sign, weight = word.rpartition("=")
        if not sign or run in found:
            hint = "write --weight bm25=0.3 --weight dense=0.7"
            fault = f"is a second one of {run}" if sign else "cannot be read"
            raise UsageError(f"--weight {word!r} {fault}", hint)
        if not _is_weight(weight):
            raise UsageError(f"--weight {word} is no weight", "a weight is a number of at least 0")
        found[run] = weight
    return found


def _is_weight(written: str) -> bool:
    try:
        return to_number(written) >= 0
    except ValueError:
        return False
