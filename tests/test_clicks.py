"""Click models: hand-computed tables, plain loops, likelihoods that never fall, what is found again."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

import idealist as il
import oracle_clicks as oracle
from effort import IS_SLOW, tries
from idealist.clicks.chain_models import DynamicModel, SimplifiedDBN
from idealist.clicks.click_counts import ClickCounts
from idealist.clicks.click_model import MODELS, checked_prior, usual_cuts
from idealist.clicks.click_rates import ClickRate, ClicksOverExpected
from idealist.clicks.position_model import PositionModel
from idealist.errors import InputError, UsageError
from idealist.significance.beta_rates import Beta

NONE = Beta(0.0, 0.0)
#: Four pages of one query, which everything below was computed from by hand.
HAND: list[oracle.Page] = [
    ("q", [("a", 1, True), ("b", 2, False), ("c", 3, True)]),
    ("q", [("a", 1, False), ("b", 2, True), ("c", 3, False)]),
    ("q", [("b", 1, False), ("a", 2, False), ("c", 3, False)]),
    ("q", [("b", 1, True), ("a", 2, True), ("c", 3, False)]),
]


def counts_of(pages: list[oracle.Page]) -> ClickCounts:
    return il.read_clicks(oracle.rows_of(pages)).counts


def by_pair(counts: ClickCounts, values: Any) -> dict[tuple[str, str], float]:
    names = zip(counts.pair_query.tolist(), counts.pair_document.tolist(), values, strict=True)
    return {(counts.queries[q], counts.documents[d]): float(x) for q, d, x in names}


def check(found: dict[Any, float], expected: dict[Any, float], tolerance: float = 1e-12) -> None:
    assert found == pytest.approx(expected, abs=tolerance, nan_ok=True)


def test_click_rates_by_hand() -> None:
    found = by_pair(counts := counts_of(HAND), ClickRate.fitted(counts, NONE).relevance.value)
    check(found, {("q", "a"): 2 / 4, ("q", "b"): 2 / 4, ("q", "c"): 1 / 4})
    smooth = by_pair(counts, ClickRate.fitted(counts, Beta(1, 3)).relevance.value)
    check(smooth, {("q", "a"): 3 / 8, ("q", "b"): 3 / 8, ("q", "c"): 2 / 8})


def test_clicks_over_expected_by_hand() -> None:
    """Positions are clicked 2/4, 2/4 and 1/4 of the time; a and b expect 2, c expects 1."""
    found = by_pair(
        counts := counts_of(HAND), ClicksOverExpected.fitted(counts, NONE).relevance.value
    )
    check(found, {("q", "a"): 2 / 2, ("q", "b"): 2 / 2, ("q", "c"): 1 / 1})
    moved = [*HAND, ("q", [("c", 1, True)])]  # positions: 3/5, 2/4, 1/4; c expects 3/5 + 1
    found = by_pair(
        counts := counts_of(moved), ClicksOverExpected.fitted(counts, NONE).relevance.value
    )
    check(found, {("q", "a"): 2 / 2.2, ("q", "b"): 2 / 2.2, ("q", "c"): 2 / 1.6})


def test_sdbn_by_hand() -> None:
    """Looked at: all of the first and third page, the first two places of the others."""
    fit = SimplifiedDBN.fitted(counts := counts_of(HAND), NONE)
    check(
        by_pair(counts, fit.attractiveness.rates.value),
        {("q", "a"): 2 / 4, ("q", "b"): 2 / 4, ("q", "c"): 1 / 2},
    )
    check(
        by_pair(counts, fit.satisfaction.rates.value),
        {("q", "a"): 1 / 2, ("q", "b"): 1 / 2, ("q", "c"): 1 / 1},
    )
    check(
        by_pair(counts, fit.relevance.value),
        {("q", "a"): 1 / 4, ("q", "b"): 1 / 4, ("q", "c"): 1 / 2},
    )


page = st.tuples(
    st.sampled_from("qr"),
    st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.integers(0, 1),
).map(
    lambda one: (
        one[0],
        [
            (d, i + 1 + one[3] * (i > 1), c)
            for i, (d, c) in enumerate(zip(one[1], one[2], strict=False))
        ],
    )
)
logs = st.lists(page, min_size=1, max_size=25)


@settings(max_examples=tries(30, 2000), deadline=None)
@given(logs)
def test_counting_models_as_loops_count(pages: list[oracle.Page]) -> None:
    counts = counts_of(pages)
    for prior in (NONE, Beta(0.7, 2.5)):
        check(
            by_pair(counts, ClickRate.fitted(counts, prior).relevance.value),
            oracle.ctr(pages, prior),
        )
        expected = oracle.coec(pages, prior.successes)
        check(by_pair(counts, ClicksOverExpected.fitted(counts, prior).relevance.value), expected)
        fit, own = SimplifiedDBN.fitted(counts, prior), oracle.sdbn(pages, prior)
        check(
            by_pair(counts, fit.attractiveness.rates.value),
            {pair: a for pair, (a, _) in own.items()},
        )
        check(
            by_pair(counts, fit.satisfaction.rates.value), {pair: s for pair, (_, s) in own.items()}
        )


@settings(max_examples=tries(6, 200), deadline=None)
@given(st.lists(page, min_size=8, max_size=25))
def test_models_by_em_as_loops_climb(pages: list[oracle.Page]) -> None:
    """Both climb from the same place; leaps of ours must not lead to another height."""
    counts, prior = counts_of(pages), Beta(0.8, 1.5)
    own, fit = oracle.dbn(pages, prior, 400), DynamicModel.fitted(counts, prior)
    names = list(by_pair(counts, counts.pair_keys[0]))
    rates = [*(own.a[pair] for pair in names), *(own.s[pair] for pair in names)]
    height = own.likelihood(pages) + log_prior(rates, prior)
    assert fit.climb.likelihoods[-1] == pytest.approx(height, abs=1e-3)
    assert fit.climb.parameters[:-1] == pytest.approx(rates, abs=1e-2)
    place, looks = oracle.pbm(pages, prior, 400), PositionModel.fitted(counts, prior)
    if looks.cells.fixed.sum() == 1:
        check(by_pair(counts, looks.rates.rates.value), place.a, 5e-3)
        ours = looks.likelihoods(counts).sum()
        assert ours == pytest.approx(place.likelihood(pages), abs=1e-2)


def log_prior(rates: list[float], prior: Beta) -> float:
    return sum(prior.successes * math.log(x) + prior.failures * math.log(1 - x) for x in rates)


@settings(max_examples=tries(25, 500), deadline=None)
@given(logs)
def test_likelihoods_and_chances_of_dbn_as_ways_are_enumerated(pages: list[oracle.Page]) -> None:
    """A walk of the library, at any parameters, against every way a page can have come about."""
    counts = counts_of(pages)
    fit = DynamicModel.fitted(counts, Beta(1, 2))
    a, s = (by_pair(counts, one.rates.value) for one in (fit.attractiveness, fit.satisfaction))
    own = oracle.DBN(a, s, float(fit.gamma.value[0]))
    assert fit.likelihoods(counts).sum() == pytest.approx(own.likelihood(pages), abs=1e-6)
    for query, places in pages[:3]:
        blank = [(query, [(d, p, c) for (d, p, _), c in zip(places, clicks, strict=True)])
                 for clicks in every(len(places))]  # fmt: skip
        chances = [math.exp(own.likelihood([one])) for one in blank]
        assert sum(chances) == pytest.approx(1)
        marginal = [
            sum(c for c, one in zip(chances, blank, strict=True) if one[1][i][2])
            for i in range(len(places))
        ]
        single = counts_of([(query, places)])
        only = single.named(counts.queries, counts.documents)
        assert fit.chances(only) == pytest.approx(marginal, abs=1e-6)


def test_satisfaction_is_integrated_as_loops_integrate_it() -> None:
    """The likelihood of all pages, with one rate moved and all others where EM left them."""
    pages = oracle.pages_of(
        oracle.rows_of(HAND * 3 + [("q", [("c", 1, True), ("b", 2, True)])] * 2)
    )
    counts, prior = counts_of(pages), Beta(1.5, 2.5)
    fit = DynamicModel.fitted(counts, prior)
    names = list(by_pair(counts, counts.pair_keys[0]))
    a, s = np.split(fit.climb.parameters[:-1], 2)
    own = oracle.DBN(
        dict(zip(names, a, strict=True)),
        dict(zip(names, s, strict=True)),
        float(fit.climb.parameters[-1]),
    )
    grid = (np.arange(2000) + 0.5) / 2000
    for number, pair in enumerate(names):
        logs = [
            oracle.DBN(own.a, own.s | {pair: float(x)}, own.gamma).likelihood(pages)
            + (prior.successes - 1) * math.log(x) + (prior.failures - 1) * math.log(1 - x)
            for x in grid
        ]  # fmt: skip
        weights = np.exp(np.array(logs) - max(logs))
        mean = float(weights @ grid / weights.sum())
        assert fit.satisfaction.rates.value[number] == pytest.approx(mean, abs=2e-3)


def every(size: int) -> list[list[bool]]:
    return [[bool(number >> i & 1) for i in range(size)] for number in range(2**size)]


@pytest.mark.parametrize("seed", range(3))
def test_likelihoods_never_fall(seed: int) -> None:
    counts = il.read_clicks(oracle.users("pbm", seed, pages=300).log).counts
    for fit in (PositionModel.fitted(counts), DynamicModel.fitted(counts)):
        steps = np.diff(fit.climb.likelihoods)
        assert len(steps) > 3
        assert steps.min() > -1e-7 * abs(fit.climb.likelihoods[0])
        assert fit.climb.is_still


def inside(found: Any, truth: Any) -> list[bool]:
    return list((found.low <= truth) & (truth <= found.high))


@pytest.mark.parametrize("model", ["pbm", "sdbn", "dbn"])
def test_parameters_are_within_their_intervals(model: str) -> None:
    """Of 200 logs, as its own users made them; SDBN's last document is certain, and no parameter."""
    held: dict[str, list[bool]] = {"a": [], "s": [], "a * s": [], "theta": [], "gamma": []}
    for seed in range(tries(6, 200)):
        users = oracle.users(model, seed, pages=4000 if IS_SLOW else 1500)
        counts = il.read_clicks(users.log).counts
        fit = MODELS[model].fitted(counts)
        a, s = users.of(counts, users.a), users.of(counts, users.s)
        some = a < 1
        if model == "pbm":
            held["a"] += inside(fit.relevance, a)
            held["theta"] += inside(fit.curve.examined, users.theta)[1:]
            continue
        for name, own, truth in (
            ("a", fit.attractiveness.rates.estimates, a), ("s", fit.satisfaction.rates.estimates, s),
            ("a * s", fit.relevance, a * s),
        ):  # fmt: skip
            held[name] += np.array(inside(own, truth))[some].tolist()
        held["gamma"] += inside(fit.gamma, users.gamma) if model == "dbn" else []
    shares = {name: (len(own), np.mean(own)) for name, own in held.items() if own}
    print(model, {name: f"{share:.1%} of {many:,}" for name, (many, share) in shares.items()})
    estimated = [one for name, own in held.items() if name != "a * s" for one in own]
    assert np.mean(estimated) >= (0.93 if IS_SLOW else 0.91)
    assert all(share >= 0.9 for _, share in shares.values())


