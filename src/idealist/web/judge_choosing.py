"""Choosing what to judge: by which strategy, of which runs, in which order, and by which rules."""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from idealist.errors import UsageError
from idealist.formats.grade_words import scale_of
from idealist.judging.choosing.pooling import STRATEGIES, pool
from idealist.judging.store import Store
from idealist.judging.store_records import Batch, Pooled
from idealist.judging.work_ahead import PEOPLE
from idealist.notation import tidy, to_number
from idealist.web.found_files import FoundFile
from idealist.web.page_state import PageState
from idealist.web.visit import Moved, NothingToDo, Page, Visit

#: The way of the page Judge on which an editor chooses what is judged.
CHOOSE = "choose"
#: Strategies that can be chosen, in words.
WORDS = {
    "depth": "the first documents of every run",
    "fusion": "those that the runs together rank highest",
    "mtf": "move-to-front: follow the runs that find most",
    "maxmean": "MaxMean: follow the runs that find most on average",
    "sampled": "a sample with known probabilities, for unbiased estimates",
    "decisive": "those that could change which run is better",
}
#: What the fields of numbers are called on the page.
FIELDS = {
    "depth": "depth of each run", "budget": "documents in all",
    "per_query": "documents for each query", "people": "people for each",
}  # fmt: skip
#: Strategies in which it does not matter what is judged first.
ANY_ORDER = frozenset({"depth", "fusion", "sampled"})
#: The most people who judge one document, the longest guidelines, and the most of any number.
MOST_PEOPLE, LONGEST, HIGHEST = 20, 20_000, 10**6
#: A grade and its label on a line of their own.
_GRADE = re.compile(r"\s*(-?\d[\d.]*)\s*[=:.)-]?\s*(.*?)\s*$")


@dataclass(frozen=True)
class Wish:
    """What an editor asks for: a strategy and its limits, an order, and how many people."""

    strategy: str
    limits: Mapping[str, int]
    shuffled: bool
    people: int
    runs: tuple[str, ...]

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> Wish:
        """Read what a form says."""
        strategy = str(sent.get("strategy") or "depth")
        if strategy not in STRATEGIES:
            raise UsageError(
                f"there is no strategy {strategy!r:.40}", f"say {', '.join(STRATEGIES)}"
            )
        given = {name: _whole(sent, name) for name in ("depth", "budget", "per_query")}
        if strategy == "decisive":  # which looks at what can decide, however deep
            given.pop("depth")
        limits = {name: value for name, value in given.items() if value is not None}
        people = _whole(sent, "people", MOST_PEOPLE) or 1
        order = str(sent.get("order") or "random")
        if order not in ("random", "chosen"):
            raise UsageError(f"there is no order {order!r:.40}", "say random or chosen")
        runs = [value for name, value in sent.items() if name.startswith("run-")]
        listed = sent.get("runs", [])
        runs += listed if isinstance(listed, list) else [listed]
        return cls(
            strategy, limits, order == "random" and strategy in ANY_ORDER, people,
            tuple(dict.fromkeys(map(str, runs))),
        )  # fmt: skip


def _whole(sent: Mapping[str, Any], name: str, most: int = HIGHEST) -> int | None:
    words = str(sent.get(name) or "").strip()
    if not words:
        return None
    if not (words.isascii() and words.isdecimal() and len(words) < 9 and 1 <= int(words) <= most):
        hint = f"give a whole number from 1 to {most:,}, or nothing"
        raise UsageError(f"{FIELDS[name]} cannot be {words!r:.40}", hint)
    return int(words)


def page(visit: Visit, store: Store | None) -> Page:
    """Show what can be chosen; to those who may not choose, say whom to ask."""
    workspace, may_edit = visit.workspace, visit.person.may("edit")
    runs = list(workspace.runs) if may_edit else []
    judged = [one for one in workspace.judged if one.role != "store"]
    filled = {
        "store": store, "may_edit": may_edit, "runs": runs, "strategies": WORDS,
        "any_order": ANY_ORDER, "judged": judged[:1], "chosen": bool(store and _has_batch(store)),
        "has_documents": bool(_texts_of(visit, "documents")), "scale": _scale_words(store),
        "guidelines": store.guidelines if store else "",
    }  # fmt: skip
    data = {"store": store is not None, "tasks": [], "strategies": list(WORDS), "runs": runs}
    return Page("Judge", "judge_choose.html", filled, lambda: data)


def _has_batch(store: Store) -> bool:
    with store.reading() as connection:
        return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM batch)").fetchone()[0])


def _scale_words(store: Store | None) -> str:
    """Write a scale as it can be typed again: a grade a line."""
    scale = store.scale if store else None
    if scale is None:
        return ""
    return "\n".join(f"{tidy(grade)} {label}".strip() for grade, label in scale.pairs)


