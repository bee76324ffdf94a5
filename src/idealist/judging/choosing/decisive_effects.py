"""What the grade of each unjudged document would do to the mean of each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from idealist.bounding.bound_case import BoundCase, with_judgments
from idealist.bounding.unjudged_places import documents_of
from idealist.data.columns import Floats, Ints
from idealist.evaluating.evaluator import Evaluator
from idealist.measures.instrument import Instrument, chosen, measured
from idealist.measures.relevance import Threshold
from idealist.ranking.ranked import Ranked

#: So many of the unjudged documents of a list are tried one by one; of those below, fewer and fewer
#: are, and what lies between them is taken to do something in between.
EACH, GROWTH = 50, 1.25


@dataclass(frozen=True, eq=False)
class Effects:
    """The unjudged documents that runs hold in reach of a measure, and what each would do.

    `moves` says by how much the mean of each run moves if a document gets `grade`, where all other
    unjudged ones count as they do now: a row per document, a column per run.
    """

    query: Ints
    documents: list[str]
    moves: Floats
    grade: float

    def __len__(self) -> int:
        return len(self.documents)


def effects_of(evaluator: Evaluator, label: str, runs: Sequence[Ranked]) -> Effects:
    """Find the unjudged documents of some runs, and what each would do if it were relevant."""
    instrument = evaluator.instruments[label]
    cases = [BoundCase.of(instrument, ranked) for ranked in runs]
    grade = _usual(cases[0])
    index: dict[tuple[int, str], int] = {}
    own = []
    for case, ranked in zip(cases, runs, strict=True):
        documents = documents_of(case.unjudged, ranked, instrument.protocol)
        pairs = zip(case.unjudged.query.tolist(), documents, strict=True)
        own.append(np.array([index.setdefault(pair, len(index)) for pair in pairs], dtype=np.int64))
    query = np.array([q for q, _ in index], dtype=np.int64)
    moves = np.empty((len(index), len(runs)))
    for column, case, its in zip(moves.T, cases, own, strict=True):
        weight = _weights(instrument, case)
        column[:] = (_elsewhere(case, grade) * weight)[query]
        column[its] = _moves(case, grade) * weight[case.unjudged.query]
    order = np.argsort(query, kind="stable")
    names = [document for _, document in index]
    return Effects(query[order], [names[i] for i in order.tolist()], moves[order], grade)


def _usual(case: BoundCase) -> float:
    """Return the mean grade of the documents judged relevant, or the least that is."""
    measure, judged = case.instrument.measure, case.placements.qrels.grades
    if isinstance(measure, Threshold):
        relevant = case.levels[measure.relevant(case.levels)]
        return float(relevant[0] if len(relevant) else case.levels[-1])
    positive = judged[judged > 0]
    if len(positive):
        return float(positive.mean())
    return float(next((level for level in case.levels.tolist() if level > 0), case.levels[-1]))


def _weights(instrument: Instrument, case: BoundCase) -> Floats:
    """Return what the value of each query is multiplied by in the mean, or in the sum."""
    counted = measured(instrument, case.placements).counted | (case.unjudged.counts(case.size) > 0)
    weights = counted.astype(np.float64)
    if instrument.aggregate.weights is not None:
        weights[counted] = instrument.aggregate.weights.of(chosen(case.queries, counted))
    return weights if instrument.aggregate.aggregate == "sum" else weights / max(weights.sum(), 1)


def _elsewhere(case: BoundCase, grade: float) -> Floats:
    """Compute what one more relevant document does to a list that does not hold it."""
    nobody = case.unjudged.at(np.zeros(len(case.unjudged), dtype=bool))
    queries = np.arange(case.size)
    made = with_judgments(case.placements, nobody, np.zeros(0), queries, np.full(case.size, grade))
    return _change(case, measured(case.instrument, made).values)


def _moves(case: BoundCase, grade: float) -> Floats:
    """Compute what each unjudged document of the list does to its query's value."""
    places, counts = case.unjudged, case.unjudged.counts(case.size)
    turn = np.arange(len(places)) - (np.cumsum(counts) - counts)[places.query]
    found = np.full(len(places), np.nan)
    deepest = int(counts.max(initial=0))
    for i in _tried(deepest):
        which = (turn == i) | (
            (turn == counts[places.query] - 1) & (turn < i) & (turn > i / GROWTH)
        )
        some = places.at(which)
        made = with_judgments(case.placements, some, np.full(len(some), grade))
        found[which] = _change(case, measured(case.instrument, made).values)[some.query]
    return _between(found)


def _tried(deepest: int) -> list[int]:
    """Return the turns that are tried: each of the first, then ever fewer, and the last."""
    turns, at = list(range(min(deepest, EACH))), float(EACH)
    while at < deepest - 1:
        turns.append(int(at))
        at *= GROWTH
    return sorted({*turns, max(deepest - 1, 0)})


def _between(found: Floats) -> Floats:
    """Fill in what was not tried, from the documents of the list above and below."""
    known = np.flatnonzero(~np.isnan(found))
    if len(known) in (0, len(found)):
        return found
    filled: Floats = np.interp(np.arange(len(found)), known, found[known])
    return filled


def _change(case: BoundCase, values: Floats) -> Floats:
    """Subtract the values as they are; where one is undefined, nothing is known to change."""
    before = measured(case.instrument, case.placements).values
    return np.nan_to_num(values - np.nan_to_num(before))
