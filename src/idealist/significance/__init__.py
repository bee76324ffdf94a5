"""Statistics of differences between systems: arrays in, numbers out, nothing known of runs."""

from __future__ import annotations
