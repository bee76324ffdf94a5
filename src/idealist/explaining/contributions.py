"""Contributions: what each document adds to a value, in the words of its measure.

Every family of measures has terms of its own: gains and discounts, precisions, probabilities to
stop. Where a value is a sum over documents, what they add adds up to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from idealist.measures import MEASURES, Measure
from idealist.measures.gains import Discount, geometric
from idealist.ranking.padded_lists import Array, PaddedLists

#: Measures where a document adds the same whatever stands above it, the ideal list held fixed.
ADDITIVE = ("CG", "DCG", "nDCG", "P", "R", "Rprec", "NumRelRet", "Judged", "RBP")

#: What a list without ties has in place of where they begin and end.
NO_TIES: dict[str, Array] = {"start": None, "end": None}


@dataclass(frozen=True)
class Terms:
    """What each place of one list means to a measure: named terms, and what it adds to the value.

    `adds` is None where the value is no sum over documents. `words` say how the value is made.
    """

    words: str
    columns: dict[str, Array] = field(default_factory=dict)
    adds: Array | None = None


def alone(lists: PaddedLists, row: int) -> PaddedLists:
    """Return one list of a block as a block of its own; it may have no ties where others have."""
    some = slice(row, row + 1)
    names = ("found", "rank", "first", "last", "grade", "place", "pool", "judged", "retrieved")
    arrays = {name: getattr(lists, name)[some] for name in names}
    if lists.start is not None:
        tied = bool(lists.xp.any(arrays["found"] & (arrays["first"] < arrays["last"])))
        arrays |= {"start": lists.start[some], "end": lists.end[some]} if tied else NO_TIES
    return replace(lists, pooled={}, known={}, cuts={}, **arrays)


def terms(measure: Measure, lists: PaddedLists) -> Terms:
    """Take one list's value apart; every parameter is set.

    >>> from idealist.ranking.padded_lists import padded
    >>> from idealist.measures import parse
    >>> found = terms(parse("AP").filled(), padded([1, 0, 1], judged=[1]))
    >>> found.columns["precision"].tolist(), found.words
    ([[1.0, 0.0, 0.6666666666666666]], 'a relevant document adds the precision at its rank / 3')
    """
    known = MEASURES.get(measure.name) is type(measure)
    family = FAMILIES.get(measure.name) if known else None
    if lists.averaged and (family is None or measure.name in _OF_ONE_ORDER):
        return Terms(f"the mean of {measure.name} over all orders of ties is no sum over documents")
    if family is None:
        return Terms(f"{measure.name} is no sum over documents")
    return family(measure, lists)


def _cumulated(measure: Any, lists: PaddedLists) -> Terms:
    """CG, DCG, nDCG: gain x discount, over the ideal list's."""
    discount = Discount(getattr(measure, "discount", "none"))
    gain = measure.gains(lists, lists.grade, lists.found)
    columns = {"gain": gain, "discount": discount.each(lists, _ones(lists), measure.cutoff)}
    adds = discount.each(lists, gain, measure.cutoff)
    words = "a document adds its gain" + (" × discount" if discount.text != "none" else "")
    if measure.name == "nDCG":
        ideal = measure.ideal_dcg(lists)
        undefined = lists.xp.isnan(measure.formula(lists))  # then nothing adds to anything
        adds = lists.xp.where(undefined[:, None], 0.0, lists.ratio(adds, ideal[:, None], 0.0))
        words += f" / {float(ideal[0]):.4f}, the ideal list's DCG" if float(ideal[0]) > 0 else ""
    return Terms(words, columns, adds)


def _counted(measure: Any, lists: PaddedLists) -> Terms:
    """P, R, Rprec, NumRelRet: each relevant document above the cutoff counts the same."""
    cutoff = measure.reach(lists)[1] if measure.name == "Rprec" else measure.cutoff
    counted = Discount("none").each(lists, lists.number(measure.hits(lists)), cutoff)
    return _shared(measure, lists, "relevant", counted)


def _judged(measure: Any, lists: PaddedLists) -> Terms:
    """Judged: each judged document above the cutoff counts the same."""
    known = lists.found & ((lists.grade >= 0) | (measure.negative == "judged"))
    counted = Discount("none").each(lists, lists.number(known), measure.cutoff)
    return _shared(measure, lists, "judged", counted)


def _shared(measure: Measure, lists: PaddedLists, what: str, counted: Array) -> Terms:
    adds, divisor = _scaled(measure, lists, counted)
    cut = "" if measure.cutoff is None else f" down to rank {measure.cutoff}"
    return Terms(f"a {what} document{cut} adds 1{divisor}", {"counted": counted}, adds)


