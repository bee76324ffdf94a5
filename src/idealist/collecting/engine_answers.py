"""What an engine answered to one query: its hits, or the reason why there are none.

Where a response keeps what, and how it shows a failure, is said in the one table of engines.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from idealist.asking.secret_texts import Secrets
from idealist.data.columns import to_float, to_id
from idealist.errors import Faults, InputError, UsageError
from idealist.formats.cells import shown
from idealist.formats.collected_runs import BY_SCORE, UNLIKE
from idealist.formats.engines import hits
from idealist.formats.engines.responses import Response
from idealist.formats.engines.table import Engine, at, total_of, trouble_in
from idealist.formats.reading import Reading, ReadOptions


class Hit(NamedTuple):
    """A document that was found; without a score its place in the list ranks it."""

    id: str
    score: float | None = None
    text: str = ""


@dataclass(frozen=True)
class Answer:
    """What came of one search: a status as collected runs have it, and hits or an error.

    `seconds` is how long the search took as we saw it, `took` the milliseconds that the engine
    says it needed, `total` how many documents matched, and `order` what ranked the hits, where that
    is doubtful. It `is_short` where more matched than were sent, and more were wanted.
    """

    status: str
    hits: tuple[Hit, ...] = ()
    error: str = ""
    seconds: float = 0.0
    total: int | None = None
    took: float | None = None
    order: str = ""
    is_short: bool = False


class Busy(Exception):
    """An engine may answer next time, after a `wait` in seconds; `seconds` it took to say so.

    It `is_unreached` if no connection could be made.
    """

    def __init__(
        self, words: str, wait: float = 0.0, seconds: float = 0.0, is_unreached: bool = False
    ) -> None:
        super().__init__(words)
        self.wait, self.seconds, self.is_unreached = wait, seconds, is_unreached


class Hopeless(UsageError):
    """No query would be answered: the address, the key or the rights are wrong."""


def failed(error: str, seconds: float = 0.0) -> Answer:
    """Make the answer of a search that failed."""
    return Answer("failed", error=error, seconds=seconds)


def timed_out(limit: float, seconds: float) -> Answer:
    """Make the answer of a search that took too long."""
    return Answer("timed out", error=f"no answer within {limit:g} seconds", seconds=seconds)


def masked(answer: Answer, secrets: Secrets) -> Answer:
    """Take secrets out of words and texts; an id that holds one cannot be written, nor changed."""
    if not secrets.has_any:
        return answer
    ids = "\n".join(hit.id for hit in answer.hits)
    if secrets.scrub(ids) != ids:
        return failed("the id of a hit holds a key from the environment", answer.seconds)
    hits = tuple(hit._replace(text=secrets.scrub(hit.text)) for hit in answer.hits)
    return replace(answer, error=secrets.scrub(answer.error), hits=hits)


@dataclass(frozen=True)
class ResponseReader:
    """Reads what an engine answers: at most `k` hits, and the texts of these `fields`.

    `options` may name the field that is the id, or the score.
    """

    engine: Engine
    k: int
    fields: Sequence[str] = ()
    options: ReadOptions = field(default_factory=ReadOptions)

    def answer(self, body: Any, seconds: float) -> Answer:
        """Read a response; one that cannot be read is a failed search."""
        if not isinstance(body, Mapping):
            return failed(f"cannot read {shown(body)} as the response of {self.engine.name}")
        means, words = trouble_in(body, self.engine)
        if means == "failed":
            return failed(words, seconds)
        try:
            found = self._hits(body)
        except InputError as error:
            return failed(words or error.faults[0].message.removeprefix("query '': "), seconds)
        if words and not found:  # nobody knows whether there is nothing
            return Answer(means if means == "timed out" else "failed", (), words, seconds)
        total = total_of(body, self.engine)
        status = "partial" if words else "ok" if found else "empty"
        order = "" if is_falling(found) else UNLIKE
        if order and self.engine.by_score:
            found, order = tuple(sorted(found, key=lambda hit: -(hit.score or 0.0))), BY_SCORE
        found = found[: self.k]
        if twice := repeated(hit.id for hit in found):
            return failed(twice, seconds)
        is_short = status == "ok" and total is not None and len(found) < min(total, self.k)
        took = at(body, self.engine.took) if self.engine.took else None
        took = float(took) if isinstance(took, (int, float)) else None
        return Answer(status, found, words, seconds, total, took, order, is_short)

    def _hits(self, body: Mapping[str, Any]) -> tuple[Hit, ...]:
        """Take ids and scores out of a response, as reading it from a file does."""
        faults = Faults()
        raw = hits.listed("", Response(None, body, self.engine, faults), self.engine)
        raw = raw if self.engine.by_score else raw[: self.k]
        if not raw:
            return ()
        pairs = hits.as_sent(raw, self.engine, Reading("score", faults, self.options))
        texts = [self._text(hit) for hit in raw] if self.fields else [""] * len(raw)
        return tuple(
            _hit(id_, score, text, faults) for (id_, score), text in zip(pairs, texts, strict=True)
        )

    def _text(self, hit: Any) -> str:
        found = (
            next(
                (cell for path in hits.paths_of([name], self.engine) if (cell := at(hit, path))), ""
            )
            for name in self.fields
        )
        parts = (" ".join(map(str, one)) if isinstance(one, list) else str(one) for one in found)
        return "\n\n".join(filter(None, parts))


def _hit(document: Any, score: Any, text: str, faults: Faults) -> Hit:
    try:
        number = None if score is None else to_float(score)
        if number is not None and not math.isfinite(number):
            raise ValueError(score)
        return Hit(to_id(document), number, text)
    except (TypeError, ValueError, OverflowError):
        faults.fail("bad-shape", f"cannot read the hit {shown(document)} with score {shown(score)}")


def repeated(ids: Iterable[str]) -> str:
    """Say which document is listed twice, which no run may; nothing where none is."""
    most = Counter(ids).most_common(1)
    return f"document {most[0][0]!r} is listed twice" if most and most[0][1] > 1 else ""


def is_falling(found: Sequence[Hit]) -> bool:
    """Whether the scores follow the order of the hits, or there are none.

    >>> is_falling([Hit("a", 2.0), Hit("b", 1.0)]), is_falling([Hit("a", 1.0), Hit("b", 2.0)])
    (True, False)
    """
    scores = [hit.score for hit in found]
    return None in scores or all((a or 0) >= (b or 0) for a, b in pairwise(scores))
