"""The measures: their index, the names people type for them, and the parser of both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from idealist.errors import UsageError, nearest
from idealist.measures.base import Measure
from idealist.measures.custom import Custom, measure
from idealist.notation import split

__all__ = ["ALIASES", "MEASURES", "Custom", "Measure", "as_measure", "measure", "parse"]

#: Where the measures are written down. Adding one means adding it here.
_HOMES = {
    "cumulative": "nDCG DCG CG",
    "ap": "AP",
    "first": "RR",
    "sets": "P R F Success AllHit Rprec",
    "stopping": "ERR RBP RBPResidual",
    "preference": "bpref",
    "udcg": "UDCG",
    "judged": "Judged Unjudged NumRet NumRel NumRelRet NumQ",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


class _Index(Mapping[str, type[Measure]]):
    """Measures by name, each imported when it is asked for: few are, and all take a while."""

    def __getitem__(self, name: str) -> type[Measure]:
        found: type[Measure] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_HOME)

    def __len__(self) -> int:
        return len(_HOME)


#: Every measure by its name.
MEASURES = _Index()


def __getattr__(name: str) -> Any:
    if name not in MEASURES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return MEASURES[name]


#: What else people type, in lower case, and what they mean by it.
ALIASES: dict[str, str] = {
    "ndcg_cut": "nDCG",
    "map": "AP", "map_cut": "AP", "average_precision": "AP",
    "mrr": "RR", "recip_rank": "RR", "reciprocal_rank": "RR",
    "precision": "P", "set_p": "P",
    "recall": "R", "set_recall": "R", "capped_recall": "R(denominator=min(k,R))",
    "r_cap": "R(denominator=min(k,R))", "recall_cap": "R(denominator=min(k,R))",
    "f1": "F", "set_f": "F",
    "hit": "Success", "hits": "Success", "hit_rate": "Success", "hitrate": "Success",
    "all_hit": "AllHit", "all_hits": "AllHit", "all_recall": "AllHit", "recall_all": "AllHit",
    "r-precision": "Rprec", "r_precision": "Rprec", "rprecision": "Rprec",
    "rbp_resid": "RBPResidual", "unj": "Unjudged",
    "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRelRet", "num_q": "NumQ",
    "ndcg_burges": "nDCG(gain=exp2)",
}  # fmt: skip

_FOLDED = {name.lower(): name for name in MEASURES} | ALIASES
_FORM = re.compile(
    r"(?P<name>[^()@\s]+)\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<cutoff>\d+))?", re.DOTALL
)
_TAIL = re.compile(r"(?P<name>.+?)[._](?P<cutoff>\d+)")


def parse(written: str) -> Measure:
    """Read a measure from its text, in our spelling or one that people type.

    >>> parse("nDCG(gain=exp2)@10"), parse("ndcg_cut_10"), parse("mrr@5"), parse("P.5")
    (nDCG(gain=exp2)@10, nDCG@10, RR@5, P@5)
    """
    match = _FORM.fullmatch(written.strip())
    if match is None:
        raise _unreadable(written)
    name, cutoff = match["name"], match["cutoff"]
    if name.lower() not in _FOLDED and cutoff is None and (tail := _TAIL.fullmatch(name)):
        name, cutoff = tail["name"], tail["cutoff"]
    if name.lower() not in _FOLDED:
        close = nearest(name, [*MEASURES, *ALIASES], else_=MEASURES)
        raise UsageError(f"there is no measure {name!r}", close)
    meant = _FOLDED[name.lower()]
    base, _, preset = meant.partition("(")
    given = {**_arguments(preset.removesuffix(")") if preset else "", written)}
    given |= _arguments(match["inside"] or "", written)
    cls = MEASURES[base]
    for key in given.keys() - cls.parameters().keys():
        raise UsageError(f"{base} has no parameter {key!r}", nearest(key, cls.parameters()))
    made: Measure = cls(**given)  # type: ignore[arg-type]
    return made if cutoff is None else made @ int(cutoff)


def as_measure(given: Any) -> Measure:
    """Take a measure, its class, or its text.

    >>> as_measure(MEASURES["AP"]), as_measure("map")
    (AP, AP)
    """
    if isinstance(given, Custom) and given.label.lower() in _FOLDED:
        raise UsageError(f"{given.label} is a measure of ours", "give yours another name")
    if isinstance(given, Measure):
        return given
    if isinstance(given, type) and issubclass(given, Measure):
        return given()
    if isinstance(given, str):
        return parse(given)
    raise UsageError(f"{given!r} is not a measure", "give nDCG @ 10, or its text 'nDCG@10'")


def _arguments(inside: str, written: str) -> dict[str, str]:
    try:
        pairs = [part.split("=", 1) for part in split(inside)]
    except ValueError:
        raise _unreadable(written) from None
    if any(len(pair) != 2 for pair in pairs):
        raise _unreadable(written)
    found = {key.strip(): value.strip().strip("'\"") for key, value in pairs}
    if len(found) < len(pairs):
        raise UsageError(f"{written!r} gives a parameter twice", "give each parameter once")
    return found


def _unreadable(written: str) -> UsageError:
    if re.fullmatch(r"[\w.@-]+([,\s]+[\w.@-]+)+", written.strip()):
        return UsageError(f"{written!r} is not one measure", "give each its own -m, or a list")
    hint = "write NAME, NAME@CUTOFF or NAME(parameter=value,…)@CUTOFF, such as nDCG(gain=exp2)@10"
    return UsageError(f"{written!r} is not a measure", hint)
