"""Covered text: how much of the evidence is in the first k chunks, and how much else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from idealist.data import Qrels, Rows, Run
from idealist.data.columns import Floats
from idealist.data.spans import Evidence, Span
from idealist.errors import UsageError
from idealist.measures.base import NO_RELEVANT, Measure
from idealist.notation import Written, choice, parameter
from idealist.protocol import Protocol
from idealist.ranking.chunk_lists import Sums
from idealist.ranking.padded_lists import Array, PaddedLists
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked

_REPEATS = choice("once", "each")
_REPEATED = "whether text that several chunks have in common counts once, or with each of them"


class CoveredText(Measure):
    """Base of measures of text: the evidence and the first k chunks, as sets of characters.

    Where documents are judged and not spans, each is one character, of evidence if its grade is
    above 0.
    """

    no_relevant: Written = parameter("0", NO_RELEVANT, "the value without evidence")

    needs = "spans"
    lacking = "evidence"

    def worth(self, placements: Placements) -> Floats:
        """Return 1 for all evidence."""
        evidence: Floats = (placements.grade > 0).astype(np.float64)
        return evidence

    def share(self, covered: Array, gold: Array, read: Array) -> tuple[Array, Array]:
        """Return what is divided by what: of characters covered, of evidence, and read."""
        raise NotImplementedError

    def counted(self, sums: Sums, evidence: Evidence, placements: Placements) -> tuple[Any, ...]:
        """Count what `share` divides, in characters."""
        sizes = [evidence.sizes[query] for query in placements.qrels.queries]
        each = getattr(self, "repeats", "once") == "each"
        return sums.covered, np.array(sizes, np.int64), sums.repeated if each else sums.read

    def formula(self, lists: PaddedLists) -> Array:
        """Count documents."""
        covered = lists.count(lists.within(self.cutoff) & (lists.grade > 0))
        gold = lists.count(lists.judged & (lists.pool > 0))
        part, whole = self.share(covered, gold, lists.lengths(self.cutoff))
        return lists.xp.where(gold > 0, lists.ratio(part, whole, 0.0), np.nan)

    def computed(self, placements: Placements) -> Floats:
        """Count characters if the judgments are spans."""
        if (evidence := placements.qrels.evidence) is None:
            return super().computed(placements)
        if placements.coverage is None:
            hint = "leave out unjudged=drop, and orders of ties that look at judgments"
            raise UsageError(f"{self.name} looks at all chunks, in the order of the run", hint)
        sums = placements.coverage.within(self.cutoff, placements.retrieved)
        covered, gold, read = self.counted(sums, evidence, placements)
        part, whole = self.share(covered, gold, read)
        value = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
        return np.where(gold > 0, value, np.nan)

    def repaired(self, actual: Floats, placements: Placements) -> list[Floats]:
        """Put right what can be: no cutoff where that is better, no other text, all evidence."""
        recall = EvidenceRecall(no_relevant=self.no_relevant).values(placements)
        whole = np.fmax(actual, replace(self, cutoff=None).values(placements))
        pure = recall if isinstance(self, EvidenceIoU) else (recall > 0).astype(np.float64)
        some = np.diff(placements.qrels.starts) > 0
        if isinstance(self, EvidenceRecall):
            pure = whole
        return [whole, np.fmax(whole, pure), np.where(some, 1.0, actual)]

    def __call__(self, grades: Sequence[Any], judged: Sequence[Any] = (), **columns: Any) -> float:
        """Measure a list of chunks, each (start, end) or (document, start, end).

        `judged` is the evidence in the same form. With grades instead, documents count.
        """
        if not any(isinstance(one, tuple) for one in (*grades, *judged)):
            return super().__call__(grades, judged, **columns)
        chunks, gold = ([Span("d", *one) if len(one) == 2 else Span(*one) for one in some]
                        for some in (grades, judged))  # fmt: skip
        n, names = len(chunks), [one.name for one in gold]
        qrels = Qrels.build(["list"] * len(gold), names, [1] * len(gold), empty=["list"])
        rows = Rows.build(["list"] * n, [one.name for one in chunks], empty=["list"])
        ranked = Ranked(replace(qrels, cover="any"), Run(rows, "list"))
        return float(self.values(ranked[Protocol(duplicates="first")])[0])


class EvidenceRecall(CoveredText):
    """Evidence recall: the share of the evidence that is in the first k chunks.

    Formula: characters of the evidence in the first k chunks / characters of the evidence

    A character counts once, in however many pieces or chunks it is. With ``unit=spans``, pieces are
    counted instead, each found as the gold's rule ``cover`` says. When called with a list, a chunk
    is (start, end) or (document, start, end), and so is the evidence.

    >>> (EvidenceRecall @ 2)([(0, 40), (30, 60), (80, 90)], judged=[(20, 50), (85, 95)])
    0.75
    >>> EvidenceRecall(unit="spans")([(0, 40), (30, 60)], judged=[(20, 50), (85, 95)])
    0.5

    Reference: Smith and Troynikov 2024, Evaluating chunking strategies for retrieval, Chroma
    """

    unit: str = parameter("characters", choice("characters", "spans"), "what is counted")

    def share(self, covered: Array, gold: Array, read: Array) -> tuple[Array, Array]:
        """Divide by the evidence."""
        return covered, gold

    def counted(self, sums: Sums, evidence: Evidence, placements: Placements) -> tuple[Any, ...]:
        """Count characters, or pieces of evidence."""
        if self.unit == "spans":
            return sums.found, np.diff(placements.qrels.starts), sums.read
        return super().counted(sums, evidence, placements)


class EvidencePrecision(CoveredText):
    """Evidence precision: the share of the text of the first k chunks that is evidence.

    Formula: characters of the evidence in the first k chunks / characters of the first k chunks

    Text that chunks have in common counts once; with ``repeats=each`` it counts in the divisor as
    often as a model reads it, as in Chroma's evaluation. When called with a list, a chunk is
    (start, end) or (document, start, end), and so is the evidence.

    >>> (EvidencePrecision @ 2)([(0, 40), (30, 60), (80, 90)], judged=[(20, 50), (85, 95)])
    0.5
    >>> round((EvidencePrecision(repeats="each") @ 2)([(0, 40), (30, 60)], judged=[(20, 50)]), 4)
    0.4286

    Reference: Smith and Troynikov 2024, Evaluating chunking strategies for retrieval, Chroma
    """

    repeats: str = parameter("once", _REPEATS, _REPEATED)

    def share(self, covered: Array, gold: Array, read: Array) -> tuple[Array, Array]:
        """Divide by what was read."""
        return covered, read


class EvidenceIoU(CoveredText):
    """Evidence IoU: intersection over union of the evidence and the text of the first k chunks.

    Formula: c / (e + t - c), with e characters of evidence and t of the first k chunks, of which
    both have c

    Text that chunks have in common counts once in t; with ``repeats=each`` as often as it is there,
    as in Chroma's evaluation. When called with a list, a chunk is (start, end) or (document, start,
    end), and so is the evidence.

    >>> round((EvidenceIoU @ 2)([(0, 40), (30, 60), (80, 90)], judged=[(20, 50), (85, 95)]), 4)
    0.4286

    Reference: Smith and Troynikov 2024, Evaluating chunking strategies for retrieval, Chroma
    """

    repeats: str = parameter("once", _REPEATS, _REPEATED)

    def share(self, covered: Array, gold: Array, read: Array) -> tuple[Array, Array]:
        """Divide by what either has."""
        return covered, gold + read - covered
