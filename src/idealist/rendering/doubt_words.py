"""Doubts in words: a line each, or in full with examples, price, remedy and command."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from idealist.rendering.doubt import Doubt
from idealist.rendering.wording import few, number, visible

#: In how many runs the same is said of each.
EACH = 5


def lines(doubts: Iterable[Doubt]) -> list[str]:
    """Say what is doubtful, a line each; how files were read comes first, and is no doubt.

    What is said of several runs alike is said once. What is found in more than `EACH` runs, and
    differs, is said of the run where it is most.

    >>> read = Doubt("read-as", "a.csv: query = term", severity="note")
    >>> lines([Doubt("ties", "scores are tied", severity="note"), read])
    ['read: a.csv: query = term', 'doubt: scores are tied']
    >>> lines([Doubt("ties", f"{n} ties", count=n, run=f"run{n}") for n in range(1, 7)])
    ['doubt: in 6 runs, most in run6: 6 ties']
    """
    doubts = list(doubts)
    many = {id(one): group for group in alike(doubts) if len(group) > EACH for one in group}
    said = [
        (not _is_reading(one), _of_many(many[id(one)]) if id(one) in many else _of_one(one))
        for one in doubts
    ]
    ordered = sorted(dict.fromkeys(said), key=lambda pair: pair[0])
    return [
        f"doubt: {words}" if doubtful else f"read: {words.removeprefix('read ')}"
        for doubtful, words in ordered
    ]


def _of_one(one: Doubt) -> str:
    return f"{one.run}: {one.message}" if one.run else one.message


def _of_many(group: Sequence[Doubt]) -> str:
    worst = max(group, key=lambda one: one.count)
    return f"in {len(group)} runs, most in {worst.run}: {worst.message}"


def _is_reading(one: Doubt) -> bool:
    """Whether this only says what was taken for what."""
    return one.code == "read-as" and one.severity == "note"


def shared(by_run: Sequence[tuple[str, Sequence[Doubt]]]) -> tuple[Doubt, ...]:
    """Put what is said of all runs first, without a run; then what is said of each alone."""
    first = by_run[0][1] if by_run else ()
    said = [{(one.code, one.message) for one in own} for _, own in by_run]
    common = set.intersection(*said) if said else set()
    alone = [
        replace(one, run=run)
        for run, own in by_run
        for one in own
        if (one.code, one.message) not in common
    ]
    return (*(one for one in first if (one.code, one.message) in common), *alone)


def alike(doubts: Iterable[Doubt]) -> list[list[Doubt]]:
    """Group what is found in several runs, except errors: each of them has to be mended.

    >>> two = [Doubt("ties", "…", severity="note", run=run) for run in ("bm25", "dense")]
    >>> [len(group) for group in alike([*two, Doubt("ties", "…", severity="error", run="bm25")])]
    [2, 1]
    """
    groups: dict[Hashable, list[Doubt]] = {}
    for one in doubts:
        same = (one.code, one.severity, one.remedy, one.supposing, one.depth)
        alone = one.severity == "error" or not one.run
        groups.setdefault(id(one) if alone else same, []).append(one)
    return [*groups.values()]


def brief(doubts: Iterable[Doubt]) -> list[str]:
    """Write each group of doubts in one line."""
    found = []
    for group in alike(doubts):
        such = f"such as {group[0].run}: " if len(group) > 1 else ""
        found.append(f"{_title(group)}: {such}{group[0].finding}")
    return found


def paragraphs(doubts: Iterable[Doubt]) -> Iterator[str]:
    """Write each group of doubts in full, with the command below it."""
    for group in alike(doubts):
        title, *more = parts(group)
        command = [f"    {group[0].command}"] if group[0].command else []
        yield "\n".join([title, *(f"  {line}" for line in more), *command])


def parts(group: Sequence[Doubt]) -> list[str]:
    """Write a group of doubts: a title, what is found, what it costs, what to do."""
    first = group[0]
    if len(group) > 1:
        found = [f"{_title(group)}:", *(line for one in group for line in _one_of_many(one))]
    else:
        supposed = f", {first.supposing}" if first.supposing and len(first.price) == 1 else ""
        costs = [f"cost, {run}: {words}{supposed}" for run, words in _costs(first)]
        examples = (f"  {example}" for example in examples_of(first))
        found = [f"{_title(group)}: {first.finding}", *examples, *costs]
    remedy = [f"remedy: {first.remedy}{_for_first(group)}"] if first.remedy else []
    return [*found, *_supposed(group), *remedy]


def _title(group: Sequence[Doubt]) -> str:
    first = group[0]
    runs = f"{len(group)} runs" if len(group) > 1 else first.run
    return f"{first.severity}: {first.code}{f', {runs}' if runs else ''}"


def _one_of_many(one: Doubt) -> Iterator[str]:
    """Say what is found in one run of several, with one example, and what it costs."""
    example = next(examples_of(one), "")
    yield f"{one.run}: {one.finding}{f' (such as {example})' if example else ''}"
    yield from (f"  cost: {words}" for _, words in _costs(one))


def _for_first(group: Sequence[Doubt]) -> str:
    """Say that the command is for the first run, where the others need another."""
    differ = len({one.command for one in group}) > 1
    return f"; for {group[0].run}, and likewise for the others:" if differ else ""


def examples_of(one: Doubt) -> Iterator[str]:
    """Show some of what is meant: queries in one line, unless the finding names them."""
    if one.queries and one.examples == one.first_queries:
        named = few(one.queries)
        yield from [f"queries {named}"] if named not in one.finding else []
        return
    for example in one.examples:
        yield example if isinstance(example, str) else " → ".join(map(visible, example))


def _costs(one: Doubt) -> Iterator[tuple[str, str]]:
    """Say what each measure of a run is, and would be."""
    for run, own in one.price.items():
        changes = (
            f"{label} {number(now)} → {' to '.join(map(number, then))}"
            for label, (now, *then) in own.items()
        )
        yield run, ", ".join(changes)


def _supposed(group: Sequence[Doubt]) -> Iterator[str]:
    """Say once what the costs of several runs suppose."""
    priced = [run for one in group for run in one.price]
    if group[0].supposing and priced and max(len(group), len(priced)) > 1:
        yield f"right of each arrow: {group[0].supposing}"
