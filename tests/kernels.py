"""Marks for tests of the compiled kernel."""

from __future__ import annotations

import os
from types import ModuleType

import pytest

from idealist import kernel

compiled = pytest.mark.skipif(
    not isinstance(kernel._compiled(), ModuleType), reason="no kernel is compiled here"
)
posix = pytest.mark.skipif(os.name != "posix", reason="there are no such files here")
#: Sanitizers take time, and keep memory that was given back, to see who still uses it.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
