"""Where a model answers: an address, a key that is nowhere written or shown, and patience."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import SplitResult, urlsplit

from idealist.asking.addresses import http_parts, is_open
from idealist.asking.secret_texts import Secrets
from idealist.errors import UsageError

#: The variables that hold a key unless another is named; the second is for its owner only.
OUR_KEY, OPENAI_KEY = "IDEALIST_API_KEY", "OPENAI_API_KEY"
#: Seconds of the first pause before a request is sent again.
FIRST_PAUSE = 1.0


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers: the address up to ``/v1``, a key, and how patient to be."""

    url: str
    key: str = field(default="", repr=False)
    timeout: float = 120.0
    attempts: int = 6
    pause: float = FIRST_PAUSE

    @classmethod
    def of(cls, url: str, key_env: str | None = None, **patience: Any) -> Endpoint:
        """Check an address, and find the key in the environment."""
        parts = _parts(url)
        key = _key(parts.hostname or "", key_env)
        return cls(url.rstrip("/").removesuffix("/chat/completions"), key, **patience)

    @property
    def place(self) -> str:
        """The address without anything that could be secret."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    @property
    def is_overheard(self) -> bool:
        """Whether others can read the key on its way: no encryption, and not this machine."""
        return bool(self.key) and is_open(urlsplit(self.url))

    def scrub(self, text: str) -> str:
        """Take the key out of what a server sent back, as it is or encoded."""
        return self._secrets.scrub(text)

    @cached_property
    def _secrets(self) -> Secrets:
        return Secrets([self.key])


def _parts(url: str) -> SplitResult:
    parts = http_parts(url)
    if parts is None:
        hint = "give what stands before /chat/completions: --url http://127.0.0.1:8080/v1"
        raise UsageError("the address of the model cannot be read", hint)
    if parts.username or parts.password or parts.query:
        hint = "put the key into an environment variable, and name that: --key-env NAME"
        raise UsageError("the address holds a password or a query, which could be a secret", hint)
    if "#" in url:
        hint = "leave out what begins with #"
        raise UsageError("the address has a fragment, which is never sent", hint)
    return parts


def _key(host: str, variable: str | None) -> str:
    """Find the key; OpenAI's own is sent to no other host unless it is named."""
    if variable is None:
        openai = host == "openai.com" or host.endswith(".openai.com")
        key = os.environ.get(OUR_KEY) or (os.environ.get(OPENAI_KEY) if openai else "") or ""
    elif variable in os.environ:
        key = os.environ[variable]
    else:
        raise UsageError(f"there is no environment variable {variable}", f"export {variable}=…")
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError("the key has characters that no key has", f"check {variable or OUR_KEY}")
    return key
