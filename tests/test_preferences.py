"""Preferences: trec_eval's printed values, the plain reference, and how they are read."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import idealist as il
import oracle
import oracle_prefs
from effort import tries
from generated import seeds, some_list, some_measure
from idealist.cli.main import main
from idealist.data.preferences import closed
from idealist.measures import MEASURES
from idealist.measures.trec_preferences import Preferring
from idealist.protocol import Protocol

MEASURED = [name for name in MEASURES if name.startswith("prefs_")]
#: All that trec_eval has, by its names.
NAMES = [
    "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret",
    "prefs_simp", "prefs_simp_ret", "prefs_simp_imp", "prefs_pair", "prefs_pair_ret",
    "prefs_pair_imp", "prefs_avgjg", "prefs_avgjg_ret", "prefs_avgjg_imp", "prefs_avgjg_Rnonrel",
    "prefs_avgjg_Rnonrel_ret",
]  # fmt: skip

Preferences = dict[str, list[list[dict[str, float]]]]
#: Two groups, the second of which did not compare d2 with d3, and contradicts the first.
TEXT = """# judged by two
q1 ann 1 d1 2.5
q1 ann\t1 d2 1
q1 ben a d3 2
q1 ben a  d1 1
q1 ben b d1 3
q1 ben b d2 0.5
q2 ann 1 d1 1
q2 ann 1 d2 1
"""
ROWS = [
    dict(zip(("query", "group", "subgroup", "document", "level"), line.split(), strict=True))
    for line in TEXT.splitlines()[1:]
]


@pytest.mark.parametrize(
    ("expected", "judged", "run", "values"),
    [
        ("out.test.prefs", "prefs.test", "prefs.results.test", 350),
        ("out.test.prefs", "prefs.comment.test", "prefs.results.test", 350),
        ("out.test.qrels_prefs", "qrels.test", "results.test", 56),
    ],
)
@pytest.mark.parametrize("read", [il.read_qrels, il.read_preferences])
def test_trec_eval_prints_the_same(
    data: Path, read: Any, expected: str, judged: str, run: str, values: int
) -> None:
    folder = data / "trec_eval-10.0"
    lines = map(str.split, (folder / expected).read_text().splitlines())
    printed = {(name, query): value for name, query, value in lines}
    result = il.evaluate(read(folder / judged), folder / run, NAMES)
    compared = 0
    for name in NAMES:
        digits = ".0f" if "_num_" in name else ".4f"
        found = dict(zip(result.queries, result.values[name].tolist(), strict=True))
        for query, value in {**found, "all": result[name]}.items():
            assert f"{value:{digits}}" == printed[name, query], (name, query)
            compared += 1
    assert compared == values == len(printed) - 2  # less runid and num_q


def some_preferences(rng: random.Random) -> Preferences:
    """Make queries of groups of subgroups, in which levels tie and documents stand repeatedly."""
    made: Preferences = {}
    for q in range(rng.randint(1, 3)):
        ids = [f"d{i}" for i in range(rng.randint(1, 7))]
        groups = []
        for _ in range(rng.randint(1, 3)):
            worth = {d: rng.choice([0, 0, 1, 2, 2.5]) for d in ids}
            group = [
                {d: worth[d] for d in rng.sample(ids, rng.randint(1, len(ids)))}
                for _ in range(rng.choice([1, 1, 2, 3]))
            ]
            for levels in group:  # other levels may be in the same order, or contradict them
                changed = {d: rng.choice([worth[d], 0.5, 3]) for d in levels if worth[d] > 0}
                levels.update(changed if rng.random() < 0.4 else {})
            if oracle_prefs.consistent(group):
                groups.append(group)
        if groups:
            made[f"q{q}"] = groups
    return made


def records(preferences: Preferences) -> list[dict[str, Any]]:
    return [
        {"query": q, "group": f"g{g}", "subgroup": s, "document": d, "level": level}
        for q, groups in preferences.items()
        for g, group in enumerate(groups)
        for s, levels in enumerate(group)
        for d, level in levels.items()
    ]


def some_rows(rng: random.Random, queries: Preferences) -> dict[str, list[tuple[str, float]]]:
    ids = [f"d{i}" for i in range(7)] + ["u1", "u2"]
    return {
        q: some_list(rng, ids) for q in [*queries, "other"] if q == "other" or rng.random() < 0.9
    }


def truth(measure: Preferring, groups: Any, docs: list[oracle.Doc]) -> float:
    known = {d for group in groups for levels in group for d in levels}
    place = {doc.id: r for r, doc in enumerate(docs) if doc.id in known}
    formula = getattr(oracle_prefs, measure.name.removeprefix("prefs_"))
    value = formula(groups, place, measure.written())
    if value is None:
        word = str(getattr(measure, "no_relevant", "nan"))
        return {"0": 0.0, "1": 1.0, "empty": float(not docs)}.get(word, np.nan)
    return float(value)


@pytest.mark.parametrize("name", MEASURED)
def test_groups_and_subgroups_equal_the_reference(name: str) -> None:
    compared = 0
    for seed in range(tries(70, 400)):
        rng = random.Random(seed)
        measure = some_measure(rng, name).filled()
        preferences = some_preferences(rng)
        if not preferences:
            continue
        rows = some_rows(rng, preferences)
        axes: dict[str, Any] = {
            "ties": rng.choice(["docid-asc", "docid-desc", "input"]), "grades": "keep",
            "depth": rng.choice(["none", 3]), "unjudged": rng.choice(["zero", "drop"]),
        }  # fmt: skip
        protocol = Protocol(**axes)
        judged = il.read_preferences(rng.sample(records(preferences), len(records(preferences))))
        placements = il.rank(judged, il.read_run(rows), [protocol])[protocol]
        values = measure.values(placements)
        grades = judged.to_dict()
        for i, query in enumerate(judged.queries):
            whole = {**protocol.written(), "unjudged": "zero"}
            docs = oracle.rank(rows.get(query, []), grades[query], query, whole)
            wanted = truth(measure, preferences[query], docs)  # type: ignore[arg-type]
            close = np.isclose(values[i], wanted, rtol=1e-12, atol=1e-12, equal_nan=True)
            assert close, (seed, str(measure), preferences[query], docs, values[i], wanted)
            compared += 1
    assert compared > tries(100, 600)


@pytest.mark.parametrize("name", MEASURED)
def test_expected_ties_of_groups_are_the_mean_over_all_orders(name: str) -> None:
    for seed in range(tries(40, 100)):
        rng = random.Random(seed)
        measure = some_measure(rng, name).filled()
        preferences = some_preferences(rng)
        if not preferences or getattr(measure, "nonrelevant", "all") != "all":
            continue
        rows = {
            q: [
                (d, float(rng.randint(0, 1)))
                for d, _ in some_list(rng, ["d0", "d1", "d2", "d3", "u"])
            ]
            for q in preferences
        }
        protocol = Protocol(ties="expected", grades="keep")
        judged = il.read_preferences(records(preferences))
        values = measure.values(il.rank(judged, il.read_run(rows), [protocol])[protocol])
        for i, query in enumerate(judged.queries):
            docs = [oracle.Doc(d, s, None) for d, s in rows[query]]
            orders = [truth(measure, preferences[query], one) for one in oracle.orders(docs)]  # type: ignore[arg-type]
            assert values[i] == pytest.approx(sum(orders) / len(orders), abs=1e-12, nan_ok=True)


def test_only_all_nonrelevant_documents_average_ties() -> None:
    judged, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    assert il.evaluate(judged, run, "prefs_avgjg", ties="expected")["prefs_avgjg"] == 0.5
    grouped = il.read_preferences({"q": {"g": {"a": 1, "b": 0}}})
    for qrels in (judged, grouped):
        with pytest.raises(il.UsageError, match="no closed form"):
            il.evaluate(qrels, run, "prefs_avgjg(nonrelevant=R)", ties="expected")


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_plain_judgments_are_preferences_of_one_group(seed: int) -> None:
    """Counted by level, as in plain judgments, and pair by pair, the numbers are the same."""
    rng = random.Random(seed)
    scales: list[list[float]] = [[0, 1], [-1, 0, 1, 2], [0, 0.5, 2], [0]]
    grades = rng.choice(scales)
    ids = [f"d{i}" for i in range(12)]
    judged = {
        q: {d: rng.choice(grades) for d in rng.sample(ids, rng.randint(1, 12))} for q in ("a", "b")
    }
    rows = {q: some_list(rng, [*ids, "u1", "u2"]) for q in rng.sample(["a", "b", "c"], 2)}
    names = [*NAMES, "prefs_avgjg(nonrelevant=R)", "prefs_avgjg(nonrelevant=R,of=retrieved)"]
    axes = {"negative": rng.choice(["allow", "drop"]), "ties": rng.choice(["input", "worst"])}
    plain = il.evaluate(judged, rows, names, **axes)
    grouped = il.evaluate(il.read_preferences(judged_by_one(judged)), rows, names, **axes)
    for name in names:
        np.testing.assert_allclose(plain.values[name], grouped.values[name], atol=1e-12)


def judged_by_one(judged: dict[str, dict[str, float]]) -> dict[str, dict[str, dict[str, float]]]:
    return {query: {"one": levels} for query, levels in judged.items()}


@given(seeds)
@settings(max_examples=50, deadline=None)
def test_laws_of_preferences(seed: int) -> None:
    rng = random.Random(seed)
    preferences = some_preferences(rng)
    rows = some_rows(rng, preferences)
    if not preferences:
        return
    judged = il.read_preferences(records(preferences))
    result = il.evaluate(judged, rows, NAMES)
    value = {name: result.values[name] for name in NAMES}
    possible, fulfilled = value["prefs_num_prefs_poss"], value["prefs_num_prefs_ful"]
    np.testing.assert_allclose(value["prefs_simp"], fulfilled / np.maximum(possible, 1))
    assert (value["prefs_num_prefs_ful_ret"] <= fulfilled).all()
    assert (value["prefs_simp"] <= value["prefs_simp_imp"] + 1e-12).all()
    assert (value["prefs_avgjg"] <= value["prefs_avgjg_imp"] + 1e-12).all()
    for i, query in enumerate(result.queries):
        if len(preferences[query]) == 1:
            for of in ("", "_ret", "_imp"):
                same = {
                    round(value[f"prefs_{how}{of}"][i], 12) for how in ("simp", "pair", "avgjg")
                }
                assert len(same) == 1
    assert judged.only([result.queries[0]]).preferences is not None
    for query in result.queries:
        alone = il.evaluate(judged, rows, NAMES, queries=[query])
        for name in NAMES:
            assert alone.values[name][0] == value[name][result.queries.index(query)]


def test_preferences_are_transitive() -> None:
    """The examples of trec_eval's description of the format, by how many preferences they are."""

    def count(rows: str) -> float:
        names = ("group", "subgroup", "document", "level")
        cells = [dict(zip(names, row.split(), strict=True)) for row in rows.split(", ")]
        judged = il.read_preferences([{"query": "q", **row} for row in cells])
        return il.evaluate(judged, {"q": ["x"]}, "prefs_num_prefs_poss")["prefs_num_prefs_poss"]

    assert count("g 1 1 3, g 1 2 2, g 1 3 0, g 1 4 6, g 1 5 0, g 1 6 2") == 13
    assert count("g 1 1 3, g 1 2 2, g 1 3 1, g 2 1 2, g 2 2 1, g 2 4 3") == 6  # 4 > 3 follows
    assert count("g 1 1 3, g 1 2 2, g 1 3 1, g 2 2 5, g 2 4 4") == 5
    assert count("g 1 1 3, g 1 2 2, h 1 1 0, h 1 3 6, h 1 4 2, h 2 1 0, h 2 2 8") == 5
    assert count("g 1 1 2, g 1 2 1, h 1 2 2, h 1 1 1") == 2  # other groups may contradict


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_the_transitive_closure_is_warshalls(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(1, 12)
    found = np.array([[rng.random() < 0.15 for _ in range(size)] for _ in range(size)])
    wanted = found.copy()
    for k in range(size):
        wanted |= wanted[:, [k]] & wanted[[k], :]
    np.testing.assert_array_equal(closed(found), wanted)


def test_subtopics_and_the_second_column_are_groups(tmp_path: Path) -> None:
    """As trec_eval reads qrels for preferences; a second column without meaning is no group."""
    judged = tmp_path / "qrels.txt"
    run = {"q": ["b", "a", "c"]}
    for lines, groups in (
        (["q 1 a 2", "q 1 b 1", "q 2 b 2", "q 2 a 0"], 2),  # subtopics
        (["q 1 a 2", "q 1 b 1", "q 2 c 3", "q 2 d 0"], 2),
        (["q 0 a 2", "q 0 b 1"], 1),
    ):
        judged.write_text("\n".join(lines))
        plain, explicit = il.read_qrels(judged), il.read_preferences(judged)
        assert len((explicit.preferred or ())[0]) == groups
        assert (plain.preferred is None) == (groups == 1)
        one, other = (il.evaluate(qrels, run, NAMES) for qrels in (plain, explicit))
        for name in NAMES:
            assert one[name] == other[name], (lines, name)
    changed = tmp_path / "changed.txt"
    judged.write_text("q 1 a 2\nq 1 b 1\nq 2 c 3\nq 2 d 0\n")
    changed.write_text("q 1 a 2\nq 2 b 1\nq 2 c 3\nq 2 d 0\n")
    assert il.read_qrels(judged).hash != il.read_qrels(changed).hash


def test_preferences_are_read_alike_from_everything(tmp_path: Path) -> None:
    nested: dict[str, Any] = {"q": {"g": {"a": 2, "b": 0.5}, "h": {"b": 1, "a": 0}}}
    rows = records({"q": [[{"a": 2, "b": 0.5}], [{"b": 1, "a": 0}]]})
    for row in rows:
        row["group"] = {"g0": "g", "g1": "h"}[row["group"]]
        row["subgroup"] = "0"
    frame = pd.DataFrame(rows)
    text = "".join(" ".join(map(str, row.values())) + "\n" for row in rows)
    (tmp_path / "prefs.txt").write_text(text)
    (tmp_path / "prefs.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "nested.json").write_text(json.dumps(nested))
    (tmp_path / "records.json").write_text(json.dumps(rows))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame.to_csv(tmp_path / "prefs.csv", index=False)
    frame.to_parquet(tmp_path / "prefs.parquet")
    given = [nested, rows, frame, frame.to_dict("list"), *sorted(tmp_path.iterdir())]
    assert len(given) == 11
    read = [il.read_preferences(one) for one in given]
    read += [il.read_qrels(tmp_path / name) for name in ("prefs.txt", "prefs.gz")]
    read += [il.read_preferences(rows[::-1]), il.read_preferences(read[0])]
    assert {one.hash for one in read} == {read[0].hash}
    assert read[0].to_dict() == {"q": {"a": 2, "b": 1}}
    assert il.read_preferences(nested, name="mine").name == "mine"
    rows[0]["level"] = 3
    assert il.read_preferences(rows).hash != read[0].hash


def test_what_is_not_said_has_a_meaning() -> None:
    assert il.read_preferences([("q", "a", 2), ("q", "b", 1)]).preferences is not None
    judged = il.read_preferences({"q": {"g": {"a": 1, "b": 0}}, "r": {}})
    assert judged.queries == ("q", "r")
    result = il.evaluate(judged, {"q": ["a"]}, "prefs_simp")
    assert result.values["prefs_simp"].tolist() == [1.0, 0.0]
    gone = [doubt for doubt in result.doubts if doubt.code == "no-relevant"]
    assert "1 query has no preference (r)" in gone[0].message
    repeated = [
        {"query": "q", "document": d, "level": n} for d, n in (("a", 1), ("b", 0), ("a", 1))
    ]
    assert il.read_preferences(repeated).repeats == 1


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        ({"q": {"g": ["a", "b"]}}, "bad-shape", "query 'q', group 'g': cannot read ['a', 'b']"),
        ({"q": {"g": {"a": "high"}}}, "bad-level", "document 'a': level 'high' is not a finite"),
        ({"q": {"g": {"a": float("inf")}}}, "bad-level", "level inf is not a finite number"),
        ([{"query": "q", "document": "d"}], "missing-column", "the preferences have no levels"),
        ([{"query": "q", "group": 1.5, "document": "d", "level": 1}], "bad-id", "group 1.5"),
        ([{"query": None, "document": "d", "level": 1}], "bad-id", "query None"),
        (7, "bad-shape", "int cannot be read"),
        ({}, "empty", "there are no judgments"),
    ],
)
def test_bad_preferences_are_refused(data: Any, code: str, says: str) -> None:
    with pytest.raises(il.InputError) as caught:
        il.read_preferences(data)
    assert caught.value.code == code
    assert says in str(caught.value)
    assert caught.value.hint


