"""Values of lists given as arrays: one value per list, in the arrays' own library."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from idealist.conventions import DEFAULT, Convention
from idealist.errors import UsageError
from idealist.formats.arrays import negative_words
from idealist.measures import Measure
from idealist.measures.base import Asked
from idealist.measures.instrument import Instrument
from idealist.notation import many
from idealist.ranking.padded_lists import Array
from idealist.tensors.array_libraries import uncompiled
from idealist.tensors.layouts import Layout, lay_out
from idealist.tensors.measured_lists import MeasuredLists, measure_lists
from idealist.tensors.tensor_rules import Rules, rules_of


class DoubtWarning(UserWarning):
    """Something legal but doubtful about arrays, such as labels that may be padding."""


@uncompiled
def values(
    measures: Any,
    scores: Any,
    labels: Any,
    *,
    mask: Any = None,
    group: Any = None,
    qid: Any = None,
    judged: Any = None,
    ignore: float | None = None,
    convention: str | Convention = DEFAULT,
    **axes: Any,
) -> Any:
    """Measure lists of documents: one value per list, in the same library and on the same device.

    Scores and labels (grades) are queries x documents; or all lists behind each other, with `group`
    for the length of each or `qid` for the query of each document; or lists of arrays. A document
    is padding where `mask` is false (or, without a mask, where its score is -inf) and where its
    label is `ignore`; the value of a list of nothing but padding is NaN. `judged` are the grades of
    documents that were judged for a query but are not in its list. `convention` and `axes` are
    those of `evaluate`; equal scores keep the order of the input where a convention orders them by
    id.

    >>> scores, labels = [[0.9, 0.2, 0.5], [0.1, 0.8, 0.0]], [[1, 3, 0], [0, 2, -100]]
    >>> values("nDCG@10", scores, labels, ignore=-100).round(4).tolist()
    [0.6885, 1.0]

    Several measures give {measure: values}. With `qid`, queries come in the order of their first
    documents. Nothing waits for a device: what cannot be measured there, such as a NaN score, has
    the value NaN; in the processor's memory it is an error.
    """
    rules = rules_of(measures, convention, axes)
    layout = lay_out(scores, labels, mask, group, qid, judged, ignore)
    library, result = layout.library, layout.library.result
    with library.exact():
        found = measure_lists(layout, rules)
        settled = {
            label: library.xp.astype(_settled(found, label, one), result)
            for label, one in rules.instruments.items()
        }
    for doubt in doubtful_labels(layout, rules):
        warnings.warn(doubt, DoubtWarning, stacklevel=2)
    one = isinstance(measures, (str, type, Measure))
    return next(iter(settled.values())) if one else settled


def _settled(found: MeasuredLists, label: str, instrument: Instrument) -> Array:
    """Replace undefined values as the measure says, and keep to its range."""
    layout, measure, xp = found.layout, instrument.measure, found.layout.library.xp
    is_query, empty = found.fact("query") > 0, found.fact("documents") == 0
    if layout.library.is_numpy:
        names = (
            [layout.name(i) for i in np.flatnonzero(is_query).tolist()] if measure.refuses else []
        )
        asked = Asked("labels", names, empty[is_query], min(layout.extremes[0], 0.0))
        values = np.full(len(is_query), math.nan)
        settled = measure.settled(found.value(label)[is_query], asked)
        values[is_query] = instrument.aggregate.each(settled)
        return values
    if str(instrument.aggregate.round).startswith("query"):
        hint = "Meter rounds them; or leave out round"
        raise UsageError(f"round={instrument.aggregate.round} rounds in Python only", hint)
    value = measure.without_gaps(found.value(label), empty, xp)
    value = xp.where(is_query & (found.fact("fault") == 0), value, math.nan)
    return xp.clip(value, *measure.bounds(-1.0))


def doubtful_labels(layout: Layout, rules: Rules) -> Iterator[str]:
    """Doubt negative labels, which may be padding, and relevant documents that seem to be."""
    if layout.told or layout.unseen:
        return
    scores, labels, there = map(
        layout.library.to_numpy, (layout.scores, layout.labels, layout.there)
    )
    if not rules.takes_negative and layout.extremes[0] < 0:
        negative = labels[there & (labels < 0)]
        if negative.size:
            yield negative_words(negative.size, float(negative.min()))
    if not there.all() and (hidden := int(np.count_nonzero((scores == -math.inf) & (labels > 0)))):
        yield hidden_words(hidden)


def hidden_words(count: int) -> str:
    """Say that relevant documents have the score of padding."""
    some = many(count, "document with a label above 0 has", "documents with a label above 0 have")
    return f"{some} the score -inf, which counts as padding; give a mask if it is a score"
