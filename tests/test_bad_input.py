"""Bad input: the right error each, exit 2, no traceback, no partial output."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faulty import CASES as TEXT_CASES
from faulty import COMPRESSED, QRELS, RUN, Case, text, write_good
from faulty_records import RECORD_CASES
from faulty_tables import TABLE_CASES
from idealist import (
    Protocol,
    evaluate,
    listing,
    read_pairs,
    read_qrels,
    read_queries,
    read_run,
    write_run,
)
from idealist.cli.main import main
from idealist.errors import CODES, SHOWN, InputError
from waiting import PATIENCE

CASES = (*TEXT_CASES, *TABLE_CASES, *RECORD_CASES)
FIRST_OF_CLASS = list({case.fault: case for case in reversed(CASES)}.values())


class Outcome(NamedTuple):
    """What the shell sees of a command."""

    code: object
    out: str
    err: str


def run_command(arguments: list[str]) -> Outcome:
    out, err, code = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as leaving:
            code = leaving.code
    return Outcome(code or 0, out.getvalue(), err.getvalue())


def named(cases: list[Case] | tuple[Case, ...]) -> list[Any]:
    return [pytest.param(case, id=f"{case.fault}-{n}") for n, case in enumerate(cases)]


def check_refused(case: Case, folder: Path, outcome: Outcome) -> None:
    path = case.path(folder)
    where = f"{path}:{case.line}: " if case.line else f"{path}: "
    faults = [line for line in outcome.err.splitlines() if line.endswith("]") and "[" in line]
    assert outcome.code == 2
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    assert outcome.err.startswith(f"error: {where}")
    assert faults[0].endswith(f"[{case.code}]")
    assert case.says in faults[0].removeprefix(f"error: {where}")
    assert "\n  hint: " in outcome.err
    assert len(faults) == min(case.more + 1, SHOWN)
    rest = f"… and {case.more + 1 - SHOWN} more faults\n"
    assert (rest in outcome.err) == (case.more >= SHOWN)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder to put files into; what was locked in it is unlocked again."""
    yield tmp_path
    for path in tmp_path.iterdir():
        if path.is_dir():
            path.chmod(0o700)


def test_the_cases_are_many_different_and_of_many_classes() -> None:
    assert len(CASES) >= 600
    assert len(RECORD_CASES) >= 150
    assert len({case.fault for case in CASES}) >= 25
    distinct = {(case.content, case.side, case.name, case.options) for case in CASES}
    assert len(distinct) == len(CASES)


@pytest.mark.parametrize("case", named(CASES))
def test_a_bad_file_is_refused_with_code_place_value_and_remedy(case: Case, place: Path) -> None:
    check_refused(case, place, run_command(case.arguments(place)))


@pytest.mark.parametrize("case", named(FIRST_OF_CLASS))
def test_no_output_file_comes_to_exist(case: Case, place: Path) -> None:
    results = place / "results"
    results.mkdir()
    options = ["-o", str(results / "out.json"), "-f", "json"]
    check_refused(case, place, run_command([*case.arguments(place), *options]))
    assert not list(results.iterdir())


def test_an_output_file_of_before_is_kept(tmp_path: Path) -> None:
    before = tmp_path / "out.txt"
    before.write_text("precious")
    run_command([*CASES[0].arguments(tmp_path), "-o", str(before)])
    assert before.read_text() == "precious"


def test_a_bad_run_behind_good_ones_leaves_no_partial_output(tmp_path: Path) -> None:
    case = next(case for case in CASES if case.fault == "nan-score")
    verb, qrels, bad, *options = case.arguments(tmp_path)
    good = str(tmp_path / "good.run")
    check_refused(case, tmp_path, run_command([verb, qrels, good, good, bad, *options]))


def test_the_good_files_are_good(tmp_path: Path) -> None:
    outcome = run_command(["eval", *map(str, write_good(tmp_path))])
    assert outcome.code == 0
    assert "nDCG@10" in outcome.out


