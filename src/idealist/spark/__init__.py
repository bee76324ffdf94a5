"""Evaluation on Apache Spark: the values, doubts and signatures of `idealist.evaluate`.

Needs the extra ``spark``; executors need idealist and pyarrow, and nothing else.
"""

from __future__ import annotations

from idealist.spark.click_parts import read_clicks
from idealist.spark.entry import compare, evaluate
from idealist.spark.spark_evaluations import SparkEvaluations

__all__ = ["SparkEvaluations", "compare", "evaluate", "read_clicks"]
