"""Judging by a model: which questions it is asked, and which judgments its answers become."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from idealist.errors import UsageError
from idealist.formats.document_entries import DocumentText
from idealist.judging.llm.answers import Answer
from idealist.judging.llm.asked_pairs import AskedPair, pairs_of, people_of, with_words
from idealist.judging.llm.endpoints import Endpoint
from idealist.judging.llm.examples import Examples
from idealist.judging.llm.instruments import check_instrument, check_name, outdated, short_hash
from idealist.judging.llm.limits import Budget, Limits, Price, Usage, read_prices
from idealist.judging.llm.model_results import JudgingEstimate, ModelGrade, ModelJudging
from idealist.judging.llm.prompts import Example, Prompt, read_prompt
from idealist.judging.llm.requests import Request, Sampling
from idealist.judging.llm.runner import Outcome, Question, Runner, Tally
from idealist.judging.store import Store, text_hash
from idealist.judging.store_records import Judgment
from idealist.notation import tidy
from idealist.rendering.wording import counted

#: The temperature of one sample, and of each of several: they would be all the same at 0.
ONE, SEVERAL = 0.0, 1.0
#: How many prompts an estimate shows.
SHOWN = 3

#: What a million tokens of a model cost, asked and answered; or a file of such prices.
Prices = Mapping[str, tuple[float, float] | Price] | str | Path | None
#: Told how many pairs are done, of how many, and what was sent for them.
Tick = Callable[[int, int, Tally], None]


def judge_by_model(
    store: Store | str | Path, url: str, model: str, *, what: str | Path = "pooled",
    skip_missing: bool = False, key_env: str | None = None, concurrency: int = 8,
    timeout: float = 120.0, attempts: int = 6, max_requests: int | None = None,
    max_tokens: int | None = None, max_cost: float | None = None, prices: Prices = None,
    tick: Tick | None = None, begun: Callable[[Runner], None] | None = None, **asking: Any,
) -> ModelJudging:  # fmt: skip
    """Have a model at an OpenAI-compatible endpoint judge documents, and keep what it says.

    `what` is ``"pooled"``, ``"judged"`` (what people judged, to hold the model to account), or a
    file of judgments or a run. Documents that this judge has judged are left out. Every answer is
    kept as it comes, and a request that was answered is never sent again, so that judging can stop
    at any time and go on later. An answer that cannot be read is no judgment; it is asked for again
    next time. The key is in the environment variable `key_env`. Nothing is sent that could go over
    `max_requests`, `max_tokens` or `max_cost`. `begun` is given what asks, whose `stop` another
    thread may call.

    `asking` is how the model is asked: `prompt`, `samples`, `temperature` (0, or 1 for several
    samples), `seed`, `logprobs`, `answer_tokens`, and `judge`, the name of its judgments.
    """
    with opened_store(store) as opened:
        judge = ModelJudge.of(opened, model, **asking)
        work = judge.work(what, skip_missing)
        rows, done = list[ModelGrade](), 0
        with judge.runner(
            url, key_env=key_env, concurrency=concurrency, timeout=timeout, attempts=attempts,
            max_requests=max_requests, max_tokens=max_tokens, max_cost=max_cost, prices=prices,
        ) as runner:  # fmt: skip
            if begun is not None:
                begun(runner)
            for outcome in runner.ask(map(judge.question, work.pairs)):
                rows.append(judge.keep(outcome))
                if tick is not None and rows[-1].asked:
                    done += 1
                    tick(done, len(work.pairs), runner.tally)
        people = people_of(opened) if what == "judged" else ""
        return ModelJudging(
            judge.name, str(opened.path), people, tuple(rows), work.already, work.skipped,
            runner.tally, runner.client.without, runner.client.again,
            (*judge.notes, *work.notes),
        )  # fmt: skip


def estimate_model_judging(
    store: Store | str | Path, model: str, *, what: str | Path = "pooled",
    skip_missing: bool = False, max_requests: int | None = None, max_tokens: int | None = None,
    max_cost: float | None = None, prices: Prices = None, **asking: Any,
) -> JudgingEstimate:  # fmt: skip
    """Say what `judge_by_model` would ask, and what that could cost. Nothing is sent."""
    with opened_store(store) as opened:
        judge = ModelJudge.of(opened, model, **asking)
        budget = budget_of(Limits(max_requests, max_tokens, max_cost), model, prices)
        work = judge.work(what, skip_missing)
        asked = ((pair, judge.question(pair).requests) for pair in work.pairs)
        found = estimate_of(judge, asked, work.already, work.skipped, budget)
        return replace(found, notes=(*found.notes, *work.notes))


def estimate_of(
    judge: ModelJudge, asked: Iterable[tuple[AskedPair, Sequence[Request]]], already: int,
    skipped: int, budget: Budget,
) -> JudgingEstimate:  # fmt: skip
    """Add up what would be sent; show the first of it."""
    sent: set[str] = set()
    most, pairs, each, shown = Usage(), 0, 1, list[tuple[AskedPair, Any]]()
    for pair, requests in asked:
        pairs, each = pairs + 1, len(requests)
        if pairs <= SHOWN:
            shown.append((pair, requests[0].messages))
        for request in requests:
            if request.hash not in sent and judge.store.answered(request.hash) is None:
                sent.add(request.hash)
                most = most.plus(Usage(request.tokens_in, request.sampling.tokens))
    return JudgingEstimate(
        judge.name, pairs, already, skipped, each, len(sent), most, budget.price, budget.limits,
        [pair for pair, _ in shown], [messages for _, messages in shown], judge.notes,
    )  # fmt: skip


class Work(NamedTuple):
    """What a judge is asked about; how much of it he has judged, and how much has no words.

    Of the pairs, so many are `changed`: judged before, when the document had another text.
    """

    pairs: list[AskedPair]
    already: int
    skipped: int
    changed: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about documents that changed."""
        if not self.changed:
            return ()
        many = counted(self.changed, "pair was", "pairs were")
        return (f"{many} judged before, when the document had another text",)


