"""Ranking: a run ordered under a protocol, and the places where judged documents were found."""

from __future__ import annotations
