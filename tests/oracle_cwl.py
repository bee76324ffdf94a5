"""The plain reference: the user models of C/W/L, loop by loop."""

from __future__ import annotations
