"""Describing measures: what each is, from its docstring and its parameters."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from idealist.conventions import CONVENTIONS, convention
from idealist.conventions.signature import Signature
from idealist.errors import UsageError, nearest
from idealist.measures import MEASURES, Measure, parse
from idealist.measures.index import group_of
from idealist.measures.spellings import ELSEWHERE, SPELLINGS, TYPED
from idealist.notation import text
from idealist.report.draw import Grid

DIRECTIONS = {1: "higher is better", -1: "lower is better", 0: "neither good nor bad"}


@dataclass(frozen=True)
class Description:
    """A measure in words; `names` says what it is called in each tool."""

    name: str
    group: str
    summary: str
    formula: str
    notes: str
    example: str
    reference: str
    range: str
    direction: str
    cutoff: bool
    needs: str
    parameters: list[dict[str, str]]
    names: dict[str, list[str]]
    aliases: list[str]

    def data(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)


def describe(name: str) -> Description:
    """Describe the measure of a name, in any spelling.

    >>> describe("mrr").summary
    'Reciprocal rank: how soon the first relevant document comes; its mean is MRR.'
    """
    return _described(type(parse(name)))


def describe_all() -> list[Description]:
    """Describe every measure, in the order of the index."""
    return [_described(cls) for cls in MEASURES.values()]


def _described(cls: type[Measure]) -> Description:
    summary, *paragraphs = (inspect.getdoc(cls) or "").split("\n\n")
    parts = {"Formula": "", "Reference": ""}
    notes, example = [], ""
    for paragraph in paragraphs:
        head, _, body = paragraph.partition(": ")
        if head in parts:
            parts[head] = " ".join(body.split())
        elif paragraph.startswith(">>>"):
            example = paragraph
        else:
            notes.append(" ".join(paragraph.replace("``", "`").split()))
    return Description(
        name=cls.__name__,
        group=group_of(cls.__name__),
        summary=" ".join(summary.split()),
        formula=parts["Formula"],
        notes="\n\n".join(notes),
        example=example,
        reference=parts["Reference"],
        range=_range(cls),
        direction=DIRECTIONS[cls.direction],
        cutoff=cls.takes_cutoff,
        needs=cls.needs,
        parameters=[
            {
                "name": name,
                "default": text(about.default),
                "values": about.kind.words,
                "doc": about.doc,
            }
            for name, about in cls.parameters().items()
        ],
        names={tool: of for tool, names in SPELLINGS.items() if (of := _names_in(cls, names))},
        aliases=_names_in(cls, TYPED),
    )


def _names_in(cls: type[Measure], names: Mapping[str, str]) -> list[str]:
    """Give the names that mean a measure, under whatever parameters."""
    return [theirs for theirs, ours in names.items() if ours.partition("(")[0] == cls.__name__]


def _range(cls: type[Measure]) -> str:
    low, high = cls().filled().bounds(0.0)
    left = "(-∞" if math.isinf(low) else f"[{low:g}"
    right = "∞)" if math.isinf(high) else f"{high:.4g}]"
    return f"{left}, {right}"


def overview(found: Sequence[Description]) -> Grid:
    """Tabulate measures, group by group."""
    rows = [[one.group, one.name, one.summary] for one in found]
    return Grid(["group", "measure", "what it is"], rows, words=3)


def listing(found: Sequence[Description]) -> str:
    """List measures under the titles of their groups, for a terminal."""
    width = max(len(one.name) for one in found)
    lines, last = [], ""
    for one in found:
        if one.group != last:
            lines += ["", one.group]
        lines.append(f"  {one.name:<{width}}  {one.summary}")
        last = one.group
    return "\n".join(lines[1:])


def search(word: str) -> list[Description]:
    """Find measures by a word of their name, their description, or a tool's name for them.

    >>> [one.name for one in search("hit_rate")]
    ['Success']
    """
    found = [one for one in describe_all() if word.lower() in _searched(one)]
    if not found:
        raise UsageError(f"no measure mentions {word!r}", "list them all: idealist measures")
    return found


def _searched(one: Description) -> str:
    theirs = [name for names in one.names.values() for name in names]
    words = [one.name, one.summary, one.notes, one.formula, *one.aliases, *theirs]
    return " ".join(words).lower()


def tools() -> dict[str, str]:
    """Give every tool whose names are known, by its name in lower case."""
    return {tool.lower(): tool for tool in SPELLINGS}


def names_of(tool: str) -> Grid:
    """Tabulate what a tool calls its measures, and what they are here.

    >>> names_of("gdeval").rows
    [['ndcg', 'nDCG(gain=exp2)'], ['err', 'ERR']]
    """
    if tool.lower() not in tools():
        hint = nearest(tool, SPELLINGS)
        raise UsageError(f"there is no tool {tool!r} whose names are known", hint)
    known = tools()[tool.lower()]
    others = [[name, words] for (of, name), words in ELSEWHERE.items() if of == known]
    return Grid([known, "here"], [*map(list, SPELLINGS[known].items()), *others], words=2)


def explained(one: Description) -> str:
    """Explain a measure in full, for a terminal."""
    at = "; takes a cutoff, @k" if one.cutoff else "; takes no cutoff"
    lines = [
        one.summary if one.summary.startswith(f"{one.name}:") else f"{one.name}: {one.summary}",
        "",
    ]
    lines += [f"Formula    {one.formula}", f"Range      {one.range}, {one.direction}{at}"]
    lines += [f"Reference  {one.reference}"]
    if one.needs:
        lines.append(f"Needs      judgments with {one.needs}")
    if one.aliases:
        lines.append(f"Also typed {', '.join(one.aliases)}")
    if one.names:
        called = "; ".join(f"{tool} {', '.join(names)}" for tool, names in one.names.items())
        lines.append(f"Called     {called}")
    if one.notes:
        lines += ["", one.notes]
    if one.parameters:
        lines += ["", "Parameters (default)"]
    for parameter in one.parameters:
        lines.append(f"  {parameter['name']} ({parameter['default']}): {parameter['doc']}")
        lines.append(f"      {parameter['values']}")
    return "\n".join([*lines, "", "Example", *("  " + line for line in one.example.splitlines())])


def listed(short: bool = False) -> Grid:
    """Tabulate all conventions: name, tool, version, evidence, measures, or some of these."""
    rows = []
    for one in CONVENTIONS.values():
        names = sorted(one.measures or {"all"}, key=str.lower)
        more = [f"… {len(names)} in all"] if short and len(names) > 6 else []
        measures = ", ".join([*(names[:5] if more else names), *more])
        rows.append([one.name, one.tool, one.version, one.evidence, measures])
    return Grid(["convention", "tool", "version", "evidence", "measures"], rows, words=5)


def compared(name: str, other: str, everything: bool) -> Grid:
    """Tabulate the axes of two conventions by measure: those that differ, or all.

    >>> compared("burges", "trec_eval", False).rows[0]
    ['nDCG', 'gain', 'exp2', 'linear']
    """
    a, b = convention(name), convention(other)
    rows = []
    for measure in (cls() for cls in MEASURES.values()):
        if not (a.has(measure) and b.has(measure)):
            continue
        ours, theirs = (Signature.of(one.instrument(measure), "").fields for one in (a, b))
        for axis in ours:
            if axis in ("measure", "qrels", "rules") or (
                ours[axis] == theirs[axis] and not everything
            ):
                continue
            own = axis.removeprefix(f"{measure.name}.")
            rows.append([measure.name, own, ours[axis], theirs[axis]])
    return Grid(["measure", "axis", a.name, b.name], rows, words=4)
