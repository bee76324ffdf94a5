"""A case to bound: an instrument, a run, what is unjudged in it, and the grades it could have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from idealist.bounding.hidden import Holes, documents_of, find_holes
from idealist.data import Qrels, Run
from idealist.data.columns import Bools, Floats, Ints, freeze, starts_of
from idealist.errors import UsageError
from idealist.measures import Measure
from idealist.measures.average_precision import AP
from idealist.measures.cumulative import nDCG
from idealist.measures.instrument import Instrument, Measured, measured
from idealist.notation import tidy
from idealist.ranking.placements import Placements
from idealist.ranking.ranked import rank


class Completion(NamedTuple):
    """A grade for every hole, and for each query one for all its documents elsewhere."""

    grades: Floats
    elsewhere: Floats


@dataclass(frozen=True, eq=False)
class Case:
    """What bounds are computed of.

    `levels` are the grades that a hole could have, as the protocol reads them, lowest first;
    `elsewhere` counts, per query, the unjudged documents outside the list that could be judged too.
    """

    instrument: Instrument
    placements: Placements
    holes: Holes
    levels: Floats
    elsewhere: Ints

    @property
    def size(self) -> int:
        """The number of judged queries."""
        return len(self.placements.qrels.queries)

    @cached_property
    def spans(self) -> list[tuple[int, slice]]:
        """The queries that have holes, and where these are."""
        starts = starts_of(self.holes.counts(self.size)).tolist()
        return [(q, slice(a, b)) for q, (a, b) in enumerate(pairwise(starts)) if a < b]

    def pool(self, query: int) -> Floats:
        """Give the grades judged for a query."""
        qrels = self.placements.qrels
        grades = qrels.grades[qrels.starts[query] : qrels.starts[query + 1]]
        return grades[grades >= 0] if self.placements.protocol.negative == "drop" else grades

    def listed(self, query: int) -> slice:
        """Say which places are a query's."""
        return slice(*self.placements.starts[query : query + 2].tolist())

    def all_at(self, grade: float, elsewhere: float | None = None) -> Completion:
        """Give every hole one grade, and the documents elsewhere one; the lowest if not said."""
        outside = self.levels[0] if elsewhere is None else elsewhere
        return Completion(np.full(len(self.holes), grade), np.full(self.size, outside))

    def completed(self, completion: Completion) -> Placements:
        """Give the placements as they would be with the holes judged so."""
        return judged(self.placements, self.holes, completion.grades,
                      self.elsewhere, completion.elsewhere)  # fmt: skip

    def measured(self, completion: Completion) -> Measured:
        """Measure a completion as any judgments are measured."""
        return measured(self.instrument, self.completed(completion))

    def fixed(self, which: Bools, grade: float) -> Case:
        """Give the case in which some holes are judged to have a grade."""
        some = self.holes.at(which)
        grades = np.full(len(some), grade)
        nobody = np.zeros(self.size, dtype=np.int64)
        placements = judged(self.placements, some, grades, nobody, nobody.astype(np.float64))
        return replace(self, placements=placements, holes=self.holes.at(~which))


def judged(
    placements: Placements, holes: Holes, grades: Floats, elsewhere: Ints, outside: Floats
) -> Placements:
    """Add judgments of holes, and of documents that the list does not hold."""
    if placements.protocol.grades == "nonzero":  # a grade of 0 is no judgment
        holes, grades = holes.at(grades != 0), grades[grades != 0]
        elsewhere = np.where(outside != 0, elsewhere, 0)
    qrels, size = placements.qrels, len(placements.qrels.queries)
    before, counts = np.diff(qrels.starts), holes.counts(size)
    added = starts_of(counts + elsewhere)
    starts = qrels.starts + added
    filled = np.repeat(outside, before + counts + elsewhere)  # the others are written over it
    filled[np.arange(len(qrels.grades)) + np.repeat(added[:-1], before)] = qrels.grades
    ends = starts[:-1] + before - starts_of(counts)[:-1]
    index = np.arange(len(holes)) + ends[holes.query]
    filled[index] = grades
    made = replace(
        qrels, starts=freeze(starts), grades=freeze(filled), columns={},
        documents=("",) * len(filled), subtopics=None, preferences=None,
    )  # fmt: skip
    joined: dict[str, Any] = {
        "judgment": np.concatenate((placements.judgment + added[placements.query], index)),
        **{
            name: np.concatenate((getattr(placements, name), getattr(holes, name)))
            for name in ("query", "rank", "first", "last", "score")
        },
    }
    order = np.lexsort((joined["rank"], joined["query"]))
    columns: dict[str, Any] = {name: column[order] for name, column in joined.items()}
    return replace(placements, qrels=made, **columns)


#: The measures whose bounds are exact.
EXACT = (
    "nDCG", "DCG", "CG", "IDCG", "AP", "GMAP", "RR", "P", "R", "F", "SetAP", "Success", "AllHit",
    "ERR", "RBP", "Judged", "Unjudged", "NumRel", "NumRelRet",
)  # fmt: skip
#: What unjudged documents are looked for in.
REACHES = ("list", "collection")


