"""How far judging is: what is judged, by whom, at what speed and price, and what is left."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from idealist.data import Scale
from idealist.formats.grade_words import scale_text
from idealist.formats.judges import PROPOSED
from idealist.formats.stored_judgments import KINDS, Pair, scale_of_store, setting
from idealist.judging.pair_views import scale_words
from idealist.judging.store import Store
from idealist.judging.turns import closed_batches
from idealist.notation import tidy
from idealist.rendering.document import TEXT, Block, Column, Document, Format, Items, Table, Text
from idealist.rendering.result import Result
from idealist.rendering.wording import amount_words, counted, few, number, visible
from idealist.significance.kappas import Ratings, krippendorff_alpha

#: Who judges by reading: what they say of one pair can be compared.
PEOPLE = ("human", "import")
#: What a judge may have done with a pair.
DONE = ("graded", "cannot tell", "later", "adjudicated")
#: How counts, seconds and money are written.
WHOLE = Format(lambda cell: f"{cell:,}" if cell else "-")
SECONDS = Format(lambda cell: "-" if cell is None else f"{cell:.1f}")
MONEY = Format(lambda cell: amount_words(cell) if cell else "-")


@dataclass(frozen=True)
class JudgeWork:
    """What one judge did: what stands of it, and the median of the seconds that it took."""

    judge: str
    kind: str
    graded: int
    cannot_tell: int
    later: int
    adjudicated: int
    seconds: float | None
    last: str


@dataclass(frozen=True)
class BatchProgress:
    """How much of a batch is judged by people; `pooled` counts what is to be judged.

    Of `untold` pairs people said only that they cannot tell. Of what is left to people, `by_models`
    counts what a model has judged. A batch that a later one replaces is `closed`: nobody is asked
    to judge what is left of it.
    """

    batch: int
    strategy: str
    pooled: int
    judged: int
    untold: int = 0
    by_models: int = 0
    closed: bool = False

    @property
    def left(self) -> int:
        """How many pairs wait for a person to judge them."""
        return 0 if self.closed else self.pooled - self.judged - self.untold


@dataclass(frozen=True)
class ModelCost:
    """What the calls of a model came to; so many of them have no price, or only guessed tokens."""

    model: str
    answered: int
    failed: int
    tokens: int
    cost: float
    unpriced: int
    guessed: int


@dataclass(frozen=True)
class Coverage:
    """What the store knows of the queries and documents that are judged or to be judged."""

    queries: int
    judged_queries: int
    documents: int
    without_text: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class StoreStatus(Result):
    """How far judging is in a store."""

    path: str
    pairs: int
    kinds: Mapping[str, int]
    grades: Mapping[float, int]
    judges: tuple[JudgeWork, ...]
    batches: tuple[BatchProgress, ...]
    coverage: Coverage
    shared: int
    agreed: int
    alpha: float | None
    undone: int
    costs: tuple[ModelCost, ...]
    scale: Scale | None
    merge: str
    preferences: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, store: Store) -> StoreStatus:
        """Look at a store, all at one moment."""
        with store.reading() as connection:
            tally = _Tally.of(connection)
            batches = tuple(_progress(connection, tally))
            costs = tuple(ModelCost(*row) for row in connection.execute(_COSTS))
            undone = "SELECT COUNT(*) FROM judgment WHERE undoes IS NOT NULL"
            (count,) = connection.execute(undone).fetchone()
            pairs = {pair for own in tally.pairs.values() for pair in own}
            coverage = _coverage(connection, {query for query, _ in pairs})
            said = scale_of_store(connection), setting(connection, "merge") or PROPOSED
            preferred = {who: tuple(n) for who, *n in connection.execute(_PREFERENCES)}
        kinds = {kind: len(own) for kind, own in tally.pairs.items()}
        return cls(
            str(store.path), len(pairs), kinds, tally.grades, tuple(tally.work()), batches,
            coverage, *_agreement(tally.opinions.values()), count, costs, *said, preferred,
        )  # fmt: skip

    @property
    def open(self) -> BatchProgress | None:
        """The newest batch in which something is left."""
        return next((one for one in reversed(self.batches) if one.left), None)

    @property
    def summary(self) -> str:
        """How much is judged and how much is left, in one sentence."""
        some = counted(self.pairs, "pair is judged", "pairs are judged")
        if self.open is not None:
            of = f"{self.open.left:,} of {self.open.pooled:,} in batch {self.open.batch}"
            left = f"{some}; {of} {'is' if self.open.left == 1 else 'are'} left"
            models = f"a model judged {self.open.by_models:,} of these"
            return f"{left} to people; {models}" if self.open.by_models else left
        return f"{some}; nothing is left to judge" if self.batches else f"{some}; nothing is pooled"

    def report(self) -> Document:
        """Say what is left, who did what, and what is missing."""
        blocks: list[Block] = [Text(f"{self.summary}.", strong=True)]
        blocks += [self._judges(), self._batches(), self._costs(), Items(tuple(self._facts()))]
        return Document(tuple(blocks))

    def table(self) -> Table:
        """Return the table of the judges."""
        return self._judges()

    def _judges(self) -> Table:
        columns = (
            Column("judge", TEXT, shortens=True), Column("kind", TEXT), Column("graded", WHOLE),
            Column("cannot tell", WHOLE), Column("later", WHOLE), Column("adjudicated", WHOLE),
            Column("median s", SECONDS), Column("last", TEXT, spare=1),
        )  # fmt: skip
        rows = (
            (visible(one.judge), one.kind, one.graded, one.cannot_tell, one.later, one.adjudicated,
             one.seconds, one.last[:16].replace("T", " "))
            for one in self.judges
        )  # fmt: skip
        return Table(columns, tuple(rows))

    def _batches(self) -> Table:
        columns = (
            Column("batch", WHOLE), Column("chosen by", TEXT), Column("to judge", WHOLE),
            Column("judged", WHOLE), Column("cannot tell", WHOLE), Column("left", WHOLE),
            Column("of these by a model", WHOLE),
        )  # fmt: skip
        rows = (
            (o.batch, o.strategy, o.pooled, o.judged, o.untold, o.left, o.by_models)
            for o in self.batches
        )
        table = Table(columns, tuple(rows))
        some = any(one.by_models for one in self.batches)
        return table if some else table.without([columns[-1].name])

    def _costs(self) -> Table:
        columns = (
            Column("model", TEXT, shortens=True), Column("answered", WHOLE),
            Column("failed", WHOLE), Column("tokens", WHOLE), Column("cost", MONEY),
        )  # fmt: skip
        rows = ((o.model, o.answered, o.failed, o.tokens, o.cost) for o in self.costs)
        return Table(columns, tuple(rows))

    def _facts(self) -> Iterator[str]:
        if self.shared:
            alpha = "" if self.alpha is None else f"; Krippendorff's alpha {number(self.alpha, 2)}"
            agreed = f"all agree on {self.agreed:,} ({self.agreed / self.shared:.1%})"
            yield f"Several people judged {counted(self.shared, 'pair', 'pairs')}: {agreed}{alpha}."
        if self.grades:
            said = (f"{tidy(grade)}: {n:,}" for grade, n in sorted(self.grades.items()))
            yield f"Grades given: {', '.join(said)}."
        if len(self.kinds) > 1:
            said = (f"{kind} {self.kinds[kind]:,}" for kind in KINDS if kind in self.kinds)
            yield f"Pairs by kind: {', '.join(said)}; of a pair, only the first of these counts."
        if closed := [f"{one.batch}" for one in self.batches if one.closed]:
            some = f"Batch {closed[0]} is" if len(closed) == 1 else f"Batches {few(closed)} are"
            yield f"{some} closed: a later one says what the same verdict needs."
        if self.undone:
            yield f"{counted(self.undone, 'judgment', 'judgments')} undone."
        for judge, (preferred, tied) in self.preferences.items():
            ties = f" and {counted(tied, 'tie', 'ties')}" if tied else ""
            yield f"{visible(judge)}: {counted(preferred, 'preference', 'preferences')}{ties}."
        yield from self._spending()
        yield from self._missing()
        yield f"Scale: {scale_words(self.scale)}; several judges: {self.merge}."

    def _spending(self) -> Iterator[str]:
        """Say what the costs leave out, and what they guess."""
        calls = sum(one.answered + one.failed for one in self.costs)
        unpriced = sum(one.unpriced for one in self.costs)
        if unpriced and any(one.cost for one in self.costs):
            of = f"{unpriced:,} of {counted(calls, 'call', 'calls')}"
            yield f"Cost: {of} had no price, and are not in it."
        if guessed := sum(one.guessed for one in self.costs):
            of = f"{guessed:,} of {counted(calls, 'call', 'calls')}"
            yield f"Tokens: of {of} they are not known, and the most is counted."

    def _missing(self) -> Iterator[str]:
        known = self.coverage
        if known.queries:
            yield f"Queries: {known.judged_queries:,} of {known.queries:,} have a judgment."
        if lacking := known.without_text:
            of = f"{len(lacking):,} of {counted(known.documents, 'document', 'documents')}"
            verb = "has" if len(lacking) == 1 else "have"
            add = f"idealist judge add {self.path} --docs PATH"
            yield f"Texts: {of} {verb} none ({few(lacking, 3)}): {add}"

    def data(self) -> Any:
        """Return all of it as plain data."""
        progress = [{**vars(one), "left": one.left} for one in self.batches]
        return {
            "store": self.path, "pairs": self.pairs, "kinds": dict(self.kinds),
            "grades": {str(tidy(grade)): n for grade, n in sorted(self.grades.items())},
            "judges": [dict(vars(one)) for one in self.judges], "batches": progress,
            "left": self.open.left if self.open else 0, "undone": self.undone,
            "coverage": vars(self.coverage) | {"without_text": len(self.coverage.without_text)},
            "agreement": {"pairs": self.shared, "agreed": self.agreed, "alpha": self.alpha},
            "preferences": {
                judge: {"preferred": n, "tied": tied}
                for judge, (n, tied) in self.preferences.items()
            },
            "models": [dict(vars(one)) for one in self.costs],
            "scale": None if self.scale is None else scale_text(self.scale), "merge": self.merge,
        }  # fmt: skip


_BATCHES = """
SELECT batch.id, strategy, COUNT(turn.query), COALESCE(SUM(turn.judged = 0 AND EXISTS (
    SELECT 1 FROM current_judgment AS one WHERE one.query = turn.query
    AND one.document = turn.document AND one.kind = 'model' AND one.grade IS NOT NULL
)), 0)
FROM batch LEFT JOIN turn ON turn.batch = batch.id GROUP BY batch.id
"""
_COSTS = """
SELECT model, SUM(state = 'answered'), SUM(state = 'failed'), SUM(tokens_in + tokens_out),
    SUM(cost), SUM(cost = 0 AND tokens_in > 0), SUM(COALESCE(parameters ->> 'estimated', 0))
