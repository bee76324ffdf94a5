"""Asking an endpoint: what is sent, sent again, given up, kept secret, and kept within limits."""

from __future__ import annotations

import asyncio
import base64
import builtins
import json
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from idealist.asking.patience import retry_after
from idealist.errors import IdealistError, InputError, UsageError
from idealist.judging.llm.client import CallFailed, Client, Received
from idealist.judging.llm.endpoints import Endpoint
from idealist.judging.llm.limits import Budget, LimitReached, Limits, Price, Usage, read_prices
from idealist.judging.llm.requests import Request, Sampling
from scripted_server import (
    BAD_DAYS,
    Scripted,
    ScriptedServer,
    by_turns,
    completion,
    failing,
    graded,
    judging,
    scripted,
)

REQUEST = Request("tiny", [{"role": "user", "content": "Cats?"}], {"type": "object"}, "p")
KEY = "sk-very-secret-0123456789"


def ask(
    server: ScriptedServer, *requests: Request, budget: Budget | None = None, **patience: Any
) -> list[Received | BaseException]:
    """Ask all requests at once."""
    endpoint = Endpoint.of(server.url, **{"pause": 0.001, "timeout": 20, **patience})

    async def asking() -> list[Received | BaseException]:
        client = Client(endpoint, budget or Budget())
        try:
            calls = [client.ask(request) for request in requests or [REQUEST]]
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await client.close()

    return asyncio.run(asking())


def test_what_is_sent() -> None:
    with scripted() as server:
        [received] = ask(server)
    assert isinstance(received, Received)
    assert received.spent.usage == Usage(20, 5)
    [body] = server.asked
    assert body["model"] == "tiny"
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["logprobs"] is True
    assert body["temperature"] == 0
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize("day", ["busy", "broken", "hung up", "cut off", "page of a proxy", "error in a good answer"])  # fmt: skip
def test_what_may_pass_is_asked_again(day: str) -> None:
    with scripted(by_turns(BAD_DAYS[day], BAD_DAYS[day], graded(2))) as server:
        [received] = ask(server)
    assert isinstance(received, Received)
    assert len(server.asked) == 3


@pytest.mark.parametrize("day", ["busy", "broken", "hung up", "page of a proxy"])
def test_in_the_end_it_gives_up_with_the_reason(day: str) -> None:
    with scripted(BAD_DAYS[day]) as server:
        [failed] = ask(server, attempts=3)
    assert isinstance(failed, CallFailed)
    assert "3 times" in failed.fault
    words = {"busy": "429: slow down", "broken": "500: it failed", "hung up": "connection broke",
             "page of a proxy": "502: Bad Gateway"}  # fmt: skip
    assert words[day] in failed.fault
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("day", "words"),
    [("garbage", "not JSON"), ("page", "does --url end in /v1?"), ("huge", "more than 8 MiB")],
)
def test_what_will_not_pass_is_not_asked_again(day: str, words: str) -> None:
    with scripted(BAD_DAYS[day]) as server:
        [failed] = ask(server)
    assert isinstance(failed, CallFailed)
    assert words in failed.fault
    assert len(server.asked) == 1


def test_a_slow_server_is_given_up() -> None:
    with scripted(graded(1, pause=3.0)) as server:
        [failed] = ask(server, timeout=0.05, attempts=2)
    assert isinstance(failed, CallFailed)
    assert failed.fault == "no answer within 0.05 seconds, 2 times"


def test_a_server_may_ask_for_time() -> None:
    """Nothing is sent meanwhile, by no request."""
    times: list[float] = []

    def script(number: int, body: dict[str, Any]) -> Scripted:
        times.append(time.monotonic())
        return failing(429, retry_after="0.3") if number == 0 else graded(1)

    with scripted(script) as server:
        assert isinstance(ask(server)[0], Received)
    assert times[1] - times[0] >= 0.3


