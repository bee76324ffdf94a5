"""Click models in plain loops over pages, sharing no code with the library; and users who click.

A page is a query and its places from the top down: (document, position, clicked).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Page = tuple[str, list[tuple[str, int, bool]]]
Pair = tuple[str, str]
Prior = tuple[float, float]


def rows_of(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """Write pages as rows of a log."""
    return [
        {
            "session": f"s{number}",
            "query": query,
            "document": document,
            "position": position,
            "clicked": clicked,
        }
        for number, (query, places) in enumerate(pages)
        for document, position, clicked in places
    ]


def pages_of(rows: Iterable[dict[str, Any]]) -> list[Page]:
    """Put rows in any order together: of several positions, the first clicked counts, or the first."""
    places: dict[tuple[str, str], dict[str, list[tuple[int, bool]]]] = {}
    for row in rows:
        page = places.setdefault((row["session"], row["query"]), {})
        page.setdefault(row["document"], []).append((row["position"], bool(row["clicked"])))
    found = []
    for (_, query), documents in places.items():
        kept = [
            (
                document,
                min(p for p, c in seen if c or not any(c for _, c in seen)),
                any(c for _, c in seen),
            )
            for document, seen in documents.items()
        ]
        found.append((query, sorted(kept, key=lambda one: (one[1], one[0]))))
    return found


def ctr(pages: Sequence[Page], prior: Prior = (0, 0)) -> dict[Pair, float]:
    shown: dict[Pair, int] = defaultdict(int)
    clicks: dict[Pair, int] = defaultdict(int)
    for query, places in pages:
        for document, _, clicked in places:
            shown[query, document] += 1
            clicks[query, document] += clicked
    return {pair: (clicks[pair] + prior[0]) / (shown[pair] + sum(prior)) for pair in shown}


def coec(pages: Sequence[Page], weight: float = 0) -> dict[Pair, float]:
    at: dict[int, list[bool]] = defaultdict(list)
    for _, places in pages:
        for _, position, clicked in places:
            at[position].append(clicked)
    rate = {position: sum(clicked) / len(clicked) for position, clicked in at.items()}
    clicks: dict[Pair, float] = defaultdict(float)
    expected: dict[Pair, float] = defaultdict(float)
    for query, places in pages:
        for document, position, clicked in places:
            clicks[query, document] += clicked
            expected[query, document] += rate[position]
    return {
        pair: (clicks[pair] + weight) / (expected[pair] + weight)
        if expected[pair] + weight
        else math.nan
        for pair in clicks
    }


def last_click(places: Sequence[tuple[str, int, bool]]) -> int | None:
    return max((i for i, one in enumerate(places) if one[2]), default=None)


def sdbn(pages: Sequence[Page], prior: Prior = (0, 0)) -> dict[Pair, tuple[float, float]]:
    """Give a and s of each pair that was looked at, s NaN where it was never clicked."""
    looks: dict[Pair, int] = defaultdict(int)
    clicks: dict[Pair, int] = defaultdict(int)
    lasts: dict[Pair, int] = defaultdict(int)
    for query, places in pages:
        last = last_click(places)
        for i, (document, _, clicked) in enumerate(places):
            pair = query, document
            if last is None or i <= last:
                looks[pair] += 1
            clicks[pair] += clicked
            lasts[pair] += i == last

    def over(a: float, b: float) -> float:
        return (a + prior[0]) / (b + sum(prior)) if b + sum(prior) else math.nan

    return {
        pair: (over(clicks[pair], looks[pair]), over(lasts[pair], clicks[pair])) for pair in clicks
    }


@dataclass
class PBM:
    a: dict[Pair, float]
    theta: dict[int, float]

    def likelihood(self, pages: Sequence[Page]) -> float:
        return sum(
            math.log(p if clicked else 1 - p)
            for query, places in pages
            for document, position, clicked in places
            for p in [self.a[query, document] * self.theta[position]]
        )


def pbm(pages: Sequence[Page], prior: Prior, steps: int) -> PBM:
    """Make steps of EM from one half, page by page, with the first position fixed."""
    pairs = {(query, one[0]) for query, places in pages for one in places}
    positions = sorted({one[1] for _, places in pages for one in places})
    found = PBM(dict.fromkeys(pairs, 0.5), dict.fromkeys(positions, 0.5))
    found.theta[positions[0]] = 1.0
    for _ in range(steps):
        a: dict[Pair, list[float]] = {pair: [] for pair in pairs}
        theta: dict[int, list[float]] = {position: [] for position in positions}
        for query, places in pages:
            for document, position, clicked in places:
                own, look = found.a[query, document], found.theta[position]
                miss = 1 - own * look
                a[query, document].append(1.0 if clicked else own * (1 - look) / miss)
                theta[position].append(1.0 if clicked else look * (1 - own) / miss)
        found.a = {pair: (sum(x) + prior[0]) / (len(x) + sum(prior)) for pair, x in a.items()}
        found.theta = {position: sum(x) / len(x) for position, x in theta.items()}
        found.theta[positions[0]] = 1.0
    return found


@dataclass
class DBN:
    a: dict[Pair, float]
    s: dict[Pair, float]
    gamma: float

    def ends(self, page: Page) -> list[tuple[float, int, bool]]:
        """Give every way in which a page can have come about: chance, last look, and satisfied."""
        query, places = page
        last, chance, found = last_click(places), 1.0, []
        for i, (document, _, clicked) in enumerate(places):
            a, s = self.a[query, document], self.s[query, document]
            chance *= a if clicked else 1 - a
            if last is None or i >= last:
                end = 1.0 if i == len(places) - 1 else 1 - self.gamma
                if clicked:
                    found.append((chance * s, i, True))
                found.append((chance * (1 - s if clicked else 1) * end, i, False))
            chance *= (1 - s if clicked else 1) * self.gamma
        return found

    def likelihood(self, pages: Sequence[Page]) -> float:
        return sum(math.log(sum(chance for chance, _, _ in self.ends(page))) for page in pages)


def dbn(pages: Sequence[Page], prior: Prior, steps: int) -> DBN:
    """Make steps of EM, by enumerating how each page can have come about."""
    pairs = {(query, one[0]) for query, places in pages for one in places}
    found = DBN(dict.fromkeys(pairs, 0.5), dict.fromkeys(pairs, 0.5), 0.5)
    for _ in range(steps):
        a = {pair: [prior[0], sum(prior)] for pair in pairs}
        s = {pair: [prior[0], sum(prior)] for pair in pairs}
        on = [0.0, 0.0]
        for query, places in pages:
            ways = found.ends((query, places))
            total = sum(chance for chance, _, _ in ways)
            for chance, end, satisfied in ways:
                w = chance / total
                for i, (document, _, clicked) in enumerate(places[: end + 1]):
                    pair, is_end = (query, document), i == len(places) - 1
                    a[pair][0] += w * clicked
                    a[pair][1] += w
                    if clicked and not is_end:
                        s[pair][0] += w * (satisfied and i == end)
                        s[pair][1] += w
                    if not is_end and not (satisfied and i == end):
                        on[0] += w * (i < end)
                        on[1] += w
        found = DBN(
            {pair: x / n if n else found.a[pair] for pair, (x, n) in a.items()},
            {pair: x / n if n else found.s[pair] for pair, (x, n) in s.items()},
            on[0] / on[1] if on[1] else found.gamma,
        )
    return found


@dataclass
class Users:
    """Users who click as a model says, on lists drawn at random; and the truth about them."""

    log: dict[str, list[Any]]
    a: np.ndarray[Any, Any]
    s: np.ndarray[Any, Any]
    theta: np.ndarray[Any, Any]
    gamma: float

    def of(self, counts: Any, truth: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Give the truth about each pair that was counted."""
        names = zip(counts.pair_query.tolist(), counts.pair_document.tolist(), strict=True)
        return np.array([truth[int(counts.queries[q]), int(counts.documents[d])] for q, d in names])


