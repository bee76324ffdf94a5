"""`idealist measures`, `conventions` and `signature`: look up what there is, and what differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from idealist.cli.options import emit, output
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.conventions.signature import Signature


@click.command("measures")
@click.argument("name", required=False)
@click.option("--search", "word", metavar="WORD", help="List those that mention a word.")
@click.option("--tool", metavar="TOOL", help="List what another tool calls them.")
@output
def measures(name: str | None, word: str | None, tool: str | None, **shown: Any) -> None:
    """List the measures, or explain the measure NAME, in any tool's spelling.

    \b
    Examples:
      idealist measures
      idealist measures nDCG
      idealist measures ndcg_cut -f json
      idealist measures --search recall
      idealist measures --tool ranx
    """
    from idealist.conventions import describe

    if sum(given is not None for given in (name, word, tool)) > 1:
        raise UsageError("a name, --search and --tool are three questions", "ask one of them")
    if tool is not None:
        found = describe.names_of(tool)
    elif name is not None:
        found = describe.explained(describe.describe(name))
    else:
        found = describe.listing(describe.describe_all() if word is None else describe.search(word))
    emit(found, **shown)


@click.command("conventions")
@click.argument("names", nargs=-1, metavar="[NAME [OTHER]]")
@click.option(
    "--all", "everything", is_flag=True, help="Show every axis, not only those that differ."
)
@output
def conventions(names: tuple[str, ...], everything: bool, **shown: Any) -> None:
    """List the conventions; or show how NAME differs from the default, or from OTHER.

    Evidence says how we know: the tool runs in our tests (live), values it printed are checked
    (recorded), or its source or paper was read (derived).

    \b
    Examples:
      idealist conventions
      idealist conventions sklearn
      idealist conventions sklearn ranx
      idealist conventions trec_eval --all
    """
    from idealist.conventions import DEFAULT, describe

    if len(names) > 2:
        raise UsageError("more than two conventions", "name one, or two to compare them")
    other = (*names, DEFAULT)[1] if names else ""
    found = describe.compared(names[0], other, everything) if names else describe.listed()
    emit(found, **shown)


@click.group("signature")
def signature() -> None:
    """Compare or expand signatures: what a number was made with.

    \b
    Example:
      idealist signature expand 'nDCG@10|trec_eval|qrels:2057cbf8e7|rules:1'
    """


@signature.command("diff")
@click.argument("a")
@click.argument("b")
@output
def diff(a: str, b: str, **shown: Any) -> None:
    """Show the axes in which the signatures A and B differ, and what that means.

    A and B are signatures, long or short, or JSON files that hold some: what `eval -f json` or
    `Evaluation.save()` wrote. Two numbers are comparable if nothing differs.

    \b
    Example:
      idealist signature diff 'nDCG@10|trec_eval|qrels:2057cbf8e7|rules:1' \\
                              'nDCG@10|sklearn|qrels:2057cbf8e7|rules:1'
    """
    from idealist.conventions.signature_diff import SignatureDiff

    emit(SignatureDiff.of(_read(a), _read(b)), **shown)


@signature.command("expand")
@click.argument("text")
@output
def expand(text: str, **shown: Any) -> None:
    """Show every axis of the signature TEXT.

    \b
    Example:
      idealist signature expand 'nDCG@10|trec_eval|qrels:2057cbf8e7|rules:1'
    """
    from idealist.conventions.signature import Signature
    from idealist.rendering.document import Table
    from idealist.rendering.result import Listing

    fields = Signature.parse(text).fields
    table = Table.of(["axis", "value"], [], list(fields.items()))
    emit(Listing(f"a signature of {len(fields)} axes", (table,), fields), **shown)


def _read(given: str) -> dict[str, Signature]:
    """Read a signature, or all those of a JSON file."""
    from idealist.conventions.signature import Signature
    from idealist.conventions.signature_diff import measure_of

    if "|" in given:
        one = Signature.parse(given)
        return {measure_of(one): one}
    try:
        texts = json.loads(Path(given).read_text("utf-8"))["signatures"]
        found = [Signature.parse(text) for text in texts.values()]
        return {measure_of(one): one for one in found}
    except OSError as error:
        hint = "give a signature, which has |, or a JSON file that holds some"
        raise UsageError(f"{given} cannot be read: {error.strerror}", hint) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        hint = "give a file that eval -f json or Evaluation.save() wrote"
        raise UsageError(f"{given} holds no signatures", hint) from None
