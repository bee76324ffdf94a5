"""`idealist judge agree`: say how far the judges of a store agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from idealist.cli import options
from idealist.cli.agree import agreeing, compare_judges
from idealist.errors import UsageError

if TYPE_CHECKING:
    from idealist.formats.reading import ReadOptions


@click.command("agree")
@click.argument("store")
@click.argument("runs", nargs=-1)
@agreeing
@options.measuring
@options.reading
@options.detailed
@options.quietly
@options.output
def agree(store: str, runs: tuple[str, ...], reading: ReadOptions, **given: Any) -> None:
    """Say how far the judges in STORE agree and, given RUNS, whether they rank systems alike.

    People come first, models last, and those who judged most before others; the first judge is the
    one that the others are measured by. `idealist agree` compares judges that you name.

    \b
    Examples:
      idealist judge agree labels.db
      idealist judge agree labels.db bm25.run dense.run -m nDCG@10
    """
    from idealist.judging.store import Store

    with Store.to_read(store) as opened:
        judges = opened.judges
    if len(judges) < 2:
        who = f"one judge only, {judges[0]}" if judges else "no judge yet"
        hint = f"compare with another file: idealist agree {store} OTHER"
        raise UsageError(f"{store} has {who}", hint)
    compare_judges([f"{store}#{judge}" for judge in judges], runs, reading, **given)
