"""Requests to an OpenAI-compatible endpoint: sent again where that helps, given up with the reason.

Nothing here knows of judgments. A key is sent, and is nowhere written or shown.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from idealist.asking.patience import LONGEST_WAIT, is_passing, pause_after, retry_after
from idealist.errors import UsageError
from idealist.judging.llm.endpoints import OUR_KEY, Endpoint
from idealist.judging.llm.limits import Budget, LimitReached, Spent, Usage
from idealist.rendering.wording import seen

if TYPE_CHECKING:
    import httpx2

    from idealist.judging.llm.requests import Request

#: Answers that no request would change: the key, the account, the address or the model is wrong.
HOPELESS = {
    401: "the key is wrong or missing", 402: "the account has no money left",
    403: "the key may not do this", 404: "there is no such address or model",
}  # fmt: skip
#: What a server may refuse, with words of its refusal; a request can do without each.
OPTIONAL = {
    "response_format": ("response_format", "json_schema", "json schema", "grammar", "structured"),
    "logprobs": ("logprobs",),
    "max_tokens": ("max_completion_tokens",),
    "seed": ("seed",),
    "temperature": ("temperature",),
}
#: The longest answer in bytes; a grade needs less than a thousandth of it.
LARGEST = 8 << 20


class CallFailed(Exception):
    """One request has no answer, and `fault` says why; `answer` is what came instead.

    It is `given_up` where the server, not the request, seems to be at fault.
    """

    def __init__(self, fault: str, answer: str = "", given_up: bool = False) -> None:
        super().__init__(fault)
        self.fault, self.answer, self.given_up, self.spent = fault, answer, given_up, Spent()


class Received(NamedTuple):
    """An answer almost as it came, what all tries spent, and how long the last one took.

    `without` says what the server does not accept.
    """

    answer: str
    spent: Spent
    seconds: float
    without: tuple[str, ...]


class Client:
    """Asks one endpoint. What it does not accept is found out once, and left out from then on."""

    def __init__(self, endpoint: Endpoint, budget: Budget) -> None:
        self.endpoint, self.budget = endpoint, budget
        self.without: tuple[str, ...] = ()
        self.again = 0
        self._resume = 0.0
        self._stopped, self._changed = asyncio.Event(), asyncio.Event()
        self._http = _http(endpoint)

    async def ask(self, request: Request) -> Received:
        """Ask until there is an answer, or no hope of one; errors tell what was spent too."""
        spent = Spent()
        try:
            return await self._ask(request, spent)
        except (CallFailed, LimitReached) as error:
            error.spent = spent
            raise

    async def _ask(self, request: Request, spent: Spent) -> Received:
        failures = 0
        while True:
            await self._wait(self._resume - time.monotonic())
            try:
                return await self._once(request, spent, self.without)
            except _Refused as refused:
                self.without = tuple(dict.fromkeys([*self.without, refused.field]))
            except _Busy as busy:
                failures += 1
                if failures >= self.endpoint.attempts:
                    raise CallFailed(
                        f"{busy}, {failures} times", busy.answer, given_up=True
                    ) from None
                await self._pause(busy, failures)

    async def _pause(self, busy: _Busy, failures: int) -> None:
        """Wait for a random time; where the server says how long, no request is sent meanwhile."""
        if busy.wait > LONGEST_WAIT:
            words = f"{busy}; it asks to wait for {busy.wait:.0f} seconds"
            raise CallFailed(words, busy.answer, given_up=True)
        self._resume = max(self._resume, time.monotonic() + busy.wait)
        await self._wait(busy.wait + pause_after(failures, self.endpoint.pause))

    async def _wait(self, seconds: float) -> None:
        """Let time pass, unless nothing more shall be sent."""
        if seconds > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), seconds)
        if self._stopped.is_set():
            raise LimitReached("it was stopped")

    def stop(self) -> None:
        """Send nothing more; answers that are under way may arrive."""
        self._stopped.set()
        self._changed.set()

    async def _once(self, request: Request, spent: Spent, without: tuple[str, ...]) -> Received:
        """Send a request as soon as the limits allow it, and read what comes back."""
        most = Usage(request.tokens_in, request.sampling.tokens)
        await self._room(most)
        held = self.budget.send(most)
        self.again += spent.tries > 0
        begun = time.perf_counter()
        used, guessed = held, True  # an answer that is lost may have cost as much
        try:
            status, wait, raw = await self._post(json.dumps(request.body(without)).encode())
            seconds = time.perf_counter() - begun
            answer = self.endpoint.scrub(raw.decode("utf-8", "replace"))
            said = _read(answer, status)
            if status != 200 or "choices" not in said:
                used, guessed = Usage(), False
                told = self._clean(_message(said, answer))
                raise self._failure(_status(status, said), told, answer, wait, without)
            used, guessed = _usage(said, held)
            self.budget.learn(most, most if guessed else used)
            return Received(_compact(said), spent, seconds, without)
        except _Unsent as unsent:
            used, guessed = Usage(), False
            raise _Busy(str(unsent)) from None
        finally:
            spent.add(used, guessed)
            self.budget.settle(held, used, guessed)
            self._changed.set()

    async def _room(self, most: Usage) -> None:
        """Wait for room within the limits, while others may use less than they could."""
        while words := self.budget.over(most):
            if not self.budget.under_way:
                raise LimitReached(words)
            self._changed.clear()
            await self._changed.wait()
            await self._wait(0)

    async def _post(self, body: bytes) -> tuple[int, str, bytes]:
        """Return the status, for how long to wait, and the answer."""
        import httpx2

        try:
            async with asyncio.timeout(self.endpoint.timeout):
                return await self._streamed(body)
        except (TimeoutError, httpx2.TimeoutException):
            raise _Busy(f"no answer within {self.endpoint.timeout:g} seconds") from None
        except httpx2.ConnectError as error:
            raise _Unsent(f"cannot connect: {self._clean(str(error))}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _Busy(f"the connection broke: {self._clean(str(error))}") from None

    async def _streamed(self, body: bytes) -> tuple[int, str, bytes]:
        """Read an answer; one without end is not read to its end."""
        url = f"{self.endpoint.url}/chat/completions"
        async with self._http.stream("POST", url, content=body) as response:
            raw = bytearray()
            async for part in response.aiter_bytes():
                raw += part
                if len(raw) > LARGEST:
                    raise CallFailed(f"the answer has more than {LARGEST >> 20} MiB")
            return response.status_code, response.headers.get("retry-after", ""), bytes(raw)

    def _failure(
        self, status: int, told: str, answer: str, wait: str, without: tuple[str, ...]
    ) -> Exception:
        """Say what it means that a server does not answer."""
        words = f"status {status}: {told}" if told else f"status {status}"
        if status == 429 and "insufficient_quota" in answer:
            status = 402
        refused = _refused(told, without) if status in (400, 422) else ""
        if refused:
            return _Refused(refused)
        if is_passing(status):
            return _Busy(words, answer, retry_after(wait))
        if status in HOPELESS or 300 <= status < 400:
            means = HOPELESS.get(status, "the address leads elsewhere")
            hint = f"check --url, --model and the key; {OUR_KEY}, or --key-env NAME, holds it"
            return UsageError(f"{self.endpoint.place}: {means} ({words})", hint)
        return CallFailed(words, answer)

    def _clean(self, text: str) -> str:
        return seen(" ".join(self.endpoint.scrub(text).split()))[:300]

    async def close(self) -> None:
        """Hang up."""
        await self._http.aclose()


class _Refused(Exception):
    """A server does not accept a field of the request."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class _Unsent(Exception):
    """A request did not reach the server."""


