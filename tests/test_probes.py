"""Values that tools printed for thirteen probes, recorded once, under the convention of each."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import idealist as il

#: The probes' names for measures.
MEASURES = {
    "ndcg@5": "nDCG@5", "ndcg@10": "nDCG@10", "ndcg": "nDCG", "ap": "AP", "ap@5": "AP@5",
    "ap@10": "AP@10", "rr": "RR", "rr@10": "RR@10", "p@5": "P@5", "r@5": "R@5", "bpref": "bpref",
    "dcg@10": "DCG@10", "cg@10": "CG@10", "ndcg_burges@10": "nDCG(gain=exp2)@10",
    "ndcg_position@10": "nDCG(discount=position)@10", "judged@10": "Judged@10",
    "rbp.8(rel=1)": "RBP(p=0.8)", "err@20": "ERR@20", "r_cap@10": "R(denominator=min(k,R))@10",
    "acc@10": "Success@10", "err@10": "ERR@10", "lrap": "AP(no_relevant=1)",
}  # fmt: skip

#: Names that are no measure of a convention, with the reason.
LEFT_OUT = {
    "hole@10": "BEIR asks whether a document was judged for any query at all",
    "ndcg_cut@10": "quepid-cut has a test of its own",
    "*": "what the tool said of the whole probe: compared as nDCG@10, which it refuses or leaves out",
}


class Row(NamedTuple):
    """A recorded tool: its convention, what its call changed, what is left out and why.

    `appended` says that the caller put the judged documents that were not retrieved below the list.
    """

    convention: str
    axes: dict[str, Any]
    left_out: frozenset[tuple[str, str]] = frozenset()
    tolerance: float = 1e-9
    appended: bool = False


def every(name: str, *probes: str) -> frozenset[tuple[str, str]]:
    return frozenset((name, probe) for probe in probes)


TIED = ("P2_ties", "B1_float32_near_tie", "B5_two_way_tie")
#: torchmetrics orders ties in AP, RR and P as its sort happens to.
UNDEFINED_TIES = (
    every("ap", *TIED) | every("ap@5", *TIED) | every("rr", *TIED) | every("p@5", *TIED)
)
#: ranx's bpref is NaN where no judged document is non-relevant; a defect.
RANX_BPREF = every("bpref", "P5_short_list", "B4_many_relevant")
#: torchmetrics' classes take a query whose grades sum to 0 for one without; a defect.
NO_SUM = every("ndcg@10", "P4_negative_grades")
#: TF-Ranking shuffles ties at each call.
SHUFFLED = frozenset(
    pair
    for name in ("ndcg", "ndcg@5", "ndcg@10", "ap", "ap@5", "rr", "p@5")
    for pair in every(name, *TIED)
)
#: The highest grade is the scale's, 0 to 3; to Quepid a negative one is a negative probability.
QUEPID_ERR = every("err@10", "P4_negative_grades")

ROWS: dict[str, Row] = {
    "trec_eval 9.0.8": Row("trec_eval-9", {"missing": "skip", "round": 4}),
    "trec_eval 10.0": Row("trec_eval", {"missing": "error", "round": 4}),
    "trec_eval -c 10.0": Row("trec_eval", {"round": 4}),
    "trec_eval -J 10.0": Row("trec_eval", {"unjudged": "drop", "negative": "drop", "round": 4}),
    "pytrec_eval-terrier 0.5.11": Row("pytrec_eval", {}),
    "ir_measures (default) 0.4.3": Row("ir_measures", {}),
    "ir_measures gdeval 0.4.3": Row("ir_measures", {"gain": "exp2"}),
    "ir_measures judged_only 0.4.3": Row("ir_measures", {"unjudged": "drop", "negative": "drop"}),
    "gdeval.pl 1.3 (trec-web-2014)": Row("gdeval", {"no_relevant": 0}),
    "ranx 0.3.21": Row("ranx", {}, RANX_BPREF),
    "ranx make_comparable 0.3.21": Row("ranx", {"missing": "zero", "unknown": "skip"}, RANX_BPREF),
    "ranx raw dicts 0.3.21": Row("ranx", {"ties": "input-reversed"}),
    "BEIR 2.2.0": Row("beir", {}),
    "MTEB 2.26.24": Row("mteb", {}),
    "scikit-learn 1.9.1": Row("sklearn", {}),
    "scikit-learn +unretrieved 1.9.1": Row("sklearn", {}, appended=True),
    "scikit-learn ignore_ties 1.9.1": Row("sklearn", {"ties": "input-reversed"}),
    "torchmetrics (functional) 1.9.0": Row("torchmetrics", {}, UNDEFINED_TIES, 1e-6),
    "torchmetrics (class) 1.9.0": Row("torchmetrics", {}, UNDEFINED_TIES | NO_SUM, 1e-6),
    "LightGBM 4.7.0": Row("lightgbm", {}),
    "XGBoost 3.2.0": Row("xgboost", {}),
    'XGBoost lin,"-" 3.2.0': Row("xgboost", {"gain": "linear", "no_relevant": 0}),
    "CatBoost type=Base 1.2.10": Row("catboost", {}),
    "CatBoost type=Exp 1.2.10": Row("catboost", {"gain": "exp2"}),
    "Rax 0.4.0": Row("rax", {}, tolerance=1e-6),
    "TF-Ranking 0.5.5": Row("tf-ranking", {}, SHUFFLED, 1e-6),
    "sentence-transformers IR 6.2.0": Row("sentence-transformers", {}),
    "LlamaIndex 0.14.25": Row("llama-index", {}),
    "Quepid (client JS) main f80322f3": Row("quepid", {"max_grade": 3}, QUEPID_ERR),
    "OpenSearch search-relevance d8be5d1": Row("opensearch", {}),
    "Elasticsearch rank_eval main (source)": Row("elasticsearch", {}),
    "ms_marco_eval.py 28b3693": Row("msmarco", {"order": "given"}),  # probes have no rank column
}


def with_unretrieved(probe: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Put judged documents that were not retrieved below each list, in the order of their ids."""
    completed = {}
    for query, rows in probe["run"].items():
        found = dict(rows)
        missed = sorted(probe["qrels"].get(query, {}).keys() - found.keys())
        below = {document: min(found.values()) - 1 - i for i, document in enumerate(missed)}
        completed[query] = {**found, **below}
    return completed


