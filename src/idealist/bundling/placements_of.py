"""The placements of a run that a bundle holds: its lists under every rule that could order them.

A rule that changes nothing in a run is noted, and needs no lists of its own. So a run without ties
is held once, whatever tools order ties by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from idealist.data import Qrels, Run
from idealist.errors import IdealistError
from idealist.protocol import Protocol
from idealist.ranking.place_columns import Columns
from idealist.ranking.ranked import Ranked
from idealist.ranking.stored_placements import StoredPlacements, plain

#: The orders of ties that tools have; those by grade are made of the first.
TIES = ("docid-desc", "docid-asc", "input", "input-reversed", "random(0)")
#: What scores may be compared in.
PRECISIONS = ("float64", "float32")


def stored_placements(qrels: Qrels, run: Run, protocol: Protocol) -> StoredPlacements:
    """Rank a run under a protocol and under all others that this data allows, and keep that.

    >>> from idealist.formats import read_qrels, read_run
    >>> qrels = read_qrels({"q1": {"d1": 2}})
    >>> kept = stored_placements(qrels, read_run({"q1": {"d3": 2.0, "d1": 1.0}}), Protocol())
    >>> kept.same["ties"], [ordering.order for ordering in kept.lists]
    ('docid-desc', ['score', 'given'])
    """
    ranked, base = Ranked(qrels, run), protocol.ordering
    orders = _orders(ranked, base)
    first = ranked[base]
    same = _same(ranked, base, orders)
    lists: dict[Protocol, Columns] = {}
    for ordering in _orderings(base, orders, same):
        with suppress(IdealistError):  # an order that this data does not have
            lists.setdefault(plain(ordering), ranked.ordered(ordering))
    return StoredPlacements(
        name=run.source.name,
        qrels=qrels,
        lists=lists,
        same=same,
        collapse=str(base.collapse),
        others=first.unknown,
        unscored=first.unscored,
        remarks=ranked.held.source.remarks,
    )


def _orders(ranked: Ranked, base: Protocol) -> list[str]:
    """Find what could order the lists, and rank by that in one pass over the run."""
    known = ("rank",) if getattr(ranked.run.source, "has_ranks", False) else ()
    sure = dict.fromkeys((base.order, "score", *known, "given"))
    ranked.tried([*(replace(base, order=order) for order in sure), _without_self(base)])
    return list(dict.fromkeys([*sure, "rank"]))


def _without_self(ordering: Protocol) -> Protocol:
    return replace(ordering, exclude_self=not ordering.exclude_self)


def _same(ranked: Ranked, base: Protocol, orders: Iterable[str]) -> dict[str, Any]:
    """Find the rules that change nothing in this run; the value is the one they count as."""
    first = ranked.ordered(base)
    same: dict[str, Any] = {}
    if not first["duplicates"].any():
        same["duplicates"] = "error"
    if all(_allows(ranked, replace(base, nonfinite="error", precision=p)) for p in PRECISIONS):
        same["nonfinite"] = "error"
        if not first["float32"].any() or base.order != "score":
            same["precision"] = "float64"
    if np.array_equal(ranked.ordered(_without_self(base))["retrieved"], first["retrieved"]):
        same["exclude_self"] = False
    possible = [replace(base, order=order, **same) for order in orders]
    if not any(_tied(ranked, replace(one, precision=p)) for one in possible for p in PRECISIONS):
        same["ties"] = "docid-desc"
    return same


def _allows(ranked: Ranked, ordering: Protocol) -> bool:
    with suppress(IdealistError):
        ranked.ordered(ordering)
        return True
    return False


def _tied(ranked: Ranked, ordering: Protocol) -> bool:
    """Whether two documents of a list have the same place in an order."""
    with suppress(IdealistError):
        return bool(ranked.ordered(ordering)["ties"].any())
    return False


def _orderings(
    base: Protocol, orders: Sequence[str], same: Mapping[str, Any]
) -> Iterator[Protocol]:
    """List the rules under which lists could differ, those asked for first."""
    axes = {
        "order": orders,
        "ties": list(dict.fromkeys([base.ties, *TIES])),
        "precision": PRECISIONS,
        "exclude_self": (base.exclude_self, not base.exclude_self),
    }
    axes |= {axis: (value,) for axis, value in same.items() if axis in axes}
    for values in product(*axes.values()):
        yield replace(base, **{**same, **dict(zip(axes, values, strict=True))})
