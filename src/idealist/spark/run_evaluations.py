"""From the parts of a run to its evaluation, on the executor that all of them were sent to."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from idealist.data import Qrels, Rows, Run
from idealist.data.columns import Bools, Ints
from idealist.errors import SHOWN, Defect, Faults, IdealistError, InputError, NoDocuments
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluator import Evaluator
from idealist.formats import frames
from idealist.protocol import Protocol
from idealist.ranking.place_columns import Columns, Part, moved, unpacked
from idealist.ranking.stored_placements import StoredPlacements
from idealist.spark.ranked_parts import RankedPart
from idealist.spark.run_table import RunTable
from idealist.spark.sessions import packed_error, received, unpacked_error

#: The columns of what is found, in Spark's words: an evaluation, or what is wrong.
EVALUATED = "run string, evaluation binary, error binary"


@dataclass(frozen=True)
class EvaluationPlan:
    """What makes evaluations of parts: an evaluator, and the orderings that parts hold."""

    evaluator: Evaluator
    orderings: tuple[Protocol, ...]
    table: RunTable

    def keys(self) -> list[Protocol]:
        """List the orderings, each with the other precision, as parts hold them."""
        pairs = ((one, one.other_precision) for one in self.orderings)
        return [one for pair in pairs for one in pair if one is not None]


@dataclass(frozen=True, eq=False)
class SparkPlacements(StoredPlacements):
    """The placements of a run whose rows are elsewhere; `shown` has some of its documents."""

    shown: Mapping[str, list[str]] = field(default_factory=dict)

    def columns(self, qrels: Qrels, ordering: Protocol, some: Bools | None = None) -> Columns:
        """Return the columns of `Placements`."""
        return self.lists[ordering]  # another one would be a defect, and must not pass unseen

    def some(self, queries: Collection[str]) -> Rows:
        """Return the first documents of lists, as far as they were kept, in their order."""
        kept = [(one, self.shown[one]) for one in queries if one in self.shown]
        rows = [(query, own, -place) for query, names in kept for place, own in enumerate(names, 1)]
        query, document, score = zip(*rows, strict=True)
        return Rows.build(query, document, score, rank=[-one for one in score], name=self.name)

    def has_no_documents(self) -> NoDocuments:
        """Say that what was asked for needs documents."""
        return NoDocuments(f"the rows of {self.name} stay on Spark", "give the run itself")


def evaluated_runs(plan: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Evaluate runs whose parts come one run after the other."""
    arrow, known = frames.arrow(), received(plan)
    fields = [("run", arrow.string()), ("evaluation", arrow.binary()), ("error", arrow.binary())]
    rows = (row for batch in batches for row in batch.to_pylist())
    for run, own in groupby(rows, itemgetter("run")):
        found = _evaluated(run, [pickle.loads(row["part"]) for row in own], known)
        yield arrow.RecordBatch.from_pylist([found], arrow.schema(fields))


def _evaluated(run: str, parts: Sequence[RankedPart], plan: EvaluationPlan) -> dict[str, Any]:
    found: dict[str, Any] = {"run": run, "evaluation": None, "error": None}
    try:
        found["evaluation"] = pickle.dumps(_evaluation(run, parts, plan))
    except IdealistError as error:
        found["error"] = pickle.dumps(packed_error(error))
    return found


def _evaluation(run: str, parts: Sequence[RankedPart], plan: EvaluationPlan) -> Evaluation:
    if not run:
        message, hint = "some rows have no run", "name the run of each row"
        Faults("the runs").fail("bad-id", message, hint)
    _check_parts(run, parts, plan)
    return plan.evaluator(Run(_placements(run, parts, plan), run))


def _check_parts(run: str, parts: Sequence[RankedPart], plan: EvaluationPlan) -> None:
    """Raise what is wrong with any part, by query."""
    for part in parts:
        if part.refused:
            raise unpacked_error(part.refused)
    faults = sorted((one for part in parts for one in part.faults), key=lambda one: one[0])
    if faults:
        raise InputError([fault for _, fault in faults[:SHOWN]], sum(part.total for part in parts))
    if "score" in plan.table.columns and sum(p.unscored for p in parts) == sum(
        p.rows for p in parts
    ):
        message, hint = (
            "no row has a score",
            "leave the column out where ranks or places order lists",
        )
        Faults(plan.table.source(run)).fail("bad-score", message, hint)


def _placements(run: str, parts: Sequence[RankedPart], plan: EvaluationPlan) -> SparkPlacements:
    """Put parts together: the lists of a run under every ordering."""
    qrels = plan.evaluator.qrels
    apart = any(part.names for part in parts)
    place = {query: i for i, query in enumerate(qrels.queries)} if apart else {}
    ranked = [part for part in parts if part.lists]
    lists: dict[Protocol, Columns] = {}
    for number, ordering in enumerate(plan.keys()):
        own = [(part.lists[number], _queries(part, number, place)) for part in ranked]
        lists[ordering] = together(own, qrels.starts)
    return SparkPlacements(
        name=plan.table.source(run),
        qrels=qrels,
        lists=lists,
        others=tuple(sorted({query for part in parts for query in part.unknown} - qrels.known)),
        unscored=sum(part.unscored for part in parts),
        remarks=plan.table.remarks(run),
        shown={query: own for part in parts for query, own in part.shown.items()},
    )


def _queries(part: RankedPart, number: int, place: Mapping[str, int]) -> Ints:
    """Return which query of all each list of a part belongs to."""
    own = np.cumsum(part.lists[number]["queries"].astype(np.int64)) - 1
    if part.names is None:
        return own
    return np.array([place[part.names[i]] for i in own.tolist()], dtype=np.int64)


def together(parts: Sequence[tuple[Mapping[str, Any], Ints]], starts: Ints) -> Columns:
    """Join what `packed` wrote for different queries, each part with the numbers of its queries."""
    if not parts:
        return moved([], starts)
    queries = np.concatenate([own for _, own in parts])
    if len(np.unique(queries)) < len(queries):
        raise Defect("the rows of a list came in two parts")
    names = parts[0][0].keys() - {"queries"}
    joined = {name: np.concatenate([one[name] for one, _ in parts]) for name in names}
    columns, _ = unpacked(joined | {"queries": np.diff(queries, prepend=-1)}, starts)
    return moved([Part(columns, starts, np.arange(len(starts) - 1))], starts)


def explode(rows: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """Write rows of each evaluation, as `rows` makes them: columns by name."""
    arrow = frames.arrow()
    for batch in batches:
        for written in batch["evaluation"].drop_null().to_pylist():
            yield arrow.RecordBatch.from_pydict(rows(pickle.loads(written)))
