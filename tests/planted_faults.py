"""Faults put into real runs: orders that contradict each other, lists and documents mixed up.

Each says which finding names it, and what the advice must be.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import idealist as il
from idealist.auditing import Audit
from idealist.data import Rows

FOLDER = "trec-covid-r1"
#: Runs whose own rank column contradicts their scores, found by sorting the columns.
CONTRADICTING = {
    "BRPHJ_NLP2", "ERST_PROSE", "ERST_QUESTION", "SFDC-23April-run1", "SFDC-23April-run2",
    "UB_NLP_RUN_1", "sheikh_bm25_all", "yn-r1-alltext", "yn-r1-hierarchy",
}  # fmt: skip
#: The measure that decides.
MEASURE = "nDCG@10"


def real_runs(data: Path) -> list[Path]:
    """List all runs of the first round of TREC-COVID."""
    folders = ("runs", "more")
    return sorted((path for name in folders for path in (data / FOLDER / name).iterdir()), key=str)


@cache
def real_qrels(data: Path) -> il.Qrels:
    return il.read_qrels(data / FOLDER / "qrels.txt")


def sound_runs(data: Path) -> list[Path]:
    """List those that have nothing against them but what their systems do."""
    return [path for path in real_runs(data) if name_of(path) not in CONTRADICTING]


def name_of(path: Path) -> str:
    return path.name.removesuffix(".xz")


def sorted_rows(rows: Rows) -> Rows:
    """Put the rows of each list in the order of the scores, and number them."""
    scores = np.zeros(len(rows)) if rows.scores is None else rows.scores
    order = np.concatenate([
        span.start + np.argsort(-scores[span], kind="stable") for span in rows.spans().values()
    ])  # fmt: skip
    places = [np.arange(1, span.stop - span.start + 1) for span in rows.spans().values()]
    made = rows.at(order, rows.queries, rows.starts)
    return replace(made, ranks=np.concatenate(places).astype(float))


def cut(rows: Rows, deep: int) -> Rows:
    """Keep the first rows of each list."""
    spans = [range(span.start, min(span.stop, span.start + deep)) for span in rows.spans().values()]
    starts = np.cumsum([0, *map(len, spans)])
    return rows.at(
        np.concatenate([np.array(own, dtype=int) for own in spans]), rows.queries, starts
    )


def one_of(judged: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Keep one relevant document, as in MS MARCO."""
    return {rng.choice([document for document, grade in judged.items() if grade > 0]): 1.0}


# --- faults


def reverse_ranks(rows: Rows, rng: random.Random, documents: Sequence[str]) -> Rows:
    """Number the lists from the bottom up; the scores stay right."""
    turned = [own.ranks[::-1] for own in map(rows.some, ([q] for q in rows.queries))]  # type: ignore[index]
    return replace(rows, ranks=np.concatenate(turned))


def negate_scores(rows: Rows, rng: random.Random, documents: Sequence[str]) -> Rows:
    """Write distances for scores; the ranks stay right."""
    return replace(rows, scores=-_scores(rows))


def negate_alone(rows: Rows, rng: random.Random, documents: Sequence[str]) -> Rows:
    """Write distances for scores, without any ranks."""
    return replace(rows, scores=-_scores(rows), ranks=None)


def swap_columns(rows: Rows, rng: random.Random, documents: Sequence[str]) -> Rows:
    """Write the scores where the ranks belong, and the ranks where the scores do."""
    return replace(rows, scores=rows.ranks, ranks=_scores(rows))


def _scores(rows: Rows) -> Any:
    """Return the scores; where all are whole numbers, they could be ranks, so halves are added."""
    scores = np.zeros(len(rows)) if rows.scores is None else rows.scores
    return scores + 0.5 if np.array_equal(scores, np.trunc(scores)) else scores


def renumber_documents(rows: Rows, rng: random.Random, documents: Sequence[str]) -> Rows:
    """Give every document the id of another one, as another collection with the same ids does."""
    new = dict(zip(documents, rng.sample(documents, len(documents)), strict=True))
    return replace(rows, documents=[new[document] for document in rows.documents])