def test_more_traffic_narrows_intervals() -> None:
    widths = []
    for pages in (300, 3000):
        found = il.click_model(oracle.users("pbm", 5, pages=pages).log)
        widths.append(float(np.mean(found.estimates.high - found.estimates.low)))
    assert widths[1] < widths[0] / 2


def test_positions_that_nothing_links_are_unknown() -> None:
    """The same documents at the same places say nothing of positions; a swap links two of them."""
    fixed = [("q", [(d, i, (n + i) % 3 == 0) for i, d in enumerate("abc", 1)]) for n in range(60)]
    found = il.click_model(oracle.rows_of(fixed), "pbm")
    assert found.fit.cells.linked.tolist() == [True, False, False]
    assert np.isfinite(found.estimates.value).tolist() == [True, False, False]
    assert found.grades.documents == ("a",)
    (doubt,) = [one for one in found.doubts if one.code == "clicks-unlinked"]
    assert doubt.count == 2
    assert "position 2, 3 to position 1" in doubt.finding
    swapped = [("q", [("b", 1, n % 3 == 0), ("a", 2, n % 4 == 0)]) for n in range(40)]
    found = il.click_model(oracle.rows_of([*fixed, *swapped]), "pbm")
    assert found.fit.cells.linked.tolist() == [True, True, False]
    assert found.data()["examination"][2]["looked_at"] is None
    assert "position 2" in found.figure("examination").summary
    alone = il.click_model(oracle.rows_of(fixed), "pbm").figure("examination")
    assert alone.summary.startswith("Only one position is known")
    assert not alone.note


