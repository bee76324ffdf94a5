"""A fused document explained: what each run, and its rank there, gave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from idealist.data.columns import Floats
from idealist.errors import UsageError
from idealist.fusing.fused_run import best_first
from idealist.fusing.fusing import Fusing, checked_size
from idealist.notation import many
from idealist.ranking.document_lists import ALL, decoded
from idealist.rendering.document import COUNT, Column, Document, Format, Table, Text
from idealist.rendering.plain_data import finite, records_table
from idealist.rendering.result import Result
from idealist.rendering.wording import few, number

#: How many documents are explained where none is named.
TOP = 10
#: So many runs have a column each; of more, a few are named.
ABREAST = 4
#: Scores of runs are of any size; what matters are their first digits.
SCORE = Format(lambda cell: "-" if cell is None else f"{cell:.6g}")


@dataclass(frozen=True)
class Part:
    """What a run gave a document: `rank` and `score` are None where it did not find it.

    `normalised` is the score that the method went on with, `gives` what it made of that.
    """

    run: str
    rank: int | None
    score: float | None
    normalised: float | None
    gives: float | None

    @property
    def words(self) -> str:
        """Say what it gave, and for which rank."""
        at = "not found" if self.rank is None else f"rank {self.rank}"
        return at if self.gives is None else f"{at}: {number(self.gives)}"


@dataclass(frozen=True)
class FusedDocument:
    """A document of a fused list, with what each run gave it."""

    rank: int
    document: str
    score: float
    parts: tuple[Part, ...]

    @property
    def found_by(self) -> int:
        """How many runs found it."""
        return sum(part.rank is not None for part in self.parts)


@dataclass(frozen=True, eq=False, repr=False)
class ExplainedFusion(Result):
    """Why documents stand where they do in a fused list.

    Where the method `adds_up`, the score of a document is the sum of what the runs gave it;
    elsewhere `formula` says what is made of that. `candidates` is the length of the fused list.
    """

    query: str
    method: str
    formula: str
    adds_up: bool
    documents: tuple[FusedDocument, ...]
    candidates: int

    @property
    def summary(self) -> str:
        """Where the first document stands, and what put it there."""
        first = self.documents[0]
        told = few([f"{part.run} (rank {part.rank})" for part in self._foremost(first)], 3)
        place = f"{first.document} is at rank {first.rank} of {self.candidates} for {self.query}"
        return (
            f"{place}: found by {first.found_by} of {many(len(first.parts), 'run', 'runs')}, {told}"
        )

    def _foremost(self, one: FusedDocument) -> list[Part]:
        """Return the runs that found it, by what they gave; by rank where that does not add up."""
        found = [part for part in one.parts if part.rank is not None]
        if self.adds_up:
            return sorted(found, key=lambda part: -(part.gives or 0.0))
        return sorted(found, key=lambda part: part.rank or 0)

    def report(self) -> Document:
        """Show a document run by run, or several side by side."""
        runs = len(self.documents[0].parts)
        if len(self.documents) == 1:
            shown = self._by_run()
        else:
            shown = self._side_by_side() if runs <= ABREAST else self._in_words()
        how = "the score is the sum of what the runs give" if self.adds_up else self.formula
        notes = [Text(f"{self.method}: {how}")]
        return Document((Text(f"{self.summary}.", strong=True), shown), tuple(notes))

    def _by_run(self) -> Table:
        heads = ("run", "rank", "score", "normalised", "gives")
        [one] = self.documents
        rows = [tuple(asdict(part).values()) for part in one.parts]
        fused = ("fused", one.rank, None, None, one.score)
        forms = [*Table.of(["run"], [], []).columns, Column("rank", COUNT)]
        forms += [Column(head, SCORE) for head in heads[2:]]
        return Table(tuple(forms), (*rows, fused))

    def _side_by_side(self) -> Table:
        runs = [part.run for part in self.documents[0].parts]
        words = Table.of(["document", *runs], [], []).columns
        rows = [
            (one.rank, one.document, *(part.words for part in one.parts), one.score)
            for one in self.documents
        ]
        return Table((Column("rank", COUNT), *words, Column("score", SCORE)), tuple(rows))

    def _in_words(self) -> Table:
        rows = []
        for one in self.documents:
            told = few([f"{part.run} ({part.words})" for part in self._foremost(one)], 2)
            rows.append((one.rank, one.document, one.found_by, told, one.score))
        head = "what gave most" if self.adds_up else "where it ranks best"
        document, words = Table.of(["document", head], [], []).columns
        columns = (Column("rank", COUNT), document, Column("runs", COUNT), words)
        return Table((*columns, Column("score", SCORE)), tuple(rows))

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        facts = {"query": self.query, "method": self.method, "adds_up": self.adds_up}
        documents = [asdict(one) for one in self.documents]
        found: dict[str, Any] = finite(
            facts | {"candidates": self.candidates, "documents": documents}
        )
        return found

    def table(self) -> Table:
        """Return a row for each document and run."""
        rows = [
            {"document": one.document, "fused_rank": one.rank, "fused_score": one.score}
            | asdict(part)
            for one in self.documents
            for part in one.parts
        ]
        return records_table(rows)


def explain_fusion(
    runs: Any, method: Any = "rrf", *, query: Any, document: Any = None, top: int = TOP,
    **options: Any,
) -> ExplainedFusion:  # fmt: skip
    """Say what each run gave the documents of a fused list: one of them, or the first `top`.

    `options` are those of `fuse`.

    >>> runs = {"a": {"q": {"x": 9.0, "y": 7.0}}, "b": {"q": {"y": 0.8}}}
    >>> found = explain_fusion(runs, query="q", document="y")
    >>> [(part.run, part.rank, round(part.gives, 4)) for part in found.documents[0].parts]
    [('a', 2, 0.0161), ('b', 1, 0.0164)]
    """
    return explained(Fusing.of(runs, method, **options), query, document, top)


def explained(fusing: Fusing, query: Any, document: Any = None, top: int = TOP) -> ExplainedFusion:
    """Explain documents of one fused list."""
    top = checked_size("top", top) or TOP
    found = _Explained(fusing, _place(fusing, query))
    ranks = range(1, min(top, len(found.order)) + 1)
    if document is not None:
        ranks = range(at := found.rank_of(str(document)), at + 1)
    if not ranks:
        raise UsageError(f"no run found anything for query {query!r}", "name another query")
    method = fusing.method
    return ExplainedFusion(
        found.query, str(method), method.formula(), method.adds_up,
        tuple(found.document(rank) for rank in ranks), len(found.order),
    )  # fmt: skip


def _place(fusing: Fusing, query: Any) -> int:
    queries, name = fusing.ranked.queries, str(query)
    if name not in queries:
        raise UsageError(f"there is no query {name!r} in the runs", f"they have {few(queries)}")
    return queries.index(name)


class _Explained:
    """One query, fused, with all that went into it."""

    def __init__(self, fusing: Fusing, place: int) -> None:
        self.by_score = fusing.method.uses == "scores"
        self.runs, self.query = fusing.ranked.names, fusing.ranked.queries[place]
        met = fusing.ranked.met(place, place + 1)
        self.candidates = met.candidates
        steps = fusing.method.steps(met.candidates, fusing.learnt)
        self.prepared, self.given, self.scores = steps
        number = {name: i for i, name in enumerate(met.candidates.names.first(0))}
        lists = best_first(met, self.scores, ALL)
        self.names: Sequence[bytes] = lists.first(0)
        self.order = [number[name] for name in self.names]

    def rank_of(self, document: str) -> int:
        """Return the rank of a document in the fused list."""
        names = [decoded(name) for name in self.names]
        if document not in names:
            hint = f"they found {few(names)}"
            raise UsageError(f"no run found {document!r} for query {self.query!r}", hint)
        return names.index(document) + 1

    def document(self, rank: int) -> FusedDocument:
        """Return what each run gave the document at a rank."""
        number = self.order[rank - 1]
        parts = tuple(self._part(run, number) for run in range(len(self.runs)))
        return FusedDocument(rank, decoded(self.names[rank - 1]), float(self.scores[number]), parts)

    def _part(self, run: int, document: int) -> Part:
        def of(values: Floats, those: Any) -> float | None:
            found = values[(those.document == document) & (those.run == run)]
            return float(found[0]) if len(found) and np.isfinite(found[0]) else None

        rank = of(self.candidates.rank, self.candidates)
        return Part(
            self.runs[run], None if rank is None else int(rank),
            of(self.candidates.score, self.candidates),
            None if rank is None or not self.by_score else of(self.prepared.score, self.prepared),
            of(self.given, self.prepared),
        )  # fmt: skip
