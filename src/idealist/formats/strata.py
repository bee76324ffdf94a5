"""TREC's judged samples of a pool: files of five columns, with strata or with probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealist.data import Qrels, Scale
from idealist.errors import Faults
from idealist.formats.source import Source
from idealist.formats.trec import number_of, rows

#: The grade that prels give a document that was not judged.
NOT_JUDGED = -999
#: How prels name the ways to choose a document: by chance, or for certain, or both.
BY_CHANCE, FOR_CERTAIN = frozenset({"1", "2", "4"}), frozenset({"0", "2"})


def read_strata(path: str | Path, *, scale: Any = None, name: str = "") -> Qrels:
    """Read a sample by stratum: lines of query, iteration, document, stratum and grade.

    This is what NIST's sample_eval reads. Every document of the pool has a line; a negative grade
    says that it was not drawn. The strata are the judgments' column `stratum`, which xinfAP and
    infNDCG need, and statAP takes.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "sample.txt").write_text("1 0 a top 2\\n1 0 b deep -1")
    ...     read_strata(Path(folder, "sample.txt")).columns["stratum"]
    ('top', 'deep')
    """
    table = Columns.of(path, "query iteration document stratum grade")
    return Qrels.build(
        table["query"], table["document"], table.numbers("grade"),
        columns={"stratum": table["stratum"]}, lines=table.lines, name=name or table.file,
        scale=None if scale is None else Scale.of(scale),
    )  # fmt: skip


def read_prels(path: str | Path, *, scale: Any = None, name: str = "") -> Qrels:
    """Read a sample by probability: lines of query, document, grade, method and probability.

    These are the prels of TREC's Million Query tracks. The probabilities are the judgments' column
    `inclusion`, which statAP takes. As in its script, a document chosen by method 0 or 2 is certain
    to be included; left out are documents with the grade -999, or without a probability above 0 and
    up to 1, and queries where nothing was chosen by method 1, 2 or 4.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "prels.txt").write_text("1 a 1 1 0.25\\n1 b 0 2 0.5\\n1 c 0 1 NA")
    ...     read_prels(Path(folder, "prels.txt")).columns["inclusion"].tolist()
    [0.25, 1.0]
    """
    table = Columns.of(path, "query document grade method inclusion")
    grade, chance = table.numbers("grade"), table.numbers("inclusion", NA=0.0)
    query, method = table["query"], table["method"]
    drawn = [i for i, p in enumerate(chance) if 0 < p <= 1 and grade[i] > NOT_JUDGED]
    sampled = {query[i] for i in drawn if method[i] in BY_CHANCE}
    kept = [i for i in drawn if query[i] in sampled]
    return Qrels.build(
        [query[i] for i in kept], [table["document"][i] for i in kept], [grade[i] for i in kept],
        columns={"inclusion": [1.0 if method[i] in FOR_CERTAIN else chance[i] for i in kept]},
        lines=[table.lines[i] for i in kept], name=name or table.file,
        scale=None if scale is None else Scale.of(scale),
    )  # fmt: skip


@dataclass(frozen=True)
class Columns:
    """The columns of a file, and the line that each of their cells stands on."""

    file: str
    names: str
    cells: dict[str, list[str]]
    lines: list[int]

    @classmethod
    def of(cls, path: str | Path, names: str) -> Columns:
        """Divide lines at blanks."""
        source = Source.of(path)
        faults, found = Faults(source.name), list(rows(source.read().split(b"\n"), 5))
        for line, row in found:
            if len(row) != 5:
                message = f"{len(row)}{' or more' * (len(row) > 5)} columns, 5 expected"
                faults.add("columns", message, f"lines are: {names}", line)
        faults.check()
        cells = {
            name: [row[i].decode() for _, row in found] for i, name in enumerate(names.split())
        }
        return cls(source.name, names, cells, [line for line, _ in found])

    def __getitem__(self, name: str) -> list[str]:
        return self.cells[name]

    def numbers(self, name: str, **words: float) -> list[float]:
        """Give a column of finite numbers, for some of which there are words."""
        faults, found = Faults(self.file), []
        for line, cell in zip(self.lines, self[name], strict=True):
            number = words[cell] if cell in words else number_of(cell.encode())
            if number is None or not math.isfinite(number):
                code = "bad-grade" if name == "grade" else "bad-column"
                message = f"{name} {cell!r} is not a finite number"
                faults.add(code, message, f"lines are: {self.names}", line)
            else:
                found.append(number)
        faults.check()
        return found
