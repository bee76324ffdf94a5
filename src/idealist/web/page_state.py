"""What an address says: the whole state of a page, so that an address can be sent and kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import urlencode

from idealist.errors import UsageError
from idealist.evaluating.evaluator import DEFAULT_MEASURES
from idealist.notation import measures_of

#: The longest value of a parameter, and how often one may repeat.
LONGEST, OFTEN = 2000, 200


def _named(name: str, default: Any = "") -> Any:
    """Make a field that has another name in addresses."""
    return field(default=default, metadata={"name": name})


@dataclass(frozen=True)
class PageState:
    """What is looked at, by which rules, and how it is listed; empty is what is usual.

    `pinned` are the runs that are looked at together, `run` is the one whose queries are listed.
    `column` and `part` choose a slice of the queries, `way` how they ended, `find` words in them.

    >>> state = PageState.of([("m", "nDCG@5,10"), ("pin", "bm25"), ("page", "2")])
    >>> state.measures, state.pinned, state.page
    (('nDCG@5', 'nDCG@10'), ('bm25',), 2)
    >>> state.address("/runs", page=1)
    '/runs?m=nDCG%405&m=nDCG%4010&pin=bm25'
    """

    judgments: str = _named("qrels")
    measures: tuple[str, ...] = _named("m", ())
    convention: str = _named("c")
    settings: tuple[str, ...] = _named("set", ())
    baseline: str = ""
    pinned: tuple[str, ...] = _named("pin", ())
    run: str = ""
    query: str = ""
    column: str = _named("slice")
    part: str = ""
    way: str = ""
    find: str = ""
    sort: str = ""
    page: int = 1
    ranks: int = 0
    first: str = _named("a")
    second: str = _named("b")
    judge: str = ""
    batch: int = 0
    title: str = ""

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> PageState:
        """Read the parameters of an address; those of other names are nobody's."""
        given: dict[str, list[str]] = {}
        for name, value in pairs:
            if len(value) > LONGEST:
                raise UsageError(f"{name} in the address is too long", "shorten it")
            if value:
                given.setdefault(name, []).append(value)
        if any(len(values) > OFTEN for values in given.values()):
            raise UsageError("the address repeats a parameter too often", "shorten it")
        found = {
            one.name: _read(name, given[name], one.default)
            for one, name in _NAMES.items()
            if name in given
        }
        state = cls(**found)
        asked = tuple(measures_of(state.measures))
        return replace(state, measures=() if asked == DEFAULT_MEASURES else asked)

    def pairs(self) -> list[tuple[str, str]]:
        """Return the parameters of the address, without what is usual."""
        found: list[tuple[str, str]] = []
        for one, name in _NAMES.items():
            value = getattr(self, one.name)
            if value != one.default:
                values = value if isinstance(value, tuple) else (value,)
                found += [(name, str(each)) for each in values]
        return found

    def address(self, path: str, **changes: Any) -> str:
        """Write the address of a page in this state, with some changes."""
        pairs = (replace(self, **changes) if changes else self).pairs()
        return f"{path}?{urlencode(pairs)}" if pairs else path

    def kept(self, *names: str) -> PageState:
        """Keep some of it, and what every page shares: the data and the rules."""
        shared = ("judgments", "measures", "convention", "settings", "baseline", "pinned")
        return PageState(**{name: getattr(self, name) for name in (*shared, *names)})


_NAMES = {one: one.metadata.get("name", one.name) for one in fields(PageState)}


def _read(name: str, values: Sequence[str], default: Any) -> Any:
    if isinstance(default, tuple):
        return tuple(dict.fromkeys(values))
    if not isinstance(default, int):
        return values[-1]
    if not (values[-1].isascii() and values[-1].isdecimal() and len(values[-1]) < 9):
        raise UsageError(f"{name}={values[-1]!r:.40} is not a whole number", "correct the address")
    return int(values[-1])
