"""A torchmetrics metric, so that Lightning logs and synchronises our measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from idealist.tensors.meter import Meter, Part


class TorchMetric(Metric):  # type: ignore[misc]  # the package has no types here
    """Measures as a torchmetrics metric: one gives a tensor, several give a dictionary of them.

    `rules` are those of `Meter`; `options` go to `torchmetrics.Metric`, such as
    ``{"sync_on_compute": False}``. torchmetrics synchronises processes, and the mean is the same
    however queries were divided among them.
    """

    is_differentiable = False
    full_state_update = False

    def __init__(
        self, measures: Any, *, options: Mapping[str, Any] | None = None, **rules: Any
    ) -> None:
        super().__init__(**(options or {}))
        self.meter = Meter(measures, **rules)
        for name in ("numbers", "scores", "labels", "indexes"):
            self.add_state(name, default=[], dist_reduce_fx="cat")

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher value is better, of all measures."""
        return all(one.direction > 0 for one in self.meter.rules.measures.values())

    def update(
        self, preds: Any, target: Any, indexes: Any = None, *, mask: Any = None, group: Any = None
    ) -> None:
        """Measure a batch: queries x documents, or one dimension with `group` or `indexes`.

        `indexes` is the query of each document, as in torchmetrics; a query may go on in a later
        batch.
        """
        found = self.meter.looked_at(preds, target, mask, group, indexes, None)
        if isinstance(found, Part):
            self.numbers.append(found.numbers.T)
        else:
            self.scores.append(found.scores)
            self.labels.append(found.labels)
            self.indexes.append(indexes)

    def compute(self) -> Any:
        """Return the value of the measure, or of each."""
        self.meter.reset()
        if len(self.numbers):
            self.meter.add(Part(dim_zero_cat(self.numbers).T, None, told=True))
        if len(self.scores):
            arrays = map(dim_zero_cat, (self.scores, self.labels, self.indexes))
            scores, labels, indexes = arrays
            self.meter.update(scores, labels, qid=indexes)
        found = {
            label: torch.tensor(value, dtype=torch.float64, device=self.device)
            for label, value in self.meter.compute().items()
        }
        return next(iter(found.values())) if len(found) == 1 else found
