"""How often each method finds the better of two runs, and how often one where there is none.

Visitors of the example data are made up. `make study` prints the table of the docs.
"""

from __future__ import annotations

import random
from functools import cache

import pytest

import idealist as il
from effort import IS_SLOW, tries
from idealist.interleaving.interleaved import METHODS
from idealist.significance.cluster_flips import flip_clusters
from test_compare import ROOT

TRIALS, IMPRESSIONS = tries(20, 1000), 300
#: How likely a document is to be clicked, if it is seen and relevant, and if it is not.
CLICKS = {"relevant": (0.35, 0.05), "anything": (0.15, 0.15)}


@cache
def grades() -> dict[tuple[str, ...], float]:
    rows = (line.split() for line in (ROOT / "examples" / "qrels.txt").read_text().splitlines())
    return {(query, document): float(grade) for query, _, document, grade in rows}


def searched(made: il.Interleaved, clicks: str, source: random.Random) -> list[float]:
    """Let visitors look from the top down, each further place by four in five of them."""
    queries = sorted({one.query for one in made.lists})
    lists = {query: made[query] for query in queries}
    yes, no = CLICKS[clicks]
    found = []
    for _ in range(IMPRESSIONS):
        some = lists[source.choice(queries)]
        (one,) = source.choices(some, [own.probability for own in some])
        chances = [yes if grades().get((one.query, d), 0) > 0 else no for d in one.documents]
        seen = enumerate(chances)
        found.append(one.score([i for i, p in seen if source.random() < 0.8**i * p]))
    return found


@pytest.mark.parametrize("method", METHODS)
def test_methods_find_the_better_run(method: str) -> None:
    a, b = (str(ROOT / "examples" / name) for name in ("bm25.run", "reranked.run"))
    made = il.interleave(a, b, method)
    found = dict.fromkeys(CLICKS, 0)
    for clicks in CLICKS:
        for trial in range(TRIALS):
            scores = searched(made, clicks, random.Random(f"{method} {trial}"))
            tested = flip_clusters(scores, [1] * IMPRESSIONS, flips=1999, seed=trial)
            found[clicks] += tested.p <= 0.05 and (clicks == "anything" or tested.mean > 0)
    better, false = (found[clicks] / TRIALS for clicks in CLICKS)
    if IS_SLOW:
        print(f"\n| {method} | {better:.1%} | {false:.1%} |")
    assert better > (0.85 if IS_SLOW else 0.6)
    assert false < (0.07 if IS_SLOW and method != "balanced" else 0.3)
