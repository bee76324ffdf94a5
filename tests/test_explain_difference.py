"""Explained differences: what documents did adds up, and both lists are those of the runs."""

from __future__ import annotations

import json
import math
import random
import shlex
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, cycle, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import idealist as il
from effort import IS_SLOW, tries
from generated import seeds, some_case, some_measure, some_protocol
from idealist.cli.main import main
from idealist.comparing.changed_queries import QueryView
from idealist.explaining.contributions import FAMILIES
from idealist.explaining.difference_explainer import DEPENDS
from idealist.ranking.ranked import Ranked
from idealist.ranking.whole_lists import listed_documents, whole_lists

ROOT = Path(__file__).parents[1]
QRELS, OLD, NEW, QUERIES = (
    str(ROOT / "examples" / name)
    for name in ("qrels.txt", "bm25.run", "reranked.run", "queries.tsv")
)
#: Families of measures that are no sum over documents.
NO_SUMS = ("F", "SetAP", "AllHit")
#: The measures that are, as they are used.
SUMS = (
    "CG@10", "DCG@10", "DCG(gain=exp2)", "nDCG@10", "nDCG(ideal=retrieved)@10", "P@10", "R",
    "Rprec", "NumRelRet", "Judged@10", "AP", "AP@10", "GMAP", "RR@10", "Success@10", "ERR@10",
    "nERR@10", "PFound(probability=exp2)@10", "RBP", "bpref", "GMbpref",
)  # fmt: skip
GRADED = {"a": 3, "b": 2, "c": 1, "z": 0}


def effects(found: il.DifferenceExplanation) -> list[float]:
    return [one.effect for one in found.changes if one.effect is not None]


def by_document(found: il.DifferenceExplanation) -> dict[str, il.Change]:
    return {one.document: one for one in found.changes}


def between(
    old: list[Any], new: list[Any], measure: Any = "nDCG@10", **options: Any
) -> il.DifferenceExplanation:
    """Explain a query that is judged by GRADED."""
    return il.explain_difference(
        {"q": GRADED}, {"q": old}, {"q": new}, measure, query="q", **options
    )


# --- by hand


def test_ndcg_by_hand() -> None:
    found = between(["a", "b", "x", "c"], ["x", "b", "c", "a"])
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert found.before == pytest.approx((3 + 2 / math.log2(3) + 1 / math.log2(5)) / ideal)
    own = by_document(found)
    assert own["a"].effect == pytest.approx((3 / math.log2(5) - 3) / ideal, abs=1e-15)
    assert own["c"].effect == pytest.approx((1 / 2 - 1 / math.log2(5)) / ideal, abs=1e-15)
    assert own["b"].effect == 0
    assert (own["x"].grade, own["x"].effect, own["x"].arrow) == (None, 0, "↑2")
    assert [one.document for one in found.changes] == ["a", "c", "b", "x"]
    assert found.additive
    assert math.fsum(effects(found)) == pytest.approx(found.difference, abs=1e-15)


def test_average_precision_by_hand() -> None:
    found = between(["a", "x", "b"], ["x", "a", "b"], "AP")
    own = by_document(found)
    assert found.before == pytest.approx((1 + 2 / 3) / 3)
    assert found.after == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert own["a"].effect == pytest.approx(-1 / 6, abs=1e-15)
    assert own["b"].effect == pytest.approx(0, abs=1e-15)
    behind = between(["a", "b"], ["x", "b"], "AP")
    assert by_document(behind)["b"].effect == pytest.approx((1 / 2 - 1) / 3, abs=1e-15)
    assert by_document(behind)["b"].arrow == "="
    assert DEPENDS in behind.words


@pytest.mark.parametrize(
    ("before", "after", "cutoff", "words"),
    [
        (1, 6, 10, "fell from 1 to 6"),
        (6, 1, None, "rose from 6 to 1"),
        (3, 3, 10, "stayed at 3"),
        (3, 31, 10, "left the first 10: it fell from 3 to 31"),
        (31, 2, 10, "entered the first 10: it rose from 31 to 2"),
        (31, 40, 10, "fell from 31 to 40"),
        (None, 2, 10, "entered at 2 (not in the list before)"),
        (3, None, 10, "is no longer in the list (it was at 3)"),
    ],
)
def test_movements_in_words(
    before: int | None, after: int | None, cutoff: int | None, words: str
) -> None:
    assert il.Change("d", 2.0, before, after).words(cutoff) == f"d (grade 2) {words}"
    assert il.Change("d", None, before, after).words(cutoff) == f"d (unjudged) {words}"


