"""A run's file, with the rows of some queries remembered: several checks look at the same ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields

from idealist.data import Rows, Run
from idealist.formats.run_sources import FileRun


@dataclass(frozen=True)
class RememberedRun(FileRun):
    """A file that stays a file, but for the queries whose rows were read."""

    known: list[Rows] = field(default_factory=list, compare=False)

    def some(self, queries: Collection[str]) -> Rows:
        """Read the rows of some queries, unless they were read."""
        for rows in self.known:
            if {*queries} <= {*rows.queries}:
                return rows.some(queries)
        return super().some(queries)


def remembering(run: Run, most: int) -> Run:
    """Let a run that is a file remember rows; one of no more bytes than `most` is read now."""
    file = run.source
    if type(file) is not FileRun:
        return run
    same = {one.name: getattr(file, one.name) for one in fields(file)}
    return Run(RememberedRun(**{**same, "source": file.source.kept(most)}), run.name)


def bytes_held(run: Run) -> int:
    """Count the bytes of a file that is kept in memory."""
    return len(run.source.source.spooled) if isinstance(run.source, FileRun) else 0


def remember(run: Run, queries: Collection[str]) -> int:
    """Read the rows of some queries of a file once, for all checks to come; count them."""
    if not isinstance(run.source, RememberedRun):
        return 0
    run.source.known.append(rows := run.source.some(list(dict.fromkeys(queries))))
    return len(rows)


def forget(runs: Iterable[Run]) -> None:
    """Let go of the rows that were remembered."""
    for run in runs:
        if isinstance(run.source, RememberedRun):
            run.source.known.clear()
