"""The plain reference of fusion: every normalisation and every method, loop by loop.

A list is a dict of scores by document; a run's `Entries` are what it says of each document, its
rank and its normalised score. Parameters are given with every one set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cmp_to_key
from typing import Any, NamedTuple

Params = Mapping[str, Any]
Scores = Mapping[str, float]
Lists = Mapping[str, Scores]


class Entry(NamedTuple):
    """A document in the list of a run: its rank there, infinite if the run did not find it."""

    rank: float
    score: float


Entries = dict[str, Entry]
#: What a run was found to give a rank of a list of some length.
Learnt = Callable[[float, int], float]

#: A spread that is smaller counts as this, where engines do not say otherwise.
LEAST = 1e-9


def best_first(scores: Scores) -> list[str]:
    """Sort documents by score, ties by id descending."""
    by_id = sorted(scores, key=lambda document: document.encode(), reverse=True)
    return sorted(by_id, key=lambda document: -scores[document])


def found(scores: Scores) -> Entries:
    return {d: Entry(float(i), scores[d]) for i, d in enumerate(best_first(scores), 1)}


def candidates(lists: Sequence[Scores]) -> list[str]:
    """Every document that a run found, in the order in which they are met."""
    return list(dict.fromkeys(d for scores in lists for d in best_first(scores)))


# Normalisations: the entries of one list, and how many candidates there are.


def _rescored(entries: Entries, score: Callable[[float], float]) -> Entries:
    return {d: Entry(entry.rank, score(entry.score)) for d, entry in entries.items()}


def _of(entries: Entries) -> list[float]:
    return [entry.score for entry in entries.values()]


def _total(numbers: Sequence[float]) -> float:
    result = 0.0
    for number in numbers:
        result += number
    return result


def _mean(scores: list[float]) -> float:
    return _total(scores) / len(scores)


def _deviation(scores: list[float], less: int) -> float:
    mean = _mean(scores)
    squares = _total([(s - mean) * (s - mean) for s in scores])
    return math.sqrt(squares / max(len(scores) - less, 1))


def _min_max(entries: Entries) -> Entries:
    low, high = min(_of(entries)), max(_of(entries))
    return _rescored(entries, lambda s: (s - low) / max(high - low, LEAST))


def _min_max_inverted(entries: Entries) -> Entries:
    low, high = min(_of(entries)), max(_of(entries))
    return {
        d: Entry(len(entries) + 1 - rank, (high - s) / max(high - low, LEAST))
        for d, (rank, s) in entries.items()
    }


def _max(entries: Entries) -> Entries:
    high = max(_of(entries))
    return _rescored(entries, lambda s: s / max(high, LEAST))


def _sum(entries: Entries) -> Entries:
    low = min(_of(entries))
    whole = _total([s - low for s in _of(entries)])
    return _rescored(entries, lambda s: (s - low) / max(whole, LEAST))


def _z_score(entries: Entries) -> Entries:
    if _is_flat(entries):
        return _rescored(entries, lambda _: 0.0)
    mean, deviation = _mean(_of(entries)), _deviation(_of(entries), 0)
    return _rescored(entries, lambda s: (s - mean) / max(deviation, LEAST))


def _rank(entries: Entries) -> Entries:
    return {d: Entry(r, 1 - (r - 1) / len(entries)) for d, (r, _) in entries.items()}


def _l2(entries: Entries) -> Entries:
    length = math.sqrt(_total([s * s for s in _of(entries)]))
    return _rescored(entries, lambda s: s / length if length else 0.0)


def _distribution(entries: Entries) -> Entries:
    if _is_flat(entries):
        return _rescored(entries, lambda _: 0.5)
    mean, deviation = _mean(_of(entries)), _deviation(_of(entries), 1)
    return _rescored(entries, lambda s: (s - (mean - 3 * deviation)) / (6 * deviation))


def _relative(entries: Entries) -> Entries:
    if _is_flat(entries):
        return _rescored(entries, lambda _: 1.0)
    low, high = min(_of(entries)), max(_of(entries))
    return _rescored(entries, lambda s: (s - low) / (high - low))


def _elastic_minmax(entries: Entries) -> Entries:
    close = max(_of(entries)) - min(_of(entries)) < 1e-6
    return _rescored(entries, lambda _: 1.0) if close else _relative(entries)


def _opensearch_min_max(entries: Entries) -> Entries:
    return _rescored(_relative(entries), lambda s: 0.001 if s == 0 else s)


def _opensearch_z_score(entries: Entries) -> Entries:
    if _is_flat(entries):
        return entries
    mean, deviation = _mean(_of(entries)), _deviation(_of(entries), 1)
    high = max(_of(entries))

    def score(s: float) -> float:
        return high if s == mean else (s - mean) / deviation if s > mean else 0.001

    return _rescored(entries, score)


def _is_flat(entries: Entries) -> bool:
    return len(set(_of(entries))) == 1


NORMS: dict[str, Callable[[Entries], Entries]] = {
    "none": lambda entries: entries, "min-max": _min_max, "min-max-inverted": _min_max_inverted,
    "max": _max, "sum": _sum, "z-score": _z_score, "rank": _rank, "l2": _l2,
    "distribution": _distribution, "relative": _relative, "elastic-minmax": _elastic_minmax,
    "opensearch-min-max": _opensearch_min_max, "opensearch-z-score": _opensearch_z_score,
}  # fmt: skip


def _borda_norm(entries: Entries, every: Sequence[str]) -> Entries:
    """Give every candidate a score, whether the list has it or not."""
    here = {d: Entry(r, 1 - (r - 1) / len(every)) for d, (r, _) in entries.items()}
    for d in every:
        here.setdefault(d, Entry(math.inf, 0.5 - (len(entries) - 1) / (2 * len(every))))
    return here


def normalised(norm: str, lists: Sequence[Scores]) -> list[Entries]:
    """Normalise the lists of one query."""
    every, whole = candidates(lists), [found(scores) for scores in lists]
    if norm == "borda":
        return [_borda_norm(entries, every) for entries in whole]
    return [NORMS[norm](entries) if entries else {} for entries in whole]


# Methods: what the runs say of each document becomes its score.


class Said(NamedTuple):
    """What a run says of a document: its number, its weight, and its entry."""

    run: int
    weight: float
    rank: float
    score: float


def weights(params: Params, runs: int) -> list[float]:
    written = params.get("weights", "equal")
    return [1.0] * runs if written == "equal" else [float(w) for w in written[1:-1].split(",")]


def fused(
    name: str, params: Params, lists: Sequence[Entries], every: Sequence[str],
    learnt: Sequence[Learnt] = (),
) -> dict[str, float]:  # fmt: skip
    """Fuse the normalised lists of one query by a method; `every` names all candidates."""
    weight = weights(params, len(lists))
    if name in ("Borda", "WBorda"):
        return _borda(lists, every, weight)
    if name in ("Condorcet", "WCondorcet"):
        return _condorcet(lists, every, weight)
    if learnt:
        return {d: _taught(name, lists, d, learnt) for d in every}
    result = {}
    for d in every:
        said = [Said(i, weight[i], *entries[d]) for i, entries in enumerate(lists) if d in entries]
        result[d] = METHODS[name](said, params, weight)
    return result


def _each(gives: Callable[[Said, Params], float]) -> Callable[[list[Said], Params, Any], float]:
    """Add up what each run gives."""
    return lambda said, params, _: _total([gives(one, params) for one in said])


def _squares(said: list[Said]) -> float:
    return _total([1 / (one.rank * one.rank) for one in said])


def _scores(said: list[Said]) -> list[float]:
    return [one.score for one in said]


def _weighted(said: list[Said]) -> float:
    return _total([one.weight * one.score for one in said])


def _median(said: list[Said], params: Params, weight: Any) -> float:
    ordered, size = sorted(_scores(said)), len(said)
    return (ordered[(size - 1) // 2] + ordered[size // 2]) / 2


def _rbc(one: Said, params: Params) -> float:
    return float((1 - params["phi"]) * float(params["phi"]) ** (one.rank - 1))


def _qdrant(one: Said, params: Params) -> float:
    return 1 / (one.rank / one.weight + params["k"] - 1) if one.weight else 0.0


def _arithmetic(said: list[Said], params: Params, weight: list[float]) -> float:
    counted = [one for one in said if one.score >= 0]
    below = [one.run for one in said if one.score < 0]
    share = _total([w for run, w in enumerate(weight) if run not in below])
    return _weighted(counted) / share if share > 0 else 0.0


def _geometric(said: list[Said], params: Params, weight: Any) -> float:
    counted = [one for one in said if one.score > 0 and one.weight]
    logs = _total([one.weight * math.log(one.score) for one in counted])
    return math.exp(logs / _total([one.weight for one in counted])) if counted else 0.0


def _harmonic(said: list[Said], params: Params, weight: Any) -> float:
    counted = [one for one in said if one.score > 0 and one.weight]
    parts = _total([one.weight / one.score for one in counted])
    return _total([one.weight for one in counted]) / parts if counted else 0.0


METHODS: dict[str, Callable[[list[Said], Params, list[float]], float]] = {
    "RRF": _each(lambda one, p: 1 / (p["k"] + one.rank)),
    "WRRF": _each(lambda one, p: one.weight / (p["k"] + one.rank)),
    "RBC": _each(_rbc),
    "ISR": lambda said, p, _: len(said) * _squares(said),
    "LogISR": lambda said, p, _: math.log(len(said)) * _squares(said),
    "LogNISR": lambda said, p, _: math.log(len(said) + p["sigma"]) * _squares(said),
    "CombSUM": lambda said, p, _: _total(_scores(said)),
    "CombMIN": lambda said, p, _: min(_scores(said)),
    "CombMAX": lambda said, p, _: max(_scores(said)),
    "CombMED": _median,
    "CombANZ": lambda said, p, _: _total(_scores(said)) / len(said),
    "CombMNZ": lambda said, p, _: len(said) * _total(_scores(said)),
    "CombGMNZ": lambda said, p, _: float(len(said) ** p["gamma"] * _total(_scores(said))),
    "WSUM": lambda said, p, _: _weighted(said),
    "WMNZ": lambda said, p, _: _total(_scores(said)) * _total([one.weight for one in said]),
    "Mixed": lambda said, p, _: math.sqrt(len(said)) * _weighted(said),
    "DBSF": lambda said, p, _: _total(_scores(said)),
    "QdrantRRF": _each(_qdrant),
    "RankedFusion": _each(lambda one, p: one.weight / (59 + one.rank)),
    "RelativeScoreFusion": lambda said, p, _: _weighted(said),
    "Linear": lambda said, p, _: _weighted(said),
    "ArithmeticMean": _arithmetic,
    "GeometricMean": _geometric,
    "HarmonicMean": _harmonic,
}


def _points(entries: Entries, every: Sequence[str]) -> dict[str, float]:
    """Borda's points; what a list lacks shares the points that it leaves."""
    ranks = {d: entry.rank for d, entry in entries.items() if entry.rank < math.inf}
    gone = (len(every) - len(ranks) + 1) / 2
    return {d: len(every) + 1 - ranks[d] if d in ranks else gone for d in every}


