"""What judging may cost: prices of models, and a budget that is asked before anything is sent."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from idealist.errors import Faults, UsageError, nearest

#: Prices are for so many tokens.
MILLION = 1_000_000
#: What a file of prices looks like.
EXAMPLE = '["gpt-4o-mini"] and below it input = 0.15 and output = 0.60, for a million tokens'


class Usage(NamedTuple):
    """Tokens of a question and of its answer."""

    tokens_in: int = 0
    tokens_out: int = 0

    def plus(self, other: Usage) -> Usage:
        """Add what another call used."""
        return Usage(self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)

    @property
    def total(self) -> int:
        """All tokens."""
        return sum(self)


class Price(NamedTuple):
    """What a million tokens cost, asked and answered."""

    input: float
    output: float
    currency: str = "USD"

    def of(self, usage: Usage) -> float:
        """Say what tokens cost.

        >>> Price(0.15, 0.6).of(Usage(2000, 100))
        0.00036
        """
        return (usage.tokens_in * self.input + usage.tokens_out * self.output) / MILLION


def read_prices(path: str | Path) -> dict[str, Price]:
    """Read prices from TOML: a table for each model, with `input`, `output` and maybe `currency`.

    A model's name that has a dot in it needs quotes, as TOML wants them.
    """
    faults = Faults(str(path))
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        faults.fail("no-file", f"cannot open the prices: {error.strerror}", f"write {EXAMPLE}")
    except ValueError as error:  # of TOML, and of what is not UTF-8
        faults.fail("bad-shape", f"the prices are not TOML: {error}", f"write {EXAMPLE}")
    prices = {}
    for model, said in given.items():
        try:
            prices[model] = _price(said)
        except (TypeError, ValueError, KeyError):
            message = f"the price of {model!r} is not input and output, each a number of at least 0"
            faults.add("bad-shape", message, f"write {EXAMPLE}")
    faults.check()
    return prices


def _price(said: Mapping[str, Any]) -> Price:
    asked, answered = float(said["input"]), float(said["output"])
    if not (0 <= asked < math.inf and 0 <= answered < math.inf):
        raise ValueError(said)
    return Price(asked, answered, str(said.get("currency", "USD")))


@dataclass(frozen=True)
class Limits:
    """How many requests, tokens and how much money one call of the verb may use; None is no limit.

    Every request that is sent counts, those too that are sent again because a server was busy.
    """

    requests: int | None = None
    tokens: int | None = None
    cost: float | None = None

    def check(self, model: str, prices: Mapping[str, Price]) -> None:
        """Refuse limits that cannot be kept."""
        for name, limit in (
            ("requests", self.requests),
            ("tokens", self.tokens),
            ("cost", self.cost),
        ):
            if limit is not None and not limit > 0:
                raise UsageError(f"--max-{name} {limit} lets nothing through", "give more than 0")
        if self.cost is not None and model not in prices:
            known = f"; {nearest(model, prices)}" if prices else ""
            message = f"there is a limit of money, but no price of {model!r}"
            raise UsageError(message, f"give --prices FILE: {EXAMPLE}{known}")


@dataclass
class Spent:
    """What one request used, with all its `tries`; `guessed` says that it is the most it could be.

    A server that did not answer, or did not say, may have used as much.
    """

    tries: int = 0
    usage: Usage = field(default_factory=Usage)
    guessed: bool = False

    def add(self, used: Usage, guessed: bool) -> None:
        """Count one try."""
        self.tries += 1
        self.usage = self.usage.plus(used)
        self.guessed |= guessed


class LimitReached(Exception):
    """A request would go over a limit, which `words` name; it had `spent` that much before."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words, self.spent = words, Spent()


class Budget:
    """What was sent and used so far. It is asked before each request is sent.

    A request holds what it could use at most, until it is known what it used. How many tokens a
    question has is an estimate: where tokens or money are limited, the first one goes alone, and
    if one had more than estimated, later ones are taken to have as many more.

    >>> budget = Budget(Limits(tokens=100))
    >>> held = budget.send(Usage(50, 20)); budget.over(Usage(50, 20))
    '--max-tokens 100'
    >>> budget.settle(held, Usage(40, 5)); budget.over(Usage(50, 5))
    ''
    """

    def __init__(self, limits: Limits = Limits(), price: Price | None = None) -> None:
        self.limits, self.price = limits, price
        self.sent, self.under_way, self.guessed = 0, 0, 0
        self.used, self.held = Usage(), Usage()
        self.denser, self.learnt = 1.0, limits.tokens is None and limits.cost is None

    @property
    def cost(self) -> float:
        """The cost of what was used; 0 where no price is known."""
        return self.price.of(self.used) if self.price else 0.0

    def over(self, most: Usage) -> str:
        """Name the limit that a request of `most` so many tokens could go over, if any."""
        used, limits = self.used.plus(self.held).plus(self._most(most)), self.limits
        if limits.requests is not None and self.sent + 1 > limits.requests:
            return f"--max-requests {limits.requests:,}"
        if limits.tokens is not None and used.total > limits.tokens:
            return f"--max-tokens {limits.tokens:,}"
        if limits.cost is not None and self.price and self.price.of(used) > limits.cost:
            return f"--max-cost {limits.cost:g}"
        return "" if self.learnt or not self.under_way else "the first answer"

    def _most(self, most: Usage) -> Usage:
        return Usage(math.ceil(most.tokens_in * self.denser), most.tokens_out)

    def send(self, most: Usage) -> Usage:
        """Hold what a request could use at most, and return that."""
        self.sent += 1
        self.under_way += 1
        held = self._most(most)
        self.held = self.held.plus(held)
        return held

    def learn(self, estimated: Usage, true: Usage) -> None:
        """Note how many tokens a question had that was estimated to have some."""
        self.learnt = True
        self.denser = max(self.denser, true.tokens_in / max(estimated.tokens_in, 1))

    def settle(self, held: Usage, true: Usage, guessed: bool = False) -> None:
        """Count what a request used of what it held; and those where that is a guess."""
        self.guessed += guessed
        self.under_way -= 1
        self.used = self.used.plus(true)
        self.held = self.held.plus(Usage(-held.tokens_in, -held.tokens_out))
