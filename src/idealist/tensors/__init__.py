"""Measures in the training loop: on arrays of any library, on the device where they are.

>>> from idealist.tensors import values
>>> values("RR@10", [[0.2, 0.7, 0.4]], [[1, 0, 0]]).round(4).tolist()
[0.3333]
"""

from __future__ import annotations

from idealist.tensors.batch_values import DoubtWarning, values

__all__ = ["DoubtWarning", "values"]
