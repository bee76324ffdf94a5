"""Known values of queries, as people keep them and as trec_eval prints them."""

from __future__ import annotations

from collections.abc import Iterable

from idealist.errors import Faults, IdealistError, UsageError
from idealist.formats.source import Source
from idealist.measures import Measure, parse

#: What stands in place of a query before the value of all.
ALL = "all"


def read_values(path: str, measure: Measure) -> dict[str, str]:
    """Read the text of each query's value, and of all together, from a file.

    Lines are ``query<TAB>value`` with or without a header, or ``measure query value`` as trec_eval
    prints them with ``-q``, of which those of the measure count.
    """
    source = Source.of(path)
    lines = source.text(source.data()).decode().splitlines()
    rows = [
        (i, line.split("\t") if "\t" in line else line.split()) for i, line in enumerate(lines, 1)
    ]
    rows = [(i, [cell.strip() for cell in row]) for i, row in rows if any(map(str.strip, row))]
    faults = Faults(source.name)
    for i, row in rows:
        if len(row) not in (2, 3):
            hint = "lines are query<TAB>value, or measure, query and value"
            faults.add("columns", f"{len(row)} columns in {' '.join(row)[:60]!r}", hint, i)
    faults.check()
    if rows and not _is_number(rows[0][1][-1]):
        rows = rows[1:]  # a header
    found: dict[str, str] = {}
    for i, (query, value) in _of_measure(rows, measure, source.name):
        if not _is_number(value):
            faults.add("bad-column", f"{value!r} is not a value", "give a number", i)
        elif found.setdefault(query, value) != value:
            faults.add("contradiction", f"query {query!r} has two values", "keep one of them", i)
    faults.check()
    if not found:
        faults.fail("empty", "there are no values", "give at least one query and its value")
    return found


def _of_measure(
    rows: Iterable[tuple[int, list[str]]], measure: Measure, name: str
) -> list[tuple[int, tuple[str, str]]]:
    """Keep the lines of a measure, where lines say which measure they are of."""
    kept, others = [], {}
    for i, row in rows:
        if len(row) == 2 or _same(row[0], measure):
            kept.append((i, (row[-2], row[-1])))
        else:
            others[row[0]] = i
    if not kept and others:
        known = ", ".join(list(others)[:10])
        raise UsageError(f"{name} has no values of {measure}", f"it has those of {known}")
    return kept


def _same(name: str, measure: Measure) -> bool:
    """Whether a tool's name means a measure, its parameters apart."""
    try:
        other = parse(name)
    except IdealistError:
        return False
    return (other.name, other.cutoff) == (measure.name, measure.cutoff)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
