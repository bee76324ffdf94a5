"""What can be wrong with a user's input: each fault has a code, a place and a remedy.

IdealistError
├── InputError     a file or table that cannot be read
├── UsageError     a measure, convention, axis or option that does not exist or apply
│   └── NoDocuments  a bundle, where documents are needed
└── Defect         a bug in idealist
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


#: Every kind of fault by its code, with what it means; the reference is made from this table.
CODES: dict[str, str] = {
    "bad-click": "a row of a log of clicks cannot be read, or contradicts another row or the list",
    "bad-column": "a column has the wrong length, type or name",
    "bad-grade": "a grade is not a finite number",
    "bad-id": "a query or document id is empty or is not text or a whole number",
    "bad-length": "a document's length is not a finite number of at least 0",
    "bad-level": "a level of preference is not a finite number",
    "bad-prompt": "a prompt for a model lacks what it must have, or has what it cannot have",
    "bad-rank": "a rank is not a whole number, but the rank column orders the run",
    "bad-score": "a score is not a number",
    "bad-shape": "the data is not in one of the shapes that can be read",
    "bad-span": "a part of a document has no start and end, or ends before it starts",
    "bad-template": "a template of a request cannot be filled, or fills a place wrongly",
    "bad-weight": "a query's weight is not a finite number of at least 0, or all weights are 0",
    "binary": "the file holds binary data, not text",
    "checksum": "a saved baseline was changed after it was saved",
    "columns": "a line has too few or too many columns",
    "compressed": "a compressed file is damaged or is not what its suffix says",
    "contradiction": "one document has two different grades for one query, or each "
    "of two documents is preferred to the other",
    "damaged": "a Parquet or Arrow file cannot be read to its end, or a store is damaged",
    "duplicate": "one document was retrieved twice for one query",
    "duplicate-key": "a JSON object repeats a key, or a query appears twice",
    "empty": "the file or table holds no rows",
    "encoding": "the file is not UTF-8 text",
    "failed-search": "a search engine's response is an error or incomplete",
    "judges": "judges disagree, and nothing says how to make one grade of what they gave",
    "json": "the file is not valid JSON",
    "missing-column": "the data lacks a column that the chosen order, depth or measure needs",
    "missing-query": "the run lacks a judged query, and missing=error is set",
    "missing-weight": "queries are weighted, and one that counts has no weight",
    "negative-grade": "a retrieved document has a negative grade, and negative=error is set",
    "no-file": "the file does not exist or cannot be opened",
    "no-relevant": "a query has no relevant document, and no_relevant=error is set",
    "no-skips": "a log of clicks has only rows that were clicked, or none",
    "nonfinite-score": "a score is NaN or infinite",
    "off-scale": "a grade is not on the declared scale",
    "overlong": "a line of TREC text or an id is longer than 1 MiB, or a text than 64 MiB",
    "oversized": "a compressed file holds far more than its size suggests, or a pipe too much",
    "tie": "two documents have the same score, and ties=error is set",
    "truncated": "a file is cut off",
    "unknown-list": "a row of a log of clicks does not say which of the given lists was shown",
    "unknown-query": "the run has a query without judgments, and unknown=error is set",
}

SHOWN = 10


class IdealistError(Exception):
    """Base of all errors of idealist; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class UsageError(IdealistError):
    """A name, parameter or combination that does not exist or does not make sense."""


class NoDocuments(UsageError):
    """What was asked for needs documents, and a run has only the places of judged ones."""


class Defect(IdealistError):
    """A bug in idealist, which a user can only report."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "this is a bug in idealist; please report it with the data")


@dataclass(frozen=True)
class Fault:
    """One thing wrong with an input: what, where, and what to do about it."""

    code: str
    message: str
    hint: str = ""
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return f"{place}{self.message} [{self.code}]"


class InputError(IdealistError):
    """One or more faults of an input; `code` and `line` are those of the first.

    >>> str(InputError([Fault("bad-grade", "grade 'x' is not a number", file="qrels.txt", line=3)]))
    "qrels.txt:3: grade 'x' is not a number [bad-grade]"
    """

    def __init__(self, faults: Iterable[Fault], total: int | None = None) -> None:
        self.faults = tuple(faults)
        self.total = len(self.faults) if total is None else total
        first = self.faults[0]
        self.code, self.file, self.line = first.code, first.file, first.line
        shown = [str(fault) for fault in self.faults]
        if self.total > len(shown):
            shown.append(f"… and {self.total - len(shown)} more faults")
        hints = dict.fromkeys(fault.hint for fault in self.faults if fault.hint)
        super().__init__("\n".join(shown), "\n  hint: ".join(hints))


class Contradictions(InputError):
    """Judgments that contradict each other; `given` holds all, as `Qrels.build` takes them.

    `without` reads them again so that an audit can go on, and `meanwhile` says how: preferences
    without the groups that contradict themselves, several judges with their median. `read_with` is
    what a command would say.
    """

    def __init__(
        self, faults: Iterable[Fault], total: int, given: Mapping[str, Any],
        without: Callable[[], Any] | None = None, meanwhile: str = "",
    ) -> None:  # fmt: skip
        super().__init__(faults, total)
        self.given, self.without = given, without
        left_out = "they are" if without is None else "their groups are"
        self.read_with: tuple[str, ...] = ()
        self.meanwhile = meanwhile or f"{left_out} left out of all that follows"


@dataclass
class Faults:
    """Collects the faults of one input so that they are reported together."""

    file: str = ""
    shown: list[Fault] = field(default_factory=list)
    total: int = 0

    def add(self, code: str, message: str, hint: str = "", line: int | None = None) -> None:
        """Note a fault; only the first ten keep their text."""
        self.total += 1
        if len(self.shown) < SHOWN:
            self.shown.append(Fault(code, message, hint, self.file, line))

    def check(self) -> None:
        """Raise what was collected, if anything was."""
        if self.shown:
            raise InputError(self.shown, self.total)

    def fail(self, code: str, message: str, hint: str = "", line: int | None = None) -> NoReturn:
        """Raise at once, with the faults collected before."""
        self.add(code, message, hint, line)
        raise InputError(self.shown, self.total)


def nearest(name: str, names: Iterable[str], else_: Iterable[str] = ()) -> str:
    """Suggest the names closest to an unknown one, or else list some."""
    import difflib  # only a mistake needs it

    known = list(names)
    folded = {known_name.lower(): known_name for known_name in known}
    close = difflib.get_close_matches(name.lower(), folded, n=2, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(folded[match] for match in close) + "?"
    return "known: " + ", ".join(else_ or known)
