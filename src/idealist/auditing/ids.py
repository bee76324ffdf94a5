"""Ids that never meet: queries and documents of the run that the judgments write otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from idealist.auditing import id_words as words
from idealist.auditing.case import Audited, Case
from idealist.auditing.finding import Finding, price
from idealist.auditing.mapping import mapped_qrels, mapped_run
from idealist.auditing.matching import Lists, Repair, best_repair
from idealist.auditing.proposal import Proposal, propose
from idealist.auditing.thresholds import (
    EXAMPLES,
    REPAIRED_EASILY,
    REPAIRED_ODDS,
    REPAIRED_QUERIES,
    SAMPLED_QUERIES,
    SAMPLED_ROWS,
)
from idealist.auditing.transformations import Chain, Step
from idealist.doubts.case import seen
from idealist.entries import whole
from idealist.tables import Qrels, Run

CODES = {"queries": "query-ids", "documents": "document-ids"}
_WHY = (
    "Ids that do not match make a value 0, or too low, without a word: what was found counts as "
    "not judged."
)


@dataclass(frozen=True)
class State:
    """A run and the judgments as they are after the repairs proposed so far.

    `options` are those of `idealist convert` that make these repairs, by side.
    """

    name: str
    run: Run
    qrels: Qrels
    audited: Audited
    options: Mapping[str, str] = field(default_factory=dict)


def unmatched_ids(case: Case) -> Iterator[Finding]:
    """Look for ids that would meet if they were written alike, first queries, then documents."""
    for name, audited in case.audited.items():
        state = State(name, audited.run, case.qrels, audited)
        proposal = _queries(state)
        if proposal is not None:
            finding, state = _repaired(case, state, proposal, "queries")
            yield finding
        if not np.count_nonzero(state.audited.first.in_run):
            yield _never(state, "queries", state.qrels.queries, state.audited.first.unknown)
            continue
        repair = best_repair(_sample(state))
        if repair is not None:
            state = replace(state, run=_judged_lists(state))
            yield _repaired(case, state, _documents(state, repair), "documents")[0]
        elif not len(state.audited.whole.query):
            yield _no_document(state)


def _queries(state: State) -> Proposal | None:
    placements = state.audited.first
    there = [q for q, here in zip(state.qrels.queries, placements.in_run, strict=True) if here]
    found, wanted = [*there, *placements.unknown], state.qrels.queries
    repair = best_repair([Lists(frozenset(found), frozenset(wanted))], few=True)
    if repair is None or repair.found.chunk:
        return None
    proposal = propose(repair, set(found), set(wanted), [found], [wanted])
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
    return bool(own > REPAIRED_ODDS / 2 * chance)


def _documents(state: State, repair: Repair) -> Proposal:
    rows, protocol = state.run.rows(), state.audited.first.protocol
    if protocol.collapse != "none" and not protocol.mapping:  # what was compared is the documents
        asked = Step("", "", partial(whole, protocol=protocol), chunk=str(protocol.collapse))
        repair = replace(repair, found=Chain((asked, *repair.found.steps)))
    lists = [rows.documents[span] for span in rows.spans().values()]
    judged = [state.qrels.documents[a:b] for _, a, b in state.qrels.spans()]
    return propose(repair, set(rows.documents), set(state.qrels.documents), lists, judged)


def _judged_lists(state: State) -> Run:
    """Read the lists of the judged queries, which the kernel does faster than Python all rows."""
    inside = np.flatnonzero(state.audited.first.in_run)
    return Run(state.run.source.some([state.qrels.queries[i] for i in inside]), state.run.name)


def _sample(state: State) -> list[Lists]:
    """Give the documents of some queries, evenly chosen, as the protocol names them."""
    placements, lookup = state.audited.first, state.qrels.lookup
    inside = np.flatnonzero(placements.in_run)
    longest = max(1, int(placements.retrieved[inside].mean()))
    count = min(len(inside), max(SAMPLED_QUERIES, SAMPLED_ROWS // longest))
    chosen = inside[np.linspace(0, len(inside) - 1, count).astype(int)]
    queries = [state.qrels.queries[i] for i in dict.fromkeys(chosen.tolist())]
    rows = state.run.source.some(queries)
    protocol = placements.protocol
    return [
        Lists(frozenset(whole(d, protocol) for d in rows.documents[span]), frozenset(lookup[query]))
        for query, span in rows.spans().items()
    ]


def _repaired(case: Case, state: State, proposal: Proposal, what: str) -> tuple[Finding, State]:
    """Apply a proposal to a copy, to count and price what it does."""
    run, qrels, axes = state.run, state.qrels, {}
    rename = {what: lambda name: proposal.mapping.get(name, name)}
    if proposal.mapping and proposal.side == "run":
        run = mapped_run(run, **rename)
    elif proposal.mapping:
        qrels = mapped_qrels(qrels, **rename)
    if proposal.collapse:
        axes["collapse"] = proposal.collapse
    then = case.tried(run, qrels, **axes)
    options = {
        **state.options,
        proposal.side: words.options(state.options, proposal, state.name, what),
    }
    after = State(state.name, run, qrels, then, options)
    return _finding(state, after, proposal, what), after


def _finding(before: State, after: State, proposal: Proposal, what: str) -> Finding:
    now, then = before.audited, after.audited
    met, meets = (len(one.whole.query) for one in (now, then))
    count, total = meets - met, meets
    if what == "queries":
        count, total = len(proposal.meeting), len(after.qrels.queries)
    cost = price(now.evaluation.aggregates, then.evaluation.aggregates)
    mapping = {what: proposal.mapping} if proposal.mapping else {}
    remedy, command = words.remedy(proposal, after.options, _files(before))
    return Finding(
        CODES[what], "error", words.message(proposal, what, count, total), before.name,
        count, total, examples=words.examples(proposal), cost={before.name: cost} if cost else {},
        remedy=remedy, command=command, doc=_WHY, mappings=mapping,
    )  # fmt: skip


def _files(state: State) -> dict[str, str]:
    """Name the files of both sides."""
    return {"run": state.audited.run.source.name, "qrels": state.qrels.name}


def _no_document(state: State) -> Finding:
    placements = state.audited.whole
    query = state.qrels.queries[int(np.argmax(placements.retrieved))]
    found = state.run.source.some([query]).documents[:EXAMPLES]
    return _never(state, "documents", list(state.qrels.lookup[query]), found)


def _never(state: State, what: str, wanted: Sequence[str], found: Sequence[str]) -> Finding:
    """Say that nothing meets and no transformation helps."""
    return Finding(
        f"no-{what}-meet", "error", words.nothing_meets(what, wanted, found), state.name,
        count=len(wanted), total=len(wanted),
        examples=(*(f"judged: {seen(one)}" for one in wanted[:EXAMPLES]),
                  *(f"in the run: {seen(one)}" for one in found[:EXAMPLES])),
        remedy=words.no_repair(what), doc=_WHY,
    )  # fmt: skip
