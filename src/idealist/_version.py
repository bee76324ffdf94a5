"""The version of the package, and the number of its rules."""

from __future__ import annotations

__version__ = "0.1.0"

#: Raised whenever any number this package prints can change; part of every signature.
RULES = 1
