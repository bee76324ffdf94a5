"""trec_eval's lines: a label of 22 characters, the query, the value with four digits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from idealist.dropin.registry import Column

#: Stands for the query where a line is prepared for all of them; no id holds it.
_QUERY = "\x00"


def query_lines(
    columns: Sequence[Column], queries: Sequence[str], cells: Sequence[Sequence[object]], z: bool
) -> Iterator[str]:
    """Give the lines of each query; `cells` holds a column of values for each of `columns`."""
    form = "".join(_line(one, z) for one in columns)
    for query, *values in zip(queries, *cells, strict=True):
        yield form.replace(_QUERY, query.replace("%", "%%")) % tuple(values)


def _line(column: Column, z: bool) -> str:
    label = column.label.replace("%", "%%")
    if column.length or column.entry.name == "relstring":
        return f"{label:<22}\t{_QUERY}\t'%s'\n"
    value = "%d" if column.entry.is_count and not z else "%6.4f"
    return f"{'Z' if z else ''}{label:<22}\t{_QUERY}\t{value}\n"


def summary_line(label: str, value: str | int | float, z: bool = False) -> str:
    """Give a line over all queries."""
    shown = f"{value:6.4f}" if isinstance(value, float) else str(value)
    return f"{'Z' if z else ''}{label:<22}\tall\t{shown}\n"
