"""Statistics of differences between systems: arrays in, numbers out, no runs or judgments."""

from __future__ import annotations
