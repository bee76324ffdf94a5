"""A sitting: one judge sees pairs one after the other, and says something of each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from idealist.errors import UsageError, nearest
from idealist.formats.document_entries import DocumentText
from idealist.formats.stored_judgments import Pair
from idealist.judging.disputes import Dispute, Disputes
from idealist.judging.pair_views import PairView, read_grade
from idealist.judging.store import Store, text_hash
from idealist.judging.store_records import Judgment, Task
from idealist.judging.turns import Turns
from idealist.notation import tidy
from idealist.rendering.wording import counted, visible

#: What can be typed beside a grade.
KEYS = "? cannot tell, l later, u undo, n note, q quit"
DECIDING_KEYS = KEYS.replace("later", "leave it open")
#: What was done at a sitting, in words.
WORDS = {
    "graded": "graded", "cannot tell": "cannot tell", "later": "put off", "open": "left open",
}  # fmt: skip


@dataclass
class Sitting:
    """What a judge does at one sitting; everything said is in the store at once.

    A pair stays on the table until something is said of it. `timed` says whether the time between
    showing and saying is that of a person. A note waits for a judgment of the pair it was made on.
    """

    store: Store
    judge: str
    batch: int | None = None
    judgments: int = 1
    timed: bool = False
    done: Counter[str] = field(default_factory=Counter)
    notes: dict[Pair, str] = field(default_factory=dict)
    over: bool = False
    _view: PairView | None = None
    _since: float = 0.0

    adjudicates: ClassVar[bool] = False
    keys: ClassVar[str] = KEYS

    @property
    def view(self) -> PairView:
        """The pair on the table."""
        if self._view is None:
            self._view, self._since = self._next(), time.monotonic()
        return self._view

    def _next(self) -> PairView:
        return next_pair(self.store, self.judge, self.batch, self.judgments)

    def _left(self) -> int:
        return pairs_left(self.store, self.judge, self.batch, self.judgments)

    def _opinions(self, query: str, document: str) -> Sequence[Judgment]:
        return ()

    def say(self, line: str) -> str:
        """Take what was typed: a grade or a key; return what to answer."""
        key, _, words = line.strip().partition(" ")
        if key == "n":
            return self._noted(words.strip())
        keys: dict[str, Callable[[], str]]
        keys = {"": str, "q": self._quit, "u": self._undo, "l": self._later, "?": self._puzzled}
        if line.strip() in keys:
            return keys[line.strip()]()
        try:
            return self._judge(read_grade(line.strip(), self.view.scale), "graded")
        except UsageError as error:
            raise UsageError(error.message, f"{error.hint}; or {self.keys}") from None

    def _quit(self) -> str:
        self.over = True
        return ""

    def _puzzled(self) -> str:
        return self._judge(None, "cannot tell")

    @property
    def prompt(self) -> str:
        """What can be typed, in short."""
        scale = self.view.scale
        grades = "a number" if scale is None else " ".join(str(tidy(one)) for one in scale.grades)
        return f"{grades} ? l u n q"

    def _noted(self, words: str) -> str:
        if (task := self.view.task) is None:
            raise UsageError("there is no pair to note this on", "u takes the last one back")
        pair = task.query, task.document
        if not (note := " ".join(filter(None, [self.notes.get(pair), words]))):
            return "type n and the words of the note"
        self.notes[pair] = note
        return f"noted: {note}"

    def _later(self) -> str:
        return self._judge(None, "later")

    def _judge(self, grade: float | None, status: str) -> str:
        if (task := self.view.task) is None:
            raise UsageError(self.view.summary, self.view.advice)
        spent = round(time.monotonic() - self._since, 1) if self.timed else None
        self._keep(task, grade, status, spent)
        self._view = None
        return ""

    def _keep(self, task: Task, grade: float | None, status: str, seconds: float | None) -> None:
        note = self.notes.get((task.query, task.document), "")
        self.store.judge(judgment_of(
            task, self.judge, grade, status, note=note, seconds=seconds,
            adjudicates=self.adjudicates,
        ))  # fmt: skip
        self.notes.pop((task.query, task.document), None)
        self.done[status] += 1

    def _undo(self) -> str:
        """Withdraw what was said last, at this sitting or before, and put the pair on the table."""
        if (undone := self.store.undo(self.judge)) is None:
            return f"{self.judge} has nothing to undo"
        self.done[undone.status] -= 1
        task = task_of(self.store, undone.query, undone.document)
        opinions = self._opinions(undone.query, undone.document)
        self._view = replace(self.view, task=task, opinions=opinions, left=self._left())
        self._since = time.monotonic()
        if undone.note:
            self.notes[undone.query, undone.document] = undone.note
        return f"{undone_words(undone)}; here it is again"

    def leave(self) -> str:
        """End the sitting, and say what was done; a note without a judgment is kept for later."""
        kept = self._keep_notes()
        with self.store.writing() as connection:  # others may have the pair on the table
            connection.execute("DELETE FROM claim WHERE judge = ?", (self.judge,))
        said = [f"{n} {WORDS[status]}" for status, n in self.done.items() if n > 0]
        left = counted(self._left(), "pair", "pairs")
        return f"{self.judge}: {', '.join(said) or 'nothing judged'}{kept}; {left} left"

    def _keep_notes(self) -> str:
        tasks = [task_of(self.store, *pair) for pair in self.notes]
        for task in tasks:
            self._keep(task, None, "later", None)
        return "".join(f"; the note is kept with {_pair(one)}, which is put off" for one in tasks)


@dataclass
class Adjudication(Sitting):
    """A sitting at which one judge decides where others disagree."""

    waiting: list[Dispute] = field(default_factory=list)
    adjudicates: ClassVar[bool] = True
    keys: ClassVar[str] = DECIDING_KEYS

    def __post_init__(self) -> None:
        self.waiting = list(Disputes.of(self.store).waiting)

    def _next(self) -> PairView:
        left, about = len(self.waiting), rules(self.store)
        if not self.waiting:
            return PairView(self.judge, None, 0, **about)
        first = self.waiting.pop(0)
        task = task_of(self.store, first.query, first.document)
        return PairView(self.judge, task, left, opinions=first.opinions, **about)

    def _left(self) -> int:
        return len(Disputes.of(self.store).waiting)

    def _opinions(self, query: str, document: str) -> Sequence[Judgment]:
        known = Disputes.of(self.store).waiting
        own = (one.opinions for one in known if (one.query, one.document) == (query, document))
        return next(own, ())

    def _later(self) -> str:
        self.done["open"] += 1  # it stays disputed
        dropped = self._keep_notes()
        self._view = None
        return dropped.removeprefix("; ")

    def _keep_notes(self) -> str:
        """Say which notes are lost: one is kept with a decision only."""
        lost = [task_of(self.store, *pair) for pair in self.notes]
        self.notes.clear()
        return "".join(f"; the note on {_pair(one)}, which is open, is not kept" for one in lost)


def next_pair(store: Store, judge: str, batch: int | None = None, judgments: int = 1) -> PairView:
    """Give a judge the next pair, for ten minutes."""
    task = store.next(judge, batch=batch, judgments=judgments)
    with store.reading() as connection:
        turns = Turns(connection, judge, batch, judgments)
        left, held = turns.left(), turns.held() if task is None else []
    return PairView(judge, task, left, held=held, **rules(store))


def rules(store: Store) -> dict[str, Any]:
    """Return what judges go by."""
    return {"scale": store.scale, "guidelines": store.guidelines}


def pairs_left(store: Store, judge: str, batch: int | None = None, judgments: int = 1) -> int:
    """Count the pairs that a judge could still be given."""
    with store.reading() as connection:
        return Turns(connection, judge, batch, judgments).left()


_POOLED = """
SELECT batch, inclusion FROM pooled WHERE query = ? AND document = ? ORDER BY batch DESC LIMIT 1
"""


def task_of(store: Store, query: str, document: str) -> Task:
    """Put a pair on the table, whether it was pooled or not."""
    with store.reading() as connection:
        found = connection.execute(_POOLED, (query, document)).fetchone()
        batch, inclusion = found or (0, None)
    text: DocumentText | None = store.text(document)
    seen = "" if text is None else text_hash(text)
    words = store.query_text(query)
    return Task(query, document, batch, inclusion, words, text, seen, put_off=False)


def check_pair(store: Store, query: str, document: str) -> None:
    """Refuse a query or a document that the store does not know, where it knows any."""
    for what, one in (("query", query), ("document", document)):
        known = _known(store, what)
        if known and one not in known:
            hint = nearest(one, known, else_=[*sorted(known)[:5], "…"])
            more = f"--{'queries FILE' if what == 'query' else 'docs PATH'}"
            adds = f"judge add {more} and judge pool make others known"
            raise UsageError(f"the store knows no {what} {one!r}", f"{hint}; {adds}")


def _known(store: Store, what: str) -> set[str]:
    """Name what was added or pooled, and if anything was, also what is judged."""
    added = f"SELECT {what} FROM {what} UNION SELECT {what} FROM pooled"
    with store.reading() as connection:
        known = {row[0] for row in connection.execute(added)}
        judged = connection.execute(f"SELECT DISTINCT {what} FROM judgment") if known else ()
        return known | {row[0] for row in judged}


def judgment_of(task: Task, judge: str, grade: float | None, status: str, **more: Any) -> Judgment:
    """Make the judgment of a pair as it was seen."""
    made = Judgment(task.query, task.document, grade, judge, status=status, seen=task.seen)
    return replace(made, batch=task.batch or None, inclusion=task.inclusion, **more)


def undone_words(judgment: Judgment) -> str:
    """Say what was withdrawn."""
    was = judgment.status if judgment.grade is None else f"graded {tidy(judgment.grade)}"
    return f"undone: {_pair(judgment)} was {WORDS.get(was, was)}"


def _pair(one: Judgment | Task) -> str:
    return f"{visible(one.document)} for {visible(one.query)}"
