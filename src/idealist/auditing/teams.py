"""Teams: which group sent which run, so that a pool can be looked at without all of its runs."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from idealist.errors import Faults, UsageError
from idealist.formats.source import Source


def read_teams(data: Any) -> dict[str, str]:
    """Read the team of each run: {run: team}, or a file of it.

    A file holds JSON, ``run<TAB>team`` lines, or columns (CSV, TSV) with a header that names
    ``run`` and ``team``.

    >>> read_teams({"bm25": "a", "dense": "a"})
    {'bm25': 'a', 'dense': 'a'}
    """
    if not isinstance(data, (Mapping, str, Path)):
        raise UsageError(f"teams={data!r:.60} is no such thing", "give {run: team}, or a file")
    if not isinstance(data, Mapping):
        source = Source.of(data)
        data = _of_text(source.text(source.data()).decode(), Faults(source.name))
    return {str(run): str(team) for run, team in data.items()}


def _of_text(text: str, faults: Faults) -> Mapping[Any, Any]:
    if text.lstrip().startswith("{"):
        try:
            return dict(json.loads(text))
        except ValueError as error:
            faults.fail("json", f"this is not valid JSON: {error}", "give {run: team}")
    lines = text.splitlines()
    sign = "\t" if "\t" in text else ","
    rows = list(csv.reader(lines, delimiter=sign))
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if {"run", "team"} <= set(head):
        run, team = head.index("run"), head.index("team")
        rows = rows[1:]
    else:
        run, team = 0, 1
    for number, row in enumerate(rows, 1 + len(lines) - len(rows)):
        if row and len(row) <= max(run, team):
            faults.add("columns", f"no team in {','.join(row)!r}", "lines are run<TAB>team", number)
    faults.check()
    return {row[run].strip(): row[team].strip() for row in rows if row}
