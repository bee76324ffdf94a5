"""The plain reference: ranking and every measure, loop by loop, sharing no code with the package.

A ranking is a list of `Doc`; the pool is the list of all judged grades. Parameters are given as the
measure's text has them, in a dict with every parameter set.
"""

from __future__ import annotations

import itertools
import math
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

Params = dict[str, Any]


class Doc(NamedTuple):
    id: str
    score: float
    grade: float | None


def float32(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def rank(
    rows: list[tuple[str, float]],
    grades: dict[str, float],
    query: str,
    axes: Params,
    tokens: dict[str, float] | None = None,
) -> list[Doc]:
    """Rank one query's rows under a protocol; ties must not be `expected` or `random`."""
    cast = float32 if axes["precision"] == "float32" else float
    rows = [(d, cast(s)) for d, s in rows]
    if axes["exclude_self"]:
        rows = [(d, s) for d, s in rows if d != query]
    if axes["duplicates"] == "first":
        rows = [row for i, row in enumerate(rows) if row[0] not in [d for d, _ in rows[:i]]]
    if axes["duplicates"] == "last":
        rows = [row for i, row in enumerate(rows) if row[0] not in [d for d, _ in rows[i + 1 :]]]
    if str(axes["depth"]).startswith("tokens("):
        rows = affordable(rows, tokens or {}, float(axes["depth"][7:-1]), axes)
    if str(axes["depth"]).startswith("chunks("):
        rows = affordable(rows, {d: 1 for d, _ in rows}, float(axes["depth"][7:-1]), axes)
    if axes["collapse"] != "none":
        rows = collapsed(rows, axes["collapse"], axes["order"])
    grades = cast_grades(grades, axes["grades"])
    docs = [Doc(d, s, grades.get(d)) for d, s in rows]
    if axes["order"] == "score":
        docs = [doc for group in tied(docs) for doc in broken(group, axes["ties"])]
    if isinstance(axes["depth"], int):
        docs = docs[: axes["depth"]]
    if axes["negative"] == "drop":
        docs = [doc for doc in docs if doc.grade is None or doc.grade >= 0]
    if axes["unjudged"] == "drop":
        docs = [doc for doc in docs if doc.grade is not None]
    return docs


def affordable(
    rows: list[tuple[str, float]], tokens: dict[str, float], budget: float, axes: Params
) -> list[tuple[str, float]]:
    """Fill a context in rank order, until a document does not fit."""
    docs = [Doc(d, s, None) for d, s in rows]
    if axes["order"] == "score":
        docs = [doc for group in tied(docs) for doc in broken(group, axes["ties"])]
    fitting = set()
    for doc in docs:
        budget -= tokens[doc.id]
        if budget < 0:
            break
        fitting.add(doc.id)
    return [row for row in rows if row[0] in fitting]


def cast_grades(grades: dict[str, float], rule: str) -> dict[str, float]:
    """Cut fractions off, and leave out what is then 0, if the rule says so."""
    if rule == "keep":
        return grades
    whole = {d: float(math.trunc(g)) for d, g in grades.items()}
    return whole if rule == "truncate" else {d: g for d, g in whole.items() if g != 0}


def collapsed(rows: list[tuple[str, float]], pattern: str, order: str) -> list[tuple[str, float]]:
    best: dict[str, float] = {}
    for chunk, score in rows:
        whole = re.sub(f"({pattern})$", "", chunk) or chunk
        if whole not in best or (order == "score" and score > best[whole]):
            best[whole] = score
    return list(best.items())


def tied(docs: list[Doc]) -> list[list[Doc]]:
    """Group documents by score, highest score first, each group in input order."""
    scores = sorted({doc.score for doc in docs}, reverse=True)
    return [[doc for doc in docs if doc.score == score] for score in scores]


def broken(group: list[Doc], ties: str) -> list[Doc]:
    if ties in ("worst", "best"):
        # an unjudged document counts as grade 0, and as worse than a judged one of grade 0
        return sorted(
            group, key=lambda doc: (doc.grade or 0, doc.grade is not None), reverse=ties == "best"
        )
    return {
        "input": group,
        "input-reversed": group[::-1],
        "docid-asc": sorted(group, key=lambda doc: doc.id.encode()),
    }.get(ties, sorted(group, key=lambda doc: doc.id.encode(), reverse=True))


def orders(docs: list[Doc]) -> Iterator[list[Doc]]:
    """Give every order that the ties allow."""
    for groups in itertools.product(*(itertools.permutations(group) for group in tied(docs))):
        yield [doc for group in groups for doc in group]


def measure(
    name: str, k: int | None, p: Params, docs: list[Doc], pool: list[float]
) -> float | None:
    """Measure a ranking; None where the measure is not defined."""
    asks_for_relevant = "rel_op" in p and "no_relevant" in p and name != "FallOut"
    if asks_for_relevant and not any(is_relevant(grade, p) for grade in pool):
        return None
    value: float | None = formula(name)(docs, pool, math.inf if k is None else k, p)
    return value


#: Where the formulas stand, each in a function named after its measure.
HOMES = (
    "oracle", "oracle_trec", "oracle_cwl", "oracle_inferred", "oracle_prefs", "oracle_evidence",
)  # fmt: skip


@cache
def formula(name: str) -> Callable[[list[Doc], list[float], float, Params], float | None]:
    known: dict[str, Any] = {}
    for home in HOMES:
        known |= vars(import_module(home))
    found: Callable[[list[Doc], list[float], float, Params], float | None] = known[f"_{name}"]
    return found


def is_relevant(grade: float | None, p: Params) -> bool:
    if grade is None:
        return False
    return bool(grade > p["rel"] if p.get("rel_op") == ">" else grade >= p["rel"])


def hit(doc: Doc, p: Params) -> bool:
    return is_relevant(doc.grade, p) and (not p.get("positive_score") or doc.score > 0)


def top(docs: Sequence[Doc], k: float) -> list[Doc]:
    return [doc for r, doc in enumerate(docs, 1) if r <= k]


def gain(grade: float | None, p: Params) -> float:
    if grade is None:
        return 0.0
    rel = p.get("rel", "none")
    if rel != "none" and p["gain"] != "binary" and grade < float(rel):
        return 0.0
    if p.get("negative", "zero") == "zero" and grade < 0:
        return 0.0
    if p["gain"] == "linear":
        return grade
    if p["gain"] == "exp2":
        return float(2.0**grade - 1)
    if p["gain"] == "binary":
        return 1.0 if grade >= (1 if rel == "none" else float(rel)) else 0.0
    inside = p["gain"][p["gain"].index("(") + 1 : -1].split(",")
    if p["gain"].startswith("scaled"):
        low, high = map(float, inside)
        return min(max((grade - low) / (high - low), 0.0), 1.0)
    pairs = dict(pair.split("=") for pair in inside)
    return float({float(g): w for g, w in pairs.items()}.get(grade, grade))


def discounted(value: float, r: int, discount: str) -> float:
    if discount == "none":
        return value
    if discount == "position":
        return value / r
    if discount == "log2":
        return value / math.log2(r + 1)
    inside = [float(x) for x in discount[discount.index("(") + 1 : -1].split(",")]
    if discount.startswith("table"):
        return value * inside[r - 1] if r <= len(inside) else 0.0
    if discount.startswith("log"):
        return value / (math.log(r + 1) / math.log(inside[0]))
    if r < inside[0]:
        return value
    return value / (math.log2(r) if inside[0] == 2 else math.log(r) / math.log(inside[0]))


def _CG(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    return sum(gain(doc.grade, p) for doc in top(docs, k))


def _DCG(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    total = 0.0
    for r, doc in enumerate(top(docs, k), 1):
        total += discounted(gain(doc.grade, p), r, p["discount"])
    return total


def _nDCG(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    ideal_k = math.inf if p["ideal_cut"] == "none" else k
    if p["ideal_cut"] == "min(k,n)":
        ideal_k = min(k, len(docs))
    if p["ideal"] == "judged":
        gains = [gain(grade, p) for grade in pool]
    elif p["ideal"] == "retrieved":
        gains = [gain(doc.grade, p) for doc in docs]
    else:
        best = max(gain(grade, p) for grade in [p["maximum"], *range(int(p["maximum"]) + 1)])
        gains, ideal_k = [best] * int(k), k
    if p["ideal_negative"] == "omit":
        gains = [max(g, 0.0) for g in gains]
    ideal = 0.0
    for r, g in enumerate(sorted(gains, reverse=True), 1):
        if r <= ideal_k:
            ideal += discounted(g, r, p["discount"])
    if not any(gain(grade, p) > 0 for grade in pool) or (ideal <= 0 and docs):
        return None
    return _DCG(docs, pool, k, p) / ideal if ideal > 0 else 0.0


def _P(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    seen = top(docs, k)
    hits = sum(hit(doc, p) for doc in seen)
    if p["denominator"] == "judged":
        whole = sum(doc.grade is not None for doc in seen)
    else:
        whole = int(k) if p["denominator"] == "k" and k < math.inf else len(seen)
    return hits / whole if whole else 0.0


def _R(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    whole: float = sum(is_relevant(grade, p) for grade in pool)
    if p["denominator"] == "min(k,R)":
        whole = min(whole, k)
    if p["denominator"] == "min(n,R)":
        whole = min(whole, len(top(docs, k)))
    if p["denominator"] == "R_list":
        whole = sum(is_relevant(doc.grade, p) for doc in docs)
    if not docs and any(is_relevant(grade, p) for grade in pool):
        return 0.0
    return sum(hit(doc, p) for doc in top(docs, k)) / whole if whole else None


def _F(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    precision = _P(docs, pool, k, p)
    recall = _R(docs, pool, k, {**p, "denominator": "R"}) or 0.0
    b = float(p["beta"][5:-1]) if isinstance(p["beta"], str) else p["beta"] ** 2
    whole = b * precision + recall
    return (1 + b) * precision * recall / whole if whole else 0.0


def _Success(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    return float(any(hit(doc, p) for doc in top(docs, k)))


def _AllHit(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    relevant = sum(is_relevant(grade, p) for grade in pool)
    return float(sum(hit(doc, p) for doc in top(docs, k)) == relevant)


def _RR(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    return next((1 / r for r, doc in enumerate(top(docs, k), 1) if hit(doc, p)), 0.0)


def _AP(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    total, so_far = 0.0, 0
    for r, doc in enumerate(docs, 1):
        if not hit(doc, p):
            continue
        so_far += 1
        if r > k:
            continue
        if p["block_end"]:
            end = max(i for i, other in enumerate(docs, 1) if other.score == doc.score)
            total += sum(hit(other, p) for other in docs[:end]) / end
        else:
            total += so_far / r
    terms = {
        "R": sum(is_relevant(grade, p) for grade in pool),
        "R_list": sum(is_relevant(doc.grade, p) for doc in docs),
        "hits": sum(hit(doc, p) for doc in top(docs, k)),
        "k": k,
        "n": len(docs),
    }
    names = p["denominator"].removeprefix("min(").removesuffix(")").split(",")
    whole = min(terms[name] for name in names)
    list_only = "R_list" in p["denominator"] or p["denominator"] == "hits"
    if list_only and not terms["R_list"] and docs:
        return None
    return total / whole if whole else 0.0


def _ERR(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    highest = p["maximum"] if p["max_grade"] == "observed" else float(p["max_grade"])
    value, going = 0.0, 1.0
    for r, doc in enumerate(top(docs, k), 1):
        grade = max(doc.grade or 0, 0)
        stop = grade if p["probability"] == "identity" else (2**grade - 1) / 2**highest
        value += going * stop / r
        going *= 1 - stop
    return float(value) if any(grade > 0 for grade in pool) else None


def _RBP(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    if not any((grade >= p["rel"] if p["gain"] == "binary" else grade > 0) for grade in pool):
        return None
    p = p if p["gain"] == "binary" else {**p, "rel": "none"}
    if p["normalise_depth"] != "none":
        k = min(k, p["normalise_depth"])
    value = sum(gain(doc.grade, p) * p["p"] ** i for i, doc in enumerate(top(docs, k)))
    if p["scale"] == "query":
        value /= max(1.0, *(gain(grade, p) for grade in pool))
    share = 1.0 if p["normalise_depth"] == "none" else 1 - p["p"] ** p["normalise_depth"]
    return float((1 - p["p"]) * value / share)


def _RBPResidual(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    seen = top(docs, k)
    unjudged = [
        i
        for i, doc in enumerate(seen)
        if doc.grade is None or (doc.grade < 0 and p["negative"] == "unjudged")
    ]
    if not unjudged and p["all_judged"] == "0":
        return 0.0
    holes = sum(p["p"] ** i for i in unjudged)
    return float(p["p"] ** len(seen) + (1 - p["p"]) * holes)


def _bpref(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    def nonrelevant(grade: float | None) -> bool:
        if grade is None or is_relevant(grade, p):
            return False
        return grade >= 0 or p["negative"] == "nonrelevant"

    relevant = sum(is_relevant(grade, p) for grade in pool)
    all_bad = sum(map(nonrelevant, pool))
    if not relevant:
        return None
    total, above = 0.0, 0
    for doc in docs:
        if nonrelevant(doc.grade):
            above += 1
        elif hit(doc, p):
            whole = min(all_bad, relevant) if p["denominator"] == "min(N,R)" else relevant
            total += 1.0 - min(above, relevant) / whole if above else 1.0
    return total / relevant


def _UDCG(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    """Take a document's signal from `p["signals"]`, None where it has none."""
    seen = top(docs, k)
    total = 0.0
    for doc in seen:
        signal = p["signals"].get(doc.id) if doc.grade is not None else None
        if signal is not None:
            utility = 1 - signal if p["signal"] == "abstain" else signal
            total += utility if is_relevant(doc.grade, p) else -p["gamma"] * utility
    mean = total / len(seen) if seen else 0.0
    if not p["squash"]:
        return mean
    return 1 / (1 + math.exp(-mean)) if seen else 0.0


def _judged(docs: list[Doc], p: Params) -> int:
    known = [doc.grade for doc in docs if doc.grade is not None]
    return sum(grade >= 0 or p["negative"] == "judged" for grade in known)


def _Judged(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    seen = top(docs, k)
    whole = k if p["denominator"] == "k" and k < math.inf else len(seen)
    return _judged(seen, p) / whole if whole else 0.0


def _Unjudged(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    seen = top(docs, k)
    whole = k if p["denominator"] == "k" and k < math.inf else len(seen)
    return (len(seen) - _judged(seen, p)) / whole if whole else 0.0


def _NumRet(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    return len(top(docs, k))


def _NumRel(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    return sum(is_relevant(grade, p) for grade in pool)


def _NumRelRet(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    return sum(hit(doc, p) for doc in top(docs, k))


def _NumQ(docs: list[Doc], pool: list[float], k: float, p: Params) -> float:
    return 1.0
