"""Faults of judgments, runs and texts that are put into clean data, beside those of ids."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import idealist as il
from mutations import MEASURES, Data, Mutation, Qrels, Run, values

Rows = list[dict[str, Any]]
Mends = Callable[[Any, Any, il.Doubt], bool]
#: How far beside the range of the price of holes the clean value may lie, however small the cost.
NOISE = 0.02


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


def lenient(qrels: Any, run: Any, **axes: Any) -> dict[str, float]:
    """Evaluate as an audit does: runs with faults are let pass."""
    rules = {"duplicates": "first", "nonfinite": "last", **axes}
    return dict(il.evaluate(qrels, run, MEASURES, **rules).aggregates)


def costs(finding: il.Doubt, run: str, now: dict[str, float], then: dict[str, float]) -> bool:
    """Whether the cost is exactly these values, for the measures that print otherwise."""
    wanted = {k: (now[k], then[k]) for k in now if f"{now[k]:.4f}" != f"{then[k]:.4f}"}
    found = finding.price.get(run, {})
    return found.keys() == wanted.keys() and all(
        math.isclose(a, b, rel_tol=1e-12)
        for label, pair in wanted.items()
        for a, b in zip(found[label], pair, strict=True)
    )


def gives_back(**axes: str) -> Mends:
    """Expect the axis in the command, and with it the numbers of the clean data, bit by bit."""

    def mends(data: Data, broken: Data, finding: il.Doubt) -> bool:
        return _named(finding, axes) and values(*broken, **axes) == values(*data)

    return mends


def gives(**axes: str) -> Mends:
    """Expect the axis in the command, and the values under it for the cost."""

    def mends(data: Data, broken: Data, finding: il.Doubt) -> bool:
        now, then = lenient(*broken), lenient(*broken, **axes)
        return _named(finding, axes) and costs(finding, "run", now, then)

    return mends


def _named(finding: il.Doubt, axes: dict[str, str]) -> bool:
    return all(f"{name}={value!r}" in finding.command for name, value in axes.items())


def prices(supposed: Callable[[Any, Any], tuple[Any, Any]]) -> Mends:
    """Expect the values of other data, made of the broken one, for the cost."""

    def mends(data: Data, broken: Data, finding: il.Doubt) -> bool:
        return costs(finding, "run", lenient(*broken), lenient(*supposed(*broken)))

    return mends


def both(*parts: Mends) -> Mends:
    """Expect all of several things."""
    return lambda data, broken, finding: all(one(data, broken, finding) for one in parts)


def counts(count: Callable[[Data, Data], int], *words: str) -> Mends:
    """Expect a count, and words in the message."""

    def mends(data: Data, broken: Data, finding: il.Doubt) -> bool:
        said = all(word in finding.message for word in words)
        return said and finding.count == count(data, broken)

    return mends


def changed(side: int) -> Callable[[Data, Data], int]:
    """Count the queries of one side that were changed."""
    return lambda data, broken: sum(data[side][q] != broken[side].get(q) for q in data[side])


def without_changed(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether the cost is the value over the queries that were not changed."""
    others = {q: own for q, own in broken[0].items() if data[1][q] == broken[1][q]}
    return costs(finding, "run", lenient(*broken), lenient(others, broken[1]))


