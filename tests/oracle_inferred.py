"""The plain reference: measures of incomplete judgments and of agreement, loop by loop."""

from __future__ import annotations
