"""Real runs and published values: TREC-COVID, trec_eval's own test files, UDCG's examples."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import idealist as il

#: The leaderboard's columns and the measures they are. RBP's gain is the grade over 2.
COVID = {
    "ndcg@10": "nDCG@10",
    "p@5": "P@5",
    "RBP(p=.5)": "RBP(p=0.5,gain=scaled(0,2))",
    "bpref": "bpref",
    "MAP": "AP",
}


def test_trec_covid_round_1(data: Path) -> None:
    """All sixty published values, to four decimals, as trec_eval 9 computed them."""
    folder = data / "trec-covid-r1"
    with (folder / "leaderboard.csv").open() as file:
        published = {row["run"]: row for row in csv.DictReader(file)}
    evaluator = il.Evaluator(
        folder / "qrels.txt", list(COVID.values()), convention="trec_eval-9", depth=1000
    )
    compared = 0
    for path in sorted((folder / "runs").iterdir()):
        result = evaluator(path)
        for column, measure in COVID.items():
            assert f"{result[measure]:.4f}" == published[path.name][column], (path.name, measure)
            compared += 1
    assert compared == 60


def test_double_scores_move_one_of_them(data: Path) -> None:
    folder = data / "trec-covid-r1"
    result = il.evaluate(folder / "qrels.txt", folder / "runs" / "BERT", "nDCG@10", depth=1000)
    assert f"{result['nDCG@10']:.4f}" == "0.1736"


#: What trec_eval 10 calls our measures.
TREC_EVAL = {
    "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRelRet",
    "map": "AP", "Rprec": "Rprec", "bpref": "bpref", "recip_rank": "RR",
    "P_5": "P@5", "P_1000": "P@1000", "recall_10": "R@10", "recall_1000": "R@1000",
    "set_P": "P", "set_recall": "R", "set_F": "F", "ndcg": "nDCG",
    "ndcg_cut_5": "nDCG@5", "ndcg_cut_1000": "nDCG@1000", "map_cut_10": "AP@10",
    "success_1": "Success@1", "success_10": "Success@10",
    "unj_5": "Unjudged@5", "unj_20": "Unjudged@20",
}  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "qrels", "run", "axes"),
    [
        ("out.test.aq", "qrels.test", "results.test", {}),
        ("out.test.aq", "qrels.test.with-comments", "results.test", {}),
        ("out.test.aqc", "qrels.test", "results.trunc", {}),
        ("out.test.aqcM", "qrels.test", "results.trunc", {"depth": "100"}),
        ("out.test.aql", "qrels.rel_level", "results.test", {"rel": "2"}),
    ],
)
def test_trec_eval_prints_the_same(
    data: Path, expected: str, qrels: str, run: str, axes: dict[str, str]
) -> None:
    folder = data / "trec_eval-10.0"
    printed = {}
    for line in (folder / expected).read_text().splitlines():
        name, query, value = line.split()
        printed[name, query] = value
    for name, measure in TREC_EVAL.items():
        own = axes if "rel" in il.parse(measure).parameters() and "DCG" not in measure else {}
        others = {key: value for key, value in axes.items() if key != "rel"}
        result = il.evaluate(folder / qrels, folder / run, measure, **{**own, **others})
        digits = ".0f" if name.startswith("num_") else ".4f"
        if name != "num_rel" or "rel" not in axes:  # its sum ignores the level, its queries do not
            assert f"{result[measure]:{digits}}" == printed[name, "all"], name
        for query, value in zip(result.queries, result.values[measure].tolist(), strict=True):
            # trec_eval evaluates a made-up document where a query is missing
            if (name, query) in printed and name not in ("num_q", "num_ret"):
                assert f"{value:{digits}}" == printed[name, query], (name, query)


def test_udcg_examples(data: Path) -> None:
    """The three values of the released examples, with its README's weight and its code's."""
    examples = json.loads((data / "udcg" / "expected.json").read_text())
    reader = "meta-llama/Llama-3.2-3B-Instruct"
    columns: dict[str, list[object]] = {"query": [], "document": [], "grade": [], "abstain": []}
    run: dict[str, list[str]] = {}
    for example in examples:
        run[example["example_id"]] = [passage["doc_id"] for passage in example["passages"]]
        for passage in example["passages"]:
            columns["query"].append(example["example_id"])
            columns["document"].append(passage["doc_id"])
            columns["grade"].append(int(passage["is_relevant"]))
            columns["abstain"].append(passage["models_info"][reader]["no_res_prob"])
    result = il.evaluate(columns, run, ["UDCG(gamma=0.333)", "UDCG"])
    rounded = [0.5553808928170055, 0.5501411475208001, 0.4837510250741193]
    exact = [0.5553370029055983, 0.5500919080793032, 0.48368477588790226]
    assert result.values["UDCG(gamma=0.333)"].tolist() == pytest.approx(rounded, abs=1e-15)
    assert result.values["UDCG"].tolist() == pytest.approx(exact, abs=1e-15)
