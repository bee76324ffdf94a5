"""Many runs: however many processes share them, results are those of one, in their order."""

from __future__ import annotations

import gzip
import json
import math
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealist as il
from idealist.cli.main import main
from idealist.conventions import CONVENTIONS, convention
from idealist.errors import InputError
from idealist.evaluating import many_runs
from idealist.evaluating.many_runs import Job, Worker, processes_for
from idealist.formats import read_run
from idealist.measures.base import Measure
from kernels import posix
from waiting import PATIENCE

MEASURES = ["nDCG@10", "AP", "RR@10", "Judged@5"]
COUNT = 14


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments, and runs that tie, lack queries, and have some that are not judged."""
    rng, found = np.random.default_rng(7), tmp_path_factory.mktemp("many")
    judged = [f"q{q} 0 d{d} {rng.integers(0, 4)}\n" for q in range(9) for d in range(0, 40, 3)]
    (found / "qrels.txt").write_text("".join(judged))
    (found / "runs").mkdir()
    for number in range(COUNT):
        lines = []
        for query in range(number % 3, 10):
            documents = rng.permutation(40)[: rng.integers(3, 30)].tolist()
            scores = np.sort(rng.integers(0, 12, len(documents)))[::-1].tolist()
            for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1):
                lines.append(f"q{query} Q0 d{document} {rank} {score} s{number}\n")
        text = "".join(lines).encode()
        ending, data = (".gz", gzip.compress(text)) if number % 5 == 4 else ("", text)
        (found / "runs" / f"s{number:02}.run{ending}").write_bytes(data)
    return found


@pytest.fixture
def paths(folder: Path) -> list[str]:
    return sorted(str(path) for path in (folder / "runs").iterdir())


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Worker]]:
    """Have two processes share any work in small shares; list workers that were started."""
    started: list[Worker] = []
    start = Worker.__init__

    def noted(self: Worker, work: bytes) -> None:
        start(self, work)
        started.append(self)

    monkeypatch.setattr(Worker, "__init__", noted)
    monkeypatch.setattr(many_runs, "START", 1e-9)
    monkeypatch.setattr(many_runs, "SHARE", many_runs.EACH)
    monkeypatch.setenv("IDEALIST_THREADS", "2")
    yield started
    assert all(one._process.returncode is not None for one in started), "a worker is left"


@pytest.fixture
def shared(workers: list[Worker], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let workers do all they can; list the runs that they did."""
    done: list[str] = []
    ask = Worker.__call__

    def noted(self: Worker, jobs: Any) -> Any:
        found = ask(self, jobs)
        done.extend(str(job.given) for job, one in zip(jobs, found, strict=True) if one)
        return found

    monkeypatch.setattr(Worker, "__call__", noted)
    monkeypatch.setattr(many_runs.Share, "help", lambda *_: False)
    return done


def plain(found: Any) -> list[Any]:
    """Give everything of evaluations, values to the bit."""
    return [
        (one.data(), [values.tobytes() for values in one.values.values()], one.doubts, one.queries)
        for one in found
    ]


def test_workers_find_what_one_process_finds(
    folder: Path, paths: list[str], shared: list[str]
) -> None:
    for axes in ({}, {"convention": "pytrec_eval"}, {"missing": "skip", "queries": ["q1", "q4"]}):
        evaluator = il.Evaluator(folder / "qrels.txt", MEASURES, **axes)
        alone = plain(map(evaluator, paths))
        assert any(one[2] for one in alone)  # doubts are among what is compared
        assert plain(evaluator.each(paths)) == alone
        assert sorted(shared) == paths
        shared.clear()


