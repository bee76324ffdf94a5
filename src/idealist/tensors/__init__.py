"""Measures in the training loop: on arrays of any library, on the device where they are.

>>> from idealist.tensors import values
>>> values("RR@10", [[0.2, 0.7, 0.4]], [[1, 0, 0]]).round(4).tolist()
[0.3333]

`TorchMetric` and `RerankingEvaluator` import torchmetrics and sentence-transformers when they are
first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from idealist.tensors.batch_values import DoubtWarning, values
from idealist.tensors.boosting import catboost_metric, lightgbm_metric, xgboost_metric
from idealist.tensors.meter import Meter
from idealist.tensors.trainer_metrics import compute_metrics

if TYPE_CHECKING:
    from idealist.tensors.reranking_evaluator import RerankingEvaluator as RerankingEvaluator
    from idealist.tensors.torch_metric import TorchMetric as TorchMetric

__all__ = [
    "DoubtWarning", "Meter", "catboost_metric", "compute_metrics", "lightgbm_metric", "values",
    "xgboost_metric",
]  # fmt: skip

#: What imports a heavy package, and the module that it is in.
HEAVY = {"TorchMetric": "torch_metric", "RerankingEvaluator": "reranking_evaluator"}


def __getattr__(name: str) -> Any:
    if name not in HEAVY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HEAVY[name]}"), name)
