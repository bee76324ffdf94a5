"""The top of a run: the rows that its values depend on, whatever is judged later."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

import numpy as np

from idealist.evaluation import Evaluation
from idealist.evaluator import Evaluator
from idealist.instrument import Instrument
from idealist.ranking import listing
from idealist.tables import Rows, Run


def top_rows(evaluator: Evaluator, run: Run, evaluation: Evaluation) -> Rows:
    """Keep the rows down to the deepest cutoff; all, where a measure looks at whole lists."""
    rows, depths = run.rows(), [_depth(one) for one in evaluator.instruments.values()]
    if None in depths:
        return rows
    kept = _cut(rows, evaluator, max(depth for depth in depths if depth is not None))
    again = evaluator(Run(kept, run.name))
    same = all(
        np.array_equal(again.values[label], evaluation.values[label], equal_nan=True)
        for label in evaluation
    )
    return kept if same else rows


def _depth(instrument: Instrument) -> int | None:
    """Give the last rank that a measure looks at; None where it may look at all."""
    measure, protocol = instrument.measure, instrument.protocol
    moves = (
        protocol.unjudged == "drop" or protocol.negative == "drop" or protocol.collapse != "none"
    )
    budget = isinstance(protocol.depth, str) and protocol.depth != "none"
    return None if moves or budget or measure.list_only else measure.cutoff


def _cut(rows: Rows, evaluator: Evaluator, depth: int) -> Rows:
    """Keep the rows of documents that some protocol ranks so high, with the whole tie they are in.

    A protocol's own depth cuts ties by the labels of today, so it is left to the measuring.
    """
    protocols = {replace(one.protocol, depth="none") for one in evaluator.instruments.values()}
    kept: dict[str, set[str]] = {query: set() for query in rows.queries}
    for protocol in protocols:
        for query, ranking in listing(Run(rows, rows.name), protocol, rows.queries).items():
            high = ranking.first <= depth
            kept[query].update(compress(ranking.documents, high.tolist()))
    places = [
        (query, i)
        for query, span in rows.spans().items()
        for i in range(span.start, span.stop)
        if rows.documents[i] in kept[query]
    ]
    index = np.array([i for _, i in places], dtype=np.int64)
    names = ("scores", "ranks", "tokens")
    scores, ranks, tokens = (
        None if (column := getattr(rows, name)) is None else column[index] for name in names
    )
    return Rows.build(
        [query for query, _ in places], [rows.documents[i] for _, i in places], scores,
        rank=ranks, tokens=tokens, empty=rows.queries, name=rows.name,
    )  # fmt: skip