def test_the_caller_does_its_share(
    folder: Path, paths: list[str], workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_THREADS", "3")
    evaluator = il.Evaluator(folder / "qrels.txt", MEASURES)
    assert plain(evaluator.each(paths)) == plain(map(evaluator, paths))
    assert len(workers) == 2


def test_weights_and_names_go_along(folder: Path, paths: list[str], shared: list[str]) -> None:
    weights = {f"q{number}": number + 1.0 for number in range(9)}
    evaluator = il.Evaluator(folder / "qrels.txt", MEASURES, weights=weights)
    named = {f"run {number}": path for number, path in enumerate(paths)}
    found = list(evaluator.each(named))
    assert [one.run for one in found] == list(named)
    assert len(shared) == COUNT
    read = (read_run(path, name=name) for name, path in named.items())
    assert plain(found) == plain(map(evaluator, read))


def test_what_is_in_memory_stays_there(folder: Path, paths: list[str], shared: list[str]) -> None:
    evaluator = il.Evaluator(folder / "qrels.txt", MEASURES)
    held = {"q1": {"d3": 2.0, "d6": 1.0}}
    runs = [*paths[:5], held, read_run(paths[5]).loaded(), Path(paths[6]), read_run(paths[7])]
    assert plain(evaluator.each(runs)) == plain(map(evaluator, runs))
    assert len(shared) == 7
    shared.clear()
    assert plain(evaluator.each(iter(runs))) == plain(map(evaluator, runs))
    assert not shared  # an iterator may make one run after the other


def test_the_first_fault_is_raised_when_its_turn_comes(
    folder: Path, paths: list[str], workers: list[Worker], tmp_path: Path
) -> None:
    broken, missing = tmp_path / "broken.run", tmp_path / "missing.run"
    broken.write_text("q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 high x\n")
    evaluator = il.Evaluator(folder / "qrels.txt", MEASURES)
    with pytest.raises(InputError) as alone:
        evaluator(broken)
    each = evaluator.each([*paths[:6], broken, missing, *paths[6:]])
    found = [next(each) for _ in range(6)]
    with pytest.raises(InputError) as raised:
        next(each)
    assert str(raised.value) == str(alone.value)
    assert f"{broken}, line 2" in str(raised.value) or f"{broken}:2" in str(raised.value)
    assert plain(found) == plain(map(evaluator, paths[:6]))


def test_a_worker_that_ends_is_done_without(
    folder: Path, paths: list[str], workers: list[Worker]
) -> None:
    evaluator = il.Evaluator(folder / "qrels.txt", MEASURES)
    found = evaluator.each(paths)
    first = next(found)
    for worker in workers:
        worker.kill()
    assert plain([first, *found]) == plain(map(evaluator, paths))


def test_an_evaluation_that_is_left_leaves_no_process(
    folder: Path, paths: list[str], workers: list[Worker]
) -> None:
    found = il.Evaluator(folder / "qrels.txt", MEASURES).each(paths)
    next(found)
    found.close()  # type: ignore[attr-defined]  # a generator
    assert [one._process.returncode is None for one in workers] == [False]


def test_a_measure_that_only_this_process_has_is_computed_here(
    folder: Path, paths: list[str], workers: list[Worker]
) -> None:
    class Retrieved(Measure):
        """How many documents were retrieved."""

        limits = 0.0, math.inf

        def formula(self, lists: Any) -> Any:
            return lists.retrieved * 1.0

    found = list(il.Evaluator(folder / "qrels.txt", [Retrieved()]).each(paths))
    assert len(found) == COUNT
    assert not workers


def test_few_runs_and_large_ones_are_done_in_one_process(
    paths: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEALIST_THREADS", "4")
    jobs = [*map(Job, paths)]
    assert processes_for(jobs) == processes_for([]) == processes_for([Job({"q": ["d"]})] * 900) == 1
    assert [processes_for(jobs * many) for many in (8, 12, 90)] == [2, 3, 4]
    large = tmp_path / "large.run"
    with large.open("wb") as file:
        file.truncate(many_runs.LARGEST + 1)
    assert processes_for([*jobs * 90, Job(large)]) == 1
    monkeypatch.setenv("IDEALIST_THREADS", "1")
    assert processes_for(jobs * 90) == 1


def test_conventions_can_be_sent() -> None:
    for one in CONVENTIONS.values():
        assert pickle.loads(pickle.dumps(one)) is one
    own = il.Convention("own", "mine", "1", "derived", convention("sklearn").rule)
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(own)


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[str, str, Any]:
    code = None
    try:
        main(words)
    except SystemExit as ended:
        code = ended.code
    captured = capsys.readouterr()
    return captured.out, captured.err, code


@pytest.mark.parametrize("form", [[], ["--per-query", "-f", "json"], ["-f", "tsv"]])
def test_the_command_prints_the_same_bytes(
    form: list[str], folder: Path, paths: list[str], shared: list[str],
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    words = ["eval", str(folder / "qrels.txt"), *paths, *form]
    many = told(words, capsys)
    assert len(shared) == COUNT
    monkeypatch.setenv("IDEALIST_THREADS", "1")
    assert told(words, capsys) == many
    assert many[2] in (0, None)


def test_one_broken_file_among_many_is_named(
    folder: Path, paths: list[str], workers: list[Worker], tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    broken = tmp_path / "broken.run.gz"
    broken.write_bytes(gzip.compress(b"q1 Q0 d1 1 2.5 x\n" * 999)[:-9])
    words = ["eval", str(folder / "qrels.txt"), *paths[:9], str(broken), *paths[9:]]
    out, err, code = told(words, capsys)
    assert not out
    assert code == 2
    assert str(broken) in err
    monkeypatch.setenv("IDEALIST_THREADS", "1")
    assert told(words, capsys) == (out, err, code)


INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from idealist.cli.main import main
from idealist.evaluating import many_runs
many_runs.START = 1e-9
ask = many_runs.Worker.__call__
def noted(self, jobs):
    os.write(1, b"%d\\n" % self._process.pid)  # whole, whatever other threads write
    return ask(self, jobs)
many_runs.Worker.__call__ = noted
main(["eval", *sys.argv[1:]])
"""


@posix
def test_ctrl_c_ends_all_processes(folder: Path, paths: list[str]) -> None:
    words = [sys.executable, "-c", INTERRUPTED, str(folder / "qrels.txt"), *paths * 200]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        env=os.environ | {"IDEALIST_THREADS": "3"},
    ) as process:  # fmt: skip
        assert process.stdout
        pids = [int(process.stdout.readline()) for _ in range(2)]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all of them
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, said
    assert said.strip() == b"interrupted"
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_folder_and_a_pattern_stand_for_their_files(
    folder: Path, paths: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, qrels = folder / "runs", str(folder / "qrels.txt")
    listed = told(["eval", qrels, *paths, "-f", "tsv", "-q"], capsys)
    for words in ([f"{runs}/"], [str(runs)], [f"{runs}/*"], [f"{runs}/s0*", f"{folder}/**/s1*"]):
        assert told(["eval", qrels, *words, "-f", "tsv", "-q"], capsys) == listed
    _, err, _ = told(["eval", qrels, str(runs)], capsys)
    assert err.startswith(f"read: {runs}: {COUNT} files, each a run\n")
    _, err, _ = told(["compare", qrels, f"{runs}/s0[0-2]*", "-m", "AP"], capsys)
    assert err.startswith(f"read: {runs}/s0[0-2]*: 3 files\n")
    evaluator = il.Evaluator(qrels, MEASURES)
    for given in (runs, str(runs), [runs], [f"{runs}/*.run*"]):
        assert plain(evaluator.each(given)) == plain(map(evaluator, paths))
    assert il.compare(qrels, [runs], "AP").data() == il.compare(qrels, paths, "AP").data()


def test_what_is_no_run_is_left_out_and_said_or_named(
    folder: Path, paths: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels = str(folder / "qrels.txt")
    (tmp_path / "old").mkdir()
    (tmp_path / ".DS_Store").write_bytes(b"\0\0")
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_bytes(Path(paths[0]).read_bytes())
    out, err, code = told(["eval", qrels, str(tmp_path), "-m", "AP"], capsys)
    assert code in (0, None)
    assert f"read: {tmp_path}: 2 files, each a run; not .DS_Store, old/\n" in err
    (tmp_path / "notes.md").write_text("What we tried\n")
    _, err, code = told(["eval", qrels, str(tmp_path), "-m", "AP", "-q"], capsys)
    assert code == 2
    assert str(tmp_path / "notes.md") in err
    _, err, code = told(["eval", qrels, f"{tmp_path}/*.gz"], capsys)
    assert code == 2
    assert "no file matches" in err
    (tmp_path / "x[1].run").write_bytes(Path(paths[0]).read_bytes())
    out, _, _ = told(["eval", qrels, str(tmp_path / "x[1].run"), "-m", "AP", "-q"], capsys)
    assert "x[1]" in out  # a file, though its name looks like a pattern


def test_a_folder_of_responses_is_one_run_and_of_runs_in_json_several(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels = str(folder / "qrels.txt")
    runs, responses = tmp_path / "runs", tmp_path / "responses"
    for made in (runs, responses):
        made.mkdir()
    for number in range(3):
        run = {f"q{query}": {"d3": 1.0 + number, "d6": 2.0} for query in range(9)}
        (runs / f"s{number}.json").write_text(json.dumps(run))
    for query in range(9):
        hits = [{"_id": "d3", "_score": 2.0}, {"_id": "d6", "_score": 1.0}]
        response = {"took": 1, "timed_out": False, "hits": {"hits": hits}}
        (responses / f"q{query}.json").write_text(json.dumps(response))
    out, _, _ = told(["eval", qrels, str(runs), "-m", "AP", "-f", "tsv", "-q"], capsys)
    assert [line.split("\t")[0] for line in out.splitlines()] == ["run", "s0", "s1", "s2"]
    out, err, _ = told(["eval", qrels, str(responses), "-m", "AP", "-f", "tsv"], capsys)
    assert [line.split("\t")[0] for line in out.splitlines()] == ["run", "responses"]
    assert "each a run" not in err
