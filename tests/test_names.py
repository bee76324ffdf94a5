"""Names: every spelling is understood, and no measure of an installed peer is missing."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

import cwl.ruler.measures
import ir_measures
import pyndeval
import pytest
import pytrec_eval
from cwl.ruler.measures.cwl_metrics import CWLMetric
from sklearn.metrics import _ranking

import idealist as il
from generated import some_measure
from idealist.cli.main import main
from idealist.conventions.describe import describe_all, names_of, search
from idealist.dropin.entries import ENTRIES, NICKNAMES
from idealist.measures import MEASURES
from idealist.measures.spellings import ELSEWHERE, SPELLINGS, TYPED, computed_by


def known(tool: str) -> set[str]:
    """Give what is said of a tool: its names, and what it has that is no measure of a ranking."""
    return SPELLINGS[tool].keys() | {name for of, name in ELSEWHERE if of == tool}


def cwl_classes() -> set[str]:
    modules = pkgutil.iter_modules(cwl.ruler.measures.__path__, "cwl.ruler.measures.")
    classes = [vars(import_module(module.name)) for module in modules]
    return {
        name.removesuffix("CWLMetric")
        for names in classes
        for name, value in names.items()
        if inspect.isclass(value) and issubclass(value, CWLMetric) and value is not CWLMetric
    }


def sklearn_functions() -> set[str]:
    functions = inspect.getmembers(_ranking, inspect.isfunction)
    own = [name for name, value in functions if value.__module__ == _ranking.__name__]
    public = [name for name in own if not name.startswith("_")]
    return {name for name in public if name.endswith(("_score", "_error", "_loss", "auc"))}


#: What each installed peer computes, by its own account.
PEERS = {
    "ir_measures": {str(name) for name in ir_measures.measures.registry},
    "pytrec_eval": set(pytrec_eval.supported_measures),
    "trec_eval": {entry.name for entry in ENTRIES},
    "cwl_eval": cwl_classes(),
    "ndeval": set(pyndeval.SUPPORTED_MEASURES),
    "scikit-learn": sklearn_functions(),
}


@pytest.mark.parametrize("tool", PEERS)
def test_no_measure_of_a_peer_is_missing(tool: str) -> None:
    assert len(PEERS[tool]) > 5
    assert PEERS[tool] <= known(tool)


@pytest.mark.parametrize("tool", SPELLINGS)
def test_every_spelling_is_understood(tool: str) -> None:
    for theirs, ours in SPELLINGS[tool].items():
        assert str(il.parse(ours)) == ours
        meant = il.parse(theirs)
        takes = meant.takes_cutoff
        assert il.parse(f"{theirs}@10").cutoff == 10 if takes else meant.cutoff is None
        assert names_of(tool).data()[theirs] == ours


def test_names_that_two_tools_share_mean_the_first() -> None:
    """Under a convention the second tool's rules apply; the measure is the same, or is said."""
    for tool, names in SPELLINGS.items():
        for theirs, ours in names.items():
            if il.parse(theirs).name != il.parse(ours).name:
                assert (tool, theirs) in {
                    ("ranx", "hits"), ("cwl_eval", "Precision"), ("cwl_eval", "RR"),
                    ("cwl_eval", "AP"), ("cwl_eval", "NDCG"), ("sample_eval", "infAP"),
                    ("BEIR", "Accuracy"),
                }, (tool, theirs)  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "convention", "says"),
    [
        ("hits@5", "ranx", "hits@5 was read as Success; what ranx calls hits@5 is NumRelRet here"),
        ("Accuracy@2", "beir", "what BEIR calls Accuracy@2 is Success here"),
        ("NDCG@2", "cwl_eval", "what cwl-eval calls NDCG@2 is SDCG here"),
    ],
)
def test_a_name_that_means_something_else_in_the_tool_is_a_doubt(
    typed: str, convention: str, says: str
) -> None:
    data = {"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}
    doubts = {one.code: one for one in il.evaluate(*data, typed, convention=convention).doubts}
    assert says in doubts["other-name"].message
    assert "not-in-tool" not in doubts
    plain = il.evaluate(*data, "mrr@5", convention="ranx").doubts
    assert "other-name" not in {one.code for one in plain}


def test_nicknames_name_measures() -> None:
    names = {entry.name for entry in ENTRIES}
    assert {name for several in NICKNAMES.values() for name in several.split()} <= names


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ndcg_cut_10", "nDCG@10"), ("ndcg_cut.10", "nDCG@10"), ("P_5", "P@5"), ("Recall@20", "R@20"),
        ("iprec_at_recall_0.10", "IPrec(recall=0.1)"), ("iprec_at_recall.0.1", "IPrec(recall=0.1)"),
        ("IPrec@0.1", "IPrec(recall=0.1)"), ("IPrec@1", "IPrec(recall=1)"),
        ("Rprec_mult_0.20", "Rprec(times=0.2)"), ("rbp.95", "RBP(p=0.95)"), ("rbp_0.8", "RBP(p=0.8)"),
        ("RBP@10", "RBP@10"), ("RBP(rel=1,p=0.8)", "RBP(p=0.8,rel=1)"),
        ("ndcg@10-l2", "nDCG(rel=2)@10"), ("map-l2", "AP(rel=2)"), ("precision@5-l3", "P(rel=3)@5"),
        ("ndcg@5-", "nDCG(no_relevant=0)@5"),
        ("nDCG(dcg='exp-log2')@20", "nDCG(gain=exp2)@20"), ("nDCG(dcg='log2')", "nDCG(gain=linear)"),
        ("nDCG(gains={0: 0, 1: 5})@10", "nDCG(gain=table(0=0,1=5))@10"),
        ("P(judged_only=False)@5", "P@5"), ("SetF(beta=0.5)", "F(beta=sqrt(0.5))"),
        ("NDCG:top=10;type=Exp", "nDCG(gain=exp2)@10"),
        ("DCG:type=Base;denominator=Position", "DCG(gain=linear,discount=position)"),
        ("set_F.0.5", "F(beta=sqrt(0.5))"), ("MAP:border=1;top=3", "AP(rel=1,rel_op=>)@3"),
        ("INST(T=1,max_rel=3)", "INST(gain=scaled(0,3),T=1)"),
        ("PFound:decay=0.9;top=5", "PFound(decay=0.9)@5"), ("MRR", "RR"), ("MAP-IA", "AP_IA"),
        ("α_nDCG@10", "alpha_nDCG@10"), ("strec@5", "StRecall@5"), ("NERReq9@5", "NERR9@5"),
        ("RetrievalNormalizedDCG", "nDCG"), ("hits@10", "Success@10"), ("AUC", "Accuracy"),
    ],
)  # fmt: skip
def test_notations_of_other_tools(typed: str, meant: str) -> None:
    assert str(il.parse(typed)) == meant


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("P(judged_only=True)@5", "unjudged=drop"), ("nDCG@0.5", "is not a measure"),
        ("Rprec@5", "without @"), ("ndgc", "did you mean nDCG"), ("NDCG:", "is not a measure"),
        ("NDCG:top=x", "is not a measure"), ("MAP:bordre=1", "no parameter 'bordre'"),
        ("alpha_nDGC", "did you mean alpha_nDCG"), ("IPrec@2", "recall cannot be '2'"),
        ("rbp.", "there is no measure 'rbp.'"), ("nDCG@10-l", "is not a measure"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_explained(typed: str, says: str) -> None:
    with pytest.raises(il.UsageError) as caught:
        il.parse(typed)
    assert says in str(caught.value)


@pytest.mark.parametrize("one", describe_all(), ids=lambda one: one.name)
def test_a_measure_says_who_computes_it(one: object) -> None:
    from idealist.conventions.describe import Description, explained

    assert isinstance(one, Description)
    text = " ".join(str(explained(one)).split())
    assert all(tool in text for tool in one.names)
    assert all(one.name in computed_by(tool) for tool in one.names)


def test_search_looks_at_names_words_and_tools() -> None:
    assert "StRecall" in [one.name for one in search("subtopic recall")]
    assert [one.name for one in search("recip_rank")] == ["RR"]
    assert [one.name for one in search("RetrievalFallOut")] == ["FallOut"]
    with pytest.raises(il.UsageError, match="no measure mentions 'zebra'"):
        search("zebra")
    with pytest.raises(il.UsageError, match="measures of 'rank' are not known"):
        names_of("rank")


def test_every_measure_is_an_attribute_of_the_package() -> None:
    assert all(getattr(il, name) is MEASURES[name] for name in MEASURES)
    assert not hasattr(il, "nosuch")


def test_what_people_type_means_a_measure() -> None:
    for typed, ours in TYPED.items():
        assert il.parse(typed) == il.parse(ours)


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_with_any_parameters_is_what_it_prints(name: str) -> None:
    import random

    for seed in range(40):
        measure = some_measure(random.Random(seed), name)
        assert il.parse(str(measure)) == measure


@pytest.mark.parametrize(("form", "shown"), [("csv", "Graded relevance,nDCG,"), ("md", "**nDCG: ")])
def test_one_measure_is_written_in_the_format_asked_for(
    form: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["measures", "ndcg_cut", "-f", form])
    assert shown in capsys.readouterr().out


def test_what_ir_measures_writes_for_relevant_retrieved_is_read() -> None:
    assert il.parse(str(ir_measures.NumRelRet)) == il.parse("NumRelRet(rel=1)")