def _precisions(measure: Any, lists: PaddedLists) -> Terms:
    """AP: the precision at each relevant document."""
    precision, _ = measure.precisions(replace(lists, cuts={}))
    precision = _widened(lists, precision)
    adds, divisor = _scaled(measure, lists, precision)
    words = f"a relevant document adds the precision at its rank{divisor}"
    return Terms(words, {"precision": precision}, adds)


def _first(measure: Any, lists: PaddedLists) -> Terms:
    """RR, Success: the first relevant document."""
    hits = lists.number(measure.hits(lists) & lists.within(measure.cutoff))
    first = lists.number((lists.xp.cumulative_sum(hits, axis=1) == 1) & (hits > 0))
    adds, _ = _scaled(measure, lists, first)
    return Terms("the first relevant document decides", {"relevant": hits}, adds)


def _relevant(measure: Any, lists: PaddedLists) -> Terms:
    """F, SetAP, AllHit: relevant documents are counted, but what one adds depends on all."""
    hits = lists.number(measure.hits(lists) & lists.within(measure.cutoff))
    return Terms(f"{measure.name} is no sum over documents", {"counted": hits})


def _stops(measure: Any, lists: PaddedLists) -> Terms:
    """ERR, nERR, PFound: a reader arrives with some probability, and stops with another."""
    xp = lists.xp
    stop = xp.where(lists.within(measure.cutoff), measure.stops(lists, lists.grade), 0.0)
    arrives = xp.cumulative_prod(1.0 - stop, axis=1, include_initial=True)[:, :-1]
    adds = measure.discount.apply(lists, stop * arrives, lists.rank, lists.depth)
    adds, divisor = _scaled(measure, lists, adds)
    words = "a document adds the probability to arrive × to stop there × the weight of its rank"
    words += divisor if measure.name == "nERR" else ""
    return Terms(words, {"arrives": arrives, "stops": stop}, adds)


def _weighed(measure: Any, lists: PaddedLists) -> Terms:
    """RBP: gain x the weight of the rank."""
    gain, rule = measure.gains(lists), geometric(measure.p)
    weight = (1.0 - measure.p) * rule.each(lists, _ones(lists), measure.last) / measure.share
    adds = (1.0 - measure.p) * rule.each(lists, gain, measure.last) / measure.share
    return Terms("a document adds its gain × weight", {"gain": gain, "weight": weight}, adds)


def _preferred(measure: Any, lists: PaddedLists) -> Terms:
    """Binary preference: how few non-relevant documents stand above each relevant one."""
    above, kept = measure.honoured(lists)
    adds, divisor = _scaled(measure, lists, kept)
    words = f"a relevant document adds what it keeps{divisor}; non-relevant ones above take of it"
    return Terms(words, {"above": above, "keeps": kept}, adds)


def _scaled(measure: Measure, lists: PaddedLists, parts: Array) -> tuple[Array, str]:
    """Divide parts so that they sum to the value, and say what they are divided by."""
    total, value = lists.total(parts), measure.formula(lists)
    adds = parts * lists.ratio(value, total, 0.0)[:, None]
    if not float(total[0]) > 0 or not float(value[0]) > 0:
        return adds, ""
    divisor = float(total[0]) / float(value[0])
    return adds, "" if abs(divisor - 1) < 1e-9 else f" / {divisor:.6g}"


def _ones(lists: PaddedLists) -> Array:
    return lists.xp.ones_like(lists.grade)


def _widened(lists: PaddedLists, part: Array) -> Array:
    """Add the columns that a cutoff left out, as 0."""
    whole = lists.xp.zeros_like(lists.grade)
    whole[:, : part.shape[1]] = part
    return whole


#: How the value of each measure is taken apart; others are no sums over documents.
FAMILIES: dict[str, Callable[[Any, PaddedLists], Terms]] = {
    name: family
    for family, names in (
        (_cumulated, "CG DCG nDCG"),
        (_counted, "P R Rprec NumRelRet"),
        (_judged, "Judged"),
        (_precisions, "AP GMAP"),
        (_first, "RR Success"),
        (_relevant, "F SetAP AllHit"),
        (_stops, "ERR nERR PFound"),
        (_weighed, "RBP"),
        (_preferred, "bpref GMbpref"),
    )
    for name in names.split()
}
#: Those whose parts, with `expected` ties, are no document's own.
_OF_ONE_ORDER = ("RR", "Success", "F", "SetAP", "AllHit")
