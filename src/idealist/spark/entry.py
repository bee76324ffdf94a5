"""Evaluating and comparing on Spark: judgments and runs in, evaluations out."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from idealist.comparing import COMPARED, Comparison, compare_evaluations
from idealist.conventions import DEFAULT, Convention
from idealist.errors import Faults, UsageError
from idealist.evaluating.doubt_case import is_filed
from idealist.evaluating.evaluator import DEFAULT_MEASURES, Evaluator
from idealist.formats.column_names import Given
from idealist.protocol import Protocol
from idealist.spark.ranked_parts import PARTS, RankingPlan, ranked_parts
from idealist.spark.row_order import check_order, resting_on_order
from idealist.spark.run_evaluations import EVALUATED, EvaluationPlan, evaluated_runs
from idealist.spark.run_files import FAULTY, POSITION
from idealist.spark.run_table import RunTable, run_table
from idealist.spark.sessions import is_frame, sent, session, unpacked_error
from idealist.spark.spark_evaluations import SparkEvaluations
from idealist.spark.spark_judgments import JudgedFrame, spark_judgments

#: The options of a comparison; all others are those of an evaluation.
COMPARING = ("slices", "all_pairs", "alpha", "seed", "tests", "rope", "margin")


def evaluate(
    qrels: Any,
    runs: Any,
    measures: Any = DEFAULT_MEASURES,
    *,
    columns: Given | None = None,
    convention: str | Convention = DEFAULT,
    queries: Iterable[Any] | None = None,
    weights: Any = None,
    **axes: Any,
) -> SparkEvaluations:
    """Evaluate runs on Spark; each gives what `idealist.evaluate` gives on one machine.

    `runs` is a data frame of Spark with columns for run, query, document and score or rank, or
    paths of files that Spark reads: Parquet, CSV, JSON by the line or TREC text. `qrels` is what
    `read_qrels` takes, or a data frame of Spark. `columns` names columns that have other names
    than usual, theirs by ours: {"run": "model", "document": "sku"}; "position" is a number that
    says the order of the rows, which rules such as ties=input rest on. All else is as in
    `idealist.evaluate`.

    Spark does the work at once, and keeps what it found.
    """
    judged = _judged(qrels, queries)
    evaluator = Evaluator(
        judged.qrels, measures, convention=convention, queries=queries, weights=weights, **axes
    )
    spark = runs.sparkSession if is_frame(runs) else session()
    table = run_table(spark, runs, columns)
    ranking, evaluating = plans(evaluator, table, judged.frame is not None)
    rows = table.lists(_needs(table, ranking.orderings), judged.frame)
    parts = rows.mapInArrow(partial(ranked_parts, sent(ranking)), PARTS)
    by_run = parts.repartition(_tasks(spark), "run").sortWithinPartitions("run")
    return _checked(
        by_run.mapInArrow(partial(evaluated_runs, sent(evaluating)), EVALUATED).persist()
    )


def plans(
    evaluator: Evaluator, table: RunTable, joined: bool
) -> tuple[RankingPlan, EvaluationPlan]:
    """Say what executors have to do: to rank lists, and to evaluate runs.

    Judgments that are `joined` come with the rows, all others go with the plan.
    """
    orderings = _orderings(evaluator)
    check_order(orderings, table.columns)
    evaluator.elsewhere = _files(evaluator, table)
    ranking = RankingPlan(
        qrels=None if joined else evaluator.qrels,
        orderings=orderings,
        nonzero=any(one.protocol.grades == "nonzero" for one in evaluator.instruments.values()),
        scored="score" in table.columns,
        sources=table.files,
    )
    return ranking, EvaluationPlan(evaluator, orderings, replace(table, frame=None))


def _judged(qrels: Any, queries: Any) -> JudgedFrame:
    judged = spark_judgments(qrels)
    if judged.frame is not None and queries is not None:
        message = "queries cannot be chosen from judgments that stay on Spark"
        raise UsageError(message, "keep the rows of these queries in both data frames")
    return judged


def _orderings(evaluator: Evaluator) -> tuple[Protocol, ...]:
    """List the orders that values and doubts need, that of the first measure first."""
    protocols = [one.protocol for one in evaluator.instruments.values()]
    also = [replace(one, ties="docid-desc") for one in protocols if one.ties == "error"]
    also += [one.whole() for one in protocols if one.budget is not None]
    return tuple(dict.fromkeys(one.ordering for one in (*protocols, *also)))


def _files(evaluator: Evaluator, table: RunTable) -> frozenset[str]:
    """Name the files that are here, for commands: executors may not have them."""
    names = [evaluator.qrels.name, *table.files.values()]
    names += [evaluator.queries.name] if evaluator.queries is not None else []
    return frozenset(filter(is_filed, names))


def _needs(table: RunTable, orderings: Iterable[Protocol]) -> set[str]:
    """List the columns that the orderings need."""
    found = {"score", FAULTY}
    for one in orderings:
        found |= {"rank"} if one.order == "rank" or "score" not in table.columns else set()
        found |= {"tokens"} if str(one.depth).startswith("tokens") else set()
        found |= {POSITION} if resting_on_order(one, table.columns) else set()
    return found & table.columns


def _tasks(spark: Any) -> int:
    """Say among how many tasks runs are divided; each costs more than a small run does."""
    most = int(spark.conf.get("spark.sql.shuffle.partitions"))
    try:
        return min(most, 2 * int(spark.sparkContext.defaultParallelism))
    except Exception:  # a client of Spark Connect does not know the cores
        return most


def _checked(frame: Any) -> SparkEvaluations:
    """Have Spark evaluate, and raise what is wrong with the first run that has a fault."""
    found = sorted(frame.select("run", "error").collect(), key=lambda row: row["run"])
    for row in found:
        if row["error"] is not None:
            frame.unpersist()
            raise unpacked_error(pickle.loads(row["error"]))
    if not found:
        Faults("the runs").fail(
            "empty", "the runs hold no rows", "give at least one retrieved document"
        )
    return SparkEvaluations(frame, tuple(row["run"] for row in found))


def compare(
    qrels: Any,
    runs: Any,
    measures: Any = COMPARED,
    *,
    baseline: str | int | None = None,
    **options: Any,
) -> Comparison:
    """Compare runs that Spark evaluates: every one against the baseline, or `all_pairs`.

    The baseline is the first by name, or the one of that name. Other options are those of
    `idealist.compare_evaluations` and of `evaluate`.
    """
    comparing = {name: options.pop(name) for name in COMPARING if name in options}
    found = evaluate(qrels, runs, measures, **options)
    try:
        return compare_evaluations(list(found), baseline=baseline, **comparing)
    finally:
        found.unpersist()
