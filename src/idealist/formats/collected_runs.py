"""Runs that `idealist collect` wrote: JSON lines, one a query that was asked, whatever came of it.

The first line says what was asked and how. A query that is asked again gets another line, and its
last one counts. A failed query has no hits: it is missing from the run, which is not the same as an
engine that finds nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from idealist.errors import Faults
from idealist.formats.cells import checked_id, shown
from idealist.formats.engines import hits
from idealist.formats.engines.table import Engine, Score
from idealist.formats.reading import Reading
from idealist.formats.source import HEAD, Source
from idealist.notation import many
from idealist.rendering.wording import few

#: The key of the line that says how a run was collected, with the version of what follows.
HEADER, VERSION = "collected", 1
START = b'{"collected":'
#: What can come of a query. The hits of the first three count; an empty list was found empty.
STATUSES = ("ok", "empty", "partial", "failed", "timed out")
ANSWERED = STATUSES[:3]
#: What ranked the hits of an answer whose scores say another order.
UNLIKE, BY_SCORE = "unlike scores", "by score"
#: A line as an engine's response: the scores in it are larger where they are better.
LINES = Engine("idealist collect", ("hits",), ("id",), (Score("score"),), is_ours=True)


@dataclass
class CollectedRun:
    """What was collected: the last `header`, and the last line of each query."""

    header: Mapping[str, Any] = field(default_factory=dict)
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, records: Iterable[Any], faults: Faults, lines: Sequence[int] | None = None
    ) -> CollectedRun:
        """Sort lines by query; refuse what `collect` did not write."""
        found = cls()
        for number, record in enumerate(records):
            line = lines[number] if lines else None
            if isinstance(record, Mapping) and record.get(HEADER) == VERSION:
                found.header = record
            elif not isinstance(record, Mapping) or record.get("status") not in STATUSES:
                hint = "leave a collected run as it was written; --resume adds to it"
                faults.fail("bad-shape", f"cannot read {shown(record)}", hint, line)
            elif (query := checked_id(record.get("query"), faults, line)) is not None:
                found.answers[query] = record
        faults.check()
        return found

    def those(self, *statuses: str) -> tuple[str, ...]:
        """Name the queries of some statuses, sorted: who answers first is chance."""
        return tuple(sorted(q for q, one in self.answers.items() if one["status"] in statuses))

    def ordered(self, how: str) -> tuple[str, ...]:
        """Name the queries whose scores say another order than their hits came in, sorted."""
        return tuple(sorted(q for q, one in self.answers.items() if one.get("order") == how))

    @property
    def unlike(self) -> dict[str, tuple[str, ...]]:
        """The queries whose scores say another order than their hits came in, by what is said."""
        said = {
            UNLIKE: "the scores contradict the order of the hits, and the order ranks them",
            BY_SCORE: "the rows are not in the order of their scores, which rank them: "
            "score from the largest, distance from the smallest",
        }
        return {words: found for how, words in said.items() if (found := self.ordered(how))}

    @property
    def unasked(self) -> int:
        """How many queries were still to be asked."""
        wanted = self.header.get("queries")
        return max(0, wanted - len(self.answers)) if isinstance(wanted, int) else 0

    @property
    def again(self) -> str:
        """The command that asks what is missing."""
        return str(self.header.get("again") or "")

    @property
    def milliseconds(self) -> dict[str, float]:
        """How long each answer took, as whoever asked saw it; at least, of what timed out."""
        timed = self.those(*ANSWERED, "timed out")
        found = {query: self.answers[query].get("ms") for query in timed}
        return {query: float(ms) for query, ms in found.items() if isinstance(ms, (int, float))}


def is_collected(data: Any) -> bool:
    """Whether text, or parsed lines, begin as a collected run does.

    >>> is_collected(b'{"collected": 1, "engine": "Solr"}'), is_collected([{"query": "q1"}])
    (True, False)
    """
    if isinstance(data, bytes):
        return data.startswith(START)
    return (
        isinstance(data, Sequence)
        and bool(data)
        and isinstance(data[0], Mapping)
        and data[0].get(HEADER) == VERSION
    )


def whole_lines(text: bytes) -> bytes:
    """Leave out the end of a collected run that was killed while it wrote its last line."""
    if is_collected(text) and not text.endswith(b"\n"):
        rest, _, last = text.rpartition(b"\n")
        with suppress(ValueError):
            json.loads(last)
            return text
        return rest
    return text


def read_collected(source: Source) -> CollectedRun | None:
    """Read what was collected; None for a file that is another run."""
    if not is_collected(source.head(HEAD)):
        return None
    text = whole_lines(source.read())
    records = [json.loads(line) for line in text.split(b"\n") if line.strip()]
    return CollectedRun.of(records, Faults(source.name))


def lists(
    data: Any, reading: Reading, lines: Sequence[int] | None = None
) -> dict[str, list[Any]] | None:
    """Read a collected run as ``{query: [(document, score), …]}``; None for anything else."""
    if not is_collected(data):
        return None
    if reading.value == "grade":
        hint = "give judgments first, then runs"
        reading.faults.fail("bad-shape", "this is a collected run, not judgments", hint)
    found = CollectedRun.of(data, reading.faults, lines)
    if not found.those(*ANSWERED):
        _refuse(found, reading.faults)
    _remark(found, reading)
    listed = {query: list(found.answers[query]["hits"]) for query in found.those(*ANSWERED)}
    return hits.ranked(listed, LINES, reading)


def _refuse(found: CollectedRun, faults: Faults) -> None:
    why = next((str(one.get("error")) for one in found.answers.values()), "nothing was asked")
    message = f"no query of this run was answered: {why}"
    faults.fail("failed-search", message, f"ask again: {found.again or 'collect with resume'}")


def _remark(found: CollectedRun, reading: Reading) -> None:
    """Say which queries have no answer, or a part of one: their values say little of a ranking."""
    if failed := found.those("failed", "timed out"):
        slow = len(found.those("timed out"))
        how = {"failed": len(failed) - slow, "timed out": slow}
        which = " and ".join(
            f"{many(count, 'query', 'queries')} {verb}" for verb, count in how.items() if count
        )
        it = "it is" if len(failed) == 1 else "they are"
        lost = f"{it} missing from the run, not empty; collect --resume asks again"
        message = f"{which} ({few(failed)}): {lost}"
        reading.remark("failed-queries", message, len(failed), "warning", failed, found.again)
    if partial := found.those("partial"):
        has = many(len(partial), "query has", "queries have")
        message = f"{has} a partial answer ({few(partial)}): hits may be missing"
        reading.remark("partial-queries", message, len(partial), "warning", partial, found.again)
    for words, queries in found.unlike.items():
        message = f"in {many(len(queries), 'query', 'queries')} ({few(queries)}) {words}"
        reading.remark("scores-unlike-order", message, len(queries), "warning", queries)
    if count := found.unasked:
        of = f"{count} of {found.header['queries']} queries were"
        message = f"{of if count > 1 else of.replace('were', 'was')} not asked"
        reading.remark("unasked-queries", message, count, "warning", command=found.again)
