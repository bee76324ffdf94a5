"""Explanations: what documents add is what the value is made of, and is said in every format."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings

import idealist as il
from generated import PLAIN, Qrels, seeds, some_case, some_measure, some_protocol
from idealist.cli.main import main
from idealist.conventions import CONVENTIONS
from idealist.explaining.contributions import ADDITIVE, FAMILIES, alone, terms
from idealist.explaining.explainer import Explainer
from idealist.explaining.ladder import CAUSES
from idealist.measures import MEASURES, Measure
from idealist.protocol import Protocol
from idealist.rendering.document import Document
from idealist.rendering.terminal import render

ROOT = Path(__file__).parents[1]
QRELS, BM25, QUERIES = (
    str(ROOT / "examples" / name) for name in ("qrels.txt", "bm25.run", "queries.tsv")
)


def explainer_of(measure: Measure, qrels: Any, run: Any, **axes: Any) -> Explainer | None:
    """Prepare to explain where the value can be measured, and that of any ideal list."""
    try:
        il.evaluate(qrels, run, measure, **axes)
        best = {q: sorted(grades, key=grades.get, reverse=True) for q, grades in qrels.items()}
        il.evaluate(qrels, best, measure, **axes)
    except il.IdealistError:
        return None
    return Explainer(qrels, run, measure, **axes)


def axes_of(protocol: Protocol) -> dict[str, Any]:
    return {key: value for key, value in protocol.written().items() if key != "mapping"}


@pytest.mark.parametrize("name", FAMILIES)
def test_what_documents_add_is_the_value(name: str) -> None:
    explained = 0
    for seed in range(40):
        rng = random.Random(seed)
        measure, axes = some_measure(rng, name), axes_of(some_protocol(rng))
        if measure.averages_ties and seed % 4 == 0:
            axes = {"ties": "expected"}
        qrels, run = some_case(rng)
        explainer = explainer_of(measure, qrels, run, **axes)
        for query in qrels if explainer else ():
            assert explainer is not None
            found = explainer(query, ranks=3)
            last = explainer(query, ranks=50)
            computed = explainer.instrument.measure.computed(explainer.placements)[
                list(qrels).index(query)
            ]
            if found.rest is None or math.isnan(computed):
                continue
            explained += 1
            shown = [row.adds for row in found.rows if row.adds is not None]
            assert math.fsum([*shown, found.rest]) == pytest.approx(computed, abs=1e-12)
            if last.retrieved:
                assert last.rows[last.retrieved - 1].so_far == pytest.approx(computed, abs=1e-12)
    assert explained > 10 or name in ("F", "SetAP", "AllHit")


def independent(measure: Measure) -> bool:
    """Whether what is divided by does not depend on which retrieved documents are relevant."""
    own = getattr(measure, "denominator", "")
    return "list" not in own and own != "judged" and getattr(measure, "ideal", "") != "retrieved"


@pytest.mark.parametrize("name", ADDITIVE)
@given(seed=seeds)
@example(seed=441444)  # nDCG(ideal=perfect) where nothing is relevant
@settings(max_examples=60, deadline=None)
def test_a_document_adds_what_is_lost_without_it(name: str, seed: int) -> None:
    """Take one document for unjudged; the judgments, and with them the ideal list, stay."""
    rng = random.Random(seed)
    measure = some_measure(rng, name).filled()
    protocol = Protocol(ties="expected") if rng.random() < 0.3 else some_protocol(rng)
    qrels, rows = some_case(rng)
    placements = il.rank(il.read_qrels(qrels), il.read_run(rows), [protocol])[protocol]
    try:
        measure.values(placements)
    except il.IdealistError:
        return
    for queries, lists in placements.lists if independent(measure) else ():
        for row in range(len(queries)):
            one = alone(lists, row)
            whole, adds = measure.formula(one), terms(measure, one).adds
            assert adds is not None
            for i in np.flatnonzero(one.found[0]).tolist():
                found = one.found.copy()
                found[0, i] = False
                without = measure.formula(replace(one, found=found, known={}, cuts={}))
                lost = np.nan_to_num(whole - without)[0]
                assert lost == pytest.approx(adds[0, i], abs=1e-12)


@pytest.mark.parametrize("convention", [n for n, c in CONVENTIONS.items() if c.has(il.nDCG())])
@given(seed=seeds)
@settings(max_examples=6, deadline=None)
def test_zeroing_a_grade_takes_what_it_adds(convention: str, seed: int) -> None:
    """Zero one grade, the ideal DCG held fixed: DCG / IDCG falls by the document's contribution."""
    rng = random.Random(seed)
    ids = [f"d{i:02}" for i in range(12)]
    judged: Qrels = {"q": {d: rng.choice([0, 0, 1, 2, 3]) for d in rng.sample(ids, 8)}}
    run = {"q": {d: float(s) for s, d in enumerate(rng.sample(ids, 10))}}
    ndcg = CONVENTIONS[convention].instrument(il.parse("nDCG@5"))
    own: dict[str, Any] = dict(ndcg.measure.written())
    dcg = MEASURES["DCG"](**{key: own[key] for key in MEASURES["DCG"].parameters()}) @ 5
    idcg = MEASURES["IDCG"](**own) @ 5
    axes = {**axes_of(ndcg.protocol), "grades": "keep"}

    def value(measure: Measure, qrels: Qrels) -> float:
        return float(il.evaluate(qrels, run, measure, **axes)[measure])

    ideal, whole = value(idcg, judged), value(dcg, judged)
    found = il.explain(judged, run, ndcg.measure, query="q", ranks=20, **axes)
    for row in found.rows if ideal > 0 else ():
        if row.document is not None and row.grade and row.adds is not None:
            zeroed = {"q": {**judged["q"], row.document: 0}}
            lost = (whole - value(dcg, zeroed)) / ideal
            assert lost == pytest.approx(row.adds, abs=1e-12)


