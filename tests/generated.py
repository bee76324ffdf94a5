"""Generated cases: small judgments and runs with everything that goes wrong in real ones."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

import idealist as il
import oracle
from idealist.errors import UsageError
from idealist.measures import MEASURES, Measure
from idealist.measures.cwl import UserModel
from idealist.protocol import Protocol
from idealist.ranking.padded_lists import PaddedLists

#: The measures that need no more than grades.
PLAIN = [name for name in MEASURES if not MEASURES[name].needs]

Qrels = dict[str, dict[str, float]]
Rows = dict[str, list[tuple[str, float]]]
Tokens = dict[str, dict[str, float]]

#: Every value of each axis that can be listed; what else there is is added below.
AXES: dict[str, list[Any]] = {
    "precision": ["float64", "float32"],
    "order": ["score", "given"],
    "ties": ["docid-desc", "docid-asc", "input", "input-reversed", "worst", "best"],
    "duplicates": ["error", "first", "last"],
    "depth": ["none", 1, 3, 5],
    "exclude_self": [False, True],
    "unjudged": ["zero", "drop"],
    "negative": ["allow", "drop"],
    "grades": ["truncate", "keep", "nonzero"],
    "collapse": ["none", "#.*"],
    "missing": ["zero", "skip"],
}

PARAMETERS: dict[str, list[Any]] = {
    "rel": [1, 0, 2],
    "rel_op": [">=", ">"],
    "positive_score": [False, True],
    "no_relevant": ["0", "1", "nan", "empty"],
    "gain": ["linear", "exp2", "binary", "table(0=0,1=3,2=9)", "scaled(0,3)"],
    "negative": ["zero", "keep"],
    "discount": ["log2", "log(10)", "jk(2)", "jk(3)", "position", "none", "table(1,0.5,0.5,0.1)"],
    "ideal": ["judged", "retrieved", "perfect"],
    "ideal_cut": ["k", "min(k,n)", "none"],
    "ideal_negative": ["omit", "keep"],
    "block_end": [False, True],
    "alpha": [0.5, 0, 0.25, 1],
    "beta": [1, 2, 0.5],
    "max_grade": ["observed", "4"],
    "probability": ["exp2"],
    "p": [0.5, 0.8, 0.95],
    "normalise_depth": ["none", 1000, 3],
    "gamma": [1 / 3, 0, 1],
    "signal": ["abstain", "utility"],
    "squash": [True, False],
    "of": ["all", "implied", "retrieved"],
    "nonrelevant": ["all", "R", "trec_eval"],
    "recall": [0, 0.1, 0.35, 0.5, 1],
    "rounding": ["nearest", "up"],
    "points": [11, 2, "table(0.2,0.5,0.8)"],
    "times": [1, 0.2, 0.35, 2],
    "scale": ["none", "query"],
    "a": [1, 3],
    "b": [-1, 0.5],
    "c": [0, -2],
    "d": [0, 0.25],
    "documents": [0, 1000],
    "all_judged": ["tail", "0"],
    "readers": ["graded", "rank-biased"],
    "normalize": [True, False],
    "decay": [0.85, 0, 0.5, 1],
    "unit": ["characters", "spans"],
    "repeats": ["once", "each"],
}
#: What readers of C/W/L have beside; `cost_column` has tests of its own.
PARAMETERS |= {
    "report": ["EU", "ETU", "EC", "ETC", "ED", "ResEU", "ResETU", "ResEC", "ResETC", "ResED"],
    "cost": [1, 0.5, 4],
    "cost_column": ["none"],
    "max_depth": [1000, 20, 4],
    "model": ["P", "RR", "AP", "RBP"],
    "T": [1, 0.5, 2],
    "rate": [0.1, 1],
    "K": ["none", 3, 10.5],
    "hb": [0, 1, -0.5],
    "hc": [0, 1, 2.5],
    "gain_med": [0.5, 0.1],
    "stop": ["goal", "rate", "both"],
    "b1": [0.9, 0, 2],
    "R1": [10, 0, 1],
    "A": [0.2, 0.6],
    "b2": [0.9, 0, 2],
    "R2": [10, 0, 1],
    "halflife": [224, 3],
    "L": [1000, 7],
}
#: The readers of C/W/L, whose gains are in [0, 1].
READERS = [name for name in MEASURES if issubclass(MEASURES[name], UserModel)]
DENOMINATORS: dict[str, list[str]] = {
    "P": ["k", "min(k,n)", "judged"],
    "R": ["R", "min(k,R)", "min(n,R)", "R_list"],
    "SetAP": ["k", "min(k,n)"],
    "Rprec": ["R", "R_list"],
    "F": ["k", "min(k,n)"],
    "AP": ["R", "R_list", "hits", "min(k,R)", "min(k,R_list)", "min(k,n,R_list)"],
    "GMAP": ["R", "R_list", "hits", "min(k,R)", "min(k,R_list)", "min(k,n,R_list)"],
    "bpref": ["min(N,R)", "R"],
    "GMbpref": ["min(N,R)", "R"],
    "AP_IA": ["R", "R_list", "hits", "min(k,R)"],
    "AP_avgjg": ["R", "R_list", "hits", "min(k,R)"],
    "P_IA": ["k", "min(k,n)", "judged"],
    "P_avgjg": ["k", "min(k,n)", "judged"],
    "Rprec_avgjg": ["R", "R_list"],
    "alpha_DCG": ["perfect", "perfect(k>1)", "none"],
    "ERR_IA": ["perfect", "perfect(k>1)", "none"],
    "Judged": ["k", "min(k,n)"],
    "Unjudged": ["k", "min(k,n)"],
    "FallOut": ["N", "N_list"],
}
OTHER: dict[tuple[str, str], list[Any]] = {
    ("F", "beta"): [1, 2, 0.5, "sqrt(0.5)"],
    ("NRBP", "beta"): [0.5, 0, 0.9, 1],
    ("nNRBP", "beta"): [0.5, 0, 0.9, 1],
    ("bpref", "negative"): ["unjudged", "nonrelevant"],
    ("GMbpref", "negative"): ["unjudged", "nonrelevant"],
    ("RBPResidual", "negative"): ["judged", "unjudged"],
    ("IDCG", "rel"): ["none", "1", "2"],
    ("G", "rel"): ["none", "1", "2"],
    ("nDCGRel", "rel"): ["none", "1", "2"],
    ("RnDCG", "rel"): ["none", "1", "2"],
    ("Judged", "negative"): ["judged", "unjudged"],
    ("Unjudged", "negative"): ["judged", "unjudged"],
    ("RBP", "gain"): ["binary", "scaled(0,3)", "linear"],
    **{(name, "gain"): ["binary", "scaled(0,3)"] for name in READERS},
    ("SET", "beta"): [0.5, 1, 0.9],
    ("CG", "rel"): ["none", "1", "2"],
    ("DCG", "rel"): ["none", "1", "2"],
    ("nDCG", "rel"): ["none", "1", "2"],
    ("NCU", "gamma"): [0.95, 0, 1],
    ("Q", "beta"): [1, 0, 10],
    ("NCU", "beta"): [1, 0, 10],
    ("OMeasure", "beta"): [1, 0, 10],
    ("PMeasure", "beta"): [1, 0, 10],
    ("PPlus", "beta"): [1, 0, 10],
    ("PFound", "probability"): ["exp2", "identity"],
    ("AverageGain", "rel"): ["none", "1", "2"],
    ("nDCGMinMax", "rel"): ["none", "1", "2"],
}


def values_of(name: str, parameter: str) -> list[Any]:
    if parameter == "denominator":
        return DENOMINATORS[name]
    return OTHER.get((name, parameter), PARAMETERS[parameter])


def some_measure(rng: random.Random, name: str) -> Measure:
    cls = MEASURES[name]
    own = {key: rng.choice(values_of(name, key)) for key in cls.parameters()}
    made: Measure = cls(**{key: own[key] for key in own if rng.random() < 0.8})
    if cls.takes_cutoff and (rng.random() < 0.7 or own.get("ideal") == "perfect"):
        made = made @ rng.choice([1, 2, 3, 5, 10])
    return made


def some_protocol(rng: random.Random) -> Protocol:
    axes = {key: rng.choice(values) for key, values in AXES.items() if rng.random() < 0.5}
    return Protocol(**axes)


def some_case(rng: random.Random, size: int = 12, fractions: bool = True) -> tuple[Qrels, Rows]:
    """Make judgments and a run: ties, holes, negatives, chunks, missing queries, short lists."""
    scales: list[list[float]] = [[0, 1], [0, 1, 2, 3], [-2, -1, 0, 1, 2], [0], [0, 0.5, 1, 1.7]]
    grades = rng.choice(scales)
    if not fractions:
        grades = [grade for grade in grades if grade == int(grade)]
    ids = [f"d{i}" for i in range(size)] + ["q1", "q2", "é", "d1#1", "d1#2", "d2#1"]
    qrels: Qrels = {}
    run: Rows = {}
    for q in range(rng.randint(1, 4)):
        judged = rng.sample(ids, rng.randint(1, len(ids)))
        qrels[f"q{q}"] = {d: rng.choice(grades) for d in judged}
        if rng.random() < 0.9:
            run[f"q{q}"] = some_list(rng, ids)
    run[f"q{9}"] = some_list(rng, ids)
    return qrels, run


def some_list(rng: random.Random, ids: list[str]) -> list[tuple[str, float]]:
    retrieved = rng.sample(ids, rng.randint(1, len(ids)))
    kinds: list[Callable[[], float]] = [
        rng.random,
        lambda: float(rng.randint(-2, 2)),
        lambda: 1 + rng.randint(0, 3) * 1e-9,
    ]
    score = rng.choice(kinds)
    return [(d, score()) for d in retrieved]


def some_budget(rng: random.Random) -> Protocol:
    """Give a protocol whose depth is a budget of tokens."""
    axes: dict[str, Any] = some_protocol(rng).written()
    axes["depth"] = rng.choice(["tokens(1)", "tokens(5)", "tokens(20)", "tokens(50)", "chunks(3)"])
    axes["ties"] = rng.choice(["docid-desc", "docid-asc", "input", "input-reversed"])
    return Protocol(**axes)


def some_tokens(rng: random.Random, rows: Rows) -> Tokens:
    """Give every document retrieved a length, as whole numbers of tokens are."""
    return {q: {d: float(rng.randint(0, 9)) for d, _ in rows[q]} for q in rows}


def with_tokens(rows: Rows, tokens: Tokens) -> dict[str, dict[str, dict[str, float]]]:
    """Give rows and lengths as a run that can be read."""
    return {q: {d: {"score": s, "tokens": tokens[q][d]} for d, s in rows[q]} for q in rows}


def truth(
    measure: Measure,
    protocol: Protocol,
    qrels: Qrels,
    rows: Rows,
    query: str,
    tokens: Tokens | None = None,
) -> float:
    """Ask the oracle for the value of one query."""
    filled = measure.filled()
    axes = protocol.written()
    known = {q: oracle.cast_grades(judged, protocol.grades) for q, judged in qrels.items()}
    pool = list(known[query].values())
    maximum = max((grade for judged in known.values() for grade in judged.values()), default=0)
    if protocol.negative == "drop":
        pool = [grade for grade in pool if grade >= 0]
    params = {**filled.written(), "maximum": maximum}
    if protocol.order == "given":
        params["block_end"] = False  # an order that is given has no ties
    lengths = (tokens or {}).get(query)
    docs = oracle.rank(rows.get(query, []), qrels[query], query, axes, lengths)
    if protocol.ties == "expected":
        values = [
            oracle.measure(filled.name, filled.cutoff, params, docs_, pool)
            for docs_ in oracle.orders(docs)
        ]
        value = None if None in values else sum(v for v in values if v is not None) / len(values)
    else:
        value = oracle.measure(filled.name, filled.cutoff, params, docs, pool)
    if value is None:
        word = str(getattr(filled, "no_relevant", "nan"))
        whole = {
            **axes,
            "unjudged": "zero",
            "negative": "allow",
        }  # what was retrieved, whatever it is
        found = oracle.rank(rows.get(query, []), qrels[query], query, whole, lengths)
        return {"0": 0.0, "1": 1.0, "empty": float(not found)}.get(word, math.nan)
    return value


seeds = st.integers(0, 2**32)


def some_lists(name: str, count: int) -> Iterator[tuple[Measure, PaddedLists, Any]]:
    """Give measures with every parameter set, lists, and what NumPy computes of them."""
    for seed in range(count):
        rng = random.Random(seed)
        measure = some_measure(rng, name).filled()
        ties = "expected" if measure.averages_ties and seed % 2 else "docid-desc"
        qrels, rows = some_case(rng)
        protocol = Protocol(ties=ties)
        placements = il.rank(il.read_qrels(qrels), il.read_run(rows), [protocol])[protocol]
        for _, lists in placements.lists:
            with suppress(UsageError):  # parameters and grades that do not go together
                yield measure, lists, measure.formula(lists)
