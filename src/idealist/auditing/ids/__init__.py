"""Repair of ids: queries and documents that run and judgments write differently, or mix up.

`unmatched_ids` is the one way in; without this folder an audit only skips these findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from idealist.auditing.audit_case import AuditCase
from idealist.auditing.ids import id_words as words
from idealist.auditing.ids.alignment import BY_CHANCE, SPREAD, WINDOW, Alignment, align, in_order
from idealist.auditing.ids.matching import REPAIRED_EASILY, best_repair
from idealist.auditing.ids.proposal import (
    IdSets,
    Proposal,
    Repair,
    Side,
    propose,
    together,
)
from idealist.data import Qrels, Run
from idealist.evaluating.data_doubts import SEEN, elsewhere
from idealist.evaluating.doubt_case import DoubtCase, differing
from idealist.formats.id_mapping import map_ids
from idealist.formats.id_steps import Chain, Step
from idealist.ranking.order import whole
from idealist.ranking.ranked import listing
from idealist.rendering.doubt import EXAMPLES, Doubt
from idealist.rendering.wording import visible

#: Rows of a run, and queries at least, looked at to guess how ids were changed. Suggested.
SAMPLED_ROWS, SAMPLED_QUERIES = 10_000, 20
#: Documents that queries made to meet must have in common, for each that others have. Suggested.
CONFIRMED_ODDS = 2
#: Share of the queries that do not meet which a repair must make meet, to need no confirmation by
#: their documents. Suggested.
REPAIRED_QUERIES = 0.8

#: Documents of a list that are compared with the judgments of other queries. Suggested.
LIST_DEPTH = 1000
#: Judged documents of a query, in the median, and the share of judged ones at the top of another
#: run, from which on a run of the same documents must have some. Suggested.
POOL_JUDGED, POOL_SHARE = 20, 0.5
#: Judged documents that the tops of lists could hold, from which on finding none of them, or hardly
#: any, is no accident. Suggested.
COULD_MEET = 100
#: The share of judged documents at the top from which on a run is not of other ones. Suggested.
FOREIGN_SHARE = 0.5
#: A system that finds judged documents for this many times fewer queries than another is far worse,
#: and what is less probable than this is not put down to a system that is so. Suggested.
FAR_WORSE, UNLIKELY = 4, 0.01

CODES = {"queries": "query-ids", "documents": "document-ids"}


@dataclass(frozen=True)
class State:
    """A run and the judgments as they are after the repairs proposed so far.

    `now` is what they are measured as; `options` are those of `idealist convert` that make these
    repairs, by side, and `axes` those of the protocol that do.
    """

    name: str
    run: Run
    qrels: Qrels
    now: DoubtCase
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    axes: Mapping[str, str] = field(default_factory=dict)

    def met(self, what: str) -> int:
        """Count the judged queries that are in the run, or the judged documents that it found."""
        now = self.now
        return int(now.first.in_run.sum()) if what == "queries" else len(now.whole.query)

    def judged(self, what: str) -> int:
        """Count the judged queries, or the documents that are judged for queries of the run."""
        if what == "queries":
            return len(self.qrels.queries)
        return int(np.diff(self.qrels.starts)[self.now.first.in_run].sum())

    @cached_property
    def judged_lists(self) -> Run:
        """The lists of the judged queries, which the kernel reads faster than Python all rows."""
        inside = np.flatnonzero(self.now.first.in_run)
        return Run(self.run.source.some([self.qrels.queries[i] for i in inside]), self.run.name)

    @cached_property
    def names(self) -> list[str]:
        """The queries of both sides in order; those that are not judged only where they are few."""
        judged, unknown = self.qrels.queries, self.now.first.unknown
        return in_order([*judged, *(unknown if len(unknown) <= len(judged) else ())])

    @cached_property
    def alignment(self) -> Alignment:
        """How well the lists fit the judgments of each query."""
        some, protocol = self.names[:WINDOW], self.now.whole.protocol
        ranked = listing(self.run, protocol, some, depth=LIST_DEPTH)
        lists = {query: own.documents for query, own in ranked.items()}
        return align(self.qrels, lists, some)

    @property
    def could(self) -> int:
        """How many judged documents the tops of the lists could hold."""
        judged = np.diff(self.qrels.starts)
        return int(np.minimum(SEEN, np.minimum(self.now.whole.retrieved, judged)).sum())

    @property
    def share(self) -> float:
        """The share of these that they hold."""
        return float(np.count_nonzero(self.now.whole.rank <= SEEN)) / max(1, self.could)

    @property
    def answered(self) -> float:
        """The share of queries for which something judged is at the top."""
        top = self.now.whole.rank <= SEEN
        return len(np.unique(self.now.whole.query[top])) / max(1, self.met("queries"))


def unmatched_ids(case: AuditCase) -> Iterator[Doubt]:
    """Look for ids that would match if both sides wrote them alike.

    The last finding of a run has the command, which makes the repairs of those before too.
    """
    found, _ = repairs(case)
    for i, one in enumerate(found):
        later = {other.run for other in found[i + 1 :] if other.command}
        own = {one.run} if one.run else case.runs.keys()
        if one.command and ("" in later or later >= own):  # what is for the judgments is for all
            said = f"{one.remedy}; the command of the last finding about ids does it all"
            yield replace(one, remedy=said, command="")
        else:
            yield one


def repairs(case: AuditCase) -> tuple[list[Doubt], list[State]]:
    """Find what is to be repaired, and every run as it is then."""
    states = [State(name, one.run, case.qrels, one) for name, one in case.runs.items()]
    return [*_unmatched(case, states)], states


def _unmatched(case: AuditCase, states: list[State]) -> Iterator[Doubt]:
    """Look at queries first, then at documents, and repair the states.

    Judgments are the same for all runs, and mended before them.
    """
    for what, look in (("queries", _queries), ("documents", _documents)):
        for i, state in enumerate(states if what == "documents" else ()):
            if (moved := _misplaced(case, state)) is not None:
                finding, states[i] = moved
                yield finding
        proposals = _agreed([look(state, "") for state in states])
        odd = [one for one in proposals if one is not None and one.side == "qrels"]
        if odd:
            shared = together(odd, _judged(case.qrels, what))
            finding, states[:] = _repaired(case, states, shared, what)
            yield replace(finding, run="")
            proposals = [look(state, "run") for state in states]
        for i, proposal in enumerate(proposals):
            if proposal is not None:
                finding, (states[i],) = _repaired(case, [states[i]], proposal, what)
                yield finding
            elif not states[i].met(what) and (what == "queries" or states[i].met("queries")):
                yield _never(states[i], what, states)
            elif what == "documents" and _is_foreign(states[i], states):
                yield _foreign(states[i])


def _agreed(proposals: list[Proposal | None]) -> list[Proposal | None]:
    """Rather mend the judgments by a rule than runs by mappings, if that is right for all runs."""
    ruled = [one and (one.instead if one.side == "run" else one) for one in proposals]
    return ruled if all(ruled) else proposals


def _queries(state: State, only: str) -> Proposal | None:
    placements = state.now.first
    there = [q for q, here in zip(state.qrels.queries, placements.in_run, strict=True) if here]
    found, wanted = [*there, *placements.unknown], state.qrels.queries
    sample = [IdSets(frozenset(found), frozenset(wanted))]
    repair = best_repair(sample, few=True)
    if repair is None or repair.found.chunk or repair.wanted.chunk:
        return None
    run = Side("run", {*found}, repair.found, [found])
    qrels = Side("qrels", {*wanted}, repair.wanted, [wanted])
    proposal = propose(repair, run, qrels, sample, only)
    apart = min(len(found), len(wanted)) - len(there)
    least = max(*REPAIRED_EASILY, REPAIRED_QUERIES * apart)
    sure = repair.gentle or len(proposal.meeting) >= least
    return proposal if sure or _confirmed(state, proposal) else None


def _confirmed(state: State, proposal: Proposal) -> bool:
    """Whether queries that are to meet have more documents in common than others have."""
    pairs = [(x, y) if proposal.side == "run" else (y, x) for x, y in proposal.meeting.items()]
    if not pairs:
        return False
    found, wanted = zip(*pairs[:SAMPLED_QUERIES], strict=True)
    rows, lookup = state.run.source.some(found), state.qrels.lookup
    lists = {query: set(rows.documents[span]) for query, span in rows.spans().items()}
    columns = list(dict.fromkeys([*wanted, *state.qrels.queries[:SAMPLED_QUERIES]]))
    common = np.array([[len(lists[x] & lookup[y].keys()) for y in columns] for x in found])
    own = np.trace(common)
    chance = (common.sum() - own) / max(1, len(columns) - 1)
    return bool(own > CONFIRMED_ODDS * chance)


def _misplaced(case: AuditCase, state: State) -> tuple[Doubt, State] | None:
    """Look for lists that stand under the ids of other queries, and put them under their own."""
    found, names = state.alignment.elsewhere, state.names
    if found is None or not (found.step or len(names) <= WINDOW):
        return None
    places = np.roll(np.arange(len(names)), -found.step) if found.step else found.places
    mapping = {old: names[i] for old, i in zip(names, places, strict=True) if old != names[i]}
    proposal = Proposal("run", Repair(), mapping, mapping)
    finding, (then,) = _repaired(case, [state], proposal, "queries")
    finding = replace(
        finding, code="misplaced-lists", finding=words.misplaced(found, len(names)),
        count=found.better, total=len(found.places), supposing="with each list under its own query",
    )  # fmt: skip
    if case.lowers(finding.price):  # each list has its documents, but not in the right order
        finding = replace(finding, price={}, command="", remedy=words.ORDER_TOO)
    return finding, then


def _is_foreign(state: State, states: Sequence[State]) -> bool:
    """Whether the lists fit their own queries no better than others, which is no accident.

    It may be one where the judgments hold little of what was found for a query, and no other run
    has more.
    """
    enough = _expects(state, states) and state.could >= COULD_MEET and state.share < FOREIGN_SHARE
    fit = state.alignment
    return enough and fit.own < BY_CHANCE and fit.spread >= SPREAD


def _expects(state: State, states: Sequence[State]) -> bool:
    """Whether a run of the same documents must have judged ones: of a pool, or as another has."""
    sizes, grades = np.diff(state.qrels.starts), state.qrels.grades
    pooled = np.median(sizes) >= POOL_JUDGED and bool((grades <= 0).any())
    return pooled or max(one.share for one in states) >= POOL_SHARE


def _foreign(state: State) -> Doubt:
    """Say that the documents of a run are not those that were judged."""
    lists = state.now.whole
    count = int(np.count_nonzero(lists.rank <= SEEN))
    total = int(np.minimum(SEEN, lists.retrieved).sum())
    return Doubt(
        "other-collection",
        f"{count} of {total} documents in the first {SEEN} are judged, and the lists fit the "
        "judgments of their own queries no better than those of other queries",
        count, severity="error", run=state.name, total=total,
        examples=_examples(*_some_ids(state, "documents")),
    )  # fmt: skip


def _documents(state: State, only: str) -> Proposal | None:
    if not state.met("queries"):
        return None
    sample = _sample(state)
    repair = best_repair(sample)
    if repair is None:
        return None
    rows, protocol = state.judged_lists.rows(), state.now.first.protocol
    if protocol.collapse != "none":  # what was compared is the documents
        asked = Step("", "", partial(whole, protocol=protocol), chunk=str(protocol.collapse))
        repair = replace(repair, found=Chain((asked, *repair.found.steps)))
    lists = [rows.documents[span] for span in rows.spans().values()]
    judged = _judged(state.qrels, "documents")
    run = Side("run", {*rows.documents}, repair.found, lists)
    qrels = Side("qrels", {*state.qrels.documents}, repair.wanted, judged)
    return propose(repair, run, qrels, sample, only)


def _judged(qrels: Qrels, what: str) -> list[Sequence[str]]:
    """List the judged ids that stand together."""
    if what == "queries":
        return [qrels.queries]
    return [qrels.documents[a:b] for _, a, b in qrels.spans()]


def _sample(state: State) -> list[IdSets]:
    """Collect the documents of some queries, as the protocol names them."""
    protocol, lookup = state.now.first.protocol, state.qrels.lookup
    rows = state.run.source.some(_sampled(state))
    return [
        IdSets(
            frozenset(whole(d, protocol) for d in rows.documents[span]), frozenset(lookup[query])
        )
        for query, span in rows.spans().items()
    ]


def _sampled(state: State) -> list[str]:
    """Choose the queries whose documents are compared, evenly."""
    placements = state.now.first
    inside = np.flatnonzero(placements.in_run)
    if not len(inside):
        return []
    longest = max(1, int(placements.retrieved[inside].mean()))
    count = min(len(inside), max(SAMPLED_QUERIES, SAMPLED_ROWS // longest))
    chosen = inside[np.linspace(0, len(inside) - 1, count).astype(int)]
    return [state.qrels.queries[i] for i in dict.fromkeys(chosen.tolist())]


def queries_seen(state: State) -> list[str]:
    """Name the queries of a run whose rows are looked at for ids, whatever they are."""
    return [*state.names[:WINDOW], *_sampled(state)]


def _repaired(
    case: AuditCase, states: Sequence[State], proposal: Proposal, what: str
) -> tuple[Doubt, list[State]]:
    """Apply a proposal to copies, to count and price what it does."""
    then = [_after(case, state, proposal, what) for state in states]
    pairs = [*zip(states, then, strict=True)]
    price = {x.name: differing(x.now.aggregates, y.now.aggregates) for x, y in pairs}
    count, total, said = words.counted(proposal, pairs, what)
    remedy, command = words.remedy(case, then, proposal, what)
    finding = Doubt(
        CODES[what], words.message(proposal, what, said), count,
        price={name: own for name, own in price.items() if own},
        supposing="with ids written alike",
        severity="error", run=states[0].name, total=total, remedy=remedy, command=command,
        examples=tuple(proposal.meeting.items())[:EXAMPLES],
        mappings={what: proposal.mapping} if proposal.mapping else {},
    )  # fmt: skip
    return finding, then


def _after(case: AuditCase, state: State, proposal: Proposal, what: str) -> State:
    axes: dict[str, Any] = {"collapse": proposal.collapse} if proposal.collapse else {}
    if axes:
        now = case.tried(state.run, state.qrels, **axes)
        return replace(state, now=now, axes=words.collapsing(proposal, state.name))
    if proposal.side == "qrels":
        state = replace(state, qrels=map_ids(state.qrels, **{what: proposal.mapping}))
    else:
        run = state.run if what == "queries" else state.judged_lists
        state = replace(state, run=map_ids(run, **{what: proposal.mapping}))
    given = (*state.options.get(proposal.side, ()), *words.options(proposal, state.name, what))
    options = {**state.options, proposal.side: given}
    return replace(state, now=case.tried(state.run, state.qrels), options=options)


def _never(state: State, what: str, states: Sequence[State]) -> Doubt:
    """Say that nothing matches and no step helps.

    A system may well have found none, if ids are written alike: of few judged documents, where a
    far worse system than the best of the other runs would often find none either, or where it found
    them for other queries and the judgments are not of a pool.
    """
    wanted, found = _some_ids(state, what)
    alike = {*map(_kind, wanted)} & {*map(_kind, found)}
    none = (1 - max(one.answered for one in states) / FAR_WORSE) ** state.met("queries")
    chance = what == "documents" and alike and state.could < COULD_MEET and none > UNLIKELY
    said = "; so few are judged that this may be the system's doing" if chance else ""
    if what == "documents" and not chance and not _expects(state, states):
        there = elsewhere(state.now)
        said = (
            f"; ids are written alike ({there}), so the system seems to have found none"
            if there
            else ""
        )
    return Doubt(
        f"no-{what}-meet", words.nothing_meets(what, wanted, found) + said, len(wanted),
        severity="warning" if said else "error", run=state.name, total=len(wanted),
        examples=_examples(wanted, found), remedy=words.no_repair(what),
    )  # fmt: skip


_HASH = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{16,}", re.IGNORECASE)


def _kind(name: str) -> str:
    """Tell ids that are numbers, long hashes, or written with other signs, from others.

    >>> _kind("1234"), _kind("ug7v899j"), _kind("FT911-3"), _kind("d41d8cd98f00b204")
    ('0', 'a', 'a-a', '16')
    """
    if _HASH.fullmatch(name):
        return str(len(name))
    return "0" if name.isdecimal() else re.sub(r"[^\W_]+", "a", name)


def _some_ids(state: State, what: str) -> tuple[Sequence[str], Sequence[str]]:
    """List the ids that are judged and some that are in the run, of documents for one query."""
    if what == "queries":
        return state.qrels.queries, state.now.first.unknown
    query = state.qrels.queries[int(np.argmax(state.now.whole.retrieved))]
    return list(state.qrels.lookup[query]), state.run.source.some([query]).documents[:EXAMPLES]


def _examples(wanted: Sequence[str], found: Sequence[str]) -> tuple[str, ...]:
    sides = (("judged", wanted), ("in the run", found))
    return tuple(f"{side}: {visible(one)}" for side, own in sides for one in own[:EXAMPLES])
