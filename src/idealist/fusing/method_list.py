"""Fusion methods in words: what each is, from its docstring and its parameters."""

from __future__ import annotations

import inspect
from typing import Any

from idealist.conventions.describe import parameter_lines, parameters_of, sections
from idealist.fusing.fusion import Fusion
from idealist.fusing.methods import FAMILIES, SPELLINGS, as_fusion
from idealist.fusing.normalisations import NORMS
from idealist.rendering.document import Block, Details, Heading, Items, Table, Text
from idealist.rendering.result import Listing


def listed() -> Listing:
    """List every fusion method, by family, and every normalisation."""
    every = {family: [_described(cls) for cls in own] for family, own in FAMILIES.items()}
    flat = [one for own in every.values() for one in own]
    width = max(len(one["name"]) for one in flat)
    blocks: list[Block] = []
    for family, own in every.items():
        lines = tuple(f"  {one['name']:<{width}}  {one['summary']}" for one in own)
        blocks += [Heading(family), Items(lines)]
    norms = tuple(f"  {name:<{width}}  {inspect.getdoc(norm)}" for name, norm in NORMS.items())
    blocks.append(Details("Normalisations", (Heading("Normalisations"), Items(norms))))
    answer = f"{len(flat)} fusion methods, {len(NORMS)} normalisations"
    heads = ["family", "method", "what it is", "formula", "reference"]
    rows = [
        [one[key] for key in ("family", "name", "summary", "formula", "reference")] for one in flat
    ]
    plain = {
        "methods": flat, "norms": {name: inspect.getdoc(norm) for name, norm in NORMS.items()}
    }  # fmt: skip
    return Listing(answer, tuple(blocks), plain, Table.of(heads, [], rows))


def explained_method(method: Any) -> Listing:
    """Explain one method in full."""
    one = _described(type(as_fusion(method)))
    facts = {
        "Formula": one["formula"], "Needs": one["needs"], "Also called": ", ".join(one["aliases"]),
        "Reference": one["reference"],
    }  # fmt: skip
    answer = f"{one['name']}: {one['summary']}"
    blocks: list[Block] = [
        Text(answer, strong=True),
        Items(tuple(f"{name + ':':<12} {words}" for name, words in facts.items() if words)),
        *map(Text, filter(None, [one["notes"]])),
        Heading("Parameters (default)"), parameter_lines(one["parameters"]),
    ]  # fmt: skip
    rows = [[one["family"], one["name"], one["summary"]]]
    return Listing(
        answer, tuple(blocks), one, Table.of(["family", "method", "what it is"], [], rows)
    )


def _described(cls: type[Fusion]) -> dict[str, Any]:
    said = sections(cls)
    return {
        "name": cls.__name__,
        "family": next(family for family, own in FAMILIES.items() if cls in own),
        "summary": said.summary, "formula": said.formula, "notes": said.notes,
        "reference": said.reference, "needs": _needs(cls), "learns": cls.learns,
        "parameters": parameters_of(cls),
        "aliases": [theirs for theirs, ours in SPELLINGS.items() if ours == cls.__name__],
    }  # fmt: skip


def _needs(cls: type[Fusion]) -> str:
    """Say what a method needs of runs and judgments."""
    runs = "scores" if cls().needs_scores else "an order only"
    return f"{runs}; judgments to learn from" if cls.learns else runs
