"""The measures of trec_eval in its order, its nicknames, and the lines they print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from idealist.dropin.arguments import Stop, cutoffs, numbers, pairs, points
from idealist.errors import UsageError, nearest
from idealist.notation import table

if TYPE_CHECKING:
    from idealist.measures import Measure


_DEEP = "5,10,15,20,30,100,200,500,1000"
_TENTHS = "0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"
_FIFTHS = ".2,.4,.6,.8,1,1.2,1.4,1.6,1.8,2"


@dataclass(frozen=True)
class Entry:
    """A measure of trec_eval: which parameters it takes, and how it is aggregated.

    `summary` is mean, sum, geometric or none; `judgments` is the kind of judgments it needs.
    """

    name: str
    takes: str = ""
    default: str = ""
    summary: str = "mean"
    judgments: str = "qrels"
    since: int = 9

    @property
    def ours(self) -> str:
        """Our text for it; empty if it is not a measure."""
        # imports NumPy, which --help does without
        from idealist.measures.spellings import SPELLINGS

        return SPELLINGS["trec_eval"].get(self.name, "") if self.summary != "none" else ""

    @property
    def is_count(self) -> bool:
        """Whether it is printed as a whole number."""
        return self.summary == "sum"


def _entries(names: str, takes: str = "", default: str = "", **how: Any) -> list[Entry]:
    return [Entry(name, takes, default, **how) for name in names.split()]


#: Every measure of trec_eval, in its order.
ENTRIES = (
    *_entries("runid num_q", summary="none", judgments="any"),
    *_entries("num_ret num_rel num_rel_ret", summary="sum"),
    *_entries("map"),
    *_entries("gm_map", summary="geometric"),
    *_entries("Rprec bpref recip_rank"),
    *_entries("iprec_at_recall", "points:recall", _TENTHS),
    *_entries("P", "cutoffs", _DEEP),
    *_entries("relstring", "string", "10", summary="none"),
    *_entries("recall", "cutoffs", _DEEP),
    *_entries("infAP"),
    *_entries("gm_bpref", summary="geometric"),
    *_entries("Rprec_mult", "points:times", _FIFTHS),
    *_entries("utility", "utility"),
    *_entries("11pt_avg", "average"),
    *_entries("binG"),
    *_entries("G", "gains"),
    *_entries("dcg ideal_dcg", "gains", since=10),
    *_entries("ndcg ndcg_rel Rndcg", "gains"),
    *_entries("ndcg_cut map_cut relative_P", "cutoffs", _DEEP),
    *_entries("success", "cutoffs", "1,5,10"),
    *_entries("set_P set_relative_P set_recall set_map"),
    *_entries("set_F", "beta"),
    *_entries("num_nonrel_judged_ret", summary="sum"),
    *_entries(
        "prefs_num_prefs_poss prefs_num_prefs_ful prefs_num_prefs_ful_ret",
        summary="sum", judgments="prefs",
    ),
    *_entries(
        "prefs_simp prefs_pair prefs_avgjg prefs_avgjg_Rnonrel prefs_simp_ret prefs_pair_ret "
        "prefs_avgjg_ret prefs_avgjg_Rnonrel_ret prefs_simp_imp prefs_pair_imp prefs_avgjg_imp",
        judgments="prefs",
    ),
    *_entries("map_avgjg", judgments="qrels_jg"),
    *_entries("P_avgjg", "cutoffs", _DEEP, judgments="qrels_jg"),
    *_entries("Rprec_mult_avgjg", "points:times", _FIFTHS, judgments="qrels_jg"),
    *_entries("yaap"),
    *_entries("rbp rbp_resid", "rbp", since=10),
    *_entries("unj", "cutoffs", "5,10,20", since=10),
)  # fmt: skip

_OFFICIAL = (
    "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
)
_PREFERENCES = (
    "runid num_q prefs_num_prefs_poss prefs_num_prefs_ful prefs_num_prefs_ful_ret prefs_simp "
    "prefs_pair prefs_avgjg"
)

#: The nicknames, and the measures each stands for.
NICKNAMES = {
    "official": _OFFICIAL,
    "set": (
        "runid num_q num_ret num_rel num_rel_ret utility set_P set_recall set_relative_P set_map "
        "set_F"
    ),
    "all_trec": (
        f"{_OFFICIAL} relstring recall unj rbp rbp_resid infAP gm_bpref utility 11pt_avg ndcg "
        "relative_P Rprec_mult success map_cut ndcg_cut ndcg_rel Rndcg binG G set_P set_recall "
        "set_relative_P set_map set_F num_nonrel_judged_ret"
    ),
    "all_prefs": (
        f"{_PREFERENCES} prefs_avgjg_Rnonrel prefs_simp_ret prefs_pair_ret prefs_avgjg_ret "
        "prefs_avgjg_Rnonrel_ret prefs_simp_imp prefs_pair_imp prefs_avgjg_imp"
    ),
    "prefs": _PREFERENCES,
    "qrels_jg": "runid num_q map_avgjg P_avgjg Rprec_mult_avgjg",
}


def marked(asked: Sequence[str], version: int) -> dict[str, str]:
    """Find the requested measures and their parameters: ``P.5,10``, or a nickname.

    As in trec_eval, everything after the first dot is parameters, and the first parameters given
    for a measure win.
    """
    known = {entry.name: entry for entry in ENTRIES if entry.since <= version}
    given: dict[str, str] = {}
    names: set[str] = set()
    for text in asked or ("official",):
        name, dot, parameters = text.partition(".")
        if dot and not parameters:
            raise UsageError(f"measure {text!r} has a dot but no parameters", "write P.5,10 or P")
        if name not in known and name not in NICKNAMES:
            raise UsageError(f"there is no measure {name!r}", nearest(name, [*known, *NICKNAMES]))
        if dot:
            given.setdefault(name, parameters)
        names |= {name} if name in known else known.keys() & NICKNAMES[name].split()
    return {name: given.get(name, "") for name in known if name in names}


@dataclass(frozen=True)
class Column:
    """One line of the output: its label, and the measure whose value it shows."""

    entry: Entry
    label: str
    measure: Measure | None = None
    length: int = 0


def columns(names: Mapping[str, str]) -> list[Column]:
    """Lay out the output of the requested measures, in trec_eval's order."""
    asked = [entry for entry in ENTRIES if entry.name in names]
    return [column for entry in asked for column in _columns(entry, names[entry.name])]


