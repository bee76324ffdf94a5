"""Laws that hold whatever the data."""

from __future__ import annotations

import math
import random
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
import oracle
from effort import tries
from generated import (
    AXES,
    PLAIN,
    seeds,
    some_budget,
    some_case,
    some_list,
    some_measure,
    some_protocol,
    some_tokens,
    values_of,
    with_tokens,
)
from idealist.conventions import CONVENTIONS
from idealist.conventions.signature import Signature
from idealist.data.queries import Weights
from idealist.errors import UsageError
from idealist.measures import MEASURES
from idealist.measures.instrument import Aggregate, Instrument
from idealist.protocol import Protocol

MANY = [
    "nDCG@5", "nDCG(gain=exp2)", "AP", "AP(denominator=min(k,R))@3", "RR", "P@3", "R@3", "ERR@5",
    "RBP", "bpref", "Judged@5", "NumRelRet", "AllHit@5",
]  # fmt: skip


GRADES = st.sampled_from([0, 1, 2, 3])


def result_of(qrels: Any, rows: Any, measures: Any = MANY, **axes: Any) -> dict[str, list[float]]:
    result = il.evaluate(qrels, rows, measures, **axes)
    return {label: values.tolist() for label, values in result.values.items()}


@given(seeds)
@settings(max_examples=tries(40, 100), deadline=None)
def test_row_order_never_matters_under_document_id_ties(seed: int) -> None:
    rng = random.Random(seed)
    qrels, rows = some_case(rng)
    shuffled = {q: rng.sample(rows[q], len(rows[q])) for q in rng.sample(list(rows), len(rows))}
    mixed = {
        q: dict(rng.sample(list(qrels[q].items()), len(qrels[q])))
        for q in rng.sample(list(qrels), len(qrels))
    }
    assert result_of(qrels, rows) == result_of(mixed, shuffled)
    a, b = il.evaluate(qrels, rows, MANY), il.evaluate(mixed, shuffled, MANY)
    assert a.data() == b.data()


@given(seeds)
@settings(max_examples=tries(40, 100), deadline=None)
def test_row_order_never_matters_with_chunks_and_scores_that_are_no_numbers(seed: int) -> None:
    rng = random.Random(seed)
    qrels, rows = some_case(rng)
    odd = [math.nan, math.inf, -math.inf, 0.5, 1.5]
    rows = {q: [(d, rng.choice(odd)) for d, _ in rows[q]] for q in rows}
    shuffled = {q: rng.sample(rows[q], len(rows[q])) for q in rows}
    axes = {"nonfinite": "last", "collapse": "#.*", "exclude_self": rng.random() < 0.5}
    assert result_of(qrels, rows, **axes) == result_of(qrels, shuffled, **axes)


@given(seeds)
@settings(max_examples=tries(60, 200), deadline=None)
def test_doubts_never_stop_what_can_be_measured(seed: int) -> None:
    rng = random.Random(seed)
    measure = some_measure(rng, rng.choice(PLAIN))
    qrels, rows = some_case(rng)
    strict = {"ties": "error", "negative": "error", "missing": "error", "unknown": "error"}
    axes: dict[str, Any] = some_protocol(rng).written()
    axes |= {key: value for key, value in strict.items() if rng.random() < 0.3}
    axes |= {"depth": rng.choice([1, 3, "none", "tokens(9)"])}
    scale = rng.choice([1.0, 1e39])
    rows = {q: [(d, s * scale) for d, s in rows[q]] for q in rows}
    run = il.read_run(with_tokens(rows, some_tokens(rng, rows)))
    weights = rng.choice([None, {q: rng.choice([1, 2, 1000]) for q in [*qrels, "elsewhere"]}])
    try:
        protocol = il.Protocol(**axes)
        measure.values(il.rank(il.read_qrels(qrels), run, [protocol])[protocol])
    except il.IdealistError:
        return
    result = il.evaluate(qrels, run, measure, weights=weights, **axes)
    assert str(result)
    assert all(doubt.message for doubt in result.doubts)


