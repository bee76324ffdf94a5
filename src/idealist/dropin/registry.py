"""From the measures that a command line names to the lines of its output, and our measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from idealist.dropin.entries import ENTRIES, Entry
from idealist.dropin.parameters import cutoffs, numbers, pairs, points
from idealist.errors import UsageError
from idealist.measures import Measure, parse
from idealist.notation import table


@dataclass(frozen=True)
class Column:
    """One line of the output: its label, and the measure whose value it holds."""

    entry: Entry
    label: str
    measure: Measure | None = None
    length: int = 0


def columns(names: Mapping[str, str]) -> list[Column]:
    """Lay out the output of the measures asked for, in trec_eval's order."""
    asked = [entry for entry in ENTRIES if entry.name in names]
    return [column for entry in asked for column in _columns(entry, names[entry.name])]


def _columns(entry: Entry, given: str) -> list[Column]:
    kind, _, parameter = entry.takes.partition(":")
    label = f"{entry.name}_{given}" if given else entry.name
    measure = parse(entry.ours) if entry.ours else None
    if kind == "cutoffs":
        ranks = cutoffs(entry.name, given or entry.default)
        return [Column(entry, f"{entry.name}_{k}", parse(f"{entry.ours}@{k}")) for k in ranks]
    if kind == "points":
        shares = points(entry.name, given or entry.default)
        made = [parse(f"{entry.ours}({parameter}={x!r})") for x in shares]
        labels = [f"{entry.name}_{x:3.2f}" for x in shares]
        return [Column(entry, *pair) for pair in zip(labels, made, strict=True)]
    if kind == "string":
        return [Column(entry, label, length=max(int(numbers(entry.name, given or "10")[0]), 0))]
    if measure is None or not (kind and given):
        return [Column(entry, entry.name, measure)]
    return [Column(entry, label, replace(measure, **_settings(entry.name, kind, given)))]


def _settings(name: str, kind: str, given: str) -> dict[str, Any]:
    """Read parameters that are no cutoffs, as ours."""
    if kind in ("gains", "rbp"):
        found = pairs(name, given)
        settings: dict[str, Any] = {"p": found.pop("p")} if kind == "rbp" and "p" in found else {}
        gains = {level: gain for level, gain in found.items() if level.lstrip("+-").isdigit()}
        if any(int(level) < 0 for level in gains):
            hint = "levels are grades of at least 0"
            raise UsageError(f"{name}.{given}: only judged documents can have a gain", hint)
        return settings | ({"gain": table(gains)} if gains and name != "rbp_resid" else {})
    values = numbers(name, given)
    if kind == "average":
        return {"points": table(sorted(values))}
    if kind == "beta":
        return {"beta": f"sqrt({values[0]!r})"}
    if len(values) != 4:
        hint = "write utility.A,B,C,D, such as utility.1,-1,0,0"
        raise UsageError(f"utility takes four numbers, not {len(values)}", hint)
    return dict(zip("abcd", values, strict=True))
