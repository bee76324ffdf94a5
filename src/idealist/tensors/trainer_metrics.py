"""Metrics for Hugging Face's Trainer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from idealist.errors import UsageError
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
    made = Meter(measures, ignore=ignore, **rules)
    whole: list[Meter] = []

    def measure(found: Any, compute_result: bool | None = None) -> dict[str, float]:
        meter = whole.pop() if whole else made.fresh()
        meter.update(*_arrays(found, group is not None or qid is not None), group=group, qid=qid)
        if compute_result is False:  # with batch_eval_metrics, the last batch asks for the result
            whole.append(meter)
            return {}
        return meter.compute()

    return measure


def _arrays(found: Any, divided: bool) -> tuple[Any, Any]:
    """Return predictions and labels; those of a head with one output lose that dimension."""
    scores, labels = found[:2] if isinstance(found, tuple) else (found.predictions, found.label_ids)
    scores = scores[0] if isinstance(scores, tuple) else scores
    if not hasattr(scores, "shape"):
        return scores, labels
    if len(scores.shape) == len(np.shape(labels)) + 1 and scores.shape[-1] == 1:
        scores = scores[..., 0]
    if len(scores.shape) == 1 and not divided:
        hint = "give compute_metrics(…, qid=…) or group=…"
        raise UsageError("nothing says which predictions belong to the same query", hint)
    return scores, labels
