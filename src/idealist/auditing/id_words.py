"""The words and commands of findings about ids."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from idealist.auditing.finding import mapping_file
from idealist.auditing.proposal import Proposal
from idealist.auditing.thresholds import EXAMPLES
from idealist.doubts.case import seen
from idealist.notation import many

#: How the options of `idealist convert` call what is named.
SHORT = {"queries": "queries", "documents": "docs"}
#: Where commands look for mappings.
FOLDER = "mappings"


def message(proposal: Proposal, what: str, count: int, total: int) -> str:
    """Say how ids differ, and what making them equal does and does not do."""
    pairs = "judged documents" if what == "documents" else "judged queries"
    said = (
        f"{count} of {total} {pairs} are found only when ids are written alike: "
        f"they differ in {proposal.repair.words}"
    )
    for names, one, several in (
        (proposal.clashing, "id would become", "ids would become"),
        (proposal.ambiguous, "id could be", "ids could be"),
    ):
        which = f"({', '.join(map(seen, names[:EXAMPLES]))})"
        merged = "one with another id" + (" of its query" if what == "documents" else "")
        rest = merged if names is proposal.clashing else "more than one of the other side's"
        if names:
            said += f"; {many(len(names), one, several)} {rest} {which} and stay as they are"
    if proposal.spelled:
        said += f"; {many(proposal.spelled, 'id is', 'ids are')} a second spelling of another one"
    return said


def examples(proposal: Proposal) -> tuple[tuple[str, str], ...]:
    """Show some ids as they are and as the other side has them."""
    return tuple(proposal.meeting.items())[:EXAMPLES]


def options(before: Mapping[str, str], proposal: Proposal, run: str, what: str) -> str:
    """Give the options of `idealist convert` for one side, those of an earlier repair included."""
    own = ""
    if proposal.mapping:
        file = f"{FOLDER}/{mapping_file(run, what)}"
        value = proposal.chain.name if proposal.chain else file
        own = f"--map-{SHORT[what]} {shlex.quote(value)}"
    return f"{before.get(proposal.side, '')} {own}".strip()


def remedy(
    proposal: Proposal, chosen: Mapping[str, str], files: Mapping[str, str]
) -> tuple[str, str]:
    """Say what to do, and give the command that does it."""
    said, commands = [], []
    fixed = {**files, proposal.side: _fixed(files[proposal.side])}
    if proposal.mapping:
        said.append(f"write the ids of the {proposal.side} otherwise")
        if proposal.chain is None:
            said[0] += f", by the mapping that audit --save-mappings {FOLDER} writes"
        old, new = (shlex.quote(some[proposal.side]) for some in (files, fixed))
        commands.append(f"idealist convert {old} {new} {chosen[proposal.side]}")
    if pattern := proposal.collapse:
        said.append(f"count chunks as their document: collapse={pattern}")
        after = fixed if proposal.mapping else files
        axis = shlex.quote(f"collapse={pattern}")
        names = f"{shlex.quote(after['qrels'])} {shlex.quote(after['run'])}"
        commands.append(f"idealist eval {names} --set {axis}")
    return "; then ".join(said), " && ".join(commands)


def _fixed(name: str) -> str:
    """Name the file with other ids.

    >>> _fixed("runs/bm25.run.gz"), _fixed("bm25")
    ('runs/bm25.fixed.run.gz', 'bm25.fixed')
    """
    path = Path(name)
    stem, dot, rest = path.name.partition(".")
    return str(path.with_name(f"{stem}.fixed{dot}{rest}"))


def nothing_meets(what: str, wanted: Sequence[str], found: Sequence[str]) -> str:
    """Say that the two sides have nothing in common."""
    none = "judged query is in the run" if what == "queries" else "judged document was retrieved"
    ours, theirs = (", ".join(map(seen, some[:3])) for some in (wanted, found))
    return f"no {none}: judged are {ours}, in the run are {theirs}"


def no_repair(what: str) -> str:
    """Say what is left to do where no transformation was found."""
    return (
        "check that both are about the same collection; if the ids can be translated, do so with "
        f"idealist convert --map-{SHORT[what]} and a file of pairs, old id and new id"
    )
