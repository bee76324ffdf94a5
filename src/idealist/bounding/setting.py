"""Setting up a case: what can be bounded, which grades a hole could have, what is in reach."""

from __future__ import annotations

import numpy as np

from idealist.bounding.case import Case
from idealist.bounding.holes import Holes, documents_of, find_holes
from idealist.errors import UsageError
from idealist.instrument import Instrument
from idealist.measures import Measure
from idealist.measures.ap import AP
from idealist.measures.cumulative import nDCG
from idealist.notation import tidy
from idealist.placements import Placements
from idealist.ranking import rank
from idealist.tables import Qrels, Run
from idealist.tables.columns import Floats, Ints

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
