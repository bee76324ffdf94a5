"""What an executor does: it ranks whole lists, and keeps where their judged documents are."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from idealist.data import Qrels
from idealist.errors import SHOWN, Fault, Faults, IdealistError, InputError
from idealist.evaluating.data_doubts import SEARCHED, SEARCHED_DEPTH
from idealist.formats import borrowed_run, frames, read_qrels, trec
from idealist.protocol import Protocol
from idealist.ranking.place_columns import packed
from idealist.ranking.ranked import Ranked, listing
from idealist.spark.run_files import FAULTY
from idealist.spark.sessions import packed_error, received

#: So many rows are ranked together, in whole lists: enough to hide what a call costs, and few
#: beside the memory of an executor.
ROWS = 250_000
#: The columns of what is found, in Spark's words.
PARTS = "run string, part binary"
#: How many documents of a list are shown where ids never meet.
FEW = 3


@dataclass(frozen=True)
class RankingPlan:
    """What ranks lists: judgments (or None, where they come with the rows) and rules.

    `sources` say what errors call a run. With `nonzero`, judgments of grade 0 do not count.
    """

    qrels: Qrels | None
    orderings: tuple[Protocol, ...]
    nonzero: bool
    scored: bool
    sources: Mapping[str, str]


@dataclass
class RankedPart:
    """Some whole lists of one run: their places under each ordering, or what is wrong with them.

    `names` are those of the judged queries where not all executors have the same judgments, and
    `shown` the first documents of lists, where no judged document was retrieved. `unscored` counts
    rows without a score, of `rows`.
    """

    lists: list[dict[str, Any]] = field(default_factory=list)
    names: tuple[str, ...] | None = None
    unknown: tuple[str, ...] = ()
    unscored: int = 0
    rows: int = 0
    shown: dict[str, list[str]] = field(default_factory=dict)
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    total: int = 0
    refused: tuple[str, Any, Any] | None = None


def ranked_parts(plan: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Rank the lists of rows that come sorted by their key."""
    arrow, known = frames.arrow(), received(plan)
    for block in blocks(batches):
        qrels, rows = _judged(block) if known.qrels is None else (known.qrels, block)
        own = [(run, pickle.dumps(_part(run, table, qrels, known))) for run, table in by_run(rows)]
        runs, parts = arrow.array([run for run, _ in own]), arrow.array([part for _, part in own])
        if own:
            yield arrow.record_batch([runs, parts], ["run", "part"])


def blocks(batches: Iterable[Any], rows: int = ROWS) -> Iterator[Any]:
    """Put batches together to tables of so many rows or more, divided only between keys."""
    held: list[Any] = []
    count = 0
    for batch in batches:
        cut = _next_key(held, batch) if count >= rows else 0
        if cut > 0 or count < rows:
            held.append(batch.slice(0, cut or None))
        if count >= rows and cut < batch.num_rows:
            yield _joined(held)
            held, count = [batch.slice(cut)], 0
        count += batch.num_rows - cut
    if count:
        yield _joined(held)


def _next_key(held: Sequence[Any], batch: Any) -> int:
    """Find the first row of another key than that of the last row held."""
    last = next(one["key"][-1].as_py() for one in reversed(held) if one.num_rows)
    others = np.flatnonzero(batch["key"].to_numpy() != last)
    return int(others[0]) if len(others) else int(batch.num_rows)


def _joined(batches: Sequence[Any]) -> Any:
    return frames.arrow().Table.from_batches(batches).drop_columns("key")


def by_run(table: Any) -> Iterator[tuple[str, Any]]:
    """Divide a table by run; that of a run is in the order of the rows."""
    codes = table["run"].combine_chunks().dictionary_encode()
    names, code = codes.dictionary.to_pylist(), codes.indices.to_numpy(zero_copy_only=False)
    table = table.drop_columns("run")
    if np.count_nonzero(np.diff(code)) >= len(names):  # the rows of a run lie apart
        order = np.argsort(code, kind="stable")
        table, code = table.take(order), code[order]
    edges = [0, *(np.flatnonzero(np.diff(code)) + 1).tolist(), len(code)]
    for start, end in pairwise(edges):
        if end > start:
            yield names[code[start]], table.slice(start, end - start)


def _judged(table: Any) -> tuple[Qrels | None, Any]:
    """Part judgments from the rows of runs; both are of the same queries."""
    compute = import_module("pyarrow.compute")
    judged = table.filter(compute.is_null(table["run"]))
    rows = table.filter(compute.is_valid(table["run"])).drop_columns("grade")
    kept = judged.select(["query", "document", "grade"])
    return (read_qrels(kept) if len(kept) else None), rows


