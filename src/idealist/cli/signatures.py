"""`idealist signature`: compare or expand signatures of numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from idealist.cli.options import output, write
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.conventions.signature import Signature


@click.group("signature")
def command() -> None:
    """Compare or expand signatures: what a number was made with.

    \b
    Example:
      idealist signature expand 'nDCG@10|trec_eval|qrels:2057cbf8e7|rules:1'
    """


@command.command("diff")
@click.argument("a")
@click.argument("b")
@output
def diff(a: str, b: str, form: str, output: Path | None) -> None:
    """Show the axes in which the signatures A and B differ, and what that means.

    A and B are signatures, long or short, or JSON files that hold some: what `eval -f json` or
    `Evaluation.save()` wrote. Two numbers are comparable if nothing differs.

    \b
    Example:
      idealist signature diff 'nDCG@10|trec_eval|qrels:2057cbf8e7|rules:1' \\
                              'nDCG@10|sklearn|qrels:2057cbf8e7|rules:1'
    """
    from idealist.conventions.axis_words import meaning
    from idealist.report.draw import FORMATS, Grid

    found = {label: one.diff(other) for label, one, other in _paired(_read(a), _read(b))}
    if form == "json":
        write(json.dumps(found, indent=1, ensure_ascii=False), output)
        return
    rows = [
        [label, axis, *pair, meaning(axis)]
        for label, axes in found.items()
        for axis, pair in axes.items()
    ]
    same = [label for label, axes in found.items() if not axes]
    headers = ["measure", "axis", "A", "B", "what it means"]
    grid = FORMATS[form](Grid(headers, rows, words=5)) if rows else ""
    words = [f"{label}: the signatures agree" for label in same] if form == "table" else []
    write("\n".join(filter(None, [grid, *words])), output)


@command.command("expand")
@click.argument("text")
@output
def expand(text: str, form: str, output: Path | None) -> None:
    """Show every axis of the signature TEXT.

    \b
    Example:
      idealist signature expand 'nDCG@10|trec_eval|qrels:2057cbf8e7|rules:1'
    """
    from idealist.conventions.signature import Signature
    from idealist.report.draw import FORMATS, Grid

    fields = Signature.parse(text).fields
    if form == "json":
        write(json.dumps(fields, indent=1, ensure_ascii=False), output)
    else:
        rows = [list(pair) for pair in fields.items()]
        write(FORMATS[form](Grid(["axis", "value"], rows, words=2)), output)


def _read(given: str) -> dict[str, Signature]:
    """Read a signature, or all those of a JSON file."""
    from idealist.conventions.signature import Signature

    if "|" in given:
        one = Signature.parse(given)
        return {_name(one): one}
    try:
        texts = json.loads(Path(given).read_text("utf-8"))["signatures"]
        found = [Signature.parse(text) for text in texts.values()]
        return {_name(one): one for one in found}
    except OSError as error:
        hint = "give a signature, which has |, or a JSON file that holds some"
        raise UsageError(f"{given} cannot be read: {error.strerror}", hint) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        hint = "give a file that eval -f json or Evaluation.save() wrote"
        raise UsageError(f"{given} holds no signatures", hint) from None


def _name(signature: Signature) -> str:
    fields = signature.fields
    return fields["measure"] + ("" if fields["cutoff"] == "none" else f"@{fields['cutoff']}")


def _paired(
    a: dict[str, Signature], b: dict[str, Signature]
) -> list[tuple[str, Signature, Signature]]:
    """Pair the signatures of equal measures, or the only ones of both."""
    if len(a) == len(b) == 1:
        return [(next(iter(a)), next(iter(a.values())), next(iter(b.values())))]
    common = [label for label in a if label in b]
    if not common:
        hint = f"A has {', '.join(a)}; B has {', '.join(b)}"
        raise UsageError("the two have no measure in common", hint)
    return [(label, a[label], b[label]) for label in common]
