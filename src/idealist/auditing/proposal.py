"""A repair of ids made exact: which id of which side becomes which, and what is left alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from idealist.auditing.matching import Repair
from idealist.auditing.thresholds import MAPPED_IDS
from idealist.auditing.transformations import Chain, undone
from idealist.protocol import suffix

#: The ids that stand together, where no two may become one.
Together = Iterable[Sequence[str]]


@dataclass(frozen=True)
class Proposal:
    """New ids for one side, ``run`` or ``qrels``.

    `mapping` holds the ids that change, `meeting` those of them that then meet one of the other
    side, with that one. `ambiguous` ids could be two of the other side, `clashing` ones would
    become one with another id of their query; both are left alone. `spelled` counts ids of the
    other side that several ids become. `chain` does the same as the mapping, where there is one.
    `collapse` is the axis that makes documents of chunks, whose numbers the mapping keeps.
    """

    side: str
    repair: Repair
    mapping: Mapping[str, str]
    meeting: Mapping[str, str]
    ambiguous: tuple[str, ...] = ()
    clashing: tuple[str, ...] = ()
    spelled: int = 0
    chain: Chain | None = None
    collapse: str = ""


def propose(
    repair: Repair, found: Set[str], wanted: Set[str],
    lists: Together, judged: Together,
) -> Proposal:  # fmt: skip
    """Decide which side has the odd ids, and give them new ones.

    Odd are those that no other query has in the other side's spelling; where both sides are as
    odd as each other, the run is taken.
    """
    own, theirs = repair.found, repair.wanted
    keys = {*map(theirs.apply, wanted)}
    near = {name for name in found if name in wanted or own.apply(name) in keys}
    of_run, of_qrels = _matched(near, wanted, own, theirs), _matched(wanted, near, theirs, own)
    if own.chunk or len(of_run[0]) >= len(of_qrels[0]):
        names = found if len(found) <= MAPPED_IDS else near
        return _made("run", repair, names, wanted, own, theirs, lists, *of_run)
    return _made("qrels", repair, wanted, near, theirs, own, judged, *of_qrels)


def _matched(
    names: Collection[str], others: Collection[str], own: Chain, theirs: Chain
) -> tuple[dict[str, str], list[str]]:
    """Find for each id that the other side lacks the one that it means there."""
    by_key: dict[str, list[str]] = {}
    for other in sorted(others):
        by_key.setdefault(theirs.apply(other), []).append(other)
    known, meeting, ambiguous = set(others), {}, []
    for name in sorted(set(names) - known):
        same = by_key.get(own.apply(name), [])
        if len(same) == 1:
            meeting[name] = same[0]
        elif same:
            ambiguous.append(name)
    return meeting, ambiguous


def _made(
    side: str, repair: Repair, names: Collection[str], others: Collection[str], own: Chain,
    theirs: Chain, lists: Together, meeting: dict[str, str], ambiguous: list[str],
) -> Proposal:  # fmt: skip
    direct = _direct(own, theirs, others, meeting)
    collapse = _collapse(own, meeting, others)
    tail = own.tail if collapse else lambda name: ""
    mapping = {name: other + tail(name) for name, other in meeting.items()}
    if direct is not None:  # what is not judged is written as the judged ids are
        left = set(names) - meeting.keys() - set(others) - set(ambiguous)
        mapping |= {name: direct.apply(name) + tail(name) for name in sorted(left)}
    mapping = {name: new for name, new in mapping.items() if name != new}
    clashing = _clashes(mapping, lists) if mapping else []
    for name in clashing:
        del mapping[name]
    whole = direct if direct and not collapse and _equals(direct, mapping, names) else None
    spelled = len(meeting) - len(set(meeting.values()))
    return Proposal(
        side, repair, mapping, {name: meeting[name] for name in meeting if name not in clashing},
        tuple(ambiguous), tuple(clashing), 0 if own.chunk else spelled, whole, collapse,
    )  # fmt: skip


def _collapse(own: Chain, meeting: Mapping[str, str], others: Collection[str]) -> str:
    """Give the pattern of the axis collapse, where it takes nothing off the other side's ids.

    Numbers of chunks that are padded with zeros are told from others by their length.
    """
    if not own.chunk:
        return ""
    tails = [own.tail(name) for name in meeting]
    numbers = [re.sub(r"\D", "", tail) for tail in tails]
    padded = len(set(map(len, numbers))) == 1 and any(re.match("0.", one) for one in numbers)
    pattern = own.chunk.replace(r"\d+", rf"\d{{{len(numbers[0])}}}") if padded else own.chunk
    found = suffix(pattern)
    return "" if any(found.search(other) for other in others) else pattern


def _direct(
    own: Chain, theirs: Chain, others: Collection[str], meeting: Mapping[str, str]
) -> Chain | None:
    """Find a transformation that gives the other side's ids by itself, and leaves those alone."""
    turned = [(undone(step) or step) if step in theirs.steps else step for step in own.steps]
    added = [undone(step) for step in reversed(theirs.steps) if step not in own.steps]
    pairs = (*meeting.items(), *((other, other) for other in others))
    for steps in (own.steps, turned, (*own.steps, *added), (*turned, *added)):
        chain = Chain(tuple(filter(None, steps)))
        if chain.steps and all(chain.apply(name) == other for name, other in pairs):
            return chain
    return None


def _equals(chain: Chain, mapping: Mapping[str, str], names: Iterable[str]) -> bool:
    return all(chain.apply(name) == mapping.get(name, name) for name in names)


def _clashes(mapping: Mapping[str, str], lists: Together) -> list[str]:
    """Find the ids that would become one with another id of their list."""
    clashing: set[str] = set()
    for names in lists:
        new = [mapping.get(name, name) for name in names]
        if len(set(new)) == len(new):
            continue
        first: dict[str, str] = {}
        for name, other in zip(names, new, strict=True):
            twin = first.setdefault(other, name)
            if twin != name:
                clashing |= {one for one in (name, twin) if one in mapping}
    return sorted(clashing)
