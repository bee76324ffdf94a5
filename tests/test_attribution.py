"""The gap between two conventions, divided among their axes: the laws it obeys, and its words."""

from __future__ import annotations

import json
import math
import random
import time
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from effort import tries
from generated import (
    AXES,
    Qrels,
    Rows,
    seeds,
    some_case,
    some_measure,
    some_protocol,
    values_of,
)
from idealist.cli.main import cli
from idealist.conventions import CONVENTIONS
from idealist.conventions.signature import WORDS, Signature, meaning
from idealist.measures import MEASURES
from idealist.measures.instrument import Aggregate, Instrument, measured
from idealist.ranking.ranked import Ranked
from idealist.reconciling.attribution import MOST_AXES
from idealist.reconciling.game import Axis, Game, changed, differing, registry, shapley

NAMES = ["nDCG@3", "nDCG", "AP", "AP@3", "RR", "RR@3", "P@3", "R@3", "ERR@3", "bpref"]
EXACT = 1e-12
EXAMPLES = Path(__file__).parents[1] / "examples"


def some_pair(rng: random.Random, name: str) -> tuple[str, str]:
    having = [one.name for one in CONVENTIONS.values() if one.has(il.parse(name))]
    first, second = rng.sample(having, 2)
    return first, second


def some_data(rng: random.Random) -> tuple[Qrels, Rows]:
    """Give a case that half of the time has no holes, so that tools refuse less of it."""
    qrels, rows = some_case(rng, size=6)
    if rng.random() < 0.5:
        rows = {q: rows.get(q, [("d1", 1.0)]) for q in qrels}
        qrels = {q: {d: abs(int(g)) for d, g in judged.items()} for q, judged in qrels.items()}
    return qrels, rows


def instruments(name: str, a: str, b: str) -> tuple[Instrument, Instrument]:
    one = il.parse(name)
    return CONVENTIONS[a].instrument(one), CONVENTIONS[b].instrument(one)


def value(qrels: Qrels, rows: Rows, instrument: Instrument) -> float:
    """Measure under one instrument, on its own and not rounded."""
    judged = il.read_qrels(qrels)
    placements = il.rank(judged, il.read_run(rows), [instrument.protocol])[instrument.protocol]
    plain = replace(instrument, aggregate=replace(instrument.aggregate, round="none"))
    return measured(plain, placements).aggregate


def by_permutations(
    qrels: Qrels, rows: Rows, a: Instrument, b: Instrument, axes: tuple[Axis, ...]
) -> dict[str, float]:
    """Average what each axis adds over all orders in which they can change."""
    known: dict[frozenset[Axis], float] = {}

    def worth(changes: frozenset[Axis]) -> float:
        if changes not in known:
            known[changes] = value(qrels, rows, changed(a, b, changes))
        return known[changes]

    worth(frozenset())  # raises what is wrong whatever the axes
    added: dict[str, list[float]] = {axis.name: [] for axis in axes}
    for order in permutations(axes):
        for i, axis in enumerate(order):
            step = worth(frozenset(order[: i + 1])) - worth(frozenset(order[:i]))
            added[axis.name].append(step)
    return {name: math.fsum(steps) / len(steps) for name, steps in added.items()}


@given(seeds, st.sampled_from(NAMES))
@settings(max_examples=tries(80, 250), deadline=None)
def test_shares_are_those_of_all_permutations(seed: int, name: str) -> None:
    """And an axis that cannot matter by a fact of the data adds nothing in any order."""
    rng = random.Random(seed)
    a, b = some_pair(rng, name)
    first, second = instruments(name, a, b)
    axes = differing(first, second)
    if len(axes) > 6:
        return
    qrels, rows = some_data(rng)
    try:
        wanted = by_permutations(qrels, rows, first, second, axes)
    except il.IdealistError:
        return
    if any(map(math.isnan, wanted.values())):
        return
    found = il.attribute(qrels, rows, name, a, b)
    assert not found.left_out
    assert [one.axis for one in found.shares] == [axis.name for axis in axes]
    for one in found.shares:
        assert one.shapley == pytest.approx(wanted[one.axis], abs=EXACT), one
        if one.reason:
            assert wanted[one.axis] == one.shapley == one.alone == one.last == 0


