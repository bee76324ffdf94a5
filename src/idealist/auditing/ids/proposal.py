"""A repair of ids: what is done to those found and to those wanted so that they match."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

from idealist.formats.id_steps import Chain, Step, undone
from idealist.protocol import suffix

#: Share of what a repair makes meet that must meet once one side's ids are changed; else those of
#: both sides are. Suggested.
REPAIRED_BY_ONE_SIDE = 0.9
#: With more ids than these, those that nobody judged are left out of mappings. Suggested.
MAPPED_IDS = 500_000


class IdSets(NamedTuple):
    """The ids of both sides for one query: those retrieved and those judged."""

    found: frozenset[str]
    wanted: frozenset[str]


NOTHING = Chain(())


@dataclass(frozen=True)
class Repair:
    """What is done to the ids found and to those wanted so that they match."""

    found: Chain = NOTHING
    wanted: Chain = NOTHING

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, each once."""
        return tuple(dict.fromkeys((*self.found.steps, *self.wanted.steps)))

    @property
    def words(self) -> str:
        """What differs, in words."""
        return Chain(self.steps).words

    @property
    def gentle(self) -> bool:
        """Whether two different ids hardly ever become equal."""
        return all(step.gentle for step in self.steps)

    def allows(self, step: Step, sides: str) -> bool:
        """Whether a step may come next: only what is constant replaces something constant."""
        if step.chunk.startswith(r"\.") and any(one.name == "number" for one in self.steps):
            return False  # else each version 1.4 would be 1.0
        own, other = self.found.steps, self.wanted.steps
        if sides == "wanted":
            own, other = other, own
        if sides == "both":
            return True
        opposite = [one for one in other if one.end and one.end == step.end]
        return not (step.chunk and any(one.chunk for one in own)) and all(
            step.replaces(one) or one.replaces(step) for one in opposite
        )

    def with_step(self, step: Step, sides: str) -> Repair:
        """Add a step to ``found``, ``wanted`` or ``both``."""
        found, wanted = (
            Chain((*chain.steps, step)) if sides in (side, "both") else chain
            for side, chain in (("found", self.found), ("wanted", self.wanted))
        )
        return Repair(found, wanted)


#: The ids that stand together, where no two may become one.
Together = Iterable[Sequence[str]]


@dataclass(frozen=True)
class Proposal:
    """New ids for one side, ``run`` or ``qrels``.

    `mapping` holds the ids that change, `meeting` those of them that then meet one of the other
    side, with that one. `ambiguous` ids could be two of the other side, `clashing` ones would
    become one with another id of their query; both are left alone. `joined` ones become one with
    another id of their side, in other queries. `unified` says that the side itself writes ids in
    more than one way, as the other one does. `chain` does the same as the mapping, where there
    is one. `collapse` is the axis that makes documents of chunks: a pattern, or the mapping.
    `instead` does the same to the judgments by a rule, where none does it to the run.
    """

    side: str
    repair: Repair
    mapping: Mapping[str, str]
    meeting: Mapping[str, str]
    ambiguous: tuple[str, ...] = ()
    clashing: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    chain: Chain | None = None
    collapse: str | Mapping[str, str] = ""
    unified: bool = False
    instead: Proposal | None = None

    def by_rule(self, chain: Chain | None, names: Iterable[str]) -> Proposal:
        """Name the transformation, if it can be written and does what the mapping does."""
        same = (
            chain is not None
            and chain.is_written
            and all(chain.apply(name) == self.mapping.get(name, name) for name in names)
        )
        return replace(self, chain=chain if same else None)


class Side(NamedTuple):
    """One side: its name, its ids, what the repair does to them, and which stand together."""

    name: str
    ids: Set[str]
    chain: Chain
    lists: Together


def propose(
    repair: Repair, run: Side, qrels: Side, sample: Sequence[IdSets], only: str = ""
) -> Proposal:
    """Decide which side has the odd ids, and give them new ones.

    Odd are those that no other query has in the other side's spelling; where both sides are as
    odd as each other, the run is taken. Where both sides have two spellings, the judgments are
    given one; the run is then compared anew. `only` is the one side that may be changed, where that
    is decided already.
    """
    keys = {*qrels.chain.applied(qrels.ids)}
    new = zip(run.ids, run.chain.applied(run.ids), strict=True)
    near = run._replace(ids={name for name, key in new if key in keys or name in qrels.ids})
    of_run, of_qrels = _matched(near, qrels), _matched(qrels, near)
    if run.chain.chunk:
        return _collapsed(repair, run.ids, qrels.ids, *of_run)
    judged = _made(repair, qrels, near, *of_qrels)
    odd = qrels.chain.chunk or len(of_run[0]) < len(of_qrels[0])
    if odd and not only:
        made = judged
    else:
        made = _made(repair, run if len(run.ids) <= MAPPED_IDS else near, qrels, *of_run)
    if not only and run.chain == qrels.chain and not _suffices(made, sample):
        return _unified(repair, qrels)
    ruled = made.chain is None and judged.chain and _suffices(judged, sample)
    return replace(made, instead=judged if ruled else None)


