"""A case to bound: a ranked run, the unjudged documents in it, and the grades they could get."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from idealist.bounding.unjudged_places import UnjudgedPlaces, documents_of, find_unjudged
from idealist.data import Qrels
from idealist.data.columns import Bools, Floats, Ints, freeze, starts_of
from idealist.data.judgments import GOLD
from idealist.errors import UsageError
from idealist.measures import Measure
from idealist.measures.average_precision import AP
from idealist.measures.cumulative import nDCG
from idealist.measures.instrument import Instrument, Measured, measured
from idealist.notation import tidy
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import Ranked

#: The measures whose bounds are exact.
EXACT = (
    "nDCG", "DCG", "CG", "IDCG", "AP", "GMAP", "RR", "P", "R", "F", "SetAP", "Success", "AllHit",
    "ERR", "RBP", "Judged", "Unjudged", "NumRel", "NumRelRet",
)  # fmt: skip
#: Where unjudged documents are looked for, of one run.
REACHES = ("list", "collection")
#: The measures of a list alone: no judgment of a document outside it moves them.
OF_THE_LIST = ("P", "RR", "Success", "CG", "DCG", "Judged", "NumRelRet")
#: No documents outside the lists, and no grades of them.
NOBODY, NOTHING = np.zeros(0, dtype=np.int64), np.zeros(0)


class Completion(NamedTuple):
    """A grade for every unjudged document of the lists, and one per query for all others."""

    grades: Floats
    elsewhere: Floats


@dataclass(frozen=True, eq=False)
class BoundCase:
    """What bounds are computed from.

    `levels` are the grades that an unjudged document could get, as the protocol reads them, lowest
    first; `elsewhere` counts, per query, the documents outside the list that could be judged too.
    """

    instrument: Instrument
    placements: Placements
    unjudged: UnjudgedPlaces
    levels: Floats
    elsewhere: Ints

    @classmethod
    def of(
        cls,
        instrument: Instrument,
        ranked: Ranked,
        reach: str = "list",
        documents: int | None = None,
    ) -> BoundCase:
        """Set up the case of a run, or say why its value cannot be bounded."""
        _check(instrument, reach)
        if (meant := ranked.qrels.meant) not in ("", "pooled"):
            hint = "say --judgments pooled to see what judging more could change"
            raise UsageError(f"no document is unjudged: {GOLD[meant]}", hint)
        unjudged, qrels = unjudged_of(instrument, ranked), ranked.qrels
        placements = ranked[instrument.protocol]
        elsewhere = np.zeros(len(qrels.queries), dtype=np.int64)
        if reach == "collection":
            known = np.diff(qrels.starts) + unjudged.counts(len(qrels.queries))
            elsewhere = _elsewhere(instrument.measure, placements, known, documents)
        levels: Floats = np.array(list(grades_of(qrels, instrument)))
        case = cls(instrument, placements, unjudged, levels, elsewhere)
        _check_gains(case)
        return case

    @property
    def queries(self) -> tuple[str, ...]:
        """The judged queries."""
        return self.placements.qrels.queries

    @property
    def size(self) -> int:
        """The number of judged queries."""
        return len(self.queries)

    @property
    def by_chance(self) -> bool:
        """Whether values are means over all orders of tied documents."""
        return self.placements.protocol.ties == "expected"

    @cached_property
    def spans(self) -> list[tuple[int, slice]]:
        """The queries that have unjudged documents, and where these are."""
        return spans_of(self.unjudged.counts(self.size))

    def pool(self, query: int) -> Floats:
        """Return the grades judged for a query."""
        qrels = self.placements.qrels
        grades = qrels.grades[qrels.starts[query] : qrels.starts[query + 1]]
        return grades[grades >= 0] if self.placements.protocol.negative == "drop" else grades

    def listed(self, query: int) -> slice:
        """Return where the placements of a query are."""
        return slice(*self.placements.starts[query : query + 2].tolist())

    def all_at(self, grade: float, elsewhere: float | None = None) -> Completion:
        """Give every unjudged document one grade, and those elsewhere another, or the lowest."""
        outside = self.levels[0] if elsewhere is None else elsewhere
        return Completion(np.full(len(self.unjudged), grade), np.full(self.size, outside))

    def measured(self, completion: Completion) -> Measured:
        """Measure the run as if the unjudged documents had been judged so."""
        elsewhere = np.repeat(np.arange(self.size), self.elsewhere)
        return self.judged(completion.grades, elsewhere, completion.elsewhere[elsewhere])

    def judged(self, grades: Floats, elsewhere: Ints, outside: Floats) -> Measured:
        """Measure the run with more judgments: of its documents, and of some that it lacks."""
        placements = with_judgments(self.placements, self.unjudged, grades, elsewhere, outside)
        return measured(self.instrument, placements)

    def fixed(self, which: Bools, grade: float) -> BoundCase:
        """Return the case in which some of the unjudged documents have a grade."""
        some = self.unjudged.at(which)
        placements = with_judgments(self.placements, some, np.full(len(some), grade))
        return replace(self, placements=placements, unjudged=self.unjudged.at(~which))


def spans_of(counts: Ints) -> list[tuple[int, slice]]:
    """Return the queries that have anything, and where it is, in columns sorted by query."""
    starts = starts_of(counts).tolist()
    return [(q, slice(a, b)) for q, (a, b) in enumerate(pairwise(starts)) if a < b]


def with_judgments(
    placements: Placements, unjudged: UnjudgedPlaces, grades: Floats,
    elsewhere: Ints = NOBODY, outside: Floats = NOTHING,
) -> Placements:  # fmt: skip
    """Add judgments of unjudged places, and of documents that the list does not hold.

    `elsewhere` has the queries of the latter, in order, and `outside` their grades.
    """
    qrels = placements.qrels
    if placements.protocol.grades == "nonzero":  # a grade of 0 is no judgment
        unjudged, grades = unjudged.at(grades != 0), grades[grades != 0]
        elsewhere, outside = elsewhere[outside != 0], outside[outside != 0]
    known = np.repeat(np.arange(len(qrels.queries)), np.diff(qrels.starts))
    query = np.concatenate((known, unjudged.query, elsewhere))
    order = np.argsort(query, kind="stable")  # by query: judged, unjudged, elsewhere
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    made = replace(
        qrels, starts=freeze(starts_of(np.bincount(query, minlength=len(qrels.queries)))),
        grades=freeze(np.concatenate((qrels.grades, grades, outside))[order]), columns={},
        documents=("",) * len(order), subtopics=None, preferences=None, judged_by=None,
    )  # fmt: skip
    added = place[len(known) : len(known) + len(grades)]
    joined: dict[str, Any] = {
        "judgment": np.concatenate((place[placements.judgment], added)),
        **{
            name: np.concatenate((getattr(placements, name), getattr(unjudged, name)))
            for name in ("query", "rank", "first", "last", "score")
        },
    }
    ranked = np.lexsort((joined["rank"], joined["query"]))
    return replace(placements, qrels=made, **{key: one[ranked] for key, one in joined.items()})


def unjudged_of(instrument: Instrument, ranked: Ranked) -> UnjudgedPlaces:
    """Find the unjudged documents that an instrument sees."""
    measure, protocol = instrument.measure, instrument.protocol
    detailed = (
        protocol.ties == "expected"
        or getattr(measure, "positive_score", False)
        or getattr(measure, "block_end", False)
    )
    placements = ranked[protocol]
    unjudged = find_unjudged(placements, measure.cutoff, ranked.held if detailed else None)
    if protocol.grades != "nonzero":
        return unjudged
    documents = documents_of(unjudged, ranked, protocol)
    known, queries = ranked.qrels.lookup, ranked.qrels.queries
    pairs = zip(unjudged.query.tolist(), documents, strict=True)
    never = [document not in known[queries[query]] for query, document in pairs]
    return unjudged.at(np.array(never, dtype=bool))  # a grade of 0 was given by somebody, too


def grades_of(qrels: Qrels, instrument: Instrument) -> dict[float, float]:
    """Return the grades that a document could get: as the protocol reads them, and as written.

    They are those of the declared scale or, without one, those observed, with 0 and 1.
    """
    protocol = instrument.protocol
    declared = qrels.scale.grades if qrels.scale else {*qrels.grades.tolist(), 0.0, 1.0}
    possible = sorted(float(grade) for grade in declared)
    if protocol.negative == "error":
        possible = [grade for grade in possible if grade >= 0]
    elif protocol.negative == "drop" and possible[0] < 0:
        hint = "declare a scale without negative grades: scale=3"
        raise UsageError("negative=drop would remove a document with a negative grade", hint)
    cut = protocol.grades != "keep"
    read = {float(np.trunc(g)) + 0.0 if cut else g: tidy(g) for g in reversed(possible)}
    return dict(sorted(read.items()))


def most_elsewhere(measure: Measure, placements: Placements) -> int | None:
    """Return how many documents elsewhere can matter to a query; None if each one more does."""
    cutoff, denominator = measure.cutoff, str(getattr(measure, "denominator", ""))
    settled = "no_relevant" not in measure.parameters() or measure.if_undefined == "0"
    if measure.name in OF_THE_LIST and settled:
        return 0
    if isinstance(measure, nDCG) and measure.ideal != "perfect":
        return None if measure.ideal_cut == "none" else cutoff
    if measure.name in ("AP", "GMAP", "R", "F", "SetAP", "NumRel"):
        capped = {
            "min(k,R)": cutoff,
            "min(n,R)": cutoff or int(placements.retrieved.max(initial=1)),
        }
        return capped.get(denominator)
    return 1


def _elsewhere(
    measure: Measure, placements: Placements, known: Ints, documents: int | None
) -> Ints:
    """Count the documents elsewhere that can matter, per query."""
    most = most_elsewhere(measure, placements)
    if documents is None:
        return np.full(len(known), most or 0)
    left = documents - known
    if left.min() < 0:
        hint = "give the size of the whole collection"
        raise UsageError(f"documents={documents} is fewer than one query has judged", hint)
    return left if most is None else np.minimum(left, most)


def _check(instrument: Instrument, reach: str) -> None:
    """Refuse what has no bounds, or none that we know."""
    measure, protocol = instrument.measure, instrument.protocol
    if measure.name not in EXACT:
        hint = "bounds are known for " + ", ".join(EXACT)
        raise UsageError(f"no bounds are known for {measure.name}", hint)
    if reach not in REACHES:
        raise UsageError(f"there is no reach {reach!r}", "choose one of " + ", ".join(REACHES))
    if protocol.unjudged == "drop":
        hint = "keep them in the list: unjudged=zero"
        raise UsageError("unjudged=drop removes the documents that bounds are about", hint)
    if protocol.ties in ("best", "worst"):
        hint = "choose an order that does not depend on grades, such as ties=docid-desc"
        raise UsageError(f"ties={protocol.ties} would order documents by unknown grades", hint)
    if reach == "collection" and measure.list_only:
        hint = "use reach=list, or an ideal or R of all judged documents"
        raise UsageError(f"{measure} does not depend on documents outside the list", hint)
    if reach == "collection" and getattr(measure, "negative", "") == "keep":
        hint = "use reach=list, or negative=zero"
        raise UsageError(f"{measure} has negative gains, so a collection has no bounds", hint)


def _check_gains(case: BoundCase) -> None:
    measure, placed = case.instrument.measure, case.placements
    negative = min(placed.qrels.minimum, float(case.levels[0])) < 0
    kept = isinstance(measure, nDCG) and measure.negative == measure.ideal_negative == "keep"
    if kept and negative:
        hint = "use ideal_negative=omit, or negative=zero"
        raise UsageError("no bounds are known with negative gains in the ideal list", hint)
    if isinstance(measure, AP) and (measure.block_end or case.by_chance):
        tied = [placed.qrels.queries[q] for q, _ in case.spans if placed.ties[q]]
        if tied:
            hint = "choose an order of ties, such as ties=docid-desc, with block_end=false"
            problem = f"list {tied[0]!r} has both ties and unjudged documents"
            raise UsageError(f"no exact bounds are known for {measure}: {problem}", hint)