def test_how_long_a_server_asks_for() -> None:
    assert 80 < retry_after(formatdate(time.time() + 90, usegmt=True)) <= 90
    assert [retry_after(said) for said in ("3", "-1", "nan", "", "soon")] == [3, 0, 0, 0, 0]


def test_a_server_may_not_ask_for_an_hour() -> None:
    with scripted(failing(429, retry_after="3600")) as server:
        [failed] = ask(server)
    assert isinstance(failed, CallFailed)
    assert "wait for 3600 seconds" in failed.fault


@pytest.mark.parametrize(
    ("message", "gone"),
    [
        ("'response_format' of type 'json_schema' is not supported", {"response_format"}),
        ("This model does not support logprobs", {"logprobs", "top_logprobs"}),
        ("Unsupported parameter: use 'max_completion_tokens' instead", {"max_tokens"}),
        ("extra field: seed", {"seed"}),
        ("Only temperature 1 is supported", {"temperature"}),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_what_a_server_does_not_accept_is_left_out(status: int, message: str, gone: set[str]) -> None:  # fmt: skip
    """It is found out once for the whole run."""

    def script(number: int, body: dict[str, Any]) -> Scripted:
        return failing(status, message) if gone & body.keys() else judging(number, body)

    endpoint_requests = [REQUEST] * 3
    with scripted(script) as server:
        received = ask(server, *endpoint_requests)
        assert all(isinstance(one, Received) for one in received)
        assert not gone & server.asked[-1].keys()
        assert len(server.asked) == 6  # those under way at once
    if gone == {"max_tokens"}:
        assert server.asked[-1]["max_completion_tokens"] == REQUEST.sampling.tokens


def test_a_server_that_accepts_nothing() -> None:
    with scripted(failing(400, "response_format, logprobs, seed, temperature, max_completion_tokens: no")) as server:  # fmt: skip
        [failed] = ask(server)
    assert isinstance(failed, CallFailed)
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "the key is wrong"), (402, "no money"), (403, "may not"), (404, "no such"), (302, "elsewhere")],
)  # fmt: skip
def test_what_no_request_would_change_stops_everything(status: int, words: str) -> None:
    with scripted(failing(status, "no")) as server:
        [failed] = ask(server)
    assert isinstance(failed, UsageError)
    assert words in str(failed)
    assert "--url" in failed.hint


def test_an_empty_account_is_not_asked_again() -> None:
    said = Scripted(b'{"error": {"message": "pay", "code": "insufficient_quota"}}', 429)
    with scripted(said) as server:
        assert isinstance(ask(server)[0], UsageError)
    assert len(server.asked) == 1


def test_nobody_listens() -> None:
    with scripted() as server:
        pass
    [failed] = ask(server, attempts=2)
    assert isinstance(failed, CallFailed)
    assert "cannot connect" in failed.fault


def test_the_key_is_sent_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", f"{KEY}\n")
    with scripted(by_turns(failing(400, f"bad key {KEY}"))) as server:
        [failed] = ask(server, key_env="MY_KEY")
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert isinstance(failed, CallFailed)
    assert KEY not in failed.fault + failed.answer + repr(failed)
    assert "[key]" in failed.fault
    assert KEY not in repr(Endpoint.of(server.url, "MY_KEY"))
    with scripted(completion(f"you are {KEY}")) as server:
        [received] = ask(server, key_env="MY_KEY")
    assert isinstance(received, Received)
    assert KEY not in received.answer
    with scripted(failing(401, f"Incorrect API key provided: {KEY}")) as server:
        [failed] = ask(server, key_env="MY_KEY")
    assert KEY not in str(failed)