@pytest.fixture(scope="module")
def probes(data: Path) -> dict[str, Any]:
    path = data.parent / "facts" / "convention_probes.json"
    if not path.is_file():
        pytest.skip(f"no recorded probes at {path}")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def ours(tool: str, probe: dict[str, Any], name: str) -> float | None:
    """Compute what a tool printed; None where it refuses or leaves every query out."""
    row, measure = ROWS[tool], il.parse(MEASURES.get(name, "nDCG@10"))
    if "gain" in row.axes and "gain" in measure.parameters():
        measure = replace(measure, gain=row.axes["gain"])  # type: ignore[call-arg]
    known = il.Protocol.parameters().keys() | {"round"} | measure.parameters().keys()
    axes = {key: value for key, value in row.axes.items() if key in known}
    try:
        value = il.evaluate(
            probe["qrels"],
            with_unretrieved(probe) if row.appended else probe["run"],
            measure,
            convention=row.convention,
            **axes,
        )[measure]
    except il.IdealistError:
        return None
    return None if math.isnan(value) else value


@pytest.mark.parametrize("tool", ROWS)
def test_recorded_values(probes: dict[str, Any], tool: str) -> None:
    compared = 0
    for probe in probes["probes"]:
        for name, value in probes["values"][probe["id"]].get(tool, {}).items():
            if (name not in MEASURES and name != "*") or (name, probe["id"]) in ROWS[tool].left_out:
                continue
            found = ours(tool, probe, name)
            wanted = value if isinstance(value, float | int) and not math.isnan(value) else None
            if wanted is None or found is None:
                assert found == wanted, (probe["id"], name, value, found)
            else:
                assert found == pytest.approx(wanted, abs=ROWS[tool].tolerance), (probe["id"], name)
            compared += 1
    assert compared >= 10


def test_every_recorded_tool_is_a_convention(probes: dict[str, Any]) -> None:
    recorded = {tool for values in probes["values"].values() for tool in values}
    assert recorded == ROWS.keys()
    rows = [row for values in probes["values"].values() for row in values.values()]
    assert {name for row in rows for name in row} == MEASURES.keys() | LEFT_OUT.keys()


def test_quepid_before_8_1_cut_the_ideal_list(probes: dict[str, Any]) -> None:
    compared = 0
    for probe in probes["probes"]:
        row = probes["values"][probe["id"]].get("Quepid (client JS) main f80322f3", {})
        if isinstance(row.get("ndcg_cut@10"), float | int):
            result = il.evaluate(probe["qrels"], probe["run"], "nDCG", convention="quepid-cut")
            assert result["nDCG"] == pytest.approx(row["ndcg_cut@10"], abs=1e-9), probe["id"]
            compared += 1
    assert compared >= 10