def grades_of(qrels: Qrels, instrument: Instrument) -> dict[float, float]:
    """Give the grades that a hole could have, as the protocol reads them, each with its own text.

    They are those of the declared scale or, without one, those observed, with 0 and 1.
    """
    protocol = instrument.protocol
    declared = qrels.scale.grades if qrels.scale else {*qrels.grades.tolist(), 0.0, 1.0}
    possible = sorted(float(grade) for grade in declared)
    if protocol.negative == "error":
        possible = [grade for grade in possible if grade >= 0]
    elif protocol.negative == "drop" and possible[0] < 0:
        hint = "declare a scale without negative grades: scale=3"
        raise UsageError("a hole with a negative grade would leave the list", hint)
    cut = protocol.grades != "keep"
    read = {float(np.trunc(g)) + 0.0 if cut else g: tidy(g) for g in reversed(possible)}
    return dict(sorted(read.items()))


def check(instrument: Instrument, reach: str) -> None:
    """Refuse what has no bounds, or none that are known here."""
    measure, protocol = instrument.measure, instrument.protocol
    if measure.name not in EXACT:
        hint = "bounds are known for " + ", ".join(EXACT)
        raise UsageError(f"{measure.name} has no bounds here", hint)
    if reach not in REACHES:
        raise UsageError(f"there is no reach {reach!r}", "it is one of " + ", ".join(REACHES))
    if protocol.unjudged == "drop":
        hint = "leave them their ranks: unjudged=zero"
        raise UsageError("unjudged=drop takes out the documents that bounds are about", hint)
    if protocol.ties in ("best", "worst"):
        hint = "choose an order that grades do not decide, such as ties=docid-desc"
        raise UsageError(f"ties={protocol.ties} would order holes by their hidden grades", hint)
    if reach == "collection" and measure.list_only:
        hint = "use reach=list, or an ideal or R of all judged documents"
        raise UsageError(f"{measure} is blind to documents that were not retrieved", hint)
    if reach == "collection" and getattr(measure, "negative", "") == "keep":
        hint = "use reach=list, or negative=zero"
        raise UsageError(f"{measure} with negative gains has no bounds over a collection", hint)


def _check_gains(case: Case) -> None:
    measure, placed = case.instrument.measure, case.placements
    negative = min(placed.qrels.minimum, float(case.levels[0])) < 0
    kept = isinstance(measure, nDCG) and measure.negative == measure.ideal_negative == "keep"
    if kept and negative:
        hint = "use ideal_negative=omit, or negative=zero"
        raise UsageError("negative gains in the ideal list have no bounds here", hint)
    if isinstance(measure, AP) and (measure.block_end or placed.protocol.ties == "expected"):
        queries = [placed.qrels.queries[q] for q, _ in case.spans if placed.ties[q]]
        if queries:
            hint = "choose an order of ties, such as ties=docid-desc, with block_end=false"
            raise UsageError(
                f"{measure} has no exact bounds where tied lists have holes ({queries[0]!r})", hint
            )


def set_up(
    instrument: Instrument,
    qrels: Qrels,
    run: Run,
    reach: str = "list",
    documents: int | None = None,
) -> Case:
    """Set up the case of a run."""
    check(instrument, reach)
    placements, holes = placed_holes(instrument, qrels, run)
    size = len(qrels.queries)
    elsewhere = np.zeros(size, dtype=np.int64)
    if reach == "collection":
        known = np.diff(qrels.starts) + holes.counts(size)
        elsewhere = _elsewhere(instrument.measure, placements, known, documents)
    levels: Floats = np.array(list(grades_of(qrels, instrument)))
    case = Case(instrument, placements, holes, levels, elsewhere)
    _check_gains(case)
    return case


def placed_holes(instrument: Instrument, qrels: Qrels, run: Run) -> tuple[Placements, Holes]:
    """Rank a run, and find the holes that an instrument sees."""
    measure, protocol = instrument.measure, instrument.protocol
    placements = rank(qrels, run, [protocol])[protocol]
    detailed = (
        protocol.ties == "expected"
        or getattr(measure, "positive_score", False)
        or getattr(measure, "block_end", False)
    )
    holes = find_holes(placements, measure.cutoff, run if detailed else None)
    if protocol.grades == "nonzero":
        holes = _never_judged(holes, qrels, placements, run)
    return placements, holes


def _never_judged(holes: Holes, qrels: Qrels, placements: Placements, run: Run) -> Holes:
    """Leave out documents whose grade of 0 counts as no judgment: they were judged."""
    known = qrels.lookup
    pairs = zip(holes.query.tolist(), documents_of(holes, placements, run), strict=True)
    return holes.at(np.array([d not in known[qrels.queries[q]] for q, d in pairs], dtype=bool))


def most_elsewhere(measure: Measure, placements: Placements) -> int | None:
    """Say how many documents elsewhere could matter to a query; None where all that there are."""
    cutoff, denominator = measure.cutoff, str(getattr(measure, "denominator", ""))
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
        raise UsageError(f"documents={documents} are fewer than one query's judged ones", hint)
    return left if most is None else np.minimum(left, most)
