"""What an evaluation on Spark found: data frames for all runs, evaluations one by one."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from idealist.errors import UsageError, nearest
from idealist.evaluating.evaluation import Evaluation
from idealist.evaluating.evaluations import Evaluations
from idealist.formats import frames
from idealist.notation import many
from idealist.spark.run_evaluations import explode
from idealist.spark.sessions import functions

#: So many evaluations are fetched at once.
FETCHED = 16


@dataclass(frozen=True, eq=False)
class SparkEvaluations:
    """Evaluations of `runs` in a data frame, which Spark keeps until `unpersist`.

    ``result["bm25"]`` is what `idealist.evaluate` returns; iterating gives one evaluation after the
    other, in the order of `runs`, which is that of their names.
    """

    frame: Any = field(repr=False)
    runs: tuple[str, ...]

    @property
    def values(self) -> Any:
        """The value of every query: run, query, measure, value (NaN if undefined), counted."""
        schema = "run string, query string, measure string, value double, counted boolean"
        return self._written(_values, schema)

    @property
    def summary(self) -> Any:
        """The aggregates: run, measure, value, the interval low to high, the queries counted."""
        schema = "run string, measure string, value double, low double, high double, queries long"
        return self._written(_summary, schema)

    @property
    def doubts(self) -> Any:
        """What is doubtful: run, code, severity, message, count."""
        return self._written(
            _doubts, "run string, code string, severity string, message string, count long"
        )

    def _written(self, rows: Any, schema: str) -> Any:
        return self.frame.mapInArrow(partial(explode, rows), schema)

    def __len__(self) -> int:
        return len(self.runs)

    def __contains__(self, run: object) -> bool:
        return run in self.runs

    def __getitem__(self, run: str) -> Evaluation:
        if run not in self.runs:
            raise UsageError(f"there is no run {run!r}", nearest(str(run), self.runs))
        return _read(self.frame.where(functions().col("run") == run).collect()[0])

    def __iter__(self) -> Iterator[Evaluation]:
        parts = -(-len(self.runs) // FETCHED)
        ordered = self.frame.repartitionByRange(parts, "run").sortWithinPartitions("run")
        return map(_read, ordered.toLocalIterator())

    def evaluations(self, per_query: bool = False) -> Evaluations:
        """Fetch all evaluations, as ``idealist eval`` shows them."""
        return Evaluations(tuple(self), per_query)

    def unpersist(self) -> None:
        """Let Spark forget what it keeps."""
        self.frame.unpersist()

    def __str__(self) -> str:
        return f"evaluations of {many(len(self.runs), 'run', 'runs')} on Spark"


def _read(row: Any) -> Evaluation:
    found: Evaluation = pickle.loads(row["evaluation"])
    return found


def _values(evaluation: Evaluation) -> dict[str, Any]:
    arrow, labels, queries = frames.arrow(), list(evaluation), list(evaluation.queries)
    flags = [one for label in labels for one in evaluation.counted[label].tolist()]
    numbers = [one for label in labels for one in evaluation.values[label].tolist()]
    return {
        "run": arrow.array([evaluation.run] * len(numbers), arrow.string()),
        "query": arrow.array(queries * len(labels), arrow.string()),
        "measure": arrow.array([one for one in labels for _ in queries], arrow.string()),
        "value": arrow.array(numbers, arrow.float64()),
        "counted": arrow.array(flags, arrow.bool_()),
    }


def _summary(evaluation: Evaluation) -> dict[str, Any]:
    arrow, labels = frames.arrow(), list(evaluation)
    intervals = [evaluation.interval(label) for label in labels]
    counts = [int(evaluation.counted[label].sum()) for label in labels]
    return {
        "run": arrow.array([evaluation.run] * len(labels), arrow.string()),
        "measure": arrow.array(labels, arrow.string()),
        "value": arrow.array([evaluation[label] for label in labels], arrow.float64()),
        "low": arrow.array([low for low, _ in intervals], arrow.float64()),
        "high": arrow.array([high for _, high in intervals], arrow.float64()),
        "queries": arrow.array(counts, arrow.int64()),
    }


def _doubts(evaluation: Evaluation) -> dict[str, Any]:
    arrow, doubts = frames.arrow(), evaluation.doubts
    texts = {"run": [evaluation.run] * len(doubts)}
    texts |= {
        name: [getattr(one, name) for one in doubts] for name in ("code", "severity", "message")
    }
    counts = arrow.array([one.count for one in doubts], arrow.int64())
    return {name: arrow.array(column, arrow.string()) for name, column in texts.items()} | {
        "count": counts
    }
