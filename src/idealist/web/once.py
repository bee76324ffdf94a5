"""Results that are computed once and kept while they are used; the oldest are forgotten."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Once:
    """What was computed, by key. Whoever asks for what another thread computes waits for it.

    >>> once = Once()
    >>> once("a", lambda: 1), once("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, most: int = 24) -> None:
        self.most = most
        self._made: OrderedDict[Hashable, _Made] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what has this key; a failure is not kept."""
        with self._lock:
            made = self._made.setdefault(key, _Made())
            self._made.move_to_end(key)
            while len(self._made) > self.most:
                self._made.popitem(last=False)
        with made.lock:
            if not made.done:
                made.value, made.done = make(), True
        found: T = made.value
        return found


class _Made:
    """A place for a value, and who may fill it."""

    def __init__(self) -> None:
        self.lock, self.done = threading.RLock(), False
        self.value: Any = None
