"""A judged sample of a pool: what each document drawn from it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealist.errors import Faults, UsageError
from idealist.lists import Lists
from idealist.tables import Qrels
from idealist.tables.columns import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Sample:
    """What judgments are a sample of.

    Per judgment: the index of its `query` and of its `stratum` among those of the query, whether it
    was `drawn`, and how many documents of its stratum there are, and were drawn: it stands for
    `size` / `judged` documents, its `weight`.
    """

    query: Ints
    stratum: Ints
    drawn: Bools
    size: Floats
    judged: Floats

    @classmethod
    def of(cls, qrels: Qrels) -> Sample:
        """Count the documents of each stratum, all and drawn."""
        query, drawn = _queries(qrels), qrels.grades >= 0
        keys = list(zip(query.tolist(), _strata(qrels), strict=True))
        index = {key: i for i, key in enumerate(sorted(set(keys)))}
        every = np.array([index[key] for key in keys], dtype=np.int64)
        size, judged = (sums(every, some, len(index))[every] for some in (every >= 0, drawn))
        first = np.searchsorted([owner for owner, _ in index], query)
        return cls(query, every - first, drawn, size, judged)

    @classmethod
    def by_chance(cls, qrels: Qrels) -> Sample:
        """Take the probability of each document to be drawn from the column `inclusion`."""
        query, drawn, chance = _queries(qrels), qrels.grades >= 0, qrels.numbers["inclusion"]
        faults = Faults(qrels.name)
        for i in np.flatnonzero(drawn & ~((chance > 0) & (chance <= 1))).tolist():
            pair = f"query {qrels.queries[query[i]]!r}, document {qrels.documents[i]!r}"
            hint = "what was judged was drawn with a probability above 0, and up to 1"
            faults.add("bad-column", f"{pair}: inclusion is {chance[i]:g}", hint)
        faults.check()
        return cls(query, np.zeros_like(query), drawn, np.ones(len(query)), chance)

    @property
    def weight(self) -> Floats:
        """How many documents each one stands for; none where it was not drawn."""
        return ratio(self.size, np.where(self.drawn, self.judged, 0.0), 0.0)


def sums(owner: Ints, values: Any, owners: int) -> Floats:
    """Add up the values of each owner."""
    total: Any = np.bincount(owner, values, owners)
    return np.asarray(total, np.float64)


def ratio(part: Floats, whole: Floats, otherwise: float = np.nan) -> Floats:
    """Divide where there is something to divide by."""
    share: Floats = np.divide(part, whole, out=np.full(len(part), otherwise), where=whole > 0)
    return share


def _queries(qrels: Qrels) -> Ints:
    return np.repeat(np.arange(len(qrels.queries)), np.diff(qrels.starts))


def _strata(qrels: Qrels) -> Sequence[str]:
    if "stratum" not in qrels.columns:
        hint = "il.read_strata and il.read_prels read TREC's files of judged samples"
        raise UsageError("the judgments have no column 'stratum'", hint)
    names: Sequence[str] = qrels.columns["stratum"]
    if "" in names:
        document = qrels.documents[names.index("")]
        message = f"document {document!r} is in no stratum"
        Faults(qrels.name).fail("bad-column", message, "name the stratum of each document")
    return names


def found(lists: Lists, values: Any) -> Any:
    """Give what is known of each judgment for the documents found, and 0 elsewhere."""
    nowhere = np.where(lists.found, lists.judgments[lists.place], -1)
    return np.append(values, np.zeros(1, values.dtype))[nowhere]


def above(mask: Any) -> Any:
    """Sum what stands above each document."""
    mask = mask.astype(np.float64)
    return np.cumsum(mask, axis=1) - mask
