"""Orders that contradict each other, lists under wrong queries, documents that were never judged."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import idealist as il
from idealist.auditing import Audit
from idealist.auditing.ids.alignment import Alignment, align, deviations, in_order
from idealist.data import Rows
from planted_faults import (
    MEASURE,
    harmless,
    negate_alone,
    negate_scores,
    renumber_documents,
    reverse_ranks,
    rotate_queries,
    shift_queries,
    shuffle_queries,
    sorted_rows,
    swap_columns,
)

Qrels = dict[str, dict[str, int]]
DOCUMENTS = [f"doc{i}" for i in range(2000)]


def made(
    queries: int = 20, length: int = 50, judged: int = 40, seed: int = 1
) -> tuple[Qrels, Rows]:
    """Make a pool of judgments, and a run that puts relevant documents near the top."""
    rng = random.Random(seed)
    qrels: Qrels = {}
    rows: list[tuple[str, str, float]] = []
    for i in range(1, queries + 1):
        some = rng.sample(DOCUMENTS, length)
        grades = {document: max(0, 2 - place // 5) for place, document in enumerate(some)}
        qrels[str(i)] = {document: grades[document] for document in some[:judged]}
        found = sorted(some, key=lambda d: -grades[d] + rng.gauss(0, 0.5))
        rows += [(str(i), document, 9.5 - place / 8) for place, document in enumerate(found)]
    return qrels, sorted_rows(Rows.build(*zip(*rows, strict=True)))


QRELS, ROWS = made()


def audited(rows: Rows, qrels: Any = QRELS, measures: Any = (MEASURE, "AP")) -> Audit:
    return il.audit(qrels, il.Run(rows, "run"), measures=measures)


def only(audit: Audit, code: str) -> il.Doubt:
    (one,) = (finding for finding in audit.findings if finding.code == code)
    return one


def broken(fault: Any, rows: Rows = ROWS) -> Rows:
    made: Rows = fault(rows, random.Random(3), DOCUMENTS)
    return made


CLEAN = il.evaluate(QRELS, il.Run(ROWS, "run"), MEASURE)[MEASURE]


def test_sound_data_has_no_error() -> None:
    audit = audited(ROWS)
    assert audit.at_least("warning") == ()
    assert CLEAN > 0.8


def test_right_scores_are_kept_where_the_ranks_are_reversed() -> None:
    one = only(audited(broken(reverse_ranks)), "rank-column")
    assert one.remedy.startswith("keep the scores, which are the better order")
    assert (one.price, one.command, one.severity) == ({}, "", "warning")
    by_rank = il.evaluate(QRELS, il.Run(broken(reverse_ranks), "run"), MEASURE, order="rank")[
        MEASURE
    ]
    assert f"by the scores {MEASURE} is {CLEAN:.4f}, by the ranks {by_rank:.4f}" in one.message


def test_right_ranks_are_followed_where_the_scores_are_reversed() -> None:
    one = only(audited(broken(negate_scores)), "rank-column")
    assert one.remedy.startswith("rank by the rank column, which is the better order")
    assert "negate the scores" in one.remedy
    assert one.command.endswith("order='rank')")
    assert one.price["run"][MEASURE][1] == CLEAN
    assert one.severity == "error"


def test_scores_are_not_to_be_negated_where_those_of_some_queries_are_right() -> None:
    scores = np.zeros(0) if ROWS.scores is None else ROWS.scores
    some = replace(
        ROWS, scores=np.where(np.arange(len(scores)) < len(scores) * 0.6, -scores, scores)
    )
    one = only(audited(some), "rank-column")
    assert "12 queries of 20, each turned round" in one.message
    assert one.remedy == "rank by the rank column, which is the better order"


def test_neither_order_is_recommended_where_the_difference_could_be_chance() -> None:
    near = [{"query": "1", "document": f"d{i}", "score": i, "rank": i} for i in range(4)]
    one = only(il.audit({"1": {"d0": 1, "d3": 1}}, near, measures="RR"), "rank-column")
    assert one.remedy.startswith("find out which of the two is the system's order")
    assert (one.price, one.command) == ({}, "")


def test_swapped_columns_are_named() -> None:
    one = only(audited(broken(swap_columns)), "swapped-columns")
    assert one.severity == "error"
    assert one.price["run"][MEASURE][1] == CLEAN
    assert one.command.endswith("order='given')")
    shuffled = broken(swap_columns).at(  # rows in no order: then only the columns help
        *_shuffled(broken(swap_columns)), ROWS.starts
    )
    one = only(audited(shuffled), "swapped-columns")
    assert (one.price["run"][MEASURE][1], one.command) == (CLEAN, "")
    assert "swap the two columns" in one.remedy


def _shuffled(rows: Rows) -> tuple[Any, tuple[str, ...]]:
    rng, order = random.Random(5), []
    for span in rows.spans().values():
        order += rng.sample(range(span.start, span.stop), span.stop - span.start)
    return np.array(order), rows.queries


def test_points_by_place_are_not_swapped_ranks() -> None:
    """Scores that count down from the length of the list, with ranks that count up."""
    ranks = np.zeros(0) if ROWS.ranks is None else ROWS.ranks
    counts = replace(ROWS, scores=51 - ranks)
    assert not audited(counts).at_least("error")


@pytest.mark.parametrize("distance", [True, False])
def test_right_scores_beside_ranks_that_are_none_are_not_swapped(distance: bool) -> None:
    """Points that count down to 1, and a distance or the system's own score as the rank."""
    places = np.zeros(0) if ROWS.ranks is None else ROWS.ranks
    beside = places / 64 if distance else 9.5 - places / 8
    assert not audited(replace(ROWS, scores=51 - places, ranks=beside)).at_least("error")