@pytest.mark.parametrize("name", [name for name in PLAIN if MEASURES[name].monotone])
def test_the_doubt_about_ties_spans_all_orders(name: str) -> None:
    """Enumerate every order of the ties; none may leave the range that the doubt states."""
    for seed in range(tries(6, 15)):
        rng = random.Random(seed)
        measure = some_measure(rng, name)
        if getattr(measure, "denominator", "") == "judged":
            continue  # the share of the judged is not monotone in anything
        qrels, rows = some_case(rng, size=5)
        query = next(iter(qrels))
        rows = {
            query: [(d, float(rng.randint(0, 1))) for d, _ in rows.get(query, [("d1", 1.0)])[:5]]
        }
        judged = {query: qrels[query]}
        try:
            result = il.evaluate(judged, rows, measure, grades="keep")
        except UsageError:
            continue
        low = high = result[measure]
        for doubt in result.doubts:
            if doubt.code == "ties":
                low, high = doubt.values[str(measure)]
        for docs in oracle.orders([oracle.Doc(d, s, None) for d, s in rows[query]]):
            given_order = {query: [(doc.id, doc.score) for doc in docs]}
            value = il.evaluate(judged, given_order, measure, grades="keep", ties="input")[measure]
            if not math.isnan(value):
                assert low - 1e-4 <= value <= high + 1e-4, (seed, str(measure), rows, judged)


@given(seeds)
@settings(max_examples=tries(40, 100), deadline=None)
def test_names_of_documents_never_matter_without_ties(seed: int) -> None:
    rng = random.Random(seed)
    qrels, rows = some_case(rng)
    rows = {q: [(d, i + rng.random() / 2) for i, (d, _) in enumerate(rows[q])] for q in rows}
    names = {d: f"x{rng.random()}" for q in qrels for d in qrels[q]}
    names |= {d: f"y{rng.random()}" for q in rows for d, _ in rows[q] if d not in names}
    renamed = {q: {names[d]: g for d, g in qrels[q].items()} for q in qrels}
    rerun = {q: [(names[d], s) for d, s in rows[q]] for q in rows}
    assert result_of(qrels, rows) == result_of(renamed, rerun)


@pytest.mark.parametrize(
    "measure",
    ["nDCG@5", "nDCG", "nDCG(gain=exp2,discount=jk(2))@4", "ERR(max_grade=3)@5", "RBP",
     "RBP(gain=scaled(0,3))", "AP", "AP@4", "RR", "RR@3", "DCG@5", "AllHit@3"],
)  # fmt: skip
@given(
    grades=st.lists(GRADES, min_size=2, max_size=8),
    judged=st.lists(GRADES, max_size=3),
    data=st.data(),
)
@settings(max_examples=tries(60, 200), deadline=None)
def test_a_better_document_moved_up_never_lowers_the_value(
    measure: str, grades: list[float], judged: list[float], data: st.DataObject
) -> None:
    one = il.parse(measure)
    i = data.draw(st.integers(0, len(grades) - 2))
    worse, better = sorted(grades[i : i + 2])
    above, below = (
        [*grades[:i], *pair, *grades[i + 2 :]] for pair in ((better, worse), (worse, better))
    )
    assert one(above, judged) >= one(below, judged)


@given(seeds)
@settings(max_examples=tries(80, 300), deadline=None)
def test_values_stay_in_their_stated_range(seed: int) -> None:
    rng = random.Random(seed)
    measure = some_measure(rng, rng.choice(PLAIN))
    qrels, rows = some_case(rng)
    try:
        result = il.evaluate(qrels, rows, measure, missing="zero")
    except UsageError:
        return
    lowest = min(grade for judged in qrels.values() for grade in judged.values())
    low, high = measure.filled().bounds(lowest)
    values = result.values[str(measure)]
    values = values[~np.isnan(values)]
    assert np.all((values >= low) & (values <= high))


@pytest.mark.parametrize(
    "measure",
    ["nDCG@5", "nDCG", "nDCG(gain=exp2)@3", "nDCG(discount=position)@5", "nDCG(ideal=retrieved)@5",
     "AP", "RR@5", "R", "Rprec", "Success@1", "AllHit", "bpref", "AP(denominator=min(k,R))@3",
     "R(denominator=min(k,R))@3", "nDCG(negative=keep)"],
)  # fmt: skip
@given(grades=st.lists(st.integers(-1, 3), min_size=1, max_size=6).filter(lambda g: max(g) > 0))
@settings(max_examples=tries(60, 200), deadline=None)
def test_the_ideal_list_attains_the_maximum(measure: str, grades: list[int]) -> None:
    one = il.parse(measure)
    found = sorted((grade for grade in grades if grade >= 0), reverse=True)
    left = [grade for grade in grades if grade < 0]
    assert one(found, judged=left) == one.filled().bounds(-1)[1]


