"""How data is read: as judgments or as a run, with what its user says about it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from idealist.data import Queries
from idealist.data.judgments import GOLD, MERGES
from idealist.data.remarks import Remark
from idealist.data.spans import OFFSETS, Cover
from idealist.errors import Faults, UsageError, nearest
from idealist.formats.column_names import (
    ALIASES,
    PLAIN,
    SIDES,
    WHOLES,
    Given,
    folded,
    given_names,
    listed,
    naming_option,
    ours,
    renamed,
    spelt,
)
from idealist.formats.grade_words import as_numbers, scale_text

#: The sign before the decimals of a number.
Decimal = Literal["comma", "point"]
#: The columns that files of each kind alone have; a list of columns that names one is about them.
OWN = {"grade": {"grade", "judge", "subtopic", "iteration"}, "score": {"score", "rank", "tokens"}}
#: What stands in a list of columns for one that does not matter.
SKIP = ("-", "")
#: What to say of judgments that list what is relevant, and nothing else.
POSITIVES_HINT = "if each row names a relevant document: --judgments positives"


@dataclass(frozen=True)
class ReadOptions:
    """What a user says about files that do not say it themselves.

    `columns` names theirs by ours, {"document": "product_id"}, or is a layout. `layouts` name the
    columns of files without a header, in order: ("query", "document", "grade"). `decimal` says what
    a comma in a number is where it could be either: decimals with "comma", thousands with "point".
    With `shared`, this is said about several files; each may lack a column that another one has.
    `queries` name what search engines answered, where responses do not: by their texts, or in their
    order. `scale` is that of the grades, with the grade of each word where they are words; `merge`
    makes one grade of several judges'; and `judgments` says what a document without a judgment is,
    as `Qrels.gold` does. With `spans`, rows are parts of documents, whose texts are in `docs`; what
    they say of their places counts `offsets`, and `cover` says when a chunk finds evidence.
    """

    columns: Any = field(default_factory=dict)
    layouts: tuple[tuple[str, ...], ...] = ()
    decimal: Decimal | None = None
    shared: bool = False
    queries: Queries | None = None
    scale: Any = None
    merge: str = ""
    judgments: str = ""
    spans: bool = False
    docs: Any = None
    offsets: str = ""
    cover: str = ""

    def __post_init__(self) -> None:
        if self.cover:
            object.__setattr__(self, "cover", Cover.of(self.cover).written)
        for what, said, known in (
            ("merge", self.merge, MERGES), ("judgments", self.judgments, GOLD),
            ("offsets", self.offsets, OFFSETS),
        ):  # fmt: skip
            if said and said not in known:
                raise UsageError(f"{what} cannot be {said!r}", f"{what} is {', '.join(known)}")
        columns, layouts = self.columns, self.layouts
        if not isinstance(columns, Mapping):
            columns, layouts = {}, (*layouts, _listed_names(columns))
        own = (tuple("-" if name in SKIP else _own(name) for name in one) for one in layouts)
        object.__setattr__(self, "columns", _by_ours(columns))
        object.__setattr__(self, "layouts", tuple(own))
        for value in OWN:
            if len(several := self._layouts(value)) > 1:
                lists = " and ".join(map(listed, several))
                message = f"columns: {lists} could each be the columns of one file"
                raise UsageError(message, "give one list for judgments and one for runs")
        for layout in self.layouts:
            twice = [name for name in layout if name != "-" and layout.count(name) > 1]
            if twice or not {"query", "document"} <= set(layout):
                fault = f"names {twice[0]} twice" if twice else "lacks the query or the document"
                hint = "such as query,document,grade; - stands for a column that does not matter"
                raise UsageError(f"columns: {listed(layout)} {fault}", hint)

    def _layouts(self, value: str) -> list[tuple[str, ...]]:
        """Find the lists that can be about files with this value; of their own kind, if any is."""
        others = OWN["score" if value == "grade" else "grade"]
        fitting = [layout for layout in self.layouts if not others & set(layout)]
        return [layout for layout in fitting if OWN.get(value, set()) & set(layout)] or fitting

    def layout(self, value: str) -> tuple[str, ...] | None:
        """Return the columns of files without a header that hold this value."""
        return next(iter(self._layouts(value)), None)

    def words(self) -> list[str]:
        """Write them as options of the command line.

        >>> ReadOptions({"document": "product_id"}, [("query", "document", "score")]).words()
        ['--columns', 'document=product_id', '--columns', 'query,document,score']
        """
        given = {ours: names for ours, names in self.columns.items() if names != [*WHOLES]}
        named = listed(f"{ours}={theirs}" for ours, theirs in given_names(given))
        lists = [*([named] if given else []), *map(listed, self.layouts)]
        words = [word for one in lists for word in ("--columns", one)]
        said = {
            "--decimal": self.decimal,
            "--scale": "" if self.scale is None else scale_text(self.scale),
            "--merge": self.merge,
            "--judgments": self.judgments,
            "--docs": self.docs if self.spans and isinstance(self.docs, (str, Path)) else None,
            "--offsets": self.offsets,
            "--cover": self.cover,
        }
        return words + [word for option, one in said.items() if one for word in (option, str(one))]

    @property
    def of_spans(self) -> ReadOptions:
        """The same for rows that are parts of documents, which then name the document."""
        named = {"document": WHOLES} | dict(self.columns)
        return replace(self, spans=True, shared=True, columns=named)

    def of(self, path: str | Path) -> DescribedFile:
        """Say this about a file."""
        return DescribedFile(str(path), self)


def _listed_names(columns: Any) -> tuple[str, ...]:
    """Take a list of names, as Python's users give it."""
    if isinstance(columns, Sequence) and not isinstance(columns, str):
        return tuple(map(str, columns))
    hint = 'give {"document": "product_id"} or ["query", "document", "grade"]'
    raise UsageError(f"columns cannot be {columns!r:.60}", hint)


