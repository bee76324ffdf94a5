"""The part that a report is at, told to whoever listens: long work on a terminal says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[str], object] | None] = ContextVar("listener", default=None)


def enter(stage: str) -> None:
    """Tell which part begins now."""
    if (listener := _LISTENER.get()) is not None:
        listener(stage)


@contextmanager
def listening(listener: Callable[[str], object]) -> Iterator[None]:
    """Call a listener with the name of each part of the reports that are made meanwhile.

    >>> with listening(print):
    ...     enter("auditing")
    auditing
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)