class _Busy(Exception):
    """A server may answer next time, after a `wait` in seconds."""

    def __init__(self, words: str, answer: str = "", wait: float = 0.0) -> None:
        super().__init__(words)
        self.answer, self.wait = answer, wait


def _http(endpoint: Endpoint) -> httpx2.AsyncClient:
    try:
        import httpx2
    except ImportError:
        message = "asking a model needs a package that is not installed"
        raise UsageError(message, "pip install 'idealist[judge]'") from None
    headers = {"content-type": "application/json"}
    if endpoint.key:
        headers["authorization"] = f"Bearer {endpoint.key}"
    # How many requests are under way is for others to decide.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    secure = endpoint.url.startswith("https:")  # certificates take longer to load than most answers
    return httpx2.AsyncClient(
        headers=headers, timeout=endpoint.timeout, limits=limits, verify=secure
    )


def _read(answer: str, status: int) -> dict[str, Any]:
    """Read the JSON of an answer; pages of errors are no JSON, and an answer must be."""
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        said = None
    if isinstance(said, dict):
        return said
    if status == 200:
        page = "<html" in answer[:1000].lower()
        what = "a web page: does --url end in /v1?" if page else "what is not JSON"
        raise CallFailed(f"the server answers with {what}", answer[:10_000])
    return {}


def _refused(told: str, without: tuple[str, ...]) -> str:
    """Find what a server does not accept, of what it was sent."""
    for name, words in OPTIONAL.items():
        if name not in without and any(word in told.lower() for word in words):
            return name
    return ""


def _status(status: int, said: Mapping[str, Any]) -> int:
    """Find the status; gateways write it into an error of an answer that is otherwise fine."""
    error = said.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if status == 200 and isinstance(code, int) else 500 if status == 200 else status


def _message(said: Mapping[str, Any], answer: str) -> str:
    """Find the words of an error, in JSON or on a page."""
    error = said.get("error", said.get("message", said.get("detail", "")))
    if isinstance(error, dict):
        error = error.get("message", "")
    return str(error) if said else re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", answer[:5000])


def _usage(said: Mapping[str, Any], most: Usage) -> tuple[Usage, bool]:
    """Read what an answer used; where the server does not say, it is the most it could be."""
    given = said.get("usage")
    counted = given if isinstance(given, dict) else {}
    asked, answered = counted.get("prompt_tokens"), counted.get("completion_tokens")
    if isinstance(asked, int) and isinstance(answered, int) and min(asked, answered) >= 0:
        return Usage(asked, answered), False
    return most, True


def _compact(said: dict[str, Any]) -> str:
    """Write an answer without the bytes and numbers of its tokens, most of it by size."""

    def kept(value: Any) -> Any:
        if isinstance(value, list):
            return [kept(one) for one in value]
        if isinstance(value, dict):
            token = "logprob" in value
            return {k: kept(v) for k, v in value.items() if not (token and k in ("bytes", "id"))}
        return value

    return json.dumps(kept(said), separators=(",", ":"))
