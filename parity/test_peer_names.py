"""No measure of a heavy peer is missing from the table of names."""

from __future__ import annotations

import inspect
import re

import pytest
import rax
import torchmetrics.retrieval
from catboost import _catboost
from ranx.metrics import metric_switch

from idealist.measures.spellings import ELSEWHERE, SPELLINGS

PEERS = {
    "ranx": set(re.findall(r'metric == "([\w-]+)"', inspect.getsource(metric_switch))),
    "torchmetrics": set(torchmetrics.retrieval.__all__),
    "CatBoost": set(filter(_catboost.is_ranking_metric, _catboost.AllMetricsParams())),
    "Rax": {name for name in dir(rax) if name.endswith("_metric")},
}


@pytest.mark.parametrize("tool", PEERS)
def test_no_measure_of_a_peer_is_missing(tool: str) -> None:
    assert len(PEERS[tool]) > 5
    elsewhere = {name for of, name in ELSEWHERE if of == tool}
    assert PEERS[tool] <= SPELLINGS[tool].keys() | elsewhere