MORE = {**AXES, "nonfinite": ["error", "as_is", "last"], "unknown": ["skip", "error"]}


def some_instruments(rng: random.Random) -> tuple[Instrument, Instrument]:
    """Give two instruments for one measure that differ in a few axes of any kind."""
    name = rng.choice(["nDCG", "DCG", "AP", "RR", "P", "R", "ERR", "bpref", "RBP"])
    one = Instrument(some_measure(rng, name).filled(), some_protocol(rng), Aggregate())
    own = rng.sample(list(one.measure.parameters()), rng.randint(0, 2))
    others = rng.sample(list(MORE), rng.randint(0, 3))
    measure = replace(one.measure, **{key: rng.choice(values_of(name, key)) for key in own})
    protocol = replace(one.protocol, **{key: rng.choice(MORE[key]) for key in others})
    aggregate = Aggregate(aggregate=rng.choice(["mean", "mean", "median", "sum", "geometric"]))
    return one, Instrument(measure, protocol, aggregate)


@given(seeds)
@settings(max_examples=tries(100, 300), deadline=None)
def test_shares_of_any_two_instruments_are_those_of_all_permutations(seed: int) -> None:
    rng = random.Random(seed)
    try:
        a, b = some_instruments(rng)
    except il.UsageError:  # rules that do not go together
        return
    qrels, rows = some_data(rng)
    rows = {q: [*rows[q], *rng.choice([[], rows[q][:1]])] for q in rows}
    scale = rng.choice([1.0, 1.0, 1e39, 1e-46])
    rows = {q: [(d, s * scale if rng.random() < 0.5 else s) for d, s in rows[q]] for q in rows}
    axes = differing(a, b)
    try:
        wanted = by_permutations(qrels, rows, a, b, axes)
    except il.IdealistError:
        return
    if not wanted or any(map(math.isnan, wanted.values())):
        return
    found = il.attribute(qrels, rows, a.measure, a, b)
    for one in found.shares:
        assert one.shapley == pytest.approx(wanted[one.axis], abs=1e-9), one
        assert not one.reason or wanted[one.axis] == 0, one
    assert math.fsum(one.shapley for one in found.shares) == pytest.approx(found.gap, abs=1e-9)


@given(seeds, st.sampled_from(NAMES))
@settings(max_examples=tries(80, 250), deadline=None)
def test_shares_add_up_to_the_gap_and_negate(seed: int, name: str) -> None:
    rng = random.Random(seed)
    a, b = some_pair(rng, name)
    qrels, rows = some_data(rng)
    try:
        there = il.attribute(qrels, rows, name, a, b)
    except il.IdealistError:
        return
    total = math.fsum([*(one.shapley for one in there.shares), there.rest, there.rounding])
    assert total == pytest.approx(there.gap, abs=EXACT)
    back = il.attribute(qrels, rows, name, b, a)
    assert {one.axis: one.shapley for one in back.shares} == {
        one.axis: -one.shapley for one in there.shares
    }
    assert [one.axis for one in back.left_out] == [one.axis for one in there.left_out]
    assert (back.gap, back.rounding) == (-there.gap, -there.rounding)
    assert back.rest == pytest.approx(-there.rest, abs=EXACT)
    for one, other in zip(there.shares, back.shares, strict=True):
        assert (one.alone, one.last) == (-other.last, -other.alone)
    for side in (there.a, there.b):
        convention = CONVENTIONS[side.name]
        if not side.refuses and convention.has(il.parse(name)):
            own = {"grades": "truncate"} if side.name == "trec_eval" else {}  # as the tool does
            wanted = il.evaluate(qrels, rows, name, convention=side.name, **own)
            assert side.value == wanted[name]
    assert str(there)
    assert json.loads(json.dumps(there.data(), allow_nan=False))["gap"] == there.gap


