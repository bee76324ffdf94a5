"""Measures of a judged sample. infAP is compared with trec_eval's in test_peers."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
import oracle
from effort import tries
from generated import some_case, some_measure, some_protocol
from idealist.cli.main import main
from idealist.errors import UsageError

Row = dict[str, Any]
STRATA = ["xinfAP", "infNDCG", "statAP"]


def test_inferred_ap_is_ap_where_all_of_the_pool_was_judged() -> None:
    rng = random.Random(0)
    for _ in range(300):
        grades = [rng.choice([0, 0, 1, 2]) for _ in range(rng.randint(1, 12))]
        assert il.infAP()(grades) == pytest.approx(il.AP()(grades), abs=1e-4)


def sampled(rng: random.Random) -> tuple[list[Row], Any]:
    """Make a pool in strata of which some documents were drawn, each with its probability."""
    qrels, run = some_case(rng, fractions=False)
    rows: list[Row] = []
    for query, grades in qrels.items():
        names = rng.sample(["a", "b", "c", "d"], rng.randint(1, 4))
        rates = {name: rng.choice([1.0, 0.5, 0.2]) for name in names}
        for document, grade in grades.items():
            stratum = rng.choice(names)
            row = {"query": query, "document": document, "stratum": stratum}
            drawn = rng.random() < rates[stratum]
            rows.append({**row, "grade": grade if drawn else -1, "inclusion": rng.uniform(0.1, 1)})
    return rows, run


def facts(rows: list[Row], query: str) -> dict[str, Any]:
    """Give what the oracle wants to know of a query's sample, by document."""
    mine = [row for row in rows if row["query"] == query]
    columns = {"strata": "stratum", "grades": "grade", "inclusion": "inclusion"}
    return {ours: {row["document"]: row[key] for row in mine} for ours, key in columns.items()}


@pytest.mark.parametrize("name", STRATA)
def test_measures_of_strata_equal_the_reference(name: str) -> None:
    for seed in range(tries(100, 300)):
        rng = random.Random(seed)
        measure = some_measure(rng, name).filled()
        rows, run = sampled(rng)
        ties = rng.choice(["docid-desc", "docid-asc", "input"])  # grades order no strata
        protocol = replace(some_protocol(rng), ties=ties, grades="keep")
        qrels = il.read_qrels(rows)
        placements = il.rank(qrels, il.read_run(run), [protocol])[protocol]
        values = measure.computed(placements)
        for i, query in enumerate(qrels.queries):
            params = {**measure.written(), **facts(rows, query)}
            docs = oracle.rank(run.get(query, []), params["grades"], query, protocol.written())
            k = np.inf if measure.cutoff is None else measure.cutoff
            wanted = oracle.formula(name)(docs, [], k, params)
            close = np.isnan(values[i]) if wanted is None else np.isclose(values[i], wanted, 1e-12)
            assert close, (seed, str(measure), query)


def test_statistical_ap_takes_the_rate_of_a_stratum_for_a_probability() -> None:
    for seed in range(tries(40, 100)):
        rows, run = sampled(random.Random(seed))
        for row in rows:
            mine = [r for r in rows if (r["query"], r["stratum"]) == (row["query"], row["stratum"])]
            row["inclusion"] = max(sum(r["grade"] >= 0 for r in mine), 1) / len(mine)
        strata = [{key: row[key] for key in row if key != "inclusion"} for row in rows]
        one, other = (il.evaluate(judged, run, "statAP") for judged in (strata, rows))
        np.testing.assert_allclose(one.values["statAP"], other.values["statAP"], rtol=1e-12)


def test_a_sample_of_everything_gives_the_measures_themselves() -> None:
    for seed in range(tries(60, 200)):
        qrels, run = some_case(random.Random(seed), fractions=False)
        whole = {q: {d: max(grade, 0) for d, grade in qrels[q].items()} for q in qrels}
        rows = [
            {"query": q, "document": d, "grade": grade, "stratum": f"s{grade:g}"}
            for q in whole for d, grade in whole[q].items()
        ]  # fmt: skip
        found = il.evaluate(rows, run, ["infNDCG@5", "infNDCG", "statAP", "xinfAP"])
        for ours, plain in (("infNDCG@5", "nDCG@5"), ("infNDCG", "nDCG"), ("statAP", "AP")):
            wanted = il.evaluate(whole, run, plain).values[plain]
            np.testing.assert_allclose(found.values[ours], wanted, atol=1e-12)
        wanted = il.evaluate(whole, run, "AP").values["AP"]
        np.testing.assert_allclose(found.values["xinfAP"], wanted, atol=1e-4)


#: A sample of ours in five columns, a run, and what NIST's sample_eval.pl computes of them.
SAMPLE = """\
1 0 d1 top 2
1 0 d2 top 0
1 0 d3 top -1
1 0 d4 mid 1
1 0 d5 mid -1
1 0 d6 mid -1
1 0 d7 deep 0
1 0 d8 deep -1
2 0 d1 top 0
2 0 d2 mid 1
2 0 d3 mid 0
2 0 d4 mid -1
2 0 d5 mid 3
3 0 d9 top 0
"""
RUN = {
    "1": ["d8", "d1", "x1", "d5", "d4", "d2", "x2", "d7", "d3", "d6"],
    "2": ["d3", "d5", "d1", "x3", "d2", "d4"],
    "3": ["d9"],
}
RECORDED = {
    "xinfAP": [0.57777511119110869, 0.45000299990250303, 0.0],
    "infNDCG": [0.66675876791915079, 0.83711968106116119, 0.0],
}


