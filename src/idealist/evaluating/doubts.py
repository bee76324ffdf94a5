"""Doubts: what is legal but questionable about a result, counted and priced."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from idealist.evaluating.data_doubts import (
    binary,
    few_weigh,
    fractional,
    missing,
    no_relevant,
    not_in_tool,
    not_weighted,
    nothing_matches,
    other_name,
    preferences,
    subtopics,
    undivided,
    unjudged_traffic,
    unknown,
    utility,
)
from idealist.evaluating.doubt_case import DoubtCase
from idealist.evaluating.ranking_doubts import duplicates, float32, rows_left_out, ties, unjudged
from idealist.report.doubt import Doubt

CHECKS: tuple[Callable[[DoubtCase], Iterator[Doubt]], ...] = (
    nothing_matches, missing, unknown, no_relevant, unjudged_traffic, few_weigh, not_weighted,
    unjudged,
    ties, float32, duplicates, rows_left_out,
    subtopics, undivided, preferences, fractional, binary, not_in_tool, other_name, utility,
)  # fmt: skip


def find_doubts(case: DoubtCase) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful about a run and the judgments."""
    return tuple(doubt for check in CHECKS for doubt in check(case))
