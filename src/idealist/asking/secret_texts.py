"""Secrets that came from the environment: taken out of whatever a server sends back."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cached_property
from urllib.parse import quote, quote_plus

#: A shorter part of a secret in base64 could be part of anything.
SHORTEST_FORM = 8


class Secrets:
    """Secrets, of which no text that is shown or written may hold one.

    >>> Secrets(["s3cret/key"]).scrub("the key s3cret/key, or s3cret%2Fkey, is wrong")
    'the key [key], or [key], is wrong'
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(dict.fromkeys(filter(None, secrets)))

    def __repr__(self) -> str:
        return f"<Secrets {len(self._secrets)}>"

    @property
    def has_any(self) -> bool:
        """Whether there are secrets."""
        return bool(self._secrets)

    def scrub(self, text: str) -> str:
        """Take the secrets out of a text, as they are or encoded."""
        for form in self._forms:
            text = text.replace(form, "[key]")
        return text

    @cached_property
    def _forms(self) -> tuple[str, ...]:
        """The secrets as they could come back: plain, in JSON, in an address, or in base64."""
        return tuple(dict.fromkeys(form for one in self._secrets for form in _forms_of(one)))


def _forms_of(secret: str) -> Iterator[str]:
    yield secret
    yield from (quote(secret), quote(secret, safe=""), quote_plus(secret))
    yield json.dumps(secret)[1:-1]
    yield from _in_base64(secret)


def _in_base64(secret: str) -> Iterator[str]:
    """Yield how a secret looks in base64, wherever in a text it stands; the ends depend on others.

    >>> import base64
    >>> all(any(form in base64.b64encode(f"{before}sk-0123456789!".encode()).decode()
    ...     for form in _in_base64("sk-0123456789")) for before in ("", "a", "ab", "Bearer "))
    True
    """
    for before in range(3):
        coded = b64encode(b" " * before + secret.encode()).decode().rstrip("=")
        form = coded[before + bool(before) : -1]
        if len(form) >= SHORTEST_FORM:
            yield from (form, form.translate(str.maketrans("+/", "-_")))
