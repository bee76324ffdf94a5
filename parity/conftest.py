"""The heavy peers' tests use the same generated cases as the light ones'."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