def _borda(lists: Sequence[Entries], every: Sequence[str], weight: list[float]) -> dict[str, float]:
    points = [_points(entries, every) for entries in lists]
    return {d: _total([w * own[d] for w, own in zip(weight, points, strict=True)]) for d in every}


def margin(lists: Sequence[Entries], weight: Sequence[float], a: str, b: str) -> float:
    """Count the votes for one document before another, less those against, exactly enough."""
    votes = []
    for entries, w in zip(lists, weight, strict=True):
        mine, other = (entries[d].rank if d in entries else math.inf for d in (a, b))
        votes.append(w if mine < other else -w if mine > other else 0.0)
    total = math.fsum(votes) / max(weight)
    return total if abs(total) > 1e-9 else 0.0


def _condorcet(
    lists: Sequence[Entries], every: Sequence[str], weight: list[float]
) -> dict[str, float]:
    points = {d: round(p / max(weight), 9) for d, p in _borda(lists, every, weight).items()}

    def compare(a: str, b: str) -> int:
        votes = margin(lists, weight, a, b)
        return (votes < 0) - (votes > 0)

    order = sorted(best_first(points), key=cmp_to_key(compare))
    return {d: float(len(order) - i) for i, d in enumerate(order)}


# Learning: from where the relevant documents of training queries are.


