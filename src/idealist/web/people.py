"""Who may do what: people with a role, and the sessions by which a browser is known."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

#: What each role may do: see the pages, judge what is its turn, change what all see.
ROLES: dict[str, frozenset[str]] = {
    "reader": frozenset({"see"}),
    "judge": frozenset({"judge"}),
    "editor": frozenset({"see", "judge", "edit"}),
}
#: How long a browser stays known without a visit, in seconds, and how many are.
LASTING, MOST = 7 * 86400.0, 10_000


@dataclass(frozen=True)
class Person:
    """Somebody who is known: the name that judgments get, and the role.

    `account` tells by which password somebody with an account came in; else it is empty.
    """

    name: str
    role: str = "editor"
    account: str = field(default="", repr=False)

    def may(self, what: str) -> bool:
        """Whether the role allows it; what needs nothing is for everybody."""
        return not what or what in ROLES[self.role]


@dataclass
class Sessions:
    """Browsers that are known, by the hash of what their cookie holds.

    >>> sessions = Sessions()
    >>> secret = sessions.begin(Person("ann"))
    >>> sessions.person(secret).name, sessions.person("guess")
    ('ann', None)
    """

    _known: dict[bytes, tuple[Person, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, person: Person) -> str:
        """Make a session; return the secret of its cookie."""
        secret, now = secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            for old in list(self._old(now)):
                del self._known[old]
            if len(self._known) >= MOST:
                del self._known[min(self._known, key=lambda one: self._known[one][1])]
            self._known[_hash(secret)] = person, now + LASTING
        return secret

    def _old(self, now: float) -> Iterator[bytes]:
        return (key for key, (_, until) in self._known.items() if until < now)

    def person(self, secret: str) -> Person | None:
        """Find whose session it is."""
        now, key = time.monotonic(), _hash(secret)
        with self._lock:
            person, until = self._known.get(key, (None, 0.0))
            if person is None or until < now:
                return None
            self._known[key] = person, now + LASTING
            return person

    def end(self, secret: str) -> None:
        """Forget a session."""
        with self._lock:
            self._known.pop(_hash(secret), None)


@dataclass
class Token:
    """A secret that is good for one use: the address that is printed at the start holds it."""

    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    used: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def spend(self, given: str) -> bool:
        """Whether this is the secret, and nobody used it before."""
        with self._lock:
            good = not self.used and same(given, self.secret)
            self.used = self.used or good
            return good


def same(given: str, secret: str) -> bool:
    """Compare secrets in a time that tells nothing."""
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()
