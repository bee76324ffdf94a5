"""The plain reference: measures of incomplete judgments and of agreement, loop by loop."""

from __future__ import annotations

import math

from oracle import Doc, Params, formula, gain, hit, is_relevant, top


def _infAP(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    """Walk the list; a negative grade is pooled but not judged, None is not pooled."""
    total, relevant, other, pooled = 0.0, 0, 0, 0
    for r, doc in enumerate(docs, 1):
        if doc.grade is None:
            continue
        if hit(doc, p):
            inferred = (relevant + 1e-5) / (relevant + other + 2e-5)
            total += 1.0 if r == 1 else 1 / r + (r - 1) / r * (pooled / (r - 1)) * inferred
            relevant += 1
        elif doc.grade >= 0 and not is_relevant(doc.grade, p):
            other += 1
        pooled += 1
    return total / sum(is_relevant(grade, p) for grade in pool)


def estimated(stratum: str, some: int, p: Params) -> float:
    """Say how many documents of a stratum so many drawn ones stand for."""
    inside = [grade for d, grade in p["grades"].items() if p["strata"][d] == stratum]
    drawn = sum(grade >= 0 for grade in inside)
    return some * len(inside) / drawn if drawn else 0.0


def _xinfAP(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    """Take `p["strata"]` and `p["grades"]`, of every document of the pool."""
    names = sorted(set(p["strata"].values()))
    value = relevant_there_are = 0.0
    for one in names:
        inside = [d for d in p["grades"] if p["strata"][d] == one]
        relevant = sum(drawn_relevant(p["grades"][d], p) for d in inside)
        relevant_there_are += estimated(one, relevant, p)
        precisions = 0.0
        for r, doc in enumerate(top(docs, k), 1):
            if doc.id not in inside or not drawn_relevant(doc.grade, p):
                continue
            expected = 0.0
            for other in names:
                above = [d for d in docs[: r - 1] if p["strata"].get(d.id) == other]
                found = sum(drawn_relevant(d.grade, p) for d in above)
                judged = sum(d.grade is not None and d.grade >= 0 for d in above)
                expected += len(above) * (found + 1e-5) / (judged + 3e-5)
            precisions += 1 / r + expected / r
        if relevant:
            value += estimated(one, relevant, p) * precisions / relevant
    return value / relevant_there_are if relevant_there_are else None


def drawn_relevant(grade: float | None, p: Params) -> bool:
    return grade is not None and grade >= 0 and is_relevant(grade, p)


def _statAP(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    """Take `p["inclusion"]` and `p["grades"]`, of every document of the sample."""
    relevant = [d for d, grade in p["grades"].items() if drawn_relevant(grade, p)]
    whole = sum(1 / p["inclusion"][d] for d in relevant)
    value = above = 0.0
    for r, doc in enumerate(top(docs, k), 1):
        if doc.id in relevant:
            value += (1 + above) / r / p["inclusion"][doc.id]
            above += 1 / p["inclusion"][doc.id]
    return value / whole if relevant else None


def _infNDCG(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    """Take `p["strata"]` and `p["grades"]`, of every document of the pool."""
    names, dcg = sorted(set(p["strata"].values())), 0.0
    for one in names:
        mine = [(r, d) for r, d in enumerate(top(docs, k), 1) if p["strata"].get(d.id) == one]
        judged = sum(d.grade is not None and d.grade >= 0 for _, d in mine)
        gains = sum(worth(doc.grade, p) / math.log2(r + 1) for r, doc in mine)
        dcg += len(mine) * gains / judged if judged else 0.0
    best: list[float] = []
    for value in sorted({worth(grade, p) for grade in p["grades"].values()} - {0.0}, reverse=True):
        number = 0.0
        for one in names:
            inside = [p["grades"][d] for d in p["grades"] if p["strata"][d] == one]
            number += estimated(one, sum(worth(grade, p) == value for grade in inside), p)
        best += [value] * int(number + 0.5)
    ideal = sum(value / math.log2(r + 1) for r, value in enumerate(best, 1) if r <= k)
    return dcg / ideal if ideal else None


def blended(docs: list[Doc], pool: list[float], r: int, p: Params) -> float:
    """Blend precision and cumulative gain at a rank."""
    ideal = sorted((worth(grade, p) for grade in pool), reverse=True)[:r]
    count = sum(worth(doc.grade, p) > 0 for doc in docs[:r])
    gains = sum(worth(doc.grade, p) for doc in docs[:r])
    return float((count + p["beta"] * gains) / (r + p["beta"] * sum(ideal)))


def worth(grade: float | None, p: Params) -> float:
    return gain(grade, p) if grade is not None and grade >= 0 else 0.0


def relevant_ranks(docs: list[Doc], p: Params) -> list[int]:
    return [r for r, doc in enumerate(docs, 1) if worth(doc.grade, p) > 0]


def _Q(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    relevant = sum(worth(grade, p) > 0 for grade in pool)
    ranks = relevant_ranks(top(docs, k), p)
    total = sum(blended(docs, pool, r, p) for r in ranks)
    return total / min(k, relevant) if relevant else None


def _NCU(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    gains = [worth(grade, p) for grade in pool if worth(grade, p) > 0]
    total = 0.0
    for n, r in enumerate(relevant_ranks(docs, p)):
        if p["readers"] == "graded":
            stop = worth(docs[r - 1].grade, p) / sum(gains)
        else:
            stop = p["gamma"] ** n / sum(p["gamma"] ** i for i in range(len(gains)))
        total += stop * blended(docs, pool, r, p)
    return total if gains else None


def _OMeasure(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    ranks = relevant_ranks(docs, p)[:1]
    value = sum(blended(docs, pool, r, p) for r in ranks)
    return value if any(worth(grade, p) > 0 for grade in pool) else None


def down_to_the_best(docs: list[Doc], p: Params) -> list[int]:
    gains = [worth(doc.grade, p) for doc in docs]
    best = gains.index(max(gains)) + 1 if gains else 0
    return [r for r in relevant_ranks(docs, p) if r <= best]


def _PMeasure(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    ranks = down_to_the_best(docs, p)[-1:]
    value = sum(blended(docs, pool, r, p) for r in ranks)
    return value if any(worth(grade, p) > 0 for grade in pool) else None


def _PPlus(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    ranks = down_to_the_best(docs, p)
    value = sum(blended(docs, pool, r, p) for r in ranks) / max(len(ranks), 1)
    return value if any(worth(grade, p) > 0 for grade in pool) else None


def _nERR(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    best = [Doc("", 0.0, grade) for grade in sorted(pool, reverse=True)]
    err = formula("ERR")
    ideal = err(best, pool, k, p)
    return (err(docs, pool, k, p) or 0.0) / ideal if ideal else None


def _Accuracy(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    seen = [is_relevant(doc.grade, p) for doc in top(docs, k)]
    pairs = [(a, b) for i, a in enumerate(seen) for b in seen[i + 1 :] if a != b]
    return sum(a for a, _ in pairs) / len(pairs) if pairs else None


def _OPA(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    grades = [doc.grade for doc in docs if doc.grade is not None]
    pairs = [(a, b) for i, a in enumerate(grades) for b in grades[i + 1 :] if a != b]
    return sum(a > b for a, b in pairs) / len(pairs) if pairs else None


def overlap(ranking: list[str], ideal: list[str], p: float, depth: int) -> tuple[float, float]:
    """Sum the overlap at each depth with its weight, and the weights."""
    score = weights = 0.0
    for d in range(1, depth + 1):
        score += p ** (d - 1) * len(set(ranking[:d]) & set(ideal[:d])) / d
        weights += p ** (d - 1)
    return score, weights


def _Compat(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    left = [grade for grade in pool if grade > 0]
    found = [doc for doc in docs if doc.grade is not None and doc.grade > 0]
    for doc in found:
        left.remove(doc.grade or 0)
    rest = [Doc(f"not retrieved {i}", 0.0, grade) for i, grade in enumerate(left)]
    ideal = [doc.id for doc in sorted([*found, *rest], key=lambda doc: -(doc.grade or 0))]
    if not ideal:
        return None
    depth = max(len(docs), len(ideal))
    score, weights = overlap([doc.id for doc in docs], ideal, p["p"], depth)
    return score / (overlap(ideal, ideal, p["p"], depth)[0] if p["normalize"] else weights)


def _PFound(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    highest = p["maximum"] if p["max_grade"] == "observed" else float(p["max_grade"])
    value, looking = 0.0, 1.0
    for doc in top(docs, k):
        grade = max(doc.grade or 0, 0)
        found = grade if p["probability"] == "identity" else (2**grade - 1) / 2**highest
        value += looking * found
        looking *= (1 - found) * p["decay"]
    return float(value) if any(grade > 0 for grade in pool) else None


def _FallOut(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    if p["denominator"] == "N_list":
        others = [not is_relevant(doc.grade, p) for doc in docs]
        whole = sum(others)
    else:
        others = [doc.grade is not None and not is_relevant(doc.grade, p) for doc in docs]
        whole = sum(not is_relevant(grade, p) for grade in pool)
    found = sum(other for r, other in enumerate(others, 1) if r <= k)
    return found / whole if whole else None


def _AverageGain(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    seen = top(docs, k)
    return sum(gain(doc.grade, p) for doc in seen) / len(seen) if seen else 0.0


def _ARP(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    gains = [worth(doc.grade, p) for doc in docs]
    ranks = sum(r * one for r, one in enumerate(gains, 1))
    return ranks / sum(gains) if sum(gains) else None


def _nDCGMinMax(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    dcg, gains = formula("DCG"), [gain(grade, p) for grade in pool]
    plain = {**p, "gain": "linear", "rel": "none", "negative": "keep"}
    better = sorted((one for one in gains if one > 0), reverse=True)
    worse = sorted(one for one in gains if one < 0)
    best, worst = (dcg([Doc("", 0.0, one) for one in row], [], k, plain) for row in (better, worse))
    if best is None or worst is None or best == worst:
        return None
    return ((dcg(docs, pool, k, p) or 0.0) - worst) / (best - worst)
