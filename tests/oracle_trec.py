"""The plain reference: trec_eval's further measures, loop by loop."""

from __future__ import annotations

import math

from oracle import _AP, _DCG, _P, _R, Doc, Params, _bpref, discounted, gain, hit, is_relevant, top


def _GMAP(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return _AP(docs, pool, k, p)


def _GMbpref(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return _bpref(docs, pool, k, p)


def _SetAP(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    recall = _R(docs, pool, k, {**p, "denominator": "R"})
    return None if recall is None else _P(docs, pool, k, p) * recall


def _Rprec(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    relevant = sum(is_relevant(grade, p) for grade in pool)
    if p["denominator"] == "R_list":
        relevant = sum(is_relevant(doc.grade, p) for doc in docs)
        if not relevant and docs:
            return None
    cutoff = int(p["times"] * relevant + 0.9)
    return sum(hit(doc, p) for doc in top(docs, cutoff)) / cutoff if cutoff else 0.0


def interpolated(docs: list[Doc], pool: list[float], recall: float, p: Params) -> float:
    """Walk up the list, keeping the best precision, until the recall is no more reached."""
    relevant = sum(is_relevant(grade, p) for grade in pool)
    needed = int(recall * relevant + (0.5 if p["rounding"] == "nearest" else 0.9))
    best = 0.0
    for r in range(len(docs), 0, -1):
        found = sum(hit(doc, p) for doc in docs[:r])
        if found >= max(needed, 1):
            best = max(best, found / r)
    return best


def _IPrec(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    return interpolated(docs, pool, p["recall"], p)


def _IAP(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    if isinstance(p["points"], int):
        points = [i / (p["points"] - 1) for i in range(p["points"])]
    else:
        points = [float(point) for point in p["points"][6:-1].split(",")]
    return sum(interpolated(docs, pool, point, p) for point in points) / len(points)


def _yaap(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    relevant = sum(is_relevant(grade, p) for grade in pool)
    found, total = 0, 0.0
    for r, doc in enumerate(docs, 1):
        if hit(doc, p):
            found += 1
            total += found / r
    return math.log((1 + total) / (1 + relevant - total))


def _binG(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    relevant = sum(is_relevant(grade, p) for grade in pool)
    vain, total = 0, 0.0
    for doc in docs:
        if hit(doc, p):
            total += 1 / math.log2(2 + vain)
        else:
            vain += 1
    return total / relevant


def ideal_gains(pool: list[float], p: Params) -> list[float]:
    """Give the gains above 0, highest first."""
    return sorted((g for grade in pool if (g := gain(grade, p)) > 0), reverse=True)


def _G(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    ideal = ideal_gains(pool, p)
    total = cost = so_far = 0.0
    for i, doc in enumerate(docs):
        cost += max(ideal[i], 1.0) if i < len(ideal) else 1.0
        so_far += gain(doc.grade, p)
        if gain(doc.grade, p):
            total += gain(doc.grade, p) / math.log2(2 + cost - so_far)
    return total / sum(ideal) if ideal else None


def ndcg_at(docs: list[Doc], ideal: list[float], rank: int, p: Params) -> float:
    best = sum(discounted(g, r, p["discount"]) for r, g in enumerate(ideal[:rank], 1))
    return _DCG(docs, [], rank, p) / best if best else 0.0


def _nDCGRel(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    ideal = ideal_gains(pool, p)
    if not ideal:
        return None
    found = [r for r, doc in enumerate(docs, 1) if gain(doc.grade, p) > 0]
    total = sum(ndcg_at(docs, ideal, r, p) for r in found)
    deepest = max(len(docs), len(ideal))
    return (total + (len(ideal) - len(found)) * ndcg_at(docs, ideal, deepest, p)) / len(ideal)


def _RnDCG(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    ideal = ideal_gains(pool, p)
    if not ideal:
        return None
    ends = [r for r, g in enumerate(ideal, 1) if r == len(ideal) or ideal[r] != g]
    if len(docs) > len(ideal) + 1:
        ends.append(len(docs))
    return sum(ndcg_at(docs, ideal, end, p) for end in ends) / len(ends)


def _IDCG(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    ideal_k = math.inf if p["ideal_cut"] == "none" else k
    if p["ideal_cut"] == "min(k,n)":
        ideal_k = min(k, len(docs))
    grades = pool if p["ideal"] == "judged" else [doc.grade for doc in docs]
    gains = [gain(grade, p) for grade in grades]
    if p["ideal"] == "perfect":
        best = max(gain(grade, p) for grade in [p["maximum"], *range(int(p["maximum"]) + 1)])
        gains, ideal_k = [best] * int(k), k
    if p["ideal_negative"] == "omit":
        gains = [max(g, 0.0) for g in gains]
    gains.sort(reverse=True)
    return sum(discounted(g, r, p["discount"]) for r, g in enumerate(gains, 1) if r <= ideal_k)


def _Utility(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    relevant = sum(is_relevant(grade, p) for grade in pool)
    found = sum(is_relevant(doc.grade, p) for doc in docs)
    elsewhere = p["documents"] - (len(docs) - found) - relevant
    return float(
        p["a"] * found
        + p["b"] * (len(docs) - found)
        + p["c"] * (relevant - found)
        + p["d"] * elsewhere
    )


def _NumNonRelRet(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    grades = [doc.grade for doc in top(docs, k) if doc.grade is not None]
    return float(sum(grade >= 0 and not is_relevant(grade, p) for grade in grades))
