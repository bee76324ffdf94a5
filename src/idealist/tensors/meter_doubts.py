"""Doubts about what a meter measured: labels that may be padding, ties, queries without answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.data.columns import Floats
from idealist.evaluating import data_doubts as data
from idealist.evaluating.doubt_case import MeasuredCase
from idealist.formats.arrays import negative_words
from idealist.measures.instrument import Measured
from idealist.notation import many
from idealist.rendering.doubt import Doubt
from idealist.rendering.wording import few
from idealist.tensors.batch_values import hidden_words
from idealist.tensors.tensor_rules import Rules, has


@dataclass(frozen=True)
class MeterCase(MeasuredCase):
    """One run as a meter measured it.

    `facts` are numbers of each query, `repeated` names queries that came twice, and `is_named` says
    that the queries have names of their own.
    """

    measuring: Rules
    name: str
    queries: Sequence[str]
    measured: Mapping[str, Measured]
    facts: Mapping[str, Floats]
    repeated: tuple[str, ...]
    is_named: bool

    def command(self, **axes: Any) -> str:
        """Write how to measure with other axes."""
        words = [repr(list(self.instruments))]
        if self.measuring.convention.name != "trec_eval":
            words.append(f"convention={self.measuring.convention.name!r}")
        words += (f"{axis}={value!r}" for axis, value in {**self.measuring.axes, **axes}.items())
        return f"Meter({', '.join(words)})"


def find_doubts(case: MeterCase) -> tuple[Doubt, ...]:
    """Look for what is doubtful about the labels, the scores and the measures."""
    checks = (
        negative_labels, _hidden, _low, _repeated, data.no_relevant, _ties, data.not_in_tool,
        data.other_name, _unnamed,
    )  # fmt: skip
    return tuple(doubt.explained for check in checks for doubt in check(case))


def negative_labels(case: MeterCase) -> Iterator[Doubt]:
    """Look for negative labels where nobody said what padding is."""
    negative = (case.facts["negative"] > 0) & (case.facts["told"] == 0)
    if negative.any() and not case.measuring.takes_negative:
        count = int(case.facts["negative"][negative].sum())
        said = negative_words(count, float(case.facts["lowest"][negative].min()))
        total = int(case.facts["judged"].sum())
        yield Doubt("negative-labels", said, count, case.named(negative), total=total)


def _hidden(case: MeterCase) -> Iterator[Doubt]:
    """Look for relevant documents whose score is that of padding."""
    some = (case.facts["hidden"] > 0) & (case.facts["told"] == 0)
    if count := int(case.facts["hidden"][some].sum()):
        yield Doubt("hidden-documents", hidden_words(count), count, case.named(some))


def _low(case: MeterCase) -> Iterator[Doubt]:
    """Look for relevant documents that do not count because of their scores."""
    if count := int(case.facts["low"].sum()):
        some = many(
            count, "document with a label above 0 has", "documents with a label above 0 have"
        )
        labels = ", ".join(case.labels(lambda one: has(one.measure, "positive_score")))
        said = f"{some} a score of 0 or less and cannot count in {labels}"
        yield Doubt("low-scores", said, count, case.named(case.facts["low"] > 0))


def _unnamed(case: MeterCase) -> Iterator[Doubt]:
    """Say that queries are known by their number only."""
    if not case.is_named and len(case.queries) > 1:
        said = (
            "the queries have no names; compare only evaluations in which they have the same order"
        )
        yield Doubt("unnamed-queries", said, len(case.queries), severity="note")


def _repeated(case: MeterCase) -> Iterator[Doubt]:
    """Say that queries came twice, as samplers repeat some to fill the last batch."""
    if case.repeated:
        some = many(len(set(case.repeated)), "query", "queries")
        said = f"{some} came more than once with the same values and count once"
        queries = tuple(dict.fromkeys(case.repeated))
        yield Doubt("repeated-queries", f"{said} ({few(queries)})", len(case.repeated), queries,
                    severity="note", total=len(case.queries))  # fmt: skip


def _ties(case: MeterCase) -> Iterator[Doubt]:
    """Count the queries in which equal scores decide what is seen first."""
    tied = case.facts["tied"] > 0
    if count := int(np.count_nonzero(tied)):
        queries = case.named(tied)
        orders = {one.protocol.ties for one in case.instruments.values()} - {"expected"}
        how = f"ties={orders.pop()}" if len(orders) == 1 else "their order"
        some = many(count, "query has", "queries have")
        said = f"{some} equal scores whose order can decide a value, and {how} decides"
        measures = [one.measure for one in case.instruments.values()]
        averages = all(one.averages_ties for one in measures)
        yield Doubt(
            "ties", f"{said} ({few(queries)})", count, queries, total=len(case.queries),
            remedy="compute scores in float32 or float64; until then average over ties",
            command=case.command(ties="expected") if averages else "",
        )  # fmt: skip