@pytest.mark.parametrize("measure", ["P@3", "R@3", "NumRelRet", "RBP(rel=1)", "CG@5"])
def test_zeroing_a_grade_takes_what_it_adds_to_other_sums(measure: str) -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 0, "d": 1, "z": 1}}
    run = {"q": ["a", "u", "b", "c", "d"]}
    found = il.explain(qrels, run, measure, query="q")
    for row in found.rows:
        if row.document is not None and row.grade:
            zeroed = {"q": {**qrels["q"], row.document: 0}}
            fixed = 4 / 3 if measure == "R@3" else 1  # R is 4 with it and 3 without
            value = il.evaluate(zeroed, run, measure)[measure] / fixed
            assert found.value - value == pytest.approx(row.adds, abs=1e-12)


@given(seed=seeds)
@example(seed=428)  # nobody found the document whose gain RBP refuses
@settings(max_examples=60, deadline=None)
def test_rows_are_the_list_that_was_measured(seed: int) -> None:
    """Evaluate the documents of the rows as a list that is given: the value is the same."""
    rng = random.Random(seed)
    measure, protocol = some_measure(rng, rng.choice(PLAIN)), some_protocol(rng)
    qrels, rows = some_case(rng)
    protocol = replace(protocol, duplicates="first")
    if not measure.direction or getattr(measure.filled(), "positive_score", False):
        return
    if getattr(measure.filled(), "block_end", False):
        return  # which is a rule about ties
    explainer = explainer_of(measure, qrels, rows, **axes_of(protocol))
    for query in qrels if explainer else ():
        assert explainer is not None
        found = explainer(query, ranks=50)
        ids = [row.document for row in found.rows if row.document is not None]
        assert len(ids) == len(set(ids)) == found.retrieved
        known = il.read_qrels(qrels).cast(protocol.grades).to_dict()[query]
        for row in found.rows:
            assert row.grade == known.get(row.document or "")
        kept = {"grades": protocol.grades, "negative": protocol.negative}
        if ids and not (explainer.placements.empty != (explainer.placements.retrieved == 0)).any():
            again = Explainer(qrels, {query: ids}, measure, **kept)(query)
            assert again.value == pytest.approx(found.value, abs=1e-12, nan_ok=True)