def users(
    model: str, seed: int, pages: int = 4000, queries: int = 8, pool: int = 12, width: int = 8
) -> Users:
    """Let users click; those of SDBN find a last document that satisfies everybody.

    SDBN takes every last click for satisfaction, which is true of users who go on until satisfied,
    and always are in the end.
    """
    draw = np.random.default_rng([seed, len(model)])
    a, s = draw.beta(1, 3, (queries, pool)), draw.beta(2, 2, (queries, pool))
    theta, gamma = np.arange(1, width + 1) ** -0.7, 1.0 if model == "sdbn" else 0.85
    if model == "sdbn":
        a[:, -1] = s[:, -1] = 1.0
    query = draw.integers(queries, size=pages)
    order = np.argsort(draw.random((pages, pool)), axis=1)[:, :width]
    if model == "sdbn":
        order = np.argsort(draw.random((pages, pool - 1)), axis=1)[:, :width]
        order[:, -1] = pool - 1
    clicked = np.zeros((pages, width), bool)
    look = np.ones(pages, bool)
    for place in range(width):
        own = query, order[:, place]
        looked = draw.random(pages) < theta[place] if model == "pbm" else look
        clicked[:, place] = looked & (draw.random(pages) < a[own])
        look &= ~(clicked[:, place] & (draw.random(pages) < s[own]))
        look &= draw.random(pages) < gamma
    log = {
        "session": np.repeat(np.arange(pages), width).tolist(), "query": np.repeat(query, width).tolist(),
        "document": order.ravel().tolist(), "position": np.tile(np.arange(1, width + 1), pages).tolist(),
        "clicked": clicked.ravel().tolist(),
    }  # fmt: skip
    return Users(log, a, s, theta, gamma)