def test_strata_as_nist_has_them(tmp_path: Path) -> None:
    (tmp_path / "sample.txt").write_text(SAMPLE)
    qrels = il.read_strata(tmp_path / "sample.txt")
    result = il.evaluate(qrels, RUN, ["xinfAP", "infNDCG"], convention="sample_eval")
    for measure, wanted in RECORDED.items():
        np.testing.assert_allclose(result.values[measure], wanted, rtol=1e-12)


#: A sample of ours with probabilities, and what Pavlu's statAP_MQ_eval computes of it.
PRELS = """\
1 d1 1 1 0.25
1 d2 0 1 0.5
1 d3 2 2 0.1
1 d4 1 4 0.625
1 d5 0 0 0.4
1 d6 1 1 NA
1 d7 -999 1 0.3
1 d8 1 1 1.5
2 d1 1 0 0.2
"""
STAT_AP = 0.65656565656565657


def test_probabilities_as_their_script_has_them(tmp_path: Path) -> None:
    (tmp_path / "prels.txt").write_text(PRELS)
    qrels = il.read_prels(tmp_path / "prels.txt")
    assert qrels.to_dict() == {"1": {"d1": 1, "d2": 0, "d3": 2, "d4": 1, "d5": 0}}
    assert qrels.columns["inclusion"].tolist() == [0.25, 0.5, 1, 0.625, 1]
    result = il.evaluate(qrels, RUN, "statAP", convention="statap")
    assert result["statAP"] == pytest.approx(STAT_AP, rel=1e-12)


READERS = {"read_strata": il.read_strata, "read_prels": il.read_prels}
FAULTY = [
    ("read_strata", "1 0 d1 2\n", "columns", "query iteration document stratum grade"),
    ("read_strata", "1 0 d1 top 2 x\n", "columns", "query iteration document stratum grade"),
    ("read_strata", "# none\n1 0 d1 top two\n", "bad-grade", "query iteration"),
    ("read_strata", "1 0 d1 top inf\n", "bad-grade", "query iteration"),
    ("read_strata", "1 0 d1 top 1\n1 0 d1 top 2\n", "contradiction", "one judgment"),
    ("read_strata", "1 0 d1 top 1\n1 0 d1 deep 1\n", "contradiction", "keep one"),
    ("read_strata", "\n", "empty", "step"),
    ("read_prels", "1 d1 1 1\n", "columns", "query document grade method inclusion"),
    ("read_prels", "1 d1 1 1 often\n", "bad-column", "query document grade"),
    ("read_prels", "1 d1 NA 1 0.5\n", "bad-grade", "query document grade"),
]


@pytest.mark.parametrize(("reader", "text", "code", "hint"), FAULTY)
def test_a_faulty_sample_is_refused(
    reader: str, text: str, code: str, hint: str, tmp_path: Path
) -> None:
    (tmp_path / "q.txt").write_text(text)
    with pytest.raises(il.InputError) as caught:
        READERS[reader](tmp_path / "q.txt")
    assert caught.value.code == code
    assert hint in caught.value.hint
    assert str(tmp_path / "q.txt") in str(caught.value)


@pytest.mark.parametrize(("kind", "text"), [("strata", SAMPLE), ("prels", PRELS)])
def test_samples_are_converted(kind: str, text: str, tmp_path: Path) -> None:
    source, target = tmp_path / "sample.txt", tmp_path / "sample.csv"
    source.write_text(text)
    main(["convert", str(source), str(target), "--kind", kind])
    assert il.read_qrels(target).hash == READERS[f"read_{kind}"](source).hash


def test_five_columns_are_told_where_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text(SAMPLE)
    with pytest.raises(il.InputError, match="5 columns, 4 expected") as caught:
        il.read_qrels(tmp_path / "q.txt")
    assert "read_strata" in caught.value.hint


@pytest.mark.parametrize("name", STRATA)
def test_judgments_without_strata_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no column 'stratum'"):
        il.evaluate({"q": {"d": 1}}, {"q": ["d"]}, name)
    with pytest.raises(UsageError, match="needs the strata"):
        il.parse(name)([1, 0])


def test_a_sample_must_be_whole() -> None:
    rows = [{"query": "q", "document": d, "grade": 1, "stratum": s} for d, s in ("ax", "b ")]
    rows[1]["stratum"] = None
    with pytest.raises(il.InputError, match="document 'b' is in no stratum"):
        il.evaluate(rows, {"q": ["a"]}, "xinfAP")
    for chance in (0.0, 1.5, None):
        rows = [{"query": "q", "document": "a", "grade": 1, "inclusion": 0.5},
                {"query": "q", "document": "b", "grade": 0, "inclusion": chance}]  # fmt: skip
        with pytest.raises(il.InputError, match="document 'b': inclusion is"):
            il.evaluate(rows, {"q": ["a"]}, "statAP")


def test_strata_are_a_part_of_the_judgments_identity() -> None:
    row = {"query": "q", "document": "d", "grade": 1}
    one, other = (il.read_qrels([{**row, "stratum": name}]) for name in ("a", "b"))
    assert one.hash != other.hash
