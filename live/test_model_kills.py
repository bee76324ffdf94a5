"""A judging process that is killed at random moments, by a server that has every kind of bad day."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from idealist.judging.llm.model_judging import judge_by_model
from idealist.judging.llm.prompts import read_prompt
from idealist.judging.llm.requests import Request, Sampling
from idealist.judging.store import Store
from idealist.judging.store_records import Batch, Pooled
from scripted_server import BAD_DAYS, Body, Scripted, grade_of, graded, scripted
from waiting import PATIENCE

PROMPT = read_prompt("graded")
PAIRS, KILLS = 400, 40
#: Bad days without a grade of their own.
BAD = [day for name, day in BAD_DAYS.items() if name not in ("slow", "without usage", "huge")]
SCRIPT = "import sys; from idealist.cli.main import main; main(sys.argv[1:])"


def make(path: Path, pairs: int = PAIRS) -> None:
    ids = [(f"q{n % 20}", f"d{n}") for n in range(pairs)]
    with Store.create(
        path, scale=3, queries={f"q{n}": f"question {n}" for n in range(20)},
        docs={document: f"words of {document}" for _, document in ids},
    ) as store:  # fmt: skip
        store.add_batch(Batch("depth", tuple(Pooled(*one, n) for n, one in enumerate(ids))))


def hash_of(body: Body) -> str:
    """Say by which hash the answer to a request is kept."""
    schema = body["response_format"]["json_schema"]["schema"]
    sampling = Sampling(body["temperature"], 0, logprobs=True)
    return Request("tiny", body["messages"], schema, PROMPT.hash, sampling, body["seed"]).hash


def kept(path: Path) -> set[str]:
    with Store(path) as store:
        return {call.request for call in store.calls() if call.state == "answered"}


def test_no_answer_that_was_kept_is_asked_for_again(tmp_path: Path) -> None:
    path, rng = tmp_path / "labels.db", random.Random(18)
    make(path)

    def script(number: int, body: Body) -> Scripted:
        time.sleep(0.02)
        return rng.choice(BAD) if rng.random() < 0.1 else graded(grade_of(body))

    with scripted(script) as server:
        command = [sys.executable, "-c", SCRIPT, "judge", "llm", str(path), "--url", server.url,
                   "--model", "tiny", "--attempts", "1", "--concurrency", "4"]  # fmt: skip
        for _ in range(KILLS):
            answers, before = kept(path), len(server.asked)
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
                end = time.monotonic() + PATIENCE
                while len(server.asked) == before and process.poll() is None:
                    assert time.monotonic() < end
                    time.sleep(0.002)
                time.sleep(rng.uniform(0, 0.1))
                process.kill()
            again = [body for body in server.asked[before:] if hash_of(body) in answers]
            assert not again
            assert answers <= kept(path), "nothing that was kept is lost"
        for _ in range(30):  # what failed is asked for again, until nothing fails
            if not subprocess.run(
                command, stdout=subprocess.DEVNULL, timeout=PATIENCE, check=False
            ).returncode:
                break
        wanted = {hash_of(body): float(grade_of(body)) for body in server.asked}
    check(path, wanted, PAIRS)
    assert len(server.asked) <= PAIRS + 4 * KILLS + failures(path)


def failures(path: Path) -> int:
    with Store(path) as store:
        return sum(call.state == "failed" for call in store.calls())


def check(path: Path, wanted: dict[str, float], pairs: int) -> None:
    """Every pair has one judgment, with the grade that was given to its words, and no other."""
    with Store(path) as store:
        calls = {call.id: call for call in store.calls()}
        judgments = list(store.judgments())
    answered = [call.request for call in calls.values() if call.state == "answered"]
    assert len(answered) == len(set(answered)) == pairs
    assert len({(one.query, one.document) for one in judgments}) == len(judgments) == pairs
    for one in judgments:
        assert one.call is not None
        assert one.grade == wanted[calls[one.call].request]


def test_a_storm_makes_no_grade(tmp_path: Path) -> None:
    """Every second answer is bad, in every way; in the end each pair has the grade it was given."""
    path, rng = tmp_path / "labels.db", random.Random(5)
    make(path, 300)

    def script(number: int, body: Body) -> Scripted:
        return rng.choice(BAD) if rng.random() < 0.5 else graded(grade_of(body))

    with scripted(script) as server:
        for _ in range(100):
            found = judge_by_model(path, server.url, "tiny", attempts=2, concurrency=16)
            if found.judged == len(found.rows):
                break
        wanted = {hash_of(body): float(grade_of(body)) for body in server.asked}
    check(path, wanted, 300)
