"""What a judge sees: a query, a document, the grades to choose from, and what others said."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from idealist.data import Scale
from idealist.data.columns import to_float
from idealist.errors import UsageError
from idealist.formats.grade_words import by_word, folded
from idealist.judging.store_records import Judgment, Task
from idealist.notation import tidy
from idealist.rendering.document import Block, Document, Heading, Items, Table, Text
from idealist.rendering.plain_data import records_table
from idealist.rendering.result import Result
from idealist.rendering.wording import counted, few, seen, visible

#: What is shown in the place of a text that is not there.
NO_TEXT = "(the store has no text of this document: idealist judge add STORE --docs PATH)"


@dataclass(frozen=True, repr=False)
class PairView(Result):
    """A pair that is a judge's turn, or None where nothing is left; `left` counts the pairs.

    `opinions` is what others said of it, which only who adjudicates is shown. Where all that is
    left is on the tables of others, `held` names them, and until when.
    """

    judge: str
    task: Task | None
    left: int
    scale: Scale | None = None
    guidelines: str = ""
    opinions: Sequence[Judgment] = ()
    held: Sequence[tuple[str, float]] = ()

    @property
    def summary(self) -> str:
        """What is to be judged, in one sentence."""
        if self.task is None and self.held:
            pairs = counted(self.left, "pair is", "pairs are")
            return f"nothing is free for {self.judge}: {pairs} held by {self._holders}"
        if self.task is None:
            return f"nothing is left to judge for {self.judge}"
        pair = f"document {visible(self.task.document)} for query {visible(self.task.query)}"
        return f"{self.judge} judges {pair} next; {counted(self.left, 'pair', 'pairs')} left"

    @property
    def _holders(self) -> str:
        until = time.strftime("%H:%M", time.localtime(max(until for _, until in self.held)))
        return f"{few([judge for judge, _ in self.held])}, until {until} at the latest"

    @property
    def advice(self) -> str:
        """What to do where there is no pair."""
        if self.held:
            return "ask again when they have judged, or later"
        return "choose more with idealist judge pool; idealist judge status says who did what"

    def report(self) -> Document:
        """Show the query, the document, what others said, and the scale."""
        if self.task is None:
            answer = f"{self.summary[:1].upper()}{self.summary[1:]}."
            hint = f"{self.advice[:1].upper()}{self.advice[1:]}."
            return Document((Text(answer, strong=True), Text(hint)))
        return Document((*self.pair_blocks(), *self.rule_blocks()))

    def pair_blocks(self) -> Iterator[Block]:
        """Show the query, the document, and what others said of it."""
        task = self.task
        if task is None:
            return
        words = f": {seen(task.query_text)}" if task.query_text else ""
        yield Text(f"query {visible(task.query)}{words}", strong=True)
        title = f": {seen(task.text.title)}" if task.text and task.text.title else ""
        yield Heading(f"document {visible(task.document)}{title}")
        yield Text(seen(task.text.text if task.text else NO_TEXT))
        if task.put_off:
            yield Text("You put it off before.")
        if self.opinions:
            yield Items(tuple(map(said, self.opinions)))

    def rule_blocks(self) -> Iterator[Block]:
        """Show the grades, and by which rules they are given."""
        if self.guidelines:
            yield Text(seen(self.guidelines))
        yield Text(f"Grades: {scale_words(self.scale)}.")

    def table(self) -> Table:
        """Return the pair as one row for programs; none where nothing is left."""
        task = self.data()["task"]
        return records_table([task] if task else [])

    def data(self) -> Any:
        """Return it as plain data; the task is null where nothing is left."""
        task = self.task and {
            "query": self.task.query, "query_text": self.task.query_text,
            "document": self.task.document, "batch": self.task.batch,
            "title": self.task.text.title if self.task.text else None,
            "text": self.task.text.text if self.task.text else None,
            "put_off": self.task.put_off,
        }  # fmt: skip
        grades = self.scale.grades if self.scale else ()
        labels = self.scale.labels if self.scale and self.scale.labels else [None] * len(grades)
        pairs = zip(map(tidy, grades), labels, strict=True)
        return {
            "judge": self.judge, "left": self.left, "task": task,
            "held": [{"judge": judge, "until": round(until)} for judge, until in self.held],
            "scale": [{"grade": grade, "label": label} for grade, label in pairs],
            "guidelines": self.guidelines,
        }  # fmt: skip


def said(judgment: Judgment) -> str:
    """Say what a judge said, with the note.

    >>> said(Judgment("q1", "d1", 2, "ann", note="the second part only"))
    'ann: 2 (the second part only)'
    """
    grade = judgment.status if judgment.grade is None else str(tidy(judgment.grade))
    note = f" ({seen(judgment.note)})" if judgment.note else ""
    return f"{visible(judgment.judge)}: {grade}{note}"


def scale_words(scale: Scale | None) -> str:
    """Name the grades on one line.

    >>> scale_words(Scale.of({0: "off topic", 1: "answers"})), scale_words(Scale.of(2))
    ('0 off topic, 1 answers', '0, 1, 2')
    """
    if scale is None:
        return "any number"
    return ", ".join(f"{tidy(grade)} {seen(label)}".strip() for grade, label in scale.pairs)


def read_grade(word: str, scale: Scale | None) -> float:
    """Read a grade or its label; refuse what is not on the scale.

    >>> read_grade("Off-topic", Scale.of({0: "off topic", 1: "answers"}))
    0.0
    """
    grades = {folded(label): grade for label, grade in by_word(scale).items()} if scale else {}
    try:
        grade = float(grades[folded(word)] if folded(word) in grades else to_float(word))
    except ValueError:
        raise UsageError(f"{word!r} is not a grade", f"give {scale_words(scale)}") from None
    if not math.isfinite(grade) or (scale is not None and grade not in scale.grades):
        raise UsageError(f"{word} is not a grade of the scale", f"give {scale_words(scale)}")
    return grade
