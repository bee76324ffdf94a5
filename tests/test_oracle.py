"""The package against the plain reference, over every measure, parameter and protocol axis."""

from __future__ import annotations

import random

import numpy as np
import pytest

import idealist as il
import oracle
from effort import tries
from generated import (
    AXES,
    PLAIN,
    some_budget,
    some_case,
    some_measure,
    some_protocol,
    some_tokens,
    truth,
    values_of,
    with_tokens,
)
from idealist.errors import UsageError
from idealist.measures import MEASURES
from idealist.protocol import Protocol


def check(seed: int, name: str, protocol: Protocol | None = None, budget: bool = False) -> None:
    rng = random.Random(seed)
    measure = some_measure(rng, name)
    expected = protocol is not None and protocol.ties == "expected"
    protocol = protocol or (some_budget(rng) if budget else some_protocol(rng))
    qrels, rows = some_case(rng, size=5 if expected else 12)
    if expected:  # every order is enumerated: keep ties small
        rows = {q: entries[:6] for q, entries in rows.items()}
    tokens = some_tokens(rng, rows)
    run = il.read_run(with_tokens(rows, tokens) if budget else rows)
    placements = il.rank(il.read_qrels(qrels), run, [protocol])[protocol]
    try:
        values = measure.values(placements)
    except UsageError as error:
        if "above" not in str(error) and "no closed form" not in str(error):
            raise
        return
    for i, query in enumerate(placements.qrels.queries):
        wanted = truth(measure, protocol, qrels, rows, query, tokens)
        close = np.isclose(values[i], wanted, rtol=1e-12, atol=1e-12, equal_nan=True)
        assert close, (seed, str(measure), protocol, query, qrels[query], rows.get(query), wanted)


@pytest.mark.parametrize("name", PLAIN)
def test_every_measure_equals_the_reference(name: str) -> None:
    for seed in range(tries(40, 300)):
        check(seed, name)


@pytest.mark.parametrize("name", PLAIN)
def test_a_budget_of_tokens_equals_the_reference(name: str) -> None:
    for seed in range(tries(20, 60)):
        check(seed, name, budget=True)


@pytest.mark.parametrize("name", [name for name in PLAIN if MEASURES[name].averages_ties])
def test_expected_ties_are_the_mean_over_all_orders(name: str) -> None:
    for seed in range(60):
        check(seed, name, Protocol(ties="expected", unjudged=["zero", "drop"][seed % 2]))


@pytest.mark.parametrize("name", PLAIN)
def test_every_parameter_is_varied(name: str) -> None:
    for parameter in MEASURES[name].parameters():
        assert values_of(name, parameter)


def test_every_axis_is_varied() -> None:
    elsewhere = {"nonfinite", "unknown"}  # they only refuse; see test_rank
    assert AXES.keys() | elsewhere == Protocol.parameters().keys()


def test_a_list_of_grades_is_measured_like_a_run() -> None:
    rng = random.Random(0)
    for _ in range(300):
        grades = [rng.choice([None, 0, 1, 2, 3]) for _ in range(rng.randint(0, 12))]
        judged = [rng.choice([0, 1, 2, 3]) for _ in range(rng.randint(0, 4))]
        qrels = {f"d{i}": g for i, g in enumerate(grades) if g is not None}
        qrels |= {f"u{i}": g for i, g in enumerate(judged)}
        if not qrels or max(qrels.values()) == 0:
            continue
        name = rng.choice([name for name in PLAIN if name != "NumQ"])
        measure = some_measure(rng, name)
        if getattr(measure, "positive_score", False):
            continue  # a list of grades has no scores
        run = {"q": [f"d{i}" for i in range(len(grades))]}
        try:
            wanted = il.evaluate({"q": qrels}, run, measure, aggregate="sum")[measure]
        except UsageError:
            continue
        assert measure(grades, judged) == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def test_udcg_equals_the_reference() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        measure = some_measure(rng, "UDCG").filled()
        qrels, rows = some_case(rng)
        signals = {
            q: {d: rng.choice([None, 0.0, rng.random(), 1.0]) for d in qrels[q]} for q in qrels
        }
        if all(signal is None for known in signals.values() for signal in known.values()):
            continue  # a column without a value is none
        judged = [
            {
                "query": q,
                "document": d,
                "grade": g,
                "abstain": signals[q][d],
                "utility": signals[q][d],
            }
            for q in qrels
            for d, g in qrels[q].items()
        ]
        protocol = some_protocol(rng)
        placements = il.rank(il.read_qrels(judged), il.read_run(rows), [protocol])[protocol]
        values = measure.values(placements)
        for i, query in enumerate(placements.qrels.queries):
            docs = oracle.rank(rows.get(query, []), qrels[query], query, protocol.written())
            params = {**measure.written(), "signals": signals[query]}
            wanted = oracle.measure("UDCG", measure.cutoff, params, docs, [])
            assert values[i] == pytest.approx(wanted, abs=1e-12), (seed, query)
