"""Measures as values: hand-computed numbers, parameters, spellings, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import idealist as il
from idealist import AP, CG, DCG, ERR, RBP, RR, UDCG, P, R, nDCG
from idealist.measures import MEASURES, as_measure

LIST = [1, 3, 0, 2, 2]


def test_the_worked_example() -> None:
    """CG 8, DCG 4.528, IDCG 5.693, nDCG 0.7954; 0.794 divides numbers that were cut before."""
    dcg = 1 + 3 / math.log2(3) + 2 / math.log2(5) + 2 / math.log2(6)
    idcg = 3 + 2 / math.log2(3) + 2 / math.log2(4) + 1 / math.log2(5)
    assert (CG @ 5)(LIST) == 8
    assert (DCG @ 5)(LIST) == pytest.approx(dcg, abs=1e-15)
    assert (round(dcg, 3), round(idcg, 3)) == (4.528, 5.693)
    assert (nDCG @ 5)(LIST) == pytest.approx(dcg / idcg, abs=1e-15)
    assert round((nDCG @ 5)(LIST), 4) == 0.7954
    assert int(4.52 / 5.69 * 1000) / 1000 == 0.794


def test_burges_and_jarvelin_kekalainen() -> None:
    burges = 1 + 7 / math.log2(3) + 3 / math.log2(5) + 3 / math.log2(6)
    ideal = 7 + 3 / math.log2(3) + 3 / 2 + 1 / math.log2(5)
    assert nDCG(gain="exp2")(LIST) == pytest.approx(burges / ideal, abs=1e-15)
    jk = 1 + 3 / 1 + 2 / math.log2(4) + 2 / math.log2(5)
    jk_ideal = 3 + 2 / 1 + 2 / math.log2(3) + 1 / math.log2(4)
    assert nDCG(discount="jk(2)")(LIST) == pytest.approx(jk / jk_ideal, abs=1e-15)
    assert DCG(discount="jk(2)")(LIST) == pytest.approx(jk, abs=1e-15)


def test_grade_0_can_count_as_relevant() -> None:
    assert AP(rel=0)([0, None, 0], judged=[0, 1]) == pytest.approx((1 + 2 / 3) / 4)
    assert AP()([0, None, 0], judged=[0, 1]) == 0


def test_six_denominators_of_one_list() -> None:
    """facts/conventions: R 0.2519, R_list 0.3778, min(k,R) 0.4533, h 0.7556 for one AP@5."""
    grades = [1, 0, 3, 0, 2, 0, 1, 0, 0, 3, 1, 0]
    judged = [3, 2, 1]
    found = {
        name: round((AP(denominator=name) @ 5)(grades, judged), 4)
        for name in ("R", "R_list", "min(k,R)", "hits", "min(k,R_list)", "min(k,n,R_list)")
    }
    assert found == {
        "R": 0.2519, "R_list": 0.3778, "min(k,R)": 0.4533, "hits": 0.7556,
        "min(k,R_list)": 0.4533, "min(k,n,R_list)": 0.4533,
    }  # fmt: skip


def test_distractors_take_away_and_the_ideal_omits_them() -> None:
    signed = nDCG(negative="keep")
    assert DCG(negative="keep")([-1, 2]) == pytest.approx(-1 + 2 / math.log2(3))
    assert signed([-1, 2]) == pytest.approx((-1 + 2 / math.log2(3)) / 2)
    assert signed([2], judged=[-1]) == 1
    assert signed.filled().bounds(-1) == (-math.inf, 1)
    assert signed.filled().bounds(0) == nDCG().filled().bounds(-1) == (0, 1)


def test_values_of_torchmetrics_catboost_and_quepid_for_negative_grades() -> None:
    """Probe P4 of facts/conventions: -0.2463 and 0.4494, where the ideal keeps negatives."""
    probe = [-1, 2, -2, 0, 1]
    keep: dict[str, Any] = {"negative": "keep", "ideal_negative": "keep"}
    assert round(nDCG(ideal="retrieved", **keep)(probe), 4) == -0.2463
    assert round(nDCG(gain="exp2", **keep)(probe), 4) == 0.4494


def test_udcg_of_short_lists_and_gaps() -> None:
    assert UDCG()([], judged=[1], abstain=[]) == 0
    assert UDCG()([1], abstain=[0.0]) == pytest.approx(1 / (1 + math.exp(-1)))
    assert UDCG()([0], abstain=[0.0]) == pytest.approx(1 / (1 + math.exp(1 / 3)))
    assert UDCG(squash=False)([1, None, 1], abstain=[0.5, 0.0, None]) == pytest.approx(0.5 / 3)
    assert UDCG(squash=False, signal="utility")([1, 0], utility=[0.5, 0.5]) == pytest.approx(1 / 6)
    passages = [1, 0, 1, 0]
    one = UDCG()(passages, abstain=[0.1, 0.2, 0.3, 0.4])
    assert one == pytest.approx(UDCG()(passages[::-1], abstain=[0.4, 0.3, 0.2, 0.1]), abs=1e-15)


def test_a_measure_is_a_value() -> None:
    assert nDCG @ 10 == il.parse("nDCG@10") == as_measure(nDCG) @ 10
    assert len({nDCG @ 10, il.parse("ndcg@10")}) == 1
    assert nDCG(gain={0: 0, 1: 3}) == il.parse("nDCG(gain=table(0=0,1=3))")
    assert repr(AP(rel=2) @ 5) == "AP(rel=2)@5"
    assert AP(rel=2.0) == AP(rel=2)
    assert nDCG(discount=[1, 0.5]).discount == "table(1,0.5)"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ndcg@10", "nDCG@10"), ("NDCG@10", "nDCG@10"), ("map", "AP"), ("MAP@100", "AP@100"),
        ("mrr@10", "RR@10"), ("recall@100", "R@100"), ("hit@5", "Success@5"), ("all_hit@5", "AllHit@5"), ("allhit", "AllHit"),
        ("recall_all_5", "AllHit@5"),
        ("ndcg_cut_10", "nDCG@10"), ("P_10", "P@10"), ("recip_rank", "RR"), ("map_cut.5", "AP@5"),
        ("R_cap@10", "R(denominator=min(k,R))@10"), ("f1@5", "F@5"), ("p@5", "P@5"),
        ("num_rel_ret", "NumRelRet"), ("nDCG( gain = 'exp2' ) @ 10", "nDCG(gain=exp2)@10"),
        ("rbp(p=1/2)", "RBP(p=0.5)"), ("ndcg_burges@3", "nDCG(gain=exp2)@3"),
    ],
)  # fmt: skip
def test_spellings_people_type(typed: str, meant: str) -> None:
    assert str(il.parse(typed)) == meant


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("nDCC@10", "did you mean nDCG"), ("nDCG(gian=exp2)", "did you mean gain"),
        ("nDCG(gain=cubic)", "gain is linear, exp2"), ("nDCG@0", "from 1 to"), ("nDCG@99999999999999999999", "from 1 to"), ("Rprec@5", "without @"),
        ("nDCG(gain=exp2", "write NAME"), ("nDCG(exp2)", "write NAME"), ("", "write NAME"),
        ("AP(rel=x)", "rel is a number"), ("RBP(p=2)", "cannot be '2'"), ("P(rel=1,rel=2)", "twice"),
        ("DCG(discount=table(1,2))", "never increase"), ("DCG(discount=log(1))", "log(BASE)"),
        ("DCG(gain=table(1=-1))", "at least 0"), ("DCG(gain=scaled(2,1))", "scaled(LOW,HIGH)"),
        ("nDCG(ideal=perfect)", "needs a cutoff"), ("P(rel=1e400)", "rel is a number"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_explained(typed: str, says: str) -> None:
    with pytest.raises(il.UsageError) as caught:
        il.parse(typed)([1, 0])
    assert says in str(caught.value)


def test_grades_that_a_measure_cannot_take_are_refused() -> None:
    with pytest.raises(il.UsageError, match="above the maximum"):
        ERR(max_grade=2)([3])
    with pytest.raises(il.UsageError, match="above 1"):
        RBP(gain="linear", scale="none")([2])
    with pytest.raises(il.UsageError, match="outside"):
        UDCG()([1], abstain=[1.5])
    with pytest.raises(il.UsageError, match="no column 'abstain'"):
        UDCG()([1])


def test_no_relevant_document() -> None:
    qrels, run = {"a": {"d": 1}, "b": {"d": 0}}, {"a": ["d"], "b": ["d"]}
    sets = (P @ 1, R, il.Success, il.AllHit, il.Rprec, il.F)
    for measure in (nDCG, AP, RR, *sets, il.bpref, ERR, RBP(p=0)):
        one = as_measure(measure)
        results = {
            rule: il.evaluate(qrels, run, one, no_relevant=rule)[one]
            for rule in (0, 1, "nan", "skip")
        }
        assert results[0] == pytest.approx(results["skip"] / 2), one
        assert results[1] == pytest.approx((results["skip"] + 1) / 2), one
        assert math.isnan(results["nan"]), one


def test_a_users_own_measure_is_used_like_any_other() -> None:
    @il.measure("TopGrade")
    def top_grade(placements: il.Placements, cutoff: int = 1) -> Any:
        return placements.grid(cutoff).filled(0).max(axis=1)

    qrels, run = {"q": {"a": 1, "b": 3}}, {"q": ["a", "b"]}
    result = il.evaluate(qrels, run, [top_grade, top_grade @ 2, "nDCG"])
    assert (result[top_grade], result[top_grade @ 2]) == (1, 3)
    assert result["TopGrade@2"] == 3
    assert "TopGrade(source=" in str(result.signatures["TopGrade"])
    assert str(result).count("TopGrade") > 2

    @il.measure("TopGrade")
    def other(placements: il.Placements) -> Any:
        return np.zeros(len(placements.qrels.queries))

    assert il.evaluate(qrels, run, other).signatures["TopGrade"] != result.signatures["TopGrade"]
    with pytest.raises(il.UsageError, match="takes no cutoff"):
        other @ 5
    with pytest.raises(il.UsageError, match="shape"):
        il.evaluate(qrels, run, il.measure("Bad")(lambda placements: np.zeros(7)))


def test_all_hit_of_a_tie_across_the_cutoff_is_hypergeometric() -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    run = {"q": {"a": 9.0, "b": 1.0, "c": 1.0, "x": 1.0, "y": 1.0, "z": 0.5}}
    for cutoff, chance in ((2, 0.0), (3, 1 / 6), (4, 3 / 6), (5, 1.0)):
        measure = il.AllHit @ cutoff
        value = il.evaluate(qrels, run, measure, ties="expected")[measure]
        assert value == pytest.approx(chance, abs=1e-15)
    assert il.evaluate({"q": {"a": 1, "u": 1}}, run, "AllHit@6", ties="expected")["AllHit@6"] == 0


def test_expected_ties_are_refused_where_there_is_no_closed_form() -> None:
    for text in ("ERR", "bpref", "F", "AP(denominator=hits)@1", "P(denominator=judged)@1"):
        with pytest.raises(il.UsageError, match="no closed form"):
            il.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}}, text, ties="expected")
    with pytest.raises(il.UsageError, match="does not work with a depth"):
        il.Protocol(ties="expected", depth=5)


def test_lists_that_do_not_fit_are_refused() -> None:
    with pytest.raises(il.UsageError, match="abstain has 1 values for 2 grades"):
        UDCG()([1, 0], abstain=[0.1])
    with pytest.raises(il.InputError, match="no relevant document"):
        nDCG(no_relevant="error")([0, 0])
    assert UDCG()([], judged=[1]) == 0


def test_a_users_own_measure_is_not_averaged_over_ties() -> None:
    own = il.measure("Own")(lambda placements: np.ones(len(placements.qrels.queries)))
    with pytest.raises(il.UsageError, match="no closed form"):
        il.evaluate({"q": {"a": 1}}, {"q": ["a"]}, own, ties="expected")
    signed = il.evaluate({"q": {"a": 1}}, {"q": ["a"]}, own, convention="sklearn").signatures["Own"]
    assert signed.fields["ties"] == "docid-desc"


def test_powers_beyond_all_numbers_are_refused() -> None:
    with pytest.raises(il.UsageError, match="too large for 2"):
        nDCG(gain="exp2")([2000])
    with pytest.raises(il.UsageError, match="too large for 2"):
        ERR()([2000])
    with pytest.raises(il.UsageError, match="not a finite number"):
        nDCG()([math.nan])


def test_functions_are_told_apart_by_what_they_close_over() -> None:
    def make(x: float) -> Any:
        return il.measure("T")(lambda placements: np.full(len(placements.qrels.queries), x))

    assert make(1.0).source == make(1.0).source != make(2.0).source
    first, second = (eval(f"lambda placements: {x}") for x in (1, 2))
    assert il.measure("T")(first).source != il.measure("T")(second).source


def test_names_that_a_measure_cannot_have() -> None:
    def zeros(placements: il.Placements) -> Any:
        return np.zeros(len(placements.qrels.queries))

    qrels, run = {"q": {"a": 1}}, {"q": ["a"]}
    with pytest.raises(il.UsageError, match="cannot be the name"):
        il.measure("a|b (c)")(zeros)
    with pytest.raises(il.UsageError, match="a built-in measure"):
        il.evaluate(qrels, run, [il.AP, il.measure("map")(zeros)])
    with pytest.raises(il.UsageError, match="two measures are called C"):
        il.evaluate(qrels, run, [il.measure("C")(zeros), il.measure("C")(lambda p: zeros(p) + 1)])


def test_perfect_documents_of_any_gain() -> None:
    table = il.parse("nDCG(gain=table(0.5=10),ideal=perfect)@1")
    assert il.evaluate({"q": {"d": 0.5, "e": 1}}, {"q": ["d"]}, table, grades="keep")[table] == 1
    assert (il.parse("nDCG(ideal=perfect)@2"))([1], judged=[2]) == pytest.approx(
        0.5 / 1.6309, abs=1e-4
    )


def test_err_of_judgments_that_are_all_negative() -> None:
    qrels = {"a": {"x": -1, "y": -1}, "b": {"x": -1}}
    assert il.evaluate(qrels, {"a": ["x"], "b": ["x"]}, "ERR")["ERR"] == 0


def test_udcg_without_its_column() -> None:
    with pytest.raises(il.UsageError, match="no column 'abstain'"):
        il.evaluate({"q": {"d": 1}}, {"q": ["x"]}, "UDCG@3")


@pytest.mark.parametrize(
    "text", ["RBP(p=1)", "RBP(p=1/0)", "F(beta=1e200)", "DCG(gain=table(1=3,1.0=4))"]
)
def test_parameters_without_meaning_are_refused(text: str) -> None:
    with pytest.raises(il.UsageError):
        il.parse(text)


def test_udcg_of_empty_lists_needs_no_column() -> None:
    assert il.evaluate({"q": {"d": 1}}, {"q": []}, "UDCG")["UDCG"] == 0


def test_perfect_documents_of_a_grade_that_the_table_does_not_name() -> None:
    """Its gain is the grade itself, which may exceed that of the highest grade."""
    measure = il.parse("nDCG(gain=table(2=1),ideal=perfect)@1")
    assert measure([1.5], judged=[2]) == 1
    assert measure([2], judged=[1.5]) == 1 / 1.5


def test_rbp_normalised_by_ranks_counts_no_others() -> None:
    measure = il.parse("RBP(p=0.5,gain=binary,normalise_depth=2)")
    assert measure([1, 1, 1, 1]) == 1
    assert measure([0, 1, 1]) == pytest.approx(0.25 / 0.75)
    assert (measure @ 1)([1, 1]) == pytest.approx(0.5 / 0.75)
    assert (measure @ 3)([0, 1, 1]) == measure([0, 1, 1])
    explained = il.explain(
        {"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "b", "c"]}, measure, query="q"
    )
    assert explained.value == 1


@pytest.mark.parametrize(
    ("grades", "judged"), [(["x"], []), (3, []), ([1], "x"), ([1], 3), ([[1]], [])]
)
def test_what_is_no_list_of_grades(grades: Any, judged: Any) -> None:
    for measure in (il.AP(), MEASURES["AP_IA"]()):
        with pytest.raises(il.UsageError, match="the grades are not a list"):
            measure(grades, judged)


def test_grades_in_an_array() -> None:
    grades: Any = np.array([1.0, 0.0, 1.0])
    for measure in (il.AP(), il.nDCG @ 2, MEASURES["AP_IA"](), MEASURES["AP_avgjg"]()):
        assert measure(grades) == measure(grades.tolist())