def test_many_queries_are_explained_as_each_is_alone() -> None:
    for measure in ("nDCG@10", "Compat"):
        docs = {"java-try-catch": "Java", "python-list-remove": "Lists"}
        explainer = Explainer(QRELS, BM25, measure, docs=docs)
        queries = ["q05", "q07", "q05"]
        assert [one.data() for one in explainer.each(queries)] == [
            explainer(query).data() for query in queries
        ]


def test_a_query_without_ties_needs_no_mean_over_orders() -> None:
    qrels = {"q": {"a": 1}, "p": {"a": 1}}
    run = {"q": {"b": 2.0, "a": 1.0}, "p": {"a": 1.0, "b": 1.0}}
    explainer = Explainer(qrels, run, "RR", ties="expected")
    assert [row.adds for row in explainer("q").rows] == [0.0, 0.5]
    assert [row.adds for row in explainer("p").rows] == [None, None]


def test_values_so_far_are_those_of_the_list_cut_there() -> None:
    found = il.explain(QRELS, BM25, "Compat", query="q04")
    ids = [row.document for row in found.rows]
    for row in found.rows:
        cut = il.evaluate(QRELS, {"q04": ids[: row.rank]}, "Compat", queries=["q04"])["Compat"]
        assert row.so_far == pytest.approx(cut, abs=1e-12)
    assert all(row.adds is None for row in found.rows)
    assert "no sum over documents" in str(found)


@pytest.mark.parametrize("name", [name for name in PLAIN if MEASURES[name].direction])
def test_every_measure_explains_itself_in_every_format(name: str) -> None:
    measure = MEASURES[name]()
    measure = measure @ 5 if measure.takes_cutoff else measure
    try:
        found = il.explain(QRELS, BM25, measure, query="q05", texts=QUERIES)
    except il.UsageError as error:
        assert "gain" in str(error) or "grade" in str(error)  # noqa: PT017
        return
    assert json.loads(json.dumps(found.data(), allow_nan=False))["query"] == "q05"
    assert found.loss == pytest.approx(
        (1 if MEASURES[name].direction > 0 else -1) * (found.ideal - found.value), abs=1e-12
    )
    assert max(map(len, str(found).splitlines())) <= 100
    assert found.markdown().startswith("### bm25, query q05\n")
    assert "q05: catch an exception" in found.markdown()
    assert "<table>" in found._repr_html_()


def test_the_families_speak_in_their_own_terms() -> None:
    qrels, run = {"q": {"a": 2, "b": 0, "c": 1, "z": 2}}, {"q": ["b", "a", "u", "c"]}
    columns = {
        "nDCG@3": ["gain", "discount"], "AP": ["precision"], "RR": ["relevant"], "P@3": ["counted"],
        "F@3": ["counted"], "ERR": ["arrives", "stops"], "RBP": ["gain", "weight"],
        "bpref": ["above", "keeps"], "Judged@3": ["counted"], "Compat": [],
    }  # fmt: skip
    for measure, names in columns.items():
        found = il.explain(qrels, run, measure, query="q")
        assert list(found.rows[0].terms) == names
        assert found.rows[2].grade is None
        assert found.rows[2].terms == {}
    reciprocal = il.explain(qrels, run, "RR", query="q")
    assert [row.adds for row in reciprocal.rows] == [0, 0.5, 0, 0]
    precision = il.explain(qrels, run, "AP", query="q")
    assert [row.terms.get("precision") for row in precision.rows] == [0, 0.5, None, 0.5]
    assert precision.words == "a relevant document adds the precision at its rank / 3"
    assert [one.document for one in precision.missing] == ["z"]


def test_documents_below_the_last_row_are_summed_up() -> None:
    qrels, run = {"q": {f"d{i:02}": 1 for i in range(30)}}, {"q": [f"d{i:02}" for i in range(30)]}
    found = il.explain(qrels, run, "AP", query="q", ranks=10)
    assert found.rest == pytest.approx(20 / 30)
    assert "the 20 documents below rank 10 add 0.6667" in str(found)
    assert [one.rank for one in found.below[:2]] == [11, 12]


