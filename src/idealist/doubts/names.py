"""Doubts about names: measures that the convention's tool lacks, or calls otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from idealist.doubts.case import Case
from idealist.evaluation import Doubt
from idealist.measures.spellings import SPELLINGS

_TOOLS = {tool.lower(): tool for tool in SPELLINGS}


def not_in_tool(case: Case) -> Iterator[Doubt]:
    """Look for measures that the convention's tool does not have."""
    labels = [
        label
        for label, one in case.instruments.items()
        if not case.convention.has(one.measure) and not _meant(case, label)
    ]
    if labels:
        message = (
            f"{case.convention.tool} has no {', '.join(labels)}; its general rules and else the "
            "default's apply, as the signature says"
        )
        yield Doubt("not-in-tool", message, len(labels))


def other_name(case: Case) -> Iterator[Doubt]:
    """Look for names that mean another measure in the convention's tool."""
    for label, one in case.instruments.items():
        meant = _meant(case, label)
        if meant and meant.partition("(")[0] != one.measure.name:
            message = (
                f"{label} was read as {one.measure.name}; what {case.convention.tool} calls so is "
                f"{meant} here"
            )
            yield Doubt("other-name", message, 1)


def _meant(case: Case, label: str) -> str:
    """Give what the convention's tool means by a name as it was typed; nothing if it has none."""
    tool = _TOOLS.get(case.convention.name.lower(), "")
    typed = re.split(r"[(@:]", label)[0]
    return SPELLINGS.get(tool, {}).get(typed, "")
