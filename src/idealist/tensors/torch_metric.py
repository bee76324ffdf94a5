"""A torchmetrics metric, so that Lightning logs and synchronises our measures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import torch
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from idealist.errors import UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.tensors.array_libraries import uncompiled
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
        # A collection lets metrics share a state that looks the same; names tell rules apart.
        digest = hashlib.sha256(str(self.meter.rules.text).encode()).hexdigest()[:10]
        self.states = {
            name: f"{name}_{digest}" for name in ("numbers", "scores", "labels", "indexes")
        }
        for state in self.states.values():
            self.add_state(state, default=[], dist_reduce_fx="cat")

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher value is better, of all measures."""
        return all(one.direction > 0 for one in self.meter.rules.measures.values())

    @uncompiled
    def update(
        self, preds: Any, target: Any, indexes: Any = None, *, mask: Any = None, group: Any = None
    ) -> None:
        """Measure a batch: queries x documents, or one dimension with `group` or `indexes`.

        `indexes` is the query of each document, as in torchmetrics; a query may go on in a later
        batch.
        """
        preds = torch.as_tensor(preds)
        target = torch.as_tensor(target, device=preds.device)
        if indexes is not None:
            indexes = torch.as_tensor(indexes, device=preds.device)
            if indexes.shape != preds.shape or group is not None:
                hint = "leave it out for queries x documents, or give the query of each document"
                raise UsageError("indexes is not the query of each document", hint)
            preds, target, indexes = preds.reshape(-1), target.reshape(-1), indexes.reshape(-1)
            mask = None if mask is None else torch.as_tensor(mask).reshape(-1)
        found = self.meter.looked_at(preds, target, mask, group, indexes, None)
        if isinstance(found, Part):
            self._state("numbers").append(found.numbers.T)
        else:
            self._state("scores").append(found.scores)
            self._state("labels").append(found.labels)
            self._state("indexes").append(indexes)

    def compute(self) -> Any:
        """Return the value of the measure, or of each."""
        found = {
            label: torch.tensor(value, dtype=torch.float64, device=self.device)
            for label, value in self._filled().compute().items()
        }
        return next(iter(found.values())) if len(found) == 1 else found

    def evaluation(self) -> Evaluation:
        """Return the values of this process's queries, with intervals, doubts and signatures."""
        return self._filled().evaluation()

    def _filled(self) -> Meter:
        meter = self.meter.fresh()
        if len(self._state("numbers")):
            meter.add(Part(dim_zero_cat(self._state("numbers")).T, None))
        if len(self._state("scores")):
            names = ("scores", "labels", "indexes")
            scores, labels, indexes = (dim_zero_cat(self._state(name)) for name in names)
            meter.update(scores, labels, qid=indexes)
        return meter

    def _state(self, name: str) -> Any:
        return getattr(self, self.states[name])