def shift_queries(rows: Rows, rng: random.Random, documents: Sequence[str], step: int = 1) -> Rows:
    """Put each list under the id of a query some places on; the last ones lose their list."""
    names = _ordered(rows.queries)
    new = {names[i]: names[i + step] for i in range(len(names)) if 0 <= i + step < len(names)}
    kept = rows.some([query for query in rows.queries if query in new])
    return replace(kept, queries=tuple(new[query] for query in kept.queries))


def rotate_queries(rows: Rows, rng: random.Random, documents: Sequence[str]) -> Rows:
    """Put each list under another query's id, all by the same number of places."""
    names = _ordered(rows.queries)
    step = rng.randrange(2, len(names) - 1)
    new = dict(zip(names, [*names[step:], *names[:step]], strict=True))
    return replace(rows, queries=tuple(new[query] for query in rows.queries))


def shuffle_queries(rows: Rows, rng: random.Random, documents: Sequence[str]) -> Rows:
    """Put each list under any query's id."""
    return replace(rows, queries=tuple(rng.sample(rows.queries, len(rows.queries))))


def _ordered(queries: Iterable[str]) -> list[str]:
    return sorted(queries, key=lambda query: (len(query), query))


# --- what must be said


Judge = Callable[[il.Doubt, float, float], bool]


def _restores(found: il.Doubt, clean: float, now: float) -> bool:
    """Whether the cost regains three quarters of what the fault lost, and not more than that."""
    return 0.75 * (clean - now) <= _price(found, now) - now <= 1.1 * (clean - now) + 0.01


def _price(found: il.Doubt, now: float) -> float:
    return next(iter(found.price.values()), {}).get(MEASURE, (now, now))[1]


def _keeps(found: il.Doubt, clean: float, now: float) -> bool:
    """Whether the scores are kept, or nothing is recommended where nobody can tell."""
    undecided = "find out which" in found.remedy
    return (
        not found.command and not found.price and (undecided or "keep the scores" in found.remedy)
    )


def _follows_ranks(found: il.Doubt, clean: float, now: float) -> bool:
    """Whether the ranks are followed, or nothing is recommended where nobody can tell."""
    undecided = "find out which" in found.remedy and not found.command
    return undecided or ("order" in found.command and _restores(found, clean, now))


def _is_named(found: il.Doubt, clean: float, now: float) -> bool:
    return found.severity == "error"


@dataclass(frozen=True)
class Fault:
    """A fault, the code that names it, and whether what is said about it is right."""

    name: str
    code: str
    inject: Callable[[Rows, random.Random, Sequence[str]], Rows]
    right: Judge

    def found(self, audit: Audit, clean: float) -> bool:
        now = next(iter(audit.values.values()))[MEASURE]
        own = [one for one in audit.findings if one.code == self.code]
        return bool(own) and all(self.right(one, clean, now) for one in own) and harmless(audit)


def harmless(audit: Audit) -> bool:
    """Whether nothing that mends an order or ids would lower the measure."""
    mending = {
        "rank-column",
        "upside-down",
        "swapped-columns",
        "misplaced-lists",
        "constant-scores",
    }
    prices = (
        pair for one in audit.findings if one.code in mending and one.remedy
        for own in one.price.values() for label, pair in own.items() if label == MEASURE
    )  # fmt: skip
    return all(now < then for now, then in prices)


def planted(fault: Fault, path: Path, data: Path, documents: Sequence[str]) -> bool:
    """Put a fault into a run, and say whether the audit names it."""
    rng = random.Random(f"{fault.name} {path.name}")
    qrels, rows = real_qrels(data), sorted_rows(il.read_run(path).rows())
    clean = il.evaluate(qrels, il.Run(rows, "run"), MEASURE)[MEASURE]
    broken = il.Run(fault.inject(rows, rng, documents), "run")
    return fault.found(il.audit(qrels, broken, measures=(MEASURE, "AP")), clean)


FAULTS = [
    Fault("ranks upside down, right scores", "rank-column", reverse_ranks, _keeps),
    Fault("scores upside down, right ranks", "rank-column", negate_scores, _follows_ranks),
    Fault("rank and score swapped", "swapped-columns", swap_columns, _restores),
    Fault("documents of another collection", "other-collection", renumber_documents, _is_named),
    Fault("queries shifted by one", "misplaced-lists", shift_queries, _restores),
    Fault("queries rotated", "misplaced-lists", rotate_queries, _restores),
    Fault("queries shuffled", "misplaced-lists", shuffle_queries, _restores),
]
