"""The figure of losses: stacked bars of what is reached, and of what is lost by cause."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from idealist.errors import UsageError
from idealist.rendering.document import Table
from idealist.rendering.figure import Axis, Box, Figure, Key, Line, Mark, Note, Tone
from idealist.rendering.figures.run_figures import tall
from idealist.rendering.wording import number, told, visible

#: The tones of causes in the order of the stack: neighbours differ, and none is that of the value.
TONES: tuple[Tone, ...] = ("2", "3", "4", "8", "5", "7")
#: How high a bar and the gap below it are, over the width of the plot: numbers stand in bars.
ROOMY = 0.052
#: A part of a bar that is less than this of the axis is not seen.
SEEN = 0.002
#: What is less than this is rounding.
ROUNDING = 1e-9


class Stack(NamedTuple):
    """A run's value, what it loses by cause, and what a perfect reranker would reach."""

    run: str
    measure: str
    value: float
    ideal: float
    lost: Mapping[str, float]
    reach: float = math.nan


def losses(
    stacks: Sequence[Stack], words: Mapping[str, str], *, most: float = 1.0, note: str = ""
) -> Figure:
    """Show what is lost as stacked bars: the value first, then each cause, up to the ideal.

    The bars are of runs by one measure, or of one run by several. `words` names the causes in the
    order of the stack; `most` is the largest value there can be, or infinite.
    """
    _check_stacks(stacks)
    known = dict(zip(words, TONES, strict=False))
    used = [cause for cause in words if any(one.lost[cause] > ROUNDING for one in stacks)]
    tones = {cause: known[cause] for cause in used}
    end = max([most if math.isfinite(most) else 0.0, *map(_end, stacks)])
    by_run = len({one.measure for one in stacks}) == 1
    names = [visible(one.run) if by_run else one.measure for one in stacks]
    run, measure = stacks[0].run, stacks[0].measure
    bars = enumerate(zip(names, stacks, strict=True))
    return Figure(
        kind="losses",
        title=f"What runs lose of {measure}" if by_run else f"What {told(run)} loses",
        says=_losses_said(stacks, words, "runs" if by_run else "measures"),
        x=Axis(measure if by_run else "value", 0.0, end),
        y=Axis("", names=tuple(names)),
        marks=tuple(
            mark for i, (name, one) in bars for mark in _stack(i, name, one, tones, words, end)
        ),
        rows=_losses_table(stacks, words),
        keys=tuple(_keys(stacks, tones, words, end)),
        note=" ".join(filter(None, [note, *_overshoot(stacks, words)])),
        aspect=max(0.1, tall(len(stacks), ROOMY)),
    )


def _keys(
    stacks: Sequence[Stack], tones: Mapping[str, Tone], words: Mapping[str, str], end: float
) -> Iterator[Key]:
    """Give the legend, in the order of the stack."""
    yield Key("value", "1")
    for cause, tone in tones.items():
        if max(one.lost[cause] for one in stacks) > SEEN * end:
            yield Key(f"{cause}: {words[cause]}", tone)
    if any(_end(one) < end - ROUNDING for one in stacks):
        yield Key("not possible with these judgments", "quiet")
    if any(not math.isnan(one.reach) for one in stacks):
        yield Key("with a perfect reranker of all retrieved", "accent", "line")


def _check_stacks(stacks: Sequence[Stack]) -> None:
    for one in stacks:
        if one.value < -ROUNDING or one.ideal < one.value - ROUNDING:
            why = "its value is below 0" if one.value < 0 else "the ideal list has a lower one"
            hint = "choose a measure such as nDCG@10; diagnose has the numbers of the others"
            message = f"what {told(one.run)} loses of {one.measure} cannot be stacked: {why}"
            raise UsageError(message, hint)


def _end(one: Stack) -> float:
    """Return where a bar ends: the ideal, or beyond where mending one thing spoils another."""
    ends = one.ideal, one.value + math.fsum(max(lost, 0.0) for lost in one.lost.values())
    return max((end for end in ends if not math.isnan(end)), default=0.0)


def _stack(
    row: int, name: str, one: Stack, tones: Mapping[str, Tone], words: Mapping[str, str], end: float
) -> Iterator[Mark]:
    if math.isnan(one.value):
        yield Note(0.0, row + 0.5, "no value", tone="quiet")
        return
    top, bottom = row + 0.14, row + 0.86
    said = f"{told(name)}: {number(one.value)}"
    yield Box(0.0, one.value, top, bottom, None, number(one.value, 2), tone="1", label=said)
    at = one.value
    for cause, tone in tones.items():
        if (lost := one.lost[cause]) > ROUNDING:
            said = f"{told(name)} loses {number(lost)} to {words[cause]}"
            text = f"{cause} {number(lost, 2)}"
            yield Box(at, at + lost, top, bottom, None, text, tone=tone, label=said)
            at += lost
    if at < end - ROUNDING:
        said = f"{number(end - at)} is not possible with these judgments"
        yield Box(at, end, top, bottom, tone="quiet", label=said)
    if not math.isnan(one.reach):
        said = f"{told(name)} with a perfect reranker of all retrieved: {number(one.reach)}"
        yield Line(((one.reach, row + 0.04), (one.reach, row + 0.96)), label=said)


def _losses_said(stacks: Sequence[Stack], words: Mapping[str, str], of: str) -> str:
    known = [one for one in stacks if not math.isnan(one.value)]
    if not known:
        return "No value is known, so nothing is known to be lost."
    first, cause = known[0], _most_lost(known[0])
    if not cause:
        return f"{told(first.run)} loses nothing of {first.measure}."
    lost = number(math.fsum(first.lost.values()))
    part = number(first.lost[cause])
    most = "all of it" if part == lost else f"the largest part, {part},"
    alike = sum(_most_lost(one) == cause for one in known)
    also = f"; {alike} of {len(known)} {of} lose most to that" if len(known) > 1 else ""
    return f"{told(first.run)} loses {lost} of {first.measure}, {most} to {words[cause]}{also}."


def _most_lost(one: Stack) -> str:
    lost = max(one.lost, key=one.lost.__getitem__, default="")
    return lost if lost and one.lost[lost] > ROUNDING else ""


def _losses_table(stacks: Sequence[Stack], words: Mapping[str, str]) -> Table:
    headers = ["value", *words, "ideal", "perfect reranker"]
    rows = [
        [*one[:3], *(one.lost[cause] for cause in words), one.ideal, one.reach] for one in stacks
    ]
    return Table.of(["run", "measure"], headers, rows)


def _overshoot(stacks: Sequence[Stack], words: Mapping[str, str]) -> Iterator[str]:
    """Say where mending one thing costs something, so that a bar passes the ideal."""
    for one in stacks:
        for cause, lost in one.lost.items():
            if lost < -ROUNDING:
                costs = f"Mending {words[cause]} would cost {told(one.run)} {number(-lost)}"
                yield f"{costs}, so its bar ends that far beyond the ideal."