# --- it adds up, whatever the lists, the grades and the rules


@pytest.mark.parametrize("name", FAMILIES)
@given(seed=seeds)
@settings(max_examples=tries(5, 200))
def test_effects_add_up_to_the_difference(name: str, seed: int) -> None:
    rng = random.Random(seed)
    measure, protocol = some_measure(rng, name), some_protocol(rng)
    axes: dict[str, Any] = {
        key: value for key, value in protocol.written().items() if key != "mapping"
    }
    axes = {"ties": "expected"} if measure.averages_ties and rng.random() < 0.3 else axes
    qrels, old = some_case(rng)
    new = {query: rng.sample(rows, len(rows)) for query, rows in old.items() if rng.random() < 0.8}
    new = {query: [(d, rng.choice([1.0, 2.0, s])) for d, s in rows] for query, rows in new.items()}
    try:
        values = [il.evaluate(qrels, run, measure, **axes) for run in (old, new)]
        explainer = il.DifferenceExplainer(qrels, old, new, measure, **axes)
    except il.IdealistError:
        return
    assert all(values)
    for found in explainer.each(qrels, rng.choice([None, 1, 3, 50])):
        assert len({one.document for one in found.changes}) == len(found.changes)
        assert str(found)
        assert name not in NO_SUMS or not found.additive
        if found.additive:
            size = max(1.0, abs(found.before), abs(found.after))
            assert math.fsum(effects(found)) == pytest.approx(found.difference, abs=1e-12 * size)
        else:
            assert effects(found) == []


@given(seed=seeds)
@settings(max_examples=tries(30, 300))
def test_lists_found_together_are_those_found_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    qrels, run = some_case(rng)
    protocol = replace(some_protocol(rng), duplicates="first")
    ranked = Ranked(il.read_qrels(qrels), il.read_run(run))
    try:
        placements = ranked[protocol]
    except il.IdealistError:
        return
    queries = rng.sample(placements.qrels.queries, rng.randint(1, len(qrels)))
    for query, found in zip(queries, whole_lists(ranked, protocol, queries), strict=True):
        index = placements.qrels.queries.index(query)
        listed = listed_documents(ranked.held, placements, [index])[index]
        assert found == [document for document, _ in listed]


# --- the twelve runs


def pairs_of(data: Path) -> Iterator[tuple[il.Qrels, Ranked, Ranked]]:
    """Pair all runs, each ranked once."""
    folder = data / "trec-covid-r1"
    qrels = il.read_qrels(folder / "qrels.txt")
    runs = [Ranked(qrels, il.read_run(path)) for path in sorted((folder / "runs").iterdir())]
    yield from ((qrels, *pair) for pair in combinations(runs, 2))


def test_effects_add_up_on_all_pairs_of_real_runs(data: Path) -> None:
    """Daily a measure and two queries of each pair; all of them where time does not matter."""
    turns, seen = cycle(SUMS), set[str]()
    for i, (qrels, old, new) in enumerate(pairs_of(data)):
        queries = qrels.queries if IS_SLOW else qrels.queries[i % 29 :][:2]
        for measure in SUMS if IS_SLOW else islice(turns, 1):
            seen.add(measure)
            explainer = il.DifferenceExplainer(qrels, old, new, measure)
            for found in explainer.each(queries):
                assert found.additive
                assert math.fsum(effects(found)) == pytest.approx(found.difference, abs=1e-12)
    assert seen == set(SUMS)
    assert {measure.partition("@")[0].partition("(")[0] for measure in SUMS} == {
        name for name in FAMILIES if name not in NO_SUMS
    }


def test_lists_are_those_of_the_files(data: Path) -> None:
    folder = data / "trec-covid-r1"
    old, new = folder / "runs" / "BERT", folder / "runs" / "T5R1"
    found = il.explain_difference(folder / "qrels.txt", old, new, "nDCG@10", query="7")
    for path, own, side in ((old, found.old_list, "before"), (new, found.new_list, "after")):
        rows = [line.split() for line in path.read_text().splitlines()]
        ranked = sorted(((float(r[4]), r[2]) for r in rows if r[0] == "7"), reverse=True)
        assert [one.document for one in own] == [document for _, document in ranked[:10]]
        places = {document: rank for rank, (_, document) in enumerate(ranked, 1)}
        assert all(getattr(one, side) == places.get(one.document) for one in found.changes)


