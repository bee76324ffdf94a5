"""Metrics for gradient boosting: the same measures inside LightGBM, XGBoost and CatBoost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from idealist.errors import UsageError
from idealist.tensors.batch_values import DoubtWarning
from idealist.tensors.meter import Meter


def lightgbm_metric(
    measures: Any, **rules: Any
) -> Callable[[Any, Any], list[tuple[str, float, bool]]]:
    """Make a metric for ``lightgbm.train(…, feval=…)``.

    `rules` are those of `Meter`. The data set must know its groups. Switch LightGBM's own metrics
    off with ``metric="None"`` if they are not to stop the training.

    >>> feval = lightgbm_metric("nDCG@10", convention="lightgbm")
    """
    made = Meter(measures, **rules)

    def feval(scores: Any, data: Any) -> list[tuple[str, float, bool]]:
        if not hasattr(data, "get_group"):
            raise _not_here("lightgbm.train(…, feval=…)")
        _doubt_weights(data.get_weight())
        group = data.get_group()
        if group is None:
            raise _no_groups("lightgbm.Dataset(…, group=…)")
        found = _measured(made, scores, data.get_label(), group)
        return [(label, value, _rises(made, label)) for label, value in found.items()]

    return feval


def xgboost_metric(measures: Any, **rules: Any) -> Callable[[Any, Any], list[tuple[str, float]]]:
    """Make a metric for ``xgboost.train(…, custom_metric=…)``.

    `rules` are those of `Meter`. The matrix must know its groups. XGBoost takes lower values for
    better unless you say ``maximize=True`` where you stop early.

    >>> metric = xgboost_metric(["nDCG@10", "RR@10"])
    """
    made = Meter(measures, **rules)

    def metric(scores: Any, data: Any) -> list[tuple[str, float]]:
        if not hasattr(data, "get_uint_info"):
            raise _not_here("xgboost.train(…, custom_metric=…)")
        _doubt_weights(data.get_weight())
        ends = data.get_uint_info("group_ptr")
        if len(ends) < 2:
            raise _no_groups("DMatrix(…, qid=…), or set_group")
        return list(_measured(made, scores, data.get_label(), np.diff(ends)).items())

    return metric


def catboost_metric(measure: Any, *pools: Any, **rules: Any) -> Any:
    """Make a metric for ``CatBoost(eval_metric=…)``, named like the measure.

    CatBoost does not tell a metric which documents belong together, so give it the pools that it
    will be asked about: those to learn from and those to evaluate. `rules` are those of `Meter`.
    """
    made = Meter(measure, **rules)
    if len(made.rules.measures) != 1:
        raise UsageError("CatBoost takes one metric at a time", "give one measure")
    (label,) = made.rules.measures
    known = [(np.asarray(pool.get_label(), np.float64), _hashes(pool)) for pool in pools]
    for (a, its), (b, others) in combinations(known, 2):
        if np.array_equal(a, b) and not np.array_equal(its, others):
            hint = "make a metric for each of them"
            raise UsageError("two pools have the same labels and different groups", hint)

    class PoolMetric:
        no_jit = True  # or CatBoost would hand it to Numba

        def is_max_optimal(self) -> bool:
            return _rises(made, label)

        def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
            labels = np.asarray(target, np.float64)
            _doubt_weights(weight)
            for own, qid in known:
                if np.array_equal(own, labels):
                    return _measured(made, approxes[0], labels, qid=qid)[label], 1.0
            hint = f"catboost_metric({label!r}, train_pool, eval_pool)"
            raise UsageError("CatBoost asks about a pool that the metric does not know", hint)

        def get_final_error(self, error: float, weight: float) -> float:
            return error

    PoolMetric.__name__ = label
    return PoolMetric()


def _hashes(pool: Any) -> Any:
    found = pool.get_group_id_hash()
    if found is None or not len(found):
        raise _no_groups("catboost.Pool(…, group_id=…)")
    return found


def _measured(
    made: Meter, scores: Any, labels: Any, group: Any = None, qid: Any = None
) -> dict[str, float]:
    """Measure with a meter of its own, since several threads may call."""
    meter = made.fresh()
    meter.update(np.asarray(scores), np.asarray(labels), group=group, qid=qid)
    return meter.compute()


def _doubt_weights(weights: Any) -> None:
    """Say that a data set has weights, which the measures do not use."""
    if weights is not None and len(weights) and np.ptp(np.asarray(weights)):
        message = "the data has weights, which the measures do not use: every query counts the same"
        warnings.warn(message, DoubtWarning, stacklevel=3)


def _not_here(where: str) -> UsageError:
    message = "this is not called with the data set, which says which documents belong together"
    return UsageError(message, f"give the metric to {where}")


def _rises(made: Meter, label: str) -> bool:
    return made.rules.measures[label].direction > 0


def _no_groups(how: str) -> UsageError:
    return UsageError("the data does not say which documents belong together", f"give {how}")
