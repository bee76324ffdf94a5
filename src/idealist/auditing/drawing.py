"""Findings in plain text and in Markdown; those that several runs share are drawn as one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from idealist.auditing.finding import Finding
from idealist.doubts.case import seen
from idealist.summary import number


def alike(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Put together what is found of several runs, but for errors: each of them has to be mended.

    >>> two = [Finding("ties", "note", "…", run=run) for run in ("bm25", "dense")]
    >>> [len(group) for group in alike([*two, Finding("ties", "error", "…", run="bm25")])]
    [2, 1]
    """
    groups: dict[Hashable, list[Finding]] = {}
    for one in findings:
        shared = (one.code, one.severity, one.remedy, one.supposing)
        alone = one.severity == "error" or not one.run
        groups.setdefault(id(one) if alone else shared, []).append(one)
    return [*groups.values()]


def text(group: list[Finding]) -> Iterator[str]:
    """Write findings that are alike as lines of text."""
    first = group[0]
    if len(group) > 1:
        yield f"{_title(group)}:"
        yield from (f"  {line}" for one in group for line in _line(one))
    else:
        yield f"{_title(group)}: {first.message}"
        yield from (f"    {example}" for example in _examples(first))
        yield from (f"  cost, {run}: {words}{_if(first)}" for run, words in _costs(first))
    yield from (f"  {line}" for line in _supposed(group))
    if first.remedy:
        yield f"  remedy: {first.remedy}{_of_first(group)}"
    if first.command:
        yield f"    {first.command}"


def marked(group: list[Finding]) -> Iterator[str]:
    """Write findings that are alike in Markdown."""
    first = group[0]
    yield f"## {_title(group)}\n"
    if len(group) > 1:
        yield from ("- " + "\n  - ".join(line.strip() for line in _line(one)) for one in group)
    else:
        yield f"{first.message}\n"
        yield from (f"- `{example}`" for example in _examples(first))
        yield from (f"- cost, {run}: {words}{_if(first)}" for run, words in _costs(first))
    yield from (f"- {line}" for line in _supposed(group))
    if first.remedy:
        yield f"- remedy: {first.remedy}{_of_first(group)}"
    if first.command:
        shell = first.command.startswith("idealist ")
        yield f"\n```{'console' if shell else 'python'}\n{'$ ' * shell}{first.command}\n```"
    if first.doc:
        yield f"\n{first.doc}"


def _title(group: list[Finding]) -> str:
    first = group[0]
    runs = f"{len(group)} runs" if len(group) > 1 else first.run
    return f"{first.severity}: {first.code}{f', {runs}' if runs else ''}"


def _line(one: Finding) -> Iterator[str]:
    """Say what is found of one run among several, with one example, and what it costs."""
    example = next(_examples(one), "")
    yield f"{one.run}: {one.message}{f' (such as {example})' if example else ''}"
    yield from (f"  cost: {words}" for _, words in _costs(one))


def _of_first(group: list[Finding]) -> str:
    """Say that the command is of the first run, where the others need another."""
    differ = len({one.command for one in group}) > 1
    return f"; for {group[0].run}, and likewise for the others:" if differ else ""


def _examples(one: Finding) -> Iterator[str]:
    for example in one.examples:
        yield example if isinstance(example, str) else " → ".join(map(seen, example))


def _costs(one: Finding) -> Iterator[tuple[str, str]]:
    """Say what each measure of a run is, and would be."""
    for run, own in one.cost.items():
        yield run, ", ".join(f"{label} {number(a)} → {number(b)}" for label, (a, b) in own.items())


def _if(one: Finding) -> str:
    """Say beside the cost of a single run what it supposes."""
    return f", if {one.supposing}" if one.supposing and len(one.cost) == 1 else ""


def _supposed(group: list[Finding]) -> Iterator[str]:
    """Say once what the costs of several runs suppose."""
    priced = [run for one in group for run in one.cost]
    if group[0].supposing and priced and max(len(group), len(priced)) > 1:
        yield f"the costs suppose that {group[0].supposing}"
