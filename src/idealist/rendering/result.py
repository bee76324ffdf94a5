"""A result: what every verb returns, shown on a terminal, in a notebook, in a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idealist import files
from idealist.errors import UsageError, nearest
from idealist.rendering import plain_data, terminal
from idealist.rendering.document import Block, Document, Table

if TYPE_CHECKING:
    from idealist.rendering.figure import Figure

#: The forms a result can be written in, each with the suffixes of files that ask for it.
FORMS: dict[str, tuple[str, ...]] = {
    "table": (".txt",), "json": (".json",), "tsv": (".tsv",), "csv": (".csv",),
    "md": (".md", ".markdown"), "latex": (".tex",), "html": (".html", ".htm"),
}  # fmt: skip


#: The modules that write forms which hold a whole document, notes and all; seldom asked for.
PAGES = {"md": "markdown", "latex": "latex", "html": "html"}


def form_of(path: str | Path | None) -> str:
    """Choose a form by the suffix of a file; a table where there is none.

    >>> form_of("paper.tex"), form_of("result"), form_of(None)
    ('latex', 'table', 'table')
    """
    suffix = "" if path is None else Path(path).suffix.lower()
    form = next((form for form, suffixes in FORMS.items() if suffix in suffixes), "")
    if suffix and not form:
        known = ", ".join(suffix for suffixes in FORMS.values() for suffix in suffixes)
        raise UsageError(f"a file {suffix} says no form that is known", f"use one of {known}")
    return form or "table"


class Figures(dict[str, Callable[..., "Figure"]]):
    """The figures that a result can make, by kind; it shows itself as the names of these.

    `without` names kinds that other data would have: asked for all the same, they say what they
    lack.

    >>> Figures({"heat": max, "spread": max, "agreement": max}, without=["agreement"])
    <Figures heat, spread>
    """

    def __init__(
        self, kinds: Mapping[str, Callable[..., Figure]], without: Iterable[str] = ()
    ) -> None:
        able = dict(kinds)
        self.lacking = {kind: able.pop(kind) for kind in without}
        super().__init__(able)

    def __repr__(self) -> str:
        return f"<{' '.join(['Figures', ', '.join(self)]).rstrip()}>"


class Result(ABC):
    """What a verb found. ``print(result)`` shows it, and notebooks show it by themselves.

    A result says what it has to say in `report`, and gives what it holds in `data`; everything else
    follows from these two.
    """

    @property
    @abstractmethod
    def summary(self) -> str:
        """The answer, in one sentence."""

    @abstractmethod
    def report(self) -> Document:
        """Describe the result: the answer first, then the evidence, then how it was made."""

    @abstractmethod
    def data(self) -> Any:
        """Return the result as plain data: dicts, lists, texts, numbers and None."""

    @property
    def figures(self) -> Figures:
        """The figures that can be made of it, by kind."""
        return Figures({})

    def figure(self, kind: str, **options: Any) -> Figure:
        """Make a figure of the result, such as ``figure("differences")``."""
        known = self.figures
        if kind in known.lacking:
            return known.lacking[kind](**options)
        if kind not in known:
            hint = nearest(kind, known) if known else "evaluate, compare, diagnose or audit"
            raise UsageError(f"{type(self).__name__} has no figure {kind!r}", hint)
        return known[kind](**options)

    def table(self) -> Table:
        """Return the table that programs want (CSV, TSV, data frames): usually the first."""
        table = next(self.report().tables, None)
        if table is None:
            raise UsageError("this result has no table", "use the form table, md, html or json")
        return table

    def render(self, form: str, *, details: bool = False, columns: int | None = None) -> str:
        """Write the result in one of the `FORMS`.

        `details` shows what few readers need; `columns` is the width of the terminal, if any.
        """
        if form == "json":
            return plain_data.to_json(self.data())
        if form in ("csv", "tsv"):
            return plain_data.separated(self.table(), "," if form == "csv" else "\t")
        if form == "table":
            return terminal.render(self.report(), details, columns)
        page: Callable[[Document, bool], str]
        page = import_module(f"idealist.rendering.{PAGES[form]}").render
        return page(self.report(), details)

    def __str__(self) -> str:
        document = self.report()
        said = ("\n".join(lines) for lines in (terminal.front(document), terminal.notes(document)))
        front, notes = said
        return "\n\n".join(filter(None, [front, terminal.render(document), notes]))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.summary}>"

    def _repr_html_(self) -> str:
        from idealist.rendering import html

        return html.fragment(self.report())

    def markdown(self, details: bool = False) -> str:
        """Write the result for a README, an issue or a pull request."""
        return self.render("md", details=details)

    def to_json(self) -> str:
        """Write the data of the result as JSON."""
        return self.render("json")

    def to_pandas(self) -> Any:
        """Turn the result's table into a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise UsageError("to_pandas() needs pandas", "pip install pandas") from None
        headers, rows = plain_data.flat(self.table())
        return pd.DataFrame(rows, columns=headers)

    def save(self, path: str | Path) -> None:
        """Write the result to a file, whole or not at all, in the form that its suffix names."""
        text = self.render(form_of(path), details=True)
        files.write(path, f"{text}\n".encode(errors="replace"))


@dataclass(frozen=True, repr=False)
class Listing(Result):
    """A result that only looks something up: measures, conventions, the axes of signatures.

    `answer` says it in one sentence, `blocks` shows it, `plain` is the same for programs.
    """

    answer: str
    blocks: tuple[Block, ...]
    plain: Any
    rows: Table | None = None

    @property
    def summary(self) -> str:
        """What was looked up, in one sentence."""
        return self.answer

    def report(self) -> Document:
        """Describe it in blocks."""
        return Document(self.blocks)

    def data(self) -> Any:
        """Return it as plain data."""
        return self.plain

    def table(self) -> Table:
        """Return the table for programs."""
        return super().table() if self.rows is None else self.rows