# --- what else decides


def test_measures_that_are_no_sums_say_so_and_show_what_moved() -> None:
    for measure in ("F@10", "SetAP", "Compat", "AllHit"):
        found = between(["a", "b", "x"], ["x", "b", "a"], measure)
        assert not found.additive
        assert effects(found) == []
        assert "no sum over documents, so it cannot be said what each document did" in str(found)
        assert "a (grade 3) fell from 1 to 3" in str(found)


def test_ties_averaged_over_all_orders() -> None:
    tied = [("a", 1.0), ("x", 1.0)]
    found = between([("a", 2.0), ("x", 1.0)], tied, "nDCG@10", ties="expected")
    assert found.additive
    assert math.fsum(effects(found)) == pytest.approx(found.difference, abs=1e-12)
    assert "run (2): some scores are tied: ties=expected" in found.notes
    first = between([("a", 2.0), ("x", 1.0)], tied, "RR", ties="expected")
    assert not first.additive
    assert "the mean of RR over all orders of ties is no sum" in first.words[0]


def test_values_that_a_rule_sets_do_not_add_up() -> None:
    rounded = between(["a", "x"], ["x", "a", "b"], round="query(1)")
    assert not rounded.additive
    assert "rounded, undefined or set by a rule" in rounded.words[0]
    qrels, old, new = {"q": {"a": 0}}, {"q": ["a"]}, {"q": ["x"]}
    for value in ("nan", "1"):
        found = il.explain_difference(qrels, old, new, "AP", query="q", no_relevant=value)
        assert effects(found) == []
        assert f"there is no relevant document: no_relevant={value}" in found.notes
    nothing = il.explain_difference(qrels, old, new, "AP", query="q", no_relevant="nan")
    assert nothing.summary == (
        "query q: AP has no value in run or run (2), so there is no difference"
    )
    assert nothing.data()["difference"] is None


def test_lists_that_are_missing_or_condensed_or_cut() -> None:
    qrels, old, new = {"q": GRADED, "p": {"a": 1}}, {"q": ["a", "b"]}, {"p": ["a"]}
    found = il.explain_difference(qrels, old, new, "nDCG@10", query="q")
    assert found.after == 0
    assert "run (2): the run has no list for this query, which counts as empty" in found.notes
    gone = "a (grade 3) is no longer in the list (it was at 1): -0.6300"
    assert by_document(found)["a"].words() == gone
    assert found.summary.endswith("(-0.8950); the list of run (2) is empty")
    assert "\n    1   a" in str(found)
    condensed = between(["x", "a"], ["y", "u", "a"], unjudged="drop")
    assert [one.document for one in condensed.new_list] == ["a"]
    assert condensed.summary == "query q: nDCG@10 is 0.6300 in both run and run (2)"
    cut = between(["a", "b", "x"], ["x", "y", "a", "b"], depth=2)
    assert by_document(cut)["a"].after is None
    twice = between(["a", "b"], [("a", 3.0), ("b", 2.0), ("a", 1.0)], duplicates="first")
    assert twice.difference == 0
    assert "run (2): documents retrieved twice count once, so they cost nothing: 1" in twice.notes


def test_below_the_cutoff_ranks_are_told_of_all_documents() -> None:
    deep = [f"u{i}" for i in range(20)]
    found = between(["a", *deep], [*deep, "a"], "nDCG@5")
    assert (
        by_document(found)["a"].words(5)
        == "a (grade 3) left the first 5: it fell from 1 to 21: -0.6300"
    )
    assert (
        by_document(found)["u4"]
        .words(5)
        .startswith("u4 (unjudged) entered the first 5: it rose from 6")
    )
    assert "unjudged in the first 5: 4 before, 5 after" in str(found)
    assert "now above a, and adding nothing: u0 (unjudged) at 1, u1 (unjudged) at 2" in str(found)
    gone = between(["a", "z", "b"], ["z", "b"])
    assert "now in the first 10, and adding nothing: z (grade 0) at 1" in str(gone)
    assert "adding nothing" not in str(between(["z", "b"], ["a", "x", "b"]))


