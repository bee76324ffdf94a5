"""The team of each run: from a table, lines or JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from idealist.errors import Faults, UsageError
from idealist.formats import delimited, json_text
from idealist.formats.column_names import RUN_NAMES, TEAM_NAMES, known
from idealist.formats.source import Source

HINT = "lines are run,team; other columns need a header that names run and team"


def read_teams(data: Any) -> dict[str, str]:
    """Read the team of each run: {run: team}, or a file of it.

    A file holds columns (CSV, TSV) with a header that names the run and the team, lines of a run
    and a team without one, or JSON: {"run": "team"}, or records with a run and a team.

    >>> read_teams({"bm25": "a", "dense": "a"})
    {'bm25': 'a', 'dense': 'a'}
    """
    if isinstance(data, Mapping):
        return {str(run): str(team) for run, team in data.items()}
    if not isinstance(data, (str, Path)):
        raise UsageError(f"cannot read teams from {data!r:.60}", "give {run: team}, or a file")
    source = Source.of(data)
    text, faults = source.read(), Faults(source.name)
    if text.lstrip()[:1] in (b"{", b"["):
        held = json_text.load(text, source.name)
        if isinstance(held, Mapping):
            return {run: str(team) for run, team in held.items()}
        return _of_rows(_records(held), faults)
    return _of_rows(_rows(text, faults), faults)


def _rows(text: bytes, faults: Faults) -> Iterable[tuple[int, str | None, str | None]]:
    """Find the line, the run and the team of each row."""
    for header in delimited.headers(text).values():
        names = header.names
        run, team = (next(iter(known(names, some)), None) for some in (RUN_NAMES, TEAM_NAMES))
        if run is not None and team is not None:
            columns, lines = delimited.read(text, header, faults)
            return zip(lines, columns[run], columns[team], strict=True)
    return _unnamed(text.decode().splitlines(), faults)


def _records(held: list[Any]) -> Iterator[tuple[int | None, str | None, str | None]]:
    """Find the run and the team of each record."""
    for one in held:
        own = one if isinstance(one, Mapping) else {}
        run, team = (next(iter(known(own, some)), "") for some in (RUN_NAMES, TEAM_NAMES))
        yield None, _cell(own.get(run)), _cell(own.get(team))


def _cell(value: Any) -> str | None:
    return None if value is None else str(value)


def _unnamed(lines: list[str], faults: Faults) -> Iterator[tuple[int, str, str]]:
    """Split lines without a header: a run and a team."""
    sign = "\t" if any("\t" in line for line in lines) else ","
    for number, line in enumerate(lines, 1):
        cells = next(csv.reader([line], delimiter=sign), [])
        if len(cells) == 2:
            yield number, cells[0], cells[1]
        elif cells:
            faults.add("columns", f"{line[:60]!r} is not a run and a team", HINT, number)


def _of_rows(
    rows: Iterable[tuple[int | None, str | None, str | None]], faults: Faults
) -> dict[str, str]:  # fmt: skip
    found: dict[str, str] = {}
    for line, *cells in rows:
        run, team = (cell.strip() if cell else "" for cell in cells)
        if not run or not team:
            lacking = f"run {run!r} has no team" if run else f"team {team!r} has no run"
            faults.add("columns", lacking, HINT, line)
        elif found.setdefault(run, team) != team:
            message = f"run {run!r} is of team {team!r} here and of {found[run]!r} before"
            faults.add("columns", message, "give each run one team", line)
    faults.check()
    return found
