"""Pooling: which documents to judge next, by a named strategy, within a budget."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from idealist.data import Qrels
from idealist.errors import InputError, UsageError, nearest
from idealist.formats import read_qrels
from idealist.formats.stored_judgments import store_address
from idealist.judging.choosing.adaptive import by_maxmean, by_mtf
from idealist.judging.choosing.decisive import by_decisive
from idealist.judging.choosing.pool_case import Choice, PoolCase, lists_hash, ranked_lists
from idealist.judging.choosing.sampled_pools import by_sampling
from idealist.judging.choosing.strategies import by_depth, by_fusion
from idealist.judging.store import Store
from idealist.judging.store_records import Batch, Pooled
from idealist.judging.turns import closed_batches, is_asked, untold_pairs
from idealist.protocol import Protocol
from idealist.rendering.document import (
    COUNT,
    SHARE,
    TEXT,
    Block,
    Column,
    Details,
    Document,
    Table,
    Text,
)
from idealist.rendering.result import Result
from idealist.rendering.wording import counted

Strategy = Callable[..., Choice]

#: Every strategy by its name. It takes a `PoolCase` and its own options as keywords.
STRATEGIES: dict[str, Strategy] = {
    "depth": by_depth,
    "fusion": by_fusion,
    "mtf": by_mtf,
    "maxmean": by_maxmean,
    "sampled": by_sampling,
    "decisive": by_decisive,
}

#: The rules by which runs are ranked, which any strategy takes.
RANKING = ("precision", "order", "ties", "duplicates", "nonfinite", "exclude_self", "collapse")
#: How many of a run's first documents the table by run looks at.
TOP = 10


def pool(
    judged: Any,
    runs: Any,
    *,
    by: str = "depth",
    budget: int | None = None,
    per_query: int | None = None,
    seed: int = 0,
    rel: float = 1,
    **options: Any,
) -> Pooling:
    """Choose which documents to judge next, of those that runs retrieve and nobody judged.

    `judged` is a store, judgments, or None where nothing is judged yet. `by` is the strategy:
    ``depth`` takes the first documents of every run, ``fusion`` those that the runs together rank
    highest; ``mtf`` and ``maxmean`` follow the runs that find most, and learn from each judgment
    that a store is given; ``sampled`` draws documents with known probabilities, so that
    `sample_estimates` is unbiased; ``decisive`` takes those whose grades could change which run
    is better, and says when none can. `budget` counts documents over all queries, `per_query` those
    of one. A document is relevant from grade `rel` on. Other `options` are the strategy's: `depth`
    says how far down the runs it looks, `measure` by what `decisive` compares them. Axes such as
    `ties`, `duplicates` or `collapse` say how runs are ranked.

    >>> found = pool({"q1": {"d1": 1}}, [{"q1": ["d1", "d2"]}, {"q1": ["d3"]}], depth=2)
    >>> found.summary
    '2 documents of 1 query are to be judged: all of the first 2 documents of each run'
    >>> [(one.document, one.place) for one in found.batch.pooled]
    [('d3', 1), ('d2', 2)]
    """
    axes = {name: options.pop(name) for name in RANKING if name in options}
    strategy = _strategy(by, options)
    for name, limit in (
        ("budget", budget),
        ("per_query", per_query),
        ("depth", options.get("depth")),
    ):
        _check_limit(name, limit)
    known = _known(judged)
    case = ranked_lists(runs, known["asked"], axes)
    _check_ids(known["qrels"], case)
    case = replace(case, **known, budget=budget, per_query=per_query, seed=seed, rel=rel)
    choice = strategy(case, **options)
    limits = {"budget": budget, "per_query": per_query, "seed": seed, "rel": rel}
    ranking = {name: str(getattr(Protocol(**axes), name)) for name in axes}
    parameters = {**limits, **ranking, **choice.parameters, "runs": _hashes(case)}
    return Pooling(Batch(by, choice.pooled, parameters), case, choice)


def _strategy(by: str, options: Mapping[str, Any]) -> Strategy:
    if by not in STRATEGIES:
        raise UsageError(f"there is no strategy {by!r}", nearest(by, STRATEGIES))
    known = list(inspect.signature(STRATEGIES[by]).parameters)[1:]
    for name in options:
        if name not in known:
            raise UsageError(f"the strategy {by} has no option {name!r}", nearest(name, known))
    return STRATEGIES[by]


def _check_limit(name: str, limit: Any) -> None:
    whole = isinstance(limit, int) and not isinstance(limit, bool)
    if limit is not None and (not whole or limit < 1):
        words = name.replace("_", "-")
        raise UsageError(f"{words} is {limit!r}", "it is a number of documents, at least 1")


_WAITING = """
SELECT query, document FROM turn
WHERE judged = 0 AND batch NOT IN (SELECT value FROM json_each(?))
"""


def _known(judged: Any) -> dict[str, Any]:
    """Return what is judged, None if nothing is, and the queries and the scale of a store."""
    asked = scale = None
    waiting, untold = dict[str, set[str]](), dict[str, set[str]]()
    if (address := store_address(judged)) is not None:
        with Store.to_read(address.path) as store, store.reading() as connection:
            asked, scale = tuple(store.queries.text) or None, store.scale
            for query, document in connection.execute(
                _WAITING, [json.dumps(closed_batches(connection))]
            ):
                waiting.setdefault(query, set()).add(document)
            for query, document in untold_pairs(store):
                untold.setdefault(query, set()).add(document)
    try:
        qrels = None if judged is None else read_qrels(judged)
    except InputError as error:
        if error.code != "empty":
            raise
        qrels = None
    found = {"qrels": qrels, "asked": asked, "scale": scale}
    return {**found, "waiting": waiting, "untold": untold}


def _check_ids(qrels: Qrels | None, case: PoolCase) -> None:
    if qrels is not None and qrels.known.isdisjoint(case.lists):
        hint = "check that both spell the ids of queries alike"
        raise UsageError("the runs and the judgments share no query", hint)


def _hashes(case: PoolCase) -> dict[str, str]:
    """Return what each run ranks where, as a hash."""
    return {
        name: lists_hash({query: lists[i] for query, lists in case.lists.items() if lists[i]})
        for i, name in enumerate(case.names)
    }


@dataclass(frozen=True, eq=False, repr=False)
class Pooling(Result):
    """Which documents to judge next: the `batch`, and what it was chosen from."""

    batch: Batch
    case: PoolCase
    choice: Choice

    @cached_property
    def chosen(self) -> tuple[Pooled, ...]:
        """The documents to be judged, in their order."""
        some = [one for one in self.batch.pooled if one.place is not None]
        return tuple(sorted(some, key=lambda one: one.place or 0))

    @cached_property
    def by_query(self) -> dict[str, int]:
        """How many documents of each query are to be judged."""
        counts = Counter(one.query for one in self.chosen)
        return {query: counts[query] for query in self.case.lists}

    def closes(self, store: Store) -> bool:
        """Whether what a store waits for, for the same verdict, need not be judged any more."""
        with store.reading() as connection:
            decisive = self.batch.strategy == "decisive"
            return decisive and is_asked(connection, self.batch.parameters)

    @property
    def left(self) -> int | None:
        """What is left of the budget; None without one."""
        budget = self.case.budget
        return None if budget is None else budget - len(self.chosen)

    @property
    def summary(self) -> str:
        """How many documents of how many queries were chosen, and how; or the answer."""
        return self.choice.answer.summary if self.choice.answer else self._chosen_words()

    def _chosen_words(self) -> str:
        if not self.chosen:
            nothing = "nothing new is to be judged" if self._waiting else "nothing is left to judge"
            return f"{nothing}: {self.choice.how}"
        documents = counted(len(self.chosen), "document", "documents")
        queries = counted(sum(map(bool, self.by_query.values())), "query", "queries")
        verb = "is" if len(self.chosen) == 1 else "are"
        remain = "remains" if self.left == 1 else "remain"
        left = f"; {self.left:,} of the budget {remain}" if self.left else ""
        return f"{documents} of {queries} {verb} to be judged: {self.choice.how}{left}"

    def report(self) -> Document:
        """Say what was chosen; tables by run and query are details."""
        said = [Text(_sentence(one)) for one in self._remarks()]
        first: tuple[Block, ...] = (Text(f"{self.summary}.", strong=True),)
        if self.choice.answer:
            first = (*self.choice.answer.report().blocks, Text(_sentence(self._chosen_words())))
        more = Details("By run and query", (self._runs(), self._queries()))
        return Document((*first, *said, more))

    @cached_property
    def _retrieved(self) -> dict[str, set[str]]:
        """The documents that the strategy looked at."""
        depth = self.choice.parameters.get("depth")
        return {query: {*chain(*self.case.cut(query, depth))} for query in self.case.lists}

    @cached_property
    def _waiting(self) -> int:
        """How many of these were chosen before, and no person has judged them yet."""
        waiting, known = self.case.waiting, self.case.known
        return sum(
            len((own & {*waiting.get(query, ())}) - known(query).keys())
            for query, own in self._retrieved.items()
        )

    def _remarks(self) -> tuple[str, ...]:
        known = sum(
            len(own & self.case.known(query).keys()) for query, own in self._retrieved.items()
        )
        again = sum(one.document in self.case.waiting.get(one.query, ()) for one in self.chosen)
        said = [f"of the documents looked at, {known:,} {_are(known)} judged already"]
        said = said if known else []
        if count := self._waiting:
            chosen = f"{again:,} of them chosen again" if again else "not chosen again"
            some = counted(count, "document of an earlier batch", "documents of earlier batches")
            said.append(f"{some} {_are(count)} still to be judged, and {chosen}")
        return (*said, *self.choice.remarks, *self.case.remarks)

    def _runs(self) -> Table:
        rows = []
        for i, run in enumerate(self.case.runs):
            tops = {query: lists[i][:TOP] for query, lists in self.case.lists.items()}
            total = sum(map(len, tops.values()))
            before = sum(one in self.case.known(q) for q, top in tops.items() for one in top)
            new = sum(one.document in tops[one.query] for one in self.chosen)
            rows.append((run.name, before / total, (before + new) / total))
        title = f"Of the first {TOP} documents of each run are judged"
        return Table.of(["run"], ["now", "with these"], rows, SHARE, title=title)

    def _queries(self) -> Table:
        rows = [(q, len(self.case.known(q)), count) for q, count in self.by_query.items()]
        return Table.of(["query"], ["judged", "to judge"], rows, COUNT, title="Documents by query")

    def table(self) -> Table:
        """Return the documents to be judged, in their order."""
        columns = [Column("query", TEXT), Column("document", TEXT), Column("place", COUNT)]
        rows: list[tuple[Any, ...]] = [(one.query, one.document, one.place) for one in self.chosen]
        if any(one.inclusion is not None for one in self.chosen):
            columns += [Column("stratum", TEXT), Column("inclusion")]
            drawn = zip(rows, self.chosen, strict=True)
            rows = [(*row, one.stratum, one.inclusion) for row, one in drawn]
        return Table(tuple(columns), tuple(rows))

    def data(self) -> dict[str, Any]:
        """Return the choice, its parameters and the documents as plain data."""
        table = self.table()
        return {
            "strategy": self.batch.strategy,
            "summary": self.summary,
            **({"answer": answer.data()} if (answer := self.choice.answer) else {}),
            "parameters": dict(self.batch.parameters),
            "left": self.left,
            "remarks": list(self._remarks()),
            "documents": [dict(zip(table.headers, row, strict=True)) for row in table.rows],
        }


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