def choose(visit: Visit) -> Moved:
    """Choose documents of runs, and put them into the store; make one first where there is none."""
    wish, workspace = Wish.of(visit.sent), visit.workspace
    state, store = _stored(visit)
    runs = workspace.read_runs(wish.runs or tuple(workspace.runs))
    if not runs:
        raise UsageError("there are no runs to choose documents from", "put runs into the folder")
    found = pool(str(store.path), list(runs.values()), by=wish.strategy, **wish.limits)
    if found.chosen or found.closes(store):
        store.add_batch(_in_order(found.batch, wish))
    if not found.chosen:
        raise NothingToDo(found.summary, "look deeper, or add runs")
    _add_texts(visit, store)
    return Moved(state.kept().address("/judge"))


def _stored(visit: Visit) -> tuple[PageState, Store]:
    """Return the store of a page; make one first where there is none."""
    state, workspace = visit.state, visit.workspace
    store = workspace.store(state)
    if store is None:
        state = replace(state, judgments=workspace.make_store(state))
        store = workspace.store(state)
    if store is None:
        raise UsageError("the store cannot be found", "look under Files what it is taken for")
    return state, store


def _in_order(batch: Batch, wish: Wish) -> Batch:
    """Put documents in a random order within each query, so that none tells its rank."""
    parameters = {**batch.parameters, PEOPLE: wish.people}
    if not wish.shuffled:
        return replace(batch, parameters=parameters)
    seed = secrets.randbits(32)
    turns: dict[str, list[Pooled]] = {}
    for one in sorted((one for one in batch.pooled if one.place is not None), key=_place):
        turns.setdefault(one.query, []).append(one)
    draw = random.Random(seed)
    for some in turns.values():
        draw.shuffle(some)
    drawn = [one for some in turns.values() for one in some]
    placed = [replace(one, place=place) for place, one in enumerate(drawn, 1)]
    others = [one for one in batch.pooled if one.place is None]
    return replace(batch, pooled=(*placed, *others), parameters={**parameters, "shuffled": seed})


def _place(one: Pooled) -> int:
    return one.place or 0


def _texts_of(visit: Visit, role: str) -> list[FoundFile]:
    return [one for one in visit.workspace.files().values() if one.role == role]


#: Documents that are to be judged, and have no text in the store.
_LACKING = """
SELECT DISTINCT document FROM turn
WHERE NOT EXISTS (SELECT 1 FROM document WHERE document.document = turn.document)
"""


def lacking_texts(visit: Visit, store: Store) -> int:
    """Count documents to be judged whose text the folder may have and the store has not."""
    if not _texts_of(visit, "documents"):
        return 0
    with store.reading() as connection:
        return int(connection.execute(f"SELECT COUNT(*) FROM ({_LACKING})").fetchone()[0])


def _add_texts(visit: Visit, store: Store) -> int:
    """Copy what judges are shown, and the store lacks, from the folder's files."""
    with store.reading() as connection:
        documents = [one for (one,) in connection.execute(_LACKING)]
    known = visit.workspace.queries
    return visit.workspace.tell_store(store, known or (), documents)


def add_texts(visit: Visit) -> Moved:
    """Add the texts that documents to be judged lack."""
    if not _add_texts(visit, visit.store):
        hint = "put a file with these documents into the folder"
        raise UsageError("no file in the folder has the texts that are missing", hint)
    return Moved(visit.state.address("/judge"))


def set_rules(visit: Visit) -> Moved:
    """Set the guidelines and the scale; make a store first where there is none."""
    guidelines, scale = (str(visit.sent.get(name) or "") for name in ("guidelines", "scale"))
    if len(guidelines) > LONGEST or len(scale) > LONGEST:
        raise UsageError(f"more than {LONGEST:,} characters", "shorten it")
    grades = typed_scale(scale)
    state, store = _stored(visit)
    store.set(scale=grades, guidelines=guidelines.replace("\r\n", "\n").strip())
    return Moved(state.address("/judge"))


def typed_scale(words: str) -> Any:
    """Read a scale: a grade a line with its label, or in one line as the command line has it.

    >>> typed_scale("0 off topic\\n1 = answers"), typed_scale("0..2"), typed_scale("")
    ({0: 'off topic', 1: 'answers'}, [0, 1, 2], None)
    """
    lines = [line for line in words.splitlines() if line.strip()]
    if len(lines) < 2:
        try:
            return scale_of(lines[0]) if lines else None
        except UsageError:
            hint = "write 0..3, or a grade a line with its meaning: 2 answers it"
            raise UsageError(f"{words.strip()!r:.60} is not a scale of grades", hint) from None
    found: dict[float, str] = {}
    for line in lines:
        match = _GRADE.match(line)
        try:
            grade = to_number(match[1]) if match else None
        except ValueError:
            grade = None
        if match is None or grade is None or grade in found:
            raise UsageError(f"{line!r:.60} is not a grade and its label", "write: 2 answers it")
        found[grade] = match[2]
    return found if any(found.values()) else list(found)