def learnt(name: str, params: Params, lists: Lists, qrels: Lists) -> Learnt:
    """Learn from one run: what it gives a rank of a list of some length."""
    ranked = [best_first(lists.get(query, {})) for query in qrels]
    hits = [
        [rank for rank, d in enumerate(documents, 1) if judged.get(d, -math.inf) >= params["rel"]]
        for documents, judged in zip(ranked, qrels.values(), strict=True)
    ]
    relevant = [sum(g >= params["rel"] for g in judged.values()) for judged in qrels.values()]
    gives = LEARNERS[name](params, hits, [len(documents) for documents in ranked], relevant)
    return cache(gives)


Hits = list[list[int]]


def _chance(rank: int, hits: Hits, sizes: list[int]) -> float:
    """The share of relevant documents at a rank, among the lists that have it."""
    lists = sum(size >= rank for size in sizes)
    return sum(rank in own for own in hits) / lists if lists else 0.0


def _pos_fuse(params: Params, hits: Hits, sizes: list[int], relevant: list[int]) -> Learnt:
    return lambda rank, size: _chance(int(rank), hits, sizes)


def _slide_fuse(params: Params, hits: Hits, sizes: list[int], relevant: list[int]) -> Learnt:
    def gives(rank: float, size: int) -> float:
        window = range(max(int(rank) - params["w"], 1), min(int(rank) + params["w"], size) + 1)
        return _total([_chance(r, hits, sizes) for r in window]) / len(window)

    return gives


