"""What a comparison says holds: verdicts, details, doubts and remarks do not contradict each other."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealist as il
from idealist.comparing.comparison_report import heading
from idealist.errors import InputError, UsageError
from idealist.formats.source import distinct
from idealist.rendering import latex
from idealist.rendering.document import Table
from idealist.significance.families import permutations_for
from idealist.significance.paired import paired
from idealist.significance.power_analysis import detectable, needed
from idealist.significance.resampling import randomisation
from test_compare import BM25, QRELS, RERANKED, ROOT, made, notes_of, pair_of, text_of
from test_compare_cli import run


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def some(n: int, runs: int, seed: int = 0, step: float = 0.0) -> dict[str, list[float]]:
    """Make values of runs, each better than the one before by a step in the mean."""
    rng = np.random.default_rng(seed)
    base = rng.random(n)
    return {f"r{i}": (base + rng.normal(step * i, 0.1, n)).tolist() for i in range(runs)}


def codes(pair: Any) -> set[str]:
    return {doubt.code for doubt in pair.doubts}


def test_two_equal_differences_prove_nothing() -> None:
    two = pair_of([0.2, 0.1], [0.3, 0.2], margin=0.05)
    assert math.isnan(two.p_t)
    assert math.isnan(two.p_better)
    assert math.isnan(two.p_non_inferiority)
    assert not two.significant
    assert "not worse" not in two.verdict
    assert "nothing varies" in two.verdict
    assert "nan" not in str(il.compare_evaluations(made({"a": [0.2], "b": [0.3]})))
    assert "tests-disagree" not in codes(two)


@pytest.mark.parametrize("measure", ["nDCG@10", "RR@10", "AP", "ARP"])
@pytest.mark.parametrize("alpha", [0.05, 0.02])
def test_labels_do_not_contradict_the_verdict(measure: str, alpha: float) -> None:
    pair = il.compare(QRELS, [BM25, RERANKED], measure, fragility=True, alpha=alpha).pairs[0]
    said = str(pair.fragility)
    assert f"{pair.run if pair.better else pair.baseline} is ahead" in said
    if pair.significant == (pair.p_t < alpha):
        assert "alone" not in said
        word = "not significant" if pair.significant else "make it significant"
        assert f"{word} by the t-test" in said
    else:
        assert "by the t-test alone the difference is significant" in said


def test_conventions_say_which_test_they_go_by() -> None:
    pair = il.compare(QRELS, [BM25, RERANKED], "RR@10", multiverse=True).pairs[0]
    assert "significantly by the t-test in" in str(pair.multiverse)
    assert pair.data()["multiverse"]["test"] == "t"


def test_a_win_that_three_queries_carry_is_doubted() -> None:
    base, new = [0.5] * 20, [0.55, 0.46, 0.53, 0.48] * 4 + [0.51, 0.99, 0.98, 0.97]
    pair = pair_of(base, new, alpha=0.1)
    assert pair.significant
    assert pair.top3 == ("q017", "q018", "q019")
    rest = paired(np.array(new[:17]) - 0.5)
    assert pair.without_top3 == pytest.approx(rest.mean)
    assert pair.p_without_top3 == pytest.approx(rest.p)
    (doubt,) = (one for one in pair.doubts if one.code == "carried-by-few")
    assert doubt.queries == pair.top3
    steady = pair_of(base, [0.5 + (i % 5) / 50 for i in range(20)])
    assert steady.significant
    assert "carried-by-few" not in codes(steady)


def test_the_three_are_those_that_weigh_most() -> None:
    weights = {f"q{i:02}": 100 if i in (3, 7, 8) else 1 for i in range(1, 13)}
    pair = il.compare(QRELS, [BM25, RERANKED], "nDCG@10", weights=weights).pairs[0]
    assert set(pair.top3) == {"q03", "q07", "q08"}
    kept = [i for i, query in enumerate(pair.queries) if query not in pair.top3]
    assert pair.without_top3 == pytest.approx(pair.differences[kept].mean())


def test_permutations_are_counted_and_doubted(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluations = made(some(25, 4))
    usual = il.compare_evaluations(evaluations, all_pairs=True)
    assert usual.signatures["AP"].fields["correction"] == "tukey(100000)"
    assert "few-draws" not in codes(usual.pairs[0])
    monkeypatch.setattr("idealist.significance.families.CELLS", 10_000)
    few = il.compare_evaluations(evaluations, all_pairs=True)
    assert permutations_for(4, 25) == few.pairs[0].draws == 100
    assert few.signatures["AP"].fields["correction"] == "tukey(100)"
    assert "; Tukey HSD(100); 95 % simultaneous intervals" in heading(few)[1]
    assert max(map(len, heading(usual))) <= 100
    (doubt,) = (one for one in few.pairs[0].doubts if one.code == "few-draws")
    assert "100 random draws" in doubt.message


def test_many_pairs_need_more_to_be_shown() -> None:
    columns = some(40, 5)
    alone = il.compare_evaluations(made({name: columns[name] for name in ("r0", "r1")})).pairs[0]
    for every in (True, False):
        found = il.compare_evaluations(made(columns), all_pairs=every)
        pair = next(one for one in found.pairs if {one.run, one.baseline} == {"r0", "r1"})
        assert not pair.significant
        assert 0.05 / len(found.pairs) / 2 < pair.level < 0.05 / 2
        sd = pair.statistics.sd
        assert pair.detectable == pytest.approx(detectable(40, pair.level) * sd)
        assert pair.needed == needed(0.01 / sd, pair.level)
        assert "and this correction" in pair.verdict
        assert pair.detectable > alone.detectable


def test_a_third_system_changes_nothing_between_two() -> None:
    """Of a measure without an upper end, each pair is tested on its own scale."""
    columns = some(30, 2, seed=3)
    alone = il.compare_evaluations(made(columns, "CG@10")).pairs[0].p_randomisation
    for huge in (1e9, 1e13):
        third = columns | {"big": [huge * value for value in columns["r0"]]}
        found = il.compare_evaluations(made(third, "CG@10"), all_pairs=True)
        assert found.pair("r0", "r1").p_randomisation == alone
    shared = {name: [1e13, *values] for name, values in columns.items()}
    own = il.compare_evaluations(made(shared, "CG@10")).pairs[0]
    three = shared | {"r2": list(shared["r1"])}
    found = il.compare_evaluations(made(three, "CG@10"), all_pairs=True)
    assert found.pair("r0", "r1").p_randomisation == own.p_randomisation


def test_all_pairs_are_tested_as_pairs_are() -> None:
    found = il.compare_evaluations(made(some(25, 4)), all_pairs=True)
    for pair in found.pairs:
        assert pair.p_randomisation == float(randomisation(pair.differences))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8])
def test_nothing_impossible_is_said_of_few_queries(n: int) -> None:
    base, new = [0.9] * n, [0.1 if i else 0.95 for i in range(n)]
    found = il.compare_evaluations(made({"base": base, "new": new}))
    pair = found.pairs[0]
    assert -1 <= pair.ci[0] <= pair.difference <= pair.ci[1] <= 1
    assert pair.data()["ci"] == list(pair.ci)
    assert pair.relative_ci[0] >= -1 or (n < 5 and math.isnan(pair.relative_ci[0]))
    if n == 2:
        assert pair.statistics.low < -1 < 1 < pair.statistics.high
    few = f"{n} queries are too few for an interval"
    assert (few in pair.verdict) == (n < 5)
    assert ("CI" in text_of(found, details=True)) == (n >= 5)
    assert (" to " in text_of(found)) == (n >= 5)
    if pair.detectable > 1:
        assert f"with {n} queries no possible difference would usually be found" in pair.verdict
    assert n > 3 or pair.detectable > 1
    open_ended = pair_of(base, new, "DCG")  # which has no upper end
    low, high = open_ended.statistics.low, open_ended.statistics.high
    assert open_ended.ci == (low, high if open_ended.significant else max(0.0, high))
    assert "no possible difference" not in open_ended.verdict


def test_sides_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("compare", QRELS, BM25, RERANKED, "-m", "nDCG@10")
    out, err = run(capsys, *arguments)
    assert "two-sided" in err
    assert "gate" not in out
    out, _ = run(capsys, *arguments, "--details")
    assert "The tests are two-sided" in out
    assert "idealist gate asks" in out


def test_one_file_given_twice_has_two_names(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "compare", QRELS, BM25, BM25, "-m", "AP", "-f", "json")
    data = json.loads(out)
    assert data["runs"] == ["bm25", "bm25 (2)"]
    assert data["pairs"][0]["verdict"] == "bm25 (2) and bm25 have the same AP for every query."
    out, _ = run(capsys, "eval", QRELS, BM25, BM25, "-m", "AP", "-f", "json")
    assert [one["run"] for one in json.loads(out)["runs"]] == ["bm25", "bm25 (2)"]


@given(st.lists(st.sampled_from(["a", "a (2)", "a (3)", "b", "a (2) (2)"]), max_size=8))
def test_names_are_told_apart(names: list[str]) -> None:
    found = distinct(names)
    assert len(set(found)) == len(names)
    assert set(names) <= set(found)
    first = {name: names.index(name) for name in names}
    assert all(found[place] == name for name, place in first.items())


def test_each_run_has_its_own_unjudged_documents() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(4)}
    lists = [["a", "b"], ["a", "u"], ["u", "v"]]
    runs = [il.read_run(dict.fromkeys(qrels, one)) for one in lists]
    named = [run.renamed(name) for run, name in zip(runs, ("x", "x", "x (2)"), strict=True)]
    pairs = il.compare(qrels, named, "P@2").pairs
    assert [pair.unjudged.unjudged for pair in pairs] == [(0, 4), (0, 8)]


def asked(**options: Any) -> il.Comparison:
    runs = {"bm25": BM25, "new": RERANKED, "again": RERANKED}
    return il.compare(
        QRELS, runs, ["nDCG@10", "RR@10"], fragility=True, multiverse=True, margin=0.02,
        tests="bootstrap", **options,
    )  # fmt: skip


def test_all_that_is_asked_for_is_printed_for_every_pair() -> None:
    found = asked()
    words = (
        "Labels, at worst: ", "Conventions: ", "(TOST)", "BCa bootstrap interval", "Gained most",
        "P(better", "URisk", "Unjudged: ", "Hedges' g", "Size: relative",
    )  # fmt: skip
    for text in (text_of(found, details=True), found.markdown(details=True)):
        for word in words:
            assert text.count(word) >= 2, word
    assert "\n  - Gained most" in found.markdown(details=True)
    for word in words:  # what was asked for has no need of details
        assert (text_of(found).count(word) >= 2) == (word in words[:4]), word
    assert max(map(len, text_of(found).split("\n\n")[-1].splitlines())) <= 100


def test_rows_hold_how_robust_a_verdict_is(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("compare", QRELS, BM25, RERANKED, "-m", "nDCG@10", "-f", "tsv", "-q")
    out, _ = run(capsys, *arguments, "--fragility", "--multiverse")
    (row,) = csv.DictReader(io.StringIO(out), delimiter="\t")
    pair = il.compare(
        QRELS, [BM25, RERANKED], "nDCG@10", fragility=True, multiverse=True
    ).pairs[0]  # fmt: skip
    assert float(row["holes_low"]) == pair.unjudged.low
    assert row["holes_overturns"] == "false"
    assert int(row["holes_unjudged_run"]) == pair.unjudged.unjudged[1]
    assert int(row["fragility_sign_labels"]) == len(pair.fragility.sign.changes)
    assert int(row["multiverse_wins"]) == len(pair.multiverse.conventions("wins"))
    assert not any("refused" in key or "classes" in key for key in row)


def test_many_pairs_keep_their_doubts_and_say_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    lists = {f"r{i}": ["a", "b"] for i in range(5)} | {"new": ["x", "a"]}
    runs = {name: dict.fromkeys(qrels, ranked) for name, ranked in lists.items()}
    whole = il.compare(qrels, runs, "RR@2", all_pairs=True)
    assert all(
        pair.unjudged.kind == "outer" or not any(pair.unjudged.unjudged) for pair in whole.pairs
    )
    assert whole.remarks == ()
    monkeypatch.setattr("idealist.comparing.robustness.PAIRS", 3)
    monkeypatch.setattr("idealist.comparing.robustness.DOCUMENTS", 50)
    found = il.compare(qrels, runs, "RR@2", all_pairs=True)
    assert len(found.pairs) == 15
    unequal = [pair for pair in found.pairs if "judged-unequal" in codes(pair)]
    assert {pair.baseline for pair in unequal} == {"new"}
    assert all(pair.unjudged is not None for pair in found.pairs)
    assert any("too many pairs" in line for line in notes_of(found))
    assert found.data()["remarks"] == list(found.remarks)
    few = il.compare(qrels, dict(list(runs.items())[:3]), "RR@2")
    assert few.remarks == ()


def test_saved_evaluations_say_what_they_lack() -> None:
    found = il.compare_evaluations([il.evaluate(QRELS, one, "AP") for one in (BM25, RERANKED)])
    assert any("unjudged documents were not looked at" in line for line in notes_of(found))
    with pytest.raises(UsageError, match="no option 'fragility'"):
        il.compare_evaluations(found.evaluations, fragility=True)


def test_the_printed_signature_holds_the_statistics() -> None:
    found = il.compare(QRELS, [BM25, RERANKED], "nDCG@10", seed=7, ties="docid-asc")
    (line,) = (line for line in notes_of(found) if line.startswith("signature: "))
    assert "|test:randomisation(exact)|seed:7|alpha:0.05|correction:none" in line
    written = line.removeprefix("signature: ")
    assert il.Signature.parse(written) == found.signatures["nDCG@10"]


def test_power_is_said_of_every_difference_that_is_not_significant() -> None:
    columns = some(30, 2, seed=1)
    equal = pair_of(columns["r0"], columns["r1"], margin=0.2)
    assert "equal within 0.2" in equal.verdict
    assert "would usually be found" in equal.verdict
    one = pair_of([0.5] * 30, [0.5] * 29 + [0.9])
    assert "they differ on only 1 query of 30; with 30 queries only differences of" in one.verdict
    found = il.compare(QRELS, [BM25, RERANKED], ["nDCG@10", "RR@10"])
    secondary = found["RR@10"][0]
    assert not secondary.significant
    assert (
        f"with 12 queries only differences of about {secondary.detectable:.2f}" in secondary.verdict
    )
    assert secondary.verdict in " ".join(text_of(found, details=True).split())
    assert secondary.verdict not in " ".join(text_of(found).split())
    several = il.compare_evaluations(made(some(30, 5)))
    for pair in several.pairs:
        assert ("would usually be found" in pair.verdict) != pair.significant


def test_power_is_not_said_of_a_difference_beyond_it() -> None:
    rng = np.random.default_rng(0)
    base = rng.random(30)
    columns = {"base": base.tolist(), "near": (base - 0.3 + rng.normal(0, 0.05, 30)).tolist()}
    columns |= {f"far{i}": (base * 0.1 + rng.normal(0, 0.4, 30)).tolist() for i in range(8)}
    found = il.compare_evaluations(made(columns), all_pairs=True)
    beyond = [p for p in found.pairs if abs(p.difference) >= p.detectable]
    assert beyond
    for pair in beyond:
        assert "would usually be found" not in pair.verdict
    told = " ".join(text_of(found).split())
    most = max(abs(pair.difference) for pair in found.pairs if not pair.significant)
    assert f"differences up to {most:.4f} are not significant" in told
    least = min(abs(pair.difference) for pair in found.pairs if pair.significant)
    assert most < least


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.2])
def test_too_few_that_differ_are_too_few_at_any_level(alpha: float) -> None:
    for differ in range(1, 14):
        pair = pair_of([0.5] * 14, [0.5] * (14 - differ) + [0.6 + i / 50 for i in range(differ)],
                       alpha=alpha)  # fmt: skip
        too_few = 2 / 2**differ >= alpha
        assert ("they differ on only" in pair.verdict) == too_few
        assert pair.significant != too_few


def test_latex_pastes_cleanly() -> None:
    drawn = latex.draw(Table.of(["a<b|c"], [r"x\y^z~"], [["q <0.0001", "é > ± …"]]))
    body = [line for line in drawn.splitlines() if "&" in line]
    assert body[0] == (
        r"a\textless{}b\textbar{}c & x\textbackslash{}y\textasciicircum{}z\textasciitilde{} \\"
    )
    left = re.sub(r"\\[a-z]+(\{\})?|\$\\pm\$|\\[&%$#_{}\\]", "", body[1])
    assert not set("<>|\\^~") & set(left)
    found = il.compare_evaluations(made(some(60, 2, step=0.3)))
    assert r"\textless{}0.0001" in latex.render(found.report())
    assert r"& $d_z$ &" in latex.render(found.report())


def test_measures_that_tie_all_systems_are_named_once() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(3)}
    lists = {"one": ["a", "b", "x"], "two": ["a", "x", "b"], "three": ["x", "a", "b"]}
    runs = {name: dict.fromkeys(qrels, ranked) for name, ranked in lists.items()}
    found = il.compare(qrels, runs, ["AP", "RR", "P@3", "R@3"])
    text = text_of(found, details=True)
    assert "nan" not in text
    assert text.count("tied by") == 1
    assert "; all systems are tied by P@3, R@3\n" in text
    assert [one.tied for one in found.agreement][-1] == ("P@3", "R@3")


def test_queries_without_a_slice_have_one_name() -> None:
    values = some(30, 2)
    kinds = {f"q{i:03}": ("a" if i < 12 else None if i < 15 else math.nan) for i in range(20)}
    found = il.compare_evaluations(made(values), slices=kinds)
    assert [(pair.slice, pair.n) for pair in found.slices] == [("a", 12), ("(none)", 18)]


BROKEN: list[tuple[str, Any]] = [
    ("run", None), ("run", 3), ("convention", None), ("per_query", []), ("values", {"AP": "x"}),
    ("uncounted", []), ("signatures", {}), ("signatures", {"AP": "AP"}), ("doubts", [1]),
    ("doubts", [{"code": 1}]), ("weights", {"q01": "x"}), ("per_query", {"q01": {"AP": "0.5"}}),
    ("per_query", {"q01": {"AP": True}}), ("per_query", {"q01": None}),
    ("signatures", {"AP": "AP(no_relevant=0)|qrels:1|rules:1"}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), BROKEN)
def test_a_saved_evaluation_that_is_damaged_is_refused(
    key: str, value: Any, tmp_path: Path
) -> None:
    path = tmp_path / "saved.json"
    il.evaluate(QRELS, BM25, "AP").save(path)
    data = json.loads(path.read_text())
    il.Evaluation.load(path)
    path.write_text(json.dumps(data | {key: value}))
    with pytest.raises(InputError, match="not a saved evaluation"):
        il.Evaluation.load(path)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=14))
def test_no_sentence_says_nan(rows: list[tuple[float, float]]) -> None:
    base, new = map(list, zip(*rows, strict=True))
    found = il.compare_evaluations(made({"base": base, "new": new}), margin=0.05)
    assert "nan" not in "\n".join([found.summary, *heading(found), text_of(found, details=True)])


@pytest.mark.parametrize("n", [2, 3])
def test_the_data_of_two_queries_holds_nothing_impossible(n: int) -> None:
    pair = pair_of([1.0] * n, [0.5, *[1.0] * (n - 1)])
    data = pair.data()
    assert data["relative_ci"] == [None, None]  # it was -100 % to +15,915,469 % of two queries
    assert data["detectable"] is None or data["detectable"] <= 1
    assert all(-1 <= end <= 1 for end in data["ci"])
    text = text_of(il.compare_evaluations(made({"a": [1.0] * n, "b": [0.5, *[1.0] * (n - 1)]})))
    assert "Hedges" not in text