def test_lists_upside_down_are_named_by_audit_and_eval() -> None:
    rows = broken(negate_alone)
    one = only(audited(rows), "upside-down")
    assert one.severity == "error"
    assert "negate the scores" in one.remedy
    assert one.price["run"][MEASURE][1] == CLEAN
    doubts = {
        doubt.code: doubt for doubt in il.evaluate(QRELS, il.Run(rows, "run"), MEASURE).doubts
    }
    assert doubts["upside-down"].values[MEASURE] == CLEAN
    assert not any(d.code == "upside-down" for d in il.evaluate(QRELS, il.Run(ROWS, "r")).doubts)


def test_lists_without_scores_are_to_be_turned_round() -> None:
    lists = {query: list(ROWS.documents[span])[::-1] for query, span in ROWS.spans().items()}
    one = only(il.audit(QRELS, lists, measures=MEASURE), "upside-down")
    assert one.finding.endswith("from the bottom up, as if the last were best")
    assert one.remedy.startswith("turn the lists round")
    assert one.message.count(MEASURE) == 1  # its value is said once


def test_queries_that_the_run_lacks_say_nothing_about_its_order() -> None:
    """They count as 0 in any order, which would hide that all lists are upside down."""
    some = il.Run(broken(negate_alone).some(ROWS.queries[:6]), "run")
    doubts = il.evaluate(QRELS, some, MEASURE, missing="zero").doubts
    assert "upside-down" in {doubt.code for doubt in doubts}


@pytest.mark.parametrize("fault", [shift_queries, rotate_queries, shuffle_queries])
def test_lists_under_other_queries_are_put_back(fault: Any) -> None:
    one = only(audited(broken(fault)), "misplaced-lists")
    assert one.severity == "error"
    assert one.price["run"][MEASURE][1] > 0.9 * CLEAN
    back = il.map_ids(il.Run(broken(fault), "run"), **one.mappings)
    own = il.evaluate(QRELS, back, MEASURE)[MEASURE]
    assert own == one.price["run"][MEASURE][1]
    if fault is shift_queries:
        assert "each list seems to be that of the query 1 place before" in one.message


@pytest.mark.parametrize("skipped", [8, 12])
def test_a_block_of_lists_that_is_shifted_is_put_back(skipped: int) -> None:
    """One query was skipped half way, so all that follow have the list of the next one."""
    names = list(ROWS.queries)
    moved = replace(ROWS, queries=(*names[:skipped], *names[skipped + 1 :], names[skipped]))
    one = only(audited(moved), "misplaced-lists")
    assert one.price["run"][MEASURE][1] == CLEAN
    assert one.mappings["queries"].keys() == {*names[skipped:]}


