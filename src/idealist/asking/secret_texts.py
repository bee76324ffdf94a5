"""Secrets that came from the environment: taken out of whatever a server sends back."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import cached_property
from html import escape
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
        """Take the secrets out of a text, as they are or encoded, in whatever case."""
        return self._forms.sub("[key]", text) if self._secrets else text

    @cached_property
    def _forms(self) -> re.Pattern[str]:
        """The secrets as they could come back, the longest first: one may be a part of another."""
        forms = {form for one in self._secrets for form in _forms_of(one)}
        longest = sorted(forms, key=lambda form: (-len(form), form))
        return re.compile("|".join(map(re.escape, longest)), re.IGNORECASE)


def _forms_of(secret: str) -> Iterator[str]:
    """Yield a secret plain, in an address, on a page, in JSON, and in base64.

    >>> [*_forms_of("a/b<c")][:7]
    ['a/b<c', 'a/b%3Cc', 'a%2Fb%3Cc', 'a%2Fb%3Cc', '%61%2f%62%3c%63', 'a/b&lt;c', 'a/b&lt;c']
    """
    yield secret
    yield from (quote(secret), quote(secret, safe=""), quote_plus(secret))
    yield "".join(f"%{byte:02x}" for byte in secret.encode())
    yield from (
        escape(secret),
        escape(secret, quote=False),
        escape(secret).replace("&#x27;", "&#39;"),
    )
    in_json = json.dumps(secret)[1:-1]
    yield from (in_json, in_json.replace("/", "\\/"))
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
