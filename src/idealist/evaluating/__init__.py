"""Evaluating: judgments, a run and measures in; values, doubts and signatures out."""

from __future__ import annotations
