"""Secrets of requests: written as ``${NAME}``, taken from the environment, shown nowhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from idealist.asking.secret_texts import Secrets
from idealist.errors import UsageError

NAME = re.compile(r"\$\{(\w+)\}")
#: Headers whose value is a secret, by a part of their name.
SECRET = ("auth", "key", "token", "secret", "cookie", "password")


class Environment:
    """Fills in variables, and remembers what it filled in, so that no output can hold it."""

    def __init__(self) -> None:
        self._found: list[str] = []

    @property
    def secrets(self) -> Secrets:
        """All that was filled in."""
        return Secrets(self._found)

    def filled(self, text: str) -> str:
        """Fill in the variables of a text."""
        return NAME.sub(lambda found: self._value(found[1]), text)

    def _value(self, name: str) -> str:
        value = os.environ.get(name, "").strip()
        if not value:
            raise UsageError(f"there is no environment variable {name}", f"export {name}=…")
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"{name} has characters that no header has", f"check {name}")
        self._found.append(value)
        return value

    def headers(self, given: Mapping[str, str]) -> dict[str, str]:
        """Fill in headers; refuse secrets that are written out."""
        for name, value in given.items():
            is_secret = any(part in name.lower() for part in SECRET)
            if is_secret and not NAME.search(value):
                hint = f"put it into an environment variable: '{name}: ${{VARIABLE}}'"
                raise UsageError(f"the header {name} holds a secret that others could read", hint)
        return {name: self.filled(value) for name, value in given.items()}


def check_address(url: str) -> None:
    """Refuse an address that holds a password."""
    try:
        password = urlsplit(url).password
    except ValueError:
        return
    if password and not NAME.fullmatch(password):
        hint = "write ${VARIABLE} in its place, or --header 'Authorization: ${VARIABLE}'"
        raise UsageError("the address holds a password that others could read", hint)


def headers_of(words: Iterable[str]) -> dict[str, str]:
    """Read headers as they are typed.

    >>> headers_of(["X-Tenant: shop"])
    {'X-Tenant': 'shop'}
    """
    found = {}
    for word in words:
        name, sign, value = word.partition(":")
        if not sign or not name.strip() or not re.fullmatch(r"[\w-]+", name.strip()):
            hint = "write --header 'Authorization: ApiKey ${ES_KEY}'"
            raise UsageError("a --header has no name, or no value", hint)
        found[name.strip()] = value.strip()
    return found
