"""The words and commands of findings about ids."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from idealist.auditing.ids.proposal import Proposal
from idealist.evaluating.doubt_case import file_word, shell
from idealist.formats.id_mapping import mapping_file
from idealist.formats.id_steps import STEPS
from idealist.formats.source import STDIN, plain_suffix
from idealist.formats.writing import WRITTEN
from idealist.notation import many
from idealist.rendering.doubt import EXAMPLES
from idealist.rendering.wording import visible

if TYPE_CHECKING:
    from idealist.auditing.audit_case import AuditCase
    from idealist.auditing.ids import State
    from idealist.auditing.ids.alignment import Elsewhere
    from idealist.rendering.doubt import Doubt


#: How people call the sides.
SIDES = {"run": "run", "qrels": "judgments"}
#: How the options of `idealist convert` call what is named.
SHORT = {"queries": "queries", "documents": "docs"}
#: Where commands look for mappings.
FOLDER = "mappings"
#: What to do where lists are under the wrong queries and values are lower under the right ones.
ORDER_TOO = (
    "mend the order of the lists first, which seems to be wrong too, and audit the run again"
)


def counted(
    proposal: Proposal, pairs: Sequence[tuple[State, State]], what: str
) -> tuple[int, int, str]:
    """Count what matches with the repair only, of how much; say what matches without, and never.

    All runs count together, of documents those that are judged for queries of the run.
    """
    if proposal.unified:
        count, total = len(proposal.mapping), len({*getattr(pairs[0][0].qrels, what)})
        said = f"judgments and runs both write {what} in more than one way"
        return count, total, f"{said}, the judgments {count} of {total}"
    met, meets = (sum(pair[i].met(what) for pair in pairs) for i in (0, 1))
    total, count = sum(after.judged(what) for _, after in pairs), meets - met
    parts = [(met, "match now"), (total - met - count, "match neither way")]
    rest = ", ".join(f"{number} {how}" for number, how in parts if number)
    said = f"{count} of {total} judged {what} match only once ids are written alike"
    return count, total, said + (f" ({rest})" if rest else "")


def message(proposal: Proposal, what: str, said: str) -> str:
    """Say how ids differ, and what making them equal does and does not do."""
    merged = "would become one with another id" + (" of the same query" * (what == "documents"))
    chunks = proposal.side == "qrels" and proposal.repair.wanted.chunk
    said += ": the judgments name chunks; they" if chunks else ": they"
    said += f" differ in {proposal.repair.words}"
    for names, words in (
        (proposal.clashing, f"{merged}, and stay as they are"),
        (proposal.ambiguous, "could be more than one of the other side's, and stay as they are"),
        (
            () if chunks else proposal.joined,
            f"would become one with another id of the {SIDES[proposal.side]}, in other queries",
        ),
    ):
        if names:
            which = ", ".join(map(visible, names[:EXAMPLES]))
            said += f"; {many(len(names), 'id', 'ids')} ({which}) {words}"
    return said


def options(proposal: Proposal, run: str, what: str) -> tuple[str, str]:
    """Return the option of `idealist convert` that makes a repair."""
    own = run if proposal.side == "run" else ""
    value = proposal.chain.name if proposal.chain else f"{FOLDER}/{mapping_file(own, what)}"
    return f"--map-{SHORT[what]}", value


def remedy(
    case: AuditCase, then: Sequence[State], proposal: Proposal, what: str
) -> tuple[str, str]:
    """Say what to do, and write the commands that do it, earlier repairs included."""
    said, given = f"rewrite the ids of the {SIDES[proposal.side]}", proposal.collapse
    if given:
        said = "count chunks as their document"
    if given and isinstance(given, str):
        said += f": collapse={given}"
    elif proposal.chain is None:
        said += f", by the mapping that audit --save-mappings {FOLDER} writes"
    files = _files(case, then)
    needed = files[0] if given else {side: files[0][side] for side in then[0].options}
    if not all(Path(name).exists() for name in needed.values()):  # nor is standard input enough
        return f"{said}; {_in_python(proposal, what, needed)}", ""
    axes = collapsing(proposal, then[0].name)
    lenient = case.leniency(state.name for state in then)

    def evaluated(new: Mapping[tuple[str, str], str]) -> str:
        return shell(case.evaluator, "eval", [*new.values()], **lenient, **axes)

    return said, " && ".join(_commands(case, then, axes, evaluated))


def collapsing(proposal: Proposal, run: str) -> dict[str, str]:
    """Write the axis that makes documents of chunks: a pattern, or the file of the mapping."""
    given = proposal.collapse
    file = f"{FOLDER}/{mapping_file(run, 'documents')}"
    return {"collapse": given if isinstance(given, str) else file} if given else {}


def _files(case: AuditCase, then: Sequence[State]) -> list[dict[str, str]]:
    """Name the files of both sides, for every run."""
    return [
        {"qrels": case.qrels.name, "run": case.runs[state.name].run.source.name} for state in then
    ]


def all_repairs(case: AuditCase, states: Sequence[State], typed: Sequence[str]) -> str:
    """Write the commands that make all repairs, and then do what was typed; empty if none can."""
    pairs = [*zip(states, _files(case, states), strict=True)]
    rewritten = [own[side] for state, own in pairs for side in state.options]
    if not any(state.options or state.axes for state in states):
        return ""
    if not all(Path(name).exists() for name in rewritten):
        return ""
    axes = {axis: value for state in states for axis, value in state.axes.items()}

    def again(new: Mapping[tuple[str, str], str]) -> str:
        files: dict[str, list[str]] = {}
        for (_, old), name in new.items():
            files.setdefault(file_word(old), []).append(file_word(name))
        return typed_again(typed, files, axes)

    return " && ".join(_commands(case, states, axes, again))


def typed_again(
    typed: Sequence[str], files: Mapping[str, Sequence[str]], axes: Mapping[str, str]
) -> str:
    """Write a command as it was typed, with other files and axes.

    A file that held both sides is followed by both of its new ones.

    >>> typed_again(["eval", "q.txt", "a.run", "-m", "AP"], {"a.run": ["b.run"]}, {"ties": "best"})
    'idealist eval q.txt b.run -m AP --set ties=best'
    """
    words, left = [], {old: [*new] for old, new in files.items()}
    for word in typed:
        option, sign, value = word.rpartition("=") if word.startswith("--") else ("", "", word)
        new = left.get(str(Path(value)), [value])
        taken = new if typed.count(word) == 1 else [new.pop(0) if len(new) > 1 else new[0]]
        words += [f"{option}{sign}{name}" for name in taken]
    for axis, value in axes.items():
        given = next((i for i, word in enumerate(words) if word.startswith(f"{axis}=")), 0)
        if given:  # behind its --set
            del words[given - 1 : given + 1]
        words += ["--set", f"{axis}={value}"]
    return shlex.join(["idealist", *words])


def _commands(
    case: AuditCase, then: Sequence[State], axes: Mapping[str, str],
    last: Callable[[Mapping[tuple[str, str], str]], str],
) -> Iterator[str]:  # fmt: skip
    """Save the mappings, where there are some, write new files, and use these at last."""
    files = _files(case, then)
    converts: dict[tuple[str, str], str] = {}
    new: dict[tuple[str, str], str] = {}
    for state, own in zip(then, files, strict=True):
        for side, name in own.items():
            new.setdefault((side, name), name)
            if side in state.options:
                new[side, name] = _fixed(name, side if own["qrels"] == own["run"] else "")
                options = (*state.options[side], *case.qrels.read_with)
                converts[side, name] = _convert(name, new[side, name], side, options)
    given = case.files()
    how = [word for state in then for own in state.options.values() for word in own]
    if given and any(word.startswith(f"{FOLDER}/") for word in (*how, *axes.values())):
        flags = ("--save-mappings", FOLDER, "--fail-on", "never")
        yield shell(case.evaluator, "audit", given, *flags)
    yield from converts.values()
    if given:
        yield last(new)


def _in_python(proposal: Proposal, what: str, names: Mapping[str, str]) -> str:
    """Say what to do with data that is in no file."""
    if STDIN in names.values():
        return "save what came by standard input to a file, and audit that"
    how = f"finding.mappings[{what!r}]" if proposal.mapping else repr(proposal.collapse)
    if proposal.collapse:
        return f"in Python: evaluate(qrels, run, collapse={how})"
    return f"in Python: map_ids(read_{proposal.side}({proposal.side}), {what}={how})"


def _convert(name: str, new: str, side: str, options: Sequence[str]) -> str:
    kind = [] if plain_suffix(name) in (".run", ".qrels") else ["--kind", side]
    return shlex.join(["idealist", "convert", *map(file_word, (name, new)), *kind, *options])


def _fixed(name: str, side: str = "") -> str:
    """Name a new file for other ids; `side` tells two files apart that are made of one.

    What cannot be written as it was, such as a folder of responses, becomes a table.

    >>> _fixed("runs/bm25.run.gz"), _fixed("responses"), _fixed("pairs.json", "run")
    ('runs/bm25.fixed.run.gz', 'responses.fixed.csv', 'pairs.run-fixed.json')
    """
    path, tried = Path(name), 1
    stem, dot, rest = path.name.partition(".")
    if not plain_suffix(name) or plain_suffix(name) not in WRITTEN:
        dot, rest = ".", f"{rest}.csv".lstrip(".")
    word = f"{side}-fixed" if side else "fixed"
    while True:
        new = path.with_name(f"{stem}.{word}{tried if tried > 1 else ''}{dot}{rest}")
        if not new.exists():
            return str(new)
        tried += 1


def nothing_meets(what: str, wanted: Sequence[str], found: Sequence[str]) -> str:
    """Say that the two sides have nothing in common."""
    none = "judged query is in the run" if what == "queries" else "judged document was retrieved"
    ours, theirs = (", ".join(map(visible, some[:3])) for some in (wanted, found))
    return f"no {none}: judged are {ours}, in the run are {theirs}"


def misplaced(found: Elsewhere, total: int) -> str:
    """Say that lists, of which some were looked at, stand under the ids of other queries."""
    looked = len(found.places)
    some = f"{found.better} of {looked} lists{' looked at' * (looked < total)}"
    better = f"{some} fit the judgments of another query better than those of their own"
    if not found.step:
        return f"lists stand under the ids of other queries: {better}"
    places = many(abs(found.step), "place", "places")
    where = f"{places} {'after' if found.step > 0 else 'before'}"
    return f"each list seems to be that of the query {where}: {better}"


def finding_of(finding: Doubt) -> str:
    """Say what was found about ids, with one example of how they differ."""
    pairs = [one for one in finding.examples if isinstance(one, tuple)]
    such = f" ({visible(pairs[0][0])} → {visible(pairs[0][1])})" if pairs else ""
    return f"{finding.finding}{such}"


def remedy_of(finding: Doubt) -> str:
    """Say in a few words what to do about ids that do not meet."""
    if not finding.code.startswith("no-"):
        return finding.remedy.partition(": ")[0]
    short = SHORT["queries" if finding.code == "no-queries-meet" else "documents"]
    pairs = f"idealist convert --map-{short} FILE rewrites them by pairs of old and new ids"
    return f"check that both are of the same collection; if they are, {pairs}; the audit says more"


def no_repair(what: str) -> str:
    """Say what is left to do where no transformation was found."""
    return (
        "check that both are about the same collection; if one id can be made of the other, use "
        f"idealist convert --map-{SHORT[what]} with {', '.join(step.name for step in STEPS)}, "
        "several joined by +, or with a file of pairs, old id and new id"
    )
