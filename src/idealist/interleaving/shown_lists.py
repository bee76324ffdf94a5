"""Lists that were made to be shown, read again: from a file of them, or from records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from idealist.data.columns import to_id
from idealist.errors import Faults
from idealist.formats import json_text
from idealist.formats.cells import shown
from idealist.formats.source import Source
from idealist.interleaving.interleaved import METHODS, Interleaved, InterleavedList

HINT = "give the lists of one experiment, as `idealist interleave draw` wrote them"


def read_lists(data: Any) -> Interleaved:
    """Read lists from a file of them, from records, or as `interleave` returned them.

    >>> from idealist.interleaving.interleaved import interleave
    >>> made = interleave({"q": ["x", "y"]}, {"q": ["y", "z"]}, lists=2)
    >>> read_lists(made.data()).lists == made.lists
    True
    """
    if isinstance(data, Interleaved):
        return data
    if isinstance(data, (str, Path)):
        source = Source.of(data)
        faults = Faults(source.name)
        if (text := source.read()).lstrip()[:1] != b"{":
            faults.fail("bad-shape", "these are no interleaved lists", HINT)
        records, lines = json_text.load_lines(text, source.name)
    else:
        faults, records = Faults("lists"), list(data)
        lines = list(range(1, len(records) + 1))
    found: dict[tuple[str, int], InterleavedList] = {}
    heads: dict[tuple[str, str, str], None] = {}
    for line, one in zip(lines, records, strict=True):
        try:
            made = _list_of(one)
            head = made.method, to_id(one["a"]), to_id(one["b"])
        except (KeyError, TypeError, ValueError, OverflowError):
            faults.fail("bad-shape", f"this is no interleaved list: {shown(one)}", HINT, line)
        heads[head] = None
        if len(heads) > 1:
            words = " and ".join(f"{method} of {a} and {b}" for method, a, b in heads)
            faults.fail("bad-shape", f"the lists are {words}", HINT, line)
        if found.setdefault((made.query, made.number), made) is not made:
            message = f"query {made.query!r} has a second list {made.number}"
            faults.add("duplicate-key", message, HINT, line)
    if not found:
        faults.fail("empty", "there are no lists", HINT)
    faults.check()
    (method, a, b), depth = next(iter(heads)), max(len(one.documents) for one in found.values())
    return Interleaved(a, b, method, depth, tuple(found.values()))


def _list_of(one: Mapping[str, Any]) -> InterleavedList:
    """Read a record; whatever it lacks or has wrong raises an error."""
    documents, worth = tuple(map(to_id, one["documents"])), tuple(map(float, one["credits"]))
    ranks = tuple(zip(one["rank_a"], one["rank_b"], strict=True))
    number, probability = one["list"], float(one["probability"])
    sound = (
        len(documents) == len(worth) == len(ranks) == len(set(documents))
        and all(any(pair) and {int, type(None)} >= set(map(type, pair)) for pair in ranks)
        and type(number) is int
        and 0 < probability <= 1
        and one["method"] in METHODS
    )
    if not sound:
        raise ValueError(one)
    return InterleavedList(
        to_id(one["query"]), number, one["method"], documents, worth, ranks, probability
    )