class Shown(NamedTuple):
    """What a model is shown: the words of a query, one document or two, and examples."""

    query: str
    documents: tuple[DocumentText, ...]
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class ModelJudge:
    """A model, a prompt and a way of sampling, under the name that its judgments get."""

    store: Store
    model: str
    prompt: Prompt
    sampling: Sampling
    samples: int
    name: str

    @classmethod
    def of(
        cls, store: Store, model: str, *, prompt: str | Path | Prompt = "graded", samples: int = 1,
        temperature: float | None = None, seed: int = 0, logprobs: bool = True,
        answer_tokens: int = 512, judge: str = "", kind: str = "grade",
    ) -> ModelJudge:  # fmt: skip
        """Check all that a model is asked with."""
        asked = prompt if isinstance(prompt, Prompt) else read_prompt(prompt)
        if asked.kind != kind:
            verb = "prefer" if asked.kind == "preference" else "llm"
            message = f"prompt {asked.name} asks for a {asked.kind}, not for a {kind}"
            raise UsageError(message, f"use it with idealist judge {verb}, or choose another one")
        asked.check_scale(store.scale)
        _check_version(store, asked)
        usual = ONE if _whole("samples", samples) == 1 else SEVERAL
        heat = usual if temperature is None else temperature
        if not 0 <= heat <= 2:
            raise UsageError(f"the temperature cannot be {heat:g}", "give one from 0 to 2")
        sampling = Sampling(heat, seed, logprobs, _whole("answer_tokens", answer_tokens))
        name = judge or f"{model}/{asked.label}"
        check_name(store, name, model)
        return cls(store, model, asked, sampling, samples, name)

    def check(self) -> None:
        """Refuse to add to what another instrument said under the same name."""
        prompt, sampling = self.prompt, self.sampling
        check_instrument(self.store, self.name, prompt.kind, self._settings | {
            "model": self.model, "prompt": f"{prompt.label} {prompt.hash}",
            "temperature": sampling.temperature, "seed": sampling.seed,
        })  # fmt: skip

    @cached_property
    def _settings(self) -> dict[str, Any]:
        """What is recorded with each call, besides what the request itself tells."""
        places = self.prompt.places
        return {
            "samples": self.samples,
            "guidelines": short_hash(self._guidelines if "guidelines" in places else ""),
            "examples": short_hash(self._examples.words if "examples" in places else ""),
        }

    def work(self, what: str | Path, skip_missing: bool) -> Work:
        """Find what to ask about: what this judge has not judged, or in other words."""
        self.check()
        pairs = pairs_of(self.store, what)
        own = [one for one in self.store.current() if one.judge == self.name]
        known = {(one.query, one.document) for one in own}
        changed = outdated(self.store, own)
        new = [
            pair._replace(replaces=changed.get(pair[:2]))
            for pair in pairs
            if pair[:2] not in known or pair[:2] in changed
        ]
        able = with_words(self.store, new, skip_missing)
        again = sum(pair.replaces is not None for pair in able)
        return Work(able, len(pairs) - len(new), len(new) - len(able), again)

    @cached_property
    def _queries(self) -> Mapping[str, str]:
        return self.store.queries.text

    @cached_property
    def _guidelines(self) -> str:
        return self.store.guidelines

    @cached_property
    def _examples(self) -> Examples:
        return Examples.of(self.store, self.prompt.scale, self.sampling.seed)

    def _words(self, pair: AskedPair) -> DocumentText:
        return self.store.text(pair.document) or DocumentText("", "")

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about the words of grades, and about examples."""
        said = self.prompt.other_labels(self.store.scale)
        if "examples" in self.prompt.places and (lacking := self._examples.missing):
            grades = ", ".join(str(tidy(grade)) for grade in lacking)
            said += (
                f"there is no example of grade {grades}: people gave it to no document with words",
            )
        return said

    def shown(self, pair: AskedPair) -> Shown:
        """Find what the model is shown of a document."""
        examples = self._examples.beside(*pair[:2]) if "examples" in self.prompt.places else ()
        return Shown(self._queries[pair.query], (self._words(pair),), tuple(examples))

    def requests(self, shown: Shown, turn: int = 0) -> tuple[Request, ...]:
        """Write what the model is asked, once for each sample; each turn has other samples."""
        messages = self.prompt.messages(*shown, self._guidelines)
        first = turn * self.samples
        return tuple(
            Request(self.model, messages, self.prompt.schema(), self.prompt.hash, self.sampling, n)
            for n in range(first, first + self.samples)
        )

    def question(self, pair: AskedPair) -> Question:
        """Write what the model is asked about a document."""
        return Question(pair, self.requests(self.shown(pair)))

    def runner(
        self, url: str, *, key_env: str | None = None, concurrency: int = 8,
        timeout: float = 120.0, attempts: int = 6, max_requests: int | None = None,
        max_tokens: int | None = None, max_cost: float | None = None, prices: Prices = None,
    ) -> Runner:  # fmt: skip
        """Prepare to ask at an address, within limits."""
        seconds, often = _positive("timeout", timeout), _whole("attempts", attempts)
        endpoint = Endpoint.of(url, key_env, timeout=seconds, attempts=often)
        budget = budget_of(Limits(max_requests, max_tokens, max_cost), self.model, prices)
        at_once = _whole("concurrency", concurrency)
        return Runner(self.store, self.prompt, endpoint, budget, at_once, self._settings)

    def keep(self, outcome: Outcome) -> ModelGrade:
        """Make a judgment of the answers, if every sample has one and they can be read."""
        pair: AskedPair = outcome.question.about
        if not outcome.is_whole:
            return ModelGrade(*pair[:2], fault=outcome.lost, asked=outcome.is_asked)
        answer = outcome.answer
        row = ModelGrade(
            *pair[:2], answer.grade, answer.expected, answer.confidence, answer.fault,
            cached=outcome.is_cached, mass=answer.mass,
        )  # fmt: skip
        if not answer.fault:
            self.store.judge(self._judgment(pair, outcome, answer, row.words(self.samples)))
        return row

    def _judgment(self, pair: AskedPair, outcome: Outcome, answer: Answer, note: str) -> Judgment:
        """Write a judgment, which refers to the first call that says so."""
        calls = [
            one.call for one in outcome.came if one.answer and one.answer.grade == answer.grade
        ]
        asked = "".join(one.hash for one in outcome.question.requests)
        said = (self.name, *pair[:2], asked, pair.replaces)
        token = hashlib.sha256(repr(said).encode()).hexdigest()
        return Judgment(
            pair.query, pair.document, answer.grade, self.name, kind="model", note=note,
            seconds=outcome.seconds, batch=pair.batch, inclusion=pair.inclusion,
            seen=text_hash(self._words(pair)), call=calls[0], token=token,
        )  # fmt: skip


#: What says how to reach a model, and within which limits.
CONNECTION = frozenset({
    "key_env", "concurrency", "timeout", "attempts", "max_requests", "max_tokens", "max_cost",
    "prices",
})  # fmt: skip


def divided(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell how to reach a model from how it is asked."""
    reach = {name: value for name, value in given.items() if name in CONNECTION}
    return reach, {name: value for name, value in given.items() if name not in CONNECTION}