@given(seeds)
@settings(max_examples=tries(60, 200), deadline=None)
def test_all_are_hit_where_recall_is_1(seed: int) -> None:
    rng = random.Random(seed)
    qrels, rows = some_case(rng)
    cut = rng.choice(["", "@1", "@3", "@10"])
    own = {"rel": rng.choice([0, 1, 2]), "rel_op": rng.choice([">=", ">"])}
    own["positive_score"] = rng.random() < 0.5
    found = result_of(qrels, rows, [f"AllHit{cut}", f"R{cut}"], **own)
    for all_hit, recall in zip(found[f"AllHit{cut}"], found[f"R{cut}"], strict=True):
        assert all_hit in (0, 1)
        assert all_hit <= recall
        assert (all_hit == 1) == (recall == 1)
    mean = result_of(qrels, rows, [f"AllHit{cut}", f"R{cut}"], ties="expected", **own)
    for all_hit, recall in zip(mean[f"AllHit{cut}"], mean[f"R{cut}"], strict=True):
        assert 0 <= all_hit <= recall + 1e-12


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_what_measures_and_runs_share_never_changes_a_bit(seed: int) -> None:
    """Measured with others, after another run, all is as measured alone over fresh judgments."""
    rng = random.Random(seed)
    size = rng.choice([3, 12, 40])
    (qrels, rows), (_, other) = some_case(rng, size), some_case(rng, size)
    measures = [*MANY, "AP(rel=2)", "nDCG(ideal=retrieved)@5", "nDCG(ideal_cut=min(k,n))@5"]
    evaluator = il.Evaluator(qrels, measures)
    evaluator(other)
    together = evaluator(rows)
    for label in measures:
        alone = il.evaluate(qrels, rows, label)
        assert alone.values[label].tobytes() == together.values[label].tobytes()
        assert prices_of(alone, label) == prices_of(together, label)


def prices_of(result: il.Evaluation, label: str) -> list[tuple[str, Any]]:
    return [(doubt.code, doubt.values[label]) for doubt in result.doubts if label in doubt.values]


@given(seeds)
@settings(max_examples=tries(80, 300), deadline=None)
def test_a_measure_is_what_it_prints(seed: int) -> None:
    rng = random.Random(seed)
    measure = some_measure(rng, rng.choice(list(MEASURES)))
    assert il.parse(str(measure)) == measure
    assert hash(il.parse(str(measure))) == hash(measure)


@given(seeds)
@settings(max_examples=tries(60, 200), deadline=None)
def test_a_signature_is_what_it_prints_in_both_forms(seed: int) -> None:
    rng = random.Random(seed)
    measure = some_measure(rng, rng.choice(list(MEASURES)))
    base = CONVENTIONS[rng.choice(list(CONVENTIONS))]
    axes = some_protocol(rng).written()
    signature = Signature.of(base.instrument(measure, axes), "0123456789")
    assert Signature.parse(str(signature)) == signature
    other = CONVENTIONS[rng.choice(list(CONVENTIONS))]
    assert Signature.parse(signature.short(other)) == signature


def test_every_field_of_the_instrument_is_in_the_signature() -> None:
    """Change each field in turn; the signature must change, and so name it."""
    instrument = Instrument.of(il.parse("nDCG@10"), {})
    before = str(Signature.of(instrument, "0"))
    for part in ("measure", "protocol", "aggregate"):
        settings_ = getattr(instrument, part)
        for name in type(settings_).parameters():
            changed = replace(settings_, **{name: another(part, name)})
            after = str(Signature.of(replace(instrument, **{part: changed}), "0"))
            assert after != before, name
            assert name in after
    assert str(Signature.of(instrument, "1")) != before
    assert (
        str(Signature.of(replace(instrument, measure=il.parse("nDCG@5").filled()), "0")) != before
    )
    hidden = {f.name for f in fields(Protocol)} - Protocol.parameters().keys()
    assert hidden == {"mapping"}  # its digest is the value of collapse
    chunks = [replace(instrument.protocol, collapse={"c": whole}) for whole in ("a", "b")]
    assert chunks[0].collapse != chunks[1].collapse
    hidden = {f.name for f in fields(Aggregate)} - Aggregate.parameters().keys()
    assert hidden == {"weights"}  # their digest is in the value of aggregate
    weighed = [instrument.weighted(Weights.read({"q": weight})).aggregate for weight in (1, 2)]
    assert weighed[0].aggregate != weighed[1].aggregate


def test_signatures_name_what_they_do_not_hold() -> None:
    axes = {"collapse": {"c1": "a"}, "ties": "input"}
    instrument = CONVENTIONS["sklearn"].instrument(il.parse("nDCG@5"), axes)
    signature = Signature.of(instrument.weighted(Weights.read({"q": 2, "p": 1})), "0123456789")
    for base in CONVENTIONS.values():
        assert Signature.parse(signature.short(base)) == signature
    assert Signature.parse(str(signature)) == signature
    plain = Signature.of(CONVENTIONS["sklearn"].instrument(il.parse("nDCG@5"), {}), "0123456789")
    assert plain.diff(signature).keys() == {"collapse", "aggregate", "ties"}
    with pytest.raises(UsageError, match="no axis"):
        Signature.parse("nDCG@5|trec_eval+gone:map(0123456789)|qrels:1|rules:1")


