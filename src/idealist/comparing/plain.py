"""A comparison as plain data, for JSON and for rows of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from idealist.plain_data import finite

if TYPE_CHECKING:
    from idealist.comparing.pair import Pair

#: The numbers of a pair, in the order they are written.
NUMBERS = (
    "n", "base_mean", "run_mean", "difference", "relative", "relative_ci", "ci", "p_t",
    "p_randomisation", "p_adjusted", "significant", "d_z", "hedges_g", "wins", "ties", "losses",
    "without_top3", "sign_holds", "p_without_top3", "rope", "p_better", "p_equal", "p_worse",
    "detectable", "needed", "urisk", "trisk",
)  # fmt: skip
#: What is known of how solid a verdict is.
SOLIDITY = ("holes", "fragility", "multiverse")
#: Those that need a margin.
WITH_MARGIN = ("p_equivalence", "p_non_inferiority")


def pair_data(pair: Pair, per_query: bool = False) -> dict[str, Any]:
    """Give a pair as plain data."""
    names = {"measure": pair.measure, "baseline": pair.baseline, "run": pair.run}
    part = {"slice": pair.slice} if pair.slice else {}
    numbers = NUMBERS + (WITH_MARGIN if pair.options.margin else ())
    data = {**part, **names, **{name: getattr(pair, name) for name in numbers}}
    data |= {"tests": dict(pair.tests)} if pair.options.tests else {}
    data |= {"ci_bootstrap": pair.ci_bootstrap} if "bootstrap" in pair.options.tests else {}
    data |= {"gained": dict(pair.gained), "lost": dict(pair.lost)}
    for name in SOLIDITY:
        if (found := getattr(pair, name)) is not None:
            data[name] = found.to_json()
    data |= {"doubts": [doubt.to_json() for doubt in pair.doubts], "verdict": pair.verdict}
    data |= {"per_query": queries_data(pair)} if per_query else {}
    return {key: finite(value) for key, value in data.items()}


def queries_data(pair: Pair) -> dict[str, dict[str, float]]:
    """Give both values of each query, and the difference."""
    columns = (pair.base.tolist(), pair.new.tolist(), pair.differences.tolist())
    return {
        query: {"baseline": base, "run": new, "difference": apart}
        for query, base, new, apart in zip(pair.queries, *columns, strict=True)
    }


def flat(data: dict[str, Any]) -> dict[str, str]:
    """Give the numbers of a pair's data as one row of text; an interval takes two cells."""
    row: dict[str, str] = {}
    for key, value in data.items():
        if key.endswith("ci") or key == "ci_bootstrap":
            row |= {f"{key}_low": _text(value[0]), f"{key}_high": _text(value[1])}
        elif key == "tests":
            row |= {f"p_{name}": _text(p) for name, p in value.items()}
        elif key in SOLIDITY:
            row |= _cells(key, value)
        elif not isinstance(value, (dict, list)):
            row[key] = _text(value)
    return row


def _cells(name: str, value: Any) -> dict[str, str]:
    """Give the numbers of nested data a cell each; lists, and reasons in words, have none."""
    if isinstance(value, dict):
        parts = (_cells(f"{name}_{key}", each) for key, each in value.items() if key != "refused")
        return {key: cell for part in parts for key, cell in part.items()}
    return {} if isinstance(value, list) else {name: _text(value)}


def _text(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