def _columns(entry: Entry, given: str) -> list[Column]:
    from idealist.measures import parse  # and NumPy, which help does not need

    kind, _, parameter = entry.takes.partition(":")
    label = f"{entry.name}_{given}" if given else entry.name
    measure = parse(entry.ours) if entry.ours else None
    if kind == "cutoffs":
        ranks = cutoffs(entry.name, given or entry.default)
        return [Column(entry, f"{entry.name}_{k}", parse(f"{entry.ours}@{k}")) for k in ranks]
    if kind == "points":
        return [
            Column(entry, f"{entry.name}_{x:3.2f}", parse(f"{entry.ours}({parameter}={x!r})"))
            for x in points(entry.name, given or entry.default)
        ]
    if kind == "string":
        return [Column(entry, label, length=max(int(numbers(entry.name, given or "10")[0]), 0))]
    if measure is None or not (kind and given):
        return [Column(entry, entry.name, measure)]
    return [Column(entry, label, replace(measure, **_settings(entry.name, kind, given)))]


def _settings(name: str, kind: str, given: str) -> dict[str, Any]:
    """Translate parameters other than cutoffs into ours."""
    if kind in ("gains", "rbp"):
        found = pairs(name, given)
        settings: dict[str, Any] = {"p": found.pop("p")} if kind == "rbp" and "p" in found else {}
        gains = {level: gain for level, gain in found.items() if level.lstrip("+-").isdigit()}
        if any(int(level) < 0 for level in gains):
            hint = "levels are grades of 0 or more"
            raise UsageError(f"{name}.{given}: only judged documents can have a gain", hint)
        return settings | ({"gain": table(gains)} if gains and name != "rbp_resid" else {})
    values = numbers(name, given)
    if kind == "average":
        return {"points": table(sorted(values))}
    if kind == "beta":
        return {"beta": f"sqrt({values[0]!r})"}
    if len(values) != 4:
        hint = "write utility.A,B,C,D, such as utility.1,-1,0,0"
        raise Stop(4, f"utility takes four numbers, not {len(values)}", hint)
    return dict(zip("abcd", values, strict=True))
