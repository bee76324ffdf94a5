"""`idealist judge status` and `judge doctor`: how far judging is, and whether a store is sound."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from idealist.cli import options

EXIT_UNSOUND = 1


@click.command("status")
@click.argument("store", type=click.Path(path_type=Path))
@options.output
def status(store: Path, **view: Any) -> None:
    """Say how far judging is: what is judged and what is left, by whom, how fast, at what cost.

    \b
    Examples:
      idealist judge status labels.db
      idealist judge status labels.db -f json
    """
    from idealist.judging.store import Store
    from idealist.judging.store_status import StoreStatus

    with Store.to_read(store) as opened:
        found = StoreStatus.of(opened)
    options.emit(found, **view)


@click.command("doctor")
@click.argument("store", type=click.Path(path_type=Path))
@options.output
def doctor(store: Path, **view: Any) -> None:
    """Check that STORE is sound: its file, its rows, and the SQLite that reads it.

    Nothing is changed. The exit code is 1 if something is wrong.

    \b
    Example:
      idealist judge doctor labels.db
    """
    from idealist.judging.store_health import examine

    found = examine(store)
    options.emit(found, **view)
    if not found.is_sound:
        sys.exit(EXIT_UNSOUND)
