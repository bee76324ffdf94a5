"""A pair as plain data: the contract of ``compare -f json``, and the same as one flat row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from idealist.comparing.pair import Pair
from idealist.rendering.plain_data import record

#: The numbers of a pair, in the order they are written.
NUMBERS = (
    "n", "base_mean", "run_mean", "difference", "relative", "relative_ci", "ci", "p_t",
    "p_randomisation", "p_own", "p_adjusted", "significant", "held_back", "d_z", "d_z_ci",
    "hedges_g", "wins", "ties", "losses", "top3_share", "without_top3", "sign_holds",
    "p_without_top3", "rope", "p_better", "p_equal", "p_worse", "detectable", "needed", "urisk",
    "trisk",
)  # fmt: skip
#: What is known of how robust a verdict is, and what plain data calls it.
ROBUSTNESS = {"unjudged": "holes", "fragility": "fragility", "multiverse": "multiverse"}
#: Those that need a margin.
WITH_MARGIN = ("p_equivalence", "p_non_inferiority")


def data_of(pair: Pair, per_query: bool = False, sort: str = "query") -> dict[str, Any]:
    """Return a pair as plain data; undefined values are None."""
    options = pair.options
    numbers = NUMBERS + (WITH_MARGIN if options.margin else ())
    data: dict[str, Any] = {"slice": pair.slice} if pair.slice else {}
    data |= {"measure": pair.measure, "baseline": pair.baseline, "run": pair.run}
    data |= {name: getattr(pair, name) for name in numbers}
    data["detectable"] = pair.detectable if pair.detectable <= pair.widest else math.nan
    data |= {"tests": dict(pair.tests)} if options.tests else {}
    data |= {"ci_bootstrap": pair.ci_bootstrap} if "bootstrap" in options.tests else {}
    data |= {"gained": dict(pair.gained), "lost": dict(pair.lost)}
    for name, key in ROBUSTNESS.items():
        if (found := getattr(pair, name)) is not None:
            data[key] = found.data()
    data |= {"doubts": [doubt.data() for doubt in pair.doubts], "verdict": pair.verdict}
    data |= {"per_query": pair.by_query(sort)} if per_query else {}
    return record(data)


def flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """Lay a pair's data out as one row: an interval takes two cells, nested numbers one each."""
    row: dict[str, Any] = {}
    for key, value in data.items():
        if key.endswith("ci") or key == "ci_bootstrap":
            row |= {f"{key}_low": value[0], f"{key}_high": value[1]}
        elif key == "tests":
            row |= {f"p_{name}": p for name, p in value.items()}
        elif key in ROBUSTNESS.values():
            row |= _nested(key, value)
        elif not isinstance(value, (dict, list)):
            row[key] = value
    return row


def _nested(name: str, value: Any) -> dict[str, Any]:
    """Name numbers of nested data by the way to them; lists, and reasons in words, are left out."""
    if isinstance(value, dict):
        parts = (_nested(f"{name}_{key}", each) for key, each in value.items() if key != "refused")
        return {key: cell for part in parts for key, cell in part.items()}
    return {} if isinstance(value, list) else {name: value}
