"""A model at work: started, watched and stopped from the workbench.

Which model that is, and where it answers, is said when the workbench is started, and by nobody
after that: the workbench sends requests to no other address.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from idealist.errors import IdealistError, UsageError, nearest
from idealist.judging.llm.endpoints import Endpoint
from idealist.judging.llm.limits import Limits, read_prices
from idealist.judging.llm.model_judging import estimate_model_judging, judge_by_model
from idealist.judging.llm.model_results import JudgingEstimate, ModelJudging
from idealist.judging.llm.prompts import our_prompts, read_prompt
from idealist.judging.llm.runner import Runner, Tally
from idealist.rendering.wording import amount_words

#: What a model can be asked about, in words.
WHAT = {
    "pooled": "what was chosen to be judged",
    "judged": "what people judged, to compare them with the model",
}
#: How long the end of the server waits for answers that are under way, in seconds.
LEAVING = 3.0


@dataclass(frozen=True)
class ModelTask:
    """What a model is asked: by which of our prompts, about what, and within which limits."""

    prompt: str = "graded"
    what: str = "pooled"
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.prompt not in grading_prompts():
            hint = nearest(self.prompt, grading_prompts())
            raise UsageError(f"there is no prompt {self.prompt!r:.80} here", hint)
        if self.what not in WHAT:
            raise UsageError(f"a model cannot be asked about {self.what!r:.80}", "say pooled")

    @property
    def options(self) -> dict[str, Any]:
        """The task as `judge_by_model` takes it; a document without text is left out."""
        limits = self.limits
        return {
            "prompt": self.prompt, "what": self.what, "skip_missing": True,
            "max_requests": limits.requests, "max_tokens": limits.tokens, "max_cost": limits.cost,
        }  # fmt: skip


def grading_prompts() -> dict[str, str]:
    """Return our prompts that ask for a grade, with what they are for."""
    found = {name: read_prompt(name) for name in our_prompts()}
    return {name: one.description for name, one in found.items() if one.kind == "grade"}


@dataclass
class ModelRun:
    """What a model is doing, or did: how far it is, and in the end the result or an error."""

    task: ModelTask
    store: Path
    done: int = 0
    total: int = 0
    tally: Tally | None = None
    runner: Runner | None = None
    result: ModelJudging | None = None
    error: str = ""
    stopping: bool = False
    ended: float = 0.0

    @property
    def is_running(self) -> bool:
        """Whether it is still asking."""
        return self.result is None and not self.error

    def data(self) -> dict[str, Any]:
        """Return how far it is as plain data."""
        budget = self.tally.budget if self.tally else None
        price = budget.price if budget else None
        return {
            "running": self.is_running, "stopping": self.stopping and self.is_running,
            "prompt": self.task.prompt, "what": self.task.what, "store": self.store.name,
            "done": self.done, "all": self.total, "requests": budget.sent if budget else 0,
            "tokens": budget.used.total if budget else 0,
            "cost": budget.cost if budget and price else None,
            "currency": price.currency if price else None,
            "rate": round(self.tally.rate, 2) if self.tally and self.is_running else None,
            "failed": self.tally.failed if self.tally else 0, "error": self.error or None,
            "result": self.result.data() if self.result else None,
        }  # fmt: skip

    @property
    def words(self) -> str:
        """How far it is, in a line."""
        if self.tally is None:
            return "Looking up what to ask …"
        budget = self.tally.budget
        said = [f"{self.done:,} of {self.total:,} pairs", f"{budget.used.total:,} tokens"]
        if budget.price:
            said.append(f"{amount_words(budget.cost)} {budget.price.currency}")
        said.append(f"{self.tally.rate:.1f} answers a second")
        said += [f"{self.tally.failed:,} failed"] if self.tally.failed else []
        return ", ".join(said) + ("; stopping" if self.stopping else "")


@dataclass
class ModelWork:
    """The model that may judge, if one was configured, and what it is doing: one task at a time."""

    url: str = ""
    model: str = ""
    key_env: str | None = None
    prices: Path | None = None
    now: ModelRun | None = None
    estimate: JudgingEstimate | None = None
    task: ModelTask = field(default_factory=ModelTask)
    _thread: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(
        cls, model: str | None, url: str | None, key_env: str | None, prices: Path | None
    ) -> ModelWork:
        """Check what was configured, before anything is served."""
        if not model and not url:
            if key_env or prices:
                raise UsageError("there is no model", "give --model NAME and --model-url URL too")
            return cls()
        if not model or not url:
            raise UsageError("a model needs a name and an address", "give --model and --model-url")
        Endpoint.of(url, key_env)
        if prices is not None:
            read_prices(prices)
        return cls(url, model, key_env, prices)

    @property
    def is_configured(self) -> bool:
        """Whether there is a model."""
        return bool(self.model)

    @property
    def place(self) -> str:
        """Where the model answers, without anything secret."""
        return Endpoint(self.url).place

    @property
    def is_running(self) -> bool:
        """Whether the model is at work."""
        return self.now is not None and self.now.is_running

    def look(self, store: Path, task: ModelTask) -> JudgingEstimate:
        """Say what a task would send, and what that could cost; nothing is sent."""
        self._check()
        self.task = task
        options = task.options | {"prices": self.prices}
        self.estimate = estimate_model_judging(store, self.model, **options)
        return self.estimate

    def start(self, store: Path, task: ModelTask, before: Callable[[], Any] = lambda: None) -> None:
        """Set the model to work in a thread of its own; `before` is done there first."""
        self._check()
        with self._lock:
            if self.is_running:
                raise UsageError("the model is at work already", "wait, or stop it first")
            self.task, self.estimate, self.now = task, None, ModelRun(task, store)
            self._thread = threading.Thread(
                target=self._work, args=(self.now, before), name="model", daemon=True
            )
            self._thread.start()

    def _check(self) -> None:
        if not self.is_configured:
            hint = "start idealist ui with --model NAME --model-url URL"
            raise UsageError("no model was configured when the workbench was started", hint)

    def _work(self, own: ModelRun, before: Callable[[], Any]) -> None:
        def begun(runner: Runner) -> None:
            own.runner, own.tally = runner, runner.tally
            if own.stopping:
                runner.stop()

        def tick(done: int, total: int, tally: Tally) -> None:
            own.done, own.total = done, total

        try:
            before()
            own.result = judge_by_model(
                own.store, self.url, self.model, key_env=self.key_env, prices=self.prices,
                tick=tick, begun=begun, **own.task.options,
            )  # fmt: skip
        except IdealistError as error:
            hint = f": {error.hint}" if getattr(error, "hint", "") else ""
            own.error = f"{getattr(error, 'message', error)}{hint}"
        except Exception as error:  # whatever it is, the page says that it ended
            own.error = f"this is a defect of idealist: {type(error).__name__}: {error}"
            raise
        finally:
            own.runner, own.ended = None, time.time()

    def halt(self) -> None:
        """Send nothing more; what is under way may arrive, and is kept."""
        own = self.now
        if own is None or not own.is_running:
            return
        own.stopping = True
        if own.runner is not None:
            own.runner.stop()

    def stop(self) -> None:
        """End with the server: wait a little for what is under way; all that came is kept."""
        self.halt()
        if self._thread is not None:
            with suppress(RuntimeError):
                self._thread.join(LEAVING)
