"""Values that tools printed for thirteen probes, recorded once, under the convention of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import idealist as il

#: The probes' names for measures.
MEASURES = {
    "ndcg@5": "nDCG@5", "ndcg@10": "nDCG@10", "ndcg": "nDCG", "ap": "AP", "ap@5": "AP@5",
    "rr": "RR", "rr@10": "RR@10", "p@5": "P@5", "bpref": "bpref", "dcg@10": "DCG@10",
}  # fmt: skip

#: The recorded tools that are conventions of ours, with the flags they were run with.
TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "trec_eval 9.0.8": ("trec_eval-9", {"missing": "skip", "round": 4}),
    "trec_eval 10.0": ("trec_eval", {"missing": "error", "round": 4}),
    "trec_eval -c 10.0": ("trec_eval", {"round": 4}),
    "trec_eval -J 10.0": ("trec_eval", {"unjudged": "drop", "negative": "drop", "round": 4}),
    "pytrec_eval-terrier 0.5.11": ("pytrec_eval", {}),
    "scikit-learn 1.9.1": ("sklearn", {}),
    "scikit-learn ignore_ties 1.9.1": ("sklearn", {"ties": "input-reversed"}),
}


@pytest.fixture(scope="module")
def probes(data: Path) -> dict[str, Any]:
    path = data.parent / "facts" / "convention_probes.json"
    if not path.is_file():
        pytest.skip(f"no recorded probes at {path}")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("tool", TOOLS)
def test_recorded_values(probes: dict[str, Any], tool: str) -> None:
    convention, axes = TOOLS[tool]
    compared = 0
    for probe in probes["probes"]:
        recorded = probes["values"][probe["id"]].get(tool, {})
        for name, value in recorded.items():
            if name not in MEASURES and name != "*":
                continue
            measure = MEASURES.get(name, "nDCG@10")
            if isinstance(value, str):
                with pytest.raises(il.InputError):
                    il.evaluate(
                        probe["qrels"], probe["run"], measure, convention=convention, **axes
                    )
            else:
                result = il.evaluate(
                    probe["qrels"], probe["run"], measure, convention=convention, **axes
                )
                assert result[measure] == pytest.approx(value, abs=1e-9), (probe["id"], name)
            compared += 1
    assert compared >= 30
