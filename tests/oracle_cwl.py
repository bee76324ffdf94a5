"""The plain reference: the user models of C/W/L, loop by loop."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracle import Doc, Params, gain


def reported(
    docs: list[Doc],
    pool: list[float],
    k: float,
    p: Params,
    model: Callable[[list[float], list[float]], list[float]],
) -> float | None:
    """Report of a reader; the model gives the chance to go on from each rank, of gains and costs."""
    if p["gain"] != "binary":
        p = {**p, "rel": "none"}
    if p["report"] in ("EU", "ETU") and not any(gain(grade, p) > 0 for grade in pool):
        return None
    worst = expected(docs, k, p, model, 0.0)
    if p["report"].startswith("Res"):
        return expected(docs, k, p, model, 1.0) - worst
    return worst


def expected(
    docs: list[Doc],
    k: float,
    p: Params,
    model: Callable[[list[float], list[float]], list[float]],
    unjudged: float,
) -> float:
    """Walk the list with every reader: the i-th stops at rank i, and has met all up to there."""
    gains = [gain(doc.grade, p) if doc.grade is not None else unjudged for doc in docs]
    gains = (gains + [unjudged] * p["max_depth"])[: p["max_depth"]]
    costs = [float(p["cost"])] * len(gains)
    chances = [c if r < k else 0.0 for r, c in enumerate(model(gains, costs), 1)]
    here, looked, gained, spent = 1.0, 0.0, 0.0, 0.0
    totals = {"EU": 0.0, "EC": 0.0, "ETU": 0.0, "ETC": 0.0}
    for g, c, chance in zip(gains, costs, chances, strict=True):
        looked += here
        gained += g
        spent += c
        totals["EU"] += here * g
        totals["EC"] += here * c
        totals["ETU"] += here * (1 - chance) * gained
        totals["ETC"] += here * (1 - chance) * spent
        here *= chance
    report = p["report"].removeprefix("Res")
    if report == "ED":
        return looked
    return totals[report] / looked if report in ("EU", "EC") else totals[report]


def by_rank(chance: Callable[[int], float]) -> Callable[[list[float], list[float]], list[float]]:
    return lambda gains, costs: [chance(r) for r in range(1, len(gains) + 1)]


def by_gain(
    chance: Callable[[int, float], float],
) -> Callable[[list[float], list[float]], list[float]]:
    return lambda gains, costs: [chance(r, g) for r, g in enumerate(gains, 1)]


def by_weight(weights: list[float]) -> list[float]:
    """Go on as weights of ranks shrink, and stop at the last one."""
    following = [*weights[1:], 0.0]
    return [b / a if a else 0.0 for a, b in zip(weights, following, strict=True)]


def end(k: float, p: Params) -> float:
    return p["max_depth"] if k == math.inf else k


def _CWL(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    if p["model"] == "P":
        return reported(docs, pool, end(k, p), p, by_rank(lambda r: 1.0))
    if p["model"] == "RBP":
        return reported(docs, pool, k, p, by_rank(lambda r: p["p"]))
    if p["model"] == "RR":
        return reported(docs, pool, k, p, by_gain(lambda r, g: 0.0 if g else 1.0))

    def ap(gains: list[float], costs: list[float]) -> list[float]:
        near = [g / r if r <= k else 0.0 for r, g in enumerate(gains, 1)]
        return by_weight([sum(near[r:]) for r in range(len(near))])

    return reported(docs, pool, k, p, ap)


def _SDCG(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    chance = by_rank(lambda r: math.log(r + 1) / math.log(r + 2))
    return reported(docs, pool, end(k, p), p, chance)


def squared(T: float, r: int) -> float:
    return ((r + T - 1) / (r + T)) ** 2


def _INSQ(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return reported(docs, pool, k, p, by_rank(lambda r: squared(2 * p["T"], r)))


def _INST(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    def model(gains: list[float], costs: list[float]) -> list[float]:
        chances, left = [], p["T"]
        for r, g in enumerate(gains, 1):
            left -= g
            chances.append(squared(p["T"] + left, r))
        return chances

    return reported(docs, pool, k, p, model)


def _SET(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    def weight(r: int) -> float:
        return float((r + 1) ** p["beta"] - r ** p["beta"])

    return reported(docs, pool, end(k, p), p, by_rank(lambda r: weight(r + 1) / weight(r)))


def _NPV(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return reported(docs, pool, k, p, by_rank(lambda r: 1 / (1 + p["rate"])))


def _NERR8(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return reported(docs, pool, end(k, p), p, by_gain(lambda r, g: 1 - g))


def _NERR9(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return reported(docs, pool, end(k, p), p, by_gain(lambda r, g: r / (r + 1) * (1 - g)))


def _NERR10(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return reported(docs, pool, k, p, by_gain(lambda r, g: p["p"] * (1 - g)))


def _NERR11(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    return reported(docs, pool, k, p, by_gain(lambda r, g: squared(2 * p["T"], r) * (1 - g)))


def _BPM(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    def model(gains: list[float], costs: list[float]) -> list[float]:
        chances, wanted, budget = [], p["T"], math.inf if p["K"] == "none" else p["K"]
        gained = spent = 0.0
        for g, c in zip(gains, costs, strict=True):
            gained, spent = gained + g, spent + c
            chances.append(1.0 if gained < wanted and spent < budget else 0.0)
            wanted += p["hb"] * (g - p["gain_med"])
            budget += p["hc"] * (g - p["gain_med"])
        return chances

    return reported(docs, pool, k, p, model)


def _IFT(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    def model(gains: list[float], costs: list[float]) -> list[float]:
        chances, gained, spent = [], 0.0, 0.0
        for g, c in zip(gains, costs, strict=True):
            gained, spent = gained + g, spent + c
            goal = 1 - 1 / (1 + p["b1"] * math.exp(p["R1"] * (p["T"] - gained)))
            rate = 1 / (1 + p["b2"] * math.exp(p["R2"] * (p["A"] - gained / spent)))
            chances.append({"goal": goal, "rate": rate}.get(p["stop"], goal * rate))
        return chances

    return reported(docs, pool, k, p, model)


def _TBG(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    def model(gains: list[float], costs: list[float]) -> list[float]:
        return by_weight([0.5 ** (sum(costs[:r]) / p["halflife"]) for r in range(len(costs))])

    return reported(docs, pool, k, p, model)


def _UMeasure(docs: list[Doc], pool: list[float], k: float, p: Params) -> float | None:
    def model(gains: list[float], costs: list[float]) -> list[float]:
        weights = [max(0.0, 1 - sum(costs[:r]) / p["L"]) for r in range(len(costs))]
        return by_weight([*weights[:-1], 0.0])

    return reported(docs, pool, k, p, model)