def test_unclicked_documents_link_nothing() -> None:
    pages = [("q", [("a", 1, n % 2 == 0), ("z", 2, False)]) for n in range(20)]
    pages += [("q", [("z", 1, False), ("b", 2, n % 2 == 0)]) for n in range(20)]
    assert il.click_model(oracle.rows_of(pages), "pbm").fit.cells.linked.tolist() == [True, False]


def test_a_prior_that_is_given_and_none() -> None:
    counts = counts_of(HAND)
    fit = ClickRate.fitted(counts, NONE)
    low, high = by_pair(counts, fit.relevance.low), by_pair(counts, fit.relevance.high)
    jeffreys = beta(1.5, 3.5).ppf([0.025, 0.975])  # of 1 in 4
    assert [low["q", "c"], high["q", "c"]] == pytest.approx(jeffreys.tolist(), abs=1e-9)
    assert checked_prior(None) is None
    assert checked_prior([1, 2]) == Beta(1, 2)
    for bad in ([1], "no", [-1, 2], [0, 1], [1, math.inf]):
        with pytest.raises(UsageError, match="prior cannot be"):
            il.click_model(oracle.rows_of(HAND), prior=bad)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_makes_grades(model: str) -> None:
    users = oracle.users("dbn", 3, pages=1500)
    found = il.click_model(users.log, model)
    low, high = found.estimates.low, found.estimates.high
    assert (low <= found.estimates.value + 1e-9).all()
    assert (found.estimates.value <= high + 1e-9).all()
    assert found.grades.scale == il.Scale.of(3)
    shares = [float(np.mean(found.grades.grades >= grade)) for grade in (1, 2, 3)]
    assert shares == pytest.approx([0.5, 0.158, 0.05], abs=0.02)
    truth = users.of(found.log.counts, users.a * users.s)
    assert np.corrcoef(truth, found.estimates.value)[0, 1] > 0.6
    table = found.to_pandas()
    assert len(table) == len(truth)
    assert table["grade"].notna().all()
    assert found.grades.gold == "pooled"


