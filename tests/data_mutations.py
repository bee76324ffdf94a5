"""Faults of judgments, runs and texts that are put into clean data, beside those of ids."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import idealist as il
from idealist.auditing import Finding
from mutations import MEASURES, Data, Mutation, Qrels, Run, values

Rows = list[dict[str, Any]]
Mends = Callable[[Any, Any, Finding], bool]


def _some(rng: random.Random, queries: Any, share: float = 0.3) -> list[str]:
    """Choose some queries, two at least."""
    names = sorted(queries)
    return rng.sample(names, max(2, round(share * len(names))))


def rows_of(run: Run, sign: float = 1.0) -> Rows:
    return [
        {"query": query, "document": document, "rank": rank, "score": sign * score}
        for query, own in run.items()
        for rank, (document, score) in enumerate(own.items(), 1)
    ]


# --- what mends


def gives_back(**axes: str) -> Mends:
    """Expect the axis in the command, and with it the numbers of the clean data, bit by bit."""

    def mends(data: Data, broken: Data, finding: Finding) -> bool:
        named = all(f"{name}={value}" in finding.command for name, value in axes.items())
        return named and values(*broken, **axes) == values(*data)

    return mends


def offers(*words: str) -> Mends:
    """Expect words in the remedy or the command."""

    def mends(data: Data, broken: Data, finding: Finding) -> bool:
        return all(word in f"{finding.remedy} {finding.command}" for word in words)

    return mends


def _costs(label: str, run: str = "run", **axes: str) -> Mends:
    """Expect the cost to be the value under other axes."""

    def mends(data: Data, broken: Data, finding: Finding) -> bool:
        return (
            run in finding.cost
            and finding.cost[run][label][1] == il.evaluate(*broken, label, **axes)[label]
        )

    return mends


# --- faults of runs


def repeat_rows(qrels: Qrels, run: Run, rng: random.Random, share: float) -> Any:
    rows = rows_of(run)
    again = rng.sample(rows, max(1, round(share * len(rows))))
    worst = min(row["score"] for row in rows)
    return qrels, [*rows, *({**row, "score": worst - 1, "rank": 10**6} for row in again)]


def spoil_scores(qrels: Qrels, run: Run, rng: random.Random, score: float) -> Any:
    changed = {query: dict(own) for query, own in run.items()}
    for query in _some(rng, run):
        changed[query][list(run[query])[-1]] = score
    return qrels, changed


def level_scores(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    return qrels, {query: dict.fromkeys(own, 1.0) for query, own in run.items()}


def round_scores(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    return qrels, {
        query: {d: float(round(score / 3000)) for d, score in own.items()}
        for query, own in run.items()
    }


def crowd_scores(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    return qrels, {
        query: {d: 4e7 - 1e-3 * i for i, d in enumerate(own)} for query, own in run.items()
    }


def turn_scores(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    return qrels, rows_of(run, -1.0)


def shuffle_ranks(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    rows = []
    for query, own in run.items():
        ranks = rng.sample(range(1, len(own) + 1), len(own))
        rows += [
            {**row, "rank": rank} for row, rank in zip(rows_of({query: own}), ranks, strict=True)
        ]
    return qrels, rows


def lose_queries(qrels: Qrels, run: Run, rng: random.Random, share: float) -> Any:
    lost = _some(rng, run, share)
    return qrels, {query: own for query, own in run.items() if query not in lost}


def add_queries(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    return qrels, run | {f"{query} beta": run[query] for query in _some(rng, run)}


def cut_lists(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    cut = _some(rng, run)
    return qrels, {q: dict(list(own.items())[:4]) if q in cut else own for q, own in run.items()}


def empty_lists(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    gone = _some(rng, run, 0.1)
    return qrels, {query: {} if query in gone else own for query, own in run.items()}


def find_themselves(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    if any(query in own for query, own in run.items()):
        return None
    return qrels, {query: {query: 1e6, **own} for query, own in run.items()}


def put_everywhere(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    if len(run) < 10:
        return None
    return qrels, {query: own | {"hub": sorted(own.values())[-3]} for query, own in run.items()}


def _same_queries(data: Data, broken: Data, finding: Finding) -> bool:
    """Whether leaving the missing queries out gives the values of the others."""
    found = il.evaluate(*broken, MEASURES, missing="skip")
    others = il.evaluate({q: data[0][q] for q in broken[1]}, broken[1], MEASURES)
    return "missing=skip" in finding.command and dict(found.aggregates) == dict(others.aggregates)


RUNS: dict[str, tuple[str, Any, Mends]] = {
    **{
        f"{share:.1%} of rows twice": (
            "duplicates", partial(repeat_rows, share=share), gives_back(duplicates="first"),
        )
        for share in (0.001, 0.01, 0.1)
    },
    **{
        f"scores of {score}": (
            "nonfinite-scores", partial(spoil_scores, score=score), gives_back(nonfinite="last"),
        )
        for score in (math.nan, -math.inf)
    },
    "one score for all": ("constant-scores", level_scores, gives_back(order="given")),
    "rounded scores": ("ties", round_scores, offers("ties=expected")),
    "scores that float32 ties": ("float32", crowd_scores, offers("float64")),
    "distances for scores": ("rank-column", turn_scores, gives_back(order="rank")),
    "ranks of another order": ("rank-column", shuffle_ranks, _costs("AP", order="rank")),
    **{
        f"{share:.0%} of queries missing": (
            "missing-queries", partial(lose_queries, share=share), _same_queries,
        )
        for share in (0.1, 0.5)
    },
    "queries without judgments": ("unknown-queries", add_queries, offers("judge")),
    "30% of lists cut short": ("short-lists", cut_lists, offers("retrieve at least 10")),
    "empty lists": ("empty-lists", empty_lists, offers("failed")),
    "queries find themselves": (
        "self-retrieval", find_themselves, gives_back(exclude_self="true"),
    ),
    "a document in every list": ("everywhere", put_everywhere, offers("index")),
}  # fmt: skip


# --- faults of judgments


def _pairs(qrels: Qrels) -> list[tuple[str, str, float]]:
    return [(query, d, grade) for query, own in qrels.items() for d, grade in own.items()]


def repeat_judgments(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    pairs = _pairs(qrels)
    return [*pairs, *rng.sample(pairs, 5)], run


def contradict(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    pairs = _pairs(qrels)
    return [*pairs, *((q, d, g + 1) for q, d, g in rng.sample(pairs, 5))], run


def lose_relevant(qrels: Qrels, run: Run, rng: random.Random, share: float) -> Any:
    gone = _some(rng, qrels, share)
    return {q: dict.fromkeys(own, 0) if q in gone else own for q, own in qrels.items()}, run


def keep_one(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    chosen = {query: rng.choice(list(own)) for query, own in qrels.items()}
    return {q: {d: int(d == chosen[q]) for d in own} for q, own in qrels.items()}, run


def regrade(qrels: Qrels, run: Run, rng: random.Random, grades: list[float]) -> Any:
    return {q: {d: grades[g] for d, g in own.items()} for q, own in qrels.items()}, run


def keep_relevant(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    return {q: {d: g for d, g in own.items() if g} for q, own in qrels.items()}, run


def lose_judgments(qrels: Qrels, run: Run, rng: random.Random, share: float) -> Any:
    tops = [(query, d) for query, own in run.items() for d in list(own)[:10]]
    gone = set(rng.sample(tops, max(1, round(share * len(tops)))))
    return {
        q: {d: g for d, g in own.items() if (q, d) not in gone} for q, own in qrels.items()
    }, run


def _counts_holes(data: Data, broken: Data, finding: Finding) -> bool:
    """Whether the holes are counted right, and what is to be judged first is one of them."""
    holes = {
        (q, d) for q, own in broken[1].items() for d in list(own)[:10] if d not in broken[0][q]
    }
    named = {f"query {query}, document {document}" for query, document in holes}
    return finding.count == len(holes) and {*finding.examples} <= named


def favour(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    """Compare with a run of which every other document was never judged."""
    other = {
        query: {f"{d} new" if i % 2 else d: score for i, (d, score) in enumerate(own.items())}
        for query, own in run.items()
    }
    return qrels, {"pooled": run, "unpooled": other}


JUDGMENTS: dict[str, tuple[str, Any, Mends]] = {
    "judgments twice": ("repeated-judgments", repeat_judgments, offers("once")),
    "judgments that contradict": ("contradiction", contradict, offers("keep one judgment")),
    **{
        f"{share:.0%} of queries without relevant documents": (
            "no-relevant", partial(lose_relevant, share=share), offers("no_relevant=skip"),
        )
        for share in (0.1, 0.5)
    },
    "one relevant document a query": ("single-relevant", keep_one, offers("RR")),
    "a grade that nobody gave": (
        "unused-grades", partial(regrade, grades=[0, 1, 4]), offers("renumbered"),
    ),
    "relevant documents only": ("one-sided", keep_relevant, offers("grade 0")),
    "binary labels": ("graded-on-binary", partial(regrade, grades=[0, 1, 1]), offers("grades")),
    "graded labels": ("binary-on-graded", partial(regrade, grades=[0, 1, 3]), offers("rel=2")),
    "fractions of grades": (
        "fractional-grades", partial(regrade, grades=[0, 1.5, 2]), _costs("nDCG@10", grades="keep"),
    ),
    **{
        f"{share:.0%} holes": ("holes", partial(lose_judgments, share=share), _counts_holes)
        for share in (0.01, 0.05, 0.1, 0.2, 0.5)
    },
    "one run judged less": ("uneven-coverage", favour, offers("judge")),
}  # fmt: skip


# --- faults of texts


def _texts(data: Data, lost: int = 0, copies: bool = False) -> dict[str, Any]:
    names = sorted({d for own in data[0].values() for d in own})
    texts = {name: f"the text of {name}" for name in names[lost:]}
    for own in data[0].values() if copies else ():
        a, b = min(own, key=own.__getitem__), max(own, key=own.__getitem__)
        texts[a] = texts[b] = f"the same in {a} and {b}"
    return {"docs": texts}


def _questions(data: Data) -> dict[str, Any]:
    texts = {query: f"what is {query}" for query in data[0]}
    first, *_, last = sorted(texts)
    return {"queries": texts | {last: texts[first].upper()}}


def _as_it_is(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    return qrels, run


TEXTS: dict[str, tuple[str, Any, Mends]] = {
    "judged documents not in the collection": (
        "absent-documents", partial(_texts, lost=9), offers("collection"),
    ),
    "one text, two grades": ("same-text", partial(_texts, copies=True), offers("one id")),
    "one text, two queries": ("same-query", _questions, offers("keep one")),
}  # fmt: skip


def data_mutations() -> Iterator[Mutation]:
    """List the faults of runs, judgments and texts."""
    for kind, faults in (("runs", RUNS), ("judgments", JUDGMENTS)):
        for name, (code, inject, mends) in faults.items():
            yield Mutation(f"{kind}: {name}", code, inject, mends)
    for name, (code, options, mends) in TEXTS.items():
        yield Mutation(f"texts: {name}", code, _as_it_is, mends, options)
    limit = {"measures": ["R@5"]}
    yield Mutation(
        "judgments: more relevant documents than the cutoff", "more-relevant",
        partial(regrade, grades=[1, 1, 2]), offers("min(k,R)"), lambda data: limit,
    )  # fmt: skip


DATA_MUTATIONS = [*data_mutations()]