def test_lists_of_a_weak_run_are_not_moved_to_queries_on_the_same_topic() -> None:
    """The documents of a topic are the same for all of its queries, and ranked nearly at random."""
    for seed in (23, 38):
        rng = random.Random(seed)
        qrels: Qrels = {}
        run: dict[str, dict[str, float]] = {}
        for i in range(12):
            topic = [f"t{i // 6}d{j}" for j in range(30)]
            relevant = {*rng.sample(topic, rng.choice([1, 3, 6]))}
            scores = {d: 0.2 * (d in relevant) + rng.gauss(0, 1) + 0.5 for d in topic}
            scores |= {f"o{rng.randrange(500)}": rng.gauss(0, 1) for _ in range(20)}
            run[f"q{i}"] = {d: scores[d] for d in sorted(scores, key=lambda d: -scores[d])[:10]}
            qrels[f"q{i}"] = dict.fromkeys(rng.sample(topic, 22), 0) | dict.fromkeys(relevant, 1)
        assert not il.audit(qrels, run, measures=MEASURE).at_least("error")


def marco(queries: int, shuffled: bool) -> tuple[Qrels, dict[str, dict[str, float]]]:
    """Judge one document a query, of which the run finds four in ten, under another query's id."""
    rng = random.Random(queries)
    documents = [str(10**6 + i) for i in range(20_000)]
    qrels = {str(i): {rng.choice(documents): 1} for i in range(queries)}
    lists = []
    for own in qrels.values():
        found = [*own] if rng.random() < 0.4 else []
        lists.append({d: rng.random() for d in [*found, *rng.sample(documents, 10)]})
    names = rng.sample(sorted(qrels), queries) if shuffled else [str(i) for i in range(1, queries)]
    return qrels, dict(zip(names, lists, strict=False))


def test_shifted_queries_are_put_back_where_one_document_is_judged() -> None:
    qrels, run = marco(400, shuffled=False)  # more queries than are looked at
    one = only(il.audit(qrels, run, measures="RR@10"), "misplaced-lists")
    assert one.mappings["queries"]["399"] == "398"
    assert f"{one.count} of 300 lists looked at fit" in one.message
    assert one.total == 300
    assert one.price["run"]["RR@10"][1] > 0.1


def test_what_nobody_can_put_back_is_said() -> None:
    qrels, run = marco(1000, shuffled=True)
    one = only(il.audit(qrels, run, measures="RR@10"), "few-meet")
    assert (one.severity, one.total) == ("warning", 1000)
    assert "each list under its own query" in one.remedy


def test_ids_that_are_long_numbers_are_sorted() -> None:
    """Longer than Python reads as a number."""
    ids = ["9" * 5000, "q2", "10", "1" + "0" * 5000, "007", "q01", "8"]
    assert in_order(ids) == ["007", "8", "10", ids[0], ids[3], "q01", "q2"]


def test_numbers_from_0_are_put_back() -> None:
    zero = replace(ROWS, queries=tuple(str(int(query) - 1) for query in ROWS.queries))
    one = only(audited(zero), "misplaced-lists")
    assert one.price["run"][MEASURE][1] == CLEAN


def test_documents_of_another_collection_are_named() -> None:
    audit = audited(broken(renumber_documents))
    one = only(audit, "other-collection")
    assert one.severity == "error"
    assert "no better than those of other queries" in one.message
    assert not any(finding.code == "holes" for finding in audit.findings)  # nothing to judge there
    doubts = il.evaluate(QRELS, il.Run(broken(renumber_documents), "run"), MEASURE).doubts
    assert "few-meet" in {doubt.code for doubt in doubts}


def test_another_run_tells_what_sparse_judgments_do_not() -> None:
    qrels, rows = made(queries=40, judged=8)
    foreign = il.Run(broken(renumber_documents, rows), "foreign")
    alone = il.audit(qrels, foreign, measures=MEASURE)
    assert "other-collection" not in {one.code for one in alone.findings}
    both = il.audit(qrels, [il.Run(rows, "sound"), foreign], measures=MEASURE)
    assert only(both, "other-collection").run == "foreign"


