"""Judgments that were made elsewhere, taken into a store: who said what stays apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from idealist.errors import Faults
from idealist.formats.judge_rows import JudgeRow, read_judge_rows
from idealist.judging.store import Store
from idealist.judging.store_records import Judgment
from idealist.notation import tidy
from idealist.rendering.document import Document, Table, Text
from idealist.rendering.plain_data import records_table
from idealist.rendering.result import Result
from idealist.rendering.wording import counted, few, visible

Key = tuple[str, str, str]


@dataclass(frozen=True, repr=False)
class ImportedJudgments(Result):
    """What an import did: judgments that were new, that changed, and that were there already."""

    name: str
    new: int
    changed: int
    same: int
    judges: tuple[str, ...]

    @property
    def summary(self) -> str:
        """What was added, in one sentence."""
        if not self.judges:
            return f"Nothing new: {self.name} holds no judgments"
        if not self.new and not self.changed:
            return f"Nothing new: {self._known} {self.name} {self._were} there already"
        said = [f"{counted(self.new, 'judgment', 'judgments')} of {self.name} added"]
        said += [f"{self.changed:,} changed"] if self.changed else []
        said += [f"{self.same:,} there already"] if self.same else []
        return ", ".join(said)

    @property
    def _known(self) -> str:
        return "the judgment of" if self.same == 1 else f"all {self.same:,} judgments of"

    @property
    def _were(self) -> str:
        return "was" if self.same == 1 else "were"

    def report(self) -> Document:
        """Say what was added, and whose judgments they are."""
        who = few([visible(judge) for judge in self.judges])
        several = "Judge" if len(self.judges) == 1 else "Judges"
        named = [Text(f"{several}: {who}.")] if self.judges else []
        return Document((Text(f"{self.summary}.", strong=True), *named))

    def table(self) -> Table:
        """Return it as one row for programs."""
        return records_table([{**self.data(), "judges": " ".join(self.judges)}])

    def data(self) -> Any:
        """Return the counts as plain data."""
        return {**vars(self), "judges": list(self.judges)}


def import_judgments(
    store: Store, data: Any, *, judge: str, kind: str = "import", **reading: Any
) -> ImportedJudgments:
    """Add judgments as `read_qrels` takes them, each as its judge gave it.

    `judge` names who gave those that come without a name. What a judge said already is not added
    again, so that the same file can be imported twice; another grade replaces the earlier one.
    """
    name = (
        str(getattr(data, "path", data)) if isinstance(data, str) or hasattr(data, "path") else ""
    )
    rows = dict(_named(read_judge_rows(data, **reading), judge, name))
    with store.writing():
        known = {
            (one.query, one.document, one.judge): one.grade
            for one in store.current()
            if not one.adjudicates
        }
        other = {key: grade for key, grade in rows.items() if known.get(key) != grade}
        changed = sum(known.get(key) is not None for key in other)
        store.judge_all(
            Judgment(query, document, grade, who, kind)
            for (query, document, who), grade in other.items()
        )
    judges = tuple(sorted({who for _, _, who in rows}))
    same = len(rows) - len(other)
    return ImportedJudgments(name or "the data", len(other) - changed, changed, same, judges)


def _named(rows: Iterable[JudgeRow], judge: str, name: str) -> Iterator[tuple[Key, float]]:
    """Name the judge of each row; of several rows without a name, each is another judge's."""
    faults, first = Faults(name), dict[Key, JudgeRow]()
    unnamed: Counter[tuple[str, str]] = Counter()
    for row in rows:
        pair = row.query, row.document
        unnamed[pair] += not row.judge
        again = f"-{unnamed[pair]}" if unnamed[pair] > 1 else ""
        key = (*pair, row.judge or f"{judge}{again}")
        before = first.setdefault(key, row)
        if before.grade != row.grade:
            message = f"{key[2]} gave document {row.document!r} two grades for query {row.query!r}:"
            grades = f" {tidy(before.grade)} and {tidy(row.grade)}"
            faults.add("contradiction", message + grades, "keep one of them", row.line)
        yield key, row.grade
    faults.check()
