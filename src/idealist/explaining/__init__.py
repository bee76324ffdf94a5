"""Explaining: why a value is what it is, rank by rank and loss by loss."""

from __future__ import annotations
