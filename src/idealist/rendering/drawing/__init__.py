"""Drawing: figures as SVG, and from there as PDF and PNG."""

from __future__ import annotations
