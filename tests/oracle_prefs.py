"""The plain reference: measures of preferences, pair by pair, from levels in groups and subgroups.

A group is a list of subgroups, each of which gives documents a level; `place` has the rank of each
document found. Plain judgments are one group of one subgroup.
"""

from __future__ import annotations

import math

from oracle import Doc, Params

Group = list[dict[str, float]]
Place = dict[str, int]
#: How many documents of a preference must have been found for it to count.
NEEDED = {"all": 0, "implied": 1, "retrieved": 2}


def wanted(group: Group) -> set[tuple[str, str]]:
    """List what is preferred to what; with several subgroups, what follows as well."""
    pairs = {(a, b) for levels in group for a in levels for b in levels if levels[a] > levels[b]}
    while more := {(a, c) for a, b in pairs for b2, c in pairs if b == b2} - pairs:
        if len(group) == 1:
            break
        pairs |= more
    return pairs


def consistent(group: Group) -> bool:
    """Whether no document is preferred to itself, or relevant in one subgroup and not in another."""
    signs = {(d, levels[d] > 0) for levels in group for d in levels}
    return all(a != b for a, b in wanted(group)) and len(signs) == len({d for d, _ in signs})


def count(pairs: set[tuple[str, str]], place: Place, of: str) -> tuple[float, float]:
    """Count the preferences fulfilled, and those that there are."""
    counting = [(a, b) for a, b in pairs if (a in place) + (b in place) >= NEEDED[of]]
    kept = [a in place and place[a] < place.get(b, math.inf) for a, b in counting]
    return sum(kept), len(kept)


def unlimited(group: Group, place: Place, of: str) -> tuple[float, float]:
    """Count with all non-relevant documents."""
    return count(wanted(group), place, of)


def balanced(group: Group, place: Place, of: str) -> tuple[float, float]:
    """Count with as many non-relevant documents as relevant ones."""
    level = {d: max(x[d] for x in group if d in x) for x in group for d in x}
    seen = [d for d in level if of != "retrieved" or d in place]
    relevant = [d for d in seen if level[d] > 0]
    others = [d for d in seen if level[d] <= 0]
    others.sort(key=lambda d: (place.get(d, math.inf), -level[d], d))
    gone = set(others[len(relevant) :])
    pairs = {(a, b) for a, b in wanted(group) if not {a, b} & gone}
    for n in range(len(relevant) - len(others)):
        pairs |= {(d, f"further {n}") for d in relevant}
    if of != "retrieved":
        return count(pairs, place, of)
    return count(pairs, place | {f"further {n}": 10**6 for n in range(len(relevant))}, of)


def as_trec_eval(group: Group, place: Place, of: str) -> tuple[float, float]:
    """Count as prefs_avgjg_Rnonrel does, whose help text says something else."""
    level = {d: max(x[d] for x in group if d in x) for x in group for d in x}
    near = of == "retrieved"
    relevant = [d for d in level if level[d] > 0]
    few = sum(d in place for d in relevant) if near else len(relevant)
    many = sum(level[d] <= 0 and (not near or d in place) for d in level)
    kept, possible = count(wanted(group), place, of)
    if few >= many:
        found = sum(d in place for d in relevant)
        all_of_them = len(relevant) if of != "implied" else found
        return kept + found * (few - many), possible + all_of_them * (few - many)
    divided = len(group) > 1
    low = [d for d in level if level[d] <= (0 if divided else min(level.values()))]
    low.sort(key=lambda d: (place.get(d, math.inf), -level[d], d))
    if near:
        low = [d for d in low if d in place]
    held = low[: len(relevant) if divided else few]
    kept, possible = count(
        {(a, b) for a, b in wanted(group) if b not in low or b in held}, place, of
    )
    if not divided:
        for a in low:
            for b in held:
                possible += (a in place) + (b in place) >= NEEDED[of]
                kept += a in place and place[a] < place.get(b, math.inf)
    return kept, possible


def simp(groups: list[Group], place: Place, p: Params) -> float | None:
    counts = [count(wanted(group), place, p["of"]) for group in groups]
    if not any(wanted(group) for group in groups):
        return None
    whole = sum(possible for _, possible in counts)
    return sum(kept for kept, _ in counts) / whole if whole else 0.0


def pair(groups: list[Group], place: Place, p: Params) -> float | None:
    votes = [one for group in groups for one in wanted(group)]
    shares = []
    for a, b in {(min(one), max(one)) for one in votes}:
        if (a in place) + (b in place) >= NEEDED[p["of"]]:
            first, second = place.get(a, math.inf), place.get(b, math.inf)
            won = votes.count((a, b)) if first < second else votes.count((b, a))
            both_absent = first == second
            shares.append(0 if both_absent else won / (votes.count((a, b)) + votes.count((b, a))))
    return None if not votes else sum(shares) / len(shares) if shares else 0.0


def avgjg(groups: list[Group], place: Place, p: Params) -> float | None:
    how = {"all": unlimited, "R": balanced, "trec_eval": as_trec_eval}[p["nonrelevant"]]
    counts = [how(group, place, p["of"]) for group in groups]
    of_all = sum(how(group, place, "all")[1] for group in groups)
    if not of_all + sum(possible for _, possible in counts):
        return None
    if p["nonrelevant"] == "trec_eval" and not all(possible for _, possible in counts):
        return None
    return sum(kept / possible if possible else 0 for kept, possible in counts) / len(counts)


def num_prefs_poss(groups: list[Group], place: Place, p: Params) -> float:
    return sum(count(wanted(group), place, p["of"])[1] for group in groups)


def num_prefs_ful(groups: list[Group], place: Place, p: Params) -> float:
    return sum(count(wanted(group), place, p["of"])[0] for group in groups)


def _plain(docs: list[Doc], pool: list[float]) -> tuple[list[Group], Place]:
    """Take judgments for one group; documents that were not found have made-up names."""
    found = {doc.id: doc.grade for doc in docs if doc.grade is not None}
    left = list(pool)
    for grade in found.values():
        left.remove(grade)
    levels = found | {f"not found {n}": grade for n, grade in enumerate(left)}
    return [[levels]], {doc.id: r for r, doc in enumerate(docs) if doc.id in levels}


def _prefs_simp(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return simp(*_plain(docs, pool), p)


def _prefs_pair(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return pair(*_plain(docs, pool), p)


def _prefs_avgjg(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return avgjg(*_plain(docs, pool), p)


def _prefs_num_prefs_poss(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    return num_prefs_poss(*_plain(docs, pool), p)


def _prefs_num_prefs_ful(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    return num_prefs_ful(*_plain(docs, pool), p)
