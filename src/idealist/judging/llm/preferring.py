"""Preferring by a model: it compares documents two by two, in both orders; what it says is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from idealist.errors import UsageError
from idealist.judging.llm.asked_pairs import AskedPair, pairs_of, with_words
from idealist.judging.llm.duels import WAYS, Compared, Duel, ModelPreferences, duels_of
from idealist.judging.llm.limits import Limits
from idealist.judging.llm.model_judging import (
    ModelJudge,
    Prices,
    Shown,
    Tick,
    budget_of,
    divided,
    estimate_of,
    opened_store,
)
from idealist.judging.llm.model_results import JudgingEstimate
from idealist.judging.llm.runner import Outcome, Question
from idealist.judging.store import Store
from idealist.judging.store_records import Preference


def prefer_by_model(
    store: Store | str | Path, url: str, model: str, *, what: str | Path = "pooled",
    beside: int = 1, skip_missing: bool = False, tick: Tick | None = None, **given: Any,
) -> ModelPreferences:  # fmt: skip
    """Have a model say which of two documents is better, and keep what it says in both orders.

    Each document is compared with so many of those `beside` it, in the order of the pool or of the
    file that `what` names. What is `given` else is as for `judge_by_model`; the prompt is one of
    kind preference.
    """
    connection, asking = divided(given)
    with opened_store(store) as opened:
        judge = _judge(opened, model, asking)
        new, known, _ = _work(judge, what, beside, skip_missing)
        asked = [*_answered(judge, known), *new]
        rows, halves = list[Compared](), dict[Duel, Outcome]()
        with judge.runner(url, **connection) as runner:
            for outcome in runner.ask(one for duel in asked for one in _questions(judge, duel)):
                duel, turned = outcome.question.about
                other = halves.pop(duel, None)
                if other is None:
                    halves[duel] = outcome
                    continue
                both = (other, outcome) if turned else (outcome, other)
                rows.append(_kept(judge, duel, *both))
                if tick is not None and rows[-1].asked:
                    tick(sum(row.asked for row in rows), len(asked), runner.tally)
        return ModelPreferences(
            judge.name, tuple(rows), len(known), runner.tally, runner.client.again
        )


def estimate_model_preferences(
    store: Store | str | Path, model: str, *, what: str | Path = "pooled", beside: int = 1,
    skip_missing: bool = False, max_requests: int | None = None, max_tokens: int | None = None,
    max_cost: float | None = None, prices: Prices = None, **asking: Any,
) -> JudgingEstimate:  # fmt: skip
    """Say what `prefer_by_model` would ask, and what that could cost. Nothing is sent."""
    with opened_store(store) as opened:
        judge = _judge(opened, model, asking)
        budget = budget_of(Limits(max_requests, max_tokens, max_cost), model, prices)
        new, known, skipped = _work(judge, what, beside, skip_missing)
        asked = (
            (AskedPair(duel.query, f"{duel.one} and {duel.other}"),
             [one for question in _questions(judge, duel) for one in question.requests])
            for duel in new
        )  # fmt: skip
        return estimate_of(judge, asked, len(known), skipped, budget)


def _judge(store: Store, model: str, asking: Mapping[str, Any]) -> ModelJudge:
    return ModelJudge.of(store, model, kind="preference", **{"prompt": "preference", **asking})


def _work(
    judge: ModelJudge, what: str | Path, beside: int, skip_missing: bool
) -> tuple[list[Duel], list[Duel], int]:
    """Find what to compare: the pairs that this judge has not compared, and those that it has."""
    if beside < 1:
        raise UsageError(f"beside cannot be {beside}", "give a whole number of at least 1")
    judge.check()
    pairs = pairs_of(judge.store, what)
    able = with_words(judge.store, pairs, skip_missing)
    duels = duels_of(able, beside)
    if not duels:
        raise UsageError("no query has two documents to compare", "pool more documents")
    said = {
        (one.query, frozenset((one.better, one.worse)))
        for one in judge.store.preferences()
        if one.judge == judge.name
    }
    known = [duel for duel in duels if (duel.query, frozenset(duel[1:])) in said]
    before = {*known}
    return [duel for duel in duels if duel not in before], known, len(pairs) - len(able)


def _answered(judge: ModelJudge, known: list[Duel]) -> list[Duel]:
    """Return the pairs whose answers are in the store, to be read again and counted with others."""
    return [
        duel for duel in known
        if all(judge.store.answered(request.hash)
               for question in _questions(judge, duel) for request in question.requests)
    ]  # fmt: skip


def _questions(judge: ModelJudge, duel: Duel) -> Iterator[Question]:
    """Ask about two documents in both orders: first as they stand, then turned."""
    query, (one,), _ = judge.shown(AskedPair(duel.query, duel.one))
    (other,) = judge.shown(AskedPair(duel.query, duel.other)).documents
    for turned, documents in ((False, (one, other)), (True, (other, one))):
        yield Question((duel, turned), judge.requests(Shown(query, documents)))


def _kept(judge: ModelJudge, duel: Duel, said: Outcome, turned: Outcome) -> Compared:
    """Keep a preference, or a tie, if both orders have an answer."""
    if not (said.is_whole and turned.is_whole):
        begun = said.is_asked or turned.is_asked
        return Compared(duel, fault=said.lost or turned.lost, asked=begun)
    answers = said.answer, turned.answer
    fault = answers[0].fault or answers[1].fault
    row = Compared(duel, answers[0].preferred, answers[1].preferred, fault)
    if not fault:
        asked = [one.hash for part in (said, turned) for one in part.question.requests]
        token = hashlib.sha256(repr((judge.name, *duel, asked)).encode()).hexdigest()
        judge.store.prefer(Preference(
            duel.query, row.better or duel.one, row.worse or duel.other, judge.name,
            tied=not row.better, kind="model", call=said.came[0].call, token=token,
            note="" if row.way in ("preferred", "tie") else WAYS[row.way],
        ))  # fmt: skip
    return row
