"""Metrics for Hugging Face's Trainer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from idealist.tensors.meter import Meter


def compute_metrics(
    measures: Any, *, group: Any = None, qid: Any = None, ignore: float | None = -100, **rules: Any
) -> Callable[[Any], dict[str, float]]:
    """Make a function for ``Trainer(compute_metrics=…)``.

    Predictions are queries x documents, padded as the Trainer pads, with the label -100. If the
    data set has one pair of query and document per row instead, `group` holds the number of pairs
    of each query, or `qid` the query of each pair. `rules` are those of `Meter`.

    >>> from types import SimpleNamespace
    >>> measure = compute_metrics("RR@10")
    >>> measure(SimpleNamespace(predictions=[[0.1, 0.7, 0.0]], label_ids=[[1, 0, -100]]))
    {'RR@10': 0.5}
    """
    meter = Meter(measures, ignore=ignore, **rules)

    def measure(found: Any) -> dict[str, float]:
        scores = found.predictions
        scores = np.asarray(scores[0] if isinstance(scores, tuple) else scores)
        labels = np.asarray(found.label_ids)
        if scores.ndim == labels.ndim + 1 and scores.shape[-1] == 1:
            scores = scores[..., 0]  # a head with one output
        meter.reset()
        meter.update(scores, labels, group=group, qid=qid)
        return meter.compute()

    return measure