def test_where_lower_is_better_the_words_say_so() -> None:
    found = between(["z", "a"], ["a", "b"], "FallOut@10")
    assert "which is better" in found.summary
    qrels, old, new = {"q": GRADED}, {"q": ["a", "b"]}, {"q": ["z", "a"]}
    worse = il.DifferenceExplainer(qrels, old, new, "FallOut@10").worst()
    assert worse.summary == (
        "FallOut@10 rose on 1 of 1 query from run to run (2), which is worse; most of all on q"
    )
    neither = il.DifferenceExplainer(qrels, old, {"q": ["a"]}, "NumRet").worst()
    assert neither.summary.startswith("NumRet fell on 1 of 1 query from run to run (2); most")
    assert neither.explanations[0].sense == 0


def test_a_document_graded_below_0_is_no_reason() -> None:
    qrels = {"q": {"a": 2, "bad": -1, "c": 1}}
    old, new = {"q": ["bad", "a", "c"]}, {"q": ["x", "bad", "c", "a"]}
    found = il.explain_difference(qrels, old, new, "F@2", query="q")
    assert not found.additive
    assert not [words for words in found.reasons() if "bad" in words]


def test_normalisers_that_differ_are_both_told() -> None:
    found = between(["b", "a"], ["c", "b"], "nDCG(ideal=retrieved)@10")
    assert len([words for words in found.words if words.startswith("in run")]) == 2
    assert math.fsum(effects(found)) == pytest.approx(found.difference, abs=1e-12)


def test_measures_of_your_own_and_weights() -> None:
    found = il.measure("Retrieved")(lambda placements: placements.retrieved * 1.0)
    assert not between(["a"], ["b"], found).additive
    qrels = {"q": GRADED, "p": {"a": 1}}
    old, new = {"q": ["a"], "p": ["a"]}, {"q": ["b"], "p": ["x"]}
    explainer = il.DifferenceExplainer(qrels, old, new, "nDCG@10", weights={"q": 0, "p": 3})
    assert "this query is not counted" in explainer("q").notes
    assert [one.query for one in explainer.worst().explanations] == ["p"]


def test_queries_and_judgments_that_are_not_there_are_refused() -> None:
    with pytest.raises(il.UsageError, match="did you mean q"):
        il.explain_difference({"q1": {"a": 1}}, {"q1": ["a"]}, {"q1": ["a"]}, "AP", query="q")
    with pytest.raises(il.UsageError, match="'q2' has no judgments"):
        il.explain_difference({"q1": {"a": 1}}, {"q1": ["a"]}, {"q2": ["a"]}, "AP", query="q2")
    ranked = Ranked(il.read_qrels({"q": {"b": 1}}), il.read_run({"q": ["a"]}))
    with pytest.raises(il.UsageError, match="ranked by other judgments"):
        il.DifferenceExplainer({"q": GRADED}, ranked, {"q": ["a"]}, "AP")


def test_texts_of_documents_are_looked_up_once_for_many_queries() -> None:
    qrels = {"q": GRADED, "p": {"a": 1}}
    old, new = {"q": ["a", "x"], "p": ["a"]}, {"q": ["x", "a"], "p": ["b"]}
    docs = {"a": {"title": "Apples", "text": "are round"}, "x": "no title", "b": "bees"}
    explainer = il.DifferenceExplainer(qrels, old, new, "nDCG@10", texts={"q": "fruit"}, docs=docs)
    first, second, again = explainer.each(["q", "p", "q"])
    assert again.data() == first.data()
    assert (by_document(first)["a"].title, by_document(first)["a"].text) == ("Apples", "are round")
    assert "a: Apples" in str(first)
    assert "q: fruit" in str(first)
    assert by_document(second)["b"].text == "bees"
    lacking = il.explain_difference(qrels, old, new, "AP", query="q", docs={"a": "apples"})
    assert "1 of 2 documents has no text" in " ".join(lacking.notes)


# --- forms and the command line


@pytest.fixture
def found() -> il.DifferenceExplanation:
    return il.explain_difference(QRELS, OLD, NEW, "nDCG@10", query="q10", texts=QUERIES)


