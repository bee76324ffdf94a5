"""Secrets of requests: written as ``${NAME}``, taken from the environment, shown nowhere."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from urllib.parse import parse_qsl, quote, urlsplit

from idealist.asking.secret_texts import Secrets
from idealist.errors import UsageError

NAME = re.compile(r"\$\{(\w+)\}")
#: What the names of secrets hold, in headers and addresses; authors and keywords are none.
SECRET = re.compile(r"auth(?!ors?\b)|key(?!word)|token|secret|cookie|password", re.IGNORECASE)
#: A shorter value, such as a tenant or a shard, could be part of any text: it is not taken out.
SHORTEST = 6
#: The parts of an address: its scheme, the user, the host, and all that follows.
PARTS = re.compile(r"(\w[\w+.-]*://)?([^/?#@]*@)?([^/?#]*)(.*)", re.DOTALL)
#: What headers may be called, and say.
HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
HEADER_VALUE = re.compile(r"[\t -~\xa0-\xff]*")

#: What stands in place of a user in an address of HTTP.
HEADER = "leave the user out, and send a header: --header 'Authorization: ${VARIABLE}'"


class Environment:
    """Fills in variables, and remembers what it filled in, so that no output can hold it."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    @property
    def secrets(self) -> Secrets:
        """All that was filled in and is long enough to be a secret."""
        return Secrets(one for one in self._found.values() if len(one) >= SHORTEST)

    @property
    def doubt(self) -> str:
        """Say what was filled in and is too short to be kept out of outputs; mostly nothing."""
        names = sorted(name for name, one in self._found.items() if len(one) < SHORTEST)
        said = f"fewer than {SHORTEST} characters: no secret, and not masked where it comes back"
        return (
            f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'} {said}" if names else ""
        )

    def filled(self, text: str, written: Callable[[str], str] = str) -> str:
        """Fill in the variables of a text, each `written` as where it stands wants it."""
        return NAME.sub(lambda found: written(self._value(found[1])), text)

    def address(self, text: str) -> str:
        """Fill in an address: beside the host, no value can be read as a part of its syntax."""
        found = PARTS.fullmatch(text)
        start, user, host, rest = found.groups("") if found else ("", "", text, "")
        user, rest = (self.filled(part, partial(quote, safe=safe)) for part, safe in
                      ((user, ""), (rest, "/")))  # fmt: skip
        return self.filled(start) + user + self.filled(host) + rest

    def _value(self, name: str) -> str:
        value = os.environ.get(name, "").strip()
        if not value:
            raise UsageError(f"there is no environment variable {name}", f"export {name}=…")
        if not (value.isascii() and value.isprintable()):
            raise UsageError(f"{name} has characters that no header has", f"check {name}")
        self._found[name] = value
        return value

    def headers(self, given: Mapping[str, str]) -> dict[str, str]:
        """Fill in headers; refuse secrets that are written out."""
        for name, value in given.items():
            if not (isinstance(name, str) and HEADER_NAME.fullmatch(name)):
                raise UsageError(f"{name!r:.60} is no name of a header", "such as X-Tenant")
            if not (isinstance(value, str) and HEADER_VALUE.fullmatch(value)):
                hint = "write text of one line, without characters beyond Latin-1"
                raise UsageError(f"no header can say what {name} says", hint)
            if is_telling(name) and not NAME.search(value):
                hint = f"put it into an environment variable: '{name}: ${{VARIABLE}}'"
                raise UsageError(f"the header {name} holds a secret that others could read", hint)
        return {name: self.filled(value) for name, value in given.items()}


def is_telling(name: str) -> bool:
    """Whether a name says that its value is a secret.

    >>> [is_telling(name) for name in ("X-Api-Key", "Authorization", "author", "keyword")]
    [True, True, False, False]
    """
    return SECRET.search(name) is not None


def check_address(url: str) -> None:
    """Refuse an address that cannot be read, or that holds a secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise UsageError("the address cannot be read", "write http://HOST:PORT/PATH") from None
    for name, value in parse_qsl(parts.query):
        # PostgreSQL's sslkey is the path of a file, and its require_auth the name of a way
        is_secret = "password" in name if parts.scheme.startswith("postgres") else is_telling(name)
        if is_secret and not NAME.search(value) and "{{" not in value:
            hint = f"put it into an environment variable: {name}=${{VARIABLE}}"
            raise UsageError(f"{name} in the address is a secret that others could read", hint)
    if parts.password and not NAME.fullmatch(parts.password):
        hint = HEADER if parts.scheme.startswith("http") else "write ${VARIABLE} in its place"
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