def _part(run: str, table: Any, qrels: Qrels | None, plan: RankingPlan) -> RankedPart:
    """Rank the lists of a run, or say what is wrong with them."""
    name = plan.sources.get(run, run)
    try:
        table = _checked(table, name, plan)
        if qrels is None:
            return _unjudged_part(table)
        return _placed(name, table, qrels, plan)
    except InputError as error:
        if error.code == "missing-column":  # which is said once
            return RankedPart(refused=packed_error(error))
        if qrels is None or FAULTY in table.column_names:
            return RankedPart(faults=[("", fault) for fault in error.faults], total=error.total)
        queries = sorted(set(map(str, table["query"].to_pylist())))
        found = _first_faults(name, table, qrels, plan, queries)
        return RankedPart(faults=found or [("", one) for one in error.faults], total=error.total)
    except IdealistError as error:
        return RankedPart(refused=packed_error(error))


def _checked(table: Any, name: str, plan: RankingPlan) -> Any:
    """Report lines that are no rows; put text back that Python reads otherwise than Java."""
    compute = import_module("pyarrow.compute")
    if FAULTY in table.column_names:
        lines = table[FAULTY].drop_null().to_pylist()
        if lines:
            cells = [(0, line.encode()) for line in lines]
            trec.RUN.refuse(cells[:SHOWN], Faults(name), len(lines), first=cells[0])
        table = table.drop_columns(FAULTY)
    for text in [one for one in table.column_names if one.endswith("_text")]:
        column = text.removesuffix("_text")
        if table[text].null_count < len(table):
            cells = compute.coalesce(table[text], table[column].cast("string"))
            table = table.set_column(table.column_names.index(column), column, cells)
        table = table.drop_columns(text)
    if not plan.scored and "rank" in table.column_names and table["rank"].null_count:
        bad = table.filter(compute.is_null(table["rank"])).slice(0, 1)
        query, document = bad["query"][0].as_py(), bad["document"][0].as_py()
        message = f"query {query!r}, document {document!r}: rank is not a number"
        Faults(name).fail("bad-rank", message, "give each document a rank")
    return table


def _unjudged_part(table: Any) -> RankedPart:
    queries = tuple(sorted(set(map(str, table["query"].to_pylist()))))
    unscored = table["score"].null_count if "score" in table.column_names else 0
    return RankedPart(unknown=queries, unscored=unscored, rows=len(table))


def _placed(name: str, table: Any, qrels: Qrels, plan: RankingPlan) -> RankedPart:
    """Rank lists by every ordering, and pack where the judged documents are."""
    ranked = Ranked(qrels, borrowed_run(table, name=name))
    first = next(iter(ranked.under(plan.orderings).values()))
    lists: list[dict[str, Any]] = []
    for ordering in plan.orderings:
        for one in filter(None, (ordering, ordering.other_precision)):
            columns = ranked.ordered(one)
            same = one != ordering and not columns["float32"].any()
            lists.append(lists[-1] if same else packed(columns, qrels.starts, columns["in_run"]))
    return RankedPart(
        lists=lists,
        names=qrels.queries if plan.qrels is None else None,
        unknown=first.unknown,
        unscored=first.unscored,
        rows=len(table),
        shown={} if _meets(ranked, plan) else _shown(ranked, plan),
    )


def _meets(ranked: Ranked, plan: RankingPlan) -> bool:
    """Whether any document that was retrieved is judged."""
    found = ranked.ordered(plan.orderings[0])["judgment"]
    return bool(np.any(ranked.qrels.truncated.grades[found])) if plan.nonzero else len(found) > 0


def _shown(ranked: Ranked, plan: RankingPlan) -> dict[str, list[str]]:
    """Name the first documents of the lists that a doubt about ids looks at.

    These are the longest list, and the first lists, whose first document is added that is judged
    for any query.
    """
    ordering, qrels = plan.orderings[0], ranked.qrels
    retrieved = ranked.ordered(ordering)["retrieved"]
    if not retrieved.any():
        return {}
    places = [int(np.argmax(retrieved)), *np.flatnonzero(retrieved)[:SEARCHED].tolist()]
    known = frozenset(qrels.documents)
    found = listing(ranked.held, ordering, [qrels.queries[i] for i in places], SEARCHED_DEPTH)
    return {
        query: own.documents[:FEW] + [one for one in own.documents[FEW:] if one in known][:1]
        for query, own in found.items()
    }


def _first_faults(
    name: str, table: Any, qrels: Qrels, plan: RankingPlan, queries: Sequence[str]
) -> list[tuple[str, Fault]]:
    """Find the first faults by query, as one machine reports them."""
    compute = import_module("pyarrow.compute")
    wanted = frames.arrow().array(queries, table.schema.field("query").type)
    rows = table.filter(compute.is_in(table["query"], value_set=wanted))
    try:
        if len(rows):
            _placed(name, rows, qrels, plan)
        return []
    except InputError as error:
        if len(queries) == 1:
            return [(queries[0], fault) for fault in error.faults]
    half = len(queries) // 2
    found = _first_faults(name, table, qrels, plan, queries[:half])
    if len(found) < SHOWN:
        found += _first_faults(name, table, qrels, plan, queries[half:])
    return found