@given(seeds, st.sampled_from(NAMES))
@settings(max_examples=tries(50, 100), deadline=None)
def test_the_mean_over_queries_is_the_share(seed: int, name: str) -> None:
    rng = random.Random(seed)
    a, b = instruments(name, *some_pair(rng, name))
    qrels, rows = some_data(rng)
    try:
        game = Game.of(Ranked(il.read_qrels(qrels), il.read_run(rows)), a, b, differing(a, b))
    except il.IdealistError:
        return
    shares, by_query = shapley(game.values[:, None]), shapley(game.queries)
    assert by_query.mean(axis=1) == pytest.approx(shares[:, 0], abs=EXACT)


@given(st.integers(0, 4), st.data())
@settings(max_examples=tries(50, 100), deadline=None)
def test_shapley_values_of_any_game(count: int, data: Any) -> None:
    numbers = st.floats(-10, 10, allow_nan=False)
    size = 1 << count
    values = np.array(data.draw(st.lists(numbers, min_size=size, max_size=size)))
    found = shapley(values[:, None])[:, 0]
    wanted = np.zeros(count)
    orders = list(permutations(range(count)))
    for order in orders:
        subset = 0
        for i in order:
            wanted[i] += (values[subset | 1 << i] - values[subset]) / len(orders)
            subset |= 1 << i
    assert found == pytest.approx(wanted, abs=1e-9)
    assert found.sum() == pytest.approx(values[-1] - values[0], abs=1e-9)


def test_a_player_that_adds_nothing_gets_exactly_nothing() -> None:
    values = np.random.default_rng(1).random(8)
    doubled = np.concatenate((values, values))[:, None]
    assert shapley(doubled)[3, 0] == 0
    assert shapley(doubled)[:3, 0] == pytest.approx(shapley(values[:, None])[:, 0], abs=EXACT)


QRELS = {"q1": {"d1": 3, "d2": 1, "d3": 2}, "q2": {"d1": 1, "d2": 0}}
ROWS = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d2": 1.0, "d1": 1.0}}


def test_an_axis_that_refuses_is_left_out() -> None:
    negative = {**QRELS, "q3": {"d1": -1, "d2": 1}}
    rows = {**ROWS, "q3": {"d1": 2.0, "d2": 1.0}}
    found = il.attribute(negative, rows, "nDCG@10", "trec_eval", "sklearn")
    (left,) = found.left_out
    assert (left.axis, left.held) == ("negative", "a")
    assert "query 'q3', document 'd1': grade -1 is negative" in left.reason
    assert found.b.refuses
    assert not found.a.refuses
    assert "sklearn refuses this data" in str(found)
    lenient = il.evaluate(negative, rows, "nDCG@10", convention="sklearn", negative="allow")
    assert found.b.value == lenient["nDCG@10"]


def test_what_is_left_out_has_a_share_where_both_sides_have_a_value() -> None:
    """Each rule of hits and of expected ties can be measured, but not both together."""
    rows = {"q1": {"d2": 1.0, "d1": 1.0}, "q2": {"d2": 1.0, "d1": 1.0}}
    cut = il.AP @ 1
    one = CONVENTIONS["trec_eval"].instrument(cut, {"ties": "expected"})
    other = CONVENTIONS["trec_eval"].instrument(cut, {"denominator": "hits"})
    found = il.attribute(QRELS, rows, cut, one, other)
    assert [left.axis for left in found.left_out] == ["AP.denominator"]
    assert not any(side.refuses for side in (found.a, found.b))
    assert found.rest
    assert found.rest + found.shares[0].shapley == pytest.approx(found.gap, abs=EXACT)
    back = il.attribute(QRELS, rows, cut, other, one)
    assert back.rest == pytest.approx(-found.rest, abs=EXACT)
    assert "left out: AP.denominator" in str(found)


def test_data_that_nothing_can_measure_is_refused() -> None:
    twice = {"q1": [("d1", 1.0), ("d1", 0.5)]}
    with pytest.raises(il.InputError, match="retrieved twice"):
        il.attribute(QRELS, twice, "nDCG@10", "trec_eval", "sklearn")
    with pytest.raises(il.UsageError, match="no convention 'trec_evil'"):
        il.attribute(QRELS, ROWS, "nDCG@10", "trec_evil", "sklearn")
    with pytest.raises(il.UsageError, match="no axis 'tie'"):
        il.attribute(QRELS, ROWS, "nDCG@10", "trec_eval", "sklearn", tie="input")


