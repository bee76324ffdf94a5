"""A model as judge: what becomes of its answers, of none, of kills, and of the money."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import idealist as il
from idealist.cli.main import cli
from idealist.errors import UsageError
from idealist.judging.llm.limits import Price
from idealist.judging.llm.model_judging import estimate_model_judging, judge_by_model
from idealist.judging.store import Store
from idealist.judging.store_records import Batch, Judgment, Pooled
from scripted_server import (
    BAD_DAYS,
    Body,
    Scripted,
    ScriptedServer,
    by_turns,
    completion,
    failing,
    grade_of,
    graded,
    judging,
    scripted,
)
from waiting import PATIENCE

JUDGE = "tiny/graded@1"
Made = Callable[..., Path]


@pytest.fixture
def store(tmp_path: Path) -> Made:
    """Make a store with pooled documents."""

    def make(queries: int = 2, documents: int = 5, **given: Any) -> Path:
        path = tmp_path / "labels.db"
        ids = [(f"q{q}", f"q{q}d{d}") for q in range(queries) for d in range(documents)]
        with Store.create(
            path, scale=3, queries={f"q{q}": f"question {q}" for q in range(queries)},
            docs={document: f"words of {document}" for _, document in ids}, **given,
        ) as made:  # fmt: skip
            pooled = tuple(Pooled(*pair, place) for place, pair in enumerate(ids))
            made.add_batch(Batch("depth", pooled))
        return path

    return make


def judge(path: Path, server: ScriptedServer, **given: Any) -> Any:
    return judge_by_model(path, server.url, "tiny", **given)


def grades_of(path: Path, judge: str = JUDGE) -> dict[tuple[str, str], float | None]:
    with Store(path) as store:
        return {
            (one.query, one.document): one.grade for one in store.current() if one.judge == judge
        }


def test_every_pooled_document_is_judged_once(store: Made) -> None:
    path = store()
    with scripted() as server:
        found = judge(path, server)
        assert found.summary == f"{JUDGE} judged all 10 pairs."
        assert len(server.asked) == 10
        again = judge(path, server)
        assert again.summary == f"Nothing to ask: {JUDGE} has judged all 10 pairs before."
        assert len(server.asked) == 10
    wanted = {}
    for body in server.asked:
        document = body["messages"][-1]["content"].split("words of ")[1].split()[0]
        wanted[document.split("d")[0], document] = float(grade_of(body))
    assert grades_of(path) == wanted
    with Store(path) as opened:
        calls = {call.id: call for call in opened.calls()}
        for one in opened.current():
            assert one.kind == "model"
            assert one.batch == 1
            assert calls[one.call].state == "answered"
            assert json.loads(calls[one.call].answer)["usage"]["prompt_tokens"] == 20
        assert {call.parameters["url"] for call in calls.values()} == {server.url}
        assert all(opened.answered(call.request) for call in calls.values())
    assert il.evaluate(str(path), {"q0": ["q0d0"]}, "P@1").queries


def test_guidelines_and_texts_are_what_is_asked(store: Made) -> None:
    path = store(1, 1, guidelines="Dates matter.")
    with scripted() as server:
        judge(path, server)
    words = json.dumps(server.asked[0]["messages"])
    for part in ("question 0", "words of q0d0", "Dates matter."):
        assert part in words
    assert "q0d0" not in words.replace("words of q0d0", ""), "ids say nothing to a judge"


UNREADABLE = {
    "off the scale", "grade of words", "other keys", "two grades", "a list", "cut by length",
    "refusal", "filtered", "nothing", "no choices",
}  # fmt: skip
LOST = {
    "busy", "broken", "hung up", "cut off", "garbage", "page of a proxy", "page",
    "choices are none", "error in a good answer", "huge",
}  # fmt: skip


@pytest.mark.parametrize("day", sorted(BAD_DAYS))
def test_a_bad_day_loses_no_judgment_and_makes_none(day: str, store: Made) -> None:
    """What failed is recorded as failed, has no grade, and is asked again by the next run."""
    path = store(1, 4)
    bad = lambda number, body: BAD_DAYS[day] if "q0d2" in str(body) else judging(number, body)  # noqa: E731
    with scripted(bad) as server:
        found = judge(path, server, attempts=1)
        good = len(server.asked)
        assert good == 4
        if day in UNREADABLE | LOST:
            assert found.lost == 1
            assert found.summary.startswith(f"INCOMPLETE: {JUDGE} judged 3 of 4 pairs; 1 failed (")
            assert ("q0", "q0d2") not in grades_of(path)
            with Store(path) as opened:
                [failed] = [call for call in opened.calls() if call.state == "failed"]
                assert failed.fault
                assert opened.answered(failed.request) is None
        else:
            assert found.judged == 4
        server.script = judging
        found = judge(path, server)
        assert len(grades_of(path)) == 4
        assert len(server.asked) == 4 + (day in UNREADABLE | LOST)


def test_every_bad_day_is_known() -> None:
    assert UNREADABLE | LOST | {"without usage", "slow"} == BAD_DAYS.keys()


def test_a_server_without_schema_is_read_all_the_same(store: Made) -> None:
    path = store()

    def script(number: int, body: Body) -> Scripted:
        if "response_format" in body:
            return failing(400, "response_format json_schema is not supported")
        return completion(f"I would say: Grade: {grade_of(body)}")

    with scripted(script) as server:
        found = judge(path, server, concurrency=1)
        assert len(server.asked) == 11, "found out once"
    assert found.judged == 10
    assert "the server does not accept a JSON schema" in str(found)
    with Store(path) as opened:
        assert all(call.parameters["without"] == ["response_format"] for call in opened.calls())


def test_samples_have_a_majority(store: Made) -> None:
    path = store(1, 2)

    def script(number: int, body: Body) -> Scripted:
        return graded([1, 3, 3][body["seed"]])

    with scripted(script) as server:
        found = judge(path, server, samples=3)
        assert len(server.asked) == 6
        assert {body["temperature"] for body in server.asked} == {1.0}
    [row, _] = found.rows
    assert (row.grade, row.confidence) == (3.0, pytest.approx(2 / 3))
    assert row.expected == pytest.approx(7 / 3)
    with Store(path) as opened:
        [one, _] = opened.current()
        assert one.note == "expected 2.33, 2 of 3 samples agree"
        [call] = [call for call in opened.calls() if call.id == one.call]
        assert '\\"grade\\": 3' in call.answer


def test_a_lost_sample_leaves_the_pair_open(store: Made) -> None:
    path = store(1, 1)
    with scripted(lambda _, body: BAD_DAYS["broken"] if body["seed"] == 1 else graded(2)) as server:
        found = judge(path, server, samples=3, attempts=1)
        assert (found.judged, found.lost) == (0, 1)
        server.script = judging
        found = judge(path, server, samples=3)
        assert found.judged == 1
        assert len(server.asked) == 4, "only the lost sample is asked again"


def test_log_probabilities_tell_the_expected_grade(store: Made) -> None:
    path = store(1, 1)
    tokens = [
        {"token": '{"grade": ', "logprob": 0, "top_logprobs": []},
        {"token": "2", "logprob": -0.6931471805599453, "top_logprobs": [
            {"token": "2", "logprob": -0.6931471805599453}, {"token": "0", "logprob": -0.6931471805599453}]},
        {"token": "}", "logprob": 0, "top_logprobs": []},
    ]  # fmt: skip
    with scripted(completion('{"grade": 2}', logprobs=tokens)) as server:
        [row] = judge(path, server).rows
    assert (row.grade, row.expected, row.confidence) == (2.0, pytest.approx(1), pytest.approx(0.5))


def test_the_same_words_are_asked_about_once(store: Made) -> None:
    path = store(1, 6)
    with Store(path) as opened:
        opened.add_documents({f"q0d{d}": "the same" for d in range(6)})
    with scripted(graded(1, pause=0.05)) as server:
        assert judge(path, server).judged == 6
    assert len(server.asked) == 1


def test_what_is_judged_by_people_holds_a_model_to_account(store: Made, tmp_path: Path) -> None:
    path = store()
    with Store(path) as opened:
        opened.judge(Judgment("q0", "q0d1", 2, "ann"))
        opened.judge(Judgment("q1", "q1d1", 2, "click", kind="clicks"))
        opened.judge(Judgment("q1", "q1d2", None, "ann", status="cannot tell"))
    with scripted() as server:
        assert judge(path, server, what="judged").judged == 1
        (tmp_path / "some.qrels").write_text("q0 0 q0d3 1\nq0 0 q0d1 1\n")
        found = judge(path, server, what=tmp_path / "some.qrels")
        assert (found.judged, found.already) == (1, 1)
        (tmp_path / "some.run").write_text("q1 Q0 q1d3 1 9.5 x\nq1 Q0 q1d4 2 9.0 x\n")
        assert judge(path, server, what=str(tmp_path / "some.run")).judged == 2
    assert grades_of(path).keys() == {
        ("q0", "q0d1"),
        ("q0", "q0d3"),
        ("q1", "q1d3"),
        ("q1", "q1d4"),
    }


def test_a_limit_stops_before_it_is_passed_and_the_rest_follows(store: Made) -> None:
    path = store()
    with scripted() as server:
        found = judge(path, server, max_requests=4)
        assert len(server.asked) == 4
        assert found.summary == (
            f"INCOMPLETE: {JUDGE} judged 4 of 10 pairs; 6 were not asked, because --max-requests 4 "
            "would be exceeded. Run it again to ask for what is missing."
        )
        assert judge(path, server).judged == 6
        assert len(server.asked) == 10


def test_a_limit_of_money_is_used_up(store: Made) -> None:
    """What answers did not use of what they could have used is there for others."""
    path = store(1, 40)
    price = Price(1e6, 1e6)  # a token costs 1
    with scripted(graded(1, usage=(300, 10))) as server:
        found = judge(path, server, prices={"tiny": price}, max_cost=10_000)
    assert 10_000 - 1_500 < found.tally.budget.cost <= 10_000
    assert found.tally.budget.cost == 310 * len(server.asked)
    with Store(path) as opened:
        assert sum(call.cost for call in opened.calls()) == found.tally.budget.cost


def test_money_without_a_price_is_refused(store: Made) -> None:
    with pytest.raises(UsageError, match="no price of 'tiny'"), scripted() as server:
        judge(store(), server, max_cost=1)
    assert not server.asked


@pytest.mark.parametrize("missing", ["query", "document"])
def test_texts_must_be_known(missing: str, store: Made) -> None:
    path = store()
    with Store(path) as opened:
        pair = ("q9", "q0d1") if missing == "query" else ("q0", "d9")
        opened.add_batch(Batch("depth", (Pooled(*pair, 0),)))
    with scripted() as server:
        with pytest.raises(UsageError, match=f"1 {missing} without text: {'q9' if missing == 'query' else 'd9'}") as refused:  # fmt: skip
            judge(path, server)
        assert f"idealist judge add {path} --{'queries' if missing == 'query' else 'docs'} FILE" in refused.value.hint  # fmt: skip
        assert not server.asked
        found = judge(path, server, skip_missing=True)
        assert (found.judged, found.skipped) == (10, 1)


def test_nothing_is_pooled(tmp_path: Path) -> None:
    Store.create(tmp_path / "s.db").close()
    with pytest.raises(UsageError, match="nothing is pooled") as refused:
        estimate_model_judging(tmp_path / "s.db", "tiny")
    assert "idealist judge pool" in refused.value.hint


def test_a_prompt_may_not_change_under_its_version(store: Made, tmp_path: Path) -> None:
    path = store()
    source = "+++\nname = 'mine'\nversion = '1'\n[scale]\n0='no'\n1='a'\n2='b'\n3='c'\n+++\n{query} {document}\n"
    (tmp_path / "mine.md").write_text(source)
    with scripted() as server:
        judge(path, server, prompt=tmp_path / "mine.md", max_requests=1)
        (tmp_path / "mine.md").write_text(source + "Please.\n")
        with pytest.raises(UsageError, match="mine@1 has other words"):
            judge(path, server, prompt=tmp_path / "mine.md")


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"temperature": 1}, "the temperature was 0 and is 1"), ({"samples": 3}, "the number of samples was 1 and is 3"),
     ({"seed": 4}, "the seed was 0 and is 4"), ({}, "the guidelines have changed")],
)  # fmt: skip
def test_a_name_stands_for_one_instrument(changed: dict[str, Any], words: str, store: Made) -> None:
    path = store(guidelines="Dates matter.")
    with scripted() as server:
        judge(path, server, max_requests=3)
        if not changed:
            with Store(path) as opened:
                opened.set(guidelines="Dates do not matter.")
        with pytest.raises(UsageError, match=words) as refused:
            judge(path, server, **changed)
        assert "--judge NAME" in refused.value.hint
        assert len(server.asked) == 3
        server.script = by_turns(graded(2))
        assert judge(path, server, **changed, judge="another").judged == 10


def test_other_examples_make_another_judge(store: Made) -> None:
    path = store(3, 4)
    with Store(path) as opened, scripted() as server:
        opened.judge_all(
            [Judgment(f"q{q}", f"q{q}d{d}", d, "ann") for q in range(2) for d in (0, 3)]
        )
        judge(path, server, prompt="graded-examples", max_requests=2)
        judge(path, server, prompt="graded-examples", max_requests=2)
        opened.judge(Judgment("q2", "q2d1", 1, "ann"))
        with pytest.raises(UsageError, match="people have judged more since"):
            judge(path, server, prompt="graded-examples")


def test_a_model_takes_nobodys_name(store: Made) -> None:
    path = store()
    with Store(path) as opened:
        opened.judge(Judgment("q0", "q0d1", 2, "Ana María"))
    with scripted() as server:
        judge(path, server, max_requests=1)
        for name, words in (("Ana María", "a judge of kind human"), (JUDGE, "the model was tiny and is other"),
                            ("human", "as a kind of judges is")):  # fmt: skip
            with pytest.raises(UsageError, match=words):
                judge_by_model(path, server.url, "other", judge=name)
        with pytest.raises(UsageError, match="the model has no name"):
            judge_by_model(path, server.url, " ")
        assert len(server.asked) == 1


def test_a_document_that_changed_is_asked_about_again(store: Made) -> None:
    path = store(1, 3)
    with scripted(lambda _, body: graded(2 if "new" in str(body) else 1)) as server:
        judge(path, server)
        for text, grade in (("new words", 2.0), ("words of q0d1", 1.0)):
            with Store(path) as opened:
                opened.add_documents({"q0d1": text})
            found = judge(path, server)
            assert (found.judged, found.already) == (1, 2)
            assert "1 pair was judged before, when the document had another text" in str(found)
            assert grades_of(path)["q0", "q0d1"] == grade, "also if it is as it was"
        assert not judge(path, server).rows


@pytest.mark.parametrize(
    ("given", "words"),
    [({"prompt": "binary"}, "scale"), ({"prompt": "preference"}, "asks for a preference"), ({"samples": 0}, "samples"),
     ({"temperature": 3}, "temperature"), ({"answer_tokens": 0}, "answer_tokens")],
)  # fmt: skip
def test_what_cannot_be_asked(given: dict[str, Any], words: str, store: Made) -> None:
    with pytest.raises(UsageError, match=words):
        estimate_model_judging(store(), "tiny", **given)


def test_a_wrong_key_stops_at_once_and_keeps_what_there_is(store: Made) -> None:
    path = store()
    with scripted(by_turns(judging, judging, failing(401, "no"))) as server:
        with pytest.raises(UsageError, match="the key is wrong"):
            judge(path, server, concurrency=1)
        assert len(server.asked) == 3
    assert len(grades_of(path)) == 2


def test_a_dead_server_is_given_up(store: Made) -> None:
    path = store(1, 30)
    with scripted(BAD_DAYS["broken"]) as server:
        found = judge(path, server, attempts=1, concurrency=1)
    assert len(server.asked) == 10
    assert (
        "20 were not asked, because 10 requests in a row had no answer: status 500" in found.summary
    )


@pytest.mark.parametrize("bad", ["broken", "no schema"])
def test_every_pair_is_one_of_four_and_every_request_is_counted(bad: str, store: Made) -> None:
    path = store(1, 30)
    say = {"broken": BAD_DAYS["broken"], "no schema": failing(400, "json_schema is unknown")}
    with scripted(lambda n, body: say[bad] if n < 8 else judging(n, body)) as server:
        found = judge(path, server, max_requests=10, attempts=2)
        said = found.data()
        assert said["requests"] == len(server.asked) == 10
        asked = {str(body["messages"]) for body in server.asked}
        assert said["requests_again"] == 10 - len(asked)
    counts = [said[name] for name in ("judged", "failed", "unanswered", "not_asked")]
    assert sum(counts) == 30
    assert said["not_asked"] == 30 - len(asked)


def test_what_a_lost_answer_may_have_cost_is_counted_alike(store: Made) -> None:
    path = store(1, 2)
    prices = {"tiny": Price(1, 2)}
    for bad in (graded(1, pause=0.3), BAD_DAYS["garbage"]):
        with scripted(by_turns(bad)) as server:
            found = judge(path, server, attempts=1, timeout=0.1, prices=prices)
        assert "used at most" in str(found)
        assert "of 2 requests it is not known, and the most is counted" in str(found)
        with Store(path) as opened:
            calls = list(opened.calls())[-2:]
        assert sum(call.tokens_out for call in calls) == found.tally.budget.used.tokens_out == 1024
        assert sum(call.cost for call in calls) == pytest.approx(found.tally.budget.cost)
    with scripted() as server:
        judge(path, server)
    status = CliRunner().invoke(cli, ["judge", "status", str(path)])
    assert "Cost: 2 of 6 calls had no price, and are not in it." in status.output
    assert "Tokens: of 4 of 6 calls they are not known" in status.output


def test_a_limit_below_one_request_says_so(store: Made) -> None:
    with scripted() as server:
        found = judge(store(), server, prices={"tiny": Price(1, 1)}, max_cost=1e-6)
    assert not server.asked
    assert found.summary.endswith(
        "; 10 were not asked, because one request alone could exceed --max-cost 1e-06. Raise the limit."
    )


def test_samples_without_a_majority_are_no_judgment(store: Made) -> None:
    path = store(1, 1)
    with scripted(lambda _, body: [graded(0), graded(2), graded(3)][body["seed"]]) as server:
        found = judge(path, server, samples=3)
    assert "(1 × no majority of the samples: 0 or 2 or 3). Where that stays so" in found.summary
    assert not grades_of(path)


def test_documents_that_fail_do_not_hold_up_the_others(store: Made) -> None:
    """As those that are too long for a model do; but a model that answers nothing is given up."""
    path = store(1, 130)
    with scripted(by_turns(*[failing(400, "too long")] * 30, judging)) as server:
        found = judge(path, server, concurrency=1, max_requests=50)
        assert (found.judged, found.lost) == (20, 30)
        server.script = by_turns(completion("What?"))
        found = judge(path, server, concurrency=1)
        assert found.lost == 100
        assert "10 were not asked, because 100 requests in a row failed: " in found.summary


def test_two_at_once_share_their_answers(store: Made) -> None:
    path = store(1, 20)
    with scripted(graded(1, pause=0.01)) as server:
        others = [threading.Thread(target=judge, args=(path, server)) for _ in range(2)]
        for one in others:
            one.start()
        for one in others:
            one.join(PATIENCE)
    with Store(path) as opened:
        answered = Counter(call.request for call in opened.calls())
        assert len(answered) == 20
        assert set(answered.values()) == {1}
        assert len(list(opened.judgments())) == 20


def test_an_estimate_sends_nothing(store: Made) -> None:
    path = store()
    with scripted() as server:
        judge(path, server, max_requests=3)
    found = estimate_model_judging(path, "tiny", prices={"tiny": Price(1, 2)}, max_requests=5)
    assert (found.pairs, found.already, found.requests) == (7, 3, 7)
    assert found.cost == pytest.approx((found.most.tokens_in + 2 * found.most.tokens_out) / 1e6)
    assert found.most.tokens_out == 7 * 512
    said = str(found)
    for pair in found.shown:
        assert f"words of {pair.document}" in said
    assert len(found.shown) == 3
    assert "--max-requests 5 would be exceeded" in said
    assert "Nothing was sent." in found.summary


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(cli, ["judge", "llm", *map(str, arguments)])


def test_the_command(store: Made, tmp_path: Path) -> None:
    path = store()
    (tmp_path / "prices.toml").write_text("[tiny]\ninput = 1\noutput = 2\n")
    prices = ["--prices", tmp_path / "prices.toml", "--max-cost", "1"]
    done = run(path, "--model", "tiny", "--dry-run", *prices)
    assert done.exit_code == 0
    assert "10 requests about 10 pairs" in done.output
    with scripted() as server:
        done = run(path, "--url", server.url, "--model", "tiny", "-f", "json", *prices)
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert (said["judged"], said["failed"], said["tokens_in"]) == (10, 0, 200)
    assert said["cost"] == pytest.approx(10 * (20 + 2 * 5) / 1e6)
    assert len(said["rows"]) == 10


def test_the_command_tells_a_half_lost_run(store: Made) -> None:
    path = store()
    with scripted(by_turns(judging, judging, BAD_DAYS["nothing"])) as server:
        done = run(path, "--url", server.url, "--model", "tiny")
    assert done.exit_code == 1
    assert done.stdout.startswith(f"INCOMPLETE: {JUDGE} judged 2 of 10 pairs; 8 failed (8 × empty)")
    assert re.search(r"the first failure, q\d and q\dd\d: empty", done.stdout)


def test_a_key_is_nowhere(store: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    path, key = store(), "sk-secret-9876543210"
    monkeypatch.setenv("IDEALIST_API_KEY", key)

    def script(number: int, body: Body) -> Scripted:
        return completion(f"Grade: 1 {key}") if number % 2 else failing(400, f"{key}?")

    with scripted(script) as server:
        done = run(path, "--url", server.url, "--model", "tiny", "--details")
    assert server.headers[0]["authorization"] == f"Bearer {key}"
    assert key not in done.output
    for file in path.parent.iterdir():
        assert key.encode() not in file.read_bytes()


def test_nothing_is_paid_for_that_cannot_be_written(store: Made, tmp_path: Path) -> None:
    path = store()
    with scripted() as server:
        for output in (tmp_path / "nowhere" / "x.json", tmp_path):
            done = run(path, "--url", server.url, "--model", "tiny", "-o", output)
            assert done.exit_code
            assert not server.asked


def test_other_words_for_the_grades_are_told(store: Made, tmp_path: Path) -> None:
    path = store()
    assert "doubt" not in str(estimate_model_judging(path, "tiny"))
    with Store(path) as opened:
        opened.set(scale={0: "perfect", 1: "related", 2: "partly relevant", 3: "useless"})
    said = " ".join(str(estimate_model_judging(path, "tiny")).split())
    assert (
        "doubt: people see other words for the grades than the model, check that they mean the "
        "same: 0 is 'perfect' there and 'Not relevant' here; 3 is 'useless' there and 'Highly "
        "relevant' here" in said
    )


SCRIPT = "import sys; from idealist.cli.main import main; main(sys.argv[1:])"


def started(path: Path, server: ScriptedServer, *more: str) -> subprocess.Popen[str]:
    command = ["judge", "llm", str(path), "--url", server.url, "--model", "tiny", *more]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip


def test_killed_and_resumed(store: Made) -> None:
    """SIGKILL at a random moment; `make live` does it more often."""
    path, wanted = store(4, 10), random.randrange(1, 30)
    with scripted(lambda n, body: graded(grade_of(body), pause=0.02)) as server:
        with started(path, server, "--concurrency", "3") as process:
            while process.poll() is None and len(server.asked) < wanted:
                time.sleep(0.002)
            process.kill()
        with started(path, server, "--concurrency", "3") as process:
            said, wrong = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, wrong
        assert said.startswith(f"{JUDGE} judged all ")
        assert len(server.asked) <= 40 + 3, "what was under way may be asked again"
    with Store(path) as opened:
        calls = [call.request for call in opened.calls() if call.state == "answered"]
        judgments = [(one.query, one.document) for one in opened.judgments()]
    assert len(set(calls)) == len(calls) == 40
    assert len(set(judgments)) == len(judgments) == 40


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_does_not_wait_for_a_busy_server(store: Made) -> None:
    path = store()
    with (
        scripted(failing(429, retry_after="500")) as server,
        started(path, server, "--concurrency", "2") as process,
    ):
        while process.poll() is None and len(server.asked) < 2:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        said, wrong = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, wrong
    assert "2 had no answer yet and 8 were not asked, because you stopped it" in " ".join(
        said.split()
    )
    assert "Ctrl-C again leaves at once" in wrong


def test_where_a_loop_runs_already(store: Made) -> None:
    """As in a notebook."""
    path = store(1, 3)

    async def cell(server: ScriptedServer) -> Any:
        return judge(path, server)

    with scripted() as server:
        assert asyncio.run(cell(server)).judged == 3


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_stopped_by_ctrl_c(store: Made) -> None:
    """Answers that are under way still arrive."""
    path = store(4, 10)
    with scripted(lambda n, body: graded(grade_of(body), pause=0.05)) as server:
        with started(path, server, "--concurrency", "2") as process:
            while process.poll() is None and len(server.asked) < 5:
                time.sleep(0.005)
            process.send_signal(signal.SIGINT)
            said, wrong = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, wrong
        assert "because you stopped it" in said
        assert len(grades_of(path)) == len(server.asked) < 40
