"""Groups of judgments: trec_eval's printed values, the plain reference group by group, shapes."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
import oracle
from generated import Rows, some_case, some_list, some_measure, some_protocol
from idealist.errors import UsageError
from idealist.measures import Measure
from idealist.measures.diversity import AP_IA
from idealist.measures.groups import by_group, divided
from idealist.protocol import Protocol

#: Grades by query, group and document.
Judged = dict[str, dict[str, dict[str, float]]]

#: The measure that each is the mean of, and whether groups without relevant documents count.
MEANS = {
    "AP_avgjg": ("AP", True), "P_avgjg": ("P", True), "Rprec_avgjg": ("Rprec", True),
    "AP_IA": ("AP", False), "P_IA": ("P", False), "StRecall": ("Success", False),
}  # fmt: skip


def some_groups(rng: random.Random, docs: int = 10) -> tuple[Judged, Rows]:
    """Make judgments by group and a run; groups judge different documents, some nothing relevant."""
    scales: list[list[float]] = [[0, 1], [0, 1, 2, 3], [-1, 0, 1, 2], [0, 0.5, 1, 1.7], [0]]
    grades = rng.choice(scales)
    ids = [f"d{i}" for i in range(docs)]
    judged: Judged = {}
    rows: Rows = {}
    for q in range(rng.randint(1, 3)):
        groups = rng.sample(["1", "2", "3", "10", "é"], rng.randint(1, 5))
        judged[f"q{q}"] = {
            group: {d: rng.choice(grades) for d in rng.sample(ids, rng.randint(1, docs))}
            for group in groups
        }
        if rng.random() < 0.9:
            rows[f"q{q}"] = some_list(rng, [*ids, "u1", "u2", "u3"])
    rows["q9"] = some_list(rng, ids)
    return judged, rows


def columns_of(judged: Judged) -> dict[str, list[Any]]:
    """Give judgments by group as columns."""
    rows = [
        (query, group, document, grade)
        for query, groups in judged.items()
        for group, grades in groups.items()
        for document, grade in grades.items()
    ]
    names = ("query", "subtopic", "document", "grade")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def highest(groups: dict[str, dict[str, float]]) -> dict[str, float]:
    """Give each document the highest of its grades."""
    found: dict[str, float] = {}
    for grades in groups.values():
        for document, grade in grades.items():
            found[document] = max(grade, found.get(document, -math.inf))
    return found


def truth(
    measure: Measure, protocol: Protocol, judged: Judged, rows: Rows, query: str
) -> float | None:
    """Average the plain reference over the groups of a query, and over the orders of its ties."""
    highest_grades, axes = highest(judged[query]), protocol.written()
    docs = oracle.rank(rows.get(query, []), highest_grades, query, axes)
    kept = oracle.cast_grades(highest_grades, protocol.grades)
    groups = [
        {d: g for d, g in oracle.cast_grades(grades, protocol.grades).items() if d in kept}
        for grades in judged[query].values()
    ]
    orders = oracle.orders(docs) if protocol.ties == "expected" else [docs]
    values = [
        mean_over(measure, protocol, [grades for grades in groups if grades], order)
        for order in orders
    ]
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None


def mean_over(
    measure: Measure, protocol: Protocol, groups: list[dict[str, float]], docs: list[oracle.Doc]
) -> float | None:
    name, counts_all = MEANS[measure.name]
    params = measure.written() | ({"block_end": False} if protocol.order == "given" else {})
    total, relevant = 0.0, 0
    for grades in groups:
        seen = [doc._replace(grade=grades.get(doc.id)) for doc in docs]
        pool = list(grades.values())
        if protocol.negative == "drop":
            pool = [grade for grade in pool if grade >= 0]
            seen = [doc for doc in seen if not counts_all or (doc.grade or 0) >= 0]
        if protocol.unjudged == "drop" and counts_all:
            seen = [doc for doc in seen if doc.grade is not None]
        if any(oracle.is_relevant(grade, params) for grade in pool):
            relevant += 1
            total += oracle.measure(name, measure.cutoff, params, seen, pool) or 0.0
    return total / (len(groups) if counts_all else relevant) if relevant else None


def check(seed: int, name: str, ties: str | None = None) -> int:
    """Compare with the plain reference; give the number of queries."""
    rng = random.Random(seed)
    measure = some_measure(rng, name).filled()
    protocol = some_protocol(rng)
    if protocol.ties in ("best", "worst"):  # equal grades leave open what differs between groups
        protocol = replace(protocol, ties="docid-asc")
    protocol = Protocol(ties=ties) if ties else protocol
    judged, rows = some_groups(rng, docs=5 if ties else 10)
    qrels = il.read_qrels(columns_of(judged))
    placements = il.rank(qrels, il.read_run(rows), [protocol])[protocol]
    try:
        values = measure.computed(placements).tolist()
    except UsageError as error:
        if "no closed form" not in str(error):
            raise
        return 0
    for query, value in zip(qrels.queries, values, strict=True):
        wanted = truth(measure, protocol, judged, rows, query)
        assert value == pytest.approx(
            math.nan if wanted is None else wanted, abs=1e-12, nan_ok=True
        ), (seed, measure, protocol, query)
    return len(values)


@pytest.mark.parametrize("name", MEANS)
def test_groups_are_measured_one_by_one(name: str) -> None:
    assert sum(check(seed, name) for seed in range(200)) > 300


@pytest.mark.parametrize("name", MEANS)
def test_ties_are_averaged_over_all_orders(name: str) -> None:
    assert sum(check(seed, name, "expected") for seed in range(60)) > 60


#: What trec_eval 10 calls our measures.
JG = {
    "map_avgjg": "AP_avgjg",
    **{f"P_avgjg_{k}": f"P_avgjg@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)},
    **{f"Rprec_mult_avgjg_{x / 5:.2f}": f"Rprec_avgjg(times={x / 5})" for x in range(1, 11)},
}


def test_trec_eval_prints_the_same(data: Path) -> None:
    """The values of ``-m qrels_jg -q -R qrels_jg qrels.123 results.test``."""
    folder = data / "trec_eval-10.0"
    result = il.evaluate(folder / "qrels.123", folder / "results.test", list(JG.values()))
    compared = 0
    for line in (folder / "out.test.qrels_jg").read_text().splitlines():
        name, query, value = line.split()
        if name in JG:
            own = dict(zip(result.queries, result.values[JG[name]].tolist(), strict=True))
            own["all"] = result[JG[name]]
            assert f"{own[query]:.4f}" == value, (name, query)
            compared += 1
    assert compared == 4 * len(JG)


def test_a_group_without_relevant_documents_counts_for_judges_only() -> None:
    qrels = columns_of({"q": {"ann": {"a": 1}, "bob": {"a": 0}}})
    result = il.evaluate(qrels, {"q": ["a"]}, ["AP_avgjg", "AP_IA", "P_avgjg@1", "P_IA@1"])
    assert dict(result.aggregates) == {"AP_avgjg": 0.5, "AP_IA": 1, "P_avgjg@1": 0.5, "P_IA@1": 1}


def test_a_judge_does_not_see_what_another_judged() -> None:
    """trec_eval -J drops for each group what that group did not judge; a diversity run is one list."""
    qrels = columns_of({"q": {"ann": {"a": 0, "b": 1}, "bob": {"b": 1}}})
    result = il.evaluate(qrels, {"q": ["u", "a", "b"]}, ["AP_avgjg", "AP_IA"], unjudged="drop")
    assert dict(result.aggregates) == {"AP_avgjg": (1 / 2 + 1) / 2, "AP_IA": 1 / 2}


@pytest.mark.parametrize(
    ("qrels", "groups"),
    [
        ("q 1 a 1\nq 2 a 0\nq 2 b 1\n", {"q 1": {"a": 1}, "q 2": {"a": 0, "b": 1}}),
        ("q 1 a 1\nq 2 b 1\n", {"q 1": {"a": 1}, "q 2": {"b": 1}}),
        ("q 0 a 1\nq 0 b 1\n", {"q ": {"a": 1, "b": 1}}),
    ],
)
def test_where_groups_come_from(tmp_path: Path, qrels: str, groups: dict[str, Any]) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(qrels)
    read = il.read_qrels(path)
    assert divided(read).qrels.to_dict() == groups
    assert divided(read) is divided(read)


def test_plain_judgments_are_one_group() -> None:
    for seed in range(50):
        rng = random.Random(seed)
        qrels, rows = some_case(rng)
        pairs = [
            ("AP_avgjg", "AP"),
            ("AP_IA", "AP"),
            ("P_IA@3", "P@3"),
            ("StRecall@3", "Success@3"),
        ]
        result = il.evaluate(qrels, rows, [one for pair in pairs for one in pair])
        for grouped, plain in pairs:
            assert result.values[grouped].tolist() == result.values[plain].tolist()


@pytest.mark.parametrize("rule", ["truncate", "nonzero", "keep"])
def test_grades_of_groups_are_cast_as_others(rule: str) -> None:
    judged = {"q": {"1": {"a": 1.7, "b": 0.9}, "2": {"a": 0.5, "c": -0.5}}}
    rows = il.read_qrels(columns_of(judged)).cast(rule).subtopics
    assert rows is not None
    wanted = {"truncate": [1, 0, 0, 0], "nonzero": [1], "keep": [1.7, 0.5, 0.9, -0.5]}
    assert rows.grade.tolist() == wanted[rule]


def test_whole_grades_are_not_copied() -> None:
    qrels = il.read_qrels(columns_of({"q": {"1": {"a": 1}, "2": {"a": 0}}}))
    assert qrels.cast("truncate") is qrels


def test_each_group_has_the_list_of_its_query() -> None:
    judged: Judged = {"q": {"1": {"a": 1, "c": 0}, "2": {"a": 0}}, "r": {"1": {"b": 1}}}
    protocol = Protocol()
    run = il.read_run({"q": ["a", "b", "c"], "r": ["a"]})
    placements = il.rank(il.read_qrels(columns_of(judged)), run, [protocol])[protocol]
    lists = by_group(placements)
    assert lists.qrels.queries == ("q 1", "q 2", "r 1")
    assert lists.retrieved.tolist() == [3, 3, 1]
    assert lists.query.tolist() == [0, 0, 1]
    assert lists.rank.tolist() == [1, 3, 1]
    assert lists.grade.tolist() == [1, 0, 0]
    assert by_group(placements) is lists


def test_queries_without_any_judgment() -> None:
    qrels = il.Qrels.build(["q"], ["a"], [1], subtopic=["1"], empty=["none"])
    result = il.evaluate(qrels, {"q": ["a"], "none": ["a"]}, ["AP_IA", "AP_avgjg(no_relevant=nan)"])
    assert result.values["AP_IA"].tolist() == [0, 1]
    assert np.isnan(result.values["AP_avgjg(no_relevant=nan)"]).tolist() == [True, False]


@pytest.mark.parametrize("name", MEANS)
def test_a_measure_of_groups_is_a_function_of_a_list(name: str) -> None:
    for seed in range(25):
        judged, rows = some_groups(random.Random(seed))
        measure: Any = some_measure(random.Random(seed), name)
        qrels = il.read_qrels(columns_of(judged))
        for query in rows.keys() & judged.keys():
            documents = [d for d, _ in rows[query]]
            grades = [
                {g: one[d] for g, one in judged[query].items() if d in one} for d in documents
            ]
            others = highest(judged[query]).keys() - set(documents)
            rest = [{g: one[d] for g, one in judged[query].items() if d in one} for d in others]
            if getattr(measure, "positive_score", False):
                continue  # a list of grades has no scores
            run = {query: documents}
            result = il.evaluate(qrels, run, measure, queries=[query], grades="keep")
            assert measure(grades, rest) == pytest.approx(result[str(measure)], nan_ok=True)


def test_a_grade_must_be_a_number() -> None:
    with pytest.raises(UsageError, match="not a finite number"):
        AP_IA()([{"a": math.nan}])