def test_axes_of_both_do_not_differ() -> None:
    found = il.attribute(
        QRELS, ROWS, "nDCG@10", "trec_eval", "sklearn", ties="input", missing="zero"
    )
    assert [one.axis for one in found.shares] == ["nDCG.ideal", "negative", "grades"]
    same = il.attribute(QRELS, ROWS, "nDCG@10", "trec_eval", "trec_eval")
    assert (same.gap, same.shares) == (0, ())


def test_instruments_are_taken_as_they_are() -> None:
    one = CONVENTIONS["trec_eval"].instrument(il.nDCG @ 10)
    two = CONVENTIONS["trec_eval"].instrument(il.nDCG(gain="exp2") @ 3)
    found = il.attribute(QRELS, ROWS, il.nDCG, one, two)
    assert [share.axis for share in found.shares] == ["cutoff", "nDCG.gain"]
    assert (found.a.name, found.b.name) == ("A", "B")
    assert str(found.a.signature) in str(found)
    with pytest.raises(il.UsageError, match="every axis set"):
        il.attribute(QRELS, ROWS, il.nDCG, one, two, ties="input")
    with pytest.raises(il.UsageError, match="for nDCG, not AP"):
        il.attribute(QRELS, ROWS, "AP", one, two)


def test_a_measure_of_your_own_is_attributed() -> None:
    @il.measure("FirstGrade")
    def first_grade(placements: il.Placements) -> Any:
        return np.nan_to_num(placements.grid(1).filled(0))[:, 0]

    found = il.attribute(QRELS, ROWS, first_grade, "trec_eval", "sentence-transformers")
    assert {one.axis: one.shapley for one in found.shares} == {"ties": 0.5}
    assert found.gap == 0.5


def test_a_limit_and_its_operator_are_one_rule() -> None:
    """Taken apart, >= 1 and > 0 would have two large effects that cancel."""
    found = il.attribute(QRELS, ROWS, "AP", "trec_eval", "pyvespa")
    shares = {one.axis: one for one in found.shares}
    assert (shares["AP.rel"].before, shares["AP.rel"].after) == (">=1", ">0")
    assert shares["AP.rel"].reason == "both take the same documents as relevant"


def test_too_many_axes_are_refused() -> None:
    one = CONVENTIONS["trec_eval"].instrument(il.nDCG @ 2)
    many = {
        "gain": "table(1=5)", "rel": "2", "negative": "keep", "discount": "none",
        "ideal": "retrieved", "ideal_cut": "none", "ideal_negative": "keep", "no_relevant": "1",
        "order": "given", "unjudged": "drop", "collapse": "#.*", "aggregate": "median", "missing": "skip",
    }  # fmt: skip
    assert len(many) > MOST_AXES
    two = Instrument.of(il.nDCG @ 3, many)
    signed = {**QRELS, "q3": {"d1": -1}}
    with pytest.raises(il.UsageError, match="axes differ") as caught:
        il.attribute(signed, ROWS, il.nDCG, one, two)
    assert "set some for both" in caught.value.hint


def test_rounding_is_what_remains() -> None:
    found = il.attribute(QRELS, ROWS, "nDCG@10", "trec_eval", "opensearch")
    assert found.rounds == ("none", "query(2)")
    assert found.rounding
    assert all(share.axis != "round" for share in found.shares)
    assert " round " in str(found)
    assert "rounding" in found.data()


def test_a_tool_without_the_measure_is_noted() -> None:
    found = il.attribute(QRELS, ROWS, "RR", "trec_eval", "sklearn")
    assert "scikit-learn does not compute RR; these would be its rules" in found.notes


def test_the_queries_that_move_most_are_named() -> None:
    found = il.attribute(QRELS, {"q1": ROWS["q1"]}, "nDCG@10", "trec_eval", "pytrec_eval")
    shares = {one.axis: one for one in found.shares}
    assert list(shares["missing"].queries) == ["q2"]
    assert shares["missing"].queries["q2"] == pytest.approx(2 * found.gap)
    assert shares["precision"].reason


