"""How tests wait for others: long enough for a busy machine, and never for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds after which a process, a thread or a pipe hangs; less than the limit of a whole test.
PATIENCE = 240


@contextmanager
def beside(thread: threading.Thread) -> Iterator[None]:
    """Let a thread work beside us; it must end too, but Python does not wait for it to leave."""
    thread.daemon = True
    thread.start()
    yield
    thread.join(PATIENCE)
    assert not thread.is_alive(), f"{thread.name} hangs"