def of_clean(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether the cost is the value of the clean data."""
    return costs(finding, "run", lenient(*broken), lenient(*data))


def _unless_lower(mends: Mends) -> Mends:
    """Expect a remedy, but none that would lower the first measure."""

    def expected(data: Data, broken: Data, finding: il.Doubt) -> bool:
        label = MEASURES[0]
        if lenient(*data)[label] < lenient(*broken)[label]:
            return not finding.command and not finding.price
        return mends(data, broken, finding)

    return expected


# --- faults of runs


def repeat_rows(qrels: Qrels, run: Run, rng: random.Random, share: float) -> Any:
    """Write rows once more, with scores from anywhere."""
    rows = rows_of(run)
    again = rng.sample(rows, max(1, round(share * len(rows))))
    scores = rng.sample(range(100_000), len(again))
    return qrels, [
        *rows,
        *(
            {**row, "score": score / 7 + 0.01, "rank": 10**6}
            for row, score in zip(again, scores, strict=True)
        ),
    ]


def _last_rows(qrels: Qrels, rows: Rows) -> Any:
    run: Run = {}
    for row in rows:
        run.setdefault(row["query"], {})[row["document"]] = row["score"]
    return qrels, run


def spoil_scores(qrels: Qrels, run: Run, rng: random.Random, score: float) -> Any:
    """Spoil the score of some document, wherever it stands."""
    changed = {query: dict(own) for query, own in run.items()}
    for query in _some(rng, run):
        changed[query][rng.choice(list(run[query]))] = score
    return qrels, changed


def _finite(qrels: Qrels, run: Run) -> Any:
    return qrels, {
        query: {d: score for d, score in own.items() if math.isfinite(score)}
        for query, own in run.items()
    }


def _put_in_order(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether the command ranks NaN last, and what is infinite by its sign."""
    ends = {"inf": 1e9, "-inf": -1e9, "nan": -2e9}
    run = {q: {d: ends.get(str(s), s) for d, s in own.items()} for q, own in broken[1].items()}
    axes = {"nonfinite": "last"}
    return _named(finding, axes) and values(*broken, **axes) == values(data[0], run)


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


def swap_columns(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    return qrels, [{**row, "rank": row["score"], "score": row["rank"]} for row in rows_of(run)]


def rotate(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    if len(run) < 10:
        return None
    names = sorted(run, key=lambda name: (len(name), name))
    new = dict(zip(names, [*names[1:], names[0]], strict=True))
    return qrels, {new[query]: own for query, own in run.items()}


def _rotates_back(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether the mapping gives every list back, and the cost is that of the clean data."""
    new = finding.mappings["queries"]
    back = {new[query]: own for query, own in broken[1].items()}
    return back == data[1] and of_clean(data, broken, finding)


def _prices_both(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether the better order is recommended, and none where the difference could be chance."""
    scores, ranks = (il.evaluate(*broken, MEASURES, order=order) for order in ("score", "rank"))
    gains = [
        b - a for a, b in zip(*(one.values[MEASURES[0]] for one in (scores, ranks)), strict=True)
    ]
    error = statistics.stdev(gains) / math.sqrt(len(gains))
    named = all(f"{one[MEASURES[0]]:.4f}" in finding.message for one in (scores, ranks))
    if statistics.mean(gains) >= 2 * error:
        return named and gives(order="rank")(data, broken, finding)
    kept = "keep the scores" if statistics.mean(gains) <= -2 * error else "find out which"
    return named and kept in finding.remedy and not finding.price and not finding.command


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


def _same_queries(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether leaving the missing queries out gives the values of the others."""
    found = il.evaluate(*broken, MEASURES, missing="skip")
    others = il.evaluate({q: data[0][q] for q in broken[1]}, broken[1], MEASURES)
    return "missing='skip'" in finding.command and dict(found.aggregates) == dict(others.aggregates)


RUNS: dict[str, tuple[str, Any, Mends]] = {
    **{
        f"{share:.1%} of rows twice": (
            "duplicates", partial(repeat_rows, share=share),
            both(gives_back(duplicates="first"), prices(_last_rows)),
        )
        for share in (0.001, 0.01, 0.1)
    },
    **{
        f"scores of {score}": (
            "nonfinite-scores", partial(spoil_scores, score=score),
            both(_put_in_order, prices(_finite), counts(changed(1))),
        )
        for score in (math.nan, math.inf, -math.inf)
    },
    "one score for all": (
        "constant-scores", level_scores, _unless_lower(both(gives_back(order="given"), of_clean)),
    ),
    "rounded scores": ("ties", round_scores, gives(ties="expected")),
    "scores that float32 ties": ("float32", crowd_scores, gives(precision="float32")),
    "distances for scores": ("rank-column", turn_scores, _prices_both),
    "ranks of another order": ("rank-column", shuffle_ranks, _prices_both),
    "rank and score swapped": (
        "swapped-columns", swap_columns, both(gives_back(order="given"), of_clean),
    ),
    "lists under the next query": ("misplaced-lists", rotate, _rotates_back),
    **{
        f"{share:.0%} of queries missing": (
            "missing-queries", partial(lose_queries, share=share),
            both(_same_queries, gives(missing="skip"), counts(changed(1))),
        )
        for share in (0.1, 0.5)
    },
    "queries without judgments": (
        "unknown-queries", add_queries,
        counts(lambda data, broken: len(broken[1]) - len(data[1]), "no judgments"),
    ),
    "30% of lists cut short": (
        "short-lists", cut_lists, both(counts(changed(1), "nDCG@10"), without_changed),
    ),
    "empty lists": ("empty-lists", empty_lists, both(counts(changed(1)), without_changed)),
    "queries find themselves": (
        "self-retrieval", find_themselves, both(gives_back(exclude_self="true"), of_clean),
    ),
    "a document in every list": (
        "everywhere", put_everywhere,
        both(of_clean, lambda data, broken, finding: "document hub" in finding.examples),
    ),
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


def _highest(pairs: list[tuple[str, str, float]], run: Run) -> Any:
    """Keep the higher grade of each pair."""
    qrels: Any = {}
    for query, document, grade in sorted(pairs, key=lambda pair: pair[2]):
        qrels.setdefault(query, {})[document] = grade
    return qrels, run


def _undisputed(data: Data, broken: Any, finding: il.Doubt) -> bool:
    """Whether the values are those without the pairs, and the cost those of the higher grade."""
    pairs, run = broken
    twice = Counter((query, document) for query, document, _ in pairs)
    others = {q: {d: g for d, g in own.items() if twice[q, d] == 1} for q, own in data[0].items()}
    then = lenient(*_highest(pairs, run))
    return costs(finding, "run", lenient(others, run), then) and finding.count == 5


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


def _counts_holes(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether the holes are counted right, and what is to be judged first is one of them."""
    holes = {
        (q, d) for q, own in broken[1].items() for d in list(own)[:10] if d not in broken[0][q]
    }
    named = {f"query {query}, document {document}" for query, document in holes}
    return finding.count == len(holes) and {*finding.examples} <= named


def _near_clean(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether the range of the price holds the clean value, or misses little of what holes cost."""
    clean, now = lenient(*data), lenient(*broken)
    ends = {label: (value, value) for label, value in now.items()}
    ends |= {label: (low, high) for label, (_, low, high) in finding.price["run"].items()}
    return all(
        low - clean[label] <= slack and clean[label] - high <= slack
        for label, (low, high) in ends.items()
        for slack in [NOISE + abs(now[label] - clean[label]) / 4]
    )


def _condensed(data: Data, broken: Any, finding: il.Doubt) -> bool:
    """Whether both runs are priced with unjudged documents taken out."""
    qrels, runs = broken
    return "unjudged='drop'" in finding.command and all(
        costs(finding, name, lenient(qrels, run), lenient(qrels, run, unjudged="drop"))
        for name, run in runs.items()
    )


def _only_graded(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether the grades are named, and the same judgments as relevant or not are not accused."""
    binary = {q: {d: min(g, 1) for d, g in own.items()} for q, own in data[0].items()}
    others = {one.code for one in il.audit(binary, data[1], measures=MEASURES).findings}
    return "the grades are 0 to 3" in finding.message and finding.code not in others


def favour(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    """Compare with a run of which every other document was never judged."""
    other = {
        query: {
            "".join(rng.choices("ghijklmnop", k=12)) if i % 2 else d: score
            for i, (d, score) in enumerate(own.items())
        }
        for query, own in run.items()
    }
    return qrels, {"pooled": run, "unpooled": other}


JUDGMENTS: dict[str, tuple[str, Any, Mends]] = {
    "judgments twice": ("repeated-judgments", repeat_judgments, counts(lambda *_: 5)),
    "judgments that contradict": ("contradiction", contradict, _undisputed),
    **{
        f"{share:.0%} of queries without relevant documents": (
            "no-relevant", partial(lose_relevant, share=share),
            both(counts(changed(0)), gives(no_relevant="skip")),
        )
        for share in (0.1, 0.5)
    },
    "no relevant documents": (
        "one-sided", partial(regrade, grades=[0, 0, 0]),
        lambda data, broken, finding: finding.severity == "error",
    ),
    "one relevant document a query": (
        "single-relevant", keep_one, counts(lambda data, broken: len(data[0])),
    ),
    "a grade that nobody gave": (
        "unused-grades", partial(regrade, grades=[0, 1, 4]), counts(lambda *_: 2, "has 2, 3"),
    ),
    "relevant documents only": (
        "positives-only", keep_relevant,
        counts(lambda data, broken: sum(map(len, broken[0].values())), "judgments say relevant"),
    ),
    "binary labels": (
        "graded-on-binary", partial(regrade, grades=[0, 1, 1]), counts(lambda *_: 1, "nDCG@10"),
    ),
    "graded labels": ("binary-on-graded", partial(regrade, grades=[0, 1, 3]), _only_graded),
    "fractions of grades": (
        "fractional-grades", partial(regrade, grades=[0, 1.5, 2]), gives(grades="truncate"),
    ),
    **{
        f"{share:.0%} holes": (
            "holes", partial(lose_judgments, share=share), both(_counts_holes, _near_clean),
        )
        for share in (0.01, 0.05, 0.1, 0.2, 0.5)
    },
    "one run judged less": ("uneven-coverage", favour, _condensed),
}  # fmt: skip


# --- faults of texts


LOST = 9


def _names(qrels: Qrels) -> list[str]:
    return sorted({d for own in qrels.values() for d in own})


def _texts(data: Data, lost: int = 0) -> dict[str, Any]:
    return {"docs": {name: f"the text of {name}" for name in _names(data[0])[lost:]}}


def _unfound(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    """Take documents that the collection lacks out of the run: no system finds them."""
    gone = {*_names(qrels)[:LOST]}
    return qrels, {q: {d: s for d, s in own.items() if d not in gone} for q, own in run.items()}


def _left(qrels: Qrels, run: Run) -> Any:
    gone = {*_names(qrels)[:LOST]}
    return {q: {d: g for d, g in own.items() if d not in gone} for q, own in qrels.items()}, run


def _copied(qrels: Qrels) -> tuple[str, str]:
    """Give a document of the least and one of the highest grade of a query."""
    own = qrels[min(qrels)]
    return min(own, key=own.__getitem__), max(own, key=own.__getitem__)


def _copies(data: Data) -> dict[str, Any]:
    return {"docs": _texts(data)["docs"] | dict.fromkeys(_copied(data[0]), "The  same")}


def _as_one(qrels: Qrels, run: Run) -> Any:
    """Give both copies their higher grade, wherever both are judged."""
    a, b = _copied(qrels)
    return {
        q: own | dict.fromkeys((a, b), max(own[a], own[b])) if a in own and b in own else own
        for q, own in qrels.items()
    }, run


def _questions(data: Data) -> dict[str, Any]:
    texts = {query: f"what is {query}" for query in data[0]}
    first, *_, last = sorted(texts)
    return {"texts": texts | {last: texts[first].upper()}}


def _but_last(qrels: Qrels, run: Run) -> Any:
    return {query: qrels[query] for query in sorted(qrels)[:-1]}, run


def _as_it_is(qrels: Qrels, run: Run, rng: random.Random) -> Any:
    return qrels, run


TEXTS: dict[str, tuple[str, Any, Mends]] = {
    "judged documents not in the collection": (
        "absent-documents", partial(_texts, lost=LOST), prices(_left),
    ),
    "one text, two grades": ("same-text", _copies, prices(_as_one)),
    "one text, two queries": (
        "same-query", _questions, both(prices(_but_last), counts(lambda *_: 2)),
    ),
    "texts of other queries": (
        "unrelated", lambda data: {"texts": {"another": "text"}},
        lambda data, broken, finding: "given: another" in finding.examples,
    ),
}  # fmt: skip


def _capped(data: Data, broken: Data, finding: il.Doubt) -> bool:
    """Whether recall is priced with no more than fit, and judgments of which all fit are let be."""
    label = "R(denominator=min(k,R))@5"
    then = il.evaluate(*broken, label)[label]
    few = {q: {d: int(i < 5) for i, d in enumerate(own)} for q, own in data[0].items()}
    others = {one.code for one in il.audit(few, data[1], measures="R@5").findings}
    right = label in finding.remedy and finding.price["run"]["R@5"][1] == then
    return right and finding.code not in others


def data_mutations() -> Iterator[Mutation]:
    """List the faults of runs, judgments and texts."""
    for kind, faults in (("runs", RUNS), ("judgments", JUDGMENTS)):
        for name, (code, inject, mends) in faults.items():
            yield Mutation(f"{kind}: {name}", code, inject, mends)
    for name, (code, options, mends) in TEXTS.items():
        inject = _unfound if code == "absent-documents" else _as_it_is
        yield Mutation(f"texts: {name}", code, inject, mends, options)
    yield Mutation(
        "judgments: more relevant documents than the cutoff", "more-relevant",
        partial(regrade, grades=[1, 1, 2]), _capped, lambda data: {"measures": ["R@5"]},
    )  # fmt: skip


DATA_MUTATIONS = [*data_mutations()]
