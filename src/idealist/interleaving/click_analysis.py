"""Which of two runs visitors prefer, from their clicks on interleaved lists."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from idealist.formats.column_names import Given
from idealist.interleaving.click_comparison import ClickComparison, Tally
from idealist.interleaving.interleaved import ROUNDING, Interleaved
from idealist.interleaving.shown_clicks import ShownClicks, read_shown_clicks
from idealist.interleaving.shown_lists import read_lists
from idealist.rendering.doubt import Doubt
from idealist.rendering.wording import counted
from idealist.significance.cluster_flips import Flipped, flip_clusters

#: The share of impressions from which on one user is worth mentioning. Suggested.
HEAVY = 0.2
#: Standard errors by which lists may differ from their probabilities; beyond, p < 0.0001.
ASTRAY = 4.0


def compare_by_clicks(
    lists: Any, clicks: Any, *, alpha: float = 0.05, columns: Given | None = None, seed: int = 0
) -> ClickComparison:
    """Say which of two interleaved runs visitors prefer.

    `lists` are those of `interleave`, or a file of them. `clicks` is a log: a file, records or a
    data frame with the columns session, query, list (its number, unless a query has one alone) and
    document or position; optionally clicked (1 or 0; without it every row is a click) and user. An
    impression is what one session saw for one query. The test is the sign test; where users are
    named, all impressions of one count together, and otherwise all of one session.

    Reference: docs/design/0062-interleaving.md
    """
    made = read_lists(lists)
    log = read_shown_clicks(clicks, made, columns)
    unit = "user" if log.users else "session"
    scores: dict[str, list[float]] = {}
    outcomes: dict[str, list[int]] = {}
    for (session, query), one in log.impressions.items():
        score = one.shown.score(one.clicked)
        owner = f"user {log.users[session]}" if session in log.users else f"session {session}"
        scores.setdefault(owner, []).append(score)
        outcomes.setdefault(query, [0, 0, 0])[1 - (score > 0) + (score < 0)] += 1
    by_query = {query: Tally(*own) for query, own in sorted(outcomes.items())}
    tally = Tally(*map(sum, zip(*by_query.values(), strict=True)))
    sizes = {owner: len(own) for owner, own in scores.items()}
    sums = list(map(math.fsum, scores.values()))
    flipped = flip_clusters(sums, list(sizes.values()), alpha, seed=seed)
    doubts = tuple(_doubts(log, made, sizes, unit, flipped))
    return ClickComparison(
        made.a, made.b, made.method, tally, by_query, flipped, len(sums), unit, alpha, doubts,
        f"{log.name}: {log.read_as}" if log.read_as else "",
    )  # fmt: skip


def _doubts(
    log: ShownClicks, made: Interleaved, sizes: Mapping[str, int], unit: str, flipped: Flipped
) -> Iterator[Doubt]:
    """Say what could make the answer wrong."""
    total = len(log.impressions)
    if log.elsewhere:
        words = (
            f"{counted(log.elsewhere, 'click is', 'clicks are')} on documents that were not shown"
        )
        yield Doubt("not-shown", f"{words}; they count for neither run", log.elsewhere,
                    total=log.clicks)  # fmt: skip
    if all(one.clicked for one in log.impressions.values()):
        words = "every impression has a click: those without one are not in the log"
        yield Doubt("only-clicked", words, total, severity="note", total=total)
    sessions = {session for session, _ in log.impressions}
    if log.users and (unnamed := len(sessions - log.users.keys())):
        words = f"{counted(unnamed, 'session has', 'sessions have')} no user, and count as one each"
        yield Doubt("no-user", words, unnamed, total=len(sessions))
    owner = max(sorted(sizes), key=sizes.__getitem__)
    if sizes[owner] > max(1, HEAVY * total):
        share = sizes[owner] / total
        words = f"{owner} has {share:.0%} of the impressions"
        yield Doubt("heavy-user", words, sizes[owner], severity="note", total=total)
    if math.isnan(flipped.low):
        units = counted(len(sizes), f"{unit} is", f"{unit}s are")
        words = f"{units} too few, or too much alike, for an interval"
        yield Doubt("few-users", words, len(sizes))
    if (errors := _astray(log, made)) > ASTRAY:
        words = f"lists were not shown with their probabilities ({errors:.1f} standard errors off)"
        yield Doubt("uneven-lists", words, total, total=total)


def _astray(log: ShownClicks, made: Interleaved) -> float:
    """Compute how far the lists shown lean to one run, beyond what their probabilities explain.

    Formula: |Σ (x - μ)| / √Σ σ² over impressions, where x is the leaning of the list that was
    shown, and μ and σ² are mean and variance over the lists of the query
    """
    moments: dict[str, tuple[float, float]] = {}
    leaning = {(one.query, one.number): one.leaning for one in made.lists}
    for one in made.lists:
        x, p = leaning[one.query, one.number], one.probability
        mean, square = moments.get(one.query, (0.0, 0.0))
        moments[one.query] = mean + p * x, square + p * x * x
    apart = spread = 0.0
    for (_, query), seen in log.impressions.items():
        mean, square = moments[query]
        apart += leaning[query, seen.shown.number] - mean
        spread += max(0.0, square - mean**2)
    return abs(apart) / math.sqrt(spread) if spread > ROUNDING else 0.0
