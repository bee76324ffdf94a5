"""Asking a model many questions: each once, some at a time, every answer kept as soon as it comes.

An event loop in a thread of its own speaks to the server. All else happens in the caller's thread,
the writing of answers too, so that one that was kept is on the disk.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from idealist.asking.addresses import OVERHEARD
from idealist.asking.interrupts import YOU, on_interrupt
from idealist.errors import UsageError
from idealist.judging.llm.answers import Answer, Reply, combined, read_answer
from idealist.judging.llm.client import CallFailed, Client, Received
from idealist.judging.llm.endpoints import Endpoint
from idealist.judging.llm.limits import Budget, LimitReached, Spent
from idealist.judging.store_records import Call

if TYPE_CHECKING:
    from idealist.judging.llm.prompts import Prompt
    from idealist.judging.llm.requests import Request
    from idealist.judging.store import Store

#: So many requests in a row that the server did not answer, and nothing more is sent.
GIVEN_UP_IN_A_ROW = 10
#: The same of requests that were refused, or whose answers cannot be read: some documents may be at
#: fault, hardly so many.
FAILED_IN_A_ROW = 100
#: What is kept of a page of errors, in characters.
KEPT = 10_000


@dataclass(frozen=True)
class Question:
    """What a model is asked, once for each sample; `about` is for the one who asks."""

    about: Any
    requests: tuple[Request, ...]


class Came(NamedTuple):
    """What came of a request: an answer, or why there is none; neither if nobody waited for it."""

    answer: Answer | None = None
    call: int | None = None
    seconds: float = 0.0
    lost: str = ""
    cached: bool = False
    sent: bool = False


@dataclass
class Outcome:
    """What became of a question: what came of the request for each sample."""

    question: Question
    came: list[Came] = field(default_factory=list)

    def settle(self, came: Came) -> bool:
        """Note what came of one sample; say whether it was the last."""
        self.came.append(came)
        return len(self.came) == len(self.question.requests)

    @property
    def answers(self) -> list[Answer]:
        """The answers, those that cannot be read too."""
        return [one.answer for one in self.came if one.answer is not None]

    @property
    def answer(self) -> Answer:
        """The answer, or what most of several samples say; only of an outcome that is whole."""
        answers = self.answers
        return answers[0] if len(answers) == 1 else combined(answers)

    @property
    def lost(self) -> str:
        """Why a sample has no answer, if one has none although it was asked."""
        return next((one.lost for one in self.came if one.lost), "")

    @property
    def is_whole(self) -> bool:
        """Whether every sample has an answer."""
        return len(self.answers) == len(self.question.requests)

    @property
    def is_asked(self) -> bool:
        """Whether anything was sent for it, or found."""
        return any(one.answer or one.sent for one in self.came)

    @property
    def seconds(self) -> float:
        """How long the answers took, one after the other."""
        return sum(one.seconds for one in self.came)

    @property
    def is_cached(self) -> bool:
        """Whether nothing had to be sent."""
        return all(one.cached for one in self.came)


@dataclass
class Tally:
    """How far it is: what was sent, what came of it, and what it costs."""

    budget: Budget
    begun: float = field(default_factory=time.monotonic)
    answered: int = 0
    cached: int = 0
    unreadable: int = 0
    lost: int = 0
    stopped: str = ""

    @property
    def failed(self) -> int:
        """Requests without an answer that can be read."""
        return self.unreadable + self.lost

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it."""
        return self.stopped == YOU

    @property
    def why(self) -> str:
        """Why nothing more is sent, in words; empty if all was."""
        if self.is_too_low:
            return f"one request alone could exceed {self.stopped}"
        limit = self.stopped.startswith("--max")
        return f"{self.stopped} would be exceeded" if limit else self.stopped

    @property
    def is_too_low(self) -> bool:
        """Whether a limit does not even let one request through."""
        return self.stopped.startswith("--max") and not self.budget.sent

    @property
    def rate(self) -> float:
        """Answers a second."""
        return (self.answered + self.unreadable) / max(time.monotonic() - self.begun, 1e-9)


