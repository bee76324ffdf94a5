"""Describing measures: what each is, from its docstring and its parameters."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from idealist.conventions import CONVENTIONS, convention
from idealist.conventions.signature import Signature
from idealist.errors import UsageError, nearest
from idealist.measures import MEASURES, Measure, parse
from idealist.measures.index import group_of
from idealist.measures.spellings import ELSEWHERE, SPELLINGS, TYPED
from idealist.notation import Settings, many, text
from idealist.rendering.document import Block, Command, Heading, Items, Table, Text
from idealist.rendering.result import Listing

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
    'Reciprocal rank: one over the rank of the first relevant document; its mean is MRR.'
    """
    return _described(type(parse(name)))


def describe_all() -> list[Description]:
    """Describe every measure, in the order of the index."""
    return [_described(cls) for cls in MEASURES.values()]


class Sections(NamedTuple):
    """The parts of a docstring; those that it does not have are empty."""

    summary: str
    formula: str
    notes: str
    example: str
    reference: str


def sections(described: object) -> Sections:
    """Divide the docstring of a measure, or of anything else that has a formula.

    >>> sections(parse("RR").__class__).formula
    '1 / rank of the first relevant document, or 0 if there is none in the first k'
    """
    summary, *paragraphs = (inspect.getdoc(described) or "").split("\n\n")
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
    summary = " ".join(summary.split())
    return Sections(summary, parts["Formula"], "\n\n".join(notes), example, parts["Reference"])


def parameters_of(cls: type[Settings]) -> list[dict[str, str]]:
    """Describe the parameters of a measure, or of anything else that has some."""
    return [
        {"name": name, "default": text(one.default), "values": one.kind.words, "doc": one.doc}
        for name, one in cls.parameters().items()
    ]


def parameter_lines(parameters: Sequence[Mapping[str, str]]) -> Items:
    """Write parameters for people, two lines each."""
    lines: list[str] = []
    for each in parameters:
        lines += [f"{each['name']} ({each['default']}): {each['doc']}", f"    {each['values']}"]
    return Items(tuple(lines))


def _described(cls: type[Measure]) -> Description:
    said = sections(cls)
    return Description(
        name=cls.__name__,
        group=group_of(cls.__name__),
        **said._asdict(),
        range=_range(cls),
        direction=DIRECTIONS[cls.direction],
        cutoff=cls.takes_cutoff,
        needs=cls.needs,
        parameters=parameters_of(cls),
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


def listing(found: Sequence[Description]) -> Listing:
    """List measures under the titles of their groups."""
    groups = {one.group: [each for each in found if each.group == one.group] for one in found}
    width = max(len(one.name) for one in found)
    blocks: list[Block] = []
    for group, own in groups.items():
        lines = tuple(f"  {one.name:<{width}}  {one.summary}" for one in own)
        blocks += [Heading(group), Items(lines)]
    answer = f"{len(found)} measures in {len(groups)} groups"
    return Listing(answer, tuple(blocks), [one.data() for one in found], _overview(found))


def _overview(found: Sequence[Description]) -> Table:
    rows = [(one.group, one.name, one.summary) for one in found]
    return Table.of(["group", "measure", "what it is"], [], rows)


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


def names_of(tool: str) -> Listing:
    """List what a tool calls its measures, and what they are called here.

    >>> names_of("gdeval").data()
    {'ndcg': 'nDCG(gain=exp2)', 'err': 'ERR'}
    """
    known = next((one for one in SPELLINGS if one.lower() == tool.lower()), None)
    if known is None:
        hint = nearest(tool, SPELLINGS)
        raise UsageError(f"the measures of {tool!r} are not known here", hint)
    others = {name: words for (of, name), words in ELSEWHERE.items() if of == known}
    names = {**SPELLINGS[known], **others}
    table = Table.of([known, "here"], [], list(names.items()))
    return Listing(f"{known} has {len(names)} names for measures", (table,), names)


def explained(one: Description) -> Listing:
    """Explain a measure in full."""
    named = one.summary.startswith(f"{one.name}:")
    cutoff = "takes a cutoff, @k" if one.cutoff else "takes no cutoff"
    facts = {
        "Formula": one.formula,
        "Range": f"{one.range}, {one.direction}; {cutoff}",
        "Reference": one.reference,
        "Needs": one.needs and f"judgments with {one.needs}",
        "Also typed": ", ".join(one.aliases),
        "Called": "; ".join(f"{tool} {', '.join(names)}" for tool, names in one.names.items()),
    }
    answer = one.summary if named else f"{one.name}: {one.summary}"
    blocks: list[Block] = [
        Text(answer, strong=True),
        Items(tuple(f"{name + ':':<11} {words}" for name, words in facts.items() if words)),
        *map(Text, filter(None, [one.notes])),
    ]
    if one.parameters:
        blocks += [Heading("Parameters (default)"), parameter_lines(one.parameters)]
    blocks += [Heading("Example"), Command(one.example)]
    return Listing(answer, tuple(blocks), one.data(), _overview([one]))


def listed() -> Listing:
    """List all conventions: name, tool, version, evidence, measures."""
    heads = ["convention", "tool", "version", "evidence", "measures"]
    full, brief = [], []
    for one in CONVENTIONS.values():
        names = sorted(one.measures or {"all"}, key=str.lower)
        facts = (one.name, one.tool, one.version, one.evidence)
        full.append((*facts, ", ".join(names)))
        some = f"{', '.join(names[:5])}, … {len(names)} in all" if len(names) > 6 else full[-1][-1]
        brief.append((*facts, some))
    data = [dict(zip(heads, row, strict=True)) for row in full]
    answer = f"{len(full)} conventions"
    return Listing(answer, (Table.of(heads, [], brief),), data, Table.of(heads, [], full))


def compared(name: str, other: str, everything: bool) -> Listing:
    """List the axes of two conventions by measure: those that differ, or all.

    >>> compared("burges", "trec_eval", False).table().rows[0]
    ('nDCG', 'gain', 'exp2', 'linear')
    """
    a, b = convention(name), convention(other)
    rows = []
    for measure in (cls() for cls in MEASURES.values()):
        if not (a.has(measure) and b.has(measure)):
            continue
        ours, theirs = (Signature.of(one.instrument(measure), "").fields for one in (a, b))
        for axis in (axis for axis in ours if axis not in ("measure", "qrels", "rules")):
            if everything or ours[axis] != theirs[axis]:
                own = axis.removeprefix(f"{measure.name}.")
                rows.append((measure.name, own, ours[axis], theirs[axis]))
    heads = ["measure", "axis", a.name, b.name]
    table = Table.of(heads, [], rows)
    answer = f"{a.name} and {b.name} differ in {many(len(rows), 'axis', 'axes')} of their measures"
    shown: Block = table if rows else Text(f"{a.name} and {b.name} agree in every axis")
    return Listing(answer, (shown,), [dict(zip(heads, row, strict=True)) for row in rows], table)
