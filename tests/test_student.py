"""Student's t against scipy."""

from __future__ import annotations

import pytest
from scipy.stats import t

from idealist.significance.means import quantile


@pytest.mark.parametrize("probability", [0.6, 0.95, 0.975, 0.995, 0.9995])
def test_quantiles_equal_scipys(probability: float) -> None:
    for df in [*range(1, 260), 500, 999, 10_000, 1_000_000]:
        assert quantile(probability, df) == pytest.approx(t.ppf(probability, df), rel=1e-9), df