def test_documents_and_queries_with_too_little_traffic() -> None:
    pages = [("q", [("a", 1, True), ("b", 2, False)])] * 9 + [("q", [("a", 1, False)])]
    pages += [("rare", [("a", 1, True)])] * 3 + [("rarer", [("a", 1, True)])]
    found = il.click_model(oracle.rows_of(pages), "ctr", least=10)
    assert found.grades.to_dict() == {"q": {"a": 3}}
    assert found.left_out == ("rare", "rarer")
    assert {
        row["document"]: row["grade"] for row in found.data()["documents"] if row["query"] == "q"
    } == {"a": 3, "b": None}
    none = il.click_model(oracle.rows_of(pages), "ctr", least=100)
    assert none.summary.startswith("No document was shown 100 times")
    assert len(none.grades) == 0
    assert "shown 100 times" in str(none)


def test_cuts_that_are_given_are_kept() -> None:
    found = il.click_model(oracle.rows_of(HAND), "ctr", prior=(0, 0), least=1, cuts=[0.25, 0.5])
    assert found.grades.to_dict() == {"q": {"a": 2, "b": 2, "c": 1}}
    several: list[Any] = [[], [0.5, 0.5], [0.5, 0.2], ["x"], [math.nan, 1]]
    for bad in several:
        with pytest.raises(UsageError, match="cuts cannot be"):
            il.click_model(oracle.rows_of(HAND), "ctr", cuts=bad)
    for wrong in ({"scale": 0}, {"scale": 1.5}, {"least": 0}, {"model": "ubm"}):
        with pytest.raises(UsageError):
            il.click_model(oracle.rows_of(HAND), **wrong)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(1, 6))
def test_cuts_rise_and_are_estimates(values: list[float], scale: int) -> None:
    cuts = usual_cuts(np.array(values), scale)
    known = [one for one in cuts if not math.isnan(one)]
    assert list(cuts[: len(known)]) == sorted(known)  # what nothing reaches is last
    assert set(known) <= set(values) - {0.0}
    assert len(cuts) == scale


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.7]), min_size=1, max_size=40), st.integers(1, 6),
    st.randoms(),
)  # fmt: skip
def test_documents_that_tie_get_the_lower_grade(
    values: list[float], scale: int, draw: random.Random
) -> None:
    """A document's grade is that of the lowest place that another with its estimate could have."""
    noisy = [value * (1 + draw.uniform(-1e-8, 1e-8)) for value in values]
    cuts = usual_cuts(np.array(noisy), scale)
    ranked = sorted(values)
    shares = [1 - 0.5 * 0.1 ** (i / max(scale - 1, 1)) for i in range(scale)]
    needed = [math.ceil(share * (len(values) - 1) - 1e-9) for share in shares]
    for value, near in zip(values, noisy, strict=True):
        lowest = ranked.index(value)
        expected = sum(lowest >= one for one in needed) if value else 0
        assert np.searchsorted(cuts, near, side="right") == expected


