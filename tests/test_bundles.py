"""Bundles: what they give is what the runs give, to the last bit, or a refusal that says why."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import re
import shutil
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import idealist as il
from effort import tries
from generated import PLAIN, some_case, some_measure, some_protocol
from idealist.bundling.result_bundle import Bundle, bundle, read_bundle
from idealist.cli.main import main
from idealist.conventions import CONVENTIONS
from idealist.errors import IdealistError, InputError, NoDocuments, UsageError
from idealist.evaluating.evaluation import Evaluation
from idealist.formats import bundle_files, bundle_index
from idealist.formats.source import INDEX
from idealist.ranking.stored_placements import StoredPlacements, hidden

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1, "d9": 0}}
RUN = {"q1": {"d3": 3.0, "u": 2.0, "d1": 1.0}, "q2": {"u": 2.0, "d9": 1.0}}


def same(one: Evaluation, other: Evaluation) -> None:
    """Whether nothing tells two evaluations apart but the names of files in commands."""
    assert one.queries == other.queries
    assert one.signatures == other.signatures
    assert repr(dict(one.aggregates)) == repr(dict(other.aggregates))
    for label in one:
        assert one.values[label].tobytes() == other.values[label].tobytes()
        assert one.counted[label].tobytes() == other.counted[label].tobytes()
    told = [(d.code, d.finding, d.count, d.queries, str(d.price), d.severity) for d in one.doubts]
    assert told == [
        (d.code, d.finding, d.count, d.queries, str(d.price), d.severity) for d in other.doubts
    ]


def tried(qrels: Any, run: Any, measure: Any, **rules: Any) -> Evaluation | str:
    """Evaluate, or say what kind of error that gives."""
    try:
        return il.evaluate(qrels, run, measure, **rules)
    except IdealistError as error:
        return str(error)


def spoken(rows: dict[str, list[tuple[str, float]]]) -> list[tuple[str, str, float]]:
    return [(query, document, score) for query, own in rows.items() for document, score in own]


@pytest.mark.parametrize("seed", range(tries(12, 300)))
def test_every_convention_gives_the_same(seed: int) -> None:
    rng = random.Random(seed)
    qrels, rows = some_case(rng, size=rng.choice([6, 12, 40]))
    run = il.read_run(spoken(rows), name="mine")
    made = bundle(qrels, {"mine": run})
    for name in CONVENTIONS:
        measure = some_measure(rng, rng.choice(PLAIN))
        plain = tried(qrels, run, measure, convention=name)
        kept = tried(made.qrels, made.runs[0], measure, convention=name)
        if isinstance(plain, str):
            assert isinstance(kept, str)
            continue
        assert not isinstance(kept, str), f"{name} {measure}: {kept}"
        found = [one for one in plain.doubts if one.code != "nothing-matches"]
        assert [one.code for one in found] == [
            one.code for one in kept.doubts if one.code != "nothing-matches"
        ]
        if len(found) == len(plain.doubts):
            same(plain, kept)


@pytest.mark.parametrize("seed", range(tries(20, 600)))
def test_other_rules_give_the_same_or_are_refused(seed: int) -> None:
    rng = random.Random(seed + 1000)
    qrels, rows = some_case(rng)
    run = il.read_run(spoken(rows), name="mine")
    made = bundle(qrels, {"mine": run})
    refusals = 0
    for _ in range(30):
        axes = some_protocol(rng).written()
        measure = some_measure(rng, rng.choice(PLAIN))
        plain = tried(qrels, run, measure, **axes)
        kept = tried(made.qrels, made.runs[0], measure, **axes)
        if isinstance(kept, str) and "is a bundle of lists with" in kept:
            assert axes["collapse"] != "none"  # all that a bundle made without it cannot do
            refusals += 1
        elif isinstance(plain, str):
            assert isinstance(kept, str)
        else:
            assert not isinstance(kept, str), f"{measure} {axes}: {kept}"
            assert repr(plain[str(measure)]) == repr(kept[str(measure)])
            values = plain.values[str(measure)]
            assert values.tobytes() == kept.values[str(measure)].tobytes()
    assert refusals < 30


@pytest.mark.parametrize("name", PLAIN)
def test_every_measure_that_needs_grades_only(name: str) -> None:
    rng = random.Random(name)
    for _ in range(tries(3, 30)):
        qrels, rows = some_case(rng, size=30)
        run, measure = il.read_run(spoken(rows), name="mine"), some_measure(rng, name)
        made = bundle(qrels, {"mine": run})
        plain, kept = (tried(a, b, measure) for a, b in ((qrels, run), (made.qrels, made.runs[0])))
        if isinstance(plain, str):
            assert isinstance(kept, str)
        else:
            assert isinstance(kept, Evaluation)
            label = str(measure)
            assert plain.values[label].tobytes() == kept.values[label].tobytes()


def test_chunks_are_merged_when_the_bundle_is_made() -> None:
    run = {"q1": {"d1#2": 3.0, "d3#1": 2.0, "d1#1": 1.0}}
    made = bundle(QRELS, run, collapse="#.*")
    found = il.evaluate(made.qrels, made.runs[0], "nDCG@10", collapse="#.*")
    assert found["nDCG@10"] == il.evaluate(QRELS, run, "nDCG@10", collapse="#.*")["nDCG@10"]
    with pytest.raises(UsageError, match=r"lists with collapse=#.\*, not collapse=none") as caught:
        il.evaluate(made.qrels, made.runs[0], "nDCG@10")
    assert "a bundle made with --set collapse=none" in caught.value.hint


def test_what_needs_more_than_grades() -> None:
    own = [("1", "a", 1.0), ("2", "a", 2.0), ("2", "b", 1.0), ("1", "c", 0.0)]
    rows = [(query, *row) for query in ("q", "p", "r") for row in own[: 3 + (query == "q")]]
    qrels = il.read_qrels(
        {name: [row[i] for row in rows] for i, name in enumerate(
            ("query", "subtopic", "document", "grade"))}
    )  # fmt: skip
    run = {"q": ["b", "x", "a"], "p": ["a"], "r": ["c", "b"]}
    made = bundle(qrels, {"r": run})
    hiding = bundle(qrels, {"run": run}, private=True)
    for measure in ("alpha_nDCG@10", "ERR_IA@10", "StRecall@5", "AP_IA", "P_IA@2"):
        plain = il.evaluate(qrels, run, measure)
        same(plain, il.evaluate(made.qrels, made.runs[0].renamed("run"), measure))
        same(plain, il.evaluate(qrels, hiding.runs[0], measure))
        alone = il.evaluate(hiding.qrels, hiding.runs[0], measure)
        assert dict(alone.aggregates) == dict(plain.aggregates)


def test_private_subtopics_are_numbers(tmp_path: Path) -> None:
    cells = [(f"q{i}", name, f"d{j}", j % 2) for i in range(9) for j in range(4)
             for name in (f"price{i}", f"size{12 - i}")]  # fmt: skip
    for rows in (cells, cells[::2]):  # each document with two subtopics, or with one
        path = tmp_path / "qrels.txt"
        path.write_text("".join(f"{q} {name} {d} {grade}\n" for q, name, d, grade in rows))
        run = {f"q{i}": ["d3", "d1", "x", "d2"] for i in range(9)}
        plain = il.evaluate(path, run, ["AP_IA", "alpha_nDCG@10"])
        made = bundle(path, {"run": run}, private=True)
        with zipfile.ZipFile(BytesIO(made.content)) as archive:
            assert not re.search("price|size.2", archive.read(INDEX).decode())
        same(plain, il.evaluate(path, made.runs[0], ["AP_IA", "alpha_nDCG@10"]))
        alone = il.evaluate(made.qrels, made.runs[0], ["AP_IA", "alpha_nDCG@10"])
        assert dict(alone.aggregates) == dict(plain.aggregates)


def test_preferences_and_numbers_beside_grades() -> None:
    table = {
        "query": ["q"] * 3, "document": ["a", "b", "c"], "grade": [1, 0, 1],
        "abstain": [0.1, 0.9, 0.4],
    }  # fmt: skip
    qrels, run = il.read_qrels(table), {"q": ["b", "x", "a"]}
    made = bundle(qrels, {"run": run})
    plain = il.evaluate(qrels, run, "UDCG@5")
    same(plain, il.evaluate(made.qrels, made.runs[0], "UDCG@5"))


def test_private_queries_are_known_to_who_has_the_judgments() -> None:
    made = bundle(QRELS, {"mine": RUN}, private=True)
    assert made.private
    assert b"q1" not in made.content
    assert "q1" not in made.qrels.queries
    assert hidden("q1", il.read_qrels(QRELS).digest) in made.qrels.queries
    many = {f"q{i}": {"d": 1} for i in range(40)}
    shuffled = bundle(many, {"mine": {"q3": ["d"]}}, private=True).qrels.queries
    assert list(shuffled) == sorted(shuffled)  # the order of the ids would give them away
    whole = il.evaluate(QRELS, il.read_run(RUN, name="mine"), ["nDCG@10", "AP"])
    same(whole, il.evaluate(QRELS, made.runs[0], ["nDCG@10", "AP"]))
    alone = il.evaluate(made.qrels, made.runs[0], ["nDCG@10", "AP"])
    assert dict(alone.aggregates) == dict(whole.aggregates)
    assert alone.signatures == whole.signatures


def test_some_queries_of_a_bundle() -> None:
    made = bundle(QRELS, {"mine": RUN})
    plain = il.evaluate(QRELS, RUN, "nDCG@10", queries=["q1"])
    with_names = il.evaluate(QRELS, made.runs[0].renamed("run"), "nDCG@10", queries=["q1"])
    same(plain, with_names)
    alone = il.evaluate(made.qrels, made.runs[0], "nDCG@10", queries=["q1"])
    assert alone["nDCG@10"] == plain["nDCG@10"]
    # the hash of judgments whose documents are not known cannot be computed again
    hashes = {one.signatures["nDCG@10"].qrels for one in (plain, alone)}
    assert len(hashes) == 2
    other = il.evaluate(made.qrels, made.runs[0], "nDCG@10", queries=["q2"])
    assert other.signatures["nDCG@10"].qrels not in hashes


def test_other_judgments_are_refused() -> None:
    made = bundle(QRELS, {"mine": RUN})
    with pytest.raises(UsageError, match="was made with other judgments than qrels"):
        il.evaluate({**QRELS, "q2": {"d1": 2}}, made.runs[0], "nDCG@10")
    with pytest.raises(UsageError, match="mine cannot be ranked with its judgments"):
        il.evaluate(made.qrels, il.read_run(RUN, name="mine"), "nDCG@10")
    with pytest.raises(UsageError, match="is a bundle already"):
        bundle(made.qrels, made.runs)


def test_rules_that_change_nothing_in_a_bundle_are_refused() -> None:
    with pytest.raises(UsageError, match="missing=skip changes nothing in a bundle"):
        bundle(QRELS, RUN, missing="skip")
    with pytest.raises(UsageError, match="depth=10 changes nothing"):
        bundle(QRELS, RUN, depth=10)
    with pytest.raises(UsageError, match="gain is no rule that lists are made by"):
        bundle(QRELS, RUN, gain="exp2")


def test_a_faulty_run_is_refused_as_ever() -> None:
    rows = il.read_run([("q1", "d1", 1.0), ("q1", "d1", 2.0)], name="mine")
    with pytest.raises(InputError, match="retrieved twice"):
        bundle(QRELS, rows)
    made = bundle(QRELS, rows, duplicates="first")
    assert il.evaluate(made.qrels, made.runs[0], "RR", duplicates="first")["RR"] == 0.5
    with pytest.raises(UsageError, match="lists with duplicates=first, not duplicates=error"):
        il.evaluate(made.qrels, made.runs[0], "RR")


def test_documents_are_refused_where_there_are_none() -> None:
    made = bundle(QRELS, {"a": RUN, "b": {"q1": ["d1"], "q2": ["d1"]}})
    one, other = made.runs
    for needs in (
        lambda: il.explain_difference(made.qrels, one, other, "nDCG@10", query="q1"),
        lambda: il.bounds_of_difference(made.qrels, one, other, "nDCG@10"),
        lambda: il.fuse([one, other]).rows(),
        lambda: il.rbo_by_query(one, other),
        lambda: il.write_run(one, "/dev/null"),
    ):
        with pytest.raises(NoDocuments, match="holds the places of judged documents"):
            needs()


def test_names_of_documents_are_numbers() -> None:
    made = bundle(QRELS, {"mine": RUN})
    found = il.explain(made.qrels, made.runs[0], "nDCG@10", query="q1")
    assert found.value == il.explain(QRELS, RUN, "nDCG@10", query="q1").value
    assert "judged:3" in str(found)
    assert "unjudged:2" in str(found)
    named = il.explain(QRELS, made.runs[0], "nDCG@10", query="q1")
    assert "d3" in str(named)
    long = {"q1": {"a-document": 1}}
    assert b"a-document" not in unpacked(bundle(long, {"mine": {"q1": ["other", "a-document"]}}))


def unpacked(made: Bundle) -> bytes:
    with zipfile.ZipFile(BytesIO(made.content)) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def test_audit_and_diagnosis_do_without_documents() -> None:
    queries = [f"q{i}" for i in range(12)]
    qrels = {q: {f"d{q}{i}": i % 3 for i in range(12)} for q in queries}
    run = {q: {f"d{q}{i}": float(20 - i) for i in range(3, 20)} for q in queries}
    made = bundle(qrels, {"a": run, "b": run})
    found = il.audit(made.qrels, made.runs)
    (said,) = [one for one in found.findings if one.code == "places-only"]
    assert "2 runs are bundles" in said.finding
    plain = il.audit(qrels, {"a": run, "b": run})
    assert {one.code for one in found.findings} - {"places-only"} <= {
        one.code for one in plain.findings
    }
    one, other = (
        il.diagnose(*sides).data() for sides in ((made.qrels, made.runs[0]), (qrels, run))
    )
    assert one["losses"] == other["losses"]


def test_a_bundle_is_the_same_bytes_and_reads_itself(tmp_path: Path) -> None:
    one, two = (bundle(QRELS, {"mine": RUN, "other": {"q1": ["d1"]}}) for _ in range(2))
    assert one.content == two.content
    one.save(tmp_path / "x.ilb")
    read = read_bundle(tmp_path / "x.ilb")
    assert read.content == one.content
    assert [run.name for run in read.runs] == ["mine", "other"]
    again = il.read_run(tmp_path / "x.ilb#other")
    assert again.name == "other"
    assert il.evaluate(QRELS, again, "RR")["RR"] == 0.5
    assert il.read_qrels(tmp_path / "x.ilb").hash == il.read_qrels(QRELS).hash
    with pytest.raises(UsageError, match="is a bundle of 2 runs, and one is wanted"):
        il.read_run(tmp_path / "x.ilb")
    with pytest.raises(InputError, match="has no run 'mien'") as caught:
        il.read_run(tmp_path / "x.ilb#mien")
    assert "mine" in caught.value.hint
    both = il.compare(QRELS, [tmp_path / "x.ilb"], "RR", baseline="mine")
    assert both.pairs[0].run == "other"


def opened(path: Path) -> Evaluation:
    """Read a bundle and measure its first run."""
    found = read_bundle(path)
    return il.evaluate(found.qrels, found.runs[0], "nDCG@10")


def refusal(path: Path) -> tuple[str, str]:
    """Open a bundle, and return why it is refused, and the hint; nothing where it is not."""
    try:
        opened(path)
    except IdealistError as error:
        return str(error), error.hint
    return "", ""


def changed_index(made: Bundle, change: Any) -> bytes:
    """Write a bundle again with another index, as somebody would who means ill."""
    with zipfile.ZipFile(BytesIO(made.content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    index = json.loads(parts[INDEX])
    change(index)
    parts[INDEX] = bundle_index.sealed(index)
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return target.getvalue()


def test_newer_and_other_files_are_refused(tmp_path: Path) -> None:
    made, path = bundle(QRELS, {"mine": RUN}), tmp_path / "x.ilb"
    path.write_bytes(changed_index(made, lambda index: index.update({bundle_files.KEY: 2})))
    with pytest.raises(InputError, match="a newer idealist wrote this bundle: version 2") as caught:
        opened(path)
    assert "update idealist" in caught.value.hint
    path.write_bytes(changed_index(made, lambda index: index.pop("runs")))
    with pytest.raises(InputError, match="no bundle that idealist wrote"):
        opened(path)
    path.write_text("q1 0 d1 1\n")
    with pytest.raises(InputError, match=r"x\.ilb"):
        opened(path)


def test_damage_is_found_wherever_it_is(tmp_path: Path) -> None:
    rng = random.Random(0)
    qrels, rows = some_case(rng, size=30)
    made = bundle(qrels, {"mine": il.read_run(spoken(rows), name="mine")})
    whole = il.evaluate(made.qrels, made.runs[0], "nDCG@10")
    path, found = tmp_path / "x.ilb", 0
    step = tries(149, 3)
    for at in range(0, len(made.content), step):
        data = bytearray(made.content)
        data[at] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        said, hint = refusal(path)
        if said:
            assert "x.ilb" in said
            assert hint
            found += 1
        else:  # what nobody reads, such as the time of a member
            assert opened(path).values["nDCG@10"].tobytes() == whole.values["nDCG@10"].tobytes()
    assert found > len(made.content) / step * 0.7
    for size in range(0, len(made.content), 2 * step):
        path.write_bytes(made.content[:size])
        with pytest.raises(InputError, match=r"x\.ilb"):
            opened(path)


def test_what_is_damaged_is_not_called_cut_off(tmp_path: Path) -> None:
    content, path = bundle(QRELS, {"mine": RUN}).content, tmp_path / "x.ilb"
    middle = len(content) // 2
    flipped = bytearray(content)
    flipped[content.rfind(b"PK\x01\x02") + 1] ^= 1  # in the list of members
    for data, words in (
        (bytes(flipped), "this bundle is damaged: "),
        (content[:middle] + content[middle + 9 :], "this bundle is damaged: "),
        (content[:middle], "this bundle is cut off: "),
        (content[:-1], "this bundle is cut off: "),
    ):
        path.write_bytes(data)
        assert words in refusal(path)[0]


def test_indexes_that_lie_are_refused(tmp_path: Path) -> None:
    rng = random.Random(1)
    made, path = bundle(QRELS, {"mine": RUN}), tmp_path / "x.ilb"
    junk: list[Any] = [None, -1, 2**70, "x", [], {}, [[1]], {"a": 1}, 1.5, True]
    refused = 0

    def spoil(value: Any) -> Any:
        if rng.random() < 0.15:
            return rng.choice(junk)
        if isinstance(value, dict):
            return {key: spoil(one) for key, one in value.items()}
        return [spoil(one) for one in value] if isinstance(value, list) else value

    for _ in range(tries(100, 3000)):
        path.write_bytes(
            changed_index(
                made, lambda index: index.update({key: spoil(one) for key, one in index.items()})
            )
        )
        refused += bool(refusal(path)[0])  # and nothing else is raised
    assert refused > tries(100, 3000) * 0.7


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("same", "x"), ("same", {"ties": 5}), ("same", {"grade": 1}), ("same", None),
        ("collapse", 7), ("collapse", None), ("lists", []), ("lists", {}), ("lists", "ab"),
        ("others", "q7"), ("others", [1]), ("unscored", -1), ("unscored", "1"),
        ("remarks", [["x", "y", "1", "note", 0]]), ("remarks", [["x", "y", 1, "bad", 0]]),
        ("name", ""), ("name", 3), ("name", "other"),
    ],
)  # fmt: skip
def test_runs_that_are_forged_are_refused(where: str, value: Any, tmp_path: Path) -> None:
    made, path = bundle(QRELS, {"mine": RUN, "other": RUN}), tmp_path / "x.ilb"
    path.write_bytes(changed_index(made, lambda index: index["runs"][0].update({where: value})))
    said, hint = refusal(path)
    assert "this is no bundle that idealist wrote" in said
    assert "make it anew" in hint


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("hash", ""), ("hash", None), ("queries", ["q2", "q1"]), ("queries", ["q1", "q1"]),
        ("queries", "ab"), ("scale", [["a"], []]), ("scale", 3), ("meant", "x"), ("trec", 1),
        ("repeats", -1), ("words", {"iteration": [1]}), ("remarks", 4),
    ],
)  # fmt: skip
def test_judgments_that_are_forged_are_refused(where: str, value: Any, tmp_path: Path) -> None:
    made, path = bundle(QRELS, {"mine": RUN}), tmp_path / "x.ilb"
    path.write_bytes(changed_index(made, lambda index: index["judgments"].update({where: value})))
    assert "this is no bundle that idealist wrote" in refusal(path)[0]


@pytest.mark.parametrize("version", [0, -1, True, "1", None, 1.0])
def test_versions_that_never_were_are_refused(version: Any, tmp_path: Path) -> None:
    made, path = bundle(QRELS, {"mine": RUN}), tmp_path / "x.ilb"
    path.write_bytes(changed_index(made, lambda index: index.update({bundle_files.KEY: version})))
    assert "this is no bundle that idealist wrote" in refusal(path)[0]


def test_a_changed_index_is_found(tmp_path: Path) -> None:
    made, path = bundle(QRELS, {"mine": RUN}), tmp_path / "x.ilb"
    swapped = {"queries": ["q3", "q4"]}
    whole = changed_index(made, lambda index: index["judgments"].update(swapped))
    path.write_bytes(whole)
    assert refusal(path) == ("", "")  # whoever can write a bundle can write a checksum
    with pytest.raises(UsageError, match="says that it was made with qrels, and was not"):
        il.evaluate(QRELS, read_bundle(path).runs[0], "AP")
    with zipfile.ZipFile(BytesIO(whole)) as archive:
        index = json.loads(archive.read(INDEX))
    assert index["checksum"] == bundle_index.checksum(index)
    index["runs"][0]["name"] = "yours"
    path.write_bytes(rewritten(made, {INDEX: json.dumps(index).encode()}))
    assert "bundle.json in this bundle was changed after it was written" in refusal(path)[0]


def test_grades_are_those_of_the_judgments(tmp_path: Path) -> None:
    for private in (False, True):
        made, path = bundle(QRELS, {"mine": RUN}, private=private), tmp_path / "x.ilb"
        same(il.evaluate(QRELS, made.runs[0], "AP"), il.evaluate(
            QRELS, il.read_run(RUN, name="mine"), "AP"))  # fmt: skip
        for grade in (0.0, 7.0, 1e300, float("nan")):
            path.write_bytes(with_grade(made, grade))
            if abs(grade) > 1e9 or grade != grade:
                assert "its grades contradict" in refusal(path)[0]
                continue
            assert refusal(path) == ("", "")
            with pytest.raises(UsageError, match="and was not: grades differ"):
                il.evaluate(QRELS, read_bundle(path).runs[0], "AP")


def with_grade(made: Bundle, grade: float) -> bytes:
    """Forge the grades of a bundle, and all checksums."""
    with zipfile.ZipFile(BytesIO(made.content)) as archive:
        index, data = json.loads(archive.read(INDEX)), archive.read("judgments")
    columns = index["judgments"]["columns"]
    assert [columns[0][0], *columns[1]] == ["sizes", "grade", "<f8", 5]
    head = data[: len(data) - 40]
    data = head + np.full(5, grade).tobytes()
    index["checksums"]["judgments"] = hashlib.sha256(data).hexdigest()
    return rewritten(made, {"judgments": data, INDEX: bundle_index.sealed(index)})


def rewritten(made: Bundle, parts: dict[str, bytes]) -> bytes:
    """Write a bundle with other members."""
    with zipfile.ZipFile(BytesIO(made.content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()} | parts
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return target.getvalue()


def test_bombs_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, path = bundle(QRELS, {"mine": RUN}), tmp_path / "x.ilb"
    read: list[str] = []
    usual = zipfile.ZipFile.read

    def noted(archive: zipfile.ZipFile, name: str) -> bytes:
        read.append(name)
        return usual(archive, name)

    bombs = (rewritten(made, {INDEX: b" " * 2**26}),
             rewritten(made, {"more": bytes(2**26)}),
             rewritten(made, {"judgments": bytes(2**20)}))  # fmt: skip
    monkeypatch.setattr(zipfile.ZipFile, "read", noted)
    for bomb, said in zip(bombs, ("unpack to more", "unpack to more", "sizes"), strict=True):
        path.write_bytes(bomb)
        read.clear()
        assert said in refusal(path)[0]
        assert read == ([INDEX] if said == "sizes" else [])


def test_bundles_on_another_scale(tmp_path: Path, run: Callable[..., Said]) -> None:
    il.write_qrels(il.read_qrels(QRELS), tmp_path / "q.txt")
    bundle(QRELS, {"mine": RUN}).save(tmp_path / "x.ilb")
    bundle(il.read_qrels(QRELS, scale=4), {"mine": RUN}).save(tmp_path / "y.ilb")
    il.write_run(il.read_run(RUN), tmp_path / "mine.run")
    measured: list[object] = ["-m", "ERR@10", "-f", "tsv", "-q"]
    for scale in ([], ["--scale", "3"], ["--scale", "4"]):
        plain = run("eval", tmp_path / "q.txt", tmp_path / "mine.run", *measured, *scale)
        for name in ("x.ilb", "y.ilb"):
            assert run("eval", tmp_path / "q.txt", tmp_path / name, *measured, *scale) == plain
        if scale:
            assert run("eval", tmp_path / "x.ilb", *measured, *scale) == plain
    own = il.read_qrels(tmp_path / "x.ilb")
    assert il.read_qrels(own, scale=3).hash not in (own.hash, il.read_qrels(own, scale=4).hash)


def test_names_that_are_no_utf8(tmp_path: Path, run: Callable[..., Said]) -> None:
    il.write_run(il.read_run(RUN), tmp_path / "mine.run")
    names = [os.fsdecode(bytes(tmp_path) + b"/caf" + byte + b".run") for byte in (b"\xe9", b"\xe8")]
    for name in names:
        shutil.copy(tmp_path / "mine.run", name)
    il.write_qrels(il.read_qrels(QRELS), tmp_path / "q.txt")
    made = run("bundle", tmp_path / "q.txt", *names, "-o", tmp_path / "x.ilb")
    assert made.code == 0, made.stderr
    assert [one.name for one in read_bundle(tmp_path / "x.ilb").runs] == ["caf?", "caf? (2)"]


def test_a_bundle_is_not_bundled_again(folder: Path, run: Callable[..., Said]) -> None:
    given = [folder / "qrels.txt", folder / "x.ilb"]
    found = run("bundle", *given, "-o", folder / "y.ilb")
    assert found.code == 2
    assert "a comes from a bundle" in found.stderr


def test_places_that_no_list_has_are_refused() -> None:
    made = bundle(QRELS, {"mine": RUN})
    source = made.runs[0].source
    assert isinstance(source, StoredPlacements)
    first = next(iter(source.lists.values()))
    for name, values in (("rank", 9), ("judgment", 99), ("first", 0), ("query", 1)):
        spoilt = {**first, name: np.full_like(first[name], values)}
        with pytest.raises((ValueError, IndexError)):
            bundle_files._check_places(spoilt, made.qrels)


class Said(NamedTuple):
    """What a command wrote, and its exit code."""

    stdout: str
    stderr: str
    code: int


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def command(*words: object) -> Said:
        code = 0
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
        return Said(*capfd.readouterr(), code)

    return command


@pytest.fixture
def folder(tmp_path: Path, run: Callable[..., Said]) -> Path:
    for name, data in {"a": RUN, "b": {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}}}.items():
        il.write_run(il.read_run(data), tmp_path / f"{name}.run")
    il.write_qrels(il.read_qrels(QRELS), tmp_path / "qrels.txt")
    made = run("bundle", *(tmp_path / one for one in ("qrels.txt", "a.run", "b.run")),
               "-o", tmp_path / "x.ilb")  # fmt: skip
    assert made.code == 0, made.stderr
    assert "2 runs over 2 queries" in made.stderr
    return tmp_path


def test_the_command_line_takes_bundles_for_runs(folder: Path, run: Callable[..., Said]) -> None:
    files = [folder / one for one in ("qrels.txt", "a.run", "b.run")]
    plain = run("eval", *files, "-m", "nDCG@10", "-m", "AP", "-f", "tsv")
    for given in (
        [folder / "x.ilb"],
        [folder / "qrels.txt", folder / "x.ilb"],
        [folder / "x.ilb", f"{folder / 'x.ilb'}#a", f"{folder / 'x.ilb'}#b"],
        [folder / "qrels.txt", f"{folder / 'x.ilb'}#a", folder / "b.run"],
    ):
        found = run("eval", *given, "-m", "nDCG@10", "-m", "AP", "-f", "tsv")
        assert found.code == 0, found.stderr
        assert found.stdout == plain.stdout
    for verb in (
        ["compare", folder / "x.ilb", "-m", "RR@10"],
        ["compare", folder / "x.ilb", "--baseline", "b", "-m", "RR@10"],
        ["gate", folder / "qrels.txt", f"{folder / 'x.ilb'}#a", f"{folder / 'x.ilb'}#b"],
        ["explain", f"{folder / 'x.ilb'}#a", "-m", "nDCG@10", "--query", "q1"],
        ["diagnose", f"{folder / 'x.ilb'}#a"],
        ["audit", folder / "x.ilb"],
        ["report", folder / "x.ilb", "-o", folder / "r.html"],
        ["reconcile", f"{folder / 'x.ilb'}#a", "-m", "RR@10", "--value", "0.75"],
    ):
        found = run(*verb)
        assert found.code in (0, 1), (verb, found.stderr)
    assert (folder / "r.html").exists()


def test_every_selection_of_a_bundle_counts(folder: Path, run: Callable[..., Said]) -> None:
    one, two = (f"{folder / 'x.ilb'}#{name}" for name in ("a", "b"))
    for given, names in (([one], "a"), ([one, two], "ab"), ([two, one], "ba")):
        found = run("eval", *given, "-m", "RR@10", "-f", "tsv", "-q")
        assert [line[0] for line in found.stdout.splitlines()[1:]] == list(names)
    compared = run("compare", one, two, "-m", "RR@10", "-f", "json")
    assert '"run": "b"' in compared.stdout
    gated = [run("gate", *given, one, two, "-m", "RR@10") for given in ([folder / "x.ilb"], [])]
    assert gated[0].stdout == gated[1].stdout != ""
    explained = run("explain", one, two, "-m", "RR@10", "--query", "q1")
    assert "and no others" in explained.stderr  # as of any two runs
    for words in (["gate", one, one, two], ["diagnose", one, two],
                  ["reconcile", one, two, "-m", "RR@10", "--value", "1"]):  # fmt: skip
        found = run(*words)
        assert found.code == 2, words
        assert "x.ilb#a names a run of a bundle where judgments are wanted" in found.stderr
        assert found.stderr.rstrip().endswith("x.ilb")


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_verbs_take_every_convention(
    convention: str, folder: Path, run: Callable[..., Said]
) -> None:
    for given in ([f"{folder / 'x.ilb'}#a"], [folder / "qrels.txt", f"{folder / 'x.ilb'}#a"]):
        for verb in ("eval", "audit", "diagnose"):
            found = run(verb, *given, "-c", convention, "-m", "nDCG@10")
            assert "other judgments" not in found.stderr
            assert found.code in (0, 1), (verb, given, found.stderr)


def test_an_audit_sees_the_rank_column_in_a_bundle() -> None:
    qrels = {f"q{i}": {f"d{j}": int(j < 3) for j in range(6)} for i in range(8)}
    rows = [(q, f"d{j}", j + 1, float(j)) for q in qrels for j in range(6)]
    names = ("query", "document", "rank", "score")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    plain = il.audit(qrels, il.read_run(table, name="mine"))
    made = bundle(qrels, il.read_run(table, name="mine"))
    kept = il.audit(made.qrels, made.runs)
    found = [one for one in plain.findings if one.code == "rank-column"]
    (same_,) = [one for one in kept.findings if one.code == "rank-column"]
    assert (found[0].severity, found[0].finding) == ("error", same_.finding)
    assert found[0].price == same_.price


def test_pairs_to_judge_are_not_offered_of_bundles(folder: Path, run: Callable[..., Said]) -> None:
    found = run("audit", folder / "x.ilb", "--details")
    assert "judge.tsv" not in found.stdout
    refused = run("audit", folder / "x.ilb", "--to-judge", folder / "judge.tsv")
    assert refused.code == 2
    assert "--to-judge lists documents, and bundles have none" in refused.stderr
    assert not (folder / "judge.tsv").exists()


def test_the_command_line_refuses_what_no_bundle_can_do(
    folder: Path, run: Callable[..., Said]
) -> None:
    bundled = folder / "x.ilb"
    for words, said in (
        (["bundle", folder / "qrels.txt", folder / "a.run", "-o", folder / "x.zip"], "end in .ilb"),
        (["bundle", bundled, bundled, "-o", folder / "y.ilb"], "is a bundle already"),
        (["eval", bundled, folder / "a.run"], "cannot be ranked with its judgments"),
        (["explain", bundled, "-m", "AP", "--query", "q1"], "and no others"),
        (["diagnose", bundled], "is a bundle of 2 runs, and one is wanted"),
        (["gate", folder / "qrels.txt", folder / "a.run", bundled], "bundle of 2 runs"),
        (["fuse", bundled], "no others"),
        (["convert", bundled, folder / "out.run"], "this is a bundle"),
        (["eval", folder / "qrels.txt", f"{bundled}#c"], "has no run 'c'"),
    ):
        found = run(*words)
        assert found.code == 2, (words, found.stderr)
        assert said in found.stderr, found.stderr
        assert "Traceback" not in found.stderr


def test_a_bundle_of_which_no_id_meets_says_so(folder: Path, run: Callable[..., Said]) -> None:
    (folder / "far.run").write_text("q7 Q0 d1 1 1.0 far\n")
    run("bundle", folder / "qrels.txt", folder / "far.run", "-o", folder / "far.ilb")
    for verb in ("eval", "verify"):
        claim = ["--claim", "far RR 0.0"] if verb == "verify" else []
        found = run(verb, folder / "far.ilb", *claim)
        assert found.code == 2
        assert "no id of far matches the judgments, so nothing was measured" in found.stderr


def test_a_verb_that_reads_text_says_that_a_bundle_is_none(
    folder: Path, run: Callable[..., Said]
) -> None:
    found = run("trec-eval", folder / "qrels.txt", folder / "x.ilb")
    assert "this is a bundle, and text is wanted" in found.stderr


def test_bounds_of_values_need_no_documents(folder: Path, run: Callable[..., Said]) -> None:
    files = [folder / one for one in ("qrels.txt", "a.run", "b.run")]
    for reach in ("list", "collection"):
        asked = ["-m", "nDCG@10,AP,RR,R@5", "--bounds", "--reach", reach, "-f", "json"]
        plain, kept = (json.loads(run("eval", *given, *asked).stdout)["runs"]
                       for given in (files, [folder / "x.ilb"]))  # fmt: skip
        assert [one["bounds"] for one in plain] == [one["bounds"] for one in kept]


def test_a_bundle_is_a_pilot(folder: Path, run: Callable[..., Said]) -> None:
    files = [folder / one for one in ("qrels.txt", "a.run", "b.run")]
    plain, kept = (run("power", *given, "-m", "nDCG@10", "-f", "json", "--queries", "50")
                   for given in (files, [folder / "x.ilb"]))  # fmt: skip
    assert plain.code == kept.code == 0
    assert json.loads(plain.stdout) == json.loads(kept.stdout)


def test_a_bundle_that_is_piped_or_compressed_is_named(
    folder: Path, run: Callable[..., Said]
) -> None:
    data = (folder / "x.ilb").read_bytes()
    (folder / "x.ilb.gz").write_bytes(gzip.compress(data))
    for given in ([folder / "x.ilb.gz"], [folder / "qrels.txt", folder / "x.ilb.gz"]):
        found = run("eval", *given)
        assert found.code == 2
        assert "this is a bundle that was compressed, or piped" in found.stderr


def test_a_file_that_is_named_like_a_run_of_a_bundle(
    folder: Path, run: Callable[..., Said]
) -> None:
    (folder / "runs").mkdir()
    shutil.copy(folder / "a.run", folder / "runs" / "z.ilb#y")
    shutil.copy(folder / "b.run", folder / "runs" / "b.run")
    found = run("eval", folder / "qrels.txt", folder / "runs", "-m", "RR", "-f", "tsv", "-q")
    assert found.code == 0, found.stderr
    assert [line.split("\t")[0] for line in found.stdout.splitlines()[1:]] == ["b", "z.ilb#y"]


def test_a_bundle_of_many_queries_is_small(tmp_path: Path) -> None:
    rng = random.Random(3)
    queries = [f"{rng.randrange(10**7)}" for _ in range(400)]
    qrels = {q: {f"{rng.randrange(8 * 10**6)}": 1} for q in queries}
    rows = {
        q: {**{f"{rng.randrange(8 * 10**6)}": rng.random() * 20 for _ in range(300)},
            next(iter(qrels[q])): rng.random() * 20}
        for q in queries
    }  # fmt: skip
    il.write_run(il.read_run(rows), tmp_path / "a.run")
    made = bundle(qrels, [tmp_path / "a.run"])
    assert len(made.content) < 0.02 * (tmp_path / "a.run").stat().st_size


def test_real_runs(data: Path) -> None:
    folder = data / "trec-covid-r1"
    files = sorted((folder / "runs").iterdir())
    made = bundle(folder / "qrels.txt", files)
    for i, name in enumerate(CONVENTIONS):
        for path, kept in [*zip(files, made.runs, strict=True)][i % 12 :: tries(12, 1)]:
            one = tried(folder / "qrels.txt", path, ["nDCG@10", "AP", "RR@10", "bpref"],
                        convention=name)  # fmt: skip
            two = tried(made.qrels, kept, ["nDCG@10", "AP", "RR@10", "bpref"], convention=name)
            if isinstance(one, str):
                assert isinstance(two, str), name
            else:
                assert isinstance(two, Evaluation), f"{name} {path}: {two}"
                same(one, two)


def test_both_kernels_write_the_same_bytes(
    folder: Path, run: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        f"q{i} Q0 d{j} {9 - j} {j % 3} t" for i in (1, 2) for j in range(9)
    ]  # ranks beside ties
    (folder / "ranked.run").write_text("\n".join(rows) + "\n")
    files = [folder / "qrels.txt", folder / "ranked.run", folder / "a.run"]
    assert run("bundle", *files, "-o", folder / "usual.ilb").code == 0
    monkeypatch.setenv("IDEALIST_KERNEL", "python")
    assert run("bundle", *files, "-o", folder / "python.ilb").code == 0
    made = read_bundle(folder / "usual.ilb")
    assert {one.order for one in _lists(made.runs[0])} == {"score", "rank", "given"}
    assert made.content == (folder / "python.ilb").read_bytes()


def _lists(run: il.Run) -> list[Any]:
    assert isinstance(run.source, StoredPlacements)
    return [*run.source.lists]