def test_every_form(found: il.DifferenceExplanation, tmp_path: Path) -> None:
    data = json.loads(found.to_json())
    assert data["difference"] == found.difference
    assert [one["document"] for one in data["changes"]] == [one.document for one in found.changes]
    assert math.fsum(one["effect"] for one in data["changes"]) == pytest.approx(data["difference"])
    assert max(map(len, str(found).splitlines()[:-1])) <= 100
    assert found.markdown().startswith("### bm25 and reranked, query q10\n")
    assert found.render("csv").splitlines()[0].startswith("document,grade,judged,before,after,move")
    assert "<table>" in found._repr_html_()
    assert r"\begin{tabular}" in found.render("latex")
    for suffix in ("html", "md", "tex", "json", "csv", "txt"):
        found.save(tmp_path / f"q10.{suffix}")
    assert "fell from 1 to 4" in repr(found)


def test_hostile_names_do_no_harm() -> None:
    ids = ["\x1b[31mred", "a\nb", "<script>alert(1)</script>", "a|b", "=1+1", "\u202egip", "%&_"]
    qrels = {"q": {one: i for i, one in enumerate(ids)}}
    found = il.explain_difference(qrels, {"q": ids}, {"q": ids[::-1]}, "nDCG@10", query="q")
    assert "\x1b" not in found.render("table")
    assert "<script" not in found.render("html")
    assert [one["document"] for one in json.loads(found.to_json())["changes"]]
    rows = [line for line in found.markdown().splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in rows}) == 1


def test_long_names_fit_a_terminal() -> None:
    ids = [f"{'document-of-a-very-long-name-' * 3}{i}" for i in range(12)]
    qrels = {"q": dict.fromkeys(ids, 1)}
    runs = {"q": ids[:10]}, {"q": ids[:1:-1]}
    old, new = (
        il.read_run(run, name=f"{'a-run-of-a-long-name-' * 4}{i}") for i, run in enumerate(runs)
    )
    found = il.explain_difference(qrels, old, new, "nDCG@10", query="q")
    assert max(map(len, found.render("table").splitlines()[4:])) <= 100


def test_the_command_explains_two_runs(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", QRELS, OLD, NEW, "--query", "q10", "-f", "json"])
    explained = json.loads(capsys.readouterr().out)
    assert explained == il.explain_difference(QRELS, OLD, NEW, "nDCG@10", query="q10").data()
    main(["explain", QRELS, OLD, NEW, "--worst", "2", "-m", "AP", "-f", "json", "--full"])
    worst = json.loads(capsys.readouterr().out)
    pair = il.compare(QRELS, [OLD, NEW], "AP").pairs[0]
    assert [one["query"] for one in worst["worst"]] == [query for query, _ in pair.lost[:2]]
    assert (worst["lost"], worst["queries"]) == (pair.losses, pair.n)
    assert len(worst["explanations"]) == 2
    main(["explain", QRELS, OLD, NEW, "--worst", "2"])
    assert "q10: python-concurrent-futures (grade 3) fell from 1 to 4" in capsys.readouterr().out
    main(["explain", QRELS, NEW, NEW, "--worst", "2"])
    assert "nDCG@10 fell on none of 12 queries from" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give --query ID, or --worst N"),
        (["--bounds"], "explain one run"),
        (["--between", "trec_eval", "sklearn"], "explain one run"),
        (["--query", "q1"], "did you mean q12 or q11"),
        ([OLD, "--query", "q10"], "one run or two, not 3"),
        (["--query", "q10", "--worst", "2"], "several things"),
    ],
)
def test_what_cannot_be_explained_of_two_runs(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["explain", QRELS, OLD, NEW, *words])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_files_that_hold_both_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, ids in (("old", ["a", "b"]), ("new", ["b", "a"])):
        record = {"query_id": "q1", "retrieved": ids, "ground_truth": ["a"]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record))
    files = [str(tmp_path / "old.jsonl"), str(tmp_path / "new.jsonl")]
    main(["explain", *files, "-m", "RR", "--query", "q1"])
    assert "RR fell from 1.0000 in old to 0.5000 in new" in capsys.readouterr().out
    main(["explain", files[0], "-m", "RR", "--query", "q1"])
    assert "query q1 has RR 1.0000" in capsys.readouterr().out
    main(["compare", *files, "-m", "RR", "--worst", "1"])
    out = capsys.readouterr().out
    assert f"idealist explain {files[0]} {files[1]} -m RR --query q1" in out


# --- the queries that compare lists


