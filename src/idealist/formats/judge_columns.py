"""Tables with a column for each judge, as in ``query,document,ann,bob``: made a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from idealist.formats.column_names import spelt
from idealist.formats.reading import Reading

#: What the new column of judges is called.
EACH = "each of these"


def unfolded(
    columns: Mapping[Any, list[Any]], lines: list[int] | None, reading: Reading
) -> tuple[Mapping[Any, list[Any]], list[int] | None, Reading]:
    """Make a row of each judge's grade, where a user names several columns of grades.

    >>> from idealist.errors import Faults
    >>> from idealist.formats.reading import ReadOptions
    >>> told = Reading("grade", Faults(), ReadOptions({"grade": ["ann", "bob"]}))
    >>> unfolded({"q": ["q1"], "d": ["d1"], "ann": [2], "bob": [0]}, None, told)[0]
    {'q': ['q1', 'q1'], 'd': ['d1', 'd1'], 'ann + bob': [2, 0], 'each of these': ['ann', 'bob']}
    """
    told = reading.told("grade") if reading.value == "grade" else []
    alike = (spelt(columns, theirs) for theirs in told)
    judges = list(dict.fromkeys(found[0] for found in alike if len(found) == 1))
    if len(judges) < 2:
        return columns, lines, reading
    reading.check_given(list(columns))
    if (other := reading.ours(columns).get("judge")) is not None:
        message = (
            f"{other} names the judges, but {', '.join(map(str, judges))} are each to be a grade"
        )
        reading.faults.fail("bad-column", message, "name one column of grades")
    rows, grades = range(len(columns[judges[0]])), " + ".join(map(str, judges))
    kept = {name: column for name, column in columns.items() if name not in judges}
    made = {name: [cell for cell in column for _ in judges] for name, column in kept.items()}
    made[grades] = [columns[judge][i] for i in rows for judge in judges]
    made[EACH] = [str(judge) for _ in rows for judge in judges]
    named = {**reading.options.columns, "grade": grades, "judge": EACH}
    repeated = None if lines is None else [line for line in lines for _ in judges]
    return made, repeated, replace(reading, options=replace(reading.options, columns=named))