def another(part: str, name: str) -> Any:
    """Give a value of a parameter that is not its default."""
    if part == "measure":
        return values_of("nDCG", name)[1]
    elsewhere = {"nonfinite": "last", "unknown": "error", "aggregate": "median", "round": 3}
    return elsewhere[name] if name in elsewhere else AXES[name][1]


@given(seeds)
@settings(max_examples=tries(40, 80), deadline=None)
def test_equal_signatures_mean_equal_numbers(seed: int) -> None:
    """A changed convention changes the signature or no number."""
    rng = random.Random(seed)
    qrels, rows = some_case(rng)
    measure = some_measure(rng, rng.choice(["nDCG", "AP", "RR", "P", "R", "bpref"]))
    found: dict[str, list[float]] = {}
    for name in CONVENTIONS:
        try:
            result = il.evaluate(qrels, rows, measure, convention=name)
        except il.IdealistError:
            continue
        text = str(result.signatures[str(measure)])
        values = result.values[str(measure)].tolist()
        np.testing.assert_array_equal(found.setdefault(text, values), values)


@given(seeds)
@settings(max_examples=60, deadline=None)
def test_random_ties_depend_on_seed_query_and_document_alone(seed: int) -> None:
    rng = random.Random(seed)
    ids = [f"d{i}" for i in range(12)]
    entries = [(d, float(rng.randint(0, 1))) for d, _ in some_list(rng, ids)]
    protocol = Protocol(ties="random(5)")

    def listed(rows: list[tuple[str, float]]) -> list[str]:
        return il.listing(il.read_run({"q": rows}), protocol, ["q"])["q"].documents

    one, other = listed(entries), listed(entries[::-1])
    fewer = listed(entries[: len(entries) // 2 + 1])
    assert one == other
    assert [d for d in one if d in fewer] == fewer


@given(seeds)
@settings(max_examples=tries(40, 100), deadline=None)
def test_tokens_of_one_each_are_a_number_of_documents(seed: int) -> None:
    rng = random.Random(seed)
    qrels, rows = some_case(rng)
    axes: dict[str, Any] = some_budget(rng).written() | {"collapse": "none"}
    ones = with_tokens(rows, {q: dict.fromkeys(dict(rows[q]), 1.0) for q in rows})
    n = rng.randint(1, 12)
    few = result_of(qrels, ones, **axes | {"depth": f"tokens({n})"})
    assert few == result_of(qrels, rows, **axes | {"depth": n})
    enough = result_of(qrels, ones, **axes | {"depth": "tokens(99)"})
    assert enough == result_of(qrels, rows, **axes | {"depth": "none"})


@given(seeds)
@settings(max_examples=tries(40, 100), deadline=None)
def test_a_larger_budget_only_adds_to_the_list(seed: int) -> None:
    rng = random.Random(seed)
    _, rows = some_case(rng)
    tokens = some_tokens(rng, rows)
    run = il.read_run(with_tokens(rows, tokens))
    protocol = replace(some_budget(rng), collapse="none", exclude_self=False)
    lists = [
        il.listing(run, replace(protocol, depth=depth), rows)
        for depth in ("tokens(10)", "tokens(11)", "tokens(30)", "none")
    ]
    for query in rows:
        less, little, more, whole = (one[query].documents for one in lists)
        assert less == whole[: len(less)] == little[: len(less)]
        assert little == more[: len(little)]
        assert more == whole[: len(more)]
        spent = [sum(tokens[query][d] for d in whole[:n]) for n in range(len(whole) + 1)]
        assert spent[len(less)] <= 10
        assert len(less) == len(whole) or spent[len(less) + 1] > 10


@pytest.mark.parametrize("pattern", ["#\u00a0.*", "a|b", "x:y", "50%", "a b", "\u2003+"])
def test_odd_patterns_survive_in_signatures(pattern: str) -> None:
    signature = Signature.of(Instrument.of(il.parse("AP"), {"collapse": pattern}), "0")
    assert Signature.parse(str(signature)) == signature
    assert Signature.parse(signature.short(CONVENTIONS["trec_eval"])) == signature
    assert Signature.parse(str(signature).replace("v:", "v:9")) == signature
