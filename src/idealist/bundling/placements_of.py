"""The placements of a run that a bundle holds: its lists under every rule that could order them.

A rule that changes nothing in a run is noted, and needs no lists of its own. So a run without ties
is held once, whatever tools order ties by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from idealist.data import Qrels, Run
from idealist.errors import IdealistError
from idealist.formats.run_sources import FileRun
from idealist.protocol import Protocol
from idealist.ranking.place_columns import Columns
from idealist.ranking.ranked import Ranked
from idealist.ranking.stored_placements import StoredPlacements, plain

#: The orders of ties that tools have; those by grade are made of the first.
TIES = ("docid-desc", "docid-asc", "input", "input-reversed", "random(0)")
#: What scores may be compared in.
PRECISIONS = ("float64", "float32")

#: The rules that order a list, but for what merges chunks and what a budget cuts.
AXES = ("precision", "order", "ties", "duplicates", "nonfinite", "exclude_self")

Lists = dict[Protocol, Columns]


def stored_placements(qrels: Qrels, run: Run, protocol: Protocol) -> StoredPlacements:
    """Rank a run under a protocol and under all others that this data allows, and keep that.

    The run is read once, and once more only if there are ties, or scores that float32 ties.

    >>> from idealist.formats import read_qrels, read_run
    >>> qrels = read_qrels({"q1": {"d1": 2}})
    >>> kept = stored_placements(qrels, read_run({"q1": {"d3": 2.0, "d1": 1.0}}), Protocol())
    >>> kept.same["ties"], [ordering.order for ordering in kept.lists]
    ('docid-desc', ['score', 'given'])
    """
    ranked, base = Ranked(qrels, run), protocol.ordering
    lists = _ranked(ranked, list(_heads(ranked, base)))
    lists[plain(base)] = first = ranked.ordered(base)  # which raises what is wrong with the run
    same = _same(base, lists)
    if not first["in_run"].any():  # there is nothing to order
        same = {axis: getattr(base, axis) for axis in AXES}
    others = [one for one in _orderings(base, lists, same) if plain(one) not in lists]
    lists |= _ranked(ranked, others) if others else {}
    kept = dict.fromkeys(plain(replace(one, **same)) for one in [base, *lists])
    return StoredPlacements(
        name=run.source.name,
        qrels=qrels,
        lists={one: lists[one] for one in kept if one in lists},
        same=same,
        collapse=str(base.collapse),
        others=ranked[base].unknown,
        unscored=ranked[base].unscored,
        remarks=ranked.held.source.remarks,
    )


def _ranked(ranked: Ranked, orderings: list[Protocol]) -> Lists:
    """Rank under several orderings in one pass; those that this data does not have are left out."""
    with suppress(IdealistError):
        ranked.under(orderings)
    found: Lists = {}
    for ordering in orderings:
        with suppress(IdealistError):
            found[plain(ordering)] = ranked.ordered(ordering)
    return found


def _heads(ranked: Ranked, base: Protocol) -> Iterator[Protocol]:
    """List the orderings that show which other rules could change anything."""
    known = ("rank",) if _has_ranks(ranked) else ()
    for order in dict.fromkeys((base.order, "score", *known, "given")):
        for precision in PRECISIONS if order == "score" else (base.precision,):
            for exclude_self in (base.exclude_self, not base.exclude_self):
                yield replace(base, order=order, precision=precision, exclude_self=exclude_self)


def _has_ranks(ranked: Ranked) -> bool:
    """Whether the run has a rank column, whichever kernel reads it."""
    source = ranked.held.source
    if isinstance(source, FileRun):
        return source.has_ranks
    return source.rows().ranks is not None


def _same(base: Protocol, lists: Lists) -> dict[str, Any]:
    """Find the rules that change nothing in this run; the value is the one they count as."""
    same: dict[str, Any] = {}
    scored = [plain(replace(base, order="score", precision=one)) for one in PRECISIONS]
    if base.duplicates == "error":  # and there are none
        same["duplicates"] = "error"
    if base.nonfinite == "error" and all(one in lists for one in scored):
        same["nonfinite"] = "error"
        if not any(lists[one]["float32"].any() for one in scored):
            same["precision"] = base.precision
    twins = [(lists.get(one), lists.get(replace(one, exclude_self=False))) for one in lists]
    if all(a and b and np.array_equal(a["retrieved"], b["retrieved"]) for a, b in twins):
        same["exclude_self"] = False
    if not any(columns["ties"].any() for columns in lists.values()):
        same["ties"] = "docid-desc"
    return same


def _orderings(base: Protocol, lists: Lists, same: Mapping[str, Any]) -> Iterable[Protocol]:
    """List the rules under which lists could differ."""
    axes: dict[str, Iterable[Any]] = {
        "order": dict.fromkeys(one.order for one in lists),
        "ties": dict.fromkeys([base.ties, *TIES]),
        "precision": PRECISIONS,
        "exclude_self": (False, True),
    }
    axes |= {axis: (value,) for axis, value in same.items() if axis in axes}
    for values in product(*axes.values()):
        yield replace(base, **{**same, **dict(zip(axes, values, strict=True))})
