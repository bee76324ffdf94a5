"""A visit: who asks for what; and a page: what is answered, with its twins for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from idealist.errors import UsageError
from idealist.judging.store import Store
from idealist.rendering.document import Table
from idealist.web.page_state import PageState
from idealist.web.people import Person
from idealist.web.workspace import Workspace

if TYPE_CHECKING:
    from idealist.web.model_work import ModelWork


@dataclass(frozen=True)
class Visit:
    """One request: who asks, in which state of the page, and what was sent with it."""

    workspace: Workspace
    state: PageState
    person: Person
    models: ModelWork
    sent: Mapping[str, Any] = field(default_factory=dict)

    @property
    def judge(self) -> str:
        """The name that judgments get."""
        return self.person.name or self.workspace.judge

    @property
    def store(self) -> Store:
        """The store that the page is about; refuse where there is none."""
        found = self.workspace.store(self.state)
        if found is None:
            hint = "make a store under Judges; several people can judge there"
            raise UsageError("these judgments are in a file, not in a store", hint)
        return found


@dataclass(frozen=True)
class Page:
    """What is answered: a template and what fills it, the same as `data`, and a table of it."""

    title: str
    template: str
    filled: Mapping[str, Any]
    data: Callable[[], Any]
    table: Callable[[], Table] | None = None


class NothingToDo(UsageError):
    """What was asked is done already, or decided; that is an answer, and no mistake."""


@dataclass(frozen=True)
class Moved:
    """What was asked is done; the browser goes on to this address, with a word to say there."""

    address: str


@dataclass(frozen=True)
class Told:
    """What was asked is done; this is told to the script of the page."""

    data: Any


@dataclass(frozen=True)
class Sent:
    """A file for the reader to keep."""

    name: str
    text: str
    kind: str
