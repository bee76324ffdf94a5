"""Each finding about judgments, runs and texts: there where it should be, with what it costs."""

from __future__ import annotations

import io
import json
import math
import random
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings

import idealist as il
from data_mutations import DATA_MUTATIONS
from generated import PLAIN, seeds, some_case, some_measure, some_protocol
from idealist import errors
from idealist.auditing import CHECKS, Audit, audit
from idealist.auditing.judgment_checks import JUDGMENT_DOUBTS
from idealist.auditing.run_checks import NOT_REPEATED
from idealist.cli.main import cli, main
from idealist.rendering.doubt import CODES, SEVERITIES, TEXTS
from mutations import MUTATIONS

Grades = dict[str, dict[str, float]]
Scores = dict[str, dict[str, float]]

QUERIES = [f"q{i}" for i in range(12)]
PATTERN = [2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def clean() -> tuple[Grades, Scores]:
    """Give judgments and a run in which nothing is wrong: all is judged, nothing tied."""
    qrels: Grades = {
        query: {f"d{12 * n + i}": PATTERN[(i + n % 2) % 12] for i in range(12)}
        for n, query in enumerate(QUERIES)
    }
    run = {
        query: {document: 12.0 - i + n / 100 for i, document in enumerate(judged)}
        for n, (query, judged) in enumerate(qrels.items())
    }
    return qrels, run


def found(code: str, *arguments: Any, **options: Any) -> il.Doubt:
    """Give the one finding of a code."""
    options.setdefault("measures", ["nDCG@10", "AP", "R@10"])
    (one,) = [one for one in audit(*arguments, **options).findings if one.code == code]
    return one


def codes(*arguments: Any, **options: Any) -> set[str]:
    options.setdefault("measures", ["nDCG@10", "AP", "R@10"])
    return {one.code for one in audit(*arguments, **options).at_least("warning")}


def test_nothing_is_found_in_clean_data() -> None:
    assert codes(*clean()) == set()


def trec(path: Path, rows: list[tuple[str, str, int, float]]) -> Path:
    lines = [f"{query} Q0 {document} {rank} {score} tag\n" for query, document, rank, score in rows]
    path.write_text("".join(lines))
    return path


def rows_of(run: Scores) -> list[tuple[str, str, int, float]]:
    return [
        (query, document, rank, score)
        for query, scores in run.items()
        for rank, (document, score) in enumerate(scores.items(), 1)
    ]


def test_repeated_rows_are_an_error_and_the_rest_is_audited(tmp_path: Path) -> None:
    qrels, run = clean()
    rows = rows_of(run)
    path = trec(tmp_path / "bm25.run", [*rows, (*rows[0][:2], 99, -1.0), (*rows[13][:2], 99, -1.0)])
    del qrels["q3"]["d36"]
    one = found("duplicates", qrels, path)
    assert (one.severity, one.count, one.total) == ("error", 2, len(rows) + 2)
    assert one.examples == ("query q0", "query q1")
    assert "duplicates='first'" in one.command
    assert one.price["bm25"]["AP"][1] == pytest.approx(
        il.evaluate(qrels, path, "AP", duplicates="last")["AP"]
    )
    assert found("holes", qrels, path).count == 1


def test_repeated_rows_that_are_allowed_are_a_warning(tmp_path: Path) -> None:
    qrels, run = clean()
    rows = rows_of(run)
    path = trec(tmp_path / "bm25.run", [*rows, (*rows[0][:2], 99, -1.0)])
    assert found("duplicates", qrels, path, duplicates="first").severity == "warning"


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_scores_that_are_no_numbers(score: float) -> None:
    qrels, run = clean()
    run["q1"]["d12"] = run["q2"]["unjudged"] = score
    one = found("nonfinite-scores", qrels, run)
    assert (one.severity, one.count) == ("error", 2)
    assert "nonfinite='last'" in one.command
    left = {q: {d: s for d, s in own.items() if math.isfinite(s)} for q, own in run.items()}
    now, then = one.price["run"]["AP"]
    assert now == il.evaluate(qrels, run, "AP", nonfinite="last")["AP"]
    assert then == il.evaluate(qrels, left, "AP")["AP"]


def test_a_list_without_numbers_is_not_called_constant() -> None:
    qrels, run = clean()
    run["q1"] = dict.fromkeys(run["q1"], math.nan)
    assert codes(qrels, run) == {"nonfinite-scores", "ties"}


def test_one_score_for_all() -> None:
    qrels, run = clean()
    same = {query: dict.fromkeys(scores, 1.0) for query, scores in run.items()}
    one = found("constant-scores", qrels, same)
    assert (one.severity, one.count, one.total) == ("error", 12, 12)
    assert one.price["run"]["AP"][1] == il.evaluate(qrels, run, "AP")["AP"]
    some = {**run, "q0": same["q0"]}
    assert found("constant-scores", qrels, some).severity == "warning"


def test_ties_have_a_range() -> None:
    qrels, run = clean()
    run["q0"] = {document: score // 4 for document, score in run["q0"].items()}
    one = found("ties", qrels, run)
    assert (one.severity, one.count, one.total) == ("warning", 1, 12)
    assert "AP from" in one.message
    assert f"{11 / 144:.1%} of the judged documents found are tied" in one.message
    assert one.command.endswith("ties='expected')")
    assert one.price["run"]["AP"][1] == il.evaluate(qrels, run, "AP", ties="expected")["AP"]
    one = found("ties", qrels, run, measures="AP", depth=11)  # which has no mean over orders
    assert "ties='random(1)'" in one.command
    assert (
        one.price["run"]["AP"][1] == il.evaluate(qrels, run, "AP", depth=11, ties="random(1)")["AP"]
    )


def test_scores_that_float32_ties() -> None:
    qrels, run = clean()
    run["q0"] = {d: 1e6 - i * 1e-6 for i, d in enumerate(run["q0"])}
    one = found("float32", qrels, run)
    assert one.severity == "warning"
    assert one.price["run"]["AP"][1] == il.evaluate(qrels, run, "AP", precision="float32")["AP"]
    assert "precision='float32'" in one.command
    other = found("float32", qrels, run, precision="float32")
    assert other.price["run"]["AP"] == one.price["run"]["AP"][::-1]
    assert "precision='float64'" in other.command


def test_ranks_that_contradict_the_scores(tmp_path: Path) -> None:
    qrels, run = clean()
    rows = rows_of(run)
    assert "rank-column" not in codes(qrels, trec(tmp_path / "good.run", rows))
    turned = trec(tmp_path / "turned.run", [(q, d, rank, -score) for q, d, rank, score in rows])
    one = found("rank-column", qrels, turned)
    assert (one.severity, one.count, one.total) == ("error", 12, 12)
    assert "each turned round" in one.message
    assert "negate the scores, as if lower ones were better" in one.remedy
    assert one.price["turned"]["AP"][1] == il.evaluate(qrels, run, "AP")["AP"]
    few = [(q, d, 13 - rank if q == "q0" else rank, score) for q, d, rank, score in rows]
    assert found("rank-column", qrels, trec(tmp_path / "few.run", few)).severity == "warning"


def test_rank_columns_that_say_nothing_are_let_pass(tmp_path: Path) -> None:
    qrels, run = clean()
    same = trec(tmp_path / "same.run", [(q, d, 0, score) for q, d, _, score in rows_of(run)])
    assert "rank-column" not in codes(qrels, same)


def test_missing_and_unknown_queries() -> None:
    qrels, run = clean()
    run["other"] = run.pop("q5")
    missing = found("missing-queries", qrels, run)
    assert (missing.severity, missing.count, missing.examples) == ("warning", 1, ("query q5",))
    assert missing.price["run"]["AP"][1] == il.evaluate(qrels, run, "AP", missing="skip")["AP"]
    assert found("unknown-queries", qrels, run).severity == "note"


def test_short_and_empty_lists() -> None:
    qrels, run = clean()
    for query in ("q0", "q1"):
        run[query] = dict(list(run[query].items())[:3])
    run["q2"] = {}
    short, empty = found("short-lists", qrels, run), found("empty-lists", qrels, run)
    assert (short.severity, short.count, short.total) == ("warning", 2, 11)
    assert short.examples[0] == "query q0: 3 documents"
    assert (empty.count, empty.examples) == (1, ("query q2",))
    for one, gone in ((short, {"q0", "q1"}), (empty, {"q2"})):
        others = [query for query in QUERIES if query not in gone]
        then = il.evaluate(qrels, run, "AP", queries=others)["AP"]
        assert one.price["run"]["AP"][1] == pytest.approx(then, rel=1e-12)


def test_lists_of_one_length_are_only_noted() -> None:
    assert found("short-lists", *clean(), measures="R@100").severity == "note"


def test_lists_of_ten_are_enough_where_nobody_asked_for_more() -> None:
    qrels, run = clean()
    run["q0"] |= {f"x{i}": -float(i) for i in range(30)}
    assert found("short-lists", qrels, run, measures="R@100").severity == "warning"
    (short,) = [one for one in audit(qrels, run).findings if one.code == "short-lists"]
    assert short.severity == "note"


def test_queries_that_find_themselves() -> None:
    qrels, run = clean()
    for query in QUERIES:
        run[query][query] = 99.0
    one = found("self-retrieval", qrels, run)
    assert (one.count, one.total) == (12, 12)
    assert one.price["run"]["AP"][1] == il.evaluate(*clean(), "AP")["AP"]
    assert "self-retrieval" not in codes(qrels, run, exclude_self=True)


def test_numbers_shared_by_chance_are_no_queries() -> None:
    qrels, run = clean()
    for query in QUERIES:
        run[query][query] = -99.0
    assert "self-retrieval" not in codes(qrels, run)


def test_a_document_that_is_everywhere() -> None:
    qrels, run = clean()
    for query in QUERIES:
        run[query]["hub"] = 99.0
    one = found("everywhere", qrels, run)
    assert (one.count, one.examples) == (1, ("document hub",))
    assert one.price["run"]["AP"][1] == il.evaluate(*clean(), "AP")["AP"]


def test_a_small_collection_is_at_every_top() -> None:
    qrels: Grades = {query: {f"d{i}": float(i % 2) for i in range(9)} for query in QUERIES}
    run = {
        query: {f"d{i}": float((i * (n + 1)) % 9) + i / 99 for i in range(9)}
        for n, query in enumerate(QUERIES)
    }
    assert "everywhere" not in codes(qrels, run)


def test_queries_without_relevant_documents() -> None:
    qrels, run = clean()
    qrels["q4"] = dict.fromkeys(qrels["q4"], 0.0)
    one = found("no-relevant", qrels, {"a": run, "b": run})
    assert (one.run, one.count, one.total) == ("", 1, 12)
    assert set(one.price) == {"a", "b"}


def test_judgments_of_which_none_says_relevant_are_an_error() -> None:
    qrels, run = clean()
    for grades in ([0.0], [0.0, -1.0]):
        nothing = {
            query: {d: grades[i % len(grades)] for i, d in enumerate(judged)}
            for query, judged in qrels.items()
        }
        for measures in ("AP", "P@10"):
            assert found("one-sided", nothing, run, measures=measures).severity == "error"
        assert "no-relevant" not in codes(nothing, run)


def test_queries_with_a_single_relevant_document() -> None:
    qrels, run = clean()
    single = {
        query: {d: float(i == 0) for i, d in enumerate(judged)} for query, judged in qrels.items()
    }
    one = found("single-relevant", single, run)
    assert (one.severity, one.count) == ("note", 12)
    assert found("graded-on-binary", single, run).severity == "note"


def test_more_relevant_than_the_cutoff() -> None:
    qrels, run = clean()
    one = found("more-relevant", qrels, run, measures="R@4")
    assert one.severity == "warning"
    capped = il.evaluate(qrels, run, "R(denominator=min(k,R))@4")
    assert one.price["run"]["R@4"][1] == capped["R(denominator=min(k,R))@4"]


def test_grades_that_nobody_gave() -> None:
    qrels, run = clean()
    odd = {q: {d: 3.0 if g == 2 else g for d, g in judged.items()} for q, judged in qrels.items()}
    assert "no document has 2" in found("unused-grades", odd, run).message
    far = {q: {d: 1e9 if g == 2 else g for d, g in judged.items()} for q, judged in qrels.items()}
    assert not [one for one in il.audit(far, run).findings if one.code == "unused-grades"]
    scaled = il.read_qrels(qrels, scale=3)
    assert "no document has 3" in found("unused-grades", scaled, run).message


def test_judgments_of_relevant_documents_only() -> None:
    qrels, run = clean()
    good = {q: {d: g for d, g in judged.items() if g} for q, judged in qrels.items()}
    assert found("positives-only", good, run).severity == "note"
    codes = {one.code for one in audit(good, run).findings}
    assert not codes & {"holes", "one-sided", "uneven-coverage", "pool-bias"}
    pooled = il.read_qrels(good, judgments="pooled")
    assert found("one-sided", pooled, run).severity == "note"
    assert found("holes", pooled, run).severity == "warning"


def test_binary_measures_of_graded_judgments() -> None:
    qrels, run = clean()
    assert found("binary-on-graded", qrels, run).severity == "note"
    binary = {q: {d: min(g, 1.0) for d, g in judged.items()} for q, judged in qrels.items()}
    assert "binary-on-graded" not in [one.code for one in audit(binary, run).findings]


def test_repeated_judgments_and_rows_without_a_grade(tmp_path: Path) -> None:
    qrels, run = clean()
    rows = [(q, d, g) for q, judged in qrels.items() for d, g in judged.items()]
    assert found("repeated-judgments", [*rows, rows[0]], run).count == 1
    table = tmp_path / "qrels.jsonl"
    table.write_text(
        "".join(
            json.dumps({"query": q, "document": d, "grade": g if i else None}) + "\n"
            for i, (q, d, g) in enumerate(rows)
        )
    )
    assert found("ungraded", table, run).count == 1


def contradicted(tmp_path: Path) -> tuple[Grades, Path]:
    """Write judgments of which two have another grade as well; give the others too."""
    qrels, _ = clean()
    rows = [(q, d, g) for q, judged in qrels.items() for d, g in judged.items()]
    path = tmp_path / "qrels.txt"
    lines = [*rows, ("q0", "d0", 5.0), ("q1", "d14", 3.0)]
    path.write_text("".join(f"{q} 0 {d} {g:g}\n" for q, d, g in lines))
    del qrels["q0"]["d0"], qrels["q1"]["d14"]
    return qrels, path


def test_contradictions_are_findings_and_the_rest_is_audited(tmp_path: Path) -> None:
    others, path = contradicted(tmp_path)
    _, run = clean()
    one = found("contradiction", path, run)
    assert (one.severity, one.count, one.total) == ("error", 2, 146)
    assert "contradicts" in one.message
    assert "left out of all that follows" in one.message
    assert one.remedy
    higher = {**others, "q0": others["q0"] | {"d0": 5.0}, "q1": others["q1"] | {"d14": 3.0}}
    values = [il.evaluate(qrels, run, "nDCG@10")["nDCG@10"] for qrels in (others, higher)]
    assert one.price["run"]["nDCG@10"] == tuple(values)
    loud = {query: {d.upper(): s for d, s in own.items()} for query, own in run.items()}
    assert codes(path, loud) == {"contradiction", "document-ids"}


def test_contradictions_beside_another_fault_end_the_audit() -> None:
    rows = [("q", "d", 1.0), ("q", "d", 2.0)]
    one = audit(rows, {"q": ["d"]})
    assert [finding.code for finding in one.findings] == ["contradiction"]
    assert "nothing else was looked at" in one.findings[0].message
    assert one.values == {}


def test_a_run_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    qrels, run = clean()
    bad = tmp_path / "bad.run"
    bad.write_text("q0 Q0 d1 1 high tag\nq0 Q0 d2 2 low tag\n")
    good = trec(tmp_path / "good.run", rows_of(run))
    result = audit(qrels, [bad, good])
    one = next(one for one in result.findings if one.run == "bad")
    assert (one.severity, one.code, one.count) == ("error", "bad-score", 2)
    assert "good" in result.values


def test_documents_that_are_not_in_the_collection() -> None:
    qrels, run = clean()
    docs = {d: f"text of {d}" for judged in qrels.values() for d in judged}
    for name in ("d2", "d3"):
        del docs[name], run["q0"][name]
    assert "absent-documents" not in codes(qrels, run)
    one = found("absent-documents", qrels, run, docs=docs)
    assert (one.severity, one.count, one.total) == ("error", 2, 144)
    left = {q: {d: g for d, g in judged.items() if d in docs} for q, judged in qrels.items()}
    assert one.price["run"]["AP"][1] == il.evaluate(left, run, "AP")["AP"]


def test_what_a_run_retrieves_is_in_the_collection() -> None:
    """Texts that are a part of the collection say nothing about the numbers."""
    qrels, run = clean()
    docs = {d: f"text of {d}" for d in ["d0", "d1", "d4"]}
    result = audit(qrels, run, ["AP"], docs=docs)
    assert "absent-documents" not in {one.code for one in result.findings}
    one = found("missing-texts", qrels, run, docs=docs)
    assert (one.severity, one.price, one.count, one.total) == ("note", {}, 141, 144)
    assert "runs retrieve 141 of them: it is a part of the collection, or has other" in one.message
    del run["q0"]["d2"]
    del docs["d4"]
    assert found("missing-texts", qrels, run, docs=docs).severity == "note"


def test_a_collection_with_other_ids_is_said_to_be_one() -> None:
    qrels, run = clean()
    docs = {f"DOC-{d}": "text" for judged in qrels.values() for d in judged}
    assert found("missing-texts", qrels, run, docs=docs).severity == "warning"
    one = found("absent-documents", qrels, {"q0": ["x"]}, docs=docs)
    assert "do the ids match?" in one.message
    assert (one.severity, one.price) == ("error", {})


def test_texts_of_something_else_are_said_to_be() -> None:
    qrels, run = clean()
    queries = {"x": "what is x"}
    assert codes(qrels, run, texts=queries, pool_teams={"run": "team"}) == {"unrelated"}


def test_one_text_with_two_grades(tmp_path: Path) -> None:
    qrels, run = clean()
    docs = {d: f"text of {d}" for judged in qrels.values() for d in judged}
    docs["d1"] = " Text  of D0"
    qrels["q0"]["d0"], qrels["q0"]["d1"] = 0.0, 2.0
    collection = tmp_path / "docs.tsv"
    collection.write_text("".join(f"{d}\t{text}\n" for d, text in docs.items()))
    for texts in (docs, collection):
        one = found("same-text", qrels, run, docs=texts)
        assert (one.count, one.examples) == (1, ("query q0: d0, d1",))
        higher = {**qrels, "q0": qrels["q0"] | {"d0": 2.0}}
        assert one.price["run"]["AP"][1] == il.evaluate(higher, run, "AP")["AP"]
    qrels["q0"]["d1"] = 0.0
    assert "same-text" not in codes(qrels, run, docs=docs)


def test_one_text_for_two_queries() -> None:
    qrels, run = clean()
    texts = {query: f"what is {query}" for query in QUERIES}
    assert "same-query" not in codes(qrels, run, texts=texts)
    texts["q7"] = "What is  q3"
    one = found("same-query", qrels, run, texts=texts)
    assert (one.count, one.examples) == (2, ("q3, q7: what is q3",))
    others = [query for query in QUERIES if query != "q7"]
    then = il.evaluate(qrels, run, "AP", queries=others)["AP"]
    assert one.price["run"]["AP"][1] == pytest.approx(then, rel=1e-12)


def test_uneven_coverage_and_the_pool() -> None:
    qrels, run = clean()
    unpooled = {
        query: {
            f"x{i}" if i % 2 else document: score
            for i, (document, score) in enumerate(scores.items())
        }
        for query, scores in run.items()
    }
    result = audit(qrels, {"a": run, "b": run, "c": unpooled})
    one = next(one for one in result.findings if one.code == "uneven-coverage")
    assert (one.count, one.total) == (1, 3)
    label = "nDCG@10"
    then = il.evaluate(qrels, unpooled, label, unjudged="drop")[label]
    assert one.price["c"][label] == (il.evaluate(qrels, unpooled, label)[label], then)
    assert result.coverage is not None
    assert result.coverage.contributed == ("a", "b")
    holes = [one for one in result.findings if one.code == "holes"]
    assert [(one.run, one.severity) for one in holes] == [("c", "warning")]
    assert "too few to say which run is better" in holes[0].message


def test_holes_are_priced_where_little_is_judged() -> None:
    qrels: Grades = {"q0": {"d0": 1.0, "d1": 0.0}}
    run = {"q0": ["x0", "d0", *(f"x{i}" for i in range(1, 9))]}
    now, low, high = found("holes", qrels, run).price["run"]["nDCG@10"]
    assert low <= now < high - 0.1  # two judged documents say next to nothing
    relevant = il.read_qrels({"q0": {"d0": 1.0}}, judgments="pooled")  # so nobody can tell
    assert not found("holes", relevant, run).price


def test_everything_is_plain_data() -> None:
    qrels, run = clean()
    run["q0"]["unjudged"] = 0.5
    result = audit(qrels, {"a": run, "b": run})
    assert result.coverage is not None
    written = json.loads(json.dumps(result.coverage.data(), allow_nan=False))
    assert written["runs"][0]["judged"]["10"] == result.coverage.runs["a"].judged[10]
    assert written["grades"] == {"0": 84, "1": 36, "2": 24}
    assert written["left_out"]["a"]["unique"] == 0
    assert written["pairs"][0]["document"] == "unjudged"


def test_every_finding_says_what_to_do_and_why() -> None:
    qrels, run = clean()
    qrels["q4"] = dict.fromkeys(qrels["q4"], 0.0)
    run["q1"] = dict.fromkeys(run["q1"], 1.0)
    run["q2"] = {"d24": 1.0, "unjudged": 2.0}
    del run["q3"]
    result: Audit = audit(qrels, {"a": run, "b": clean()[1], "c": clean()[1]})
    assert len({one.code for one in result.findings}) > 5
    for one in result.findings:
        assert one.remedy, one.code
        assert one.doc, one.code
        assert one.severity in SEVERITIES
        assert one.code in CODES
        assert "\n" not in one.message
    assert len(CHECKS) > 15


def test_every_fault_that_is_put_in_has_a_code_of_the_reference() -> None:
    codes = {one.code for one in (*MUTATIONS, *DATA_MUTATIONS)}
    assert codes - errors.CODES.keys() <= CODES.keys()
    made = {"no-documents-meet", "no-queries-meet", "pool-bias", "ungraded", "unscored"}
    made |= {"few-meet", "other-collection", "missing-texts"}  # of real runs and texts
    made |= {"judge-apart", "rank-or-score", "read-as"}  # of several judges, and of readers
    made |= {"list-order", "model-grades", "places-only"}  # of readers, of stores, of bundles
    made |= {"lost-quotes", "moved-quotes", "no-spans", "odd-quotes", "repeated-quotes"}
    only_eval = NOT_REPEATED - {*JUDGMENT_DOUBTS, "duplicates"}
    only_compare = {
        "carried-by-few", "constant-difference", "few-draws", "few-queries", "judged-unequal",
        "not-a-mean", "tests-disagree", "undefined", "weights-and-spread",
    }  # fmt: skip
    of_judges = {
        "few-shared-queries", "few-systems", "grades-between", "judge-inflation", "no-model-labels",
        "people-judged-less", "pools-differ", "prevalence",
        "same-family", "same-judgments", "unlike-sample", "weak-at-top",
    }  # fmt: skip
    of_arrays = {
        "hidden-documents", "low-scores", "negative-labels", "repeated-queries", "unnamed-queries",
    }  # fmt: skip
    of_fusion = {"learnt", "tied-inputs", "uneven-queries"}
    of_interleaving = {
        "few-users", "heavy-user", "no-user", "not-shown", "only-clicked", "same-lists",
        "short-rankings", "uneven-lists", "unshared-queries",
    }  # fmt: skip
    of_collecting = {"failed-queries", "partial-queries", "scores-unlike-order", "unasked-queries"}
    of_clicks = {code for code in CODES if code.startswith("clicks-")}
    others = only_eval | only_compare | of_judges | of_arrays
    others |= of_fusion | of_interleaving | of_collecting | of_clicks
    assert CODES.keys() - codes == made | others


def test_queries_restrict_what_is_audited() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
    run = {"q1": ["a", "b"], "q2": ["x", "a"]}
    whole, part = (il.audit(qrels, run, "AP", queries=only) for only in (None, ["q1"]))
    assert whole.values["run"]["AP"] == 0.75
    assert part.values["run"]["AP"] == 1.0


@pytest.mark.parametrize("code", TEXTS)
def test_texts_of_doubts_are_whole(code: str) -> None:
    texts = TEXTS[code]
    assert "meaning" in texts
    assert texts.keys() <= {"meaning", "remedy", "doc"}
    assert all(text and text == text.strip() and "\n" not in text for text in texts.values())
    assert [*TEXTS] == sorted(TEXTS)


def test_commands_do_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    qrels, run = clean()
    qrels["q4"] = dict.fromkeys(qrels["q4"], 0.0)
    run["q1"] = dict.fromkeys(run["q1"], 1.0)
    del run["q3"], qrels["q5"]["d60"]
    rows = rows_of(run)
    path = trec(tmp_path / "my run.trec", [*rows, (*rows[0][:2], 99, -1.0)])
    judged = tmp_path / "qrels.txt"
    il.write_qrels(il.read_qrels(qrels), judged)
    result = audit(judged, path, measures=["nDCG@5", "AP"], convention="pytrec_eval", depth="50")
    commands = [one.command for one in result.findings if one.command]
    assert len(commands) >= 4
    for command in commands:
        tool, verb, *words = shlex.split(command)
        assert (tool, words[:2]) == ("idealist", [str(judged), str(path)])
        assert "depth=50" in words
        assert words[words.index("--convention") + 1] == "pytrec_eval"
        if "duplicates=first" not in words:
            words += ["--set", "duplicates=first"]
        done = CliRunner().invoke(cli, [verb, *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output


def test_data_in_no_file_is_evaluated_by_a_call() -> None:
    qrels, run = clean()
    run["q0"] = {document: score // 4 for document, score in run["q0"].items()}
    one = found("ties", qrels, run, measures="AP", convention="pytrec_eval")
    values = eval(one.command, {"evaluate": il.evaluate, "qrels": qrels, "run": run})
    assert one.price["run"]["AP"][1] == values["AP"]
    assert (
        f"```python\n{one.command}\n```"
        in audit(qrels, run, measures="AP", convention="pytrec_eval").markdown()
    )


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_whatever_can_be_evaluated_can_be_audited(seed: int) -> None:
    rng = random.Random(seed)
    (qrels, first), (_, second) = some_case(rng), some_case(rng)
    measures = [str(some_measure(rng, rng.choice(PLAIN))) for _ in range(2)]
    axes: dict[str, Any] = {
        key: value for key, value in some_protocol(rng).written().items() if rng.random() < 0.3
    }
    runs = {"first": first, "second": second}
    try:
        values = {name: il.evaluate(qrels, run, measures, **axes) for name, run in runs.items()}
    except il.IdealistError:
        return
    result = audit(qrels, runs, measures=measures, **axes)
    for name, own in values.items():
        assert result.values[name] == pytest.approx(dict(own.aggregates), nan_ok=True)
    assert json.dumps(result.data(), allow_nan=False)
    assert str(result)


SUBTOPICS = "q 1 a 1\nq 2 a 0\nq 2 b 2\nq 1 c 0\n"


@pytest.mark.parametrize("run", [{"q": ["a", "x", "b"]}, {"q": {"a": 0.5, "b": 0.5}}, {"q": []}])
def test_judgments_by_subtopic_and_lists_without_scores(run: Any, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(SUBTOPICS)
    result = audit(tmp_path / "qrels.txt", [run, run], measures=["alpha_nDCG@5", "AP"])
    assert {"alpha_nDCG@5", "AP"} == set(result.values["run"])


RUN: dict[str, Any] = {"q0": {"d0": 2.0, "d1": 1.0}, "q1": {"d13": 2.0, "d12": 1.0}}
ONE: list[Any] = [
    RUN,
    {query: list(own) for query, own in RUN.items()},
    {
        query: {d: {"score": score, "tokens": 9} for d, score in own.items()}
        for query, own in RUN.items()
    },
    [(query, d, score) for query, own in RUN.items() for d, score in own.items()],
    [
        {"query": q, "document": d, "score": score}
        for q, own in RUN.items()
        for d, score in own.items()
    ],
    {
        "query": ["q0", "q0", "q1", "q1"],
        "document": ["d0", "d1", "d13", "d12"],
        "score": [2, 1, 2, 1],
    },
]


@pytest.mark.parametrize("run", ONE)
def test_one_run_several_and_named_ones_are_told_apart(run: Any) -> None:
    qrels, value = clean()[0], il.evaluate(clean()[0], RUN, "AP")["AP"]
    assert audit(qrels, run, measures="AP").values == {"run": {"AP": value}}
    named = {"a": il.read_run(run), "b": il.read_run(RUN)}
    for several in (named, [run.renamed(name) for name, run in named.items()]):
        assert audit(qrels, several, measures="AP").values == {
            "a": {"AP": value},
            "b": {"AP": value},
        }


def test_ids_that_never_meet_are_no_holes() -> None:
    qrels, run = clean()
    other = {query: {f"https://x.org/{d}": s for d, s in own.items()} for query, own in run.items()}
    found = {one.code for one in audit(qrels, {"a": run, "b": other}).at_least("warning")}
    assert found == {"document-ids"}


def test_the_data_of_an_audit_holds_the_mappings() -> None:
    qrels, run = clean()
    loud = {query: {d.upper(): s for d, s in own.items()} for query, own in run.items()}
    written = json.loads(json.dumps(audit(qrels, loud).data()))
    assert written["findings"][0]["mappings"]["documents"]["D0"] == "d0"


QRELS, RUN_ = clean()
MISUSES: dict[str, Any] = {
    "no run": lambda: audit(QRELS, []),
    "no severity": lambda: audit(QRELS, RUN_).at_least(None),  # type: ignore[arg-type]
    "no texts": lambda: audit(QRELS, RUN_, docs=5),
    "no teams": lambda: audit(QRELS, RUN_, pool_teams=[]),
    "no folder": lambda: audit(
        QRELS, {query: {d.upper(): s for d, s in own.items()} for query, own in RUN_.items()}
    ).save_mappings(5),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuses_are_refused_in_words(name: str) -> None:
    with pytest.raises(errors.UsageError) as caught:
        MISUSES[name]()
    assert caught.value.hint


def test_the_command_refuses_what_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, path = contradicted(tmp_path)
    run = trec(tmp_path / "bm25.run", rows_of(clean()[1]))
    empty, folder = tmp_path / "empty.tsv", tmp_path / "file" / "folder"
    empty.write_text("")
    (tmp_path / "file").write_text("")
    loud = trec(tmp_path / "loud.run", [(q, d.upper(), n, s) for q, d, n, s in rows_of(clean()[1])])
    for words, said in (
        ([tmp_path / "none.txt", run], "none.txt"),
        ([path, tmp_path / "none.run"], "none.run"),
        ([path, run, "--docs", empty], "no documents"),
        ([path, loud, "--save-mappings", folder], str(folder)),
    ):
        with pytest.raises(SystemExit) as left:
            main(["audit", *map(str, words), "--fail-on", "never"])
        assert left.value.code == 2, words
        assert said in capsys.readouterr().err


def test_where_no_run_can_be_read_no_coverage_is_drawn(tmp_path: Path) -> None:
    bad = tmp_path / "bad.run"
    bad.write_text("q0 Q0 d1 1 high tag\n")
    drawn = str(audit(clean()[0], bad))
    assert "Judged@" not in drawn
    assert drawn.endswith("run lines are: query Q0 document rank score tag")


def broken() -> tuple[Grades, Scores]:
    """Give a run whose documents are mostly written otherwise, with one of them everywhere."""
    qrels, run = clean()
    for query, scores in run.items():
        kept = [*scores][:2]
        run[query] = {d if d in kept else f"x/{d}": s for d, s in scores.items()} | {"hub": 99.0}
    return qrels, run


def test_what_ids_bring_about_is_no_finding() -> None:
    qrels, run = broken()
    assert codes(qrels, run) == {"document-ids"}
    assert not {"holes", "everywhere"} & {one.code for one in audit(qrels, run).findings}
    fine = clean()[1]
    for scores in fine.values():
        scores.update({f"unjudged{i}": 50.0 + i for i in range(3)})
    both = audit(qrels, {"fine": fine, "odd": run}).findings
    assert [one.run for one in both if one.code == "holes"] == ["fine"]
    assert not [one for one in both if one.code in ("uneven-coverage", "pool-bias")]


def test_an_audit_is_short_in_a_console() -> None:
    assert repr(audit(*broken(), "nDCG")) == "<Audit The numbers cannot be trusted: 1 error.>"
    assert repr(Audit(())) == "<Audit Nothing speaks against the numbers.>"


def test_documents_that_were_not_looked_at_are_not_counted() -> None:
    qrels, run = clean()
    coverage = audit(qrels, {f"other {query}?": own for query, own in run.items()}).coverage
    assert coverage is not None
    (row,) = coverage.table().written()
    assert row[-2:] == ["-", "-"]


def test_the_summary_counts_what_is_shown() -> None:
    qrels, run = clean()
    tied = {query: dict.fromkeys(scores, 1.0) | {"x": 2.0} for query, scores in run.items()}
    found = audit(qrels, {"a": tied, "b": tied, "c": run})
    lines = found.render("table").splitlines()
    assert lines[0] == found.summary == found.data()["verdict"]
    for kind in SEVERITIES:
        shown = sum(line.startswith(f"{kind}: ") for line in lines)
        said = re.search(rf"(\d+) {kind}s?\b", found.summary)
        assert shown == (int(said[1]) if said else 0), kind
    several = sum(", 2 runs:" in line or ", 3 runs:" in line for line in lines)
    assert f"; {several} of them about several runs" in found.summary
    assert len(found.findings) > len([line for line in lines if re.match("(error|war|note)", line)])


def test_notes_are_a_line_and_in_full_with_details() -> None:
    found = audit(*clean())
    (note,) = [one for one in found.findings if one.code == "binary-on-graded"]
    assert f"note: binary-on-graded: {note.finding}" in " ".join(str(found).split())
    assert note.remedy not in str(found)
    assert note.remedy in found.render("table", details=True)
    assert note.remedy in found.markdown()


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = clean()
    run["q0"] = {document: score // 4 for document, score in run["q0"].items()}
    run["q3"]["unjudged"] = 99.0
    paths = [trec(tmp_path / f"{name}.run", rows_of(run)) for name in "ab"]
    opened: list[str] = []
    real = io.FileIO

    def counted(path: Any, *rest: Any) -> Any:
        opened.append(Path(path).name)
        return real(path, *rest)

    monkeypatch.setattr("idealist.formats.source.io.FileIO", counted)
    assert {"ties", "holes", "short-lists"} <= {one.code for one in audit(qrels, paths).findings}
    assert sorted(opened) == ["a.run", "b.run"]


def test_numbers_of_rows_are_no_ids() -> None:
    grades = [[3, 0, 1, 2, 0, 1], [0, 1, 0, 2, 1, 0], [1, 0, 3, 0, 0, 2], [0, 2, 1, 0, 1, 0]]
    scores = [[6, 5, 4, 3, 2, 1], [5, 6, 4, 3, 2, 1], [4, 5, 6, 3, 2, 1], [4, 5, 3, 6, 2, 1]]
    assert "self-retrieval" not in codes(*il.read_arrays(grades, scores))


def test_contradicting_preferences_are_a_finding_and_the_rest_is_audited(tmp_path: Path) -> None:
    path = tmp_path / "prefs.txt"
    rows = [
        "q1 a 1 d1 2",
        "q1 a 1 d2 1",
        "q1 b 1 d1 2",
        "q1 b 1 d1 1",
        "q2 a 1 d3 2",
        "q2 a 1 d4 1",
    ]
    path.write_text("".join(f"{row}\n" for row in rows))
    run = {"q1": ["d1", "d2"], "q2": ["d4", "d3"]}
    found = audit(path, run, "prefs_pair")
    one = found.findings[0]
    assert (one.code, one.severity, one.count, one.total) == ("contradiction", "error", 1, 6)
    assert "their groups are left out" in one.finding
    path.write_text("".join(f"{row}\n" for row in rows if not row.startswith("q1 b")))
    assert found.values["run"] == {"prefs_pair": il.evaluate(path, run, "prefs_pair")["prefs_pair"]}
    path.write_text("q1 a 1 d1 2\nq1 a 1 d2 1\nq1 a 2 d2 2\nq1 a 2 d1 1\nq2 a 1 d3 1\n")
    assert audit(path, run, "prefs_pair").findings[0].code == "contradiction"


def test_one_hint_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "make.py"
    path.write_text("import os\nprint('a b c d e')\nfor x in y:\n    pass\n")
    qrels, run = clean()
    for one in audit(qrels, [path, run]).at_least("error"):
        assert ";" not in one.remedy.replace("; is the tag missing?", ""), one.remedy


def test_the_pairs_to_judge_are_offered(tmp_path: Path) -> None:
    qrels, run = clean()
    judged = "".join(f"{q} 0 {d} {g:g}\n" for q, own in qrels.items() for d, g in own.items())
    (tmp_path / "qrels.txt").write_text(judged)
    run["q3"]["unjudged"] = 99.0
    paths = [trec(tmp_path / f"{name}.run", rows_of(run)) for name in "ab"]
    (command,) = {
        one.command for one in audit(tmp_path / "qrels.txt", paths).findings if one.code == "holes"
    }
    words = shlex.split(command)
    assert words[:2] == ["idealist", "audit"]
    assert words[-2:] == ["--to-judge", "judge.tsv"]
    assert words[3:5] == [*map(str, paths)]


def test_a_command_of_one_run_among_several_says_so(tmp_path: Path) -> None:
    qrels, run = clean()
    tied = {query: dict.fromkeys(scores, 1.0) | {"x": 2.0} for query, scores in run.items()}
    said = str(audit(qrels, {"a": tied, "b": tied}, measures="AP"))
    assert "warning: ties, 2 runs:" in said
    assert "likewise" not in said  # one call in Python
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g:g}\n" for q, own in qrels.items() for d, g in own.items())
    )
    paths = [trec(tmp_path / f"{name}.run", rows_of(tied)) for name in "ab"]
    found = audit(tmp_path / "qrels.txt", paths, measures="AP", order="score")
    for said in (str(found), found.markdown()):
        assert "; for a, and likewise for the others:" in said


def test_a_grade_that_merging_took_away_was_given(tmp_path: Path) -> None:
    _, run = clean()
    with il.Store.create(tmp_path / "s.db", scale=2) as store:
        store.judge_all(il.Judgment("q1", d, g, j) for d in "ab" for j, g in (("x", 0), ("y", 2)))
        store.judge(il.Judgment("q1", "c", 2, "x"))
    message = found("unused-grades", tmp_path / "s.db", run).message
    assert message.startswith("merged by median, the grades range from")
    assert "no document has 0" in message
