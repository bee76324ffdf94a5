"""Ctrl-C while requests are under way: the first lets them arrive, the second leaves at once."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Why nothing more is sent after Ctrl-C.
YOU = "you stopped it"
#: What is said at once then.
STOPPING = "stopping as soon as the answers under way are in; Ctrl-C again leaves at once"


@contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Stop in good order on the first Ctrl-C, if it would reach us; a second one acts as ever."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT) or signal.default_int_handler

    def interrupted(*_: Any) -> None:
        stop()
        print(STOPPING, file=sys.stderr, flush=True)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
