"""`idealist agree`: say how far judges agree, on labels and on systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from idealist.cli import inputs
from idealist.cli import options as shared
from idealist.errors import UsageError
from idealist.notation import to_number

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions

#: The options of every verb that compares judges.
agreeing = shared.together(
    click.option("--seed", type=int, default=0, show_default=True, help="Of all random draws."),
    click.option(
        "--alpha", type=float, default=0.05, show_default=True,
        help="The level at which differences between systems are significant.",
    ),
    click.option(
        "--shared-pairs", is_flag=True,
        help="Rank the runs only by documents that both judges judged.",
    ),
    click.option(
        "--top", type=click.IntRange(2), metavar="K",
        help="How many systems are the best. Without it: a quarter, at least 5.",
    ),
    click.option(
        "--rel", metavar="GRADE[,GRADE…]",
        help="The grade from which on a document is relevant; where scales differ, one for each "
        "judge, in order: 1,2.",
    ),
)  # fmt: skip


@click.command("agree")
@click.argument("a")
@click.argument("b")
@click.argument("runs", nargs=-1)
@agreeing
@click.option(
    "--other", "others", multiple=True, metavar="FILE", help="One more judge. Repeatable."
)
@shared.measuring
@shared.reading
@shared.detailed
@shared.quietly
@shared.output
def command(
    a: str, b: str, runs: tuple[str, ...], others: tuple[str, ...], reading: ReadOptions,
    **given: Any,
) -> None:  # fmt: skip
    """Say how far judges A and B agree and, given RUNS, whether they rank systems alike.

    A and B are files of judgments, stores, or judges inside a store: labels.db#ann. A is the one
    that the others are measured by. On labels: kappa, alpha, AC1 and AC2, bias, each with an
    interval. On systems: the order of the runs, who wins, which significant differences stay, and
    by how much B's means are higher. Labels may differ while systems are ranked alike.

    \b
    Examples:
      idealist agree nist.txt model.txt
      idealist agree labels.db#human labels.db#model bm25.run dense.run -m nDCG@10
      idealist agree binary.txt graded.txt --rel 1,2
      idealist agree ann.txt bob.txt --other model.txt -f json
    """
    inputs.check_inputs([a, b, *others, *runs])
    compare_judges([a, b, *others], runs, reading, **given)


def compare_judges(
    judges: list[str], runs: tuple[str, ...], reading: ReadOptions, *, measures: tuple[str, ...],
    settings: tuple[str, ...], rel: str | None, form: str, output: Any, quiet: bool, details: bool,
    **given: Any,
) -> None:  # fmt: skip
    """Compare judges as their options say, and show what was found."""
    from idealist.formats import read_qrels
    from idealist.judging.agreeing.agreement import agreement

    a, b, *others = (read_qrels(reading.of(one)) for one in judges)
    rules = shared.axes_beside(settings, given, "agree")
    found = agreement(
        a, b, inputs.runs_of(runs, reading), measures or None, others=others, rel=rel_of(rel),
        names=judge_names(judges), **given, **rules,
    )  # fmt: skip
    shared.emit(found, form, output, quiet, details)


def judge_names(words: list[str]) -> list[str]:
    """Name judges after their files, or as a store does.

    >>> judge_names(["a/qrels.txt", "b/qrels.txt", "model.txt"])
    ['a/qrels', 'b/qrels', 'model']
    """
    from idealist.formats.source import distinct, run_names
    from idealist.formats.stored_judgments import store_address

    addresses = [store_address(word) for word in words]
    own = [address.only if address else "" for address in addresses]
    files = iter(run_names([word for word, name in zip(words, own, strict=True) if not name]))
    return distinct([name or next(files) for name in own])


def rel_of(words: str | None) -> float | list[float] | None:
    """Read one threshold, or one for each judge."""
    if words is None:
        return None
    try:
        found = [float(to_number(word.strip())) for word in words.split(",")]
    except ValueError:
        hint = "write a grade, or one for each judge: --rel 1,2"
        raise UsageError(f"--rel {words!r} cannot be read", hint) from None
    return found if len(found) > 1 else found[0]