FROM call GROUP BY model ORDER BY model
"""
_PREFERENCES = """
SELECT judge, SUM(NOT tied), SUM(tied) FROM preference
WHERE id IN (
    SELECT MAX(id) FROM preference GROUP BY judge, query, MIN(better, worse), MAX(better, worse)
)
GROUP BY judge ORDER BY judge
"""
_DOCUMENTS = (
    "SELECT document FROM pooled WHERE place IS NOT NULL UNION SELECT document FROM judgment"
)


def _progress(connection: sqlite3.Connection, tally: _Tally) -> Iterator[BatchProgress]:
    """Count what people have judged of each batch, and what they could not tell."""
    graded = set[Pair]().union(*(tally.pairs.get(kind, ()) for kind in PEOPLE))
    said: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
    asked = "SELECT batch, query, document FROM turn WHERE judged > 0"
    for batch, *pair in connection.execute(asked):
        said[tuple(pair) in graded][batch] += 1
    closed = closed_batches(connection)
    for batch, strategy, pooled, models in connection.execute(_BATCHES):
        counts = said[True][batch], said[False][batch], 0 if batch in closed else models
        yield BatchProgress(batch, strategy, pooled, *counts, batch in closed)


def _coverage(connection: sqlite3.Connection, judged: set[str]) -> Coverage:
    asked = (
        "SELECT query FROM query UNION SELECT query FROM pooled UNION SELECT query FROM judgment"
    )
    queries = {query for (query,) in connection.execute(asked)}
    needed = {document for (document,) in connection.execute(_DOCUMENTS)}
    told = {document for (document,) in connection.execute("SELECT document FROM document")}
    return Coverage(len(queries), len(judged), len(needed), tuple(sorted(needed - told)))


_CURRENT = """
SELECT query, document, grade, judge, kind, status, adjudicates, seconds, time
FROM every_current_judgment
"""


@dataclass
class _Tally:
    """The judgments that stand, gone through once: who said what, when, and of which pairs."""

    said: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    spent: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    last: dict[tuple[str, str], str] = field(default_factory=lambda: defaultdict(str))
    grades: Counter[float] = field(default_factory=Counter)
    pairs: dict[str, set[Pair]] = field(default_factory=lambda: defaultdict(set))
    opinions: dict[Pair, list[float]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> _Tally:
        """Count; there may be very many."""
        made = cls()
        rows = connection.execute(_CURRENT)
        for query, document, grade, judge, kind, status, adjudicates, seconds, time in rows:
            who, pair = (judge, kind), (query, document)
            made.said[judge, kind, "adjudicated" if adjudicates else status] += 1
            made.last[who] = max(made.last[who], time)
            if seconds is not None:
                made.spent[who].append(seconds)
            if grade is not None:
                made.grades[grade] += 1
                made.pairs[kind].add(pair)
                if kind in PEOPLE and not adjudicates:
                    made.opinions[pair].append(grade)
        return made

    def work(self) -> Iterator[JudgeWork]:
        """Sum up what each judge did, who graded most first."""
        order = sorted(self.last, key=lambda who: (-self.said[(*who, "graded")], who))
        for who in order:
            graded, puzzled, later, decided = (self.said[(*who, done)] for done in DONE)
            spent = median(self.spent[who]) if who in self.spent else None
            yield JudgeWork(*who, graded, puzzled, later, decided, spent, self.last[who])


def _agreement(opinions: Iterable[list[float]]) -> tuple[int, int, float | None]:
    """Count the pairs that several people judged, and those on which all agree; compute alpha."""
    alike = Counter(tuple(sorted(grades)) for grades in opinions if len(grades) > 1)
    if not alike:
        return 0, 0, None
    levels = sorted({grade for grades in alike for grade in grades})
    counts = np.array([[grades.count(level) for level in levels] for grades in alike], dtype=float)
    pairs = np.repeat(counts, list(alike.values()), axis=0)
    alpha = float(krippendorff_alpha(Ratings.of(pairs)))
    agreed = sum(n for grades, n in alike.items() if grades[0] == grades[-1])
    return alike.total(), agreed, None if math.isnan(alpha) else alpha