def _by_ours(columns: Given) -> dict[str, str | list[str]]:
    """Sort names of theirs by ours, however these are written; one name alone is text."""
    found: dict[str, list[str]] = {}
    for name, theirs in given_names(columns):
        found.setdefault(_own(name), []).append(theirs)
    return {name: theirs[0] if len(theirs) == 1 else theirs for name, theirs in found.items()}


def _own(name: str) -> str:
    """Return our name of a column, however it is written."""
    found = name if name in (*ALIASES, *SIDES) else next(iter(ours([name])), None)
    if found is None:
        known = nearest(name, (*ALIASES, *SIDES))
        raise UsageError(f"columns: there is no column {name!r} to name", known)
    return found


@dataclass(frozen=True)
class DescribedFile:
    """A file, and what its user says about it; read wherever a path is."""

    path: str
    options: ReadOptions

    def __str__(self) -> str:
        return shlex.join([self.path, *self.options.words()])


@dataclass(frozen=True)
class Reading:
    """What data is read as, what is said about it, and where faults and remarks are noted.

    `value` is the column that matters: "grade" of judgments, "level" of preferences, "score" of
    runs. `used` are the names of a table's columns, by ours.
    """

    value: str
    faults: Faults
    options: ReadOptions = field(default_factory=ReadOptions)
    remarks: list[Remark] = field(default_factory=list)
    used: dict[str, Any] = field(default_factory=dict)

    @property
    def all_relevant(self) -> bool:
        """Whether rows without a grade are relevant documents, as a user says."""
        return self.value == "grade" and self.options.judgments in ("positives", "complete")

    def given(self, column: str, names: Iterable[Any]) -> Any:
        """Return the name found that a user gave for one of ours; None if there is none."""
        found = (spelt(names, theirs) for theirs in self.told(column))
        return next((alike[0] for alike in found if len(alike) == 1), None)

    def told(self, column: str) -> list[str]:
        """Return the names that a user gave for one of ours."""
        return [theirs for ours, theirs in given_names(self.options.columns) if ours == column]

    def ours(self, names: Iterable[Any]) -> dict[str, Any]:
        """Map our column names to the names found."""
        return ours(names, self.options.columns)

    def renamed(self, names: Iterable[Any]) -> dict[Any, str]:
        """Map the names found to ours, or to themselves if we have none."""
        return renamed(names, self.value, self.faults, self.options.columns)

    def named(self, names: Iterable[Any]) -> dict[Any, str]:
        """Map the names of a table's columns to ours; remark on names that are not obvious.

        Names that were given must be there, unless they may be those of another file.
        """
        names = list(names)
        self.check_given(names)
        found = self.renamed(names)
        used = {name: theirs for theirs, name in found.items() if name in ALIASES}
        given = [theirs for _, theirs in given_names(self.options.columns)]
        told = {name for theirs in given for name in spelt(names, theirs)}
        if any(folded(theirs) not in PLAIN and theirs not in told for theirs in used.values()):
            self.remark_names({name: used.get(name) for name in ALIASES})
        score = self.ours(names).get("score")
        if self.value == "score" and score is not None and "score" not in used:
            self.remark_file(f"ranked by {used['rank']}, which you named; {score} is not used")
        self.used.update(used)
        return found

    def check_given(self, names: list[Any]) -> None:
        """Refuse names that a user gave and this table does not have, if it is the only one."""
        for column, theirs in given_names({} if self.options.shared else self.options.columns):
            self._check_name(column, theirs, names)

    def _check_name(self, column: str, theirs: str, names: list[Any]) -> None:
        alike = spelt(names, theirs)
        if len(alike) == 1:
            return
        shown = ", ".join(map(str, names))
        message = f"there is no column {theirs!r} to be the {column}"
        hint = nearest(theirs, map(str, names))
        if alike:
            message = f"{' and '.join(map(str, alike))} could each be {theirs!r}"
            hint = f"choose one: {naming_option(column, alike)}"
        self.faults.fail("missing-column", message, f"{hint}; the columns are {shown}"[:400])

    def values(self, cells: list[Any], line: int | None = None) -> list[Any]:
        """Return the column that matters, with the words of grades turned into numbers.

        `line` is that of the first.
        """
        if self.value != "grade":
            return cells
        numbers, said = as_numbers(cells, self.options.scale, self.faults, line)
        if said:
            self.remark("read-as", said, len(numbers))
        return numbers

    def remark_names(self, named: Mapping[str, Any], inside: str = "") -> None:
        """Say what was taken for what: theirs by ours, None for what there is not."""
        said = ", ".join(f"{ours} = {name}" for ours, name in named.items() if name is not None)
        self.remark_file(f"{inside}{said}")

    def remark_file(self, words: str) -> None:
        """Say how the file was read."""
        self.remark("read-as", f"{self.faults.file}: {words}")

    def remark(
        self, code: str, message: str, count: int = 0, severity: str = "note",
        queries: tuple[str, ...] = (), command: str = "",
    ) -> None:  # fmt: skip
        """Note something that results should mention, once."""
        found = Remark(code, message, count, severity, queries=queries, command=command)
        if found not in self.remarks:
            self.remarks.append(found)


def described(data: Any, **said: Any) -> tuple[Any, ReadOptions]:
    """Part a file from what is said about it; what is said now comes first."""
    options = ReadOptions()
    if isinstance(data, DescribedFile):
        data, options = data.path, data.options
    return data, replace(
        options, **{key: value for key, value in said.items() if value is not None}
    )
