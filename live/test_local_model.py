"""A real model on loopback, from an empty store to a judge held to account, at the command line.

A model of 135 million parameters grades badly. What is proved is that questions and answers pass,
within the schema, with log-probabilities, that all is kept and counted, and nothing is asked twice.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import idealist
import local_model
from idealist.judging.llm.answers import Reply, read_answer
from idealist.judging.llm.prompts import read_prompt
from idealist.judging.store import Store
from idealist.judging.store_records import Call
from waiting import PATIENCE

pytest_plugins = ["local_model"]

DEMO = Path(idealist.__file__).parent / "demo"
JUDGE = f"{local_model.NAME}/graded@1"


def idealist_says(*arguments: Any, code: int = 0) -> str:
    script = "import sys; from idealist.cli.main import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True,
        timeout=4 * PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """A store of the demo's queries, documents and judgments, with six documents pooled."""
    path = tmp_path / "labels.db"
    idealist_says("judge", "init", path, "--scale", "0..3", "--queries", DEMO / "queries.csv",
                  "--docs", DEMO / "documents.jsonl")  # fmt: skip
    idealist_says("judge", "pool", path, DEMO / "bm25.run", "--by", "fusion", "--budget", 6)
    idealist_says("judge", "import", path, DEMO / "qrels.txt", "--judge", "nist")
    return path


def llm(labels: Path, model: str, *more: Any, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(idealist_says(
        "judge", "llm", labels, "--url", model, "--model", local_model.NAME, "--concurrency", 2,
        "--answer-tokens", 60, "-f", "json", *more, code=code,
    ))  # fmt: skip
    return found


def calls_of(labels: Path) -> list[Call]:
    with Store(labels) as store:
        return list(store.calls())


def test_from_nothing_to_an_account(labels: Path, model: str) -> None:
    estimate = llm(labels, model, "--dry-run")
    assert (estimate["requests"], len(estimate["prompts"])) == (6, 3)
    assert not calls_of(labels)

    begun = llm(labels, model, "--max-requests", 2)
    assert (begun["judged"], begun["failed"], begun["not_asked"]) == (2, 0, 4)
    rest = llm(labels, model)
    assert (rest["judged"], rest["requests"], rest["already_judged"]) == (4, 4, 2)
    assert llm(labels, model)["requests"] == 0

    calls = calls_of(labels)
    assert len({call.request for call in calls}) == len(calls) == 6
    prompt, schema = read_prompt("graded"), {"grade"}
    for call in calls:
        reply = Reply.of(call.answer)
        assert json.loads(reply.text).keys() == schema, "the schema is strict"
        answer = read_answer(prompt, reply)
        assert answer.grade in prompt.scale.grades
        assert answer.expected is not None
        assert answer.confidence is not None
        assert call.parameters["without"] == []
        assert call.tokens_in == reply.tokens_in > 100
    assert sum(call.tokens_in for call in calls) == begun["tokens_in"] + rest["tokens_in"]
    assert estimate["tokens_in"] >= begun["tokens_in"] + rest["tokens_in"], "it is not too low"

    status = idealist_says("judge", "status", labels)
    assert JUDGE in status
    agreed = json.loads(idealist_says("agree", f"{labels}#nist", f"{labels}#{JUDGE}", "-f", "json"))
    assert agreed["n"] == 6
    assert "nDCG@10" in idealist_says(
        "eval", f"{labels}#{JUDGE}", DEMO / "bm25.run", "-m", "nDCG@10"
    )


def test_samples_and_examples(labels: Path, model: str) -> None:
    sampled = ("--samples", 3, "--temperature", 0, "--judge", "three")
    several = llm(labels, model, *sampled, "--max-requests", 6)
    assert several["judged"] == 2, "at temperature 0, samples cannot end in a draw"
    assert all(row["confidence"] in (1 / 3, 2 / 3, 1) for row in several["rows"] if row["grade"] is not None)  # fmt: skip
    shown = llm(labels, model, "--prompt", "graded-examples", "--max-requests", 1)
    assert (shown["judged"], shown["not_asked"]) == (1, 5)
    with_examples = json.dumps(llm(labels, model, "--prompt", "graded-examples", "--dry-run"))
    assert with_examples.count('{\\"grade\\": 3}') >= 2, "an example of each grade"


def test_it_is_probed_and_compares(labels: Path, model: str, tmp_path: Path) -> None:
    """It repeats itself at temperature 0; which of two is better is asked in both orders."""
    given = ("--url", model, "--model", local_model.NAME, "--concurrency", 2, "-f", "json")
    short = tmp_path / "short.md"  # long prompts take a small machine long
    short.write_text(
        '+++\nname = "short"\nversion = "1"\n[scale]\n0 = "no"\n1 = "some"\n2 = "most"\n3 = "all"\n'
        "+++\nHow much of {query} does {document} answer? {scale}\n"
    )
    probed = json.loads(idealist_says("judge", "probe", labels, *given, "-n", 2, "--prompt", short))
    assert probed["probes"]["again"]["same"] == 2
    assert probed["probes"].keys() == {"again", "padding", "plea"}
    assert {one.kind for one in Store(labels).current()} == {"import"}
    some = tmp_path / "some.txt"
    some.write_text("".join((DEMO / "qrels.txt").read_text().splitlines(keepends=True)[:3]))
    compared = json.loads(idealist_says("judge", "prefer", labels, *given, "--what", some))
    done = sum(compared[way] for way in ("preferred", "tie", "order", "half"))
    assert (done, compared["pairs"], compared["requests"]) == (2, 2, 4)
    assert len(list(Store(labels).preferences())) == 2