def test_queries_that_are_not_there_are_said() -> None:
    qrels, run = {"q01": {"a": 1}, "q02": {"a": 1}}, {"q01": ["a"], "q09": ["a"]}
    lacking = il.explain(qrels, run, "nDCG@3", query="q02")
    assert lacking.value == 0
    assert lacking.losses["missing"] == 1
    assert "the run has no list for this query, which counts as empty" in str(lacking)
    skipped = il.explain(qrels, run, "nDCG@3", query="q02", missing="skip")
    assert "which is not counted" in str(skipped)
    with pytest.raises(il.UsageError, match="'q09' has no judgments"):
        il.explain(qrels, run, "nDCG@3", query="q09")
    with pytest.raises(il.UsageError, match="did you mean q01"):
        il.explain(qrels, run, "nDCG@3", query="q1")


def test_notes_say_what_else_decides() -> None:
    qrels = {"q": {"a": 0, "b": 0}}
    run = {"q": [("a", 1.0), ("b", 1.0), ("a", 0.5)]}
    found = il.explain(qrels, run, "AP", query="q", duplicates="first")
    text = str(found)
    assert "there is no relevant document: no_relevant=0" in text
    assert "some scores are tied: ties=docid-desc" in text
    assert "documents retrieved twice count once, so they cost nothing: 1" in text
    assert "another order may be worth more" in str(
        il.explain(qrels, run, "INST", query="q", duplicates="first")
    )


def test_the_worst_queries_come_first_with_their_cause() -> None:
    explainer = Explainer(QRELS, BM25, "nDCG@10", texts=QUERIES)
    worst = explainer.worst(5, full=True)
    losses = sorted(explainer.ladder.loss.tolist(), reverse=True)
    assert [one.loss for one in worst.rows] == pytest.approx(losses[:5])
    assert worst.value == il.evaluate(QRELS, BM25, "nDCG@10")["nDCG@10"]
    for one, full in zip(worst.rows, worst.explanations, strict=True):
        assert one.query == full.query
        assert one.losses[one.cause] == max(full.losses.values())
    assert math.fsum(worst.losses.values()) == pytest.approx(1 - worst.value, abs=1e-12)
    assert max(map(len, str(worst).splitlines())) <= 100
    assert worst.markdown().count("\n#### query ") == 5
    for full in worst.explanations:  # one after the other
        assert render(Document(full.report().blocks)) in str(worst)
    json.dumps(worst.data(), allow_nan=False)


def test_summaries_say_the_answer_first() -> None:
    qrels = {"q": {"a": 2, "b": 1}, "p": {"c": 1}}
    run = {"q": ["u", "a"], "p": ["c"]}
    lost = il.explain(qrels, run, "DCG@10", query="q")
    assert lost.summary == (
        "query q has DCG@10 1.2619 of a possible 2.6309 in run; most is lost to documents behind "
        "unjudged ones (0.7381 of 1.3691)"
    )
    assert str(lost).replace("\n", " ").startswith(lost.summary)
    best = il.explain(qrels, run, "nDCG@10", query="p")
    assert best.summary.endswith("as much as the ideal list: nothing is lost")
    undefined = il.explain({"q": {"a": 0}}, run, "AP", query="q", no_relevant="nan")
    assert undefined.summary == "query q of run has no value of AP"
    assert repr(lost) == f"<Explanation {lost.summary}>"
    worst = Explainer(qrels, run, "nDCG@10").worst()
    assert worst.summary.startswith("q loses most nDCG@10; over 2 queries of run, most is lost to")
    none = Explainer({"p": {"c": 1}}, run, "nDCG@10").worst()
    assert none.summary == "no query of run loses any nDCG@10"


def test_weights_and_kept_queries_change_what_the_mean_loses() -> None:
    qrels, run = {"q": {"a": 1}, "p": {"b": 1}, "z": {"c": 1}}, {"q": ["u", "a"], "p": ["b"]}
    plain = Explainer(qrels, run, "RR", queries=["q", "p"]).worst()
    assert (plain.queries, plain.value, plain.losses["unjudged"]) == (2, 0.75, 0.25)
    weighted = Explainer(qrels, run, "RR", weights={"q": 3, "p": 1, "z": 0}).worst()
    assert (weighted.queries, weighted.value, weighted.losses["unjudged"]) == (2, 0.625, 0.375)
    assert "RR, weighted mean" in str(weighted)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(["explain", QRELS, BM25, *arguments])
    return capsys.readouterr().out


