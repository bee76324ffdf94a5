"""From text to measures, in our notation or another tool's.

``nDCG(gain=exp2)@10`` is ours. ``ndcg_cut_10`` and ``ndcg_cut.10`` are trec_eval's, ``ndcg@10-l2``
is ranx's, ``nDCG(dcg='exp-log2')@10`` is ir_measures', ``NDCG:top=10;type=Exp`` is CatBoost's.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from idealist.errors import UsageError, nearest
from idealist.measures.base import Measure
from idealist.measures.custom import Custom
from idealist.measures.index import MEASURES
from idealist.measures.spellings import aliases, read_pairs
from idealist.notation import split

#: Every spelling in lower case, with our text for it.
ALIASES = aliases()
_FOLDED = ALIASES | {name.lower(): name for name in MEASURES}
_FORM = re.compile(
    r"(?P<name>[^()@:\s]+?)\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<cutoff>[\d.]+))?"
    r"(?:-l(?P<level>\d+)|(?P<minus>-))?",
    re.DOTALL,
)
_TAIL = re.compile(r"(?P<name>.+?)(?:_|(?P<dot>\.))(?P<number>\d*\.?\d+)")
_CATBOOST = re.compile(r"(?P<name>\w+):(?P<pairs>[^()@]+)")

#: The parameter that a fraction after a name sets: IPrec@0.1, ranx's rbp.95.
_FRACTIONS = {"IPrec": "recall", "Rprec": "times", "Rprec_avgjg": "times", "RBP": "p"}
#: Parameters of other tools, with ours.
_PARAMETERS = {"judged_only=False": ""} | read_pairs("""
    dcg='exp-log2' gain=exp2, dcg=exp-log2 gain=exp2, dcg='log2' gain=linear, dcg=log2 gain=linear,
    type=Exp gain=exp2, type=Base gain=linear, denominator=LogPosition discount=log2,
    denominator=Position discount=position""")


def parse(written: str) -> Measure:
    """Parse a measure from text, in our notation or another tool's.

    >>> parse("nDCG(gain=exp2)@10"), parse("ndcg_cut_10"), parse("mrr@5"), parse("P.5")
    (nDCG(gain=exp2)@10, nDCG@10, RR@5, P@5)
    >>> parse("IPrec@0.1"), parse("ndcg@10-l2"), parse("NDCG:top=10;type=Exp"), parse("rbp.95")
    (IPrec(recall=0.1), nDCG(rel=2)@10, nDCG(gain=exp2)@10, RBP(p=0.95))
    """
    match = _FORM.fullmatch(_unlike_catboost(written.strip()))
    if match is None:
        raise _unreadable(written)
    name, number = match["name"], match["cutoff"]
    if name.lower() not in _FOLDED and number is None and (tail := _TAIL.fullmatch(name)):
        fraction = tail["dot"] and _meant(tail["name"]).startswith("RBP")
        name, number = tail["name"], ("." if fraction else "") + tail["number"]
    given = _arguments(match["inside"] or "", written)
    if number != match["cutoff"] and name.lower() == "set_f":  # trec_eval's set_F.0.5 is no cutoff
        given["beta"], number = f"sqrt({number})", None
    if match["level"]:
        given["rel"] = match["level"]
    if match["minus"]:
        given["no_relevant"] = "0"
    return _made(name, given, number, written)


def _made(name: str, given: dict[str, str], number: str | None, written: str) -> Measure:
    meant = _meant(name)
    if not meant:
        raise UsageError(f"there is no measure {name!r}", _close(name))
    if meant == "NumRet" and "rel" in given:  # which is how ir_measures writes its NumRelRet
        meant = "NumRelRet"
    base, _, preset = meant.partition("(")
    if name.lower() == "setf" and "beta" in given:  # which ir_measures squares already
        given["beta"] = f"sqrt({given['beta']})"
    given = _arguments(preset.removesuffix(")"), written) | _translated(given)
    cls = MEASURES[base]
    if number is not None and base in _FRACTIONS and ("." in number or base == "IPrec"):
        given[_FRACTIONS[base]], number = number, None
    for key in given.keys() - cls.parameters().keys():
        raise _no_parameter(base, key)
    made: Measure = cls(**given)  # type: ignore[arg-type]
    if number is None:
        return made
    if not number.isdigit() or len(number) > 4000:  # which Python would not turn into a number
        raise _unreadable(written)
    return made @ int(number)


def _translated(given: dict[str, str]) -> dict[str, str]:
    """Translate parameters that map to two of ours or combine two: max_rel and border."""
    if "max_rel" in given:
        low = given.pop("min_rel", "0")
        given["gain"] = f"scaled({low},{given.pop('max_rel')})"
    if "border" in given:
        given |= {"rel": given.pop("border"), "rel_op": ">"}
    return given


def _meant(name: str) -> str:
    """Return our text for a name in any spelling, or nothing."""
    return name if name in MEASURES else _FOLDED.get(name.lower(), "")


def _close(name: str) -> str:
    """Suggest what an unknown name such as ``NDCG10`` may mean."""
    glued = re.fullmatch(r"(\D+)(\d+)", name)
    if glued and (meant := _meant(glued[1])):
        return f"did you mean {meant}@{glued[2]}?"
    return nearest(name, [*ALIASES, *MEASURES], else_=MEASURES)


def _no_parameter(base: str, key: str) -> UsageError:
    if key == "judged_only":
        hint = "set unjudged=drop, which removes unjudged documents for every measure"
        return UsageError("measures have no parameter judged_only here", hint)
    return UsageError(f"{base} has no parameter {key!r}", nearest(key, MEASURES[base].parameters()))


def _unlike_catboost(written: str) -> str:
    """Rewrite ``NDCG:top=10;type=Exp``."""
    match = _CATBOOST.fullmatch(written)
    if match is None:
        return written
    pairs = [pair.strip() for pair in match["pairs"].split(";")]
    cut = "".join(f"@{pair[4:]}" for pair in pairs if pair.startswith("top="))
    return f"{match['name']}({','.join(p for p in pairs if not p.startswith('top='))}){cut}"


def as_measure(given: Any) -> Measure:
    """Accept a measure, its class, or its text.

    >>> as_measure(MEASURES["AP"]), as_measure("map")
    (AP, AP)
    """
    if isinstance(given, Custom) and given.label.lower() in _FOLDED:
        raise UsageError(f"{given.label} is a built-in measure", "give yours another name")
    if isinstance(given, Measure):
        return given
    if isinstance(given, type) and issubclass(given, Measure):
        return given()
    if isinstance(given, str):
        return parse(given)
    raise UsageError(f"{given!r} is not a measure", "pass nDCG @ 10, or its text 'nDCG@10'")


def _arguments(inside: str, written: str) -> dict[str, str]:
    inside = re.sub(r"gains\s*=\s*\{(.*?)\}", _table, inside)
    try:
        parts = [_PARAMETERS.get(part.replace(" ", ""), part) for part in split(inside)]
    except ValueError:
        raise _unreadable(written) from None
    pairs = [part.split("=", 1) for part in parts if part]
    if any(len(pair) != 2 for pair in pairs):
        raise _unreadable(written)
    found = {key.strip(): value.strip().strip("'\"") for key, value in pairs}
    if len(found) < len(pairs):
        raise UsageError(f"{written!r} sets a parameter twice", "set each parameter once")
    return found


def _table(match: re.Match[str]) -> str:
    """Rewrite ir_measures' gains, {0: 0, 1: 3}, as a table."""
    return f"gain=table({match[1].replace(':', '=').replace(' ', '')})"


def _unreadable(written: str) -> UsageError:
    if re.fullmatch(r"[\w.@-]+([,\s]+[\w.@-]+)+", written.strip()):
        hint = "write a -m for each, or pass a list"
        if (joined := "_".join(written.split())) != written:  # hit rate
            with suppress(UsageError):
                hint = f"did you mean {parse(joined)}?"
        return UsageError(f"{written!r} is not one measure", hint)
    hint = "write NAME, NAME@CUTOFF or NAME(parameter=value,…)@CUTOFF, such as nDCG(gain=exp2)@10"
    return UsageError(f"{written!r} is not a measure", hint)