class Runner:
    """Asks questions of one prompt, and keeps every call in a store; a context manager.

    A request that the store has an answer to is not sent. Where `stopped` says why, nothing more
    is sent; questions that can be answered without that still are.
    """

    def __init__(
        self, store: Store, prompt: Prompt, endpoint: Endpoint, budget: Budget,
        concurrency: int = 8, settings: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.store, self.prompt, self.settings = store, prompt, settings or {}
        self.tally, self.concurrency = Tally(budget), concurrency
        self.client = Client(endpoint, budget)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._under_way: dict[Future[Received], Request] = {}
        self._waiting: dict[str, list[Outcome]] = {}
        self._given_up = self._failed = 0
        self._error: UsageError | None = None

    def __enter__(self) -> Self:
        prompt = self.prompt
        self.store.add_prompt(prompt.hash, prompt.name, prompt.version, prompt.source)
        self._thread.start()
        endpoint = self.client.endpoint
        if endpoint.is_overheard:
            print(f"doubt: {OVERHEARD.format(place=endpoint.place)}", file=sys.stderr, flush=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _leave(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.client.close()

    def ask(self, questions: Iterable[Question]) -> Iterator[Outcome]:
        """Ask questions; return each when all its samples are answered, lost or left open.

        The first Ctrl-C lets answers that are under way arrive, a second one does not.
        """
        with on_interrupt(lambda: self._stop(YOU)):
            for question in questions:
                outcome = Outcome(question)
                for request in question.requests:
                    yield from self._begin(request, outcome)
            while self._under_way:
                yield from self._collect()
        if self._error is not None:
            raise self._error

    def _begin(self, request: Request, outcome: Outcome) -> Iterator[Outcome]:
        """Find the answer to a request, or send it as soon as there is room."""
        if request.hash in self._waiting:  # another document has the same words
            self._waiting[request.hash].append(outcome)
            return
        known = self.store.answered(request.hash)
        if known is not None:
            self.tally.cached += 1
            answer = read_answer(self.prompt, Reply.of(known.answer))
            yield from _settled([outcome], Came(answer, known.id, known.seconds, cached=True))
            return
        while len(self._under_way) >= self.concurrency:
            yield from self._collect()
        if self.tally.stopped:
            yield from _settled([outcome], Came())
            return
        self._waiting[request.hash] = [outcome]
        asking = asyncio.run_coroutine_threadsafe(self.client.ask(request), self._loop)
        self._under_way[asking] = request

    def _collect(self) -> Iterator[Outcome]:
        """Wait for answers, keep them, and return the questions that are done."""
        for asking in wait(self._under_way, return_when=FIRST_COMPLETED).done:
            request = self._under_way.pop(asking)
            came = self._came(asking, request)
            yield from _settled(self._waiting.pop(request.hash), came)

    def _came(self, asking: Future[Received], request: Request) -> Came:
        try:
            received = asking.result()
        except CallFailed as failed:
            return self._lost(request, failed)
        except LimitReached as reached:
            self._stop(reached.words)
            if reached.spent.tries:
                return self._left(request, reached.spent)
        except UsageError as error:
            self._error = error
            self._stop(error.message)
        else:
            return self._keep(request, received)
        return Came()

    def _lost(self, request: Request, failed: CallFailed) -> Came:
        self.tally.lost += 1
        self._given_up += failed.given_up
        self._count(failed.fault)
        answer = failed.answer[:KEPT]
        call = self._call(request, "failed", failed.spent, fault=failed.fault, answer=answer)
        return Came(call=self.store.record(call), lost=failed.fault, sent=True)

    def _left(self, request: Request, spent: Spent) -> Came:
        """Keep what was spent on a request that nobody waited for any longer."""
        call = self._call(request, "failed", spent, fault="stopped before an answer came")
        return Came(call=self.store.record(call), sent=True)

    def _keep(self, request: Request, received: Received) -> Came:
        """Keep an answer; one that cannot be read has failed, and is asked for again next time."""
        answer = read_answer(self.prompt, Reply.of(received.answer))
        self.tally.unreadable += bool(answer.fault)
        self.tally.answered += not answer.fault
        if answer.fault:
            self._count(answer.fault)
        else:
            self._given_up = self._failed = 0
        call = self._call(
            request, "failed" if answer.fault else "answered", received.spent, fault=answer.fault,
            answer=received.answer, seconds=received.seconds,
        )  # fmt: skip
        number: int | None = self.store.record(call)
        kept = None if answer.fault else self.store.answered(request.hash)
        if kept is not None and kept.answer != received.answer:  # somebody else asked at once
            answer, number = read_answer(self.prompt, Reply.of(kept.answer)), kept.id
        return Came(answer, number, received.seconds, sent=True)

    def _count(self, fault: str) -> None:
        """Stop where nothing but failures comes back."""
        self._failed += 1
        if self._given_up >= GIVEN_UP_IN_A_ROW:
            self._stop(f"{self._given_up} requests in a row had no answer: {fault}")
        elif self._failed >= FAILED_IN_A_ROW:
            self._stop(f"{self._failed} requests in a row failed: {fault}")

    def _call(self, request: Request, state: str, spent: Spent, **given: Any) -> Call:
        said = {
            **request.parameters, **self.settings, "max_tokens": request.sampling.tokens,
            "url": self.client.endpoint.place, "without": list(self.client.without),
            "tries": spent.tries, "estimated": spent.guessed,
        }  # fmt: skip
        price = self.tally.budget.price
        return Call(
            request.hash, request.model, self.prompt.hash, said, state, **spent.usage._asdict(),
            cost=price.of(spent.usage) if price else 0.0, **given,
        )  # fmt: skip

    def stop(self) -> None:
        """Send nothing more, at somebody's wish, from any thread; answers under way may arrive."""
        with suppress(RuntimeError):  # it has ended meanwhile
            self._stop(YOU)

    def _stop(self, words: str) -> None:
        self.tally.stopped = self.tally.stopped or words
        self._loop.call_soon_threadsafe(self.client.stop)


def _settled(outcomes: Iterable[Outcome], came: Came) -> Iterator[Outcome]:
    """Note what came of a request; return the questions that are done with it."""
    return (outcome for outcome in outcomes if outcome.settle(came))