def tail(clicked: str) -> list[oracle.Page]:
    """100 pages: the first twenty documents by turns, five on a page, of which some are clicked."""
    shown = [[(n * 5 + i) % 20 for i in range(5)] for n in range(100)]
    return [
        ("q", [(f"d{d}", i, f"d{d}" == clicked) for i, d in enumerate(own, 1)]) for own in shown
    ]


@pytest.mark.parametrize("model", MODELS)
def test_a_document_that_nobody_clicked_gets_grade_0(model: str) -> None:
    found = il.click_model(oracle.rows_of(tail("d0")), model)
    assert found.grades.to_dict()["q"]["d0"] == 3
    assert sum(found.grades.to_dict()["q"].values()) == 3
    (doubt,) = [one for one in found.doubts if one.code == "clicks-equal-cuts"]
    assert doubt.finding.endswith("none has grade 1, 2")
    assert "keep them" not in str(found)
    given = il.click_model(oracle.rows_of(tail("d0")), model, cuts=[1e-12, 1e-11])
    assert sum(grade > 0 for grade in given.grades.to_dict()["q"].values()) == 1


def test_documents_that_are_all_alike_get_no_grade_above_0() -> None:
    pages = [("q", [(d, i, n % 2 == 0) for i, d in enumerate("ab", 1)]) for n in range(20)]
    found = il.click_model(oracle.rows_of(pages), "ctr")
    assert found.grades.to_dict() == {"q": {"a": 0, "b": 0}}
    assert "none has grade 1, 2, 3" in str(found)


@pytest.mark.parametrize(
    ("pages", "says"),
    [
        (tail(""), "nothing was clicked on 100 pages"),
        ([("q", [("a", 1, True), ("b", 2, True)])] * 10, "every row was clicked: 10 pages"),
    ],
)
def test_logs_that_compare_nothing_are_refused(pages: list[oracle.Page], says: str) -> None:
    for use in (il.click_model, il.compare_click_models):
        with pytest.raises(InputError, match=says + r"[^\[]*\[no-skips\]"):
            use(oracle.rows_of(pages))


def test_the_model_that_made_the_clicks_predicts_best() -> None:
    for model in ("pbm", "dbn"):
        users = oracle.users(model, 1, pages=3000)
        found = il.compare_click_models(users.log, ["ctr", "pbm", "sdbn", "dbn"])
        assert found.best.model == model, str(found)
        assert found.models[1].interval.high < 0
        assert all(1 <= one.perplexity < 2 for one in found.models)
        assert [one["model"] for one in found.data()["models"]] == [
            one.model for one in found.models
        ]
    with pytest.raises(UsageError, match="no click model 'ubm'"):
        il.compare_click_models(oracle.rows_of(HAND), ["ubm"])
    with pytest.raises(UsageError, match="too few sessions"):
        il.compare_click_models(oracle.rows_of(HAND[:1]))


def test_few_held_out_pages_or_clicks_tell_nothing() -> None:
    found = il.compare_click_models(oracle.rows_of(HAND * 10))
    assert "cannot tell which model predicts clicks best" in found.summary
    rare = [("q", [("a", 1, n == 3), ("b", 2, n == 9)]) for n in range(600)]
    found = il.compare_click_models(oracle.rows_of(rare))
    assert "cannot tell which model" in found.summary


def test_held_out_likelihood_and_perplexity_as_loops_have_them() -> None:
    log = il.read_clicks(oracle.users("pbm", 2, pages=800).log)
    fit = ClickRate.fitted(log.learnt)
    rate = by_pair(log.learnt, fit.relevance.value)
    held, at = log.held_out, dict[int, list[float]]()
    for i in range(len(held.query)):
        for place in range(held.starts[i], held.starts[i + 1]):
            p = rate[held.queries[held.query[i]], held.documents[held.document[place]]]
            clicks = int(held.clicks[place])
            own = at.setdefault(int(held.position[place]), [0.0, 0.0])
            own[0] += clicks * math.log2(p) + (int(held.pages[i]) - clicks) * math.log2(1 - p)
            own[1] += int(held.pages[i])
    found = il.compare_click_models(log, ["ctr"]).best
    assert found.perplexities == pytest.approx([2 ** -(x / n) for x, n in at.values()])
    total = sum(x for x, _ in at.values()) * math.log(2)
    assert found.likelihood == pytest.approx(total / held.pages.sum())