def test_compare_lists_the_queries_that_changed_most(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", QRELS, OLD, NEW, "-m", "nDCG@10", "-m", "AP"]
    main([*words, "--worst", "2", "--best", "4", "-f", "json"])
    data = json.loads(capsys.readouterr().out)
    pair = il.compare(QRELS, [OLD, NEW], "nDCG@10").pairs[0]
    for name, sign in (("worst", -1), ("best", 1)):
        (listed,) = data[name]
        assert (listed["measure"], listed["baseline"], listed["run"]) == (
            "nDCG@10",
            "bm25",
            "reranked",
        )
        count = 2 if sign < 0 else 4
        ordered = sorted(pair.by_query().items(), key=lambda one: -sign * one[1]["difference"])
        assert listed["queries"] == [{"query": q, **v} for q, v in ordered[:count]]
    main([*words, "-f", "json"])
    plain = json.loads(capsys.readouterr().out)
    assert {key: value for key, value in data.items() if key not in ("worst", "best")} == plain
    main([*words, "--worst", "2", "--queries", QUERIES])
    out = capsys.readouterr().out
    assert "Queries that lost most by nDCG@10 from bm25 to reranked" in out
    assert "make http requests in parallel" in out
    command = next(line.strip() for line in out.splitlines() if "idealist explain" in line)
    main(shlex.split(command)[1:])
    assert "query q10: nDCG@10 fell from" in capsys.readouterr().out


def test_compare_lists_them_for_every_pair(capsys: pytest.CaptureFixture[str]) -> None:
    main(["compare", QRELS, OLD, NEW, OLD, "-m", "AP", "--worst", "2", "-f", "csv"])
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "measure,baseline,run,list,query,text,baseline's,run's,difference"
    assert [row.split(",")[2:4] for row in rows[1:]] == [["reranked", "worst"]] * 2
    main(["compare", QRELS, OLD, OLD, "-m", "AP", "--worst", "2", "--best", "1"])
    out = capsys.readouterr().out
    assert "No query lost anything by AP from bm25 to bm25 (2)." in out
    assert "idealist explain" not in out


@pytest.mark.parametrize("sort", ["difference", "value", "query"])
def test_compare_orders_queries(sort: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", QRELS, OLD, NEW, "-m", "AP", "--per-query", "--sort", sort]
    main([*words, "-f", "json"])
    rows = json.loads(capsys.readouterr().out)["pairs"][0]["per_query"]
    keys = {"difference": lambda row: row[1]["difference"], "value": lambda row: row[1]["run"]}
    listed = list(rows.items())
    assert listed == sorted(listed, key=keys.get(sort, lambda row: row[0]))
    main([*words, "-f", "csv"])
    assert [line.split(",")[3] for line in capsys.readouterr().out.splitlines()[1:]] == list(rows)


@pytest.mark.parametrize("count", [0, -1, 2.5, "x", True])
def test_numbers_of_ranks_and_queries_are_checked(count: Any) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
    for explainer in (
        il.DifferenceExplainer(qrels, run, {"q": ["a"]}, "RR"), il.Explainer(qrels, run, "RR"),
    ):  # fmt: skip
        with pytest.raises(il.UsageError, match="ranks cannot be"):
            explainer("q", count)
        with pytest.raises(il.UsageError, match="count cannot be"):
            explainer.worst(count)


def test_a_run_may_be_called_text() -> None:
    qrels = {"q": {"a": 1}}
    runs = {"text": {"q": ["a"]}, "b": {"q": ["x", "a"]}}
    found = il.compare(qrels, runs, "RR")
    view = QueryView(worst=1)
    assert "q       1.0000   0.5000" in str(replace(found, view=view))


def test_sorting_needs_queries(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(il.UsageError, match="cannot be sorted by 'name'"):
        il.compare(QRELS, [OLD, NEW], "AP").pairs[0].by_query("name")
    with pytest.raises(SystemExit):
        main(["compare", QRELS, OLD, NEW, "--sort", "value"])
    assert "add --per-query" in capsys.readouterr().err


def test_saved_evaluations_list_queries_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for run in (OLD, NEW):
        files.append(str(tmp_path / f"{Path(run).stem}.json"))
        il.evaluate(QRELS, run, "nDCG@10").save(files[-1])
    main(["compare", "--saved", *files, "--worst", "1"])
    out = capsys.readouterr().out
    assert "q10" in out.partition("Queries that lost most")[2]
    assert "idealist explain" not in out