def test_the_command_gives_what_the_function_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "docs.tsv").write_text("python-raise-from\traise an exception from another\n")
    docs = str(tmp_path / "docs.tsv")
    found = il.explain(QRELS, BM25, "AP", query="q05", texts=QUERIES, docs=docs, ranks=6)
    options = ("-m", "AP", "--query", "q05", "--queries", QUERIES, "--docs", docs, "--depth", "6")
    assert run(capsys, *options).strip() == render(found.report())
    assert str(found).replace("\n", " ").startswith(found.summary)
    assert "python-raise-from: raise an exception from another" in str(found)
    assert run(capsys, *options, "-f", "md").strip() == found.markdown()
    assert json.loads(run(capsys, *options, "-f", "json")) == found.data()
    header, first, *_ = run(capsys, *options, "-f", "tsv").splitlines()
    assert header.split("\t")[:5] == ["rank", "document", "score", "grade", "judged"]
    assert first.startswith("1\tjava-try-catch\t14.95\t0\ttrue")
    assert r"\begin{tabular}{rlrr" in run(capsys, *options, "-f", "latex")
    worst = json.loads(run(capsys, "--worst", "3", "-f", "json"))
    assert [one["query"] for one in worst["worst"]] == ["q05", "q07", "q09"]
    assert list(worst["losses"]) == list(CAUSES)
    assert "explanations" not in worst
    assert run(capsys, "--worst", "2", "-f", "csv").startswith("query,value,loss,cause,losses.")


def test_the_command_says_what_to_judge_first(capsys: pytest.CaptureFixture[str]) -> None:
    found = il.bounds(QRELS, BM25, "nDCG@10")
    out = run(capsys, "--bounds")
    assert out.startswith(found.summary)
    assert "sql-join-cheatsheet" in out
    written = json.loads(run(capsys, "--bounds", "--depth", "1", "-f", "json"))
    assert [one["document"] for one in written["judge_first"]] == ["sql-join-cheatsheet"]
    assert written["high"] == found.high
    assert run(capsys, "--bounds", "-f", "tsv").startswith(
        "query\tdocument\trank\tsaved\tleast\nq04"
    )
    assert "| q04 | sql-join-cheatsheet |" in run(capsys, "--bounds", "-f", "md")
    wide = il.bounds(QRELS, BM25, "nDCG@10", reach="collection")
    far = run(capsys, "--bounds", "--reach", "collection").replace("\n", " ")
    assert far.startswith(wide.summary)
    assert wide.low < found.low
    main(["eval", QRELS, BM25, "-m", "nDCG@10", "--bounds", "--reach", "collection"])
    assert wide.summary in capsys.readouterr().err
    assert run(capsys, "--bounds", "--set", "depth=3") == (
        "nDCG@10 0.3932 depends on no unjudged document of its list\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give one of --query ID"),
        (("--query", "q05", "--worst", "3"), "several things to explain"),
        (("--query", "q05", "-m", "AP", "-m", "RR"), "give one -m"),
        (("--query", "q5"), "did you mean q05"),
        (("--query", "q05", "-m", "NumRel"), "neither good nor bad"),
    ],
)
def test_the_command_refuses_what_it_cannot_explain(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    with pytest.raises(SystemExit) as stop:
        run(capsys, *arguments)
    assert stop.value.code == 2
    assert words in capsys.readouterr().err


def test_real_runs_are_explained(data: Path) -> None:
    folder = data / "trec-covid-r1"
    qrels = il.read_qrels(folder / "qrels.txt")
    for path in sorted((folder / "runs").iterdir())[:2]:
        explainer = Explainer(qrels, path, "AP")
        worst = explainer.worst(3, full=True)
        assert len(worst.explanations) == 3
        assert worst.value == il.evaluate(qrels, path, "AP")["AP"]
