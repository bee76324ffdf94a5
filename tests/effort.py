"""How much is tried: a sample each time, all of it with IDEALIST_SLOW=1, as `make study` does."""

from __future__ import annotations

import os

import pytest

IS_SLOW = bool(os.environ.get("IDEALIST_SLOW"))
SLOW = pytest.mark.skipif(not IS_SLOW, reason="set IDEALIST_SLOW=1")


def tries(few: int, many: int) -> int:
    """Give how many cases are tried: a few, or many where time does not matter."""
    return many if IS_SLOW else few