def test_it_is_written_in_every_form() -> None:
    found = il.attribute(QRELS, ROWS, "nDCG@10", "trec_eval", "lightgbm")
    shown = str(found)
    assert shown.startswith("nDCG@10 of run: trec_eval ")
    assert "nDCG.gain          linear       exp2" in shown
    assert all(len(line) <= 100 for line in shown.splitlines())
    written = found.markdown()
    assert "| axis | trec_eval | lightgbm | Shapley | alone | last |" in written
    assert "- nDCG.gain: a grade is worth more or less; moves most: q1 " in written
    assert "<table>" in found._repr_html_()
    table = found.table()
    assert table.headers[3:6] == ["shapley", "alone", "last"]
    assert table.rows[-1][:4] == ("gap", None, None, found.gap)
    assert {row[0] for row in table.rows} > {one.axis for one in found.shares}
    data = found.data()
    assert data["registry"] == [axis.name for axis in registry(il.nDCG())]
    assert {one["axis"] for one in data["axes"]} >= {"nDCG.gain", "ties", "negative"}
    assert data["a"]["signature"].endswith(f"v:{il.__version__}")


@pytest.mark.parametrize("name", MEASURES)
def test_every_axis_has_words_and_a_place(name: str) -> None:
    """Each field of a signature is in the registry, or stands beside it, and has its sentence."""
    made = MEASURES[name]()
    fields = Signature.of(CONVENTIONS["trec_eval"].instrument(made), "0").fields
    beside = {"measure", "qrels", "rules", "round", f"{name}.rel_op"}
    names = [axis.name for axis in registry(made)]
    assert [field for field in fields if field not in beside] == names
    for field in fields:
        assert meaning(field) in WORDS.values(), field


def test_sentences_are_used_and_short() -> None:
    parameters = {key for cls in MEASURES.values() for key in cls.parameters()}
    for axis, words in WORDS.items():
        assert len(words) <= 60, words
        start, dot, key = axis.rpartition(".")
        assert not dot or (key in parameters and (not start or start in MEASURES)), axis


def test_a_diff_of_signatures_is_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f"nDCG@10|{name}|qrels:154931a3b8|rules:1" for name in ("trec_eval", "sklearn")]
    cli.main(["signature", "diff", *texts], standalone_mode=False)
    shown = capsys.readouterr().out
    for axis in ("nDCG.ideal", "ties", "negative", "grades", "missing"):
        assert any(axis in line and meaning(axis) in line for line in shown.splitlines())
    cli.main(["signature", "diff", *texts, "-f", "json"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)["nDCG@10"]
    assert found["ties"] == ["docid-desc", "expected"]


@pytest.mark.parametrize("form", ["table", "md", "json", "tsv", "csv", "latex"])
def test_two_conventions_are_explained_on_the_command_line(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(EXAMPLES / "qrels.txt"), str(EXAMPLES / "bm25.run")]
    between = ["-m", "nDCG@10", "--between", "trec_eval", "opensearch"]
    cli.main(["explain", *files, *between, "-f", form], standalone_mode=False)
    shown = capsys.readouterr().out
    found = il.attribute(files[0], files[1], "nDCG@10", "trec_eval", "opensearch")
    if form == "json":
        assert json.loads(shown) == found.data()
    elif form in ("table", "md"):
        assert shown == found.render(form) + "\n"
    else:
        assert "nDCG.gain" in shown
        assert "query(2)" in shown


def test_real_runs_are_attributed_at_once(data: Path) -> None:
    folder = data / "trec-covid-r1"
    if not folder.exists():
        pytest.skip("TREC-COVID is not here")
    start = time.process_time()  # of the processor: others may use it too
    qrels = il.read_qrels(folder / "qrels.txt")
    for path in sorted((folder / "runs").iterdir()):
        found = il.attribute(qrels, path, "nDCG@10", "trec_eval", "sklearn")
        assert math.fsum(one.shapley for one in found.shares) == pytest.approx(found.gap, abs=EXACT)
        usual = il.evaluate(qrels, path, "nDCG@10", convention="sklearn")
        assert found.b.value == usual["nDCG@10"]
    assert time.process_time() - start < 10
