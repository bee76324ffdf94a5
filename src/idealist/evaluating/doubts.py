"""Doubts: what is legal but questionable about a result, counted and priced."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from idealist.evaluating import data_doubts as data
from idealist.evaluating import ranking_doubts as ranking
from idealist.evaluating.doubt_case import DoubtCase
from idealist.report.doubt import Doubt

CHECKS: tuple[Callable[[DoubtCase], Iterator[Doubt]], ...] = (
    data.nothing_matches, data.missing, data.unknown, data.no_relevant, data.unjudged_traffic,
    data.few_weigh, data.not_weighted, ranking.unjudged, ranking.ties, ranking.float32,
    ranking.duplicates, ranking.rows_left_out, data.subtopics, data.undivided, data.preferences,
    data.fractional, data.binary, data.not_in_tool, data.other_name, data.utility,
)  # fmt: skip


def find_doubts(case: DoubtCase) -> tuple[Doubt, ...]:
    """Look for everything that is doubtful about a run and the judgments."""
    return tuple(doubt for check in CHECKS for doubt in check(case))