@pytest.mark.parametrize(("queries", "severity"), [(30, "error"), (5, "warning")])
def test_a_run_that_finds_nothing_is_wrong_beside_one_that_finds_much(
    queries: int, severity: str
) -> None:
    qrels = {str(i): {f"{1000 + i}": 1} for i in range(queries)}
    sound = {query: {**own, "1": 2} for query, own in qrels.items()}
    other = {query: {f"{2000 + i}": 1 for i in range(10)} for query in qrels}
    for runs, expected in (({"sound": sound, "other": other}, severity), (other, "warning")):
        one = only(il.audit(qrels, runs, measures="RR@10"), "no-documents-meet")
        assert one.severity == expected


@pytest.mark.parametrize("queries", [1, 3, 5, 30])
@pytest.mark.parametrize("length", [5, 50])
def test_sparse_judgments_that_a_run_misses_are_no_error(queries: int, length: int) -> None:
    """One document is judged a query, as in MS MARCO, and few or none of them are found."""
    for seed in range(8):
        rng = random.Random(seed)
        qrels = {str(i): {rng.choice(DOCUMENTS): 1} for i in range(queries)}
        run = {
            str(i): {d: float(-r) for r, d in enumerate(rng.sample(DOCUMENTS, length))}
            for i in range(queries)
        }
        assert il.audit(qrels, run, measures=MEASURE).at_least("error") == ()


FIRST = (shift_queries, shuffle_queries, renumber_documents)
SECOND = (reverse_ranks, negate_scores, negate_alone, swap_columns)


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_two_faults_do_not_contradict_each_other(first: Any, second: Any) -> None:
    audit = audited(broken(second, broken(first)))
    codes = {one.code for one in audit.at_least("error")}
    assert codes & {"misplaced-lists", "other-collection", "swapped-columns"}
    assert harmless(audit)
    if "swapped-columns" not in codes and codes & {"misplaced-lists", "other-collection"}:
        order = [one for one in audit.findings if one.code in ("rank-column", "upside-down")]
        assert not any(one.command or one.price for one in order)  # nobody can tell before


def test_no_remedy_lowers_the_measure() -> None:
    """One score for all, rows in an order that is worse than that of the names."""
    qrels = {str(i): {"z": 1, "a": 0} for i in range(12)}
    worse = [{"query": str(i), "document": d, "score": 1.0} for i in range(12) for d in "az"]
    one = only(il.audit(qrels, worse, measures="RR"), "constant-scores")
    assert (one.price, one.command, one.remedy) == ({}, "", "write the system's own scores")
    qrels = {str(i): {"a": 1, "z": 0} for i in range(12)}
    better = [{"query": str(i), "document": d, "score": 1.0} for i in range(12) for d in "az"]
    assert (
        "order='given'" in only(il.audit(qrels, better, measures="RR"), "constant-scores").command
    )


def test_documents_that_answer_every_query_are_left_in() -> None:
    qrels, rows = made()
    everywhere = {query: own | {"hub": 2} for query, own in qrels.items()}
    lists = {q: {"hub": 99.0} for q in qrels}
    for query, span in rows.spans().items():
        lists[query] |= dict(zip(rows.documents[span], rows.scores[span].tolist(), strict=True))  # type: ignore[index]
    one = only(il.audit(everywhere, lists, measures=MEASURE), "everywhere")
    assert (one.severity, one.remedy[:13]) == ("note", "leave them in")


def test_own_documents_that_are_relevant_are_left_in() -> None:
    qrels = {f"q{i}": {f"q{i}": 1, "x": 0} for i in range(12)}
    run = {f"q{i}": {f"q{i}": 2.0, "x": 1.0} for i in range(12)}
    one = only(il.audit(qrels, run, measures="RR"), "self-retrieval")
    assert (one.severity, one.command, one.remedy[:13]) == ("note", "", "leave them in")


def test_the_fit_of_random_pairs_has_mean_0_and_variance_1() -> None:
    rng = np.random.default_rng(4)
    fit = rng.exponential(size=(12, 12))
    found = np.array([deviations(fit, rng.permutation(12)) for _ in range(20_000)])
    assert abs(found.mean()) < 0.03
    assert abs(found.std() - 1) < 0.03


def test_sound_lists_fit_their_own_queries() -> None:
    lists = {query: ROWS.documents[span] for query, span in ROWS.spans().items()}
    found: Alignment = align(il.read_qrels(QRELS), lists, list(QRELS))
    assert found.own > 15
    assert found.elsewhere is None