def test_a_fault_in_json_has_a_line(tmp_path: Path) -> None:
    path = tmp_path / "prefs.json"
    path.write_text('{"q": {"g": {"a": 1,\n "b": "x"}}}')
    with pytest.raises(il.InputError) as caught:
        il.read_preferences(path)
    assert str(caught.value).startswith(f"{path}:2: query 'q', document 'b': level 'x'")


def test_the_command_line_takes_preferences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefs, run = tmp_path / "prefs.txt", tmp_path / "a.run"
    prefs.write_text(TEXT)
    run.write_text("q1 Q0 d1 1 2 a\nq1 Q0 d2 2 1 a\nq2 Q0 d1 1 1 a\n")
    main(["eval", str(prefs), str(run), "-m", "prefs_simp", "-m", "AP", "-f", "tsv"])
    shown = capsys.readouterr()
    assert "a\tall\tprefs_simp\t0.25\n" in shown.out  # q1 has 2 of 4, q2 has no preference
    assert "highest level of preference is used as its grade" in shown.err


def test_preferences_are_not_lost_in_silence(tmp_path: Path) -> None:
    (tmp_path / "prefs.txt").write_text(TEXT)
    lost = il.write_qrels(tmp_path / "prefs.txt", tmp_path / "qrels.txt")
    assert lost == ["preferences left out; each document has its highest level"]
    assert "q1 0 d1 3\n" in (tmp_path / "qrels.txt").read_text()
    main(["convert", str(tmp_path / "prefs.txt"), str(tmp_path / "some.csv")])
    assert il.read_qrels(tmp_path / "some.csv").preferences is None


def test_numbers_for_documents_want_a_suffix(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_text("1 0 0 11 2\n1 0 0 12 1\n")
    with pytest.raises(il.InputError, match=r"named \*\.prefs"):
        il.read_qrels(path)
    judged = il.read_qrels(path.rename(tmp_path / "some.prefs"))
    assert judged.to_dict() == {"1": {"11": 2, "12": 1}}
    assert judged.hash == il.read_preferences(tmp_path / "some.prefs").hash
    assert il.formats.kind_of(tmp_path / "some.prefs") == "qrels"
    assert il.read_qrels(tmp_path / "some.prefs", scale=2).scale is not None


@pytest.mark.parametrize("name", NAMES)
def test_trec_evals_names_are_understood(name: str) -> None:
    measure = il.parse(name)
    assert il.parse(str(measure)) == measure
    assert measure.name in MEASURED
    instrument = il.CONVENTIONS["trec_eval"].instrument(measure)
    assert (instrument.protocol.ties, instrument.protocol.grades) == ("docid-asc", "keep")
    assert instrument.aggregate.aggregate == ("sum" if "_num_" in name else "mean")
