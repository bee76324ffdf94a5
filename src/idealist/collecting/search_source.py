"""What the collector asks: something to search, opened by each thread for itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from idealist.asking.secret_texts import Secrets
from idealist.collecting.asked_queries import AskedQuery
from idealist.collecting.engine_answers import Answer


class OpenedSearch(Protocol):
    """A search that one thread uses."""

    def ask(self, query: AskedQuery) -> Answer:
        """Ask once; raise `Busy` where the next time may be better, `Hopeless` where none is."""

    def cut(self) -> None:
        """End a search that takes too long, from another thread, if that can be done."""

    def close(self) -> None:
        """Hang up."""


class SearchSource(Protocol):
    """Something that can be searched.

    `concurrency` says how many may search it at once, unless somebody knows better; no text that is
    shown or written holds one of its `secrets`; `places` are what each query must fill.
    """

    @property
    def concurrency(self) -> int:
        """How many may search it at once."""

    @property
    def secrets(self) -> Secrets:
        """What no output may hold."""

    @property
    def doubt(self) -> str:
        """What is doubtful about asking it; mostly nothing."""

    @property
    def places(self) -> frozenset[str]:
        """What a query must have, such as its text, or a vector."""

    def told(self) -> Mapping[str, Any]:
        """Say what is asked, for whoever reads the run: engine, version, address, index."""

    def opened(self, timeout: float) -> OpenedSearch:
        """Open it for one thread."""