@pytest.mark.parametrize("case", named(FIRST_OF_CLASS[::9]))
def test_a_real_process_refuses_a_bad_file(case: Case, place: Path) -> None:
    script = Path(sys.executable).with_name("idealist")
    done = subprocess.run(
        [script, *case.arguments(place)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    check_refused(case, place, Outcome(done.returncode, done.stdout, done.stderr))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"q1 0 d1 x\n", b"error: <stdin>:1: grade 'x'"),
        (COMPRESSED["gz"](text(QRELS))[:-1], b"error: <stdin>: the .gz data ends early"),
        (b"", b"error: <stdin>: the file is empty"),
    ],
)
def test_standard_input_is_checked_as_files_are(
    content: bytes, says: bytes, tmp_path: Path
) -> None:
    script, (_, run) = Path(sys.executable).with_name("idealist"), write_good(tmp_path)
    done = subprocess.run(
        [script, "eval", "-", run],
        input=content,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(says)


def test_every_code_has_a_case_and_every_case_a_code() -> None:
    # from Python alone; of a baseline, in test_gate.py; of a prompt, in test_prompts.py; of a log of
    # clicks, in test_click_comparison.py; of evidence, in test_evidence.py; of a request, in
    # test_collect.py; of clicks, in test_clicks.py
    elsewhere = {
        "off-scale", "checksum", "bad-prompt", "bad-click", "unknown-list", "bad-span",
        "bad-template", "no-skips",
    }  # fmt: skip
    assert {case.code for case in CASES} | elsewhere == CODES.keys()


def refused(act: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as caught:
        act()
    return caught.value


PYTHON: list[tuple[str, str, Callable[[], object]]] = [
    ("off-scale", "grade 3", lambda: read_qrels({"q": {"d": 3}}, scale=2)),
    ("off-scale", "grade 0.5", lambda: read_qrels({"q": {"d": 0.5, "e": 1}}, scale=[0, 1])),
    ("bad-shape", "int", lambda: read_qrels(5)),
    ("bad-shape", "bytes", lambda: read_run(b"q1 Q0 d1 1 1 t")),
    ("bad-shape", "record 1", lambda: read_pairs([{"retrieved": ["d1"]}])),
    ("bad-shape", "record 1", lambda: read_queries(["q1"])),
    ("bad-shape", "queries", lambda: read_queries(5)),
    ("duplicate-key", "record 2", lambda: read_pairs(
        [{"query": 1, "retrieved": [], "ground_truth": {"d": 1}}] * 2)),
    ("bad-id", "None", lambda: read_qrels({None: {"d": 1}})),
    ("bad-id", "b'd'", lambda: read_run({"q": [b"d"]})),
    ("bad-id", "1.5", lambda: read_queries({1.5: "text"})),
    ("bad-grade", "nan", lambda: read_qrels({"q": {"d": math.nan}})),
    ("bad-grade", "b'1'", lambda: read_qrels({"q": {"d": b"1"}})),
    ("bad-score", "object", lambda: read_run({"q": {"d": object()}})),
    ("bad-column", "lengths", lambda: read_run({"query": ["q"], "document": np.array(["d", "e"])})),
    ("bad-column", "'score'", lambda: read_run(
        {"query": ["q"], "document": ["d"], "score": np.array(0.5)})),
    ("bad-column", "score and rank are columns of a run", lambda: read_qrels(
        {"query": ["q"], "document": ["d"], "score": [1.5], "rank": [1]})),
    ("bad-column", "these are judgments", lambda: evaluate(
        {"q": {"d": 1}},
        {key: np.array([key[0]]) for key in ("query", "document")} | {"label": np.array([1])})),
    ("bad-column", "5", lambda: read_qrels({"q": {"d": {"grade": 1, 5: 1}}})),
    ("missing-column", "no grades", lambda: read_qrels({"query": ["q"], "document": ["d"]})),
    ("missing-column", "no ranks", lambda: evaluate(
        {"q": {"d": 1}}, {"q": ["d"]}, order="rank")),
    ("empty", "no judgments", lambda: read_qrels({})),
    ("empty", "no rows", lambda: read_run([])),
    ("empty", "none of the queries", lambda: evaluate(
        {"q": {"d": 1}}, {"q": ["d"]}, queries=["other"])),
    ("no-file", "no such file", lambda: read_qrels("nul\x00byte")),
    ("no-file", "no such file", lambda: read_run(Path("gone") / "away.run")),
    ("duplicate", "'d'", lambda: listing(
        read_run({"q": ["d", "d"]}), Protocol(), ["q"])),
]  # fmt: skip


@pytest.mark.parametrize(("code", "says", "act"), PYTHON)
def test_bad_python_data_is_refused(code: str, says: str, act: Callable[[], object]) -> None:
    error = refused(act)
    assert error.code == code
    assert says in error.faults[0].message
    assert error.hint


def test_an_error_holds_its_faults_for_programs(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(text([f"q1 0 d{i} x" for i in range(25)]))
    error = refused(lambda: read_qrels(path))
    assert (error.code, error.file, error.line) == ("bad-grade", str(path), 1)
    assert [fault.line for fault in error.faults] == list(range(1, 11))
    assert error.total == 25
    assert str(error).splitlines()[10] == "… and 15 more faults"


def test_faults_of_several_kinds_are_reported_together(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_bytes(b"q1 0 d1\nq1 0 d2 x\nq1 0 d3 inf\n")
    error = refused(lambda: read_qrels(path))
    assert [(fault.code, fault.line) for fault in error.faults] == [
        ("columns", 1), ("bad-grade", 2), ("bad-grade", 3),
    ]  # fmt: skip


def test_a_bad_grade_hides_no_column_of_the_rows_behind_it() -> None:
    rows = {"q": {"d": {"grade": "x", "cost": 1}, "e": {"grade": 1, "cost": 1}}}
    assert refused(lambda: read_qrels(rows)).total == 1


def test_faults_of_all_queries_are_reported_together() -> None:
    run = {"q1": ["d", "d"], "q2": ["d", "e", "e"]}
    error = refused(lambda: evaluate({"q1": {"d": 1}, "q2": {"d": 1}}, run))
    assert error.total == 2


def test_errors_stay_short_however_large_the_value_is() -> None:
    error = refused(lambda: read_qrels({"q": {"d": ["x" * 10_000] * 10_000}}))
    assert len(str(error)) < 1000


def test_a_deep_value_is_refused_at_any_depth(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    for depth in range(sys.getrecursionlimit() - 200, sys.getrecursionlimit() + 20, 7):
        for head, tail in ((b'{"q": {"d": ', b"}}"), (b'{"q": ', b"}"), (b"", b"")):
            path.write_bytes(head + b"[" * depth + b"]" * depth + tail)
            assert refused(lambda: read_qrels(path)).code in {"json", "bad-grade", "bad-shape"}


def test_parts_of_a_compressed_file_are_all_read(tmp_path: Path) -> None:
    for suffix, pack in COMPRESSED.items():
        path = tmp_path / f"parts.{suffix}"
        path.write_bytes(pack(text(QRELS[:3])) + pack(text(QRELS[3:])))
        assert read_qrels(path).queries == ("q1", "q2", "q3")


def test_a_query_may_hold_signs_that_only_unicode_calls_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "queries.tsv"
    path.write_text("q1\tone\u2028two\nq2\tthree\x0cfour\r\n", "utf-8", newline="")
    assert read_queries(path).text == {"q1": "one\u2028two", "q2": "three\x0cfour"}


def test_a_device_as_output_is_written_and_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "device"
    link.symlink_to(os.devnull)
    good = map(str, write_good(tmp_path))
    assert run_command(["eval", *good, "-o", str(link)]).code == 0
    assert link.is_symlink()
    assert not Path(os.devnull).is_file()


USAGE = [
    (["-m", "nDGC@10"], "there is no measure 'nDGC'", "did you mean nDCG"),
    (["-m", "ndcg_cutt"], "there is no measure 'ndcg_cutt'", "did you mean"),
    (["-m", "nDCG@0"], "nDCG cannot be cut at 0", "whole number"),
    (["-m", "nDCG(gain=exp2"], "is not a measure", "NAME@CUTOFF"),
    (["-m", "nDCG(gian=exp2)"], "'gian'", "did you mean gain"),
    (["-m", "AP(rel=high)"], "rel cannot be 'high'", "a number"),
    (["-c", "trec"], "there is no convention 'trec'", "did you mean trec_eval"),
    (["-c", "zzz"], "there is no convention 'zzz'", "known: "),
    (["-m", "NDCG10"], "there is no measure 'NDCG10'", "did you mean nDCG@10?"),
    (["-m", "hit rate@10"], "'hit rate@10' is not one measure", "did you mean Success@10?"),
    (["-m", "AP RR"], "'AP RR' is not one measure", "write a -m for each"),
    (["--set", "tie=best"], "there is no axis 'tie'", "did you mean ties"),
    (["--set", "convention=sklearn"], "there is no axis 'convention'", "known: precision"),
    (["--set", "ties=alphabetical"], "ties cannot be 'alphabetical'", "docid-desc"),
    (["--set", "ties=random(x)"], "ties cannot be 'random(x)'", "random(SEED)"),
    (["--set", "depth=0"], "depth cannot be '0'", "number of documents"),
    (["--set", "collapse=("], "collapse cannot be '('", "a pattern"),
    (["--set", "round=query"], "round cannot be 'query'", "query(DIGITS)"),
    (["--set", "exclude_self=maybe"], "cannot be 'maybe'", "true or false"),
    (["--set", "ties"], "--set 'ties' cannot be read", "AXIS=VALUE"),
    (["--set", "=best"], "--set '=best' cannot be read", "AXIS=VALUE"),
    (["--set", "ties="], "--set 'ties=' cannot be read", "AXIS=VALUE"),
    (["--set", "ties=best", "--set", "ties=worst"], "ties is given twice", "once"),
    (
        ["--set", "ties=expected", "--set", "depth=5"],
        "does not work with a depth",
        "cut the measure",
    ),
    (["--set", "p=0.5"], "none of these measures has the axis 'p'", "leave it out"),
    (["-o", "gone/out.txt"], "cannot write gone/out.txt", "check the folder"),
]


@pytest.mark.parametrize(("options", "says", "hint"), USAGE)
def test_bad_usage_is_refused_in_one_line_and_a_hint(
    options: list[str], says: str, hint: str, tmp_path: Path
) -> None:
    outcome = run_command(["eval", *map(str, write_good(tmp_path)), *options])
    error, remedy = outcome.err.splitlines()
    assert (outcome.code, outcome.out) == (2, "")
    assert error.startswith("error: ")
    assert says in error
    assert remedy.startswith("  hint: ")
    assert hint in remedy


def test_standard_input_cannot_be_read_twice() -> None:
    outcome = run_command(["eval", "-", "-"])
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "error: standard input (-) can be read only once\n  hint: give files for the others\n"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["evaluate"], "evaluate"),
        (["eval"], "QRELS"),
        (["eval", "qrels.txt"], "no such file"),
        (["eval", "qrels.txt", "run.txt", "--measures", "AP"], "--measure"),
        (["eval", "qrels.txt", "run.txt", "-f", "xml"], "xml"),
        (["measures", "nDGC"], "did you mean nDCG"),
        (["signature", "expand", "nonsense"], "nonsense"),
        (["signature", "expand", "nDCG@10|trec_eval+x|qrels:1|rules:1"], "is not a signature"),
    ],
)
def test_a_command_line_that_does_not_fit_is_refused(arguments: list[str], says: str) -> None:
    outcome = run_command(arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert says in outcome.err


def check_survived(outcome: Outcome, path: Path) -> None:
    """Whatever the bytes: a result that can be written, or an error that names the file.

    Where both files can be read, the error may be that their ids do not meet.
    """
    if outcome.code == 0:
        assert outcome.out.encode()
        return
    error = outcome.err.splitlines()[0]
    assert (outcome.code, outcome.out) == (2, "")
    if error.startswith("error: no id of"):
        return
    assert error.startswith(f"error: {path}:")
    code = re.search(r"\[([a-z-]+)\]$", error)
    assert code is not None
    assert code[1] in CODES


GOOD = {
    "qrels": [
        text(QRELS), text(QRELS, "\r\n"), text(["# judged", *QRELS], last=""),
        text(["query,document,grade,judge", 'q1,d1,1,"a ""b"""', "q1,d2,0,", "q2,,0,"]),
        text(["query-id\tcorpus-id\tscore", "q1\td1\t1", "q2\td2\t3"]),
        text(['{"query": "q1", "document": "d1", "grade": 1}', '{"qid": "q2", "pid": "d"}']),
    ],
    "run": [
        text(RUN), text(RUN, "\r\n"), text(["# a run", *RUN], last=""),
        text(["query;document;score;tokens", "q1;d1;0.5;7", "q2;;;"]),
        text(["Query Text,Doc ID,Doc Position", "q1,d1,1", '"q, 2",d2,1']),
        text(["q1\td1\t1", "q1\td2\t2"]),
        text(['{"query": "q1", "document": "d1", "score": 1}', '{"query": "q2", "document": null}']),
    ],
}  # fmt: skip
JSON = {
    "qrels": [
        {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": {"grade": 2, "cost": 1.5}}},
        {"q1": ["d1", "d2"], "q2": ["d3"]},
        [["q1", "d1", 1], ["q1", "d2", 0], ["q2", "d3", 2]],
        [{"query_id": "q1", "doc_id": "d1", "relevance": 1, "judge": "a", "subtopic": "s"}],
        {"query": ["q1", "q2"], "document": ["d1", "d2"], "grade": [1, 2], "rank": [1, 2]},
        {"requests": [{"id": "q1", "ratings": [{"_id": "d1", "rating": 1}]}]},
    ],
    "run": [
        {"q1": {"d1": 0.5, "d2": -1e-3}, "q2": {"d3": 7}, "q3": {}},
        {"q1": ["d2", "d1"], "q2": []},
        {"q1": [["d1", 0.5], ["d2", 0.25]]},
        [["q1", "d1", 1], ["q2", "d2", 0.5]],
        [{"qid": "q1", "docno": "d1", "score": 1, "rank": 1}],
        {"query": ["q1", "q2"], "document": ["d1", "d2"], "score": [1, 2.5], "rank": [1, 1]},
        {"q1": {"hits": {"hits": [{"_id": "d1", "_score": 1.5}]}}, "q2": {"hits": {"hits": []}}},
        {"metric_score": 1, "details": {"q1": {"hits": [{"hit": {"_id": "d1", "_score": 1}}]}}},
        {"q1": [{"document": "d1", "score": 1, "tokens": 5}, {"document": "d2", "score": 0}]},
    ],
}
AXES = [
    [], ["--set", "order=rank"], ["--set", "ties=error"], ["-c", "sklearn"], ["-c", "trec_eval-9"],
    ["--set", "nonfinite=last"], ["--set", "duplicates=last", "--set", "nonfinite=as_is"],
    ["--set", "order=given"], ["--set", "collapse=\\d+"], ["-f", "json", "--per-query"],
]  # fmt: skip
SNIPPETS = [
    b"nan", b"inf", b"-", b"1e999", b"1_0", b"\t", b" ", b"\r", b"\n", b"#", b"\x00", b"\xff",
    b"\xef\xbb\xbf", b"\x1f\x8b", b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\ud800",
    b"null", b"true", b'""', b"query", b"document", b"grade", b"d1", b"q1", b"0", b"9" * 30, b"{}",
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, content: bytes) -> bytes:
    """Flip, delete, insert, cut, repeat and move bytes and lines."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        until = draw(st.integers(at, min(len(content), at + 12)))
        what = draw(st.sampled_from(["flip", "delete", "insert", "cut", "repeat", "swap"]))
        lines = content.split(b"\n")
        if what == "flip" and at < len(content):
            flip = 1 << draw(st.integers(0, 7))
            content = content[:at] + bytes([content[at] ^ flip]) + content[at + 1 :]
        elif what == "delete":
            content = content[:at] + content[until:]
        elif what == "insert":
            content = content[:at] + draw(st.sampled_from(SNIPPETS)) + content[until:]
        elif what == "cut":
            content = content[:at]
        else:
            one, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
            lines[one] = lines[other] + b"\n" + lines[one] * (what == "repeat")
            content = b"\n".join(lines)
    return content


IDS = st.sampled_from(["q1", "q2", "d1", "d2", "", "query", "document", "grade", "score", "\ud800"])
NUMBERS = st.sampled_from([0, 1, 2.5, -1, math.nan, math.inf, 10**400, "1", "x", True, None])
TREES: st.SearchStrategy[Any] = st.recursive(
    IDS | NUMBERS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(IDS, inner, max_size=3),
    max_leaves=12,
)


def grafted(data: Any, path: list[int], branch: Any) -> Any:
    """Replace one part of a JSON value."""
    if not path or not isinstance(data, (list, dict)) or not data:
        return branch
    keys = list(range(len(data)) if isinstance(data, list) else data)
    key, copy = keys[path[0] % len(keys)], data.copy()
    copy[key] = grafted(data[key], path[1:], branch)
    return copy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fuzz")
    write_good(path)
    return path


def check_fuzzed(folder: Path, side: str, content: bytes, axes: list[str]) -> None:
    path = folder / f"{side}.fuzzed"
    path.write_bytes(content)
    paths = {"qrels": folder / "good.qrels", "run": folder / "good.run", side: path}
    outcome = run_command(["eval", str(paths["qrels"]), str(paths["run"]), *axes])
    check_survived(outcome, path)


#: A few hundred files each; set the variable to look for longer.
fuzzing = settings(
    max_examples=int(os.environ.get("IDEALIST_FUZZ_EXAMPLES", "300")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SIDES = st.sampled_from(["qrels", "run"])


@fuzzing
@given(data=st.data(), side=SIDES, axes=st.sampled_from(AXES))
def test_mutated_text_is_read_or_refused(
    folder: Path, data: st.DataObject, side: str, axes: list[str]
) -> None:
    content = data.draw(st.sampled_from(GOOD[side]).flatmap(mutated))
    check_fuzzed(folder, side, content, axes)


@fuzzing
@given(data=st.data(), side=SIDES, axes=st.sampled_from(AXES))
def test_mutated_json_text_is_read_or_refused(
    folder: Path, data: st.DataObject, side: str, axes: list[str]
) -> None:
    written = [
        json.dumps(one, indent=indent).encode() for one in JSON[side] for indent in (None, 1)
    ]
    content = data.draw(st.sampled_from(written).flatmap(mutated))
    check_fuzzed(folder, side, content, axes)


@fuzzing
@given(
    data=st.data(), side=SIDES, axes=st.sampled_from(AXES), branch=TREES,
    path=st.lists(st.integers(0, 9), max_size=4),
)  # fmt: skip
def test_json_of_any_shape_is_read_or_refused(
    folder: Path, data: st.DataObject, side: str, axes: list[str], branch: Any, path: list[int]
) -> None:
    good = data.draw(st.sampled_from(JSON[side]))
    check_fuzzed(folder, side, json.dumps(grafted(good, path, branch)).encode(), axes)


@fuzzing
@given(data=st.data(), suffix=st.sampled_from(["gz", "xz", "zst"]))
def test_mutated_compressed_data_is_read_or_refused(
    folder: Path, data: st.DataObject, suffix: str
) -> None:
    content = data.draw(mutated(COMPRESSED[suffix](text(RUN))))
    check_fuzzed(folder, "run", content, [])


@fuzzing
@given(data=st.data(), suffix=st.sampled_from(["parquet", "arrow"]))
def test_mutated_columns_are_read_or_refused(
    folder: Path, data: st.DataObject, suffix: str
) -> None:
    path = folder / f"good.{suffix}"
    if not path.exists():
        write_run(folder / "good.run", path)
    check_fuzzed(folder, "run", data.draw(mutated(path.read_bytes())), [])
