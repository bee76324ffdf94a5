"""Facts of the data that leave an axis nothing to decide."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from idealist.data import Qrels, Rows, Run
from idealist.errors import IdealistError
from idealist.protocol import Protocol
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import rank


@dataclass(frozen=True)
class Facts:
    """What judgments and a run hold, as far as a convention could care.

    `grades` are the different grades, also with fractions cut off; `orders` says what a list can be
    ordered by; `float32` is whether that precision ties scores that differ; `positive` whether all
    scores are above 0; `longest` is the length of the longest list, and `most` how many documents
    were retrieved or judged for a query at most.
    """

    grades: tuple[float, ...]
    maximum: float
    orders: tuple[str, ...]
    ties: bool
    float32: bool
    duplicates: bool
    nonfinite: bool
    itself: bool
    negative: bool
    fractions: bool
    zeros: bool
    unjudged: bool
    missing: bool
    positive: bool
    longest: int
    most: int

    @classmethod
    def of(cls, qrels: Qrels, run: Run, protocol: Protocol) -> Facts:
        """Look at judgments and a run; `protocol` has the axes that were set by hand."""
        rows = run.rows()
        documents = _documents(qrels, rows)
        by = {"score": _ranked(qrels, run, protocol, "score")}
        for order in _other_orders(rows):
            with suppress(IdealistError):  # ranks that are no ranks
                by[order] = _ranked(qrels, run, protocol, order)
        placed, first = by.values(), by["score"]
        whole = np.trunc(qrels.grades)
        scores = np.zeros(0) if rows.scores is None else rows.scores
        return cls(
            grades=tuple(sorted({*qrels.grades.tolist(), *whole.tolist()})),
            maximum=qrels.maximum,
            orders=tuple(by),
            ties=any(one.ties.any() or one.float32.any() for one in placed),
            float32=any(bool(one.float32.any()) for one in placed),
            duplicates=any(len(set(found)) < len(found) for found in documents.values()),
            nonfinite=not np.isfinite(scores).all(),
            itself=protocol.collapse != "none"
            or any(query in found for query, found in documents.items()),
            negative=qrels.minimum < 0,
            fractions=bool(np.any(whole != qrels.grades)),
            zeros=bool(np.any(whole == 0)),
            unjudged=int(first.retrieved.sum()) > len(first.rank),
            missing=not first.in_run.all(),
            positive=rows.scores is None or bool(np.all(scores > 0)),
            longest=int(first.retrieved.max(initial=0)),
            most=int(max(first.retrieved.max(initial=0), np.diff(qrels.starts).max(initial=0))),
        )

    @property
    def readings(self) -> list[str]:
        """The ways to read the grades that can differ."""
        there = {"truncate": True, "keep": self.fractions, "nonzero": self.zeros}
        return [reading for reading, matters in there.items() if matters]

    @property
    def words(self) -> list[str]:
        """Name what there is not, so that no rule about it can matter."""
        there = {
            "ties": self.ties,
            "scores that float32 cannot tell apart": self.float32,
            "duplicates": self.duplicates,
            "scores that are not finite": self.nonfinite,
            "documents with the id of their query": self.itself,
            "negative grades": self.negative,
            "fractions of grades": self.fractions,
            "unjudged documents in the lists": self.unjudged,
            "queries missing from the run": self.missing,
            "scores of 0 or less": not self.positive,
        }
        return [what for what, is_there in there.items() if not is_there]


def _documents(qrels: Qrels, rows: Rows) -> dict[str, list[str]]:
    """Give the documents retrieved for each judged query."""
    spans = rows.spans().items()
    return {query: list(rows.documents[span]) for query, span in spans if query in qrels.known}


def _other_orders(rows: Rows) -> list[str]:
    """Say what lists can be ordered by beside scores, or what stands for these."""
    there = {"rank": rows.ranks is not None, "given": True}
    return [name for name, can in there.items() if can]


def _ranked(qrels: Qrels, run: Run, protocol: Protocol, order: str) -> Placements:
    """Rank a run and let everything pass, so that it can be counted."""
    lenient = replace(
        protocol, order=order, precision="float64", ties="docid-desc", duplicates="first",
        nonfinite="last", depth="none", exclude_self=False, unjudged="zero", negative="allow",
        missing="zero", unknown="skip",
    )  # fmt: skip
    return rank(qrels, run, [lenient])[lenient]