def _prob_fuse(params: Params, hits: Hits, sizes: list[int], relevant: list[int]) -> Learnt:
    def part(rank: float, size: int) -> int:
        return (int(rank) - 1) // max(math.ceil(size / int(params["parts"])), 1)

    def gives(rank: float, size: int) -> float:
        wanted, shares = part(rank, size), []
        for own, length in zip(hits, sizes, strict=True):
            inside = [r for r in range(1, length + 1) if part(r, length) == wanted]
            shares.append(sum(r in own for r in inside) / len(inside) if inside else 0.0)
        return _total(shares) / len(shares) / (wanted + 1)

    return gives


def _share(rank: float, ends: list[int], hits: Hits) -> float | None:
    """The share of relevant documents in the segment of a rank; None beyond the last one."""
    begin = 0
    for end in ends:
        if rank <= end:
            count = sum(begin < r <= end for own in hits for r in own)
            return count / (end - begin) / len(hits)
        begin = end
    return None


def _bayes_fuse(params: Params, hits: Hits, sizes: list[int], relevant: list[int]) -> Learnt:
    def gives(rank: float, size: int) -> float:
        p = _share(rank, [5, 10, 15, 20, 30, 100, 200, 500, 1000], hits) or 0.001
        return math.log(p / (1 - p if p < 1 else 0.001))

    return gives


def _seg_fuse(params: Params, hits: Hits, sizes: list[int], relevant: list[int]) -> Learnt:
    ends = [5, 15, 35, 75, 155, 315, 635, 1275, 2555, 5115]
    return lambda rank, size: _share(rank, ends, hits) or 0.0


def _map_fuse(params: Params, hits: Hits, sizes: list[int], relevant: list[int]) -> Learnt:
    values = [
        _total([i / rank for i, rank in enumerate(own, 1)]) / whole if whole else 0.0
        for own, whole in zip(hits, relevant, strict=True)
    ]
    return lambda rank, size: _total(values) / len(values) / rank


LEARNERS: dict[str, Callable[[Params, Hits, list[int], list[int]], Learnt]] = {
    "PosFuse": _pos_fuse, "SlideFuse": _slide_fuse, "ProbFuse": _prob_fuse,
    "BayesFuse": _bayes_fuse, "SegFuse": _seg_fuse, "MAPFuse": _map_fuse,
}  # fmt: skip


def _taught(
    name: str, lists: Sequence[Entries], document: str, taught: Sequence[Learnt]
) -> float:  # fmt: skip
    result = 0.0
    for entries, gives in zip(lists, taught, strict=True):
        if document in entries:
            rank, score = entries[document]
            result += gives(rank, len(entries)) * (1 + score if name == "SegFuse" else 1)
        elif name == "BayesFuse":
            result += gives(math.inf, len(entries))
    return result
