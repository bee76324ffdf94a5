"""What came of collecting: a row a run with statuses and latencies, and why queries failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from idealist.data import Run
from idealist.formats import read_run
from idealist.formats.collected_runs import STATUSES, CollectedRun
from idealist.formats.run_sources import ObjectRun
from idealist.notation import many
from idealist.rendering.document import (
    COUNT,
    MILLISECONDS,
    TEXT,
    Block,
    Column,
    Document,
    Table,
    Text,
)
from idealist.rendering.result import Result
from idealist.rendering.wording import few
from idealist.significance.percentiles import PERCENTILES, percentiles

#: How many different errors are listed.
SHOWN = 5
#: What is said of answers that are shorter than was wanted, where there was more.
SHORT = "more was found than was sent, and less was sent than k: does the template say {{k}}?"


@dataclass(frozen=True, repr=False)
class Collection(Result):
    """Runs that were collected, by name; `stopped` says why not all queries were asked.

    `doubts` are about the way they were, and `gone` has the queries of each run that it goes on
    with and that are no longer asked.

    ``collection.run`` is the run, or the first of several; all work with every other function.
    """

    collected: Mapping[str, CollectedRun]
    places: Mapping[str, Path | Sequence[Any]]
    stopped: str = ""
    interrupted: bool = False
    doubts: tuple[str, ...] = ()
    gone: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs, as every other function takes them."""
        return tuple(
            read_run(place, name=name)
            if isinstance(place, Path)
            else Run(ObjectRun(place, name), name)
            for name, place in self.places.items()
        )

    @property
    def run(self) -> Run:
        """The run, or the first of several."""
        return self.runs[0]

    @property
    def lacking(self) -> int:
        """How many queries failed, timed out, or were not asked."""
        return sum(_lacking(one) for one in self.collected.values())

    @property
    def summary(self) -> str:
        """How many queries were asked of what, and how many are lacking."""
        first = next(iter(self.collected.values()))
        asked = sum(len(one.answers) for one in self.collected.values())
        runs = f" for {len(self.collected)} runs" if len(self.collected) > 1 else ""
        said = f"{many(asked, 'query was', 'queries were')} asked of {_engine(first)}{runs}"
        count = self.lacking
        verb = "has" if count == 1 else "have"
        return f"{said}; {f'{count} {verb} no answer' if count else 'all have answers'}"

    def report(self) -> Document:
        """Describe the runs: statuses, latencies, and the errors."""
        columns = (
            Column("run", TEXT), *(Column(name, COUNT) for name in STATUSES),
            *(Column(f"p{p} ms", MILLISECONDS) for p in PERCENTILES),
        )  # fmt: skip
        rows = tuple(
            (
                name,
                *(len(one.those(status)) for status in STATUSES),
                *percentiles(_ms(one)).values(),
            )
            for name, one in self.collected.items()
        )
        notes: tuple[Block, ...] = tuple(map(Text, self._notes()))
        return Document((Text(f"{self.summary}.", strong=True), Table(columns, rows)), notes)

    def _notes(self) -> list[str]:
        said = [f"it ended early: {self.stopped}"] if self.stopped else []
        said += [f"doubt: {words}" for words in self.doubts]
        for name, one in self.collected.items():
            said += [f"doubt: {name}: {words}" for words in _errors(one)]
            for words, queries in one.unlike.items():
                which = f"{many(len(queries), 'query', 'queries')} ({few(queries, 3)})"
                said.append(f"doubt: {name}: in {which} {words}")
            if short := sorted(q for q, line in one.answers.items() if line.get("short")):
                which = f"{many(len(short), 'query', 'queries')} ({few(short, 3)})"
                said.append(f"doubt: {name}: in {which} {SHORT}")
            if gone := self.gone.get(name):
                answers = many(len(gone), "answer is of a query", "answers are of queries")
                said.append(f"doubt: {name}: {answers} not given any more ({few(gone, 3)})")
            if one.unasked:
                unasked = many(one.unasked, "query was", "queries were")
                said.append(f"doubt: {name}: {unasked} not asked")
            if _lacking(one):
                again = one.again or "collect(…, output=…, resume=True)"
                said.append(f"ask what is lacking: {again}")
        return said

    def data(self) -> dict[str, Any]:
        """Return all that is known but the hits, as plain data."""
        runs = [
            {
                "run": name,
                "statuses": {status: len(one.those(status)) for status in STATUSES},
                "unasked": one.unasked,
                "latency": percentiles(_ms(one)),
                "collected": dict(one.header),
                "errors": {q: one.answers[q].get("error") for q in one.those(*STATUSES[2:])},
            }
            for name, one in self.collected.items()
        ]
        return {"runs": runs, "stopped": self.stopped}


def _ms(one: CollectedRun) -> list[float]:
    return list(one.milliseconds.values())


def _lacking(one: CollectedRun) -> int:
    return len(one.those("failed", "timed out")) + one.unasked


def _engine(one: CollectedRun) -> str:
    known = [one.header.get("engine"), one.header.get("version")]
    index = one.header.get("index")
    return " ".join(str(part) for part in known if part) + (f" ({index})" if index else "")


def _errors(one: CollectedRun) -> list[str]:
    """Say what went wrong, the most frequent first."""
    wrong = {q: str(one.answers[q].get("error")) for q in one.those(*STATUSES[2:])}
    common = Counter(wrong.values()).most_common()
    said = []
    for error, count in common[:SHOWN]:
        queries = [query for query, words in wrong.items() if words == error]
        said.append(f"{many(count, 'query', 'queries')} ({few(queries, 3)}): {error}")
    if rest := sum(count for _, count in common[SHOWN:]):
        said.append(f"{many(rest, 'query', 'queries')} with other errors")
    return said