def _matched(mine: Side, other: Side) -> tuple[dict[str, str], list[str]]:
    """Find for each id that the other side lacks the one that it means there; or could mean."""
    by_key: dict[str, list[str]] = {}
    for name in sorted(other.ids):
        by_key.setdefault(other.chain.apply(name), []).append(name)
    meeting, ambiguous = {}, []
    for name in sorted(mine.ids - other.ids):
        same = by_key.get(mine.chain.apply(name), [])
        if len(same) == 1:
            meeting[name] = same[0]
        elif same:
            ambiguous.append(name)
    return meeting, ambiguous


def _made(
    repair: Repair, mine: Side, other: Side, meeting: dict[str, str], ambiguous: list[str]
) -> Proposal:
    direct = _direct(mine.chain, other, meeting)
    mapping = dict(meeting)
    if direct is not None:  # what is not judged is written as the judged ids are
        left = mine.ids - meeting.keys() - other.ids - set(ambiguous)
        mapping |= {name: direct.apply(name) for name in sorted(left)}
    made = Proposal(mine.name, repair, mapping, meeting, tuple(ambiguous))
    return _apart(made, mine.ids, mine.lists).by_rule(direct, mine.ids)


def _unified(repair: Repair, qrels: Side) -> Proposal:
    """Give the judgments one spelling, where both sides have several."""
    mapping = {name: qrels.chain.apply(name) for name in sorted(qrels.ids)}
    made = Proposal("qrels", repair, mapping, mapping, unified=True)
    return _apart(made, qrels.ids, qrels.lists).by_rule(qrels.chain, qrels.ids)


def _suffices(made: Proposal, sample: Sequence[IdSets]) -> bool:
    """Whether the pairs that the repair makes meet do so once one side is changed."""
    apply, clashing = made.repair.found.apply, {*made.clashing}
    new = {side: made.mapping if made.side == side else {} for side in ("run", "qrels")}
    then = most = 0
    for one in sample:
        found, wanted = (side - clashing for side in one)
        now = {new["run"].get(name, name) for name in found}
        then += len(now & {new["qrels"].get(name, name) for name in wanted})
        most += len({*map(apply, found)} & {*map(apply, wanted)})
    return then >= REPAIRED_BY_ONE_SIDE * most


def _apart(made: Proposal, names: Collection[str], lists: Together) -> Proposal:
    """Leave alone what would become one with another id of its query."""
    mapping = {name: new for name, new in made.mapping.items() if name != new}
    joined = _joined(mapping, names)
    clashing = _clashes(mapping, lists) if joined else []
    for name in clashing:
        del mapping[name]
    meeting = {name: made.meeting[name] for name in mapping if name in made.meeting}
    return replace(
        made, mapping=mapping, meeting=meeting, clashing=tuple(clashing),
        joined=_joined(mapping, names) if clashing else joined,
    )  # fmt: skip


def _joined(mapping: Mapping[str, str], names: Collection[str]) -> tuple[str, ...]:
    """Find the ids that become one with another id of their side."""
    counts = Counter(mapping.values())
    kept = {new for new in set(names) & counts.keys() if new not in mapping}
    return tuple(name for name, new in mapping.items() if counts[new] > 1 or new in kept)


def _collapsed(
    repair: Repair, found: Set[str], wanted: Set[str], meeting: dict[str, str], ambiguous: list[str]
) -> Proposal:
    """Make documents of chunks: by a pattern, or by a mapping if that would cut judged ids."""
    own, pattern = repair.found, repair.found.chunk
    made = Proposal("run", repair, {}, meeting, tuple(ambiguous), collapse=pattern)
    alone = len(own.steps) == 1 and not repair.wanted.steps
    if alone and not any(map(suffix(pattern).search, wanted)):
        return made
    shapes = {*map(_shape, wanted)}
    uncut = {repair.wanted.apply(name): name for name in found if own.apply(name) == name}
    mapping = dict(meeting)
    for name in sorted(found - wanted - meeting.keys() - set(ambiguous)):
        new = own.apply(name)
        if new != name and (_shape(name) not in shapes or _shape(new) in shapes):
            mapping[name] = uncut.get(new, new)
    return replace(made, mapping=mapping, collapse=mapping)


def _shape(name: str) -> str:
    """Describe what ids of a kind have in common.

    >>> _shape("FT911-3"), _shape("FT944-3-12")
    ('a0-0', 'a0-0-0')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", name))


def _direct(own: Chain, other: Side, meeting: Mapping[str, str]) -> Chain | None:
    """Find a transformation that gives the other side's ids by itself, and leaves those alone."""
    theirs = other.chain.steps
    turned = [(undone(step) or step) if step in theirs else step for step in own.steps]
    added = [undone(step) for step in reversed(theirs) if step not in own.steps]
    pairs = (*meeting.items(), *((name, name) for name in other.ids))
    for steps in (own.steps, turned, (*own.steps, *added), (*turned, *added)):
        chain = Chain(tuple(filter(None, steps)))
        if chain.steps and all(chain.apply(name) == new for name, new in pairs):
            return chain
    return None


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


def together(proposals: Sequence[Proposal], judged: Together) -> Proposal:
    """Make one proposal for the judgments of those that several runs call for."""
    first = max(proposals, key=lambda one: len(one.meeting))
    mapping = {old: new for one in (*proposals, first) for old, new in one.mapping.items()}
    if mapping == first.mapping:
        return first
    meeting = {old: new for one in proposals for old, new in one.meeting.items()}
    names = [name for own in judged for name in own]
    return _apart(replace(first, mapping=mapping, meeting=meeting, chain=None), names, judged)
