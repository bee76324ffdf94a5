"""Values as z-scores: how far each lies from the mean of reference runs (``-Z``)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from idealist.errors import Faults
from idealist.formats.source import Source
from idealist.formats.table import is_number
from idealist.tables.columns import Floats

#: What stands where the reference does not know the measure, or has no spread to divide by.
MISSING = -1000000.0

Reference = Mapping[tuple[str, str], tuple[float, float]]


def read_zscores(path: str) -> Reference:
    """Read lines of query, measure, mean and standard deviation."""
    source = Source.of(path)
    faults, found = Faults(source.name), {}
    for line, text in enumerate(source.read().decode().split("\n"), 1):
        words = text.split()
        if not words:
            continue
        if len(words) != 4 or not (is_number(words[2]) and is_number(words[3])):
            hint = "each line holds a query, a measure, its mean and its standard deviation"
            faults.add("columns", f"{text[:60]!r} is no such line", hint, line)
        else:
            found[words[0], words[1]] = float(words[2]), float(words[3])
    faults.check()
    return found


def as_zscores(values: Floats, label: str, queries: Sequence[str], reference: Reference) -> Floats:
    """Express the values of a measure in standard deviations from the reference's means."""
    known = [reference.get((query, label), (math.nan, math.nan)) for query in queries]
    mean, spread = np.array(known).reshape(-1, 2).T
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = (values - mean) / spread
    flat = np.where(values == mean, 0.0, MISSING)
    scores = np.where(spread == 0, flat, scores)
    return np.where(np.isnan(mean), MISSING, scores)
