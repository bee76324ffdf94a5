"""The lines of what is doubtful: all of it for two runs, one line a kind for more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from idealist.comparing.doubts import CODES
from idealist.doubts import CODES as RUN_CODES
from idealist.doubts.case import few
from idealist.summary import doubt_lines

if TYPE_CHECKING:
    from idealist.comparing.comparison import Comparison

#: Sayings by code: who it is about, how many, and the words.
Said = dict[str, dict[str, tuple[int, str]]]


def doubts_of_comparison(comparison: Comparison) -> list[str]:
    """Write what is doubtful about pairs, slices that were tested, and runs."""
    evaluations = comparison.evaluations
    if len(evaluations) == 2:
        return [*_each(comparison), *doubt_lines(evaluations)]
    shared = [
        doubt for doubt in evaluations[0].doubts if all(doubt in one.doubts for one in evaluations)
    ]
    found: Said = {}
    for one in evaluations:
        for doubt in one.doubts:
            if doubt not in shared:
                found.setdefault(doubt.code, {}).setdefault(
                    one.run, (doubt.count, f"{one.run}: {doubt.message}")
                )
    lines = [f"doubt: {doubt.message}" for doubt in shared]
    return [*_gathered(_pairs(comparison), CODES), *lines, *_gathered(found, RUN_CODES, True)]


def _pairs(comparison: Comparison) -> Said:
    found: Said = {}
    for pair in (*comparison.pairs, *comparison.slices):
        name = f"{pair.run} - {pair.baseline}" if comparison.options.all_pairs else pair.run
        where = f"{name} ({pair.slice})" if pair.slice else name
        for doubt in pair.doubts if pair.tested else ():
            message = f"{pair.measure}, {pair.run} - {pair.baseline}: {doubt.message}"
            found.setdefault(doubt.code, {}).setdefault(where, (doubt.count, message))
    return found


def _gathered(found: Said, words: dict[str, str], counted: bool = False) -> list[str]:
    """Write one line a kind; what is said of one only is said in full."""
    lines = []
    for code, about in found.items():
        if len(about) == 1:
            lines += [f"doubt: {message}" for _, message in about.values()]
            continue
        rows = sorted(about.items(), key=lambda row: -row[1][0] if counted else 0)
        names = [f"{name} {count}" if counted else name for name, (count, _) in rows]
        lines.append(f"doubt: {words[code]}: {few(tuple(names))}")
    return lines


def _each(comparison: Comparison) -> list[str]:
    """Write every doubt about two runs; what holds by several measures is said once."""
    found: dict[str, str] = {}
    for pair in (*comparison.pairs, *comparison.slices):
        part = f"{pair.slice}, " if pair.slice else ""
        for doubt in pair.doubts if pair.tested else ():
            said = f"{pair.run} - {pair.baseline}: {doubt.message}"
            found.setdefault(part + said, f"doubt: {part}{pair.measure}, {said}")
    return list(found.values())