@contextmanager
def opened_store(store: Store | str | Path) -> Iterator[Store]:
    """Open a store, and close it; one that was open stays so."""
    if isinstance(store, Store):
        yield store
        return
    with Store(store) as opened:
        yield opened


def budget_of(limits: Limits, model: str, prices: Prices) -> Budget:
    """Check limits, and find the price of a model."""
    given = read_prices(prices) if isinstance(prices, str | Path) else prices or {}
    known = {name: Price(*price) for name, price in given.items()}
    limits.check(model, known)
    return Budget(limits, known.get(model))


def _check_version(store: Store, prompt: Prompt) -> None:
    """Refuse a prompt whose words have changed under the same version: its judge would be two."""
    with store.reading() as connection:
        asked = "SELECT hash FROM prompt WHERE name = ? AND version = ?"
        known = {row[0] for row in connection.execute(asked, (prompt.name, prompt.version))}
    if known and prompt.hash not in known:
        message = f"prompt {prompt.label} has other words than when it was used in {store.path}"
        raise UsageError(message, "raise the version on its front page")


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{name} cannot be {value!r}", "give a whole number of at least 1")
    return value


def _positive(name: str, value: float) -> float:
    if not 0 < value < float("inf"):
        raise UsageError(f"{name} cannot be {value!r}", "give seconds, more than 0")
    return value
