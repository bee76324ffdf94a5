"""How often a password may be guessed: for a name from an address, from an address, for a name."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NamedTuple

#: How many names and addresses are remembered, and for how many seconds after the last guess.
MOST, KEPT = 10_000, 3600.0


class Limit(NamedTuple):
    """So many wrong guesses are free; then each wait is twice the one before, up to `longest`."""

    free: int
    longest: float

    def wait(self, wrong: int) -> float:
        """Return how many seconds must pass after so many wrong guesses.

        >>> [Limit(5, 900.0).wait(wrong) for wrong in (4, 5, 6, 7, 50)]
        [0.0, 2.0, 4.0, 8.0, 900.0]
        """
        over = wrong - self.free
        return 0.0 if over < 0 else min(2.0 ** min(over + 1, 30), self.longest)


#: Suggested. Who guesses the password of one name from one address soon waits long. The other two
#: stop those who try many names, or come from many addresses; since they can hit somebody who did
#: nothing, they let many guesses pass and never make anybody wait for more than a minute.
PAIR, ADDRESS, NAME = Limit(5, 900.0), Limit(30, 60.0), Limit(100, 60.0)


@dataclass
class Guesses:
    """Wrong guesses so far, and when the next one may be.

    From where somebody came in before, guesses that others make elsewhere do not count: nobody can
    keep a person out by guessing.

    >>> now = [0.0]
    >>> guesses = Guesses(lambda: now[0])
    >>> [guesses.begin("ann", "10.0.0.1") for _ in range(6)]
    [0.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    >>> guesses.begin("ann", "10.0.0.2")
    0.0
    """

    clock: Callable[[], float] = time.monotonic
    _wrong: OrderedDict[tuple[str, ...], tuple[int, float]] = field(default_factory=OrderedDict)
    _came_in: OrderedDict[tuple[str, str], None] = field(default_factory=OrderedDict)

    def begin(self, name: str, address: str) -> float:
        """Count a guess as wrong until it is known; or return how many seconds it must wait."""
        now, network = self.clock(), network_of(address)
        limits = list(self._limits(name, network))
        left = max(self._left(key, limit, now) for key, limit in limits)
        if left <= 0:
            for key, _ in limits:
                self._note(key, self._count(key, now) + 1, now)
        return max(left, 0.0)

    def right(self, name: str, address: str) -> None:
        """Note that the password was right: what this guess counted is taken back."""
        network = network_of(address)
        for key, _ in self._limits(name, network):
            wrong, last = self._wrong.get(key, (0, 0.0))
            self._wrong[key] = max(wrong - 1, 0), last
        self._wrong.pop(("pair", name, network), None)
        self._came_in[name, network] = None
        self._came_in.move_to_end((name, network))
        while len(self._came_in) > MOST:
            self._came_in.popitem(last=False)

    def _limits(self, name: str, network: str) -> Iterator[tuple[tuple[str, ...], Limit]]:
        yield ("pair", name, network), PAIR
        yield ("address", network), ADDRESS
        if (name, network) not in self._came_in:
            yield ("name", name), NAME

    def _count(self, key: tuple[str, ...], now: float) -> int:
        wrong, last = self._wrong.get(key, (0, now))
        return wrong if now - last < KEPT else 0

    def _left(self, key: tuple[str, ...], limit: Limit, now: float) -> float:
        _, last = self._wrong.get(key, (0, now))
        return last + limit.wait(self._count(key, now)) - now

    def _note(self, key: tuple[str, ...], wrong: int, now: float) -> None:
        """Remember a count; those that did not change for longest are forgotten."""
        self._wrong[key] = wrong, now
        self._wrong.move_to_end(key)
        while len(self._wrong) > MOST:
            self._wrong.popitem(last=False)


def network_of(address: str) -> str:
    """Return whose address it is: with IPv6, one person has all that begin with the same 64 bits.

    >>> network_of("2001:db8::1"), network_of("::ffff:10.0.0.1"), network_of("10.0.0.1")
    ('2001:db8::', '10.0.0.1', '10.0.0.1')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address[:100]
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found), 64), strict=False).network_address)
