"""Figures of each kind, made from plain numbers."""

from __future__ import annotations
