"""What a model is asked, and the hash by which its answer is found again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

#: How many alternatives of each token a server is asked for: enough to see every usual grade.
ALTERNATIVES = 10
#: UTF-8 bytes a token, at least: English has about four, other scripts have fewer.
BYTES_A_TOKEN = 3
#: Tokens that a chat template adds to each message.
TEMPLATE = 8


@dataclass(frozen=True)
class Sampling:
    """How a model chooses its words; `tokens` is the longest answer that it may give."""

    temperature: float = 0.0
    seed: int = 0
    logprobs: bool = True
    tokens: int = 512


@dataclass(frozen=True)
class Request:
    """One question to a model: what it is asked, and how it shall answer.

    Its hash covers all that makes the answer what it is: the model, the messages, the sampling, the
    schema, the prompt and the number of the sample. The address is not part of it, so that a model
    that moves to another one is not asked again; nor is the longest answer, since one that was cut
    off is no answer; nor what a server turned out not to accept.

    >>> request = Request("tiny", [{"role": "user", "content": "Hello"}], {"type": "object"})
    >>> request.hash[:8], request.tokens_in
    ('a3730eb5', 11)
    """

    model: str
    messages: Sequence[Mapping[str, str]]
    schema: Mapping[str, Any]
    prompt: str = ""
    sampling: Sampling = field(default_factory=Sampling)
    sample: int = 0

    @property
    def parameters(self) -> dict[str, Any]:
        """What is recorded of the sampling."""
        return {
            "temperature": self.sampling.temperature, "seed": self.sampling.seed + self.sample,
            "logprobs": self.sampling.logprobs, "sample": self.sample,
        }  # fmt: skip

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the canonical request."""
        said = {
            "model": self.model, "messages": list(self.messages), "schema": self.schema,
            "prompt": self.prompt, **self.parameters,
        }  # fmt: skip
        written = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def tokens_in(self) -> int:
        """About how many tokens the question has; rather too many than too few."""
        texts = (text for message in self.messages for text in message.values())
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        return -(-size // BYTES_A_TOKEN) + TEMPLATE * len(self.messages)

    def body(self, without: Sequence[str] = ()) -> dict[str, Any]:
        """Write the request as OpenAI's chat completions have it, less what a server refuses."""
        said: dict[str, Any] = {
            "model": self.model, "messages": list(self.messages),
            "max_tokens": self.sampling.tokens, "temperature": self.sampling.temperature,
            "seed": self.sampling.seed + self.sample, "response_format": self._format,
        }  # fmt: skip
        if self.sampling.logprobs:
            said |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
        if "max_tokens" in without:  # which newer models call by another name
            said["max_completion_tokens"] = said["max_tokens"]
        if "logprobs" in without:
            without = [*without, "top_logprobs"]
        return {name: value for name, value in said.items() if name not in without}

    @property
    def _format(self) -> dict[str, Any]:
        schema = {"name": "answer", "strict": True, "schema": dict(self.schema)}
        return {"type": "json_schema", "json_schema": schema}