def test_which_key_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of OpenAI goes to nobody else unless it is named."""
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    monkeypatch.delenv("IDEALIST_API_KEY", raising=False)
    assert Endpoint.of("https://api.openai.com/v1").key == "theirs"
    for url in (
        "http://127.0.0.1/v1",
        "https://notopenai.com/v1",
        "https://api.openai.com.evil.org/v1",
    ):
        assert not Endpoint.of(url).key
    assert Endpoint.of("http://127.0.0.1/v1", "OPENAI_API_KEY").key == "theirs"
    monkeypatch.setenv("IDEALIST_API_KEY", "ours")
    assert Endpoint.of("http://127.0.0.1/v1").key == "ours"
    with pytest.raises(UsageError, match="no environment variable NOWHERE"):
        Endpoint.of("http://127.0.0.1/v1", "NOWHERE")
    monkeypatch.setenv("BAD", "a\nb")
    with pytest.raises(UsageError, match="characters") as refused:
        Endpoint.of("http://127.0.0.1/v1", "BAD")
    assert "a\nb" not in str(refused.value)


@pytest.mark.parametrize("url", ["", "127.0.0.1", "ftp://x/v1", "http://", "http://[x", "http://x:a/v1", "http://me:pass@x/v1", "https://x/v1?key=1", "http://x/v1#frag"])  # fmt: skip
def test_bad_addresses(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        Endpoint.of(url)
    assert refused.value.hint
    assert "pass" not in str(refused.value).replace("password", "")


def test_who_can_overhear_a_key() -> None:
    for url, heard in (("http://10.1.1.1/v1", True), ("http://model.example/v1", True),
                       ("https://10.1.1.1/v1", False), ("http://127.0.0.1:80/v1", False),
                       ("http://[::1]/v1", False), ("http://localhost/v1", False)):  # fmt: skip
        assert Endpoint(url, "sk-1").is_overheard is heard
        assert not Endpoint(url).is_overheard


def test_a_key_is_taken_out_encoded_too() -> None:
    key = "sk/se cret+9876543210=="
    endpoint = Endpoint("http://x/v1", key)
    coded = [base64.b64encode(one.encode()).decode() for one in (key, f"Bearer {key}", f"a{key}!")]
    for text in (key, quote(key), quote(key, safe=""), quote_plus(key), *coded):
        left = endpoint.scrub(f"<{text}>")
        assert "[key]" in left, text
        assert len(left) < 20, text


def test_an_address_may_be_whole() -> None:
    assert Endpoint.of("http://x/v1/chat/completions").url == "http://x/v1"
    assert Endpoint.of("http://x/v1/").url == "http://x/v1"


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *given: Any, **more: Any) -> Any:
        if name == "httpx2":
            raise ImportError(name)
        return real(name, *given, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError) as refused:
        Client(Endpoint.of("http://x/v1"), Budget())
    assert refused.value.hint == "pip install 'idealist[judge]'"


def test_limits_hold_before_anything_is_sent() -> None:
    with scripted() as server:
        budget = Budget(Limits(requests=3))
        got = ask(server, *[REQUEST] * 5, budget=budget)
        assert sum(isinstance(one, LimitReached) for one in got) == 2
        assert len(server.asked) == budget.sent == 3
        most = REQUEST.tokens_in + REQUEST.sampling.tokens
        [one] = ask(server, budget=Budget(Limits(tokens=most - 1)))
        assert isinstance(one, LimitReached)
        price = Price(1.0, 2.0)
        cost = price.of(Usage(REQUEST.tokens_in, REQUEST.sampling.tokens))
        [one] = ask(server, budget=Budget(Limits(cost=cost * 0.999), price))
        assert isinstance(one, LimitReached)
        assert len(server.asked) == 3
        budget = Budget(Limits(cost=cost), price)
        assert isinstance(ask(server, budget=budget)[0], Received)
        assert budget.cost == pytest.approx(price.of(Usage(20, 5)))


def test_texts_with_more_tokens_than_estimated_are_learnt_from() -> None:
    estimate, true = Usage(100, 10), Usage(300, 10)
    budget = Budget(Limits(tokens=1000))
    held = budget.send(estimate)
    assert budget.over(estimate) == "the first answer"
    budget.learn(estimate, true)
    budget.settle(held, true)
    assert budget.send(estimate) == true
    assert budget.over(estimate) == ""
    budget.send(estimate)
    assert budget.over(estimate) == "--max-tokens 1,000"


def test_requests_sent_again_count_too() -> None:
    with scripted(BAD_DAYS["broken"]) as server:
        [failed] = ask(server, budget=Budget(Limits(requests=2)))
    assert isinstance(failed, LimitReached)
    assert len(server.asked) == 2


def test_an_answer_that_is_lost_may_have_cost_money() -> None:
    with scripted(by_turns(BAD_DAYS["cut off"], BAD_DAYS["broken"], graded(1))) as server:
        budget = Budget()
        ask(server, budget=budget)
    most = Usage(REQUEST.tokens_in, REQUEST.sampling.tokens)
    assert budget.used == most.plus(Usage(20, 5))


def test_without_usage_the_most_is_assumed() -> None:
    with scripted(BAD_DAYS["without usage"]) as server:
        [received] = ask(server)
    assert isinstance(received, Received)
    assert received.spent.guessed
    assert received.spent.usage == Usage(REQUEST.tokens_in, REQUEST.sampling.tokens)


def test_the_hash_covers_what_makes_the_answer() -> None:
    others = [
        Request("other", REQUEST.messages, REQUEST.schema, "p"),
        Request("tiny", [{"role": "system", "content": "Cats?"}], REQUEST.schema, "p"),
        Request("tiny", REQUEST.messages, {}, "p"),
        Request("tiny", REQUEST.messages, REQUEST.schema, "q"),
        Request("tiny", REQUEST.messages, REQUEST.schema, "p", sample=1),
        *(Request("tiny", REQUEST.messages, REQUEST.schema, "p", sampling)
          for sampling in (Sampling(temperature=1), Sampling(seed=3), Sampling(logprobs=False))),
    ]  # fmt: skip
    assert len({REQUEST.hash, *(one.hash for one in others)}) == len(others) + 1
    longer = Request("tiny", REQUEST.messages, REQUEST.schema, "p", Sampling(tokens=9))
    assert longer.hash == REQUEST.hash


def test_prices(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('["a.b"]\ninput = 1\noutput = 2.5\n[c]\ninput=0\noutput=0\ncurrency="EUR"')
    assert read_prices(file) == {"a.b": Price(1, 2.5), "c": Price(0, 0, "EUR")}
    for bad in ("x", "a = 1", "[a]\ninput = 1", "[a]\ninput = -1\noutput = 1", "[a]\ninput = 'x'\noutput = 1", "[a]\ninput = nan\noutput = 1"):  # fmt: skip
        file.write_text(bad)
        with pytest.raises(InputError) as refused:
            read_prices(file)
        assert "million" in refused.value.hint
    with pytest.raises(InputError, match="cannot open"):
        read_prices(tmp_path / "none")


@pytest.mark.parametrize("limits", [Limits(requests=0), Limits(tokens=-1), Limits(cost=float("nan")), Limits(cost=1)])  # fmt: skip
def test_limits_that_cannot_be_kept(limits: Limits) -> None:
    with pytest.raises(IdealistError) as refused:
        limits.check("tiny", {"tinny": Price(1, 1)})
    assert refused.value.hint
    Limits(1, 1, 1).check("tiny", {"tiny": Price(1, 1)})


def test_of_log_probabilities_only_words_and_numbers_are_kept() -> None:
    likely = {"token": "2", "id": 7, "bytes": [50], "logprob": -0.5}
    tokens = [{**likely, "top_logprobs": [likely]}]
    with scripted(completion("2\ud800", logprobs=tokens)) as server:
        [received] = ask(server)
    assert isinstance(received, Received)
    said = json.loads(received.answer)
    assert said["id"] == "x"
    kept = {"token": "2", "logprob": -0.5}
    assert said["choices"][0]["logprobs"]["content"] == [{**kept, "top_logprobs": [kept]}]
    assert said["choices"][0]["message"]["content"] == "2\ud800"
