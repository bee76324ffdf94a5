"""Asking all queries: some at a time, at a given rate, again where that helps, each answer kept.

Threads ask, each over connections of its own. Whoever has an answer writes it at once. The caller's
thread watches: it shows how far it is, and gives up searches that do not heed their time-out.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from idealist.asking.interrupts import YOU, on_interrupt
from idealist.asking.patience import pause_after
from idealist.collecting.asked_queries import AskedQuery
from idealist.collecting.collected_files import CollectedFile, now
from idealist.collecting.engine_answers import Answer, Busy, Hopeless, failed, masked, timed_out
from idealist.collecting.search_source import OpenedSearch, SearchSource
from idealist.formats.collected_runs import ANSWERED

#: So many queries in a row without any answer of the server, or failed, and no more are asked.
UNANSWERED_IN_A_ROW, FAILED_IN_A_ROW = 10, 100
#: How many other queries are asked before an address, an index or a key is said to be wrong.
PROBES = 5
#: Seconds that a search may take beyond its time-out before it is left alone.
GRACE = 1.0
#: Seconds between two looks at what goes on, and of the first pause before a query is asked again.
LOOK, FIRST_PAUSE = 0.05, 0.5

#: How many queries are done, of how many; and how many of them failed.
Tick = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Pace:
    """How the engine is asked: how many queries at a time, and how many a second at most.

    Each query may take `timeout` seconds, and is asked `attempts` times if the engine is busy or
    the connection breaks. Each thread first asks `warm_up` queries that do not count.
    """

    concurrency: int
    rate: float | None = None
    timeout: float = 30.0
    attempts: int = 3
    warm_up: int = 1


@dataclass(frozen=True)
class Side:
    """One run that is collected: what is searched, and where answers are kept."""

    search: SearchSource
    file: CollectedFile


@dataclass(frozen=True)
class Job:
    """One query for one side."""

    side: Side
    query: AskedQuery


@dataclass
class Worker:
    """A thread, the job that it has, and since when its search is under way.

    A search that takes too long is cut; a thread whose search does not end then is gone.
    """

    thread: threading.Thread | None = None
    job: Job | None = None
    since: float | None = None
    at: str = ""
    tries: int = 0
    is_cut: bool = False
    is_gone: bool = False
    search: OpenedSearch | None = None
    opened: dict[int, OpenedSearch] = field(default_factory=dict)


class Stopped(Exception):
    """Nothing more shall be asked."""


class Collector:
    """Asks queries of one side, or of several by turns; `stopped` says why it ended early."""

    def __init__(self, sides: Sequence[Side], queries: Sequence[AskedQuery], pace: Pace) -> None:
        self.sides, self.queries, self.pace = sides, queries, pace
        self.jobs = [
            Job(side, query)
            for number, query in enumerate(queries)
            for side in _rotated(sides, number)
            if side.file.lacks(query)
        ]
        self.counts: Counter[str] = Counter()
        self.stopped = ""
        self.error: BaseException | None = None
        self._left = iter(self.jobs)
        self._lock, self._stop, self._idle = threading.Lock(), threading.Event(), threading.Event()
        self._slot = self._resume = 0.0
        self._unanswered = self._failed = 0
        self._answered = False

    @property
    def done(self) -> int:
        """How many queries have an answer, or none for good."""
        return self.counts.total()

    @property
    def failed(self) -> int:
        """How many of them failed or timed out."""
        return self.counts["failed"] + self.counts["timed out"]

    def run(self, tick: Tick | None = None) -> None:
        """Ask everything; the first Ctrl-C lets what is under way arrive."""
        workers = [self._started(n) for n in range(min(self.pace.concurrency, len(self.jobs)))]
        with on_interrupt(lambda: self.stop(YOU)):
            while any(worker.thread and worker.thread.is_alive() for worker in workers):
                self._idle.wait(LOOK)
                self._idle.clear()
                workers = [self._watched(worker) for worker in workers]
                if tick is not None:
                    tick(self.done, len(self.jobs), self.failed)
        if self.error is not None:
            raise self.error

    def stop(self, words: str) -> None:
        """Ask nothing more; answers that are under way may arrive."""
        self.stopped = self.stopped or words
        self._stop.set()

    def _started(self, number: int | None) -> Worker:
        """Start a thread, which warms up with the query of a number."""
        worker = Worker()
        worker.thread = threading.Thread(target=self._work, args=(worker, number), daemon=True)
        worker.thread.start()
        return worker

    def _watched(self, worker: Worker) -> Worker:
        """End a search that takes too long; where it does not, let another thread go on."""
        since = worker.since
        late = -1.0 if since is None else time.monotonic() - since - self.pace.timeout
        if late >= 0 and (search := worker.search) is not None:
            worker.is_cut = True
            search.cut()
        if since is None or late < GRACE:
            return worker
        with self._lock:
            if worker.since != since:  # it has ended after all
                return worker
            worker.is_gone = True
        if worker.job is not None:
            slow = timed_out(self.pace.timeout, time.monotonic() - since)
            self._settle(worker.job, slow, worker)
        return self._started(None)

    def _work(self, worker: Worker, number: int | None) -> None:
        """Ask until nothing is left."""
        try:
            if number is not None:
                self._warm(worker, number)
            while (job := self._next(worker)) is not None:
                answer = self._answer(worker, job)
                with self._lock:
                    if worker.is_gone:
                        return
                    worker.job = worker.since = None
                self._settle(job, answer, worker)
        except Stopped:
            pass
        except (
            BaseException
        ) as error:  # SystemExit of a user's code too, which the caller's thread raises again
            self.error = self.error or error
            self.stop(str(error))
        finally:
            for opened in worker.opened.values():
                opened.close()
            self._idle.set()

    def _next(self, worker: Worker) -> Job | None:
        with self._lock:
            if self._stop.is_set() or worker.is_gone:
                return None
            job = next(self._left, None)
            worker.job, worker.tries, worker.since = job, 0, None
            return job

    def _warm(self, worker: Worker, number: int) -> None:
        """Open connections and fill caches with queries that do not count."""
        for side in self.sides:
            for n in range(self.pace.warm_up):
                query = self.queries[(number + n) % len(self.queries)]
                try:
                    self._once(worker, Job(side, query))
                except Hopeless as hopeless:
                    self._diagnose(worker, side, hopeless)
                except Busy as busy:
                    if busy.is_unreached and not self._answered:
                        hint = "is the engine up, and the address right?"
                        raise Hopeless(str(busy), hint) from None
                    self._hold(busy.wait)

    def _answer(self, worker: Worker, job: Job) -> Answer:
        """Ask until there is an answer, or no hope of one."""
        while True:
            try:
                return self._once(worker, job)
            except Busy as busy:
                if worker.tries >= self.pace.attempts:
                    with self._lock:
                        self._unanswered += 1
                    times = f", {worker.tries} times" if worker.tries > 1 else ""
                    return failed(f"{busy}{times}", busy.seconds)
                self._hold(busy.wait)
                self._sleep(busy.wait + pause_after(worker.tries, FIRST_PAUSE))
            except Hopeless as hopeless:
                self._diagnose(worker, job.side, hopeless)
                return failed(hopeless.message)

    def _diagnose(self, worker: Worker, side: Side, hopeless: Hopeless) -> None:
        """Raise what no query would change, unless one was ever answered, or another one is now."""
        tried = worker.at, worker.tries
        others = self.queries[:: max(1, len(self.queries) // PROBES)][:PROBES]
        was_answered = bool(side.file.before.those(*ANSWERED))
        if not (was_answered or any(self._answers(worker, Job(side, one)) for one in others)):
            raise hopeless
        worker.at, worker.tries = tried

    def _answers(self, worker: Worker, job: Job) -> bool:
        """Whether any query was answered by now: this one, if no other."""
        with suppress(Hopeless, Busy):
            if not self._answered:
                self._once(worker, job)
        return self._answered

    def _once(self, worker: Worker, job: Job) -> Answer:
        """Ask once, as soon as the rate allows it."""
        turn = self._turn()
        self._sleep(turn - time.monotonic() if turn else 0.0)
        worker.tries += 1
        begun, worker.is_cut = time.monotonic(), False
        worker.at, worker.since = now(), begun
        try:
            answer = self._opened(worker, job).ask(job.query)
        except Busy as busy:
            if not worker.is_cut:
                raise
            answer = failed(str(busy))
        finally:
            worker.search = None
            if not worker.is_gone:
                worker.since = None
        seconds = time.monotonic() - begun
        is_late = answer.status in ANSWERED and seconds > self.pace.timeout
        is_late |= worker.is_cut and answer.status == "failed"
        if answer.status in ANSWERED and not is_late:
            self._answered = True
        return timed_out(self.pace.timeout, seconds) if is_late else answer

    def _opened(self, worker: Worker, job: Job) -> OpenedSearch:
        if (key := id(job.side)) not in worker.opened:
            worker.opened[key] = job.side.search.opened(self.pace.timeout)
        worker.search = worker.opened[key]
        return worker.search

    def _turn(self) -> float:
        """Return when the next request may be sent."""
        if self.pace.rate is None and not self._resume:
            return 0.0
        with self._lock:
            self._slot = max(self._slot, self._resume, time.monotonic())
            turn = self._slot
            if self.pace.rate is not None:
                self._slot += 1 / self.pace.rate
            return turn

    def _hold(self, seconds: float) -> None:
        """Send nothing for as long as the engine asks."""
        with self._lock:
            self._resume = max(self._resume, time.monotonic() + seconds)

    def _sleep(self, seconds: float) -> None:
        if (seconds > 0 and self._stop.wait(seconds)) or self._stop.is_set():
            raise Stopped

    def _settle(self, job: Job, answer: Answer, worker: Worker) -> None:
        """Keep an answer; stop where nothing but failures comes back."""
        answer = masked(answer, job.side.search.secrets)
        job.side.file.add(job.query, answer, worker.at, worker.tries)
        with self._lock:
            self.counts[answer.status] += 1
            if answer.status in ANSWERED:
                self._unanswered = self._failed = 0
                return
            self._failed += 1
            if self._unanswered >= UNANSWERED_IN_A_ROW:
                said = f"{self._unanswered} queries in a row had no answer"
                self.stop(f"{said}; the last one: {answer.error}")
            elif self._failed >= FAILED_IN_A_ROW:
                self.stop(f"{self._failed} queries in a row failed; the last one: {answer.error}")


def _rotated(sides: Sequence[Side], number: int) -> Iterator[Side]:
    """Return the sides, each first as often as the others."""
    start = number % len(sides)
    return itertools.chain(sides[start:], sides[:start])
